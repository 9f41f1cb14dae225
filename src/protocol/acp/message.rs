//! Interprets messages: the evidence for the protocol, and secrets.

use super::schema::{self, DIALECT};
use crate::protocol::rpc::{Call, read};
use crate::protocol::{Evidence, Notes, Role};
use crate::tape::Node;

/// Returns the evidence of a message. Other protocols have a handshake with the same name.
pub(super) fn judge(call: &Call<'_>, role: Role) -> Evidence {
    let is_number = |node: Option<Node<'_>>| node.is_some_and(|node| node.number_text().is_some());
    let has = |of: Option<Node<'_>>| is_number(of.and_then(|of| of.get("protocolVersion")));
    // Text is refused by some agents, but the member below is only here.
    let capabilities = || {
        call.params
            .is_some_and(|p| p.get("clientCapabilities").is_some())
    };
    let opens = || match call.method {
        Some(method) => method.is_text("initialize") && (has(call.params) || capabilities()),
        None => has(call.result),
    };
    let evidence = schema::SIGNS.judge(&DIALECT, call, role, opens);
    let is_extension = || {
        call.method
            .and_then(Node::text)
            .is_some_and(|m| m.starts_with('_'))
    };
    if evidence == Evidence::None && is_extension() {
        return Evidence::Possible;
    }
    evidence
}

/// Adds remarks, and marks the values of environment variables and headers, which hold keys.
pub(super) fn annotate(root: Node<'_>, notes: &mut Notes) {
    read::annotate(root, notes, schema::CODES);
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
