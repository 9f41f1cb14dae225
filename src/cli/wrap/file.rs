//! A configuration file: read whole, changed in one step, with a copy of what it was.

use super::entry::{Recorder, Server};
use super::text::{Placed, Syntax};
use crate::cli::state;
use crate::framing::fields::{text_secrets, without};
use crate::path::Path as KeyPath;
use crate::path::PathStep;
use crate::render::style::escape;
use anyhow::{Context as _, Result, bail, ensure};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use std::fmt::Write as _;
use std::fs::{OpenOptions, Permissions};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The limit for the size of a configuration, in bytes.
const MAX_SIZE: u64 = 64 << 20;
/// Lines around a change.
const CONTEXT: usize = 2;

/// A configuration.
pub(super) struct ConfigFile {
    /// The client; empty for a file that the user named.
    pub client: &'static str,
    /// The path for messages.
    pub name: String,
    pub root: Placed,
    /// The file itself, if the path is a link.
    path: PathBuf,
    syntax: Syntax,
    before: String,
    text: String,
    permissions: Permissions,
}

impl ConfigFile {
    /// Reads a file.
    pub fn read(path: &Path, client: &'static str) -> Result<Self> {
        let name = path.display().to_string();
        let context = || format!("cannot read {name}");
        let path = path.canonicalize().with_context(context)?;
        let meta = path.metadata().with_context(context)?;
        ensure!(meta.is_file(), "{name} is not a file");
        ensure!(meta.len() <= MAX_SIZE, "{name} is larger than 64 MiB");
        let bytes = std::fs::read(&path).with_context(context)?;
        let text = String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("{name} is not UTF-8"))?;
        let syntax = Syntax::of_name(&name);
        let root = syntax.read(&name, &text)?;
        Ok(Self {
            client,
            root,
            path,
            syntax,
            before: text.clone(),
            text,
            permissions: meta.permissions(),
            name,
        })
    }

    /// Returns `true` for two paths of one file.
    pub fn is_same(&self, other: &Self) -> bool {
        self.path == other.path
    }

    /// Reads the entry of a server.
    pub fn server(&self, path: &KeyPath) -> Result<Server<'_>> {
        self.find(&self.root, path)
    }

    fn find<'r>(&self, root: &'r Placed, path: &KeyPath) -> Result<Server<'r>> {
        let mut place = root;
        let context = || format!("{}: {path}", self.name);
        for step in path.iter() {
            let key = match step {
                PathStep::Member(key) => key,
                PathStep::Element(n) => {
                    let item = place.items().and_then(|items| items.get(*n));
                    place = item.with_context(|| format!("{}: there is no [{n}]", context()))?;
                    continue;
                }
            };
            let member = place.member(key).with_context(context)?;
            place = &member
                .with_context(|| format!("{}: there is no {key}", context()))?
                .value;
        }
        Server::of(place).with_context(context)
    }

    /// Puts a recorder around a server.
    ///
    /// # Errors
    ///
    /// Fails if [`ConfigFile::unwrap`] would not restore each byte.
    pub fn wrap(&mut self, path: &KeyPath, recorder: Recorder<'_>) -> Result<()> {
        let Server::Started(launch) = self.server(path)? else {
            bail!("{}: {path} has no command", self.name);
        };
        let context = || format!("{}: {path}", self.name);
        let text = launch
            .wrap(self.syntax, &self.text, recorder)
            .with_context(context)?;
        let root = self.syntax.read(&self.name, &text)?;
        let restored = match self.find(&root, path)? {
            Server::Started(launch) => launch.unwrap(&text, recorder.program)?,
            _ => None,
        };
        ensure!(
            restored.as_deref() == Some(&*self.text),
            "{}: the entry has a form that could not be restored exactly; it is not changed",
            context()
        );
        (self.text, self.root) = (text, root);
        Ok(())
    }

    /// Takes the recorder of a server away. Returns `false` if it has none.
    pub fn unwrap(&mut self, path: &KeyPath, program: &str) -> Result<bool> {
        let Server::Started(launch) = self.server(path)? else {
            return Ok(false);
        };
        let Some(text) = launch.unwrap(&self.text, program)? else {
            return Ok(false);
        };
        let root = self.syntax.read(&self.name, &text)?;
        (self.text, self.root) = (text, root);
        Ok(true)
    }

    /// Replaces the file, and returns the path of a copy of what it was.
    pub fn write(&self) -> Result<PathBuf> {
        let context = || format!("cannot write {}", self.name);
        ensure!(
            !self.permissions.readonly(),
            "cannot write {}: it is read-only",
            self.name
        );
        let now = std::fs::read(&self.path).with_context(context)?;
        ensure!(
            now == self.before.as_bytes(),
            "{} has changed meanwhile: try again",
            self.name
        );
        let backup = self.back_up()?;
        let folder = self
            .path
            .parent()
            .context("it has no folder")
            .with_context(context)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).with_context(context)?;
        file.write_all(self.text.as_bytes()).with_context(context)?;
        let as_before = self.permissions.clone();
        file.as_file()
            .set_permissions(as_before)
            .with_context(context)?;
        file.as_file().sync_all().with_context(context)?;
        file.persist(&self.path)
            .map_err(|error| error.error)
            .with_context(context)?;
        Ok(backup)
    }

    /// Keeps a copy in the state folder; equal copies are one.
    fn back_up(&self) -> Result<PathBuf> {
        let folder = state::folder().context("a copy of the file needs HOME or XDG_STATE_HOME")?;
        let folder = folder.join("backups");
        state::create_folder(&folder)?;
        let mut hasher = DefaultHasher::new();
        (&self.path, &self.before).hash(&mut hasher);
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let path = folder.join(format!("{:016x}-{name}", hasher.finish()));
        let context = || format!("cannot write {}", path.display());
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true);
        let options = crate::system::make_private(options);
        let mut file = options.open(&path).with_context(context)?;
        file.write_all(self.before.as_bytes())
            .with_context(context)?;
        Ok(path)
    }

    /// Returns the changed lines with their neighbours, without secrets.
    pub fn difference(&self) -> String {
        let before: Vec<&str> = self.before.lines().collect();
        let after: Vec<&str> = self.text.lines().collect();
        let ops = capture_diff_slices(Algorithm::Myers, &before, &after);
        let mut out = format!("--- {0}\n+++ {0}\n", escape(&self.name));
        let mut put = |sign: char, lines: &[&str]| {
            for line in lines {
                let line = without(line, &text_secrets(line.as_bytes()));
                let _ = writeln!(out, "{sign}{}", escape(&line));
            }
        };
        for group in group_diff_ops(ops, CONTEXT) {
            for op in group {
                let old = before.get(op.old_range()).unwrap_or_default();
                let new = after.get(op.new_range()).unwrap_or_default();
                if matches!(op, DiffOp::Equal { .. }) {
                    put(' ', old);
                } else {
                    put('-', old);
                    put('+', new);
                }
            }
        }
        out
    }
}
