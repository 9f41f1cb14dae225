//! Checks the messages of a case: conditions, rules, budgets, and what the server offers.

use super::offers::Offered;
use super::suite::{Budget, Case, Condition};
use crate::capture::line_table::LineColumn;
use crate::capture::{CaptureInput, Event, EventKind, Form, Item, Time};
use crate::conversation::{Finding, Judge, Output, RuleSettings, Run, Verdict};
use crate::decoder::{DecodeOptions, Decoded};
use crate::encoding::Want;
use crate::protocol::session::{Place, SessionConfig};
use crate::protocol::{Direction, Protocol, Role, registry};
use crate::render::DisplayOptions;
use crate::render::findings::{self, duration};
use crate::render::line::Lines;
use crate::select::{Filter, Select};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// The number of problems of a case that are stored; the rest are counted.
const MAX_PROBLEMS: usize = 20;
/// The number of last messages that a failed case shows.
const MAX_LINES: usize = 8;

pub struct CaseProblem {
    /// Its kind, such as `test/expect`, or the rule that is broken.
    pub rule: String,
    /// Its place in the file of tests, if it is about a part of it.
    pub at: Option<LineColumn>,
    pub text: String,
}

impl CaseProblem {
    pub fn new(rule: &str, text: impl Into<String>) -> Self {
        Self {
            rule: format!("test/{rule}"),
            at: None,
            text: text.into(),
        }
    }

    pub fn at(self, at: LineColumn) -> Self {
        Self {
            at: Some(at),
            ..self
        }
    }
}

/// What the messages of a case showed.
#[derive(Default)]
pub struct CheckedMessages {
    pub messages: u64,
    pub problems: Vec<CaseProblem>,
    /// The number of problems that are not stored.
    pub more: u64,
    /// The last messages, as lines.
    pub lines: VecDeque<String>,
    /// Messages without an answer, each with the side that must send it.
    pub waiting: Vec<String>,
    pub offered: Offered,
    pub end: ServerEnd,
}

/// How the process of a server ended. Times are in nanoseconds.
#[derive(Default)]
pub struct ServerEnd {
    /// When it ended its output, although its input had not ended.
    pub closed: Option<Time>,
    /// When its input ended.
    input_ended: Option<Time>,
    /// Its exit status, or the signal that ended it, with the time.
    pub exit: Option<(ExitStatus, Time)>,
}

pub enum ExitStatus {
    Code(i64),
    Signal(i64),
}

/// A process that lives longer than this after the end of its output or input did not end by itself.
const LINGERS: Time = 1_000_000_000;
const SIGKILL: i64 = 9;
const SIGTERM: i64 = 15;

impl ServerEnd {
    fn add(&mut self, event: &Event<'_>) {
        let Some(time) = event.time else {
            return;
        };
        let number = |key: &str| event.more?.get(key)?.as_i64();
        match (event.what, event.direction) {
            (EventKind::Eof, Some(Direction::ToClient)) if self.input_ended.is_none() => {
                self.closed = Some(time);
            }
            (EventKind::Eof, Some(Direction::ToServer)) => self.input_ended = Some(time),
            (EventKind::Exit, _) => {
                let code = number("code").map(ExitStatus::Code);
                let status = code.or_else(|| number("signal").map(ExitStatus::Signal));
                self.exit = status.map(|status| (status, time));
            }
            _ => {}
        }
    }

    /// Returns sentences about an unusual end. `is_named`: the exit status is checked by itself.
    pub fn notes(&self, is_named: bool) -> Vec<String> {
        let mut notes = Vec::new();
        let lives_after = |time: Option<Time>| {
            let ended = self.exit.as_ref().map(|(_, ended)| *ended);
            time.is_some_and(|time| ended.is_none_or(|ended| ended.saturating_sub(time) > LINGERS))
        };
        if lives_after(self.closed) {
            notes.push("the server closed its stdout and did not end".to_owned());
        }
        match &self.exit {
            Some((ExitStatus::Signal(SIGKILL), _)) if lives_after(self.input_ended) => {
                let text =
                    "the server did not end when its stdin ended, nor with SIGTERM: it was killed";
                notes.push(text.to_owned());
            }
            Some((ExitStatus::Signal(SIGTERM), _)) if lives_after(self.input_ended) => {
                let text = "the server did not end when its stdin ended: SIGTERM ended it";
                notes.push(text.to_owned());
            }
            Some((ExitStatus::Code(code), _)) if *code != 0 && !is_named => {
                notes.push(format!("the server ended with status {code}"));
            }
            _ => {}
        }
        notes
    }
}

