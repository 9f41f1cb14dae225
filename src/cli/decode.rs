//! `wiretool decode`: shows the messages of a capture.

mod context;
mod counts;
mod findings;
mod lookup;
mod recorder;
mod screen;
mod stderr;
mod text_writer;

use super::Exit;
use super::input::{self, InputState};
use super::interrupt::Stop;
use super::options::{self, SharedArgs};
use super::output::{CommandOutput, print};
use crate::conversation::Sink as _;
use crate::encoding::Want;
use crate::framing::Framing;
use crate::render::{DisplayOptions, Format, json};
use crate::select::{Filter, Select};
use anyhow::{Context as _, Result};
use screen::DecodeScreen;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool decode capture.bin                  one line per message
  xxd -p capture.bin | wiretool decode         hex dumps, base64 and gzip work, too
  wiretool decode --c2s a.bin --s2c b.bin      two one-way files of one connection
  wiretool decode -f json FILE                 one JSON object per message
  wiretool decode -f json --flat FILE          rows of a table, for a database
  wiretool decode --at 0x42 FILE               which field contains this byte?
  wiretool decode -p oracle --dir s2c out.log  name what cannot be detected
  wiretool decode --where 'latency>10ms' FILE  only slow answers
  wiretool decode --where fault FILE           only messages with faults
  wiretool decode --where outcome=error --pair FILE  failed calls, with their requests
  wiretool decode --grep timeout -C 3 FILE     and 3 messages around each, as grep does
  wiretool decode -f hex --head 1 FILE         the bytes of the first message
  wiretool decode a.pcap --port 7000 -w x.jsonl  a packet capture becomes a recording
  wiretool decode --ops FILE                   one line per operation: who made it wait?
  wiretool decode --merge a.jsonl b.jsonl      captures of several processes on one clock
  wiretool decode --path params.selector FILE  where is this field?
  wiretool decode --verify FILE                does encode write the same bytes?";

const EXIT_CODES: &str = "\
Exit codes:
  0  every message was decoded
  1  a message has a fault, no message matched, or --lint found something (see --fail-on)
  2  usage, or a file that cannot be read or written
  130, 143  interrupted, terminated; -o leaves its file unchanged, except with --follow";

/// Decode captures: show messages, fields with offsets, and faults
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Args {
    #[command(flatten)]
    input: options::InputArgs,
    #[command(flatten)]
    wire: options::WireArgs,
    #[command(flatten)]
    select: DecodeSelection,
    #[command(flatten)]
    condition: options::WhereArgs,
    #[command(flatten)]
    judging: options::RuleArgs,
    /// Check the rules of the protocol; show findings and answers
    #[arg(long, help_heading = "Rules")]
    lint: bool,
    /// Exit 1 on a finding of this severity or worse, with --lint
    #[arg(long, value_name = "SEVERITY", default_value = options::default_of("fail-on"), value_parser = options::words("fail-on"), help_heading = "Rules")]
    fail_on: String,
    /// Output format; by default tree or line (see wiretool help lines)
    ///
    /// The default is tree for a single message, and line for several.
    #[arg(
        short,
        long,
        value_parser = options::format(),
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    format: Option<Format>,
    /// With -f json: add `wire` and `raw`, so that encode writes the same bytes
    #[arg(long, help_heading = "Output")]
    exact: bool,
    /// With -f json: the same keys in each line, each with one type, for tables
    ///
    /// Keys without a value are null, and values of any type are JSON text: see wiretool help scale.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["exact", "verify", "at", "path", "tail", "stderr", "ops", "after", "before", "around", "pair"])]
    flat: bool,
    /// Decode as --exact does, encode again, and report bytes that differ
    #[arg(long, help_heading = "Output", conflicts_with_all = ["format", "exact", "at", "path", "tail"])]
    verify: bool,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Record to this file; existing files are not replaced
    #[arg(short, long, value_name = "RECORDING", help_heading = "Output")]
    write: Option<PathBuf>,
    /// Do not mask tokens, capabilities and other secrets
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
    /// Show what children wrote to stderr, between the messages
    #[arg(long, help_heading = "Output", conflicts_with_all = ["verify", "at", "path", "tail"])]
    stderr: bool,
    /// Show operations: a line for each, when it ends; with -v, its messages below it
    ///
    /// An operation is a request with all that belongs to it: see wiretool help operations.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["verify", "at", "path", "tail", "state", "exact", "lint", "after", "before", "around", "pair"])]
    ops: bool,
    /// sael: show the value of a stream after each delta; not in json
    #[arg(long, help_heading = "Output")]
    state: bool,
    /// Show the field at this byte offset
    #[arg(long, value_name = "OFFSET", value_parser = parse_offset, help_heading = "Lookup", conflicts_with = "path")]
    at: Option<u64>,
    /// Show the byte range of this field: `params.calldata[0]`
    #[arg(long, value_name = "PATH", help_heading = "Lookup")]
    path: Option<String>,
    /// Print the JSON Schema of `-f json` and exit
    #[arg(long, help_heading = "Output", exclusive = true)]
    print_schema: bool,
}

