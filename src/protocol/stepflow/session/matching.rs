//! Matches requests and answers.
//!
//! ```text
//!   request   handshake, the execute during which it is sent, a free id    -> open
//!   answer    an open request of the other side, in the same exchange      -> closed, its result checked
//! ```

use super::super::schema;
use super::{MessageTurn, RequestContext, StepflowSession, shape};
use crate::protocol::correlation::OpenRequest;
use crate::protocol::rpc::pairing::{Closed, PairKey, PairedRequest, Reach, SentRequest};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Report, Seen};
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
    /// Handles a message, regardless of its transport. `inside` is the exchange of which it is an event.
    pub(super) fn handle_message(
        &mut self,
        turn: &MessageTurn<'_, '_>,
        enclosing: Enclosing,
        report: &mut Report,
    ) -> Sent {
        let null = turn.call.id.is_some_and(Node::is_null);
        match turn.seen.message.role {
            Some(Role::Request | Role::Notification) if turn.faulty => Sent::Nothing,
            Some(Role::Request) if !null => {
                let within = self.enclosing_execute(turn, enclosing, report);
                self.ask(turn, within, report)
                    .map_or(Sent::Nothing, Sent::Request)
            }
            Some(Role::Request | Role::Notification) => {
                self.check_handshake(turn, report);
                Sent::Notification
            }
            Some(Role::Response | Role::Error) => {
                self.answer(turn, None, report);
                Sent::Answer
            }
            _ => Sent::Nothing,
        }
    }

    /// Returns the direction of a request; if it is not known, the most likely one.
    fn requester(turn: &MessageTurn<'_, '_>) -> Direction {
        turn.direction
            .or(turn.method.map(|m| m.direction))
            .unwrap_or(Direction::ToServer)
    }

    /// Checks the runtime's part of the handshake.
    fn check_handshake(&mut self, turn: &MessageTurn<'_, '_>, report: &mut Report) {
        let opens_session = turn.method.is_some_and(schema::opens_session);
        if Self::requester(turn) == Direction::ToServer && (opens_session || !turn.breaks_rule) {
            // MUST (rs:plugin.rs of 0.7): requests that a crash interrupted are sent again with a higher attempt.
            let params = turn.call.params;
            let attempt = params
                .and_then(|p| p.get("attempt"))
                .and_then(Node::as_i128);
            let again = self.crashed || attempt.is_some_and(|n| n > 1);
            let scope = self.scope(turn.reach);
            scope.check_handshake(turn.seen, turn.method, again, report);
        }
        if let Some(method) = turn.method.filter(|_| !turn.breaks_rule) {
            let scope = self.scope(turn.reach);
            scope.check_release(turn.seen, method, &turn.call, report);
        }
    }

    /// Returns the execute during which a request was sent, if the side may only send requests during one.
    fn enclosing_execute(
        &mut self,
        turn: &MessageTurn<'_, '_>,
        enclosing: Enclosing,
        report: &mut Report,
    ) -> Option<u64> {
        self.check_handshake(turn, report);
        if Self::requester(turn) == Direction::ToServer {
            return None;
        }
        let scope = self.scope(turn.reach);
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
        if outside && !turn.breaks_rule && !scope.has_lost(Direction::ToServer) {
            let what = turn.method.map_or("a request", |m| m.name);
            let text = format!("{what} is sent while no components/execute runs");
            report.broken("callback-outside-execute", turn.seen.whole(), text);
        }
        within
    }

    /// Adds a request.
    fn ask(
        &mut self,
        turn: &MessageTurn<'_, '_>,
        within: Option<u64>,
        report: &mut Report,
    ) -> Option<PairKey> {
        let (seen, id) = (turn.seen, turn.call.id?);
        let requester = Self::requester(turn);
        let key = PairKey::of(turn.reach, requester, id)?;
        let shape = shape::of(seen, &turn.call);
        if self.pairs.is_duplicate(&key, &shape, report) {
            return Some(key);
        }
        let version = turn
            .call
            .params
            .filter(|_| turn.method.is_some_and(schema::opens_session));
        let version = version.and_then(protocol_version).and_then(Node::as_i128);
        let own = RequestContext { version, within };
        let request = SentRequest::new(turn.method, turn.breaks_rule, own);
        if self.pairs.open.is_full() {
            self.pairs.ask(key, OpenRequest::of(seen), request);
            return None;
        }
        let orderly = !turn.breaks_rule && matches!(turn.reach, Reach::Pipe(_));
        let runs_component = turn.method.is_some_and(schema::runs_component);
        let scope = self.scope(turn.reach);
        if runs_component && requester == Direction::ToServer {
            scope.executes.insert(seen.index, BTreeMap::new());
        }
        if let Some(callbacks) = within.and_then(|index| scope.executes.get_mut(&index)) {
            callbacks.insert(seen.index, key.clone());
        }
        if orderly {
            scope.order.get_mut(Some(requester)).insert(seen.index);
        }
        if let Some((asked, before)) = self.pairs.ask(key.clone(), OpenRequest::of(seen), request) {
            self.forget(&key, &asked, &before);
        }
        Some(key)
    }

    /// Handles an answer. `exchange` is the request whose HTTP response contains it.
    pub(super) fn answer(
        &mut self,
        turn: &MessageTurn<'_, '_>,
        exchange: Option<&PairKey>,
        report: &mut Report,
    ) -> Matched {
        let shape = shape::of(turn.seen, &turn.call);
        let is_open = |key: &&PairKey| self.pairs.open.get(key).is_some();
        let posted = exchange.filter(is_open);
        match self.pairs.find(turn.reach, turn.direction, &shape, report) {
            PairedRequest::Open(key) => {
                if let Some(posted) = exchange.filter(|posted| **posted != key) {
                    self.report_wrong_answer(turn, posted, report);
                }
                self.handle_answered(&key, turn, report)
            }
            PairedRequest::Retyped(key) => self.handle_answered(&key, turn, report),
            // Without an id the exchange still shows the request.
            PairedRequest::Nothing(key) if !turn.faulty => {
                match posted {
                    Some(posted) => self.report_wrong_answer(turn, posted, report),
                    None => self.report_unmatched(turn, &key, report),
                }
                Matched::No
            }
            PairedRequest::NoId | PairedRequest::Nothing(_) => {
                exchange.map_or(Matched::No, |key| self.handle_answered(key, turn, report))
            }
        }
    }

    /// Reports an HTTP response with the answer to another request than the posted one.
    fn report_wrong_answer(
        &self,
        turn: &MessageTurn<'_, '_>,
        posted: &PairKey,
        report: &mut Report,
    ) {
        let (Some(id), Some((asked, _))) = (turn.call.id, self.pairs.open.get(posted)) else {
            return;
        };
        let text = format!(
            "the response is for {} with the id {}, but the answer has the id {}",
            asked.describe(),
            short(&asked.id),
            quote(id)
        );
        report.broken_by("wrong-answer", turn.seen.at(id), asked.place.index, text);
    }

    /// Reports an answer without a request.
    fn report_unmatched(&mut self, turn: &MessageTurn<'_, '_>, key: &PairKey, report: &mut Report) {
        // The request may have been missed.
        if !self.scope(turn.reach).has_lost(key.requester) && self.pairs.open.refused() == 0 {
            let shape = shape::of(turn.seen, &turn.call);
            self.pairs.report_unmatched(key, &shape, report);
        }
    }

    /// Handles an answered request.
    fn handle_answered(
        &mut self,
        key: &PairKey,
        turn: &MessageTurn<'_, '_>,
        report: &mut Report,
    ) -> Matched {
        let seen = turn.seen;
        let (asked, request) = match self.pairs.close(key, seen, report) {
            Closed::Nothing => return Matched::No,
            Closed::Twin => return Matched::Yes,
            Closed::Last(asked, request) => (asked, request),
        };
        let scope = self.scope(key.reach);
        if !scope.unflushed
            && let Some(text) = rpc::unflushed(seen, asked.origin().time, scope.closed)
        {
            scope.unflushed = true;
            report.broken_by("answer-after-eof", seen.whole(), asked.place.index, text);
        }
        let index = asked.place.index;
        let well = seen.message.role == Some(Role::Response);
        self.report_out_of_order(key, index, seen, report);
        let waits = self.forget(key, &asked, &request);
        self.report_open_callbacks(&waits, seen, report);
        if let Some(method) = request.method {
            let scope = self.scope(key.reach);
            if schema::opens_session(method) {
                scope.opened(index, seen, well);
                if well && !turn.breaks_rule {
                    scope.check_release(seen, method, &turn.call, report);
                    check_versions(turn, index, request.own.version, report);
                }
            }
            if !turn.faulty {
                shape::of(seen, &turn.call).result(method, report);
            }
        }
        Matched::Yes
    }

    /// Reports an answer in one pipe that precedes those to older requests; each of these is reported once.
    fn report_out_of_order(
        &mut self,
        key: &PairKey,
        index: u64,
        seen: &Seen<'_>,
        report: &mut Report,
    ) {
        let scope = self.scope(key.reach);
        let order = scope.order.get_mut(Some(key.requester));
        if order.remove(&index)
            && let Some(first) = order.first().copied().filter(|first| *first < index)
        {
            *order = order.split_off(&index);
            let text = format!("#{index} is answered before #{first}, which was sent earlier");
            report.broken_by("out-of-order", seen.whole(), first, text);
        }
    }

    /// Reports callbacks that are unanswered when their execute is answered.
    fn report_open_callbacks(
        &self,
        callbacks: &BTreeMap<u64, PairKey>,
        seen: &Seen<'_>,
        report: &mut Report,
    ) {
        let open = callbacks
            .values()
            .filter_map(|key| self.pairs.open.get(key));
        let mut left = open.filter(|(_, want)| want.needs_answer());
        if let Some((asked, _)) = left.next() {
            let text = format!(
                "the execute is answered before {}, sent during it",
                asked.describe()
            );
            report.broken_by(
                "answer-before-callback",
                seen.whole(),
                asked.place.index,
                text,
            );
        }
    }

    /// Removes the state of a closed request. Returns the callbacks for which an execute waited.
    pub(super) fn forget(
        &mut self,
        key: &PairKey,
        asked: &OpenRequest,
        request: &SentRequest<RequestContext>,
    ) -> BTreeMap<u64, PairKey> {
        let index = asked.place.index;
        let scope = self.scope(key.reach);
        scope.order.get_mut(Some(key.requester)).remove(&index);
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
fn check_versions(
    turn: &MessageTurn<'_, '_>,
    index: u64,
    asked: Option<i128>,
    report: &mut Report,
) {
    let Some(node) = turn.call.result.and_then(protocol_version) else {
        return;
    };
    if let (Some(asked), Some(got)) = (asked, node.as_i128())
        && asked != got
    {
        let text = format!("the server uses version {got}, the runtime {asked}");
        report.broken_by("version-mismatch", turn.seen.at(node), index, text);
    }
}
