//! How lint tells what it found.

use super::super::complain;
use super::super::output::{Output, present};
use super::sarif::Sarif;
use super::source::Source;
use crate::conversation::{Conversation, Finding, Verdict, full_name};
use crate::decoder::{Decoded, Half};
use crate::encoding::json;
use crate::protocol::Direction;
use crate::protocol::session::{Need, Place, Rule, Severity, Waiting};
use crate::render::style::{Style, Tone};
use crate::render::{Look, findings};
use crate::select::Filter;
use anyhow::Result;
use std::collections::BTreeMap;
use std::time::Duration;

/// Findings that are held so that the most severe one comes first.
const HELD: usize = 1 << 16;

/// Tells what was found.
pub struct Teller {
    /// Findings of which messages are told.
    pub filter: Filter,
    pub scratch: Vec<u8>,
    pub quiet: bool,
    pub json: bool,
    pub most: u64,
    pub look: Look,
    pub output: Output,
    pub sarif: Option<Sarif>,
    pub source: Source,
    pub worst: Severity,
    /// Messages of all inputs that the condition chose.
    pub matched: u64,
}

impl Teller {
    /// What was found at a message, where it is one that matters.
    pub fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) -> Result<()> {
        // Without a condition, most messages are not looked at again.
        if self.filter.is_open() && verdict.findings.is_empty() {
            return Ok(());
        }
        if self
            .filter
            .matches(decoded, Some(verdict), &mut self.scratch)
        {
            self.source.matched += 1;
            self.matched += 1;
            return self.found(verdict.findings);
        }
        Ok(())
    }

    /// What was found between messages, or at the end; told only where no messages were singled out.
    pub fn tell(&mut self, found: &[Finding]) -> Result<()> {
        if self.filter.is_open() {
            self.found(found)
        } else {
            Ok(())
        }
    }

    /// What was found.
    fn found(&mut self, found: &[Finding]) -> Result<()> {
        for finding in found {
            self.worst = self.worst.max(finding.severity);
            *self.source.counts.entry(finding.severity).or_default() += 1;
            let count = self.source.rules.entry(finding.name()).or_default();
            *count += 1;
            let shown = !self.quiet && (self.most == 0 || *count <= self.most);
            if shown || self.json || self.sarif.is_some() {
                self.source.held.push(finding.clone());
            }
        }
        if self.source.held.len() > HELD {
            self.release()?;
        }
        Ok(())
    }

    /// Tells what is held, the most severe first, in the form that was asked for.
    pub fn release(&mut self) -> Result<()> {
        let mut held = std::mem::take(&mut self.source.held);
        held.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        for finding in &held {
            let (finding, file) = self.source.placed(finding);
            if let Some(sarif) = &mut self.sarif {
                sarif.add(&finding, file, self.source.recording);
            } else if self.json {
                let file = file.to_owned();
                self.object(&file, |out| {
                    out.extend_from_slice(b"\"finding\":");
                    findings::json(&finding, None, out);
                });
            } else {
                let mut text = String::new();
                findings::line(&finding, file, self.look, &mut text);
                self.put(&text);
            }
            self.output.written()?;
        }
        Ok(())
    }

    /// A line of JSON that names its input.
    fn object(&mut self, file: &str, write: impl FnOnce(&mut Vec<u8>)) {
        let out = self.output.room();
        out.extend_from_slice(b"{\"v\":1,\"file\":");
        json::write_str(file, out);
        out.push(b',');
        write(out);
        out.extend_from_slice(b"}\n");
    }

    pub fn put(&mut self, text: &str) {
        self.output.room().extend_from_slice(text.as_bytes());
    }

    /// What was left out, who waits for whom, and what could not be looked at.
    pub fn sum_up(
        &mut self,
        conversation: &Conversation<'_>,
        waiting: &[Waiting],
        verbose: bool,
    ) -> Result<()> {
        self.release()?;
        if let Some(sarif) = &mut self.sarif {
            for one in conversation.consequences() {
                let (one, file) = self.source.following(one);
                sarif.follow(one, file);
            }
        }
        let unjudged = conversation.unjudged();
        if self.json {
            self.summary(conversation, waiting, &unjudged);
        } else if !self.quiet {
            if self.sarif.is_none() {
                let mut text = String::new();
                self.left_out(&mut text);
                self.follow(conversation, &mut text);
                self.hang(conversation, waiting, self.look, &mut text);
                self.put(&text);
                self.output.flush()?;
            }
            complain(&self.closing(waiting.len(), &unjudged));
            if verbose {
                let protocol = conversation.protocol().map_or("", |p| p.name());
                for (rule, need) in &unjudged {
                    let name = full_name(protocol, rule);
                    complain(&format!("{name} was not judged: it needs {}", need.about()));
                }
            }
        }
        Ok(())
    }

    /// Findings that were only counted.
    fn left_out(&self, out: &mut String) {
        let (name, style) = (&self.source.name, self.look.style);
        for (rule, count) in self.source.rules.iter().filter(|_| self.most > 0) {
            if *count > self.most {
                let more = count - self.most;
                style.wire(out, Tone::Dim, &format!("{name}: {more} more of {rule}"));
                out.push('\n');
            }
        }
    }

    /// Findings that only follow from another.
    fn follow(&self, conversation: &Conversation<'_>, out: &mut String) {
        for one in conversation.consequences() {
            let (one, file) = self.source.following(one);
            let text = format!("{file}: {}", findings::consequences(one));
            self.look.style.wire(out, Tone::Dim, &text);
            out.push('\n');
        }
    }

    /// Who waits for an answer; at the end of one direction's file nobody does, since its answers are elsewhere.
    pub fn waiting(&self, conversation: &Conversation<'_>, stopped: bool) -> Vec<Waiting> {
        if self.is_one_way(conversation) && !stopped {
            return Vec::new();
        }
        let mut all = conversation.waiting();
        for waiting in &mut all {
            let own = self.source.own(waiting.place.index);
            waiting.place.index = own.map_or(waiting.place.index, |own| own.index);
        }
        all
    }

    /// Whether answers may have gone by unseen. A recording has both directions, even where one is silent.
    fn is_one_way(&self, conversation: &Conversation<'_>) -> bool {
        conversation.is_one_way() && !self.source.recording
    }

    /// Nothing comes: who owes the next message, and what came only in part. To stderr, since it is no finding.
    pub fn stalled(
        &mut self,
        conversation: &Conversation<'_>,
        halves: &[Half],
        silent: Duration,
    ) -> Result<()> {
        self.output.flush()?;
        // What waits has waited since at least as long as nothing came.
        let silent = i64::try_from(silent.as_nanos()).unwrap_or(i64::MAX);
        let before = self.source.now;
        self.source.now = before.map(|now| now.saturating_add(silent));
        let look = Look {
            style: Style { color: false },
            ..self.look
        };
        let waiting = conversation.waiting();
        let mut text = String::new();
        self.hang(conversation, &waiting, look, &mut text);
        self.source.now = before;
        for half in halves {
            findings::half(half, &self.source.name, look, &mut text);
        }
        if text.is_empty() {
            text = format!("{}: nothing is waited for\n", self.source.name);
        }
        let silent = findings::duration(silent);
        complain(&format!("{}: nothing came for {silent}", self.source.name));
        text.lines().for_each(complain);
        Ok(())
    }

    /// Who owes the next message, if anybody does.
    fn hang(
        &self,
        conversation: &Conversation<'_>,
        waiting: &[Waiting],
        look: Look,
        out: &mut String,
    ) {
        let title = match waiting {
            [] => return,
            [_] => "1 message waits for an answer:".to_owned(),
            all => format!("{} messages wait for an answer:", all.len()),
        };
        let sides = conversation
            .protocol()
            .map_or(["client", "server"], |p| p.descriptor().sides);
        look.style
            .wire(out, Tone::Key, &format!("{}: {title}", self.source.name));
        out.push('\n');
        let most = if self.most == 0 {
            usize::MAX
        } else {
            self.most as usize
        };
        for one in waiting.iter().take(most) {
            findings::waiting(one, self.source.now, sides, look, out);
        }
        if waiting.len() > most {
            out.push_str(&format!("  and {} more\n", waiting.len() - most));
        }
        if self.is_one_way(conversation) {
            out.push_str("  one direction alone is read: the other may have answered\n");
        }
    }

    /// `FILE: 2 errors, 1 warning in 40 messages; 3 rules not judged for want of times`.
    fn closing(&self, waiting: usize, unjudged: &[(&Rule, Need)]) -> String {
        let count = |severity: Severity, one: &str, many: &str| {
            let n = *self.source.counts.get(&severity)?;
            Some(format!("{n} {}", if n == 1 { one } else { many }))
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
            1 => "1 message".to_owned(),
            n => format!("{n} messages"),
        };
        let mut text = format!("{}: {found} in {messages}", self.source.name);
        if waiting > 0 {
            text.push_str(&format!("; {waiting} unanswered"));
        }
        if !unjudged.is_empty() {
            let mut lacks: BTreeMap<Need, usize> = BTreeMap::new();
            for (_, need) in unjudged {
                *lacks.entry(*need).or_default() += 1;
            }
            for (i, (need, n)) in lacks.iter().enumerate() {
                let lead = if i == 0 {
                    "; not judged for want of"
                } else {
                    ","
                };
                let rules = if *n == 1 { "rule" } else { "rules" };
                text.push_str(&format!("{lead} {}: {n} {rules}", need.about()));
            }
        }
        text
    }

    /// The last line of an input, as JSON.
    fn summary(
        &mut self,
        conversation: &Conversation<'_>,
        waiting: &[Waiting],
        unjudged: &[(&Rule, Need)],
    ) {
        let protocol = conversation.protocol();
        let name = protocol.map_or("", |p| p.name());
        let sides = protocol.map_or(["client", "server"], |p| p.descriptor().sides);
        let now = self.source.now;
        let count = |severity| {
            self.source
                .counts
                .get(&severity)
                .copied()
                .unwrap_or_default()
        };
        let value = serde_json::json!({
            "protocol": name,
            "messages": self.source.messages,
            "errors": count(Severity::Error),
            "warnings": count(Severity::Warning),
            "infos": count(Severity::Info),
            "follow": conversation.consequences().map(|one| {
                let (one, file) = self.source.following(one);
                serde_json::json!({
                    "file": (file != self.source.name).then_some(file),
                    "index": one.index,
                    "conn": one.conn,
                    "count": one.count,
                })
            }).collect::<Vec<_>>(),
            "waiting": waiting.iter().map(|one| serde_json::json!({
                "index": (one.place.index != Place::NO_MESSAGE).then_some(one.place.index),
                "conn": one.place.origin.conn,
                "dir": one.place.origin.direction.map(Direction::name),
                "what": one.what,
                "id": (!one.id.is_empty()).then_some(&one.id),
                "for_ms": one.place.origin.time.zip(now).map(|(from, to)| {
                    let millis = findings::millis(to.saturating_sub(from));
                    serde_json::from_str::<serde_json::Number>(&millis).ok()
                }),
                "owes": one.debtor(sides),
                "why": one.why,
            })).collect::<Vec<_>>(),
            "not_judged": unjudged.iter().map(|(rule, need)| serde_json::json!({
                "rule": full_name(name, rule),
                "needs": need.about(),
            })).collect::<Vec<_>>(),
        });
        let value = present(value);
        let name = self.source.name.clone();
        self.object(&name, |out| {
            out.extend_from_slice(b"\"summary\":");
            out.extend_from_slice(value.to_string().as_bytes());
        });
    }
}
