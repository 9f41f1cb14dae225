//! The schema of a protocol: every kind of message as data.
//!
//! ```text
//!   Message      name, direction, type, result, releases, words of `make`
//!     Type       text, integer, array of a type, object of members, ...
//!       Member   name, presence, type, releases, default, marks
//! ```
//!
//! A protocol defines its messages in `protocol/NAME/schema.rs`. These follow from them: the check before a message is
//! written ([`check`]), the shape findings of lint ([`lint`]), messages from words ([`make`]), what diff, replay,
//! snapshot and redact ignore, map or hide ([`marks`]), and the JSON Schema of what decode shows ([`json_schema`]).
//!
//! ```
//! use wiretool::protocol::Direction::ToServer;
//! use wiretool::protocol::schema::{Message, TEXT, Type, UINT, may, message, must, object};
//!
//! static MESSAGES: &[Message] = &[message("ask", ToServer)
//!     .of(object![
//!         must("number", UINT),
//!         must("about", TEXT),
//!         may("hints", Type::Array(&TEXT)),
//!     ])
//!     .words("about [hints…] number=")
//!     .about("a question")];
//! ```

pub mod check;
mod display;
mod form;
pub mod json_schema;
mod kinds;
#[cfg(feature = "rules")]
pub mod lint;
pub mod make;
pub mod marks;
mod releases;
#[cfg(feature = "rules")]
pub(super) mod validate;

use super::make::Mint;
use super::{Direction, Role};
use crate::error::Refusal;
use crate::tape::Node;
pub use form::{Code, Form};
pub use kinds::kinds;
pub use releases::Releases;

