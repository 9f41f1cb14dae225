//! An endpoint of a live conversation: the base of `stub`, `replay` and `send`.
//!
//! ```text
//!   received bytes --> run --> Received { message, verdict, replies }
//!                       |  ^ own messages too
//!                     codec, peer
//!   Outgoing --> codec --> bytes to send --> run
//! ```
//!
//! Both directions pass one run, so that an endpoint can match answers, list pending ones, and
//! report broken rules. The [`Peer`] proposes the answers of the protocol; the owner of the endpoint decides.

mod close;
mod events;
pub(super) mod http_session;
mod received;
mod served;
mod streams;

use super::codec::{Codec, ConnectionConfig, FieldsOfRequest};
use super::handler::Command;
use crate::capture::{Event, EventKind};
use crate::conversation::{Conversation, Judge, Output, RuleSettings, Run, Verdict};
use crate::decoder::{DecodeOptions, Decoded, Origin};
use crate::error::Refusal;
use crate::framing::{Framing, Limits, Wire};
use crate::protocol::Channel;
use crate::protocol::peer::{Outgoing, Peer, PeerConfig, PeerReply, Readiness, Request};
use crate::protocol::session::{SessionConfig, Waiting};
use crate::protocol::{Direction, Protocol};
use crate::tape::Node;
use http_session::ClientSession;
use served::ServerSessions;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::ops::ControlFlow;

/// A message of the peer.
pub struct Received<'h> {
    /// The message. Its index counts the messages of both sides.
    pub decoded: &'h Decoded<'h>,
    /// The request that it answers, and the rules that it breaks.
    pub verdict: Verdict<'h>,
    /// The answers of the protocol itself. They are sent after the observer returns, unless it removes them.
    pub replies: &'h mut Vec<Outgoing>,
    /// This side of the protocol, for the calls of a batch.
    pub peer: &'h mut dyn Peer,
}

/// An event of a connection, for the owner of the endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// Messages can be sent on the connection.
    Open(u32),
    /// The peer ends the connection in order. A server then calls [`Endpoint::close`]; a client waits for the server.
    Closing(u32),
    /// The connection cannot be used, with the reason.
    Refused(u32, String),
}

/// Messages that may wait for a free connection; further ones are refused.
const MAX_WAITING: usize = 1 << 10;

/// Receives every message of the peer.
pub type MessageObserver<'l> = dyn FnMut(Received<'_>) + 'l;

/// One side of a live conversation, over all its connections.
pub struct Endpoint<'p> {
    config: ConnectionConfig<'p>,
    seed: u64,
    run: Run<'p>,
    peer: Box<dyn Peer + 'p>,
    codecs: BTreeMap<u32, Codec<'p>>,
    /// The number of streams that this side opened for requests, by connection.
    streams: BTreeMap<u32, u64>,
    /// The number of the last connection that was opened.
    last_conn: u32,
    /// Messages that are sent as soon as a connection is free.
    waiting: VecDeque<(Outgoing, Option<Wire>)>,
    events: Vec<SessionEvent>,
    /// The connections with an event stream of the older transport, on the side of the server.
    older_streams: BTreeSet<u32>,
    /// The common parts of the requests over HTTP.
    http: Option<ClientSession<'p>>,
    /// The sessions of a server over HTTP.
    served: Option<ServerSessions<'p>>,
}

impl<'p> Endpoint<'p> {
    /// Returns an endpoint without connections.
    pub fn new(
        config: ConnectionConfig<'p>,
        peer_config: &PeerConfig,
        limits: Limits,
        judge: &Judge,
    ) -> Self {
        let protocol = config.protocol;
        let options = DecodeOptions {
            // Answers on the stream of their request may be delimited otherwise than requests.
            framing: config.initial_framing(),
            limits,
            flags: true,
            ..DecodeOptions::new(vec![protocol])
        };
        let rules = RuleSettings {
            judge: judge.clone(),
            session: SessionConfig {
                secret: peer_config.secret.clone(),
                ..SessionConfig::default()
            },
            operations: false,
        };
        Self {
            run: Run::of_items(options, Some(rules)),
            peer: protocol.behavior().peer(config.side, peer_config),
            codecs: BTreeMap::new(),
            streams: BTreeMap::new(),
            last_conn: 0,
            waiting: VecDeque::new(),
            events: Vec::new(),
            seed: peer_config.seed,
            older_streams: BTreeSet::new(),
            http: ClientSession::of(&config),
            served: ServerSessions::of(&config),
            config,
        }
    }

