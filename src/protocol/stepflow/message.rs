//! Interprets a line, an HTTP body, or an event.

use super::schema::{self, DIALECT};
use crate::encoding::{Parsed, Want};
use crate::error::DecodeError;
use crate::framing::{Frame, Head};
use crate::protocol::rpc::read::{Exchange, code_name};
use crate::protocol::rpc::{self, Call};
use crate::protocol::schema::MessageSchema as Method;
use crate::protocol::{Context, Evidence, Message, Notes, Role, json_body};
use crate::tape::Node;
use std::borrow::Cow;

pub(super) fn read<'a>(
    frame: &Frame<'a>,
    context: &Context,
    parsed: &'a mut Parsed,
) -> Message<'a> {
    let view = frame.view;
    let mut message = Message {
        body: view.body,
        valid: true,
        ..Message::default()
    };
    let text = view.body().trim_ascii();
    let exchange = Exchange::of(frame).filter(|exchange| !exchange.is_json(frame, text));
    // A body that could not be inflated may be a message.
    if let Some(exchange) = exchange.filter(|_| !text.is_empty() && frame.fault.is_none()) {
        message.valid = false;
        exchange.control(&mut message);
        return message;
    }
    if text.is_empty() {
        message.valid = false;
        message.faults.push(json_body::empty(frame));
        return message;
    }
    let want = parsed.want();
    if let Some(root) = json_body::parse(frame, context, parsed, &mut message) {
        interpret(root, frame, want, &mut message);
    }
    message
}

fn interpret<'a>(root: Node<'a>, frame: &Frame<'a>, want: Want, message: &mut Message<'a>) {
    if root.is_array() {
        message.kind = "batch".into();
    }
    let call = Call::of(root);
    // Both peers treat a request with id null as a notification; it is shown as a request.
    (message.id, message.id_span) = (call.id(), call.id.map(Node::span));
    if let Some(method) = call.method.and_then(Node::spanned_text) {
        let request = call.id.is_some();
        (message.kind, message.role) = if request {
            ("request".into(), Some(Role::Request))
        } else {
            ("notification".into(), Some(Role::Notification))
        };
        let known = DIALECT.find(&method);
        message.evidence = known.map_or(Evidence::None, |m| evidence_of(m, call.params));
        // Text output does not show it.
        if want != Want::Text {
            let releases = known.map(|m| m.releases_of(call.params, None));
            message.dialect = releases.and_then(schema::dialect).map(Cow::Borrowed);
        }
        message.subject = Some(method);
        DIALECT.describe(&call, message);
        return;
    }
    let answer = call.id.is_some() || call.version.is_some();
    if let Some(error) = call.error().filter(|_| answer) {
        (message.kind, message.role) = ("error".into(), Some(Role::Error));
        message.outcome = rpc::outcome(error);
        message.evidence = Evidence::Possible;
    } else if let Some(result) = call.result.filter(|_| answer) {
        (message.kind, message.role) = ("response".into(), Some(Role::Response));
        let members = result.members().filter(|_| result.is_map());
        let reported = members.filter_map(|(key, _)| result_member(&key.key_bytes()));
        // The latest release counts.
        let dialect = reported.max();
        message.evidence = match dialect {
            Some(_) => Evidence::Certain,
            None => Evidence::Possible,
        };
        message.dialect = dialect.filter(|name| !name.is_empty()).map(Cow::Borrowed);
        DIALECT.describe(&call, message);
    } else if !message.valid {
        // Too little was read for a decision.
    } else if let Some(exchange) = Exchange::of(frame).filter(|_| !root.is_array()) {
        // `""` of a 202, health, an error without jsonrpc and id: these belong to HTTP and are not messages.
        exchange.control(message);
        let is_request = matches!(
            frame.head,
            Head::Http {
                status: 0,
                event: false,
                ..
            }
        );
        if is_request {
            message.faults.push(not_a_message(root));
        }
    } else if root.get("port").is_some() && root.members().count() == 1 {
        (message.kind, message.role) = ("port".into(), Some(Role::Control));
        message.evidence = Evidence::Possible;
    } else {
        message.faults.push(not_a_message(root));
    }
}

fn not_a_message(root: Node<'_>) -> DecodeError {
    if root.is_map() {
        let wanted = "a method, a result or an error";
        return DecodeError::new(
            "not-a-message",
            root.span(),
            "message",
            wanted,
            "none of them",
        );
    }
    json_body::not_an_object(root)
}

/// Returns the evidence of a method. Other protocols have a handshake with the same names.
fn evidence_of(method: &Method, params: Option<Node<'_>>) -> Evidence {
    const OWN: [&str; 3] = [
        "runtime_protocol_version",
        "runtimeProtocolVersion",
        "observability",
    ];
    let own = || params.is_some_and(|p| OWN.iter().any(|key| p.get(key).is_some()));
    match method.name {
        "initialize" if !own() => Evidence::Possible,
        "initialized" => Evidence::Possible,
        _ => Evidence::Certain,
    }
}

/// Returns the release that writes a result with this member; an empty string if several do, `None` if other protocols
/// may too.
pub(super) fn result_member(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"serverProtocolVersion" | b"runId" => "C",
        b"batch_id" => "B",
        b"server_protocol_version"
        | b"output_schema"
        | b"blob_id"
        | b"blob_type"
        | b"flow_metadata" => "",
        _ => return None,
    })
}

/// Returns the name of an error code. One number has different meanings in the releases, so all are listed.
fn code_meaning(code: i128) -> Option<&'static str> {
    Some(match code {
        -32700 | -32603..=-32600 => return code_name(code),
        -32000 => "A, B: server error; C: worker error",
        -32001 => "component not found",
        -32002 => "not initialized (Python A, B: validation)",
        -32003 => "A, B: invalid input, or the component raised; C: invalid input schema",
        -32004 => "A, B: execution failed; C: invalid value",
        -32005 => "A, B: resource unavailable; C: not found",
        -32006 => "A, B: timeout; C: version mismatch",
        -32007 => "A, B: permission denied; C: dependency",
        -32008 => "A, B: blob not found; C: configuration",
        -32009 => "A, B: expression evaluation failed",
        -32010 => "A, B: session expired",
        -32011 => "B: invalid value (documents), not found (runtime)",
        -32012 => "B: not found (documents), invalid value (runtime)",
        -32100 => "C: execution failed",
        -32101 => "C: value",
        -32102 => "C: resource",
        -32103 => "C: bad request",
        -32200 => "C: undefined field",
        -32201 => "C: entity not found",
        -32202 => "C: internal",
        -32303..=-32300 => "C: transport",
        _ => return None,
    })
}

pub(super) fn annotate(root: Node<'_>, message: &Message<'_>, notes: &mut Notes) {
    if !notes.has_remarks() {
        return;
    }
    let call = Call::of(root);
    if let Some(code) = call.error().and_then(|e| e.get("code"))
        && let Some(name) = code.as_i128().and_then(code_meaning)
    {
        notes.remark(code, name);
    }
    if let (Some(method), Some(dialect)) = (call.method, &message.dialect) {
        notes.remark(method, format!("dialect {dialect}"));
    }
}
