//! What was said over time: is it allowed, what belongs to what, and who owes the next message.
//!
//! ```text
//!   Decoded ---> Conversation ---> Verdict { findings, answer }
//!   Event  --'        |      '---> waiting()    who owes what
//!                  Session         unjudged()   what could not be looked at
//! ```
//!
//! The rules are the protocol's ([`crate::protocol::session`]); how severe they are is the user's ([`Judge`]). A rule
//! that lacks what it needs is not judged, and [`Conversation::unjudged`] says so. Touches no socket and no clock.

mod damage;
mod finding;
mod follow;
#[cfg(feature = "cli")]
pub(crate) mod guard;
mod judge;
mod links;
pub(crate) mod pipeline;
#[cfg(feature = "cli")]
pub(crate) mod tap;
#[cfg(all(test, feature = "cli"))]
mod tests;

use crate::capture::{Event, Header, What};
use crate::decoder::{Decoded, Decoder, Origin};
use crate::protocol::rules::COMMON;
use crate::protocol::session::{
    Broken, Happened, Need, Place, Report, Rule, Session, SessionConfig, Severity, Waiting,
};
use crate::protocol::{Direction, Protocol};
pub(crate) use damage::Consequences;
use damage::Damages;
pub use finding::{Finding, Verdict};
pub use follow::{Summary, Tell, follow};
pub use judge::{Dialect, Judge, find_rule};
pub(crate) use judge::{full_name, rules_of};
use links::Links;
use std::collections::HashMap;

/// Findings that wait for a message of the other direction; so many must do.
const HELD: usize = 1 << 12;

/// What the input has given so far.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
struct Have {
    /// A direction that was opened or closed, also if it carried nothing.
    to_server: bool,
    to_client: bool,
    /// Messages to the server, and to the client.
    spoke: [bool; 2],
    order: bool,
    times: bool,
    ends: bool,
    answers: bool,
}

impl Have {
    fn both_ways(&self) -> bool {
        self.to_server && self.to_client
    }

    /// A direction whose beginning or end is known was seen, also if it carried nothing.
    fn seen(&mut self, what: Happened, direction: Option<Direction>) {
        if what != Happened::Lost {
            self.to_server |= direction != Some(Direction::ToClient);
            self.to_client |= direction != Some(Direction::ToServer);
        }
    }
}

/// One conversation, over all its connections.
pub struct Conversation<'p> {
    protocols: Vec<&'p dyn Protocol>,
    judge: Judge,
    config: SessionConfig,
    protocol: Option<&'p dyn Protocol>,
    session: Option<Box<dyn Session + 'p>>,
    have: Have,
    links: Links,
    /// What wiretool did to messages.
    injected: HashMap<u64, Box<str>>,
    report: Report,
    /// Broken rules that need both directions, while one was not seen.
    held: Vec<Broken>,
    findings: Vec<Finding>,
    damages: Damages,
    /// Faults of the message at hand that were told.
    faults: usize,
    refused: bool,
    last: Place,
}

