//! Counts and reports about inputs, for every command.

use super::FrameDisplay;
use super::detection::report_detection;
use crate::cli::interrupt::Stop;
use crate::cli::options::SharedArgs;
use crate::cli::output::Output;
use crate::cli::{Exit, print_about, print_message};
use crate::conversation::pipeline::Pipeline;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The state of a run over inputs.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub struct InputRun {
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
}

/// Receives notes about the input.
pub type NoteSink = Box<dyn FnMut(&str)>;

impl InputRun {
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

    /// Prints a note; `bad` if part of the input could not be used.
    pub fn note(&mut self, source: &str, text: &str, bad: bool) {
        self.is_bad |= bad;
        match &mut self.notes {
            Some(notes) => notes(text),
            None if bad || !self.quiet => print_about(source, text),
            None => {}
        }
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
    pub fn finish(&self, output: Output, read: &str) -> Result<Option<Exit>> {
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

impl dyn FrameDisplay + '_ {
    /// Prints a note; `bad` if part of the input could not be used.
    pub fn note(&mut self, source: &str, text: &str, bad: bool) {
        self.run().note(source, text, bad);
    }

    /// Prints how the input was read, for `--verbose`.
    pub fn detail(&mut self, source: &str, text: &str) {
        if self.run().verbose {
            self.run().note(source, text, false);
        }
    }

    /// Returns a flag that ends reading as the end of the input does.
    pub fn stop(&mut self) -> Option<Arc<AtomicBool>> {
        self.run().stop.as_ref().map(Stop::flag)
    }

    /// Ends a source, of which `bytes` bytes were read.
    pub fn end_source(
        &mut self,
        source: &str,
        bytes: u64,
        pipeline: &mut Pipeline<'_>,
    ) -> Result<()> {
        self.run().bytes += bytes;
        report_detection(source, &pipeline.decoder, self);
        self.end(source, bytes, pipeline)
    }
}
