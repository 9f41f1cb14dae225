//! The names of servers, and those of their recordings.

use super::file::ConfigFile;
use super::{Entry, Selected};
use crate::cli::state;
use crate::path::{Path as KeyPath, PathStep};
use anyhow::{Context as _, Result};
use std::path::Path;

/// Returns the name of the entry at a path: its key, or that of its list with its number.
pub(super) fn name_of(path: &KeyPath) -> Result<String> {
    let mut name = None;
    for step in path.iter() {
        name = match (step, name) {
            (PathStep::Member(key), _) => Some(key.clone()),
            (PathStep::Element(n), Some(list)) => Some(format!("{list}-{n}")),
            (PathStep::Element(n), None) => Some(format!("server-{n}")),
        };
    }
    name.context("--entry: wanted the path of an entry, such as servers.github")
}

/// Returns the name of the recordings of a server: its own, and that of its client if another server has the same.
pub(super) fn recording_name(file: &ConfigFile, entry: &Entry, all: &Selected) -> String {
    let mut name = state::file_name(&entry.name);
    let own = name.clone();
    let same = all.iter().flat_map(|(other, entries)| {
        let same = entries
            .iter()
            .filter(|one| state::file_name(&one.name) == own);
        same.map(|one| (other.is_same(file), one.name == entry.name))
    });
    let same: Vec<_> = same.collect();
    if same.iter().any(|(is_here, _)| !is_here) {
        let client = match file.client {
            "" => Path::new(&file.name)
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy(),
            client => client.into(),
        };
        name = format!("{name}-{client}");
    }
    // Two names in one file that become one.
    if same.contains(&(true, false)) {
        name = format!("{name}-{:08x}", crc32fast::hash(entry.name.as_bytes()));
    }
    state::file_name(&name)
}
