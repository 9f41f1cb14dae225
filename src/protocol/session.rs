//! What was said, over time: the passive half of a protocol.
//!
//! A [`Session`] is told of every message and event of a conversation, with direction, connection and time as
//! arguments, and reports which rules are broken and what answers what. It touches no clock and no socket, so that a
//! file, a pipe and a live proxy are judged alike.
//!
//! ```text
//!   Seen, Happened -> Session -> Report { findings, answers }        while it runs
//!                             -> Vec<Waiting>                        who owes the next message
//! ```
//!
//! Sessions name the rules that are broken; [`Rule`] says what each is about.

pub(super) mod heartbeat;
pub(super) mod http;
pub(super) mod memory;
pub(super) mod text;
mod waiting;

use super::correlation::Asked;
use super::peer::{Peer, PeerConfig, Silent};
pub(crate) use super::rules::{Example, Need, Rule, Severity};
pub(crate) use super::seen::{Place, Seen};
use super::{Direction, Origin};
pub use waiting::Waiting;

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Happened {
    /// It opened.
    Opened,
    /// One direction ended.
    Ended,
    /// It closed in order.
    Closed,
    /// It was cut.
    Reset,
    /// The spawned child ended.
    Exited,
    /// Bytes went by unrecorded: what follows may miss its beginning.
    Lost,
}

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Broken {
    /// The name of the rule.
    pub rule: &'static str,
    /// Where.
    pub place: Place,
    /// One sentence: what is there, and what should be.
    pub text: String,
    /// Another message that it has to do with.
    pub related: Option<u64>,
    /// It is no worse than this here, however severe the rule is.
    pub at_most: Severity,
}

/// What one message answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// What it answers: an index of a message.
    pub to: u64,
    /// Nanoseconds between the two, where both times are known.
    pub latency: Option<i64>,
    /// What was asked: kind and subject.
    pub kind: Box<str>,
    /// What was asked: kind and subject.
    pub subject: Option<Box<str>>,
    /// Nothing more will answer it.
    pub last: bool,
    /// Its id is that of the request in another form: a client that compares ids as they are written does not match it.
    pub id_form_differs: bool,
}

/// What a session says of one message or event; reuse one for all of a run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Rules that were broken.
    pub broken: Vec<Broken>,
    /// What the message at hand answers.
    pub answer: Option<Answer>,
}

impl Report {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.broken.clear();
        self.answer = None;
    }

    /// A rule is broken; the text says what is there, and what should be.
    pub fn broken(&mut self, rule: &'static str, place: Place, text: impl Into<String>) {
        self.broken.push(Broken {
            rule,
            place,
            text: text.into(),
            related: None,
            at_most: Severity::Error,
        });
    }

    /// A rule is broken, and another message has to do with it.
    pub fn broken_by(
        &mut self,
        rule: &'static str,
        place: Place,
        related: u64,
        text: impl Into<String>,
    ) {
        self.broken.push(Broken {
            rule,
            place,
            text: text.into(),
            related: Some(related),
            at_most: Severity::Error,
        });
    }

    /// What was reported last is no worse than this.
    pub fn at_most(&mut self, severity: Severity) {
        if let Some(last) = self.broken.last_mut() {
            last.at_most = severity;
        }
    }

    /// The message at hand answers something.
    pub(crate) fn answers(&mut self, asked: &Asked, seen: &Seen<'_>, last: bool) {
        let times = asked.place.origin.time.zip(seen.origin.time);
        self.answer = Some(Answer {
            to: asked.place.index,
            latency: times.map(|(from, to)| to.saturating_sub(from)),
            kind: asked.kind.clone(),
            subject: asked.subject.clone(),
            last,
            id_form_differs: false,
        });
    }
}

/// What is known beside the messages.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The address that the peer was reached by, as a recording's head says.
    pub connect: Option<String>,
    /// The command that spawned the peer, as a recording's head says.
    pub argv: Vec<String>,
    /// The secret that tokens are signed with.
    pub secret: Option<Vec<u8>>,
    /// Most requests that are followed at a time.
    pub most_open: usize,
    /// Whether messages come in the order in which they went by, those of different directions too.
    pub order: bool,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            connect: None,
            argv: Vec::new(),
            secret: None,
            most_open: super::correlation::MOST,
            order: true,
        }
    }
}

/// Follows one conversation: all connections between the same two sides.
pub trait Session: Send {
    /// A message, in the order in which they went by.
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report);

    /// Something happened to a connection, or to one of its directions.
    fn happened(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        let _ = (origin, what, report);
    }

    /// Nothing more will come.
    fn finish(&mut self, report: &mut Report);

    /// What is waited for at this moment, the oldest first.
    fn waiting(&self) -> Vec<Waiting>;

    /// Whether the message of that index can still be answered, be it that nobody could blame a peer that never does.
    /// Whoever sends many requests asks for each of them: it must not cost a look at all.
    fn is_open(&self, index: u64) -> bool {
        self.waiting().iter().any(|one| one.place.index == index)
    }

    /// What the two sides of a connection are called, if not as the protocol usually calls them.
    fn sides(&self, conn: Option<u32>) -> Option<[&'static str; 2]> {
        let _ = conn;
        None
    }

    /// Whether it was given what only it knows the use of: a secret, a signature, a connection string.
    fn has(&self, need: Need) -> bool {
        let _ = need;
        false
    }

    /// How many requests were not followed because too many were open.
    fn refused(&self) -> u64 {
        0
    }
}

/// What a protocol does over time: its rules, and both halves of a conversation.
pub trait Behavior: Sync {
    /// The rules that its conversations are held to.
    fn rules(&self) -> &'static [Rule];
    /// Follows one conversation, over all its connections.
    fn session<'a>(&'a self, config: &SessionConfig) -> Box<dyn Session + 'a>;
    /// Plays one side of a conversation: the one that speaks in that direction.
    fn peer<'a>(&'a self, side: Direction, config: &PeerConfig) -> Box<dyn Peer + 'a> {
        let _ = (side, config);
        Box::new(Silent)
    }
}

/// Of a protocol without rules: it follows nothing and says nothing.
pub(super) struct Passive;

impl Behavior for Passive {
    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn session<'a>(&'a self, _: &SessionConfig) -> Box<dyn Session + 'a> {
        Box::new(Self)
    }
}

impl Session for Passive {
    fn message(&mut self, _: &Seen<'_>, _: &mut Report) {}

    fn finish(&mut self, _: &mut Report) {}

    fn waiting(&self) -> Vec<Waiting> {
        Vec::new()
    }
}
