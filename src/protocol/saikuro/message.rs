//! Interprets a `MessagePack` value.

use crate::encoding::{Parsed, msgpack};
use crate::error::DecodeError;
use crate::framing::{Frame, Head};
use crate::protocol::{Context, Evidence, Id, Message, Notes, Role};
use crate::span::SpannedText;
use crate::tape::{Node, Scalar, Tape, Value};
use std::borrow::Cow;

/// The fields of an envelope in their order when written by position.
pub(super) const POSITIONS: [&str; 10] = [
    "version",
    "type",
    "id",
    "target",
    "args",
    "meta",
    "capability",
    "batch_items",
    "stream_control",
    "seq",
];

/// A field by name, or by position if the envelope is an array. Nil counts as absent.
pub(super) fn field<'a>(root: Node<'a>, name: &str) -> Option<Node<'a>> {
    let found = if root.is_array() {
        POSITIONS
            .iter()
            .position(|p| *p == name)
            .and_then(|at| root.at(at))
    } else {
        root.get(name)
    };
    found.filter(|node| !node.is_null())
}

/// Returns true if a frame starts here: a length below 16 MiB, then a map whose first key is short text, or an array of
/// ten.
pub(super) fn plausible(bytes: &[u8]) -> bool {
    match bytes {
        [0, _, _, _, 0x80..=0x8f, 0xa2..=0xb0, first, ..] => first.is_ascii_lowercase(),
        [0, _, _, _, 0xde, 0, _, 0xa2..=0xb0, first, ..] => first.is_ascii_lowercase(),
        [0, _, _, _, 0x9a, 0x01, 0xa2..=0xb0, ..] => true,
        _ => false,
    }
}

pub(super) fn read<'a>(frame: &Frame<'a>, _: &Context, parsed: &'a mut Parsed) -> Message<'a> {
    let view = frame.view;
    let mut message = Message {
        body: view.body,
        valid: true,
        ..Message::default()
    };
    if let Err(error) = parsed.msgpack(view.bytes, view.body) {
        message.valid = false;
        let error = explain(error, frame);
        message.faults.push(error);
    }
    let parsed = &*parsed;
    if let Some(root) = parsed.root(view.bytes) {
        message.value = Some(parsed);
        interpret(root, &mut message);
        if message.valid && !root.is_map() && message.role.is_none() {
            message.kind = Cow::Borrowed("");
            let wanted = "a map, or an envelope by position";
            message.faults.push(DecodeError::new(
                "not-an-envelope",
                root.span(),
                "message",
                wanted,
                root.describe(),
            ));
        }
    }
    message
}

fn explain(error: DecodeError, frame: &Frame<'_>) -> DecodeError {
    let body = frame.view.body();
    match (body, frame.head) {
        ([], Head::Length(0)) => {
            error.hint("a frame of length 0; the runtime answers MalformedEnvelope")
        }
        ([b'{' | b'[', ..], _) if std::str::from_utf8(body).is_ok() => {
            error.hint("this is JSON; saikuro speaks MessagePack")
        }
        ([0, 0, a, b, 0x80..=0x8f, ..], _)
            if u16::from_be_bytes([*a, *b]) as usize + 4 == body.len() =>
        {
            error.hint("a second length prefix inside the frame")
        }
        _ => error,
    }
}

/// The fields that define the message, found in one pass.
#[derive(Clone, Copy, Default)]
struct HeadFields<'a> {
    kind: Option<Node<'a>>,
    id: Option<Node<'a>>,
    target: Option<Node<'a>>,
    namespace: Option<Node<'a>>,
    ok: Option<Node<'a>>,
    error: Option<Node<'a>>,
    seq: Option<Node<'a>>,
    control: Option<Node<'a>>,
    data: Option<Node<'a>>,
    results: Option<Node<'a>>,
    end: bool,
    close: bool,
}

