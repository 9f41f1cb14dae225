//! HEY and RSM, and what the server makes of them.

use super::state::{Conn, Opening, Replay};
use super::{Conduct, Report, Turn, envelope, short};
use crate::protocol::Direction;
use crate::protocol::correlation::Asked;
use crate::protocol::sael::token::{Check, Outcome, Token};
use crate::protocol::session::Place;
use crate::tape::Node;
use std::collections::BTreeSet;

/// A token that lives longer is worth a word: a year and a day, in seconds.
const LONG: i64 = 366 * 86_400;
/// Frames that a server keeps for a client to come back.
const KEPT: u64 = 64;
/// Capabilities of one session that are looked at.
const CAPABILITIES: usize = 4096;

/// What each side says first.
pub(super) fn first(turn: Turn<'_, '_>, conn: &mut Conn, report: &mut Report) {
    match turn.side {
        Some(Direction::ToServer) if conn.opening == Opening::Nothing => {
            conn.opening = match turn.kind {
                "HEY" => Opening::Hey,
                "RSM" => Opening::Resume,
                _ => Opening::Without,
            };
            if conn.opening == Opening::Without
                && super::super::KINDS.iter().any(|k| k.name == turn.kind)
            {
                let text = format!(
                    "the client begins with {}, and must with HEY or RSM",
                    turn.kind
                );
                report.broken("hey-first", turn.place(turn.get("kind")), text);
            }
        }
        Some(Direction::ToClient) if !conn.answered => {
            conn.answered = true;
            if conn.opening == Opening::Hey
                && !matches!(turn.kind, "HEY" | "ERR")
                && let Some(hello) = &conn.hello
            {
                let text = format!(
                    "the server begins with {}, and must answer HEY with HEY or ERR",
                    turn.kind
                );
                report.broken_by(
                    "hey-answer",
                    turn.place(turn.get("kind")),
                    hello.place.index,
                    text,
                );
            }
        }
        _ => {}
    }
}

/// The server will say nothing more, and the greeting waits.
pub(super) fn unheard(conn: &mut Conn, report: &mut Report) {
    if let Some(hello) = conn.hello.take() {
        let text = format!("{} was never answered, by HEY or by ERR", hello.kind);
        report.broken("hey-unanswered", hello.place, text);
    }
}

impl Conduct {
    /// HEY of the client.
    pub(super) fn client_hey(&mut self, turn: Turn<'_, '_>, report: &mut Report) {
        let (conn, _) = self.parts(turn.conn);
        if conn.greeted || conn.hello.is_some() {
            if conn.greeted && conn.opening != Opening::Without {
                let text = "this connection has said HEY before";
                report.broken("hey-again", turn.place(turn.get("kind")), text);
            }
            self.anew(turn.conn);
        }
        let (secret, connect) = (self.secret.clone(), self.connect.clone());
        let (conn, state) = self.parts(turn.conn);
        conn.hello = Some(Asked::of(turn.seen));
        conn.replay = None;
        conn.version = envelope::version_of(turn);
        conn.scope = None;
        let before = report.broken.len();
        let auth = turn.get("auth");
        if let Some(auth) = auth {
            let kind = auth.get("type");
            if !kind.is_some_and(|kind| kind.is_text("bearer")) {
                let text = match kind.and_then(Node::text) {
                    Some(kind) => format!("auth.type is `{}`, and must be `bearer`", short(&kind)),
                    None => "auth.type must be `bearer`".to_owned(),
                };
                report.broken("auth-type", turn.seen.at(kind.unwrap_or(auth)), text);
            }
        }
        let node = auth.and_then(|auth| auth.get("token"));
        let text = node.and_then(Node::text);
        if let Some((node, text)) = node.zip(text.as_deref()) {
            let place = turn.seen.at(node);
            let agent = turn.get("agent").and_then(|agent| agent.get("id"));
            let agent = agent.and_then(Node::text);
            let token = Token::parse(text);
            judge(
                turn,
                &token,
                place,
                secret.as_deref(),
                agent.as_deref(),
                report,
            );
            if connect.as_deref().is_some_and(is_open) {
                let text = "a token goes over a connection that is not encrypted: use wss";
                report.broken("token-in-clear", place, text);
            }
            let claims = token.claims();
            state.most_cost = claims
                .and_then(|claims| claims.get("max_cost_usd"))
                .and_then(serde_json::Value::as_f64);
            let scope = token.scope();
            if claims.is_some() && scope.len() <= CAPABILITIES {
                conn.scope = Some(scope.into_iter().map(str::to_owned).collect());
            }
        }
        conn.suspect = report.broken.len() > before;
        let shown = turn.get("capabilities");
        state.anonymous =
            node.is_none() && !shown.is_some_and(|list| list.children().next().is_some());
    }

