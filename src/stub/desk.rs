//! Decides what is done about each message that is heard.
//!
//! ```text
//!   heard --> Resume    the answer to what a job asked
//!         --> Start     a rule, or a recorded request
//!         --> Replies   what the protocol itself answers
//!         --> Miss      nobody has an answer
//!         --> Stranger  it speaks something else
//! ```

use super::book::WIDE;
use super::value;
use super::{Book, Deed, Fate, Report, Rule, Watch};
use crate::conversation::party::{Heard, Party};
use crate::decoder::Decoded;
use crate::diff::Kept;
use crate::player::Live;
use crate::protocol::Role;
use crate::protocol::peer::{Request, Says};
use crate::render::style::shorten;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Nanoseconds from one report to the next.
const EVERY: i64 = 100_000_000;

/// A request that is being answered.
pub(super) struct Job {
    pub(super) request: Request,
    pub(super) place: Arc<str>,
    pub(super) deeds: Arc<[Deed]>,
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
    /// What recorded values are this time.
    pub(super) live: Option<Live>,
    /// Something of it was said.
    pub(super) answered: bool,
}

/// Decides what is done about each message.
pub(super) struct Desk<'p> {
    pub(super) book: Option<Book<'p>>,
    pub(super) rules: Vec<Rule>,
    pub(super) report: Report,
    /// The report changed since it was told, and when that was.
    pub(super) stale: bool,
    pub(super) told: i64,
    /// Messages of ours that jobs wait for the answers of.
    pub(super) asked: HashMap<u64, u64>,
    /// Connections on which something was understood.
    pub(super) greeted: BTreeSet<u32>,
    pub(super) stdio: bool,
    pub(super) scratch: Vec<u8>,
    pub(super) watch: Box<dyn Watch>,
}

/// What is to be done about a message.
pub(super) enum Found {
    /// What the protocol itself answers, in its turn among the rest.
    Replies(Vec<Says>),
    Start(Job),
    /// The job, the message of it that was answered, and the answer.
    Resume(u64, u64, String),
    Miss(Request, String),
    Stranger(u32, String),
}

impl Found {
    /// The connection that it is about.
    pub(super) fn conn(&self) -> Option<u32> {
        match self {
            Self::Replies(says) => says.first().map(|says| says.conn),
            Self::Start(job) => Some(job.request.conn),
            Self::Miss(request, _) => Some(request.conn),
            Self::Stranger(conn, _) => Some(*conn),
            Self::Resume(..) => None,
        }
    }
}

