//! Messages without a plan: each is sent when it is read, and the answers are shown.

use super::compare::describe_missing_handshake;
use super::{Client, ClientEvent, ClientRun, ConnectionStage, StepProgress};
use crate::conversation::Finding;
use crate::diff::DiffMessage;
use crate::live::endpoint::{Endpoint, Received};
use crate::live::handler::{Command, Ended};
use crate::live::plan::CONN;
use crate::protocol::Role;
use crate::protocol::peer::{Outgoing, Readiness};
use crate::protocol::session::Severity;

/// Interval between checks for the next message, in nanoseconds.
const READ_INTERVAL: i64 = 20_000_000;

/// The number of stored messages after which those without a pending answer are removed.
const CLEANUP_SIZE: usize = 1 << 12;

/// The result of a read from the source of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedInput {
    /// A message in the form of `decode -f json`.
    Message(String),
    /// The input is not a message, with the reason.
    Bad(String),
    /// No message is available yet.
    Wait,
    /// The end of the input.
    End,
}

/// A source of messages.
pub(super) struct MessageFeed<'p> {
    source: Box<dyn FnMut() -> FeedInput + Send + 'p>,
    /// The hello of the protocol is sent first.
    sends_hello: bool,
    /// The next message, until it can be sent.
    pub(super) next: Option<String>,
    is_last: bool,
    last_read: i64,
    /// Numbers of removed messages, for reuse.
    free: Vec<usize>,
    /// The number of stored messages at which the next removal happens.
    cleanup_at: usize,
    /// The connection ends: requests that the session closes together with it stay pending.
    pub(super) is_closing: bool,
}

impl<'p> MessageFeed<'p> {
    pub(super) fn new(
        source: Box<dyn FnMut() -> FeedInput + Send + 'p>,
        sends_hello: bool,
    ) -> Self {
        Self {
            source,
            sends_hello,
            next: None,
            is_last: false,
            last_read: 0,
            free: Vec::new(),
            cleanup_at: CLEANUP_SIZE,
            is_closing: false,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_last && self.next.is_none()
    }
}

impl Client<'_> {
    /// Sends the next message of the feed if it can be sent. Returns `true` if anything changed.
    pub(super) fn send_next(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let Self { endpoint, run, .. } = self;
        let stage = run.stage(CONN);
        if !matches!(stage, ConnectionStage::Open | ConnectionStage::Reopenable)
            || !run.read_next(now, commands)
        {
            return false;
        }
        let Some(feed) = run.feed.as_ref().filter(|feed| feed.next.is_some()) else {
            // The input was not a message.
            return run.feed.as_ref().is_some_and(|feed| !feed.is_last);
        };
        let sends_hello = feed.sends_hello;
        if run.settings.in_order && run.has_pending() {
            return false;
        }
        if stage == ConnectionStage::Reopenable && endpoint.is_idle() {
            run.set_stage(CONN, ConnectionStage::Connecting);
            run.record_progress(now);
            commands.push(Command::Connect(CONN));
        }
        if !endpoint.can_send(CONN) {
            return false;
        }
        match endpoint.readiness(CONN) {
            Readiness::Waits(_) if sends_hello => return false,
            Readiness::Refused(why) if sends_hello => {
                run.take_next();
                run.report_error(why, commands);
                run.is_stopping = true;
                return false;
            }
            _ => {}
        }
        let outgoing = Outgoing::new(CONN, endpoint.complete(run.take_next()));
        match endpoint.send_message(&outgoing, None, now, commands) {
            Ok(index) => {
                run.outcome.sent += 1;
                run.record_progress(now);
                run.record_handshake(endpoint, CONN, now);
                if let Some(index) = index {
                    let number = run.new_number();
                    run.step_by_index.insert(index, number);
                    run.update_step(number, |progress| {
                        progress.sent = Some(now);
                        progress.index = Some(index);
                        progress.last = now;
                        progress.done = !endpoint.is_open(index);
                    });
                }
            }
            Err(refusal) => run.report_error(refusal.to_string(), commands),
        }
        true
    }
}

