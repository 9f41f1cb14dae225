//! Adds the messages of a recording to the entries of its script.

use super::parts::{CompiledRequest, Course, StoredValues, Undecided, send_action};
use super::{CompileState, ScriptAction};
use crate::decoder::Decoded;
use crate::diff::MessageName;
use crate::framing::{Frame, Head};
use crate::live::names::ValuePlace;
use crate::live::script::{BytesTemplate, HelloReply};
use crate::path::Path;
use crate::protocol::Role;

/// A message of the recording, with the values in it that have a meaning.
pub(super) struct SeenMessage<'d> {
    pub(super) decoded: &'d Decoded<'d>,
    pub(super) conn: Option<u32>,
    pub(super) time: Option<i64>,
    pub(super) message: String,
    pub(super) places: Vec<ValuePlace>,
}

impl<'d> SeenMessage<'d> {
    pub(super) fn new(decoded: &'d Decoded<'d>, read: (String, Vec<ValuePlace>)) -> Self {
        let (message, places) = read;
        Self {
            decoded,
            conn: decoded.origin.conn,
            time: decoded.origin.time,
            message,
            places,
        }
    }
}

/// Returns the path of the id of a message, if it is among these values.
pub(super) fn id_path<'v>(decoded: &Decoded<'_>, places: &'v [ValuePlace]) -> Option<&'v Path> {
    let (root, direction) = (decoded.root()?, decoded.origin.direction?);
    let id = decoded.protocol.pair_id(root, direction)?.span();
    let is_id = |path: &&Path| path.find(root).is_some_and(|node| node.span() == id);
    places.iter().map(|place| &place.path).find(is_id)
}

/// The fields of a response that depend on its connection or on how its body was encoded.
const OF_CONNECTION: [&str; 5] = [
    "connection",
    "keep-alive",
    "content-encoding",
    "content-length",
    "transfer-encoding",
];

/// Returns a recorded response of HTTP as the last one of its connection, with its whole body.
fn refusal(frame: &Frame<'_>) -> Vec<u8> {
    let (bytes, body) = (frame.view.bytes, frame.view.body());
    let head = match frame.head {
        Head::Http { len, .. } => bytes.get(..len as usize).unwrap_or_default(),
        _ => bytes,
    };
    let mut response = Vec::new();
    for line in head.split(|c| *c == b'\n') {
        let line = line.trim_ascii_end();
        let name = line.split(|c| *c == b':').next().unwrap_or_default();
        let is_own = OF_CONNECTION
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own.as_bytes()));
        if !line.is_empty() && !is_own {
            response.extend_from_slice(line);
            response.extend_from_slice(b"\r\n");
        }
    }
    let end = format!(
        "content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    response.extend_from_slice(end.as_bytes());
    response.extend_from_slice(body);
    response
}

