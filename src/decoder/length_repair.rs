//! Repairs a length that contradicts its message: finds the real end of the frame.
//!
//! ```text
//!   00 00 00 58 | 8a a2 69 64 ... | 00 00 00 | 64 8a ...
//!   length 88     85 of message     the start of the next frame
//! ```
//!
//! Too long: the frame is cut at the end of its message if a frame starts there, and reading
//! continues with that. Sometimes a few more bytes are needed; they are waited for only if the
//! present ones can start a frame. Too short: the frame ends early, the rest of its message is
//! skipped, and the report names the message that it belongs to. A WebSocket message in one frame
//! is cut or completed if a frame starts after its real end.

use super::message::is_message;
use crate::encoding;
use crate::error::DecodeError;
use crate::framing::{
    Fault, Frame, FrameStart, Framing, Head, Limits, PLAUSIBLE, Places, View, WebSocketHeader,
    frame_start, starts_block, unmask,
};
use crate::protocol::Protocol;
use crate::span::Span;

/// The start of the hint for bytes that are the rest of a frame with a wrong length. The text after it is about that
/// frame.
pub(crate) const REST_OF_PREVIOUS: &str = "these bytes end the previous message: ";

/// The maximum length of a frame that is stored to find its rest.
const MAX_STORED: usize = 64 << 10;

/// Returns the length of the message at the start of a frame's body, if it differs from that of the
/// body.
pub(super) fn message_length(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<usize> {
    let Head::Length(declared) = frame.head else {
        return None;
    };
    let len = encoding::measure(frame.view.body(), Limits::default().depth).ok()??;
    let begins = match frame.framing {
        Framing::ContentLength => true,
        _ => protocol.descriptor().hints.plausible?(frame.view.bytes),
    };
    let start = frame.view.body.at();
    let body = Span::new(start, start + len);
    let is_message = || begins && is_message(frame, body, protocol);
    (len as u64 != u64::from(declared) && is_message()).then_some(len)
}

/// The outcome of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameOutcome {
    /// Framing found no error.
    Good,
    /// Framing found an error.
    Bad,
    /// The message is longer than the frame.
    Short,
    /// Not emitted: the message has this length, which differs from the frame's.
    WrongLength(usize),
    /// Not emitted: more bytes are needed to check its length.
    Wait,
}

/// Checks a frame's length, with the window at its start and `true` if that is all; `None` if the frame stays.
pub(super) fn length_outcome(
    frame: &Frame<'_>,
    repair: Option<(&[u8], bool)>,
    protocol: &dyn Protocol,
) -> Option<FrameOutcome> {
    let (window, eof) = repair?;
    match check_length(frame, window, eof, protocol) {
        Repair::No => None,
        Repair::Wait => Some(FrameOutcome::Wait),
        Repair::At(len) => Some(FrameOutcome::WrongLength(len)),
    }
}

/// The result of a length check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Repair {
    /// Keep the frame: no frame starts at the end of the message.
    No,
    /// More bytes are needed: the bytes after the message may start a frame.
    Wait,
    /// The message has this length, and a frame starts after it.
    At(usize),
}

/// Checks the length of a frame, the first of the window.
fn check_length(frame: &Frame<'_>, window: &[u8], eof: bool, protocol: &dyn Protocol) -> Repair {
    if frame.framing == Framing::WebSocket {
        return check_websocket_length(frame, window, eof, protocol);
    }
    let Some(len) = message_length(frame, protocol) else {
        return match frame.framing {
            Framing::ContentLength => inner_header(frame, window, eof),
            _ => Repair::No,
        };
    };
    let end = frame.view.body.at() + len;
    let behind = window.get(end..).unwrap_or_default();
    if frame.view.bytes.len() <= end {
        return Repair::No;
    }
    let begins = match frame.framing {
        Framing::ContentLength => Some(starts_block as fn(&[u8]) -> bool),
        _ => protocol.descriptor().hints.plausible,
    };
    if behind.len() >= PLAUSIBLE || eof {
        let begins = begins.is_some_and(|begins| begins(behind));
        return if begins { Repair::At(len) } else { Repair::No };
    }
    if frame.framing == Framing::ContentLength {
        return if may_start_block(behind) {
            Repair::Wait
        } else {
            Repair::No
        };
    }
    let mut length = [0; 4];
    length
        .iter_mut()
        .zip(behind)
        .for_each(|(to, from)| *to = *from);
    if u32::from_be_bytes(length) <= Limits::default().message {
        Repair::Wait
    } else {
        Repair::No
    }
}

