//! The harness itself: what is wrong with a specification, what a search must have reached, and
//! that a fault is found, made small and charged to its clause.

use session_surface::harness::campaign::{Plan, Subject, counterexample, run};
use session_surface::harness::{
    Answer, Ask, Case, Expectation, Goals, InProcess, RefusedAt, Seeded, Settings, Steps, examples,
    generate,
};
use session_surface::session::Session;
use session_surface::spec::{Contract, Json, Level};

fn faults(text: &str) -> String {
    examples::read(text).faults().join("\n")
}

const EXAMPLE: &str = "```json case\n{\"case\":\"a/b\",\"clauses\":[\"surface.fold\"],\"steps\":[{\"surface\":{},\"want\":{\"nodes\":[]}}]}\n```\n";

#[test]
fn a_clause_without_an_example_is_a_fault() {
    let said =
        faults("### `surface.fold` MUST\n\n### `surface.append` MUST\n\n".to_owned().as_str());
    assert!(said.contains("clause surface.fold has no example"), "{said}");
    let said = faults(&format!("### `surface.fold` MUST\n{EXAMPLE}"));
    assert!(!said.contains("surface.fold"), "{said}");
}

#[test]
fn a_clause_that_the_code_does_not_know_is_a_fault() {
    let said = faults("### `surface.made-up` MUST\n### `surface.fold` SHOULD\n");
    assert!(said.contains("the code has no clause surface.made-up MUST"), "{said}");
    assert!(said.contains("the code has no clause surface.fold SHOULD"), "{said}");
    assert!(said.contains("SPEC.md has no clause replace.place MUST"), "{said}");
}

#[test]
fn an_example_without_a_clause_with_an_unknown_one_or_with_a_name_taken_is_a_fault() {
    let said = faults(&EXAMPLE.replace("\"surface.fold\"", ""));
    assert!(said.contains("line 1: a/b names no clause"), "{said}");
    let said = faults(&EXAMPLE.replace("surface.fold", "made.up"));
    assert!(
        said.contains("line 1: the example is no case: clauses: no known clause: \"made.up\""),
        "{said}"
    );
    let said = faults(&EXAMPLE.repeat(2));
    assert!(said.contains("line 4: a second example is named a/b"), "{said}");
    let said = faults(&EXAMPLE.replace(",\"want\":{\"nodes\":[]}", ""));
    assert!(said.contains("line 1: step 0 of a/b has no answer"), "{said}");
}

#[test]
fn a_case_comes_back_from_its_text() {
    for case in examples::cases() {
        assert_eq!(Case::parse(&case.to_json()).as_ref(), Ok(&case), "{}", case.name);
    }
}

