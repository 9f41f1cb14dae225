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

use super::{Definitions, Descriptor, Protocol, TraceMember};
use crate::encoding::Encoding;
use crate::framing::{Framing, Hints};

/// The protocol.
#[derive(Debug)]
pub struct Saikuro;

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "saikuro",
    port: Some(7700),
    framings: &[Framing::Prefix, Framing::Http, Framing::WebSocket],
    encodings: &[Encoding::MessagePack],
    hints: Hints {
        plausible: Some(message::plausible),
        measure: None,
        ..Hints::NONE
    },
    has_http_bodies: false,
    sides: ["client", "runtime"],
    provider: Some("provider"),
    dialects: &["document", "peers"],
    faults: &[(
        "not-an-envelope",
        "a MessagePack value that is not a map, and not an envelope as an array",
    )],
    is_re_encoded: true,
    announced: &[Definitions::new("announce", &["args", "0", "namespaces"])],
    traces: &[
        (&["meta", "traceparent"], TraceMember::Context),
        (&["meta", "trace_id"], TraceMember::Trace),
        (&["meta", "span_id"], TraceMember::Span),
    ],
    ..Descriptor::USUAL
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Saikuro,
    ["rules.md"],
    "saikuro",
    |_, config| session::SaikuroSession::new(config),
    |_, side, config| Box::new(peer::SaikuroPeer::new(side, config)),
);

impl Protocol for Saikuro {
    super::methods::methods! {
        descriptor: DESCRIPTOR,
        kinds: schema::KINDS,
        recipes: schema::RECIPES,
        marks: schema::MARKS,
        shapes: schema::shapes,
        read: message::read,
        write: schema::write,
        make: schema::make,
        content: message::content,
        annotate: message::annotate,
        parts: message::parts,
    }
}
