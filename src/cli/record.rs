//! `wiretool record`: stand between two programs, and write down what passes.

use super::Exit;
use super::live::{self, Ask, EXIT_CODES, Place};
use super::options::{self, Shared};
use anyhow::Result;
use std::path::PathBuf;
use wiretool::protocol::registry;

const EXAMPLES: &str = "\
Examples:
  wiretool record -p saikuro --idle 2s                        port 7700, into recording-1.jsonl
  wiretool record -w calls.jsonl --connect tcp://127.0.0.1:7700 --listen tcp://127.0.0.1:7799
  wiretool record -p oracle -w oracle-{pid}.jsonl -- ./oracle in place of ./oracle
  wiretool decode calls.jsonl                                 see it later";

/// Stand between two programs: forward every byte, and write down what passes
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    place: Place,
    /// Where to, never over another file: `{pid}` becomes our process id, a lone n in such braces the first free number;
    /// without it a suffix is added where there is such a file
    #[arg(
        short,
        long,
        value_name = "RECORDING",
        default_value = "recording-{n}.jsonl",
        help_heading = "Output"
    )]
    write: PathBuf,
    /// Which protocol, for those who read the recording
    #[arg(short, long, value_name = "PROTOCOL", value_parser = options::names(options::protocol_names()))]
    protocol: Option<String>,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared) -> Result<Exit> {
    live::run(Ask {
        place: &args.place,
        write: Some(args.write.clone()),
        made_up: args.write.to_string_lossy().contains("{n}"),
        screen: None,
        decode: None,
        protocol: args.protocol.as_deref().and_then(registry::find),
        shared,
    })
}
