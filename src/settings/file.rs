//! Reads a settings file, with the line of each setting.
//!
//! ```text
//!   format = "json"
//!   signature = ["pow(u256) -> u256"]
//!   [rules]
//!   "saikuro/seq-gap" = "warning"
//!   [ignore]
//!   paths = ["**.timestamp"]
//!   [[files]]
//!   match = "captures/*.bin"
//!   protocol = "saikuro"
//!   [snapshot]
//!   flags = "--lint"
//! ```

use super::table::{SETTINGS, Setting, SettingKind, SettingPlace, is_rule, nearest_rule, setting};
use super::{FixtureOptions, SettingsError};
use crate::diff::PathPattern;
use crate::own_rules::{self, OwnRule};
use crate::protocol::session::Severity;
use crate::toml_text::{Item, Key, TomlError, TomlText, in_order};
use crate::words::{glob, nearest};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use toml::de::DeValue;

/// The name of a project's file.
const PROJECT_FILE: &str = "wiretool.toml";
/// The maximum size of a settings file, in bytes; the parser needs a multiple of it.
const MAX_FILE: u64 = 1 << 20;
/// The tables of a settings file.
const TABLES: [&str; 6] = ["rules", "rule", "ignore", "files", "snapshot", "protocols"];
/// Names that a project's file must not contain, beside the settings of the user: they do more than change how input is
/// read and shown.
const ACTIVE: [&str; 6] = [
    "listen",
    "connect",
    "write",
    "output",
    "command",
    "secret-file",
];

/// The origin of a settings file, which decides what it can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileScope {
    /// The file of the user.
    User,
    /// A file that the user named.
    Named,
    /// A file that was found with the project: it can only name files of the project.
    Project,
}

/// The settings of one file, each with its line.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub path: PathBuf,
    /// The settings at the top level, with all of their values. Paths of files are relative to the current folder.
    pub values: Vec<(&'static Setting, Vec<String>, usize)>,
    /// Patterns of rules, with their severities.
    pub rules: Vec<(String, Severity, usize)>,
    /// The paths that comparisons leave out.
    pub ignore: Option<(Vec<String>, usize)>,
    /// The settings for files of some paths; the first that matches counts.
    pub path_rules: Vec<PathRule>,
    pub snapshot: Option<SnapshotRule>,
    /// Sentences about unknown names.
    pub warnings: Vec<String>,
}

/// The settings for files of some paths.
#[derive(Clone, Debug)]
pub(crate) struct PathRule {
    pub pattern: String,
    /// The folder that the pattern is relative to.
    pub folder: PathBuf,
    pub values: Vec<(&'static Setting, String)>,
    pub line: usize,
}

/// The settings for snapshots of fixtures.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotRule {
    pub flags: String,
    /// Patterns of files that are not fixtures.
    pub skip: Vec<String>,
    pub line: usize,
}

impl PathRule {
    /// Returns `true` if the settings are for the file with this path.
    pub fn matches(&self, path: &Path) -> bool {
        matches_pattern(&self.folder, &self.pattern, path)
    }

    /// Returns the value of a setting.
    pub fn value(&self, name: &str) -> Option<&str> {
        let mut values = self.values.iter();
        let (_, text) = values.find(|(setting, _)| setting.name == name)?;
        Some(text)
    }
}

/// Returns the settings file of a project: the first from a folder upwards, up to the root of the repository.
pub(crate) fn project_file(folder: &Path) -> Option<PathBuf> {
    for folder in folder.ancestors() {
        let path = folder.join(PROJECT_FILE);
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
pub(crate) fn matches_pattern(folder: &Path, pattern: &str, path: &Path) -> bool {
    let absolute = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path));
    let (Ok(path), Ok(folder)) = (absolute(path), absolute(folder)) else {
        return false;
    };
    glob(
        &folder.join(pattern).to_string_lossy(),
        &path.to_string_lossy(),
    )
}

