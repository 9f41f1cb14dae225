//! Settings: flags, then variables, then the project's file, then the user's, then what is built in.
//!
//! ```text
//!   --format json  >  WIRETOOL_FORMAT  >  wiretool.toml  >  ~/.config/wiretool/config.toml  >  default
//! ```
//!
//! A project's file is the first `wiretool.toml` from the current folder upwards, up to the repository's root. It comes
//! with whatever was checked out, so that it can only say how things are read and shown.

mod file;
mod fixture;
mod known;
mod show;

use crate::decoder::Options;
use crate::framing::Framing;
use crate::framing::LengthMode;
use crate::protocol::Direction;
use crate::protocol::oracle::cairo_serde::Signature;
use crate::protocol::session::Severity;
use crate::snapshot::{fits, project_file};
use anyhow::{Result, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
pub use fixture::Folders;
use known::{KNOWN, Kind, Known};
pub use show::{Args, run};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What set something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag(&'static str),
    Variable(&'static str),
    File(PathBuf, usize),
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => f.write_str(flag),
            Self::Variable(name) => f.write_str(name),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

/// What something is set to.
#[derive(Clone, Debug)]
pub struct Value {
    texts: Vec<String>,
    origin: Origin,
}

/// How files of some paths are read.
#[derive(Clone, Debug)]
struct FileRule {
    pattern: String,
    /// What the pattern counts from.
    folder: PathBuf,
    protocol: Option<String>,
    framing: Option<Framing>,
    direction: Option<Direction>,
    length_mode: Option<LengthMode>,
    origin: Origin,
}

/// How fixtures become snapshots.
#[derive(Clone, Debug)]
struct SnapshotRule {
    /// What paths and patterns count from.
    folder: PathBuf,
    flags: String,
    /// Patterns of files that are no fixtures.
    skip: Vec<String>,
    origin: Origin,
}

/// What is set.
#[derive(Debug, Default)]
pub struct Settings {
    values: BTreeMap<&'static str, Value>,
    rules: Vec<(String, Severity, Origin)>,
    ignore: Option<Value>,
    files: Vec<FileRule>,
    snapshot: Option<SnapshotRule>,
    /// The settings file that was named instead of the project's.
    named: Option<PathBuf>,
    /// Flags that were given, by the names of their fields.
    given: BTreeSet<String>,
    warnings: Vec<String>,
}

static SETTINGS: OnceLock<Settings> = OnceLock::new();

/// What is set, for this run.
pub fn settings() -> &'static Settings {
    SETTINGS.get_or_init(Settings::default)
}

/// Reads files and variables, for a command line that was found to be right. Gives back what is worth a warning.
pub fn load(matches: &ArgMatches) -> Result<&'static [String]> {
    let mut settings = Settings::default();
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
    if let Some(path) = user_file().filter(|path| path.is_file()) {
        file::read(&path, false, &mut settings)?;
    }
    let named = matches.get_one::<PathBuf>("config").cloned();
    let named = named.or_else(|| variable("WIRETOOL_CONFIG").map(PathBuf::from));
    settings.named.clone_from(&named);
    let here = || project_file(&std::env::current_dir().ok()?);
    if let Some(path) = named.or_else(here) {
        file::read(&path, true, &mut settings)?;
    }
    for known in &KNOWN {
        let Some(text) = variable(known.variable) else {
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
                bail!("{}: wanted {wanted}, got {text:?}", known.variable);
            }
        }
        let origin = Origin::Variable(known.variable);
        settings.set(known.key, Value { texts, origin });
    }
    if let (true, Some(mut color)) = (settings.is_given("color"), matches.get_raw("color")) {
        let text = color.next().unwrap_or_default().to_string_lossy();
        let value = Value {
            texts: vec![text.into_owned()],
            origin: Origin::Flag("--color"),
        };
        settings.set("color", value);
    }
    let _ = SETTINGS.set(settings);
    Ok(&self::settings().warnings)
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn user_file() -> Option<PathBuf> {
    let set = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = set.filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")))?;
    Some(folder.join("wiretool/config.toml"))
}

impl Settings {
    fn set(&mut self, key: &'static str, value: Value) {
        self.values.insert(key, value);
    }

    fn text(&self, key: &str) -> Option<&str> {
        let value = self.values.get(key)?;
        value.texts.first().map(String::as_str)
    }

    fn is_given(&self, flag: &str) -> bool {
        self.given.contains(flag)
    }

    /// The protocol of all inputs; `None` also where it depends on the input's path.
    pub fn protocol(&self) -> Option<&str> {
        if self.files.iter().any(|rule| rule.protocol.is_some()) && !self.is_protocol_said() {
            return None;
        }
        self.text("protocol")
    }

    /// Whether a flag or a variable says the protocol: paths do not count then.
    fn is_protocol_said(&self) -> bool {
        let value = self.values.get("protocol");
        ["protocol", "schema", "as_struct", "signature"]
            .map(|flag| self.is_given(flag))
            .contains(&true)
            || value.is_some_and(|v| matches!(v.origin, Origin::Variable(_)))
    }

    /// telequick's definitions.
    pub fn schema(&self) -> Option<&Path> {
        self.text("schema").map(Path::new)
    }

    /// What oracle's selectors take and give.
    pub fn signatures(&self) -> Vec<Signature> {
        let value = self.values.get("signature");
        let texts = value.into_iter().flat_map(|v| &v.texts);
        texts
            .filter_map(|text| Signature::parse(text).ok())
            .collect()
    }

    /// Names of rules, and how severe those are instead; the last that fits counts.
    pub fn rules(&self) -> impl Iterator<Item = (String, Severity)> {
        self.rules
            .iter()
            .map(|(name, severity, _)| (name.clone(), *severity))
    }

    /// Paths in which differences mean nothing.
    pub fn ignored(&self) -> &[String] {
        self.ignore.as_ref().map_or(&[], |value| &value.texts)
    }

    /// How many fields those paths ignored, to stand behind a summary.
    pub fn ignored_note(&self, fields: u64) -> String {
        let Some(value) = self.ignore.as_ref().filter(|_| fields > 0) else {
            return String::new();
        };
        let fields = super::counted(fields, "field is", "fields are");
        format!("; {fields} ignored: [ignore] of {}", value.origin)
    }

    /// How the input of this path is read: what flags leave open is as files say.
    pub fn narrowed<'p>(
        &self,
        options: &Options<'p>,
        direction: Option<Direction>,
        path: &Path,
    ) -> (Options<'p>, Option<Direction>) {
        let mut options = options.clone();
        let rule = self.files.iter().find(|rule| rule.fits(path));
        let name = rule.and_then(|rule| rule.protocol.as_deref());
        if let Some(name) = name
            .or(self.text("protocol"))
            .filter(|_| !self.is_protocol_said())
        {
            options.protocols.retain(|p| p.name() == name);
        }
        let Some(rule) = rule else {
            return (options, direction);
        };
        if !self.is_given("framing") {
            options.framing = options.framing.or(rule.framing);
        }
        if let Some(mode) = rule.length_mode.filter(|_| !self.is_given("length_mode")) {
            options.length_mode = mode;
        }
        (options, direction.or(rule.direction))
    }

    /// Makes what is set the defaults of flags that may have that value. Others, such as the protocol, are asked for
    /// where they are used, since a flag for one protocol outweighs them.
    pub fn as_defaults(&'static self, command: Command) -> Command {
        command
            .mut_args(|arg| {
                let key = arg.get_id().as_str().replace('_', "-");
                let Some(known) = Known::of(&key) else {
                    return arg;
                };
                let text = self.text(known.key);
                let passed =
                    matches!(known.kind, Kind::File | Kind::Signatures) || key == "protocol";
                match text {
                    Some(text) if !passed => {
                        let values = arg.get_possible_values();
                        let fits = values.is_empty() || values.iter().any(|v| v.get_name() == text);
                        if fits { arg.default_value(text) } else { arg }
                    }
                    _ => arg,
                }
            })
            .mut_subcommands(|below| self.as_defaults(below))
    }
}

impl FileRule {
    fn fits(&self, path: &Path) -> bool {
        fits(&self.folder, &self.pattern, path)
    }
}
