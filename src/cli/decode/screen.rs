//! What shows the frames of a run, in whichever form was asked for, and says at its end what was wrong.

use super::listener::{Listener, worst};
use super::lookup::{Lookup, say, say_owner, say_range};
use super::{Args, Format};
use crate::capture::Event;
use crate::capture::recording::Header;
use crate::cli::folds::Folds;
use crate::cli::input::{self, Show};
use crate::cli::interrupt::Stop;
use crate::cli::options::Shared;
use crate::cli::output::{Output, Unread};
use crate::cli::{Exit, complain, complain_of};
use crate::conversation::pipeline::Pipeline;
use crate::conversation::{Finding, Judge, Verdict};
use crate::decoder::Decoded;
use crate::encoding::Want;
use crate::protocol::session::{SessionConfig, Severity};
use crate::protocol::{Notes, Role};
use crate::render::{Look, hex, json, line, tree};
use crate::select::{Filter, Select};
use crate::verify::{self, Counts, Verify};
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The frame that may be the only one, in both forms it may be shown in.
struct Lone {
    line: String,
    tree: String,
}

/// Shows frames as they come.
#[allow(clippy::struct_excessive_bools)] // each is a flag or a verdict of its own
pub struct Screen {
    /// What was asked for; none: tree for a lone message, else line.
    format: Option<Format>,
    exact: bool,
    verify: Option<Box<Verify>>,
    counts: Counts,
    lookup: Lookup,
    filter: Filter,
    /// Lent out while a message is shown.
    listener: Listener,
    /// Findings are shown.
    lint: bool,
    /// Findings that make the answer no, and the worst of messages that were shown.
    fail_on: Option<Severity>,
    worst: Option<Severity>,
    skip: u64,
    head: Option<u64>,
    tail: Option<usize>,
    last: VecDeque<Vec<u8>>,
    look: Look,
    output: Output,
    /// Where output waits for the end.
    stop: Option<Stop>,
    notes: Notes,
    folds: Option<Folds>,
    scratch: Vec<u8>,
    text: String,
    lone: Option<Lone>,
    quiet: bool,
    verbose: bool,
    seen: u64,
    matched: u64,
    shown: u64,
    bytes: u64,
    /// Frames at fault, of all sources.
    faulty: u64,
    /// Input that could not be used.
    /// The input has no end but an interruption.
    follows: bool,
    bad_input: bool,
    undetected: bool,
    source: Source,
    /// What is said once everything is shown.
    closing: Vec<String>,
}

/// What one source's closing line says.
#[derive(Default)]
struct Source {
    frames: u64,
    faulty: u64,
    first: Option<String>,
}

impl Screen {
    pub fn new(
        args: &Args,
        shared: &Shared,
        look: Look,
        output: Output,
        stop: Option<Stop>,
    ) -> Result<Self> {
        let s = &args.select;
        let filter = Select {
            kinds: s.kind.clone(),
            roles: s.role.iter().filter_map(|r| Role::from_name(r)).collect(),
            ids: s.id.clone(),
            subjects: s.subject.clone(),
            direction: args.input.dir,
            conns: s.conn.clone(),
            faults: s.faults,
            conditions: args.condition.conditions.clone(),
            grep: s.grep.clone(),
        }
        .filter();
        Ok(Self {
            format: args.format,
            exact: args.exact,
            verify: args.verify.then(Box::default),
            counts: Counts::default(),
            lookup: Lookup::new(args),
            listener: Listener::new(args, shared)?,
            lint: args.lint,
            fail_on: Severity::from_name(&args.fail_on),
            worst: None,
            filter,
            skip: s.skip,
            head: s.head,
            tail: s.tail,
            last: VecDeque::new(),
            look,
            output,
            stop,
            notes: Notes::default(),
            folds: args.state.then(Folds::default),
            scratch: Vec::new(),
            text: String::new(),
            lone: None,
            quiet: shared.quiet,
            verbose: shared.verbose,
            seen: 0,
            matched: 0,
            shown: 0,
            bytes: 0,
            faulty: 0,
            follows: args.input.follow,
            bad_input: false,
            undetected: false,
            source: Source::default(),
            closing: Vec::new(),
        })
    }

