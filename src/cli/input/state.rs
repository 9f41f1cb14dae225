//! Counts and reports about inputs, for every command.

use crate::capture::{Problem, ProblemSeverity, Sources};
use crate::cli::interrupt::Stop;
use crate::cli::options::SharedArgs;
use crate::cli::output::CommandOutput;
use crate::cli::progress::{ProgressSink, ReadProgress};
use crate::cli::{Exit, print_about, print_message};
use anyhow::Result;
use std::sync::Arc;
use std::time::Duration;

/// The state of a run over inputs.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub struct InputState {
    pub quiet: bool,
    pub verbose: bool,
    /// The input ends only by an interruption.
    pub follows: bool,
    /// Set if signals end reading.
    pub stop: Option<Stop>,
    /// The number of bytes of all sources.
    pub bytes: u64,
    /// The number of messages of all sources.
    pub messages: u64,
    /// Part of the input could not be used.
    pub is_bad: bool,
    /// Receives notes instead of stderr.
    pub notes: Option<NoteSink>,
    /// The time without input after which the sink takes a pause.
    pub stall: Option<Duration>,
    /// The messages of each source are counted from 0, as those of a single source.
    pub counts_each_source: bool,
    /// The output is on the terminal that would show the progress.
    pub hides_progress: bool,
    /// Is told the progress instead of the terminal.
    pub progress: Option<ProgressSink>,
    /// Findings at the end of a source say why no protocol recognises it.
    pub findings_explain: bool,
    /// Each message is shown as a line without its secrets.
    pub masks_lines: bool,
    /// The captures, if several are one conversation.
    pub sources: Option<&'static Sources>,
}

/// Receives notes about the input.
pub type NoteSink = Box<dyn FnMut(&str) + Send>;

impl InputState {
    /// Creates the state of a run that `stop` ends.
    pub fn new(shared: &SharedArgs, follows: bool, stop: Option<Stop>) -> Self {
        Self {
            quiet: shared.quiet,
            verbose: shared.verbose,
            follows,
            stop,
            ..Self::default()
        }
    }

    /// Returns the state of a run over one of the inputs.
    pub(super) fn of_one(&self) -> Self {
        Self {
            quiet: self.quiet,
            verbose: self.verbose,
            stop: self.stop.clone(),
            counts_each_source: self.counts_each_source,
            hides_progress: true,
            findings_explain: self.findings_explain,
            masks_lines: self.masks_lines,
            ..Self::default()
        }
    }

    /// Adds the counts of a run over one of the inputs.
    pub(super) fn add(&mut self, one: &Self) {
        self.bytes += one.bytes;
        self.messages += one.messages;
        self.is_bad |= one.is_bad;
    }

    /// Prints a note.
    pub fn note(&mut self, source: &str, text: &str) {
        match &mut self.notes {
            Some(notes) => notes(text),
            None if self.quiet => {}
            None => print_about(source, text),
        }
    }

    /// Prints why part of the input could not be used.
    pub fn problem(&mut self, source: &str, text: &str) {
        self.is_bad = true;
        match &mut self.notes {
            Some(notes) => notes(text),
            None => print_about(source, text),
        }
    }

    /// Prints what is wrong with an input.
    pub fn report(&mut self, source: &str, problem: &Problem) {
        let text = problem.to_string();
        match problem.severity {
            ProblemSeverity::Note => self.note(source, &text),
            ProblemSeverity::Error | ProblemSeverity::Unreadable => self.problem(source, &text),
        }
    }

    /// Prints how the input was read, for `--verbose`.
    pub fn detail(&mut self, source: &str, text: &str) {
        if self.verbose {
            self.note(source, text);
        }
    }

    /// Returns the progress of an input of `total` bytes, if it is shown: nothing else is written to the terminal meanwhile.
    pub fn progress(&self, total: u64, is_plain: bool) -> Option<ReadProgress> {
        match &self.progress {
            Some(sink) => Some(ReadProgress::for_sink(total, Arc::clone(sink))),
            None => ReadProgress::new(total, is_plain && !self.quiet && !self.hides_progress),
        }
    }

    /// Returns true after a signal.
    pub fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(Stop::is_set)
    }

    /// Returns the exit status after a signal.
    pub fn exit(&self) -> Option<Exit> {
        self.stop.as_ref().and_then(Stop::exit)
    }

    /// Returns the exit status after a signal that leaves the output incomplete.
    pub fn cut_short(&self) -> Option<Exit> {
        self.exit().filter(|_| !self.follows)
    }

    /// Ends the output, and says that there was nothing to `read`; returns the exit status after a signal.
    pub fn finish(&self, output: CommandOutput, read: &str) -> Result<Option<Exit>> {
        if let Some(exit) = self.cut_short() {
            output.finish_incomplete()?;
            return Ok(Some(exit));
        }
        output.finish()?;
        if self.bytes == 0 && self.messages == 0 && !self.quiet {
            print_message(&format!("empty input: there is nothing to {read}"));
        }
        Ok(self.exit())
    }

    /// Reports that no message was selected, and what there is instead.
    pub fn note_no_match(&self, there: Option<String>) {
        if !self.quiet {
            let there = there.map_or(String::new(), |there| format!("; {there}"));
            print_message(&format!(
                "none of {} messages matches{there}",
                self.messages
            ));
        }
    }
}
