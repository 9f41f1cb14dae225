//! `wiretool lint`: checks the rules of the protocol, and lists the requests without an answer.

mod reporter;
pub mod rules;
mod source;

use super::input::{self, Flow, InputState, SinkOfOne, unless_failed};
use super::interrupt::Stop;
use super::options::{self, SharedArgs};
use super::output::CommandOutput;
use super::report::{self, ReportKind, ReportWriter};
use super::unmatched::Unmatched;
use super::{Exit, print_about, print_message};
use crate::capture::{EventKind, Item};
use crate::conversation::{Finding, Output, RuleSettings, Run, Sink};
use crate::encoding::Want;
use crate::protocol::session::{Severity, WaitingList};
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
    /// Write a report for CI services (junit, tap, github), code review tools (sarif) or browsers (html)
    #[arg(
        long,
        value_parser = report::kinds(true),
        value_name = "KIND",
        help_heading = "Output",
        conflicts_with = "format"
    )]
    report: Option<ReportKind>,
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
    let rules = args.judging.rules()?;
    let input = &args.input;
    let mut output = CommandOutput::open(args.output.as_deref(), &input.paths())?;
    let as_json = args.format.is_json();
    output.is_json = as_json || args.report.is_some_and(|kind| kind != ReportKind::Html);
    if args.rules {
        return rules::write_rules(&args.wire, &rules.judge, as_json, display, output);
    }
    if let Some(name) = &args.explain {
        return rules::explain(name, &rules.judge, as_json, display, output);
    }
    let protocols = args.wire.protocols()?;
    let options = args.wire.options(&protocols, Want::Places);
    let mut run = InputState::new(shared, input.follow, Some(Stop::on_signals()?));
    run.sources = input::merged_sources(input)?;
    run.stall = args.stall;
    run.counts_each_source = true;
    run.findings_explain = true;
    let stop = run.stop.clone();
    let make =
        |output| LintScreen::new(args, shared, rules.clone(), display, output, stop.as_ref());
    let mut screen = make(output);
    // A report is one text, and the note that no message matches is about all inputs together.
    let is_apart =
        args.report.is_none() && args.stall.is_none() && screen.reporter.filter.is_open();
    if is_apart {
        input::read_apart(&args.input, &options, &mut run, &mut screen, &make)?;
    } else {
        input::read(&args.input, &options, &mut run, &mut screen)?;
    }
    screen.finish(&run)
}

struct LintScreen {
    rules: RuleSettings,
    reporter: FindingWriter,
    /// The requests without an answer at the end of the source.
    waiting: WaitingList,
    /// The names of the inputs without traffic, and a sentence for each.
    empty: Vec<(String, &'static str)>,
    stop: Option<Stop>,
    verbose: bool,
    /// The report is a page: its messages name their operations.
    has_page: bool,
}

impl LintScreen {
    fn new(
        args: &Args,
        shared: &SharedArgs,
        rules: RuleSettings,
        display: DisplayOptions,
        output: CommandOutput,
        stop: Option<&Stop>,
    ) -> Self {
        let filter = args.condition.filter_of_calls();
        let report = |kind| ReportWriter::new(kind, "wiretool lint", display);
        Self {
            rules,
            reporter: FindingWriter {
                unmatched: Unmatched::new(&filter),
                filter,
                scratch: Vec::new(),
                quiet: shared.quiet,
                json: args.format.is_json(),
                most: args.most,
                display,
                output,
                report: args.report.map(report),
                fail_on: Severity::from_name(&args.fail_on),
                source: SourceSummary::default(),
                worst: Severity::Off,
                matched: 0,
            },
            waiting: WaitingList::default(),
            empty: Vec::new(),
            stop: stop.cloned(),
            verbose: shared.verbose,
            has_page: args.report == Some(ReportKind::Html),
        }
    }

