//! The plan of a replay: the messages of the calling side in a recording, and the answers to them.
//!
//! ```text
//!   → HEY        step 0                      on connection 0, waits for nothing
//!   ← HEY        expected 0 answers step 0
//!   → INV "a"    step 1                      all its values are known
//!   ← EVT        expected 1 a push
//!   ← RES        expected 2 answers step 1, the last
//! ```

mod parts;
mod reader;
mod sides;

use super::codec::EventStreams;
use super::names::{Names, ValuePlace};
use crate::capture::Header;
use crate::decoder::{DecodeOptions, Decoded, RawFrame};
use crate::diff::StoredMessage;
use crate::encoding::Want;
use crate::framing::{Framing, Head, Limits, Wire};
use crate::protocol::{Protocol, Role};
use crate::render::json::wire;
use crate::select::Filter;
pub(crate) use parts::check;
pub(super) use parts::id_of;
use reader::{PlanReader, detected_protocol};
use std::collections::BTreeMap;

/// The connection of a plan without a recording.
pub const CONN: u32 = 1;

/// Maximum size of a plan in bytes.
const MAX_BYTES: usize = 256 << 20;

/// A message to be sent.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub struct PlanStep {
    /// Index, kind and subject in the recording.
    pub description: crate::diff::DiffMessage,
    /// The connection.
    pub conn: u32,
    /// The stream, if the connection has several.
    pub stream: Option<u64>,
    /// The stream ends after it.
    pub is_last: bool,
    /// The role of the message.
    pub role: Option<Role>,
    /// The message opens a session.
    pub is_hello: bool,
    /// The name of the session over HTTP that it began, or that it ends.
    pub session: Option<String>,
    /// It is no message: DELETE ends a session over HTTP.
    pub is_deletion: bool,
    /// In the recording, calls were possible when it was sent.
    pub was_ready: bool,
    /// The message in the form of `decode -f json --exact`.
    pub message: String,
    /// The values that have a meaning.
    pub places: Vec<ValuePlace>,
    /// The framing of the recorded message.
    pub wire: Wire,
    /// The recorded bytes, if they are not a message that can be encoded again.
    pub verbatim: Option<Vec<u8>>,
    /// `verbatim` is the body of a frame: that of the recording was compressed, and the connection of the run need not
    /// have the extension.
    pub is_body: bool,
    /// The time of the recorded message, in nanoseconds since 1970.
    pub time: Option<i64>,
    /// The name of its own id.
    pub id: Option<usize>,
    /// Names in it that the peer generates.
    pub needs: Vec<usize>,
    /// Earlier steps to whose ids it refers.
    pub refers_to: Vec<usize>,
    /// The earlier request to whose operation it belongs, such as one that it cancels.
    pub part_of: Option<usize>,
    /// Later steps that refer to its id.
    pub referenced_by: Vec<usize>,
    /// The expected message that it answers.
    pub replies_to: Option<usize>,
    /// The answers, in order.
    pub answers: Vec<usize>,
    /// The number of `answers` after which only items remain.
    pub required_answers: usize,
    /// `answers` includes the last answer.
    pub is_complete: bool,
    /// The number of messages that the peer had sent before.
    pub received_before: usize,
}

impl PlanStep {
    /// Returns `true` for a message that begins a session; the opening may have further messages.
    pub fn begins_session(&self) -> bool {
        self.is_hello && self.role != Some(Role::Notification)
    }

    /// Returns a step with the facts that the message alone shows.
    fn of(decoded: &Decoded<'_>, stored: &StoredMessage) -> Self {
        let message = decoded.message;
        let raw = decoded.raw.as_ref();
        // Bytes that are not a message of the protocol are sent unchanged.
        let is_whole = message.valid && message.role.is_some() && decoded.frame.fault.is_none();
        let is_compressed = matches!(
            decoded.frame.head,
            Head::WebSocket {
                compressed: true,
                ..
            }
        );
        let is_body = is_compressed && !is_whole && decoded.frame.fault.is_none();
        let bytes = |raw: &RawFrame<'_>| {
            if is_body {
                decoded.frame.view.body().to_vec()
            } else {
                raw.bytes.to_vec()
            }
        };
        Self {
            description: crate::diff::describe(stored),
            conn: decoded.origin.conn.unwrap_or_default(),
            stream: decoded.origin.stream,
            is_last: false,
            role: message.role,
            wire: Wire {
                encoding: decoded.encoding(),
                ..raw
                    .map(|raw| reusable_properties(wire(decoded, raw)))
                    .unwrap_or_default()
            },
            verbatim: raw.filter(|_| !is_whole).map(bytes),
            is_body,
            time: decoded.origin.time,
            ..Self::default()
        }
    }
}

/// A message that the peer is expected to send.
pub struct Expected {
    /// The recorded message.
    pub stored: StoredMessage,
    /// The values that have a meaning.
    pub places: Vec<ValuePlace>,
    /// The step that it answers.
    pub answers: Option<usize>,
    /// It answers a message that is not sent.
    pub is_orphan: bool,
    /// The time since the message before it in the recording, in nanoseconds.
    pub pause: i64,
    /// The run is incomplete without it.
    pub is_required: bool,
    /// The step that answers it.
    pub answered_by: Option<usize>,
}

