//! What the model reads in the text of an event, and the message that it writes from it.

use crate::spec::clause::*;
use crate::spec::{Clause, Contract, Json, Kind};

/// The values of the known keys, in the order of `NAMES`.
pub type Fields<'e> = [Option<Json<'e>>; 6];
const NAMES: [&str; 6] = ["type", "data", "seq", "time", "surfaceOp", "sourceEventSeqs"];

/// What stands at the known keys, or the clause by which the text is no event.
/// Clauses `event.shape`, `event.duplicate-key`, `event.offered`, `event.unknown-fields`.
pub fn fields(event: Json<'_>, seeded: bool) -> Result<Fields<'_>, Clause> {
    let (mut fields, mut twice) = ([None; 6], false);
    for (key, value) in event.entries().ok_or(EVENT_SHAPE)? {
        let field = NAMES.iter().zip(&mut fields).find(|(name, _)| key.is_str(name));
        twice |= field.is_some_and(|(_, field)| field.replace(value).is_some());
    }
    let [event_type, data, at, time, ..] = fields;
    let placed = at.and_then(seq).is_some() && time.and_then(Json::as_integer).is_some();
    match event_type.filter(is_string).and(data) {
        _ if twice => Err(EVENT_DUPLICATE_KEY),
        Some(_) if seeded && placed => Ok(fields),
        Some(_) if !seeded && at.or(time).is_none() => Ok(fields),
        Some(_) if !seeded => Err(EVENT_OFFERED),
        _ => Err(EVENT_SHAPE),
    }
}

/// The text of an offered event at its seq, with 0 for the time, which the model does not know.
pub fn placed(event: Json<'_>, seq: u64) -> String {
    let open = event.text().strip_suffix('}').unwrap_or_default();
    format!(r#"{open},"seq":{seq},"time":0}}"#)
}

/// Clause `event.shape`.
pub fn is_string(value: &Json<'_>) -> bool {
    value.kind() == Kind::String
}

/// Clause `event.integer`.
pub fn seq(value: Json<'_>) -> Option<u64> {
    u64::try_from(value.as_integer()?).ok()
}

/// Without sources nothing is covered. Clauses `sources.shape`, `replace.coverage`.
pub fn sources(value: Option<Json<'_>>) -> Option<Vec<u64>> {
    value.map_or(Some(Vec::new()), |value| value.elements()?.map(seq).collect())
}

/// How an event enters the surface. Clause `op.shape`.
pub enum Op {
    Append,
    Replace { start: u64, end: u64 },
}

/// An object of three entries that has these three keys has each once and no other.
/// Clause `op.shape`.
pub fn op(value: Json<'_>) -> Option<Op> {
    if value.is_str("append") {
        return Some(Op::Append);
    }
    let (start, end) = (seq(value.get("start")?)?, seq(value.get("end")?)?);
    let is_replace = value.get("op")?.is_str("replace") && value.entries()?.count() == 3;
    is_replace.then_some(Op::Replace { start, end })
}

/// The message that an event gives and the clause of its rule, or the clause of its silence.
/// Clauses `message.types`, `data.malformed-is-silent`.
pub fn message(contract: &Contract, event: &Fields<'_>) -> (Clause, Option<String>) {
    let [event_type, data, ..] = event;
    let name = event_type.and_then(Json::as_str).filter(|name| contract.makes_message(name));
    match name.map(|name| written(&name, (*data)?)) {
        None => (MESSAGE_TYPES, None),
        Some(None) => (DATA_MALFORMED_IS_SILENT, None),
        Some(Some((rule, text))) => (rule, Some(text)),
    }
}

/// The message of well-formed data, of each key the last value.
/// Clauses `data.message-fields`, `data.last-key-counts`, `message.verbatim`, `event.lossless`.
fn written(event_type: &str, data: Json<'_>) -> Option<(Clause, String)> {
    let fields: Vec<_> = data.entries()?.collect();
    let get = |name: &str| Some(fields.iter().rev().find(|(key, _)| key.is_str(name))?.1);
    let integer = |name| get(name).and_then(Json::as_integer);
    let content = get("content")?;
    let blocks: Vec<_> = content.elements()?.collect();
    if !blocks.iter().all(|block| block.get("type").is_some_and(|text| is_string(&text))) {
        return None;
    }
    let kind = || get("source")?.get("kind")?.as_wtf8();
    let tagged = |tag: &str| {
        let open = quoted(["<", tag, " source=", &quoted(&kind()?), ">"].concat().as_bytes());
        let open = [r#"{"type":"text","text":"#, &open, "}"].concat();
        let close = [r#"{"type":"text","text":"</"#, tag, r#">"}"#].concat();
        let blocks = blocks.iter().map(|block| block.text());
        let blocks = [open.as_str()].into_iter().chain(blocks).chain([close.as_str()]);
        Some(["[", &blocks.collect::<Vec<_>>().join(","), "]"].concat())
    };
    let result = || {
        let (call, error) = (get("callId").filter(is_string)?, get("isError")?);
        let head = format!(r#"{{"type":"tool-result","toolCallId":{call},"content":{content}"#);
        Some(format!(r#"[{head},"isError":{}}}]"#, error.as_bool()?))
    };
    let verbatim = || Some(content.text().to_owned());
    let (turn, step) = (integer("turn"), integer("turn").and(integer("step")));
    let (rule, role, content) = match event_type {
        "user/message" => (MESSAGE_USER, "user", kind().and_then(|_| verbatim())),
        "assistant/message" => (MESSAGE_ASSISTANT, "assistant", step.and_then(|_| verbatim())),
        "tool/result" => (MESSAGE_TOOL_RESULT, "user", step.and_then(|_| result())),
        "context/message" => (MESSAGE_CONTEXT, "user", tagged("context")),
        "steering/message" => (MESSAGE_STEERING, "user", turn.and_then(|_| tagged("steering"))),
        _ => return None,
    };
    let content = content?;
    Some((rule, [r#"{"role":""#, role, r#"","content":"#, &content, "}"].concat()))
}

/// A JSON string with the fewest escapes. WTF-8 writes a lone surrogate as three bytes of which
/// the first is 0xED and the others hold its lower bits. Clause `message.source-kind`.
fn quoted(wtf8: &[u8]) -> String {
    let mut text = String::from("\"");
    for code_point in wtf8.chunk_by(|_, next| next & 0xC0 == 0x80) {
        match *code_point {
            [byte @ (b'"' | b'\\')] => text.extend(['\\', char::from(byte)]),
            [0x08] => text += r"\b",
            [b'\t'] => text += r"\t",
            [b'\n'] => text += r"\n",
            [0x0C] => text += r"\f",
            [b'\r'] => text += r"\r",
            [control @ 0..0x20] => text += &format!("\\u{control:04x}"),
            [0xED, high @ 0xA0..=0xBF, low] => {
                text += &format!("\\ud{:03x}", u16::from(high & 0x3F) << 6 | u16::from(low & 0x3F));
            }
            [byte @ 0..0x80] => text.push(char::from(byte)),
            _ => text += &String::from_utf8_lossy(code_point),
        }
    }
    text + "\""
}