impl ClientRun<'_> {
    /// Reads the next message if none waits. Returns `true` if there is a message or an error.
    fn read_next(&mut self, now: i64, commands: &mut Vec<Command>) -> bool {
        let Some(feed) = &mut self.feed else {
            return false;
        };
        if feed.next.is_some() || feed.is_last {
            return feed.next.is_some();
        }
        feed.last_read = now;
        match (feed.source)() {
            FeedInput::Message(message) => feed.next = Some(message),
            FeedInput::End => feed.is_last = true,
            FeedInput::Wait => return false,
            FeedInput::Bad(why) => {
                self.report_error(why, commands);
                return true;
            }
        }
        self.record_progress(now);
        true
    }

    /// Returns a number for one more message. Messages are stored while they may be answered, and if one of several
    /// answers has come.
    fn new_number(&mut self) -> usize {
        if let Some(feed) = &mut self.feed {
            if self.step_by_index.len() >= feed.cleanup_at {
                let steps = &self.steps;
                self.step_by_index.retain(|_, number| {
                    let progress = steps.get(*number).copied().unwrap_or_default();
                    let is_kept = !progress.done || progress.got > 0;
                    if !is_kept {
                        feed.free.push(*number);
                    }
                    is_kept
                });
                feed.cleanup_at = CLEANUP_SIZE.max(2 * self.step_by_index.len());
            }
            if let Some(number) = feed.free.pop() {
                if let Some(slot) = self.steps.get_mut(number) {
                    *slot = StepProgress::default();
                }
                return number;
            }
        }
        self.steps.push(StepProgress::default());
        self.steps.len() - 1
    }

    fn take_next(&mut self) -> String {
        let feed = self.feed.as_mut();
        feed.and_then(|feed| feed.next.take()).unwrap_or_default()
    }

    /// Returns the time at which the source is read again.
    pub(super) fn next_read(&self) -> Option<i64> {
        let feed = self.feed.as_ref().filter(|_| !self.is_connecting())?;
        let is_reading = feed.next.is_none() && !feed.is_last;
        is_reading.then(|| feed.last_read.saturating_add(READ_INTERVAL))
    }

    /// Returns `true` while the connection is not open yet.
    pub(super) fn is_connecting(&self) -> bool {
        self.feed.is_some() && self.stage(CONN) == ConnectionStage::Connecting
    }

    /// Returns the message that waits, with the reason.
    pub(super) fn blocked_input(&self, endpoint: &Endpoint<'_>) -> Option<(DiffMessage, String)> {
        self.feed.as_ref()?.next.as_ref()?;
        let description = DiffMessage {
            index: self.outcome.sent,
            conn: None,
            direction: Some(endpoint.side()),
            what: "the next message".into(),
        };
        let why = match endpoint.readiness(CONN) {
            Readiness::Waits(what) => what.into_owned(),
            Readiness::Ready | Readiness::Refused(_) => "the answer before it".into(),
        };
        Some((description, why))
    }

    /// Completes messages that the session has closed without an answer. Only the oldest matters, so the check stops
    /// there.
    pub(super) fn complete_closed(&mut self, endpoint: &Endpoint<'_>) {
        while self.feed.as_ref().is_some_and(|feed| !feed.is_closing)
            && let Some((_, number)) = self.pending.first().copied()
            && !self.is_open(number, endpoint)
        {
            self.update_step(number, |progress| progress.done = true);
        }
    }

    /// The connection ends: completes messages that are closed by now. Those that close with the connection stay
    /// pending.
    pub(super) fn complete_before_close(&mut self, conn: u32, endpoint: &Endpoint<'_>) {
        let feed = self.feed.as_mut().filter(|_| conn == CONN);
        if feed.is_some_and(|feed| !std::mem::replace(&mut feed.is_closing, true)) {
            let pending: Vec<usize> = self.pending.iter().map(|(_, number)| *number).collect();
            for number in pending {
                if !self.is_open(number, endpoint) {
                    self.update_step(number, |progress| progress.done = true);
                }
            }
        }
    }

    fn is_open(&self, number: usize, endpoint: &Endpoint<'_>) -> bool {
        let index = self.steps.get(number).and_then(|step| step.index);
        index.is_some_and(|index| endpoint.is_open(index))
    }

    /// Handles the end of the connection.
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
            Ended::Refused(why) => return self.fail(why.clone()),
        };
        if again
            && self.stage(CONN) == ConnectionStage::Open
            && (self.pending.is_empty() || endpoint.has_event_streams())
            && !self.is_stopping
        {
            return self.set_stage(CONN, ConnectionStage::Reopenable);
        }
        self.set_stage(CONN, ConnectionStage::Ended);
        if std::mem::replace(&mut self.is_stopping, true) {
            return;
        }
        let is_ready = self.handshakes.contains(&(CONN, "".into()));
        let Some(feed) = &mut self.feed else {
            return;
        };
        let unsent = feed.next.is_some() || matches!((feed.source)(), FeedInput::Message(_));
        let pending = self.pending.len();
        let what = match pending {
            _ if endpoint.has_streams() && !unsent => return,
            0 if !unsent => return,
            0 if feed.sends_hello && !is_ready => {
                describe_missing_handshake(endpoint.protocol(), readiness)
            }
            0 => "before all messages were sent".to_owned(),
            1 => "before its answer came".to_owned(),
            n => format!("before {n} answers came"),
        };
        self.report_error(format!("{text} {what}"), commands);
    }

    /// Reports an error as a note.
    fn report_error(&mut self, why: String, commands: &mut Vec<Command>) {
        self.outcome.differ += 1;
        (self.observer)(ClientEvent::Note(why), commands);
    }

    /// Shows a message of the peer. Nothing is compared.
    pub(super) fn show(&mut self, received: &Received<'_>, now: i64, commands: &mut Vec<Command>) {
        let decoded = received.decoded;
        let role = decoded.message.role;
        let passive = matches!(role, Some(Role::Heartbeat | Role::Control));
        if decoded.refusal_status().is_some() {
            self.outcome.differ += 1;
            (self.observer)(ClientEvent::Received(decoded, received.verdict), commands);
        }
        if decoded.frame.control.is_some() || passive {
            return;
        }
        self.last_traffic = now;
        let mut findings = received.verdict.findings.iter();
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        let answer = received.verdict.answer;
        // The caller's messages need no session then.
        let is_opening = answer.is_some_and(|answer| !self.step_by_index.contains_key(&answer.to));
        if is_opening && role == Some(Role::Error) && received.peer.is_without_session() {
            (self.observer)(ClientEvent::Handshake(decoded, received.verdict), commands);
            return;
        }
        let has_failed = role == Some(Role::Error) || decoded.message.failed && answer.is_some();
        if has_failed || decoded.is_faulty() || findings.any(is_error) {
            self.outcome.differ += 1;
        }
        let request = answer.and_then(|answer| self.step_by_index.get(&answer.to).copied());
        if let Some((number, answer)) = request.zip(answer)
            && self.is_pending(number)
        {
            self.last_progress = now;
            self.update_step(number, |progress| {
                progress.last = now;
                progress.done |= answer.last;
            });
        }
        if let Some((number, answer)) = request.zip(answer)
            && let Some(progress) = self.steps.get_mut(number)
        {
            progress.got = usize::from(!answer.last);
        }
        // Messages of the protocol itself are not shown, unless they are errors.
        let push = answer.is_none() && received.replies.is_empty() && role != Some(Role::Hello);
        let event = if request.is_some() || push || role == Some(Role::Error) {
            ClientEvent::Received(decoded, received.verdict)
        } else {
            ClientEvent::Handshake(decoded, received.verdict)
        };
        (self.observer)(event, commands);
    }
}
