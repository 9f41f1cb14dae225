//! Interprets a line.

use crate::encoding::Parsed;
use crate::encoding::json::{JsonTraits, lone_surrogate};
use crate::error::{DecodeError, show_byte};
use crate::framing::Frame;
use crate::protocol::rpc::{self, Call};
use crate::protocol::{Context, Direction, Evidence, Message, Role, json_body};
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};

/// The parser of real peers reads 127 levels and refuses the 128th.
pub(super) const PEER_DEPTH: u32 = 127;

pub(super) fn read<'a>(
    frame: &Frame<'a>,
    context: &Context,
    parsed: &'a mut Parsed,
) -> Message<'a> {
    let view = frame.view;
    let body = view.body;
    let bytes = view.bytes;
    let mut message = Message {
        body,
        valid: true,
        ..Message::default()
    };
    let to_executor = context.direction == Some(Direction::ToClient);
    let line = body.of(bytes);
    // MUST (Transport protocol, rule 3): the first byte sent by the oracle is `{`.
    if to_executor && frame.offset == 0 && line.first().is_none_or(|b| *b != b'{') {
        message.faults.push(first_byte(line, body));
    }
    if line.trim_ascii().is_empty() {
        message.valid = false;
        message.faults.push(json_body::blank_line(body));
        return message;
    }
    let Some(root) = json_body::parse(frame, context, parsed, &mut message) else {
        return message;
    };
    if !root.is_map() {
        if root.is_array() {
            message.kind = "batch".into();
        }
        if message.valid {
            message.faults.push(json_body::not_an_object(root));
        }
        return message;
    }
    let call = Call::of(root);
    let usable_id = call.id.is_some_and(is_usable_id);
    interpret(&call, usable_id, context, &mut message);
    if message.valid {
        let seen = message.value.map(Parsed::seen).unwrap_or_default();
        check(root, &call, usable_id, seen, &mut message.faults);
    }
    message
}

fn first_byte(line: &[u8], body: Span) -> DecodeError {
    let got = line
        .first()
        .map_or("a line end".to_owned(), |b| show_byte(*b));
    let span = Span::new(body.at(), body.at() + usize::from(!line.is_empty()));
    let hint = match line.first() {
        Some(0xef) => "a byte order mark: write UTF-8 without one",
        Some(b' ' | b'\t' | b'\r') | None => {
            "the executor checks the first byte and does not skip white space"
        }
        Some(b'[') => "a batch: the executor does not support batches",
        Some(b'!'..=b'~') => {
            "something wrote to stdout before the oracle was ready; build output and logs belong on stderr"
        }
        Some(_) => "",
    };
    let error = DecodeError::new("first-byte", span, "first byte", "0x7b '{'", got);
    if hint.is_empty() {
        error
    } else {
        error.hint(hint)
    }
}

/// Sets kind, role, id and subject from the parts that were read.
fn interpret<'a>(call: &Call<'a>, usable_id: bool, context: &Context, message: &mut Message<'a>) {
    (message.id, message.id_span) = (call.id(), call.id.map(Node::span));
    if let Some(method) = call.method.filter(|m| m.is_string()) {
        let name = method.key_bytes();
        message.evidence = super::evidence_of(&name);
        let (kind, role) = match (name.as_ref(), usable_id) {
            (b"ready", true) => ("ready", Role::Request),
            (b"invoke", true) => ("invoke", Role::Request),
            (b"shutdown", false) => ("shutdown", Role::Notification),
            (_, true) => ("request", Role::Request),
            // MUST (JSON-RPC 2.0 section 4): a request without an id is a notification.
            (_, false) => ("notification", Role::Notification),
        };
        (message.kind, message.role) = (kind.into(), Some(role));
        message.subject = match name.as_ref() {
            b"invoke" => call
                .params
                .and_then(|p| p.get("selector").or_else(|| p.at(0)))
                .and_then(Node::spanned_text),
            b"ready" | b"shutdown" => None,
            _ => method.spanned_text(),
        };
    } else if let Some(error) = call.error() {
        (message.kind, message.role) = ("error".into(), Some(Role::Error));
        message.outcome = rpc::outcome(error);
        message.evidence = Evidence::Possible;
    } else if call.result.is_some() || (call.id.is_some() && message.valid) {
        // A truncated line with only an id may have been a request.
        let ack = match context.direction {
            Some(direction) => direction == Direction::ToServer,
            None => call.result.is_some_and(Node::is_map),
        };
        (message.kind, message.role) = (
            if ack { "ack" } else { "result" }.into(),
            Some(Role::Response),
        );
        message.evidence = match call.result {
            Some(result) => match result.at(0) {
                Some(felt) if felt.raw_text().starts_with(b"0x") => Evidence::Certain,
                Some(_) => Evidence::None,
                None => Evidence::Possible,
            },
            None => Evidence::Possible,
        };
    }
}

