//! The fast system, written from the decision record: the manager, sessions, messages without
//! copies, repair, invariants, pairing, projections, and the reader of session files.

mod calls;
mod digest;
mod index;
mod invariants;
mod manager;
mod message;
mod pairing;
mod payload;
mod projection;
mod repair;
mod slots;
pub mod store;

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

pub use digest::{Digest, Node};
pub use invariants::{Invariants, Violation, violations};
pub use manager::{Admission, Log, ReadError, Stale, Surface, SurfaceManager, Work};
pub use message::{Message, Messages, Role};
pub use pairing::{Finding, pairing};
pub use projection::{CoreType, Projected, Projections};
pub use repair::Trace;
pub use slots::Nodes;

use crate::spec::{Contract, Draft, Event, Refusal, Seq};

/// A log in memory with its surface. Whatever it holds was accepted by its contract.
///
/// ```
/// use serde_json::json;
/// use session_surface::session::Session;
/// use session_surface::spec::{Contract, Draft};
///
/// let mut session = Session::new(Contract::ADR_0019);
/// let said = json!({"content": [{"type": "text", "text": "hello"}], "source": {"kind": "user"}});
/// let hello = session.append(&Draft::new("user/message", &said)?.append())?;
/// assert!(session.surface().contains(hello));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    log: Vec<Event>,
    manager: SurfaceManager,
    trace: Trace,
    projections: Arc<Projections>,
}

impl Session {
    /// An empty session under a contract.
    pub fn new(contract: Contract) -> Session {
        Session {
            log: Vec::new(),
            manager: SurfaceManager::new(contract),
            trace: Trace::default(),
            projections: Arc::default(),
        }
    }

    /// The same session, showing the program's own event types. Clause `message.projection`.
    pub fn with_projections(self, projections: Projections) -> Session {
        Session { projections: Arc::new(projections), ..self }
    }

    /// The contract.
    pub fn contract(&self) -> Contract {
        self.manager.contract()
    }

    /// Offers an event, at the time of the system's clock, and gives the seq that it was given.
    /// Clauses `log.contiguous`, `refusal.when-offered`.
    ///
    /// # Errors
    /// The refusal; the session is then as it was. Every code of clause `check.order` but
    /// `event/malformed`, which [`Draft::parse`] gives, and `seq/not-contiguous`.
    pub fn append(&mut self, draft: &Draft) -> Result<Seq, Refusal> {
        self.append_at(draft, now())
    }

    /// The same, at this time in Unix milliseconds.
    ///
    /// # Errors
    /// As [`append`](Session::append).
    pub fn append_at(&mut self, draft: &Draft, time: i64) -> Result<Seq, Refusal> {
        let seq = Seq::from_index(self.log.len());
        let event = draft.stamp(seq, time);
        payload::read(&self.contract(), &event)?;
        self.take(event)
    }

    /// Takes an event whose payload was checked.
    fn take(&mut self, event: Event) -> Result<Seq, Refusal> {
        let change = self.manager.admit(&event).map_err(|refusal| *refusal)?;
        let seq = event.seq();
        self.manager.apply(seq, change);
        self.trace.see(&self.contract(), &event);
        self.log.push(event);
        Ok(seq)
    }

    /// Closes an interrupted turn and gives the closers, which are appended. Clauses `repair.*`.
    pub fn repair(&mut self) -> &[Event] {
        let before = self.log.len();
        for closer in self.closers() {
            // A closer is an append, or carries nothing: it is not refused.
            let _ = self.take(closer);
        }
        self.log.as_slice().get(before..).unwrap_or_default()
    }

    /// What [`repair`](Session::repair) would append.
    pub fn closers(&self) -> Vec<Event> {
        self.trace.closers(self.has_surface(), self.messages())
    }

    /// Everything that is wrong with the log. SPEC.md, section 6.
    pub fn violations(&self) -> Vec<Violation> {
        violations(self.contract(), &self.log)
    }

    /// What a provider would refuse in the messages. SPEC.md, section 7.
    pub fn pairing(&self) -> Vec<Finding> {
        pairing(self.messages())
    }

    /// Offers events one by one. Those before a refused one are taken, those after it are not
    /// offered. Clause `log.batch`.
    pub fn append_all<'a>(&mut self, drafts: impl IntoIterator<Item = &'a Draft>) -> Batch {
        let mut batch = Batch::default();
        for (at, draft) in drafts.into_iter().enumerate() {
            match self.append(draft) {
                Ok(seq) => batch.seqs.push(seq),
                Err(refusal) => {
                    batch.refused = Some(Refused { at, refusal });
                    break;
                }
            }
        }
        batch
    }

    /// Forgets everything and starts from this whole log. Clauses `seed.whole`,
    /// `seed.contiguous`, `seed.all-or-nothing`, `data.malformed-is-silent`.
    ///
    /// # Errors
    /// The first event that is refused, with its index; the session is then as it was.
    pub fn seed(&mut self, log: Vec<Event>) -> Result<(), Refused> {
        let mut manager = SurfaceManager::new(self.contract());
        match manager.read(&log).map(|_| ()) {
            Ok(()) => {
                *self = Session::of(log, manager, self.projections.clone());
                Ok(())
            }
            Err(ReadError { at, refusal }) => Err(Refused { at: at.index(), refusal }),
        }
    }

    /// The session of a log that was read.
    fn of(log: Vec<Event>, manager: SurfaceManager, projections: Arc<Projections>) -> Session {
        let mut trace = Trace::default();
        log.iter().for_each(|event| trace.see(&manager.contract(), event));
        Session { log, manager, trace, projections }
    }

    /// A new session with the first `events` events of this one; with all where there are fewer.
    /// Clause `fork.prefix`.
    pub fn fork(&self, events: usize) -> Session {
        let log: Vec<Event> = self.log.iter().take(events).cloned().collect();
        let mut manager = SurfaceManager::new(self.contract());
        // What was accepted event by event is accepted again.
        let _ = manager.read(&log);
        Session::of(log, manager, self.projections.clone())
    }

    /// The events.
    pub fn log(&self) -> &[Event] {
        &self.log
    }

    /// The surface.
    pub fn surface(&self) -> Surface<'_> {
        self.manager.surface()
    }

    /// Whether some event carries a `surfaceOp`. Clause `message.order`.
    pub fn has_surface(&self) -> bool {
        self.manager.has_surface()
    }

    /// A number that rises with every replace. See [`SurfaceManager::generation`].
    pub fn generation(&self) -> u64 {
        self.manager.generation()
    }

    /// The derived messages, borrowed from the log. Clauses `message.*`.
    pub fn messages(&self) -> Messages<'_> {
        let surface = self.has_surface().then(|| self.surface());
        Messages::of(self.contract(), &self.projections, &self.log, surface)
    }

    /// What the manager did. See [`Work`].
    pub fn work(&self) -> Work {
        self.manager.work()
    }

    /// Checks the inner structure.
    ///
    /// # Panics
    /// As [`SurfaceManager::assert_invariants`].
    pub fn assert_invariants(&self) {
        self.manager.assert_invariants();
        assert_eq!(self.manager.processed(), self.log.len() as u64, "an event was not read");
    }
}

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The events that were taken.
    pub seqs: Vec<Seq>,
    /// The event that was not, if there was one.
    pub refused: Option<Refused>,
}

/// An event of several that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its index among those that were offered.
    pub at: usize,
    /// Why.
    pub refusal: Refusal,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {} of those offered: {}", self.at, self.refusal)
    }
}

impl std::error::Error for Refused {}

/// The system's clock in Unix milliseconds.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
