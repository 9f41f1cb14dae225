//! Lines that a writer broke, so that the next one continues them.
//!
//! ```text
//!   {"jsonrpc":"2.0","id":1,"met=              quoted-printable: a mark at the end
//!   hod":"h=C3=A9"}
//!   0x7ffc7f0:      "{\"id\":1,\"resu"...        x/s of GDB: each line has at most 200 characters
//!   0x7ffc8b8:      "lt\":{}}"
//! ```

use crate::capture::hex::nibble;

/// The most bytes of a line that is held.
const MAX_HELD: usize = 16 << 20;
/// RFC 2045 section 6.7: "encoded lines [must] be no more than 76 characters long".
const MAX_PRINTABLE: usize = 76;

#[derive(Default)]
pub(super) struct BrokenLines {
    /// The lines are quoted-printable; the start of a line that goes on in the next one.
    printable: Option<Vec<u8>>,
    /// The start of a string of GDB.
    string: Option<Vec<u8>>,
}

impl BrokenLines {
    /// Says that the lines that follow are quoted-printable, or are not.
    pub(super) fn set_printable(&mut self, is_printable: bool) {
        self.printable = is_printable.then(Vec::new);
    }

    /// Returns true if a line may be the first of quoted-printable without a head that says so.
    pub(super) fn may_be_printable(&self, line: &[u8]) -> bool {
        self.printable.is_none() && line.ends_with(b"=") && line.len() <= MAX_PRINTABLE
    }

    /// Returns the start of a string that this line does not continue.
    pub(super) fn ended_by(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if string_of_gdb(line).is_some() {
            return None;
        }
        self.unfinished_string()
    }

    fn unfinished_string(&mut self) -> Option<Vec<u8>> {
        let string = self.string.take()?;
        Some([&string, &b"..."[..]].concat())
    }

    /// Adds a line; returns the whole one if the next line does not continue it.
    pub(super) fn add(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let line = match self.printable.take() {
            Some(start) => {
                let (line, goes_on) = quoted_printable(&line, start);
                if goes_on && line.len() <= MAX_HELD {
                    self.printable = Some(line);
                    return None;
                }
                self.printable = Some(Vec::new());
                line
            }
            None => line,
        };
        match string_of_gdb(&line) {
            Some(start) => self.string(line, start),
            None => Some(line),
        }
    }

    fn string(&mut self, line: Vec<u8>, start: usize) -> Option<Vec<u8>> {
        let line = match self.string.take() {
            Some(held) => {
                let part = line.get(start..).unwrap_or_default();
                match (held.strip_suffix(b"\""), part.strip_prefix(b"\"")) {
                    (Some(held), Some(part)) => [held, part].concat(),
                    // A character that is repeated stands beside the string.
                    _ => [&held, &b", "[..], part].concat(),
                }
            }
            None => line,
        };
        match line.strip_suffix(b"...") {
            Some(whole) if matches!(whole.last(), Some(b'"' | b'>')) && line.len() <= MAX_HELD => {
                self.string = Some(whole.to_vec());
                None
            }
            _ => Some(line),
        }
    }

    /// Returns the start of a line that nothing continues.
    pub(super) fn finish(&mut self) -> Option<Vec<u8>> {
        let printable = self.printable.take().filter(|text| !text.is_empty());
        printable.or_else(|| self.unfinished_string())
    }
}

/// Returns where the string of a line of GDB begins: `0x7ffc7f0 <text+16>:<tab>"`.
fn string_of_gdb(line: &[u8]) -> Option<usize> {
    let address = line.strip_prefix(b"0x")?;
    let end = address.iter().position(|c| !c.is_ascii_hexdigit())?;
    let mut rest = address.get(end..)?;
    if let Some(symbol) = rest.strip_prefix(b" <") {
        rest = symbol.get(memchr::memchr(b'>', symbol)? + 1..)?;
    }
    let string = rest.strip_prefix(b":")?.trim_ascii_start();
    matches!(string.first(), Some(b'"' | b'\'')).then_some(line.len() - string.len())
}

/// Decodes a line of quoted-printable behind the start of its text; returns true if the next line continues it.
fn quoted_printable(line: &[u8], mut text: Vec<u8>) -> (Vec<u8>, bool) {
    let mut rest = line;
    while let Some((&c, after)) = rest.split_first() {
        rest = after;
        match after.split_first_chunk() {
            _ if c != b'=' => text.push(c),
            Some((&[high, low], after)) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                text.push(nibble(high) << 4 | nibble(low));
                rest = after;
            }
            _ if after.is_empty() => return (text, true),
            _ => text.push(c),
        }
    }
    (text, false)
}
