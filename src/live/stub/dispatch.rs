//! Decides what is done about each message that is heard.
//!
//! ```text
//!   heard --> Resume    the answer to what a job asked
//!         --> Start     a rule, or a recorded request
//!         --> Replies   what the protocol itself answers
//!         --> Miss      nobody has an answer
//!         --> Foreign  it speaks something else
//! ```

use super::report::RateLimit;
use super::{Action, Exchanges, Observer, Outcome, Reply, Report, Rule};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::diff::Kept;
use crate::framing::Framing;
use crate::live::endpoint::{Endpoint, Received};
use crate::live::script::recorded::WIDE;
use crate::live::script::value;
use crate::protocol::Role;
use crate::protocol::peer::{Request, Says, json_of};
use crate::render::style::shorten;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Most calls of one batch that are answered one by one.
const PARTS: usize = 1 << 12;
/// Nanoseconds from one report to the next.
const EVERY: i64 = 100_000_000;

/// A request that is being answered.
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) place: Arc<str>,
    pub(super) actions: Arc<[Action]>,
    pub(super) at: usize,
    /// What the other side answered when it was asked last.
    pub(super) answer: Option<String>,
    pub(super) count: u64,
    /// Its number.
    pub(super) id: u64,
    /// While it waits for its time: when that is.
    pub(super) until: Option<i64>,
    /// Recorded calls that were made, and what they were answered.
    pub(super) calls: Vec<(Option<u64>, Option<String>)>,
    /// Something of it was said.
    pub(super) answered: bool,
    /// The batch of which it is a call, and which.
    pub(super) part: Option<(u64, usize)>,
}

impl Job {
    /// Nothing is done yet about a request.
    fn of(request: Request) -> Self {
        Self {
            request,
            place: "".into(),
            actions: Arc::new([]),
            at: 0,
            answer: None,
            count: 1,
            id: 0,
            until: None,
            calls: Vec::new(),
            answered: false,
            part: None,
        }
    }
}

/// Decides what is done about each message.
pub(super) struct Dispatcher {
    pub(super) exchanges: Option<Exchanges>,
    pub(super) rules: Vec<Rule>,
    pub(super) report: Report,
    /// The report changed since it was told, and when that was.
    pub(super) stale: bool,
    pub(super) told: i64,
    /// Messages of ours that jobs wait for the answers of.
    pub(super) asked: HashMap<u64, u64>,
    /// Connections on which something was understood.
    pub(super) greeted: BTreeSet<u32>,
    /// Connections that are being closed.
    pub(super) ended: BTreeSet<u32>,
    /// What is told of what is not answered.
    pub(super) rate_limit: RateLimit,
    /// The time of what is heard.
    pub(super) now: i64,
    pub(super) stdio: bool,
    pub(super) scratch: Vec<u8>,
    pub(super) watch: Box<dyn Observer>,
}

/// What is to be done about a message.
pub(super) enum Decision {
    /// What the protocol itself answers, in its turn among the rest.
    Replies(Vec<Says>),
    /// What the protocol says before it, and what answers.
    Start(Vec<Says>, Box<Job>),
    /// What may go on with a call that is being answered, and what is done otherwise.
    Told(Request, Box<Decision>),
    /// The calls of a batch.
    Batch(Request, Vec<Decision>),
    /// The job, the message of it that was answered, and the answer.
    Resume(u64, u64, String),
    /// What nobody answers, why, and whether that is to be told.
    Miss(Request, String, bool),
    Foreign(u32, String),
}

impl Decision {
    /// The connection that it is about.
    pub(super) fn conn(&self) -> Option<u32> {
        match self {
            Self::Replies(says) => says.first().map(|says| says.conn),
            Self::Start(_, job) => Some(job.request.conn),
            Self::Miss(request, ..) | Self::Batch(request, _) | Self::Told(request, _) => {
                Some(request.conn)
            }
            Self::Foreign(conn, _) => Some(*conn),
            Self::Resume(..) => None,
        }
    }
}

impl Dispatcher {
    pub(super) fn changed(&mut self) {
        self.stale = true;
    }

    /// When what changed is to be told, where it was not yet.
    pub(super) fn due(&self) -> Option<i64> {
        self.stale.then(|| self.told.saturating_add(EVERY))
    }

    /// Tells what changed, unless something was told just now.
    pub(super) fn tell(&mut self, now: i64) {
        if self.due().is_some_and(|due| due <= now) {
            self.stale = false;
            self.told = now;
            self.watch.changed(&self.report);
        }
    }

    /// A job is done: what it asked and was not answered, it waits for no more.
    pub(super) fn done(&mut self, job: &Job) {
        for index in job.calls.iter().filter_map(|(index, _)| *index) {
            self.asked.remove(&index);
        }
        self.report.answered += u64::from(job.answered);
        self.changed();
    }

