//! A whole buffer, split into frames that can be kept.

use super::{
    Fault, Frame, Framer, Framing, Head, Hints, LengthMode, Limits, Piece, Places, Step, View,
};
use crate::span::Span;
use std::borrow::Cow;

/// A frame of a buffer. It borrows from the buffer alone; a body that had to be assembled (unmasked, joined, inflated) is
/// owned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BufferFrame<'b> {
    /// First byte, header included, from the start of the buffer.
    pub offset: u64,
    /// Bytes, header included; what is there where the frame is truncated.
    pub len: u64,
    /// How it is delimited.
    pub framing: Framing,
    /// The bytes that `body` speaks of.
    pub bytes: Cow<'b, [u8]>,
    /// Where the encoded message lies in `bytes`.
    pub body: Span,
    /// The kind of line where this is no message: `ping`, `http-response`, `skipped`.
    pub control: Option<&'static str>,
    /// What is wrong with the frame.
    pub fault: Option<Fault>,
    head: Head<'static>,
    start: Option<Box<str>>,
    places: Lies,
}

/// [`Places`], owned.
#[derive(Clone, Debug)]
enum Lies {
    Run(u64),
    Pieces(Vec<Piece>),
    Packed(u64),
}

impl<'b> BufferFrame<'b> {
    fn new(frame: &Frame<'_>, buffer: &'b [u8]) -> Self {
        let bytes = frame.view.bytes;
        let at = (bytes.as_ptr() as usize).wrapping_sub(buffer.as_ptr() as usize);
        let own = at
            .checked_add(bytes.len())
            .and_then(|end| buffer.get(at..end));
        let (head, start) = match frame.head {
            Head::None => (Head::None, None),
            Head::Length(length) => (Head::Length(length), None),
            Head::Method { length, id, mode } => (Head::Method { length, id, mode }, None),
            Head::WebSocket {
                opcode,
                masked,
                compressed,
                fragments,
            } => (
                Head::WebSocket {
                    opcode,
                    masked,
                    compressed,
                    fragments,
                },
                None,
            ),
            Head::Http {
                start,
                status,
                len,
                event,
                closes,
            } => {
                let head = Head::Http {
                    start: "",
                    status,
                    len,
                    event,
                    closes,
                };
                (head, Some(start.into()))
            }
        };
        Self {
            offset: frame.offset,
            len: frame.len,
            framing: frame.framing,
            bytes: own.map_or_else(|| Cow::Owned(bytes.to_vec()), Cow::Borrowed),
            body: frame.view.body,
            control: frame.control,
            fault: frame.fault.clone(),
            head,
            start,
            places: match frame.view.places {
                Places::Run(at) => Lies::Run(at),
                Places::Pieces(pieces) => Lies::Pieces(pieces.to_vec()),
                Places::Packed(at) => Lies::Packed(at),
            },
        }
    }

    /// The encoded message.
    pub fn body(&self) -> &[u8] {
        self.body.of(&self.bytes)
    }

    /// The same as a frame of the stream, for functions that take one.
    pub fn frame(&self) -> Frame<'_> {
        let mut head = self.head;
        if let (Head::Http { start, .. }, Some(own)) = (&mut head, &self.start) {
            *start = own;
        }
        Frame {
            offset: self.offset,
            len: self.len,
            framing: self.framing,
            head,
            view: View {
                bytes: &self.bytes,
                body: self.body,
                places: match &self.places {
                    Lies::Run(at) => Places::Run(*at),
                    Lies::Pieces(pieces) => Places::Pieces(pieces),
                    Lies::Packed(at) => Places::Packed(*at),
                },
            },
            control: self.control,
            fault: self.fault.clone(),
        }
    }
}

/// The frames of a buffer, in order. The last one has a fault if the buffer ends inside it.
pub struct Frames<'b> {
    framer: Framer,
    buffer: &'b [u8],
    at: usize,
}

/// Splits a buffer that holds one direction of a stream from its start.
///
/// ```
/// use wiretool::framing::{Framing, Limits, frames};
///
/// let buffer = b"\0\0\0\x02hi\0\0\0\x05there";
/// let all: Vec<_> = frames(buffer, Framing::Prefix, Limits::default()).collect();
/// assert_eq!((all.len(), all[1].body(), all[1].offset), (2, &b"there"[..], 6));
/// ```
pub fn frames(buffer: &[u8], framing: Framing, limits: Limits) -> Frames<'_> {
    Frames {
        framer: Framer::new(
            framing,
            limits,
            Hints::default(),
            LengthMode::default(),
            true,
        ),
        buffer,
        at: 0,
    }
}

impl<'b> Iterator for Frames<'b> {
    type Item = BufferFrame<'b>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let window = self.buffer.get(self.at..).unwrap_or_default();
            match self.framer.next(window, self.at as u64, true) {
                Step::Incomplete(_) => return None,
                Step::Took(n) => self.at += n,
                Step::Frame(frame, n) => {
                    let frame = BufferFrame::new(&frame, self.buffer);
                    self.at += n;
                    return Some(frame);
                }
            }
        }
    }
}
