//! The session of a saikuro conversation.
//!
//! ```text
//!   call resource batch announce   asked --response | error--> past
//!   cast log                       past at once; a runtime still answers
//!   stream                         asked --item*--> --end | error (+ abort)--> past
//!   channel                        asked --items in both directions--> closed by one --closed by both | error--> past
//! ```
//!
//! Either side of a connection may send requests. So an answer first belongs to a request of the other side with its
//! id; otherwise it may belong to a stream or channel that its own side opened. A runtime that cannot read a message
//! refuses it under a generated id: the refusal belongs to the oldest message that it may mean.

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
mod waiting;

use super::message::field;
use crate::framing::Head;
use crate::protocol::exchange::{Added, Exchange, Ids, OpenRequest};
use crate::protocol::rule_names::saikuro as rule;
use crate::protocol::session::memory::RecentEntries;
use crate::protocol::session::stored::to_stored;
use crate::protocol::session::text::quote;
use crate::protocol::session::{
    ConnectionChange, Current, Link, Report, Seen, Session, SessionConfig, Waiting, broken,
};
use crate::protocol::{Direction, Id, Origin, Role};
use crate::tape::Node;
use announce::{Namespaces, document_form};
use check::Refused;
use foldhash::HashMap;
use schema::Functions;
use state::{
    Batch, CallId, CallKey, Channel, Conn, EndedRequest, Ending, IdForm, OneWay, OpenKind, PAST,
    SeqStream,
};
use waiting::{find_open_problem, waiting_for};

/// The state of the conversation.
pub(super) struct SaikuroSession {
    calls: Exchange<Option<u32>, CallId, OpenKind, EndedRequest>,
    conns: HashMap<Option<u32>, Conn>,
    namespaces: Namespaces,
    functions: Functions,
    orphans: usize,
    /// The requests of clients by UUID, which a runtime repeats when it forwards them.
    callers: RecentEntries<[u8; 16], Vec<Caller>>,
    /// The last known time.
    now: Option<i64>,
}

/// The number of clients that use the same UUID at a time; if there are more, nothing is linked.
const MAX_CALLERS: usize = 16;
/// The longest target of an item that is stored.
const MAX_TARGET: usize = 256;

/// A request of a client, or an item of its batch.
#[derive(Debug)]
struct Caller {
    /// The key of the request; for an item, that of the batch.
    key: CallKey,
    /// The target of the item.
    target: Option<Box<str>>,
}

impl SaikuroSession {
    pub(super) fn new(config: &SessionConfig) -> Self {
        Self {
            calls: Exchange::new(Ids::Once, config.max_open, PAST),
            conns: HashMap::default(),
            namespaces: Namespaces::default(),
            functions: Functions::default(),
            orphans: 0,
            callers: RecentEntries::default(),
            now: None,
        }
    }

    /// Returns the side that sends in this direction.
    fn side(&mut self, conn: Option<u32>, direction: Option<Direction>) -> &mut OneWay {
        self.conns.entry(conn).or_default().sides.get_mut(direction)
    }

    /// Returns the side that sent the message.
    fn sender(&mut self, seen: Current<'_, '_>) -> &mut OneWay {
        self.side(seen.origin.conn, seen.origin.direction)
    }

    /// Returns the key of a request with the id of this message from the same side; from the other side if `flip` is
    /// set.
    fn key(seen: Current<'_, '_>, flip: bool) -> Option<CallKey> {
        let Origin {
            conn, direction, ..
        } = seen.origin;
        Some(CallKey {
            scope: conn,
            requester: if flip {
                direction.map(Direction::other)
            } else {
                direction
            },
            id: CallId::of(&seen.message.id)?,
        })
    }

