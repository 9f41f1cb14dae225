//! Any message as JSON, without loss.
//!
//! Values that JSON lacks get a form: `{"$bin":"hex"}`, `{"$str":"hex"}` (text that is not UTF-8),
//! `{"$ext":[type,"hex"]}`, `{"$map":[[k,v],...]}` (keys that are not text, repeat, or start with
//! `$`), `{"$float":"hex bits"}` (not finite), `{"$bool":n}`; of CBOR also `{"$tag":[number,value]}`,
//! `{"$simple":n}`, `{"$str":["a","b"]}` and `{"$bin":[…]}` (in chunks). A message that arrived as JSON is copied.
//!
//! [`write()`] writes it from a tape. [`JsonText`] writes it in the same pass that parses, which is
//! several times faster, and reports maps that need `$map`. [`write_exact`] also writes widths,
//! `{"$as":["u32",5]}` or, of CBOR, `{"$as":["_2",5]}`, so that the same bytes can be reproduced.

mod exact;
mod form;
mod streamed;

pub use exact::write_exact;
pub(super) use exact::write_parts;
pub(crate) use form::{ObjectForm, form, quote, text};
pub(super) use streamed::{PairMaps, StreamedText};

use super::json::{write_escaped, write_short};
use crate::span::Span;
use crate::tape::{KeyName, Node, Scalar, Shape, Sink, Value};

/// Writes one value and its children.
pub fn write(node: Node<'_>, out: &mut Vec<u8>) {
    write_with(node, |_| None, out);
}

/// Writes one value and its children, with `{"$as":["width",value]}` around values that do not determine their width.
fn write_with(
    node: Node<'_>,
    width: impl Fn(Node<'_>) -> Option<&'static str> + Copy,
    out: &mut Vec<u8>,
) {
    let name = width(node);
    if let Some(name) = name {
        out.extend_from_slice(b"{\"$as\":[\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\",");
    }
    match node.value() {
        Value::Scalar(scalar) => write_scalar(scalar, out),
        Value::Label(name) => write_string(name.as_bytes(), out),
        Value::Array => {
            out.push(b'[');
            for (i, item) in node.children().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                write_with(item, width, out);
            }
            out.push(b']');
        }
        Value::Map => {
            let is_plain =
                is_plain_map(node) && node.members().all(|(key, _)| width(key).is_none());
            let [open, end]: [&[u8]; 2] = if is_plain {
                [b"{", b"}"]
            } else {
                [b"{\"$map\":[", b"]}"]
            };
            out.extend_from_slice(open);
            for (i, (key, value)) in node.members().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                if !is_plain {
                    out.push(b'[');
                }
                write_with(key, width, out);
                out.push(if is_plain { b':' } else { b',' });
                write_with(value, width, out);
                if !is_plain {
                    out.push(b']');
                }
            }
            out.extend_from_slice(end);
        }
    }
    if name.is_some() {
        out.extend_from_slice(b"]}");
    }
}

/// Returns `true` if a JSON object can hold a map: keys are text, none repeats, none starts with
/// `$`. Always true for a map that arrived as JSON.
fn is_plain_map(node: Node<'_>) -> bool {
    let is_unique = node.has_unique_keys() == Some(true);
    let mut seen = foldhash::HashSet::default();
    node.members().all(|(key, _)| match key.value() {
        Value::Scalar(Scalar::Str(s)) => {
            is_utf8(s) && !s.starts_with(b"$") && (is_unique || seen.insert(s))
        }
        Value::Scalar(Scalar::Json(..)) | Value::Label(_) => true,
        _ => false,
    })
}

