//! The messages of connections over time: pairs of request and answer, broken rules, pending answers.
//!
//! ```text
//!   Decoded ---> Conversation ---> Verdict { findings, answer }
//!   Event  --'        |      '---> waiting()    pending answers
//!                  Session         unjudged()   rules that could not be checked
//! ```
//!
//! The rules belong to the protocol ([`crate::protocol::session`]); the user sets their severity ([`Judge`]). A rule
//! whose preconditions are missing is not judged, and [`Conversation::unjudged`] lists it. This layer uses no socket
//! and no clock.

mod connections;
#[cfg(feature = "cli")]
mod continued;
mod damage;
mod finding;
#[cfg(feature = "cli")]
pub(crate) mod guard;
mod injected;
mod joins;
mod judge;
mod of_protocol;
mod operation;
mod operations;
mod run;
mod short;
#[cfg(feature = "cli")]
pub(crate) mod tap;
#[cfg(all(test, feature = "cli"))]
mod tests;

use crate::capture::{Event, EventKind, Header, Sources};
use crate::decoder::{Decoded, Decoder, Origin};
use crate::protocol::Protocol;
use crate::protocol::session::{ConnectionChange, Need, Rule, SessionConfig, Waiting, WaitingList};
pub(crate) use damage::Consequences;
pub use finding::{Finding, Verdict};
#[cfg(feature = "cli")]
pub(crate) use joins::{trace_id, trace_ids};
pub use judge::{Judge, RuleDialect, find_rule};
pub(crate) use judge::{full_name, names_rule, rules_called, rules_of};
pub(crate) use of_protocol::ProtocolConversation;
pub use operation::{
    MessageOperation, Operation, OperationPart, OperationState, SourceShare, Unacknowledged,
};
use operations::Operations;
pub(crate) use run::Source;
pub use run::{Output, RuleSettings, Run, Sink, check};
use std::collections::HashMap;

/// Maximum number of findings that wait for a message of the other direction.
const MAX_HELD: usize = 1 << 12;
/// Maximum number of events that wait for the protocol of their connection, and of known connections.
const MAX_EVENTS: usize = 1 << 14;
const MAX_CONNECTIONS: usize = 1 << 16;

/// One conversation, over all its connections. A capture of another program can hold connections of several protocols, and
/// several captures can be one conversation: each protocol of each capture has a part of its own.
///
/// ```text
///   conn 0  saikuro  --> the first part
///   conn 1  sael     --> another one
///   conn 2  ?        events wait for the first message
/// ```
pub struct Conversation<'p> {
    protocols: Vec<&'p dyn Protocol>,
    judge: Judge,
    config: SessionConfig,
    first: ProtocolConversation<'p>,
    others: Vec<ProtocolConversation<'p>>,
    /// The part of each connection; 0 is the first.
    of_conn: HashMap<Option<u32>, usize>,
    /// Events of connections whose protocol is not known.
    events: Vec<(Origin, ConnectionChange)>,
    /// Connections can have different protocols.
    is_separate: bool,
    /// The order of the messages is known so far.
    is_ordered: bool,
    /// The captures, if there are several.
    sources: Option<&'static Sources>,
    /// The operations of all protocols, if they are asked for.
    operations: Option<Box<Operations>>,
}

impl std::fmt::Debug for Conversation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut fields = f.debug_struct("Conversation");
        fields.field("protocol", &self.protocol().map(<dyn Protocol>::name));
        fields.field("judge", &self.judge);
        fields.finish_non_exhaustive()
    }
}

