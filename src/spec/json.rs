//! A view over the text of one JSON value, which decodes no more than it is asked for.
//!
//! Events must come back byte for byte, so the text is the value: number spellings, keys given
//! twice, lone surrogates and any depth of nesting stay as they are. A text is checked once, by
//! serde_json; after that a walk over it only has to find where parts begin and end, one level at
//! a time, and nothing here recurses.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserializer, Visitor};
use serde_json::value::RawValue;

use super::same_value::same_value;

/// The largest integer of the contract, 2^53−1. Clause `event.integer`.
pub const MAX_INTEGER: i64 = (1 << 53) - 1;

/// The text of one JSON value, without the white space around it. Known to be well-formed.
///
/// ```
/// use session_surface::spec::Json;
///
/// let value = Json::parse(r#" {"n":1e2, "s":"\ud83d"} "#)?;
/// assert_eq!(value.get("n").map(Json::text), Some("1e2"));
/// assert_eq!(value.get("n").and_then(Json::as_integer), None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<'a>(&'a str);

/// What sort of value a JSON text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, in whatever spelling.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl<'a> Json<'a> {
    /// The value that `text` holds, which may have white space around it.
    ///
    /// # Errors
    /// The position and the reason where `text` is not exactly one JSON value.
    pub fn parse(text: &'a str) -> Result<Json<'a>, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(|raw| Json(raw.get()))
    }

    /// The view over a part of a text that was parsed before.
    pub(super) fn known(text: &'a str) -> Json<'a> {
        Json(text)
    }

    /// The text.
    pub fn text(self) -> &'a str {
        self.0
    }

    /// What sort of value it is.
    pub fn kind(self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The number as a double, if it is a number. Too large a number is an infinity.
    pub fn as_double(self) -> Option<f64> {
        match self.kind() {
            Kind::Number => self.0.parse().ok(),
            _ => None,
        }
    }

    /// The integer, if the text is `0|-?[1-9][0-9]*` and within ±(2^53−1).
    /// Clause `event.integer`.
    pub fn as_integer(self) -> Option<i64> {
        let digits = self.0.strip_prefix('-').unwrap_or(self.0);
        let negative = digits.len() < self.0.len();
        let leading_zero = digits.starts_with('0') && (digits.len() > 1 || negative);
        if leading_zero || digits.len() > 16 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let number = self.0.parse::<i64>().ok()?;
        (number.abs() <= MAX_INTEGER).then_some(number)
    }

    /// The string, if it is one, as WTF-8: UTF-8, but a lone surrogate escape becomes the three
    /// bytes that its code point would have. Two strings are equal exactly when these bytes are.
    pub fn as_wtf8(self) -> Option<Cow<'a, [u8]>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if inner.contains('\\') {
            let mut de = serde_json::Deserializer::from_str(self.0);
            de.deserialize_bytes(OwnedBytes).ok().map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(inner.as_bytes()))
        }
    }

    /// The string, if it is one and holds no lone surrogate.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        if inner.contains('\\') {
            String::from_utf8(self.as_wtf8()?.into_owned()).ok().map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(inner))
        }
    }

    /// Whether it is the string `text`, however it is spelled.
    pub fn is_str(self, text: &str) -> bool {
        match self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) if inner == text => !text.contains('\\'),
            Some(inner) if inner.contains('\\') => {
                self.as_wtf8().is_some_and(|bytes| *bytes == *text.as_bytes())
            }
            _ => false,
        }
    }

    /// The keys and values of an object, in order, keys given twice included.
    pub fn entries(self) -> Option<Entries<'a>> {
        (self.kind() == Kind::Object).then(|| Entries(Scanner::inside(self.0)))
    }

    /// The elements of an array.
    pub fn elements(self) -> Option<Elements<'a>> {
        (self.kind() == Kind::Array).then(|| Elements(Scanner::inside(self.0)))
    }

    /// The value of a key of an object; of a key given twice the last one, as JSON readers do.
    /// Clause `data.last-key-counts`.
    pub fn get(self, name: &str) -> Option<Json<'a>> {
        self.entries()?.filter(|(key, _)| key.is_str(name)).last().map(|(_, value)| value)
    }

    /// Every string in the value, at any depth, keys too.
    pub fn strings(self) -> Strings<'a> {
        Strings(Scanner { text: self.0, at: 0 })
    }

    /// Whether it is a string that holds a lone surrogate.
    pub fn holds_lone_surrogate(self) -> bool {
        let is_surrogate = |bytes: &[u8]| matches!(bytes, [0xED, 0xA0..=0xBF, _]);
        self.0.contains('\\')
            && self.as_wtf8().is_some_and(|bytes| bytes.windows(3).any(is_surrogate))
    }

    /// Whether two texts are the same JSON value: key order does not matter, of a key given twice
    /// the last one counts, numbers are compared as doubles.
    ///
    /// ```
    /// use session_surface::spec::Json;
    ///
    /// let (a, b) = (Json::parse(r#"{"a":1,"b":[]}"#)?, Json::parse(r#"{"b":[],"a":1.0}"#)?);
    /// assert!(a.same_value(b));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn same_value(self, other: Json<'_>) -> bool {
        same_value(self, other)
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The keys and values of an object, in order.
#[derive(Clone, Debug)]
pub struct Entries<'a>(Scanner<'a>);

impl<'a> Iterator for Entries<'a> {
    type Item = (Json<'a>, Json<'a>);

