//! Errors of messages, with their positions.

use crate::span::Span;
use std::borrow::Cow;
use std::fmt;

/// Text that is usually a literal.
pub type Text = Cow<'static, str>;

/// An error of decoding: the position, the incorrect field, the expected value and the actual
/// value.
///
/// Framing, encodings and protocols share this type; `code` is stable and listed in the README.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// Stable name, such as `truncated` or `bad-id`.
    pub code: &'static str,
    /// The position, in the view's coordinates.
    pub span: Span,
    /// The field: `length`, `params.selector`; `message` for the whole.
    pub field: Text,
    /// The expected value.
    pub wanted: Text,
    /// The actual value.
    pub got: Text,
    /// The likely cause, in one sentence. A setting that helps is in backticks, such as `max-message` or `framing values`;
    /// [`with_flags`] writes it as a flag.
    pub hint: Option<Text>,
}

impl DecodeError {
    /// An error without a hint. Few messages have one: `cold` keeps the code that describes it apart from the code that
    /// every message runs.
    #[cold]
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

    /// Writes the settings in the hint as flags.
    pub(crate) fn name_flags(&mut self) {
        if let Some(hint) = self.hint.as_ref().filter(|hint| hint.contains('`')) {
            self.hint = Some(with_flags(hint));
        }
    }

    /// Adds the likely cause.
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

/// The settings that hints name.
pub(crate) const HINTED: [&str; 7] = [
    "framing",
    "length-mode",
    "max-depth",
    "max-message",
    "protocol",
    "secret-file",
    "signature",
];

/// Returns a text in which settings are flags: `--max-message` for max-message in backticks. Other text in backticks stays.
pub fn with_flags(text: &str) -> Text {
    let (mut written, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('`') {
        written += before;
        let setting = after.split_once('`').filter(|(inside, _)| {
            let name = inside.split(' ').next().unwrap_or_default();
            HINTED.contains(&name)
        });
        if let Some((inside, after)) = setting {
            written += "--";
            written += inside;
            rest = after;
        } else {
            written.push('`');
            rest = after;
        }
    }
    written += rest;
    written.into()
}

/// An error of writing a message: the path in the message, the expected value and the given one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The path of the value: `params.selector`, `args[2].$map`; empty for the whole message.
    pub path: String,
    /// The expected value.
    pub wanted: Text,
    /// The given value.
    pub got: Text,
}

impl Refusal {
    /// Refuses one part.
    pub fn new(path: impl Into<String>, wanted: impl Into<Text>, got: impl Into<Text>) -> Self {
        Self {
            path: path.into(),
            wanted: wanted.into(),
            got: got.into(),
        }
    }

    /// Refuses the whole value; [`Refusal::inside`] and [`Refusal::at`] add its path.
    pub fn whole(wanted: impl Into<Text>, got: impl Into<Text>) -> Self {
        Self::new("", wanted, got)
    }

    /// Adds the key of the value to the path.
    #[must_use]
    pub fn inside(self, key: &str) -> Self {
        self.below(key)
    }

    /// Adds the index of the element to the path.
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

/// The result of writing or making a message: a value, or the reason why it is refused.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

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

/// Formats a byte for an error message: `0x41 'A'`, `0x00`.
pub(crate) fn show_byte(byte: u8) -> String {
    if byte.is_ascii_graphic() {
        format!("0x{byte:02x} '{}'", byte as char)
    } else {
        format!("0x{byte:02x}")
    }
}
