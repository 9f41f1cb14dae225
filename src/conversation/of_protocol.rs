//! The messages of one protocol of a conversation: its session, what rules need, and findings.

use super::connections::Connections;
use super::damage::Damages;
use super::injected::Injected;
use super::operations::Judged;
use super::short::ShortMessages;
use super::{Consequences, Finding, Judge, MAX_HELD, Verdict, rules_of};
use crate::decoder::{Decoded, Decoder};
use crate::escape::shorten;
use crate::framing::fields::{text_secrets, without};
#[cfg(feature = "described")]
use crate::own_rules::{OwnRule, of_project, wrap_with_rules};
use crate::protocol::rule_names::common as rule;
use crate::protocol::rules::COMMON;
use crate::protocol::session::{
    Broken, ConnectionChange, Need, Place, Report, Rule, RuleId, RuleSet, Session, SessionConfig,
    Severity, Waiting, broken, name_of,
};
use crate::protocol::{Direction, Origin, Protocol, Role, with_name};
use crate::tape::Node;
use std::sync::Arc;

/// The maximum length of the text of a failed call, in characters. Lines show less of it.
const MAX_FAILURE_TEXT: usize = 4096;

/// The part of a conversation in one protocol.
pub(crate) struct ProtocolConversation<'p> {
    protocols: Vec<&'p dyn Protocol>,
    judge: Judge,
    pub(super) config: SessionConfig,
    pub(super) protocol: Option<&'p dyn Protocol>,
    pub(super) session: Option<Box<dyn Session + 'p>>,
    facts: InputFacts,
    pub(super) connections: Connections,
    pub(super) injected: Injected,
    pub(super) report: Report,
    /// Broken rules that need both directions, while one was not seen.
    held: Vec<Broken>,
    /// The directions with bytes and with messages at the last judgement of the held findings.
    held_since: (bool, [bool; 2]),
    pub(super) findings: Vec<Finding>,
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
    /// The capture that it belongs to, if there are several and it is known.
    pub(super) source: Option<u16>,
    /// The requests whose connection ended with the last event.
    pub(super) left_now: Vec<u64>,
    /// The requests that were cancelled by the last event.
    pub(super) abandoned_now: Vec<u64>,
}

/// The facts that the input has shown so far.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
struct InputFacts {
    /// A direction was opened or closed, even if it carried nothing.
    to_server: bool,
    to_client: bool,
    /// Messages to the server, and to the client, were seen.
    has_messages: [bool; 2],
    order: bool,
    times: bool,
    ends: bool,
    answers: bool,
}

impl InputFacts {
    fn has_both_directions(&self) -> bool {
        self.to_server && self.to_client
    }

    /// Records a direction whose start or end is known, even if it carried nothing.
    fn record_direction(&mut self, what: ConnectionChange, direction: Option<Direction>) {
        if what != ConnectionChange::Lost {
            self.to_server |= direction != Some(Direction::ToClient);
            self.to_client |= direction != Some(Direction::ToServer);
        }
    }
}

impl<'p> ProtocolConversation<'p> {
    /// Returns an empty conversation in one of these protocols.
    pub fn new(protocols: &[&'p dyn Protocol], judge: &Judge, config: SessionConfig) -> Self {
        let protocol = match protocols {
            [only] => Some(*only),
            _ => None,
        };
        let order = config.order;
        Self {
            protocols: protocols.to_vec(),
            judge: judge.clone(),
            config,
            protocol,
            session: None,
            // Input without order consists of one file per direction.
            facts: InputFacts {
                to_server: !order,
                to_client: !order,
                order,
                ..InputFacts::default()
            },
            connections: Connections::default(),
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
            source: None,
            left_now: Vec::new(),
            abandoned_now: Vec::new(),
        }
    }

    /// Sets the protocol by name, as a recording names it.
    pub fn expect(&mut self, name: &str) {
        if self.protocol.is_none() {
            self.protocol = self.protocols.iter().copied().find(|p| p.name() == name);
        }
    }

    /// Returns what operations need of the last message.
    pub(super) fn judged<'a>(&'a self, decoded: &'a Decoded<'a>) -> Judged<'a> {
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

