//! `wiretool send`: ask, and see the answer.

use super::calling::{Callee, Known, cut_short, hang, nanos};
use super::options::{self, Shared};
use super::{Exit, complain};
use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use std::collections::VecDeque;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::Duration;
use wiretool::conversation::Verdict;
use wiretool::conversation::actor::Order;
use wiretool::decoder::Decoded;
use wiretool::encoding::json;
use wiretool::framing::Limits;
use wiretool::player::{Asker, Feed, Patience, Tell, Teller};
use wiretool::protocol::make::Mint;
use wiretool::protocol::{Notes, Protocol};
use wiretool::render::{self, Look};
use wiretool::span::Span;
use wiretool::tape::Tape;

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
  1         an answer says no or is at fault, none came in time, or a message was refused
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
    /// Messages as JSON, as `decode -f json` shows them in `message`; `-` is stdin (repeatable)
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
    let protocols = options::Protocols::of(args.schema.as_deref(), Some(&args.protocol))?;
    let protocol = protocols.named().context("no such protocol")?;
    let seed = args.callee.seed(0);
    let mut maker = Maker {
        protocol,
        mint: Mint::new(seed ^ 1),
    };
    let mut ready = VecDeque::new();
    let mut typed = None;
    if args.words == ["-"] {
        typed = Some(stdin()?);
    } else if !args.words.is_empty() {
        match maker.words(&args.words) {
            Ok(message) => ready.push_back(message),
            Err(refusal) => {
                complain(&refusal);
                return Ok(Exit::No);
            }
        }
    }
    for path in args.file.iter().filter(|path| path.as_os_str() == "-") {
        anyhow::ensure!(
            typed.is_none(),
            "{}: stdin can be read but once",
            path.display()
        );
        typed = Some(stdin()?);
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
    let mut manner = args.callee.manner(seed)?;
    let first = ready.front().map(String::as_str);
    manner.no_hello = first.is_some_and(|message| opens(protocol, message));
    let patience = Patience {
        timeout: args.callee.timeout(),
        linger: nanos(args.linger),
        in_turn: typed.is_none(),
    };
    let look = Look {
        show_secrets: args.show_secrets,
        ..look
    };
    let carriage = args.callee.carriage(protocol, Known::default())?;
    let alone = ready.len() == 1 && typed.is_none();
    let usual = if alone { Format::Tree } else { Format::Line };
    let format = args.format.unwrap_or(usual);
    let teller = teller(protocol, format, look);
    let mut asker = Asker::new(
        carriage,
        &manner,
        Limits::default(),
        patience,
        feed(maker, ready, typed),
        teller,
    );
    let ended = args.callee.call(protocol, &mut asker, shared)?;
    let outcome = asker.outcome();
    if let Some(exit) = cut_short(&ended) {
        return Ok(exit);
    }
    if let Some(why) = &outcome.trouble {
        complain(why);
        return Ok(Exit::Trouble);
    }
    Ok(if outcome.bad > 0 {
        Exit::No
    } else {
        Exit::Clean
    })
}

/// Makes messages of words.
struct Maker<'p> {
    protocol: &'p dyn Protocol,
    mint: Mint,
}

impl Maker<'_> {
    fn words(&mut self, words: &[String]) -> Result<String, String> {
        let name = self.protocol.name();
        let made = super::make::made(self.protocol, words, &mut self.mint);
        made.map(|made| made.message)
            .map_err(|refusal| format!("{refusal} (wiretool make {name} --list)"))
    }

    /// A line: JSON, words as a shell has them, or nothing.
    fn line(&mut self, line: &str) -> Result<Option<String>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if line.starts_with('{') {
            let whole = Span::new(0, line.len());
            let parsed = json::parse(line.as_bytes(), whole, 1000, &mut Tape::new());
            return match parsed {
                Ok(_) => Ok(Some(line.to_owned())),
                Err(error) => Err(error.to_string()),
            };
        }
        let words = shell_words::split(line).map_err(|error| error.to_string())?;
        self.words(&words).map(Some)
    }
}

