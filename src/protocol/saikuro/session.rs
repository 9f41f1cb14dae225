//! A saikuro conversation, over time.
//!
//! ```text
//!   call resource batch announce   asked --response | error--> past
//!   cast log                       past at once; a runtime answers all the same
//!   stream                         asked --item*--> --end | error (+ abort)--> past
//!   channel                        asked --items either way--> closed by one --closed by both | error--> past
//! ```
//!
//! Either side of a connection may ask, so an answer belongs to what the other side asked under its id, and only a
//! frame that does not is looked for among what its own side opened. A runtime that cannot read a message refuses it
//! under an id of its own making: that is laid to the oldest message which it may mean.

mod announce;
mod answers;
mod check;
mod frames;
mod reply;
mod schema;
mod state;
#[cfg(test)]
mod tests;
mod unmatched;

use super::message::field;
use crate::framing::Head;
use crate::protocol::correlation::{Asked, Open};
use crate::protocol::session::memory::Recent;
use crate::protocol::session::text::quote;
use crate::protocol::session::{Happened, Report, Seen, Session, SessionConfig, Waiting};
use crate::protocol::{Direction, Id, Origin, Role};
use crate::tape::Node;
use announce::{Namespaces, document_form};
use schema::Functions;
use state::{Batch, Channel, Conn, Ended, Form, How, Key, Name, PAST, Side, State, Stream};
use std::collections::HashMap;

/// What was said so far.
pub(super) struct Conduct {
    open: Open<Key, State>,
    ended: Recent<Key, Ended>,
    conns: HashMap<Option<u32>, Conn>,
    namespaces: Namespaces,
    functions: Functions,
    orphans: usize,
}

impl Conduct {
    pub(super) fn new(config: &SessionConfig) -> Self {
        Self {
            open: Open::with_room(config.most_open),
            ended: Recent::with_room(PAST),
            conns: HashMap::new(),
            namespaces: Namespaces::default(),
            functions: Functions::default(),
            orphans: 0,
        }
    }

    /// The side that sends in this direction.
    fn side(&mut self, conn: Option<u32>, direction: Option<Direction>) -> &mut Side {
        self.conns.entry(conn).or_default().sides.get_mut(direction)
    }

    /// The side that sent this.
    fn sender(&mut self, seen: &Seen<'_>) -> &mut Side {
        self.side(seen.origin.conn, seen.origin.direction)
    }

    /// What one side asked under the id of this message; the other side's where `flip` is set.
    fn key(seen: &Seen<'_>, flip: bool) -> Option<Key> {
        let Origin {
            conn, direction, ..
        } = seen.origin;
        Some(Key {
            conn,
            asker: if flip {
                direction.map(Direction::other)
            } else {
                direction
            },
            name: Name::of(&seen.message.id)?,
        })
    }

    /// An envelope.
    fn envelope(&mut self, seen: &Seen<'_>, root: Node<'_>, unread: bool, report: &mut Report) {
        let kind = seen.message.kind.as_ref();
        let plain = document_form(root).filter(|_| kind == "announce");
        // A runtime reads no announce in the document's form. Where bytes are left over, what is missing stands there.
        let refused = if plain.is_some() || !seen.message.valid {
            true
        } else {
            check::envelope(seen, root, kind, false, report) || unread
        };
        let key = match plain.and_then(Node::text) {
            Some(namespace) => Some(Key {
                conn: seen.origin.conn,
                asker: seen.origin.direction,
                name: Name::Namespace(namespace.as_ref().into()),
            }),
            None => Self::key(seen, false),
        };
        if refused {
            self.sender(seen).doubt(seen.index, key.clone());
        } else if seen.origin.direction != Some(Direction::ToClient) {
            // What a runtime hands on, it has checked.
            self.functions.check(seen, root, report);
        }
        if kind == "announce" {
            self.announced(seen, root, report);
        }
        if let Some(key) = key {
            match kind {
                "cast" => self.told(key, seen, How::Cast),
                "log" => self.told(key, seen, How::Told),
                // A runtime that hands on announces waits for no answer.
                "announce" if seen.origin.direction == Some(Direction::ToClient) => {
                    self.told(key, seen, How::Told);
                }
                "channel" => self.channel(key, seen, root, report),
                "stream" if self.is_stream(&key) && field(root, "stream_control").is_some() => {
                    self.opener_frame(&key, seen, root, report);
                }
                _ => self.ask(key, seen, root, report),
            }
        }
        let side = self.sender(seen);
        side.first.get_or_insert(seen.index);
        side.announced |= kind == "announce";
    }

