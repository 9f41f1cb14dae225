//! `wiretool record`: stand between two programs, and write down what passes.

use super::Exit;
use super::live::{self, Ask, EXIT_CODES, Place, Screen, Watch};
use super::options::{self, Shared};
use crate::encoding::Want;
use anyhow::Result;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool record -p saikuro --idle 2s                         port 7700, into recording-1.jsonl
  wiretool record -w calls.jsonl --connect tcp://127.0.0.1:7700 --listen tcp://127.0.0.1:7799
  wiretool record -p oracle -w oracle-{pid}.jsonl -- ./oracle  in place of ./oracle
  wiretool decode calls.jsonl                                  see it later
  wiretool record -p oracle --lint --fail-on error -- ./oracle  exit 1 when it breaks a rule: for CI";

/// Stand between two programs: forward every byte, and write down what passes
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    place: Place,
    /// Record what passes, never over another file: `{pid}` becomes our process id, a lone n in such braces the first free number;
    /// without it a suffix is added where there is such a file
    #[arg(
        short,
        long,
        value_name = "RECORDING",
        default_value = "recording-{n}.jsonl",
        help_heading = "Output"
    )]
    write: PathBuf,
    #[command(flatten)]
    wire: options::Wire,
    #[command(flatten)]
    watch: Watch,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared) -> Result<Exit> {
    // They are needed until the process ends, by threads that nothing waits for.
    let protocols = Box::leak(Box::new(args.wire.protocols()?));
    let lint = args.watch.is_on();
    live::run(Ask {
        place: &args.place,
        watch: &args.watch,
        write: Some(args.write.clone()),
        made_up: args.write.to_string_lossy().contains("{n}"),
        screen: lint.then(|| Screen {
            path: Some("stderr".into()),
            format: None,
            show_secrets: false,
        }),
        decode: lint.then(|| args.wire.options(protocols, Want::Places)),
        protocol: protocols.named(),
        shared,
    })
}
