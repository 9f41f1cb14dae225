//! Cairo Serde: encodes JSON values as felts, and decodes them.
//!
//! ```text
//!   (u256, ByteArray)     "0x2" "0x1"  "0x0" "0x68656c6c6f" "0x5"
//!                          low   high   full  pending word   its length
//!                          2^128 + 2    words "hello"
//! ```
//!
//! Integers are plain numbers of any size; felts and addresses are hex strings; tuples and lists are arrays; structs are
//! objects; a variant is `{"Some":1}`, or `"None"` without content; bytes that are not UTF-8 are `{"$str":"hex"}`.
//!
//! The wire does not show the type of a felt: types come from text ([`CairoType::parse`], [`Signature::parse`]). Lengths are
//! bounded by the remaining felts before any allocation; nesting is bounded when a type is parsed.

mod decode;
mod encode;
mod parse;
mod types;

pub use decode::{CairoDecoder, decode};
pub use encode::encode;
pub use parse::TypeError;
pub use types::{CairoScalar, CairoType, Definition, Signature};

use std::fmt;

/// A dialect of Cairo Serde.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CairoDialect {
    /// Cairo's own dialect, which the executor's program reads and writes.
    #[default]
    Cairo,
    /// The dialect of the Rust SDK, which differs: `[T; N]` has a length prefix, a `bool` is 0 or 1, and the pending
    /// bytes of a `ByteArray` may be up to 32, with surplus high bytes ignored.
    Sdk,
}

/// The reason why felts or a value do not fit a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SerdeError {
    /// The index of the felt, from 0; `None` for a value that was not encoded.
    pub index: Option<usize>,
    /// The path in the value: `[1].x`; empty for the whole.
    pub path: String,
    /// The type at this path.
    pub ty: String,
    /// The expected value.
    pub wanted: String,
    /// The actual value.
    pub got: String,
}

impl SerdeError {
    fn new(ty: impl fmt::Display, wanted: impl Into<String>, got: impl Into<String>) -> Self {
        Self {
            index: None,
            path: String::new(),
            ty: ty.to_string(),
            wanted: wanted.into(),
            got: got.into(),
        }
    }

    fn at(mut self, index: usize) -> Self {
        self.index = Some(index);
        self
    }

    /// Adds an outer `step` to the path.
    fn under(mut self, step: &str) -> Self {
        let dot = !self.path.is_empty() && !self.path.starts_with('[');
        self.path = format!("{step}{}{}", if dot { "." } else { "" }, self.path);
        self
    }
}

impl fmt::Display for SerdeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(index) = self.index {
            write!(f, "felt {index}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}: wanted {}, got {}", self.ty, self.wanted, self.got)
    }
}

impl std::error::Error for SerdeError {}

/// The result of encoding or decoding.
pub type Result<T, E = SerdeError> = std::result::Result<T, E>;

/// The size of a full word, in bytes.
const WORD: usize = 31;

/// The size of a limb of a wide number, in bits.
const LIMB: u32 = 128;

#[cfg(test)]
mod tests;
