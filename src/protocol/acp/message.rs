//! Interprets messages: the evidence for the protocol, secrets, and the names of codes.

use super::schema::{self, DIALECT};
use crate::protocol::rpc::{Call, read};
use crate::protocol::{Evidence, Notes, Role};
use crate::tape::Node;

/// Starts of methods that no other protocol has.
const OWN: [&str; 5] = ["fs/", "session/", "terminal/", "providers/", "nes/"];
/// Members of results that no other protocol has.
const OWN_RESULTS: [&str; 5] = [
    "agentCapabilities",
    "authMethods",
    "outcome",
    "stopReason",
    "terminalId",
];

/// Returns the evidence of a message. Other protocols have a handshake with the same name.
pub(super) fn judge(call: &Call<'_>, role: Role) -> Evidence {
    match role {
        Role::Request | Role::Notification => {
            let name = call.method.and_then(Node::text).unwrap_or_default();
            let version = call.params.and_then(|params| params.get("protocolVersion"));
            if OWN.iter().any(|own| name.starts_with(own)) {
                Evidence::Certain
            } else if name == "initialize" {
                // Text is refused by some agents, but the member below is only here.
                let own = call
                    .params
                    .and_then(|params| params.get("clientCapabilities"));
                let number = version.is_some_and(|version| version.number_text().is_some());
                if number || own.is_some() {
                    Evidence::Certain
                } else {
                    Evidence::None
                }
            } else if DIALECT.find(&name).is_some() || schema::is_extension(&name) {
                Evidence::Possible
            } else {
                Evidence::None
            }
        }
        Role::Response => {
            let result = call.result.filter(|result| result.is_map());
            let has = |name: &str| result.and_then(|result| result.get(name));
            let version = has("protocolVersion").is_some_and(|node| node.number_text().is_some());
            if version || OWN_RESULTS.iter().any(|name| has(name).is_some()) {
                Evidence::Certain
            } else {
                Evidence::Possible
            }
        }
        _ => Evidence::Possible,
    }
}

/// Adds remarks, and marks the values of environment variables and headers, which hold keys.
pub(super) fn annotate(root: Node<'_>, notes: &mut Notes) {
    read::annotate(root, notes, code_name);
    let params = Call::of(root).params;
    let servers = params.and_then(|params| params.get("mcpServers"));
    let servers = servers.into_iter().filter(|node| node.is_array());
    let holders = servers.flat_map(Node::children).chain(params);
    for list in holders.flat_map(|holder| [holder.get("env"), holder.get("headers")]) {
        let list = list.filter(|list| list.is_array());
        for value in list.into_iter().flat_map(Node::children) {
            if let Some(value) = value.get("value") {
                notes.secret(value);
            }
        }
    }
}

/// Returns the name of an error code.
pub(super) fn code_name(code: i128) -> Option<&'static str> {
    Some(match code {
        -32000 => "authentication required",
        -32002 => "resource not found",
        -32022 => "unsupported protocol version",
        -32800 => "cancelled",
        _ => return None,
    })
}
