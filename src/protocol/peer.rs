//! The active half of a protocol: what a side says of itself, and how it puts what it is told to say.
//!
//! ```text
//!   opened --> hello             heard --> replies             tick --> heartbeats           bye --> farewell
//!   a request + a phrase (`result 5`) --> the message that says so
//! ```
//!
//! Whoever plays a side (a stub, a replay, `send`) brings the connection and says what the conversation is about; a
//! [`Peer`] does what the protocol asks of every side: handshake, acknowledgements, heartbeats, resuming, numbering. It
//! touches no socket and no clock: time is an argument, in nanoseconds since 1970.

mod recent;
mod text;

use super::make::Mint;
use super::session::Seen;
use crate::error::Refusal;
pub(crate) use recent::Recent;
pub(crate) use text::{as_json, as_object, with_about};
pub use text::{json_of, look};

/// Most connections, sessions and requests that a side remembers; the oldest is forgotten for one more.
pub(crate) const MOST: usize = 1 << 12;

/// A message to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Says {
    /// On which connection.
    pub conn: u32,
    /// The message, as `decode -f json` would show it; empty where nothing is said, and the connection only closed.
    pub message: String,
    /// The id of the request that it answers, as it is written, where the message has another: over HTTP it goes out in
    /// that request's exchange all the same.
    pub to: Option<String>,
    /// What is said right after it, on the same connection: some protocols say one thing in two messages.
    pub then: Vec<String>,
    /// Nothing more is said on that connection: it is closed after this.
    pub closes: bool,
    /// Why it is closed, where the other side has not ended it in order.
    pub why: Option<&'static str>,
    /// It only acknowledges: what follows is for the script to say. Where the script has nothing, the request is a miss.
    pub acknowledges: bool,
}

impl Says {
    /// A message, after which the conversation goes on.
    pub fn new(conn: u32, message: impl Into<String>) -> Self {
        Self {
            conn,
            message: message.into(),
            to: None,
            then: Vec::new(),
            closes: false,
            why: None,
            acknowledges: false,
        }
    }

    /// The end of a connection, without a word.
    pub fn close(conn: u32) -> Self {
        Self {
            closes: true,
            ..Self::new(conn, "")
        }
    }

    /// The same, and another message right after it.
    #[must_use]
    pub fn and(mut self, message: impl Into<String>) -> Self {
        self.then.push(message.into());
        self
    }

    /// The same as the last message of its connection.
    #[must_use]
    pub fn last(mut self) -> Self {
        self.closes = true;
        self
    }
}

/// Whether calls may be made on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Readiness {
    /// They may.
    Ready,
    /// Not yet: what must come first, in words: `ready of the oracle`.
    Waits(&'static str),
    /// They never will: why.
    Refused(String),
}

/// A request that was heard, kept until it is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// Its index, among all messages of the run.
    pub index: u64,
    /// Its connection.
    pub conn: u32,
    /// Its kind.
    pub kind: String,
    /// What it is about.
    pub subject: Option<String>,
    /// The message, as `decode -f json` would show it.
    pub message: String,
}

impl Request {
    /// What is kept of a message.
    pub fn of(seen: &Seen<'_>) -> Self {
        let mut message = Vec::new();
        if let Some(parsed) = seen.message.value {
            parsed.write_message(seen.frame.view.bytes, &mut message);
        }
        Self {
            index: seen.index,
            conn: seen.origin.conn.unwrap_or_default(),
            kind: seen.message.kind.to_string(),
            subject: seen.message.subject.as_deref().map(str::to_owned),
            message: String::from_utf8(message).unwrap_or_default(),
        }
    }
}

/// What came of a part of a request; values are JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Yes.
    Result(String),
    /// No.
    Error {
        /// A code of the protocol.
        code: Option<String>,
        /// In words.
        message: String,
        /// More on it.
        data: Option<String>,
    },
    /// Nobody waits for an answer.
    Nothing,
}

