//! `wiretool diff`: what is different this time.

pub(super) mod show;

use super::input::{self, Show};
use super::options::{self, Shared};
use super::output::Output;
use super::{Exit, complain, complain_of, counted};
use crate::capture::Form;
use crate::conversation::pipeline::Pipeline;
use crate::conversation::{Judge, Verdict};
use crate::decoder::{Decoded, Options};
use crate::diff::{Counts, Diff, Difference, Field, Ignore, Side, general};
use crate::encoding::Want;
use crate::protocol::session::SessionConfig;
use crate::protocol::{Direction, Protocol};
use crate::render::Look;
use crate::select::Filter;
use anyhow::{Context as _, Result};
use clap::ValueEnum;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool diff yesterday.jsonl today.jsonl         by what was asked, not by position
  wiretool diff --ignore '**.timestamp' A B         what differs in every run
  wiretool diff --learn ignore.toml A B             two runs of one scenario: learn what to ignore
  wiretool diff --ignore-file ignore.toml A B
  wiretool diff -p saikuro client.bin provider.bin  two legs of one relay: compared by meaning";

const EXIT_CODES: &str = "\
Exit codes:
  0  nothing differs
  1  something does, no protocol recognises an input, or no message matches --where
  2  usage, or a file that cannot be read as a whole, or not written";

/// Bytes of messages that are held at most, of one side.
const MOST: usize = 1 << 30;

/// Compare two recordings or captures message by message, by what belongs together
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// The one
    #[arg(value_name = "A")]
    left: PathBuf,
    /// The other
    #[arg(value_name = "B")]
    right: PathBuf,
    /// What form the input has; both alike
    #[arg(long, value_name = "FORM", default_value = "auto", value_parser = options::form(), help_heading = "Input")]
    from: Form,
    /// Which way the bytes go, where the inputs do not say
    #[arg(long, value_name = "c2s|s2c", value_parser = options::direction(), help_heading = "Input")]
    dir: Option<Direction>,
    #[command(flatten)]
    wire: options::Wire,
    #[command(flatten)]
    condition: options::Where,
    /// Pass over this path: `result.session_id`, `**.ts`, `items[*].id`, `KIND:PATH` (repeatable)
    #[arg(long, value_name = "PATH", help_heading = "Comparison")]
    ignore: Vec<String>,
    /// Pass over the paths of this file: `[ignore]` with `paths = [...]`
    #[arg(long, value_name = "FILE", help_heading = "Comparison")]
    ignore_file: Vec<PathBuf>,
    /// Compare ids as well, and all else that every run makes anew
    #[arg(long, help_heading = "Comparison")]
    strict: bool,
    /// Write the paths that differ to a file that --ignore-file reads, with those already ignored, and call nothing a difference
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "format"], help_heading = "Comparison")]
    learn: Option<PathBuf>,
    /// How differences are shown
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Text, help_heading = "Output")]
    format: Format,
    /// Write here, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Show secrets in clear; JSON always has them
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
}

#[derive(Clone, Copy, ValueEnum, PartialEq, Eq)]
enum Format {
    /// A block a message
    Text,
    /// A JSON object a message that differs
    Json,
}

/// What `--ignore-file` reads and `--learn` writes; a settings file may hold the same table.
#[derive(serde::Serialize, serde::Deserialize, Default)]
struct IgnoreFile {
    #[serde(default)]
    ignore: IgnorePaths,
}

#[derive(serde::Serialize, serde::Deserialize, Default)]
struct IgnorePaths {
    #[serde(default)]
    paths: Vec<String>,
}

pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    let look = Look {
        show_secrets: args.show_secrets,
        ..look
    };
    let protocols = args.wire.protocols()?;
    let options = args.wire.options(&protocols, Want::Places);
    let inputs = [args.left.clone(), args.right.clone()];
    anyhow::ensure!(
        inputs.iter().any(|path| path.as_os_str() != "-"),
        "stdin can be read but once: A or B must be a file"
    );
    let mut output = Output::open(args.output.as_deref(), &inputs)?;
    output.is_json = args.format == Format::Json;
    let left = side(&args.left, args, &options, shared)?;
    let right = side(&args.right, args, &options, shared)?;
    if left.undetected || right.undetected {
        return Ok(Exit::No);
    }
    // What cannot be read is never equal.
    let unread = left.unread || right.unread;
    let (spoken, other) = (left.protocol, right.protocol);
    let read = left.read + right.read;
    let (left, right) = (left.side, right.side);
    if read > 0 && !args.condition.conditions.is_empty() && left.is_empty() && right.is_empty() {
        if !shared.quiet {
            complain(&format!("none of {read} messages matches"));
        }
        return Ok(Exit::No);
    }
    let protocol = match (spoken, other) {
        (Some(a), Some(b)) if a.name() != b.name() => {
            let (a, b) = (a.name(), b.name());
            anyhow::bail!("one is {a}, the other {b}: name it with -p where that is not so")
        }
        (Some(protocol), _) | (None, Some(protocol)) => protocol,
        (None, None) => {
            if !shared.quiet {
                complain("there are no messages to compare");
            }
            if let Some(path) = &args.learn {
                learn(path, args, &Seen::default(), &inputs)?;
            }
            return Ok(if unread { Exit::Trouble } else { Exit::Clean });
        }
    };
    let ignore = ignored(args, protocol)?;
    let mut diff = Diff::new(protocol, &ignore, &left, &right, args.wire.max_depth);
    let mut seen = Seen::default();
    diff.run(&mut |difference| {
        seen.add(&difference);
        if args.learn.is_some() {
            return;
        }
        if args.format == Format::Json {
            let text = show::object(&difference).to_string();
            output.room().extend_from_slice(text.as_bytes());
            output.room().push(b'\n');
        } else {
            let mut text = String::new();
            show::block(&difference, look, &mut text);
            output.room().extend_from_slice(text.as_bytes());
        }
    });
    if let Some(path) = &args.learn {
        learn(path, args, &seen, &inputs)?;
        if !shared.quiet {
            let n = counted(seen.paths.len() as u64, "path differs", "paths differ");
            complain(&format!("{}: {n}", path.display()));
            let only = seen.only[0] + seen.only[1];
            for (n, one, many) in [
                (
                    only,
                    "message is in one run alone",
                    "messages are in one run alone",
                ),
                (
                    seen.otherwise,
                    "message differs in kind, in a fault or as a whole",
                    "messages differ in kind, in a fault or as a whole",
                ),
            ] {
                if n > 0 {
                    let text = counted(n as u64, one, many);
                    complain(&format!("{text}: no list of paths can pass over that"));
                }
            }
        }
        return Ok(if unread { Exit::Trouble } else { Exit::Clean });
    }
    let ignored = diff.ignored();
    output.finish()?;
    if !shared.quiet {
        let ignored = super::config::settings().ignored_note(ignored);
        complain(&format!("{}{ignored}", seen.summary(&left, &right, unread)));
    }
    Ok(match seen.is_empty() {
        _ if unread => Exit::Trouble,
        true => Exit::Clean,
        false => Exit::No,
    })
}

/// All messages of one input.
fn side<'p>(
    path: &Path,
    args: &Args,
    options: &Options<'p>,
    shared: &Shared,
) -> Result<Reader<'p>> {
    let input = options::Input {
        files: vec![path.to_owned()],
        from: args.from,
        dir: args.dir,
        c2s: Vec::new(),
        s2c: Vec::new(),
        follow: false,
    };
    let mut reader = Reader {
        known: options.protocols.clone(),
        protocol: None,
        side: Side::default(),
        read: 0,
        undetected: false,
        unread: false,
        filter: args.condition.filter(),
        scratch: Vec::new(),
        quiet: shared.quiet,
        verbose: shared.verbose,
    };
    input::read(&input, options, &mut reader)?;
    Ok(reader)
}

/// What is passed over: what the protocol makes anew in every run, and what was asked for.
fn ignored(args: &Args, protocol: &dyn Protocol) -> Result<Ignore> {
    let ignore = ignore(&args.ignore, &args.ignore_file)?;
    Ok(if args.strict {
        ignore
    } else {
        ignore.and_anew(protocol, false)
    })
}

/// What the command line and the settings say that is to be ignored.
pub fn ignore(given: &[String], files: &[PathBuf]) -> Result<Ignore> {
    let asked = asked_to_ignore(given, files)?;
    let settings = super::config::settings().ignored();
    let ignore = Ignore::new(asked.iter().map(String::as_str));
    Ok(ignore.and(
        settings.iter().map(String::as_str),
        Counts::NothingBySettings,
    ))
}

/// What the command line says that is to be passed over.
fn asked_to_ignore(given: &[String], files: &[PathBuf]) -> Result<Vec<String>> {
    let mut paths = given.to_vec();
    for file in files {
        let name = file.display();
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
        let list: IgnoreFile = toml::from_str(&text).with_context(|| format!("{name}"))?;
        paths.extend(list.ignore.paths);
    }
    Ok(paths)
}

