//! The state of connections apart from their messages: ended directions, and the upgrade to WebSocket.
//!
//! ```text
//!   GET / upgrade: websocket  -->  requested  -- 101 -->  messages
//!                                             -- another status -->  upgrade-refused
//!                                             -- the connection ends -->  upgrade-unanswered
//! ```

use crate::capture::Event;
use crate::decoder::{Metadata, SideEvent};
use crate::escape::shorten;
use crate::framing::Head;
use crate::framing::fields::{fields, secrets};
use crate::protocol::rule_names::common as rule;
use crate::protocol::session::memory::PerDirection;
use crate::protocol::session::{ConnectionChange, Place, Report, Seen, broken};
use crate::protocol::{ConnStream, Direction, Origin, is_unidirectional};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Maximum number of connections that are tracked; the oldest is removed first.
const MAX_CONNECTIONS: usize = 1 << 12;
/// Maximum number of subprotocols of a request that are stored.
const MAX_OFFERS: usize = 64;
/// Maximum length of a text of the wire in a finding, in characters.
const MAX_TEXT: usize = 80;

/// All connections of a conversation.
#[derive(Default)]
pub(super) struct Connections {
    all: BTreeMap<ConnStream, ConnectionState>,
}

/// One connection or stream.
#[derive(Default)]
struct ConnectionState {
    /// The ended directions.
    ended: PerDirection<bool>,
    closed: Option<ConnectionChange>,
    /// How its process ended, if that is known.
    exit: Option<ProcessEnd>,
    upgrade: Option<Upgrade>,
    /// An injected fault after which the receiver may read nothing more.
    broken_by: Option<String>,
}

/// The status of a process, or the signal that ended it.
#[derive(Clone, Copy)]
enum ProcessEnd {
    Status(i64),
    Signal(i64),
}

/// A request for WebSocket without a response so far.
struct Upgrade {
    place: Place,
    /// The offered subprotocols.
    offers: Vec<Box<[u8]>>,
}

impl Connections {
    fn state(&mut self, origin: Origin) -> &mut ConnectionState {
        let key = origin.conn_stream();
        if self.all.len() >= MAX_CONNECTIONS && !self.all.contains_key(&key) {
            self.all.pop_first();
        }
        self.all.entry(key).or_default()
    }

    /// Reads the head of an HTTP request or response.
    pub(super) fn read_head(&mut self, seen: &Seen<'_>, report: &mut Report) {
        let Head::Http {
            status,
            start,
            len,
            event: false,
            ..
        } = seen.frame.head
        else {
            return;
        };
        let bytes = seen.frame.view.bytes.get(..len as usize);
        let head = bytes.filter(|head| head.starts_with(start.as_bytes()));
        let head = head.unwrap_or_default();
        if status == 0 {
            if list_elements(head, "upgrade").any(|name| name.eq_ignore_ascii_case(b"websocket")) {
                let offers = list_elements(head, PROTOCOL)
                    .take(MAX_OFFERS)
                    .map(Into::into);
                self.state(seen.origin).upgrade = Some(Upgrade {
                    place: seen.whole(),
                    offers: offers.collect(),
                });
            }
            return;
        }
        // RFC 9110 section 15.2: the final response follows an interim one.
        let is_interim = (100..200).contains(&status) && status != 101;
        let upgrade = self
            .all
            .get_mut(&seen.origin.conn_stream())
            .filter(|_| !is_interim);
        let Some(Upgrade { place, offers }) = upgrade.and_then(|state| state.upgrade.take()) else {
            return;
        };
        if status != 101 {
            broken!(report, rule::UPGRADE_REFUSED, seen.whole(), place.index;
                "the upgrade to WebSocket is refused: {}", shortened(start.as_bytes()));
        } else if let Some(chosen) =
            list_elements(head, PROTOCOL).find(|name| !is_offered(&offers, name))
        {
            let is_secret = secrets(head, &|_| false).iter().any(|secret| {
                let hidden = head.get(secret.range.clone()).unwrap_or_default();
                hidden
                    .windows(chosen.len().max(1))
                    .any(|part| part == chosen)
            });
            let chosen = if is_secret {
                "(secret)".into()
            } else {
                shortened(chosen)
            };
            broken!(report, rule::SUBPROTOCOL_NOT_OFFERED, seen.whole(), place.index;
                "the server selects the subprotocol `{chosen}`, but the client {}",
                if offers.is_empty() { "offers none" } else { "does not offer it" });
        }
    }

