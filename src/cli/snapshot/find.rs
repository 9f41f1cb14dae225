//! Finds fixtures and their snapshots.

use super::file::read_stored;
use crate::cli::config::FixtureConfigs;
use crate::cli::input::has_capture_name;
use crate::snapshot::{is_capture, pending_beside, snapshot_beside};
use anyhow::{Context as _, Result, ensure};
use ignore::{DirEntry, WalkBuilder};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// A fixture with its snapshots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundFixture {
    /// The path of the fixture, which may no longer exist.
    pub fixture: PathBuf,
    /// The state of its snapshots.
    pub state: FixtureState,
}

/// The state of a fixture and its snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FixtureState {
    /// It has a snapshot.
    Stored,
    /// It has a snapshot, and a new one is pending.
    Changed,
    /// It has no snapshot, and a new one is pending.
    New,
    /// It has no snapshot.
    Missing,
    /// There is a snapshot without a fixture.
    Unreferenced,
}

impl FixtureState {
    /// Returns the state in words for people.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Missing => "no snapshot",
            Self::Unreferenced => "no fixture",
            _ => self.name(),
        }
    }

    /// Returns the state in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Changed => "changed",
            Self::New => "new",
            Self::Missing => "missing",
            Self::Unreferenced => "unreferenced",
        }
    }
}

impl FoundFixture {
    pub fn snapshot(&self) -> PathBuf {
        snapshot_beside(&self.fixture)
    }

    /// Returns the path of the pending snapshot.
    pub fn pending(&self) -> PathBuf {
        pending_beside(&self.fixture)
    }

    /// Returns the state of a fixture, which may no longer exist.
    fn at(fixture: PathBuf) -> Self {
        let (stored, pending) = (snapshot_beside(&fixture), pending_beside(&fixture));
        let state = match (fixture.is_file(), stored.is_file(), pending.is_file()) {
            (false, ..) => FixtureState::Unreferenced,
            (true, true, true) => FixtureState::Changed,
            (true, true, false) => FixtureState::Stored,
            (true, false, true) => FixtureState::New,
            (true, false, false) => FixtureState::Missing,
        };
        Self { fixture, state }
    }

    /// Returns its snapshots, stored and pending, that wiretool wrote: without a fixture, other files may
    /// belong to another program.
    pub fn own_files(&self) -> Vec<PathBuf> {
        let is_ours = |path: &PathBuf| {
            let read = read_stored(path).ok().and_then(Result::ok);
            read.is_some_and(|stored| stored.is_ours())
        };
        let mut files = vec![self.snapshot(), self.pending()];
        files.retain(is_ours);
        files
    }
}

/// The fixtures that were found, each once.
#[derive(Default)]
struct FoundFixtures {
    found: BTreeSet<FoundFixture>,
    /// The canonical paths of these fixtures.
    known: HashSet<PathBuf>,
    /// Files with the names of captures that are not fixtures.
    others: BTreeSet<PathBuf>,
}

impl FoundFixtures {
    fn add(&mut self, found: FoundFixture) {
        let folder = match found.fixture.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Not that of the file itself: snapshots are next to a link, not next to its target.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = found.fixture.file_name().unwrap_or_default();
        if self.known.insert(folder.join(name)) {
            self.found.insert(found);
        }
    }
}

/// Returns all fixtures in paths, and snapshots without one, in order.
pub fn find(paths: &[PathBuf], configs: &mut FixtureConfigs) -> Result<Vec<FoundFixture>> {
    find_with_others(paths, configs).map(|(found, _)| found)
}

