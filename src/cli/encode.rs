//! `wiretool encode`: encodes messages, also with deliberate errors.

use super::options::{self, SharedArgs};
use super::output::CommandOutput;
use super::recording::has_header;
use super::values::parse_json;
use super::{Exit, print_message};
use crate::decoder::{Decoder, Origin};
use crate::encode::{EncodeOptions, Encoded, Encoder, is_stderr};
use crate::encoding::{Want, json};
use crate::error::Refusal;
use crate::framing::{Framing, LengthMode};
use crate::path::Path as Place;
use crate::protocol::make::IdGen;
use crate::protocol::registry::Protocols;
use crate::protocol::{Direction, Protocol};
use crate::render::{self, DisplayOptions};
use crate::span::Span;
use crate::tape::{Node, Tape};
use anyhow::{Result, anyhow, bail, ensure};
use base64::Engine as _;
use clap::ValueEnum;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool decode -f json --exact a.bin | wiretool encode --to raw
  echo '{\"version\":1,\"type\":\"call\",\"id\":\"x\",\"target\":\"a.b\",\"args\":[]}' | wiretool encode -p saikuro
  wiretool encode --set 'args[0]=7' call.json   change a value
  wiretool encode --length 9 call.json          write a wrong length, for tests";

pub const EXIT_CODES: &str = "\
Exit codes:
  0  every message was written
  1  a message is not valid and was not written
  2  usage, or a file that cannot be read or written";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputForm {
    /// Raw bytes
    Raw,
    /// One line of hex per frame, with its direction if known
    Hex,
    /// Like the output of xxd
    Xxd,
    /// Base64, one line
    Base64,
    /// Like the output of decode -f json
    Json,
}

/// The options of `encode` and `make` for output.
#[derive(clap::Args)]
pub struct WriteArgs {
    /// Output form [default: hex on a terminal, otherwise raw]
    #[arg(long, value_enum, value_name = "FORM", help_heading = "Output")]
    to: Option<OutputForm>,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Framing of the messages; the default depends on the input and the protocol
    #[arg(long, value_name = "FRAMING", value_parser = options::framing())]
    framing: Option<Framing>,
    /// telequick: how frames count their length; inclusive counts its own 4 bytes, too
    #[arg(long, value_name = "MODE", value_parser = options::written_length_mode())]
    length_mode: Option<LengthMode>,
    /// Direction of the bytes, if a message has none
    #[arg(long, value_name = "c2s|s2c", value_parser = options::direction())]
    dir: Option<Direction>,
    /// Use `MessagePack`, if the protocol has both
    #[arg(long)]
    msgpack: bool,
    /// telequick: schema file that extends or replaces the built-in one
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Seed for random choices: ids and masks
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write it anyway: JSON that is not a message of the protocol
    #[arg(long, help_heading = "Invalid output")]
    force: bool,
    /// Set a field: `params.calldata[0]="0x1"`; a value that is not JSON is text
    #[arg(long, value_name = "PATH=VALUE", help_heading = "Invalid output", value_parser = parse_assignment)]
    set: Vec<(String, String)>,
    /// Write this length instead of the correct one
    #[arg(long, value_name = "N", help_heading = "Invalid output")]
    length: Option<u32>,
    /// Truncate the output to N bytes
    #[arg(long, value_name = "N", help_heading = "Invalid output")]
    truncate: Option<u64>,
    /// Overwrite the bytes at this offset of the output
    #[arg(long, value_name = "OFFSET=HEX", help_heading = "Invalid output", value_parser = parse_patch)]
    patch: Vec<(u64, Vec<u8>)>,
}

/// Encode messages: lines of decode -f json, or plain messages
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// JSON, or a file of it; `-` or none: stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Protocol, if a message does not name it
    #[arg(short, long, value_name = "PROTOCOL", value_parser = options::protocol())]
    protocol: Option<String>,
    #[command(flatten)]
    written: WriteArgs,
}

fn parse_assignment(text: &str) -> Result<(String, String), String> {
    let (path, value) = text.split_once('=').ok_or("PATH=VALUE is wanted")?;
    Ok((path.to_owned(), crate::protocol::make::value(value)))
}

