//! The command line, also with a protocol from outside this crate.
//!
//! A binary with one more protocol is a few lines; every command then has it:
//!
//! ```no_run
//! # use wiretool::protocol::Protocol;
//! # fn quiz() -> &'static dyn Protocol { wiretool::protocol::registry::all()[0] }
//! fn main() -> std::process::ExitCode {
//!     wiretool::cli::run(std::env::args_os(), &[quiz()])
//! }
//! ```

mod call_address;
mod client;
mod closed_stdout;
mod completions;
mod config;
mod decode;
mod demo;
mod descriptions;
mod diff;
mod encode;
mod export;
mod faults;
mod help;
mod input;
mod interrupt;
mod lint;
mod live;
mod make;
mod man;
mod mcp;
mod operation_lines;
mod options;
mod oracle;
mod output;
mod pager;
mod poll;
mod progress;
mod protocol;
mod proxy;
mod record;
mod recording;
mod redact;
mod replay;
mod report;
mod review;
mod sael;
mod send;
mod shrink;
mod snapshot;
mod stat;
mod state;
mod stderr_lines;
mod stub;
mod suggestions;
mod telequick;
mod terminal_input;
mod test;
#[cfg(test)]
pub(crate) mod tests;
mod thread_output;
mod tls;
mod topics;
mod unmatched;
mod values;
mod version;
mod watch;
mod wrap;

use crate::protocol::described::{DescriptionError, embedded};
use crate::protocol::{Protocol, registry};
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write as _;
use std::mem::ManuallyDrop;
use std::process::ExitCode;

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Clean,
    /// The command ran and found a problem: a fault, a finding, a difference, no match.
    Negative,
    /// The command could not run: usage, or input and output.
    Error,
    /// The status of a child or of a signal.
    Status(u8),
}

impl Exit {
    /// Returns the result of a run that found a problem, or none.
    fn negative_if(is_bad: bool) -> Self {
        if is_bad { Self::Negative } else { Self::Clean }
    }

    /// Returns the result of a run that a signal ended.
    fn of_signal(signal: i32) -> Self {
        Self::Status(128 + u8::try_from(signal).unwrap_or_default())
    }

    fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Negative => 1,
            Self::Error => 2,
            Self::Status(status) => status,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// The width of help without a terminal, and the maximum on a terminal, in columns.
const WIDTH: usize = 100;

const EXAMPLES: &str = "\
Examples:
  wiretool capture.bin                       show the messages of a capture
  wiretool lint session.jsonl                check the rules of the protocol
  wiretool watch session.jsonl               scroll, search and look inside, on the whole screen
  wiretool proxy -w FILE -- ./server         show and record live traffic
  wiretool stub mcp --tool add='{\"n\":3}'    answer requests
  wiretool send mcp tools/list -- ./server   send a request, and show the answer
  wiretool replay session.jsonl -- ./server  send recorded requests again, and compare
  wiretool stat session.jsonl                counts and latencies
  wiretool diff yesterday.jsonl today.jsonl  compare two captures
  wiretool export -f mermaid session.jsonl   a sequence diagram for a ticket
  wiretool snapshot test captures            captures as regression tests
  wiretool test server.toml                  servers and clients as tests
  xxd -p capture.bin | wiretool decode       hex dumps work, too
  wiretool decode -f json FILE               one JSON object per message
  wiretool decode --at 66 FILE               which field contains byte 66?
  wiretool oracle felt 0x68656c6c6f          the meanings of a felt
  wiretool demo                              what all of this is for, in 30 seconds";

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  a fault, a finding, a difference, or no message matched
  2  usage, or a file or connection that failed
  130, 143  interrupted, terminated; files are complete
With a command after --: 2 and 1 as above, otherwise the exit code of that command.";

/// Decode, check, record and replay the traffic of two programs.
#[derive(Parser)]
#[command(name = "wiretool", version, before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true
)]
struct Root {
    #[command(flatten)]
    shared: options::SharedArgs,
}

/// A command, without its arguments.
struct CommandEntry {
    /// Its name and its other names.
    names: &'static [&'static str],
    add_arguments: fn(Command) -> Command,
}

