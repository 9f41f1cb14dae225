//! The events and the result of a run.

use crate::decoder::{Decoded, Partial};
use crate::diff::{DiffMessage, FieldDifference};
use crate::protocol::session::Waiting;

/// An event of a run.
pub enum ClientEvent<'t> {
    /// A message of the peer.
    Received(&'t Decoded<'t>, crate::conversation::Verdict<'t>),
    /// An answer to what the protocol itself sent, such as a hello. Only typed messages have it.
    Handshake(&'t Decoded<'t>, crate::conversation::Verdict<'t>),
    /// A difference to the recording.
    Diverged(&'t Divergence),
    /// An expected message is late.
    Hangs(&'t Hang),
    /// A note for the user.
    Note(String),
}

/// A difference to the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The recorded request.
    pub request: Option<DiffMessage>,
    /// The difference.
    pub how: RunDifference,
}

/// A kind of difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunDifference {
    /// Two corresponding messages differ: the recorded one, the live one, the fields, and the paths that `--ignore`
    /// would need.
    Differs(DiffMessage, DiffMessage, Vec<FieldDifference>, Vec<String>),
    /// An answer that the recording does not have.
    Extra(DiffMessage),
    /// Answers that are missing although the last one was received.
    Missing(Vec<DiffMessage>),
    /// The connection ended: the description, the requests with pending answers, and the number of messages that were
    /// not sent.
    Ended(u32, String, Vec<DiffMessage>, usize),
    /// The peer refuses requests, with the reason.
    Refused(u32, String),
}

/// An expected message is late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hang {
    /// Nanoseconds since the last expected message.
    pub silence: i64,
    /// Other messages were received in that time.
    pub other_traffic: bool,
    /// The connection is not open: it is not accepted, or its handshake (TLS, HTTP) is not finished.
    pub is_connecting: bool,
    /// The time of the check.
    pub now: i64,
    /// Recorded messages with pending answers.
    pub pending: Vec<DiffMessage>,
    /// The next message that could not be sent, and what it waits for.
    pub blocked: Option<(DiffMessage, String)>,
    /// The pending answers of the session.
    pub waiting: Vec<Waiting>,
    /// The incomplete frames.
    pub partials: Vec<Partial>,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOutcome {
    /// Messages of the plan that were sent.
    pub sent: u64,
    /// Answers and other messages that were compared with recorded ones.
    pub compared: u64,
    /// The number of differences.
    pub differ: u64,
    /// Fields that the settings of the project ignore.
    pub ignored: u64,
    /// The run stopped early, because an expected message was late.
    pub hangs: bool,
    /// The run failed, with the reason.
    pub failure: Option<String>,
    /// The run reached its end or the first difference.
    pub is_over: bool,
}

impl RunOutcome {
    /// Returns `true` if the run was complete and had no differences.
    pub fn is_clean(&self) -> bool {
        self.is_over && self.differ == 0 && !self.hangs && self.failure.is_none()
    }
}
