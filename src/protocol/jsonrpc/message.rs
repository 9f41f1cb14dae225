//! Interprets a line, a body or a WebSocket message.

use super::schema::DIALECT;
use crate::encoding::Parsed;
use crate::framing::Frame;
use crate::protocol::rpc::{Call, read};
use crate::protocol::{Context, Evidence, Message, Role};
use crate::tape::Node;
use std::borrow::Cow;

pub(super) fn read<'a>(
    frame: &Frame<'a>,
    context: &Context,
    parsed: &'a mut Parsed,
) -> Message<'a> {
    let mut message = read::read(frame, context, parsed, &DIALECT, evidence);
    let root = message.value.and_then(|value| value.root(frame.view.bytes));
    if let Some(root) = root.filter(|_| message.role.is_none()) {
        let ends_early =
            message.faults.iter().any(|f| f.code == "ends-early") && frame.fault.is_none();
        let is_torn = ends_early && version(&Call::of(root)) == Some("2.0");
        if is_torn {
            message.evidence = Evidence::Certain;
        }
    } else if let Some(root) = root {
        message.dialect = version(&Call::of(root)).map(Cow::Borrowed);
    }
    message
}

/// Returns the version of a message.
fn version(call: &Call<'_>) -> Option<&'static str> {
    match call.version {
        Some(version) => version.is_text("2.0").then_some("2.0"),
        None => is_1_0(call).then_some("1.0"),
    }
}

/// Returns true for the form of JSON-RPC 1.0: positional params and an id; result and error side by side.
fn is_1_0(call: &Call<'_>) -> bool {
    let asks = || call.method.is_some() && call.params.is_some_and(Node::is_array);
    let answers = || call.result.is_some() && call.error.is_some();
    call.version.is_none() && call.id.is_some() && (asks() || answers())
}

/// Other protocols have messages of the same form.
fn evidence(call: &Call<'_>, _: Role) -> Evidence {
    let is_text = |version: crate::tape::Node<'_>| version.is_text("2.0") || version.is_text("1.0");
    if call.version.is_some_and(is_text) || is_1_0(call) {
        Evidence::Possible
    } else {
        Evidence::None
    }
}
