//! The development invariants: a walk over a whole log that reports every violation.

use std::collections::BTreeSet;

use super::calls::string;
use super::{Answer, Event, Oracle, read, taken};
use crate::spec::ViolationCode::{self, *};
use crate::spec::clause::*;
use crate::spec::{Contract, Json, RefusalCode};

impl Oracle {
    /// The violations of the log, with the clauses of their codes.
    pub fn check(&self) -> Answer<Vec<(u64, ViolationCode)>> {
        let log: Vec<_> = self.log.iter().filter_map(|e| Json::parse(&e.text).ok()).collect();
        let value = violations(self.contract, &log);
        let mut clauses = Vec::new();
        for (_, code) in &value {
            if !clauses.contains(&code.clause()) {
                clauses.push(code.clause());
            }
        }
        if clauses.is_empty() {
            clauses.push(INVARIANT_REFUSED);
        }
        Answer { value, clauses }
    }
}

/// The violations of any log of event objects with `seq` and `time`, by seq and then in the order
/// of the codes. What is no event at all is reported by the seq that stands there, else its index.
///
/// The rows about seqs look at what stands in the log, refused or not; all else that is followed
/// is moved by the events that a session would take.
pub fn violations(contract: Contract, events: &[Json<'_>]) -> Vec<(u64, ViolationCode)> {
    let seq_of = |event: &Json<'_>| {
        let [_, _, seq, ..] = read::fields(*event, true).ok()?;
        read::seq(seq?)
    };
    let (mut surface, mut before, mut open) = (Vec::new(), None, Open::default());
    let mut reported = Vec::new();
    for (index, event) in (0..).zip(events) {
        let mut codes = BTreeSet::new();
        if let Ok(fields) = read::fields(*event, true) {
            let seq = seq_of(event);
            if before.is_some() && seq <= before {
                codes.insert(SeqNotIncreasing);
            }
            before = seq;
            let earlier = events.iter().take(index as usize).filter_map(seq_of);
            codes.extend(sources(&earlier.collect::<Vec<u64>>(), &fields));
            if read::message(&contract, &fields).0 == DATA_MALFORMED_IS_SILENT {
                codes.insert(Refused(RefusalCode::DataMalformed));
            }
        }
        match taken(&contract, &mut surface, index, *event, true) {
            Ok(event) => codes.extend(open.follow(&contract, &event)),
            Err((_, refused)) => codes.extend([Refused(refused.code)]),
        }
        let seq = event.get("seq").and_then(read::seq).unwrap_or(index);
        reported.extend(codes.into_iter().map(|code| (seq, code)));
    }
    reported.sort();
    reported
}

/// Clause `invariant.sources`; what is no array of seqs is refused for that.
fn sources(seqs: &[u64], fields: &read::Fields<'_>) -> Vec<ViolationCode> {
    let [_, _, seq, _, _, sources] = *fields;
    let (Some(own), Some(sources)) = (seq.and_then(read::seq), sources) else { return Vec::new() };
    let Some(sources) = read::sources(Some(sources)) else { return Vec::new() };
    let rows = [
        (SourcesEmpty, sources.is_empty()),
        (SourcesDuplicate, BTreeSet::from_iter(&sources).len() < sources.len()),
        (SourcesNotEarlier, sources.iter().any(|seq| *seq >= own)),
        (SourcesUnknown, sources.iter().any(|seq| *seq < own && !seqs.contains(seq))),
    ];
    rows.into_iter().filter(|(_, found)| *found).map(|(code, _)| code).collect()
}

/// What is open, and what the log has had so far.
#[derive(Default)]
struct Open {
    marked: bool,
    unmarked: bool,
    /// What the open turn names.
    turn: Option<Option<i64>>,
    /// The turn and the step that the open step names.
    step: Option<(Option<i64>, Option<i64>)>,
    /// The ids of the calls in the open step that no result answered.
    calls: Vec<Vec<u8>>,
}

