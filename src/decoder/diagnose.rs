//! Diagnoses a bad frame: reads it in similar ways, and names the one in which it parses as the
//! likely cause.

use super::message::{is_message, starts_with_message};
use super::{Metadata, SideEvent, length_repair};
use crate::encoding::{Parsed, Want};
use crate::framing::fields::fields;
use crate::framing::{Frame, Framing, Head, LengthMode, Limits, Measured, Step};
use crate::protocol::{Context, Evidence, Message, Protocol};
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};

/// Returns a bad frame with the likely cause of its fault, if there is more to say than its hint. `flags`: settings in hints
/// are flags.
pub(super) fn with_cause<'a>(
    frame: &Frame<'a>,
    protocol: &dyn Protocol,
    flags: bool,
) -> Option<Frame<'a>> {
    let error = &frame.fault.as_ref()?.error;
    let hint = match (diagnose(frame, error.code, protocol), error.hint.as_deref()) {
        (Some(cause), Some(hint)) => format!("{cause}; {hint}"),
        (Some(cause), None) => cause,
        (None, None) if error.code == "over-limit" => {
            "if the length is right, raise the limit with `max-message`".into()
        }
        (None, Some(hint)) if flags => hint.to_owned(),
        (None, _) => return None,
    };
    let mut frame = frame.clone();
    let error = &mut frame.fault.as_mut()?.error;
    error.hint = Some(hint.into());
    if flags {
        error.name_flags();
    }
    Some(frame)
}

/// Says the likely cause of the first error of a message; `line_hint` is known already.
pub(super) fn explain(
    message: &mut Message<'_>,
    frame: &Frame<'_>,
    line_hint: Option<String>,
    protocol: &dyn Protocol,
) {
    let Some(first) = message.faults.first_mut() else {
        return;
    };
    let cause = match line_hint {
        Some(hint) => Some(hint),
        None if frame.fault.is_some() => None,
        None if first.hint.is_some() && obvious_cause(frame).is_none() => None,
        None => diagnose(frame, first.code, protocol),
    };
    if let Some(cause) = cause {
        first.hint = Some(cause.into());
    }
}

/// Returns one sentence about the likely cause of a bad frame, if another reading of its bytes is a
/// message.
pub(super) fn diagnose(frame: &Frame<'_>, code: &str, protocol: &dyn Protocol) -> Option<String> {
    if let Some((what, framing)) = obvious_cause(frame) {
        let framings = &protocol.descriptor().framings;
        return Some(match other_framing(frame, protocol) {
            Some(framing) => format!("{what}: `framing {}` reads it", framing.name()),
            None if framing.is_some_and(|framing| {
                framing == Framing::ContentLength && !framings.contains(&framing)
            }) =>
            {
                format!("{what}: peers of this protocol do not use it")
            }
            None => what.into(),
        });
    }
    if is_text_between(frame) && code != "bad-length" {
        return Some("this is text, such as a log line".into());
    }
    match frame.framing {
        Framing::Prefix => prefix_cause(frame, code, protocol),
        Framing::ContentLength => header_block_cause(frame, code, protocol),
        Framing::Method => method_cause(frame, protocol),
        Framing::Http if matches!(frame.head, Head::None) => {
            let framing = other_framing(frame, protocol)?;
            Some(format!("`framing {}` reads it", framing.name()))
        }
        Framing::Http if code == "ends-early" => short_body(frame),
        Framing::WebSocket if code == "truncated" => {
            let len = length_repair::actual_length(frame, protocol)?;
            Some(format!(
                "the message is complete: the length should be {len}"
            ))
        }
        Framing::Lines => {
            let body = frame.view.body();
            let head = *body.first_chunk::<4>()?;
            let length = u32::from_be_bytes(head) as usize;
            (body.get(4) == Some(&b'{') && length <= body.len()).then(|| {
                "a length prefix before the JSON: a line should contain only the message".into()
            })
        }
        _ => None,
    }
}

fn is_printable(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace())
}

