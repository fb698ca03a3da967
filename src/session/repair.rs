//! Repair: the closers of an interrupted turn. SPEC.md, section 5.

use std::collections::{HashMap, HashSet, VecDeque};

use super::calls::Calls;
use super::message::Message;
use crate::spec::{Contract, Draft, Event, Field, Json, JsonLine, Seq};

/// What repair has to know of a log beside its messages, kept up to date event by event. Its size
/// is that of the last turn.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    events: u64,
    last_time: i64,
    holds_messages: bool,
    turn: Option<Turn>,
    step: Option<Named>,
    /// The `tool/call` events of the last turn that carry an id.
    calls: Vec<(Seq, JsonLine)>,
    /// What `tool/result` events cite of the last turn and of what is still to come.
    cited: HashSet<Seq>,
}

/// The last turn.
#[derive(Clone, Debug)]
struct Turn {
    start: Seq,
    named: Named,
    is_ended: bool,
}

/// The integers that an event names; what is no integer is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) turn: Option<i64>,
    pub(super) step: Option<i64>,
}

impl Named {
    /// What `data` names.
    pub(super) fn of(data: Json<'_>) -> Named {
        let mut named = Named::default();
        for (key, value) in data.entries().into_iter().flatten() {
            if key.is_str("turn") {
                named.turn = value.as_integer();
            } else if key.is_str("step") {
                named.step = value.as_integer();
            }
        }
        named
    }

    /// The fields of an object that names the same.
    fn to_fields(self) -> Vec<String> {
        let turn = self.turn.map(|turn| format!("\"turn\":{turn}"));
        let step = self.step.map(|step| format!("\"step\":{step}"));
        turn.into_iter().chain(step).collect()
    }
}

impl Trace {
    /// Takes the next event of the log.
    pub fn see(&mut self, contract: &Contract, event: &Event) {
        self.pass(event.seq(), event.time());
        let event_type = event.event_type();
        self.holds_messages |= contract.makes_message(&event_type);
        match &*event_type {
            "turn/start" => self.start_turn(event),
            "turn/end" => {
                self.turn.iter_mut().for_each(|turn| turn.is_ended = true);
            }
            "step/start" => self.step = Some(Named::of(event.data())),
            "step/end" => self.step = None,
            "tool/call" => {
                let id = event.data().get("callId").filter(|id| id.as_wtf8().is_some());
                self.calls.extend(id.map(|id| (event.seq(), JsonLine::known(id.text()))));
            }
            "tool/result" => {
                if let Field::Given(sources) = event.sources() {
                    let from = self.turn.as_ref().map_or(Seq::ZERO, |turn| turn.start);
                    self.cited.extend(sources.into_iter().filter(|seq| *seq >= from));
                }
            }
            _ => {}
        }
    }

    /// Takes the next event of the log where it is known to be none of a turn, a step, a call, a
    /// result or a message.
    pub(super) fn pass(&mut self, seq: Seq, time: i64) {
        self.events = seq.get() + 1;
        self.last_time = time;
    }

    fn start_turn(&mut self, event: &Event) {
        let start = event.seq();
        let named = Named { step: None, ..Named::of(event.data()) };
        self.turn = Some(Turn { start, named, is_ended: false });
        self.step = None;
        self.calls.clear();
        self.cited.retain(|seq| *seq >= start);
    }

    fn uncited_calls(&self) -> CallsById {
        let mut calls = CallsById::new();
        for (seq, id) in self.calls.iter().filter(|(seq, _)| !self.cited.contains(seq)) {
            let id = id.json().as_wtf8().unwrap_or_default().into_owned();
            calls.entry(id).or_default().push_back(*seq);
        }
        calls
    }

    /// The closers of the log, given the messages that the model would see of it, in order.
    /// Clauses `repair.*`.
    pub fn closers<'a>(
        &self,
        has_surface: bool,
        messages: impl Iterator<Item = Message<'a>>,
    ) -> Vec<Event> {
        let Some(turn) = self.turn.as_ref().filter(|turn| !turn.is_ended) else {
            return Vec::new();
        };
        let messages: Vec<Message<'a>> = messages.filter(Message::is_call_or_result).collect();
        let mut closers = Closers { trace: self, closers: Vec::new(), calls: self.uncited_calls() };
        let mut calls = Calls::default();
        for (position, message) in messages.iter().enumerate() {
            if let Some(id) = message.answers() {
                calls.answer(position, id);
            } else if message.seq() >= turn.start {
                calls.open(position, message.calls());
            }
        }
        let is_marked = has_surface || !self.holds_messages;
        for call in calls.all().iter().filter(|call| call.answer.is_none()) {
            if let Some(message) = messages.get(call.message) {
                closers.close_call(message.named(), call.id, is_marked);
            }
        }
        if let Some(step) = self.step {
            closers.push("step/end", &object(&step.to_fields()), None, false);
        }
        let mut data = turn.named.to_fields();
        data.push(r#""reason":{"kind":"interrupted"}"#.to_owned());
        closers.push("turn/end", &object(&data), None, false);
        closers.closers
    }
}

/// What the model is told of a call that never returned.
const INTERRUPTED: &str = "The call was interrupted before its result was recorded.";

/// The closers made so far.
struct Closers<'a> {
    trace: &'a Trace,
    closers: Vec<Event>,
    calls: CallsById,
}

/// The `tool/call` events of each id that nobody cites, in order.
type CallsById = HashMap<Vec<u8>, VecDeque<Seq>>;

impl Closers<'_> {
    fn push(&mut self, event_type: &str, data: &JsonLine, source: Option<Seq>, is_marked: bool) {
        let mut draft = Draft::of_parts(event_type, data);
        if let Some(source) = source {
            draft = draft.citing(&[source]);
        }
        if is_marked {
            draft = draft.append();
        }
        let next = self.trace.events + self.closers.len() as u64;
        let seq = Seq::new(next).unwrap_or(Seq::MAX);
        self.closers.push(draft.stamp(seq, self.trace.last_time));
    }

    /// Closes a call. The closer cites the first `tool/call` of its id that nobody cites.
    fn close_call(&mut self, named: Named, id: Json<'_>, is_marked: bool) {
        let calls = id.as_wtf8().and_then(|id| self.calls.get_mut(id.as_ref()));
        let source = calls.and_then(VecDeque::pop_front);
        let mut data = named.to_fields();
        data.push(format!("\"callId\":{id}"));
        data.push(format!(r#""content":[{{"type":"text","text":"{INTERRUPTED}"}}]"#));
        data.push(r#""isError":true"#.to_owned());
        data.push(r#""error":{"name":"InterruptedError","code":"interrupted"}"#.to_owned());
        self.push("tool/result", &object(&data), source, is_marked);
    }
}

fn object(fields: &[String]) -> JsonLine {
    JsonLine::known(&format!("{{{}}}", fields.join(",")))
}
