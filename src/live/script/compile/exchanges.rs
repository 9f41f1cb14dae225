//! Exchanges over HTTP: the event stream of the older transport, and requests that their client cancels by ending the
//! connection before the answer.

use super::CompiledRequests;
use crate::capture::{Event, EventKind};
use crate::decoder::Decoded;
use crate::framing::Head;
use crate::live::endpoint::http_session::message_path;
use crate::live::script::ScriptAction;
use crate::live::speed::Speed;
use crate::protocol::Direction;
use std::collections::HashMap;

/// The exchanges of HTTP connections.
#[derive(Default)]
pub(super) struct Exchanges {
    /// The last request on each connection that its client has not ended.
    last: HashMap<u32, usize>,
    /// The last requests on connections that their clients have ended, and when.
    ended: Vec<(usize, Option<i64>)>,
    /// The path of the last GET on each connection.
    paths: HashMap<u32, String>,
    /// The path at which the server opened an event stream of the older transport.
    pub(super) older_path: Option<String>,
}

impl Exchanges {
    /// Records a request.
    pub(super) fn add(&mut self, conn: Option<u32>, at: usize) {
        self.last.extend(conn.map(|conn| (conn, at)));
    }

    /// Reads a head, or an event without a message.
    pub(super) fn see_head(&mut self, decoded: &Decoded<'_>) {
        let Head::Http { start, event, .. } = decoded.frame.head else {
            return;
        };
        let conn = decoded.origin.conn.unwrap_or_default();
        if let Some(target) = start.strip_prefix("GET ") {
            let path = target.split([' ', '?']).next().unwrap_or_default();
            self.paths.insert(conn, path.to_owned());
        } else if event && self.older_path.is_none() && message_path(decoded).is_some() {
            self.older_path = self.paths.get(&conn).cloned();
        }
    }

    /// Reads an event. `side` is the side that the stub plays.
    pub(super) fn see(&mut self, event: &Event<'_>, side: Direction) {
        let is_theirs = event.direction == Some(side.other());
        if event.what == EventKind::Eof && is_theirs || event.what == EventKind::Reset {
            let time = event.time.and_then(|time| i64::try_from(time).ok());
            let at = self.last.remove(&event.conn);
            self.ended.extend(at.map(|at| (at, time)));
        }
    }

    /// Lets requests without an answer wait for the end of their connection. A client that ends only its direction still
    /// gets its answer.
    pub(super) fn decide(&self, entries: &mut CompiledRequests, speed: Speed) {
        for (at, time) in &self.ended {
            let entry = entries.get_mut(*at);
            if let Some(entry) = entry.filter(|entry| entry.is_request && !entry.is_done) {
                let course = entry.timeline.course(speed);
                course.received(ScriptAction::AwaitEnd, *time);
            }
        }
    }
}
