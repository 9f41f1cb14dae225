//! What answers what, and what is asked when.
//!
//! ```text
//!   request   handshake, which execute it is asked in, is the id free?    -> open
//!   answer    an open request of the other side, in the same exchange?    -> closed, its result checked
//! ```

use super::super::schema;
use super::{Conduct, Context, Turn, shape};
use crate::protocol::correlation::Asked;
use crate::protocol::jsonrpc::pairing::{Closed, Found, Key, Reach, Request};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Report, Seen};
use crate::protocol::{Direction, Role, jsonrpc};
use crate::tape::Node;
use std::collections::BTreeMap;

/// What a request comes inside of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inside {
    /// A pipe, or an exchange whose beginning was not seen.
    Unknown,
    /// An event stream; the index of the execute that it answers, where it answers one.
    Stream(Option<u64>),
}

/// What a POST held.
#[derive(Debug)]
pub(super) enum Sent {
    Request(Key),
    Notification,
    Answer,
    /// No message, or none that can be read.
    Nothing,
}

/// What an answer was the answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// A request.
    Yes,
    /// None, and that was told where it had to be.
    No,
}

impl Conduct {
    /// A message that says what it says, however it travels. `inside`: the exchange that it is an event of.
    pub(super) fn said(
        &mut self,
        turn: &Turn<'_, '_>,
        inside: Inside,
        report: &mut Report,
    ) -> Sent {
        let null = turn.call.id.is_some_and(Node::is_null);
        match turn.seen.message.role {
            Some(Role::Request | Role::Notification) if turn.faulty => Sent::Nothing,
            Some(Role::Request) if !null => {
                let within = self.asked_in(turn, inside, report);
                self.ask(turn, within, report)
                    .map_or(Sent::Nothing, Sent::Request)
            }
            Some(Role::Request | Role::Notification) => {
                self.shakes(turn, report);
                Sent::Notification
            }
            Some(Role::Response | Role::Error) => {
                self.answer(turn, None, report);
                Sent::Answer
            }
            _ => Sent::Nothing,
        }
    }

    /// The way of a request, or the best guess where directions are not known.
    fn asker(turn: &Turn<'_, '_>) -> Direction {
        turn.way
            .or(turn.method.map(|m| m.direction))
            .unwrap_or(Direction::ToServer)
    }

    /// The runtime's part of the handshake.
    fn shakes(&mut self, turn: &Turn<'_, '_>, report: &mut Report) {
        let opens = turn.method.is_some_and(schema::opens);
        if Self::asker(turn) == Direction::ToServer && (opens || !turn.blamed) {
            // MUST (rs:plugin.rs of 0.7): what the crash interrupted is sent anew with a higher attempt.
            let params = turn.call.params;
            let attempt = params
                .and_then(|p| p.get("attempt"))
                .and_then(Node::as_i128);
            let again = self.crashed || attempt.is_some_and(|n| n > 1);
            let scope = self.scope(turn.reach);
            scope.shake(turn.seen, turn.method, again, report);
        }
        if let Some(method) = turn.method.filter(|_| !turn.blamed) {
            let scope = self.scope(turn.reach);
            scope.release(turn.seen, method, &turn.call, report);
        }
    }

    /// Which execute a request was asked in, where one side may only ask inside another's request.
    fn asked_in(
        &mut self,
        turn: &Turn<'_, '_>,
        inside: Inside,
        report: &mut Report,
    ) -> Option<u64> {
        self.shakes(turn, report);
        if Self::asker(turn) == Direction::ToServer {
            return None;
        }
        let scope = self.scope(turn.reach);
        let mut running = scope.executes.keys().copied();
        let within = match inside {
            Inside::Stream(execute) => execute.filter(|index| scope.executes.contains_key(index)),
            // Where several run, one pipe does not tell which of them asks.
            Inside::Unknown => running.next().filter(|_| running.next().is_none()),
        };
        let known = matches!(inside, Inside::Stream(_));
        let outside = within.is_none() && (known || scope.executes.is_empty());
        if outside && !turn.blamed && !scope.has_lost(Direction::ToServer) {
            let what = turn.method.map_or("a request", |m| m.name);
            let text =
                format!("{what} is asked while no components/execute runs that could need it");
            report.broken("callback-outside-execute", turn.seen.whole(), text);
        }
        within
    }

