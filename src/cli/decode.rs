//! `wiretool decode`: what is in a capture, message by message.

// Long: the flags, the screen they shape, and two look-ups, all of one command.

use super::folds::Folds;
use super::input::{self, Show};
use super::options::{self, Shared};
use super::output::Output;
use super::{Exit, complain};
use anyhow::Result;
use clap::ValueEnum;
use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use wiretool::decoder::{Decoded, Decoder};
use wiretool::encoding::Want;
use wiretool::framing::Framing;
use wiretool::protocol::{Notes, Role};
use wiretool::render::fields::{brief, fields, owner};
use wiretool::render::{Look, hex, json, line, tree};
use wiretool::select::Select;
use wiretool::verify::{Counts, Verdict, Verify};

const EXAMPLES: &str = "\
Examples:
  wiretool decode capture.bin                    a line a message; a lone one as a tree
  xxd -p capture.bin | wiretool decode           hex dumps, base64, gzip: recognised
  wiretool decode -p oracle --dir s2c out.log    say what it is where bytes do not tell
  wiretool decode --c2s a.bin --s2c b.bin        two one-way files as one conversation
  wiretool decode -f json FILE                   a JSON object a message, for programs
  wiretool decode --verify FILE                  does what decode tells give the same bytes again?
  wiretool decode -f hex --head 1 FILE           the bytes of the first message beside its fields
  wiretool decode --at 0x42 FILE                 which field owns this byte?
  wiretool decode --path params.selector FILE    where does this field lie?
  wiretool decode --faults FILE                  only what is wrong";

const EXIT_CODES: &str = "\
Exit codes:
  0  every message could be decoded
  1  a message is at fault, or nothing matched
  2  usage, or a file that cannot be read or written";

/// Decode captures: every message, where each field lies, and what is wrong
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[allow(clippy::struct_excessive_bools)] // each is a flag
pub struct Args {
    #[command(flatten)]
    input: options::Input,
    #[command(flatten)]
    wire: options::Wire,
    #[command(flatten)]
    select: Selection,
    /// How messages are shown; tree for one message alone, else line
    #[arg(
        short,
        long,
        value_enum,
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    format: Option<Format>,
    /// With -f json: also `wire` and `raw`, so that encode gives the same bytes again
    #[arg(long, help_heading = "Output")]
    exact: bool,
    /// Tell each frame as --exact does, write it anew, and say which bytes differ
    #[arg(long, help_heading = "Output", conflicts_with_all = ["format", "exact", "at", "path", "tail"])]
    verify: bool,
    /// Write here, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Show tokens, capabilities and other secrets in clear
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
    /// Show what a sael stream's value is after each delta; not in json
    #[arg(long, help_heading = "Output")]
    state: bool,
    /// Name the field that owns the byte at this offset of its direction's stream
    #[arg(long, value_name = "OFFSET", value_parser = offset, help_heading = "Lookup", conflicts_with = "path")]
    at: Option<u64>,
    /// Give the byte range of this field: `params.calldata[0]`
    #[arg(long, value_name = "PATH", help_heading = "Lookup")]
    path: Option<String>,
    /// Print the JSON Schema of `-f json` and stop
    #[arg(long, help_heading = "Output", exclusive = true)]
    print_schema: bool,
}

