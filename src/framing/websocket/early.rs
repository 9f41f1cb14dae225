//! Messages that do not end as they should: cut off, interrupted, or longer than may be kept.

use super::{Header, Part, Seek, WebSocket};
use crate::error::DecodeError;
use crate::framing::{Fault, Framing, Head, Input, Step};
use crate::span::Span;

impl WebSocket {
    /// The stream ends after `rest` bytes more, before the last fragment.
    pub(super) fn cut<'a>(&'a mut self, input: Input<'a>, mut part: Part, rest: usize) -> Step<'a> {
        if rest > 0 {
            // Control frames may lie between the last fragment and these bytes.
            part.end = input.base + rest as u64;
        }
        let error = DecodeError::new(
            "truncated",
            Span::new(0, (part.end - part.offset) as usize),
            "fin",
            "a last fragment",
            format!(
                "{} without it before the end of the stream",
                fragments(part.fragments)
            ),
        );
        let offset = part.offset;
        part.fault = Some(Fault::new(offset, error));
        self.message(input, part, rest, false)
    }

    /// A new message begins before the last fragment of this one, which is given out as far as it came.
    pub(super) fn interrupt<'a>(
        &'a mut self,
        input: Input<'a>,
        mut part: Part,
        header: Header,
    ) -> Step<'a> {
        let error = DecodeError::new(
            "bad-websocket",
            Span::new(0, header.size),
            "fin",
            "a last fragment before the next message",
            format!(
                "{} without it, then opcode {}",
                fragments(part.fragments),
                header.opcode
            ),
        );
        part.fault = Some(input.fault(0, error));
        self.interrupted = true;
        self.message(input, part, 0, false)
    }

    /// The stream ends inside a header.
    pub(super) fn half_header<'a>(&'a mut self, input: Input<'a>, missing: u64) -> Step<'a> {
        let len = input.window.len();
        if let Some(part) = self.part.take() {
            return self.cut(input, part, len);
        }
        let mut frame = input.frame(Framing::WebSocket, Head::None, Span::new(len, len), len);
        let wanted = format!("{} bytes of frame header", len as u64 + missing);
        frame.fault = Some(input.truncated("header", wanted, len));
        Step::Frame(frame, len)
    }

    /// A payload that is not kept: its header is given out, or the fragments before it, and its bytes passed over.
    pub(super) fn over_limit<'a>(&'a mut self, input: Input<'a>, header: Header) -> Step<'a> {
        let limit = input.limits.message;
        let span = Span::new(0, header.size);
        // Section 5.2: of a 64-bit length "the most significant bit MUST be 0".
        let error = if header.len >> 63 == 1 {
            self.seek = Some(Seek::default());
            let got = format!("{:#x}", header.len);
            DecodeError::new(
                "bad-length",
                span,
                "length",
                "a length below 2^63 bytes",
                got,
            )
            .hint("the stream may not be WebSocket here, or an earlier length was wrong")
        } else {
            self.skip = header.len;
            let total = header.len + self.partial(header);
            match self.most_pieces(input, header).filter(|_| total <= u64::from(limit)) {
                Some(most) => DecodeError::new(
                    "over-limit",
                    span,
                    "fragments",
                    format!("at most {most} fragments"),
                    "more",
                )
                .hint("the rest of the message is passed over; raise the limit with --max-message: one fragment for 64 bytes is allowed"),
                None => DecodeError::new(
                    "over-limit",
                    span,
                    "length",
                    format!("at most {limit} bytes of message"),
                    total.to_string(),
                )
                .hint("the payload is passed over; raise the limit with --max-message"),
            }
        };
        let fault = Some(input.fault(0, error));
        if !header.is_control() {
            self.dropping = !header.fin;
        }
        self.interrupted = false;
        if header.opcode == 0
            && let Some(mut part) = self.part.take()
        {
            part.end = input.base + header.size as u64;
            part.fault = fault;
            return self.message(input, part, header.size, false);
        }
        let body = Span::new(header.size, header.size);
        let mut frame = input.frame(Framing::WebSocket, header.head(), body, header.size);
        frame.control = header.control();
        frame.fault = fault;
        Step::Frame(frame, header.size)
    }

    /// How many fragments a message may have, where this one would be one too many.
    fn most_pieces(&self, input: Input<'_>, header: Header) -> Option<usize> {
        let limit = input.limits.message as usize;
        let continues = header.opcode == 0 && self.part.is_some();
        continues.then(|| self.gathered.full(limit)).flatten()
    }

    /// Bytes of the message that came in earlier fragments.
    fn partial(&self, header: Header) -> u64 {
        match self.part {
            Some(_) if header.opcode == 0 => self.gathered.len() as u64,
            _ => 0,
        }
    }
}

fn fragments(count: u32) -> String {
    format!("{count} fragment{}", if count == 1 { "" } else { "s" })
}

/// The stream ends inside a payload that was passed over: what looked like it may have been something else.
pub(super) fn short_of(input: Input<'_>, missing: u64) -> Step<'_> {
    let mut frame = input.frame(Framing::WebSocket, Head::None, Span::new(0, 0), 0);
    let wanted = format!("{missing} bytes more of the payload that is passed over");
    let mut fault = input.truncated("payload", wanted, 0);
    fault.error.hint = Some("its length may be wrong, and messages passed over with it".into());
    frame.fault = Some(fault);
    Step::Frame(frame, 0)
}
