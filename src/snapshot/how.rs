//! How a fixture is read and shown: flags as `decode` has them, in a comment of the fixture or in settings.
//!
//! ```text
//!   # A call that was cut short.
//!   # wiretool: -p saikuro --dir c2s --lint
//!   > 00 00 00 41  ...
//! ```

use super::Error;
use crate::capture::Form;
use crate::conversation::{Dialect, Judge, full_name, rules_of};
use crate::framing::{Framing, LengthMode, Limits};
use crate::protocol::Direction;
use crate::protocol::registry::{self, Extensions, Protocols, Signature};
use crate::protocol::session::Severity;
use crate::words::{glob, nearest, size};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes of a fixture in which its own words are looked for.
const HEAD: u64 = 64 << 10;
/// What those begin with, behind the signs of a comment.
const MARK: &str = "wiretool:";
/// What comments of hex dumps begin with.
const SIGNS: [&str; 3] = ["#", ";", "//"];

/// How messages look in a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Every field with its byte range.
    #[default]
    Tree,
    /// One line a message.
    Line,
    /// One JSON object a message.
    Json,
    /// Bytes beside the fields that own them.
    Hex,
}

impl Format {
    const ALL: [Self; 4] = [Self::Tree, Self::Line, Self::Json, Self::Hex];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Line => "line",
            Self::Json => "json",
            Self::Hex => "hex",
        }
    }
}

/// How a fixture is read and shown.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct How {
    /// Which protocol; detected where none is named.
    pub protocol: Option<String>,
    /// How messages are delimited; detected where that is not known.
    pub framing: Option<Framing>,
    /// How telequick's lengths count.
    pub length_mode: LengthMode,
    /// Which way the bytes went, where the fixture does not say.
    pub direction: Option<Direction>,
    /// What form the fixture has.
    pub from: Form,
    /// What is bounded.
    pub limits: Limits,
    /// Whether reading stops at the first bad frame.
    pub no_resync: bool,
    /// How messages are shown.
    pub format: Format,
    /// Whether findings, and what answers what, are shown.
    pub lint: bool,
    /// How severe findings are.
    pub judge: Judge,
    /// telequick's definitions, a file.
    pub schema: Option<PathBuf>,
    /// telequick: every body is this struct.
    pub as_struct: Option<String>,
    /// What oracle's selectors take and give.
    pub signatures: Vec<Signature>,
    /// Paths of values that are not shown, as diff ignores them.
    pub ignore: Vec<String>,
    /// Whether what every run makes anew is not shown, either.
    pub redact_volatile: bool,
    /// Whether times of a recording count, and are shown where a format has them.
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
/// Flags without one.
const BARE: [&str; 4] = ["--lint", "--no-resync", "--redact-volatile", "--times"];

