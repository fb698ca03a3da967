//! `inspect`: what a session file holds and what a model would see of it. Never writes.

mod advice;
mod follow;
mod human;
mod json;
mod picture;
mod report;
mod words;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use session_surface::session::Digest;
use session_surface::spec::{Contract, Seq};

use super::exit::Exit;
use report::Report;

/// Show what a session file holds and what a model would see of it
///
/// Describes the file as it stands: its events, the surface and what each node shadowed, the
/// derived messages, a torn tail, and the first line that is damaged, with the bytes around it.
/// Reads only, so a session that is being written can be inspected at any time.
#[derive(Args)]
#[command(after_help = "Examples:
  session-surface inspect session.jsonl                 show everything
  session-surface inspect session.jsonl --at 41         the surface and messages just after event 41
  session-surface inspect session.jsonl --messages      the messages as one JSON array, to be sent
  session-surface inspect session.jsonl --salvage       how much of a damaged file can be read
  session-surface inspect session.jsonl --format json   everything as one JSON object
  session-surface inspect session.jsonl --follow        a line for each event that is added

Exit codes: 0 clean, 1 findings (a torn tail, damage, hidden messages, another version, an open
turn, what a provider would refuse, broken invariants), 2 usage, 3 not readable or no session file.")]
pub struct Inspect {
    /// A session file, JSON Lines
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Show the surface and the messages as of just after this event
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Show the longest good prefix that the contract accepts, and where and why it stops
    #[arg(long)]
    salvage: bool,
    /// Print the derived messages as one JSON array and nothing else; invariants are not checked
    #[arg(long, conflicts_with = "format")]
    messages: bool,
    /// How to show it
    #[arg(long, value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    format: Format,
    /// Print a line for each new event of a growing file, until interrupted
    #[arg(long, conflicts_with_all = ["at", "salvage", "messages", "format"])]
    follow: bool,
    /// The contract to read by
    #[arg(long, default_value = "adr-0019", value_name = "NAME", value_parser = super::contract)]
    contract: Contract,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// One JSON object with stable keys
    Json,
}

impl Inspect {
    /// Reads the file and shows it.
    pub fn run(self) -> Exit {
        if self.follow {
            return follow::run(&self.file, self.contract);
        }
        let mut digest = Digest::new(self.contract);
        if !self.messages {
            // Whoever wants the messages alone need not wait for the rest.
            digest = digest.checking_invariants();
        }
        let report = Report::read(&self.file, digest, self.at);
        if let Some(at) = self.at.filter(|_| report.at.is_none() && report.is_session()) {
            let events = report.digest.events();
            eprintln!("--at {at}: no such event; {events} events can be read, the first is 0");
            return Exit::Usage;
        }
        let mut out = BufWriter::new(io::stdout().lock());
        let written = self.show(&report, &mut out).and_then(|()| out.flush());
        // Whoever reads the output may have seen enough.
        match written {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                eprintln!("the output cannot be written: {error}");
                Exit::NotReadable
            }
            _ => report.exit(),
        }
    }

    fn show(&self, report: &Report, out: &mut impl Write) -> io::Result<()> {
        if self.messages {
            return self.show_messages(report, out);
        }
        match self.format {
            Format::Human => human::write(report, &self.file, self.salvage, out),
            Format::Json => json::write(report, self.salvage, out),
        }
    }

    /// Half of a history must not be sent by accident: a damaged file has messages only as of an
    /// event or where they are salvaged on purpose.
    fn show_messages(&self, report: &Report, out: &mut impl Write) -> io::Result<()> {
        for finding in report.findings() {
            eprintln!("{}: {finding}", self.file.display());
        }
        if report.damage().is_none() || self.salvage || self.at.is_some() {
            return json::write_messages(report.view(), out);
        }
        if report.is_session() {
            eprintln!("no messages: add --salvage for those of the events before the damage");
        }
        Ok(())
    }
}

/// The words for a number of things.
fn count(number: u64, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// The seqs of a surface.
fn surface_of(digest: &Digest) -> Vec<u64> {
    digest.surface().iter().map(Seq::get).collect()
}
