//! Requests of the client: LST, INV, SUB; and their cancellation: UNS, CAN.

use super::state::{CallEnd, EndedCall, Required, SaelCall, SaelRequestKind, SessionState};
use super::tools::Tool;
use super::{CallKey, SaelMessage, SaelSession, broken, pipeline, rule, short};
use crate::protocol::exchange::{Added, Found, Key};
use crate::protocol::sael::capability::{self, Grant};
use crate::protocol::session::Link;
use crate::tape::Node;

/// Handles WIN.
pub(super) fn window(message: &SaelMessage<'_, '_>, state: &mut SessionState) {
    let window = message.get("window").and_then(Node::as_i128);
    if let Some(window) = window.filter(|window| *window >= 0) {
        state.terms.window = Some(window);
        if (state.open as i128) <= window {
            state.reported.reset(rule::WINDOW_EXCEEDED);
        } else {
            // Requests that were sent before the window shrank are not an error of the client.
            state.reported.first(rule::WINDOW_EXCEEDED);
        }
    }
}

impl SaelSession {
    /// Handles a request.
    pub(super) fn request(&mut self, message: &SaelMessage<'_, '_>) {
        let seq = message.seq;
        let sort = match message.kind {
            "LST" => SaelRequestKind::List,
            "SUB" => SaelRequestKind::Subscription,
            _ => SaelRequestKind::Call,
        };
        let trace = message.text("trace_id").filter(|id| id.len() <= 64);
        let mut call = SaelCall {
            sort,
            conn: message.conn,
            trace: trace.map(|id| id.as_ref().into()),
            ..SaelCall::default()
        };
        if sort == SaelRequestKind::Call {
            self.invoke(message, &mut call);
            self.link_span(message);
        }
        let (conn, state) = self.parts(message.conn);
        if sort == SaelRequestKind::Subscription
            && state.terms.anonymous
            && conn.login.hello.is_none()
            && state.reported.first(rule::ANONYMOUS_SUBSCRIPTION)
        {
            broken!(message, rule::ANONYMOUS_SUBSCRIPTION, message.whole();
                "a session without a token subscribes");
        }
        let session = conn.session;
        let key = Key::one_way(session, seq.key);
        let good = seq.good;
        let highest = state.highest;
        if good {
            state.highest = state.highest.max(Some(seq.key));
            state.record_seq(seq.key);
        }
        let place = message.place(seq.node);
        let old = self.calls.open.get(&key).filter(|(_, call)| !call.released);
        if let (Some((asked, _)), true) = (old, good) {
            broken!(message, rule::SEQ_REUSED, place, asked.index();
                "seq {} belongs to {}, which is still open", seq.key, asked.describe());
        } else if let Some(highest) = highest
            && good
            && seq.key <= highest
        {
            broken!(message, rule::SEQ_NOT_RISING, place;
                "seq is {}, but {highest} was used before", seq.key);
        }
        let added = self
            .calls
            .open
            .add(key, message.seen.stored_request(), call);
        let (_, state) = self.parts(message.conn);
        match added {
            Added::Untracked => return,
            Added::Replaced(asked, old) => {
                if old.live {
                    state.live = state.live.saturating_sub(1);
                    message.report().subscription(asked.index(), false);
                }
                if old.needs_answer() {
                    return;
                }
            }
            Added::New | Added::Queued => {}
        }
        state.open += 1;
        let (open, window) = (state.open, state.window());
        if open as i128 > window && state.reported.first(rule::WINDOW_EXCEEDED) {
            broken!(message, rule::WINDOW_EXCEEDED, message.whole();
                "{open} requests are open, but the window is {window}");
        }
    }

    /// Links a call to the open call whose span its trace names as the parent.
    fn link_span(&mut self, message: &SaelMessage<'_, '_>) {
        let Some(trace) = message.text("trace_id").filter(|id| id.len() == 32) else {
            return;
        };
        let span_of = |name| {
            let span = message.text(name).filter(|id| id.len() == 16)?;
            Some((trace.as_ref().into(), span.as_ref().into()))
        };
        let parent = span_of("parent_span_id").and_then(|key| *self.spans.get(&key)?);
        if let Some(parent) = parent.filter(|parent| self.calls.open.at(*parent).is_some()) {
            message.inside(parent, Link::Recorded);
        }
        if let Some(key) = span_of("span_id") {
            let index = self.spans.get(&key).is_none().then_some(message.index);
            self.spans.insert(key, index);
        }
    }

