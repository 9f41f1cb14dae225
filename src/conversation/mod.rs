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

mod damage;
mod facts;
mod failure;
mod finding;
#[cfg(feature = "cli")]
pub(crate) mod guard;
mod injected;
mod joins;
mod judge;
mod links;
mod operation;
mod operations;
#[cfg(feature = "cli")]
mod parts;
mod protocols;
mod run;
mod short;
#[cfg(feature = "cli")]
pub(crate) mod tap;
#[cfg(all(test, feature = "cli"))]
mod tests;

use crate::capture::{Event, EventKind, Header};
use crate::decoder::{Decoded, Origin};
#[cfg(feature = "described")]
use crate::own_rules::{OwnRule, judged, of_project};
use crate::protocol::rule_names::common as rule;
use crate::protocol::rules::COMMON;
use crate::protocol::session::{
    Broken, ConnectionChange, Need, Place, Report, Rule, RuleSet, Session, SessionConfig, Severity,
    Waiting, broken,
};
use crate::protocol::{Direction, Protocol};
pub(crate) use damage::Consequences;
use damage::Damages;
use facts::InputFacts;
pub use finding::{Finding, Verdict};
use injected::Injected;
#[cfg(feature = "cli")]
pub(crate) use joins::{trace_id, trace_ids};
pub use judge::{Judge, RuleDialect, find_rule};
pub(crate) use judge::{full_name, names_rule, rules_of};
use links::Links;
pub use operation::{MessageOperation, Operation, OperationPart, OperationState, SourceShare};
use operations::{Judged, Operations};
use protocols::ConnectionProtocols;
pub(crate) use run::Source;
pub use run::{Output, RuleSettings, Run, Sink, check};
use short::ShortMessages;
use std::sync::Arc;

/// Maximum number of findings that wait for a message of the other direction.
const MAX_HELD: usize = 1 << 12;

/// One conversation, over all its connections. A capture of another program can hold several protocols: the conversation
/// is then that of the first, and contains those of the others.
pub struct Conversation<'p> {
    protocols: Vec<&'p dyn Protocol>,
    judge: Judge,
    config: SessionConfig,
    protocol: Option<&'p dyn Protocol>,
    session: Option<Box<dyn Session + 'p>>,
    facts: InputFacts,
    links: Links,
    injected: Injected,
    report: Report,
    /// Broken rules that need both directions, while one was not seen.
    held: Vec<Broken>,
    /// The directions with bytes and with messages at the last judgement of the held findings.
    held_since: (bool, [bool; 2]),
    findings: Vec<Finding>,
    /// The name before those of the rules.
    name: Arc<str>,
    /// Requests without an answer whose connection has ended, up to the limit of open requests.
    left: Vec<Waiting>,
    damages: Damages,
    short: ShortMessages,
    /// The number of reported faults of the current message.
    faults: usize,
    limit_reported: bool,
    last: Place,
    protocols_of: ConnectionProtocols<'p>,
    /// The operations of all protocols, if they are asked for.
    operations: Option<Box<Operations>>,
    /// The requests whose connection ended with the last event.
    left_now: Vec<u64>,
}

