//! Interprets messages: one folder for each protocol, all with the same files.
//!
//! A [`Protocol`] receives a frame and returns a [`Message`]: kind, role, id, subject, and the errors of this message
//! alone. It knows nothing of sockets, screens or other protocols. A new protocol is a folder and a line in [`registry`].

pub mod acp;
mod annotate;
#[cfg(feature = "described")]
pub mod described;
mod descriptor;
#[cfg(feature = "rules")]
mod examples;
#[cfg(feature = "rules")]
pub(crate) mod exchange;
mod id;
mod json_body;
pub mod jsonrpc;
pub mod lsp;
pub mod make;
pub mod mcp;
mod message;
mod methods;
mod notes;
mod observed;
pub mod oracle;
#[cfg(feature = "rules")]
pub mod peer;
pub(crate) mod per_direction;
pub mod registry;
mod rpc;
pub(crate) mod rule_names;
#[cfg(feature = "rules")]
pub mod rules;
pub mod sael;
pub mod saikuro;
pub mod schema;
pub(crate) mod secrets;
#[cfg(feature = "rules")]
pub mod session;
pub mod stepflow;
pub mod telequick;

use crate::encoding::{Encoding, Parsed};
use crate::error::Refusal;
use crate::framing::{
    CustomFraming, Frame, FrameWriter, Framer, Framing, FramingName, Hints, LengthMode, Limits,
};
use crate::tape::Node;
pub(crate) use annotate::annotate;
pub use descriptor::{
    Definitions, Descriptor, HttpSession, Kind, SpanNames, TraceMember, ValueError, ValueTypes,
};
pub use id::{Id, uuid_text};
pub(crate) use message::with_name;
pub use message::{Context, Ending, Evidence, Message};
pub(crate) use notes::{HIDDEN, hide};
pub use notes::{Notes, Remark};
pub use observed::{Place, Seen};
pub use rule_names::RuleId;
use schema::json_schema::MessageJsonSchema;
use schema::marks::Marks;

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the side that opened the connection or spawned the process.
    ToServer,
    /// To the side that opened the connection or spawned the process.
    ToClient,
}

impl Direction {
    /// `c2s` or `s2c`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ToServer => "c2s",
            Self::ToClient => "s2c",
        }
    }

    /// The opposite direction.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }

    /// Returns the direction with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "c2s" => Some(Self::ToServer),
            "s2c" => Some(Self::ToClient),
            _ => None,
        }
    }
}

/// The origin of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The connection, if there are several.
    pub conn: Option<u32>,
    /// The stream of the connection, if it has several.
    pub stream: Option<u64>,
    /// The direction, if it is known.
    pub direction: Option<Direction>,
    /// The time in ns since 1970, if it is known.
    pub time: Option<i64>,
}

impl Origin {
    pub(crate) const fn lane(self) -> Lane {
        Lane {
            conn: self.conn,
            stream: self.stream,
            direction: self.direction,
        }
    }

    /// The connection, or the one of its streams.
    pub(crate) const fn conn_stream(self) -> ConnStream {
        (self.conn, self.stream)
    }
}

/// A connection, or one of the streams of a connection that has several.
pub(crate) type ConnStream = (Option<u32>, Option<u64>);

/// Returns `true` if only the side that opens this stream sends on it (RFC 9000 section 2.1).
pub(crate) const fn is_unidirectional(stream: u64) -> bool {
    stream & 2 != 0
}

/// A connection of which the number is known, or one of its streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Channel {
    /// The connection.
    pub conn: u32,
    /// `None`: the connection itself, or its only stream.
    pub stream: Option<u64>,
}

impl From<u32> for Channel {
    fn from(conn: u32) -> Self {
        Self { conn, stream: None }
    }
}

/// One direction of a connection or of one of its streams: bytes that are read as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lane {
    pub(crate) conn: Option<u32>,
    pub(crate) stream: Option<u64>,
    pub(crate) direction: Option<Direction>,
}

impl Lane {
    /// Adds a time.
    pub(crate) const fn at(self, time: Option<i64>) -> Origin {
        Origin {
            conn: self.conn,
            stream: self.stream,
            direction: self.direction,
            time,
        }
    }

