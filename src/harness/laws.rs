//! The laws, asked of the built-in implementations over one log.

use std::fmt;

use super::case::{self, Case, Step};
use super::implementation::{Steps, answering};
use super::shrink::shrink;
use crate::oracle::laws::{ALL, Law, Read, View, repair_only_adds};
use crate::oracle::{self, Oracle};
use crate::session::{Message, Projections, Session, SurfaceManager, violations};
use crate::spec::{Contract, Draft, Event, Json, JsonLine, Seq};

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenLaw {
    /// The name of the law.
    pub law: &'static str,
    /// One sentence that says what broke.
    pub sentence: String,
}

impl BrokenLaw {
    /// A law that broke once and holds when it is asked again.
    pub(super) fn unsteady() -> BrokenLaw {
        BrokenLaw { law: "function of the log", sentence: "two readings differ".to_owned() }
    }
}

/// Asks every law of the manager over one whole log, the deltas being cut as the laws want.
pub fn of_manager(contract: Contract, log: &[String]) -> Option<BrokenLaw> {
    first_broken(log, &|log, cuts| read_in_deltas(contract, log, cuts))
}

/// Asks every law of the session, which is seeded with the log up to each cut in turn, and whether
/// a fork at each event is the session of that prefix.
pub fn of_session(contract: Contract, log: &[String]) -> Option<BrokenLaw> {
    first_broken(log, &|log, cuts| read_by_session(contract, log, cuts))
        .or_else(|| of_fork(contract, log))
}

fn of_fork(contract: Contract, log: &[String]) -> Option<BrokenLaw> {
    let mut parent = Session::new(contract);
    parent.seed(parse(log)?).ok()?;
    (0..=log.len()).find_map(|events| {
        let (mut prefix, mut fork) = (Session::new(contract), parent.fork(events));
        prefix.seed(parse(log.get(..events)?)?).ok()?;
        let show = |session: &mut Session| {
            let nodes: Vec<Seq> = session.surface().iter().collect();
            (session.log().to_vec(), nodes, session.repair().to_vec())
        };
        differs("fork", &show(&mut prefix), &show(&mut fork))
    })
}

/// A question about one whole log.
pub type Ask = fn(Contract, &[String]) -> Option<BrokenLaw>;

/// The smallest log that is found from one that breaks a law, as a case that is seeded with it.
pub fn smallest(contract: Contract, log: &[String], ask: Ask) -> Case {
    let events = log.iter().map(|event| JsonLine::known(event)).collect();
    let steps = [case::Ask::Seed(events), case::Ask::Surface, case::Ask::Messages];
    let steps = steps.map(Step::ask).to_vec();
    let case = Case { name: "law".to_owned(), clauses: Vec::new(), contract, steps };
    let mut case = shrink(&case, SHRINK_RUNS, |case| ask(contract, &log_in(case)).is_some());
    if let Some(broken) = ask(contract, &log_in(&case)) {
        case.name = format!("law/{}", broken.law.replace(' ', "-"));
    }
    case
}

/// So many runs are spent on making one log small.
const SHRINK_RUNS: usize = 5_000;

/// The events that a case holds.
pub fn log_in(case: &Case) -> Vec<String> {
    let events = case.steps.iter().flat_map(|step| step.ask.events());
    events.map(|event| event.text().to_owned()).collect()
}

/// The log that the session has after a case whose repairs are left out: a log of open turns.
pub fn log_of(case: &Case) -> Vec<String> {
    let mut session = Session::new(case.contract);
    for step in case.steps.iter().filter(|step| step.ask != case::Ask::Repair) {
        session.answer(&step.ask);
    }
    session.log().iter().map(|event| event.text().to_owned()).collect()
}

/// Asks the law of repair of the session.
pub fn of_repair(contract: Contract, log: &[String]) -> Option<BrokenLaw> {
    let repair = |log: &[String]| {
        let mut session = Session::new(contract);
        session.seed(parse(log)?).ok()?;
        let messages = |session: &Session| session.messages().map(|m| m.to_json()).collect();
        let before = messages(&session);
        let closers = session.repair().iter().map(|closer| closer.text().to_owned()).collect();
        Some((closers, before, messages(&session)))
    };
    let outcome = answering(|| repair_only_adds(&repair, log)).and_then(|verdict| verdict);
    outcome.err().map(|sentence| BrokenLaw { law: "repair only adds", sentence })
}

/// What a provider would refuse is the same for the session and for the oracle.
pub fn of_pairing(contract: Contract, log: &[String]) -> Option<BrokenLaw> {
    let mut session = Session::new(contract);
    let mut oracle = Oracle::new(contract);
    let events: Result<Vec<Json<'_>>, _> = log.iter().map(|event| Json::parse(event)).collect();
    session.seed(parse(log)?).ok()?;
    oracle.seed(&events.ok()?).value.ok()?;
    let found = session.pairing().into_iter().map(|finding| (finding.seq.get(), finding.code));
    differs("pairing", &oracle.pairing(), &found.collect::<Vec<_>>())
}

/// What is wrong with a whole log, refused events included, is the same for both.
pub fn of_invariants(contract: Contract, log: &[String]) -> Option<BrokenLaw> {
    let events = parse(log)?;
    let jsons: Result<Vec<Json<'_>>, _> = log.iter().map(|event| Json::parse(event)).collect();
    let want = oracle::violations(contract, &jsons.ok()?);
    let found = violations(contract, &events);
    let mut found: Vec<_> = found.into_iter().map(|found| (found.seq.get(), found.code)).collect();
    // Event by event is by seq, unless seqs fall.
    found.sort();
    differs("invariants", &want, &found)
}

fn differs<T: PartialEq + fmt::Debug>(law: &'static str, want: &T, got: &T) -> Option<BrokenLaw> {
    let sentence = || format!("{want:?} is wanted, and there is {got:?}");
    (want != got).then(|| BrokenLaw { law, sentence: sentence() })
}

/// A whole log of the events that a case offers or seeds, those that are refused included. Of
/// several the longest; what is offered has seqs from the middle on that are one too high in some
/// logs, and in some the middle one stands twice.
pub fn whole_log_of(case: &Case) -> Vec<String> {
    let (mut drafts, mut longest) = (Vec::new(), Vec::new());
    for step in &case.steps {
        let events = step.ask.events().iter();
        if let case::Ask::Seed(_) = step.ask {
            let seed: Vec<Event> =
                events.filter_map(|event| Event::of(event.clone()).ok()).collect();
            longest = if seed.len() > longest.len() { seed } else { longest };
        } else {
            drafts.extend(events.filter_map(|event| Draft::of(event.clone()).ok()));
        }
    }
    let offered = stamped(&drafts);
    let log = if offered.len() > longest.len() { offered } else { longest };
    log.iter().map(|event| event.text().to_owned()).collect()
}

fn stamped(drafts: &[Draft]) -> Vec<Event> {
    let (middle, kind) = (drafts.len() / 2, drafts.len() % 4);
    let seq = |at: usize| match kind {
        1 if at >= middle => at + 1,
        2 if at == middle => at.saturating_sub(1),
        _ => at,
    };
    let drafts = drafts.iter().enumerate();
    drafts.map(|(at, draft)| draft.stamp(Seq::from_index(seq(at)), 0)).collect()
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
