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

pub mod actor;
pub mod carrier;
pub mod guard;
mod judge;
pub mod party;
pub mod tap;

use crate::capture::{Event, What};
use crate::decoder::{Decoded, Decoder, Options, Origin};
use crate::protocol::session::{
    Aids, Answer, Broken, Happened, Need, Place, Report, Rule, Session, Severity, Waiting,
};
use crate::protocol::{Direction, Protocol};
pub use judge::{Dialect, Judge, find_rule, full_name, rules_of};

/// Findings that wait for a message of the other direction; so many must do.
const HELD: usize = 1 << 12;

/// A rule that was broken, judged.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whose rule it is.
    pub protocol: &'static str,
    /// The rule.
    pub rule: &'static Rule,
    /// How bad that is, for this user.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// One sentence: what is there, and what should be.
    pub text: String,
    /// Another message that it has to do with.
    pub related: Option<u64>,
}

impl Finding {
    /// `saikuro/seq-gap`.
    pub fn name(&self) -> String {
        full_name(self.protocol, self.rule)
    }
}

/// What there is to say of a message, beside what it holds.
#[derive(Clone, Copy, Default)]
pub struct Verdict<'a> {
    /// Rules that were broken. Most are about this message; those that had to wait say by their place which they mean.
    pub findings: &'a [Finding],
    /// What it answers.
    pub answer: Option<&'a Answer>,
}

/// What the input has given so far.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a thing of its own
struct Have {
    to_server: bool,
    to_client: bool,
    order: bool,
    times: bool,
    ends: bool,
    answers: bool,
}

impl Have {
    fn both_ways(&self) -> bool {
        self.to_server && self.to_client
    }
}

/// One conversation, over all its connections.
pub struct Conversation<'p> {
    protocols: Vec<&'p dyn Protocol>,
    judge: Judge,
    aids: Aids,
    protocol: Option<&'p dyn Protocol>,
    session: Option<Box<dyn Session + 'p>>,
    have: Have,
    report: Report,
    /// Broken rules that need both directions, while one was not seen.
    held: Vec<Broken>,
    findings: Vec<Finding>,
    refused: bool,
    last: Place,
}

impl<'p> Conversation<'p> {
    /// A conversation of which nothing was heard; it will be in one of these protocols. `order`: whether the input says
    /// which of two messages of different directions came first.
    pub fn new(protocols: &[&'p dyn Protocol], judge: &Judge, aids: Aids, order: bool) -> Self {
        let protocol = match protocols {
            [only] => Some(*only),
            _ => None,
        };
        Self {
            protocols: protocols.to_vec(),
            judge: judge.clone(),
            aids: Aids { order, ..aids },
            protocol,
            session: None,
            have: Have {
                order,
                ..Have::default()
            },
            report: Report::default(),
            held: Vec::new(),
            findings: Vec::new(),
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

    /// How the peer was to be reached, as a recording's head says; to be told before the first message.
    pub fn reached_by(&mut self, connect: &str) {
        self.aids.connect = Some(connect.to_owned());
    }

    /// The next message.
    pub fn see(&mut self, decoded: &Decoded<'_>) -> Verdict<'_> {
        self.begin();
        let seen = decoded.seen();
        match seen.origin.direction {
            Some(Direction::ToServer) => self.have.to_server = true,
            Some(Direction::ToClient) => self.have.to_client = true,
            None => {}
        }
        self.have.times |= seen.origin.time.is_some();
        self.last = seen.whole();
        self.expect(decoded.protocol.name());
        self.open();
        for (offset, fault) in decoded.faults() {
            let place = Place {
                offset,
                len: u64::from(fault.span.len),
                ..seen.whole()
            };
            let hint = fault.hint.as_ref().map(|h| format!(" ({h})"));
            let text = format!("{fault}{}", hint.unwrap_or_default());
            let rule = self.rule_of_fault(fault.code);
            self.report.broken(rule, place, text);
        }
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
            _ => return self.verdict(),
        };
        self.have.ends |= !matches!(what, Happened::Opened | Happened::Lost);
        let origin = Origin {
            conn: Some(event.conn),
            direction: event.direction,
            time: event.time.and_then(|t| i64::try_from(t).ok()),
        };
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
        self.open();
        if let Some(session) = &mut self.session {
            session.finish(&mut self.report);
        }
        self.judge();
        self.verdict()
    }

    /// What is waited for, the oldest first.
    pub fn waiting(&self) -> Vec<Waiting> {
        self.session.as_ref().map_or(Vec::new(), |s| s.waiting())
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
            Need::Order => self.have.order && self.have.both_ways(),
            Need::Times => self.have.times,
            Need::Ends => self.have.ends,
            Need::Secret | Need::Signature | Need::Connection => {
                self.session.as_ref().is_some_and(|s| s.has(need))
            }
            Need::Streams => false,
        }
    }

    /// There is a session as soon as the protocol is known.
    fn open(&mut self) {
        if self.session.is_none() {
            self.session = self.protocol.map(|p| p.session(&self.aids));
        }
    }

    fn begin(&mut self) {
        self.report.clear();
        self.findings.clear();
    }

    fn verdict(&self) -> Verdict<'_> {
        Verdict {
            findings: &self.findings,
            answer: self.report.answer.as_ref(),
        }
    }

    fn rule_of_fault(&self, code: &str) -> &'static str {
        let rules = self.protocol.map_or(&[][..], |p| p.rules());
        let own = rules.iter().find(|r| r.faults.contains(&code));
        own.map_or("malformed", |r| r.name)
    }

