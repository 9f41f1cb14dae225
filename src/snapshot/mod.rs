//! Captures as regression tests: the decoded text of a fixture is stored in a file next to it and
//! compared.
//!
//! ```text
//!   session.jsonl  -decode-> text  ===  session.jsonl.snap        equal
//!                                  =/=  session.jsonl.snap        session.jsonl.snap.new waits for a review
//! ```
//!
//! Snapshots are files in the format of the crate `insta`, each next to its fixture and named after
//! it. `cargo insta` can review them, and a Rust test can check its own program against the same
//! files:
//!
//! ```ignore
//! let mut settings = insta::Settings::clone_current();
//! settings.set_snapshot_path("../captures"); // from the test's folder
//! settings.set_prepend_module_to_snapshot(false);
//! settings.bind(|| insta::assert_snapshot!("session.jsonl", wiretool::snapshot::render("captures/session.jsonl").unwrap()));
//! ```
//!
//! A rendering is the same on every machine: it has no times of a recording, no settings of the
//! user, and no colours.

mod changes;
mod hidden_values;
mod options;
mod reader;
mod rendering;
mod stored;
mod summary;

pub(crate) use changes::{LineChange, changes};
pub(crate) use stored::Stored;
pub use stored::{pending_beside, snapshot_beside};
pub(crate) use summary::SnapshotSummary;

use crate::capture::line_table::LineColumn;
use crate::settings::FixtureOptions;
use reader::FixtureReader;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// The replacement of a hidden value.
const VOLATILE: &str = "[volatile]";

/// The maximum length of a rendering in bytes.
pub(crate) const MAX_RENDERING: usize = 16 << 20;

/// The number of bytes of one read.
const READ: usize = 64 << 10;

/// The reason why there is no rendering.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The fixture cannot be read.
    Unreadable(std::io::Error),
    /// No protocol recognises its bytes.
    Undecodable(String),
    /// Its flags or settings are invalid, or refer to an unreadable file.
    Words(String),
    /// The rendering is longer than 16 MiB.
    TooLong,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "cannot read it: {error}"),
            Self::Undecodable(text) | Self::Words(text) => f.write_str(text),
            Self::TooLong => write!(
                f,
                "its decoded text is longer than {} MiB: use a smaller capture, or the format line",
                MAX_RENDERING >> 20
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

/// The number of values that a rendering leaves out, so that they are not compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Volatile values, and those that the user ignores.
    pub hidden: usize,
    /// Secrets.
    pub secrets: usize,
}

/// The decoded form of a fixture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendering {
    /// The text of its snapshot.
    pub text: String,
    /// The values that it leaves out.
    pub left_out: LeftOut,
    /// Notes that are not part of the text, such as a guessed protocol.
    pub notes: Vec<String>,
    /// The number of each message that has a line in the fixture, and that line.
    pub lines: Vec<(u64, LineColumn)>,
}

impl Rendering {
    /// Returns the line of a message.
    pub fn line_of(&self, index: u64) -> Option<LineColumn> {
        let at = self.lines.binary_search_by_key(&index, |(index, _)| *index);
        self.lines.get(at.ok()?).map(|(_, line)| *line)
    }
}

/// Returns the text of this fixture's snapshot, which `wiretool snapshot test` compares. The
/// settings are those of its project's `wiretool.toml`, and the flags in a comment of the fixture.
/// Only hex dumps have comments; in other forms that would be data.
///
/// # Errors
///
/// The fixture or the settings cannot be read, or no protocol recognises it.
///
/// ```
/// let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saikuro");
/// let text = wiretool::snapshot::render(format!("{folder}/error.hex")).unwrap();
/// assert!(text.starts_with("#0 ← error"), "{text}");
/// ```
pub fn render(fixture: impl AsRef<Path>) -> Result<String, Error> {
    let fixture = fixture.as_ref();
    let options = FixtureOptions::of_project(fixture);
    let options = options.map_err(|error| Error::Words(error.to_string()))?;
    render_as(fixture, &options).map(|rendering| rendering.text)
}

/// Returns `true` if a file starts like a capture: with a message of a protocol, or with flags.
pub(crate) fn is_capture(fixture: &Path, how: &FixtureOptions) -> bool {
    let Ok((how, has_flags)) = how.of_fixture(fixture) else {
        return true;
    };
    let Ok(protocols) = how.protocols() else {
        return true;
    };
    if has_flags || how.protocol.is_some() {
        return true;
    }
    let mut head = Vec::new();
    let read = File::open(fixture).and_then(|file| file.take(READ as u64).read_to_end(&mut head));
    let mut feed = FixtureReader::new(&how, &protocols, false);
    read.is_ok() && (feed.push(&head).is_err() || feed.recognises())
}

/// Renders a fixture with the given settings; its own flags take precedence.
///
/// # Errors
///
/// The fixture cannot be read, or no protocol recognises it.
pub(crate) fn render_as(fixture: &Path, how: &FixtureOptions) -> Result<Rendering, Error> {
    let (how, has_flags) = how.of_fixture(fixture)?;
    let protocols = how.protocols()?;
    let mut feed = FixtureReader::new(&how, &protocols, has_flags);
    let mut file = File::open(fixture).map_err(Error::Unreadable)?;
    let mut buffer = vec![0; READ];
    loop {
        let n = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Error::Unreadable(e)),
        };
        feed.push(buffer.get(..n).unwrap_or_default())?;
    }
    feed.finish()
}
