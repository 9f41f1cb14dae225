//! `wiretool stat`: counts messages, bytes and latencies.

mod show;

use super::Exit;
use super::input::{self, Flow, InputState, unless_failed};
use super::interrupt::Stop;
use super::options::{self, SharedArgs};
use super::output::CommandOutput;
use super::unmatched::Unmatched;
use crate::capture::Item;
use crate::conversation::{
    Conversation, Operation, Output, ProtocolConversation, RuleSettings, Run, Sink, Verdict,
};
use crate::decoder::Decoded;
use crate::encoding::Want;
use crate::render::DisplayOptions;
use crate::render::operation::about;
use crate::select::Filter;
use crate::stat::Stat;
use anyhow::Result;
pub use show::write_tables;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  wiretool stat session.jsonl               counts, latencies, slowest calls
  wiretool stat -p sael --c2s a --s2c b     these have no times: only counts
  wiretool stat --ops session.jsonl         operations: durations, and who made them wait
  wiretool stat --cost session.jsonl        bytes, and what MessagePack or compression would save
  wiretool stat --ops --merge a.jsonl b.jsonl  the same over several processes
  wiretool stat -f json session.jsonl | jq .latencies";

const EXIT_CODES: &str = "\
Exit codes:
  0  the messages were counted
  1  no protocol recognises the input, or no message matches --where
  2  usage, or a file that cannot be read or written
  130, 143  interrupted, terminated; -o leaves its file unchanged";

/// Count messages, bytes, latencies, errors and streams
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    input: options::InputArgs,
    #[command(flatten)]
    wire: options::WireArgs,
    #[command(flatten)]
    condition: options::WhereArgs,
    /// Show operations: durations by subject, and who made them wait
    #[arg(long, help_heading = "Output")]
    ops: bool,
    /// Show bytes by subject, stated costs, definitions, and what other forms would save
    #[arg(long, conflicts_with = "ops", help_heading = "Output")]
    cost: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = options::text_or_json("Tables", "One JSON object per input"), help_heading = "Output")]
    format: options::OutputFormat,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    let protocols = args.wire.protocols()?;
    let options = args.wire.options(&protocols, Want::Places);
    let input = &args.input;
    let mut run = InputState::new(shared, input.follow, Some(Stop::on_signals()?));
    run.sources = input::merged_sources(input)?;
    let filter = args.condition.filter_of_calls();
    let mut screen = StatScreen {
        stats: Vec::new(),
        unmatched: Unmatched::new(&filter),
        filter,
        scratch: Vec::new(),
        recording: false,
        json: args.format.is_json(),
        display,
        output: CommandOutput::open(args.output.as_deref(), &input.paths())?,
        unanswered: BTreeMap::new(),
        counted: 0,
        shows_operations: args.ops,
        shows_cost: args.cost,
        selected: BTreeSet::new(),
    };
    screen.output.is_json = screen.json;
    input::read(&args.input, &options, &mut run, &mut screen)?;
    if let Some(exit) = run.finish(screen.output, "count")? {
        return Ok(exit);
    }
    let none = screen.counted == 0 && run.messages > 0;
    if none {
        run.note_no_match(screen.unmatched.describe());
    }
    Ok(Exit::negative_if(run.is_bad || none))
}

#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
struct StatScreen {
    /// One for each protocol, in the order of their first message.
    stats: Vec<(String, Stat)>,
    filter: Filter,
    unmatched: Unmatched,
    scratch: Vec<u8>,
    recording: bool,
    json: bool,
    display: DisplayOptions,
    output: CommandOutput,
    /// The number of requests without an answer at the end of the source, by protocol.
    unanswered: BTreeMap<String, u64>,
    /// The number of messages that match.
    counted: u64,
    /// Operations are counted.
    shows_operations: bool,
    /// Costs are measured.
    shows_cost: bool,
    /// The operations that have a message that matches, and have not ended.
    selected: BTreeSet<u64>,
}

