//! Applies the actions of an injector to real streams.

use super::inserts::Inserts;
use super::queue::Queue;
use crate::capture::{ChunkSource, EventKind, EventRecord};
use crate::conversation::tap::event;
use crate::decoder;
use crate::inject::{FaultPlan, Injector, InsertError, Out};
use crate::live::handler::Channel;
use crate::protocol::{Direction, Origin};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The faults of a run, for all its connections.
pub struct Faults {
    injector: Mutex<Injector<'static>>,
    /// The first event of the recording, which describes the faults.
    planned: Vec<Map<String, Value>>,
    /// Nanoseconds since 1970.
    started: i64,
    affected: [bool; 2],
    /// The directions that messages can be added to.
    pub(super) inserts: Option<Arc<Inserts>>,
}

/// The way in which a fault ends a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaultEnd {
    Close,
    Reset,
}

impl Faults {
    /// Returns `None` if the plan changes nothing. `started` is in nanoseconds since 1970. Messages can be added if
    /// `inserts` is given.
    pub fn new(
        plan: FaultPlan,
        options: decoder::DecodeOptions<'static>,
        started: i64,
        inserts: Option<Arc<Inserts>>,
    ) -> Option<Self> {
        let plan = FaultPlan {
            inserts: inserts.is_some(),
            ..plan
        };
        (!plan.is_empty()).then(|| Self {
            inserts,
            planned: plan.planned_events(),
            started,
            affected: [Direction::ToServer, Direction::ToClient]
                .map(|direction| plan.affects(direction) || plan.needs_session() || plan.inserts),
            injector: Mutex::new(Injector::new(plan, options)),
        })
    }

    /// Records the description of the faults.
    pub(super) fn announce(&self, queue: &Queue) {
        for planned in &self.planned {
            let inject = EventRecord {
                conn: None,
                ..injected(queue.now(), 0, planned.clone())
            };
            queue.event(0, inject);
        }
    }

    /// Returns `true` if the bytes of this stream must pass through [`Faults::push`].
    pub(super) fn is_affected(&self, stream: ChunkSource) -> bool {
        match stream {
            ChunkSource::C2s => self.affected[0],
            ChunkSource::S2c => self.affected[1],
            ChunkSource::Stderr => false,
        }
    }

    /// Returns the actions for bytes that were read `t` nanoseconds after the start.
    pub(super) fn push(
        &self,
        t: i64,
        channel: impl Into<Channel>,
        dir: ChunkSource,
        bytes: &[u8],
    ) -> Vec<Out> {
        let mut out = Vec::new();
        let origin = Origin {
            time: self.started.checked_add(t),
            ..origin(channel.into(), dir)
        };
        self.lock().push(origin, bytes, &mut out);
        out
    }

    /// Returns the actions that add a message at `t`.
    pub(super) fn insert(
        &self,
        t: i64,
        channel: impl Into<Channel>,
        dir: ChunkSource,
        bytes: &[u8],
    ) -> Result<Vec<Out>, InsertError> {
        let mut out = Vec::new();
        let origin = Origin {
            time: self.started.checked_add(t),
            ..origin(channel.into(), dir)
        };
        self.lock().insert(origin, bytes, &mut out)?;
        Ok(out)
    }

    /// Returns the actions for the end of one direction.
    pub(super) fn end(&self, channel: impl Into<Channel>, dir: ChunkSource) -> Vec<Out> {
        let mut out = Vec::new();
        self.lock().end(origin(channel.into(), dir), &mut out);
        out
    }

    /// Releases the state of a connection.
    pub(super) fn close(&self, conn: u32) {
        self.lock().close(conn);
    }

    fn lock(&self) -> MutexGuard<'_, Injector<'static>> {
        self.injector.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn origin(channel: Channel, dir: ChunkSource) -> Origin {
    Origin {
        conn: Some(channel.conn),
        stream: channel.stream,
        direction: Some(match dir {
            ChunkSource::S2c => Direction::ToClient,
            ChunkSource::C2s | ChunkSource::Stderr => Direction::ToServer,
        }),
        time: None,
    }
}

/// Records the faults before the bytes of their messages, so that a reader of the recording knows of them in time. Returns
/// the other actions.
pub(super) fn record_faults(
    outs: Vec<Out>,
    channel: impl Into<Channel>,
    queue: &Queue,
) -> Vec<Out> {
    let channel = channel.into();
    let record = |out| match out {
        Out::Event(more) => {
            queue.event(channel.conn, injected(queue.now(), channel, more));
            None
        }
        out => Some(out),
    };
    outs.into_iter().filter_map(record).collect()
}

/// The event of an applied fault.
fn injected(t: i64, channel: impl Into<Channel>, more: Map<String, Value>) -> EventRecord {
    let channel = channel.into();
    EventRecord {
        more,
        stream: channel.stream,
        ..event(EventKind::Inject, t, channel.conn)
    }
}
