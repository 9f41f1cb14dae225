//! `wiretool shrink`: the smallest recording for which a command still fails.

mod runner;

use super::interrupt::Stop;
use super::options::{self, SharedArgs};
use super::output::CommandOutput;
use super::values::parse_duration;
use super::{Exit, count_text, print_message, progress, recording};
use crate::encode::EncodeOptions;
use crate::encoding::Want;
use crate::shrink::{ShrinkConfig, Shrunk, Stage, shrink};
use anyhow::{Context as _, Result, bail, ensure};
use runner::{CommandOutcome, Runner};
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  wiretool shrink calls.jsonl -o small.jsonl -- ./check.sh {}
  wiretool shrink calls.jsonl -o small.jsonl --match 'seq-gap' -- wiretool lint {}
  wiretool shrink calls.jsonl -o small.jsonl --replay -- ./server
  wiretool shrink calls.jsonl -o small.jsonl --replay --runs 5 -- ./server";

const DETAILS: &str = "\
The command runs for each trial. {} is the file of the trial; without {}, the file is the last argument. It fails as it did for the \
whole recording: with the same exit code or signal, or with the text of --match in its output. Left out are, in this order: \
connections, operations, messages, and values inside messages. The opening of a connection or session stays, ids stay as they \
are, and no message gets a fault.

Exit codes:
  0         a recording was written for which the command still fails
  1         the command does not fail for the whole recording
  2         usage, not a recording, or a command that cannot be started
  130, 143  interrupted, terminated; the smallest recording so far is written";

/// Find the smallest recording for which a command still fails
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = DETAILS, help_template = options::HELP)]
pub struct Args {
    /// Recording; `-`: stdin
    #[arg(value_name = "RECORDING", value_parser = options::capture())]
    recording: PathBuf,
    /// The command, and its arguments
    #[arg(
        last = true,
        value_name = "COMMAND",
        required_unless_present = "connect"
    )]
    command: Vec<OsString>,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// It fails if its output has this text, with any exit code
    #[arg(long = "match", value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new(), help_heading = "Failure")]
    text: Option<String>,
    /// Replay the trial against the command; it fails if an answer differs
    #[arg(long, help_heading = "Failure")]
    replay: bool,
    /// Address: the trial is replayed against the peer there
    #[arg(
        long,
        value_name = "ADDR",
        conflicts_with = "command",
        help_heading = "Failure"
    )]
    connect: Option<String>,
    /// Run up to N times for each trial, until it fails
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Failure")]
    runs: u32,
    /// End a run after this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_duration, help_heading = "Failure")]
    max_time: Duration,
    /// Leave out whole messages only
    #[arg(long, help_heading = "Output")]
    whole_messages: bool,
    #[command(flatten)]
    wire: options::WireArgs,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    let recording = recording::read(&args.recording)?;
    let name = super::encode::input_name(Some(&args.recording));
    let stop = Stop::on_signals()?;
    let runner = Runner {
        command: command(args)?,
        timeout: args.max_time,
        text: args.text.clone(),
        stop: stop.clone(),
    };
    let whole = first_run(&runner, args.runs, &recording, &stop)?;
    let Some((failure, rate)) = whole else {
        if let Some(exit) = stop.exit() {
            return Ok(exit);
        }
        let wanted = match &args.text {
            Some(text) => format!("its output never has {text:?}"),
            None => "it exits with 0".to_owned(),
        };
        print_message(&format!("{name}: the command does not fail: {wanted}"));
        return Ok(Exit::Negative);
    };
    shared.note(&format!("{name}: {}{rate}", runner.describe(&failure)));
    let protocols = args.wire.protocols()?;
    let config = ShrinkConfig {
        decode: args.wire.options(&protocols, Want::Head),
        encode: EncodeOptions::lines(protocols.all()),
        values: !args.whole_messages,
    };
    let mut notes = Vec::new();
    let mut trials = 0_u64;
    let mut test = |stage: Stage, trial: &[u8]| {
        trials += 1;
        progress::show(&format!("{}, {trials} runs", stage.name()));
        for _ in 0..args.runs {
            match runner.run(trial) {
                Err(error) => return ControlFlow::Break(Some(error)),
                Ok(None) => return ControlFlow::Break(None),
                Ok(Some(outcome)) if runner.is_same(&outcome, &failure) => {
                    return ControlFlow::Continue(true);
                }
                Ok(Some(_)) => {}
            }
        }
        ControlFlow::Continue(false)
    };
    let shrunk = shrink(&recording, &config, &mut notes, &mut test);
    progress::clear();
    let shrunk = shrunk.map_err(|text| anyhow::anyhow!("{name}: {text}"))?;
    for note in &notes {
        shared.note(&format!("{name}: {note}"));
    }
    if shrunk.after.connections == 0 && shrunk.before.connections > 0 && shrunk.stopped.is_none() {
        print_message(&format!(
            "{name}: the command also fails without any connection: it does not depend on the recording, which is {{}} in its arguments"
        ));
        return Ok(Exit::Negative);
    }
    let mut output = CommandOutput::open(
        args.output.as_deref(),
        std::slice::from_ref(&args.recording),
    )?;
    output.buffer().extend_from_slice(&shrunk.out);
    output.finish()?;
    shared.note(&format!(
        "{name}: {}; {}",
        describe(&shrunk),
        count_text(trials, "run", "runs")
    ));
    match shrunk.stopped {
        Some(Some(error)) => Err(error),
        _ => Ok(stop.exit().unwrap_or(Exit::Clean)),
    }
}

