//! The verbs of the program, one a file.

mod check;
mod exit;
mod inspect;
mod replay;
mod show;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use exit::Exit;
use session_surface::harness::is_answering;
use session_surface::spec::Contract;

/// Checks and inspects the surface of agent sessions: the list of messages that is derived from
/// an append-only event log.
#[derive(Parser)]
#[command(version, about, after_help = EXAMPLES, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

const EXAMPLES: &str = "Examples:
  session-surface check                       check the built-in session against SPEC.md
  session-surface check --cases 1000000       the same with more random cases
  session-surface inspect session.jsonl       show what a model would see of a session
  session-surface replay found.json           run a saved counterexample again

Exit codes of check and replay: 0 conforms, 1 does not, 2 usage, 70 a fault of this program.
Exit codes of inspect: 0 clean, 1 findings, 2 usage, 3 not readable.";

#[derive(Subcommand)]
enum Verb {
    Check(check::Check),
    Inspect(inspect::Inspect),
    Replay(replay::Replay),
}

/// Reads the arguments, runs the verb and gives its exit code.
pub fn main() -> ExitCode {
    quiet_while_answering();
    let arguments = Arguments::parse();
    let run = || match arguments.verb {
        Verb::Check(check) => check.run(),
        Verb::Inspect(inspect) => inspect.run(),
        Verb::Replay(replay) => replay.run(),
    };
    // The panic has been printed; the code says that it was no verdict.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or(Exit::Fault).code()
}

/// A panic of what is being judged is a verdict, and shrinking repeats it: it is not printed.
fn quiet_while_answering() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_answering() {
            print(panic);
        }
    }));
}

/// The contract of a `--contract` argument.
fn contract(name: &str) -> Result<Contract, String> {
    let known = Contract::ALL.map(|contract| contract.name).join(", ");
    Contract::named(name).ok_or_else(|| format!("no contract is named {name}; known: {known}"))
}
