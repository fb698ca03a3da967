//! The nodes in surface order, as an array with holes.
//!
//! A node stands in a slot. An append takes the next slot at the back. A replace writes the new
//! node into the slot of the first node that it shadows and leaves a hole where the others stood,
//! so slots never pass each other: of two nodes the one with the lower slot comes first. A hole
//! says its length in its first and in its last slot, which makes stepping over it O(1) from both
//! sides and joins two holes in O(1). There are no links to keep: neighbours are neighbours.

use crate::spec::Seq;

/// Marks a slot of a hole. The length of the hole is in the other bits.
const HOLE: u64 = 1 << 63;

/// See the head of this file. The first slot and the last one always hold a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    cells: Vec<u64>,
    live: usize,
}

impl Slots {
    /// The size of a slot, in bytes.
    pub(super) const SLOT: usize = size_of::<u64>();

    /// How many nodes there are.
    pub(super) fn live(&self) -> usize {
        self.live
    }

    /// How many slots belong to holes.
    pub(super) fn holes(&self) -> usize {
        self.cells.len() - self.live
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The node in a slot, if the slot is there and no part of a hole.
    pub(super) fn node(&self, slot: usize) -> Option<Seq> {
        self.cells.get(slot).copied().and_then(Seq::new)
    }

    /// Whether this node stands in this slot.
    pub(super) fn holds(&self, slot: usize, seq: Seq) -> bool {
        self.cells.get(slot) == Some(&seq.get())
    }

    /// Adds a node at the tail and gives its slot.
    pub(super) fn push(&mut self, seq: Seq) -> usize {
        self.cells.push(seq.get());
        self.live += 1;
        self.cells.len() - 1
    }

    /// Puts `seq` in the place of the nodes from `start` through `end`.
    pub(super) fn replace(&mut self, start: usize, end: usize, seq: Seq) {
        let mut slot = start;
        while let Some(next) = self.next(slot).filter(|next| *next <= end) {
            // Also inside a hole no slot may hold a node: the index asks slots what they hold.
            self.set(next, HOLE);
            self.live -= 1;
            slot = next;
        }
        self.set(start, seq.get());
        let length = end - start + self.hole_length(end + 1);
        if start + length + 1 == self.cells.len() {
            self.cells.truncate(start + 1);
        } else if length > 0 {
            self.set(start + 1, HOLE | length as u64);
            self.set(start + length, HOLE | length as u64);
        }
    }

    fn set(&mut self, slot: usize, value: u64) {
        if let Some(cell) = self.cells.get_mut(slot) {
            *cell = value;
        }
    }

    /// The length of the hole that has its first or its last slot here, 0 where a node stands.
    fn hole_length(&self, slot: usize) -> usize {
        match self.cells.get(slot) {
            Some(cell) if cell & HOLE != 0 => (cell & !HOLE) as usize,
            _ => 0,
        }
    }

    /// The slot of the node behind the one in `slot`.
    pub(super) fn next(&self, slot: usize) -> Option<usize> {
        let next = slot + 1 + self.hole_length(slot + 1);
        (next < self.cells.len()).then_some(next)
    }

    /// The slot of the node before the one in `slot`.
    pub(super) fn prev(&self, slot: usize) -> Option<usize> {
        let before = slot.checked_sub(1)?;
        before.checked_sub(self.hole_length(before))
    }

    /// The nodes, head to tail.
    pub(super) fn iter(&self) -> Nodes<'_> {
        Nodes { cells: &self.cells, left: self.live }
    }

    /// Forgets every node, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.live = 0;
    }

    /// The slots that hold nodes, in order, with the nodes.
    pub(super) fn occupied(&self) -> impl Iterator<Item = (usize, Seq)> + '_ {
        let nodes = self.cells.iter().map(|cell| Seq::new(*cell)).enumerate();
        nodes.filter_map(|(slot, node)| node.map(|node| (slot, node)))
    }

    /// Closes every hole. Nodes change their slots.
    pub(super) fn reclaim(&mut self) {
        self.cells.retain(|cell| cell & HOLE == 0);
        self.cells.shrink_to(self.live * 2);
    }

    /// What must hold between the cells, as a sentence where it does not.
    pub(super) fn check(&self) -> Result<(), String> {
        let forward: Vec<usize> =
            std::iter::successors((self.live > 0).then_some(0), |slot| self.next(*slot)).collect();
        let last = self.cells.len().checked_sub(1);
        let mut backward: Vec<usize> =
            std::iter::successors(last, |slot| self.prev(*slot)).collect();
        backward.reverse();
        if forward != backward {
            return Err(format!("forward {forward:?} and backward {backward:?} differ"));
        }
        if forward.len() != self.live {
            return Err(format!("{} nodes counted, {} found", self.live, forward.len()));
        }
        match forward.iter().find(|slot| self.node(**slot).is_none()) {
            Some(slot) => Err(format!("slot {slot} is stepped on and holds no node")),
            None if self.cells.iter().filter(|cell| **cell & HOLE == 0).count() != self.live => {
                Err("a node is left inside a hole".to_owned())
            }
            None => Ok(()),
        }
    }
}

/// The nodes of a surface, head to tail, from both ends.
#[derive(Clone, Debug)]
pub struct Nodes<'a> {
    /// The cells not yet passed. The first and the last one hold nodes while there are any.
    cells: &'a [u64],
    left: usize,
}

impl Iterator for Nodes<'_> {
    type Item = Seq;

    fn next(&mut self) -> Option<Seq> {
        let (first, rest) = self.cells.split_first()?;
        let hole = match rest.first() {
            Some(cell) if cell & HOLE != 0 => (cell & !HOLE) as usize,
            _ => 0,
        };
        self.cells = rest.get(hole..).unwrap_or_default();
        self.left -= 1;
        Seq::new(*first)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl DoubleEndedIterator for Nodes<'_> {
    fn next_back(&mut self) -> Option<Seq> {
        let (last, rest) = self.cells.split_last()?;
        let hole = match rest.last() {
            Some(cell) if cell & HOLE != 0 => (cell & !HOLE) as usize,
            _ => 0,
        };
        self.cells = rest.get(..rest.len() - hole).unwrap_or_default();
        self.left -= 1;
        Seq::new(*last)
    }
}

impl ExactSizeIterator for Nodes<'_> {}
impl std::iter::FusedIterator for Nodes<'_> {}
