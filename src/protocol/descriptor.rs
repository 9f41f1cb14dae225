//! The facts of a protocol, for generic code and the command line.

use super::Kind;
use super::make::Recipe;
use super::schema::json_schema::Shape;
use super::schema::marks::Marks;
use crate::framing::{Framing, Hints};
use crate::tape::Node;
use std::ops::Deref;

/// Types that only a protocol has, for values that people write: `(u256,)`.
pub trait ValueTypes: Sync {
    /// The protocol that has them.
    fn protocol(&self) -> &'static str;
    /// Whether there is a type of that name; the error says why not.
    fn check(&self, name: &str) -> Result<(), String>;
    /// A value of the type as JSON in a message; the error says why it is not one.
    fn write(&self, name: &str, value: Node<'_>) -> Result<String, String>;
}

impl std::fmt::Debug for dyn ValueTypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "types of {}", self.protocol())
    }
}

impl PartialEq for dyn ValueTypes {
    fn eq(&self, other: &Self) -> bool {
        self.protocol() == other.protocol()
    }
}

impl Eq for dyn ValueTypes {}

/// What users may say of a protocol beside what they may say of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// How lengths count.
    LengthMode,
    /// That messages are `MessagePack`, where there is JSON as well.
    MessagePack,
    /// How a side names itself.
    Name,
    /// The token that a side shows in the handshake.
    Token,
    /// What tokens are signed with.
    Secret,
    /// Definitions of structs and methods.
    Schema,
    /// What functions take and give.
    Signatures,
}

/// Facts that are collected on first use, as in a [`LazyLock`](std::sync::LazyLock).
pub type Collected<T> = &'static (dyn Deref<Target = T> + Sync);

/// The facts of a protocol.
#[derive(Clone, Copy)]
pub struct Descriptor {
    /// The name users write.
    pub name: &'static str,
    /// The port where its servers listen by default, where there is one.
    pub port: Option<u16>,
    /// How its messages may be delimited, the likeliest first.
    pub framings: &'static [Framing],
    /// What framing needs to know of its bytes.
    pub hints: Hints,
    /// What the two sides are called: the one that dialled or spawned, then the other.
    pub sides: [&'static str; 2],
    /// The side that offers functions though it opens the connection, where there is one.
    pub provider: Option<&'static str>,
    /// The names of its dialects, where scripts may choose one.
    pub dialects: &'static [&'static str],
    /// What users may say of it beside what they may say of all protocols.
    pub settings: &'static [Setting],
    /// Its kinds of message.
    pub kinds: Collected<Vec<Kind>>,
    /// The messages that [`Protocol::make`](super::Protocol::make) makes.
    pub recipes: Collected<Vec<Recipe>>,
    /// What differs from run to run, lists without an order, and names of secrets: from the marks of its schema.
    pub marks: Collected<Marks>,
    /// The JSON Schema of each kind of message, as `decode -f json` shows it.
    pub shapes: fn() -> Vec<Shape>,
    /// Fault codes of its own, each with what it means; framing and encodings have theirs.
    pub faults: &'static [(&'static str, &'static str)],
    /// Types of values that scripts may name.
    pub value_types: Option<&'static dyn ValueTypes>,
    /// Whether peers re-encode what they relay, so that the same message has other bytes on each leg.
    pub is_re_encoded: bool,
    /// Whether a request must wait for the answer before: nothing but their order ties the two, or peers ask for one
    /// thing at a time.
    pub takes_turns: bool,
}
