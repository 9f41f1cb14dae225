//! `wiretool proxy`: forwards traffic between two programs, and shows it.

use super::Exit;
use super::call_address::CallAddress;
use super::export::collector::parse_collector;
use super::live::{self, ConnectionArgs, EXIT_CODES, LintArgs, LiveConfig, LiveScreen};
use super::options::{self, SharedArgs};
use super::recording;
use crate::encoding::Want;
use crate::render::Format;
use crate::transport::FileLimit;
use anyhow::Result;
use std::io::IsTerminal as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool proxy -p mcp -- ./server             start it, show its messages
  wiretool proxy -p mcp -w mcp-{pid}.jsonl -- ./server
  wiretool decode --follow mcp-1234.jsonl       the same in another terminal
  wiretool proxy -p mcp -w 'calls-{host}-{time}.jsonl' --rotate 100M -- ./server
  wiretool proxy -p saikuro                     connect to saikuro's port, 7700
  wiretool proxy -p saikuro --fault 'kind=call nth 2: drop'
  wiretool proxy -p mcp --ops -- ./server       one line per operation, when it ends
  wiretool proxy -p oracle --lint --fail-on error -- ./oracle
  wiretool proxy -p stepflow --connect unix:/run/stepflow.sock --once -f json
  wiretool proxy --listen tcp://127.0.0.1:7799 --connect tcp://127.0.0.1:7700 -w calls.jsonl
  wiretool proxy -p sael --connect wss://a.example --rewrite-host --listen ws://127.0.0.1:8080";

/// Forward traffic between two programs; show and record it
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// The flags that `record` also has.
#[derive(clap::Args)]
pub struct Flags {
    #[command(flatten)]
    connection: ConnectionArgs,
    /// Record to this file; existing files are not replaced
    ///
    /// `{pid}`, `{host}` and `{time}` in the name become the process id, the host and the time, and a suffix is added if the file exists.
    /// `wiretool help recording` explains numbered names.
    #[arg(short, long, value_name = "RECORDING", help_heading = "Output")]
    pub write: Option<PathBuf>,
    /// With -w: begin another file after so many bytes, or after this time: 100M, 1h
    ///
    /// Files are numbered, unless the name has `{n}` or `{time}`. The set reads like one file: `wiretool decode calls-*.jsonl`.
    #[arg(long, value_name = "SIZE|TIME", value_parser = recording::parse_limit, help_heading = "Output")]
    rotate: Option<FileLimit>,
    /// Send operations as spans, and metrics, to this collector of OpenTelemetry
    ///
    /// Traffic does not wait for it. Spans that it does not take in time are dropped, and counted at the end.
    #[arg(long, value_name = "URL", value_parser = parse_collector, help_heading = "Output")]
    otlp: Option<CallAddress>,
    /// Show messages in this file, or on `stderr`
    ///
    /// By default messages are shown on stdout. Those of a child are shown on stderr, if that is a terminal or -f is given.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    view: Option<PathBuf>,
    /// Output format
    #[arg(
        short,
        long,
        value_parser = options::format(),
        value_name = "FORMAT",
        default_value = "line",
        help_heading = "Output"
    )]
    format: Format,
    /// Show operations: a line for each when it ends, in place of messages (`wiretool help operations`)
    #[arg(long, help_heading = "Output")]
    ops: bool,
    /// Do not mask tokens, capabilities and other secrets
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
    #[command(flatten)]
    wire: options::WireArgs,
    #[command(flatten)]
    lint: LintArgs,
}

/// The differences between `proxy` and `record`.
pub struct ProxyMode {
    /// The recording.
    pub write: Option<PathBuf>,
    /// Messages are shown without --view.
    pub shows: bool,
    /// The format is on the command line, so messages are wanted.
    pub is_format_given: bool,
    /// Messages are counted if none are shown; a recording alone needs no decoder.
    pub counts: bool,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, is_format_given: bool) -> Result<Exit> {
    let has_room = !args.flags.connection.has_child() || std::io::stderr().is_terminal();
    let mode = ProxyMode {
        write: args.flags.write.clone(),
        shows: !shared.quiet && has_room,
        is_format_given,
        counts: !shared.quiet,
    };
    run_as(mode, &args.flags, shared)
}

/// Forwards until the end.
pub fn run_as(mode: ProxyMode, flags: &Flags, shared: &SharedArgs) -> Result<Exit> {
    // Threads that nothing waits for need them until the process ends.
    let protocols = Box::leak(Box::new(flags.wire.protocols()?));
    let lints = flags.lint.is_on();
    let has_child = flags.connection.has_child();
    let asks = flags.ops || has_child && mode.is_format_given;
    let shows = mode.shows || flags.view.is_some() || asks;
    anyhow::ensure!(
        !flags.ops || matches!(flags.format, Format::Line | Format::Json),
        "--ops shows lines, or objects with -f json"
    );
    let path = match &flags.view {
        // Findings alone are not the output of the run, and stdout is that of the child.
        None if !shows || has_child => Some("stderr".into()),
        view => view.clone(),
    };
    let screen = (shows || lints).then(|| LiveScreen {
        path,
        format: shows.then_some(flags.format),
        ops: flags.ops,
        show_secrets: flags.show_secrets,
    });
    anyhow::ensure!(
        flags.rotate.is_none() || mode.write.is_some(),
        "--rotate needs a recording: -w FILE"
    );
    // A later file needs the open requests of the earlier ones, and spans need messages.
    let is_understood =
        screen.is_some() || mode.counts || flags.rotate.is_some() || flags.otlp.is_some();
    live::run(LiveConfig {
        connection: &flags.connection,
        lint: Some(&flags.lint),
        recording: None,
        stdio: None,
        print: None,
        write: mode.write,
        rotate: flags.rotate,
        otlp: flags.otlp.as_ref(),
        show_secrets: flags.show_secrets,
        screen,
        decode: is_understood.then(|| flags.wire.options(protocols, Want::Places)),
        inserts: None,
        protocol: protocols.named(),
        shared,
    })
}
