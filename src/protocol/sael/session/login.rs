//! HEY and RSM, and the reaction of the server.

use super::state::{Login, Opening, REPLAYED, Replay, SaelConnection};
use super::{Report, SaelMessage, SaelSession, bearer_token, broken, envelope, rule, short};
use crate::protocol::Direction;
use crate::protocol::exchange::Key;
use crate::protocol::sael::message::role;
use crate::protocol::sael::token::Token;
use crate::tape::Node;
use std::collections::BTreeSet;

/// The number of seqs of a replay that are stored.
const FINALS: usize = 4096;
/// The largest size of the stored capabilities of one session, in bytes.
const CAPABILITIES: usize = 64 << 10;
/// The longest stored session name, in bytes.
const LONGEST: usize = 256;
/// The largest number of stored session names.
const NAMES: usize = 1 << 16;

/// Handles the first message of each side.
pub(super) fn first(message: &SaelMessage<'_, '_>, conn: &mut SaelConnection) {
    match message.side {
        Some(Direction::ToServer) if conn.opening == Opening::Nothing => {
            conn.opening = match message.kind {
                "HEY" => Opening::Hey,
                "RSM" => Opening::Resume,
                _ if !conn.has_start => Opening::Unclear,
                _ => Opening::Without,
            };
            if conn.opening == Opening::Without && role(message.kind).is_some() {
                broken!(message, rule::HEY_FIRST, message.place(message.get("kind"));
                    "the client starts with {}; it must start with HEY or RSM", message.kind);
            }
        }
        Some(Direction::ToClient) if !conn.answered => {
            conn.answered = true;
            if conn.opening == Opening::Hey
                && !matches!(message.kind, "HEY" | "ERR")
                && let Some(hello) = &conn.login.hello
            {
                broken!(message, rule::HEY_ANSWER,
                    message.place(message.get("kind")), hello.index();
                    "the server starts with {}; it must answer HEY with HEY or ERR", message.kind);
            }
        }
        _ => {}
    }
}

/// Reports a greeting without an answer when the server sends nothing more.
pub(super) fn report_unanswered_hello(conn: &mut SaelConnection, report: &mut Report) {
    let Some(login) = conn.login.made() else {
        return;
    };
    if let Some(hello) = &login.hello
        && !std::mem::replace(&mut login.hello_unanswered, true)
    {
        broken!(report, rule::HEY_UNANSWERED, hello.place();
            "{} has no answer, neither HEY nor ERR", hello.kind());
    }
}

impl SaelSession {
    /// Handles HEY of the client.
    pub(super) fn client_hey(&mut self, message: &SaelMessage<'_, '_>) {
        let (conn, _) = self.parts(message.conn);
        if conn.hey_answered || conn.login.hello.is_some() {
            if conn.hey_answered && conn.opening != Opening::Without {
                broken!(message, rule::HEY_AGAIN, message.place(message.get("kind"));
                    "this connection has sent HEY before");
            }
            self.assign_new_session(message.conn);
        }
        let (secret, connect) = (self.secret.clone(), self.connect.clone());
        let (conn, state) = self.parts(message.conn);
        *conn.login = Login {
            hello: Some(message.seen.stored_request()),
            version: envelope::version_of(message),
            ..Login::default()
        };
        if let Some(rare) = conn.rare.made() {
            rare.refused = None;
        }
        let before = message.findings();
        let auth = message.get("auth");
        if let Some(auth) = auth {
            let kind = auth.get("type");
            if !kind.is_some_and(|kind| kind.is_text("bearer")) {
                let place = message.at(kind.unwrap_or(auth));
                match kind.and_then(Node::text) {
                    Some(kind) => broken!(message, rule::AUTH_TYPE, place;
                        "auth.type is `{}`; it must be `bearer`", short(&kind)),
                    None => broken!(message, rule::AUTH_TYPE, place; "auth.type must be `bearer`"),
                }
            }
        }
        let node = auth.and_then(|auth| auth.get("token"));
        let text = node.and_then(Node::text);
        let agent = message.get("agent").and_then(|agent| agent.get("id"));
        let agent = agent.and_then(Node::text);
        state.terms.client = agent.as_deref().map(|agent| short(agent).into());
        if let Some((node, text)) = node.zip(text.as_deref()) {
            let place = message.at(node);
            let token = Token::parse(text);
            bearer_token::check_token(message, &token, place, secret.as_deref(), agent.as_deref());
            if connect.as_deref().is_some_and(bearer_token::is_open) {
                broken!(message, rule::TOKEN_IN_CLEAR, place;
                    "a token goes over an unencrypted connection: use wss");
            }
            let claims = token.claims();
            let subject = claims.and_then(|claims| claims.get("sub")?.as_str());
            if let Some(subject) = subject.filter(|subject| agent.as_deref() != Some(*subject)) {
                let (agent, subject) = (agent.as_deref().unwrap_or_default(), short(subject));
                let client = format!("{} ({subject})", short(agent));
                state.terms.client = Some(client.trim_start().into());
            }
            state.terms.max_cost = claims
                .and_then(|claims| claims.get("max_cost_usd"))
                .and_then(serde_json::Value::as_f64);
            if claims.is_some() {
                conn.login.scope = few(token.scope().into_iter().map(str::to_owned));
            }
        }
        conn.suspect = message.findings() > before;
        let shown = message.get("capabilities");
        state.terms.anonymous =
            node.is_none() && shown.is_none_or(|list| list.children().next().is_none());
    }

