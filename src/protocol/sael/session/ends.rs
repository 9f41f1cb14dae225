//! The ends of connections, and the requests that stay open.

use super::state::SaelConnection;
use super::{Report, SaelSession, broken, login, rule};
use crate::protocol::exchange::OpenRequest;
use crate::protocol::rule_names::RuleId;
use crate::protocol::session::Place;
use crate::protocol::session::memory::ConnId;

/// The number of ended connections that are stored for late messages.
pub(super) const OVER: usize = 256;
/// The number of sessions without a connection that can still be resumed.
pub(super) const SESSIONS: usize = 1024;

/// Requests that the client left open. They are no error if it resumes the session.
#[derive(Debug)]
pub(super) struct LeftOpen {
    rule: RuleId,
    place: Place,
    by: Option<u64>,
    text: String,
}

impl LeftOpen {
    fn report(&self, report: &mut Report) {
        broken!(report, self.rule, self.place, self.by; "{}", self.text);
    }
}

impl SaelSession {
    /// Handles the end of a connection. Sessions that are too old to be resumed are removed.
    pub(super) fn end_connection(&mut self, id: ConnId, report: &mut Report) {
        if self.conns.has_ended(id) {
            return;
        }
        let session = self.parts(id).0.session;
        self.conns.end(id);
        self.disconnected.push_back(session);
        while self.disconnected.len() > SESSIONS {
            let Some(oldest) = self.disconnected.pop_front() else {
                break;
            };
            let is_used = self
                .connection_of(oldest)
                .is_some_and(|(conn, _)| !self.conns.has_ended(conn));
            if !is_used && !self.disconnected.contains(&oldest) {
                self.report_unanswered(Some(oldest), report);
                let names = self
                    .states
                    .remove(&oldest)
                    .map(|mut state| state.terms.take().names);
                for name in names.into_iter().flatten() {
                    if self.named.get(&name) == Some(&oldest) {
                        self.named.remove(&name);
                    }
                }
            }
        }
    }

    /// Returns the current connection of a session.
    fn connection_of(&self, session: u32) -> Option<(ConnId, &SaelConnection)> {
        let id = self.states.get(&session)?.conn;
        let conn = self.conns.get(id).filter(|conn| conn.session == session);
        conn.map(|conn| (id, conn))
    }

    /// Reports requests that will not be answered any more: of one session, or of all.
    pub(super) fn report_unanswered(&mut self, session: Option<u32>, report: &mut Report) {
        let mut left = Vec::new();
        self.left_open.retain(|of, found| {
            let is_over = session.is_none_or(|session| session == *of);
            if is_over {
                left.append(found);
            }
            !is_over
        });
        left.sort_by_key(|left| left.place.index);
        for left in left {
            left.report(report);
        }
        // If the greeting has no answer, no later request has one.
        let is_mute = |of| {
            self.connection_of(of)
                .is_some_and(|(_, conn)| conn.login.hello.is_some())
        };
        let calls = match session {
            Some(session) => self.calls.open.sorted_in(session),
            None => self.calls.open.sorted(),
        };
        for (key, asked, call) in calls {
            if call.needs_answer() && !call.dropped && !is_mute(key.scope) {
                broken!(report, rule::UNANSWERED, asked.place(); "{} has no answer", describe(asked));
            }
        }
        // At the end of the input they stay: `waiting` lists them afterwards.
        if let Some(session) = session {
            self.calls.open.end(session);
        }
    }

    /// Handles the end of the client's direction, which may leave calls and subscriptions open; `by` is the message
    /// that ends it.
    pub(super) fn client_ended(&mut self, id: ConnId, by: Option<u64>, report: &mut Report) {
        let (conn, state) = self.parts(id);
        let left = [state.open > 0, state.live > 0];
        if std::mem::replace(&mut conn.client_left, true)
            || conn.server_left
            || conn.login.hello.is_some()
        {
            return;
        }
        let session = conn.session;
        let may_resume = conn.rare.bye[0].is_none() && !state.terms.names.is_empty();
        for (rule, live, what) in [
            (rule::DROPPED_CALL, false, "call"),
            (rule::DROPPED_SUBSCRIPTION, true, "subscription"),
        ] {
            if !left[usize::from(live)] {
                continue;
            }
            let mut left = self
                .calls
                .open
                .sorted_in(session)
                .into_iter()
                .filter(|(_, _, call)| {
                    call.conn == id && call.live == live && (live || call.needs_answer())
                });
            let Some((_, first, _)) = left.next() else {
                continue;
            };
            let more = left.count();
            let others = match more {
                0 => String::new(),
                n => format!(", and {n} more {what}{}", if n > 1 { "s" } else { "" }),
            };
            let are = if more > 0 { "are" } else { "is" };
            let found = LeftOpen {
                rule,
                place: first.place(),
                by,
                text: format!(
                    "{}{others} {are} open while the client closes the connection",
                    describe(first)
                ),
            };
            if may_resume {
                self.left_open.entry(session).or_default().push(found);
            } else {
                found.report(report);
            }
            // Their missing answers follow from that.
            self.calls.open.each(session, |_, call| {
                call.dropped |= call.conn == id && !live && call.needs_answer();
            });
        }
    }

    pub(super) fn server_ended(&mut self, id: ConnId, report: &mut Report) {
        let (conn, _) = self.parts(id);
        conn.server_left = true;
        login::report_unanswered_hello(conn, report);
    }
}

/// Describes a request in a sentence.
fn describe(asked: &OpenRequest) -> String {
    match asked.id() {
        "" => asked.describe(),
        id => format!("{} (seq {id})", asked.describe()),
    }
}