fn parse_patch(text: &str) -> Result<(u64, Vec<u8>), String> {
    let (offset, digits) = text.split_once('=').ok_or("OFFSET=HEX is wanted")?;
    let offset = super::decode::parse_offset(offset)?;
    let bytes = hex::decode(digits.replace(' ', ""))
        .map_err(|_| "wanted hex digits, two for each byte".to_owned())?;
    Ok((offset, bytes))
}

/// Runs `encode`.
pub fn run(args: &Args, shared: &SharedArgs) -> Result<Exit> {
    let protocols =
        options::protocols_for_writing(args.written.schema.as_deref(), args.protocol.as_deref())?;
    let inputs: Vec<PathBuf> = args.file.iter().cloned().collect();
    let mut job = EncodeJob::new(&args.written, &protocols, &inputs)?;
    let text = read_input(args.file.as_deref())?;
    if text.trim_ascii().is_empty() {
        shared.note("empty input: there is nothing to encode");
    }
    let name = input_name(args.file.as_deref());
    let decode = || {
        let file = shell_words::quote(if name == "stdin" { "FILE" } else { &name });
        format!("wiretool decode -f json {file} | wiretool encode")
    };
    if has_header(&text) {
        bail!("{name} is a recording, not messages: {}", decode());
    }
    let mut rest = text.as_slice();
    let mut line = 1;
    while let Some(value) = next_value(&mut rest).map_err(|error| {
        let of_capture = (line == 1).then(|| format!("; for a capture: {}", decode()));
        anyhow!(
            "{name}, line {line}: {error}{}",
            of_capture.unwrap_or_default()
        )
    })? {
        line += value
            .iter()
            .take_while(|b| b.is_ascii_whitespace())
            .filter(|b| **b == b'\n')
            .count();
        job.encode_value(value, &|refusal| {
            print_message(&format!("{name}, line {line}: {refusal}"));
        })?;
        line += memchr::memchr_iter(b'\n', value.trim_ascii_start()).count();
    }
    job.finish()
}

/// Takes the next JSON value of a text, with the blanks before it; `None` at the end.
pub fn next_value<'t>(rest: &mut &'t [u8]) -> Result<Option<&'t [u8]>, String> {
    if rest.trim_ascii().is_empty() {
        return Ok(None);
    }
    let used = json::measure(rest, 1000, true).map_err(|error| error.to_string())?;
    let (value, after) = rest.split_at(used.ok_or("the JSON is incomplete")?);
    *rest = after;
    Ok(Some(value))
}

pub fn input_name(path: Option<&Path>) -> String {
    match path.filter(|path| *path != Path::new("-")) {
        None => "stdin".into(),
        Some(path) if given_message(path).is_some() => "the message".into(),
        Some(path) => path.display().to_string(),
    }
}

/// Returns JSON that stands in the place of a file.
fn given_message(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let is_json = text.trim_start().starts_with(['{', '[']);
    (is_json && !path.exists()).then_some(text)
}

/// Reads the whole input: JSON over several lines ends only with its last bracket.
pub fn read_input(path: Option<&Path>) -> Result<Vec<u8>> {
    let path = path.unwrap_or(Path::new("-"));
    ensure!(
        path != Path::new("-") || !std::io::stdin().is_terminal(),
        "no FILE, and stdin is a terminal: name a file, or pipe messages in (wiretool encode --help)"
    );
    match given_message(path) {
        Some(text) => Ok(text.as_bytes().to_vec()),
        None => super::values::read_input(path),
    }
}

/// Encodes messages and writes the bytes.
pub struct EncodeJob<'p> {
    encoder: Encoder<'p>,
    protocols: Vec<&'p dyn Protocol>,
    pub direction: Option<Direction>,
    to: OutputForm,
    output: CommandOutput,
    written: &'p WriteArgs,
    seed: u64,
    /// The number of bytes written so far.
    at: u64,
    /// All bytes, for forms that show them as a whole.
    all: Vec<u8>,
    frames: Vec<Encoded>,
    refused: bool,
    /// The command line names the protocol.
    is_named: bool,
}

