//! A sael conversation, over time.
//!
//! ```text
//!   connection   (new) -- HEY -->  greeting  -- HEY -->  open  -- BYE, end -->  over
//!                      -- RSM -->  replay*   -- HEY -->  open
//!                                            -- ERR -->  refused
//!
//!   call         INV, LST -->  open  -- RES, END, ERR, LST -->  done
//!                               STR*   '-- CAN -->  cancelled: an answer may come, none is owed
//!   subscription SUB      -->  open  -- RES -->  live  -- UNS -->  done
//!                                                EVT*
//! ```
//!
//! Requests belong to a session, not to a connection: until HEY names it, a connection has a session of its own, and RSM
//! brings the one that it names to another connection. So what is asked on one may be answered on the next.

mod answers;
mod bearer;
mod calls;
mod ends;
mod envelope;
mod heartbeats;
mod login;
mod pipeline;
mod state;
mod tools;
mod upgrade;

use crate::protocol::correlation::{Open, Scoped};
use crate::protocol::session::memory::{ConnId, Connections, Recent};
use crate::protocol::session::text::short;
use crate::protocol::session::{
    Happened, Need, Place, Report, Seen, Session, SessionConfig, Waiting,
};
use crate::protocol::{Direction, Origin, Role};
use crate::tape::Node;
use ends::OVER;
use state::{Call, Conn, ENDED, Ended, Opening, State};
use std::collections::{HashMap, VecDeque};
use tools::Tools;

/// A session and a seq.
type Key = (u32, i128);

impl Scoped for Key {
    type Scope = u32;

    fn scope(&self) -> Self::Scope {
        self.0
    }
}

/// What was said so far.
pub(super) struct Conduct {
    secret: Option<Vec<u8>>,
    connect: Option<String>,
    conns: Connections<Conn>,
    states: HashMap<u32, State>,
    /// Sessions by the name that HEY gave them.
    named: HashMap<Box<str>, u32>,
    /// Sessions whose connection is over, from the oldest; one that was taken up again may still be here.
    resting: VecDeque<u32>,
    calls: Open<Key, Call>,
    ended: Recent<Key, Ended>,
    tools: Tools,
    minted: u32,
}

/// A message that a protocol rule can speak of, and what every rule asks of it.
#[derive(Clone, Copy)]
struct Turn<'s, 'a> {
    seen: &'s Seen<'a>,
    root: Option<Node<'a>>,
    kind: &'s str,
    conn: ConnId,
    /// From its direction, else from what only one side says.
    side: Option<Direction>,
    /// Written in the header form.
    header: bool,
}

impl<'a> Turn<'_, 'a> {
    fn get(&self, key: &str) -> Option<Node<'a>> {
        self.root.and_then(|root| root.get(key))
    }

    fn text(&self, key: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.get(key).and_then(Node::text)
    }

    /// The place of a value where there is one, else of the whole frame.
    fn place(&self, node: Option<Node<'_>>) -> Place {
        node.map_or_else(|| self.seen.whole(), |node| self.seen.at(node))
    }

    fn time(&self) -> Option<i64> {
        self.seen.origin.time
    }
}

impl Conduct {
    pub(super) fn new(config: &SessionConfig) -> Self {
        Self {
            secret: config.secret.clone().filter(|secret| !secret.is_empty()),
            connect: config.connect.clone(),
            conns: Connections::with_room(config.most_open, OVER),
            states: HashMap::new(),
            named: HashMap::new(),
            resting: VecDeque::new(),
            calls: Open::with_room(config.most_open),
            ended: Recent::with_room(ENDED),
            tools: Tools::default(),
            minted: 0,
        }
    }

    /// A connection and its session.
    fn parts(&mut self, id: ConnId) -> (&mut Conn, &mut State) {
        let (conns, minted) = (&mut self.conns, &mut self.minted);
        let conn = conns.entry(id, || {
            *minted = minted.wrapping_add(1);
            Conn::new(*minted)
        });
        let state = self.states.entry(conn.session);
        (conn, state.or_insert_with(|| State::of(id)))
    }

    /// Gives a connection a session that nothing was said in.
    fn anew(&mut self, id: ConnId) {
        self.minted = self.minted.wrapping_add(1);
        let fresh = self.minted;
        let before = std::mem::replace(&mut self.parts(id).0.session, fresh);
        self.resting.push_back(before);
    }

    /// A control message: the upgrade, a close.
    fn control(&mut self, turn: Turn<'_, '_>, report: &mut Report) {
        let by = Some(turn.seen.index);
        match (turn.kind, turn.side) {
            ("http-request" | "http-response", _) => {
                let (conn, _) = self.parts(turn.conn);
                upgrade::head(turn, conn, report);
            }
            ("close", Some(Direction::ToServer)) => self.client_leaves(turn.conn, by, report),
            ("close", Some(Direction::ToClient)) => self.server_leaves(turn.conn, report),
            _ => {}
        }
    }

    /// A message that is no control message and has no fault.
    fn hear(&mut self, turn: Turn<'_, '_>, report: &mut Report) {
        if self.conns.is_full(turn.conn) {
            let gone = self.conns.evict();
            self.resting.extend(gone.map(|conn| conn.session));
        }
        let (conn, _) = self.parts(turn.conn);
        heartbeats::tick(turn, conn, report);
        login::first(turn, conn, report);
        if !envelope::check(turn, conn, report) {
            return;
        }
        match turn.side {
            Some(Direction::ToServer) => self.client_says(turn, report),
            Some(Direction::ToClient) => self.server_says(turn, report),
            None => {}
        }
    }

