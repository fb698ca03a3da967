//! What a provider would refuse: a pure walk over the derived messages. SPEC.md, section 7.

use std::collections::BTreeSet;

use super::Oracle;
use super::calls::{calls, string};
use crate::spec::Json;
use crate::spec::PairingCode::{self, *};
use crate::spec::clause::*;

impl Oracle {
    /// The findings with the seqs of their messages, by surface position and then in the order of
    /// the codes. A result answers as clause `repair.answers` says, over the calls of all turns.
    pub fn pairing(&self) -> Vec<(u64, PairingCode)> {
        let said = self.said();
        let calls = calls(&said, 0);
        let mut found = Vec::new();
        for (at, (_, event)) in said.iter().enumerate() {
            let mut report = |at, code| found.push((at, code));
            if event.rule == MESSAGE_ASSISTANT {
                let own = || calls.iter().filter(|call| call.at == at);
                let ids: Vec<Vec<u8>> = own().map(|call| string(call.id)).collect();
                for id in BTreeSet::from_iter(&ids) {
                    if ids.iter().filter(|other| *other == id).count() > 1 {
                        report(at, DuplicateCallId);
                    }
                }
                for _ in own().filter(|call| call.answer.is_none()) {
                    report(at, UnansweredCall);
                }
                let answers: Vec<usize> = own().filter_map(|call| call.answer).collect();
                let last = answers.iter().copied().max().unwrap_or(at);
                if let Some(between) = (at + 1..last).find(|place| !answers.contains(place)) {
                    report(between, Interleaved);
                }
                let content = event.data("content").and_then(Json::elements);
                if content.is_some_and(|mut blocks| blocks.next().is_none()) {
                    report(at, EmptyAssistant);
                }
            }
            if event.is_result() && calls.iter().all(|c| c.answer != Some(at)) {
                let ids = event.ids();
                let is_own = |call: Json<'_>| ids.iter().any(|id| id.same_value(call));
                let has_call = calls.iter().any(|call| call.at < at && is_own(call.id));
                report(at, if has_call { DuplicateResult } else { OrphanResult });
            }
            if event.message.as_deref().is_some_and(is_ill_formed) {
                report(at, IllFormedText);
            }
        }
        found.sort();
        let seq = |(at, code): (usize, PairingCode)| Some((said.get(at)?.0, code));
        found.into_iter().filter_map(seq).collect()
    }
}

/// Whether a string of a JSON text, keys too, holds a lone surrogate. The text is read token by
/// token, so that its depth does not matter.
fn is_ill_formed(text: &str) -> bool {
    let (mut start, mut escaped) = (None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (start, byte) {
            (None, b'"') => start = Some(at),
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(from), b'"') => {
                if text.get(from..=at).is_some_and(holds_a_lone_surrogate) {
                    return true;
                }
                start = None;
            }
            _ => {}
        }
    }
    false
}