/// Writes a value that has no children.
#[inline]
pub(crate) fn write_scalar(scalar: Scalar<'_>, out: &mut Vec<u8>) {
    match scalar {
        Scalar::Null => out.extend_from_slice(b"null"),
        Scalar::Bool(true) => out.extend_from_slice(b"true"),
        Scalar::Bool(false) => out.extend_from_slice(b"false"),
        Scalar::BoolByte(n) => {
            out.extend_from_slice(b"{\"$bool\":");
            write_int(n, out);
            out.push(b'}');
        }
        Scalar::Uint(v) => write_int(v, out),
        Scalar::Int(v) => write_int(v, out),
        Scalar::Negative(v) => write_int(-1 - i128::from(v), out),
        Scalar::F32(bits) => {
            let value = f32::from_bits(bits);
            if value.is_finite() {
                out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
            } else {
                write_float_bits(&bits.to_be_bytes(), out);
            }
        }
        Scalar::F64(bits) => {
            let value = f64::from_bits(bits);
            if value.is_finite() {
                out.extend_from_slice(ryu::Buffer::new().format_finite(value).as_bytes());
            } else {
                write_float_bits(&bits.to_be_bytes(), out);
            }
        }
        Scalar::Number(text) => out.extend_from_slice(text),
        Scalar::Json(text, _) => {
            out.push(b'"');
            out.extend_from_slice(text);
            out.push(b'"');
        }
        Scalar::Str(text) => {
            if is_utf8(text) {
                write_string(text, out);
            } else {
                write_tagged(b"{\"$str\":\"", text, out);
            }
        }
        Scalar::Bin(bytes) => write_bytes(bytes, out),
        Scalar::Ext(kind, bytes) => {
            out.extend_from_slice(b"{\"$ext\":[");
            write_int(kind, out);
            out.extend_from_slice(b",\"");
            write_hex(bytes, out);
            out.extend_from_slice(b"\"]}");
        }
        Scalar::Name(_, _, name) => write_string(name.as_bytes(), out),
    }
}

/// Writes UTF-8 as a JSON string.
#[inline]
fn write_string(text: &[u8], out: &mut Vec<u8>) {
    if write_short(text, b',', out) {
        out.pop();
    } else {
        out.push(b'"');
        write_escaped(text, out);
        out.push(b'"');
    }
}

/// Short text is mostly ASCII, and a check by words is cheaper than a call.
#[inline]
fn is_utf8(text: &[u8]) -> bool {
    text.is_ascii() || std::str::from_utf8(text).is_ok()
}

/// Writes bytes: `{"$bin":"hex"}`.
pub(crate) fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_tagged(b"{\"$bin\":\"", bytes, out);
}

/// Returns bytes as JSON: `{"$bin":"hex"}`.
pub(crate) fn bytes_json(bytes: &[u8]) -> String {
    format!("{{\"$bin\":\"{}\"}}", hex::encode(bytes))
}

/// Returns the bytes of `{"$bin":"hex"}` in JSON.
pub(crate) fn json_bytes(node: Node<'_>) -> Option<Vec<u8>> {
    let digits = node.get("$bin").and_then(Node::text)?;
    hex::decode(digits.as_bytes()).ok()
}

/// Writes `{"tag":"hex"}`; `open` is the part before the hex digits.
fn write_tagged(open: &[u8; 9], bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(open);
    write_hex(bytes, out);
    out.extend_from_slice(b"\"}");
}

/// Writes the bits of a float that is not finite.
#[cold]
fn write_float_bits(bits: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"$float\":\"");
    write_hex(bits, out);
    out.extend_from_slice(b"\"}");
}

/// Writes a number in decimal.
#[inline]
pub(crate) fn write_int(value: impl Into<i128>, out: &mut Vec<u8>) {
    let value = value.into();
    let Ok(size) = u64::try_from(value.unsigned_abs()) else {
        return out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    };
    if value < 0 {
        out.push(b'-');
    }
    write_uint(size, out);
}

