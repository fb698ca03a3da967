//! What this crate has to be judged, as the harness sees it: the session, and the manager that
//! reads a log in deltas.

use std::borrow::Cow;

use super::case::{Answer, Ask, RefusedAt, Texts};
use super::implementation::Steps;
use crate::session::{
    Message, Projections, ReadError, Session, Surface, SurfaceManager, Trace, Violation, violations,
};
use crate::spec::{Contract, Draft, Event, Field, JsonLine, Refusal, RefusalCode, Seq, SurfaceOp};

impl Steps for Session {
    fn start(contract: Contract) -> Session {
        Session::new(contract)
    }

    fn answer(&mut self, ask: &Ask) -> Answer {
        match ask {
            Ask::Append(events) => {
                let mut seqs = Vec::with_capacity(events.len());
                for (at, event) in events.iter().enumerate() {
                    match offer(self, event) {
                        Ok(seq) => seqs.push(seq.get()),
                        Err((refusal, missing)) => {
                            return taken(seqs, Some(refused(at, refusal.code, missing)));
                        }
                    }
                }
                taken(seqs, None)
            }
            Ask::Seed(events) => {
                let seeded = parsed(self.contract(), events).and_then(|log| {
                    self.seed(log).map_err(|bad| refused(bad.at, bad.refusal.code, None))
                });
                seed_answer(events, seeded)
            }
            Ask::Surface => nodes(self.surface()),
            Ask::Messages => {
                let count = self.surface().len();
                let mut texts = Texts::with_capacity(count, count * USUAL);
                self.messages().for_each(|message| texts.push_with(|out| message.write_json(out)));
                Answer::Messages(texts)
            }
            Ask::Log => events(self.log()),
            Ask::Check => violations_of(&self.violations()),
            Ask::Repair => events(self.repair()),
        }
    }
}

/// So many bytes a message usually has.
const USUAL: usize = 128;

/// Offers one event to a session. A refusal for missing sources comes with their list.
fn offer(session: &mut Session, event: &JsonLine) -> Result<Seq, (Refusal, Option<Vec<u64>>)> {
    let draft = Draft::of(event.clone()).map_err(|refusal| (refusal, None))?;
    session.append_at(&draft, 0).map_err(|refusal| {
        let missing = missing(session.surface(), refusal.code, &draft.stamp(Seq::ZERO, 0));
        (refusal, missing)
    })
}

/// The surface of a log as the manager sees it when it is handed several events at a time, those
/// that it refuses included: batches are written to the log first and read afterwards.
#[derive(Debug)]
pub struct Deltas {
    log: Vec<Event>,
    manager: SurfaceManager,
}

impl Steps for Deltas {
    fn start(contract: Contract) -> Deltas {
        Deltas { log: Vec::new(), manager: SurfaceManager::new(contract) }
    }

    fn answer(&mut self, ask: &Ask) -> Answer {
        match ask {
            Ask::Append(events) => self.append(events),
            Ask::Seed(events) => {
                let seeded = parsed(self.manager.contract(), events).and_then(|log| self.seed(log));
                seed_answer(events, seeded)
            }
            Ask::Surface => {
                self.manager.assert_invariants();
                match self.manager.read(&self.log) {
                    Ok(surface) => nodes(surface),
                    Err(error) => Answer::Error(error.to_string()),
                }
            }
            Ask::Messages => self.messages(),
            Ask::Log => events(&self.log),
            Ask::Check => violations_of(&violations(self.manager.contract(), &self.log)),
            Ask::Repair => self.repair(),
        }
    }
}

impl Deltas {
    fn append(&mut self, events: &[JsonLine]) -> Answer {
        let before = self.log.len();
        let mut stopped = None;
        for (at, event) in events.iter().enumerate() {
            match self.well_formed(event) {
                Ok(event) => self.log.push(event),
                Err(code) => {
                    stopped = Some(refused(at, code, None));
                    break;
                }
            }
        }
        if let Err(error) = self.manager.read(&self.log).map(|_| ()) {
            let again = self.manager.read(&self.log).map(|_| ());
            if again.as_ref() != Err(&error) {
                return Answer::Error(format!("first read: {error}; second read: {again:?}"));
            }
            let ReadError { at, refusal } = error;
            let bad = self.log.get(at.index());
            let missing = bad.and_then(|bad| missing(self.manager.surface(), refusal.code, bad));
            self.log.truncate(at.index());
            stopped = Some(refused(at.index().saturating_sub(before), refusal.code, missing));
        }
        taken((before as u64..self.log.len() as u64).collect(), stopped)
    }

