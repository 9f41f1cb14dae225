//! What is to be done at a place of a stream.
//!
//! ```text
//!   stream   ......|== message =========|......
//!   edits          ^ Wait     ^^ Put    ^ Put
//!            before it   in place of two    behind it
//! ```

use serde_json::{Map, Value};
use std::cmp::Reverse;
use std::ops::Range;

/// Something to be done with a run of a stream, or, where that is empty, in front of the byte at its place.
pub(super) struct Edit {
    pub(super) at: Range<u64>,
    pub(super) does: Does,
}

pub(super) enum Does {
    /// These bytes go out instead.
    Put(Vec<u8>),
    /// So many ns pass.
    Wait(u64),
    /// This was done, or could not be.
    Told(Map<String, Value>),
    /// Here the stream ends.
    End(End),
    /// Here begins a body in chunks.
    Chunks,
    /// These bytes go out as a chunk of their own, where the next one can begin.
    Chunk(Vec<u8>),
}

/// How a stream ends on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Close,
    Reset,
    Stall,
}

impl Edit {
    /// What comes first: by place; there, what is put in front before what is put instead, the longest first, so that
    /// what is left out takes with it what lies inside.
    pub(super) fn key(&self) -> (u64, bool, Reverse<u64>) {
        let len = self.at.end - self.at.start;
        (self.at.start, len > 0, Reverse(len))
    }
}
