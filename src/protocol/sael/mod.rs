//! sael: agents and tools, JSON or `MessagePack` maps with a three-letter `kind`, over WebSocket.
//!
//! ```text
//!   client                                   server
//!     | -> {"kind":"HEY","agent":{…}}           |
//!     | <- {"kind":"HEY","server":{…}}          |
//!     | -> {"kind":"INV","seq":1,"tool":"…"}    |
//!     | <- STR STR END, or RES, or ERR, seq 1   |
//!
//!   header form (documents only)    01 49 4e 56  {"seq":1,…}
//!                                   v  I  N  V   rest of the message, or nothing
//! ```
//!
//! Kinds: the seventeen of the schema, as written. The id is `seq`; the subject is the tool of an INV or the topic of a
//! SUB. The first byte decides the form: `{` JSON, 1 or 2 the header, a map marker `MessagePack`; they cannot collide.

#[cfg(feature = "rules")]
pub mod capability;
#[cfg(feature = "rules")]
pub(crate) mod delta;
#[cfg(feature = "rules")]
pub mod filter;
mod message;
#[cfg(feature = "rules")]
mod peer;
mod schema;
#[cfg(feature = "rules")]
mod session;
#[cfg(feature = "rules")]
pub mod token;

use super::{Definitions, Descriptor, Message, Protocol, TraceMember};
use crate::encoding::Encoding;
use crate::framing::{Framing, Hints};

/// The protocol.
#[derive(Debug)]
pub struct Sael;

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "sael",
    framings: &[
        Framing::Http,
        Framing::WebSocket,
        Framing::Header,
        Framing::Lines,
        Framing::Prefix,
    ],
    encodings: &[Encoding::Json, Encoding::MessagePack],
    hints: Hints {
        plausible: Some(message::plausible),
        measure: None,
        ..Hints::NONE
    },
    has_http_bodies: false,
    sides: ["client", "server"],
    settings: &["name", "token-file", "secret-file"],
    faults: &[
        ("not-an-object", "a value, but not an object"),
        ("blank-line", "a line without a message"),
        (
            "bad-header",
            "the start of a message: not a version byte and three capital letters, nor any other form",
        ),
    ],
    traces: &[
        (&["trace_id"], TraceMember::Trace),
        (&["span_id"], TraceMember::Span),
        (&["parent_span_id"], TraceMember::ParentSpan),
    ],
    costs: &["cost", "cost_used"],
    definitions: &[Definitions::new("LST", &["tools"])],
    ..Descriptor::USUAL
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Sael,
    ["rules.md"],
    "sael",
    |_, config| session::SaelSession::new(config),
    |_, side, config| peer::peer(side, config),
);

impl Protocol for Sael {
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
        fixed_direction: |message: &Message<'_>| schema::fixed_direction(schema::forms(&message.kind)),
        pair_id: message::pair_id,
        is_error_answer: message::is_error_answer,
    }
}
