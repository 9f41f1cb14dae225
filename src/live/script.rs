//! A script: the answers of a stub.
//!
//! ```text
//!   before = "Compiling..."            sent first
//!   offers = ["pow", "now"]            the entries of lists
//!   [[on]]                             the first rule that matches and is not used up
//!   match = 'subject=pow'              a condition, as after --where
//!   result = ["{{params.calldata[0]}}"]
//! ```
//!
//! Unknown keys and wrong values are refused with their line. Otherwise a misspelt key would have no effect.

pub mod compile;
mod fill;
pub mod print;
mod read;
pub mod request;
mod template;
pub mod value;

use crate::framing::Framing;
use crate::live::codec::ServedSessions;
use crate::path::Path;
use crate::protocol::peer::Offer;
use crate::protocol::{Direction, Protocol};
use crate::select::{Expr, Key, KeyTest, Operand, Test};
use request::RequestPattern;
use serde::{Serialize, Serializer};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use value::{Fill, OpenValue};

/// The behaviour of a stub.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Bytes that are sent first on every connection.
    pub before: Option<BytesTemplate>,
    /// `true` if the hello of the protocol is not sent.
    pub silent: bool,
    /// The stub exits with this status after its first messages.
    pub exit: Option<u8>,
    /// The name of this side.
    pub name: Option<String>,
    /// The dialect, if the protocol has several.
    pub dialect: Option<String>,
    /// Messages that are sent on every connection after the hello, as soon as calls are possible.
    pub first: Vec<OpenValue>,
    /// It sends first what the connecting side of the protocol sends: a saikuro provider that listens announces itself.
    pub announces: bool,
    /// The entries of lists.
    pub offers: Vec<Offer>,
    /// Messages that are sent as soon as a connection is open, instead of the hello of the protocol.
    pub opening: Vec<OpenValue>,
    /// The path at which GET opens an event stream of the older transport over HTTP.
    pub older_path: Option<String>,
    /// The sessions over HTTP.
    pub sessions: ServedSessions,
    /// Answers to messages that cannot be read, in order, then the last one again.
    pub unreadable: Vec<OpenValue>,
    /// The framing of messages over pipes and plain sockets, if it is not the first one of the protocol.
    pub framing: Option<Framing>,
    /// Answers to hellos that replace those of the protocol.
    pub hellos: Vec<HelloReply>,
    /// The rules. The first one whose condition is true answers; rules with a request come after all others.
    pub rules: Vec<ScriptRule>,
}

/// Returns true for a framing over pipes and plain sockets.
fn is_plain(framing: &Framing) -> bool {
    !matches!(framing, Framing::Http | Framing::WebSocket)
}

impl Script {
    /// Adds what a recording answers. Its own opening, path and sessions come first.
    pub fn extend(&mut self, recorded: Self) {
        self.rules.extend(recorded.rules);
        self.hellos.extend(recorded.hellos);
        if self.opening.is_empty() {
            self.opening = recorded.opening;
        }
        self.unreadable.extend(recorded.unreadable);
        self.older_path = self.older_path.take().or(recorded.older_path);
        if self.sessions == ServedSessions::default() {
            self.sessions = recorded.sessions;
        }
        self.framing = self.framing.or(recorded.framing);
    }
}

/// The answer to a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelloReply {
    /// The kind and the subject of the hello: `request initialize`.
    pub to: String,
    /// The message, if it replaces that of the protocol. Its open values come from the answer that the protocol itself
    /// would send.
    pub message: Option<OpenValue>,
    /// Messages before the answer, if the protocol itself would refuse the hello: those that a resumed session missed.
    pub before: Vec<OpenValue>,
    /// The actions after the answer.
    pub then: Arc<[ScriptAction]>,
}

/// The messages that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleCondition {
    /// Requests that the protocol does not answer itself.
    Unanswered,
    /// Messages for which this is true.
    Expr(Box<Expr>),
    /// Requests with these values.
    Request(RequestPattern),
}

/// Where a rule comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RulePlace {
    /// A position in a script, or a flag: `my.toml:3`.
    Script(Arc<str>),
    /// The index of a recorded request: `#4`.
    Recorded(u64),
}

impl fmt::Display for RulePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script(place) => f.write_str(place),
            Self::Recorded(index) => write!(f, "#{index}"),
        }
    }
}

impl Serialize for RulePlace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A rule: a condition on messages, and the actions that answer them. A recording has one for each request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptRule {
    /// Where it comes from.
    pub place: RulePlace,
    /// The messages that it is about.
    pub condition: RuleCondition,
    /// The number of times that it is used; `None` for no limit.
    pub times: Option<u64>,
    /// `true` if it replaces the answer of the protocol.
    pub answers: bool,
    /// `true` if it answers with several messages, which may follow the answer of the protocol.
    pub goes_on: bool,
    /// The actions, in order.
    pub actions: Arc<[ScriptAction]>,
}

