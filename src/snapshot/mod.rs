//! Captures as regression tests: what a fixture is understood as, kept beside it and compared.
//!
//! ```text
//!   session.jsonl  -decode-> text  ===  session.jsonl.snap        equal
//!                                  =/=  session.jsonl.snap        session.jsonl.snap.new waits for a review
//! ```
//!
//! Snapshots are files as the crate `insta` writes them, each beside its fixture and named after it, so that
//! `cargo insta` reviews them too, and a Rust test may hold its own program to the same files:
//!
//! ```ignore
//! let mut settings = insta::Settings::clone_current();
//! settings.set_snapshot_path("../captures"); // from the test's folder
//! settings.set_prepend_module_to_snapshot(false);
//! settings.bind(|| insta::assert_snapshot!("session.jsonl", wiretool::snapshot::render("captures/session.jsonl").unwrap()));
//! ```
//!
//! A rendering is the same on every machine: no times of a recording, no settings of the user, no colours.

mod changes;
mod feed;
mod hidden;
mod how;
mod project;
mod shown;
mod stored;
mod summary;

pub(crate) use changes::{Change, changes};
pub(crate) use how::How;
pub(crate) use project::{fits, project_file};
pub(crate) use stored::Stored;
pub use stored::{pending_beside, snapshot_beside};
pub(crate) use summary::Summary;

use feed::Feed;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// What stands for a value that is not shown.
const VOLATILE: &str = "[volatile]";

/// The longest rendering, in bytes: what is longer is no snapshot that anybody reads.
pub(crate) const MOST: usize = 16 << 20;

/// Bytes of one read.
const READ: usize = 64 << 10;

/// Why there is no rendering, in a sentence.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The fixture cannot be read.
    Unreadable(std::io::Error),
    /// No protocol recognises its bytes.
    Undecodable(String),
    /// What says how it is read says something else, or refers to what cannot be read.
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
                "what it decodes to is longer than {} MiB: cut it down, or show it as lines with -f line",
                MOST >> 20
            ),
        }
    }
}

impl std::error::Error for Error {}

/// What a fixture is understood as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendering {
    /// What a snapshot of it holds.
    pub text: String,
    /// How many values are not shown in it.
    pub hidden: usize,
    /// What is worth knowing and no part of it, such as that the protocol was guessed.
    pub notes: Vec<String>,
}

/// What a snapshot of this fixture holds, read as its project's `wiretool.toml` says and as the
/// fixture itself says in a comment, if it does: what `wiretool snapshot test` compares. Only hex dumps have comments; of
/// other forms that would be data.
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
    render_as(fixture, &How::of_project(fixture)?).map(|rendering| rendering.text)
}

/// Whether a file begins as a capture does: with a message of some protocol, or with words on how it is read.
pub(crate) fn is_capture(fixture: &Path, how: &How) -> bool {
    let Ok((how, says)) = how.of_fixture(fixture) else {
        return true;
    };
    let Ok(protocols) = how.protocols() else {
        return true;
    };
    if says || how.protocol.is_some() {
        return true;
    }
    let mut head = Vec::new();
    let read = File::open(fixture).and_then(|file| file.take(READ as u64).read_to_end(&mut head));
    let mut feed = Feed::new(&how, &protocols, false);
    read.is_ok() && (feed.push(&head).is_err() || feed.recognises())
}

/// What a snapshot of this fixture holds, read in some way; what the fixture says itself counts more.
///
/// # Errors
///
/// The fixture cannot be read, or no protocol recognises it.
pub(crate) fn render_as(fixture: &Path, how: &How) -> Result<Rendering, Error> {
    let (how, says) = how.of_fixture(fixture)?;
    let protocols = how.protocols()?;
    let mut feed = Feed::new(&how, &protocols, says);
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
