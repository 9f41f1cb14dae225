//! Unreadable messages, and findings that only follow from them.
//!
//! ```text
//!   #6  a length that is wrong by 3     reported: the cause
//!   #7  garbage where a frame starts    counted, until a message of this direction is readable
//!   #2  has no answer                   counted: its answer may be among the unreadable bytes
//! ```
//!
//! A malformed frame loses the stream: findings about it follow from the frame until the next valid message of its
//! direction, and so do findings of rules that compare messages of the connection. A line that ends inside its message
//! turns the rest into lines. A message whose encoding alone is unreadable loses only itself.

use crate::decoder::Decoded;
use crate::framing::Framing;
use crate::protocol::session::memory::PerDirection;
use crate::protocol::session::{Broken, Need, Place, Rule};
use crate::protocol::{ConnStream, Direction, Origin};
use std::collections::BTreeMap;

/// Maximum number of connections and streams whose damage is tracked.
const MAX_STREAMS: usize = 1 << 12;

/// Findings that follow from one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consequences {
    /// The message.
    pub index: u64,
    /// Its connection and direction.
    pub origin: Origin,
    /// The number of findings that follow from it.
    pub count: u64,
}

/// The damage of one connection or stream.
#[derive(Default)]
struct Damage {
    /// The last message that lost the stream, and its direction.
    cause: Option<(u64, Option<Direction>)>,
    /// For each direction that is still lost, the message that lost it.
    lost: PerDirection<Option<u64>>,
    /// For each direction, the first message of the current run of unreadable ones.
    unread: PerDirection<Option<u64>>,
}

/// The damage of all connections.
#[derive(Default)]
pub(super) struct Damages {
    streams: BTreeMap<ConnStream, Damage>,
    counts: BTreeMap<u64, Consequences>,
}

impl Damages {
    /// Records the next message.
    pub(super) fn record(&mut self, decoded: &Decoded<'_>) {
        let (frame, message) = (decoded.frame, decoded.message);
        // A message over the limit is skipped as a whole; the next one starts after it.
        let fault = frame.fault.as_ref().map(|f| f.error.code);
        let loses_stream =
            fault.is_some_and(|code| code != "over-limit") || message.kind == "skipped";
        let unread = loses_stream || !message.valid && frame.control.is_none();
        let ends_early = frame.framing == Framing::Lines
            && message
                .faults
                .iter()
                .any(|fault| fault.code == "ends-early");
        let stream = decoded.origin.conn_stream();
        if !unread && self.streams.is_empty() {
            return;
        }
        let is_full = self.streams.len() >= MAX_STREAMS;
        let damage = match self.streams.get_mut(&stream) {
            Some(damage) => damage,
            None if !unread || is_full => return,
            None => self.streams.entry(stream).or_default(),
        };
        let direction = decoded.origin.direction;
        let (lost, first) = (
            damage.lost.get_mut(direction),
            damage.unread.get_mut(direction),
        );
        if loses_stream {
            // An incorrect length first shows in the message that it truncates.
            let cause = first.unwrap_or(decoded.index);
            damage.cause = Some((*lost.get_or_insert(cause), direction));
        } else if unread {
            first.get_or_insert(decoded.index);
            if ends_early {
                lost.get_or_insert(decoded.index);
            }
        } else if frame.control.is_none() && !decoded.is_faulty() {
            (*lost, *first) = (None, None);
        }
    }

    /// Returns the message after which the reader of a message of the same direction may have lost the stream.
    pub(super) fn before(&self, place: &Place) -> Option<u64> {
        let (cause, direction) = self.streams.get(&place.origin.conn_stream())?.cause?;
        (direction == place.origin.direction && cause < place.index).then_some(cause)
    }

    /// Counts a finding that follows from damage, and returns `true` for it. `faulty`: the current message, if
    /// it has a fault and this finding is not that fault.
    pub(super) fn count_consequence(
        &mut self,
        broken: &Broken,
        rule: &Rule,
        current: u64,
        faulty: Option<u64>,
    ) -> bool {
        let origin = broken.place.origin;
        let none = Damage::default();
        let damage = self.streams.get(&origin.conn_stream()).unwrap_or(&none);
        let compares = rule.needs.iter().any(|need| {
            matches!(
                need,
                Need::BothWays | Need::Order | Need::Sequence | Need::Ends
            )
        });
        let cause = match *damage.lost.get(origin.direction) {
            Some(cause) if broken.place.index == current => Some((cause, origin.direction)),
            _ => damage.cause.filter(|_| compares),
        };
        let cause = cause.filter(|(index, _)| *index != broken.place.index);
        let faulty = faulty.filter(|faulty| *faulty == broken.place.index);
        let cause = cause.or(faulty.map(|faulty| (faulty, origin.direction)));
        if let Some((index, direction)) = cause {
            let counted = self.counts.entry(index).or_insert(Consequences {
                index,
                origin: Origin {
                    direction,
                    ..origin
                },
                count: 0,
            });
            counted.count += 1;
        }
        cause.is_some()
    }

    /// Returns the numbers of counted findings, by the messages that they follow from.
    pub(super) fn counts(&self) -> impl Iterator<Item = Consequences> + '_ {
        self.counts.values().copied()
    }
}
