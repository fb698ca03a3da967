//! `Digest`: a session that is read once, event by event, and not kept.

use std::collections::{BTreeMap, HashMap};

use super::invariants::{Invariants, Violation};
use super::manager::{Change, Surface, SurfaceManager};
use super::message::Message;
use super::projection::Projections;
use super::repair::Trace;
use super::store::EventLine;
use crate::spec::{Contract, Event, Field, Refusal, Seq, SurfaceOp};

/// What is to be known of a session while its log passes by: counts, the surface, what each node
/// shadowed, the messages. Clauses `surface.fold`, `message.order`.
///
/// Memory is bounded by the surface with the payloads on it, the calls of the last turn, and the
/// names of the event types. A log without any marker has no surface; then the message events are
/// kept instead, until the first marker.
///
/// ```
/// use session_surface::session::{Digest, store::Reader};
/// use session_surface::spec::Contract;
///
/// let file = "{\"type\":\"session\",\"version\":1,\"id\":\"s\",\"createdAt\":0}\n\
///             {\"type\":\"turn/start\",\"seq\":0,\"time\":1,\"data\":{},\"surfaceOp\":\"append\"}\n";
/// let mut reader = Reader::open(file.as_bytes())?;
/// let mut digest = Digest::new(Contract::ADR_0019);
/// while let Some(event) = reader.next_event() {
///     digest.take(event)?;
/// }
/// assert_eq!(digest.nodes().count(), 1);
/// assert_eq!(digest.messages().count(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Digest {
    manager: SurfaceManager,
    types: BTreeMap<String, u64>,
    nodes: HashMap<Seq, Node>,
    /// The unmarked message events, while there is no marker.
    unmarked: Vec<Event>,
    unmarked_messages: u64,
    trace: Trace,
    invariants: Option<Invariants>,
    violations: Vec<Violation>,
    violation_count: u64,
}

/// So many violations are kept in words; the rest is counted.
const KEPT: usize = 1_000;

/// A node of the surface with its event.
#[derive(Clone, Debug)]
pub struct Node {
    /// The event.
    pub event: Event,
    /// The nodes that its replace removed, in surface order; none where it was appended.
    pub shadows: Vec<Seq>,
}

impl Digest {
    /// The digest of an empty session.
    pub fn new(contract: Contract) -> Digest {
        Digest {
            manager: SurfaceManager::new(contract),
            types: BTreeMap::new(),
            nodes: HashMap::new(),
            unmarked: Vec::new(),
            unmarked_messages: 0,
            trace: Trace::default(),
            invariants: None,
            violations: Vec::new(),
            violation_count: 0,
        }
    }

    /// The same, checking the development invariants of every event. SPEC.md, section 6.
    pub fn checking_invariants(self) -> Digest {
        Digest { invariants: Some(Invariants::new(self.contract())), ..self }
    }

    /// Takes the next event of the log.
    ///
    /// # Errors
    /// The refusal where the contract does not accept the event; the digest is then as it was.
    pub fn take(&mut self, line: EventLine<'_>) -> Result<(), Refusal> {
        let contract = self.manager.contract();
        let is_next = line.seq().get() == self.events();
        if line.is_plain() && is_next && is_of_no_account(&contract, &line.event_type()) {
            self.pass(&line);
            return Ok(());
        }
        let event = line.into_event()?;
        let change = self.manager.admit(&event).map_err(|refusal| *refusal)?;
        let shadows = self.shadowed_by(&event);
        self.manager.apply(event.seq(), change);
        self.trace.see(&contract, &event);
        self.count(&event.event_type());
        let found = self.invariants.as_mut().map(|invariants| invariants.check(&event));
        self.keep(found.unwrap_or_default());
        if event.is_marked() {
            self.enter(event, shadows);
        } else if contract.makes_message(&event.event_type()) {
            self.unmarked_messages += 1;
            if !self.has_surface() {
                self.unmarked.push(event);
            }
        }
        Ok(())
    }

    /// Takes an event that is read no further than its line.
    fn pass(&mut self, line: &EventLine<'_>) {
        let (seq, event_type) = (line.seq(), line.event_type());
        self.manager.apply(seq, Change::Nothing);
        self.trace.pass(seq, line.time());
        self.count(&event_type);
        if let Some(invariants) = &mut self.invariants {
            let found = invariants.pass(seq, &event_type, line.data());
            self.keep(found);
        }
    }

    fn keep(&mut self, found: Vec<Violation>) {
        self.violation_count += found.len() as u64;
        self.violations.extend(found.into_iter().take(KEPT - self.violations.len().min(KEPT)));
    }

    fn count(&mut self, event_type: &str) {
        match self.types.get_mut(event_type) {
            Some(count) => *count += 1,
            None => {
                self.types.insert(event_type.to_owned(), 1);
            }
        }
    }

    /// The nodes that an event, which was admitted, is about to shadow.
    fn shadowed_by(&self, event: &Event) -> Vec<Seq> {
        match event.surface_op() {
            Field::Given(SurfaceOp::Replace { start, end }) => {
                self.manager.surface().range(start, end).collect()
            }
            _ => Vec::new(),
        }
    }

    fn enter(&mut self, event: Event, shadows: Vec<Seq>) {
        self.unmarked = Vec::new();
        for shadowed in &shadows {
            self.nodes.remove(shadowed);
        }
        self.nodes.insert(event.seq(), Node { event, shadows });
    }

    /// The contract.
    pub fn contract(&self) -> Contract {
        self.manager.contract()
    }

    /// How many events were taken.
    pub fn events(&self) -> u64 {
        self.manager.processed()
    }

    /// How many events there are of each type, by name.
    pub fn types(&self) -> impl Iterator<Item = (&str, u64)> {
        self.types.iter().map(|(name, count)| (name.as_str(), *count))
    }

    /// Whether some event carries a `surfaceOp`.
    pub fn has_surface(&self) -> bool {
        self.manager.has_surface()
    }

    /// The surface.
    pub fn surface(&self) -> Surface<'_> {
        self.manager.surface()
    }

    /// The nodes with their events, in surface order.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.surface().iter().filter_map(|seq| self.nodes.get(&seq))
    }

    /// The derived messages: those of the nodes if there is a surface, else those of all events.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        let contract = self.contract();
        let events = self.nodes().map(|node| &node.event).chain(&self.unmarked);
        let projections = Projections::default();
        events.filter_map(move |event| Message::of(&contract, &projections, event))
    }

    /// What a repair would append. SPEC.md, section 5.
    pub fn closers(&self) -> Vec<Event> {
        self.trace.closers(self.has_surface(), self.messages())
    }

    /// The first thousand violations of the development invariants, where they are checked.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How many violations there are.
    pub fn violation_count(&self) -> u64 {
        self.violation_count
    }

    /// How many message events give no message because they carry no marker in a log that has one.
    /// Clause `message.mixed`.
    pub fn hidden_messages(&self) -> u64 {
        if self.has_surface() { self.unmarked_messages } else { 0 }
    }
}

/// Whether an event of this type has no part in messages and repair.
fn is_of_no_account(contract: &Contract, event_type: &str) -> bool {
    const OF_TURNS: [&str; 5] = ["turn/start", "turn/end", "step/start", "step/end", "tool/call"];
    !contract.makes_message(event_type) && !OF_TURNS.contains(&event_type)
}
