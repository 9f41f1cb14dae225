//! `wiretool send`: sends messages, and shows the answers.

pub mod messages;

use super::client::{KnownConnections, PeerArgs, check_all_taken, describe_hang, nanos};
use super::live::LintArgs;
use super::options::{self, SharedArgs};
use super::suggestions::{as_address, is_command};
use super::values::read_string;
use super::{Exit, print_message};
use crate::conversation::Finding;
use crate::live::client::{Client, ClientConfig, ClientEvent, ClientObserver};
use crate::live::codec::EventStreams;
use crate::live::handler::Command;
use crate::live::plan::Plan;
use crate::protocol::Protocol;
use crate::protocol::session::Severity;
use crate::render::{DisplayOptions, Format, Renderer};
use anyhow::{Context as _, Result, bail};
use messages::{MessageMaker, MessageSource, classify, read_json_file};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  wiretool send mcp tools/list -- ./server           to a child process
  wiretool send mcp tools/list --lint -- ./server    also checks the rules; findings go to stderr
  wiretool send oracle invoke f 0x2710 -- ./oracle
  wiretool send saikuro call math.add 2 3 --connect tcp://127.0.0.1:7700
  wiretool send oracle --file calls.txt -f json -- ./oracle
  wiretool send oracle - -- ./oracle                 type messages, one per line
  wiretool send sael INV repos '{\"of\":\"x\"}' --connect ws://127.0.0.1:8080/ws --token-file token
  wiretool send sael SUB news --linger 1m --connect ws://127.0.0.1:8080";

const EXIT_CODES: &str = "\
Exit codes:
  0         every message was answered
  1         an answer is an error, says that its call failed, has a fault or is missing, or a message was not sent
            completely; with --lint: a finding of the severity of --fail-on or worse
  2         usage, a failed connection, or bytes that were not recorded
  130, 143  interrupted, terminated; the recording is complete";

/// Send a message to a live peer, and show the answer
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Protocol of the message
    #[arg(value_name = "PROTOCOL", value_parser = options::protocol())]
    protocol: String,
    /// Kind and arguments, as for `make`; a lone `-`: type messages, one per line of stdin
    #[arg(
        value_name = "WORD",
        required_unless_present_any = ["file", "json"],
        conflicts_with_all = ["file", "json"],
        allow_negative_numbers = true
    )]
    words: Vec<String>,
    /// Messages from a file, one per line: words or JSON; `-`: stdin (repeatable)
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Messages as JSON: text, or a file with lines of `decode -f json` or their `message`; `-`: stdin (repeatable)
    #[arg(long, value_name = "FILE|JSON")]
    json: Vec<PathBuf>,
    #[command(flatten)]
    peer: PeerArgs,
    /// Stay connected for this time after the last answer, to receive events
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = options::parse_duration, help_heading = "Connection")]
    linger: Duration,
    /// Send the messages of a file without waiting for answers, for example a request and its cancellation
    #[arg(long, help_heading = "Connection")]
    no_wait: bool,
    /// telequick: schema file that extends or replaces the built-in one
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// Output format [default: tree if one message is sent, otherwise line]
    #[arg(
        short,
        long,
        value_parser = options::format(),
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    format: Option<Format>,
    /// Do not mask tokens, capabilities and other secrets
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
    #[command(flatten)]
    lint: LintArgs,
}

impl Args {
    /// Returns a tip if a word is the command to start, which stands after `--`.
    fn command_in_words(&self, maker: &mut MessageMaker<'_>) -> Option<String> {
        if self.peer.has_peer() {
            return None;
        }
        let is_address = |word: &&String| word.contains("://") || is_host_and_port(word);
        if let Some(address) = self.words.iter().skip(1).find(is_address) {
            let words = self.words.iter().filter(|word| *word != address);
            return Some(format!(
                "the address is --connect ADDR: wiretool send {} {} --connect {}",
                self.protocol,
                shell_words::join(words),
                as_address(address)?
            ));
        }
        // The name of a tool may be that of a program: the words before it are a message.
        let mut starts = |at: usize| {
            self.words.get(at).is_some_and(is_command)
                && self
                    .words
                    .get(..at)
                    .is_some_and(|words| maker.make(words).is_ok())
        };
        let at = (1..self.words.len()).find(|at| starts(*at))?;
        let (words, command) = self.words.split_at_checked(at)?;
        Some(format!(
            "the command stands after --: wiretool send {} {} -- {}",
            self.protocol,
            shell_words::join(words),
            shell_words::join(command)
        ))
    }
}

