//! Where a node stands: from its seq to its slot.
//!
//! An open-addressed table. An entry stands for up to sixteen seqs that follow each other and came
//! to slots that follow each other: the first slot, and a bit for each seq that is among them. The
//! slot of a seq is the first slot plus the bits below its own. What a slot holds tells whether
//! the answer is right, so entries need no keys, and the entry of a shadowed node needs no removal:
//! it goes when the table is next built.

use std::hash::{BuildHasher, RandomState};

use super::slots::Slots;
use crate::spec::Seq;

const EMPTY: u64 = 0;
const SMALLEST: usize = 16;
/// See the head of this file. At most half of the buckets are taken.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// Entries as numbers: a fresh table then comes as zeroed memory.
    buckets: Vec<u64>,
    entries: usize,
    /// The bucket of the newest entry, and the block that it is for.
    newest: Option<(usize, u64)>,
    /// Odd and random: whoever writes a log chooses which seqs are nodes, and must not be able to
    /// choose those that meet in one place.
    spread: u64,
}

impl Default for Index {
    fn default() -> Index {
        let spread = RandomState::new().hash_one(0) | 1;
        Index { buckets: Vec::new(), entries: 0, newest: None, spread }
    }
}

/// The first slot in the upper 48 bits, the seqs of the block in the lower 16. No seq, no entry.
#[derive(Clone, Copy)]
struct Entry(u64);

impl Entry {
    fn new(slot: usize, seq: Seq) -> Entry {
        Entry((slot as u64) << 16 | Entry::bit(seq))
    }

    fn bit(seq: Seq) -> u64 {
        1 << (seq.get() & 15)
    }

    /// The slot of a seq, if this entry is for its block and the seq is in it.
    fn slot(self, seq: Seq) -> Option<usize> {
        let bit = Entry::bit(seq);
        let before = (self.0 & (bit - 1)).count_ones();
        (self.0 & bit != 0).then_some((self.0 >> 16) as usize + before as usize)
    }

    /// The entry with one more seq, if that is higher than those in it and came to the next slot.
    fn with(self, slot: usize, seq: Seq) -> Option<Entry> {
        let bit = Entry::bit(seq);
        let seqs = self.0 & 0xFFFF;
        let next = (self.0 >> 16) as usize + seqs.count_ones() as usize;
        (seqs < bit && slot == next).then_some(Entry(self.0 | bit))
    }
}

impl Index {
    /// How many entries there are, those of shadowed nodes included.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// The size of an entry, in bytes.
    pub(super) const ENTRY: usize = size_of::<Entry>();

    /// Forgets every entry, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.buckets.fill(EMPTY);
        self.entries = 0;
        self.newest = None;
    }

    /// The slot of a node.
    pub(super) fn slot(&self, slots: &Slots, seq: Seq) -> Option<usize> {
        let mut bucket = self.home(seq)?;
        loop {
            let entry = self.buckets.get(bucket).filter(|entry| **entry != EMPTY)?;
            match Entry(*entry).slot(seq) {
                Some(slot) if slots.holds(slot, seq) => return Some(slot),
                _ => bucket = (bucket + 1) & (self.buckets.len() - 1),
            }
        }
    }

    /// Adds a node that came to `slot`. Gives how many entries were moved: all where the table was
    /// full and is built anew.
    #[inline]
    pub(super) fn insert(&mut self, slots: &Slots, seq: Seq, slot: usize) -> u64 {
        if self.extend_newest(seq, slot) {
            return 0;
        }
        if self.entries * 2 >= self.buckets.len() {
            return self.rebuild(slots);
        }
        self.add(seq, slot);
        0
    }

    /// Builds the table from nothing, with room for half as many entries again. Gives how many were
    /// written.
    pub(super) fn rebuild(&mut self, slots: &Slots) -> u64 {
        // An entry is for one block, and every node is in one.
        let blocks = slots.live().min(self.entries + 1);
        let size = (blocks * 3).next_power_of_two().max(SMALLEST);
        *self = Index { buckets: vec![EMPTY; size], ..Index::default() };
        for (slot, seq) in slots.occupied() {
            if !self.extend_newest(seq, slot) {
                self.add(seq, slot);
            }
        }
        self.entries as u64
    }

    fn extend_newest(&mut self, seq: Seq, slot: usize) -> bool {
        let Some((bucket, block)) = self.newest else { return false };
        let Some(entry) = self.buckets.get_mut(bucket) else { return false };
        match Entry(*entry).with(slot, seq) {
            Some(longer) if block == seq.get() >> 4 => {
                *entry = longer.0;
                true
            }
            _ => false,
        }
    }

    /// Writes an entry of its own for a node. There must be an empty bucket.
    fn add(&mut self, seq: Seq, slot: usize) {
        let Some(mut bucket) = self.home(seq) else { return };
        while self.buckets.get(bucket).is_some_and(|taken| *taken != EMPTY) {
            bucket = (bucket + 1) & (self.buckets.len() - 1);
        }
        if let Some(empty) = self.buckets.get_mut(bucket) {
            *empty = Entry::new(slot, seq).0;
            self.entries += 1;
            self.newest = Some((bucket, seq.get() >> 4));
        }
    }

    /// The first bucket to look into; `None` in a table without buckets. Eight blocks that follow
    /// each other share a cache line: their events are appended and compacted together.
    fn home(&self, seq: Seq) -> Option<usize> {
        let lines = (self.buckets.len() / 8).checked_ilog2()?;
        let block = seq.get() >> 4;
        let line = ((block >> 3).wrapping_mul(self.spread) >> (64 - lines)) as usize;
        Some(line * 8 + (block & 7) as usize)
    }
}
