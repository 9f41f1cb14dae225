//! `wiretool lint`: was what was said allowed, and who owes the next message?

mod rules;
mod sarif;

use super::input::{self, Show};
use super::options::{self, Shared};
use super::output::Output;
use super::{Exit, complain};
use anyhow::Result;
use clap::ValueEnum;
pub use rules::nearest;
use sarif::Sarif;
use std::collections::BTreeMap;
use std::path::PathBuf;
use wiretool::capture::Event;
use wiretool::capture::recording::Header;
use wiretool::conversation::{Conversation, Finding, Judge, full_name};
use wiretool::decoder::{Decoded, Decoder};
use wiretool::encoding::{Want, json};
use wiretool::protocol::session::{Aids, Need, Rule, Severity, Waiting};
use wiretool::protocol::{Direction, Protocol};
use wiretool::render::style::Tone;
use wiretool::render::{Look, findings};

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
  1  something was
  2  usage, or a file that cannot be read or written
  130  interrupted; what was found by then is told";

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
    judging: options::Judging,
    /// Exit 1 where something this bad is found
    #[arg(long, value_name = "SEVERITY", default_value = "error", value_parser = options::names(["info", "warning", "error", "never"]), help_heading = "Rules")]
    fail_on: String,
    /// Print the table of rules and stop
    #[arg(long, help_heading = "Rules", conflicts_with_all = ["explain", "files"])]
    rules: bool,
    /// Say what a rule is about, with an example that breaks it, and stop
    #[arg(
        long,
        value_name = "RULE",
        help_heading = "Rules",
        conflicts_with = "files"
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
    let output = Output::open(args.output.as_deref(), &inputs)?;
    if args.rules {
        let as_json = args.format == Format::Json;
        return rules::table(&args.wire, &judge, as_json, look, output);
    }
    if let Some(name) = &args.explain {
        return rules::explain(name, &judge, look, output);
    }
    let protocols = args.wire.protocols()?;
    let options = args.wire.options(&protocols, Want::Places);
    let aids = args.judging.aids()?;
    let mut screen = Screen {
        known: options.protocols.clone(),
        conversation: Conversation::new(&options.protocols, &judge, aids.clone(), true),
        judge,
        aids,
        teller: Teller {
            quiet: shared.quiet,
            json: args.format == Format::Json,
            most: args.most,
            look,
            output,
            sarif: args.report.map(|Report::Sarif| Sarif::default()),
            source: Source::default(),
            worst: Severity::Off,
        },
        verbose: shared.verbose,
        bad_input: false,
        bytes: 0,
    };
    input::read(&args.input, &options, &mut screen)?;
    screen.finish(Severity::from_name(&args.fail_on))
}

/// What is summed up of one input.
#[derive(Default)]
struct Source {
    name: String,
    recording: bool,
    messages: u64,
    /// The last time that is known.
    now: Option<i64>,
    /// Findings by severity.
    counts: BTreeMap<Severity, u64>,
    /// Findings by rule.
    rules: BTreeMap<String, u64>,
}

struct Screen<'p> {
    known: Vec<&'p dyn Protocol>,
    judge: Judge,
    aids: Aids,
    conversation: Conversation<'p>,
    teller: Teller,
    verbose: bool,
    bad_input: bool,
    bytes: u64,
}

/// Tells what was found.
struct Teller {
    quiet: bool,
    json: bool,
    most: u64,
    look: Look,
    output: Output,
    sarif: Option<Sarif>,
    source: Source,
    worst: Severity,
}

impl Teller {
    fn tell(&mut self, found: &[Finding]) -> Result<()> {
        for finding in found {
            self.worst = self.worst.max(finding.severity);
            *self.source.counts.entry(finding.severity).or_default() += 1;
            let count = self.source.rules.entry(finding.name()).or_default();
            *count += 1;
            let shown = self.most == 0 || *count <= self.most;
            if let Some(sarif) = &mut self.sarif {
                sarif.add(finding, &self.source.name, self.source.recording);
            } else if self.json {
                self.object(|out| {
                    out.extend_from_slice(b"\"finding\":");
                    findings::json(finding, None, out);
                });
            } else if shown && !self.quiet {
                let mut text = String::new();
                findings::line(finding, &self.source.name, self.look, &mut text);
                self.put(&text);
            }
        }
        self.output.written()
    }

