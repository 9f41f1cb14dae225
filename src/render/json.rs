//! Writes one JSON object per message, in a format that programs can rely on.
//!
//! The keys are the properties in `schema.json`, in the same order; absent ones are left out. The data is exact: it is never
//! masked or shortened.

#[cfg(feature = "cli")]
pub(crate) mod flat;

use super::style::escape_json;
use super::{DisplayOptions, findings};
use crate::capture::write_time;
use crate::conversation::Verdict;
use crate::decoder::{Decoded, RawFrame};
use crate::encoding::json::{self, push_short, write_short, write_str};
use crate::encoding::lossless::{write_bytes, write_int};
use crate::encoding::{Encoding, Parsed};
use crate::error::DecodeError;
use crate::framing::{self, Framing, LengthMode, Wire};
use crate::protocol::registry;
use crate::protocol::session::{Link, name_of};
use crate::protocol::{Direction, Id, MessageForm, Origin, Role, WriteOptions, uuid_text};
use crate::tape::{Node, Tape};

/// The maximum size of a message whose text is written in one piece, in bytes.
pub(crate) const MAX_WHOLE: u32 = 256 << 10;

/// Writes one line, with its line end. A verdict adds the findings and the request that the message answers.
pub fn write(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    out: &mut Vec<u8>,
) {
    write_in_parts(decoded, verdict, display, out, &mut |_| {});
}

/// Writes one line as [`write()`] does. In a message longer than [`MAX_WHOLE`], `full` may empty `out` several times.
pub(crate) fn write_in_parts(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    out: &mut Vec<u8>,
    full: &mut dyn FnMut(&mut Vec<u8>),
) {
    let start = out.len();
    let whole: &mut dyn FnMut(&mut Vec<u8>) = &mut |_| {};
    // For a terminal, the complete line is escaped.
    let full = if display.terminal { whole } else { full };
    write_object(decoded, verdict, out, full);
    if let Some(verdict) = verdict {
        write_verdict(decoded, verdict, out);
    }
    write_source(decoded.origin, display, out);
    if display.context {
        out.extend_from_slice(b",\"context\":true");
    }
    end_line(display, start, out);
}

/// Ends a line that starts at `start`.
pub(super) fn end_line(display: DisplayOptions, start: usize, out: &mut Vec<u8>) {
    out.push(b'}');
    if display.terminal {
        let text = String::from_utf8_lossy(out.get(start..).unwrap_or_default()).into_owned();
        out.truncate(start);
        out.extend_from_slice(escape_json(&text).as_bytes());
    }
    out.push(b'\n');
}

fn write_object(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    out: &mut Vec<u8>,
    full: &mut dyn FnMut(&mut Vec<u8>),
) {
    let message = decoded.message;
    write_place(decoded, out);
    if !message.kind.is_empty() {
        out.extend_from_slice(b",\"kind\":");
        write_short_text(&message.kind, out);
    }
    if let Some(role) = message.role {
        write_text(b",\"role\":\"", role.name(), out);
    }
    write_id(&message.id, message.value_is_complete(), out);
    if let Some(subject) = &message.subject {
        out.extend_from_slice(b",\"subject\":");
        write_short_text(subject, out);
    }
    if let Some(name) = name_of(message, verdict.and_then(|v| v.answer)) {
        out.extend_from_slice(b",\"name\":");
        write_short_text(name, out);
    }
    if message.failed {
        out.extend_from_slice(b",\"outcome\":\"error\"");
    }
    if message.guess {
        out.extend_from_slice(b",\"guess\":true");
    }
    write_content(decoded, out, full);
}

/// Writes where and when the message was found, up to its protocol.
fn write_place(decoded: &Decoded<'_>, out: &mut Vec<u8>) {
    let (frame, message, origin) = (decoded.frame, decoded.message, decoded.origin);
    out.extend_from_slice(b"{\"v\":1,\"index\":");
    write_int(decoded.index, out);
    if let Some(conn) = origin.conn {
        out.extend_from_slice(b",\"conn\":");
        write_int(conn, out);
    }
    if let Some(stream) = origin.stream {
        out.extend_from_slice(b",\"stream\":");
        write_int(stream, out);
    }
    if let Some(direction) = origin.direction {
        write_text(b",\"dir\":\"", direction.name(), out);
    }
    write_time("time", origin.time, out);
    out.extend_from_slice(b",\"offset\":");
    write_int(frame.offset, out);
    out.extend_from_slice(b",\"len\":");
    write_int(frame.len, out);
    if (message.role != Some(Role::Control) || message.value.is_some())
        && let Some(offset) = frame.view.run(message.body)
    {
        out.extend_from_slice(b",\"body_offset\":");
        write_int(offset, out);
        out.extend_from_slice(b",\"body_len\":");
        write_int(message.body.len, out);
    }
    write_text(b",\"framing\":\"", frame.framing.name(), out);
    write_text(b",\"protocol\":\"", decoded.protocol.name(), out);
}