/// Returns `true` if the search for a frame skipped a line of text.
fn is_text_between(frame: &Frame<'_>) -> bool {
    let bytes = frame.view.bytes;
    let passed = matches!(
        frame.framing,
        Framing::Prefix | Framing::Method | Framing::ContentLength
    ) && matches!(frame.head, Head::None);
    let is_text = bytes.ends_with(b"\n") && is_printable(bytes) && bytes.first() != Some(&b'{');
    passed && is_text && !bytes.trim_ascii().is_empty()
}

/// Diagnoses a frame with a big-endian length.
fn prefix_cause(frame: &Frame<'_>, code: &str, protocol: &dyn Protocol) -> Option<String> {
    let bytes = frame.view.bytes;
    let is_message = |body: Span| is_message(frame, body, protocol);
    let head = *bytes.first_chunk::<4>()?;
    let (big, little) = (
        u32::from_be_bytes(head) as usize,
        u32::from_le_bytes(head) as usize,
    );
    let is_read = matches!(frame.head, Head::Length(_)) && (5..=bytes.len()).contains(&big);
    let is_cut = big == bytes.len() && code == "truncated";
    if (is_read || is_cut) && is_message(Span::new(4, big)) {
        return Some(format!(
            "the length counts itself: it should be {}",
            big - 4
        ));
    }
    if little < Limits::default().message as usize
        && little > 0
        && is_message(Span::new(4, 4 + little))
    {
        return Some(format!(
            "the length is little-endian: it reads as {little}, and big-endian is expected"
        ));
    }
    if let Some(hint) = wrong_length(frame, code, protocol) {
        return Some(hint);
    }
    if starts_with_message(frame, 0, protocol) {
        return Some("the length prefix is missing: a message begins at its first byte".into());
    }
    let end = memchr::memchr(b'\n', bytes)? + 1;
    let (line, after) = bytes.split_at_checked(end)?;
    let length = u32::from_be_bytes(*after.first_chunk::<4>()?) as usize;
    let body = Span::new(end + 4, (end + 4).checked_add(length)?);
    (is_printable(line) && is_message(body))
        .then(|| format!("{end} bytes of text are before the frame: perhaps a log line"))
}

/// Diagnoses a frame with a header block.
fn header_block_cause(frame: &Frame<'_>, code: &str, protocol: &dyn Protocol) -> Option<String> {
    if let Some(hint) = wrong_length(frame, code, protocol) {
        return Some(hint);
    }
    if frame.view.bytes.trim_ascii().is_empty() && matches!(frame.head, Head::None) {
        return Some("a line end after a message: the next header follows it at once".into());
    }
    if !starts_with_message(frame, 0, protocol) {
        return None;
    }
    // Later in the stream, the messages before it have headers.
    let framing = (frame.offset == 0).then(|| other_framing(frame, protocol));
    Some(match framing.flatten() {
        Some(framing) => {
            let name = framing.name();
            format!("the messages have no header: `framing {name}` reads them")
        }
        None => "the header is missing: a message begins at its first byte".into(),
    })
}

