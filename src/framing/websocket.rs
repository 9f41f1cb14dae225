//! RFC 6455 frames, without the upgrade before them.
//!
//! ```text
//!   81 85 37 fa 21 3d 7f 9f 4d 51 58          FIN, text; masked, 5 bytes; mask; "Hello"
//!   |  |  '- mask -'  '- payload -'
//!   |  MASK, 7 bits of length; 126: a u16 follows; 127: a u64 follows, big-endian
//!   FIN RSV1 RSV2 RSV3, 4 bits of opcode
//! ```
//!
//! A plain message is borrowed; unmasked, joined and inflated (RFC 7692) messages go through
//! buffers that are reused. A violation by the peer is a fault of its frame. The payload is emitted
//! nevertheless: the length gives the start of the next frame.

mod header;
mod inflate;
mod partial;
mod resync;
mod write;

use super::assembly::Assembly;
pub(crate) use super::assembly::unmask;
use super::backlog::release;
use super::state::FramerState;
use super::{Buffer, Fault, Frame, Framing, Head, Places, Step, View};
use crate::error::DecodeError;
use crate::span::Span;
pub(crate) use header::WebSocketHeader;
use inflate::{Inflate, InflateError};
use partial::skipped_payload_truncated;
pub(super) use resync::WebSocketResync;
pub(super) use write::{describe, ends, write};

/// The maximum length of a run of bytes without frames.
const RUN: usize = 64 << 10;

/// The state between frames: the partial fragmented message, and the history of compression.
#[derive(Default)]
pub(super) struct WebSocketFraming {
    /// The fragmented message that is not complete.
    part: Option<FragmentState>,
    /// Its payload; also the payload of a masked message.
    gathered: Assembly,
    /// The payload of a masked control frame, or an inflated message.
    scratch: Vec<u8>,
    inflate: Inflate,
    /// The remaining payload bytes of a frame over the limit.
    skip: u64,
    /// The fragmented message exceeds the limit: its further fragments are skipped.
    dropping: bool,
    /// The fragmented message was emitted early because a new one started.
    interrupted: bool,
    /// The search for the next frame, if its start is not known.
    seek: Option<WebSocketResync>,
    /// `true` if the last frame was masked; all frames of a direction are, or none.
    masked: Option<bool>,
}

/// The properties of the fragments so far.
struct FragmentState {
    offset: u64,
    end: u64,
    opcode: u8,
    masked: bool,
    compressed: bool,
    fragments: u32,
    fault: Option<Fault>,
}

impl FragmentState {
    fn head(&self) -> Head<'static> {
        Head::WebSocket {
            opcode: self.opcode,
            masked: self.masked,
            compressed: self.compressed,
            fragments: self.fragments,
        }
    }
}

impl WebSocketFraming {
    /// Returns the offset of the fragmented message that is not complete.
    pub(super) fn pending_start(&self) -> Option<u64> {
        self.part.as_ref().map(|part| part.offset)
    }

    /// Returns `true` if a frame starts at the start of the window, outside a message.
    pub(super) fn is_between(&self) -> bool {
        self.part.is_none() && self.skip == 0 && !self.dropping && self.seek.is_none()
    }

    /// Returns the state between two messages, if it has no history of compression.
    pub(super) fn state(&self) -> Option<FramerState> {
        let is_complete = self.is_between() && !self.interrupted && self.inflate.is_new();
        is_complete.then_some(FramerState::WebSocket(self.masked))
    }

    /// Returns the state between two messages. Messages after it that need the history of compression are not readable.
    #[cfg(feature = "cli")]
    pub(super) fn restart_state(&self) -> Option<FramerState> {
        self.is_between()
            .then_some(FramerState::WebSocket(self.masked))
    }

    /// Continues between two messages.
    pub(super) fn set_state(&mut self, state: FramerState) {
        if let FramerState::WebSocket(masked) = state {
            self.masked = masked;
        }
    }