    /// The checks that are not the manager's: the shape of an event and of a message's payload.
    fn well_formed(&self, event: &JsonLine) -> Result<Event, RefusalCode> {
        let draft = Draft::of(event.clone()).map_err(|refusal| refusal.code)?;
        let event = draft.stamp(Seq::from_index(self.log.len()), 0);
        let contract = self.manager.contract();
        let silent = Message::of(&contract, &Projections::default(), &event).is_none();
        if silent && contract.makes_message(&event.event_type()) {
            return Err(RefusalCode::DataMalformed);
        }
        Ok(event)
    }

    fn seed(&mut self, log: Vec<Event>) -> Result<(), RefusedAt> {
        let old = std::mem::replace(&mut self.log, log);
        self.manager.invalidate();
        match self.manager.read(&self.log).map(|_| ()) {
            Ok(()) => Ok(()),
            Err(ReadError { at, refusal }) => {
                self.log = old;
                self.manager.invalidate();
                Err(refused(at.index(), refusal.code, None))
            }
        }
    }

    fn messages(&mut self) -> Answer {
        if let Err(error) = self.manager.read(&self.log) {
            return Answer::Error(error.to_string());
        }
        let mut texts = Texts::default();
        self.shown().for_each(|message| texts.push_with(|out| message.write_json(out)));
        Answer::Messages(texts)
    }

    fn shown(&self) -> impl Iterator<Item = Message<'_>> {
        let contract = self.manager.contract();
        let nodes = self.manager.surface().iter().filter_map(|seq| self.log.get(seq.index()));
        // Without a surface there are no nodes, and with one the log is not scanned.
        let scanned = if self.manager.has_surface() { &[] } else { self.log.as_slice() };
        let projections = Projections::default();
        nodes.chain(scanned).filter_map(move |event| Message::of(&contract, &projections, event))
    }

    /// What is known of the log is read from it anew.
    fn repair(&mut self) -> Answer {
        if let Err(error) = self.manager.read(&self.log) {
            return Answer::Error(error.to_string());
        }
        let mut trace = Trace::default();
        self.log.iter().for_each(|event| trace.see(&self.manager.contract(), event));
        let closers = trace.closers(self.manager.has_surface(), self.shown());
        let answer = events(&closers);
        self.log.extend(closers);
        match self.manager.read(&self.log) {
            Ok(_) => answer,
            Err(error) => Answer::Error(error.to_string()),
        }
    }
}

fn taken(seqs: Vec<u64>, refused: Option<RefusedAt>) -> Answer {
    Answer::Taken { seqs, refused }
}

fn seed_answer(events: &[JsonLine], seeded: Result<(), RefusedAt>) -> Answer {
    match seeded {
        Ok(()) => taken((0..events.len() as u64).collect(), None),
        Err(refused) => taken(Vec::new(), Some(refused)),
    }
}

fn refused(at: usize, code: RefusalCode, missing: Option<Vec<u64>>) -> RefusedAt {
    RefusedAt { at, code: Some(Cow::Borrowed(code.as_str())), missing }
}

fn events(events: &[Event]) -> Answer {
    Answer::Events(events.iter().map(Event::text).collect())
}

fn violations_of(violations: &[Violation]) -> Answer {
    let pairs = violations.iter().map(|v| (v.seq.get(), Cow::Borrowed(v.code.as_str())));
    Answer::Violations(pairs.collect())
}

fn nodes(surface: Surface<'_>) -> Answer {
    Answer::Nodes(surface.iter().map(Seq::get).collect())
}

/// The events of a seed. Where one of them is none, an event before it may be refused already: the
/// first of both is the answer.
fn parsed(contract: Contract, events: &[JsonLine]) -> Result<Vec<Event>, RefusedAt> {
    let mut log = Vec::with_capacity(events.len());
    for (at, event) in events.iter().enumerate() {
        match Event::of(event.clone()) {
            Ok(event) => log.push(event),
            Err(malformed) => {
                let earlier = SurfaceManager::new(contract).read(&log).map(|_| ());
                return Err(match earlier {
                    Ok(()) => refused(at, malformed.code, None),
                    Err(ReadError { at, refusal }) => refused(at.index(), refusal.code, None),
                });
            }
        }
    }
    Ok(log)
}

fn missing(surface: Surface<'_>, code: RefusalCode, event: &Event) -> Option<Vec<u64>> {
    let Field::Given(SurfaceOp::Replace { start, end }) = event.surface_op() else { return None };
    let sources = match event.sources() {
        Field::Given(sources) => sources,
        Field::Absent | Field::Malformed => Vec::new(),
    };
    let list = || surface.uncovered(start, end, &sources).into_iter().map(Seq::get).collect();
    (code == RefusalCode::MissingSource).then(list)
}
