//! A script: what is answered to what.
//!
//! ```text
//!   before = "Compiling..."            what is sent first
//!   offers = ["pow", "now"]            what lists say can be asked for
//!   [[on]]                             the first whose condition holds, and that is not used up, counts
//!   match = 'subject=pow'              a condition, as after --where
//!   result = ["{{params.calldata[0]}}"]
//! ```
//!
//! Keys that are unknown and values that are none are refused with their line, so that a misspelt key is not taken for
//! one that is absent.

pub mod compile;
mod condition;
mod fill;
pub mod print;
mod read;
pub mod recorded;
mod template;
pub mod toml;
pub mod value;

use crate::path::Path;
use crate::protocol::Protocol;
use crate::protocol::peer::Offer;
use crate::select::{Expr, Key, Operand, Test, What};
use recorded::Exchanges;
use std::fmt;
use std::sync::Arc;
use value::{Fill, Value};

/// What a stub is told to do.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// Sent on every connection before anything else.
    pub before: Option<Bytes>,
    /// Whether the protocol's own hello is said.
    pub silent: bool,
    /// Whatever it is asked, the stub ends with this status once its first words are said.
    pub exit: Option<u8>,
    /// How it names itself.
    pub name: Option<String>,
    /// Which dialect it begins in, of a protocol that has several.
    pub dialect: Option<String>,
    /// Messages that are said on every connection once it is open, after the hello.
    pub first: Vec<Value>,
    /// It says first what the other side of the protocol would: a saikuro provider that is dialled announces itself.
    pub announces: bool,
    /// What lists say can be asked for.
    pub offers: Vec<Offer>,
    /// The first that fits counts.
    pub rules: Vec<Rule>,
    /// What is answered where no rule fits: the requests of a recording.
    pub recorded: Option<Exchanges>,
}

/// What is done about some messages.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Where it stands: `my.toml:3`.
    pub place: String,
    /// Which messages it is about; none: requests that the protocol does not answer itself.
    pub when: Option<Expr>,
    /// How often it counts.
    pub times: Option<u64>,
    /// Whether it stands in for what the protocol itself would answer.
    pub answers: bool,
    /// Whether it answers with several messages, which may follow what the protocol itself answers.
    pub goes_on: bool,
    /// What is done, in order.
    pub actions: Arc<[Action]>,
}

impl Rule {
    /// The answer to every request about a subject: JSON, or a type of the protocol and a value.
    pub fn answer(
        protocol: &dyn Protocol,
        place: &str,
        subject: &str,
        answer: &str,
    ) -> Result<Self, String> {
        let subject = Test {
            key: Key::Subject,
            what: What::Is(vec![Operand::Text(subject.to_owned())]),
        };
        let action = Action::Say(
            Reply::Result(Value::given(answer, protocol.descriptor().value_types)?),
            Arc::default(),
        );
        Ok(Self {
            place: place.to_owned(),
            when: Some(Expr::Test(subject)),
            times: None,
            answers: true,
            goes_on: false,
            actions: Arc::new([action]),
        })
    }
}

/// One thing that is done.
#[derive(Clone, Debug)]
pub enum Action {
    /// Wait, in ns.
    Wait(i64),
    /// Bytes, as they are.
    Send(Bytes),
    /// A request the other way; the next action waits for its answer.
    Ask(Value, Value),
    /// A recorded request the other way; its answer need not come.
    Call(Value),
    /// Wait for the answer to the n-th call.
    Await(usize),
    /// Wait until the other side says this of the same call: what it says next in a channel, or that it cancels.
    Hear(Heard),
    /// A message.
    Say(Reply, Arc<Mutation>),
    /// The connection is closed.
    Close,
    /// The connection is cut.
    Reset,
    /// The stub ends.
    Exit(u8),
}

/// What is said.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Yes.
    Result(Value),
    /// No.
    Error {
        /// A code of the protocol.
        code: Option<Value>,
        /// In words.
        message: Value,
        /// More on it.
        data: Option<Value>,
    },
    /// One of several answers.
    Item(Value),
    /// One of several answers, as what changed.
    Delta(Value),
    /// The last of several answers; where nobody asked for it, a protocol without one goes without.
    End(Option<Value>, bool),
    /// Something nobody need answer: what about, and what it holds.
    Tell(Value, Value),
    /// A whole message.
    Message(Value),
}

/// A message that is waited for.
#[derive(Clone, Debug)]
pub struct Heard {
    /// Its kind.
    pub kind: String,
    /// Where it names the call.
    pub path: Path,
    /// Where the call itself has that value.
    pub request: Path,
}

/// What is done to a message on purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutation {
    /// Over several lines.
    pub pretty: bool,
    /// Said twice.
    pub twice: bool,
    /// Another id: the value under `id`, or `seq`.
    pub id: Option<Value>,
}

/// Bytes, or text with open places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// As they are.
    Plain(Vec<u8>),
    /// UTF-8.
    Text(Value),
}

impl Bytes {
    /// The bytes.
    pub fn fill(&self, from: &Fill<'_>) -> Result<Vec<u8>, String> {
        match self {
            Self::Plain(bytes) => Ok(bytes.clone()),
            Self::Text(value) => value.fill_text(from).map(String::into_bytes),
        }
    }
}

/// Why a script is none: where, and what would mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) column: usize,
    /// The line, and how much of it is meant.
    pub(super) shown: (String, usize),
    /// In words.
    pub text: String,
}

impl fmt::Display for ScriptError {
    /// `my.toml:3:1: unknown key resutl: did you mean result?`, the line, and a caret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, wide) = &self.shown;
        writeln!(
            f,
            "{}:{}:{}: {}",
            self.name, self.line, self.column, self.text
        )?;
        writeln!(f, "  {line}")?;
        let before = " ".repeat(self.column.saturating_sub(1));
        write!(f, "  {before}{}", "^".repeat((*wide).max(1)))
    }
}

impl std::error::Error for ScriptError {}
