//! What is known of each connection beside its messages: which directions have ended, and the upgrade to WebSocket.
//!
//! ```text
//!   GET / upgrade: websocket  -->  asked  -- 101 -->  messages
//!                                         -- another status -->  upgrade-refused
//!                                         -- the connection ends -->  upgrade-unanswered
//! ```

use super::Conversation;
use crate::decoder::{Beside, Says};
use crate::framing::Head;
use crate::framing::fields::{fields, secrets};
use crate::protocol::session::{Broken, Happened, Place, Report, Rule, Seen};
use crate::protocol::{Direction, Origin};
use std::collections::BTreeMap;

/// Connections that are followed at a time; the oldest is forgotten first.
const MOST: usize = 1 << 12;
/// Subprotocols of one request that are remembered.
const OFFERS: usize = 64;
/// Bytes of a text of the wire in a finding.
const LONGEST: usize = 80;

/// All connections of a conversation.
#[derive(Default)]
pub(super) struct Links {
    all: BTreeMap<Option<u32>, Link>,
}

/// One connection.
#[derive(Default)]
struct Link {
    /// Which directions have ended: to the server, to the client.
    ended: [bool; 2],
    closed: Option<Happened>,
    upgrade: Option<Upgrade>,
    /// What wiretool did to its bytes, after which the receiver may read nothing more.
    broken_by: Option<String>,
}

/// A request for WebSocket that is not answered yet.
struct Upgrade {
    place: Place,
    /// The subprotocols that it offers.
    offers: Vec<Box<[u8]>>,
}

const fn at(way: Direction) -> usize {
    match way {
        Direction::ToServer => 0,
        Direction::ToClient => 1,
    }
}

impl Links {
    fn link(&mut self, conn: Option<u32>) -> &mut Link {
        if self.all.len() >= MOST && !self.all.contains_key(&conn) {
            self.all.pop_first();
        }
        self.all.entry(conn).or_default()
    }

    /// Looks at the head of an HTTP request or response.
    pub(super) fn see(&mut self, seen: &Seen<'_>, report: &mut Report) {
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
        let conn = seen.origin.conn;
        let bytes = seen.frame.view.bytes.get(..len as usize);
        let head = bytes.filter(|head| head.starts_with(start.as_bytes()));
        let head = head.unwrap_or_default();
        if status == 0 {
            if list(head, "upgrade").any(|name| name.eq_ignore_ascii_case(b"websocket")) {
                let offers = list(head, PROTOCOL).take(OFFERS).map(Into::into);
                self.link(conn).upgrade = Some(Upgrade {
                    place: seen.whole(),
                    offers: offers.collect(),
                });
            }
            return;
        }
        // RFC 9110 section 15.2: the final response follows an interim one.
        let is_interim = (100..200).contains(&status) && status != 101;
        let upgrade = self.all.get_mut(&conn).filter(|_| !is_interim);
        let Some(Upgrade { place, offers }) = upgrade.and_then(|link| link.upgrade.take()) else {
            return;
        };
        if status != 101 {
            let text = format!(
                "the upgrade to WebSocket is refused: {}",
                short(start.as_bytes())
            );
            report.broken_by("upgrade-refused", seen.whole(), place.index, text);
        } else if let Some(chosen) = list(head, PROTOCOL).find(|name| !has(&offers, name)) {
            let is_secret = secrets(head, &|_| false).iter().any(|secret| {
                let hidden = head.get(secret.range.clone()).unwrap_or_default();
                hidden
                    .windows(chosen.len().max(1))
                    .any(|part| part == chosen)
            });
            let chosen = if is_secret {
                "(secret)".into()
            } else {
                short(chosen)
            };
            let text = match offers.len() {
                0 => {
                    format!("the server chooses the subprotocol `{chosen}`, the client offers none")
                }
                _ => format!(
                    "the server chooses the subprotocol `{chosen}`, which the client does not offer"
                ),
            };
            report.broken_by("subprotocol-not-offered", seen.whole(), place.index, text);
        }
    }

