//! `wiretool lint`: was what was said allowed, and who owes the next message?

mod rules;
mod sarif;
mod source;
mod teller;

use super::input::{self, Show};
use super::interrupt::Stop;
use super::options::{self, Shared};
use super::output::Output;
use super::{Exit, complain, complain_of};
use crate::capture::Event;
use crate::capture::recording::Header;
use crate::conversation::pipeline::Pipeline;
use crate::conversation::{Finding, Judge, Verdict};
use crate::decoder::Decoded;
use crate::encoding::Want;
use crate::protocol::session::{SessionConfig, Severity};
use crate::render::Look;
use anyhow::Result;
use clap::ValueEnum;
use sarif::Sarif;
use source::Source;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use teller::Teller;

const EXAMPLES: &str = "\
Examples:
  wiretool lint session.jsonl                    what is wrong, and who owes the next message
  wiretool lint -p oracle --c2s in --s2c out     two one-way files
  wiretool lint --fail-on warning FILE           for CI: exit 1 on a warning, too
  wiretool lint --dialect document FILE          by the document alone
  wiretool lint --allow 'sael/token-*' FILE      some rules do not matter here
  wiretool lint --report sarif -o lint.sarif FILE
  wiretool lint --rules -p saikuro               what is looked for
  wiretool lint --explain saikuro/seq-gap        one rule, with an example that breaks it";

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing as bad as --fail-on was found
  1  something was, or no message matches --where
  2  usage, or a file that cannot be read or written
  130  interrupted (143: by SIGTERM); what was found by then is told, but replaces no file that -o names";

/// Findings of one rule that are told in text; the rest is counted.
const TOLD: u64 = 20;

/// Check conversations: is it allowed, what is unanswered, who is stuck
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    input: options::Input,
    #[command(flatten)]
    wire: options::Wire,
    #[command(flatten)]
    condition: options::Where,
    #[command(flatten)]
    judging: options::Judging,
    /// Exit 1 where something this bad is found
    #[arg(long, value_name = "SEVERITY", default_value = "error", value_parser = options::names(["info", "warning", "error", "never"]), help_heading = "Rules")]
    fail_on: String,
    /// Print the table of rules and stop
    #[arg(long, help_heading = "Rules", conflicts_with_all = ["explain", "files", "report"])]
    rules: bool,
    /// Say what a rule is about, with an example that breaks it, and stop
    #[arg(
        long,
        value_name = "RULE",
        help_heading = "Rules",
        conflicts_with_all = ["files", "report"]
    )]
    explain: Option<String>,
    /// How findings are shown
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = "Output")]
    format: Format,
    /// Write a report for code review tools instead
    #[arg(
        long,
        value_enum,
        value_name = "KIND",
        help_heading = "Output",
        conflicts_with = "format"
    )]
    report: Option<Report>,
    /// Say who owes the next message whenever nothing came for so long: 5s, 500ms
    #[arg(long, value_name = "TIME", value_parser = options::duration, help_heading = "Input")]
    stall: Option<Duration>,
    /// Findings of one rule that are shown as text; 0 for all
    #[arg(long, value_name = "N", default_value_t = TOLD, help_heading = "Output")]
    most: u64,
    /// Write here, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
enum Format {
    /// A line a finding
    Text,
    /// A JSON object a finding, and last one that sums up each input
    Json,
}

#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
enum Report {
    /// SARIF 2.1.0
    Sarif,
}

pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    let judge = args.judging.judge()?;
    let input = &args.input;
    let inputs: Vec<PathBuf> = [&input.files, &input.c2s, &input.s2c]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let mut output = Output::open(args.output.as_deref(), &inputs)?;
    let as_json = args.format == Format::Json;
    output.is_json = as_json || args.report.is_some();
    if args.rules {
        return rules::table(&args.wire, &judge, as_json, look, output);
    }
    if let Some(name) = &args.explain {
        return rules::explain(name, &judge, as_json, look, output);
    }
    let protocols = args.wire.protocols()?;
    let options = args.wire.options(&protocols, Want::Places);
    let session_config = args.judging.session_config()?;
    let mut screen = Screen {
        judge,
        session_config,
        teller: Teller {
            filter: args.condition.filter(),
            scratch: Vec::new(),
            quiet: shared.quiet,
            json: as_json,
            most: args.most,
            look,
            output,
            sarif: args.report.map(|Report::Sarif| Sarif::default()),
            source: Source::default(),
            worst: Severity::Off,
            matched: 0,
        },
        verbose: shared.verbose,
        stall: args.stall,
        stop: Stop::on_signals()?,
        follows: input.follow,
        bad_input: false,
        bytes: 0,
        messages: 0,
    };
    input::read(&args.input, &options, &mut screen)?;
    screen.finish(Severity::from_name(&args.fail_on))
}

