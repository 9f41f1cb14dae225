//! A telequick conversation, over time.
//!
//! ```text
//!   request ---> [ connection: method -> oldest open ] ---> answer          no id ties them: method and order do
//!   EventStreamRequest -> [ subscriptions: client_id ] ---> CallEvent *
//!   AudioFrame --> [ connection, direction, call ]          audio
//!   call_sid ----> [ call ]                                 calls
//! ```
//!
//! What one message may be stands in `single`. Calls cross connections, all else stays on its own.

mod audio;
mod calls;
mod conn;
mod recent;
mod single;

use super::flavour;
use super::schema::{Method, Schema, UNKNOWN, name};
use crate::encoding::serde_envelope::HEADER;
use crate::framing::{Framing, Head, LengthMode};
use crate::protocol::correlation::{Asked, Open, Scoped};
use crate::protocol::session::{Happened, Report, Seen, Session, SessionConfig, Severity, Waiting};
use crate::protocol::{Direction, Origin, Role};
use crate::tape::Node;
use audio::Audio;
use calls::Calls;
use conn::{Conn, Known, Stream, Way};
use single::{Parts, shown};
use std::collections::{HashMap, VecDeque};

/// Subscriptions that are followed at a time.
const SUBSCRIPTIONS: usize = 1 << 10;

/// Requests are numbered, and their connections know the numbers.
impl Scoped for u64 {
    type Scope = ();

    fn scope(&self) -> Self::Scope {}
}

/// What was said so far.
pub(super) struct Conduct<'s> {
    schema: &'s Schema,
    conns: HashMap<Option<u32>, Conn>,
    /// Requests by the order in which they were asked.
    open: Open<u64, Pending>,
    asked: u64,
    subscriptions: VecDeque<Subscription>,
    audio: Audio,
    calls: Calls<'s>,
}

/// What is kept of an open request beside.
struct Pending {
    conn: Option<u32>,
    /// Whether it was read without fault.
    sound: bool,
    inclusive: bool,
    /// Its method id, where the method's own is another.
    alias: Option<u32>,
}

/// A client that asked for events.
struct Subscription {
    asked: Asked,
    client: Box<[u8]>,
}

impl<'s> Conduct<'s> {
    pub(super) fn new(schema: &'s Schema, config: &SessionConfig) -> Self {
        Self {
            schema,
            conns: HashMap::new(),
            open: Open::with_room(config.most_open),
            asked: 0,
            subscriptions: VecDeque::new(),
            audio: Audio::with_room(config.most_open),
            calls: Calls::new(schema, config.most_open),
        }
    }

    /// Looks at a frame that has no fault.
    fn single(&mut self, seen: &Seen<'_>, parts: &Parts<'_>, report: &mut Report) {
        let conn = self.conns.entry(seen.origin.conn).or_default();
        let stream = conn.stream(Way::of(seen.origin.direction));
        if let Head::Method { id, mode, .. } = seen.frame.head {
            if let Some(mode) = mode {
                stream.length(mode, seen, report);
            }
            // What every frame says of its id is worth saying once.
            let plain = self.schema.method(id).is_some_and(|m| m.id == id);
            if !plain && stream.is_new(id) {
                single::method_id(self.schema, id, seen, report);
            }
        }
        single::look(self.schema, seen, parts, report);
    }

