//! `Seq`, the position of an event in its log.

use std::fmt;

use super::json::Json;

/// The position of an event in its log, from 0 to [`Seq::MAX`]. Clause `log.contiguous`.
///
/// A seq names an event for ever. It orders the log, not the surface.
///
/// ```
/// use session_surface::spec::Seq;
///
/// assert_eq!(Seq::new(7).map(Seq::get), Some(7));
/// assert_eq!(Seq::new(1 << 53), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(u64);

impl Seq {
    /// The first position.
    pub const ZERO: Seq = Seq(0);
    /// The last position, 2^53−1: the largest integer that every JSON reader keeps exact.
    pub const MAX: Seq = Seq((1 << 53) - 1);

    /// The seq of a number, or `None` above [`Seq::MAX`].
    pub const fn new(number: u64) -> Option<Seq> {
        if number <= Seq::MAX.0 { Some(Seq(number)) } else { None }
    }

    /// The seq that an index into a log in memory stands for.
    ///
    /// No log in memory reaches [`Seq::MAX`]; an index above it gives `Seq::MAX`.
    pub const fn from_index(index: usize) -> Seq {
        let number = index as u64;
        if number <= Seq::MAX.0 { Seq(number) } else { Seq::MAX }
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The index into a log in memory.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The seq of a JSON value: an integer as clause `event.integer` spells it, in range.
    pub fn from_json(value: Json<'_>) -> Option<Seq> {
        value.as_integer().and_then(|number| u64::try_from(number).ok()).and_then(Seq::new)
    }
}

impl fmt::Debug for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
