//! Which messages belong together: callbacks of an execute, runs and their states, attempts.
//!
//! ```text
//!   components/execute #3 {observability: {run_id: "r"}}
//!     blobs/put {observability: {run_id: "r"}}       inside of #3: recorded; inferred if only one execute runs
//!     runs/submit #5 -> {runId: "s", status: "running"}    #5 goes on
//!     runs/get {runId: "s"}                          part of #5, until its state is final
//!     components/execute {run_id: "s"}               inside of #5: recorded
//!     components/execute {flow_id: "f"}              inside of the only open runs/submit {flowId: "f"}: inferred
//!   components/execute {run_id, step_id, attempt: 2}       part of the execute with attempt 1, also after an error
//! ```

use super::MessageTurn;
use crate::protocol::session::Link;
use crate::protocol::session::memory::RecentEntries;
use crate::tape::Node;
use std::collections::BTreeMap;

/// Starts a run.
pub(super) const SUBMIT: &str = "runs/submit";
/// The states in which a run goes on.
const RUNNING: [&str; 4] = ["running", "pending", "paused", "in_progress"];
/// The members that say in which run and trace an execute is.
const OBSERVED: [&str; 2] = ["run_id", "trace_id"];
/// The longest stored text.
const MAX_TEXT: usize = 256;

/// A step of a run, by the texts of both ids.
type Step = (Box<str>, Box<str>);

/// The executes and runs of a conversation.
#[derive(Default)]
pub(super) struct Operations {
    /// The run and the trace of executes, by index.
    executes: RecentEntries<u64, [Option<Box<str>>; 2]>,
    /// The executes of a step: one for each connection.
    attempts: RecentEntries<Step, Vec<Attempt>>,
    /// The request that started a run; `None` if several runs have the id.
    runs: RecentEntries<Box<str>, Option<u64>>,
    /// The open requests that start a run of a flow.
    submitted: RecentEntries<Box<str>, Vec<u64>>,
}

/// The number of open requests that start a run of one flow.
const MAX_SUBMITTED: usize = 64;
/// The number of connections whose executes of one step are stored.
const MAX_ATTEMPTS: usize = 8;

/// An execute of a step, with its attempts.
#[derive(Debug)]
struct Attempt {
    conn: Option<u32>,
    /// The index of the first attempt; `None` if several executes have it.
    first: Option<u64>,
    /// The number of the last one.
    last: i128,
}

/// Returns a text that is stored.
fn text(node: Option<Node<'_>>) -> Option<Box<str>> {
    let text = node.filter(|node| node.is_string())?.text()?;
    (text.len() <= MAX_TEXT).then(|| text.as_ref().into())
}

/// Returns an id that a request names: itself, or in its observability.
fn observed_id(message: &MessageTurn<'_, '_>, name: &str) -> Option<Box<str>> {
    let params = message.call.params?;
    let of_observability = || text(params.get("observability")?.get(name));
    text(params.get(name)).or_else(of_observability)
}

/// Returns the run and the trace that a request names.
fn observed(message: &MessageTurn<'_, '_>) -> [Option<Box<str>>; 2] {
    OBSERVED.map(|name| observed_id(message, name))
}

impl Operations {
    /// Handles an execute.
    pub(super) fn execute(&mut self, message: &MessageTurn<'_, '_>) {
        let index = message.index;
        let observed = observed(message);
        let params = message.call.params;
        let step = observed_id(message, "step_id");
        let attempt = params.and_then(|params| params.get("attempt")?.as_i128());
        if let ([Some(run), _], Some(step), Some(attempt)) = (&observed, step, attempt) {
            if let Some(first) = self.retried((run.clone(), step), attempt, message) {
                message.part_of(first, Link::Recorded);
            }
            message.operation().may_retry = true;
        }
        if let Some((submit, link)) = self.submit_of(message, observed[0].as_deref()) {
            message.inside(submit, link);
        }
        if observed.iter().any(Option::is_some) {
            self.executes.insert(index, observed);
        }
    }

