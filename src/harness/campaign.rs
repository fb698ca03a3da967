//! A campaign: the stages of a check, run on all workers, and the counterexamples made small.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::builtin::Deltas;
use super::case::Case;
use super::choices::Seeded;
use super::compare::agree;
use super::examples;
use super::exhaustive::{self, Part};
use super::generate::{self, Settings};
use super::goals::Goals;
use super::implementation::{Implementation, InProcess};
use super::judge::{Expectation, Failure};
use super::laws::{self, BrokenLaw};
use super::shrink::shrink;
use crate::oracle::Oracle;
use crate::session::Session;
use crate::spec::{Contract, Level};

/// What a check runs.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The contract.
    pub contract: Contract,
    /// How many random cases of each form.
    pub cases: u64,
    /// What the random cases depend on.
    pub seed: u64,
    /// The most events of the exhaustive search; 0 leaves it out.
    pub exhaustive: u32,
    /// How many threads work.
    pub workers: usize,
}

/// What became of a stage.
#[derive(Debug)]
pub struct StageReport {
    /// The stage.
    pub name: &'static str,
    /// How many cases were run.
    pub cases: u64,
    /// How long it took.
    pub took: Duration,
    /// The counterexamples, made small; at most one a clause and subject.
    pub found: Vec<Found>,
    /// What else is wrong, in words: goals that were not reached, laws that do not hold, faults of
    /// the specification.
    pub faults: Vec<String>,
}

/// A counterexample.
#[derive(Debug)]
pub struct Found {
    /// What differs from the contract.
    pub subject: &'static str,
    /// The case, minimised, with the answers that are wanted.
    pub case: Case,
    /// The difference.
    pub failure: Failure,
}

impl StageReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.found.is_empty() && self.faults.is_empty()
    }
}

