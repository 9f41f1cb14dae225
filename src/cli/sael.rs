//! `wiretool sael`: what only sael has, capability tokens and the filter language.

mod filter;
mod token;

use super::Exit;
use super::options::{self, Shared};
use crate::render::Look;
use anyhow::{Context as _, Result};
use jiff::Timestamp;
use std::io::Read as _;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  wiretool sael token inspect TOKEN                        claims, times in words, scope
  wiretool sael token verify --secret-file KEY TOKEN       every check, a line each
  wiretool sael token allows github:read --scope 'github:*'
  wiretool sael filter 'stars > 100 && lang == \"go\"' FILE  the items that are kept";

const EXIT_CODES: &str = "\
Exit codes:
  0  it ran, and all is well
  1  it ran, and the answer is no
  2  usage, or a file that cannot be read";

/// Sael's own: capability tokens and filters
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true
)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Token(token::Args),
    Filter(filter::Args),
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    match &args.what {
        What::Token(args) => token::run(args, shared, look),
        What::Filter(args) => filter::run(args, shared, look),
    }
}

/// A point in time: RFC 3339, or seconds since 1970.
fn time(text: &str) -> Result<i64, String> {
    text.parse()
        .or_else(|_| text.parse::<Timestamp>().map(Timestamp::as_second))
        .map_err(|_| {
            "a time is wanted, such as 2026-11-21T10:00:00Z, or seconds since 1970".to_owned()
        })
}

/// The time that was given, or the clock's.
fn now(given: Option<i64>) -> i64 {
    given.unwrap_or_else(|| Timestamp::now().as_second())
}

/// Reads a file, or stdin where it is `-`.
fn read(path: &Path) -> Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut bytes = Vec::new();
        let mut stdin = std::io::stdin().lock();
        stdin.read_to_end(&mut bytes).context("cannot read stdin")?;
        return Ok(bytes);
    }
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
