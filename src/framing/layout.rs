//! A header of fields before each message, which data describes.
//!
//! ```text
//!   i3-ipc | 0c 00 00 00 | 00 00 00 00 | workspace 1  |          |
//!   magic    length u32le  type u32le    body           checksum   delimiter
//!   '--------------- header ----------'                '----- trailer -----'
//! ```
//!
//! A [`HeaderLayout`] is built at run time, and is a [`CustomFraming`]: a stream is split into frames, and continues
//! after bytes that are no frame at the next magic bytes with a plausible length. [`HeaderLayout::fields`] gives the
//! values of a header with their places, [`HeaderLayout::header`] writes it from values.
//!
//! The length gives the end of the body; without a length, the first delimiter does; without both, there is no body. A
//! wrong checksum is a fault of its frame, which is decoded all the same.

mod checksum;
mod read;
#[cfg(test)]
mod tests;
mod write;

use super::{CustomFraming, FramingName, FramingReader, Wire};
use crate::span::Span;
pub use checksum::{Checksum, ChecksumAlgorithm, ChecksumRange};
use read::LayoutReader;
use std::fmt;
use std::sync::Arc;

/// The maximum length of a header, and of a delimiter.
const MAX_HEADER: usize = 1024;
/// The maximum number of fields.
const MAX_FIELDS: usize = 64;
/// The maximum length of a number without a fixed size: 64 bits, seven in each byte.
const MAX_VARINT: usize = 10;

/// The form of a number in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberForm {
    /// A fixed number of bytes.
    Fixed {
        /// 1 to 8 bytes.
        bytes: u8,
        /// Two's complement.
        signed: bool,
        /// The least significant byte is the first.
        little: bool,
    },
    /// Seven bits in each byte, the least significant first; all bytes but the last have the highest bit (LEB128).
    Varint,
}

impl NumberForm {
    /// Returns the form with this name: `u8` to `u64` and `i8` to `i64` in steps of 8 bits, with `le` or `be` (the
    /// default) after it; or `varint`.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "varint" {
            return Some(Self::Varint);
        }
        let signed = name.starts_with('i');
        let digits = name.strip_prefix(['u', 'i'])?;
        let little = digits.ends_with("le");
        let digits = digits
            .strip_suffix("le")
            .or(digits.strip_suffix("be"))
            .unwrap_or(digits);
        let bytes = match digits {
            "8" => 1,
            "16" => 2,
            "24" => 3,
            "32" => 4,
            "40" => 5,
            "48" => 6,
            "56" => 7,
            "64" => 8,
            _ => return None,
        };
        Some(Self::Fixed {
            bytes,
            signed,
            little,
        })
    }

    /// Returns the maximum number of bytes.
    fn max_len(self) -> usize {
        match self {
            Self::Fixed { bytes, .. } => bytes.into(),
            Self::Varint => MAX_VARINT,
        }
    }

    /// Reads a number and its length: `Ok(None)` if it is not complete, `Err` if it has more than 64 bits.
    fn read(self, bytes: &[u8]) -> Result<Option<(HeaderValue<'static>, usize)>, ()> {
        match self {
            Self::Fixed {
                bytes: len,
                signed,
                little,
            } => {
                let Some(digits) = bytes.get(..len.into()) else {
                    return Ok(None);
                };
                let push = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
                let value = if little {
                    digits.iter().rev().fold(0, push)
                } else {
                    digits.iter().fold(0, push)
                };
                let unused = 64 - 8 * u32::from(len).clamp(1, 8);
                let value = if signed {
                    HeaderValue::Int((value << unused).cast_signed() >> unused)
                } else {
                    HeaderValue::Uint(value)
                };
                Ok(Some((value, len.into())))
            }
            Self::Varint => {
                let mut value = 0_u64;
                for (n, byte) in bytes.iter().enumerate() {
                    let bits = u64::from(byte & 0x7f);
                    let shift = 7 * n as u32;
                    if shift > 63 || bits << shift >> shift != bits {
                        return Err(());
                    }
                    value |= bits << shift;
                    if byte & 0x80 == 0 {
                        return Ok(Some((HeaderValue::Uint(value), n + 1)));
                    }
                }
                Ok(None)
            }
        }
    }
}

