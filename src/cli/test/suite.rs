//! A file of tests: its cases, and what they need.

use crate::capture::line_table::LineColumn;
use crate::own_rules::OwnRule;
use crate::protocol::Protocol;
use crate::protocol::session::Severity;
use crate::select::Expr;
use std::path::PathBuf;
use std::time::Duration;

/// A file of tests.
pub struct Suite {
    /// The name of the file, as the user gave it.
    pub name: String,
    /// The folder of the file: commands run there, and paths are relative to it. Empty: the working directory.
    pub folder: PathBuf,
    pub rules: Vec<OwnRule>,
    pub stubs: Vec<StubProgram>,
    pub cases: Vec<Case>,
}

/// A stub that cases need.
pub struct StubProgram {
    pub name: String,
    /// The flags of `wiretool stub`, after its name.
    pub words: Vec<String>,
    /// It listens on a socket. Otherwise the tested program starts it.
    pub listens: bool,
}

/// What cases have in common unless they say otherwise.
#[derive(Clone)]
pub struct Common {
    pub protocol: Option<&'static dyn Protocol>,
    /// The tested server; empty: an address among the flags.
    pub command: Vec<String>,
    pub env: Vec<(String, String)>,
    /// The flags of `wiretool send` for the connection.
    pub flags: Vec<String>,
    /// The time limit of each answer, and of a client.
    pub timeout: Duration,
    /// The time limit of the whole case.
    pub limit: Duration,
    /// The time for further messages after the last answer.
    pub linger: Duration,
    pub budget: Budget,
    /// Rules whose severity changes.
    pub levels: Vec<(String, Severity)>,
    /// Findings of this severity or worse are failures.
    pub fail_on: Option<Severity>,
}

impl Default for Common {
    fn default() -> Self {
        Self {
            protocol: None,
            command: Vec::new(),
            env: Vec::new(),
            flags: Vec::new(),
            timeout: Duration::from_secs(10),
            limit: Duration::from_secs(60),
            linger: Duration::ZERO,
            budget: Budget::default(),
            levels: Vec::new(),
            fail_on: Some(Severity::Error),
        }
    }
}

/// The most that a case may take; `None`: no limit.
#[derive(Clone, Copy, Default)]
pub struct Budget {
    /// Time between a request and its answer.
    pub latency: Option<Duration>,
    /// Time between the first message and the last one.
    pub time: Option<Duration>,
    /// Bytes of both directions.
    pub bytes: Option<u64>,
    /// Requests of the client.
    pub calls: Option<u64>,
}

pub struct Case {
    pub name: String,
    pub at: LineColumn,
    pub common: Common,
    pub action: Action,
    /// The exit status that the server must have.
    pub exit: Option<i32>,
    pub conditions: Vec<Condition>,
    /// The file with what the server offered.
    pub baseline: Option<(PathBuf, LineColumn)>,
}

/// What happens in a case.
pub enum Action {
    /// Messages are sent, each after the answer to the one before it, unless they do not wait.
    Send { lines: Vec<String>, waits: bool },
    /// A recording is sent again, and the answers are compared.
    Replay {
        recording: PathBuf,
        ignore: Vec<String>,
        strict: bool,
    },
    /// A client runs; the messages are those of a stub.
    Client {
        argv: Vec<String>,
        stub: String,
        /// The expected exit status.
        exit: i32,
    },
    /// What the server offers is requested.
    Offers,
}

/// A condition on messages, and how many must match.
pub struct Condition {
    pub expr: Expr,
    /// Its text in the file.
    pub text: String,
    pub at: LineColumn,
    pub least: u64,
    pub most: Option<u64>,
}
