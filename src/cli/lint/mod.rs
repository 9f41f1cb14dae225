//! `wiretool lint`: checks the rules of the protocol, and lists the requests without an answer.

pub mod lines;
mod reporter;
mod rules;
mod source;

use super::Exit;
use super::input::{self, FrameDisplay, InputRun, no_protocol};
use super::interrupt::Stop;
use super::options::{self, SharedArgs};
use super::output::Output;
use super::report::ReportArgs;
use super::unmatched::Unmatched;
use crate::capture::recording::Header;
use crate::capture::{Event, Item};
use crate::conversation::pipeline::Pipeline;
use crate::conversation::{Finding, Judge, Verdict};
use crate::decoder::Decoded;
use crate::encoding::Want;
use crate::protocol::Direction;
use crate::protocol::session::{SessionConfig, Severity};
use crate::render::DisplayOptions;
use anyhow::Result;
use reporter::FindingWriter;
use source::SourceSummary;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  wiretool lint session.jsonl                  findings, unanswered requests
  wiretool lint -p oracle --c2s in --s2c out   two one-way files
  wiretool lint --fail-on warning FILE         for CI: exit 1 on warnings, too
  wiretool lint --allow 'sael/token-*' FILE    turn some rules off
  wiretool lint --explain saikuro/seq-gap      one rule, with an example
  wiretool lint --rules -p saikuro             all rules of a protocol
  wiretool lint --dialect document FILE        only rules of the document
  wiretool lint --report github FILE           annotations of GitHub Actions";

const EXIT_CODES: &str = "\
Exit codes:
  0  no finding of the severity of --fail-on or worse
  1  such a finding, or no message matches --where
  2  usage, an input without bytes, or a file that cannot be read or written
  130, 143  interrupted, terminated; -o leaves its file unchanged";

/// The default maximum number of findings of one rule in the text; the rest are counted.
const DEFAULT_MOST: u64 = 20;

/// Check the rules of the protocol; find unanswered requests
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    input: options::InputArgs,
    #[command(flatten)]
    wire: options::WireArgs,
    #[command(flatten)]
    condition: options::WhereArgs,
    #[command(flatten)]
    judging: options::RuleArgs,
    /// Exit 1 on a finding of this severity or worse
    #[arg(long, value_name = "SEVERITY", default_value = options::default_of("fail-on"), value_parser = options::words("fail-on"), help_heading = "Rules")]
    fail_on: String,
    /// Print all rules and exit
    #[arg(long, help_heading = "Rules", conflicts_with_all = ["explain", "files", "report"])]
    rules: bool,
    /// Explain this rule with an example, and exit
    #[arg(
        long,
        value_name = "RULE",
        help_heading = "Rules",
        conflicts_with_all = ["files", "report"]
    )]
    explain: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = options::text_or_json("One line per finding", "One JSON object per finding, and one with the totals of each input"), help_heading = "Output")]
    format: options::OutputFormat,
    #[command(flatten)]
    report: ReportArgs,
    /// After this time without input, list the requests without an answer: 5s, 500ms
    #[arg(long, value_name = "TIME", value_parser = options::parse_duration, help_heading = "Input")]
    stall: Option<Duration>,
    /// Show at most N findings of each rule as text; 0: all
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MOST, help_heading = "Output")]
    most: u64,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    let judge = args.judging.judge()?;
    let input = &args.input;
    let mut output = Output::open(args.output.as_deref(), &input.paths())?;
    let as_json = args.format.is_json();
    output.is_json = as_json || args.report.report.is_some();
    if args.rules {
        return rules::write_rules(&args.wire, &judge, as_json, display, output);
    }
    if let Some(name) = &args.explain {
        return rules::explain(name, &judge, as_json, display, output);
    }
    let protocols = args.wire.protocols()?;
    let options = args.wire.options(&protocols, Want::Places);
    let session_config = args.judging.session_config()?;
    let filter = args.condition.filter();
    let mut screen = LintScreen {
        judge,
        session_config,
        reporter: FindingWriter {
            unmatched: Unmatched::new(&filter),
            filter,
            scratch: Vec::new(),
            quiet: shared.quiet,
            json: as_json,
            most: args.most,
            display,
            output,
            report: args.report.new_report("wiretool lint"),
            fail_on: Severity::from_name(&args.fail_on),
            source: SourceSummary::default(),
            worst: Severity::Off,
            matched: 0,
        },
        stall: args.stall,
        run: InputRun::new(shared, input.follow, Some(Stop::on_signals()?)),
    };
    input::read(&args.input, &options, &mut screen)?;
    screen.finish()
}

