//! jsonrpc: any conversation in JSON-RPC 2.0 or 1.0 that no other protocol recognises.
//!
//! ```text
//!   -> {"jsonrpc":"2.0","id":1,"method":"echo","params":[1]}
//!   <- {"jsonrpc":"2.0","id":1,"result":[1]}
//!   -> {"jsonrpc":"2.0","method":"log","params":["x"]}          a notification: no answer
//!   -> [{…},{…}]                    <- [{…},{…}]                a batch, and its answers in any order
//! ```
//!
//! The shape of a message gives its kind; the method is the subject. Ids of different JSON types are distinct, and each
//! direction has its own. The protocol is detected only if no other is: see [`Descriptor::is_fallback`]. Messages without
//! the member `jsonrpc` are detected if there are several: two requests, or a request and an answer.

mod message;
#[cfg(feature = "rules")]
mod peer;
mod schema;
#[cfg(feature = "rules")]
mod session;

use super::{Descriptor, Protocol, rpc};
use crate::framing::Framing;

/// The protocol.
#[derive(Debug)]
pub struct JsonRpc;

static DESCRIPTOR: Descriptor = Descriptor {
    name: "jsonrpc",
    framings: &[
        Framing::Lines,
        Framing::ContentLength,
        Framing::Http,
        Framing::WebSocket,
        Framing::Values,
    ],
    sides: ["client", "server"],
    is_fallback: true,
    faults: rpc::read::FAULTS,
    ..Descriptor::USUAL
};

#[cfg(feature = "rules")]
super::session::behavior!(
    JsonRpc,
    ["../rpc/rules.md", "rules.md"],
    "jsonrpc",
    |_, config| super::rpc::session::RpcSession::<session::JsonRpcSession>::new(config),
    |_, side, config| peer::peer(side, config),
);

impl Protocol for JsonRpc {
    super::rpc::family_methods!(message::read, |root, notes| {
        rpc::read::annotate(root, notes, &[]);
    },);
}
