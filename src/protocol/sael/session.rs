//! The session of a sael conversation.
//!
//! ```text
//!   connection   (new) -- HEY -->  greeting  -- HEY -->  open  -- BYE, end -->  over
//!                      -- RSM -->  replay*   -- HEY -->  open
//!                                            -- ERR -->  refused
//!
//!   call         INV, LST -->  open  -- RES, END, ERR, LST -->  done
//!                               STR*   '-- CAN -->  cancelled: an answer is allowed, but not required
//!   subscription SUB      -->  open  -- RES -->  live  -- UNS -->  done
//!                                                EVT*
//! ```
//!
//! Requests belong to a session, not to a connection. A connection has its own session until HEY names it; RSM moves
//! the named session to another connection. So a request on one connection may be answered on the next.

mod answers;
mod bearer_token;
mod calls;
mod ends;
mod envelope;
mod heartbeats;
mod login;
mod pipeline;
mod state;
mod tools;
mod upgrade;

use crate::protocol::exchange::{Exchange, Ids, Key, OpenRequest};
use crate::protocol::rule_names::sael as rule;
use crate::protocol::sael::schema::{self, KindForms};
use crate::protocol::session::memory::{ConnId, Connections, RecentEntries};
use crate::protocol::session::text::short;
use crate::protocol::session::{
    ConnectionChange, Current, Need, Report, Seen, Session, SessionConfig, Waiting, broken,
};
use crate::protocol::{Direction, Origin, Role};
use crate::tape::Node;
use ends::{LeftOpen, OVER};
use envelope::Seq;
use foldhash::HashMap;
use state::{ENDED, EndedCall, Opening, SaelCall, SaelConnection, SessionState};
use std::collections::VecDeque;
use std::ops::Deref;
use tools::Tools;

/// A session and a seq: all requests are of the client.
type CallKey = Key<u32, i128>;

/// The state of the conversation.
pub(super) struct SaelSession {
    secret: Option<Vec<u8>>,
    connect: Option<String>,
    conns: Connections<SaelConnection>,
    states: HashMap<u32, Box<SessionState>>,
    /// Sessions by the name that HEY gave them.
    named: HashMap<Box<str>, u32>,
    /// Sessions whose connection has ended, the oldest first. One that was resumed may still be listed.
    disconnected: VecDeque<u32>,
    /// What the clients of sessions that may be resumed left open.
    left_open: HashMap<u32, Vec<LeftOpen>>,
    calls: Exchange<u32, i128, SaelCall, EndedCall>,
    /// Calls by the trace and the span that they name; `None` if several have them.
    spans: RecentEntries<(Box<str>, Box<str>), Option<u64>>,
    tools: Tools,
    session_count: u32,
}

/// A valid message with the values that every rule needs.
#[derive(Clone, Copy)]
struct SaelMessage<'s, 'a> {
    seen: Current<'s, 'a>,
    root: Option<Node<'a>>,
    kind: &'s str,
    forms: KindForms,
    seq: Seq<'a>,
    conn: ConnId,
    /// The direction; if it is unknown, the side that such a message must come from.
    side: Option<Direction>,
    /// The message has the header form.
    header: bool,
}

impl<'s, 'a> Deref for SaelMessage<'s, 'a> {
    type Target = Current<'s, 'a>;

    fn deref(&self) -> &Current<'s, 'a> {
        &self.seen
    }
}

impl<'a> SaelMessage<'_, 'a> {
    fn get(&self, key: &str) -> Option<Node<'a>> {
        self.root.and_then(|root| root.get(key))
    }

    fn text(&self, key: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.get(key).and_then(Node::text)
    }

    fn time(&self) -> Option<i64> {
        self.seen.origin.time
    }
}

impl SaelSession {
    pub(super) fn new(config: &SessionConfig) -> Self {
        Self {
            secret: config.secret.clone().filter(|secret| !secret.is_empty()),
            connect: config.connect.clone(),
            conns: Connections::with_capacity(config.max_open, OVER),
            states: HashMap::default(),
            named: HashMap::default(),
            disconnected: VecDeque::new(),
            left_open: HashMap::default(),
            calls: Exchange::new(Ids::Once, config.max_open, ENDED),
            spans: RecentEntries::default(),
            tools: Tools::default(),
            session_count: 0,
        }
    }