pub fn check(case: &Case, recording: &[u8]) -> CheckedMessages {
    let named: Vec<&dyn Protocol> = case
        .common
        .protocol
        .into_iter()
        .map(|one| one as _)
        .collect();
    let protocols = match named.as_slice() {
        [] => registry::all()
            .iter()
            .map(|one| *one as &dyn Protocol)
            .collect(),
        _ => named,
    };
    let filters = case.conditions.iter().map(|condition| {
        let conditions = vec![condition.expr.clone()];
        let select = Select {
            conditions,
            ..Select::default()
        };
        (select.filter(), 0)
    });
    let mut check = MessageCheck {
        case,
        filters: filters.collect(),
        lines: Lines::default(),
        scratch: Vec::new(),
        found: CheckedMessages::default(),
        slowest: None,
        bytes: 0,
        calls: 0,
        times: None,
    };
    let rules = RuleSettings {
        judge: Judge {
            levels: [
                crate::cli::config::settings().rules().collect(),
                case.common.levels.clone(),
            ]
            .concat(),
            ..Judge::default()
        },
        session: SessionConfig::default(),
        operations: check
            .filters
            .iter()
            .any(|(filter, _)| filter.needs_operations()),
    };
    let options = DecodeOptions {
        want: Want::Places,
        ..DecodeOptions::new(protocols)
    };
    let mut run = Run::new(CaptureInput::new(Form::Recording), options, Some(rules));
    let _ = run.read_all(recording, &mut |output: Output<'_>| -> ControlFlow<()> {
        check.take(output);
        ControlFlow::Continue(())
    });
    check.finish()
}

struct MessageCheck<'c> {
    case: &'c Case,
    /// The conditions of the case, with the number of messages that match.
    filters: Vec<(Filter, u64)>,
    lines: Lines,
    scratch: Vec<u8>,
    found: CheckedMessages,
    /// The slowest answer: nanoseconds, and its text.
    slowest: Option<(i64, String)>,
    bytes: u64,
    calls: u64,
    /// The first and the last time.
    times: Option<(i64, i64)>,
}

