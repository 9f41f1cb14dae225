//! HTTP exchanges: which response is to which POST, and what runs in an event stream.
//!
//! ```text
//!   POST request       ->  200 with its answer, or 200 text/event-stream: callbacks ..., its answer
//!   POST notification  ->  202
//!   POST answer        ->  202            to a callback; on any connection
//!   POST what cannot be read, or with wrong fields  ->  4xx, 5xx with a body that is no message
//!   GET                ->  with sessions: 200 text/event-stream, where answers may come, too
//! ```

use super::follow::{Inside, Sent, Settled};
use super::{Conduct, Turn};
use crate::protocol::correlation::Asked;
use crate::protocol::jsonrpc::pairing::{Key, Reach};
use crate::protocol::session::http;
use crate::protocol::session::text::short;
use crate::protocol::session::{Happened, Report, Seen};
use crate::protocol::{Origin, Role};
use std::collections::VecDeque;

/// Most requests that wait for their response on one connection; with more of them, pairing is given up.
const MOST_POSTS: usize = 1 << 12;

/// One HTTP connection.
#[derive(Default)]
pub(super) struct Wire {
    /// Requests without a response, the oldest first.
    posts: VecDeque<Post>,
    stream: Option<Stream>,
    /// Which response is to which request is not known any more.
    unpaired: bool,
}

/// A request of HTTP.
struct Post {
    index: u64,
    sent: Sent,
    /// Something is wrong with it, and was told.
    blamed: bool,
}

/// An event stream that runs.
#[derive(Default)]
struct Stream {
    /// What was posted.
    key: Option<Key>,
    /// Its index, where it is an execute.
    execute: Option<u64>,
    answered: bool,
    /// Something is wrong with it, and was told.
    blamed: bool,
}

impl Conduct {
    fn wire(&mut self, conn: Option<u32>) -> &mut Wire {
        self.wires.entry_or_evict(conn, Wire::default)
    }

    /// A request of HTTP.
    pub(super) fn posted(&mut self, turn: &Turn<'_, '_>, report: &mut Report) {
        let seen = turn.seen;
        let sent = self.said(turn, Inside::Unknown, report);
        if !turn.blamed && !matches!(sent, Sent::Nothing) {
            fields(seen, report);
        }
        let blamed = !report.broken.is_empty();
        if let Sent::Request(key) = &sent
            && let Some((_, want)) = self.pairs.open.get_mut(key)
        {
            want.blamed |= blamed;
        }
        let wire = self.wire(seen.origin.conn);
        if wire.posts.len() >= MOST_POSTS {
            wire.posts.clear();
            wire.unpaired = true;
        }
        if !wire.unpaired {
            wire.posts.push_back(Post {
                index: seen.index,
                sent,
                blamed,
            });
        }
    }

    /// A response of HTTP: a message, or none, or the head of an event stream.
    pub(super) fn responded(&mut self, turn: &Turn<'_, '_>, status: u16, report: &mut Report) {
        let seen = turn.seen;
        // RFC 9110 section 15.2: an interim response, the final one follows.
        if (100..200).contains(&status) {
            return;
        }
        self.stream_ends(seen.origin, report);
        let wire = self.wire(seen.origin.conn);
        let post = wire.posts.pop_front();
        let streams = seen.frame.control.is_some() && http::begins_events(seen);
        let Some(Post {
            index,
            sent,
            blamed,
        }) = post
        else {
            if streams {
                wire.stream = Some(Stream {
                    blamed: true,
                    ..Stream::default()
                });
            } else {
                self.said(turn, Inside::Unknown, report);
            }
            return;
        };
        match sent {
            Sent::Request(key) if streams => {
                let executes = self.pairs.open.get(&key).is_some_and(|(_, want)| {
                    want.method.is_some_and(super::super::schema::executes)
                });
                self.wire(seen.origin.conn).stream = Some(Stream {
                    key: Some(key),
                    execute: executes.then_some(index),
                    ..Stream::default()
                });
            }
            Sent::Request(key) => self.response_to(turn, status, &key, blamed, report),
            Sent::Notification if status != 202 && !blamed => {
                let text =
                    format!("a notification is answered, with status {status}; 202 should be");
                report.broken_by("notification-answered", seen.whole(), index, text);
            }
            Sent::Answer if status != 202 && !blamed => {
                let text = format!(
                    "the answer to a callback gets status {status}{}; 202 should be",
                    reason(turn)
                );
                report.broken_by("callback-answer-refused", seen.whole(), index, text);
            }
            Sent::Nothing if streams => self.side_stream = true,
            Sent::Nothing if !blamed => {
                self.said(turn, Inside::Unknown, report);
            }
            Sent::Notification | Sent::Answer | Sent::Nothing => {}
        }
    }

    /// The response to a posted request, in one piece.
    fn response_to(
        &mut self,
        turn: &Turn<'_, '_>,
        status: u16,
        key: &Key,
        blamed: bool,
        report: &mut Report,
    ) {
        let seen = turn.seen;
        match seen.message.role {
            Some(Role::Response | Role::Error) => {
                let known = report.broken.len();
                if self.answer(turn, Some(key), report) == Settled::No
                    && report.broken.len() > known
                {
                    // Nothing better will come.
                    self.drop_request(key);
                }
                return;
            }
            Some(Role::Request | Role::Notification) => {
                if !turn.blamed {
                    let text = "a plain response holds the answer; what the server asks is an event of a stream";
                    report.broken("request-in-body", seen.whole(), text);
                }
            }
            _ if turn.faulty || blamed => {}
            _ if self.side_stream && status == 202 => return,
            _ => {
                let Some((asked, _)) = self.pairs.open.get(key) else {
                    return;
                };
                let (what, index) = (asked.what(), asked.place.index);
                if status >= 400 {
                    report.answers(asked, seen, true);
                    let text = format!("{what} is refused with status {status}{}", reason(turn));
                    report.broken_by("refused", seen.whole(), index, text);
                } else {
                    let text = format!(
                        "the response to {what} has status {status} and no answer in it; none can come any more"
                    );
                    report.broken_by("answer-missing", seen.whole(), index, text);
                }
            }
        }
        self.drop_request(key);
    }

