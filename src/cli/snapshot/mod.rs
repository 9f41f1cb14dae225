//! `wiretool snapshot`: is every fixture still understood as it was?
//!
//! ```text
//!   test    fixture -render-> text  ===  .snap       nothing to say
//!                                   =/=  .snap       .snap.new is written
//!   review, accept, reject          .snap.new -> .snap, or away with it
//! ```

mod file;
mod find;
mod pending;
mod show;
mod test;

use super::options::{self, Shared};
use super::{Exit, complain, review};
use crate::render::Look;
use anyhow::Result;
pub use file::stored_at;
pub use find::Found;
pub use pending::{Decision, decide};
pub use show::{difference, whole};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool snapshot test                         every fixture here and below
  wiretool snapshot test captures/session.jsonl  this one alone
  wiretool snapshot review                       what differs, one by one: accept, reject, skip
  wiretool snapshot accept captures              take over all that waits there
  CI=true wiretool snapshot test                 for CI: writes nothing, shows what differs, exits 1
  wiretool snapshot list --json                  what there is, and what waits, for programs";

const EXIT_CODES: &str = "\
Exit codes:
  0  all are equal
  1  one differs, is new or cannot be decoded; a snapshot has no fixture (--unreferenced=reject); there are none
  2  usage, a file that cannot be read or written, or more than 16 MiB to show of one fixture
  130  review was interrupted (143: by SIGTERM)";

const MORE: &str = "\
Fixtures, in folders: *.hex *.xxd *.b64 *.bin *.txt *.jsonl, with .gz or without, that hold a message of a protocol, and \
whatever has a snapshot; not what is hidden, a link, in .gitignore, in node_modules or in a folder with a CACHEDIR.TAG, or \
what wiretool.toml says is none:
  [snapshot]
  skip = [\"notes.txt\"]

Snapshots lie beside their fixtures: session.jsonl.snap, and session.jsonl.snap.new that waits for a review. They are files \
as the Rust crate insta writes them; cargo insta reviews them, too.

How a fixture is read and shown (a tree, unless it says otherwise): a comment that a hex dump begins with,
  # wiretool: -p oracle --dir s2c --lint
or the project's wiretool.toml, from the fixture's folder upwards; a user's own settings do not count:
  [snapshot]
  flags = \"--lint --redact-volatile\"
and protocol, schema, signature, dialect, max-message, max-depth, [rules], [ignore] and [[files]] as for all commands.

Flags: -p --framing --length-mode --dir --from -f --lint --dialect --allow --deny --schema --struct --signature \
--max-message --max-depth --no-resync, as decode has them, where --dir only adds what the fixture does not say; --ignore PATH, as diff has it, and --redact-volatile: of such \
values only `[volatile]` is shown, in its place, and no offset or length; --times: times and latencies of recordings, which are left out otherwise.

Exit codes:
  0  all are equal
  1  one differs, is new or cannot be decoded; a snapshot has no fixture (--unreferenced=reject); there are none
  2  usage, a file that cannot be read or written, or more than 16 MiB to show of one fixture
  130  review was interrupted (143: by SIGTERM)";

/// Keep what captures decode to as regression tests: test, review, accept
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Test(test::Args),
    Review(Paths),
    Accept(Accept),
    Reject(Reject),
    List(List),
}

/// Walk through what waits: a accept, A accept all that follow, r reject, s skip, b back, d difference or whole, q quit
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP)]
struct Paths {
    /// Fixtures, or folders of them
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
}

/// Take over new snapshots
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP)]
struct Accept {
    /// Fixtures, or folders of them
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
}

/// Throw new snapshots away
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP)]
struct Reject {
    /// Fixtures, or folders of them
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
}

/// List fixtures and snapshots: stored, changed, new, no snapshot, no fixture
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, after_long_help = MORE, help_template = options::HELP)]
struct List {
    /// Fixtures, or folders of them
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// How it is listed
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = "Output")]
    format: Format,
    /// A JSON object a fixture; as -f json
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A line a fixture
    Text,
    /// A JSON object a fixture
    Json,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    let mut folders = super::config::Folders::default();
    let exit = match &args.command {
        Command::Test(args) => test::run(args, shared, look, &mut folders),
        Command::Review(args) => {
            review::ensure_terminal(&args.paths)?;
            let pending = find::pending(&args.paths, &mut folders)?;
            review::run(&pending, shared)
        }
        Command::Accept(args) => {
            let found = find::pending(&args.paths, &mut folders)?;
            Ok(pending::decide_all(&found, Decision::Accept, shared))
        }
        Command::Reject(args) => {
            let found = find::pending(&args.paths, &mut folders)?;
            Ok(pending::decide_all(&found, Decision::Reject, shared))
        }
        Command::List(args) => {
            let found = find::find(&args.paths, &mut folders)?;
            show::list(&found, args.json || args.format == Format::Json, look)
        }
    };
    if !shared.quiet {
        folders.warnings.iter().for_each(|text| complain(text));
    }
    exit
}
