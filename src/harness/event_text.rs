//! The texts of generated events: payloads, sources and operations, right ones and damaged ones.

use std::fmt::Write;

use super::choices::Choices;
use super::world::{Effect, World};
use crate::spec::JsonLine;

/// What a log is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Every message event carries an operation.
    Marked,
    /// Some message events carry one.
    Mixed,
    /// None does: a session from before surfaces existed.
    Unmarked,
}

pub(super) const STYLES: &[(u32, Style)] =
    &[(8, Style::Marked), (3, Style::Mixed), (2, Style::Unmarked)];

/// Where an event is made: what the log holds, the number that makes its payload its own, and
/// whether its text may be odd.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) world: &'a World,
    pub(super) number: u32,
    pub(super) odd: bool,
}

const MESSAGE_TYPES: &[&str] =
    &["user/message", "assistant/message", "tool/result", "context/message", "steering/message"];
const OTHER_TYPES: &[&str] = &[
    "assistant/chunk",
    "turn/start",
    "compaction/marker",
    "usage",
    "tool/call",
    "x",
    "user\\/note",
];

/// The fields of an event, each as JSON text.
#[derive(Default)]
struct Fields<'a> {
    event_type: &'a str,
    data: String,
    sources: Option<String>,
    op: Option<String>,
}

impl Fields<'_> {
    /// The event in its usual form.
    fn plain(&self) -> String {
        let (sources, op) = (self.sources.as_deref(), self.op.as_deref());
        let (sources_key, op_key) = (",\"sourceEventSeqs\":", ",\"surfaceOp\":");
        [
            "{\"type\":\"",
            self.event_type,
            "\",\"data\":",
            &self.data,
            sources.map_or("", |_| sources_key),
            sources.unwrap_or_default(),
            op.map_or("", |_| op_key),
            op.unwrap_or_default(),
            "}",
        ]
        .concat()
    }

    /// The same event as another writer might spell it.
    fn spelled(&self, choices: &mut impl Choices) -> String {
        let Fields { event_type, data, .. } = self;
        let op = self.op.as_ref().map(|op| format!("\"surfaceOp\": {op}, ")).unwrap_or_default();
        let sources = self.sources.as_ref();
        let sources =
            sources.map(|list| format!("\"sourceEventSeqs\":{list},")).unwrap_or_default();
        match choices.below(3) {
            0 => format!("{{{op}{sources}\"data\":{data},\"type\":\"{event_type}\"}}"),
            1 => format!(
                "{{ {sources}\"type\":\"{event_type}\" , {op}\"data\":{data},\"x\":[1.0,{{}}] }}"
            ),
            _ => format!(
                "{{{sources}{op}\"t\\u0079pe\":\"{event_type}\",\"\\ud800\":0,\"d\\u0061ta\":{data}}}"
            ),
        }
    }
}

fn finish(choices: &mut impl Choices, fields: &Fields<'_>, odd: bool) -> String {
    if odd && choices.one_in(12) { fields.spelled(choices) } else { fields.plain() }
}

/// A payload that the contract can read, for any type.
fn data(choices: &mut impl Choices, event_type: &str, number: u32, odd: bool) -> String {
    let content = content(choices, number, odd);
    match event_type {
        "user/message" => ["{\"content\":", &content, ",\"source\":{\"kind\":\"user\"}}"].concat(),
        "assistant/message" => ["{\"turn\":1,\"step\":1,\"content\":", &content, "}"].concat(),
        "tool/result" => {
            let is_error = if choices.one_in(4) { "true" } else { "false" };
            let (id, head) = (number.to_string(), "{\"turn\":1,\"step\":1,\"callId\":\"c");
            [head, &id, "\",\"content\":", &content, ",\"isError\":", is_error, "}"].concat()
        }
        "context/message" => {
            let kind = kind(choices, odd);
            ["{\"content\":", &content, ",\"source\":{\"kind\":\"", kind, "\",\"name\":\"n\"}}"]
                .concat()
        }
        "steering/message" => {
            let (kind, head) = (kind(choices, odd), "{\"turn\":1,\"content\":");
            [head, &content, ",\"source\":{\"kind\":\"", kind, "\"}}"].concat()
        }
        _ => ["{\"n\":", &number.to_string(), "}"].concat(),
    }
}

