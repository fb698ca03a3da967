//! The development invariants: everything that is wrong with a log, event by event. SPEC.md,
//! section 6.

use std::collections::{HashMap, HashSet};

use super::manager::{Change, SurfaceManager};
use super::payload;
use super::repair::Named;
use crate::spec::{Contract, Event, Field, Json, RefusalCode, Seq, SurfaceOp, ViolationCode};

/// An invariant that an event violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The event.
    pub seq: Seq,
    /// What it violates.
    pub code: ViolationCode,
    /// What is open or was expected, and what the event says.
    pub message: String,
}

/// The checker. It takes a log event by event, reports what each violates, and goes on. Its size
/// is that of the surface and of the open step.
///
/// ```
/// use session_surface::session::Invariants;
/// use session_surface::spec::{Contract, Event, ViolationCode};
///
/// let mut invariants = Invariants::new(Contract::ADR_0019);
/// let event = Event::parse(r#"{"type":"usage","seq":0,"time":0,"data":{}}"#)?;
/// assert_eq!(invariants.check(&event)[0].code, ViolationCode::TurnOutside);
/// # Ok::<(), session_surface::spec::Refusal>(())
/// ```
#[derive(Clone, Debug)]
pub struct Invariants {
    manager: SurfaceManager,
    last: Option<Seq>,
    /// The seqs of the events so far: those below `whole`, and in a log that is not contiguous
    /// these others.
    whole: u64,
    others: HashSet<Seq>,
    is_marked: bool,
    holds_unmarked: bool,
    is_mixed: bool,
    turn: Option<Open>,
    step: Option<Open>,
    /// How many calls of each id in the open step no result has answered.
    calls: HashMap<Vec<u8>, usize>,
}

/// An open turn or step: the event that opened it and what that names.
#[derive(Clone, Copy, Debug)]
struct Open {
    seq: Seq,
    named: Named,
}

/// Checks a whole log.
pub fn violations<'a>(
    contract: Contract,
    log: impl IntoIterator<Item = &'a Event>,
) -> Vec<Violation> {
    let mut invariants = Invariants::new(contract);
    log.into_iter().flat_map(|event| invariants.check(event)).collect()
}

impl Invariants {
    /// The checker before the first event.
    pub fn new(contract: Contract) -> Invariants {
        Invariants {
            manager: SurfaceManager::new(contract),
            last: None,
            whole: 0,
            others: HashSet::new(),
            is_marked: false,
            holds_unmarked: false,
            is_mixed: false,
            turn: None,
            step: None,
            calls: HashMap::new(),
        }
    }

    /// Takes the next event of the log where it is known to stand at its place, to carry neither
    /// operation nor sources, and to make no message.
    pub(super) fn pass(&mut self, seq: Seq, event_type: &str, data: Json<'_>) -> Vec<Violation> {
        let mut found = Found { seq, violations: Vec::new() };
        self.manager.apply(seq, Change::Nothing);
        self.check_place(event_type, data, false, &mut found);
        self.note(seq);
        found.violations
    }

    /// Takes the next event of the log, and gives what it violates, in the order of the codes.
    pub fn check(&mut self, event: &Event) -> Vec<Violation> {
        let mut found = Found { seq: event.seq(), violations: Vec::new() };
        if let Some(last) = self.last.filter(|last| *last >= event.seq()) {
            found.add(ViolationCode::SeqNotIncreasing, || {
                format!("the event before it has seq {last}")
            });
        }
        self.check_sources(event, &mut found);
        if self.check_acceptance(event, &mut found) {
            self.check_surface(event, &mut found);
            let op = event.surface_op();
            let is_replace = matches!(op, Field::Given(SurfaceOp::Replace { .. }));
            self.check_place(&event.event_type(), event.data(), is_replace, &mut found);
        }
        self.note(event.seq());
        found.violations.sort_by_key(|violation| violation.code);
        found.violations
    }

    fn note(&mut self, seq: Seq) {
        self.last = Some(seq);
        if seq.get() == self.whole && self.others.is_empty() {
            self.whole += 1;
        } else {
            self.others.insert(seq);
        }
    }

