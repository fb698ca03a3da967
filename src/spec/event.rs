//! `Event` and `Draft`: one line of a log, and one that is still to be given its place.

use std::borrow::Cow;
use std::fmt::{self, Write};

use serde::Serialize;

use super::json::{Json, JsonLine, Kind, MAX_INTEGER, value_at};
use super::refusal::{Refusal, RefusalCode};
use super::seq::Seq;

/// How an event enters the surface. Clause `op.shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceOp {
    /// The event becomes a node at the tail.
    Append,
    /// The nodes from `start` through `end`, both included and in surface order, leave the
    /// surface, and the event takes their place.
    Replace {
        /// The first node of the range.
        start: Seq,
        /// The last node of the range.
        end: Seq,
    },
}

impl SurfaceOp {
    /// The operation that a JSON value spells, if it is exactly one of the two shapes.
    pub fn from_json(value: Json<'_>) -> Option<SurfaceOp> {
        if value.is_str("append") {
            return Some(SurfaceOp::Append);
        }
        let (mut op, mut start, mut end, mut count) = (None, None, None, 0);
        for (key, value) in value.entries()? {
            count += 1;
            match key.as_str().as_deref() {
                Some("op") => op = Some(value),
                Some("start") => start = Some(value),
                Some("end") => end = Some(value),
                _ => return None,
            }
        }
        // Three entries with these three keys: each is there once.
        let is_replace = op?.is_str("replace") && count == 3;
        let (start, end) = (Seq::from_json(start?)?, Seq::from_json(end?)?);
        is_replace.then_some(SurfaceOp::Replace { start, end })
    }

    /// The JSON text of the operation.
    pub fn to_json(self) -> String {
        match self {
            SurfaceOp::Append => "\"append\"".to_owned(),
            SurfaceOp::Replace { start, end } => {
                format!(r#"{{"op":"replace","start":{start},"end":{end}}}"#)
            }
        }
    }
}

/// A field that may be absent, and may be there in a shape that the contract does not know.
/// `null` is malformed, not absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<T> {
    /// The key is not there.
    Absent,
    /// The key is there with a value of the right shape.
    Given(T),
    /// The key is there with something else.
    Malformed,
}

/// What the text of an event says of its `surfaceOp`, without the seqs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpKind {
    Absent,
    Append,
    Replace,
    Malformed,
}

/// A part of a text, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u32,
    length: u32,
}

impl Span {
    fn of(part: Json<'_>, text: &str) -> Span {
        let start = part.text().as_ptr() as usize - text.as_ptr() as usize;
        Span { start: start as u32, length: part.text().len() as u32 }
    }

    fn end(self) -> usize {
        self.start as usize + self.length as usize
    }

    fn within(self, text: &str) -> Json<'_> {
        Json::known(text.get(self.start as usize..self.end()).unwrap_or("null"))
    }

    fn shifted(self, from: usize, by: u32) -> Span {
        let start = if self.start as usize >= from { self.start + by } else { self.start };
        Span { start, ..self }
    }
}

/// Where the parts of an event stand in its text. A position of 0 says that a part is absent.
#[derive(Clone, Copy, Debug)]
struct Parts {
    event_type: Span,
    data: Span,
    time: u32,
    op: u32,
    sources: u32,
    op_kind: OpKind,
    sources_malformed: bool,
}

/// What a pass over the text of an event finds at the known keys.
#[derive(Default)]
struct Found<'a> {
    event_type: Option<Json<'a>>,
    seq: Option<Json<'a>>,
    time: Option<Json<'a>>,
    data: Option<Json<'a>>,
    sources: Option<Json<'a>>,
    op: Option<Json<'a>>,
    twice: Option<&'static str>,
}

/// The longest text of an event, in bytes: positions in it are 32 bits wide.
const LONGEST: usize = u32::MAX as usize / 2;

/// One event of a log: its text and where the parts stand in it. Clauses `event.shape`,
/// `event.lossless`.
///
/// The text is kept as it came, so an event that is written back is the same bytes. A clone
/// counts a reference and copies no text.
///
/// ```
/// use session_surface::spec::{Event, Field, SurfaceOp};
///
/// let line = r#"{ "seq":0, "type":"user/message", "time":17, "data":{"n":1.0}, "surfaceOp":"append" }"#;
/// let event = Event::parse(line)?;
/// assert_eq!(event.text(), line);
/// assert_eq!(event.event_type(), "user/message");
/// assert_eq!(event.data().text(), r#"{"n":1.0}"#);
/// assert_eq!(event.surface_op(), Field::Given(SurfaceOp::Append));
/// # Ok::<(), session_surface::spec::Refusal>(())
/// ```
#[derive(Clone)]
pub struct Event {
    line: JsonLine,
    seq: Seq,
    parts: Parts,
}

