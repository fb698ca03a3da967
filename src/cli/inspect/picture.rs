//! A picture of the bytes around a place in a file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

const BEFORE: u64 = 24;
const BEHIND: u64 = 40;
const HEX: usize = 8;

/// The bytes around an offset in a file, on three lines: escaped, the mark under the place, and
/// the first bytes there in hex.
pub fn of_file(file: &Path, offset: u64) -> io::Result<String> {
    let start = offset.saturating_sub(BEFORE);
    let mut opened = File::open(file)?;
    opened.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    opened.take(offset - start + BEHIND).read_to_end(&mut bytes)?;
    Ok(of_bytes(&bytes, (offset - start) as usize))
}

fn of_bytes(bytes: &[u8], at: usize) -> String {
    let (before, behind) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
    let before = escaped(before);
    let hex: Vec<String> = behind.iter().take(HEX).map(|byte| format!("{byte:02x}")).collect();
    let hex = if hex.is_empty() { "end of the file".to_owned() } else { hex.join(" ") };
    let mark = " ".repeat(before.chars().count());
    format!("{before}{}\n{mark}^ {hex}", escaped(behind))
}

/// Text as it is where it is printable; other bytes as `\n` or in hex.
fn escaped(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\\"", "\"").replace("\\'", "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_under_the_first_byte() {
        let picture = of_bytes(b"{\"a\"}\n\0\0\xff", 6);
        assert_eq!(picture, "{\"a\"}\\n\\x00\\x00\\xff\n       ^ 00 00 ff");
    }

    #[test]
    fn an_offset_behind_the_last_byte_is_the_end_of_the_file() {
        assert_eq!(of_bytes(b"ab", 2), "ab\n  ^ end of the file");
    }
}
