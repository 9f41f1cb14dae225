//! The session of a JSON-RPC conversation, for the protocols that take it as the specification has it.
//!
//! ```text
//!   frame -> members of a batch -> shape -> pairs: direction, JSON type and value of the id
//!   HTTP: the connection of the exchange first, then any connection of the same HTTP session
//! ```
//!
//! A protocol adds its own state as an [`Extension`].

use super::extension::{Extension, RpcMessage};
use super::http::{Connection, MAX_CONNECTIONS, Sessions, report_refusal};
use super::pairing::{Closed, IdSpace, PairKey, PairedRequest, Pairing, SentRequest};
use super::shape::{CallShape, usual_rule};
use super::{Call, read};
use crate::framing::Head;
use crate::protocol::correlation::OpenRequest;
use crate::protocol::rule_names::all as rule;
use crate::protocol::session::memory::{ConnId, Connections};
use crate::protocol::session::text::{quote, short};
use crate::protocol::session::{
    ConnectionChange, Current, Report, Seen, Session, SessionConfig, Waiting, broken,
};
use crate::protocol::{Direction, Id, Origin, Role};
use crate::tape::Node;
use foldhash::HashMap;

/// The state of a conversation.
pub(in crate::protocol) struct RpcSession<E: Extension> {
    sessions: Sessions<E>,
    pairs: Pairing<E::Own>,
    connections: Connections<Connection>,
    /// The connections of open requests over HTTP, by their key in [`IdSpace::Http`].
    elsewhere: HashMap<PairKey, Vec<ConnId>>,
    order: bool,
    has_lost: bool,
}

impl<E: Extension> RpcSession<E> {
    pub(in crate::protocol) fn new(config: &SessionConfig) -> Self {
        Self {
            sessions: Sessions::new(),
            pairs: Pairing::with_capacity(config.max_open),
            connections: Connections::with_capacity(MAX_CONNECTIONS, 0),
            elsewhere: HashMap::default(),
            order: config.order,
            has_lost: false,
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
        };
        if root.is_array() {
            self.batch(seen, root, context);
        } else {
            self.message(seen, root, context);
        }
    }

    /// Handles the parts of a frame that are not a message, and returns its direction.
    fn handle_frame(&mut self, seen: Current<'_, '_>) -> Option<Direction> {
        let connection = self
            .connections
            .entry_or_evict(seen.origin.conn, Connection::default);
        let mut direction = seen.origin.direction;
        if let Head::Http { status, event, .. } = seen.frame.head {
            connection.http = true;
            let is_final = !(100..200).contains(&status);
            let posted = connection.posted.take_if(|_| is_final);
            let notification = connection.posted_notification.take_if(|_| is_final);
            let asks = status == 0 && !event;
            direction = direction.or(Some(if asks {
                Direction::ToServer
            } else {
                Direction::ToClient
            }));
            self.sessions.read(&seen, asks);
            let answers = matches!(&seen.message.id, Id::Json(id) if id != "null");
            match posted {
                Some(key) if status >= 300 && !answers => {
                    self.handle_refusal(&key, seen, status);
                }
                None if status >= 300 && E::HAS_HTTP => {
                    if let Some(notification) = notification {
                        report_refusal(seen, &notification, status);
                    }
                }
                // The events of a response follow its head.
                Some(key) if event => connection.posted = Some(key),
                _ => {}
            }
        }
        if E::HAS_LINES && seen.message.kind == "blank-line" {
            broken!(seen, rule::BLANK_LINE, seen.whole();
                "the line has no message; readers skip it");
        }
        self.sessions.state(seen.origin.conn).frame(seen);
        direction
    }

    /// Handles an HTTP response that refuses a request: no answer will come.
    fn handle_refusal(&mut self, key: &PairKey, seen: Current<'_, '_>, status: u16) {
        if let Some((asked, _)) = self.pairs.open.close(key) {
            self.forget(key);
            seen.answers(&asked, true);
            self.sessions.state(seen.origin.conn).refused(&asked);
            let is_gone = status == 404 && self.sessions.deleted(seen.origin.conn).is_some();
            if E::HAS_HTTP && !is_gone {
                report_refusal(seen, &asked, status);
            }
        }
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
        for node in root.children() {
            seen.report().answer = None;
            self.message(seen, node, context);
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
            broken!(seen, rule::BATCH_ANSWER, seen.whole(), asked.place.index;
                "the batch lacks the answer to {}", asked.describe());
        }
        seen.report().answer = of;
    }

