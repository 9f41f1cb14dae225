//! Interprets a line, a body or a WebSocket message.

use super::schema::DIALECT;
use crate::encoding::Parsed;
use crate::framing::Frame;
use crate::protocol::rpc::{Call, check_error, is_integer, read};
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
fn evidence(call: &Call<'_>, role: Role) -> Evidence {
    let is_text = |version: Node<'_>| version.is_text("2.0") || version.is_text("1.0");
    if call.version.is_some_and(is_text) || is_1_0(call) {
        Evidence::Possible
    } else if call.version.is_none() && has_form(call, role) {
        Evidence::Weak
    } else {
        Evidence::None
    }
}

/// Returns true for a message without a version that has the form of JSON-RPC otherwise, and nothing else.
fn has_form(call: &Call<'_>, role: Role) -> bool {
    let is_id = |id: Node<'_>| id.is_string() || is_integer(id);
    let has_id = call.id.is_some_and(is_id);
    let has_params = || {
        call.params
            .is_some_and(|params| params.is_map() || params.is_array())
    };
    let has_method = call.method.is_some_and(Node::is_string);
    let is_answer = has_id && call.method.is_none() && call.params.is_none();
    let mut faults = Vec::new();
    let form = match role {
        Role::Request => has_id && has_method && (call.params.is_none() || has_params()),
        Role::Notification => call.id.is_none() && has_method && has_params(),
        Role::Response => is_answer && call.error.is_none(),
        Role::Error => {
            call.error()
                .into_iter()
                .for_each(|error| check_error(error, &mut faults));
            is_answer && call.result.is_none()
        }
        _ => false,
    };
    let answers = call.result.is_some() || call.error.is_some();
    form && faults.is_empty() && !call.has_others && !(has_method && answers)
}