/// Writes the value of the message, its bytes if the value does not show them, its faults, and its wire form.
fn write_content(decoded: &Decoded<'_>, out: &mut Vec<u8>, full: &mut dyn FnMut(&mut Vec<u8>)) {
    let message = decoded.message;
    let is_shown = message.value_is_complete();
    let start = out.len();
    if message.value.is_some() {
        out.extend_from_slice(MESSAGE);
        if is_shown && decoded.raw.is_none() && message.body.len > MAX_WHOLE {
            decoded.pass_message(out, full);
        } else if is_shown {
            decoded.write_message(out);
        } else {
            decoded.write_message(out);
            json::replace_lone_surrogates(out.get_mut(start..).unwrap_or_default());
        }
    }
    let body = message.body.of(decoded.frame.view.bytes);
    let exact = decoded.raw.as_ref();
    let shown = out.get(start..).unwrap_or_default();
    let form = exact.and_then(|_| message_form(decoded, shown, body).filter(|_| message.valid));
    if !is_shown || exact.is_some() && form.is_none() {
        write_raw(body, out);
    }
    write_faults(decoded, out);
    if let Some(raw) = exact {
        let mut wire = wire(decoded, raw);
        if wire.hex.is_none() {
            wire.encoding = explicit_encoding(decoded, form, &wire);
        }
        if !wire.is_empty() {
            out.extend_from_slice(b",\"wire\":");
            wire.write(out);
        }
    }
}

fn write_verdict(decoded: &Decoded<'_>, verdict: Verdict<'_>, out: &mut Vec<u8>) {
    for (i, finding) in verdict.findings.iter().enumerate() {
        out.extend_from_slice(if i == 0 { b",\"findings\":[" } else { b"," });
        findings::write_json(finding, Some(decoded.index), out);
    }
    if !verdict.findings.is_empty() {
        out.push(b']');
    }
    if let Some(answer) = verdict.answer {
        out.extend_from_slice(b",\"reply_to\":");
        write_int(answer.to, out);
        if let Some(latency) = answer.latency {
            out.extend_from_slice(b",\"latency_ms\":");
            out.extend_from_slice(findings::millis(latency).as_bytes());
        }
        if let Some(subject) = &answer.subject {
            out.extend_from_slice(b",\"of\":");
            write_short_text(subject, out);
        }
    }
    if let Some(operation) = verdict.operation {
        out.extend_from_slice(b",\"op\":");
        write_int(operation.index, out);
        write_parent(operation.parent, operation.link, out);
    }
    if verdict.answer.is_some_and(|answer| answer.id_form_differs) {
        out.extend_from_slice(b",\"id_form_differs\":true");
    }
    if let Some(client) = verdict.client {
        out.extend_from_slice(b",\"who\":");
        write_str(client, out);
    }
}

/// Writes the name of the capture, if there are several.
pub(super) fn write_source(origin: Origin, display: DisplayOptions, out: &mut Vec<u8>) {
    let merged = display.sources.and_then(|all| all.name_of(origin.conn));
    if let Some(name) = merged.or(display.source) {
        out.extend_from_slice(b",\"src\":");
        write_str(name, out);
    }
}

/// Writes the parent of an operation, and the evidence.
pub(super) fn write_parent(parent: Option<u64>, link: Option<Link>, out: &mut Vec<u8>) {
    if let Some(parent) = parent {
        out.extend_from_slice(b",\"parent\":");
        write_int(parent, out);
    }
    if let Some(link) = link {
        write_text(b",\"link\":\"", link.name(), out);
    }
}

const MESSAGE: &[u8] = b",\"message\":";

/// Returns the form in which the body can be written again from `message`, if there is one.
fn message_form(decoded: &Decoded<'_>, shown: &[u8], body: &[u8]) -> Option<MessageForm> {
    let (Some(parsed), Some(message)) = (decoded.message.value, shown.strip_prefix(MESSAGE)) else {
        return body.is_empty().then_some(MessageForm::Json);
    };
    if parsed.is_shortest_form() {
        return None;
    }
    let packed = parsed.packed_encoding();
    let packed = packed.map(|encoding| MessageForm::of(Some(encoding)));
    let mut forms = [Some(MessageForm::Json), packed].into_iter().flatten();
    let mut tape = Tape::new();
    tape.clear(u32::MAX);
    // A protocol that sends JSON copies its text.
    tape.set_few(parsed.is_text());
    let root = json::root(message, u32::MAX, &mut tape).ok()?;
    forms.find(|form| encode_body(decoded, root, *form).is_some_and(|(_, again)| again == body))
}

