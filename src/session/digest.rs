//! `Digest`: a session that is read once, event by event, and not kept.

use std::collections::{BTreeMap, HashMap};

use super::manager::{Change, Surface, SurfaceManager};
use super::message::Message;
use super::projection::Projections;
use super::store::EventLine;
use crate::spec::{Contract, Event, Field, Refusal, Seq, SurfaceOp};

/// What is to be known of a session while its log passes by: counts, the surface, what each node
/// shadowed, the messages. Clauses `surface.fold`, `message.order`.
///
/// Memory is bounded by the surface and the payloads on it. A log without any marker has no
/// surface; then the message events are kept instead, until the first marker.
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
}

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
        }
    }

    /// Takes the next event of the log.
    ///
    /// # Errors
    /// The refusal where the contract does not accept the event; the digest is then as it was.
    pub fn take(&mut self, line: EventLine<'_>) -> Result<(), Refusal> {
        let contract = self.manager.contract();
        let is_next = line.seq().get() == self.events();
        if line.is_plain() && is_next && !contract.makes_message(&line.event_type()) {
            self.manager.apply(line.seq(), Change::Nothing);
            self.count(&line.event_type());
            return Ok(());
        }
        let event = line.into_event()?;
        let change = self.manager.admit(&event).map_err(|refusal| *refusal)?;
        let shadows = self.shadowed_by(&event);
        self.manager.apply(event.seq(), change);
        self.count(&event.event_type());
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

    /// How many message events give no message because they carry no marker in a log that has one.
    /// Clause `message.mixed`.
    pub fn hidden_messages(&self) -> u64 {
        if self.has_surface() { self.unmarked_messages } else { 0 }
    }
}
