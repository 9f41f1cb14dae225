//! What a later file of a recording needs of the earlier ones.
//!
//! ```text
//!   messages --> ContinuedMessages: the first ones of each connection, and requests --> Continued, when a file begins
//!   Continued --> the decoder goes on with the streams, the conversation sees the messages
//! ```

use super::{Conversation, Verdict};
use crate::capture::recording::continued::{
    Continued, ContinuedMessage, ContinuedStream, StreamPlace, TextOrBytes,
};
use crate::capture::{ChunkSource, Time};
use crate::decoder::{DecodeOptions, Decoded, Decoder, StreamState};
use crate::framing::{Framing, Head, Places};
use crate::protocol::session::ConnectionChange;
use crate::protocol::{Lane, Origin, Role};
use std::collections::BTreeMap;

/// The number of messages of a connection that open its session.
const FIRST: u32 = 4;
/// The maximum number of bytes of a message that is kept.
const MAX_LEN: usize = 64 << 10;
/// The maximum number of bytes of the first messages of all connections, and of the requests.
const MAX_BYTES: usize = 1 << 20;
/// The maximum number of requests; those with answers are removed then.
const MAX_REQUESTS: usize = 1 << 10;
/// The maximum number of streams.
const MAX_STREAMS: usize = 1 << 12;

/// The messages that a file may need which begins now.
#[derive(Default)]
pub(super) struct ContinuedMessages {
    started: Time,
    /// The number of messages of each connection that is open.
    counts: BTreeMap<u32, u32>,
    first: BTreeMap<u64, ContinuedMessage>,
    requests: BTreeMap<u64, ContinuedMessage>,
    bytes: usize,
}

