//! Replaces secrets in compressed bodies of HTTP: the changed body is compressed again, to the same length.
//!
//! ```text
//!   1f 8b 08 10 ...  "     " 00   deflate data   CRC-32   size      gzip: RFC 1952 section 2.3
//!                    '- a comment, which fills the rest
//!   78 da   deflate data   00 00 00 ff ff   03 00   Adler-32        deflate: RFC 1950, or the data alone: RFC 1951
//!                          '- blocks without bytes, which fill the rest
//! ```

use crate::decoder::{Decoded, Origin};
use crate::framing::Head;
use crate::framing::fields::fields;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc, Decompress, FlushDecompress, Status};
use std::io::{Read, Write as _};
use std::ops::Range;

/// The length of the fixed parts before and after the data.
const GZIP_HEADER: usize = 10;
const GZIP_TRAILER: usize = 8;
const ZLIB_HEADER: usize = 2;
const ZLIB_TRAILER: usize = 4;
/// The length of a block of deflate data without bytes, in bits.
const EMPTY_BLOCK: usize = 10;

/// A change of the stream: offset, old and new bytes.
type StreamChange<'b> = (u64, &'b [u8], Vec<u8>);

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Zlib,
    /// Some peers send deflate data without the zlib format around it.
    Deflate,
}

impl Coding {
    /// Reads the name of a coding; `None` if it is not written here.
    fn of(name: &[u8], packed: &[u8]) -> Option<Self> {
        let is = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        if is("gzip") || is("x-gzip") {
            return Some(Self::Gzip);
        }
        let is_zlib = packed.first().is_some_and(|b| b & 0x0f == 8);
        let own = if is_zlib { Self::Zlib } else { Self::Deflate };
        is("deflate").then_some(own)
    }

    /// Inflates a body; `None` if it has more than `limit` bytes.
    fn inflate(self, packed: &[u8], limit: usize) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let mut read = |reader: &mut dyn Read| reader.take(limit as u64 + 1).read_to_end(&mut out);
        match self {
            Self::Gzip => read(&mut MultiGzDecoder::new(packed)),
            Self::Zlib => read(&mut ZlibDecoder::new(packed)),
            Self::Deflate => read(&mut DeflateDecoder::new(packed)),
        }
        .ok()?;
        (out.len() <= limit).then_some(out)
    }

    /// Compresses bytes to exactly this length; `None` if they need more.
    fn pack(self, bytes: &[u8], len: usize) -> Option<Vec<u8>> {
        match self {
            Self::Gzip => gzip(bytes, len),
            Self::Zlib => zlib(bytes, len),
            Self::Deflate => deflate(bytes, len),
        }
    }
}

