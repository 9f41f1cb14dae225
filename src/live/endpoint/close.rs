//! The end of connections: by the peer, by this side, and after the last exchange of HTTP.
//!
//! ```text
//!   ended  <-- the peer has ended its direction or the connection     prepare_close, close --> last messages, then Command::Close
//!   close_finished -->  Command::Close: over HTTP, after the last exchange
//! ```

use super::{Endpoint, MessageObserver, SessionEvent, origin};
use crate::capture::EventKind;
use crate::decoder::Origin;
use crate::framing::EventStream;
use crate::live::codec::Codec;
use crate::live::handler::{Command, Ended};
use crate::protocol::Channel;

impl Endpoint<'_> {
    /// Handles the end of a connection or a stream, and the messages that the decoder still held. Returns `true` if the connection
    /// can be opened again for further messages: over HTTP, if all requests were answered.
    pub fn ended(
        &mut self,
        channel: impl Into<Channel>,
        how: &Ended,
        now: i64,
        commands: &mut Vec<Command>,
        observe: &mut MessageObserver<'_>,
    ) -> bool {
        let channel = channel.into();
        let conn = channel.conn;
        let origin = origin(channel, self.side().other(), now);
        if channel.stream.is_some() {
            self.decode(channel, now, commands, observe, |decoder, sink| {
                decoder.end(origin, sink);
            });
            if *how == Ended::Eof {
                self.record_event(channel, EventKind::Fin, origin.direction, now);
            } else {
                let whole = Origin {
                    direction: None,
                    ..origin
                };
                self.run.ignore(|decoder, out| decoder.end(whole, out));
            }
            return false;
        }
        if let Some(codec) = self.codecs.get_mut(&conn) {
            codec.eof();
        }
        self.decode(channel, now, commands, observe, |decoder, sink| {
            decoder.end(origin, sink);
        });
        self.note_events(conn, EventStream::default(), now, commands);
        let what = match how {
            Ended::Eof => EventKind::Eof,
            Ended::Closed | Ended::Refused(_) => EventKind::Close,
            Ended::Reset => EventKind::Reset,
            Ended::Exited(_) => EventKind::Exit,
        };
        let direction = (*how == Ended::Eof).then_some(self.side().other());
        self.record_event(channel, what, direction, now);
        if *how == Ended::Eof {
            return false;
        }
        self.run
            .ignore(|decoder, out| decoder.close(Some(conn), out));
        match &mut self.http {
            None => self.peer.closed(conn, now),
            Some(http) => {
                let refused = http
                    .remove(conn)
                    .map(|why| SessionEvent::Refused(conn, why));
                self.events.extend(refused);
            }
        }
        self.streams.remove(&conn);
        self.older_streams.remove(&conn);
        if let Some(sessions) = &mut self.served {
            sessions.remove(conn);
        }
        self.codecs.remove(&conn).is_some_and(|c| c.can_reopen())
    }

    /// Returns `true` if the peer may still send something for a call or a subscription.
    pub fn has_open_calls(&self, conn: u32) -> bool {
        self.peer.has_open_calls(conn)
    }

    /// Ends a connection in order: sends the last messages of the protocol. Returns `false` if the peer must send
    /// something first; then it is called again, at last with `late`, which does not wait.
    pub fn prepare_close(
        &mut self,
        conn: u32,
        late: bool,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> bool {
        let mut outgoing = Vec::new();
        let is_complete = self.peer.prepare_close(conn, late, now, &mut outgoing);
        self.send_all(&outgoing, now, commands);
        if is_complete {
            self.close(conn, now, commands);
        }
        is_complete
    }

    /// Ends a connection without further messages of the protocol.
    pub fn close(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.announce_end(conn, now, commands);
        commands.push(Command::Close(conn));
    }

    /// Announces that nothing more will be sent. Has an effect once.
    pub(super) fn announce_end(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        let mut bytes = Vec::new();
        if let Some(codec) = self.codecs.get_mut(&conn) {
            codec.close(&mut bytes);
        }
        self.send_bytes(conn, bytes, now, commands);
    }

    /// Closes a connection after its last exchange.
    pub(super) fn close_finished(&self, conn: u32, commands: &mut Vec<Command>) {
        if self.codecs.get(&conn).is_some_and(Codec::is_finished) {
            commands.push(Command::Close(conn));
        }
    }

    /// Returns `true` if this side has announced that it sends nothing more on a connection.
    pub fn is_closed(&self, conn: u32) -> bool {
        self.codecs.get(&conn).is_some_and(Codec::is_closed)
    }

    /// Returns `true` if further input of a connection is ignored.
    pub fn ignores_input(&self, conn: u32) -> bool {
        self.codecs.get(&conn).is_some_and(Codec::ignores_input)
    }

    /// Returns `true` if no message waits for a connection and no HTTP response is pending.
    pub fn is_idle(&self) -> bool {
        let is_stream = |conn: u32| self.http.as_ref().is_some_and(|http| http.is_stream(conn));
        let mut codecs = self.codecs.iter().filter(|(conn, _)| !is_stream(**conn));
        self.waiting.is_empty() && !codecs.any(|(_, codec)| codec.is_busy())
    }
}
