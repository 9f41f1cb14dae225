//! The streams of a connection that has several (RFC 9000 section 2).
//!
//! ```text
//!   request          --> a bidirectional stream of its own, which ends after it
//!   answer           --> the stream of its request
//!   everything else  --> one unidirectional stream for all, which stays open
//! ```

use super::{Endpoint, EventKind, origin};
use crate::decoder::{DecodeOptions, Decoder};
use crate::live::handler::Command;
use crate::protocol::Channel;
use crate::protocol::{Direction, Role};

impl Endpoint<'_> {
    /// Returns `true` if connections have several streams.
    pub fn has_streams(&self) -> bool {
        self.config.streams
    }

    /// Returns a stream of a connection, or the connection if it has no streams.
    pub fn channel(&self, conn: u32, stream: Option<u64>) -> Channel {
        let stream = stream.filter(|_| self.config.streams);
        Channel { conn, stream }
    }

    /// Returns the channel of a message, and `true` if it is the last message there.
    pub(super) fn channel_for(
        &mut self,
        conn: u32,
        stream: Option<u64>,
        bytes: &[u8],
    ) -> (Channel, bool) {
        let (side, role) = (self.side(), self.role_of(conn, bytes));
        let is_given = side == Direction::ToServer || role != Some(Role::Item);
        if !self.config.streams || stream.is_some() && is_given {
            return (self.channel(conn, stream), false);
        }
        let opened = self.streams.entry(conn).or_default();
        let initiator = u64::from(side == Direction::ToClient);
        let is_request = role == Some(Role::Request);
        let stream = if is_request {
            *opened += 1;
            initiator + 4 * (*opened - 1)
        } else {
            initiator + 2
        };
        let stream = Some(stream);
        (Channel { conn, stream }, is_request)
    }

    /// Returns the role of a message that is to be sent over a connection with streams.
    fn role_of(&self, conn: u32, bytes: &[u8]) -> Option<Role> {
        if !self.config.streams {
            return None;
        }
        let mut decoder = Decoder::new(DecodeOptions {
            framing: Some(self.config.framing),
            ..self.run.decoder().options().clone()
        });
        let mut role = None;
        let origin = origin(conn.into(), self.side(), 0);
        decoder.push(origin, bytes, &mut |decoded| role = decoded.message.role);
        role
    }

    /// Ends our direction of a stream.
    pub fn finish(&mut self, channel: Channel, now: i64, commands: &mut Vec<Command>) {
        let origin = origin(channel, self.side(), now);
        self.run.ignore(|decoder, out| decoder.end(origin, out));
        self.record_event(channel, EventKind::Fin, origin.direction, now);
        commands.push(Command::Finish(channel));
    }
}
