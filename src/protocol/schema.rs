//! The schema of a protocol: every kind of message as data.
//!
//! ```text
//!   Message      name, direction, type, result, releases, words of `make`
//!     Type       text, integer, array of a type, object of members, ...
//!       Member   name, presence, type, releases, default, marks
//! ```
//!
//! A protocol defines its messages in `protocol/NAME/schema.rs`. These follow from them: the check before a message is
//! written ([`check`]), the shape findings of lint (`lint`), messages from words ([`make`]), what diff, replay,
//! snapshot and redact ignore, map or hide ([`marks`]), and the JSON Schema of what decode shows ([`json_schema`]).
//!
//! ```
//! use wiretool::protocol::Direction::ToServer;
//! use wiretool::protocol::schema::{MessageSchema, TEXT, Type, UINT, may, message, must, object};
//!
//! static MESSAGES: &[MessageSchema] = &[message("ask", ToServer)
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
#[cfg(feature = "rules")]
pub mod files;
mod form;
pub(crate) mod head;
pub mod json_schema;
mod kinds;
#[cfg(feature = "rules")]
pub mod lint;
pub mod make;
pub mod marks;
mod releases;
#[cfg(feature = "rules")]
pub(super) mod validate;

use super::make::IdGen;
use super::rule_names::RuleId;
use super::{Direction, Role};
use crate::error::Result;
use crate::tape::Node;
pub use form::{CodeType, ValueForm};
pub(crate) use kinds::MessageIndex;
pub use kinds::kinds;
pub use releases::Releases;