fn content(choices: &mut impl Choices, number: u32, odd: bool) -> String {
    if !odd || !choices.one_in(6) {
        return ["[{\"type\":\"text\",\"text\":\"", &number.to_string(), "\"}]"].concat();
    }
    match choices.below(8) {
        0 => "[]".to_owned(),
        1 => format!(r#"[{{"type":"text","text":"half \ud83d {number}"}}]"#),
        2 => format!("[{{\"type\":\"text\",\"text\":\"\u{2028}\u{2029}\u{85}{number}\"}}]"),
        3 => format!(
            r#"[ {{"n":1.0,"type":"text","m":1e2,"text":"{number}", "big":1234567890123456789012345678901234567890 }} ]"#
        ),
        4 => format!(r#"[{{"type":"text","type":"text","text":"a","text":"{number}"}}]"#),
        5 => format!(
            r#"[{{"type":"x\/y","deep":[[[[[[{number}]]]]]]}},{{"type":"tool-call","id":"c{number}"}}]"#
        ),
        6 => format!(r#"[{{"type":"text","text":"\"\\\n\u0000 {number} 😀"}}]"#),
        _ => format!(
            r#"[{{"type":"image"}},{{"type":"text","text":"{number}"}},{{"type":"reasoning"}}]"#
        ),
    }
}

/// The text between the quotes of a `source.kind`.
fn kind(choices: &mut impl Choices, odd: bool) -> &'static str {
    const KINDS: &[&str] = &[
        "plugin",
        "user",
        "a\\\"b",
        "x\\ud83dy",
        "\\u0041",
        "\\n\\u001F",
        "\\ud83d\\ude00",
        "\u{e9}\u{2028}",
        "",
    ];
    let known = if odd { KINDS.len() } else { 2 };
    KINDS.get(choices.index(known)).copied().unwrap_or("plugin")
}

/// A payload that lacks what is read of a message.
fn bad_data(choices: &mut impl Choices) -> &'static str {
    const BAD: &[&str] = &[
        "{}",
        "null",
        r#"{"content":"text","source":{"kind":"user"}}"#,
        r#"{"content":[{"text":"no type"}],"source":{"kind":"user"}}"#,
        r#"{"content":[],"source":{"kind":1}}"#,
        r#"{"content":[]}"#,
        r#"{"turn":1.0,"step":1,"content":[],"callId":7,"isError":"no"}"#,
    ];
    BAD.get(choices.index(BAD.len())).copied().unwrap_or("{}")
}

/// A `surfaceOp` of neither shape.
pub(super) fn bad_op(choices: &mut impl Choices) -> &'static str {
    const BAD: &[&str] = &[
        "null",
        "\"prepend\"",
        "{}",
        "[\"append\"]",
        r#"{"op":"append"}"#,
        r#"{"op":"replace","start":0}"#,
        r#"{"op":"replace","start":0,"end":0,"x":1}"#,
        r#"{"op":"replace","start":0,"start":0,"end":0}"#,
        r#"{"op":"replace","start":0.0,"end":0}"#,
        r#"{"op":"replace","start":0,"end":-1}"#,
        r#"{"op":"replace","start":"0","end":0}"#,
        r#"{"op":"replace","start":0,"end":9007199254740992}"#,
        "7",
    ];
    BAD.get(choices.index(BAD.len())).copied().unwrap_or("null")
}

/// A `sourceEventSeqs` that is no array of seqs.
fn bad_sources(choices: &mut impl Choices) -> &'static str {
    const BAD: &[&str] =
        &["null", "0", "{}", "[0.0]", "[-1]", "[\"0\"]", "[[0]]", "[1e0]", "[0,null]", "[-0]"];
    BAD.get(choices.index(BAD.len())).copied().unwrap_or("null")
}