impl<'p> Conversation<'p> {
    /// Returns an empty conversation in one of these protocols. `order`: the input gives the order of messages of
    /// different directions.
    pub fn new(
        protocols: &[&'p dyn Protocol],
        judge: &Judge,
        config: SessionConfig,
        order: bool,
    ) -> Self {
        let protocol = match protocols {
            [only] => Some(*only),
            _ => None,
        };
        Self {
            protocols: protocols.to_vec(),
            judge: judge.clone(),
            config: SessionConfig { order, ..config },
            protocol,
            session: None,
            // Input without order consists of one file per direction.
            facts: InputFacts {
                to_server: !order,
                to_client: !order,
                order,
                ..InputFacts::default()
            },
            links: Links::default(),
            injected: Injected::default(),
            report: Report::default(),
            held: Vec::new(),
            held_since: (false, [false; 2]),
            findings: Vec::new(),
            name: Arc::default(),
            left: Vec::new(),
            damages: Damages::default(),
            short: ShortMessages::default(),
            faults: 0,
            limit_reported: false,
            last: Place::default(),
            protocols_of: ConnectionProtocols::default(),
            operations: None,
            left_now: Vec::new(),
        }
    }

    /// Groups messages into operations. Call it before the first message.
    pub fn follow_operations(&mut self) {
        let sources = self.protocols_of.sources;
        self.operations = Some(Box::new(Operations::new(sources)));
    }

    /// Sets the protocol by name, as a recording names it.
    pub fn expect(&mut self, name: &str) {
        if self.protocol.is_none() {
            self.protocol = self.protocols.iter().copied().find(|p| p.name() == name);
        }
    }

    /// Reads the header of a recording: the protocol, and the address or command of the peer. Call it before the first
    /// message.
    pub(crate) fn expect_header(&mut self, header: &Header) {
        if let Some(protocol) = &header.protocol {
            self.expect(protocol);
        }
        self.protocols_of.is_separate = header.captured().is_some() && self.protocol.is_none();
        self.config.connect.clone_from(&header.connect);
        self.config.argv = header.argv.clone().unwrap_or_default();
    }

    /// Checks the next message.
    pub fn see(&mut self, decoded: &Decoded<'_>) -> Verdict<'_> {
        let (number, early) = self.enter(decoded);
        self.see_in(number, decoded, early);
        let Some(mut operations) = self.operations.take() else {
            return Verdict {
                client: self.client_of(number, decoded),
                source: self.source_of(decoded),
                ..self.verdict_of(number)
            };
        };
        let one = self.each_protocol().nth(number);
        let operation = one.and_then(|one| operations.see(&one.judged(decoded)));
        self.operations = Some(operations);
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
        self.protocols_of.sources?.name_of(decoded.origin.conn)
    }

    /// Returns what operations need of the last message.
    fn judged<'a>(&'a self, decoded: &'a Decoded<'a>) -> Judged<'a> {
        let answer = self.report.answer.as_ref();
        // The answers of a batch may come one by one.
        let is_partial = answer.is_some_and(|answer| {
            let session = self.session.as_ref();
            &*answer.kind == "batch" && session.is_some_and(|s| s.is_open(answer.to))
        });
        Judged {
            decoded,
            answer,
            facts: self.report.operation,
            is_partial,
        }
    }

    /// Returns the operations that ended with the last message, event or end of the input.
    pub fn ended_operations(&self) -> &[Operation] {
        self.operations.as_ref().map_or(&[], |all| all.ended())
    }

    /// Returns the number of operations that are not tracked, because too many were open.
    pub fn untracked_operations(&self) -> u64 {
        self.operations.as_ref().map_or(0, |all| all.untracked())
    }

    /// Checks the next message of this protocol.
    fn see_own(&mut self, decoded: &Decoded<'_>) {
        self.reset();
        let seen = decoded.seen();
        match seen.origin.direction {
            Some(Direction::ToServer) => {
                (self.facts.to_server, self.facts.has_messages[0]) = (true, true);
            }
            Some(Direction::ToClient) => {
                (self.facts.to_client, self.facts.has_messages[1]) = (true, true);
            }
            None => {}
        }
        self.facts.times |= seen.origin.time.is_some();
        self.last = seen.whole();
        self.expect(decoded.protocol.name());
        self.create_session();
        self.damages.record(decoded);
        for (offset, fault) in decoded.faults() {
            // Missing bytes of the capture are not a fault of a peer.
            if fault.code == "gap" {
                if let Some(session) = &mut self.session {
                    session.event(seen.origin, ConnectionChange::Lost, &mut self.report);
                }
                continue;
            }
            let place = Place {
                offset,
                len: u64::from(fault.span.len),
                ..seen.whole()
            };
            let hint = fault.hint.as_ref().map(|h| format!(" ({h})"));
            let text = format!("{fault}{}", hint.unwrap_or_default());
            // Further faults of the message follow from the fault of the frame.
            if decoded.frame.fault.is_some() && !self.report.broken.is_empty() {
                break;
            }
            let rule = self.rule_of_fault(fault.code);
            broken!(self.report, rule, place; "{text}");
        }
        self.faults = self.report.broken.len();
        self.injected.record(decoded);
        self.links.read_head(&seen, &mut self.report);
        if let Some(session) = &mut self.session {
            session.message(&seen, &mut self.report);
        }
        self.report_failure(decoded);
        self.facts.answers |= self.report.answer.is_some();
        self.injected
            .record_answer(decoded, self.report.answer.as_ref());
        if !self.report.broken.is_empty() {
            let mut texts = self.report.broken.iter_mut().map(|broken| &mut broken.text);
            decoded.hide_secrets(&mut texts);
        }
        self.judge_report();
        self.short.exchange(decoded, &mut self.findings);
    }

