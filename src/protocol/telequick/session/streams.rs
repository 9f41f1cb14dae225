//! The use of QUIC streams.
//!
//! ```text
//!   bidirectional    one request, and its answer
//!   unidirectional   audio and events
//! ```

use super::{TelequickSession, rule};
use crate::protocol::Role;
use crate::protocol::session::{Current, broken};

/// The second lowest bit of the id of a unidirectional stream (RFC 9000 section 2.1).
const UNIDIRECTIONAL: u64 = 2;

impl TelequickSession<'_> {
    /// Checks that a message belongs on its stream.
    pub(super) fn check_stream(&mut self, seen: Current<'_, '_>) {
        let (Some(id), Some(role)) = (seen.origin.stream, seen.message.role) else {
            return;
        };
        let stream = self.conns.entry(seen.origin);
        let is_unidirectional = id & UNIDIRECTIONAL != 0;
        let is_push = role == Role::Item;
        if is_push != is_unidirectional && !std::mem::replace(&mut stream.is_misused, true) {
            let (kind, way) = if is_push {
                ("bidirectional", "a unidirectional stream")
            } else {
                ("unidirectional", "a bidirectional stream of its own")
            };
            broken!(seen, rule::WRONG_STREAM, seen.whole();
                "{} is on the {kind} stream {id}: it belongs on {way}", seen.message.kind);
        }
        if role == Role::Request
            && std::mem::replace(&mut stream.asked_here, true)
            && !is_unidirectional
        {
            broken!(seen, rule::SHARED_STREAM, seen.whole();
                "stream {id} has had a request before");
        }
    }
}