impl Expected {
    /// Returns `true` for a message that the peer sends without a request.
    pub fn is_push(&self) -> bool {
        self.answers.is_none() && !self.is_orphan
    }
}

/// A connection of the recording.
#[derive(Clone, Debug, Default)]
pub struct PlannedConnection {
    /// Its steps, in order.
    pub steps: Vec<usize>,
    /// The steps that are hellos.
    pub hellos: Vec<usize>,
    /// The number of messages that the peer had sent before the connection was opened.
    pub received_before: usize,
    /// The number of connections of [`Plan::ended`] that had ended before.
    pub ended_before: usize,
    /// The number of messages that the peer had sent before this side ended its direction, if more of them followed.
    pub received_before_eof: Option<usize>,
    /// The time between its last request and its end by this side, in nanoseconds, if no answer came.
    pub leaves_after: Option<i64>,
    /// The number of messages that the peer had sent up to the last one on the connection.
    pub received: usize,
}

/// The messages to send, and the recorded answers.
pub struct Plan<'p> {
    /// The protocol of the messages.
    pub protocol: &'p dyn Protocol,
    /// The framing of the messages.
    pub framing: Framing,
    /// The path of the HTTP requests.
    pub path: Option<String>,
    /// Fields of HTTP requests that do not depend on the connection, such as `authorization`.
    pub fields: Vec<(String, String)>,
    /// The event streams that GET opens.
    pub events: EventStreams,
    /// The header of the recording.
    pub header: Header,
    /// The messages to send, in order.
    pub steps: Vec<PlanStep>,
    /// The messages of the peer, in order.
    pub expected: Vec<Expected>,
    /// Connections by number.
    pub connections: BTreeMap<u32, PlannedConnection>,
    /// Connections in the order in which they ended.
    pub ended: Vec<u32>,
    /// The names of generated values.
    pub names: Names,
    /// The number of messages in both directions.
    pub read: u64,
    /// The number of these that were selected.
    pub matched: u64,
    /// The number of selected steps. Steps that only a connection or an answer needs are not counted.
    pub chosen: u64,
    /// A hello is among the steps, or they need none.
    pub has_hello: bool,
    /// The recording is complete: the steps include all messages that were sent before the connections ended.
    pub has_end: bool,
    /// Notes for the user before the run.
    pub notes: Vec<String>,
}

/// A sentence that states why a recording cannot be replayed.
pub type PlanError = String;

impl<'p> Plan<'p> {
    /// Returns a plan with one connection and no messages.
    pub fn empty(protocol: &'p dyn Protocol, framing: Framing) -> Self {
        Self {
            protocol,
            framing,
            path: None,
            fields: Vec::new(),
            events: EventStreams::None,
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

    /// Reads a recording. `protocols` has one element if the protocol is known.
    pub fn of(
        recording: &[u8],
        protocols: &[&'p dyn Protocol],
        framing: Option<Framing>,
        limits: Limits,
        choice: Filter,
    ) -> Result<Self, PlanError> {
        let options = |protocols: &[&'p dyn Protocol]| DecodeOptions {
            framing,
            limits,
            want: Want::Exact,
            flags: true,
            ..DecodeOptions::new(protocols.to_vec())
        };
        // While bytes wait for their protocol, the events after them are read, and the order is lost.
        let detected = detected_protocol(recording, options(protocols));
        let protocols = detected.as_ref().map_or(protocols, std::slice::from_ref);
        let mut reader = PlanReader::new(protocols, choice);
        reader.read(recording, options(protocols))?;
        sides::check_sides(recording, protocols)?;
        reader.finish()
    }
}

impl Plan<'_> {
    /// Makes one connection of those of HTTP, which carry one session, for a peer that does not speak HTTP. Several sessions
    /// stay apart.
    pub fn join_connections(&mut self) {
        let sessions = self.steps.iter().filter(|step| step.begins_session());
        let Some(first) = self.connections.keys().next().copied() else {
            return;
        };
        if sessions.count() > 1 {
            return;
        }
        for step in &mut self.steps {
            step.conn = first;
        }
        for expected in &mut self.expected {
            expected.stored.conn = expected.stored.conn.and(Some(first));
        }
        let mut joined = PlannedConnection::default();
        for connection in self.connections.values() {
            joined.steps.extend(&connection.steps);
            joined.hellos.extend(&connection.hellos);
        }
        joined.steps.sort_unstable();
        joined.hellos.sort_unstable();
        self.connections = BTreeMap::from([(first, joined)]);
        self.ended.retain(|conn| *conn == first);
    }

    /// Returns the key under which messages without a request are compared. With event streams, any connection may have
    /// them.
    pub(super) fn push_key(&self, stored: &StoredMessage) -> (u32, String) {
        let conn = stored.conn.filter(|_| !self.has_event_streams());
        (conn.unwrap_or_default(), stored.name().to_string())
    }

    /// Returns `true` if the client opens event streams.
    pub(in crate::live) fn has_event_streams(&self) -> bool {
        self.events != EventStreams::None
    }
}

/// Returns the properties of a frame that another frame with the same kind of message needs.
fn reusable_properties(wire: Wire) -> Wire {
    Wire {
        encoding: wire.encoding,
        header: wire.header,
        eol: wire.eol,
        method: wire.method,
        opcode: wire.opcode,
        head: wire.head,
        event: wire.event,
        ..Wire::default()
    }
}
