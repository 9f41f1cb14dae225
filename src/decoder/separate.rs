//! Detection for each connection on its own: a capture of another program can hold traffic of several protocols.

use super::detect::{Detector, ProtocolVerdict};
use super::held::{Held, HeldBytes};
use super::{DecodeOptions, Decoder, FlowSink, Guess};
use crate::framing::MAX_HTTP_HEAD;
use crate::protocol::{Lane, Origin, Protocol};
use std::collections::{BTreeMap, BTreeSet};

/// The number of bytes of a connection that wait for its protocol, and of all connections.
const MAX_WAITING: usize = 1 << 20;
const MAX_WAITING_OF_ALL: usize = 16 << 20;
/// The approximate memory of the detection of a direction.
const DETECTOR_SIZE: usize = 8 << 10;
/// The number of bytes of an undetected stream that are kept.
const MAX_START: usize = 4 << 10;
/// The maximum number of unrecognised connections that are listed.
const MAX_LISTED: usize = 1 << 10;
/// The maximum number of connections whose late protocol is stored.
const MAX_LATE: usize = 1 << 14;
/// The maximum number of servers whose protocol is stored.
const MAX_SERVERS: usize = 1 << 14;

/// The protocols of connections.
#[derive(Default)]
pub(super) struct SeparateDetection<'p> {
    known: BTreeMap<Option<u32>, ConnectionProtocol<'p>>,
    /// Connections that no protocol recognises.
    unrecognised: BTreeSet<u32>,
    /// Their bytes.
    unread: usize,
    /// The servers of connections, by number.
    servers: BTreeMap<Option<u32>, usize>,
    /// The servers' addresses, and their protocols.
    addresses: BTreeMap<String, usize>,
    protocols: Vec<Option<&'p dyn Protocol>>,
    /// The protocols of connections so far.
    seen: Vec<&'p dyn Protocol>,
    /// Closed connections whose bytes wait for the protocol of their server.
    closed: Vec<Option<u32>>,
    /// Connections whose protocol only the end of the input showed.
    late: Vec<LateGuess>,
    /// What an earlier reading of the input found about connections.
    expected: BTreeMap<u32, Guess>,
}

/// The protocol of a connection that only the end of the input shows.
#[derive(Clone, Debug)]
pub(crate) struct LateGuess {
    conn: u32,
    guess: Guess,
    /// No other bytes of an input that goes on can show another one.
    pub is_certain: bool,
}

#[derive(Clone, Copy)]
struct ConnectionProtocol<'p> {
    /// `None`: detection failed.
    protocol: Option<&'p dyn Protocol>,
    tie: bool,
}

impl<'p> SeparateDetection<'p> {
    pub(super) fn set(&mut self, conn: Option<u32>, protocol: &'p dyn Protocol, tie: bool) {
        let is_new = self.seen.iter().all(|seen| seen.name() != protocol.name());
        if is_new && !tie {
            self.seen.push(protocol);
        }
        let protocol = Some(protocol);
        let found = ConnectionProtocol { protocol, tie };
        self.known.entry(conn).or_insert(found);
        let server = self.servers.get(&conn).copied();
        if let Some(of_server) = server.and_then(|server| self.protocols.get_mut(server))
            && !tie
        {
            *of_server = of_server.or(protocol);
        }
    }

    /// Returns the protocol of other connections to the same server.
    fn of_server(&self, conn: Option<u32>) -> Option<&'p dyn Protocol> {
        *self.protocols.get(*self.servers.get(&conn)?)?
    }

    /// Marks a connection, of which some bytes were held, as unrecognised.
    pub(super) fn give_up(&mut self, conn: Option<u32>, held: usize) {
        self.unread += held;
        if self.unrecognised.len() < MAX_LISTED {
            self.unrecognised.extend(conn);
        }
    }

    /// Forgets an ended connection.
    fn close(&mut self, conn: Option<u32>) {
        self.known.remove(&conn);
        self.servers.remove(&conn);
    }
}

impl<'p> Decoder<'p> {
    /// Detects the protocol of each connection separately, unless the protocol is known. Call it before the first bytes.
    pub(crate) fn detect_each_connection(&mut self) {
        if self.protocol.is_none() {
            self.separate = Some(SeparateDetection::default());
        }
    }

