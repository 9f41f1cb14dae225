//! Cairo Serde: values as felts, and back.
//!
//! ```text
//!   (u256, ByteArray)     "0x2" "0x1"  "0x0" "0x68656c6c6f" "0x5"
//!                          low   high   full  pending word   its length
//!                          2^128 + 2    words "hello"
//! ```
//!
//! Nothing on the wire says which type a felt is of: types come from text ([`Type::parse`], [`Signature::parse`]).
//! Lengths are bounded by the felts that are left, before anything is allocated; nesting is bounded when a type is read.

mod decode;
mod encode;
mod types;
mod value;

pub use decode::{Decoder, decode};
pub use encode::encode;
pub use types::{Definition, Scalar, Signature, Type, TypeError};
pub use value::Value;

use std::fmt;

/// Whose Cairo Serde it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Cairo's own: what the executor's program reads and writes.
    #[default]
    Cairo,
    /// The Rust SDK's, which differs: `[T; N]` has its length before it, a `bool` is 0 or 1, and the pending bytes of a
    /// `ByteArray` may be up to 32, with surplus high bytes ignored.
    Sdk,
}

/// Why felts are not of a type, or a value is not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SerdeError {
    /// Which felt, from 0; none where the value never became felts.
    pub index: Option<usize>,
    /// Where in the value: `[1].x`; empty for the whole.
    pub path: String,
    /// The type of what is there.
    pub ty: String,
    /// What would have been right.
    pub wanted: String,
    /// What was there.
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

    /// The same, seen from outside: `step` leads to where it is.
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

/// Bytes of a full word.
const WORD: usize = 31;

/// The limbs of a wide number, and the bits of each.
const LIMB: u32 = 128;

#[cfg(test)]
mod tests;
