//! Shows snapshots and their differences.

use super::find::FoundFixture;
use crate::cli::Exit;
use crate::cli::output::{CommandOutput, without_nulls};
use crate::render::DisplayOptions;
use crate::render::style::Highlight;
use crate::snapshot::{LineChange, SnapshotSummary, changes};
use anyhow::Result;
use serde_json::{Value, json};

/// The maximum number of lines of a difference.
const MAX_SHOWN: usize = 200;

/// Shows the difference between a snapshot and the new text.
pub fn write_difference(old: &str, new: &str, display: DisplayOptions, out: &mut String) {
    let all = changes(old, new);
    if !old.is_empty() {
        let summary = SnapshotSummary::of(old, new);
        display
            .style
            .push(out, Highlight::Note, &format!("    {summary}\n"));
    }
    for change in all.iter().take(MAX_SHOWN) {
        let (sign, highlight, text) = match change {
            LineChange::Both(text) => ("  ", Highlight::Dim, *text),
            LineChange::Old(text) => ("- ", Highlight::Error, *text),
            LineChange::New(text) => ("+ ", Highlight::ToClient, *text),
            LineChange::Gap(n) => {
                let lines = if *n == 1 { "line" } else { "lines" };
                display
                    .style
                    .push(out, Highlight::Dim, &format!("    … {n} {lines}\n"));
                continue;
            }
        };
        write_row(sign, highlight, text, display, out);
    }
    write_more(all.len(), display, out);
}

/// Shows a whole snapshot.
pub fn write_whole(text: &str, display: DisplayOptions, out: &mut String) {
    for line in text.lines() {
        write_row("  ", Highlight::Plain, line, display, out);
    }
}

fn write_row(
    sign: &str,
    highlight: Highlight,
    text: &str,
    display: DisplayOptions,
    out: &mut String,
) {
    let line = format!("    {sign}{text}");
    // Any program may have written the snapshot file.
    display.style.push_wire(out, highlight, line.trim_end());
    out.push('\n');
}

fn write_more(lines: usize, display: DisplayOptions, out: &mut String) {
    if lines > MAX_SHOWN {
        let text = format!("    … and {} more lines\n", lines - MAX_SHOWN);
        display.style.push(out, Highlight::Dim, &text);
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
pub fn list(found: &[FoundFixture], as_json: bool, display: DisplayOptions) -> Result<Exit> {
    let mut output = CommandOutput::open(None, &[])?;
    output.is_json = as_json;
    for one in found {
        let mut text = String::new();
        if as_json {
            text = fixture_json(one, None, None).to_string();
        } else {
            display.style.push(
                &mut text,
                Highlight::Kind,
                &format!("{:<14}", one.state.description()),
            );
            let path = one.fixture.display().to_string();
            display.style.push_wire(&mut text, Highlight::Plain, &path);
        }
        text.push('\n');
        output.push(&text);
        output.written()?;
    }
    output.finish()?;
    Ok(Exit::Clean)
}
