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

// Long: one state machine, read from top to bottom.

mod announce;
mod check;
mod frames;
mod state;
#[cfg(test)]
mod tests;

use super::message::field;
use crate::protocol::correlation::{Asked, Open};
use crate::protocol::session::{Aids, Happened, Report, Seen, Session, Waiting};
use crate::protocol::{Direction, Id, Origin, Role};
use crate::tape::Node;
use announce::{Namespaces, document_form};
use check::{quoted, said};
use frames::{Effect, number, of_channel, of_stream};
use state::{Batch, Channel, Conn, Flow, How, Key, Name, Past, Side, State, Stream};
use std::collections::HashMap;

/// How long a runtime waits for a provider, in ns.
const PATIENCE: i64 = 30_000_000_000;
/// Streams that are followed though their beginning was not seen.
const ORPHANS: usize = 1 << 8;

/// What was said so far.
pub(super) struct Conduct {
    open: Open<Key, State>,
    past: Past,
    conns: HashMap<Option<u32>, Conn>,
    namespaces: Namespaces,
    orphans: usize,
}

impl Conduct {
    pub(super) fn new(aids: &Aids) -> Self {
        Self {
            open: Open::with_room(aids.most_open),
            past: Past::default(),
            conns: HashMap::new(),
            namespaces: Namespaces::default(),
            orphans: 0,
        }
    }

