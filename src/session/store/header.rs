//! `Header`, the first line of a session file.

use super::error::{Fault, FileError, Flaw, HeaderFlaw, object};
use crate::spec::{Contract, Json, JsonLine, Kind};

/// The header of a session: which format, which session, since when. Unknown fields are kept.
///
/// It has `type` `"session"`, `version`, `id` (a string) and `createdAt` (an integer, Unix
/// milliseconds), each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header(JsonLine);

impl Header {
    /// The header on a line without its line feed.
    pub(super) fn read(line: &[u8]) -> Result<Header, HeaderFlaw> {
        if line.starts_with(b"\xEF\xBB\xBF") {
            return Err(HeaderFlaw::ByteOrderMark);
        }
        let object = object(line).map_err(HeaderFlaw::Line)?;
        for (name, expected, is_so) in FIELDS {
            if !once(object, name).is_some_and(is_so) {
                return Err(HeaderFlaw::Field { name, expected });
            }
        }
        let text = std::str::from_utf8(line).unwrap_or_default();
        JsonLine::parse(text).map(Header).map_err(|_| HeaderFlaw::Line(Flaw::of(line)))
    }

    /// The header, as it stands in the file.
    pub fn json(&self) -> Json<'_> {
        self.0.json()
    }

    /// The version of the format, which is an integer in every version that is known.
    pub fn version(&self) -> Option<Json<'_>> {
        self.json().get("version")
    }

    /// The id, a JSON string.
    pub fn id(&self) -> Option<Json<'_>> {
        self.json().get("id")
    }

    /// When the session was made, in Unix milliseconds.
    pub fn created_at(&self) -> Option<i64> {
        self.json().get("createdAt")?.as_integer()
    }

    /// The working directory, a JSON string.
    pub fn cwd(&self) -> Option<Json<'_>> {
        self.json().get("cwd").filter(is_string)
    }

    /// The id of the session that this one is a fork of, a JSON string.
    pub fn parent_session(&self) -> Option<Json<'_>> {
        self.json().get("parentSession").filter(is_string)
    }

    /// Checks that the contract reads this version.
    ///
    /// # Errors
    /// `file/version` where it does not.
    pub fn check_version(&self, contract: &Contract) -> Result<(), FileError> {
        let version = self.version();
        let number = version.and_then(Json::as_integer);
        if number.is_some_and(|number| contract.versions.contains(&number)) {
            return Ok(());
        }
        let found = version.map(|version| version.text().to_owned()).unwrap_or_default();
        let fault = Fault::Version { found, read: contract.versions };
        Err(FileError { line: 1, byte_offset: 0, fault })
    }
}

type Check = fn(Json<'_>) -> bool;

/// The fields of a header, what stands there in words, and whether a value is that. A version may
/// be anything: one that is not known is no reason to say that the file is no session.
const FIELDS: [(&str, &str, Check); 4] = [
    ("type", "\"session\"", |value| value.is_str("session")),
    ("version", "a version", |_| true),
    ("id", "a string", |value| is_string(&value)),
    ("createdAt", "an integer", |value| value.as_integer().is_some()),
];

/// The value of a key that is given once.
fn once<'a>(object: Json<'a>, name: &str) -> Option<Json<'a>> {
    let mut values = object.entries()?.filter(|(key, _)| key.is_str(name)).map(|(_, value)| value);
    values.next().filter(|_| values.next().is_none())
}

fn is_string(value: &Json<'_>) -> bool {
    value.kind() == Kind::String
}
