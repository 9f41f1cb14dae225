//! `wiretool send`: ask, and see the answer.

mod messages;

use super::calling::{Callee, Known, all_taken, hang, nanos};
use super::options::{self, Shared};
use super::{Exit, complain};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::live::client::{Client, Event, Observer, Settings};
use crate::live::handler::Command;
use crate::live::plan::Plan;
use crate::protocol::{Notes, Protocol};
use crate::render::{self, Look};
use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use messages::{Maker, Source, seen_as, values};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  wiretool send oracle invoke f 0x2710 -- ./oracle                  ask a child, and see its answer
  wiretool send oracle --file calls.txt -f json -- ./oracle         a message a line: words, or JSON
  wiretool send oracle - -- ./oracle                                by hand, line by line
  wiretool send saikuro call math.add 2 3 --connect tcp://127.0.0.1:7700
  wiretool send sael INV repos '{\"of\":\"x\"}' --connect ws://127.0.0.1:8080/ws --token-file token
  wiretool send sael SUB news --linger 1m --connect ws://127.0.0.1:8080";

const EXIT_CODES: &str = "\
Exit codes:
  0         every message was answered
  1         an answer says no or is at fault, none came in time, a message was refused, or one was not taken whole
  2         usage, nobody to connect to, or bytes that were not recorded
  130, 143  interrupted, terminated; the recording is complete";

/// Make a message, connect, do the protocol's handshake, send it, and show the answer
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Whose message
    #[arg(value_name = "PROTOCOL", value_parser = options::names(options::protocol_names()))]
    protocol: String,
    /// Its kind, and what it holds, as `make` takes it; a lone `-` is a session by hand: lines of stdin, each sent as it
    /// comes
    #[arg(
        value_name = "WORD",
        required_unless_present_any = ["file", "json"],
        conflicts_with_all = ["file", "json"],
        allow_negative_numbers = true
    )]
    words: Vec<String>,
    /// Messages, one a line: words, or a JSON object; `-` is stdin, and each goes out as it comes (repeatable)
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Messages as JSON, as `decode -f json` shows them in `message`, or its whole lines; `-` is stdin (repeatable)
    #[arg(long, value_name = "FILE")]
    json: Vec<PathBuf>,
    #[command(flatten)]
    callee: Callee,
    /// Stay for so long after the last answer: for events, and for messages that nothing answers
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = options::duration, help_heading = "Connection")]
    linger: Duration,
    /// telequick definitions that replace or extend the built-in ones
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// How answers are shown; tree where one message is sent, otherwise line
    #[arg(
        short,
        long,
        value_enum,
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    format: Option<Format>,
    /// Show secrets in clear: tokens, capabilities and others
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Every field with its byte range
    Tree,
    /// One line a message
    Line,
    /// One JSON object a message
    Json,
    /// Bytes beside the fields that own them
    Hex,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    let protocols = options::protocols_for_writing(args.schema.as_deref(), Some(&args.protocol))?;
    let protocol = protocols.named().context("no such protocol")?;
    let seed = args.callee.seed(0);
    let mut maker = Maker::new(protocol, seed ^ 1);
    let by_hand = args.words == ["-"];
    let files = args.file.iter().chain(&args.json);
    anyhow::ensure!(
        files.filter(|path| path.as_os_str() == "-").count() <= 1,
        "-: stdin can be read but once"
    );
    let mut ready = VecDeque::new();
    if !args.words.is_empty() && !by_hand {
        match maker.words(&args.words) {
            Ok(message) => ready.push_back(message),
            Err(refusal) => {
                complain(&refusal);
                return Ok(Exit::No);
            }
        }
    }
    for path in args.file.iter().filter(|path| path.as_os_str() != "-") {
        let name = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        for (n, line) in (1..).zip(text.lines()) {
            match maker.line(line) {
                Ok(message) => ready.extend(message),
                Err(refusal) => bail!("{name}, line {n}: {refusal}"),
            }
        }
    }
    for path in &args.json {
        values(path, &mut ready)?;
    }
    let is_typed = by_hand || args.file.iter().any(|path| path.as_os_str() == "-");
    let mut source = Source::new(maker, ready);
    if is_typed {
        source.listen()?;
    }
    let config = args.callee.config(protocol, Known::default())?;
    let mut peer_config = args.callee.peer_config(seed)?;
    let first = source.first();
    peer_config.no_hello = first.is_some_and(|message| seen_as(&config, message).opens);
    let settings = Settings {
        peer_config,
        timeout: args.callee.timeout(),
        linger: nanos(args.linger),
        in_order: !is_typed,
        ..Settings::default()
    };
    let look = Look {
        show_secrets: args.show_secrets,
        ..look
    };
    let alone = source.is_one();
    let usual = if alone { Format::Tree } else { Format::Line };
    let format = args.format.unwrap_or(usual);
    let observer = observer(protocol, format, look);
    if !shared.quiet {
        source.judge(config.clone());
    }
    let is_broken = source.is_broken();
    let plan = Plan::empty(protocol, config.framing);
    let next = Box::new(move || source.next());
    let mut client = Client::sending(&plan, config, &settings, next, observer);
    let ended = match args.callee.play(protocol, &mut client, shared)? {
        Ok(ended) => ended,
        Err(exit) => return Ok(exit),
    };
    if is_broken() {
        return Ok(Exit::Trouble);
    }
    let outcome = client.outcome();
    Ok(
        if !all_taken(&ended) || outcome.differ > 0 || outcome.hangs {
            Exit::No
        } else {
            Exit::Clean
        },
    )
}

/// Shows answers on stdout, and everything else on stderr.
fn observer(protocol: &dyn Protocol, format: Format, look: Look) -> Observer<'_> {
    let mut notes = Notes::default();
    Box::new(move |tell, commands| match tell {
        Event::Received(decoded, verdict) => {
            commands.push(Command::Print(shown(
                decoded, verdict, format, look, &mut notes,
            )));
        }
        // JSON is a line a message.
        Event::Hangs(what) if format == Format::Json => {
            hang(what, protocol, Look::default())
                .lines()
                .for_each(complain);
        }
        Event::Hangs(what) => commands.push(Command::Print(hang(what, protocol, look))),
        Event::Diverged(_) => {}
        Event::Note(text) => complain(&text),
    })
}

fn shown(
    decoded: &Decoded<'_>,
    verdict: Verdict<'_>,
    format: Format,
    look: Look,
    notes: &mut Notes,
) -> String {
    let mut text = String::new();
    match format {
        Format::Json => {
            let mut bytes = Vec::new();
            render::json::write(decoded, Some(verdict), look, &mut bytes);
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        Format::Line => render::live::line(decoded, Some(verdict), look, &mut text),
        Format::Tree => render::tree::write(decoded, Some(verdict), look, notes, &mut text),
        Format::Hex => render::hex::write(decoded, Some(verdict), look, notes, &mut text),
    }
    text
}
