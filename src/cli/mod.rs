//! The command line: one file a subcommand, thin; options that several share stand in [`options`].

mod calling;
mod closed;
mod completions;
mod config;
mod decode;
mod diff;
mod encode;
mod faults;
mod folds;
mod gentle;
mod input;
mod interrupt;
mod lint;
mod live;
mod make;
mod man;
#[cfg(test)]
mod manners;
mod options;
mod oracle;
mod output;
mod progress;
mod proxy;
mod record;
mod recording;
mod redact;
mod replay;
mod review;
mod sael;
mod send;
mod snapshot;
mod stat;
mod stub;
mod telequick;
#[cfg(test)]
pub(crate) mod tests;
mod tls;
mod values;

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ran, and all is well.
    Clean,
    /// It ran, and the answer is no: a fault, no match.
    No,
    /// It could not run: usage, or input and output.
    Trouble,
    /// What a child or a signal makes of it.
    Status(u8),
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::No => 1,
            Self::Trouble => 2,
            Self::Status(status) => status,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Columns of help where there is no terminal, and at most where there is one.
const WIDTH: usize = 100;

const EXAMPLES: &str = "\
Examples:
  wiretool decode capture.bin                what is in this capture?
  xxd -p capture.bin | wiretool decode       hex dumps of any kind will do
  wiretool decode -p saikuro -f json FILE    one JSON object a message, for programs
  wiretool decode --at 66 FILE               which field owns byte 66?
  wiretool lint session.jsonl                what is wrong, and who owes the next message?
  wiretool stat session.jsonl                how much, how fast, how often?
  wiretool diff yesterday.jsonl today.jsonl  what is different this time?
  wiretool snapshot test captures            do these captures still decode to what they did?
  wiretool proxy -p saikuro -w FILE          stand between two programs: show and record what passes
  wiretool replay session.jsonl -- ./oracle  play it again: is it answered as before?
  wiretool send oracle invoke f 1 -- ./oracle  ask something, and see the answer
  wiretool stub oracle --script oracle.toml  stand in for a peer: answer as you say
  wiretool oracle felt 0x68656c6c6f          what does this felt stand for?";

const EXIT_CODES: &str = "\
Exit codes:
  0  it ran, and all is well
  1  it ran, and the answer is no: a message is at fault, a rule is broken, something differs, or none matched
  2  it could not run: usage, or a file that cannot be read or written
  130, 143  interrupted, terminated; files are complete
In place of a child (after --): 2 and 1 as above, else the child's own.";

