//! Property tests: the built-in implementations agree with the oracle after every step, and keep
//! the laws.
//!
//! What fails is made small and kept as a case in `proptest-regressions/cases`, which is replayed
//! first. The seeds that proptest keeps beside them are a courtesy: they rot with the generator.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, FileFailurePersistence, TestError, TestRunner};

use super::campaign::{Subject, counterexample};
use super::laws;
use super::{Case, Choices, Expectation, Reads, Settings, agree, generate};
use crate::spec::{Contract, Level};

/// Choices from a list that proptest makes and shortens; 0 behind its end.
struct Tape<I>(I);

impl<I: Iterator<Item = u32>> Choices for Tape<I> {
    fn below(&mut self, n: u32) -> u32 {
        let drawn = self.0.next().unwrap_or(0);
        ((u64::from(n) * u64::from(drawn)) >> 32) as u32
    }
}

fn made(tape: &[u32], settings: &Settings) -> Case {
    generate(&mut Tape(tape.iter().copied()), settings, Contract::ADR_0019)
}

fn runner(cases: u32) -> TestRunner {
    let persistence = FileFailurePersistence::SourceParallel("proptest-regressions");
    TestRunner::new(Config {
        cases,
        source_file: Some(file!()),
        failure_persistence: Some(Box::new(persistence)),
        // The cases are made small by the project's own shrinker, which renumbers.
        max_shrink_iters: 64,
        ..Config::default()
    })
}

fn kept_cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("proptest-regressions").join("cases")
}

fn keep(case: &Case) {
    let folder = kept_cases();
    fs::create_dir_all(&folder).unwrap();
    let name = case.name.replace('/', "-");
    fs::write(folder.join(format!("{name}.json")), case.to_json()).unwrap();
}

/// `answers(implementation, case) = answers(oracle, case)` for every case that the settings make.
fn agrees_with_the_oracle(subject: Subject, settings: Settings, cases: u32) {
    let fails = |case: &Case| {
        Expectation::of(case, Level::Should).judge(&subject.implementation().run(case)).is_err()
    };
    let outcome = runner(cases).run(&vec(any::<u32>(), 0..600), |tape| {
        proptest::prop_assert!(!fails(&made(&tape, &settings)));
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(_, tape)) => {
            let case = made(&tape, &settings);
            let found = counterexample(subject.name(), &case, subject.implementation().as_mut());
            let found = found.expect("the case fails again");
            keep(&found.case);
            panic!("{}: {}\n{}", found.subject, found.failure.sentence, found.case.to_json());
        }
        Err(abort) => panic!("{abort}"),
    }
}

#[test]
fn the_session_agrees_with_the_oracle_on_well_formed_cases() {
    agrees_with_the_oracle(Subject::Session, Settings::WELL_FORMED, 1_000);
}

#[test]
fn the_session_agrees_with_the_oracle_on_hostile_cases() {
    agrees_with_the_oracle(Subject::Session, Settings::HOSTILE, 1_000);
}

#[test]
fn the_session_agrees_with_the_oracle_when_it_is_read_after_every_event() {
    let settings = Settings { reads: Reads::AfterEvery, ..Settings::WELL_FORMED };
    agrees_with_the_oracle(Subject::Session, settings, 500);
}

#[test]
fn the_manager_agrees_with_the_oracle_on_well_formed_deltas() {
    agrees_with_the_oracle(Subject::Deltas, Settings::WELL_FORMED, 1_000);
}

#[test]
fn the_manager_agrees_with_the_oracle_on_hostile_deltas() {
    agrees_with_the_oracle(Subject::Deltas, Settings::HOSTILE, 1_000);
}

#[test]
fn the_manager_agrees_with_the_oracle_when_it_is_read_once() {
    agrees_with_the_oracle(Subject::Deltas, Settings::LONG, 100);
}

#[test]
fn the_session_repairs_and_checks_interrupted_turns_as_the_oracle() {
    agrees_with_the_oracle(Subject::Session, Settings::TURNS, 2_000);
}

#[test]
fn the_manager_repairs_and_checks_interrupted_turns_as_the_oracle() {
    agrees_with_the_oracle(Subject::Deltas, Settings::TURNS, 1_000);
}

/// Every law of `oracle::laws`, each of which states its equation, over generated logs.
fn keeps_the_laws(
    cases: u32,
    settings: Settings,
    log_of: fn(&Case) -> Vec<String>,
    broken: laws::Ask,
) {
    let outcome = runner(cases).run(&vec(any::<u32>(), 0..300), |tape| {
        let log = log_of(&made(&tape, &settings));
        proptest::prop_assert_eq!(broken(Contract::ADR_0019, &log), None);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(_, tape)) => {
            let small =
                laws::smallest(Contract::ADR_0019, &log_of(&made(&tape, &settings)), broken);
            let law = broken(small.contract, &laws::log_in(&small)).expect("the law breaks again");
            keep(&small);
            panic!("{}: {}\n{}", law.law, law.sentence, small.to_json());
        }
        Err(abort) => panic!("{abort}"),
    }
}

const SHORT: Settings = Settings { fewest: 1, most: 9, seeds: false, ..Settings::WELL_FORMED };

#[test]
fn repair_only_adds_and_adds_once() {
    keeps_the_laws(400, Settings::TURNS, laws::log_of, laws::of_repair);
}

#[test]
fn what_a_provider_would_refuse_is_what_the_oracle_finds() {
    keeps_the_laws(2_000, Settings::TURNS, laws::log_of, laws::of_pairing);
}

#[test]
fn what_is_wrong_with_a_log_of_turns_is_what_the_oracle_finds() {
    keeps_the_laws(2_000, Settings::TURNS, laws::whole_log_of, laws::of_invariants);
}

#[test]
fn what_is_wrong_with_a_hostile_log_is_what_the_oracle_finds() {
    keeps_the_laws(2_000, Settings::HOSTILE, laws::whole_log_of, laws::of_invariants);
}

#[test]
fn the_session_keeps_the_laws() {
    keeps_the_laws(150, SHORT, laws::log_of, laws::of_session);
}

#[test]
fn the_manager_keeps_the_laws() {
    keeps_the_laws(150, SHORT, laws::log_of, laws::of_manager);
}

#[test]
fn every_kept_case_is_answered_as_the_contract_asks() {
    let mut replayed = 0;
    for entry in fs::read_dir(kept_cases()).unwrap() {
        let path = entry.unwrap().path();
        let case = Case::parse(&fs::read_to_string(&path).unwrap()).unwrap();
        let expectation = Expectation::of(&case, Level::Should);
        for (step, answer) in case.steps.iter().zip(expectation.answers()) {
            let as_wanted = step.want.as_ref().is_none_or(|want| agree(want, answer));
            assert!(as_wanted, "{}: the oracle gives another answer", path.display());
        }
        for subject in Subject::ALL {
            let verdict = expectation.judge(&subject.implementation().run(&case));
            assert_eq!(verdict, Ok(()), "{}: {}", path.display(), subject.name());
        }
        let log = laws::log_of(&case);
        assert_eq!(laws::of_session(case.contract, &log), None, "{}", path.display());
        assert_eq!(laws::of_manager(case.contract, &log), None, "{}", path.display());
        assert_eq!(laws::of_repair(case.contract, &log), None, "{}", path.display());
        assert_eq!(laws::of_pairing(case.contract, &log), None, "{}", path.display());
        let whole = laws::log_in(&case);
        assert_eq!(laws::of_invariants(case.contract, &whole), None, "{}", path.display());
        replayed += 1;
    }
    assert!(replayed > 0, "no case is kept");
}