    /// Writes what a frame is shown as to `self.scratch`.
    fn render(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) {
        self.scratch.clear();
        self.text.clear();
        match (&self.lookup, self.format) {
            (Lookup::At(offset), _) => {
                say_owner(decoded, *offset, self.look, &mut self.notes, &mut self.text);
            }
            (Lookup::Path(path), _) => {
                say_range(decoded, path, self.look, &mut self.notes, &mut self.text);
            }
            (Lookup::None, Some(Format::Json)) => {
                json::write(decoded, verdict, self.look, &mut self.scratch);
            }
            (Lookup::None, Some(Format::Tree)) => {
                tree::write(decoded, verdict, self.look, &mut self.notes, &mut self.text);
            }
            (Lookup::None, Some(Format::Hex)) => {
                hex::write(decoded, verdict, self.look, &mut self.notes, &mut self.text);
            }
            (Lookup::None, Some(Format::Line) | None) => {
                line::write(decoded, verdict, self.look, &mut self.text);
                if let Some(folds) = &self.folds {
                    folds.line(self.look, &mut self.text);
                }
            }
        }
        if let (Lookup::None, Some(Format::Tree | Format::Hex), Some(folds)) =
            (&self.lookup, self.format, &self.folds)
        {
            folds.block(self.look, &mut self.text);
        }
        self.scratch.extend_from_slice(self.text.as_bytes());
    }

    /// A frame that turned out not to be the only one is a line like the others.
    fn release(&mut self) -> Result<()> {
        if let Some(lone) = self.lone.take() {
            self.output.room().extend_from_slice(lone.line.as_bytes());
            self.output.written()?;
        }
        Ok(())
    }

    /// What waits is shown now.
    pub fn flush(&mut self) -> Result<()> {
        self.release()?;
        self.output.flush()
    }

    pub fn finish(mut self) -> Result<Exit> {
        if let Some(lone) = self.lone.take() {
            self.output.room().extend_from_slice(lone.tree.as_bytes());
        }
        for text in std::mem::take(&mut self.last) {
            self.output.room().extend_from_slice(&text);
            self.output.written()?;
        }
        let exit = self.stop.as_ref().and_then(Stop::exit);
        if let Some(exit) = exit.filter(|_| !self.follows) {
            self.output.interrupted()?;
            return Ok(exit);
        }
        if self.verify.is_some() {
            let text = format!("{}\n", self.counts);
            self.output.room().extend_from_slice(text.as_bytes());
        }
        self.output.finish()?;
        self.closing.iter().for_each(|text| complain(text));
        if self.bytes == 0 && self.seen == 0 && !self.quiet {
            complain("empty input: there is nothing to decode");
        }
        if let Some(exit) = self.stop.as_ref().and_then(Stop::exit) {
            return Ok(exit);
        }
        let asked = !self.filter.is_open() || !self.lookup.is_none();
        let none = asked && self.shown == 0 && self.seen > 0;
        if none && !self.quiet {
            match &self.lookup {
                Lookup::At(offset) => {
                    complain(&format!("no message holds a byte at offset {offset}"));
                }
                Lookup::Path(path) => complain(&format!("no message has a field {path}")),
                Lookup::None => complain(&format!("none of {} messages matches", self.seen)),
            }
        }
        // A frame at fault that is the same again is no failure of this question.
        let failed = match self.verify {
            Some(_) => self.counts.different > 0,
            None => self.faulty > 0,
        };
        let worst = self.worst.max(self.listener.worst);
        let is_bad = self.fail_on.is_some_and(|least| worst >= Some(least));
        let no = failed || self.bad_input || self.undetected || none || is_bad;
        Ok(if no { Exit::No } else { Exit::Clean })
    }

    /// Shows a message, where it is one of those that are wanted.
    fn show(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        if self.is_done() || !self.filter.matches(decoded, verdict, &mut self.scratch) {
            return Ok(());
        }
        let verdict = verdict.filter(|_| self.lint);
        self.worst = self.worst.max(verdict.and_then(|v| worst(v.findings)));
        self.matched += 1;
        if self.matched <= self.skip {
            return Ok(());
        }
        if let Some(verify) = &mut self.verify {
            let Some(verdict) = verify.frame(decoded) else {
                return Ok(());
            };
            self.counts.add(&verdict);
            self.shown += 1;
            if verdict != verify::Verdict::Identical(None) {
                self.text.clear();
                say(decoded, &verdict.to_string(), self.look, &mut self.text);
                self.output.room().extend_from_slice(self.text.as_bytes());
            }
            return self.output.written();
        }
        if self.format == Some(Format::Json) && self.tail.is_none() && self.lookup.is_none() {
            self.shown += 1;
            let look = self.look;
            if decoded.message.body.len <= json::LONG {
                json::write(decoded, verdict, look, self.output.room());
                return self.output.written();
            }
            return self
                .output
                .pass(|out, full| json::pass(decoded, verdict, look, out, full));
        }
        self.render(decoded, verdict);
        if self.scratch.is_empty() {
            return Ok(());
        }
        self.shown += 1;
        if let Some(most) = self.tail {
            self.last.push_back(std::mem::take(&mut self.scratch));
            if self.last.len() > most {
                self.last.pop_front();
            }
            return Ok(());
        }
        if self.format.is_none() && self.shown == 1 && self.lookup.is_none() {
            let mut text = String::new();
            tree::write(decoded, verdict, self.look, &mut self.notes, &mut text);
            if let Some(folds) = &self.folds {
                folds.block(self.look, &mut text);
            }
            self.lone = Some(Lone {
                line: std::mem::take(&mut self.text),
                tree: text,
            });
            return Ok(());
        }
        self.release()?;
        self.output.room().extend_from_slice(&self.scratch);
        self.output.written()
    }
}

