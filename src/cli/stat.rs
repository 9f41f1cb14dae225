//! `wiretool stat`: how much, how fast, how often.

mod show;

use super::input::{self, Show};
use super::interrupt::Stop;
use super::options::{self, Shared};
use super::output::Output;
use super::{Exit, complain, complain_of};
use crate::capture::Header;
use crate::conversation::pipeline::Pipeline;
use crate::conversation::{Judge, Verdict};
use crate::decoder::Decoded;
use crate::encoding::Want;
use crate::protocol::session::SessionConfig;
use crate::render::Look;
use crate::select::Filter;
use crate::stat::Stat;
use anyhow::Result;
use clap::ValueEnum;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
  130  interrupted (143: by SIGTERM); what was read by then is counted, but replaces no file that -o names";

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
    screen.output.is_json = screen.json;
    input::read(&args.input, &options, &mut screen)?;
    if let Some(exit) = screen.stop.exit().filter(|_| !input.follow) {
        screen.output.interrupted()?;
        return Ok(exit);
    }
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

#[allow(clippy::struct_excessive_bools)] // each is a flag of its own
struct Screen {
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

impl Show for Screen {
    fn frame(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        let verdict = verdict.unwrap_or_default();
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

    fn judged(&self) -> Option<(Judge, SessionConfig)> {
        Some((Judge::default(), SessionConfig::default()))
    }

    fn header(&mut self, _: &Header) {
        self.recording = true;
    }

    fn read(&mut self) {
        self.stat.read();
    }

    fn idle(&mut self) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, source: &str, text: &str, bad: bool) {
        self.bad_input |= bad;
        if bad || !self.quiet {
            complain_of(source, text);
        }
    }

    fn detail(&mut self, source: &str, text: &str) {
        if self.verbose {
            complain_of(source, text);
        }
    }

    fn begin(&mut self, _: &str) {
        self.stat = Stat::default();
        self.recording = false;
    }

    fn end(&mut self, source: &str, bytes: u64, pipeline: &mut Pipeline<'_>) -> Result<()> {
        let decoder = &pipeline.decoder;
        self.bytes += bytes;
        input::tell_guess(source, decoder, self);
        let Some(conversation) = &mut pipeline.conversation else {
            return Ok(());
        };
        let Some(protocol) = decoder.protocol().or(conversation.protocol()) else {
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
        let unanswered = if conversation.is_one_way() && !self.recording {
            0
        } else {
            conversation.waiting().len() as u64 + self.stat.unreceived
        };
        conversation.finish();
        self.stat.finish(conversation);
        let mut text = String::new();
        if self.json {
            text = show::object(source, protocol.name(), &self.stat, unanswered).to_string();
            text.push('\n');
        } else {
            show::tables(
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

    fn progress(&self) -> bool {
        !self.quiet
    }

    fn is_done(&self) -> bool {
        false
    }
}