/// Which messages are shown.
#[derive(clap::Args)]
#[command(next_help_heading = "Selection")]
struct Selection {
    /// Only these kinds; `*` stands for anything
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kind: Vec<String>,
    /// Only these roles
    #[arg(long, value_name = "ROLE", value_delimiter = ',', value_parser = options::names(Role::ALL.map(Role::name)))]
    role: Vec<String>,
    /// Only these ids
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    id: Vec<String>,
    /// Only these methods, targets, selectors, tools or topics; `*` stands for anything
    #[arg(long, value_name = "SUBJECT", value_delimiter = ',')]
    subject: Vec<String>,
    /// Only these connections
    #[arg(long, value_name = "N", value_delimiter = ',')]
    conn: Vec<u32>,
    /// Only messages at fault
    #[arg(long)]
    faults: bool,
    /// Only messages with this text in them
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// Pass over the first N that match
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// Stop after N
    #[arg(long, value_name = "N")]
    head: Option<u64>,
    /// Only the last N
    #[arg(long, value_name = "N", conflicts_with = "head")]
    tail: Option<usize>,
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

/// A number of bytes, in decimal or hex.
pub fn offset(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "a byte offset is wanted, such as 66 or 0x42".into())
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    if args.print_schema {
        let mut output = Output::open(None, &[])?;
        output.room().extend_from_slice(json::SCHEMA.as_bytes());
        output.finish()?;
        return Ok(Exit::Clean);
    }
    // Checked only where it is said outright: bare bodies carry nothing that would name their struct.
    if args.wire.framing == Framing::Bare.name() && args.wire.as_struct.is_none() {
        anyhow::bail!(
            "bare bodies do not say what they are: name it with --struct (wiretool decode --help)"
        );
    }
    if args.exact && args.format != Some(Format::Json) {
        anyhow::bail!("--exact adds to JSON: it needs -f json");
    }
    let protocols = args.wire.protocols()?;
    let inputs: Vec<PathBuf> = [&args.input.files, &args.input.c2s, &args.input.s2c]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let to_file = args.output.is_some();
    let output = Output::open(args.output.as_deref(), &inputs)?;
    let look = Look {
        show_secrets: args.show_secrets,
        ..look
    };
    let look = if to_file {
        Look {
            terminal: false,
            width: None,
            ..look
        }
    } else {
        look
    };
    let mut screen = Screen::new(args, shared, look, output);
    let options = args.wire.options(&protocols, screen.want());
    let result = input::read(&args.input, &options, &mut screen);
    // What was decoded before the trouble is shown all the same.
    match result {
        Ok(()) => screen.finish(),
        Err(error) => {
            if !super::is_closed_pipe(&error) && !to_file {
                screen.release()?;
                screen.output.flush()?;
            }
            Err(error)
        }
    }
}

/// What is asked of each frame.
enum Lookup {
    None,
    At(u64),
    Path(String),
}

/// The frame that may be the only one, in both forms it may be shown in.
struct Lone {
    line: String,
    tree: String,
}

/// Shows frames as they come.
#[allow(clippy::struct_excessive_bools)] // each is a flag or a verdict of its own
struct Screen {
    /// What was asked for; none: tree for a lone message, else line.
    format: Option<Format>,
    exact: bool,
    verify: Option<Box<Verify>>,
    counts: Counts,
    lookup: Lookup,
    select: Select,
    skip: u64,
    head: Option<u64>,
    tail: Option<usize>,
    last: VecDeque<Vec<u8>>,
    look: Look,
    output: Output,
    notes: Notes,
    folds: Option<Folds>,
    scratch: Vec<u8>,
    text: String,
    lone: Option<Lone>,
    quiet: bool,
    verbose: bool,
    seen: u64,
    matched: u64,
    shown: u64,
    bytes: u64,
    /// Frames at fault, of all sources.
    faulty: u64,
    /// Input that could not be used.
    bad_input: bool,
    undetected: bool,
    source: Source,
    /// What is said once everything is shown.
    closing: Vec<String>,
}

/// What one source's closing line says.
#[derive(Default)]
struct Source {
    frames: u64,
    faulty: u64,
    first: Option<String>,
}