    /// Returns `true` if `other` is part of this lane. A field that is `None` covers all values.
    pub(crate) fn covers(self, other: Self) -> bool {
        self.conn == other.conn
            && (self.stream.is_none() || self.stream == other.stream)
            && (self.direction.is_none() || self.direction == other.direction)
    }

    /// The other direction.
    pub(crate) fn back(self) -> Self {
        Self {
            direction: self.direction.map(Direction::other),
            ..self
        }
    }
}

/// The role of a message in a conversation, the same for all protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    /// Asks for an answer.
    Request,
    /// Answers a request.
    Response,
    /// Answers a request with an error.
    Error,
    /// Needs no answer.
    Notification,
    /// One of several answers.
    Item,
    /// The last of several answers.
    End,
    /// Opens a session.
    Hello,
    /// Shows that a side is alive.
    Heartbeat,
    /// Belongs to the transport or the session, not to a call.
    Control,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 9] = [
        Self::Request,
        Self::Response,
        Self::Error,
        Self::Notification,
        Self::Item,
        Self::End,
        Self::Hello,
        Self::Heartbeat,
        Self::Control,
    ];

    /// The name in output and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::Error => "error",
            Self::Notification => "notification",
            Self::Item => "item",
            Self::End => "end",
            Self::Hello => "hello",
            Self::Heartbeat => "heartbeat",
            Self::Control => "control",
        }
    }

    /// Returns the role with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}

/// The form in which a message is written, if a protocol has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageForm {
    /// JSON.
    #[default]
    Json,
    /// `MessagePack`.
    MessagePack,
    /// CBOR.
    Cbor,
    /// A version byte, three letters for the kind, and the rest of the message. The rest is empty if the message is
    /// null or has no members.
    Header {
        /// The version byte.
        version: u8,
        /// The kind.
        kind: [u8; 3],
        /// The rest is `MessagePack`; otherwise JSON.
        packed: bool,
    },
}

impl MessageForm {
    /// Returns the form of an encoding; JSON if it is not known.
    pub(crate) fn of(encoding: Option<Encoding>) -> Self {
        match encoding {
            Some(Encoding::MessagePack) => Self::MessagePack,
            Some(Encoding::Cbor) => Self::Cbor,
            _ => Self::Json,
        }
    }
}

/// Options for writing a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Writes also messages that the protocol does not have.
    pub force: bool,
    /// The direction, if it decides the meaning of the message.
    pub direction: Option<Direction>,
    /// The form.
    pub form: MessageForm,
}

/// The parts of a frame's header that depend on the message; framing writes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageHead {
    /// The id of the method; `None` for a bare body.
    pub method_id: Option<u32>,
    /// The way in which the length counts, if the message states it.
    pub length_mode: Option<LengthMode>,
    /// The number of bytes at the start of the output that are the header of a
    /// [`HeaderLayout`](crate::framing::layout::HeaderLayout); the body follows.
    pub header_len: usize,
}

/// Facts about a written message that are not in the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The header, for framing.
    pub head: MessageHead,
}

/// The kind and the subject of a message inside another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartName {
    /// The kind; empty if it is no message.
    pub kind: &'static str,
    /// The subject.
    pub subject: Option<Box<str>>,
}

