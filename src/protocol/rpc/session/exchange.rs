//! Requests over HTTP: refused ones, and those whose answers come on another connection or may be lost.

use super::super::extension::{Extension, RpcMessage};
use super::super::http::{Post, report_refusal};
use super::RpcSession;
use crate::framing::Head;
use crate::protocol::exchange::pairs::{Facts, IdSpace, PairKey, Unread};
use crate::protocol::rule_names::rpc as rule;
use crate::protocol::session::memory::ConnId;
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{Current, Seen, Severity, broken, http};
use crate::protocol::{Ending, Id, Origin, Role};
use std::collections::BTreeSet;

impl<E: Extension> RpcSession<E> {
    /// Handles an HTTP response that refuses what was posted: no answer will come.
    pub(super) fn handle_refusal(
        &mut self,
        post: Option<Post>,
        seen: Current<'_, '_>,
        status: u16,
    ) {
        let conn = seen.origin.conn;
        let answers = matches!(&seen.message.id, Id::Json(id) if id != "null");
        match post {
            Some(Post::Request(key, ..)) if !answers => {
                let Some((asked, _)) = self.pairs.open.close(&key) else {
                    return;
                };
                self.forget(&key);
                seen.answers(&asked, true);
                self.sessions.state(conn).refused(&asked);
                if asked.kind() == "batch" {
                    self.close_batch(key.scope, asked.index(), seen);
                }
                let is_gone = status == 404 && self.sessions.deleted(conn).is_some();
                if E::HAS_HTTP && !is_gone {
                    report_refusal(seen, &asked, status);
                }
            }
            Some(Post::Notification(notification)) if E::HAS_HTTP => {
                report_refusal(seen, &notification, status);
            }
            // It may refuse each request of this connection.
            None if !answers => self.pairs.miss_answers(IdSpace::One(conn), None),
            _ => {}
        }
    }

    /// Handles an HTTP response to what was posted: its body is the answer, also if the error has no id; without a
    /// message there is none.
    pub(super) fn handle_response(
        &mut self,
        post: Option<Post>,
        seen: Current<'_, '_>,
        status: u16,
    ) {
        let Some(Post::Request(key, _, is_streamed)) = post else {
            return;
        };
        let has_no_id = match &seen.message.id {
            Id::None => true,
            Id::Json(id) => id == "null",
            _ => false,
        };
        match seen.message.role {
            Some(Role::Error) if has_no_id => {
                if let Some((asked, _)) = self.pairs.open.close(&key) {
                    self.forget(&key);
                    seen.answers(&asked, true);
                    self.sessions.state(seen.origin.conn).refused(&asked);
                    if asked.kind() == "batch" {
                        self.close_batch(key.scope, asked.index(), seen);
                    }
                }
            }
            None | Some(Role::Control) if !is_streamed && !http::starts_events(&seen) => {
                let why = Unread::Empty(status);
                self.pairs.note_unread(&key, seen.index, why);
            }
            _ => {}
        }
    }

    /// Reports an answer whose id no open request has. Over HTTP its exchange shows which request it is for.
    pub(super) fn report_unmatched(
        &mut self,
        message: &RpcMessage<'_, '_>,
        key: &PairKey,
        facts: &Facts<'_, '_>,
    ) {
        let (seen, Some(id)) = (message.seen, facts.id) else {
            return;
        };
        let connection = self.connections.get(seen.origin.conn);
        let connection = connection.filter(|connection| !connection.is_shared);
        let is_event = matches!(seen.frame.head, Head::Http { event: true, .. });
        if connection.is_some_and(|connection| connection.is_unasked && !is_event) {
            broken!(message, rule::ORPHAN, seen.at(id);
                "the id {} is that of no request: the HTTP request of this response has no message in its body", quote(id));
            return message.report().at_most(Severity::Info);
        }
        let asked = connection.and_then(|connection| self.pairs.open.at(connection.streamed?));
        // A batch has the ids of its members.
        let asked = asked.filter(|_| !message.in_batch);
        let Some((asked_key, asked, _)) = asked else {
            return self.pairs.report_unmatched(key, facts);
        };
        broken!(message, rule::ORPHAN, seen.at(id), asked.index();
            "the id is {}; the request of this HTTP response, {}, has the id {}",
            quote(id), asked.describe(), short(asked.id()));
        let asked_key = asked_key.clone();
        self.pairs.leave_open(&asked_key, seen, Unread::Renamed);
    }

