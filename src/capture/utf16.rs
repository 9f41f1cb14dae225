//! Converts text in UTF-16 to UTF-8 as it arrives: PowerShell writes it so to files.
//!
//! ```text
//!   ff fe 30 00 65 00 20 00 ...     little-endian
//!   fe ff 00 30 00 65 00 20 ...     big-endian
//! ```

/// The number of bytes that are examined: the byte order mark, and characters of Latin-1.
const PROBE: usize = 16;

/// Text in UTF-16.
pub(super) struct Utf16 {
    is_big: bool,
    /// The first byte of a unit.
    half: Option<u8>,
    /// The first unit of a surrogate pair.
    high: Option<u16>,
    /// The byte order mark is read, which is no part of the text.
    is_begun: bool,
    out: String,
}

/// Returns true if the first bytes are those of text in UTF-16, or `None` if there are too few of them.
///
/// The characters are part of the test: the mark alone can also start a binary frame.
pub(super) fn is_utf16(bytes: &[u8]) -> Option<bool> {
    let seen = bytes.get(..PROBE).unwrap_or(bytes);
    let is_text = |mark: [u8; 2], low: usize| {
        let is_latin1 = |(at, byte): (usize, &u8)| match at {
            0 | 1 => *byte == mark[at],
            _ if at % 2 == low => matches!(byte, b'\t'..=b'\r' | b' '..=b'~' | 0xa0..),
            _ => *byte == 0,
        };
        seen.iter().enumerate().all(is_latin1)
    };
    let may_be = is_text([0xff, 0xfe], 0) || is_text([0xfe, 0xff], 1);
    (!may_be || seen.len() == PROBE).then_some(may_be)
}

impl Utf16 {
    /// Creates a converter for text with this byte order mark.
    pub(super) fn new(first: &[u8]) -> Self {
        Self {
            is_big: first.first() == Some(&0xfe),
            half: None,
            high: None,
            is_begun: false,
            out: String::new(),
        }
    }

    /// Returns the text in these bytes. Half a surrogate pair becomes U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8]) -> &str {
        self.out.clear();
        for &byte in bytes {
            let Some(first) = self.half.take() else {
                self.half = Some(byte);
                continue;
            };
            let unit = if self.is_big {
                u16::from_be_bytes([first, byte])
            } else {
                u16::from_le_bytes([first, byte])
            };
            if !std::mem::replace(&mut self.is_begun, true) {
                continue;
            }
            let units = [self.high.take(), Some(unit)];
            if matches!(unit, 0xd800..=0xdbff) {
                self.high = Some(unit);
            }
            let held = usize::from(self.high.is_some());
            let units = units.into_iter().flatten();
            let count = units.clone().count() - held;
            let text = char::decode_utf16(units.take(count));
            self.out
                .extend(text.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        }
        &self.out
    }
}

#[cfg(test)]
mod tests {
    use super::{Utf16, is_utf16};

    fn units(text: &str, is_big: bool) -> Vec<u8> {
        let bytes = |unit: u16| {
            if is_big {
                unit.to_be_bytes()
            } else {
                unit.to_le_bytes()
            }
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn any_split_gives_the_same_text() {
        let text = "0e 00 \u{e9} \u{1f600} \u{20ac}";
        for is_big in [false, true] {
            let bytes = units(&format!("\u{feff}{text}"), is_big);
            for size in 1..=bytes.len() {
                let mut utf16 = Utf16::new(&bytes);
                let parts = bytes.chunks(size).map(|part| utf16.push(part).to_owned());
                assert_eq!(parts.collect::<String>(), text, "{size}");
            }
        }
        let mut utf16 = Utf16::new(b"\xff\xfe");
        assert_eq!(
            utf16.push(b"\xff\xfe\x00\xd8a\0\x00\xdcb\0"),
            "\u{fffd}a\u{fffd}b"
        );
    }

    #[test]
    fn binary_frames_are_not_text() {
        let text = units("\u{feff}0e 00 00 00", false);
        assert_eq!(is_utf16(&text), Some(true));
        assert_eq!(is_utf16(&text[..7]), None);
        assert_eq!(is_utf16(b""), None);
        for bytes in [
            &b"{"[..],
            b"\xff\xfe\x0f\0\x12\xfa\xbb\xe5\0\0\x09",
            b"\xff\xfe\0\0",
            b"\xff\xff",
        ] {
            assert_eq!(is_utf16(bytes), Some(false), "{bytes:?}");
        }
    }
}
