//! `wiretool make`: a message from a few words.

use super::encode::{EXIT_CODES, Job, Written};
use super::options::{self, Shared};
use super::output::Output;
use super::{Exit, complain};
use crate::error::Refusal;
use crate::protocol::Protocol;
use crate::protocol::make::{Made, Mint, Words};
use anyhow::{Context as _, Result, bail};

const EXAMPLES: &str = "\
Examples:
  wiretool make saikuro call math.add 2 3
  wiretool make oracle invoke f 0x2710
  wiretool make sael INV github.list_repos '{\"owner\":\"x\"}'
  wiretool make stepflow components/execute /upper '{\"text\":\"a\"}'
  wiretool make telequick Barge call_sid=abc --to xxd
  wiretool make saikuro --list                    its kinds with their words";

/// Make a message from a few words
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Whose message
    #[arg(value_name = "PROTOCOL", value_parser = options::names(options::protocol_names()))]
    protocol: String,
    /// Its kind, and what it holds; `KEY=VALUE` sets further parts
    #[arg(value_name = "WORD", allow_negative_numbers = true)]
    words: Vec<String>,
    /// Show the kinds with their words
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    written: Written,
}

/// Runs the command.
pub fn run(args: &Args, shared: &Shared) -> Result<Exit> {
    let protocols =
        options::protocols_for_writing(args.written.schema.as_deref(), Some(&args.protocol))?;
    let protocol = protocols.named().context("no such protocol")?;
    if args.list {
        let mut output = Output::open(args.written.output.as_deref(), &[])?;
        for recipe in protocol.descriptor().recipes.iter() {
            let keys: Vec<String> = recipe
                .keys
                .split_whitespace()
                .map(|key| format!(" [{key}=…]"))
                .collect();
            let words = format!("{} {}", recipe.name, recipe.words);
            let words = format!("{}{}", words.trim(), keys.concat());
            let line = format!("{words:<52} {}\n", recipe.about);
            output.room().extend_from_slice(line.as_bytes());
        }
        output.finish()?;
        return Ok(Exit::Clean);
    }
    let mut job = Job::new(&args.written, &protocols, &[], shared)?;
    if args.words.is_empty() {
        let recipes = protocol.descriptor().recipes.iter();
        let kinds: Vec<&str> = recipes.map(|r| r.name).collect();
        bail!(
            "which message? wiretool make {} --list shows the words of each: {}",
            args.protocol,
            kinds.join(" ")
        )
    }
    let made = match made(protocol, &args.words, &mut job.mint()) {
        Ok(made) => made,
        Err(refusal) => {
            complain(&format!(
                "{refusal} (wiretool make {} --list)",
                args.protocol
            ));
            return Ok(Exit::No);
        }
    };
    let direction = job.direction.or(Some(made.direction));
    job.one(made.message.as_bytes(), direction, &|refusal| {
        complain(&refusal.to_string());
    })?;
    job.finish()
}

/// The message that words say.
pub fn made(
    protocol: &dyn Protocol,
    words: &[String],
    mint: &mut Mint,
) -> std::result::Result<Made, Refusal> {
    let Some((kind, rest)) = words.split_first() else {
        return Err(Refusal::new("word 1", "a kind", "nothing"));
    };
    let mut recipes = protocol.descriptor().recipes.iter();
    let recipe = recipes.find(|r| r.name == kind);
    let is_key = |key: &str| match recipe {
        Some(recipe) => recipe.keys.split_whitespace().any(|k| k == key),
        // Kinds that a schema names take fields.
        None => !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'),
    };
    let mut words = Words::new(rest, is_key);
    protocol.make(kind, &mut words, mint)
}
