//! A description as data, without its meaning.

use super::body::Body;
use super::schema::Schemas;
use crate::framing::Framing;
use crate::own_rules::OwnRule;
use crate::path::Path;
use crate::protocol::schema::marks::Marks;
use crate::protocol::{Direction, Role};
use crate::select::Expr;

/// A protocol that a file describes.
#[derive(Debug)]
pub(super) struct Description {
    pub name: String,
    pub about: String,
    /// The names of the two sides: first the one that opens the connection.
    pub sides: [String; 2],
    pub port: Option<u16>,
    pub framings: Vec<Framing>,
    /// The end of each line that is written; empty if it is LF.
    pub line_end: String,
    /// Encodings, header and forms of texts.
    pub body: Body,
    pub pairing: Pairing,
    /// An answer may come on another connection than its request.
    pub across_connections: bool,
    /// The built-in protocol that reads and writes the messages.
    pub base: Option<String>,
    /// The kinds of messages; the first that matches counts.
    pub messages: Vec<MessageKind>,
    pub schemas: Schemas,
    pub marks: Marks,
    pub opening: Opening,
    pub heartbeat: Option<Heartbeat>,
    pub rules: Vec<OwnRule>,
}

/// The way in which an answer names its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    /// It repeats the id.
    Id,
    /// Answers come in the order of the requests.
    Order,
    /// Answers come in the order of the requests with the same subject.
    Subject,
}

/// A kind of message.
#[derive(Debug)]
pub(super) struct MessageKind {
    /// The condition of its messages; `None` if every message matches.
    pub when: Option<Expr>,
    pub kind: Word,
    pub role: Role,
    pub id: Option<Path>,
    /// The id of the request.
    pub reply_to: Option<Path>,
    /// The condition of the requests that it answers; without one, it answers all.
    pub answers: Option<Expr>,
    pub subject: Option<Word>,
    pub name: Option<Word>,
    /// The arguments or the result.
    pub content: Option<Path>,
    /// The condition of an answer that is an error.
    pub error: Option<Expr>,
    /// The code of an error.
    pub outcome: Option<Path>,
    /// The text of an error, if it is not the outcome.
    pub text: Option<Path>,
    /// The only direction of its messages.
    pub direction: Option<Direction>,
    /// The id of the request that a message cancels.
    pub cancels: Option<Path>,
    /// The condition of the requests by which the other side ends the connection, instead of an answer.
    pub ends: Option<Expr>,
    /// The name of its definition.
    pub ty: Option<String>,
    /// The condition of the last item.
    pub last: Option<Expr>,
    /// No other protocol has such a message.
    pub certain: bool,
}

impl MessageKind {
    /// Returns true for a message that answers a request.
    pub fn answers(&self) -> bool {
        is_answer(self.role)
    }

    /// Returns the place of the id that pairs the message with others.
    pub fn pair_id(&self) -> Option<&Path> {
        let reply_to = self.reply_to.as_ref().filter(|_| self.answers());
        reply_to.or(self.id.as_ref())
    }

    /// Returns the name of the kind if all its messages have the same.
    pub fn fixed_kind(&self) -> Option<&str> {
        match &self.kind {
            Word::Text(kind) => Some(kind),
            Word::At(_) => None,
        }
    }
}

/// Returns true for the role of a message that answers a request.
pub(super) fn is_answer(role: Role) -> bool {
    matches!(role, Role::Response | Role::Error | Role::Item | Role::End)
}

/// A text, or its place in a message.
#[derive(Debug)]
pub(super) enum Word {
    Text(String),
    At(Path),
}

/// The messages that sides send by themselves.
#[derive(Debug, Default)]
pub(super) struct Opening {
    /// Those of a client, each after the answer to the one before.
    pub client: Vec<String>,
    /// Those with which a server begins a connection.
    pub server: Vec<String>,
    /// Those of a server.
    pub answers: Vec<OwnAnswer>,
}

/// An answer that a server gives by itself.
#[derive(Debug)]
pub(super) struct OwnAnswer {
    /// The condition of the request.
    pub when: Expr,
    pub result: String,
    /// Messages that follow.
    pub then: Vec<String>,
}

/// What shows that a side is alive.
#[derive(Debug)]
pub(super) struct Heartbeat {
    /// The message, as JSON.
    pub send: String,
    /// The time between two of them, in nanoseconds.
    pub every: i64,
    /// The direction of the side that sends it by itself.
    pub direction: Direction,
    /// The message that answers it.
    pub answer: Option<String>,
}
