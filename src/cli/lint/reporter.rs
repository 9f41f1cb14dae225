//! Reports findings.

use super::super::output::{CommandOutput, without_nulls};
use super::super::report::{FilePlace, ReportWriter};
use super::super::unmatched::Unmatched;
use super::super::{count_text, print_message, print_wrapped};
use super::source::SourceSummary;
use crate::conversation::{Conversation, Finding, Run, Verdict, full_name};
use crate::decoder::{Decoded, Partial};
use crate::encoding::json;
use crate::error::with_flags;
use crate::export::Form as _;
use crate::protocol::Direction;
use crate::protocol::session::{Need, Place, Severity, WaitingList};
use crate::render::style::{Highlight, Style};
use crate::render::{DisplayOptions, findings};
use crate::select::Filter;
use anyhow::Result;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// The maximum number of findings that are stored to print the most severe first.
const MAX_HELD: usize = 1 << 16;
/// The maximum length of their texts.
const MAX_HELD_TEXT: usize = 16 << 20;

/// A rule that was not judged, and what is missing for that.
type UnjudgedRule = (String, Need);

/// Reports findings.
pub struct FindingWriter {
    /// Selects the messages whose findings are reported.
    pub filter: Filter,
    pub unmatched: Unmatched,
    pub scratch: Vec<u8>,
    pub quiet: bool,
    pub json: bool,
    pub most: u64,
    pub display: DisplayOptions,
    pub output: CommandOutput,
    pub report: Option<ReportWriter>,
    /// The severity that fails the command.
    pub fail_on: Option<Severity>,
    pub source: SourceSummary,
    pub worst: Severity,
    /// The number of messages that match the condition, of all inputs.
    pub matched: u64,
}

impl FindingWriter {
    /// Begins an input.
    pub fn begin(&mut self, run: &Run<'_>) {
        if let Some(ReportWriter::Html(page)) = &mut self.report {
            page.begin(run, self.output.buffer());
        }
        self.source = SourceSummary::new(run.source());
    }

