//! acp: the Agent Client Protocol, JSON-RPC 2.0 between an editor and an agent that it starts.
//!
//! ```text
//!   client                                     agent
//!      | -> {"id":0,"method":"initialize"}        |
//!      | <- {"id":0,"result":{…}}                 |
//!      | -> {"id":1,"method":"session/new"}       |
//!      | <- {"id":1,"result":{"sessionId":"…"}}   |
//!      | -> {"id":2,"method":"session/prompt"}    |       a turn: the answer is its end
//!      | <- {"method":"session/update"}           |
//!      | <- {"id":0,"method":"session/request_permission"}
//!      | -> {"id":0,"result":{"outcome":{…}}}     |
//!      | <- {"id":2,"result":{"stopReason":"…"}}  |
//! ```
//!
//! Over stdio a message is a line. Over HTTP every message is posted, and every answer is an event of another connection.
//! Kinds: see the schema. The kind decides the role; the id is the JSON-RPC id; the subject is the method.

mod message;
#[cfg(feature = "rules")]
mod peer;
mod schema;
#[cfg(feature = "rules")]
mod session;

use super::rpc::read;
use super::{Descriptor, Message, Protocol, Role};
use crate::framing::{Framing, Hints};

/// The protocol.
pub struct Acp;

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "acp",
    port: None,
    framings: &[Framing::Lines, Framing::Http, Framing::WebSocket],
    hints: Hints {
        measure: None,
        plausible: None,
    },
    sides: ["client", "agent"],
    provider: None,
    dialects: &[],
    settings: &[],
    kinds: &schema::KINDS,
    recipes: &schema::RECIPES,
    marks: &schema::MARKS,
    shapes: || schema::DIALECT.shapes(),
    faults: read::FAULTS,
    value_types: None,
    is_re_encoded: false,
    is_sequential: false,
    is_fallback: false,
    http: Some(schema::HTTP),
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Acp,
    [
        "../rpc/rules.md",
        "../rpc/methods.md",
        "../rpc/transports.md",
        "rules.md"
    ],
    "$CARGO_MANIFEST_DIR/fixtures/acp/rules",
    |_, config| session::session(config),
    |_, side, config| peer::peer(side, config),
);

impl Protocol for Acp {
    super::rpc::family_methods!(
        DESCRIPTOR,
        schema::DIALECT,
        |frame, context, parsed| read::read(frame, context, parsed, message::judge),
        message::annotate,
    );

    fn is_hello(&self, message: &Message<'_>) -> bool {
        matches!(message.subject.as_deref(), Some("initialize"))
            && message.role == Some(Role::Request)
    }
}
