//! `wiretool export`: writes captures in the forms of other programs.

pub mod collector;
mod passing;

use super::call_address::CallAddress;
use super::input::{self, Flow, InputState, unless_failed};
use super::interrupt::Stop;
use super::options::{self, SharedArgs};
use super::output::CommandOutput;
use super::{Exit, print_message};
use super::{print_about, values};
use crate::conversation::{Conversation, Output, RuleSettings, Run, Sink};
use crate::encoding::Want;
use crate::export::sql::Engine;
use crate::export::{ExportOptions, FormName};
use anyhow::{Context as _, Result};
use passing::Passing;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool export -f mermaid session.jsonl      a sequence diagram, for a ticket or a document
  wiretool export -f html session.jsonl -o call.html  a page with each message, for a browser
  wiretool export -f mermaid --where 'index<60' FILE -o call.mmd  the first messages
  wiretool export -f mermaid --ops FILE         an arrow per operation instead of its messages
  wiretool export -f otlp session.jsonl -o traces.jsonl  spans of operations, for a trace viewer
  wiretool export -f otlp --otlp http://127.0.0.1:4318 session.jsonl  to a collector
  wiretool export -f pcapng session.jsonl -o session.pcapng  for Wireshark
  wiretool export -f har session.jsonl -o session.har  HTTP and WebSocket, for a browser
  wiretool export -f sql --engine clickhouse    a table for decode -f json --flat, and statements
  wiretool export -f mermaid --merge a.jsonl b.jsonl  several processes in one diagram";

const EXIT_CODES: &str = "\
Exit codes:
  0  the captures were written
  1  no protocol recognises the input, or no message matches --where
  2  usage, a file that cannot be read or written, or a capture that has no such form
  130, 143  interrupted, terminated; -o leaves its file unchanged";

/// Write diagrams, pages, traces, packets, HTTP archives and tables
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
    /// Output format: the form of another program
    #[arg(short, long, value_name = "FORMAT", value_parser = values::export_form(), help_heading = "Output")]
    format: FormName,
    /// The database, with -f sql
    #[arg(long, value_name = "ENGINE", value_parser = options::names(Engine::ALL.map(Engine::name)), default_value = Engine::DuckDb.name(), help_heading = "Output")]
    engine: String,
    /// With -f otlp: write arguments and results, too
    #[arg(long, help_heading = "Output")]
    content: bool,
    /// Show operations, instead of messages
    #[arg(long, help_heading = "Output")]
    ops: bool,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Send operations as spans, with -f otlp, to this collector
    #[arg(long, value_name = "URL", value_parser = collector::parse_collector, conflicts_with = "output", help_heading = "Output")]
    otlp: Option<CallAddress>,
    /// Do not mask tokens, capabilities and other secrets
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
}

pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    anyhow::ensure!(
        args.otlp.is_none() || args.format == FormName::Otlp,
        "--otlp sends spans: use it with -f otlp"
    );
    if args.format == FormName::Sql {
        return write_statements(args);
    }
    let protocols = args.wire.protocols()?;
    let input = &args.input;
    let mut run = InputState::new(shared, input.follow, Some(Stop::on_signals()?));
    run.sources = input::merged_sources(input)?;
    let filter = args.condition.filter();
    let options_of_form = ExportOptions {
        show_secrets: args.show_secrets,
        shows_content: args.content,
        operations: args.ops,
        is_selective: !filter.is_open(),
        is_live: false,
        sources: run.sources,
    };
    let form = args.format.start(options_of_form);
    let form = form.context("this form needs no capture")?;
    let options = args.wire.options(&protocols, form.want());
    let output = match &args.otlp {
        Some(to) => CommandOutput::collector(collector::open(to)?),
        None => CommandOutput::open(args.output.as_deref(), &input.paths())?,
    };
    let mut screen = ExportScreen {
        passing: Passing::new(form, filter),
        rules: args.judging.rules()?,
        output,
        quiet: shared.quiet,
    };
    input::read(input, &options, &mut run, &mut screen)?;
    let passing = &mut screen.passing;
    if run.cut_short().is_none() {
        let left_out = passing.form.left_out();
        for note in left_out.iter().filter(|_| !shared.quiet) {
            print_message(note);
        }
        let finished = passing.form.finish(screen.output.buffer());
        finished.map_err(anyhow::Error::msg)?;
    }
    let none = passing.matched == 0 && run.messages > 0;
    if let Some(exit) = run.finish(screen.output, "export")? {
        return Ok(exit);
    }
    if none {
        run.note_no_match(passing.unmatched.describe());
    }
    Ok(Exit::negative_if(run.is_bad || none))
}

/// Writes the statements of a database. They are the same for all captures.
fn write_statements(args: &Args) -> Result<Exit> {
    anyhow::ensure!(
        args.input.paths().is_empty(),
        "-f sql reads no FILE: it prints a table for the rows of wiretool decode -f json --flat FILE"
    );
    let engine = Engine::from_name(&args.engine).context("no engine has this name")?;
    let mut output = CommandOutput::open(args.output.as_deref(), &[])?;
    output.push(engine.statements());
    output.finish()?;
    Ok(Exit::Clean)
}

/// Writes what the form makes of a capture.
struct ExportScreen {
    passing: Passing,
    rules: RuleSettings,
    output: CommandOutput,
    quiet: bool,
}

impl ExportScreen {
    /// Says how many operations are left out.
    fn report_untracked(&self, run: &Run<'_>) {
        let untracked = run
            .conversation()
            .map_or(0, Conversation::untracked_operations);
        if untracked > 0 && !self.quiet {
            let text = "operations are left out: too many were open";
            print_about(&run.source().name, &format!("{untracked} {text}"));
        }
    }

    fn output(&mut self, output: Output<'_>) -> Result<()> {
        self.passing.take(output, self.output.buffer());
        match output {
            Output::End(run, _) => self.report_untracked(run),
            Output::Pause(..) => return self.output.flush(),
            _ => {}
        }
        self.output.written()
    }
}

impl Sink for ExportScreen {
    type Break = Result<()>;

    fn want(&self) -> Option<Want> {
        Some(self.passing.form.want())
    }

    fn rules(&self) -> Option<RuleSettings> {
        let Passing { form, filter, .. } = &self.passing;
        Some(RuleSettings {
            operations: form.needs_operations() || filter.needs_operations(),
            ..self.rules.clone()
        })
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        unless_failed(self.output(output))
    }
}
