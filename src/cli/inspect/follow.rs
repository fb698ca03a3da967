//! `--follow`: a line for each event that is added to a file, until interrupted.

use std::fs::File;
use std::io::{self, BufReader, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use session_surface::session::Digest;
use session_surface::session::store::{Ending, EventLine, Fault, FileError, Prefix, Reader};
use session_surface::spec::{Contract, Field, Refusal, SurfaceOp};

use super::super::{exit::Exit, show};
use super::{advice, count, words};

const PAUSE: Duration = Duration::from_millis(100);

/// Follows a file. A torn tail is waited for, since its writer may be at it still; damage ends it.
pub fn run(file: &Path, contract: Contract) -> Exit {
    let mut follower = Follower::new(contract);
    loop {
        match follower.read_on(file) {
            Ok(()) => sleep(PAUSE),
            Err(Halt::Damage(error)) => return damaged(file, &error),
            Err(Halt::NobodyReads) => return Exit::Clean,
        }
    }
}

fn damaged(file: &Path, error: &FileError) -> Exit {
    eprintln!("{}: {error}\n  {}", file.display(), advice::what_happened(&error.fault));
    match error.fault {
        Fault::NotASession(_) | Fault::Io(_) => Exit::NotReadable,
        _ => Exit::Findings,
    }
}

/// Why following ends.
enum Halt {
    Damage(FileError),
    NobodyReads,
}

struct Follower {
    digest: Digest,
    prefix: Prefix,
    /// How long the file was when it was last read; nothing was read yet while there is none.
    length: Option<u64>,
}

impl Follower {
    fn new(contract: Contract) -> Follower {
        Follower { digest: Digest::new(contract), prefix: Prefix::default(), length: None }
    }

    /// Prints what was added to the file since the last look; at the first look, what there is.
    fn read_on(&mut self, file: &Path) -> Result<(), Halt> {
        let Some((input, length)) = self.open(file).map_err(|error| self.unreadable(error))? else {
            return Ok(());
        };
        let reader = if self.prefix.lines == 0 {
            Reader::open(input).map_err(Halt::Damage)?
        } else {
            Reader::resume(input, self.prefix)
        };
        let is_first = self.length.replace(length).is_none();
        self.take_all(reader, is_first)?;
        if !is_first {
            return Ok(());
        }
        let nodes = count(self.digest.surface().len() as u64, "node");
        say(&format!("{}, {nodes} on the surface", count(self.digest.events(), "event")))
    }

    /// What stands behind the prefix, and how long the file is, if that has changed.
    fn open(&self, file: &Path) -> io::Result<Option<(BufReader<File>, u64)>> {
        let mut opened = File::open(file)?;
        let length = opened.metadata()?.len();
        if self.length == Some(length) {
            return Ok(None);
        }
        if length < self.prefix.bytes {
            return Err(io::Error::other("the file became shorter: it was cut or replaced"));
        }
        opened.seek(SeekFrom::Start(self.prefix.bytes))?;
        Ok(Some((BufReader::new(opened), length)))
    }

    fn unreadable(&self, error: io::Error) -> Halt {
        let Prefix { lines, bytes, .. } = self.prefix;
        let fault = Fault::Io(error);
        Halt::Damage(FileError { line: lines + 1, byte_offset: bytes, fault })
    }

    fn take_all(&mut self, mut reader: Reader<BufReader<File>>, silent: bool) -> Result<(), Halt> {
        while let Some(event) = reader.next_event() {
            let taken = if silent {
                self.digest.take(event).map(|()| None)
            } else {
                self.take(event).map(Some)
            };
            match taken {
                Ok(line) => line.iter().try_for_each(|line| say(line))?,
                Err(refusal) => return Err(Halt::Damage(reader.refused(refusal))),
            }
        }
        self.prefix = reader.prefix();
        match reader.ending() {
            Ending::Clean | Ending::Torn(_) => Ok(()),
            Ending::Damaged(error) => Err(Halt::Damage(error)),
        }
    }

    /// Takes an event and gives its line: seq, type, what it does to the surface, first words.
    fn take(&mut self, line: EventLine<'_>) -> Result<String, Refusal> {
        let event = line.into_event()?;
        let said = words::of_event(&self.digest.contract(), &event);
        let head =
            format!("{:>7}  {:<19}", event.seq().get(), show::first_words(&event.event_type(), 64));
        let op = event.surface_op();
        self.digest.take(event.into())?;
        let nodes = count(self.digest.surface().len() as u64, "node");
        let line = match op {
            Field::Given(SurfaceOp::Append) => format!("{head} append, {nodes}  {said}"),
            Field::Given(SurfaceOp::Replace { start, end }) => {
                format!("{head} replace {start}..{end}, {nodes}  {said}")
            }
            Field::Absent | Field::Malformed => format!("{head} {said}"),
        };
        Ok(line.trim_end().to_owned())
    }
}

fn say(line: &str) -> Result<(), Halt> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|_| Halt::NobodyReads)
}
