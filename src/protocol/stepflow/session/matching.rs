//! Matches requests and answers.
//!
//! ```text
//!   request   handshake, the execute during which it is sent, a free id    -> open
//!   answer    an open request of the other side, in the same exchange      -> closed, its result checked
//! ```

use super::super::schema;
use super::operations;
use super::{MessageTurn, RequestContext, StepflowSession, rule, shape};
use crate::protocol::exchange::pairs::{IdSpace, PairKey, Paired};
use crate::protocol::exchange::{Added, OpenRequest};
use crate::protocol::rpc::extension::{SentCall, SentRequest};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Current, Link, broken};
use crate::protocol::{Direction, Role, rpc};
use crate::tape::Node;
use std::collections::BTreeMap;

/// The context of a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Enclosing {
    /// A pipe, or an exchange whose start was not seen.
    Unknown,
    /// An event stream; the index of the execute that it answers, if it answers one.
    Stream(Option<u64>),
}

/// The content of a POST.
#[derive(Debug)]
pub(super) enum Sent {
    Request(PairKey),
    Notification,
    Answer,
    /// No message, or an unreadable one.
    Nothing,
}

/// The result of matching an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matched {
    /// It answers a request.
    Yes,
    /// It answers no request; that was reported if necessary.
    No,
}

impl StepflowSession {
    /// Handles a message, regardless of its transport. `enclosing` is the exchange of which it is an event.
    pub(super) fn handle_message(
        &mut self,
        message: &MessageTurn<'_, '_>,
        enclosing: Enclosing,
    ) -> Sent {
        let null = message.call.id.is_some_and(Node::is_null);
        match message.seen.message.role {
            Some(Role::Request | Role::Notification) if message.faulty => Sent::Nothing,
            Some(Role::Request) if !null => {
                let within = self.enclosing_execute(message, enclosing);
                self.link_callback(message, enclosing, within);
                self.add_request(message, within)
                    .map_or(Sent::Nothing, Sent::Request)
            }
            Some(Role::Request | Role::Notification) => {
                self.check_handshake(message);
                Sent::Notification
            }
            Some(Role::Response | Role::Error) => {
                self.answer(message, None);
                Sent::Answer
            }
            _ => Sent::Nothing,
        }
    }

    /// Returns the direction of a request; if it is not known, the most likely one.
    fn requester(message: &MessageTurn<'_, '_>) -> Direction {
        message
            .direction
            .or(message.method.map(|m| m.direction))
            .unwrap_or(Direction::ToServer)
    }

    /// Checks the runtime's part of the handshake.
    fn check_handshake(&mut self, message: &MessageTurn<'_, '_>) {
        let opens_session = message.method.is_some_and(schema::opens_session);
        if Self::requester(message) == Direction::ToServer
            && (opens_session || !message.breaks_rule)
        {
            // MUST (rs:plugin.rs of 0.7): requests that a crash interrupted are sent again with a higher attempt.
            let params = message.call.params;
            let attempt = params
                .and_then(|p| p.get("attempt"))
                .and_then(Node::as_i128);
            let again = self.crashed || attempt.is_some_and(|n| n > 1);
            let scope = self.scope(message.id_space);
            scope.check_handshake(message.seen, message.method, again);
        }
        if let Some(method) = message.method.filter(|_| !message.breaks_rule) {
            let scope = self.scope(message.id_space);
            scope.check_release(message.seen, method, &message.call);
        }
    }

    /// Returns the execute during which a request was sent, if the side may only send requests during one.
    fn enclosing_execute(
        &mut self,
        message: &MessageTurn<'_, '_>,
        enclosing: Enclosing,
    ) -> Option<u64> {
        self.check_handshake(message);
        if Self::requester(message) == Direction::ToServer {
            return None;
        }
        let scope = self.scope(message.id_space);
        let mut running = scope.executes.keys().copied();
        let within = match enclosing {
            Enclosing::Stream(execute) => {
                execute.filter(|index| scope.executes.contains_key(index))
            }
            // If several executes run, one pipe does not show to which of them the request belongs.
            Enclosing::Unknown => running.next().filter(|_| running.next().is_none()),
        };
        let known = matches!(enclosing, Enclosing::Stream(_));
        let outside = within.is_none() && (known || scope.executes.is_empty());
        if outside
            && !message.breaks_rule
            && !self
                .pairs
                .has_gap(message.id_space, Some(Direction::ToServer))
        {
            broken!(message, rule::CALLBACK_OUTSIDE_EXECUTE, message.whole();
                "{} is sent while no components/execute runs",
                message.method.map_or("a request", |m| m.name));
        }
        within
    }