    /// Handles an envelope.
    fn envelope(&mut self, seen: Current<'_, '_>, root: Node<'_>, unread: bool) {
        let kind = seen.message.kind.as_ref();
        let plain = (kind == "announce").then(|| document_form(root)).flatten();
        // A runtime reads no announce in the document's form. Bytes after the value may be its missing members.
        let refused = if plain.is_some() || !seen.message.valid {
            Refused {
                by_member: true,
                ..Refused::default()
            }
        } else {
            let mut refused = check::envelope(seen, root, kind, false);
            refused.by_member |= unread;
            refused
        };
        let key = match plain.and_then(Node::text) {
            Some(namespace) => Some(CallKey {
                scope: seen.origin.conn,
                requester: seen.origin.direction,
                id: CallId::Namespace(to_stored(&namespace)),
            }),
            None => Self::key(seen, false),
        };
        if refused.by_id || refused.by_member {
            self.sender(seen).add_refusable(seen.index, key.clone());
        }
        // A bad id says nothing about the arguments.
        if !refused.by_member {
            self.functions.check(seen, root);
        }
        if kind == "announce" {
            self.announced(seen, root);
        }
        if let Some(key) = key {
            match kind {
                "cast" => self.record_ended(key, seen, Ending::Cast),
                "log" => self.record_ended(key, seen, Ending::NoAnswer),
                // A runtime that forwards announces waits for no answer.
                "announce" if seen.origin.direction == Some(Direction::ToClient) => {
                    self.record_ended(key, seen, Ending::NoAnswer);
                }
                "channel" => self.channel(key, seen, root),
                "stream" if self.is_stream(&key) && field(root, "stream_control").is_some() => {
                    self.opener_frame(&key, seen, root);
                }
                _ => self.add_request(key, seen, root),
            }
        }
        let side = self.sender(seen);
        side.first.get_or_insert(seen.index);
        side.announced |= kind == "announce";
    }

    fn is_stream(&self, key: &CallKey) -> bool {
        matches!(self.calls.open.get(key), Some((_, OpenKind::Stream(_))))
    }

    /// Records the end of a request.
    fn end(&mut self, key: CallKey, asked: OpenRequest, how: Ending, seen: Current<'_, '_>) {
        let by = seen.index;
        self.calls
            .ended
            .insert(key, EndedRequest { asked, how, by });
    }

    /// Records a message that needs no answer.
    fn record_ended(&mut self, key: CallKey, seen: Current<'_, '_>, how: Ending) {
        self.end(key, seen.stored_request(), how, seen);
    }

    fn announced(&mut self, seen: Current<'_, '_>, root: Node<'_>) {
        announce::check(seen, root);
        self.functions.record(seen, root);
        if seen.origin.direction == Some(Direction::ToClient) {
            return;
        }
        self.namespaces.announce(seen, root);
        let side = self.sender(seen);
        if let Some(first) = side.first.filter(|_| !side.announced) {
            broken!(seen, rule::ANNOUNCE_LATE, seen.whole(), first;
                "the announce comes after #{first}; it should come first");
        }
    }

    /// Adds a message that needs an answer.
    fn add_request(&mut self, key: CallKey, seen: Current<'_, '_>, root: Node<'_>) {
        let state = match seen.message.kind.as_ref() {
            "stream" => OpenKind::Stream(SeqStream::default()),
            "channel" => OpenKind::Channel(Channel::default()),
            "batch" => OpenKind::Batch(self.batch(&key, seen, root)),
            _ => OpenKind::Single {
                own: self.offers_target(seen, root),
                form: field(root, "id").map_or(IdForm::Other, IdForm::of),
            },
        };
        self.link_forwarded(&key, seen);
        let is_single = matches!(state, OpenKind::Single { .. } | OpenKind::Batch(_));
        self.calls.ended.remove(&key);
        let asked = seen.stored_request();
        match self.calls.open.add(key.clone(), asked, state) {
            Added::New | Added::Queued => {}
            Added::Untracked => return,
            Added::Replaced(_, OpenKind::Stream(SeqStream { orphan: true, .. })) => {
                self.orphans -= 1;
            }
            Added::Replaced(before, _) => {
                let index = before.index();
                self.sender(seen).order.remove(&index);
                let place = seen.place(field(root, "id"));
                broken!(seen, rule::ID_REUSED, place, index;
                    "the id belongs to {}, #{index}, which is open", before.describe());
            }
        }
        if is_single {
            self.sender(seen).order.insert(seen.index, Box::new(key));
        }
    }

    /// Records a request of a client, or an item of its batch.
    fn add_caller(&mut self, id: &CallId, caller: Caller) {
        let CallId::Uuid(id) = id else {
            return;
        };
        let open = &self.calls.open;
        match self.callers.get_mut(id) {
            Some(callers) => {
                callers.retain(|caller| open.get(&caller.key).is_some());
                callers.truncate(MAX_CALLERS - 1);
                callers.push(caller);
            }
            None => {
                self.callers.insert(*id, vec![caller]);
            }
        }
    }

    /// Links a call that a runtime forwards to the only open call of a client with its id and target.
    fn link_forwarded(&mut self, key: &CallKey, seen: Current<'_, '_>) {
        let CallId::Uuid(id) = &key.id else {
            return;
        };
        if key.requester == Some(Direction::ToServer) {
            let (key, target) = (key.clone(), None);
            return self.add_caller(&key.id.clone(), Caller { key, target });
        }
        let callers = self.callers.get(id).filter(|_| key.requester.is_some());
        let callers = callers.filter(|callers| callers.len() < MAX_CALLERS);
        let mut fitting = callers.into_iter().flatten().filter_map(|caller| {
            let (asked, _) = self.calls.open.get(&caller.key)?;
            let target = caller.target.as_deref().or(asked.subject());
            let fits = caller.key.scope != key.scope && target == seen.message.subject.as_deref();
            fits.then(|| asked.index())
        });
        if let (Some(index), None) = (fitting.next(), fitting.next()) {
            seen.inside(index, Link::Recorded);
        }
    }

