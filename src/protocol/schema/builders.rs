//! Forms and messages with what they have beyond their first parts.

use super::{Form, Mark, Message, Releases, Type};
use crate::error::Refusal;
use crate::protocol::Role;
use crate::tape::Node;

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

impl Message {
    /// Its role, where it is neither a request nor a notification; `None` where direction or content decides.
    #[must_use]
    pub const fn role(self, role: Option<Role>) -> Self {
        Self { role, ..self }
    }

    /// The type of its content.
    #[must_use]
    pub const fn of(self, ty: Type) -> Self {
        Self { ty, ..self }
    }

    /// The marks of its id.
    #[must_use]
    pub const fn id(self, id: &'static [Mark]) -> Self {
        Self { id, ..self }
    }

    /// The type of its result.
    #[must_use]
    pub const fn result(self, result: Type) -> Self {
        Self { result, ..self }
    }

    /// Only these releases have it.
    #[must_use]
    pub const fn releases(self, releases: Releases) -> Self {
        Self { releases, ..self }
    }

    /// This form has this member, and other forms of the kind do not.
    #[must_use]
    pub const fn when(self, member: &'static str) -> Self {
        Self {
            when: Some(member),
            ..self
        }
    }

    /// The words from which it is made: see [`make`].
    #[must_use]
    pub const fn words(self, words: &'static str) -> Self {
        Self {
            words: Some(words),
            ..self
        }
    }

    /// Its name on the command line.
    #[must_use]
    pub const fn recipe(self, name: &'static str) -> Self {
        Self {
            recipe: Some(name),
            ..self
        }
    }

    /// What it is, for help.
    #[must_use]
    pub const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// What only code can check of the whole message.
    #[must_use]
    pub const fn check(self, check: fn(Node<'_>) -> Result<(), Refusal>) -> Self {
        Self {
            check: Some(check),
            ..self
        }
    }
}