/// What is said next: what is at hand, then what is typed.
fn feed<'p>(
    mut maker: Maker<'p>,
    mut ready: VecDeque<String>,
    typed: Option<Receiver<String>>,
) -> Box<dyn FnMut() -> Feed + Send + 'p> {
    Box::new(move || {
        if let Some(message) = ready.pop_front() {
            return Feed::Message(message);
        }
        let Some(typed) = &typed else {
            return Feed::End;
        };
        loop {
            return match typed.try_recv() {
                Ok(line) => match maker.line(&line) {
                    Ok(Some(message)) => Feed::Message(message),
                    Ok(None) => continue,
                    Err(refusal) => Feed::Bad(refusal),
                },
                Err(TryRecvError::Empty) => Feed::Wait,
                Err(TryRecvError::Disconnected) => Feed::End,
            };
        }
    })
}

/// Lines of stdin as they come.
fn stdin() -> Result<Receiver<String>> {
    /// Lines that wait; whoever types more waits.
    const WAITING: usize = 64;
    let (lines, typed) = sync_channel(WAITING);
    let thread = std::thread::Builder::new().name("stdin".into());
    let reads = thread.spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    reads.context("cannot read stdin")?;
    Ok(typed)
}

/// Values of a file of JSON: one after another, or in an array.
fn values(path: &Path, ready: &mut VecDeque<String>) -> Result<()> {
    let file = Some(path);
    let text = super::encode::read(file)?;
    let name = super::encode::name(file);
    let mut rest = text.as_slice();
    while !rest.trim_ascii().is_empty() {
        let used = match json::measure(rest, 1000, true) {
            Ok(Some(used)) => used,
            Ok(None) => bail!("{name}: the JSON is not whole"),
            Err(error) => bail!("{name}: {error}"),
        };
        let (value, after) = rest.split_at(used);
        rest = after;
        let mut tape = Tape::new();
        if let Err(error) = json::parse(value, Span::new(0, value.len()), 1000, &mut tape) {
            bail!("{name}: {error}");
        }
        let Some(root) = tape.root(value) else {
            continue;
        };
        let text = |node: wiretool::tape::Node<'_>| {
            String::from_utf8_lossy(node.span().of(value)).into_owned()
        };
        if root.is_array() {
            ready.extend(root.children().map(text));
        } else {
            ready.push_back(text(
                root.get("message")
                    .filter(|_| root.get("v").is_some() && root.get("framing").is_some())
                    .unwrap_or(root),
            ));
        }
    }
    Ok(())
}

/// Whether a message is the protocol's own hello.
fn opens(protocol: &dyn Protocol, message: &str) -> bool {
    use wiretool::conversation::carrier::{Carriage, Carrier};
    use wiretool::decoder::{Decoder, Options, Origin};
    use wiretool::framing::{Framing, LengthMode};
    use wiretool::protocol::Direction;
    let framing = Framing::Message;
    let side = Direction::ToServer;
    let mut carrier = Carrier::new(Carriage::new(protocol, framing, side), 0);
    let mut bytes = Vec::new();
    if carrier.say(message, None, None, &mut bytes).is_err() {
        return false;
    }
    let mut decoder = Decoder::new(Options {
        protocols: vec![protocol],
        framing: Some(framing),
        length_mode: LengthMode::Auto,
        limits: Limits::default(),
        resync: true,
        want: wiretool::encoding::Want::Places,
    });
    let origin = Origin {
        direction: Some(side),
        ..Origin::default()
    };
    let mut opens = false;
    let mut see = |decoded: &Decoded<'_>| opens |= protocol.is_hello(decoded.message);
    decoder.push(origin, &bytes, &mut see);
    decoder.finish(&mut see);
    opens
}

/// Shows answers on stdout, and everything else on stderr.
fn teller(protocol: &dyn Protocol, format: Format, look: Look) -> Teller<'_> {
    let mut notes = Notes::default();
    Box::new(move |tell, orders| match tell {
        Tell::Heard(decoded, verdict) => {
            orders.push(Order::Show(shown(
                decoded, verdict, format, look, &mut notes,
            )));
        }
        // JSON is a line a message.
        Tell::Hangs(what) if format == Format::Json => {
            hang(what, protocol, Look::default())
                .lines()
                .for_each(complain);
        }
        Tell::Hangs(what) => orders.push(Order::Show(hang(what, protocol, look))),
        Tell::Diverged(_) => {}
        Tell::Note(text) => complain(&text),
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
