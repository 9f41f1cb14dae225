//! `wiretool snapshot`: tests that every fixture decodes as before.
//!
//! ```text
//!   test    fixture -render-> text  ===  .snap       no output
//!                                   =/=  .snap       .snap.new is written
//!   review, accept, reject          .snap.new -> .snap, or removed
//! ```

mod file;
mod find;
mod pending;
mod show;
mod test;

use super::options::{self, SharedArgs};
use super::{Exit, review};
use crate::render::DisplayOptions;
use anyhow::Result;
pub use file::read_stored;
pub use find::FoundFixture;
pub use pending::{ReviewDecision, decide};
pub use show::{write_difference, write_whole};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool snapshot test                         all fixtures in this folder
  wiretool snapshot test captures/session.jsonl  one fixture
  wiretool snapshot review                       accept or reject, one by one
  wiretool snapshot accept captures              accept all in a folder
  CI=true wiretool snapshot test                 for CI: write no file
  wiretool snapshot list -f json                  all fixtures as JSON";

const EXIT_CODES: &str = "\
Exit codes:
  0  all snapshots are equal
  1  a snapshot differs or is new; a fixture cannot be decoded; a snapshot has no fixture
     (--unreferenced=reject); no fixture was found
  2  usage, a file that cannot be read or written, or more than 16 MiB of text for one fixture
  130, 143  interrupted, terminated";

const MORE: &str = "\
Fixtures in folders are files *.hex *.xxd *.b64 *.bin *.txt *.jsonl (or .gz) that contain a message of a protocol, and \
files that have a snapshot. Ignored: hidden files, links, what .gitignore names, node_modules, folders with a CACHEDIR.TAG, \
and the files that wiretool.toml names:
  [snapshot]
  skip = [\"notes.txt\"]

A snapshot is stored beside its fixture: session.jsonl.snap, and session.jsonl.snap.new until it is reviewed. The format is \
that of the Rust crate insta; cargo insta can review them, too.

Flags for a fixture are in a comment at the start of a hex dump,
  # wiretool: -p oracle --dir s2c --lint
or in the project's wiretool.toml (the user's settings do not apply):
  [snapshot]
  flags = \"--lint --redact-volatile\"
The keys protocol, schema, signature, dialect, max-message, max-depth, [rules], [ignore] and [[files]] apply, too.

Possible flags: -p --framing --length-mode --dir --from -f --lint --dialect --allow --deny --schema --struct --signature \
--max-message --max-depth --no-resync, as for decode (--dir is only a default); --ignore PATH, as for diff; \
--redact-volatile, to show volatile values as `[volatile]` without offsets and lengths; --times, to show times and \
latencies of recordings.

Exit codes:
  0  all snapshots are equal
  1  a snapshot differs or is new; a fixture cannot be decoded; a snapshot has no fixture
     (--unreferenced=reject); no fixture was found
  2  usage, a file that cannot be read or written, or more than 16 MiB of text for one fixture
  130, 143  interrupted, terminated";

/// Use captures as regression tests
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP)]
pub struct Args {
    #[command(subcommand)]
    command: SnapshotCommand,
}

#[derive(clap::Subcommand)]
enum SnapshotCommand {
    Test(test::Args),
    /// Review new snapshots one by one (`?` lists the keys)
    Review(Paths),
    /// Accept new snapshots
    Accept(Paths),
    /// Reject new snapshots
    Reject(Paths),
    List(List),
}

#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP)]
struct Paths {
    /// Fixtures, or folders with fixtures
    #[arg(value_name = "PATH", default_value = ".", value_parser = options::capture())]
    paths: Vec<PathBuf>,
}

/// List fixtures and the state of their snapshots
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP)]
struct List {
    #[command(flatten)]
    paths: Paths,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = options::text_or_json("One line per fixture", "One JSON object per fixture"), help_heading = "Output")]
    format: options::OutputFormat,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    let mut configs = super::config::FixtureConfigs::default();
    let exit = match &args.command {
        SnapshotCommand::Test(args) => {
            configs.protocol.clone_from(&args.protocol);
            test::run(args, shared, display, &mut configs)
        }
        SnapshotCommand::Review(args) => {
            review::ensure_terminal(&args.paths)?;
            let pending = find::pending(&args.paths, &mut configs)?;
            review::run(&pending, shared)
        }
        SnapshotCommand::Accept(args) => {
            let found = find::pending(&args.paths, &mut configs)?;
            Ok(pending::decide_all(&found, ReviewDecision::Accept, shared))
        }
        SnapshotCommand::Reject(args) => {
            let found = find::pending(&args.paths, &mut configs)?;
            Ok(pending::decide_all(&found, ReviewDecision::Reject, shared))
        }
        SnapshotCommand::List(args) => {
            let found = find::find(&args.paths.paths, &mut configs)?;
            show::list(&found, args.format.is_json(), display)
        }
    };
    configs.warnings.iter().for_each(|text| shared.note(text));
    exit
}
