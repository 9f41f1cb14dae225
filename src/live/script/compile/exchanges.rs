//! Exchanges over HTTP: event streams, the names and ends of sessions, and requests that their client cancels by ending the
//! connection before the answer.

use super::super::is_plain;
use super::CompiledRequests;
use crate::capture::{Event, EventKind};
use crate::decoder::Decoded;
use crate::framing::{Framing, Head};
use crate::live::codec::{ServedSessions, head};
use crate::live::endpoint::http_session::message_path;
use crate::live::script::ScriptAction;
use crate::live::speed::Speed;
use crate::protocol::{Direction, Protocol, Role};
use std::collections::{BTreeMap, HashMap};

/// The exchanges of HTTP connections.
#[derive(Default)]
pub(super) struct Exchanges {
    /// The last request on each connection that its client has not ended.
    last: HashMap<u32, usize>,
    /// The last requests on connections that their clients have ended, and when.
    ended: Vec<(usize, Option<i64>)>,
    /// Method and path of the last request on each connection, and the role of its message.
    requests: HashMap<u32, (String, String, Option<Role>)>,
    /// The event streams of sessions, by connection.
    streams: BTreeMap<u32, RecordedStream>,
    /// The names of sessions, in the order in which they began.
    names: Vec<String>,
    /// A session was ended by DELETE.
    is_deleted: bool,
    /// A request was accepted with 202: its answer is an event of a stream.
    accepts: bool,
    /// The status of the first response to a message without an answer.
    notified: Option<u16>,
    /// The numbers of responses with one message, and of those with events, to messages that were posted.
    answers: [u64; 2],
    /// The path at which the server opened an event stream of the older transport.
    pub(super) older_path: Option<String>,
}

/// An event stream of a session.
struct RecordedStream {
    path: String,
    is_open: bool,
}

/// Returns true for a framing over pipes and plain sockets that is not the usual one there.
pub(super) fn is_unusual(framing: Framing, protocol: &dyn Protocol) -> bool {
    let all = protocol.descriptor().framings;
    let usual = all.first().filter(|usual| is_plain(usual));
    usual.is_some_and(|usual| is_plain(&framing) && *usual != framing && all.contains(&framing))
}

impl Exchanges {
    /// Records a request.
    pub(super) fn add(&mut self, conn: Option<u32>, at: usize) {
        self.last.extend(conn.map(|conn| (conn, at)));
    }

    /// Returns `true` for a message in the event stream of a session.
    pub(super) fn is_event(&self, decoded: &Decoded<'_>) -> bool {
        let conn = decoded.origin.conn.unwrap_or_default();
        let stream = self.streams.get(&conn);
        decoded.frame.framing == Framing::Http && stream.is_some_and(|stream| stream.is_open)
    }

    /// Returns the sessions.
    pub(super) fn sessions(&self, protocol: &dyn Protocol) -> ServedSessions {
        let notified = self.notified.filter(|status| [200, 204].contains(status));
        let Some(http) = protocol.descriptor().http else {
            return ServedSessions {
                notified,
                ..ServedSessions::default()
            };
        };
        ServedSessions {
            notified,
            names: self.names.clone(),
            stream: self.streams.values().next().map(|one| one.path.clone()),
            delete: self.is_deleted,
            events: self.answers[1] > self.answers[0],
            accepts: self.accepts && http.part.is_some(),
        }
    }

    /// Reads a head, or an event without a message.
    pub(super) fn see_head(&mut self, decoded: &Decoded<'_>, protocol: &dyn Protocol) {
        let Head::Http {
            start,
            event,
            status,
            ..
        } = decoded.frame.head
        else {
            return;
        };
        let conn = decoded.origin.conn.unwrap_or_default();
        if event {
            // In the older transport, the first event names the path of messages.
            if message_path(decoded).is_some()
                && let Some(stream) = self.streams.remove(&conn)
            {
                self.older_path.get_or_insert(stream.path);
            }
            return;
        }
        if status == 0 {
            let mut words = start.split([' ', '?']);
            let mut word = || words.next().unwrap_or_default().to_owned();
            let role = decoded.message.role;
            self.requests.insert(conn, (word(), word(), role));
            if let Some(stream) = self.streams.get_mut(&conn) {
                stream.is_open = false;
            }
            return;
        }
        let Some((method, path, role)) = self.requests.get(&conn) else {
            return;
        };
        let is_accepted = (200..300).contains(&status);
        let kind = head::field(decoded, "content-type").unwrap_or_default();
        if method == "GET" && is_accepted && kind.starts_with(head::EVENT_STREAM) {
            let path = path.clone();
            self.streams.insert(
                conn,
                RecordedStream {
                    path,
                    is_open: true,
                },
            );
        }
        self.accepts |= *role == Some(Role::Request) && status == 202;
        let has_message = decoded.message.role != Some(Role::Control);
        let is_empty = !has_message && !kind.starts_with(head::EVENT_STREAM);
        if *role == Some(Role::Notification) && is_accepted && is_empty {
            self.notified.get_or_insert(status);
        }
        self.is_deleted |= method == "DELETE" && is_accepted;
        if method == "POST" && status == 200 {
            let [whole, events] = &mut self.answers;
            *whole += u64::from(kind.starts_with("application/json"));
            *events += u64::from(kind.starts_with(head::EVENT_STREAM));
        }
        let http = protocol.descriptor().http;
        let name = http.and_then(|http| head::field(decoded, http.name));
        let name = name.filter(|name| is_accepted && !self.names.contains(name));
        self.names.extend(name);
    }

    /// Reads an event. `side` is the side that the stub plays.
    pub(super) fn see(&mut self, event: &Event<'_>, side: Direction) {
        let is_theirs = event.direction == Some(side.other());
        if event.what == EventKind::Eof && is_theirs || event.what == EventKind::Reset {
            let time = event.time.and_then(|time| i64::try_from(time).ok());
            let at = self.last.remove(&event.conn);
            self.ended.extend(at.map(|at| (at, time)));
        }
    }

    /// Lets requests without an answer wait for the end of their connection. A client that ends only its direction still
    /// gets its answer.
    pub(super) fn decide(&self, entries: &mut CompiledRequests, speed: Speed) {
        for (at, time) in &self.ended {
            let entry = entries.get_mut(*at);
            if let Some(entry) = entry.filter(|entry| entry.is_request && !entry.is_done) {
                let course = entry.timeline.course(speed);
                course.received(ScriptAction::AwaitEnd, *time);
            }
        }
    }
}