    /// Returns a connection and its session.
    fn parts(&mut self, id: ConnId) -> (&mut SaelConnection, &mut SessionState) {
        let (conns, session_count) = (&mut self.conns, &mut self.session_count);
        let conn = conns.entry(id, || {
            *session_count = session_count.wrapping_add(1);
            SaelConnection::new(*session_count)
        });
        let state = self.states.entry(conn.session);
        (
            conn,
            state.or_insert_with(|| Box::new(SessionState::of(id))),
        )
    }

    /// Assigns a new session to a connection.
    fn assign_new_session(&mut self, id: ConnId) {
        self.session_count = self.session_count.wrapping_add(1);
        let fresh = self.session_count;
        let before = std::mem::replace(&mut self.parts(id).0.session, fresh);
        self.disconnected.push_back(before);
    }

    /// Handles a control message: the upgrade, a close.
    fn control(&mut self, message: &SaelMessage<'_, '_>) {
        let by = Some(message.index);
        match (message.kind, message.side) {
            ("http-request" | "http-response", _) => {
                let (conn, _) = self.parts(message.conn);
                upgrade::head(message, conn);
            }
            ("close", Some(Direction::ToServer)) => {
                self.client_ended(message.conn, by, &mut message.report());
            }
            ("close", Some(Direction::ToClient)) => {
                self.server_ended(message.conn, &mut message.report());
            }
            _ => {}
        }
    }

    /// Handles a message that is not a control message and has no fault.
    fn handle_message(&mut self, message: &SaelMessage<'_, '_>) {
        if self.conns.is_full(message.conn) {
            let gone = self.conns.evict();
            self.disconnected.extend(gone.map(|conn| conn.session));
        }
        let (conn, _) = self.parts(message.conn);
        heartbeats::tick(message, conn);
        login::first(message, conn);
        if !envelope::check(message, conn) {
            return;
        }
        match message.side {
            Some(Direction::ToServer) => self.client_message(message),
            Some(Direction::ToClient) => self.server_message(message),
            None => {}
        }
    }

    fn client_message(&mut self, message: &SaelMessage<'_, '_>) {
        let (conn, _) = self.parts(message.conn);
        conn.beat_last = message.kind == "HBT";
        match message.kind {
            "HEY" => self.client_hey(message),
            "RSM" => self.resume(message),
            "LST" | "INV" | "SUB" => self.request(message),
            "UNS" | "CAN" => self.cancel(message),
            "ACK" => {
                conn.rare.odd = Some(message.seq.key);
                broken!(message, rule::ACK_UNDEFINED, message.whole();
                    "no peer knows ACK; the server answers ERR UNKNOWN_KIND");
            }
            "HBT" => heartbeats::sent(message, conn),
            "BYE" => {
                conn.rare.bye[0] = Some(message.index);
                self.client_ended(message.conn, Some(message.index), &mut message.report());
            }
            _ => {}
        }
    }

    fn server_message(&mut self, message: &SaelMessage<'_, '_>) {
        let (conn, state) = self.parts(message.conn);
        // Replayed frames are stored again.
        state.send(message.seq.key);
        match message.kind {
            "HEY" => self.server_hey(message),
            "WIN" => calls::window(message, state),
            "HBA" => heartbeats::answered(message, conn),
            "BYE" => {
                conn.rare.bye[1] = Some(message.index);
                self.server_ended(message.conn, &mut message.report());
            }
            "ERR" => self.error(message),
            _ => self.answer(message),
        }
        let answered = message.report().answer.as_ref().map(|answer| answer.to);
        let (conn, _) = self.parts(message.conn);
        conn.read_up_to = conn.read_up_to.max(answered);
    }

    /// Handles a message with a fault: it is matched, but no rule is judged.
    fn handle_partial(&mut self, message: &SaelMessage<'_, '_>) {
        let mut quiet = Report::default();
        Current::handle(&message.seen, &mut quiet, |seen| {
            self.match_only(&SaelMessage { seen, ..*message });
        });
        message.report().answer = quiet.answer;
    }

