//! Settings for reading and showing a fixture: flags of `decode`, in a comment of the fixture or in
//! the project's settings.
//!
//! ```text
//!   # A call that was cut short.
//!   # wiretool: -p saikuro --dir c2s --lint
//!   > 00 00 00 41  ...
//! ```

use super::Error;
use crate::capture::Form;
use crate::conversation::{Judge, RuleDialect, full_name, rules_of};
use crate::framing::{Framing, LengthMode, Limits};
use crate::protocol::Direction;
use crate::protocol::registry::{self, Extensions, Protocols, Signature};
use crate::protocol::session::Severity;
use crate::render::format::Format;
use crate::words::{glob, nearest, size};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The number of bytes of a fixture in which its flags are searched.
const HEAD: u64 = 64 << 10;
/// The start of a comment with flags, after the comment sign.
const MARK: &str = "wiretool:";
/// The comment signs of hex dumps.
const SIGNS: [&str; 3] = ["#", ";", "//"];

/// Settings for reading and showing a fixture.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct FixtureOptions {
    /// The protocol; detected if not set.
    pub protocol: Option<String>,
    /// The framing; detected if not set.
    pub framing: Option<Framing>,
    /// The length mode of telequick.
    pub length_mode: LengthMode,
    /// The direction of the bytes, if the fixture does not contain it.
    pub direction: Option<Direction>,
    /// The form of the fixture.
    pub from: Form,
    /// The limits of messages.
    pub limits: Limits,
    /// `true` to stop at the first bad frame.
    pub no_resync: bool,
    /// The format of messages.
    pub format: Format,
    /// `true` to show findings and the requests of responses.
    pub lint: bool,
    /// The severities of findings.
    pub judge: Judge,
    /// telequick: a file with definitions.
    pub schema: Option<PathBuf>,
    /// telequick: every body is this struct.
    pub as_struct: Option<String>,
    /// oracle: the signatures of selectors.
    pub signatures: Vec<Signature>,
    /// Paths of hidden values, with the patterns of diff.
    pub ignore: Vec<String>,
    /// `true` to hide values that differ in every run, too.
    pub redact_volatile: bool,
    /// `true` to use the times of a recording, and to show them in formats that have them.
    pub times: bool,
}

/// Flags with a value.
const VALUED: [&str; 15] = [
    "--protocol",
    "--framing",
    "--length-mode",
    "--dir",
    "--from",
    "--format",
    "--dialect",
    "--allow",
    "--deny",
    "--schema",
    "--struct",
    "--signature",
    "--max-message",
    "--max-depth",
    "--ignore",
];
/// Flags without a value.
const BARE: [&str; 4] = ["--lint", "--no-resync", "--redact-volatile", "--times"];

