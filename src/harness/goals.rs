//! Reachability goals: what a search must have shown before its silence means anything.

use std::collections::BTreeSet;

use super::case::{Answer, Ask, Case};
use super::judge::expected;
use crate::oracle::Oracle;
use crate::spec::{JsonLine, RefusalCode, clause};

/// The goals that are still to be reached.
#[derive(Clone, Debug)]
pub struct Goals {
    open: BTreeSet<Goal>,
}

/// Something that a search must have met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Goal {
    ReplacedReplacement,
    RangeOfThree,
    Refused(RefusalCode),
    ReadBehind(u64),
}

impl Goals {
    /// The goals of a search over logs of at most so many events. A replacement is replaced after
    /// three events, a range of three after four; shorter searches need not reach them.
    pub fn new(events: u32) -> Goals {
        let mut open: BTreeSet<Goal> = RefusalCode::ALL.map(Goal::Refused).into();
        open.extend((1..u64::from(events)).map(Goal::ReadBehind));
        if events >= 3 {
            open.insert(Goal::ReplacedReplacement);
        } else {
            open.retain(|goal| !matches!(goal, Goal::Refused(RefusalCode::ReversedRange)));
        }
        if events >= 4 {
            open.insert(Goal::RangeOfThree);
        }
        if events < 2 {
            open.retain(|goal| !matches!(goal, Goal::Refused(code) if code.as_str().starts_with("replace/")));
            open.insert(Goal::Refused(RefusalCode::StartNotOnSurface));
        }
        Goals { open }
    }

    /// Whether every goal was reached.
    pub fn are_reached(&self) -> bool {
        self.open.is_empty()
    }

    /// The goals that were not reached, in words.
    pub fn open(&self) -> Vec<String> {
        self.open.iter().map(|goal| format!("not reached: {}", goal.words())).collect()
    }

    /// Keeps the goals that neither this search nor another one reached.
    pub fn join(&mut self, other: &Goals) {
        self.open.retain(|goal| other.open.contains(goal));
    }

    /// Sees which goals a case reaches. Costs nothing once all are reached.
    pub fn see(&mut self, case: &Case) {
        if self.are_reached() {
            return;
        }
        let mut oracle = Oracle::new(case.contract);
        for step in &case.steps {
            match &step.ask {
                Ask::Append(events) => {
                    for event in events {
                        self.see_event(&mut oracle, event);
                    }
                }
                ask => {
                    let answer = expected(&mut oracle, ask).answer;
                    self.see_refusal(&answer);
                    if ask.is_read() {
                        self.open.remove(&Goal::ReadBehind(oracle.len()));
                    }
                }
            }
        }
    }

    fn see_event(&mut self, oracle: &mut Oracle, event: &JsonLine) {
        let before = oracle.surface();
        let answer = expected(oracle, &Ask::Append(vec![event.clone()])).answer;
        self.see_refusal(&answer);
        let after = oracle.surface().value;
        if after.len() + 2 <= before.value.len() {
            self.open.remove(&Goal::RangeOfThree);
        }
        let nodes = before.value.iter().zip(&before.clauses);
        let mut lost = nodes.filter(|(seq, _)| !after.contains(seq));
        if lost.any(|(_, entered)| *entered == clause::REPLACE_PLACE) {
            self.open.remove(&Goal::ReplacedReplacement);
        }
    }

    fn see_refusal(&mut self, answer: &Answer) {
        if let Answer::Taken { refused: Some(refused), .. } = answer {
            let code = refused.code.as_deref().and_then(RefusalCode::from_text);
            code.map(|code| self.open.remove(&Goal::Refused(code)));
        }
    }
}

impl Goal {
    fn words(&self) -> String {
        match self {
            Goal::ReplacedReplacement => "a replacement of a replacement".to_owned(),
            Goal::RangeOfThree => "a range of three".to_owned(),
            Goal::Refused(code) => format!("a refusal with {code}"),
            Goal::ReadBehind(events) => {
                format!("a read between events {} and {events}", events - 1)
            }
        }
    }
}