    /// Waits for the next bytes, or ends the stream.
    fn wait<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
        let skip = if input.eof {
            std::mem::take(&mut self.skip)
        } else {
            0
        };
        if skip > 0 {
            return skipped_payload_truncated(input, skip);
        }
        match self.part.take() {
            Some(part) if input.eof => return self.truncate(input, part, 0),
            Some(part) => self.part = Some(part),
            None => {
                self.gathered.release();
                release(&mut self.scratch);
            }
        }
        Step::Incomplete(None)
    }

    pub(super) fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
        let Buffer { window, eof, .. } = input;
        if window.is_empty() {
            return self.wait(input);
        }
        if let Some(seek) = &mut self.seek {
            let (step, found) = seek.next(input, self.masked);
            if found {
                self.seek = None;
            }
            if let Some(step) = step {
                return step;
            }
        }
        if self.skip > 0 {
            let n = (window.len() as u64).min(self.skip);
            self.skip -= n;
            return Step::Took(n as usize);
        }
        let header = match WebSocketHeader::read(window) {
            Ok(header) => header,
            Err(missing) if !eof => return Step::Incomplete(Some(missing)),
            Err(missing) => return self.partial_header(input, missing),
        };
        if let Some(error) = header.implausible() {
            match Self::is_followed(input, header) {
                None => return Step::Incomplete(None),
                Some(true) => {}
                Some(false) => {
                    return match self.part.take() {
                        Some(part) => self.interrupt(input, part, header),
                        None => self.start_resync(input, error),
                    };
                }
            }
        }
        if !header.is_control() && self.dropping {
            self.dropping = !header.fin && header.opcode == 0;
            if header.opcode == 0 {
                self.skip = header.len;
                return Step::Took(header.size);
            }
        }
        if !header.is_control()
            && header.opcode != 0
            && let Some(part) = self.part.take()
        {
            return self.interrupt(input, part, header);
        }
        if header.len > self.space(input, header) {
            return self.over_limit(input, header);
        }
        // `header.len` is below the limit, so it fits.
        let total = header.size + header.len as usize;
        if window.len() < total && !eof {
            return Step::Incomplete(Some((total - window.len()) as u64));
        }
        let fault = self.violation(header).map(|e| input.fault(0, e));
        self.masked = Some(header.mask.is_some());
        if header.opcode == 0 && self.part.is_some() || header.starts_message() && !header.fin {
            self.fragment(input, header, fault)
        } else {
            self.single_frame(input, header, fault)
        }
    }

    /// Checks a frame, by itself and after the frames before.
    fn violation(&mut self, header: WebSocketHeader) -> Option<DecodeError> {
        let interrupted = std::mem::take(&mut self.interrupted);
        // Section 5.4: "The fragments of one message MUST NOT be interleaved between the fragments of another message".
        let (wanted, got) = if interrupted {
            ("a continuation frame", "a new message")
        } else if header.opcode == 0 && self.part.is_none() {
            ("a message that has begun", "a continuation frame")
        } else {
            return header.violation();
        };
        let span = Span::new(0, header.size);
        Some(DecodeError::new(
            "bad-websocket",
            span,
            "opcode",
            wanted,
            got,
        ))
    }

    /// Returns the maximum length of payload that is stored.
    fn space(&self, input: Buffer<'_>, header: WebSocketHeader) -> u64 {
        let limit = input.limits.message as usize;
        if header.opcode == 0 && self.part.is_some() {
            let offset = input.base + header.size as u64;
            self.gathered.space(offset, limit) as u64
        } else {
            limit as u64
        }
    }

    /// Reads a frame that is a whole message or a control frame.
    fn single_frame<'a>(
        &'a mut self,
        input: Buffer<'a>,
        header: WebSocketHeader,
        fault: Option<Fault>,
    ) -> Step<'a> {
        let window = input.window;
        let total = header.size + header.len as usize;
        let end = total.min(window.len());
        let mut frame = input.frame(
            Framing::WebSocket,
            header.head(),
            Span::new(header.size, end),
            end,
        );
        frame.control = header.control();
        frame.fault = fault;
        if end < total {
            frame.fault = Some(short_payload(input, header));
        }
        let payload = window.get(header.size..end).unwrap_or_default();
        let offset = input.base + header.size as u64;
        if header.is_control() {
            if header.mask.is_some() {
                self.scratch.clear();
                unmask(payload, header.mask, &mut self.scratch);
                frame.view = run(&self.scratch, offset);
            }
            return Step::Frame(frame, end);
        }
        if header.mask.is_some() {
            self.gathered.clear();
            self.gathered.push(offset, payload, header.mask);
        }
        let source = match header.mask {
            Some(_) => self.gathered.bytes(),
            None => payload,
        };
        if header.mask.is_some() {
            frame.view = run(source, offset);
        }
        if header.compressed() {
            let limit = input.limits.message as usize;
            let result = self
                .inflate
                .inflate(source, &mut self.scratch, limit, end == total);
            set_inflated(&mut frame, &self.scratch, result);
        }
        Step::Frame(frame, end)
    }

    /// Reads a fragment of a message. The message is emitted with its last fragment.
    fn fragment<'a>(
        &'a mut self,
        input: Buffer<'a>,
        header: WebSocketHeader,
        fault: Option<Fault>,
    ) -> Step<'a> {
        let total = header.size + header.len as usize;
        let end = total.min(input.window.len());
        let mut part = self.part.take().unwrap_or_else(|| {
            self.gathered.clear();
            FragmentState {
                offset: input.base,
                end: 0,
                opcode: header.opcode,
                masked: header.mask.is_some(),
                compressed: header.compressed(),
                fragments: 0,
                fault: None,
            }
        });
        let payload = input.window.get(header.size..end).unwrap_or_default();
        self.gathered
            .push(input.base + header.size as u64, payload, header.mask);
        part.fragments = part.fragments.saturating_add(1);
        part.end = input.base + end as u64;
        part.fault = part.fault.or(fault);
        if end < total {
            part.fault = Some(short_payload(input, header));
            return self.emit_message(input, part, end, false);
        }
        if header.fin {
            return self.emit_message(input, part, end, true);
        }
        self.part = Some(part);
        Step::Took(end)
    }

    /// Emits the assembled message.
    fn emit_message<'a>(
        &'a mut self,
        input: Buffer<'a>,
        part: FragmentState,
        took: usize,
        whole: bool,
    ) -> Step<'a> {
        let mut frame = Frame {
            offset: part.offset,
            len: part.end - part.offset,
            framing: Framing::WebSocket,
            head: part.head(),
            view: self.gathered.view(part.end),
            control: None,
            fault: part.fault,
        };
        if part.compressed {
            let limit = input.limits.message as usize;
            let source = self.gathered.bytes();
            let result = self
                .inflate
                .inflate(source, &mut self.scratch, limit, whole);
            set_inflated(&mut frame, &self.scratch, result);
        }
        Step::Frame(frame, took)
    }
}

