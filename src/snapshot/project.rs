//! The settings of a project for its fixtures: the first `wiretool.toml` from a fixture's folder
//! upwards, up to the repository's root.
//!
//! ```text
//!   captures/session.jsonl  -->  captures/wiretool.toml, or wiretool.toml  -->  How
//! ```
//!
//! Keys without effect on fixtures are ignored: `wiretool` itself warns of unknown ones.

use super::{Error, FixtureOptions};
use crate::protocol::session::Severity;
use crate::words::glob;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The name of the project's file.
const PROJECT: &str = "wiretool.toml";

/// Returns the settings file for a folder.
pub fn project_file(folder: &Path) -> Option<PathBuf> {
    for folder in folder.ancestors() {
        let path = folder.join(PROJECT);
        if path.is_file() {
            return Some(path);
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Returns `true` if a file matches a pattern relative to a folder.
pub fn fits(folder: &Path, pattern: &str, path: &Path) -> bool {
    let absolute = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    let (Ok(path), Ok(folder)) = (absolute(path), absolute(folder)) else {
        return false;
    };
    glob(
        &folder.join(pattern).to_string_lossy(),
        &path.to_string_lossy(),
    )
}

impl FixtureOptions {
    /// Returns the settings of a fixture's project; the flags of the fixture are added later.
    ///
    /// # Errors
    ///
    /// The settings file cannot be read, or has an invalid setting for fixtures.
    pub fn of_project(fixture: &Path) -> Result<Self, Error> {
        let absolute = std::path::absolute(fixture).map_err(Error::Unreadable)?;
        let file = absolute.parent().and_then(project_file);
        file.map_or_else(
            || Ok(Self::default()),
            |file| Self::of_settings(&file, fixture),
        )
    }

    /// Returns the settings of a given file.
    ///
    /// # Errors
    ///
    /// As [`FixtureOptions::of_project`].
    pub fn of_settings(file: &Path, fixture: &Path) -> Result<Self, Error> {
        let name = file.display();
        let bad = |e: &dyn std::fmt::Display| Error::Words(format!("{name}: {e}"));
        let text = std::fs::read_to_string(file).map_err(|e| bad(&e))?;
        let table = DeTable::parse(&text).map_err(|e| bad(&e.message()))?;
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut how = Self::default();
        let (table, mut flags) = (table.get_ref(), None);
        for (key, value) in table {
            let result = how.apply_setting(key.get_ref(), value.get_ref(), folder);
            result.map_err(|e| bad(&format!("{}: {e}", key.get_ref())))?;
            if key.get_ref() == "snapshot" {
                flags = member(value.get_ref(), "flags").and_then(text_of);
            }
        }
        if let Some(flags) = flags {
            how.take(&flags, folder).map_err(|e| bad(&e))?;
        }
        let files = table
            .get("files")
            .and_then(|files| files.get_ref().as_array());
        let mut rules = files.into_iter().flatten().map(toml::Spanned::get_ref);
        let rule = rules.find(|rule| {
            let pattern = member(rule, "match").and_then(text_of);
            pattern.is_some_and(|pattern| fits(folder, &pattern, fixture))
        });
        if let Some(rule) = rule {
            for key in ["protocol", "framing", "dir", "length-mode"] {
                if let Some(text) = member(rule, key).and_then(text_of) {
                    let set = how.set_value(key, &text, folder);
                    set.map_err(|e| bad(&format!("files: {key}: {e}")))?;
                }
            }
        }
        Ok(how)
    }

    /// Applies one setting.
    fn apply_setting(
        &mut self,
        key: &str,
        value: &DeValue<'_>,
        folder: &Path,
    ) -> Result<(), String> {
        match key {
            "protocol" | "schema" | "signature" | "max-message" | "max-depth" | "dialect" => {
                let all = texts(value);
                if all.is_empty() && value.as_array().is_none() {
                    return Err("wanted a text or a number".into());
                }
                for text in all {
                    self.set_value(key, &text, folder)?;
                }
            }
            "ignore" => self.ignore = member(value, "paths").map_or(Vec::new(), texts),
            "rules" => {
                for (rule, severity) in value.as_table().into_iter().flatten() {
                    let severity = text_of(severity.get_ref());
                    let severity = severity.as_deref().and_then(Severity::from_name);
                    let severity = severity.ok_or("wanted a severity")?;
                    self.judge
                        .levels
                        .push((rule.get_ref().to_string(), severity));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn member<'v, 't>(value: &'v DeValue<'t>, key: &str) -> Option<&'v DeValue<'t>> {
    Some(value.as_table()?.get(key)?.get_ref())
}

/// Returns a text or a number as written.
fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().replace('_', "")),
        _ => None,
    }
}

/// Returns a list of texts, or a single one as a list.
fn texts(value: &DeValue<'_>) -> Vec<String> {
    match value.as_array() {
        Some(all) => all
            .iter()
            .filter_map(|one| text_of(one.get_ref()))
            .collect(),
        None => text_of(value).into_iter().collect(),
    }
}
