//! What is wrong with a session file, and where.

use std::fmt;
use std::io;

use crate::spec::{Json, Kind, Refusal, Seq};

/// A file that cannot be read as a session, or not to its end.
#[derive(Debug)]
pub struct FileError {
    /// The line, counted from 1, which is the header.
    pub line: u64,
    /// Where the line begins, in bytes from the start of the file.
    pub byte_offset: u64,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What is wrong with a line of a session file.
#[derive(Debug)]
pub enum Fault {
    /// `file/not-a-session`: the first line is no header.
    NotASession(HeaderFlaw),
    /// `file/version`: the header's version is not one that is read.
    Version {
        /// The version, as it is written in the header.
        found: String,
        /// The versions that are read.
        read: &'static [i64],
    },
    /// `file/bad-line`: the line is no event line, and a whole record follows or is it.
    BadLine(Flaw),
    /// `file/seq`: an event line out of order.
    Seq {
        /// The seq that the line should have.
        expected: Seq,
        /// The seq that it has.
        found: Seq,
    },
    /// `file/refused`: an event that the contract refuses.
    Refused {
        /// The event.
        seq: Seq,
        /// Why.
        refusal: Refusal,
    },
    /// `file/io`: the file cannot be read.
    Io(io::Error),
}

impl Fault {
    /// The code, the form in reports.
    pub fn code(&self) -> &'static str {
        match self {
            Fault::NotASession(_) => "file/not-a-session",
            Fault::Version { .. } => "file/version",
            Fault::BadLine(_) => "file/bad-line",
            Fault::Seq { .. } => "file/seq",
            Fault::Refused { .. } => "file/refused",
            Fault::Io(_) => "file/io",
        }
    }

    /// Where in the line the fault shows, in bytes from its start.
    pub fn at(&self) -> usize {
        match self {
            Fault::BadLine(flaw) | Fault::NotASession(HeaderFlaw::Line(flaw)) => flaw.at(),
            _ => 0,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotASession(flaw) => write!(f, "this is no session header: {flaw}"),
            Fault::Version { found, read } => {
                let read: Vec<String> = read.iter().map(i64::to_string).collect();
                write!(f, "version {found} is not read, only {}", read.join(" and "))
            }
            Fault::BadLine(flaw) => write!(f, "this is no event line: {flaw}"),
            Fault::Seq { expected, found } => write!(f, "expected seq {expected}, found {found}"),
            Fault::Refused { seq, refusal } => write!(f, "event {seq} is refused: {refusal}"),
            Fault::Io(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FileError { line, byte_offset, fault } = self;
        write!(f, "{}: line {line}, byte {byte_offset}: {fault}", fault.code())
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            Fault::Io(error) => Some(error),
            Fault::Refused { refusal, .. } => Some(refusal),
            _ => None,
        }
    }
}

/// Why the first line of a file is no header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderFlaw {
    /// The file begins with a byte-order mark.
    ByteOrderMark,
    /// The line is no JSON object.
    Line(Flaw),
    /// The object lacks a field of a header, has it twice, or with another value than headers have.
    Field {
        /// The field.
        name: &'static str,
        /// What a header has there.
        expected: &'static str,
    },
}

impl fmt::Display for HeaderFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderFlaw::ByteOrderMark => f.write_str("the file begins with a byte-order mark"),
            HeaderFlaw::Line(flaw) => flaw.fmt(f),
            HeaderFlaw::Field { name, expected } => {
                write!(f, "a header has `{name}` once, {expected}")
            }
        }
    }
}

/// Why a line is no event line. Places are in bytes from the start of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// There is nothing on it but white space.
    Blank,
    /// It holds zero bytes.
    Nul {
        /// The first one.
        at: usize,
    },
    /// It is not UTF-8.
    NotUtf8 {
        /// The first byte that is none.
        at: usize,
    },
    /// It ends inside a JSON value.
    CutOff {
        /// Where it ends.
        at: usize,
    },
    /// More follows behind a whole JSON value.
    Second {
        /// Where the rest begins.
        at: usize,
    },
    /// It is no JSON.
    NotJson {
        /// Where it stops being JSON.
        at: usize,
    },
    /// It is, or begins as, a JSON value that is no object.
    NotAnObject,
    /// It is a JSON object, and no event.
    NotAnEvent(Refusal),
}

