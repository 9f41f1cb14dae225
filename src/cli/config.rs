//! The settings: flags override variables, these the project's file, this the user's file, and this the defaults.
//!
//! ```text
//!   --format json  >  WIRETOOL_FORMAT  >  wiretool.toml  >  ~/.config/wiretool/config.toml  >  default
//! ```
//!
//! The project's file is the first `wiretool.toml` from the current folder upwards, up to the root of the repository. It comes
//! with the files that were checked out, so it can only change how input is read and shown.

mod fixture;
mod show;

use crate::decoder::DecodeOptions;
use crate::framing::LengthMode;
use crate::protocol::oracle::cairo_serde::Signature;
use crate::protocol::session::Severity;
use crate::protocol::{Direction, registry};
use crate::settings::{
    FileScope, PathRule, SETTINGS, SettingKind, SettingsFile, SnapshotRule, project_file, setting,
};
use anyhow::{Result, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
pub use fixture::FixtureConfigs;
pub use show::{Args, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    Flag(&'static str),
    Variable(String),
    File(PathBuf, usize),
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => f.write_str(flag),
            Self::Variable(name) => f.write_str(name),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

#[derive(Clone, Debug)]
pub struct SettingValue {
    texts: Vec<String>,
    origin: SettingOrigin,
}

/// All settings.
#[derive(Debug, Default)]
pub struct Config {
    values: BTreeMap<&'static str, SettingValue>,
    rules: Vec<(String, Severity, SettingOrigin)>,
    ignore: Option<SettingValue>,
    files: Vec<(PathRule, SettingOrigin)>,
    snapshot: Option<(SnapshotRule, SettingOrigin)>,
    /// The file of `--config`, which replaces the project's file.
    named: Option<PathBuf>,
    /// The flags on the command line, by the names of their fields.
    given: BTreeSet<String>,
    warnings: Vec<String>,
}

static CONFIG: OnceLock<Config> = OnceLock::new();

/// Returns the settings of this run.
pub fn settings() -> &'static Config {
    CONFIG.get_or_init(Config::default)
}

/// Reads files and variables, after the command line was parsed. Returns warnings.
pub fn load(matches: &ArgMatches) -> Result<&'static [String]> {
    let mut settings = Config::default();
    let mut level = Some(matches);
    while let Some(matches) = level {
        for id in matches.ids() {
            let id = id.as_str();
            if matches!(matches.value_source(id), Some(ValueSource::CommandLine)) {
                settings.given.insert(id.to_owned());
            }
        }
        level = matches.subcommand().map(|(_, below)| below);
    }
    let user_file = user_folder().map(|folder| folder.join("config.toml"));
    if let Some(path) = user_file.filter(|path| path.is_file()) {
        settings.add(SettingsFile::read(&path, FileScope::User)?);
    }
    let named = matches.get_one::<PathBuf>("config").cloned();
    let named = named.or_else(named_by_variable);
    settings.named.clone_from(&named);
    let scope = match named {
        Some(_) => FileScope::Named,
        None => FileScope::Project,
    };
    if let Some(path) = named.or_else(project_file_here) {
        settings.add(SettingsFile::read(&path, scope)?);
    }
    for known in SETTINGS.iter().filter(|known| known.is_in_files()) {
        let name = known.variable();
        let Some(text) = variable(&name) else {
            continue;
        };
        let text = text.to_string_lossy();
        let texts: Vec<String> = if known.is_list() {
            text.split(';').map(|t| t.trim().to_owned()).collect()
        } else {
            vec![text.into_owned()]
        };
        for text in &texts {
            if let Err(wanted) = known.check(text) {
                bail!("{name}: wanted {wanted}, got {text:?}");
            }
        }
        let origin = SettingOrigin::Variable(name);
        settings.set(known.name, SettingValue { texts, origin });
    }
    if let (true, Some(mut color)) = (settings.is_given("color"), matches.get_raw("color")) {
        let text = color.next().unwrap_or_default().to_string_lossy();
        let value = SettingValue {
            texts: vec![text.into_owned()],
            origin: SettingOrigin::Flag("--color"),
        };
        settings.set("color", value);
    }
    let _ = CONFIG.set(settings);
    Ok(&self::settings().warnings)
}

/// Returns the value of a variable, if it is set and not empty.
pub fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the file that a variable names in place of the project's file.
pub fn named_by_variable() -> Option<PathBuf> {
    variable("WIRETOOL_CONFIG").map(PathBuf::from)
}

/// Returns the project's file.
pub fn project_file_here() -> Option<PathBuf> {
    project_file(&std::env::current_dir().ok()?)
}

/// Returns the folder of the user's settings and descriptions.
pub fn user_folder() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME", ".config")
}

