//! The state that faults and added messages need, shared by the pumps of all connections.

use super::inserts::Inserts;
use super::queue::Queue;
use crate::capture::ChunkSource;
use crate::decoder;
use crate::inject::{FaultPlan, InsertError};
use crate::protocol::Channel;
use crate::relay::{Relay, Relayed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The faults of a run, for all its connections.
pub struct Faults {
    relay: Mutex<Relay>,
    affected: [bool; 2],
    /// The directions that messages can be added to.
    pub(super) inserts: Option<Arc<Inserts>>,
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
        Relay::new(plan, options, started).map(|relay| Self {
            inserts,
            affected: relay.affected(),
            relay: Mutex::new(relay),
        })
    }

    /// Records the description of the faults.
    pub(super) fn announce(&self, queue: &Queue) {
        for planned in self.lock().planned(queue.now()) {
            queue.event(0, planned);
        }
    }

    /// Returns `true` if the bytes of this direction must pass through [`Faults::read`].
    pub(super) fn is_affected(&self, dir: ChunkSource) -> bool {
        match dir {
            ChunkSource::C2s => self.affected[0],
            ChunkSource::S2c => self.affected[1],
            ChunkSource::Stderr => false,
        }
    }

    /// Takes bytes that were read at `t`, and records their faults. Record the bytes next.
    pub(super) fn read(
        &self,
        t: i64,
        channel: impl Into<Channel>,
        dir: ChunkSource,
        bytes: &[u8],
        queue: &Queue,
    ) -> Relayed {
        let lane = (channel.into(), dir);
        recorded(self.lock().read(t, lane, bytes), lane.0, queue)
    }

    /// Adds a message, and records it as a fault. Record its bytes next.
    pub(super) fn insert(
        &self,
        channel: impl Into<Channel>,
        dir: ChunkSource,
        bytes: &[u8],
        queue: &Queue,
    ) -> Result<Relayed, InsertError> {
        let lane = (channel.into(), dir);
        let added = self.lock().add(queue.now(), lane, bytes)?;
        Ok(recorded(added, lane.0, queue))
    }

    /// Ends one direction, and records the faults of its last bytes.
    pub(super) fn end(
        &self,
        channel: impl Into<Channel>,
        dir: ChunkSource,
        queue: &Queue,
    ) -> Relayed {
        let lane = (channel.into(), dir);
        recorded(self.lock().end(queue.now(), lane), lane.0, queue)
    }

    /// Releases the state of a connection.
    pub(super) fn close(&self, conn: u32) {
        self.lock().close(conn);
    }

    fn lock(&self) -> MutexGuard<'_, Relay> {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records the faults before the bytes of their messages, so that a reader of the recording knows of them in time.
fn recorded(mut relayed: Relayed, channel: Channel, queue: &Queue) -> Relayed {
    for event in relayed.events.drain(..) {
        queue.event(channel.conn, event);
    }
    relayed
}