/// Computes eight digits at once in a word, and writes them as one. Nearly all numbers have at most
/// eight, and a message has many (a twentieth of the decoding time).
#[inline]
fn write_uint(value: u64, out: &mut Vec<u8>) {
    const EIGHT: u64 = 100_000_000;
    if value >= EIGHT {
        write_uint_long(value, out);
    } else {
        let digits = eight_digits(value);
        let zeros = (digits | (1 << 56)).trailing_zeros() / 8;
        let text = (digits | ASCII_ZEROS) >> (zeros * 8);
        out.extend_from_slice(&text.to_le_bytes());
        out.truncate(out.len() - zeros as usize);
    }
}

#[inline(never)]
fn write_uint_long(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

const ASCII_ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

/// Returns the digits of a number of at most eight, one in each byte, the first in the lowest.
/// Splits it in halves, quarters and eighths, all parts of a step at once. For parts this small,
/// multiplying and shifting divides exactly.
#[inline]
const fn eight_digits(value: u64) -> u64 {
    let halves = (value / 10_000) | ((value % 10_000) << 32);
    let hundreds = ((halves * 5243) >> 19) & 0x7f_0000_007f;
    let quarters = hundreds | ((halves - hundreds * 100) << 16);
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((quarters - tens * 10) << 8)
}

/// Writes two hex digits for each byte.
pub(crate) fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    let (blocks, rest) = bytes.as_chunks::<16>();
    for block in blocks {
        out.extend_from_slice(&hex_block(block));
    }
    for byte in rest {
        out.extend_from_slice(&hex_pair(*byte));
    }
}

/// Returns the hex digits of a UUID. Not inlined: otherwise compilers do not vectorise it.
#[inline(never)]
pub(crate) fn hex16(bytes: &[u8; 16]) -> [u8; 32] {
    hex_block(bytes)
}

#[inline(always)]
fn hex_block(bytes: &[u8; 16]) -> [u8; 32] {
    let mut digits = [0; 32];
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = hex_pair(*byte);
    }
    digits
}

/// Computes both digits at once and without a table, so that compilers can vectorise it.
#[inline]
fn hex_pair(byte: u8) -> [u8; 2] {
    let digits = (byte as u16 >> 4) | (byte as u16 & 15) << 8;
    let letters = (digits + 0x0606) >> 4 & 0x0101;
    (digits + 0x3030 + letters * (b'a' - b'9' - 1) as u16).to_le_bytes()
}

/// A sink that writes lossless JSON text while it receives values.
///
/// A comma follows every value at once, and a closing bracket removes the last one: most values
/// then need only one copy.
#[derive(Clone, Debug, Default)]
pub struct JsonText {
    out: Vec<u8>,
    /// Fingerprints of the keys of the open maps.
    keys: Vec<u64>,
    open: Vec<OpenContainer>,
    /// A key is expected.
    at_key: bool,
    /// A map needs `$map`.
    needs_pairs: bool,
    /// The key of the last [`Sink::repeated`], and its text.
    repeated: Option<u128>,
    repeated_text: Vec<u8>,
}

/// An open map or array.
#[derive(Clone, Copy, Debug)]
struct OpenContainer {
    shape: Shape,
    /// The index of its first key.
    keys: u32,
}

impl JsonText {
    /// Returns the number of bytes that the text can take without new memory.
    #[cfg(feature = "cli")]
    pub(crate) fn capacity(&self) -> usize {
        self.out.capacity()
    }

    /// Removes the text and retains the memory.
    pub fn clear(&mut self) {
        self.out.clear();
        self.keys.clear();
        self.open.clear();
        self.at_key = false;
        self.needs_pairs = false;
    }

    /// Drops the text of the last [`Sink::repeated`], because names have changed.
    pub(super) fn forget_repeated(&mut self) {
        self.repeated = None;
    }

    /// Returns `true` if the text is complete: no map had keys that are not text, repeat, or start
    /// with `$`.
    pub(crate) fn is_plain(&self) -> bool {
        !self.needs_pairs
    }

    /// The text.
    pub fn as_bytes(&self) -> &[u8] {
        self.out.strip_suffix(b",").unwrap_or(&self.out)
    }