/// Defines the commands: each with its arguments, its name, and its other names.
macro_rules! commands {
    ($($command:ident($args:ty) $name:literal $(or $alias:literal)*;)*) => {
        #[derive(Subcommand)]
        enum CliCommand {
            $(#[command(name = $name $(, alias = $alias)*)] $command(Box<$args>),)*
        }

        /// The commands, without their arguments.
        const COMMANDS: &[CommandEntry] = &[$(CommandEntry {
            names: &[$name $(, $alias)*],
            add_arguments: <$args as clap::Args>::augment_args,
        },)*];
    };
}

commands! {
    Decode(decode::Args) "decode" or "show" or "view" or "dump" or "cat";
    Lint(lint::Args) "lint" or "check" or "validate";
    Stat(stat::Args) "stat" or "stats";
    Watch(watch::Args) "watch" or "tui";
    Diff(diff::Args) "diff" or "compare";
    Export(export::Args) "export";
    Encode(encode::Args) "encode";
    Make(make::Args) "make";
    Proxy(proxy::Args) "proxy";
    Record(record::Args) "record";
    Redact(redact::Args) "redact";
    Replay(replay::Args) "replay";
    Send(send::Args) "send" or "call" or "request";
    Shrink(shrink::Args) "shrink";
    Stub(stub::Args) "stub" or "mock";
    Snapshot(snapshot::Args) "snapshot";
    Test(test::Args) "test";
    Demo(demo::Args) "demo";
    Wrap(wrap::Args) "wrap";
    Unwrap(wrap::UnwrapArgs) "unwrap";
    Protocol(protocol::Args) "protocol";
    Telequick(telequick::Args) "telequick";
    Oracle(oracle::Args) "oracle";
    Sael(sael::Args) "sael";
    Mcp(mcp::Args) "mcp";
    Config(config::Args) "config";
    Completions(completions::Args) "completions";
    Man(man::Args) "man";
    Help(help::Args) "help";
}

/// A command line.
struct Cli {
    shared: options::SharedArgs,
    command: CliCommand,
}

impl Cli {
    /// Returns the whole command line, for help, errors and completions.
    fn command() -> Command {
        CliCommand::augment_subcommands(Root::command())
    }

    /// Returns the command line with the first command that is named, alone: to build all of them takes longer than most
    /// runs. The whole command line accepts the same words in the same way; errors lack the other commands.
    fn named_command(args: &[OsString]) -> Command {
        let mut words = args.iter().skip(1).filter_map(|word| word.to_str());
        let root = Root::command();
        match words.find_map(entry_of) {
            Some(CommandEntry {
                names: [name, others @ ..],
                add_arguments,
            }) => {
                root.subcommand(add_arguments(Command::new(*name)).aliases(others.iter().copied()))
            }
            _ => root,
        }
    }

    fn from_matches(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            shared: Root::from_arg_matches_mut(matches)?.shared,
            command: CliCommand::from_arg_matches_mut(matches)?,
        })
    }
}

/// Returns the command with this name.
fn entry_of(word: &str) -> Option<&'static CommandEntry> {
    COMMANDS.iter().find(|entry| entry.names.contains(&word))
}

/// Returns the command line with its help texts. Help for a pipe does not depend on the width of a terminal.
fn command() -> Command {
    let (protocols, topics) = (help::list_of_protocols(), help::list_of_topics());
    let after = format!("{protocols}\n\n{topics}\n\n{EXIT_CODES}");
    let command = help::split_help(Cli::command().after_help(after), "");
    if options::stdout_is_terminal() {
        command
    } else {
        command.term_width(WIDTH)
    }
}

/// Runs a command line, whose first word is the name of the program, with the protocols of this crate and further ones.
/// They stay the protocols of the process: [`registry::all`] lists them from now on.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
    protocols: &[&'static dyn Protocol],
) -> ExitCode {
    start(args.into_iter().collect(), protocols).into()
}

