//! The list of settings: their values, and the files that can set them.

use crate::cli::values;
use crate::conversation::RuleDialect;
use crate::protocol::oracle::cairo_serde::Signature;
use crate::render::format::Format;

/// A setting.
pub struct Known {
    /// The name in files.
    pub key: &'static str,
    /// The kind of its value.
    pub kind: SettingKind,
    /// The default; empty if there is none.
    pub default: &'static str,
}

const fn known(key: &'static str, kind: SettingKind, default: &'static str) -> Known {
    Known { key, kind, default }
}

/// The kind of a value.
pub enum SettingKind {
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// A number of bytes.
    Size,
    /// A number of levels.
    Levels,
    /// Yes or no.
    Switch,
    /// The path of a file.
    File,
    /// Signatures of selectors.
    Signatures,
}

/// All settings, in the order in which they are shown.
pub static KNOWN: [Known; 10] = [
    known("protocol", SettingKind::Word(values::protocol_names), ""),
    known(
        "format",
        SettingKind::Word(|| Format::ALL.map(Format::name).to_vec()),
        "",
    ),
    known(
        "color",
        SettingKind::Word(|| vec!["auto", "always", "never"]),
        "auto",
    ),
    known("max-message", SettingKind::Size, "16M"),
    known("max-depth", SettingKind::Levels, "128"),
    known(
        "dialect",
        SettingKind::Word(|| RuleDialect::ALL.map(RuleDialect::name).to_vec()),
        "both",
    ),
    known(
        "fail-on",
        SettingKind::Word(|| values::FAIL_ON.to_vec()),
        "error",
    ),
    known("show-secrets", SettingKind::Switch, "false"),
    known("schema", SettingKind::File, ""),
    known("signature", SettingKind::Signatures, ""),
];

/// Names that a project's file must not contain: they do more than change how input is read and shown. Only the first
/// is a setting.
pub const ACTIVE: [&str; 7] = [
    "show-secrets",
    "listen",
    "connect",
    "write",
    "output",
    "command",
    "secret-file",
];

/// The tables of settings files.
pub const TABLES: [&str; 4] = ["rules", "ignore", "files", "snapshot"];

impl Known {
    /// Returns the setting with this name.
    pub fn find(key: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.key == key)
    }

    /// Returns the variable that sets it: `WIRETOOL_MAX_DEPTH`.
    pub fn variable(&self) -> String {
        let key = self.key.replace('-', "_").to_ascii_uppercase();
        format!("WIRETOOL_{key}")
    }

    /// Checks a value. The error describes the values that are accepted.
    pub fn check(&self, text: &str) -> Result<(), String> {
        let (is_valid, wanted) = match &self.kind {
            SettingKind::Word(words) => {
                let words = words();
                (
                    words.contains(&text),
                    format!("one of {}", words.join(", ")),
                )
            }
            SettingKind::Size => {
                let wanted = "a number of bytes below 4G, such as 65536 or \"16M\"";
                (values::size(text).is_ok(), wanted.to_owned())
            }
            SettingKind::Levels => {
                let is_valid = matches!(text.parse(), Ok(1..=1000u32));
                (is_valid, "a number from 1 to 1000".to_owned())
            }
            SettingKind::Switch => (text.parse::<bool>().is_ok(), "true or false".to_owned()),
            SettingKind::File => (!text.is_empty(), "the path of a file".to_owned()),
            SettingKind::Signatures => {
                let parsed = Signature::parse(text);
                let wanted = |e| format!("a signature, such as \"pow(u256) -> u256\" ({e})");
                return parsed.map(drop).map_err(wanted);
            }
        };
        if is_valid { Ok(()) } else { Err(wanted) }
    }

    /// Returns true if it has several values.
    pub fn is_list(&self) -> bool {
        matches!(self.kind, SettingKind::Signatures)
    }
}
