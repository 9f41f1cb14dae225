//! What only code can say of a value: whether it is of a type, or has a form.

use super::Member;
use crate::error::Refusal;
use crate::protocol::make::Mint;
use crate::tape::Node;

/// A type that only code can check.
#[derive(Debug)]
pub struct Code {
    /// Its name in an error message: `a felt`.
    pub name: &'static str,
    /// The members that a value of the type may have, for their marks.
    pub members: &'static [Member],
    /// Whether a value is of the type.
    pub is: fn(Node<'_>) -> bool,
    /// The JSON that a word of the command line means.
    pub word: fn(&str, &mut Mint) -> Result<String, Refusal>,
}

/// A form that a value should have beyond its type.
#[derive(Debug)]
pub struct Form {
    /// The rule that another form breaks; empty where lint has none.
    pub rule: &'static str,
    /// The form, as an error message names it.
    pub wanted: &'static str,
    /// Whether a value of another form is refused before writing.
    pub refused: bool,
    /// Whether a value has the form.
    pub is: fn(Node<'_>) -> bool,
}

impl Form {
    /// A form that lint wants, and that the check before writing does not.
    pub const fn of(rule: &'static str, wanted: &'static str, is: fn(Node<'_>) -> bool) -> Self {
        Self {
            rule,
            wanted,
            refused: false,
            is,
        }
    }

    /// Values of another form are refused before writing.
    #[must_use]
    pub const fn refused(self) -> Self {
        Self {
            refused: true,
            ..self
        }
    }
}