impl CompileState<'_> {
    /// Returns the request of an item: an event belongs to the request about the same object, not to the one that asked for
    /// events.
    pub(super) fn request_of_item(&mut self, at: usize, item: &SeenMessage<'_>) -> usize {
        let holders = self.holders.find(&item.places, Some(at));
        if holders.is_empty() {
            return at;
        }
        let Some(other) = self.course(item.conn, &holders) else {
            return at;
        };
        if let Some(course) = self.course_mut(at) {
            course.stay_silent();
        }
        self.keep_order(other);
        other
    }

    /// Adds an answer or an item. `is_resuming`: a hello before it is not answered yet.
    pub(super) fn add_reply(
        &mut self,
        at: usize,
        reply: SeenMessage<'_>,
        last: bool,
        is_resuming: bool,
    ) {
        let SeenMessage { conn, time, .. } = reply;
        let role = reply.decoded.message.role;
        self.decide(Some(at));
        self.holders.add(at, &reply.places);
        let message = self.message(at, reply.message, reply.places);
        let speed = self.speed;
        let Some(entry) = self.entries.get_mut(at) else {
            return;
        };
        // The messages that a resumed session missed are sent before the answer to the hello.
        if is_resuming && entry.conn != conn && !entry.is_done {
            let course = entry.timeline.course(speed);
            course.received(ScriptAction::AwaitEnd, time);
        }
        entry.is_done |= last;
        let course = entry.timeline.course(speed);
        if matches!(role, Some(Role::Response | Role::Error)) {
            course.pause_after_notification();
        }
        course.did(send_action(message), time);
    }

    /// Adds a hello, whose answer is not known yet.
    pub(super) fn add_hello(&mut self, seen: SeenMessage<'_>) {
        let hello = HelloReply {
            to: MessageName::of(seen.decoded.message).to_string(),
            message: None,
            before: Vec::new(),
            then: [].into(),
        };
        self.add_entry(seen, Some(hello));
    }

    /// Adds a response of HTTP that refuses the request with this index, and returns `true`, if the message is one.
    pub(super) fn refuses(&mut self, request: Option<u64>, decoded: &Decoded<'_>) -> bool {
        if decoded.refusal_status().is_none() {
            return false;
        }
        let at = request.and_then(|to| self.request_at(to));
        at.map(|at| self.add_refusal(at, decoded)).is_some()
    }

    /// The connection ends after the response: only the next one begins anew.
    fn add_refusal(&mut self, at: usize, decoded: &Decoded<'_>) {
        let speed = self.speed;
        let Some(entry) = self.entries.get_mut(at) else {
            return;
        };
        let bytes = BytesTemplate::Plain(refusal(decoded.frame));
        let time = decoded.origin.time;
        entry.is_done = true;
        let course = entry.timeline.course(speed);
        course.did(ScriptAction::Send(bytes), time);
        course.did(ScriptAction::Close, time);
    }

    pub(super) fn add_hello_answer(&mut self, at: usize, answer: SeenMessage<'_>) {
        let role = answer.decoded.message.role;
        self.holders.add(at, &answer.places);
        let message = self.hello_answer(at, answer.message, answer.places, role);
        if let Some(hello) = self.hello_mut(at) {
            hello.message = Some(message);
        }
    }

    /// Adds what a resumed session missed: it is sent before the answer to the hello.
    pub(super) fn add_missed(&mut self, at: usize, missed: SeenMessage<'_>) {
        let role = Some(Role::Error);
        let message = self.hello_answer(at, missed.message, missed.places, role);
        if let Some(hello) = self.hello_mut(at) {
            hello.before.push(message);
        }
    }

    pub(super) fn course_mut(&mut self, at: usize) -> Option<&mut Course> {
        let entry = self.entries.get_mut(at)?;
        Some(entry.timeline.course(self.speed))
    }

    fn hello_mut(&mut self, at: usize) -> Option<&mut HelloReply> {
        let entry = self.entries.get_mut(at)?;
        entry.hello.as_deref_mut()
    }

    /// Adds a message that answers none of the peer.
    pub(super) fn add_unasked(&mut self, role: Role, message: SeenMessage<'_>) {
        let SeenMessage { conn, time, .. } = message;
        let is_event = self.exchanges.is_event(message.decoded);
        // An event of a session has no request of its own on its connection: it follows what the peer sent last.
        let last = self.entries.last().filter(|_| is_event);
        let conn = last.map_or(conn, |entry| entry.conn);
        let mut holders = self.holders.find(&message.places, None);
        let is_notification = role == Role::Notification;
        let at = if is_notification {
            self.course_of_notification(conn, &message.places, &mut holders)
        } else {
            self.course(conn, &holders)
        };
        let Some(at) = at else {
            return;
        };
        let is_open = |entry: &CompiledRequest| entry.is_open_on(conn);
        if is_notification && self.entries.get(at).is_some_and(|e| is_open(e)) {
            self.undecided.push(Undecided {
                last: at,
                holders,
                message: message.message,
                places: message.places,
                time,
                is_event,
            });
            return;
        }
        self.decide(Some(at));
        let (index, own) = (message.decoded.index, message.places.clone());
        let id = id_path(message.decoded, &own);
        let values = StoredValues::of(&own, id, &mut self.paths);
        let mut message = self.message(at, message.message, message.places);
        if is_event {
            message = message.into_event();
        }
        if self.is_repeated(at, conn, role, &message) {
            return;
        }
        self.holders.add(at, &own);
        let speed = self.speed;
        if let Some(entry) = self.entries.get_mut(at) {
            let course = entry.timeline.course(speed);
            if role == Role::Request {
                self.ours.insert(index, (at, course.calls.len()));
                course.calls.push(values);
                course.did(ScriptAction::Call(message), time);
            } else {
                course.did(send_action(message), time);
            }
        }
    }

    /// Waits for a message of the peer that continues an earlier request.
    pub(super) fn await_message(
        &mut self,
        at: Option<usize>,
        kind: String,
        message: &SeenMessage<'_>,
    ) {
        let awaited = at.and_then(|at| Some((at, self.named(at, kind, &message.places)?)));
        self.decide(at);
        if let Some((at, awaited)) = awaited
            && let Some(course) = self.course_mut(at)
        {
            let action = ScriptAction::AwaitMessage(awaited);
            course.received(action, message.time);
        }
    }

    /// Waits for the answer to a request of this side: the entry that has sent it, and its number there.
    pub(super) fn await_answer(&mut self, (at, call): (usize, usize), answer: &SeenMessage<'_>) {
        self.decide(Some(at));
        self.holders.add(at, &answer.places);
        let values = StoredValues::of(&answer.places, None, &mut self.paths);
        if let Some(course) = self.course_mut(at) {
            course.received(ScriptAction::Await(call), answer.time);
            course.answers.push((call, values));
        }
    }
}