    fn batch(&mut self, key: &CallKey, seen: Current<'_, '_>, root: Node<'_>) -> Batch {
        let mut batch = Batch {
            form: field(root, "id").map_or(IdForm::Other, IdForm::of),
            ..Batch::default()
        };
        let items = field(root, "batch_items").filter(|items| items.is_array());
        for item in items.into_iter().flat_map(Node::children) {
            let id = field(item, "id").map_or(Id::None, super::message::id);
            let id = CallId::of(&id);
            let target = field(item, "target").and_then(Node::text);
            let target = target.filter(|target| target.len() <= MAX_TARGET);
            if let (Some(id), Some(target)) = (&id, target)
                && seen.origin.direction == Some(Direction::ToServer)
            {
                let (key, target) = (key.clone(), Some(target.as_ref().into()));
                self.add_caller(id, Caller { key, target });
            }
            batch.push(id);
            batch.own = batch.own || self.offers_target(seen, item);
        }
        batch
    }

    /// Returns true if the sender of a call offers the called function itself.
    fn offers_target(&mut self, seen: Current<'_, '_>, root: Node<'_>) -> bool {
        let Some(target) = field(root, "target") else {
            return false;
        };
        let Some((by, is_first)) = self.namespaces.own_announce(seen.origin, target) else {
            return false;
        };
        if is_first {
            broken!(seen, rule::OWN_NAMESPACE, seen.at(target), by;
                "this connection itself announced {} in #{by}: a runtime waits for the answer and \
                cannot read it", quote(target));
        }
        true
    }

    /// Handles an envelope of a channel: the first, or a later one with the same id.
    fn channel(&mut self, key: CallKey, seen: Current<'_, '_>, root: Node<'_>) {
        let other = key.reversed();
        if matches!(self.calls.open.get(&key), Some((_, OpenKind::Channel(_)))) {
            self.opener_frame(&key, seen, root);
        } else if matches!(self.calls.open.get(&other), Some((_, OpenKind::Channel(_)))) {
            self.answered(&other, seen, root);
        } else if seen.message.role == Some(Role::Request) {
            self.add_request(key, seen, root);
        } else if self.calls.ended.get(&key).is_some() {
            self.late_opener_frame(&key, seen);
        } else {
            self.unknown(seen, root);
        }
    }

    /// Handles a message that cannot be read completely: later messages about it cause no findings.
    fn handle_unreadable(&mut self, seen: Current<'_, '_>) {
        let asks = seen
            .root()
            .is_some_and(|root| field(root, "type").is_some());
        let key = Self::key(seen, !asks);
        if let Some(key) = key.clone().filter(|_| asks) {
            self.record_ended(key, seen, Ending::Unreadable);
        } else if let Some(key) = &key {
            match self.calls.open.get_mut(key) {
                Some((_, OpenKind::Stream(stream))) => stream.flow.next = None,
                Some((_, OpenKind::Channel(channel))) => channel.record_loss(),
                Some((asked, _)) => {
                    let index = asked.index();
                    self.calls.open.close(key);
                    self.side(key.scope, key.requester).order.remove(&index);
                }
                None => {}
            }
        }
        self.sender(seen)
            .add_refusable(seen.index, key.filter(|_| asks));
    }

    /// Handles lost bytes of a connection: messages in them may be missing.
    fn record_loss(&mut self, conn: Option<u32>) {
        self.calls.lose(conn, None);
        self.calls.open.each(conn, |_, state| match state {
            OpenKind::Stream(stream) => stream.flow.next = None,
            OpenKind::Channel(channel) => channel.record_loss(),
            _ => {}
        });
    }

    /// Reports requests that stay open because nothing more will come.
    fn report_left_open(
        &mut self,
        left: Vec<(CallKey, OpenRequest, OpenKind)>,
        report: &mut Report,
    ) {
        for (key, asked, state) in left {
            if matches!(state, OpenKind::Stream(SeqStream { orphan: true, .. })) {
                self.orphans -= 1;
            }
            let conn = self.conns.get(&key.scope);
            let lost = self.calls.has_gap(key.scope, None);
            if let Some(mut waiting) = waiting_for((&key, &asked, &state)).filter(|_| !lost) {
                let names = conn.and_then(state::Conn::names);
                if let Some(names) = names {
                    waiting.name_side(names);
                }
                report.leave(waiting);
            }
            self.report_open_problem(&key, &asked, &state, report);
        }
    }

