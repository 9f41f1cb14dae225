//! lsp: the Language Server Protocol, versions 3.17 and 3.18: an editor and a language server.
//!
//! ```text
//!   client                                      server
//!     | -> initialize {capabilities}              |
//!     | <- {capabilities}                         |     decide which methods are used
//!     | -> initialized                            |
//!     | -> textDocument/didOpen {uri, version}    |     from now on the server has the text of the document
//!     | -> textDocument/hover {uri, position}     |
//!     | <- {contents}                             |
//!     | <- workspace/configuration {items}        |     both sides ask; each direction has its own ids
//!     | -> shutdown        <- null      -> exit   |
//! ```
//!
//! Kinds: see the schema. The id is the JSON-RPC id, the subject is the method. Messages have a header block with
//! Content-Length on stdio, pipes and TCP, and none on WebSocket.

mod message;
#[cfg(feature = "rules")]
mod peer;
mod schema;
#[cfg(feature = "rules")]
mod session;

use super::{Definitions, Descriptor, Message, Protocol, rpc};
use crate::framing::Framing;

/// The protocol.
#[derive(Debug)]
pub struct Lsp;

static DESCRIPTOR: Descriptor = Descriptor {
    name: "lsp",
    framings: &[Framing::ContentLength, Framing::Http, Framing::WebSocket],
    sides: ["client", "server"],
    faults: rpc::read::FAULTS,
    announced: &[Definitions::new("initialize", &["result", "capabilities"])],
    ..Descriptor::USUAL
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Lsp,
    ["../rpc/rules.md", "../rpc/methods.md", "rules.md"],
    "lsp",
    |_, config| super::rpc::session::RpcSession::<session::LspSession>::new(config),
    |_, side, config| peer::peer(side, config),
);

impl Protocol for Lsp {
    super::rpc::family_methods!(message::read, |root, notes| {
        rpc::read::annotate(root, notes, schema::CODES);
    },);

    fn is_hello(&self, message: &Message<'_>) -> bool {
        matches!(
            message.subject.as_deref(),
            Some("initialize" | "initialized")
        )
    }
}
