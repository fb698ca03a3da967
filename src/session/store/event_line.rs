//! `EventLine`: an event as its line in a file, read no further than it must be.

use std::borrow::Cow;

use super::error::Flaw;
use crate::spec::{Event, Json, Refusal, Seq};

/// An event that stands in a file, borrowed from the line that is being read.
///
/// Nearly every line of a log is a piece of a streamed answer: four fields and no mark. Such a
/// line is checked in one pass that copies nothing; see [`EventLine::is_plain`].
#[derive(Debug)]
pub struct EventLine<'a>(Form<'a>);

#[derive(Debug)]
enum Form<'a> {
    Plain { text: &'a str, event_type: &'a str, seq: Seq, time: i64, data: Json<'a> },
    Whole(Event),
}

impl<'a> EventLine<'a> {
    /// The event on a line without its line feed.
    ///
    /// # Errors
    /// What makes the bytes no event line: those that are not UTF-8, and whatever
    /// [`Event::parse`] does not accept.
    pub(super) fn read(line: &'a [u8]) -> Result<EventLine<'a>, Flaw> {
        let Ok(text) = std::str::from_utf8(line) else { return Err(Flaw::of(line)) };
        if let Some(plain) = plain(text) {
            return Ok(EventLine(plain));
        }
        match Event::parse(text) {
            Ok(event) => Ok(EventLine(Form::Whole(event))),
            Err(refusal) => Err(Flaw::of_refused(line, refusal)),
        }
    }

    /// The position in the log.
    pub fn seq(&self) -> Seq {
        match &self.0 {
            Form::Plain { seq, .. } => *seq,
            Form::Whole(event) => event.seq(),
        }
    }

    /// The type, as [`Event::event_type`] gives it.
    pub fn event_type(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Plain { event_type, .. } => Cow::Borrowed(event_type),
            Form::Whole(event) => event.event_type(),
        }
    }

    /// When it was appended, as [`Event::time`] gives it.
    pub fn time(&self) -> i64 {
        match &self.0 {
            Form::Plain { time, .. } => *time,
            Form::Whole(event) => event.time(),
        }
    }

    /// The payload.
    pub fn data(&self) -> Json<'_> {
        match &self.0 {
            Form::Plain { data, .. } => *data,
            Form::Whole(event) => event.data(),
        }
    }

    /// Whether the event is known to carry the four fields `type`, `seq`, `time` and `data` and
    /// nothing else. Such an event leaves every surface as it is.
    pub fn is_plain(&self) -> bool {
        matches!(self.0, Form::Plain { .. })
    }

    /// The event, with its line as its text.
    ///
    /// # Errors
    /// None that is known: whatever [`EventLine`] holds, [`Event::parse`] accepts.
    pub fn into_event(self) -> Result<Event, Refusal> {
        match self.0 {
            Form::Plain { text, .. } => Event::parse(text),
            Form::Whole(event) => Ok(event),
        }
    }
}

impl From<Event> for EventLine<'_> {
    fn from(event: Event) -> Self {
        EventLine(Form::Whole(event))
    }
}