impl MessageCheck<'_> {
    fn take(&mut self, output: Output<'_>) {
        match output {
            Output::Message(decoded, verdict) => self.message(decoded, verdict.unwrap_or_default()),
            Output::BeforeEnd(run) => self.wait(run),
            Output::Item(Item::Event(event), _) => self.found.end.add(event),
            _ => self.findings(output.findings()),
        }
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        self.found.messages += 1;
        self.bytes += decoded.frame.len;
        if let Some(time) = decoded.origin.time {
            let (first, _) = self.times.unwrap_or((time, time));
            self.times = Some((first, time));
        }
        let is_to_server = decoded.origin.direction == Some(Direction::ToServer);
        let role = decoded.message.role;
        let is_request = role == Some(Role::Request) && is_to_server;
        if is_request && !decoded.protocol.is_hello(decoded.message) {
            self.calls += 1;
        }
        let mut is_expected = false;
        for ((filter, count), condition) in self.filters.iter_mut().zip(&self.case.conditions) {
            if filter.matches(decoded, Some(verdict), &mut self.scratch) {
                *count += 1;
                is_expected |= condition.least > 0;
            }
        }
        let mut line = String::new();
        let display = DisplayOptions::default();
        self.lines.write(
            decoded,
            Some(verdict.without_findings()),
            display,
            &mut line,
        );
        let line = line.trim_end().to_owned();
        if let Some(answer) = verdict.answer
            && let Some(latency) = answer.latency
            && self
                .slowest
                .as_ref()
                .is_none_or(|(most, _)| latency > *most)
        {
            let of = answer.subject.as_deref().unwrap_or(&answer.kind);
            self.slowest = Some((latency, format!("{of} #{}", answer.to)));
        }
        let has_failed = role == Some(Role::Error) || decoded.message.failed;
        if decoded.is_faulty() {
            for (at, fault) in decoded.faults().take(1) {
                let text = format!("#{} at byte {at}: {fault}", decoded.index);
                self.add(CaseProblem::new("fault", text));
            }
        } else if has_failed && !is_expected && !is_to_server {
            let text = format!(
                "#{} is an error that no condition of expect names: {}",
                decoded.index,
                one_line(&line)
            );
            self.add(CaseProblem::new("error", text));
        }
        self.found.offered.add(decoded, verdict.answer);
        if self.found.lines.len() == MAX_LINES {
            self.found.lines.pop_front();
        }
        self.found.lines.push_back(line);
        self.findings(verdict.findings);
    }

    fn findings(&mut self, findings: &[Finding]) {
        let least = self.case.common.fail_on;
        for finding in findings {
            if least.is_none_or(|least| finding.severity < least) {
                continue;
            }
            let index = match finding.place.index {
                Place::NO_MESSAGE => String::new(),
                index => format!("#{index}: "),
            };
            self.add(CaseProblem {
                rule: finding.name(),
                at: None,
                text: format!("{index}{}", finding.text),
            });
        }
    }

    /// Stores the messages that are awaited at the end, with the side that must send them.
    fn wait(&mut self, run: &Run<'_>) {
        let Some(conversation) = run.conversation() else {
            return;
        };
        let list = conversation.unanswered(true, MAX_PROBLEMS);
        let now = self.times.map(|(_, last)| last);
        for one in &list.first {
            let mut text = String::new();
            let display = DisplayOptions::default();
            findings::write_waiting(one, now, conversation.sides(), display, &mut text);
            self.found.waiting.push(text.trim().to_owned());
        }
    }

    fn add(&mut self, problem: CaseProblem) {
        if self.found.problems.len() < MAX_PROBLEMS {
            self.found.problems.push(problem);
        } else {
            self.found.more += 1;
        }
    }

    fn finish(mut self) -> CheckedMessages {
        for ((_, count), condition) in self.filters.iter().zip(&self.case.conditions) {
            if let Some(text) = describe_count(condition, *count) {
                let rule = if condition.most == Some(0) {
                    "never"
                } else {
                    "expect"
                };
                self.found
                    .problems
                    .push(CaseProblem::new(rule, text).at(condition.at));
            }
        }
        let Budget {
            latency,
            time,
            bytes,
            calls,
        } = self.case.common.budget;
        let ns = |time: std::time::Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let mut over = |rule: &str, text: String| {
            self.found.problems.push(CaseProblem::new(rule, text));
        };
        if let (Some(most), Some((slowest, of))) = (latency.map(ns), &self.slowest)
            && *slowest > most
        {
            let (took, most) = (duration(*slowest), duration(most));
            over(
                "latency",
                format!("the answer to {of} took {took}, at most {most} are allowed"),
            );
        }
        let took = self
            .times
            .map_or(0, |(first, last)| last.saturating_sub(first));
        if let Some(most) = time.map(ns).filter(|most| took > *most) {
            let (took, most) = (duration(took), duration(most));
            over(
                "time",
                format!("the messages took {took}, at most {most} are allowed"),
            );
        }
        for (rule, count, most) in [("bytes", self.bytes, bytes), ("calls", self.calls, calls)] {
            if let Some(most) = most.filter(|most| count > *most) {
                over(rule, format!("{count} {rule}, at most {most} are allowed"));
            }
        }
        self.found
    }
}

/// Returns what is wrong with the number of messages that match a condition.
fn describe_count(condition: &Condition, count: u64) -> Option<String> {
    let text = &condition.text;
    let some = match count {
        0 => "no message matches".to_owned(),
        1 => "1 message matches".to_owned(),
        n => format!("{n} messages match"),
    };
    match (condition.least, condition.most) {
        (_, Some(0)) if count > 0 => Some(format!("{some} `{text}`, none may")),
        (least, Some(most)) if least == most && count != least => {
            Some(format!("{some} `{text}`, {least} must"))
        }
        (1, _) if count == 0 => Some(format!("{some} `{text}`")),
        (least, _) if count < least => Some(format!("{some} `{text}`, at least {least} must")),
        (_, Some(most)) if count > most => Some(format!("{some} `{text}`, at most {most} may")),
        _ => None,
    }
}

/// Returns a line with single spaces.
fn one_line(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
