//! The program `session-surface`: arguments in, exit code out.
#![forbid(unsafe_code)]
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