    /// Handles a message, or a member of a batch.
    fn message(&mut self, seen: Current<'_, '_>, root: Node<'_>, context: FrameContext) {
        let call = Call::of(root);
        let Some(role) = read::role(&call) else {
            return;
        };
        let before = seen.findings();
        let shape = CallShape {
            dialect: E::DIALECT,
            sides: E::SIDES,
            rule: usual_rule,
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
            id_space: IdSpace::Pipe(seen.origin.conn),
            breaks_rule: context.faulty || seen.findings() > before,
            order: self.order,
            unnamed: self.sessions.name(seen.origin.conn) == Some(""),
            lacks: self.sessions.lacks(seen.origin.conn),
            in_batch: context.in_batch,
        };
        match role {
            Role::Request | Role::Notification if context.faulty => {}
            Role::Request | Role::Notification => self.asks(&message, &shape),
            _ => self.answers(&message, &shape),
        }
    }

    fn asks(&mut self, message: &RpcMessage<'_, '_>, shape: &CallShape<'_, '_>) {
        let deleted = self.sessions.deleted(message.origin.conn);
        if let Some(index) = deleted.filter(|_| message.requester() == Direction::ToServer) {
            broken!(message, rule::SESSION_ENDED, message.whole(), index;
                "the session was ended by #{index}; a new one is needed");
        }
        let requester = message.requester();
        let own = self.sessions.state(message.origin.conn).asks(message);
        if message.role == Role::Notification && requester == Direction::ToServer {
            let connection = self.connections.get_mut(message.origin.conn);
            if let Some(connection) = connection.filter(|connection| connection.http) {
                connection.posted_notification = Some(shape.asked());
            }
        }
        if let Some((_, id)) = E::CANCELS.iter().find(|(name, _)| message.is(name)) {
            self.cancels(message, id);
        }
        let key = message
            .call
            .id
            .and_then(|id| PairKey::of(message.id_space, requester, id));
        let Some(key) = key.filter(|_| message.role == Role::Request) else {
            return;
        };
        if self.pairs.is_duplicate(&key, shape) {
            return;
        }
        if self.is_http(&message.seen) {
            let conns = self.elsewhere.entry(key.at(IdSpace::Http)).or_default();
            conns.push(message.origin.conn);
            let connection = self.connections.get_mut(message.origin.conn);
            if let Some(connection) = connection.filter(|_| requester == Direction::ToServer) {
                connection.posted = Some(key.clone());
            }
        }
        let request = SentRequest::new(message.method, message.breaks_rule, own);
        self.pairs.add_request(key, shape.asked(), request);
    }

    fn is_http(&self, seen: &Seen<'_>) -> bool {
        let connection = self.connections.get(seen.origin.conn);
        connection.is_some_and(|connection| connection.http)
    }

    /// Records that a request is cancelled.
    fn cancels(&mut self, message: &RpcMessage<'_, '_>, id: &str) {
        let Some(id) = message.param(id) else {
            return;
        };
        let Some(key) = PairKey::of(message.id_space, message.requester(), id) else {
            return;
        };
        let key = self.resolve(key, &message.seen);
        match self.pairs.open.get_mut(&key) {
            Some((asked, request)) => {
                request.cancelled = Some((message.index, message.origin.time));
                let asked = asked.clone();
                let state = self.sessions.state(message.origin.conn);
                state.cancels(message, &asked);
            }
            None if self.pairs.answered.get(&key).is_some() => {}
            None => {
                broken!(message, rule::CANCEL_UNKNOWN, message.at(id);
                    "no open request has the id {}", quote(id));
            }
        }
    }

    /// Returns the key of an open request that a message of this connection means: over HTTP it may have been sent on
    /// another connection.
    fn resolve(&self, key: PairKey, seen: &Seen<'_>) -> PairKey {
        if self.pairs.open.get(&key).is_some() || !self.is_http(seen) {
            return key;
        }
        let session = |conn| self.sessions.name(conn).filter(|name| !name.is_empty());
        let mine = session(seen.origin.conn);
        let conns = self.elsewhere.get(&key.at(IdSpace::Http));
        let mut conns = conns.into_iter().flatten().copied();
        let found = conns.find(|conn| {
            let theirs = session(*conn);
            mine.is_none() || theirs.is_none() || mine == theirs
        });
        found.map_or(key.clone(), |conn| key.at(IdSpace::Pipe(conn)))
    }

