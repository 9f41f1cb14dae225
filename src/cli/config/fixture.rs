//! The settings of a fixture: only its project's file counts, so that a snapshot is the same for every user.

use super::settings;
use crate::settings::{FileScope, FixtureOptions, SettingsFile, matches_pattern, project_file};
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The settings files of fixtures, read once each.
#[derive(Default)]
pub struct FixtureConfigs {
    /// The settings by file.
    files: BTreeMap<PathBuf, Rc<SettingsFile>>,
    /// The protocol of fixtures that name none.
    pub protocol: Option<String>,
    /// Warnings that were not printed yet.
    pub warnings: Vec<String>,
}

impl FixtureConfigs {
    fn file(&mut self, fixture: &Path) -> Result<Option<Rc<SettingsFile>>> {
        let absolute =
            std::path::absolute(fixture).context("cannot determine the current folder")?;
        let named = settings().named.clone();
        let (path, scope) = match (named, absolute.parent()) {
            (Some(path), _) => (Some(path), FileScope::Named),
            (None, folder) => (folder.and_then(project_file), FileScope::Project),
        };
        let Some(path) = path else {
            return Ok(None);
        };
        if let Some(file) = self.files.get(&path) {
            return Ok(Some(file.clone()));
        }
        let file = Rc::new(SettingsFile::read(&path, scope)?);
        // The warnings about the settings of this run were printed before.
        let known = &settings().warnings;
        let new = file.warnings.iter().filter(|text| !known.contains(text));
        self.warnings.extend(new.cloned());
        self.files.insert(path, file.clone());
        Ok(Some(file))
    }

    /// Returns the options to read and show a fixture; flags in its comment override them.
    pub fn options(&mut self, fixture: &Path) -> Result<FixtureOptions> {
        let options = match self.file(fixture)? {
            Some(file) => FixtureOptions::of_file(&file, fixture)?,
            None => FixtureOptions::default(),
        };
        let protocol = self.protocol.clone().or(options.protocol);
        Ok(FixtureOptions {
            protocol,
            ..options
        })
    }

    /// Returns true if the settings exclude a file from the fixtures.
    pub fn is_skipped(&mut self, path: &Path) -> Result<bool> {
        let file = self.file(path)?;
        Ok(file.is_some_and(|file| {
            let patterns = file.snapshot.iter().flat_map(|rule| &rule.skip);
            let folder = file.folder();
            patterns
                .into_iter()
                .any(|pattern| matches_pattern(folder, pattern, path))
        }))
    }
}