    /// Sets the protocol of a connection by its name, as the header of its recording has it. Call it before its bytes.
    pub(crate) fn expect_on(&mut self, conn: u32, name: &str) {
        let mut protocols = self.options.protocols.iter();
        let named = protocols.find(|protocol| protocol.name() == name);
        if let (Some(separate), Some(protocol)) = (&mut self.separate, named) {
            separate.set(Some(conn), *protocol, false);
        }
    }

    /// Sets the protocols of connections that an earlier reading of the input found at its end, so that their messages do
    /// not wait. Call it before their bytes.
    pub(crate) fn expect_late(&mut self, late: &[LateGuess]) {
        for LateGuess { conn, guess, .. } in late {
            let mut protocols = self.options.protocols.iter();
            let named = protocols.find(|protocol| protocol.name() == guess.protocol);
            if let (Some(separate), Some(protocol)) = (&mut self.separate, named) {
                separate.set(Some(*conn), *protocol, guess.tie);
                separate.expected.insert(*conn, guess.clone());
            }
        }
    }

    /// Returns the guess that is expected for a connection, once.
    pub(super) fn expected_guess(&mut self, conn: Option<u32>) -> Option<Guess> {
        self.separate.as_mut()?.expected.remove(&conn?)
    }

    /// Returns the connections whose protocol only the end of the input showed.
    pub(crate) fn late_guesses(&mut self) -> Vec<LateGuess> {
        let separate = self.separate.as_mut();
        separate
            .map(|separate| std::mem::take(&mut separate.late))
            .unwrap_or_default()
    }

    /// Returns `true` if the protocol of each connection is detected separately.
    pub(crate) fn is_separate(&self) -> bool {
        self.separate.is_some()
    }

    /// Sets the address of a connection's server: connections to one server have one protocol if they fit several.
    pub(crate) fn set_server(&mut self, conn: u32, address: &str) {
        let Some(separate) = &mut self.separate else {
            return;
        };
        let number = match separate.addresses.get(address) {
            Some(number) => *number,
            None if separate.protocols.len() >= MAX_SERVERS => return,
            None => {
                let number = separate.protocols.len();
                separate.addresses.insert(address.to_owned(), number);
                separate.protocols.push(None);
                number
            }
        };
        separate.servers.insert(Some(conn), number);
    }

    /// Closes a connection. If its protocol is not known, its bytes wait for that of its server; returns false then.
    pub(super) fn close_separately(&mut self, conn: Option<u32>, sink: &mut FlowSink<'_>) -> bool {
        let key = Lane {
            conn,
            ..Lane::default()
        };
        if self.separate.is_none() {
            return true;
        }
        let lanes = self.lanes_of_connection(key);
        self.settle_lanes(&lanes, false, sink);
        let is_waiting = lanes.iter().any(|lane| self.detecting.contains_key(lane));
        if let Some(separate) = &mut self.separate
            && is_waiting
            && !separate.known.contains_key(&conn)
        {
            separate.closed.push(conn);
            return false;
        }
        true
    }

    /// Forgets a closed connection.
    pub(super) fn forget_connection(&mut self, conn: Option<u32>) {
        let dropped = self.drop_held(conn);
        if let Some(separate) = &mut self.separate {
            if dropped > 0 {
                separate.give_up(conn, dropped);
            }
            separate.close(conn);
        }
    }

    /// Decides about connections at the end of the input: first those that show their protocol, then those of their
    /// servers, then those that fit several protocols.
    pub(super) fn settle_separately(&mut self, sink: &mut FlowSink<'_>) {
        for is_last in [false, true] {
            let lanes: Vec<Lane> = self.detecting.keys().copied().collect();
            self.settle_lanes(&lanes, is_last, sink);
        }
    }

