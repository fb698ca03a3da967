//! A view over the text of one JSON value, which decodes no more than it is asked for.
//!
//! Events must come back byte for byte, so the text is the value: number spellings, keys given
//! twice, lone surrogates and any depth of nesting stay as they are. Only one level is read at a
//! time and nothing here recurses.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

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
            Some(inner) if inner.contains('\\') => {
                self.as_wtf8().is_some_and(|bytes| *bytes == *text.as_bytes())
            }
            Some(inner) => inner == text,
            None => false,
        }
    }

    /// Calls `each` with every key and value of an object, in order, keys given twice included.
    /// False if it is no object.
    pub fn each_entry(self, each: impl FnMut(Json<'a>, Json<'a>)) -> bool {
        self.kind() == Kind::Object
            && serde_json::Deserializer::from_str(self.0).deserialize_map(Entries(each)).is_ok()
    }

    /// Calls `each` with every element of an array, in order. False if it is no array.
    pub fn each_element(self, each: impl FnMut(Json<'a>)) -> bool {
        self.kind() == Kind::Array
            && serde_json::Deserializer::from_str(self.0).deserialize_seq(Elements(each)).is_ok()
    }

    /// The keys and values of an object, in order, keys given twice included.
    pub fn entries(self) -> Option<Vec<(Json<'a>, Json<'a>)>> {
        let mut entries = Vec::new();
        self.each_entry(|key, value| entries.push((key, value))).then_some(entries)
    }

    /// The elements of an array.
    pub fn elements(self) -> Option<Vec<Json<'a>>> {
        let mut elements = Vec::new();
        self.each_element(|value| elements.push(value)).then_some(elements)
    }

    /// The value of a key of an object; of a key given twice the last one, as JSON readers do.
    /// Clause `data.last-key-counts`.
    pub fn get(self, name: &str) -> Option<Json<'a>> {
        let mut found = None;
        self.each_entry(|key, value| {
            if key.is_str(name) {
                found = Some(value);
            }
        });
        found
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
        let mut pairs = vec![(self, other)];
        while let Some((a, b)) = pairs.pop() {
            if a.0 == b.0 {
                continue;
            }
            let same = match (a.kind(), b.kind()) {
                (Kind::Number, Kind::Number) => a.as_double() == b.as_double(),
                (Kind::String, Kind::String) => a.as_wtf8() == b.as_wtf8(),
                (Kind::Array, Kind::Array) => push_elements(&mut pairs, a, b),
                (Kind::Object, Kind::Object) => push_entries(&mut pairs, a, b),
                _ => false,
            };
            if !same {
                return false;
            }
        }
        true
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

fn push_elements<'a, 'b>(pairs: &mut Vec<(Json<'a>, Json<'b>)>, a: Json<'a>, b: Json<'b>) -> bool {
    let (a, b) = (a.elements().unwrap_or_default(), b.elements().unwrap_or_default());
    let same_length = a.len() == b.len();
    pairs.extend(a.into_iter().zip(b));
    same_length
}

fn push_entries<'a, 'b>(pairs: &mut Vec<(Json<'a>, Json<'b>)>, a: Json<'a>, b: Json<'b>) -> bool {
    let (a, b) = (last_entries(a), last_entries(b));
    let same_keys = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.0 == b.0);
    pairs.extend(a.into_iter().zip(b).map(|(a, b)| (a.1, b.1)));
    same_keys
}

/// The entries of an object sorted by key, of a key given twice the last.
fn last_entries(object: Json<'_>) -> Vec<(Cow<'_, [u8]>, Json<'_>)> {
    let mut entries: Vec<_> = object
        .entries()
        .unwrap_or_default()
        .into_iter()
        .rev()
        .map(|(key, value)| (key.as_wtf8().unwrap_or_default(), value))
        .collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries.dedup_by(|later, kept| later.0 == kept.0);
    entries
}

struct Entries<F>(F);

impl<'de, F: FnMut(Json<'de>, Json<'de>)> Visitor<'de> for Entries<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<&'de RawValue>()? {
            let value = map.next_value::<&'de RawValue>()?;
            (self.0)(Json(key.get()), Json(value.get()));
        }
        Ok(())
    }
}

struct Elements<F>(F);

impl<'de, F: FnMut(Json<'de>)> Visitor<'de> for Elements<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(value) = seq.next_element::<&'de RawValue>()? {
            (self.0)(Json(value.get()));
        }
        Ok(())
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

/// One pass over the text of an object that must be nothing else: calls `each` with the keys and
/// values and gives the error where the text is not exactly one JSON object.
pub(super) fn scan_object<'a>(
    text: &'a str,
    each: impl FnMut(Json<'a>, Json<'a>),
) -> Result<(), serde_json::Error> {
    let mut de = serde_json::Deserializer::from_str(text);
    de.deserialize_map(Entries(each))?;
    de.end()
}

/// Where the JSON value that starts at the front of `text` ends, in bytes.
pub(super) fn value_length(text: &str) -> usize {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    stream.next();
    stream.byte_offset()
}