    pub(super) fn hear(&mut self, heard: Received<'_>, found: &mut Vec<Decision>) {
        let Received {
            decoded,
            verdict,
            replies,
        } = heard;
        if decoded.frame.control.is_some() && !decoded.is_faulty() {
            return;
        }
        let conn = decoded.origin.conn.unwrap_or_default();
        // Nothing more is answered where the end was said.
        if self.ended.contains(&conn) {
            return;
        }
        let replies = std::mem::take(replies);
        if decoded.is_faulty() {
            // A line or a body can be skipped; where a length lied, nobody knows what follows.
            let is_first = !self.greeted.contains(&conn) && decoded.frame.framing != Framing::Http;
            let lost = decoded.frame.fault.is_some() || is_first;
            let (offset, fault) = decoded
                .faults()
                .next()
                .map_or((0, String::new()), |(at, e)| (at, e.to_string()));
            let who = format!("#{conn}: offset {offset}: {fault}");
            if lost && !self.stdio {
                let name = decoded.protocol.name();
                let seems = seems(decoded.frame.view.bytes)
                    .map_or(String::new(), |what| format!(" (this looks like {what})"));
                self.ended.insert(conn);
                found.push(Decision::Foreign(
                    conn,
                    format!("{who}: that is no {name}{seems}: closed"),
                ));
                return;
            }
            if decoded.message.role.is_none() || decoded.frame.framing == Framing::Http {
                let outcome = if replies.is_empty() {
                    Outcome::Missed(&who)
                } else {
                    Outcome::Protocol
                };
                self.tell_of(decoded, verdict, outcome);
                return self.reply(conn, replies, found);
            }
        }
        self.greeted.insert(conn);
        let to = verdict.answer.map(|answer| answer.to).unwrap_or_default();
        if let Some(job) = verdict.answer.and_then(|_| self.asked.remove(&to)) {
            found.push(Decision::Resume(
                job,
                to,
                Request::of(&decoded.seen()).message,
            ));
            return;
        }
        let role = decoded.message.role;
        let found_now = self.decide(decoded, verdict, replies);
        // It may go on with a call that is being answered as it was recorded.
        let goes_on = matches!(role, Some(Role::Notification | Role::Item | Role::End));
        found.push(match found_now {
            Decision::Replies(_) if goes_on && self.exchanges.is_some() => {
                Decision::Told(Request::of(&decoded.seen()), Box::new(found_now))
            }
            other => other,
        });
    }

    /// What the protocol itself answers.
    fn reply(&mut self, conn: u32, replies: Vec<Says>, found: &mut Vec<Decision>) {
        if replies.iter().any(|says| says.closes) {
            self.ended.insert(conn);
        }
        found.push(Decision::Replies(replies));
    }

    /// Tells what comes of a message. What is not answered is told only so often.
    fn tell_of(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        outcome: Outcome<'_>,
    ) -> bool {
        let told = !matches!(outcome, Outcome::Missed(_)) || self.rate_limit.allows(self.now);
        if told {
            self.watch.received(decoded, verdict, outcome);
        }
        told
    }

