//! What the model shows of its log: the surface, the messages, the events themselves.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Answer, Event, Oracle, read};
use crate::spec::clause::*;
use crate::spec::{Clause, Json};

impl Event {
    /// Whether it shows a result, a closing one too.
    pub(super) fn is_result(&self) -> bool {
        [MESSAGE_TOOL_RESULT, REPAIR_RESULT].contains(&self.rule)
    }
}

impl Oracle {
    /// The nodes from head to tail, each with the clause that put it there.
    pub fn surface(&self) -> Answer<Vec<u64>> {
        let clauses = self.nodes().iter().map(|(_, event)| event.op).collect();
        Answer { value: self.surface.clone(), clauses }
    }

    fn nodes(&self) -> Vec<(u64, &Event)> {
        let node = |seq: &u64| Some((*seq, self.log.get(*seq as usize)?));
        self.surface.iter().filter_map(node).collect()
    }

    /// The messages, each with its rule. Clauses `message.fallback`, `message.mixed`.
    pub fn messages(&self) -> Answer<Vec<(&str, Clause)>> {
        let decided_by = match self.has_surface() {
            false => MESSAGE_FALLBACK,
            true if self.is_mixed() => MESSAGE_MIXED,
            true => MESSAGE_ORDER,
        };
        let shown = self.shown();
        let rules = BTreeSet::from_iter(shown.iter().map(|(_, event)| event.rule));
        let messages =
            shown.iter().filter_map(|(_, event)| Some((event.message.as_deref()?, event.rule)));
        Answer {
            value: messages.collect(),
            clauses: [decided_by].into_iter().chain(rules).collect(),
        }
    }

    /// The events that may show a message, with their seqs, in the order of the messages.
    /// Clauses `message.order`, `message.fallback`.
    pub(super) fn shown(&self) -> Vec<(u64, &Event)> {
        if self.has_surface() { self.nodes() } else { (0..).zip(&self.log).collect() }
    }

    /// Whether some message event is hidden by a marker. Clause `message.mixed`.
    pub(super) fn is_mixed(&self) -> bool {
        self.has_surface() && self.log.iter().any(Event::is_unmarked_message)
    }

    /// Why an event is on the surface or not. Clauses `surface.unmarked`, `replace.forever`.
    pub fn fate(&self, seq: u64) -> Clause {
        match self.log.get(seq as usize).map(|event| event.op) {
            None => LOG_CONTIGUOUS,
            Some(op) if op == SURFACE_UNMARKED || self.surface.contains(&seq) => op,
            Some(_) => REPLACE_FOREVER,
        }
    }

    /// The whole log as texts with `seq` and `time`, and whether the time is known: it is 0 where
    /// it is not. Clauses `event.lossless`, `event.offered`.
    pub fn events(&self) -> Vec<(&str, bool)> {
        self.log.iter().map(|event| (event.text.as_str(), event.timed)).collect()
    }

    /// Whether an event is a closing result of a repair. Clause `repair.result`.
    pub fn is_closing_result(&self, seq: u64) -> bool {
        self.log.get(seq as usize).is_some_and(|event| event.rule == REPAIR_RESULT)
    }

    /// Whether the time of the last event is known. It is not where a session gave it.
    /// Clause `event.offered`.
    pub fn time_is_known(&self) -> bool {
        self.log.last().is_some_and(|event| event.timed)
    }
}

impl Event {
    fn fields(&self) -> read::Fields<'_> {
        let event = Json::parse(&self.text).ok();
        event.and_then(|event| read::fields(event, true).ok()).unwrap_or_default()
    }

    /// The type; a type that is no text is none of the core's.
    pub(super) fn name(&self) -> Cow<'_, str> {
        let [name, ..] = self.fields();
        name.and_then(Json::as_str).unwrap_or_default()
    }

    /// What stands at a key of `data`. Clause `data.last-key-counts`.
    pub(super) fn data(&self, key: &str) -> Option<Json<'_>> {
        let [_, data, ..] = self.fields();
        data?.get(key)
    }

    /// The integer at a key of `data`; anything else is absent. Clause `repair.copies`.
    pub(super) fn integer(&self, key: &str) -> Option<i64> {
        self.data(key)?.as_integer()
    }

    pub(super) fn time(&self) -> i64 {
        let [_, _, _, time, ..] = self.fields();
        time.and_then(Json::as_integer).unwrap_or_default()
    }

    pub(super) fn sources(&self) -> Vec<u64> {
        let [.., sources] = self.fields();
        read::sources(sources).unwrap_or_default()
    }

    /// Whether it is a message event, of whatever data, without a `surfaceOp`.
    pub(super) fn is_unmarked_message(&self) -> bool {
        self.op == SURFACE_UNMARKED && self.rule != MESSAGE_TYPES
    }
}
