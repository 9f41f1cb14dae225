//! Settings of a fixture: its project's file alone, so that a snapshot is the same for every user.

use super::{Settings, file, settings};
use crate::snapshot::{How, fits, project_file};
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The settings of every folder that was asked about.
#[derive(Default)]
pub struct Folders {
    /// By settings file; `None` is none.
    known: BTreeMap<Option<PathBuf>, Rc<Settings>>,
    /// What is worth a warning and was not told yet.
    pub warnings: Vec<String>,
}

impl Folders {
    /// The file that counts for a fixture.
    fn file(fixture: &Path) -> Result<Option<PathBuf>> {
        let absolute = std::path::absolute(fixture).context("cannot tell the current folder")?;
        let named = settings().named.clone();
        Ok(named.or_else(|| project_file(absolute.parent()?)))
    }

    /// What the file says that counts for a fixture.
    fn of(&mut self, fixture: &Path) -> Result<Rc<Settings>> {
        let file = Self::file(fixture)?;
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
        // What is wrong with the file, or unknown, is told with its line.
        self.of(fixture)?;
        match Self::file(fixture)? {
            Some(file) => Ok(How::of_settings(&file, fixture)?),
            None => Ok(How::default()),
        }
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
