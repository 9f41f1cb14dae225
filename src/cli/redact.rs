//! `wiretool redact`: a recording that can be shown to others.

use super::options::{self, Shared};
use super::output::Output;
use super::{Exit, complain, recording};
use anyhow::{Context as _, Result};
use regex::Regex;
use std::io::Read as _;
use std::path::PathBuf;
use wiretool::encoding::Want;
use wiretool::redact::{Refused, Settings, redact};

const EXAMPLES: &str = "\
Examples:
  wiretool redact calls.jsonl -o shown.jsonl                   tokens, headers, arguments, stderr
  wiretool redact calls.jsonl -o shown.jsonl --field 'pass*'   and fields of such a name
  wiretool redact calls.jsonl -o shown.jsonl --value '\\d{16}'  and such text wherever it stands";

const EXIT_CODES: &str = "\
Exit codes:
  0  it is redacted
  1  refused: a compressed body has a secret, or may have one
  2  usage, or a file that cannot be read or written, or is no recording";

/// Replace what is secret in a recording, by stand-ins of the same length and kind
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// The recording
    #[arg(value_name = "RECORDING")]
    recording: PathBuf,
    /// Write here, whole or not at all, instead of stdout
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Fields of this name are secret, too; `*` stands for anything (repeatable)
    #[arg(long, value_name = "NAME", help_heading = "Secrets")]
    field: Vec<String>,
    /// Text that matches is secret, too (repeatable)
    #[arg(long, value_name = "REGEX", value_parser = Regex::new, help_heading = "Secrets")]
    value: Vec<Regex>,
    #[command(flatten)]
    wire: options::Wire,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared) -> Result<Exit> {
    let name = args.recording.display().to_string();
    let recording = recording::read(&args.recording)?;
    let mut key = [0; 32];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut random| random.read_exact(&mut key))
        .context("cannot make a random key")?;
    let protocols = args.wire.protocols()?;
    let settings = Settings {
        decode: args.wire.options(&protocols, Want::Exact),
        keys: args.field.clone(),
        values: args.value.clone(),
        key,
    };
    let redacted = match redact(&recording, &settings) {
        Ok(redacted) => redacted,
        Err(Refused::Unreadable(text)) => anyhow::bail!("{name}: {text}"),
        Err(Refused::Compressed(text)) => {
            complain(&format!("{name}: refused: {text}"));
            return Ok(Exit::No);
        }
    };
    let inputs = [args.recording.clone()];
    let mut output = Output::open(args.output.as_deref(), &inputs)?;
    output.room().extend_from_slice(&redacted.out);
    output.finish()?;
    if !shared.quiet {
        for note in &redacted.notes {
            complain(&format!("{name}: {note}"));
        }
        complain(&format!("{name}: {} secrets replaced", redacted.secrets));
    }
    Ok(Exit::Clean)
}
