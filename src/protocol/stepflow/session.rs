//! The session of a stepflow conversation.
//!
//! ```text
//!   runtime                                 server            open requests, by space, requester and id
//!      | -> initialize, initialized            |              { runtime "a" }, then none: Ready
//!      | -> components/execute "b"             |              { runtime "b" }
//!      | <- blobs/put "c"                      |              { runtime "b", server "c" within b }
//!      | -> result "c"        result "b" <-    |              none
//!
//!   over HTTP: one exchange for each POST; callbacks are events of the execute's answer, answered by a separate POST,
//!   acknowledged with 202
//! ```

mod blobs;
mod exchange;
mod matching;
mod operations;
mod server_state;
mod shape;

use super::schema;
use crate::framing::{Framing, Head};
use crate::protocol::exchange::OpenRequest;
use crate::protocol::exchange::pairs::{Facts, IdSpace, PairKey, Pairs, pairs};
use crate::protocol::rpc::extension::{SentCall, SentRequest};
use crate::protocol::rpc::{Call, lone_cr};
use crate::protocol::rule_names::stepflow as rule;
use crate::protocol::schema::MessageSchema;
use crate::protocol::session::memory::Connections;
use crate::protocol::session::text::short;
use crate::protocol::session::{
    ConnectionChange, Current, Report, Seen, Session, SessionConfig, Waiting, broken,
};
use crate::protocol::{Direction, Origin, Role};
use blobs::Blobs;
use exchange::HttpConnection;
use matching::Enclosing;
use operations::Operations;
use server_state::{Handshake, ServerScope};
use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;

/// The largest number of servers, and of connections.
const MAX_SCOPES: usize = 1 << 12;
/// The longest line that a server of 0.2 and 0.3 reads, and the longest answer that any server writes in one piece, in
/// bytes.
const SHORT_LINE: u64 = 1 << 16;
/// The longest line that a later server reads, in bytes.
const LONG_LINE: u64 = 1 << 19;

/// The state of the conversation.
pub(super) struct StepflowSession {
    pairs: Pairs<SentCall<RequestContext>>,
    scopes: BTreeMap<IdSpace, ServerScope>,
    /// The HTTP connections.
    wires: Connections<HttpConnection>,
    /// A GET opened an event stream, which may contain answers to POST requests.
    side_stream: bool,
    /// A child exited: the next one replaces it.
    crashed: bool,
    blobs: Blobs,
    operations: Operations,
    order: bool,
}

/// The state of a request.
#[derive(Debug, Default)]
struct RequestContext {
    /// The version in an `initialize`.
    version: Option<i128>,
    /// The index of the execute during which it was sent.
    within: Option<u64>,
    /// It asks for the state of a run, or starts one.
    is_of_run: bool,
}

/// A message with the values that the rules need.
#[derive(Clone, Copy)]
struct MessageTurn<'t, 'a> {
    seen: Current<'t, 'a>,
    call: Call<'a>,
    method: Option<&'static MessageSchema>,
    direction: Option<Direction>,
    id_space: IdSpace,
    /// It could not be read completely.
    faulty: bool,
    /// It breaks a rule alone: findings that follow from that are not reported.
    breaks_rule: bool,
}

impl<'t, 'a> Deref for MessageTurn<'t, 'a> {
    type Target = Current<'t, 'a>;

    fn deref(&self) -> &Current<'t, 'a> {
        &self.seen
    }
}

impl<'a> MessageTurn<'_, 'a> {
    /// Returns the facts for its pairing.
    fn facts(&self) -> Facts<'_, 'a> {
        Facts {
            seen: self.seen,
            id: self.call.id,
            space: self.id_space,
            direction: self.direction,
        }
    }
}

impl StepflowSession {
    pub(super) fn new(config: &SessionConfig) -> Self {
        Self {
            pairs: pairs(config.max_open),
            scopes: BTreeMap::new(),
            wires: Connections::with_capacity(MAX_SCOPES, 0),
            side_stream: false,
            crashed: false,
            blobs: Blobs::default(),
            operations: Operations::default(),
            order: config.order,
        }
    }

