//! The sessions of a connection, and their turns.
//!
//! ```text
//!   session/prompt -> session/update … tool_call, session/request_permission … -> result: a stopReason
//!                  -> session/cancel: open permissions and the prompt are then answered with "cancelled"
//! ```

use super::super::schema;
use crate::protocol::rpc::extension::RpcMessage as Message;
use crate::protocol::rule_names::acp as rule;
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Current, Link, Severity, broken};
use crate::protocol::{Direction, Role};
use crate::tape::Node;
use std::collections::{BTreeMap, BTreeSet};

/// The number of sessions of a list that are read.
const MAX_SESSIONS: usize = 1 << 10;
/// The number of tool calls of a turn that are stored.
const MAX_CALLS: usize = 1 << 12;
/// The states of a tool call, in order.
const STATES: [&str; 4] = ["pending", "in_progress", "completed", "failed"];

fn state_name(state: usize) -> &'static str {
    STATES.get(state).copied().unwrap_or_default()
}

/// The sessions of a connection.
#[derive(Default)]
pub(super) struct Turns {
    sessions: RecentEntries<Box<str>, Turn>,
    /// Terminals, with the index of their release.
    terminals: RecentEntries<Box<str>, Option<u64>>,
    /// The number of open requests that create a terminal.
    creating: u32,
}

/// The state of a session.
#[derive(Default)]
struct Turn {
    /// The index of the open prompt.
    prompt: Option<u64>,
    /// Several prompts are open: a message may belong to each.
    overlaps: bool,
    /// The index of the last prompt that was answered, with its answer.
    last: Option<(u64, u64)>,
    /// The index of the cancellation of the open prompt.
    cancelled: Option<u64>,
    /// Requests that replay the history and are open.
    loading: u32,
    /// The index of the last of them.
    load: u64,
    /// Open requests for permission by index.
    permissions: BTreeSet<u64>,
    /// The tool calls of the turn with the state of each.
    calls: BTreeMap<Box<str>, (u64, usize)>,
    /// The tool calls of earlier turns, and of the history.
    earlier: RecentEntries<Box<str>, ()>,
    /// The offered modes, if there are some.
    modes: Vec<Box<str>>,
    /// The index of the request that closed the session.
    closed: Option<u64>,
}

/// The stored part of a request, until its answer.
#[derive(Debug, Default)]
pub(super) struct TurnRequest {
    pub(super) session: Option<Box<str>>,
    terminal: Option<Box<str>>,
    /// The offered options of a request for permission.
    options: Vec<Box<str>>,
}

/// Returns a text member.
fn text(node: Option<Node<'_>>, name: &str) -> Option<Box<str>> {
    let node = node?.get(name).filter(|node| node.is_string())?;
    Some(to_stored(&node.text()?))
}

impl Turns {
    /// Checks a request or a notification, and returns what its answer needs. `is_whole`: the connection was seen from its
    /// beginning.
    pub(super) fn check_request(
        &mut self,
        message: &Message<'_, '_>,
        name: &str,
        is_whole: bool,
    ) -> TurnRequest {
        let (seen, params) = (message.seen, message.call.params);
        let request = TurnRequest {
            session: text(params, "sessionId"),
            terminal: text(params, "terminalId"),
            options: options(params),
        };
        if let Some(id) = &request.session {
            self.check_session(seen, params, id, name);
            let mut turn = self.sessions.get_mut(id);
            if let Some(turn) = &mut turn {
                turn.link(message, name);
                if message.is_from_client() {
                    turn.check_closed(seen, id, name);
                }
            }
            match (name, turn) {
                (schema::PROMPT, Some(turn)) => turn.start(seen),
                ("session/load", Some(turn)) => {
                    turn.loading += 1;
                    turn.load = seen.index;
                }
                ("session/cancel", Some(turn)) if turn.prompt.is_some() => {
                    turn.cancelled = Some(seen.index);
                }
                ("session/update", Some(turn)) => turn.update(seen, params),
                ("session/set_mode", Some(turn)) => turn.check_mode(seen, params),
                (schema::PERMISSION, Some(turn)) => {
                    let tool = params.and_then(|params| params.get("toolCall"));
                    turn.follow_call(seen, tool, false);
                    if turn.permissions.len() < MAX_CALLS {
                        turn.permissions.insert(seen.index);
                    }
                }
                _ => {}
            }
        }
        if name == "terminal/create" && message.role == Role::Request {
            self.creating = self.creating.saturating_add(1);
        }
        let terminal = params.and_then(|params| params.get("terminalId"));
        if let Some((node, id)) = terminal.zip(request.terminal.as_ref()) {
            self.check_terminal(seen, node, id, is_whole);
        }
        request
    }

