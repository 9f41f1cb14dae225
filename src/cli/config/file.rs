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

use super::known::{ACTIVE, KNOWN, Known, SettingKind, TABLES};
use super::{Config, FileRule, SettingOrigin, SettingValue, SnapshotRule};
use crate::cli::values;
use crate::conversation::{find_rule, full_name, rules_of};
use crate::diff::PathPattern;
use crate::framing::LengthMode;
use crate::protocol::session::Severity;
use crate::protocol::{Direction, registry};
use crate::snapshot::FixtureOptions;
use crate::words::{glob, nearest};
use anyhow::{Result, bail, ensure};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The maximum size of a settings file, in bytes; the parser needs a multiple of it.
const MAX_FILE: u64 = 1 << 20;

/// Adds a file to the settings. A project's file can only set passive settings.
pub fn read(path: &Path, is_project: bool, settings: &mut Config) -> Result<()> {
    let name = path.display().to_string();
    let text = values::read_text(path, MAX_FILE)?;
    let file = ConfigFile {
        path,
        text: &text,
        is_project,
        is_found: is_project && settings.named.is_none(),
    };
    let table = match DeTable::parse(&text) {
        Ok(table) => table,
        Err(error) => {
            let line = file.line(&error.span().unwrap_or_default());
            bail!("{name}:{line}: {}", error.message())
        }
    };
    for (key, value) in sorted_entries(table.get_ref()) {
        file.read_entry(key, value, settings)?;
    }
    Ok(())
}

type ConfigKey<'t> = Spanned<std::borrow::Cow<'t, str>>;
type ConfigItem<'t> = Spanned<DeValue<'t>>;

/// Returns the entries in the order of the file.
fn sorted_entries<'i, 't>(table: &'i DeTable<'t>) -> Vec<(&'i ConfigKey<'t>, &'i ConfigItem<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

struct ConfigFile<'t> {
    path: &'t Path,
    text: &'t str,
    is_project: bool,
    /// The user did not name the file: it was found.
    is_found: bool,
}