    fn scope(&mut self, id_space: IdSpace) -> &mut ServerScope {
        if self.scopes.len() >= MAX_SCOPES && !self.scopes.contains_key(&id_space) {
            let oldest = self.scopes.keys().find(|r| **r != IdSpace::All).copied();
            oldest.and_then(|oldest| self.scopes.remove(&oldest));
        }
        self.scopes.entry(id_space).or_default()
    }

    /// Checks the line itself.
    fn check_line(seen: Current<'_, '_>, direction: Option<Direction>) {
        let frame = seen.frame;
        if frame.framing != Framing::Lines {
            return;
        }
        let body = frame.view.body;
        let len = u64::from(body.len);
        if frame.len > len && body.len > 0 {
            broken!(seen, rule::CRLF, seen.whole(); "the line ends in CR LF; LF alone is enough");
        }
        if let Some(place) = lone_cr(&seen) {
            broken!(seen, rule::LONE_CR, place;
                "the last line ends with a CR without LF: its reader waits for the LF");
        }
        let answer = matches!(seen.message.role, Some(Role::Response | Role::Error));
        if len <= SHORT_LINE || frame.fault.is_some() {
            return;
        }
        match direction {
            Some(Direction::ToServer) => {
                broken!(seen, rule::LONG_LINE, seen.whole(); "the line has {len} bytes; {}", match len {
                    0..=LONG_LINE => "servers of 0.2 and 0.3 read no more than 65536",
                    _ => "no server reads more than 524288",
                });
            }
            Some(Direction::ToClient) if answer => {
                broken!(seen, rule::LONG_ANSWER, seen.whole();
                    "the answer has {len} bytes; a server's pipe takes 65536 and drops the rest");
            }
            _ => {}
        }
    }

    /// Handles a message.
    fn handle(&mut self, seen: Current<'_, '_>) {
        // The text of a response that is no message is not read.
        let is_read = seen.message.valid || seen.message.role == Some(Role::Control);
        let faulty = seen.findings() > 0 || !is_read || seen.frame.fault.is_some();
        let http = match seen.frame.head {
            Head::Http { status, event, .. } => Some((status, event)),
            _ => None,
        };
        // Over HTTP the start line shows the direction.
        let direction = seen.origin.direction.or(http.map(|(status, event)| {
            if status == 0 && !event {
                Direction::ToServer
            } else {
                Direction::ToClient
            }
        }));
        let root = seen.root();
        let call = root.map(Call::of).unwrap_or_default();
        let method = match root {
            Some(root)
                if !faulty && seen.message.role.is_some_and(|role| role != Role::Control) =>
            {
                shape::of(seen, &call).check(root, direction)
            }
            _ => None,
        };
        let message = MessageTurn {
            seen,
            call,
            method,
            direction,
            id_space: match http {
                Some(_) => IdSpace::All,
                None => IdSpace::One(seen.origin.conn),
            },
            faulty,
            breaks_rule: seen.findings() > 0,
        };
        let is_complete = self.scope(message.id_space).has_begun()
            && !self
                .pairs
                .has_gap(message.id_space, Some(Direction::ToServer));
        self.blobs.handle(&message, is_complete);
        match http {
            Some((_, true)) => self.handle_event(&message),
            Some((0, false)) => self.handle_request(&message),
            Some((status, false)) => self.handle_response(&message, status),
            None => {
                self.handle_message(&message, Enclosing::Unknown);
                Self::check_line(seen, direction);
            }
        }
    }
}

