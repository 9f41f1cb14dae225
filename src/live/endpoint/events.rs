//! The event streams of a client over HTTP, each on a connection of its own.

use super::http_session::{ClientSession, Effect, StreamOf, peer_conn};
use super::{Endpoint, SessionEvent};
use crate::framing::EventStream;
use crate::live::handler::Command;
use crate::protocol::peer::Readiness;

impl Endpoint<'_> {
    /// Opens an event stream on a connection of its own.
    pub(super) fn open_stream(&mut self, of: StreamOf, commands: &mut Vec<Command>) {
        let conn = self.connect(commands);
        if let Some(http) = &mut self.http {
            http.add_stream(conn, of);
        }
    }

    /// Opens the event stream of the session after the handshake.
    pub(super) fn open_session_stream(&mut self, commands: &mut Vec<Command>) {
        let is_ready = self.peer.readiness(self.peer_conn(0)) == Readiness::Ready;
        let http = self
            .http
            .as_mut()
            .filter(|http| http.is_started && is_ready);
        if let Some(of) = http.and_then(ClientSession::start_stream) {
            self.open_stream(of, commands);
        }
    }

    /// Handles the events that a connection has brought, or, if it ends, that there are no more.
    pub(super) fn note_events(
        &mut self,
        conn: u32,
        events: EventStream<'_>,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        let Some(http) = &mut self.http else {
            return;
        };
        if !http.note_events(conn, events) {
            return;
        }
        let is_stream = http.is_stream(conn);
        let codec = self.codecs.get_mut(&conn);
        if is_stream {
            http.continue_later(conn, now);
            commands.push(Command::Close(conn));
        } else if let Some(codec) = codec.filter(|codec| codec.is_busy()) {
            codec.end_response();
            http.continue_later(conn, now);
        }
    }

    /// Continues the event streams that are due.
    pub(super) fn continue_streams(&mut self, now: i64, commands: &mut Vec<Command>) {
        while let Some((of, last_id)) = self.http.as_mut().and_then(|http| http.next_due(now)) {
            let conn = self.connect(commands);
            if let Some(http) = &mut self.http {
                http.continue_on(conn, of, last_id);
            }
        }
    }

    /// Ends a session that the server has named. Returns `false` if the response is still to come.
    pub fn end_session(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        if let Some(conn) = self.free_connection() {
            self.delete_session(conn, None, now, commands);
        }
        self.http.is_none() || self.is_idle()
    }

    /// Sends DELETE for the session with this name in the recording, or for any. Without a session that the server has named,
    /// nothing is sent. Returns the index of the request.
    pub fn delete_session(
        &mut self,
        conn: u32,
        recorded: Option<&str>,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Option<u64> {
        let http = self.http.as_mut()?;
        if !http.start_deletion(conn, recorded) {
            return None;
        }
        let session = http.request_without_message(conn);
        let mut bytes = Vec::new();
        if let Some(codec) = self.codecs.get_mut(&conn) {
            codec.delete(&session, &mut bytes);
        }
        self.send_bytes(conn, bytes, now, commands)
    }

    /// Returns the connection to which a message belongs for the peer of the protocol.
    pub(super) fn peer_conn(&self, conn: u32) -> u32 {
        peer_conn(self.config.protocol, self.config.framing, conn)
    }

    /// Applies what frames mean for a session over HTTP.
    pub(super) fn apply(
        &mut self,
        conn: u32,
        effects: Vec<Effect>,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        for effect in effects {
            if let Some(of) = effect.opens {
                if let (StreamOf::Session(_), Some(http)) = (&of, &mut self.http) {
                    // The first message is sent again.
                    http.is_started = false;
                }
                self.open_stream(of, commands);
            }
            if let Some(why) = effect.refused {
                self.events.push(SessionEvent::Refused(conn, why));
            }
            if effect.is_ready {
                let is_stream = |conn: u32| self.http.as_ref().is_some_and(|h| h.is_stream(conn));
                let open: Vec<u32> = self.codecs.keys().copied().collect();
                for conn in open
                    .into_iter()
                    .filter(|conn| !is_stream(*conn))
                    .collect::<Vec<_>>()
                {
                    self.start_session(conn, now, commands);
                }
            }
        }
        self.open_session_stream(commands);
    }

    /// Returns `true` if the server has named the path of messages, or need not name it.
    pub(super) fn can_post(&self) -> bool {
        self.http.as_ref().is_none_or(ClientSession::is_ready)
    }

    /// Returns `true` if answers may be events of another connection than that of their request.
    pub fn has_event_streams(&self) -> bool {
        self.http.as_ref().is_some_and(ClientSession::has_streams)
    }
}