    fn answers(&mut self, message: &RpcMessage<'_, '_>, shape: &CallShape<'_, '_>) {
        let seen = message.seen;
        let mut id_space = message.id_space;
        let requester = message
            .direction
            .map_or(Direction::ToServer, Direction::other);
        let id = message.call.id;
        if let Some(key) = id.and_then(|id| PairKey::of(id_space, requester, id)) {
            id_space = self.resolve(key, &seen).id_space;
        }
        let key = match self.pairs.find(id_space, message.direction, shape) {
            PairedRequest::Open(key) | PairedRequest::Retyped(key) => key,
            PairedRequest::NoId => return,
            PairedRequest::Nothing(key) => {
                let connection = self.connections.get(seen.origin.conn);
                let may_be_lost = connection.is_some_and(|c| c.lost || c.http && self.has_lost);
                if !may_be_lost && !message.breaks_rule {
                    self.pairs.report_unmatched(&key, shape);
                }
                return;
            }
        };
        match self.pairs.close(&key, seen) {
            Closed::Nothing | Closed::Twin => {}
            Closed::Last(asked, request) => {
                self.forget(&key);
                if let Some(method) = request.method.filter(|_| !message.breaks_rule) {
                    shape.result(method);
                }
                let batch = E::DIALECT.batches && asked.kind.as_ref() == "batch";
                if batch && !message.in_batch && message.role != Role::Error {
                    broken!(message, rule::BATCH_ANSWER, seen.whole(), asked.place.index;
                        "this answers a member of a batch; it should be in an array");
                }
                let state = self.sessions.state(seen.origin.conn);
                state.answers(message, &asked, &request);
            }
        }
    }

    /// Removes a closed request from the connections over HTTP.
    fn forget(&mut self, key: &PairKey) {
        let (IdSpace::Pipe(conn), shared) = (key.id_space, key.at(IdSpace::Http)) else {
            return;
        };
        if let Some(conns) = self.elsewhere.get_mut(&shared) {
            let at = conns.iter().position(|c| *c == conn);
            at.map(|at| conns.remove(at));
            if conns.is_empty() {
                self.elsewhere.remove(&shared);
            }
        }
    }

    fn unanswered(asked: &OpenRequest, request: &SentRequest<E::Own>, report: &mut Report) {
        if request.needs_answer() && E::needs_answer(request) {
            broken!(report, rule::UNANSWERED, asked.place;
                "{} ({}) has no answer", asked.describe(), short(&asked.id));
        }
    }
}

/// The facts about a frame that its messages share.
#[derive(Clone, Copy)]
struct FrameContext {
    direction: Option<Direction>,
    faulty: bool,
    in_batch: bool,
}

impl<E: Extension> Session for RpcSession<E> {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        Current::handle(seen, report, |seen| self.handle(seen));
    }
    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        let id_space = IdSpace::Pipe(origin.conn);
        let http = self.connections.get(origin.conn).is_some_and(|c| c.http);
        match what {
            ConnectionChange::Opened => {
                self.connections.remove(origin.conn);
                self.sessions.open(origin.conn);
            }
            ConnectionChange::Lost => {
                let connection = self
                    .connections
                    .entry_or_evict(origin.conn, Connection::default);
                connection.lost = true;
                self.has_lost = true;
                self.pairs.open.retain(id_space, |_, _, request| {
                    request.may_be_missed = true;
                    true
                });
                self.sessions.state(origin.conn).missed();
            }
            // An answer may come on another connection.
            _ if http => {
                let connection = self.connections.get_mut(origin.conn);
                let ended = origin.direction.filter(|_| what == ConnectionChange::Ended);
                match (connection, ended) {
                    (Some(connection), Some(Direction::ToClient)) => connection.server_left = true,
                    (Some(connection), Some(Direction::ToServer)) if !connection.server_left => {
                        self.pairs.open.retain(id_space, |_, _, request| {
                            request.client_left = true;
                            true
                        });
                    }
                    _ => {}
                }
            }
            _ => {
                let answers = origin.direction.filter(|_| what == ConnectionChange::Ended);
                let gone = self.pairs.open.end_where(id_space, |key| {
                    answers.is_none_or(|direction| key.requester != direction)
                });
                for (_, asked, request) in &gone {
                    Self::unanswered(asked, request, report);
                }
                if answers != Some(Direction::ToServer) {
                    self.sessions.end(origin.conn, report);
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

    fn waiting(&self) -> Vec<Waiting> {
        let why = |request: &SentRequest<E::Own>| {
            if request.breaks_rule {
                Some("it breaks a rule itself, so peers may not answer it".to_owned())
            } else {
                self.sessions.waits(request)
            }
        };
        let open = self.pairs.open.sorted().into_iter();
        open.map(|(_, asked, request)| asked.waiting(why(request)))
            .collect()
    }

    fn is_open(&self, index: u64) -> bool {
        self.pairs.open.at(index).is_some()
    }

    fn refused(&self) -> u64 {
        self.pairs.open.refused()
    }
}
