//! Replaces secrets in bodies of HTTP with `Content-Encoding: gzip`: the changed body is compressed again, to the same
//! length.
//!
//! ```text
//!   1f 8b 08 10 ...  "     " 00   deflate data   CRC-32   size      RFC 1952 section 2.3
//!                    '- a comment, which fills the rest
//! ```

use crate::decoder::{Decoded, Origin};
use crate::framing::Head;
use crate::framing::fields::fields;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io::Write as _;
use std::ops::Range;

/// The length of the fixed parts before and after the data.
const GZIP_HEADER: usize = 10;
const GZIP_TRAILER: usize = 8;

/// A change of the stream: offset, old and new bytes.
type StreamChange<'b> = (u64, &'b [u8], Vec<u8>);

/// A compressed body and its changes.
pub(super) struct CompressedBody {
    /// Where it was received.
    pub origin: Origin,
    /// The offset of its frame in the stream.
    pub offset: u64,
    /// The body in the frame: its ranges, and their bytes.
    pieces: Vec<Range<usize>>,
    packed: Vec<u8>,
    /// The inflated body, as it was and with the changes. The first change of a byte counts.
    old: Vec<u8>,
    new: Vec<u8>,
    changed: Vec<bool>,
}

impl CompressedBody {
    /// Reads the body of a frame; `None` if it cannot be compressed again.
    pub(super) fn new(decoded: &Decoded<'_>) -> Option<Self> {
        let raw = decoded.raw.filter(|_| decoded.frame.fault.is_none())?;
        let Head::Http { len, .. } = decoded.frame.head else {
            return None;
        };
        let head = raw.bytes.get(..len as usize)?;
        let is_gzip = |coding: &[u8]| {
            coding.eq_ignore_ascii_case(b"gzip") || coding.eq_ignore_ascii_case(b"x-gzip")
        };
        let pieces = match value(head, "transfer-encoding") {
            None => std::iter::once(head.len()..raw.bytes.len()).collect(),
            Some(coding) if coding.eq_ignore_ascii_case(b"chunked") => {
                chunks(raw.bytes, head.len())?
            }
            Some(_) => return None,
        };
        let old = decoded.frame.view.bytes.to_vec();
        value(head, "content-encoding").filter(|coding| is_gzip(coding))?;
        let packed = pieces
            .iter()
            .filter_map(|piece| raw.bytes.get(piece.clone()));
        Some(Self {
            origin: decoded.origin,
            offset: decoded.frame.offset,
            packed: packed.collect::<Vec<_>>().concat(),
            pieces,
            new: old.clone(),
            changed: vec![false; old.len()],
            old,
        })
    }

    /// Changes bytes of the inflated body.
    pub(super) fn change(&mut self, at: usize, new: &[u8]) {
        let places = self.new.iter_mut().zip(&mut self.changed).skip(at);
        for ((byte, changed), new) in places.zip(new) {
            if !std::mem::replace(changed, true) {
                *byte = *new;
            }
        }
    }

    /// Returns the changes of the stream; `None` if the changed body needs more space.
    pub(super) fn stream_changes(&self) -> Option<Vec<StreamChange<'_>>> {
        let packed = gzip(&self.new, self.packed.len());
        // Equal letters need less space than random ones.
        let packed = packed.or_else(|| gzip(&self.uniform(), self.packed.len()))?;
        let mut rest = (self.packed.as_slice(), packed.as_slice());
        let mut changes = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let (old, old_rest) = rest.0.split_at_checked(piece.len())?;
            let (new, new_rest) = rest.1.split_at_checked(piece.len())?;
            rest = (old_rest, new_rest);
            changes.push((self.offset + piece.start as u64, old, new.to_vec()));
        }
        Some(changes)
    }

    /// Returns the body with one letter for all letters of a changed word, and one digit for its digits. A letter that
    /// its random replacement left as it was changes with its word: the space needed does not depend on chance.
    fn uniform(&self) -> Vec<u8> {
        let mut bytes = self.new.clone();
        let mut end = 0;
        for word in self
            .new
            .chunk_by(|a, b| a.is_ascii_alphanumeric() == b.is_ascii_alphanumeric())
        {
            let start = end;
            end += word.len();
            let escape = match (
                start.checked_sub(1).and_then(|at| self.new.get(at)),
                word.first(),
            ) {
                (Some(b'\\'), Some(b'u')) => 5.min(word.len()),
                (Some(b'\\'), _) => 1,
                _ => 0,
            };
            let place = start + escape..end;
            if self.old.get(place.clone()) == self.new.get(place.clone()) {
                continue;
            }
            for byte in bytes.get_mut(place).unwrap_or_default() {
                *byte = match *byte {
                    b'a'..=b'z' => b'a',
                    b'A'..=b'Z' => b'A',
                    b'0'..=b'9' => b'1',
                    other => other,
                };
            }
        }
        bytes
    }
}

