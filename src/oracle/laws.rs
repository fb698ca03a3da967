//! The laws of the surface, as relations between what an implementation shows of one log and of
//! another. They know nothing of how a surface is kept: anything that reads a log can be asked.
//!
//! In the equations `L` is a log, `L[..n]` its first `n` events, `S(L)` its nodes, `M(L)` its
//! messages, `V(L)` both, and `·` puts lists behind each other. A log that is refused stands for
//! its longest prefix that is read. Logs are small: where a law has a choice, every one is tried.

use std::collections::BTreeSet;

use crate::spec::Json;

/// What an implementation shows of a whole log.
#[derive(Clone, Debug)]
pub struct View {
    /// The nodes of the surface, head to tail.
    pub nodes: Vec<u64>,
    /// The derived messages, as JSON texts.
    pub messages: Vec<String>,
}

/// Reads a whole log, event texts with `seq` and `time`, cut into deltas at these ascending
/// indexes. `None` where the log is refused.
pub type Read<'a> = dyn Fn(&[String], &[usize]) -> Option<View> + 'a;

/// A law over one log. The error is one sentence that says what broke.
pub type Law = fn(&Read<'_>, &[String]) -> Result<(), String>;

/// Repairs a whole log, event texts with `seq` and `time`: the closers, the messages before, and
/// the messages after. `None` where the log is refused.
pub type Repair<'a> = dyn Fn(&[String]) -> Option<(Vec<String>, Vec<String>, Vec<String>)> + 'a;

/// Every law that is asked of a [`Read`], with its name.
pub const ALL: &[(&str, Law)] = &[
    ("function of the log", function_of_the_log),
    ("cutting into deltas", cutting),
    ("accepted append", accepted_append),
    ("replace changes only its range", replace_changes_its_range),
    ("at most once and never again", at_most_once),
    ("nodes and shadowed", nodes_and_shadowed),
    ("refusal changes nothing", refusal_changes_nothing),
    ("unmarked events are invisible", unmarked_events),
    ("fork", fork),
    ("time orders nothing", time_orders_nothing),
];

/// `V(L) = V(L)`, whatever other logs were read in between. Clause `surface.fold`.
pub fn function_of_the_log(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    let (log, views) = prefixes(read, log)?;
    for (n, view) in views.iter().enumerate().rev() {
        let again = read(first(log, n), &[]);
        agree(view, again, || format!("two reads of the first {n} events differ"))?;
    }
    Ok(())
}

/// `V(L cut at i and j) = V(L)` for all `i ≤ j`, and for a cut at every event.
/// Clauses `delta.cuts`, `delta.snapshot`.
pub fn cutting(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    let (log, view) = accepted(read, log)?;
    let pairs = (0..=log.len()).flat_map(|i| (i..=log.len()).map(move |j| vec![i, j]));
    for cuts in pairs.chain([(0..=log.len()).collect()]) {
        agree(&view, read(log, &cuts), || format!("cuts at {cuts:?} show in the answer"))?;
    }
    Ok(())
}

/// `S(L · append) = S(L) · [seq]`, and `M(L · append) = M(L) · m` with `m` one message or none if
/// `L` has a surface or no unmarked message event (without a surface it would show those).
/// Clauses `surface.append`, `message.order`, `message.mixed`.
pub fn accepted_append(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    each_step(read, log, |prefix, event, before, after| {
        if !event.get("surfaceOp").is_some_and(|op| op.is_str("append")) {
            return Ok(());
        }
        let seq = prefix.len() as u64;
        let nodes = [before.nodes.as_slice(), &[seq]].concat();
        ensure(after.nodes == nodes, || format!("append {seq} does not just add a tail"))?;
        if !has_surface(prefix) && !before.messages.is_empty() {
            return Ok(());
        }
        let count = before.messages.len();
        let kept = same_messages(&before.messages, first(&after.messages, count));
        let grown_by_one_at_most = after.messages.len() <= count + 1;
        ensure(kept && grown_by_one_at_most, || format!("append {seq} changes earlier messages"))
    })
}

/// Where `S(L) = a · [start … end] · c`: `S(L · replace) = a · [seq] · c`, and
/// `M(L · replace) = M(a) · M(the event alone) · M(c)`, with `M(a)` and `M(c)` as `L` shows them.
/// Clauses `replace.inclusive`, `replace.place`, `replace.start`, `replace.end`, `replace.order`.
pub fn replace_changes_its_range(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    each_step(read, log, |prefix, event, before, after| {
        let seq = prefix.len() as u64;
        let place = |end: &str| {
            let end = event.get("surfaceOp").and_then(|op| op.get(end)).and_then(as_seq)?;
            before.nodes.iter().position(|node| *node == end)
        };
        if event.get("surfaceOp").and_then(|op| op.get("op")).is_none() {
            return Ok(());
        }
        let (Some(start), Some(end)) = (place("start"), place("end")) else {
            return Err(format!("replace {seq} was accepted though an end of it is no node"));
        };
        ensure(start <= end, || format!("replace {seq} was accepted though it is reversed"))?;
        let (head, tail) = (first(&before.nodes, start), after_first(&before.nodes, end + 1));
        let nodes = [head, &[seq], tail].concat();
        ensure(after.nodes == nodes, || format!("replace {seq} moves more than its range"))?;
        let shown = |nodes: &[u64]| -> Result<usize, String> {
            nodes.iter().try_fold(0, |sum, node| Ok(sum + alone(read, nth(prefix, *node))?.len()))
        };
        let tail_from = before.messages.len().saturating_sub(shown(tail)?);
        let messages = [
            first(&before.messages, shown(head)?),
            &alone(read, event.text())?,
            after_first(&before.messages, tail_from),
        ]
        .concat();
        let same = same_messages(&after.messages, &messages);
        ensure(same, || format!("replace {seq} changes messages outside its range"))
    })
}

/// A seq is in `S(L)` at most once, and `s ∈ S(L[..n])`, `s ∉ S(L[..n+1])` gives `s ∉ S(L[..m])`
/// for every `m > n`. Clause `replace.forever`.
pub fn at_most_once(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    let mut gone = BTreeSet::new();
    let (_, views) = prefixes(read, log)?;
    for pair in views.windows(2) {
        let [before, after] = pair else { continue };
        let nodes = BTreeSet::from_iter(after.nodes.iter().copied());
        ensure(nodes.len() == after.nodes.len(), || {
            format!("a node stands twice on the surface {:?}", after.nodes)
        })?;
        gone.extend(before.nodes.iter().copied().filter(|node| !nodes.contains(node)));
        ensure(gone.is_disjoint(&nodes), || {
            format!("a shadowed node is back on the surface {:?}", after.nodes)
        })?;
    }
    Ok(())
}

/// `S(L) ∪ shadowed(L)`, all that was a node of some `L[..n]`, is the set of the events with a
/// `surfaceOp`, and from `S(L)` each of them is reached through `sourceEventSeqs`.
/// Clauses `surface.append`, `surface.unmarked`, `replace.coverage`.
pub fn nodes_and_shadowed(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    let (log, views) = prefixes(read, log)?;
    let mut ever = BTreeSet::new();
    for (n, view) in views.iter().enumerate() {
        let prefix = first(log, n);
        let marked =
            (0..n as u64).filter(|seq| has_surface(std::slice::from_ref(nth(prefix, *seq))));
        let marked = BTreeSet::from_iter(marked);
        ever.extend(view.nodes.iter().copied());
        ensure(ever == marked, || format!("after {n} events {ever:?} were nodes, not {marked:?}"))?;
        let (mut reached, mut open) = (BTreeSet::new(), view.nodes.clone());
        while let Some(seq) = open.pop() {
            if reached.insert(seq) && seq < n as u64 {
                open.extend(sources(nth(prefix, seq)));
            }
        }
        ensure(marked.is_subset(&reached), || {
            format!("after {n} events the sources of the nodes do not lead to all of {marked:?}")
        })?;
    }
    Ok(())
}

/// `L · e` is refused and `V(L)` stays what it was, for each prefix `L` and a replace `e` made of
/// each event: of itself where it is no node, else without a source, and back to the head.
/// Clauses `refusal.changes-nothing`, `replace.start`, `replace.order`, `replace.coverage`.
pub fn refusal_changes_nothing(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    let (log, views) = prefixes(read, log)?;
    for (n, view) in views.iter().enumerate() {
        let all: Vec<String> = (0..=log.len()).map(|seq| seq.to_string()).collect();
        let all = all.join(",");
        for (event, seq) in log.iter().zip(0..) {
            let damaged = match view.nodes.first() {
                _ if !view.nodes.contains(&seq) => vec![(seq, all.as_str())],
                Some(head) if *head != seq => vec![(seq, ""), (*head, all.as_str())],
                _ => vec![(seq, "")],
            };
            for (end, cited) in damaged {
                let rest = format!(
                    r#""sourceEventSeqs":[{cited}],"surfaceOp":{{"op":"replace","start":{seq},"end":{end}}}"#
                );
                let prefix = first(log, n);
                let longer = [prefix, &[placed(event, n as u64, &rest)]].concat();
                ensure(read(&longer, &[n]).is_none(), || {
                    format!("a replace of {seq} to {end} citing [{cited}] is taken at {n}")
                })?;
                agree(view, read(prefix, &[]), || {
                    format!("a refused replace of {seq} to {end} changes the first {n} events")
                })?;
            }
        }
    }
    Ok(())
}

/// `M(L with an event inserted) = M(L)` for an event without `surfaceOp` that makes no message, at
/// every place, if `L` has a surface; `S` is the same after renumbering.
/// Clauses `surface.unmarked`, `message.order`, `message.types`.
pub fn unmarked_events(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    let (log, view) = accepted(read, log)?;
    for at in (0..=log.len() as u64).filter(|_| has_surface(log)) {
        let moved = |seq: u64| if (at..log.len() as u64).contains(&seq) { seq + 1 } else { seq };
        let mut longer: Vec<String> = log.iter().map(|event| renumbered(event, &moved)).collect();
        longer
            .insert(at as usize, format!(r#"{{"type":"usage","seq":{at},"time":0,"data":{{}}}}"#));
        let nodes = view.nodes.iter().map(|seq| moved(*seq)).collect();
        let expected = View { nodes, messages: view.messages.clone() };
        agree(&expected, read(&longer, &[]), || format!("an unmarked event shows at {at}"))?;
    }
    Ok(())
}

/// `V(fork(L, n)) = V(L[..n])`: a prefix of a log is a log, shows the same after its parent went
/// on, and what the child appends stays its own. Clause `fork.prefix`.
pub fn fork(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    let (log, views) = prefixes(read, log)?;
    let Some((parent, event)) = views.last().zip(log.first()) else { return Ok(()) };
    for (n, view) in views.iter().enumerate() {
        agree(parent, read(log, &[n]), || format!("the parent of a fork at {n} changed"))?;
        agree(view, read(first(log, n), &[]), || format!("the fork at {n} shows its parent"))?;
        let own = placed(event, n as u64, r#""surfaceOp":"append""#);
        let Some(child) = read(&[first(log, n), &[own]].concat(), &[n]) else { continue };
        let nodes = [view.nodes.as_slice(), &[n as u64]].concat();
        ensure(child.nodes == nodes, || format!("an append to the fork at {n} is misplaced"))?;
        agree(parent, read(log, &[]), || {
            format!("the child of a fork at {n} shows in its parent")
        })?;
    }
    Ok(())
}

/// `V(L with its times permuted) = V(L)`, for each rotation and its reversal. Clause `log.time`.
pub fn time_orders_nothing(read: &Read<'_>, log: &[String]) -> Result<(), String> {
    let (log, view) = accepted(read, log)?;
    let mut times: Vec<String> =
        log.iter().filter_map(|event| Some(field(event, "time")?.to_string())).collect();
    for turn in 0..log.len() * 2 {
        times.rotate_left(1);
        if turn == log.len() {
            times.reverse();
        }
        let timed = |(event, time): (&String, &String)| {
            rewritten(event, |key, value| {
                Some(if key.is_str("time") { time.clone() } else { value.to_string() })
            })
        };
        let other: Vec<String> = log.iter().zip(&times).map(timed).collect();
        agree(&view, read(&other, &[]), || format!("the times {times:?} change the answer"))?;
    }
    Ok(())
}

/// With `R(L)` the closers of `L`: `M(L · R(L)) = M(L) · m` for some messages `m`, and
/// `R(L · R(L))` is empty, for `L` and each prefix of it that is read.
/// Clauses `repair.idempotent`, `repair.mark`, `repair.last-turn`.
pub fn repair_only_adds(repair: &Repair<'_>, log: &[String]) -> Result<(), String> {
    for (n, log) in (0..=log.len()).map(|n| (n, first(log, n))) {
        let Some((closers, before, after)) = repair(log) else { continue };
        let kept = same_messages(&before, first(&after, before.len()));
        ensure(kept, || format!("repair of the first {n} events changes messages"))?;
        let Some((more, shown, still)) = repair(&[log, &closers].concat()) else {
            return Err(format!("the closers of the first {n} events are refused behind them"));
        };
        ensure(more.is_empty(), || {
            format!("a second repair of the first {n} events adds {more:?}")
        })?;
        ensure(same_messages(&after, &shown) && same_messages(&shown, &still), || {
            format!("the closers of the first {n} events show other messages when read again")
        })?;
    }
    Ok(())
}

fn ensure(holds: bool, broken: impl Fn() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(broken()) }
}

fn agree(view: &View, other: Option<View>, broken: impl Fn() -> String) -> Result<(), String> {
    let Some(other) = other else { return Err(format!("{}: it is refused", broken())) };
    let same = view.nodes == other.nodes && same_messages(&view.messages, &other.messages);
    ensure(same, || format!("{}: {view:?} became {other:?}", broken()))
}

fn same_messages(a: &[String], b: &[String]) -> bool {
    let same = |(a, b): (&String, &String)| match (Json::parse(a), Json::parse(b)) {
        (Ok(a), Ok(b)) => a.same_value(b),
        _ => false,
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// The longest prefix of a log that is read, and what it shows.
fn accepted<'l>(read: &Read<'_>, log: &'l [String]) -> Result<(&'l [String], View), String> {
    let mut prefixes = (0..=log.len()).rev().map(|n| first(log, n));
    let read_prefix = prefixes.find_map(|prefix| Some((prefix, read(prefix, &[])?)));
    read_prefix.ok_or_else(|| "the empty log is refused".to_owned())
}

/// The longest prefix of a log that is read, and what each prefix of it shows.
fn prefixes<'l>(read: &Read<'_>, log: &'l [String]) -> Result<(&'l [String], Vec<View>), String> {
    let (log, _) = accepted(read, log)?;
    let views: Option<_> = (0..=log.len()).map(|n| read(first(log, n), &[])).collect();
    Ok((log, views.ok_or("a prefix of a log that is read is refused")?))
}

/// Asks `law` of every event: the log before it, the event, the view before and the view after.
fn each_step(
    read: &Read<'_>,
    log: &[String],
    law: impl Fn(&[String], Json<'_>, &View, &View) -> Result<(), String>,
) -> Result<(), String> {
    let (log, views) = prefixes(read, log)?;
    for ((n, event), pair) in log.iter().enumerate().zip(views.windows(2)) {
        let (Ok(event), [before, after]) = (Json::parse(event), pair) else {
            return Err(format!("event {n} is read though it is no JSON"));
        };
        law(first(log, n), event, before, after)?;
    }
    Ok(())
}

/// The messages that an event gives as the one node of a log.
fn alone(read: &Read<'_>, event: &str) -> Result<Vec<String>, String> {
    let event = placed(event, 0, r#""surfaceOp":"append""#);
    let view = read(std::slice::from_ref(&event), &[]);
    Ok(view.ok_or_else(|| format!("{event} is refused as the one node of a log"))?.messages)
}

/// The event at another seq, with other fields for its operation and sources.
fn placed(event: &str, seq: u64, rest: &str) -> String {
    let kept = rewritten(event, |key, value| {
        let placing = ["seq", "surfaceOp", "sourceEventSeqs"].iter().any(|name| key.is_str(name));
        (!placing).then(|| value.to_string())
    });
    let kept = kept.strip_suffix('}').unwrap_or(&kept);
    format!(r#"{kept},"seq":{seq},{rest}}}"#)
}

/// The event with every seq in it moved.
fn renumbered(event: &str, moved: &impl Fn(u64) -> u64) -> String {
    let seq =
        |value: Json<'_>| as_seq(value).map_or(value.to_string(), |seq| moved(seq).to_string());
    rewritten(event, |key, value| match () {
        () if key.is_str("seq") => Some(seq(value)),
        () if key.is_str("sourceEventSeqs") => {
            let seqs: Vec<String> = value.elements()?.map(seq).collect();
            Some(format!("[{}]", seqs.join(",")))
        }
        () if key.is_str("surfaceOp") => match value.entries() {
            Some(_) => Some(rewritten(value.text(), |_, value| Some(seq(value)))),
            None => Some(value.to_string()),
        },
        () => Some(value.to_string()),
    })
}

/// An object whose values are changed, or left out with their keys.
fn rewritten(object: &str, change: impl Fn(Json<'_>, Json<'_>) -> Option<String>) -> String {
    let entries = Json::parse(object).ok().and_then(Json::entries).into_iter().flatten();
    let fields = entries.filter_map(|(key, value)| {
        let value = change(key, value)?;
        Some(format!("{key}:{value}"))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

fn field<'e>(event: &'e str, name: &str) -> Option<Json<'e>> {
    Json::parse(event).ok()?.get(name)
}

fn has_surface(log: &[String]) -> bool {
    log.iter().any(|event| field(event, "surfaceOp").is_some())
}

fn sources(event: &str) -> Vec<u64> {
    let sources = field(event, "sourceEventSeqs").and_then(Json::elements).into_iter().flatten();
    sources.filter_map(as_seq).collect()
}

fn as_seq(value: Json<'_>) -> Option<u64> {
    u64::try_from(value.as_integer()?).ok()
}

fn first<T>(list: &[T], count: usize) -> &[T] {
    list.get(..count).unwrap_or(list)
}

fn after_first<T>(list: &[T], count: usize) -> &[T] {
    list.get(count..).unwrap_or_default()
}

/// The event at a seq; a text that is no event where there is none.
fn nth(log: &[String], seq: u64) -> &String {
    static NONE: String = String::new();
    log.get(seq as usize).unwrap_or(&NONE)
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;
    use crate::oracle::Oracle;
    use crate::spec::Contract;

    /// The oracle has no deltas: it is seeded with the log up to each cut in turn.
    fn oracle(log: &[String], cuts: &[usize]) -> Option<View> {
        let mut oracle = Oracle::new(Contract::ADR_0019);
        for cut in cuts.iter().copied().chain([log.len()]) {
            let events: Result<Vec<Json<'_>>, _> =
                first(log, cut).iter().map(|event| Json::parse(event)).collect();
            oracle.seed(&events.ok()?).value.ok()?;
            oracle.surface();
        }
        let messages =
            oracle.messages().value.into_iter().map(|(text, _)| text.to_owned()).collect();
        Some(View { nodes: oracle.surface().value, messages })
    }

    /// A log in a few signs: `a` an append, `r0-1` a replace citing its range and `r0-1:0,1,7` one
    /// citing these, `m` an unmarked message, `u` an unmarked other, `s` a silent node, `x` a node
    /// of malformed data.
    fn log(signs: &str) -> Vec<String> {
        let event = |(seq, sign): (usize, &str)| {
            let (name, rest) = match sign.split_at(1) {
                ("a", _) => ("user/message", r#","surfaceOp":"append""#.to_owned()),
                ("m", _) => ("user/message", String::new()),
                ("u", _) => ("usage", String::new()),
                ("s", _) => ("usage", r#","surfaceOp":"append","sourceEventSeqs":[]"#.to_owned()),
                ("x", _) => ("tool/result", r#","surfaceOp":"append""#.to_owned()),
                (_, range) => {
                    let (ends, cited) = range.split_once(':').unwrap_or((range, ""));
                    let (start, end) = ends.split_once('-').unwrap();
                    let cited =
                        if cited.is_empty() { format!("{start},{end}") } else { cited.to_owned() };
                    let op = format!(r#"{{"op":"replace","start":{start},"end":{end}}}"#);
                    ("user/message", format!(r#","sourceEventSeqs":[{cited}],"surfaceOp":{op}"#))
                }
            };
            let content = format!(r#"[{{"type":"text","text":"{seq}{sign}"}}]"#);
            let data = format!(r#"{{"content":{content},"source":{{"kind":"user"}}}}"#);
            let time = 100 - seq * 7 % 5;
            format!(r#"{{"type":"{name}","seq":{seq},"time":{time},"data":{data}{rest}}}"#)
        };
        signs.split_whitespace().enumerate().map(event).collect()
    }

    const LOGS: &[&str] = &[
        "",
        "u",
        "m u m",
        "a",
        "a a a",
        "a s u a r0-1 a",
        "a a a a r0-1 r4-2:4,2",
        "a a a a r1-2 r0-4:0,4 r5-3",
        "a r0-0 r1-1 r2-2 a r3-4",
        "m m a m r2-2",
        "u m s m a r2-4 r5-5:5,99,0,5",
        "a x s a x r0-2:2,1,0 r5-3 a r6-7:6,4,7",
        "a a a r1-1 r0-3 u a m r4-2 r8-6",
        "s s r0-1 m u s r2-5",
    ];

    #[test]
    fn the_oracle_obeys_every_law() {
        for signs in LOGS {
            let log = log(signs);
            assert!(oracle(&log, &[]).is_some(), "{signs} is refused");
            for (name, law) in ALL {
                assert_eq!(law(&oracle, &log), Ok(()), "{name} over {signs}");
            }
        }
    }

    /// How a reading of the contract is wrong.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Fault {
        None,
        CountsReads,
        LosesTheEventAfterACut,
        AppendsAtTheHead,
        ReplacesAtTheTail,
        LeavesOutTheEnd,
        ComparesNumbers,
        OrdersByNumber,
        BringsBackTheShadowed,
        KeepsTheShadowed,
        NeedsNoSources,
        TakesReversedRanges,
        ShowsUnmarkedEvents,
        ReadsTheParent,
        OrdersByTime,
    }

    /// A small reading of the contract whose messages are the `data` of its nodes, with a fault.
    fn faulty(fault: Fault) -> impl Fn(&[String], &[usize]) -> Option<View> {
        let empty = View { nodes: Vec::new(), messages: Vec::new() };
        let (reads, longest) = (Cell::new(0), RefCell::new((0, empty)));
        move |log, cuts| {
            reads.set(reads.get() + 1);
            let mut nodes: Vec<u64> = Vec::new();
            for (event, seq) in log.iter().zip(0..) {
                let Some(op) = field(event, "surfaceOp") else { continue };
                let lost = fault == Fault::LosesTheEventAfterACut && cuts.contains(&(seq as usize));
                if lost || op.is_str("append") {
                    let at = if fault == Fault::AppendsAtTheHead { 0 } else { nodes.len() };
                    nodes.splice(at..at, (!lost).then_some(seq));
                    continue;
                }
                let (from, to) = (as_seq(op.get("start")?)?, as_seq(op.get("end")?)?);
                let place = |end| nodes.iter().position(|node| *node == end);
                let (mut start, mut end) = (place(from)?, place(to)?);
                let reversed = match fault {
                    Fault::ComparesNumbers => from > to,
                    _ => start > end,
                };
                if reversed && fault != Fault::TakesReversedRanges {
                    return None;
                }
                (start, end) = (start.min(end), start.max(end));
                let cited = sources(event);
                let covered = nodes[start..=end].iter().all(|node| cited.contains(node));
                if !covered && fault != Fault::NeedsNoSources {
                    return None;
                }
                match fault {
                    Fault::ReplacesAtTheTail => {
                        nodes.drain(start..=end);
                        nodes.push(seq);
                    }
                    Fault::LeavesOutTheEnd => drop(nodes.splice(start..end, [seq])),
                    Fault::KeepsTheShadowed => nodes.insert(start, seq),
                    Fault::BringsBackTheShadowed if seq % 2 == 1 => {
                        nodes.splice(start..=end, [seq, 0]);
                    }
                    _ => drop(nodes.splice(start..=end, [seq])),
                }
            }
            match fault {
                Fault::OrdersByNumber => nodes.sort(),
                Fault::OrdersByTime => {
                    nodes.sort_by_key(|seq| field(nth(log, *seq), "time").unwrap().as_integer());
                }
                Fault::CountsReads if reads.get() % 5 == 0 => nodes.reverse(),
                _ => {}
            }
            let scan = !has_surface(log) || fault == Fault::ShowsUnmarkedEvents;
            let unmarked = (0..log.len() as u64).filter(|seq| scan && !nodes.contains(seq));
            let shown = nodes.iter().copied().chain(unmarked);
            let data = |seq| {
                let event = nth(log, seq);
                let text = field(event, "data")?.to_string();
                (!field(event, "type")?.is_str("usage") || scan).then_some(text)
            };
            let view = View { messages: shown.filter_map(data).collect(), nodes };
            let mut longest = longest.borrow_mut();
            if log.len() >= longest.0 {
                *longest = (log.len(), view.clone());
            }
            Some(if fault == Fault::ReadsTheParent { longest.1.clone() } else { view })
        }
    }

    /// Whether a fault breaks a law over some log, among them two that are to be refused.
    fn breaks(fault: Fault, law: &Law) -> bool {
        let refused = ["a a r0-1:0 a", "a a r1-0 a"];
        let mut logs = LOGS.iter().chain(&refused);
        logs.any(|signs| law(&faulty(fault), &log(signs)).is_err())
    }

    #[test]
    fn a_right_reading_of_the_contract_breaks_no_law() {
        for (name, law) in ALL {
            assert!(!breaks(Fault::None, law), "{name}");
        }
    }

    #[test]
    fn each_law_is_broken_by_the_wrong_readings_that_it_is_against() {
        let expected = [
            (Fault::CountsReads, "function of the log"),
            (Fault::LosesTheEventAfterACut, "cutting into deltas"),
            (Fault::AppendsAtTheHead, "accepted append"),
            (Fault::ReplacesAtTheTail, "replace changes only its range"),
            (Fault::LeavesOutTheEnd, "replace changes only its range"),
            (Fault::OrdersByNumber, "replace changes only its range"),
            (Fault::KeepsTheShadowed, "replace changes only its range"),
            (Fault::TakesReversedRanges, "replace changes only its range"),
            (Fault::BringsBackTheShadowed, "at most once and never again"),
            (Fault::NeedsNoSources, "nodes and shadowed"),
            (Fault::NeedsNoSources, "refusal changes nothing"),
            (Fault::ComparesNumbers, "refusal changes nothing"),
            (Fault::ShowsUnmarkedEvents, "unmarked events are invisible"),
            (Fault::ReadsTheParent, "fork"),
            (Fault::OrdersByTime, "time orders nothing"),
        ];
        for (name, law) in ALL {
            let faults: Vec<Fault> =
                expected.iter().filter(|e| e.1 == *name).map(|e| e.0).collect();
            assert!(!faults.is_empty(), "nothing breaks {name}");
            for fault in faults {
                assert!(breaks(fault, law), "{fault:?} does not break {name}");
            }
        }
    }

    fn oracle_repair(log: &[String]) -> Option<(Vec<String>, Vec<String>, Vec<String>)> {
        let mut oracle = Oracle::new(Contract::ADR_0019);
        let events: Result<Vec<Json<'_>>, _> = log.iter().map(|event| Json::parse(event)).collect();
        oracle.seed(&events.ok()?).value.ok()?;
        let messages = |oracle: &Oracle| {
            oracle.messages().value.into_iter().map(|(text, _)| text.to_owned()).collect()
        };
        let before = messages(&oracle);
        let closers = oracle.repair().value;
        Some((closers, before, messages(&oracle)))
    }

    /// A log in a few signs: `T`, `t` a turn's start and end, `S`, `s` a step's, `c` a `tool/call`,
    /// `A` and `r` a marked message with two equal calls and a marked result, `B` and `q` the same
    /// without a mark, `x` a result in the place of all nodes.
    fn turns(signs: &str) -> Vec<String> {
        let mut nodes: Vec<usize> = Vec::new();
        let event = |(seq, sign): (usize, char)| {
            let call = r#"{"type":"tool-call","id":"c"}"#;
            let (name, rest) = match sign {
                'T' => ("turn/start", ""),
                't' => ("turn/end", ""),
                'S' => ("step/start", ""),
                's' => ("step/end", ""),
                'c' => ("tool/call", r#","callId":"c""#),
                'A' | 'B' => ("assistant/message", ""),
                _ => ("tool/result", r#","callId":"c","isError":false"#),
            };
            let content =
                if "AB".contains(sign) { format!("{call},{call}") } else { String::new() };
            let mark = match sign {
                'A' | 'r' => r#","surfaceOp":"append""#.to_owned(),
                'x' => format!(
                    r#","sourceEventSeqs":{nodes:?},"surfaceOp":{{"op":"replace","start":{},"end":{}}}"#,
                    nodes.first().unwrap(),
                    nodes.last().unwrap(),
                ),
                _ => String::new(),
            };
            match sign {
                'A' | 'r' => nodes.push(seq),
                'x' => nodes = vec![seq],
                _ => {}
            }
            let data = format!(r#"{{"turn":1,"step":1,"content":[{content}]{rest}}}"#);
            format!(r#"{{"type":"{name}","seq":{seq},"time":{seq},"data":{data}{mark}}}"#)
        };
        signs.chars().enumerate().map(event).collect()
    }

    const TURNS: &[&str] =
        &["", "A", "TSAccrs", "TSBccqs", "TtTScArx", "ArTAxAt", "TSATBrSsS", "BTASAqTcccAA"];

    #[test]
    fn the_repair_of_the_oracle_only_adds_and_adds_once() {
        for signs in TURNS {
            let log = turns(signs);
            assert!(oracle_repair(&log).is_some(), "{signs} is refused");
            assert_eq!(repair_only_adds(&oracle_repair, &log), Ok(()), "{signs}");
        }
    }

    #[test]
    fn a_repair_that_does_more_than_add_breaks_its_law() {
        let adds_one_closer_at_a_time = |log: &[String]| {
            let (mut closers, before, after) = oracle_repair(log)?;
            closers.truncate(1);
            Some((closers, before, after))
        };
        let marks_in_an_unmarked_log = |log: &[String]| {
            let (closers, before, after) = oracle_repair(log)?;
            let mark = |closer: String| match field(&closer, "surfaceOp") {
                None if closer.contains("tool/result") => {
                    closer.replace(r#","data""#, r#","surfaceOp":"append","data""#)
                }
                _ => closer,
            };
            let closers: Vec<String> = closers.into_iter().map(mark).collect();
            let after = oracle_repair(&[log, &closers].concat()).map_or(after, |again| again.2);
            Some((closers, before, after))
        };
        let closes_at_the_wrong_seq = |log: &[String]| {
            let (closers, before, after) = oracle_repair(log)?;
            Some((closers.iter().map(|closer| renumbered(closer, &|_| 0)).collect(), before, after))
        };
        let shows_what_it_does_not_add = |log: &[String]| {
            let (closers, before, mut after) = oracle_repair(log)?;
            after.push("{}".to_owned());
            Some((closers, before, after))
        };
        let wrong: [&Repair<'_>; 4] = [
            &adds_one_closer_at_a_time,
            &marks_in_an_unmarked_log,
            &closes_at_the_wrong_seq,
            &shows_what_it_does_not_add,
        ];
        for (n, repair) in wrong.into_iter().enumerate() {
            let broken = |signs: &&str| repair_only_adds(repair, &turns(signs)).is_err();
            assert!(TURNS.iter().any(broken), "wrong repair {n} is not noticed");
        }
    }
}
