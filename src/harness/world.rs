//! What the generator knows of the log that it makes: its own books, so that it need not ask the
//! oracle what is valid.

/// What an accepted event does, in positions of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It carries no operation.
    Off,
    /// It goes to the tail.
    Append,
    /// It takes the place of the nodes at these positions, both included.
    Replace(usize, usize),
}

/// The books.
#[derive(Clone, Debug, Default)]
pub(super) struct World {
    effects: Vec<Effect>,
    /// The nodes, head to tail.
    pub(super) nodes: Vec<u64>,
    /// The nodes that were shadowed.
    pub(super) gone: Vec<u64>,
    /// The events that carry no operation.
    pub(super) off: Vec<u64>,
    /// The nodes and shadowed nodes that came by a replace.
    replacements: Vec<u64>,
}

impl World {
    /// The seq of the next event.
    pub(super) fn next(&self) -> u64 {
        self.effects.len() as u64
    }

    /// Whether there is no event.
    pub(super) fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// Whether some event carries an operation.
    pub(super) fn is_marked(&self) -> bool {
        self.off.len() < self.effects.len()
    }

    /// The positions of nodes that are replacements themselves.
    pub(super) fn replacement_positions(&self) -> Vec<usize> {
        let nodes = self.nodes.iter().enumerate();
        let replacements = nodes.filter(|(_, seq)| self.replacements.contains(seq));
        replacements.map(|(position, _)| position).collect()
    }

    /// The nodes at these positions, both included.
    pub(super) fn range(&self, first: usize, last: usize) -> &[u64] {
        self.nodes.get(first..=last).unwrap_or_default()
    }

    /// Books an accepted event.
    pub(super) fn apply(&mut self, effect: Effect) {
        let seq = self.next();
        self.effects.push(effect);
        match effect {
            Effect::Off => self.off.push(seq),
            Effect::Append => self.nodes.push(seq),
            Effect::Replace(first, last) => {
                if last < self.nodes.len() && first <= last {
                    self.gone.extend(self.nodes.splice(first..=last, [seq]));
                }
                self.replacements.push(seq);
            }
        }
    }

    /// Goes back to the first `events` events.
    pub(super) fn cut_to(&mut self, events: usize) {
        let effects = std::mem::take(&mut self.effects);
        *self = World::default();
        effects.into_iter().take(events).for_each(|effect| self.apply(effect));
    }
}