    /// Returns what keeps the requester from receiving an answer; `None` if nothing does.
    pub(super) fn unread_cause(message: &RpcMessage<'_, '_>, is_retyped: bool) -> Option<Unread> {
        let (frame, seen) = (message.frame, message.message);
        // The client of an HTTP exchange knows that its response has come.
        if matches!(frame.head, Head::Http { event: false, .. }) {
            return None;
        }
        let frame_fault = frame.fault.as_ref().map(|fault| fault.error.code);
        let fault = frame_fault.or(seen.faults.first().map(|fault| fault.code));
        match fault {
            Some("truncated") if seen.ending == Ending::Missing => Some(Unread::Truncated),
            Some("ends-early") if seen.ending == Ending::Cut => None,
            Some("bad-json" | "ends-early" | "trailing-bytes") => Some(Unread::Malformed),
            None if E::NEEDS_LINE_END && seen.ending == Ending::Missing => Some(Unread::Unended),
            _ if is_retyped && E::COMPARES_ID_TYPES => Some(Unread::Retyped),
            _ => None,
        }
    }

    /// Returns true if a connection may belong to the session of an open request on another one.
    pub(super) fn may_share(&self, one: ConnId, other: ConnId) -> bool {
        let session = self.named.get(&other).map(|(session, _)| &**session);
        self.sessions.may_share(one, other, session)
    }

    /// Records that lost bytes of an HTTP connection may contain answers to requests of the others.
    pub(super) fn miss_answers_elsewhere(&mut self, origin: Origin) {
        let conns = self.elsewhere.values().flatten();
        let shared = conns.filter(|conn| self.may_share(origin.conn, **conn));
        let conns: BTreeSet<ConnId> = shared.copied().collect();
        for conn in conns {
            self.pairs.miss_answers(IdSpace::One(conn), None);
        }
    }

    pub(super) fn is_http(&self, seen: &Seen<'_>) -> bool {
        let connection = self.connections.get(seen.origin.conn);
        connection.is_some_and(|connection| connection.http)
    }

    /// Returns true if a request over HTTP may be missing: any connection may have lost it.
    pub(super) fn lacks(&self, seen: &Seen<'_>) -> bool {
        self.is_http(seen) && self.pairs.has_gap(IdSpace::All, None)
    }

    /// Returns the key of an open request that a message of this connection means: over HTTP it may have been sent on
    /// another connection.
    pub(super) fn resolve(&self, key: PairKey, seen: &Seen<'_>) -> PairKey {
        if self.pairs.open.get(&key).is_some() || !self.is_http(seen) {
            return key;
        }
        let conns = self.elsewhere.get(&key.at(IdSpace::All));
        let mut conns = conns.into_iter().flatten().copied();
        let found = conns.find(|conn| self.may_share(seen.origin.conn, *conn));
        found.map_or(key.clone(), |conn| key.at(IdSpace::One(conn)))
    }

    /// Removes a closed request from the connections over HTTP.
    pub(super) fn forget(&mut self, key: &PairKey) {
        let (IdSpace::One(conn), shared) = (key.scope, key.at(IdSpace::All)) else {
            return;
        };
        if let Some(conns) = self.elsewhere.get_mut(&shared) {
            let at = conns.iter().position(|c| *c == conn);
            if at.map(|at| conns.remove(at)).is_some()
                && let Some((_, count)) = self.named.get_mut(&conn)
            {
                *count -= 1;
                if *count == 0 {
                    self.named.remove(&conn);
                }
            }
            if conns.is_empty() {
                self.elsewhere.remove(&shared);
            }
        }
    }
}
