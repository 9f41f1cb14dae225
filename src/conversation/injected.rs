//! Faults that wiretool injected: no peer is at fault for what follows from them.

use super::MAX_HELD;
use crate::decoder::Decoded;
use crate::protocol::Origin;
use crate::protocol::session::{Answer, Place, Waiting};
use std::collections::HashMap;

/// The injected faults of a conversation.
#[derive(Default)]
pub(super) struct Injected {
    /// By message.
    faults: HashMap<u64, Box<str>>,
    /// Requests whose answer was dropped: their sender waits.
    unreceived: Vec<Waiting>,
}

impl Injected {
    /// Records the fault of a message.
    pub(super) fn record(&mut self, decoded: &Decoded<'_>) {
        if let Some(fault) = decoded.injected.filter(|_| self.faults.len() < MAX_HELD) {
            self.faults.insert(decoded.index, fault.into());
        }
    }

    /// Records the request of a dropped message.
    pub(super) fn record_answer(&mut self, decoded: &Decoded<'_>, answer: Option<&Answer>) {
        let Some(answer) = answer.filter(|answer| answer.last && decoded.is_dropped()) else {
            return;
        };
        if self.unreceived.len() >= MAX_HELD {
            return;
        }
        let origin = decoded.origin;
        let asked_at = origin.time.zip(answer.latency);
        let subject = answer.subject.as_deref().unwrap_or_default();
        self.unreceived.push(Waiting {
            place: Place {
                index: answer.to,
                origin: Origin {
                    direction: origin.direction.map(crate::protocol::Direction::other),
                    time: asked_at.map(|(time, latency)| time.saturating_sub(latency)),
                    ..origin
                },
                // Its position is not stored. No message is empty.
                len: 1,
                ..Place::default()
            },
            what: format!("{} {subject}", answer.kind).trim_end().to_owned(),
            id: decoded.message.id.text().into_owned(),
            owes: origin.direction,
            side: None,
            nests: false,
            blocked_by: None,
            why: Some(format!("wiretool dropped its answer, #{}", decoded.index)),
        });
    }

    /// Returns the requests whose answer was dropped.
    pub(super) fn unreceived(&self) -> &[Waiting] {
        &self.unreceived
    }

    /// Returns the fault of the first of these messages that has one.
    pub(super) fn of(&self, indexes: [Option<u64>; 2]) -> Option<&str> {
        let mut faults = indexes.into_iter().flatten().map(|n| self.faults.get(&n));
        faults.find_map(|fault| fault.map(AsRef::as_ref))
    }
}