fn start(args: Vec<OsString>, protocols: &[&'static dyn Protocol]) -> Exit {
    registry::extend(protocols, embedded());
    let added = descriptions::add_all(&args);
    let (Ok(exit) | Err(exit)) = run_command(args, added);
    exit
}

/// Runs a command line. `added`: whether the protocols of the project and the user could be read. An error was printed.
fn run_command(mut args: Vec<OsString>, added: anyhow::Result<()>) -> Result<Exit, Exit> {
    if let Some(all) =
        suggestions::complete_command(&args, is_command, suggestions::stdin_has_input)
    {
        args = all;
    }
    let matches = parse(&args, added.as_ref().err())?;
    let warnings = config::load(&matches).map_err(|error| failed(&error))?;
    // This command shows what is wrong.
    let shows_errors = matches.subcommand_name() == Some("protocol");
    if let Some(error) = added.err().filter(|_| !shows_errors) {
        return Err(failed_with_lines(&error));
    }
    descriptions::add_recorded(&args).map_err(|error| failed_with_lines(&error))?;
    let mut matches = with_defaults(matches, &args)?;
    let is_format_given = is_format_given(&matches);
    let cli = Cli::from_matches(&mut matches).map_err(|error| print_usage(&error, &args))?;
    for text in warnings {
        cli.shared.note(text);
    }
    run_parsed(cli, is_format_given).or_else(|error| match error {
        error if is_closed_pipe(&error) => Ok(Exit::Clean),
        // The errors of a description show its lines.
        error if error.is::<DescriptionError>() => Err(failed_with_lines(&error)),
        error => Err(failed(&error)),
    })
}

/// Returns true if `--format` is on the command line; settings do not count.
fn is_format_given(matches: &ArgMatches) -> bool {
    matches.subcommand().is_some_and(|(_, matches)| {
        matches.try_contains_id("format").is_ok()
            && matches.value_source("format") == Some(ValueSource::CommandLine)
    })
}

fn is_command(word: &str) -> bool {
    entry_of(word).is_some()
}

/// Parses the arguments without settings, which usage errors, help and version do not need. `unread`: why a description
/// could not be read.
fn parse(args: &[OsString], unread: Option<&anyhow::Error>) -> Result<ArgMatches, Exit> {
    // It lives until the process ends: to free it takes a fifth of the start.
    let mut root = ManuallyDrop::new(Cli::named_command(args));
    let parsed = root.try_get_matches_from_mut(args);
    let error = parsed.as_ref().err();
    let misread = suggestions::misread_command(&root, args)
        .or_else(|| suggestions::misread_flag(&root, args, error, is_command));
    if let Some(error) = misread {
        return Err(print_usage(&error, args));
    }
    parsed
        .or_else(|error| match error.kind() {
            ErrorKind::DisplayVersion => Err(error),
            _ => usage(args),
        })
        .map_err(|error| match unread {
            // The name may be that of the description.
            Some(why) if is_of_protocol(&error) => failed_with_lines(why),
            _ => print_usage(&error, args),
        })
}

/// Returns true if the name of a protocol is unknown.
fn is_of_protocol(error: &clap::Error) -> bool {
    let arg = error.get(ContextKind::InvalidArg);
    let is_protocol = |arg: &ContextValue| arg.to_string().contains("--protocol");
    error.kind() == ErrorKind::InvalidValue && arg.is_some_and(is_protocol)
}

/// Parses the arguments again if settings have other defaults.
fn with_defaults(matches: ArgMatches, args: &[OsString]) -> Result<ArgMatches, Exit> {
    let settings = config::settings();
    if !settings.has_defaults() {
        return Ok(matches);
    }
    let command = settings.apply_defaults(Cli::named_command(args));
    let whole = || settings.apply_defaults(Cli::command());
    let parsed = command.try_get_matches_from(args);
    let parsed = parsed.or_else(|_| whole().try_get_matches_from(args));
    parsed.map_err(|error| print_usage(&error, args))
}

fn failed(error: &anyhow::Error) -> Exit {
    print_message(&format!("{error:#}"));
    Exit::Error
}

/// Prints an error that shows lines of a file.
fn failed_with_lines(error: &anyhow::Error) -> Exit {
    print_lines(&format!("{error:#}"));
    Exit::Error
}

/// Runs a command.
fn run_parsed(cli: Cli, is_format_given: bool) -> anyhow::Result<Exit> {
    let display = options::display_of_stdout(&cli.shared);
    match cli.command {
        CliCommand::Decode(args) => decode::run(&args, &cli.shared, display),
        CliCommand::Lint(args) => lint::run(&args, &cli.shared, display),
        CliCommand::Stat(args) => stat::run(&args, &cli.shared, display),
        CliCommand::Watch(args) => watch::run(&args, &cli.shared),
        CliCommand::Diff(args) => diff::run(&args, &cli.shared, display),
        CliCommand::Export(args) => export::run(&args, &cli.shared),
        CliCommand::Encode(args) => encode::run(&args, &cli.shared),
        CliCommand::Make(args) => make::run(&args),
        CliCommand::Proxy(args) => proxy::run(&args, &cli.shared, is_format_given),
        CliCommand::Record(args) => record::run(&args, &cli.shared, is_format_given),
        CliCommand::Redact(args) => redact::run(&args, &cli.shared),
        CliCommand::Replay(args) => replay::run(&args, &cli.shared, display),
        CliCommand::Send(args) => send::run(&args, &cli.shared, display),
        CliCommand::Shrink(args) => shrink::run(&args, &cli.shared),
        CliCommand::Stub(args) => stub::run(&args, &cli.shared),
        CliCommand::Snapshot(args) => snapshot::run(&args, &cli.shared, display),
        CliCommand::Test(args) => test::run(&args, &cli.shared, display),
        CliCommand::Demo(args) => demo::run(&args, &cli.shared, display),
        CliCommand::Wrap(args) => wrap::run(&args, &cli.shared),
        CliCommand::Unwrap(args) => wrap::run_unwrap(&args, &cli.shared),
        CliCommand::Protocol(args) => protocol::run(&args),
        CliCommand::Telequick(args) => telequick::run(&args, &cli.shared),
        CliCommand::Oracle(args) => oracle::run(&args, display),
        CliCommand::Sael(args) => sael::run(&args, &cli.shared, display),
        CliCommand::Mcp(args) => mcp::run(&args, &cli.shared),
        CliCommand::Config(args) => config::run(&args),
        CliCommand::Completions(args) => completions::run(&args),
        CliCommand::Man(args) => man::run(&args),
        CliCommand::Help(args) => help::run(&args, display),
    }
}

/// Reads a command line with all commands; the error is a usage error, or help.
fn usage(args: &[OsString]) -> Result<ArgMatches, clap::Error> {
    match Cli::command().try_get_matches_from(args) {
        Err(error) if prints_help(&error) => {
            let is_short = !args.iter().any(|word| word == "--help");
            let with_help = if is_short {
                help::without_less_usual(command())
            } else {
                command()
            };
            let with_help = with_help.try_get_matches_from(args).err();
            Err(with_help.unwrap_or(error))
        }
        matches => matches,
    }
}

/// Returns a text of several lines, escaped line by line.
fn escape_lines(text: &str) -> String {
    let lines = text
        .split('\n')
        .map(|line| crate::render::style::escape(line).into_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// Prints a text of several lines to stderr.
fn print_lines(text: &str) {
    let text = escape_lines(text.trim_end_matches('\n'));
    let _ = std::io::stderr().write_all(format!("wiretool: {text}\n").as_bytes());
}

/// Prints a line to stderr.
fn print_message(text: &str) {
    thread_output::print(format!(
        "wiretool: {}\n",
        crate::render::style::escape(text)
    ));
}

/// Prints a long line to stderr; on a terminal it wraps at words.
fn print_wrapped(text: &str) {
    let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let display = crate::render::DisplayOptions {
        width: terminal.then(options::terminal_width).flatten(),
        ..Default::default()
    };
    let mut lines = String::new();
    crate::render::wrap::write_wrapped(display, 4, &mut lines, |out| {
        out.push_str("wiretool: ");
        out.push_str(&crate::render::style::escape(text));
    });
    thread_output::print(lines);
}

/// Prints a line about an input; the name is omitted if it is empty.
fn print_about(source: &str, text: &str) {
    match source {
        "" => print_message(text),
        _ => print_message(&format!("{source}: {text}")),
    }
}

/// Returns `1 path differs`, `2 paths differ`.
fn count_text(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Returns true if the reader of the output has closed the pipe, which is not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.is::<output::StdoutClosed>()
}

/// Returns true if the text of an error is the help of a command.
fn prints_help(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// Prints help and version to stdout, and usage errors to stderr, in a few lines.
fn print_usage(error: &clap::Error, args: &[OsString]) -> Exit {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        if let Err(error) = closed_stdout::ensure_open() {
            print_message(&error.to_string());
            return Exit::Error;
        }
        let mut text = shown(&error.render());
        if error.kind() == ErrorKind::DisplayVersion && version::is_detailed(args) {
            text += &version::details();
        }
        let mut stdout = std::io::stdout().lock();
        return match stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
        {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                print_message(&format!("cannot write: {e}"));
                Exit::Error
            }
            _ => Exit::Clean,
        };
    }
    let text = if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        remove_blank_lines(&escape_lines(&error.render().to_string()))
    } else {
        suggestions::usage_text(error, &Cli::command(), args)
    };
    let _ = std::io::stderr().write_all(text.as_bytes());
    Exit::Error
}

/// Returns help for stdout.
fn shown(help: &StyledStr) -> String {
    if options::stdout_is_terminal() {
        remove_blank_lines(&help.ansi().to_string())
    } else {
        remove_blank_lines(&help.to_string())
    }
}

/// Removes the blank lines of empty sections.
fn remove_blank_lines(text: &str) -> String {
    text.replace("\n\n\n\n", "\n\n").replace("\n\n\n", "\n\n")
}
