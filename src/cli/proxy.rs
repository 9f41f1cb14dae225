//! `wiretool proxy`: stand between two programs, and show what passes.

use super::Exit;
use super::live::{self, Ask, EXIT_CODES, Format, Place, Screen, Watch};
use super::options::{self, Shared};
use crate::encoding::Want;
use anyhow::Result;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool proxy -p saikuro                                    what passes to and from port 7700
  wiretool proxy --listen tcp://127.0.0.1:7799 --connect tcp://127.0.0.1:7700 -w calls.jsonl
  wiretool proxy -p sael --connect wss://a.example --rewrite-host --listen ws://127.0.0.1:8080
  wiretool proxy -p saikuro --fault 'kind=call nth 2: drop'    what if the second call never came?
  wiretool proxy -p stepflow --connect unix:/run/stepflow.sock --once -f json
  wiretool proxy -p oracle -w oracle-{pid}.jsonl -- ./oracle   in place of ./oracle; elsewhere:
  wiretool decode --follow oracle-1234.jsonl                   see it live
  wiretool proxy -p oracle --lint --fail-on error -- ./oracle  exit 1 when it breaks a rule: for CI";

/// Stand between two programs: forward every byte, show and record what passes
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    place: Place,
    /// Record what passes, never over another file: `{pid}` becomes our process id, a lone n in such braces the first
    /// free number; without it a suffix is added where there is such a file
    #[arg(short, long, value_name = "RECORDING", help_heading = "Output")]
    write: Option<PathBuf>,
    /// Show messages here instead of on stdout: a file, or `stderr`; of a child's, they are shown only with this
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    view: Option<PathBuf>,
    /// How messages are shown
    #[arg(
        short,
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t = Format::Line,
        help_heading = "Output"
    )]
    format: Format,
    /// Show secrets in clear: tokens, capabilities and others
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
    #[command(flatten)]
    wire: options::Wire,
    #[command(flatten)]
    watch: Watch,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared) -> Result<Exit> {
    // They are needed until the process ends, by threads that nothing waits for.
    let protocols = Box::leak(Box::new(args.wire.protocols()?));
    let asked = args.view.is_some();
    let shows = asked || !(shared.quiet || args.place.wraps());
    let screen = shows.then(|| Screen {
        path: args.view.clone(),
        format: Some(args.format),
        show_secrets: args.show_secrets,
    });
    // Where nobody hears of messages, bytes need not be understood.
    let wanted = shows || args.watch.is_on() || !shared.quiet;
    live::run(Ask {
        place: &args.place,
        watch: &args.watch,
        write: args.write.clone(),
        made_up: false,
        screen,
        decode: wanted.then(|| args.wire.options(protocols, Want::Places)),
        protocol: protocols.named(),
        shared,
    })
}
