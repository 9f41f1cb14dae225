//! HTTP exchanges: responses to POST requests, and event streams.
//!
//! ```text
//!   POST request       ->  200 with its answer, or 200 text/event-stream: callbacks ..., its answer
//!   POST notification  ->  202
//!   POST answer        ->  202            to a callback; on any connection
//!   POST unreadable, or with wrong fields  ->  4xx, 5xx with a body that is not a message
//!   GET                ->  with sessions: 200 text/event-stream, which may contain answers
//! ```

use super::matching::{Enclosing, Matched, Sent};
use super::{MessageTurn, StepflowSession, rule};
use crate::protocol::exchange::OpenRequest;
use crate::protocol::exchange::pairs::{IdSpace, PairKey};
use crate::protocol::rpc::posts::Posts;
use crate::protocol::session::http;
use crate::protocol::session::text::short;
use crate::protocol::session::{ConnectionChange, Current, Report, Severity, broken};
use crate::protocol::{Direction, Origin, Role};

/// An HTTP connection.
#[derive(Default)]
pub(super) struct HttpConnection {
    posts: Posts<Post>,
    stream: Option<EventStream>,
}

/// An HTTP request.
struct Post {
    index: u64,
    sent: Sent,
    /// It has an error, which was reported.
    breaks_rule: bool,
}

/// An open event stream.
#[derive(Default)]
struct EventStream {
    /// The key of the posted request.
    key: Option<PairKey>,
    /// Its index, if it is an execute.
    execute: Option<u64>,
    answered: bool,
    /// It has an error, which was reported.
    breaks_rule: bool,
}

impl StepflowSession {
    fn wire(&mut self, conn: Option<u32>) -> &mut HttpConnection {
        self.wires.entry_or_evict(conn, HttpConnection::default)
    }

    /// Handles an HTTP request.
    pub(super) fn handle_request(&mut self, message: &MessageTurn<'_, '_>) {
        let seen = message.seen;
        let sent = self.handle_message(message, Enclosing::Unknown);
        if !message.breaks_rule && !matches!(sent, Sent::Nothing) {
            check_fields(seen);
        }
        let breaks_rule = message.findings() > 0;
        if let Sent::Request(key) = &sent
            && let Some((_, want)) = self.pairs.open.get_mut(key)
        {
            want.breaks_rule |= breaks_rule;
        }
        self.wire(seen.origin.conn).posts.push(Post {
            index: seen.index,
            sent,
            breaks_rule,
        });
    }

    /// Handles an HTTP response: a message, no message, or the head of an event stream.
    pub(super) fn handle_response(&mut self, message: &MessageTurn<'_, '_>, status: u16) {
        let seen = message.seen;
        // RFC 9110 section 15.2: an interim response; the final one follows.
        if (100..200).contains(&status) {
            return;
        }
        self.end_stream(seen.origin, &mut message.report());
        let wire = self.wire(seen.origin.conn);
        let post = wire.posts.take();
        let streams = seen.frame.control.is_some() && http::starts_events(&seen);
        let Some(Post {
            index,
            sent,
            breaks_rule,
        }) = post
        else {
            if streams {
                wire.stream = Some(EventStream {
                    breaks_rule: true,
                    ..EventStream::default()
                });
            } else {
                self.handle_message(message, Enclosing::Unknown);
            }
            return;
        };
        match sent {
            Sent::Request(key) if streams => {
                let runs_component = self.pairs.open.get(&key).is_some_and(|(_, want)| {
                    want.method
                        .is_some_and(super::super::schema::runs_component)
                });
                self.wire(seen.origin.conn).stream = Some(EventStream {
                    key: Some(key),
                    execute: runs_component.then_some(index),
                    ..EventStream::default()
                });
            }
            Sent::Request(key) => {
                self.handle_complete_response(message, status, &key, breaks_rule);
            }
            Sent::Notification if status != 202 && !breaks_rule => {
                broken!(message, rule::NOTIFICATION_ANSWERED, seen.whole(), index;
                    "a notification is answered with status {status}; it should be 202");
            }
            Sent::Answer if status != 202 && !breaks_rule => {
                broken!(message, rule::CALLBACK_ANSWER_REFUSED, seen.whole(), index;
                    "the answer to a callback gets status {status}{}; it should be 202",
                    reason(message));
            }
            Sent::Nothing if streams => self.side_stream = true,
            Sent::Nothing if !breaks_rule => {
                self.handle_message(message, Enclosing::Unknown);
            }
            Sent::Notification | Sent::Answer | Sent::Nothing => {}
        }
    }

    /// Handles a complete response to a posted request.
    fn handle_complete_response(
        &mut self,
        message: &MessageTurn<'_, '_>,
        status: u16,
        key: &PairKey,
        breaks_rule: bool,
    ) {
        let seen = message.seen;
        match seen.message.role {
            Some(Role::Response | Role::Error) => {
                let known = message.findings();
                if self.answer(message, Some(key)) == Matched::No && message.findings() > known {
                    // No better answer will come.
                    self.remove_request(key);
                }
                return;
            }
            Some(Role::Request | Role::Notification) => {
                if !message.breaks_rule {
                    broken!(message, rule::REQUEST_IN_BODY, seen.whole();
                        "a plain response contains only the answer; a request of the server is an \
                        event of a stream");
                }
            }
            // Another server or a proxy answers so, whatever the request is.
            _ if message.faulty
                || breaks_rule && !(502..=504).contains(&status) && !is_page(message) => {}
            _ if self.side_stream && status == 202 => return,
            _ => {
                let Some((asked, _)) = self.pairs.open.get(key) else {
                    return;
                };
                let index = asked.index();
                if status >= 300 {
                    message.answers(asked, true);
                    broken!(message, rule::REFUSED, seen.whole(), index;
                        "{} is refused with status {status}{}", asked.describe(), reason(message));
                    if status < 500 {
                        message.report().at_most(Severity::Info);
                    }
                } else {
                    broken!(message, rule::ANSWER_MISSING, seen.whole(), index;
                        "the response to {} has status {status} and no answer; no answer can come \
                        later", asked.describe());
                }
            }
        }
        self.remove_request(key);
    }

