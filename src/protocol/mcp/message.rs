//! Interprets messages: the evidence for the protocol.

use super::schema::{self, DIALECT};
use crate::protocol::rpc::{self, Call};
use crate::protocol::{Evidence, Message, Role};
use crate::tape::Node;

/// Returns the evidence of a message. Other protocols have a handshake with the same name.
pub(super) fn judge(call: &Call<'_>, role: Role) -> Evidence {
    let params = |name: &str| call.params.and_then(|params| params.get(name));
    let result = |name: &str| call.result.and_then(|result| result.get(name));
    let opens = || match call.method {
        Some(method) => {
            let version = || params("protocolVersion");
            let is_other = || params("clientCapabilities").is_some();
            method.is_text("initialize") && version().is_some_and(Node::is_string) && !is_other()
        }
        None => result("protocolVersion").is_some() && result("serverInfo").is_some(),
    };
    let has_content = || result("content").is_some_and(is_content) && result("outcome").is_none();
    let meta = || params("_meta").or_else(|| result("_meta"));
    schema::SIGNS.judge(&DIALECT, call, role, || {
        opens() || has_content() || meta().is_some_and(has_own_key)
    })
}

/// Returns true for the content of a tool's answer: blocks with a type.
fn is_content(content: Node<'_>) -> bool {
    let first = content.at(0).filter(|_| content.is_array());
    first.is_some_and(|block| block.get("type").is_some_and(Node::is_string))
}

/// Returns true if an object has a key with the prefix that the protocol reserves.
fn has_own_key(meta: Node<'_>) -> bool {
    let mut keys = meta.members().filter(|_| meta.is_map());
    keys.any(|(key, _)| key.key_bytes().starts_with(schema::OWN_PREFIX))
}

/// Returns the text of a result, if that is what it consists of; otherwise what all protocols of the family show.
pub(super) fn content<'n>(root: Node<'n>, message: &Message<'_>) -> Option<Node<'n>> {
    let result = root.get("result").filter(|result| result.is_map());
    let content = result.and_then(|result| result.get("content"));
    let text = content.and_then(|content| content.at(0)?.get("text"));
    text.filter(|text| text.is_string())
        .or_else(|| rpc::content(root, message))
}
