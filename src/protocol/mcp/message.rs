//! Interprets messages: the evidence for the protocol, and the names of codes.

use super::schema::{self, DIALECT};
use crate::protocol::rpc::Call;
use crate::protocol::{Evidence, Role};
use crate::tape::Node;

/// Starts of methods that no other protocol has.
const OWN: [&str; 12] = [
    "completion/",
    "logging/",
    "notifications/",
    "prompts/",
    "resources/",
    "roots/",
    "sampling/",
    "server/discover",
    "subscriptions/",
    "tasks/",
    "tools/",
    "ui/",
];
/// Members of results that no other protocol has.
const OWN_RESULTS: [&str; 9] = [
    "inputRequests",
    "nextCursor",
    "resourceTemplates",
    "resultType",
    "roots",
    "serverInfo",
    "structuredContent",
    "supportedVersions",
    "tools",
];

/// Returns the evidence of a message. Other protocols have a handshake with the same name.
pub(super) fn judge(call: &Call<'_>, role: Role) -> Evidence {
    match role {
        Role::Request | Role::Notification => {
            let name = call.method.and_then(Node::text).unwrap_or_default();
            let has = |name: &str| call.params.and_then(|params| params.get(name));
            let meta = has("_meta").is_some_and(|meta| has_own_key(meta));
            let version = || has("protocolVersion").is_some_and(Node::is_string);
            if meta || OWN.iter().any(|own| name.starts_with(own)) {
                Evidence::Certain
            } else if name == "initialize" {
                if version() {
                    Evidence::Certain
                } else {
                    Evidence::None
                }
            } else if DIALECT.find(&name).is_some() {
                Evidence::Possible
            } else {
                Evidence::None
            }
        }
        Role::Response => {
            let result = call.result.filter(|result| result.is_map());
            let has = |name: &str| result.is_some_and(|result| result.get(name).is_some());
            let session = has("protocolVersion") && has("serverInfo");
            let list = has("content") && !has("outcome") && is_content(result);
            let meta = result.and_then(|result| result.get("_meta"));
            let own = OWN_RESULTS
                .iter()
                .filter(|name| **name != "serverInfo")
                .any(|name| has(name));
            if session || list || own || meta.is_some_and(has_own_key) {
                Evidence::Certain
            } else {
                Evidence::Possible
            }
        }
        _ => Evidence::Possible,
    }
}

/// Returns true if a result holds the content of a tool's answer: blocks with a type.
fn is_content(result: Option<Node<'_>>) -> bool {
    let content = result.and_then(|result| result.get("content"));
    let first = content
        .filter(|content| content.is_array())
        .and_then(|content| content.at(0));
    first.is_some_and(|block| block.get("type").is_some_and(Node::is_string))
}

/// Returns true if an object has a key with the prefix that the protocol reserves.
fn has_own_key(meta: Node<'_>) -> bool {
    let mut keys = meta.members().filter(|_| meta.is_map());
    keys.any(|(key, _)| key.key_bytes().starts_with(schema::OWN_PREFIX))
}

/// Returns the name of an error code.
pub(super) fn code_name(code: i128) -> Option<&'static str> {
    Some(match code {
        -32000 => "connection closed, or a server error",
        -32001 => "time-out, or a session that is not known",
        -32002 => "resource not found",
        -32020 => "header mismatch",
        -32021 => "missing client capability",
        -32022 => "unsupported protocol version",
        -32042 => "URL elicitation required",
        -32800 => "cancelled",
        _ => return None,
    })
}
