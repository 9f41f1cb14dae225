//! The session of a JSON-RPC conversation, for the protocols that take it as the specification has it.
//!
//! ```text
//!   frame -> members of a batch -> shape -> pairs: direction, JSON type and value of the id
//!   HTTP: the connection of the exchange first, then any connection of the same HTTP session
//! ```
//!
//! A protocol adds its own state as an [`Extension`].

mod batches;
mod exchange;
mod operations;

use super::dialect::Dialect;
use super::extension::{Extension, RpcMessage, SentCall, SentRequest};
use super::http::{Connection, MAX_CONNECTIONS, MAX_ENDED, Post, Sessions};
use super::shape::{CallShape, usual_rule};
use super::{Call, read};
use crate::framing::Head;
use crate::protocol::exchange::pairs::{Facts, IdSpace, PairKey, Paired, Pairs, pairs};
use crate::protocol::exchange::{Added, OpenRequest};
use crate::protocol::rule_names::all as rule;
use crate::protocol::session::memory::{ConnId, Connections, RecentEntries};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{
    ConnectionChange, Current, Link, OperationFacts, Report, Seen, Session, SessionConfig,
    Severity, Waiting, broken,
};
use crate::protocol::{Direction, Origin, Role};
use crate::tape::Node;
use batches::OpenBatch;
use foldhash::HashMap;
use operations::BatchFacts;
use std::hash::BuildHasher;
use std::sync::Arc;

/// The state of a conversation.
pub(in crate::protocol) struct RpcSession<E: Extension> {
    sessions: Sessions<E>,
    pairs: Pairs<SentCall<E::Own>>,
    connections: Connections<Connection>,
    /// The connections of open requests over HTTP, by their key in [`IdSpace::All`].
    elsewhere: HashMap<PairKey, Vec<ConnId>>,
    /// The sessions that open requests over HTTP named, by connection, with the number of requests: a connection can be
    /// gone before the answer.
    named: HashMap<ConnId, (Arc<str>, usize)>,
    /// The batches with open requests, by index.
    batches: RecentEntries<u64, OpenBatch>,
    /// The last message that belongs to a request, by the index of the request.
    heard: RecentEntries<u64, u64>,
    /// The messages of event streams, by hashes of session and content.
    events: RecentEntries<u64, u64>,
    hasher: foldhash::fast::RandomState,
    order: bool,
}

impl<E: Extension> RpcSession<E> {
    pub(in crate::protocol) fn new(config: &SessionConfig) -> Self {
        Self {
            sessions: Sessions::new(),
            pairs: pairs(config.max_open),
            connections: Connections::with_capacity(MAX_CONNECTIONS, MAX_ENDED),
            elsewhere: HashMap::default(),
            named: HashMap::default(),
            batches: RecentEntries::default(),
            heard: RecentEntries::default(),
            events: RecentEntries::default(),
            hasher: foldhash::fast::RandomState::default(),
            order: config.order,
        }
    }

    /// Handles a frame.
    fn handle(&mut self, seen: Current<'_, '_>) {
        let faulty = seen.findings() > 0 || !seen.message.valid || seen.frame.fault.is_some();
        let direction = self.handle_frame(seen);
        let root = seen.root();
        let Some(root) = root.filter(|_| seen.message.role != Some(Role::Control)) else {
            return;
        };
        let context = FrameContext {
            direction,
            faulty,
            in_batch: root.is_array(),
            repeats: self.repeated(seen),
        };
        if root.is_array() {
            self.batch(seen, root, context);
        } else {
            self.message(seen, root, context);
        }
    }

    /// Returns the message of an event stream that a resumed one repeats.
    fn repeated(&mut self, seen: Current<'_, '_>) -> Option<u64> {
        if !matches!(seen.frame.head, Head::Http { event: true, .. }) {
            return None;
        }
        let session = self.sessions.session(seen.origin.conn)?;
        let content = self.hasher.hash_one((session, seen.frame.view.body()));
        let resumes = self.connections.get(seen.origin.conn)?.resumes;
        let first = self.events.get(&content).copied().filter(|_| resumes);
        if first.is_none() {
            self.events.insert(content, seen.index);
        }
        seen.report().repeats = first;
        first
    }