/// Returns true for `localhost:8080`.
fn is_host_and_port(word: &str) -> bool {
    let (host, port) = word.split_once(':').unwrap_or_default();
    let is_host = host
        .bytes()
        .all(|c| c.is_ascii_alphanumeric() || b".-_".contains(&c));
    !host.is_empty() && is_host && port.parse::<u16>().is_ok()
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    anyhow::ensure!(
        !args.words.first().is_some_and(|word| word.starts_with('{')),
        "a message in JSON is --json JSON, --json FILE, or --json - for stdin"
    );
    let protocols = options::protocols_for_writing(args.schema.as_deref(), Some(&args.protocol))?;
    // The thread that checks needs them until the process ends.
    let protocols = &*Box::leak(Box::new(protocols));
    let protocol = protocols.named().context("no such protocol")?;
    let seed = args.peer.seed(0);
    let mut maker = MessageMaker::new(protocol, seed ^ 1);
    let by_hand = args.words == ["-"];
    let files = args.file.iter().chain(&args.json);
    anyhow::ensure!(
        files.filter(|path| path.as_os_str() == "-").count() <= 1,
        "-: stdin can be read only once"
    );
    let mut ready = VecDeque::new();
    if !args.words.is_empty() && !by_hand {
        match message_of_words(args, &mut maker)? {
            Ok(message) => ready.push_back(message),
            Err(refusal) => {
                print_message(&refusal);
                return Ok(Exit::Error);
            }
        }
    }
    read_files(args, &mut maker, &mut ready)?;
    let is_typed = by_hand || args.file.iter().any(|path| path.as_os_str() == "-");
    let mut source = MessageSource::new(maker, ready);
    if is_typed {
        source.read_stdin()?;
    }
    let known = KnownConnections {
        events: EventStreams::Negotiated,
        ..KnownConnections::default()
    };
    let config = args.peer.config(protocol, known)?;
    let mut peer_config = args.peer.peer_config(seed)?;
    peer_config.no_hello = (source.first()).is_some_and(|first| classify(&config, first).opens);
    let settings = ClientConfig {
        peer_config,
        timeout: args.peer.timeout(),
        linger: nanos(args.linger),
        // Over QUIC each request has a stream of its own, and answers are optional.
        in_order: !is_typed && !config.streams && !args.no_wait,
        ..ClientConfig::default()
    };
    let display = DisplayOptions {
        show_secrets: args.show_secrets,
        ..display
    };
    let alone = source.is_one();
    let usual = if alone { Format::Tree } else { Format::Line };
    let format = (args.format.unwrap_or(usual), args.lint.is_on());
    let is_bad = Arc::new(AtomicBool::new(false));
    let observer = observer(protocol, format, display, Arc::clone(&is_bad));
    if !shared.quiet {
        source.warn_about_unknown(config.clone());
    }
    let is_broken = source.is_broken();
    let plan = Plan::empty(protocol, config.framing);
    let check = args.lint.check(&config, args.show_secrets, shared)?;
    let next = Box::new(move || source.next());
    let mut client = Client::sending(&plan, config, &settings, next, observer);
    let ended = match args.peer.run_client(protocol, &mut client, check, shared)? {
        Ok(ended) => ended,
        Err(exit) => return Ok(exit),
    };
    if is_broken() {
        return Ok(Exit::Error);
    }
    let outcome = client.outcome();
    let is_bad = outcome.differ > 0 || outcome.hangs || is_bad.load(Ordering::Relaxed);
    let is_bad = is_bad || args.lint.is_failed(&ended.seen);
    Ok(Exit::negative_if(!check_all_taken(&ended) || is_bad))
}

/// Makes the message of the words. Fails with a text if they are no message, or name no peer.
fn message_of_words(args: &Args, maker: &mut MessageMaker<'_>) -> Result<Result<String, String>> {
    let made = maker.make(&args.words);
    let tip = args.command_in_words(maker);
    match (made, tip) {
        (Ok(_), Some(tip)) => bail!("no peer: {tip}"),
        (Err(refusal), Some(tip)) => Ok(Err(format!("{refusal}; {tip}"))),
        (made, None) => Ok(made),
    }
}

/// Reads the messages of files: lines of words, and JSON.
fn read_files(
    args: &Args,
    maker: &mut MessageMaker<'_>,
    ready: &mut VecDeque<String>,
) -> Result<()> {
    for path in args.file.iter().filter(|path| path.as_os_str() != "-") {
        let name = path.display();
        let text = read_string(path)?;
        for (n, line) in (1..).zip(text.lines()) {
            match maker.line(line) {
                Ok(message) => ready.extend(message),
                Err(refusal) => bail!("{name}, line {n}: {refusal}"),
            }
        }
    }
    for path in &args.json {
        read_json_file(path, ready)?;
    }
    Ok(())
}

/// Creates an observer that shows answers on stdout and everything else on stderr. It sets `is_bad` if an answer is an error.
/// With `lints`, all findings are shown elsewhere.
fn observer(
    protocol: &dyn Protocol,
    (format, lints): (Format, bool),
    display: DisplayOptions,
    is_bad: Arc<AtomicBool>,
) -> ClientObserver<'_> {
    let mut renderer = Renderer::default();
    Box::new(move |tell, commands| match tell {
        ClientEvent::Received(decoded, verdict) => {
            let is_error = |finding: &Finding| finding.severity == Severity::Error;
            if decoded.is_faulty() || verdict.findings.iter().any(is_error) {
                is_bad.store(true, Ordering::Relaxed);
            }
            let verdict = if lints {
                verdict.without_findings()
            } else {
                verdict
            };
            let mut out = Vec::new();
            renderer.write(format, decoded, Some(verdict), display, &mut out);
            let text = String::from_utf8_lossy(&out).into_owned();
            commands.push(Command::Print(text));
        }
        // The JSON output has one line per message.
        ClientEvent::Hangs(what) if format == Format::Json => {
            describe_hang(what, protocol, DisplayOptions::default())
                .lines()
                .for_each(print_message);
        }
        ClientEvent::Hangs(what) => {
            commands.push(Command::Print(describe_hang(what, protocol, display)));
        }
        ClientEvent::Diverged(_) | ClientEvent::Handshake(..) => {}
        ClientEvent::Note(text) => print_message(&text),
    })
}