/// Returns all fixtures in paths and snapshots without one, in order, and the files in folders that only have names of captures.
pub fn find_with_others(
    paths: &[PathBuf],
    configs: &mut FixtureConfigs,
) -> Result<(Vec<FoundFixture>, Vec<PathBuf>)> {
    let mut found_fixtures = FoundFixtures::default();
    for path in paths {
        if path.is_dir() {
            walk(path, configs, &mut found_fixtures)?;
            continue;
        }
        let path = path.strip_prefix("./").unwrap_or(path);
        let fixture = fixture_of(path).unwrap_or_else(|| path.to_owned());
        let one = FoundFixture::at(fixture);
        let exists = one.state != FixtureState::Unreferenced
            || one.snapshot().is_file()
            || one.pending().is_file();
        ensure!(exists, "{}: no such file", path.display());
        found_fixtures.add(one);
    }
    let FoundFixtures { found, others, .. } = found_fixtures;
    Ok((found.into_iter().collect(), others.into_iter().collect()))
}

/// Returns the fixtures with a pending snapshot.
pub fn pending(paths: &[PathBuf], configs: &mut FixtureConfigs) -> Result<Vec<FoundFixture>> {
    let found = find(paths, configs)?;
    Ok(found
        .into_iter()
        .filter(|found| found.pending().is_file())
        .collect())
}

/// Returns the path of the fixture of a snapshot.
fn fixture_of(path: &Path) -> Option<PathBuf> {
    let name = crate::system::bytes_of(path.file_name()?);
    let name = name.as_ref();
    let fixture = name
        .strip_suffix(b".snap.new")
        .or_else(|| name.strip_suffix(b".snap"))?;
    Some(path.with_file_name(crate::system::name_of(fixture)))
}

fn walk(
    folder: &Path,
    configs: &mut FixtureConfigs,
    found_fixtures: &mut FoundFixtures,
) -> Result<()> {
    let is_looked_into = |entry: &DirEntry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let is_cache = || entry.path().join("CACHEDIR.TAG").is_file();
        !is_folder || entry.depth() == 0 || entry.file_name() != "node_modules" && !is_cache()
    };
    let walk = WalkBuilder::new(folder)
        .standard_filters(false)
        .hidden(true)
        .parents(true)
        .git_ignore(true)
        .git_exclude(true)
        .sort_by_file_path(Path::cmp)
        .filter_entry(is_looked_into)
        .build();
    for entry in walk {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let name = entry.file_name().to_string_lossy();
        // Names that are not UTF-8 are valid.
        let path = entry.path();
        let path = path.strip_prefix("./").unwrap_or(path);
        let fixture = match fixture_of(path) {
            Some(fixture) => fixture,
            None if has_capture_name(&name) => path.to_owned(),
            None => continue,
        };
        let one = FoundFixture::at(fixture);
        if configs.is_skipped(&one.fixture)? {
            continue;
        }
        let is_one = match one.state {
            FixtureState::Unreferenced => !one.own_files().is_empty(),
            // Invalid settings are reported when the fixture is read.
            FixtureState::Missing => configs
                .options(&one.fixture)
                .map_or(true, |how| is_capture(&one.fixture, &how)),
            _ => true,
        };
        if is_one {
            found_fixtures.add(one);
        } else if one.state == FixtureState::Missing {
            found_fixtures.others.insert(one.fixture);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capture_names_are_recognized() {
        for (name, want) in [
            ("a.hex", true),
            ("a.hex.gz", true),
            ("A.BIN", true),
            ("a.b.jsonl", true),
            ("ahex", false),
            (".hex", false),
            ("a.json", false),
            ("a.gz", false),
            ("a.hex.snap", false),
        ] {
            assert_eq!(has_capture_name(name), want, "{name}");
        }
    }

    #[test]
    fn fixture_path_follows_from_the_snapshot_path() {
        for (path, want) in [
            ("a/b.hex.snap", Some("a/b.hex")),
            ("a/b.hex.snap.new", Some("a/b.hex")),
            ("a/b.hex", None),
        ] {
            assert_eq!(fixture_of(Path::new(path)), want.map(PathBuf::from));
        }
        // Names that are not UTF-8 are valid.
        let path = |bytes: &[u8]| PathBuf::from(crate::system::name_of(bytes));
        let fixture = fixture_of(&path(b"a/\xff.hex.snap"));
        assert_eq!(fixture, Some(path(b"a/\xff.hex")));
    }
}