    /// Handles an INV.
    fn invoke(&mut self, message: &SaelMessage<'_, '_>, call: &mut SaelCall) {
        let stages = message.get("pipeline");
        let tool = message.get("tool");
        let filled = stages.is_some_and(|p| p.children().next().is_some() || !p.is_array());
        let mut tools: Vec<(Node<'_>, Option<Node<'_>>)> = Vec::new();
        match (stages, tool) {
            (Some(stages), _) if filled => {
                pipeline::check(message, stages, true, &mut tools);
            }
            (_, Some(tool)) => {
                let is_known = self.tools.known;
                tools.extend(is_known.then(|| (tool, message.get("input"))));
            }
            (stages, None) => {
                broken!(message, rule::CALL_EMPTY, message.place(stages); "{}", match stages {
                    Some(_) => "the pipeline is empty, and there is no tool",
                    None => "INV has neither a tool nor a pipeline",
                });
            }
        }
        // The tools of another server are not in this list.
        if !self.tools.known || message.get("via").is_some() {
            return;
        }
        let single = !filled;
        for (node, input) in tools {
            let Some(name) = node.text() else { continue };
            let Some(tool) = self.tools.find(&name) else {
                if !self.tools.has(&name) {
                    broken!(message, rule::TOOL_UNLISTED, message.at(node);
                        "the server lists no tool `{}`", short(&name));
                }
                continue;
            };
            if single {
                (call.streaming, call.delta) = (tool.streaming, Some(tool.delta));
            }
            if call.first_mismatch.is_none() {
                call.first_mismatch = tool
                    .first_mismatch(input)
                    .map(|why| format!("{}: {why}", short(&name)));
            }
            let Some(state) = self
                .conns
                .get(message.conn)
                .and_then(|conn| self.states.get_mut(&conn.session))
            else {
                continue;
            };
            // Without a token, a client should only read.
            if let Some(effect) = &tool.effect
                && state.terms.anonymous
                && state.reported.first(rule::ANONYMOUS_EFFECT)
            {
                broken!(message, rule::ANONYMOUS_EFFECT, message.at(node);
                    "a session without a token calls a tool with the effect `{effect}`");
            }
            let required = required(tool, state);
            if call.required.as_ref().is_none_or(|old| !old.lacking) {
                call.required = required.map(Box::new).or(call.required.take());
            }
        }
    }

    /// Handles UNS or CAN.
    pub(super) fn cancel(&mut self, message: &SaelMessage<'_, '_>) {
        let seq = message.seq;
        if !seq.good {
            return;
        }
        let (conn, _) = self.parts(message.conn);
        let key = Key::one_way(conn.session, seq.key);
        let may_have_gaps = conn.may_have_gaps();
        let place = message.place(seq.node);
        let open = self.calls.open.get(&key);
        let Some((asked, call)) = open.filter(|(_, call)| !call.released) else {
            if let Some(done) = self.calls.ended.get(&key) {
                if !may_have_gaps {
                    message.cancels(done.request);
                }
                broken!(message, rule::CANCEL_LATE, place, done.index;
                    "{} names seq {}, which is complete", message.kind, seq.key);
            } else if !may_have_gaps && self.calls.find(&key) == Found::Never {
                broken!(message, rule::CANCEL_UNKNOWN, place;
                    "{} names seq {}, but no request has it", message.kind, seq.key);
            }
            return;
        };
        let subscribed = call.sort == SaelRequestKind::Subscription;
        if subscribed {
            message.part_of(asked.index(), Link::Recorded);
            message.operation().ends = Some(true);
        } else {
            message.cancels(asked.index());
        }
        if subscribed != (message.kind == "UNS") {
            broken!(message, rule::CANCEL_KIND, place, asked.index();
                "{} names seq {}, which is {}", message.kind, seq.key, asked.describe());
        }
        if subscribed {
            if call.live {
                message.report().subscription(asked.index(), false);
            }
            self.close(key, message, CallEnd::Unsubscribed);
            return;
        }
        self.release(key);
        if let Some((_, call)) = self.calls.open.get_mut(&key) {
            call.cancelled = Some((message.index, message.time()));
        }
        let state = self.states.get_mut(&key.scope);
        let oldest = state.and_then(|state| state.cancel(key.id));
        if let Some(oldest) = oldest.map(|seq| Key::one_way(key.scope, seq))
            && let Some((_, call)) = self.calls.open.get(&oldest)
            && call.cancelled.is_some()
        {
            self.calls.open.close(&oldest);
        }
    }

    /// Marks a request as released: an answer is allowed, but not required.
    pub(super) fn release(&mut self, key: CallKey) {
        if let Some((_, call)) = self.calls.open.get_mut(&key) {
            let needs_answer = call.needs_answer();
            call.released = true;
            if needs_answer {
                self.leave_window(key.scope);
            }
        }
    }

    /// Closes a request.
    pub(super) fn close(&mut self, key: CallKey, message: &SaelMessage<'_, '_>, how: CallEnd) {
        let Some((asked, call)) = self.calls.open.close(&key) else {
            return;
        };
        if call.needs_answer() {
            self.leave_window(key.scope);
        }
        if let Some(state) = self.states.get_mut(&key.scope) {
            state.live -= usize::from(state.live > 0 && call.live);
        }
        let ended = EndedCall {
            request: asked.index(),
            how: call.cancelled.map_or(how, |_| CallEnd::Cancelled),
            index: message.index,
            time: message.time(),
            asked: (how == CallEnd::Unsubscribed).then(|| Box::new(asked)),
        };
        self.calls.ended.insert(key, ended);
    }

    /// Removes one request from the window count.
    pub(super) fn leave_window(&mut self, session: u32) {
        if let Some(state) = self.states.get_mut(&session) {
            state.open = state.open.saturating_sub(1);
            // A client that always has one request too many outstanding is reported once.
            if state.open as i128 * 2 <= state.window() {
                state.reported.reset(rule::WINDOW_EXCEEDED);
            }
        }
    }
}

/// Compares the capability that a tool requires with the granted ones.
fn required(tool: &Tool, state: &SessionState) -> Option<Required> {
    let capability = tool.capability.as_deref()?;
    let granted: Vec<&str> = state
        .terms
        .granted
        .as_ref()?
        .iter()
        .map(String::as_str)
        .collect();
    let allows = capability::allows(&granted, capability);
    Some(Required {
        capability: capability.to_owned(),
        granted: allows.document.verdict == Grant::Yes,
        lacking: allows.document.verdict == Grant::No && allows.code.verdict == Grant::No,
    })
}
