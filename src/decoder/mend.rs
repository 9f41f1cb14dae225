//! A length that its own message gives the lie: where the frame ends instead.
//!
//! ```text
//!   00 00 00 58 | 8a a2 69 64 ... | 00 00 00 | 64 8a ...
//!   says 88       85 of message     the beginning of the next frame
//! ```
//!
//! Too long: the frame is cut where its message ends, if a frame begins there, and reading goes on with that. A few
//! bytes more may be needed to see it; they are waited for only where those at hand can be the beginning of a frame. Too
//! short: the frame ends early, what is left of it is passed over, and says of what it is the end. A WebSocket message
//! in one frame is cut or completed, where a frame begins behind what it should have been.

use super::trial::reads;
use crate::encoding;
use crate::error::DecodeError;
use crate::framing::{
    Fault, Frame, Framing, Head, Limits, PLAUSIBLE, Places, View, WebSocketHeader, unmask,
};
use crate::protocol::Protocol;
use crate::span::Span;

/// Longest frame that is kept to see what ends it.
const KEPT: usize = 64 << 10;

/// The length of the message at the start of a frame's body, where that is not the body's.
pub(super) fn measured(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<usize> {
    let (Framing::Prefix, Head::Length(said)) = (frame.framing, frame.head) else {
        return None;
    };
    let len = encoding::measure(frame.view.body(), Limits::default().depth).ok()??;
    let begins = protocol.descriptor().hints.plausible?;
    let body = Span::new(4, 4 + len);
    let is_message = || begins(frame.view.bytes) && reads(frame, body, protocol);
    (len as u64 != u64::from(said) && is_message()).then_some(len)
}

/// What to do about a frame's length.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Nothing: where the message ends, no frame begins.
    No,
    /// More bytes will tell: what is behind the message may be the beginning of a frame.
    Wait,
    /// The message is so long, and a frame begins behind it.
    At(usize),
}

/// Whether a frame, the first of the window, should be cut.
pub(super) fn cut(frame: &Frame<'_>, window: &[u8], eof: bool, protocol: &dyn Protocol) -> Cut {
    if frame.framing == Framing::WebSocket {
        return rewritten(frame, window, eof, protocol);
    }
    let Some(len) = measured(frame, protocol) else {
        return Cut::No;
    };
    let rest = |bytes: &[u8]| bytes.get(4 + len..).is_some_and(|rest| !rest.is_empty());
    let behind = window.get(4 + len..).unwrap_or_default();
    if !rest(frame.view.bytes) {
        return Cut::No;
    }
    if behind.len() >= PLAUSIBLE || eof {
        let begins = protocol
            .descriptor()
            .hints
            .plausible
            .is_some_and(|p| p(behind));
        return if begins { Cut::At(len) } else { Cut::No };
    }
    let mut length = [0; 4];
    length
        .iter_mut()
        .zip(behind)
        .for_each(|(to, from)| *to = *from);
    if u32::from_be_bytes(length) <= Limits::default().message {
        Cut::Wait
    } else {
        Cut::No
    }
}

