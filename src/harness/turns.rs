//! Generated turns: calls and results that fit and that do not, interrupted anywhere, for repair
//! and the development invariants.
//!
//! Few ids and few numbers, so that ids are equal, results come before their calls, turns are left
//! open and numbers do not match; ranges that are replaced by a message or by a result.

use super::choices::Choices;
use super::event_text::{Style, list, replace_op};
use super::world::{Effect, World};
use crate::spec::MAX_INTEGER;

/// What is made of turns, and how often.
#[derive(Clone, Copy)]
enum Part {
    TurnStart,
    TurnEnd,
    StepStart,
    StepEnd,
    Assistant,
    Call,
    Result,
    User,
    ReplaceByMessage,
    ReplaceByResult,
    Other,
}

const PARTS: &[(u32, Part)] = &[
    (3, Part::TurnStart),
    (1, Part::TurnEnd),
    (3, Part::StepStart),
    (2, Part::StepEnd),
    (7, Part::Assistant),
    (6, Part::Call),
    (6, Part::Result),
    (2, Part::User),
    (2, Part::ReplaceByMessage),
    (2, Part::ReplaceByResult),
    (2, Part::Other),
];

/// What the generator remembers of the turns that it makes.
#[derive(Clone, Default)]
pub(super) struct Turns {
    turn: i64,
    step: i64,
    /// The `tool/call` events with their ids.
    calls: Vec<(u64, &'static str)>,
    /// Whether a payload may be malformed, which only a seed may hold.
    may_be_malformed: bool,
}

impl Turns {
    pub(super) fn new(may_be_malformed: bool) -> Turns {
        Turns { may_be_malformed, ..Turns::default() }
    }
}

/// The next event and what it does.
pub(super) fn event(
    choices: &mut impl Choices,
    turns: &mut Turns,
    world: &World,
    style: Style,
) -> (String, Effect) {
    let part = choices.weighted(PARTS).unwrap_or(Part::User);
    let is_marked = match style {
        Style::Marked => true,
        Style::Unmarked => false,
        Style::Mixed => !choices.one_in(4),
    };
    let id = id(choices);
    if style != Style::Unmarked && !world.nodes.is_empty() {
        let by_result = matches!(part, Part::ReplaceByResult);
        if by_result || matches!(part, Part::ReplaceByMessage) {
            return replace(choices, turns, world, by_result.then_some(id));
        }
    }
    let (event_type, data, sources) = match part {
        Part::TurnStart => {
            turns.turn = turn(choices);
            turns.step = 0;
            ("turn/start", format!("{{{}}}", named(choices, "turn", turns.turn)), None)
        }
        Part::TurnEnd => {
            let turn = named(choices, "turn", turns.turn);
            ("turn/end", format!(r#"{{{turn},"reason":{{"kind":"completed"}}}}"#), None)
        }
        Part::StepStart => {
            turns.step += 1;
            ("step/start", format!("{{{}}}", place(choices, turns)), None)
        }
        Part::StepEnd => ("step/end", format!("{{{}}}", place(choices, turns)), None),
        Part::Assistant => ("assistant/message", assistant(choices, turns), cited(choices, world)),
        Part::Call => {
            turns.calls.push((world.next(), id));
            let place = place(choices, turns);
            (
                "tool/call",
                format!(r#"{{{place},"callId":"{id}","name":"f","arguments":"{{}}"}}"#),
                None,
            )
        }
        Part::Result | Part::ReplaceByResult => {
            ("tool/result", result(choices, turns, id), call_cited(choices, turns, id))
        }
        Part::User | Part::ReplaceByMessage => ("user/message", USER.to_owned(), None),
        Part::Other => (other(choices), format!("{{{}}}", place(choices, turns)), None),
    };
    let makes_message = event_type.ends_with("/message") || event_type == "tool/result";
    let is_marked = is_marked && (makes_message || (style == Style::Mixed && choices.one_in(6)));
    let op = is_marked.then_some("\"append\"");
    let effect = if is_marked { Effect::Append } else { Effect::Off };
    (text(event_type, &data, sources.as_deref(), op), effect)
}

const USER: &str = r#"{"content":[{"type":"text","text":"u"}],"source":{"kind":"user"}}"#;

fn text(event_type: &str, data: &str, sources: Option<&str>, op: Option<&str>) -> String {
    let sources = sources.map(|list| format!(",\"sourceEventSeqs\":{list}")).unwrap_or_default();
    let op = op.map(|op| format!(",\"surfaceOp\":{op}")).unwrap_or_default();
    format!("{{\"type\":\"{event_type}\",\"data\":{data}{sources}{op}}}")
}

fn id(choices: &mut impl Choices) -> &'static str {
    const IDS: &[&str] = &["a", "a", "b", "b", "c", "\\u0061", "\\ud800", ""];
    IDS.get(choices.index(IDS.len())).copied().unwrap_or("a")
}

fn other(choices: &mut impl Choices) -> &'static str {
    const OTHERS: &[&str] = &["assistant/chunk", "usage", "error", "my/own"];
    OTHERS.get(choices.index(OTHERS.len())).copied().unwrap_or("usage")
}

/// A number under its key, seldom another one, and seldom something that is no integer.
fn named(choices: &mut impl Choices, key: &str, number: i64) -> String {
    match choices.below(16) {
        13 => format!("\"{key}\":7,\"{key}\":{number}"),
        14 => format!("\"{key}\":{}", number + 1),
        15 => format!("\"{key}\":{number}.0"),
        _ => format!("\"{key}\":{number}"),
    }
}

fn place(choices: &mut impl Choices, turns: &Turns) -> String {
    format!("{},{}", named(choices, "turn", turns.turn), named(choices, "step", turns.step))
}

fn turn(choices: &mut impl Choices) -> i64 {
    const TURNS: [i64; 6] = [1, 1, 2, 2, -1, MAX_INTEGER - 1];
    TURNS.get(choices.index(TURNS.len())).copied().unwrap_or(1)
}

/// A place that a message can be read with, or must not be read with.
fn message_place(choices: &mut impl Choices, turns: &Turns) -> String {
    if turns.may_be_malformed && choices.one_in(12) {
        return "\"turn\":\"x\",\"step\":1".to_owned();
    }
    let step = if choices.one_in(12) { turns.step + 1 } else { turns.step };
    format!("\"turn\":{},\"step\":{step}", turns.turn)
}

fn assistant(choices: &mut impl Choices, turns: &Turns) -> String {
    let blocks: Vec<String> = (0..choices.below(4))
        .map(|_| match choices.below(8) {
            6 => r#"{"type":"tool-call","id":7}"#.to_owned(),
            7 => r#"{"type":"text","text":"t","id":"a"}"#.to_owned(),
            _ => format!(r#"{{"type":"tool-call","id":"{}","name":"f"}}"#, id(choices)),
        })
        .collect();
    format!("{{{},\"content\":[{}]}}", message_place(choices, turns), blocks.join(","))
}

fn result(choices: &mut impl Choices, turns: &Turns, id: &str) -> String {
    let place = message_place(choices, turns);
    let error = if choices.one_in(8) { r#","error":{"code":"interrupted"}"# } else { "" };
    format!("{{{place},\"callId\":\"{id}\",\"content\":[],\"isError\":false{error}}}")
}

/// Sources of a message: mostly none, else whatever list.
fn cited(choices: &mut impl Choices, world: &World) -> Option<String> {
    let next = u32::try_from(world.next()).unwrap_or(u32::MAX);
    match choices.below(8) {
        5 => Some("[]".to_owned()),
        6 => Some(list(&[u64::from(choices.below(next + 2))])),
        7 => Some(list(&[0, u64::from(choices.below(next + 2)), 0])),
        _ => None,
    }
}

/// The call that a result cites: mostly one of its id, seldom another or one that is to come.
fn call_cited(choices: &mut impl Choices, turns: &Turns, id: &str) -> Option<String> {
    let of_id: Vec<u64> =
        turns.calls.iter().filter(|(_, other)| *other == id).map(|(seq, _)| *seq).collect();
    let one = of_id.get(choices.index(of_id.len())).copied();
    let any = turns.calls.get(choices.index(turns.calls.len())).map(|(seq, _)| *seq);
    match choices.below(8) {
        0..=4 => one.map(|seq| list(&[seq])),
        5 => any.map(|seq| list(&[seq])),
        6 => any.map(|seq| list(&[seq + 3])),
        _ => None,
    }
}

/// A replace of a range of the surface, by a message or by a result.
fn replace(
    choices: &mut impl Choices,
    turns: &Turns,
    world: &World,
    result_of: Option<&str>,
) -> (String, Effect) {
    let first = choices.index(world.nodes.len());
    let last = (first + choices.index(3)).min(world.nodes.len() - 1);
    let nodes = world.range(first, last);
    let op = nodes.first().zip(nodes.last()).map(|(start, end)| replace_op(*start, *end));
    let mut sources = nodes.to_vec();
    let (event_type, data) = match result_of {
        Some(id) => {
            let call = turns.calls.iter().find(|(_, other)| *other == id);
            sources.extend(call.map(|(seq, _)| *seq).filter(|_| choices.one_in(2)));
            ("tool/result", result(choices, turns, id))
        }
        None => ("user/message", USER.to_owned()),
    };
    (text(event_type, &data, Some(&list(&sources)), op.as_deref()), Effect::Replace(first, last))
}
