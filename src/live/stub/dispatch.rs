//! Decides how each received message is answered.
//!
//! ```text
//!   message --> Resume   the answer to a request of a job
//!           --> Start    a rule
//!           --> Replies  the answers of the protocol itself
//!           --> Miss     no answer
//!           --> Foreign  another protocol
//! ```

use super::matcher::{MAX_NAME_LENGTH, RequestMatcher};
use super::report::RateLimit;
use super::{AnswerSource, ScriptAction, ScriptRule, StubObserver, StubReport};
use crate::capture::lookalike::{HTTP, short_name};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::diff::MessageName;
use crate::framing::Framing;
use crate::live::endpoint::{Endpoint, Received};
use crate::live::script::HelloReply;
use crate::live::script::value::{Fill, MadeCall, OpenValue};
use crate::protocol::Channel;
use crate::protocol::Role;
use crate::protocol::peer::{Outgoing, Peer, Request, json_of};
use crate::render::style::shorten;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The maximum number of calls in a batch that are answered one by one.
const MAX_BATCH_CALLS: usize = 1 << 12;
/// The minimum time between reports, in ns.
const REPORT_INTERVAL: i64 = 100_000_000;
/// The key of answers to messages that cannot be read.
const UNREADABLE: &str = "unreadable";

/// A request that is being answered.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) place: Arc<str>,
    pub(super) actions: Arc<[ScriptAction]>,
    pub(super) at: usize,
    /// The answer to the last request of the job.
    pub(super) answer: Option<String>,
    pub(super) count: u64,
    /// Its number.
    pub(super) id: u64,
    /// The number of its request in the recording.
    pub(super) recorded: Option<u64>,
    /// The recorded request that it waits for.
    pub(super) after: Option<u64>,
    /// It waits for the end of its connection.
    pub(super) until_end: bool,
    /// It waits for the event stream of its session.
    pub(super) until_stream: bool,
    /// The time until which it waits.
    pub(super) until: Option<i64>,
    /// The recorded calls.
    pub(super) calls: Vec<MadeCall>,
    /// It follows a hello, and counts as no request.
    pub(super) is_hello: bool,
    /// A part of the answer was sent.
    pub(super) answered: bool,
    /// The batch, and the number of the call in it.
    pub(super) part: Option<(u64, usize)>,
}

impl Job {
    /// Makes a job without actions for a request.
    pub(super) fn of(request: Request) -> Self {
        Self {
            request,
            count: 1,
            ..Self::default()
        }
    }
}

/// Decides how each message is answered.
pub(super) struct Dispatcher {
    pub(super) matcher: RequestMatcher,
    pub(super) hellos: Vec<HelloReply>,
    /// The answers to messages that cannot be read, and the number of these messages.
    pub(super) unreadable: Vec<OpenValue>,
    pub(super) unread: usize,
    /// A rule waits for a message about its request.
    pub(super) reads_more: bool,
    pub(super) rules: Vec<ScriptRule>,
    pub(super) report: StubReport,
    /// The report changed since it was last emitted.
    pub(super) stale: bool,
    pub(super) last_report: i64,
    /// The jobs that wait for answers, by the index of their request.
    pub(super) jobs_by_request: HashMap<u64, u64>,
    /// Connections on which a message was decoded.
    pub(super) conns_with_messages: BTreeSet<u32>,
    /// Connections that are being closed.
    pub(super) ended: BTreeSet<u32>,
    /// Limits the reports of misses and problems.
    pub(super) rate_limit: RateLimit,
    /// The time of the received bytes.
    pub(super) now: i64,
    pub(super) stdio: bool,
    pub(super) scratch: Vec<u8>,
    pub(super) watch: Box<dyn StubObserver>,
}

