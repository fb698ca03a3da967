//! `Lines`: the lines of a file as bytes, one at a time. Only 0x0A ends a line.

use std::io::{self, BufRead, Read};

/// So much of a line is read before it is decided whether the rest of it is worth keeping.
const FIRST_LOOK: u64 = 4096;

/// The lines of an input. Holds one line: the longest one that begins as a JSON object does, and
/// of any other the first bytes, so a run of garbage takes no memory.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    bytes: Vec<u8>,
    length: u64,
    is_ended: bool,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Lines<R> {
        Lines { input, bytes: Vec::new(), length: 0, is_ended: false }
    }

    /// Goes to the next line. `false` where there is none.
    ///
    /// # Errors
    /// What the input says when it cannot be read.
    pub(super) fn advance(&mut self) -> io::Result<bool> {
        (self.length, self.is_ended) = (0, false);
        self.bytes.clear();
        self.take(FIRST_LOOK)?;
        if !self.is_ended && self.length == FIRST_LOOK {
            if may_be_object(&self.bytes) { self.take(u64::MAX)? } else { self.skip()? }
        }
        if self.is_ended && self.bytes.last() == Some(&b'\n') {
            self.bytes.pop();
        }
        Ok(self.length > 0)
    }

    /// The line without its end. Of a long line that cannot be a JSON object, its first bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes the line has, its end included.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Whether only the first bytes of the line were kept.
    pub(super) fn is_cut(&self) -> bool {
        self.length > self.bytes.len() as u64 + u64::from(self.is_ended)
    }

    /// Whether the line has its end; the last line of an input may lack it.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Reads on in the line, at most so many bytes.
    fn take(&mut self, limit: u64) -> io::Result<()> {
        let mut input = (&mut self.input).take(limit);
        let read = input.read_until(b'\n', &mut self.bytes)?;
        self.length += read as u64;
        self.is_ended = read > 0 && self.bytes.last() == Some(&b'\n');
        Ok(())
    }

    /// Reads the rest of the line and keeps none of it.
    fn skip(&mut self) -> io::Result<()> {
        let kept = self.bytes.len();
        loop {
            let before = self.length;
            self.take(FIRST_LOOK)?;
            self.bytes.truncate(kept);
            if self.is_ended || self.length == before {
                return Ok(());
            }
        }
    }
}

/// Whether a line that begins so can be a JSON object.
fn may_be_object(start: &[u8]) -> bool {
    matches!(start.trim_ascii_start().first(), Some(b'{') | None)
}
