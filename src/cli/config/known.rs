//! The settings there are: what each may be, and who may set it.

use crate::cli::values;
use crate::conversation::Dialect;
use crate::protocol::oracle::cairo_serde::Signature;

/// A setting.
pub struct Known {
    /// Its name in files.
    pub key: &'static str,
    /// The variable that sets it.
    pub variable: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it is where nothing sets it; empty where it is nothing.
    pub default: &'static str,
    /// A project's file must not set it: it does more than say how things are read and shown.
    pub user_only: bool,
}

/// What a setting may be.
pub enum Kind {
    /// One of these.
    Word(fn() -> Vec<&'static str>),
    /// A number of bytes.
    Size,
    /// A number of levels.
    Levels,
    /// Yes or no.
    Switch,
    /// A file's path.
    File,
    /// What selectors take and give.
    Signatures,
}

const fn plain(
    key: &'static str,
    variable: &'static str,
    kind: Kind,
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

/// All of them, in the order in which they are shown.
pub static KNOWN: [Known; 10] = [
    plain(
        "protocol",
        "WIRETOOL_PROTOCOL",
        Kind::Word(values::protocol_names),
        "",
    ),
    plain(
        "format",
        "WIRETOOL_FORMAT",
        Kind::Word(|| vec!["tree", "line", "json", "hex"]),
        "",
    ),
    plain(
        "color",
        "WIRETOOL_COLOR",
        Kind::Word(|| vec!["auto", "always", "never"]),
        "auto",
    ),
    plain("max-message", "WIRETOOL_MAX_MESSAGE", Kind::Size, "16M"),
    plain("max-depth", "WIRETOOL_MAX_DEPTH", Kind::Levels, "128"),
    plain(
        "dialect",
        "WIRETOOL_DIALECT",
        Kind::Word(|| Dialect::ALL.map(Dialect::name).to_vec()),
        "both",
    ),
    plain(
        "fail-on",
        "WIRETOOL_FAIL_ON",
        Kind::Word(|| vec!["info", "warning", "error", "never"]),
        "error",
    ),
    Known {
        key: "show-secrets",
        variable: "WIRETOOL_SHOW_SECRETS",
        kind: Kind::Switch,
        default: "false",
        user_only: true,
    },
    plain("schema", "WIRETOOL_SCHEMA", Kind::File, ""),
    plain("signature", "WIRETOOL_SIGNATURE", Kind::Signatures, ""),
];

/// What a project's file must not say even where no setting has that name: it would be more than reading.
pub const ACTIVE: [&str; 6] = [
    "listen",
    "connect",
    "write",
    "output",
    "command",
    "secret-file",
];

/// Tables of files.
pub const TABLES: [&str; 4] = ["rules", "ignore", "files", "snapshot"];

impl Known {
    /// The setting of that name.
    pub fn of(key: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.key == key)
    }

    /// Whether it may be this; else what is wanted.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match &self.kind {
            Kind::Word(words) => {
                let words = words();
                let known = words.contains(&text);
                known
                    .then_some(())
                    .ok_or_else(|| format!("one of {}", words.join(", ")))
            }
            Kind::Size => values::size(text)
                .map(drop)
                .map_err(|_| "a number of bytes below 4G, such as 65536 or \"16M\"".to_owned()),
            Kind::Levels => match text.parse() {
                Ok(1..=1000u32) => Ok(()),
                _ => Err("a number from 1 to 1000".to_owned()),
            },
            Kind::Switch => matches!(text, "true" | "false")
                .then_some(())
                .ok_or_else(|| "true or false".to_owned()),
            Kind::File => (!text.is_empty())
                .then_some(())
                .ok_or_else(|| "the path of a file".to_owned()),
            Kind::Signatures => Signature::parse(text)
                .map(drop)
                .map_err(|e| format!("a signature, such as \"pow(u256) -> u256\" ({e})")),
        }
    }

    /// Whether it has several values.
    pub fn is_list(&self) -> bool {
        matches!(self.kind, Kind::Signatures)
    }
}