impl SettingsFile {
    /// Reads a settings file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no TOML, or has an invalid value.
    pub fn read(path: &Path, scope: FileScope) -> Result<Self, SettingsError> {
        Self::read_with(path, scope, |mut reader| {
            reader.read()?;
            Ok(reader.settings)
        })
    }

    fn read_with<T>(
        path: &Path,
        scope: FileScope,
        read: impl FnOnce(FileReader<'_>) -> Result<T, TomlError>,
    ) -> Result<T, SettingsError> {
        let (name, text) = (path.display().to_string(), read_text(path)?);
        let toml = TomlText {
            name: &name,
            text: &text,
        };
        let settings = Self {
            path: path.to_owned(),
            values: Vec::new(),
            rules: Vec::new(),
            ignore: None,
            path_rules: Vec::new(),
            snapshot: None,
            warnings: Vec::new(),
        };
        let read = read(FileReader {
            toml,
            scope,
            settings,
        });
        read.map_err(|error| {
            let is_json = text.trim_start().starts_with('{');
            SettingsError(if is_json {
                format!("{name} is JSON, but settings are TOML: wiretool wrap --in {name} reads a configuration of a client")
            } else {
                error.one_line()
            })
        })
    }

    /// Returns the descriptions of protocols that a settings file names. Other settings may name these protocols, so that
    /// they are read first.
    pub fn protocols(path: &Path, scope: FileScope) -> Result<Vec<PathBuf>, SettingsError> {
        let reader = |reader: FileReader<'_>| {
            let table = reader.toml.parse()?;
            let entry = in_order(&table)
                .into_iter()
                .find(|(key, _)| key.get_ref() == "protocols");
            entry.map_or(Ok(Vec::new()), |(_, item)| reader.read_protocols(item))
        };
        Self::read_with(path, scope, reader)
    }

    /// Returns the rules that a settings file states, for these protocols. Other settings may name these rules, so that they
    /// are read first.
    pub fn own_rules(path: &Path, protocols: &[&str]) -> Result<Vec<OwnRule>, SettingsError> {
        let (name, text) = (path.display().to_string(), read_text(path)?);
        let toml = TomlText {
            name: &name,
            text: &text,
        };
        own_rules::read(toml, protocols).map_err(|errors| {
            let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
            SettingsError(texts.join("\n"))
        })
    }

    /// Returns the folder that relative paths in the file are relative to.
    pub fn folder(&self) -> &Path {
        let folder = self.path.parent();
        let named = folder.filter(|folder| !folder.as_os_str().is_empty());
        named.unwrap_or(Path::new("."))
    }
}

fn read_text(path: &Path) -> Result<String, SettingsError> {
    let name = path.display();
    let mut bytes = Vec::new();
    let file = File::open(path);
    let read = file.and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
    let size = read.map_err(|error| SettingsError(format!("cannot read {name}: {error}")))?;
    if size as u64 > MAX_FILE {
        let limit = MAX_FILE >> 10;
        return Err(SettingsError(format!("{name} is larger than {limit} KiB")));
    }
    String::from_utf8(bytes).map_err(|_| SettingsError(format!("{name} is not UTF-8")))
}

struct FileReader<'t> {
    toml: TomlText<'t>,
    scope: FileScope,
    settings: SettingsFile,
}

