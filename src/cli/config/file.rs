//! A settings file: what it sets, and on which line.
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

use super::known::{ACTIVE, KNOWN, Kind, Known, TABLES};
use super::{FileRule, Origin, Settings, SnapshotRule, Value};
use crate::cli::values;
use crate::conversation::{find_rule, full_name, rules_of};
use crate::framing::{Framing, LengthMode};
use crate::protocol::session::Severity;
use crate::protocol::{Direction, registry};
use crate::snapshot::How;
use crate::words::{glob, nearest};
use anyhow::{Result, bail, ensure};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Bytes of a settings file: what is read of it takes many times as much.
const LARGEST: u64 = 1 << 20;

/// Reads a file on top of what is set already. A project's file may set passive things only.
pub fn read(path: &Path, is_project: bool, settings: &mut Settings) -> Result<()> {
    let name = path.display().to_string();
    let text = values::read_text(path, LARGEST)?;
    let file = File {
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
    for (key, value) in in_order(table.get_ref()) {
        file.entry(key, value, settings)?;
    }
    Ok(())
}

type Key<'t> = Spanned<std::borrow::Cow<'t, str>>;
type Item<'t> = Spanned<DeValue<'t>>;

/// Entries in the order in which they are written.
fn in_order<'i, 't>(table: &'i DeTable<'t>) -> Vec<(&'i Key<'t>, &'i Item<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

struct File<'t> {
    path: &'t Path,
    text: &'t str,
    is_project: bool,
    /// Nobody named it: it was there.
    is_found: bool,
}

impl File<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.get(..span.start).unwrap_or_default();
        before.matches('\n').count() + 1
    }

    fn origin(&self, span: &Range<usize>) -> Origin {
        Origin::File(self.path.to_owned(), self.line(span))
    }

    fn place(&self, span: &Range<usize>) -> String {
        self.origin(span).to_string()
    }

    /// `wiretool.toml:3: max-depth: wanted a number, got "deep"`.
    fn bad(&self, key: &str, item: &Item<'_>, wanted: &str) -> anyhow::Error {
        /// Longer values are cut.
        const SHOWN: usize = 60;
        let got: String = self
            .text
            .get(item.span())
            .unwrap_or_default()
            .chars()
            .take(SHOWN)
            .collect();
        anyhow::anyhow!(
            "{}: {key}: wanted {wanted}, got {got}",
            self.place(&item.span())
        )
    }

    fn unknown(&self, key: &Key<'_>, what: &str, names: &[&str], settings: &mut Settings) {
        let word = key.get_ref();
        let near = nearest(word, names.iter().copied());
        let hint = near
            .map(|near| format!(": did you mean {near}?"))
            .unwrap_or_default();
        let text = format!("{}: unknown {what}{word}{hint}", self.place(&key.span()));
        settings.warnings.push(text);
    }

    fn entry(&self, key: &Key<'_>, item: &Item<'_>, settings: &mut Settings) -> Result<()> {
        let word: &str = key.get_ref();
        let known = Known::of(word);
        let active = known.is_some_and(|k| k.user_only) || ACTIVE.contains(&word);
        ensure!(
            !(self.is_project && active),
            "{}: a project's file cannot set {word}: only your own file, a variable or a flag can",
            self.place(&key.span())
        );
        match (word, known) {
            ("rules", _) => self.rules(item, settings),
            ("ignore", _) => self.ignore(item, settings),
            ("files", _) => self.files(item, settings),
            ("snapshot", _) => self.snapshot(item, settings),
            (_, Some(known)) => {
                let value = Value {
                    texts: self.texts(known, item)?,
                    origin: self.origin(&key.span()),
                };
                settings.set(known.key, value);
                Ok(())
            }
            _ => {
                let names: Vec<&str> = KNOWN.iter().map(|k| k.key).chain(TABLES).collect();
                self.unknown(key, "key ", &names, settings);
                Ok(())
            }
        }
    }

    /// What a setting is set to.
    fn texts(&self, known: &Known, item: &Item<'_>) -> Result<Vec<String>> {
        let items: Vec<&Item<'_>> = match item.get_ref().as_array() {
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
                .map_err(|wanted| self.bad(known.key, item, &wanted))?;
            if matches!(known.kind, Kind::File) && self.is_found && !self.is_inside(&text) {
                return Err(self.bad(known.key, item, "the path of a file of this project"));
            }
            texts.push(match known.kind {
                Kind::File => self.folder().join(text).display().to_string(),
                _ => text,
            });
        }
        Ok(texts)
    }

    /// Whether a path leads to a file of the project, or to nothing; a link counts as what it leads to.
    fn is_inside(&self, text: &str) -> bool {
        let folder = self.folder();
        let Ok(folder) = folder.canonicalize() else {
            return false;
        };
        let above = folder.ancestors().find(|above| above.join(".git").exists());
        let path = folder.join(text);
        match path.canonicalize() {
            Ok(path) => path.starts_with(above.unwrap_or(&folder)) && path.is_file(),
            // What is not there is told where it is read.
            Err(_) => !path.exists(),
        }
    }

    /// What relative paths in it count from.
    fn folder(&self) -> PathBuf {
        let folder = self.path.parent();
        let named = folder.filter(|folder| !folder.as_os_str().is_empty());
        named.unwrap_or(Path::new(".")).to_owned()
    }

    fn table<'i, 't>(&self, key: &str, item: &'i Item<'t>) -> Result<&'i DeTable<'t>> {
        let table = item.get_ref().as_table();
        table.ok_or_else(|| self.bad(key, item, "a table"))
    }

    fn rules(&self, item: &Item<'_>, settings: &mut Settings) -> Result<()> {
        let protocols = registry::all();
        let names: Vec<String> = protocols
            .iter()
            .flat_map(|p| rules_of(*p).map(|rule| full_name(p.name(), rule)))
            .collect();
        for (key, item) in in_order(self.table("rules", item)?) {
            let rule: &str = key.get_ref();
            if find_rule(rule).is_none() && !names.iter().any(|name| glob(rule, name)) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.unknown(key, "rule ", &names, settings);
                continue;
            }
            let severity = item.get_ref().as_str().and_then(Severity::from_name);
            let Some(severity) = severity else {
                let wanted = format!("one of {}", Severity::ALL.map(Severity::name).join(", "));
                return Err(self.bad(&format!("rules.\"{rule}\""), item, &wanted));
            };
            let origin = self.origin(&key.span());
            settings.rules.push((rule.to_owned(), severity, origin));
        }
        Ok(())
    }

    fn ignore(&self, item: &Item<'_>, settings: &mut Settings) -> Result<()> {
        for (key, item) in in_order(self.table("ignore", item)?) {
            if key.get_ref() != "paths" {
                self.unknown(key, "key ignore.", &["paths"], settings);
                continue;
            }
            let texts = self.list("ignore.paths", item, "a list of paths")?;
            let origin = self.origin(&key.span());
            settings.ignore = Some(Value { texts, origin });
        }
        Ok(())
    }

    fn list(&self, key: &str, item: &Item<'_>, wanted: &str) -> Result<Vec<String>> {
        let bad = |item| self.bad(key, item, wanted);
        let mut texts = Vec::new();
        for text in item.get_ref().as_array().ok_or_else(|| bad(item))? {
            texts.push(text.get_ref().as_str().ok_or_else(|| bad(text))?.to_owned());
        }
        Ok(texts)
    }

    fn snapshot(&self, item: &Item<'_>, settings: &mut Settings) -> Result<()> {
        let mut rule = SnapshotRule {
            folder: self.folder(),
            flags: String::new(),
            skip: Vec::new(),
            origin: self.origin(&item.span()),
        };
        for (key, item) in in_order(self.table("snapshot", item)?) {
            match key.get_ref().as_ref() {
                "flags" => {
                    let wanted = "flags as decode has them, such as \"-p oracle --lint\"";
                    let text = item.get_ref().as_str();
                    let text = text.ok_or_else(|| self.bad("snapshot.flags", item, wanted))?;
                    let taken = How::default().take(text, &rule.folder);
                    taken.map_err(|e| {
                        self.bad("snapshot.flags", item, &format!("{wanted} ({e})"))
                    })?;
                    text.clone_into(&mut rule.flags);
                }
                "skip" => rule.skip = self.list("snapshot.skip", item, "a list of patterns")?,
                _ => self.unknown(key, "key snapshot.", &["flags", "skip"], settings),
            }
        }
        settings.snapshot = Some(rule);
        Ok(())
    }

    fn files(&self, item: &Item<'_>, settings: &mut Settings) -> Result<()> {
        let wanted = "tables, each below [[files]]";
        let list = item
            .get_ref()
            .as_array()
            .ok_or_else(|| self.bad("files", item, wanted))?;
        let mut rules = Vec::new();
        for item in list {
            rules.push(self.file_rule(item, settings)?);
        }
        // The first that fits counts, and a project's come before a user's.
        rules.append(&mut settings.files);
        settings.files = rules;
        Ok(())
    }

    fn file_rule(&self, item: &Item<'_>, settings: &mut Settings) -> Result<FileRule> {
        let mut rule = FileRule {
            pattern: String::new(),
            folder: self.folder(),
            protocol: None,
            framing: None,
            direction: None,
            length_mode: None,
            origin: self.origin(&item.span()),
        };
        for (key, item) in in_order(self.table("files", item)?) {
            let word: &str = key.get_ref();
            let text = item.get_ref().as_str();
            let one_of = |names: &[&str]| {
                let wanted = format!("one of {}", names.join(", "));
                let bad = || self.bad(&format!("files.{word}"), item, &wanted);
                text.filter(|t| names.contains(t)).ok_or_else(bad)
            };
            match word {
                "match" => {
                    let bad = || self.bad("files.match", item, "a pattern of paths");
                    let pattern = text.filter(|t| !t.is_empty()).ok_or_else(bad)?;
                    pattern.clone_into(&mut rule.pattern);
                }
                "protocol" => {
                    let name = one_of(&values::protocol_names())?;
                    rule.protocol = Some(name.to_owned());
                }
                "framing" => {
                    let name = one_of(&Framing::ALL.map(Framing::name))?;
                    rule.framing = Framing::from_name(name);
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
                    self.unknown(key, "key files.", &names, settings);
                }
            }
        }
        if rule.pattern.is_empty() {
            return Err(self.bad("files", item, "a table with match"));
        }
        Ok(rule)
    }
}
