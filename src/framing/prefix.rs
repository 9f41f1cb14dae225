//! A big-endian u32 length before each message.
//!
//! ```text
//!   00 00 00 1a | 82 a2 69 64 ...
//!   length 26     26 bytes of body; the prefix does not count itself
//! ```

use super::resync::Resync;
use super::{Buffer, Framing, Head, Hints, Step, Wire};
use crate::error::DecodeError;
use crate::span::Span;

pub(super) struct Prefix {
    resync: Resync,
    plausible: Option<fn(&[u8]) -> bool>,
}

impl Prefix {
    pub(super) fn new(hints: Hints) -> Self {
        Self {
            resync: Resync::new(Framing::Prefix, hints.plausible),
            plausible: hints.plausible,
        }
    }

    /// Skips to the next frame.
    pub(super) fn seek(&mut self) {
        self.resync.seek();
    }

    /// Returns `true` if nothing is known about the bytes that follow.
    pub(super) fn is_like_new(&self) -> bool {
        self.resync.is_like_new()
    }

    /// Returns `true` if a frame starts at the start of the window.
    pub(super) fn is_between(&self) -> bool {
        self.resync.is_between()
    }

    pub(super) fn next<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        if self.resync.is_active() {
            match self.resync.next(input) {
                Step::Took(0) => {}
                step => return step,
            }
        }
        let Buffer {
            window,
            eof,
            limits,
            ..
        } = input;
        if window.is_empty() {
            return Step::Incomplete(None);
        }
        let Some(head) = window.first_chunk::<4>() else {
            if !eof {
                return Step::Incomplete(Some(4 - window.len() as u64));
            }
            let mut frame = input.frame(
                Framing::Prefix,
                Head::None,
                Span::new(window.len(), window.len()),
                window.len(),
            );
            frame.fault = Some(input.truncated("length", "4 bytes of length".into(), window.len()));
            return Step::Frame(frame, window.len());
        };
        let length = u32::from_be_bytes(*head);
        if length > limits.message {
            let error = DecodeError::new(
                "over-limit",
                Span::new(0, 4),
                "length",
                format!("at most {} bytes", limits.message),
                length.to_string(),
            );
            return self.resync.start(input, error);
        }
        let total = 4 + length as usize;
        let end = total.min(window.len());
        if end < total && !eof {
            return Step::Incomplete(Some((total - end) as u64));
        }
        if end < total && input.resync && self.starts_inside(window) {
            let error = DecodeError::new(
                "bad-length",
                Span::new(0, 4),
                "length",
                format!("at most {} bytes, the rest of the input", window.len() - 4),
                length.to_string(),
            );
            return self.resync.start(input, error);
        }
        let mut frame = input.frame(
            Framing::Prefix,
            Head::Length(length),
            Span::new(4, end),
            end,
        );
        if end < total {
            frame.fault = Some(input.truncated(
                "length",
                format!("{length} bytes after the prefix"),
                end - 4,
            ));
        }
        Step::Frame(frame, end)
    }

    /// Returns `true` if no frame starts at the start of the window but one starts later, as in a
    /// capture that starts inside a frame.
    fn starts_inside(&self, window: &[u8]) -> bool {
        let later =
            |p: fn(&[u8]) -> bool| (1..window.len()).any(|at| window.get(at..).is_some_and(p));
        self.plausible.is_some_and(|p| !p(window) && later(p))
    }
}

/// Writes a frame. The length is correct unless `wire` has another.
pub(super) fn write(body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
    let right = (wire.header.len() + body.len()) as u32;
    out.extend_from_slice(&wire.length.unwrap_or(right).to_be_bytes());
    wire.payload(body, out);
}

/// Records the length of a frame if it is not correct.
pub(super) fn describe(raw: &[u8], length: u32, wire: &mut Wire) {
    wire.length = (length as usize + 4 != raw.len()).then_some(length);
}
