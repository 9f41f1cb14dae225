//! The active part of a protocol: the messages that a side sends by itself, and the messages that a script asks for.
//!
//! ```text
//!   opened --> hello       received --> replies       tick --> heartbeats       prepare_close --> farewell
//!   a request + a reply (`result 5`) --> the message for it
//! ```
//!
//! The caller that plays a side (a stub, a replay, `send`) provides the connection and the content. A [`Peer`] does the
//! part that the protocol requires of every side: handshake, acknowledgements, heartbeats, resumption, numbering. It
//! touches no socket and no clock: time is an argument, in nanoseconds since 1970.

mod recent;
mod text;

use super::make::IdGen;
use super::session::Seen;
use crate::error::{Refusal, Result};
use crate::tape::Node;
pub(crate) use recent::RecentEntries;
use std::borrow::Cow;
pub(crate) use text::{as_json, as_object, shorten, with_about};
pub use text::{json_of, with_json};

/// The largest number of connections, sessions and requests that a side stores. One more replaces the oldest.
pub(crate) const MAX_ENTRIES: usize = 1 << 12;

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools)] // each is a property of its own
pub struct Outgoing {
    /// The connection.
    pub conn: u32,
    /// The stream, if the connection has several. A server sends only answers on it; without one, a request gets a
    /// stream of its own, and everything else shares one.
    pub stream: Option<u64>,
    /// The message, as `decode -f json` would show it; empty if the connection is only closed.
    pub message: String,
    /// The id of the request that this answers, as it is spelled, if the message itself has another id. Over HTTP the
    /// message is sent in the exchange of that request.
    pub to: Option<String>,
    /// Messages that follow directly on the same connection: some protocols need two messages.
    pub then: Vec<String>,
    /// This is the last message of the connection, which is then closed.
    pub closes: bool,
    /// The reason to close, if the peer has not ended the connection in order.
    pub why: Option<Cow<'static, str>>,
    /// The message only acknowledges the request: the script must send the answer. If the script has none, the request
    /// is a miss.
    pub acknowledges: bool,
    /// The message depends on what this side has sent: a script does not replace it.
    pub is_fixed: bool,
    /// It refuses only because this side does not know what an earlier connection did: a recording may know it.
    pub is_unknown: bool,
}

impl Outgoing {
    /// A message after which the conversation continues.
    pub fn new(conn: u32, message: impl Into<String>) -> Self {
        Self {
            conn,
            stream: None,
            message: message.into(),
            to: None,
            then: Vec::new(),
            closes: false,
            why: None,
            acknowledges: false,
            is_fixed: false,
            is_unknown: false,
        }
    }

    /// Closes a connection without a message.
    pub fn close(conn: u32) -> Self {
        Self {
            closes: true,
            ..Self::new(conn, "")
        }
    }

    /// Forbids to replace the message.
    #[must_use]
    pub fn fixed(mut self) -> Self {
        self.is_fixed = true;
        self
    }

    /// Marks a refusal for want of an earlier connection.
    #[must_use]
    pub fn unknown(mut self) -> Self {
        self.is_unknown = true;
        self
    }

    /// Adds another message that follows directly.
    #[must_use]
    pub fn and(mut self, message: impl Into<String>) -> Self {
        self.then.push(message.into());
        self
    }

    /// Closes the connection after this message.
    #[must_use]
    pub fn last(mut self) -> Self {
        self.closes = true;
        self
    }
}

/// The state of a connection with respect to calls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Readiness {
    /// Calls are possible.
    Ready,
    /// Calls must wait for this: `ready of the oracle`.
    Waits(Cow<'static, str>),
    /// Calls will never be possible, for this reason.
    Refused(String),
}

/// The handshake of a connection.
#[derive(Debug, Default)]
pub(crate) enum HandshakeStage {
    /// Nothing was sent.
    #[default]
    New,
    /// The first message was sent, with this id.
    Requested(String),
    /// It was answered: calls are possible.
    Open,
    /// Calls are not possible any more, for this reason.
    Over(String),
}

