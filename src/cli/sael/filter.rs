//! `wiretool sael filter`: which items a filter keeps, and where the references would differ.

use crate::cli::options::{self, Shared};
use crate::cli::output::Output;
use crate::cli::{Exit, complain};
use crate::encoding::json::write_text;
use crate::protocol::sael::filter::{Dialect, Filter};
use crate::render::Look;
use crate::render::style::{Tone, escape_json};
use anyhow::{Context as _, Result};
use serde_json::Value;
use serde_json::value::RawValue;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  wiretool sael filter 'stars > 100 && owner == \"x\"' items.jsonl
  wiretool sael filter \"lang in ['go', 'rust']\" < items.json    a JSON array will do
  wiretool sael filter --explain 'n == null' items.jsonl        the tree; who keeps what
  wiretool sael filter --dialect python 'zero == 0' items.jsonl";

const EXIT_CODES: &str = "\
Where the references differ, Go is followed: it is the server, and pipelines run there.

Exit codes:
  0  an item is kept
  1  none is
  2  usage, or a file that cannot be read";

/// Evaluate a filter over JSON items and print those that it keeps
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// The expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expr: String,
    /// JSON lines, or a JSON array; stdin where there is none
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show the parse tree, every item with its verdict, and where the references differ
    #[arg(long)]
    explain: bool,
    /// Whose rules count, where the references differ
    #[arg(long, value_name = "DIALECT", default_value = "go", value_parser = options::names(Dialect::ALL.map(Dialect::name)))]
    dialect: String,
    /// What time it is, for `now()`: RFC 3339 or seconds since 1970; the clock's where not given
    #[arg(long, value_name = "TIME", value_parser = super::time, allow_hyphen_values = true)]
    now: Option<i64>,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared, look: Look) -> Result<Exit> {
    let filter = Filter::parse(&args.expr)?;
    let dialect = Dialect::from_name(&args.dialect).unwrap_or_default();
    let mut output = Output::open(None, &[])?;
    let mut text = String::new();
    if args.explain {
        for line in filter.to_string().lines() {
            look.style.wire(&mut text, Tone::Kind, line);
            text.push('\n');
        }
    }
    for problem in filter.problems() {
        if args.explain {
            look.style
                .wire(&mut text, Tone::Note, &format!("! {problem}"));
            text.push('\n');
        } else if !shared.quiet {
            complain(&problem.to_string());
        }
    }
    output.room().extend_from_slice(text.as_bytes());
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
    let name = if path == Path::new("-") {
        "stdin".to_owned()
    } else {
        path.display().to_string()
    };
    let bytes = super::read(path)?;
    let input = std::str::from_utf8(&bytes).with_context(|| format!("{name}: not UTF-8"))?;
    let now = super::now(args.now);
    let (mut seen, mut kept, mut differ) = (0u64, 0u64, 0u64);
    each(input, &mut |raw| {
        let item: Value = serde_json::from_str(raw.get())
            .with_context(|| format!("{name}: item {seen} cannot be read"))?;
        seen += 1;
        let judgement = filter.judge(&item, now);
        // The dialect that is asked for always gives an answer: what is not known matches nothing.
        let keep = item.is_object() && judgement.by(dialect) == Some(true);
        kept += u64::from(keep);
        differ += u64::from(item.is_object() && !judgement.agree());
        if args.explain {
            let mut text = String::new();
            let (word, tone) = if keep {
                ("keep  ", Tone::Plain)
            } else {
                ("drop  ", Tone::Dim)
            };
            look.style.put(&mut text, tone, word);
            look.style.wire(&mut text, tone, &one_line(raw, look));
            text.push('\n');
            if item.is_object() && !judgement.agree() {
                let all = Dialect::ALL.into_iter().zip(judgement.kept);
                let words: Vec<String> = all.map(|(d, kept)| said(d, kept)).collect();
                look.style.put(
                    &mut text,
                    Tone::Bad,
                    &format!("      {}\n", words.join(", ")),
                );
            }
            if !item.is_object() {
                text.push_str("      no object: pipelines drop it\n");
            }
            for difference in item
                .is_object()
                .then_some(&judgement.differences)
                .into_iter()
                .flatten()
            {
                look.style
                    .wire(&mut text, Tone::Note, &format!("      {difference}"));
                text.push('\n');
            }
            output.room().extend_from_slice(text.as_bytes());
        } else if keep {
            output
                .room()
                .extend_from_slice(one_line(raw, look).as_bytes());
            output.room().push(b'\n');
        }
        output.written()
    })
    .map_err(|e| named(e, &name))?;
    output.finish()?;
    if differ > 0 && !args.explain && !shared.quiet {
        let name = dialect.name();
        complain(&format!(
            "the references differ over {differ} of {seen} items; {name} is followed, and --explain says where"
        ));
    }
    Ok(if kept == 0 && !(seen == 0 && args.explain) {
        Exit::No
    } else {
        Exit::Clean
    })
}

fn said(dialect: Dialect, kept: Option<bool>) -> String {
    let word = match kept {
        Some(true) => "keeps it",
        Some(false) => "drops it",
        None => "cannot be judged here",
    };
    format!("{} {word}", dialect.name())
}

/// An item as it was written, on one line.
fn one_line(raw: &RawValue, look: Look) -> String {
    let mut line = Vec::new();
    write_text(raw.get().as_bytes(), true, &mut line);
    let line = String::from_utf8_lossy(&line).into_owned();
    if look.terminal {
        escape_json(&line).into_owned()
    } else {
        line
    }
}

/// Every value, one after another; of arrays, every value in them.
fn each(input: &str, visit: &mut dyn FnMut(&RawValue) -> Result<()>) -> Result<()> {
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

/// An error of the JSON reader says what it was reading.
fn named(error: anyhow::Error, name: &str) -> anyhow::Error {
    if error.downcast_ref::<serde_json::Error>().is_some() && error.chain().count() == 1 {
        error.context(format!("{name}: not JSON"))
    } else {
        error
    }
}