/// Returns the encoding if it must be given: in binary frames, JSON is not the default.
fn explicit_encoding(
    decoded: &Decoded<'_>,
    form: Option<MessageForm>,
    wire: &Wire,
) -> Option<Encoding> {
    let binary = wire.opcode == Some(2) || decoded.frame.framing == Framing::Prefix;
    let text = decoded.message.value.is_some_and(Parsed::is_text);
    match form {
        Some(MessageForm::MessagePack) => Some(Encoding::MessagePack),
        Some(MessageForm::Cbor) => Some(Encoding::Cbor),
        Some(MessageForm::Json) if binary && text => Some(Encoding::Json),
        _ => None,
    }
}

/// Returns the body of a message, read back from its JSON, after its header, if the framing has a header of fields.
pub(crate) fn encode_body(
    decoded: &Decoded<'_>,
    message: Node<'_>,
    form: MessageForm,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let options = WriteOptions {
        // The body is written unchanged, valid or not.
        force: true,
        direction: decoded.origin.direction,
        form,
    };
    let mut header = Vec::new();
    let written = decoded
        .protocol
        .write(message, &options, &mut header)
        .ok()?;
    let body = header.split_off(written.head.header_len.min(header.len()));
    Some((header, body))
}

/// Returns the header that a message says, for a framing with a header of fields.
fn shown_header(decoded: &Decoded<'_>) -> Option<Vec<u8>> {
    let (mut text, mut tape) = (Vec::new(), Tape::new());
    decoded.write_message(&mut text);
    let root = json::root(&text, u32::MAX, &mut tape).ok()?;
    let encoded = encode_body(decoded, root, MessageForm::Json);
    encoded.map(|(header, _)| header)
}

/// Returns the parts of the frame other than its body, or its bytes if the parts do not reproduce it.
pub fn wire(decoded: &Decoded<'_>, raw: &RawFrame<'_>) -> Wire {
    let (frame, message) = (decoded.frame, decoded.message);
    let header = message.body.at().saturating_sub(frame.view.body.at());
    let mut wire = Wire::of(frame, header, raw.bytes);
    let body = message.body.of(frame.view.bytes);
    let mut again = Vec::with_capacity(raw.bytes.len());
    let skipped = frame.control == Some("skipped");
    if !skipped {
        let writer = decoded.protocol.frame_writer(frame.framing);
        framing::write(writer, body, &wire, &mut again);
        let is_own = matches!(frame.framing, Framing::Custom(_)) && again != raw.bytes;
        if is_own && let Some(header) = shown_header(decoded) {
            wire.header = header;
            again.clear();
            framing::write(writer, body, &wire, &mut again);
            if again == raw.bytes {
                // The message says it.
                wire.header.clear();
            } else {
                let header = raw.bytes.get(..frame.view.body.at());
                wire.header = header.unwrap_or_default().to_vec();
                again.clear();
                framing::write(writer, body, &wire, &mut again);
            }
        }
    }
    if skipped || again != raw.bytes || !wire.set_between(raw.bytes, raw.between) {
        wire = Wire::verbatim(raw.bytes);
        wire.between = raw.between.to_vec();
    }
    if wire.method.is_some() && wire.method == shown_method(decoded) {
        wire.method = None;
    }
    // Servers do not mask: only an unmasked client is worth a key.
    if wire.mask.as_deref() == Some(&[]) && decoded.origin.direction == Some(Direction::ToClient) {
        wire.mask = None;
    }
    let has_line_end = !decoded.protocol.descriptor().line_end.is_empty();
    if has_line_end && frame.framing == Framing::Lines && raw.bytes.ends_with(b"\n") {
        wire.eol.get_or_insert_with(|| "\n".to_owned());
    }
    wire.before = raw.before.to_vec();
    wire.inside = raw.inside;
    wire
}

/// Returns the method id and the length mode, if the message contains them.
fn shown_method(decoded: &Decoded<'_>) -> Option<(u32, LengthMode)> {
    let root = decoded.root()?;
    let id = u32::try_from(root.get("method_id")?.as_i128()?).ok()?;
    let mode = root.get("length_mode").and_then(Node::text);
    Some((id, LengthMode::from_name(&mode.unwrap_or_default())?))
}

/// Writes a short text as a JSON string.
#[inline]
pub(super) fn write_short_text(text: &str, out: &mut Vec<u8>) {
    if write_short(text.as_bytes(), b',', out) {
        out.pop();
    } else {
        write_str(text, out);
    }
}

/// Writes a key and text that needs no escape.
#[inline]
pub(super) fn write_text(key: &[u8], text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(key);
    push_short(text.as_bytes(), out);
    out.push(b'"');
}