struct LintScreen {
    judge: Judge,
    session_config: SessionConfig,
    reporter: FindingWriter,
    stall: Option<Duration>,
    run: InputRun,
}

impl LintScreen {
    fn finish(mut self) -> Result<Exit> {
        if let Some(report) = self.reporter.report.take() {
            self.reporter.write_text(&report.text()?);
        }
        let (reporter, run) = (self.reporter, self.run);
        let is_empty = run.bytes == 0 && run.messages == 0;
        if let Some(exit) = run.finish(reporter.output, "check")? {
            return Ok(exit);
        }
        // Nothing was checked, so nothing is right.
        if is_empty {
            return Ok(Exit::Error);
        }
        let none = !reporter.filter.is_open() && reporter.matched == 0 && run.messages > 0;
        if none {
            run.note_no_match(reporter.unmatched.describe());
        }
        let found = reporter
            .fail_on
            .is_some_and(|least| reporter.worst >= least);
        Ok(Exit::negative_if(found || none || run.is_bad))
    }
}

impl FrameDisplay for LintScreen {
    fn frame(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        self.reporter.source.count(decoded);
        self.reporter
            .add_message(decoded, verdict.unwrap_or_default())
    }

    fn run(&mut self) -> &mut InputRun {
        &mut self.run
    }

    fn rules_to_check(&self) -> Option<(Judge, SessionConfig)> {
        Some((self.judge.clone(), self.session_config.clone()))
    }

    fn header(&mut self, _: &Header) {
        self.reporter.source.recording = true;
    }

    fn item(&mut self, item: &Item<'_>, direction: Option<Direction>) -> Result<()> {
        if let Item::Chunk(chunk) = item {
            self.reporter.source.add_chunk(chunk, direction);
        }
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>, findings: &[Finding]) -> Result<()> {
        let source = &mut self.reporter.source;
        source.now = event.origin().time.or(source.now);
        self.reporter.add(findings)
    }

    fn pair(&mut self, files: [&str; 2]) {
        self.reporter.source.pair(files);
    }

    fn counts_each_source(&self) -> bool {
        true
    }

    fn idle(&mut self) -> Result<()> {
        self.reporter.flush()?;
        self.reporter.output.flush()
    }

    fn begin(&mut self, source: &str) {
        self.reporter.source = SourceSummary::new(source);
    }

    fn end(&mut self, source: &str, bytes: u64, pipeline: &mut Pipeline<'_>) -> Result<()> {
        let decoder = &pipeline.decoder;
        let Some(conversation) = &mut pipeline.conversation else {
            return self.reporter.flush();
        };
        let unknown = decoder.protocol().is_none() && bytes > 0;
        if unknown {
            let found = conversation.unrecognised(decoder).findings;
            self.reporter.add(found)?;
            let found = !found.is_empty();
            let rest = conversation.finish().findings;
            self.reporter.add(rest)?;
            if found || !rest.is_empty() {
                return self
                    .reporter
                    .write_summary(conversation, &[], self.run.verbose);
            }
            self.run.note(source, &no_protocol(decoder), true);
            return self.reporter.flush();
        }
        // An empty input is noted once, for all inputs.
        if bytes == 0 && !self.reporter.json {
            return self.reporter.flush();
        }
        // After an interruption, nothing is awaited.
        let stopped = self.run.exit().is_some();
        let waiting = self.reporter.waiting(conversation, stopped);
        self.reporter.add(conversation.finish().findings)?;
        self.reporter
            .write_summary(conversation, &waiting, self.run.verbose)
    }

    fn stall(&self) -> Option<Duration> {
        self.stall
    }

    fn stalled(&mut self, pipeline: &Pipeline<'_>, silent: Duration) -> Result<()> {
        let Some(conversation) = &pipeline.conversation else {
            return Ok(());
        };
        self.reporter
            .stalled(conversation, &pipeline.decoder.partials(), silent)
    }
}