impl ConfigFile<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.get(..span.start).unwrap_or_default();
        before.matches('\n').count() + 1
    }

    fn origin(&self, span: &Range<usize>) -> SettingOrigin {
        SettingOrigin::File(self.path.to_owned(), self.line(span))
    }

    fn location(&self, span: &Range<usize>) -> String {
        self.origin(span).to_string()
    }

    /// Returns the error `wiretool.toml:3: max-depth: wanted a number, got "deep"`.
    fn wrong_value(&self, key: &str, item: &ConfigItem<'_>, wanted: &str) -> anyhow::Error {
        /// Longer values are cut.
        const MAX_SHOWN: usize = 60;
        let got: String = self
            .text
            .get(item.span())
            .unwrap_or_default()
            .chars()
            .take(MAX_SHOWN)
            .collect();
        anyhow::anyhow!(
            "{}: {key}: wanted {wanted}, got {got}",
            self.location(&item.span())
        )
    }

    fn report_unknown(
        &self,
        key: &ConfigKey<'_>,
        what: &str,
        names: &[&str],
        settings: &mut Config,
    ) {
        let word = key.get_ref();
        let near = nearest(word, names.iter().copied());
        let hint = near
            .map(|near| format!(": did you mean {near}?"))
            .unwrap_or_default();
        let text = format!("{}: unknown {what}{word}{hint}", self.location(&key.span()));
        settings.warnings.push(text);
    }

    fn read_entry(
        &self,
        key: &ConfigKey<'_>,
        item: &ConfigItem<'_>,
        settings: &mut Config,
    ) -> Result<()> {
        let word: &str = key.get_ref();
        let known = Known::find(word);
        ensure!(
            !(self.is_project && ACTIVE.contains(&word)),
            "{}: a project's file cannot set {word}: only the user's file, a variable or a flag can",
            self.location(&key.span())
        );
        match (word, known) {
            ("rules", _) => self.read_rules(item, settings),
            ("ignore", _) => self.read_ignore(item, settings),
            ("files", _) => self.read_files(item, settings),
            ("snapshot", _) => self.read_snapshot(item, settings),
            (_, Some(known)) => {
                let value = SettingValue {
                    texts: self.read_values(known, item)?,
                    origin: self.origin(&key.span()),
                };
                settings.set(known.key, value);
                Ok(())
            }
            _ => {
                let names: Vec<&str> = KNOWN.iter().map(|k| k.key).chain(TABLES).collect();
                self.report_unknown(key, "key ", &names, settings);
                Ok(())
            }
        }
    }

    /// Returns the values of a setting.
    fn read_values(&self, known: &Known, item: &ConfigItem<'_>) -> Result<Vec<String>> {
        let items: Vec<&ConfigItem<'_>> = match item.get_ref().as_array() {
            Some(items) if known.is_list() => items.iter().collect(),
            _ => vec![item],
        };
        let mut texts = Vec::new();
        for item in items {
            let text = match item.get_ref() {
                DeValue::String(text) => text.to_string(),
                DeValue::Integer(n) => n.as_str().replace('_', ""),
                DeValue::Boolean(b) => b.to_string(),
                _ => String::new(),
            };
            known
                .check(&text)
                .map_err(|wanted| self.wrong_value(known.key, item, &wanted))?;
            if matches!(known.kind, SettingKind::File) && self.is_found && !self.is_inside(&text) {
                return Err(self.wrong_value(
                    known.key,
                    item,
                    "the path of a file of this project",
                ));
            }
            texts.push(match known.kind {
                SettingKind::File => self.folder().join(text).display().to_string(),
                _ => text,
            });
        }
        Ok(texts)
    }

    /// Returns true if a path leads to a file of the project or to no file; symbolic links are followed.
    fn is_inside(&self, text: &str) -> bool {
        let folder = self.folder();
        let Ok(folder) = folder.canonicalize() else {
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

    /// Returns the folder that relative paths in the file are relative to.
    fn folder(&self) -> PathBuf {
        let folder = self.path.parent();
        let named = folder.filter(|folder| !folder.as_os_str().is_empty());
        named.unwrap_or(Path::new(".")).to_owned()
    }

    fn as_table<'i, 't>(&self, key: &str, item: &'i ConfigItem<'t>) -> Result<&'i DeTable<'t>> {
        let table = item.get_ref().as_table();
        table.ok_or_else(|| self.wrong_value(key, item, "a table"))
    }

    fn read_rules(&self, item: &ConfigItem<'_>, settings: &mut Config) -> Result<()> {
        let protocols = registry::all();
        let names: Vec<String> = protocols
            .iter()
            .flat_map(|p| rules_of(*p).map(|rule| full_name(p.name(), rule)))
            .collect();
        for (key, item) in sorted_entries(self.as_table("rules", item)?) {
            let rule: &str = key.get_ref();
            if find_rule(rule).is_none() && !names.iter().any(|name| glob(rule, name)) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.report_unknown(key, "rule ", &names, settings);
                continue;
            }
            let severity = item.get_ref().as_str().and_then(Severity::from_name);
            let Some(severity) = severity else {
                let wanted = format!("one of {}", Severity::ALL.map(Severity::name).join(", "));
                return Err(self.wrong_value(&format!("rules.\"{rule}\""), item, &wanted));
            };
            let origin = self.origin(&key.span());
            settings.rules.push((rule.to_owned(), severity, origin));
        }
        Ok(())
    }

    fn read_ignore(&self, item: &ConfigItem<'_>, settings: &mut Config) -> Result<()> {
        for (key, item) in sorted_entries(self.as_table("ignore", item)?) {
            if key.get_ref() != "paths" {
                self.report_unknown(key, "key ignore.", &["paths"], settings);
                continue;
            }
            let texts = self.read_list("ignore.paths", item, "a list of paths")?;
            if !texts.iter().all(|text| PathPattern::is_valid(text)) {
                return Err(self.wrong_value("ignore.paths", item, "a list of paths"));
            }
            let origin = self.origin(&key.span());
            settings.ignore = Some(SettingValue { texts, origin });
        }
        Ok(())
    }

    fn read_list(&self, key: &str, item: &ConfigItem<'_>, wanted: &str) -> Result<Vec<String>> {
        let bad = |item| self.wrong_value(key, item, wanted);
        let mut texts = Vec::new();
        for text in item.get_ref().as_array().ok_or_else(|| bad(item))? {
            texts.push(text.get_ref().as_str().ok_or_else(|| bad(text))?.to_owned());
        }
        Ok(texts)
    }

    fn read_snapshot(&self, item: &ConfigItem<'_>, settings: &mut Config) -> Result<()> {
        let mut rule = SnapshotRule {
            folder: self.folder(),
            flags: String::new(),
            skip: Vec::new(),
            origin: self.origin(&item.span()),
        };
        for (key, item) in sorted_entries(self.as_table("snapshot", item)?) {
            match key.get_ref().as_ref() {
                "flags" => {
                    let wanted = "flags as decode has them, such as \"-p oracle --lint\"";
                    let text = item.get_ref().as_str();
                    let text =
                        text.ok_or_else(|| self.wrong_value("snapshot.flags", item, wanted))?;
                    let taken = FixtureOptions::default().take(text, &rule.folder);
                    taken.map_err(|e| {
                        self.wrong_value("snapshot.flags", item, &format!("{wanted} ({e})"))
                    })?;
                    text.clone_into(&mut rule.flags);
                }
                "skip" => {
                    rule.skip = self.read_list("snapshot.skip", item, "a list of patterns")?;
                }
                _ => self.report_unknown(key, "key snapshot.", &["flags", "skip"], settings),
            }
        }
        settings.snapshot = Some(rule);
        Ok(())
    }

    fn read_files(&self, item: &ConfigItem<'_>, settings: &mut Config) -> Result<()> {
        let wanted = "tables, each below [[files]]";
        let list = item
            .get_ref()
            .as_array()
            .ok_or_else(|| self.wrong_value("files", item, wanted))?;
        let mut rules = Vec::new();
        for item in list {
            rules.push(self.read_file_rule(item, settings)?);
        }
        // The first match counts, and the project's rules precede the user's.
        rules.append(&mut settings.files);
        settings.files = rules;
        Ok(())
    }

    fn read_file_rule(&self, item: &ConfigItem<'_>, settings: &mut Config) -> Result<FileRule> {
        let mut rule = FileRule {
            pattern: String::new(),
            folder: self.folder(),
            protocol: None,
            framing: None,
            direction: None,
            length_mode: None,
            origin: self.origin(&item.span()),
        };
        for (key, item) in sorted_entries(self.as_table("files", item)?) {
            let word: &str = key.get_ref();
            let text = item.get_ref().as_str();
            let one_of = |names: &[&str]| {
                let wanted = format!("one of {}", names.join(", "));
                let bad = || self.wrong_value(&format!("files.{word}"), item, &wanted);
                text.filter(|t| names.contains(t)).ok_or_else(bad)
            };
            match word {
                "match" => {
                    let bad = || self.wrong_value("files.match", item, "a pattern of paths");
                    let pattern = text.filter(|t| !t.is_empty()).ok_or_else(bad)?;
                    pattern.clone_into(&mut rule.pattern);
                }
                "protocol" => {
                    let name = one_of(&values::protocol_names())?;
                    rule.protocol = Some(name.to_owned());
                }
                "framing" => {
                    let name = one_of(&registry::framing_names())?;
                    rule.framing = registry::framing_named(name);
                }
                "dir" => {
                    let name = one_of(&["c2s", "s2c"])?;
                    rule.direction = Direction::from_name(name);
                }
                "length-mode" => {
                    let name = one_of(&["auto", "exclusive", "inclusive"])?;
                    rule.length_mode = LengthMode::from_name(name);
                }
                _ => {
                    let names = ["match", "protocol", "framing", "dir", "length-mode"];
                    self.report_unknown(key, "key files.", &names, settings);
                }
            }
        }
        if rule.pattern.is_empty() {
            return Err(self.wrong_value("files", item, "a table with match"));
        }
        Ok(rule)
    }
}