    /// The side that sends in this direction.
    fn side(&mut self, conn: Option<u32>, direction: Option<Direction>) -> &mut Side {
        self.conns.entry(conn).or_default().side(direction)
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
        // A runtime reads no announce in the document's form.
        let refused =
            unread | (plain.is_some() || check::envelope(seen, root, kind, false, report));
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
                    self.from_opener(&key, seen, root, report);
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

    /// A message to which no answer is owed.
    fn told(&mut self, key: Key, seen: &Seen<'_>, how: How) {
        self.past.insert(key, Asked::of(seen), how, seen.index);
    }

    fn announced(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        announce::check(seen, root, report);
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
            },
        };
        let is_single = matches!(state, State::Single { .. } | State::Batch(_));
        self.past.forget(&key);
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
        let mut batch = Batch::default();
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
                said(target)
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
            self.from_opener(&key, seen, root, report);
        } else if matches!(self.open.get(&other), Some((_, State::Channel(_)))) {
            self.answered(&other, seen, root, report);
        } else if seen.message.role == Some(Role::Request) {
            self.ask(key, seen, root, report);
        } else if self.past.get_mut(&key).is_some() {
            self.late_from_opener(&key, seen, report);
        } else {
            self.unknown(seen, root, report);
        }
    }

    /// An answer, or a frame of a stream or channel.
    fn answer(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let (Some(theirs), Some(own)) = (Self::key(seen, true), Self::key(seen, false)) else {
            let id = field(root, "id");
            let (rule, text) = match id {
                None => (
                    "missing-id",
                    "there is no id that says what this answers".into(),
                ),
                Some(id) => ("bad-field", format!("id is {}, a UUID should be", said(id))),
            };
            let place = id.map_or(seen.whole(), |id| seen.at(id));
            return report.broken(rule, place, text);
        };
        let wants_result = match self.open.get(&theirs) {
            Some((asked, State::Single { .. })) => asked.kind.as_ref() != "announce",
            Some((_, State::Batch(_))) => true,
            _ => false,
        };
        let codes = &mut self.sender(seen).codes;
        check::reply(seen, root, wants_result, codes, report);
        if self.open.get(&theirs).is_some() {
            self.answered(&theirs, seen, root, report);
        } else if self.open.get(&own).is_some() {
            self.from_opener(&own, seen, root, report);
            self.sender(seen).doubt(seen.index, None);
        } else if self.past.get_mut(&theirs).is_some() {
            self.late(&theirs, seen, root, report);
        } else if self.past.get_mut(&own).is_some() {
            self.late_from_opener(&own, seen, report);
            self.sender(seen).doubt(seen.index, None);
        } else {
            self.unknown(seen, root, report);
        }
        self.sender(seen).first.get_or_insert(seen.index);
    }

    /// A frame that belongs to what the other side asked.
    fn answered(&mut self, key: &Key, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let Some((asked, state)) = self.open.get_mut(key) else {
            return;
        };
        let effect = match state {
            State::Single { .. } => Effect::Over(How::Answered),
            State::Batch(batch) => {
                check::batch_answer(seen, root, batch, report);
                Effect::Over(How::Answered)
            }
            State::Stream(stream) => of_stream(stream, seen, root, report),
            State::Channel(channel) => of_channel(channel, false, seen, root, report),
        };
        let index = asked.place.index;
        let is_single = matches!(state, State::Single { .. } | State::Batch(_));
        if is_single && key.asker == Some(Direction::ToServer) && asked.kind.as_ref() == "announce"
        {
            refused_announce(seen, &mut self.namespaces, index, report);
        }
        // A runtime hands on nothing that streams, so it may refuse the answer.
        if !is_single && let Some(conn) = self.conns.get_mut(&key.conn) {
            conn.side(seen.origin.direction).doubt(seen.index, None);
        }
        let is_orphan = matches!(state, State::Stream(Stream { orphan: true, .. }));
        if !is_orphan {
            match effect {
                Effect::Nothing => {}
                Effect::Part | Effect::Again => report.answers(asked, seen, false),
                Effect::Over(_) => report.answers(asked, seen, true),
            }
        }
        if let Effect::Again = effect {
            let text = format!("{} was answered before", asked.what());
            report.broken_by("second-answer", seen.whole(), index, text);
        }
        let Effect::Over(how) = effect else {
            return;
        };
        if is_single {
            late_answer(asked, seen, report);
        }
        if let Some((asked, _)) = self.open.close(key) {
            self.past.insert(key.clone(), asked, how, seen.index);
        }
        if is_orphan {
            self.orphans -= 1;
        } else if is_single {
            self.settle(key, index, seen, report);
        }
    }

    /// Something was answered: a runtime that answers in turn is done with all before it.
    fn settle(&mut self, key: &Key, index: u64, seen: &Seen<'_>, report: &mut Report) {
        let side = self.side(key.conn, key.asker);
        side.settle(index);
        let older = side
            .order
            .keys()
            .next()
            .copied()
            .filter(|older| *older < index);
        if let Some(older) = older
            && key.asker == Some(Direction::ToServer)
            && side.overtaken != Some(older)
        {
            side.overtaken = Some(older);
            let text =
                format!("this answers #{index}, and #{older}, asked before it, is not answered");
            report.broken_by("out-of-order", seen.whole(), older, text);
        }
    }

    /// A frame on what its own sender opened.
    fn from_opener(&mut self, key: &Key, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let Some((asked, state)) = self.open.get_mut(key) else {
            return;
        };
        let effect = match state {
            State::Channel(channel) => of_channel(channel, true, seen, root, report),
            State::Stream(stream) => {
                let control = field(root, "stream_control");
                let paces = control.is_some_and(|c| c.is_text("pause") || c.is_text("resume"));
                if !paces && !stream.told {
                    stream.told = true;
                    item_from_opener(asked, seen, report);
                }
                Effect::Nothing
            }
            State::Single { .. } | State::Batch(_) => {
                return answers_itself(asked, seen, report);
            }
        };
        if let Effect::Over(how) = effect
            && let Some((asked, _)) = self.open.close(key)
        {
            self.past.insert(key.clone(), asked, how, seen.index);
        }
    }

    /// A frame that belongs to what is over.
    fn late(&mut self, key: &Key, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let Some(ended) = self.past.get_mut(key) else {
            return;
        };
        let (kind, asked, by) = (seen.message.kind.as_ref(), &ended.asked, ended.by);
        let index = asked.place.index;
        report.answers(asked, seen, true);
        let is_error = seen.message.role == Some(Role::Error);
        match ended.how {
            How::Cast | How::Told => {
                let what = format!("{}, #{index},", asked.what().trim_end());
                let code = seen.message.outcome.as_deref().unwrap_or("no code");
                let (rule, text) = match (ended.how, is_error) {
                    (How::Cast, true) => (
                        "cast-refused",
                        format!(
                            "{what} failed with {}, and nobody waits to hear it",
                            quoted(code)
                        ),
                    ),
                    (How::Cast, false) => (
                        "cast-answered",
                        format!("{what} is answered, a cast is not"),
                    ),
                    _ => (
                        "log-answered",
                        format!("{what} is answered, nobody waits for it"),
                    ),
                };
                if asked.kind.as_ref() != "announce" {
                    report.broken_by(rule, seen.whole(), index, text);
                }
                (ended.how, ended.by) = (How::Answered, seen.index);
                self.side(key.conn, key.asker).settle(index);
            }
            How::Answered => {
                let text = format!("{}, #{index}, was answered before, by #{by}", asked.what());
                report.broken_by("second-answer", seen.whole(), by, text);
            }
            How::Failed(next) if kind == "abort" => {
                let mut flow = Flow {
                    next,
                    last: Some(by),
                    done: None,
                };
                number(&mut flow, seen, root, report);
                (ended.how, ended.by) = (How::Ended, seen.index);
                self.sender(seen).doubt(seen.index, None);
            }
            How::Closed(pending) if pending > 0 && matches!(kind, "error" | "response") => {
                ended.how = How::Closed(pending - 1);
                if is_error {
                    frames::refused(seen, report);
                }
            }
            How::Closed(_) => frames::after_own_close(by, seen, report),
            How::HalfRead => {}
            How::Failed(_) | How::Ended => {
                let text = format!("{}, #{index}, was ended by #{by}", asked.what());
                report.broken_by("after-end", seen.whole(), by, text);
            }
        }
    }

    /// A frame on what its own sender opened, and what is over.
    fn late_from_opener(&mut self, key: &Key, seen: &Seen<'_>, report: &mut Report) {
        let Some(ended) = self.past.get_mut(key) else {
            return;
        };
        match (ended.asked.kind.as_ref(), ended.how) {
            ("stream", _) if seen.message.role != Some(Role::Notification) => {
                item_from_opener(&ended.asked, seen, report);
            }
            ("channel", How::Closed(_)) => frames::after_own_close(ended.by, seen, report),
            // What the opener sent before it learned of the end.
            ("channel" | "stream", _) => {}
            (_, How::HalfRead) => {}
            _ => answers_itself(&ended.asked, seen, report),
        }
    }

    /// A frame under an id that nobody asked with.
    fn unknown(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let message = seen.message;
        let code = message.outcome.as_deref().unwrap_or_default();
        if message.kind == "error" && matches!(code, "MalformedEnvelope" | "MessageTooLarge") {
            return self.refused_at_random(seen, root, report);
        }
        self.sender(seen).doubt(seen.index, None);
        let lost = self.conns.get(&seen.origin.conn).is_some_and(|c| c.lost);
        if !lost && self.open.refused() == 0 {
            let id = message.id.text();
            let text = format!(
                "{} for {}, which nobody asked with",
                message.kind,
                quoted(&id)
            );
            let place = field(root, "id").map_or(seen.whole(), |id| seen.at(id));
            report.broken("unknown-id", place, text);
        }
        if message.kind == "item" && self.orphans < ORPHANS && !self.open.is_full() {
            self.adopt(seen, root, report);
        }
    }

    /// Numbers are followed even where the request went by unseen.
    fn adopt(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let mut flow = Flow {
            next: None,
            ..Flow::default()
        };
        number(&mut flow, seen, root, report);
        let stream = Stream {
            flow,
            orphan: true,
            ..Stream::default()
        };
        if let Some(key) = Self::key(seen, true) {
            self.orphans += 1;
            self.open.ask(key, Asked::of(seen), State::Stream(stream));
        }
    }

    /// A runtime could not read something, and refuses it under an id of its own making.
    fn refused_at_random(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let asker = seen.origin.direction.map(Direction::other);
        let side = self.side(seen.origin.conn, asker);
        let doubt = side.refused();
        let oldest = || {
            side.order
                .iter()
                .next()
                .map(|(index, key)| (*index, Some(key.clone())))
        };
        let meant = doubt.map(|d| (d.index, d.key)).or_else(oldest);
        let why = field(root, "error")
            .and_then(|e| e.get("message"))
            .and_then(Node::text);
        let why = why.map_or_else(|| "no reason".to_owned(), |why| quoted(&why));
        let place = field(root, "id").map_or(seen.whole(), |id| seen.at(id));
        let Some((index, key)) = meant else {
            let text = format!("a refusal under an id that nobody asked with: {why}");
            return report.broken("random-id", place, text);
        };
        let text =
            format!("a refusal under an id that nobody asked with; it means #{index}: {why}");
        report.broken_by("random-id", place, index, text);
        let side = self.side(seen.origin.conn, asker);
        side.order.remove(&index);
        let Some(key) = key else {
            return;
        };
        if self
            .open
            .get(&key)
            .is_some_and(|(asked, _)| asked.place.index == index)
        {
            if let Some((asked, _)) = self.open.close(&key) {
                report.answers(&asked, seen, true);
                self.namespaces.refuse(index);
                self.past.insert(key, asked, How::Answered, seen.index);
            }
        } else if let Some(ended) = self.past.get_mut(&key) {
            report.answers(&ended.asked, seen, true);
        }
    }

    /// The answer to an announce in the document's form.
    fn acknowledged(&mut self, seen: &Seen<'_>, root: Node<'_>, report: &mut Report) {
        let codes = &mut self.sender(seen).codes;
        check::reply(seen, root, false, codes, report);
        let Some(node) = root.get("namespace").filter(|n| n.is_string()) else {
            let text = "the announce_ack names no namespace";
            return report.broken("bad-field", seen.whole(), text);
        };
        let namespace = node.text().unwrap_or_default();
        let asker = seen.origin.direction.map(Direction::other);
        let mut key = Key {
            conn: seen.origin.conn,
            asker,
            name: Name::Namespace(namespace.as_ref().into()),
        };
        if self.open.get(&key).is_none() {
            if self.past.get_mut(&key).is_some() {
                return self.late(&key, seen, root, report);
            }
            // The announce that it most likely means is answered with it.
            let side = self.side(key.conn, asker);
            let mut waits = side
                .order
                .values()
                .filter(|k| matches!(k.name, Name::Namespace(_)));
            let meant = waits.next().cloned();
            let text = format!(
                "{} is acknowledged, which was not announced",
                quoted(&namespace)
            );
            report.broken("ack-namespace", seen.at(node), text);
            match meant {
                Some(meant) => key = meant,
                None => return,
            }
        }
        self.answered(&key, seen, root, report);
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
        self.open.retain(|key, _, state| {
            match state {
                State::Stream(stream) if key.conn == conn => stream.flow.next = None,
                State::Channel(channel) if key.conn == conn => channel.lose(),
                _ => {}
            }
            true
        });
    }

    /// A connection is over, or all are: what is open stays so.
    fn over(&mut self, conn: Option<Option<u32>>, how: &str, report: &mut Report) {
        let is_here = |key: &Key| conn.is_none_or(|conn| key.conn == conn);
        for (key, asked, state) in self.open.sorted() {
            let lost = self.conns.get(&key.conn).is_some_and(|c| c.lost);
            if is_here(key) && !lost {
                left_open(asked, state, how, report);
            }
        }
        let orphans = &mut self.orphans;
        self.open.retain(|key, _, state| {
            let here = is_here(key);
            if here && matches!(state, State::Stream(Stream { orphan: true, .. })) {
                *orphans -= 1;
            }
            !here
        });
        if let Some(conn) = conn {
            self.conns.remove(&conn);
            self.namespaces.leave(conn);
        }
    }
}

