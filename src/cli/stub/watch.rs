//! What a stub tells while it runs: a line a request on stderr, and the report.

use crate::cli::options::{self, Shared};
use crate::cli::output::stream;
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::render::style::Tone;
use crate::render::{Look, live};
use crate::stub::{Fate, Report, Tally, Watch};
use crate::transport::Say;
use anyhow::{Context as _, Result};
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// No script has said how it ends.
const NONE: u32 = u32::MAX;

/// How it ends, and whether the report can be written.
pub struct Fates {
    status: AtomicU32,
}

impl Default for Fates {
    fn default() -> Self {
        Self {
            status: AtomicU32::new(NONE),
        }
    }
}

impl Fates {
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
pub struct Teller {
    fates: Arc<Fates>,
    report: Option<PathBuf>,
    look: Look,
    quiet: bool,
    verbose: bool,
    say: Say,
    /// The report could not be written, and that was said.
    failed: bool,
}

impl Teller {
    pub fn new(fates: Arc<Fates>, report: Option<PathBuf>, shared: &Shared, say: Say) -> Self {
        let mut look = options::look_on(shared, std::io::stderr().is_terminal());
        look.width = None;
        Self {
            fates,
            report,
            look,
            quiet: shared.quiet,
            verbose: shared.verbose,
            say,
            failed: false,
        }
    }
}

impl Watch for Teller {
    fn heard(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>, fate: Fate<'_>) {
        if self.quiet || fate == Fate::Protocol && !self.verbose {
            return;
        }
        let mut text = String::new();
        live::line(decoded, Some(verdict), self.look, &mut text);
        let by = match fate {
            Fate::Rule(place) => format!("  as {place} says"),
            Fate::Recorded(index) => format!("  as recorded in #{index}"),
            Fate::Missed(_) => "  no answer".to_owned(),
            Fate::Protocol => String::new(),
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
        self.fates.status.store(status.into(), Ordering::Relaxed);
    }
}

/// `my.toml:3 (subject=pow)`.
pub fn tally(tally: &Tally) -> String {
    match tally.about.as_str() {
        "" => tally.place.clone(),
        about => format!("{} ({about})", tally.place),
    }
}