/// What is to be said; values are JSON, as `message` of the JSON output has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phrase<'a> {
    /// Yes, and this is the answer.
    Result(&'a str),
    /// No.
    Error {
        /// A code of the protocol: a number or a name. Left open, the protocol's usual one.
        code: Option<&'a str>,
        /// In words.
        message: &'a str,
        /// More on it, where the protocol has a place for that.
        data: Option<&'a str>,
    },
    /// What came of each part of a request: of the calls of a batch.
    Results(&'a [Outcome]),
    /// One of several answers.
    Item(&'a str),
    /// One of several answers, told as what changed since the one before.
    Delta(&'a str),
    /// The last of several answers.
    End(Option<&'a str>),
    /// A request the other way, while this one waits; what it is about, and its parameters.
    Ask(&'a str, &'a str),
    /// Something nobody need answer; what it is about, and what it holds.
    Tell(&'a str, &'a str),
}

impl Phrase<'_> {
    /// What sort of phrase it is, in a word.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Result(_) => "result",
            Self::Error { .. } => "error",
            Self::Results(_) => "results",
            Self::Item(_) => "item",
            Self::Delta(_) => "delta",
            Self::End(_) => "end",
            Self::Ask(..) => "ask",
            Self::Tell(..) => "tell",
        }
    }

    /// Refuses it: in answer to this, only others are possible.
    pub fn refused(&self, wanted: impl Into<crate::error::Text>) -> Refusal {
        Refusal::new("phrase", wanted, self.name())
    }
}

/// Something that the side can be asked for: a selector, a component, a function, a tool, a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offer {
    /// Its name.
    pub name: String,
    /// What lists say of it beside the name: a JSON object, merged into the protocol's own entry.
    pub about: Option<String>,
    /// Whether it answers with a stream.
    pub streams: bool,
}

/// What a side is to be.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PeerConfig {
    /// Where fresh ids come from: the same seed gives the same ones.
    pub seed: u64,
    /// When it begins, in nanoseconds since 1970.
    pub now: i64,
    /// How it names itself, where the protocol has names for sides.
    pub name: Option<String>,
    /// The token that it shows.
    pub token: Option<String>,
    /// The secret that tokens of others are checked with; without one they are not.
    pub secret: Option<Vec<u8>>,
    /// What it can be asked for.
    pub offers: Vec<Offer>,
    /// Which dialect it speaks first, where the protocol has several and lets this side begin: a name that the
    /// protocol's own documentation lists. Answers are in the dialect of what they answer.
    pub dialect: Option<String>,
    /// Somebody else says the protocol's hello: this side only notes that it was said.
    pub no_hello: bool,
}

impl PeerConfig {
    /// Where the side's own ids come from: others than those that whoever plays it makes of the same seed.
    pub fn mint(&self) -> Mint {
        Mint::new(self.seed ^ 0x7065_6572)
    }
}

/// One side of one conversation, over all its connections.
///
/// Every method has a default that does nothing, for protocols that ask nothing of a side.
pub trait Peer: Send {
    /// A connection is open, and messages can be said on it: what this side says first, unless [`PeerConfig::no_hello`] forbids
    /// it.
    fn opened(&mut self, conn: u32, now: i64, says: &mut Vec<Says>) {
        let _ = (conn, now, says);
    }

    /// The other side said something. What the protocol itself answers goes to `says`; a request for which nothing goes
    /// there is for the script to answer.
    fn heard(&mut self, seen: &Seen<'_>, now: i64, says: &mut Vec<Says>) {
        let _ = (seen, now, says);
    }

    /// This side said something, be it of its own or as it was told.
    fn said(&mut self, seen: &Seen<'_>, now: i64) {
        let _ = (seen, now);
    }

    /// A connection is no more.
    fn closed(&mut self, conn: u32, now: i64) {
        let _ = (conn, now);
    }

    /// Whether calls may be made on a connection that is open.
    fn readiness(&self, conn: u32) -> Readiness {
        let _ = conn;
        Readiness::Ready
    }

    /// When it wants to be told that time has passed, if ever.
    fn due(&self) -> Option<i64> {
        None
    }

    /// Time has passed: heartbeats.
    fn tick(&mut self, now: i64, says: &mut Vec<Says>) {
        let _ = (now, says);
    }

    /// What is said before a connection is closed; whether that is all. If it is not, something must be heard first, and it
    /// is asked again, until it is too `late` to wait.
    fn bye(&mut self, conn: u32, late: bool, now: i64, says: &mut Vec<Says>) -> bool {
        let _ = (conn, late, now, says);
        true
    }

    /// The message that says so, in answer to a request; for [`Phrase::Tell`] and [`Phrase::Ask`], in its course.
    /// Refuses what the protocol has no words for.
    fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, now: i64) -> Result<Says, Refusal>;
}

/// A peer of a protocol that asks nothing of a side and has no phrases.
#[derive(Debug, Default)]
pub(crate) struct Silent;

impl Peer for Silent {
    fn phrase(&mut self, _: &Request, _: Phrase<'_>, _: i64) -> Result<Says, Refusal> {
        Err(Refusal::new("answer", "a whole message", "a phrase"))
    }
}