/// A compressed body and its changes.
#[derive(Clone)]
pub(super) struct CompressedBody {
    /// Where it was received.
    pub origin: Origin,
    /// The offset of its frame in the stream.
    pub offset: u64,
    /// The body in the frame: its ranges, and their bytes.
    pieces: Vec<Range<usize>>,
    packed: Vec<u8>,
    coding: Coding,
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
        let body = Self::read(decoded, raw.bytes, head, head.len())?;
        Some(body.inflated(decoded.frame.view.bytes.to_vec()))
    }

    /// Reads a body of events, whose head was another frame, from the frame of the first event.
    pub(super) fn of_events(decoded: &Decoded<'_>, head: &[u8], limit: usize) -> Option<Self> {
        let body = Self::read(decoded, decoded.raw?.bytes, head, 0)?;
        let old = body.coding.inflate(&body.packed, limit)?;
        Some(body.inflated(old))
    }

    /// Reads the compressed bytes after an offset.
    fn read(decoded: &Decoded<'_>, bytes: &[u8], head: &[u8], at: usize) -> Option<Self> {
        let pieces = match value(head, "transfer-encoding") {
            None => std::iter::once(at..bytes.len()).collect(),
            Some(coding) if coding.eq_ignore_ascii_case(b"chunked") => chunks(bytes, at)?,
            Some(_) => return None,
        };
        let packed = pieces.iter().filter_map(|piece| bytes.get(piece.clone()));
        let packed = packed.collect::<Vec<_>>().concat();
        Some(Self {
            origin: decoded.origin,
            offset: decoded.frame.offset,
            coding: Coding::of(value(head, "content-encoding")?, &packed)?,
            packed,
            pieces,
            new: Vec::new(),
            changed: Vec::new(),
            old: Vec::new(),
        })
    }

    fn inflated(self, old: Vec<u8>) -> Self {
        Self {
            new: old.clone(),
            changed: vec![false; old.len()],
            old,
            ..self
        }
    }

    /// Returns the inflated body, as it was.
    pub(super) fn old(&self) -> &[u8] {
        &self.old
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
        let pack = |bytes: &[u8]| self.coding.pack(bytes, self.packed.len());
        // Equal letters need less space than random ones.
        let packed = pack(&self.new).or_else(|| pack(&self.uniform()))?;
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

/// Compresses bytes to exactly this length, in the zlib format.
fn zlib(bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let data = deflate(bytes, len.checked_sub(ZLIB_HEADER + ZLIB_TRAILER)?)?;
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    let adler = (b << 16 | a).to_be_bytes();
    Some([&[0x78, 0xda], data.as_slice(), &adler].concat())
}

/// Compresses bytes to exactly this length, without a format around it.
fn deflate(bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    let shortest = encoder.finish().ok()?;
    // The last byte of the data has up to seven unused bits.
    let spare = 8 * len.checked_sub(shortest.len())? + 7;
    for blocks in (0..=spare / EMPTY_BLOCK).rev().take(2) {
        let longer = after_empty_blocks(blocks, &shortest, bytes);
        if longer.as_ref().is_some_and(|longer| longer.len() == len) {
            return longer;
        }
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    // The data ends with a whole byte, but not with the last block.
    encoder.flush().ok()?;
    let mut out = encoder.get_ref().clone();
    let spare = len.checked_sub(out.len() + 2)?;
    for _ in 0..spare / 5 {
        out.extend([0, 0, 0, 0xff, 0xff]);
    }
    // Blocks without bytes, of which the last ends the data: RFC 1951 section 3.2.3.
    let end: &[u8] = match spare % 5 {
        0 => &[3, 0],
        1 => &[2, 0x0c, 0],
        2 => &[2, 8, 0x30, 0],
        3 => &[1, 0, 0, 0xff, 0xff],
        _ => &[2, 4, 0, 0, 0xff, 0xff],
    };
    out.extend(end);
    Some(out)
}

/// Returns deflate data after blocks without bytes; `None` if a block of it must begin with a whole byte.
fn after_empty_blocks(blocks: usize, data: &[u8], inflated: &[u8]) -> Option<Vec<u8>> {
    let start = blocks * EMPTY_BLOCK;
    let mut out = vec![0; (start + 8 * data.len()).div_ceil(8)];
    for block in 0..blocks {
        // The type of the block: 01 after a zero, the first bit is the lowest one.
        let bit = block * EMPTY_BLOCK + 1;
        *out.get_mut(bit / 8)? |= 1 << (bit % 8);
    }
    for (n, byte) in data.iter().enumerate() {
        let bit = start + 8 * n;
        let [low, high] = (u16::from(*byte) << (bit % 8)).to_le_bytes();
        *out.get_mut(bit / 8)? |= low;
        if let Some(next) = out.get_mut(bit / 8 + 1) {
            *next |= high;
        }
    }
    let mut reader = Decompress::new(false);
    let mut read = Vec::with_capacity(inflated.len() + 1);
    let end = reader.decompress_vec(&out, &mut read, FlushDecompress::Finish);
    out.truncate(usize::try_from(reader.total_in()).ok()?);
    (end.ok()? == Status::StreamEnd && read == inflated).then_some(out)
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

    #[test]
    fn compressed_bytes_have_the_wanted_length() {
        let text = b"{\"a\":\"0123456789abcdef0123456789abcdef\"}".repeat(3);
        for coding in [Coding::Gzip, Coding::Zlib, Coding::Deflate] {
            let fits = |len: &usize| coding.pack(&text, *len).is_some();
            let least = (0..1000).find(fits).unwrap();
            assert!(least < 100, "{coding:?}: {least}");
            // A block of ten bits can be a bit too long or too short for a few lengths.
            let few = (least..least + 16).filter(fits).count();
            assert!(few >= 12, "{coding:?}: {few}");
            for len in (least + 16..least + 40).chain([least, least + 300]) {
                let packed = coding.pack(&text, len).unwrap();
                assert_eq!(packed.len(), len, "{coding:?}");
                let read = coding.inflate(&packed, text.len()).unwrap();
                assert_eq!(read, text, "{coding:?}");
                assert_eq!(coding.inflate(&packed, text.len() - 1), None);
            }
        }
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
            coding: Coding::Gzip,
            old: old.to_vec(),
            new: new.to_vec(),
            changed: Vec::new(),
        };
        // The replacement of c is c; the letters of an escape stay.
        let changed = body(br#"{"v":"abcD 12\nxy"}"#, br#"{"v":"qpcX 74\nzz"}"#);
        assert_eq!(changed.uniform(), br#"{"v":"aaaA 11\naa"}"#);
    }
}