impl HandshakeStage {
    /// Returns the readiness for calls; `waits` names the message that must come first.
    pub(crate) fn readiness(stage: Option<&Self>, waits: &'static str) -> Readiness {
        match stage {
            Some(Self::Open) => Readiness::Ready,
            Some(Self::Over(why)) => Readiness::Refused(why.clone()),
            _ => Readiness::Waits(waits.into()),
        }
    }
}

/// A received request, stored until it is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The index among all messages of the run.
    pub index: u64,
    /// The connection.
    pub conn: u32,
    /// The stream, if the connection has several.
    pub stream: Option<u64>,
    /// The kind.
    pub kind: String,
    /// The subject.
    pub subject: Option<String>,
    /// The message, as `decode -f json` would show it.
    pub message: String,
    /// Neither a rule nor the recording knows its subject.
    pub is_unknown: bool,
}

impl Request {
    /// Copies the parts of a message that are stored.
    pub fn of(seen: &Seen<'_>) -> Self {
        let mut message = Vec::new();
        if let Some(parsed) = seen.message.value {
            parsed.write_message(seen.frame.view.bytes, &mut message);
        }
        Self {
            index: seen.index,
            conn: seen.origin.conn.unwrap_or_default(),
            stream: seen.origin.stream,
            kind: seen.message.kind.to_string(),
            subject: seen.message.subject.as_deref().map(str::to_owned),
            message: String::from_utf8(message).unwrap_or_default(),
            is_unknown: false,
        }
    }
}

/// The outcome of a part of a request; values are JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestOutcome {
    /// A result.
    Result(String),
    /// An error.
    Error {
        /// The protocol's code.
        code: Option<String>,
        /// The text.
        message: String,
        /// Further data.
        data: Option<String>,
        /// Neither a rule nor the recording knows the subject of the part.
        is_unknown: bool,
    },
    /// The whole answer, which this side gave by itself.
    Message(String),
    /// No answer is expected.
    Nothing,
}

