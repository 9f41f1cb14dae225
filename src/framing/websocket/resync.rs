//! Finds the next complete message after missing bytes, or after bytes that are not frames.
//!
//! ```text
//!   ... 6f 22 7d | 81 fe 00 7f  37 fa 21 3d  4c d8 ...
//!   passed over  | a header     mask         "{\"...", which ends at its length
//! ```

use super::{RUN, WebSocketFraming, WebSocketHeader};
use crate::encoding::{json, msgpack};
use crate::error::DecodeError;
use crate::framing::assembly::unmask;
use crate::framing::values::{HEADER, is_header};
use crate::framing::{Buffer, Framing, Head, Limits, Step};
use crate::span::Span;

/// The progress of the search.
#[derive(Default)]
pub(in super::super) struct WebSocketResync {
    searched: usize,
    /// The length of the window that was too short for a message; searched again when it has grown
    /// by an eighth.
    short: usize,
    /// The error of the first skipped bytes.
    error: Option<DecodeError>,
    /// An unmasked payload.
    plain: Vec<u8>,
}

/// The result of a test for the start of a message.
enum StartCheck {
    Yes,
    No,
    /// More bytes are needed.
    Unknown,
}

impl WebSocketResync {
    /// Returns the next skipped bytes, and `true` if a message starts after them or at once.
    pub(super) fn next<'a>(
        &mut self,
        input: Buffer<'a>,
        masked: Option<bool>,
    ) -> (Option<Step<'a>>, bool) {
        let Buffer { window, eof, .. } = input;
        let grown = window.len() >= self.short + self.short / 8;
        if !eof && !grown {
            return (Some(Step::Incomplete(None)), false);
        }
        let mut found = false;
        while input.resync && self.searched < RUN {
            let Some(rest) = window.get(self.searched..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            match self.check_start(rest, input.limits, masked, true) {
                StartCheck::Yes => {
                    found = true;
                    break;
                }
                StartCheck::Unknown if !eof => {
                    self.short = window.len();
                    return (Some(Step::Incomplete(None)), false);
                }
                StartCheck::Unknown | StartCheck::No => self.searched += 1,
            }
        }
        self.short = 0;
        let end = match found {
            true => self.searched,
            false if window.len() >= RUN => RUN,
            false if eof => window.len(),
            false => return (Some(Step::Incomplete(None)), false),
        };
        self.searched = 0;
        if end == 0 {
            return (None, found);
        }
        let mut frame = input.frame(Framing::WebSocket, Head::None, Span::new(0, end), end);
        match self.error.take() {
            Some(error) => frame.fault = Some(input.fault(0, error)),
            None => frame.control = Some("skipped"),
        }
        (Some(Step::Frame(frame, end)), found)
    }

    /// Returns the position of a whole message that is not compressed, in bytes that may be of another framing, and `true`
    /// if one starts there; otherwise the position up to which no message starts. A message that is not complete may be one,
    /// unless `last`.
    pub(in super::super) fn find(
        &mut self,
        seen: &[u8],
        from: usize,
        limits: Limits,
        last: bool,
    ) -> (usize, bool) {
        let mut at = from;
        while let Some(rest) = seen.get(at..).filter(|rest| !rest.is_empty()) {
            match self.check_start(rest, limits, None, false) {
                StartCheck::Yes => return (at, true),
                StartCheck::Unknown if !last => break,
                StartCheck::Unknown | StartCheck::No => at += 1,
            }
        }
        (at, false)
    }

    /// Checks if a message starts here. `compressed`: it may be compressed.
    fn check_start(
        &mut self,
        rest: &[u8],
        limits: Limits,
        masked: Option<bool>,
        compressed: bool,
    ) -> StartCheck {
        match WebSocketHeader::plausible(rest, masked) {
            Some(true) => {}
            Some(false) => return StartCheck::No,
            None => return StartCheck::Unknown,
        }
        let Ok(header) = WebSocketHeader::read(rest) else {
            return StartCheck::Unknown;
        };
        let limit = u64::from(limits.message);
        let is_message = header.starts_message() && header.len > 0 && header.len <= limit;
        if !is_message || header.violation().is_some() {
            return StartCheck::No;
        }
        let total = header.size + header.len as usize;
        let next = rest.get(total..).unwrap_or_default();
        if header.compressed() {
            return match WebSocketHeader::plausible(next, Some(header.mask.is_some())) {
                _ if !compressed || !header.fin => StartCheck::No,
                Some(true) => StartCheck::Yes,
                Some(false) => StartCheck::No,
                None => StartCheck::Unknown,
            };
        }
        let payload = rest.get(header.size..).unwrap_or_default();
        let payload = payload.get(..header.len as usize).unwrap_or(payload);
        // The first byte decides in nearly all cases.
        let mask = header.mask.map_or(0, |mask| mask[0]);
        match payload.first().map(|first| first ^ mask) {
            None => return StartCheck::Unknown,
            Some(b'{' | b'[' | 1 | 2 | 0x80..=0x9f | 0xdc..=0xdf) => {}
            Some(_) => return StartCheck::No,
        }
        self.plain.clear();
        unmask(payload, header.mask, &mut self.plain);
        let whole = payload.len() as u64 == header.len;
        let value = check_payload(&self.plain, whole);
        match value {
            // The next frame continues the message, or is a control frame between its parts.
            StartCheck::Unknown if whole && !header.fin => continues(next, header),
            StartCheck::Yes if !header.fin => StartCheck::No,
            StartCheck::Unknown if whole => StartCheck::No,
            value => value,
        }
    }
}

