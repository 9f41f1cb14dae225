//! Settings of a fixture: its project's file alone, so that a snapshot is the same for every user.

use super::{FileRule, Settings, file, fits, project_file, settings};
use anyhow::{Context as _, Result, anyhow};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use wiretool::conversation::Dialect;
use wiretool::snapshot::How;
use wiretool::words::size;

/// The settings of every folder that was asked about.
#[derive(Default)]
pub struct Folders {
    /// By settings file; `None` is none.
    known: BTreeMap<Option<PathBuf>, Rc<Settings>>,
    /// What is worth a warning and was not told yet.
    pub warnings: Vec<String>,
}

impl Folders {
    /// What the file says that counts for a fixture.
    fn of(&mut self, fixture: &Path) -> Result<Rc<Settings>> {
        let absolute = std::path::absolute(fixture).context("cannot tell the current folder")?;
        let named = settings().named.clone();
        let file = named.or_else(|| project_file(absolute.parent()?));
        if let Some(settings) = self.known.get(&file) {
            return Ok(settings.clone());
        }
        let mut found = Settings::default();
        if let Some(path) = &file {
            file::read(path, true, &mut found)?;
        }
        // What counts here was read and warned of before.
        let told = &settings().warnings;
        let new = found.warnings.iter().filter(|text| !told.contains(text));
        self.warnings.extend(new.cloned());
        let found = Rc::new(found);
        self.known.insert(file, found.clone());
        Ok(found)
    }

    /// How a fixture is read and shown; its own words come on top.
    pub fn how(&mut self, fixture: &Path) -> Result<How> {
        self.of(fixture)?.how(fixture)
    }

    /// Whether a file is said to be no fixture.
    pub fn skips(&mut self, path: &Path) -> Result<bool> {
        let settings = self.of(path)?;
        let rule = settings.snapshot.as_ref();
        Ok(rule.is_some_and(|rule| {
            let mut patterns = rule.skip.iter();
            patterns.any(|pattern| fits(&rule.folder, pattern, path))
        }))
    }
}

impl Settings {
    fn how(&self, fixture: &Path) -> Result<How> {
        let mut how = How {
            protocol: self.text("protocol").map(str::to_owned),
            schema: self.schema().map(Path::to_owned),
            signatures: self.signatures(),
            ignore: self.ignored().to_vec(),
            ..How::default()
        };
        // What the file says was checked as it was read.
        if let Some(bytes) = self.text("max-message").and_then(|text| size(text).ok()) {
            how.limits.message = bytes;
        }
        if let Some(depth) = self.text("max-depth").and_then(|text| text.parse().ok()) {
            how.limits.depth = depth;
        }
        if let Some(dialect) = self.text("dialect").and_then(Dialect::from_name) {
            how.judge.dialect = dialect;
        }
        how.judge.levels = self.rules().collect();
        if let Some(rule) = &self.snapshot {
            how.take(&rule.flags, &rule.folder)
                .map_err(|e| anyhow!(e))?;
        }
        if let Some(rule) = self.files.iter().find(|rule| rule.fits(fixture)) {
            rule.narrow(&mut how);
        }
        Ok(how)
    }
}

impl FileRule {
    fn narrow(&self, how: &mut How) {
        if self.protocol.is_some() {
            how.protocol.clone_from(&self.protocol);
        }
        how.framing = self.framing.or(how.framing);
        how.direction = self.direction.or(how.direction);
        how.length_mode = self.length_mode.unwrap_or(how.length_mode);
    }
}
