//! RFC 6455 frames, without the upgrade before them.
//!
//! ```text
//!   81 85 37 fa 21 3d 7f 9f 4d 51 58          FIN, text; masked, 5 bytes; mask; "Hello"
//!   |  |  '- mask -'  '- payload -'
//!   |  MASK, 7 bits of length; 126: a u16 follows; 127: a u64 follows, big-endian
//!   FIN RSV1 RSV2 RSV3, 4 bits of opcode
//! ```
//!
//! A plain message is borrowed; unmasking, joining fragments and inflating (RFC 7692) go through buffers that are kept.
//! What a peer may not send is a fault of its frame, whose payload is given out all the same: the length says where
//! the next frame begins.

mod early;
mod header;
mod inflate;
mod seek;
mod write;

use super::assembly::Assembly;
pub(crate) use super::assembly::unmask;
use super::{Fault, Frame, Framing, Head, Input, Places, Step, View};
use crate::error::DecodeError;
use crate::span::Span;
use early::short_of;
pub(crate) use header::Header;
use inflate::{Inflate, Trouble};
use seek::Seek;
pub(super) use write::{describe, ends, write};

/// Bytes without frames are given out in runs of this many.
const RUN: usize = 64 << 10;

/// What is remembered between frames: the half of a fragmented message, and the history of compression.
#[derive(Default)]
pub(super) struct WebSocket {
    /// The fragmented message that has begun.
    part: Option<Part>,
    /// Its payload; also that of a masked message.
    gathered: Assembly,
    /// The payload of a masked control frame, or an inflated message.
    scratch: Vec<u8>,
    inflate: Inflate,
    /// Payload bytes of a frame over the limit that are still to come.
    skip: u64,
    /// The fragmented message was over the limit: its further fragments are passed over.
    dropping: bool,
    /// The fragmented message was given out early because a new one began.
    interrupted: bool,
    /// Where the next frame begins is not known: it is looked for.
    seek: Option<Seek>,
    /// Whether the last frame was masked; all of a direction are, or none.
    masked: Option<bool>,
}

/// What the fragments so far have said.
struct Part {
    offset: u64,
    end: u64,
    opcode: u8,
    masked: bool,
    compressed: bool,
    fragments: u32,
    fault: Option<Fault>,
}

impl Part {
    fn head(&self) -> Head<'static> {
        Head::WebSocket {
            opcode: self.opcode,
            masked: self.masked,
            compressed: self.compressed,
            fragments: self.fragments,
        }
    }
}

impl WebSocket {
    /// Where the fragmented message begins that is not complete.
    pub(super) fn begun(&self) -> Option<u64> {
        self.part.as_ref().map(|part| part.offset)
    }

    /// Whether a frame begins at the start of the window, and no message is in the middle.
    pub(super) fn is_between(&self) -> bool {
        self.part.is_none() && self.skip == 0 && !self.dropping && self.seek.is_none()
    }

    pub(super) fn next<'a>(&'a mut self, input: Input<'a>) -> Step<'a> {
        let Input { window, eof, .. } = input;
        if window.is_empty() {
            let skip = if eof {
                std::mem::take(&mut self.skip)
            } else {
                0
            };
            if skip > 0 {
                return short_of(input, skip);
            }
            return match self.part.take() {
                Some(part) if eof => self.cut(input, part, 0),
                part => {
                    self.part = part;
                    Step::Incomplete(None)
                }
            };
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
        let header = match Header::read(window) {
            Ok(header) => header,
            Err(missing) if !eof => return Step::Incomplete(Some(missing)),
            Err(missing) => return self.half_header(input, missing),
        };
        if let Some(error) = header.misplaced() {
            match Self::follows(input, header) {
                None => return Step::Incomplete(None),
                Some(true) => {}
                Some(false) => {
                    return match self.part.take() {
                        Some(part) => self.interrupt(input, part, header),
                        None => self.lose(input, error),
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
        if header.len > self.room(input, header) {
            return self.over_limit(input, header);
        }
        // Below the limit, so it fits.
        let total = header.size + header.len as usize;
        if window.len() < total && !eof {
            return Step::Incomplete(Some((total - window.len()) as u64));
        }
        let fault = self.violation(header).map(|e| input.fault(0, e));
        self.masked = Some(header.mask.is_some());
        if header.opcode == 0 && self.part.is_some() || header.begins() && !header.fin {
            self.fragment(input, header, fault)
        } else {
            self.single(input, header, fault)
        }
    }

    /// What this frame must not be, by itself or where it stands.
    fn violation(&mut self, header: Header) -> Option<DecodeError> {
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

    /// The most payload that is kept.
    fn room(&self, input: Input<'_>, header: Header) -> u64 {
        let limit = input.limits.message as usize;
        if header.opcode == 0 && self.part.is_some() {
            let offset = input.base + header.size as u64;
            self.gathered.room(offset, limit) as u64
        } else {
            limit as u64
        }
    }

    /// A frame that is a message, or a control frame, by itself.
    fn single<'a>(
        &'a mut self,
        input: Input<'a>,
        header: Header,
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
                .message(source, &mut self.scratch, limit, end == total);
            packed(&mut frame, &self.scratch, result);
        }
        Step::Frame(frame, end)
    }

    /// A frame of a message in several: taken in, and given out with the last.
    fn fragment<'a>(
        &'a mut self,
        input: Input<'a>,
        header: Header,
        fault: Option<Fault>,
    ) -> Step<'a> {
        let total = header.size + header.len as usize;
        let end = total.min(input.window.len());
        let mut part = self.part.take().unwrap_or_else(|| {
            self.gathered.clear();
            Part {
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
            return self.message(input, part, end, false);
        }
        if header.fin {
            return self.message(input, part, end, true);
        }
        self.part = Some(part);
        Step::Took(end)
    }

    /// The message that was gathered.
    fn message<'a>(
        &'a mut self,
        input: Input<'a>,
        part: Part,
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
                .message(source, &mut self.scratch, limit, whole);
            packed(&mut frame, &self.scratch, result);
        }
        Step::Frame(frame, took)
    }
}

/// A whole buffer that is one run of the stream.
fn run(bytes: &[u8], offset: u64) -> View<'_> {
    View {
        bytes,
        body: Span::new(0, bytes.len()),
        places: Places::Run(offset),
    }
}

/// The stream ends inside a payload.
fn short_payload(input: Input<'_>, header: Header) -> Fault {
    input.truncated(
        "length",
        format!("{} bytes of payload", header.len),
        input.window.len() - header.size,
    )
}

/// Puts the inflated body, or what is wrong with it, into the frame; an earlier fault stays.
fn packed<'a>(frame: &mut Frame<'a>, inflated: &'a [u8], result: Result<(), Trouble>) {
    let span = Span::new(0, frame.len as usize);
    let error = match result {
        Ok(()) => None,
        Err(Trouble::Limit(limit)) => Some(
            DecodeError::new(
                "over-limit",
                span,
                "message",
                format!("at most {limit} bytes inflated"),
                format!("more, from {} bytes", frame.view.body.len),
            )
            .hint("a decompression bomb, or raise the limit with --max-message"),
        ),
        Err(Trouble::Data(got)) => Some(
            DecodeError::new("bad-deflate", span, "payload", "a deflate stream", got).hint(
                "RSV1 set on a plain message, or earlier messages, which the compression refers to, are missing",
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
