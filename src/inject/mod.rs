//! Injects faults: which messages they match, and what they change.
//!
//! ```text
//!   kind=call subject~"math.*" nth 2: delay 50ms
//!   '- which: the conditions of select   '- what becomes of it
//!                              '- how often: nth N, every N, chance P
//!
//!   read ---> [ held until its frame is complete ] ---> written
//!                 '- Decoder: condition, counts          '- with its edits, its waits, or the end of the connection
//! ```
//!
//! An [`InjectedFault`] is parsed from text ([`str::parse`]). An [`Injector`] takes the bytes that were
//! read, and returns actions: [`Out`]. It uses no socket and no clock. A direction that no fault
//! can match passes at once. In the other direction, bytes wait until their frame is complete, and
//! bytes that no fault matches are sent unchanged.
//!
//! All random choices depend on a seed: the same faults, the same seed and the same messages give
//! the same bytes.

mod apply;
mod corrupt;
mod edit;
mod injector;
mod length;
mod parse;
mod queue;

use crate::path::Path;
use crate::select::Expr;
pub use injector::{FaultPlan, Injector, InsertError};
pub use queue::Out;
use std::fmt;
use std::sync::Arc;

/// A fault to inject.
#[derive(Clone, Debug)]
pub struct InjectedFault {
    /// The condition on messages.
    pub condition: Expr,
    /// The selection among matching messages.
    pub frequency: Frequency,
    /// The action on these messages.
    pub action: Action,
    /// The original text.
    text: String,
}

impl fmt::Display for InjectedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A selection among matching messages; all given limits apply.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Frequency {
    /// Only this one, counted from 1 over all connections.
    pub nth: Option<u64>,
    /// Each one whose number is a multiple of this.
    pub every: Option<u64>,
    /// Each one with this probability, from 0 to 1.
    pub chance: Option<f64>,
}

/// An action on a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The message waits this many nanoseconds, and later ones wait behind it.
    Delay(u64),
    /// The message is removed.
    Drop,
    /// The message is sent twice.
    Dup,
    /// A byte of the message is changed.
    Corrupt(CorruptSpot),
    /// Only this many bytes of its frame are sent.
    Truncate(u64),
    /// The length in its frame is increased or decreased.
    Length(i64),
    /// The connection is closed instead, with this code if it is a QUIC connection.
    Close(Option<u64>),
    /// The connection is cut instead; over QUIC, this direction of the stream is reset with this code.
    Reset(Option<u64>),
    /// The message and all later bytes in its direction are never sent.
    Stall,
    /// These bytes are sent before it, unchanged.
    Inject(InjectedFile),
}

/// The position of a corruption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CorruptSpot {
    /// Any byte of its body.
    Byte,
    /// The value at this path, so that everything around it still reads as before.
    At(Path),
}

/// Bytes from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedFile {
    /// The name of the file.
    pub name: String,
    /// The content, set by code that can read files.
    pub bytes: Arc<[u8]>,
}

#[cfg(test)]
mod tests;
