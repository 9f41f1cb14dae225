//! stepflow: a workflow runtime and its component servers, JSON-RPC 2.0 over stdio lines or HTTP with server-sent
//! events.
//!
//! ```text
//!   runtime                                server
//!      | -> {"id":"…","method":"initialize"}  |
//!      | <- {"id":"…","result":{…}}           |
//!      | -> {"method":"initialized"}          |
//!      | -> {"id":"…","method":"components/execute"…}
//!      | <- {"id":"…","method":"blobs/put"…}  |     a callback of the server; over HTTP in the answer's event stream
//!      | -> {"id":"…","result":{…}}           |     answered in a separate POST, on another connection
//!      | <- {"id":"…","result":{…}}           |
//! ```
//!
//! Kinds: see the schema. The kind decides the role; the id is the JSON-RPC id; the subject is the method. Several
//! releases share one version number and differ in methods and key style: [`Message::dialect`] is the release that the
//! bytes show.

mod message;
#[cfg(feature = "rules")]
mod peer;
mod schema;
#[cfg(feature = "rules")]
mod session;

use super::make::{IdGen, Made, Words};
use super::{
    Context, Descriptor, Direction, Message, Notes, Protocol, Role, WriteOptions, Written,
};
use crate::encoding::Encoding;
use crate::encoding::Parsed;
use crate::error::Result;
use crate::framing::{Frame, Framing, Hints};
use crate::tape::Node;

/// The protocol.
pub struct Stepflow;

/// Fault codes in addition to those of framing and JSON.
pub const FAULTS: &[(&str, &str)] = &[
    ("blank-line", "a line without a message"),
    (
        "not-an-object",
        "JSON, but not an object (a batch is an array)",
    ),
    (
        "not-a-message",
        "an object without method, result and error",
    ),
];

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "stepflow",
    port: None,
    framings: &[Framing::Lines, Framing::Http],
    encodings: &[Encoding::Json],
    hints: Hints::NONE,
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
    is_sequential: false,
    is_fallback: false,
    http: None,
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Stepflow,
    ["rules.md"],
    "$CARGO_MANIFEST_DIR/fixtures/stepflow/rules",
    |_, config| session::StepflowSession::new(config),
    |_, side, config| peer::peer(side, config),
);

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
    ) -> Result<Written> {
        schema::write(message, options, out)
    }

    fn make(&self, kind: &str, words: &mut Words<'_>, id_gen: &mut IdGen) -> Result<Made> {
        schema::DIALECT.make(kind, words, id_gen)
    }

    fn content<'n>(&self, root: Node<'n>, _: &Message<'_>) -> Option<Node<'n>> {
        super::rpc::Call::of(root).content()
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        if notes.has_remarks() {
            message::annotate(root, message, notes);
        }
    }

    fn fixed_direction(&self, message: &Message<'_>) -> Option<Direction> {
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
