//! The client: it opens the session, and is the one that must show that it lives.

use super::sessions::WINDOW;
use super::{NAME, SECOND, SUPPORTS, frame, in_call, seq, short};
use crate::error::Refusal;
use crate::protocol::Role;
use crate::protocol::make::{Object, text};
use crate::protocol::peer::{MOST, Peer, PeerConfig, Phrase, Readiness, Recent, Request, Says};
use crate::protocol::session::Seen;
use crate::tape::Node;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// How often it shows that it lives (heartbeats of the client).
const BEAT: i64 = 30 * SECOND;
/// Most sessions without a connection that are remembered.
const LOST: usize = 1 << 4;
/// Errors that end a session.
const FATAL: [&str; 4] = [
    "AUTH_INVALID",
    "AUTH_EXPIRED",
    "SESSION_EXPIRED",
    "UNSUPPORTED_VERSION",
];

#[derive(Debug, Default)]
enum Stage {
    /// Nothing was said.
    #[default]
    New,
    /// HEY or RSM was.
    Asked,
    /// It was answered.
    Open,
    /// It was answered with no.
    Refused(String),
    /// BYE was said.
    Left,
}

#[derive(Debug, Default)]
struct Conn {
    stage: Stage,
    session: Option<String>,
    /// The highest number that the server has said.
    last_seq: i128,
    /// When it shows again that it lives.
    beat: i64,
    /// What is not over: by number, whether it is a subscription.
    open: BTreeMap<i128, bool>,
    /// What was ended at the end of the connection, and not answered yet.
    ending: BTreeSet<i128>,
    /// What counts against the window: a subscription only until it is granted.
    outstanding: BTreeSet<i128>,
    /// How many may, where the server has said so.
    window: Option<i128>,
}

pub(super) struct Client {
    name: Option<String>,
    token: Option<String>,
    no_hello: bool,
    conns: Recent<u32, Conn>,
    /// Sessions that lost their connection, and the last number heard in each.
    lost: Recent<String, i128>,
}

impl Client {
    pub(super) fn new(config: &PeerConfig) -> Self {
        Self {
            name: config.name.clone(),
            token: config.token.clone(),
            no_hello: config.no_hello,
            conns: Recent::with_room(MOST),
            lost: Recent::with_room(LOST),
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
        let hello = hello.json("supports", SUPPORTS).maybe("auth", auth);
        hello.finish()
    }
}

impl Peer for Client {
    fn opened(&mut self, conn: u32, _: i64, says: &mut Vec<Says>) {
        self.conns.put(conn, Conn::default());
        if self.no_hello {
            return;
        }
        let before = self.lost.iter().next();
        let first = match before.map(|(session, last)| (session.clone(), *last)) {
            Some((session, last)) => {
                self.lost.take(&session);
                let resume = frame(1, "RSM").text("session_id", &session);
                resume.json("last_seq_received", &last.to_string()).finish()
            }
            None => self.hello(),
        };
        says.push(Says::new(conn, first));
    }

    fn heard(&mut self, seen: &Seen<'_>, now: i64, _: &mut Vec<Says>) {
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
                conn.stage = Stage::Open;
                conn.beat = now.saturating_add(BEAT);
                let session = member("session_id").and_then(Node::text);
                conn.session = session.map(Cow::into_owned);
            }
            ("ERR", _) if seq.is_none() => {
                let part = |name| member(name).and_then(Node::text).unwrap_or_default();
                let (code, why) = (part("code"), part("message"));
                let waits = matches!(conn.stage, Stage::New | Stage::Asked);
                if waits || FATAL.contains(&code.as_ref()) {
                    conn.stage = Stage::Refused(format!("{}: {}", short(&code), short(&why)));
                    conn.session = None;
                }
            }
            // A subscription goes on after it is answered.
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

    fn said(&mut self, seen: &Seen<'_>, now: i64) {
        let conn = self.conns.entry(seen.origin.conn.unwrap_or_default());
        let seq = seen.root().and_then(seq);
        let is_request = seen.message.role == Some(Role::Request);
        if let Some(seq) = seq.filter(|_| is_request && conn.outstanding.len() < MOST) {
            conn.outstanding.insert(seq);
        }
        match (seen.message.kind.as_ref(), seq) {
            ("HEY" | "RSM", _) => conn.stage = Stage::Asked,
            ("BYE", _) => {
                conn.stage = Stage::Left;
                conn.session = None;
            }
            ("HBT", _) => conn.beat = now.saturating_add(BEAT),
            ("INV" | "SUB", Some(seq)) if conn.open.len() < MOST => {
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
        let Some(conn) = self.conns.take(&conn) else {
            return;
        };
        if let Some(session) = conn.session {
            self.lost.put(session, conn.last_seq);
        }
    }

    fn readiness(&self, conn: u32) -> Readiness {
        let conn = self.conns.get(&conn);
        // MUST NOT (Backpressure): no more is outstanding than the window allows. Real servers lose answers then.
        let is_full =
            |conn: &Conn| conn.outstanding.len() as i128 >= conn.window.unwrap_or(WINDOW.into());
        match conn.map(|conn| &conn.stage) {
            Some(Stage::Open) if conn.is_some_and(is_full) => {
                Readiness::Waits("an answer: the window is full")
            }
            Some(Stage::Open) => Readiness::Ready,
            Some(Stage::Refused(why)) => Readiness::Refused(why.clone()),
            Some(Stage::Left) => Readiness::Refused("BYE was said".into()),
            _ => Readiness::Waits("HEY of the server"),
        }
    }

    fn due(&self) -> Option<i64> {
        let open = self.conns.iter().map(|(_, conn)| conn);
        let open = open.filter(|conn| !self.no_hello && matches!(conn.stage, Stage::Open));
        open.map(|conn| conn.beat).min()
    }

    fn tick(&mut self, now: i64, says: &mut Vec<Says>) {
        let ts = now.div_euclid(SECOND).to_string();
        for name in self.conns.keys() {
            let conn = self.conns.entry(name);
            if matches!(conn.stage, Stage::Open) && conn.beat <= now && !self.no_hello {
                conn.beat = now.saturating_add(BEAT);
                let beat = frame(1, "HBT").json("ts", &ts).finish();
                says.push(Says::new(name, beat));
            }
        }
    }

    /// Calls and subscriptions are ended one by one, and BYE waits for what that is answered: a real server does not
    /// survive a client that is gone while it still has something to say.
    fn bye(&mut self, conn: u32, late: bool, _: i64, says: &mut Vec<Says>) -> bool {
        let Some(state) = self.conns.get_mut(&conn) else {
            return true;
        };
        if !matches!(state.stage, Stage::Open) {
            return true;
        }
        for (seq, subscribes) in std::mem::take(&mut state.open) {
            let kind = if subscribes { "UNS" } else { "CAN" };
            says.push(Says::new(conn, in_call(1, kind, seq).finish()));
            state.ending.insert(seq);
        }
        if !state.ending.is_empty() && !late {
            return false;
        }
        says.push(Says::new(conn, frame(1, "BYE").finish()));
        true
    }

    fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, _: i64) -> Result<Says, Refusal> {
        let kind = text(&to.kind);
        Err(phrase.refused(format!("nothing: a client owes no answer to {kind}")))
    }
}
