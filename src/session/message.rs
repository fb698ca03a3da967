//! Messages, derived from the log without copying a payload.

use std::borrow::Cow;
use std::fmt::Write;

use super::manager::Surface;
use super::payload::{self, Payload};
use super::projection::Projections;
use super::repair::Named;
use super::slots::Nodes;
use crate::spec::{Contract, Event, Json, Kind, Seq};

/// Who a message speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `user`
    User,
    /// `assistant`
    Assistant,
}

impl Role {
    /// The word in the message.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }
}

/// A message, borrowed from the event that it is derived from. Clauses `message.*`.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    seq: Seq,
    payload: Payload<'a>,
}

impl<'a> Message<'a> {
    /// The message of an event, whether or not it stands on a surface. `None` for a payload that
    /// lacks what is read of it (clause `data.malformed-is-silent`), and for an event type that
    /// makes no message, unless a projection is registered for it (clause `message.projection`).
    pub fn of(
        contract: &Contract,
        projections: &Projections,
        event: &'a Event,
    ) -> Option<Message<'a>> {
        let payload = match payload::read(contract, event).ok()? {
            Some(payload) => payload,
            None => Payload::Projected(projections.project(event)?),
        };
        Some(Message { seq: event.seq(), payload })
    }

    /// The event.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// The role.
    pub fn role(&self) -> Role {
        match &self.payload {
            Payload::Assistant { .. } => Role::Assistant,
            Payload::User { .. } | Payload::ToolResult { .. } | Payload::Tagged { .. } => {
                Role::User
            }
            Payload::Projected(projected) => projected.role(),
        }
    }

    /// The event's own `content`, without what the message puts around it.
    pub fn inner_content(&self) -> Json<'_> {
        match &self.payload {
            Payload::User { content }
            | Payload::Assistant { content, .. }
            | Payload::ToolResult { content, .. }
            | Payload::Tagged { content, .. } => *content,
            Payload::Projected(projected) => projected.content(),
        }
    }

    /// The ids of the calls that an assistant message makes, in order. Clause `repair.calls`.
    pub fn calls(&self) -> impl Iterator<Item = Json<'a>> + use<'a> {
        let content = match self.payload {
            Payload::Assistant { content, .. } => Some(content),
            _ => None,
        };
        let blocks = content.and_then(Json::elements).into_iter().flatten();
        let calls = blocks.filter(|block| block.get("type").is_some_and(|t| t.is_str("tool-call")));
        calls.filter_map(|call| call.get("id").filter(|id| id.kind() == Kind::String))
    }

    /// The id of the call that a result answers. Clause `repair.answers`.
    pub fn answers(&self) -> Option<Json<'a>> {
        match self.payload {
            Payload::ToolResult { call_id, .. } => Some(call_id),
            _ => None,
        }
    }

    /// Whether an assistant or a tool speaks.
    pub(super) fn is_call_or_result(&self) -> bool {
        matches!(self.payload, Payload::Assistant { .. } | Payload::ToolResult { .. })
    }

    /// The turn and the step that an assistant message names.
    pub(super) fn named(&self) -> Named {
        match self.payload {
            Payload::Assistant { turn, step, .. } => Named { turn: Some(turn), step: Some(step) },
            _ => Named::default(),
        }
    }

    /// Every string in the message that comes from the event, keys too.
    pub(super) fn strings(&self) -> impl Iterator<Item = Json<'_>> {
        self.answers().into_iter().chain(self.inner_content().strings())
    }

    /// Appends the message as JSON, `{"role":…,"content":[…]}`, payload text as it was written.
    pub fn write_json(&self, out: &mut String) {
        out.push_str("{\"role\":\"");
        out.push_str(self.role().as_str());
        out.push_str("\",\"content\":");
        self.write_content(out);
        out.push('}');
    }

    /// The message as JSON.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_content(&self, out: &mut String) {
        match &self.payload {
            Payload::User { content } | Payload::Assistant { content, .. } => {
                out.push_str(content.text());
            }
            Payload::Projected(projected) => out.push_str(projected.content().text()),
            Payload::ToolResult { call_id, content, is_error } => {
                out.push_str("[{\"type\":\"tool-result\",\"toolCallId\":");
                out.push_str(call_id.text());
                out.push_str(",\"content\":");
                out.push_str(content.text());
                out.push_str(",\"isError\":");
                out.push_str(if *is_error { "true" } else { "false" });
                out.push_str("}]");
            }
            Payload::Tagged { tag, kind, content } => {
                out.push_str("[{\"type\":\"text\",\"text\":\"<");
                out.push_str(tag);
                out.push_str(" source=");
                escape_again(&source_kind(*kind), out);
                out.push_str(">\"},");
                let blocks = inside(*content);
                out.push_str(blocks);
                if !blocks.is_empty() {
                    out.push(',');
                }
                out.push_str("{\"type\":\"text\",\"text\":\"</");
                out.push_str(tag);
                out.push_str(">\"}]");
            }
        }
    }
}

