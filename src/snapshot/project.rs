//! What a project says of its fixtures: the first `wiretool.toml` from a fixture's folder upwards, up to the repository's
//! root.
//!
//! ```text
//!   captures/session.jsonl  -->  captures/wiretool.toml, or wiretool.toml  -->  How
//! ```
//!
//! Keys that say nothing of fixtures are passed over: `wiretool` itself warns of those that it does not know.

use super::{Error, How};
use crate::conversation::Dialect;
use crate::framing::{Framing, LengthMode};
use crate::protocol::Direction;
use crate::protocol::registry::Signature;
use crate::protocol::session::Severity;
use crate::words::{glob, size};
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The project's file.
const PROJECT: &str = "wiretool.toml";

/// The settings file that counts in a folder.
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

/// Whether a file is one of those that a pattern means, which counts from a folder.
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

impl How {
    /// How a fixture is read and shown, as its project says; what the fixture says itself comes on top.
    ///
    /// # Errors
    ///
    /// The settings file cannot be read, or says something that is no setting of a fixture.
    pub fn of_project(fixture: &Path) -> Result<Self, Error> {
        let absolute = std::path::absolute(fixture).map_err(Error::Unreadable)?;
        let file = absolute.parent().and_then(project_file);
        file.map_or_else(
            || Ok(Self::default()),
            |file| Self::of_settings(&file, fixture),
        )
    }

    /// The same, by a settings file that is named.
    ///
    /// # Errors
    ///
    /// As [`How::of_project`].
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
            let said = how.setting(key.get_ref(), value.get_ref(), folder);
            said.map_err(|e| bad(&format!("{}: {e}", key.get_ref())))?;
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
            how.narrow(rule);
        }
        Ok(how)
    }

    /// Takes up one setting.
    fn setting(&mut self, key: &str, value: &DeValue<'_>, folder: &Path) -> Result<(), String> {
        let text = text_of(value);
        let wanted = |what: &str| {
            format!(
                "wanted {what}, got {:?}",
                text.as_deref().unwrap_or("something else")
            )
        };
        match key {
            "protocol" => self.protocol.clone_from(&text),
            "schema" => self.schema = text.as_deref().map(|text| folder.join(text)),
            "signature" => {
                for text in texts(value) {
                    let signature = Signature::parse(&text).map_err(|e| e.to_string())?;
                    self.signatures.push(signature);
                }
            }
            "ignore" => self.ignore = member(value, "paths").map_or(Vec::new(), texts),
            "max-message" => {
                self.limits.message = size(text.as_deref().unwrap_or_default())?;
            }
            "max-depth" => {
                let depth = text.as_deref().and_then(|text| text.parse().ok());
                self.limits.depth = depth.ok_or_else(|| wanted("a number"))?;
            }
            "dialect" => {
                let dialect = text.as_deref().and_then(Dialect::from_name);
                self.judge.dialect = dialect.ok_or_else(|| wanted("a dialect"))?;
            }
            "rules" => {
                for (rule, severity) in value.as_table().into_iter().flatten() {
                    let severity = text_of(severity.get_ref());
                    let severity = severity.as_deref().and_then(Severity::from_name);
                    let severity = severity.ok_or_else(|| wanted("a severity"))?;
                    self.judge
                        .levels
                        .push((rule.get_ref().to_string(), severity));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What counts for files of some paths only.
    fn narrow(&mut self, rule: &DeValue<'_>) {
        let said = |key: &str| member(rule, key).and_then(text_of);
        if let Some(protocol) = said("protocol") {
            self.protocol = Some(protocol);
        }
        let framing = said("framing").and_then(|name| Framing::from_name(&name));
        self.framing = framing.or(self.framing);
        let direction = said("dir").and_then(|name| Direction::from_name(&name));
        self.direction = direction.or(self.direction);
        let mode = said("length-mode").and_then(|name| LengthMode::from_name(&name));
        self.length_mode = mode.unwrap_or(self.length_mode);
    }
}

fn member<'v, 't>(value: &'v DeValue<'t>, key: &str) -> Option<&'v DeValue<'t>> {
    Some(value.as_table()?.get(key)?.get_ref())
}

/// A word or a number, as it is written.
fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.as_str().replace('_', "")),
        _ => None,
    }
}

/// A list of texts, or one.
fn texts(value: &DeValue<'_>) -> Vec<String> {
    match value.as_array() {
        Some(all) => all
            .iter()
            .filter_map(|one| text_of(one.get_ref()))
            .collect(),
        None => text_of(value).into_iter().collect(),
    }
}
