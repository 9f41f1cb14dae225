//! What a condition can ask about: the keys of JSON output, and places in a message.

use crate::encoding;
use crate::framing::{self, Framing};
use crate::path::Path;
use crate::protocol::rules::COMMON;
use crate::protocol::{Direction, Role, registry};
use crate::words::nearest;

/// What is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key {
    /// Counts all messages.
    Index,
    /// The connection.
    Conn,
    /// `c2s` or `s2c`.
    Dir,
    /// When.
    Time,
    /// First byte of the frame in its direction's stream.
    Offset,
    /// Bytes of the frame.
    Len,
    /// First byte of the encoded message.
    BodyOffset,
    /// Bytes of the encoded message.
    BodyLen,
    /// How it was delimited.
    Framing,
    /// Whose message it is.
    Protocol,
    /// What it is.
    Kind,
    /// What part it plays.
    Role,
    /// What ties it to others.
    Id,
    /// What it is about.
    Subject,
    /// Whether its protocol or kind is one of several that fit.
    Guess,
    /// The bytes, where they are not valid in their encoding.
    Raw,
    /// The first fault's code.
    Fault,
    /// Any fault's code.
    Faults,
    /// The rules that it breaks.
    Findings,
    /// The message that it answers.
    ReplyTo,
    /// How long that one waited.
    Latency,
    /// The message, or a place in it.
    Message(Path),
}

/// What sort of thing a key holds: which operators make sense, and how a value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sort {
    /// A whole number.
    Count,
    /// A number of bytes.
    Bytes,
    /// A moment.
    Time,
    /// A span of time.
    Duration,
    /// Text.
    Text,
    /// Text or a number.
    Id,
    /// Any value.
    Any,
}

/// Every name, and what it stands for; the first of several is the one that is printed.
const NAMES: &[(&str, Key)] = &[
    ("index", Key::Index),
    ("conn", Key::Conn),
    ("dir", Key::Dir),
    ("time", Key::Time),
    ("offset", Key::Offset),
    ("len", Key::Len),
    ("body_offset", Key::BodyOffset),
    ("body_len", Key::BodyLen),
    ("framing", Key::Framing),
    ("protocol", Key::Protocol),
    ("kind", Key::Kind),
    ("role", Key::Role),
    ("id", Key::Id),
    ("subject", Key::Subject),
    ("guess", Key::Guess),
    ("message", Key::Message(Path::new())),
    ("raw", Key::Raw),
    ("fault", Key::Fault),
    ("faults", Key::Faults),
    ("findings", Key::Findings),
    ("finding", Key::Findings),
    ("reply_to", Key::ReplyTo),
    ("latency", Key::Latency),
    ("latency_ms", Key::Latency),
];

impl Key {
    /// The key of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(n, _)| *n == name);
        found.map(|(_, key)| key.clone())
    }

    /// Every name that a key has.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Its name; of a place in a message, `message`.
    pub fn name(&self) -> &'static str {
        let found = NAMES.iter().find(|(_, key)| key == self);
        found.map_or("message", |(name, _)| name)
    }

    /// What sort of thing it holds.
    pub fn sort(&self) -> Sort {
        match self {
            Self::Index | Self::Conn | Self::ReplyTo => Sort::Count,
            Self::Offset | Self::Len | Self::BodyOffset | Self::BodyLen => Sort::Bytes,
            Self::Time => Sort::Time,
            Self::Latency => Sort::Duration,
            Self::Id => Sort::Id,
            Self::Message(_) => Sort::Any,
            _ => Sort::Text,
        }
    }

    /// Whether a value can be meant: where a fixed set of them exists, it is one of those. Kinds are a set that peers and
    /// schemas add to, so that only what looks like a misspelt one is refused, and that only where it is not quoted.
    pub(super) fn check(&self, word: &str, quoted: bool) -> Result<(), Unknown> {
        let directions = [Direction::ToServer, Direction::ToClient];
        match self {
            Self::Dir => one_of("a direction", word, &directions.map(Direction::name)),
            Self::Role => one_of("a role", word, &Role::ALL.map(Role::name)),
            Self::Framing => one_of("a framing", word, &Framing::ALL.map(Framing::name)),
            Self::Protocol => one_of("a protocol", word, &registry::names().collect::<Vec<_>>()),
            Self::Fault | Self::Faults => one_of("a fault code", word, &fault_codes()),
            Self::Findings => rule(word),
            Self::Kind if !quoted => {
                let kinds = kinds();
                // Most are known, and the search for a near one is slow.
                let near = (!kinds.contains(&word)).then(|| nearest(word, kinds));
                near.flatten().map_or(Ok(()), |kind| {
                    Err(Unknown {
                        wanted: "a kind".to_owned(),
                        hint: Some(format!("did you mean {kind}? Quotes keep it as it is")),
                    })
                })
            }
            _ => Ok(()),
        }
    }
}

/// A value that a key never has.
pub(super) struct Unknown {
    pub(super) wanted: String,
    pub(super) hint: Option<String>,
}

impl Unknown {
    fn of(what: &str, word: &str, known: &[&str]) -> Self {
        /// More than this nobody reads.
        const MOST: usize = 12;
        let near = nearest(word, known.iter().copied());
        let hint = near.map(|near| format!("did you mean {near}?"));
        let wanted = if hint.is_none() && known.len() <= MOST {
            format!("{what} ({})", known.join(", "))
        } else {
            what.to_owned()
        };
        Self { wanted, hint }
    }
}

fn one_of(what: &str, word: &str, known: &[&str]) -> Result<(), Unknown> {
    if known.contains(&word) {
        return Ok(());
    }
    Err(Unknown::of(what, word, known))
}

/// A rule by its full name, `saikuro/seq-gap`, or by the part behind the protocol's.
fn rule(word: &str) -> Result<(), Unknown> {
    let (owner, name) = match word.split_once('/') {
        Some((owner, name)) => (Some(owner), name),
        None => (None, word),
    };
    if let Some(owner) = owner {
        let names = registry::names().collect::<Vec<_>>();
        one_of("a protocol before the /", owner, &names)?;
    }
    let owners = registry::all().iter().copied();
    let owners = owners.filter(|p| owner.is_none_or(|o| o == p.name()));
    let own = owners.flat_map(|p| p.behavior().rules().iter());
    let known: Vec<&str> = own.chain(COMMON.iter()).map(|rule| rule.name).collect();
    one_of("the name of a rule", name, &known)
}

fn fault_codes() -> Vec<&'static str> {
    let shared = framing::FAULTS.iter().chain(encoding::FAULTS);
    let own = registry::all()
        .iter()
        .copied()
        .flat_map(|p| p.descriptor().faults);
    shared.chain(own).map(|(code, _)| *code).collect()
}

/// Kinds of the protocols, and of what HTTP and WebSocket say between messages.
fn kinds() -> Vec<&'static str> {
    let own = registry::all()
        .iter()
        .copied()
        .flat_map(|p| p.descriptor().kinds.iter());
    own.map(|kind| kind.name).chain(CONTROLS).collect()
}

const CONTROLS: [&str; 7] = [
    "close",
    "gap",
    "http-request",
    "http-response",
    "ping",
    "pong",
    "skipped",
];