impl Show for Screen {
    fn frame(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        self.seen += 1;
        self.source.frames += 1;
        if let Some((offset, fault)) = decoded.faults().next() {
            self.faulty += 1;
            self.source.faulty += 1;
            if self.source.first.is_none() {
                let hint = fault
                    .hint
                    .as_ref()
                    .map(|h| format!(" ({h})"))
                    .unwrap_or_default();
                self.source.first = Some(format!("offset {offset}: {fault}{hint}"));
            }
        }
        // Also of messages that are not shown: later ones build on them.
        if let Some(folds) = &mut self.folds {
            folds.see(decoded, self.look);
        }
        self.listener.see(decoded);
        self.show(decoded, verdict)
    }

    fn judged(&self) -> Option<(Judge, SessionConfig)> {
        self.listener.judged(self.filter.needs_session())
    }

    fn idle(&mut self) -> Result<()> {
        self.flush()?;
        // A file that is followed may never grow again, and then nothing would be written that shows it.
        if self.output.reader_is_gone() {
            return Err(Unread.into());
        }
        Ok(())
    }

    fn note(&mut self, source: &str, text: &str, bad: bool) {
        self.bad_input |= bad;
        if bad || !self.quiet {
            complain_of(source, text);
        }
    }

    fn detail(&mut self, source: &str, text: &str) {
        if self.verbose {
            complain(&format!("{source}: {text}"));
        }
    }

    fn begin(&mut self, source: &str) {
        self.source = Source::default();
        self.listener.begin(source);
    }

    fn header(&mut self, _: &Header) {
        self.listener.header();
    }

    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<()> {
        self.listener.event(event, findings);
        Ok(())
    }

    fn end(&mut self, source: &str, bytes: u64, pipeline: &mut Pipeline<'_>) -> Result<()> {
        let decoder = &pipeline.decoder;
        self.bytes += bytes;
        input::tell_guess(source, decoder, self);
        if decoder.protocol().is_none() && bytes > 0 {
            self.undetected = input::tell_undetected(source, decoder, self);
        }
        let Source {
            frames,
            faulty,
            first,
        } = std::mem::take(&mut self.source);
        if let Some(first) = first {
            let count = format!("{faulty} of {frames} messages at fault");
            let text = match self.format {
                // A terminal has just shown what it is.
                Some(Format::Tree | Format::Line | Format::Hex) | None if self.look.terminal => {
                    format!("{source}: {count}")
                }
                _ => format!("{source}: {first}; {count}"),
            };
            if !self.quiet {
                self.closing.push(text);
            }
        }
        // Before the notes, what they are about: both may go to the same terminal.
        if self.lone.is_none() && self.tail.is_none() {
            self.output.flush()?;
        }
        self.listener.finish(pipeline);
        if self.lone.is_none() && self.tail.is_none() {
            self.closing.drain(..).for_each(|text| complain(&text));
        }
        Ok(())
    }

    fn stop(&self) -> Option<Arc<AtomicBool>> {
        self.stop.as_ref().map(Stop::flag)
    }

    fn want(&self) -> Want {
        if self.verify.is_some() || self.exact {
            return Want::Exact;
        }
        let places = !self.lookup.is_none()
            || self.lint
            || self.filter.needs_session()
            || self.folds.is_some();
        let rows = matches!(self.format, Some(Format::Tree | Format::Hex))
            || (self.format.is_none() && self.shown == 0);
        match self.filter.want() {
            Want::Head if rows && !places => Want::Rows,
            _ if places || rows => Want::Places,
            Want::Head if self.format == Some(Format::Json) => Want::Text,
            want => want,
        }
    }

    fn progress(&self) -> bool {
        !self.quiet && !self.look.terminal
    }

    fn is_done(&self) -> bool {
        self.head.is_some_and(|head| self.shown >= head)
    }
}
