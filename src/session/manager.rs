//! `SurfaceManager`: the surface of a log as a cached view, brought up to date event by event.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use super::index::Index;
use super::slots::{Nodes, Slots};
use crate::spec::{Contract, Event, Field, Refusal, RefusalCode, Seq, SurfaceOp};

/// A log that a [`SurfaceManager`] reads. It only grows.
pub trait Log {
    /// How many events there are.
    fn len(&self) -> u64;

    /// The event at a position. A manager asks for each position once, in order, and for nodes.
    fn get(&self, seq: Seq) -> Option<&Event>;

    /// Whether there is no event.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Log for [Event] {
    fn len(&self) -> u64 {
        <[Event]>::len(self) as u64
    }

    fn get(&self, seq: Seq) -> Option<&Event> {
        <[Event]>::get(self, seq.index())
    }
}

impl Log for Vec<Event> {
    fn len(&self) -> u64 {
        Log::len(self.as_slice())
    }

    fn get(&self, seq: Seq) -> Option<&Event> {
        Log::get(self.as_slice(), seq)
    }
}

/// The surface of a log, kept up to date by its new events alone. Clauses `delta.cuts`,
/// `delta.snapshot`, `delta.error`.
///
/// | call | cost |
/// |---|---|
/// | [`read`](SurfaceManager::read) with nothing new | O(1) |
/// | an event that is appended | O(1), amortised |
/// | an event that replaces | what it shadows and the list of its sources |
/// | a refusal | the list of the event's own sources |
///
/// Sources that do not come in surface order are sorted first. Nothing grows with the log or with
/// the surface. A node takes at most 16 bytes by length: a slot of 8, and an entry in the index that
/// up to sixteen nodes share. An event off the surface takes none.
///
/// ```
/// use session_surface::session::SurfaceManager;
/// use session_surface::spec::{Contract, Event, Seq};
///
/// let mut log = vec![Event::parse(r#"{"type":"a/b","seq":0,"time":1,"data":{},"surfaceOp":"append"}"#)?];
/// let mut manager = SurfaceManager::new(Contract::ADR_0019);
/// assert_eq!(manager.read(&log)?.len(), 1);
///
/// let summary = Event::parse(
///     r#"{"type":"a/b","seq":1,"time":1,"data":{},"sourceEventSeqs":[0],"surfaceOp":{"op":"replace","start":0,"end":0}}"#,
/// )?;
/// let admission = manager.check(&log, &summary)?;
/// log.push(summary); // a store would make it durable here
/// manager.commit(admission)?;
/// assert_eq!(manager.surface().iter().map(Seq::get).collect::<Vec<_>>(), [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SurfaceManager {
    contract: Contract,
    slots: Slots,
    index: Index,
    processed: u64,
    has_surface: bool,
    generation: u64,
    epoch: Epoch,
    moves: u64,
    looked: Looked,
}

impl SurfaceManager {
    /// The view of an empty log.
    pub fn new(contract: Contract) -> SurfaceManager {
        SurfaceManager {
            contract,
            slots: Slots::default(),
            index: Index::default(),
            processed: 0,
            has_surface: false,
            generation: 0,
            epoch: Epoch::new(),
            moves: 0,
            looked: Looked::default(),
        }
    }

    /// The contract that events are checked against.
    pub fn contract(&self) -> Contract {
        self.contract
    }