    /// Handles the parts of a frame that are not a message, and returns its direction.
    fn handle_frame(&mut self, seen: Current<'_, '_>) -> Option<Direction> {
        let connection = self
            .connections
            .entry_or_evict(seen.origin.conn, Connection::default);
        let mut direction = seen.origin.direction;
        if let Head::Http { status, event, .. } = seen.frame.head {
            connection.http = true;
            let asks = status == 0 && !event;
            let is_final = !asks && !event && !(100..200).contains(&status);
            if asks {
                connection.posts.push(Post::default());
                connection.resumes = super::http::resumes_stream(&seen);
                connection.is_shared = connection.resumes;
            } else if event && seen.message.role == Some(Role::Control) {
                connection.is_shared |= super::http::is_endpoint(&seen);
            }
            let post = is_final.then(|| connection.posts.take()).flatten();
            if is_final {
                connection.is_unasked = matches!(post, Some(Post::Nothing));
                connection.streamed = match post {
                    Some(Post::Request(_, index, _)) => Some(index),
                    _ => None,
                };
            }
            direction = direction.or(Some(if asks {
                Direction::ToServer
            } else {
                Direction::ToClient
            }));
            self.sessions.read(&seen, asks);
            let session = self.sessions.session(seen.origin.conn);
            seen.report().session = session.map(|name| self.hasher.hash_one(name));
            if is_final && status >= 300 {
                self.handle_refusal(post, seen, status);
            } else if is_final {
                self.handle_response(post, seen, status);
            }
        }
        if E::HAS_LINES && seen.message.kind == "blank-line" {
            broken!(seen, rule::BLANK_LINE, seen.whole();
                "the line has no message; readers skip it");
        }
        self.sessions.state(seen.origin.conn).frame(seen);
        direction
    }

    /// Handles a batch (JSON-RPC 2.0 section 6).
    fn batch(&mut self, seen: Current<'_, '_>, root: Node<'_>, context: FrameContext) {
        let empty = root.children().next().is_none();
        if !E::DIALECT.batches {
            broken!(seen, rule::BATCH, seen.whole();
                "the message is a batch: peers do not take several messages at once");
        } else if empty {
            broken!(seen, rule::BATCH_EMPTY, seen.whole();
                "the batch is empty; it should have at least one message");
        }
        let mut of = None;
        let mut facts = BatchFacts::default();
        for node in root.children() {
            seen.report().answer = None;
            self.message(seen, node, context);
            facts.add(std::mem::take(&mut *seen.operation()));
            of = of.or(seen.report().answer.take());
            if read::role(&Call::of(node)).is_none() && E::DIALECT.batches {
                broken!(seen, rule::BATCH_MEMBER, seen.at(node);
                    "{} is not a message", quote(node));
            }
        }
        // All answers of a batch come together.
        let missing = of.as_ref().and_then(|of| self.pairs.open.at(of.to));
        let missing = missing.filter(|(_, _, request)| request.needs_answer());
        if let Some((_, asked, _)) = missing.filter(|_| E::DIALECT.batches) {
            broken!(seen, rule::BATCH_ANSWER, seen.whole(), asked.index();
                "the batch lacks the answer to {}", asked.describe());
        }
        seen.report().answer = of;
        *seen.operation() = facts.common();
    }

