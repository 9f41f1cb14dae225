//! Operations that failed and may be retried.
//!
//! ```text
//!   #3 attempt 1 --> error, or its process ends     held: the time is divided up to here
//!   #7 attempt 2                                    goes on; the time between waited for it
//!   nothing                                         ends as it was when it failed, at the end of the input
//! ```

use super::super::operation::OperationState;
use super::Operations;
use crate::decoder::Decoded;
use crate::protocol::Origin;
use crate::protocol::session::Owner;

/// The number of operations that have failed and wait for a retry.
const MAX_HELD: usize = 1 << 8;

impl Operations {
    /// Holds what may be retried on another connection than the one that has ended.
    pub fn end_connection(&mut self, origin: Origin) {
        self.pass(origin.time);
        let conn = origin.conn;
        let is_its = |index: &&u64| self.open.get(index).is_some_and(|open| open.conn == conn);
        let all: Vec<u64> = self.may_retry.iter().filter(is_its).copied().collect();
        for operation in all {
            self.charge(operation, self.now);
            self.end_or_hold(operation, OperationState::Open);
        }
    }

    /// Ends an operation whose time is divided up to its end, unless it may be retried.
    pub(super) fn end_or_hold(&mut self, operation: u64, state: OperationState) {
        let is_held = matches!(state, OperationState::Failed | OperationState::Open);
        let open = is_held.then(|| self.open.get_mut(&operation)).flatten();
        let Some(open) = open.filter(|open| open.may_retry && !open.is_cancelled) else {
            return self.end(operation, state);
        };
        open.held = Some(state);
        self.may_retry.remove(&operation);
        let parent = open.operation.parent;
        self.leave_outer(operation, parent);
        self.held.push_back(operation);
        if self.held.len() > MAX_HELD
            && let Some(oldest) = self.held.pop_front()
            && self
                .open
                .get(&oldest)
                .is_some_and(|open| open.held.is_some())
        {
            self.end(oldest, OperationState::Open);
        }
    }

    /// Goes on with an operation that waited for this retry.
    pub(super) fn resume(&mut self, operation: u64, retry: &Decoded<'_>) {
        let open = self.open.get_mut(&operation);
        let Some(open) = open.filter(|open| open.held.is_some()) else {
            return;
        };
        (open.held, open.owner, open.conn) = (None, Some(Owner::Retry), retry.origin.conn);
        let unanswered = std::mem::take(&mut open.requests);
        let parent = open.operation.parent;
        for request in unanswered.keys() {
            self.members.remove(request);
        }
        self.may_retry.insert(operation);
        self.held.retain(|held| *held != operation);
        self.charge(operation, self.now);
        if let Some(around) = parent.and_then(|parent| self.open.get_mut(&parent)) {
            around.inside.insert(operation);
        }
        if let Some(joins) = &mut self.joins {
            // Its links are those of the first request.
            joins.find(retry);
            joins.begin(operation, parent);
        }
    }
}