    /// Handles HEY of the server.
    pub(super) fn server_hey(&mut self, message: &SaelMessage<'_, '_>) {
        let (conn, state) = self.parts(message.conn);
        let login = conn.login.take();
        if let Some(hello) = &login.hello {
            message.answers(hello, true);
        }
        conn.hey_answered = true;
        let began = message
            .time()
            .zip(conn.alive.beat_at.is_none().then_some(message.index));
        conn.alive.beat_at = conn.alive.beat_at.or(began);
        if let (Some(asked), Some(printed)) = (login.version, envelope::version_of(message))
            && asked != printed
        {
            broken!(message, rule::VERSION_MIXED, message.place(message.get("v"));
                "the server uses v {printed}, but the client uses v {asked}");
        }
        let granted = message.get("granted_capabilities").and_then(strings);
        if let (Some(granted), Some(scope)) = (&granted, &login.scope) {
            let (got, wanted): (BTreeSet<_>, BTreeSet<_>) =
                (granted.iter().collect(), scope.iter().collect());
            let odd = got.symmetric_difference(&wanted).next();
            if let Some(odd) = odd {
                let (odd, text) = (
                    short(odd),
                    if got.contains(odd) {
                        "is granted, but it is not in the token's scope"
                    } else {
                        "is in the token's scope, but not granted"
                    },
                );
                let place = message.place(message.get("granted_capabilities"));
                broken!(message, rule::SCOPE_DIFFERS, place; "`{odd}` {text}");
            }
        }
        if granted.is_some() {
            state.terms.granted = granted;
        }
        let session = conn.session;
        let mut name = name(message.get("session_id"));
        if let Some(replay) = login.replay {
            let node = message.get("replayed");
            if let Some(count) = node.and_then(Node::as_i128)
                && count != i128::from(replay.frames)
            {
                broken!(message, rule::REPLAY_COUNT, message.place(node);
                    "HEY counts {count} replayed frames, but there were {}", replay.frames);
            } else if let (Some(least), Some(last)) = (replay.due.iter().min(), replay.last)
                && replay.frames < REPLAYED as u64
            {
                let (missing, frames) = (replay.due.len(), replay.frames);
                broken!(message, rule::REPLAY_LOST, message.place(node);
                    "{frames} frames are replayed, and {missing} more were sent before with a seq \
                    above {last}, the first for seq {least}");
            }
            name = name.or(replay.name);
            self.resumed(message);
        }
        if let Some(name) = name
            && (self.named.len() < NAMES || self.named.contains_key(&name))
        {
            let before = self.named.insert(name.clone(), session);
            if let Some(state) = before.and_then(|before| self.states.get_mut(&before)) {
                state.terms.names.remove(&name);
            }
            self.parts(message.conn).1.terms.names.insert(name);
        }
    }

    /// Handles a resumed session: streams that were open on another connection are cancelled.
    fn resumed(&mut self, message: &SaelMessage<'_, '_>) {
        let session = self.parts(message.conn).0.session;
        let mut cancelled = 0;
        self.left_open.remove(&session);
        self.calls.open.each(session, |_, call| {
            call.dropped = false;
            let stream = call.items > 0 || call.streaming == Some(true);
            if call.conn != message.conn && call.needs_answer() && stream && !call.live {
                call.released = true;
                cancelled += 1;
            }
        });
        let (_, state) = self.parts(message.conn);
        state.open = state.open.saturating_sub(cancelled);
    }

