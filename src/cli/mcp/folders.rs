//! The folders whose captures an agent can read. Nothing outside of them is opened, also through links.

use crate::capture::Time;
use crate::cli::input::has_capture_name;
use crate::cli::state;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};

/// The maximum number of files and folders that are looked at for a list.
const MAX_ENTRIES: usize = 10_000;
/// The maximum number of folders inside of each other.
const MAX_DEPTH: usize = 8;

/// The folders, with the one of recordings that have names.
pub struct Folders {
    given: Vec<PathBuf>,
}

/// Tells whether a file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileVersion {
    /// Nanoseconds since 1970.
    pub changed: Time,
    pub len: u64,
}

impl FileVersion {
    pub fn of(path: &Path) -> Result<Self> {
        let meta = path.metadata();
        let meta = meta.with_context(|| format!("cannot read {}", path.display()))?;
        let changed = Time::from(crate::system::changed(&meta));
        let len = meta.len();
        Ok(Self { changed, len })
    }
}

impl Folders {
    /// # Errors
    ///
    /// Fails if one of them is no folder. `@NAME` is that of the recordings of this name.
    pub fn new(given: &[PathBuf]) -> Result<Self> {
        let real = |path: &PathBuf| {
            let is_name = path.to_string_lossy().starts_with('@') && !path.exists();
            let named = is_name.then(|| state::find(path.clone())).transpose();
            let named = named.map_err(anyhow::Error::msg)?;
            let folder = named.as_deref().and_then(Path::parent);
            let real = folder.unwrap_or(path).canonicalize();
            let real = real.with_context(|| format!("cannot read {}", path.display()))?;
            anyhow::ensure!(
                real.is_dir(),
                "{}: not a folder: wiretool mcp serve FOLDER lets an agent read the captures in it",
                path.display()
            );
            Ok(real)
        };
        let given = given.iter().map(real).collect::<Result<_>>()?;
        Ok(Self { given })
    }

    /// Returns the folders that exist. That of named recordings may be created later.
    fn all(&self) -> Vec<PathBuf> {
        let named = state::folder().map(|folder| folder.join("recordings"));
        let named = named.and_then(|folder| folder.canonicalize().ok());
        named
            .into_iter()
            .chain(self.given.iter().cloned())
            .collect()
    }

    /// Returns the real path of a capture: `@last`, `@NAME`, or a path, also from one of the folders.
    ///
    /// # Errors
    ///
    /// Fails if the folders have no such file. The error does not tell whether there is one elsewhere.
    pub fn find(&self, name: &str) -> Result<PathBuf> {
        let path = state::find(PathBuf::from(name)).map_err(anyhow::Error::msg)?;
        let folders = self.all();
        let places = folders.iter().map(|folder| folder.join(&path));
        for place in places.chain([path.clone()]) {
            let Ok(real) = place.canonicalize() else {
                continue;
            };
            if folders.iter().any(|folder| real.starts_with(folder)) && real.is_file() {
                return Ok(real);
            }
        }
        bail!("the folders of this server have no recording {name}: the tool recordings lists them")
    }

    /// Returns the captures with their versions, the newest first, and true if there may be more.
    pub fn list(&self) -> (Vec<(PathBuf, FileVersion)>, bool) {
        let (mut found, mut seen) = (Vec::new(), 0);
        let mut open: Vec<(PathBuf, usize)> = self.all().into_iter().map(|at| (at, 0)).collect();
        while let Some((folder, depth)) = open.pop() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                seen += 1;
                if seen > MAX_ENTRIES {
                    break;
                }
                // Links are not followed: their targets are listed in their own folders.
                let Ok(kind) = entry.file_type() else {
                    continue;
                };
                let path = entry.path();
                if kind.is_dir() && depth < MAX_DEPTH {
                    open.push((path, depth + 1));
                } else if kind.is_file()
                    && has_capture_name(&entry.file_name().to_string_lossy())
                    && let Ok(version) = FileVersion::of(&path)
                {
                    found.push((path, version));
                }
            }
        }
        found.sort_by(|(a, of_a), (b, of_b)| (of_b, a).cmp(&(of_a, b)));
        found.dedup();
        (found, seen > MAX_ENTRIES)
    }
}