    /// Reads the events that came since the last read, and gives the surface.
    ///
    /// # Errors
    /// The first event that the contract refuses, at every read until the log is another one. The
    /// view then stands just before that event: [`surface`](SurfaceManager::surface) is right for
    /// what was read. Clause `delta.error`.
    pub fn read<L: Log + ?Sized>(&mut self, log: &L) -> Result<Surface<'_>, ReadError> {
        while let Some((seq, event)) = self.next_marked(log) {
            match self.admit(event) {
                Ok(change) => self.apply(seq, change),
                Err(refusal) => return Err(ReadError { at: seq, refusal: *refusal }),
            }
        }
        Ok(self.surface())
    }

    /// Checks an event that is to become the next one of `log`. Clause `check.order`, from
    /// `seq/not-contiguous` on; the payload is the session's to check.
    ///
    /// # Errors
    /// The refusal with one of the codes `seq/not-contiguous`, `surface-op/malformed`,
    /// `sources/malformed`, `replace/start-not-on-surface`, `replace/end-not-on-surface`,
    /// `replace/reversed-range`, `replace/missing-source`. The seqs that go with the last one are
    /// listed by [`Surface::uncovered`], since listing them costs more than finding one.
    pub fn check<L: Log + ?Sized>(&self, log: &L, event: &Event) -> Result<Admission, Refusal> {
        if log.len() != self.processed {
            let expected = format!("a view that has read all {} events", log.len());
            let found = format!("one that has read {}", self.processed);
            return Err(Refusal::new(RefusalCode::SeqNotContiguous, "log", expected, &found));
        }
        let change = self.admit(event).map_err(|refusal| *refusal)?;
        Ok(Admission { epoch: self.epoch.0, seq: event.seq(), change })
    }

    /// Applies an event that was checked.
    ///
    /// # Errors
    /// [`Stale`] where anything happened to the view since the check; nothing is applied then.
    pub fn commit(&mut self, admission: Admission) -> Result<(), Stale> {
        if admission.epoch != self.epoch.0 || admission.seq.get() != self.processed {
            return Err(Stale);
        }
        self.apply(admission.seq, admission.change);
        Ok(())
    }

    /// The surface of what was read so far.
    pub fn surface(&self) -> Surface<'_> {
        Surface { slots: &self.slots, index: &self.index }
    }

    /// Whether an event that was read carries a `surfaceOp`. Clause `message.order`.
    pub fn has_surface(&self) -> bool {
        self.has_surface
    }

    /// How many events were read.
    pub fn processed(&self) -> u64 {
        self.processed
    }

    /// A number that rises whenever a node that was there may no longer be: with every replace
    /// and with [`invalidate`](SurfaceManager::invalidate). While it stays, the surface has only
    /// grown at its tail.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Forgets everything, but keeps its memory. Only needed when the log was replaced as a whole;
    /// the next read rebuilds. Clause `seed.whole`.
    pub fn invalidate(&mut self) {
        self.slots.clear();
        self.index.clear();
        self.processed = 0;
        self.has_surface = false;
        self.generation += 1;
        self.epoch = Epoch::new();
    }

    /// What was done since the manager was made.
    pub fn work(&self) -> Work {
        Work {
            nodes: self.looked.nodes.load(Ordering::Relaxed),
            probes: self.looked.probes.load(Ordering::Relaxed),
            moves: self.moves,
        }
    }

    /// The memory that the nodes take, in bytes by length: slots, holes not yet reclaimed, and
    /// index entries.
    pub fn bytes_by_length(&self) -> usize {
        self.slots.len() * Slots::SLOT + self.index.entries() * Index::ENTRY
    }

    /// Closes the holes that replaces left. It happens by itself when there are more holes than
    /// nodes; calling it changes no answer.
    pub fn reclaim(&mut self) {
        self.slots.reclaim();
        self.moves += self.slots.live() as u64;
        self.moves += self.index.rebuild(&self.slots);
    }

    /// Checks the inner structure.
    ///
    /// # Panics
    /// When the structure is broken, with a sentence that says where. That is a fault of this
    /// crate, never of the log.
    pub fn assert_invariants(&self) {
        let slots = self.slots.check();
        assert!(slots.is_ok(), "{slots:?}");
        let lost = self.surface().iter().find(|seq| !self.surface().contains(*seq));
        assert!(lost.is_none(), "node {lost:?} is not in the index");
        let unread = self.surface().iter().find(|seq| seq.get() >= self.processed);
        assert!(unread.is_none(), "node {unread:?} was never read");
        let holes = self.slots.holes();
        assert!(holes <= self.slots.live() + FEW, "{holes} holes were left");
    }

    /// Passes the events that are off the surface and have nothing to be refused for, and gives
    /// the first other one.
    fn next_marked<'l, L: Log + ?Sized>(&mut self, log: &'l L) -> Option<(Seq, &'l Event)> {
        let mut at = self.processed;
        let next = loop {
            let Some(seq) = Seq::new(at).filter(|_| at < log.len()) else { break None };
            match log.get(seq) {
                Some(event) if is_off_surface(event, seq) => at += 1,
                event => break event.map(|event| (seq, event)),
            }
        };
        self.processed = at;
        next
    }

    /// The checks of one event against the surface as it stands. Most events of a log are off the
    /// surface or go to its tail, so these are told apart first.
    #[inline]
    pub(super) fn admit(&self, event: &Event) -> Result<Change, Box<Refusal>> {
        match Seq::new(self.processed) {
            Some(seq) if is_off_surface(event, seq) => Ok(Change::Nothing),
            Some(seq) if is_at_tail(event, seq) => Ok(Change::Append),
            _ => self.admit_in_full(event),
        }
    }

    fn admit_in_full(&self, event: &Event) -> Result<Change, Box<Refusal>> {
        if event.seq().get() != self.processed {
            let expected = self.processed.to_string();
            let found = event.seq().to_string();
            return Err(refusal(RefusalCode::SeqNotContiguous, "seq", expected, &found));
        }
        let op = event.surface_op();
        if op == Field::Malformed {
            return Err(op_malformed(event));
        }
        if event.has_malformed_sources() {
            return Err(sources_malformed(event));
        }
        match op {
            Field::Given(SurfaceOp::Append) => Ok(Change::Append),
            Field::Given(SurfaceOp::Replace { start, end }) => {
                self.admit_replace(event, start, end)
            }
            Field::Absent | Field::Malformed => Ok(Change::Nothing),
        }
    }

    fn admit_replace(&self, event: &Event, start: Seq, end: Seq) -> Result<Change, Box<Refusal>> {
        use RefusalCode::{EndNotOnSurface, MissingSource, ReversedRange, StartNotOnSurface};
        self.looked.add(0, 2);
        let slot_of = |code, field, seq| {
            let slot = self.index.slot(&self.slots, seq);
            slot.ok_or_else(|| refusal(code, field, "a node on the surface", &seq.to_string()))
        };
        let from = slot_of(StartNotOnSurface, "surfaceOp.start", start)?;
        let to = slot_of(EndNotOnSurface, "surfaceOp.end", end)?;
        if from > to {
            let expected = "a start that does not come after the end in surface order";
            let found = format!("{start} behind {end}");
            return Err(refusal(ReversedRange, "surfaceOp", expected, &found));
        }
        let mut coverage = Coverage::of(sources_of(event));
        let mut shadowed = 0;
        for seq in self.surface().between(from, to) {
            shadowed += 1;
            if !coverage.includes(seq) {
                self.looked.add(shadowed, 0);
                let found = format!("no {seq} among them");
                return Err(refusal(MissingSource, "sourceEventSeqs", ALL_SHADOWED, &found));
            }
        }
        self.looked.add(shadowed, 0);
        Ok(Change::Replace { from, to, shadowed })
    }

    #[inline]
    pub(super) fn apply(&mut self, seq: Seq, change: Change) {
        self.processed += 1;
        let slot = match change {
            Change::Nothing => return,
            Change::Append => self.slots.push(seq),
            Change::Replace { from, to, shadowed } => {
                self.slots.replace(from, to, seq);
                self.looked.add(shadowed, 0);
                self.generation += 1;
                from
            }
        };
        self.has_surface = true;
        if self.slots.holes() > self.slots.live() + FEW {
            self.reclaim();
        } else {
            self.moves += self.index.insert(&self.slots, seq, slot);
        }
    }
}