/// What to do about a WebSocket message in one frame.
fn rewritten(frame: &Frame<'_>, window: &[u8], eof: bool, protocol: &dyn Protocol) -> Cut {
    let Head::WebSocket {
        compressed: false,
        fragments: 1,
        ..
    } = frame.head
    else {
        return Cut::No;
    };
    let body = frame.view.body();
    let plain = frame.control.is_none() && frame.fault.is_none() && !body.is_empty();
    let Some(header) = WebSocketHeader::read(window).ok().filter(|_| plain) else {
        return Cut::No;
    };
    let follows = |len: usize| {
        let behind = window.get(header.size + len..).unwrap_or_default();
        match WebSocketHeader::plausible(behind, Some(header.mask.is_some())) {
            None if eof && behind.is_empty() => Cut::At(len),
            None if !eof => Cut::Wait,
            Some(true) => Cut::At(len),
            _ => Cut::No,
        }
    };
    match encoding::measure(body, Limits::default().depth) {
        Ok(Some(len)) if body.get(len..).unwrap_or_default().trim_ascii().is_empty() => Cut::No,
        Ok(Some(len))
            if reads(
                frame,
                Span::new(frame.view.body.at(), frame.view.body.at() + len),
                protocol,
            ) =>
        {
            follows(len)
        }
        Ok(None) => match follows(body.len()) {
            // A frame begins where its length says: the message is too short by itself.
            Cut::At(_) => Cut::No,
            Cut::Wait => Cut::Wait,
            Cut::No => {
                let all = window.get(header.size..).unwrap_or_default();
                let all = all.get(..body.len() + KEPT).unwrap_or(all);
                let mut plain = Vec::with_capacity(all.len());
                unmask(all, header.mask, &mut plain);
                match encoding::measure(&plain, Limits::default().depth) {
                    Ok(Some(len)) => follows(len),
                    Ok(None) if !eof && all.len() < body.len() + KEPT => Cut::Wait,
                    _ => Cut::No,
                }
            }
        },
        _ => Cut::No,
    }
}

/// The length of a WebSocket message in one frame at the end of the stream, where all of it is there and only the length
/// says otherwise.
pub(super) fn cut_off(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<usize> {
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
    (whole && reads(frame, frame.view.body, protocol)).then_some(body.len())
}

/// The frame as it should have been, from the window that it begins; `body` is room for a message of another length.
pub(super) fn mended<'a>(
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

/// The frame, cut.
fn shortened<'a>(frame: &Frame<'a>, len: usize) -> Frame<'a> {
    let said = match frame.head {
        Head::Length(said) => said,
        _ => 0,
    };
    let end = 4 + len;
    let error = DecodeError::new(
        "bad-length",
        Span::new(0, 4),
        "length",
        len.to_string(),
        said.to_string(),
    );
    Frame {
        len: end as u64,
        view: View {
            bytes: frame.view.bytes.get(..end).unwrap_or(frame.view.bytes),
            body: Span::new(4, end),
            ..frame.view
        },
        fault: Some(Fault {
            offset: frame.offset,
            error: error.into(),
        }),
        ..frame.clone()
    }
}

/// A frame that ended early.
pub(super) struct Early {
    offset: u64,
    bytes: Vec<u8>,
}

impl Early {
    pub(super) fn new(frame: &Frame<'_>) -> Option<Self> {
        let bytes = frame.view.bytes;
        let kept = bytes.len() <= KEPT && matches!(frame.head, Head::Length(_));
        kept.then(|| Self {
            offset: frame.offset,
            bytes: bytes.to_vec(),
        })
    }

    /// What is to be said of bytes that are no frame, where they are the end of this one.
    pub(super) fn ended_by(mut self, rest: &Frame<'_>, protocol: &dyn Protocol) -> Option<String> {
        let here = self.offset + self.bytes.len() as u64;
        let fits = rest.offset == here && rest.fault.is_some() && matches!(rest.head, Head::None);
        if !fits || rest.view.bytes.len() > KEPT {
            return None;
        }
        let said = self.bytes.len() - 4;
        self.bytes.extend_from_slice(rest.view.bytes);
        let whole = Frame {
            offset: self.offset,
            len: self.bytes.len() as u64,
            head: Head::Length(said as u32),
            view: View {
                bytes: &self.bytes,
                body: Span::new(4, self.bytes.len()),
                ..rest.view
            },
            fault: None,
            ..rest.clone()
        };
        let len = measured(&whole, protocol).filter(|len| 4 + len == self.bytes.len())?;
        let offset = self.offset;
        Some(format!(
            "these bytes end the message before: its length, at offset {offset}, says {said}; {len} would be right"
        ))
    }
}

/// The frame, with another hint beside its fault.
pub(super) fn hinted<'a>(frame: &Frame<'a>, hint: String) -> Option<Frame<'a>> {
    let mut frame = frame.clone();
    frame.fault.as_mut()?.error.hint = Some(hint.into());
    Some(frame)
}