/// Diagnoses a frame with a little-endian length and a method id.
fn method_cause(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<String> {
    if let Some(hint) = other_length_mode(frame, protocol).or_else(|| skipped_envelope(frame)) {
        return Some(hint);
    }
    let len = frame.view.bytes.len();
    let big = u32::from_be_bytes(*frame.view.bytes.first_chunk::<4>()?) as usize;
    (big == len || big + 4 == len).then(|| {
        format!("the length is big-endian: it reads as {big}, and little-endian is expected")
    })
}

/// Diagnoses a length that contradicts the message.
fn wrong_length(frame: &Frame<'_>, code: &str, protocol: &dyn Protocol) -> Option<String> {
    let bytes = frame.view.bytes;
    let right = |declared: usize, len: usize| {
        format!("the length is {declared}, but should be {len}: the message ends there")
    };
    if let Head::Length(declared) = frame.head {
        let (declared, len) = (
            declared as usize,
            length_repair::message_length(frame, protocol)?,
        );
        let all = frame.view.body.at() + len == bytes.len();
        return Some(match code {
            "bad-length" => right(declared, len),
            "truncated" if all => right(declared, len),
            _ => format!("the length is {declared}, but the message has {len} bytes"),
        });
    }
    if frame.framing != Framing::Prefix {
        return None;
    }
    // Skipped bytes, from a length above the limit to the next frame or the end of the stream.
    let declared = u32::from_be_bytes(*bytes.first_chunk::<4>()?) as usize;
    let body = Span::new(4, bytes.len());
    let begins = protocol.descriptor().hints.plausible?;
    let begins = || {
        bytes
            .get(1..)
            .is_some_and(|rest| begins(&[&[0], rest].concat()))
    };
    let wrong = code == "over-limit" && declared != body.len as usize;
    let is_message = wrong && begins() && is_message(frame, body, protocol);
    is_message.then(|| right(declared, body.len as usize))
}

/// Names the field that ends the body of an HTTP message inside its message.
fn short_body(frame: &Frame<'_>) -> Option<String> {
    let Head::Http {
        len, event: false, ..
    } = frame.head
    else {
        return None;
    };
    let head = frame.view.bytes.get(..len as usize)?;
    let length = fields(head).find(|field| field.is("content-length"))?;
    let length = String::from_utf8_lossy(head.get(length.value)?);
    let counts = if frame.view.body().is_ascii() {
        ""
    } else {
        ", or counts characters instead of bytes"
    };
    Some(format!(
        "the body ends after {length} bytes, as Content-Length says: perhaps it is too small{counts}"
    ))
}

/// Diagnoses bytes that were skipped because of their length, up to the next frame or the end of
/// the stream, if their envelope ends there too.
fn skipped_envelope(frame: &Frame<'_>) -> Option<String> {
    let bytes = frame.view.bytes;
    let size = bytes
        .get(10..14)
        .filter(|_| matches!(frame.head, Head::None))?;
    let size = u32::from_le_bytes(*size.first_chunk::<4>()?) as usize;
    let declared = u32::from_le_bytes(*bytes.first_chunk::<4>()?) as usize;
    let ends = size.checked_add(14)? == bytes.len();
    (ends && declared != size + 10 && declared != size + 14).then(|| {
        format!(
            "payload_size {size} is right; the length should be {}, or {} if it counts itself",
            size + 10,
            size + 14
        )
    })
}

/// Diagnoses a frame that was read in one length mode although its envelope shows the other one.
fn other_length_mode(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<String> {
    let Head::Method {
        mode: Some(used), ..
    } = frame.head
    else {
        return None;
    };
    let measure = protocol.descriptor().hints.measure?;
    let Measured::Frame {
        mode: Some(reported),
        ..
    } = measure(frame.view.bytes, frame.framing, LengthMode::Auto)
    else {
        return None;
    };
    (reported != used).then(|| {
        let counts = if reported == LengthMode::Inclusive {
            "counts itself"
        } else {
            "does not count itself"
        };
        let name = reported.name();
        format!("by its envelope, the length {counts}: `length-mode {name}` or auto reads it")
    })
}

/// Returns another framing in which all bytes of a frame are messages of the protocol.
fn other_framing(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<Framing> {
    let framings = protocol.descriptor().framings.iter().copied();
    let mut others = framings
        .chain([Framing::Values, Framing::Http])
        .filter(|f| *f != frame.framing);
    others.find(|framing| reads_as(frame.view.bytes, *framing, protocol))
}

/// Returns `true` if all these bytes are messages of the protocol in this framing.
fn reads_as(bytes: &[u8], framing: Framing, protocol: &dyn Protocol) -> bool {
    let limits = Limits::default();
    let mut framer = protocol.framer(framing, limits, LengthMode::Auto, true);
    let mut parsed = Parsed::new(Want::Head, limits.depth);
    let (mut at, mut messages) = (0, 0);
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        match framer.step(rest, at as u64, true) {
            Step::Incomplete(_) | Step::Took(0) => return messages > 0,
            Step::Took(n) => at += n,
            Step::Frame(frame, n) => {
                at += n;
                if frame.fault.is_some() || frame.control == Some("skipped") {
                    return false;
                }
                if frame.control.is_some() {
                    continue;
                }
                let message = protocol.read(&frame, &Context::default(), &mut parsed);
                if !message.faults.is_empty() {
                    return false;
                }
                messages += u32::from(message.evidence > Evidence::None);
            }
        }
    }
}

/// Returns a cause that the first bytes show, if another format was expected, and the framing of that format.
pub(super) fn obvious_cause(frame: &Frame<'_>) -> Option<(&'static str, Option<Framing>)> {
    let (bytes, framing) = (frame.view.bytes, frame.framing);
    if matches!(framing, Framing::Http | Framing::WebSocket) {
        return None;
    }
    let binary = matches!(framing, Framing::Prefix | Framing::Method | Framing::Bare);
    let is = |words: &[&str]| words.iter().any(|w| bytes.starts_with(w.as_bytes()));
    if framing != Framing::ContentLength && is(&["Content-Length:"]) {
        return Some((
            "this is a Content-Length header",
            Some(Framing::ContentLength),
        ));
    }
    if is(&["GET ", "POST ", "PUT ", "HEAD ", "OPTIONS ", "HTTP/1."]) {
        return Some(("this is HTTP", Some(Framing::Http)));
    }
    if is(&["PRI * HTTP/2.0"]) {
        return Some(("this is HTTP/2, which gRPC uses too", None));
    }
    if bytes.starts_with(&[0x16, 3]) {
        return Some(("this is TLS: the bytes are encrypted", None));
    }
    if binary && is(&["{\"", "[{", "{ \""]) {
        return Some(("this is JSON where a binary frame was expected", None));
    }
    None
}

/// Compares the remarks of a hex dump with the fields, and reports differences.
pub(super) fn compare_metadata(
    metadata: &[Metadata],
    frame: &Frame<'_>,
    root: Option<Node<'_>>,
) -> Vec<String> {
    let mut remarks = Vec::new();
    for note in metadata {
        let SideEvent::Number { len, name, number } = &note.event else {
            continue;
        };
        let field =
            head_field(frame, note).or_else(|| root.and_then(|root| tape_field(root, frame, note)));
        let Some((got, big_endian)) = field else {
            continue;
        };
        if got == *number {
            continue;
        }
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.truncate((*len as usize).clamp(1, 8));
        if big_endian {
            bytes.reverse();
        }
        let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
        let hex = hex.join(" ");
        remarks.push(format!(
            "offset {}: the dump has {name} = {number}, which is {hex} in bytes; the bytes are {got}",
            note.offset
        ));
    }
    remarks
}

/// Returns the header field at the bytes of a remark, and `true` if it is big-endian.
fn head_field(frame: &Frame<'_>, note: &Metadata) -> Option<(u64, bool)> {
    let at = note.offset.checked_sub(frame.offset)?;
    match (frame.head, at) {
        (Head::Length(length), 0) if frame.framing == Framing::Prefix => {
            Some((length as u64, true))
        }
        (Head::Method { length, .. }, 0) => Some((length as u64, false)),
        (Head::Method { id, .. }, 4) => Some((id as u64, false)),
        _ => None,
    }
}

/// Returns the number in the message at the bytes of a remark.
fn tape_field(root: Node<'_>, frame: &Frame<'_>, note: &Metadata) -> Option<(u64, bool)> {
    let at = note.offset.checked_sub(frame.view.locate(0))?;
    let mut found = None;
    root.each(&mut |node| {
        if node.span().start as u64 == at && node.span().len > 0 {
            let number = match node.value() {
                Value::Scalar(Scalar::Str(text) | Scalar::Bin(text)) => Some(text.len() as i128),
                _ => node.as_i128(),
            };
            found = number.and_then(|n| u64::try_from(n).ok()).or(found);
        }
    });
    found.map(|n| (n, frame.framing == Framing::Prefix))
}