    /// HEY of the server.
    pub(super) fn server_hey(&mut self, turn: Turn<'_, '_>, report: &mut Report) {
        let (conn, state) = self.parts(turn.conn);
        if let Some(hello) = conn.hello.take() {
            report.answers(&hello, turn.seen, true);
        }
        conn.greeted = true;
        let began = turn
            .time()
            .zip(conn.beat_at.is_none().then_some(turn.seen.index));
        conn.beat_at = conn.beat_at.or(began);
        if let (Some(asked), Some(told)) = (conn.version, envelope::version_of(turn))
            && asked != told
        {
            let text = format!("the server speaks v {told}, the client v {asked}");
            report.broken("version-mixed", turn.place(turn.get("v")), text);
        }
        let granted = turn.get("granted_capabilities").map(strings);
        if let (Some(granted), Some(scope)) = (&granted, &conn.scope) {
            let (got, wanted): (BTreeSet<_>, BTreeSet<_>) =
                (granted.iter().collect(), scope.iter().collect());
            let odd = got.symmetric_difference(&wanted).next();
            if let Some(odd) = odd {
                let (odd, text) = (
                    short(odd),
                    if got.contains(odd) {
                        "is granted, and not in the token's scope"
                    } else {
                        "is in the token's scope, and not granted"
                    },
                );
                let place = turn.place(turn.get("granted_capabilities"));
                report.broken("scope-differs", place, format!("`{odd}` {text}"));
            }
        }
        if granted.is_some() {
            state.granted = granted;
        }
        let session = conn.session;
        let replay = conn.replay.take();
        let mut name = turn.text("session_id").map(|name| name.as_ref().into());
        if let Some(replay) = replay {
            let node = turn.get("replayed");
            if let Some(count) = node.and_then(Node::as_i128)
                && count != i128::from(replay.frames)
            {
                let text = format!(
                    "HEY says that {count} frames were replayed, and {} were",
                    replay.frames
                );
                report.broken("replay-count", turn.place(node), text);
            }
            name = name.or(replay.name);
            self.resumed(turn);
        }
        if let Some(name) = name {
            self.named.insert(name, session);
        }
    }

    /// A session was taken up again: streams that were open on another connection are cancelled.
    fn resumed(&mut self, turn: Turn<'_, '_>) {
        let session = self.parts(turn.conn).0.session;
        let mut cancelled = 0;
        self.calls.retain(|(of, _), _, call| {
            let stream = call.items > 0 || call.streaming == Some(true);
            if *of == session && call.conn != turn.conn && call.owed() && stream && !call.live {
                call.released = true;
                cancelled += 1;
            }
            true
        });
        let (_, state) = self.parts(turn.conn);
        state.open = state.open.saturating_sub(cancelled);
    }

    /// RSM.
    pub(super) fn resume(&mut self, turn: Turn<'_, '_>, report: &mut Report) {
        let id = turn.get("session_id");
        let name = id.and_then(Node::text);
        let found = name
            .as_deref()
            .and_then(|name| self.named.get(name).copied());
        if let Some(session) = found {
            self.parts(turn.conn).0.session = session;
        } else if let (Some(id), false) = (id, self.named.is_empty()) {
            let text = format!(
                "no HEY gave the session id `{}`",
                short(name.as_deref().unwrap_or("no text"))
            );
            report.broken("resume-unknown", turn.seen.at(id), text);
        }
        let node = turn.get("last_seq_received");
        let last = node.and_then(Node::as_i128);
        let suspect = found.is_none() && !self.named.is_empty();
        let (conn, state) = self.parts(turn.conn);
        conn.suspect = suspect;
        conn.hello = Some(Asked::of(turn.seen));
        conn.version = envelope::version_of(turn);
        conn.replay = Some(Replay {
            last,
            name: name.as_deref().map(Into::into),
            ..Replay::default()
        });
        if found.is_none() {
            return;
        }
        if let Some(last) = last
            && last > state.seen.unwrap_or(0)
        {
            let text = format!(
                "last_seq_received is {last}, and the highest seq of the session is {}",
                state.seen.unwrap_or(0)
            );
            report.broken("resume-ahead", turn.place(node), text);
        }
        if state.anonymous && state.told.first("anonymous-resume") {
            let text = "the session that is resumed was opened without a token";
            report.broken("anonymous-resume", turn.seen.whole(), text);
        }
    }

    /// Counts a frame that is replayed; false where that is no concern of calls.
    pub(super) fn replayed(
        &mut self,
        turn: Turn<'_, '_>,
        key: i128,
        last: bool,
        report: &mut Report,
    ) {
        let (conn, _) = self.parts(turn.conn);
        let Some(replay) = &mut conn.replay else {
            return;
        };
        replay.frames += 1;
        let place = turn.place(turn.get("seq"));
        if replay.frames == KEPT + 1 {
            let text = format!("more than {KEPT} frames are replayed");
            report.broken("replay-many", turn.seen.whole(), text);
        }
        if let Some(had) = replay.last
            && key <= had
        {
            let text = format!("seq {key} is replayed, and the client has all up to {had}");
            report.broken("replay-old", place, text);
        } else if replay.finals.contains(&key) {
            let text = format!("seq {key} was replayed to its end already");
            report.broken("replay-twice", place, text);
        } else if last && replay.finals.len() < CAPABILITIES {
            replay.finals.insert(key);
        }
    }