/// A protocol that wiretool reads: its descriptor and its functions.
pub trait Protocol: Sync {
    /// Returns the descriptor.
    fn descriptor(&self) -> Descriptor<'_>;
    /// Returns the name that users write.
    fn name(&self) -> &str {
        self.descriptor().name
    }
    /// Returns the kinds of messages.
    fn kinds(&self) -> &[Kind];
    /// Returns the messages that [`Protocol::make`] makes.
    fn recipes(&self) -> &[make::Recipe];
    /// Returns values that differ from run to run, lists without an order, and names of secrets.
    fn marks(&self) -> &Marks;
    /// Returns the JSON Schema of each kind of message, as `decode -f json` shows it.
    fn shapes(&self) -> Vec<MessageJsonSchema>;
    /// Returns a framing that [`Descriptor::framings`] names and this crate does not have.
    fn custom_framing(&self, name: FramingName) -> Option<&dyn CustomFraming> {
        let _ = name;
        None
    }
    /// Interprets one frame. The value is stored in `parsed`.
    fn read<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &Context<'_>,
        parsed: &'a mut Parsed,
    ) -> Message<'a>;
    /// Writes one message, given as `decode -f json` shows it, as the body of a frame. A message that the protocol does
    /// not have is refused, unless [`WriteOptions::force`] is set. After a refusal `out` is unchanged.
    fn write(
        &self,
        message: Node<'_>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
    ) -> Result<Written, Refusal>;
    /// Makes a message from a few words.
    fn make(
        &self,
        kind: &str,
        words: &mut make::Words<'_>,
        id_gen: &mut make::IdGen,
    ) -> Result<make::Made, Refusal>;
    /// Adds notes on the values of a message: named numbers, times, and secrets that have no secret name. `root` is the
    /// whole tape.
    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes);
    /// Returns the value that a line shows after the head: the arguments, the result, or the text of the error.
    fn content<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Option<Node<'n>> {
        let _ = (root, message);
        None
    }
    /// Returns the direction of a message if its kind has only one. It shows that the two directions were confused.
    fn fixed_direction(&self, message: &Message<'_>) -> Option<Direction> {
        let _ = message;
        None
    }
    /// Returns the direction that a message has by its bytes alone, where the given direction decides its kind. By default, that
    /// of [`Protocol::fixed_direction`].
    fn own_direction(&self, frame: &Frame<'_>, message: &Message<'_>) -> Option<Direction> {
        let _ = frame;
        self.fixed_direction(message)
    }
    /// Returns true if a message from the side that opened the connection belongs to the opening of a session.
    fn is_hello(&self, message: &Message<'_>) -> bool {
        message.role == Some(Role::Hello)
    }
    /// Returns the value that links a message of a direction to others: the id of a request, in an answer that of its request.
    /// By default, the member `id`.
    fn pair_id<'n>(&self, root: Node<'n>, direction: Direction) -> Option<Node<'n>> {
        let _ = direction;
        root.get("id")
    }
    /// Returns true for a message of a direction that says that a request failed. By default, one with an `error` that is
    /// not null.
    fn is_error_answer(&self, root: Node<'_>, direction: Direction) -> bool {
        let _ = direction;
        root.get("error").is_some_and(|error| !error.is_null())
    }
    /// Returns true for a request that belongs to no session: its side sends no opening before it.
    fn needs_no_session(&self, root: Node<'_>) -> bool {
        let _ = root;
        false
    }
    /// Returns the requests inside one message, each as a whole: the calls of a batch.
    fn parts<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Vec<Node<'n>> {
        let _ = (root, message);
        Vec::new()
    }
    /// Returns the names of the messages inside one message, each an element of it: the members of a batch.
    fn part_names(&self, root: Node<'_>) -> Vec<PartName> {
        let _ = root;
        Vec::new()
    }
    /// Returns the rules and both sides of a conversation.
    #[cfg(feature = "rules")]
    fn behavior(&self) -> &dyn session::Behavior {
        &session::Passive
    }

    /// Returns the SHA-256 of the text that describes it, in hex, if there is one.
    fn description_hash(&self) -> Option<&str> {
        None
    }
}

impl dyn Protocol + '_ {
    /// Returns the framing with this name: one of this crate, or one of the protocol's own.
    pub fn framing_named(&self, name: &str) -> Option<Framing> {
        let own = self.descriptor().framings.iter();
        Framing::from_name(name).or_else(|| own.copied().find(|own| own.name() == name))
    }

    /// Creates a framer at the start of a stream of this protocol. `resync` is `true` to search for the next frame after a
    /// bad one.
    pub fn framer(
        &self,
        framing: Framing,
        limits: Limits,
        mode: LengthMode,
        resync: bool,
    ) -> Framer {
        if let Some(custom) = self.frame_writer(framing).custom {
            return Framer::custom(custom, limits, resync);
        }
        let descriptor = self.descriptor();
        let hints = Hints {
            is_cbor: descriptor.packed_form() == MessageForm::Cbor,
            ..descriptor.hints
        };
        Framer::new(framing, limits, hints, mode, resync)
    }

    /// Returns how frames of this protocol are written in a framing.
    pub(crate) fn frame_writer(&self, framing: Framing) -> FrameWriter<'_> {
        let custom = match framing {
            Framing::Custom(name) => self.custom_framing(name),
            _ => None,
        };
        FrameWriter { framing, custom }
    }
}

#[cfg(test)]
mod tests;