    /// Follows a request.
    fn ask(
        &mut self,
        turn: &Turn<'_, '_>,
        within: Option<u64>,
        report: &mut Report,
    ) -> Option<Key> {
        let (seen, id) = (turn.seen, turn.call.id?);
        let asker = Self::asker(turn);
        let key = Key::of(turn.reach, asker, id)?;
        let shape = shape::of(seen, &turn.call);
        if self.pairs.is_duplicate(&key, &shape, report) {
            return Some(key);
        }
        let version = turn
            .call
            .params
            .filter(|_| turn.method.is_some_and(schema::opens));
        let version = version.and_then(protocol_version).and_then(Node::as_i128);
        let own = Context { version, within };
        let request = Request::new(turn.method, turn.blamed, own);
        if self.pairs.open.is_full() {
            self.pairs.ask(key, seen, request);
            return None;
        }
        let orderly = !turn.blamed && matches!(turn.reach, Reach::Pipe(_));
        let executes = turn.method.is_some_and(schema::executes);
        let scope = self.scope(turn.reach);
        if executes && asker == Direction::ToServer {
            scope.executes.insert(seen.index, BTreeMap::new());
        }
        if let Some(callbacks) = within.and_then(|index| scope.executes.get_mut(&index)) {
            callbacks.insert(seen.index, key.clone());
        }
        if orderly {
            scope.order.get_mut(Some(asker)).insert(seen.index);
        }
        if let Some((asked, before)) = self.pairs.ask(key.clone(), seen, request) {
            self.forget(&key, &asked, &before);
        }
        Some(key)
    }

    /// An answer goes by. `exchange`: the request whose HTTP response it came in.
    pub(super) fn answer(
        &mut self,
        turn: &Turn<'_, '_>,
        exchange: Option<&Key>,
        report: &mut Report,
    ) -> Settled {
        let shape = shape::of(turn.seen, &turn.call);
        let is_open = |key: &&Key| self.pairs.open.get(key).is_some();
        let posted = exchange.filter(is_open);
        match self.pairs.find(turn.reach, turn.way, &shape, report) {
            Found::Open(key) => {
                if let Some(posted) = exchange.filter(|posted| **posted != key) {
                    self.wrong_answer(turn, posted, report);
                }
                self.settle(&key, turn, report)
            }
            Found::Retyped(key) => self.settle(&key, turn, report),
            // Without an id the exchange still tells.
            Found::Nothing(key) if !turn.faulty => {
                match posted {
                    Some(posted) => self.wrong_answer(turn, posted, report),
                    None => self.orphan(turn, &key, report),
                }
                Settled::No
            }
            Found::NoId | Found::Nothing(_) => {
                exchange.map_or(Settled::No, |key| self.settle(key, turn, report))
            }
        }
    }

    /// An HTTP response with the answer to another request than the posted one.
    fn wrong_answer(&self, turn: &Turn<'_, '_>, posted: &Key, report: &mut Report) {
        let (Some(id), Some((asked, _))) = (turn.call.id, self.pairs.open.get(posted)) else {
            return;
        };
        let text = format!(
            "the response is to {}, whose id is {}; the answer's is {}",
            asked.what(),
            short(&asked.id),
            quote(id)
        );
        report.broken_by("wrong-answer", turn.seen.at(id), asked.place.index, text);
    }

    /// An answer to nothing.
    fn orphan(&mut self, turn: &Turn<'_, '_>, key: &Key, report: &mut Report) {
        // What was asked may not have been seen.
        if !self.scope(turn.reach).has_lost(key.asker) && self.pairs.open.refused() == 0 {
            let shape = shape::of(turn.seen, &turn.call);
            self.pairs.orphan(key, &shape, report);
        }
    }

