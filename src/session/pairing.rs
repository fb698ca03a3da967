//! What a provider would refuse in the derived messages. SPEC.md, section 7.

use std::collections::HashSet;

use super::calls::{Answered, Calls};
use super::message::{Message, Role};
use crate::spec::{Json, PairingCode, Seq};

/// Something that a provider would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The node.
    pub seq: Seq,
    /// What it is.
    pub code: PairingCode,
    /// The same in words, with the call that it is about.
    pub message: String,
}

/// Walks the derived messages of a session and gives what a provider would refuse, by position and
/// then in the order of the codes. It takes time in proportion to the messages.
///
/// ```
/// use session_surface::session::{Session, pairing};
/// use session_surface::spec::{Contract, Draft, PairingCode};
///
/// let mut session = Session::new(Contract::ADR_0019);
/// let data = serde_json::json!({"turn": 1, "step": 1, "content": []});
/// session.append(&Draft::new("assistant/message", &data)?.append())?;
/// let findings = pairing(session.messages());
/// assert_eq!(findings[0].code, PairingCode::EmptyAssistant);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pairing<'a>(messages: impl Iterator<Item = Message<'a>>) -> Vec<Finding> {
    let messages: Vec<Message<'a>> = messages.collect();
    let mut walk = Walk { messages: &messages, findings: Vec::new(), answers: Vec::new() };
    let mut calls = Calls::default();
    for (position, message) in messages.iter().enumerate() {
        walk.texts(position, message);
        let answered = match message.answers() {
            Some(id) => walk.result(position, id, &mut calls),
            None => {
                walk.duplicate_ids(position, message);
                calls.open(position, message.calls());
                None
            }
        };
        walk.answers.push(answered);
    }
    walk.calls(&calls);
    walk.findings.sort_by_key(|(position, finding)| (*position, finding.code));
    walk.findings.into_iter().map(|(_, finding)| finding).collect()
}

/// The walk: what was found at which position, and which message each result answers.
struct Walk<'m, 'a> {
    messages: &'m [Message<'a>],
    findings: Vec<(usize, Finding)>,
    answers: Vec<Option<usize>>,
}

impl Walk<'_, '_> {
    fn find(&mut self, position: usize, code: PairingCode, message: String) {
        if let Some(at) = self.messages.get(position) {
            self.findings.push((position, Finding { seq: at.seq(), code, message }));
        }
    }

    /// What one message shows by itself.
    fn texts(&mut self, position: usize, message: &Message<'_>) {
        let mut blocks = message.inner_content().elements().into_iter().flatten();
        if message.role() == Role::Assistant && blocks.next().is_none() {
            let words = "its content is an empty array".to_owned();
            self.find(position, PairingCode::EmptyAssistant, words);
        }
        let mut strings = message.strings();
        if let Some(text) = strings.find(|text| text.holds_lone_surrogate()) {
            let words = format!("a string holds a lone surrogate: {}", excerpt(text));
            self.find(position, PairingCode::IllFormedText, words);
        }
    }

    fn duplicate_ids(&mut self, position: usize, message: &Message<'_>) {
        let (mut seen, mut told) = (HashSet::new(), HashSet::new());
        for id in message.calls() {
            let key = id.as_wtf8();
            if !seen.insert(key.clone()) && told.insert(key) {
                let words = format!("two calls of the message have the id {}", excerpt(id));
                self.find(position, PairingCode::DuplicateCallId, words);
            }
        }
    }

    /// Takes a result, and gives the message that it answers.
    fn result<'a>(
        &mut self,
        position: usize,
        id: Json<'a>,
        calls: &mut Calls<'a>,
    ) -> Option<usize> {
        match calls.answer(position, id) {
            Answered::Message(message) => return Some(message),
            Answered::NoCall => {
                let words = format!("no call with the id {} stands before it", excerpt(id));
                self.find(position, PairingCode::OrphanResult, words);
            }
            Answered::NoneOpen => {
                let words = format!("every call with the id {} is answered already", excerpt(id));
                self.find(position, PairingCode::DuplicateResult, words);
            }
        }
        None
    }

    /// What is known of the calls when all messages were seen.
    fn calls(&mut self, calls: &Calls<'_>) {
        // Calls come message by message, so what was last worked out is all that is needed.
        let (mut of, mut between, mut is_told) = (None, 0, false);
        for call in calls.all() {
            if of != Some(call.message) {
                (of, between, is_told) =
                    (Some(call.message), self.first_between(call.message), false);
            }
            match call.answer {
                None => {
                    let words = format!("no result answers the call {}", excerpt(call.id));
                    self.find(call.message, PairingCode::UnansweredCall, words);
                }
                Some(answer) if between < answer && !is_told => {
                    is_told = true;
                    let seq = self.messages.get(call.message).map_or(Seq::ZERO, Message::seq);
                    let id = excerpt(call.id);
                    let words =
                        format!("stands between the calls of event {seq} and the result of {id}");
                    self.find(between, PairingCode::Interleaved, words);
                }
                Some(_) => {}
            }
        }
    }

    /// The position of the first message behind this one that does not answer it.
    fn first_between(&self, message: usize) -> usize {
        let behind = self.answers.get(message + 1..).unwrap_or_default();
        let answers = behind.iter().take_while(|answered| **answered == Some(message)).count();
        message + 1 + answers
    }
}

/// The start of a text, on one line.
fn excerpt(text: Json<'_>) -> String {
    const LONGEST: usize = 60;
    match text.text().char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", text.text().get(..cut).unwrap_or_default()),
        None => text.text().to_owned(),
    }
}
