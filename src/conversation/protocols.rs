//! A capture of another program can hold connections of several protocols. Each protocol has its own conversation.
//!
//! ```text
//!   conn 0  saikuro  --> the first conversation
//!   conn 1  sael     --> another one
//!   conn 2  ?        events wait for the first message
//! ```
//!
//! If several captures are one conversation, each has its own, too: what one program numbers says nothing about another.

use super::{Conversation, Finding, Verdict};
use crate::capture::Sources;
use crate::decoder::Decoded;
use crate::protocol::session::{ConnectionChange, Waiting, WaitingList};
use crate::protocol::{Origin, Protocol};
use std::collections::HashMap;

/// Maximum number of events that wait for the protocol of their connection, and of known connections.
const MAX_EVENTS: usize = 1 << 14;
const MAX_CONNECTIONS: usize = 1 << 16;

/// The protocols of connections.
#[derive(Default)]
pub(super) struct ConnectionProtocols<'p> {
    /// The conversations after the first.
    pub(super) others: Vec<Conversation<'p>>,
    /// The conversation of each connection; 0 is the first.
    of_conn: HashMap<Option<u32>, usize>,
    /// Events of connections whose protocol is not known.
    events: Vec<(Origin, ConnectionChange)>,
    /// Connections can have different protocols.
    pub(super) is_separate: bool,
    /// The captures, if there are several.
    pub(super) sources: Option<&'static Sources>,
    /// The capture that this conversation belongs to, once it is known.
    source: Option<u16>,
}