/// Runs the command for the whole recording. Returns how it fails, and how often; `None` if it does not, or was interrupted.
fn first_run(
    runner: &Runner,
    runs: u32,
    recording: &[u8],
    stop: &Stop,
) -> Result<Option<(CommandOutcome, String)>> {
    let mut failure = None;
    let mut failed = 0;
    for _ in 0..runs {
        let Some(outcome) = runner.run(recording)? else {
            return Ok(None);
        };
        if runner.is_failure(&outcome) {
            failed += 1;
            failure.get_or_insert(outcome);
        }
    }
    let rate = match runs {
        1 => String::new(),
        _ => format!(", {failed} of {runs} times"),
    };
    Ok(failure
        .filter(|_| !stop.is_set())
        .map(|failure| (failure, rate)))
}

/// Returns the command line of a run, with `{}` for the file.
fn command(args: &Args) -> Result<Vec<OsString>> {
    let is_replay = args.replay || args.connect.is_some();
    if !is_replay {
        let mut command = args.command.clone();
        if !command
            .iter()
            .any(|word| word.to_string_lossy().contains("{}"))
        {
            command.push("{}".into());
        }
        return Ok(command);
    }
    ensure!(
        !args.command.iter().any(|word| word == "{}"),
        "with --replay, the command is the peer, which gets no file"
    );
    let own = std::env::current_exe().context("cannot find the own program")?;
    let mut command = vec![own.into_os_string(), "replay".into(), "{}".into()];
    if let Some(protocol) = &args.wire.protocol {
        command.extend(["-p".into(), protocol.into()]);
    }
    match &args.connect {
        Some(address) => command.extend(["--connect".into(), address.into()]),
        None if args.command.is_empty() => bail!("--replay: name the peer after --"),
        None => {
            command.push("--".into());
            command.extend(args.command.iter().cloned());
        }
    }
    Ok(command)
}

/// Returns `3 of 8012 messages, 1 of 14 connections, 912 of 2201873 bytes`.
fn describe<B>(shrunk: &Shrunk<B>) -> String {
    let Shrunk { before, after, .. } = shrunk;
    let parts = [
        (after.messages, before.messages, "messages"),
        (after.connections, before.connections, "connections"),
        (after.bytes, before.bytes, "bytes"),
    ];
    let parts = parts.map(|(after, before, name)| format!("{after} of {before} {name}"));
    parts.join(", ")
}
