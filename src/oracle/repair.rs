//! Repair: the closers of an interrupted turn.

use std::collections::BTreeSet;

use super::calls::{Call, calls, string};
use super::{Answer, Event, Oracle};
use crate::spec::Json;
use crate::spec::clause::*;

impl Oracle {
    /// The closers of the last turn, which are appended to the log.
    /// Clauses `repair.last-turn`, `repair.calls`, `repair.order`.
    pub fn repair(&mut self) -> Answer<Vec<String>> {
        let open = |start: &u64| self.last("turn/end") < Some(*start);
        let Some(start) = self.last("turn/start").filter(open) else {
            return Answer { value: Vec::new(), clauses: vec![REPAIR_LAST_TURN] };
        };
        let copy = |seq: u64, keys| self.log.get(seq as usize).map(|event| copied(event, keys));
        let turn = copy(start, &["turn"]).unwrap_or_default();
        let step = self.last("step/start").filter(|step| *step > start);
        let step = step.filter(|step| self.last("step/end") < Some(*step));
        let step = step.and_then(|step| copy(step, &["turn", "step"]));
        let calls = calls(&self.said(), start);
        let unanswered = calls.iter().filter(|call| call.answer.is_none());
        let result = |call: &Call<'_>| (call.id.to_string(), copied(call.event, &["turn", "step"]));
        let results: Vec<(String, Vec<String>)> = unanswered.map(result).collect();

        let mut clauses = Vec::new();
        clauses.extend(Some(REPAIR_VIEW).filter(|_| self.view_decides(start)));
        clauses.extend(self.silence());
        if !calls.is_empty() {
            clauses.extend([REPAIR_CALLS, REPAIR_ANSWERS]);
        }
        if !results.is_empty() {
            clauses.extend([REPAIR_RESULT, REPAIR_SOURCES, REPAIR_MARK]);
        }
        clauses.extend([REPAIR_ORDER, REPAIR_COPIES, REPAIR_PLACE, REPAIR_LAST_TURN]);

        let mut closers = Vec::new();
        for (id, data) in results {
            closers.push(self.close_call(start, &id, data));
        }
        closers.extend(step.map(|data| self.close("step/end", &data, "")));
        let reason = r#""reason":{"kind":"interrupted"}"#.to_owned();
        closers.push(self.close("turn/end", &[turn, vec![reason]].concat(), ""));
        Answer { value: closers, clauses }
    }

    /// The seq of the last event of a type.
    fn last(&self, name: &str) -> Option<u64> {
        self.log.iter().rposition(|event| event.name() == name).map(|at| at as u64)
    }