    fn is_stream(&self, key: &Key) -> bool {
        matches!(self.open.get(key), Some((_, State::Stream(_))))
    }

    /// A request is over.
    fn end(&mut self, key: Key, asked: Asked, how: How, seen: &Seen<'_>) {
        let by = seen.index;
        self.ended.insert(key, Ended { asked, how, by });
    }

    /// A message to which no answer is owed.
    fn told(&mut self, key: Key, seen: &Seen<'_>, how: How) {
        self.end(key, Asked::of(seen), how, seen);
    }

    fn announced(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        announce::check(seen, root, report);
        self.functions.learn(seen, root);
        if seen.origin.direction == Some(Direction::ToClient) {
            return;
        }
        self.namespaces.announce(seen, root, report);
        let side = self.sender(seen);
        if let Some(first) = side.first.filter(|_| !side.announced) {
            let text = format!("the announce comes after #{first}, it should come first");
            report.broken_by("announce-late", seen.whole(), first, text);
        }
    }

    /// A message to which an answer is owed.
    fn ask(&mut self, key: Key, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let state = match seen.message.kind.as_ref() {
            "stream" => State::Stream(Stream::default()),
            "channel" => State::Channel(Channel::default()),
            "batch" => State::Batch(self.batch(seen, root, report)),
            _ => State::Single {
                own: self.is_own(seen, root, report),
                form: field(root, "id").map_or(Form::Other, Form::of),
            },
        };
        let is_single = matches!(state, State::Single { .. } | State::Batch(_));
        self.ended.remove(&key);
        let refused = self.open.refused();
        let before = self.open.ask(key.clone(), Asked::of(seen), state);
        if self.open.refused() > refused {
            return;
        }
        match before {
            Some((_, State::Stream(Stream { orphan: true, .. }))) => self.orphans -= 1,
            Some((before, _)) => {
                let index = before.place.index;
                self.sender(seen).order.remove(&index);
                let text = format!(
                    "the id is that of {}, #{index}, which is open",
                    before.what()
                );
                let place = field(root, "id").map_or(seen.whole(), |id| seen.at(id));
                report.broken_by("id-reused", place, index, text);
            }
            None => {}
        }
        if is_single {
            self.sender(seen).order.insert(seen.index, key);
        }
    }

    fn batch(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) -> Batch {
        let mut batch = Batch {
            form: field(root, "id").map_or(Form::Other, Form::of),
            ..Batch::default()
        };
        let items = field(root, "batch_items").filter(|items| items.is_array());
        for item in items.into_iter().flat_map(Node::children) {
            let id = field(item, "id").map_or(Id::None, super::message::id);
            batch.push(Name::of(&id));
            batch.own = batch.own || self.is_own(seen, item, report);
        }
        batch
    }

    /// Whether the sender of a call offers itself what it calls.
    fn is_own(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) -> bool {
        let Some(target) = field(root, "target") else {
            return false;
        };
        let Some((by, is_first)) = self.namespaces.own(seen.origin, target) else {
            return false;
        };
        if is_first {
            let text = format!(
                "{} is what this connection itself announced in #{by}: a runtime that waits for its answer reads none",
                quote(target)
            );
            report.broken_by("own-namespace", seen.at(target), by, text);
        }
        true
    }