impl Screen {
    fn new(args: &Args, shared: &Shared, look: Look, output: Output) -> Self {
        let s = &args.select;
        let select = Select {
            kinds: s.kind.clone(),
            roles: s.role.iter().filter_map(|r| Role::from_name(r)).collect(),
            ids: s.id.clone(),
            subjects: s.subject.clone(),
            direction: args.input.dir,
            conns: s.conn.clone(),
            faults: s.faults,
            grep: s.grep.clone(),
        };
        let lookup = match (args.at, &args.path) {
            (Some(offset), _) => Lookup::At(offset),
            (None, Some(path)) => Lookup::Path(path.clone()),
            (None, None) => Lookup::None,
        };
        Self {
            format: args.format,
            exact: args.exact,
            verify: args.verify.then(Box::default),
            counts: Counts::default(),
            lookup,
            select,
            skip: s.skip,
            head: s.head,
            tail: s.tail,
            last: VecDeque::new(),
            look,
            output,
            notes: Notes::default(),
            folds: args.state.then(Folds::default),
            scratch: Vec::new(),
            text: String::new(),
            lone: None,
            quiet: shared.quiet,
            verbose: shared.verbose,
            seen: 0,
            matched: 0,
            shown: 0,
            bytes: 0,
            faulty: 0,
            bad_input: false,
            undetected: false,
            source: Source::default(),
            closing: Vec::new(),
        }
    }

    /// Writes what a frame is shown as to `self.scratch`.
    fn render(&mut self, decoded: &Decoded<'_>) {
        self.scratch.clear();
        self.text.clear();
        match (&self.lookup, self.format) {
            (Lookup::At(offset), _) => {
                say_owner(decoded, *offset, self.look, &mut self.notes, &mut self.text);
            }
            (Lookup::Path(path), _) => {
                say_range(decoded, path, self.look, &mut self.notes, &mut self.text);
            }
            (Lookup::None, Some(Format::Json)) => {
                json::write(decoded, self.look, &mut self.scratch);
            }
            (Lookup::None, Some(Format::Tree)) => {
                tree::write(decoded, self.look, &mut self.notes, &mut self.text);
            }
            (Lookup::None, Some(Format::Hex)) => {
                hex::write(decoded, self.look, &mut self.notes, &mut self.text);
            }
            (Lookup::None, Some(Format::Line) | None) => {
                line::write(decoded, self.look, &mut self.text);
                if let Some(folds) = &self.folds {
                    folds.line(self.look, &mut self.text);
                }
            }
        }
        if let (Lookup::None, Some(Format::Tree | Format::Hex), Some(folds)) =
            (&self.lookup, self.format, &self.folds)
        {
            folds.block(self.look, &mut self.text);
        }
        self.scratch.extend_from_slice(self.text.as_bytes());
    }

