//! What probably happened to a damaged file, and what to do about it.

use session_surface::session::store::{Fault, FileError, Flaw, HeaderFlaw};
use session_surface::spec::PairingCode;

/// One sentence on what probably happened.
pub fn what_happened(fault: &Fault) -> &'static str {
    match fault {
        Fault::NotASession(HeaderFlaw::ByteOrderMark) => {
            "Edited: an editor saved the file with a byte-order mark in front."
        }
        Fault::NotASession(_) => {
            "This is another kind of file, or its first line was lost or edited."
        }
        Fault::Version { .. } => "Another release of the program wrote this session.",
        Fault::Seq { expected, found } if found < expected => {
            "A second writer, probably: this seq was given before, as when two programs write at once."
        }
        Fault::Seq { .. } => "Lost lines: the events between were cut out or never written.",
        Fault::Refused { .. } => {
            "Edited, or written by a program that does not check what it writes."
        }
        Fault::Io(_) => "The file cannot be reached, or the disk is failing.",
        Fault::BadLine(flaw) => of_flaw(flaw),
    }
}

fn of_flaw(flaw: &Flaw) -> &'static str {
    match flaw {
        Flaw::Blank => "Edited: no writer leaves a blank line between records.",
        Flaw::Nul { .. } => {
            "A NUL run: the machine went down before the bytes reached the disk, and a writer went on behind them."
        }
        Flaw::NotUtf8 { .. } => {
            "Not UTF-8: a write was torn inside a character and another went on behind it, or the file was saved in another encoding."
        }
        Flaw::CutOff { .. } => {
            "A torn write: a record was cut off, and a writer went on behind it without cutting the torn end."
        }
        Flaw::Second { .. } => {
            "Two records on one line: the line feed between them was lost or never written."
        }
        Flaw::NotJson { .. } => {
            "A torn write with another glued to it on the same line, or the file was edited."
        }
        Flaw::NotAnObject | Flaw::NotAnEvent(_) => {
            "Edited, or another program wrote this line into the session."
        }
    }
}

/// What to do about it.
pub fn what_to_do(error: &FileError) -> String {
    match &error.fault {
        Fault::Version { .. } => "Open it with the release that wrote it.".to_owned(),
        Fault::Io(_) => "Check the path, the permissions and the disk.".to_owned(),
        Fault::NotASession(HeaderFlaw::ByteOrderMark) => {
            "Remove the first three bytes from a copy: tail -c +4 FILE > COPY".to_owned()
        }
        Fault::NotASession(_) => {
            "Check the path; a session file begins with its header on line 1.".to_owned()
        }
        Fault::BadLine(Flaw::Second { at }) => {
            let bytes = error.byte_offset + *at as u64;
            let rest = bytes + 1;
            format!(
                "Put the line feed back in a copy and inspect that: (head -c {bytes} FILE; echo; tail -c +{rest} FILE) > COPY"
            )
        }
        _ => {
            let bytes = error.byte_offset;
            format!(
                "Keep the file. A copy of what can be read leaves out everything from this line on: head -c {bytes} FILE > COPY"
            )
        }
    }
}

/// One sentence on how messages came to be refused.
pub fn why_refused(code: PairingCode) -> &'static str {
    match code {
        PairingCode::DuplicateCallId => {
            "The model, or a program between, gave one id to two calls."
        }
        PairingCode::UnansweredCall => {
            "The turn was interrupted before the result, or a replace took the result away."
        }
        PairingCode::OrphanResult => "A replace took the call away and left its result.",
        PairingCode::DuplicateResult => {
            "A result was recorded twice, or for a call of another turn."
        }
        PairingCode::Interleaved => "A message was recorded while the calls were still running.",
        PairingCode::EmptyAssistant => "The model was stopped before it said anything.",
        PairingCode::IllFormedText => "A text was cut inside a character, such as an emoji.",
    }
}

/// What makes the messages fit to be sent.
pub fn what_to_send(code: PairingCode) -> &'static str {
    match code {
        PairingCode::UnansweredCall => {
            "A repair answers the open calls of the last turn; replace others with their message."
        }
        PairingCode::OrphanResult | PairingCode::DuplicateResult => {
            "Replace the result, or a range that holds it together with its call."
        }
        PairingCode::DuplicateCallId => "Replace the message, giving each call an id of its own.",
        PairingCode::Interleaved => "Replace the range from the calls to their last result.",
        PairingCode::EmptyAssistant => "Leave the message out when sending, or replace it.",
        PairingCode::IllFormedText => "Replace the event with one whose text is whole.",
    }
}
