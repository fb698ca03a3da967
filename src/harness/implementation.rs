//! `Implementation`: whatever answers cases.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::case::{Answer, Ask, Case};
use crate::spec::Contract;

/// Something that answers cases. Cases are submitted and answered in the same order, and several
/// may be under way: that is what makes a process on the other side of a pipe fast.
pub trait Implementation {
    /// Hands over a case. It is answered on a fresh session.
    fn submit(&mut self, case: &Case);

    /// The answers to the oldest case that was submitted, one a step.
    fn next(&mut self) -> Vec<Answer>;

    /// Submits one case and waits for its answers.
    fn run(&mut self, case: &Case) -> Vec<Answer> {
        self.submit(case);
        self.next()
    }
}

/// A session in this process that answers steps.
pub trait Steps {
    /// A fresh session under a contract.
    fn start(contract: Contract) -> Self;

    /// The answer to one step.
    fn answer(&mut self, ask: &Ask) -> Answer;
}

/// Makes an [`Implementation`] of something that answers steps. A panic becomes an answer.
#[derive(Debug)]
pub struct InProcess<S> {
    answers: VecDeque<Vec<Answer>>,
    kind: std::marker::PhantomData<fn() -> S>,
}

impl<S: Steps> InProcess<S> {
    /// An implementation that has answered nothing yet.
    pub fn new() -> InProcess<S> {
        InProcess { answers: VecDeque::new(), kind: std::marker::PhantomData }
    }
}

impl<S: Steps> Default for InProcess<S> {
    fn default() -> InProcess<S> {
        InProcess::new()
    }
}

impl<S: Steps> Implementation for InProcess<S> {
    fn submit(&mut self, case: &Case) {
        let mut answers = Vec::with_capacity(case.steps.len());
        let outcome = answering(|| {
            let mut session = S::start(case.contract);
            answers.extend(case.steps.iter().map(|step| session.answer(&step.ask)));
        });
        if let Err(panic) = outcome {
            answers.push(Answer::Error(panic));
        }
        self.answers.push_back(answers);
    }

    fn next(&mut self) -> Vec<Answer> {
        self.answers.pop_front().unwrap_or_default()
    }
}

thread_local! {
    static ANSWERING: Cell<bool> = const { Cell::new(false) };
}

/// Runs what is being judged. A panic becomes its words.
pub(super) fn answering<T>(ask: impl FnOnce() -> T) -> Result<T, String> {
    ANSWERING.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(ask));
    ANSWERING.set(false);
    outcome.map_err(|panic| format!("panicked: {}", words(panic.as_ref())))
}

/// Whether this thread is inside an implementation that is being judged, where a panic is a
/// verdict and need not be printed.
pub fn is_answering() -> bool {
    ANSWERING.get()
}

/// What a panic said.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
