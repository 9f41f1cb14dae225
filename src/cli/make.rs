//! `wiretool make`: makes a message from a kind and arguments.

use super::encode::{EXIT_CODES, EncodeJob, WriteArgs};
use super::options;
use super::output::CommandOutput;
use super::{Exit, print_message};
use crate::error::Refusal;
use crate::path::Path;
use crate::protocol::Protocol;
use crate::protocol::make::{ANY_PATH, IdGen, Made, Recipe, Words};
use anyhow::{Context as _, Result, bail};

const EXAMPLES: &str = "\
Examples:
  wiretool make mcp tools/call add '{\"a\":1,\"b\":2}'
  wiretool make lsp textDocument/hover file:///a.rs 3 7
  wiretool make saikuro call math.add 2 3
  wiretool make oracle invoke f 0x2710
  wiretool make sael INV github.list_repos '{\"owner\":\"x\"}'
  wiretool make stepflow components/execute /upper '{\"text\":\"a\"}'
  wiretool make telequick Barge call_sid=abc --to xxd
  wiretool make mcp --list                    the kinds and their arguments";

/// Make a message from its kind and arguments
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
pub struct Args {
    /// Protocol of the message
    #[arg(value_name = "PROTOCOL", value_parser = options::protocol())]
    protocol: String,
    /// Kind and arguments, or one object with all of them; `KEY=VALUE` sets other fields
    #[arg(value_name = "WORD", allow_negative_numbers = true)]
    words: Vec<String>,
    /// List the kinds and their arguments
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    written: WriteArgs,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Exit> {
    let protocols =
        options::protocols_for_writing(args.written.schema.as_deref(), Some(&args.protocol))?;
    let protocol = protocols.named().context("no such protocol")?;
    if args.list {
        let mut output = CommandOutput::open(args.written.output.as_deref(), &[])?;
        for recipe in protocol.recipes() {
            let keys: Vec<String> = recipe
                .keys
                .split_whitespace()
                .map(|key| format!(" [{key}=…]"))
                .collect();
            let words = format!("{} {}", recipe.name, recipe.words);
            let words = format!("{}{}", words.trim(), keys.concat());
            let line = format!("{words:<52} {}\n", recipe.about);
            output.push(&line);
        }
        output.finish()?;
        return Ok(Exit::Clean);
    }
    let mut job = EncodeJob::new(&args.written, &protocols, &[])?;
    if args.words.is_empty() {
        let recipes = protocol.recipes().iter();
        let kinds: Vec<&str> = recipes.map(|r| &*r.name).collect();
        bail!(
            "name a kind (wiretool make {} --list shows the arguments): {}",
            args.protocol,
            kinds.join(" ")
        )
    }
    let made = match make_message(protocol, &args.words, &mut job.new_generator()) {
        Ok(made) => made,
        Err(refusal) => {
            print_message(&format!(
                "{refusal} (wiretool make {} --list)",
                args.protocol
            ));
            return Ok(Exit::Error);
        }
    };
    let direction = job.direction.or(Some(made.direction));
    job.encode_message(made.message.as_bytes(), direction, &|refusal| {
        print_message(&refusal.to_string());
    })?;
    job.finish()
}

/// Refuses a pair with a key that the kind does not have, where an optional word would take it as a text: `pretty=true`.
fn refuse_unknown_keys(
    recipe: &Recipe,
    words: &[String],
    is_key: impl Fn(&str) -> bool,
) -> std::result::Result<(), Refusal> {
    let is_own = |word: &str| word.split_once('=').is_some_and(|(key, _)| is_key(key));
    let mut places = recipe.words.split(' ');
    for (word, number) in words.iter().zip(2..) {
        if is_own(word) {
            continue;
        }
        let place = places.next().unwrap_or_default();
        let is_name = |key: &str| {
            let mut letters = key.bytes();
            letters.next().is_some_and(|c| c.is_ascii_lowercase())
                && letters.all(|c| c.is_ascii_alphanumeric() || c == b'_')
        };
        let is_pair = |(key, value): (&str, &str)| {
            is_name(key) && !value.trim_matches('=').is_empty() && !value.contains(' ')
        };
        if place.starts_with('[') && word.split_once('=').is_some_and(is_pair) {
            let keys = recipe
                .keys
                .split_whitespace()
                .map(|key| format!(" {key}=…"));
            let wanted = format!("{place}{}", keys.collect::<String>());
            return Err(Refusal::new(
                format!("word {number}"),
                wanted,
                format!("`{word}`"),
            ));
        }
    }
    Ok(())
}

/// Returns words in the order of their places: `name=add` is the word of the place NAME.
fn in_places(recipe: &Recipe, words: &[String]) -> std::result::Result<Vec<String>, Refusal> {
    let places: Vec<String> = recipe
        .words
        .split_whitespace()
        .map(|place| place.trim_matches(['[', ']']).replace('-', "_"))
        .collect();
    let mut given: Vec<Option<&str>> = vec![None; places.len()];
    let mut others = Vec::new();
    for word in words {
        let pair = word.split_once('=').and_then(|(key, value)| {
            let name = key.to_uppercase().replace('-', "_");
            let mut places = places.iter().zip(&mut given);
            let is_free = |(place, slot): &(&String, &mut Option<&str>)| {
                slot.is_none() && **place == name && key != name
            };
            Some((places.find(is_free)?.1, value))
        });
        match pair {
            Some((slot, value)) => *slot = Some(value),
            None => others.push(word),
        }
    }
    let Some(last) = given.iter().rposition(Option::is_some) else {
        return Ok(words.to_vec());
    };
    let is_plain = |word: &&String| {
        let mut keys = recipe.keys.split_whitespace();
        !word
            .split_once('=')
            .is_some_and(|(key, _)| keys.any(|own| own == key))
    };
    let (plain, keyed): (Vec<&String>, Vec<&String>) = others.into_iter().partition(is_plain);
    let mut plain = plain.into_iter();
    let mut ordered = Vec::with_capacity(words.len());
    for ((slot, place), n) in given.iter().zip(&places).zip(0..) {
        match slot.or_else(|| plain.next().map(String::as_str)) {
            Some(word) => ordered.push(word.to_owned()),
            None if n > last => break,
            None => {
                return Err(Refusal::new(
                    format!("word {}", n + 2),
                    format!("{place}, as in {} {}", recipe.name, recipe.words),
                    "nothing",
                ));
            }
        }
    }
    ordered.extend(plain.chain(keyed).cloned());
    Ok(ordered)
}

/// Returns the message of a kind and its arguments.
pub fn make_message(
    protocol: &dyn Protocol,
    words: &[String],
    id_gen: &mut IdGen,
) -> std::result::Result<Made, Refusal> {
    let Some((kind, rest)) = words.split_first() else {
        return Err(Refusal::new("word 1", "a kind", "nothing"));
    };
    let mut recipes = protocol.recipes().iter();
    let recipe = recipes.find(|r| r.name == *kind);
    let is_key = |key: &str| match recipe {
        Some(recipe) => recipe.keys.split_whitespace().any(|k| {
            k == key || k == ANY_PATH && key.starts_with('.') && key.parse::<Path>().is_ok()
        }),
        // Kinds from a schema take the fields of the struct.
        None => !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'),
    };
    let rest = match recipe {
        Some(recipe) => in_places(recipe, rest)?,
        None => rest.to_vec(),
    };
    let rest = rest.as_slice();
    let mut words = Words::new(rest, is_key);
    let made = protocol.make(kind, &mut words, id_gen);
    if let (Ok(_), Some(recipe)) = (&made, recipe) {
        refuse_unknown_keys(recipe, rest, is_key)?;
    }
    made.map_err(|mut refusal| {
        if rest.iter().any(|word| word.starts_with('{')) {
            let wanted = refusal.wanted.to_mut();
            wanted.push_str(" (a whole message in JSON is --json JSON)");
        }
        refusal
    })
}
