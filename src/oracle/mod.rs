//! The reference model: what SPEC.md asks, in the plainest lines. `read` takes an event apart.
//! Here events are taken or refused; the files beside this one say what follows from the log.

use crate::spec::RefusalCode::{self, *};
use crate::spec::clause::*;
use crate::spec::{Clause, Contract, Json};

mod calls;
mod invariants;
pub mod laws;
mod pairing;
mod read;
mod repair;
mod view;

pub use invariants::violations;

/// A session: its log, and the surface folded so far. Clause `surface.fold`.
#[derive(Clone)]
pub struct Oracle {
    contract: Contract,
    log: Vec<Event>,
    surface: Vec<u64>,
}

/// An event: its text with `seq` and `time`, 0 where it is not known, and whether it is known; the
/// clause of its operation, the clause of its message or silence, and the message.
#[derive(Clone)]
struct Event {
    text: String,
    timed: bool,
    op: Clause,
    rule: Clause,
    message: Option<String>,
}

/// Why an event is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The first check that failed. Clause `check.order`.
    pub code: RefusalCode,
    /// The shadowed seqs that are not cited, in surface order. Clause `replace.coverage`.
    pub missing: Vec<u64>,
}

/// An answer with the clauses that it used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer<T> {
    /// What is answered.
    pub value: T,
    /// The clauses, the deciding one first.
    pub clauses: Vec<Clause>,
}