    /// What is done about a message that was understood.
    pub(super) fn decide(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        replies: Vec<Says>,
    ) -> Decision {
        let mut replies = replies;
        let conn = decoded.origin.conn.unwrap_or_default();
        let protocol = decoded.protocol;
        let is_request = decoded.message.role == Some(Role::Request);
        let asks = matches!(
            decoded.message.role,
            Some(Role::Request | Role::Notification)
        );
        let root = decoded.root().filter(|_| asks && decoded.message.valid);
        let parts = root.map_or(Vec::new(), |root| protocol.parts(root, decoded.message));
        // An acknowledgement is no answer yet, unless something is told of what it is about.
        let subject = decoded.message.subject.as_deref();
        let is_told = subject.is_some_and(|subject| self.tells(subject));
        let is_open = is_request && replies.iter().all(|says| says.acknowledges && !is_told);
        let mut spent = None;
        for (rule, usage) in self.rules.iter().zip(&mut self.report.rules) {
            let fits = match &rule.when {
                Some(when) => when.holds(decoded, Some(verdict), &mut self.scratch),
                None => is_open && parts.is_empty(),
            };
            if !fits {
                continue;
            }
            if rule.times.is_some_and(|times| usage.asked >= times) {
                spent = Some(rule);
                continue;
            }
            usage.asked += 1;
            self.report.requests += 1;
            let mut before = Vec::new();
            if !rule.answers {
                // An acknowledgement goes before what follows it; a refusal does not.
                replies.retain(|says| !rule.goes_on || !refuses(says));
                before = replies;
            }
            self.watch
                .received(decoded, verdict, Outcome::Rule(&rule.place));
            let job = Job {
                place: rule.place.as_str().into(),
                actions: Arc::clone(&rule.actions),
                count: usage.asked,
                ..Job::of(Request::of(&decoded.seen()))
            };
            return Decision::Start(before, Box::new(job));
        }
        // What was recorded goes before what the protocol would say; who opens a session speaks of this one.
        let mut unknown = None;
        let is_hello = protocol.is_hello(decoded.message);
        if is_hello && let Some(exchanges) = &self.exchanges {
            as_recorded(exchanges, &what(decoded), &mut replies);
        }
        if asks
            && !is_hello
            && let Some(exchanges) = &mut self.exchanges
        {
            match exchanges.find(protocol, &Kept::of(decoded, None)) {
                Ok(at) => {
                    let request = Request::of(&decoded.seen());
                    let (index, actions) = exchanges
                        .entries
                        .get(at)
                        .map_or((0, None), |e| (e.index, Some(Arc::clone(&e.actions))));
                    let count = self.report.recorded.get_mut(at).map_or(1, |usage| {
                        usage.asked += 1;
                        usage.asked
                    });
                    self.report.requests += 1;
                    self.watch
                        .received(decoded, verdict, Outcome::Recorded(index));
                    let job = Job {
                        place: format!("recorded #{index}").into(),
                        actions: actions.unwrap_or_else(|| Arc::new([])),
                        count,
                        ..Job::of(request)
                    };
                    return Decision::Start(Vec::new(), Box::new(job));
                }
                Err(why) if is_request => unknown = Some(why),
                Err(_) => {}
            }
        }
        if is_open && !parts.is_empty() && parts.len() <= PARTS {
            let parts: Vec<String> = parts.into_iter().map(json_of).collect();
            let parts = parts.iter().map(|part| self.part(decoded, part));
            let parts = parts.collect();
            return Decision::Batch(Request::of(&decoded.seen()), parts);
        }
        let is_shut = replies.iter().any(|says| says.closes);
        if is_shut {
            self.ended.insert(conn);
        }
        let is_missed =
            is_open || is_request && is_shut && replies.iter().all(|s| s.message.is_empty());
        if !is_missed {
            self.watch.received(decoded, verdict, Outcome::Protocol);
            return Decision::Replies(replies);
        }
        let what = what(decoded);
        let what = shorten(&what, WIDE);
        let why = match (spent, unknown) {
            _ if is_shut => format!("{what} is not answered: the connection is closed"),
            (Some(rule), _) => {
                let times = rule.times.unwrap_or_default();
                format!("{what} is used up: {} answers it {times}×", rule.place)
            }
            (None, Some(why)) => why,
            (None, None) => format!("{what} has no rule"),
        };
        self.report.requests += 1;
        self.report.miss(decoded.index, conn, &what, &why);
        let told = self.tell_of(decoded, verdict, Outcome::Missed(&why));
        self.changed();
        if is_shut {
            return Decision::Replies(replies);
        }
        Decision::Miss(Request::of(&decoded.seen()), why, told)
    }

    /// Whether a rule tells something of a topic, or may.
    fn tells(&self, topic: &str) -> bool {
        let actions = self.rules.iter().flat_map(|rule| rule.actions.iter());
        let mut told = actions.filter_map(|action| match action {
            Action::Say(Reply::Tell(told, _), _) => Some(told),
            _ => None,
        });
        told.any(|told| match told.fill_text(&value::Fill::default()) {
            Ok(told) => told == topic,
            // It depends on what is asked.
            Err(_) => true,
        })
    }
}

/// A beginning from which no first message will come: the reader would pass over it, and wait.
pub(super) fn lost(endpoint: &Endpoint<'_>, conn: u32) -> Option<Decision> {
    let half = endpoint.half_of(conn)?;
    let fault = half
        .fault
        .filter(|fault| !matches!(fault.code, "truncated" | "ends-early"))?;
    let name = endpoint.protocol().name();
    let who = format!("#{conn}: offset {}: {fault}", half.offset);
    Some(Decision::Foreign(
        conn,
        format!("{who}: that is no {name}: closed"),
    ))
}

/// `invoke pow`.
pub(super) fn what(decoded: &Decoded<'_>) -> String {
    let message = decoded.message;
    match message.subject.as_deref().filter(|s| !s.is_empty()) {
        Some(subject) => format!("{} {subject}", message.kind),
        None => message.kind.to_string(),
    }
}

/// Answers a hello as the recording did.
fn as_recorded(exchanges: &Exchanges, what: &str, replies: &mut [Says]) {
    for says in replies.iter_mut().filter(|says| !refuses(says)) {
        if let Some(hello) = exchanges.hello(what, &says.message) {
            says.message = hello;
            return;
        }
    }
}

/// Whether a reply of the protocol is a no.
fn refuses(says: &Says) -> bool {
    let no = value::with_json(&says.message, |root| {
        let is = |key: &str| root.get(key).is_some_and(|node| !node.is_null());
        is("error") || is("code")
    });
    no.unwrap_or_default()
}

/// What bytes look like that are not what was wanted.
fn seems(bytes: &[u8]) -> Option<&'static str> {
    let methods: [&[u8]; 7] = [
        b"GET ",
        b"POST ",
        b"PUT ",
        b"HEAD ",
        b"OPTIONS ",
        b"DELETE ",
        b"PRI * HTTP",
    ];
    match bytes {
        _ if methods.iter().any(|method| bytes.starts_with(method)) => Some("HTTP"),
        [0x16, 3, ..] => Some("TLS"),
        [b'{' | b'[', ..] => Some("JSON"),
        [b'S', b'S', b'H', b'-', ..] => Some("SSH"),
        _ => None,
    }
}