struct Screen {
    judge: Judge,
    session_config: SessionConfig,
    teller: Teller,
    verbose: bool,
    stall: Option<Duration>,
    stop: Stop,
    /// The input has no end but an interruption.
    follows: bool,
    bad_input: bool,
    bytes: u64,
    messages: u64,
}

impl Screen {
    fn finish(mut self, fail_on: Option<Severity>) -> Result<Exit> {
        if let Some(sarif) = self.teller.sarif.take() {
            let report = serde_json::to_string_pretty(&sarif.report())?;
            self.teller.put(&report);
            self.teller.put("\n");
        }
        let teller = self.teller;
        if let Some(exit) = self.stop.exit().filter(|_| !self.follows) {
            teller.output.interrupted()?;
            return Ok(exit);
        }
        teller.output.finish()?;
        if self.bytes == 0 && !teller.quiet {
            complain("empty input: there is nothing to check");
        }
        if let Some(exit) = self.stop.exit() {
            return Ok(exit);
        }
        let none = !teller.filter.is_open() && teller.matched == 0 && self.messages > 0;
        if none && !teller.quiet {
            complain(&format!("none of {} messages matches", self.messages));
        }
        let found = fail_on.is_some_and(|least| teller.worst >= least);
        Ok(if found || none || self.bad_input {
            Exit::No
        } else {
            Exit::Clean
        })
    }
}

impl Show for Screen {
    fn frame(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        self.teller.source.count(decoded);
        self.messages += 1;
        self.teller.see(decoded, verdict.unwrap_or_default())
    }

    fn judged(&self) -> Option<(Judge, SessionConfig)> {
        Some((self.judge.clone(), self.session_config.clone()))
    }

    fn header(&mut self, _: &Header) {
        self.teller.source.recording = true;
    }

    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<()> {
        let source = &mut self.teller.source;
        source.now = event
            .time
            .and_then(|t| i64::try_from(t).ok())
            .or(source.now);
        self.teller.tell(findings)
    }

    fn pair(&mut self, files: [&str; 2]) {
        self.teller.source.pair(files);
    }

    fn each_from_zero(&self) -> bool {
        true
    }

    fn idle(&mut self) -> Result<()> {
        self.teller.release()?;
        self.teller.output.flush()
    }

    fn note(&mut self, source: &str, text: &str, bad: bool) {
        self.bad_input |= bad;
        if bad || !self.teller.quiet {
            complain_of(source, text);
        }
    }

    fn detail(&mut self, source: &str, text: &str) {
        if self.verbose {
            complain_of(source, text);
        }
    }

    fn begin(&mut self, source: &str) {
        self.teller.source = Source::named(source);
    }

    fn end(&mut self, source: &str, bytes: u64, pipeline: &mut Pipeline<'_>) -> Result<()> {
        self.bytes += bytes;
        self.teller.release()?;
        let decoder = &pipeline.decoder;
        input::tell_guess(source, decoder, self);
        let Some(conversation) = &mut pipeline.conversation else {
            return Ok(());
        };
        let unknown = decoder.protocol().is_none() && bytes > 0;
        if unknown {
            let found = conversation.unrecognised(decoder).findings;
            self.teller.tell(found)?;
            let found = !found.is_empty();
            let rest = conversation.finish().findings;
            self.teller.tell(rest)?;
            if found || !rest.is_empty() {
                return self.teller.sum_up(conversation, &[], self.verbose);
            }
            self.note(
                source,
                "no protocol recognises these bytes: name it with -p",
                true,
            );
            return Ok(());
        }
        // That there is nothing is said once, for all inputs.
        if bytes == 0 && !self.teller.json {
            return Ok(());
        }
        // Once it is over, nobody waits.
        let stopped = self.stop.exit().is_some();
        let waiting = self.teller.waiting(conversation, stopped);
        self.teller.tell(conversation.finish().findings)?;
        self.teller.sum_up(conversation, &waiting, self.verbose)
    }

    fn stall(&self) -> Option<Duration> {
        self.stall
    }

    fn stalled(&mut self, pipeline: &Pipeline<'_>, silent: Duration) -> Result<()> {
        let Some(conversation) = &pipeline.conversation else {
            return Ok(());
        };
        self.teller
            .stalled(conversation, &pipeline.decoder.halves(), silent)
    }

    fn stop(&self) -> Option<Arc<AtomicBool>> {
        Some(self.stop.flag())
    }

    fn want(&self) -> Want {
        Want::Places
    }

    fn progress(&self) -> bool {
        !self.teller.quiet
    }

    fn is_done(&self) -> bool {
        false
    }
}
