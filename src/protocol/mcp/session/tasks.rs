//! Tasks: a request whose result comes later (2025-11-25).
//!
//! ```text
//!   tools/call #3 {task} -> {task: {taskId: "t"}}     #3 goes on
//!   tasks/get, tasks/result, tasks/cancel, notifications/tasks/status of "t"      part of #3
//!   a request with "t" in its `_meta`                 inside of #3
//!   its result, or the state failed or cancelled      #3 ends
//! ```

use crate::protocol::Direction;
use crate::protocol::Role;
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rpc::extension::RpcMessage;
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::{Link, Owner};
use crate::tape::Node;

/// The member of `_meta` that names the task of a message.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// A task, by the direction of its request.
type Key = (Direction, Box<str>);

/// The task of a request about it, until the answer.
#[derive(Debug)]
pub(super) struct OfTask {
    key: Key,
    /// The request asks for the result.
    result: bool,
}

/// The tasks of a session.
#[derive(Default)]
pub(super) struct Tasks {
    known: RecentEntries<Key, Task>,
}

/// A request that became a task.
struct Task {
    /// Its index; `None` if several tasks have the id.
    first: Option<u64>,
    /// Its result, or a state that has none, was given.
    is_over: bool,
}

impl Tasks {
    fn find(&self, requester: Direction, id: Node<'_>) -> Option<(Key, u64)> {
        let key = (requester, to_stored(&id.text()?));
        let first = self.known.get(&key)?.first?;
        Some((key, first))
    }

    /// Handles a request or a notification.
    pub(super) fn ask(&mut self, message: &RpcMessage<'_, '_>) -> Option<OfTask> {
        if self.known.len() == 0 {
            return None;
        }
        let (name, requester) = (message.name(), message.requester());
        let is_request = message.role == Role::Request;
        if name.starts_with("tasks/") || name == "notifications/tasks/status" {
            let asker = if is_request {
                requester
            } else {
                requester.other()
            };
            let (key, first) = self.find(asker, message.param("taskId")?)?;
            if name == "tasks/cancel" {
                message.cancels(first);
            } else {
                message.part_of(first, Link::Recorded);
            }
            if !is_request {
                self.set_state(message, &key, message.call.params);
            }
            let result = name == "tasks/result";
            return is_request.then_some(OfTask { key, result });
        }
        let task = message.param("_meta")?.get(RELATED)?.get("taskId")?;
        let own = || self.find(requester, task);
        let (_, first) = self.find(requester.other(), task).or_else(own)?;
        if is_request {
            message.inside(first, Link::Recorded);
        } else {
            message.part_of(first, Link::Recorded);
        }
        None
    }

    /// Handles an answer. `of`: the task that its request is about.
    pub(super) fn answer(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        of: Option<&OfTask>,
    ) {
        let result = message.result();
        if let Some(of) = of {
            match self.known.get_mut(&of.key) {
                Some(task) if of.result => {
                    task.is_over = true;
                    message.operation().ends = Some(true);
                }
                _ => self.set_state(message, &of.key, result),
            }
            return;
        }
        let Some(id) = result.and_then(|result| result.get("task")?.get("taskId")?.text()) else {
            return;
        };
        let requester = message.requester().other();
        let key = (requester, to_stored(&id));
        let first = self.known.get(&key).is_none().then_some(asked.index());
        let is_over = false;
        self.known.insert(key, Task { first, is_over });
        let mut facts = message.operation();
        facts.ends = Some(false);
        facts.owner = Some(worker(requester.other()));
    }

    /// States whether a task goes on, by its state; an error has none.
    fn set_state(&mut self, message: &RpcMessage<'_, '_>, key: &Key, state: Option<Node<'_>>) {
        let Some(task) = self.known.get_mut(key) else {
            return;
        };
        let status = state.and_then(|state| state.get("status"));
        let is = |names: &[&str]| status.is_some_and(|s| names.iter().any(|name| s.is_text(name)));
        // A completed task still owes its result, unless it is in the state.
        let result = state.and_then(|state| state.get("result").or(state.get("error")));
        task.is_over |= is(&["failed", "cancelled"]) || is(&["completed"]) && result.is_some();
        let mut facts = message.operation();
        facts.ends = Some(task.is_over);
        // A notification of this state is no request to cancel it: the operation ends with it.
        (facts.cancels, facts.fails) = (is(&["cancelled"]), is(&["failed"]));
        // The side that works sends the state.
        let sender = message.requester();
        let waits_for = if is(&["input_required", "completed"]) {
            sender.other()
        } else {
            sender
        };
        let is_known = status.is_some() && !task.is_over;
        facts.owner = is_known.then(|| worker(waits_for));
    }
}

/// Returns the side that sends in a direction.
fn worker(sender: Direction) -> Owner {
    match sender {
        Direction::ToServer => Owner::Client,
        Direction::ToClient => Owner::Server,
    }
}
