//! Which call is answered by which result, among the derived messages.

use super::{Event, Oracle, read};
use crate::spec::Json;
use crate::spec::clause::*;

/// A `tool-call` block of a derived message.
pub struct Call<'o> {
    /// The place of its message among the derived messages.
    pub at: usize,
    /// The event of its message.
    pub event: &'o Event,
    /// Its id.
    pub id: Json<'o>,
    /// The place of the result that answers it.
    pub answer: Option<usize>,
}

impl Oracle {
    /// The events that show a message, with their seqs, in the order of the messages.
    pub(super) fn said(&self) -> Vec<(u64, &Event)> {
        self.shown().into_iter().filter(|(_, event)| event.message.is_some()).collect()
    }
}

/// The calls of the messages whose events have the seq `from` or a later one. A result answers the
/// first open call of its id in the nearest message before it that has one open.
/// Clauses `repair.calls`, `repair.answers`.
pub fn calls<'o>(said: &[(u64, &'o Event)], from: u64) -> Vec<Call<'o>> {
    let mut calls = Vec::new();
    for (at, (seq, event)) in said.iter().enumerate() {
        if event.rule == MESSAGE_ASSISTANT && *seq >= from {
            let call = |id| Call { at, event, id, answer: None };
            calls.extend(event.ids().into_iter().map(call));
        }
    }
    for (at, (_, result)) in said.iter().enumerate() {
        for id in result.ids().into_iter().filter(|_| result.is_result()) {
            let open = calls.iter_mut().filter(|call| call.answer.is_none() && call.at < at);
            // Of several with the largest place `max_by_key` gives the last: the first block.
            let nearest = open.filter(|call| call.id.same_value(id)).rev();
            if let Some(call) = nearest.max_by_key(|call| call.at) {
                call.answer = Some(at);
            }
        }
    }
    calls
}

impl Event {
    /// The ids of the calls that an event is about: of the `tool-call` blocks of a message that is
    /// well-formed, of a `tool/call`, of a `tool/result`. What is no string is no id.
    /// Clause `repair.calls`.
    pub(super) fn ids(&self) -> Vec<Json<'_>> {
        let ids: Vec<Option<Json<'_>>> = match self.name().as_ref() {
            "assistant/message" if self.message.is_some() => {
                let blocks = self.data("content").and_then(Json::elements).into_iter().flatten();
                let is_call = |block: &Json<'_>| {
                    block.get("type").is_some_and(|name| name.is_str("tool-call"))
                };
                blocks.filter(is_call).map(|block| block.get("id")).collect()
            }
            "tool/call" | "tool/result" => vec![self.data("callId")],
            _ => Vec::new(),
        };
        ids.into_iter().flatten().filter(read::is_string).collect()
    }
}

/// An id as the string that it is, however it is spelled. Clause `event.shape`.
pub fn string(id: Json<'_>) -> Vec<u8> {
    id.as_wtf8().unwrap_or_default().into_owned()
}
