//! Errors of conditions.
//!
//! ```text
//!   wanted a key, got knd
//!     knd=call
//!     ^^^ did you mean kind?
//! ```

use std::fmt;
use std::ops::Range;

/// An error in a condition, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseError {
    pub(super) text: String,
    /// The range in the text, in bytes.
    pub at: Range<usize>,
    /// The expected text.
    pub wanted: String,
    /// The likely intention.
    pub hint: Option<String>,
}

#[cfg(feature = "cli")]
impl ParseError {
    /// Creates an error for a part of a text.
    pub(crate) fn new(text: &str, at: Range<usize>, wanted: impl Into<String>) -> Self {
        Self {
            text: text.to_owned(),
            at,
            wanted: wanted.into(),
            hint: None,
        }
    }

    /// Adds the likely intention.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Moves the error to a longer text in which the part starts `by` bytes later.
    #[must_use]
    pub(crate) fn inside(mut self, text: &str, by: usize) -> Self {
        self.at = self.at.start + by..self.at.end + by;
        text.clone_into(&mut self.text);
        self
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for ParseError {
    /// The expected text; the condition; a caret under the part, and the likely intention.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.text.get(self.at.clone()).unwrap_or_default();
        let got = match part {
            "" if self.at.start >= self.text.len() => "the end".to_owned(),
            "" => "nothing".to_owned(),
            part => visible(part),
        };
        writeln!(f, "wanted {}, got {got}", self.wanted)?;
        writeln!(f, "  {}", visible(&self.text))?;
        let before = self.text.get(..self.at.start).unwrap_or_default();
        let carets = "^".repeat(part.chars().count().max(1));
        write!(f, "  {}{carets}", " ".repeat(before.chars().count()))?;
        match &self.hint {
            Some(hint) => write!(f, " {hint}"),
            None => Ok(()),
        }
    }
}

/// Returns text on one line.
fn visible(text: &str) -> String {
    let show = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().map(show).collect()
}
