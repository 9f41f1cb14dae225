//! Tasks: a request whose result comes later (2025-11-25).
//!
//! ```text
//!   tools/call #3 {task} -> {task: {taskId: "t"}}     #3 goes on
//!   tasks/get, tasks/result, tasks/cancel, notifications/tasks/status of "t"      part of #3
//!   a result of tasks/cancel                          #3 is cancelled; after an error it goes on
//!   a request with "t" in its `_meta`                 inside of #3
//!   its result, or the state failed or cancelled      #3 ends
//! ```

use super::ELICITATION;
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
    asks: Asks,
}

/// What a request about a task asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    State,
    Result,
    Cancel,
}

/// The request that became a task.
#[derive(Clone, Debug, Default)]
pub(super) struct TaskCall {
    pub method: &'static str,
    /// The name of the tool.
    pub tool: Option<Box<str>>,
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
    call: TaskCall,
    /// Who works on it: the receiver of the request, or a person.
    worker: Owner,
    /// Who it waits for.
    waits_for: Owner,
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
            message.part_of(first, Link::Recorded);
            if !is_request {
                self.set_state(message, &key, message.call.params);
            }
            let asks = match &*name {
                "tasks/result" => Asks::Result,
                "tasks/cancel" => Asks::Cancel,
                _ => Asks::State,
            };
            return is_request.then_some(OfTask { key, asks });
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

    /// Returns the request of a task if the answer of this one has its result.
    pub(super) fn call_of(&self, of: Option<&OfTask>) -> Option<&TaskCall> {
        let of = of.filter(|of| of.asks == Asks::Result)?;
        Some(&self.known.get(&of.key)?.call)
    }

    /// Handles an answer. `of`: the task that its request is about; `call`: that request.
    pub(super) fn answer(
        &mut self,
        message: &RpcMessage<'_, '_>,
        asked: &OpenRequest,
        of: Option<&OfTask>,
        call: impl FnOnce() -> TaskCall,
    ) {
        let result = message.result();
        if let Some(of) = of {
            match self.known.get_mut(&of.key) {
                Some(task) if of.asks == Asks::Result => {
                    task.is_over = true;
                    message.operation().ends = Some(true);
                }
                _ => self.set_state(message, &of.key, result),
            }
            if of.asks == Asks::Cancel && result.is_some() {
                message.operation().cancels = true;
            }
            return;
        }
        let Some(state) = result.and_then(|result| result.get("task")) else {
            return;
        };
        let Some(id) = state.get("taskId").and_then(Node::text) else {
            return;
        };
        let requester = message.requester().other();
        let worker = if asked.subject() == Some(ELICITATION) {
            Owner::Person
        } else {
            side(requester.other())
        };
        let key = (requester, to_stored(&id));
        let task = Task {
            first: self.known.get(&key).is_none().then_some(asked.index()),
            call: call(),
            worker,
            waits_for: worker,
            is_over: false,
        };
        self.known.insert(key.clone(), task);
        self.set_state(message, &key, Some(state));
    }

    /// States whether a task goes on and who it waits for, by its state; an error has none.
    fn set_state(&mut self, message: &RpcMessage<'_, '_>, key: &Key, state: Option<Node<'_>>) {
        let Some(task) = self.known.get_mut(key) else {
            return;
        };
        let status = state.and_then(|state| state.get("status"));
        let is = |names: &[&str]| status.is_some_and(|s| names.iter().any(|name| s.is_text(name)));
        // A completed task still owes its result, unless it is in the state.
        let result = state.and_then(|state| state.get("result").or(state.get("error")));
        task.is_over |= is(&["failed", "cancelled"]) || is(&["completed"]) && result.is_some();
        if is(&["input_required", "completed"]) {
            task.waits_for = side(key.0);
        } else if status.is_some() {
            task.waits_for = task.worker;
        }
        let mut facts = message.operation();
        facts.ends = Some(task.is_over);
        // A notification of this state is no request to cancel it: the operation ends with it.
        (facts.cancels, facts.fails) = (is(&["cancelled"]), is(&["failed"]));
        facts.owner = (!task.is_over).then_some(task.waits_for);
    }
}

/// Returns the side that sends in a direction.
fn side(sender: Direction) -> Owner {
    match sender {
        Direction::ToServer => Owner::Client,
        Direction::ToClient => Owner::Server,
    }
}
