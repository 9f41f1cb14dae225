//! Shows snapshots and their differences.

use super::find::FoundFixture;
use crate::cli::Exit;
use crate::cli::output::{Output, without_nulls};
use crate::render::Look;
use crate::render::style::Tone;
use crate::snapshot::{LineChange, SnapshotSummary, changes};
use anyhow::Result;
use serde_json::{Value, json};

/// The maximum number of lines of a difference.
const MAX_SHOWN: usize = 200;

/// Shows the difference between a snapshot and the new text.
pub fn write_difference(old: &str, new: &str, look: Look, out: &mut String) {
    let all = changes(old, new);
    if !old.is_empty() {
        let summary = SnapshotSummary::of(old, new);
        look.style
            .push(out, Tone::Note, &format!("    {summary}\n"));
    }
    for change in all.iter().take(MAX_SHOWN) {
        let (sign, tone, text) = match change {
            LineChange::Both(text) => ("  ", Tone::Dim, *text),
            LineChange::Old(text) => ("- ", Tone::Error, *text),
            LineChange::New(text) => ("+ ", Tone::ToClient, *text),
            LineChange::Gap(n) => {
                let lines = if *n == 1 { "line" } else { "lines" };
                look.style
                    .push(out, Tone::Dim, &format!("    … {n} {lines}\n"));
                continue;
            }
        };
        write_row(sign, tone, text, look, out);
    }
    write_more(all.len(), look, out);
}

/// Shows a whole snapshot.
pub fn write_whole(text: &str, look: Look, out: &mut String) {
    for line in text.lines() {
        write_row("  ", Tone::Plain, line, look, out);
    }
}

fn write_row(sign: &str, tone: Tone, text: &str, look: Look, out: &mut String) {
    let line = format!("    {sign}{text}");
    // Any program may have written the snapshot file.
    look.style.push_wire(out, tone, line.trim_end());
    out.push('\n');
}

fn write_more(lines: usize, look: Look, out: &mut String) {
    if lines > MAX_SHOWN {
        let text = format!("    … and {} more lines\n", lines - MAX_SHOWN);
        look.style.push(out, Tone::Dim, &text);
    }
}

/// Returns a fixture as JSON, with its result if it is known.
pub fn fixture_json(found: &FoundFixture, result: Option<&str>, error: Option<&str>) -> Value {
    let there = |path: std::path::PathBuf| path.is_file().then(|| path.display().to_string());
    without_nulls(json!({
        "v": 1,
        "fixture": found.fixture.display().to_string(),
        "state": result.unwrap_or(found.state.name()),
        "snapshot": there(found.snapshot()),
        "pending": there(found.pending()),
        "error": error,
    }))
}

/// Runs `snapshot list`.
pub fn list(found: &[FoundFixture], as_json: bool, look: Look) -> Result<Exit> {
    let mut output = Output::open(None, &[])?;
    output.is_json = as_json;
    for one in found {
        let mut text = String::new();
        if as_json {
            text = fixture_json(one, None, None).to_string();
        } else {
            look.style.push(
                &mut text,
                Tone::Kind,
                &format!("{:<14}", one.state.description()),
            );
            let path = one.fixture.display().to_string();
            look.style.push_wire(&mut text, Tone::Plain, &path);
        }
        text.push('\n');
        output.push(&text);
        output.written()?;
    }
    output.finish()?;
    Ok(Exit::Clean)
}