    /// A frame that turned out not to be the only one is a line like the others.
    fn release(&mut self) -> Result<()> {
        if let Some(lone) = self.lone.take() {
            self.output.room().extend_from_slice(lone.line.as_bytes());
            self.output.written()?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Exit> {
        if let Some(lone) = self.lone.take() {
            self.output.room().extend_from_slice(lone.tree.as_bytes());
        }
        for text in std::mem::take(&mut self.last) {
            self.output.room().extend_from_slice(&text);
            self.output.written()?;
        }
        if self.verify.is_some() {
            let text = format!("{}\n", self.counts);
            self.output.room().extend_from_slice(text.as_bytes());
        }
        self.output.finish()?;
        self.closing.iter().for_each(|text| complain(text));
        if self.bytes == 0 && !self.quiet {
            complain("empty input: there is nothing to decode");
        }
        let asked = !self.select.is_open() || !matches!(self.lookup, Lookup::None);
        let none = asked && self.shown == 0 && self.seen > 0;
        if none && !self.quiet {
            match &self.lookup {
                Lookup::At(offset) => {
                    complain(&format!("no message holds a byte at offset {offset}"));
                }
                Lookup::Path(path) => complain(&format!("no message has a field {path}")),
                Lookup::None => complain(&format!("none of {} messages matches", self.seen)),
            }
        }
        // A frame at fault that is the same again is no failure of this question.
        let failed = match self.verify {
            Some(_) => self.counts.different > 0,
            None => self.faulty > 0,
        };
        let no = failed || self.bad_input || self.undetected || none;
        Ok(if no { Exit::No } else { Exit::Clean })
    }
}

impl Show for Screen {
    fn frame(&mut self, decoded: &Decoded<'_>) -> Result<()> {
        self.seen += 1;
        self.source.frames += 1;
        if let Some((offset, fault)) = decoded.faults().next() {
            self.faulty += 1;
            self.source.faulty += 1;
            if self.source.first.is_none() {
                let hint = fault
                    .hint
                    .as_ref()
                    .map(|h| format!(" ({h})"))
                    .unwrap_or_default();
                self.source.first = Some(format!("offset {offset}: {fault}{hint}"));
            }
        }
        // Also of messages that are not shown: later ones build on them.
        if let Some(folds) = &mut self.folds {
            folds.see(decoded, self.look);
        }
        if self.is_done() || !self.select.matches(decoded, &mut self.scratch) {
            return Ok(());
        }
        self.matched += 1;
        if self.matched <= self.skip {
            return Ok(());
        }
        if let Some(verify) = &mut self.verify {
            let Some(verdict) = verify.frame(decoded) else {
                return Ok(());
            };
            self.counts.add(&verdict);
            self.shown += 1;
            if verdict != Verdict::Identical(None) {
                self.text.clear();
                say(decoded, &verdict.to_string(), self.look, &mut self.text);
                self.output.room().extend_from_slice(self.text.as_bytes());
            }
            return self.output.written();
        }
        if self.format == Some(Format::Json)
            && self.tail.is_none()
            && matches!(self.lookup, Lookup::None)
        {
            self.shown += 1;
            json::write(decoded, self.look, self.output.room());
            return self.output.written();
        }
        self.render(decoded);
        if self.scratch.is_empty() {
            return Ok(());
        }
        self.shown += 1;
        if let Some(most) = self.tail {
            self.last.push_back(std::mem::take(&mut self.scratch));
            if self.last.len() > most {
                self.last.pop_front();
            }
            return Ok(());
        }
        if self.format.is_none() && self.shown == 1 && matches!(self.lookup, Lookup::None) {
            let mut text = String::new();
            tree::write(decoded, self.look, &mut self.notes, &mut text);
            if let Some(folds) = &self.folds {
                folds.block(self.look, &mut text);
            }
            self.lone = Some(Lone {
                line: std::mem::take(&mut self.text),
                tree: text,
            });
            return Ok(());
        }
        self.release()?;
        self.output.room().extend_from_slice(&self.scratch);
        self.output.written()
    }

    fn idle(&mut self) -> Result<()> {
        self.release()?;
        self.output.flush()?;
        // A file that is followed may never grow again, and then nothing would be written that shows it.
        if self.output.reader_is_gone() {
            return Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe).into());
        }
        Ok(())
    }

    fn note(&mut self, source: &str, text: &str, bad: bool) {
        self.bad_input |= bad;
        if bad || !self.quiet {
            complain(&if source.is_empty() {
                text.to_owned()
            } else {
                format!("{source}: {text}")
            });
        }
    }

    fn detail(&mut self, source: &str, text: &str) {
        if self.verbose {
            complain(&format!("{source}: {text}"));
        }
    }

    fn begin(&mut self, _: &str, _: bool) {
        self.source = Source::default();
    }

    fn end(&mut self, source: &str, bytes: u64, decoder: &Decoder<'_>) -> Result<()> {
        self.bytes += bytes;
        if let Some(guess) = decoder.guess() {
            let next = guess
                .runner_up
                .as_ref()
                .map(|r| format!("; next would be {r}"))
                .unwrap_or_default();
            let text = format!(
                "{} ({}): {}{next}",
                guess.protocol,
                guess.framing.name(),
                guess.evidence
            );
            if guess.tie && !self.quiet {
                let other = guess.runner_up.as_deref().unwrap_or("another protocol");
                complain(&format!(
                    "{source}: read as {}, could as well be {other}: name it with -p",
                    guess.protocol
                ));
            }
            self.detail(source, &text);
        }
        if decoder.protocol().is_none() && bytes > 0 {
            self.undetected = decoder.undetected() > 0;
            if self.undetected {
                let text = "no protocol recognises these bytes: name it with -p, and the framing with --framing";
                self.note(source, text, true);
            } else {
                self.note(source, "there are no bytes in this input to decode", true);
            }
        }
        let Source {
            frames,
            faulty,
            first,
        } = std::mem::take(&mut self.source);
        if let Some(first) = first {
            let count = format!("{faulty} of {frames} messages at fault");
            let text = match self.format {
                // A terminal has just shown what it is.
                Some(Format::Tree | Format::Line | Format::Hex) | None if self.look.terminal => {
                    format!("{source}: {count}")
                }
                _ => format!("{source}: {first}; {count}"),
            };
            if !self.quiet {
                self.closing.push(text);
            }
        }
        // Before the notes, what they are about: both may go to the same terminal.
        if self.lone.is_none() && self.tail.is_none() {
            self.output.flush()?;
            self.closing.drain(..).for_each(|text| complain(&text));
        }
        Ok(())
    }

