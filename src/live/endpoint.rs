//! One endpoint of a live conversation: what stubs, replays and `send` are built on.
//!
//! ```text
//!   bytes heard --> decoder --> conversation --> Received { message, verdict, replies }
//!                      |             ^ own words too
//!                   codec        peer
//!   Says --> codec --> bytes to send --> decoder --> conversation
//! ```
//!
//! Both directions go through one decoder and one session, so that an endpoint knows what answers what, what is overdue, and
//! which rules are broken. The [`Peer`] proposes what the protocol would answer; the owner of the endpoint decides.

mod close;

use super::codec::{Codec, ConnectionConfig, Signal};
use super::handler::Command;
use crate::capture::{Event, What};
use crate::conversation::{Conversation, Judge, Verdict};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::encoding::Want;
use crate::error::Refusal;
use crate::framing::{Framing, LengthMode, Limits, Wire};
use crate::protocol::peer::{Peer, PeerConfig, Phrase, Readiness, Request, Says};
use crate::protocol::session::{SessionConfig, Waiting};
use crate::protocol::{Direction, Protocol};
use std::collections::{BTreeMap, VecDeque};

/// A message of the other side.
pub struct Received<'h> {
    /// The message. Its index counts the messages of both sides.
    pub decoded: &'h Decoded<'h>,
    /// What it answers, and which rules it breaks.
    pub verdict: Verdict<'h>,
    /// What the protocol itself says to it: said once the listener is done, unless it takes them out.
    pub replies: &'h mut Vec<Says>,
}

/// Something about a connection that the owner should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// Messages can be said on it now.
    Open(u32),
    /// The other side ends it in order, and hears that we do, too. Whoever serves closes it then, with
    /// [`Endpoint::close`]; a client waits for that.
    Closing(u32),
    /// It cannot be used: why.
    Refused(u32, String),
}

/// Messages that wait for a free connection; more are refused.
const WAITING: usize = 1 << 10;

/// Told of every message of the other side.
pub type Listener<'l> = dyn FnMut(Received<'_>) + 'l;

/// One side of a live conversation, over all its connections.
pub struct Endpoint<'p> {
    config: ConnectionConfig<'p>,
    seed: u64,
    decoder: Decoder<'p>,
    conversation: Conversation<'p>,
    peer: Box<dyn Peer + 'p>,
    codecs: BTreeMap<u32, Codec<'p>>,
    /// The last connection that was dialled.
    dialled: u32,
    /// What is said as soon as a connection is free.
    waiting: VecDeque<Says>,
    events: Vec<SessionEvent>,
}

impl<'p> Endpoint<'p> {
    /// An endpoint of which nothing was heard.
    pub fn new(
        config: ConnectionConfig<'p>,
        peer_config: &PeerConfig,
        limits: Limits,
        judge: &Judge,
    ) -> Self {
        let protocol = config.protocol;
        let options = Options {
            protocols: vec![protocol],
            framing: Some(config.read_as()),
            length_mode: LengthMode::Auto,
            limits,
            resync: true,
            want: Want::Places,
        };
        let session_config = SessionConfig {
            secret: peer_config.secret.clone(),
            ..SessionConfig::default()
        };
        Self {
            conversation: Conversation::new(&[protocol], judge, session_config, true),
            decoder: Decoder::new(options),
            peer: protocol.behavior().peer(config.side, peer_config),
            codecs: BTreeMap::new(),
            dialled: 0,
            waiting: VecDeque::new(),
            events: Vec::new(),
            seed: peer_config.seed,
            config,
        }
    }