/// Whether an event stands at its seq, is off the surface, and has nothing to be refused for.
fn is_off_surface(event: &Event, seq: Seq) -> bool {
    !event.is_marked() && event.seq() == seq && !event.has_malformed_sources()
}

/// Whether an event stands at its seq, goes to the tail, and has nothing to be refused for.
fn is_at_tail(event: &Event, seq: Seq) -> bool {
    event.is_append() && event.seq() == seq && !event.has_malformed_sources()
}

/// So few holes are not worth reclaiming.
const FEW: usize = 16;

const ALL_SHADOWED: &str = "every node that the replace shadows";

/// A refusal that takes a word of the result, not ten: most events are not refused.
fn refusal(
    code: RefusalCode,
    field: &'static str,
    expected: impl Into<Cow<'static, str>>,
    found: &str,
) -> Box<Refusal> {
    Box::new(Refusal::new(code, field, expected, found))
}

fn sources_of(event: &Event) -> Vec<Seq> {
    match event.sources() {
        Field::Given(sources) => sources,
        Field::Absent | Field::Malformed => Vec::new(),
    }
}

fn op_malformed(event: &Event) -> Box<Refusal> {
    let expected = r#""append" or {"op":"replace","start":seq,"end":seq}"#;
    let found = event.surface_op_text().unwrap_or_default();
    refusal(RefusalCode::SurfaceOpMalformed, "surfaceOp", expected, found)
}

fn sources_malformed(event: &Event) -> Box<Refusal> {
    let found = event.sources_text().unwrap_or_default();
    refusal(RefusalCode::SourcesMalformed, "sourceEventSeqs", "an array of seqs", found)
}

/// Answers whether nodes that come in surface order are among the sources. Sources that come in
/// the same order are passed once; others are sorted when the first one stands elsewhere.
struct Coverage {
    sources: Vec<Seq>,
    passed: usize,
    sorted: bool,
}

impl Coverage {
    fn of(sources: Vec<Seq>) -> Coverage {
        Coverage { sources, passed: 0, sorted: false }
    }

    fn includes(&mut self, seq: Seq) -> bool {
        if !self.sorted && self.sources.get(self.passed) == Some(&seq) {
            self.passed += 1;
            return true;
        }
        if !self.sorted {
            self.sources.sort_unstable();
            self.sorted = true;
        }
        self.sources.binary_search(&seq).is_ok()
    }
}

/// What an event does to the surface. Slots are those at the time of the check.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Nothing,
    Append,
    Replace { from: usize, to: usize, shadowed: u64 },
}