impl<'p> EncodeJob<'p> {
    pub fn new(
        written: &'p WriteArgs,
        protocols: &'p Protocols,
        inputs: &[PathBuf],
    ) -> Result<Self> {
        let terminal = written.output.is_none() && options::stdout_is_terminal();
        let to = match written.to {
            Some(OutputForm::Raw) if terminal => {
                bail!(
                    "stdout is a terminal: for raw bytes use -o FILE or a pipe, otherwise --to hex"
                )
            }
            Some(to) => to,
            None if terminal => OutputForm::Hex,
            None => OutputForm::Raw,
        };
        let seed = written.seed.unwrap_or_else(|| fastrand::u64(..));
        let encoder = Encoder::new(
            EncodeOptions {
                protocols: protocols.all(),
                protocol: protocols.named(),
                framing: written.framing,
                length_mode: written.length_mode,
                direction: written.dir,
                packed: written.msgpack,
                force: written.force,
                length: written.length,
            },
            IdGen::new(seed),
        );
        let mut output = CommandOutput::open(written.output.as_deref(), inputs)?;
        output.is_json = matches!(to, OutputForm::Json);
        Ok(Self {
            encoder,
            protocols: protocols.possible(),
            direction: written.dir,
            to,
            output,
            written,
            seed,
            at: 0,
            all: Vec::new(),
            frames: Vec::new(),
            refused: false,
            is_named: protocols.named().is_some(),
        })
    }

    /// Returns a separate generator, so that masks do not depend on the number of generated ids.
    pub fn new_generator(&self) -> IdGen {
        IdGen::new(self.seed ^ 1)
    }

    /// Encodes a JSON value: a line of decode, a message, or an array of them.
    fn encode_value(&mut self, text: &[u8], refuse: &dyn Fn(Refusal)) -> Result<()> {
        let mut tape = Tape::new();
        let root = parse_json(text, &mut tape).map_err(|_| anyhow!("the input is not JSON"))?;
        if root.is_array() {
            for item in root.children() {
                self.encode_message(item.span().of(text), None, refuse)?;
            }
            return Ok(());
        }
        self.encode_message(text, None, refuse)
    }

    pub fn encode_message(
        &mut self,
        text: &[u8],
        direction: Option<Direction>,
        refuse: &dyn Fn(Refusal),
    ) -> Result<()> {
        let mut text = text.to_vec();
        for (path, value) in &self.written.set {
            match replace_value(&text, path, value) {
                Ok(changed) => text = changed,
                Err(refusal) => {
                    self.refused = true;
                    refuse(refusal);
                    return Ok(());
                }
            }
        }
        let mut tape = Tape::new();
        let root = parse_json(&text, &mut tape).map_err(|_| anyhow!("the input is not JSON"))?;
        if is_stderr(root) {
            return Ok(());
        }
        let encoded = match direction {
            Some(_) => self.encoder.message(root, direction),
            None => self.encoder.encode(root),
        };
        match encoded {
            Ok(encoded) => self.write_frame(encoded),
            Err(mut refusal) => {
                self.refused = true;
                if !self.is_named && root.get("protocol").is_none() {
                    refusal.got.to_mut().push_str("; -p NAME names it");
                }
                refuse(refusal);
                Ok(())
            }
        }
    }

