//! Who is let in: HEY with a token that holds, RSM with a session that is still kept.

use super::server::{Conn, LONGEST, Server, TTL};
use super::sessions::Session;
use super::{NAME, SECOND, SUPPORTS, err, frame, short};
use crate::protocol::make::{Object, array, text};
use crate::protocol::peer::Says;
use crate::protocol::sael::token::{Check, Outcome, Token, verified};
use crate::tape::Node;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::borrow::Cow;

/// How the id of a session begins, followed by sixteen characters of base64url.
const PREFIX: &str = "ses_";

impl Server {
    /// HEY: what it is granted, or why it is not let in.
    fn admit(&self, root: Node<'_>, now: i64) -> Result<Vec<String>, (&'static str, String)> {
        let v = root.get("v");
        if let Some(v) = v.filter(|v| !matches!(v.as_i128(), Some(1 | 2))) {
            let number = v
                .as_i128()
                .map_or("something else".into(), |v| v.to_string());
            let why = format!("versions 1 and 2 are spoken here, not {}", short(&number));
            return Err(("UNSUPPORTED_VERSION", why));
        }
        let auth = root.get("auth").filter(|auth| auth.is_map());
        let bearer = auth.filter(|auth| auth.get("type").is_none_or(|t| t.is_text("bearer")));
        let token = bearer.and_then(|auth| auth.get("token")?.text());
        let Some(token) = token else {
            if self.secret.is_some() {
                return Err(("AUTH_INVALID", "a bearer token is needed".into()));
            }
            // Before there were tokens, clients named what their users had granted.
            let asked = root.get("capabilities").filter(|c| c.is_array());
            let asked = asked.into_iter().flat_map(Node::children);
            return Ok(bounded(asked.filter_map(Node::text)));
        };
        let token = Token::parse(&token);
        if let Some(secret) = &self.secret {
            let agent = root.get("agent").and_then(|agent| agent.get("id")?.text());
            let checks = token.verify(secret, now.div_euclid(SECOND), agent.as_deref());
            let mut failed = checks.iter().filter(|c| c.outcome == Outcome::Failed);
            if !verified(&checks)
                && let Some(first) = failed.next()
            {
                let only_late = first.check == Check::NotExpired && failed.next().is_none();
                let code = if only_late {
                    "AUTH_EXPIRED"
                } else {
                    "AUTH_INVALID"
                };
                let why = format!("token: {}: {}", first.check.name(), short(&first.text));
                return Err((code, why));
            }
        }
        Ok(bounded(token.scope().into_iter().map(Cow::Borrowed)))
    }

    pub(super) fn hey(&mut self, conn: u32, root: Node<'_>, now: i64, says: &mut Vec<Says>) {
        let v = if root.get("v").and_then(Node::as_i128) == Some(2) {
            2
        } else {
            1
        };
        let granted = match self.admit(root, now) {
            Ok(granted) => granted,
            Err((code, why)) => {
                says.push(Says::new(conn, err(v, 0, code, &why)).last());
                return;
            }
        };
        let random = self.mint.uuid();
        let random = random.first_chunk::<12>().copied().unwrap_or_default();
        let id = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random));
        let name = self.name.as_deref().unwrap_or(NAME);
        let server = Object::default().text("id", name).text("name", name);
        let server = server.text("version", env!("CARGO_PKG_VERSION")).finish();
        let scope: Vec<String> = granted.iter().map(|grant| text(grant)).collect();
        let hey = frame(v, "HEY").json("server", &server);
        let hey = hey.json("supports", SUPPORTS);
        let hey = hey.json("tools", &self.offers.len().to_string());
        let hey = hey
            .text("session_id", &id)
            .json("session_ttl", &TTL.to_string());
        let hey = hey.json("granted_capabilities", &array(&scope)).finish();
        if !self.no_hello {
            says.push(Says::new(conn, hey));
        }
        let mut session = Session::of(conn);
        (session.v, session.granted) = (v, granted);
        self.sessions.put(&id, session);
        self.enter(conn, id);
    }

    /// RSM: what was missed is said again, then that the session goes on.
    pub(super) fn resume(&mut self, conn: u32, root: Node<'_>, now: i64, says: &mut Vec<Says>) {
        let id = root.get("session_id").and_then(Node::text);
        let id = id.filter(|id| id.starts_with(PREFIX)).unwrap_or_default();
        let last = root.get("last_seq_received").and_then(Node::as_i128);
        let Some(session) = self.sessions.renew(&id, now) else {
            let why = "there is no such session any more: begin with HEY";
            says.push(Says::new(conn, err(1, 0, "SESSION_EXPIRED", why)).last());
            return;
        };
        let (missed, dead) = session.resume(conn, last.unwrap_or_default());
        let hey = frame(session.v, "HEY").json("resumed", "true");
        let hey = hey.text("session_id", &id);
        let hey = hey.json("replayed", &missed.len().to_string()).finish();
        for seq in dead {
            self.cancelled.put((id.clone().into_owned(), seq), ());
        }
        self.enter(conn, id.into_owned());
        if !self.no_hello {
            says.extend(missed.into_iter().map(|frame| Says::new(conn, frame)));
            says.push(Says::new(conn, hey));
        }
    }

    /// Somebody else said HEY for this side, with an id of his own.
    pub(super) fn rename(&mut self, conn: u32, root: Node<'_>) {
        let Some(id) = root.get("session_id").and_then(Node::text) else {
            return;
        };
        let before = self.conns.entry(conn).session.clone();
        if before != id {
            self.sessions.rename(&before, &id);
            self.enter(conn, id.into_owned());
        }
    }

    fn enter(&mut self, conn: u32, session: String) {
        let state: &mut Conn = self.conns.entry(conn);
        state.is_in = true;
        let before = std::mem::replace(&mut state.session, session);
        // What came before HEY belongs to no session that could be taken up.
        if before.starts_with('#') {
            self.sessions.end(&before);
        }
    }
}

/// Capabilities that are kept: neither too many nor too long.
fn bounded<'c>(all: impl Iterator<Item = Cow<'c, str>>) -> Vec<String> {
    let fit = all.filter(|capability| capability.len() <= LONGEST);
    fit.take(LONGEST).map(Cow::into_owned).collect()
}
