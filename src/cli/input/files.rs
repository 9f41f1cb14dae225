//! Lists and opens the files to read, and pairs the two directions of a conversation.
//!
//! ```text
//!   a.c2s.bin b.bin a.s2c.bin   ->   a.c2s.bin + a.s2c.bin, b.bin
//!   folder                      ->   the captures in it, likewise
//! ```

use crate::capture::Record;
use crate::capture::recording::RecordingPart;
use crate::cli::output::as_file;
use crate::cli::suggestions::file_tip;
use anyhow::{Context as _, Result};
use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// The extensions of captures in folders, with or without `.gz`.
const EXTENSIONS: [&str; 9] = [
    "hex", "xxd", "b64", "bin", "txt", "jsonl", "pcap", "pcapng", "har",
];

/// Files that are read as one conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A file.
    File(PathBuf),
    /// The files of the client and of the server.
    Pair(PathBuf, PathBuf),
}

/// Returns the files in the order of their names on the command line; a pair, and the files of one recording, have the place
/// of their first file.
pub(super) fn list_units(named: &[PathBuf]) -> Result<Vec<Unit>> {
    let mut files = Vec::new();
    for path in named {
        if path.is_dir() {
            files.extend(list_captures(path)?);
        } else {
            files.push(path.clone());
        }
    }
    order_parts(&mut files);
    let mut units = Vec::new();
    while !files.is_empty() {
        let path = files.remove(0);
        let other =
            other_direction(&path).and_then(|partner| files.iter().position(|f| *f == partner));
        units.push(match other {
            None => Unit::File(path),
            Some(at) => {
                let other = files.remove(at);
                if is_c2s(&path) {
                    Unit::Pair(path, other)
                } else {
                    Unit::Pair(other, path)
                }
            }
        });
    }
    Ok(units)
}

/// Orders the files of a recording that has several; the first of them keeps its place.
fn order_parts(files: &mut Vec<PathBuf>) {
    if files.len() < 2 {
        return;
    }
    let mut rest: VecDeque<_> = files.drain(..).map(|file| (part_of(&file), file)).collect();
    while let Some((part, file)) = rest.pop_front() {
        let Some(part) = part else {
            files.push(file);
            continue;
        };
        let is_same = |other: &Option<RecordingPart>| {
            other
                .as_ref()
                .is_some_and(|o| o.is_of_same_recording(&part))
        };
        let (same, others) = rest.into_iter().partition(|(other, _)| is_same(other));
        rest = others;
        let mut set: Vec<_> = std::iter::once((Some(part), file))
            .chain::<VecDeque<_>>(same)
            .collect();
        set.sort_by_key(|(part, _)| part.as_ref().map(RecordingPart::number));
        files.extend(set.into_iter().map(|(_, file)| file));
    }
}

/// Returns which file of a recording a file is; `None` if it is no recording, or one that has only this file.
fn part_of(file: &Path) -> Option<RecordingPart> {
    match Record::parse(first_line(file)?.trim_ascii()) {
        Ok(Record::Header(header)) => RecordingPart::of(&header),
        _ => None,
    }
}

/// Returns true if a file is the next one of the same recording.
pub(super) fn continues(file: &Path, before: &Path) -> bool {
    let parts = [before, file].map(part_of);
    matches!(parts, [Some(before), Some(part)] if part.follows(&before))
}

/// Returns the first line of a plain file; a header of a recording is short.
fn first_line(path: &Path) -> Option<Vec<u8>> {
    /// The maximum length.
    const MAX: u64 = 64 << 10;
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut line = Vec::new();
    let file = File::open(path).ok()?.take(MAX);
    BufReader::new(file).read_until(b'\n', &mut line).ok()?;
    Some(line)
}

/// Returns the captures in a folder, sorted by name.
fn list_captures(folder: &Path) -> Result<Vec<PathBuf>> {
    let name = folder.display();
    let context = || format!("cannot read {name}");
    let mut files = Vec::new();
    for entry in folder.read_dir().with_context(context)? {
        let entry = entry.with_context(context)?;
        let path = entry.path();
        if path.is_file() && has_capture_name(&entry.file_name().to_string_lossy()) {
            files.push(path);
        }
    }
    files.sort();
    anyhow::ensure!(
        !files.is_empty(),
        "cannot read {name}: the folder has no file called *.{}",
        EXTENSIONS.join(" *.")
    );
    Ok(files)
}