impl<'a> HeadFields<'a> {
    fn of(root: Node<'a>) -> Self {
        let mut keys = Self::default();
        if root.is_array() {
            keys.kind = field(root, "type");
            keys.id = field(root, "id");
            keys.target = field(root, "target");
            keys.control = field(root, "stream_control");
            return keys;
        }
        for (key, value) in root.members() {
            match key.raw_text() {
                b"type" => keys.kind = Some(value),
                b"id" => keys.id = Some(value),
                b"target" => keys.target = Some(value),
                b"namespace" => keys.namespace = Some(value),
                b"ok" => keys.ok = Some(value),
                b"error" => keys.error = Some(value),
                b"seq" => keys.seq = Some(value),
                b"stream_control" => keys.control = Some(value).filter(|v| !v.is_null()),
                b"data" => keys.data = Some(value),
                b"results" => keys.results = Some(value),
                b"end" => keys.end = value.as_bool() == Some(true),
                b"close" => keys.close = value.as_bool() == Some(true),
                _ => {}
            }
        }
        keys
    }
}

fn interpret<'a>(root: Node<'a>, message: &mut Message<'a>) {
    let keys = HeadFields::of(root);
    (message.id, message.id_span) = (keys.id.map_or(Id::None, id), keys.id.map(Node::span));
    message.outcome = outcome(&keys);
    let (kind, role) = match keys.kind.and_then(Node::text) {
        Some(kind) => {
            let role = envelope_role(&kind, &keys);
            message.subject = keys.target.or(keys.namespace).and_then(Node::spanned_text);
            message.evidence = if role.is_some() && (root.is_map() || keys.target.is_some()) {
                Evidence::Certain
            } else {
                Evidence::Possible
            };
            (kind, role)
        }
        None if root.is_map() => {
            let (kind, role) = answer(&keys);
            message.evidence = match role {
                Some(_) if keys.id.is_some() => Evidence::Certain,
                Some(_) => Evidence::Possible,
                None => Evidence::None,
            };
            (Cow::Borrowed(kind), role)
        }
        None => (Cow::Borrowed("unknown"), None),
    };
    (message.kind, message.role) = (kind, role);
}

/// Returns the role of a message with a `type`.
fn envelope_role(kind: &str, keys: &HeadFields<'_>) -> Option<Role> {
    Some(match kind {
        "call" | "stream" | "batch" | "resource" | "announce" => Role::Request,
        "cast" | "log" => Role::Notification,
        // A later message on an open channel is an envelope without a target; the document has no such message.
        "channel" => match keys.control.and_then(Node::text).as_deref() {
            Some("end" | "abort") => Role::End,
            Some("pause" | "resume") => Role::Notification,
            _ if keys.target.is_some_and(|t| t.is_text("")) => Role::Item,
            _ => Role::Request,
        },
        "announce_ack" if keys.ok.and_then(Node::as_bool) == Some(false) => Role::Error,
        "announce_ack" => Role::Response,
        _ => return None,
    })
}

/// Returns kind and role of a message without a `type`: answers, and the document's stream and channel frames.
fn answer(keys: &HeadFields<'_>) -> (&'static str, Option<Role>) {
    let control = keys.control.and_then(Node::text);
    match (keys.ok.map(Node::as_bool), control.as_deref()) {
        (Some(_), Some("end")) => ("end", Some(Role::End)),
        (Some(_), Some("abort")) => ("abort", Some(Role::End)),
        (Some(_), Some("pause")) => ("pause", Some(Role::Notification)),
        (Some(_), Some("resume")) => ("resume", Some(Role::Notification)),
        (Some(Some(ok)), _) if keys.results.is_some() => (
            "batch-response",
            Some(if ok { Role::Response } else { Role::Error }),
        ),
        (Some(Some(false)), _) => ("error", Some(Role::Error)),
        (Some(Some(true)), _) if keys.seq.is_some() => ("item", Some(Role::Item)),
        (Some(Some(true)), _) => ("response", Some(Role::Response)),
        (None, _) if keys.close => ("close", Some(Role::End)),
        (None, _) if keys.seq.is_some() && keys.end => ("end", Some(Role::End)),
        (None, _) if keys.seq.is_some() && keys.error.is_some() => {
            ("stream-error", Some(Role::Error))
        }
        (None, _) if keys.seq.is_some() && keys.data.is_some() => ("item", Some(Role::Item)),
        _ => ("unknown", None),
    }
}

