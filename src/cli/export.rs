//! `wiretool export`: writes captures in the forms of other programs.

use super::input::{self, Flow, InputRun, unless_failed};
use super::interrupt::Stop;
use super::options::{self, SharedArgs};
use super::output::Output as TextOutput;
use super::unmatched::Unmatched;
use super::{Exit, print_message};
use super::{print_about, values};
use crate::capture::Item;
use crate::conversation::{
    Conversation, Finding, Operation, Output, RuleSettings, Run, Sink, Verdict,
};
use crate::decoder::Decoded;
use crate::encoding::Want;
use crate::export::sql::Engine;
use crate::export::{ExportOptions, Form, FormName};
use crate::select::Filter;
use anyhow::{Context as _, Result};
use std::collections::BTreeSet;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool export -f mermaid session.jsonl      a sequence diagram, for a ticket or a document
  wiretool export -f html session.jsonl -o call.html  a page with each message, for a browser
  wiretool export -f mermaid --where 'index<60' FILE -o call.mmd  the first messages
  wiretool export -f mermaid --ops FILE         an arrow per operation instead of its messages
  wiretool export -f otlp session.jsonl -o traces.jsonl  spans of operations, for a trace viewer
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
    /// Do not mask tokens, capabilities and other secrets
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
}

pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    if args.format == FormName::Sql {
        return write_statements(args);
    }
    let protocols = args.wire.protocols()?;
    let input = &args.input;
    let mut run = InputRun::new(shared, input.follow, Some(Stop::on_signals()?));
    run.sources = input::merged_sources(input)?;
    let filter = args.condition.filter();
    let options_of_form = ExportOptions {
        show_secrets: args.show_secrets,
        shows_content: args.content,
        operations: args.ops,
        is_selective: !filter.is_open(),
        sources: run.sources,
    };
    let form = args.format.start(options_of_form);
    let form = form.context("this form needs no capture")?;
    let options = args.wire.options(&protocols, form.want());
    let mut screen = ExportScreen {
        rules: args.judging.rules()?,
        form,
        unmatched: Unmatched::new(&filter),
        filter,
        scratch: Vec::new(),
        recording: false,
        selected: BTreeSet::new(),
        last: 0,
        matched: 0,
        output: TextOutput::open(args.output.as_deref(), &input.paths())?,
        quiet: shared.quiet,
    };
    input::read(input, &options, &mut run, &mut screen)?;
    if run.cut_short().is_none() {
        let left_out = screen.form.left_out();
        for note in left_out.iter().filter(|_| !shared.quiet) {
            print_message(note);
        }
        let finished = screen.form.finish(screen.output.buffer());
        finished.map_err(anyhow::Error::msg)?;
    }
    if let Some(exit) = run.finish(screen.output, "export")? {
        return Ok(exit);
    }
    let none = screen.matched == 0 && run.messages > 0;
    if none {
        run.note_no_match(screen.unmatched.describe());
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
    let mut output = TextOutput::open(args.output.as_deref(), &[])?;
    output.push(engine.statements());
    output.finish()?;
    Ok(Exit::Clean)
}

/// Passes what is selected to the form.
struct ExportScreen {
    form: Box<dyn Form>,
    rules: RuleSettings,
    filter: Filter,
    unmatched: Unmatched,
    scratch: Vec<u8>,
    /// The capture is a recording, which has both directions.
    recording: bool,
    /// The operations that have a message that matches, and have not ended.
    selected: BTreeSet<u64>,
    /// The index of the last message.
    last: u64,
    /// The number of messages that match.
    matched: u64,
    output: TextOutput,
    quiet: bool,
}

impl ExportScreen {
    fn begin(&mut self, run: &Run<'_>) {
        self.selected.clear();
        self.recording = false;
        self.form.begin(run, self.output.buffer());
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        self.last = decoded.index;
        let scratch = &mut self.scratch;
        if self.filter.matches(decoded, Some(verdict), scratch) {
            self.matched += 1;
            let of = verdict.operation.filter(|of| !of.is_late);
            self.selected.extend(of.map(|of| of.index));
            self.form.message(decoded, verdict, self.output.buffer());
        } else {
            self.form.skip(decoded, verdict, self.output.buffer());
            if self.matched == 0 {
                self.unmatched.add(decoded);
            }
        }
        self.operations(verdict.ended);
    }

    /// Passes on the operations that end.
    fn operations(&mut self, ended: &[Operation]) {
        for operation in ended {
            if self.selected.remove(&operation.index) {
                let out = self.output.buffer();
                self.form.operation(operation, self.last, out);
            } else {
                self.form.skip_operation(operation);
            }
        }
    }

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
        match output {
            Output::Begin(run) => self.begin(run),
            Output::Item(item, origin) => {
                self.recording |= matches!(item, Item::Header(_));
                self.form.item(item, origin, self.output.buffer());
            }
            Output::Message(decoded, verdict) => {
                self.message(decoded, verdict.unwrap_or_default());
            }
            Output::Event(_, verdict) => {
                self.findings(verdict.findings);
                self.operations(verdict.ended);
            }
            Output::BeforeEnd(run) => {
                if let Some(conversation) = run.conversation() {
                    self.form.wait(conversation, self.recording);
                }
            }
            Output::End(run, findings) => {
                let conversation = run.conversation();
                self.findings(findings);
                self.operations(conversation.map_or(&[], |one| one.ended_operations()));
                self.form.end(run, self.output.buffer());
                self.report_untracked(run);
            }
            Output::Pause(..) => return self.output.flush(),
            Output::Note(_) => {}
        }
        self.output.written()
    }

    /// Passes on findings that belong to no message, as lint reports them.
    fn findings(&mut self, findings: &[Finding]) {
        if self.filter.is_open() {
            self.form.findings(findings, self.output.buffer());
        }
    }
}

impl Sink for ExportScreen {
    type Break = Result<()>;

    fn want(&self) -> Option<Want> {
        Some(self.form.want())
    }

    fn rules(&self) -> Option<RuleSettings> {
        Some(RuleSettings {
            operations: self.form.needs_operations() || self.filter.needs_operations(),
            ..self.rules.clone()
        })
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        unless_failed(self.output(output))
    }
}
