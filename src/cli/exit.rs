//! The exit codes of the program. They are stable and do not depend on the output format.

use std::process::ExitCode;

/// Why the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It conforms; a session file is clean.
    Clean,
    /// It does not conform; a session file has findings.
    Findings,
    /// The arguments make no sense.
    Usage,
    /// A file cannot be read.
    NotReadable,
    /// A fault of this program.
    Fault,
}

impl Exit {
    /// The code.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Usage => 2,
            Exit::NotReadable => 3,
            Exit::Fault => 70,
        })
    }
}
