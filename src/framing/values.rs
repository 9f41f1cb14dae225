//! Values that delimit themselves, and input that is one message.
//!
//! ```text
//!   values    {"id":1} {"id":2}            JSON, MessagePack or CBOR, one after another
//!   header    01 H E Y {"agent":…} 01 B Y E    a version byte, three letters, then a JSON object or nothing
//!   message   everything up to the end
//! ```

mod scan;

use super::{Buffer, Frame, Framing, Head, Step};
use crate::encoding::{cbor, json, msgpack};
use crate::error::{DecodeError, show_byte};
use crate::span::Span;
use scan::ValueScan;

/// The version byte and three capital letters at the start of a message of [`Framing::Header`].
pub const HEADER: usize = 4;

/// Returns `true` if a header of [`Framing::Header`] starts here: version 1 or 2, three capital
/// letters.
pub fn is_header(bytes: &[u8]) -> bool {
    matches!(bytes, [1 | 2, a, b, c, ..] if [a, b, c].iter().all(|x| x.is_ascii_uppercase()))
}

pub(super) struct ValuesFraming {
    framing: Framing,
    /// Values that are not JSON are CBOR, in which no byte is white space.
    is_cbor: bool,
    /// The length of the window that was too short. A large window is measured again only if the
    /// value may have ended or the window has grown by an eighth; otherwise a value in small reads
    /// would cost the square of its length.
    short: usize,
    /// The search for the end of the value.
    scan: ValueScan,
    /// No value starts here.
    bad: bool,
    /// The number of bytes searched without result for a line end, a header or a body.
    searched: usize,
    /// The limit was exceeded: everything up to the next possible message is dropped.
    dropping: bool,
}

/// Returns `true` if these few bytes can start a header.
fn starts_header(bytes: &[u8]) -> bool {
    let [1 | 2, letters @ ..] = bytes else {
        return false;
    };
    letters.iter().all(u8::is_ascii_uppercase)
}

/// Returns the length of the white space at `from`.
fn count_spaces(window: &[u8], from: usize) -> usize {
    let rest = window.get(from..).unwrap_or_default();
    rest.iter().take_while(|b| b.is_ascii_whitespace()).count()
}

/// Windows up to this length are measured whenever they have grown.
const LARGE: usize = 1 << 10;
/// The maximum length of a run of bytes that start no header.
const RUN: usize = 64 << 10;

impl ValuesFraming {
    pub(super) fn new(framing: Framing, is_cbor: bool) -> Self {
        Self {
            framing,
            is_cbor,
            short: 0,
            scan: ValueScan::default(),
            bad: false,
            searched: 0,
            dropping: false,
        }
    }

    /// Drops the partial message.
    pub(super) fn seek(&mut self) {
        *self = Self::new(self.framing, self.is_cbor);
    }

    /// Returns `true` if a message starts at the start of the window.
    pub(super) fn is_between(&self) -> bool {
        !self.dropping
    }