/// Compresses bytes to exactly this length; `None` if they need more.
fn gzip(bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    let data = encoder.finish().ok()?;
    let spare = len.checked_sub(GZIP_HEADER + data.len() + GZIP_TRAILER)?;
    let mut out = Vec::with_capacity(len);
    // Deflate, a comment or none, no time, best compression, an unknown system.
    let flags = if spare > 0 { 0x10 } else { 0 };
    out.extend([0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 2, 0xff]);
    if spare > 0 {
        out.resize(GZIP_HEADER + spare - 1, b' ');
        out.push(0);
    }
    out.extend(data);
    let mut crc = Crc::new();
    crc.update(bytes);
    out.extend(crc.sum().to_le_bytes());
    out.extend(crc.amount().to_le_bytes());
    Some(out)
}

/// Returns the value of a field of a head.
fn value<'h>(head: &'h [u8], name: &str) -> Option<&'h [u8]> {
    let field = fields(head).find(|field| field.is(name))?;
    head.get(field.value)
}

/// Returns the ranges of the chunks of a body (RFC 9112 section 7.1).
fn chunks(bytes: &[u8], mut at: usize) -> Option<Vec<Range<usize>>> {
    let mut chunks = Vec::new();
    loop {
        let rest = bytes.get(at..)?;
        let line = rest.get(..memchr::memchr(b'\n', rest)? + 1)?;
        let size = line.split(|b| !b.is_ascii_hexdigit()).next()?;
        let size = usize::from_str_radix(std::str::from_utf8(size).ok()?, 16).ok()?;
        let start = at + line.len();
        if size == 0 {
            return Some(chunks);
        }
        let end = start.checked_add(size).filter(|end| *end <= bytes.len())?;
        chunks.push(start..end);
        let rest = bytes.get(end..)?;
        at = end + memchr::memchr(b'\n', rest)? + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read as _;

    #[test]
    fn compressed_bytes_have_the_wanted_length() {
        let text = b"{\"a\":\"0123456789abcdef0123456789abcdef\"}".repeat(3);
        let least = gzip(&text, 1000).unwrap();
        let spare = least.iter().skip(GZIP_HEADER).take_while(|b| **b == b' ');
        let least = 1000 - spare.count() - 1;
        for len in [least, least + 1, least + 2, least + 300] {
            let packed = gzip(&text, len).unwrap();
            assert_eq!(packed.len(), len);
            let mut read = Vec::new();
            GzDecoder::new(packed.as_slice())
                .read_to_end(&mut read)
                .unwrap();
            assert_eq!(read, text);
        }
        assert_eq!(gzip(&text, least - 1), None);
    }

    #[test]
    fn chunks_are_found() {
        let bytes = b"head3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
        assert_eq!(chunks(bytes, 4), Some(vec![7..10, 19..21]));
        for bytes in [
            &b"3\r\nab"[..],
            b"ffffffffffffffff\r\na",
            b"x\r\n",
            b"3\r\nabc",
        ] {
            assert_eq!(chunks(bytes, 0), None);
        }
    }

    #[test]
    fn uniform_words_do_not_depend_on_chance() {
        let body = |old: &[u8], new: &[u8]| CompressedBody {
            origin: Origin::default(),
            offset: 0,
            pieces: Vec::new(),
            packed: Vec::new(),
            old: old.to_vec(),
            new: new.to_vec(),
            changed: Vec::new(),
        };
        // The replacement of c is c; the letters of an escape stay.
        let changed = body(br#"{"v":"abcD 12\nxy"}"#, br#"{"v":"qpcX 74\nzz"}"#);
        assert_eq!(changed.uniform(), br#"{"v":"aaaA 11\naa"}"#);
    }
}