    /// An envelope of a channel: the first, or one that follows under its id.
    fn channel(&mut self, key: Key, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let other = Key {
            asker: key.asker.map(Direction::other),
            ..key.clone()
        };
        if matches!(self.open.get(&key), Some((_, State::Channel(_)))) {
            self.opener_frame(&key, seen, root, report);
        } else if matches!(self.open.get(&other), Some((_, State::Channel(_)))) {
            self.answered(&other, seen, root, report);
        } else if seen.message.role == Some(Role::Request) {
            self.ask(key, seen, root, report);
        } else if self.ended.get(&key).is_some() {
            self.late_opener_frame(&key, seen, report);
        } else {
            self.unknown(seen, root, report);
        }
    }

    /// A message that cannot be read whole: what it may be is not held against anyone.
    fn half_read(&mut self, seen: &Seen<'_>) {
        let asks = seen
            .root()
            .is_some_and(|root| field(root, "type").is_some());
        let key = Self::key(seen, !asks);
        if let Some(key) = key.clone().filter(|_| asks) {
            self.told(key, seen, How::HalfRead);
        } else if let Some(key) = &key {
            match self.open.get_mut(key) {
                Some((_, State::Stream(stream))) => stream.flow.next = None,
                Some((_, State::Channel(channel))) => channel.lose(),
                Some((asked, _)) => {
                    let index = asked.place.index;
                    self.open.close(key);
                    self.side(key.conn, key.asker).order.remove(&index);
                }
                None => {}
            }
        }
        self.sender(seen).doubt(seen.index, key.filter(|_| asks));
    }

    /// Bytes of a connection went by unread: what they held may be missed.
    fn lose(&mut self, conn: Option<u32>) {
        self.conns.entry(conn).or_default().lost = true;
        self.open.retain(conn, |_, _, state| {
            match state {
                State::Stream(stream) => stream.flow.next = None,
                State::Channel(channel) => channel.lose(),
                _ => {}
            }
            true
        });
    }

    /// Nothing more will come for these requests: they stay open.
    fn over(&mut self, left: Vec<(Key, Asked, State)>, report: &mut Report) {
        for (key, asked, state) in left {
            if matches!(state, State::Stream(Stream { orphan: true, .. })) {
                self.orphans -= 1;
            }
            let lost = self.conns.get(&key.conn).is_some_and(|c| c.lost);
            if let Some((rule, text)) = left_open(&asked, &state).filter(|_| !lost) {
                report.broken(rule, asked.place, text);
            }
        }
    }
}

