//! `wiretool encode`: messages into bytes, right ones and wrong ones.

use super::options::{self, Shared};
use super::output::Output;
use super::{Exit, complain};
use crate::decoder::{Decoder, Origin};
use crate::encode::{Encoded, Encoder, Options};
use crate::encoding::{Want, json};
use crate::error::Refusal;
use crate::framing::{Framing, LengthMode};
use crate::path::Path as Place;
use crate::protocol::make::Mint;
use crate::protocol::registry::Protocols;
use crate::protocol::{Direction, Protocol};
use crate::render::{self, Look};
use crate::span::Span;
use crate::tape::Tape;
use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use clap::ValueEnum;
use std::io::Read as _;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool decode -f json --exact a.bin | wiretool encode --to raw  a.bin again
  echo '{\"version\":1,\"type\":\"call\",\"id\":\"x\",\"target\":\"a.b\",\"args\":[]}' | wiretool encode -p saikuro
  wiretool encode --set 'args[0]=7' call.json                       the same with one value changed
  wiretool encode --length 9 call.json                              a length that lies, on purpose";

pub const EXIT_CODES: &str = "\
Exit codes:
  0  every message was written
  1  a message was refused
  2  usage, or a file that cannot be read or written";

/// The forms bytes are written in.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// The bytes themselves
    Raw,
    /// A line of hex a frame, with its direction where known
    Hex,
    /// As xxd writes it
    Xxd,
    /// Base64, one line
    Base64,
    /// What decode -f json makes of the bytes
    Json,
}

/// How frames are written; `make` writes alike.
#[derive(clap::Args)]
pub struct Written {
    /// In which form; raw where stdout is no terminal
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Output")]
    to: Option<To>,
    /// Write here, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// How messages are delimited; as lines of decode say, else as peers of the protocol do
    #[arg(long, value_name = "FRAMING", value_parser = options::names(Framing::ALL.map(Framing::name)))]
    framing: Option<String>,
    /// How telequick's lengths count
    #[arg(long, value_name = "MODE", value_parser = options::names(["exclusive", "inclusive"]))]
    length_mode: Option<String>,
    /// Which way the bytes go, of messages that do not say: clients mask WebSocket frames
    #[arg(long, value_name = "c2s|s2c", value_parser = options::names(["c2s", "s2c"]))]
    dir: Option<String>,
    /// Where the protocol has both: `MessagePack`, not JSON
    #[arg(long)]
    msgpack: bool,
    /// telequick definitions that replace or extend the built-in ones
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// What is left to chance follows from this number: random ids and masks
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Do it all the same: write what is none of the protocol's messages
    #[arg(long, help_heading = "Damage")]
    force: bool,
    /// Change a value: `params.calldata[0]="0x1"`; what is no JSON is text
    #[arg(long, value_name = "PATH=VALUE", help_heading = "Damage", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Write this length in place of the right one
    #[arg(long, value_name = "N", help_heading = "Damage")]
    length: Option<u32>,
    /// End the output after so many bytes
    #[arg(long, value_name = "N", help_heading = "Damage")]
    truncate: Option<u64>,
    /// Put bytes over those at an offset of the output
    #[arg(long, value_name = "OFFSET=HEX", help_heading = "Damage", value_parser = patch)]
    patch: Vec<(u64, Vec<u8>)>,
}

/// Write messages as bytes: lines of decode -f json, messages alone, or an array of either
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// JSON; `-` or none is stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Which protocol, of messages that do not say
    #[arg(short, long, value_name = "PROTOCOL", value_parser = options::names(options::protocol_names()))]
    protocol: Option<String>,
    #[command(flatten)]
    written: Written,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let (path, value) = text.split_once('=').ok_or("PATH=VALUE is wanted")?;
    Ok((path.to_owned(), crate::protocol::make::value(value)))
}

fn patch(text: &str) -> Result<(u64, Vec<u8>), String> {
    let (offset, digits) = text.split_once('=').ok_or("OFFSET=HEX is wanted")?;
    let offset = super::decode::offset(offset)?;
    let bytes = hex::decode(digits.replace(' ', ""))
        .map_err(|_| "hex digits are wanted, two a byte".to_owned())?;
    Ok((offset, bytes))
}

