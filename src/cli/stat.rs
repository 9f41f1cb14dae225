//! `wiretool stat`: how much, how fast, how often.

use super::input::{self, Show};
use super::interrupt::Stop;
use super::options::{self, Shared};
use super::output::{Output, present};
use super::{Exit, complain};
use anyhow::Result;
use clap::ValueEnum;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wiretool::capture::{Event, Header};
use wiretool::conversation::{Conversation, Judge};
use wiretool::decoder::{Decoded, Decoder};
use wiretool::encoding::Want;
use wiretool::protocol::session::Aids;
use wiretool::protocol::{Direction, Protocol};
use wiretool::render::findings::{duration, millis};
use wiretool::render::style::{Tone, shorten};
use wiretool::render::{Look, arrow};
use wiretool::select::Filter;
use wiretool::stat::{Latency, OTHER, Stat};

const EXAMPLES: &str = "\
Examples:
  wiretool stat session.jsonl               counts, latencies, slowest calls, error codes
  wiretool stat -p sael --c2s a --s2c b     without times: counts alone
  wiretool stat -f json session.jsonl | jq .latencies";

const EXIT_CODES: &str = "\
Exit codes:
  0  it was counted
  1  no protocol recognises the input, or no message matches --where
  2  usage, or a file that cannot be read or written
  130  interrupted (143: by SIGTERM); what was read by then is counted";

/// Columns of a terminal that has room for histograms.
const HISTOGRAM: usize = 95;
/// Subjects that are shown.
const SHOWN: usize = 30;

/// Count what was said: kinds and bytes, latencies by subject, slowest calls, error codes, streams
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    #[command(flatten)]
    input: options::Input,
    #[command(flatten)]
    wire: options::Wire,
    #[command(flatten)]
    condition: options::Where,
    /// How the numbers are shown
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = "Output")]
    format: Format,
    /// Write here, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
enum Format {
    /// Tables
    Text,
    /// One JSON object an input
    Json,
}

pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    let protocols = args.wire.protocols()?;
    let options = args.wire.options(&protocols, Want::Places);
    let input = &args.input;
    let inputs: Vec<PathBuf> = [&input.files, &input.c2s, &input.s2c]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let mut screen = Screen {
        known: options.protocols.clone(),
        conversation: conversation(&options.protocols, true),
        stat: Stat::default(),
        filter: args.condition.filter(),
        scratch: Vec::new(),
        recording: false,
        json: args.format == Format::Json,
        quiet: shared.quiet,
        verbose: shared.verbose,
        look,
        output: Output::open(args.output.as_deref(), &inputs)?,
        stop: Stop::on_signals()?,
        bad_input: false,
        bytes: 0,
        read: 0,
        counted: 0,
    };
    input::read(&args.input, &options, &mut screen)?;
    screen.output.finish()?;
    if screen.bytes == 0 && !shared.quiet {
        complain("empty input: there is nothing to count");
    }
    if let Some(exit) = screen.stop.exit() {
        return Ok(exit);
    }
    let none = screen.counted == 0 && screen.read > 0;
    if none && !shared.quiet {
        complain(&format!("none of {} messages matches", screen.read));
    }
    Ok(if screen.bad_input || none {
        Exit::No
    } else {
        Exit::Clean
    })
}

fn conversation<'p>(protocols: &[&'p dyn Protocol], ordered: bool) -> Conversation<'p> {
    Conversation::new(protocols, &Judge::default(), Aids::default(), ordered)
}

#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
struct Screen<'p> {
    known: Vec<&'p dyn Protocol>,
    conversation: Conversation<'p>,
    stat: Stat,
    filter: Filter,
    scratch: Vec<u8>,
    recording: bool,
    json: bool,
    quiet: bool,
    verbose: bool,
    look: Look,
    output: Output,
    stop: Stop,
    bad_input: bool,
    bytes: u64,
    /// Messages of all inputs.
    read: u64,
    /// Those that match.
    counted: u64,
}

