//! The settings of a fixture: only its project's file counts, so that a snapshot is the same for every user.

use super::{Config, file, settings};
use crate::snapshot::{FixtureOptions, fits, project_file};
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The settings of folders, read once each.
#[derive(Default)]
pub struct FixtureConfigs {
    /// The settings by file; the key `None` means no file.
    known: BTreeMap<Option<PathBuf>, Rc<Config>>,
    /// Warnings that were not printed yet.
    pub warnings: Vec<String>,
}

impl FixtureConfigs {
    /// Returns the settings file of a fixture.
    fn settings_file(fixture: &Path) -> Result<Option<PathBuf>> {
        let absolute =
            std::path::absolute(fixture).context("cannot determine the current folder")?;
        let named = settings().named.clone();
        Ok(named.or_else(|| project_file(absolute.parent()?)))
    }

    /// Returns the settings of a fixture.
    fn config(&mut self, fixture: &Path) -> Result<Rc<Config>> {
        let file = Self::settings_file(fixture)?;
        if let Some(settings) = self.known.get(&file) {
            return Ok(settings.clone());
        }
        let mut found = Config::default();
        if let Some(path) = &file {
            file::read(path, true, &mut found)?;
        }
        // The warnings about these settings were printed before.
        let known = &settings().warnings;
        let new = found.warnings.iter().filter(|text| !known.contains(text));
        self.warnings.extend(new.cloned());
        let found = Rc::new(found);
        self.known.insert(file, found.clone());
        Ok(found)
    }

    /// Returns the options to read and show a fixture; flags in the snapshot override them.
    pub fn options(&mut self, fixture: &Path) -> Result<FixtureOptions> {
        // Errors and unknown settings in the file are reported with their line.
        self.config(fixture)?;
        match Self::settings_file(fixture)? {
            Some(file) => Ok(FixtureOptions::of_settings(&file, fixture)?),
            None => Ok(FixtureOptions::default()),
        }
    }

    /// Returns true if the settings exclude a file from the fixtures.
    pub fn is_skipped(&mut self, path: &Path) -> Result<bool> {
        let settings = self.config(path)?;
        let rule = settings.snapshot.as_ref();
        Ok(rule.is_some_and(|rule| {
            let mut patterns = rule.skip.iter();
            patterns.any(|pattern| fits(&rule.folder, pattern, path))
        }))
    }
}
