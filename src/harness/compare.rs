//! When an answer is the one that is wanted. SPEC.md, "How to read this page".

use super::case::{Answer, RefusedAt, Texts};
use crate::spec::{Json, Kind};

/// Whether an answer is the one that is wanted. A refusal's code and its list are compared where
/// both sides give them. A `time` of `null` in a wanted event stands for any; the words inside a
/// closer are free.
pub fn agree(want: &Answer, got: &Answer) -> bool {
    match (want, got) {
        (
            Answer::Taken { seqs, refused: None },
            Answer::Taken { seqs: got_seqs, refused: None },
        ) => seqs == got_seqs,
        (
            Answer::Taken { seqs, refused: Some(refused) },
            Answer::Taken { seqs: got_seqs, refused: Some(got) },
        ) => seqs == got_seqs && refused.at == got.at && same_refusal(refused, got),
        (Answer::Nodes(want), Answer::Nodes(got)) => want == got,
        (Answer::Violations(want), Answer::Violations(got)) => want == got,
        (Answer::Messages(want), Answer::Messages(got)) => same_texts(want, got, same_json),
        (Answer::Events(want), Answer::Events(got)) => same_texts(want, got, same_event),
        _ => false,
    }
}

fn same_refusal(want: &RefusedAt, got: &RefusedAt) -> bool {
    got.code.as_ref().is_none_or(|code| want.code.as_ref() == Some(code))
        && (got.missing.is_none() || want.missing.is_none() || got.missing == want.missing)
}

fn same_texts(want: &Texts, got: &Texts, same: impl Fn(&str, &str) -> bool) -> bool {
    want == got
        || want.len() == got.len() && want.iter().zip(got.iter()).all(|(want, got)| same(want, got))
}

/// Whether two texts are the same JSON value.
pub(super) fn same_json(want: &str, got: &str) -> bool {
    want == got || both(want, got).is_some_and(|(want, got)| want.same_value(got))
}

/// Whether a message is the wanted one but for the words in the blocks of a result.
pub(super) fn same_but_words(want: &str, got: &str) -> bool {
    let without = |text: &str| {
        let message = Json::parse(text).ok()?;
        let results =
            |blocks: Json<'_>| each(blocks, |block| with(block, "content", without_words));
        Some(with(message, "content", results))
    };
    without(want).zip(without(got)).is_some_and(|(want, got)| same_json(&want, &got))
}

/// Whether an event is the wanted one.
pub(super) fn same_event(want: &str, got: &str) -> bool {
    let Some((want, got)) = both(want, got) else { return false };
    let any_time = want.get("time").is_some_and(|time| time.kind() == Kind::Null);
    let code = want.get("data").and_then(|data| data.get("error")?.get("code"));
    let is_closer = code.is_some_and(|code| code.is_str("interrupted"));
    let free = |event: Json<'_>| {
        let event = if any_time && event.get("time").is_some() {
            with(event, "time", |_| "0".to_owned())
        } else {
            event.text().to_owned()
        };
        match Json::parse(&event) {
            Ok(event) if is_closer => {
                with(event, "data", |data| with(data, "content", without_words))
            }
            _ => event,
        }
    };
    same_json(&free(want), &free(got))
}

fn both<'w, 'g>(want: &'w str, got: &'g str) -> Option<(Json<'w>, Json<'g>)> {
    Some((Json::parse(want).ok()?, Json::parse(got).ok()?))
}

/// Blocks with their text, where it is a string, left empty.
fn without_words(blocks: Json<'_>) -> String {
    let empty = |text: Json<'_>| match text.kind() {
        Kind::String => "\"\"".to_owned(),
        _ => text.text().to_owned(),
    };
    each(blocks, |block| with(block, "text", empty))
}

/// An array with each element changed; what is no array stays as it is.
fn each(array: Json<'_>, change: impl Fn(Json<'_>) -> String) -> String {
    match array.elements() {
        Some(elements) => format!("[{}]", elements.map(change).collect::<Vec<_>>().join(",")),
        None => array.text().to_owned(),
    }
}

/// An object with the value of one key changed; what is no object stays as it is.
pub(super) fn with(object: Json<'_>, name: &str, change: impl Fn(Json<'_>) -> String) -> String {
    let Some(entries) = object.entries() else { return object.text().to_owned() };
    let field = |(key, value): (Json<'_>, Json<'_>)| {
        let value = if key.is_str(name) { change(value) } else { value.text().to_owned() };
        format!("{key}:{value}")
    };
    format!("{{{}}}", entries.map(field).collect::<Vec<_>>().join(","))
}