impl<'p> Conversation<'p> {
    /// Returns this conversation, and those of further protocols.
    pub(crate) fn each_protocol(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.protocols_of.others)
    }

    /// Returns the number of the conversation for a message, and the findings of earlier events of its connection.
    pub(super) fn enter(&mut self, decoded: &Decoded<'_>) -> (usize, Vec<Finding>) {
        if !self.protocols_of.is_separate {
            return (0, Vec::new());
        }
        let conn = decoded.origin.conn;
        let number = self.number_of(decoded);
        let known = self.protocols_of.of_conn.get(&conn);
        if known == Some(&number) || self.protocols_of.of_conn.len() >= MAX_CONNECTIONS {
            return (number, Vec::new());
        }
        self.protocols_of.of_conn.insert(conn, number);
        let events = std::mem::take(&mut self.protocols_of.events);
        let (own, others): (Vec<_>, Vec<_>) = events.into_iter().partition(|(o, _)| o.conn == conn);
        self.protocols_of.events = others;
        let mut findings = Vec::new();
        for (origin, what) in own {
            let number = self.change(origin, what);
            findings.extend_from_slice(self.verdict_of(number).findings);
        }
        (number, findings)
    }

    /// Reads several captures as one conversation. Call it before the first message.
    pub(crate) fn merge(&mut self, sources: &'static Sources) {
        self.protocols_of.is_separate = true;
        self.protocols_of.sources = Some(sources);
    }

    /// Returns the number of the conversation of a message. If there is none, it is created.
    fn number_of(&mut self, decoded: &Decoded<'_>) -> usize {
        let name = decoded.protocol.name();
        let sources = self.protocols_of.sources;
        let source = sources.and_then(|all| all.of(decoded.origin.conn));
        let is_it = |c: &Conversation<'_>| {
            c.protocol.is_some_and(|p| p.name() == name) && c.protocols_of.source == source
        };
        if let Some(number) = self.each_protocol().position(is_it) {
            return number;
        }
        let header = sources.and_then(|all| all.header_of(decoded.origin.conn));
        let is_first = match self.session {
            None => {
                self.expect(name);
                self.protocol.is_some_and(|p| p.name() == name)
            }
            Some(_) => false,
        };
        let number = if is_first { 0 } else { self.add(name) };
        if let Some(one) = self.numbered(number) {
            one.protocols_of.source = source;
            if sources.is_some() {
                let header = header.unwrap_or_default();
                one.config.connect = header.connect;
                one.config.argv = header.argv.unwrap_or_default();
            }
        }
        number
    }

    /// Adds a conversation; returns its number.
    fn add(&mut self, name: &str) -> usize {
        let protocol: Vec<&'p dyn Protocol> = self
            .protocols
            .iter()
            .copied()
            .filter(|p| p.name() == name)
            .collect();
        let other = Self::new(
            &protocol,
            &self.judge,
            self.config.clone(),
            self.config.order,
        );
        self.protocols_of.others.push(other);
        self.protocols_of.others.len()
    }

    /// Returns the conversation with this number.
    fn numbered(&mut self, number: usize) -> Option<&mut Self> {
        match number.checked_sub(1) {
            None => Some(self),
            Some(other) => self.protocols_of.others.get_mut(other),
        }
    }

    /// Returns the last verdict of the conversation with this number.
    pub(super) fn verdict_of(&self, number: usize) -> Verdict<'_> {
        let verdict = self.each_protocol().nth(number).map(Self::verdict);
        verdict.unwrap_or_default()
    }

    /// Checks a message in the conversation with this number.
    pub(super) fn see_in(&mut self, number: usize, decoded: &Decoded<'_>, early: Vec<Finding>) {
        if let Some(one) = self.numbered(number) {
            one.see_own(decoded);
            one.findings.extend(early);
        }
    }

    /// Handles an event of a connection. Returns the number of its conversation.
    pub(super) fn change(&mut self, origin: Origin, what: ConnectionChange) -> usize {
        self.reset();
        let number = self.conversation_of(origin, what);
        match number {
            None => {}
            Some(0) => self.change_own(origin, what),
            Some(number) => {
                if let Some(other) = self.numbered(number) {
                    other.change(origin, what);
                }
            }
        }
        number.unwrap_or_default()
    }

    /// Removes the requests whose connection ended with the last event.
    pub(super) fn take_left(&mut self) -> Vec<u64> {
        let mut left = std::mem::take(&mut self.left_now);
        for other in &mut self.protocols_of.others {
            left.append(&mut other.left_now);
        }
        left
    }

    /// Returns the number of the conversation for an event; `None` if the event waits for the protocol.
    fn conversation_of(&mut self, origin: Origin, what: ConnectionChange) -> Option<usize> {
        let all = &mut self.protocols_of;
        if !all.is_separate {
            return Some(0);
        }
        let is_end = matches!(what, ConnectionChange::Closed | ConnectionChange::Reset);
        let number = if is_end {
            all.of_conn.remove(&origin.conn)
        } else {
            all.of_conn.get(&origin.conn).copied()
        };
        if number.is_none() && all.events.len() < MAX_EVENTS {
            all.events.push((origin, what));
        }
        number
    }

    /// Handles the events of connections whose protocol did not become known.
    pub(super) fn release_events(&mut self) {
        for (origin, what) in std::mem::take(&mut self.protocols_of.events) {
            self.change_own(origin, what);
        }
    }

    /// Ends the other conversations; returns their findings.
    pub(super) fn finish_others(&mut self) -> Vec<Finding> {
        let others = self.protocols_of.others.iter_mut();
        others
            .flat_map(|other| other.finish().findings.to_vec())
            .collect()
    }

    /// Returns the pending answers, the oldest first.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.waiting_list(usize::MAX).first
    }

    /// Returns the pending answers, with the first `most`.
    pub(crate) fn waiting_list(&self, most: usize) -> WaitingList {
        let mut list = WaitingList::new(most);
        if self.protocols_of.others.is_empty() {
            self.waiting_in_protocol(&mut |one| list.add(one));
        } else {
            for one in self.each_protocol() {
                let sides = one.sides();
                one.waiting_in_protocol(&mut |waiting| list.add(waiting.with_side(sides)));
            }
        }
        list.finish()
    }

    /// Returns the requests without an answer, as every command counts them, with the first `most`. One direction alone
    /// has no answers, unless the input has both: the other one is silent.
    pub(crate) fn unanswered(&self, has_both: bool, most: usize) -> WaitingList {
        let mut list = WaitingList::new(most);
        for one in self.each_protocol() {
            one.unanswered_in_protocol(has_both, &mut |waiting| list.add(waiting));
        }
        list.finish()
    }

    /// Visits those of this protocol alone.
    pub(crate) fn unanswered_in_protocol(&self, has_both: bool, visit: &mut dyn FnMut(Waiting)) {
        if self.is_protocol_one_way() && !has_both {
            return;
        }
        let sides = self.sides();
        let mut visit = |waiting: Waiting| visit(waiting.with_side(sides));
        self.waiting_in_protocol(&mut visit);
        self.left_in_protocol(&mut visit);
        let unreceived = self.injected.unreceived();
        unreceived.iter().cloned().for_each(visit);
    }

    /// Returns `true` if the message with this index can still be answered.
    pub fn is_open(&self, index: u64) -> bool {
        let mut sessions = self.each_protocol().filter_map(|c| c.session.as_ref());
        sessions.any(|session| session.is_open(index))
    }

    /// Returns `true` if only one direction was seen, or if directions are unknown and no message answers another. In
    /// this case it is unknown which messages were answered.
    pub fn is_one_way(&self) -> bool {
        self.each_protocol().all(Self::is_protocol_one_way)
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