impl ScriptRule {
    /// Makes a rule that answers every request with a subject. The answer is JSON, or a type of the protocol and a value.
    pub fn answer(
        protocol: &dyn Protocol,
        place: &str,
        subject: &str,
        answer: &str,
    ) -> Result<Self, String> {
        let subject = Test {
            key: Key::Subject,
            what: KeyTest::Is(vec![Operand::Text(subject.to_owned())]),
        };
        let action = ScriptAction::SendReply(
            Reply::Result(OpenValue::given(answer, protocol.descriptor().value_types)?),
            Arc::default(),
        );
        Ok(Self {
            place: RulePlace::Script(place.into()),
            condition: RuleCondition::Expr(Box::new(Expr::Test(subject))),
            times: None,
            answers: true,
            goes_on: false,
            actions: Arc::new([action]),
        })
    }
}

impl Script {
    /// Returns the subjects of its recorded requests, as the offers of a side that answers them.
    pub fn requested(&self, protocol: &dyn Protocol, direction: Direction) -> Vec<Offer> {
        let framing = protocol.descriptor().framings.first();
        let framing = framing.copied().unwrap_or(Framing::Message);
        let mut offers: Vec<Offer> = Vec::new();
        let mut known = HashSet::new();
        for (_, rule, request) in requests(&self.rules) {
            let stored = request.stored(protocol, framing, Some(direction));
            let subject = stored.ok().and_then(|stored| stored.subject);
            if let Some(name) = subject.filter(|name| !name.is_empty())
                && known.insert(name.clone())
            {
                offers.push(Offer {
                    name: name.to_string(),
                    streams: rule.actions.len() > 1,
                    ..Offer::default()
                });
            }
        }
        offers
    }
}

/// Returns the rules that have a request, with their numbers.
pub fn requests(
    rules: &[ScriptRule],
) -> impl Iterator<Item = (usize, &ScriptRule, &RequestPattern)> {
    let rules = rules.iter().enumerate();
    rules.filter_map(|(at, rule)| match &rule.condition {
        RuleCondition::Request(request) => Some((at, rule, request)),
        _ => None,
    })
}

/// One action of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptAction {
    /// Waits for this time in ns.
    Wait(i64),
    /// Sends bytes.
    Send(BytesTemplate),
    /// Sends a request to the caller, given its method and params; the next action waits for the answer.
    Ask(OpenValue, OpenValue),
    /// Sends a recorded request to the caller. [`ScriptAction::Await`] waits for its answer.
    Call(OpenValue),
    /// Waits for the answer to the n-th call, from 0.
    Await(usize),
    /// Waits for a message of the peer about the same call: the next one in a channel, or a cancellation.
    AwaitMessage(AwaitedMessage),
    /// Waits until the caller has sent a recorded request, at most for a time.
    AwaitRequest(AwaitedRequest),
    /// Waits until the connection has ended. The messages after it belong to the session, and are sent when it is
    /// resumed.
    AwaitEnd,
    /// Sends a message.
    SendReply(Reply, Arc<Mutation>),
    /// Closes the connection.
    Close,
    /// Resets the connection.
    Reset,
    /// Exits with this status.
    Exit(u8),
}

/// A message that a rule sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A result.
    Result(OpenValue),
    /// An error.
    Error {
        /// The code, if it is not the default.
        code: Option<OpenValue>,
        /// The text.
        message: OpenValue,
        /// Further data.
        data: Option<OpenValue>,
    },
    /// One of several answers.
    Item(OpenValue),
    /// One of several answers, as a change to the one before.
    Delta(OpenValue),
    /// The last of several answers. `true` if the script asks for it; otherwise a protocol without an end message sends
    /// none.
    End(Option<OpenValue>, bool),
    /// A notification: its topic and its content.
    Tell(OpenValue, OpenValue),
    /// A whole message.
    Message(OpenValue),
}

/// A message that is waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwaitedMessage {
    /// The kind.
    pub kind: String,
    /// The path of the value that identifies the call.
    pub path: Path,
    /// The path of that value in the request.
    pub request: Path,
}

/// A recorded request that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwaitedRequest {
    /// Its number in the recording.
    pub index: u64,
    /// The maximum time in ns: another caller may never send it.
    pub most: i64,
}

/// Changes to a message that break the rules of the protocol deliberately.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutation {
    /// Writes it over several lines.
    pub pretty: bool,
    /// Sends it twice.
    pub twice: bool,
    /// Replaces the id: the value of `id` or `seq`.
    pub id: Option<OpenValue>,
}

/// Bytes, or text with open values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BytesTemplate {
    /// Bytes.
    Plain(Vec<u8>),
    /// UTF-8 text.
    Text(OpenValue),
}

impl BytesTemplate {
    /// Returns the bytes.
    pub fn fill(&self, from: &Fill<'_>) -> Result<Vec<u8>, String> {
        match self {
            Self::Plain(bytes) => Ok(bytes.clone()),
            Self::Text(value) => value.fill_text(from).map(String::into_bytes),
        }
    }
}
