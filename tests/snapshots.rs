//! Snapshots that a reader can follow: derived messages of small sessions and of recorded ones, and
//! what `inspect` shows of damaged files.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use session_surface::session::{Projected, Projections, Role, Session};
use session_surface::spec::{Contract, Draft, Event, Seq};

fn snapshot(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!(name, text) });
}

/// The surface on a line, then the messages, a line each.
fn shown(session: &Session) -> String {
    let nodes: Vec<u64> = session.surface().iter().map(Seq::get).collect();
    let surface = if session.has_surface() { format!("{nodes:?}") } else { "none".to_owned() };
    let messages: Vec<String> = session.messages().map(|message| message.to_json()).collect();
    format!("surface {surface}\n{}\n", messages.join("\n"))
}

/// A session that is told in a few words.
struct Story(Session);

impl Story {
    fn new() -> Story {
        Story(Session::new(Contract::ADR_0019))
    }

    fn add(&mut self, draft: &Draft) -> Seq {
        self.0.append_at(draft, 1_760_000_000_000).unwrap()
    }

    fn other(&mut self, event_type: &str, data: Value) -> Seq {
        self.add(&Draft::new(event_type, &data).unwrap())
    }

    fn message(&mut self, event_type: &str, data: Value) -> Seq {
        self.add(&Draft::new(event_type, &data).unwrap().append())
    }

    fn start(&mut self) {
        self.other("turn/start", json!({"turn": 1}));
        self.other("step/start", json!({"turn": 1, "step": 1}));
    }

    fn end(&mut self) {
        self.other("step/end", json!({"turn": 1, "step": 1}));
        self.other("turn/end", json!({"turn": 1, "reason": {"kind": "completed"}}));
    }

    fn user(&mut self, text: &str) -> Seq {
        self.message("user/message", user(text))
    }

    fn assistant(&mut self, blocks: Value) -> Seq {
        self.message("assistant/message", json!({"turn": 1, "step": 1, "content": blocks}))
    }

    fn call(&mut self, id: &str) -> Seq {
        self.other(
            "tool/call",
            json!({"turn": 1, "step": 1, "callId": id, "name": "read", "arguments": "{}"}),
        )
    }

    fn result(&mut self, id: &str, text: &str) -> Seq {
        self.message("tool/result", result(id, text))
    }

    /// A summary in the place of these nodes.
    fn compact(&mut self, text: &str, start: Seq, end: Seq) -> Seq {
        let nodes: Vec<Seq> = self.0.surface().range(start, end).collect();
        let summary = Draft::new("user/message", &user(text)).unwrap();
        self.add(&summary.replace(start, end).citing(&nodes))
    }
}

fn user(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "source": {"kind": "user"}})
}

