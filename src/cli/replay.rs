//! `wiretool replay`: sends recorded requests, and compares the answers.

pub mod show;

use super::client::{KnownConnections, PeerArgs, check_all_taken};
use super::options::{self, SharedArgs};
use super::output::CommandOutput;
use super::report::{FilePlace, ReportArgs, ReportedProblem};
use super::{Exit, count_text, print_message, recording};
use crate::framing::{Framing, Limits};
use crate::live::client::{Client, ClientConfig, LINGER, RunOutcome};
use crate::live::codec::ConnectionConfig;
use crate::live::plan::Plan;
use crate::live::speed::Speed;
use crate::protocol::Protocol;
use crate::protocol::schema::Fresh;
use crate::render::DisplayOptions;
use anyhow::Result;
use show::{DivergenceOutput, ReportEntries};
use std::path::PathBuf;
use std::sync::PoisonError;

const EXAMPLES: &str = "\
Examples:
  wiretool replay session.jsonl -- ./server                 to a child process
  wiretool replay --keep-going --ignore '**.ms' session.jsonl -- ./oracle
  wiretool replay -w again.jsonl session.jsonl -- ./oracle  record the new run, too
  wiretool replay --where 'index>=2' session.jsonl -- ./oracle  only these, after the handshake
  wiretool replay session.jsonl --connect tcp://127.0.0.1:7700
  wiretool replay --speed 2x --repeat 10 session.jsonl --connect tcp://127.0.0.1:7700
  wiretool replay session.jsonl --connect ws://127.0.0.1:8080/ws --token-file token";

const EXIT_CODES: &str = "\
Exit codes:
  0         every answer was as recorded
  1         an answer differs or is missing, the connection closed too early,
            or no message matches --where
  2         usage, a recording that cannot be replayed, a failed connection, or
            bytes that were not recorded
  130, 143  interrupted, terminated; the new recording is complete";