impl Session for Conduct {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        let message = seen.message;
        let fault = seen.frame.fault.as_ref();
        if message.kind == "skipped" || fault.is_some_and(|f| f.error.code == "truncated") {
            self.lose(seen.origin.conn);
        }
        let is_text = matches!(seen.frame.head, Head::WebSocket { opcode: 1, .. });
        if is_text {
            // What cannot be read in it follows from that.
            report.broken.clear();
            if self.sender(seen).reported.first("text-frame") {
                let text = "the frame is a text frame; peers read binary frames alone";
                report.broken("text-frame", seen.whole(), text);
            }
        }
        if let Some(text) = seen.wrong_mask()
            && self.sender(seen).reported.first("mask")
        {
            report.broken("mask", seen.whole(), text);
        }
        if is_text {
            return self.half_read(seen);
        }
        if message.role == Some(Role::Control) {
            return;
        }
        // Bytes behind the value are passed over by a runtime, all else makes it refuse the message.
        let is_whole = message.faults.iter().all(|f| f.code == "trailing-bytes");
        let Some(root) = seen.root().filter(|_| is_whole) else {
            return self.half_read(seen);
        };
        let unread = check::values(seen, root, report);
        match (message.role, message.kind.as_ref()) {
            (None, _) => {
                if message.valid {
                    check::unknown(seen, root, report);
                }
                self.sender(seen).doubt(seen.index, None);
            }
            (_, "announce_ack") => self.acknowledged(seen, root, report),
            _ if field(root, "type").is_some() => self.envelope(seen, root, unread, report),
            _ => self.answer(seen, root, report),
        }
    }

    fn happened(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        match what {
            Happened::Opened => return,
            Happened::Ended => {
                // What this side still has to answer has no answer.
                let asker = origin.direction.map(Direction::other);
                let left = self.open.end_where(origin.conn, |key| key.asker == asker);
                self.over(left, report);
                self.side(origin.conn, origin.direction).ended = true;
                if asker.is_none() || !self.side(origin.conn, asker).ended {
                    return;
                }
            }
            Happened::Lost => return self.lose(origin.conn),
            Happened::Closed | Happened::Reset | Happened::Exited => {}
        }
        let left = self.open.end(origin.conn);
        self.over(left, report);
        self.unaborted(origin.conn, report);
        self.conns.remove(&origin.conn);
        self.namespaces.leave(origin.conn);
        self.functions.leave(origin.conn);
    }

    fn finish(&mut self, report: &mut Report) {
        let left = self.open.end_all();
        self.over(left, report);
        let mut conns: Vec<_> = self.conns.keys().copied().collect();
        conns.sort_unstable();
        for conn in conns {
            self.unaborted(conn, report);
        }
    }

    fn waiting(&self) -> Vec<Waiting> {
        let open = self.open.sorted();
        open.into_iter().filter_map(waits).collect()
    }

    fn is_open(&self, index: u64) -> bool {
        self.open.at(index).and_then(waits).is_some()
    }

    fn sides(&self, conn: Option<u32>) -> Option<[&'static str; 2]> {
        self.conns.get(&conn)?.names()
    }

    fn refused(&self) -> u64 {
        self.open.refused()
    }
}

/// Who owes what, and why it may take long.
fn waits((_, asked, state): (&Key, &Asked, &State)) -> Option<Waiting> {
    let why = match state {
        State::Single { own: true, .. } | State::Batch(Batch { own: true, .. }) => Some(
            "the connection that asks announced the namespace itself; a runtime reads its answer after 30 s",
        ),
        State::Single { .. } | State::Batch(_) => None,
        State::Stream(Stream { orphan: true, .. }) => return None,
        State::Stream(stream) => stream
            .acknowledged
            .then_some("it was acknowledged by a runtime, which hands on no items"),
        State::Channel(channel) => match &channel.flows {
            [opener, other] if opener.done.is_some() != other.done.is_some() => {
                let mut waiting = asked.waiting(Some("closed by one side only".into()));
                if other.done.is_some() {
                    waiting.owes = asked.origin().direction;
                }
                return Some(waiting);
            }
            _ if channel.acknowledged => {
                Some("it was acknowledged by a runtime, which hands on no items")
            }
            _ => Some("closed by neither side"),
        },
    };
    Some(asked.waiting(why.map(Into::into)))
}

/// What is said of something that stays open: the rule that is broken, and how.
fn left_open(asked: &Asked, state: &State) -> Option<(&'static str, String)> {
    let what = asked.what();
    Some(match state {
        State::Single { .. } | State::Batch(_) => ("unanswered", format!("{what} has no answer")),
        // That none of its items will come was said.
        State::Stream(stream) if stream.orphan || stream.acknowledged => return None,
        State::Stream(_) => ("stream-unfinished", format!("{what} is not ended")),
        // Real peers have no way to close one, but for Rust's.
        State::Channel(channel) if channel.peers => return None,
        State::Channel(channel) => {
            let closed = channel.flows.iter().any(|flow| flow.done.is_some());
            let by = if closed {
                "one side only"
            } else {
                "neither side"
            };
            ("channel-not-closed", format!("{what} is closed by {by}"))
        }
    })
}
