//! The client: it opens the session and sends heartbeats.

use super::sessions::WINDOW;
use super::{NAME, SECOND, SUPPORTS, frame, in_call, seq, shorten};
use crate::error::Result;
use crate::protocol::Role;
use crate::protocol::make::{Object, text};
use crate::protocol::peer::{
    HandshakeStage, MAX_ENTRIES, Outgoing, Peer, PeerConfig, PeerReply, Readiness, RecentEntries,
    Request,
};
use crate::protocol::session::Seen;
use crate::tape::Node;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The time between heartbeats of the client.
const BEAT: i64 = 30 * SECOND;
/// The largest number of stored sessions without a connection.
const LOST: usize = 1 << 4;
/// Errors that end a session.
const FATAL: [&str; 4] = [
    "AUTH_INVALID",
    "AUTH_EXPIRED",
    "SESSION_EXPIRED",
    "UNSUPPORTED_VERSION",
];

#[derive(Debug, Default)]
struct ClientConnection {
    stage: HandshakeStage,
    session: Option<String>,
    /// The highest seq of the server.
    last_seq: i128,
    /// The time of the next heartbeat.
    beat: i64,
    /// Open calls by seq; true for a subscription.
    open: BTreeMap<i128, bool>,
    /// Calls that were cancelled before the close, and are not answered yet.
    ending: BTreeSet<i128>,
    /// Requests that count against the window; a subscription counts only until it is granted.
    outstanding: BTreeSet<i128>,
    /// The window, if the server has sent it.
    window: Option<i128>,
}

pub(super) struct SaelClient {
    name: Option<String>,
    token: Option<String>,
    no_hello: bool,
    conns: RecentEntries<u32, ClientConnection>,
    /// Sessions that lost their connection, and the last seq received in each.
    lost: RecentEntries<String, i128>,
}

impl SaelClient {
    pub(super) fn new(config: &PeerConfig) -> Self {
        Self {
            name: config.name.clone(),
            token: config.token.clone(),
            no_hello: config.no_hello,
            conns: RecentEntries::with_capacity(MAX_ENTRIES),
            lost: RecentEntries::with_capacity(LOST),
        }
    }

    fn hello(&self) -> String {
        let agent = Object::default().text("id", self.name.as_deref().unwrap_or(NAME));
        let agent = agent.text("kind", "agent").finish();
        let auth = self.token.as_deref().map(|token| {
            let auth = Object::default().text("type", "bearer");
            auth.text("token", token).finish()
        });
        let hello = frame(1, "HEY").json("agent", &agent);
        let hello = hello.json("supports", SUPPORTS).optional("auth", auth);
        hello.finish()
    }
}

impl Peer for SaelClient {
    fn opened(&mut self, conn: u32, _: i64, outgoing: &mut Vec<Outgoing>) {
        self.conns.insert(conn, ClientConnection::default());
        if self.no_hello {
            return;
        }
        let before = self.lost.iter().next();
        let first = match before.map(|(session, last)| (session.clone(), *last)) {
            Some((session, last)) => {
                self.lost.remove(&session);
                let resume = frame(1, "RSM").text("session_id", &session);
                resume.json("last_seq_received", &last.to_string()).finish()
            }
            None => self.hello(),
        };
        outgoing.push(Outgoing::new(conn, first));
    }

    fn received(&mut self, seen: &Seen<'_>, now: i64, _: &mut Vec<Outgoing>) {
        let (message, root) = (seen.message, seen.root());
        let conn = self.conns.entry(seen.origin.conn.unwrap_or_default());
        let member = |name: &str| root.and_then(|root| root.get(name));
        let seq = root.and_then(seq);
        conn.last_seq = conn.last_seq.max(seq.unwrap_or_default());
        if let Some(seq) = seq.filter(|_| !matches!(message.role, Some(Role::Item))) {
            conn.outstanding.remove(&seq);
        }
        match (message.kind.as_ref(), message.role) {
            ("WIN", _) => conn.window = member("window").and_then(Node::as_i128),
            ("HEY", _) => {
                conn.stage = HandshakeStage::Open;
                conn.beat = now.saturating_add(BEAT);
                let session = member("session_id").and_then(Node::text);
                conn.session = session.map(Cow::into_owned);
            }
            ("ERR", _) if seq.is_none() => {
                let part = |name| member(name).and_then(Node::text).unwrap_or_default();
                let (code, why) = (part("code"), part("message"));
                let waits = matches!(
                    conn.stage,
                    HandshakeStage::New | HandshakeStage::Requested(_)
                );
                if waits || FATAL.contains(&code.as_ref()) {
                    conn.stage =
                        HandshakeStage::Over(format!("{}: {}", shorten(&code), shorten(&why)));
                    conn.session = None;
                }
            }
            // A subscription continues after its answer.
            ("RES", _) if member("subscriptionId").is_some() => {}
            (_, Some(Role::Response | Role::End | Role::Error)) => {
                if let Some(seq) = seq {
                    conn.open.remove(&seq);
                    conn.ending.remove(&seq);
                }
            }
            _ => {}
        }
    }

