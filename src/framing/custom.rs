//! Framings from outside this crate.

use super::{Input, Step, Wire};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A framing that a program brings with its protocol, as [`Framing::Custom`](super::Framing::Custom). Its name is its
/// identity.
pub struct CustomFraming {
    /// The name users write.
    pub name: &'static str,
    /// A reader at the start of one direction of a stream.
    pub reader: fn() -> Box<dyn Reader>,
    /// Writes one frame around a body. [`Wire`] holds what the user chose, right or wrong.
    pub write: fn(body: &[u8], wire: &Wire, out: &mut Vec<u8>),
}

/// One direction of a stream of a [`CustomFraming`].
///
/// A reader looks at the window of bytes that are not done with, whose first byte may not belong to a frame. It decides by
/// the bytes alone, so that any split of the stream into reads gives the same frames. It never panics, and does not
/// allocate as much as a number on the wire says.
pub trait Reader: Send {
    /// The next frame of the window, or how many bytes are missing. At the end of the stream
    /// ([`Input::eof`]) a window that is not empty never gives [`Step::Incomplete`].
    fn next<'a>(&'a mut self, input: Input<'a>) -> Step<'a>;
    /// Bytes are missing: forgets what has begun, and looks for where the next frame begins.
    fn seek(&mut self);
    /// Whether a frame begins at the start of the window.
    fn is_between(&self) -> bool;
    /// Where a message begins whose bytes were taken in so far without it being complete.
    fn begun(&self) -> Option<u64> {
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