    /// Links a callback to the execute during which it is sent.
    fn link_callback(
        &self,
        message: &MessageTurn<'_, '_>,
        enclosing: Enclosing,
        within: Option<u64>,
    ) {
        let is_callback = message.direction == Some(Direction::ToClient);
        let Some(scope) = self.scopes.get(&message.id_space).filter(|_| is_callback) else {
            return;
        };
        let observed = self.operations.observed_in(message, &scope.executes);
        match (within, enclosing) {
            (Some(execute), Enclosing::Stream(_)) => message.inside(execute, Link::Recorded),
            _ if observed.is_some() => {
                if let Some(execute) = observed {
                    message.inside(execute, Link::Recorded);
                }
            }
            (Some(execute), Enclosing::Unknown) => {
                let is_pipe = matches!(message.id_space, IdSpace::One(_)) && self.order;
                let is_whole = !self
                    .pairs
                    .may_lack(message.id_space, Some(Direction::ToServer));
                if is_pipe && is_whole && self.operations.may_be_of(message, execute) {
                    message.inside(execute, Link::Inferred);
                }
            }
            _ => {}
        }
    }

    /// Adds a request.
    fn add_request(
        &mut self,
        message: &MessageTurn<'_, '_>,
        within: Option<u64>,
    ) -> Option<PairKey> {
        let (seen, id) = (message.seen, message.call.id?);
        let requester = Self::requester(message);
        let key = PairKey::of(message.id_space, requester, id)?;
        let version = message
            .call
            .params
            .filter(|_| message.method.is_some_and(schema::opens_session));
        let version = version.and_then(protocol_version).and_then(Node::as_i128);
        let is_of_run = self.operations.ask(message);
        let own = RequestContext {
            version,
            within,
            is_of_run,
        };
        let method = message.method;
        let request = SentRequest::new(message.breaks_rule, SentCall { method, own });
        let asked = seen.stored_request();
        let facts = message.facts();
        match self.pairs.add_request(key.clone(), &facts, asked, request) {
            Added::New => {}
            Added::Replaced(asked, before) => drop(self.forget(&key, &asked, &before)),
            Added::Queued => return Some(key),
            Added::Untracked => return None,
        }
        let orderly = !message.breaks_rule && matches!(message.id_space, IdSpace::One(_));
        let runs_component = message.method.is_some_and(schema::runs_component);
        if runs_component && requester == Direction::ToServer {
            self.operations.execute(message);
            let scope = self.scope(message.id_space);
            scope.executes.insert(seen.index, BTreeMap::new());
        }
        let scope = self.scope(message.id_space);
        if let Some(callbacks) = within.and_then(|index| scope.executes.get_mut(&index)) {
            callbacks.insert(seen.index, key.clone());
        }
        if orderly {
            scope.order.get_mut(Some(requester)).insert(seen.index);
        }
        Some(key)
    }

    /// Handles an answer. `exchange` is the request whose HTTP response contains it.
    pub(super) fn answer(
        &mut self,
        message: &MessageTurn<'_, '_>,
        exchange: Option<&PairKey>,
    ) -> Matched {
        let is_open = |key: &&PairKey| self.pairs.open.get(key).is_some();
        let posted = exchange.filter(is_open);
        match self.pairs.find_request(&message.facts()) {
            Paired::Open(key) => {
                if let Some(posted) = exchange.filter(|posted| **posted != key) {
                    self.report_wrong_answer(message, posted);
                }
                self.handle_answered(&key, message)
            }
            Paired::Retyped(key) => self.handle_answered(&key, message),
            // Without an id the exchange still shows the request.
            Paired::Nothing(key) if !message.faulty => {
                match posted {
                    Some(posted) => self.report_wrong_answer(message, posted),
                    None => self.pairs.report_unmatched(&key, &message.facts()),
                }
                Matched::No
            }
            Paired::NoId | Paired::Nothing(_) => {
                exchange.map_or(Matched::No, |key| self.handle_answered(key, message))
            }
        }
    }

    /// Reports an HTTP response with the answer to another request than the posted one.
    fn report_wrong_answer(&self, message: &MessageTurn<'_, '_>, posted: &PairKey) {
        let (Some(id), Some((asked, _))) = (message.call.id, self.pairs.open.get(posted)) else {
            return;
        };
        broken!(message, rule::WRONG_ANSWER, message.at(id), asked.index();
            "the response is for {} with the id {}, but the answer has the id {}",
            asked.describe(), short(asked.id()), quote(id));
    }

