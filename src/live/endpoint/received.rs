//! The receiving side of an endpoint: each message passes the session, the codec, the peer of the protocol and the observer.

use super::http_session::{Effect, peer_conn};
use super::{Endpoint, MessageObserver, Received, SessionEvent, origin};
use crate::conversation::Output;
use crate::decoder::{Decoded, Decoder, FrameSink, Origin};
use crate::framing::EventStream;
use crate::live::codec::Signal;
use crate::live::handler::Command;
use crate::protocol::Channel;
use crate::protocol::peer::Outgoing;
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Role};
use std::ops::ControlFlow;

impl<'p> Endpoint<'p> {
    /// Bytes of the peer.
    pub fn received(
        &mut self,
        channel: impl Into<Channel>,
        bytes: &[u8],
        now: i64,
        commands: &mut Vec<Command>,
        observe: &mut MessageObserver<'_>,
    ) {
        let channel = channel.into();
        let origin = origin(channel, self.side().other(), now);
        self.decode(channel, now, commands, observe, |decoder, sink| {
            decoder.push(origin, bytes, sink);
        });
    }

    /// Handles the messages that a step of the decoder yields; then sends the answers.
    pub(super) fn decode(
        &mut self,
        channel: Channel,
        now: i64,
        commands: &mut Vec<Command>,
        observe: &mut MessageObserver<'_>,
        step: impl FnOnce(&mut Decoder<'p>, &mut FrameSink<'_>),
    ) {
        let conn = channel.conn;
        let mut taken = Taken::default();
        if self.ignores_input(conn) {
            self.run.ignore(step);
        } else {
            self.take_messages(conn, now, observe, step, &mut taken);
        }
        let Taken {
            effects,
            outgoing,
            mut bytes,
            ended_streams,
            opens,
            closes,
        } = taken;
        let partial = self
            .run
            .decoder()
            .partial_bytes(origin(channel, self.side().other(), now));
        if let Some(codec) = self.codecs.get_mut(&conn).filter(|_| !partial.is_empty()) {
            codec.partial(partial, &mut bytes);
        }
        // A client that reads the response need not read the stream.
        self.end_streams(&ended_streams, now, commands);
        self.send_bytes(conn, bytes, now, commands);
        let events = self
            .run
            .decoder()
            .event_stream(origin(channel, self.side().other(), now));
        let last_id = events.last_id.map(str::to_owned);
        let events = EventStream {
            last_id: last_id.as_deref(),
            ..events
        };
        self.note_events(conn, events, now, commands);
        if opens {
            self.start_session(conn, now, commands);
        }
        self.apply(conn, effects, now, commands);
        self.send_held(now, commands);
        self.send_all(&outgoing, now, commands);
        self.send_waiting(now, commands);
        self.close_finished(conn, commands);
        // RFC 6455 section 7.1.1: a server closes the connection, and a client waits for that.
        if closes && self.side() == Direction::ToServer {
            self.announce_end(conn, now, commands);
        }
    }

    /// Passes messages to the session, the codec, the peer of the protocol and the observer.
    fn take_messages(
        &mut self,
        conn: u32,
        now: i64,
        observe: &mut MessageObserver<'_>,
        step: impl FnOnce(&mut Decoder<'p>, &mut FrameSink<'_>),
        taken: &mut Taken,
    ) {
        let Self {
            run,
            peer,
            codecs,
            events,
            http,
            config,
            older_streams,
            served,
            ..
        } = self;
        let peer_conn = peer_conn(config.protocol, config.framing, conn);
        let mut codec = codecs.get_mut(&conn);
        let mut sink = |output: Output<'_>| -> ControlFlow<()> {
            let Output::Message(decoded, verdict) = output else {
                return ControlFlow::Continue(());
            };
            let effect = http.as_mut().map(|http| http.received(conn, decoded));
            let is_internal = effect.as_ref().is_some_and(|effect| effect.is_internal);
            (taken.effects).extend(effect.filter(|effect| *effect != Effect::default()));
            let (mut flow, mut to) = (ControlFlow::Continue(()), None);
            if let Some(codec) = &mut codec {
                let signal = codec.received(decoded, &mut taken.bytes);
                let is_refused = matches!(signal, Signal::Refused(_));
                events.extend(taken.signal(conn, signal));
                if codec.ignores_input() {
                    flow = ControlFlow::Break(());
                }
                let is_control = decoded.message.role == Some(Role::Control);
                if is_refused && flow.is_break() && !is_control && !decoded.is_faulty() {
                    return flow;
                }
                if let Some(sessions) = served {
                    sessions.received(decoded, config.protocol, codec, &mut taken.ended_streams);
                }
                if codec.is_older_stream() {
                    older_streams.insert(conn);
                }
                let stream = codec.stream_of_last_message();
                to = stream.filter(|stream| older_streams.contains(stream));
            }
            let mut replies = Vec::new();
            if decoded.frame.control.is_none() {
                peer.received(&seen_on(peer_conn, decoded), now, &mut replies);
            }
            if is_internal {
                return flow;
            }
            // Its answers are events of that connection.
            let on_stream = to.map(|stream| on_connection(decoded, stream));
            let conn = to.unwrap_or(conn);
            for reply in &mut replies {
                reply.stream = decoded.origin.stream;
                // Over HTTP several connections are one for the peer; a server answers on that of the request.
                if config.side == Direction::ToClient && reply.conn == peer_conn {
                    reply.conn = conn;
                }
            }
            observe(Received {
                decoded: on_stream.as_ref().unwrap_or(decoded),
                verdict: verdict.unwrap_or_default(),
                replies: &mut replies,
                peer: peer.as_mut(),
            });
            taken.outgoing.append(&mut replies);
            flow
        };
        if run.decode(step, &mut sink).is_break() {
            // Further input is ignored.
            run.drop_waiting();
        }
    }
}

fn on_connection<'a>(decoded: &Decoded<'a>, conn: u32) -> Decoded<'a> {
    Decoded {
        origin: Origin {
            conn: Some(conn),
            ..decoded.origin
        },
        raw: None,
        ..*decoded
    }
}

/// What the messages of a step lead to.
#[derive(Default)]
struct Taken {
    effects: Vec<Effect>,
    outgoing: Vec<Outgoing>,
    /// The bytes that answer at once.
    bytes: Vec<u8>,
    /// The connections with event streams of deleted sessions.
    ended_streams: Vec<u32>,
    opens: bool,
    closes: bool,
}

impl Taken {
    /// Notes what a message says about its connection; returns the event that follows.
    fn signal(&mut self, conn: u32, signal: Signal) -> Option<SessionEvent> {
        match signal {
            Signal::Nothing => None,
            Signal::Open => {
                self.opens = true;
                None
            }
            Signal::Closing => {
                self.closes = true;
                Some(SessionEvent::Closing(conn))
            }
            Signal::Refused(why) => Some(SessionEvent::Refused(conn, why)),
        }
    }
}

/// Returns a message as one of this connection.
pub(super) fn seen_on<'a>(conn: u32, decoded: &Decoded<'a>) -> Seen<'a> {
    let mut seen = decoded.seen();
    seen.origin.conn = Some(conn);
    seen
}
