//! After bytes that are missing, or that are no frames: the next message that is whole in itself.
//!
//! ```text
//!   ... 6f 22 7d | 81 fe 00 7f  37 fa 21 3d  4c d8 ...
//!   passed over  | a header     mask         "{\"...", which ends where the length says
//! ```

use super::{Header, RUN, WebSocket};
use crate::encoding::{json, msgpack};
use crate::error::DecodeError;
use crate::framing::assembly::unmask;
use crate::framing::values::{HEADER, is_header};
use crate::framing::{Framing, Head, Input, Limits, Step};
use crate::span::Span;

/// How far the search has come.
#[derive(Default)]
pub(super) struct Seek {
    searched: usize,
    /// The window in which a message was found too short: it is looked at again when it has grown noticeably.
    short: usize,
    /// What to say of the first bytes that are passed over.
    error: Option<DecodeError>,
    /// A payload without its mask.
    plain: Vec<u8>,
}

/// Whether a message begins at a place.
enum Begins {
    Yes,
    No,
    /// More bytes would tell.
    Perhaps,
}

impl Seek {
    /// The next bytes that are passed over, and whether a message begins behind them, or at once.
    pub(super) fn next<'a>(
        &mut self,
        input: Input<'a>,
        masked: Option<bool>,
    ) -> (Option<Step<'a>>, bool) {
        let Input { window, eof, .. } = input;
        let grown = window.len() >= self.short + self.short / 8;
        if !eof && !grown {
            return (Some(Step::Incomplete(None)), false);
        }
        let mut found = false;
        while input.resync && self.searched < RUN {
            let Some(rest) = window.get(self.searched..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            match self.begins(rest, input, masked) {
                Begins::Yes => {
                    found = true;
                    break;
                }
                Begins::Perhaps if !eof => {
                    self.short = window.len();
                    return (Some(Step::Incomplete(None)), false);
                }
                Begins::Perhaps | Begins::No => self.searched += 1,
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

    fn begins(&mut self, rest: &[u8], input: Input<'_>, masked: Option<bool>) -> Begins {
        match Header::plausible(rest, masked) {
            Some(true) => {}
            Some(false) => return Begins::No,
            None => return Begins::Perhaps,
        }
        let Ok(header) = Header::read(rest) else {
            return Begins::Perhaps;
        };
        let limit = u64::from(input.limits.message);
        let is_message = header.fin && header.begins() && header.len > 0 && header.len <= limit;
        if !is_message || header.violation().is_some() {
            return Begins::No;
        }
        let total = header.size + header.len as usize;
        if header.compressed() {
            let next = rest.get(total..).unwrap_or_default();
            return match Header::plausible(next, Some(header.mask.is_some())) {
                Some(true) => Begins::Yes,
                Some(false) => Begins::No,
                None => Begins::Perhaps,
            };
        }
        let payload = rest.get(header.size..).unwrap_or_default();
        let payload = payload.get(..header.len as usize).unwrap_or(payload);
        // The first byte tells nearly always.
        let mask = header.mask.map_or(0, |mask| mask[0]);
        match payload.first().map(|first| first ^ mask) {
            None => return Begins::Perhaps,
            Some(b'{' | b'[' | 1 | 2 | 0x80..=0x9f | 0xdc..=0xdf) => {}
            Some(_) => return Begins::No,
        }
        self.plain.clear();
        unmask(payload, header.mask, &mut self.plain);
        let whole = payload.len() as u64 == header.len;
        let mut value = self.plain.as_slice();
        if matches!(value, [1 | 2, ..]) {
            match value.get(HEADER..) {
                Some(_) if !is_header(value) => return Begins::No,
                Some([]) if whole => return Begins::Yes,
                Some(rest) => value = rest,
                None if whole => return Begins::No,
                None => return Begins::Perhaps,
            }
        }
        match measure(value) {
            Ok(Some(len)) if len == value.len() && whole => Begins::Yes,
            Ok(None) if !whole => Begins::Perhaps,
            _ => Begins::No,
        }
    }
}

/// The length of the value that begins there, JSON or `MessagePack`; none where it is not complete.
fn measure(value: &[u8]) -> Result<Option<usize>, DecodeError> {
    let depth = Limits::default().depth;
    match value.first() {
        Some(b'{' | b'[') => json::measure(value, depth, false),
        _ => msgpack::measure(value, depth),
    }
}

impl WebSocket {
    /// Bytes are missing before the window.
    pub(in super::super) fn seek(&mut self) {
        self.part = None;
        self.skip = 0;
        self.dropping = false;
        self.interrupted = false;
        self.seek = Some(Seek::default());
    }

    /// What stands here is no frame: it is passed over.
    pub(super) fn lose<'a>(&mut self, input: Input<'a>, error: DecodeError) -> Step<'a> {
        self.seek();
        let mut seek = Seek {
            searched: 1,
            error: Some(error),
            ..Seek::default()
        };
        let (step, found) = seek.next(input, self.masked);
        self.seek = (!found).then_some(seek);
        step.unwrap_or(Step::Incomplete(None))
    }

    /// Whether another frame, or the end of the stream, stands where a frame ends; `None` where more bytes would tell.
    pub(super) fn follows(input: Input<'_>, header: Header) -> Option<bool> {
        if header.len > u64::from(input.limits.message) {
            return Some(false);
        }
        let total = header.size + header.len as usize;
        let Some(next) = input.window.get(total..) else {
            return input.eof.then_some(false);
        };
        match Header::plausible(next, Some(header.mask.is_some())) {
            None if input.eof => Some(next.is_empty()),
            follows => follows,
        }
    }
}
