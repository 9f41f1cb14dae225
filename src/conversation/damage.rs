//! Messages that could not be read, and findings that only follow from them.
//!
//! ```text
//!   #6  a length that is wrong by 3     told: the cause
//!   #7  garbage where a frame begins    counted, until a message of its direction can be read
//!   #2  was never answered              counted: its answer may be in what was not read
//! ```
//!
//! A frame that is wrong as such loses the stream: what is said of it until the next sound message of its direction
//! follows from it, and so does what rules find that compare messages of the connection. A line that ends inside its
//! message makes lines of the rest. A message that only its encoding makes unreadable loses nothing but itself.

use super::Broken;
use crate::decoder::Decoded;
use crate::framing::Framing;
use crate::protocol::Direction;
use crate::protocol::session::{Need, Rule};
use std::collections::BTreeMap;

/// Connections whose damage is followed.
const MOST: usize = 1 << 12;

/// Findings that follow from one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consequences {
    /// The message.
    pub index: u64,
    /// Its connection.
    pub conn: Option<u32>,
    /// How many follow from it.
    pub count: u64,
}

/// One connection.
#[derive(Default)]
struct Damage {
    /// The message that lost the stream last.
    cause: Option<u64>,
    /// The directions whose stream was not found again, and what lost it: to the server, to the client, unknown.
    lost: [Option<u64>; 3],
    /// The first of the messages just before that could not be read.
    unread: [Option<u64>; 3],
}

/// What was damaged so far.
#[derive(Default)]
pub(super) struct Damages {
    conns: BTreeMap<Option<u32>, Damage>,
    counts: BTreeMap<u64, Consequences>,
}

fn way(direction: Option<Direction>) -> usize {
    match direction {
        Some(Direction::ToServer) => 0,
        Some(Direction::ToClient) => 1,
        None => 2,
    }
}

impl Damages {
    /// The next message.
    pub(super) fn see(&mut self, decoded: &Decoded<'_>) {
        let (frame, message) = (decoded.frame, decoded.message);
        // A message over the limit is passed over, the next one begins behind it.
        let fault = frame.fault.as_ref().map(|f| f.error.code);
        let loses = fault.is_some_and(|code| code != "over-limit") || message.kind == "skipped";
        let unread = loses || !message.valid && frame.control.is_none();
        let cut = frame.framing == Framing::Lines
            && message
                .faults
                .iter()
                .any(|fault| fault.code == "ends-early");
        let conn = decoded.origin.conn;
        if !unread && self.conns.is_empty() {
            return;
        }
        let is_full = self.conns.len() >= MOST;
        let damage = match self.conns.get_mut(&conn) {
            Some(damage) => damage,
            None if !unread || is_full => return,
            None => self.conns.entry(conn).or_default(),
        };
        let way = way(decoded.origin.direction);
        let (Some(lost), Some(first)) = (damage.lost.get_mut(way), damage.unread.get_mut(way))
        else {
            return;
        };
        if loses {
            // A wrong length shows in the message that it cuts first.
            let cause = first.unwrap_or(decoded.index);
            damage.cause = Some(*lost.get_or_insert(cause));
        } else if unread {
            first.get_or_insert(decoded.index);
            if cut {
                lost.get_or_insert(decoded.index);
            }
        } else if frame.control.is_none() && !decoded.is_faulty() {
            (*lost, *first) = (None, None);
        }
    }

    /// Whether a finding follows from damage: then it is counted. `now`: the message at hand; `bad`: the same, where it
    /// has a fault and this finding is none.
    pub(super) fn count(
        &mut self,
        broken: &Broken,
        rule: &Rule,
        now: u64,
        bad: Option<u64>,
    ) -> bool {
        let origin = broken.place.origin;
        let none = Damage::default();
        let damage = self.conns.get(&origin.conn).unwrap_or(&none);
        let compares = rule
            .needs
            .iter()
            .any(|need| matches!(need, Need::BothWays | Need::Order | Need::Ends));
        let lost = damage.lost.get(way(origin.direction)).copied().flatten();
        let cause = match lost {
            Some(cause) if broken.place.index == now => Some(cause),
            _ => damage.cause.filter(|_| compares),
        };
        let cause = cause.filter(|cause| *cause != broken.place.index);
        let cause = cause.or(bad.filter(|bad| *bad == broken.place.index));
        if let Some(cause) = cause {
            let counted = self.counts.entry(cause).or_insert(Consequences {
                index: cause,
                conn: origin.conn,
                count: 0,
            });
            counted.count += 1;
        }
        cause.is_some()
    }

    /// Findings that were counted, by the messages that they follow from.
    pub(super) fn counts(&self) -> impl Iterator<Item = Consequences> + '_ {
        self.counts.values().copied()
    }
}
