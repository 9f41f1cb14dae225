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
use super::{Definitions, Descriptor, Message, Protocol, Role, TraceMember};
use crate::framing::Framing;

/// The protocol.
#[derive(Debug)]
pub struct Acp;

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "acp",
    framings: &[Framing::Lines, Framing::Http, Framing::WebSocket],
    sides: ["client", "agent"],
    http: Some(schema::HTTP),
    faults: read::FAULTS,
    announced: &[Definitions::new(
        "initialize",
        &["result", "agentCapabilities"],
    )],
    traces: &[(&["params", "_meta", "traceparent"], TraceMember::Context)],
    ..Descriptor::USUAL
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
    "acp",
    |_, config| super::rpc::session::RpcSession::<session::AcpSession>::new(config),
    |_, side, config| peer::peer(side, config),
);

impl Protocol for Acp {
    super::rpc::family_methods!(
        |frame, context, parsed| {
            read::read(frame, context, parsed, &schema::DIALECT, message::judge)
        },
        message::annotate,
    );

    fn is_hello(&self, message: &Message<'_>) -> bool {
        matches!(message.subject.as_deref(), Some("initialize"))
            && message.role == Some(Role::Request)
    }
}