impl FileReader<'_> {
    fn read(&mut self) -> Result<(), TomlError> {
        for (key, item) in in_order(&self.toml.parse()?) {
            self.read_entry(key, item)?;
        }
        Ok(())
    }

    fn warn_unknown(&mut self, key: &Key<'_>, what: &str, near: Option<&str>) {
        let word = key.get_ref();
        let hint = near.map(|near| format!(": did you mean {near}?"));
        let hint = hint.unwrap_or_default();
        let text = format!("unknown {what}{word}{hint}");
        let warning = self.toml.error(&key.span(), text).one_line();
        self.settings.warnings.push(warning);
    }

    fn read_entry(&mut self, key: &Key<'_>, item: &Item<'_>) -> Result<(), TomlError> {
        let word: &str = key.get_ref();
        let known = setting(word).filter(|known| known.is_in_files());
        let is_active =
            ACTIVE.contains(&word) || known.is_some_and(|k| !k.is_set_in(SettingPlace::File));
        if is_active && self.scope != FileScope::User {
            let text = format!(
                "a project's file cannot set {word}: only the user's file, a variable or a flag can"
            );
            return Err(self.toml.error(&key.span(), text));
        }
        match (word, known) {
            ("rules", _) => self.read_rules(item),
            ("ignore", _) => self.read_ignore(item),
            ("files", _) => self.read_path_rules(item),
            ("snapshot", _) => self.read_snapshot(item),
            ("rule", _) if self.scope != FileScope::User => Ok(()),
            ("protocols", _) if self.scope != FileScope::User => {
                self.read_protocols(item).map(drop)
            }
            (_, Some(known)) => {
                let texts = self.read_values(known, item)?;
                let line = self.toml.line(&key.span());
                self.settings.values.push((known, texts, line));
                Ok(())
            }
            _ => {
                let known = SETTINGS.iter().filter(|known| known.is_in_files());
                let near = nearest(word, known.map(|known| known.name).chain(TABLES));
                self.warn_unknown(key, "key ", near);
                Ok(())
            }
        }
    }

    /// Returns the values of a setting.
    fn read_values(&self, known: &Setting, item: &Item<'_>) -> Result<Vec<String>, TomlError> {
        let items: Vec<&Item<'_>> = match item.get_ref().as_array() {
            Some(items) if known.is_list() => items.iter().collect(),
            _ => vec![item],
        };
        items
            .into_iter()
            .map(|item| self.read_value(known.name, known, item))
            .collect()
    }

    /// Returns a value of a setting; `key` names its place in the file.
    fn read_value(&self, key: &str, known: &Setting, item: &Item<'_>) -> Result<String, TomlError> {
        let text = match item.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(n) => n.as_str().replace('_', ""),
            DeValue::Boolean(b) => b.to_string(),
            _ => String::new(),
        };
        let checked = known.check(&text);
        checked.map_err(|wanted| self.toml.wrong_value(key, item, &wanted))?;
        if !matches!(known.kind, SettingKind::File) {
            return Ok(text);
        }
        if self.scope == FileScope::Project && !self.is_inside(&text) {
            let wanted = "the path of a file of this project";
            return Err(self.toml.wrong_value(key, item, wanted));
        }
        Ok(self.settings.folder().join(text).display().to_string())
    }

    /// Returns `true` if a path leads to a file of the project or to no file; symbolic links are followed.
    fn is_inside(&self, text: &str) -> bool {
        let Ok(folder) = self.settings.folder().canonicalize() else {
            return false;
        };
        let above = folder.ancestors().find(|above| above.join(".git").exists());
        let path = folder.join(text);
        match path.canonicalize() {
            Ok(path) => path.starts_with(above.unwrap_or(&folder)) && path.is_file(),
            // A missing file is reported when it is read.
            Err(_) => !path.exists(),
        }
    }

    fn read_rules(&mut self, item: &Item<'_>) -> Result<(), TomlError> {
        for (key, item) in self.toml.entries("rules", item)? {
            let rule: &str = key.get_ref();
            if !is_rule(rule) {
                self.warn_unknown(key, "rule ", nearest_rule(rule).as_deref());
                continue;
            }
            let severity = item.get_ref().as_str().and_then(Severity::from_name);
            let Some(severity) = severity else {
                let wanted = format!("one of {}", Severity::ALL.map(Severity::name).join(", "));
                return Err(self
                    .toml
                    .wrong_value(&format!("rules.\"{rule}\""), item, &wanted));
            };
            let line = self.toml.line(&key.span());
            self.settings.rules.push((rule.to_owned(), severity, line));
        }
        Ok(())
    }

    fn read_ignore(&mut self, item: &Item<'_>) -> Result<(), TomlError> {
        for (key, item) in self.toml.entries("ignore", item)? {
            if key.get_ref() != "paths" {
                self.warn_unknown(key, "key ignore.", nearest(key.get_ref(), ["paths"]));
                continue;
            }
            let texts = self.toml.strings("ignore.paths", item, "a list of paths")?;
            if !texts.iter().all(|text| PathPattern::is_valid(text)) {
                return Err(self
                    .toml
                    .wrong_value("ignore.paths", item, "a list of paths"));
            }
            self.settings.ignore = Some((texts, self.toml.line(&key.span())));
        }
        Ok(())
    }

    /// Returns the paths of descriptions of protocols.
    fn read_protocols(&self, item: &Item<'_>) -> Result<Vec<PathBuf>, TomlError> {
        let mut paths = Vec::new();
        for item in self.toml.list("protocols", item, "a list of files")? {
            let text = self.toml.string("protocols", item)?;
            if self.scope == FileScope::Project && !self.is_inside(text) {
                let wanted = "the path of a file of this project";
                return Err(self.toml.wrong_value("protocols", item, wanted));
            }
            paths.push(self.settings.folder().join(text));
        }
        Ok(paths)
    }

    fn read_snapshot(&mut self, item: &Item<'_>) -> Result<(), TomlError> {
        let mut rule = SnapshotRule {
            flags: String::new(),
            skip: Vec::new(),
            line: self.toml.line(&item.span()),
        };
        for (key, item) in self.toml.entries("snapshot", item)? {
            match key.get_ref().as_ref() {
                "flags" => {
                    let wanted = "flags as decode has them, such as \"-p oracle --lint\"";
                    let wrong = |why: &str| {
                        self.toml
                            .wrong_value("snapshot.flags", item, &format!("{wanted}{why}"))
                    };
                    let text = item.get_ref().as_str().ok_or_else(|| wrong(""))?;
                    let taken = FixtureOptions::default().take(text, self.settings.folder());
                    taken.map_err(|e| wrong(&format!(" ({e})")))?;
                    text.clone_into(&mut rule.flags);
                }
                "skip" => {
                    rule.skip = self
                        .toml
                        .strings("snapshot.skip", item, "a list of patterns")?;
                }
                word => self.warn_unknown(key, "key snapshot.", nearest(word, ["flags", "skip"])),
            }
        }
        self.settings.snapshot = Some(rule);
        Ok(())
    }

    fn read_path_rules(&mut self, item: &Item<'_>) -> Result<(), TomlError> {
        let wanted = "tables, each below [[files]]";
        for item in self.toml.list("files", item, wanted)? {
            let rule = self.read_path_rule(item)?;
            self.settings.path_rules.push(rule);
        }
        Ok(())
    }

    fn read_path_rule(&mut self, item: &Item<'_>) -> Result<PathRule, TomlError> {
        let mut rule = PathRule {
            pattern: String::new(),
            folder: self.settings.folder().to_owned(),
            values: Vec::new(),
            line: self.toml.line(&item.span()),
        };
        for (key, item) in self.toml.entries("files", item)? {
            let word: &str = key.get_ref();
            let known = setting(word).filter(|known| known.is_set_in(SettingPlace::Path));
            if word == "match" {
                let pattern = item.get_ref().as_str().filter(|text| !text.is_empty());
                let bad = || {
                    self.toml
                        .wrong_value("files.match", item, "a pattern of paths")
                };
                pattern.ok_or_else(bad)?.clone_into(&mut rule.pattern);
            } else if let Some(known) = known {
                let text = self.read_value(&format!("files.{word}"), known, item)?;
                rule.values.push((known, text));
            } else {
                let known = SETTINGS
                    .iter()
                    .filter(|known| known.is_set_in(SettingPlace::Path));
                let names = known.map(|known| known.name).chain(["match"]);
                self.warn_unknown(key, "key files.", nearest(word, names));
            }
        }
        if rule.pattern.is_empty() {
            return Err(self.toml.wrong_value("files", item, "a table with match"));
        }
        Ok(rule)
    }
}