    /// Returns the request that started the run of an execute.
    fn submit_of(&self, message: &MessageTurn<'_, '_>, run: Option<&str>) -> Option<(u64, Link)> {
        if let Some(known) = run.and_then(|run| self.runs.get(&run.into())) {
            return Some(((*known)?, Link::Recorded));
        }
        // An execute of the run that the request is of has another flow.
        match self
            .submitted
            .get(&observed_id(message, "flow_id")?)?
            .as_slice()
        {
            [only] => Some((*only, Link::Inferred)),
            _ => None,
        }
    }

    /// Adds an attempt. Returns the first one: that of its connection, otherwise the only one, as after a restart.
    fn retried(&mut self, step: Step, number: i128, message: &MessageTurn<'_, '_>) -> Option<u64> {
        let conn = message.origin.conn;
        let new = Attempt {
            conn,
            first: Some(message.index),
            last: number,
        };
        let Some(all) = self.attempts.get_mut(&step) else {
            self.attempts.insert(step, vec![new]);
            return None;
        };
        let own = all.iter().position(|one| one.conn == conn);
        let other = (all.len() == 1 && number > 1).then_some(0);
        let Some(found) = own.or(other).and_then(|at| all.get_mut(at)) else {
            if all.len() < MAX_ATTEMPTS {
                all.push(new);
            }
            return None;
        };
        let is_next = found.last < number;
        (found.conn, found.last) = (conn, number);
        if !is_next {
            // A step can run several times: an attempt does not say of which of them it is.
            found.first = None;
        }
        found.first
    }

    /// Returns the only one of some executes with the run, otherwise with the trace, of a message.
    pub(super) fn observed_in<V>(
        &self,
        message: &MessageTurn<'_, '_>,
        running: &BTreeMap<u64, V>,
    ) -> Option<u64> {
        if self.executes.len() == 0 {
            return None;
        }
        let own = observed(message);
        own.iter().zip(0..).find_map(|(id, at)| {
            let id = id.as_ref()?;
            let has_id = |execute: &&u64| {
                let ids = self.executes.get(execute);
                ids.and_then(|ids| ids.get(at)) == Some(&Some(id.clone()))
            };
            // The same trace can have several runs.
            let found = running.keys().filter(has_id);
            let mut found = found.filter(|execute| self.may_be_of(message, **execute));
            let first = found.next()?;
            found.next().is_none().then_some(*first)
        })
    }

    /// Returns false if the ids of a message say that it is not of an execute.
    pub(super) fn may_be_of(&self, message: &MessageTurn<'_, '_>, execute: u64) -> bool {
        let Some(ids) = self.executes.get(&execute) else {
            return true;
        };
        let mut both = ids.iter().zip(observed(message));
        both.all(|(its, own)| its.is_none() || own.is_none() || *its == own)
    }

    /// Handles a request that may be about a run. Returns true if it is.
    pub(super) fn ask(&mut self, message: &MessageTurn<'_, '_>) -> bool {
        match message.method.map_or("", |method| method.name) {
            SUBMIT => {
                let flow = message.call.params.and_then(|params| params.get("flowId"));
                if let Some(flow) = text(flow) {
                    let open = self.submitted.entry(flow);
                    if open.len() < MAX_SUBMITTED {
                        open.push(message.index);
                    }
                }
                true
            }
            "runs/get" => {
                let id = message.call.params.and_then(|params| params.get("runId"));
                let first = text(id).and_then(|id| *self.runs.get(&id)?);
                if let Some(first) = first {
                    message.part_of(first, Link::Recorded);
                }
                first.is_some()
            }
            _ => false,
        }
    }

    /// Handles the answer to a request about a run.
    pub(super) fn answer(&mut self, message: &MessageTurn<'_, '_>, asked: u64, submits: bool) {
        if submits {
            self.submitted.retain(|_, open| {
                open.retain(|index| *index != asked);
                !open.is_empty()
            });
        }
        let Some(result) = message.call.result else {
            return;
        };
        let (Some(id), Some(status)) = (text(result.get("runId")), result.get("status")) else {
            return;
        };
        if submits {
            let index = self.runs.get(&id).is_none().then_some(asked);
            self.runs.insert(id, index);
        }
        let mut facts = message.operation();
        if RUNNING.iter().any(|name| status.is_text(name)) {
            facts.ends = Some(false);
        }
        (facts.cancels, facts.fails) = (status.is_text("cancelled"), status.is_text("failed"));
    }
}
