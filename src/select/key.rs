//! The keys of conditions: those of JSON output, and paths in a message.

use crate::encoding;
use crate::framing;
use crate::path::Path;
use crate::protocol::rules::COMMON;
use crate::protocol::{Direction, Role, registry};
use crate::words::nearest;

/// A key of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key {
    /// The number of the message.
    Index,
    /// The connection.
    Conn,
    /// Its stream, where it has several.
    Stream,
    /// `c2s` or `s2c`.
    Dir,
    /// The time.
    Time,
    /// The first byte of the frame in its direction's stream.
    Offset,
    /// The length of the frame.
    Len,
    /// The first byte of the encoded message.
    BodyOffset,
    /// The length of the encoded message.
    BodyLen,
    /// The framing.
    Framing,
    /// The protocol.
    Protocol,
    /// The kind.
    Kind,
    /// The role.
    Role,
    /// The id.
    Id,
    /// The subject.
    Subject,
    /// The name within the subject.
    Name,
    /// `error` if the message says that the call failed, although its role is not error.
    Outcome,
    /// `true` if protocol or kind was chosen among several that fit.
    Guess,
    /// The bytes, if they are not valid in their encoding.
    Raw,
    /// The code of the first fault.
    Fault,
    /// The code of any fault.
    Faults,
    /// The rules of its findings.
    Findings,
    /// The message that it answers.
    ReplyTo,
    /// The latency of that message.
    Latency,
    /// The subject of the message that it answers.
    Of,
    /// The first message of its operation.
    Op,
    /// The operation that contains that one.
    Parent,
    /// The evidence that it belongs there.
    Link,
    /// The client of the connection.
    Who,
    /// The capture, if several are one conversation.
    Src,
    /// The message, or a path in it.
    Message(Path),
}

/// The type of a key: it determines the operators and the syntax of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeySort {
    /// A whole number.
    Count,
    /// A number of bytes.
    Bytes,
    /// A time.
    Time,
    /// A duration.
    Duration,
    /// Text.
    Text,
    /// Text or a number.
    Id,
    /// Any value.
    Any,
}

/// All names with their keys; if a key has several, the first is printed.
const NAMES: &[(&str, Key)] = &[
    ("index", Key::Index),
    ("conn", Key::Conn),
    ("stream", Key::Stream),
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
    ("method", Key::Subject),
    ("name", Key::Name),
    ("outcome", Key::Outcome),
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
    ("of", Key::Of),
    ("op", Key::Op),
    ("parent", Key::Parent),
    ("link", Key::Link),
    ("who", Key::Who),
    ("src", Key::Src),
];

/// Words in place of a key, and the condition that is probably meant. Words of a row are separated by spaces.
const OTHER_WORDS: &[(&str, &str)] = &[
    (
        "error errors failed",
        "errors are role=error or outcome=error; a field of the message is .error",
    ),
    ("duration elapsed took", "did you mean latency?"),
    (
        "type",
        "did you mean role or kind? A field of the message is .type",
    ),
    (
        "open pending unanswered waiting",
        "wiretool lint FILE lists requests without an answer",
    ),
    ("tool", "did you mean name?"),
    (
        "status status_code statusCode http.status http.response.code",
        "requests that HTTP refuses are finding~refused, failed calls outcome=error",
    ),
    (
        "isError is_error success ok",
        "failed calls are outcome=error; a field of the message is .result.isError",
    ),
    (
        "code error_code errorCode",
        "a field of the message begins with a dot: .error.code",
    ),
    ("size length bytes", "did you mean len?"),
    (
        "from to dst side sender source direction peer",
        "did you mean dir? c2s is from the client to the server, s2c from the server",
    ),
    (
        "port srcport dstport tcp.port tcp.srcport tcp.dstport udp.port",
        "ports choose connections of a packet capture before it is read; a connection is conn=N",
    ),
    (
        "ip.addr ip.src ip.dst ip.host ipv6.addr host",
        "packets of an address are tcpdump -r FILE -w NEW host ADDRESS; a connection is conn=N",
    ),
    ("tcp.stream udp.stream", "did you mean conn?"),
    ("jsonrpc.method json.method", "did you mean method?"),
    (
        "number num no n frame nr frame.number",
        "did you mean index?",
    ),
    ("timestamp ts date frame.time", "did you mean time?"),
    (
        "select filter",
        "conditions stand alone, without a function around them: .id=3",
    ),
    (
        "text body content payload data",
        "a field of the message begins with a dot: .params.text",
    ),
];

