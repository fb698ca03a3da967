//! Exhaustive search: every log of at most so many events over a small alphabet.
//!
//! The alphabet, at each event of a log: a message that is appended; a message without operation;
//! a replace of every range of the surface, once with its sources in order and once with them in
//! reverse and one more; and at most once in a log an event that is refused:
//!
//! - no object, a `seq` of its own, a payload that lacks its fields, a malformed operation beside
//!   malformed sources, malformed sources;
//! - a replace that starts or ends at the node shadowed last, at the last event without
//!   operation, or at itself;
//! - every reversed range, and every range with each one of its sources left out.
//!
//! Refused twice is left out: a refusal must change nothing, which every log with one refusal
//! shows. Each log is presented as one batch that is read at the end, read after every event, read
//! after each one of its events alone, and as a seed of a session that holds another event, once
//! with a gap before its last seq. All messages are of one type and payloads differ by a number,
//! so no two logs differ by names alone.

use super::case::Case;
use super::choices::Odometer;
use super::generate::{self, Settings};
use crate::spec::Contract;

/// The part of the search below some first choices, for one of several workers.
#[derive(Clone, Debug)]
pub struct Part {
    odometer: Odometer,
    settings: Settings,
    contract: Contract,
    is_done: bool,
}

/// The whole search, in parts that hold every case once.
pub fn parts(contract: Contract, most: u32) -> Vec<Part> {
    (1..=most).flat_map(|events| parts_of(contract, Settings::exhaustive(events))).collect()
}

fn parts_of(contract: Contract, settings: Settings) -> Vec<Part> {
    // Deep enough for a few hundred parts, shallow enough to be found at once.
    let depth = settings.most.saturating_sub(3) as usize;
    let mut odometer = Odometer::new();
    let mut parts = Vec::new();
    loop {
        generate::case(&mut odometer, &settings, contract);
        let mut first = odometer.clone();
        first.cut_to(depth);
        parts.push(Part { odometer: first.below_here(), settings, contract, is_done: false });
        if !odometer.advance_within(depth) {
            return parts;
        }
    }
}

impl Iterator for Part {
    type Item = Case;

    fn next(&mut self) -> Option<Case> {
        if self.is_done {
            return None;
        }
        let case = generate::case(&mut self.odometer, &self.settings, self.contract);
        self.is_done = !self.odometer.advance();
        Some(case)
    }
}