    fn method(&self, seen: &Seen<'_>) -> Option<&'s Method> {
        match seen.frame.head {
            Head::Method { id, .. } => self.schema.method(id),
            _ => None,
        }
    }

    /// Pairs requests and answers.
    fn correlate(&mut self, seen: &Seen<'_>, parts: &Parts<'_>, sound: bool, report: &mut Report) {
        let method = self.method(seen);
        let conn = self.conns.entry(seen.origin.conn).or_default();
        match seen.message.role {
            Some(Role::Request) => {
                if !std::mem::replace(&mut conn.asked, true)
                    && conn.known == Known::Opened
                    && method.is_some_and(|m| !m.streaming)
                {
                    let text = format!("{} comes before any EventStreamRequest", seen.message.kind);
                    report.broken("no-subscription", seen.whole(), text);
                }
                match method {
                    Some(method) if method.streaming => self.subscribe(seen, parts),
                    Some(method) => self.ask(seen, method, sound),
                    None => {}
                }
            }
            Some(Role::Response) => self.answer(seen, method, sound, report),
            Some(Role::Item) if seen.message.kind == name::EVENT => self.push(seen, parts, report),
            // An envelope alone that several structs fit: it cannot but answer what is open alone.
            None if seen.origin.direction == Some(Direction::ToClient)
                && seen.frame.framing == Framing::Bare
                && conn.open_alone().is_some() =>
            {
                let method = conn.open_alone().and_then(|id| self.schema.method(id));
                self.answer(seen, method, sound, report);
            }
            _ => {}
        }
    }

    fn ask(&mut self, seen: &Seen<'_>, method: &Method, sound: bool) {
        let room = !self.open.is_full();
        let (id, mode) = match seen.frame.head {
            Head::Method { id, mode, .. } => (id, mode),
            _ => (method.id, None),
        };
        let pending = Pending {
            conn: seen.origin.conn,
            sound,
            inclusive: mode == Some(LengthMode::Inclusive),
            alias: (id != method.id).then_some(id),
        };
        self.asked += 1;
        self.open.ask(self.asked, Asked::of(seen), pending);
        if room && let Some(conn) = self.conns.get_mut(&seen.origin.conn) {
            let queue = conn.queues.entry(method.id).or_default();
            queue.push_back(self.asked);
        }
    }

    /// An answer: to the oldest request of its method, or where it has none, of its struct.
    fn answer(
        &mut self,
        seen: &Seen<'_>,
        method: Option<&Method>,
        sound: bool,
        report: &mut Report,
    ) {
        let Some(conn) = self.conns.get_mut(&seen.origin.conn) else {
            return;
        };
        let id = method.map(|m| m.id).or_else(|| {
            let kind = seen.message.kind.as_ref();
            let queues = conn.queues.iter();
            let fits = queues.filter(|(id, _)| {
                let method = self.schema.method(**id);
                method.is_some_and(|m| self.schema.struct_name(m.output) == kind)
            });
            let oldest = fits.min_by_key(|(_, queue)| queue.front().copied());
            oldest.map(|(id, _)| *id)
        });
        let number = id.and_then(|id| conn.take(id));
        let Some((asked, _)) = number.and_then(|number| self.open.close(&number)) else {
            if sound && conn.known != Known::Partly && self.open.refused() == 0 {
                let name = seen.message.subject.as_deref().unwrap_or_default();
                let of = if name.is_empty() { "" } else { " of " };
                let text = format!(
                    "{}{of}{name} answers nothing: no such request is open",
                    seen.message.kind
                );
                report.broken("unasked", seen.whole(), text);
            }
            return;
        };
        conn.answered = conn.answered.max(Some(asked.place.index));
        report.answers(&asked, seen, true);
    }

    fn subscribe(&mut self, seen: &Seen<'_>, parts: &Parts<'_>) {
        let client = parts.fields.and_then(|f| f.get(name::CLIENT));
        if self.subscriptions.len() >= SUBSCRIPTIONS {
            self.subscriptions.pop_front();
        }
        // So much of a name tells clients apart.
        let client = client.map_or(&b""[..], Node::raw_text);
        let client = client.get(..256).unwrap_or(client);
        self.subscriptions.push_back(Subscription {
            asked: Asked::of(seen),
            client: client.into(),
        });
    }

    /// An event: of the subscription of its client, best on the same connection.
    fn push(&mut self, seen: &Seen<'_>, parts: &Parts<'_>, report: &mut Report) {
        let conn = seen.origin.conn;
        let own = |s: &&Subscription| s.asked.origin().conn == conn;
        let client = parts.fields.and_then(|f| f.get(name::CLIENT));
        let own_name = client.map_or(&b""[..], Node::raw_text);
        let own_name = own_name.get(..256).unwrap_or(own_name);
        let meant = |s: &&Subscription| s.client.is_empty() || *s.client == *own_name;
        let all = || self.subscriptions.iter().rev();
        let found = all().filter(own).find(meant).or_else(|| all().find(meant));
        if let Some(subscription) = found {
            report.answers(&subscription.asked, seen, false);
            return;
        }
        let Some(latest) = all().find(own).or_else(|| all().next()) else {
            return;
        };
        report.answers(&latest.asked, seen, false);
        let state = self.conns.entry(conn).or_default();
        if let Some(client) = client.filter(|_| !own_name.is_empty())
            && self.subscriptions.len() < SUBSCRIPTIONS
            && !std::mem::replace(&mut state.wrong_client, true)
        {
            let subscribed = String::from_utf8_lossy(&latest.client);
            let index = latest.asked.place.index;
            let text = format!(
                "client_id is {}, #{index} subscribed as {subscribed:?}",
                shown(client)
            );
            report.broken_by("wrong-client", seen.at(client), index, text);
        }
    }

    /// Requests without an answer: those that a later answer passed over and, if the connection is closed, all others.
    fn unanswered(&self, conn: &Conn, closed: bool, report: &mut Report) {
        if conn.known == Known::Partly {
            return;
        }
        let numbers = conn.queues.values().flatten();
        let open = numbers.filter_map(|number| self.open.get(number));
        let sound = open.filter(|(_, pending)| pending.sound);
        let mut missed: Vec<_> = sound.map(|(asked, _)| asked).collect();
        missed.sort_by_key(|asked| asked.place.index);
        for asked in missed {
            let what = asked.what();
            match conn.answered {
                Some(answered) if asked.place.index < answered => {
                    let text = format!("{what} has no answer, #{answered} after it has");
                    report.broken_by("unanswered", asked.place, answered, text);
                }
                _ if !closed => {}
                Some(_) => {
                    report.broken("unanswered", asked.place, format!("{what} has no answer"));
                }
                // The public SDKs read no answers.
                None => {
                    report.broken("unanswered", asked.place, format!("{what} has no answer"));
                    report.at_most(Severity::Info);
                }
            }
        }
    }

    /// A connection is over, and all that is kept of it goes.
    fn close(&mut self, id: Option<u32>, orderly: bool, report: &mut Report) {
        if let Some(conn) = self.conns.remove(&id) {
            self.unanswered(&conn, true, report);
            for number in conn.queues.values().flatten() {
                self.open.close(number);
            }
        }
        self.audio.end(id, None, orderly, report);
        self.subscriptions.retain(|s| s.asked.origin().conn != id);
    }
}

impl Session for Conduct<'_> {
    fn message(&mut self, seen: &Seen<'_>, report: &mut Report) {
        let (frame, message) = (seen.frame, seen.message);
        let way = Way::of(seen.origin.direction);
        let sound = frame.fault.is_none() && message.faults.is_empty() && message.valid;
        let conn = self.conns.entry(seen.origin.conn).or_default();
        if let Some((len, size)) = unframed(seen).filter(|_| !conn.queues.is_empty()) {
            let text = format!(
                "an answer stands here without length and method id: version, payload_size {size} and the fields are \
                 read as a length of {len}"
            );
            // What is wrong with a frame that is none follows from that.
            report.broken.clear();
            report.broken("unframed-answer", seen.whole(), text);
            let method = conn.open_alone().and_then(|id| self.schema.method(id));
            self.answer(seen, method, false, report);
        }
        let conn = self.conns.entry(seen.origin.conn).or_default();
        let stream = conn.stream(way);
        stream.heard = true;
        let skipped = frame.control.is_some();
        if skipped || !sound {
            stream.gaps += 1;
            self.calls.partial = true;
        }
        let gaps = stream.gaps;
        // It may have been a request, or an answer.
        if skipped || !sound && message.role.is_none() {
            conn.known = Known::Partly;
        }
        if skipped {
            return;
        }
        let opened = conn.known == Known::Opened;
        let parts = seen.root().map(Parts::of).unwrap_or_default();
        if sound {
            self.single(seen, &parts, report);
        }
        self.correlate(seen, &parts, sound, report);
        let Some(fields) = parts.fields else {
            return;
        };
        if message.kind == name::AUDIO {
            self.audio.hear(way, gaps, fields, seen, report);
        }
        if message.kind != UNKNOWN {
            self.calls.learn(fields, opened, seen, report);
        }
    }

