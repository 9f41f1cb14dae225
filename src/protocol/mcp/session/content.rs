//! The content of results: blocks, each with the members that its type requires in every version.

use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::rule_names::all as rule;
use crate::protocol::session::text::quote;
use crate::protocol::session::{Severity, broken};
use crate::tape::Node;

/// The types of blocks, with the members that they require.
const BLOCKS: [(&str, &[&str]); 5] = [
    ("text", &["text"]),
    ("image", &["data", "mimeType"]),
    ("audio", &["data", "mimeType"]),
    ("resource", &["resource"]),
    ("resource_link", &["uri", "name"]),
];

/// Checks a block, or what `prompts/get` and `tools/call` have in its place.
pub(super) fn check_block(message: &RpcMessage<'_, '_>, block: Node<'_>) {
    let Some(kind) = block.get("type").filter(|kind| kind.is_string()) else {
        return;
    };
    let Some((name, needs)) = BLOCKS.iter().find(|(name, _)| kind.is_text(name)) else {
        broken!(message, rule::RESULT_TYPE, message.at(kind);
            "no version has content of the type {}; clients refuse the result, or drop the content", quote(kind));
        return message.report().at_most(Severity::Info);
    };
    for need in needs.iter().filter(|need| block.get(need).is_none()) {
        broken!(message, rule::RESULT_TYPE, message.at(block);
            "{need} is missing in content of the type {name}; it should be there");
    }
    if let Some(resource) = block.get("resource").filter(|_| *name == "resource") {
        check_resource(message, resource);
    }
}

/// Checks the contents of a resource: its text, or its bytes.
pub(super) fn check_resource(message: &RpcMessage<'_, '_>, resource: Node<'_>) {
    if resource.is_map() && resource.get("text").or(resource.get("blob")).is_none() {
        broken!(message, rule::RESULT_TYPE, message.at(resource);
            "neither text nor blob is in the resource; one of them should be");
    }
}

/// Checks the content of a result, which is under this name.
pub(super) fn check(message: &RpcMessage<'_, '_>, content: Node<'_>, name: &str) {
    for part in content.children().filter(|_| content.is_array()) {
        match name {
            "contents" => check_resource(message, part),
            "messages" => {
                if let Some(block) = part.get("content") {
                    check_block(message, block);
                }
            }
            _ => check_block(message, part),
        }
    }
}

/// Checks `structuredContent`, which is an object in all versions with a handshake.
pub(super) fn check_structured(message: &RpcMessage<'_, '_>, value: Option<Node<'_>>) {
    if let Some(wrong) = value.filter(|value| !value.is_map()) {
        broken!(message, rule::RESULT_TYPE, message.at(wrong);
            "structuredContent is {}; it should be an object", quote(wrong));
    }
}