/// Returns a folder of the user's files: that of the variable, or one in the home folder.
pub fn folder(name: &str, in_home: &str) -> Option<PathBuf> {
    let set = variable(name).map(PathBuf::from);
    let folder = set.filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(PathBuf::from(variable("HOME")?).join(in_home)))?;
    Some(folder.join("wiretool"))
}

impl Config {
    /// Adds a file; its settings precede those of the files before it.
    fn add(&mut self, file: SettingsFile) {
        let origin = |line| SettingOrigin::File(file.path.clone(), line);
        for (setting, texts, line) in file.values {
            let origin = origin(line);
            self.values
                .insert(setting.name, SettingValue { texts, origin });
        }
        let rules = file.rules.into_iter();
        self.rules
            .extend(rules.map(|(rule, severity, line)| (rule, severity, origin(line))));
        if let Some((texts, line)) = file.ignore {
            let origin = origin(line);
            self.ignore = Some(SettingValue { texts, origin });
        }
        let rules = file.path_rules.into_iter();
        let rules = rules.map(|rule| (origin(rule.line), rule));
        self.files
            .splice(0..0, rules.map(|(origin, rule)| (rule, origin)));
        if let Some(rule) = file.snapshot {
            let origin = origin(rule.line);
            self.snapshot = Some((rule, origin));
        }
        self.warnings.extend(file.warnings);
    }

    fn set(&mut self, key: &'static str, value: SettingValue) {
        self.values.insert(key, value);
    }

    fn text(&self, key: &str) -> Option<&str> {
        let value = self.values.get(key)?;
        value.texts.first().map(String::as_str)
    }

    fn is_given(&self, flag: &str) -> bool {
        self.given.contains(flag)
    }

    /// Returns the protocol of all inputs; `None` also if it depends on the path of the input.
    pub fn protocol(&self) -> Option<&str> {
        if self
            .files
            .iter()
            .any(|(rule, _)| rule.value("protocol").is_some())
            && !self.is_protocol_set()
        {
            return None;
        }
        self.text("protocol")
    }

    /// Returns true if a flag or a variable sets the protocol: then rules for paths do not apply.
    fn is_protocol_set(&self) -> bool {
        let value = self.values.get("protocol");
        ["protocol", "schema", "as_struct", "signature"]
            .map(|flag| self.is_given(flag))
            .contains(&true)
            || value.is_some_and(|v| matches!(v.origin, SettingOrigin::Variable(_)))
    }

    /// Returns the schema file of telequick.
    pub fn schema(&self) -> Option<&Path> {
        self.text("schema").map(Path::new)
    }

    /// Returns the signatures of oracle's selectors.
    pub fn signatures(&self) -> Vec<Signature> {
        let value = self.values.get("signature");
        let texts = value.into_iter().flat_map(|v| &v.texts);
        texts
            .filter_map(|text| Signature::parse(text).ok())
            .collect()
    }

    /// Returns names of rules with their severities; the last match counts.
    pub fn rules(&self) -> impl Iterator<Item = (String, Severity)> {
        self.rules
            .iter()
            .map(|(name, severity, _)| (name.clone(), *severity))
    }

