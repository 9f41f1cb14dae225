//! One line, one HTTP body, or one event, understood.

use super::schema::{self, DIALECT};
use crate::encoding::{Parsed, Want};
use crate::error::DecodeError;
use crate::framing::{Frame, Framing, Head};
use crate::protocol::jsonrpc::{self, Call};
use crate::protocol::schema::Message as Method;
use crate::protocol::{Context, Evidence, Id, Message, Notes, Role};
use crate::span::SpannedText;
use crate::tape::Node;

/// A `components/execute`, for users of the library.
#[derive(Clone)]
#[non_exhaustive]
pub struct Execute<'a> {
    /// Which component: `/upper`.
    pub component: SpannedText<'a>,
    /// What it is given.
    pub input: Node<'a>,
}

/// Reads a `components/execute` from its parsed message; `None` where this is none or a part is missing. The document
/// writes the component as an object with a name, every peer as text; both are read.
pub fn execute(root: Node<'_>) -> Option<Execute<'_>> {
    let call = Call::of(root);
    call.method?.is_text("components/execute").then_some(())?;
    let component = call.params?.get("component")?;
    let name = || component.get("name")?.spanned_text();
    Some(Execute {
        component: component.spanned_text().or_else(name)?,
        input: call.params?.get("input")?,
    })
}

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
    let line = view.body();
    let lines = frame.framing == Framing::Lines;
    if line.trim_ascii().is_empty() {
        message.valid = false;
        let empty = DecodeError::new("empty", view.body, "message", "a JSON object", "nothing");
        message.faults.push(if lines {
            jsonrpc::blank_line(view.body)
        } else {
            empty
        });
        return message;
    }
    if let Err(mut error) = parsed.json(view.bytes, view.body) {
        if lines
            && let Some(hint) =
                jsonrpc::line_hint(line, &relative(&error, view.body.at()), context.direction)
        {
            error.hint = Some(hint.into());
        }
        message.valid = false;
        message.faults.push(error);
    }
    let parsed = &*parsed;
    if let Some(root) = parsed.root(view.bytes) {
        message.value = Some(parsed);
        understand(root, frame, parsed.want(), &mut message);
    }
    message
}

/// An error's place within the line.
fn relative(error: &DecodeError, start: usize) -> DecodeError {
    let mut error = error.clone();
    error.span.start = error.span.start.saturating_sub(start as u32);
    error
}

fn understand<'a>(root: Node<'a>, frame: &Frame<'a>, want: Want, message: &mut Message<'a>) {
    let call = Call::of(root);
    let http = match frame.head {
        Head::Http {
            start,
            event: false,
            ..
        } => Some(start.starts_with("HTTP/")),
        _ => None,
    };
    // A request with id null is taken for a notification by both peers; it is shown as what it says it is.
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
        // Output as text does not show it.
        if want != Want::Text {
            let releases = known.map(|m| m.releases_of(call.params, None));
            message.dialect = releases.and_then(schema::dialect);
        }
        message.subject = Some(method);
        return;
    }
    let answer = call.id.is_some() || call.version.is_some();
    if let Some(error) = call.error().filter(|_| answer) {
        (message.kind, message.role) = ("error".into(), Some(Role::Error));
        message.outcome = jsonrpc::outcome(error);
        message.evidence = Evidence::Possible;
    } else if let Some(result) = call.result.filter(|_| answer) {
        (message.kind, message.role) = ("response".into(), Some(Role::Response));
        let members = result.members().filter(|_| result.is_map());
        let told = members.filter_map(|(key, _)| result_member(&key.key_bytes()));
        // The latest counts.
        let dialect = told.max();
        message.evidence = match dialect {
            Some(_) => Evidence::Certain,
            None => Evidence::Possible,
        };
        message.dialect = dialect.filter(|name| !name.is_empty());
    } else if !message.valid {
        // Too little was read to say more.
    } else if let Some(response) = http {
        // `""` of a 202, health, an error without jsonrpc and id: HTTP's own, no message.
        let kind = if response {
            "http-response"
        } else {
            "http-request"
        };
        (message.kind, message.role) = (kind.into(), Some(Role::Control));
        (message.id, message.id_span) = (Id::None, None);
        if !response || root.is_array() {
            message.faults.push(no_message(root));
        }
        if let Head::Http { status, .. } = frame.head
            && status > 0
        {
            message.outcome = Some(SpannedText::elsewhere(status.to_string()));
        }
    } else if root.get("port").is_some() && root.members().count() == 1 {
        (message.kind, message.role) = ("port".into(), Some(Role::Control));
        message.evidence = Evidence::Possible;
    } else {
        message.faults.push(no_message(root));
    }
}

fn no_message(root: Node<'_>) -> DecodeError {
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
    jsonrpc::not_an_object(root)
}

/// How sure one can be from the method. Other protocols have a handshake of the same name.
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

/// Which release writes a result with this member; empty where several do, `None` where it is not this protocol's alone.
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

/// What an error code is called: one number means different things from release to release, so all are named.
fn code_name(code: i128) -> Option<&'static str> {
    Some(match code {
        -32700 => "parse error",
        -32600 => "invalid request",
        -32601 => "method not found",
        -32602 => "invalid params",
        -32603 => "internal error",
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
    let call = Call::of(root);
    if let Some(code) = call.error().and_then(|e| e.get("code"))
        && let Some(name) = code.as_i128().and_then(code_name)
    {
        notes.remark(code, name);
    }
    if let (Some(method), Some(dialect)) = (call.method, message.dialect) {
        notes.remark(method, format!("dialect {dialect}"));
    }
}
