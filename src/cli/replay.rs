//! `wiretool replay`: is it still answered as it was?

mod show;

use super::calling::{Callee, Known, all_taken};
use super::options::{self, Shared};
use super::{Exit, complain, recording};
use crate::framing::Limits;
use crate::live::client::{Client, LINGER, Outcome, Settings};
use crate::live::codec::ConnectionConfig;
use crate::live::plan::{Plan, Selection};
use crate::live::speed::Speed;
use crate::protocol::Protocol;
use crate::protocol::schema::Fresh;
use crate::render::Look;
use anyhow::Result;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool replay session.jsonl -- ./oracle                         against a fresh child
  wiretool replay --keep-going --ignore '**.ms' session.jsonl -- ./oracle
  wiretool replay -w again.jsonl session.jsonl -- ./oracle          record the new run as well
  wiretool replay --first 2 --last 3 session.jsonl -- ./oracle      hellos are said all the same
  wiretool replay session.jsonl --connect tcp://127.0.0.1:7700
  wiretool replay --speed 2x --repeat 10 session.jsonl --connect tcp://127.0.0.1:7700
  wiretool replay session.jsonl --connect ws://127.0.0.1:8080/ws --token-file token";

const EXIT_CODES: &str = "\
Exit codes:
  0         every answer was as recorded
  1         one was not, none came in time, the connection ended before it, a message was not taken whole, or none matches
  2         usage, a recording that cannot be played, nobody to connect to, or bytes that were not recorded
  130, 143  interrupted, terminated; the recording is complete";

/// Play the calling side of a recording against a live peer, and compare what it answers
///
/// A message goes out as soon as the answers are there whose values it carries; ids and times are fresh, and what the peer
/// makes up (sessions, subscriptions, call ids) is replaced wherever it recurs. Answers are compared by what they answer
/// and what they mean, but for ids and what --ignore names. Handshake, heartbeats, masks and lengths are made anew.
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
pub struct Args {
    /// What `record` or `proxy -w` wrote; `-` is stdin
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    #[command(flatten)]
    callee: Callee,
    /// Which protocol, where the recording does not say
    #[arg(short, long, value_name = "PROTOCOL", value_parser = options::names(options::protocol_names()), help_heading = "Protocol")]
    protocol: Option<String>,
    /// telequick definitions that replace or extend the built-in ones
    #[arg(long, value_name = "FILE", help_heading = "Protocol")]
    schema: Option<PathBuf>,
    /// Longest message, inflated size included: bytes, or with K, M, G
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = options::size, help_heading = "Protocol")]
    max_message: u32,
    /// Deepest nesting that is read
    #[arg(long, value_name = "LEVELS", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Protocol")]
    max_depth: u32,
    #[command(flatten)]
    condition: options::Where,
    /// Say only messages from this index on; hellos always are
    #[arg(long, value_name = "INDEX", help_heading = "Selection")]
    first: Option<u64>,
    /// Say only messages up to this index
    #[arg(long, value_name = "INDEX", help_heading = "Selection")]
    last: Option<u64>,
    /// Ids, sequence numbers and times of the calling side as recorded, not fresh ones
    #[arg(long, help_heading = "Play")]
    keep_ids: bool,
    /// What must be there before a message is said: the answers that stand before it in the recording, and all items of what
    /// it speaks of; or all items as well that stand before it
    #[arg(long, value_name = "ORDER", default_value = "needed", value_parser = options::names(["needed", "recorded"]), help_heading = "Play")]
    order: String,
    /// Distances between messages: as recorded (1), faster (2x), slower (0.5), or none
    #[arg(
        long,
        value_name = "SPEED",
        default_value = "max",
        help_heading = "Play"
    )]
    speed: Speed,
    /// Play it so many times, one session after another
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..), help_heading = "Play")]
    repeat: u64,
    /// Go on after an answer that differs
    #[arg(long, help_heading = "Play")]
    keep_going: bool,
    /// Pass over this path: `result.session_id`, `**.ts`, `items[*].id`, `KIND:PATH` (repeatable)
    #[arg(long, value_name = "PATH", help_heading = "Comparison")]
    ignore: Vec<String>,
    /// Pass over the paths of this file: `[ignore]` with `paths = [...]`
    #[arg(long, value_name = "FILE", help_heading = "Comparison")]
    ignore_file: Vec<PathBuf>,
    /// Compare ids as well, and all else that every run makes anew
    #[arg(long, help_heading = "Comparison")]
    strict: bool,
    /// Show secrets in clear: tokens, capabilities and others
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
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
    let choice = Selection {
        first: args.first,
        last: args.last,
        filter: args.condition.filter(),
    };
    if let Some((first, last)) = args.first.zip(args.last) {
        anyhow::ensure!(
            first <= last,
            "--first {first} --last {last}: there is nothing between the two"
        );
    }
    let recording = recording::read(&args.recording)?;
    let plan = Plan::of(&recording, &known, None, limits, choice);
    let plan = plan.map_err(|unfit| anyhow::anyhow!("{name}: {unfit}"))?;
    drop(recording);
    if plan.chosen == 0 {
        if !shared.quiet {
            complain(&match plan.matched {
                0 => format!("{name}: none of {} messages matches", plan.read),
                _ => format!(
                    "{name}: nothing that matches can be said: it is the other side's, or not whole"
                ),
            });
        }
        return Ok(Exit::No);
    }
    if !shared.quiet {
        for note in &plan.notes {
            complain(&format!("{name}: {note}"));
        }
    }
    let ignore = super::diff::ignore(&args.ignore, &args.ignore_file)?;
    let ignore = if args.strict {
        ignore
    } else {
        ignore.and_anew(plan.protocol, true)
    };
    let look = Look {
        show_secrets: args.show_secrets,
        ..look
    };
    let mut total = Outcome::default();
    let mut all_went_well = true;
    for run in 0..args.repeat {
        // What an address stood for then is not said to one that does not.
        let over_http = matches!(
            plan.header.transport.as_deref(),
            Some("ws" | "wss" | "http" | "https")
        );
        let known = Known {
            framing: Some(plan.framing).filter(|_| !over_http),
            path: plan.path.clone(),
            fields: plan.fields.clone(),
            takes_token: (plan.protocol.descriptor().marks.generated.iter())
                .any(|m| m.fresh == Some(Fresh::Given)),
        };
        let config = args.callee.config(plan.protocol, known)?;
        let settings = Settings {
            peer_config: args.callee.peer_config(args.callee.seed(run))?,
            keep_ids: args.keep_ids,
            in_order: args.order == "recorded",
            speed: args.speed,
            timeout: args.callee.timeout(),
            linger: LINGER.min(args.callee.timeout()),
            keep_going: args.keep_going,
            ignore: ignore.clone(),
            limits,
        };
        let (exit, outcome) = play(args, shared, look, &plan, config, &settings)?;
        total.sent += outcome.sent;
        total.compared += outcome.compared;
        total.differ += outcome.differ;
        total.ignored += outcome.ignored;
        total.hangs |= outcome.hangs;
        all_went_well &= exit == Exit::Clean;
        let stops = exit != Exit::Clean && !(args.keep_going && exit == Exit::No);
        if stops || run + 1 == args.repeat {
            if !shared.quiet && exit != Exit::Trouble {
                sum_up(run + 1, &total);
            }
            return Ok(match exit {
                Exit::Clean if !all_went_well => Exit::No,
                exit => exit,
            });
        }
    }
    Ok(Exit::Clean)
}