    /// Writes a frame, with the requested damage.
    fn write_frame(&mut self, mut encoded: Encoded) -> Result<()> {
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
            OutputForm::Raw => self.output.push(bytes),
            OutputForm::Hex if bytes.is_empty() => {}
            OutputForm::Hex => {
                let mark = match encoded.direction {
                    Some(Direction::ToServer) => "> ",
                    Some(Direction::ToClient) => "< ",
                    None => "",
                };
                let line = format!("{mark}{}\n", hex::encode(bytes));
                self.output.push(&line);
            }
            OutputForm::Xxd | OutputForm::Base64 => self.all.extend_from_slice(bytes),
            OutputForm::Json => self.frames.push(encoded),
        }
        self.output.written()
    }

    pub fn finish(mut self) -> Result<Exit> {
        for encoded in self.encoder.finish() {
            self.write_frame(encoded)?;
        }
        let mut patches = self.written.patch.iter();
        let is_outside =
            |(offset, bytes): &&(u64, Vec<u8>)| offset.saturating_add(bytes.len() as u64) > self.at;
        if let Some((offset, _)) = patches.find(is_outside) {
            let len = self.at;
            print_message(&format!(
                "--patch {offset}: the output has only {len} bytes"
            ));
            self.refused = true;
        }
        match self.to {
            OutputForm::Xxd => format_xxd(&self.all, self.output.buffer()),
            OutputForm::Base64 => {
                let text = base64::engine::general_purpose::STANDARD.encode(&self.all);
                self.output.push_line(&text);
            }
            OutputForm::Json => self.show_decoded(),
            OutputForm::Raw | OutputForm::Hex => {}
        }
        self.output.finish()?;
        Ok(Exit::negative_if(self.refused))
    }

    /// Writes the bytes as decode shows them.
    fn show_decoded(&mut self) {
        let mut decoder = Decoder::new(crate::decoder::DecodeOptions {
            framing: self.written.framing,
            want: Want::Text,
            ..crate::decoder::DecodeOptions::new(self.protocols.clone())
        });
        let room = self.output.buffer();
        let mut is_shown = self.frames.is_empty();
        let mut sink = |decoded: &crate::decoder::Decoded<'_>| {
            is_shown = true;
            render::json::write(decoded, None, DisplayOptions::default(), room);
        };
        for frame in &self.frames {
            let origin = Origin {
                direction: frame.direction,
                ..Origin::default()
            };
            decoder.push(origin, &frame.bytes, &mut sink);
        }
        decoder.finish(&mut sink);
        if !is_shown {
            print_message("no protocol recognises the written bytes: name it with -p");
            self.refused = true;
        }
    }
}

/// Replaces the value at a path in a text; in a line of decode, the path is relative to its message.
fn replace_value(text: &[u8], path: &str, value: &str) -> Result<Vec<u8>, Refusal> {
    let mut tape = Tape::new();
    let root = parse_json(text, &mut tape).ok();
    let line = root.filter(|root| root.get("v").is_some());
    // The bytes of `raw` are written, not the message.
    if let Some(raw) = line.and_then(|line| line.get("raw")) {
        let Some(body) = raw.text() else {
            let wanted = "a message that can be read";
            return Err(Refusal::new(path, wanted, "bytes alone, in `raw`"));
        };
        let mut tape = Tape::new();
        let message = parse_json(body.as_bytes(), &mut tape).ok();
        let place = find_value(message, path)?;
        let body = splice(body.as_bytes(), place, value);
        let body = serde_json::to_string(&String::from_utf8_lossy(&body)).unwrap_or_default();
        return Ok(splice(text, raw.span(), &body));
    }
    let message = line.and_then(|line| line.get("message")).or(root);
    Ok(splice(text, find_value(message, path)?, value))
}

fn find_value(message: Option<Node<'_>>, path: &str) -> Result<Span, Refusal> {
    let place = path.parse::<Place>().ok();
    let found = message.and_then(|message| place?.find(message));
    let found = found.ok_or_else(|| Refusal::new(path, "a value to change", "nothing"))?;
    Ok(found.span())
}

/// Replaces a part of a text.
fn splice(text: &[u8], part: Span, new: &str) -> Vec<u8> {
    let before = text.get(..part.at()).unwrap_or_default();
    let after = text.get(part.end()..).unwrap_or_default();
    [before, new.as_bytes(), after].concat()
}

/// Formats bytes as `xxd` does.
fn format_xxd(bytes: &[u8], out: &mut Vec<u8>) {
    for (i, row) in bytes.chunks(16).enumerate() {
        let pairs: Vec<String> = row.chunks(2).map(hex::encode).collect();
        let text: String = row
            .iter()
            .map(|b| {
                let is_shown = b.is_ascii_graphic() || *b == b' ';
                if is_shown { char::from(*b) } else { '.' }
            })
            .collect();
        out.extend_from_slice(
            format!("{:08x}: {:<39}  {text}\n", i * 16, pairs.join(" ")).as_bytes(),
        );
    }
}
