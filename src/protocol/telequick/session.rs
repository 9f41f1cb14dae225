//! The session of a telequick conversation.
//!
//! ```text
//!   request ---> [ connection, stream, method: in order ] ---> answer       no ids: stream, method, call and order decide
//!   EventStreamRequest -> [ subscriptions: client_id ] ---> CallEvent *
//!   AudioFrame --> [ connection, direction, call ]          audio
//!   call_sid ----> [ call ]                                 calls
//! ```
//!
//! `shape` checks single messages. Calls span connections; all other state belongs to one.

mod audio;
mod calls;
mod conn;
mod recent;
mod shape;
mod streams;

use super::schema::{RpcMethod, Schema, UNKNOWN, name};
use crate::framing::{Framing, Head, LengthMode};
use crate::protocol::exchange::{Key, OpenRequest, OpenRequests};
use crate::protocol::rule_names::telequick as rule;
use crate::protocol::session::{
    ConnectionChange, Current, Report, Seen, Session, SessionConfig, Severity, Waiting, broken,
};
use crate::protocol::{ConnStream, Direction, Origin, Role, is_unidirectional};
use crate::tape::Node;
use audio::Audio;
use calls::PhoneCalls;
use conn::{KnownHistory, TelequickConnection, TelequickConnections};
use foldhash::fast::RandomState;
use shape::{Parts, bare_envelope_as_frame, quote_text};
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::num::NonZeroU64;

/// The largest number of subscriptions.
const SUBSCRIPTIONS: usize = 1 << 10;

/// A connection or stream, and the id of a method: answers name no request, so the oldest of the method is meant, or that
/// with the call which the answer names.
type MethodKey = Key<ConnStream, u32>;

/// The state of the conversation.
pub(super) struct TelequickSession<'s> {
    schema: &'s Schema,
    conns: TelequickConnections,
    open: OpenRequests<ConnStream, u32, Pending>,
    subscriptions: VecDeque<Subscription>,
    audio: Audio,
    calls: PhoneCalls<'s>,
    /// The hashes of the names of calls.
    names: RandomState,
}

/// The further state of an open request.
struct Pending {
    /// It was read without fault.
    sound: bool,
    inclusive: bool,
    /// Its method id, if it is not the method's own.
    alias: Option<u32>,
    /// The hash of the name of its call.
    call: Option<NonZeroU64>,
}

/// A client that subscribed to events.
struct Subscription {
    asked: OpenRequest,
    client: Box<[u8]>,
}

impl<'s> TelequickSession<'s> {
    pub(super) fn new(schema: &'s Schema, config: &SessionConfig) -> Self {
        Self {
            schema,
            conns: TelequickConnections::default(),
            open: OpenRequests::with_capacity(config.max_open),
            subscriptions: VecDeque::new(),
            audio: Audio::with_capacity(config.max_open),
            calls: PhoneCalls::new(schema, config.max_open),
            names: RandomState::default(),
        }
    }

    /// Checks a frame that has no fault.
    fn check_single(&mut self, seen: Current<'_, '_>, parts: &Parts<'_>) {
        let conn = self.conns.entry(seen.origin);
        let stream = conn.streams.get_mut(seen.origin.direction);
        if let Head::Method { id, mode, .. } = seen.frame.head {
            let is_inclusive = mode.is_some_and(|mode| stream.check_length(mode, seen));
            // The id of a method is reported only once for each stream.
            let plain = self.schema.method(id).is_some_and(|m| m.id == id);
            if !plain && stream.is_new(id) {
                shape::method_id(self.schema, id, seen);
            }
            if is_inclusive {
                conn::count_inclusive(&mut self.conns, seen);
            }
        }
        shape::check_message(self.schema, seen, parts);
    }

