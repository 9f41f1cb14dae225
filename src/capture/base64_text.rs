//! Base64, broken into lines or not.
//!
//! ```text
//!   FgAAAHsianMiOjF9IGFk     standard or URL-safe alphabet, even mixed
//!   IGJl/w==                 padding may be missing; after padding another text may follow
//! ```

use super::chunk::{Chunk, InputPlace, Item, ItemSink, Problem};
use super::form::{FormReader, FormVerdict, InputEnd};
use super::lines::{BOM, split_lines};

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

/// The bits of characters that do not make a byte yet.
#[derive(Default)]
pub(super) struct Bits {
    /// At most 6.
    bits: u32,
    /// Characters since the last whole group of four.
    pub group: u8,
}

impl Bits {
    /// Adds the value of a character. The second to fourth of a group each complete a byte.
    pub(super) fn add(&mut self, value: u8) -> Option<u8> {
        self.bits = self.bits << 6 | value as u32;
        self.group = (self.group + 1) % 4;
        let left = match self.group {
            1 => return None,
            2 => 4,
            3 => 2,
            _ => 0,
        };
        let byte = (self.bits >> left) as u8;
        self.bits &= (1 << left) - 1;
        Some(byte)
    }
}

/// How Base64 begins of an object, a list of them, a header with a length, and an event.
const BEGINNINGS: [&str; 8] = [
    "eyJ",
    "ewo",
    "ew0K",
    "eyA",
    "W3s",
    "Q29udGVudC",
    "ZXZlbnQ6",
    "ZGF0YTo",
];

/// Returns the text of a string in JSON, if it is Base64 that begins as a message does. It may have line ends of mail.
pub(super) fn text_of_string(string: &[u8]) -> Option<Vec<u8>> {
    let text = string.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if !BEGINNINGS
        .iter()
        .any(|mark| text.starts_with(mark.as_bytes()))
    {
        return None;
    }
    let mut bits = Bits::default();
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut rest = text;
    while let Some((&c, after)) = rest.split_first() {
        rest = after;
        match (c, after) {
            (b'\\', [b'n' | b'r' | b'/', ..]) => {
                rest = after.get(usize::from(after.first() != Some(&b'/'))..)?;
            }
            (b'=', _) => {}
            _ => out.extend(bits.add(value(c)?)),
        }
    }
    Some(out)
}

#[derive(Default)]
pub(super) struct Base64 {
    bits: Bits,
    /// Padding was met and no character since.
    padded: bool,
    /// Line breaks so far.
    breaks: u64,
    /// A character was met that base64 does not have.
    broken: bool,
    bytes: Vec<u8>,
}

impl FormReader for Base64 {
    fn push(&mut self, text: &[u8], sink: &mut ItemSink<'_>) {
        let mut problem = None;
        self.bytes.clear();
        for &c in text {
            if self.broken {
                break;
            }
            if let Some(value) = value(c) {
                self.padded = false;
                self.bytes.extend(self.bits.add(value));
            } else if c == b'=' && (self.padded || self.bits.group >= 2) {
                (self.padded, self.bits) = (true, Bits::default());
            } else if c == b'\n' {
                self.breaks += 1;
            } else if !c.is_ascii_whitespace() && !BOM.contains(&c) {
                self.broken = true;
                problem = Some(format!(
                    "{} is not base64; the rest is ignored",
                    crate::error::show_byte(c)
                ));
            }
        }
        if !self.bytes.is_empty() {
            sink(Item::Chunk(Chunk::of(None, &self.bytes)));
        }
        if let Some(text) = problem {
            Problem::error(InputPlace::Line(self.breaks + 1), text).report(sink);
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        if self.bits.group == 1 && !self.broken {
            Problem::error(
                InputPlace::Line(self.breaks + 1),
                "the base64 text is cut off: its last character does not make a byte",
            )
            .report(sink);
        }
    }
}

/// Checks if the text is Base64, on one line or wrapped.
pub(super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    // Bytes in hex with dashes between them.
    let is_hex = |c: &u8| c.is_ascii_hexdigit() || c.is_ascii_whitespace() || *c == b'-';
    if text.get(2) == Some(&b'-') && text.iter().all(is_hex) {
        return FormVerdict::No;
    }
    let (mut total, mut width) = (0, None);
    // A line that is shorter than the first, or padded, must be the last.
    let mut over = false;
    for (line, whole) in split_lines(text, end) {
        let line = if whole {
            line.strip_suffix(b"\r").unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            over |= whole && width.is_some();
            continue;
        }
        let body = line.iter().position(|&c| value(c).is_none());
        let (body, pad) = line
            .split_at_checked(body.unwrap_or(line.len()))
            .unwrap_or_default();
        let pad = pad.strip_suffix(b"\r").unwrap_or(pad);
        let len = body.len() + pad.len();
        let padded = pad.is_empty() || (b"==".starts_with(pad) && body.len() % 4 >= 2);
        let width = *width.get_or_insert(if whole { len } else { usize::MAX });
        if over || !padded || len > width {
            return FormVerdict::No;
        }
        let group = len % 4;
        if whole && (group == 1 || width < 16 || (!pad.is_empty() && group != 0)) {
            return FormVerdict::No;
        }
        total += len;
        over = whole && (len < width || group != 0 || !pad.is_empty());
    }
    match end {
        InputEnd::More => FormVerdict::Open,
        _ if total >= 16 => FormVerdict::Yes(format!("its first {total} characters are base64")),
        _ => FormVerdict::No,
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
            let sink: &mut ItemSink<'_> = &mut |item| match item {
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
