//! `wiretool diff`: compares two captures.

pub mod show;

use super::input::{self, Flow, InputState, unless_failed};
use super::options::{self, SharedArgs};
use super::output::CommandOutput;
use super::values::read_string;
use super::{Exit, count_text};
use crate::capture::Form;
use crate::conversation::{Output, RuleSettings, Sink, Verdict};
use crate::decoder::{DecodeOptions, Decoded};
use crate::diff::{CompareDepth, Diff, DiffSide, Difference, FieldDifference, Ignore, generalized};
use crate::encoding::Want;
use crate::protocol::{Direction, Protocol};
use crate::render::DisplayOptions;
use crate::select::Filter;
use anyhow::{Context as _, Result, anyhow};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool diff yesterday.jsonl today.jsonl    messages are matched by content
  wiretool diff --ignore '**.timestamp' A B    ignore what always differs
  wiretool diff --learn ignore.toml A B        write the fields that differ
  wiretool diff --ignore-file ignore.toml A B  ignore the fields of this file
  wiretool diff -p saikuro client.bin provider.bin  both sides of a relay";

const EXIT_CODES: &str = "\
Exit codes:
  0  no difference
  1  a difference, an input of no known protocol, or no message matches --where
  2  usage, or a file that cannot be read or written";

/// The maximum number of bytes of messages that are stored for one side.
const MAX_BYTES: usize = 1 << 30;

/// Compare two captures message by message
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// First capture
    #[arg(value_name = "A", value_parser = options::capture())]
    left: PathBuf,
    /// Second capture
    #[arg(value_name = "B", value_parser = options::capture())]
    right: PathBuf,
    /// Form of the input; the same for both files
    #[arg(long, value_name = "FORM", default_value = "auto", value_parser = options::form(), hide_possible_values = true, help_heading = "Input")]
    from: Form,
    /// Direction of the bytes, if the input has none
    #[arg(long, value_name = "c2s|s2c", value_parser = options::direction(), help_heading = "Input")]
    dir: Option<Direction>,
    #[command(flatten)]
    packets: options::PacketArgs,
    #[command(flatten)]
    wire: options::WireArgs,
    #[command(flatten)]
    condition: options::WhereArgs,
    /// Ignore this path: `result.id`, `**.ts`, `KIND:PATH`, `KIND SUBJECT:PATH` (repeatable)
    #[arg(long, value_name = "PATH", value_parser = options::parse_pattern, help_heading = "Comparison")]
    ignore: Vec<String>,
    /// Ignore the paths of this file: `[ignore]` with `paths = [...]`
    #[arg(long, value_name = "FILE", help_heading = "Comparison")]
    ignore_file: Vec<PathBuf>,
    /// Also compare ids, times and other values that each run generates
    #[arg(long, help_heading = "Comparison")]
    strict: bool,
    /// Write the paths that differ to this file, for --ignore-file, and exit 0
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "format"], help_heading = "Comparison")]
    learn: Option<PathBuf>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = options::text_or_json("A few lines per message that differs", "One JSON object per message that differs"), help_heading = "Output")]
    format: options::OutputFormat,
    /// Write to this file, completely or not at all
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Do not mask tokens, capabilities and other secrets; JSON is never masked
    #[arg(long, help_heading = "Output")]
    show_secrets: bool,
}

/// The content of `--ignore-file`, which `--learn` writes; a settings file may contain the same table.
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

pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    let display = DisplayOptions {
        show_secrets: args.show_secrets,
        ..display
    };
    let protocols = args.wire.protocols()?;
    let options = args.wire.options(&protocols, Want::Places);
    let inputs = [args.left.clone(), args.right.clone()];
    anyhow::ensure!(
        inputs.iter().any(|path| path.as_os_str() != "-"),
        "stdin can be read only once: A or B must be a file"
    );
    let mut output = CommandOutput::open(args.output.as_deref(), &inputs)?;
    output.is_json = args.format.is_json();
    let left = read_side(&args.left, args, &options, shared)?;
    let right = read_side(&args.right, args, &options, shared)?;
    if left.undetected || right.undetected {
        return Ok(Exit::Negative);
    }
    // Input that could not be read is never equal.
    let unread = left.is_bad || right.is_bad;
    let read = left.messages + right.messages;
    let none = left.is_empty() && right.is_empty();
    if read > 0 && !args.condition.conditions.is_empty() && none {
        shared.note(&format!("none of {read} messages matches"));
        return Ok(Exit::Negative);
    }
    if let (Some((a, _)), Some((b, _))) = (left.sides.first(), right.sides.first())
        && left.side_of(*b).is_none()
        && right.side_of(*a).is_none()
    {
        let (a, b) = (a.name(), b.name());
        anyhow::bail!("one is {a}, the other {b}: use -p if that is wrong")
    }
    let protocols = both_protocols(&left, &right);
    if protocols.is_empty() {
        shared.note("there are no messages to compare");
        if let Some(path) = &args.learn {
            write_learned(path, args, &DiffTotals::default(), &inputs)?;
        }
        return Ok(if unread { Exit::Error } else { Exit::Clean });
    }
    let (seen, ignored) = compare_sides(
        args,
        (display, shared.quiet && !args.format.is_json()),
        &protocols,
        [&left, &right],
        &mut output,
    )?;
    if let Some(path) = &args.learn {
        write_learned(path, args, &seen, &inputs)?;
        note_learned(path, &seen, shared);
        return Ok(if unread { Exit::Error } else { Exit::Clean });
    }
    output.finish()?;
    let ignored = super::config::settings().ignored_note(ignored);
    shared.note(&(seen.summary(left.len(), right.len(), unread) + &ignored));
    for path in ignored_by_flags(&args.ignore, &[])? {
        if let Some(deep) = seen.deeper(&path) {
            shared.note(&format!(
                "--ignore {path} is a whole path, and {deep} differs: --ignore '**.{path}' ignores it"
            ));
        }
    }
    Ok(match seen.is_empty() {
        _ if unread => Exit::Error,
        true => Exit::Clean,
        false => Exit::Negative,
    })
}

/// Compares both sides in each protocol. Shows the differences, unless they are learned, or only the exit code counts.
/// Returns their totals, and the number of ignored ones.
fn compare_sides<'p>(
    args: &Args,
    (display, is_quiet): (DisplayOptions, bool),
    protocols: &[&'p dyn Protocol],
    sides: [&SideReader<'p>; 2],
    output: &mut CommandOutput,
) -> Result<(DiffTotals, u64)> {
    let mut seen = DiffTotals::default();
    let mut ignored = 0;
    let nothing = DiffSide::default();
    for protocol in protocols {
        let ignore = ignored_paths(args, *protocol)?;
        let [a, b] = sides.map(|side| side.side_of(*protocol).unwrap_or(&nothing));
        let mut diff = Diff::new(*protocol, &ignore, a, b, args.wire.max_depth);
        let several = (protocols.len() > 1).then(|| protocol.name());
        let mut is_first = true;
        diff.run(&mut |difference| {
            seen.add(&difference);
            if args.learn.is_some() || is_quiet {
                return;
            }
            if args.format.is_json() {
                let text = show::difference_json(&difference, several).to_string();
                output.push_line(&text);
            } else {
                let mut text = String::new();
                if let Some(name) = several.filter(|_| std::mem::take(&mut is_first)) {
                    text.push_str(&format!("{name}:\n"));
                }
                show::write_difference(&difference, display, &mut text);
                output.push(&text);
            }
        });
        ignored += diff.ignored();
    }
    Ok((seen, ignored))
}

/// Says how many differences a list of paths ignores, and how many it cannot ignore.
fn note_learned(path: &Path, seen: &DiffTotals, shared: &SharedArgs) {
    let n = count_text(seen.paths.len() as u64, "path differs", "paths differ");
    shared.note(&format!("{}: {n}", path.display()));
    let [left, right] = seen.only;
    for (n, one, many, how) in [
        (
            left + right,
            "message is",
            "messages are",
            "only in one run",
        ),
        (
            seen.otherwise,
            "message differs",
            "messages differ",
            "in kind, in a fault or as a whole",
        ),
    ] {
        if n > 0 {
            let text = count_text(n as u64, one, many);
            shared.note(&format!("{text} {how}: a list of paths cannot ignore this"));
        }
    }
}

/// Reads all messages of one input.
fn read_side<'p>(
    path: &Path,
    args: &Args,
    options: &DecodeOptions<'p>,
    shared: &SharedArgs,
) -> Result<SideReader<'p>> {
    let input = options::InputArgs {
        from: args.from,
        dir: args.dir,
        packets: args.packets.clone(),
        ..options::InputArgs::of_file(path.to_owned())
    };
    let mut reader = SideReader {
        filter: args.condition.filter_of_calls(),
        ..SideReader::of_protocols(&options.protocols)
    };
    let mut run = InputState::new(shared, false, None);
    input::read(&input, options, &mut run, &mut reader)?;
    (reader.messages, reader.is_bad) = (run.messages, run.is_bad);
    Ok(reader)
}