impl Args {
    /// Returns the selected messages.
    fn filter(&self) -> Result<Filter> {
        let s = &self.select;
        let select = Select {
            kinds: s.kind.clone(),
            ids: s.id.clone(),
            subjects: s.subject.clone(),
            direction: self.input.dir,
            conditions: self.condition.conditions.clone(),
            grep: s.grep.clone().filter(|_| !s.ignore_case),
            grep_pattern: s.caseless()?,
        };
        Ok(select.filter())
    }

    /// Returns true if only the exit code is wanted, as of `grep -q`: with `-q`, a condition, and nothing that asks for output.
    fn is_silent(&self, shared: &SharedArgs) -> bool {
        let s = &self.select;
        let words = [&s.kind, &s.id, &s.subject];
        let selects = words.iter().any(|words| !words.is_empty())
            || s.grep.is_some()
            || !self.condition.conditions.is_empty();
        let files = self.format.is_some() || self.output.is_some();
        let looks_up = self.at.is_some() || self.path.is_some() || self.verify;
        let adds = self.lint || self.stderr || self.ops || self.state;
        shared.quiet && selects && !files && !looks_up && !adds
    }

    /// Returns true if all of the input is there at once.
    fn reads_files(&self) -> bool {
        let paths = self.input.paths();
        let is_there = |path: &PathBuf| path.is_file() || path.is_dir();
        !self.input.follow && !paths.is_empty() && paths.iter().all(is_there)
    }

    /// Returns what the output needs of each message. `is_first`: it may be the only one.
    fn want(&self, filter: &Filter, format: Option<Format>, is_first: bool) -> Want {
        if self.verify || self.exact {
            return Want::ExactText;
        }
        let judges = self.lint
            || self.ops
            || self.flat
            || self.select.context.pair
            || filter.needs_session();
        let places = judges || self.state;
        let looks_up = self.at.is_some() || self.path.is_some();
        let rows = is_first || looks_up || matches!(format, Some(Format::Tree | Format::Hex));
        let writes_all = format == Some(Format::Json) && filter.is_open() && !self.ops;
        match filter.want() {
            Want::Head if rows && !places => Want::Rows,
            _ if places && writes_all => Want::PlacesAndText,
            _ if places || rows => Want::Places,
            Want::Head if format == Some(Format::Json) && filter.is_open() => Want::Text,
            Want::Head if format == Some(Format::Json) => Want::TextOfFew,
            Want::Head => Want::Line,
            // A line also shows values that the head lacks.
            Want::Text if format != Some(Format::Json) => Want::Places,
            want => want,
        }
    }
}