    /// The protocol that is spoken.
    pub fn protocol(&self) -> &'p dyn Protocol {
        self.config.protocol
    }

    /// The side that this endpoint is: the direction in which it speaks.
    pub fn side(&self) -> Direction {
        self.config.side
    }

    /// Numbers of connections up to this one are the owner's own.
    pub fn reserve(&mut self, conn: u32) {
        self.dialled = self.dialled.max(conn);
    }

    /// Dials a connection: its number.
    pub fn dial(&mut self, commands: &mut Vec<Command>) -> u32 {
        self.dialled += 1;
        commands.push(Command::Connect(self.dialled));
        self.dialled
    }

    /// A connection is open.
    pub fn opened(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        let seed = self.seed ^ u64::from(conn).rotate_left(32);
        let mut codec = Codec::new(self.config.clone(), seed);
        let mut bytes = Vec::new();
        codec.begin(&mut bytes);
        let is_open = codec.is_open();
        self.codecs.insert(conn, codec);
        self.happened(conn, What::Open, None, now);
        self.send(conn, bytes, now, commands);
        if is_open {
            self.open(conn, now, commands);
        }
    }

    /// Messages can be said: the protocol's first ones are.
    fn open(&mut self, conn: u32, now: i64, commands: &mut Vec<Command>) {
        self.events.push(SessionEvent::Open(conn));
        let mut says = Vec::new();
        self.peer.opened(conn, now, &mut says);
        self.say_all(&says, now, commands);
        self.say_waiting(now, commands);
    }

    /// Bytes of the other side.
    pub fn received(
        &mut self,
        conn: u32,
        bytes: &[u8],
        now: i64,
        commands: &mut Vec<Command>,
        listen: &mut Listener<'_>,
    ) {
        let origin = origin(conn, self.side().other(), now);
        self.hear(conn, now, commands, listen, |decoder, sink| {
            decoder.push(origin, bytes, sink);
        });
    }

    /// Hears what a step of the decoder gives; then says what is answered to it.
    fn hear(
        &mut self,
        conn: u32,
        now: i64,
        commands: &mut Vec<Command>,
        listen: &mut Listener<'_>,
        step: impl FnOnce(&mut Decoder<'p>, &mut dyn FnMut(&Decoded<'_>)),
    ) {
        let Self {
            decoder,
            conversation,
            peer,
            codecs,
            events,
            ..
        } = self;
        let (mut says, mut bytes, mut opens) = (Vec::new(), Vec::new(), false);
        let mut closes = false;
        let mut codec = codecs.get_mut(&conn);
        step(decoder, &mut |decoded| {
            if codec.as_ref().is_some_and(|codec| codec.is_deaf()) {
                return;
            }
            let verdict = conversation.see(decoded);
            if let Some(codec) = &mut codec {
                match codec.received(decoded, &mut bytes) {
                    Signal::Nothing => {}
                    Signal::Open => opens = true,
                    Signal::Closing => {
                        closes = true;
                        events.push(SessionEvent::Closing(conn));
                    }
                    Signal::Refused(why) => {
                        events.push(SessionEvent::Refused(conn, why));
                        let is_message = decoded.frame.control.is_none() && !decoded.is_faulty();
                        if codec.is_deaf() && is_message {
                            return;
                        }
                    }
                }
            }
            let mut replies = Vec::new();
            if decoded.frame.control.is_none() {
                peer.heard(&decoded.seen(), now, &mut replies);
            }
            listen(Received {
                decoded,
                verdict,
                replies: &mut replies,
            });
            says.append(&mut replies);
        });
        let half = self.decoder.begun(origin(conn, self.side().other(), now));
        if let Some(codec) = self.codecs.get_mut(&conn).filter(|_| !half.is_empty()) {
            codec.half(half, &mut bytes);
        }
        self.send(conn, bytes, now, commands);
        if opens {
            self.open(conn, now, commands);
        }
        self.say_all(&says, now, commands);
        self.say_waiting(now, commands);
        self.close_spent(conn, commands);
        // RFC 6455 section 7.1.1: a server closes the connection, and a client gives it the time to.
        if closes && self.side() == Direction::ToServer {
            self.finish(conn, now, commands);
        }
    }

    /// What became known of connections since it was last asked for.
    pub fn events(&mut self) -> Vec<SessionEvent> {
        std::mem::take(&mut self.events)
    }

    /// Whether calls may be made on a connection.
    pub fn readiness(&self, conn: u32) -> Readiness {
        match self.codecs.get(&conn) {
            None => Readiness::Waits("the connection"),
            Some(codec) if !codec.is_open() => Readiness::Waits("the upgrade to WebSocket"),
            Some(_) => self.peer.readiness(conn),
        }
    }

    /// Whether a message can be said on a connection at this moment.
    pub fn is_free(&self, conn: u32) -> bool {
        self.codecs.get(&conn).is_some_and(Codec::is_free)
    }

    /// Says a message: the index that it has among all messages; the last one's, of several. Over HTTP, a message for
    /// which its connection is not free goes out on another, dialled where there is none, and has no index yet.
    pub fn say(
        &mut self,
        says: &Says,
        wire: Option<&Wire>,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Result<Option<u64>, Refusal> {
        let posts = self.config.framing == Framing::Http && self.side() == Direction::ToServer;
        let conn = if posts && !self.is_free(says.conn) {
            match self.free() {
                Some(conn) => conn,
                None if self.waiting.len() < WAITING => {
                    self.waiting.push_back(says.clone());
                    self.dial(commands);
                    return Ok(None);
                }
                None => return Err(Refusal::new("", "a free connection", "none")),
            }
        } else {
            says.conn
        };
        let Some(codec) = self.codecs.get_mut(&conn) else {
            return Err(Refusal::new("", "an open connection", "a closed one"));
        };
        let mut bytes = Vec::new();
        if !says.message.is_empty() {
            codec.say(&says.message, says.to.as_deref(), wire, &mut bytes)?;
        }
        for message in &says.then {
            codec.say(message, None, None, &mut bytes)?;
        }
        let index = self.send(conn, bytes, now, commands);
        if says.closes {
            self.close(conn, now, commands);
        } else if self.side() == Direction::ToClient {
            self.close_spent(conn, commands);
        }
        Ok(index)
    }

    /// A connection on which something can be said at once.
    fn free(&self) -> Option<u32> {
        let mut all = self.codecs.iter();
        all.find(|(_, c)| c.is_free()).map(|(conn, _)| *conn)
    }

    /// Says what waited for a free connection.
    fn say_waiting(&mut self, now: i64, commands: &mut Vec<Command>) {
        while let Some(conn) = self.free().filter(|_| !self.waiting.is_empty()) {
            let Some(says) = self.waiting.pop_front() else {
                return;
            };
            self.say_all(&[Says { conn, ..says }], now, commands);
        }
    }

    /// Puts a phrase into words, in answer to a request.
    pub fn phrase(&mut self, to: &Request, phrase: Phrase<'_>, now: i64) -> Result<Says, Refusal> {
        self.peer.phrase(to, phrase, now)
    }

    /// Sends bytes as they are: what they are for the other side, right or wrong, they are for this one too.
    pub fn send(
        &mut self,
        conn: u32,
        bytes: Vec<u8>,
        now: i64,
        commands: &mut Vec<Command>,
    ) -> Option<u64> {
        if bytes.is_empty() {
            return None;
        }
        let origin = origin(conn, self.side(), now);
        let (conversation, peer) = (&mut self.conversation, &mut self.peer);
        let mut index = None;
        self.decoder.push(origin, &bytes, &mut |decoded| {
            conversation.see(decoded);
            if decoded.frame.control.is_none() {
                peer.said(&decoded.seen(), now);
                index = Some(decoded.index);
            }
        });
        commands.push(Command::Send(conn, bytes));
        index
    }

    fn say_all(&mut self, says: &[Says], now: i64, commands: &mut Vec<Command>) {
        for one in says {
            // What the protocol itself has to say, nobody wants to hear any more.
            if self.is_closed(one.conn) {
                continue;
            }
            if let Err(refusal) = self.say(one, None, now, commands) {
                commands.push(Command::Log(refusal.to_string()));
            }
        }
    }

    /// When [`Endpoint::tick`] wants to be called, if ever.
    pub fn due(&self) -> Option<i64> {
        self.peer.due()
    }

    /// Time has passed.
    pub fn tick(&mut self, now: i64, commands: &mut Vec<Command>) {
        let mut says = Vec::new();
        self.peer.tick(now, &mut says);
        self.say_all(&says, now, commands);
    }

    /// What is waited for, the oldest first.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.conversation.waiting()
    }

    /// Whether the message of that index can still be answered.
    pub fn is_open(&self, index: u64) -> bool {
        self.conversation.is_open(index)
    }

    /// Frames of which only a part is here, and how many bytes are missing.
    pub fn halves(&self) -> Vec<crate::decoder::Half> {
        self.decoder.halves()
    }

    /// The one that the other side has begun on a connection.
    pub fn half_of(&self, conn: u32) -> Option<crate::decoder::Half> {
        let direction = self.side().other();
        self.decoder.half_of(Some(conn), Some(direction))
    }

    fn happened(&mut self, conn: u32, what: What<'_>, direction: Option<Direction>, now: i64) {
        self.conversation.happened(&Event {
            conn,
            direction,
            time: Some(now.into()),
            what,
            more: None,
        });
    }
}

fn origin(conn: u32, direction: Direction, now: i64) -> Origin {
    Origin {
        conn: Some(conn),
        direction: Some(direction),
        time: Some(now),
    }
}
