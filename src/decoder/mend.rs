//! A length that its own message gives the lie: where the frame ends instead.
//!
//! ```text
//!   00 00 00 58 | 8a a2 69 64 ... | 00 00 00 | 64 8a ...
//!   says 88       85 of message     the beginning of the next frame
//! ```
//!
//! Too long: the frame is cut where its message ends, if a frame begins there, and reading goes on with that. A few
//! bytes more may be needed to see it; they are waited for only where those at hand can be the beginning of a frame. Too
//! short: the frame ends early, what is left of it is passed over, and says of what it is the end.

use super::doctor::reads;
use crate::encoding::msgpack;
use crate::error::DecodeError;
use crate::framing::{Fault, Frame, Framing, Head, Limits, PLAUSIBLE, View};
use crate::protocol::Protocol;
use crate::span::Span;

/// Longest frame that is kept to see what ends it.
const KEPT: usize = 64 << 10;

/// The length of the message at the start of a frame's body, where that is not the body's.
pub(super) fn measured(frame: &Frame<'_>, protocol: &dyn Protocol) -> Option<usize> {
    let (Framing::Prefix, Head::Length(said)) = (frame.framing, frame.head) else {
        return None;
    };
    let len = msgpack::measure(frame.view.body(), Limits::default().depth).ok()??;
    let begins = protocol.hints().plausible?;
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
    let Some(len) = measured(frame, protocol) else {
        return Cut::No;
    };
    let rest = |bytes: &[u8]| bytes.get(4 + len..).is_some_and(|rest| !rest.is_empty());
    let behind = window.get(4 + len..).unwrap_or_default();
    if !rest(frame.view.bytes) {
        return Cut::No;
    }
    if behind.len() >= PLAUSIBLE || eof {
        let begins = protocol.hints().plausible.is_some_and(|p| p(behind));
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

/// The frame, cut.
pub(super) fn shortened<'a>(frame: &Frame<'a>, len: usize) -> Frame<'a> {
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