    /// A line of JSON that names its input.
    fn object(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let out = self.output.room();
        out.extend_from_slice(b"{\"v\":1,\"file\":");
        json::write_str(&self.source.name, out);
        out.push(b',');
        write(out);
        out.extend_from_slice(b"}\n");
    }

    fn put(&mut self, text: &str) {
        self.output.room().extend_from_slice(text.as_bytes());
    }

    /// What was left out, who waits for whom, and what could not be looked at.
    fn sum_up(&mut self, conversation: &Conversation<'_>, verbose: bool) -> Result<()> {
        let waiting = conversation.waiting();
        let unjudged = conversation.unjudged();
        if self.json {
            self.summary(conversation, &waiting, &unjudged);
        } else if self.sarif.is_none() && !self.quiet {
            let mut text = String::new();
            let rules = std::mem::take(&mut self.source.rules);
            for (rule, count) in rules.iter().filter(|_| self.most > 0) {
                if *count > self.most {
                    let more = count - self.most;
                    text.push_str(&format!("{}: {more} more of {rule}\n", self.source.name));
                }
            }
            let sides = conversation.protocol().map(Protocol::sides);
            if let (Some(sides), false) = (sides, waiting.is_empty()) {
                self.hang(&waiting, sides, &mut text);
            }
            self.put(&text);
            self.output.flush()?;
            complain(&self.closing(waiting.len(), &unjudged));
            if verbose {
                let protocol = conversation.protocol().map_or("", |p| p.name());
                for (rule, need) in &unjudged {
                    let name = full_name(protocol, rule);
                    complain(&format!("{name} was not judged: it needs {}", need.about()));
                }
            }
        }
        Ok(())
    }

    /// Who owes the next message.
    fn hang(&self, waiting: &[Waiting], sides: [&str; 2], out: &mut String) {
        let title = match waiting {
            [_] => "1 message waits for an answer:\n".to_owned(),
            all => format!("{} messages wait for an answer:\n", all.len()),
        };
        self.look
            .style
            .wire(out, Tone::Key, &format!("{}: {title}", self.source.name));
        let most = if self.most == 0 {
            usize::MAX
        } else {
            self.most as usize
        };
        for one in waiting.iter().take(most) {
            findings::waiting(one, self.source.now, sides, self.look, out);
        }
        if waiting.len() > most {
            out.push_str(&format!("  and {} more\n", waiting.len() - most));
        }
    }

