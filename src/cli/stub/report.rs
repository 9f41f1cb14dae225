//! Shows the requests of a stub on stderr, one per line, and writes the report.

use crate::cli::options::{self, SharedArgs};
use crate::cli::output::CommandOutput;
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::live::stub::{AnswerSource, StubObserver, StubReport, Usage};
use crate::render::DisplayOptions;
use crate::render::line::Lines;
use crate::render::style::Highlight;
use crate::transport::MessagePrinter;
use anyhow::Result;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The exit status that a script has set.
pub type ExitStatus = Arc<Mutex<Option<u8>>>;

/// Writes the report, completely or not at all.
pub fn write(path: Option<&Path>, report: &StubReport) -> Result<()> {
    let Some(path) = path else {
        return Ok(());
    };
    let mut output = CommandOutput::create(path, &[])?;
    output.push(report.to_json());
    output.finish()
}

/// Logs the requests and writes the report.
pub struct RequestLog {
    status: ExitStatus,
    report: Option<PathBuf>,
    display: DisplayOptions,
    lines: Lines,
    quiet: bool,
    verbose: bool,
    say: MessagePrinter,
    /// The report could not be written, and the error was printed.
    failed: bool,
}

impl RequestLog {
    pub fn new(
        status: ExitStatus,
        report: Option<PathBuf>,
        shared: &SharedArgs,
        say: MessagePrinter,
    ) -> Self {
        let mut display = options::display_options(shared, std::io::stderr().is_terminal());
        display.width = None;
        Self {
            status,
            report,
            display,
            lines: Lines::default(),
            quiet: shared.quiet,
            verbose: shared.verbose,
            say,
            failed: false,
        }
    }
}

impl StubObserver for RequestLog {
    fn received(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, outcome: AnswerSource<'_>) {
        if self.quiet || outcome == AnswerSource::Protocol && !self.verbose {
            return;
        }
        let mut text = String::new();
        self.lines
            .write(decoded, Some(verdict), self.display, &mut text);
        let by = match outcome {
            AnswerSource::Rule(place) => format!("  as {place} says"),
            AnswerSource::Recorded(index) => format!("  as recorded in #{index}"),
            AnswerSource::UnansweredRequest(_) => "  no answer".to_owned(),
            AnswerSource::Protocol => String::new(),
        };
        let at = text.find('\n').unwrap_or(text.len());
        let mut note = String::new();
        self.display.style.push(&mut note, Highlight::Note, &by);
        text.insert_str(at, &note);
        super::super::poll::print_escaped_nonblocking(&text);
    }

    fn changed(&mut self, report: &StubReport) {
        let path = self.report.as_deref();
        if let Err(error) = write(path, report)
            && !std::mem::replace(&mut self.failed, true)
        {
            (self.say)(&format!("{error:#}"));
        }
    }

    fn exits(&mut self, status: u8) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
    }
}

/// Returns `my.toml:3 (subject=pow)`.
pub fn usage_text(usage: &Usage) -> String {
    match &*usage.about {
        "" => usage.place.to_string(),
        about => format!("{} ({about})", usage.place),
    }
}
