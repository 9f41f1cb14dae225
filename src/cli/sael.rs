//! `wiretool sael`: commands for capability tokens and the filter language.

mod delta_state;
mod filter;
mod token;

use super::Exit;
use super::options::{self, SharedArgs};
use crate::render::DisplayOptions;
use anyhow::Result;
pub use delta_state::DeltaStates;
use jiff::Timestamp;

const EXAMPLES: &str = "\
Examples:
  wiretool sael token inspect TOKEN                        claims, times, scope
  wiretool sael token verify --secret-file KEY TOKEN       signature and claims
  wiretool sael token allows github:read --scope 'github:*'
  wiretool sael filter 'stars > 100 && lang == \"go\"' FILE  the items that match";

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  the answer is no
  2  usage, or a file that cannot be read";

/// Commands for sael: capability tokens and filters
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    what: SaelCommand,
}

#[derive(clap::Subcommand)]
enum SaelCommand {
    Token(token::Args),
    Filter(filter::Args),
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    match &args.what {
        SaelCommand::Token(args) => token::run(args, shared, display),
        SaelCommand::Filter(args) => filter::run(args, shared, display),
    }
}

/// Parses a time: RFC 3339, or seconds since 1970.
fn parse_time(text: &str) -> Result<i64, String> {
    text.parse()
        .or_else(|_| text.parse::<Timestamp>().map(Timestamp::as_second))
        .map_err(|_| {
            "wanted a time, such as 2026-11-21T10:00:00Z, or seconds since 1970".to_owned()
        })
}

/// Returns the given time, or the current time.
fn now(given: Option<i64>) -> i64 {
    given.unwrap_or_else(|| Timestamp::now().as_second())
}