pub(super) fn replace_op(start: u64, end: u64) -> String {
    format!(r#"{{"op":"replace","start":{start},"end":{end}}}"#)
}

/// The simplest event of its sort.
pub(super) fn plain(number: u32, marked: bool) -> String {
    let op = if marked { r#","surfaceOp":"append""# } else { "" };
    format!(
        r#"{{"type":"user/message","data":{{"content":[{{"type":"text","text":"{number}"}}],"source":{{"kind":"user"}}}}{op}}}"#
    )
}

/// An offered event as an event of a whole log.
pub(super) fn seeded(text: &str, seq: u64, time: i64) -> JsonLine {
    match text.strip_prefix('{') {
        Some(rest) => JsonLine::known(&format!("{{\"seq\":{seq},\"time\":{time},{rest}")),
        None => JsonLine::known(text),
    }
}

/// An event that no seed may hold at this index.
pub(super) fn bad_seed_event(choices: &mut impl Choices, index: u64) -> JsonLine {
    let text = match choices.below(7) {
        0 => return seeded(&plain(0, true), index + 1, 0),
        1 => return JsonLine::known("[]"),
        2 => return JsonLine::known(&plain(0, true)),
        3 => format!(r#"{{"type":"x","data":{{}},"surfaceOp":{}}}"#, bad_op(choices)),
        4 => format!(r#"{{"type":"x","data":{{}},"sourceEventSeqs":{}}}"#, bad_sources(choices)),
        5 => {
            return JsonLine::known(&format!(
                r#"{{"type":"x","seq":{index},"time":1.5,"data":{{}}}}"#
            ));
        }
        _ => format!(r#"{{"type":"x","data":{{}},"surfaceOp":{}}}"#, replace_op(index, index)),
    };
    seeded(&text, index, 0)
}

/// The shapes that well-formed logs are made of.
#[derive(Clone, Copy)]
enum Shape {
    Append,
    Chunk,
    SilentNode,
    UnmarkedMessage,
    Replace,
    Refused,
}

/// An event that the contract takes, with its effect, or one that it refuses, with `None`.
pub(super) fn well_formed(
    choices: &mut impl Choices,
    place: Place<'_>,
    style: Style,
) -> (String, Option<Effect>) {
    let shapes: &[(u32, Shape)] = match style {
        Style::Marked => &[
            (9, Shape::Append),
            (3, Shape::Chunk),
            (1, Shape::SilentNode),
            (7, Shape::Replace),
            (3, Shape::Refused),
        ],
        Style::Mixed => &[
            (6, Shape::Append),
            (2, Shape::Chunk),
            (1, Shape::SilentNode),
            (5, Shape::UnmarkedMessage),
            (5, Shape::Replace),
            (2, Shape::Refused),
        ],
        Style::Unmarked => &[(3, Shape::Chunk), (9, Shape::UnmarkedMessage), (1, Shape::Refused)],
    };
    let Place { world, number, odd } = place;
    let shape = choices.weighted(shapes).unwrap_or(Shape::Append);
    let types = match shape {
        Shape::Chunk | Shape::SilentNode => OTHER_TYPES,
        _ => MESSAGE_TYPES,
    };
    let event_type = types.get(choices.index(types.len())).copied().unwrap_or("x");
    let mut fields =
        Fields { event_type, data: data(choices, event_type, number, odd), ..Fields::default() };
    let effect = match shape {
        Shape::Refused => return refused(choices, place, fields),
        Shape::Replace if !world.nodes.is_empty() => {
            let (first, last) = range(choices, world);
            let nodes = world.range(first, last);
            fields.sources = Some(sources(choices, world, nodes));
            fields.op =
                nodes.first().zip(nodes.last()).map(|(start, end)| replace_op(*start, *end));
            Effect::Replace(first, last)
        }
        Shape::Append | Shape::SilentNode | Shape::Replace => {
            fields.op = Some("\"append\"".to_owned());
            fields.sources = choices.one_in(3).then(|| some_sources(choices, world.next()));
            Effect::Append
        }
        Shape::Chunk | Shape::UnmarkedMessage => Effect::Off,
    };
    (finish(choices, &fields, odd), Some(effect))
}

/// The ranges that occur in life: one node, a few, the head (a summary), the tail (a rewind), the
/// whole, and one that starts at an earlier replacement.
fn range(choices: &mut impl Choices, world: &World) -> (usize, usize) {
    let count = world.nodes.len();
    match choices.below(7) {
        0 | 1 => {
            let one = choices.index(count);
            (one, one)
        }
        2 => (0, choices.index(count)),
        3 => (choices.index(count), count - 1),
        4 if choices.one_in(3) => (0, count - 1),
        5 => {
            let replacements = world.replacement_positions();
            let first = replacements.get(choices.index(replacements.len())).copied().unwrap_or(0);
            (first, first + choices.index(count - first))
        }
        _ => {
            let first = choices.index(count);
            (first, (first + choices.index(4)).min(count - 1))
        }
    }
}

pub(super) fn list(seqs: &[u64]) -> String {
    format!("{seqs:?}")
}

/// Sources that cover these nodes: in order, in reverse, with others, twice.
fn sources(choices: &mut impl Choices, world: &World, nodes: &[u64]) -> String {
    let mut seqs = nodes.to_vec();
    match choices.below(8) {
        0..=3 => {}
        4 => seqs.reverse(),
        5 => seqs.extend(0..world.next()),
        6 => {
            seqs.sort_unstable();
            seqs.push(world.next() + 5);
        }
        _ => {
            let middle = choices.index(seqs.len());
            seqs.rotate_left(middle);
            seqs.extend_from_slice(nodes);
        }
    }
    list(&seqs)
}

/// Sources of an event that shadows nothing: nobody asks what they name.
fn some_sources(choices: &mut impl Choices, next: u64) -> String {
    let seqs: Vec<u64> =
        (0..choices.below(3)).map(|_| u64::from(choices.below(next as u32 + 2))).collect();
    list(&seqs)
}

/// An event that is refused, each time for one reason.
fn refused(
    choices: &mut impl Choices,
    place: Place<'_>,
    mut fields: Fields<'_>,
) -> (String, Option<Effect>) {
    let Place { world, odd, .. } = place;
    fields.op = Some("\"append\"".to_owned());
    match choices.below(9) {
        0 => fields.op = Some(bad_op(choices).to_owned()),
        1 => fields.sources = Some(bad_sources(choices).to_owned()),
        2 => fields.data = bad_data(choices).to_owned(),
        3 => return (no_event(choices), None),
        4 | 5 if !world.nodes.is_empty() => lacking(choices, world, &mut fields),
        6 if world.nodes.len() > 1 => reversed(choices, world, &mut fields),
        _ => off_surface(choices, world, &mut fields),
    }
    (finish(choices, &fields, odd), None)
}

/// A replace whose sources lack one node, or all.
fn lacking(choices: &mut impl Choices, world: &World, fields: &mut Fields<'_>) {
    let (first, last) = range(choices, world);
    let nodes = world.range(first, last);
    let lost = choices.index(nodes.len());
    let mut kept: Vec<u64> = nodes.to_vec();
    if lost < kept.len() {
        kept.remove(lost);
    }
    kept.extend(&world.gone);
    fields.op = nodes.first().zip(nodes.last()).map(|(start, end)| replace_op(*start, *end));
    fields.sources = (!choices.one_in(5)).then(|| list(&kept));
}

fn reversed(choices: &mut impl Choices, world: &World, fields: &mut Fields<'_>) {
    let first = choices.index(world.nodes.len() - 1);
    let last = first + 1 + choices.index(world.nodes.len() - first - 1);
    let nodes = world.range(first, last);
    fields.op = nodes.last().zip(nodes.first()).map(|(start, end)| replace_op(*start, *end));
    fields.sources = Some(sources(choices, world, nodes));
}

/// A replace one end of which was shadowed, never was a node, is the event itself, or is far off.
fn off_surface(choices: &mut impl Choices, world: &World, fields: &mut Fields<'_>) {
    let next = world.next();
    let stale = world.gone.get(choices.index(world.gone.len())).copied();
    let off = world.off.get(choices.index(world.off.len())).copied();
    let bad = match choices.below(5) {
        0 | 1 => stale.or(off).unwrap_or(next),
        2 => off.or(stale).unwrap_or(next),
        3 => next,
        _ => next + 1 + u64::from(choices.below(3)),
    };
    let good = world.nodes.get(choices.index(world.nodes.len())).copied().unwrap_or(bad);
    let (start, end) = if choices.one_in(2) { (good, bad) } else { (bad, good) };
    fields.op = Some(if start == end { replace_op(bad, bad) } else { replace_op(start, end) });
    fields.sources = Some(list(&(0..=next).collect::<Vec<u64>>()));
}

/// The text of something that is no event, or of one that gives itself a place.
fn no_event(choices: &mut impl Choices) -> String {
    const NONE: &[&str] = &[
        "[]",
        "null",
        "7",
        r#"{"data":{}}"#,
        r#"{"type":"x"}"#,
        r#"{"type":null,"data":{}}"#,
        r#"{"type":"x","data":{},"seq":0}"#,
        r#"{"type":"x","data":{},"time":0}"#,
        r#"{"type":"x","data":{},"data":{}}"#,
        r#"{"type":"x","data":{},"surfaceOp":"append","surface\u004fp":"append"}"#,
    ];
    NONE.get(choices.index(NONE.len())).copied().unwrap_or("[]").to_owned()
}

/// An event of which nobody knows whether it is taken. Seqs are guessed from a small universe.
pub(super) fn hostile(choices: &mut impl Choices, number: u32, odd: bool) -> String {
    if choices.one_in(24) {
        return no_event(choices);
    }
    let types = if choices.one_in(4) { OTHER_TYPES } else { MESSAGE_TYPES };
    let event_type = types.get(choices.index(types.len())).copied().unwrap_or("x");
    let bad = choices.one_in(24);
    let data =
        if bad { bad_data(choices).to_owned() } else { data(choices, event_type, number, odd) };
    let universe = number.min(7);
    let op = match choices.below(16) {
        0..=4 => Some("\"append\"".to_owned()),
        5..=12 => {
            let start = choices.below(universe + 1);
            let end = if choices.one_in(3) { start } else { choices.below(universe + 1) };
            Some(replace_op(u64::from(start), u64::from(end)))
        }
        13 => Some(bad_op(choices).to_owned()),
        _ => None,
    };
    let sources = match choices.below(12) {
        0 => None,
        1 => Some(bad_sources(choices).to_owned()),
        2..=7 => Some(list(&(0..u64::from(number)).collect::<Vec<u64>>())),
        _ => {
            let seqs: Vec<u64> =
                (0..choices.below(6)).map(|_| u64::from(choices.below(universe + 1))).collect();
            Some(list(&seqs))
        }
    };
    finish(choices, &Fields { event_type, data, sources, op }, odd)
}

/// An event of the small alphabet, which [`exhaustive`](super::exhaustive) states.
pub(super) fn small(
    choices: &mut impl Choices,
    world: &World,
    number: u32,
    may_refuse: bool,
) -> (String, Option<Effect>) {
    let ranges = ranges(world.nodes.len());
    let refusals = if may_refuse { small_refusals(world, &ranges) } else { Vec::new() };
    let drawn = choices.index(2 + 2 * ranges.len() + refusals.len());
    let Some(drawn) = drawn.checked_sub(2) else {
        let effect = if drawn == 0 { Effect::Append } else { Effect::Off };
        return (plain(number, drawn == 0), Some(effect));
    };
    if let Some((first, last)) = ranges.get(drawn / 2).copied() {
        let nodes = world.range(first, last);
        let mut sources = nodes.to_vec();
        if drawn % 2 == 1 {
            sources.reverse();
            sources.push(world.next());
        }
        let text = small_replace(number, nodes.first(), nodes.last(), &list(&sources));
        return (text, Some(Effect::Replace(first, last)));
    }
    let refusal = refusals.get(drawn - 2 * ranges.len()).cloned().unwrap_or_default();
    (refusal, None)
}

/// Every range of a surface with this many nodes.
fn ranges(nodes: usize) -> Vec<(usize, usize)> {
    (0..nodes).flat_map(|first| (first..nodes).map(move |last| (first, last))).collect()
}

fn small_replace(number: u32, start: Option<&u64>, end: Option<&u64>, sources: &str) -> String {
    let (start, end) = (start.copied().unwrap_or_default(), end.copied().unwrap_or_default());
    let mut text = plain(number, false);
    text.pop();
    let op = replace_op(start, end);
    let _ = write!(text, ",\"sourceEventSeqs\":{sources},\"surfaceOp\":{op}}}");
    text
}

/// Every refusal of the small alphabet in this world.
fn small_refusals(world: &World, ranges: &[(usize, usize)]) -> Vec<String> {
    let next = world.next();
    let all = list(&(0..=next).collect::<Vec<u64>>());
    let replace =
        |start: u64, end: u64, sources: &str| small_replace(0, Some(&start), Some(&end), sources);
    let mut refusals = vec![
        "[]".to_owned(),
        seeded(&plain(0, true), next, 0).text().to_owned(),
        r#"{"type":"user/message","data":{},"surfaceOp":"append"}"#.to_owned(),
        r#"{"type":"x","data":{},"sourceEventSeqs":0,"surfaceOp":null}"#.to_owned(),
        r#"{"type":"x","data":{},"sourceEventSeqs":null,"surfaceOp":"append"}"#.to_owned(),
    ];
    let node = world.nodes.first().copied().unwrap_or(next);
    for bad in
        [world.gone.last().copied(), world.off.last().copied(), Some(next)].into_iter().flatten()
    {
        refusals.push(replace(bad, node, &all));
        refusals.push(replace(node, bad, &all));
    }
    for (first, last) in ranges {
        let nodes = world.range(*first, *last);
        let (Some(start), Some(end)) = (nodes.first(), nodes.last()) else { continue };
        if first < last {
            refusals.push(replace(*end, *start, &all));
        }
        for lost in nodes {
            let kept: Vec<u64> = nodes.iter().copied().filter(|seq| seq != lost).collect();
            refusals.push(replace(*start, *end, &list(&kept)));
        }
    }
    refusals
}