/// The messages that are shown.
#[derive(clap::Args)]
#[command(next_help_heading = "Selection")]
struct DecodeSelection {
    /// Only these kinds; `*` matches any text
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kind: Vec<String>,
    /// Only these ids
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    id: Vec<String>,
    /// Only these methods, targets, selectors, tools or topics
    #[arg(long, value_name = "SUBJECT", value_delimiter = ',')]
    subject: Vec<String>,
    /// Only messages that contain or show this text
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// With --grep: capitals and small letters are equal
    #[arg(long, requires = "grep")]
    ignore_case: bool,
    /// Skip the first N matches
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// Stop after N messages
    #[arg(long, short_alias = 'n', value_name = "N")]
    head: Option<u64>,
    /// Only the last N messages
    #[arg(long, value_name = "N", conflicts_with = "head")]
    tail: Option<usize>,
    #[command(flatten)]
    context: context::ContextArgs,
}

impl DecodeSelection {
    /// Returns the expression of `--grep --ignore-case`.
    fn caseless(&self) -> Result<Option<regex::bytes::Regex>> {
        let text = self.grep.as_deref().filter(|_| self.ignore_case);
        let build = |text| {
            let mut builder = regex::bytes::RegexBuilder::new(&regex::escape(text));
            builder.case_insensitive(true).build()
        };
        text.map(build).transpose().context("--grep is too long")
    }
}

/// Parses a number of bytes, in decimal or hex.
pub fn parse_offset(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "wanted a byte offset, such as 66 or 0x42".into())
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    if args.print_schema {
        return print(&json::schema());
    }
    // Checked only for an explicit framing: bare bodies do not name their struct.
    if args.wire.framing == Framing::Bare.name() && args.wire.as_struct.is_none() {
        anyhow::bail!("a bare body does not name its struct: give it with --struct NAME");
    }
    if args.exact && args.format != Some(Format::Json) {
        anyhow::bail!("--exact needs -f json");
    }
    if args.flat && args.format != Some(Format::Json) {
        anyhow::bail!("--flat needs -f json");
    }
    if args.ops && matches!(args.format, Some(Format::Tree | Format::Hex)) {
        anyhow::bail!("--ops shows lines, or objects with -f json");
    }
    let protocols = args.wire.protocols()?;
    let to_file = args.output.is_some();
    let output = if args.is_silent(shared) {
        CommandOutput::nothing()
    } else {
        CommandOutput::open(args.output.as_deref(), &args.input.paths())?
    };
    let sources = input::merged_sources(&args.input)?;
    anyhow::ensure!(
        sources.is_none() || args.write.is_none(),
        "-w records one capture: leave out --merge"
    );
    let display = DisplayOptions {
        sources,
        show_secrets: args.show_secrets,
        terminal: display.terminal && !to_file,
        width: display.width.filter(|_| !to_file),
        ..display
    };
    let mut options = args.wire.options(&protocols, Want::Places);
    // In other cases all output is written at once: a signal can end the program directly, also if no reader takes the output.
    let waits = to_file || args.input.follow || args.select.tail.is_some() || args.verify;
    let stop = waits.then(Stop::on_signals).transpose()?;
    let mut run = InputState::new(shared, args.input.follow, stop);
    run.hides_progress = display.terminal;
    run.sources = sources;
    let mut screen = DecodeScreen::new(args, shared, display, output)?;
    options.want = screen.want().unwrap_or(options.want);
    options.lookup = lookup::Lookup::new(args).values();
    run.masks_lines = screen.masks_lines();
    let result = input::read(&args.input, &options, &mut run, &mut screen);
    // The messages before the error are shown too.
    match result {
        Ok(()) => screen.finish(&run),
        Err(error) => {
            if let Some(recorder) = screen.recorder.take() {
                recorder.abandon()?;
            }
            if !super::is_closed_pipe(&error) && !to_file {
                screen.flush()?;
            }
            Err(error)
        }
    }
}
