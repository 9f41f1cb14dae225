//! Admits clients: HEY with a valid token, RSM with a stored session.

use super::server::{LONGEST, SaelServer, ServerConnection, TTL};
use super::sessions::PeerSession;
use super::{NAME, SECOND, SUPPORTS, err, frame, shorten};
use crate::protocol::make::{Object, array, text};
use crate::protocol::peer::Outgoing;
use crate::protocol::sael::token::{Check, CheckOutcome, Token, verified};
use crate::tape::Node;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::borrow::Cow;

/// The prefix of a session id; sixteen characters of base64url follow.
const PREFIX: &str = "ses_";

impl SaelServer {
    /// Checks a HEY. Returns the granted capabilities, or the reason for the refusal.
    fn admit(&self, root: Node<'_>, now: i64) -> Result<Vec<String>, (&'static str, String)> {
        let v = root.get("v");
        if let Some(v) = v.filter(|v| !matches!(v.as_i128(), Some(1 | 2))) {
            let number = v
                .as_i128()
                .map_or("something else".into(), |v| v.to_string());
            let why = format!("versions 1 and 2 are supported, not {}", shorten(&number));
            return Err(("UNSUPPORTED_VERSION", why));
        }
        let auth = root.get("auth").filter(|auth| auth.is_map());
        let bearer = auth.filter(|auth| auth.get("type").is_none_or(|t| t.is_text("bearer")));
        let token = bearer.and_then(|auth| auth.get("token")?.text());
        let Some(token) = token else {
            if self.secret.is_some() {
                return Err(("AUTH_INVALID", "a bearer token is needed".into()));
            }
            // Older clients without tokens list the capabilities that their users granted.
            let asked = root.get("capabilities").filter(|c| c.is_array());
            let asked = asked.into_iter().flat_map(Node::children);
            return Ok(bounded(asked.filter_map(Node::text)));
        };
        let token = Token::parse(&token);
        if let Some(secret) = &self.secret {
            let agent = root.get("agent").and_then(|agent| agent.get("id")?.text());
            let checks = token.verify(secret, now.div_euclid(SECOND), agent.as_deref());
            let mut failed = checks.iter().filter(|c| c.outcome == CheckOutcome::Failed);
            if !verified(&checks)
                && let Some(first) = failed.next()
            {
                let only_late = first.check == Check::NotExpired && failed.next().is_none();
                let code = if only_late {
                    "AUTH_EXPIRED"
                } else {
                    "AUTH_INVALID"
                };
                let why = format!("token: {}: {}", first.check.name(), shorten(&first.text));
                return Err((code, why));
            }
        }
        Ok(bounded(token.scope().into_iter().map(Cow::Borrowed)))
    }

    pub(super) fn hey(
        &mut self,
        conn: u32,
        root: Node<'_>,
        now: i64,
        outgoing: &mut Vec<Outgoing>,
    ) {
        let v = if root.get("v").and_then(Node::as_i128) == Some(2) {
            2
        } else {
            1
        };
        let granted = match self.admit(root, now) {
            Ok(granted) => granted,
            Err((code, why)) => {
                outgoing.push(Outgoing::new(conn, err(v, 0, code, &why)).last());
                return;
            }
        };
        let random = self.id_gen.uuid();
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
            outgoing.push(Outgoing::new(conn, hey));
        }
        let mut session = PeerSession::of(conn);
        (session.v, session.granted) = (v, granted);
        self.sessions.insert(id.clone(), session);
        self.enter_session(conn, id);
    }

    /// RSM: sends the missed frames again, then HEY.
    pub(super) fn resume(
        &mut self,
        conn: u32,
        root: Node<'_>,
        now: i64,
        outgoing: &mut Vec<Outgoing>,
    ) {
        let id = root.get("session_id").and_then(Node::text);
        let id = id.filter(|id| id.starts_with(PREFIX)).unwrap_or_default();
        let last = root.get("last_seq_received").and_then(Node::as_i128);
        // A resumed session becomes the newest.
        let session = self.sessions.remove(&id.clone().into_owned());
        let Some(mut session) = session.filter(|session| session.until >= now) else {
            let why = "this session does not exist any more: start with HEY";
            let refusal = Outgoing::new(conn, err(1, 0, "SESSION_EXPIRED", why)).last();
            // With a secret, only a checked token opens a session.
            outgoing.push(match self.secret {
                None => refusal.unknown(),
                Some(_) => refusal,
            });
            return;
        };
        let (missed, dead) = session.resume(conn, last.unwrap_or_default());
        let hey = frame(session.v, "HEY").json("resumed", "true");
        let hey = hey.text("session_id", &id);
        let hey = hey.json("replayed", &missed.len().to_string()).finish();
        self.sessions.insert(id.clone().into_owned(), session);
        for seq in dead {
            self.cancelled.insert((id.clone().into_owned(), seq), ());
        }
        self.enter_session(conn, id.into_owned());
        if !self.no_hello {
            let all = missed.into_iter().chain([hey]);
            outgoing.extend(all.map(|frame| Outgoing::new(conn, frame).fixed()));
        }
    }

    /// The script sent HEY for this side, with an id of its own.
    pub(super) fn rename(&mut self, conn: u32, root: Node<'_>) {
        let Some(id) = root.get("session_id").and_then(Node::text) else {
            return;
        };
        let before = self.conns.entry(conn).session.clone();
        if before != id {
            if let Some(session) = self.sessions.remove(&before) {
                self.sessions.insert(id.clone().into_owned(), session);
            }
            self.enter_session(conn, id.into_owned());
        }
    }

    fn enter_session(&mut self, conn: u32, session: String) {
        let state: &mut ServerConnection = self.conns.entry(conn);
        state.is_in = true;
        let before = std::mem::replace(&mut state.session, session);
        // A session before HEY has no name and cannot be resumed.
        if before.starts_with('#') {
            self.sessions.remove(&before);
        }
    }
}

/// Returns the capabilities to store, limited in number and length.
fn bounded<'c>(all: impl Iterator<Item = Cow<'c, str>>) -> Vec<String> {
    let fit = all.filter(|capability| capability.len() <= LONGEST);
    fit.take(LONGEST).map(Cow::into_owned).collect()
}
