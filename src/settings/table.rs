//! The table of settings.

use super::options::FixtureOptions;
use crate::capture::Form;
use crate::conversation::{RuleDialect, full_name, names_rule, rules_of};
use crate::diff::PathPattern;
use crate::framing::LengthMode;
use crate::protocol::Direction;
use crate::protocol::registry::{self, Signature};
use crate::protocol::rules::COMMON;
use crate::protocol::session::Severity;
use crate::render::Format;
use crate::words::{nearest, size};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The maximum number of threads.
pub(crate) const MAX_JOBS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(15);

/// A setting.
pub(crate) struct Setting {
    /// The name: `max-depth` in files, `--max-depth` as a flag, `WIRETOOL_MAX_DEPTH` as a variable.
    pub name: &'static str,
    pub kind: SettingKind,
    /// The default; empty if there is none.
    pub default: &'static str,
    /// The first sentence of its help.
    pub help: &'static str,
    /// The files that can set it, apart from the flags of commands.
    pub places: &'static [SettingPlace],
    /// Applies a valid value to the options of a fixture.
    pub apply: fn(&mut FixtureOptions, &str),
}

/// A place that can set a setting, apart from the flags of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SettingPlace {
    /// A settings file, and a variable.
    File,
    /// The user's file and a variable, but no file that comes with a project.
    UserFile,
    /// A table below `[[files]]`, for files of some paths.
    Path,
    /// A comment of a fixture, and the flags of `[snapshot]`.
    Fixture,
    /// A settings file, for the fixtures of its project.
    Project,
}

/// The kind of a value.
#[derive(Clone, Copy)]
pub(crate) enum SettingKind {
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// A number of bytes.
    Size,
    /// A number of levels.
    Levels,
    /// A number of threads.
    Jobs,
    /// Yes or no; as a flag, it has no value.
    Switch,
    /// The path of a file.
    File,
    /// Any text.
    Text,
    /// Signatures of selectors, one for each time that it is set.
    Signatures,
    /// Names of rules, separated by commas.
    Rules,
    /// A path in messages, one for each time that it is set.
    Path,
}