/// What a value may be. [`std::fmt::Display`] names it as an error message does: `an integer of 1 or more`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Type {
    /// Any value.
    Any,
    /// No value, for this reason: the member must be absent.
    Never(&'static str),
    /// Null.
    Null,
    /// A truth value.
    Bool,
    /// Text that is UTF-8.
    Text,
    /// Any number.
    Number,
    /// A number written as an integer, from the first to the last.
    Integer(i128, i128),
    /// A whole number from the first to the last; a float without a fraction counts.
    Whole(i128, i128),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// An array, each element of this type.
    Array(&'static Self),
    /// An array with these members at fixed positions.
    Tuple(&'static [Member]),
    /// An object with these members; it may have others.
    Object(&'static [Member]),
    /// An object with these members, or an array with them at fixed positions.
    Record(&'static [Member]),
    /// One of these types.
    Either(&'static [Self]),
    /// What only code can check.
    Code(&'static Code),
    /// A value of a type that should also have a certain form.
    Form(&'static Self, &'static Form),
}

/// An integer that 64 bits with a sign hold.
pub const INT: Type = Type::Integer(i64::MIN as i128, i64::MAX as i128);
/// An integer that 64 bits without a sign hold.
pub const UINT: Type = Type::Integer(0, u64::MAX as i128);
/// Text.
pub const TEXT: Type = Type::Text;
/// Any value.
pub const ANY: Type = Type::Any;
/// A truth value.
pub const BOOL: Type = Type::Bool;
/// An array of any values.
pub const ARRAY: Type = Type::Array(&Type::Any);
/// An object with any members.
pub const OBJECT: Type = Type::Object(&[]);

/// Whether a member must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presence {
    /// It must.
    Required,
    /// It may be absent.
    Optional,
    /// It may be absent or null.
    Nullable,
    /// Exactly one of the members with this presence must be there.
    One,
}

/// How a new value is made for one that every run makes anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fresh {
    /// An id: of the same form, with other digits. Numbers count on from the first.
    Id,
    /// A time: now, in the same unit and form.
    Time,
    /// The value that the user gives, such as a token; otherwise the old value.
    Given,
    /// The old value: it follows from other values.
    Same,
}

/// What a member is beyond its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mark {
    /// One side makes the value anew in each run, and both then use it. Values of one group name the same things.
    Generated(&'static str, Fresh),
    /// The value differs between equal runs and is not compared.
    Volatile,
    /// The order of the items has no meaning.
    Unordered,
    /// The value must not be shown.
    Secret,
}

/// The value that `make` writes where no word gives one.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Default {
    /// None: the member is left out.
    Absent,
    /// This JSON.
    Json(&'static str),
    /// A new value.
    New(fn(&mut Mint) -> String),
}

/// A member of an object.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub ty: Type,
    /// Whether it must be there.
    pub presence: Presence,
    /// Another spelling of the name, with the releases that write it.
    pub spelled: Option<(&'static str, Releases)>,
    /// Its position where members are written as an array; otherwise its position in the list of members.
    pub position: Option<usize>,
    /// The releases that write it (under its name).
    pub releases: Releases,
    /// What `make` writes where no word gives a value.
    pub default: Default,
    /// What it is beyond its type.
    pub marks: &'static [Mark],
    /// The rules of lint that it breaks: where it is missing or stands beside another, and where its value is wrong.
    /// Empty: none of its own.
    pub rules: [&'static str; 2],
}

/// A kind of message, or one form of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Message {
    /// The name: a method, a kind, a type.
    pub name: &'static str,
    /// The direction in which it goes.
    pub direction: Direction,
    /// Whether it has an answer.
    pub answered: bool,
    /// Its role; `None` where direction or content decides.
    pub role: Option<Role>,
    /// The type of its content: of the params of a JSON-RPC method, of the whole message elsewhere.
    pub ty: Type,
    /// The marks of its id, where it has an envelope with one (JSON-RPC).
    pub id: &'static [Mark],
    /// The type of its result.
    pub result: Type,
    /// The releases that have it.
    pub releases: Releases,
    /// Where a kind has several forms: the member that only this form has, or its first element (`stages[0]`). A form
    /// without one comes last.
    pub when: Option<&'static str>,
    /// The words from which [`make`] builds it; `None` where it builds none.
    pub words: Option<&'static str>,
    /// Its name on the command line, where that differs.
    pub recipe: Option<&'static str>,
    /// What it is, for help.
    pub about: &'static str,
    /// What only code can check of the whole message.
    pub check: Option<fn(Node<'_>) -> Result<(), Refusal>>,
}

impl Message {
    /// Whether this is its name. The ends are compared first: most names differ there, and comparing whole texts is a call.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let ends = |text: &str| {
            (
                text.as_bytes().first().copied(),
                text.as_bytes().last().copied(),
            )
        };
        ends(self.name) == ends(name) && self.name == name
    }
}

/// A list of members that lives as long as the program.
#[macro_export]
macro_rules! members {
    ($($member:expr),* $(,)?) => {
        const { &[$($member),*] }
    };
}

/// The type of an object with these members.
#[macro_export]
macro_rules! object {
    ($($member:expr),* $(,)?) => {
        $crate::protocol::schema::Type::Object($crate::members![$($member),*])
    };
}

pub use crate::{members, object};

const fn member(name: &'static str, ty: Type, presence: Presence) -> Member {
    Member {
        name,
        ty,
        presence,
        spelled: None,
        position: None,
        releases: Releases::ALL,
        default: Default::Absent,
        marks: &[],
        rules: [""; 2],
    }
}

/// A member that must be there.
pub const fn must(name: &'static str, ty: Type) -> Member {
    member(name, ty, Presence::Required)
}

/// A member that may be absent.
pub const fn may(name: &'static str, ty: Type) -> Member {
    member(name, ty, Presence::Optional)
}

/// A member that may be absent or null.
pub const fn nullable(name: &'static str, ty: Type) -> Member {
    member(name, ty, Presence::Nullable)
}

/// A member that excludes all others of this presence: exactly one of them must be there.
pub const fn one(name: &'static str, ty: Type) -> Member {
    member(name, ty, Presence::One)
}

impl Member {
    /// Only these releases write it.
    #[must_use]
    pub const fn releases(self, releases: Releases) -> Self {
        Self { releases, ..self }
    }

    /// These releases write it under another name.
    #[must_use]
    pub const fn spelled(self, name: &'static str, releases: Releases) -> Self {
        Self {
            spelled: Some((name, releases)),
            ..self
        }
    }

    /// `make` writes this JSON where no word gives a value.
    #[must_use]
    pub const fn default(self, json: &'static str) -> Self {
        Self {
            default: Default::Json(json),
            ..self
        }
    }

    /// `make` writes a new value where no word gives one.
    #[must_use]
    pub const fn new(self, new: fn(&mut Mint) -> String) -> Self {
        Self {
            default: Default::New(new),
            ..self
        }
    }

    /// Its position where members are written as an array.
    #[must_use]
    pub const fn at(self, position: usize) -> Self {
        Self {
            position: Some(position),
            ..self
        }
    }

    /// The rules of lint that it breaks: where it is missing or stands beside another, and where its value is wrong.
    #[must_use]
    pub const fn rules(self, missing: &'static str, wrong: &'static str) -> Self {
        Self {
            rules: [missing, wrong],
            ..self
        }
    }

    /// What it is beyond its type.
    #[must_use]
    pub const fn marked(self, marks: &'static [Mark]) -> Self {
        Self { marks, ..self }
    }
}

/// A message without an answer.
pub const fn message(name: &'static str, direction: Direction) -> Message {
    Message {
        name,
        direction,
        answered: false,
        role: Some(Role::Notification),
        ty: OBJECT,
        id: &[],
        result: ANY,
        releases: Releases::ALL,
        when: None,
        words: None,
        recipe: None,
        about: "",
        check: None,
    }
}

/// A message that has an answer.
pub const fn request(name: &'static str, direction: Direction) -> Message {
    Message {
        answered: true,
        role: Some(Role::Request),
        ..message(name, direction)
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

/// The members of an object of a type; of its first alternative.
pub(crate) const fn members_of(ty: &Type) -> &'static [Member] {
    match ty {
        Type::Object(members) | Type::Record(members) | Type::Tuple(members) => members,
        Type::Code(code) => code.members,
        Type::Form(ty, _) => members_of(ty),
        Type::Either([first, ..]) => members_of(first),
        _ => &[],
    }
}