impl Open {
    /// The violations of an event that a session takes, and what it changes.
    /// Clauses `invariant.eligible-type`, `invariant.mixed`, `invariant.turn`, `invariant.step`,
    /// `invariant.result`.
    fn follow(&mut self, contract: &Contract, event: &Event) -> Vec<ViolationCode> {
        let (name, turn, step) = (event.name(), event.integer("turn"), event.integer("step"));
        let name = name.as_ref();
        let mut found = Vec::new();
        let mut report = |holds, code| found.extend(Some(code).filter(|_| holds));

        let marked = event.op != SURFACE_UNMARKED;
        report(marked && contract.silent_types.contains(&name), IneligibleType);
        let was_mixed = self.marked && self.unmarked;
        self.marked |= marked;
        self.unmarked |= event.is_unmarked_message();
        report(!was_mixed && self.marked && self.unmarked, LegacyMixed);

        match name {
            "turn/start" => {
                report(self.turn.is_some(), TurnNested);
                (self.turn, self.step) = (Some(turn), None);
            }
            "turn/end" => {
                report(self.turn != Some(turn), TurnUnmatchedEnd);
                report(self.step.is_some(), TurnOpenStep);
                (self.turn, self.step) = (None, None);
            }
            "step/start" => {
                report(self.turn != Some(turn), StepOutsideTurn);
                report(self.step.is_some(), StepNested);
                self.step = Some((turn, step));
            }
            "step/end" => {
                report(self.step != Some((turn, step)), StepUnmatchedEnd);
                self.step = None;
            }
            _ => report(self.turn.is_none(), TurnOutside),
        }
        if ["turn/start", "turn/end", "step/start", "step/end"].contains(&name) {
            self.calls.clear();
        }

        let replaces = event.op == REPLACE_PLACE;
        let exempt = replaces || is_closer(contract, event);
        let in_step = ["assistant/chunk", "assistant/message", "tool/call", "tool/result"];
        let open_step = self.step.map(|(_, step)| step);
        let is_named = self.turn == Some(turn) && open_step == Some(step);
        report(in_step.contains(&name) && !exempt && !is_named, StepMismatch);

        let ids: Vec<Vec<u8>> = event.ids().into_iter().map(string).collect();
        if name == "tool/result" {
            let call = self.calls.iter().position(|call| ids.contains(call));
            report(call.is_none() && !exempt, ResultWithoutCall);
            call.filter(|_| !replaces).map(|call| self.calls.remove(call));
        } else if name == "tool/call" && self.step.is_some() {
            self.calls.extend(ids);
        }
        found
    }
}