impl How {
    /// Takes flags up, on top of what is there; paths count from `folder`.
    ///
    /// # Errors
    ///
    /// A sentence on the first word that is no flag of a fixture, or no value of its flag.
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
                self.bare(flag);
                continue;
            }
            if !VALUED.contains(&flag) {
                let near = nearest(flag, VALUED.into_iter().chain(BARE));
                let hint = near.map(|near| format!(": did you mean {near}?"));
                let hint = hint.unwrap_or_default();
                return Err(format!("{flag} is no flag of a fixture{hint}"));
            }
            let value = own.or_else(|| words.next());
            let value = value.ok_or_else(|| format!("{flag} needs a value"))?;
            self.valued(flag, &value, folder)?;
        }
        Ok(())
    }

    /// Whether some values are not shown.
    pub(super) fn hides(&self) -> bool {
        self.redact_volatile || !self.ignore.is_empty()
    }

    fn bare(&mut self, flag: &str) {
        match flag {
            "--lint" => self.lint = true,
            "--no-resync" => self.no_resync = true,
            "--times" => self.times = true,
            _ => self.redact_volatile = true,
        }
    }

    fn valued(&mut self, flag: &str, value: &str, folder: &Path) -> Result<(), String> {
        let one_of = |names: &[&str]| {
            let names = names.join(", ");
            format!("{flag}: wanted one of {names}, got {value:?}")
        };
        match flag {
            "--protocol" => {
                let names: Vec<&str> = registry::names().collect();
                let known = names.contains(&value);
                let name = known.then(|| value.to_owned());
                self.protocol = Some(name.ok_or_else(|| one_of(&names))?);
            }
            "--framing" => {
                let names = Framing::ALL.map(Framing::name);
                let framing = Framing::from_name(value);
                self.framing = match value {
                    "auto" => None,
                    _ => Some(framing.ok_or_else(|| one_of(&names))?),
                };
            }
            "--length-mode" => {
                let mode = LengthMode::from_name(value);
                self.length_mode =
                    mode.ok_or_else(|| one_of(&["auto", "exclusive", "inclusive"]))?;
            }
            "--dir" => {
                let direction = Direction::from_name(value);
                self.direction = Some(direction.ok_or_else(|| one_of(&["c2s", "s2c"]))?);
            }
            "--from" => {
                let form = Form::from_name(value);
                self.from = form.ok_or_else(|| one_of(&Form::ALL.map(Form::name)))?;
            }
            "--format" => {
                let format = Format::ALL.into_iter().find(|f| f.name() == value);
                self.format = format.ok_or_else(|| one_of(&Format::ALL.map(Format::name)))?;
            }
            "--dialect" => {
                let dialect = Dialect::from_name(value);
                let names = Dialect::ALL.map(Dialect::name);
                self.judge.dialect = dialect.ok_or_else(|| one_of(&names))?;
            }
            "--allow" | "--deny" => {
                let severity = match flag {
                    "--allow" => Severity::Off,
                    _ => Severity::Error,
                };
                for name in value.split(',') {
                    if !is_rule(name) {
                        return Err(format!("{flag}: no rule is called {name}"));
                    }
                    self.judge.levels.push((name.to_owned(), severity));
                }
            }
            "--schema" => self.schema = Some(folder.join(value)),
            "--struct" => self.as_struct = Some(value.to_owned()),
            "--signature" => {
                let signature = Signature::parse(value);
                let signature = signature.map_err(|e| format!("{flag}: {e}"))?;
                self.signatures.push(signature);
            }
            "--max-message" => {
                self.limits.message = size(value).map_err(|e| format!("{flag}: {e}"))?;
            }
            "--max-depth" => {
                let depth = value.parse().ok().filter(|n| (1..=1000).contains(n));
                let bad = || format!("{flag}: wanted a number from 1 to 1000, got {value:?}");
                self.limits.depth = depth.ok_or_else(bad)?;
            }
            _ => self.ignore.push(value.to_owned()),
        }
        Ok(())
    }

    /// With what a fixture says itself, in a comment before its data; and whether it says something.
    pub(super) fn of_fixture(&self, fixture: &Path) -> Result<(Self, bool), Error> {
        let mut how = self.clone();
        let words = own_words(fixture).map_err(Error::Unreadable)?;
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

    /// The protocols that may be, own instances of those that something extends.
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

/// What a fixture says of itself, in one of the comments that it begins with.
fn own_words(fixture: &Path) -> std::io::Result<Option<String>> {
    let mut head = Vec::new();
    File::open(fixture)?.take(HEAD).read_to_end(&mut head)?;
    if head.starts_with(&[0x1f, 0x8b]) {
        let mut inside = Vec::new();
        // What is no gzip, or is torn, is told where it is decoded.
        let _ = MultiGzDecoder::new(head.as_slice())
            .take(HEAD)
            .read_to_end(&mut inside);
        head = inside;
    }
    Ok(words_in(&String::from_utf8_lossy(&head)).map(str::to_owned))
}

fn words_in(text: &str) -> Option<&str> {
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
    fn flags() {
        let mut how = How::default();
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
    fn comments_with_words() {
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
            assert_eq!(words_in(text), want, "{text:?}");
        }
    }

    #[test]
    fn words_that_are_none() {
        for (words, want) in [
            (
                "--frmat line",
                "--frmat is no flag of a fixture: did you mean --format?",
            ),
            ("--listen tcp://x", "--listen is no flag of a fixture"),
            ("--show-secrets", "--show-secrets is no flag of a fixture"),
            ("-f", "--format needs a value"),
            ("--lint=yes", "--lint takes no value"),
            (
                "-p http",
                "--protocol: wanted one of saikuro, oracle, sael, stepflow, telequick, got \"http\"",
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
            let got = How::default().take(words, Path::new(""));
            assert_eq!(got, Err(want.to_owned()), "{words}");
        }
    }
}