    fn next(&mut self) -> Option<(Json<'a>, Json<'a>)> {
        let key = self.0.value()?;
        Some((key, self.0.value()?))
    }
}

/// The elements of an array, in order.
#[derive(Clone, Debug)]
pub struct Elements<'a>(Scanner<'a>);

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        self.0.value()
    }
}

/// Every string in a value, at any depth, keys too.
#[derive(Clone, Debug)]
pub struct Strings<'a>(Scanner<'a>);

impl<'a> Iterator for Strings<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        let Scanner { text, at } = &mut self.0;
        let start = *at + text.as_bytes().get(*at..)?.iter().position(|byte| *byte == b'"')?;
        *at = behind_string(text.as_bytes(), start);
        text.get(start..*at).map(Json)
    }
}

/// A piece of a value, as it comes from left to right.
pub(super) enum Token<'a> {
    /// An array or an object begins.
    Open { is_object: bool },
    /// The innermost one that is open ends.
    Close,
    /// A key, or a value that is neither.
    Value(Json<'a>),
}

/// The pieces of a value.
pub(super) struct Tokens<'a>(Scanner<'a>);

impl<'a> Tokens<'a> {
    pub(super) fn of(value: Json<'a>) -> Tokens<'a> {
        Tokens(Scanner { text: value.0, at: 0 })
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.0.skip_between();
        let bracket = match self.0.text.as_bytes().get(self.0.at)? {
            b'[' => Token::Open { is_object: false },
            b'{' => Token::Open { is_object: true },
            b']' | b'}' => Token::Close,
            _ => return self.0.value().map(Token::Value),
        };
        self.0.at += 1;
        Some(bracket)
    }
}

/// A walk over a text that is known to be well-formed, from value to value.
#[derive(Clone, Debug)]
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// The walk over what stands between the brackets of an array or an object.
    fn inside(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: 1 }
    }

    /// Goes to the next value, or to the closing bracket.
    fn skip_between(&mut self) {
        let bytes = self.text.as_bytes();
        let is_between = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':');
        while bytes.get(self.at).is_some_and(is_between) {
            self.at += 1;
        }
    }

    /// The next value behind white space, commas and colons; `None` at the closing bracket.
    fn value(&mut self) -> Option<Json<'a>> {
        self.skip_between();
        let (bytes, start) = (self.text.as_bytes(), self.at);
        self.at = match bytes.get(start)? {
            b']' | b'}' => return None,
            b'"' => behind_string(bytes, start),
            b'[' | b'{' => behind_nested(bytes, start),
            _ => behind_plain(bytes, start),
        };
        self.text.get(start..self.at).map(Json)
    }
}

/// Behind the closing quote of the string that begins at `start`.
fn behind_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        // Eight bytes at a time while none of them is a quote or a backslash.
        while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            let eight = u64::from_le_bytes(*eight);
            let stops = has_zero(eight ^ splat(b'"')) | has_zero(eight ^ splat(b'\\'));
            if stops != 0 {
                at += (stops.trailing_zeros() / 8) as usize;
                break;
            }
            at += 8;
        }
        match bytes.get(at) {
            Some(b'"') | None => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

/// The same byte eight times.
const fn splat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The high bit of each zero byte; above the lowest one, other bytes may be marked too.
const fn has_zero(eight: u64) -> u64 {
    eight.wrapping_sub(splat(0x01)) & !eight & splat(0x80)
}

/// Behind the bracket that closes the one at `start`.
fn behind_nested(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = behind_string(bytes, at);
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth <= 1 => return at + 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Behind the number, `true`, `false` or `null` that begins at `start`.
fn behind_plain(bytes: &[u8], start: usize) -> usize {
    let is_end =
        |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':' | b' ' | b'\t' | b'\n' | b'\r');
    let rest = bytes.get(start..).unwrap_or_default();
    start + rest.iter().position(is_end).unwrap_or(rest.len())
}

/// A JSON value on one line, shared. A clone counts a reference and copies no text.
///
/// ```
/// use session_surface::spec::JsonLine;
///
/// let line = JsonLine::parse("[1,\n2]")?;
/// assert_eq!(line.json().text(), "[1, 2]");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct JsonLine(Arc<str>);

impl JsonLine {
    /// The value that a text holds, with the white space around it. A line feed can only stand
    /// between two tokens and ends a line of a file, so each one becomes a space; every other byte
    /// is kept.
    ///
    /// # Errors
    /// The position and the reason where `text` is not exactly one JSON value.
    pub fn parse(text: &str) -> Result<JsonLine, serde_json::Error> {
        Json::parse(text)?;
        Ok(JsonLine::known(text))
    }

    /// The line of a text that is known to be one JSON value.
    pub(crate) fn known(text: &str) -> JsonLine {
        debug_assert!(Json::parse(text).is_ok(), "{text}");
        JsonLine(if text.contains('\n') { text.replace('\n', " ").into() } else { text.into() })
    }

    /// The text, with the white space around the value.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The value.
    pub fn json(&self) -> Json<'_> {
        Json(self.0.trim_matches([' ', '\t', '\r']))
    }
}

impl fmt::Debug for JsonLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The bytes of a string: the one way in which serde_json hands out a lone surrogate.
struct OwnedBytes;

impl<'de> Visitor<'de> for OwnedBytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}

/// The value that starts at this position of a text that is known to be well-formed.
pub(super) fn value_at(text: &str, at: usize) -> Json<'_> {
    Scanner { text, at }.value().unwrap_or(Json("null"))
}