    /// Handles a message, or a member of a batch.
    fn message(&mut self, seen: Current<'_, '_>, root: Node<'_>, context: FrameContext) {
        let call = Call::of(root);
        let Some(role) = read::role(&call) else {
            return;
        };
        let before = seen.findings();
        let is_other =
            E::HAS_OTHER_VERSIONS && self.sessions.state(seen.origin.conn).has_other_version();
        let shape = CallShape {
            dialect: if is_other { &ANY_METHOD } else { E::DIALECT },
            sides: E::SIDES,
            rule: usual_rule,
            may_lack_version: !context.faulty && self.lacks_version(&call, seen),
            role: Some(role),
            seen,
            call: &call,
        };
        let mut method = None;
        if !context.faulty {
            method = shape.check(root, context.direction);
            shape.check_form();
        }
        let message = RpcMessage {
            seen,
            call,
            role,
            method,
            direction: context.direction,
            id_space: IdSpace::One(seen.origin.conn),
            breaks_rule: context.faulty || seen.findings() > before,
            order: self.order,
            unnamed: self.sessions.name(seen.origin.conn) == Some(""),
            lacks: self.sessions.lacks(seen.origin.conn),
            in_batch: context.in_batch,
            repeats: context.repeats,
        };
        match role {
            Role::Request | Role::Notification if context.faulty => {}
            Role::Request | Role::Notification => self.asks(&message, &shape),
            _ => self.answers(&message, &shape),
        }
    }

    /// Returns true for a message without a version if that was reported before.
    fn lacks_version(&mut self, call: &Call<'_>, seen: Current<'_, '_>) -> bool {
        if !E::MAY_LACK_VERSION || call.version.is_some() {
            return false;
        }
        let connection = self
            .connections
            .entry_or_evict(seen.origin.conn, Connection::default);
        std::mem::replace(
            connection.lacks_version.get_mut(seen.origin.direction),
            true,
        )
    }

    fn asks(&mut self, message: &RpcMessage<'_, '_>, shape: &CallShape<'_, '_>) {
        let deleted = self.sessions.deleted(message.origin.conn);
        if let Some(index) = deleted.filter(|_| message.requester() == Direction::ToServer) {
            broken!(message, rule::SESSION_ENDED, message.whole(), index;
                "the session was ended by #{index}; a new one is needed");
        }
        self.link(message);
        let requester = message.requester();
        let own = self.sessions.state(message.origin.conn).asks(message);
        if message.role == Role::Notification && requester == Direction::ToServer {
            let connection = self.connections.get_mut(message.origin.conn);
            if let Some(post @ Post::Nothing) = connection.and_then(|c| c.posts.last_mut()) {
                *post = Post::Notification(shape.asked());
            }
        }
        let facts = *message.operation();
        if let Some((request, _)) = facts.part_of.or(facts.inside) {
            self.heard.insert(request, message.index);
        }
        if let Some((_, id)) = E::CANCELS.iter().find(|(name, _)| message.is(name)) {
            self.record_cancel(message, id);
        }
        let key = message
            .call
            .id
            .and_then(|id| PairKey::of(message.id_space, requester, id));
        let Some(key) = key.filter(|_| message.role == Role::Request) else {
            return;
        };
        let method = message.method;
        let request = SentRequest::new(message.breaks_rule, SentCall { method, own });
        let sent = self.is_http(&message.seen).then(|| key.clone());
        let added = self
            .pairs
            .add_request(key, &message.facts(), shape.asked(), request);
        let is_tracked = matches!(added, Added::New | Added::Replaced(..));
        if message.in_batch && is_tracked {
            self.add_member(message);
        }
        let Some(key) = sent.filter(|_| is_tracked) else {
            return;
        };
        let conn = message.origin.conn;
        let conns = self.elsewhere.entry(key.at(IdSpace::All)).or_default();
        if !conns.contains(&conn) {
            conns.push(conn);
            if let Some(session) = self.sessions.session(conn) {
                self.named.entry(conn).or_insert((session, 0)).1 += 1;
            }
        }
        let connection = self.connections.get_mut(message.origin.conn);
        let connection = connection.filter(|_| requester == Direction::ToServer);
        if let Some(post) = connection.and_then(|c| c.posts.last_mut()) {
            let is_streamed = super::http::is_answered_in_stream(&message.seen);
            *post = Post::Request(key, message.index, is_streamed);
        }
    }