    /// Handles an answered request.
    fn handle_answered(&mut self, key: &PairKey, message: &MessageTurn<'_, '_>) -> Matched {
        let seen = message.seen;
        if self.pairs.open.get(key).is_none() {
            return Matched::No;
        }
        let Some((asked, request)) = self.pairs.close_answered(key, seen) else {
            return Matched::Yes;
        };
        let scope = self.scope(key.scope);
        if !scope.unflushed
            && let Some(text) = rpc::unflushed(&seen, asked.origin().time, scope.closed)
        {
            scope.unflushed = true;
            broken!(message, rule::ANSWER_AFTER_EOF, seen.whole(), asked.index(); "{text}");
        }
        let index = asked.index();
        if request.own.is_of_run {
            let submits = request.method.is_some_and(|m| m.name == operations::SUBMIT);
            self.operations.answer(message, index, submits);
        }
        let well = seen.message.role == Some(Role::Response);
        self.blobs.handle_answer(index, message, well);
        self.report_out_of_order(key, index, seen);
        let waits = self.forget(key, &asked, &request);
        self.report_open_callbacks(&waits, seen);
        if let Some(method) = request.method {
            let scope = self.scope(key.scope);
            if schema::opens_session(method) {
                scope.opened(index, seen, well);
                if well && !message.breaks_rule {
                    scope.check_release(seen, method, &message.call);
                    check_versions(message, index, request.own.version);
                }
            }
            if !message.faulty {
                shape::of(seen, &message.call).result(method);
            }
        }
        Matched::Yes
    }

    /// Reports an answer in one pipe that precedes those to older requests; each of these is reported once.
    fn report_out_of_order(&mut self, key: &PairKey, index: u64, seen: Current<'_, '_>) {
        let scope = self.scope(key.scope);
        let order = scope.order.get_mut(key.requester);
        if order.remove(&index)
            && let Some(first) = order.first().copied().filter(|first| *first < index)
        {
            *order = order.split_off(&index);
            broken!(seen, rule::OUT_OF_ORDER, seen.whole(), first;
                "#{index} is answered before #{first}, which was sent earlier");
        }
    }

    /// Reports callbacks that are unanswered when their execute is answered.
    fn report_open_callbacks(&self, callbacks: &BTreeMap<u64, PairKey>, seen: Current<'_, '_>) {
        let open = callbacks
            .values()
            .filter_map(|key| self.pairs.open.get(key));
        let mut left = open.filter(|(_, want)| want.needs_answer());
        if let Some((asked, _)) = left.next() {
            broken!(seen, rule::ANSWER_BEFORE_CALLBACK, seen.whole(), asked.index();
                "the execute is answered before {}, sent during it", asked.describe());
        }
    }

    /// Removes the state of a closed request. Returns the callbacks for which an execute waited.
    pub(super) fn forget(
        &mut self,
        key: &PairKey,
        asked: &OpenRequest,
        request: &SentRequest<RequestContext>,
    ) -> BTreeMap<u64, PairKey> {
        let index = asked.index();
        let scope = self.scope(key.scope);
        scope.order.get_mut(key.requester).remove(&index);
        if let Some(callbacks) = request.own.within.and_then(|w| scope.executes.get_mut(&w)) {
            callbacks.remove(&index);
        }
        scope.executes.remove(&index).unwrap_or_default()
    }
}

/// Returns the version in an `initialize` or its result.
fn protocol_version(node: Node<'_>) -> Option<Node<'_>> {
    const NAMES: [&str; 4] = [
        "runtime_protocol_version",
        "runtimeProtocolVersion",
        "server_protocol_version",
        "serverProtocolVersion",
    ];
    NAMES.iter().find_map(|name| node.get(name))
}

/// Checks that both sides use the same version.
fn check_versions(message: &MessageTurn<'_, '_>, index: u64, asked: Option<i128>) {
    let Some(node) = message.call.result.and_then(protocol_version) else {
        return;
    };
    if let (Some(asked), Some(got)) = (asked, node.as_i128())
        && asked != got
    {
        broken!(message, rule::VERSION_MISMATCH, message.at(node), index;
            "the server uses version {got}, but the runtime uses {asked}");
    }
}
