//! Which files are fixtures, and what lies beside them.

use super::pending::stored_at;
use crate::cli::config::Folders;
use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use wiretool::snapshot::{pending_beside, snapshot_beside};

/// What fixtures are called.
const EXTENSIONS: [&str; 6] = ["hex", "xxd", "b64", "bin", "txt", "jsonl"];
/// Folders are not looked into below so many.
const DEEPEST: usize = 64;

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
    /// The word in output.
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
    let mut finds = Finds::default();
    for path in paths {
        if path.is_dir() {
            walk(path, folders, &mut finds, 0)?;
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
    Ok(finds.found.into_iter().collect())
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

fn walk(folder: &Path, folders: &mut Folders, finds: &mut Finds, depth: usize) -> Result<()> {
    let context = || format!("cannot read {}", folder.display());
    ensure!(
        depth < DEEPEST,
        "{}: too many folders deep",
        folder.display()
    );
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        entries.push((entry.path(), entry.file_type().with_context(context)?));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    if depth > 0 && folder.join("CACHEDIR.TAG").is_file() {
        return Ok(());
    }
    for (path, kind) in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Names that are no UTF-8 are names all the same.
        let path = path.strip_prefix("./").unwrap_or(&path);
        if name.starts_with('.') || name == "node_modules" {
            continue;
        }
        if kind.is_dir() {
            walk(path, folders, finds, depth + 1)?;
        } else if kind.is_file() {
            let fixture = match fixture_of(path) {
                Some(fixture) => fixture,
                None if is_named_so(&name) => path.to_owned(),
                None => continue,
            };
            let one = Found::of(fixture);
            let is_one = one.state != State::Unreferenced || !one.own().is_empty();
            if !folders.skips(&one.fixture)? && is_one {
                finds.add(one);
            }
        }
    }
    Ok(())
}

/// Whether a file's name is one that fixtures have.
fn is_named_so(name: &str) -> bool {
    let name = name.strip_suffix(".gz").unwrap_or(name);
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