    /// Handles an event of a connection.
    pub fn event(&mut self, event: &Event<'_>) -> Verdict<'_> {
        self.reset();
        let what = match event.what {
            EventKind::Open => ConnectionChange::Opened,
            EventKind::Eof | EventKind::Fin | EventKind::Stop => ConnectionChange::Ended,
            // One direction of a stream.
            EventKind::Reset if event.stream.is_some() => ConnectionChange::Ended,
            EventKind::Close => ConnectionChange::Closed,
            EventKind::Reset => ConnectionChange::Reset,
            EventKind::Exit => ConnectionChange::Exited,
            EventKind::Lost if event.lost().is_some() => ConnectionChange::Lost,
            EventKind::Inject => {
                if let Some((origin, metadata)) = event.fault() {
                    self.links.fault(origin, &metadata);
                }
                return self.verdict();
            }
            _ => return self.verdict(),
        };
        let origin = event.origin();
        if what == ConnectionChange::Exited {
            self.record_exit(event);
        }
        let number = self.change(origin, what);
        let left = self.take_left();
        if let Some(operations) = &mut self.operations {
            operations.leave(&left, origin);
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

    /// Handles an event of a connection of this protocol.
    fn change_own(&mut self, origin: Origin, what: ConnectionChange) {
        self.facts.ends |= !matches!(what, ConnectionChange::Opened | ConnectionChange::Lost);
        self.facts.record_direction(what, origin.direction);
        self.links.event(origin, what, &mut self.report);
        self.create_session();
        if let Some(session) = &mut self.session
            && (origin.stream.is_none()
                || what == ConnectionChange::Lost
                || session.pairs_by_stream())
        {
            session.event(origin, what, &mut self.report);
        }
        self.judge_report();
        self.findings.splice(0..0, self.short.end(origin));
    }

    /// Handles the end of the input.
    pub fn finish(&mut self) -> Verdict<'_> {
        self.reset();
        self.create_session();
        self.end_rules();
        self.links.finish(&mut self.report);
        if let Some(session) = &mut self.session {
            session.finish(&mut self.report);
        }
        self.judge_report();
        self.findings.splice(0..0, self.short.finish());
        let others = self.finish_others();
        self.findings.extend(others);
        if let Some(operations) = &mut self.operations {
            operations.finish();
        }
        Verdict {
            ended: self.ended_operations(),
            ..self.verdict()
        }
    }

    /// Turns off the rules that cannot be judged, because no more input comes: there may be many open requests.
    fn end_rules(&mut self) {
        let Some(protocol) = self.protocol else {
            return;
        };
        let is_off = |rule: &&Arc<Rule>| {
            self.judge.severity(protocol.name(), rule) == Severity::Off
                || !rule.needs.iter().all(|need| self.has_input_for(*need))
        };
        let off = rules_of(protocol).filter(is_off);
        self.report.off = off.map(|rule| rule.id).collect();
        self.report.is_at_end = true;
    }

    /// Visits the pending answers of this protocol alone.
    pub(crate) fn waiting_in_protocol(&self, visit: &mut dyn FnMut(Waiting)) {
        let Some(session) = &self.session else {
            return;
        };
        session.waiting(&mut |mut waiting| {
            self.explain_end(&mut waiting);
            if let Some(sides) = session.sides(waiting.place.origin.conn) {
                waiting.name_side(sides);
            }
            visit(waiting);
        });
    }

    /// Visits the requests of this protocol alone whose connection has ended.
    pub(crate) fn left_in_protocol(&self, visit: &mut dyn FnMut(Waiting)) {
        for waiting in &self.left {
            let mut waiting = waiting.clone();
            self.explain_end(&mut waiting);
            visit(waiting);
        }
    }

    /// Adds that the connection of an answer has ended, or that the request may not have been read, if so.
    fn explain_end(&self, waiting: &mut Waiting) {
        if let Some(cause) = self.damages.before(&waiting.place) {
            let why = format!("it follows the broken frame #{cause}, so it may not have been read");
            waiting.why.get_or_insert(why);
        }
        let direction = waiting.owes.map(Direction::other);
        let origin = Origin {
            direction: direction.or(waiting.place.origin.direction),
            ..waiting.place.origin
        };
        if let Some(closed) = self.links.closed_reason(origin) {
            let why = waiting.why.take().map(|why| format!("; {why}"));
            waiting.why = Some(format!("{closed}{}", why.unwrap_or_default()));
        }
    }

    /// Returns `true` if only one direction of this protocol was seen.
    pub(crate) fn is_protocol_one_way(&self) -> bool {
        let facts = &self.facts;
        facts.to_server != facts.to_client || !(facts.to_server || facts.answers)
    }

    /// Returns the protocol, once it is known; of several, the first.
    pub fn protocol(&self) -> Option<&'p dyn Protocol> {
        self.protocol
    }

    /// Returns the names of client and server.
    pub(crate) fn sides(&self) -> [&'p str; 2] {
        self.protocol
            .map_or(["client", "server"], |p| p.descriptor().sides)
    }

    /// Returns the numbers of unreported findings that only follow from an unreadable message, by that message.
    pub(crate) fn consequences(&self) -> impl Iterator<Item = Consequences> + '_ {
        self.each_protocol()
            .flat_map(Self::consequences_in_protocol)
    }

