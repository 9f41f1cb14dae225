//! The likely cause of a bad frame: it is read again under the neighbouring readings, and the one that makes it parse
//! is named.

use super::trial::{reads, reads_prefix_of};
use super::{Beside, Says, mend};
use crate::encoding::{Parsed, Want};
use crate::framing::{Frame, Framer, Framing, Head, LengthMode, Limits, Measured, Step};
use crate::protocol::{Context, Evidence, Protocol};
use crate::span::Span;
use crate::tape::{Node, Scalar, Value};

/// One sentence on why a frame may be bad, where another reading of its bytes is a message.
pub(super) fn diagnose(frame: &Frame<'_>, code: &str, protocol: &dyn Protocol) -> Option<String> {
    let bytes = frame.view.bytes;
    if let Some(hint) = sight(frame) {
        return Some(match other_framing(frame, protocol) {
            Some(framing) => format!("{hint}: --framing {} reads it", framing.name()),
            None => hint.into(),
        });
    }
    let printable = |bytes: &[u8]| {
        bytes
            .iter()
            .all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace())
    };
    // Bytes that were passed over in the search for a frame.
    let passed = matches!(frame.framing, Framing::Prefix | Framing::Method)
        && matches!(frame.head, Head::None);
    if passed && bytes.ends_with(b"\n") && printable(bytes) {
        return Some("this is text, such as a log line".into());
    }
    let reads = |body: Span| reads(frame, body, protocol);
    let after_line = || {
        let end = memchr::memchr(b'\n', bytes)? + 1;
        printable(bytes.get(..end)?).then_some(end)
    };
    match frame.framing {
        Framing::Prefix => {
            let head = *bytes.first_chunk::<4>()?;
            let (big, little) = (
                u32::from_be_bytes(head) as usize,
                u32::from_le_bytes(head) as usize,
            );
            if matches!(frame.head, Head::Length(_))
                && (5..=bytes.len()).contains(&big)
                && reads(Span::new(4, big))
            {
                return Some(format!(
                    "the length counts itself: {} would be right",
                    big - 4
                ));
            }
            if big == bytes.len() && code == "truncated" && reads(Span::new(4, bytes.len())) {
                return Some(format!(
                    "the length counts itself: {} would be right",
                    bytes.len() - 4
                ));
            }
            if little < Limits::default().message as usize
                && little > 0
                && reads(Span::new(4, 4 + little))
            {
                return Some(format!(
                    "the length is little-endian: {little} as it stands, big-endian is wanted"
                ));
            }
            if let Some(hint) = wrong_length(frame, code, protocol) {
                return Some(hint);
            }
            if reads_prefix_of(frame, 0, protocol) {
                return Some(
                    "the length prefix is missing: a message begins at its first byte".into(),
                );
            }
            let end = after_line()?;
            let length = bytes
                .get(end..)?
                .first_chunk::<4>()
                .map(|h| u32::from_be_bytes(*h) as usize)?;
            let body = Span::new(end + 4, (end + 4).checked_add(length)?);
            reads(body).then(|| {
                format!("{end} bytes of text stand before the frame: a log line on the wire?")
            })
        }
        Framing::Method => {
            if let Some(hint) = other_flavour(frame, protocol) {
                return Some(hint);
            }
            if let Some(hint) = passed_envelope(frame) {
                return Some(hint);
            }
            let head = *bytes.first_chunk::<4>()?;
            let big = u32::from_be_bytes(head) as usize;
            (big == bytes.len() || big + 4 == bytes.len()).then(|| {
                format!("the length is big-endian: {big} as it stands, little-endian is wanted")
            })
        }
        Framing::Http if matches!(frame.head, Head::None) => {
            let framing = other_framing(frame, protocol)?;
            Some(format!("--framing {} reads it", framing.name()))
        }
        Framing::WebSocket if code == "truncated" => {
            let len = mend::cut_off(frame, protocol)?;
            Some(format!(
                "the message is complete: a length of {len} would be right"
            ))
        }
        Framing::Lines => {
            let body = frame.view.body();
            let head = *body.first_chunk::<4>()?;
            let length = u32::from_be_bytes(head) as usize;
            (body.get(4) == Some(&b'{') && length <= body.len())
                .then(|| "a length prefix before the JSON: one message a line is wanted, nothing before it".into())
        }
        _ => None,
    }
}

/// A length that its message gives the lie.
fn wrong_length(frame: &Frame<'_>, code: &str, protocol: &dyn Protocol) -> Option<String> {
    let bytes = frame.view.bytes;
    let right = |said: usize, len: usize| {
        format!("the length says {said}; {len} would be right: the message ends there")
    };
    if let Head::Length(said) = frame.head {
        let (said, len) = (said as usize, mend::measured(frame, protocol)?);
        let all = 4 + len == bytes.len();
        return Some(match code {
            "bad-length" => right(said, len),
            "truncated" if all => right(said, len),
            _ => format!("the length says {said}, the message takes {len} bytes"),
        });
    }
    // Passed over, from a length above the limit to where the next frame begins or the stream ends.
    let said = u32::from_be_bytes(*bytes.first_chunk::<4>()?) as usize;
    let body = Span::new(4, bytes.len());
    let begins = protocol.descriptor().hints.plausible?;
    let begins = || {
        bytes
            .get(1..)
            .is_some_and(|rest| begins(&[&[0], rest].concat()))
    };
    let wrong = code == "over-limit" && said != body.len as usize;
    let is_message = wrong && begins() && reads(frame, body, protocol);
    is_message.then(|| right(said, body.len as usize))
}