    fn sent(&mut self, seen: &Seen<'_>, now: i64) {
        let conn = self.conns.entry(seen.origin.conn.unwrap_or_default());
        let seq = seen.root().and_then(seq);
        let is_request = seen.message.role == Some(Role::Request);
        if let Some(seq) = seq.filter(|_| is_request && conn.outstanding.len() < MAX_ENTRIES) {
            conn.outstanding.insert(seq);
        }
        match (seen.message.kind.as_ref(), seq) {
            ("HEY" | "RSM", _) => conn.stage = HandshakeStage::Requested("HEY".into()),
            ("BYE", _) => {
                conn.stage = HandshakeStage::Over("BYE was said".into());
                conn.session = None;
            }
            ("HBT", _) => conn.beat = now.saturating_add(BEAT),
            ("INV" | "SUB", Some(seq)) if conn.open.len() < MAX_ENTRIES => {
                conn.open.insert(seq, seen.message.kind == "SUB");
            }
            ("UNS" | "CAN", Some(seq)) => {
                conn.open.remove(&seq);
                conn.outstanding.remove(&seq);
            }
            _ => {}
        }
    }

    fn closed(&mut self, conn: u32, _: i64) {
        let Some(conn) = self.conns.remove(&conn) else {
            return;
        };
        if let Some(session) = conn.session {
            self.lost.insert(session, conn.last_seq);
        }
    }

    fn readiness(&self, conn: u32) -> Readiness {
        let conn = self.conns.get(&conn);
        // MUST NOT (Backpressure): no more requests are outstanding than the window allows. Real servers lose answers
        // otherwise.
        let is_full = |conn: &ClientConnection| {
            conn.outstanding.len() as i128 >= conn.window.unwrap_or(WINDOW.into())
        };
        let stage = conn.map(|conn| &conn.stage);
        match HandshakeStage::readiness(stage, "HEY of the server") {
            Readiness::Ready if conn.is_some_and(is_full) => {
                Readiness::Waits("an answer: the window is full".into())
            }
            readiness => readiness,
        }
    }

    fn due(&self) -> Option<i64> {
        let open = self.conns.iter().map(|(_, conn)| conn);
        let open = open.filter(|conn| !self.no_hello && matches!(conn.stage, HandshakeStage::Open));
        open.map(|conn| conn.beat).min()
    }

    fn tick(&mut self, now: i64, outgoing: &mut Vec<Outgoing>) {
        let ts = now.div_euclid(SECOND).to_string();
        for name in self.conns.keys() {
            let conn = self.conns.entry(name);
            if matches!(conn.stage, HandshakeStage::Open) && conn.beat <= now && !self.no_hello {
                conn.beat = now.saturating_add(BEAT);
                let beat = frame(1, "HBT").json("ts", &ts).finish();
                outgoing.push(Outgoing::new(name, beat));
            }
        }
    }

    fn has_open_calls(&self, conn: u32) -> bool {
        let state = self.conns.get(&conn);
        state.is_some_and(|state| {
            let is_open = matches!(state.stage, HandshakeStage::Open);
            is_open && !(state.open.is_empty() && state.ending.is_empty())
        })
    }

    /// Calls and subscriptions are ended one by one, and BYE waits for the answers: a real server crashes if it sends
    /// to a client that is gone.
    fn prepare_close(
        &mut self,
        conn: u32,
        late: bool,
        _: i64,
        outgoing: &mut Vec<Outgoing>,
    ) -> bool {
        let Some(state) = self.conns.get_mut(&conn) else {
            return true;
        };
        if !matches!(state.stage, HandshakeStage::Open) {
            return true;
        }
        for (seq, subscribes) in std::mem::take(&mut state.open) {
            let kind = if subscribes { "UNS" } else { "CAN" };
            outgoing.push(Outgoing::new(conn, in_call(1, kind, seq).finish()));
            state.ending.insert(seq);
        }
        if !state.ending.is_empty() && !late {
            return false;
        }
        outgoing.push(Outgoing::new(conn, frame(1, "BYE").finish()));
        true
    }

    fn encode_reply(&mut self, to: &Request, reply: PeerReply<'_>, _: i64) -> Result<Outgoing> {
        let kind = text(&to.kind);
        Err(reply.refused(format!("nothing: a client sends no answer to {kind}")))
    }
}
