//! The shrinker: a failing case made small, with everything renumbered.
//!
//! It tries smaller cases in a fixed order and keeps the first that still fails, until none does:
//! steps dropped, events dropped, steps joined, seeds turned into appends, replaces turned into
//! appends, ranges and sources shortened, payloads made plain.

use super::case::{Answer, Ask, Case, Step};
use super::judge::expected;
use crate::oracle::Oracle;
use crate::spec::{Json, JsonLine, Seq, SurfaceOp};

/// How much there is of a case. Every step of the shrinker makes it less.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Size {
    events: usize,
    steps: usize,
    seeds: usize,
    replaces: usize,
    width: u64,
    sources: usize,
    bytes: usize,
}

/// The smallest case that is found from a failing one. `fails` runs a case and says whether it
/// still fails; it is asked at most `runs` times.
pub fn shrink(case: &Case, runs: usize, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut smallest = case.clone();
    let mut left = runs;
    loop {
        let size = Size::of(&smallest);
        let mut smaller = candidates(&smallest).filter(|candidate| Size::of(candidate) < size);
        let next = smaller.find(|candidate| {
            left = left.saturating_sub(1);
            left > 0 && fails(candidate)
        });
        drop(smaller);
        match next {
            Some(next) => smallest = next,
            None => return smallest,
        }
    }
}

impl Size {
    fn of(case: &Case) -> Size {
        let mut size = Size {
            events: 0,
            steps: case.steps.len(),
            seeds: 0,
            replaces: 0,
            width: 0,
            sources: 0,
            bytes: 0,
        };
        for step in &case.steps {
            size.seeds += usize::from(matches!(step.ask, Ask::Seed(_)));
            for event in step.ask.events() {
                let parts = Parts::of(event);
                size.events += 1;
                size.bytes += event.text().len();
                size.sources += parts.sources().map_or(0, |sources| sources.len());
                if let Some((start, end)) = parts.range() {
                    size.replaces += 1;
                    size.width += start.abs_diff(end);
                }
            }
        }
        size
    }
}

/// The cases that are tried, those that drop most first.
fn candidates(case: &Case) -> impl Iterator<Item = Case> + '_ {
    let places: Vec<(usize, usize)> = (0..case.steps.len())
        .flat_map(|step| (0..events_of(case, step).len()).map(move |event| (step, event)))
        .collect();
    let halves = halves(case.steps.len()).map(|kept| with_steps(case, kept));
    let drops = (0..case.steps.len()).rev().map(|step| without_step(case, step));
    let joins = (1..case.steps.len()).filter_map(|step| joined(case, step));
    let appends = (0..case.steps.len()).filter_map(|step| as_append(case, step));
    let backwards = places.clone().into_iter().rev();
    let events = backwards.map(|(step, event)| without_event(case, step, event));
    let edits = places.into_iter().flat_map(|(step, event)| edited(case, step, event));
    halves.chain(drops).chain(events).chain(joins).chain(appends).chain(edits)
}

fn events_of(case: &Case, step: usize) -> &[JsonLine] {
    case.steps.get(step).map_or(&[], |step| step.ask.events())
}

/// How many of the first steps to keep: half, three quarters, and so on.
fn halves(steps: usize) -> impl Iterator<Item = usize> {
    let dropped = std::iter::successors(Some(steps / 2), |dropped| Some(dropped / 2));
    dropped.take_while(|dropped| *dropped > 0).map(move |dropped| steps - dropped)
}

fn with_steps(case: &Case, kept: usize) -> Case {
    Case { steps: case.steps.iter().take(kept).cloned().collect(), ..case.clone() }
}

/// The case without a step. The events of an append go one by one, so that the rest is renumbered.
fn without_step(case: &Case, step: usize) -> Case {
    let mut smaller = case.clone();
    if matches!(case.steps.get(step), Some(Step { ask: Ask::Append(_), .. })) {
        for event in (0..events_of(case, step).len()).rev() {
            smaller = without_event(&smaller, step, event);
        }
        // The last event took the step with it.
        return smaller;
    }
    smaller.steps.remove(step);
    smaller
}