/// The decision on a message.
pub(super) enum Decision {
    /// The answers of the protocol itself, in order with the other answers.
    Replies(Vec<Outgoing>),
    /// The messages of the protocol before the answer, and the job that answers.
    Start(Vec<Outgoing>, Box<Job>),
    /// A message that a waiting job may be waiting for, and the decision otherwise.
    Continue(Request, Box<Decision>),
    /// The calls of a batch.
    Batch(Request, Vec<Decision>),
    /// The job, the message of it that was answered, and the answer.
    Resume(u64, u64, String),
    /// A request without an answer, the reason, and `true` if that is reported.
    Miss(Request, String, bool),
    /// Bytes of another protocol on a connection, and their description.
    Foreign(u32, String),
}

impl Decision {
    /// Returns its connection.
    pub(super) fn conn(&self) -> Option<u32> {
        match self {
            Self::Replies(outgoing) => outgoing.first().map(|outgoing| outgoing.conn),
            Self::Start(_, job) => Some(job.request.conn),
            Self::Miss(request, ..) | Self::Batch(request, _) | Decision::Continue(request, _) => {
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

    /// Returns the time of the next report.
    pub(super) fn due(&self) -> Option<i64> {
        self.stale
            .then(|| self.last_report.saturating_add(REPORT_INTERVAL))
    }

    /// Emits the report if it is due.
    pub(super) fn emit_report(&mut self, now: i64) {
        if self.due().is_some_and(|due| due <= now) {
            self.stale = false;
            self.last_report = now;
            self.watch.changed(&self.report);
        }
    }

    /// Ends a job: answers to its calls are no longer expected.
    pub(super) fn done(&mut self, job: &Job) {
        for index in job.calls.iter().filter_map(|call| call.index) {
            self.jobs_by_request.remove(&index);
        }
        self.report.answered += u64::from(job.answered && !job.is_hello);
        self.changed();
    }

    /// Counts a request whose answer cannot be written.
    pub(super) fn miss(&mut self, request: &Request, why: &str) {
        let subject = request.subject.as_deref();
        let what = MessageName {
            kind: &request.kind,
            subject,
            ..MessageName::default()
        };
        let what = what.to_string();
        let what = shorten(&what, MAX_NAME_LENGTH);
        self.report.miss(request.index, request.conn, &what, why);
    }

    pub(super) fn receive(&mut self, received: Received<'_>, decisions: &mut Vec<Decision>) {
        let Received {
            decoded,
            verdict,
            replies,
            peer,
        } = received;
        if decoded.frame.control.is_some() && !decoded.is_faulty() {
            return;
        }
        let conn = decoded.origin.conn.unwrap_or_default();
        // A connection that is being closed gets no answers.
        if self.ended.contains(&conn) {
            return;
        }
        let replies = std::mem::take(replies);
        if decoded.is_faulty() {
            // A line or a body can be skipped. After a wrong length the next frame cannot be found.
            let is_first =
                !self.conns_with_messages.contains(&conn) && decoded.frame.framing != Framing::Http;
            let lost = decoded.frame.fault.is_some() || is_first;
            let (offset, fault) = decoded
                .faults()
                .next()
                .map_or((0, String::new()), |(at, e)| (at, e.to_string()));
            let who = format!("#{conn}: offset {offset}: {fault}");
            if lost && !self.stdio {
                self.ended.insert(conn);
                decisions.push(Decision::Foreign(
                    conn,
                    format!("{who}: {}", foreign(decoded)),
                ));
                return;
            }
            if let Some(answer) = self.answer_unread(decoded).filter(|_| replies.is_empty()) {
                self.report_outcome(decoded, verdict, AnswerSource::Rule(UNREADABLE));
                return self.reply(conn, vec![answer], decisions);
            }
            if decoded.message.role.is_none() || decoded.frame.framing == Framing::Http {
                let outcome = if replies.is_empty() {
                    AnswerSource::UnansweredRequest(&who)
                } else {
                    AnswerSource::Protocol
                };
                self.report_outcome(decoded, verdict, outcome);
                return self.reply(conn, replies, decisions);
            }
        }
        self.conns_with_messages.insert(conn);
        if decoded.message.role.is_none()
            && let Some(answer) = self.answer_unread(decoded)
        {
            self.report_outcome(decoded, verdict, AnswerSource::Rule(UNREADABLE));
            return self.reply(conn, vec![answer], decisions);
        }
        let to = verdict.answer.map(|answer| answer.to).unwrap_or_default();
        if let Some(job) = verdict
            .answer
            .and_then(|_| self.jobs_by_request.remove(&to))
        {
            decisions.push(Decision::Resume(
                job,
                to,
                Request::of(&decoded.seen()).message,
            ));
            return;
        }
        let role = decoded.message.role;
        let decision = self.decide(decoded, verdict, replies, peer);
        // A waiting job may continue with it.
        let goes_on = matches!(role, Some(Role::Notification | Role::Item | Role::End));
        decisions.push(match decision {
            Decision::Replies(_) if goes_on && self.reads_more => {
                Decision::Continue(Request::of(&decoded.seen()), Box::new(decision))
            }
            other => other,
        });
    }

    /// Returns the answer of the script to a message that cannot be read. Over HTTP, its response has another status.
    fn answer_unread(&mut self, decoded: &Decoded<'_>) -> Option<Outgoing> {
        let is_read = decoded.message.valid && decoded.message.role.is_some();
        let last = self.unreadable.len().checked_sub(1)?;
        if is_read || decoded.frame.framing == Framing::Http {
            return None;
        }
        let answer = self.unreadable.get(self.unread.min(last))?;
        let message = answer.fill(&Fill::default()).ok()?;
        self.unread += 1;
        let conn = decoded.origin.conn.unwrap_or_default();
        Some(Outgoing::new(conn, message))
    }

    /// Emits the answers of the protocol itself.
    fn reply(&mut self, conn: u32, replies: Vec<Outgoing>, decisions: &mut Vec<Decision>) {
        if replies.iter().any(|outgoing| outgoing.closes) {
            self.ended.insert(conn);
        }
        decisions.push(Decision::Replies(replies));
    }

    /// Counts a request that opens a session, if it is answered.
    fn count_hello(&mut self, decoded: &Decoded<'_>, is_answered: bool) {
        let asks = decoded.message.role == Some(Role::Request);
        let is_hello = asks && decoded.protocol.is_hello(decoded.message);
        self.report.hellos += u64::from(is_hello && is_answered);
    }

    /// Reports the source of an answer. Misses are limited. Returns `true` if it was reported.
    fn report_outcome(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        outcome: AnswerSource<'_>,
    ) -> bool {
        let is_reported = !matches!(outcome, AnswerSource::UnansweredRequest(_))
            || self.rate_limit.allows(self.now);
        if is_reported {
            self.watch.received(decoded, verdict, outcome);
        }
        is_reported
    }

    /// Decides how a decoded message is answered.
    pub(super) fn decide(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        replies: Vec<Outgoing>,
        peer: &mut dyn Peer,
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
        // An acknowledgement is not the answer, unless a rule sends notifications about its topic.
        let subject = decoded.message.subject.as_deref();
        let may_notify = subject.is_some_and(|subject| self.may_notify(subject));
        let is_open = is_request
            && replies
                .iter()
                .all(|outgoing| outgoing.acknowledges && !may_notify);
        let (spent, unknown) = match self.choose(decoded, verdict, is_open && parts.is_empty()) {
            Ok(at) => return self.answer_by_rule(at, decoded, verdict, replies),
            Err(why) => why,
        };
        if protocol.is_hello(decoded.message)
            && let Some(job) = self.hello(decoded, &mut replies)
        {
            self.count_hello(decoded, true);
            self.watch
                .received(decoded, verdict, AnswerSource::Protocol);
            return Decision::Start(replies, Box::new(job));
        }
        if is_open && !parts.is_empty() && parts.len() <= MAX_BATCH_CALLS {
            let parts: Vec<String> = parts.into_iter().map(json_of).collect();
            let parts = parts.iter().map(|part| self.part(decoded, part, peer));
            let parts = parts.collect();
            return Decision::Batch(Request::of(&decoded.seen()), parts);
        }
        let is_shut = replies.iter().any(|outgoing| outgoing.closes);
        if is_shut {
            self.ended.insert(conn);
        }
        let is_missed =
            is_open || is_request && is_shut && replies.iter().all(|s| s.message.is_empty());
        if !is_missed {
            let why = "not a message of the protocol";
            let outcome = match decoded.message.role {
                None if replies.is_empty() => AnswerSource::UnansweredRequest(why),
                _ => AnswerSource::Protocol,
            };
            self.count_hello(decoded, !replies.is_empty());
            self.report_outcome(decoded, verdict, outcome);
            return Decision::Replies(replies);
        }
        let what = MessageName::of(decoded.message).to_string();
        let what = shorten(&what, MAX_NAME_LENGTH);
        let is_unknown = spent.is_none() && !self.matcher.knows(decoded.message.subject.as_deref());
        let why = if is_shut {
            format!("{what} is not answered: the connection is closed")
        } else {
            self.why_missed(&what, spent, unknown)
        };
        self.report.requests += 1;
        self.report.miss(decoded.index, conn, &what, &why);
        let is_reported =
            self.report_outcome(decoded, verdict, AnswerSource::UnansweredRequest(&why));
        self.changed();
        if is_shut {
            return Decision::Replies(replies);
        }
        let request = Request {
            is_unknown,
            ..Request::of(&decoded.seen())
        };
        Decision::Miss(request, why, is_reported)
    }

    /// Says why no rule answers a request: the rule that answered earlier ones, or another reason.
    fn why_missed(&self, what: &str, spent: Option<usize>, other: Option<String>) -> String {
        match (spent.and_then(|at| self.rules.get(at)), other) {
            (Some(rule), _) => {
                let times = rule.times.unwrap_or_default();
                format!("{what} is used up: {} answers it {times}×", rule.place)
            }
            (None, Some(why)) => why,
            (None, None) => format!("{what} has no rule"),
        }
    }

    /// Completes the answer to a hello; returns the job of the script after it.
    fn hello(&mut self, decoded: &Decoded<'_>, replies: &mut Vec<Outgoing>) -> Option<Job> {
        // Over HTTP, the sessions of all clients use one stub.
        let is_request = decoded.message.role == Some(Role::Request);
        if is_request && decoded.frame.framing == Framing::Http {
            self.matcher.begin_session();
        }
        let what = MessageName::of(decoded.message).to_string();
        self.replace_hello(&what, decoded, replies);
        let is_refused = replies.iter().any(|outgoing| outgoing.closes);
        self.after_hello(&what, decoded).filter(|_| !is_refused)
    }
}

/// Describes bytes that are no message of the protocol.
fn foreign(decoded: &Decoded<'_>) -> String {
    let name = decoded.protocol.name();
    let look_alike = short_name(decoded.frame.view.bytes);
    let framings = decoded.protocol.descriptor().framings;
    let tip = match look_alike {
        Some(HTTP) if framings.contains(&Framing::Http) => {
            ", which `--listen http://HOST:PORT` reads"
        }
        _ => "",
    };
    let look_alike = look_alike.map_or(String::new(), |what| {
        format!(" (this looks like {what}{tip})")
    });
    format!("not a message of {name}{look_alike}: closed")
}

/// Detects a first frame that can never be a message. The decoder would skip it and wait.
pub(super) fn undecodable_start(endpoint: &Endpoint<'_>, channel: Channel) -> Option<Decision> {
    let conn = channel.conn;
    let half = endpoint.partial_of(channel)?;
    let fault = half
        .fault
        .filter(|fault| !matches!(fault.code, "truncated" | "ends-early"))?;
    let name = endpoint.protocol().name();
    let who = format!("#{conn}: offset {}: {fault}", half.offset);
    Some(Decision::Foreign(
        conn,
        format!("{who}: not a message of {name}: closed"),
    ))
}