impl<'p> Conversation<'p> {
    /// A conversation of which nothing was heard; it will be in one of these protocols. `order`: whether the input says
    /// which of two messages of different directions came first.
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
            // Input without order consists of a file for each direction.
            have: Have {
                to_server: !order,
                to_client: !order,
                order,
                ..Have::default()
            },
            links: Links::default(),
            injected: HashMap::new(),
            report: Report::default(),
            held: Vec::new(),
            findings: Vec::new(),
            damages: Damages::default(),
            faults: 0,
            refused: false,
            last: Place::default(),
        }
    }

    /// It is in the protocol of that name, as a recording's head says.
    pub fn expect(&mut self, name: &str) {
        if self.protocol.is_none() {
            self.protocol = self.protocols.iter().copied().find(|p| p.name() == name);
        }
    }

    /// What a recording's header says: the protocol, and how the peer was reached. It precedes the first message.
    pub fn expect_header(&mut self, header: &Header) {
        if let Some(protocol) = &header.protocol {
            self.expect(protocol);
        }
        self.config.connect.clone_from(&header.connect);
        self.config.argv = header.argv.clone().unwrap_or_default();
    }

    /// The next message.
    pub fn see(&mut self, decoded: &Decoded<'_>) -> Verdict<'_> {
        self.begin();
        let seen = decoded.seen();
        match seen.origin.direction {
            Some(Direction::ToServer) => (self.have.to_server, self.have.spoke[0]) = (true, true),
            Some(Direction::ToClient) => (self.have.to_client, self.have.spoke[1]) = (true, true),
            None => {}
        }
        self.have.times |= seen.origin.time.is_some();
        self.last = seen.whole();
        self.expect(decoded.protocol.name());
        self.open();
        self.damages.see(decoded);
        for (offset, fault) in decoded.faults() {
            // No peer is to blame for what the capture lacks.
            if fault.code == "gap" {
                if let Some(session) = &mut self.session {
                    session.happened(seen.origin, Happened::Lost, &mut self.report);
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
            // What is wrong with the message in a frame that is wrong follows from that.
            if decoded.frame.fault.is_some() && !self.report.broken.is_empty() {
                break;
            }
            let rule = self.rule_of_fault(fault.code);
            self.report.broken(rule, place, text);
        }
        self.faults = self.report.broken.len();
        if let Some(fault) = decoded.injected.filter(|_| self.injected.len() < HELD) {
            self.injected.insert(seen.index, fault.into());
        }
        self.links.see(&seen, &mut self.report);
        if let Some(session) = &mut self.session {
            session.message(&seen, &mut self.report);
        }
        self.have.answers |= self.report.answer.is_some();
        if !self.report.broken.is_empty() {
            let mut texts = self.report.broken.iter_mut().map(|broken| &mut broken.text);
            decoded.hide_secrets(&mut texts);
        }
        self.judge();
        self.verdict()
    }

    /// Reads the HTTP heads of input that no protocol recognises: whether it asks for WebSocket in vain. Call it before
    /// [`Self::finish`].
    pub fn unrecognised(&mut self, decoder: &Decoder<'_>) -> Verdict<'_> {
        self.begin();
        decoder.heads(&mut |seen| {
            self.have.seen(Happened::Opened, seen.origin.direction);
            self.links.see(seen, &mut self.report);
        });
        self.judge();
        self.verdict()
    }

    /// Something happened to a connection.
    pub fn happened(&mut self, event: &Event<'_>) -> Verdict<'_> {
        self.begin();
        let what = match event.what {
            What::Open => Happened::Opened,
            What::Eof => Happened::Ended,
            What::Close => Happened::Closed,
            What::Reset => Happened::Reset,
            What::Exit => Happened::Exited,
            What::Lost => Happened::Lost,
            What::Inject => {
                if let Some((origin, beside)) = event.fault() {
                    self.links.fault(origin, &beside);
                }
                return self.verdict();
            }
            _ => return self.verdict(),
        };
        self.have.ends |= !matches!(what, Happened::Opened | Happened::Lost);
        let origin = Origin {
            conn: Some(event.conn),
            direction: event.direction,
            time: event.time.and_then(|t| i64::try_from(t).ok()),
        };
        self.have.seen(what, event.direction);
        self.links.happened(origin, what, &mut self.report);
        self.open();
        if let Some(session) = &mut self.session {
            session.happened(origin, what, &mut self.report);
        }
        self.judge();
        self.verdict()
    }

    /// Nothing more will come.
    pub fn finish(&mut self) -> Verdict<'_> {
        self.begin();
        self.links.finish(&mut self.report);
        self.open();
        if let Some(session) = &mut self.session {
            session.finish(&mut self.report);
        }
        self.judge();
        self.verdict()
    }

    /// What is waited for, the oldest first.
    pub fn waiting(&self) -> Vec<Waiting> {
        let mut all = self.session.as_ref().map_or(Vec::new(), |s| s.waiting());
        for waiting in &mut all {
            let way = waiting.owes.map(Direction::other);
            let origin = Origin {
                direction: way.or(waiting.place.origin.direction),
                ..waiting.place.origin
            };
            if let Some(closed) = self.links.closed(origin) {
                let why = waiting.why.take().map(|why| format!("; {why}"));
                waiting.why = Some(format!("{closed}{}", why.unwrap_or_default()));
            }
            let sides = self.session.as_ref().and_then(|s| s.sides(origin.conn));
            waiting.side = sides.and_then(|sides| waiting.debtor(sides));
        }
        all
    }

    /// Whether the message of that index can still be answered.
    pub fn is_open(&self, index: u64) -> bool {
        self.session.as_ref().is_some_and(|s| s.is_open(index))
    }

    /// Whether messages of one direction alone were seen, or, where directions are not known, none that answers another:
    /// then nobody can say what was answered.
    pub fn is_one_way(&self) -> bool {
        let Have {
            to_server,
            to_client,
            answers,
            ..
        } = self.have;
        to_server != to_client || !(to_server || answers)
    }

    /// The protocol, once it is known.
    pub fn protocol(&self) -> Option<&'p dyn Protocol> {
        self.protocol
    }

    /// Findings that were not told because they only follow from a message that could not be read, by that message.
    pub(crate) fn consequences(&self) -> impl Iterator<Item = Consequences> + '_ {
        self.damages.counts()
    }

    /// Rules that could not be judged, with the first thing they lack.
    pub fn unjudged(&self) -> Vec<(&'static Rule, Need)> {
        let Some(protocol) = self.protocol else {
            return Vec::new();
        };
        rules_of(protocol)
            .filter(|rule| self.judge.severity(protocol.name(), rule) > Severity::Off)
            .filter_map(|rule| {
                let lacks = rule.needs.iter().find(|need| !self.has(**need))?;
                Some((rule, *lacks))
            })
            .collect()
    }

    fn has(&self, need: Need) -> bool {
        match need {
            Need::BothWays => self.have.both_ways(),
            Need::Order => self.have.order && self.have.spoke == [true; 2],
            Need::Times => self.have.times,
            Need::Ends => self.have.ends,
            Need::Secret | Need::Signature | Need::Connection => {
                self.session.as_ref().is_some_and(|s| s.has(need))
            }
        }
    }

    /// There is a session as soon as the protocol is known.
    fn open(&mut self) {
        if self.session.is_none() {
            self.session = self.protocol.map(|p| p.behavior().session(&self.config));
        }
    }

    fn begin(&mut self) {
        self.report.clear();
        self.findings.clear();
        self.faults = 0;
    }

    fn verdict(&self) -> Verdict<'_> {
        Verdict {
            findings: &self.findings,
            answer: self.report.answer.as_ref(),
        }
    }

    fn rule_of_fault(&self, code: &str) -> &'static str {
        let rules = self.protocol.map_or(&[][..], |p| p.behavior().rules());
        let own = rules.iter().find(|r| r.faults.contains(&code));
        own.map_or("malformed", |r| r.name)
    }

    /// Turns what the session reported into findings.
    fn judge(&mut self) {
        let refused = self.session.as_ref().map_or(0, |s| s.refused());
        if refused > 0 && !self.refused {
            self.refused = true;
            let text = format!(
                "{} requests wait for an answer: no more can be followed",
                self.config.most_open
            );
            self.report.broken("open-limit", self.last, text);
        }
        if self.have.both_ways() && !self.held.is_empty() {
            for broken in std::mem::take(&mut self.held) {
                self.find(broken, false);
            }
        }
        for (n, broken) in std::mem::take(&mut self.report.broken)
            .into_iter()
            .enumerate()
        {
            self.find(broken, n < self.faults);
        }
        self.findings.sort_by_key(|f| std::cmp::Reverse(f.severity));
    }

    /// One broken rule; `is_fault`: it is a fault of the message at hand.
    fn find(&mut self, mut broken: Broken, is_fault: bool) {
        // Without a protocol there is only HTTP.
        let name = self.protocol.map_or("http", |p| p.name());
        let own = self.protocol.map_or(&[][..], |p| p.behavior().rules());
        let rule = own
            .iter()
            .chain(COMMON.iter())
            .find(|r| r.name == broken.rule);
        debug_assert!(rule.is_some(), "{} is no rule", broken.rule);
        let Some(rule) = rule else {
            return;
        };
        if self.judge.severity(name, rule) == Severity::Off {
            return;
        }
        // What else is said of a message that has a fault follows from that.
        let bad = (self.faults > 0 && !is_fault).then_some(self.last.index);
        match rule.needs.iter().find(|need| !self.has(**need)) {
            // The other direction may yet be heard.
            Some(Need::BothWays) if self.held.len() < HELD => self.held.push(broken),
            Some(Need::Order) if self.have.order && self.held.len() < HELD => {
                self.held.push(broken);
            }
            Some(_) => {}
            None if self.damages.count(&broken, rule, self.last.index, bad) => {}
            None => {
                if rule.unanswered {
                    match self.links.closed(broken.place.origin) {
                        Some(closed) => broken.text.push_str(&format!(", and {closed}")),
                        None => broken.at_most = broken.at_most.min(Severity::Warning),
                    }
                }
                if let Some(fault) = self.cause(rule, &broken) {
                    broken.text.push_str(&format!(" (by wiretool: {fault})"));
                    broken.at_most = Severity::Info;
                }
                self.findings.push(Finding {
                    protocol: name,
                    rule,
                    severity: self.judge.here(name, rule, broken.at_most),
                    place: broken.place,
                    text: broken.text,
                    related: broken.related,
                });
            }
        }
    }
}