impl Desk<'_> {
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

    pub(super) fn hear(&mut self, heard: Heard<'_>, found: &mut Vec<Found>) {
        let Heard {
            decoded,
            verdict,
            replies,
        } = heard;
        if decoded.frame.control.is_some() && !decoded.is_faulty() {
            return;
        }
        let conn = decoded.origin.conn.unwrap_or_default();
        let mut replies = std::mem::take(replies);
        if decoded.is_faulty() {
            // A line can be skipped; where a length lied, nobody knows what follows.
            let lost = decoded.frame.fault.is_some() || !self.greeted.contains(&conn);
            let (offset, fault) = decoded
                .faults()
                .next()
                .map_or((0, String::new()), |(at, e)| (at, e.to_string()));
            let who = format!("#{conn}: offset {offset}: {fault}");
            if lost && !self.stdio {
                let name = decoded.protocol.name();
                let seems = seems(decoded.frame.view.bytes)
                    .map_or(String::new(), |what| format!(" (this looks like {what})"));
                found.push(Found::Stranger(
                    conn,
                    format!("{who}: that is no {name}{seems}: closed"),
                ));
                return;
            }
            if decoded.message.role.is_none() {
                self.watch.heard(decoded, verdict, Fate::Protocol);
                found.push(Found::Replies(replies));
                return;
            }
        }
        self.greeted.insert(conn);
        let to = verdict.answer.map(|answer| answer.to).unwrap_or_default();
        if let Some(job) = verdict.answer.and_then(|_| self.asked.remove(&to)) {
            found.push(Found::Resume(job, to, Request::of(&decoded.seen()).message));
            return;
        }
        let is_request = decoded.message.role == Some(Role::Request);
        let is_open = is_request && replies.is_empty();
        let mut spent = None;
        for (rule, tally) in self.rules.iter().zip(&mut self.report.rules) {
            let fits = match &rule.when {
                Some(when) => when.holds(decoded, Some(verdict), &mut self.scratch),
                None => is_open,
            };
            if !fits {
                continue;
            }
            if rule.times.is_some_and(|times| tally.asked >= times) {
                spent = Some(rule);
                continue;
            }
            tally.asked += 1;
            self.report.requests += 1;
            if !rule.answers {
                // An acknowledgement goes before what follows it; a refusal does not.
                replies.retain(|says| !rule.goes_on || !refuses(says));
                found.push(Found::Replies(std::mem::take(&mut replies)));
            }
            self.watch.heard(decoded, verdict, Fate::Rule(&rule.place));
            found.push(Found::Start(Job {
                request: Request::of(&decoded.seen()),
                place: rule.place.as_str().into(),
                deeds: Arc::clone(&rule.deeds),
                at: 0,
                answer: None,
                count: tally.asked,
                id: 0,
                until: None,
                calls: Vec::new(),
                live: None,
                answered: false,
            }));
            return;
        }
        // What was recorded goes before what the protocol would say; who opens a session speaks of this one.
        let mut unknown = None;
        let is_hello = decoded.protocol.is_hello(decoded.message);
        if is_hello && let Some(book) = &self.book {
            as_recorded(book, &what(decoded), &mut replies);
        }
        let asks = matches!(
            decoded.message.role,
            Some(Role::Request | Role::Notification)
        ) && !is_hello;
        if asks && let Some(book) = &mut self.book {
            match book.find(&Kept::of(decoded, None)) {
                Ok(at) => {
                    let request = Request::of(&decoded.seen());
                    let (index, deeds) = book
                        .entries
                        .get(at)
                        .map_or((0, None), |e| (e.index, Some(Arc::clone(&e.deeds))));
                    let live = book.live(at, &request.message);
                    let count = self.report.recorded.get_mut(at).map_or(1, |tally| {
                        tally.asked += 1;
                        tally.asked
                    });
                    self.report.requests += 1;
                    self.watch.heard(decoded, verdict, Fate::Recorded(index));
                    found.push(Found::Start(Job {
                        request,
                        place: format!("recorded #{index}").into(),
                        deeds: deeds.unwrap_or_else(|| Arc::new([])),
                        at: 0,
                        answer: None,
                        count,
                        id: 0,
                        until: None,
                        calls: Vec::new(),
                        live: Some(live),
                        answered: false,
                    }));
                    return;
                }
                Err(why) if is_request => unknown = Some(why),
                Err(_) => {}
            }
        }
        if !is_open {
            self.watch.heard(decoded, verdict, Fate::Protocol);
            found.push(Found::Replies(replies));
            return;
        }
        let what = what(decoded);
        let what = shorten(&what, WIDE);
        let why = match (spent, unknown) {
            (Some(rule), _) => {
                let times = rule.times.unwrap_or_default();
                format!("{what} is used up: {} answers it {times}×", rule.place)
            }
            (None, Some(why)) => why,
            (None, None) => format!("{what} has no rule"),
        };
        self.report.requests += 1;
        self.report.miss(decoded.index, conn, &what, &why);
        self.watch.heard(decoded, verdict, Fate::Missed(&why));
        found.push(Found::Miss(Request::of(&decoded.seen()), why));
        self.changed();
    }
}

/// A beginning from which no first message will come: the reader would pass over it, and wait.
pub(super) fn lost(party: &Party<'_>, conn: u32) -> Option<Found> {
    let half = party.half_of(conn)?;
    let fault = half
        .fault
        .filter(|fault| !matches!(fault.code, "truncated" | "ends-early"))?;
    let name = party.protocol().name();
    let who = format!("#{conn}: offset {}: {fault}", half.offset);
    Some(Found::Stranger(
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
fn as_recorded(book: &Book<'_>, what: &str, replies: &mut [Says]) {
    for says in replies.iter_mut().filter(|says| !refuses(says)) {
        if let Some(hello) = book.hello(what, &says.message) {
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