    /// Decides about lanes without more bytes. Before the last pass, those that fit several protocols wait.
    fn settle_lanes(&mut self, lanes: &[Lane], is_last: bool, sink: &mut FlowSink<'_>) {
        for &lane in lanes {
            self.join_directions(lane);
            let of_server = self.separate.as_ref().and_then(|s| s.of_server(lane.conn));
            let known = self.protocol_of(lane).or(of_server);
            let options = &self.options;
            let Some(detector) = self.detecting.get_mut(&lane) else {
                continue;
            };
            if let Some(protocol) = known {
                let framed = Detector::new(&[protocol], options, lane, true);
                let mut framed = framed.after(self.gaps.get(&lane));
                framed.bytes = std::mem::take(&mut detector.bytes);
                *detector = framed;
            }
            let verdict = detector.settle(true);
            let is_certain = matches!(&verdict, ProtocolVerdict::Decided(protocol, _, guess)
                if !guess.tie && !protocol.descriptor().is_fallback);
            let verdict = match (is_certain, is_last) {
                (true, _) => verdict,
                (false, true) => self.protocol_elsewhere(lane).unwrap_or(verdict),
                (false, false) => continue,
            };
            if self.protocol_of(lane).is_none() {
                self.note_late(lane.conn, &verdict, is_certain);
            }
            self.decide(lane, verdict, sink);
        }
    }

    fn note_late(&mut self, conn: Option<u32>, verdict: &ProtocolVerdict<'p>, is_certain: bool) {
        if let (Some(conn), ProtocolVerdict::Decided(_, _, guess)) = (conn, verdict)
            && let Some(separate) = &mut self.separate
            && separate.late.len() < MAX_LATE
        {
            let guess = guess.clone();
            separate.late.push(LateGuess {
                conn,
                guess,
                is_certain,
            });
        }
    }

