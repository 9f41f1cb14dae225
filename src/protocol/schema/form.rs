//! Types and forms that only code can check.

use super::Member;
use crate::error::Result;
use crate::protocol::make::IdGen;
use crate::protocol::rule_names::RuleId;
use crate::tape::Node;

/// A type that only code can check.
#[derive(Debug)]
pub struct CodeType {
    /// The name for error messages: `a felt`.
    pub name: &'static str,
    /// The members that a value of the type may have, for their marks.
    pub members: &'static [Member],
    /// Returns true if a value has the type.
    pub is: fn(Node<'_>) -> bool,
    /// Converts a word of the command line to JSON.
    pub word: fn(&str, &mut IdGen) -> Result<String>,
}

/// A form that a value should have beyond its type.
#[derive(Debug)]
pub struct ValueForm {
    /// The rule that another form breaks, if lint has one.
    pub rule: Option<RuleId>,
    /// The form, as an error message names it.
    pub wanted: &'static str,
    /// A value of another form is refused before writing.
    pub refused: bool,
    /// Returns true if a value has the form.
    pub is: fn(Node<'_>) -> bool,
}

impl ValueForm {
    /// A form that only lint requires, not the check before writing.
    pub const fn of(rule: Option<RuleId>, wanted: &'static str, is: fn(Node<'_>) -> bool) -> Self {
        Self {
            rule,
            wanted,
            refused: false,
            is,
        }
    }

    /// Also refuses values of another form before writing.
    #[must_use]
    pub const fn refused(self) -> Self {
        Self {
            refused: true,
            ..self
        }
    }
}
