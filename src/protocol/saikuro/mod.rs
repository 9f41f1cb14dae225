//! saikuro: cross-language calls, `MessagePack` maps after a big-endian length (tcp, unix) or one in each WebSocket
//! message.
//!
//! ```text
//!   caller                        runtime                      provider
//!     | -> {version,type,id,target,args}  | -> the same, re-encoded  |
//!     | <- {id,ok,result}                 | <- {id,ok,result}        |
//! ```
//!
//! Kinds: see the schema. The document and the real peers share the envelope and differ in nearly everything else:
//! stream items are `{id,seq,data}` in one and `{id,ok,result,seq}` in the other. Both are read; the keys decide, never
//! the direction. The id is a UUID, equal in all its forms; the subject is the target, or the namespace of an announce
//! in the document's form.

mod message;
#[cfg(feature = "rules")]
mod peer;
mod schema;
#[cfg(feature = "rules")]
mod session;

use super::make::{IdGen, Made, Words};
use super::{Context, Descriptor, Message, Notes, Protocol, Role, WriteOptions, Written};
use crate::encoding::Encoding;
use crate::encoding::Parsed;
use crate::error::Result;
use crate::framing::{Frame, Framing, Hints};
use crate::tape::Node;

/// The protocol.
pub struct Saikuro;

/// Fault codes in addition to those of framing and `MessagePack`.
pub const FAULTS: &[(&str, &str)] = &[(
    "not-an-envelope",
    "a MessagePack value that is not a map, and not an envelope as an array",
)];

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "saikuro",
    port: Some(7700),
    framings: &[Framing::Prefix, Framing::Http, Framing::WebSocket],
    encodings: &[Encoding::MessagePack],
    hints: Hints {
        plausible: Some(message::plausible),
        measure: None,
    },
    sides: ["client", "runtime"],
    provider: Some("provider"),
    dialects: &["document", "peers"],
    settings: &[],
    kinds: &schema::KINDS,
    recipes: &schema::RECIPES,
    marks: &schema::MARKS,
    shapes: schema::shapes,
    faults: FAULTS,
    value_types: None,
    is_re_encoded: true,
    is_sequential: false,
    is_fallback: false,
    http: None,
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Saikuro,
    ["rules.md"],
    "$CARGO_MANIFEST_DIR/fixtures/saikuro/rules",
    |_, config| session::SaikuroSession::new(config),
    |_, side, config| Box::new(peer::SaikuroPeer::new(side, config)),
);

impl Protocol for Saikuro {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn read<'a>(&'a self, frame: &Frame<'a>, _: &Context, parsed: &'a mut Parsed) -> Message<'a> {
        message::read(frame, parsed)
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
        schema::make(kind, words, id_gen)
    }

    fn content<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Option<Node<'n>> {
        message::content(root, message)
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        message::annotate(root, message, notes);
    }

    #[cfg(feature = "rules")]
    fn behavior(&self) -> &dyn super::session::Behavior {
        self
    }

    fn parts<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Vec<Node<'n>> {
        let is_batch = message.kind == "batch" && message.role == Some(Role::Request);
        let items = message::field(root, "batch_items").filter(|_| is_batch);
        items.into_iter().flat_map(Node::children).collect()
    }
}