    /// A connection, or a direction of it, opens or ends.
    pub(super) fn happened(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        match what {
            Happened::Opened => *self.link(origin.conn) = Link::default(),
            Happened::Lost => self.link(origin.conn).upgrade = None,
            Happened::Ended => {
                let link = self.link(origin.conn);
                for way in [Direction::ToServer, Direction::ToClient] {
                    if let Some(ended) = link.ended.get_mut(at(way)) {
                        *ended |= origin.direction.is_none_or(|ends| ends == way);
                    }
                }
                if origin.direction != Some(Direction::ToServer) {
                    link.unanswered(report);
                }
            }
            Happened::Closed | Happened::Reset | Happened::Exited => {
                let link = self.link(origin.conn);
                link.closed.get_or_insert(what);
                link.unanswered(report);
            }
        }
    }

    /// wiretool did something to a message. A message that is late, missing or doubled leaves the others as they are.
    pub(super) fn fault(&mut self, origin: Origin, beside: &Beside) {
        if let Says::Fault(what) = &beside.says
            && !["delay", "drop", "dup"]
                .iter()
                .any(|word| what.starts_with(word))
        {
            self.link(origin.conn).broken_by.get_or_insert(what.clone());
        }
    }

    /// What wiretool did to a connection.
    pub(super) fn broken_by(&self, conn: Option<u32>) -> Option<&str> {
        self.all.get(&conn)?.broken_by.as_deref()
    }

    /// Nothing more will come.
    pub(super) fn finish(&mut self, report: &mut Report) {
        for link in self.all.values_mut() {
            link.unanswered(report);
        }
    }

    /// Why no answer can come to a message of this origin any more.
    pub(super) fn closed(&self, origin: Origin) -> Option<&'static str> {
        let link = self.all.get(&origin.conn)?;
        let is_ended = |way| link.ended.get(at(way)).copied().unwrap_or_default();
        let is_over = match origin.direction {
            Some(asks) => is_ended(asks.other()),
            None => link.ended.contains(&true),
        };
        match link.closed {
            Some(Happened::Reset) => Some("the connection is closed (reset)"),
            Some(Happened::Exited) => Some("the connection is closed (the process has exited)"),
            Some(_) => Some("the connection is closed"),
            None if is_over => Some("the connection is closed"),
            None => None,
        }
    }
}

impl Link {
    fn unanswered(&mut self, report: &mut Report) {
        if let Some(Upgrade { place, .. }) = self.upgrade.take() {
            let text = "the upgrade to WebSocket has no answer";
            report.broken("upgrade-unanswered", place, text);
        }
    }
}

/// The field that offers subprotocols, and chooses one.
const PROTOCOL: &str = "sec-websocket-protocol";

/// The elements of a field that is a list: it may be there several times.
fn list<'a>(head: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    let values = fields(head).filter(move |field| field.is(name));
    let values = values.filter_map(|field| head.get(field.value));
    let parts = values.flat_map(|value| value.split(|b| *b == b','));
    parts
        .map(<[u8]>::trim_ascii)
        .filter(|part| !part.is_empty())
}

/// Subprotocols are compared byte by byte (RFC 6455 section 4.1).
fn has(offers: &[Box<[u8]>], name: &[u8]) -> bool {
    offers.len() >= OFFERS || offers.iter().any(|offer| **offer == *name)
}

/// The beginning of a text of the wire.
fn short(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}

impl Conversation<'_> {
    /// What wiretool did that explains a broken rule: no peer is to blame for it.
    pub(super) fn cause(&self, rule: &Rule, broken: &Broken) -> Option<&str> {
        let indexes = [Some(broken.place.index), broken.related];
        let mut faults = indexes.into_iter().flatten().map(|n| self.injected.get(&n));
        let own = faults.find_map(|fault| fault.map(AsRef::as_ref));
        let ended = rule.unanswered || broken.place.index == Place::NO_MESSAGE;
        own.or_else(|| {
            self.links
                .broken_by(broken.place.origin.conn)
                .filter(|_| ended)
        })
    }
}
