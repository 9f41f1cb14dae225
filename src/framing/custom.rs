//! Framings from outside this crate.

use super::resync::Resync;
use super::{Buffer, Framing, Limits, PLAUSIBLE, Step, Wire};
use crate::error::DecodeError;
use crate::span::Span;
use std::fmt;

/// The name of a framing from outside this crate: 1 to 23 bytes, which it holds itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FramingName {
    /// The rest is zero.
    bytes: [u8; Self::MAX],
}

impl FramingName {
    /// The maximum length.
    const MAX: usize = 23;

    /// Returns `None` for an empty name, one with more than 23 bytes, and one with a zero byte.
    pub const fn new(name: &str) -> Option<Self> {
        let from = name.as_bytes();
        let mut bytes = [0; Self::MAX];
        let mut at = 0;
        while at < from.len() {
            if at == Self::MAX || from[at] == 0 {
                return None;
            }
            bytes[at] = from[at];
            at += 1;
        }
        if at == 0 { None } else { Some(Self { bytes }) }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        let zero = self.bytes.iter().position(|byte| *byte == 0);
        let name = self.bytes.get(..zero.unwrap_or(Self::MAX));
        std::str::from_utf8(name.unwrap_or_default()).unwrap_or_default()
    }
}

impl fmt::Debug for FramingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A framing that a program brings, with parameters of its own. [`Framing::Custom`] is its name.
///
/// A protocol names it in [`Descriptor::framings`](crate::protocol::Descriptor) and gives it out in
/// [`Protocol::custom_framing`](crate::protocol::Protocol::custom_framing). It may be created at run time and dropped again:
/// names are copied, and a reader owns what it needs.
///
/// After bytes that cannot start a frame, and after missing bytes, the stream is searched for the next place where
/// [`FramingReader::is_start`] is true. The skipped bytes are a frame with a fault:
///
/// ```
/// use wiretool::framing::{
///     Buffer, CustomFraming, Framer, Framing, FramingName, FramingReader, Head, Limits, Step, Wire,
/// };
/// use wiretool::span::Span;
///
/// /// A byte that starts each frame, the length of the body in one byte, and the body.
/// #[derive(Clone, Copy)]
/// struct Short {
///     name: FramingName,
///     start: u8,
/// }
///
/// impl CustomFraming for Short {
///     fn name(&self) -> FramingName {
///         self.name
///     }
///
///     fn reader(&self) -> Box<dyn FramingReader> {
///         Box::new(*self)
///     }
///
///     fn write(&self, body: &[u8], _: &Wire, out: &mut Vec<u8>) {
///         out.extend([self.start, body.len() as u8]);
///         out.extend_from_slice(body);
///     }
/// }
///
/// impl FramingReader for Short {
///     fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
///         let (framing, all) = (Framing::Custom(self.name), input.window.len());
///         let end = input.window.get(1).map(|len| 2 + usize::from(*len));
///         match end.filter(|end| *end <= all) {
///             Some(end) => Step::Frame(input.frame(framing, Head::None, Span::new(2, end), end), end),
///             None if !input.eof => Step::Incomplete(None),
///             None => {
///                 let mut frame = input.frame(framing, Head::None, Span::new(all.min(2), all), all);
///                 frame.fault = Some(input.truncated("body", "all its bytes".into(), all));
///                 Step::Frame(frame, all)
///             }
///         }
///     }
///
///     fn is_start(&self, bytes: &[u8]) -> Option<bool> {
///         bytes.first().map(|first| *first == self.start)
///     }
/// }
///
/// let short = Short { name: FramingName::new("short").unwrap(), start: 2 };
/// let framer = Framer::custom(&short, Limits::default(), true);
/// drop(short);
/// let found: Vec<_> = framer
///     .frames(b"\x02\x02{}garbage\x02\x02[]")
///     .map(|frame| (frame.offset, frame.fault.is_some()))
///     .collect();
/// assert_eq!(found, [(0, false), (4, true), (11, false)]);
/// ```
pub trait CustomFraming: Send + Sync {
    /// Returns the name users write, which is its identity.
    fn name(&self) -> FramingName;
    /// Creates a reader at the start of one direction of a stream.
    fn reader(&self) -> Box<dyn FramingReader>;
    /// Writes one frame around a body. [`Wire`] holds the choices of the user, correct or not.
    fn write(&self, body: &[u8], wire: &Wire, out: &mut Vec<u8>);
}

