//! What was said over time, where findings are shown or the selection asks for it.

use super::Args;
use crate::capture::{Event, Header};
use crate::cli::complain;
use crate::cli::options::Shared;
use crate::conversation::{Conversation, Finding, Judge, Verdict};
use crate::decoder::{Decoded, Decoder};
use crate::protocol::Protocol;
use crate::protocol::session::{SessionConfig, Severity};
use crate::render::{Look, findings};
use anyhow::Result;

/// Messages that wait for an answer, of which so many lines are shown.
const WAITING: usize = 20;

/// Follows each input's conversation, and says on stderr what belongs to no message at hand.
pub struct Listener<'p> {
    conversation: Option<Conversation<'p>>,
    known: Vec<&'p dyn Protocol>,
    judge: Judge,
    aids: SessionConfig,
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

impl<'p> Listener<'p> {
    pub fn new(args: &Args, shared: &Shared, protocols: &[&'p dyn Protocol]) -> Result<Self> {
        Ok(Self {
            conversation: None,
            known: protocols.to_vec(),
            judge: args.judging.judge()?,
            aids: args.judging.aids()?,
            shows: args.lint,
            quiet: shared.quiet,
            source: String::new(),
            recording: false,
            now: None,
            worst: None,
        })
    }

    /// An input begins, in which `needed` says whether its conversation matters.
    pub fn begin(&mut self, source: &str, needed: bool, ordered: bool) {
        source.clone_into(&mut self.source);
        self.recording = false;
        self.now = None;
        let aids = self.aids.clone();
        self.conversation = (self.shows || needed)
            .then(|| Conversation::new(&self.known, &self.judge, aids, ordered));
    }

    pub fn header(&mut self, header: &Header) {
        self.recording = true;
        if let Some(conversation) = &mut self.conversation {
            if let Some(protocol) = &header.protocol {
                conversation.expect(protocol);
            }
            conversation.reached_by(header);
        }
    }

    pub fn see(&mut self, decoded: &Decoded<'_>) -> Option<Verdict<'_>> {
        self.now = decoded.origin.time.or(self.now);
        self.conversation.as_mut().map(|c| c.see(decoded))
    }

    pub fn happened(&mut self, event: &Event<'_>) {
        let time = event.time.and_then(|t| i64::try_from(t).ok());
        self.now = time.or(self.now);
        if let Some(conversation) = &mut self.conversation {
            let found = conversation.happened(event).findings;
            if self.shows {
                self.worst = self.worst.max(worst(found));
                tell(&self.source, found, self.quiet);
            }
        }
    }

    /// The input has ended: what that breaks, and who owes the next message.
    pub fn finish(&mut self, decoder: &Decoder<'_>) {
        let Some(mut conversation) = self.conversation.take() else {
            return;
        };
        if !self.shows {
            return;
        }
        let source = &self.source;
        if decoder.protocol().is_none() {
            let found = conversation.unrecognised(decoder).findings;
            self.worst = self.worst.max(worst(found));
            tell(source, found, self.quiet);
        }
        // Once it is over, nobody waits; and the answers to one direction's file are elsewhere.
        let waiting = conversation.waiting();
        let found = conversation.finish().findings;
        self.worst = self.worst.max(worst(found));
        tell(source, found, self.quiet);
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