    fn check_sources(&self, event: &Event, found: &mut Found) {
        let Field::Given(sources) = event.sources() else { return };
        if sources.is_empty() {
            found
                .add(ViolationCode::SourcesEmpty, || "sourceEventSeqs is an empty list".to_owned());
        }
        let mut seen = HashSet::new();
        if let Some(twice) = sources.iter().find(|seq| !seen.insert(**seq)) {
            found.add(ViolationCode::SourcesDuplicate, || format!("{twice} stands twice in it"));
        }
        let own = event.seq();
        if let Some(late) = sources.iter().find(|seq| **seq >= own) {
            found.add(ViolationCode::SourcesNotEarlier, || format!("{late} is not below {own}"));
        }
        let is_known = |seq: Seq| seq.get() < self.whole || self.others.contains(&seq);
        let is_unknown = |seq: &&Seq| **seq < own && !is_known(**seq);
        if let Some(unknown) = sources.iter().find(is_unknown) {
            found.add(ViolationCode::SourcesUnknown, || format!("no event has seq {unknown}"));
        }
    }

    /// The codes of section 2; whether the event is accepted.
    fn check_acceptance(&mut self, event: &Event, found: &mut Found) -> bool {
        let contract = self.manager.contract();
        if let Err(refusal) = payload::read(&contract, event) {
            found.add(ViolationCode::Refused(RefusalCode::DataMalformed), || refusal.to_string());
        }
        let (change, is_accepted) = match self.manager.admit(event) {
            Ok(change) => (change, true),
            Err(refusal) => {
                found.add(ViolationCode::Refused(refusal.code), || refusal.to_string());
                (Change::Nothing, false)
            }
        };
        self.manager.apply(event.seq(), change);
        is_accepted
    }

    fn check_surface(&mut self, event: &Event, found: &mut Found) {
        let contract = self.manager.contract();
        let event_type = event.event_type();
        if event.is_marked() && contract.is_silent(&event_type) {
            found.add(ViolationCode::IneligibleType, || {
                format!("{event_type} makes no message and carries a surfaceOp")
            });
        }
        self.is_marked |= event.is_marked();
        self.holds_unmarked |= !event.is_marked() && contract.makes_message(&event_type);
        if self.is_marked && self.holds_unmarked && !self.is_mixed {
            self.is_mixed = true;
            found.add(ViolationCode::LegacyMixed, || match event.is_marked() {
                true => "the first surfaceOp in a log that holds message events without one: \
                         those are invisible from here on"
                    .to_owned(),
                false => "a message event without surfaceOp in a log that has a surface: it is \
                          invisible"
                    .to_owned(),
            });
        }
    }

    /// Turns and steps, and what stands in them.
    fn check_place(
        &mut self,
        event_type: &str,
        data: Json<'_>,
        is_replace: bool,
        found: &mut Found,
    ) {
        let named = Named::of(data);
        match event_type {
            "turn/start" => self.start_turn(named, found),
            "turn/end" => self.end_turn(named, found),
            "step/start" => self.start_step(named, found),
            "step/end" => self.end_step(named, found),
            _ => {
                if self.turn.is_none() {
                    found.add(ViolationCode::TurnOutside, || "no turn is open".to_owned());
                }
                self.check_in_step(event_type, data, is_replace, found);
            }
        }
    }

    fn start_turn(&mut self, named: Named, found: &mut Found) {
        if let Some(open) = self.turn {
            found.add(ViolationCode::TurnNested, || format!("{} is open", open.turn()));
        }
        self.turn = Some(Open { seq: found.seq, named: Named { step: None, ..named } });
        self.close_step();
    }

    fn end_turn(&mut self, named: Named, found: &mut Found) {
        match self.turn {
            None => found.add(ViolationCode::TurnUnmatchedEnd, || "no turn is open".to_owned()),
            Some(open) if open.named.turn != named.turn => {
                found.add(ViolationCode::TurnUnmatchedEnd, || {
                    format!("{} is open, the end names {}", open.turn(), number(named.turn))
                });
            }
            Some(_) => {}
        }
        if let Some(open) = self.step {
            found.add(ViolationCode::TurnOpenStep, || format!("{} is open", open.step()));
        }
        self.turn = None;
        self.close_step();
    }

