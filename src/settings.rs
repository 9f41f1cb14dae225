//! The settings: one table of them, and what reads it.
//!
//! ```text
//!   SETTINGS --> flags of commands        cli::values, clap
//!           '--> variables, user's file   cli::config
//!           '--> wiretool.toml            SettingsFile --> cli::config, FixtureOptions
//!           '--> comments of fixtures     FixtureOptions
//! ```

mod file;
mod fixture;
mod options;
mod table;

pub(crate) use file::{
    FileScope, PathRule, SettingsFile, SnapshotRule, matches_pattern, project_file,
};
pub(crate) use fixture::{COMMENT_MARK, comment_of};
pub(crate) use options::FixtureOptions;
#[cfg(all(test, feature = "cli"))]
pub(crate) use table::SettingPlace;
pub(crate) use table::{MAX_JOBS, SETTINGS, Setting, SettingKind, is_rule, nearest_rule, setting};

/// A file, a comment or a value cannot be read as settings. The text names the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingsError(pub String);

impl std::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingsError {}
