//! The steps of judging: what the reader hands to the thread that judges.

use crate::capture::{EventRecord, Header, Time};
use crate::cli::interrupt::Stop;
use crate::conversation::Source;
use crate::decoder::RareParts;
use crate::protocol::Protocol;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum number of steps, and of rare parts, that wait. The reader waits for space.
const MAX_STEPS: usize = 1 << 12;
/// The number of messages after which their results are stored.
const MAX_PART: usize = 1 << 10;
/// The time after which a waiting thread looks if it must stop.
const LOOK: Duration = Duration::from_millis(50);

/// An item between messages.
pub(super) enum Step {
    /// The conversation of a source begins, in these protocols.
    Begin(Box<Source>, Vec<&'static dyn Protocol>),
    Header(Box<Header>),
    /// An event of a connection, and its time.
    Event(EventRecord, Option<Time>),
    /// The traffic pauses: awaited messages are shown.
    Pause,
    /// The conversation ends.
    End,
}

/// The steps that wait, and how many messages are stored.
#[derive(Default)]
pub(super) struct Steps {
    state: Mutex<StepState>,
    changed: Condvar,
}

#[derive(Default)]
struct StepState {
    /// Each with the number of messages before it.
    steps: VecDeque<(usize, Step)>,
    /// The parts of messages that cannot be decoded again.
    rare: BTreeMap<usize, RareParts>,
    stored: usize,
    /// No more steps and messages come.
    closed: bool,
    /// Nobody takes the steps.
    left: bool,
}

/// The next work of the thread.
pub(super) enum Work {
    Step(Step),
    /// The messages up to this one.
    Messages(usize, BTreeMap<usize, RareParts>),
    End,
}

impl Steps {
    fn lock(&self) -> MutexGuard<'_, StepState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if another step must wait: all messages before it must be stored then.
    pub fn is_full(&self) -> bool {
        let state = self.lock();
        state.steps.len().max(state.rare.len()) >= MAX_STEPS
    }

    fn wait_for_space(&self) -> MutexGuard<'_, StepState> {
        let is_full = |state: &mut StepState| {
            !state.left && state.steps.len().max(state.rare.len()) >= MAX_STEPS
        };
        let waited = self.changed.wait_while(self.lock(), is_full);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a step after this number of messages.
    pub fn push(&self, after: usize, step: Step) {
        let mut state = self.wait_for_space();
        if !state.left {
            state.steps.push_back((after, step));
            self.changed.notify_all();
        }
    }

    /// Adds what cannot be decoded again of a message.
    pub fn push_rare(&self, index: usize, parts: RareParts) {
        let mut state = self.wait_for_space();
        if !state.left {
            state.rare.insert(index, parts);
        }
    }

    /// Sets the number of messages that are in the store.
    pub fn set_stored(&self, count: usize) {
        self.lock().stored = count;
        self.changed.notify_all();
    }

    /// Says that no more steps and messages come.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits for the next work after `done` messages.
    pub fn next(&self, done: usize, stop: &Stop) -> Work {
        let mut state = self.lock();
        loop {
            if stop.exit().is_some() {
                return Work::End;
            }
            let first = state.steps.front().map(|(after, _)| *after);
            if first.is_some_and(|after| after <= done)
                && let Some((_, step)) = state.steps.pop_front()
            {
                self.changed.notify_all();
                return Work::Step(step);
            }
            let end = state.stored.min(first.unwrap_or(usize::MAX));
            if end > done {
                let end = end.min(done + MAX_PART);
                let later = state.rare.split_off(&end);
                let rare = std::mem::replace(&mut state.rare, later);
                self.changed.notify_all();
                return Work::Messages(end, rare);
            }
            if state.closed {
                return Work::End;
            }
            let waited = self.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub fn leave(&self) {
        let mut state = self.lock();
        state.left = true;
        state.steps.clear();
        state.rare.clear();
        self.changed.notify_all();
    }
}