/// All settings. `wiretool config show` prints those of files in this order.
pub(crate) static SETTINGS: [Setting; 23] = {
    use SettingKind as Kind;
    use SettingPlace::{File, Fixture, Path, Project, UserFile};
    [
        Setting {
            name: "protocol",
            kind: Kind::Word(|| registry::names().collect()),
            default: "",
            help: "Protocol; detected by default",
            places: &[File, Path, Fixture, Project],
            apply: |options, text| options.protocol = Some(text.to_owned()),
        },
        Setting {
            name: "format",
            kind: Kind::Word(|| Format::ALL.map(Format::name).to_vec()),
            default: "",
            help: "Output format",
            places: &[File, Fixture],
            apply: |options, text| options.format = Format::from_name(text).unwrap_or_default(),
        },
        Setting {
            name: "color",
            kind: Kind::Word(|| vec!["auto", "always", "never"]),
            default: "auto",
            help: "Use of colour; `NO_COLOR` and `CLICOLOR_FORCE` also apply",
            places: &[File],
            apply: |_, _| {},
        },
        Setting {
            name: "max-message",
            kind: Kind::Size,
            default: "16M",
            help: "Limit for the size of a message, also after inflation: bytes, or with K, M, G",
            places: &[File, Fixture, Project],
            apply: |options, text| {
                options.limits.message = size(text).unwrap_or(options.limits.message);
            },
        },
        Setting {
            name: "max-depth",
            kind: Kind::Levels,
            default: "128",
            help: "Limit for the depth of nesting",
            places: &[File, Fixture, Project],
            apply: |options, text| {
                options.limits.depth = text.parse().unwrap_or(options.limits.depth);
            },
        },
        Setting {
            name: "jobs",
            kind: Kind::Jobs,
            default: "auto",
            help: "Threads that read a large file: auto, one for each core, or 1 to 16; the output is the same",
            places: &[File],
            apply: |_, _| {},
        },
        Setting {
            name: "dialect",
            kind: Kind::Word(|| RuleDialect::ALL.map(RuleDialect::name).to_vec()),
            default: "both",
            help: "Rules to follow: of the document, of real peers, or of both (see wiretool help words)",
            places: &[File, Fixture, Project],
            apply: |options, text| {
                options.judge.dialect = RuleDialect::from_name(text).unwrap_or_default();
            },
        },
        Setting {
            name: "fail-on",
            kind: Kind::Word(|| vec!["info", "warning", "error", "never"]),
            default: "error",
            help: "The lowest severity of findings that makes the exit code 1",
            places: &[File],
            apply: |_, _| {},
        },
        Setting {
            name: "show-secrets",
            kind: Kind::Switch,
            default: "false",
            help: "Show secrets; they are masked by default",
            places: &[UserFile],
            apply: |_, _| {},
        },
        Setting {
            name: "schema",
            kind: Kind::File,
            default: "",
            help: "telequick: schema file that extends or replaces the built-in one",
            places: &[File, Fixture, Project],
            apply: |options, text| options.schema = Some(PathBuf::from(text)),
        },
        Setting {
            name: "signature",
            kind: Kind::Signatures,
            default: "",
            help: "oracle: show arguments and results as values: `pow(u256) -> u256` (repeatable)",
            places: &[File, Fixture, Project],
            apply: |options, text| options.signatures.extend(Signature::parse(text)),
        },
        Setting {
            name: "struct",
            kind: Kind::Text,
            default: "",
            help: "telequick: read every body as this struct",
            places: &[Fixture],
            apply: |options, text| options.as_struct = Some(text.to_owned()),
        },
        Setting {
            name: "framing",
            kind: Kind::Word(|| {
                let named = registry::framing_names();
                std::iter::once("auto").chain(named).collect()
            }),
            default: "auto",
            help: "Framing of the messages; detected by default",
            places: &[Path, Fixture],
            apply: |options, text| options.framing = registry::framing_named(text),
        },
        Setting {
            name: "length-mode",
            kind: Kind::Word(|| vec!["auto", "exclusive", "inclusive"]),
            default: "auto",
            help: "telequick: how frames count their length; inclusive counts its own 4 bytes, too",
            places: &[Path, Fixture],
            apply: |options, text| {
                options.length_mode = LengthMode::from_name(text).unwrap_or_default();
            },
        },
        Setting {
            name: "dir",
            kind: Kind::Word(|| vec!["c2s", "s2c"]),
            default: "",
            help: "Direction of the bytes, if the input has none",
            places: &[Path, Fixture],
            apply: |options, text| options.direction = Direction::from_name(text),
        },
        Setting {
            name: "from",
            kind: Kind::Word(|| {
                let forms = Form::ALL.into_iter().filter(|f| *f != Form::Unreadable);
                forms.map(Form::name).collect()
            }),
            default: "auto",
            help: "Form of the input; detected by default (see wiretool help inputs)",
            places: &[Fixture],
            apply: |options, text| options.from = Form::from_name(text).unwrap_or_default(),
        },
        Setting {
            name: "allow",
            kind: Kind::Rules,
            default: "",
            help: "Turn this rule off; `*` matches any text (repeatable)",
            places: &[Fixture],
            apply: |options, text| set_severity(options, text, Severity::Off),
        },
        Setting {
            name: "deny",
            kind: Kind::Rules,
            default: "",
            help: "Make this rule an error; `*` matches any text (repeatable)",
            places: &[Fixture],
            apply: |options, text| set_severity(options, text, Severity::Error),
        },
        Setting {
            name: "ignore",
            kind: Kind::Path,
            default: "",
            help: "Leave out the values at this path (repeatable)",
            places: &[Fixture],
            apply: |options, text| options.ignore.push(text.to_owned()),
        },
        Setting {
            name: "lint",
            kind: Kind::Switch,
            default: "false",
            help: "Show findings, and the requests of responses",
            places: &[Fixture],
            apply: |options, text| options.lint = text == "true",
        },
        Setting {
            name: "no-resync",
            kind: Kind::Switch,
            default: "false",
            help: "Stop at the first bad frame; do not search for the next good one",
            places: &[Fixture],
            apply: |options, text| options.no_resync = text == "true",
        },
        Setting {
            name: "redact-volatile",
            kind: Kind::Switch,
            default: "false",
            help: "Also hide values that differ in every run",
            places: &[Fixture],
            apply: |options, text| options.redact_volatile = text == "true",
        },
        Setting {
            name: "times",
            kind: Kind::Switch,
            default: "false",
            help: "Show the times of a recording",
            places: &[Fixture],
            apply: |options, text| options.times = text == "true",
        },
    ]
};