/// Runs `encode`.
pub fn run(args: &Args, shared: &Shared) -> Result<Exit> {
    let protocols =
        options::protocols_for_writing(args.written.schema.as_deref(), args.protocol.as_deref())?;
    let inputs: Vec<PathBuf> = args.file.iter().cloned().collect();
    let mut job = Job::new(&args.written, &protocols, &inputs, shared)?;
    let text = read(args.file.as_deref())?;
    if text.trim_ascii().is_empty() && !shared.quiet {
        complain("empty input: there is nothing to encode");
    }
    let mut rest = text.as_slice();
    let mut line = 1;
    while !rest.trim_ascii().is_empty() {
        let place = |what: &str| format!("{}, line {line}: {what}", name(args.file.as_deref()));
        let used = match json::measure(rest, 1000, true) {
            Ok(Some(used)) => used,
            Ok(None) => bail!(place("the JSON is not whole")),
            Err(error) => bail!(place(&error.to_string())),
        };
        let (value, after) = rest.split_at(used);
        line += value
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .filter(|b| **b == b'\n')
            .count();
        job.value(value, &|refusal| {
            complain(&format!(
                "{}, line {line}: {refusal}",
                name(args.file.as_deref())
            ));
        })?;
        line += memchr::memchr_iter(b'\n', value.trim_ascii_start()).count();
        rest = after;
    }
    job.finish()
}

pub fn name(path: Option<&Path>) -> String {
    path.filter(|p| *p != Path::new("-"))
        .map_or("stdin".into(), |p| p.display().to_string())
}

/// All of the input: JSON that spans lines has no other end than its last bracket.
pub fn read(path: Option<&Path>) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(path) = path.filter(|p| *p != Path::new("-")) {
        let mut file =
            std::fs::File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        file.read_to_end(&mut text)
            .with_context(|| format!("cannot read {}", path.display()))?;
    } else {
        let mut stdin = std::io::stdin().lock();
        if std::io::IsTerminal::is_terminal(&stdin) {
            bail!(
                "no FILE, and stdin is a terminal: name a file, or pipe messages in (wiretool encode --help)"
            );
        }
        stdin.read_to_end(&mut text).context("cannot read stdin")?;
    }
    Ok(text)
}

/// Messages on their way to bytes.
pub struct Job<'p> {
    encoder: Encoder<'p>,
    protocols: Vec<&'p dyn Protocol>,
    pub direction: Option<Direction>,
    to: To,
    output: Output,
    written: &'p Written,
    seed: u64,
    /// Bytes written so far.
    at: u64,
    /// Everything, for forms that show the whole.
    all: Vec<u8>,
    frames: Vec<Encoded>,
    refused: bool,
}

impl<'p> Job<'p> {
    pub fn new(
        written: &'p Written,
        protocols: &'p Protocols,
        inputs: &[PathBuf],
        _: &Shared,
    ) -> Result<Self> {
        let terminal = written.output.is_none() && options::stdout_is_terminal();
        let to = match written.to {
            Some(To::Raw) if terminal => {
                bail!("raw bytes would upset the terminal: use --to hex, -o FILE, or a pipe")
            }
            Some(to) => to,
            None if terminal => To::Hex,
            None => To::Raw,
        };
        let seed = written.seed.unwrap_or_else(random_seed);
        let all = protocols.all();
        let encoder = Encoder::new(
            Options {
                protocols: all.clone(),
                protocol: protocols.named(),
                framing: written.framing.as_deref().and_then(Framing::from_name),
                length_mode: written
                    .length_mode
                    .as_deref()
                    .and_then(LengthMode::from_name),
                direction: written.dir.as_deref().and_then(Direction::from_name),
                packed: written.msgpack,
                force: written.force,
                length: written.length,
            },
            Mint::new(seed),
        );
        let mut output = Output::open(written.output.as_deref(), inputs)?;
        output.is_json = matches!(to, To::Json);
        let mut output = Output::open(written.output.as_deref(), inputs)?;
        output.is_json = matches!(to, To::Json);
        Ok(Self {
            encoder,
            protocols: all,
            direction: written.dir.as_deref().and_then(Direction::from_name),
            to,
            output,
            written,
            seed,
            at: 0,
            all: Vec::new(),
            frames: Vec::new(),
            refused: false,
        })
    }

    /// Ids of its own, so that masks do not depend on how many ids were made.
    pub fn mint(&self) -> Mint {
        Mint::new(self.seed ^ 1)
    }

    /// One JSON value: a line of decode, a message, or an array of them.
    fn value(&mut self, text: &[u8], refuse: &dyn Fn(Refusal)) -> Result<()> {
        let mut tape = Tape::new();
        if json::parse(text, Span::new(0, text.len()), 1000, &mut tape).is_err() {
            bail!("the input is no JSON");
        }
        let Some(root) = tape.root(text) else {
            return Ok(());
        };
        if root.is_array() {
            for item in root.children() {
                self.one(item.span().of(text), None, refuse)?;
            }
            return Ok(());
        }
        self.one(text, None, refuse)
    }