    fn method(&self, seen: Current<'_, '_>) -> Option<&'s RpcMethod> {
        match seen.frame.head {
            Head::Method { id, .. } => self.schema.method(id),
            _ => self.schema.method(seen.message.answered_method?),
        }
    }

    /// Matches requests and answers.
    fn correlate(&mut self, seen: Current<'_, '_>, parts: &Parts<'_>, sound: bool) {
        let method = self.method(seen);
        self.check_stream(seen);
        match seen.message.role {
            Some(Role::Request) => {
                let conn = self.conns.entry(conn::whole(seen.origin));
                if !std::mem::replace(&mut conn.asked, true)
                    && conn.known == KnownHistory::Opened
                    && method.is_some_and(|m| !m.streaming)
                {
                    broken!(seen, rule::NO_SUBSCRIPTION, seen.whole();
                        "{} comes before any EventStreamRequest", seen.message.kind);
                }
                match method {
                    Some(method) if method.streaming => self.subscribe(seen, parts),
                    Some(method) => self.add_request(seen, parts, method, sound),
                    None => {}
                }
            }
            Some(Role::Response) => self.answer(seen, parts, method, sound),
            Some(Role::Item) if seen.message.kind == name::EVENT => self.push(seen, parts),
            // A bare envelope that fits several structs: it can only answer a single open request.
            None if seen.origin.direction == Some(Direction::ToClient)
                && seen.frame.framing == Framing::Bare =>
            {
                if let Some(only) = self.open.only(seen.origin.conn_stream()) {
                    self.answer(seen, parts, self.schema.method(only.id), sound);
                }
            }
            _ => {}
        }
    }

    /// Returns the hash of the name of the call in a message.
    fn call_of(&self, parts: &Parts<'_>) -> Option<NonZeroU64> {
        let sid = parts.fields?.get(name::CALL)?.raw_text();
        let hash = (!sid.is_empty()).then(|| self.names.hash_one(sid));
        NonZeroU64::new(hash? | 1)
    }

    fn add_request(
        &mut self,
        seen: Current<'_, '_>,
        parts: &Parts<'_>,
        method: &RpcMethod,
        sound: bool,
    ) {
        let (id, mode) = match seen.frame.head {
            Head::Method { id, mode, .. } => (id, mode),
            _ => (method.id, None),
        };
        let pending = Pending {
            sound,
            inclusive: mode == Some(LengthMode::Inclusive),
            alias: (id != method.id).then_some(id),
            call: self.call_of(parts),
        };
        let key = Key::one_way(seen.origin.conn_stream(), method.id);
        self.open.queue(key, seen.stored_request(), pending);
    }

    /// Handles an answer: it belongs to the request of its method with the same call, if there is one; otherwise to the
    /// oldest of its method or, without a method, of its struct.
    fn answer(
        &mut self,
        seen: Current<'_, '_>,
        parts: &Parts<'_>,
        method: Option<&RpcMethod>,
        sound: bool,
    ) {
        let call = self.call_of(parts);
        let Some(conn) = self.conns.get_mut(seen.origin.conn_stream()) else {
            return;
        };
        let key = method
            .map(|m| Key::one_way(seen.origin.conn_stream(), m.id))
            .or_else(|| {
                let fits = |key: &MethodKey| {
                    let method = self.schema.method(key.id);
                    method.is_some_and(|m| self.schema.struct_name(m.output) == seen.message.kind)
                };
                let open = self.open.in_scope(seen.origin.conn_stream());
                let oldest = open.filter(|(key, _)| fits(key));
                let oldest = oldest.min_by_key(|(_, asked)| asked.index());
                oldest.map(|(key, _)| *key)
            });
        let Some((asked, _)) = key.and_then(|key| {
            let is_same = |pending: &Pending| call.is_some() && pending.call == call;
            self.open.close_matching(&key, is_same)
        }) else {
            if sound && conn.known != KnownHistory::Partly && self.open.untracked() == 0 {
                let name = seen.message.subject.as_deref().unwrap_or_default();
                let of = if name.is_empty() { "" } else { " of " };
                broken!(seen, rule::UNASKED, seen.whole();
                    "{}{of}{name} belongs to no request: no such request is open",
                    seen.message.kind);
            }
            return;
        };
        conn.answered = conn.answered.max(Some(asked.index()));
        seen.answers(&asked, true);
    }

    fn subscribe(&mut self, seen: Current<'_, '_>, parts: &Parts<'_>) {
        if self.subscriptions.len() >= SUBSCRIPTIONS
            && let Some(oldest) = self.subscriptions.pop_front()
        {
            let index = oldest.asked.index();
            seen.report().subscription(index, false);
        }
        seen.report().subscription(seen.index, true);
        self.subscriptions.push_back(Subscription {
            asked: seen.stored_request(),
            client: client_name(parts).into(),
        });
    }

    /// Handles an event: it belongs to the subscription of its client, preferably on the same connection.
    fn push(&mut self, seen: Current<'_, '_>, parts: &Parts<'_>) {
        let own = |s: &&Subscription| s.asked.origin().conn == seen.origin.conn;
        let own_name = client_name(parts);
        let meant = |s: &&Subscription| s.client.is_empty() || *s.client == *own_name;
        let all = || self.subscriptions.iter().rev();
        let found = all().filter(own).find(meant).or_else(|| all().find(meant));
        if let Some(subscription) = found {
            seen.answers(&subscription.asked, false);
            return;
        }
        let Some(latest) = all().find(own).or_else(|| all().next()) else {
            return;
        };
        seen.answers(&latest.asked, false);
        let state = self.conns.entry(seen.origin);
        if !own_name.is_empty()
            && let Some(client) = parts.fields.and_then(|f| f.get(name::CLIENT))
            && self.subscriptions.len() < SUBSCRIPTIONS
            && !std::mem::replace(&mut state.wrong_client, true)
        {
            let subscribed = String::from_utf8_lossy(&latest.client);
            let index = latest.asked.index();
            broken!(seen, rule::WRONG_CLIENT, seen.at(client), index;
                "client_id is {}, but #{index} subscribed as {subscribed:?}", quote_text(client));
        }
    }

    /// Reports requests without an answer: those that a later answer skipped and, if the connection is closed, all
    /// others.
    fn report_unanswered(
        &self,
        (stream, conn): (ConnStream, &TelequickConnection),
        closed: bool,
        report: &mut Report,
    ) {
        if conn.known == KnownHistory::Partly {
            return;
        }
        let open = self.open.sorted_in(stream).into_iter();
        for (_, asked, _) in open.filter(|(_, _, pending)| pending.sound) {
            let what = asked.describe();
            match conn.answered {
                Some(answered) if asked.index() < answered => {
                    broken!(report, rule::UNANSWERED, asked.place(), answered;
                        "{what} has no answer, but the later #{answered} has one");
                }
                _ if !closed => {}
                Some(_) => {
                    broken!(report, rule::UNANSWERED, asked.place(); "{what} has no answer");
                }
                // The public SDKs do not read answers.
                None => {
                    broken!(report, rule::UNANSWERED, asked.place(); "{what} has no answer");
                    report.at_most(Severity::Info);
                }
            }
        }
    }

    /// Returns a stream, or a connection and its streams.
    fn streams(&self, id: Option<u32>, stream: Option<u64>) -> Vec<ConnStream> {
        if stream.is_some() {
            return vec![(id, stream)];
        }
        let mut streams = self.conns.streams(id);
        if self.conns.has_requests_without_state() {
            let open = self.open.sorted().into_iter().map(|(key, ..)| key.scope);
            streams.extend(open.filter(|stream| stream.0 == id));
            streams.sort_unstable();
            streams.dedup();
        }
        streams
    }

    /// Handles the end of a connection, or one of its streams, and removes its state.
    fn close(&mut self, (id, stream): ConnStream, orderly: bool, report: &mut Report) {
        for stream in self.streams(id, stream) {
            let conn = self.conns.remove(stream).unwrap_or_default();
            self.report_unanswered((stream, &conn), true, report);
            conn.report_inclusive(report);
            for (_, asked, pending) in self.open.end(stream) {
                if let Some(waiting) = waiting_for(&asked, &pending, &conn) {
                    report.leave(waiting);
                }
            }
        }
        // Calls outlive the streams that speak of them.
        if stream.is_none() {
            self.audio.end(id, None, orderly, report);
            self.subscriptions.retain(|s| {
                let ends = s.asked.origin().conn == id;
                if ends {
                    report.subscription(s.asked.index(), false);
                }
                !ends
            });
        }
    }

    /// Handles a message.
    fn handle(&mut self, seen: Current<'_, '_>) {
        let (frame, message) = (seen.frame, seen.message);
        let sound = frame.fault.is_none() && message.faults.is_empty() && message.valid;
        if let Some((len, size)) = bare_envelope_as_frame(seen)
            && self
                .open
                .in_scope(seen.origin.conn_stream())
                .next()
                .is_some()
        {
            let text = format!(
                "the answer has no length and no method id: version, payload_size {size} and the fields are \
                 read as a length of {len}"
            );
            // Other findings for such a frame only follow from this one.
            seen.report().broken.clear();
            broken!(seen, rule::UNFRAMED_ANSWER, seen.whole(); "{text}");
            let only = self.open.only(seen.origin.conn_stream());
            let method = only.and_then(|only| self.schema.method(only.id));
            self.answer(seen, &Parts::default(), method, false);
        }
        let conn = self.conns.entry(seen.origin);
        let stream = conn.streams.get_mut(seen.origin.direction);
        stream.is_active = true;
        let skipped = frame.control.is_some();
        if skipped || !sound {
            stream.gaps += 1;
            self.calls.partial = true;
        }
        let gaps = stream.gaps;
        // The frame may have been a request, or an answer.
        if skipped || !sound && message.role.is_none() {
            conn.known = KnownHistory::Partly;
        }
        if skipped {
            return;
        }
        let opened = conn.known == KnownHistory::Opened;
        let parts = seen.root().map(Parts::of).unwrap_or_default();
        if sound {
            self.check_single(seen, &parts);
        }
        self.correlate(seen, &parts, sound);
        let Some(fields) = parts.fields else {
            return;
        };
        if message.kind == name::AUDIO {
            self.audio.handle_frame(gaps, fields, seen);
        }
        if message.kind != UNKNOWN {
            self.calls.record(fields, opened, seen);
        }
    }
}