    /// Records that a request is cancelled.
    fn record_cancel(&mut self, message: &RpcMessage<'_, '_>, id: &str) {
        let Some(id) = message.param(id) else {
            return;
        };
        let Some(key) = PairKey::of(message.id_space, message.requester(), id) else {
            return;
        };
        let key = self.resolve(key, &message.seen);
        let lacks = self.lacks(&message.seen);
        let ambiguous = self.is_ambiguous(&key, &message.seen);
        if let Some(asked) = self.pairs.cancel((&key, id), message.seen, lacks) {
            let state = self.sessions.state(message.origin.conn);
            state.cancelled(message, asked);
            let index = asked.index();
            let heard = self.heard.get(&index).copied();
            let certain = self.pairs.open.get(&key).filter(|_| !ambiguous);
            if let Some((asked, request)) = certain.filter(|(_, request)| request.needs_answer()) {
                super::cancel::report_wait::<E>(message, (asked, request), heard);
            }
            let open = self.pairs.open.get(&key);
            let is_left = open.is_some_and(|(asked, request)| {
                asked.index() == index && !request.may_be_missed && E::is_cancelled(request)
            });
            if is_left && message.operation().cancels {
                message.operation().leaves = Some(index);
            }
        }
        if ambiguous {
            *message.operation() = OperationFacts::default();
        }
    }

    fn answers(&mut self, message: &RpcMessage<'_, '_>, shape: &CallShape<'_, '_>) {
        let seen = message.seen;
        let own = message.facts();
        let resolved = own.answered_key().map(|key| self.resolve(key, &seen).scope);
        let facts = Facts {
            space: resolved.unwrap_or(own.space),
            ..own
        };
        let (key, is_retyped) = match self.pairs.find_request(&facts) {
            Paired::Open(key) => (key, false),
            Paired::Retyped(key) => (key, true),
            Paired::NoId => return self.refuse_batch(message),
            Paired::Nothing(key) => {
                if let Some(first) = message.repeats {
                    message.part_of(first, Link::Recorded);
                    broken!(message, rule::ANSWERED_TWICE, seen.whole(), first;
                        "the server sent this answer before, in #{first}: the resumed stream repeats it");
                    message.report().at_most(Severity::Info);
                } else if !message.breaks_rule && !self.lacks(&seen) {
                    self.report_unmatched(message, &key, &facts);
                }
                return;
            }
        };
        let open = self.pairs.open.get(&key);
        let method = open.and_then(|(_, request)| request.method);
        if facts.direction.is_none() && method.is_some_and(|method| shape.is_of_another(method)) {
            return;
        }
        if let Some(why) = Self::unread_cause(message, is_retyped) {
            return self.pairs.leave_open(&key, seen, why);
        }
        let Some((asked, request)) = self.pairs.close_answered(&key, seen) else {
            return;
        };
        self.forget(&key);
        if let Some(method) = request.method.filter(|_| !message.breaks_rule) {
            shape.result(method);
        }
        let is_batch = asked.kind() == "batch";
        if is_batch {
            self.answer_member(message, asked.index());
        }
        let batch = E::DIALECT.batches && is_batch;
        if batch && !message.in_batch && message.role != Role::Error {
            broken!(message, rule::BATCH_ANSWER, seen.whole(), asked.index();
                "this answers a member of a batch; it should be in an array");
        }
        let state = self.sessions.state(seen.origin.conn);
        state.answers(message, &asked, &request);
    }

    /// Returns the reason why a request waits.
    fn reason(&self, asked: &OpenRequest, request: &SentRequest<E::Own>) -> Option<String> {
        if let Some(why) = request.unread() {
            Some(why)
        } else if request.breaks_rule {
            Some("it breaks a rule itself, so peers may not answer it".to_owned())
        } else {
            self.sessions.waits(asked.origin().conn, request)
        }
    }

    /// Returns that a request waits. Its method says who must answer it if directions are not known.
    fn waiting_of(&self, asked: &OpenRequest, request: &SentRequest<E::Own>) -> Waiting {
        let method = asked.subject().unwrap_or_default();
        let waiting = asked.waiting(self.reason(asked, request));
        let sender = E::DIALECT.direction_of(method);
        Waiting {
            owes: waiting.owes.or(sender.map(Direction::other)),
            // An answer to a ping completes nothing.
            nests: method != "ping",
            ..waiting
        }
    }