/// The bytes that a length counts, apart from a constant. The trailer is never counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LengthRange {
    /// The body.
    Body,
    /// All bytes after the length itself, up to the end of the body.
    AfterLength,
    /// The length itself and all bytes after it, up to the end of the body.
    FromLength,
    /// Header and body.
    Frame,
}

/// The meaning of a field of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldKind {
    /// The same bytes in each header.
    Magic(Vec<u8>),
    /// A number.
    Number(NumberForm),
    /// A fixed number of bytes.
    Bytes(usize),
    /// The length, which gives the end of the body.
    Length {
        /// The form of the number.
        form: NumberForm,
        /// The bytes that it counts.
        range: LengthRange,
        /// The constant by which it is larger than their number.
        plus: i64,
    },
    /// A checksum in the header. Its own bytes count as zeros.
    Checksum(Checksum),
}

impl FieldKind {
    fn max_len(&self) -> usize {
        match self {
            Self::Magic(bytes) => bytes.len(),
            Self::Number(form) | Self::Length { form, .. } => form.max_len(),
            Self::Bytes(len) => *len,
            Self::Checksum(checksum) => checksum.algorithm.len(),
        }
    }
}

/// A field of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutField {
    /// The name of its value.
    pub name: String,
    /// Its meaning.
    pub kind: FieldKind,
}

/// The bytes after a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trailer {
    /// The name of a checksum, and the checksum.
    pub checksum: Option<(String, Checksum)>,
    /// The bytes at the end of each frame; empty if there are none.
    pub delimiter: Vec<u8>,
}

impl Trailer {
    fn len(&self) -> usize {
        let checksum = self.checksum.as_ref();
        checksum.map_or(0, |(_, checksum)| checksum.algorithm.len()) + self.delimiter.len()
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderValue<'a> {
    /// A number without a sign.
    Uint(u64),
    /// A number with a sign.
    Int(i64),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl HeaderValue<'_> {
    /// Returns a number.
    pub fn number(self) -> Option<i128> {
        match self {
            Self::Uint(n) => Some(n.into()),
            Self::Int(n) => Some(n.into()),
            Self::Bytes(_) => None,
        }
    }
}

/// A field that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadField<'a> {
    /// The name.
    pub name: &'a str,
    /// Its place in the frame.
    pub span: Span,
    /// The value.
    pub value: HeaderValue<'a>,
}

/// The reason why fields are no layout, in the words of an error: the name of the field, what was wanted, what was got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutError {
    /// The name of the field; empty for the whole.
    pub field: String,
    /// The expected value.
    pub wanted: &'static str,
    /// The given value.
    pub got: String,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = if self.field.is_empty() {
            "header"
        } else {
            &self.field
        };
        write!(f, "{field}: wanted {}, got {}", self.wanted, self.got)
    }
}

impl std::error::Error for LayoutError {}

#[derive(Debug)]
struct Layout {
    framing: FramingName,
    fields: Vec<LayoutField>,
    trailer: Trailer,
    has_length: bool,
    /// The maximum length of the header.
    max_header: usize,
}

/// The header and the trailer of the frames of a framing. A copy shares the fields.
#[derive(Clone, Debug)]
pub struct HeaderLayout(Arc<Layout>);

