//! The report as one JSON object, and the messages as one array. Payload text is written as it
//! stands in the file, so nothing of it can be lost on the way.

use std::io::{self, Write};

use session_surface::session::store::{Fault, FileError};
use session_surface::session::{Digest, Finding, Violation};
use session_surface::spec::Seq;

use super::report::Report;
use super::surface_of;

/// Writes the report. Keys are only ever added.
pub fn write(report: &Report, salvage: bool, out: &mut impl Write) -> io::Result<()> {
    let view = report.view();
    let header = report.header.as_ref().map_or("null", |header| header.json().text());
    write!(out, "{{\"header\":{header},\"events\":{},\"types\":{{", report.digest.events())?;
    for (at, (name, events)) in report.digest.types().enumerate() {
        write!(out, "{}{}:{events}", comma(at), string(name))?;
    }
    write!(out, "}},\"hasSurface\":{},\"surface\":[", view.has_surface())?;
    for (at, node) in view.nodes().enumerate() {
        let (seq, name) = (node.event.seq(), string(&node.event.event_type()));
        let shadows = &node.shadows;
        write!(out, "{}{{\"seq\":{seq},\"type\":{name},\"shadows\":{shadows:?}}}", comma(at))?;
    }
    out.write_all(b"],\"messages\":[")?;
    write_list(view, out, true)?;
    out.write_all(b"],\"closers\":[")?;
    for (at, closer) in report.closers.iter().enumerate() {
        write!(out, "{}{}", comma(at), closer.text())?;
    }
    out.write_all(b"],\"pairing\":[")?;
    for (at, Finding { seq, code, message }) in report.pairing.iter().enumerate() {
        write_finding(at, *seq, code.as_str(), message, out)?;
    }
    out.write_all(b"],\"invariants\":[")?;
    for (at, Violation { seq, code, message }) in report.digest.violations().iter().enumerate() {
        write_finding(at, *seq, code.as_str(), message, out)?;
    }
    out.write_all(b"],\"torn\":")?;
    match report.torn() {
        Some(t) => write!(out, "{{\"bytes\":{},\"keptBytes\":{}}}", t.bytes, t.kept_bytes)?,
        None => out.write_all(b"null")?,
    }
    out.write_all(b",\"error\":")?;
    match report.damage() {
        Some(error) => write_error(error, out)?,
        None => out.write_all(b"null")?,
    }
    if salvage || report.damage().is_some() {
        let (events, surface) = (report.digest.events(), surface_of(&report.digest));
        write!(out, ",\"salvage\":{{\"events\":{events},\"surface\":{surface:?}}}")?;
    }
    out.write_all(b"}\n")
}

/// Writes the messages as one array, as they are sent.
pub fn write_messages(digest: &Digest, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"[")?;
    write_list(digest, out, false)?;
    out.write_all(b"]\n")
}

fn write_list(digest: &Digest, out: &mut impl Write, with_seq: bool) -> io::Result<()> {
    let mut text = String::new();
    for (at, message) in digest.messages().enumerate() {
        text.clear();
        message.write_json(&mut text);
        out.write_all(comma(at).as_bytes())?;
        if with_seq {
            let fields = text.strip_prefix('{').unwrap_or(&text);
            write!(out, "{{\"seq\":{},{fields}", message.seq())?;
        } else {
            out.write_all(text.as_bytes())?;
        }
    }
    Ok(())
}

fn write_finding(
    at: usize,
    seq: Seq,
    code: &str,
    message: &str,
    out: &mut impl Write,
) -> io::Result<()> {
    let message = string(message);
    write!(out, "{}{{\"code\":\"{code}\",\"seq\":{seq},\"message\":{message}}}", comma(at))
}

fn write_error(error: &FileError, out: &mut impl Write) -> io::Result<()> {
    let FileError { line, byte_offset, fault } = error;
    let code = string(fault.code());
    write!(out, "{{\"code\":{code},\"line\":{line},\"byteOffset\":{byte_offset}")?;
    match fault {
        Fault::Seq { expected, found } => {
            write!(out, ",\"expectedSeq\":{expected},\"foundSeq\":{found}")?;
        }
        Fault::Refused { seq, refusal } => {
            write!(out, ",\"seq\":{seq},\"refused\":{}", string(refusal.code.as_str()))?;
        }
        _ => {}
    }
    write!(out, ",\"message\":{}}}", string(&fault.to_string()))
}

fn comma(at: usize) -> &'static str {
    if at == 0 { "" } else { "," }
}

/// A text as a JSON string.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
