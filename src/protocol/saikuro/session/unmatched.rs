//! Answers under an id that nobody asked with.
//!
//! ```text
//!   a refusal                 a runtime could not read something, and made up an id: laid to the oldest that it may mean
//!   an item                   of a stream whose beginning was not seen: its numbers are followed
//!   anything else             belongs to nothing
//! ```

use super::super::message::field;
use super::Conduct;
use super::frames::number;
use super::state::{Flow, How, State, Stream};
use crate::protocol::Direction;
use crate::protocol::correlation::Asked;
use crate::protocol::session::text::quote_text;
use crate::protocol::session::{Report, Seen};
use crate::tape::Node;

/// Streams that are followed though their beginning was not seen.
const ORPHANS: usize = 1 << 8;

impl Conduct {
    /// A frame under an id that nobody asked with.
    pub(super) fn unknown(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let message = seen.message;
        let code = message.outcome.as_deref().unwrap_or_default();
        if message.kind == "error" && matches!(code, "MalformedEnvelope" | "MessageTooLarge") {
            return self.refused_at_random(seen, root, report);
        }
        self.sender(seen).doubt(seen.index, None);
        let lost = self.conns.get(&seen.origin.conn).is_some_and(|c| c.lost);
        if !lost && self.open.refused() == 0 {
            let id = message.id.text();
            let text = format!(
                "{} for {}, which nobody asked with",
                message.kind,
                quote_text(&id)
            );
            let place = field(root, "id").map_or(seen.whole(), |id| seen.at(id));
            report.broken("unknown-id", place, text);
        }
        if message.kind == "item" && self.orphans < ORPHANS && !self.open.is_full() {
            self.adopt(seen, root, report);
        }
    }

    /// Numbers are followed even where the request went by unseen.
    fn adopt(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let mut flow = Flow {
            next: None,
            ..Flow::default()
        };
        number(&mut flow, seen, root, report);
        let stream = Stream {
            flow,
            orphan: true,
            ..Stream::default()
        };
        if let Some(key) = Self::key(seen, true) {
            self.orphans += 1;
            self.open.ask(key, Asked::of(seen), State::Stream(stream));
        }
    }

    /// A runtime could not read something, and refuses it under an id of its own making.
    fn refused_at_random(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let asker = seen.origin.direction.map(Direction::other);
        let side = self.side(seen.origin.conn, asker);
        let doubt = side.refused();
        let oldest = || {
            side.order
                .iter()
                .next()
                .map(|(index, key)| (*index, Some(key.clone())))
        };
        let meant = doubt.map(|d| (d.index, d.key)).or_else(oldest);
        let why = field(root, "error")
            .and_then(|e| e.get("message"))
            .and_then(Node::text);
        let why = why.map_or_else(|| "no reason".to_owned(), |why| quote_text(&why));
        let place = field(root, "id").map_or(seen.whole(), |id| seen.at(id));
        let Some((index, key)) = meant else {
            let text = format!("a refusal under an id that nobody asked with: {why}");
            return report.broken("random-id", place, text);
        };
        let text =
            format!("a refusal under an id that nobody asked with; it means #{index}: {why}");
        report.broken_by("random-id", place, index, text);
        let side = self.side(seen.origin.conn, asker);
        side.order.remove(&index);
        let Some(key) = key else {
            return;
        };
        if self
            .open
            .get(&key)
            .is_some_and(|(asked, _)| asked.place.index == index)
        {
            if let Some((asked, _)) = self.open.close(&key) {
                report.answers(&asked, seen, true);
                self.namespaces.refuse(seen.origin.conn, index);
                self.functions.refuse(index);
                self.end(key, asked, How::Answered, seen);
            }
        } else if let Some(ended) = self.ended.get(&key) {
            report.answers(&ended.asked, seen, true);
        }
    }
}