impl<'p> Conversation<'p> {
    /// Returns an empty conversation in one of these protocols.
    pub fn new(protocols: &[&'p dyn Protocol], judge: &Judge, config: SessionConfig) -> Self {
        Self {
            first: ProtocolConversation::new(protocols, judge, config.clone()),
            protocols: protocols.to_vec(),
            judge: judge.clone(),
            config,
            others: Vec::new(),
            of_conn: HashMap::new(),
            events: Vec::new(),
            is_separate: false,
            is_ordered: true,
            sources: None,
            operations: None,
        }
    }

    /// Groups messages into operations. Call it before the first message.
    pub fn follow_operations(&mut self) {
        self.operations = Some(Box::new(Operations::new(self.sources)));
    }

    /// Sets the protocol by name, as a recording names it.
    pub fn expect(&mut self, name: &str) {
        self.first.expect(name);
    }

    /// Reads the header of a recording: the protocol, and the address or command of the peer. Call it before the first
    /// message.
    pub(crate) fn expect_header(&mut self, header: &Header) {
        if let Some(protocol) = &header.protocol {
            self.expect(protocol);
        }
        self.is_separate = header.captured().is_some() && self.protocol().is_none();
        self.config.connect.clone_from(&header.connect);
        self.config.argv = header.argv.clone().unwrap_or_default();
        self.first.config = self.config.clone();
    }

    /// Checks the next message.
    pub fn see(&mut self, decoded: &Decoded<'_>) -> Verdict<'_> {
        let (number, early) = self.enter(decoded);
        if let Some(one) = self.part(number) {
            one.see(decoded);
            one.findings.extend(early);
        }
        let mut operation = None;
        if let Some(mut operations) = self.operations.take() {
            let one = self.each_protocol().nth(number);
            operation = one.and_then(|one| operations.see(&one.judged(decoded)));
            self.operations = Some(operations);
        }
        Verdict {
            operation,
            ended: self.ended_operations(),
            client: self.client_of(number, decoded),
            source: self.source_of(decoded),
            ..self.verdict_of(number)
        }
    }

    /// Returns the client of the connection of a message, as it names itself.
    fn client_of(&self, number: usize, decoded: &Decoded<'_>) -> Option<&str> {
        let session = self.each_protocol().nth(number)?.session.as_ref()?;
        session.client(decoded.origin.conn)
    }

    /// Returns the name of the capture of a message.
    fn source_of(&self, decoded: &Decoded<'_>) -> Option<&str> {
        self.sources?.name_of(decoded.origin.conn)
    }

    /// Returns the operations that ended with the last message, event or end of the input.
    pub fn ended_operations(&self) -> &[Operation] {
        self.operations.as_ref().map_or(&[], |all| all.ended())
    }

    /// Returns the number of operations that are not tracked, because too many were open.
    pub fn untracked_operations(&self) -> u64 {
        self.operations.as_ref().map_or(0, |all| all.untracked())
    }

    /// Handles an event of a connection.
    pub fn event(&mut self, event: &Event<'_>) -> Verdict<'_> {
        self.first.reset();
        let what = match event.what {
            EventKind::Open => ConnectionChange::Opened,
            EventKind::Eof | EventKind::Fin | EventKind::Stop => ConnectionChange::Ended,
            // One direction of a stream.
            EventKind::Reset if event.stream.is_some() => ConnectionChange::Ended,
            EventKind::Close => ConnectionChange::Closed,
            EventKind::Reset => ConnectionChange::Reset,
            EventKind::Exit => ConnectionChange::Exited,
            EventKind::Lost if event.lost().is_some() => ConnectionChange::Lost,
            EventKind::Unordered => {
                let all = std::iter::once(&mut self.first).chain(&mut self.others);
                all.for_each(ProtocolConversation::lose_order);
                self.is_ordered = false;
                return self.first.verdict();
            }
            EventKind::Inject => {
                if let Some((origin, metadata)) = event.fault() {
                    self.first.connections.fault(origin, &metadata);
                }
                return self.first.verdict();
            }
            _ => return self.first.verdict(),
        };
        let origin = event.origin();
        if what == ConnectionChange::Exited {
            let all = std::iter::once(&mut self.first).chain(&mut self.others);
            all.for_each(|one| one.connections.record_exit(event));
        }
        let number = self.change(origin, what);
        let (left, abandoned) = self.take_left();
        if let Some(operations) = &mut self.operations {
            operations.leave(&left, &abandoned, origin);
            let is_end = !matches!(what, ConnectionChange::Opened | ConnectionChange::Lost);
            if is_end && what != ConnectionChange::Ended && origin.stream.is_none() {
                operations.end_connection(origin);
            }
        }
        Verdict {
            ended: self.ended_operations(),
            ..self.verdict_of(number)
        }
    }

    /// Handles the end of the input.
    pub fn finish(&mut self) -> Verdict<'_> {
        self.first.finish();
        for other in &mut self.others {
            other.finish();
            self.first.findings.append(&mut other.findings);
        }
        if let Some(operations) = &mut self.operations {
            operations.finish();
        }
        Verdict {
            ended: self.ended_operations(),
            ..self.first.verdict()
        }
    }

    /// Ends the conversation; returns its last findings. There may be one for each open request.
    pub(crate) fn last_findings(&mut self) -> Vec<Finding> {
        self.finish();
        std::mem::take(&mut self.first.findings)
    }

    /// Reads the HTTP heads of input that no protocol recognises, to find refused upgrades to WebSocket. Call it before
    /// [`Self::finish`].
    pub fn unrecognised(&mut self, decoder: &Decoder<'_>) -> Verdict<'_> {
        for (origin, what) in std::mem::take(&mut self.events) {
            self.first.change(origin, what);
        }
        self.first.read_heads(decoder);
        self.first.verdict()
    }

    /// Returns the protocol, once it is known; of several, the first.
    pub fn protocol(&self) -> Option<&'p dyn Protocol> {
        self.first.protocol
    }

    /// Returns the names of client and server.
    pub(crate) fn sides(&self) -> [&'p str; 2] {
        self.first.sides()
    }

    /// Returns the numbers of unreported findings that only follow from an unreadable message, by that message.
    pub(crate) fn consequences(&self) -> impl Iterator<Item = Consequences> + '_ {
        self.each_protocol()
            .flat_map(ProtocolConversation::consequences)
    }

    /// Returns the rules of the first protocol that could not be judged, each with the first missing precondition.
    pub fn unjudged(&self) -> Vec<(&'p Rule, Need)> {
        self.first.unjudged()
    }

    /// Returns the parts, one for each protocol of each capture.
    pub(crate) fn each_protocol(&self) -> impl Iterator<Item = &ProtocolConversation<'p>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Returns the number of the part for a message, and the findings of earlier events of its connection.
    pub(super) fn enter(&mut self, decoded: &Decoded<'_>) -> (usize, Vec<Finding>) {
        if !self.is_separate {
            return (0, Vec::new());
        }
        let conn = decoded.origin.conn;
        let number = self.part_of(decoded);
        let known = self.of_conn.get(&conn);
        if known == Some(&number) || self.of_conn.len() >= MAX_CONNECTIONS {
            return (number, Vec::new());
        }
        self.of_conn.insert(conn, number);
        let events = std::mem::take(&mut self.events);
        let (own, others): (Vec<_>, Vec<_>) = events.into_iter().partition(|(o, _)| o.conn == conn);
        self.events = others;
        let mut findings = Vec::new();
        for (origin, what) in own {
            let number = self.change(origin, what);
            findings.extend_from_slice(self.verdict_of(number).findings);
        }
        (number, findings)
    }

    /// Reads several captures as one conversation. Call it before the first message.
    pub(crate) fn merge(&mut self, sources: &'static Sources) {
        self.is_separate = true;
        self.sources = Some(sources);
    }

    /// Returns the number of the part of a message. If there is none, it is created.
    fn part_of(&mut self, decoded: &Decoded<'_>) -> usize {
        let name = decoded.protocol.name();
        let sources = self.sources;
        let source = sources.and_then(|all| all.number_of(decoded.origin.conn));
        let is_it = |one: &ProtocolConversation<'_>| {
            one.protocol.is_some_and(|p| p.name() == name) && one.source == source
        };
        if let Some(number) = self.each_protocol().position(is_it) {
            return number;
        }
        let header = sources.and_then(|all| all.header_of(decoded.origin.conn));
        let is_first = self.first.session.is_none() && {
            self.expect(name);
            self.protocol().is_some_and(|p| p.name() == name)
        };
        let number = if is_first { 0 } else { self.add(name) };
        if let Some(one) = self.part(number) {
            one.source = source;
            if sources.is_some() {
                let header = header.unwrap_or_default();
                one.config.connect = header.connect;
                one.config.argv = header.argv.unwrap_or_default();
            }
        }
        number
    }