    fn want(&self) -> Want {
        if self.verify.is_some() {
            return Want::Exact;
        }
        let places = !matches!(self.lookup, Lookup::None)
            || self.folds.is_some()
            || matches!(self.format, Some(Format::Tree | Format::Hex));
        if places || (self.format.is_none() && self.shown == 0) {
            Want::Places
        } else if self.exact {
            Want::Exact
        } else if self.format == Some(Format::Json) || self.select.grep.is_some() {
            Want::Text
        } else {
            Want::Head
        }
    }

    fn is_done(&self) -> bool {
        self.head.is_some_and(|head| self.shown >= head)
    }
}

/// The field that owns the byte at an offset, where it is in this frame.
fn say_owner(decoded: &Decoded<'_>, offset: u64, look: Look, notes: &mut Notes, out: &mut String) {
    let frame = decoded.frame;
    if offset < frame.offset || offset >= frame.offset + frame.len {
        return;
    }
    decoded.annotate(notes);
    let fields = fields(decoded);
    let found = frame
        .view
        .index_of(offset)
        .and_then(|at| owner(&fields, at));
    let place = match found {
        None => "frame header, or bytes that no field owns".to_owned(),
        Some((field, is_key)) => {
            let span = if is_key {
                field.key.unwrap_or(field.span)
            } else {
                field.span
            };
            let Range { start, end } = frame.view.range(span);
            let name = if field.path.is_empty() {
                "message"
            } else {
                &field.path
            };
            let secret = !look.show_secrets
                && (field.secret || field.node.is_some_and(|n| notes.is_secret(n)));
            let value = match field.node {
                _ if secret => "(secret)".to_owned(),
                Some(node) => brief(node),
                None => field.text.clone().into_owned(),
            };
            let what = if is_key {
                format!("the key of {name}")
            } else {
                format!("{name} = {value}")
            };
            format!("{what}  {start}..{end}")
        }
    };
    say(decoded, &format!("offset {offset}: {place}"), look, out);
}

/// Where a field lies, where this frame has it.
fn say_range(decoded: &Decoded<'_>, path: &str, look: Look, notes: &mut Notes, out: &mut String) {
    decoded.annotate(notes);
    for field in fields(decoded).iter().filter(|f| f.path == path) {
        let Range { start, end } = decoded.frame.view.range(field.span);
        let secret =
            !look.show_secrets && (field.secret || field.node.is_some_and(|n| notes.is_secret(n)));
        let value = match field.node {
            _ if secret => "(secret)".to_owned(),
            Some(node) => brief(node),
            None => field.text.clone().into_owned(),
        };
        say(
            decoded,
            &format!("{path} = {value}  {start}..{end}"),
            look,
            out,
        );
    }
}

fn say(decoded: &Decoded<'_>, text: &str, look: Look, out: &mut String) {
    use wiretool::render::style::Tone;
    look.style.wire(out, Tone::Plain, text);
    let subject = decoded
        .message
        .subject
        .as_ref()
        .map(|s| format!(" {s}"))
        .unwrap_or_default();
    look.style.wire(
        out,
        Tone::Dim,
        &format!("  in #{} {}{subject}", decoded.index, decoded.message.kind),
    );
    out.push('\n');
}