    fn happened(&mut self, origin: Origin, what: Happened, report: &mut Report) {
        let way = Way::of(origin.direction);
        match what {
            Happened::Opened => {
                self.close(origin.conn, false, report);
                let conn = self.conns.entry(origin.conn).or_default();
                conn.known = Known::Opened;
            }
            Happened::Lost => {
                let conn = self.conns.entry(origin.conn).or_default();
                conn.known = Known::Partly;
                for stream in &mut conn.streams {
                    stream.gaps += 1;
                }
                self.calls.partial = true;
            }
            Happened::Ended if way != Way::Unknown => {
                self.audio.end(origin.conn, Some(way), true, report);
                let conn = self.conns.entry(origin.conn).or_default();
                conn.stream(way).ended = true;
                if let [Stream { ended: true, .. }, Stream { ended: true, .. }, _] = conn.streams {
                    self.close(origin.conn, true, report);
                }
            }
            Happened::Ended | Happened::Closed => self.close(origin.conn, true, report),
            Happened::Reset | Happened::Exited => self.close(origin.conn, false, report),
        }
    }

    fn finish(&mut self, report: &mut Report) {
        let mut conns: Vec<_> = self.conns.iter().collect();
        conns.sort_by_key(|(id, _)| **id);
        for (_, conn) in conns {
            self.unanswered(conn, false, report);
        }
    }

