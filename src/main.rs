//! The program `session-surface`: arguments in, exit code out.
#![forbid(unsafe_code)]

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