/// Returns a view of a buffer that is one run of the stream.
fn run(bytes: &[u8], offset: u64) -> View<'_> {
    View {
        bytes,
        body: Span::new(0, bytes.len()),
        places: Places::Run(offset),
    }
}

/// Builds the fault of a payload that the end of the stream cuts off.
fn short_payload(input: Buffer<'_>, header: WebSocketHeader) -> Fault {
    input.truncated(
        "length",
        format!("{} bytes of payload", header.len),
        input.window.len() - header.size,
    )
}

/// Sets the inflated body, or the error of inflating; an earlier fault stays.
fn set_inflated<'a>(frame: &mut Frame<'a>, inflated: &'a [u8], result: Result<(), InflateError>) {
    let span = Span::new(0, frame.len as usize);
    let error = match result {
        Ok(()) => None,
        Err(InflateError::Limit(limit)) => Some(
            DecodeError::new(
                "over-limit",
                span,
                "message",
                format!("at most {limit} bytes inflated"),
                format!("more, from {} bytes", frame.view.body.len),
            )
            .hint("a decompression bomb, or raise the limit with `max-message`"),
        ),
        Err(InflateError::Data(got)) => Some(
            DecodeError::new("bad-deflate", span, "payload", "a deflate stream", got).hint(
                "RSV1 is set on an uncompressed message, or earlier messages that the compression needs are \
                    missing",
            ),
        ),
    };
    if !matches!(&error, Some(e) if e.code == "bad-deflate") {
        frame.view = View {
            bytes: inflated,
            body: Span::new(0, inflated.len()),
            places: Places::Packed(frame.offset),
        };
    }
    let offset = frame.offset;
    frame.fault = frame
        .fault
        .take()
        .or(error.map(|error| Fault::new(offset, error)));
}

#[cfg(test)]
pub(super) mod tests;
