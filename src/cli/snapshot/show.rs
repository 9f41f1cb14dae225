//! How snapshots and what differs in them look.

use super::find::Found;
use crate::cli::Exit;
use crate::cli::output::{Output, present};
use crate::render::Look;
use crate::render::style::Tone;
use crate::snapshot::{Change, Summary, changes};
use anyhow::Result;
use serde_json::{Value, json};

/// Lines of one difference that are shown.
const SHOWN: usize = 200;

/// What differs between a snapshot and what is decoded now.
pub fn difference(old: &str, new: &str, look: Look, out: &mut String) {
    let all = changes(old, new);
    if !old.is_empty() {
        let summary = Summary::of(old, new);
        look.style.put(out, Tone::Note, &format!("    {summary}\n"));
    }
    for change in all.iter().take(SHOWN) {
        let (sign, tone, text) = match change {
            Change::Both(text) => ("  ", Tone::Dim, *text),
            Change::Old(text) => ("- ", Tone::Bad, *text),
            Change::New(text) => ("+ ", Tone::Back, *text),
            Change::Gap(n) => {
                let lines = if *n == 1 { "line" } else { "lines" };
                look.style
                    .put(out, Tone::Dim, &format!("    … {n} {lines}\n"));
                continue;
            }
        };
        row(sign, tone, text, look, out);
    }
    more(all.len(), look, out);
}

/// All of a snapshot.
pub fn whole(text: &str, look: Look, out: &mut String) {
    for line in text.lines() {
        row("  ", Tone::Plain, line, look, out);
    }
}

fn row(sign: &str, tone: Tone, text: &str, look: Look, out: &mut String) {
    let line = format!("    {sign}{text}");
    // A snapshot is a file that anybody may have written.
    look.style.wire(out, tone, line.trim_end());
    out.push('\n');
}

fn more(lines: usize, look: Look, out: &mut String) {
    if lines > SHOWN {
        let text = format!("    … and {} more lines\n", lines - SHOWN);
        look.style.put(out, Tone::Dim, &text);
    }
}

/// A fixture for programs; what became of it, where that is known.
pub fn object(found: &Found, result: Option<&str>, error: Option<&str>) -> Value {
    let there = |path: std::path::PathBuf| path.is_file().then(|| path.display().to_string());
    present(json!({
        "v": 1,
        "fixture": found.fixture.display().to_string(),
        "state": result.unwrap_or(found.state.name()),
        "snapshot": there(found.snapshot()),
        "pending": there(found.pending()),
        "error": error,
    }))
}

/// `snapshot list`.
pub fn list(found: &[Found], as_json: bool, look: Look) -> Result<Exit> {
    let mut output = Output::open(None, &[])?;
    output.is_json = as_json;
    for one in found {
        let mut text = String::new();
        if as_json {
            text = object(one, None, None).to_string();
        } else {
            look.style
                .put(&mut text, Tone::Kind, &format!("{:<14}", one.state.words()));
            let path = one.fixture.display().to_string();
            look.style.wire(&mut text, Tone::Plain, &path);
        }
        text.push('\n');
        output.room().extend_from_slice(text.as_bytes());
        output.written()?;
    }
    output.finish()?;
    Ok(Exit::Clean)
}
