//! Faults on purpose: which messages, and what becomes of them.
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
//! A [`Fault`] is parsed from text ([`str::parse`]). An [`Injector`] is told what was read, and says what is to be done
//! with it: [`Out`]. It touches no socket and no clock. A direction that no fault can mean passes as it is, at once; in
//! any other, bytes wait for their frame to be complete, and those that no fault touches go out as they came.
//!
//! Nothing is left to chance but by a seed: the same faults, the same seed and the same messages give the same bytes.

mod act;
mod corrupt;
mod edit;
mod injector;
mod lane;
mod length;
mod parse;

use crate::path::Path;
use crate::select::Expr;
pub use injector::{Injector, Plan};
pub use lane::Out;
use std::fmt;
use std::sync::Arc;

/// Something that goes wrong on purpose.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Which messages are meant.
    pub condition: Expr,
    /// How many of them.
    pub often: Often,
    /// What becomes of them.
    pub action: Action,
    /// As it was written.
    text: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// How many of the messages that are meant; all that is given must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Often {
    /// Only this one, counted from 1 over all connections.
    pub nth: Option<u64>,
    /// Each one whose number is a multiple of this.
    pub every: Option<u64>,
    /// Each one with this chance, from 0 to 1.
    pub chance: Option<f64>,
}

/// What becomes of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It waits so many ns, and what comes after it waits behind it.
    Delay(u64),
    /// It is left out.
    Drop,
    /// It goes out twice.
    Dup,
    /// A byte of it is another.
    Corrupt(Spot),
    /// Only so many bytes of its frame go out.
    Truncate(u64),
    /// The length that its frame tells is more, or less, than it is.
    Length(i64),
    /// In its place the connection is closed.
    Close,
    /// In its place the connection is cut.
    Reset,
    /// It and all that comes after it in its direction never goes out.
    Stall,
    /// These bytes go out before it, as they are.
    Inject(File),
}

/// Where a message is corrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// In any byte of its body.
    Byte,
    /// In the value at this place, so that what is around it still reads as before.
    At(Path),
}

/// Bytes from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// What it is called.
    pub name: String,
    /// What is in it; to be filled in by whoever can read files.
    pub bytes: Arc<[u8]>,
}

#[cfg(test)]
mod tests;