    /// Reports a terminal that was released, or that no answer named.
    fn check_terminal(&mut self, seen: Current<'_, '_>, node: Node<'_>, id: &str, is_whole: bool) {
        let key: Box<str> = id.into();
        match self.terminals.get(&key) {
            Some(Some(index)) => broken!(seen, rule::TERMINAL_RELEASED, seen.whole(), *index;
                "the terminal {} was released by #{index}", short(id)),
            None if is_whole && self.creating == 0 && !self.terminals.is_full() => {
                broken!(seen, rule::UNKNOWN_TERMINAL, seen.at(node);
                    "no answer to terminal/create named the terminal {}", quote(node));
                // Its later messages break no rule.
                self.terminals.insert(key, None);
            }
            _ => {}
        }
    }

    /// Reports a session that no answer named. Those of earlier connections may be loaded.
    fn check_session(
        &mut self,
        seen: Current<'_, '_>,
        params: Option<Node<'_>>,
        id: &str,
        name: &str,
    ) {
        if self.sessions.get(&id.into()).is_some() {
            return;
        }
        if matches!(
            name,
            "session/load" | "session/resume" | "session/fork" | "session/delete"
        ) {
            self.give(id);
        } else if !self.sessions.is_full()
            && let Some(node) = params.and_then(|params| params.get("sessionId"))
        {
            broken!(seen, rule::UNKNOWN_SESSION, seen.at(node);
                "no answer on this connection named the session {}", quote(node));
            // Its later messages break no rule.
            self.give(id);
        }
    }

    fn give(&mut self, id: &str) -> &mut Turn {
        self.sessions.insert(id.into(), Turn::default());
        self.sessions.entry(id.into())
    }

    /// Checks the answer to a request. `failed`: it is an error.
    pub(super) fn check_answer(
        &mut self,
        request: &TurnRequest,
        name: &str,
        asked: u64,
        seen: Current<'_, '_>,
        result: Option<Node<'_>>,
    ) {
        match name {
            "session/new" | "session/fork" => {
                if let Some(id) = text(result, "sessionId") {
                    self.give(&id).modes = modes(result);
                }
            }
            "session/list" => {
                let sessions = result.and_then(|result| result.get("sessions"));
                let sessions = sessions.filter(|list| list.is_array());
                for session in sessions
                    .into_iter()
                    .flat_map(Node::children)
                    .take(MAX_SESSIONS)
                {
                    if let Some(id) = text(Some(session), "sessionId")
                        && self.sessions.get(&id).is_none()
                    {
                        self.give(&id);
                    }
                }
            }
            "terminal/create" => {
                self.creating = self.creating.saturating_sub(1);
                if let Some(id) = text(result, "terminalId") {
                    self.terminals.insert(id, None);
                }
            }
            "terminal/release" => {
                if let Some(id) = &request.terminal
                    && result.is_some()
                {
                    self.terminals.insert(id.clone(), Some(asked));
                }
            }
            _ => {}
        }
        let Some(turn) = request
            .session
            .as_ref()
            .and_then(|id| self.sessions.get_mut(id))
        else {
            return;
        };
        match name {
            "session/load" | "session/resume" => {
                if name == "session/load" {
                    turn.loading = turn.loading.saturating_sub(1);
                }
                turn.modes = modes(result);
            }
            "session/close" if result.is_some() => turn.closed = Some(asked),
            schema::PROMPT => turn.end(asked, seen, result),
            schema::PERMISSION => {
                turn.permissions.remove(&asked);
                let outcome = result.and_then(|result| result.get("outcome"));
                turn.check_outcome(request, asked, seen, outcome);
            }
            _ => {}
        }
    }
}

impl Turns {
    /// Returns the oldest open request for permission of a session.
    pub(super) fn open_permission(&self, session: &str) -> Option<u64> {
        let turn = self.sessions.get(&session.into())?;
        turn.permissions.first().copied()
    }
}

/// Returns the ids of the options of a request for permission.
fn options(params: Option<Node<'_>>) -> Vec<Box<str>> {
    const MAX_OPTIONS: usize = 64;
    let list = params.and_then(|params| params.get("options"));
    let list = list.filter(|list| list.is_array());
    let ids = list.into_iter().flat_map(Node::children).take(MAX_OPTIONS);
    ids.filter_map(|option| text(Some(option), "optionId"))
        .collect()
}

