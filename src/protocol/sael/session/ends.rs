//! How connections end, and what is left open behind them.

use super::state::Conn;
use super::{Conduct, Report, login};
use crate::protocol::correlation::Asked;
use crate::protocol::session::memory::ConnId;

/// Connections that are over and of which late messages may still be told.
pub(super) const OVER: usize = 256;
/// Sessions without a connection that may be taken up again.
pub(super) const SESSIONS: usize = 1024;

impl Conduct {
    /// The connection is over: what cannot be taken up again is let go, in time.
    pub(super) fn part(&mut self, id: ConnId, report: &mut Report) {
        if self.conns.has_ended(id) {
            return;
        }
        let session = self.parts(id).0.session;
        self.conns.end(id);
        self.resting.push_back(session);
        while self.resting.len() > SESSIONS {
            let Some(oldest) = self.resting.pop_front() else {
                break;
            };
            let is_used = self
                .holder(oldest)
                .is_some_and(|(conn, _)| !self.conns.has_ended(conn));
            if !is_used && !self.resting.contains(&oldest) {
                self.settle(Some(oldest), report);
                let names = self.states.remove(&oldest).map(|state| state.names);
                for name in names.into_iter().flatten() {
                    if self.named.get(&name) == Some(&oldest) {
                        self.named.remove(&name);
                    }
                }
            }
        }
    }

    /// The connection that has a session now.
    fn holder(&self, session: u32) -> Option<(ConnId, &Conn)> {
        let id = self.states.get(&session)?.conn;
        let conn = self.conns.get(id).filter(|conn| conn.session == session);
        conn.map(|conn| (id, conn))
    }

    /// Requests that will not be answered any more: of one session, or of all.
    pub(super) fn settle(&mut self, session: Option<u32>, report: &mut Report) {
        // Where the greeting was not answered, nothing behind it is.
        let is_mute = |of| {
            self.holder(of)
                .is_some_and(|(_, conn)| conn.hello.is_some())
        };
        let calls = match session {
            Some(session) => self.calls.sorted_in(session),
            None => self.calls.sorted(),
        };
        for ((of, _), asked, call) in calls {
            if call.owed() && !call.dropped && !is_mute(*of) {
                let text = format!("{} has no answer", named(asked));
                report.broken("unanswered", asked.place, text);
            }
        }
        // At the end they stay: who waits for what is asked after it, too.
        if let Some(session) = session {
            self.calls.end(session);
        }
    }

    /// The client goes, and leaves calls and subscriptions behind; `by` is the message that says so.
    pub(super) fn client_leaves(&mut self, id: ConnId, by: Option<u64>, report: &mut Report) {
        let (conn, state) = self.parts(id);
        let left = [state.open > 0, state.live > 0];
        if std::mem::replace(&mut conn.client_left, true)
            || conn.server_left
            || conn.hello.is_some()
        {
            return;
        }
        let session = conn.session;
        for (rule, live, what) in [
            ("dropped-call", false, "call"),
            ("dropped-subscription", true, "subscription"),
        ] {
            if !left[usize::from(live)] {
                continue;
            }
            let mut left = self
                .calls
                .sorted_in(session)
                .into_iter()
                .filter(|(_, _, call)| {
                    call.conn == id && call.live == live && (live || call.owed())
                });
            let Some((_, first, _)) = left.next() else {
                continue;
            };
            let more = left.count();
            let others = match more {
                0 => String::new(),
                n => format!(", and {n} more {what}{}", if n > 1 { "s" } else { "" }),
            };
            let is = if more > 0 { "are" } else { "is" };
            let text = format!(
                "{}{others} {is} open while the client closes the connection",
                named(first)
            );
            match by {
                Some(by) => report.broken_by(rule, first.place, by, text),
                None => report.broken(rule, first.place, text),
            }
            // That they have no answer follows from that.
            self.calls.retain(session, |_, _, call| {
                call.dropped |= call.conn == id && !live && call.owed();
                true
            });
        }
    }

    pub(super) fn server_leaves(&mut self, id: ConnId, report: &mut Report) {
        let (conn, _) = self.parts(id);
        conn.server_left = true;
        login::unheard(conn, report);
    }
}

/// A request in a sentence.
fn named(asked: &Asked) -> String {
    match asked.id.as_ref() {
        "" => asked.what(),
        id => format!("{} (seq {id})", asked.what()),
    }
}
