//! The folder of recordings that have a name but no path: `@last`, `@NAME`.
//!
//! ```text
//!   ~/.local/state/wiretool/recordings/NAME/2026-01-31T12.00.00-4711-000001.jsonl
//! ```
//!
//! Only the user can read it. A long recording goes on in further files. When a file begins, the oldest ones are removed if
//! all together are too large.

use super::config;
use crate::capture::Time;
use crate::system;
use anyhow::{Context as _, Result};
use std::collections::HashMap;
use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

/// The default limit for the size of all recordings, in bytes.
const MAX_SIZE: u64 = 1 << 30;
/// The limit for the size of a file that goes on in another one.
pub const PART_SIZE: u64 = 64 << 20;
/// Recordings that changed within this time, in nanoseconds, are not removed: a program may still write their last file.
const MIN_AGE: Time = 3_600_000_000_000;

/// A recording in the folder.
struct StoredRecording {
    path: PathBuf,
    name: String,
    /// Nanoseconds since 1970.
    changed: Time,
    size: u64,
}

/// Returns the folder of this user's files that are neither settings nor documents.
pub fn folder() -> Option<PathBuf> {
    config::folder("XDG_STATE_HOME", ".local/state")
}

/// Creates a folder that only the user can read.
pub fn create_folder(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    let created = system::make_private_folder(builder.recursive(true)).create(path);
    created.with_context(|| format!("cannot create {}", path.display()))
}

/// Returns the form of a name in paths: other characters than those of file names become `-`.
pub fn file_name(name: &str) -> String {
    let keep = |c: char| {
        if c.is_alphanumeric() || "._-".contains(c) {
            c
        } else {
            '-'
        }
    };
    let name: String = name.chars().map(keep).take(100).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() || name == "last" {
        format!("{name}-")
    } else {
        name.to_owned()
    }
}

/// Returns all recordings, the oldest first.
fn list() -> Vec<StoredRecording> {
    let Some(folder) = folder() else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for named in folder
        .join("recordings")
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = named.file_name().to_string_lossy().into_owned();
        for file in named.path().read_dir().into_iter().flatten().flatten() {
            let Ok(meta) = file.metadata() else {
                continue;
            };
            // A snapshot may stand beside a recording.
            if meta.is_file() && !is_snapshot(&file.path()) {
                all.push(StoredRecording {
                    path: file.path(),
                    name: name.clone(),
                    changed: system::changed(&meta).into(),
                    size: meta.len(),
                });
            }
        }
    }
    // Names begin with the time, which decides between equal times of change.
    all.sort_by(|a, b| (a.changed, a.path.file_name()).cmp(&(b.changed, b.path.file_name())));
    all
}

fn is_snapshot(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension == "snap" || extension == "new")
}

/// Returns the number of recordings of a name.
pub fn count(name: &str) -> u64 {
    list().iter().filter(|one| one.name == name).count() as u64
}

/// Returns the newest recording of all.
pub fn last() -> Option<PathBuf> {
    list().pop().map(|newest| newest.path)
}

/// Parses the path of a capture: `@last` and `@NAME` are the newest recordings in the folder.
///
/// # Errors
///
/// Fails if there is neither such a recording nor such a file.
pub fn find(path: PathBuf) -> Result<PathBuf, String> {
    let Some(name) = path.to_str().and_then(|text| text.strip_prefix('@')) else {
        return Ok(path);
    };
    let all = list();
    let matches = |one: &&StoredRecording| name == "last" || one.name == file_name(name);
    if let Some(newest) = all.iter().rev().find(matches) {
        return Ok(newest.path.clone());
    }
    if path.exists() {
        return Ok(path);
    }
    let mut names: Vec<&str> = all.iter().map(|one| &*one.name).collect();
    names.sort_unstable();
    names.dedup();
    let known = match &names[..] {
        [] => "wiretool wrap and -w @NAME make some".to_owned(),
        names => format!("there are @last, @{}", names.join(", @")),
    };
    Err(format!("no recording has the name {name}: {known}"))
}