/// Returns the calldata of a call, or else the content.
pub(super) fn content<'n>(root: Node<'n>, _: &Message<'_>) -> Option<Node<'n>> {
    let content = Call::of(root).content(false)?;
    content.get("calldata").or(Some(content))
}

/// Returns true for ids that the peers' parser accepts: null, any text, 0 to 2^64-1 without point, exponent or sign.
pub(super) fn is_usable_id(id: Node<'_>) -> bool {
    match id.value() {
        Value::Scalar(Scalar::Null | Scalar::Json(..)) => true,
        // Nineteen digits always fit.
        Value::Scalar(Scalar::Number(text)) => {
            text.iter().all(u8::is_ascii_digit)
                && (text.len() < 20 || rpc::spelling(id).parse::<u64>().is_ok())
        }
        _ => false,
    }
}

/// Checks for errors for which real peers refuse the line.
fn check(
    root: Node<'_>,
    call: &Call<'_>,
    usable_id: bool,
    seen: JsonTraits,
    faults: &mut Vec<DecodeError>,
) {
    check_text(root, seen, faults);
    // MUST (JSON-RPC 2.0 section 4): exactly "2.0".
    if !call.version.is_some_and(|v| v.is_text("2.0")) {
        let (span, got) = call
            .version
            .map_or((root.span(), "nothing".to_owned()), |v| {
                (v.span(), quote(v))
            });
        faults.push(DecodeError::new(
            "bad-version",
            span,
            "jsonrpc",
            "\"2.0\"",
            got,
        ));
    }
    if let Some(id) = call.id.filter(|_| !usable_id) {
        let wanted = "null, a string, or an integer from 0 to 2^64-1";
        let error = DecodeError::new("bad-id", id.span(), "id", wanted, quote(id));
        let answer = call.method.is_some_and(Node::is_string);
        faults.push(if answer {
            error.hint("real peers read it as a notification and never answer")
        } else {
            error
        });
    }
    let has_method = call.method.is_some_and(Node::is_string);
    if call.id.is_none() && !has_method {
        let error = DecodeError::new(
            "not-a-message",
            root.span(),
            "message",
            "a method or an id",
            "neither",
        );
        faults.push(error);
    }
    if !has_method && let Some(error) = call.error() {
        rpc::check_error(error, faults);
    }
    if faults.is_empty()
        && let Some(key) = repeated(root, call, usable_id)
    {
        let name = key.text().unwrap_or_default();
        let error = DecodeError::new(
            "not-a-message",
            key.span(),
            key_name(&name),
            "each member once",
            format!("{name} twice"),
        );
        faults.push(error.hint("real peers refuse the whole line"));
    }
}

/// Checks what real peers refuse in any JSON.
fn check_text(root: Node<'_>, seen: JsonTraits, faults: &mut Vec<DecodeError>) {
    if seen.levels > PEER_DEPTH {
        let error = DecodeError::new(
            "too-deep",
            root.span(),
            "message",
            "at most 127 levels of nesting",
            "128 or more",
        );
        faults.push(error.hint("real peers refuse it: recursion limit exceeded"));
    }
    let text = root.span().of(root.bytes());
    if seen.escapes
        && let Some(at) = lone_surrogate(text)
    {
        let start = root.span().at() + at;
        let (wanted, got) = ("both halves of a surrogate pair", "one half");
        let error = DecodeError::new(
            "lone-surrogate",
            Span::new(start, start + 6),
            "message",
            wanted,
            got,
        );
        faults.push(error.hint("real peers refuse the whole line"));
    }
}

fn key_name(name: &str) -> &'static str {
    rpc::MEMBERS
        .into_iter()
        .find(|n| *n == name)
        .unwrap_or("message")
}

/// Returns the repeated member that makes the line unreadable. Real peers try three forms: a request, an answer, a
/// notification. A form must not repeat its own members; members of other forms do not matter.
fn repeated<'a>(root: Node<'a>, call: &Call<'a>, usable_id: bool) -> Option<Node<'a>> {
    if !call.repeats {
        return None;
    }
    let keys = || root.members().map(|(key, _)| key);
    let again = |name: &str| keys().filter(|key| key.is_text(name)).nth(1);
    let twice = rpc::MEMBERS.map(again);
    let [version, id, method, params, result, error] = twice.map(|key| key.is_some());
    let named = call.method.is_some_and(Node::is_string) && !method && !params;
    let request = named && usable_id && !id;
    let answer = usable_id && !id && !result && !error;
    if !version && (request || answer || named) {
        return None;
    }
    twice
        .into_iter()
        .flatten()
        .min_by_key(|key| key.span().at())
}

/// Quotes a value for an error: a short one as spelled, otherwise its type.
fn quote(node: Node<'_>) -> String {
    let text = rpc::spelling(node);
    if text.len() <= 40 {
        text.to_owned()
    } else {
        node.describe().to_owned()
    }
}
