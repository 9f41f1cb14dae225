//! Shows the messages of a run in the selected format, and the errors at its end.

use super::Args;
use super::context::{ContextMessages, Use};
use super::counts::SourceCounts;
use super::findings::{FindingReporter, shown, worst};
use super::lookup::{Lookup, write_line, write_owner, write_range};
use super::recorder::DecodeRecorder;
use super::stderr::StderrAmongMessages;
use super::text_writer::{FirstMessage, TextWriter};
use crate::capture::{Event, Item};
use crate::cli::input::{Flow, InputState};
use crate::cli::operation_lines::OperationLines;
use crate::cli::options::SharedArgs;
use crate::cli::output::{CommandOutput, StdoutClosed};
use crate::cli::sael::DeltaStates;
use crate::cli::unmatched::Unmatched;
use crate::cli::{Exit, print_message};
use crate::conversation::{Finding, Operation, Output, RuleSettings, Run, Sink, Verdict};
use crate::decoder::Decoded;
use crate::encoding::Want;
use crate::export::facts::Facts;
use crate::protocol::Direction;
use crate::protocol::session::Severity;
use crate::render::json::flat::Rows;
use crate::render::{DisplayOptions, Format, json};
use crate::select::{Filter, Key};
use crate::verify::{self, Verifier, VerifyCounts};
use anyhow::Result;
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Shows messages as they arrive.
#[allow(clippy::struct_excessive_bools)] // each is a flag or a verdict of its own
pub struct DecodeScreen<'a> {
    args: &'a Args,
    /// The selected format; `None`: tree for a single message, otherwise line.
    format: Option<Format>,
    verify: Option<Box<Verifier>>,
    counts: VerifyCounts,
    lookup: Lookup,
    filter: Filter,
    unmatched: Unmatched,
    /// Taken while a message is shown.
    reporter: FindingReporter,
    /// The worst severity of shown messages.
    worst: Option<Severity>,
    last: VecDeque<Vec<u8>>,
    context: ContextMessages,
    display: DisplayOptions,
    writer: TextWriter,
    quiet: bool,
    delta_states: Option<DeltaStates>,
    scratch: Vec<u8>,
    text: String,
    matched: u64,
    shown: u64,
    /// The number of faulty messages, of all sources.
    faulty: u64,
    /// The direction of bytes without one.
    direction: Option<Direction>,
    source: SourceCounts,
    /// Present if the lines of stderr are shown.
    stderr: Option<StderrAmongMessages>,
    /// Present if operations are shown in place of messages.
    operations: Option<OperationLines>,
    /// Present if messages are rows of a table.
    rows: Option<(Rows, Facts)>,
    /// Texts that are printed after all messages.
    closing: Vec<String>,
    pub recorder: Option<DecodeRecorder>,
}

impl<'a> DecodeScreen<'a> {
    pub fn new(
        args: &'a Args,
        shared: &SharedArgs,
        display: DisplayOptions,
        output: CommandOutput,
    ) -> Result<Self> {
        let filter = args.filter()?;
        let context = ContextMessages::new(&args.select.context, args.format);
        let line = (context.is_active() || args.stderr || args.ops).then_some(Format::Line);
        let format = args.format.or(line);
        let shows_parts = shared.verbose;
        let operations = args.ops.then_some(format).flatten();
        Ok(Self {
            args,
            format,
            operations: operations.map(|format| OperationLines::new(format, shows_parts)),
            verify: args.verify.then(Box::default),
            counts: VerifyCounts::default(),
            lookup: Lookup::new(args),
            reporter: FindingReporter::new(args, shared)?,
            worst: None,
            unmatched: Unmatched::new(&filter),
            filter,
            last: VecDeque::new(),
            context,
            display,
            writer: TextWriter::new(output),
            quiet: shared.quiet,
            delta_states: args.state.then(DeltaStates::default),
            scratch: Vec::new(),
            text: String::new(),
            matched: 0,
            shown: 0,
            faulty: 0,
            direction: None,
            source: SourceCounts::default(),
            stderr: args.stderr.then(StderrAmongMessages::default),
            rows: (args.flat).then(|| (Rows::default(), Facts::new(display.sources))),
            closing: Vec::new(),
            recorder: DecodeRecorder::create(
                args.write.as_deref(),
                args.wire.protocol.as_deref(),
                shared.quiet,
            )?,
        })
    }

