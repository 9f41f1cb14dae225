//! `wiretool decode`: what is in a capture, message by message.

mod listener;
mod lookup;
mod screen;

use super::Exit;
use super::input::{self, Show as _};
use super::interrupt::Stop;
use super::options::{self, Shared};
use super::output::Output;
use crate::encoding::Want;
use crate::framing::Framing;
use crate::protocol::Role;
use crate::render::{Look, json};
use anyhow::Result;
use clap::ValueEnum;
use screen::Screen;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool decode capture.bin                    a line a message; a lone one as a tree
  xxd -p capture.bin | wiretool decode           hex dumps, base64, gzip: recognised
  wiretool decode -p oracle --dir s2c out.log    say what it is where bytes do not tell
  wiretool decode --c2s a.bin --s2c b.bin        two one-way files as one conversation
  wiretool decode -f json FILE                   a JSON object a message, for programs
  wiretool decode --verify FILE                  does what decode tells give the same bytes again?
  wiretool decode -f hex --head 1 FILE           the bytes of the first message beside its fields
  wiretool decode --at 0x42 FILE                 which field owns this byte?
  wiretool decode --path params.selector FILE    where does this field lie?
  wiretool decode --faults FILE                  only what is wrong
  wiretool decode --where 'latency>10ms' FILE    only answers that took long";

const EXIT_CODES: &str = "\
Exit codes:
  0  every message could be decoded
  1  a message is at fault, nothing matched, or --lint found something as bad as --fail-on
  2  usage, or a file that cannot be read or written
  130  interrupted (143: by SIGTERM); what was read by then is shown, but replaces no file that -o names unless with --follow";

/// Decode captures: every message, where each field lies, and what is wrong
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Args {
    #[command(flatten)]
    input: options::Input,
    #[command(flatten)]
    wire: options::Wire,
    #[command(flatten)]
    select: Selection,
    #[command(flatten)]
    condition: options::Where,
    #[command(flatten)]
    judging: options::Judging,
    /// Hold messages to the rules of their protocol: show which they break, and what answers what
    #[arg(long, help_heading = "Rules")]
    lint: bool,
    /// Exit 1 where something this bad is found, with --lint
    #[arg(long, value_name = "SEVERITY", default_value = "error", value_parser = options::names(["info", "warning", "error", "never"]), help_heading = "Rules")]
    fail_on: String,
    /// How messages are shown; tree for one message alone, else line
    #[arg(
        short,
        long,
        value_enum,
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    format: Option<Format>,
    /// With -f json: also `wire` and `raw`, so that encode gives the same bytes again
    #[arg(long, help_heading = "Output")]
    exact: bool,
    /// Tell each frame as --exact does, write it anew, and say which bytes differ
    #[arg(long, help_heading = "Output", conflicts_with_all = ["format", "exact", "at", "path", "tail"])]
    verify: bool,
    /// Write here, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Show secrets in clear: tokens, capabilities and others
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
    /// Show what a sael stream's value is after each delta; not in json
    #[arg(long, help_heading = "Output")]
    state: bool,
    /// Name the field that owns the byte at this offset of its direction's stream
    #[arg(long, value_name = "OFFSET", value_parser = offset, help_heading = "Lookup", conflicts_with = "path")]
    at: Option<u64>,
    /// Give the byte range of this field: `params.calldata[0]`
    #[arg(long, value_name = "PATH", help_heading = "Lookup")]
    path: Option<String>,
    /// Print the JSON Schema of `-f json` and stop
    #[arg(long, help_heading = "Output", exclusive = true)]
    print_schema: bool,
}

/// Which messages are shown.
#[derive(clap::Args)]
#[command(next_help_heading = "Selection")]
struct Selection {
    /// Only these kinds; `*` stands for anything
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kind: Vec<String>,
    /// Only these roles
    #[arg(long, value_name = "ROLE", value_delimiter = ',', value_parser = options::names(Role::ALL.map(Role::name)))]
    role: Vec<String>,
    /// Only these ids
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    id: Vec<String>,
    /// Only these methods, targets, selectors, tools or topics; `*` stands for anything
    #[arg(long, value_name = "SUBJECT", value_delimiter = ',')]
    subject: Vec<String>,
    /// Only these connections
    #[arg(long, value_name = "N", value_delimiter = ',')]
    conn: Vec<u32>,
    /// Only messages at fault
    #[arg(long)]
    faults: bool,
    /// Only messages with this text in them
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Pass over the first N that match
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// Stop after N
    #[arg(long, value_name = "N")]
    head: Option<u64>,
    /// Only the last N
    #[arg(long, value_name = "N", conflicts_with = "head")]
    tail: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Every field with its byte range
    Tree,
    /// One line a message
    Line,
    /// One JSON object a message
    Json,
    /// Bytes beside the fields that own them
    Hex,
}

/// A number of bytes, in decimal or hex.
pub fn offset(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "a byte offset is wanted, such as 66 or 0x42".into())
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    if args.print_schema {
        let mut output = Output::open(None, &[])?;
        output.room().extend_from_slice(json::schema().as_bytes());
        output.finish()?;
        return Ok(Exit::Clean);
    }
    // Checked only where it is said outright: bare bodies carry nothing that would name their struct.
    if args.wire.framing == Framing::Bare.name() && args.wire.as_struct.is_none() {
        anyhow::bail!(
            "bare bodies do not say what they are: name it with --struct (wiretool decode --help)"
        );
    }
    if args.exact && args.format != Some(Format::Json) {
        anyhow::bail!("--exact adds to JSON: it needs -f json");
    }
    let protocols = args.wire.protocols()?;
    let inputs: Vec<PathBuf> = [&args.input.files, &args.input.c2s, &args.input.s2c]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let to_file = args.output.is_some();
    let output = Output::open(args.output.as_deref(), &inputs)?;
    let look = Look {
        show_secrets: args.show_secrets,
        ..look
    };
    let look = if to_file {
        Look {
            terminal: false,
            width: None,
            ..look
        }
    } else {
        look
    };
    let mut options = args.wire.options(&protocols, Want::Places);
    // Elsewhere all that was read has gone out: a signal may end the program as it is, also while nobody reads.
    let waits = to_file || args.input.follow || args.select.tail.is_some() || args.verify;
    let stop = waits.then(Stop::on_signals).transpose()?;
    let mut screen = Screen::new(args, shared, look, output, stop)?;
    options.want = screen.want();
    let result = input::read(&args.input, &options, &mut screen);
    // What was decoded before the trouble is shown all the same.
    match result {
        Ok(()) => screen.finish(),
        Err(error) => {
            if !super::is_closed_pipe(&error) && !to_file {
                screen.flush()?;
            }
            Err(error)
        }
    }
}
