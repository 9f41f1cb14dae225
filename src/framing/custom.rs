//! Framings from outside this crate.

use super::{Buffer, Step, Wire};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A framing that a program brings with its protocol, as
/// [`Framing::Custom`](super::Framing::Custom). Its name is its identity.
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