    /// Returns true if each message is a line without its secrets.
    pub fn masks_lines(&self) -> bool {
        let lines = matches!(self.format, None | Some(Format::Line)) && self.lookup.is_none();
        lines && self.filter.is_open() && !self.display.show_secrets
    }

    /// Renders a message into `self.scratch`.
    fn render(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) {
        self.scratch.clear();
        self.text.clear();
        match &self.lookup {
            Lookup::At(offset) => write_owner(decoded, *offset, self.display, &mut self.text),
            Lookup::Path(path) => write_range(decoded, path, self.display, &mut self.text),
            Lookup::None => {
                let format = self.format.unwrap_or(Format::Line);
                let (display, out) = (self.display, &mut self.scratch);
                if self.filter.expr().uses(&Key::Latency) || self.context.is_active() {
                    // Beside a latency, or if lines are kept, the time since another line misleads.
                    self.writer.renderer.restart_times();
                }
                self.writer
                    .renderer
                    .write(format, decoded, verdict, display, out);
                self.write_state(format);
            }
        }
        self.scratch.extend_from_slice(self.text.as_bytes());
    }

    /// Writes the value of a stream after its delta.
    fn write_state(&mut self, format: Format) {
        let (display, text) = (self.display, &mut self.text);
        match (format, &self.delta_states) {
            (Format::Json, _) | (_, None) => {}
            (Format::Line, Some(states)) => states.write_line(display, text),
            (Format::Tree | Format::Hex, Some(states)) => states.write_block(display, text),
        }
    }

    /// Writes all output that waits.
    pub fn flush(&mut self) -> Result<()> {
        self.writer.flush(self.display)
    }

    pub fn finish(mut self, run: &InputState) -> Result<Exit> {
        if let Some(recorder) = self.recorder.take() {
            recorder.finish()?;
        }
        self.writer.release_as_tree();
        let last = Vec::from(std::mem::take(&mut self.last)).concat();
        self.writer.put(&last, self.display)?;
        self.writer.lay_out(self.display);
        let cut_short = run.cut_short().is_some();
        if self.verify.is_some() && !cut_short {
            self.writer.output.push_line(&self.counts.to_string());
        }
        let exit = run.finish(self.writer.output, "decode")?;
        let closing = self.closing.iter().filter(|_| !cut_short);
        closing.for_each(|text| print_message(text));
        if let Some(exit) = exit {
            return Ok(exit);
        }
        let selects = !self.filter.is_open() || !self.lookup.is_none();
        let none = selects && self.shown == 0 && run.messages > 0;
        match self.lookup.not_found() {
            _ if !none || run.quiet => {}
            Some(text) => print_message(&text),
            None => run.note_no_match(self.unmatched.describe()),
        }
        // With --verify, a faulty frame that is reproduced exactly is no failure.
        let failed = match self.verify {
            Some(_) => self.counts.different > 0,
            None => self.faulty > 0,
        };
        let worst = self.worst.max(self.reporter.worst);
        let fail_on = Severity::from_name(&self.args.fail_on);
        let is_bad = fail_on.is_some_and(|least| worst >= Some(least));
        Ok(Exit::negative_if(failed || run.is_bad || none || is_bad))
    }

