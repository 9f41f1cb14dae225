//! The state of a proxy: which bytes are forwarded, held, injected, recorded and closed. It uses no socket, thread, file or
//! clock; times are arguments.
//!
//! ```text
//!   read, added, ended --> Relay ----> Relayed: events to record first, and what the receiver gets
//!   what passed -------> Journal ----> what the recorder has to do, in order; bounded
//!   how a direction ends --> Ends ---> how the connection ends
//! ```
//!
//! The transport records the events of a [`Relayed`], then the bytes, and then sends: so an answer never precedes its
//! request, and an injected fault never follows its message.

mod ends;
mod journal;
#[cfg(test)]
mod tests;

pub use ends::{ConnectionEnd, DirectionEnd, Ends, FaultEnd};
pub use journal::{EntryBatch, Journal, OfferResult, Policy};

use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::decoder::DecodeOptions;
use crate::inject::{FaultPlan, Injector, InsertError, Out};
use crate::protocol::Channel;
use crate::protocol::{Direction, Origin};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// One direction of a connection, or of one of its streams.
pub type RelayLane = (Channel, ChunkSource);

/// What follows from a step.
#[derive(Debug, Default)]
pub struct Relayed {
    /// The faults, to be recorded before the bytes of their messages.
    pub events: Vec<EventRecord>,
    /// What the receiver gets. It has no [`Out::Event`].
    pub sends: Vec<Out>,
    /// The end of the direction is not passed on.
    pub hides_end: bool,
}

/// The traffic that faults or added messages can change, of all connections.
pub struct Relay {
    injector: Injector<'static>,
    planned: Vec<Map<String, Value>>,
    /// Nanoseconds since 1970.
    started: i64,
    affected: [bool; 2],
    /// Directions in which nothing is sent any more, not even the end.
    stalled: BTreeSet<RelayLane>,
}

impl Relay {
    /// Returns `None` if the plan changes nothing. `started` is in nanoseconds since 1970; the other times are in
    /// nanoseconds since then.
    pub fn new(plan: FaultPlan, options: DecodeOptions<'static>, started: i64) -> Option<Self> {
        (!plan.is_empty()).then(|| Self {
            planned: plan.planned_events(),
            started,
            affected: [Direction::ToServer, Direction::ToClient]
                .map(|direction| plan.affects(direction) || plan.needs_session() || plan.inserts),
            injector: Injector::new(plan, options),
            stalled: BTreeSet::new(),
        })
    }

    /// Returns the events that describe the faults, before any traffic.
    pub fn planned(&self, t: i64) -> impl Iterator<Item = EventRecord> {
        let planned = self.planned.iter().cloned();
        planned.map(move |more| EventRecord {
            conn: None,
            ..injected(t, 0.into(), more)
        })
    }

    /// Returns the directions whose bytes must pass through [`Relay::read`]: to the server, and to the client.
    pub fn affected(&self) -> [bool; 2] {
        self.affected
    }

    /// Takes bytes that were read.
    pub fn read(&mut self, t: i64, lane: RelayLane, bytes: &[u8]) -> Relayed {
        let mut outs = Vec::new();
        self.injector.push(self.origin(t, lane), bytes, &mut outs);
        self.relayed(t, lane, outs)
    }

    /// Takes a message to add. It is recorded as bytes that were read.
    ///
    /// # Errors
    ///
    /// Fails if the direction is inside a message, or if its framing is not known.
    pub fn add(&mut self, t: i64, lane: RelayLane, bytes: &[u8]) -> Result<Relayed, InsertError> {
        let mut outs = Vec::new();
        let origin = self.origin(t, lane);
        self.injector.insert(origin, bytes, &mut outs)?;
        Ok(self.relayed(t, lane, outs))
    }

    /// Ends a direction: sends the bytes that were held.
    pub fn end(&mut self, t: i64, lane: RelayLane) -> Relayed {
        let mut outs = Vec::new();
        let origin = Origin {
            time: None,
            ..self.origin(t, lane)
        };
        self.injector.end(origin, &mut outs);
        let relayed = self.relayed(t, lane, outs);
        // A connection can have any number of streams.
        if lane.0.stream.is_some() {
            self.stalled.remove(&lane);
        }
        relayed
    }

    /// Drops the state of a connection.
    pub fn close(&mut self, conn: u32) {
        self.injector.close(conn);
        self.stalled.retain(|(channel, _)| channel.conn != conn);
    }

    fn origin(&self, t: i64, (channel, dir): RelayLane) -> Origin {
        Origin {
            conn: Some(channel.conn),
            stream: channel.stream,
            direction: Some(match dir {
                ChunkSource::S2c => Direction::ToClient,
                ChunkSource::C2s | ChunkSource::Stderr => Direction::ToServer,
            }),
            time: self.started.checked_add(t),
        }
    }

    fn relayed(&mut self, t: i64, lane: RelayLane, outs: Vec<Out>) -> Relayed {
        let mut relayed = Relayed::default();
        for out in outs {
            match out {
                Out::Event(more) => relayed.events.push(injected(t, lane.0, more)),
                Out::Stall => {
                    self.stalled.insert(lane);
                }
                out => relayed.sends.push(out),
            }
        }
        relayed.hides_end = self.stalled.contains(&lane);
        relayed
    }
}

/// The event of an applied fault.
fn injected(t: i64, channel: Channel, more: Map<String, Value>) -> EventRecord {
    EventRecord {
        more,
        stream: channel.stream,
        ..EventRecord::new(EventKind::Inject, t, channel.conn)
    }
}
