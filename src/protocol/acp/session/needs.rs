//! Capabilities that methods and their params need.

use super::super::schema;
use crate::protocol::rpc::extension::RpcMessage;
use crate::tape::Node;

/// The capability of the receiver that a method needs, by the start of its name.
const NEEDS: &[(&str, &str)] = &[
    ("fs/read_text_file", "fs.readTextFile"),
    ("fs/write_text_file", "fs.writeTextFile"),
    ("session/close", "sessionCapabilities.close"),
    ("session/delete", "sessionCapabilities.delete"),
    ("session/list", "sessionCapabilities.list"),
    ("session/load", "loadSession"),
    ("session/resume", "sessionCapabilities.resume"),
    ("terminal/", "terminal"),
];
/// The capability that a kind of content in a prompt needs.
const CONTENT: &[(&str, &str)] = &[
    ("audio", "promptCapabilities.audio"),
    ("image", "promptCapabilities.image"),
    ("resource", "promptCapabilities.embeddedContext"),
];
/// The capability that a kind of MCP server needs.
const SERVERS: &[(&str, &str)] = &[
    ("http", "mcpCapabilities.http"),
    ("sse", "mcpCapabilities.sse"),
];

/// Calls `visit` with each capability that a message needs, and the value that needs it.
pub(super) fn each(message: &RpcMessage<'_, '_>, visit: &mut dyn FnMut(Node<'_>, &str)) {
    let Some(method) = message.call.method else {
        return;
    };
    let name = method.text().unwrap_or_default();
    if let Some((_, path)) = NEEDS.iter().find(|(start, _)| name.starts_with(start)) {
        visit(method, path);
    }
    let lists = [
        (schema::PROMPT, "prompt", CONTENT),
        ("session/", "mcpServers", SERVERS),
    ];
    for (start, list, needs) in lists {
        let list = message
            .param(list)
            .filter(|list| name.starts_with(start) && list.is_array());
        for kind in list
            .into_iter()
            .flat_map(Node::children)
            .filter_map(|item| item.get("type"))
        {
            if let Some((_, path)) = needs.iter().find(|(name, _)| kind.is_text(name)) {
                visit(kind, path);
            }
        }
    }
}