impl ContinuedMessages {
    pub(super) fn new(started: Option<Time>) -> Self {
        Self {
            started: started.unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Takes a message.
    pub(super) fn see(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) {
        let conn = decoded.origin.conn.unwrap_or_default();
        if self.counts.len() >= MAX_STREAMS && !self.counts.contains_key(&conn) {
            return;
        }
        let is_message = decoded.frame.control.is_none() && !decoded.is_faulty();
        let count = self.counts.entry(conn).or_default();
        let is_early = is_message && *count < FIRST;
        *count += u32::from(is_early);
        // A request without its answer would look open.
        let answer = verdict.and_then(|verdict| verdict.answer);
        let completes = answer.is_some_and(|one| one.last && self.first.contains_key(&one.to));
        let is_first = is_early || is_message && completes;
        let is_open = verdict.is_none_or(|verdict| verdict.answer.is_none());
        let is_request = decoded.message.role == Some(Role::Request) && is_open && is_message;
        if !is_first && !is_request {
            return;
        }
        let message = self.message(decoded);
        let Some(message) = message.filter(|_| self.bytes < MAX_BYTES) else {
            if let Some(answer) = answer.filter(|_| completes) {
                self.first.remove(&answer.to);
            }
            return;
        };
        self.bytes += message.bytes.len();
        let messages = if is_first {
            &mut self.first
        } else {
            &mut self.requests
        };
        messages.insert(decoded.index, message);
    }

    fn message(&self, decoded: &Decoded<'_>) -> Option<ContinuedMessage> {
        let view = decoded.frame.view;
        // The bytes of a frame that is not one run are only its body, and an event is no HTTP message without its stream.
        let is_event = matches!(decoded.frame.head, Head::Http { event: true, .. });
        let (framing, bytes) = match view.places {
            Places::Run(_) if !is_event => (decoded.frame.framing, view.bytes),
            _ => (Framing::Message, view.body()),
        };
        let started = self.started;
        let time = decoded.origin.time.map(Time::from);
        let t = time.and_then(|time| i64::try_from(time - started).ok());
        (bytes.len() <= MAX_LEN).then_some(ContinuedMessage {
            place: StreamPlace {
                conn: decoded.origin.conn.unwrap_or_default(),
                stream: decoded.origin.stream,
                dir: ChunkSource::from(decoded.origin.direction?),
                offset: decoded.frame.offset,
                protocol: Some(decoded.protocol.name().to_owned()),
                framing: Some(framing.name().to_owned()),
            },
            index: decoded.index,
            t,
            open: false,
            bytes: TextOrBytes::new(bytes),
        })
    }

    /// Forgets a connection that has ended.
    pub(super) fn end(&mut self, conn: u32) {
        self.counts.remove(&conn);
        self.first.retain(|_, message| message.place.conn != conn);
        self.count();
    }

    fn count(&mut self) {
        let all = self.first.values().chain(self.requests.values());
        self.bytes = all.map(|message| message.bytes.len()).sum();
    }

    /// Forgets requests that have answers, if there are many.
    pub(super) fn prune(&mut self, conversation: Option<&Conversation<'_>>) {
        if self.requests.len() > MAX_REQUESTS || self.bytes >= MAX_BYTES {
            self.forget_answered(conversation);
            while self.requests.len() > MAX_REQUESTS / 2 || self.bytes >= MAX_BYTES {
                if self.requests.pop_first().is_none() {
                    self.first.clear();
                }
                self.count();
            }
        }
    }

    fn forget_answered(&mut self, conversation: Option<&Conversation<'_>>) {
        let is_open = |index: u64| conversation.is_none_or(|all| all.is_open(index));
        self.requests.retain(|index, _| is_open(*index));
        self.count();
    }

    /// Returns what a file needs that begins now.
    pub(super) fn continued(
        &mut self,
        decoder: &Decoder<'_>,
        conversation: Option<&Conversation<'_>>,
    ) -> Continued {
        self.forget_answered(conversation);
        let mut messages = self.first.clone();
        messages.extend(self.requests.clone());
        for (index, message) in &mut messages {
            message.open = conversation.is_some_and(|all| all.is_open(*index));
        }
        let streams = decoder.stream_states(MAX_STREAMS);
        Continued {
            index: decoder.index(),
            streams: streams.iter().filter_map(stream_of).collect(),
            messages: messages.into_values().collect(),
        }
    }
}

fn stream_of(state: &StreamState) -> Option<ContinuedStream> {
    let (protocol, framing) = state.known.clone().unzip();
    Some(ContinuedStream {
        place: StreamPlace {
            conn: state.lane.conn.unwrap_or_default(),
            stream: state.lane.stream,
            dir: ChunkSource::from(state.lane.direction?),
            offset: state.offset,
            protocol,
            framing: framing.map(|framing| framing.name().to_owned()),
        },
        state: state.framer.map(|framer| framer.to_string()),
        bytes: TextOrBytes::new(&state.bytes),
    })
}

/// Returns the state of the decoder for a stream; `None` if its framing is not known here.
pub(super) fn state_of(stream: &ContinuedStream) -> Option<StreamState> {
    let place = &stream.place;
    let framing = match &place.framing {
        Some(name) => Some(crate::protocol::registry::framing_named(name)?),
        None => None,
    };
    Some(StreamState {
        lane: lane_of(place),
        known: place.protocol.clone().zip(framing),
        offset: place.offset,
        framer: stream.state.as_deref().and_then(|state| state.parse().ok()),
        bytes: stream.bytes.bytes(),
    })
}

fn lane_of(place: &StreamPlace) -> Lane {
    Lane {
        conn: Some(place.conn),
        stream: place.stream,
        direction: place.direction(),
    }
}

impl Conversation<'_> {
    /// Says that messages of a connection are not known, because earlier files have them.
    pub(crate) fn lose(&mut self, conn: u32) {
        let origin = Origin {
            conn: Some(conn),
            ..Origin::default()
        };
        let number = self.change(origin, ConnectionChange::Lost);
        if let Some(one) = self.part(number) {
            one.reset();
        }
    }
}

/// Shows the conversation a message of an earlier file. Its findings were reported there.
pub(super) fn show(
    message: &ContinuedMessage,
    started: Option<Time>,
    options: &DecodeOptions<'_>,
    conversation: &mut Conversation<'_>,
) {
    let place = &message.place;
    let name = place.protocol.as_deref().unwrap_or_default();
    let mut protocols = options.protocols.iter();
    let protocol = protocols.find(|one| one.name() == name);
    let framing = place.framing.as_deref();
    let framing = framing.and_then(crate::protocol::registry::framing_named);
    let Some((protocol, framing)) = protocol.zip(framing) else {
        return;
    };
    let options = DecodeOptions {
        protocols: vec![*protocol],
        framing: Some(framing),
        ..options.clone()
    };
    let mut decoder = Decoder::new(options).starting_at(message.index);
    let time = started.zip(message.t).map(|(at, t)| at + Time::from(t));
    let origin = Origin {
        time: time.and_then(|time| i64::try_from(time).ok()),
        ..lane_of(place).at(None)
    };
    let state = StreamState {
        lane: lane_of(place),
        known: Some((name.to_owned(), framing)),
        offset: place.offset,
        framer: Some(crate::framing::FramerState::New),
        bytes: Vec::new(),
    };
    let mut see = |decoded: &Decoded<'_>| {
        if decoded.index == message.index {
            conversation.see(decoded);
        }
    };
    decoder.resume(&state, &mut see);
    decoder.push(origin, &message.bytes.bytes(), &mut see);
    decoder.finish(&mut see);
}