/// Returns the ids of the modes that an answer offers; none if there are too many.
fn modes(result: Option<Node<'_>>) -> Vec<Box<str>> {
    const MAX_MODES: usize = 64;
    let modes = result.and_then(|result| result.get("modes"));
    let list = modes.and_then(|modes| modes.get("availableModes"));
    let list = list.filter(|list| list.is_array());
    let all = list.into_iter().flat_map(Node::children);
    let ids = all.map(|mode| text(Some(mode), "id")).take(MAX_MODES + 1);
    let ids: Option<Vec<_>> = ids.collect();
    let ids = ids.filter(|ids| ids.len() <= MAX_MODES);
    ids.unwrap_or_default()
}

impl Turn {
    /// Reports a mode that the agent did not offer.
    fn check_mode(&self, seen: Current<'_, '_>, params: Option<Node<'_>>) {
        if let Some(mode) = params.and_then(|params| params.get("modeId"))
            && let Some(id) = text(params, "modeId")
            && !self.modes.is_empty()
            && !self.modes.contains(&id)
        {
            broken!(seen, rule::UNKNOWN_MODE, seen.at(mode);
                "the agent did not offer the mode {}, only {}",
                quote(mode), short(&self.modes.join(", ")));
        }
    }

    /// Reports a message of the client to a closed session, which may be opened again.
    fn check_closed(&mut self, seen: Current<'_, '_>, id: &str, name: &str) {
        if matches!(name, "session/load" | "session/resume") {
            self.closed = None;
        }
        // A session that is closed can be forked and deleted.
        let is_about = matches!(name, "session/fork" | "session/delete" | "session/close");
        if let Some(index) = self.closed.filter(|_| !is_about) {
            broken!(seen, rule::SESSION_CLOSED, seen.whole(), index;
                "the session {} was closed by #{index}", short(id));
        }
    }

    /// Links a message to the open prompt of its session, or to the request that replays the history.
    fn link(&self, message: &Message<'_, '_>, name: &str) {
        let open = match (self.prompt, self.loading) {
            (Some(prompt), 0) if !self.overlaps => prompt,
            (None, 1) if name == "session/update" => self.load,
            _ => return,
        };
        let is_request = message.role == Role::Request;
        if is_request && message.requester() == Direction::ToClient {
            message.inside(open, Link::Recorded);
        } else if name == "session/cancel" {
            message.cancels(open);
        } else if !is_request {
            message.part_of(open, Link::Recorded);
        }
    }

    fn start(&mut self, seen: Current<'_, '_>) {
        if let Some(open) = self.prompt {
            broken!(seen, rule::PROMPT_IN_TURN, seen.whole(), open;
                "the prompt is sent while #{open} of the same session is not answered");
        }
        self.overlaps = self.prompt.is_some();
        self.prompt = Some(seen.index);
        self.cancelled = None;
        for (id, _) in std::mem::take(&mut self.calls) {
            self.earlier.insert(id, ());
        }
    }

    /// Handles the end of a turn. An error has no result.
    fn end(&mut self, asked: u64, seen: Current<'_, '_>, result: Option<Node<'_>>) {
        if self.prompt != Some(asked) {
            return;
        }
        self.prompt = None;
        self.last = Some((asked, seen.index));
        let reason = result.and_then(|result| result.get("stopReason"));
        seen.operation().cancels = reason.is_some_and(|reason| reason.is_text("cancelled"));
        let Some(cancel) = self.cancelled.take() else {
            let ends = reason.is_some_and(|reason| reason.is_text("end_turn"));
            self.report_running_call(seen, ends);
            return;
        };
        if reason.is_none_or(|reason| !reason.is_text("cancelled")) {
            let got = reason.map_or_else(|| "an error".into(), quote);
            let place = reason.map_or(seen.whole(), |reason| seen.at(reason));
            broken!(seen, rule::CANCEL_IGNORED, place, cancel;
                "the turn was cancelled by #{cancel}, and ends with {got}; it should be \
                \"cancelled\"");
        }
    }