    fn start_step(&mut self, named: Named, found: &mut Found) {
        match self.turn {
            None => found.add(ViolationCode::StepOutsideTurn, || "no turn is open".to_owned()),
            Some(open) if open.named.turn != named.turn => {
                found.add(ViolationCode::StepOutsideTurn, || {
                    format!("{} is open, the step names turn {}", open.turn(), number(named.turn))
                });
            }
            Some(_) => {}
        }
        if let Some(open) = self.step {
            found.add(ViolationCode::StepNested, || format!("{} is open", open.step()));
        }
        self.close_step();
        self.step = Some(Open { seq: found.seq, named });
    }

    fn end_step(&mut self, named: Named, found: &mut Found) {
        match self.step {
            None => found.add(ViolationCode::StepUnmatchedEnd, || "no step is open".to_owned()),
            Some(open) if open.named != named => found.add(ViolationCode::StepUnmatchedEnd, || {
                format!("{} is open, the end names {}", open.step(), step(named))
            }),
            Some(_) => {}
        }
        self.close_step();
    }

    fn close_step(&mut self) {
        self.step = None;
        self.calls.clear();
    }

    /// Chunks, assistant messages, calls and results belong to the open step.
    fn check_in_step(
        &mut self,
        event_type: &str,
        data: Json<'_>,
        is_replace: bool,
        found: &mut Found,
    ) {
        let is_result = event_type == "tool/result";
        let is_in_step =
            matches!(event_type, "assistant/chunk" | "assistant/message" | "tool/call");
        if !is_result && !is_in_step {
            return;
        }
        let is_closer = is_result && self.is_closer(data);
        if !is_closer && !is_replace {
            self.check_names_step(Named::of(data), found);
        }
        if event_type == "tool/call" && self.step.is_some() {
            call_id(data).into_iter().for_each(|id| *self.calls.entry(id).or_default() += 1);
        } else if is_result && !is_replace {
            self.check_result(data, is_closer, found);
        }
    }

    fn check_result(&mut self, data: Json<'_>, is_closer: bool, found: &mut Found) {
        let id = call_id(data);
        let open = id.as_ref().and_then(|id| self.calls.get_mut(id)).filter(|open| **open > 0);
        match open {
            Some(open) => *open -= 1,
            None if !is_closer => found.add(ViolationCode::ResultWithoutCall, || {
                let id = data.get("callId").map_or("absent", Json::text);
                let place = self.step.map_or("none".to_owned(), |open| open.step());
                format!("no call with the id {id} is unanswered in the open step, {place}")
            }),
            None => {}
        }
    }

    fn check_names_step(&self, named: Named, found: &mut Found) {
        let turn = self.turn.map(|open| open.named.turn);
        let open = self.step.map(|open| open.named.step);
        if turn != Some(named.turn) || open != Some(named.step) {
            found.add(ViolationCode::StepMismatch, || {
                let place = match (self.turn, self.step) {
                    (_, Some(open)) => format!("{} is open", open.step()),
                    (Some(open), None) => format!("{} is open and no step", open.turn()),
                    (None, None) => "no turn is open".to_owned(),
                };
                format!("{place}, the event names {}", step(named))
            });
        }
    }

    /// Whether a result is a closer of an interrupted turn.
    fn is_closer(&self, data: Json<'_>) -> bool {
        let code = data.get("error").and_then(|error| error.get("code"));
        let codes = self.manager.contract().closer_codes;
        code.is_some_and(|code| codes.iter().any(|known| code.is_str(known)))
    }
}

fn call_id(data: Json<'_>) -> Option<Vec<u8>> {
    Some(data.get("callId")?.as_wtf8()?.into_owned())
}

impl Open {
    fn turn(self) -> String {
        format!("turn {} of event {}", number(self.named.turn), self.seq)
    }

    fn step(self) -> String {
        format!("{} of event {}", step(self.named), self.seq)
    }
}

fn step(named: Named) -> String {
    format!("turn {} step {}", number(named.turn), number(named.step))
}

fn number(number: Option<i64>) -> String {
    number.map_or("without a number".to_owned(), |number| number.to_string())
}

/// What one event violates.
struct Found {
    seq: Seq,
    violations: Vec<Violation>,
}

impl Found {
    fn add(&mut self, code: ViolationCode, message: impl FnOnce() -> String) {
        self.violations.push(Violation { seq: self.seq, code, message: message() });
    }
}