impl Show for Screen<'_> {
    fn frame(&mut self, decoded: &Decoded<'_>) -> Result<()> {
        let verdict = self.conversation.see(decoded);
        if self
            .filter
            .matches(decoded, Some(verdict), &mut self.scratch)
        {
            self.stat.see(decoded, verdict);
            self.counted += 1;
        }
        self.read += 1;
        Ok(())
    }

    fn header(&mut self, header: &Header) {
        self.recording = true;
        if let Some(protocol) = &header.protocol {
            self.conversation.expect(protocol);
        }
    }

    fn read(&mut self) {
        self.stat.read();
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        self.conversation.happened(event);
        Ok(())
    }

    fn idle(&mut self) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, source: &str, text: &str, bad: bool) {
        self.bad_input |= bad;
        if bad || !self.quiet {
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

    fn begin(&mut self, _: &str, ordered: bool) {
        self.stat = Stat::default();
        self.recording = false;
        self.conversation = conversation(&self.known, ordered);
    }

    fn end(&mut self, source: &str, bytes: u64, decoder: &Decoder<'_>) -> Result<()> {
        self.bytes += bytes;
        input::tell_guess(source, decoder, self);
        let Some(protocol) = decoder.protocol().or(self.conversation.protocol()) else {
            if bytes > 0 {
                self.note(
                    source,
                    "no protocol recognises these bytes: name it with -p",
                    true,
                );
            }
            return Ok(());
        };
        // Once it is over, nobody waits; and of one direction alone nobody can say what was answered.
        let unanswered = if self.conversation.is_one_way() && !self.recording {
            0
        } else {
            self.conversation.waiting().len()
        };
        self.conversation.finish();
        self.stat.finish();
        let mut text = String::new();
        if self.json {
            text = object(source, protocol.name(), &self.stat, unanswered).to_string();
            text.push('\n');
        } else {
            tables(
                source,
                protocol.name(),
                &self.stat,
                unanswered,
                self.look,
                &mut text,
            );
        }
        self.output.room().extend_from_slice(text.as_bytes());
        self.output.written()
    }

    fn stop(&self) -> Option<Arc<AtomicBool>> {
        Some(self.stop.flag())
    }

    fn want(&self) -> Want {
        Want::Places
    }

    fn is_done(&self) -> bool {
        false
    }
}

/// All of it, for people.
fn tables(
    source: &str,
    protocol: &str,
    stat: &Stat,
    unanswered: usize,
    look: Look,
    out: &mut String,
) {
    let style = look.style;
    let title = |name: &str, out: &mut String| style.put(out, Tone::Key, &format!("{name}\n"));
    style.wire(out, Tone::Plain, &format!("{source}: "));
    let lasted = stat
        .times
        .map(|(from, to)| format!(" in {}", duration(to - from)));
    let some = if stat.all.messages == 1 {
        "message"
    } else {
        "messages"
    };
    out.push_str(&format!(
        "{protocol}, {} {some}, {} bytes{}",
        stat.all.messages,
        stat.all.bytes,
        lasted.unwrap_or_default()
    ));
    for (n, what) in [(stat.faulty, "at fault"), (unanswered as u64, "unanswered")] {
        if n > 0 {
            style.put(out, Tone::Bad, &format!(", {n} {what}"));
        }
    }
    out.push_str("\n\n");
    title(
        "kinds                            messages        bytes",
        out,
    );
    for (sort, count) in &stat.kinds {
        out.push_str(&format!("  {} ", arrow(sort.direction)));
        let kind = if sort.kind.is_empty() {
            "-"
        } else {
            &sort.kind
        };
        style.wire(out, Tone::Plain, &format!("{:<28}", shorten(kind, 28)));
        out.push_str(&format!(" {:>8} {:>12}\n", count.messages, count.bytes));
    }
    if !stat.latencies.is_empty() {
        out.push('\n');
        title(
            "latency                           count       p50       p90       p99       max",
            out,
        );
        let mut all: Vec<(&String, &Latency)> = stat.latencies.iter().collect();
        all.sort_by_key(|(_, latency)| std::cmp::Reverse(latency.count()));
        for (what, latency) in all.iter().take(SHOWN) {
            style.wire(out, Tone::Plain, &format!("  {:<30} ", shorten(what, 30)));
            out.push_str(&format!("{:>6}", latency.count()));
            for percent in [50.0, 90.0, 99.0, 100.0] {
                let ns = latency.percentile(percent).try_into().unwrap_or(i64::MAX);
                out.push_str(&format!(" {:>9}", duration(ns)));
            }
            if look.width.is_none_or(|width| width >= HISTOGRAM) {
                style.put(out, Tone::Dim, &format!("  {}", sparkline(latency)));
            }
            out.push('\n');
        }
        more(all.len(), out);
        out.push('\n');
        title("slowest", out);
        for call in &stat.slowest {
            out.push_str(&format!("  {:>9}  ", duration(call.latency)));
            style.wire(out, Tone::Plain, &shorten(&call.what, 60));
            style.put(
                out,
                Tone::Dim,
                &format!("  #{} ↩ #{}\n", call.answered, call.asked),
            );
        }
    }
    if !stat.streams.is_empty() {
        out.push('\n');
        title(
            "streams                           streams     items        bytes      rate",
            out,
        );
        for (what, streams) in stat.streams.iter().take(SHOWN) {
            style.wire(out, Tone::Plain, &format!("  {:<32}", shorten(what, 32)));
            let rate = streams.rate().map(|rate| format!("{rate:>7.1}/s"));
            out.push_str(&format!(
                "{:>7} {:>9} {:>12} {}\n",
                streams.streams,
                streams.items,
                streams.bytes,
                rate.unwrap_or_default()
            ));
        }
        more(stat.streams.len(), out);
    }
    for (name, counts) in [("errors", &stat.errors), ("rules broken", &stat.findings)] {
        if !counts.is_empty() {
            out.push('\n');
            title(name, out);
            let mut all: Vec<_> = counts.iter().collect();
            all.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
            for (code, n) in all.iter().take(SHOWN) {
                out.push_str(&format!("  {n:>8}  "));
                style.wire(out, Tone::Plain, &shorten(code, 60));
                out.push('\n');
            }
            more(all.len(), out);
        }
    }
    if !stat.reads.is_empty() {
        out.push('\n');
        title("messages in a read     reads", out);
        for (messages, reads) in stat.reads.iter().take(SHOWN) {
            let messages = match *messages {
                u64::MAX => OTHER.to_owned(),
                n => n.to_string(),
            };
            out.push_str(&format!("  {messages:>16} {reads:>9}\n"));
        }
        more(stat.reads.len(), out);
    }
}

/// That a table goes on.
fn more(rows: usize, out: &mut String) {
    if rows > SHOWN {
        out.push_str(&format!(
            "  and {} more: -f json has them all\n",
            rows - SHOWN
        ));
    }
}

/// A histogram as small as text: from the quickest to the slowest, on a logarithmic scale.
fn sparkline(latency: &Latency) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let bars = latency.bars();
    let most = bars.iter().copied().max().unwrap_or_default().max(1);
    bars.iter()
        .map(|n| match n {
            0 => ' ',
            n => LEVELS[(n * 7 / most) as usize],
        })
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// All of it, for programs.
fn object(source: &str, protocol: &str, stat: &Stat, unanswered: usize) -> Value {
    let ms = |ns: u64| number(&millis(ns.try_into().unwrap_or(i64::MAX)));
    present(json!({
        "v": 1,
        "file": source,
        "protocol": protocol,
        "messages": stat.all.messages,
        "bytes": stat.all.bytes,
        "seconds": stat.times.map(|(from, to)| number(&seconds(to - from))),
        "faulty": stat.faulty,
        "unanswered": unanswered,
        "kinds": stat.kinds.iter().map(|(sort, count)| json!({
            "dir": sort.direction.map(Direction::name),
            "kind": sort.kind,
            "messages": count.messages,
            "bytes": count.bytes,
        })).collect::<Vec<_>>(),
        "latencies": stat.latencies.iter().map(|(what, latency)| json!({
            "what": what,
            "count": latency.count(),
            "p50_ms": ms(latency.percentile(50.0)),
            "p90_ms": ms(latency.percentile(90.0)),
            "p99_ms": ms(latency.percentile(99.0)),
            "max_ms": ms(latency.max()),
            "histogram": latency.bars(),
        })).collect::<Vec<_>>(),
        "slowest": stat.slowest.iter().map(|call| json!({
            "what": call.what,
            "index": call.answered,
            "reply_to": call.asked,
            "latency_ms": number(&millis(call.latency)),
        })).collect::<Vec<_>>(),
        "errors": stat.errors,
        "streams": stat.streams.iter().map(|(what, streams)| json!({
            "what": what,
            "streams": streams.streams,
            "items": streams.items,
            "bytes": streams.bytes,
            "items_per_second": streams.rate(),
        })).collect::<Vec<_>>(),
        "findings": stat.findings,
        "reads": stat.reads.iter().map(|(messages, reads)| json!({
            "messages": (*messages != u64::MAX).then_some(messages),
            "reads": reads,
        })).collect::<Vec<_>>(),
    }))
}

/// Nanoseconds as seconds, exactly.
fn seconds(ns: i64) -> String {
    let n = ns.max(0);
    format!("{}.{:09}", n / 1_000_000_000, n % 1_000_000_000)
}

/// A number that was written as text.
fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}
