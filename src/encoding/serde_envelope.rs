//! Serde envelopes, as Redpanda's serde, and telequick's lite form of it, write them.
//!
//! ```text
//!   00      | 00             | 07 00 00 00  | 03 00 00 00 61 62 63
//!   version   compat_version   payload_size   fields: inline, in the schema's order, no tags, no padding
//! ```
//!
//! All numbers are little-endian. A string is an i32 length and its bytes, a vector an i32 count and its elements, a
//! struct inside a struct an envelope of its own. The bytes name nothing, so a struct is read by its [`Struct`]; what a
//! newer writer added after the known fields is kept as `tail`, what an older one did not know is absent. That holds at
//! every level. [`guess`] reads an envelope that no schema describes.

mod flaw;
mod guess;
mod read;
mod write;

use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::Name;
use flaw::{Flaw, What};
pub use guess::guess;
pub use read::{Fit, Outcome, fit, parse};
use std::sync::Arc;
pub(crate) use write::{Versions, bytes, int, versions, write, write_guess};

/// The names that this encoding needs; [`Types::names`] begins with them.
pub const LABELS: [&str; 4] = ["version", "compat_version", "fields", "tail"];
/// Place of `version` in [`LABELS`].
pub const VERSION: u32 = 0;
/// Place of `compat_version` in [`LABELS`].
pub const COMPAT_VERSION: u32 = 1;
/// Place of `fields` in [`LABELS`].
pub const FIELDS: u32 = 2;
/// Place of `tail` in [`LABELS`].
pub const TAIL: u32 = 3;

/// Bytes of an envelope before its fields.
pub const HEADER: usize = 6;
/// Levels of envelopes inside envelopes that are read at most, whatever the limit.
pub const MAX_DEPTH: u32 = 64;

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// One byte, 0 or 1.
    Bool,
    /// A signed integer of so many bytes.
    Int(u8),
    /// An unsigned integer of so many bytes.
    Uint(u8),
    /// IEEE 754, 8 bytes.
    Double,
    /// Text.
    Str,
    /// Opaque bytes in the shape of a string.
    Bytes,
    /// An int32 with names: a place in [`Types::enums`].
    Enum(u32),
    /// An envelope: a place in [`Types::structs`].
    Struct(u32),
    /// A count and elements.
    Vector(Box<Type>),
}

impl Type {
    /// The fewest bytes a value takes.
    pub fn min_size(&self) -> usize {
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
pub struct Field {
    /// Its name, a place in [`Types::names`].
    pub name: u32,
    /// What it holds.
    pub kind: Type,
    /// The version of the struct that brought it.
    pub since: u8,
}

/// A struct: its fields in the order they are written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Its name, a place in [`Types::names`].
    pub name: u32,
    /// The version that is described.
    pub version: u8,
    /// The oldest version whose readers can read it.
    pub compat_version: u8,
    /// The fields.
    pub fields: Vec<Field>,
}

/// Names for the values of an int32.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Its name, a place in [`Types::names`].
    pub name: u32,
    /// Value and name, by rising value.
    pub values: Vec<(i32, u32)>,
}

impl Enum {
    /// The name of a value, a place in [`Types::names`].
    pub fn name_of(&self, value: i32) -> Option<u32> {
        let at = self.values.binary_search_by_key(&value, |(v, _)| *v).ok()?;
        self.values.get(at).map(|(_, name)| *name)
    }
}

/// Everything that a schema describes of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Types {
    /// Every name there is; [`LABELS`] first.
    pub names: Arc<Vec<Name>>,
    /// The structs.
    pub structs: Vec<Struct>,
    /// The enums.
    pub enums: Vec<Enum>,
    /// How many elements a vector may have; bytes bound it anyway.
    pub max_elements: Option<u32>,
}

impl Types {
    /// The name at a place; empty where there is none.
    #[inline]
    pub fn name(&self, id: u32) -> &str {
        self.label(id).as_str()
    }

    /// The same with its spelling as a key.
    #[inline]
    pub fn label(&self, id: u32) -> &Name {
        self.names.get(id as usize).unwrap_or(Name::NONE)
    }

    /// The struct at a place.
    pub fn layout(&self, id: u32) -> Option<&Struct> {
        self.structs.get(id as usize)
    }
}

/// What stands before an envelope's fields, and where those end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The schema version of the writer.
    pub version: u8,
    /// The oldest version that the writer says can read it.
    pub compat_version: u8,
    /// Bytes of fields, as written.
    pub payload_size: i32,
    /// The fields that are there; less than `payload_size` where the bytes end before.
    pub fields: Span,
    /// Whether `payload_size` cannot be: negative, or more than there is.
    pub lies: bool,
}

impl Header {
    /// Reads the header at the start of `span`; `None` where its six bytes are not there.
    #[inline]
    pub fn read(bytes: &[u8], span: Span) -> Option<Self> {
        let body = span.of(bytes);
        let [version, compat_version, size @ ..] = *body.first_chunk::<HEADER>()?;
        let payload_size = i32::from_le_bytes(size);
        let room = body.len() - HEADER;
        let start = span.at() + HEADER;
        // payload_size is signed: it is compared before it is added to anything.
        let len = usize::try_from(payload_size).ok().filter(|n| *n <= room);
        Some(Self {
            version,
            compat_version,
            payload_size,
            fields: Span::new(start, start + len.unwrap_or(room)),
            lies: len.is_none(),
        })
    }

    /// What is wrong with `payload_size`, where something is.
    pub fn fault(&self) -> Option<DecodeError> {
        let flaw = self.flaw()?;
        Some(flaw.explain(String::new()))
    }

    /// What is wrong where the writer says that a reader of `version` cannot read this.
    pub fn unreadable(&self, version: u8) -> Option<DecodeError> {
        let at = self.fields.at().saturating_sub(HEADER - 1);
        let what = What::Unreadable(self.compat_version, version);
        (self.compat_version > version).then(|| Flaw { at, what }.explain(String::new()))
    }

    fn flaw(&self) -> Option<Flaw> {
        let at = self.fields.at().saturating_sub(4);
        let what = match self.payload_size {
            _ if !self.lies => return None,
            size @ ..0 => What::NegativeSize(size),
            size => What::Overrun(size, self.fields.len),
        };
        Some(Flaw { at, what })
    }
}

#[cfg(test)]
mod tests;
