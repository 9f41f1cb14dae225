//! The list of settings: their values, and the files that can set them.

use crate::cli::values;
use crate::conversation::RuleDialect;
use crate::protocol::oracle::cairo_serde::Signature;

/// A setting.
pub struct Known {
    /// The name in files.
    pub key: &'static str,
    /// The variable that sets it.
    pub variable: &'static str,
    /// The kind of its value.
    pub kind: SettingKind,
    /// The default; empty if there is none.
    pub default: &'static str,
    /// A project's file must not set it: it does more than change how input is read and shown.
    pub user_only: bool,
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

const fn plain(
    key: &'static str,
    variable: &'static str,
    kind: SettingKind,
    default: &'static str,
) -> Known {
    Known {
        key,
        variable,
        kind,
        default,
        user_only: false,
    }
}

/// All settings, in the order in which they are shown.
pub static KNOWN: [Known; 10] = [
    plain(
        "protocol",
        "WIRETOOL_PROTOCOL",
        SettingKind::Word(values::protocol_names),
        "",
    ),
    plain(
        "format",
        "WIRETOOL_FORMAT",
        SettingKind::Word(|| vec!["tree", "line", "json", "hex"]),
        "",
    ),
    plain(
        "color",
        "WIRETOOL_COLOR",
        SettingKind::Word(|| vec!["auto", "always", "never"]),
        "auto",
    ),
    plain(
        "max-message",
        "WIRETOOL_MAX_MESSAGE",
        SettingKind::Size,
        "16M",
    ),
    plain(
        "max-depth",
        "WIRETOOL_MAX_DEPTH",
        SettingKind::Levels,
        "128",
    ),
    plain(
        "dialect",
        "WIRETOOL_DIALECT",
        SettingKind::Word(|| RuleDialect::ALL.map(RuleDialect::name).to_vec()),
        "both",
    ),
    plain(
        "fail-on",
        "WIRETOOL_FAIL_ON",
        SettingKind::Word(|| vec!["info", "warning", "error", "never"]),
        "error",
    ),
    Known {
        key: "show-secrets",
        variable: "WIRETOOL_SHOW_SECRETS",
        kind: SettingKind::Switch,
        default: "false",
        user_only: true,
    },
    plain("schema", "WIRETOOL_SCHEMA", SettingKind::File, ""),
    plain(
        "signature",
        "WIRETOOL_SIGNATURE",
        SettingKind::Signatures,
        "",
    ),
];

/// Names that a project's file must not contain although no setting has them: they would be active settings.
pub const ACTIVE: [&str; 6] = [
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

    /// Checks a value. The error describes the values that are accepted.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match &self.kind {
            SettingKind::Word(words) => {
                let words = words();
                let known = words.contains(&text);
                known
                    .then_some(())
                    .ok_or_else(|| format!("one of {}", words.join(", ")))
            }
            SettingKind::Size => values::size(text)
                .map(drop)
                .map_err(|_| "a number of bytes below 4G, such as 65536 or \"16M\"".to_owned()),
            SettingKind::Levels => match text.parse() {
                Ok(1..=1000u32) => Ok(()),
                _ => Err("a number from 1 to 1000".to_owned()),
            },
            SettingKind::Switch => matches!(text, "true" | "false")
                .then_some(())
                .ok_or_else(|| "true or false".to_owned()),
            SettingKind::File => (!text.is_empty())
                .then_some(())
                .ok_or_else(|| "the path of a file".to_owned()),
            SettingKind::Signatures => Signature::parse(text)
                .map(drop)
                .map_err(|e| format!("a signature, such as \"pow(u256) -> u256\" ({e})")),
        }
    }

    /// Returns true if it has several values.
    pub fn is_list(&self) -> bool {
        matches!(self.kind, SettingKind::Signatures)
    }
}
