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
    /// The length of the window from which the search can continue.
    needed: usize,
    /// The error of the first skipped bytes.
    error: Option<DecodeError>,
    /// An unmasked payload.
    plain: Vec<u8>,
}

/// The result of a test for the start of a message.
enum StartCheck {
    Yes,
    No,
    /// At least this number of bytes is needed.
    Unknown(usize),
}

/// Returns the number of bytes of a payload that are checked before all of it is there, and the next such number. The
/// numbers grow by up to an eighth: otherwise a payload in small reads would cost the square of its length. They do not
/// depend on the reads.
fn checked_lengths(len: usize) -> (usize, usize) {
    let step = 1 << len.max(1).ilog2().saturating_sub(3);
    let checked = len - len % step;
    (checked, checked + step)
}

impl WebSocketResync {
    /// Returns the next skipped bytes, and `true` if a message starts after them or at once.
    pub(super) fn next<'a>(
        &mut self,
        input: Buffer<'a>,
        masked: Option<bool>,
    ) -> (Option<Step<'a>>, bool) {
        let Buffer { window, eof, .. } = input;
        if !eof && window.len() < self.needed {
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
                StartCheck::Unknown(len) if !eof => {
                    self.needed = self.searched + len;
                    return (Some(Step::Incomplete(None)), false);
                }
                StartCheck::Unknown(_) | StartCheck::No => self.searched += 1,
            }
        }
        self.needed = 0;
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
                StartCheck::Unknown(_) if !last => break,
                StartCheck::Unknown(_) | StartCheck::No => at += 1,
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
            None => return StartCheck::Unknown(rest.len() + 1),
        }
        let Ok(header) = WebSocketHeader::read(rest) else {
            return StartCheck::Unknown(rest.len() + 1);
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
                None => StartCheck::Unknown(total + next.len() + 1),
            };
        }
        let payload = rest.get(header.size..).unwrap_or_default();
        let (checked, more) = match payload.len() as u64 {
            len if len < header.len => checked_lengths(payload.len()),
            _ => (header.len as usize, 0),
        };
        let payload = payload.get(..checked).unwrap_or(payload);
        // The first byte decides in nearly all cases.
        let mask = header.mask.map_or(0, |mask| mask[0]);
        match payload.first().map(|first| first ^ mask) {
            None => return StartCheck::Unknown(rest.len() + 1),
            Some(b'{' | b'[' | 1 | 2 | 0x80..=0x9f | 0xdc..=0xdf) => {}
            Some(_) => return StartCheck::No,
        }
        self.plain.clear();
        unmask(payload, header.mask, &mut self.plain);
        let whole = payload.len() as u64 == header.len;
        match check_payload(&self.plain, whole) {
            // The next frame continues the message, or is a control frame between its parts.
            None if whole && !header.fin => match continues(next, header) {
                Some(true) => StartCheck::Yes,
                Some(false) => StartCheck::No,
                None => StartCheck::Unknown(total + next.len() + 1),
            },
            None if whole => StartCheck::No,
            None => StartCheck::Unknown(total.min(header.size + more)),
            Some(true) if header.fin => StartCheck::Yes,
            Some(_) => StartCheck::No,
        }
    }
}

/// Checks if a payload is one value, perhaps after a header; `None` if it begins like one.
fn check_payload(payload: &[u8], whole: bool) -> Option<bool> {
    let mut value = payload;
    if matches!(value, [1 | 2, ..]) {
        match value.get(HEADER..)? {
            _ if !is_header(value) => return Some(false),
            [] if whole => return Some(true),
            rest => value = rest,
        }
    }
    match measure(value) {
        Ok(Some(len)) if len == value.len() && whole => Some(true),
        Ok(None) => None,
        _ => Some(false),
    }
}

/// Checks if a frame follows that can stand between the first and the last frame of a message; `None` if more bytes are
/// needed.
fn continues(next: &[u8], first: WebSocketHeader) -> Option<bool> {
    let masked = first.mask.is_some();
    match next.first_chunk()? {
        &[0 | 0x80, second] if masked == (second & 0x80 != 0) => Some(true),
        [start, _] if start & 15 < 8 => Some(false),
        _ => WebSocketHeader::plausible(next, Some(masked)),
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