    /// Turns what the session reported into findings.
    fn judge(&mut self) {
        let Some(protocol) = self.protocol else {
            return;
        };
        let refused = self.session.as_ref().map_or(0, |s| s.refused());
        if refused > 0 && !self.refused {
            self.refused = true;
            let text = format!(
                "{} requests wait for an answer: no more can be followed",
                self.aids.most_open
            );
            self.report.broken("open-limit", self.last, text);
        }
        if self.have.both_ways() {
            for broken in std::mem::take(&mut self.held) {
                self.find(protocol, broken);
            }
        }
        for broken in std::mem::take(&mut self.report.broken) {
            self.find(protocol, broken);
        }
    }

    fn find(&mut self, protocol: &dyn Protocol, broken: Broken) {
        let rule = rules_of(protocol).find(|r| r.name == broken.rule);
        debug_assert!(rule.is_some(), "{} is no rule", broken.rule);
        let Some(rule) = rule else {
            return;
        };
        let severity = self.judge.severity(protocol.name(), rule);
        if severity == Severity::Off {
            return;
        }
        match rule.needs.iter().find(|need| !self.has(**need)) {
            // The other direction may yet be heard.
            Some(Need::BothWays) if self.held.len() < HELD => self.held.push(broken),
            Some(Need::Order) if self.have.order && self.held.len() < HELD => {
                self.held.push(broken);
            }
            Some(_) => {}
            None => self.findings.push(Finding {
                protocol: protocol.name(),
                rule,
                severity,
                place: broken.place,
                text: broken.text,
                related: broken.related,
            }),
        }
    }
}

/// Follows a recording that is at hand as a whole, and tells of each message and, last, of the end.
pub fn follow(
    recording: &[u8],
    options: &Options<'_>,
    judge: &Judge,
    aids: Aids,
    tell: &mut dyn FnMut(Option<&Decoded<'_>>, Verdict<'_>),
) {
    use crate::capture::{Form, Input, Item};
    let mut decoder = Decoder::new(options.clone());
    let mut conversation = Conversation::new(&options.protocols, judge, aids, true);
    let mut input = Input::new(Form::Recording);
    let mut item = |item: Item<'_>| match item {
        Item::Header(header) => {
            if let Some(protocol) = &header.protocol {
                decoder.expect(protocol);
                conversation.expect(protocol);
            }
            if let Some(connect) = &header.connect {
                conversation.reached_by(connect);
            }
        }
        Item::Chunk(chunk) => {
            let origin = Origin {
                conn: Some(chunk.conn),
                direction: chunk.direction,
                time: chunk.time.and_then(|t| i64::try_from(t).ok()),
            };
            decoder.push(origin, chunk.bytes, &mut |decoded| {
                let verdict = conversation.see(decoded);
                tell(Some(decoded), verdict);
            });
        }
        Item::Event(event) => {
            if let Some(origin) = event.end() {
                decoder.end(origin, &mut |decoded| {
                    let verdict = conversation.see(decoded);
                    tell(Some(decoded), verdict);
                });
            }
            let verdict = conversation.happened(&event);
            if !verdict.findings.is_empty() {
                tell(None, verdict);
            }
        }
        _ => {}
    };
    input.push(recording, &mut item);
    input.finish(&mut item);
    decoder.finish(&mut |decoded| {
        let verdict = conversation.see(decoded);
        tell(Some(decoded), verdict);
    });
    tell(None, conversation.finish());
}