/// In WTF-8 these two bytes begin a surrogate, and nothing else does.
fn holds_a_lone_surrogate(string: &str) -> bool {
    let string = Json::parse(string).ok().and_then(Json::as_wtf8);
    string.is_some_and(|bytes| bytes.windows(2).any(|two| matches!(two, [0xED, 0xA0..=0xBF])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Contract;

    /// The findings over offered messages. `u` is a user message, `-` a silent node, `A` with ids
    /// an assistant message with these calls, `a` one with a text, `R` with an id its result.
    fn found(signs: &str) -> Vec<(u64, PairingCode)> {
        let mut oracle = Oracle::new(Contract::ADR_0019);
        for sign in signs.split_whitespace() {
            let (kind, ids) = sign.split_at(1);
            let calls: Vec<String> =
                ids.chars().map(|id| format!(r#"{{"type":"tool-call","id":"{id}"}}"#)).collect();
            let calls = calls.join(",");
            let data = match kind {
                "A" => format!(r#""turn":1,"step":1,"content":[{calls}]"#),
                "a" => r#""turn":1,"step":1,"content":[{"type":"text","text":""}]"#.to_owned(),
                "R" => {
                    format!(r#""turn":1,"step":1,"callId":"{ids}","content":[],"isError":false"#)
                }
                _ => r#""content":[],"source":{"kind":"user"}"#.to_owned(),
            };
            let name = match kind {
                "A" | "a" => "assistant/message",
                "R" => "tool/result",
                "u" => "user/message",
                _ => "my/own",
            };
            let event = format!(r#"{{"type":"{name}","data":{{{data}}},"surfaceOp":"append"}}"#);
            assert!(oracle.offer(Json::parse(&event).unwrap()).value.is_ok(), "{event}");
        }
        oracle.pairing()
    }

    /// The findings over a whole log, and what is left to close in it.
    fn stored(log: &str) -> (Vec<(u64, PairingCode)>, usize) {
        let events: Vec<_> = log.lines().map(|line| Json::parse(line).unwrap()).collect();
        let mut oracle = Oracle::new(Contract::ADR_0019);
        assert_eq!(oracle.seed(&events).value.map(|seqs| seqs.len()), Ok(events.len()));
        (oracle.pairing(), oracle.repair().value.len())
    }

    #[test]
    fn calls_with_their_results_right_behind_them_are_taken() {
        for signs in ["", "u", "u Abc Rb Rc a", "Abc Rc Rb", "Ab - Rb", "Ab Rb Ab Rb"] {
            assert_eq!(found(signs), [], "{signs}");
        }
    }

    #[test]
    fn an_id_twice_among_the_blocks_is_found_once_an_id() {
        let expected = [(0, DuplicateCallId), (0, DuplicateCallId)];
        assert_eq!(found("Abbbcc Rb Rb Rb Rc Rc"), expected);
    }

    #[test]
    fn each_call_that_no_result_behind_it_answers_is_found() {
        assert_eq!(found("Ab"), [(0, UnansweredCall)]);
        let expected = [(0, DuplicateCallId), (0, UnansweredCall), (0, UnansweredCall)];
        assert_eq!(found("Abbb Rb"), expected);
        assert_eq!(found("Ab Ab Rb"), [(0, UnansweredCall)]);
    }

    #[test]
    fn a_result_without_a_call_before_it_is_an_orphan() {
        assert_eq!(found("Rb Ab Rb"), [(0, OrphanResult)]);
        assert_eq!(found("Ab Rb Rc"), [(2, OrphanResult)]);
    }

    #[test]
    fn a_result_whose_calls_are_answered_is_a_duplicate() {
        assert_eq!(found("Ab Rb Rb"), [(2, DuplicateResult)]);
    }

    #[test]
    fn what_stands_between_a_call_and_its_result_is_found_once_an_assistant_message() {
        assert_eq!(found("Abc Rb u u Rc"), [(2, Interleaved)]);
        assert_eq!(found("Ab Ac Rb Rc"), [(1, Interleaved), (2, Interleaved)]);
        assert_eq!(found("Ab Ac u Rc Rb"), [(1, Interleaved), (2, Interleaved)]);
        let twice = [(2, DuplicateResult), (2, Interleaved)];
        assert_eq!(found("Abc Rb Rb Rc"), twice);
        assert_eq!(found("Ab u"), [(0, UnansweredCall)]);
    }

    #[test]
    fn an_assistant_message_of_no_block_is_found() {
        assert_eq!(found("u A a"), [(1, EmptyAssistant)]);
    }

    #[test]
    fn the_findings_come_by_surface_position_then_in_the_order_of_the_codes() {
        let log = r#"{"type":"my/own","seq":0,"time":0,"data":{},"surfaceOp":"append"}
{"type":"tool/result","seq":1,"time":0,"data":{"turn":1,"step":1,"callId":"x","content":[],"isError":false},"surfaceOp":"append"}
{"type":"assistant/message","seq":2,"time":0,"data":{"turn":1,"step":1,"content":[{"type":"tool-call","id":"c"},{"type":"tool-call","id":"c","\udc00":0}]},"sourceEventSeqs":[0],"surfaceOp":{"op":"replace","start":0,"end":0}}"#;
        let expected = [
            (2, DuplicateCallId),
            (2, UnansweredCall),
            (2, UnansweredCall),
            (2, IllFormedText),
            (1, OrphanResult),
        ];
        assert_eq!(stored(log).0, expected);
    }

    #[test]
    fn a_lone_surrogate_is_found_at_any_depth_and_in_keys() {
        let ill = [r#""\ud83d""#, r#"{"\uDFFF":1}"#, r#"["a\"\\",{"b":["\ude00\ud83d"]}]"#];
        let well = [r#""\ud83d\ude00""#, r#""\\ud83d""#, r#"["퟿\ud7ff",""]"#, r#"{"\"":-1e2}"#];
        for text in ill {
            assert!(is_ill_formed(text), "{text}");
        }
        for text in well {
            assert!(!is_ill_formed(text), "{text}");
        }
        let deep = format!(r#"{}"\udfff"{}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(is_ill_formed(&deep));
    }

    #[test]
    fn a_kind_with_a_lone_surrogate_makes_a_well_formed_tag() {
        let log = r#"{"type":"context/message","seq":0,"time":0,"data":{"content":[],"source":{"kind":"\ud83d"}},"surfaceOp":"append"}"#;
        assert_eq!(stored(log).0, []);
    }

    #[test]
    fn case_01_two_parallel_calls_of_which_one_was_killed() {
        let log = r#"{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}
{"type":"user/message","seq":1,"time":0,"data":{"content":[],"source":{"kind":"user"}},"surfaceOp":"append"}
{"type":"step/start","seq":2,"time":0,"data":{"turn":1,"step":1}}
{"type":"assistant/chunk","seq":3,"time":0,"data":{"turn":1,"step":1,"chunk":{}}}
{"type":"assistant/message","seq":4,"time":0,"data":{"turn":1,"step":1,"content":[{"type":"tool-call","id":"c1"},{"type":"tool-call","id":"c2"}]},"sourceEventSeqs":[3],"surfaceOp":"append"}
{"type":"tool/call","seq":5,"time":0,"data":{"turn":1,"step":1,"callId":"c1"}}
{"type":"tool/call","seq":6,"time":0,"data":{"turn":1,"step":1,"callId":"c2"}}
{"type":"tool/result","seq":7,"time":0,"data":{"turn":1,"step":1,"callId":"c1","content":[],"isError":false},"sourceEventSeqs":[5],"surfaceOp":"append"}"#;
        assert_eq!(stored(log), (vec![(4, UnansweredCall)], 3));
    }

    #[test]
    fn case_02_a_compaction_that_removes_a_call_and_keeps_its_result() {
        let log = r#"{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}
{"type":"user/message","seq":1,"time":0,"data":{"content":[],"source":{"kind":"user"}},"surfaceOp":"append"}
{"type":"assistant/message","seq":2,"time":0,"data":{"turn":1,"step":1,"content":[{"type":"tool-call","id":"c1"}]},"surfaceOp":"append"}
{"type":"tool/call","seq":3,"time":0,"data":{"turn":1,"step":1,"callId":"c1"}}
{"type":"tool/result","seq":4,"time":0,"data":{"turn":1,"step":1,"callId":"c1","content":[],"isError":false},"sourceEventSeqs":[3],"surfaceOp":"append"}
{"type":"turn/end","seq":5,"time":0,"data":{"turn":1}}
{"type":"context/message","seq":6,"time":0,"data":{"content":[],"source":{"kind":"plugin"}},"sourceEventSeqs":[1,2],"surfaceOp":{"op":"replace","start":1,"end":2}}"#;
        assert_eq!(stored(log), (vec![(4, OrphanResult)], 0));
    }

    #[test]
    fn case_06_a_lone_surrogate_in_a_stored_result() {
        let log = r#"{"type":"assistant/message","seq":0,"time":0,"data":{"turn":1,"step":1,"content":[{"type":"tool-call","id":"c1"}]},"surfaceOp":"append"}
{"type":"tool/result","seq":1,"time":0,"data":{"turn":1,"step":1,"callId":"c1","content":[{"type":"text","text":"cut off here: \ud83d"}],"isError":false},"surfaceOp":"append"}
{"type":"assistant/message","seq":2,"time":0,"data":{"turn":1,"step":2,"content":[{"type":"text","text":"Done 😀"}]},"surfaceOp":"append"}"#;
        assert_eq!(stored(log), (vec![(1, IllFormedText)], 0));
    }

    #[test]
    fn case_08_an_empty_assistant_message_and_one_with_an_empty_text() {
        assert_eq!(found("u A u a u"), [(1, EmptyAssistant)]);
    }
}