    /// Shows the operations that end, and keeps what is shown below them.
    fn show_operations(
        &mut self,
        message: Option<(&Decoded<'_>, Option<Verdict<'_>>)>,
        ended: &[Operation],
    ) -> Result<()> {
        let Some(mut operations) = self.operations.take() else {
            return Ok(());
        };
        if let Some((decoded, verdict)) = message {
            if self.filter.matches(decoded, verdict, &mut self.scratch) {
                operations.select(verdict);
            } else if self.matched == 0 {
                self.unmatched.add(decoded);
            }
            let of = verdict.and_then(|verdict| verdict.operation);
            if let Some(display) = operations.display(self.display).filter(|_| of.is_some()) {
                let shown = verdict.map(Verdict::without_findings);
                self.scratch.clear();
                self.writer.renderer.restart_times();
                self.writer.renderer.write(
                    Format::Line,
                    decoded,
                    shown,
                    display,
                    &mut self.scratch,
                );
                operations.keep(decoded, verdict, &self.scratch);
            }
        }
        let texts = operations.end(ended, self.display);
        self.operations = Some(operations);
        for text in texts {
            self.matched += 1;
            if self.matched > self.args.select.skip && !self.has_all() {
                self.shown += 1;
                let heading = self.source.heading.take().unwrap_or_default();
                self.writer.output.push(&heading);
                self.writer.put(&text, self.display)?;
            }
        }
        Ok(())
    }

    /// Shows a message if it is selected.
    fn show(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        if self.has_all() || !self.filter.matches(decoded, verdict, &mut self.scratch) {
            if self.matched == 0 {
                self.unmatched.add(decoded);
            }
            return self.show_context(decoded, verdict);
        }
        let judged = verdict.filter(|_| self.args.lint);
        self.worst = self.worst.max(judged.and_then(|v| worst(v.findings)));
        self.matched += 1;
        if self.matched <= self.args.select.skip {
            return self.show_context(decoded, verdict);
        }
        if self.rows.is_some() {
            return self.show_row(decoded, verdict.unwrap_or_default());
        }
        let verdict = self.shown(verdict);
        if let Some(verify) = &mut self.verify {
            let Some(verdict) = verify.frame(decoded) else {
                return Ok(());
            };
            self.counts.add(&verdict);
            self.shown += 1;
            if verdict != verify::FrameVerdict::Identical(None) {
                self.text.clear();
                write_line(decoded, &verdict.to_string(), self.display, &mut self.text);
                self.writer.output.push(&self.text);
            }
            return self.writer.output.written();
        }
        let mut before = Vec::new();
        if self.context.is_active() {
            self.context.select(decoded, verdict, &mut before);
        }
        if self.format == Some(Format::Json)
            && self.args.select.tail.is_none()
            && self.lookup.is_none()
        {
            return self.show_json(decoded, verdict, &before);
        }
        self.render(decoded, verdict);
        if self.scratch.is_empty() {
            return Ok(());
        }
        let heading = self.source.heading.take().unwrap_or_default();
        if self.format == Some(Format::Line) {
            self.writer.lay_out_kept(&mut before, self.display);
        }
        if !heading.is_empty() || !before.is_empty() {
            self.scratch.splice(0..0, heading.bytes().chain(before));
        }
        self.shown += 1;
        if let Some(most) = self.args.select.tail {
            self.last.push_back(std::mem::take(&mut self.scratch));
            if self.last.len() > most {
                self.last.pop_front();
            }
            return Ok(());
        }
        if self.format.is_none() && self.shown == 1 && self.lookup.is_none() {
            let (mut tree, display) = (heading.into_bytes(), self.display);
            self.writer
                .renderer
                .write(Format::Tree, decoded, verdict, display, &mut tree);
            self.text.clear();
            self.write_state(Format::Tree);
            tree.extend_from_slice(self.text.as_bytes());
            let line = std::mem::take(&mut self.scratch);
            self.writer.hold_message(FirstMessage { line, tree });
            return Ok(());
        }
        self.writer.release(self.display)?;
        self.put_scratch()
    }

    /// Shows a message as an object of JSON.
    fn show_json(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
        before: &[u8],
    ) -> Result<()> {
        self.shown += 1;
        let (output, display) = (&mut self.writer.output, self.display);
        output.push(before);
        if decoded.message.body.len <= json::MAX_WHOLE {
            json::write(decoded, verdict, display, output.buffer());
            return output.written();
        }
        output.write_with(|out, full| {
            json::write_in_parts(decoded, verdict, display, out, full);
        })
    }

