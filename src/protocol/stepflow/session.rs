//! A stepflow conversation, over time.
//!
//! ```text
//!   runtime                                 server            open requests, by reach, asker and id
//!      | -> initialize, initialized            |              { runtime "a" }, then none: Ready
//!      | -> components/execute "b"             |              { runtime "b" }
//!      | <- blobs/put "c"                      |              { runtime "b", server "c" within b }
//!      | -> result "c"        result "b" <-    |              none
//!
//!   over HTTP: one exchange a POST; callbacks are events of the execute's answer, answered by a POST of their own,
//!   acknowledged with 202
//! ```

mod exchange;
mod follow;
mod scope;
mod shape;

use super::super::correlation::Asked;
use super::schema;
use crate::framing::{Framing, Head};
use crate::protocol::jsonrpc::pairing::{Key, Pairing, Reach, Request};
use crate::protocol::jsonrpc::{Call, lone_cr};
use crate::protocol::schema::Message;
use crate::protocol::session::memory::Connections;
use crate::protocol::session::text::short;
use crate::protocol::session::{Happened, Report, Seen, Session, SessionConfig, Waiting};
use crate::protocol::{Direction, Origin, Role};
use exchange::Wire;
use follow::Inside;
use scope::{Handshake, Scope};
use std::collections::{BTreeMap, HashMap};

/// Most servers, and most connections, that are remembered.
const MOST_SCOPES: usize = 1 << 12;
/// Longest line that a server of 0.2 and 0.3 reads, and longest answer that any writes whole.
const SHORT_LINE: u64 = 1 << 16;
/// Longest line that a later server reads.
const LONG_LINE: u64 = 1 << 19;

/// What was said so far.
pub(super) struct Conduct {
    pairs: Pairing<Context>,
    scopes: BTreeMap<Reach, Scope>,
    /// HTTP connections.
    wires: Connections<Wire>,
    /// A GET opened an event stream: what is asked by POST may be answered there.
    side_stream: bool,
    /// A child ended: the next one is started again in its place.
    crashed: bool,
}

/// What is kept of a request.
#[derive(Debug, Default)]
struct Context {
    /// The version that an `initialize` names.
    version: Option<i128>,
    /// Which execute it was asked in: the index of that.
    within: Option<u64>,
}

/// One message, on its way through the rules.
#[derive(Clone, Copy)]
struct Turn<'t, 'a> {
    seen: &'t Seen<'a>,
    call: Call<'a>,
    method: Option<&'static Message>,
    way: Option<Direction>,
    reach: Reach,
    /// It could not be read as a whole.
    faulty: bool,
    /// It breaks a rule by itself: what follows from that is not told.
    blamed: bool,
}

impl Conduct {
    pub(super) fn new(config: &SessionConfig) -> Self {
        Self {
            pairs: Pairing::with_room(config.most_open),
            scopes: BTreeMap::new(),
            wires: Connections::with_room(MOST_SCOPES, 0),
            side_stream: false,
            crashed: false,
        }
    }

    fn scope(&mut self, reach: Reach) -> &mut Scope {
        if self.scopes.len() >= MOST_SCOPES && !self.scopes.contains_key(&reach) {
            let oldest = self.scopes.keys().find(|r| **r != Reach::Http).copied();
            oldest.and_then(|oldest| self.scopes.remove(&oldest));
        }
        self.scopes.entry(reach).or_default()
    }

    /// What the line itself shows.
    fn line(seen: &Seen<'_>, way: Option<Direction>, report: &mut Report) {
        let frame = seen.frame;
        if frame.framing != Framing::Lines {
            return;
        }
        let body = frame.view.body;
        let len = u64::from(body.len);
        if frame.len > len && body.len > 0 {
            let text = "the line ends in CR LF; LF alone is enough";
            report.broken("crlf", seen.whole(), text);
        }
        if let Some(place) = lone_cr(seen) {
            let text = "the last line ends in a CR without LF: its reader waits for the LF";
            report.broken("lone-cr", place, text);
        }
        let answer = matches!(seen.message.role, Some(Role::Response | Role::Error));
        if len <= SHORT_LINE || frame.fault.is_some() {
            return;
        }
        match way {
            Some(Direction::ToServer) => {
                let who = if len > LONG_LINE {
                    "no server reads more than 524288"
                } else {
                    "servers of 0.2 and 0.3 read no more than 65536"
                };
                let text = format!("the line has {len} bytes; {who}");
                report.broken("long-line", seen.whole(), text);
            }
            Some(Direction::ToClient) if answer => {
                let text = format!(
                    "the answer has {len} bytes; a server's pipe takes 65536 and drops the rest"
                );
                report.broken("long-answer", seen.whole(), text);
            }
            _ => {}
        }
    }
}