/// The content to send; values are JSON, as in `message` of the JSON output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerReply<'a> {
    /// A result.
    Result(&'a str),
    /// An error.
    Error {
        /// The protocol's code: a number or a name. `None` means the usual code of the protocol.
        code: Option<&'a str>,
        /// The text.
        message: &'a str,
        /// Further data, if the protocol has a member for it.
        data: Option<&'a str>,
    },
    /// The outcome of each part of a request: of the calls of a batch.
    Results(&'a [RequestOutcome]),
    /// One of several answers.
    Item(&'a str),
    /// One of several answers, as the difference from the one before.
    Delta(&'a str),
    /// The last of several answers.
    End(Option<&'a str>),
    /// A request in the opposite direction while this one waits: its subject and its parameters.
    Ask(&'a str, &'a str),
    /// A message that needs no answer: its subject and its content.
    Tell(&'a str, &'a str),
}

impl PeerReply<'_> {
    /// Returns the name of the variant.
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

    /// Returns the refusal of this variant; `wanted` names the ones that are possible here.
    pub fn refused(&self, wanted: impl Into<crate::error::Text>) -> Refusal {
        Refusal::new("reply", wanted, self.name())
    }
}

/// An item that the side offers: a selector, a component, a function, a tool, a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offer {
    /// The name.
    pub name: String,
    /// Further members of its entry in lists: a JSON object, merged into the protocol's own entry.
    pub about: Option<String>,
    /// It answers with a stream.
    pub streams: bool,
}

/// The settings of a peer.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PeerConfig {
    /// The seed for generated ids: the same seed gives the same ids.
    pub seed: u64,
    /// The start time, in nanoseconds since 1970.
    pub now: i64,
    /// The name that it sends, if sides have names in the protocol.
    pub name: Option<String>,
    /// The token that it sends.
    pub token: Option<String>,
    /// The secret that received tokens are checked with; without it they are not checked.
    pub secret: Option<Vec<u8>>,
    /// The items that it offers.
    pub offers: Vec<Offer>,
    /// Further members of its answer to the opening of a session: a JSON object. They replace the usual ones.
    pub about: Option<String>,
    /// The dialect of its first messages, if the protocol has several and this side sends first: a name that the
    /// documentation of the protocol lists. Answers use the dialect of their request.
    pub dialect: Option<String>,
    /// The caller sends the protocol's hello; this side only records that it was sent.
    pub no_hello: bool,
    /// The hellos that the script answers, such as `request initialize`: sessions open with one of them. Empty: with any of
    /// the protocol.
    pub hellos: Vec<String>,
}

impl PeerConfig {
    /// Creates the generator of the side's own ids. They differ from those that the caller generates with the same
    /// seed.
    pub fn mint(&self) -> IdGen {
        IdGen::new(self.seed ^ 0x7065_6572)
    }
}

/// One side of one conversation, over all its connections.
///
/// Every method except `reply` has a default that does nothing, for protocols that require nothing of a side.
pub trait Peer: Send {
    /// Handles an open connection on which messages can be sent: adds the first messages of this side, unless
    /// [`PeerConfig::no_hello`] is set.
    fn opened(&mut self, conn: u32, now: i64, outgoing: &mut Vec<Outgoing>) {
        let _ = (conn, now, outgoing);
    }

    /// Handles a received message. Adds the answers that the protocol itself requires; a request without such an answer
    /// is for the script.
    fn received(&mut self, seen: &Seen<'_>, now: i64, outgoing: &mut Vec<Outgoing>) {
        let _ = (seen, now, outgoing);
    }

    /// Returns this side's own answer to a request, also to one in a batch; `None` if the script must answer.
    fn own_answer(&mut self, call: &Seen<'_>) -> Option<String> {
        let _ = call;
        None
    }

    /// Handles a sent message, whether this side or the script produced it.
    fn sent(&mut self, seen: &Seen<'_>, now: i64) {
        let _ = (seen, now);
    }

    /// Stores a message for the session of a connection that has ended. Returns the connection that has resumed it, if
    /// there is one: the message is not stored then.
    fn missed(&mut self, conn: u32, message: &str) -> Option<u32> {
        let _ = (conn, message);
        None
    }

    /// Handles the end of a connection.
    fn closed(&mut self, conn: u32, now: i64) {
        let _ = (conn, now);
    }

    /// Returns the readiness of an open connection for calls.
    fn readiness(&self, conn: u32) -> Readiness {
        let _ = conn;
        Readiness::Ready
    }

    /// Returns `true` if the other side refused the opening of a session because it has no sessions: calls are possible
    /// without it.
    fn is_without_session(&self) -> bool {
        false
    }

    /// Adds to a message of the caller what each message has if there is no session: the version, for example.
    fn complete(&self, message: String) -> String {
        message
    }

    /// Returns the fields of an HTTP request that repeat parts of its message.
    fn repeated_fields(&self, message: Node<'_>) -> Vec<(&'static str, String)> {
        let _ = message;
        Vec::new()
    }

    /// Returns the time of the next call of `tick`, if one is needed.
    fn due(&self) -> Option<i64> {
        None
    }

    /// Handles the passage of time: heartbeats.
    fn tick(&mut self, now: i64, outgoing: &mut Vec<Outgoing>) {
        let _ = (now, outgoing);
    }

    /// Returns true if the other side may still send something for a call or a subscription of this side.
    fn has_open_calls(&self, conn: u32) -> bool {
        let _ = conn;
        false
    }

    /// Adds the messages that precede the close of a connection. Returns true if they are complete; otherwise a message
    /// must be received first and the call is repeated, until it is too `late` to wait.
    fn prepare_close(
        &mut self,
        conn: u32,
        late: bool,
        now: i64,
        outgoing: &mut Vec<Outgoing>,
    ) -> bool {
        let _ = (conn, late, now, outgoing);
        true
    }

    /// Builds the message for a reply to a request; for [`PeerReply::Tell`] and [`PeerReply::Ask`], a message
    /// during the request. Fails for a reply that the protocol cannot express.
    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, now: i64) -> Result<Outgoing>;
}

/// The peer of a protocol that requires nothing of a side and has no replies.
#[derive(Debug, Default)]
pub(crate) struct Silent;

impl Peer for Silent {
    fn encode_reply(&mut self, _: &Request, _: PeerReply<'_>, _: i64) -> Result<Outgoing> {
        Err(Refusal::new("answer", "a whole message", "a part"))
    }
}