    /// Handles RSM.
    pub(super) fn resume(&mut self, message: &SaelMessage<'_, '_>) {
        let id = message.get("session_id");
        let found = name(id).and_then(|name| self.named.get(&name).copied());
        if let Some(session) = found {
            self.parts(message.conn).0.session = session;
            self.parts(message.conn).1.conn = message.conn;
        } else if let (Some(id), false) = (id, self.named.is_empty()) {
            // A session id allows its owner to resume the session: it is not shown.
            broken!(message, rule::RESUME_UNKNOWN, message.at(id);
                "RSM names a session id, but no HEY has it");
        }
        let node = message.get("last_seq_received");
        let last = node.and_then(Node::as_i128);
        let suspect = found.is_none() && !self.named.is_empty();
        let (conn, state) = self.parts(message.conn);
        let (session, sent) = (conn.session, state.sent.clone());
        // Open streams are cancelled: their earlier items need not be sent again.
        let is_due = |seq: &i128| {
            let call = self.calls.open.get(&Key::one_way(session, *seq));
            last.is_some_and(|last| *seq > last) && call.is_none_or(|(_, call)| call.live)
        };
        let due = sent.into_iter().filter(is_due).collect();
        let (conn, state) = self.parts(message.conn);
        conn.suspect = suspect;
        let replay = Replay {
            last,
            due,
            name: name(id),
            ..Replay::default()
        };
        *conn.login = Login {
            hello: Some(message.seen.stored_request()),
            version: envelope::version_of(message),
            replay: Some(replay),
            ..Login::default()
        };
        if found.is_none() {
            return;
        }
        if let Some(last) = last
            && last > state.seen.unwrap_or(0)
        {
            broken!(message, rule::RESUME_AHEAD, message.place(node);
                "last_seq_received is {last}, but the highest seq of the session is {}",
                state.seen.unwrap_or(0));
        }
        if state.terms.anonymous && state.reported.first(rule::ANONYMOUS_RESUME) {
            broken!(message, rule::ANONYMOUS_RESUME, message.whole();
                "the resumed session was opened without a token");
        }
    }

    /// Counts a replayed frame.
    pub(super) fn replayed(&mut self, message: &SaelMessage<'_, '_>, key: i128, last: bool) {
        let (conn, _) = self.parts(message.conn);
        let Some(replay) = conn.login.made().and_then(|login| login.replay.as_mut()) else {
            return;
        };
        replay.frames += 1;
        if let Some(at) = replay.due.iter().position(|due| *due == key) {
            replay.due.swap_remove(at);
        }
        let place = message.place(message.get("seq"));
        if replay.frames == REPLAYED as u64 + 1 {
            broken!(message, rule::REPLAY_MANY, message.whole();
                "more than {REPLAYED} frames are replayed");
        }
        if let Some(had) = replay.last
            && key <= had
        {
            broken!(message, rule::REPLAY_OLD, place;
                "seq {key} is sent again, but the client already has all up to {had}");
        } else if replay.finals.contains(&key) {
            broken!(message, rule::REPLAY_TWICE, place;
                "seq {key} was replayed to its end already");
        } else if last && replay.finals.len() < FINALS {
            replay.finals.insert(key);
        }
    }

    /// Handles an ERR that refuses a greeting; returns true if it does.
    pub(super) fn refuses(&mut self, message: &SaelMessage<'_, '_>, code: &str) -> bool {
        let seq = message.seq;
        let (conn, _) = self.parts(message.conn);
        let login = matches!(
            code,
            "AUTH_INVALID" | "AUTH_EXPIRED" | "SESSION_EXPIRED" | "UNSUPPORTED_VERSION"
        );
        if conn.login.hello.is_none() || !(login || seq.key == 0) {
            if login && seq.key == 0 {
                conn.rare.refused = conn.rare.refused.or(Some(message.index));
            }
            return false;
        }
        let sent = conn.login.take();
        let Some(hello) = sent.hello else {
            return false;
        };
        message.answers(&hello, true);
        let resuming = sent.replay.is_some();
        if !login {
            return true;
        }
        conn.rare.refused = Some(message.index);
        if !std::mem::take(&mut conn.suspect) {
            let detail = message.text("message").unwrap_or_default();
            broken!(message, rule::LOGIN_REFUSED, message.whole(), hello.index();
                "the server refuses {}: {code} ({})", hello.kind(), short(&detail));
        }
        if seq.key != 0 {
            broken!(message, rule::LOGIN_ERROR_SEQ, message.place(seq.node);
                "ERR {code} refuses the connection, but has seq {}", seq.key);
        }
        // Requests after a refused greeting get no answer.
        let id = message.conn;
        let session = conn.session;
        self.calls
            .open
            .end_where(session, |_, call| call.conn == id);
        if resuming {
            self.assign_new_session(id);
        }
        true
    }
}

/// Returns the texts of a list if they are small enough to store.
fn strings(list: Node<'_>) -> Option<Vec<String>> {
    few(list
        .children()
        .filter_map(Node::text)
        .map(std::borrow::Cow::into_owned))
}

fn few(texts: impl Iterator<Item = String>) -> Option<Vec<String>> {
    let (mut all, mut bytes) = (Vec::new(), 0);
    for text in texts {
        bytes += text.len() + 32;
        if bytes > CAPABILITIES {
            return None;
        }
        all.push(text);
    }
    Some(all)
}

/// Returns the name of a session if it is short enough to store.
fn name(id: Option<Node<'_>>) -> Option<Box<str>> {
    let text = id.and_then(Node::text)?;
    (text.len() <= LONGEST).then(|| text.as_ref().into())
}