/// Returns the code of an error; `ok` for an answer without one.
fn outcome<'a>(keys: &HeadFields<'a>) -> Option<SpannedText<'a>> {
    let code = keys.error.and_then(|e| e.get("code"));
    if let Some(code) = code.and_then(Node::spanned_text) {
        return Some(code);
    }
    if let Some(control) = keys.control.and_then(Node::spanned_text) {
        return Some(control);
    }
    let ok = keys.ok?;
    let text = if ok.as_bool()? { "ok" } else { "not ok" };
    Some(SpannedText::new(text, ok.span()))
}

/// Returns an id, which has several forms: sixteen bytes, an array of sixteen numbers, or text that spells a UUID.
pub(super) fn id(node: Node<'_>) -> Id<'_> {
    match node.value() {
        Value::Scalar(Scalar::Bin(bytes)) => match <[u8; 16]>::try_from(bytes) {
            Ok(uuid) => Id::Uuid(uuid),
            Err(_) => Id::Text(hex::encode(bytes).into()),
        },
        Value::Scalar(Scalar::Str(text)) => match parse_uuid(text) {
            Some(uuid) => Id::Uuid(uuid),
            None => Id::Text(match std::str::from_utf8(text) {
                Ok(text) => text.into(),
                Err(_) => hex::encode(text).into(),
            }),
        },
        Value::Array => {
            let mut tape = Tape::new();
            let bytes: Option<Vec<u8>> = msgpack::reach(node, &mut tape)
                .children()
                .take(17)
                .map(|n| u8::try_from(n.as_i128()?).ok())
                .collect();
            bytes
                .and_then(|b| <[u8; 16]>::try_from(b).ok())
                .map_or(Id::None, Id::Uuid)
        }
        _ => node.as_i128().map_or(Id::None, Id::Number),
    }
}

/// Parses a UUID as the runtime does: hyphenated, 32 digits, `urn:uuid:`, or in braces.
pub(super) fn parse_uuid(text: &[u8]) -> Option<[u8; 16]> {
    let text = text.strip_prefix(b"urn:uuid:").unwrap_or(text);
    let text = text
        .strip_prefix(b"{")
        .and_then(|t| t.strip_suffix(b"}"))
        .unwrap_or(text);
    let mut digits = [0; 32];
    if let Ok(text) = <&[u8; 36]>::try_from(text) {
        if [8, 13, 18, 23].iter().any(|at| text[*at] != b'-') {
            return None;
        }
        for (to, from) in [
            (0..8, 0..8),
            (8..12, 9..13),
            (12..16, 14..18),
            (16..20, 19..23),
            (20..32, 24..36),
        ] {
            digits[to].copy_from_slice(&text[from]);
        }
    } else {
        digits = *<&[u8; 32]>::try_from(text).ok()?;
    }
    let mut uuid = [0; 16];
    let mut bad = 0;
    for (byte, pair) in uuid.iter_mut().zip(digits.as_chunks::<2>().0) {
        let [high, low] = pair.map(|digit| NIBBLE[digit as usize]);
        bad |= high | low;
        *byte = high << 4 | low & 15;
    }
    (bad < 16).then_some(uuid)
}

/// The values of hex digits; 255 for every other byte.
const NIBBLE: [u8; 256] = {
    let (mut table, mut i) = ([255; 256], 0);
    while i < 16 {
        table[b"0123456789abcdef"[i] as usize] = i as u8;
        table[b"0123456789ABCDEF"[i] as usize] = i as u8;
        i += 1;
    }
    table
};

/// The vocabulary of an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vocabulary {
    /// The document and real peers have the code.
    Shared,
    /// Only the document has the code: a real runtime cannot decode it.
    Document,
    /// Only real peers have the code.
    Peers,
    /// Neither has the code: a real runtime cannot decode it.
    Nobody,
}