    /// Adds a part; returns its number.
    fn add(&mut self, name: &str) -> usize {
        let protocol: Vec<&'p dyn Protocol> = self
            .protocols
            .iter()
            .copied()
            .filter(|p| p.name() == name)
            .collect();
        let mut other = ProtocolConversation::new(&protocol, &self.judge, self.config.clone());
        if !self.is_ordered {
            other.lose_order();
        }
        self.others.push(other);
        self.others.len()
    }

    /// Returns the part with this number.
    fn part(&mut self, number: usize) -> Option<&mut ProtocolConversation<'p>> {
        match number.checked_sub(1) {
            None => Some(&mut self.first),
            Some(other) => self.others.get_mut(other),
        }
    }

    /// Returns the last verdict of the part with this number.
    pub(super) fn verdict_of(&self, number: usize) -> Verdict<'_> {
        let verdict = self
            .each_protocol()
            .nth(number)
            .map(ProtocolConversation::verdict);
        verdict.unwrap_or_default()
    }

    /// Handles an event of a connection. Returns the number of its part.
    pub(super) fn change(&mut self, origin: Origin, what: ConnectionChange) -> usize {
        self.first.reset();
        let number = self.number_for(origin, what);
        if let Some(one) = number.and_then(|number| self.part(number)) {
            one.reset();
            one.change(origin, what);
        }
        number.unwrap_or_default()
    }

    /// Removes the requests whose connection ended with the last event, and those that it cancelled.
    pub(super) fn take_left(&mut self) -> (Vec<u64>, Vec<u64>) {
        let (mut left, mut abandoned) = (Vec::new(), Vec::new());
        for one in std::iter::once(&mut self.first).chain(&mut self.others) {
            left.append(&mut one.left_now);
            abandoned.append(&mut one.abandoned_now);
        }
        (left, abandoned)
    }

    /// Returns the number of the part for an event; `None` if the event waits for the protocol.
    fn number_for(&mut self, origin: Origin, what: ConnectionChange) -> Option<usize> {
        if !self.is_separate {
            return Some(0);
        }
        let is_end = matches!(what, ConnectionChange::Closed | ConnectionChange::Reset);
        let number = if is_end {
            self.of_conn.remove(&origin.conn)
        } else {
            self.of_conn.get(&origin.conn).copied()
        };
        if number.is_none() && self.events.len() < MAX_EVENTS {
            self.events.push((origin, what));
        }
        number
    }

    /// Returns the pending answers, the oldest first.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.waiting_list(usize::MAX).first
    }

    /// Returns the pending answers, with the first `most`.
    pub(crate) fn waiting_list(&self, most: usize) -> WaitingList {
        let mut list = WaitingList::new(most);
        let is_one = self.others.is_empty();
        for one in self.each_protocol() {
            let sides = one.sides();
            one.waiting(&mut |waiting| {
                list.add(if is_one {
                    waiting
                } else {
                    waiting.with_side(sides)
                });
            });
        }
        list.finish()
    }

    /// Returns the requests without an answer, as every command counts them, with the first `most`. One direction alone
    /// has no answers, unless the input has both: the other one is silent.
    pub(crate) fn unanswered(&self, has_both: bool, most: usize) -> WaitingList {
        let mut list = WaitingList::new(most);
        for one in self.each_protocol() {
            one.unanswered(has_both, &mut |waiting| list.add(waiting));
        }
        list.finish()
    }

    /// Returns `true` if the message with this index can still be answered.
    pub fn is_open(&self, index: u64) -> bool {
        let mut sessions = self.each_protocol().filter_map(|c| c.session.as_ref());
        sessions.any(|session| session.is_open(index))
    }

    /// Returns `true` if only one direction was seen, or if directions are unknown and no message answers another. In
    /// this case it is unknown which messages were answered.
    pub fn is_one_way(&self) -> bool {
        self.each_protocol().all(ProtocolConversation::is_one_way)
    }

    /// Returns the names of the protocols.
    pub(crate) fn protocol_names(&self) -> Vec<&'p str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self
            .each_protocol()
            .filter_map(|c| Some(c.protocol?.name()))
        {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}