/// Is told how far a stage is: its name, the cases that are done, and how many there will be
/// where that is known.
pub type Watch<'a> = &'a (dyn Fn(&'static str, u64, Option<u64>) + Sync);

/// Runs every stage of a plan on the built-in implementations.
pub fn run(plan: &Plan, watch: Watch<'_>) -> Vec<StageReport> {
    let random = |name, settings: &Settings, total: u64| {
        let make =
            |index| generate::case(&mut Seeded::new(plan.seed, index), settings, plan.contract);
        let stage = Stage::new(name, Some(total), watch);
        stage.over(plan.workers, total.div_ceil(CHUNK), &|chunk| {
            (chunk * CHUNK..total.min((chunk + 1) * CHUNK)).map(make)
        })
    };
    let mut reports = vec![spec_examples(plan, watch)];
    if plan.exhaustive > 0 {
        reports.push(exhaustive_stage(plan, watch));
    }
    reports.push(random("random well-formed", &Settings::WELL_FORMED, plan.cases));
    reports.push(random("random hostile", &Settings::HOSTILE, plan.cases));
    reports.push(random("random long", &Settings::LONG, plan.cases.div_ceil(100)));
    // Walks over whole logs cost more than reads, so there are fewer of them.
    reports.push(random("interrupted turns", &Settings::TURNS, plan.cases.div_ceil(4)));
    reports.push(laws_stage(plan, watch));
    reports
}

/// Laws and reports over random logs. A law reads its log many times, so it is asked less often.
fn laws_stage(plan: &Plan, watch: Watch<'_>) -> StageReport {
    const CASES_PER_LOG: u64 = 20;
    const LOGS_PER_LAW: u64 = 20;
    const SHORT: Settings = Settings { fewest: 1, most: 9, seeds: false, ..Settings::WELL_FORMED };
    let (started, total) = (Instant::now(), plan.cases.div_ceil(CASES_PER_LOG));
    let mut faults = Vec::new();
    for index in 0..total {
        let make = |settings: &Settings| {
            generate::case(&mut Seeded::new(plan.seed, index), settings, plan.contract)
        };
        if index.is_multiple_of(LOGS_PER_LAW) {
            let log = laws::log_of(&make(&SHORT));
            ask_laws(&[laws::of_session, laws::of_manager], plan, &log, &mut faults);
        }
        let log = laws::log_of(&make(&Settings::TURNS));
        ask_laws(&[laws::of_repair, laws::of_pairing], plan, &log, &mut faults);
        for settings in [&Settings::TURNS, &Settings::HOSTILE] {
            let log = laws::whole_log_of(&make(settings));
            ask_laws(&[laws::of_invariants], plan, &log, &mut faults);
        }
        watch("laws", index + 1, Some(total));
        if !faults.is_empty() {
            break;
        }
    }
    StageReport { name: "laws", cases: total, took: started.elapsed(), found: Vec::new(), faults }
}

/// How many random cases a worker takes at a time.
const CHUNK: u64 = 512;

fn spec_examples(plan: &Plan, watch: Watch<'_>) -> StageReport {
    let cases: Vec<Case> = examples::cases();
    let cases: Vec<Case> =
        cases.into_iter().filter(|case| case.contract == plan.contract).collect();
    let stage = Stage::new("examples", Some(cases.len() as u64), watch);
    let mut report = stage.over(1, 1, &|_| cases.clone().into_iter());
    report.faults = examples::spec().faults();
    report.faults.extend(cases.iter().filter_map(oracle_disagrees));
    report
}

fn ask_laws(asks: &[laws::Ask], plan: &Plan, log: &[String], faults: &mut Vec<String>) {
    for ask in asks {
        if ask(plan.contract, log).is_none() {
            continue;
        }
        let small = laws::smallest(plan.contract, log, *ask);
        let broken = ask(plan.contract, &laws::log_in(&small));
        let BrokenLaw { law, sentence } = broken.unwrap_or_else(BrokenLaw::unsteady);
        let (count, log) = (small.event_count(), laws::log_in(&small).join("\n       "));
        faults.push(format!("{law}: {sentence}, shown with {count} events\n       {log}"));
    }
}

/// The oracle must give the answers that the specification writes down.
fn oracle_disagrees(case: &Case) -> Option<String> {
    let expectation = Expectation::of(case, Level::Should);
    let mut pairs = case.steps.iter().zip(expectation.answers()).enumerate();
    let differs =
        pairs.find(|(_, (step, got))| step.want.as_ref().is_some_and(|want| !agree(want, got)));
    differs.map(|(step, _)| format!("the oracle differs from {} at step {step}", case.name))
}

fn exhaustive_stage(plan: &Plan, watch: Watch<'_>) -> StageReport {
    let parts: Vec<Part> = exhaustive::parts(plan.contract, plan.exhaustive);
    let stage =
        Stage { goals: Some(Goals::new(plan.exhaustive)), ..Stage::new("exhaustive", None, watch) };
    let part = |index: u64| usize::try_from(index).ok().and_then(|index| parts.get(index).cloned());
    stage.over(plan.workers, parts.len() as u64, &|index| part(index).into_iter().flatten())
}

/// A stage that is being run.
struct Stage<'a> {
    name: &'static str,
    total: Option<u64>,
    watch: Watch<'a>,
    goals: Option<Goals>,
    started: Instant,
}

/// What the workers of a stage share.
struct Shared {
    next: AtomicU64,
    done: AtomicU64,
    raw: Mutex<Vec<(Subject, Case)>>,
    goals: Mutex<Option<Goals>>,
}

/// So many failing cases end a stage.
const ENOUGH: usize = 12;
/// So many runs are spent on making one case small.
const SHRINK_RUNS: usize = 20_000;

impl<'a> Stage<'a> {
    fn new(name: &'static str, total: Option<u64>, watch: Watch<'a>) -> Stage<'a> {
        Stage { name, total, watch, goals: None, started: Instant::now() }
    }

    /// Runs the cases of every unit of work, from 0 to `units`, on all workers.
    fn over<I: Iterator<Item = Case>>(
        self,
        workers: usize,
        units: u64,
        cases: &(dyn Fn(u64) -> I + Sync),
    ) -> StageReport {
        let shared = Shared {
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            raw: Mutex::new(Vec::new()),
            goals: Mutex::new(self.goals.clone()),
        };
        thread::scope(|scope| {
            for _ in 0..workers.max(1) {
                scope.spawn(|| self.work(&shared, units, cases));
            }
        });
        let raw = shared.raw.into_inner().unwrap_or_default();
        let goals = shared.goals.into_inner().ok().flatten();
        StageReport {
            name: self.name,
            cases: shared.done.into_inner(),
            found: minimised(raw),
            faults: goals.map(|goals| goals.open()).unwrap_or_default(),
            took: self.started.elapsed(),
        }
    }

    fn work<I: Iterator<Item = Case>>(
        &self,
        shared: &Shared,
        units: u64,
        cases: &(dyn Fn(u64) -> I + Sync),
    ) {
        let mut subjects = Subject::ALL.map(|subject| (subject, subject.implementation()));
        let mut goals = self.goals.clone();
        loop {
            let unit = shared.next.fetch_add(1, Ordering::Relaxed);
            if unit >= units || shared.has_enough() {
                break;
            }
            let mut done = 0;
            for case in cases(unit) {
                done += 1;
                if let Some(goals) = &mut goals {
                    goals.see(&case);
                }
                let expectation = Expectation::of(&case, Level::Should);
                for (subject, implementation) in &mut subjects {
                    if expectation.judge(&implementation.run(&case)).is_err() {
                        shared.add(*subject, &case);
                    }
                }
                if done % 4096 == 0 && shared.has_enough() {
                    break;
                }
            }
            let all = shared.done.fetch_add(done, Ordering::Relaxed) + done;
            (self.watch)(self.name, all, self.total);
        }
        if let (Some(goals), Ok(mut open)) = (goals, shared.goals.lock()) {
            open.iter_mut().for_each(|open| open.join(&goals));
        }
    }
}

