//! Messages that no plan has: each goes out as it comes, and whatever is answered is shown.

use super::compare::not_greeted;
use super::{Client, Event, Progress, Run, Stage};
use crate::conversation::Finding;
use crate::decoder::Decoded;
use crate::diff::Which;
use crate::framing::Head;
use crate::live::endpoint::{Endpoint, Received};
use crate::live::handler::{Command, Ended};
use crate::live::plan::CONN;
use crate::protocol::Role;
use crate::protocol::peer::{Readiness, Says};
use crate::protocol::session::Severity;

/// How often it is looked whether there is more to say, in nanoseconds.
const LOOK: i64 = 20_000_000;

/// What is to be said next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A message, as `decode -f json` would show it.
    Message(String),
    /// What is no message: why.
    Bad(String),
    /// Not known yet.
    Wait,
    /// Nothing more.
    End,
}

/// Where messages come from.
pub(super) struct Feed<'p> {
    source: Box<dyn FnMut() -> Input + Send + 'p>,
    /// The protocol's own hello comes first.
    greets: bool,
    /// A message that has its turn when it can be said.
    pub(super) next: Option<String>,
    is_last: bool,
    looked: i64,
    /// The connection ends: what the session closes with it stays owed.
    pub(super) ends: bool,
}

impl<'p> Feed<'p> {
    pub(super) fn new(source: Box<dyn FnMut() -> Input + Send + 'p>, greets: bool) -> Self {
        Self {
            source,
            greets,
            next: None,
            is_last: false,
            looked: 0,
            ends: false,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_last && self.next.is_none()
    }
}

impl Client<'_> {
    /// Says the next message of the feed, if there is one whose turn it is.
    pub(super) fn send_next(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let Self { endpoint, run, .. } = self;
        let stage = run.stage(CONN);
        if !matches!(stage, Stage::Open | Stage::Rests) || !run.pull(now, commands) {
            return false;
        }
        let Some(feed) = run.feed.as_ref().filter(|feed| feed.next.is_some()) else {
            // It was none.
            return run.feed.as_ref().is_some_and(|feed| !feed.is_last);
        };
        let greets = feed.greets;
        if run.settings.in_order && run.owes_any() {
            return false;
        }
        if stage == Stage::Rests && endpoint.is_quiet() {
            run.set(CONN, Stage::Dialled);
            run.goes_on(now);
            commands.push(Command::Connect(CONN));
        }
        if !endpoint.is_free(CONN) {
            return false;
        }
        match endpoint.readiness(CONN) {
            Readiness::Waits(_) if greets => return false,
            Readiness::Refused(why) if greets => {
                run.take_next();
                run.bad(why, commands);
                run.stops = true;
                return false;
            }
            _ => {}
        }
        let says = Says::new(CONN, run.take_next());
        match endpoint.say(&says, None, now, commands) {
            Ok(index) => {
                run.outcome.sent += 1;
                run.goes_on(now);
                run.greets(endpoint, CONN, now);
                if let Some(index) = index {
                    let number = run.steps.len();
                    run.said.insert(index, number);
                    run.steps.push(Progress::default());
                    run.note(number, |progress| {
                        progress.sent = Some(now);
                        progress.index = Some(index);
                        progress.last = now;
                        progress.done = !endpoint.is_open(index);
                    });
                }
            }
            Err(refusal) => run.bad(refusal.to_string(), commands),
        }
        true
    }
}

