//! `replay`: saved cases, run again on the built-in session and manager.

use std::path::{Path, PathBuf};

use clap::Args;
use session_surface::harness::campaign::Subject;
use session_surface::harness::{Case, Expectation, agree};
use session_surface::spec::Level;

use super::exit::Exit;
use super::show;

/// Run saved cases again on the built-in session
#[derive(Args)]
#[command(after_help = "Examples:
  session-surface replay counterexamples/session-replace-order-1a2b3c4d.json
  session-surface replay proptest-regressions/cases/*.json")]
pub struct Replay {
    /// Case files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Replay {
    /// Runs every file and shows what fails.
    pub fn run(self) -> Exit {
        let mut worst = Exit::Clean;
        for file in &self.files {
            match case(file) {
                Ok(case) if conforms(file, &case) => {}
                Ok(_) => worst = if worst == Exit::Usage { worst } else { Exit::Findings },
                Err(error) => {
                    eprintln!("{}: {error}", file.display());
                    worst = Exit::Usage;
                }
            }
        }
        worst
    }
}

fn case(file: &Path) -> Result<Case, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    Case::parse(&text).map_err(|error| error.to_string())
}

/// Whether both subjects answer as the oracle, and the oracle as the file says.
fn conforms(file: &Path, case: &Case) -> bool {
    let mut clean = true;
    let expectation = Expectation::of(case, Level::Should);
    for (at, (step, answer)) in case.steps.iter().zip(expectation.answers()).enumerate() {
        if step.want.as_ref().is_some_and(|want| !agree(want, answer)) {
            clean = false;
            println!(
                "{}: step {at}: the file wants another answer than the contract",
                file.display()
            );
        }
    }
    for subject in Subject::ALL {
        match expectation.judge(&subject.implementation().run(case)) {
            Ok(()) => println!("{}: {} passes", file.display(), subject.name()),
            Err(failure) => {
                clean = false;
                println!("{}: {} fails {}", file.display(), subject.name(), failure.clause);
                println!("{}", show::failing(case, &failure));
            }
        }
    }
    clean
}