impl HeaderLayout {
    /// Creates a layout. At most one field is the length, and at most one the checksum. The header has at most 64 fields
    /// and 1024 bytes.
    pub fn new(
        framing: FramingName,
        fields: Vec<LayoutField>,
        trailer: Trailer,
    ) -> Result<Self, LayoutError> {
        let error = |field: &str, wanted, got: String| LayoutError {
            field: field.to_owned(),
            wanted,
            got,
        };
        if fields.is_empty() || fields.len() > MAX_FIELDS {
            let got = format!("{} fields", fields.len());
            return Err(error("", "1 to 64 fields", got));
        }
        let (mut lengths, mut checksums, mut names) = (0, 0, Vec::new());
        let trailing = trailer.checksum.iter();
        let trailing = trailing.map(|(name, checksum)| (name, FieldKind::Checksum(*checksum)));
        let own = fields.iter().map(|field| (&field.name, field.kind.clone()));
        for (name, kind) in own.chain(trailing) {
            if name.is_empty() || names.contains(&name) {
                let got = format!("the name \"{name}\"");
                return Err(error(name, "a name of its own", got));
            }
            names.push(name);
            lengths += usize::from(matches!(kind, FieldKind::Length { .. }));
            checksums += usize::from(matches!(kind, FieldKind::Checksum(_)));
            let len = kind.max_len();
            if len == 0 || len > MAX_HEADER {
                let got = format!("{len} bytes");
                return Err(error(name, "1 to 1024 bytes", got));
            }
            if let FieldKind::Number(form) | FieldKind::Length { form, .. } = kind
                && form.max_len() > MAX_VARINT.min(8)
                && form != NumberForm::Varint
            {
                let got = format!("{} bytes", form.max_len());
                return Err(error(name, "a number of 1 to 8 bytes", got));
            }
            if lengths > 1 || checksums > 1 {
                let wanted = "at most one length and one checksum";
                return Err(error(name, wanted, "a second one".to_owned()));
            }
        }
        let max_header = fields.iter().map(|field| field.kind.max_len()).sum();
        let longest = trailer.delimiter.len().max(max_header);
        if longest > MAX_HEADER {
            let wanted = "a header and a delimiter of at most 1024 bytes";
            return Err(error("", wanted, format!("{longest} bytes")));
        }
        Ok(Self(Arc::new(Layout {
            framing,
            fields,
            trailer,
            has_length: lengths > 0,
            max_header,
        })))
    }

    /// Returns the fields of the header.
    pub fn layout(&self) -> &[LayoutField] {
        &self.0.fields
    }

    /// Returns the values of the header and the trailer of a frame, in order, as far as it is complete.
    pub fn fields<'a>(&'a self, frame: &'a [u8]) -> ReadFields<'a> {
        ReadFields {
            layout: &self.0,
            frame,
            index: 0,
            at: 0,
        }
    }
}

/// The values of a header; see [`HeaderLayout::fields`].
#[derive(Debug)]
pub struct ReadFields<'a> {
    layout: &'a Layout,
    frame: &'a [u8],
    index: usize,
    at: usize,
}

impl<'a> Iterator for ReadFields<'a> {
    type Item = ReadField<'a>;

    fn next(&mut self) -> Option<ReadField<'a>> {
        let (name, kind) = match self.layout.fields.get(self.index) {
            Some(field) => (field.name.as_str(), &field.kind),
            None => return self.trailing(),
        };
        let rest = self.frame.get(self.at..)?;
        let (value, len) = match kind {
            FieldKind::Magic(bytes) => (HeaderValue::Bytes(rest.get(..bytes.len())?), bytes.len()),
            FieldKind::Bytes(len) => (HeaderValue::Bytes(rest.get(..*len)?), *len),
            FieldKind::Number(form) | FieldKind::Length { form, .. } => form.read(rest).ok()??,
            FieldKind::Checksum(checksum) => checksum.form().read(rest).ok()??,
        };
        let span = Span::new(self.at, self.at + len);
        self.index += 1;
        self.at += len;
        Some(ReadField { name, span, value })
    }
}

impl<'a> ReadFields<'a> {
    /// Returns the checksum after the body.
    fn trailing(&mut self) -> Option<ReadField<'a>> {
        let (name, checksum) = self.layout.trailer.checksum.as_ref()?;
        if self.index > self.layout.fields.len() {
            return None;
        }
        self.index += 1;
        let header = self.layout.header(self.frame).ok()??;
        let body = match header.body {
            Some(body) => body,
            None => self.layout.delimited_body(self.frame, header.len)?,
        };
        let start = header.len + usize::try_from(body).ok()?;
        let rest = self.frame.get(start..)?;
        let (value, len) = checksum.form().read(rest).ok()??;
        let span = Span::new(start, start + len);
        Some(ReadField { name, span, value })
    }
}

impl CustomFraming for HeaderLayout {
    fn name(&self) -> FramingName {
        self.0.framing
    }

    fn reader(&self) -> Box<dyn FramingReader> {
        Box::new(LayoutReader::new(Arc::clone(&self.0)))
    }

    /// Writes a frame. [`Wire::header`] holds the header, as [`HeaderLayout::header`] writes it; length and checksum
    /// are computed.
    fn write(&self, body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
        self.0.write(body, wire, out);
    }
}