#[test]
fn what_is_no_case_is_named_by_its_place() {
    for (text, place) in [
        ("{", "case: no JSON"),
        ("{}", "case: expected a string"),
        (r#"{"case":"a","contract":"none","steps":[]}"#, "contract: no known contract"),
        (r#"{"case":"a"}"#, "steps: expected an array"),
        (
            r#"{"case":"a","steps":[{"surface":{}},{"surface":{},"log":{}}]}"#,
            "steps[1]: expected exactly one",
        ),
        (r#"{"case":"a","steps":[{"append":7}]}"#, "steps[0].append: expected an array"),
        (r#"{"case":"a","steps":[{"surface":{},"want":{}}]}"#, "steps[0].want: expected `nodes`"),
    ] {
        let error = Case::parse(text).unwrap_err().to_string();
        assert!(error.starts_with(place), "{text}: {error}");
    }
}

fn plan(exhaustive: u32, cases: u64) -> Plan {
    Plan { contract: Contract::ADR_0019, cases, seed: 5, exhaustive, workers: 2 }
}

#[test]
fn every_log_of_four_events_is_answered_as_the_contract_asks_and_every_goal_is_reached() {
    for report in run(&plan(4, 0), &|_, _, _| {}) {
        assert!(report.is_clean(), "{}: {:?} {:?}", report.name, report.faults, report.found);
        if report.name == "exhaustive" {
            assert!(report.cases > 3_000, "only {} cases", report.cases);
        }
    }
}

#[test]
fn a_search_that_misses_a_goal_says_so() {
    let mut goals = Goals::new(4);
    assert!(goals.open().iter().any(|goal| goal.contains("a range of three")));
    for case in examples::cases() {
        goals.see(&case);
    }
    assert!(
        !goals.open().iter().any(|goal| goal.contains("a range of three")),
        "{:?}",
        goals.open()
    );
}

#[test]
fn a_case_depends_on_its_seed_alone() {
    let make = |seed, index| {
        generate(&mut Seeded::new(seed, index), &Settings::WELL_FORMED, Contract::ADR_0019)
    };
    assert_eq!(make(1, 2), make(1, 2));
    assert_ne!(make(1, 2), make(1, 3));
}

/// A session with one fault: what it answers is changed on the way.
struct Faulty<F>(Session, std::marker::PhantomData<F>);

trait Fault {
    fn change(ask: &Ask, answer: Answer) -> Answer;
}

impl<F: Fault> Steps for Faulty<F> {
    fn start(contract: Contract) -> Faulty<F> {
        Faulty(Session::new(contract), std::marker::PhantomData)
    }

    fn answer(&mut self, ask: &Ask) -> Answer {
        F::change(ask, self.0.answer(ask))
    }
}

/// The first random case that shows a fault, made small.
fn found<F: Fault>(settings: &Settings) -> (usize, &'static str, String) {
    let mut implementation = InProcess::<Faulty<F>>::new();
    let cases =
        (0..20_000).map(|index| generate(&mut Seeded::new(1, index), settings, Contract::ADR_0019));
    let found =
        cases.into_iter().find_map(|case| counterexample("faulty", &case, &mut implementation));
    let found = found.expect("the fault is found");
    let replayed = Case::parse(&found.case.to_json()).unwrap();
    let answers = Subject::Session.implementation().run(&replayed);
    assert_eq!(Expectation::of(&replayed, Level::Should).judge(&answers), Ok(()));
    (found.case.event_count(), found.failure.clause.id, found.failure.sentence)
}

struct ByNumber;

impl Fault for ByNumber {
    fn change(_: &Ask, answer: Answer) -> Answer {
        match answer {
            Answer::Nodes(mut nodes) => {
                nodes.sort_unstable();
                Answer::Nodes(nodes)
            }
            other => other,
        }
    }
}

#[test]
fn a_surface_ordered_by_number_is_charged_to_the_place_of_a_replace() {
    let (events, clause, sentence) = found::<ByNumber>(&Settings::WELL_FORMED);
    assert_eq!((events, clause), (3, "replace.place"));
    assert_eq!(sentence, "position 0 must hold node 2 and holds node 1");
}

struct OtherCode;

impl Fault for OtherCode {
    fn change(_: &Ask, answer: Answer) -> Answer {
        match answer {
            Answer::Taken { seqs, refused: Some(refused) }
                if refused.code.as_deref() == Some("replace/reversed-range") =>
            {
                let code = Some("replace/missing-source".into());
                Answer::Taken { seqs, refused: Some(RefusedAt { code, ..refused }) }
            }
            other => other,
        }
    }
}

#[test]
fn a_check_that_is_left_out_is_charged_to_its_clause() {
    let (events, clause, _) = found::<OtherCode>(&Settings::WELL_FORMED);
    assert_eq!((events, clause), (3, "replace.order"));
}

struct Panics;

impl Fault for Panics {
    fn change(ask: &Ask, answer: Answer) -> Answer {
        match answer {
            Answer::Nodes(nodes) if nodes.len() == 2 => panic!("two nodes in {}", ask.key()),
            other => other,
        }
    }
}

#[test]
fn a_panic_is_a_verdict_with_its_words() {
    let (events, _, sentence) = found::<Panics>(&Settings::WELL_FORMED);
    assert_eq!((events, sentence.as_str()), (2, "the step threw: panicked: two nodes in surface"));
}

struct NoSources;

impl Fault for NoSources {
    fn change(ask: &Ask, answer: Answer) -> Answer {
        match answer {
            Answer::Events(closers) if *ask == Ask::Repair => Answer::Events(
                closers
                    .iter()
                    .map(|closer| closer.replace("\"sourceEventSeqs\"", "\"x\""))
                    .collect::<Vec<_>>()
                    .iter()
                    .map(String::as_str)
                    .collect(),
            ),
            other => other,
        }
    }
}

#[test]
fn a_fault_of_repair_is_made_small_and_charged_to_its_clause() {
    let (events, clause, _) = found::<NoSources>(&Settings::TURNS);
    assert_eq!((events, clause), (3, "repair.sources"));
}

struct TooStrict;

impl Fault for TooStrict {
    fn change(_: &Ask, answer: Answer) -> Answer {
        match answer {
            Answer::Violations(mut found) => {
                found.push((u64::MAX, "result/without-call".into()));
                Answer::Violations(found)
            }
            other => other,
        }
    }
}

#[test]
fn a_violation_too_much_is_charged_to_its_own_clause() {
    let (events, clause, sentence) = found::<TooStrict>(&Settings::TURNS);
    assert_eq!((events, clause), (0, "invariant.result"));
    assert!(
        sentence.starts_with("violation 0 must be nothing and is result/without-call"),
        "{sentence}"
    );
}

/// Whether the answers that the oracle gives to a case, changed as text, still pass.
fn passes(case: &str, change: impl Fn(&str) -> String) -> bool {
    let case = Case::parse(case).unwrap();
    let expectation = Expectation::of(&case, Level::Should);
    let answers: Vec<Answer> = expectation
        .answers()
        .zip(&case.steps)
        .map(|(answer, step)| {
            let text = change(&answer.to_json().replace("\"time\":null", "\"time\":5"));
            Answer::parse(&step.ask, Json::parse(&text).unwrap()).unwrap()
        })
        .collect();
    expectation.judge(&answers).is_ok()
}

#[test]
fn the_order_of_closers_of_equal_ids_in_two_messages_is_free() {
    let message = |seq: u64, step: u64| {
        format!(
            r#"{{"type":"assistant/message","seq":{seq},"time":1,"data":{{"turn":1,"step":{step},"content":[{{"type":"tool-call","id":"c"}}]}},"surfaceOp":"append"}}"#
        )
    };
    let start = r#"{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}"#;
    let case = format!(
        r#"{{"case":"x","steps":[{{"seed":[{start},{},{}]}},{{"repair":{{}}}},{{"log":{{}}}}]}}"#,
        message(1, 1),
        message(2, 2)
    );
    let steps = |first: u64, second: u64| {
        move |text: &str| {
            let closer = |step: u64| format!("\"turn\":1,\"step\":{step},\"callId\"");
            text.replace(&closer(1), "FIRST")
                .replace(&closer(2), "SECOND")
                .replace("FIRST", &closer(first))
                .replace("SECOND", &closer(second))
        }
    };
    assert!(passes(&case, steps(1, 2)));
    assert!(passes(&case, steps(2, 1)), "the order is free");
    assert!(!passes(&case, steps(1, 1)), "each copies its own message");
}

#[test]
fn any_time_is_an_integer() {
    let case = r#"{"case":"x","steps":[{"append":[{"type":"usage","data":{}}]},{"log":{}}]}"#;
    assert!(passes(case, str::to_owned));
    assert!(passes(case, |text| text.replace("\"time\":5", "\"time\":-77")));
    for time in ["\"now\"", "1.5", "null", "1e3"] {
        assert!(
            !passes(case, |text| text.replace("\"time\":5", &format!("\"time\":{time}"))),
            "{time}"
        );
    }
}

#[test]
fn only_in_a_closer_that_repair_wrote_are_the_words_free() {
    let result = r#"{"type":"tool/result","data":{"turn":1,"step":1,"callId":"c","content":[{"type":"text","text":"REAL"}],"isError":true,"error":{"code":"interrupted"}},"surfaceOp":"append"}"#;
    let call = r#"{"type":"assistant/message","data":{"turn":1,"step":1,"content":[{"type":"tool-call","id":"d"}]},"surfaceOp":"append"}"#;
    let start = r#"{"type":"turn/start","data":{"turn":1}}"#;
    let case = format!(
        r#"{{"case":"x","steps":[{{"append":[{start},{call},{result}]}},{{"repair":{{}}}},{{"log":{{}}}},{{"messages":{{}}}}]}}"#
    );
    assert!(
        passes(&case, |text| text.replace("\"text\":\"interrupted\"", "\"text\":\"other words\""))
    );
    assert!(!passes(&case, |text| text.replace("REAL", "LOST")));
}