    /// One event of a stream.
    pub(super) fn streamed(&mut self, turn: &Turn<'_, '_>, report: &mut Report) {
        let seen = turn.seen;
        let wire = self.wire(seen.origin.conn);
        let Some(stream) = wire.stream.as_mut() else {
            self.said(turn, Inside::Unknown, report);
            return;
        };
        let late = stream.answered;
        if late && !std::mem::replace(&mut stream.blamed, true) && !turn.blamed {
            let text =
                "an event after the answer to what was posted; the answer should be the last";
            report.broken("event-after-answer", seen.whole(), text);
        }
        let (key, execute) = (stream.key.clone(), stream.execute);
        match seen.message.role {
            Some(Role::Response | Role::Error) if late => {}
            Some(Role::Response | Role::Error) => {
                let settled = self.answer(turn, key.as_ref(), report);
                let open = key
                    .as_ref()
                    .is_some_and(|key| self.pairs.open.get(key).is_some());
                if let Some(stream) = self.wire(seen.origin.conn).stream.as_mut() {
                    stream.answered = key.is_some() && !open;
                    stream.blamed |= settled == Settled::No || open;
                }
            }
            _ => {
                // What comes too late is followed, so that an answer to it is none to nothing.
                let turn = Turn {
                    blamed: turn.blamed || late,
                    ..*turn
                };
                let inside = key.map_or(Inside::Unknown, |_| Inside::Stream(execute));
                self.said(&turn, inside, report);
            }
        }
    }

    /// Nothing more will answer a request.
    fn drop_request(&mut self, key: &Key) -> Option<Asked> {
        let (asked, want) = self.pairs.open.close(key)?;
        for callback in self.forget(key, &asked, &want).values() {
            // Who made them is gone: no one waits for the answers.
            if let Some((_, want)) = self.pairs.open.get_mut(callback) {
                want.excused = true;
            }
        }
        want.is_owed().then_some(asked)
    }

    /// No more events will come on a connection.
    fn stream_ends(&mut self, origin: Origin, report: &mut Report) {
        let Some(wire) = self.wires.get_mut(origin.conn) else {
            return;
        };
        let Some(stream) = wire.stream.take() else {
            return;
        };
        if let Some(key) = stream.key.filter(|_| !stream.answered)
            && let Some(asked) = self.drop_request(&key)
            && !stream.blamed
        {
            let text = format!(
                "the event stream ends without an answer to {} ({})",
                asked.what(),
                short(&asked.id)
            );
            report.broken("stream-ends-early", asked.place, text);
        }
    }

    /// A connection, or what the server says on it, is over.
    pub(super) fn wire_ends(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        self.stream_ends(origin, report);
        let idle = |wire: &Wire| wire.posts.is_empty();
        if what != Happened::Ended && self.wires.get(origin.conn).is_some_and(idle) {
            self.wires.remove(origin.conn);
        }
    }

    /// Bytes went by unseen: what they answered is not missed, and what they asked may be answered.
    pub(super) fn lost(&mut self, origin: Origin) {
        let wire = self.wire(origin.conn);
        wire.posts.clear();
        wire.stream = None;
        wire.unpaired = true;
        let reaches = [Reach::Http, Reach::Pipe(origin.conn)];
        for reach in reaches {
            self.scope(reach).lose(origin.direction);
        }
        let answers = origin.direction;
        for reach in reaches {
            self.pairs.open.retain(reach, |key, _, want| {
                want.excused |= answers.is_none_or(|way| way == key.asker.other());
                true
            });
        }
    }
}

/// What a server says of its refusal: ` (text)`.
fn reason(turn: &Turn<'_, '_>) -> String {
    let error = turn.seen.root().and_then(|root| root.get("error"));
    let text = error.and_then(|e| e.text().or_else(|| e.get("message")?.text()));
    text.map_or(String::new(), |text| format!(" ({})", short(&text)))
}

/// A POST says that it is JSON, and that it takes both forms of answer.
fn fields(seen: &Seen<'_>, report: &mut Report) {
    const JSON: &str = "application/json";
    const EVENTS: &str = "text/event-stream";
    let Some(head) = http::head(seen) else {
        return;
    };
    let shown = |value: &Option<String>| value.as_deref().map_or("not there".into(), short);
    let names = |value: &Option<String>, kind| value.as_ref().is_some_and(|v| v.contains(kind));
    let (kind, place) = http::field(head, "content-type");
    if !names(&kind, JSON) {
        let text = format!("Content-Type is {}; it should be {JSON}", shown(&kind));
        return report.broken("content-type", seen.span(place), text);
    }
    let (accept, place) = http::field(head, "accept");
    if !names(&accept, JSON) || !names(&accept, EVENTS) {
        let text = format!(
            "Accept is {}; it should name {JSON} and {EVENTS}",
            shown(&accept)
        );
        report.broken("accept", seen.span(place), text);
    }
}