    /// Checks the next message.
    pub fn see(&mut self, decoded: &Decoded<'_>) {
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
            // Peers can read what is not read here.
            if fault.code == "compressed" {
                self.report.at_most(Severity::Info);
            }
        }
        self.faults = self.report.broken.len();
        self.injected.record(decoded);
        self.connections.read_head(&seen, &mut self.report);
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
    pub fn change(&mut self, origin: Origin, what: ConnectionChange) {
        self.facts.ends |= !matches!(what, ConnectionChange::Opened | ConnectionChange::Lost);
        self.facts.record_direction(what, origin.direction);
        self.connections.event(origin, what, &mut self.report);
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

    /// Reads the HTTP heads of input that no protocol recognises.
    pub fn read_heads(&mut self, decoder: &Decoder<'_>) {
        self.reset();
        decoder.each_http_head(&mut |seen| {
            self.facts
                .record_direction(ConnectionChange::Opened, seen.origin.direction);
            self.connections.read_head(seen, &mut self.report);
        });
        self.judge_report();
    }

    /// Handles the end of the input.
    pub fn finish(&mut self) {
        self.reset();
        self.create_session();
        self.end_rules();
        self.connections.finish(&mut self.report);
        if let Some(session) = &mut self.session {
            session.finish(&mut self.report);
        }
        self.judge_report();
        self.findings.splice(0..0, self.short.finish());
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

    /// Visits the pending answers.
    pub fn waiting(&self, visit: &mut dyn FnMut(Waiting)) {
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

    /// Visits the requests whose connection has ended.
    fn left(&self, visit: &mut dyn FnMut(Waiting)) {
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
        if let Some(closed) = self.connections.closed_reason(origin) {
            let why = waiting.why.take().map(|why| format!("; {why}"));
            waiting.why = Some(format!("{closed}{}", why.unwrap_or_default()));
        }
    }

    /// Returns `true` if only one direction of this protocol was seen.
    pub fn is_one_way(&self) -> bool {
        let facts = &self.facts;
        facts.to_server != facts.to_client || !(facts.to_server || facts.answers)
    }

    /// Visits the requests without an answer, as [`Conversation::unanswered`](super::Conversation::unanswered).
    pub fn unanswered(&self, has_both: bool, visit: &mut dyn FnMut(Waiting)) {
        if self.is_one_way() && !has_both {
            return;
        }
        let sides = self.sides();
        let mut visit = |waiting: Waiting| visit(waiting.with_side(sides));
        self.waiting(&mut visit);
        self.left(&mut visit);
        let unreceived = self.injected.unreceived();
        unreceived.iter().cloned().for_each(visit);
    }

    /// Returns the protocol, once it is known.
    pub fn protocol(&self) -> Option<&'p dyn Protocol> {
        self.protocol
    }

    /// Returns the names of client and server.
    pub fn sides(&self) -> [&'p str; 2] {
        self.protocol
            .map_or(["client", "server"], |p| p.descriptor().sides)
    }

    /// Returns the rule that covers a fault.
    fn rule_of_fault(&self, code: &str) -> RuleId {
        let rules = self.protocol.map_or(&[][..], |p| p.behavior().rules());
        let own = rules
            .iter()
            .find(|r| r.faults.iter().any(|own| own == code));
        own.map_or(rule::MALFORMED, |r| r.id)
    }

    /// Reports a message that says that its call failed.
    fn report_failure(&mut self, decoded: &Decoded<'_>) {
        let message = decoded.message;
        let Some(outcome) = message.outcome.as_ref().filter(|_| message.failed) else {
            return;
        };
        // Errors in a batch are answers of their own.
        if message.kind == "batch" {
            return;
        }
        // Without error answers, this is how the protocol reports errors.
        let kinds = decoded.protocol.kinds();
        if !kinds.iter().any(|kind| kind.role == Some(Role::Error)) {
            return;
        }
        let answer = self.report.answer.as_ref();
        let subject = answer.map_or(message.subject.as_deref(), |answer| {
            answer.subject.as_deref()
        });
        let about = with_name(subject, name_of(message, answer));
        // The name of a request, such as a URI, is not masked with the values of its answer.
        let about = without(&about, &text_secrets(about.as_bytes()));
        let what = if about.is_empty() { "the call" } else { &about };
        let root = decoded.root();
        let content = root.and_then(|root| decoded.protocol.content(root, message));
        let text = content.and_then(Node::text);
        let why = text.map(|text| format!(": {}", shorten(&text, MAX_FAILURE_TEXT)));
        let text = format!("{what} failed ({outcome}){}", why.unwrap_or_default());
        let whole = decoded.seen().whole();
        let place = outcome.span.map_or(whole, |span| Place {
            offset: decoded.frame.view.locate(span.at()),
            len: u64::from(span.len),
            ..whole
        });
        broken!(self.report, rule::CALL_FAILED, place; "{text}");
    }

    /// Returns the numbers of unreported findings that only follow from an unreadable message, by that message.
    pub fn consequences(&self) -> impl Iterator<Item = Consequences> + '_ {
        self.damages.counts()
    }

    /// Returns the rules that could not be judged, each with the first missing precondition.
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

    /// Stops judging rules that need the order of messages.
    pub fn lose_order(&mut self) {
        self.facts.order = false;
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
                let session = wrap_with_rules(
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

    pub fn reset(&mut self) {
        self.report.clear();
        self.findings.clear();
        self.left_now.clear();
        self.abandoned_now.clear();
        self.faults = 0;
    }

    pub fn verdict(&self) -> Verdict<'_> {
        let facts = self.report.operation;
        let cancels = facts.part_of.filter(|_| facts.cancels);
        Verdict {
            findings: &self.findings,
            answer: self.report.answer.as_ref(),
            cancels: cancels.map(|(request, _)| request),
            repeats: self.report.repeats,
            session: self.report.session,
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
        self.abandoned_now.append(&mut self.report.abandoned);
        self.left.extend(self.report.left.drain(..).take(space));
        // Only these changes can bring the messages that a held finding needs.
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
                    match self.connections.closed_reason(broken.place.origin) {
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
                    related: broken.related.filter(|index| *index != Place::NO_MESSAGE),
                });
            }
        }
    }

    /// Returns the injected fault that explains a broken rule: no peer is at fault.
    fn injected_cause(&self, rule: &Rule, broken: &Broken) -> Option<&str> {
        let own = self.injected.of([Some(broken.place.index), broken.related]);
        let ended = rule.unanswered || broken.place.index == Place::NO_MESSAGE;
        own.or_else(|| {
            self.connections
                .broken_by(broken.place.origin)
                .filter(|_| ended)
        })
    }
}