    /// Adds the findings of a message, if it is selected.
    pub fn add_message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) -> Result<()> {
        // Without a condition, most messages need no second look.
        let is_page = matches!(self.report, Some(ReportWriter::Html(_)));
        if self.filter.is_open() && verdict.findings.is_empty() && !is_page {
            return Ok(());
        }
        if self
            .filter
            .matches(decoded, Some(verdict), &mut self.scratch)
        {
            self.source.matched += 1;
            self.matched += 1;
            if let Some(ReportWriter::Html(page)) = &mut self.report {
                page.message(decoded, verdict, self.output.buffer());
                self.output.written()?;
            }
            return self.add_findings(verdict.findings);
        }
        if self.matched == 0 {
            self.unmatched.add(decoded);
        }
        Ok(())
    }

    /// Adds findings between messages or at the end; with a condition they are not reported.
    pub fn add(&mut self, found: &[Finding]) -> Result<()> {
        if self.filter.is_open() {
            if let Some(ReportWriter::Html(page)) = &mut self.report {
                page.findings(found, self.output.buffer());
            }
            self.add_findings(found)
        } else {
            Ok(())
        }
    }

    fn add_findings(&mut self, found: &[Finding]) -> Result<()> {
        for finding in found {
            self.worst = self.worst.max(finding.severity);
            *self.source.counts.entry(finding.severity).or_default() += 1;
            let count = self.source.rules.entry(finding.name()).or_default();
            *count += 1;
            let shown = !self.quiet && (self.most == 0 || *count <= self.most);
            if shown || self.json || self.report.is_some() {
                self.source.held_text += finding.text.len();
                self.source.held.push(finding.clone());
            }
        }
        if self.source.held.len() > MAX_HELD || self.source.held_text > MAX_HELD_TEXT {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the stored findings in the selected format, the most severe first.
    pub fn flush(&mut self) -> Result<()> {
        let mut held = std::mem::take(&mut self.source.held);
        self.source.held_text = 0;
        held.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let separate = self.json || self.report.is_some();
        for (finding, all) in together(&held, separate) {
            let line = self.source.line_of(finding);
            let file = self.source.file_of(finding.place.origin);
            let at = FilePlace {
                line,
                is_recording: self.source.recording,
                ..FilePlace::of(file)
            };
            if let Some(report) = &mut self.report {
                report.add_finding(finding, at, self.fail_on);
            } else if self.json {
                let file = file.to_owned();
                self.write_object(&file, |out| {
                    out.extend_from_slice(b"\"finding\":");
                    findings::write_json(finding, None, out);
                });
            } else {
                let (mut text, at) = (String::new(), at.text(finding.place.offset));
                findings::write_line(finding, &all, &at, self.display, &mut text);
                self.write_text(&text);
            }
            self.output.written()?;
        }
        Ok(())
    }

    /// Writes a line of JSON that names its input.
    fn write_object(&mut self, file: &str, write: impl FnOnce(&mut Vec<u8>)) {
        let out = self.output.buffer();
        out.extend_from_slice(b"{\"v\":1,\"file\":");
        json::write_str(file, out);
        out.push(b',');
        write(out);
        out.extend_from_slice(b"}\n");
    }

    pub fn write_text(&mut self, text: &str) {
        self.output.push(text);
    }

    /// Writes the counts: left-out findings, requests without an answer, and rules that were not judged.
    pub fn write_summary(
        &mut self,
        conversation: &Conversation<'_>,
        waiting: &WaitingList,
        verbose: bool,
    ) -> Result<()> {
        self.flush()?;
        if let Some(report) = &mut self.report {
            self.source.names().for_each(|name| report.add_input(name));
            for one in conversation.consequences() {
                report.add_consequences(one, self.source.file_of(one.origin));
            }
        }
        let mut unjudged: Vec<UnjudgedRule> = Vec::new();
        let all = conversation.each_protocol().flat_map(|of| {
            let protocol = of.protocol().map_or("", |p| p.name());
            let rules = of.unjudged().into_iter();
            rules.map(move |(rule, need)| (full_name(protocol, rule), need))
        });
        for one in all {
            // Several captures may have the same protocol.
            if !unjudged.contains(&one) {
                unjudged.push(one);
            }
        }
        if self.json {
            self.summary_json(conversation, waiting, &unjudged);
        } else if !self.quiet {
            if self.report.is_none() {
                let mut text = String::new();
                self.write_left_out(&mut text);
                self.write_consequences(conversation, &mut text);
                self.write_hang(conversation, waiting, self.display, &mut text);
                self.write_text(&text);
                self.output.flush()?;
            }
            print_wrapped(&self.summary_text(conversation, waiting.count, &unjudged));
            if verbose {
                for (name, need) in &unjudged {
                    print_message(&format!(
                        "{name} was not checked: it needs {}",
                        with_flags(need.about())
                    ));
                }
            }
        }
        Ok(())
    }

    /// Writes the number of findings that were only counted.
    fn write_left_out(&self, out: &mut String) {
        let (name, style) = (&self.source.name, self.display.style);
        for (rule, count) in self.source.rules.iter().filter(|_| self.most > 0) {
            if *count > self.most {
                let more = count - self.most;
                style.push_wire(
                    out,
                    Highlight::Dim,
                    &format!("{name}: {more} more of {rule}"),
                );
                out.push('\n');
            }
        }
    }

    /// Writes the number of findings that only follow from another finding.
    fn write_consequences(&self, conversation: &Conversation<'_>, out: &mut String) {
        for one in conversation.consequences() {
            let file = self.source.file_of(one.origin);
            let text = format!("{file}: {}", findings::consequences(one));
            self.display.style.push_wire(out, Highlight::Dim, &text);
            out.push('\n');
        }
    }

    /// Returns the requests without an answer; at the end of a one-way file there are none, because its answers are elsewhere.
    pub fn waiting(&mut self, conversation: &Conversation<'_>, stopped: bool) -> WaitingList {
        let has_both = self.source.recording || stopped;
        if let Some(ReportWriter::Html(page)) = &mut self.report {
            page.wait(conversation, has_both);
        }
        let most = match self.report {
            Some(_) => 0,
            None if self.quiet && !self.json => 0,
            None => self.most_waiting(),
        };
        conversation.unanswered(has_both, most)
    }

    /// Returns the number of requests without an answer that are listed.
    fn most_waiting(&self) -> usize {
        match self.most {
            _ if self.json => usize::MAX,
            0 => usize::MAX,
            most => most as usize,
        }
    }

    /// Returns true if answers may be missing from the input. A recording has both directions, even if one is silent.
    fn is_one_way(&self, conversation: &Conversation<'_>) -> bool {
        conversation.is_one_way() && !self.source.recording
    }

    /// Reports a stall to stderr, because it is no finding: the message that is awaited, and incomplete messages.
    pub fn stalled(
        &mut self,
        conversation: &Conversation<'_>,
        halves: &[Partial],
        silent: Duration,
    ) -> Result<()> {
        self.output.flush()?;
        // The wait is at least as long as the time without input.
        let silent = i64::try_from(silent.as_nanos()).unwrap_or(i64::MAX);
        let before = self.source.now;
        self.source.now = before.map(|now| now.saturating_add(silent));
        let display = DisplayOptions {
            style: Style { color: false },
            ..self.display
        };
        let waiting = conversation.waiting_list(self.most_waiting());
        let mut text = String::new();
        self.write_hang(conversation, &waiting, display, &mut text);
        self.source.now = before;
        for half in halves {
            findings::write_partial(half, &self.source.name, display, &mut text);
        }
        if text.is_empty() {
            text = format!("{}: no message waits for an answer\n", self.source.name);
        }
        let silent = findings::duration(silent);
        print_message(&format!("{}: no input for {silent}", self.source.name));
        text.lines().for_each(print_message);
        Ok(())
    }

    /// Reports the message that is awaited, if any.
    fn write_hang(
        &self,
        conversation: &Conversation<'_>,
        waiting: &WaitingList,
        display: DisplayOptions,
        out: &mut String,
    ) {
        if waiting.count == 0 {
            return;
        }
        let (list, sides) = ((self.source.name.as_str(), waiting), conversation.sides());
        findings::write_waiting_list(list, self.source.now, sides, display, out);
        if self.is_one_way(conversation) {
            out.push_str("  only one direction was read: the other may contain the answers\n");
        }
    }

    /// Returns `FILE: 2 errors, 1 warning in 40 messages; 3 rules not judged for want of times`.
    fn summary_text(
        &self,
        conversation: &Conversation<'_>,
        waiting: usize,
        unjudged: &[UnjudgedRule],
    ) -> String {
        let count = |severity: Severity, one: &str, many: &str| {
            let n = *self.source.counts.get(&severity)?;
            Some(count_text(n, one, many))
        };
        let found: Vec<String> = [
            count(Severity::Error, "error", "errors"),
            count(Severity::Warning, "warning", "warnings"),
            count(Severity::Info, "remark", "remarks"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let found = if found.is_empty() {
            "nothing found".to_owned()
        } else {
            found.join(", ")
        };
        let messages = match self.source.messages {
            n if !self.filter.is_open() => {
                format!("{} of {n} messages", self.source.matched)
            }
            n => count_text(n, "message", "messages"),
        };
        let protocols = conversation.protocol_names();
        let protocols = match protocols.as_slice() {
            [_, _, ..] => format!(" of {}", protocols.join(", ")),
            _ => String::new(),
        };
        let mut text = format!("{}: {found} in {messages}{protocols}", self.source.name);
        if waiting > 0 {
            text.push_str(&format!("; {waiting} unanswered"));
        }
        if !unjudged.is_empty() {
            let mut lacks: BTreeMap<Need, usize> = BTreeMap::new();
            for (_, need) in unjudged {
                *lacks.entry(*need).or_default() += 1;
            }
            for (i, (need, n)) in lacks.iter().enumerate() {
                let lead = if i == 0 { "; not checked:" } else { "," };
                let rules = if *n == 1 { "rule needs" } else { "rules need" };
                text.push_str(&format!("{lead} {n} {rules} {}", with_flags(need.about())));
            }
        }
        text
    }

    /// Returns the last line of an input, as JSON.
    fn summary_json(
        &mut self,
        conversation: &Conversation<'_>,
        waiting: &WaitingList,
        unjudged: &[UnjudgedRule],
    ) {
        let protocols = conversation.protocol_names();
        let several = (protocols.len() > 1).then_some(&protocols);
        let sides = conversation.sides();
        let now = self.source.now;
        let count = |severity| {
            self.source
                .counts
                .get(&severity)
                .copied()
                .unwrap_or_default()
        };
        let value = serde_json::json!({
            "protocol": protocols.first().copied().unwrap_or_default(),
            "protocols": several,
            "messages": self.source.messages,
            "errors": count(Severity::Error),
            "warnings": count(Severity::Warning),
            "infos": count(Severity::Info),
            "follow": conversation.consequences().map(|one| {
                let file = self.source.file_of(one.origin);
                serde_json::json!({
                    "file": (file != self.source.name).then_some(file),
                    "index": one.index,
                    "conn": one.origin.conn,
                    "count": one.count,
                })
            }).collect::<Vec<_>>(),
            "waiting": waiting.first.iter().map(|one| serde_json::json!({
                "index": (one.place.index != Place::NO_MESSAGE).then_some(one.place.index),
                "conn": one.place.origin.conn,
                "dir": one.place.origin.direction.map(Direction::name),
                "what": one.what,
                "id": (!one.id.is_empty()).then_some(&one.id),
                "for_ms": one.place.origin.time.zip(now).map(|(from, to)| {
                    let millis = findings::millis(to.saturating_sub(from));
                    serde_json::from_str::<serde_json::Number>(&millis).ok()
                }),
                "owes": one.expected_sender(sides),
                "blocked_by": one.blocked_by,
                "why": one.why,
            })).collect::<Vec<_>>(),
            "not_judged": unjudged.iter().map(|(rule, need)| serde_json::json!({
                "rule": rule,
                "needs": with_flags(need.about()),
            })).collect::<Vec<_>>(),
        });
        let value = without_nulls(value);
        let name = self.source.name.clone();
        self.write_object(&name, |out| {
            out.extend_from_slice(b"\"summary\":");
            out.extend_from_slice(value.to_string().as_bytes());
        });
    }
}

/// Returns the findings with the messages that have the same one, or each finding alone.
fn together(held: &[Finding], separate: bool) -> Vec<(&Finding, Vec<u64>)> {
    let mut places = HashMap::new();
    let mut all: Vec<(&Finding, Vec<u64>)> = Vec::new();
    for finding in held {
        let (conn, direction) = (finding.place.origin.conn, finding.place.origin.direction);
        let key = (finding.name(), conn, direction, finding.text.as_str());
        let next = all.len();
        let place = if separate {
            next
        } else {
            *places.entry(key).or_insert(next)
        };
        match all.get_mut(place) {
            Some((_, messages)) => messages.push(finding.place.index),
            None => all.push((finding, vec![finding.place.index])),
        }
    }
    all
}