impl fmt::Debug for dyn CustomFraming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}

/// Reads one direction of a stream of a [`CustomFraming`].
///
/// A reader gets the window of bytes that are not consumed. The result depends only on the bytes, so that any split of
/// the stream into reads gives the same frames. A reader never panics, and never allocates a size that comes from a
/// number in the stream.
pub trait FramingReader: Send + Sync {
    /// Returns the next frame of the window, which is not empty, or the number of missing bytes. At the end of the
    /// stream ([`Buffer::eof`]) never returns [`Step::Incomplete`].
    fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a>;

    /// Returns `true` if a frame can start with these bytes, `false` if none can; `None` if the bytes do not show it,
    /// for example because they are too few. More bytes never change `true` or `false`.
    ///
    /// Without an answer, every frame is taken to start where the previous one ends. After a fault nothing is searched.
    fn is_start(&self, bytes: &[u8]) -> Option<bool> {
        let _ = bytes;
        None
    }

    /// Returns the number of bytes, at most 1024, after which [`FramingReader::is_start`] has its answer.
    fn start_len(&self) -> usize {
        PLAUSIBLE
    }

    /// Tells the limits of a message, before the first frame.
    fn set_limits(&mut self, limits: Limits) {
        let _ = limits;
    }

    /// Returns the error of bytes that cannot start a frame.
    fn wrong_start(&self, bytes: &[u8]) -> DecodeError {
        let span = Span::new(0, bytes.len().min(1));
        let got = bytes.first();
        let got = got.map_or_else(String::new, |byte| format!("the byte {byte:02x}"));
        DecodeError::new("bad-length", span, "frame", "the start of a frame", got)
    }

    /// Drops the partial message, because bytes are missing. The next window starts where a frame can start.
    fn seek(&mut self) {}

    /// Returns `true` if a frame starts at the start of the window.
    fn is_between(&self) -> bool {
        true
    }

    /// Returns the offset of a message that is consumed in part.
    fn pending_start(&self) -> Option<u64> {
        None
    }
}

/// A reader, with the search for the next frame.
pub(super) struct CustomReader {
    reader: Box<dyn FramingReader>,
    resync: Resync,
}

impl CustomReader {
    pub(super) fn new(framing: &dyn CustomFraming, limits: Limits) -> Self {
        let mut reader = framing.reader();
        reader.set_limits(limits);
        let mut resync = Resync::new(Framing::Custom(framing.name()), None);
        resync.set_start_len(reader.start_len());
        Self { reader, resync }
    }

    pub(super) fn seek(&mut self) {
        self.reader.seek();
        self.resync.search();
    }

    pub(super) fn is_between(&self) -> bool {
        self.resync.is_between() && self.reader.is_between()
    }

    pub(super) fn pending_start(&self) -> Option<u64> {
        self.reader.pending_start()
    }

    pub(super) fn next<'a>(&'a mut self, input: Buffer<'a>) -> Step<'a> {
        if input.window.is_empty() {
            return Step::Incomplete(None);
        }
        let lost = !self.resync.is_active()
            && self.reader.is_between()
            && self.reader.is_start(input.window) == Some(false);
        if lost {
            let error = self.reader.wrong_start(input.window);
            self.resync.lose(error);
        }
        if self.resync.is_active() {
            let is_start = |bytes: &[u8]| self.reader.is_start(bytes);
            match self.resync.next_at(input, is_start) {
                Step::Took(0) => {}
                step => return step,
            }
        }
        self.reader.next(input)
    }
}