impl StatScreen {
    /// Returns the statistics of a protocol.
    fn stat(&mut self, name: &str) -> &mut Stat {
        let place = self
            .stats
            .iter()
            .position(|(of, _)| of.is_empty() || *of == name);
        let place = place.unwrap_or_else(|| {
            let others = self.stats.iter_mut();
            others.for_each(|(_, stat)| stat.leave_out_reads());
            let mut stat = Stat::default();
            stat.cost = self.shows_cost.then(Box::default);
            self.stats.push((name.to_owned(), stat));
            self.stats.len() - 1
        });
        let (of, stat) = &mut self.stats[place];
        if of.is_empty() {
            name.clone_into(of);
        }
        stat
    }

    fn begin(&mut self) {
        self.stats.clear();
        self.selected.clear();
        self.recording = false;
    }

    fn item(&mut self, item: &Item<'_>) {
        match item {
            Item::Header(_) => self.recording = true,
            Item::Chunk(_) if self.recording => match self.stats.as_mut_slice() {
                [] => self.stat("").start_read(),
                [(_, stat)] => stat.start_read(),
                _ => {}
            },
            _ => {}
        }
    }

    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        if self
            .filter
            .matches(decoded, Some(verdict), &mut self.scratch)
        {
            self.stat(decoded.protocol.name())
                .add_message(decoded, verdict);
            self.counted += 1;
            let of = verdict.operation.filter(|of| !of.is_late);
            self.selected.extend(of.map(|of| of.index));
        } else if self.counted == 0 {
            self.unmatched.add(decoded);
        }
        self.operations(verdict.ended);
    }

    /// Counts the operations that end.
    fn operations(&mut self, ended: &[Operation]) {
        for operation in ended {
            if self.selected.remove(&operation.index) && self.shows_operations {
                let what = about(operation);
                self.stat(&operation.protocol)
                    .add_operation(&what, operation);
            }
        }
    }

    /// Counts the messages that are awaited at the end of the input. A one-way input has no answers.
    fn wait(&mut self, conversation: &Conversation<'_>) {
        let all = conversation.each_protocol();
        self.unanswered.clear();
        for one in all {
            if let Some(protocol) = one.protocol() {
                let name = protocol.name().to_owned();
                let count = self.unanswered.entry(name).or_default();
                one.unanswered(self.recording, &mut |_| *count += 1);
            }
        }
    }

    fn end(&mut self, run: &Run<'_>) -> Result<()> {
        let Some(conversation) = run.conversation() else {
            return Ok(());
        };
        self.operations(conversation.ended_operations());
        let Some(protocol) = run.decoder().protocol().or(conversation.protocol()) else {
            return Ok(());
        };
        if self.stats.iter().all(|(name, _)| name.is_empty()) {
            self.stat(protocol.name());
        }
        let (source, mut text) = (&run.source().name, String::new());
        for (name, mut stat) in std::mem::take(&mut self.stats) {
            let is_it =
                |c: &&ProtocolConversation<'_>| c.protocol().is_some_and(|p| p.name() == name);
            let unanswered = self.unanswered.get(&name).copied().unwrap_or_default();
            for conversation in conversation.each_protocol().filter(is_it) {
                stat.finish(conversation);
            }
            if self.json {
                let json = show::stat_json(source, &name, &stat, unanswered);
                text.push_str(&json.to_string());
                text.push('\n');
            } else {
                if !text.is_empty() {
                    text.push('\n');
                }
                show::write_tables(source, &name, &stat, unanswered, self.display, &mut text);
            }
        }
        self.output.push(&text);
        self.output.written()
    }
}

impl Sink for StatScreen {
    type Break = Result<()>;

    fn want(&self) -> Option<Want> {
        Some(match self.filter.want() {
            _ if self.shows_cost => Want::Places,
            Want::Head => Want::Rows,
            want => want,
        })
    }

    fn rules(&self) -> Option<RuleSettings> {
        Some(RuleSettings {
            operations: self.shows_operations || self.shows_cost || self.filter.needs_operations(),
            ..RuleSettings::default()
        })
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        match output {
            Output::Begin(_) => self.begin(),
            Output::Item(item, _) => self.item(item),
            Output::Message(decoded, verdict) => {
                self.message(decoded, verdict.unwrap_or_default());
            }
            Output::BeforeEnd(run) => run.conversation().map_or((), |one| self.wait(one)),
            Output::End(run, _) => return unless_failed(self.end(run)),
            Output::Event(_, verdict) => self.operations(verdict.ended),
            Output::Pause(..) | Output::Note(_) => {}
        }
        Flow::Continue(())
    }
}