#[expect(clippy::len_without_is_empty)]
impl Oracle {
    /// An empty session.
    pub fn new(contract: Contract) -> Oracle {
        Oracle { contract, log: Vec::new(), surface: Vec::new() }
    }
    /// How many events the log holds, which is the next seq. Clause `log.contiguous`.
    pub fn len(&self) -> u64 {
        self.log.len() as u64
    }
    /// Whether some event carries a `surfaceOp`. Clause `message.order`.
    pub fn has_surface(&self) -> bool {
        self.log.iter().any(|event| event.op != SURFACE_UNMARKED)
    }
    /// Takes or refuses one event. Clauses `refusal.when-offered`, `event.offered`.
    pub fn offer(&mut self, event: Json<'_>) -> Answer<Result<u64, Refused>> {
        let seq = self.len();
        match self.take(event, false) {
            Ok(op) if op != REPLACE_PLACE => Answer { value: Ok(seq), clauses: vec![op] },
            Ok(op) => Answer { value: Ok(seq), clauses: vec![REPLACE_INCLUSIVE, op] },
            Err((clause, refused)) => Answer { value: Err(refused), clauses: vec![clause] },
        }
    }
    /// Replaces the session or leaves it alone. Clauses `seed.whole`, `seed.all-or-nothing`.
    pub fn seed(&mut self, events: &[Json<'_>]) -> Answer<Result<Vec<u64>, (usize, Refused)>> {
        let mut whole = Oracle::new(self.contract);
        for (index, event) in events.iter().enumerate() {
            if let Err((by, refused)) = whole.take(*event, true) {
                let clauses = [by].into_iter().chain(whole.silence()).collect();
                return Answer { value: Err((index, refused)), clauses };
            }
        }
        *self = whole;
        let clauses = self.silence().into_iter().chain([SEED_WHOLE]).collect();
        Answer { value: Ok((0..self.len()).collect()), clauses }
    }
    /// The clause that took an event of malformed data into the log, if there is one.
    fn silence(&self) -> Option<Clause> {
        self.log.iter().map(|event| event.rule).find(|rule| *rule == DATA_MALFORMED_IS_SILENT)
    }
    fn take(&mut self, event: Json<'_>, seeded: bool) -> Result<Clause, (Clause, Refused)> {
        let next = self.len();
        let event = taken(&self.contract, &mut self.surface, next, event, seeded)?;
        let op = event.op;
        self.log.push(event);
        Ok(op)
    }
}

/// First every check in order, then the change. Clauses `check.order`, `refusal.changes-nothing`.
fn taken(
    contract: &Contract,
    surface: &mut Vec<u64>,
    next: u64,
    event: Json<'_>,
    seeded: bool,
) -> Result<Event, (Clause, Refused)> {
    let no = |code: RefusalCode| (code.clause(), Refused { code, missing: Vec::new() });
    let ensure = |holds, code| if holds { Ok(()) } else { Err(no(code)) };
    let fields = read::fields(event, seeded).map_err(|by| (by, no(EventMalformed).1))?;
    let [_, _, at, _, op, sources] = fields;
    ensure(at.is_none_or(|at| read::seq(at) == Some(next)), SeqNotContiguous)?;
    let (rule, message) = read::message(contract, &fields);
    ensure(seeded || rule != DATA_MALFORMED_IS_SILENT, DataMalformed)?;
    let op = op.map(|op| read::op(op).ok_or_else(|| no(SurfaceOpMalformed))).transpose()?;
    let sources = read::sources(sources).ok_or_else(|| no(SourcesMalformed))?;
    let op = match op {
        None => SURFACE_UNMARKED,
        Some(read::Op::Append) => {
            surface.push(next);
            SURFACE_APPEND
        }
        Some(read::Op::Replace { start, end }) => {
            let place = |seq| surface.iter().position(|node| *node == seq);
            let start = place(start).ok_or_else(|| no(StartNotOnSurface))?;
            let end = place(end).ok_or_else(|| no(EndNotOnSurface))?;
            ensure(start <= end, ReversedRange)?;
            let range = surface.iter().copied().take(end + 1).skip(start);
            let missing: Vec<u64> = range.filter(|node| !sources.contains(node)).collect();
            if !missing.is_empty() {
                return Err((REPLACE_COVERAGE, Refused { code: MissingSource, missing }));
            }
            surface.splice(start..=end, [next]);
            REPLACE_PLACE
        }
    };
    let text = if seeded { event.to_string() } else { read::placed(event, next) };
    Ok(Event { text, timed: seeded, op, rule, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json<'_> {
        Json::parse(text).unwrap()
    }

    fn oracle() -> Oracle {
        Oracle::new(Contract::ADR_0019)
    }

    fn with(events: &[&str]) -> Oracle {
        let mut oracle = oracle();
        for event in events {
            assert!(oracle.offer(json(event)).value.is_ok(), "{event}");
        }
        oracle
    }

    const NODE: &str = r#"{"type":"usage","data":{},"surfaceOp":"append"}"#;
    const UNMARKED: &str = r#"{"type":"usage","data":{}}"#;

    fn user(text: &str, rest: &str) -> String {
        let content = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
        let data = format!(r#"{{"content":{content},"source":{{"kind":"user"}}}}"#);
        format!(r#"{{"type":"user/message","data":{data}{rest}}}"#)
    }

    fn replace(start: u64, end: u64, sources: &[u64]) -> String {
        let op = format!(r#"{{"op":"replace","start":{start},"end":{end}}}"#);
        format!(r#"{{"type":"usage","data":{{}},"sourceEventSeqs":{sources:?},"surfaceOp":{op}}}"#)
    }

    /// What is compared of an event: without a time that is not known, and without the content of
    /// a closing result, of which only the kind is settled.
    fn compared(event: Json<'_>, time_is_known: bool) -> String {
        let code = event.get("data").and_then(|data| data.get("error")?.get("code"));
        let is_closer = code.is_some_and(|code| code.is_str("interrupted"));
        let entries = |object: Json<'_>, left_out: &str| {
            let kept = object.entries().unwrap().filter(|(key, _)| !key.is_str(left_out));
            kept.map(|(key, value)| format!("{key}:{value}")).collect::<Vec<_>>().join(",")
        };
        if is_closer {
            let content: Vec<_> =
                event.get("data").unwrap().get("content").unwrap().elements().unwrap().collect();
            assert!(content.len() == 1 && content[0].get("type").unwrap().is_str("text"));
        }
        let event = match event.get("data") {
            Some(data) if is_closer => {
                let rest = entries(event, "data");
                format!(r#"{{{rest},"data":{{{}}}}}"#, entries(data, "content"))
            }
            _ => event.to_string(),
        };
        let left_out = if time_is_known { "" } else { "time" };
        format!("{{{}}}", entries(json(&event), left_out))
    }

    /// The wanted answer to a step, with its events as they are compared: the session knows which
    /// of their times are known.
    fn wanted(oracle: &Oracle, want: Json<'_>) -> String {
        let Some(events) = want.get("events").and_then(Json::elements) else {
            return want.to_string();
        };
        let known = |event: Json<'_>| {
            let seq = event.get("seq").unwrap().as_integer().unwrap() as usize;
            oracle.events().get(seq).is_some_and(|(_, known)| *known)
        };
        let events = events.map(|event| compared(event, known(event))).collect::<Vec<_>>();
        format!(r#"{{"events":[{}]}}"#, events.join(","))
    }

    /// The answer to one step of a case, as the specification writes it.
    fn answer(oracle: &mut Oracle, step: Json<'_>) -> String {
        let refused = |at: usize, refused: Refused| {
            let missing = match refused.missing.as_slice() {
                [] => String::new(),
                missing => format!(r#","missing":{missing:?}"#),
            };
            format!(r#""refused":{{"at":{at},"code":"{}"{missing}}}"#, refused.code)
        };
        if let Some(events) = step.get("append").and_then(Json::elements) {
            let mut seqs = Vec::new();
            for (at, event) in events.enumerate() {
                match oracle.offer(event).value {
                    Ok(seq) => seqs.push(seq),
                    Err(no) => return format!(r#"{{"seqs":{seqs:?},{}}}"#, refused(at, no)),
                }
            }
            format!(r#"{{"seqs":{seqs:?}}}"#)
        } else if let Some(events) = step.get("seed").and_then(Json::elements) {
            match oracle.seed(&events.collect::<Vec<_>>()).value {
                Ok(seqs) => format!(r#"{{"seqs":{seqs:?}}}"#),
                Err((at, no)) => format!("{{{}}}", refused(at, no)),
            }
        } else if step.get("surface").is_some() {
            format!(r#"{{"nodes":{:?}}}"#, oracle.surface().value)
        } else if step.get("repair").is_some() {
            let known = oracle.time_is_known();
            let closers = oracle.repair().value;
            let closers = closers.iter().map(|closer| compared(json(closer), known));
            format!(r#"{{"events":[{}]}}"#, closers.collect::<Vec<_>>().join(","))
        } else if step.get("log").is_some() {
            let events = oracle.events().into_iter();
            let events = events.map(|(event, known)| compared(json(event), known));
            format!(r#"{{"events":[{}]}}"#, events.collect::<Vec<_>>().join(","))
        } else if step.get("check").is_some() {
            let violations = oracle.check().value.into_iter();
            let violations =
                violations.map(|(seq, code)| format!(r#"{{"seq":{seq},"code":"{code}"}}"#));
            format!(r#"{{"violations":[{}]}}"#, violations.collect::<Vec<_>>().join(","))
        } else {
            assert!(step.get("messages").is_some(), "{step}");
            let messages = oracle.messages().value;
            let texts: Vec<&str> = messages.into_iter().map(|(text, _)| text).collect();
            format!(r#"{{"messages":[{}]}}"#, texts.join(","))
        }
    }

    #[test]
    fn every_case_of_the_specification_is_answered_as_it_wants() {
        let blocks = SPEC.split("```json case\n").skip(1);
        let mut asked = 0;
        for block in blocks.map(|rest| rest.split("\n```").next().unwrap()) {
            let case = Json::parse(block).unwrap();
            let mut oracle = oracle();
            for step in case.get("steps").unwrap().elements().unwrap() {
                let got = answer(&mut oracle, step);
                let want = wanted(&oracle, step.get("want").unwrap());
                let same = json(&got).same_value(json(&want));
                assert!(same, "{}\n{step}\nanswered {got}", case.get("case").unwrap());
                asked += 1;
            }
        }
        assert!(asked > 220, "only {asked} steps were found");
    }

    #[test]
    fn a_replace_takes_the_place_of_its_range() {
        let mut oracle = with(&[NODE, NODE, NODE, NODE, &replace(1, 2, &[2, 1])]);
        assert_eq!(oracle.surface().value, [0, 4, 3]);
        assert_eq!(oracle.surface().clauses, [SURFACE_APPEND, REPLACE_PLACE, SURFACE_APPEND]);
        assert_eq!(oracle.offer(json(&replace(4, 3, &[3, 4]))).value, Ok(5));
        assert_eq!(oracle.surface().value, [0, 5]);
    }

    #[test]
    fn a_text_that_is_no_event_is_malformed_and_names_its_clause() {
        let cases = [
            ("{}", EVENT_SHAPE),
            ("null", EVENT_SHAPE),
            ("[]", EVENT_SHAPE),
            (r#"{"data":{}}"#, EVENT_SHAPE),
            (r#"{"type":1,"data":{},"seq":0}"#, EVENT_SHAPE),
            (r#"{"type":"a","type":1,"data":{}}"#, EVENT_DUPLICATE_KEY),
            (r#"{"type":"a","data":{},"s\u0065q":0,"seq":0}"#, EVENT_DUPLICATE_KEY),
            (r#"{"type":"a","data":{},"seq":null}"#, EVENT_OFFERED),
            (r#"{"type":"a","data":{},"seq":0,"time":0}"#, EVENT_OFFERED),
        ];
        for (text, clause) in cases {
            let answer = oracle().offer(json(text));
            assert_eq!(answer.value.map_err(|no| no.code), Err(EventMalformed), "{text}");
            assert_eq!(answer.clauses, [clause], "{text}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let event = format!(r#"{{"type":"usage","data":{deep}}}"#);
        assert_eq!(oracle().offer(json(&event)).value, Ok(0));
    }

    #[test]
    fn a_seeded_event_stands_at_an_integer_seq_and_time() {
        let seed = |seq: &str, time: &str| {
            let event = format!(r#"{{"type":"a","data":{{}},"seq":{seq},"time":{time}}}"#);
            oracle().seed(&[json(&event)]).value.map_err(|(_, no)| no.code)
        };
        assert_eq!(seed("0", "-9007199254740991"), Ok(vec![0]));
        assert_eq!(seed("9007199254740991", "0"), Err(SeqNotContiguous));
        for (seq, time) in [("-1", "0"), ("-0", "0"), ("9007199254740992", "0"), ("0", "1.0")] {
            assert_eq!(seed(seq, time), Err(EventMalformed), "{seq} {time}");
        }
    }

    #[test]
    fn a_known_key_may_be_spelled_with_escapes() {
        let event = r#"{"t\u0079pe":"usage","\u0064ata":{},"surface\u004fp":"\u0061ppend"}"#;
        assert_eq!(with(&[event]).surface().value, [0]);
    }

    #[test]
    fn an_accepted_event_names_the_clauses_of_its_operation() {
        let mut oracle = oracle();
        assert_eq!(oracle.offer(json(UNMARKED)).clauses, [SURFACE_UNMARKED]);
        assert_eq!(oracle.offer(json(NODE)).clauses, [SURFACE_APPEND]);
        assert_eq!(
            oracle.offer(json(&replace(1, 1, &[1]))).clauses,
            [REPLACE_INCLUSIVE, REPLACE_PLACE]
        );
        assert_eq!(oracle.offer(json(&replace(1, 1, &[1]))).clauses, [REPLACE_START]);
    }

    #[test]
    fn the_fate_of_a_seq_is_the_clause_that_decided_it() {
        let oracle = with(&[UNMARKED, NODE, &replace(1, 1, &[1]), NODE]);
        let fates: Vec<Clause> = (0..5).map(|seq| oracle.fate(seq)).collect();
        let expected =
            [SURFACE_UNMARKED, REPLACE_FOREVER, REPLACE_PLACE, SURFACE_APPEND, LOG_CONTIGUOUS];
        assert_eq!(fates, expected);
        assert_eq!(oracle.fate(u64::MAX), LOG_CONTIGUOUS);
    }

    #[test]
    fn the_messages_name_what_chose_them() {
        let marked = user("a", r#","surfaceOp":"append""#);
        let chosen_by = |events: &[&str]| with(events).messages().clauses;
        assert_eq!(chosen_by(&[]), [MESSAGE_FALLBACK]);
        assert_eq!(chosen_by(&[&user("a", ""), UNMARKED])[0], MESSAGE_FALLBACK);
        assert_eq!(chosen_by(&[&marked, UNMARKED]), [MESSAGE_ORDER, MESSAGE_USER]);
        assert_eq!(chosen_by(&[&marked, &user("b", "")]), [MESSAGE_MIXED, MESSAGE_USER]);
        assert_eq!(chosen_by(&[&marked, NODE]), [MESSAGE_ORDER, MESSAGE_TYPES, MESSAGE_USER]);
    }

    #[test]
    fn a_seeded_message_of_malformed_data_is_silent_and_says_so() {
        let mut oracle = oracle();
        let silent = r#"{"type":"user/message","seq":0,"time":0,"data":7,"surfaceOp":"append"}"#;
        let bad = r#"{"type":"usage","seq":1,"time":0,"data":7,"surfaceOp":7}"#;
        assert_eq!(oracle.seed(&[json(silent)]).clauses, [DATA_MALFORMED_IS_SILENT, SEED_WHOLE]);
        assert_eq!(oracle.messages().value, []);
        assert_eq!(oracle.messages().clauses, [MESSAGE_ORDER, DATA_MALFORMED_IS_SILENT]);
        let refused = oracle.seed(&[json(silent), json(bad)]);
        assert_eq!(refused.value.map_err(|(at, no)| (at, no.code)), Err((1, SurfaceOpMalformed)));
        assert_eq!(refused.clauses, [OP_SHAPE, DATA_MALFORMED_IS_SILENT]);
        assert_eq!(oracle.seed(&[]).clauses, [SEED_WHOLE]);
    }

    #[test]
    fn content_and_call_id_are_the_text_of_the_event() {
        let event = concat!(
            r#"{"type":"tool/result","data":{"turn":1,"step":2,"callId":"\u0063\ud800","content":"#,
            r#"[ {"type":"te\u0078t","n":1.0,"n":2} ],"isError":false}}"#
        );
        let expected = concat!(
            r#"{"role":"user","content":[{"type":"tool-result","toolCallId":"\u0063\ud800","#,
            r#""content":[ {"type":"te\u0078t","n":1.0,"n":2} ],"isError":false}]}"#
        );
        assert_eq!(with(&[event]).messages().value, [(expected, MESSAGE_TOOL_RESULT)]);
    }

    #[test]
    fn a_source_kind_is_written_with_the_fewest_escapes() {
        let tag = |kind: &str| {
            let data = format!(r#"{{"content":[],"source":{{"kind":{kind}}}}}"#);
            let event = format!(r#"{{"type":"context/message","data":{data}}}"#);
            let oracle = with(&[&event]);
            let messages = oracle.messages().value;
            let message = Json::parse(messages[0].0).unwrap();
            let mut blocks = message.get("content").unwrap().elements().unwrap();
            blocks.next().unwrap().get("text").unwrap().as_str().unwrap().into_owned()
        };
        let cases = [
            (r#""\ud83d\ud83d\ude00""#, r#""\ud83d😀""#),
            (r#""\udfff\uD800\u00e9\u2028""#, "\"\\udfff\\ud800é\u{2028}\""),
            (r#""\u001f\u0008\u000c\u007f\/""#, "\"\\u001f\\b\\f\u{7f}/\""),
            (r#""\uD7FF\uE000 \u000b""#, "\"\u{d7ff}\u{e000} \\u000b\""),
            (r#""""#, r#""""#),
        ];
        for (kind, expected) in cases {
            assert_eq!(tag(kind), format!("<context source={expected}>"), "{kind}");
        }
    }
}
