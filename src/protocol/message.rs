//! A message with its meaning.

use super::Role;
use crate::encoding::Parsed;
use crate::encoding::lossless::hex16;
use crate::error::DecodeError;
use crate::span::{Span, SpannedText};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// The value that links an answer to its request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Id<'a> {
    /// The message has no id.
    #[default]
    None,
    /// A JSON value as it is spelled: `7`, `"a"`, `null`.
    Json(&'a str),
    /// Sixteen bytes, shown lower-case and hyphenated.
    Uuid([u8; 16]),
    /// Text that is not a UUID.
    Text(Cow<'a, str>),
    /// A number.
    Number(i128),
}

impl Id<'_> {
    /// Returns a number that a request and its answer share, beside `scope`; `None` without an id.
    pub(crate) fn pair_key(&self, scope: impl Hash) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        scope.hash(&mut hasher);
        match self {
            Self::None => return None,
            Self::Json(text) => text.hash(&mut hasher),
            Self::Text(text) => text.hash(&mut hasher),
            Self::Uuid(uuid) => uuid.hash(&mut hasher),
            Self::Number(number) => number.hash(&mut hasher),
        }
        Some(hasher.finish())
    }

    /// Returns the id for display. JSON ids stay as they are spelled, so that `7` and `"7"` differ.
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

/// Formats a UUID: lower-case and hyphenated.
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

/// Returns a subject and the name within it: `tools/call echo`. A name that is the subject is not repeated.
pub(crate) fn with_name<'a>(subject: Option<&'a str>, name: Option<&'a str>) -> Cow<'a, str> {
    match (subject.unwrap_or_default(), name.unwrap_or_default()) {
        (subject, "") => Cow::Borrowed(subject),
        ("", name) => Cow::Borrowed(name),
        (subject, name) if subject == name => Cow::Borrowed(subject),
        (subject, name) => Cow::Owned(format!("{subject} {name}")),
    }
}

/// The evidence that a message belongs to a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Evidence {
    /// The message cannot belong to it.
    #[default]
    None,
    /// The message may belong to it, or to another protocol.
    Possible,
    /// No other protocol has such a message.
    Certain,
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
    pub dialect: Option<&'static str>,
    /// The evidence that the message belongs to the protocol.
    pub evidence: Evidence,
    /// The errors of the message, in view coordinates.
    pub faults: Vec<DecodeError>,
}

impl<'a> Message<'a> {
    /// A message of which only the bytes in the view are known.
    pub fn new(body: Span) -> Self {
        Self {
            body,
            ..Self::default()
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
    pub(crate) fn inherit(&mut self, name: Option<&'a str>) {
        if let Some(name) = name {
            self.name = Some(SpannedText::without_span(name));
        }
    }

    /// Returns true if the message is an error, by its role or by its content.
    pub fn is_error(&self) -> bool {
        self.failed || self.role == Some(Role::Error)
    }

    /// Returns true if the value alone represents the body: the body is valid, and every JSON reader accepts its
    /// strings.
    pub fn value_is_complete(&self) -> bool {
        self.valid
            && self
                .value
                .is_none_or(|parsed| !parsed.seen().lone_surrogate)
    }
}
