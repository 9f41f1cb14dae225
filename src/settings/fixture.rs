//! The options of a fixture: flags of `decode`, in a comment of the fixture or in the settings file of its project.
//!
//! ```text
//!   # A call that was cut short.
//!   # wiretool: -p saikuro --dir c2s --lint
//!   > 00 00 00 41  ...
//! ```

use super::SettingsError;
use super::file::{FileScope, SettingsFile, project_file};
use super::options::FixtureOptions;
use super::table::{SETTINGS, SettingKind, SettingPlace, setting};
use crate::words::nearest;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The number of bytes of a fixture in which its flags are searched.
const HEAD: u64 = 64 << 10;
/// The start of a comment with flags, after the comment sign.
pub(crate) const COMMENT_MARK: &str = "wiretool:";
/// The comment signs of hex dumps.
const SIGNS: [&str; 3] = ["#", ";", "//"];

impl FixtureOptions {
    /// Returns the options that the settings file of a fixture's project gives; a comment of the fixture adds to them.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has an invalid value.
    pub fn of_project(fixture: &Path) -> Result<Self, SettingsError> {
        let absolute = std::path::absolute(fixture);
        let absolute = absolute.map_err(|e| SettingsError(format!("no current folder: {e}")))?;
        match absolute.parent().and_then(project_file) {
            Some(path) => Self::of_file(&SettingsFile::read(&path, FileScope::Project)?, fixture),
            None => Ok(Self::default()),
        }
    }

    /// Returns the options that a settings file gives to a fixture.
    ///
    /// # Errors
    ///
    /// The flags for snapshots are invalid.
    pub fn of_file(file: &SettingsFile, fixture: &Path) -> Result<Self, SettingsError> {
        let mut options = Self::default();
        for (setting, texts, _) in &file.values {
            if setting.is_set_in(SettingPlace::Project) {
                for text in texts {
                    (setting.apply)(&mut options, text);
                }
            }
        }
        let levels = file
            .rules
            .iter()
            .map(|(rule, level, _)| (rule.clone(), *level));
        options.judge.levels.extend(levels);
        if let Some((paths, _)) = &file.ignore {
            options.ignore.clone_from(paths);
        }
        if let Some(rule) = &file.snapshot {
            options.take(&rule.flags, file.folder())?;
        }
        let rule = file.path_rules.iter().find(|rule| rule.matches(fixture));
        for (setting, text) in rule.into_iter().flat_map(|rule| &rule.values) {
            (setting.apply)(&mut options, text);
        }
        Ok(options)
    }

    /// Applies flags; paths are relative to `folder`.
    ///
    /// # Errors
    ///
    /// A flag is unknown, or has an invalid value.
    pub fn take(&mut self, flags: &str, folder: &Path) -> Result<(), SettingsError> {
        let words = shell_words::split(flags);
        let words = words.map_err(|e| SettingsError(format!("{e}: {flags}")))?;
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (flag, own) = match word.split_once('=') {
                Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
                None => (word, None),
            };
            let flag = match flag.as_str() {
                "-p" => "--protocol",
                "-f" => "--format",
                other => other,
            };
            let known = flag.strip_prefix("--").and_then(setting);
            let Some(known) = known.filter(|known| known.is_set_in(SettingPlace::Fixture)) else {
                let known = SETTINGS
                    .iter()
                    .filter(|known| known.is_set_in(SettingPlace::Fixture));
                let names: Vec<String> = known.map(|known| format!("--{}", known.name)).collect();
                let near = nearest(flag, names.iter().map(String::as_str));
                let hint = near.map(|near| format!(": did you mean {near}?"));
                let hint = hint.unwrap_or_default();
                return Err(SettingsError(format!(
                    "{flag} is not a flag for fixtures{hint}"
                )));
            };
            let value = match (known.kind, own) {
                (SettingKind::Switch, Some(_)) => {
                    return Err(SettingsError(format!("{flag} takes no value")));
                }
                (SettingKind::Switch, None) => "true".to_owned(),
                (_, own) => {
                    let value = own.or_else(|| words.next());
                    value.ok_or_else(|| SettingsError(format!("{flag} needs a value")))?
                }
            };
            known.check(&value).map_err(|wanted| {
                SettingsError(format!("{flag}: wanted {wanted}, got {value:?}"))
            })?;
            let value = match known.kind {
                SettingKind::File => folder.join(value).display().to_string(),
                _ => value,
            };
            (known.apply)(self, &value);
        }
        Ok(())
    }
}

