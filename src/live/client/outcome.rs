//! What came of a run.

use crate::decoder::{Decoded, Half};
use crate::diff::{Field, Which};
use crate::protocol::session::Waiting;

/// What is told while it runs.
pub enum Event<'t> {
    /// A message of the other side.
    Received(&'t Decoded<'t>, crate::conversation::Verdict<'t>),
    /// Something went otherwise than in the recording.
    Diverged(&'t Divergence),
    /// Nothing comes any more that is waited for.
    Hangs(&'t Hang),
    /// Something worth knowing.
    Note(String),
}

/// Something went otherwise than in the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The message that is answered, as it was recorded.
    pub asked: Option<Which>,
    /// What is otherwise.
    pub how: Difference,
}

/// What is otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Two messages that belong together differ: the recorded one, the live one, where, and the paths that would have to be
    /// ignored.
    Differs(Which, Which, Vec<Field>, Vec<String>),
    /// An answer that the recording does not have.
    Extra(Which),
    /// Answers that did not come, although the last one did.
    Missing(Vec<Which>),
    /// The connection ended: how, what was still owed, and how many messages could not be said.
    Ended(u32, String, Vec<Which>, usize),
    /// The other side does not want to be asked: why.
    Refused(u32, String),
}

/// Nothing comes any more that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// Nanoseconds without a word that was waited for.
    pub silent: i64,
    /// Something else came in that time.
    pub other: bool,
    /// The connection is not open: it is not taken, or its own handshake (TLS, HTTP) is not finished.
    pub dials: bool,
    /// When that was found.
    pub now: i64,
    /// Recorded messages whose answers are owed.
    pub owed: Vec<Which>,
    /// The next message that could not be said, and what for.
    pub held: Option<(Which, String)>,
    /// Who waits for what.
    pub waiting: Vec<Waiting>,
    /// Frames that are here in part.
    pub halves: Vec<Half>,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Messages of the plan that were said.
    pub sent: u64,
    /// Answers and other messages that were compared with recorded ones.
    pub compared: u64,
    /// Things that went otherwise.
    pub differ: u64,
    /// Fields that the settings of the project ignored.
    pub ignored: u64,
    /// It stopped before its end, because something was waited for in vain.
    pub hangs: bool,
    /// It could not be done: why.
    pub trouble: Option<String>,
    /// It came to its end, or to the first divergence.
    pub is_over: bool,
}

impl Outcome {
    /// Whether all went as recorded.
    pub fn is_clean(&self) -> bool {
        self.is_over && self.differ == 0 && !self.hangs && self.trouble.is_none()
    }
}
