//! Edits of a stream.
//!
//! ```text
//!   stream   ......|== message =========|......
//!   edits          ^ Wait     ^^ Put    ^ Put
//!            before it   in place of two    behind it
//! ```

use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::ops::Range;

/// An edit of a run of the stream; if the run is empty, before the byte at its position.
pub(super) struct Edit {
    pub(super) at: Range<u64>,
    pub(super) operation: EditKind,
}

pub(super) enum EditKind {
    /// Send these bytes instead.
    Put(Vec<u8>),
    /// Wait this many nanoseconds.
    Wait(u64),
    /// Report an applied fault, or the reason why it was not.
    Event(Map<String, Value>),
    /// End the stream.
    End(StreamEnd),
    /// A body in chunks starts here.
    Chunks,
    /// Send these bytes as a separate chunk, where the next chunk can start.
    Chunk(Vec<u8>),
}

/// The way in which a fault ends a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamEnd {
    Close(Option<u64>),
    Reset(Option<u64>),
    Stall,
}

impl Edit {
    /// Returns the sort key: by position; at one position, insertions before replacements, and the
    /// longest replacement first, so that it includes those inside it.
    pub(super) fn key(&self) -> (u64, bool, Reverse<u64>) {
        let len = self.at.end - self.at.start;
        (self.at.start, len > 0, Reverse(len))
    }
}