/// Send recorded requests to a live peer; compare the answers
///
/// A message is sent when the answers that it depends on have arrived. Ids and times are new. Values that the peer generates
/// (sessions, subscriptions, call ids) are replaced in later messages. Answers are compared by their content, without ids and
/// without the paths of --ignore. Handshake, heartbeats, masks and lengths are new.
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub struct Args {
    /// A recording; `-`: stdin
    #[arg(value_name = "RECORDING", value_parser = options::capture())]
    recording: PathBuf,
    #[command(flatten)]
    peer: PeerArgs,
    /// Protocol, if the recording does not name it
    #[arg(short, long, value_name = "PROTOCOL", value_parser = options::protocol(), help_heading = "Protocol")]
    protocol: Option<String>,
    /// telequick: schema file that extends or replaces the built-in one
    #[arg(long, value_name = "FILE", help_heading = "Protocol")]
    schema: Option<PathBuf>,
    /// Limit for the size of a message, also after inflation: bytes, or with K, M, G
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = options::size, help_heading = "Protocol")]
    max_message: u32,
    /// Limit for the depth of nesting
    #[arg(long, value_name = "LEVELS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Protocol")]
    max_depth: u32,
    #[command(flatten)]
    condition: options::WhereArgs,
    /// Send ids, sequence numbers and times as recorded, not new ones
    #[arg(long, help_heading = "Replay")]
    keep_ids: bool,
    /// Before a message is sent, wait for the answers that it needs, or for everything recorded before it
    #[arg(long, value_name = "ORDER", default_value = "needed", value_parser = options::names(["needed", "recorded"]), help_heading = "Replay")]
    order: String,
    /// Pause between messages: as recorded (1), faster (2x), slower (0.5), or none (max)
    #[arg(
        long,
        value_name = "SPEED",
        default_value = "max",
        help_heading = "Replay"
    )]
    speed: Speed,
    /// Replay N times, one session after another
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Replay")]
    repeat: u64,
    /// Continue after an answer that differs
    #[arg(long, help_heading = "Replay")]
    keep_going: bool,
    /// Ignore this path: `result.id`, `**.ts`, `KIND:PATH`, `KIND SUBJECT:PATH` (repeatable)
    #[arg(long, value_name = "PATH", value_parser = options::parse_pattern, help_heading = "Comparison")]
    ignore: Vec<String>,
    /// Ignore the paths of this file: `[ignore]` with `paths = [...]`
    #[arg(long, value_name = "FILE", help_heading = "Comparison")]
    ignore_file: Vec<PathBuf>,
    /// Also compare ids, times and other values that each run generates
    #[arg(long, help_heading = "Comparison")]
    strict: bool,
    /// Format of divergences
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = options::text_or_json("One block per divergence", "One JSON object per divergence, and a summary"), help_heading = "Output")]
    format: options::OutputFormat,
    #[command(flatten)]
    report: ReportArgs,
    /// Do not mask tokens, capabilities and other secrets
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    let name = args.recording.display().to_string();
    let protocols =
        options::protocols_for_writing(args.schema.as_deref(), args.protocol.as_deref())?;
    let known = match protocols.named() {
        Some(protocol) => vec![protocol],
        None => protocols.all(),
    };
    let limits = Limits {
        message: args.max_message,
        depth: args.max_depth,
    };
    let choice = args.condition.filter();
    let recording = recording::read(&args.recording)?;
    let plan = Plan::of(&recording, &known, None, limits, choice);
    let mut plan = plan.map_err(|unfit| anyhow::anyhow!("{name}: {unfit}"))?;
    drop(recording);
    if plan.chosen == 0 {
        shared.note(&format!("{name}: {}", nothing_chosen(&plan)));
        return Ok(Exit::Negative);
    }
    for note in &plan.notes {
        shared.note(&format!("{name}: {note}"));
    }
    let ignore = super::diff::read_ignore(&args.ignore, &args.ignore_file)?;
    let ignore = if args.strict {
        ignore
    } else {
        ignore.and_generated(plan.protocol, true)
    };
    let display = DisplayOptions {
        show_secrets: args.show_secrets,
        ..display
    };
    fit_to_peer(&mut plan, &args.peer)?;
    let entries = ReportEntries::default();
    let mut total = RunOutcome::default();
    let mut all_went_well = true;
    for run in 0..args.repeat {
        let config = args.peer.config(plan.protocol, known_connections(&plan))?;
        let settings = ClientConfig {
            peer_config: args.peer.peer_config(args.peer.seed(run))?,
            keep_ids: args.keep_ids,
            in_order: args.order == "recorded",
            speed: args.speed,
            timeout: args.peer.timeout(),
            linger: LINGER.min(args.peer.timeout()),
            keep_going: args.keep_going,
            ignore: ignore.clone(),
            limits,
        };
        let (exit, outcome) = run_once(args, shared, display, &plan, config, &settings, &entries)?;
        total.sent += outcome.sent;
        total.compared += outcome.compared;
        total.differ += outcome.differ;
        total.ignored += outcome.ignored;
        total.hangs |= outcome.hangs;
        all_went_well &= exit == Exit::Clean;
        let stops = exit != Exit::Clean && !(args.keep_going && exit == Exit::Negative);
        if stops || run + 1 == args.repeat {
            if !shared.quiet && exit != Exit::Error {
                let planned = plan.steps.len() as u64 * (run + 1);
                let is_stopped = total.differ > 0 && !args.keep_going;
                let unsent = planned.saturating_sub(total.sent);
                let unsent = if is_stopped { unsent } else { 0 };
                print_message(&summary(run + 1, &total, unsent));
            }
            write_end(args, run + 1, &total, &entries)?;
            return Ok(match exit {
                Exit::Clean if !all_went_well => Exit::Negative,
                exit => exit,
            });
        }
    }
    Ok(Exit::Clean)
}

/// A peer that does not speak HTTP has one connection.
pub fn fit_to_peer(plan: &mut Plan<'_>, peer: &PeerArgs) -> Result<()> {
    let config = peer.config(plan.protocol, known_connections(plan))?;
    if plan.framing == Framing::Http && config.framing != Framing::Http {
        plan.join_connections();
    }
    Ok(())
}

/// Returns the reason why no message is sent.
fn nothing_chosen(plan: &Plan<'_>) -> String {
    match plan.matched {
        0 => format!("none of {} messages matches", plan.read),
        _ => "no matching message can be sent: the other side sends it, or it is incomplete"
            .to_owned(),
    }
}