    pub(super) fn next<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        let Buffer {
            window,
            eof,
            limits,
            ..
        } = input;
        if window.is_empty() {
            return Step::Incomplete(None);
        }
        if self.dropping
            && let Some(step) = self.skip_rest(window, eof)
        {
            return step;
        }
        // Only the first `limit` bytes are searched for a message.
        let limit = limits.message as usize;
        let over = window.len() > limit;
        let eof = eof && !over;
        if self.framing == Framing::Message {
            return match window.len() {
                _ if over => self.over_limit(input),
                len if eof => self.frame(input, 0, len, None),
                _ => Step::Incomplete(None),
            };
        }
        if self.framing == Framing::Values && !self.is_cbor {
            let space = count_spaces(window, 0);
            if space > 0 {
                return Step::Took(space);
            }
        }
        let begin = if self.framing == Framing::Header {
            match self.header(input) {
                Ok(begin) => begin,
                Err(step) => return step,
            }
        } else {
            0
        };
        let seen = window.get(..limit).unwrap_or(window);
        let rest = seen.get(begin..).unwrap_or_default();
        if !self.bad {
            let is_large = self.short > LARGE && window.len() < self.short + self.short / 8;
            if is_large && !eof && !over && !self.scan.may_end(rest, self.is_cbor) {
                return Step::Incomplete(None);
            }
            match self.measure(rest, limits.depth, eof) {
                Ok(Some(len)) => return self.frame(input, begin, begin + len, None),
                Ok(None) if over => return self.over_limit(input),
                Ok(None) if !eof => {
                    self.short = window.len();
                    return Step::Incomplete(None);
                }
                Ok(None) => {
                    let error = input.truncated("message", "a whole value".into(), rest.len());
                    return self.frame(input, begin, window.len(), Some(*error.error));
                }
                Err(_) => {
                    self.bad = true;
                    self.searched = begin;
                }
            }
        }
        // The end of a malformed value is not known: the frame ends at the next line end, if there
        // is one.
        let line = seen.get(self.searched..).unwrap_or_default();
        match memchr::memchr(b'\n', line) {
            Some(at) => self.frame(input, begin, self.searched + at + 1, None),
            None if over => self.over_limit(input),
            None if !eof => {
                self.searched = seen.len();
                Step::Incomplete(None)
            }
            None => self.frame(input, begin, window.len(), None),
        }
    }

    fn measure(&self, rest: &[u8], depth: u32, eof: bool) -> Result<Option<usize>, DecodeError> {
        match rest.first() {
            Some(b'{' | b'[') => json::measure(rest, depth, eof),
            _ if self.is_cbor => cbor::measure(rest, depth),
            _ => msgpack::measure(rest, depth),
        }
    }

    /// Returns the position of the body after a header; `Err` with a frame that has no body or an
    /// error.
    fn header<'a>(&mut self, input: Buffer<'a>) -> Result<usize, Step<'a>> {
        let Buffer { window, eof, .. } = input;
        if self.bad {
            // The body starts at the position found before.
            return Ok(HEADER + count_spaces(window, HEADER));
        }
        if window.len() < HEADER && !eof {
            return Err(Step::Incomplete(Some((HEADER - window.len()) as u64)));
        }
        if window.len() < HEADER && starts_header(window) {
            let wanted = format!("{HEADER} bytes of header");
            let error = input.truncated("header", wanted, window.len());
            return Err(self.frame(input, 0, window.len(), Some(*error.error)));
        }
        if !is_header(window) {
            let from = self.searched.max(1);
            let next = (from..window.len().min(RUN))
                .find(|&at| is_header(window.get(at..).unwrap_or_default()));
            let whole = eof || window.len() >= RUN + HEADER;
            let Some(end) = next.or(whole.then_some(window.len().min(RUN))) else {
                self.searched = window.len().saturating_sub(HEADER - 1);
                return Err(Step::Incomplete(None));
            };
            let got = show_byte(window.first().copied().unwrap_or_default());
            let error = DecodeError::new(
                "bad-header",
                Span::new(0, end),
                "header",
                "a version byte and three capital letters",
                got,
            );
            return Err(self.frame(input, 0, end, Some(error)));
        }
        let from = self.searched.max(HEADER);
        self.searched = from + count_spaces(window, from);
        match window.get(self.searched) {
            Some(b'{') => Ok(self.searched),
            None if !eof => Err(Step::Incomplete(None)),
            _ => Err(self.frame(input, HEADER, HEADER, None)),
        }
    }

    /// Returns the first `limit` bytes with an error; the rest is dropped as it arrives.
    fn over_limit<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        self.dropping = true;
        let limit = input.limits.message as usize;
        let error = DecodeError::new(
            "over-limit",
            Span::new(0, limit),
            "message",
            format!("at most {limit} bytes"),
            "more than that",
        );
        let hint = "raise the limit with `max-message`";
        self.frame(input, 0, limit, Some(error.hint(hint)))
    }

    /// Skips the rest of a message over the limit; `None` if the next message can start here.
    fn skip_rest<'a>(&mut self, window: &[u8], eof: bool) -> Option<Step<'a>> {
        let next = match self.framing {
            Framing::Values => memchr::memchr(b'\n', window),
            Framing::Header => {
                (0..window.len()).find(|&at| is_header(window.get(at..).unwrap_or_default()))
            }
            _ => None,
        };
        self.dropping = next.is_none();
        let retained = if self.framing == Framing::Header && !eof {
            HEADER - 1
        } else {
            0
        };
        match next.unwrap_or(window.len().saturating_sub(retained)) {
            0 if self.dropping => Some(Step::Incomplete(None)),
            0 => None,
            n => Some(Step::Took(n)),
        }
    }

    fn frame<'a>(
        &mut self,
        input: Buffer<'a>,
        begin: usize,
        end: usize,
        error: Option<DecodeError>,
    ) -> Step<'a> {
        self.short = 0;
        self.scan = ValueScan::default();
        self.bad = false;
        self.searched = 0;
        // A header belongs to the body: the protocol reads the kind from it.
        let body = if self.framing == Framing::Header {
            0
        } else {
            begin
        };
        let mut frame: Frame<'a> = input.frame(self.framing, Head::None, Span::new(body, end), end);
        frame.fault = error.map(|error| input.fault(error.span.at(), error));
        Step::Frame(frame, end)
    }
}

#[cfg(test)]
mod tests;
