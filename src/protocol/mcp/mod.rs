//! mcp: the Model Context Protocol, JSON-RPC 2.0 between programs with a language model and servers with tools.
//!
//! ```text
//!   client                                 server           2024-11-05 to 2025-11-25
//!      | -> {"id":0,"method":"initialize"}    |
//!      | <- {"id":0,"result":{…}}             |
//!      | -> {"method":"notifications/initialized"}
//!      | -> {"id":1,"method":"tools/call"}    |             2026-07-28: without the messages above
//!      | <- {"method":"notifications/progress"}
//!      | <- {"id":0,"method":"sampling/createMessage"}      the server asks, too, until 2025-11-25
//!      | <- {"id":1,"result":{"content":[…]}} |
//! ```
//!
//! Over stdio a message is a line. Over HTTP it is posted; the answer is the body of the response, or an event of it. In
//! the older transport all answers are events of another connection. Kinds: see the schema. The kind decides the role;
//! the id is the JSON-RPC id; the subject is the method.

mod message;
#[cfg(feature = "rules")]
mod peer;
mod schema;
#[cfg(feature = "rules")]
mod session;

use super::rpc::read;
use super::{Definitions, Descriptor, Message, Protocol, SpanNames, TraceMember};
use crate::framing::Framing;
use crate::tape::Node;

/// The protocol.
#[derive(Debug)]
pub struct Mcp;

/// The cursor of the next part of a list.
const NEXT: &[&str] = &["result", "nextCursor"];

/// The descriptor of the protocol.
static DESCRIPTOR: Descriptor = Descriptor {
    name: "mcp",
    framings: &[Framing::Lines, Framing::Http, Framing::WebSocket],
    sides: ["client", "server"],
    settings: &["tool"],
    http: Some(schema::HTTP),
    faults: read::FAULTS,
    traces: &[(&["params", "_meta", "traceparent"], TraceMember::Context)],
    definitions: &[
        Definitions::new("tools/list", &["result", "tools"]).after("tools", NEXT),
        Definitions::new("prompts/list", &["result", "prompts"]).after("prompts", NEXT),
        Definitions::new("resources/list", &["result", "resources"]).after("resources", NEXT),
        Definitions::new("resources/templates/list", &["result", "resourceTemplates"])
            .after("resources", NEXT),
    ],
    announced: &[
        Definitions::new("initialize", &["result", "capabilities"]),
        Definitions::new("server/discover", &["result", "capabilities"]),
    ],
    // In development: semantic-conventions-genai, gen-ai/mcp.md.
    spans: Some(SpanNames {
        method: "mcp.method.name",
        session: "mcp.session.id",
        targets: &[
            ("tools/call", "gen_ai.tool.name"),
            ("prompts/get", "gen_ai.prompt.name"),
            ("resources/read", "mcp.resource.uri"),
            ("resources/subscribe", "mcp.resource.uri"),
            ("resources/unsubscribe", "mcp.resource.uri"),
        ],
        tool_call: "tools/call",
        arguments: "gen_ai.tool.call.arguments",
        result: "gen_ai.tool.call.result",
        durations: [
            "mcp.client.operation.duration",
            "mcp.server.operation.duration",
        ],
    }),
    ..Descriptor::USUAL
};

#[cfg(feature = "rules")]
super::session::behavior!(
    Mcp,
    [
        "../rpc/rules.md",
        "../rpc/methods.md",
        "../rpc/transports.md",
        "rules.md"
    ],
    "mcp",
    |_, config| super::rpc::session::RpcSession::<session::McpSession>::new(config),
    |_, side, config| peer::peer(side, config),
);

impl Protocol for Mcp {
    super::rpc::family_methods!(
        |frame, context, parsed| {
            read::read(frame, context, parsed, &schema::DIALECT, message::judge)
        },
        |root, notes| read::annotate(root, notes, schema::CODES),
        message::content,
    );

    fn needs_no_session(&self, root: Node<'_>) -> bool {
        schema::own_version(root.get("params")).is_some()
    }

    fn is_hello(&self, message: &Message<'_>) -> bool {
        matches!(
            (message.kind.as_ref(), message.subject.as_deref()),
            ("request", Some("initialize" | "server/discover"))
                | ("notification", Some("notifications/initialized"))
        )
    }
}
