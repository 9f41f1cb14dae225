//! What does a message mean? One folder a protocol, all with the same files.
//!
//! A [`Protocol`] is handed a frame and answers with a [`Message`]: kind, role, id, subject, and what is wrong with it
//! as a message of its own. It knows nothing of sockets, screens or other protocols. Adding one is a folder, and a
//! line in [`registry`].

#[cfg(feature = "rules")]
pub(crate) mod correlation;
mod descriptor;
mod jsonrpc;
pub mod make;
mod notes;
pub mod oracle;
#[cfg(feature = "rules")]
pub mod peer;
pub mod registry;
#[cfg(feature = "rules")]
pub mod rules;
pub mod sael;
pub mod saikuro;
pub mod schema;
mod seen;
#[cfg(feature = "rules")]
pub mod session;
pub mod stepflow;
pub mod telequick;

use crate::encoding::Parsed;
use crate::encoding::lossless::hex16;
use crate::error::{DecodeError, Refusal};
use crate::framing::{Frame, LengthMode};
use crate::span::{Span, SpannedText};
use crate::tape::Node;
pub use descriptor::{Collected, Descriptor, Setting, ValueTypes};
pub use notes::Notes;
pub(crate) use notes::{annotate, each_secret, hide, holds_secret, is_json, json_in, look};
pub use seen::{Place, Seen};
use std::borrow::Cow;

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the side that dialled or spawned.
    ToServer,
    /// To the side that dialled or spawned.
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

    /// The way back.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }

    /// The direction of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "c2s" => Some(Self::ToServer),
            "s2c" => Some(Self::ToClient),
            _ => None,
        }
    }
}

/// Where bytes came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Which connection, where there are several.
    pub conn: Option<u32>,
    /// Which way, where known.
    pub direction: Option<Direction>,
    /// When, in ns since 1970, where known.
    pub time: Option<i64>,
}

/// What part a message plays in a conversation, whatever the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    /// Asks; an answer is owed.
    Request,
    /// Answers.
    Response,
    /// Answers: no.
    Error,
    /// Tells; nothing is owed.
    Notification,
    /// One of several answers.
    Item,
    /// The last of several answers.
    End,
    /// Opens a session.
    Hello,
    /// Shows that a side lives.
    Heartbeat,
    /// Belongs to the transport or the session, not to a call.
    Control,
}

impl Role {
    /// Every role.
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

    /// The role of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}

/// What ties an answer to its question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Id<'a> {
    /// There is none.
    #[default]
    None,
    /// A JSON value as spelled: `7`, `"a"`, `null`.
    Json(&'a str),
    /// Sixteen bytes, shown lower-case and hyphenated.
    Uuid([u8; 16]),
    /// Text that is no UUID.
    Text(Cow<'a, str>),
    /// A number.
    Number(i128),
}

impl Id<'_> {
    /// As people read it: JSON ids as spelled, so that `7` and `"7"` differ.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::None => Cow::Borrowed(""),
            Self::Json(text) => Cow::Borrowed(text),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number(n) => Cow::Owned(n.to_string()),
            Self::Uuid(uuid) => {
                let text = uuid_text(uuid).to_vec();
                Cow::Owned(String::from_utf8(text).unwrap_or_default())
            }
        }
    }
}

/// A UUID as it is written: lower-case and hyphenated.
pub fn uuid_text(uuid: &[u8; 16]) -> [u8; 36] {
    let digits = hex16(uuid);
    let mut text = [b'-'; 36];
    for (to, from) in [
        (0..8, 0..8),
        (9..13, 8..12),
        (14..18, 12..16),
        (19..23, 16..20),
        (24..36, 20..32),
    ] {
        text[to].copy_from_slice(&digits[from]);
    }
    text
}

/// How sure a protocol is that a message is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Evidence {
    /// It cannot be.
    #[default]
    None,
    /// It may be, and so it may be another's.
    Possible,
    /// No other protocol has this.
    Certain,
}