/// Finds a header block inside a body that is no message: the body ends there, too early.
fn inner_header(frame: &Frame<'_>, window: &[u8], eof: bool) -> Repair {
    let body = frame.view.body();
    if !matches!(frame.head, Head::Length(_))
        || matches!(
            encoding::measure(body, Limits::default().depth),
            Ok(Some(_))
        )
    {
        return Repair::No;
    }
    for at in memchr::memchr2_iter(b'c', b'C', body).filter(|at| *at > 0) {
        let rest = window.get(frame.view.body.at() + at..).unwrap_or_default();
        if rest.len() < PLAUSIBLE && !eof && may_start_block(rest) {
            return Repair::Wait;
        }
        if !starts_block(rest) {
            continue;
        }
        match frame_start(rest) {
            FrameStart::Header(len, Some(_)) => match rest.get(len) {
                Some(b'{') => return Repair::At(at),
                None if eof => return Repair::At(at),
                None => return Repair::Wait,
                Some(_) => {}
            },
            FrameStart::Partial if !eof => return Repair::Wait,
            _ => {}
        }
    }
    Repair::No
}

/// Returns `true` if few bytes may be the start of a header block.
fn may_start_block(bytes: &[u8]) -> bool {
    let start = b"content-length: 0".get(..bytes.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(bytes))
}

/// Checks the length of a WebSocket message in one frame.
fn check_websocket_length(
    frame: &Frame<'_>,
    window: &[u8],
    eof: bool,
    protocol: &dyn Protocol,
) -> Repair {
    let Head::WebSocket {
        compressed: false,
        fragments: 1,
        ..
    } = frame.head
    else {
        return Repair::No;
    };
    let body = frame.view.body();
    let plain = frame.control.is_none() && frame.fault.is_none() && !body.is_empty();
    let Some(header) = WebSocketHeader::read(window).ok().filter(|_| plain) else {
        return Repair::No;
    };
    let follows = |len: usize| {
        let behind = window.get(header.size + len..).unwrap_or_default();
        match WebSocketHeader::plausible(behind, Some(header.mask.is_some())) {
            None if eof && behind.is_empty() => Repair::At(len),
            None if !eof => Repair::Wait,
            Some(true) => Repair::At(len),
            _ => Repair::No,
        }
    };
    match encoding::measure(body, Limits::default().depth) {
        Ok(Some(len)) if body.get(len..).unwrap_or_default().trim_ascii().is_empty() => Repair::No,
        Ok(Some(len))
            if is_message(
                frame,
                Span::new(frame.view.body.at(), frame.view.body.at() + len),
                protocol,
            ) =>
        {
            follows(len)
        }
        Ok(None) => match follows(body.len()) {
            // A frame starts at the end by the length: the message itself is too short.
            Repair::At(_) => Repair::No,
            Repair::Wait => Repair::Wait,
            Repair::No => {
                let all = window.get(header.size..).unwrap_or_default();
                let all = all.get(..body.len() + MAX_STORED).unwrap_or(all);
                let mut plain = Vec::with_capacity(all.len());
                unmask(all, header.mask, &mut plain);
                match encoding::measure(&plain, Limits::default().depth) {
                    Ok(Some(len)) => follows(len),
                    Ok(None) if !eof && all.len() < body.len() + MAX_STORED => Repair::Wait,
                    _ => Repair::No,
                }
            }
        },
        _ => Repair::No,
    }
}

/// Returns the length of a WebSocket message in one frame at the end of the stream, if the message
/// is complete and only its length is wrong.
pub(super) fn actual_length(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<usize> {
    let Head::WebSocket {
        compressed: false,
        fragments: 1,
        ..
    } = frame.head
    else {
        return None;
    };
    let body = frame.view.body();
    let whole = encoding::measure(body, Limits::default().depth).ok()? == Some(body.len());
    (whole && is_message(frame, frame.view.body, protocol)).then_some(body.len())
}

/// Returns the frame with its real length, from the window at its start. `body` is a buffer for the
/// new message.
pub(super) fn repaired<'a>(
    frame: &Frame<'a>,
    window: &'a [u8],
    len: usize,
    body: &'a mut Vec<u8>,
) -> Frame<'a> {
    let (Framing::WebSocket, Ok(header)) = (frame.framing, WebSocketHeader::read(window)) else {
        return shortened(frame, len);
    };
    let end = (header.size + len).min(window.len());
    let payload = window.get(header.size..end).unwrap_or_default();
    unmask(payload, header.mask, body);
    let error = DecodeError::new(
        "bad-length",
        Span::new(0, header.size),
        "length",
        len.to_string(),
        header.len.to_string(),
    );
    let behind = if end < window.len() {
        "another frame begins there"
    } else {
        "the stream ends there"
    };
    Frame {
        len: end as u64,
        view: View {
            bytes: body,
            body: Span::new(0, body.len()),
            places: Places::Run(frame.offset + header.size as u64),
        },
        fault: Some(Fault {
            offset: frame.offset,
            error: error
                .hint(format!("the message ends after {len} bytes, and {behind}"))
                .into(),
        }),
        ..frame.clone()
    }
}