    /// `FILE: 2 errors, 1 warning in 40 messages; 3 rules not judged for want of times`.
    fn closing(&self, waiting: usize, unjudged: &[(&Rule, Need)]) -> String {
        let count = |severity: Severity, one: &str, many: &str| {
            let n = *self.source.counts.get(&severity)?;
            Some(format!("{n} {}", if n == 1 { one } else { many }))
        };
        let found: Vec<String> = [
            count(Severity::Error, "error", "errors"),
            count(Severity::Warning, "warning", "warnings"),
            count(Severity::Info, "remark", "remarks"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let found = if found.is_empty() {
            "nothing found".to_owned()
        } else {
            found.join(", ")
        };
        let mut text = format!(
            "{}: {found} in {} messages",
            self.source.name, self.source.messages
        );
        if waiting > 0 {
            text.push_str(&format!("; {waiting} unanswered"));
        }
        if !unjudged.is_empty() {
            let mut lacks: BTreeMap<Need, usize> = BTreeMap::new();
            for (_, need) in unjudged.iter().filter(|(_, need)| *need != Need::Streams) {
                *lacks.entry(*need).or_default() += 1;
            }
            for (i, (need, n)) in lacks.iter().enumerate() {
                let lead = if i == 0 {
                    "; not judged for want of"
                } else {
                    ","
                };
                let rules = if *n == 1 { "rule" } else { "rules" };
                text.push_str(&format!("{lead} {}: {n} {rules}", need.about()));
            }
        }
        text
    }

    /// The last line of an input, as JSON.
    fn summary(
        &mut self,
        conversation: &Conversation<'_>,
        waiting: &[Waiting],
        unjudged: &[(&Rule, Need)],
    ) {
        let protocol = conversation.protocol();
        let name = protocol.map_or("", |p| p.name());
        let sides = protocol.map_or(["client", "server"], Protocol::sides);
        let now = self.source.now;
        let count = |severity| {
            self.source
                .counts
                .get(&severity)
                .copied()
                .unwrap_or_default()
        };
        let value = serde_json::json!({
            "protocol": name,
            "messages": self.source.messages,
            "errors": count(Severity::Error),
            "warnings": count(Severity::Warning),
            "infos": count(Severity::Info),
            "waiting": waiting.iter().map(|one| serde_json::json!({
                "index": one.place.index,
                "conn": one.place.origin.conn,
                "dir": one.place.origin.direction.map(Direction::name),
                "what": one.what,
                "id": one.id,
                "for_ms": one.place.origin.time.zip(now).map(|(from, to)| {
                    let millis = findings::millis(to.saturating_sub(from));
                    serde_json::from_str::<serde_json::Number>(&millis).ok()
                }),
                "owes": one.owes.map(|d| sides[usize::from(d == Direction::ToClient)]),
                "why": one.why,
            })).collect::<Vec<_>>(),
            "not_judged": unjudged.iter().map(|(rule, need)| serde_json::json!({
                "rule": full_name(name, rule),
                "needs": need.about(),
            })).collect::<Vec<_>>(),
        });
        self.object(|out| {
            out.extend_from_slice(b"\"summary\":");
            out.extend_from_slice(value.to_string().as_bytes());
        });
    }
}

impl Screen<'_> {
    fn finish(mut self, fail_on: Option<Severity>) -> Result<Exit> {
        if let Some(sarif) = self.teller.sarif.take() {
            let report = serde_json::to_string_pretty(&sarif.report())?;
            self.teller.put(&report);
            self.teller.put("\n");
        }
        self.teller.output.finish()?;
        if self.bytes == 0 && !self.teller.quiet {
            complain("empty input: there is nothing to check");
        }
        let found = fail_on.is_some_and(|least| self.teller.worst >= least);
        Ok(if found || self.bad_input {
            Exit::No
        } else {
            Exit::Clean
        })
    }
}

impl Show for Screen<'_> {
    fn frame(&mut self, decoded: &Decoded<'_>) -> Result<()> {
        let source = &mut self.teller.source;
        source.messages += 1;
        source.now = decoded.origin.time.or(source.now);
        let verdict = self.conversation.see(decoded);
        self.teller.tell(verdict.findings)
    }

    fn header(&mut self, header: &Header) {
        self.teller.source.recording = true;
        if let Some(protocol) = &header.protocol {
            self.conversation.expect(protocol);
        }
        if let Some(connect) = &header.connect {
            self.conversation.reached_by(connect);
        }
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        let source = &mut self.teller.source;
        source.now = event
            .time
            .and_then(|t| i64::try_from(t).ok())
            .or(source.now);
        let verdict = self.conversation.happened(event);
        self.teller.tell(verdict.findings)
    }

    fn idle(&mut self) -> Result<()> {
        self.teller.output.flush()
    }

    fn note(&mut self, source: &str, text: &str, bad: bool) {
        self.bad_input |= bad;
        if bad || !self.teller.quiet {
            let lead = if source.is_empty() {
                String::new()
            } else {
                format!("{source}: ")
            };
            complain(&format!("{lead}{text}"));
        }
    }

    fn detail(&mut self, source: &str, text: &str) {
        if self.verbose {
            complain(&format!("{source}: {text}"));
        }
    }

    fn begin(&mut self, source: &str, ordered: bool) {
        self.teller.source = Source {
            name: source.to_owned(),
            ..Source::default()
        };
        self.conversation = Conversation::new(&self.known, &self.judge, self.aids.clone(), ordered);
    }

    fn end(&mut self, source: &str, bytes: u64, decoder: &Decoder<'_>) -> Result<()> {
        self.bytes += bytes;
        if decoder.protocol().is_none() && bytes > 0 {
            self.note(
                source,
                "no protocol recognises these bytes: name it with -p",
                true,
            );
            return Ok(());
        }
        let verdict = self.conversation.finish();
        self.teller.tell(verdict.findings)?;
        self.teller.sum_up(&self.conversation, self.verbose)
    }

    fn want(&self) -> Want {
        Want::Places
    }

    fn is_done(&self) -> bool {
        false
    }
}