/// Returns the ignored paths: those that the protocol generates in every run, and those of the user.
fn ignored_paths(args: &Args, protocol: &dyn Protocol) -> Result<Ignore> {
    let ignore = read_ignore(&args.ignore, &args.ignore_file)?;
    Ok(if args.strict {
        ignore
    } else {
        ignore.and_generated(protocol, false)
    })
}

/// Returns the ignored paths of the command line and the settings.
pub fn read_ignore(given: &[String], files: &[PathBuf]) -> Result<Ignore> {
    let paths = ignored_by_flags(given, files)?;
    let settings = super::config::settings().ignored();
    let ignore = Ignore::new(paths.iter().map(String::as_str));
    Ok(ignore.and(
        settings.iter().map(String::as_str),
        CompareDepth::NothingBySettings,
    ))
}

/// Splits a list of paths at the commas that are not in quotes or brackets.
fn split_paths(list: &str) -> Vec<String> {
    let (mut quoted, mut brackets, mut is_escaped) = (false, 0_u32, false);
    let parts = list.split(|c: char| {
        match c {
            _ if is_escaped => {}
            '"' => quoted = !quoted,
            '[' if !quoted => brackets += 1,
            ']' if !quoted => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        is_escaped = quoted && c == '\\' && !is_escaped;
        c == ',' && !quoted && brackets == 0
    });
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

/// Returns the ignored paths of the command line.
fn ignored_by_flags(given: &[String], files: &[PathBuf]) -> Result<Vec<String>> {
    let mut paths: Vec<String> = given.iter().flat_map(|list| split_paths(list)).collect();
    for file in files {
        let name = file.display();
        let text = read_string(file)?;
        let list: IgnoreFile = toml::from_str(&text).with_context(|| format!("{name}"))?;
        for path in list.ignore.paths {
            let parsed = options::parse_pattern(&path);
            paths.push(parsed.map_err(|why| anyhow!("{name}: ignore.paths: {path}: {why}"))?);
        }
    }
    Ok(paths)
}

/// Reads one side.
#[derive(Default)]
pub struct SideReader<'p> {
    known: Vec<&'p dyn Protocol>,
    /// One for each protocol, in the order of their first message.
    sides: Vec<(&'p dyn Protocol, DiffSide)>,
    messages: u64,
    /// Part of the input could not be used.
    is_bad: bool,
    /// The protocol of some bytes was not detected.
    undetected: bool,
    filter: Filter,
    scratch: Vec<u8>,
}

impl<'p> SideReader<'p> {
    /// Creates a reader of messages of these protocols.
    pub fn of_protocols(known: &[&'p dyn Protocol]) -> Self {
        Self {
            known: known.to_vec(),
            ..Self::default()
        }
    }

    /// Returns the messages of a protocol.
    pub fn side_of(&self, protocol: &dyn Protocol) -> Option<&DiffSide> {
        let mut sides = self.sides.iter();
        let found = sides.find(|(of, _)| of.name() == protocol.name());
        found.map(|(_, side)| side)
    }

    /// Stores a message if it is selected.
    fn message(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) -> Result<()> {
        if self
            .filter
            .matches(decoded, Some(verdict), &mut self.scratch)
        {
            self.see(decoded, verdict);
        }
        anyhow::ensure!(
            self.weight() < MAX_BYTES,
            "more than 1 GiB of messages to compare: use smaller captures"
        );
        Ok(())
    }

    /// Stores a message.
    pub fn see(&mut self, decoded: &Decoded<'_>, verdict: Verdict<'_>) {
        let name = decoded.protocol.name();
        if let Some((_, side)) = self.sides.iter_mut().find(|(of, _)| of.name() == name) {
            side.see(decoded, verdict);
        } else if let Some(protocol) = self.known.iter().find(|p| p.name() == name) {
            let mut side = DiffSide::default();
            side.see(decoded, verdict);
            self.sides.push((*protocol, side));
        }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn len(&self) -> usize {
        self.sides.iter().map(|(_, side)| side.len()).sum()
    }

    /// Returns the number of bytes that it stores.
    pub fn weight(&self) -> usize {
        self.sides.iter().map(|(_, side)| side.weight()).sum()
    }
}

/// Returns the protocols of both inputs.
pub fn both_protocols<'p>(left: &SideReader<'p>, right: &SideReader<'p>) -> Vec<&'p dyn Protocol> {
    let left = left.sides.iter();
    let mut all: Vec<&'p dyn Protocol> = left.map(|(protocol, _)| *protocol).collect();
    for (protocol, _) in &right.sides {
        if all.iter().all(|known| known.name() != protocol.name()) {
            all.push(*protocol);
        }
    }
    all
}

impl Sink for SideReader<'_> {
    type Break = Result<()>;

    fn rules(&self) -> Option<RuleSettings> {
        Some(RuleSettings {
            operations: self.filter.needs_operations(),
            ..RuleSettings::default()
        })
    }

    fn take(&mut self, output: Output<'_>) -> Flow {
        match output {
            Output::Message(decoded, verdict) => {
                return unless_failed(self.message(decoded, verdict.unwrap_or_default()));
            }
            Output::End(run, _) => self.undetected |= run.is_unrecognised(),
            _ => {}
        }
        Flow::Continue(())
    }
}

/// The differences so far.
#[derive(Default)]
struct DiffTotals {
    differ: usize,
    only: [usize; 2],
    /// The number of messages with differences that no path describes.
    otherwise: usize,
    /// With their kinds, indices replaced by `*`.
    paths: BTreeSet<String>,
}

impl DiffTotals {
    fn add(&mut self, difference: &Difference) {
        match difference {
            Difference::Fields(which, _, fields) => {
                self.differ += 1;
                let kind = which.what.split(' ').next().unwrap_or_default();
                let is_path = |f: &&FieldDifference| !f.path.is_empty() && !f.path.starts_with('(');
                self.paths.extend(
                    fields
                        .iter()
                        .filter(is_path)
                        .map(|field| format!("{kind}:{}", generalized(&field.path))),
                );
                self.otherwise += usize::from(!fields.iter().all(|f| is_path(&f)));
            }
            Difference::OnlyLeft(..) => self.only[0] += 1,
            Difference::OnlyRight(..) => self.only[1] += 1,
        }
    }

    /// Returns a path that differs and that has this one at its end, or inside.
    fn deeper(&self, path: &str) -> Option<&str> {
        let mut own = self
            .paths
            .iter()
            .filter_map(|one| Some(one.split_once(':')?.1));
        own.find(|own| {
            let mut places = own.match_indices(path);
            places.any(|(at, text)| {
                let before = own.get(..at).unwrap_or_default();
                let after = own.get(at + text.len()..).unwrap_or_default();
                before.ends_with('.') && (after.is_empty() || after.starts_with(['.', '[']))
            })
        })
    }

    fn is_empty(&self) -> bool {
        self.differ == 0 && self.only == [0, 0]
    }

    fn summary(&self, a: usize, b: usize, unread: bool) -> String {
        match self.is_empty() {
            true if unread => {
                return format!(
                    "some input could not be read; the {a} and {b} messages that were read are equal"
                );
            }
            true => return format!("no difference: {a} and {b} messages"),
            false => {}
        }
        let [left, right] = self.only;
        let differ = count_text(self.differ as u64, "message differs", "messages differ");
        format!("{differ}, {left} only in A, {right} only in B; of {a} and {b} messages")
    }
}

/// Writes the paths that differ in two runs of one scenario, and the paths that were ignored: with both, nothing differs.
fn write_learned(path: &Path, args: &Args, seen: &DiffTotals, inputs: &[PathBuf]) -> Result<()> {
    let known = ignored_by_flags(&args.ignore, &args.ignore_file)?;
    let all: BTreeSet<String> = seen.paths.iter().cloned().chain(known).collect();
    let list = IgnoreFile {
        ignore: IgnorePaths {
            paths: all.into_iter().collect(),
        },
    };
    let mut output = CommandOutput::open(Some(path), inputs)?;
    let text = toml::to_string_pretty(&list)?;
    output.push(&text);
    output.finish()
}