impl Session for StepflowSession {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        Current::handle(seen, report, |seen| self.handle(seen));
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        match what {
            ConnectionChange::Opened => {
                self.wires.remove(origin.conn);
            }
            ConnectionChange::Lost => self.record_loss(origin),
            ConnectionChange::Ended if origin.direction == Some(Direction::ToServer) => {
                if let Some(scope) = self.scopes.get_mut(&IdSpace::One(origin.conn)) {
                    scope.closed = origin.time;
                }
            }
            ConnectionChange::Ended
            | ConnectionChange::Closed
            | ConnectionChange::Reset
            | ConnectionChange::Exited => {
                self.end_connection(origin, what, report);
                self.crashed |= what == ConnectionChange::Exited;
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        for (key, asked, want) in self.pairs.open.sorted() {
            let scope = self.scopes.get(&key.scope);
            let index = asked.index();
            // An execute that waits for a callback is not the cause.
            let waits = scope.and_then(|s| s.executes.get(&index));
            let waits = waits.is_some_and(|callbacks| !callbacks.is_empty());
            if waits || !want.needs_answer() {
                continue;
            }
            let rule = match want.method {
                Some(method) if schema::opens_session(method) => rule::INITIALIZE_UNANSWERED,
                _ => rule::UNANSWERED,
            };
            broken!(report, rule, asked.place();
                "{} ({}) has no answer", asked.describe(), short(asked.id()));
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting)) {
        let open = self.pairs.open.sorted();
        let loose = LooseCallbacks::of(&open);
        for (key, asked, want) in &open {
            let why = if want.breaks_rule {
                Some("it breaks a rule itself, so peers may not answer".to_owned())
            } else if want.method.is_some_and(schema::opens_session) {
                Some("no request is allowed before initialize is answered".to_owned())
            } else if want.method.is_some_and(schema::runs_component) {
                let scope = self.scopes.get(&key.scope);
                let own = scope.and_then(|s| s.executes.get(&asked.index())?.values().next());
                let own = own
                    .and_then(|key| self.pairs.open.get(key))
                    .map(|(asked, _)| asked);
                callback_of(own, loose.after(key, asked.index()))
            } else {
                None
            };
            visit(asked.waiting(why));
        }
        for scope in self.scopes.values() {
            if let Handshake::Answered(place) = scope.handshake {
                visit(Waiting {
                    place,
                    what: "the runtime, for initialized".into(),
                    id: String::new(),
                    owes: Some(Direction::ToServer),
                    side: None,
                    why: Some("initialize is answered; a server may refuse other requests before initialized".into()),
                    nests: false,
                    blocked_by: None,
                });
            }
        }
    }

    fn is_open(&self, index: u64) -> bool {
        let mut scopes = self.scopes.values();
        self.pairs.open.at(index).is_some()
            || scopes
                .any(|s| matches!(s.handshake, Handshake::Answered(place) if place.index == index))
    }

    fn untracked(&self) -> u64 {
        self.pairs.open.untracked()
    }
}

/// Callbacks in pipes whose execute is not known, by pipe, the oldest first. Over HTTP the event stream shows the
/// execute.
struct LooseCallbacks<'o>(HashMap<IdSpace, Vec<(Option<Direction>, &'o OpenRequest)>>);

impl<'o> LooseCallbacks<'o> {
    fn of(open: &[(&PairKey, &'o OpenRequest, &SentRequest<RequestContext>)]) -> Self {
        let mut loose: HashMap<IdSpace, Vec<_>> = HashMap::new();
        for (key, asked, want) in open {
            if key.scope != IdSpace::All && want.own.within.is_none() {
                let pipe = loose.entry(key.scope).or_default();
                pipe.push((key.requester, *asked));
            }
        }
        Self(loose)
    }

    /// Returns the first callback of the other side after an execute.
    fn after(&self, key: &PairKey, execute: u64) -> Option<&'o OpenRequest> {
        let pipe = self.0.get(&key.scope)?;
        let from = pipe.partition_point(|(_, asked)| asked.index() <= execute);
        let mut later = pipe.get(from..)?.iter();
        later
            .find(|(requester, _)| *requester != key.requester)
            .map(|(_, asked)| *asked)
    }
}

/// Returns the reason why an execute waits: a callback that it made, or may have made, is not answered.
fn callback_of(own: Option<&OpenRequest>, loose: Option<&OpenRequest>) -> Option<String> {
    let index = |asked: &&OpenRequest| asked.index();
    let asked = own.into_iter().chain(loose).min_by_key(index)?;
    let is_own = own.is_some_and(|own| own.index() == asked.index());
    let whose = if is_own { "" } else { ", perhaps its own" };
    Some(format!(
        "callback unanswered inside an execute: {} ({}){whose}",
        asked.describe(),
        short(asked.id())
    ))
}

#[cfg(test)]
mod tests;