/// The case without an event; the events behind it, and what refers to them, move up.
fn without_event(case: &Case, step: usize, event: usize) -> Case {
    let gone = seq_of(case, step, event);
    let mut smaller = case.clone();
    for (at, later) in smaller.steps.iter_mut().enumerate().skip(step) {
        let is_seed = matches!(later.ask, Ask::Seed(_));
        if is_seed && at > step {
            // A whole log of its own: nothing in it refers to what went before.
            break;
        }
        if let Ask::Append(events) | Ask::Seed(events) = &mut later.ask {
            if at == step {
                events.remove(event);
            }
            let first = if at == step { event } else { 0 };
            if let Some(gone) = gone {
                for text in events.iter_mut().skip(first) {
                    *text = Parts::of(text).without(gone).text();
                }
            }
        }
    }
    let is_empty = |ask: &Ask| matches!(ask, Ask::Append(events) if events.is_empty());
    smaller.steps.retain(|step| !is_empty(&step.ask));
    smaller
}

/// The seq that an event gets, if the contract takes it. In a seed every event has its index.
fn seq_of(case: &Case, step: usize, event: usize) -> Option<u64> {
    let mut oracle = Oracle::new(case.contract);
    for earlier in case.steps.iter().take(step) {
        expected(&mut oracle, &earlier.ask);
    }
    match case.steps.get(step).map(|step| &step.ask)? {
        Ask::Seed(_) => Some(event as u64),
        ask => match expected(&mut oracle, ask).answer {
            Answer::Taken { seqs, .. } => seqs.get(event).copied(),
            _ => None,
        },
    }
}

/// The case with two neighbouring appends as one.
fn joined(case: &Case, step: usize) -> Option<Case> {
    let mut smaller = case.clone();
    let Step { ask: Ask::Append(tail), .. } = smaller.steps.remove(step) else { return None };
    match &mut smaller.steps.get_mut(step - 1)?.ask {
        Ask::Append(head) => head.extend(tail),
        _ => return None,
    }
    Some(smaller)
}

/// The case with a seed that comes first as an append.
fn as_append(case: &Case, step: usize) -> Option<Case> {
    let mut smaller = case.clone();
    let ask = &mut smaller.steps.get_mut(step)?.ask;
    let Ask::Seed(events) = ask else { return None };
    let events = events.iter().map(|text| Parts::of(text).without_place().text()).collect();
    *ask = Ask::Append(events);
    Some(smaller)
}

/// The case with one event made simpler, in several ways.
fn edited(case: &Case, step: usize, event: usize) -> Vec<Case> {
    let Some(text) = events_of(case, step).get(event) else { return Vec::new() };
    let parts = Parts::of(text);
    let mut simpler = vec![parts.plain("[]"), parts.plain(SHORT), parts.without_unknown()];
    if let Some((start, end)) = parts.range() {
        simpler.push(parts.with_op("\"append\"".to_owned()));
        simpler
            .extend([(start, start), (end, end)].map(|(start, end)| parts.with_range(start, end)));
    }
    if let Some(sources) = parts.sources() {
        simpler.push(parts.with_sources(None));
        for lost in 0..sources.len() {
            let mut kept = sources.clone();
            kept.remove(lost);
            simpler.push(parts.with_sources(Some(kept)));
        }
        let mut sorted = sources.clone();
        sorted.sort_unstable();
        sorted.dedup();
        simpler.push(parts.with_sources(Some(sorted)));
    }
    let changed = |parts: Parts| {
        let mut smaller = case.clone();
        let ask = smaller.steps.get_mut(step).map(|step| &mut step.ask);
        if let Some(Ask::Append(events) | Ask::Seed(events)) = ask
            && let Some(place) = events.get_mut(event)
        {
            *place = parts.text();
        }
        smaller
    };
    simpler.into_iter().map(changed).collect()
}

/// Content that can be told from none.
const SHORT: &str = r#"[{"type":"text","text":"a"}]"#;

/// An event's text as keys and values that can be changed. What is no object stays as it is.
#[derive(Clone)]
struct Parts {
    whole: JsonLine,
    entries: Option<Vec<(String, String)>>,
}

