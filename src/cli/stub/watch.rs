//! What a stub tells while it runs: a line a request on stderr, and the report.

use crate::cli::options::{self, Shared};
use crate::cli::output::stream;
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::live::stub::{Observer, Outcome, Report, Usage};
use crate::render::style::Tone;
use crate::render::{Look, live};
use crate::transport::Say;
use anyhow::{Context as _, Result};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// No script has said how it ends.
const NONE: u32 = u32::MAX;

/// How it ends, and whether the report can be written.
pub struct ExitStatus {
    status: AtomicU32,
}

impl Default for ExitStatus {
    fn default() -> Self {
        Self {
            status: AtomicU32::new(NONE),
        }
    }
}

impl ExitStatus {
    /// The status that a script ended with.
    pub fn status(&self) -> Option<u8> {
        u8::try_from(self.status.load(Ordering::Relaxed)).ok()
    }
}

/// Writes the report, whole or not at all.
pub fn write(path: Option<&Path>, report: &Report) -> Result<()> {
    let Some(path) = path else {
        return Ok(());
    };
    let context = || format!("cannot write {}", path.display());
    // Devices and pipes are written to as they are.
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        let mut file = stream(path).with_context(context)?;
        return file
            .write_all(report.to_json().as_bytes())
            .with_context(context);
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(context)?;
    file.write_all(report.to_json().as_bytes())
        .with_context(context)?;
    file.persist(path)
        .map_err(|e| e.error)
        .with_context(context)?;
    Ok(())
}

/// Tells what the stub does.
pub struct Log {
    status: Arc<ExitStatus>,
    report: Option<PathBuf>,
    look: Look,
    quiet: bool,
    verbose: bool,
    say: Say,
    /// The report could not be written, and that was said.
    failed: bool,
}

impl Log {
    pub fn new(
        status: Arc<ExitStatus>,
        report: Option<PathBuf>,
        shared: &Shared,
        say: Say,
    ) -> Self {
        let mut look = options::look_on(shared, std::io::stderr().is_terminal());
        look.width = None;
        Self {
            status,
            report,
            look,
            quiet: shared.quiet,
            verbose: shared.verbose,
            say,
            failed: false,
        }
    }
}

impl Observer for Log {
    fn received(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, outcome: Outcome<'_>) {
        if self.quiet || outcome == Outcome::Protocol && !self.verbose {
            return;
        }
        let mut text = String::new();
        live::line(decoded, Some(verdict), self.look, &mut text);
        let by = match outcome {
            Outcome::Rule(place) => format!("  as {place} says"),
            Outcome::Recorded(index) => format!("  as recorded in #{index}"),
            Outcome::Missed(_) => "  no answer".to_owned(),
            Outcome::Protocol => String::new(),
        };
        let at = text.find('\n').unwrap_or(text.len());
        let mut note = String::new();
        self.look.style.put(&mut note, Tone::Note, &by);
        text.insert_str(at, &note);
        super::super::gentle::gently_raw(&text);
    }

    fn changed(&mut self, report: &Report) {
        let path = self.report.as_deref();
        if let Err(error) = write(path, report)
            && !std::mem::replace(&mut self.failed, true)
        {
            (self.say)(&format!("{error:#}"));
        }
    }

    fn exits(&mut self, status: u8) {
        self.status.status.store(status.into(), Ordering::Relaxed);
    }
}

/// `my.toml:3 (subject=pow)`.
pub fn usage(usage: &Usage) -> String {
    match usage.about.as_str() {
        "" => usage.place.clone(),
        about => format!("{} ({about})", usage.place),
    }
}
