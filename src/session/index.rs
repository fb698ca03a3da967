//! Where a node stands: from its seq to its slot.
//!
//! An open-addressed table of slot numbers. The key of an entry is what its slot holds, so an
//! entry whose node was shadowed no longer matches and needs no removal; such entries go when the
//! table is next built. Eight seqs in a row share a cache line, since events that follow each
//! other are appended together and compacted together.

use super::slots::Slots;
use crate::spec::Seq;

const EMPTY: usize = usize::MAX;
const SMALLEST: usize = 16;
/// 2^64 divided by the golden ratio: multiplying by it spreads neighbouring blocks.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// See the head of this file. At most half of the buckets are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    buckets: Vec<usize>,
    entries: usize,
}

impl Index {
    /// How many entries there are, those of shadowed nodes included.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// The slot of a node.
    pub(super) fn slot(&self, slots: &Slots, seq: Seq) -> Option<usize> {
        let mut bucket = self.home(seq)?;
        loop {
            match self.buckets.get(bucket) {
                Some(&EMPTY) | None => return None,
                Some(&slot) if slots.holds(slot, seq) => return Some(slot),
                Some(_) => bucket = (bucket + 1) & (self.buckets.len() - 1),
            }
        }
    }

    /// Whether one more entry fits.
    pub(super) fn has_room(&self) -> bool {
        self.entries * 2 < self.buckets.len()
    }

    /// Adds the entry of a node that stands in `slot`. There must be room.
    pub(super) fn insert(&mut self, seq: Seq, slot: usize) {
        let Some(mut bucket) = self.home(seq) else { return };
        while self.buckets.get(bucket).is_some_and(|taken| *taken != EMPTY) {
            bucket = (bucket + 1) & (self.buckets.len() - 1);
        }
        if let Some(empty) = self.buckets.get_mut(bucket) {
            *empty = slot;
            self.entries += 1;
        }
    }

    /// Builds the table from nothing, with room for as many nodes again. Gives how many entries
    /// were written.
    pub(super) fn rebuild(&mut self, slots: &Slots) -> u64 {
        let size = (slots.live() * 4).next_power_of_two().max(SMALLEST);
        self.buckets.clear();
        self.buckets.shrink_to(size);
        self.buckets.resize(size, EMPTY);
        self.entries = 0;
        let mut slot = (slots.live() > 0).then_some(0);
        while let Some(at) = slot {
            if let Some(seq) = slots.node(at) {
                self.insert(seq, at);
            }
            slot = slots.next(at);
        }
        self.entries as u64
    }

    /// The first bucket to look into; `None` in a table without buckets.
    fn home(&self, seq: Seq) -> Option<usize> {
        let blocks = self.buckets.len() / 8;
        let bits = blocks.checked_ilog2()?;
        let spread = (seq.get() >> 3).wrapping_mul(SPREAD);
        let block = spread.checked_shr(64 - bits).unwrap_or(0) as usize;
        Some(block * 8 + (seq.get() & 7) as usize)
    }
}