    /// Handles one event of a stream.
    pub(super) fn handle_event(&mut self, message: &MessageTurn<'_, '_>) {
        let seen = message.seen;
        let wire = self.wire(seen.origin.conn);
        let Some(stream) = wire.stream.as_mut() else {
            self.handle_message(message, Enclosing::Unknown);
            return;
        };
        let late = stream.answered;
        if late && !std::mem::replace(&mut stream.breaks_rule, true) && !message.breaks_rule {
            broken!(message, rule::EVENT_AFTER_ANSWER, seen.whole();
                "the event comes after the answer to the POST; the answer should be the last \
                event");
        }
        let (key, execute) = (stream.key.clone(), stream.execute);
        match seen.message.role {
            Some(Role::Response | Role::Error) if late => {}
            Some(Role::Response | Role::Error) => {
                let settled = self.answer(message, key.as_ref());
                let open = key
                    .as_ref()
                    .is_some_and(|key| self.pairs.open.get(key).is_some());
                if let Some(stream) = self.wire(seen.origin.conn).stream.as_mut() {
                    stream.answered = key.is_some() && !open;
                    stream.breaks_rule |= settled == Matched::No || open;
                }
            }
            _ => {
                // A late request is tracked, so that its answer has a request.
                let message = MessageTurn {
                    breaks_rule: message.breaks_rule || late,
                    ..*message
                };
                let enclosing = key.map_or(Enclosing::Unknown, |_| Enclosing::Stream(execute));
                self.handle_message(&message, enclosing);
            }
        }
    }

    /// Removes a request that will not be answered.
    fn remove_request(&mut self, key: &PairKey) -> Option<OpenRequest> {
        let (asked, want) = self.pairs.open.close(key)?;
        for callback in self.forget(key, &asked, &want).values() {
            // The sender of these callbacks has ended: the answers have no receiver.
            if let Some((_, want)) = self.pairs.open.get_mut(callback) {
                want.may_be_missed = true;
            }
        }
        want.needs_answer().then_some(asked)
    }

    /// Handles the end of the events on a connection.
    fn end_stream(&mut self, origin: Origin, report: &mut Report) {
        let Some(wire) = self.wires.get_mut(origin.conn) else {
            return;
        };
        let Some(stream) = wire.stream.take() else {
            return;
        };
        if let Some(key) = stream.key.filter(|_| !stream.answered)
            && let Some(asked) = self.remove_request(&key)
            && !stream.breaks_rule
        {
            broken!(report, rule::STREAM_ENDS_EARLY, asked.place();
                "the event stream ends without an answer to {} ({})",
                asked.describe(), short(asked.id()));
        }
    }

    /// Handles the end of a connection, or of the server's direction.
    pub(super) fn end_connection(
        &mut self,
        origin: Origin,
        what: ConnectionChange,
        report: &mut Report,
    ) {
        self.end_stream(origin, report);
        let idle = |wire: &HttpConnection| wire.posts.is_empty();
        if what != ConnectionChange::Ended && self.wires.get(origin.conn).is_some_and(idle) {
            self.wires.remove(origin.conn);
        }
    }

    /// Handles lost bytes: they may contain answers, and requests that are answered later.
    pub(super) fn record_loss(&mut self, origin: Origin) {
        let wire = self.wire(origin.conn);
        wire.posts.lose();
        wire.stream = None;
        let id_spaces = [IdSpace::All, IdSpace::One(origin.conn)];
        for id_space in id_spaces {
            self.scope(id_space).record_loss();
            self.pairs.lose(id_space, origin.direction);
            let requester = origin.direction.map(Direction::other);
            self.pairs.miss_answers(id_space, requester);
        }
    }
}

/// Returns the reason of a refusal as ` (text)`.
fn reason(message: &MessageTurn<'_, '_>) -> String {
    if is_page(message) {
        return ": the answer is an HTML page, not of a stepflow server".into();
    }
    let error = message.root().and_then(|root| root.get("error"));
    let text = error.and_then(|e| e.text().or_else(|| e.get("message")?.text()));
    text.map_or(String::new(), |text| format!(" ({})", short(&text)))
}

/// Returns true for a page of HTML: the path or the port is of another program.
fn is_page(message: &MessageTurn<'_, '_>) -> bool {
    let kind = http::head(&message.seen).and_then(|head| http::field(head, "content-type").0);
    kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("text/html"))
}

/// Checks that a POST declares JSON, and accepts both forms of answers.
fn check_fields(seen: Current<'_, '_>) {
    const JSON: &str = "application/json";
    const EVENTS: &str = "text/event-stream";
    let Some(head) = http::head(&seen) else {
        return;
    };
    let shown = |value: &Option<String>| value.as_deref().map_or("not there".into(), short);
    let names = |value: &Option<String>, kind| value.as_ref().is_some_and(|v| v.contains(kind));
    let (kind, place) = http::field(head, "content-type");
    if !names(&kind, JSON) {
        return broken!(seen, rule::CONTENT_TYPE, seen.span(place);
            "Content-Type is {}; it should be {JSON}", shown(&kind));
    }
    let (accept, place) = http::field(head, "accept");
    if !names(&accept, JSON) || !names(&accept, EVENTS) {
        broken!(seen, rule::ACCEPT, seen.span(place);
            "Accept is {}; it should name {JSON} and {EVENTS}", shown(&accept));
    }
}