impl Event {
    /// The event that a line holds, which is kept as [`JsonLine::parse`] says.
    ///
    /// # Errors
    /// `event/malformed` where the line is no event, or lacks `seq` or `time`; the refusal names
    /// the field. Malformed `surfaceOp` and `sourceEventSeqs` are no fault of the event's shape:
    /// they are refused by whoever is offered the event.
    pub fn parse(line: &str) -> Result<Event, Refusal> {
        Event::of(json_line(line)?)
    }

    /// The event that a JSON value is.
    ///
    /// # Errors
    /// As [`Event::parse`].
    pub fn of(line: JsonLine) -> Result<Event, Refusal> {
        let found = find(&line)?;
        let seq = required("seq", found.seq)?;
        let seq = Seq::from_json(seq)
            .ok_or_else(|| malformed("seq", "an integer from 0 to 2^53-1", seq.text()))?;
        let time = required("time", found.time)?;
        if time.as_integer().is_none() {
            return Err(malformed("time", "an integer within ±(2^53-1)", time.text()));
        }
        let parts = Parts::of(&found, line.text())?;
        Ok(Event { line, seq, parts })
    }

    /// The text, as it was read.
    pub fn text(&self) -> &str {
        self.line.text()
    }

    /// The position in the log.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    /// When it was appended, in Unix milliseconds. It orders nothing.
    pub fn time(&self) -> i64 {
        value_in(&self.line, self.parts.time).as_integer().unwrap_or_default()
    }

    /// The type, `family/name`. A type that holds a lone surrogate is given as it is spelled.
    pub fn event_type(&self) -> Cow<'_, str> {
        type_name(self.parts.event_type.within(self.line.text()))
    }

    /// The payload.
    pub fn data(&self) -> Json<'_> {
        self.parts.data.within(self.line.text())
    }

    /// Whether the event carries a `surfaceOp`, well-formed or not.
    pub fn is_marked(&self) -> bool {
        self.parts.op_kind != OpKind::Absent
    }

    /// Whether the event enters the surface at its tail.
    pub fn is_append(&self) -> bool {
        self.parts.op_kind == OpKind::Append
    }

    /// How the event enters the surface.
    pub fn surface_op(&self) -> Field<SurfaceOp> {
        match self.parts.op_kind {
            OpKind::Absent => Field::Absent,
            OpKind::Append => Field::Given(SurfaceOp::Append),
            OpKind::Malformed => Field::Malformed,
            OpKind::Replace => SurfaceOp::from_json(value_in(&self.line, self.parts.op))
                .map_or(Field::Malformed, Field::Given),
        }
    }

    /// The text of `surfaceOp`, if it is there.
    pub fn surface_op_text(&self) -> Option<&str> {
        (self.parts.op > 0).then(|| value_in(&self.line, self.parts.op).text())
    }

    /// The seqs that the event cites as its sources.
    pub fn sources(&self) -> Field<Vec<Seq>> {
        match (self.parts.sources, self.parts.sources_malformed) {
            (0, _) => Field::Absent,
            (_, true) => Field::Malformed,
            (at, false) => seqs(value_in(&self.line, at)).map_or(Field::Malformed, Field::Given),
        }
    }

    /// Whether `sourceEventSeqs` is there and is no array of seqs.
    pub fn has_malformed_sources(&self) -> bool {
        self.parts.sources_malformed
    }

    /// The text of `sourceEventSeqs`, if it is there.
    pub fn sources_text(&self) -> Option<&str> {
        (self.parts.sources > 0).then(|| value_in(&self.line, self.parts.sources).text())
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.line == other.line
    }
}

impl Eq for Event {}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// An event that is offered to a session, without `seq` and `time`: the session gives them.
/// Clause `event.offered`.
///
/// ```
/// use serde_json::json;
/// use session_surface::spec::{Draft, Seq, SurfaceOp};
///
/// let summary = Draft::new("user/message", &json!({"content": [], "source": {"kind": "user"}}))?
///     .replace(Seq::ZERO, Seq::ZERO)
///     .citing(&[Seq::ZERO]);
/// let event = summary.stamp(Seq::from_index(3), 1_760_000_000_000);
/// assert_eq!(event.seq().get(), 3);
/// assert_eq!(event.time(), 1_760_000_000_000);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Draft {
    line: JsonLine,
    parts: Parts,
}