    /// Handles the start or the end of a connection or of one direction.
    pub(super) fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        match what {
            ConnectionChange::Opened => *self.state(origin) = ConnectionState::default(),
            ConnectionChange::Lost => self.state(origin).upgrade = None,
            ConnectionChange::Ended => {
                let state = self.state(origin);
                for direction in [Direction::ToServer, Direction::ToClient] {
                    *state.ended.get_mut(Some(direction)) |=
                        origin.direction.is_none_or(|ends| ends == direction);
                }
                if origin.direction != Some(Direction::ToServer) {
                    state.report_unanswered(report);
                }
                let directions = [Direction::ToServer, Direction::ToClient];
                let both = directions.map(|direction| *state.ended.get(Some(direction)));
                let is_over = |stream| is_unidirectional(stream) || both == [true; 2];
                if origin.stream.is_some_and(is_over) {
                    self.all.remove(&origin.conn_stream());
                }
            }
            ConnectionChange::Closed | ConnectionChange::Reset | ConnectionChange::Exited => {
                self.state(origin).closed.get_or_insert(what);
                for (_, state) in self
                    .all
                    .range_mut(origin.conn_stream()..=(origin.conn, Some(u64::MAX)))
                {
                    state.report_unanswered(report);
                }
            }
        }
    }

    /// Records an injected fault. A delayed, dropped, duplicated or added message does not affect other messages.
    pub(super) fn fault(&mut self, origin: Origin, metadata: &Metadata) {
        if let SideEvent::Fault(what) = &metadata.event
            && !["delay", "drop", "dup", "sent"]
                .iter()
                .any(|name| what.starts_with(name))
        {
            self.state(origin).broken_by.get_or_insert(what.clone());
        }
    }

    /// Returns the fault that wiretool injected into a connection.
    pub(super) fn broken_by(&self, origin: Origin) -> Option<&str> {
        self.all.get(&origin.conn_stream())?.broken_by.as_deref()
    }

    /// Records how the process of a connection ended.
    pub(super) fn record_exit(&mut self, event: &Event<'_>) {
        let number = |name: &str| event.more.and_then(|more| more.get(name)?.as_i64());
        let status = number("code").map(ProcessEnd::Status);
        self.state(event.origin()).exit = number("signal").map(ProcessEnd::Signal).or(status);
    }

    /// Handles the end of the input.
    pub(super) fn finish(&mut self, report: &mut Report) {
        for state in self.all.values_mut() {
            state.report_unanswered(report);
        }
    }

    /// Returns the reason why a message of this origin can no longer be answered.
    pub(super) fn closed_reason(&self, origin: Origin) -> Option<String> {
        let connection = self.all.get(&(origin.conn, None));
        let whole = connection.and_then(|state| state.closed);
        let exit = connection.and_then(|state| state.exit);
        let own = self.all.get(&origin.conn_stream());
        let is_ended = |direction| own.is_some_and(|state| *state.ended.get(Some(direction)));
        let has_ended = match origin.direction {
            Some(sender) => is_ended(sender.other()),
            None => is_ended(Direction::ToServer) || is_ended(Direction::ToClient),
        };
        let closed = whole.or(own.and_then(|state| state.closed));
        let how = match (closed, exit) {
            (Some(ConnectionChange::Reset), _) => " (reset)".into(),
            (Some(ConnectionChange::Exited), Some(ProcessEnd::Status(status))) => {
                format!(" (the process has exited with status {status})").into()
            }
            (Some(ConnectionChange::Exited), Some(ProcessEnd::Signal(signal))) => {
                format!(" (signal {signal} has ended the process)").into()
            }
            (Some(ConnectionChange::Exited), None) => " (the process has exited)".into(),
            (Some(_), _) => Cow::Borrowed(""),
            (None, _) if has_ended => Cow::Borrowed(""),
            (None, _) => return None,
        };
        Some(format!("the connection is closed{how}"))
    }
}

impl ConnectionState {
    fn report_unanswered(&mut self, report: &mut Report) {
        if let Some(Upgrade { place, .. }) = self.upgrade.take() {
            broken!(report, rule::UPGRADE_UNANSWERED, place;
                "the upgrade to WebSocket has no answer");
        }
    }
}

/// The field that offers and chooses subprotocols.
const PROTOCOL: &str = "sec-websocket-protocol";

/// Returns the elements of a list field, which may occur several times.
fn list_elements<'a>(head: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let values = fields(head).filter(move |field| field.is(name));
    let values = values.filter_map(|field| head.get(field.value));
    let parts = values.flat_map(|value| value.split(|b| *b == b','));
    parts
        .map(<[u8]>::trim_ascii)
        .filter(|part| !part.is_empty())
}

/// Compares subprotocols byte by byte (RFC 6455 section 4.1).
fn is_offered(offers: &[Box<[u8]>], name: &[u8]) -> bool {
    offers.len() >= MAX_OFFERS || offers.iter().any(|offer| **offer == *name)
}

/// Returns the start of a text of the wire.
fn shortened(text: &[u8]) -> String {
    shorten(&String::from_utf8_lossy(text), MAX_TEXT).into_owned()
}