fn says(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn calls(id: &str) -> Value {
    json!([{"type": "tool-call", "id": id, "name": "read", "arguments": "{}"}])
}

fn result(id: &str, text: &str) -> Value {
    json!({"turn": 1, "step": 1, "callId": id, "content": says(text), "isError": false})
}

#[test]
fn a_plain_turn() {
    let mut story = Story::new();
    story.start();
    story.user("hello");
    story.assistant(says("hello, who is there?"));
    story.end();
    snapshot("a plain turn", &shown(&story.0));
}

#[test]
fn tool_calls() {
    let mut story = Story::new();
    story.start();
    story.user("what is in a.txt?");
    story.assistant(calls("c1"));
    story.call("c1");
    story.result("c1", "forty-two");
    story.assistant(says("It says forty-two."));
    story.end();
    snapshot("tool calls", &shown(&story.0));
}

#[test]
fn context_and_steering() {
    let mut story = Story::new();
    story.start();
    story.message(
        "context/message",
        json!({"content": says("today is Monday"), "source": {"kind": "clock \"utc\""}}),
    );
    story.user("plan my week");
    story.message(
        "steering/message",
        json!({"turn": 1, "content": says("keep it short"), "source": {"kind": "user"}}),
    );
    story.end();
    snapshot("context and steering", &shown(&story.0));
}

#[test]
fn one_compaction() {
    let mut story = Story::new();
    let first = story.user("hello");
    let last = story.assistant(says("hello, who is there?"));
    story.user("Sam");
    story.compact("[they greeted each other]", first, last);
    snapshot("one compaction", &shown(&story.0));
}

#[test]
fn a_compaction_of_a_compaction() {
    let mut story = Story::new();
    let first = story.user("hello");
    let last = story.assistant(says("hello, who is there?"));
    let name = story.user("Sam");
    let summary = story.compact("[they greeted each other]", first, last);
    story.assistant(says("Hi Sam."));
    story.compact("[Sam was greeted]", summary, name);
    snapshot("a compaction of a compaction", &shown(&story.0));
}

#[test]
fn a_pruned_result() {
    let mut story = Story::new();
    story.start();
    story.assistant(calls("c1"));
    story.call("c1");
    let long = story.result("c1", "ten thousand lines");
    let pruned = Draft::new("tool/result", &result("c1", "[pruned]")).unwrap();
    story.add(&pruned.replace(long, long).citing(&[long]));
    story.end();
    snapshot("a pruned result", &shown(&story.0));
}

#[test]
fn an_unmarked_old_session() {
    let mut story = Story::new();
    story.start();
    story.other("user/message", user("hello"));
    story.other("assistant/message", json!({"turn": 1, "step": 1, "content": says("hello")}));
    story.end();
    snapshot("an unmarked old session", &shown(&story.0));
}

#[test]
fn a_repaired_crash() {
    let mut story = Story::new();
    story.start();
    story.user("read both");
    story.assistant(json!([calls("c1")[0], calls("c2")[0]]));
    story.call("c1");
    story.call("c2");
    story.result("c1", "A");
    let closers: Vec<String> =
        story.0.repair().iter().map(|event| event.text().to_owned()).collect();
    let text = format!("{}closers\n{}\n", shown(&story.0), closers.join("\n"));
    snapshot("a repaired crash", &text);
}

#[test]
fn a_marker_with_a_projection() {
    let mut projections = Projections::default();
    let show = |event: &Event| {
        let summary = event.data().get("summary")?.as_str()?.into_owned();
        Projected::new(Role::User, &says(&summary)).ok()
    };
    projections.register(&Contract::ADR_0019, "compaction/marker", show).unwrap();
    let core = projections.register(&Contract::ADR_0019, "user/message", show);
    assert_eq!(
        core.unwrap_err().to_string(),
        "user/message is a core type of the contract: what it shows is fixed"
    );
    let mut story = Story(Session::new(Contract::ADR_0019).with_projections(projections));
    let first = story.user("hello");
    let last = story.assistant(says("hello, who is there?"));
    let marker = Draft::new("compaction/marker", &json!({"summary": "[they greeted]"})).unwrap();
    story.add(&marker.replace(first, last).citing(&[first, last]));
    story.message("my/own", json!({}));
    let text = shown(&story.0);
    assert_eq!(shown(&story.0.fork(9)), text, "a fork shows the same");
    snapshot("a marker with a projection", &text);
}

#[test]
fn every_recorded_session() {
    for name in
        ["adr-cancel", "adr-multi-turn", "adr-tool-call-turn", "adr-unmarked-tool-call-turn"]
    {
        let path = Path::new("tests/data/corpus").join(name).with_extension("jsonl");
        let log = std::fs::read_to_string(path).unwrap();
        let log = log.lines().skip(1).map(|line| Event::parse(line).unwrap()).collect();
        let mut session = Session::new(Contract::ADR_0019);
        session.seed(log).unwrap();
        assert_eq!(session.violations(), [], "{name}");
        assert_eq!(session.pairing(), [], "{name}");
        assert_eq!(session.closers(), [], "{name}");
        snapshot(name, &shown(&session));
    }
}

#[test]
fn every_case_inspected() {
    let mut inspected = 0;
    for entry in std::fs::read_dir("tests/data/cases").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let mut program = Command::new(env!("CARGO_BIN_EXE_session-surface"));
            let output = program.arg("inspect").arg(&path).output().unwrap();
            snapshot(&format!("inspect {name}"), &String::from_utf8(output.stdout).unwrap());
            inspected += 1;
        }
    }
    assert_eq!(inspected, 9);
}