    fn waiting(&self) -> Vec<Waiting> {
        let waits = |(_, asked, pending): (&u64, &Asked, &Pending)| {
            let conn = self.conns.get(&pending.conn)?;
            // The SDKs read no answers and gateways may give none: only what differs from its like waits.
            let others = conn.answered.is_some();
            let owes = asked.origin().direction.map(Direction::other);
            let silent = owes.is_some_and(|owes| !conn.heard(owes));
            // Half a conversation is silent, too.
            let flavour = pending.inclusive && silent && conn.known == Known::Opened && !others;
            let why = match pending.alias {
                _ if flavour => Some(
                    "length flavour: the request's length counts itself, and a server that goes by the document \
                     waits for 4 bytes more"
                        .to_owned(),
                ),
                _ if !pending.sound => Some("the request has a fault".to_owned()),
                Some(id) => Some(format!("the server may not know the method by the id {id}")),
                None => None,
            };
            (others || flavour).then(|| asked.waiting(why))
        };
        self.open.sorted().into_iter().filter_map(waits).collect()
    }

    fn is_open(&self, index: u64) -> bool {
        self.open.at(index).is_some()
    }

    fn refused(&self) -> u64 {
        self.open.refused()
    }
}

/// Where a frame should begin and an envelope alone stands: the length that its first bytes make, and its
/// `payload_size`.
fn unframed(seen: &Seen<'_>) -> Option<(u32, u32)> {
    seen.frame.fault.as_ref()?;
    let is_answer = seen.origin.direction == Some(Direction::ToClient);
    let bytes = seen.frame.view.bytes;
    let len = bytes.first_chunk().copied().map(u32::from_le_bytes)?;
    let size = bytes
        .get(2..)?
        .first_chunk()
        .copied()
        .map(u32::from_le_bytes)?;
    let [version, compat, ..] = bytes else {
        return None;
    };
    let rest = bytes.get(HEADER + size as usize..)?;
    let is_envelope = *version < 4 && compat <= version && size > 0;
    let fits = rest.is_empty() || flavour::plausible(rest);
    (is_answer && seen.frame.framing == Framing::Method && is_envelope && fits)
        .then_some((len, size))
}

#[cfg(test)]
mod tests;