    /// Returns the verdict for a lane that fits a protocol of other connections.
    fn protocol_elsewhere(&mut self, lane: Lane) -> Option<ProtocolVerdict<'p>> {
        let seen = self.separate.as_ref()?.seen.clone();
        let options = &self.options;
        let detector = self.detecting.get_mut(&lane)?;
        seen.into_iter().find_map(|protocol| {
            let mut framed = Detector::new(&[protocol], options, lane, false);
            framed.bytes.clone_from(&detector.bytes);
            framed.settle_likely()
        })
    }

    /// Drops the bytes of closed connections if no more bytes can wait.
    pub(super) fn make_space(&mut self, len: usize) {
        if self.waiting_memory() + len <= MAX_WAITING_OF_ALL {
            return;
        }
        let separate = self.separate.as_mut();
        for conn in separate
            .map(|s| std::mem::take(&mut s.closed))
            .unwrap_or_default()
        {
            let key = Lane {
                conn,
                ..Lane::default()
            };
            for lane in self.lanes_of_connection(key) {
                self.detecting.remove(&lane);
            }
            self.forget_connection(conn);
        }
    }

    /// Returns the protocol of a connection, if it is known.
    pub(super) fn protocol_of(&self, key: Lane) -> Option<&'p dyn Protocol> {
        match &self.separate {
            Some(separate) => separate.known.get(&key.conn)?.protocol,
            None => self.protocol,
        }
    }

    /// Returns true if another protocol fits a connection too.
    pub(super) fn is_tie(&self, key: Lane) -> bool {
        match &self.separate {
            Some(separate) => separate.known.get(&key.conn).is_some_and(|known| known.tie),
            None => self.guess.as_ref().is_some_and(|guess| guess.tie),
        }
    }

    /// Counts bytes of a connection whose detection failed.
    pub(super) fn is_ignored(&mut self, key: Lane, len: usize) -> bool {
        let Some(separate) = &mut self.separate else {
            return false;
        };
        let known = separate.known.get(&key.conn);
        let is_ignored = known.is_some_and(|known| known.protocol.is_none());
        if is_ignored {
            separate.unread += len;
        }
        is_ignored
    }

    /// Returns the number of further bytes that can wait for the protocol. Both directions of a
    /// conversation can start with a message as long as the limit.
    pub(super) fn space(&self, origin: Origin) -> usize {
        if self.protocol_of(origin.lane()).is_some() {
            return usize::MAX;
        }
        if self.separate.is_some() {
            return self.separate_space(origin.lane());
        }
        let limit = self.options.limits.message as usize;
        let pieces = self.held.len() + usize::from(!self.held.continues(origin));
        let taken = self.undetected + pieces * size_of::<HeldBytes>();
        (2 * (limit + MAX_HTTP_HEAD)).saturating_sub(taken)
    }

    /// Returns the number of further bytes of a connection that can wait for its protocol.
    fn separate_space(&self, key: Lane) -> usize {
        let held: usize = self
            .lanes_of_connection(key)
            .iter()
            .filter_map(|lane| self.detecting.get(lane))
            .map(|detector| detector.bytes.len())
            .sum();
        let own = MAX_WAITING.saturating_sub(held);
        own.min(MAX_WAITING_OF_ALL.saturating_sub(self.waiting_memory()))
    }

    /// Returns the memory of everything that waits for a protocol.
    fn waiting_memory(&self) -> usize {
        let pieces = self.held.len() * size_of::<HeldBytes>();
        self.undetected + pieces + self.detecting.len() * DETECTOR_SIZE
    }

    pub(super) fn lanes_of_connection(&self, key: Lane) -> Vec<Lane> {
        self.lanes(Lane {
            conn: key.conn,
            ..Lane::default()
        })
    }

    /// Decides about a connection with the bytes at hand; if they show no protocol, the connection is ignored.
    pub(super) fn give_up_connection(&mut self, key: Lane, sink: &mut FlowSink<'_>) {
        for lane in self.lanes_of_connection(key) {
            self.settle_one(lane, sink);
        }
        if self.protocol_of(key).is_some() {
            return;
        }
        for lane in self.lanes_of_connection(key) {
            self.detecting.remove(&lane);
        }
        let held = self.drop_held(key.conn);
        if let Some(separate) = &mut self.separate {
            separate.give_up(key.conn, held);
            let failed = ConnectionProtocol {
                protocol: None,
                tie: false,
            };
            separate.known.insert(key.conn, failed);
        }
    }

    /// Drops the waiting bytes of a connection; returns their number.
    pub(super) fn drop_held(&mut self, conn: Option<u32>) -> usize {
        let dropped = self.held.drop_connection(conn);
        self.undetected -= dropped;
        dropped
    }

    /// Returns a protocol that reads undetected bytes in another framing than the given one.
    pub(crate) fn readable_as(&self) -> Option<Guess> {
        self.options.framing?;
        let options = DecodeOptions {
            framing: None,
            ..self.options.clone()
        };
        self.detecting.iter().find_map(|(lane, waiting)| {
            let mut detector = Detector::new(&options.protocols, &options, *lane, false);
            let verdict = match detector.push(&waiting.bytes) {
                ProtocolVerdict::Wait => detector.settle(true),
                verdict => verdict,
            };
            match verdict {
                ProtocolVerdict::Decided(_, _, guess) => Some(guess),
                _ => None,
            }
        })
    }

    /// Ends detection: all bytes are only counted from here on.
    pub(super) fn give_up(&mut self) {
        self.given_up = true;
        self.resembles = self.resembles().map(str::to_owned);
        self.undetected_start = self.start_of_undetected().to_vec();
        self.held = Held::default();
        self.held_metadata = Vec::new();
        self.detecting.clear();
    }

    /// Returns the first bytes of a stream that no protocol recognises.
    pub(crate) fn start_of_undetected(&self) -> &[u8] {
        let waiting = self
            .detecting
            .values()
            .map(|detector| detector.bytes.as_slice());
        let start = waiting
            .chain([self.undetected_start.as_slice()])
            .find(|bytes| !bytes.is_empty());
        let start = start.unwrap_or_default();
        start.get(..MAX_START).unwrap_or(start)
    }

    /// Returns the connections whose bytes no protocol recognises, at most 1024 of them.
    pub(crate) fn unrecognised_connections(&self) -> Vec<u32> {
        let mut all: BTreeSet<u32> = self.detecting.keys().filter_map(|key| key.conn).collect();
        let separate = self.separate.as_ref();
        all.extend(separate.iter().flat_map(|separate| &separate.unrecognised));
        all.into_iter().take(MAX_LISTED).collect()
    }

    /// Returns the number of bytes that no protocol recognises, after the end of the input.
    pub fn undetected(&self) -> usize {
        self.undetected + self.separate.as_ref().map_or(0, |separate| separate.unread)
    }

    /// Returns `true` if complete messages wait, since they fit several protocols.
    pub(crate) fn is_undecided(&self) -> bool {
        self.detecting.values().any(Detector::is_undecided)
    }

    /// Returns what undetected bytes look like: a message of a protocol that is none of the options'.
    pub fn resembles(&self) -> Option<&str> {
        let now = || self.detecting.values().find_map(Detector::resembles);
        self.resembles.as_deref().or_else(now)
    }
}