/// Returns what the recording says about connections.
pub fn known_connections(plan: &Plan<'_>) -> KnownConnections {
    // The path of a recorded address applies only to the same kind of address.
    let over_http = matches!(
        plan.header.transport.as_deref(),
        Some("ws" | "wss" | "http" | "https")
    );
    let generated = &plan.protocol.marks().generated;
    KnownConnections {
        framing: Some(plan.framing).filter(|_| !over_http),
        path: plan.path.clone(),
        fields: plan.fields.clone(),
        events: plan.events,
        takes_token: generated.iter().any(|m| m.fresh == Some(Fresh::Given)),
    }
}

/// Runs the session once.
fn run_once<'p>(
    args: &Args,
    shared: &SharedArgs,
    display: DisplayOptions,
    plan: &'p Plan<'p>,
    config: ConnectionConfig<'p>,
    settings: &'p ClientConfig,
    entries: &ReportEntries,
) -> Result<(Exit, RunOutcome)> {
    let (protocol, quiet): (&dyn Protocol, bool) = (plan.protocol, shared.quiet);
    let (display, out) = if args.report.report.is_some() {
        let entries = ReportEntries::clone(entries);
        (without_color(display), DivergenceOutput::Report(entries))
    } else if args.format.is_json() {
        (without_color(display), DivergenceOutput::Json)
    } else {
        (display, DivergenceOutput::Text)
    };
    let observer = show::observer(protocol, display, quiet, out);
    let mut client = Client::replaying(plan, config, settings, observer);
    let ended = args.peer.run_client(protocol, &mut client, None, shared)?;
    let outcome = client.outcome().clone();
    let exit = match ended {
        Err(exit) => exit,
        Ok(ended) if check_all_taken(&ended) && outcome.is_clean() => Exit::Clean,
        Ok(_) => Exit::Negative,
    };
    Ok((exit, outcome))
}

/// Returns the style of texts for programs.
fn without_color(display: DisplayOptions) -> DisplayOptions {
    DisplayOptions {
        show_secrets: display.show_secrets,
        ..DisplayOptions::default()
    }
}

/// Writes the end for programs: a summary, or the report.
fn write_end(args: &Args, runs: u64, total: &RunOutcome, entries: &ReportEntries) -> Result<()> {
    let mut output = CommandOutput::open(None, &[])?;
    if let Some(mut report) = args.report.new_report("wiretool replay") {
        let name = args.recording.display().to_string();
        report.add_input(&name);
        let entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
        for (rule, text) in entries.iter() {
            let about =
                "An answer differs from the recording, or an expected message does not come";
            report.add_problem(&ReportedProblem { rule, about, text }, FilePlace::of(&name));
        }
        output.push(&report.text()?);
    } else if args.format.is_json() {
        let summary = serde_json::json!({ "v": 1, "summary": {
            "sessions": runs,
            "sent": total.sent,
            "compared": total.compared,
            "differ": total.differ,
            "hangs": total.hangs,
        }});
        output.push(format!("{summary}\n"));
    }
    output.finish()
}

/// Returns `12 sent, 12 answers compared, 0 differ`, and how many were not sent after the first difference.
fn summary(runs: u64, total: &RunOutcome, unsent: u64) -> String {
    let sessions = match runs {
        1 => String::new(),
        n => format!("{n} sessions: "),
    };
    let compared = count_text(total.compared, "answer", "answers");
    let differ = count_text(total.differ, "differs", "differ");
    let hangs = if total.hangs { ", then a timeout" } else { "" };
    let ignored = super::config::settings().ignored_note(total.ignored);
    let stopped = match unsent {
        0 => String::new(),
        n => format!("; stopped at the first difference, {n} not sent (--keep-going sends all)"),
    };
    format!(
        "{sessions}{} sent, {compared} compared, {differ}{hangs}{ignored}{stopped}",
        total.sent
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_names_what_was_not_sent() {
        let total = RunOutcome {
            sent: 1,
            compared: 1,
            differ: 1,
            ..RunOutcome::default()
        };
        for (unsent, wanted) in [
            (0, "1 sent, 1 answer compared, 1 differs"),
            (
                10,
                "1 sent, 1 answer compared, 1 differs; stopped at the first difference, 10 not sent (--keep-going sends all)",
            ),
        ] {
            assert_eq!(summary(1, &total, unsent), wanted);
        }
    }
}
