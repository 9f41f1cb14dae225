//! What was said over time, where findings are shown or the selection asks for it.

use super::Args;
use crate::capture::Event;
use crate::cli::complain;
use crate::cli::options::Shared;
use crate::conversation::pipeline::Pipeline;
use crate::conversation::{Finding, Judge};
use crate::decoder::Decoded;
use crate::protocol::session::{SessionConfig, Severity};
use crate::render::{Look, findings};
use anyhow::Result;

/// Messages that wait for an answer, of which so many lines are shown.
const WAITING: usize = 20;

/// Says on stderr what of each input's conversation belongs to no message at hand.
pub struct Listener {
    judge: Judge,
    session_config: SessionConfig,
    /// Findings are shown, not only asked for.
    shows: bool,
    quiet: bool,
    source: String,
    recording: bool,
    /// The last time that is known.
    now: Option<i64>,
    /// The worst finding that was shown, or would be but for `quiet`.
    pub worst: Option<Severity>,
}

impl Listener {
    pub fn new(args: &Args, shared: &Shared) -> Result<Self> {
        Ok(Self {
            judge: args.judging.judge()?,
            session_config: args.judging.session_config()?,
            shows: args.lint,
            quiet: shared.quiet,
            source: String::new(),
            recording: false,
            now: None,
            worst: None,
        })
    }

    /// By which rules messages are judged, where findings are shown or `needed`.
    pub fn judged(&self, needed: bool) -> Option<(Judge, SessionConfig)> {
        (self.shows || needed).then(|| (self.judge.clone(), self.session_config.clone()))
    }

    /// An input begins.
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
        let time = event.time.and_then(|t| i64::try_from(t).ok());
        self.now = time.or(self.now);
        self.found(findings);
    }

    fn found(&mut self, findings: &[Finding]) {
        if self.shows {
            self.worst = self.worst.max(worst(findings));
            tell(&self.source, findings, self.quiet);
        }
    }

    /// The input has ended: what that breaks, and who owes the next message.
    pub fn finish(&mut self, pipeline: &mut Pipeline<'_>) {
        let Some(conversation) = pipeline.conversation.as_mut().filter(|_| self.shows) else {
            return;
        };
        if pipeline.decoder.protocol().is_none() {
            self.found(conversation.unrecognised(&pipeline.decoder).findings);
        }
        // Once it is over, nobody waits; and the answers to one direction's file are elsewhere.
        let waiting = conversation.waiting();
        self.found(conversation.finish().findings);
        let source = &self.source;
        for one in conversation.consequences().filter(|_| !self.quiet) {
            complain(&format!("{source}: {}", findings::consequences(one)));
        }
        if self.quiet || waiting.is_empty() || (conversation.is_one_way() && !self.recording) {
            return;
        }
        let sides = conversation
            .protocol()
            .map_or(["client", "server"], |p| p.descriptor().sides);
        let title = match waiting.len() {
            1 => "1 message waits for an answer:".to_owned(),
            n => format!("{n} messages wait for an answer:"),
        };
        complain(&format!("{source}: {title}"));
        for one in waiting.iter().take(WAITING) {
            let mut text = String::new();
            findings::waiting(one, self.now, sides, Look::default(), &mut text);
            complain(text.trim_end());
        }
        if waiting.len() > WAITING {
            complain(&format!("  and {} more", waiting.len() - WAITING));
        }
    }
}

/// The worst of these.
pub fn worst(found: &[Finding]) -> Option<Severity> {
    found.iter().map(|finding| finding.severity).max()
}

fn tell(source: &str, found: &[Finding], quiet: bool) {
    for finding in found.iter().filter(|_| !quiet) {
        let mut text = String::new();
        findings::line(finding, source, Look::default(), &mut text);
        complain(text.trim_end());
    }
}
