//! A message with its meaning.

use super::{Direction, Id, Notes, Role};
use crate::encoding::Parsed;
use crate::error::DecodeError;
use crate::span::{Span, SpannedText};
use std::borrow::Cow;

/// Returns a subject and the name within it: `tools/call echo`. A name that is the subject is not repeated.
pub(crate) fn with_name<'a>(subject: Option<&'a str>, name: Option<&'a str>) -> Cow<'a, str> {
    match (subject.unwrap_or_default(), name.unwrap_or_default()) {
        (subject, "") => Cow::Borrowed(subject),
        ("", name) => Cow::Borrowed(name),
        (subject, name) if subject == name => Cow::Borrowed(subject),
        (subject, name) => Cow::Owned([subject, " ", name].concat()),
    }
}

/// Facts that a protocol needs about a frame and that are not in the frame.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Context<'c> {
    /// The direction, if it is known.
    pub direction: Option<Direction>,
    /// Is set only if the direction is unknown and a request with the frame's method id is open: true if the kind of
    /// that request is a guess.
    pub open: Option<bool>,
    /// For a message without a method id whose direction is known: the method ids of the open requests of its stream,
    /// the oldest first.
    pub open_methods: &'c [u32],
}

/// The evidence that a message belongs to a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Evidence {
    /// The message cannot belong to it.
    #[default]
    None,
    /// The message has the form of those of the protocol, and so have objects of other programs: several of them are
    /// evidence together.
    Weak,
    /// The message may belong to it, or to another protocol.
    Possible,
    /// No other protocol has such a message.
    Certain,
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Ending {
    /// As its framing says.
    #[default]
    Whole,
    /// Its line has no line end, or bytes of its body are missing. The input ends there, and may be cut.
    Cut,
    /// The same, and the recording shows that nothing followed.
    Missing,
}

/// A message with its meaning.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Message<'a> {
    /// The kind, named as the protocol names it; each protocol lists its kinds.
    pub kind: Cow<'a, str>,
    /// The role; `None` if the message could not be read so far.
    pub role: Option<Role>,
    /// The id that links it to other messages.
    pub id: Id<'a>,
    /// The position of the id in the view, if it has one.
    pub id_span: Option<Span>,
    /// The subject: method, target, selector, tool, topic.
    pub subject: Option<SpannedText<'a>>,
    /// The name of what it is about within its subject: tool, prompt, document, component. An answer has that of its
    /// request, without a position.
    pub name: Option<SpannedText<'a>>,
    /// The method id of the request that the message answers, if only the open requests of its stream tell it.
    pub answered_method: Option<u32>,
    /// The kind is one of several that fit, and nothing decides between them.
    pub guess: bool,
    /// The encoded message in the view. It is shorter than the frame's body if the protocol has a header of its own
    /// there.
    pub body: Span,
    /// The value, if there is one to show.
    pub value: Option<&'a Parsed>,
    /// The bytes are valid in their encoding; otherwise output shows them unchanged.
    pub valid: bool,
    /// The outcome: an error code, `ok`, the end of a stream. It is for the line view; if only
    /// [`Text`](crate::encoding::Want::Text) is wanted, a code may be absent.
    pub outcome: Option<SpannedText<'a>>,
    /// The message says that the call failed, although its role is not error.
    pub failed: bool,
    /// The dialect, if the bytes show it. It may be absent if only [`Text`](crate::encoding::Want::Text) is wanted.
    pub dialect: Option<Cow<'a, str>>,
    /// How it ends.
    pub ending: Ending,
    /// The evidence that the message belongs to the protocol.
    pub evidence: Evidence,
    /// The errors of the message, in view coordinates.
    pub faults: Vec<DecodeError>,
    /// Which values are secret, if that is known already.
    pub(crate) secrets: Option<&'a Notes>,
}

impl<'a> Message<'a> {
    /// A message of which only the bytes in the view are known.
    pub fn new(body: Span) -> Self {
        Self {
            body,
            ..Self::default()
        }
    }

    /// Copies all that is borrowed, except the value: clone the [`Parsed`] beside it, or use
    /// [`Decoded::keep`](crate::decoder::Decoded::keep), which holds both.
    pub fn into_owned(self) -> Message<'static> {
        Message {
            kind: Cow::Owned(self.kind.into_owned()),
            id: self.id.into_owned(),
            subject: self.subject.map(SpannedText::into_owned),
            name: self.name.map(SpannedText::into_owned),
            value: None,
            outcome: self.outcome.map(SpannedText::into_owned),
            failed: self.failed,
            role: self.role,
            id_span: self.id_span,
            answered_method: self.answered_method,
            guess: self.guess,
            body: self.body,
            valid: self.valid,
            dialect: self.dialect.map(|dialect| Cow::Owned(dialect.into_owned())),
            ending: self.ending,
            evidence: self.evidence,
            faults: self.faults,
            secrets: None,
        }
    }

    /// Sets the value that says that the call failed, if there is one.
    pub(super) fn set_failure(&mut self, failure: Option<SpannedText<'a>>) {
        if failure.is_some() {
            self.failed = true;
            self.outcome = failure;
        }
    }

    /// Sets the name of the request that the message answers.
    pub(crate) fn inherit(&mut self, name: &'a str) {
        self.name = Some(SpannedText::without_span(name));
        // They can depend on the name.
        self.secrets = None;
    }

    /// Returns true if the message is an error, by its role or by its content.
    pub fn is_error(&self) -> bool {
        self.failed || self.role == Some(Role::Error)
    }

    /// Returns true if the value alone represents the body: the body is valid, and every JSON reader accepts its
    /// strings.
    pub(crate) fn value_is_complete(&self) -> bool {
        self.valid
            && self
                .value
                .is_none_or(|parsed| !parsed.seen().lone_surrogate)
    }
}