    fn client_says(&mut self, turn: Turn<'_, '_>, report: &mut Report) {
        let (conn, _) = self.parts(turn.conn);
        conn.beat_last = turn.kind == "HBT";
        match turn.kind {
            "HEY" => self.client_hey(turn, report),
            "RSM" => self.resume(turn, report),
            "LST" | "INV" | "SUB" => self.request(turn, report),
            "UNS" | "CAN" => self.cancel(turn, report),
            "ACK" => {
                conn.odd = Some(envelope::seq(turn).key);
                let text = "no peer knows ACK; the server answers ERR UNKNOWN_KIND";
                report.broken("ack-undefined", turn.seen.whole(), text);
            }
            "HBT" => heartbeats::sent(turn, conn, report),
            "BYE" => {
                conn.bye[0] = Some(turn.seen.index);
                self.client_leaves(turn.conn, Some(turn.seen.index), report);
            }
            _ => {}
        }
    }

    fn server_says(&mut self, turn: Turn<'_, '_>, report: &mut Report) {
        let (conn, state) = self.parts(turn.conn);
        // What is replayed is kept anew.
        state.send(envelope::seq(turn).key);
        match turn.kind {
            "HEY" => self.server_hey(turn, report),
            "WIN" => calls::window(turn, state),
            "HBA" => heartbeats::answered(turn, conn, report),
            "BYE" => {
                conn.bye[1] = Some(turn.seen.index);
                self.server_leaves(turn.conn, report);
            }
            "ERR" => self.error(turn, report),
            _ => self.answer(turn, report),
        }
    }

    /// A message that was only half understood: it pairs, and no rule is judged.
    fn half(&mut self, turn: Turn<'_, '_>, report: &mut Report) {
        let (conn, _) = self.parts(turn.conn);
        let mut quiet = Report::default();
        match turn.side {
            Some(Direction::ToServer) => {
                if conn.opening == Opening::Nothing {
                    conn.opening = Opening::Unclear;
                }
                conn.beat_last = false;
                if matches!(turn.kind, "LST" | "INV" | "SUB") && turn.get("seq").is_some() {
                    self.request(turn, &mut quiet);
                    let key = (self.parts(turn.conn).0.session, envelope::seq(turn).key);
                    self.release(key);
                }
            }
            Some(Direction::ToClient) => {
                conn.answered = true;
                if matches!(turn.kind, "LST" | "RES" | "STR" | "END" | "EVT") {
                    self.answer(turn, &mut quiet);
                }
            }
            None => {}
        }
        report.answer = quiet.answer;
    }
}

impl Session for Conduct {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        let message = seen.message;
        let root = seen.root().filter(|root| root.is_map());
        let mut turn = Turn {
            seen,
            root,
            kind: message.kind.as_ref(),
            conn: seen.origin.conn,
            side: seen.origin.direction,
            header: message.dialect.is_some(),
        };
        if message.role == Some(Role::Control) {
            return self.control(turn, report);
        }
        if turn.kind == "skipped" {
            return;
        }
        if turn.side.is_none() {
            turn.side = envelope::speaker(turn);
        }
        let faulty = !message.faults.is_empty() || seen.frame.fault.is_some();
        if faulty || !message.valid {
            self.half(turn, report);
        } else {
            self.hear(turn, report);
        }
    }

    fn happened(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        let id = origin.conn;
        match what {
            Happened::Opened => {
                // A number that is used again is another connection.
                if self.conns.has_ended(id) {
                    self.conns.remove(id);
                }
                self.parts(id).0.begun = true;
            }
            Happened::Lost => self.parts(id).0.opening = Opening::Unclear,
            Happened::Ended => match origin.direction {
                Some(Direction::ToServer) => self.client_leaves(id, None, report),
                Some(Direction::ToClient) => self.server_leaves(id, report),
                None => {}
            },
            Happened::Closed | Happened::Reset | Happened::Exited => {
                let has_ended = self.conns.has_ended(id);
                if let Some(now) = origin.time.filter(|_| !has_ended) {
                    heartbeats::over(self.parts(id).0, now, report);
                }
                // Who cuts a connection is not known: no client is blamed for it.
                if what != Happened::Closed {
                    self.server_leaves(id, report);
                }
                self.client_leaves(id, None, report);
                self.server_leaves(id, report);
                self.part(id, report);
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.settle(None, report);
        for conn in self.conns.values_mut() {
            login::unheard(conn, report);
        }
    }

    fn waiting(&self) -> Vec<Waiting> {
        let mut all = Vec::new();
        for conn in self.conns.values() {
            if let Some(hello) = &conn.hello {
                all.push(hello.waiting(None));
            }
            all.extend(conn.heartbeats.open().map(|asked| asked.waiting(None)));
        }
        for ((session, _), asked, call) in self.calls.sorted() {
            if call.owed() {
                let state = self.states.get(session);
                all.push(asked.waiting(state.and_then(State::full)));
            }
        }
        all.sort_by_key(|waiting| waiting.place.index);
        all
    }

    fn is_open(&self, index: u64) -> bool {
        let mut conns = self.conns.values();
        let is_it = |asked: &crate::protocol::correlation::Asked| asked.place.index == index;
        self.calls.at(index).is_some_and(|(_, _, call)| call.owed())
            || conns.any(|conn| {
                let mut beats = conn.heartbeats.open();
                conn.hello.as_ref().is_some_and(is_it) || beats.any(is_it)
            })
    }

    fn has(&self, need: Need) -> bool {
        match need {
            Need::Secret => self.secret.is_some(),
            Need::Connection => self.connect.is_some(),
            _ => false,
        }
    }

    fn refused(&self) -> u64 {
        self.calls.refused()
    }
}

#[cfg(test)]
mod tests;
