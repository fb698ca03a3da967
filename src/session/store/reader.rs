//! `Reader`: a session file, event by event, and how it ends.

use std::io::{self, BufRead};

use super::error::{Fault, FileError, Flaw, object};
use super::event_line::EventLine;
use super::header::Header;
use super::lines::Lines;
use crate::spec::{Refusal, Seq};

/// A session file that is read line by line. Memory is bounded by the longest line.
///
/// [`next_event`](Reader::next_event) gives the events of the **good prefix**: the event lines
/// from the first on whose seqs are 0, 1, 2, … [`ending`](Reader::ending) then says what stands
/// behind it. What a contract refuses is for the caller to find; [`refused`](Reader::refused) says
/// where it stands.
///
/// ```
/// use session_surface::session::store::{Ending, Reader};
///
/// let file = "{\"type\":\"session\",\"version\":1,\"id\":\"s\",\"createdAt\":0}\n\
///             {\"type\":\"usage\",\"seq\":0,\"time\":1,\"data\":{}}\n\
///             {\"type\":\"usa";
/// let mut reader = Reader::open(file.as_bytes())?;
/// while let Some(event) = reader.next_event() {
///     assert_eq!(event.event_type(), "usage");
/// }
/// assert_eq!(reader.prefix().events, 1);
/// assert!(matches!(reader.ending(), Ending::Torn(torn) if torn.bytes == 12));
/// # Ok::<(), session_surface::session::store::FileError>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    header: Option<Header>,
    prefix: Prefix,
    stop: Option<Stop>,
}

/// How far the good prefix of a file reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prefix {
    /// Its lines, the header included.
    pub lines: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Its events.
    pub events: u64,
}

/// What stands behind the good prefix of a file.
#[derive(Debug)]
pub enum Ending {
    /// Nothing.
    Clean,
    /// A write that was cut off.
    Torn(Torn),
    /// Something that a torn write does not explain, or that cannot be read.
    Damaged(FileError),
}

/// A torn tail: what stands behind the good prefix and holds no whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// How many bytes it has.
    pub bytes: u64,
    /// How many bytes are before it.
    pub kept_bytes: u64,
}

/// Why the good prefix ends.
#[derive(Debug)]
enum Stop {
    EndOfFile,
    /// The last line lacks its line feed.
    Unended,
    /// An event line with another seq than the next one.
    Seq(Seq),
    Flaw(Flaw),
    Io(io::Error),
}

impl<R: BufRead> Reader<R> {
    /// Reads the header, of whatever version. A file without a complete header line is as if the
    /// session did not exist: then [`header`](Reader::header) is `None`, there are no events, and
    /// the bytes are a torn tail.
    ///
    /// # Errors
    /// `file/not-a-session` where the first line is no header, `file/io` where it cannot be read.
    pub fn open(input: R) -> Result<Reader<R>, FileError> {
        let first = |fault| FileError { line: 1, byte_offset: 0, fault };
        let mut reader = Reader::resume(input, Prefix::default());
        let is_line = reader.lines.advance().map_err(|error| first(Fault::Io(error)))?;
        if reader.lines.is_ended() {
            let header = Header::read(reader.lines.bytes());
            reader.header = Some(header.map_err(|flaw| first(Fault::NotASession(flaw)))?);
            reader.prefix = Prefix { lines: 1, bytes: reader.lines.length(), events: 0 };
        } else {
            reader.stop = Some(if is_line { Stop::Unended } else { Stop::EndOfFile });
        }
        Ok(reader)
    }

    /// Reads on behind a prefix that was read before, in a file that has grown since. `input`
    /// begins where the prefix ends.
    pub fn resume(input: R, prefix: Prefix) -> Reader<R> {
        Reader { lines: Lines::new(input), header: None, prefix, stop: None }
    }

    /// The header. `None` where there is no complete header line, and after
    /// [`resume`](Reader::resume).
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The good prefix, as far as it was read.
    pub fn prefix(&self) -> Prefix {
        self.prefix
    }

    /// The next event of the good prefix; `None` behind the last one.
    pub fn next_event(&mut self) -> Option<EventLine<'_>> {
        if self.stop.is_some() {
            return None;
        }
        self.stop = match self.lines.advance() {
            Ok(true) if self.lines.is_ended() => None,
            Ok(true) => Some(Stop::Unended),
            Ok(false) => Some(Stop::EndOfFile),
            Err(error) => Some(Stop::Io(error)),
        };
        if self.stop.is_some() {
            return None;
        }
        match EventLine::read(self.lines.bytes()) {
            Ok(event) if event.seq().get() == self.prefix.events => {
                self.prefix.lines += 1;
                self.prefix.bytes += self.lines.length();
                self.prefix.events += 1;
                return Some(event);
            }
            Ok(event) => self.stop = Some(Stop::Seq(event.seq())),
            Err(_) if self.lines.is_cut() => {
                self.stop = Some(Stop::Flaw(Flaw::of_start(self.lines.bytes())));
            }
            Err(flaw) => self.stop = Some(Stop::Flaw(flaw)),
        }
        None
    }

    /// The error of a file whose last event that was read is refused.
    pub fn refused(&self, refusal: Refusal) -> FileError {
        let Prefix { lines, bytes, events } = self.prefix;
        let seq = Seq::new(events.saturating_sub(1)).unwrap_or(Seq::MAX);
        let byte_offset = bytes.saturating_sub(self.lines.length());
        FileError { line: lines, byte_offset, fault: Fault::Refused { seq, refusal } }
    }

    /// Reads the file to its end, and says what stands behind the good prefix.
    ///
    /// A torn write leaves no whole record. So a line with its line feed that is a JSON object,
    /// event or not, is damage, and the error stands at the first line that is not in the prefix.
    pub fn ending(mut self) -> Ending {
        while self.next_event().is_some() {}
        match self.stop.take() {
            None | Some(Stop::EndOfFile) => Ending::Clean,
            Some(Stop::Unended) => self.torn(self.lines.length()),
            Some(Stop::Io(error)) => self.damaged(Fault::Io(error)),
            Some(Stop::Seq(found)) => {
                let expected = Seq::new(self.prefix.events).unwrap_or(Seq::MAX);
                self.damaged(Fault::Seq { expected, found })
            }
            Some(Stop::Flaw(flaw)) => self.behind_flaw(flaw),
        }
    }

    /// Looks for a whole record from a line on that is no event line.
    fn behind_flaw(mut self, flaw: Flaw) -> Ending {
        let mut bytes = 0;
        loop {
            bytes += self.lines.length();
            if self.lines.is_ended() && object(self.lines.bytes()).is_ok() {
                return self.damaged(Fault::BadLine(flaw));
            }
            match self.lines.advance() {
                Ok(true) => {}
                Ok(false) => return self.torn(bytes),
                Err(error) => return self.damaged(Fault::Io(error)),
            }
        }
    }

    fn torn(&self, bytes: u64) -> Ending {
        Ending::Torn(Torn { bytes, kept_bytes: self.prefix.bytes })
    }

    fn damaged(&self, fault: Fault) -> Ending {
        let Prefix { lines, bytes, .. } = self.prefix;
        Ending::Damaged(FileError { line: lines + 1, byte_offset: bytes, fault })
    }
}
