//! `Choices`, the one source that a generator draws from, and two of its fronts: a seeded one and
//! an odometer that goes through all.

/// Answers questions with a number. The generator asks, and what it makes depends on nothing else.
/// The answer 0 stands for the simplest choice.
pub trait Choices {
    /// A number below `n`; 0 where `n` is 0.
    fn below(&mut self, n: u32) -> u32;

    /// True once in `n` times.
    fn one_in(&mut self, n: u32) -> bool {
        n > 0 && self.below(n) == n - 1
    }

    /// An index below `length`; 0 where there is none.
    fn index(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).unwrap_or(u32::MAX)) as usize
    }

    /// One of the items, each as often as its weight says.
    fn weighted<T: Copy>(&mut self, items: &[(u32, T)]) -> Option<T>
    where
        Self: Sized,
    {
        let mut drawn = self.below(items.iter().map(|(weight, _)| weight).sum());
        items.iter().find_map(|(weight, item)| {
            let hit = drawn < *weight;
            drawn = drawn.saturating_sub(*weight);
            hit.then_some(*item)
        })
    }
}

/// Choices from a seed: SplitMix64, so that a number on the command line names a run on every
/// machine and the library needs no further dependency.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// The choices of one case of a run.
    pub fn new(seed: u64, case: u64) -> Seeded {
        let mut seeded = Seeded(seed ^ case.wrapping_mul(0xD134_2543_DE82_EF95));
        seeded.step();
        seeded
    }

    fn step(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

impl Choices for Seeded {
    fn below(&mut self, n: u32) -> u32 {
        ((u64::from(n) * (self.step() >> 32)) >> 32) as u32
    }
}

/// Goes through every sequence of choices once, the last choice fastest.
#[derive(Clone, Debug, Default)]
pub struct Odometer {
    /// The choices of this round: what was answered, and below what.
    digits: Vec<(u32, u32)>,
    /// How many were asked for in this round.
    asked: usize,
    /// How many of the first digits stay as they are.
    fixed: usize,
}

impl Odometer {
    /// All sequences.
    pub fn new() -> Odometer {
        Odometer::default()
    }

    /// All sequences that begin as this one stands, for one of several workers.
    pub fn below_here(&self) -> Odometer {
        Odometer { digits: self.digits.clone(), asked: 0, fixed: self.digits.len() }
    }

    /// Goes to the next sequence; false when there is none.
    pub fn advance(&mut self) -> bool {
        self.advance_within(usize::MAX)
    }

    /// Goes to the next sequence that differs within the first `depth` choices.
    pub fn advance_within(&mut self, depth: usize) -> bool {
        self.digits.truncate(self.asked.min(depth));
        self.asked = 0;
        while self.digits.len() > self.fixed {
            match self.digits.last_mut() {
                Some((digit, below)) if *digit + 1 < *below => {
                    *digit += 1;
                    return true;
                }
                _ => {
                    self.digits.pop();
                }
            }
        }
        false
    }

    /// Keeps no more than the first `depth` choices.
    pub fn cut_to(&mut self, depth: usize) {
        self.digits.truncate(depth);
    }
}

impl Choices for Odometer {
    fn below(&mut self, n: u32) -> u32 {
        if n <= 1 {
            return 0;
        }
        let digit = match self.digits.get(self.asked) {
            Some((digit, _)) => *digit,
            None => {
                self.digits.push((0, n));
                0
            }
        };
        self.asked += 1;
        digit
    }
}