/// Wire debugging for saikuro, oracle, sael, stepflow and telequick.
#[derive(Parser)]
#[command(name = "wiretool", version, before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(flatten)]
    shared: options::Shared,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Decode(Box<decode::Args>),
    Lint(Box<lint::Args>),
    Stat(Box<stat::Args>),
    Diff(Box<diff::Args>),
    Encode(Box<encode::Args>),
    Make(Box<make::Args>),
    Proxy(Box<proxy::Args>),
    Record(Box<record::Args>),
    Redact(Box<redact::Args>),
    Replay(Box<replay::Args>),
    Send(Box<send::Args>),
    Stub(Box<stub::Args>),
    Snapshot(snapshot::Args),
    Telequick(telequick::Args),
    Oracle(oracle::Args),
    Sael(Box<sael::Args>),
    Config(config::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// The command line; a terminal's width is no matter of who reads its help from a pipe.
fn command() -> clap::Command {
    let command = Cli::command();
    if options::stdout_is_terminal() {
        command
    } else {
        command.term_width(WIDTH)
    }
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    run(std::env::args_os()).into()
}

/// Runs one command line.
fn run(args: impl Iterator<Item = OsString>) -> Exit {
    let mut args: Vec<OsString> = args.collect();
    // `help COMMAND` is what many try first.
    if args.get(1).is_some_and(|word| word == "help") {
        args.remove(1);
        args.push("--help".into());
    }
    // What is wrong with the words themselves, help and version need no settings.
    let matches = match command().try_get_matches_from(&args) {
        Ok(matches) => matches,
        Err(error) => return usage(&error),
    };
    let warnings = match config::load(&matches) {
        Ok(warnings) => warnings,
        Err(error) => {
            complain(&format!("{error:#}"));
            return Exit::Trouble;
        }
    };
    let command = config::settings().as_defaults(command());
    let cli = match command
        .try_get_matches_from(args)
        .and_then(|m| Cli::from_arg_matches(&m))
    {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    if !cli.shared.quiet {
        for text in warnings {
            complain(text);
        }
    }
    let look = options::look(&cli.shared);
    let result = match cli.command {
        Command::Decode(args) => decode::run(&args, &cli.shared, look),
        Command::Lint(args) => lint::run(&args, &cli.shared, look),
        Command::Stat(args) => stat::run(&args, &cli.shared, look),
        Command::Diff(args) => diff::run(&args, &cli.shared, look),
        Command::Encode(args) => encode::run(&args, &cli.shared),
        Command::Make(args) => make::run(&args, &cli.shared),
        Command::Proxy(args) => proxy::run(&args, &cli.shared),
        Command::Record(args) => record::run(&args, &cli.shared),
        Command::Redact(args) => redact::run(&args, &cli.shared),
        Command::Replay(args) => replay::run(&args, &cli.shared, look),
        Command::Send(args) => send::run(&args, &cli.shared, look),
        Command::Stub(args) => stub::run(&args, &cli.shared),
        Command::Snapshot(args) => snapshot::run(&args, &cli.shared, look),
        Command::Telequick(args) => telequick::run(&args),
        Command::Oracle(args) => oracle::run(&args, look),
        Command::Sael(args) => sael::run(&args, &cli.shared, look),
        Command::Config(args) => config::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    };
    match result {
        Ok(exit) => exit,
        Err(error) if is_closed_pipe(&error) => Exit::Clean,
        Err(error) => {
            complain(&format!("{error:#}"));
            Exit::Trouble
        }
    }
}

/// Text of several lines, escaped line by line.
fn visible(text: &str) -> String {
    let lines = text
        .split('\n')
        .map(|line| crate::render::style::escape(line).into_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// Says something that has several lines.
fn complain_lines(text: &str) {
    let text = visible(text.trim_end_matches('\n'));
    let _ = std::io::stderr().write_all(format!("wiretool: {text}\n").as_bytes());
}

/// Says something on stderr; that stderr is gone is no reason to stop.
fn complain(text: &str) {
    let text = format!("wiretool: {}\n", crate::render::style::escape(text));
    progress::clear();
    // In one write: several may speak at once.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The same of one of several inputs; nothing is said of where it is where there is no name for that.
fn complain_of(source: &str, text: &str) {
    match source {
        "" => complain(text),
        _ => complain(&format!("{source}: {text}")),
    }
}

/// `1 path differs`, `2 paths differ`.
fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Whether the reader of our output went away: that is its right, and nothing to say.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.is::<output::Unread>()
}

/// Help and version on stdout; what is wrong with the arguments on stderr, in few lines.
fn usage(error: &clap::Error) -> Exit {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        if let Err(error) = closed::ensure_open() {
            complain(&error.to_string());
            return Exit::Trouble;
        }
        let text = if options::stdout_is_terminal() {
            error.render().ansi().to_string()
        } else {
            error.render().to_string()
        };
        let text = squeezed(&text);
        let mut stdout = std::io::stdout().lock();
        return match stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
        {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                complain(&format!("cannot write: {e}"));
                Exit::Trouble
            }
            _ => Exit::Clean,
        };
    }
    // What was written on the command line stands in it.
    let text = error.render().to_string();
    let text = visible(&crate::framing::fields::masked(&text));
    let text = if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        squeezed(&text)
    } else {
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        lines.join("\n") + "\n" + behind_dashes(error)
    };
    let _ = std::io::stderr().write_all(text.as_bytes());
    Exit::Trouble
}

/// What to do where a word too many may be a command to run.
fn behind_dashes(error: &clap::Error) -> &'static str {
    let word = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let is_word = word.is_some_and(|word| !word.starts_with('-'));
    let usage = error.get(ContextKind::Usage).map(ToString::to_string);
    let is_one_more = error.kind() == ErrorKind::UnknownArgument && is_word;
    if is_one_more && usage.is_some_and(|usage| usage.contains("-- <")) {
        "  tip: a command to run stands behind --\n"
    } else {
        ""
    }
}

/// Sections that are empty leave their blank lines behind.
fn squeezed(text: &str) -> String {
    text.replace("\n\n\n\n", "\n\n").replace("\n\n\n", "\n\n")
}
