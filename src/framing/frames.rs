//! Splits a whole buffer into frames that can be stored.

use super::frame::OwnedPlaces;
use super::{Fault, Frame, Framer, Framing, Head, Hints, LengthMode, Limits, Step, View};
use crate::span::Span;
use std::borrow::Cow;

/// A frame of a buffer. It borrows only from the buffer; an assembled body (unmasked, joined,
/// inflated) is owned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BufferFrame<'b> {
    /// The first byte, header included, from the start of the buffer.
    pub offset: u64,
    /// The length, header included; the bytes present if the frame is truncated.
    pub len: u64,
    /// The framing of the buffer.
    pub framing: Framing,
    /// The bytes that `body` refers to.
    pub bytes: Cow<'b, [u8]>,
    /// The span of the encoded message in `bytes`.
    pub body: Span,
    /// The control kind if this is not a message: `ping`, `http-response`, `skipped`.
    pub control: Option<&'static str>,
    /// The error of the frame.
    pub fault: Option<Fault>,
    head: Head<'static>,
    /// The HTTP start line, which `head` does not hold.
    start: Box<str>,
    places: OwnedPlaces,
}

impl<'b> BufferFrame<'b> {
    fn new(frame: &Frame<'_>, buffer: &'b [u8]) -> Self {
        let bytes = frame.view.bytes;
        let at = (bytes.as_ptr() as usize).wrapping_sub(buffer.as_ptr() as usize);
        let own = at
            .checked_add(bytes.len())
            .and_then(|end| buffer.get(at..end));
        let (head, start) = frame.head.detached();
        Self {
            offset: frame.offset,
            len: frame.len,
            framing: frame.framing,
            bytes: own.map_or_else(|| Cow::Owned(bytes.to_vec()), Cow::Borrowed),
            body: frame.view.body,
            control: frame.control,
            fault: frame.fault.clone(),
            head,
            start: start.into(),
            places: OwnedPlaces::of(frame.view.places),
        }
    }

    /// Copies a frame.
    pub(crate) fn owned(frame: &Frame<'_>) -> BufferFrame<'static> {
        BufferFrame::new(frame, &[])
    }

    /// The encoded message.
    pub fn body(&self) -> &[u8] {
        self.body.of(&self.bytes)
    }

    /// Returns the frame as a [`Frame`] of the stream, for functions that take one.
    pub fn frame(&self) -> Frame<'_> {
        Frame {
            offset: self.offset,
            len: self.len,
            framing: self.framing,
            head: self.head.with_start(&self.start),
            view: View {
                bytes: &self.bytes,
                body: self.body,
                places: self.places.borrow(),
            },
            control: self.control,
            fault: self.fault.clone(),
        }
    }
}

/// What [`Framer::next`] returns: a [`Step`] that borrows only from the window.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum BufferStep<'b> {
    /// More bytes are needed; how many, if that is known.
    Incomplete(Option<u64>),
    /// This number of bytes was consumed.
    Took(usize),
    /// A frame, and the number of consumed bytes.
    Frame(BufferFrame<'b>, usize),
}

impl Framer {
    /// Splits a buffer that holds one direction of a stream from its start.
    pub fn frames(self, buffer: &[u8]) -> Frames<'_> {
        let framer = self;
        Frames {
            framer,
            buffer,
            at: 0,
        }
    }

    /// Reads the window. Its first byte has the stream offset `base`; `eof` means that no more
    /// bytes follow. The frame borrows only from the window; an assembled body is copied.
    pub fn next<'w>(&mut self, window: &'w [u8], base: u64, eof: bool) -> BufferStep<'w> {
        match self.step(window, base, eof) {
            Step::Incomplete(missing) => BufferStep::Incomplete(missing),
            Step::Took(taken) => BufferStep::Took(taken),
            Step::Frame(frame, taken) => BufferStep::Frame(BufferFrame::new(&frame, window), taken),
        }
    }
}

/// The frames of a buffer, in order. The last frame has a fault if the buffer ends inside it.
#[derive(Debug)]
pub struct Frames<'b> {
    framer: Framer,
    buffer: &'b [u8],
    at: usize,
}

/// Splits a buffer that holds one direction of a stream from its start. `hints` are those of a
/// protocol ([`Descriptor::hints`](crate::protocol::Descriptor)): [`Framing::Method`] and
/// [`Framing::Bare`] need them.
///
/// ```
/// use wiretool::framing::{Framing, Hints, Limits, frames};
///
/// let buffer = b"\0\0\0\x02hi\0\0\0\x05there";
/// let all: Vec<_> = frames(buffer, Framing::Prefix, Hints::default(), Limits::default()).collect();
/// assert_eq!((all.len(), all[1].body(), all[1].offset), (2, &b"there"[..], 6));
/// ```
pub fn frames(buffer: &[u8], framing: Framing, hints: Hints, limits: Limits) -> Frames<'_> {
    Framer::new(framing, limits, hints, LengthMode::default(), true).frames(buffer)
}

impl<'b> Iterator for Frames<'b> {
    type Item = BufferFrame<'b>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let window = self.buffer.get(self.at..).unwrap_or_default();
            match self.framer.next(window, self.at as u64, true) {
                BufferStep::Incomplete(_) => return None,
                BufferStep::Took(n) => self.at += n,
                BufferStep::Frame(frame, n) => {
                    self.at += n;
                    return Some(frame);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::registry;

    #[test]
    fn plain_bodies_borrow_from_the_buffer() {
        // RFC 6455 section 5.7: "Hello" in one frame, masked, and in two fragments.
        let buffer = hex::decode("810548656c6c6f818537fa213d7f9f4d5158010348656c80026c6f").unwrap();
        let limits = Limits::default();
        let all: Vec<_> = frames(&buffer, Framing::WebSocket, Hints::default(), limits).collect();
        let is_owned = |frame: &BufferFrame<'_>| matches!(frame.bytes, Cow::Owned(_));
        let got: Vec<_> = all.iter().map(|f| (f.body(), is_owned(f))).collect();
        let hello = &b"Hello"[..];
        assert_eq!(got, [(hello, false), (hello, true), (hello, true)]);
        // The second "l" is in the second fragment, after its header.
        assert_eq!(all[2].frame().view.locate(3), 25);
    }

    #[test]
    fn frames_use_the_measure_hint() {
        let buffer = hex::decode("1100000012fabbe500000700000003000000616263").unwrap();
        let hints = registry::find("telequick").unwrap().descriptor().hints;
        let all: Vec<_> = frames(&buffer, Framing::Method, hints, Limits::default()).collect();
        assert_eq!(
            (all.len(), all[0].len, all[0].fault.is_none()),
            (1, 21, true)
        );
        let head = all[0].frame().head;
        assert!(
            matches!(
                head,
                Head::Method {
                    id: 0xe5bb_fa12,
                    ..
                }
            ),
            "{head:?}"
        );
    }
}
