//! Values that delimit themselves, and input that is one message.
//!
//! ```text
//!   values    {"id":1} {"id":2}            JSON or MessagePack, one after another
//!   header    01 H E Y {"agent":…} 01 B Y E    a version byte, three letters, then a JSON object or nothing
//!   message   everything up to the end
//! ```

mod scan;

use super::{Frame, Framing, Head, Input, Step};
use crate::encoding::{json, msgpack};
use crate::error::{DecodeError, show_byte};
use crate::span::Span;
use scan::Scan;

/// The version byte and three capital letters that begin a message of [`Framing::Header`].
pub const HEADER: usize = 4;

/// Whether a header of [`Framing::Header`] begins here: version 1 or 2, three capital letters.
pub fn is_header(bytes: &[u8]) -> bool {
    matches!(bytes, [1 | 2, a, b, c, ..] if [a, b, c].iter().all(|x| x.is_ascii_uppercase()))
}

pub(super) struct Values {
    framing: Framing,
    /// The window that was found too short. A large one is measured again only where the value may have ended, or when
    /// it has grown noticeably: a value that comes in small reads would cost the square of its length.
    short: usize,
    /// Where the value may end.
    scan: Scan,
    /// No value begins here.
    bad: bool,
    /// So much of the window was searched in vain for what comes next: a line's end, a header, a body.
    searched: usize,
    /// The limit was passed: everything up to where a message can begin is dropped.
    dropping: bool,
}

/// Whether a header may begin with these few bytes.
fn begins_header(bytes: &[u8]) -> bool {
    let [1 | 2, letters @ ..] = bytes else {
        return false;
    };
    letters.iter().all(u8::is_ascii_uppercase)
}

/// Bytes of white space from there on.
fn spaces(window: &[u8], from: usize) -> usize {
    let rest = window.get(from..).unwrap_or_default();
    rest.iter().take_while(|b| b.is_ascii_whitespace()).count()
}

/// Windows up to this are measured whenever they have grown.
const LARGE: usize = 1 << 10;
/// Bytes that begin no header are given out in runs of at most this many.
const RUN: usize = 64 << 10;

impl Values {
    pub(super) fn new(framing: Framing) -> Self {
        Self {
            framing,
            short: 0,
            scan: Scan::default(),
            bad: false,
            searched: 0,
            dropping: false,
        }
    }

    /// Whether a message begins at the start of the window.
    pub(super) fn is_between(&self) -> bool {
        !self.dropping
    }

    pub(super) fn next<'a>(&mut self, input: Input<'a>) -> Step<'a> {
        let Input {
            window,
            eof,
            limits,
            ..
        } = input;
        if window.is_empty() {
            return Step::Incomplete(None);
        }
        if self.dropping
            && let Some(step) = self.drop(window, eof)
        {
            return step;
        }
        // However much has come, a message is looked for in no more than the limit.
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
        if self.framing == Framing::Values {
            let space = window
                .iter()
                .take_while(|b| b.is_ascii_whitespace())
                .count();
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
            if is_large && !eof && !over && !self.scan.may_end(rest) {
                return Step::Incomplete(None);
            }
            let measured = match rest.first() {
                Some(b'{' | b'[') => json::measure(rest, limits.depth, eof),
                _ => msgpack::measure(rest, limits.depth),
            };
            match measured {
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
        // What follows a value that is none cannot be told from it: up to the next line, if there is one.
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

    /// Where the body begins after a header; a frame without a body, or with something wrong, is the answer at once.
    fn header<'a>(&mut self, input: Input<'a>) -> Result<usize, Step<'a>> {
        let Input { window, eof, .. } = input;
        if self.bad {
            // The body begins where it did when it was found to be none.
            return Ok(HEADER + spaces(window, HEADER));
        }
        if window.len() < HEADER && !eof {
            return Err(Step::Incomplete(Some((HEADER - window.len()) as u64)));
        }
        if window.len() < HEADER && begins_header(window) {
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
        self.searched = from + spaces(window, from);
        match window.get(self.searched) {
            Some(b'{') => Ok(self.searched),
            None if !eof => Err(Step::Incomplete(None)),
            _ => Err(self.frame(input, HEADER, HEADER, None)),
        }
    }

    /// The first `limit` bytes, with what is wrong; what follows is dropped as it comes.
    fn over_limit<'a>(&mut self, input: Input<'a>) -> Step<'a> {
        self.dropping = true;
        let limit = input.limits.message as usize;
        let error = DecodeError::new(
            "over-limit",
            Span::new(0, limit),
            "message",
            format!("at most {limit} bytes"),
            "more than that",
        );
        let hint = "raise the limit with --max-message";
        self.frame(input, 0, limit, Some(error.hint(hint)))
    }

    /// Passes over the rest of a message over the limit; `None` where the next can begin here.
    fn drop<'a>(&mut self, window: &[u8], eof: bool) -> Option<Step<'a>> {
        let next = match self.framing {
            Framing::Values => memchr::memchr(b'\n', window),
            Framing::Header => {
                (0..window.len()).find(|&at| is_header(window.get(at..).unwrap_or_default()))
            }
            _ => None,
        };
        self.dropping = next.is_none();
        let kept = if self.framing == Framing::Header && !eof {
            HEADER - 1
        } else {
            0
        };
        match next.unwrap_or(window.len().saturating_sub(kept)) {
            0 if self.dropping => Some(Step::Incomplete(None)),
            0 => None,
            n => Some(Step::Took(n)),
        }
    }

    fn frame<'a>(
        &mut self,
        input: Input<'a>,
        begin: usize,
        end: usize,
        error: Option<DecodeError>,
    ) -> Step<'a> {
        self.short = 0;
        self.scan = Scan::default();
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