    /// Returns the paths that comparisons ignore.
    pub fn ignored(&self) -> &[String] {
        self.ignore.as_ref().map_or(&[], |value| &value.texts)
    }

    /// Returns the number of fields that those paths ignored, for the end of a summary.
    pub fn ignored_note(&self, fields: u64) -> String {
        let Some(value) = self.ignore.as_ref().filter(|_| fields > 0) else {
            return String::new();
        };
        let fields = super::count_text(fields, "field is", "fields are");
        format!("; {fields} ignored: [ignore] of {}", value.origin)
    }

    /// Returns the options for the input with this path: settings for its path apply if no flag does.
    pub fn options_for_path<'p>(
        &self,
        options: &DecodeOptions<'p>,
        direction: Option<Direction>,
        path: &Path,
    ) -> (DecodeOptions<'p>, Option<Direction>) {
        let mut options = options.clone();
        let mut rules = self.files.iter().map(|(rule, _)| rule);
        let rule = rules.find(|rule| rule.matches(path));
        let name = rule.and_then(|rule| rule.value("protocol"));
        if let Some(name) = name
            .or(self.text("protocol"))
            .filter(|_| !self.is_protocol_set())
        {
            options.protocols.retain(|p| p.name() == name);
        }
        let Some(rule) = rule else {
            return (options, direction);
        };
        if !self.is_given("framing") {
            let framing = rule.value("framing").and_then(registry::framing_named);
            options.framing = options.framing.or(framing);
        }
        let mode = rule.value("length-mode").and_then(LengthMode::from_name);
        if let Some(mode) = mode.filter(|_| !self.is_given("length_mode")) {
            options.length_mode = mode;
        }
        let direction = direction.or(rule.value("dir").and_then(Direction::from_name));
        (options, direction)
    }

    /// Returns true if a setting may be the default of a flag.
    pub fn has_defaults(&self) -> bool {
        !self.values.is_empty()
    }

    /// Makes settings the defaults of the flags that accept these values. Other settings, such as the protocol, are read
    /// where they are used, because a flag for one protocol overrides them.
    pub fn apply_defaults(&'static self, command: Command) -> Command {
        command
            .mut_args(|arg| {
                let key = arg.get_id().as_str().replace('_', "-");
                let Some(known) = setting(&key).filter(|known| known.is_in_files()) else {
                    return arg;
                };
                let text = self.text(known.name);
                let passed = matches!(known.kind, SettingKind::File | SettingKind::Signatures)
                    || key == "protocol";
                match text {
                    Some(text) if !passed => {
                        let values = arg.get_possible_values();
                        let fits = values.is_empty() || values.iter().any(|v| v.get_name() == text);
                        if fits { arg.default_value(text) } else { arg }
                    }
                    _ => arg,
                }
            })
            .mut_subcommands(|below| self.apply_defaults(below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::registry;
    use crate::settings::SettingPlace;

    #[test]
    fn every_setting_of_a_path_has_an_effect() {
        let path = Path::new("captures/a.bin");
        for setting in SETTINGS.iter().filter(|s| s.is_set_in(SettingPlace::Path)) {
            let value = setting.words().into_iter().find(|word| *word != "auto");
            let rule = PathRule {
                pattern: "*".to_owned(),
                folder: PathBuf::from("."),
                values: vec![(setting, value.unwrap_or_default().to_owned())],
                line: 1,
            };
            let config = Config {
                files: vec![(rule, SettingOrigin::Default)],
                ..Config::default()
            };
            let before = DecodeOptions::new(registry::all().to_vec());
            let (after, direction) = config.options_for_path(&before, None, path);
            let has_effect = after.protocols.len() != before.protocols.len()
                || after.framing != before.framing
                || after.length_mode != before.length_mode
                || direction.is_some();
            assert!(has_effect, "{} changes nothing", setting.name);
        }
    }
}