/// What stands between the brackets of an array.
fn inside(array: Json<'_>) -> &str {
    let inner = array.text().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.unwrap_or_default().trim_ascii()
}

/// `source.kind` in its one spelling. Clause `message.source-kind`.
fn source_kind(kind: Json<'_>) -> Cow<'_, str> {
    if !kind.text().contains('\\') {
        return Cow::Borrowed(kind.text());
    }
    let wtf8 = kind.as_wtf8().unwrap_or_default();
    let mut rest: &[u8] = &wtf8;
    let mut spelled = String::from("\"");
    while !rest.is_empty() {
        let surrogate = rest.windows(3).position(is_surrogate);
        let (text, tail) =
            rest.split_at_checked(surrogate.unwrap_or(rest.len())).unwrap_or((rest, &[]));
        std::str::from_utf8(text).unwrap_or_default().chars().for_each(|c| escape(c, &mut spelled));
        if let [_, middle, last, ..] = tail {
            let unit = 0xD000 | (u32::from(middle & 0x3F) << 6) | u32::from(last & 0x3F);
            let _ = write!(spelled, "\\u{unit:04x}");
        }
        rest = tail.get(3..).unwrap_or_default();
    }
    spelled.push('"');
    Cow::Owned(spelled)
}

/// Whether three bytes of WTF-8 are a lone surrogate.
fn is_surrogate(bytes: &[u8]) -> bool {
    matches!(bytes, [0xED, 0xA0..=0xBF, _])
}

fn escape(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\t' => out.push_str("\\t"),
        '\n' => out.push_str("\\n"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        '\0'..='\u{1f}' => {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
        _ => out.push(c),
    }
}

/// A text that holds quotes and backslashes, but nothing else to escape, inside a JSON string.
fn escape_again(text: &str, out: &mut String) {
    text.chars().for_each(|c| escape(c, out));
}

/// The messages of a log, in order. Clauses `message.order`, `message.fallback`, `message.mixed`.
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    contract: Contract,
    projections: &'a Projections,
    log: &'a [Event],
    source: Source<'a>,
}

#[derive(Clone, Debug)]
enum Source<'a> {
    Nodes(Nodes<'a>),
    Log(std::slice::Iter<'a, Event>),
}

impl<'a> Messages<'a> {
    /// The messages of `log`: those of the surface's nodes if the log has one, else of all events.
    pub(super) fn of(
        contract: Contract,
        projections: &'a Projections,
        log: &'a [Event],
        surface: Option<Surface<'a>>,
    ) -> Self {
        let source = match surface {
            Some(surface) => Source::Nodes(surface.iter()),
            None => Source::Log(log.iter()),
        };
        Messages { contract, projections, log, source }
    }

    fn next_event(&mut self) -> Option<&'a Event> {
        match &mut self.source {
            Source::Nodes(nodes) => self.log.get(nodes.next()?.index()),
            Source::Log(events) => events.next(),
        }
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Message<'a>;

    fn next(&mut self) -> Option<Message<'a>> {
        loop {
            let event = self.next_event()?;
            if let Some(message) = Message::of(&self.contract, self.projections, event) {
                return Some(message);
            }
        }
    }
}
