//! Which files are fixtures, and what lies beside them.

use super::pending::stored_at;
use crate::cli::config::Folders;
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
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

    /// Snapshots without a fixture may be those of somebody's program, which are none of our business.
    fn is_ours(&self) -> bool {
        let ours = |path: &Path| {
            let read = stored_at(path).ok().and_then(Result::ok);
            read.is_some_and(|stored| stored.is_ours())
        };
        self.state != State::Unreferenced || ours(&self.snapshot()) || ours(&self.pending())
    }
}

/// All fixtures that paths mean, and snapshots without one, in order.
pub fn find(paths: &[PathBuf], folders: &mut Folders) -> Result<Vec<Found>> {
    let mut found = BTreeSet::new();
    for path in paths {
        if path.is_dir() {
            walk(path, folders, &mut found, 0)?;
            continue;
        }
        let fixture = fixture_of(path).unwrap_or_else(|| path.clone());
        let one = Found::of(fixture);
        let exists =
            one.state != State::Unreferenced || one.snapshot().is_file() || one.pending().is_file();
        ensure!(exists, "{}: there is no such file", path.display());
        found.insert(one);
    }
    Ok(found.into_iter().collect())
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
    let name = path.file_name()?.to_str()?;
    let fixture = name
        .strip_suffix(".snap.new")
        .or_else(|| name.strip_suffix(".snap"))?;
    Some(path.with_file_name(fixture))
}

fn walk(
    folder: &Path,
    folders: &mut Folders,
    found: &mut BTreeSet<Found>,
    depth: usize,
) -> Result<()> {
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
            walk(path, folders, found, depth + 1)?;
        } else if kind.is_file() {
            let fixture = match fixture_of(path) {
                Some(fixture) => fixture,
                None if is_named_so(&name) => path.to_owned(),
                None => continue,
            };
            let one = Found::of(fixture);
            if !folders.skips(&one.fixture)? && one.is_ours() {
                found.insert(one);
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
    }
}