impl Draft {
    /// A draft of this type and payload, which carries no operation and no sources.
    ///
    /// # Errors
    /// What `data` says when it cannot be serialised.
    pub fn new(event_type: &str, data: &impl Serialize) -> Result<Draft, serde_json::Error> {
        Ok(Draft::of_parts(event_type, &JsonLine::parse(&serde_json::to_string(data)?)?))
    }

    /// A draft of this type with this text as its payload.
    pub fn of_parts(event_type: &str, data: &JsonLine) -> Draft {
        let event_type = serde_json::Value::from(event_type).to_string();
        let data = data.json().text();
        let text = format!(r#"{{"type":{event_type},"data":{data}}}"#);
        let span =
            |start: usize, length: usize| Span { start: start as u32, length: length as u32 };
        let parts = Parts {
            event_type: span(r#"{"type":"#.len(), event_type.len()),
            data: span(text.len() - 1 - data.len(), data.len()),
            time: 0,
            op: 0,
            sources: 0,
            op_kind: OpKind::Absent,
            sources_malformed: false,
        };
        Draft { line: JsonLine::known(&text), parts }
    }

    /// The same, entering at the tail of the surface.
    pub fn append(self) -> Draft {
        self.marked(SurfaceOp::Append)
    }

    /// The same, taking the place of the nodes from `start` through `end`.
    pub fn replace(self, start: Seq, end: Seq) -> Draft {
        self.marked(SurfaceOp::Replace { start, end })
    }

    /// The same, entering the surface by this operation.
    pub fn marked(mut self, op: SurfaceOp) -> Draft {
        let at = self.with_field("surfaceOp", &op.to_json(), self.parts.op);
        self.parts.op = at;
        self.parts.op_kind = kind_of(op);
        self
    }

    /// The same, citing these events as its sources.
    pub fn citing(mut self, sources: &[Seq]) -> Draft {
        let list: Vec<String> = sources.iter().map(Seq::to_string).collect();
        let list = format!("[{}]", list.join(","));
        let at = self.with_field("sourceEventSeqs", &list, self.parts.sources);
        self.parts.sources = at;
        self.parts.sources_malformed = false;
        self
    }

    /// The draft that a text holds, which is kept as [`JsonLine::parse`] says.
    ///
    /// # Errors
    /// `event/malformed` where the text is no event, or carries `seq` or `time`.
    pub fn parse(text: &str) -> Result<Draft, Refusal> {
        Draft::of(json_line(text)?)
    }

    /// The draft that a JSON value is.
    ///
    /// # Errors
    /// As [`Draft::parse`].
    pub fn of(line: JsonLine) -> Result<Draft, Refusal> {
        let found = find(&line)?;
        for (name, value) in [("seq", found.seq), ("time", found.time)] {
            if let Some(value) = value {
                let expected = "no such key in an event that is offered: the session gives it";
                return Err(malformed(name, expected, value.text()));
            }
        }
        let parts = Parts::of(&found, line.text())?;
        Ok(Draft { line, parts })
    }

    /// The text, without `seq` and `time`.
    pub fn text(&self) -> &str {
        self.line.text()
    }

    /// The event that the draft becomes at this place and time. `seq` and `time` stand behind the
    /// type; nothing else of the text changes. A time beyond ±(2^53−1) is cut to that.
    pub fn stamp(&self, seq: Seq, time: i64) -> Event {
        let time = time.clamp(-MAX_INTEGER, MAX_INTEGER);
        let cut = self.parts.event_type.end();
        let (head, tail) = self.text().split_at_checked(cut).unwrap_or((self.text(), ""));
        let mut text = String::with_capacity(self.text().len() + 56);
        text.push_str(head);
        text.push_str(",\"seq\":");
        // Writing to a string does not fail.
        let _ = write!(text, "{seq}");
        text.push_str(",\"time\":");
        let time_at = text.len() as u32;
        let _ = write!(text, "{time}");
        let by = (text.len() - cut) as u32;
        text.push_str(tail);
        let parts = Parts { time: time_at, ..self.parts.shifted(cut, by) };
        Event { line: JsonLine::known(&text), seq, parts }
    }

    /// Appends a field, or sets it where it stands, and gives the position of its value.
    fn with_field(&mut self, name: &str, value: &str, at: u32) -> u32 {
        let mut text = self.text().to_owned();
        let at = if at > 0 {
            let start = at as usize;
            let old = value_in(&self.line, at).text().len();
            text.replace_range(start..start + old, value);
            let by = (value.len() as u32).wrapping_sub(old as u32);
            let moved =
                |position: u32| if position > at { position.wrapping_add(by) } else { position };
            let parts = &mut self.parts;
            parts.event_type.start = moved(parts.event_type.start);
            parts.data.start = moved(parts.data.start);
            parts.op = moved(parts.op);
            parts.sources = moved(parts.sources);
            at
        } else {
            let end = text.rfind('}').unwrap_or(text.len());
            let field = format!(",\"{name}\":{value}");
            text.insert_str(end, &field);
            (end + field.len() - value.len()) as u32
        };
        self.line = JsonLine::known(&text);
        at
    }
}

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Parts {
    fn of(found: &Found<'_>, text: &str) -> Result<Parts, Refusal> {
        let event_type = required("type", found.event_type)?;
        if event_type.kind() != Kind::String {
            return Err(malformed("type", "a string", event_type.text()));
        }
        let data = required("data", found.data)?;
        let start = |part: Option<Json<'_>>| part.map_or(0, |part| Span::of(part, text).start);
        Ok(Parts {
            event_type: Span::of(event_type, text),
            data: Span::of(data, text),
            time: start(found.time),
            op: start(found.op),
            sources: start(found.sources),
            op_kind: found.op.map_or(OpKind::Absent, |op| {
                SurfaceOp::from_json(op).map_or(OpKind::Malformed, kind_of)
            }),
            sources_malformed: found.sources.is_some_and(|sources| !is_seqs(sources)),
        })
    }

    fn shifted(self, from: usize, by: u32) -> Parts {
        let moved =
            |position: u32| if position as usize >= from { position + by } else { position };
        Parts {
            event_type: self.event_type.shifted(from, by),
            data: self.data.shifted(from, by),
            op: moved(self.op),
            sources: moved(self.sources),
            ..self
        }
    }
}

impl<'a> Found<'a> {
    /// The place of a known key, with its name.
    fn place(&mut self, key: Json<'a>) -> Option<(&'static str, &mut Option<Json<'a>>)> {
        match key.as_str().as_deref()? {
            "type" => Some(("type", &mut self.event_type)),
            "seq" => Some(("seq", &mut self.seq)),
            "time" => Some(("time", &mut self.time)),
            "data" => Some(("data", &mut self.data)),
            "surfaceOp" => Some(("surfaceOp", &mut self.op)),
            "sourceEventSeqs" => Some(("sourceEventSeqs", &mut self.sources)),
            _ => None,
        }
    }

    fn take(&mut self, key: Json<'a>, value: Json<'a>) {
        let twice = match self.place(key) {
            Some((name, place)) => place.replace(value).map(|_| name),
            None => None,
        };
        self.twice = self.twice.or(twice);
    }
}

/// Reads the known keys of the object that a line must be.
fn find(line: &JsonLine) -> Result<Found<'_>, Refusal> {
    if line.text().len() > LONGEST {
        let length = format!("{} bytes", line.text().len());
        return Err(malformed("event", "at most 2 GiB of text", &length));
    }
    let Some(entries) = line.json().entries() else {
        return Err(malformed("event", "a JSON object", line.json().text()));
    };
    let mut found = Found::default();
    entries.for_each(|(key, value)| found.take(key, value));
    match found.twice {
        Some(name) => Err(malformed(name, "the key once", "the key twice")),
        None => Ok(found),
    }
}

fn json_line(text: &str) -> Result<JsonLine, Refusal> {
    JsonLine::parse(text).map_err(|error| {
        let found = format!("{error}: {}", text.trim_start());
        malformed("event", "one JSON object", &found)
    })
}

fn required<'a>(name: &'static str, value: Option<Json<'a>>) -> Result<Json<'a>, Refusal> {
    value.ok_or_else(|| malformed(name, "the key", "no such key"))
}

fn malformed(field: &'static str, expected: &'static str, found: &str) -> Refusal {
    Refusal::new(RefusalCode::EventMalformed, field, expected, found)
}

fn kind_of(op: SurfaceOp) -> OpKind {
    match op {
        SurfaceOp::Append => OpKind::Append,
        SurfaceOp::Replace { .. } => OpKind::Replace,
    }
}

fn type_name(event_type: Json<'_>) -> Cow<'_, str> {
    event_type.as_str().unwrap_or_else(|| Cow::Borrowed(event_type.text().trim_matches('"')))
}

/// The value that starts at this position of a line.
fn value_in(line: &JsonLine, at: u32) -> Json<'_> {
    value_at(line.text(), at as usize)
}

fn is_seqs(sources: Json<'_>) -> bool {
    sources.elements().is_some_and(|mut all| all.all(|element| Seq::from_json(element).is_some()))
}

fn seqs(sources: Json<'_>) -> Option<Vec<Seq>> {
    sources.elements()?.map(Seq::from_json).collect()
}