/// Returns the vocabulary of an error code.
pub(super) fn vocabulary(code: &str) -> Vocabulary {
    match code {
        "CapabilityDenied" | "ProviderError" | "Timeout" => Vocabulary::Shared,
        "NotFound" | "InvalidArgs" | "RoutingError" | "TransportError" | "SchemaError" => {
            Vocabulary::Document
        }
        "NamespaceNotFound"
        | "FunctionNotFound"
        | "InvalidArguments"
        | "IncompatibleVersion"
        | "MalformedEnvelope"
        | "NoProvider"
        | "ProviderUnavailable"
        | "BatchRoutingConflict"
        | "CapabilityInvalid"
        | "ConnectionLost"
        | "MessageTooLarge"
        | "BufferOverflow"
        | "ProviderPanic"
        | "StreamClosed"
        | "ChannelClosed"
        | "OutOfOrder"
        | "Internal" => Vocabulary::Peers,
        _ => Vocabulary::Nobody,
    }
}

fn code_origin(code: &str) -> &'static str {
    match vocabulary(code) {
        Vocabulary::Shared => "document and real peers",
        Vocabulary::Document => "document only; a real runtime cannot decode it",
        Vocabulary::Peers => "real peers",
        Vocabulary::Nobody => "in neither vocabulary; a real runtime cannot decode it",
    }
}

/// The text of the error, the result, the messages of a batch or the arguments.
pub(super) fn content<'n>(root: Node<'n>, message: &Message<'_>) -> Option<Node<'n>> {
    const NAMES: [&str; 5] = ["result", "results", "batch_items", "args", "schema"];
    if message.role == Some(Role::Error) {
        return field(root, "error")?.get("message");
    }
    if root.is_array() {
        return NAMES.into_iter().find_map(|name| field(root, name));
    }
    let values = root.get_each::<{ NAMES.len() }, _>(&NAMES, |name| name);
    let mut found = (0..NAMES.len()).filter_map(|n| values.get(n));
    found.find(|value| !value.is_null())
}

/// Returns the calls of a batch.
pub(super) fn parts<'n>(root: Node<'n>, message: &Message<'_>) -> Vec<Node<'n>> {
    let is_batch = message.kind == "batch" && message.role == Some(Role::Request);
    let items = field(root, "batch_items").filter(|_| is_batch);
    items.into_iter().flat_map(Node::children).collect()
}

pub(super) fn annotate(root: Node<'_>, _: &Message<'_>, notes: &mut Notes) {
    // An envelope that is written by position has no names.
    let items = field(root, "batch_items").into_iter();
    let envelopes = items.flat_map(Node::children).chain([root]);
    for envelope in envelopes.filter(|envelope| envelope.is_array()) {
        if let Some(capability) = field(envelope, "capability") {
            notes.secret(capability);
        }
    }
    if !notes.has_remarks() {
        return;
    }
    if let Some(node) = field(root, "id")
        && !node.is_string()
        && let id @ Id::Uuid(_) = id(node)
    {
        notes.remark(node, id.text().into_owned());
    }
    let mut error = |error: Option<Node<'_>>| {
        if let Some(code) = error.and_then(|e| e.get("code"))
            && let Some(text) = code.text()
        {
            notes.remark(code, code_origin(&text));
        }
    };
    error(root.get("error"));
    for result in root.get("results").into_iter().flat_map(Node::children) {
        error(result.get("error"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_in_every_form_are_equal() {
        let want = Some([
            0xa1, 0xb2, 0xc3, 0xd4, 0xe5, 0xf6, 0x78, 0x90, 0xab, 0xcd, 0xef, 0x12, 0x34, 0x56,
            0x78, 0x90,
        ]);
        for text in [
            "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
            "A1B2C3D4E5F67890ABCDEF1234567890",
            "urn:uuid:a1b2c3d4-e5f6-7890-abcd-ef1234567890",
            "{a1b2c3d4-e5f6-7890-abcd-ef1234567890}",
        ] {
            assert_eq!(parse_uuid(text.as_bytes()), want, "{text}");
        }
        for text in [
            "",
            "log-17",
            "a1b2c3d4-e5f6-7890-abcd_ef1234567890",
            "a1b2c3d4e5f67890abcdef123456789g",
        ] {
            assert_eq!(parse_uuid(text.as_bytes()), None, "{text}");
        }
    }
}
