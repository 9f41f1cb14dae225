//! `wiretool record`: forwards and records the traffic between two programs.

use super::options::{self, SharedArgs};
use super::proxy::{self, ProxyMode};
use super::{Exit, live};
use anyhow::Result;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool record -p mcp -w mcp-{pid}.jsonl -- ./server
  wiretool decode calls.jsonl                   read a recording
  wiretool record -p saikuro --idle 2s          connect to port 7700
  wiretool record -p oracle --lint --fail-on error -- ./oracle
  wiretool record -w calls.jsonl --connect tcp://127.0.0.1:7700 --listen tcp://127.0.0.1:7799";

/// The default name of a recording.
const RECORDING: &str = "recording-{n}.jsonl";

/// Forward traffic between two programs, and record it
///
/// Same as `wiretool proxy -w`, but shows messages only with --view, or with -f and a command. Without -w, the recording is recording-1.jsonl, or
/// the next number that is free.
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = live::EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    proxy: proxy::Flags,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, is_format_given: bool) -> Result<Exit> {
    let write = args.proxy.write.clone();
    let mode = ProxyMode {
        write: Some(write.unwrap_or_else(|| PathBuf::from(RECORDING))),
        shows: false,
        is_format_given,
        counts: false,
    };
    proxy::run_as(mode, &args.proxy, shared)
}
