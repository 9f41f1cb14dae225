//! Which files are fixtures, and what lies beside them.

use super::file::stored_at;
use crate::cli::config::Folders;
use crate::snapshot::{is_capture, pending_beside, snapshot_beside};
use anyhow::{Context as _, Result, ensure};
use ignore::{DirEntry, WalkBuilder};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What fixtures are called.
const EXTENSIONS: [&str; 6] = ["hex", "xxd", "b64", "bin", "txt", "jsonl"];

/// A fixture, and what lies beside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// Where the fixture is, or was.
    pub fixture: PathBuf,
    /// What there is.
    pub state: State,
}

/// What there is of a fixture and its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It has a snapshot.
    Stored,
    /// It has one, and another one waits.
    Changed,
    /// It has none, and one waits.
    New,
    /// It has none.
    Missing,
    /// There is a snapshot, and no fixture.
    Unreferenced,
}

impl State {
    /// What people read.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Missing => "no snapshot",
            Self::Unreferenced => "no fixture",
            _ => self.name(),
        }
    }

    /// The word in JSON.
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

impl Found {
    /// Where its snapshot is, or would be.
    pub fn snapshot(&self) -> PathBuf {
        snapshot_beside(&self.fixture)
    }

    /// Where its new snapshot waits, or would.
    pub fn pending(&self) -> PathBuf {
        pending_beside(&self.fixture)
    }

    /// What there is of a file that is a fixture, or was.
    fn of(fixture: PathBuf) -> Self {
        let (stored, pending) = (snapshot_beside(&fixture), pending_beside(&fixture));
        let state = match (fixture.is_file(), stored.is_file(), pending.is_file()) {
            (false, ..) => State::Unreferenced,
            (true, true, true) => State::Changed,
            (true, true, false) => State::Stored,
            (true, false, true) => State::New,
            (true, false, false) => State::Missing,
        };
        Self { fixture, state }
    }

    /// Its snapshots, the stored one and the one that waits, as far as this tool wrote them: without a fixture they may
    /// be those of somebody's program, which are none of our business.
    pub fn own(&self) -> Vec<PathBuf> {
        let is_ours = |path: &PathBuf| {
            let read = stored_at(path).ok().and_then(Result::ok);
            read.is_some_and(|stored| stored.is_ours())
        };
        let mut files = vec![self.snapshot(), self.pending()];
        files.retain(is_ours);
        files
    }
}

/// What was found, each file once, however it was named.
#[derive(Default)]
struct Finds {
    found: BTreeSet<Found>,
    /// Where they really are.
    known: HashSet<PathBuf>,
    /// Files that are only called as captures are.
    others: BTreeSet<PathBuf>,
}

impl Finds {
    fn add(&mut self, found: Found) {
        let folder = match found.fixture.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        // Not of the file itself: snapshots lie beside a link, not beside what it leads to.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = found.fixture.file_name().unwrap_or_default();
        if self.known.insert(folder.join(name)) {
            self.found.insert(found);
        }
    }
}

/// All fixtures that paths mean, and snapshots without one, in order.
pub fn find(paths: &[PathBuf], folders: &mut Folders) -> Result<Vec<Found>> {
    find_with_others(paths, folders).map(|(found, _)| found)
}

/// The same, and files in folders that are only called as captures are.
pub fn find_with_others(
    paths: &[PathBuf],
    folders: &mut Folders,
) -> Result<(Vec<Found>, Vec<PathBuf>)> {
    let mut finds = Finds::default();
    for path in paths {
        if path.is_dir() {
            walk(path, folders, &mut finds)?;
            continue;
        }
        let path = path.strip_prefix("./").unwrap_or(path);
        let fixture = fixture_of(path).unwrap_or_else(|| path.to_owned());
        let one = Found::of(fixture);
        let exists =
            one.state != State::Unreferenced || one.snapshot().is_file() || one.pending().is_file();
        ensure!(exists, "{}: there is no such file", path.display());
        finds.add(one);
    }
    let Finds { found, others, .. } = finds;
    Ok((found.into_iter().collect(), others.into_iter().collect()))
}

/// Those of which a new snapshot waits.
pub fn pending(paths: &[PathBuf], folders: &mut Folders) -> Result<Vec<Found>> {
    let found = find(paths, folders)?;
    Ok(found
        .into_iter()
        .filter(|found| found.pending().is_file())
        .collect())
}

/// The fixture of a snapshot, by its path.
fn fixture_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.as_bytes();
    let fixture = name
        .strip_suffix(b".snap.new")
        .or_else(|| name.strip_suffix(b".snap"))?;
    Some(path.with_file_name(OsStr::from_bytes(fixture)))
}

fn walk(folder: &Path, folders: &mut Folders, finds: &mut Finds) -> Result<()> {
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
        // Names that are no UTF-8 are names all the same.
        let path = entry.path();
        let path = path.strip_prefix("./").unwrap_or(path);
        let fixture = match fixture_of(path) {
            Some(fixture) => fixture,
            None if is_named_so(&name) => path.to_owned(),
            None => continue,
        };
        let one = Found::of(fixture);
        if folders.skips(&one.fixture)? {
            continue;
        }
        let is_one = match one.state {
            State::Unreferenced => !one.own().is_empty(),
            // Settings that are wrong are told where it is read.
            State::Missing => folders
                .how(&one.fixture)
                .map_or(true, |how| is_capture(&one.fixture, &how)),
            _ => true,
        };
        if is_one {
            finds.add(one);
        } else if one.state == State::Missing {
            finds.others.insert(one.fixture);
        }
    }
    Ok(())
}

/// Whether a file's name is one that fixtures have.
fn is_named_so(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    EXTENSIONS.iter().any(|extension| {
        let stem = name.strip_suffix(extension).unwrap_or_default();
        stem.len() > 1 && stem.ends_with('.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
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
            assert_eq!(is_named_so(name), want, "{name}");
        }
    }

    #[test]
    fn fixtures_of_snapshots() {
        for (path, want) in [
            ("a/b.hex.snap", Some("a/b.hex")),
            ("a/b.hex.snap.new", Some("a/b.hex")),
            ("a/b.hex", None),
        ] {
            assert_eq!(fixture_of(Path::new(path)), want.map(PathBuf::from));
        }
        // Names that are no UTF-8 are names all the same.
        let path = |bytes| Path::new(OsStr::from_bytes(bytes));
        let fixture = fixture_of(path(b"a/\xff.hex.snap"));
        assert_eq!(fixture.as_deref(), Some(path(b"a/\xff.hex")));
    }
}
