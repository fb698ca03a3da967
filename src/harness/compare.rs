//! When an answer is the one that is wanted. SPEC.md, "How to read this page".

use std::collections::BTreeMap;

use super::case::{Answer, RefusedAt, Texts};
use crate::spec::{Json, Kind};

/// Whether an answer is the one that is wanted. A refusal's code and its list are compared where
/// both sides give them. A `time` of `null` in a wanted event stands for any integer.
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
        (Answer::Events(want), Answer::Events(got)) => {
            same_texts(want, got, |want, got| same_event(want, got, false))
        }
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

/// Whether events are the wanted ones, where it is known which of them are closing results: the
/// words in those are free, and so is the order of those that close equal ids.
pub(super) fn same_events(want: &Texts, got: &Texts, is_closer: impl Fn(usize) -> bool) -> bool {
    let same = |want: &[String], got: &[String]| {
        let mut pairs = want.iter().zip(got).enumerate();
        want.len() == got.len()
            && pairs.all(|(at, (want, got))| same_event(want, got, is_closer(at)))
    };
    let list = |texts: &Texts| -> Vec<String> { texts.iter().map(str::to_owned).collect() };
    let (want, got) = (list(want), list(got));
    same(&want, &got) || same(&in_one_order(&want, &is_closer), &in_one_order(&got, &is_closer))
}

/// Closing results of equal ids differ by the turn and the step that they copy. Gives events in
/// which these copies come in one order.
fn in_one_order(events: &[String], is_closer: &impl Fn(usize) -> bool) -> Vec<String> {
    let data = |event: &str, key: &str| {
        let value = Json::parse(event).ok()?.get("data")?.get(key)?;
        Some(value.text().to_owned())
    };
    let copies = |event: &str| ["turn", "step"].map(|key| data(event, key));
    let mut by_id: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate().filter(|(at, _)| is_closer(*at)) {
        by_id.entry(data(event, "callId")).or_default().push(at);
    }
    let mut ordered = events.to_vec();
    for places in by_id.into_values() {
        let texts = places.iter().filter_map(|at| events.get(*at));
        let mut named: Vec<_> = texts.map(|event| copies(event)).collect();
        named.sort();
        for (at, named) in places.into_iter().zip(named) {
            if let Some(event) = ordered.get_mut(at) {
                *event = naming(event, named);
            }
        }
    }
    ordered
}

/// An event whose data names this turn and step, where it names any.
fn naming(event: &str, [turn, step]: [Option<String>; 2]) -> String {
    let Ok(json) = Json::parse(event) else { return event.to_owned() };
    let set = |data: Json<'_>, key: &str, value: &Option<String>| {
        with(data, key, |old| value.clone().unwrap_or_else(|| old.text().to_owned()))
    };
    with(json, "data", |data| {
        let data = set(data, "turn", &turn);
        Json::parse(&data).map_or(data.clone(), |data| set(data, "step", &step))
    })
}

/// Whether an event is the wanted one; the words inside a closing result are free.
pub(super) fn same_event(want: &str, got: &str, is_closer: bool) -> bool {
    let Some((want, got)) = both(want, got) else { return false };
    let any_time = want.get("time").is_some_and(|time| time.kind() == Kind::Null);
    if any_time && got.get("time").and_then(Json::as_integer).is_none() {
        return false;
    }
    let free = |event: Json<'_>| {
        let event = if any_time {
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