    /// Returns those of this protocol alone.
    pub(crate) fn consequences_in_protocol(&self) -> impl Iterator<Item = Consequences> + '_ {
        self.damages.counts()
    }

    /// Returns the rules of this protocol that could not be judged, each with the first missing precondition.
    pub fn unjudged(&self) -> Vec<(&'p Rule, Need)> {
        let Some(protocol) = self.protocol else {
            return Vec::new();
        };
        rules_of(protocol)
            .filter(|rule| self.judge.severity(protocol.name(), rule) > Severity::Off)
            .filter_map(|rule| {
                let missing = rule.needs.iter().find(|need| !self.has_input_for(**need))?;
                Some((&**rule, *missing))
            })
            .collect()
    }

    fn has_input_for(&self, need: Need) -> bool {
        match need {
            Need::BothWays => self.facts.has_both_directions(),
            Need::Order => self.facts.order && self.facts.has_messages == [true; 2],
            Need::Sequence => self.facts.order,
            Need::Times => self.facts.times,
            Need::Ends => self.facts.ends,
            Need::Secret | Need::Signature | Need::Connection => {
                self.session.as_ref().is_some_and(|s| s.has(need))
            }
        }
    }

    /// Creates the session as soon as the protocol is known.
    fn create_session(&mut self) {
        if self.session.is_none() {
            self.session = self.protocol.map(|p| {
                let session = p.behavior().session(&self.config);
                #[cfg(feature = "described")]
                let session = judged(
                    session,
                    p,
                    of_project(p.name()).map(|own| -> &'p OwnRule { own }),
                );
                session
            });
            self.report.off = self
                .protocol
                .map_or(RuleSet::default(), |p| self.judge.off(p));
        }
    }

    fn reset(&mut self) {
        self.report.clear();
        self.findings.clear();
        self.left_now.clear();
        self.faults = 0;
    }

    pub(super) fn verdict(&self) -> Verdict<'_> {
        Verdict {
            findings: &self.findings,
            answer: self.report.answer.as_ref(),
            subscriptions: &self.report.subscriptions,
            operation: None,
            ended: &[],
            client: None,
            source: None,
            without_findings: false,
        }
    }

    /// Turns the reports of the session into findings.
    fn judge_report(&mut self) {
        let refused = self.session.as_ref().map_or(0, |s| s.untracked());
        if refused > 0 && !self.limit_reported {
            self.limit_reported = true;
            broken!(self.report, rule::OPEN_LIMIT, self.last;
                "{} requests wait for an answer: later ones are not tracked", self.config.max_open);
        }
        let space = self.config.max_open.saturating_sub(self.left.len());
        let left = self.report.left.iter().map(|waiting| waiting.place.index);
        self.left_now.extend(left);
        self.left.extend(self.report.left.drain(..).take(space));
        // What a held finding needs can only be there after one of these changes.
        let seen = (self.facts.has_both_directions(), self.facts.has_messages);
        if std::mem::replace(&mut self.held_since, seen) != seen && seen.0 {
            for broken in std::mem::take(&mut self.held) {
                self.add_finding(broken, false);
            }
        }
        let mut reported = std::mem::take(&mut self.report.broken);
        for (n, broken) in reported.drain(..).enumerate() {
            self.add_finding(broken, n < self.faults);
        }
        // At the end there may be one for each open request.
        reported.shrink_to(MAX_HELD);
        self.report.broken = reported;
        self.findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    }

    /// Judges one broken rule. `is_fault`: it is a fault of the current message.
    fn add_finding(&mut self, mut broken: Broken, is_fault: bool) {
        // Without a protocol there are only rules of HTTP.
        let name = self.protocol.map_or("http", |p| p.name());
        if *self.name != *name {
            self.name = name.into();
        }
        let is_it = |rule: &&Arc<Rule>| rule.id == broken.rule;
        let rule = match self.protocol {
            Some(protocol) => rules_of(protocol).find(is_it),
            None => COMMON.iter().find(is_it),
        };
        debug_assert!(rule.is_some(), "{:?} is not a rule of {name}", broken.rule);
        let Some(rule) = rule else {
            return;
        };
        if self.judge.severity(name, rule) == Severity::Off {
            return;
        }
        // Other findings about a message with a fault follow from the fault.
        let faulty = (self.faults > 0 && !is_fault).then_some(self.last.index);
        match rule.needs.iter().find(|need| !self.has_input_for(**need)) {
            // The other direction may still be seen.
            Some(Need::BothWays) if self.held.len() < MAX_HELD => self.held.push(broken),
            Some(Need::Order) if self.facts.order && self.held.len() < MAX_HELD => {
                self.held.push(broken);
            }
            Some(_) => {}
            None if self
                .damages
                .count_consequence(&broken, rule, self.last.index, faulty) => {}
            None => {
                if rule.unanswered {
                    match self.links.closed_reason(broken.place.origin) {
                        Some(closed) => broken.text.push_str(&format!(", and {closed}")),
                        None => broken.at_most = broken.at_most.min(Severity::Warning),
                    }
                }
                if let Some(fault) = self.injected_cause(rule, &broken) {
                    broken.text.push_str(&format!(" (by wiretool: {fault})"));
                    broken.at_most = Severity::Info;
                }
                self.findings.push(Finding {
                    protocol: self.name.clone(),
                    rule: rule.clone(),
                    severity: self.judge.limited_severity(name, rule, broken.at_most),
                    place: broken.place,
                    text: broken.text,
                    related: broken.related,
                });
            }
        }
    }
}
