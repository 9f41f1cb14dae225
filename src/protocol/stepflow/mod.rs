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

use super::{Descriptor, Message, Protocol, TraceMember};
use crate::framing::Framing;

/// The protocol.
#[derive(Debug)]
pub struct Stepflow;

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "stepflow",
    framings: &[Framing::Lines, Framing::Http],
    sides: ["runtime", "server"],
    dialects: &["A", "B", "C"],
    faults: &[
        ("blank-line", "a line without a message"),
        (
            "not-an-object",
            "JSON, but not an object (a batch is an array)",
        ),
        (
            "not-a-message",
            "an object without method, result and error",
        ),
    ],
    // Real servers send an empty JSON string.
    accepted_body: "\"\"",
    traces: &[
        (&["params", "observability", "trace_id"], TraceMember::Trace),
        (&["params", "observability", "span_id"], TraceMember::Span),
        (&["params", "flowId"], TraceMember::Starts),
        (
            &["params", "observability", "flow_id"],
            TraceMember::Started,
        ),
    ],
    ..Descriptor::USUAL
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Stepflow,
    ["rules.md"],
    "stepflow",
    |_, config| session::StepflowSession::new(config),
    |_, side, config| peer::peer(side, config),
);

impl Protocol for Stepflow {
    super::methods::methods! {
        descriptor: DESCRIPTOR,
        kinds: schema::KINDS,
        recipes: schema::RECIPES,
        marks: schema::MARKS,
        shapes: schema::shapes,
        read: message::read,
        write: schema::write,
        make: |kind, words, id_gen| schema::DIALECT.make(kind, words, id_gen),
        content: super::rpc::content,
        annotate: message::annotate,
        fixed_direction: |message| schema::DIALECT.fixed_direction(message),
    }

    fn is_hello(&self, message: &Message<'_>) -> bool {
        matches!(
            (message.kind.as_ref(), message.subject.as_deref()),
            ("request", Some("initialize")) | ("notification", Some("initialized"))
        )
    }
}