    /// A request is answered.
    fn settle(&mut self, key: &Key, turn: &Turn<'_, '_>, report: &mut Report) -> Settled {
        let seen = turn.seen;
        let (asked, request) = match self.pairs.close(key, seen, report) {
            Closed::Nothing => return Settled::No,
            Closed::Twin => return Settled::Yes,
            Closed::Last(asked, request) => (asked, request),
        };
        let scope = self.scope(key.reach);
        if !scope.unflushed
            && let Some(text) = jsonrpc::unflushed(seen, asked.origin().time, scope.closed)
        {
            scope.unflushed = true;
            report.broken_by("answer-after-eof", seen.whole(), asked.place.index, text);
        }
        let index = asked.place.index;
        let well = seen.message.role == Some(Role::Response);
        self.overtakes(key, index, seen, report);
        let waits = self.forget(key, &asked, &request);
        self.leaves_callbacks(&waits, seen, report);
        if let Some(method) = request.method {
            let scope = self.scope(key.reach);
            if schema::opens(method) {
                scope.opened(index, seen, well);
                if well && !turn.blamed {
                    scope.release(seen, method, &turn.call, report);
                    versions(turn, index, request.own.version, report);
                }
            }
            if !turn.faulty {
                shape::of(seen, &turn.call).result(method, report);
            }
        }
        Settled::Yes
    }

    /// An answer in one pipe that comes before those to older requests; each of those is told of once.
    fn overtakes(&mut self, key: &Key, index: u64, seen: &Seen<'_>, report: &mut Report) {
        let scope = self.scope(key.reach);
        let order = scope.order.get_mut(Some(key.asker));
        if order.remove(&index)
            && let Some(first) = order.first().copied().filter(|first| *first < index)
        {
            *order = order.split_off(&index);
            let text = format!("#{index} is answered before #{first}, which was asked earlier");
            report.broken_by("out-of-order", seen.whole(), first, text);
        }
    }

    /// An execute is answered, but not what was asked in it.
    fn leaves_callbacks(
        &self,
        callbacks: &BTreeMap<u64, Key>,
        seen: &Seen<'_>,
        report: &mut Report,
    ) {
        let open = callbacks
            .values()
            .filter_map(|key| self.pairs.open.get(key));
        let mut left = open.filter(|(_, want)| want.is_owed());
        if let Some((asked, _)) = left.next() {
            let text = format!(
                "the execute is answered while {}, asked in it, is not",
                asked.what()
            );
            report.broken_by(
                "answer-before-callback",
                seen.whole(),
                asked.place.index,
                text,
            );
        }
    }

    /// Drops what is remembered of a request that is open no more; the callbacks that an execute waited for.
    pub(super) fn forget(
        &mut self,
        key: &Key,
        asked: &Asked,
        request: &Request<Context>,
    ) -> BTreeMap<u64, Key> {
        let index = asked.place.index;
        let scope = self.scope(key.reach);
        scope.order.get_mut(Some(key.asker)).remove(&index);
        if let Some(callbacks) = request.own.within.and_then(|w| scope.executes.get_mut(&w)) {
            callbacks.remove(&index);
        }
        scope.executes.remove(&index).unwrap_or_default()
    }
}

/// The version that an `initialize` or its result names.
fn protocol_version(node: Node<'_>) -> Option<Node<'_>> {
    const NAMES: [&str; 4] = [
        "runtime_protocol_version",
        "runtimeProtocolVersion",
        "server_protocol_version",
        "serverProtocolVersion",
    ];
    NAMES.iter().find_map(|name| node.get(name))
}

/// Both sides name the same version.
fn versions(turn: &Turn<'_, '_>, index: u64, asked: Option<i128>, report: &mut Report) {
    let Some(node) = turn.call.result.and_then(protocol_version) else {
        return;
    };
    if let (Some(asked), Some(got)) = (asked, node.as_i128())
        && asked != got
    {
        let text = format!("the server speaks version {got}, the runtime {asked}");
        report.broken_by("version-mismatch", turn.seen.at(node), index, text);
    }
}