    fn match_only(&mut self, message: &SaelMessage<'_, '_>) {
        let (conn, _) = self.parts(message.conn);
        match message.side {
            Some(Direction::ToServer) => {
                if conn.opening == Opening::Nothing {
                    conn.opening = Opening::Unclear;
                }
                conn.beat_last = false;
                if matches!(message.kind, "LST" | "INV" | "SUB") && message.get("seq").is_some() {
                    self.request(message);
                    let key = Key::one_way(self.parts(message.conn).0.session, message.seq.key);
                    self.release(key);
                }
            }
            Some(Direction::ToClient) => {
                conn.answered = true;
                if matches!(message.kind, "LST" | "RES" | "STR" | "END" | "EVT") {
                    self.answer(message);
                }
            }
            None => {}
        }
    }

    /// Handles a message.
    fn handle(&mut self, seen: Current<'_, '_>) {
        let root = seen.root().filter(|root| root.is_map());
        let mut message = SaelMessage {
            seen,
            root,
            kind: seen.message.kind.as_ref(),
            forms: schema::forms(&seen.message.kind),
            seq: envelope::seq(root),
            conn: seen.origin.conn,
            side: seen.origin.direction,
            header: seen.message.dialect.is_some(),
        };
        if seen.message.role == Some(Role::Control) {
            return self.control(&message);
        }
        if message.kind == "skipped" {
            return;
        }
        if message.side.is_none() {
            message.side = envelope::sender(&message);
        }
        let faulty = !seen.message.faults.is_empty() || seen.frame.fault.is_some();
        if faulty || !seen.message.valid {
            self.handle_partial(&message);
        } else {
            self.handle_message(&message);
        }
    }
}

impl Session for SaelSession {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        Current::handle(seen, report, |seen| self.handle(seen));
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        let id = origin.conn;
        match what {
            ConnectionChange::Opened => {
                // A number that is used again belongs to another connection.
                if self.conns.has_ended(id) {
                    self.conns.remove(id);
                }
                self.parts(id).0.has_start = true;
            }
            ConnectionChange::Lost => self.parts(id).0.opening = Opening::Unclear,
            ConnectionChange::Ended => match origin.direction {
                Some(Direction::ToServer) => self.client_ended(id, None, report),
                Some(Direction::ToClient) => self.server_ended(id, report),
                None => {}
            },
            ConnectionChange::Closed | ConnectionChange::Reset | ConnectionChange::Exited => {
                let has_ended = self.conns.has_ended(id);
                if let Some(now) = origin.time.filter(|_| !has_ended) {
                    heartbeats::over(self.parts(id).0, now, report);
                }
                // The side that resets a connection is not known: the client is not blamed.
                if what != ConnectionChange::Closed {
                    self.server_ended(id, report);
                }
                self.client_ended(id, None, report);
                self.server_ended(id, report);
                self.end_connection(id, report);
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        self.report_unanswered(None, report);
        for conn in self.conns.values_mut() {
            login::report_unanswered_hello(conn, report);
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting)) {
        for conn in self.conns.values() {
            if let Some(hello) = &conn.login.hello {
                visit(hello.waiting(None));
            }
            let open = conn.alive.heartbeats.open();
            open.for_each(|asked| visit(asked.waiting(None)));
        }
        for (key, asked, call) in self.calls.open.sorted() {
            if call.needs_answer() {
                let state = self.states.get(&key.scope);
                visit(asked.waiting(state.and_then(|state| state.window_full())));
            }
        }
    }

    fn client(&self, conn: ConnId) -> Option<&str> {
        let session = self.conns.get(conn)?.session;
        self.states.get(&session)?.terms.client.as_deref()
    }

    fn is_open(&self, index: u64) -> bool {
        let mut conns = self.conns.values();
        let is_it = |asked: &OpenRequest| asked.index() == index;
        self.calls
            .open
            .at(index)
            .is_some_and(|(_, _, call)| call.needs_answer())
            || conns.any(|conn| {
                let mut beats = conn.alive.heartbeats.open();
                conn.login.hello.as_ref().is_some_and(is_it) || beats.any(is_it)
            })
    }

    fn has(&self, need: Need) -> bool {
        match need {
            Need::Secret => self.secret.is_some(),
            Need::Connection => self.connect.is_some(),
            _ => false,
        }
    }

    fn untracked(&self) -> u64 {
        self.calls.open.untracked()
    }
}

#[cfg(test)]
mod tests;
