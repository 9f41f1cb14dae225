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

use super::correlation::Asked;
pub use super::rules::{Example, Need, Rule, Severity};
use super::{Direction, Message, Origin};
use crate::framing::{Frame, Head};
use crate::span::Span;
use crate::tape::Node;

/// Where something is, in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The message, or [`Place::NO_MESSAGE`].
    pub index: u64,
    /// Its connection and direction; the time is the message's.
    pub origin: Origin,
    /// First byte, from the start of the direction's stream.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
}

impl Place {
    /// The index of a place that is in no message: a connection on which nothing was sent.
    pub const NO_MESSAGE: u64 = u64::MAX;
}

/// A message, as a session is told of it.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// Counts all messages of the run.
    pub index: u64,
    /// Connection, direction and time, where known.
    pub origin: Origin,
    /// Its bytes and how they were delimited.
    pub frame: &'a Frame<'a>,
    /// What it means. Its value is whole, and has places.
    pub message: &'a Message<'a>,
}

impl<'a> Seen<'a> {
    /// The value, where there is one.
    pub fn root(&self) -> Option<Node<'a>> {
        self.message
            .value
            .and_then(|parsed| parsed.root(self.frame.view.bytes))
    }

    /// The place of the whole frame.
    pub fn whole(&self) -> Place {
        Place {
            index: self.index,
            origin: self.origin,
            offset: self.frame.offset,
            len: self.frame.len,
        }
    }

    /// What is wrong with the mask of a WebSocket frame. RFC 6455 section 5.1: "a client MUST mask all frames that it
    /// sends to the server", "A server MUST NOT mask any frames", and whoever is sent another closes the connection.
    pub fn wrong_mask(&self) -> Option<&'static str> {
        match (self.frame.head, self.origin.direction?) {
            (Head::WebSocket { masked: false, .. }, Direction::ToServer) => {
                Some("the frame is not masked, what a client sends must be")
            }
            (Head::WebSocket { masked: true, .. }, Direction::ToClient) => {
                Some("the frame is masked, what a server sends must not be")
            }
            _ => None,
        }
    }

    /// The place of a value.
    pub fn at(&self, node: Node<'_>) -> Place {
        self.span(node.span())
    }

    /// The place of a part of the view.
    pub fn span(&self, span: Span) -> Place {
        let range = self.frame.view.range(span);
        Place {
            offset: range.start,
            len: range.end - range.start,
            ..self.whole()
        }
    }
}

/// What happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub fn answers(&mut self, asked: &Asked, seen: &Seen<'_>, last: bool) {
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

/// Something that one side waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The message that waits to be answered, or after which nothing came.
    pub place: Place,
    /// What waits, in words: `call math.add`, `the executor, for ready`.
    pub what: String,
    /// Its id, as shown.
    pub id: String,
    /// The side that must speak; `None` where directions are not known.
    pub owes: Option<Direction>,
    /// The name of that side on this connection, if it is not the protocol's usual one.
    pub side: Option<&'static str>,
    /// The protocol's own reason to wait, where there is one.
    pub why: Option<String>,
}

impl Waiting {
    /// The name of the side that must speak; `sides` are the protocol's usual names.
    pub fn debtor(&self, sides: [&'static str; 2]) -> Option<&'static str> {
        let [to_server, to_client] = sides;
        let usual = match self.owes? {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        };
        Some(self.side.unwrap_or(usual))
    }
}

/// What is known beside the messages.
#[derive(Clone, Debug)]
pub struct Aids {
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

impl Default for Aids {
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
