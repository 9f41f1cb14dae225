//! What a recording asks of whoever plays it: the messages of the calling side, and what they were answered.
//!
//! ```text
//!   → HEY        step 0                      on connection 0, waits for nothing
//!   ← HEY        told 0     answers step 0
//!   → INV "a"    step 1                      carries nothing that is not known
//!   ← EVT        told 1     a push
//!   ← RES        told 2     answers step 1, the last
//! ```

mod parts;
mod reader;

use super::names::{Names, Place};
use crate::capture::Header;
use crate::decoder::{Decoded, Options};
use crate::diff::Kept;
use crate::encoding::Want;
use crate::framing::{Framing, LengthMode, Limits, Wire};
use crate::protocol::{Protocol, Role};
use crate::render::json::wire;
use crate::select::Filter;
pub(crate) use parts::check;
pub(super) use parts::id_of;
use reader::Reader;
use std::collections::BTreeMap;

/// The connection of a plan that is typed.
pub const CONN: u32 = 1;

/// Bytes that a plan may weigh.
const MOST: usize = 256 << 20;

/// Which messages of the calling side are said, beside its hellos.
pub struct Selection {
    /// The first, by its index among all messages.
    pub first: Option<u64>,
    /// The last.
    pub last: Option<u64>,
    /// Those of which this holds.
    pub filter: Filter,
}

/// A message to be said.
pub struct Step {
    /// What it was: place, kind, subject.
    pub which: crate::diff::Which,
    /// On which connection.
    pub conn: u32,
    /// What part it plays.
    pub role: Option<Role>,
    /// It opens a session.
    pub is_hello: bool,
    /// Calls could be made when it was said.
    pub was_ready: bool,
    /// As `decode -f json --exact` would show it.
    pub message: String,
    /// Its values that stand for something.
    pub places: Vec<Place>,
    /// How it was framed.
    pub wire: Wire,
    /// Its bytes, where they are no message that can be written anew.
    pub verbatim: Option<Vec<u8>>,
    /// When it was said, in nanoseconds since 1970.
    pub time: Option<i64>,
    /// Its own id, as a name.
    pub id: Option<usize>,
    /// Names that the other side made.
    pub needs: Vec<usize>,
    /// Earlier steps by whose ids it goes.
    pub about: Vec<usize>,
    /// Later ones that go by its id.
    pub spoken_of: Vec<usize>,
    /// What it answers.
    pub replies_to: Option<usize>,
    /// What it was answered, in order.
    pub answers: Vec<usize>,
    /// How many of those it takes until none but items is left.
    pub owed: usize,
    /// The last of its answers is among them.
    pub is_complete: bool,
    /// How many messages of the other side were there before.
    pub heard: usize,
}

impl Step {
    /// What a message tells of itself.
    fn of(decoded: &Decoded<'_>, kept: &Kept) -> Self {
        let message = decoded.message;
        let raw = decoded.raw.as_ref();
        // What is no message of the protocol is said byte for byte.
        let is_whole = message.valid && message.role.is_some() && decoded.frame.fault.is_none();
        Self {
            which: crate::diff::which(kept),
            conn: decoded.origin.conn.unwrap_or_default(),
            role: message.role,
            is_hello: false,
            was_ready: false,
            message: String::new(),
            places: Vec::new(),
            wire: raw
                .map(|raw| lasting(wire(decoded, raw)))
                .unwrap_or_default(),
            verbatim: raw.filter(|_| !is_whole).map(|raw| raw.bytes.to_vec()),
            time: decoded.origin.time,
            id: None,
            needs: Vec::new(),
            about: Vec::new(),
            spoken_of: Vec::new(),
            replies_to: None,
            answers: Vec::new(),
            owed: 0,
            is_complete: false,
            heard: 0,
        }
    }
}

/// A message of the other side.
pub struct Expected {
    /// The message.
    pub kept: Kept,
    /// Its values that stand for something.
    pub places: Vec<Place>,
    /// The step that it answers.
    pub answers: Option<usize>,
    /// It answers a message that is not said.
    pub is_orphan: bool,
    /// It must come.
    pub is_due: bool,
    /// A step answers it.
    pub is_answered: bool,
}

/// A connection of the recording.
#[derive(Clone, Debug, Default)]
pub struct PlannedConnection {
    /// Its steps, in order.
    pub steps: Vec<usize>,
    /// Those that are hellos.
    pub hellos: Vec<usize>,
    /// How many messages of the other side had come before it.
    pub heard: usize,
    /// How many of [`Plan::ended`] were over before it.
    pub after: usize,
}

/// What is to be said, and what was answered.
pub struct Plan<'p> {
    /// Whose messages they are.
    pub protocol: &'p dyn Protocol,
    /// How they were delimited.
    pub framing: Framing,
    /// The path that HTTP requests named.
    pub path: Option<String>,
    /// Fields of HTTP requests that are none of the connection's own, such as `authorization`.
    pub fields: Vec<(String, String)>,
    /// The head of the recording.
    pub header: Header,
    /// What is said, in order.
    pub steps: Vec<Step>,
    /// What the other side said, in order.
    pub expected: Vec<Expected>,
    /// Connections by number.
    pub connections: BTreeMap<u32, PlannedConnection>,
    /// Connections that came to their end, in that order.
    pub ended: Vec<u32>,
    /// What the values stand for.
    pub names: Names,
    /// Messages of both sides.
    pub read: u64,
    /// Those of both sides that were chosen.
    pub matched: u64,
    /// Steps that were chosen, and are not there for their connection's or an answer's sake alone.
    pub chosen: u64,
    /// Whether a hello is among the steps.
    pub has_hello: bool,
    /// Whether the recording is all there, to its end: whatever was said before connections ended is among the steps.
    pub has_end: bool,
    /// What is worth knowing before it is played.
    pub notes: Vec<String>,
}

/// Why a recording cannot be played: one sentence.
pub type PlanError = String;

impl<'p> Plan<'p> {
    /// One connection, on which nothing is said that is known beforehand.
    pub fn empty(protocol: &'p dyn Protocol, framing: Framing) -> Self {
        Self {
            protocol,
            framing,
            path: None,
            fields: Vec::new(),
            header: Header::default(),
            steps: Vec::new(),
            expected: Vec::new(),
            connections: BTreeMap::from([(CONN, PlannedConnection::default())]),
            ended: Vec::new(),
            names: Names::new(protocol),
            read: 0,
            matched: 0,
            chosen: 0,
            has_hello: false,
            has_end: false,
            notes: Vec::new(),
        }
    }

    /// Reads a recording; `protocols`: one where it is known.
    pub fn of(
        recording: &[u8],
        protocols: &[&'p dyn Protocol],
        framing: Option<Framing>,
        limits: Limits,
        choice: Selection,
    ) -> Result<Self, PlanError> {
        let mut reader = Reader::new(protocols, choice);
        let options = Options {
            protocols: protocols.to_vec(),
            framing,
            length_mode: LengthMode::Auto,
            limits,
            resync: true,
            want: Want::Exact,
        };
        reader.read(recording, options)?;
        reader.finish()
    }
}

/// What of a frame is worth keeping for another one like it.
fn lasting(wire: Wire) -> Wire {
    Wire {
        packed: wire.packed,
        header: wire.header,
        eol: wire.eol,
        method: wire.method,
        opcode: wire.opcode,
        head: wire.head,
        event: wire.event,
        ..Wire::default()
    }
}