/// The event on a line that spells the four fields in the order and without the spaces in which
/// `JSON.stringify` writes them. `None` says nothing: the line may still be an event.
///
/// With everything around it spelled so, the line is an event exactly where `data` is one JSON
/// value, so that is all that is left to check.
fn plain(text: &str) -> Option<Form<'_>> {
    let (event_type, rest) = leading(text.strip_prefix(r#"{"type":""#)?, is_spelled_out)?;
    let (seq, rest) = number(rest.strip_prefix(r#"","seq":"#)?)?;
    let (time, rest) = number(rest.strip_prefix(r#","time":"#)?)?;
    let data = rest.strip_prefix(r#","data":"#)?.strip_suffix('}')?;
    if text.len() > LONG {
        return None;
    }
    let data = Json::parse(data).ok()?;
    let time = i64::try_from(time.get()).ok()?;
    Some(Form::Plain { text, event_type, seq, time, data })
}

/// Longer lines are rare: they take the way that all lines could take.
const LONG: usize = 1 << 20;

/// Whether a byte in a JSON string stands for itself.
fn is_spelled_out(byte: &u8) -> bool {
    !matches!(byte, b'"' | b'\\' | 0..b' ')
}

/// The seq, or the time after 1970, that a text begins with, and the rest.
fn number(text: &str) -> Option<(Seq, &str)> {
    let (digits, rest) = leading(text, u8::is_ascii_digit)?;
    let has_leading_zero = digits.len() > 1 && digits.starts_with('0');
    let number = digits.parse().ok().filter(|_| !has_leading_zero)?;
    Some((Seq::new(number)?, rest))
}

/// A text in two, behind its first bytes that are of a kind.
fn leading(text: &str, is_of_kind: impl Fn(&u8) -> bool) -> Option<(&str, &str)> {
    text.split_at_checked(text.bytes().take_while(|byte| is_of_kind(byte)).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 6] = [
        r#"{"type":"a/b","seq":10,"time":1760000000000,"data":{"a":[1,"]"],"b":"\ud83d"}}"#,
        r#"{"type":"a/b","seq":7,"time":-3,"data":{"a":[1,"]"],"b":"\ud83d"}}"#,
        r#"{ "data":null, "time":0, "seq":0, "type":"é" }"#,
        r#"{"type":"a","seq":10,"time":9007199254740991,"data":1e400,"surfaceOp":"append"}"#,
        r#"{"type":"a","seq":1,"time":1,"data":[],"sourceEventSeqs":[0],"x":{}}"#,
        r#"["a/b",1,2,{}]"#,
    ];

    /// Every line that comes of one byte left out, set to another or put in.
    fn neighbours(line: &str) -> Vec<Vec<u8>> {
        let others = b"\"\\{}[]:,0-9.e tn\n\r\0\x1f\xc3\xff";
        let mut found = Vec::new();
        for at in 0..line.len() {
            let mut shorter = line.as_bytes().to_vec();
            shorter.remove(at);
            found.push(shorter);
            for other in others {
                let mut changed = line.as_bytes().to_vec();
                changed[at] = *other;
                found.push(changed);
                let mut longer = line.as_bytes().to_vec();
                longer.insert(at, *other);
                found.push(longer);
            }
        }
        found
    }

    fn assert_same(line: &[u8]) {
        let event = std::str::from_utf8(line).ok().and_then(|text| Event::parse(text).ok());
        let read = EventLine::read(line).ok();
        let shown = String::from_utf8_lossy(line);
        assert_eq!(read.is_some(), event.is_some(), "{shown}");
        let (Some(read), Some(event)) = (read, event) else { return };
        assert_eq!(read.seq(), event.seq(), "{shown}");
        assert_eq!(read.event_type(), event.event_type(), "{shown}");
        if read.is_plain() {
            assert!(!event.is_marked() && event.sources_text().is_none(), "{shown}");
        }
        assert_eq!(read.into_event().unwrap(), event, "{shown}");
    }

    #[test]
    fn a_line_is_an_event_exactly_where_an_event_can_be_parsed() {
        for line in LINES {
            assert_same(line.as_bytes());
            neighbours(line).iter().for_each(|line| assert_same(line));
        }
    }

    #[test]
    fn an_event_of_four_fields_as_stringify_writes_them_is_plain_and_a_marked_one_is_not() {
        let plain: Vec<bool> = LINES
            .iter()
            .flat_map(|line| EventLine::read(line.as_bytes()))
            .map(|e| e.is_plain())
            .collect();
        assert_eq!(plain, [true, false, false, false, false]);
    }

    #[test]
    fn numbers_that_are_no_integers_of_the_contract_make_no_event_line() {
        for (seq, time) in [
            ("1.0", "1"),
            ("1e0", "1"),
            ("-0", "1"),
            ("-1", "1"),
            ("01", "1"),
            ("9007199254740992", "1"),
            ("1", "9007199254740992"),
            ("1", "-9007199254740992"),
            ("1", "1.0"),
            ("1", "-0"),
            ("1", "null"),
            ("\"1\"", "1"),
        ] {
            let line = format!(r#"{{"type":"a","seq":{seq},"time":{time},"data":0}}"#);
            assert!(EventLine::read(line.as_bytes()).is_err(), "{line}");
            assert_same(line.as_bytes());
        }
    }

    #[test]
    fn a_known_key_twice_or_missing_makes_no_event_line() {
        for line in [
            r#"{"type":"a","seq":1,"time":1,"data":0,"data":0}"#,
            r#"{"type":"a","seq":1,"time":1,"d\u0061ta":0,"data":0}"#,
            r#"{"type":"a","seq":1,"time":1}"#,
            r#"{"type":"a","time":1,"data":0}"#,
            r#"{"type":"a","seq":1,"data":0}"#,
            r#"{"seq":1,"time":1,"data":0}"#,
        ] {
            assert!(EventLine::read(line.as_bytes()).is_err(), "{line}");
            assert_same(line.as_bytes());
        }
    }

    #[test]
    fn nesting_of_any_depth_is_read() {
        let depth = 200_000;
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let line = format!(r#"{{"type":"a","seq":1,"time":1,"data":{open}{close}}}"#);
        assert_same(line.as_bytes());
        assert!(EventLine::read(line.as_bytes()).is_ok());
    }

    #[test]
    fn a_carriage_return_before_the_line_feed_is_white_space_of_the_event() {
        let line = format!("{}\r", LINES[0]);
        assert_eq!(EventLine::read(line.as_bytes()).unwrap().into_event().unwrap().text(), line);
    }
}