impl Flaw {
    /// The flaw of a line that is no JSON object. Of one that is, `Flaw::NotAnObject`: nobody asks.
    pub(super) fn of(line: &[u8]) -> Flaw {
        object(line).err().unwrap_or(Flaw::NotAnObject)
    }

    /// The flaw of a long line of which only the start is known, and which cannot be an object.
    pub(super) fn of_start(start: &[u8]) -> Flaw {
        let at = start.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        match start.get(at) {
            Some(0) => Flaw::Nul { at },
            Some(b'[' | b'"' | b'-' | b'0'..=b'9') => Flaw::NotAnObject,
            _ => Flaw::NotJson { at },
        }
    }

    /// The flaw of a line that is refused as an event.
    pub(super) fn of_refused(line: &[u8], refusal: Refusal) -> Flaw {
        object(line).err().unwrap_or(Flaw::NotAnEvent(refusal))
    }

    /// Where in the line the flaw shows.
    pub fn at(&self) -> usize {
        match self {
            Flaw::Nul { at }
            | Flaw::NotUtf8 { at }
            | Flaw::CutOff { at }
            | Flaw::Second { at }
            | Flaw::NotJson { at } => *at,
            Flaw::Blank | Flaw::NotAnObject | Flaw::NotAnEvent(_) => 0,
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Blank => f.write_str("it is blank"),
            Flaw::Nul { at } => write!(f, "it holds zero bytes, from its byte {at} on"),
            Flaw::NotUtf8 { at } => write!(f, "it is not UTF-8 at its byte {at}"),
            Flaw::CutOff { at } => write!(f, "it ends inside a record, at its byte {at}"),
            Flaw::Second { at } => write!(f, "more follows a whole value, at its byte {at}"),
            Flaw::NotJson { at } => write!(f, "it is no JSON at its byte {at}"),
            Flaw::NotAnObject => f.write_str("it is a JSON value, but no object"),
            Flaw::NotAnEvent(refusal) => refusal.fmt(f),
        }
    }
}

/// The JSON object that a line is.
pub(super) fn object(line: &[u8]) -> Result<Json<'_>, Flaw> {
    if line.trim_ascii().is_empty() {
        return Err(Flaw::Blank);
    }
    let text = std::str::from_utf8(line);
    let json = text.map(Json::parse);
    match json {
        Ok(Ok(json)) if json.kind() == Kind::Object => Ok(json),
        Ok(Ok(_)) => Err(Flaw::NotAnObject),
        Ok(Err(error)) => Err(nul(line).unwrap_or_else(|| not_json(line, &error))),
        Err(error) => Err(nul(line).unwrap_or(Flaw::NotUtf8 { at: error.valid_up_to() })),
    }
}

/// Zero bytes explain whatever else is wrong with a line.
fn nul(line: &[u8]) -> Option<Flaw> {
    line.iter().position(|byte| *byte == 0).map(|at| Flaw::Nul { at })
}

fn not_json(line: &[u8], error: &serde_json::Error) -> Flaw {
    // A column counts from 1, and one more where a byte was only looked at.
    let at = error.column().saturating_sub(1);
    if error.is_eof() {
        return Flaw::CutOff { at: line.len() };
    }
    let mut values =
        serde_json::Deserializer::from_slice(line).into_iter::<serde::de::IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => {
            let rest = line.get(values.byte_offset()..).unwrap_or_default();
            Flaw::Second { at: line.len() - rest.trim_ascii_start().len() }
        }
        _ => Flaw::NotJson { at },
    }
}
