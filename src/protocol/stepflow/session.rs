//! A stepflow conversation, over time.
//!
//! ```text
//!   runtime                                 server            open requests, by reach, asker and id
//!      | -> initialize, initialized            |              { runtime "a" }, then none: Ready
//!      | -> components/execute "b"             |              { runtime "b" }
//!      | <- blobs/put "c"                      |              { runtime "b", server "c" within b }
//!      | -> result "c"        result "b" <-    |              none
//!
//!   over HTTP: one exchange a POST; callbacks are events of the execute's answer, answered by a POST of their own,
//!   acknowledged with 202
//! ```

mod exchange;
mod keys;
mod methods;
mod scope;
mod shape;

use super::super::correlation::{Asked, Open};
use crate::framing::{Framing, Head};
use crate::protocol::jsonrpc::Call;
use crate::protocol::session::{Aids, Happened, Report, Seen, Session, Waiting};
use crate::protocol::{Direction, Origin, Role};
use exchange::{Sent, Wire};
use keys::{Key, Reach, Want};
use methods::Method;
use scope::{Handshake, Scope, at};
use shape::short;
use std::collections::{BTreeMap, VecDeque};

/// Most servers, and most connections, that are remembered.
const MOST_SCOPES: usize = 1 << 12;
/// Answered ids, and ids that nothing asked, that are remembered.
const MOST_PAST: usize = 1 << 8;
/// Most requests with one id that are followed at a time.
const MOST_TWINS: usize = 8;
/// Longest line that a server of 0.2 and 0.3 reads, and longest answer that any writes whole.
const SHORT_LINE: u64 = 1 << 16;
/// Longest line that a later server reads.
const LONG_LINE: u64 = 1 << 19;

/// What was said so far.
pub(super) struct Conduct {
    open: Open<Key, Want>,
    scopes: BTreeMap<Reach, Scope>,
    /// HTTP connections.
    wires: BTreeMap<Option<u32>, Wire>,
    /// What was answered of late.
    answered: VecDeque<Key>,
    /// What was answered of late without being asked.
    strays: VecDeque<Key>,
}

/// One message, on its way through the rules.
#[derive(Clone, Copy)]
struct Turn<'t, 'a> {
    seen: &'t Seen<'a>,
    call: Call<'a>,
    method: Option<&'static Method>,
    way: Option<Direction>,
    reach: Reach,
    /// It could not be read as a whole.
    faulty: bool,
    /// It breaks a rule by itself: what follows from that is not told.
    blamed: bool,
}

/// What an answer was the answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settled {
    /// A request.
    Yes,
    /// None, and that was told where it had to be.
    No,
}

impl Conduct {
    pub(super) fn new(aids: &Aids) -> Self {
        Self {
            open: Open::with_room(aids.most_open),
            scopes: BTreeMap::new(),
            wires: BTreeMap::new(),
            answered: VecDeque::new(),
            strays: VecDeque::new(),
        }
    }

    fn scope(&mut self, reach: Reach) -> &mut Scope {
        if self.scopes.len() >= MOST_SCOPES && !self.scopes.contains_key(&reach) {
            let oldest = self.scopes.keys().find(|r| **r != Reach::Http).copied();
            oldest.and_then(|oldest| self.scopes.remove(&oldest));
        }
        self.scopes.entry(reach).or_default()
    }

