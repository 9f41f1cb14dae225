//! stepflow: a workflow runtime and its component servers, JSON-RPC 2.0 over stdio lines or HTTP with server-sent events.
//!
//! ```text
//!   runtime                                server
//!      | -> {"id":"…","method":"initialize"}  |
//!      | <- {"id":"…","result":{…}}           |
//!      | -> {"method":"initialized"}          |
//!      | -> {"id":"…","method":"components/execute"…}
//!      | <- {"id":"…","method":"blobs/put"…}  |     the server asks back, over HTTP in the answer's event stream
//!      | -> {"id":"…","result":{…}}           |     answered in a POST of its own, on another connection
//!      | <- {"id":"…","result":{…}}           |
//! ```
//!
//! Kinds: see the schema. Role by kind; id is the JSON-RPC id; subject is the method. Several releases share one version
//! number and differ in methods and key style: [`Message::dialect`] says what the bytes tell.

#[cfg(feature = "rules")]
mod behavior;
mod message;
#[cfg(feature = "rules")]
mod peer;
mod schema;
#[cfg(feature = "rules")]
mod session;

use super::make::{Made, Mint, Words};
use super::{
    Context, Descriptor, Direction, Message, Notes, Protocol, Role, WriteOptions, Written,
};
use crate::encoding::Parsed;
use crate::error::Refusal;
use crate::framing::{Frame, Framing, Hints};
use crate::tape::Node;
pub use message::{Execute, execute};

/// The protocol.
pub struct Stepflow;

/// Fault codes beside those of framing and JSON.
pub const FAULTS: &[(&str, &str)] = &[
    ("blank-line", "a line without a message"),
    ("not-an-object", "JSON, but no object; a batch is one"),
    (
        "not-a-message",
        "an object with none of method, result and error",
    ),
];

/// The facts of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "stepflow",
    port: None,
    framings: &[Framing::Lines, Framing::Http],
    hints: Hints {
        measure: None,
        plausible: None,
    },
    sides: ["runtime", "server"],
    provider: None,
    dialects: &["A", "B", "C"],
    settings: &[],
    kinds: &schema::KINDS,
    recipes: &schema::RECIPES,
    marks: &schema::MARKS,
    shapes: schema::shapes,
    faults: FAULTS,
    value_types: None,
    is_re_encoded: false,
    takes_turns: false,
};

impl Protocol for Stepflow {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn read<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &Context,
        parsed: &'a mut Parsed,
    ) -> Message<'a> {
        message::read(frame, context, parsed)
    }

    fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written, Refusal> {
        schema::write(message, options, out)
    }

    fn make(&self, kind: &str, words: &mut Words<'_>, mint: &mut Mint) -> Result<Made, Refusal> {
        schema::DIALECT.make(kind, words, mint)
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        message::annotate(root, message, notes);
    }

    fn goes(&self, message: &Message<'_>) -> Option<Direction> {
        let asks = matches!(message.role, Some(Role::Request | Role::Notification));
        let method = message.subject.as_deref().filter(|_| asks)?;
        schema::find(method).map(|method| method.direction)
    }

    fn is_hello(&self, message: &Message<'_>) -> bool {
        matches!(
            (message.kind.as_ref(), message.subject.as_deref()),
            ("request", Some("initialize")) | ("notification", Some("initialized"))
        )
    }

    #[cfg(feature = "rules")]
    fn behavior(&self) -> &dyn super::session::Behavior {
        self
    }
}
