//! The sessions of a server over HTTP, and the event streams that their clients open with GET.
//!
//! ```text
//!   POST hello    -->  200, name of the session
//!   GET, name     -->  200 text/event-stream: messages that are in no response
//!   DELETE, name  -->  200: the session has ended, and so has its stream
//! ```

use super::Endpoint;
use crate::decoder::Decoded;
use crate::error::Refusal;
use crate::framing::{Framing, Head};
use crate::live::codec::{Codec, ConnectionConfig, ServedSessions, head};
use crate::live::handler::Command;
use crate::protocol::peer::{Outgoing, RecentEntries, json_of, with_json};
use crate::protocol::{Direction, Protocol, Role};
use crate::tape::Node;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// Events that may wait for a stream; the oldest ones are dropped.
const MAX_HELD: usize = 1 << 10;
/// The maximum length of an id and of the part that a request is about, together; a longer one is about the whole session.
const MAX_ASKED: usize = 1 << 10;
/// Closed connections whose sessions are still known.
const MAX_CONNECTIONS: usize = 1 << 12;

/// The state of all sessions. A session without a name has an empty one.
pub(super) struct ServerSessions<'p> {
    /// The field that names a session.
    field: &'p str,
    /// The field that names a part of a session, and the member of the params that does.
    part: Option<(&'p str, &'p str)>,
    served: ServedSessions,
    /// The number of sessions that have begun.
    begun: usize,
    /// The session of the last request on each connection.
    current: BTreeMap<u32, String>,
    /// The connection with the event stream of each session, or of a part of it.
    streams: BTreeMap<(String, Option<String>), u32>,
    /// The parts that requests are about, by their ids.
    asked: RecentEntries<String, String>,
    /// Events of sessions that have no stream yet.
    held: VecDeque<Outgoing>,
}

impl<'p> ServerSessions<'p> {
    /// Returns the state for a server of a protocol with such sessions.
    pub(super) fn of(config: &ConnectionConfig<'p>) -> Option<Self> {
        let is_server = config.side == Direction::ToClient && config.framing == Framing::Http;
        let http = config.protocol.descriptor().http.filter(|_| is_server)?;
        let served = config.sessions.clone();
        (served != ServedSessions::default()).then(|| Self {
            field: http.name,
            part: http.part,
            served,
            begun: 0,
            current: BTreeMap::new(),
            streams: BTreeMap::new(),
            asked: RecentEntries::default(),
            held: VecDeque::new(),
        })
    }

    /// Handles a request. Adds the connection whose stream ends.
    pub(super) fn received(
        &mut self,
        decoded: &Decoded<'_>,
        protocol: &dyn Protocol,
        codec: &mut Codec<'_>,
        ended: &mut Vec<u32>,
    ) {
        let (Head::Http { start, .. }, Some(conn)) = (decoded.frame.head, decoded.origin.conn)
        else {
            return;
        };
        let mut name = head::field(decoded, self.field).unwrap_or_default();
        // The opening may have further messages.
        let is_request = decoded.message.role == Some(Role::Request);
        if is_request && protocol.is_hello(decoded.message) {
            name = self.served.name(self.begun).unwrap_or_default();
            self.begun += 1;
            if !name.is_empty() {
                codec.add_field(self.field, &name);
            }
        }
        if self.served.delete && start.starts_with("DELETE ") {
            self.streams.retain(|(session, _), stream| {
                let is_ended = *session == name;
                ended.extend(is_ended.then_some(*stream));
                !is_ended
            });
        }
        if codec.opened_stream() {
            let part = self.part.and_then(|(part, _)| head::field(decoded, part));
            self.streams.insert((name.clone(), part), conn);
        }
        if let Some(part) = decoded.root().and_then(|root| self.part_of(root)) {
            let id = decoded.message.id.text();
            if id.len() + part.len() <= MAX_ASKED {
                self.asked.insert(id.into_owned(), part);
            }
        }
        self.current.insert(conn, name);
        if self.current.len() > MAX_CONNECTIONS {
            self.current.pop_first();
        }
    }

    /// A connection has ended.
    pub(super) fn remove(&mut self, conn: u32) {
        self.streams.retain(|_, stream| *stream != conn);
    }

    /// Returns `true` if answers are events.
    pub(super) fn accepts(&self) -> bool {
        self.served.accepts
    }

    /// Returns the part of a session that the params of a message name.
    fn part_of(&self, root: Node<'_>) -> Option<String> {
        let (_, member) = self.part?;
        let part = root.get("params")?.get(member)?;
        part.text().map(Cow::into_owned)
    }

    /// Returns the connection with the event stream for a message to the session of a connection: that of the part that it is
    /// about, otherwise that of the whole session.
    fn stream(&self, conn: u32, message: &str) -> Option<u32> {
        let name = self.current.get(&conn)?;
        let part = self.part.and_then(|_| {
            with_json(message, |root| {
                let asked = || self.asked.get(&json_of(root.get("id")?)).cloned();
                self.part_of(root).or_else(asked)
            })
        });
        let of_part = part.flatten().map(|part| (name.clone(), Some(part)));
        let of_part = of_part.and_then(|key| self.streams.get(&key));
        let whole = || self.streams.get(&(name.clone(), None));
        of_part.or_else(whole).copied()
    }

    /// Holds an event until the session of its connection has a stream.
    fn hold(&mut self, outgoing: Outgoing) {
        if !self.current.contains_key(&outgoing.conn) {
            return;
        }
        self.held.push_back(outgoing);
        if self.held.len() > MAX_HELD {
            self.held.pop_front();
        }
    }

    /// Returns an event whose session has a stream now.
    fn next_held(&mut self) -> Option<Outgoing> {
        let mut held = self.held.iter();
        let at = held.position(|one| self.stream(one.conn, &one.message).is_some())?;
        self.held.remove(at)
    }
}

impl Endpoint<'_> {
    /// Returns `true` if an event for the session of a connection can be sent now.
    pub fn can_send_event(&self, conn: u32) -> bool {
        (self.served.as_ref()).is_none_or(|sessions| sessions.stream(conn, "").is_some())
    }

    /// Sends a message that answers nothing. Over HTTP it is an event of the stream that the client of its session has
    /// opened, or will open; without such streams, a message as any other.
    pub fn send_event(
        &mut self,
        outgoing: &Outgoing,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<Option<u64>, Refusal> {
        let Some(sessions) = &mut self.served else {
            return self.send_message(outgoing, None, now, commands);
        };
        let mut event = outgoing.clone();
        if let Some(conn) = sessions.stream(outgoing.conn, &outgoing.message) {
            event.conn = conn;
            return self.send_message(&event, None, now, commands);
        }
        sessions.hold(event);
        Ok(None)
    }

    /// Sends the events that waited for a stream.
    pub(super) fn send_held(&mut self, now: i64, commands: &mut Vec<Command>) {
        while let Some(outgoing) = self.served.as_mut().and_then(ServerSessions::next_held) {
            if let Err(refusal) = self.send_event(&outgoing, now, commands) {
                commands.push(Command::Log(refusal.to_string()));
            }
        }
    }

    /// Ends the event streams of deleted sessions.
    pub(super) fn end_streams(&mut self, ended: &[u32], now: i64, commands: &mut Vec<Command>) {
        for conn in ended {
            let mut bytes = Vec::new();
            if let Some(codec) = self.codecs.get_mut(conn) {
                codec.end_stream(&mut bytes);
            }
            self.send_bytes(*conn, bytes, now, commands);
        }
    }
}