    /// Shows a message as a row of a table.
    fn show_row(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) -> Result<()> {
        if let Some((rows, facts)) = &mut self.rows {
            self.shown += 1;
            let facts = facts.of(decoded);
            rows.write(decoded, verdict, facts, self.writer.output.buffer());
        }
        self.writer.output.written()
    }

    /// Writes the rendered text.
    fn put_scratch(&mut self) -> Result<()> {
        self.writer.put(&self.scratch, self.display)
    }

    /// Shows or keeps a message that is not selected, if it is near a selected one or of its pair.
    fn show_context(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        let place = self.context.place(decoded, verdict);
        if place == Use::Skip {
            if self.format != Some(Format::Json) {
                self.writer.renderer.skip(decoded);
            }
            return Ok(());
        }
        self.display.context = true;
        self.render(decoded, self.shown(verdict));
        self.display.context = false;
        if place == Use::Keep {
            self.context.keep(decoded, &self.scratch);
            return Ok(());
        }
        let mut before = self.source.heading.take().unwrap_or_default().into();
        self.context.show(decoded, &mut before);
        self.scratch.splice(0..0, before);
        self.put_scratch()
    }

    /// Returns what is shown of a verdict.
    fn shown<'v>(&self, verdict: Option<Verdict<'v>>) -> Option<Verdict<'v>> {
        let args = self.args;
        shown(verdict, args.lint, args.select.context.pair, &self.filter)
    }

    /// Returns true if the messages that --head asks for are shown.
    fn has_all(&self) -> bool {
        let head = self.args.select.head;
        head.is_some_and(|head| self.shown >= head)
    }

    fn begin(&mut self, run: &Run<'_>) {
        let source = run.source();
        self.direction = source.direction;
        if let Some(recorder) = &mut self.recorder {
            recorder.begin_input();
        }
        let is_text = self.format != Some(Format::Json) && self.verify.is_none();
        self.source = if source.is_one_of_several && is_text {
            SourceCounts::with_heading(&source.name, self.shown > 0, self.display)
        } else {
            SourceCounts::default()
        };
        let names_file = source.is_one_of_several && source.merged.is_none() && !is_text;
        // As long as the program runs: display options are copied to each renderer.
        self.display.source = names_file.then(|| &*source.name.clone().leak());
        let lines = matches!(self.format, None | Some(Format::Line));
        if let Some(operations) = &mut self.operations {
            operations.restart();
        } else if lines && self.display.width.is_some() && self.args.reads_files() {
            self.writer.hold_screen();
        }
        self.reporter.begin(&source.name);
        if let Some((_, facts)) = &mut self.rows {
            facts.begin(&source.name);
        }
        self.context.restart();
    }

    fn item(&mut self, item: &Item<'_>) -> Result<()> {
        if let Item::Header(header) = item {
            self.reporter.header();
            if let Some((_, facts)) = &mut self.rows {
                facts.header(header);
            }
        }
        (self.recorder.as_mut()).map_or(Ok(()), |recorder| recorder.item(item, self.direction))
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        let faulty = self.source.faulty;
        self.source.count(decoded);
        self.faulty += self.source.faulty - faulty;
        // Also for messages that are not shown: later deltas build on them.
        if let Some(delta_states) = &mut self.delta_states {
            delta_states.apply(decoded, self.display);
        }
        self.reporter.see(decoded);
        if let Some((_, facts)) = &mut self.rows {
            facts.see(decoded);
        }
        let stderr = self.stderr.iter_mut();
        stderr.for_each(|stderr| stderr.see(decoded.index));
        if self.operations.is_some() {
            let ended = verdict.map_or(&[][..], |verdict| verdict.ended);
            return self.show_operations(Some((decoded, verdict)), ended);
        }
        self.show(decoded, verdict)
    }

    /// Handles an event of a connection. `None`: the input ends.
    fn event(&mut self, event: Option<&Event<'_>>) -> Result<()> {
        let Some(stderr) = self.stderr.as_mut() else {
            return Ok(());
        };
        self.scratch.clear();
        let (format, display) = (self.format.unwrap_or(Format::Line), self.display);
        match event {
            Some(event) => stderr.add(event, format, display, &mut self.scratch),
            None => stderr.end(format, display, &mut self.scratch),
        }
        let below = self.operations.as_mut().zip(event);
        let is_below = below.is_some_and(|(all, event)| all.keep_stderr(event.conn, &self.scratch));
        if is_below || self.scratch.is_empty() || self.has_all() {
            return Ok(());
        }
        self.put_scratch()
    }

    fn idle(&mut self) -> Result<()> {
        self.flush()?;
        // A followed file may never grow again, and then no write would detect the closed pipe.
        if self.writer.output.is_reader_gone() {
            return Err(StdoutClosed.into());
        }
        Ok(())
    }

    fn end(&mut self, run: &Run<'_>, findings: &[Finding]) -> Result<()> {
        self.event(None)?;
        if let Some(conversation) = run.conversation() {
            self.show_operations(None, conversation.ended_operations())?;
            let untracked = conversation.untracked_operations();
            if untracked > 0 && self.operations.is_some() && !self.quiet {
                let text = "operations are left out: too many were open";
                self.closing
                    .push(format!("{}: {untracked} {text}", run.source().name));
            }
        }
        let is_shown = self.format != Some(Format::Json) && self.display.terminal;
        let text = std::mem::take(&mut self.source).fault_text(&run.source().name, is_shown);
        self.closing.extend(text.filter(|_| !self.quiet));
        // Messages before notes about them: both may go to the same terminal.
        let is_written = !self.writer.holds_message() && self.args.select.tail.is_none();
        if is_written {
            self.writer.lay_out(self.display);
            self.writer.output.flush()?;
        }
        self.reporter.finish(run.conversation(), findings);
        if is_written {
            self.closing.drain(..).for_each(|text| print_message(&text));
        }
        Ok(())
    }

    fn output(&mut self, output: Output<'_>) -> Result<()> {
        match output {
            Output::Begin(run) => self.begin(run),
            Output::Item(item, _) => self.item(item)?,
            Output::Message(decoded, verdict) => self.message(decoded, verdict)?,
            Output::Event(event, verdict) => {
                self.reporter.event(event, verdict.findings);
                self.event(Some(event))?;
                self.show_operations(None, verdict.ended)?;
            }
            Output::Pause(_, _) => self.idle()?,
            Output::BeforeEnd(run) => self.reporter.wait(run.conversation()),
            Output::End(run, findings) => self.end(run, findings)?,
            Output::Note(_) => {}
        }
        Ok(())
    }

    /// Returns true if no more messages are needed.
    fn is_done(&self) -> bool {
        self.has_all() && self.context.is_complete()
    }
}

