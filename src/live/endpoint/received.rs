//! The receiving side of an endpoint: each message passes the session, the codec, the peer of the protocol and the observer.

use super::http_session::{Effect, peer_conn};
use super::{Endpoint, MessageObserver, Received, SessionEvent, origin};
use crate::decoder::{Decoded, Decoder};
use crate::framing::EventStream;
use crate::live::codec::Signal;
use crate::live::handler::{Channel, Command};
use crate::protocol::session::Seen;
use crate::protocol::{Direction, Role};

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
        step: impl FnOnce(&mut Decoder<'p>, &mut dyn FnMut(&Decoded<'_>)),
    ) {
        let Self {
            decoder,
            conversation,
            peer,
            codecs,
            events,
            http,
            config,
            ..
        } = self;
        let conn = channel.conn;
        let peer_conn = peer_conn(config.protocol, config.framing, conn);
        let mut effects: Vec<Effect> = Vec::new();
        let (mut outgoing, mut bytes, mut opens) = (Vec::new(), Vec::new(), false);
        let mut closes = false;
        let mut codec = codecs.get_mut(&conn);
        step(decoder, &mut |decoded| {
            if codec.as_ref().is_some_and(|codec| codec.ignores_input()) {
                return;
            }
            let verdict = conversation.see(decoded);
            let effect = http.as_mut().map(|http| http.received(conn, decoded));
            let is_internal = effect.as_ref().is_some_and(|effect| effect.is_internal);
            effects.extend(effect.filter(|effect| *effect != Effect::default()));
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
                        let is_control = decoded.message.role == Some(Role::Control);
                        let is_message = !is_control && !decoded.is_faulty();
                        if codec.ignores_input() && is_message {
                            return;
                        }
                    }
                }
            }
            let mut replies = Vec::new();
            if decoded.frame.control.is_none() {
                peer.received(&seen_on(peer_conn, decoded), now, &mut replies);
            }
            if is_internal {
                return;
            }
            for reply in &mut replies {
                reply.stream = decoded.origin.stream;
                // Over HTTP several connections are one for the peer; a server answers on that of the request.
                if config.side == Direction::ToClient && reply.conn == peer_conn {
                    reply.conn = conn;
                }
            }
            observe(Received {
                decoded,
                verdict,
                replies: &mut replies,
                peer: peer.as_mut(),
            });
            outgoing.append(&mut replies);
        });
        let partial = self
            .decoder
            .partial_bytes(origin(channel, self.side().other(), now));
        if let Some(codec) = self.codecs.get_mut(&conn).filter(|_| !partial.is_empty()) {
            codec.partial(partial, &mut bytes);
        }
        self.send_bytes(conn, bytes, now, commands);
        let events = self
            .decoder
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
        self.send_all(&outgoing, now, commands);
        self.send_waiting(now, commands);
        self.close_finished(conn, commands);
        // RFC 6455 section 7.1.1: a server closes the connection, and a client waits for that.
        if closes && self.side() == Direction::ToServer {
            self.announce_end(conn, now, commands);
        }
    }
}

/// Returns a message as one of this connection.
pub(super) fn seen_on<'a>(conn: u32, decoded: &Decoded<'a>) -> Seen<'a> {
    let mut seen = decoded.seen();
    seen.origin.conn = Some(conn);
    seen
}