/// Checks if a payload is one value, perhaps after a header; unknown if it begins like one.
fn check_payload(payload: &[u8], whole: bool) -> StartCheck {
    let mut value = payload;
    if matches!(value, [1 | 2, ..]) {
        match value.get(HEADER..) {
            Some(_) if !is_header(value) => return StartCheck::No,
            Some([]) if whole => return StartCheck::Yes,
            Some(rest) => value = rest,
            None => return StartCheck::Unknown,
        }
    }
    match measure(value) {
        Ok(Some(len)) if len == value.len() && whole => StartCheck::Yes,
        Ok(None) => StartCheck::Unknown,
        _ => StartCheck::No,
    }
}

/// Checks if a frame follows that can stand between the first and the last frame of a message.
fn continues(next: &[u8], first: WebSocketHeader) -> StartCheck {
    let masked = first.mask.is_some();
    match next.first_chunk() {
        None => StartCheck::Unknown,
        Some(&[0 | 0x80, second]) if masked == (second & 0x80 != 0) => StartCheck::Yes,
        Some([start, _]) if start & 15 < 8 => StartCheck::No,
        Some(_) => match WebSocketHeader::plausible(next, Some(masked)) {
            Some(true) => StartCheck::Yes,
            _ => StartCheck::No,
        },
    }
}

/// Measures a JSON or `MessagePack` value; `None` if it is not complete.
fn measure(value: &[u8]) -> Result<Option<usize>, DecodeError> {
    let depth = Limits::default().depth;
    match value.first() {
        Some(b'{' | b'[') => json::measure(value, depth, false),
        _ => msgpack::measure(value, depth),
    }
}

impl WebSocketFraming {
    /// Handles missing bytes before the window.
    pub(in super::super) fn seek(&mut self) {
        self.part = None;
        self.skip = 0;
        self.dropping = false;
        self.interrupted = false;
        self.seek = Some(WebSocketResync::default());
    }

    /// Skips bytes that are not a frame.
    pub(super) fn start_resync<'a>(&mut self, input: Buffer<'a>, error: DecodeError) -> Step<'a> {
        self.seek();
        let mut seek = WebSocketResync {
            searched: 1,
            error: Some(error),
            ..WebSocketResync::default()
        };
        let (step, found) = seek.next(input, self.masked);
        self.seek = (!found).then_some(seek);
        step.unwrap_or(Step::Incomplete(None))
    }

    /// Returns `true` if another frame, or the end of the stream, follows a frame; `None` if more
    /// bytes are needed.
    pub(super) fn is_followed(input: Buffer<'_>, header: WebSocketHeader) -> Option<bool> {
        if header.len > u64::from(input.limits.message) {
            return Some(false);
        }
        let total = header.size + header.len as usize;
        let Some(next) = input.window.get(total..) else {
            return input.eof.then_some(false);
        };
        match WebSocketHeader::plausible(next, Some(header.mask.is_some())) {
            None if input.eof => Some(next.is_empty()),
            follows => follows,
        }
    }
}