    fn report_open_problem(
        &self,
        key: &CallKey,
        asked: &OpenRequest,
        state: &OpenKind,
        report: &mut Report,
    ) {
        let lost = self.calls.has_gap(key.scope, None);
        if let Some((rule, text)) = find_open_problem(asked, state, self.now).filter(|_| !lost) {
            broken!(report, rule, asked.place(); "{text}");
        }
    }

    /// Handles a message.
    fn handle(&mut self, seen: Current<'_, '_>) {
        let message = seen.message;
        let fault = seen.frame.fault.as_ref();
        if message.kind == "skipped" || fault.is_some_and(|f| f.error.code == "truncated") {
            self.record_loss(seen.origin.conn);
        }
        let is_text = matches!(seen.frame.head, Head::WebSocket { opcode: 1, .. });
        if is_text {
            // Further errors of the frame follow from that.
            seen.report().broken.clear();
            if self.sender(seen).rare.reported.first(rule::TEXT_FRAME) {
                broken!(seen, rule::TEXT_FRAME, seen.whole();
                    "the frame is a text frame; peers read only binary frames");
            }
        }
        if let Some(text) = seen.wrong_mask()
            && self.sender(seen).rare.reported.first(rule::MASK)
        {
            broken!(seen, rule::MASK, seen.whole(); "{text}");
        }
        if is_text {
            return self.handle_unreadable(seen);
        }
        if message.role == Some(Role::Control) {
            return;
        }
        // A runtime ignores bytes after the value; every other fault makes it refuse the message.
        let is_whole = message.faults.iter().all(|f| f.code == "trailing-bytes");
        let Some(root) = seen.root().filter(|_| is_whole) else {
            return self.handle_unreadable(seen);
        };
        let unread = check::values(seen, root);
        match (message.role, message.kind.as_ref()) {
            (None, _) => {
                if message.valid {
                    check::unknown(seen, root);
                }
                self.sender(seen).add_refusable(seen.index, None);
            }
            (_, "announce_ack") => self.acknowledged(seen, root),
            _ if field(root, "type").is_some() => self.envelope(seen, root, unread),
            _ => self.answer(seen, root),
        }
    }
}

impl Session for SaikuroSession {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        self.now = seen.origin.time.or(self.now);
        Current::handle(seen, report, |seen| self.handle(seen));
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        self.now = origin.time.or(self.now);
        match what {
            ConnectionChange::Opened => return,
            ConnectionChange::Ended => {
                // Requests that this side has not answered stay unanswered.
                let requester = origin.direction.map(Direction::other);
                let left = self.calls.open.end_side(origin.conn, origin.direction);
                self.report_left_open(left, report);
                self.side(origin.conn, origin.direction).ended = true;
                if requester.is_none() || !self.side(origin.conn, requester).ended {
                    return;
                }
            }
            ConnectionChange::Lost => return self.record_loss(origin.conn),
            ConnectionChange::Closed | ConnectionChange::Reset | ConnectionChange::Exited => {}
        }
        let left = self.calls.open.end(origin.conn);
        self.report_left_open(left, report);
        self.report_unaborted(origin.conn, report);
        self.conns.remove(&origin.conn);
        self.calls.reopen(origin.conn);
        self.namespaces.remove_connection(origin.conn);
        self.functions.remove_connection(origin.conn);
    }

    fn finish(&mut self, report: &mut Report) {
        let mut conns: Vec<_> = self.conns.keys().copied().collect();
        conns.sort_unstable();
        // Their answers may be missing.
        for conn in &conns {
            if self.calls.has_gap(*conn, None) {
                self.calls.open.end(*conn);
            }
        }
        for (key, asked, state) in self.calls.open.sorted() {
            self.report_open_problem(key, asked, state, report);
        }
        for conn in conns {
            self.report_unaborted(conn, report);
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting)) {
        let open = self.calls.open.sorted();
        open.into_iter().filter_map(waiting_for).for_each(visit);
    }

    fn is_open(&self, index: u64) -> bool {
        self.calls.open.at(index).and_then(waiting_for).is_some()
    }

    fn sides(&self, conn: Option<u32>) -> Option<[&'static str; 2]> {
        self.conns.get(&conn)?.names()
    }

    fn untracked(&self) -> u64 {
        self.calls.open.untracked()
    }
}
