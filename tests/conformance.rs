//! The conformance suite: every example of SPEC.md as a test of its own name, asked of the oracle,
//! the session and the manager.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use session_surface::harness::campaign::Subject;
use session_surface::harness::{Answer, Case, Expectation, agree, examples};
use session_surface::spec::Level;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = vec![Trial::test("spec::is_whole", the_specification_is_whole)];
    for subject in [Subject::Oracle, Subject::Session, Subject::Deltas] {
        trials.extend(examples::cases().into_iter().map(|case| {
            let name = format!("{}::{}", subject.name(), case.name);
            Trial::test(name, move || answers_as_written(subject, &case))
        }));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn the_specification_is_whole() -> Result<(), Failed> {
    let faults = examples::spec().faults();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

/// The oracle answers as it is written down, everybody else as the oracle.
fn answers_as_written(subject: Subject, case: &Case) -> Result<(), Failed> {
    let expectation = Expectation::of(case, Level::Should);
    for (at, (step, answer)) in case.steps.iter().zip(expectation.answers()).enumerate() {
        if !step.want.as_ref().is_some_and(|want| agree(want, answer)) {
            let want = step.want.as_ref().map(Answer::to_json).unwrap_or_default();
            let got = answer.to_json();
            return Err(format!("step {at}: want {want}, the oracle gives {got}").into());
        }
    }
    let verdict = expectation.judge(&subject.implementation().run(case));
    verdict.map_err(|failure| format!("{failure:#?}").into())
}
