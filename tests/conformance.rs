//! The conformance suite: every example of SPEC.md as a test of its own name, asked of the oracle,
//! the session and the manager.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use session_surface::harness::campaign::Subject;
use session_surface::harness::{Answer, Case, agree, examples};

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

fn answers_as_written(subject: Subject, case: &Case) -> Result<(), Failed> {
    let answers = subject.implementation().run(case);
    for (at, step) in case.steps.iter().enumerate() {
        let no_answer = Answer::Error("no answer".to_owned());
        let (want, got) = (step.want.as_ref(), answers.get(at).unwrap_or(&no_answer));
        if !want.is_some_and(|want| agree(want, got)) {
            let want = want.map(Answer::to_json).unwrap_or_default();
            return Err(format!("step {at}: want {want}, got {}", got.to_json()).into());
        }
    }
    Ok(())
}