fn write_id(id: &Id<'_>, is_shown: bool, out: &mut Vec<u8>) {
    if *id == Id::None {
        return;
    }
    out.extend_from_slice(b",\"id\":");
    write_id_value(id, is_shown, out);
}

fn write_id_value(id: &Id<'_>, is_shown: bool, out: &mut Vec<u8>) {
    match id {
        // An array or object is not a valid id, but it can occur, on several lines.
        Id::Json(text) if !is_shown || text.starts_with(['[', '{']) => {
            let start = out.len();
            json::write_text(text.as_bytes(), !text.starts_with('"'), out);
            json::replace_lone_surrogates(out.get_mut(start..).unwrap_or_default());
        }
        Id::Json(text) => push_short(text.as_bytes(), out),
        Id::Number(n) => write_int(*n, out),
        Id::Text(text) => write_str(text, out),
        Id::Uuid(uuid) => {
            out.push(b'"');
            out.extend_from_slice(&uuid_text(uuid));
            out.push(b'"');
        }
        Id::None => {}
    }
}

/// Writes a message without its key; returns the JSON of its bytes, if the value does not show them.
#[cfg(feature = "cli")]
fn write_content_text(decoded: &Decoded<'_>, out: &mut Vec<u8>) -> Vec<u8> {
    let mut raw = Vec::new();
    decoded.write_message(out);
    if !decoded.message.value_is_complete() {
        json::replace_lone_surrogates(out);
        write_raw_value(decoded.message.body.of(decoded.frame.view.bytes), &mut raw);
    }
    raw
}

/// Writes a time as a JSON string, or null.
#[cfg(feature = "cli")]
fn write_time_value(time: Option<i64>, out: &mut Vec<u8>) {
    const KEY: &[u8] = b",\"time\":";
    let start = out.len();
    write_time("time", time, out);
    if out.len() == start {
        out.extend_from_slice(b"null");
    } else {
        out.drain(start..start + KEY.len());
    }
}

/// Writes bytes that are not valid in their encoding, unchanged.
fn write_raw(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"raw\":");
    write_raw_value(bytes, out);
}

fn write_raw_value(bytes: &[u8], out: &mut Vec<u8>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        write_str(text, out);
    } else {
        write_bytes(bytes, out);
    }
}

fn write_faults(decoded: &Decoded<'_>, out: &mut Vec<u8>) {
    let mut faults = decoded.faults();
    let Some((offset, first)) = faults.next() else {
        return;
    };
    out.extend_from_slice(b",\"fault\":");
    write_fault(offset, first, decoded.remarks, out);
    for (i, (offset, fault)) in faults.enumerate() {
        out.extend_from_slice(if i == 0 { b",\"faults\":[" } else { b"," });
        write_fault(offset, fault, &[], out);
    }
    if decoded.faults().nth(1).is_some() {
        out.push(b']');
    }
}

fn write_fault(offset: u64, error: &DecodeError, remarks: &[String], out: &mut Vec<u8>) {
    write_text(b"{\"code\":\"", error.code, out);
    out.extend_from_slice(b",\"offset\":");
    write_int(offset, out);
    out.extend_from_slice(b",\"len\":");
    write_int(error.span.len, out);
    for (key, value) in [
        ("field", &error.field),
        ("wanted", &error.wanted),
        ("got", &error.got),
    ] {
        out.extend_from_slice(b",\"");
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"\":");
        write_str(value, out);
    }
    out.extend_from_slice(b",\"text\":");
    write_str(&format!("offset {offset}: {error}"), out);
    let hints = error
        .hint
        .as_deref()
        .into_iter()
        .chain(remarks.iter().map(String::as_str));
    let hint: Vec<&str> = hints.collect();
    if !hint.is_empty() {
        out.extend_from_slice(b",\"hint\":");
        write_str(&hint.join("; "), out);
    }
    out.push(b'}');
}

/// The JSON Schema of a line, without what the protocols add.
pub(crate) const SCHEMA: &str = include_str!("schema.json");

/// Returns the JSON Schema (draft 2020-12) of a line, and of the messages of each protocol by kind.
pub fn schema() -> String {
    const DEFINITIONS: &str = "\"$defs\": {\n";
    let list = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        names.join(", ")
    };
    let mut own = String::from(DEFINITIONS);
    for protocol in registry::all() {
        for (kind, shape) in protocol.shapes() {
            own.push_str(&format!("    \"{}.{kind}\": {shape},\n", protocol.name()));
        }
    }
    SCHEMA
        .replacen("\"FRAMINGS\"", &list(&registry::framing_names()), 1)
        .replacen("\"ROLES\"", &list(&Role::ALL.map(Role::name)), 1)
        .replacen(DEFINITIONS, &own, 1)
}