impl Run<'_> {
    /// Asks for the next message where none waits; whether there is something new.
    fn pull(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let Some(feed) = &mut self.feed else {
            return false;
        };
        if feed.next.is_some() || feed.is_last {
            return feed.next.is_some();
        }
        feed.looked = now;
        match (feed.source)() {
            Input::Message(message) => feed.next = Some(message),
            Input::End => feed.is_last = true,
            Input::Wait => return false,
            Input::Bad(why) => {
                self.bad(why, commands);
                return true;
            }
        }
        self.goes_on(now);
        true
    }

    fn take_next(&mut self) -> String {
        let feed = self.feed.as_mut();
        feed.and_then(|feed| feed.next.take()).unwrap_or_default()
    }

    /// When it is looked for the next message.
    pub(super) fn looks_at(&self) -> Option<i64> {
        let feed = self.feed.as_ref().filter(|_| !self.is_dialling())?;
        let looks = feed.next.is_none() && !feed.is_last;
        looks.then(|| feed.looked.saturating_add(LOOK))
    }

    /// Whether the one connection is not open yet.
    pub(super) fn is_dialling(&self) -> bool {
        self.feed.is_some() && self.stage(CONN) == Stage::Dialled
    }

    /// The message that waits, and what for.
    pub(super) fn held_input(&self, endpoint: &Endpoint<'_>) -> Option<(Which, String)> {
        self.feed.as_ref()?.next.as_ref()?;
        let which = Which {
            index: self.outcome.sent,
            conn: None,
            direction: Some(endpoint.side()),
            what: "the next message".into(),
        };
        let why = match endpoint.readiness(CONN) {
            Readiness::Waits(what) => what.to_owned(),
            Readiness::Ready | Readiness::Refused(_) => "the answer before it".into(),
        };
        Some((which, why))
    }

    /// What the session has closed without a word is owed no more. Only whether any is left matters, and since when.
    pub(super) fn settle_sent(&mut self, endpoint: &Endpoint<'_>) {
        while self.feed.as_ref().is_some_and(|feed| !feed.ends)
            && let Some((_, number)) = self.owed.first().copied()
            && !self.is_open(number, endpoint)
        {
            self.note(number, |progress| progress.done = true);
        }
    }

    /// The connection ends: what is closed by then is owed no more, what closes with it is.
    pub(super) fn closes(&mut self, conn: u32, endpoint: &Endpoint<'_>) {
        let feed = self.feed.as_mut().filter(|_| conn == CONN);
        if feed.is_some_and(|feed| !std::mem::replace(&mut feed.ends, true)) {
            let owed: Vec<usize> = self.owed.iter().map(|(_, number)| *number).collect();
            for number in owed {
                if !self.is_open(number, endpoint) {
                    self.note(number, |progress| progress.done = true);
                }
            }
        }
    }

    fn is_open(&self, number: usize, endpoint: &Endpoint<'_>) -> bool {
        let index = self.steps.get(number).and_then(|step| step.index);
        index.is_some_and(|index| endpoint.is_open(index))
    }

    /// The one connection has ended.
    pub(super) fn feed_ended(
        &mut self,
        how: &Ended,
        again: bool,
        readiness: &Readiness,
        endpoint: &Endpoint<'_>,
        commands: &mut Vec<Command>,
    ) {
        let text = match how {
            Ended::Closed | Ended::Eof => "the connection was closed".to_owned(),
            Ended::Reset => "the connection was cut".to_owned(),
            Ended::Exited(status) => format!("the child ended with status {status}"),
            Ended::Refused(why) => return self.trouble(why.clone()),
        };
        if again && self.stage(CONN) == Stage::Open && self.owed.is_empty() && !self.stops {
            return self.set(CONN, Stage::Rests);
        }
        self.set(CONN, Stage::Over);
        if std::mem::replace(&mut self.stops, true) {
            return;
        }
        let was_greeted = self.greeted.contains(&(CONN, ""));
        let Some(feed) = &mut self.feed else {
            return;
        };
        let unsaid = feed.next.is_some() || matches!((feed.source)(), Input::Message(_));
        let what = match self.owed.len() {
            0 if !unsaid => return,
            0 if feed.greets && !was_greeted => not_greeted(endpoint.protocol(), readiness),
            0 => "before all was said".to_owned(),
            1 => "before its answer came".to_owned(),
            n => format!("before {n} answers came"),
        };
        self.bad(format!("{text} {what}"), commands);
    }

    /// Something that should not be so, told.
    fn bad(&mut self, why: String, commands: &mut Vec<Command>) {
        self.outcome.differ += 1;
        (self.observer)(Event::Note(why), commands);
    }

    /// A message of the other side, while nothing is compared.
    pub(super) fn show(&mut self, received: &Received<'_>, now: i64, commands: &mut Vec<Command>) {
        let decoded = received.decoded;
        let role = decoded.message.role;
        let passive = matches!(role, Some(Role::Heartbeat | Role::Control));
        if passive && is_refusal(decoded) {
            self.outcome.differ += 1;
            (self.observer)(Event::Received(decoded, received.verdict), commands);
        }
        if decoded.frame.control.is_some() || passive {
            return;
        }
        self.last = now;
        let mut findings = received.verdict.findings.iter();
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        if role == Some(Role::Error) || decoded.is_faulty() || findings.any(is_error) {
            self.outcome.differ += 1;
        }
        let answer = received.verdict.answer;
        let asked = answer.and_then(|answer| self.said.get(&answer.to).copied());
        if let Some((number, answer)) = asked.zip(answer)
            && self.is_owed(number)
        {
            self.progressed = now;
            self.note(number, |progress| {
                progress.last = now;
                progress.done |= answer.last;
            });
        }
        // What the protocol says of its own is nobody's answer, unless it is a no.
        let push = answer.is_none() && received.replies.is_empty() && role != Some(Role::Hello);
        if asked.is_some() || push || role == Some(Role::Error) {
            (self.observer)(Event::Received(decoded, received.verdict), commands);
        }
    }
}

/// Whether HTTP itself says no: to a message that nobody reads there is no other answer.
fn is_refusal(decoded: &Decoded<'_>) -> bool {
    matches!(
        decoded.frame.head,
        Head::Http {
            status: 400..,
            event: false,
            ..
        }
    )
}
