//! What is wrong with a message, and where.

use crate::span::Span;
use std::borrow::Cow;
use std::fmt;

/// Text that is nearly always a literal.
pub type Text = Cow<'static, str>;

/// One thing that cannot be decoded: the place, the field that lied, what was wanted and what was there.
///
/// The same type serves framing, encodings and protocols; `code` is stable and listed in the README.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// Stable name, such as `truncated` or `bad-id`.
    pub code: &'static str,
    /// Where, in the view's coordinates.
    pub span: Span,
    /// Which field: `length`, `params.selector`, `message` for the whole.
    pub field: Text,
    /// What would have been right.
    pub wanted: Text,
    /// What was there.
    pub got: Text,
    /// The likely cause, in one sentence.
    pub hint: Option<Text>,
}

impl DecodeError {
    /// An error without a hint.
    pub fn new(
        code: &'static str,
        span: Span,
        field: impl Into<Text>,
        wanted: impl Into<Text>,
        got: impl Into<Text>,
    ) -> Self {
        Self {
            code,
            span,
            field: field.into(),
            wanted: wanted.into(),
            got: got.into(),
            hint: None,
        }
    }

    /// The same with the likely cause added.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: wanted {}, got {}",
            self.field, self.wanted, self.got
        )
    }
}

impl std::error::Error for DecodeError {}

/// Why a message cannot be written: the place in the message, what was wanted there and what was given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Which value: `params.selector`, `args[2].$map`, empty for the whole message.
    pub path: String,
    /// What would have been right.
    pub wanted: Text,
    /// What was given.
    pub got: Text,
}

impl Refusal {
    /// A refusal of one part.
    pub fn new(path: impl Into<String>, wanted: impl Into<Text>, got: impl Into<Text>) -> Self {
        Self {
            path: path.into(),
            wanted: wanted.into(),
            got: got.into(),
        }
    }

    /// A refusal of the whole value; [`Refusal::inside`] and [`Refusal::at`] say where that stands.
    pub fn whole(wanted: impl Into<Text>, got: impl Into<Text>) -> Self {
        Self::new("", wanted, got)
    }

    /// The same for the value under a key.
    #[must_use]
    pub fn inside(self, key: &str) -> Self {
        self.below(key)
    }

    /// The same for an element of an array.
    #[must_use]
    pub fn at(self, index: usize) -> Self {
        self.below(&format!("[{index}]"))
    }

    fn below(mut self, step: &str) -> Self {
        let glue = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{step}{glue}{}", self.path);
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "message"
        } else {
            &self.path
        };
        write!(f, "{path}: wanted {}, got {}", self.wanted, self.got)
    }
}

impl std::error::Error for Refusal {}

/// A byte as an error message shows it: `0x41 'A'`, `0x00`.
pub fn show_byte(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("0x{byte:02x} '{}'", byte as char)
    } else {
        format!("0x{byte:02x}")
    }
}