/// Reads one side.
#[allow(clippy::struct_excessive_bools)] // facts that do not exclude each other
struct Reader<'p> {
    known: Vec<&'p dyn Protocol>,
    protocol: Option<&'p dyn Protocol>,
    side: Side,
    read: u64,
    /// There are bytes, and nobody knows whose.
    undetected: bool,
    /// Part of it cannot be read.
    unread: bool,
    filter: Filter,
    scratch: Vec<u8>,
    quiet: bool,
    verbose: bool,
}

impl Show for Reader<'_> {
    fn frame(&mut self, decoded: &Decoded<'_>, verdict: Option<Verdict<'_>>) -> Result<()> {
        let verdict = verdict.unwrap_or_default();
        self.read += 1;
        if self
            .filter
            .matches(decoded, Some(verdict), &mut self.scratch)
        {
            self.side.see(decoded, verdict);
        }
        anyhow::ensure!(
            self.side.weight() < MOST,
            "there are more than 1 GiB of messages to compare: cut it down first"
        );
        Ok(())
    }

    fn judged(&self) -> Option<(Judge, SessionConfig)> {
        Some((Judge::default(), SessionConfig::default()))
    }

    fn idle(&mut self) -> Result<()> {
        Ok(())
    }

    fn note(&mut self, source: &str, text: &str, bad: bool) {
        self.unread |= bad;
        if bad || !self.quiet {
            complain_of(source, text);
        }
    }

    fn detail(&mut self, source: &str, text: &str) {
        if self.verbose {
            complain_of(source, text);
        }
    }

    fn begin(&mut self, _: &str) {}

    fn end(&mut self, source: &str, bytes: u64, pipeline: &mut Pipeline<'_>) -> Result<()> {
        let conversation = pipeline.conversation.as_ref();
        let spoken = conversation.and_then(|c| Some(c.protocol()?.name()));
        let mut known = self.known.iter().copied();
        self.protocol = known.find(|protocol| Some(protocol.name()) == spoken);
        let decoder = &pipeline.decoder;
        input::tell_guess(source, decoder, self);
        if bytes > 0 && decoder.protocol().is_none() {
            self.undetected = true;
            let text = "no protocol recognises these bytes: name it with -p";
            self.note(source, text, true);
        }
        Ok(())
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

/// What was found so far.
#[derive(Default)]
struct Seen {
    differ: usize,
    only: [usize; 2],
    /// Messages that differ in what no path names.
    otherwise: usize,
    /// With their kinds, indices open.
    paths: BTreeSet<String>,
}

impl Seen {
    fn add(&mut self, difference: &Difference) {
        match difference {
            Difference::Fields(which, _, fields) => {
                self.differ += 1;
                let kind = which.what.split(' ').next().unwrap_or_default();
                let is_path = |f: &&Field| !f.path.is_empty() && !f.path.starts_with('(');
                self.paths.extend(
                    fields
                        .iter()
                        .filter(is_path)
                        .map(|field| format!("{kind}:{}", general(&field.path))),
                );
                self.otherwise += usize::from(!fields.iter().all(|f| is_path(&f)));
            }
            Difference::OnlyLeft(..) => self.only[0] += 1,
            Difference::OnlyRight(..) => self.only[1] += 1,
        }
    }

    fn is_empty(&self) -> bool {
        self.differ == 0 && self.only == [0, 0]
    }

    fn summary(&self, left: &Side, right: &Side, unread: bool) -> String {
        let (a, b) = (left.len(), right.len());
        match self.is_empty() {
            true if unread => {
                return format!("not all could be read; of {a} and {b} messages, none differs");
            }
            true => return format!("no difference: {a} and {b} messages"),
            false => {}
        }
        let [left, right] = self.only;
        let differ = counted(self.differ as u64, "message differs", "messages differ");
        format!("{differ}, {left} only in A, {right} only in B; of {a} and {b} messages")
    }
}

/// Writes what differs in two runs of one scenario, and what was passed over already: together nothing differs.
fn learn(path: &Path, args: &Args, seen: &Seen, inputs: &[PathBuf]) -> Result<()> {
    let known = asked_to_ignore(&args.ignore, &args.ignore_file)?;
    let all: BTreeSet<String> = seen.paths.iter().cloned().chain(known).collect();
    let list = IgnoreFile {
        ignore: IgnorePaths {
            paths: all.into_iter().collect(),
        },
    };
    let mut output = Output::open(Some(path), inputs)?;
    let text = toml::to_string_pretty(&list)?;
    output.room().extend_from_slice(text.as_bytes());
    output.finish()
}
