//! Which result answers which call. SPEC.md, section 5, `repair.answers`.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use crate::spec::Json;

/// The calls of the messages seen so far, and what answered them.
#[derive(Debug, Default)]
pub(super) struct Calls<'a> {
    calls: Vec<Call<'a>>,
    /// For each id the messages that have calls of it open, and those calls in order.
    open: HashMap<Cow<'a, [u8]>, Vec<OpenIn>>,
}

/// A message, and its calls of one id that are open.
type OpenIn = (usize, VecDeque<usize>);

/// A `tool-call` block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    /// The position of its message.
    pub(super) message: usize,
    /// The id, a string.
    pub(super) id: Json<'a>,
    /// The position of the result that answered it.
    pub(super) answer: Option<usize>,
}

/// What a result answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answered {
    /// A call of the message at this position.
    Message(usize),
    /// No call of its id was made.
    NoCall,
    /// Every call of its id is answered already.
    NoneOpen,
}

impl<'a> Calls<'a> {
    /// Takes the calls of an assistant message, given by their ids.
    pub(super) fn open(&mut self, message: usize, ids: impl Iterator<Item = Json<'a>>) {
        for id in ids {
            let call = self.calls.len();
            self.calls.push(Call { message, id, answer: None });
            let open = self.open.entry(id.as_wtf8().unwrap_or_default()).or_default();
            match open.last_mut().filter(|(last, _)| *last == message) {
                Some((_, calls)) => calls.push_back(call),
                None => open.push((message, VecDeque::from([call]))),
            }
        }
    }

    /// Takes a result: it answers the first open call of its id in the nearest message before it.
    pub(super) fn answer(&mut self, position: usize, id: Json<'a>) -> Answered {
        let Some(open) = self.open.get_mut(&id.as_wtf8().unwrap_or_default()) else {
            return Answered::NoCall;
        };
        let Some((message, calls)) = open.last_mut() else { return Answered::NoneOpen };
        let (message, call) = (*message, calls.pop_front());
        if calls.is_empty() {
            open.pop();
        }
        if let Some(call) = call.and_then(|call| self.calls.get_mut(call)) {
            call.answer = Some(position);
        }
        Answered::Message(message)
    }

    /// The calls, in order.
    pub(super) fn all(&self) -> &[Call<'a>] {
        &self.calls
    }
}
