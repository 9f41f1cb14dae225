//! `wiretool sael filter`: prints the items that match a filter, and where the reference implementations differ.

use crate::cli::encode::input_name;
use crate::cli::options::{self, SharedArgs};
use crate::cli::output::CommandOutput;
use crate::cli::values::read_input;
use crate::cli::{Exit, print_message};
use crate::encoding::json::write_text;
use crate::protocol::sael::filter::{FilterDialect, ItemFilter, Judgement};
use crate::render::DisplayOptions;
use crate::render::style::{Highlight, escape_json};
use anyhow::{Context as _, Result};
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool sael filter 'stars > 100 && owner == \"x\"' items.jsonl
  wiretool sael filter \"lang in ['go', 'rust']\" < items.json    a JSON array
  wiretool sael filter --explain 'n == null' items.jsonl        why an item matches
  wiretool sael filter --dialect python 'zero == 0' items.jsonl";

const EXIT_CODES: &str = "\
The three reference implementations differ in places. The default is Go, the server, because pipelines run there.

Exit codes:
  0  an item matches
  1  no item matches
  2  usage, or a file that cannot be read";

/// Print the JSON items that match a filter
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Filter expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expr: String,
    /// JSON Lines or a JSON array; none: stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show the parse tree, the result for each item, and where the reference implementations differ
    #[arg(long)]
    explain: bool,
    /// Rules to follow: of which reference implementation
    #[arg(long, value_name = "DIALECT", default_value = "go", value_parser = options::names(FilterDialect::ALL.map(FilterDialect::name)))]
    dialect: String,
    /// Time of the check: RFC 3339 or seconds since 1970 [default: now]
    #[arg(long, value_name = "TIME", value_parser = super::parse_time, allow_hyphen_values = true)]
    now: Option<i64>,
}

/// Runs the command.
pub fn run(args: &Args, shared: &SharedArgs, display: DisplayOptions) -> Result<Exit> {
    let filter = ItemFilter::parse(&args.expr)?;
    let dialect = FilterDialect::from_name(&args.dialect).unwrap_or_default();
    let mut output = CommandOutput::open(None, &[])?;
    let (mut text, style) = (String::new(), display.style);
    if args.explain {
        for line in filter.to_string().lines() {
            style.push_wire(&mut text, Highlight::Kind, line);
            text.push('\n');
        }
    }
    for problem in filter.problems() {
        if args.explain {
            style.push_wire(&mut text, Highlight::Note, &format!("! {problem}"));
            text.push('\n');
        } else {
            shared.note(&problem.to_string());
        }
    }
    output.push(&text);
    let terminal = args.file.is_none() && std::io::stdin().is_terminal();
    if terminal && args.explain {
        output.finish()?;
        return Ok(Exit::Clean);
    }
    anyhow::ensure!(
        !terminal,
        "no FILE, and stdin is a terminal: name a file, or pipe items in (wiretool sael filter --help)"
    );
    let path = args.file.as_deref().unwrap_or(Path::new("-"));
    let name = input_name(Some(path));
    let bytes = read_input(path)?;
    let input = std::str::from_utf8(&bytes).with_context(|| format!("{name}: not UTF-8"))?;
    let now = super::now(args.now);
    let (mut seen, mut kept, mut differ) = (0u64, 0u64, 0u64);
    for_each_value(input, &mut |raw| {
        let item: Value = serde_json::from_str(raw.get())
            .with_context(|| format!("{name}: item {seen} cannot be read"))?;
        seen += 1;
        let judgement = filter.judge(&item, now);
        // The selected dialect always has a result: an undefined result does not match.
        let keep = item.is_object() && judgement.by(dialect) == Some(true);
        kept += u64::from(keep);
        differ += u64::from(item.is_object() && !judgement.agree());
        if args.explain {
            let is_object = item.is_object();
            output.push(explanation(
                &one_line(raw, display),
                keep,
                is_object,
                &judgement,
                display,
            ));
        } else if keep {
            output.push(one_line(raw, display));
            output.buffer().push(b'\n');
        }
        output.written()
    })
    .map_err(|e| with_input_name(e, &name))?;
    output.finish()?;
    if differ > 0 && !args.explain && !shared.quiet {
        let name = dialect.name();
        print_message(&format!(
            "the references differ for {differ} of {seen} items; this is the result of {name}; --explain \
                shows the others"
        ));
    }
    Ok(Exit::negative_if(kept == 0 && !(seen == 0 && args.explain)))
}

/// Explains the result of one item, on several lines.
fn explanation(
    item: &str,
    keep: bool,
    is_object: bool,
    judgement: &Judgement,
    display: DisplayOptions,
) -> String {
    let (mut text, style) = (String::new(), display.style);
    let (word, highlight) = if keep {
        ("keep  ", Highlight::Plain)
    } else {
        ("drop  ", Highlight::Dim)
    };
    style.push(&mut text, highlight, word);
    style.push_wire(&mut text, highlight, item);
    text.push('\n');
    if !is_object {
        text.push_str("      not an object: pipelines drop it\n");
        return text;
    }
    if !judgement.agree() {
        let all = FilterDialect::ALL.into_iter().zip(judgement.kept);
        let words: Vec<String> = all.map(|(d, kept)| describe_result(d, kept)).collect();
        let line = format!("      {}\n", words.join(", "));
        style.push(&mut text, Highlight::Error, &line);
    }
    for difference in &judgement.differences {
        let line = format!("      {difference}");
        style.push_wire(&mut text, Highlight::Note, &line);
        text.push('\n');
    }
    text
}

fn describe_result(dialect: FilterDialect, kept: Option<bool>) -> String {
    let word = match kept {
        Some(true) => "keeps it",
        Some(false) => "drops it",
        None => "cannot be evaluated here",
    };
    format!("{} {word}", dialect.name())
}

/// Returns an item as it was written, on one line.
fn one_line(raw: &RawValue, display: DisplayOptions) -> String {
    let mut line = Vec::new();
    write_text(raw.get().as_bytes(), true, &mut line);
    let line = String::from_utf8_lossy(&line).into_owned();
    if display.terminal {
        escape_json(&line).into_owned()
    } else {
        line
    }
}

/// Calls `visit` for every value of the input; for arrays, for every element.
fn for_each_value(input: &str, visit: &mut dyn FnMut(&RawValue) -> Result<()>) -> Result<()> {
    let values = serde_json::Deserializer::from_str(input).into_iter::<&RawValue>();
    for value in values {
        let value = value?;
        if value.get().starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(value.get())?;
            items.into_iter().try_for_each(&mut *visit)?;
        } else {
            visit(value)?;
        }
    }
    Ok(())
}

/// Adds the name of the input to an error of the JSON reader.
fn with_input_name(error: anyhow::Error, name: &str) -> anyhow::Error {
    if error.downcast_ref::<serde_json::Error>().is_some() && error.chain().count() == 1 {
        error.context(format!("{name}: not JSON"))
    } else {
        error
    }
}