impl Session for Conduct {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        let message = seen.message;
        let has_gap = seen
            .frame
            .fault
            .as_ref()
            .is_some_and(|f| f.error.code == "truncated");
        if message.kind == "skipped" || has_gap {
            self.lose(seen.origin.conn);
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
        let how = match what {
            Happened::Opened => return,
            Happened::Closed => "the connection closed",
            Happened::Reset => "the connection was cut",
            Happened::Exited => "the process ended",
            Happened::Ended => {
                let conn = self.conns.entry(origin.conn).or_default();
                let at = usize::from(origin.direction == Some(Direction::ToClient));
                if let Some(ended) = conn.ended.get_mut(at) {
                    *ended = true;
                }
                if conn.ended != [true; 2] {
                    return;
                }
                "both sides were done"
            }
            Happened::Lost => return self.lose(origin.conn),
        };
        self.over(Some(origin.conn), how, report);
    }

    fn finish(&mut self, report: &mut Report) {
        self.over(None, "the input ends", report);
    }

    fn waiting(&self) -> Vec<Waiting> {
        let open = self.open.sorted();
        open.into_iter().filter_map(waits).collect()
    }

    fn refused(&self) -> u64 {
        self.open.refused()
    }
}

/// Who owes what, and why it may take long.
fn waits((_, asked, state): (&Key, &Asked, &State)) -> Option<Waiting> {
    let why = match state {
        State::Single { own: true } | State::Batch(Batch { own: true, .. }) => Some(
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

/// What is said of something that stays open.
fn left_open(asked: &Asked, state: &State, how: &str, report: &mut Report) {
    let what = asked.what();
    let (rule, text) = match state {
        State::Single { .. } | State::Batch(_) => (
            "unanswered",
            format!("{what} was not answered before {how}"),
        ),
        // That none of its items will come was said.
        State::Stream(stream) if stream.orphan || stream.acknowledged => return,
        State::Stream(_) => (
            "stream-unfinished",
            format!("{what} was not ended before {how}"),
        ),
        // Real peers have no way to close one, but for Rust's.
        State::Channel(channel) if channel.peers => return,
        State::Channel(channel) => {
            let closed = channel.flows.iter().any(|flow| flow.done.is_some());
            let by = if closed {
                "one side only"
            } else {
                "neither side"
            };
            (
                "channel-not-closed",
                format!("{what} was closed by {by} before {how}"),
            )
        }
    };
    report.broken(rule, asked.place, text);
}

fn answers_itself(asked: &Asked, seen: &Seen<'_>, report: &mut Report) {
    let index = asked.place.index;
    let text = format!(
        "this answers {}, #{index}, which the same side asked",
        asked.what()
    );
    report.broken_by("unknown-id", seen.whole(), index, text);
}

fn item_from_opener(asked: &Asked, seen: &Seen<'_>, report: &mut Report) {
    let index = asked.place.index;
    let text = format!(
        "the side that opened {}, #{index}, sends on it",
        asked.what()
    );
    report.broken_by("item-from-opener", seen.whole(), index, text);
}

fn late_answer(asked: &Asked, seen: &Seen<'_>, report: &mut Report) {
    let times = asked.origin().time.zip(seen.origin.time);
    let took = times.map_or(0, |(from, to)| to.saturating_sub(from));
    // Its own Timeout is what a runtime says at that moment.
    if took > PATIENCE && seen.message.outcome.as_deref() != Some("Timeout") {
        let (seconds, millis) = (took / 1_000_000_000, took / 1_000_000 % 1000);
        let text = format!(
            "{} took {seconds}.{millis:03} s; a runtime waits 30 s",
            asked.what()
        );
        report.broken_by("late-answer", seen.whole(), asked.place.index, text);
    }
}

fn refused_announce(seen: &Seen<'_>, namespaces: &mut Namespaces, index: u64, report: &mut Report) {
    if seen.message.role != Some(Role::Error) {
        return;
    }
    namespaces.refuse(index);
    let code = seen.message.outcome.as_deref().unwrap_or("no code");
    let text = format!(
        "the announce is refused with {}: nothing it offers can be called",
        quoted(code)
    );
    report.broken_by("announce-refused", seen.whole(), index, text);
}
