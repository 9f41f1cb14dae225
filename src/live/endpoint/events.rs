//! The event streams of a client over HTTP, each on a connection of its own.

use super::http_session::{ClientSession, Effect, StreamOf, peer_conn};
use super::{Endpoint, SessionEvent};
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
        if http.is_some_and(ClientSession::start_stream) {
            self.open_stream(StreamOf::Session, commands);
        }
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
                if let (StreamOf::Session, Some(http)) = (&of, &mut self.http) {
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
