//! Framings from outside this crate.

use super::{Buffer, Step, Wire};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A framing that a program brings with its protocol, as
/// [`Framing::Custom`](super::Framing::Custom). Its name is its identity.
///
/// The reader itself searches for the next frame after bytes that cannot start one, if [`Buffer::resync`] is set. The
/// skipped bytes are a frame with a fault:
///
/// ```
/// use wiretool::error::DecodeError;
/// use wiretool::framing::{
///     Buffer, CustomFraming, Framing, FramingReader, Head, Hints, Limits, Step, frames,
/// };
/// use wiretool::span::Span;
///
/// /// The byte 2, the length of the body in one byte, and the body.
/// static SHORT: CustomFraming = CustomFraming {
///     name: "short",
///     reader: || Box::new(ShortReader),
///     write: |body, _, out| {
///         out.extend([2, body.len() as u8]);
///         out.extend_from_slice(body);
///     },
/// };
///
/// struct ShortReader;
///
/// /// Longer runs of skipped bytes are several frames, so that memory is bounded.
/// const MAX_RUN: usize = 64 << 10;
///
/// impl FramingReader for ShortReader {
///     fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
///         let (window, eof) = (input.window, input.eof);
///         let all = window.len();
///         let frame = |body, len| input.frame(Framing::Custom(&SHORT), Head::None, body, len);
///         match window {
///             [] => Step::Incomplete(None),
///             [2, len, rest @ ..] if rest.len() >= usize::from(*len) => {
///                 let end = 2 + usize::from(*len);
///                 Step::Frame(frame(Span::new(2, end), end), end)
///             }
///             [2, ..] if !eof => Step::Incomplete(None),
///             [2, ..] => {
///                 let mut frame = frame(Span::new(all.min(2), all), all);
///                 frame.fault = Some(input.truncated("body", "all its bytes".into(), all.saturating_sub(2)));
///                 Step::Frame(frame, all)
///             }
///             _ => {
///                 let start = window.iter().take(MAX_RUN).position(|byte| *byte == 2);
///                 let end = match start.filter(|_| input.resync) {
///                     Some(start) => start,
///                     None if eof || all >= MAX_RUN => all.min(MAX_RUN),
///                     None => return Step::Incomplete(None),
///                 };
///                 let skipped = Span::new(0, end);
///                 let error = DecodeError::new("bad-length", skipped, "start", "the byte 2", "another byte");
///                 let mut frame = frame(skipped, end);
///                 frame.fault = Some(input.fault(0, error));
///                 Step::Frame(frame, end)
///             }
///         }
///     }
///
///     fn seek(&mut self) {}
///
///     fn is_between(&self) -> bool {
///         true
///     }
/// }
///
/// let stream = b"\x02\x02{}garbage\x02\x02[]";
/// let found: Vec<_> = frames(stream, Framing::Custom(&SHORT), Hints::NONE, Limits::default())
///     .map(|frame| (frame.offset, frame.fault.is_some()))
///     .collect();
/// assert_eq!(found, [(0, false), (4, true), (11, false)]);
/// ```
pub struct CustomFraming {
    /// The name users write.
    pub name: &'static str,
    /// Creates a reader at the start of one direction of a stream.
    pub reader: fn() -> Box<dyn FramingReader>,
    /// Writes one frame around a body. [`Wire`] holds the choices of the user, correct or not.
    pub write: fn(body: &[u8], wire: &Wire, out: &mut Vec<u8>),
}

/// Reads one direction of a stream of a [`CustomFraming`].
///
/// A reader gets the window of bytes that are not consumed. The first byte of the window need not
/// start a frame. The result depends only on the bytes, so that any split of the stream into reads
/// gives the same frames. A reader never panics, and never allocates a size that comes from a
/// number in the stream.
pub trait FramingReader: Send + Sync {
    /// Returns the next frame of the window, or the number of missing bytes. At the end of the
    /// stream ([`Buffer::eof`]), a window that is not empty never returns [`Step::Incomplete`].
    fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a>;
    /// Handles missing bytes: drops the partial message and searches for the start of the next
    /// frame.
    fn seek(&mut self);
    /// Returns `true` if a frame starts at the start of the window.
    fn is_between(&self) -> bool;
    /// Returns the offset of a message that is consumed in part.
    fn pending_start(&self) -> Option<u64> {
        None
    }
}

impl fmt::Debug for CustomFraming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for CustomFraming {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CustomFraming {}

impl Hash for CustomFraming {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