/// Returns true if a file has the name of a capture.
pub fn has_capture_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    EXTENSIONS.iter().any(|extension| {
        let stem = name.strip_suffix(extension).unwrap_or_default();
        stem.len() > 1 && stem.ends_with('.')
    })
}

/// Returns the name of the file of the other direction: `a.s2c.bin` for `a.c2s.bin`.
pub fn other_direction(path: &Path) -> Option<PathBuf> {
    let name = path.file_name().and_then(OsStr::to_str)?;
    let words: Vec<&str> = name.split('.').collect();
    let at = words
        .iter()
        .rposition(|word| ["c2s", "s2c"].contains(word))?;
    let mut words = words;
    *words.get_mut(at)? = if is_c2s(path) { "s2c" } else { "c2s" };
    Some(path.with_file_name(words.join(".")))
}

/// Returns true if the name of a file is that of client-to-server bytes.
pub fn is_c2s(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    name.rsplit('.').find(|word| ["c2s", "s2c"].contains(word)) == Some("c2s")
}

/// A file or pipe that is read.
pub(super) struct OpenFile {
    pub name: String,
    pub file: File,
    /// A plain file: a read never blocks.
    pub plain: bool,
    /// The length of a plain file.
    pub len: u64,
}

pub(super) fn open(path: &Path) -> Result<OpenFile> {
    if path == Path::new("-") {
        return stdin();
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        let tip = file_tip(path).map_or(String::new(), |tip| format!("; {tip}"));
        anyhow::anyhow!("cannot open {name}: {error}{tip}")
    })?;
    let meta = file.metadata();
    let meta = meta.with_context(|| format!("cannot read {name}"))?;
    anyhow::ensure!(!meta.is_dir(), "cannot read {name}: it is a folder");
    Ok(OpenFile {
        name,
        file,
        plain: meta.is_file(),
        len: meta.len(),
    })
}

fn stdin() -> Result<OpenFile> {
    let file = as_file(std::io::stdin()).context("cannot read stdin")?;
    let meta = file.metadata().ok().filter(std::fs::Metadata::is_file);
    Ok(OpenFile {
        name: "stdin".into(),
        file,
        plain: meta.is_some(),
        len: meta.map_or(0, |meta| meta.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(names: &[&str]) -> Vec<String> {
        let paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        let units = list_units(&paths).unwrap();
        let units = units.iter().map(|unit| match unit {
            Unit::File(path) => path.display().to_string(),
            Unit::Pair(c2s, s2c) => format!("{} + {}", c2s.display(), s2c.display()),
        });
        units.collect()
    }

    #[test]
    fn two_named_directions_form_a_pair_and_one_is_read_alone() {
        for (named, wanted) in [
            (&["a.c2s.bin"][..], &["a.c2s.bin"][..]),
            (&["a.c2s.bin", "a.s2c.bin"], &["a.c2s.bin + a.s2c.bin"]),
            (
                &["x/a.s2c.hex", "b.bin", "x/a.c2s.hex"],
                &["x/a.c2s.hex + x/a.s2c.hex", "b.bin"],
            ),
            (&["a.c2s", "a.s2c"], &["a.c2s + a.s2c"]),
            (&["a.c2s.bin", "b.s2c.bin"], &["a.c2s.bin", "b.s2c.bin"]),
            (&["a.c2s.bin", "a.s2c.hex"], &["a.c2s.bin", "a.s2c.hex"]),
            (
                &["x/a.c2s.bin", "y/a.s2c.bin"],
                &["x/a.c2s.bin", "y/a.s2c.bin"],
            ),
            (&["c2s", "-"], &["c2s", "-"]),
        ] {
            assert_eq!(read(named), wanted, "{named:?}");
        }
    }

    #[test]
    fn folder_is_replaced_by_its_captures() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "b.s2c.bin.gz",
            "b.c2s.bin.gz",
            "a.jsonl",
            "notes.md",
            "c.bin.snap",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let path = folder.path().display().to_string();
        let wanted = [
            format!("{path}/a.jsonl"),
            format!("{path}/b.c2s.bin.gz + {path}/b.s2c.bin.gz"),
        ];
        assert_eq!(read(&[&path]), wanted);
        let empty = tempfile::tempdir().unwrap();
        let error = list_units(&[empty.path().to_owned()]).unwrap_err();
        assert!(
            error.to_string().contains("no file called *.hex"),
            "{error}"
        );
    }
}