    /// A message that says what it says, however it travels. `stream`: the execute whose event stream it is an event
    /// of, where that is known.
    fn said(
        &mut self,
        turn: &Turn<'_, '_>,
        stream: Option<Option<u64>>,
        report: &mut Report,
    ) -> Sent {
        let null = turn.call.id.is_some_and(|id| id.is_null());
        match turn.seen.message.role {
            Some(Role::Request | Role::Notification) if turn.faulty => Sent::Nothing,
            Some(Role::Request) if !null => {
                let within = self.asked_in(turn, stream, report);
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
            .or(turn.method.map(|m| m.asks))
            .unwrap_or(Direction::ToServer)
    }

    /// The runtime's part of the handshake.
    fn shakes(&mut self, turn: &Turn<'_, '_>, report: &mut Report) {
        let opens = turn.method.is_some_and(Method::opens);
        if Self::asker(turn) == Direction::ToServer && (opens || !turn.blamed) {
            let scope = self.scope(turn.reach);
            scope.shake(turn.seen, turn.method, report);
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
        stream: Option<Option<u64>>,
        report: &mut Report,
    ) -> Option<u64> {
        self.shakes(turn, report);
        if Self::asker(turn) == Direction::ToServer {
            return None;
        }
        let scope = self.scope(turn.reach);
        let mut running = scope.executes.keys().copied();
        let within = match stream {
            Some(execute) => execute.filter(|index| scope.executes.contains_key(index)),
            // Where several run, one pipe does not tell which of them asks.
            None => running.next().filter(|_| running.next().is_none()),
        };
        let outside = within.is_none() && (stream.is_some() || scope.executes.is_empty());
        if outside && !turn.blamed && !scope.has_lost(Direction::ToServer) {
            let what = turn.method.map_or("a request", |m| m.name);
            let text =
                format!("{what} is asked while no components/execute runs that could need it");
            report.broken("callback-outside-execute", turn.seen.whole(), text);
        }
        if let Some(callbacks) = within.and_then(|index| scope.executes.get_mut(&index)) {
            *callbacks = callbacks.saturating_add(1);
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
        if let Some((asked, want)) = self.open.get_mut(&key)
            && !want.excused
        {
            let text = format!(
                "the id {} is that of {}, which is not answered yet",
                shape::quote(id),
                asked.what()
            );
            report.broken_by("duplicate-id", seen.at(id), asked.place.index, text);
            want.doubled = true;
            if want.twins.len() < MOST_TWINS {
                want.twins.push(Asked::of(seen));
            }
            return Some(key);
        }
        let version = turn
            .call
            .params
            .filter(|_| turn.method.is_some_and(Method::opens));
        let want = Want {
            method: turn.method,
            version: version.and_then(protocol_version).and_then(|v| v.as_i128()),
            within,
            blamed: turn.blamed,
            excused: self.strays.contains(&key),
            ..Want::default()
        };
        if self.open.is_full() {
            self.open.ask(key, Asked::of(seen), want);
            return None;
        }
        let orderly = !want.blamed && matches!(turn.reach, Reach::Pipe(_));
        let executes = turn.method.is_some_and(Method::executes);
        let scope = self.scope(turn.reach);
        if executes && asker == Direction::ToServer {
            scope.executes.insert(seen.index, 0);
        }
        if let Some(order) = scope.order.get_mut(at(asker)).filter(|_| orderly) {
            order.insert(seen.index);
        }
        if let Some((asked, want)) = self.open.ask(key.clone(), Asked::of(seen), want) {
            self.forget(turn.reach, asker, &asked, &want);
        }
        Some(key)
    }

    /// An answer goes by. `exchange`: the request whose HTTP response it came in.
    fn answer(
        &mut self,
        turn: &Turn<'_, '_>,
        exchange: Option<&Key>,
        report: &mut Report,
    ) -> Settled {
        let id = turn.call.id;
        let askers: &[Direction] = match turn.way {
            Some(Direction::ToServer) => &[Direction::ToClient],
            Some(Direction::ToClient) => &[Direction::ToServer],
            None => &[Direction::ToServer, Direction::ToClient],
        };
        let keys = askers
            .iter()
            .filter_map(|asker| Key::of(turn.reach, *asker, id?));
        let keys: Vec<Key> = keys.collect();
        let (Some(id), Some(first)) = (id, keys.first()) else {
            // Without an id the exchange still tells.
            return exchange.map_or(Settled::No, |key| self.settle(key, turn, report));
        };
        if let Some(key) = keys.iter().find(|key| self.open.get(key).is_some()) {
            if let Some(posted) = exchange.filter(|posted| *posted != key) {
                self.wrong_answer(turn, posted, report);
            }
            return self.settle(key, turn, report);
        }
        let retyped = keys.iter().filter_map(Key::retyped);
        if let Some(key) = retyped.into_iter().find(|key| self.open.get(key).is_some()) {
            if let Some((asked, _)) = self.open.get(&key) {
                let text = format!(
                    "the id {} is {}; the request's is {}",
                    shape::quote(id),
                    id.describe(),
                    short(&asked.id)
                );
                report.broken_by("id-type-changed", turn.seen.at(id), asked.place.index, text);
            }
            return self.settle(&key, turn, report);
        }
        if turn.faulty {
            return exchange.map_or(Settled::No, |key| self.settle(key, turn, report));
        }
        if let Some(posted) = exchange.filter(|posted| self.open.get(posted).is_some()) {
            self.wrong_answer(turn, posted, report);
            return Settled::No;
        }
        self.orphan(turn, first, report);
        Settled::No
    }

    /// An HTTP response with the answer to another request than the posted one.
    fn wrong_answer(&self, turn: &Turn<'_, '_>, posted: &Key, report: &mut Report) {
        let (Some(id), Some((asked, _))) = (turn.call.id, self.open.get(posted)) else {
            return;
        };
        let text = format!(
            "the response is to {}, whose id is {}; the answer's is {}",
            asked.what(),
            short(&asked.id),
            shape::quote(id)
        );
        report.broken_by("wrong-answer", turn.seen.at(id), asked.place.index, text);
    }

    /// An answer to nothing.
    fn orphan(&mut self, turn: &Turn<'_, '_>, key: &Key, report: &mut Report) {
        let Some(id) = turn.call.id else {
            return;
        };
        let scope = self.scope(turn.reach);
        // What was asked may not have been seen.
        if scope.has_lost(key.asker) || self.open.refused() > 0 {
            return;
        }
        let shown = shape::quote(id);
        if self.answered.contains(key) {
            let text = format!("the request with the id {shown} was answered before");
            report.broken("answered-twice", turn.seen.at(id), text);
            return;
        }
        let text = match self.open.get(&key.turned()) {
            Some((asked, _)) => format!(
                "the id {shown} is that of {}, #{}, which the same side asked",
                asked.what(),
                asked.place.index
            ),
            None => format!("no open request has the id {shown}"),
        };
        report.broken("orphan", turn.seen.at(id), text);
        remember(&mut self.strays, key.clone());
    }

    /// A request is answered.
    fn settle(&mut self, key: &Key, turn: &Turn<'_, '_>, report: &mut Report) -> Settled {
        let seen = turn.seen;
        let Some((asked, want)) = self.open.get_mut(key) else {
            return Settled::No;
        };
        if !want.twins.is_empty() {
            let next = want.twins.remove(0);
            let first = std::mem::replace(asked, next);
            report.answers(&first, seen, true);
            return Settled::Yes;
        }
        let Some((asked, want)) = self.open.close(key) else {
            return Settled::No;
        };
        report.answers(&asked, seen, true);
        let index = asked.place.index;
        let well = seen.message.role == Some(Role::Response);
        self.overtakes(key, index, seen, report);
        let waits = self.forget(key.reach, key.asker, &asked, &want);
        if waits > 0 {
            self.leaves_callbacks(key.reach, index, seen, report);
        }
        if let Some(method) = want.method {
            let scope = self.scope(key.reach);
            if method.opens() {
                scope.opened(index, seen, well);
                if well && !turn.blamed {
                    scope.release(seen, method, &turn.call, report);
                    versions(turn, index, want.version, report);
                }
            }
            if !turn.faulty {
                shape::result(seen, &turn.call, method, report);
            }
        }
        remember(&mut self.answered, key.clone());
        Settled::Yes
    }

    /// An answer in one pipe that comes before those to older requests; each of those is told of once.
    fn overtakes(&mut self, key: &Key, index: u64, seen: &Seen<'_>, report: &mut Report) {
        let scope = self.scope(key.reach);
        let Some(order) = scope.order.get_mut(at(key.asker)) else {
            return;
        };
        if order.remove(&index)
            && let Some(first) = order.first().copied().filter(|first| *first < index)
        {
            *order = order.split_off(&index);
            let text = format!("#{index} is answered before #{first}, which was asked earlier");
            report.broken_by("out-of-order", seen.whole(), first, text);
        }
    }

    /// An execute is answered, but not what was asked in it.
    fn leaves_callbacks(&self, reach: Reach, execute: u64, seen: &Seen<'_>, report: &mut Report) {
        let open = self.open.sorted().into_iter();
        let mut left = open.filter(|(k, _, w)| k.reach == reach && w.within == Some(execute));
        if let Some((_, asked, _)) = left.next() {
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

    /// Drops what is remembered of a request that is open no more; how many callbacks an execute waited for.
    fn forget(&mut self, reach: Reach, asker: Direction, asked: &Asked, want: &Want) -> u32 {
        let index = asked.place.index;
        let scope = self.scope(reach);
        if let Some(order) = scope.order.get_mut(at(asker)) {
            order.remove(&index);
        }
        if let Some(callbacks) = want.within.and_then(|w| scope.executes.get_mut(&w)) {
            *callbacks = callbacks.saturating_sub(1);
        }
        scope.executes.remove(&index).unwrap_or(0)
    }

    /// What the line itself shows.
    fn line(seen: &Seen<'_>, way: Option<Direction>, report: &mut Report) {
        let frame = seen.frame;
        if frame.framing != Framing::Lines {
            return;
        }
        let body = frame.view.body;
        let len = u64::from(body.len);
        if frame.len > len && body.len > 0 {
            let text = "the line ends in CR LF; LF alone is enough";
            report.broken("crlf", seen.whole(), text);
        }
        let answer = matches!(seen.message.role, Some(Role::Response | Role::Error));
        if len <= SHORT_LINE || frame.fault.is_some() {
            return;
        }
        match way {
            Some(Direction::ToServer) => {
                let who = if len > LONG_LINE {
                    "no server reads more than 524288"
                } else {
                    "servers of 0.2 and 0.3 read no more than 65536"
                };
                let text = format!("the line has {len} bytes; {who}");
                report.broken("long-line", seen.whole(), text);
            }
            Some(Direction::ToClient) if answer => {
                let text = format!(
                    "the answer has {len} bytes; a server's pipe takes 65536 and drops the rest"
                );
                report.broken("long-answer", seen.whole(), text);
            }
            _ => {}
        }
    }
}

/// The version that an `initialize` or its result names.
fn protocol_version(node: crate::tape::Node<'_>) -> Option<crate::tape::Node<'_>> {
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

fn remember(past: &mut VecDeque<Key>, key: Key) {
    if past.len() >= MOST_PAST {
        past.pop_front();
    }
    past.push_back(key);
}

impl Session for Conduct {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        let faulty = !report.broken.is_empty() || !seen.message.valid || seen.frame.fault.is_some();
        let http = match seen.frame.head {
            Head::Http { status, event, .. } => Some((status, event)),
            _ => None,
        };
        // Over HTTP the start line tells who speaks.
        let way = seen.origin.direction.or(http.map(|(status, event)| {
            if status == 0 && !event {
                Direction::ToServer
            } else {
                Direction::ToClient
            }
        }));
        let root = seen.root();
        let call = root.map(Call::of).unwrap_or_default();
        let method = match root {
            Some(root) if !faulty => shape::check(seen, root, &call, way, report),
            _ => None,
        };
        let turn = Turn {
            seen,
            call,
            method,
            way,
            reach: Reach::of(http.is_some(), seen.origin),
            faulty,
            blamed: !report.broken.is_empty(),
        };
        match http {
            Some((_, true)) => self.streamed(&turn, report),
            Some((0, false)) => self.posted(&turn, report),
            Some((status, false)) => self.responded(&turn, status, report),
            None => {
                self.said(&turn, None, report);
                Self::line(seen, way, report);
            }
        }
    }

    fn happened(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        match what {
            Happened::Opened => {
                self.wires.remove(&origin.conn);
            }
            Happened::Lost => self.lost(origin),
            Happened::Ended if origin.direction == Some(Direction::ToServer) => {}
            Happened::Ended | Happened::Closed | Happened::Reset | Happened::Exited => {
                self.wire_ends(origin, what, report);
                if what != Happened::Ended
                    && let Some(scope) = self.scopes.get_mut(&Reach::Pipe(origin.conn))
                {
                    scope.ended = true;
                }
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        for (key, asked, want) in self.open.sorted() {
            let scope = self.scopes.get(&key.reach);
            let index = asked.place.index;
            // An execute that waits for a callback is not what is at fault.
            let waits = scope.is_some_and(|s| s.executes.get(&index).is_some_and(|n| *n > 0));
            if waits || !want.is_owed() {
                continue;
            }
            let rule = match want.method {
                Some(method) if method.opens() => "initialize-unanswered",
                _ => "unanswered",
            };
            let text = format!("{} ({}) is never answered", asked.what(), short(&asked.id));
            report.broken(rule, asked.place, text);
        }
    }

    fn waiting(&self) -> Vec<Waiting> {
        let open = self.open.sorted();
        let mut all = Vec::with_capacity(open.len());
        for (key, asked, want) in &open {
            let over = self.scopes.get(&key.reach).is_some_and(|s| s.ended);
            let why = if over {
                Some("the connection is over".to_owned())
            } else if want.method.is_some_and(Method::opens) {
                Some("nothing may be asked before initialize is answered".to_owned())
            } else if want.method.is_some_and(Method::executes) {
                self.callback_of(key, asked.place.index, &open)
            } else {
                None
            };
            all.push(asked.waiting(why));
        }
        for scope in self.scopes.values() {
            if let Handshake::Answered(place) = scope.handshake {
                all.push(Waiting {
                    place,
                    what: "the runtime, for initialized".into(),
                    id: String::new(),
                    owes: Some(Direction::ToServer),
                    why: Some("initialize is answered; a server may refuse all else".into()),
                });
            }
        }
        all.sort_by_key(|w| w.place.index);
        all
    }

    fn refused(&self) -> u64 {
        self.open.refused()
    }
}

impl Conduct {
    /// Why an execute waits: a callback that it made, or may have made, is not answered.
    fn callback_of(
        &self,
        key: &Key,
        execute: u64,
        open: &[(&Key, &Asked, &Want)],
    ) -> Option<String> {
        let callbacks = open.iter().filter(|(k, asked, _)| {
            k.reach == key.reach && k.asker != key.asker && asked.place.index > execute
        });
        // Over HTTP the event stream tells whose it is; where several executes share a pipe, nothing does.
        let may = key.reach != Reach::Http;
        let mut mine = callbacks.filter(|(_, _, want)| match want.within {
            Some(within) => within == execute,
            None => may,
        });
        let (_, asked, want) = mine.next()?;
        let whose = if want.within.is_some() {
            ""
        } else {
            ", perhaps its own"
        };
        Some(format!(
            "callback unanswered inside an execute: {} ({}){whose}",
            asked.what(),
            short(&asked.id)
        ))
    }
}

#[cfg(test)]
mod tests;
