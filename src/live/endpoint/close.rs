//! How connections end: by the other side, by this one, and by what both agreed on.
//!
//! ```text
//!   ended  <-- the other side says no more, or it is over          bye, close --> what is said last, then Command::Close
//!   spent  --> Command::Close: over HTTP, after an exchange that was said to be the last
//! ```

use super::{Endpoint, Listener, origin};
use crate::capture::What;
use crate::live::codec::Codec;
use crate::live::handler::{Command, Ended};

impl Endpoint<'_> {
    /// A connection came to its end; what was held of it is heard. Says whether it can be dialled anew for what was not
    /// said yet: over HTTP, where all that was asked was answered.
    pub fn ended(
        &mut self,
        conn: u32,
        how: &Ended,
        now: i64,
        commands: &mut Vec<Command>,
        listen: &mut Listener<'_>,
    ) -> bool {
        let origin = origin(conn, self.side().other(), now);
        if let Some(codec) = self.codecs.get_mut(&conn) {
            codec.eof();
        }
        self.hear(conn, now, commands, listen, |decoder, sink| {
            decoder.end(origin, sink);
        });
        let what = match how {
            Ended::Eof => What::Eof,
            Ended::Closed | Ended::Refused(_) => What::Close,
            Ended::Reset => What::Reset,
            Ended::Exited(_) => What::Exit,
        };
        let direction = (*how == Ended::Eof).then_some(self.side().other());
        self.happened(conn, what, direction, now);
        if *how == Ended::Eof {
            return false;
        }
        self.decoder.close(Some(conn), &mut |_| {});
        self.peer.closed(conn, now);
        self.codecs.remove(&conn).is_some_and(|c| c.is_at_rest())
    }

    /// Ends a connection in order: says what the protocol says last; whether that is all. If it is not, something must be
    /// heard first, and this is called again, until it is too `late` to wait.
    pub fn bye(&mut self, conn: u32, late: bool, now: i64, commands: &mut Vec<Command>) -> bool {
        let mut says = Vec::new();
        let is_all = self.peer.bye(conn, late, now, &mut says);
        self.say_all(&says, now, commands);
        if is_all {
            self.close(conn, now, commands);
        }
        is_all
    }

    /// Ends a connection, without another word of the protocol.
    pub fn close(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.finish(conn, now, commands);
        commands.push(Command::Close(conn));
    }

    /// Says that nothing more will be said, once.
    pub(super) fn finish(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        let mut bytes = Vec::new();
        if let Some(codec) = self.codecs.get_mut(&conn) {
            codec.end(&mut bytes);
        }
        self.send(conn, bytes, now, commands);
    }

    /// Closes a connection on which the last exchange is done.
    pub(super) fn close_spent(&self, conn: u32, commands: &mut Vec<Command>) {
        if self.codecs.get(&conn).is_some_and(Codec::is_over) {
            commands.push(Command::Close(conn));
        }
    }

    /// Whether this side has said on a connection that it says no more.
    pub fn is_closed(&self, conn: u32) -> bool {
        self.codecs.get(&conn).is_some_and(Codec::is_closed)
    }

    /// Whether what still comes on a connection is passed over.
    pub fn is_deaf(&self, conn: u32) -> bool {
        self.codecs.get(&conn).is_some_and(Codec::is_deaf)
    }

    /// Whether nothing waits for a connection, or for an answer of HTTP.
    pub fn is_quiet(&self) -> bool {
        self.waiting.is_empty() && !self.codecs.values().any(Codec::is_busy)
    }
}