impl Session for Conduct {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        let faulty = !report.broken.is_empty() || !seen.message.valid || seen.frame.fault.is_some();
        let http = match seen.frame.head {
            Head::Http { status, event, .. } => Some((status, event)),
            _ => None,
        };
        // Over HTTP the start line tells who speaks.
        let way = seen.origin.direction.or(http.map(|(status, event)| {
            if status == 0 && !event {
                Direction::ToServer
            } else {
                Direction::ToClient
            }
        }));
        let root = seen.root();
        let call = root.map(Call::of).unwrap_or_default();
        let method = match root {
            Some(root)
                if !faulty && seen.message.role.is_some_and(|role| role != Role::Control) =>
            {
                shape::of(seen, &call).check(root, way, report)
            }
            _ => None,
        };
        let turn = Turn {
            seen,
            call,
            method,
            way,
            reach: Reach::of(http.is_some(), seen.origin),
            faulty,
            blamed: !report.broken.is_empty(),
        };
        match http {
            Some((_, true)) => self.streamed(&turn, report),
            Some((0, false)) => self.posted(&turn, report),
            Some((status, false)) => self.responded(&turn, status, report),
            None => {
                self.said(&turn, Inside::Unknown, report);
                Self::line(seen, way, report);
            }
        }
    }

    fn happened(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        match what {
            Happened::Opened => {
                self.wires.remove(origin.conn);
            }
            Happened::Lost => self.lost(origin),
            Happened::Ended if origin.direction == Some(Direction::ToServer) => {
                if let Some(scope) = self.scopes.get_mut(&Reach::Pipe(origin.conn)) {
                    scope.closed = origin.time;
                }
            }
            Happened::Ended | Happened::Closed | Happened::Reset | Happened::Exited => {
                self.wire_ends(origin, what, report);
                self.crashed |= what == Happened::Exited;
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        for (key, asked, want) in self.pairs.open.sorted() {
            let scope = self.scopes.get(&key.reach);
            let index = asked.place.index;
            // An execute that waits for a callback is not what is at fault.
            let waits = scope.and_then(|s| s.executes.get(&index));
            let waits = waits.is_some_and(|callbacks| !callbacks.is_empty());
            if waits || !want.is_owed() {
                continue;
            }
            let rule = match want.method {
                Some(method) if schema::opens(method) => "initialize-unanswered",
                _ => "unanswered",
            };
            let text = format!("{} ({}) has no answer", asked.what(), short(&asked.id));
            report.broken(rule, asked.place, text);
        }
    }

    fn waiting(&self) -> Vec<Waiting> {
        let open = self.pairs.open.sorted();
        let mut all = Vec::with_capacity(open.len());
        let loose = Loose::of(&open);
        for (key, asked, want) in &open {
            let why = if want.blamed {
                Some("it breaks a rule by itself: peers may well not answer".to_owned())
            } else if want.method.is_some_and(schema::opens) {
                Some("nothing may be asked before initialize is answered".to_owned())
            } else if want.method.is_some_and(schema::executes) {
                let scope = self.scopes.get(&key.reach);
                let own = scope.and_then(|s| s.executes.get(&asked.place.index)?.values().next());
                let own = own
                    .and_then(|key| self.pairs.open.get(key))
                    .map(|(asked, _)| asked);
                callback_of(own, loose.after(key, asked.place.index))
            } else {
                None
            };
            all.push(asked.waiting(why));
        }
        for scope in self.scopes.values() {
            if let Handshake::Answered(place) = scope.handshake {
                all.push(Waiting {
                    place,
                    what: "the runtime, for initialized".into(),
                    id: String::new(),
                    owes: Some(Direction::ToServer),
                    side: None,
                    why: Some("initialize is answered; a server may refuse all else".into()),
                });
            }
        }
        all.sort_by_key(|w| w.place.index);
        all
    }

    fn is_open(&self, index: u64) -> bool {
        let mut scopes = self.scopes.values();
        self.pairs.open.at(index).is_some()
            || scopes
                .any(|s| matches!(s.handshake, Handshake::Answered(place) if place.index == index))
    }

    fn refused(&self) -> u64 {
        self.pairs.open.refused()
    }
}

/// Callbacks in pipes of which nothing tells whose they are, by pipe and from the oldest. Over HTTP the event stream tells.
struct Loose<'o>(HashMap<Reach, Vec<(Direction, &'o Asked)>>);

impl<'o> Loose<'o> {
    fn of(open: &[(&Key, &'o Asked, &Request<Context>)]) -> Self {
        let mut loose: HashMap<Reach, Vec<_>> = HashMap::new();
        for (key, asked, want) in open {
            if key.reach != Reach::Http && want.own.within.is_none() {
                let pipe = loose.entry(key.reach).or_default();
                pipe.push((key.asker, *asked));
            }
        }
        Self(loose)
    }

    /// The first one that the other side asked after an execute.
    fn after(&self, key: &Key, execute: u64) -> Option<&'o Asked> {
        let pipe = self.0.get(&key.reach)?;
        let from = pipe.partition_point(|(_, asked)| asked.place.index <= execute);
        let mut later = pipe.get(from..)?.iter();
        later
            .find(|(asker, _)| *asker != key.asker)
            .map(|(_, asked)| *asked)
    }
}

/// Why an execute waits: a callback that it made, or may have made, is not answered.
fn callback_of(own: Option<&Asked>, loose: Option<&Asked>) -> Option<String> {
    let index = |asked: &&Asked| asked.place.index;
    let asked = own.into_iter().chain(loose).min_by_key(index)?;
    let is_own = own.is_some_and(|own| own.place.index == asked.place.index);
    let whose = if is_own { "" } else { ", perhaps its own" };
    Some(format!(
        "callback unanswered inside an execute: {} ({}){whose}",
        asked.what(),
        short(&asked.id)
    ))
}

#[cfg(test)]
mod tests;