/// What the directions mean.
const SIDES: &str = "c2s is from the client to the server, s2c from the server";

impl Key {
    /// Returns the condition that a word in place of a key probably means.
    pub(super) fn instead_of(word: &str) -> Option<&'static str> {
        let is_in = |words: &str| words.split(' ').any(|one| one == word);
        let found = OTHER_WORDS.iter().find(|(words, _)| is_in(words));
        found.map(|(_, instead)| *instead)
    }

    /// Returns the key with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(n, _)| *n == name);
        found.map(|(_, key)| key.clone())
    }

    /// Returns all names of keys.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Returns its name; for a path in a message, `message`.
    pub fn name(&self) -> &'static str {
        let found = NAMES.iter().find(|(_, key)| key == self);
        found.map_or("message", |(name, _)| name)
    }

    /// Returns its type.
    pub fn sort(&self) -> KeySort {
        match self {
            Self::Index | Self::Conn | Self::Stream | Self::ReplyTo | Self::Op | Self::Parent => {
                KeySort::Count
            }
            Self::Offset | Self::Len | Self::BodyOffset | Self::BodyLen => KeySort::Bytes,
            Self::Time => KeySort::Time,
            Self::Latency => KeySort::Duration,
            Self::Id => KeySort::Id,
            Self::Message(_) => KeySort::Any,
            _ => KeySort::Text,
        }
    }

    /// Checks a value. If the set of values is fixed, it must be one of them. Peers and schemas can
    /// add kinds, so only a kind that looks misspelt is refused, and only without quotes.
    pub(super) fn check(&self, word: &str, quoted: bool) -> Result<(), Unknown> {
        let directions = [Direction::ToServer, Direction::ToClient];
        match self {
            Self::Dir => {
                let check = one_of("a direction", word, &directions.map(Direction::name));
                check.map_err(|unknown| Unknown {
                    hint: unknown.hint.or(Some(SIDES.into())),
                    ..unknown
                })
            }
            Self::Link => one_of("a link", word, &["recorded", "inferred"]),
            Self::Outcome => one_of("an outcome", word, &["error"]),
            Self::Role => one_of("a role", word, &Role::ALL.map(Role::name)),
            Self::Framing => one_of("a framing", word, &registry::framing_names()),
            Self::Protocol => one_of("a protocol", word, &registry::names().collect::<Vec<_>>()),
            Self::Fault | Self::Faults => one_of("a fault code", word, &fault_codes()),
            Self::Findings => rule(word),
            Self::Kind if !quoted => {
                let kinds = kinds();
                // Most kinds are known, and the search for a similar one is slow.
                let near = (!kinds.contains(&word)).then(|| nearest(word, kinds));
                near.flatten().map_or(Ok(()), |kind| {
                    Err(Unknown {
                        wanted: "a kind".to_owned(),
                        hint: Some(format!("did you mean {kind}? Quotes keep it is")),
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
        /// Longer lists are not shown.
        const MAX_LISTED: usize = 12;
        let near = nearest(word, known.iter().copied());
        let hint = near.map(|near| format!("did you mean {near}?"));
        let wanted = if hint.is_none() && known.len() <= MAX_LISTED {
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

/// Checks a rule by its full name, `saikuro/seq-gap`, or by the part after the protocol.
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
    let known: Vec<&str> = own.chain(COMMON.iter()).map(|rule| &*rule.name).collect();
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

/// Returns the kinds of the protocols, and of HTTP and WebSocket frames between messages.
fn kinds() -> Vec<&'static str> {
    let own = registry::all()
        .iter()
        .copied()
        .flat_map(|p| p.kinds().iter());
    own.map(|kind| &*kind.name).chain(CONTROLS).collect()
}

const CONTROLS: [&str; 22] = [
    "close",
    "datagram",
    "gap",
    "http-request",
    "http-response",
    "http3-cancel-push",
    "http3-control",
    "http3-data",
    "http3-goaway",
    "http3-headers",
    "http3-max-push-id",
    "http3-priority-update",
    "http3-push",
    "http3-push-promise",
    "http3-settings",
    "http3-unknown",
    "ping",
    "pong",
    "qpack-decoder",
    "qpack-encoder",
    "skipped",
    "webtransport",
];