/// An event that was checked against the surface as it stood, to be committed to the same one.
#[derive(Debug)]
#[must_use = "the surface changes when the admission is committed"]
pub struct Admission {
    epoch: u64,
    seq: Seq,
    change: Change,
}

impl Admission {
    /// The event that was checked.
    pub fn seq(&self) -> Seq {
        self.seq
    }
}

/// The admission belongs to a surface that has changed since, or to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale;

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the surface has changed since the event was checked: check it again")
    }
}

impl std::error::Error for Stale {}

/// A log that holds an event which the contract refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The event.
    pub at: Seq,
    /// Why it is refused.
    pub refusal: Refusal,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}: {}", self.at, self.refusal)
    }
}

impl std::error::Error for ReadError {}

/// What a manager did since it was made. Iterating over a surface is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Nodes visited to check a replace and to shadow them.
    pub nodes: u64,
    /// Look-ups of a seq.
    pub probes: u64,
    /// Nodes and index entries moved when the index grew or holes were reclaimed.
    pub moves: u64,
}

/// Counts of what a check looked at. Checks are reads, and readers may be on several threads.
#[derive(Debug, Default)]
struct Looked {
    nodes: AtomicU64,
    probes: AtomicU64,
}

impl Looked {
    fn add(&self, nodes: u64, probes: u64) {
        self.nodes.fetch_add(nodes, Ordering::Relaxed);
        self.probes.fetch_add(probes, Ordering::Relaxed);
    }
}

impl Clone for Looked {
    fn clone(&self) -> Looked {
        let copy = Looked::default();
        copy.add(self.nodes.load(Ordering::Relaxed), self.probes.load(Ordering::Relaxed));
        copy
    }
}

/// A number that no other manager and no earlier state of this one has: an admission from there
/// is stale.
#[derive(Debug)]
struct Epoch(u64);

impl Epoch {
    fn new() -> Epoch {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Epoch(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clone for Epoch {
    fn clone(&self) -> Epoch {
        Epoch::new()
    }
}

/// A view of a surface: its nodes in order. It borrows the manager, so it cannot change under its
/// holder. Clause `delta.snapshot`.
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a> {
    slots: &'a Slots,
    index: &'a Index,
}

impl<'a> Surface<'a> {
    /// How many nodes there are.
    pub fn len(self) -> usize {
        self.slots.live()
    }

    /// Whether there is no node.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Whether an event is a node. O(1).
    pub fn contains(self, seq: Seq) -> bool {
        self.slot(seq).is_some()
    }

    /// The node behind a node; `None` at the tail and for an event that is no node. O(1).
    pub fn next(self, seq: Seq) -> Option<Seq> {
        self.slots.node(self.slots.next(self.slot(seq)?)?)
    }

    /// The node before a node; `None` at the head and for an event that is no node. O(1).
    pub fn prev(self, seq: Seq) -> Option<Seq> {
        self.slots.node(self.slots.prev(self.slot(seq)?)?)
    }

    /// Whether `first` stands before `second` in surface order; `None` unless both are nodes.
    /// O(1).
    pub fn is_before(self, first: Seq, second: Seq) -> Option<bool> {
        Some(self.slot(first)? < self.slot(second)?)
    }

    /// The nodes, head to tail.
    pub fn iter(self) -> Nodes<'a> {
        self.slots.iter()
    }

    /// The nodes of a range, both ends included; nothing where it is no range of the surface.
    pub fn range(self, start: Seq, end: Seq) -> impl Iterator<Item = Seq> + 'a {
        let slots = self.slot(start).zip(self.slot(end)).filter(|(from, to)| from <= to);
        slots.into_iter().flat_map(move |(from, to)| self.between(from, to))
    }

    /// The nodes of a range that are not among `sources`, in surface order. Clause
    /// `replace.coverage`.
    pub fn uncovered(self, start: Seq, end: Seq, sources: &[Seq]) -> Vec<Seq> {
        let mut coverage = Coverage::of(sources.to_vec());
        self.range(start, end).filter(|seq| !coverage.includes(*seq)).collect()
    }

    fn slot(self, seq: Seq) -> Option<usize> {
        self.index.slot(self.slots, seq)
    }

    /// The nodes from one slot through another.
    fn between(self, from: usize, to: usize) -> impl Iterator<Item = Seq> + 'a {
        let slots = std::iter::successors(Some(from), move |slot| self.slots.next(*slot));
        slots.take_while(move |slot| *slot <= to).filter_map(move |slot| self.slots.node(slot))
    }
}

impl<'a> IntoIterator for Surface<'a> {
    type Item = Seq;
    type IntoIter = Nodes<'a>;

    fn into_iter(self) -> Nodes<'a> {
        self.iter()
    }
}