/// Returns the flags in the first comments of a fixture.
///
/// # Errors
///
/// The fixture cannot be read.
pub(crate) fn comment_of(fixture: &Path) -> std::io::Result<Option<String>> {
    let mut head = Vec::new();
    File::open(fixture)?.take(HEAD).read_to_end(&mut head)?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let mut inside = Vec::new();
        // Invalid or truncated gzip is reported when it is decoded.
        let _ = MultiGzDecoder::new(head.as_slice())
            .take(HEAD)
            .read_to_end(&mut inside);
        head = inside;
    }
    Ok(flags_in(&String::from_utf8_lossy(&head)).map(str::to_owned))
}

fn flags_in(text: &str) -> Option<&str> {
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim) {
        let comment = SIGNS.iter().find_map(|sign| line.strip_prefix(sign));
        match comment {
            Some(comment) => {
                let words = comment.trim_start().strip_prefix(COMMENT_MARK);
                if words.is_some() {
                    return words.map(str::trim);
                }
            }
            None if line.is_empty() => {}
            None => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{HINTED, with_flags};
    use crate::protocol::Direction;
    use crate::render::Format;

    #[test]
    fn flags_are_applied() {
        let mut how = FixtureOptions::default();
        let words = "-p oracle --dir=s2c -f line --lint --max-message 1K --ignore '**.ts'";
        how.take(words, Path::new("captures")).unwrap();
        assert_eq!(how.protocol.as_deref(), Some("oracle"));
        assert_eq!(how.direction, Some(Direction::ToClient));
        assert_eq!((how.format, how.lint), (Format::Line, true));
        assert_eq!(how.limits.message, 1024);
        assert_eq!(how.ignore, ["**.ts"]);
        how.take("--schema own.tq", Path::new("captures")).unwrap();
        assert_eq!(how.schema.as_deref(), Some(Path::new("captures/own.tq")));
    }

    #[test]
    fn flags_are_read_from_comments() {
        for (text, want) in [
            ("# wiretool: -p oracle \n00", Some("-p oracle")),
            ("\n # A call.\n#wiretool:-f line\r\n", Some("-f line")),
            ("\u{feff}// wiretool: --lint", Some("--lint")),
            ("; wiretool: --lint", Some("--lint")),
            ("00\n# wiretool: --lint", None),
            ("# of wiretool: --lint", None),
            ("wiretool: --lint", None),
            ("", None),
        ] {
            assert_eq!(flags_in(text), want, "{text:?}");
        }
    }

    #[test]
    fn invalid_flags_are_refused() {
        let names: Vec<&str> = crate::protocol::registry::names().collect();
        let names = names.join(", ");
        let unknown_protocol = format!("--protocol: wanted one of {names}, got \"http\"");
        for (words, want) in [
            (
                "--frmat line",
                "--frmat is not a flag for fixtures: did you mean --format?",
            ),
            ("--listen tcp://x", "--listen is not a flag for fixtures"),
            (
                "--show-secrets",
                "--show-secrets is not a flag for fixtures",
            ),
            ("-f", "--format needs a value"),
            ("--lint=yes", "--lint takes no value"),
            ("-p http", unknown_protocol.as_str()),
            ("--dir up", "--dir: wanted one of c2s, s2c, got \"up\""),
            (
                "--max-depth 0",
                "--max-depth: wanted a number from 1 to 1000, got \"0\"",
            ),
            (
                "--deny oracle/nothing",
                "--deny: wanted the name of a rule, such as oracle/nesting, got \"oracle/nothing\"",
            ),
            ("'", "missing closing quote: '"),
        ] {
            let got = FixtureOptions::default().take(words, Path::new(""));
            assert_eq!(got, Err(SettingsError(want.to_owned())), "{words}");
        }
    }

    #[test]
    fn settings_in_hints_are_flags() {
        for (text, want) in [
            (
                "raise the limit with `max-message`",
                "raise the limit with --max-message",
            ),
            (
                "this is HTTP: `framing http` reads it",
                "this is HTTP: --framing http reads it",
            ),
            (
                "`text` is missing; `max-depth`",
                "`text` is missing; --max-depth",
            ),
            (
                "one ` only, then `max-depth`",
                "one ` only, then --max-depth",
            ),
            ("", ""),
        ] {
            assert_eq!(with_flags(text), want);
        }
        // The file of a secret is a flag alone.
        let mut names = HINTED.iter().filter(|name| **name != "secret-file");
        assert!(names.all(|name| setting(name).is_some()));
    }
}