fn set_severity(options: &mut FixtureOptions, names: &str, severity: Severity) {
    for name in names.split(',') {
        options.judge.levels.push((name.to_owned(), severity));
    }
}

/// Returns the setting with this name.
pub(crate) fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Setting {
    /// Returns `true` if this place can set it.
    pub fn is_set_in(&self, place: SettingPlace) -> bool {
        self.places.contains(&place)
    }

    /// Returns `true` if a settings file can set it at its top level.
    pub fn is_in_files(&self) -> bool {
        self.is_set_in(SettingPlace::File) || self.is_set_in(SettingPlace::UserFile)
    }

    /// Returns the variable that sets it.
    pub fn variable(&self) -> String {
        let name = self.name.replace('-', "_").to_ascii_uppercase();
        format!("WIRETOOL_{name}")
    }

    /// Returns the words that it can have, or none if it has other values.
    pub fn words(&self) -> Vec<&'static str> {
        match self.kind {
            SettingKind::Word(words) => words(),
            _ => Vec::new(),
        }
    }

    /// Returns `true` if a file can give several values.
    pub fn is_list(&self) -> bool {
        matches!(self.kind, SettingKind::Signatures)
    }

    /// Checks a value. The error describes the values that are accepted.
    pub fn check(&self, text: &str) -> Result<(), String> {
        let (is_valid, wanted) = match self.kind {
            SettingKind::Word(words) => {
                let words = words();
                (
                    words.contains(&text),
                    format!("one of {}", words.join(", ")),
                )
            }
            SettingKind::Size => {
                let wanted = "a number of bytes below 4G, such as 65536 or \"16M\"";
                (size(text).is_ok(), wanted.to_owned())
            }
            SettingKind::Levels => {
                let is_valid = matches!(text.parse(), Ok(1..=1000u32));
                (is_valid, "a number from 1 to 1000".to_owned())
            }
            SettingKind::Jobs => {
                let is_valid = text == "auto"
                    || (text.parse::<NonZeroUsize>()).is_ok_and(|jobs| jobs <= MAX_JOBS);
                (is_valid, "auto or a number from 1 to 16".to_owned())
            }
            SettingKind::Switch => (text.parse::<bool>().is_ok(), "true or false".to_owned()),
            SettingKind::File => (!text.is_empty(), "the path of a file".to_owned()),
            SettingKind::Text => (!text.is_empty(), "a name".to_owned()),
            SettingKind::Signatures => {
                let parsed = Signature::parse(text);
                let wanted = |e| format!("a signature, such as \"pow(u256) -> u256\" ({e})");
                return parsed.map(drop).map_err(wanted);
            }
            SettingKind::Rules => {
                let unknown = text.split(',').find(|name| !is_rule(name));
                let near = unknown.and_then(nearest_rule);
                let near = near.map_or(String::new(), |near| format!(", such as {near}"));
                (unknown.is_none(), format!("the name of a rule{near}"))
            }
            SettingKind::Path => {
                let wanted = "a path, such as result.id, **.ts or KIND:PATH";
                (PathPattern::is_valid(text), wanted.to_owned())
            }
        };
        if is_valid { Ok(()) } else { Err(wanted) }
    }
}

/// Returns the full names of all rules. Input of an unknown protocol may contain HTTP.
fn rule_names() -> impl Iterator<Item = String> {
    let protocols = registry::all().iter().copied();
    let names = protocols.flat_map(|p| rules_of(p).map(|rule| full_name(p.name(), rule)));
    names.chain(COMMON.iter().map(|rule| full_name("http", rule)))
}

/// Returns `true` if rules have this name, with or without the protocol; `*` matches any text.
pub(crate) fn is_rule(name: &str) -> bool {
    rule_names().any(|full| names_rule(name, &full))
}

/// Returns the most similar name of a rule.
pub(crate) fn nearest_rule(name: &str) -> Option<String> {
    let all: Vec<String> = rule_names().collect();
    let compared = all.iter().map(|full| match full.split_once('/') {
        // The name of the protocol may be missing.
        Some((_, rule)) if !name.contains('/') => rule,
        _ => full,
    });
    let near = nearest(name, compared)?;
    let found = all.iter().find(|full| names_rule(near, full));
    found.cloned()
}
