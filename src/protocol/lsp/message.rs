//! Interprets a body or a WebSocket message.

use super::schema::DIALECT;
use crate::encoding::Parsed;
use crate::framing::Frame;
use crate::protocol::rpc::{Call, read};
use crate::protocol::{Context, Evidence, Message, Role};
use crate::tape::Node;

pub(super) fn read<'a>(
    frame: &Frame<'a>,
    context: &Context,
    parsed: &'a mut Parsed,
) -> Message<'a> {
    read::read(frame, context, parsed, &DIALECT, evidence)
}

/// Returns the evidence of a message. Related protocols have the handshake and some methods with `$/` in common.
fn evidence(call: &Call<'_>, role: Role) -> Evidence {
    let Some(method) = call.method.and_then(Node::text) else {
        // The capabilities of a server.
        let capabilities = call.result.and_then(|result| result.get("capabilities"));
        let mut names = capabilities.into_iter().flat_map(Node::members);
        let provides = |name: &[u8]| name.ends_with(b"Provider") || name == b"textDocumentSync";
        return match names.any(|(name, _)| provides(&name.key_bytes())) {
            true => Evidence::Certain,
            false if role == Role::Request => Evidence::None,
            false => Evidence::Possible,
        };
    };
    let has = |name: &str| call.params.is_some_and(|params| params.get(name).is_some());
    match method.as_ref() {
        "initialize" if has("processId") || has("rootUri") => Evidence::Certain,
        "initialize" | "initialized" | "shutdown" | "exit" => Evidence::Possible,
        name if name.starts_with("$/") => Evidence::Possible,
        name if DIALECT.find(name).is_some() => Evidence::Certain,
        name if name.starts_with("textDocument/") => Evidence::Certain,
        _ => Evidence::Possible,
    }
}
