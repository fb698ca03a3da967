//! The reference model: what SPEC.md asks, in the fewest and plainest lines.

use crate::spec::RefusalCode::{self, *};
use crate::spec::clause::*;
use crate::spec::{Clause, Contract};

pub mod laws;
mod read;

/// A session: its log, and the surface folded so far. Clause `surface.fold`.
#[derive(Clone)]
pub struct Oracle {
    contract: Contract,
    log: Vec<Event>,
    surface: Vec<u64>,
}

/// The clause of an event's operation, the clause of its message or silence, and the message.
#[derive(Clone)]
struct Event {
    op: Clause,
    rule: Clause,
    message: Option<String>,
}

/// Why an event is refused; `missing` belongs to clause `replace.coverage`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs)]
pub struct Refused {
    pub code: RefusalCode,
    pub missing: Vec<u64>,
}

/// An answer with the clauses that it used, the deciding one first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs)]
pub struct Answer<T> {
    pub value: T,
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
    pub fn offer(&mut self, text: &str) -> Answer<Result<u64, Refused>> {
        let seq = self.len();
        match self.take(text, false) {
            Ok(op) if op != REPLACE_PLACE => Answer { value: Ok(seq), clauses: vec![op] },
            Ok(op) => Answer { value: Ok(seq), clauses: vec![REPLACE_INCLUSIVE, op] },
            Err((clause, refused)) => Answer { value: Err(refused), clauses: vec![clause] },
        }
    }
    /// Replaces the session or leaves it alone. Clauses `seed.whole`, `seed.all-or-nothing`.
    pub fn seed(&mut self, texts: &[&str]) -> Answer<Result<Vec<u64>, (usize, Refused)>> {
        let mut whole = Oracle::new(self.contract);
        for (index, text) in texts.iter().enumerate() {
            if let Err((by, refused)) = whole.take(text, true) {
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
    /// First every check in order, then the change. Clauses `check.order`, `refusal.changes-nothing`.
    fn take(&mut self, text: &str, seeded: bool) -> Result<Clause, (Clause, Refused)> {
        let no = |code: RefusalCode| (code.clause(), Refused { code, missing: Vec::new() });
        let ensure = |holds, code| if holds { Ok(()) } else { Err(no(code)) };
        let fields = read::fields(text, seeded).map_err(|by| (by, no(EventMalformed).1))?;
        let ([_, _, at, _, op, sources], next) = (fields, self.len());
        ensure(at.is_none_or(|at| read::seq(at) == Some(next)), SeqNotContiguous)?;
        let (rule, message) = read::message(&self.contract, &fields);
        ensure(seeded || rule != DATA_MALFORMED_IS_SILENT, DataMalformed)?;
        let op = op.map(|op| read::op(op).ok_or_else(|| no(SurfaceOpMalformed))).transpose()?;
        let sources = read::sources(sources).ok_or_else(|| no(SourcesMalformed))?;
        let op = match op {
            None => SURFACE_UNMARKED,
            Some(read::Op::Append) => {
                self.surface.push(next);
                SURFACE_APPEND
            }
            Some(read::Op::Replace { start, end }) => {
                let place = |seq| self.surface.iter().position(|node| *node == seq);
                let start = place(start).ok_or_else(|| no(StartNotOnSurface))?;
                let end = place(end).ok_or_else(|| no(EndNotOnSurface))?;
                ensure(start <= end, ReversedRange)?;
                let range = self.surface.iter().copied().take(end + 1).skip(start);
                let missing: Vec<u64> = range.filter(|node| !sources.contains(node)).collect();
                if !missing.is_empty() {
                    return Err((REPLACE_COVERAGE, Refused { code: MissingSource, missing }));
                }
                self.surface.splice(start..=end, [next]);
                REPLACE_PLACE
            }
        };
        self.log.push(Event { op, rule, message });
        Ok(op)
    }
    fn nodes(&self) -> Vec<&Event> {
        self.surface.iter().filter_map(|seq| self.log.get(*seq as usize)).collect()
    }
    /// The nodes from head to tail, each with the clause that put it there.
    pub fn surface(&self) -> Answer<Vec<u64>> {
        let clauses = self.nodes().iter().map(|event| event.op).collect();
        Answer { value: self.surface.clone(), clauses }
    }
    /// The messages, each with its rule. Clauses `message.fallback`, `message.mixed`.
    pub fn messages(&self) -> Answer<Vec<(String, Clause)>> {
        let vanishes = |event: &Event| event.op == SURFACE_UNMARKED && event.rule != MESSAGE_TYPES;
        let (decided_by, shown) = match self.has_surface() {
            false => (MESSAGE_FALLBACK, self.log.iter().collect()),
            true if self.log.iter().any(vanishes) => (MESSAGE_MIXED, self.nodes()),
            true => (MESSAGE_ORDER, self.nodes()),
        };
        let rules = std::collections::BTreeSet::from_iter(shown.iter().map(|event| event.rule));
        let clauses = [decided_by].into_iter().chain(rules).collect();
        let messages = shown.iter().filter_map(|event| Some((event.message.clone()?, event.rule)));
        Answer { value: messages.collect(), clauses }
    }
    /// Why an event is on the surface or not. Clauses `surface.unmarked`, `replace.forever`.
    pub fn fate(&self, seq: u64) -> Clause {
        match self.log.get(seq as usize).map(|event| event.op) {
            None => LOG_CONTIGUOUS,
            Some(op) if op == SURFACE_UNMARKED || self.surface.contains(&seq) => op,
            Some(_) => REPLACE_FOREVER,
        }
    }
}