impl Parts {
    fn of(event: &JsonLine) -> Parts {
        let own =
            |(key, value): (Json<'_>, Json<'_>)| (key.text().to_owned(), value.text().to_owned());
        let entries = event.json().entries().map(|entries| entries.map(own).collect());
        Parts { whole: event.clone(), entries }
    }

    fn text(&self) -> JsonLine {
        let Some(entries) = &self.entries else { return self.whole.clone() };
        let fields: Vec<String> =
            entries.iter().map(|(key, value)| format!("{key}:{value}")).collect();
        JsonLine::known(&format!("{{{}}}", fields.join(",")))
    }

    fn get(&self, name: &str) -> Option<Json<'_>> {
        let entries = self.entries.as_ref()?;
        let (_, value) = entries.iter().find(|(key, _)| is_key(key, name))?;
        Json::parse(value).ok()
    }

    fn with(&self, change: impl FnOnce(&mut Vec<(String, String)>)) -> Parts {
        let mut changed = self.clone();
        if let Some(entries) = &mut changed.entries {
            change(entries);
        }
        changed
    }

    fn with_value(&self, name: &str, value: String) -> Parts {
        self.with(|entries| {
            if let Some(entry) = entries.iter_mut().find(|(key, _)| is_key(key, name)) {
                entry.1 = value;
            }
        })
    }

    fn range(&self) -> Option<(u64, u64)> {
        match SurfaceOp::from_json(self.get("surfaceOp")?)? {
            SurfaceOp::Replace { start, end } => Some((start.get(), end.get())),
            SurfaceOp::Append => None,
        }
    }

    fn sources(&self) -> Option<Vec<u64>> {
        let elements = self.get("sourceEventSeqs")?.elements()?;
        elements.map(|element| Seq::from_json(element).map(Seq::get)).collect()
    }

    fn with_op(&self, op: String) -> Parts {
        self.with_value("surfaceOp", op)
    }

    fn with_range(&self, start: u64, end: u64) -> Parts {
        self.with_op(format!(r#"{{"op":"replace","start":{start},"end":{end}}}"#))
    }

    fn with_sources(&self, sources: Option<Vec<u64>>) -> Parts {
        match sources {
            Some(sources) => self.with_value("sourceEventSeqs", format!("{sources:?}")),
            None => self.with(|entries| entries.retain(|(key, _)| !is_key(key, "sourceEventSeqs"))),
        }
    }

    fn without_place(&self) -> Parts {
        self.with(|entries| entries.retain(|(key, _)| !is_key(key, "seq") && !is_key(key, "time")))
    }

    fn without_unknown(&self) -> Parts {
        const KNOWN: [&str; 6] = ["type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp"];
        self.with(|entries| entries.retain(|(key, _)| KNOWN.iter().any(|name| is_key(key, name))))
    }

    /// The event as the simplest message with this content.
    fn plain(&self, content: &str) -> Parts {
        let data = format!(r#"{{"content":{content},"source":{{"kind":"user"}}}}"#);
        self.with_value("type", "\"user/message\"".to_owned()).with_value("data", data)
    }

    /// The event as it is when the one with seq `gone` is not there. An end that named it names
    /// the event before it.
    fn without(&self, gone: u64) -> Parts {
        let moved = |seq: u64| if seq > gone { seq - 1 } else { seq };
        let end = |seq: u64| if seq >= gone { seq.saturating_sub(1) } else { seq };
        let mut changed = self.clone();
        if let Some(seq) = self.get("seq").and_then(Seq::from_json) {
            changed = changed.with_value("seq", moved(seq.get()).to_string());
        }
        if let Some((start, last)) = self.range() {
            changed = changed.with_range(end(start), end(last));
        }
        if let Some(sources) = self.sources() {
            let kept = sources.into_iter().filter(|seq| *seq != gone).map(moved).collect();
            changed = changed.with_sources(Some(kept));
        }
        changed
    }
}

fn is_key(key: &str, name: &str) -> bool {
    Json::parse(key).is_ok_and(|key| key.is_str(name))
}