impl FixtureOptions {
    /// Applies flags on top of the settings; paths are relative to `folder`.
    ///
    /// # Errors
    ///
    /// A sentence about the first invalid flag or value.
    pub fn take(&mut self, words: &str, folder: &Path) -> Result<(), String> {
        let words = shell_words::split(words).map_err(|e| format!("{e}: {words}"))?;
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
            if BARE.contains(&flag) {
                if own.is_some() {
                    return Err(format!("{flag} takes no value"));
                }
                self.set_bare(flag);
                continue;
            }
            if !VALUED.contains(&flag) {
                let near = nearest(flag, VALUED.into_iter().chain(BARE));
                let hint = near.map(|near| format!(": did you mean {near}?"));
                let hint = hint.unwrap_or_default();
                return Err(format!("{flag} is not a flag for fixtures{hint}"));
            }
            let value = own.or_else(|| words.next());
            let value = value.ok_or_else(|| format!("{flag} needs a value"))?;
            let name = flag.trim_start_matches('-');
            self.set_value(name, &value, folder)
                .map_err(|e| format!("{flag}: {e}"))?;
        }
        Ok(())
    }

    /// Returns `true` if some values are hidden.
    pub(super) fn hides(&self) -> bool {
        self.redact_volatile || !self.ignore.is_empty()
    }

    fn set_bare(&mut self, flag: &str) {
        match flag {
            "--lint" => self.lint = true,
            "--no-resync" => self.no_resync = true,
            "--times" => self.times = true,
            _ => self.redact_volatile = true,
        }
    }

    /// Sets the value of a flag, or of a setting of the same name.
    pub(super) fn set_value(
        &mut self,
        name: &str,
        value: &str,
        folder: &Path,
    ) -> Result<(), String> {
        let one_of = |names: &[&str]| format!("wanted one of {}, got {value:?}", names.join(", "));
        match name {
            "protocol" => {
                let names: Vec<&str> = registry::names().collect();
                let known = names.contains(&value);
                let name = known.then(|| value.to_owned());
                self.protocol = Some(name.ok_or_else(|| one_of(&names))?);
            }
            "framing" => {
                let names = registry::framing_names();
                let framing = registry::framing_named(value);
                self.framing = match value {
                    "auto" => None,
                    _ => Some(framing.ok_or_else(|| one_of(&names))?),
                };
            }
            "length-mode" => {
                let mode = LengthMode::from_name(value);
                self.length_mode =
                    mode.ok_or_else(|| one_of(&["auto", "exclusive", "inclusive"]))?;
            }
            "dir" => {
                let direction = Direction::from_name(value);
                self.direction = Some(direction.ok_or_else(|| one_of(&["c2s", "s2c"]))?);
            }
            "from" => {
                let form = Form::from_name(value);
                self.from = form.ok_or_else(|| one_of(&Form::ALL.map(Form::name)))?;
            }
            "format" => {
                let format = Format::from_name(value);
                self.format = format.ok_or_else(|| one_of(&Format::ALL.map(Format::name)))?;
            }
            "dialect" => {
                let dialect = RuleDialect::from_name(value);
                let names = RuleDialect::ALL.map(RuleDialect::name);
                self.judge.dialect = dialect.ok_or_else(|| one_of(&names))?;
            }
            "allow" | "deny" => {
                let severity = match name {
                    "allow" => Severity::Off,
                    _ => Severity::Error,
                };
                for name in value.split(',') {
                    if !is_rule(name) {
                        return Err(format!("no rule is called {name}"));
                    }
                    self.judge.levels.push((name.to_owned(), severity));
                }
            }
            "schema" => self.schema = Some(folder.join(value)),
            "struct" => self.as_struct = Some(value.to_owned()),
            "signature" => {
                let signature = Signature::parse(value);
                self.signatures.push(signature.map_err(|e| e.to_string())?);
            }
            "max-message" => self.limits.message = size(value)?,
            "max-depth" => {
                let depth = value.parse().ok().filter(|n| (1..=1000).contains(n));
                let bad = || format!("wanted a number from 1 to 1000, got {value:?}");
                self.limits.depth = depth.ok_or_else(bad)?;
            }
            _ => self.ignore.push(value.to_owned()),
        }
        Ok(())
    }

    /// Adds the flags from a comment before the fixture's data. Returns `true` if there are any.
    pub(super) fn of_fixture(&self, fixture: &Path) -> Result<(Self, bool), Error> {
        let mut how = self.clone();
        let words = own_flags(fixture).map_err(Error::Unreadable)?;
        if let Some(words) = &words {
            let folder = fixture.parent().unwrap_or(Path::new(""));
            how.take(words, folder)
                .map_err(|text| Error::Words(format!("# {MARK} {text}")))?;
        }
        if how.format == Format::Hex && how.hides() {
            let text = "-f hex shows every byte: nothing can be left out of it";
            return Err(Error::Words(text.into()));
        }
        Ok((how, words.is_some()))
    }

    /// Returns the possible protocols, with separate instances for extended ones.
    pub(super) fn protocols(&self) -> Result<Protocols, Error> {
        let schema = self.schema.as_ref().map(|path| {
            let file = path.display().to_string();
            match std::fs::read_to_string(path) {
                Ok(text) => Ok((file, text)),
                Err(error) => Err(Error::Words(format!("{file}: {error}"))),
            }
        });
        let extensions = Extensions {
            schema: schema.transpose()?,
            layout: self.as_struct.clone(),
            signatures: self.signatures.clone(),
        };
        let owner = extensions.owner().map(str::to_owned);
        Protocols::new(extensions, self.protocol.clone().or(owner)).map_err(Error::Words)
    }
}

fn is_rule(name: &str) -> bool {
    registry::all().iter().copied().any(|protocol| {
        rules_of(protocol).any(|rule| glob(name, &full_name(protocol.name(), rule)))
    })
}

/// Returns the flags in the first comments of a fixture.
fn own_flags(fixture: &Path) -> std::io::Result<Option<String>> {
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
                let words = comment.trim_start().strip_prefix(MARK);
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
            (
                "-p http",
                "--protocol: wanted one of saikuro, oracle, sael, stepflow, telequick, mcp, lsp, acp, jsonrpc, got \"http\"",
            ),
            ("--dir up", "--dir: wanted one of c2s, s2c, got \"up\""),
            (
                "--max-depth 0",
                "--max-depth: wanted a number from 1 to 1000, got \"0\"",
            ),
            (
                "--deny oracle/nothing",
                "--deny: no rule is called oracle/nothing",
            ),
            ("'", "missing closing quote: '"),
        ] {
            let got = FixtureOptions::default().take(words, Path::new(""));
            assert_eq!(got, Err(want.to_owned()), "{words}");
        }
    }
}