impl Shared {
    fn has_enough(&self) -> bool {
        self.raw.lock().is_ok_and(|raw| raw.len() >= ENOUGH)
    }

    fn add(&self, subject: Subject, case: &Case) {
        if let Ok(mut raw) = self.raw.lock()
            && raw.len() < ENOUGH
        {
            raw.push((subject, case.clone()));
        }
    }
}

/// The failing cases made small, one a clause and subject.
fn minimised(raw: Vec<(Subject, Case)>) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (subject, case) in raw {
        let mut implementation = subject.implementation();
        let Some(small) = counterexample(subject.name(), &case, implementation.as_mut()) else {
            continue;
        };
        let is_known = |known: &Found| {
            known.subject == small.subject && known.failure.clause == small.failure.clause
        };
        match found.iter_mut().find(|known| is_known(known)) {
            Some(known) if known.case.event_count() > small.case.event_count() => *known = small,
            Some(_) => {}
            None => found.push(small),
        }
    }
    found
}

/// Makes a failing case small and fills in what is wanted; `None` where it does not fail.
pub fn counterexample(
    subject: &'static str,
    case: &Case,
    implementation: &mut dyn Implementation,
) -> Option<Found> {
    let mut failure_of =
        |case: &Case| Expectation::of(case, Level::Should).judge(&implementation.run(case)).err();
    failure_of(case)?;
    let mut case = shrink(case, SHRINK_RUNS, |smaller| failure_of(smaller).is_some());
    let failure = *failure_of(&case)?;
    case.name = format!("found/{}", failure.clause.id.replace('.', "-"));
    case.clauses = vec![failure.clause];
    let wants: Vec<_> = Expectation::of(&case, Level::Should).answers().cloned().collect();
    for (step, want) in case.steps.iter_mut().zip(wants) {
        step.want = Some(want);
    }
    Some(Found { subject, case, failure })
}

/// A built-in implementation that is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The session.
    Session,
    /// The manager, reading a log in deltas.
    Deltas,
    /// The oracle, to see that the judge agrees with itself.
    Oracle,
}

impl Subject {
    /// Those that a check judges.
    pub const ALL: [Subject; 2] = [Subject::Session, Subject::Deltas];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Session => "session",
            Subject::Deltas => "manager",
            Subject::Oracle => "oracle",
        }
    }

    /// A fresh one.
    pub fn implementation(self) -> Box<dyn Implementation> {
        match self {
            Subject::Session => Box::new(InProcess::<Session>::new()),
            Subject::Deltas => Box::new(InProcess::<Deltas>::new()),
            Subject::Oracle => Box::new(InProcess::<Oracle>::new()),
        }
    }
}
