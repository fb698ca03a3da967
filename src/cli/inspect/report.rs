//! `Report`: everything that is found in a session file. What more is to be found of a session is
//! added here, and to the two ways of showing it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use session_surface::session::store::{Ending, Fault, FileError, Header, Reader, Torn};
use session_surface::session::{Digest, Finding, pairing};
use session_surface::spec::Event;

use super::super::exit::Exit;
use super::count;

/// See the head of this file.
pub struct Report {
    /// The header, if there is one.
    pub header: Option<Header>,
    /// The events that can be read: the longest good prefix that the contract accepts.
    pub digest: Digest,
    /// The same as of just after the event that was asked for, if the prefix holds it.
    pub at: Option<Digest>,
    /// What a repair would append.
    pub closers: Vec<Event>,
    /// What a provider would refuse.
    pub pairing: Vec<Finding>,
    /// What stands behind the prefix.
    pub ending: Ending,
    /// That the contract does not read the header's version.
    pub version: Option<FileError>,
}

/// Smaller files are read before a line of progress could be seen.
const WORTH_PROGRESS: u64 = 16 << 20;
const BUFFER: usize = 256 << 10;

impl Report {
    /// Reads a file into an empty digest. The file may be unreadable: that is what the report then
    /// says.
    pub fn read(file: &Path, digest: Digest, at: Option<u64>) -> Report {
        let opened = open(file).map_err(|error| FileError {
            line: 1,
            byte_offset: 0,
            fault: Fault::Io(error),
        });
        let reader = opened.and_then(Reader::open);
        match reader {
            Ok(reader) => Report::of(reader, digest, at),
            Err(error) => Report {
                header: None,
                digest,
                at: None,
                closers: Vec::new(),
                pairing: Vec::new(),
                ending: Ending::Damaged(error),
                version: None,
            },
        }
    }

    fn of(mut reader: Reader<impl BufRead>, mut digest: Digest, at: Option<u64>) -> Report {
        let header = reader.header().cloned();
        let version =
            header.as_ref().and_then(|header| header.check_version(&digest.contract()).err());
        let (mut view, mut refusal) = (None, None);
        while let Some(event) = reader.next_event() {
            let is_asked_for = at == Some(event.seq().get());
            if let Err(error) = digest.take(event) {
                refusal = Some(error);
                break;
            }
            if is_asked_for {
                view = Some(digest.clone());
            }
        }
        let ending = match refusal {
            Some(refusal) => Ending::Damaged(reader.refused(refusal)),
            None => reader.ending(),
        };
        let (closers, pairing) = (digest.closers(), pairing(digest.messages()));
        Report { header, digest, at: view, closers, pairing, ending, version }
    }

    /// The events whose surface and messages are shown.
    pub fn view(&self) -> &Digest {
        self.at.as_ref().unwrap_or(&self.digest)
    }

    /// The torn tail.
    pub fn torn(&self) -> Option<&Torn> {
        match &self.ending {
            Ending::Torn(torn) => Some(torn),
            Ending::Clean | Ending::Damaged(_) => None,
        }
    }

    /// What ends the prefix by force.
    pub fn damage(&self) -> Option<&FileError> {
        match &self.ending {
            Ending::Damaged(error) => Some(error),
            Ending::Clean | Ending::Torn(_) => None,
        }
    }

    /// Whether the file could be read as a session, or as the beginning of one.
    pub fn is_session(&self) -> bool {
        let fault = self.damage().map(|error| &error.fault);
        !matches!(fault, Some(Fault::NotASession(_) | Fault::Io(_)))
    }

    /// What is not as it should be, a sentence each.
    pub fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        findings.extend(self.version.as_ref().map(FileError::to_string));
        findings.extend(self.torn().map(|torn| {
            let Torn { bytes, kept_bytes } = torn;
            format!("torn tail: {} behind byte {kept_bytes}", count(*bytes, "byte"))
        }));
        findings.extend(self.damage().map(FileError::to_string));
        if !self.closers.is_empty() {
            let closers = count(self.closers.len() as u64, "event");
            findings.push(format!("the last turn is open: a repair would append {closers}"));
        }
        if !self.pairing.is_empty() {
            let found = count(self.pairing.len() as u64, "finding");
            findings.push(format!("a provider may refuse the messages: {found}"));
        }
        let hidden = self.digest.hidden_messages();
        if hidden > 0 {
            let hidden = count(hidden, "message event");
            findings.push(format!("legacy/mixed: history is invisible: {hidden} give no message"));
        }
        let violations = self.digest.violation_count();
        if violations > 0 {
            findings.push(format!("invariants: {}", count(violations, "violation")));
        }
        findings
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        match (self.is_session(), self.findings().is_empty()) {
            (false, _) => Exit::NotReadable,
            (true, true) => Exit::Clean,
            (true, false) => Exit::Findings,
        }
    }
}

/// Opens a file; a large one with a line of progress on a terminal.
fn open(file: &Path) -> io::Result<impl BufRead + use<>> {
    let opened = File::open(file)?;
    let length = opened.metadata()?.len();
    let bar = if length >= WORTH_PROGRESS && io::stderr().is_terminal() {
        ProgressBar::new(length)
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) = ProgressStyle::with_template("{spinner} {bytes} of {total_bytes}") {
        bar.set_style(style);
    }
    Ok(BufReader::with_capacity(BUFFER, bar.wrap_read(opened)))
}