    /// Appends the closing result of a call. One that is marked in a log without a surface would
    /// hide the messages that the call stands among.
    /// Clauses `repair.result`, `repair.sources`, `repair.mark`.
    fn close_call(&mut self, start: u64, id: &str, mut data: Vec<String>) -> String {
        data.push(format!(r#""callId":{id}"#));
        data.push(r#""content":[{"type":"text","text":"interrupted"}],"isError":true"#.to_owned());
        data.push(r#""error":{"name":"InterruptedError","code":"interrupted"}"#.to_owned());
        let source = self.source(start, id);
        let mut rest = source.map_or(String::new(), |seq| format!(r#","sourceEventSeqs":[{seq}]"#));
        if self.has_surface() {
            rest += r#","surfaceOp":"append""#;
        }
        self.close("tool/result", &data, &rest)
    }

    /// The first `tool/call` of the last turn with this id that no result cites. The closers before
    /// are results of the log by now. Clause `repair.sources`.
    fn source(&self, start: u64, id: &str) -> Option<u64> {
        let id = Json::parse(id).ok()?;
        let results = self.log.iter().filter(|event| event.name() == "tool/result");
        let cited: Vec<u64> = results.flat_map(Event::sources).collect();
        let calls = (0..).zip(&self.log).filter(|(seq, event)| {
            *seq > start && event.name() == "tool/call" && !cited.contains(seq)
        });
        let of_id = |event: &Event| event.ids().into_iter().any(|other| other.same_value(id));
        calls.filter(|(_, event)| of_id(event)).map(|(seq, _)| seq).next()
    }

    /// Appends a closer and gives its text. Clause `repair.place`.
    fn close(&mut self, name: &str, data: &[String], rest: &str) -> String {
        let (seq, timed) = (self.len(), self.time_is_known());
        let time = self.log.last().map_or(0, Event::time);
        let data = data.join(",");
        let text =
            format!(r#"{{"type":"{name}","seq":{seq},"time":{time},"data":{{{data}}}{rest}}}"#);
        let taken = Json::parse(&text).is_ok_and(|closer| self.take(closer, true).is_ok());
        debug_assert!(taken, "{text} is a legal event");
        if let Some(closer) = self.log.last_mut() {
            // A time that was copied from an event whose time is not known is not known either.
            closer.timed = timed;
            if name == "tool/result" {
                closer.rule = REPAIR_RESULT;
            }
        }
        text
    }

    /// Whether one that looks at the raw log instead of the messages may close other calls.
    /// Clause `repair.view`.
    fn view_decides(&self, start: u64) -> bool {
        let ids = |name: &str, from: u64| -> Vec<Vec<u8>> {
            let events = self.log.iter().skip(from as usize).filter(|event| event.name() == name);
            events.flat_map(Event::ids).map(string).collect()
        };
        let twice = |name| {
            let ids = ids(name, 0);
            BTreeSet::from_iter(&ids).len() < ids.len()
        };
        let of_turn = |name| BTreeSet::from_iter(ids(name, start));
        self.is_mixed()
            || self.log.iter().any(|event| event.op == REPLACE_PLACE)
            || ["assistant/message", "tool/call", "tool/result"].into_iter().any(twice)
            || of_turn("assistant/message") != of_turn("tool/call")
    }
}

/// The integers at these keys of an event's `data`, as entries. Clause `repair.copies`.
fn copied(event: &Event, keys: &[&str]) -> Vec<String> {
    let entry = |key: &&str| Some(format!(r#""{key}":{}"#, event.integer(key)?));
    keys.iter().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Clause, Contract};

    /// The type of an event, the members of its `data`, and its further fields.
    type Given<'e> = (&'e str, &'e str, &'e str);

    /// A session that is seeded with these events.
    fn seeded(events: &[Given<'_>]) -> Oracle {
        let text = |(seq, (name, data, rest)): (usize, &Given<'_>)| {
            format!(r#"{{"type":"{name}","seq":{seq},"time":7,"data":{{{data}}}{rest}}}"#)
        };
        let texts: Vec<String> = events.iter().enumerate().map(text).collect();
        let events: Vec<_> = texts.iter().map(|text| Json::parse(text).unwrap()).collect();
        let mut oracle = Oracle::new(Contract::ADR_0019);
        assert!(oracle.seed(&events).value.is_ok(), "{texts:?}");
        oracle
    }

    const MARK: &str = r#","surfaceOp":"append""#;
    const TURN: Given<'_> = ("turn/start", r#""turn":1"#, "");
    const ASKS: Given<'_> = (
        "assistant/message",
        r#""turn":1,"step":2,"content":[{"type":"tool-call","id":"c"}]"#,
        MARK,
    );
    const CALL: Given<'_> = ("tool/call", r#""callId":"\u0063""#, "");
    const RESULT: Given<'_> =
        ("tool/result", r#""turn":1,"step":2,"callId":"c","content":[],"isError":false"#, MARK);

    fn clauses(events: &[Given<'_>]) -> Vec<Clause> {
        seeded(events).repair().clauses
    }

    #[test]
    fn a_turn_that_is_not_open_is_decided_by_that_alone() {
        for events in [&[][..], &[ASKS, ASKS], &[TURN, ASKS, ASKS, ("turn/end", "", "")]] {
            let answer = seeded(events).repair();
            assert_eq!((answer.value, answer.clauses), (Vec::new(), vec![REPAIR_LAST_TURN]));
        }
    }

    #[test]
    fn a_plain_interrupted_turn_is_decided_by_must_clauses() {
        let always = [REPAIR_ORDER, REPAIR_COPIES, REPAIR_PLACE, REPAIR_LAST_TURN];
        assert_eq!(clauses(&[TURN]), always);
        let answered = [&[REPAIR_CALLS, REPAIR_ANSWERS], always.as_slice()].concat();
        assert_eq!(clauses(&[TURN, ASKS, CALL, RESULT]), answered);
        let closed = [REPAIR_CALLS, REPAIR_ANSWERS, REPAIR_RESULT, REPAIR_SOURCES, REPAIR_MARK];
        assert_eq!(clauses(&[TURN, ASKS, CALL]), [closed.as_slice(), &always].concat());
    }

    #[test]
    fn the_view_decides_where_the_raw_log_tells_something_else() {
        let unmarked = |(name, data, _)| (name, data, "");
        let replace = r#","sourceEventSeqs":[1],"surfaceOp":{"op":"replace","start":1,"end":1}"#;
        let twice = (
            "assistant/message",
            r#""turn":1,"step":2,"content":[{"type":"tool-call","id":"c"},{"type":"tool-call","id":"c"}]"#,
            MARK,
        );
        let turn_2 = ("turn/start", r#""turn":2"#, "");
        let logs: [(&str, &[Given<'_>]); 9] = [
            ("a replace", &[TURN, ("usage", "", MARK), ("usage", "", replace)]),
            ("two equal blocks", &[TURN, twice, CALL]),
            ("two equal calls", &[TURN, ASKS, CALL, CALL]),
            ("two equal results", &[TURN, ASKS, CALL, RESULT, RESULT]),
            ("a mixed log", &[TURN, unmarked(RESULT), ASKS, CALL]),
            ("a call that was not written", &[TURN, ASKS]),
            ("a call whose message was not written", &[TURN, CALL]),
            ("a call that was written in the next turn", &[TURN, ASKS, turn_2, CALL]),
            ("equal blocks in two turns", &[TURN, ASKS, CALL, RESULT, turn_2, ASKS]),
        ];
        for (name, events) in logs {
            assert_eq!(clauses(events).first(), Some(&REPAIR_VIEW), "{name}");
        }
        let malformed = clauses(&[TURN, ("user/message", "", MARK)]);
        assert_eq!(malformed.first(), Some(&DATA_MALFORMED_IS_SILENT));
        assert!(!malformed.contains(&REPAIR_VIEW));
    }

    #[test]
    fn a_result_answers_the_nearest_message_before_it() {
        let other = ("assistant/message", &*ASKS.1.replace("2", "3"), MARK);
        let mut oracle = seeded(&[TURN, ASKS, other, RESULT]);
        let closers = oracle.repair().value;
        assert_eq!(closers.len(), 2);
        assert!(closers[0].contains(r#""data":{"turn":1,"step":2,"callId":"c","#), "{closers:?}");
        assert_eq!(oracle.surface().value, [1, 2, 3, 4]);
    }

    #[test]
    fn a_call_of_an_earlier_turn_takes_no_answer_from_the_last_one() {
        let turn_2 = ("turn/start", r#""turn":2"#, "");
        let other = ("assistant/message", &*ASKS.1.replace("2", "3"), MARK);
        let mut oracle = seeded(&[TURN, ASKS, turn_2, other, RESULT, RESULT]);
        assert_eq!(oracle.repair().value.len(), 1);
    }

    #[test]
    fn closers_show_whether_their_time_is_known() {
        let mut oracle = seeded(&[("turn/start", r#""turn":1"#, "")]);
        assert!(oracle.time_is_known());
        let offered = r#"{"type":"step/start","data":{"turn":1,"step":4} }"#;
        assert!(oracle.offer(Json::parse(offered).unwrap()).value.is_ok());
        assert!(!oracle.time_is_known());
        let closers = oracle.repair().value;
        assert!(!oracle.time_is_known());
        let events = oracle.events();
        let known: Vec<bool> = events.iter().map(|(_, known)| *known).collect();
        assert_eq!(known, [true, false, false, false]);
        let wanted = [
            r#"{"type":"step/start","data":{"turn":1,"step":4},"seq":1,"time":0}"#,
            r#"{"type":"step/end","seq":2,"time":0,"data":{"turn":1,"step":4}}"#,
            r#"{"type":"turn/end","seq":3,"time":0,"data":{"turn":1,"reason":{"kind":"interrupted"}}}"#,
        ];
        for ((event, _), wanted) in events[1..].iter().zip(wanted) {
            assert!(Json::parse(event).unwrap().same_value(Json::parse(wanted).unwrap()));
        }
        assert_eq!(closers, [events[2].0, events[3].0]);
        assert!(!Oracle::new(Contract::ADR_0019).time_is_known());
    }

    #[test]
    fn ids_are_compared_as_strings_and_copied_as_they_are_spelled() {
        let lone = r#""turn":1,"step":2,"content":[{"type":"tool-c\u0061ll","id":"\ud83dc"}]"#;
        let call = r#""callId":"\uD83D\u0063""#;
        let mut oracle =
            seeded(&[TURN, ("assistant/message", lone, MARK), ("tool/call", call, "")]);
        let closers = oracle.repair().value;
        assert!(closers[0].contains(r#""callId":"\ud83dc""#), "{closers:?}");
        assert!(closers[0].contains(r#""sourceEventSeqs":[2]"#), "{closers:?}");
    }
}