    pub fn one(
        &mut self,
        text: &[u8],
        direction: Option<Direction>,
        refuse: &dyn Fn(Refusal),
    ) -> Result<()> {
        let mut text = text.to_vec();
        for (path, value) in &self.written.set {
            match assign(&text, path, value) {
                Ok(changed) => text = changed,
                Err(refusal) => {
                    self.refused = true;
                    refuse(refusal);
                    return Ok(());
                }
            }
        }
        let mut tape = Tape::new();
        if json::parse(&text, Span::new(0, text.len()), 1000, &mut tape).is_err() {
            bail!("the input is no JSON");
        }
        let Some(root) = tape.root(&text) else {
            return Ok(());
        };
        let encoded = match direction {
            Some(_) => self.encoder.message(root, direction),
            None => self.encoder.encode(root),
        };
        match encoded {
            Ok(encoded) => self.put(encoded),
            Err(refusal) => {
                self.refused = true;
                refuse(refusal);
                Ok(())
            }
        }
    }

    /// A frame goes out, damaged where that was asked for.
    fn put(&mut self, mut encoded: Encoded) -> Result<()> {
        let start = self.at;
        self.at += encoded.bytes.len() as u64;
        for (offset, bytes) in &self.written.patch {
            for (place, byte) in (*offset..).zip(bytes) {
                let at = place
                    .checked_sub(start)
                    .and_then(|at| usize::try_from(at).ok());
                if let Some(slot) = at.and_then(|at| encoded.bytes.get_mut(at)) {
                    *slot = *byte;
                }
            }
        }
        if let Some(most) = self.written.truncate {
            let room = most.saturating_sub(start).min(encoded.bytes.len() as u64);
            encoded.bytes.truncate(room as usize);
        }
        let bytes = &encoded.bytes;
        match self.to {
            To::Raw => self.output.room().extend_from_slice(bytes),
            To::Hex if bytes.is_empty() => {}
            To::Hex => {
                let mark = match encoded.direction {
                    Some(Direction::ToServer) => "> ",
                    Some(Direction::ToClient) => "< ",
                    None => "",
                };
                let line = format!("{mark}{}\n", hex::encode(bytes));
                self.output.room().extend_from_slice(line.as_bytes());
            }
            To::Xxd | To::Base64 => self.all.extend_from_slice(bytes),
            To::Json => self.frames.push(encoded),
        }
        self.output.written()
    }

    pub fn finish(mut self) -> Result<Exit> {
        for encoded in self.encoder.finish() {
            self.put(encoded)?;
        }
        match self.to {
            To::Xxd => xxd(&self.all, self.output.room()),
            To::Base64 => {
                let text = base64::engine::general_purpose::STANDARD.encode(&self.all);
                self.output.room().extend_from_slice(text.as_bytes());
                self.output.room().push(b'\n');
            }
            To::Json => self.decoded(),
            To::Raw | To::Hex => {}
        }
        self.output.finish()?;
        Ok(if self.refused { Exit::No } else { Exit::Clean })
    }

    /// What decode makes of the bytes.
    fn decoded(&mut self) {
        let mut decoder = Decoder::new(crate::decoder::Options {
            framing: self.written.framing.as_deref().and_then(Framing::from_name),
            want: Want::Text,
            ..crate::decoder::Options::new(self.protocols.clone())
        });
        let room = self.output.room();
        let mut sink = |decoded: &crate::decoder::Decoded<'_>| {
            render::json::write(decoded, None, Look::default(), room);
        };
        for frame in &self.frames {
            let origin = Origin {
                direction: frame.direction,
                ..Origin::default()
            };
            decoder.push(origin, &frame.bytes, &mut sink);
        }
        decoder.finish(&mut sink);
    }
}

/// A seed that nobody chose.
pub fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish()
}

/// The text with the value at a path replaced; a line of decode is changed in its message.
fn assign(text: &[u8], path: &str, value: &str) -> Result<Vec<u8>, Refusal> {
    let mut tape = Tape::new();
    let parsed = json::parse(text, Span::new(0, text.len()), 1000, &mut tape);
    let root = tape.root(text).filter(|_| parsed.is_ok());
    let message = root.map(|root| match root.get("message") {
        Some(message) if root.get("v").is_some() => message,
        _ => root,
    });
    let place = path.parse::<Place>().ok();
    let Some(node) = message.and_then(|message| place?.find(message)) else {
        return Err(Refusal::new(path, "a value to change", "nothing"));
    };
    let span = node.span();
    let mut changed = text.get(..span.at()).unwrap_or_default().to_vec();
    changed.extend_from_slice(value.as_bytes());
    changed.extend_from_slice(text.get(span.end()..).unwrap_or_default());
    Ok(changed)
}

/// Bytes as `xxd` writes them.
fn xxd(bytes: &[u8], out: &mut Vec<u8>) {
    for (i, row) in bytes.chunks(16).enumerate() {
        let pairs: Vec<String> = row.chunks(2).map(hex::encode).collect();
        let text: String = row
            .iter()
            .map(|b| {
                if b.is_ascii_graphic() || *b == b' ' {
                    *b as char
                } else {
                    '.'
                }
            })
            .collect();
        out.extend_from_slice(
            format!("{:08x}: {:<39}  {text}\n", i * 16, pairs.join(" ")).as_bytes(),
        );
    }
}