/// The allowed values. [`std::fmt::Display`] names a type for error messages: `an integer of 1 or more`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Type {
    /// Any value.
    Any,
    /// No value: the member must be absent, for this reason.
    Never(&'static str),
    /// Null.
    Null,
    /// A truth value.
    Bool,
    /// Text that is UTF-8.
    Text,
    /// Any number.
    Number,
    /// A number written as an integer, from the first to the last value, inclusive.
    Integer(i128, i128),
    /// An integral number from the first to the last value, inclusive. A float without a fraction is allowed.
    Whole(i128, i128),
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// An array whose elements have this type.
    Array(&'static Self),
    /// An array with these members at fixed positions.
    Tuple(&'static [Member]),
    /// An object with these members. Other members are allowed.
    Object(&'static [Member]),
    /// An object with these members, or an array with these members at fixed positions.
    Record(&'static [Member]),
    /// One of these types.
    Either(&'static [Self]),
    /// A type that only code can check.
    Code(&'static CodeType),
    /// A value of a type that should also have a certain form.
    Form(&'static Self, &'static ValueForm),
}

/// An integer that fits in `i64`.
pub const INT: Type = Type::Integer(i64::MIN as i128, i64::MAX as i128);
/// An integer that fits in `u64`.
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

/// The number of times that a member is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presence {
    /// The member must be present.
    Required,
    /// The member may be absent.
    Optional,
    /// The member may be absent or null.
    Nullable,
    /// Exactly one of the members with this presence must be present.
    One,
}

/// The method by which a replay makes a new value for a generated one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fresh {
    /// An id of the same form with other digits. Numbers count up from the first.
    Id,
    /// The current time, in the same unit and form.
    Time,
    /// The number of the sending process: peers may end when it has ended.
    Process,
    /// The value that the user passes, such as a token; otherwise the old value.
    Given,
    /// The old value: it follows from other values.
    Same,
}

/// The side that generated a value to which a message refers. If it has no such value, the other side is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Maker {
    /// The sender of the message.
    Sender,
    /// The receiver of the message.
    Receiver,
}

/// A property of a member beyond its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mark {
    /// One side generates the value in each run, and both sides then use it. Values of one group name the same objects.
    Generated(&'static str, Fresh),
    /// The value is that of an earlier member of a group, which this side of the message generated.
    Reference(&'static str, Maker),
    /// Only the side that generates the value reads it. Both sides then use it, and its presence is compared.
    Opaque,
    /// The value differs between equivalent runs and is not compared.
    Volatile,
    /// The order of the items has no meaning.
    Unordered,
    /// The value must not be shown.
    Secret,
    /// The text names what the message is about within its subject.
    Name,
    /// One of these values says that the call failed; of an empty list, any value that is neither null, false nor empty.
    Fails(&'static [&'static str]),
}

/// The value that `make` writes if no word sets it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Default {
    /// No value: the member is left out.
    Absent,
    /// This JSON.
    Json(&'static str),
    /// A new value.
    New(fn(&mut IdGen) -> String),
}

/// A member of an object.
#[derive(Clone, Copy, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Member {
    /// The name.
    pub name: &'static str,
    /// The allowed values.
    pub ty: Type,
    /// The number of times that it is present.
    pub presence: Presence,
    /// Another spelling of the name, with the releases that use it.
    pub spelled: Option<(&'static str, Releases)>,
    /// The position if members are written as an array; `None` means the position in the list of members.
    pub position: Option<usize>,
    /// The releases that write it under its name.
    pub releases: Releases,
    /// The value that `make` writes if no word sets it.
    pub default: Default,
    /// The properties beyond its type.
    pub marks: &'static [Mark],
    /// The lint rules that it breaks: `[missing or excluded by another member, wrong value]`.
    pub rules: [Option<RuleId>; 2],
}

/// A kind of message, or one form of it.
#[derive(Clone, Copy, Debug)]
#[must_use]
#[non_exhaustive]
pub struct MessageSchema {
    /// The name: a method, a kind, a type.
    pub name: &'static str,
    /// The direction of the message.
    pub direction: Direction,
    /// Both sides send the message.
    pub both_ways: bool,
    /// The message has an answer.
    pub answered: bool,
    /// A message that has an answer is a notification without an id (JSON-RPC).
    pub may_notify: bool,
    /// The role; `None` if direction or content decides.
    pub role: Option<Role>,
    /// The type of the content: the params of a JSON-RPC method, otherwise the whole message.
    pub ty: Type,
    /// The marks of the id, if the envelope has one (JSON-RPC).
    pub id: &'static [Mark],
    /// The type of its result.
    pub result: Type,
    /// The releases that have the message.
    pub releases: Releases,
    /// If a kind has several forms: the member that only this form has, or its first element (`stages[0]`). A form
    /// without such a member comes last.
    pub when: Option<&'static str>,
    /// The words from which [`make`] builds the message; `None` if `make` does not build it.
    pub words: Option<&'static str>,
    /// The name on the command line, if it differs.
    pub recipe: Option<&'static str>,
    /// The description for help.
    pub about: &'static str,
    /// A check of the whole message that only code can make.
    pub check: Option<fn(Node<'_>) -> Result<()>>,
}

/// A `'static` list of members.
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
        rules: [None; 2],
    }
}

/// A member that must be present.
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

/// A member that excludes all other members of this presence: exactly one of them must be present.
pub const fn one(name: &'static str, ty: Type) -> Member {
    member(name, ty, Presence::One)
}

impl Member {
    /// Sets the releases that write it.
    pub const fn releases(self, releases: Releases) -> Self {
        Self { releases, ..self }
    }

    /// Sets another name, and the releases that use it.
    pub const fn spelled(mut self, name: &'static str, releases: Releases) -> Self {
        self.spelled = Some((name, releases));
        self
    }

    /// Sets the JSON that `make` writes if no word sets the member.
    pub const fn default(mut self, json: &'static str) -> Self {
        self.default = Default::Json(json);
        self
    }

    /// Sets the function that makes a new value if no word sets the member.
    pub const fn new(mut self, new: fn(&mut IdGen) -> String) -> Self {
        self.default = Default::New(new);
        self
    }

    /// Sets the position if members are written as an array.
    pub const fn at(mut self, position: usize) -> Self {
        self.position = Some(position);
        self
    }

    /// Sets the lint rule that it breaks if it is missing, or excluded by another member.
    pub const fn missing(mut self, rule: RuleId) -> Self {
        self.rules[0] = Some(rule);
        self
    }

    /// Sets the lint rule that a wrong value breaks.
    pub const fn wrong(mut self, rule: RuleId) -> Self {
        self.rules[1] = Some(rule);
        self
    }

    /// Sets the properties beyond its type.
    pub const fn marked(self, marks: &'static [Mark]) -> Self {
        Self { marks, ..self }
    }
}

/// A message without an answer.
pub const fn message(name: &'static str, direction: Direction) -> MessageSchema {
    MessageSchema {
        name,
        direction,
        both_ways: false,
        may_notify: false,
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
pub const fn request(name: &'static str, direction: Direction) -> MessageSchema {
    MessageSchema {
        answered: true,
        role: Some(Role::Request),
        ..message(name, direction)
    }
}

impl MessageSchema {
    /// Sets the role, for messages that are neither a request nor a notification; `None` if direction or content
    /// decides.
    pub const fn role(self, role: Option<Role>) -> Self {
        Self { role, ..self }
    }

    /// Sets the type of the content.
    pub const fn of(self, ty: Type) -> Self {
        Self { ty, ..self }
    }

    /// Sets the marks of the id.
    pub const fn id(self, id: &'static [Mark]) -> Self {
        Self { id, ..self }
    }

    /// Sets the type of the result.
    pub const fn result(self, result: Type) -> Self {
        Self { result, ..self }
    }

    /// Sets the releases that have the message.
    pub const fn releases(self, releases: Releases) -> Self {
        Self { releases, ..self }
    }

    /// Sets the member that only this form of the kind has.
    pub const fn when(mut self, member: &'static str) -> Self {
        self.when = Some(member);
        self
    }

    /// Sets the words from which it is made: see [`make`].
    pub const fn words(mut self, words: &'static str) -> Self {
        self.words = Some(words);
        self
    }

    /// Sets the name on the command line.
    pub const fn recipe(mut self, name: &'static str) -> Self {
        self.recipe = Some(name);
        self
    }

    /// Sets the description for help.
    pub const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Sets a check of the whole message that only code can make.
    pub const fn check(self, check: fn(Node<'_>) -> Result<()>) -> Self {
        Self {
            check: Some(check),
            ..self
        }
    }
}

/// Returns the members of an object type; for alternatives, those of the first.
pub(crate) const fn members_of(ty: &Type) -> &'static [Member] {
    match ty {
        Type::Object(members) | Type::Record(members) | Type::Tuple(members) => members,
        Type::Code(code) => code.members,
        Type::Form(ty, _) => members_of(ty),
        Type::Either([first, ..]) => members_of(first),
        _ => &[],
    }
}