impl Sink for DecodeScreen<'_> {
    type Break = Result<()>;

    fn want(&self) -> Option<Want> {
        let is_first = self.format.is_none() && self.shown == 0;
        Some(self.args.want(&self.filter, self.format, is_first))
    }

    fn rules(&self) -> Option<RuleSettings> {
        let args = self.args;
        let needed =
            args.select.context.pair || args.ops || args.flat || self.filter.needs_session();
        let mut rules = self.reporter.rules(needed)?;
        let shows_verdict = args.lint || args.select.context.pair;
        let shows = self.format == Some(Format::Json) && shows_verdict;
        rules.operations = shows || args.ops || args.flat || self.filter.needs_operations();
        Some(rules)
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        let is_end = matches!(
            output,
            Output::Pause(..) | Output::BeforeEnd(_) | Output::End(..)
        );
        if self.is_done() && !is_end {
            return ControlFlow::Break(Ok(()));
        }
        let taken = match self.output(output) {
            // The recording is complete all the same.
            Err(error) if self.recorder.is_some() && crate::cli::is_closed_pipe(&error) => {
                self.writer.output = CommandOutput::nothing();
                Ok(())
            }
            taken => taken,
        };
        match taken {
            Ok(()) if !self.is_done() => ControlFlow::Continue(()),
            taken => ControlFlow::Break(taken),
        }
    }
}