    /// Reports a tool call that is in progress at the orderly end of a turn. Calls that a person refuses stay pending.
    fn report_running_call(&self, seen: Current<'_, '_>, ends: bool) {
        let running = self.calls.iter().filter(|(_, (_, state))| *state == 1);
        let first = running.min_by_key(|(_, (index, _))| *index);
        if let Some((id, (index, _))) = first.filter(|_| ends) {
            broken!(seen, rule::TOOL_CALL_RUNNING, seen.whole(), *index;
                "the turn ends, but the tool call {} is still in progress", short(id));
        }
    }

    fn check_outcome(
        &self,
        request: &TurnRequest,
        asked: u64,
        seen: Current<'_, '_>,
        outcome: Option<Node<'_>>,
    ) {
        let Some(outcome) = outcome else {
            return;
        };
        let kind = outcome.get("outcome");
        let selected = kind.is_some_and(|kind| kind.is_text("selected"));
        if let Some(cancel) = self.cancelled.filter(|_| selected) {
            broken!(seen, rule::PERMISSION_AFTER_CANCEL, seen.at(outcome), cancel;
                "the turn was cancelled by #{cancel}; the outcome should be \"cancelled\"");
        }
        if let Some(option) = outcome.get("optionId").filter(|_| selected)
            && let Some(id) = option.text()
            && !request.options.is_empty()
            && !request.options.contains(&to_stored(&id))
        {
            broken!(seen, rule::UNKNOWN_OPTION, seen.at(option), asked;
                "the option {} is none of those of #{asked}", quote(option));
        }
    }

    fn update(&mut self, seen: Current<'_, '_>, params: Option<Node<'_>>) {
        let update = params.and_then(|params| params.get("update"));
        let Some(kind) = update.and_then(|update| update.get("sessionUpdate")) else {
            return;
        };
        let name = kind.text().unwrap_or_default();
        let is_known = |names: &[&str]| names.contains(&&*name);
        if !is_known(&schema::UPDATES) && !is_known(&schema::DRAFT_UPDATES) {
            broken!(seen, rule::UNKNOWN_UPDATE, seen.at(kind);
                "no version has the update {}", quote(kind));
        }
        if name == "tool_call" || name == "tool_call_update" {
            if self.loading == 0 {
                self.follow_call(seen, update, name == "tool_call");
            } else if let Some(id) = text(update, "toolCallId") {
                self.earlier.insert(id, ());
            }
        }
        let in_turn = name.ends_with("_chunk") || name.starts_with("tool_call") || name == "plan";
        if in_turn && self.prompt.is_none() && self.loading == 0 {
            match self.last {
                Some((prompt, answer)) => broken!(seen, rule::UPDATE_OUTSIDE_TURN, seen.at(kind);
                    "the turn of #{prompt} ended with #{answer}, and no other one is open"),
                None => broken!(seen, rule::UPDATE_OUTSIDE_TURN, seen.at(kind);
                    "no prompt of the session is open"),
            }
        }
    }

    /// Follows the state of a tool call. `new`: the update starts it.
    fn follow_call(&mut self, seen: Current<'_, '_>, update: Option<Node<'_>>, new: bool) {
        let Some(id) = text(update, "toolCallId") else {
            return;
        };
        let status = update.and_then(|update| update.get("status"));
        let place = status.and_then(|node| STATES.iter().position(|name| node.is_text(name)));
        let whole = seen.whole();
        let is_full = self.earlier.is_full() || self.calls.len() >= MAX_CALLS;
        match self.calls.get_mut(&id) {
            Some((index, _)) if new => {
                broken!(seen, rule::TOOL_CALL_AGAIN, whole, *index;
                    "the tool call {} was started by #{index}", short(&id));
                seen.report().at_most(Severity::Info);
            }
            Some((index, state)) => {
                let (from, to) = (*state, place.unwrap_or(*state));
                if to < from && from >= 2 || from == 2 && to == 3 {
                    broken!(seen, rule::STATUS_BACK, whole, *index;
                        "the tool call {} goes from {} to {}",
                        short(&id), state_name(from), state_name(to));
                }
                *state = to;
            }
            // A request for permission may come before the update.
            None if !new
                && self.prompt.is_some()
                && self.earlier.get(&id).is_none()
                && !is_full
                && update.is_some_and(|update| update.get("sessionUpdate").is_some()) =>
            {
                broken!(seen, rule::UNKNOWN_TOOL_CALL, whole;
                    "no tool_call of this session has the id {}", short(&id));
            }
            None => {}
        }
        if self.calls.len() < MAX_CALLS {
            self.calls
                .entry(id)
                .or_insert((seen.index, place.unwrap_or(0)));
        }
    }
}
