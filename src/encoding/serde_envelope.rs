//! Serde envelopes, as Redpanda's serde and telequick's lite form of it write them.
//!
//! ```text
//!   00      | 00             | 07 00 00 00  | 03 00 00 00 61 62 63
//!   version   compat_version   payload_size   fields: inline, in the schema's order, no tags, no padding
//! ```
//!
//! All numbers are little-endian. A string is an i32 length and its bytes, a vector an i32 count
//! and its elements, a struct inside a struct a nested envelope. The bytes have no names, so a
//! struct is read by its [`Struct`]. Fields that a newer writer added after the known ones are
//! retained as `tail`; fields that an older writer did not know are absent. That holds at every
//! level. [`guess`] reads an envelope without a schema.

mod error;
mod guess;
mod read;
mod write;

use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::KeyName;
use error::{EnvelopeError, EnvelopeErrorKind};
pub use guess::guess;
pub(crate) use read::{Fit, fit};
pub use read::{ParseOutcome, parse};
use std::sync::Arc;
pub(crate) use write::{Versions, bytes, int, versions, write, write_guess};

/// The names that this encoding needs; [`Types::names`] starts with them.
pub(crate) const LABELS: [&str; 4] = ["version", "compat_version", "fields", "tail"];
/// The index of `version` in `LABELS`.
pub(crate) const VERSION: u32 = 0;
/// The index of `compat_version` in `LABELS`.
pub(crate) const COMPAT_VERSION: u32 = 1;
/// The index of `fields` in `LABELS`.
pub const FIELDS: u32 = 2;
/// The index of `tail` in `LABELS`.
pub(crate) const TAIL: u32 = 3;

/// The length of an envelope's header.
pub const HEADER: usize = 6;
/// The maximum depth of nested envelopes, for any limit.
pub const MAX_DEPTH: u32 = 64;

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// One byte, 0 or 1.
    Bool,
    /// A signed integer of this many bytes.
    Int(u8),
    /// An unsigned integer of this many bytes.
    Uint(u8),
    /// IEEE 754, 8 bytes.
    Double,
    /// Text.
    Str,
    /// Opaque bytes in the shape of a string.
    Bytes,
    /// An int32 with names: an index in [`Types::enums`].
    Enum(u32),
    /// An envelope: an index in [`Types::structs`].
    Struct(u32),
    /// A count and elements.
    Vector(Box<FieldType>),
}

impl FieldType {
    /// Returns the minimum length of a value.
    pub(crate) fn min_size(&self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Int(width) | Self::Uint(width) => *width as usize,
            Self::Double => 8,
            Self::Str | Self::Bytes | Self::Enum(_) | Self::Vector(_) => 4,
            Self::Struct(_) => HEADER,
        }
    }
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructField {
    /// Its name, an index in [`Types::names`].
    pub name: u32,
    /// Its type.
    pub kind: FieldType,
    /// The version of the struct that added it.
    pub since: u8,
}

/// A struct: its fields in the order in which they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name, an index in [`Types::names`].
    pub name: u32,
    /// The described version.
    pub version: u8,
    /// The oldest version whose readers can read it.
    pub compat_version: u8,
    /// The fields.
    pub fields: Vec<StructField>,
}

/// Names for the values of an int32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Its name, an index in [`Types::names`].
    pub name: u32,
    /// Value and name, in ascending order of values.
    pub values: Vec<(i32, u32)>,
}

impl Enum {
    /// Returns the name of a value, an index in [`Types::names`].
    pub(crate) fn name_of(&self, value: i32) -> Option<u32> {
        let at = self.values.binary_search_by_key(&value, |(v, _)| *v).ok()?;
        self.values.get(at).map(|(_, name)| *name)
    }
}

/// The types of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Types {
    /// All names; `LABELS` first.
    pub names: Arc<Vec<KeyName>>,
    /// The structs.
    pub structs: Vec<Struct>,
    /// The enums.
    pub enums: Vec<Enum>,
    /// The maximum number of elements of a vector; the bytes limit it in any case.
    pub max_elements: Option<u32>,
}

impl Types {
    /// Returns the name at an index; empty if there is none.
    #[inline]
    pub fn name(&self, id: u32) -> &str {
        self.label(id).as_str()
    }

    /// Returns the name at an index with its JSON key.
    #[inline]
    pub fn label(&self, id: u32) -> &KeyName {
        self.names.get(id as usize).unwrap_or(KeyName::NONE)
    }

    /// Returns the struct at an index.
    pub fn layout(&self, id: u32) -> Option<&Struct> {
        self.structs.get(id as usize)
    }
}

/// The header of an envelope, and the span of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvelopeHeader {
    /// The schema version of the writer.
    pub(crate) version: u8,
    /// The oldest version that can read it, according to the writer.
    pub(crate) compat_version: u8,
    /// The length of the fields, as written.
    pub(crate) payload_size: i32,
    /// The fields that are present; shorter than `payload_size` if the bytes end before.
    pub(crate) fields: Span,
    /// `true` if `payload_size` is impossible: negative, or more than the bytes present.
    pub(crate) is_impossible: bool,
}

impl EnvelopeHeader {
    /// Reads the header at the start of `span`; `None` if its six bytes are not present.
    #[inline]
    pub fn read(bytes: &[u8], span: Span) -> Option<Self> {
        let body = span.of(bytes);
        let [version, compat_version, size @ ..] = *body.first_chunk::<HEADER>()?;
        let payload_size = i32::from_le_bytes(size);
        let available = body.len() - HEADER;
        let start = span.at() + HEADER;
        // payload_size is signed: it is compared before it is added to anything.
        let len = usize::try_from(payload_size)
            .ok()
            .filter(|n| *n <= available);
        Some(Self {
            version,
            compat_version,
            payload_size,
            fields: Span::new(start, start + len.unwrap_or(available)),
            is_impossible: len.is_none(),
        })
    }

    /// Returns the error of `payload_size`, if there is one.
    pub fn fault(&self) -> Option<DecodeError> {
        let violation = self.violation()?;
        Some(violation.explain(String::new()))
    }

    /// Returns an error if the writer declares that a reader of `version` cannot read this.
    pub(crate) fn unreadable_by(&self, version: u8) -> Option<DecodeError> {
        let at = self.fields.at().saturating_sub(HEADER - 1);
        let what = EnvelopeErrorKind::Unreadable(self.compat_version, version);
        (self.compat_version > version).then(|| EnvelopeError { at, what }.explain(String::new()))
    }

    fn violation(&self) -> Option<EnvelopeError> {
        let at = self.fields.at().saturating_sub(4);
        let what = match self.payload_size {
            _ if !self.is_impossible => return None,
            size @ ..0 => EnvelopeErrorKind::NegativeSize(size),
            size => EnvelopeErrorKind::Overrun(size, self.fields.len),
        };
        Some(EnvelopeError { at, what })
    }
}

#[cfg(test)]
mod tests;