    fn finish(mut self, run: &InputState) -> Result<Exit> {
        if let Some(report) = self.reporter.report.take() {
            let left_out = report.left_out();
            for note in left_out.iter().filter(|_| !self.reporter.quiet) {
                print_message(note);
            }
            self.reporter.write_text(&report.text()?);
        }
        let reporter = self.reporter;
        let is_empty = run.bytes == 0 && run.messages == 0;
        if let Some(exit) = run.finish(reporter.output, "check")? {
            return Ok(exit);
        }
        for (name, text) in self.empty.iter().filter(|_| !is_empty && !reporter.quiet) {
            print_about(name, text);
        }
        // Nothing was checked, so nothing is right.
        if !self.empty.is_empty() {
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
    fn output(&mut self, output: Output<'_>) -> Result<()> {
        match output {
            Output::Begin(run) => self.reporter.begin(run),
            Output::Item(item, _) => self.item(item),
            Output::Message(decoded, verdict) => {
                self.reporter.source.count(decoded);
                self.reporter
                    .add_message(decoded, verdict.unwrap_or_default())?;
            }
            Output::Event(event, verdict) => {
                let source = &mut self.reporter.source;
                source.now = event.origin().time.or(source.now);
                self.reporter.add(verdict.findings)?;
            }
            Output::Pause(run, silent) => self.pause(run, silent)?,
            Output::BeforeEnd(run) => self.wait(run),
            Output::End(run, findings) => self.end(run, findings)?,
            Output::Note(_) => {}
        }
        Ok(())
    }

    fn item(&mut self, item: &Item<'_>) {
        let source = &mut self.reporter.source;
        match item {
            Item::Header(_) => source.recording = true,
            Item::Chunk(chunk) => {
                source.has_traffic |= !chunk.bytes.is_empty();
                source.add_chunk(chunk);
            }
            Item::Event(event) => {
                source.has_traffic |= matches!(event.what, EventKind::Datagram(_));
            }
            _ => {}
        }
    }

    fn idle(&mut self) -> Result<()> {
        self.reporter.flush()?;
        self.reporter.output.flush()
    }

    /// Handles a time without input.
    fn pause(&mut self, run: &Run<'_>, silent: Duration) -> Result<()> {
        match run.conversation() {
            Some(conversation) if !silent.is_zero() => {
                let partials = run.decoder().partials();
                self.reporter.stalled(conversation, &partials, silent)
            }
            _ => self.idle(),
        }
    }

    /// Stores the messages that are awaited at the end of the input.
    fn wait(&mut self, run: &Run<'_>) {
        // After an interruption, nothing is awaited.
        let stopped = self.stop.as_ref().is_some_and(Stop::is_set);
        let conversation = run.conversation().filter(|_| !run.is_unrecognised());
        let reporter = &mut self.reporter;
        self.waiting =
            conversation.map_or(WaitingList::default(), |one| reporter.waiting(one, stopped));
    }

    fn end(&mut self, run: &Run<'_>, findings: &[Finding]) -> Result<()> {
        let source = &self.reporter.source;
        let text = if run.bytes() == 0 {
            Some("empty input: there is nothing to check")
        } else {
            // The reason was printed.
            let has_none = source.recording && !source.has_traffic;
            let has_none = has_none && findings.is_empty() && self.waiting.count == 0;
            has_none.then_some("there is nothing to check")
        };
        self.empty
            .extend(text.map(|text| (source.name.clone(), text)));
        // Empty inputs are noted at the end.
        let is_empty = text.is_some() && !self.reporter.json;
        let is_unknown = run.is_unrecognised() && findings.is_empty();
        let conversation = run.conversation().filter(|_| !is_empty && !is_unknown);
        let Some(conversation) = conversation else {
            return self.reporter.flush();
        };
        self.reporter.add(findings)?;
        self.reporter
            .write_summary(conversation, &self.waiting, self.verbose)
    }
}

impl SinkOfOne for LintScreen {
    fn output(&mut self) -> &mut CommandOutput {
        &mut self.reporter.output
    }

    fn add(&mut self, one: Self) {
        self.reporter.worst = self.reporter.worst.max(one.reporter.worst);
        self.reporter.matched += one.reporter.matched;
        self.empty.extend(one.empty);
    }
}

impl Sink for LintScreen {
    type Break = Result<()>;

    fn rules(&self) -> Option<RuleSettings> {
        Some(RuleSettings {
            operations: self.reporter.filter.needs_operations() || self.has_page,
            ..self.rules.clone()
        })
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        unless_failed(self.output(output))
    }
}