    /// Returns `true` if two keys of the map that ends may be equal.
    fn repeats(&mut self, from: usize) -> bool {
        let keys = self.keys.get_mut(from..).unwrap_or_default();
        if keys.len() > 16 {
            keys.sort_unstable();
            return keys.windows(2).any(|pair| pair[0] == pair[1]);
        }
        keys.iter()
            .enumerate()
            .any(|(i, key)| keys.iter().skip(i + 1).any(|other| other == key))
    }

    #[inline]
    fn key_text(&mut self, key: &[u8]) {
        self.needs_pairs |= key.first() == Some(&b'$');
        self.keys.push(fingerprint(key));
        if !write_short(key, b':', &mut self.out) {
            self.long_key(key);
        }
    }

    #[cold]
    fn long_key(&mut self, key: &[u8]) {
        self.needs_pairs |= !is_utf8(key);
        write_scalar(Scalar::Str(key), &mut self.out);
        self.out.push(b':');
    }
}

/// Returns a number that is the same for equal keys and nearly always differs otherwise: from
/// length, both ends, and the middle byte.
#[inline]
fn fingerprint(key: &[u8]) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let hash = match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            let middle = key.get(key.len() / 2).copied().unwrap_or_default() as u64;
            u64::from_le_bytes(*first).rotate_left(23) ^ u64::from_le_bytes(*last) ^ middle << 56
        }
        _ => key.iter().fold(0, |hash, &byte| hash << 8 | byte as u64),
    };
    (hash ^ key.len() as u64).wrapping_mul(MIX)
}

impl Sink for JsonText {
    #[inline]
    fn key(&mut self) {
        self.at_key = true;
    }

    #[inline]
    fn value(&mut self) {
        self.at_key = false;
    }

    // Inlined by force: if the kind of value is known, most of it is optimised away.
    #[inline(always)]
    fn scalar(&mut self, _: Span, value: Scalar<'_>) {
        match value {
            Scalar::Str(key) if self.at_key => self.key_text(key),
            Scalar::Str(text) if write_short(text, b',', &mut self.out) => {}
            Scalar::Uint(number) if !self.at_key => {
                write_int(number, &mut self.out);
                self.out.push(b',');
            }
            Scalar::Name(_, _, name) if write_short(name.as_bytes(), b',', &mut self.out) => {}
            _ => {
                // A key that is not text: the text is written again from the tape.
                self.needs_pairs |= self.at_key;
                write_scalar(value, &mut self.out);
                self.out.push(b',');
            }
        }
    }

    #[inline]
    fn open(&mut self, _: usize, shape: Shape) {
        self.needs_pairs |= self.at_key;
        self.at_key = false;
        self.open.push(OpenContainer {
            shape,
            keys: self.keys.len() as u32,
        });
        self.out.push(if shape == Shape::Map { b'{' } else { b'[' });
    }

    #[inline]
    fn close(&mut self, _: usize) {
        let Some(OpenContainer { shape, keys }) = self.open.pop() else {
            return;
        };
        let from = keys as usize;
        if self.keys.len() > from {
            self.needs_pairs |= self.repeats(from);
            self.keys.truncate(from);
        }
        if self.out.last() == Some(&b',') {
            self.out.pop();
        }
        self.out
            .extend_from_slice(if shape == Shape::Map { b"}," } else { b"]," });
    }

    #[inline]
    fn repeated(&mut self, key: u128, tell: impl FnOnce(&mut Self)) {
        if self.repeated == Some(key) {
            return self.out.extend_from_slice(&self.repeated_text);
        }
        let start = self.out.len();
        tell(self);
        self.repeated = Some(key);
        self.repeated_text.clear();
        let text = self.out.get(start..).unwrap_or_default();
        self.repeated_text.extend_from_slice(text);
    }

    #[inline(always)]
    fn label(&mut self, _: usize, _: u32, name: &KeyName) {
        self.at_key = false;
        if !name.write_key(&mut self.out) {
            self.long_key(name.as_str().as_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
