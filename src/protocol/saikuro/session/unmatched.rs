//! Answers whose id no request has.
//!
//! ```text
//!   a refusal                 a runtime could not read a message, and generated an id: it belongs to the oldest one
//!   an item                   of a stream whose start was not seen: its numbers are tracked
//!   any other answer          belongs to nothing
//! ```

use super::super::message::field;
use super::frames::number;
use super::state::{Ending, Flow, OpenKind, SeqStream};
use super::{SaikuroSession, rule};
use crate::protocol::Direction;
use crate::protocol::session::text::quote_text;
use crate::protocol::session::{Current, broken};
use crate::tape::Node;

/// The largest number of tracked streams whose start was not seen.
const ORPHANS: usize = 1 << 8;

impl SaikuroSession {
    /// Handles an answer whose id no request has.
    pub(super) fn unknown(&mut self, seen: Current<'_, '_>, root: Node<'_>) {
        let message = seen.message;
        let code = message.outcome.as_deref().unwrap_or_default();
        if message.kind == "error" && matches!(code, "MalformedEnvelope" | "MessageTooLarge") {
            return self.handle_random_refusal(seen, root);
        }
        self.sender(seen).add_refusable(seen.index, None);
        if !self.calls.may_lack(seen.origin.conn, None) {
            let id = message.id.text();
            let place = seen.place(field(root, "id"));
            broken!(seen, rule::UNKNOWN_ID, place;
                "the {} is for {}, but no request has this id", message.kind, quote_text(&id));
        }
        if message.kind == "item" && self.orphans < ORPHANS && !self.calls.open.is_full() {
            self.track_orphan(seen, root);
        }
    }

    /// Tracks the numbers of a stream whose request was not recorded.
    fn track_orphan(&mut self, seen: Current<'_, '_>, root: Node<'_>) {
        let mut flow = Flow {
            next: None,
            ..Flow::default()
        };
        number(&mut flow, seen, root);
        let stream = SeqStream {
            flow,
            orphan: true,
            ..SeqStream::default()
        };
        if let Some(key) = Self::key(seen, true) {
            self.orphans += 1;
            self.calls
                .open
                .add(key, seen.stored_request(), OpenKind::Stream(stream));
        }
    }

    /// Handles a refusal under a generated id: a runtime could not read a message.
    fn handle_random_refusal(&mut self, seen: Current<'_, '_>, root: Node<'_>) {
        let requester = seen.origin.direction.map(Direction::other);
        let side = self.side(seen.origin.conn, requester);
        let doubt = side.refused();
        let oldest = || {
            side.order
                .iter()
                .next()
                .map(|(index, key)| (*index, Some(key.as_ref().clone())))
        };
        let meant = doubt.map(|d| (d.index, d.key)).or_else(oldest);
        let why = field(root, "error")
            .and_then(|e| e.get("message"))
            .and_then(Node::text);
        let why = why.map_or_else(|| "no reason".to_owned(), |why| quote_text(&why));
        let place = seen.place(field(root, "id"));
        let Some((index, key)) = meant else {
            return broken!(seen, rule::RANDOM_ID, place;
                "the error has an id that no request has: {why}");
        };
        broken!(seen, rule::RANDOM_ID, place, index;
            "the error has an id that no request has; it probably answers #{index}: {why}");
        let side = self.side(seen.origin.conn, requester);
        side.order.remove(&index);
        let Some(key) = key else {
            return;
        };
        if self
            .calls
            .open
            .get(&key)
            .is_some_and(|(asked, _)| asked.index() == index)
        {
            if let Some((asked, _)) = self.calls.open.close(&key) {
                seen.answers(&asked, true);
                self.namespaces.remove_announce(seen.origin.conn, index);
                self.functions.remove_announce(index);
                self.end(key, asked, Ending::Answered, seen);
            }
        } else if let Some(ended) = self.calls.ended.get(&key) {
            seen.answers(&ended.asked, true);
        }
    }
}