    fn unanswered(asked: &OpenRequest, request: &SentRequest<E::Own>, report: &mut Report) {
        if request.needs_answer() && E::needs_answer(request) {
            let why = request.unread().map(|why| format!(": {why}"));
            broken!(report, rule::UNANSWERED, asked.place();
                "{} ({}) has no answer{}", asked.describe(), short(asked.id()),
                why.as_deref().unwrap_or_default());
        }
    }
}

/// The methods of a version that is not known.
static ANY_METHOD: Dialect = Dialect {
    others: &[""],
    ..Dialect::new(&[])
};

/// The facts about a frame that its messages share.
#[derive(Clone, Copy)]
struct FrameContext {
    direction: Option<Direction>,
    faulty: bool,
    in_batch: bool,
    repeats: Option<u64>,
}

impl<E: Extension> Session for RpcSession<E> {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        Current::handle(seen, report, |seen| self.handle(seen));
    }
    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        let id_space = IdSpace::One(origin.conn);
        let http = self.connections.get(origin.conn).is_some_and(|c| c.http);
        match what {
            ConnectionChange::Opened => {
                self.connections.remove(origin.conn);
                self.pairs.reopen(id_space);
                self.sessions.open(origin.conn);
            }
            ConnectionChange::Lost => {
                let connection = self
                    .connections
                    .entry_or_evict(origin.conn, Connection::default);
                connection.posts.lose();
                connection.streamed = None;
                self.pairs.lose(id_space, None);
                self.pairs.lose(IdSpace::All, None);
                self.pairs.miss_answers(id_space, None);
                if http {
                    self.miss_answers_elsewhere(origin);
                }
                self.sessions.state(origin.conn).missed();
            }
            // An answer may come on another connection.
            _ if http => {
                let connection = self.connections.get_mut(origin.conn);
                let ended = origin.direction.filter(|_| what == ConnectionChange::Ended);
                match (connection, ended) {
                    (Some(connection), Some(Direction::ToClient)) => connection.server_left = true,
                    (Some(connection), Some(Direction::ToServer)) if !connection.server_left => {
                        self.pairs
                            .open
                            .each(id_space, |_, request| request.client_left = true);
                    }
                    _ => {}
                }
                if what != ConnectionChange::Ended {
                    for (_, asked, request) in self.pairs.open.sorted_in(id_space) {
                        if request.client_left && E::is_cancelled(request) {
                            report.abandoned.push(asked.index());
                        }
                    }
                    self.connections.end(origin.conn);
                    self.sessions.close(origin.conn);
                }
            }
            _ => {
                let answers = origin.direction.filter(|_| what == ConnectionChange::Ended);
                let gone = match answers {
                    Some(_) => self.pairs.open.end_side(id_space, answers),
                    None => self.pairs.open.end(id_space),
                };
                for (_, asked, request) in &gone {
                    Self::unanswered(asked, request, report);
                    if !request.may_be_missed && E::needs_answer(request) {
                        report.leave(self.waiting_of(asked, request));
                    }
                }
                if answers != Some(Direction::ToServer) {
                    self.sessions.end(origin.conn, report);
                }
                if what != ConnectionChange::Ended {
                    self.sessions.forget(origin.conn);
                }
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        for (_, asked, request) in self.pairs.open.sorted() {
            Self::unanswered(asked, request, report);
        }
        self.sessions.finish(report);
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting)) {
        let open = self.pairs.open.sorted().into_iter();
        open.filter(|(_, _, request)| !E::is_cancelled(request))
            .for_each(|(_, asked, request)| visit(self.waiting_of(asked, request)));
    }

    fn is_open(&self, index: u64) -> bool {
        self.pairs.open.at(index).is_some()
    }

    fn untracked(&self) -> u64 {
        self.pairs.open.untracked()
    }
}