    /// ERR that refuses a greeting; says whether it does.
    pub(super) fn refuses(&mut self, turn: Turn<'_, '_>, code: &str, report: &mut Report) -> bool {
        let seq = envelope::seq(turn);
        let (conn, _) = self.parts(turn.conn);
        let login = matches!(
            code,
            "AUTH_INVALID" | "AUTH_EXPIRED" | "SESSION_EXPIRED" | "UNSUPPORTED_VERSION"
        );
        if conn.hello.is_none() || !(login || seq.key == 0) {
            if login && seq.key == 0 {
                conn.refused = conn.refused.or(Some(turn.seen.index));
            }
            return false;
        }
        let Some(hello) = conn.hello.take() else {
            return false;
        };
        report.answers(&hello, turn.seen, true);
        let resuming = conn.replay.take().is_some();
        if !login {
            return true;
        }
        conn.refused = Some(turn.seen.index);
        if !std::mem::take(&mut conn.suspect) {
            let message = turn.text("message").unwrap_or_default();
            let text = format!(
                "the server refuses {}: {code}, {}",
                hello.kind,
                short(&message)
            );
            report.broken_by("login-refused", turn.seen.whole(), hello.place.index, text);
        }
        if seq.key != 0 {
            let text = format!("ERR {code} refuses the connection, and has seq {}", seq.key);
            report.broken("login-error-seq", turn.place(seq.node), text);
        }
        // What was asked behind a greeting that is refused has no answer to wait for.
        let id = turn.conn;
        let session = conn.session;
        self.calls
            .retain(|(of, _), _, call| *of != session || call.conn != id);
        if resuming {
            self.anew(id);
        }
        true
    }
}

/// Every check of a token that can be made here.
fn judge(
    turn: Turn<'_, '_>,
    token: &Token<'_>,
    place: Place,
    secret: Option<&[u8]>,
    agent: Option<&str>,
    report: &mut Report,
) {
    const SECOND: i64 = 1_000_000_000;
    let now = turn.time().map(|time| time.div_euclid(SECOND));
    let checks = token.verify(secret.unwrap_or_default(), now.unwrap_or(0), agent);
    let failed = |wanted: Check| {
        checks
            .iter()
            .find(|c| c.check == wanted && c.outcome == Outcome::Failed)
    };
    let shape = [
        Check::Split,
        Check::Prefix,
        Check::Version,
        Check::Alphabet,
        Check::Claims,
    ];
    if let Some(bad) = shape.into_iter().find_map(failed) {
        let text = format!("the token's {}: {}", bad.check.name(), bad.text);
        report.broken("token-shape", place, text);
        return;
    }
    if let (Some(_), Some(bad)) = (secret, failed(Check::Signature)) {
        let text = format!("the token's signature {}", bad.text);
        report.broken("token-signature", place, text);
    }
    let parts = ["token", "prefix", "version", "payload", "signature"];
    let odd: Vec<String> = token
        .problems()
        .iter()
        .filter(|problem| !parts.contains(&problem.place.as_str()))
        .take(4)
        .map(|problem| format!("{} {}", short(&problem.place), problem.text))
        .collect();
    if !odd.is_empty() {
        let text = format!("in the token's claims, {}", odd.join("; "));
        report.broken("token-claims", place, text);
    }
    let number = |name: &str| {
        let claim = token.claims().and_then(|claims| claims.get(name));
        claim.and_then(serde_json::Value::as_f64)
    };
    for (check, name, rule) in [
        (Check::IssuedAt, "iat", "token-issued-later"),
        (Check::NotBefore, "nbf", "token-not-yet"),
        (Check::NotExpired, "exp", "token-expired"),
    ] {
        if let (Some(_), Some(_), Some(bad)) = (now, number(name), failed(check)) {
            let text = format!(
                "the token's {} does not hold: {name} is {}",
                check.name(),
                bad.text
            );
            report.broken(rule, place, text);
        }
    }
    if let (Some(_), Some(bad)) = (agent, failed(Check::ClientId)) {
        let text = format!("the token's client_id must be agent.id: {}", bad.text);
        report.broken("token-client", place, text);
    }
    #[allow(clippy::cast_precision_loss)] // seconds of our age are far below 2^53
    let from = number("iat").or(now.map(|now| now as f64));
    #[allow(clippy::cast_precision_loss)]
    if let (Some(from), Some(to)) = (from, number("exp"))
        && to - from > LONG as f64
    {
        let days = ((to - from) / 86_400.0).floor();
        let text = format!("the token is good for {days} days");
        report.broken("token-long-lived", place, text);
    }
}

/// Whether what is said to this address can be read on the way.
fn is_open(address: &str) -> bool {
    let Some(rest) = ["ws://", "tcp://", "http://"]
        .into_iter()
        .find_map(|scheme| address.strip_prefix(scheme))
    else {
        return false;
    };
    let here = ["localhost", "127.", "[::1]"];
    !here.iter().any(|host| rest.starts_with(host))
}

/// The texts of a list, the first of them.
fn strings(list: Node<'_>) -> Vec<String> {
    let texts = list.children().filter_map(Node::text);
    texts
        .take(CAPABILITIES)
        .map(std::borrow::Cow::into_owned)
        .collect()
}