    /// The protocol of the messages.
    pub fn protocol(&self) -> &'p dyn Protocol {
        self.config.protocol
    }

    /// The side of this endpoint: the direction in which it sends.
    pub fn side(&self) -> Direction {
        self.config.side
    }

    /// Reserves the numbers up to this one for connections of the owner.
    pub fn reserve(&mut self, conn: u32) {
        self.last_conn = self.last_conn.max(conn);
    }

    /// Opens a connection. Returns its number.
    pub fn connect(&mut self, commands: &mut Vec<Command>) -> u32 {
        self.last_conn += 1;
        commands.push(Command::Connect(self.last_conn));
        self.last_conn
    }

    /// A connection is open.
    pub fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        let seed = self.seed ^ u64::from(conn).rotate_left(32);
        let mut codec = Codec::new(self.config.clone(), conn, seed);
        let mut bytes = Vec::new();
        codec.start(&mut bytes);
        let mut is_open = codec.is_open();
        if let Some(http) = self.http.as_mut().filter(|http| http.is_stream(conn)) {
            codec.open_stream(&http.request_without_message(conn), &mut bytes);
            is_open = false;
        }
        self.codecs.insert(conn, codec);
        self.record_event(conn.into(), EventKind::Open, None, now);
        self.send_bytes(conn, bytes, now, commands);
        if is_open {
            self.start_session(conn, now, commands);
        }
    }

    /// Messages can be sent: the first messages of the protocol are sent.
    fn start_session(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        let mut outgoing = Vec::new();
        let is_first = match &mut self.http {
            Some(http) if !http.is_ready() => {
                if let Some(of) = http.start_stream() {
                    self.open_stream(of, commands);
                }
                return;
            }
            Some(http) => !std::mem::replace(&mut http.is_started, true),
            None => true,
        };
        self.events.push(SessionEvent::Open(conn));
        if is_first {
            self.peer.opened(self.peer_conn(conn), now, &mut outgoing);
        }
        self.send_all(&outgoing, now, commands);
        self.send_waiting(now, commands);
    }

    /// Returns the events of connections since the last call.
    pub fn events(&mut self) -> Vec<SessionEvent> {
        std::mem::take(&mut self.events)
    }

    /// Returns the state of the handshake of a connection.
    pub fn readiness(&self, conn: u32) -> Readiness {
        match self.codecs.get(&conn) {
            None => Readiness::Waits("the connection".into()),
            Some(codec) if !codec.is_open() => Readiness::Waits("the upgrade to WebSocket".into()),
            Some(_) if !self.can_post() => {
                Readiness::Waits("the first event of the event stream".into())
            }
            Some(_) if self.http.as_ref().is_some_and(ClientSession::is_opening) => {
                Readiness::Waits("the response to the last message of the opening".into())
            }
            Some(_) => self.peer.readiness(self.peer_conn(conn)),
        }
    }

    /// Adds to a message of the caller what the protocol requires of it.
    pub fn complete(&self, message: String) -> String {
        self.peer.complete(message)
    }

    /// Returns `true` if a message can be sent on a connection now.
    pub fn can_send(&self, conn: u32) -> bool {
        self.can_post() && self.codecs.get(&conn).is_some_and(Codec::can_send)
    }

    /// Returns `true` if an exchange of HTTP is in progress on a connection.
    pub fn is_busy(&self, conn: u32) -> bool {
        self.codecs.get(&conn).is_some_and(Codec::is_busy)
    }

    /// Sends a message. Returns its index among all messages, or the index of the last one of several. Over HTTP, a
    /// message whose connection is busy uses another one; if that must be opened first, the message has no index yet.
    pub fn send_message(
        &mut self,
        outgoing: &Outgoing,
        wire: Option<&Wire>,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<Option<u64>, Refusal> {
        let can_send = self.codecs.get(&outgoing.conn).is_some_and(Codec::can_send);
        if !can_send && self.served.as_ref().is_some_and(ServerSessions::accepts) {
            return self.send_event(outgoing, now, commands);
        }
        let is_http_client =
            self.config.framing == Framing::Http && self.side() == Direction::ToServer;
        let conn = if is_http_client && !self.can_send(outgoing.conn) {
            match self.free_connection() {
                Some(conn) => conn,
                None if self.waiting.len() < MAX_WAITING => {
                    self.waiting.push_back((outgoing.clone(), wire.cloned()));
                    self.connect(commands);
                    return Ok(None);
                }
                None => return Err(Refusal::new("", "a free connection", "none")),
            }
        } else {
            outgoing.conn
        };
        let Some(codec) = self.codecs.get_mut(&conn) else {
            return Err(Refusal::new("", "an open connection", "a closed one"));
        };
        let mut bytes = Vec::new();
        let (http, peer) = (&mut self.http, &self.peer);
        let head = wire.and_then(|wire| wire.head.as_deref());
        let mut session = |message: Node<'_>| match http {
            Some(http) => {
                let mut request = http.request_for(conn, message, head);
                // A recorded head has its own.
                let repeated = head.map_or_else(|| peer.repeated_fields(message), |_| Vec::new());
                request
                    .fields
                    .retain(|(name, _)| !repeated.iter().any(|(other, _)| other == name));
                request.fields.extend(repeated);
                request
            }
            None => FieldsOfRequest::default(),
        };
        if !outgoing.message.is_empty() {
            let to = outgoing.to.as_deref();
            codec.write(&outgoing.message, to, wire, &mut session, &mut bytes)?;
        }
        for message in &outgoing.then {
            codec.write(message, None, None, &mut session, &mut bytes)?;
        }
        let (channel, is_last) = self.channel_for(conn, outgoing.stream, &bytes);
        let index = self.send_bytes(channel, bytes, now, commands);
        self.open_session_stream(commands);
        if is_last {
            self.finish(channel, now, commands);
        }
        if outgoing.closes {
            self.close(conn, now, commands);
        } else if self.side() == Direction::ToClient {
            self.close_finished(conn, commands);
        }
        Ok(index)
    }

    /// Over HTTP, the next message begins a session, which has this name in the recording.
    pub fn begin_session(&mut self, recorded: Option<String>) {
        if let Some(http) = &mut self.http {
            http.begin(recorded);
        }
    }

    /// Sends a message to the session of a connection that has ended: on the connection that has resumed it, otherwise
    /// as soon as one does.
    pub fn send_missed(
        &mut self,
        conn: u32,
        message: String,
        now: i64,
        commands: &mut Vec<Command>,
    ) {
        if let Some(conn) = self.peer.missed(conn, &message) {
            self.send_all(&[Outgoing::new(conn, message)], now, commands);
        }
    }

    /// Returns a connection on which a message can be sent at once.
    fn free_connection(&self) -> Option<u32> {
        let mut all = self.codecs.keys().copied();
        all.find(|conn| self.can_send(*conn))
    }

    /// Sends the messages that waited for a free connection.
    fn send_waiting(&mut self, now: i64, commands: &mut Vec<Command>) {
        while let Some(conn) = self.free_connection().filter(|_| !self.waiting.is_empty()) {
            let Some((outgoing, wire)) = self.waiting.pop_front() else {
                return;
            };
            let outgoing = Outgoing { conn, ..outgoing };
            if let Err(refusal) = self.send_message(&outgoing, wire.as_ref(), now, commands) {
                commands.push(Command::Log(refusal.to_string()));
            }
        }
    }

    /// Builds a message of the protocol that answers a request.
    pub fn encode_reply(
        &mut self,
        to: &Request,
        reply: PeerReply<'_>,
        now: i64,
    ) -> Result<Outgoing, Refusal> {
        let outgoing = self.peer.encode_reply(to, reply, now)?;
        Ok(Outgoing {
            stream: to.stream,
            ..outgoing
        })
    }

    /// Sends bytes unchanged. This side interprets them like the peer, whether they are valid or not.
    pub fn send_bytes(
        &mut self,
        channel: impl Into<Channel>,
        bytes: Vec<u8>,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Option<u64> {
        if bytes.is_empty() {
            return None;
        }
        let channel = channel.into();
        let origin = origin(channel, self.side(), now);
        let peer_conn = self.peer_conn(channel.conn);
        let (peer, http, mut index) = (&mut self.peer, &mut self.http, None);
        let protocol = self.config.protocol;
        let mut sink = |output: Output<'_>| -> ControlFlow<Infallible> {
            if let Output::Message(decoded, _) = output
                && decoded.frame.control.is_none()
            {
                peer.sent(&received::seen_on(peer_conn, decoded), now);
                if let Some(http) = http {
                    http.sent(channel.conn, decoded.message, protocol);
                }
                index = Some(decoded.index);
            }
            ControlFlow::Continue(())
        };
        let step = self
            .run
            .decode(|decoder, out| decoder.push(origin, &bytes, out), &mut sink);
        let ControlFlow::Continue(()) = step;
        commands.push(Command::Send(channel, bytes));
        index
    }

    /// Sends a body that is not a message of the protocol in a frame of its own.
    pub fn send_body(
        &mut self,
        channel: Channel,
        body: &[u8],
        wire: &Wire,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<Option<u64>, Refusal> {
        let mut bytes = Vec::new();
        if let Some(codec) = self.codecs.get_mut(&channel.conn) {
            codec.write_body(body, wire, &mut bytes)?;
        }
        Ok(self.send_bytes(channel, bytes, now, commands))
    }

    fn send_all(&mut self, outgoing: &[Outgoing], now: i64, commands: &mut Vec<Command>) {
        for one in outgoing {
            // Messages of the protocol itself are not sent on a closed connection.
            if self.is_closed(one.conn) {
                continue;
            }
            if let Err(refusal) = self.send_message(one, None, now, commands) {
                commands.push(Command::Log(refusal.to_string()));
            }
        }
    }

    /// The time at which [`Endpoint::tick`] must be called.
    pub fn due(&self) -> Option<i64> {
        let http = self.http.as_ref().and_then(ClientSession::due);
        [self.peer.due(), http].into_iter().flatten().min()
    }

    /// Sends what is due at this time, such as a heartbeat.
    pub fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        self.continue_streams(now, commands);
        let mut outgoing = Vec::new();
        self.peer.tick(now, &mut outgoing);
        self.send_all(&outgoing, now, commands);
    }

    /// The pending answers, the oldest first.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.run
            .conversation()
            .map_or(Vec::new(), Conversation::waiting)
    }

    /// Returns `true` if the message with this index can still be answered.
    pub fn is_open(&self, index: u64) -> bool {
        let conversation = self.run.conversation();
        conversation.is_some_and(|all| all.is_open(index))
    }

    /// The incomplete frames, with the number of missing bytes.
    pub fn partials(&self) -> Vec<crate::decoder::Partial> {
        self.run.decoder().partials()
    }

    /// The incomplete frame of the peer on a connection or a stream.
    pub fn partial_of(&self, channel: Channel) -> Option<crate::decoder::Partial> {
        let direction = self.side().other();
        self.run
            .decoder()
            .partial_of(origin(channel, direction, 0).lane())
    }

    fn record_event(
        &mut self,
        channel: Channel,
        what: EventKind<'_>,
        direction: Option<Direction>,
        now: i64,
    ) {
        let event = Event {
            stream: channel.stream,
            direction,
            time: Some(now.into()),
            ..Event::new(channel.conn, what)
        };
        self.run.event_without_sink(&event);
    }
}

fn origin(channel: Channel, direction: Direction, now: i64) -> Origin {
    Origin {
        conn: Some(channel.conn),
        stream: channel.stream,
        direction: Some(direction),
        time: Some(now),
    }
}