/// Bytes that were passed over for their length, up to where the next frame begins or the stream ends, and whose
/// envelope ends there, too.
fn passed_envelope(frame: &Frame<'_>) -> Option<String> {
    let bytes = frame.view.bytes;
    let size = bytes
        .get(10..14)
        .filter(|_| matches!(frame.head, Head::None))?;
    let size = u32::from_le_bytes(*size.first_chunk::<4>()?) as usize;
    let said = u32::from_le_bytes(*bytes.first_chunk::<4>()?) as usize;
    let ends = size.checked_add(14)? == bytes.len();
    (ends && said != size + 10 && said != size + 14).then(|| {
        format!(
            "payload_size {size} is right; the length would be {} with it, or {} where it counts itself",
            size + 10,
            size + 14
        )
    })
}

/// A frame that was read in one flavour of length, and whose envelope says that it is of the other.
fn other_flavour(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<String> {
    let Head::Method {
        mode: Some(used), ..
    } = frame.head
    else {
        return None;
    };
    let measure = protocol.descriptor().hints.measure?;
    let Measured::Frame {
        mode: Some(told), ..
    } = measure(frame.view.bytes, frame.framing, LengthMode::Auto)
    else {
        return None;
    };
    (told != used).then(|| {
        let counts = if told == LengthMode::Inclusive {
            "counts itself"
        } else {
            "does not count itself"
        };
        let name = told.name();
        format!("by its envelope, the length {counts}: --length-mode {name} or auto reads it")
    })
}

/// Another framing in which all of a frame's bytes are messages of the protocol.
fn other_framing(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<Framing> {
    let framings = protocol.descriptor().framings.iter().copied();
    let mut others = framings
        .chain([Framing::Values, Framing::Http])
        .filter(|f| *f != frame.framing);
    others.find(|framing| reads_as(frame.view.bytes, *framing, protocol))
}

/// Whether all of these bytes are messages of the protocol in that framing.
fn reads_as(bytes: &[u8], framing: Framing, protocol: &dyn Protocol) -> bool {
    let limits = Limits::default();
    let mut framer = Framer::new(
        framing,
        limits,
        protocol.descriptor().hints,
        LengthMode::Auto,
        true,
    );
    let mut parsed = Parsed::new(Want::Head, limits.depth);
    let (mut at, mut messages) = (0, 0);
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        match framer.next(rest, at as u64, true) {
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

/// What bytes tell at sight where something else was expected.
pub(super) fn sight(frame: &Frame<'_>) -> Option<&'static str> {
    let (bytes, framing) = (frame.view.bytes, frame.framing);
    if matches!(framing, Framing::Http | Framing::WebSocket) {
        return None;
    }
    let binary = matches!(framing, Framing::Prefix | Framing::Method | Framing::Bare);
    let is = |words: &[&str]| words.iter().any(|w| bytes.starts_with(w.as_bytes()));
    if is(&["Content-Length:"]) {
        return Some("a Content-Length header as editors use it: no peer of this protocol does");
    }
    if is(&["GET ", "POST ", "PUT ", "HEAD ", "OPTIONS ", "HTTP/1."]) {
        return Some("this is HTTP");
    }
    if bytes.starts_with(&[0x16, 3]) {
        return Some("this is TLS: the bytes are encrypted");
    }
    if binary && is(&["{\"", "[{", "{ \""]) {
        return Some("this is JSON where a binary frame was expected");
    }
    None
}

/// What a hex dump says beside the bytes of a field, where the field says otherwise.
pub(super) fn compare(beside: &[Beside], frame: &Frame<'_>, root: Option<Node<'_>>) -> Vec<String> {
    let mut remarks = Vec::new();
    for note in beside {
        let Says::Number { len, name, number } = &note.says else {
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
            "offset {}: the dump says {name} = {number}, which would be {hex}; the bytes say {got}",
            note.offset
        ));
    }
    remarks
}

/// A field of the frame's header that begins at the remark's bytes, and whether it is big-endian.
fn head_field(frame: &Frame<'_>, note: &Beside) -> Option<(u64, bool)> {
    let at = note.offset.checked_sub(frame.offset)?;
    match (frame.head, at) {
        (Head::Length(length), 0) => Some((length as u64, true)),
        (Head::Method { length, .. }, 0) => Some((length as u64, false)),
        (Head::Method { id, .. }, 4) => Some((id as u64, false)),
        _ => None,
    }
}

/// A number in the message that begins at the remark's bytes.
fn tape_field(root: Node<'_>, frame: &Frame<'_>, note: &Beside) -> Option<(u64, bool)> {
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
