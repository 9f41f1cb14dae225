//! oracle: a Cairo executor and the process it spawned, JSON-RPC 2.0 over stdio, one message per line.
//!
//! ```text
//!   executor                         oracle
//!      | <- {"id":0,"method":"ready"}   |     first byte `{`, or the executor kills it
//!      | -> {"id":0,"result":{}}        |     ack
//!      | -> {"id":0,"method":"invoke"…} |     one at a time
//!      | <- {"id":0,"result":["0x1"]}   |
//!      | -> {"method":"shutdown"}       |     and SIGKILL at once
//! ```
//!
//! Kinds: see the schema. The kind decides the role; the id is the JSON-RPC id; the subject is the selector of an
//! `invoke`, or an unknown method. A message that the real executor or the real SDK cannot parse has a fault.

pub mod cairo_serde;
#[cfg(feature = "rules")]
pub mod connection;
pub mod felt;
mod message;
#[cfg(feature = "rules")]
mod peer;
mod remarks;
mod schema;
#[cfg(feature = "rules")]
mod session;

use super::{Descriptor, Evidence, Message, Notes, Protocol, ValueError, ValueTypes};
use crate::error::Result;
use crate::framing::Framing;
use crate::tape::Node;
use cairo_serde::{CairoDialect, CairoType, Signature, encode};
use std::sync::Arc;

/// The protocol.
#[derive(Clone, Debug, Default)]
pub struct Oracle {
    signatures: Vec<Signature>,
}

impl Oracle {
    /// The protocol without signatures: the meaning of felts is not known.
    pub const fn builtin() -> Self {
        Self {
            signatures: Vec::new(),
        }
    }

    /// The protocol with the types of selectors. Arguments get remarks with their values; results, which do not name
    /// their request, only if there is one signature.
    #[must_use]
    pub fn with_signatures(signatures: Vec<Signature>) -> Self {
        Self { signatures }
    }
}

/// Cairo types: a value becomes its felts.
struct CairoTypes;

impl ValueTypes for CairoTypes {
    fn protocol(&self) -> &'static str {
        "oracle"
    }

    fn share(&self) -> Arc<dyn ValueTypes> {
        Arc::new(Self)
    }

    fn check(&self, name: &str) -> Result<(), ValueError> {
        CairoType::parse(name)?;
        Ok(())
    }

    fn write(&self, name: &str, value: Node<'_>) -> Result<String, ValueError> {
        let ty = CairoType::parse(name)?;
        let felts = encode(&ty, value, CairoDialect::Cairo)?;
        let felts: Vec<String> = felts.iter().map(|felt| format!("\"{felt}\"")).collect();
        Ok(format!("[{}]", felts.join(",")))
    }
}

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "oracle",
    framings: &[Framing::Lines],
    sides: ["executor", "oracle"],
    settings: &["signature"],
    faults: &[
        (
            "first-byte",
            "the first byte from the oracle is not `{`: the executor kills it",
        ),
        ("blank-line", "a line without a message"),
        (
            "not-an-object",
            "JSON, but not an object (a batch is an array)",
        ),
        ("bad-version", "`jsonrpc` is not the string \"2.0\""),
        (
            "bad-id",
            "an id that is not null, text or an integer from 0 to 2^64-1: treated as missing",
        ),
        (
            "bad-error",
            "`error` lacks an integer code or a message text",
        ),
        (
            "lone-surrogate",
            "text with half a surrogate pair escaped: real peers refuse the line",
        ),
        (
            "not-a-message",
            "an object without method and id, or with a repeated member that real peers refuse",
        ),
    ],
    value_types: Some(&CairoTypes),
    is_sequential: true,
    ..Descriptor::USUAL
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Oracle,
    ["rules.md"],
    "oracle",
    |oracle, config| session::OracleSession::new(config, &oracle.signatures),
    |_, side, config| peer::peer(side, config),
);

impl Protocol for Oracle {
    super::methods::methods! {
        descriptor: DESCRIPTOR,
        kinds: schema::KINDS,
        recipes: schema::RECIPES,
        marks: schema::MARKS,
        shapes: || schema::DIALECT.shapes(),
        read: message::read,
        write: schema::write,
        make: |kind, words, id_gen| schema::DIALECT.make(kind, words, id_gen),
        content: message::content,
        fixed_direction: |message: &Message<'_>| {
            schema::DIALECT.find(&message.kind).map(|method| method.direction)
        },
    }

    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
        if notes.has_remarks() {
            remarks::annotate(root, message, &self.signatures, notes);
        }
    }
}

/// Returns the evidence of a method.
fn evidence_of(method: &[u8]) -> Evidence {
    let mut methods = schema::DIALECT.methods.iter();
    if methods.any(|known| known.name.as_bytes() == method) {
        Evidence::Certain
    } else {
        Evidence::None
    }
}
