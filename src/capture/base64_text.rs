//! Base64, broken into lines or not.
//!
//! ```text
//!   FgAAAHsianMiOjF9IGFk     standard or URL-safe alphabet, even mixed
//!   IGJl/w==                 padding may be missing; after padding another text may follow
//! ```

use super::chunk::{Chunk, Item, Place, Problem, Sink};
use super::lines::BOM;

/// The value of a character in either alphabet.
pub(super) fn value(c: u8) -> Option<u8> {
    Some(match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[derive(Default)]
pub(super) struct Base64 {
    /// Bits that do not make a byte yet, at most 6.
    bits: u32,
    /// Characters since the last whole group of four.
    group: u8,
    /// Padding was met and no character since.
    padded: bool,
    /// Line breaks so far.
    breaks: u64,
    /// A character was met that base64 does not have.
    broken: bool,
    bytes: Vec<u8>,
}

impl Base64 {
    pub(super) fn push(&mut self, text: &[u8], sink: &mut Sink<'_>) {
        let mut problem = None;
        self.bytes.clear();
        for &c in text {
            if self.broken {
                break;
            }
            if let Some(value) = value(c) {
                self.padded = false;
                self.bits = self.bits << 6 | value as u32;
                self.group = (self.group + 1) % 4;
                // The second to fourth character of a group each complete a byte.
                if self.group != 1 {
                    let left = match self.group {
                        2 => 4,
                        3 => 2,
                        _ => 0,
                    };
                    self.bytes.push((self.bits >> left) as u8);
                    self.bits &= (1 << left) - 1;
                }
            } else if c == b'=' && (self.padded || self.group >= 2) {
                (self.padded, self.group, self.bits) = (true, 0, 0);
            } else if c == b'\n' {
                self.breaks += 1;
            } else if !c.is_ascii_whitespace() && !BOM.contains(&c) {
                self.broken = true;
                problem = Some(format!(
                    "{} is not base64; the rest is left out",
                    crate::error::show_byte(c)
                ));
            }
        }
        if !self.bytes.is_empty() {
            sink(Item::Chunk(Chunk {
                conn: 0,
                direction: None,
                time: None,
                bytes: &self.bytes,
            }));
        }
        if let Some(text) = problem {
            sink(Item::Problem(Problem::error(
                Place::Line(self.breaks + 1),
                text,
            )));
        }
    }

    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) {
        if self.group == 1 && !self.broken {
            sink(Item::Problem(Problem::error(
                Place::Line(self.breaks + 1),
                "base64 is cut off: the last character alone makes no byte",
            )));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (text, want, problem) in [
            ("", "", false),
            ("YWJj", "abc", false),
            ("YWI=", "ab", false),
            ("YQ==", "a", false),
            ("YWI", "ab", false),
            ("Y", "", true),
            ("YWJj\nYQ==\r\nYg==", "abcab", false),
            ("Y W\tJ\nj", "abc", false),
            ("Pz8_", "???", false),
            ("Pz8/", "???", false),
            ("YWJj!YWJj", "abc", true),
            ("=YWJj", "", true),
            ("Y=", "", true),
        ] {
            let (mut bytes, mut problems) = (Vec::new(), 0);
            let mut base64 = Base64::default();
            let sink: &mut Sink<'_> = &mut |item| match item {
                Item::Chunk(chunk) => bytes.extend_from_slice(chunk.bytes),
                _ => problems += 1,
            };
            base64.push(text.as_bytes(), sink);
            base64.finish(sink);
            assert_eq!(
                (bytes.as_slice(), problems),
                (want.as_bytes(), problem as u32),
                "{text}"
            );
        }
    }
}