/// Plays it once.
fn play<'p>(
    args: &Args,
    shared: &Shared,
    look: Look,
    plan: &'p Plan<'p>,
    config: ConnectionConfig<'p>,
    settings: &'p Settings,
) -> Result<(Exit, Outcome)> {
    let (protocol, quiet): (&dyn Protocol, bool) = (plan.protocol, shared.quiet);
    let observer = show::observer(protocol, look, quiet);
    let mut client = Client::replaying(plan, config, settings, observer);
    let ended = args.callee.play(protocol, &mut client, shared)?;
    let outcome = client.outcome().clone();
    let exit = match ended {
        Err(exit) => exit,
        Ok(ended) if all_taken(&ended) && outcome.is_clean() => Exit::Clean,
        Ok(_) => Exit::No,
    };
    Ok((exit, outcome))
}

/// `12 sent, 12 answers compared, 0 differ`.
fn sum_up(runs: u64, total: &Outcome) {
    let sessions = match runs {
        1 => String::new(),
        n => format!("{n} sessions: "),
    };
    let Outcome {
        sent,
        compared,
        differ,
        hangs,
        ..
    } = total;
    let answers = if *compared == 1 { "answer" } else { "answers" };
    let differ = if *differ == 1 {
        "1 differs".to_owned()
    } else {
        format!("{differ} differ")
    };
    let hangs = if *hangs { ", then nothing came" } else { "" };
    let ignored = super::config::settings().ignored_note(total.ignored);
    complain(&format!(
        "{sessions}{sent} sent, {compared} {answers} compared, {differ}{hangs}{ignored}"
    ));
}