/// A message, understood.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Message<'a> {
    /// What it is, in the protocol's own word; each protocol lists its kinds.
    pub kind: Cow<'a, str>,
    /// What part it plays; `None` where the message could not be read that far.
    pub role: Option<Role>,
    /// What ties it to others.
    pub id: Id<'a>,
    /// Where the id lies in the view, where there is one.
    pub id_span: Option<Span>,
    /// What it is about: method, target, selector, tool, topic.
    pub subject: Option<SpannedText<'a>>,
    /// Whether the kind is one of several that fit, and nothing tells which.
    pub guess: bool,
    /// The encoded message in the view; shorter than the frame's body where a protocol has a header of its own there.
    pub body: Span,
    /// The value, where there is one to show.
    pub value: Option<&'a Parsed>,
    /// Whether the bytes are valid in their encoding; otherwise output keeps them as they are.
    pub valid: bool,
    /// How it ended: an error code, `ok`, the end of a stream. For the one-line view; where only
    /// [`Text`](crate::encoding::Want::Text) is wanted, a code may not be told.
    pub outcome: Option<SpannedText<'a>>,
    /// Which dialect it is written in, where the bytes tell; it may be missing where only
    /// [`Text`](crate::encoding::Want::Text) is wanted.
    pub dialect: Option<&'static str>,
    /// How sure the protocol is that it is its own.
    pub evidence: Evidence,
    /// What is wrong with it, in view coordinates.
    pub faults: Vec<DecodeError>,
}

impl Message<'_> {
    /// A message of which nothing is known but its bytes, in the view.
    pub fn new(body: Span) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    /// Whether output tells the body by its value alone: it is valid, and every reader of JSON takes its strings.
    pub fn is_told(&self) -> bool {
        self.valid && self.value.is_none_or(|parsed| !parsed.seen().lone)
    }
}

/// What a protocol is told beside the frame.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Context {
    /// Which way it went, where known.
    pub direction: Option<Direction>,
    /// Where the direction is not known: whether the kind of the open request with the frame's method id is a guess.
    /// `None` where no such request is open.
    pub open: Option<bool>,
}

/// A kind of message: its name, its role, and one line on it.
#[non_exhaustive]
pub struct Kind {
    /// The name in output.
    pub name: &'static str,
    /// The role it has; `None` where direction or content decides.
    pub role: Option<Role>,
    /// What it is, with the section of the document it follows.
    pub about: &'static str,
}

/// In which form a message is written, where a protocol has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// JSON.
    #[default]
    Json,
    /// `MessagePack`.
    MessagePack,
    /// A version byte, three letters that are the kind, and the rest of the message: none where the message is null or
    /// has no members.
    Header {
        /// The version byte.
        version: u8,
        /// The kind.
        kind: [u8; 3],
        /// The rest is `MessagePack`.
        packed: bool,
    },
}

/// How a message is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Writes what can be written, whether or not it is one of the protocol's messages.
    pub force: bool,
    /// Which way it goes, where that decides what it is.
    pub direction: Option<Direction>,
    /// In which form.
    pub form: Form,
}

/// What stands before a body and depends on the message: framing writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageHead {
    /// The id of the method; none where the body stands alone.
    pub method_id: Option<u32>,
    /// How the length counts, where the message says.
    pub length_mode: Option<LengthMode>,
}

/// What was written beside the body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// For framing.
    pub head: MessageHead,
}

/// A protocol that wiretool reads: its facts, and what it does.
pub trait Protocol: Sync {
    /// Its facts.
    fn descriptor(&self) -> &'static Descriptor;
    /// The name users write.
    fn name(&self) -> &'static str {
        self.descriptor().name
    }
    /// Understands one frame. `parsed` is where the value goes.
    fn read<'a>(
        &'a self,
        frame: &Frame<'a>,
        context: &Context,
        parsed: &'a mut Parsed,
    ) -> Message<'a>;
    /// Writes one message, given as `decode -f json` shows it, as the body of a frame. What is none of the protocol's
    /// messages is refused, unless [`WriteOptions::force`] is set; after a refusal `out` is as it was.
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
        mint: &mut make::Mint,
    ) -> Result<make::Made, Refusal>;
    /// Says what is worth saying of a message's values: named numbers, times, and secrets that no name tells. `root` is the
    /// whole tape.
    fn annotate(&self, root: Node<'_>, message: &Message<'_>, notes: &mut Notes);
    /// Which way a message always goes, where its kind has only one: from it is seen that directions were mixed up.
    fn goes(&self, message: &Message<'_>) -> Option<Direction> {
        let _ = message;
        None
    }
    /// Whether a message of the side that dialled or spawned belongs to the opening of a session.
    fn is_hello(&self, message: &Message<'_>) -> bool {
        message.role == Some(Role::Hello)
    }
    /// The requests that one message is made of, each as a whole: the calls of a batch.
    fn parts<'n>(&self, root: Node<'n>, message: &Message<'_>) -> Vec<Node<'n>> {
        let _ = (root, message);
        Vec::new()
    }
    /// What it does over time.
    #[cfg(feature = "rules")]
    fn behavior(&self) -> &dyn session::Behavior {
        &session::Passive
    }
}

#[cfg(test)]
mod tests;