/// Returns the name of the client in a message; its first bytes distinguish clients.
fn client_name<'a>(parts: &Parts<'a>) -> &'a [u8] {
    let client = parts.fields.and_then(|f| f.get(name::CLIENT));
    let client = client.map_or(&b""[..], Node::raw_text);
    client.get(..256).unwrap_or(client)
}

impl Session for TelequickSession<'_> {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        Current::handle(seen, report, |current| self.handle(current));
    }

    fn event(&mut self, origin: Origin, what: ConnectionChange, report: &mut Report) {
        match what {
            ConnectionChange::Opened => {
                self.close(origin.conn_stream(), false, report);
                let conn = self.conns.entry(origin);
                conn.known = KnownHistory::Opened;
            }
            ConnectionChange::Lost => {
                let conn = self.conns.entry(origin);
                conn.known = KnownHistory::Partly;
                for stream in conn.streams.iter_mut() {
                    stream.gaps += 1;
                }
                self.calls.partial = true;
            }
            ConnectionChange::Ended if origin.direction.is_some() => {
                if origin.stream.is_none() {
                    self.audio.end(origin.conn, origin.direction, true, report);
                }
                let conn = self.conns.entry(origin);
                conn.streams.get_mut(origin.direction).ended = true;
                let other = origin.direction.map(Direction::other);
                let other_ended = conn.streams.get(other).is_some_and(|side| side.ended);
                if other_ended || origin.stream.is_some_and(is_unidirectional) {
                    self.close(origin.conn_stream(), true, report);
                }
            }
            ConnectionChange::Ended | ConnectionChange::Closed => {
                self.close(origin.conn_stream(), true, report);
            }
            ConnectionChange::Reset | ConnectionChange::Exited => {
                self.close(origin.conn_stream(), false, report);
            }
        }
    }

    fn finish(&mut self, report: &mut Report) {
        for (stream, conn) in self.conns.iter() {
            self.report_unanswered((stream, conn), false, report);
            conn.report_inclusive(report);
        }
    }

    fn waiting(&self, visit: &mut dyn FnMut(Waiting)) {
        let waits = |(key, asked, pending): (&MethodKey, &OpenRequest, &Pending)| {
            waiting_for(asked, pending, self.conns.get(key.scope)?)
        };
        let open = self.open.sorted();
        open.into_iter().filter_map(waits).for_each(visit);
    }

    fn pairs_by_stream(&self) -> bool {
        true
    }

    fn is_open(&self, index: u64) -> bool {
        self.open.at(index).is_some()
    }

    fn untracked(&self) -> u64 {
        self.open.untracked()
    }
}

/// Returns the expected answer to an open request on a connection, if one is expected.
fn waiting_for(
    asked: &OpenRequest,
    pending: &Pending,
    conn: &TelequickConnection,
) -> Option<Waiting> {
    // The SDKs do not read answers and gateways may send none: only a request that differs from others is
    // listed.
    let others = conn.answered.is_some();
    let owes = asked.origin().direction.map(Direction::other);
    let is_active = conn.streams.get(owes).is_some_and(|side| side.is_active);
    let silent = owes.is_some() && !is_active;
    // One direction alone also looks silent.
    let wrong_mode = pending.inclusive && silent && conn.known == KnownHistory::Opened && !others;
    let why = match pending.alias {
        _ if wrong_mode => Some(
            "length mode: the request's length counts itself, but a server that follows the document \
             waits for 4 more bytes"
                .to_owned(),
        ),
        _ if !pending.sound => Some("the request has a fault".to_owned()),
        Some(id) => Some(format!("the server may not know the method by the id {id}")),
        None => None,
    };
    (others || wrong_mode).then(|| asked.waiting(why))
}

#[cfg(test)]
mod tests;
