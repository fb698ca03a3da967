//! The report for people: plain text, no colours.

use std::io::{self, Write};
use std::path::Path;

use session_surface::session::store::{FileError, Header, Torn};
use session_surface::session::{Digest, Finding, Message, Node, Violation};
use session_surface::spec::{Event, Json, PairingCode, Seq};

use super::super::show::first_words;
use super::report::Report;
use super::{advice, count, picture, surface_of, words};

/// Writes the report: what there is, then what is wrong with it.
pub fn write(report: &Report, file: &Path, salvage: bool, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", file.display())?;
    if report.is_session() {
        write_header(report.header.as_ref(), out)?;
        write_events(&report.digest, out)?;
        if let Some(at) = &report.at {
            writeln!(out, "\njust after event {}:", at.events().saturating_sub(1))?;
        }
        write_surface(report.view(), out)?;
        write_messages(report.view(), out)?;
    }
    if let Some(error) = &report.version {
        write_error("ANOTHER VERSION", error, file, out)?;
    }
    if let Some(error) = report.damage() {
        let title = if report.is_session() { "DAMAGED" } else { "NOT READABLE" };
        write_error(title, error, file, out)?;
    }
    if let Some(torn) = report.torn() {
        write_torn(torn, file, out)?;
    }
    write_hidden(report.digest.hidden_messages(), out)?;
    write_closers(report, out)?;
    write_pairing(&report.pairing, out)?;
    write_violations(&report.digest, out)?;
    if salvage && report.is_session() {
        write_salvage(report, out)?;
    }
    if report.findings().is_empty() {
        writeln!(out, "\nclean")?;
    }
    Ok(())
}

fn write_header(header: Option<&Header>, out: &mut impl Write) -> io::Result<()> {
    let Some(header) = header else {
        return writeln!(out, "no session yet: there is no complete header line");
    };
    let text = |value: Option<Json<'_>>| value.map(|v| visible(v.text())).unwrap_or_default();
    let created = header.created_at().unwrap_or_default();
    writeln!(
        out,
        "session {}, version {}, created at {created} (Unix ms)",
        text(header.id()),
        text(header.version()),
    )?;
    if let Some(cwd) = header.cwd() {
        writeln!(out, "  in {}", visible(&cwd.to_string()))?;
    }
    if let Some(parent) = header.parent_session() {
        writeln!(out, "  fork of {}", visible(&parent.to_string()))?;
    }
    Ok(())
}

fn write_events(digest: &Digest, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\n{}", count(digest.events(), "event"))?;
    for (name, events) in digest.types() {
        writeln!(out, "{events:>9}  {}", visible(name))?;
    }
    Ok(())
}

fn write_surface(digest: &Digest, out: &mut impl Write) -> io::Result<()> {
    if !digest.has_surface() {
        return writeln!(out, "\nno surface: no event carries a `surfaceOp`");
    }
    let nodes = digest.surface().len() as u64;
    writeln!(out, "\nsurface: {}", count(nodes, "node"))?;
    writeln!(out, "{:>9} {:>9}  {:<19} first words", "position", "seq", "type")?;
    for (position, node) in digest.nodes().enumerate() {
        let Node { event, shadows } = node;
        let name = visible(&event.event_type());
        let said = words::of_event(&digest.contract(), event);
        writeln!(out, "{position:>9} {:>9}  {name:<19} {said}", event.seq().get())?;
        if !shadows.is_empty() {
            writeln!(out, "{:>21} shadows {}", "", seqs(shadows))?;
        }
    }
    Ok(())
}

fn write_messages(digest: &Digest, out: &mut impl Write) -> io::Result<()> {
    let messages: Vec<Message<'_>> = digest.messages().collect();
    writeln!(out, "\nmessages: {}", messages.len())?;
    for (position, message) in messages.iter().enumerate() {
        let role = message.role().as_str();
        writeln!(out, "{position:>9}  {role:<9} {}", words::of_message(message))?;
    }
    Ok(())
}

fn write_hidden(hidden: u64, out: &mut impl Write) -> io::Result<()> {
    if hidden == 0 {
        return Ok(());
    }
    let hidden = count(hidden, "message event");
    writeln!(out, "\nHISTORY IS INVISIBLE  legacy/mixed: {hidden} give no message")?;
    writeln!(
        out,
        "  They carry no `surfaceOp` in a log that has a surface, so a model sees none."
    )?;
    writeln!(out, "  what happened  A marker was written into a session that had none before.")?;
    writeln!(out, "  what to do     Continue from a fork of the events before the first marker.")
}

