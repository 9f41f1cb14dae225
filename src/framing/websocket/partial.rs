//! Messages that end early: truncated, interrupted, or longer than the limit.

use super::{FragmentState, WebSocketFraming, WebSocketHeader, WebSocketResync};
use crate::error::DecodeError;
use crate::framing::{Buffer, Fault, Framing, Head, Step};
use crate::span::Span;

impl WebSocketFraming {
    /// Emits a message without its last fragment: the stream ends after `rest` more bytes.
    pub(super) fn truncate<'a>(
        &'a mut self,
        input: Buffer<'a>,
        mut part: FragmentState,
        rest: usize,
    ) -> Step<'a> {
        if rest > 0 {
            // Control frames can be between the last fragment and these bytes.
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
        self.emit_message(input, part, rest, false)
    }

    /// Emits the fragments of a message that a new message interrupts.
    pub(super) fn interrupt<'a>(
        &'a mut self,
        input: Buffer<'a>,
        mut part: FragmentState,
        header: WebSocketHeader,
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
        self.emit_message(input, part, 0, false)
    }

    /// Handles a header that the end of the stream cuts off.
    pub(super) fn partial_header<'a>(&'a mut self, input: Buffer<'a>, missing: u64) -> Step<'a> {
        let len = input.window.len();
        if let Some(part) = self.part.take() {
            return self.truncate(input, part, len);
        }
        let mut frame = input.frame(Framing::WebSocket, Head::None, Span::new(len, len), len);
        let wanted = format!("{} bytes of frame header", len as u64 + missing);
        frame.fault = Some(input.truncated("header", wanted, len));
        Step::Frame(frame, len)
    }

    /// Emits the header of a payload over the limit, or the fragments before it, and skips the
    /// payload.
    pub(super) fn over_limit<'a>(
        &'a mut self,
        input: Buffer<'a>,
        header: WebSocketHeader,
    ) -> Step<'a> {
        let limit = input.limits.message;
        let span = Span::new(0, header.size);
        // Section 5.2: of a 64-bit length "the most significant bit MUST be 0".
        let error = if header.len >> 63 == 1 {
            self.seek = Some(WebSocketResync::default());
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
            let total = header.len + self.gathered_len(header);
            match self.max_fragments(input, header).filter(|_| total <= u64::from(limit)) {
                Some(most) => DecodeError::new(
                    "over-limit",
                    span,
                    "fragments",
                    format!("at most {most} fragments"),
                    "more",
                )
                .hint("the rest of the message is skipped; raise the limit with `max-message`: one fragment \
                    for 64 bytes is allowed"),
                None => DecodeError::new(
                    "over-limit",
                    span,
                    "length",
                    format!("at most {limit} bytes of message"),
                    total.to_string(),
                )
                .hint("the payload is skipped; raise the limit with `max-message`"),
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
            return self.emit_message(input, part, header.size, false);
        }
        let body = Span::new(header.size, header.size);
        let mut frame = input.frame(Framing::WebSocket, header.head(), body, header.size);
        frame.control = header.control();
        frame.fault = fault;
        Step::Frame(frame, header.size)
    }

    /// Returns the maximum number of fragments if this fragment exceeds it.
    fn max_fragments(&self, input: Buffer<'_>, header: WebSocketHeader) -> Option<usize> {
        let limit = input.limits.message as usize;
        let continues = header.opcode == 0 && self.part.is_some();
        continues.then(|| self.gathered.max_pieces(limit)).flatten()
    }

    /// Returns the length of the earlier fragments of this message.
    fn gathered_len(&self, header: WebSocketHeader) -> u64 {
        match self.part {
            Some(_) if header.opcode == 0 => self.gathered.len() as u64,
            _ => 0,
        }
    }
}

fn fragments(count: u32) -> String {
    format!("{count} fragment{}", if count == 1 { "" } else { "s" })
}

/// Reports that the stream ends inside a skipped payload: its length may be wrong.
pub(super) fn skipped_payload_truncated(input: Buffer<'_>, missing: u64) -> Step<'_> {
    let mut frame = input.frame(Framing::WebSocket, Head::None, Span::new(0, 0), 0);
    let wanted = format!("{missing} bytes more of the payload that is skipped");
    let mut fault = input.truncated("payload", wanted, 0);
    fault.error.hint = Some("its length may be wrong, and may have skipped messages".into());
    frame.fault = Some(fault);
    Step::Frame(frame, 0)
}
