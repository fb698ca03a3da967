//! What is read of a message event's `data`, and what is refused when a field is missing.

use super::projection::Projected;
use crate::spec::{Contract, Event, Json, Kind, Refusal, RefusalCode};

/// A message event's payload, as far as it is read. Clause `data.message-fields`.
#[derive(Clone, Debug)]
pub(super) enum Payload<'a> {
    User { content: Json<'a> },
    Assistant { turn: i64, step: i64, content: Json<'a> },
    ToolResult { call_id: Json<'a>, content: Json<'a>, is_error: bool },
    Tagged { tag: &'static str, kind: Json<'a>, content: Json<'a> },
    Projected(Projected),
}

/// The payload of an event; `None` for an event type that makes no message.
///
/// # Errors
/// `data/malformed` where a field that is read is not as the contract says.
pub(super) fn read<'a>(
    contract: &Contract,
    event: &'a Event,
) -> Result<Option<Payload<'a>>, Refusal> {
    let event_type = event.event_type();
    if !contract.makes_message(&event_type) {
        return Ok(None);
    }
    let fields = Fields::of(event.data())?;
    let payload = match &*event_type {
        "user/message" => {
            fields.source_kind()?;
            Payload::User { content: fields.content()? }
        }
        "assistant/message" => {
            let (turn, step) = (fields.turn()?, fields.step()?);
            Payload::Assistant { turn, step, content: fields.content()? }
        }
        "tool/result" => {
            fields.turn()?;
            fields.step()?;
            let call_id = fields.call_id()?;
            let is_error = fields.is_error()?;
            Payload::ToolResult { call_id, content: fields.content()?, is_error }
        }
        "context/message" => fields.tagged("context")?,
        "steering/message" => {
            fields.turn()?;
            fields.tagged("steering")?
        }
        _ => return Ok(None),
    };
    Ok(Some(payload))
}

/// The values at the keys of `data` that are read; of a key given twice the last.
#[derive(Default)]
struct Fields<'a> {
    turn: Option<Json<'a>>,
    step: Option<Json<'a>>,
    content: Option<Json<'a>>,
    source: Option<Json<'a>>,
    call_id: Option<Json<'a>>,
    is_error: Option<Json<'a>>,
}

impl<'a> Fields<'a> {
    fn of(data: Json<'a>) -> Result<Fields<'a>, Refusal> {
        let entries = data.entries().ok_or_else(|| malformed("data", "an object", Some(data)))?;
        let mut fields = Fields::default();
        for (key, value) in entries {
            let place = match key.as_str().as_deref() {
                Some("turn") => &mut fields.turn,
                Some("step") => &mut fields.step,
                Some("content") => &mut fields.content,
                Some("source") => &mut fields.source,
                Some("callId") => &mut fields.call_id,
                Some("isError") => &mut fields.is_error,
                _ => continue,
            };
            *place = Some(value);
        }
        Ok(fields)
    }

    fn turn(&self) -> Result<i64, Refusal> {
        let turn = self.turn.and_then(Json::as_integer);
        turn.ok_or_else(|| malformed("data.turn", "an integer", self.turn))
    }

    fn step(&self) -> Result<i64, Refusal> {
        let step = self.step.and_then(Json::as_integer);
        step.ok_or_else(|| malformed("data.step", "an integer", self.step))
    }

    fn content(&self) -> Result<Json<'a>, Refusal> {
        let is_blocks =
            |content: &Json<'a>| content.elements().is_some_and(|mut all| all.all(has_type));
        let content = self.content.filter(is_blocks);
        let expected = "an array of objects that each have a string `type`";
        content.ok_or_else(|| malformed("data.content", expected, self.content))
    }

    fn source_kind(&self) -> Result<Json<'a>, Refusal> {
        let kind = self.source.and_then(|source| source.get("kind"));
        let kind = kind.filter(|kind| kind.kind() == Kind::String);
        kind.ok_or_else(|| malformed("data.source", "an object with a string `kind`", self.source))
    }

    fn call_id(&self) -> Result<Json<'a>, Refusal> {
        let call_id = self.call_id.filter(|id| id.kind() == Kind::String);
        call_id.ok_or_else(|| malformed("data.callId", "a string", self.call_id))
    }

    fn is_error(&self) -> Result<bool, Refusal> {
        let is_error = self.is_error.and_then(Json::as_bool);
        is_error.ok_or_else(|| malformed("data.isError", "a boolean", self.is_error))
    }

    fn tagged(&self, tag: &'static str) -> Result<Payload<'a>, Refusal> {
        Ok(Payload::Tagged { tag, kind: self.source_kind()?, content: self.content()? })
    }
}

fn has_type(block: Json<'_>) -> bool {
    block.get("type").is_some_and(|block_type| block_type.kind() == Kind::String)
}

fn malformed(field: &'static str, expected: &'static str, found: Option<Json<'_>>) -> Refusal {
    let found = found.map_or("no such key", Json::text);
    Refusal::new(RefusalCode::DataMalformed, field, expected, found)
}