/// Whether an event is a closing result. Clause `invariant.step`.
fn is_closer(contract: &Contract, event: &Event) -> bool {
    let code = event.data("error").and_then(|error| error.get("code"));
    let is_code = |code: Json<'_>| contract.closer_codes.iter().any(|closer| code.is_str(closer));
    event.name() == "tool/result" && code.is_some_and(is_code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(events: &[&str]) -> Vec<(u64, &'static str)> {
        let events: Vec<_> = events.iter().map(|event| Json::parse(event).unwrap()).collect();
        let violations = violations(Contract::ADR_0019, &events);
        violations.into_iter().map(|(seq, code)| (seq, code.as_str())).collect()
    }

    /// The violations of a log of the events `name {members of data} further fields`.
    fn found_in(events: &[(&str, &str, &str)]) -> Vec<(u64, &'static str)> {
        let event = |(seq, (name, data, rest)): (usize, &(&str, &str, &str))| {
            format!(r#"{{"type":"{name}","seq":{seq},"time":7,"data":{{{data}}}{rest}}}"#)
        };
        let texts: Vec<String> = events.iter().enumerate().map(event).collect();
        found(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }

    const TURN: &str = r#"{"type":"turn/start","seq":0,"time":0,"data":{}}"#;

    #[test]
    fn the_checker_goes_on_behind_what_is_no_event() {
        let expected = [(1, "event/malformed"), (2, "event/malformed"), (8, "event/malformed")];
        let events = [
            TURN,
            "[]",
            r#"{"type":"a","seq":-1,"time":0,"data":{}}"#,
            r#"{"type":"a","seq":8,"data":{}}"#,
            r#"{"type":"a","seq":4,"time":0,"data":{},"surfaceOp":"append"}"#,
        ];
        assert_eq!(found(&events), expected);
    }

    #[test]
    fn both_rows_about_seqs_are_reported() {
        let at = |seq| format!(r#"{{"type":"a","seq":{seq},"time":0,"data":{{}}}}"#);
        let expected =
            [(0, "seq/not-increasing"), (0, "seq/not-contiguous"), (5, "seq/not-contiguous")];
        assert_eq!(
            found(&[TURN, &at(0), &at(2), &at(5), &at(6)]),
            [&expected[..], &[(6, "seq/not-contiguous")]].concat()
        );
    }

    #[test]
    fn a_source_that_no_event_has_is_unknown() {
        let event = |seq, sources| {
            format!(
                r#"{{"type":"a","seq":{seq},"time":0,"data":{{}},"sourceEventSeqs":{sources}}}"#
            )
        };
        let expected = [
            (2, "sources/unknown"),
            (2, "seq/not-contiguous"),
            (3, "sources/duplicate"),
            (3, "sources/not-earlier"),
            (3, "sources/unknown"),
            (3, "seq/not-contiguous"),
        ];
        assert_eq!(found(&[TURN, &event(2, "[1,0]"), &event(3, "[2,3,1,1]")]), expected);
    }

    #[test]
    fn a_refused_event_changes_nothing_else() {
        let replace = r#","sourceEventSeqs":[],"surfaceOp":{"op":"replace","start":1,"end":1}"#;
        let events = [
            ("turn/start", "", ""),
            ("a", "", r#","surfaceOp":"append""#),
            ("turn/end", "", r#","surfaceOp":7"#),
            ("turn/end", "", replace),
            ("user/message", "", r#","surfaceOp":[]"#),
            ("a", "", r#","sourceEventSeqs":{}"#),
            ("a", "", r#","sourceEventSeqs":[1],"surfaceOp":{"op":"replace","start":1,"end":1}"#),
        ];
        let expected = [
            (2, "surface-op/malformed"),
            (3, "sources/empty"),
            (3, "replace/missing-source"),
            (4, "data/malformed"),
            (4, "surface-op/malformed"),
            (5, "sources/malformed"),
        ];
        assert_eq!(found_in(&events), expected);
    }

    #[test]
    fn a_closing_result_uses_up_a_call_and_one_that_replaces_uses_up_none() {
        let (in_step, mark) = (r#""turn":1,"step":1"#, r#","surfaceOp":"append""#);
        let data = r#""turn":1,"step":1,"callId":"c","content":[],"isError":false"#;
        let closer = format!(r#"{data},"error":{{"code":"interrupted"}}"#);
        let other = format!(r#"{data},"error":{{"code":"other"}}"#);
        let call = ("tool/call", r#""turn":1,"step":1,"callId":"\u0063""#, "");
        let replace = r#","sourceEventSeqs":[3],"surfaceOp":{"op":"replace","start":3,"end":3}"#;
        let events = [
            ("turn/start", r#""turn":1"#, ""),
            ("step/start", in_step, ""),
            call,
            ("tool/result", &*closer, mark),
            ("tool/result", &*other, mark),
            call,
            ("tool/result", data, replace),
            ("tool/result", data, mark),
            ("tool/result", &*closer, mark),
            ("step/end", in_step, ""),
            ("tool/result", &*closer, mark),
            call,
            ("tool/result", data, mark),
            ("turn/end", r#""turn":1"#, ""),
        ];
        let expected = [
            (4, "result/without-call"),
            (11, "step/mismatch"),
            (12, "step/mismatch"),
            (12, "result/without-call"),
        ];
        assert_eq!(found_in(&events), expected);
    }

    #[test]
    fn a_repaired_log_has_no_violation() {
        let mut oracle = Oracle::new(Contract::ADR_0019);
        for event in [
            r#"{"type":"turn/start","data":{"turn":1}}"#,
            r#"{"type":"step/start","data":{"turn":1,"step":1}}"#,
            r#"{"type":"assistant/message","data":{"turn":1,"step":1,"content":[{"type":"tool-call","id":"c"}]},"surfaceOp":"append"}"#,
            r#"{"type":"tool/call","data":{"turn":1,"step":1,"callId":"c"}}"#,
        ] {
            assert!(oracle.offer(Json::parse(event).unwrap()).value.is_ok(), "{event}");
        }
        assert_eq!(oracle.repair().value.len(), 3);
        let answer = oracle.check();
        assert_eq!((answer.value, answer.clauses), (vec![], vec![INVARIANT_REFUSED]));
    }

    #[test]
    fn a_check_names_the_clauses_of_its_codes_once() {
        let mut oracle = Oracle::new(Contract::ADR_0019);
        let event = r#"{"type":"usage","data":{},"sourceEventSeqs":[],"surfaceOp":"append"}"#;
        for _ in 0..2 {
            assert!(oracle.offer(Json::parse(event).unwrap()).value.is_ok());
        }
        let clauses = [INVARIANT_SOURCES, INVARIANT_ELIGIBLE_TYPE, INVARIANT_TURN];
        assert_eq!(oracle.check().clauses, clauses);
    }
}