/// Returns the frame, cut to `len` bytes of message.
fn shortened<'a>(frame: &Frame<'a>, len: usize) -> Frame<'a> {
    let declared = match frame.head {
        Head::Length(declared) => declared,
        _ => 0,
    };
    let start = frame.view.body.at();
    let end = start + len;
    let body = Span::new(start, end).of(frame.view.bytes);
    let is_whole = matches!(
        encoding::measure(body, Limits::default().depth),
        Ok(Some(_))
    );
    let error = if is_whole {
        DecodeError::new(
            "bad-length",
            Span::new(0, start),
            "length",
            len.to_string(),
            declared.to_string(),
        )
    } else {
        let wanted = format!("{declared} bytes after the header");
        let got = format!("{len} bytes before the next header");
        let span = Span::new(0, start);
        let at = frame.offset + end as u64;
        DecodeError::new("ends-early", span, "Content-Length", wanted, got).hint(format!(
            "the body is cut: a header begins inside of it, at offset {at}"
        ))
    };
    Frame {
        len: end as u64,
        view: View {
            bytes: frame.view.bytes.get(..end).unwrap_or(frame.view.bytes),
            body: Span::new(start, end),
            ..frame.view
        },
        fault: Some(Fault {
            offset: frame.offset,
            error: error.into(),
        }),
        ..frame.clone()
    }
}

/// A frame whose length was wrong, for the report of the bytes after it.
pub(super) enum WrongFrame {
    /// It ended before its message: its offset, its bytes, and the start of its body in them.
    Short(u64, Vec<u8>, usize),
    /// It was cut at the end of its message: its real end, and the end by its length.
    Long(u64, u64),
}

impl WrongFrame {
    pub(super) fn short(frame: &Frame<'_>) -> Option<Self> {
        let bytes = frame.view.bytes;
        let is_stored = bytes.len() <= MAX_STORED && matches!(frame.head, Head::Length(_));
        is_stored.then(|| Self::Short(frame.offset, bytes.to_vec(), frame.view.body.at()))
    }

    /// A frame that was cut. Readers of header blocks do not find the next one.
    pub(super) fn long(frame: &Frame<'_>, cut: &Frame<'_>) -> Option<Self> {
        let Head::Length(length) = frame.head else {
            return None;
        };
        let end = frame.offset + frame.view.body.at() as u64 + u64::from(length);
        let is_found = frame.framing != Framing::ContentLength;
        (!is_found).then_some(Self::Long(cut.offset + cut.len, end))
    }

    /// Returns the next frame with what it has to do with this one, if there is something to report.
    pub(super) fn explain<'a>(
        &self,
        next: &Frame<'a>,
        protocol: &dyn Protocol,
    ) -> Option<Frame<'a>> {
        match self {
            Self::Short(offset, bytes, start) => {
                let hint = rest_of((*offset, bytes, *start), next, protocol)?;
                with_hint(next, hint)
            }
            Self::Long(at, end) => {
                if next.offset != *at || next.fault.is_some() {
                    return None;
                }
                let span = Span::new(0, next.view.body.at());
                let wanted = format!("a header at offset {end}, where the length before ends");
                let error = DecodeError::new("bad-length", span, "header", wanted, "this one");
                let error = error.hint("a reader that trusts the length before does not find it");
                let fault = Some(Fault {
                    offset: *at,
                    error: error.into(),
                });
                Some(Frame {
                    fault,
                    ..next.clone()
                })
            }
        }
    }
}

/// Returns a hint for bytes that are not a frame, if they are the rest of a short frame.
fn rest_of(
    (offset, bytes, start): (u64, &[u8], usize),
    rest: &Frame<'_>,
    protocol: &dyn Protocol,
) -> Option<String> {
    let here = offset + bytes.len() as u64;
    let fits = rest.offset == here && rest.fault.is_some() && matches!(rest.head, Head::None);
    if !fits || rest.view.bytes.len() > MAX_STORED {
        return None;
    }
    let declared = bytes.len() - start;
    let bytes = [bytes, rest.view.bytes].concat();
    let whole = Frame {
        offset,
        len: bytes.len() as u64,
        head: Head::Length(declared as u32),
        view: View {
            bytes: &bytes,
            body: Span::new(start, bytes.len()),
            ..rest.view
        },
        fault: None,
        ..rest.clone()
    };
    let len = message_length(&whole, protocol)?;
    let rest = bytes.get(start + len..)?;
    if !rest.trim_ascii().is_empty() {
        return None;
    }
    let text = std::str::from_utf8(bytes.get(start..start + len)?).unwrap_or_default();
    let counts = if text.chars().count() == declared || text.encode_utf16().count() == declared {
        "; it counts characters instead of bytes"
    } else {
        ""
    };
    Some(format!(
        "{REST_OF_PREVIOUS}its length, at offset {offset}, is {declared}, but should be {len}{counts}"
    ))
}

/// Returns the frame with another hint in its fault.
fn with_hint<'a>(frame: &Frame<'a>, hint: String) -> Option<Frame<'a>> {
    let mut frame = frame.clone();
    frame.fault.as_mut()?.error.hint = Some(hint.into());
    Some(frame)
}