/// Returns the path of a new recording, and creates its folder. `name` has no `@`.
///
/// # Errors
///
/// Fails if no home folder is known, or if the folder cannot be created.
pub fn new_recording(name: &str) -> Result<PathBuf> {
    let folder = folder().context("-w @NAME needs HOME or XDG_STATE_HOME")?;
    let folder = folder.join("recordings").join(file_name(name));
    create_folder(&folder)?;
    make_room();
    let time = jiff::Timestamp::now().to_string();
    let time = time.get(..19).unwrap_or_default().replace(':', ".");
    Ok(folder.join(format!("{time}-{}-{{n}}.jsonl", std::process::id())))
}

/// Removes the oldest recordings, so that there is room for a file.
pub fn make_room() {
    remove_oldest(&list(), MAX_SIZE - PART_SIZE, crate::transport::now());
}

/// Returns the path of a recording without the number of its part.
fn without_number(path: &Path) -> &str {
    let name = path.file_stem().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    let digits = |end: &str| end.len() == 6 && end.bytes().all(|byte| byte.is_ascii_digit());
    match name.rsplit_once('-') {
        Some((before, end)) if digits(end) => before,
        _ => name,
    }
}

/// Removes the oldest recordings until the others have at most `max` bytes. `all` is in the order of age.
fn remove_oldest(all: &[StoredRecording], max: u64, now: Time) {
    let mut size: u64 = all.iter().map(|one| one.size).sum();
    let of = |one: &StoredRecording| (one.name.clone(), without_number(&one.path).to_owned());
    // Only the last file of a recording is still written.
    let last: HashMap<_, &Path> = all
        .iter()
        .map(|one| (of(one), one.path.as_path()))
        .collect();
    let is_last = |one: &StoredRecording| last.get(&of(one)) == Some(&one.path.as_path());
    let is_old = |one: &&StoredRecording| now - one.changed > MIN_AGE || !is_last(one);
    for one in all.iter().filter(is_old) {
        if size <= max {
            return;
        }
        // Another run may have removed it.
        let _ = std::fs::remove_file(&one.path);
        size = size.saturating_sub(one.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_recordings_are_removed_if_all_are_too_large() {
        let now = 10 * MIN_AGE;
        for (max, ages, wanted) in [
            (25, [5, 4, 3, 2], vec!["2", "3"]),
            (40, [5, 4, 3, 2], vec!["0", "1", "2", "3"]),
            (0, [5, 4, 3, 0], vec!["3"]),
            (15, [5, 1, 1, 1], vec!["1", "2", "3"]),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let all = ages.iter().enumerate().map(|(n, age)| {
                let path = folder.path().join(n.to_string());
                std::fs::write(&path, [0; 10]).unwrap();
                StoredRecording {
                    path,
                    name: "s".to_owned(),
                    changed: now - age * MIN_AGE,
                    size: 10,
                }
            });
            remove_oldest(&all.collect::<Vec<_>>(), max, now);
            let left = folder.path().read_dir().unwrap();
            let mut left: Vec<String> = left
                .map(|file| file.unwrap().file_name().into_string().unwrap())
                .collect();
            left.sort();
            assert_eq!(left, wanted, "{max} {ages:?}");
        }
    }

    #[test]
    fn finished_parts_of_a_recording_are_removed_at_any_age() {
        let folder = tempfile::tempdir().unwrap();
        let now = 10 * MIN_AGE;
        let names = ["t-1-000001", "t-1-000002", "t-2-000001", "t-1-000003"];
        let all = names.iter().enumerate().map(|(n, name)| {
            let path = folder.path().join(format!("{name}.jsonl"));
            std::fs::write(&path, [0; 10]).unwrap();
            StoredRecording {
                path,
                name: "s".to_owned(),
                changed: now - 10 + n as Time,
                size: 10,
            }
        });
        remove_oldest(&all.collect::<Vec<_>>(), 5, now);
        let left = names.map(|name| folder.path().join(format!("{name}.jsonl")).exists());
        assert_eq!(left, [false, false, true, true]);
    }

    #[test]
    fn names_are_names_of_files() {
        for (name, wanted) in [
            ("github", "github"),
            ("a/../b c", "a-..-b-c"),
            ("../x", "-x"),
            ("last", "last-"),
            ("", "-"),
            ("é", "é"),
        ] {
            assert_eq!(file_name(name), wanted);
        }
    }
}
