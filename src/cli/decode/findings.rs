//! Follows the conversation if findings are shown, or if the selection needs them.

use super::Args;
use crate::capture::Event;
use crate::cli::options::SharedArgs;
use crate::cli::print_message;
use crate::cli::report::FilePlace;
use crate::conversation::{Conversation, Finding, RuleSettings, Verdict};
use crate::decoder::Decoded;
use crate::protocol::session::{Severity, WaitingList};
use crate::render::{DisplayOptions, findings};
use crate::select::{Filter, Key};
use anyhow::Result;

/// Prints the findings of an input that belong to no message to stderr.
pub struct FindingReporter {
    rules: RuleSettings,
    /// Findings are shown, not only used by conditions.
    shows: bool,
    quiet: bool,
    source: String,
    recording: bool,
    /// The last known time.
    now: Option<i64>,
    /// The messages that are awaited at the end.
    waiting: WaitingList,
    /// The worst finding; with `quiet` it is not printed.
    pub worst: Option<Severity>,
}

impl FindingReporter {
    pub fn new(args: &Args, shared: &SharedArgs) -> Result<Self> {
        Ok(Self {
            rules: args.judging.rules()?,
            shows: args.lint,
            quiet: shared.quiet,
            source: String::new(),
            recording: false,
            now: None,
            waiting: WaitingList::default(),
            worst: None,
        })
    }

    /// Returns the rules, if findings are shown or `needed`.
    pub fn rules(&self, needed: bool) -> Option<RuleSettings> {
        (self.shows || needed).then(|| self.rules.clone())
    }

    /// Starts an input.
    pub fn begin(&mut self, source: &str) {
        source.clone_into(&mut self.source);
        self.recording = false;
        self.now = None;
    }

    pub fn header(&mut self) {
        self.recording = true;
    }

    pub fn see(&mut self, decoded: &Decoded<'_>) {
        self.now = decoded.origin.time.or(self.now);
    }

    pub fn event(&mut self, event: &Event<'_>, findings: &[Finding]) {
        self.now = event.origin().time.or(self.now);
        self.found(findings);
    }

    fn found(&mut self, findings: &[Finding]) {
        if self.shows {
            self.worst = self.worst.max(worst(findings));
            print_findings(&self.source, findings, self.quiet);
        }
    }

    /// Stores the messages that are awaited at the end of the input.
    pub fn wait(&mut self, conversation: Option<&Conversation<'_>>) {
        let conversation = conversation.filter(|_| self.shows);
        // The answers to a one-way file are in another file.
        self.waiting = conversation.map_or(WaitingList::default(), |one| {
            one.unanswered(self.recording, findings::MAX_WAITING)
        });
    }

    /// Ends an input: reports the findings at its end and the messages that are awaited.
    pub fn finish(&mut self, conversation: Option<&Conversation<'_>>, findings: &[Finding]) {
        let Some(conversation) = conversation.filter(|_| self.shows) else {
            return;
        };
        self.found(findings);
        let waiting = &self.waiting;
        let source = &self.source;
        for one in conversation.consequences().filter(|_| !self.quiet) {
            print_message(&format!("{source}: {}", findings::consequences(one)));
        }
        if self.quiet || waiting.count == 0 {
            return;
        }
        let (list, sides) = ((source.as_str(), waiting), conversation.sides());
        let (display, mut text) = (DisplayOptions::default(), String::new());
        findings::write_waiting_list(list, self.now, sides, display, &mut text);
        text.lines().for_each(print_message);
    }
}

/// Returns what a message shows of a verdict: all of it with `--lint`, otherwise what conditions and `--pair` use.
pub fn shown<'v>(
    verdict: Option<Verdict<'v>>,
    lint: bool,
    pair: bool,
    filter: &Filter,
) -> Option<Verdict<'v>> {
    if lint || filter.expr().uses(&Key::Findings) {
        return verdict;
    }
    let verdict = verdict.filter(|_| pair || filter.needs_session())?;
    Some(verdict.without_findings())
}

pub fn worst(found: &[Finding]) -> Option<Severity> {
    found.iter().map(|finding| finding.severity).max()
}

fn print_findings(source: &str, found: &[Finding], quiet: bool) {
    for finding in found.iter().filter(|_| !quiet) {
        let mut text = String::new();
        let at = FilePlace::of(source).text(finding.place.offset);
        findings::write_line(finding, &[], &at, DisplayOptions::default(), &mut text);
        print_message(text.trim_end());
    }
}
