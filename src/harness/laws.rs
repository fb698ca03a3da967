//! The laws, asked of the built-in implementations over one log.

use super::case::Case;
use super::implementation::answering;
use crate::oracle::laws::{ALL, Law, Read, View};
use crate::session::{Message, Projections, Session, SurfaceManager};
use crate::spec::{Contract, Draft, Event, Seq};

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLaw {
    /// The name of the law.
    pub law: &'static str,
    /// One sentence that says what broke.
    pub sentence: String,
}

/// Asks every law of the manager over one whole log, the deltas being cut as the laws want.
pub fn of_manager(contract: Contract, log: &[String]) -> Option<BrokenLaw> {
    first_broken(log, &|log, cuts| read_in_deltas(contract, log, cuts))
}

/// Asks every law of the session, which is seeded with the log up to each cut in turn.
pub fn of_session(contract: Contract, log: &[String]) -> Option<BrokenLaw> {
    first_broken(log, &|log, cuts| read_by_session(contract, log, cuts))
}

/// The log that the session has after it was offered every event of a case, seeds included.
pub fn log_of(case: &Case) -> Vec<String> {
    let mut session = Session::new(case.contract);
    for event in case.steps.iter().flat_map(|step| step.ask.events()) {
        // What is refused is not in the log.
        let _ = Draft::of(event.clone()).map(|draft| session.append_at(&draft, 0));
    }
    session.log().iter().map(|event| event.text().to_owned()).collect()
}

fn first_broken(log: &[String], read: &Read<'_>) -> Option<BrokenLaw> {
    let ask = |(law, check): &(&'static str, Law)| {
        let outcome = answering(|| check(read, log)).and_then(|verdict| verdict);
        outcome.err().map(|sentence| BrokenLaw { law, sentence })
    };
    ALL.iter().find_map(ask)
}

fn parse(log: &[String]) -> Option<Vec<Event>> {
    log.iter().map(|event| Event::parse(event).ok()).collect()
}

fn read_in_deltas(contract: Contract, log: &[String], cuts: &[usize]) -> Option<View> {
    let events = parse(log)?;
    let mut manager = SurfaceManager::new(contract);
    for cut in cuts.iter().copied().chain([events.len()]) {
        manager.read(events.get(..cut)?).ok()?;
    }
    manager.assert_invariants();
    let nodes = manager.surface().iter();
    let shown: Vec<&Event> = match manager.has_surface() {
        true => nodes.clone().filter_map(|seq| events.get(seq.index())).collect(),
        false => events.iter().collect(),
    };
    let projections = Projections::default();
    let messages =
        shown.into_iter().filter_map(|event| Message::of(&contract, &projections, event));
    Some(View {
        messages: messages.map(|message| message.to_json()).collect(),
        nodes: nodes.map(Seq::get).collect(),
    })
}

fn read_by_session(contract: Contract, log: &[String], cuts: &[usize]) -> Option<View> {
    let events = parse(log)?;
    let mut session = Session::new(contract);
    for cut in cuts.iter().copied().chain([events.len()]) {
        session.seed(events.get(..cut)?.to_vec()).ok()?;
        session.assert_invariants();
    }
    Some(View {
        nodes: session.surface().iter().map(Seq::get).collect(),
        messages: session.messages().map(|message| message.to_json()).collect(),
    })
}