fn write_closers(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let closers: &[Event] = &report.closers;
    if closers.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nOPEN TURN  a repair would append {}", count(closers.len() as u64, "event"))?;
    for closer in closers {
        let data = closer.data();
        let text = |key: &str| {
            let value = data.get(key).map(|value| format!(" {key} {}", visible(value.text())));
            value.unwrap_or_default()
        };
        let named = ["callId", "turn", "step"].map(text).concat();
        let cites = closer.sources_text().map(|list| format!(" cites {list}")).unwrap_or_default();
        writeln!(out, "{:>9}  {}{named}{cites}", closer.seq(), closer.event_type())?;
    }
    if report.damage().is_some() {
        // No harness opens a damaged file, and the turn may have ended behind the damage.
        writeln!(out, "  what happened  The events that can be read end inside a turn.")?;
        return writeln!(out, "  what to do     First see to the damage above.");
    }
    writeln!(out, "  what happened  The turn was interrupted, or it is still running.")?;
    writeln!(
        out,
        "  what to do     Nothing: a harness that opens the session appends these events."
    )
}

fn write_pairing(findings: &[Finding], out: &mut impl Write) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nA PROVIDER MAY REFUSE THE MESSAGES")?;
    for Finding { seq, code, message } in findings {
        writeln!(out, "{seq:>9}  {code}: {}", first_words(message, 160))?;
    }
    let mut codes: Vec<PairingCode> = findings.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        writeln!(out, "  {code}")?;
        writeln!(out, "    what happened  {}", advice::why_refused(code))?;
        writeln!(out, "    what to do     {}", advice::what_to_send(code))?;
    }
    Ok(())
}

fn write_violations(digest: &Digest, out: &mut impl Write) -> io::Result<()> {
    const SHOWN: usize = 20;
    let violations = digest.violations();
    if violations.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nINVARIANTS  {}", count(digest.violation_count(), "violation"))?;
    for Violation { seq, code, message } in violations.iter().take(SHOWN) {
        writeln!(out, "{seq:>9}  {code}: {}", first_words(message, 160))?;
    }
    let left = digest.violation_count().saturating_sub(SHOWN as u64);
    if left > 0 { writeln!(out, "{:>9}  and {left} more", "") } else { Ok(()) }
}

fn write_torn(torn: &Torn, file: &Path, out: &mut impl Write) -> io::Result<()> {
    let Torn { bytes, kept_bytes } = torn;
    writeln!(out, "\nTORN TAIL  {} behind byte {kept_bytes}", count(*bytes, "byte"))?;
    write_picture(file, *kept_bytes, out)?;
    writeln!(out, "  what happened  The last write was cut off, by a crash or a full disk.")?;
    writeln!(
        out,
        "  what to do     Nothing: a harness that opens the session sets these bytes aside."
    )
}

fn write_error(
    title: &str,
    error: &FileError,
    file: &Path,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "\n{title}  {error}")?;
    let at = error.byte_offset + error.fault.at() as u64;
    write_picture(file, at, out)?;
    writeln!(out, "  what happened  {}", advice::what_happened(&error.fault))?;
    writeln!(out, "  what to do     {}", advice::what_to_do(error))
}

/// A file that cannot be read again, such as a pipe, has no picture.
fn write_picture(file: &Path, offset: u64, out: &mut impl Write) -> io::Result<()> {
    let Ok(picture) = picture::of_file(file, offset) else { return Ok(()) };
    writeln!(out, "  at byte {offset}")?;
    picture.lines().try_for_each(|line| writeln!(out, "    {line}"))
}

fn write_salvage(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let events = count(report.digest.events(), "event");
    writeln!(out, "\nsalvage: {events}, surface {:?}", surface_of(&report.digest))?;
    match (report.damage(), report.torn()) {
        (Some(error), _) => writeln!(out, "  stops at {error}"),
        (None, Some(torn)) => writeln!(out, "  stops at byte {}: a torn tail", torn.kept_bytes),
        (None, None) => writeln!(out, "  stops at the end of the file"),
    }
}

/// A list of seqs, cut where it gets long.
fn seqs(all: &[Seq]) -> String {
    const MOST: usize = 12;
    let shown: Vec<String> = all.iter().take(MOST).map(Seq::to_string).collect();
    let rest = all.len().saturating_sub(MOST);
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}

/// A type's name without anything that a terminal would obey.
fn visible(name: &str) -> String {
    first_words(name, 64)
}
