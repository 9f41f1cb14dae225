//! What an injector says is done to a real stream.

use super::queue::Queue;
use crate::capture::{EventRecord, Stream, What};
use crate::conversation::tap::event;
use crate::decoder;
use crate::inject::{Injector, Out, Plan};
use crate::protocol::Direction;
use serde_json::{Map, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The faults of a run, for all its connections.
pub struct Faults {
    injector: Mutex<Injector<'static>>,
    /// What the recording says of them before anything has passed.
    told: Vec<Map<String, Value>>,
    /// Ns since 1970.
    started: i64,
    concerns: [bool; 2],
}

/// How a connection ends on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Close,
    Reset,
}

impl Faults {
    /// None where nothing is to be changed. `started` is in ns since 1970.
    pub fn new(plan: Plan, options: decoder::Options<'static>, started: i64) -> Option<Self> {
        (!plan.is_empty()).then(|| Self {
            told: plan.told(),
            started,
            concerns: [Direction::ToServer, Direction::ToClient]
                .map(|way| plan.concerns(way) || plan.needs_session()),
            injector: Mutex::new(Injector::new(plan, options)),
        })
    }

    /// Says in the recording what is to come.
    pub(super) fn announce(&self, queue: &Queue) {
        for told in &self.told {
            let inject = EventRecord {
                t: queue.now(),
                conn: None,
                event: What::Inject.name().to_owned(),
                more: told.clone(),
            };
            queue.event(0, inject);
        }
    }

    /// Whether bytes of this stream must be shown to [`Faults::push`].
    pub(super) fn watch(&self, stream: Stream) -> bool {
        match stream {
            Stream::C2s => self.concerns[0],
            Stream::S2c => self.concerns[1],
            Stream::Stderr => false,
        }
    }

    /// What is to be done with bytes that were read `t` ns after the start.
    pub(super) fn push(&self, t: i64, conn: u32, stream: Stream, bytes: &[u8]) -> Vec<Out> {
        let mut out = Vec::new();
        let time = self.started.checked_add(t);
        let mut injector = self.lock();
        injector.push(time, conn, direction(stream), bytes, &mut out);
        out
    }

    /// What is to be done at the end of a stream.
    pub(super) fn end(&self, conn: u32, stream: Stream) -> Vec<Out> {
        let mut out = Vec::new();
        self.lock().end(conn, direction(stream), &mut out);
        out
    }

    /// A connection is over.
    pub(super) fn close(&self, conn: u32) {
        self.lock().close(conn);
    }

    fn lock(&self) -> MutexGuard<'_, Injector<'static>> {
        self.injector.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn direction(stream: Stream) -> Direction {
    match stream {
        Stream::S2c => Direction::ToClient,
        Stream::C2s | Stream::Stderr => Direction::ToServer,
    }
}

/// The event of something that was done.
pub(super) fn injected(t: i64, conn: u32, more: Map<String, Value>) -> EventRecord {
    EventRecord {
        more,
        ..event(What::Inject, t, conn)
    }
}
