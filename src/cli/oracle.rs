//! `wiretool oracle`: what only this protocol has: felts, the values they stand for, connection strings.

use super::output::Output;
use super::{Exit, complain, options};
use crate::encoding::json;
use crate::protocol::oracle::cairo_serde::{self, Dialect, Type, Value};
use crate::protocol::oracle::connection;
use crate::protocol::oracle::felt::{Felt, NotAFelt};
use crate::render::Look;
use crate::render::style::Tone;
use crate::span::Span;
use crate::tape::Tape;
use anyhow::{Context as _, Result};
use clap::{Subcommand, ValueEnum};
use serde_json::value::RawValue;
use std::io::{IsTerminal as _, Read as _};

const EXAMPLES: &str = "\
Examples:
  wiretool oracle felt 0x68656c6c6f                      what does this felt stand for?
  wiretool oracle felt decode --type u256 0x0 0x1        felts to a value
  wiretool oracle felt encode --type ByteArray '\"hi\"'    a value to felts
  wiretool oracle split 'stdio:python3 \"my oracle.py\"'   the argv that the executor runs";

const FELT_EXAMPLES: &str = "\
Examples:
  wiretool oracle felt 0x2710 0x68656c6c6f     hex, decimal, signed, short string
  wiretool oracle felt -5 10000 \"'hello'\"      from decimal, below zero, short string
  wiretool oracle felt '[\"0x1\",\"0x2\"]'         a JSON array of them, as messages have it
  wiretool oracle felt < FELTS                 one a line
  wiretool oracle felt -f json 0x2710          a JSON object a felt, for programs";

const DECODE_EXAMPLES: &str = "\
Examples:
  wiretool oracle felt decode --type u256 0x0 0x1
  wiretool oracle felt decode --type '(u8, ByteArray)' 0x7 0x0 0x6869 0x2
  wiretool oracle felt decode --type 'struct P { x: u8, y: i8 }; Array<P>' '[\"0x1\",\"0x5\",\"0x7\"]'
  wiretool oracle felt decode --sdk --type '[u8; 3]' 3 1 2 3";

const ENCODE_EXAMPLES: &str = "\
Examples:
  wiretool oracle felt encode --type u256 340282366920938463463374607431768211456
  wiretool oracle felt encode --type '(u8, ByteArray)' '[7, \"hi\"]'
  wiretool oracle felt encode --type 'Option<felt252>' '{\"Some\": \"0x2710\"}'
  wiretool oracle felt encode --type 'Option<felt252>' '\"None\"'";

const SPLIT_EXAMPLES: &str = "\
Examples:
  wiretool oracle split 'stdio:cargo -q run --manifest-path \"my oracle/Cargo.toml\"'
  wiretool oracle split 'stdio:./oracle $HOME'     variables, globs and pipes mean nothing";

const TYPES: &str = "\
Types:
  felt252 bool u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 u256 u512 bytes31 shortstring ByteArray
  ContractAddress ClassHash EthAddress NonZero<T> Array<T> Span<T> Option<T> Result<T, E> (T, U) () [T; N]
  Definitions come first: 'struct P { x: u8, y: u8 }; enum E { A: P, B }; Array<E>'

Values:
  integers are numbers of any size; felts and addresses hex strings; tuples and lists arrays; structs objects;
  variants {\"Some\": 1}, or \"None\" where they hold nothing; bytes that are not UTF-8 {\"$str\": \"hex\"}";

const EXIT_CODES: &str = "\
Exit codes:
  0  it ran, and all is well
  1  it ran, and the answer is no: not a felt, not of the type, felts left over, not a connection string
  2  usage, or input that cannot be read";

/// Oracle's own: felts and the values they stand for, connection strings
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Felt(FeltArgs),
    Split(SplitArgs),
}

/// Show felts as hex, decimal, signed and short string; decode and encode values
#[derive(clap::Args)]
#[command(before_help = FELT_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
struct FeltArgs {
    #[command(subcommand)]
    command: Option<FeltCommand>,
    #[command(flatten)]
    felts: Felts,
    /// How they are shown
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = Format::Line)]
    format: Format,
}

#[derive(Subcommand)]
enum FeltCommand {
    Decode(DecodeArgs),
    Encode(EncodeArgs),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line a felt
    Line,
    /// One JSON object a felt
    Json,
}

#[derive(clap::Args)]
struct Felts {
    /// Felts: hex, decimal, 'short string' in single quotes, or a JSON array of them; stdin where there is none
    #[arg(value_name = "FELT", allow_negative_numbers = true)]
    felts: Vec<String>,
}

/// Decode felts to a value of a type, printed as JSON
#[derive(clap::Args)]
#[command(before_help = DECODE_EXAMPLES, after_help = after(), help_template = options::HELP)]
struct DecodeArgs {
    #[command(flatten)]
    serde: Serde,
    #[command(flatten)]
    felts: Felts,
}

/// Encode a JSON value of a type, printed as a JSON array of felts
#[derive(clap::Args)]
#[command(before_help = ENCODE_EXAMPLES, after_help = after(), help_template = options::HELP)]
struct EncodeArgs {
    #[command(flatten)]
    serde: Serde,
    /// The value, as JSON; stdin where there is none
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    value: Option<String>,
}

fn after() -> String {
    format!("{TYPES}\n\n{EXIT_CODES}")
}

#[derive(clap::Args)]
struct Serde {
    /// The type, definitions of structs and enums before it
    #[arg(short, long = "type", value_name = "TYPE", value_parser = ty)]
    ty: Type,
    /// As the Rust SDK has it: [T; N] with its length before it, a bool 0 or 1
    #[arg(long)]
    sdk: bool,
}

impl Serde {
    fn dialect(&self) -> Dialect {
        if self.sdk {
            Dialect::Sdk
        } else {
            Dialect::Cairo
        }
    }
}

fn ty(text: &str) -> Result<Type, String> {
    Type::parse(text).map_err(|e| e.to_string())
}

/// Split a connection string as the executor does: one JSON string a word
#[derive(clap::Args)]
#[command(before_help = SPLIT_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
struct SplitArgs {
    /// The whole string, `stdio:` included
    #[arg(value_name = "CONNECTION-STRING")]
    connection: String,
}

/// Runs the command.
pub fn run(args: &Args, look: Look) -> Result<Exit> {
    let mut out = Vec::new();
    let exit = match &args.command {
        Command::Split(args) => split(args, &mut out),
        Command::Felt(args) => match &args.command {
            Some(FeltCommand::Decode(args)) => decode(args, &mut out)?,
            Some(FeltCommand::Encode(args)) => encode(args, &mut out)?,
            None => show(args, look, &mut out)?,
        },
    };
    let mut output = Output::open(None, &[])?;
    // Lines of felts are our own text, perhaps coloured; everything else is JSON.
    let is_json = !matches!(&args.command, Command::Felt(f) if f.command.is_none() && f.format == Format::Line);
    output.is_json = is_json;
    output.room().append(&mut out);
    output.finish()?;
    Ok(exit)
}

fn split(args: &SplitArgs, out: &mut Vec<u8>) -> Exit {
    match connection::split(&args.connection) {
        Ok(words) => {
            for word in words {
                json::write_str(&word, out);
                out.push(b'\n');
            }
            for (at, c) in connection::special(&args.connection) {
                complain(&match c {
                    '#' => {
                        format!("byte {at}: # begins a comment, the rest of the line is dropped")
                    }
                    '\r' => format!("byte {at}: a CR is part of its word, not between words"),
                    c => format!("byte {at}: {c} means itself, no shell reads the command"),
                });
            }
            Exit::Clean
        }
        Err(error) => {
            for line in error.to_string().lines().filter(|l| !l.is_empty()) {
                complain(line);
            }
            Exit::No
        }
    }
}

fn show(args: &FeltArgs, look: Look, out: &mut Vec<u8>) -> Result<Exit> {
    let mut exit = Exit::Clean;
    for text in args.felts.read()? {
        match Felt::read(&text) {
            Ok(felt) if args.format == Format::Json => write_json(felt, out),
            Ok(felt) => out.extend_from_slice(line(felt, look).as_bytes()),
            Err(why) => {
                refuse(&text, why);
                exit = Exit::No;
            }
        }
    }
    Ok(exit)
}

fn line(felt: Felt, look: Look) -> String {
    let mut line = String::new();
    let style = look.style;
    style.put(&mut line, Tone::Key, &felt.to_hex());
    line.push_str("  ");
    style.put(&mut line, Tone::Number, &felt.to_decimal());
    if let Some(n) = felt.negative() {
        line.push_str("  ");
        style.put(&mut line, Tone::Number, &format!("-{n}"));
    }
    if let Some(text) = felt.short_string() {
        line.push_str("  ");
        style.wire(&mut line, Tone::Text, &format!("'{text}'"));
    }
    line.push('\n');
    line
}

fn write_json(felt: Felt, out: &mut Vec<u8>) {
    let (hex, decimal, signed) = (felt.to_hex(), felt.to_decimal(), felt.signed());
    let text = format!("{{\"hex\":\"{hex}\",\"decimal\":{decimal},\"signed\":{signed}");
    out.extend_from_slice(text.as_bytes());
    if let Some(text) = felt.short_string() {
        out.extend_from_slice(b",\"short_string\":");
        json::write_str(text, out);
    }
    out.extend_from_slice(b"}\n");
}

fn decode(args: &DecodeArgs, out: &mut Vec<u8>) -> Result<Exit> {
    let mut felts = Vec::new();
    let mut exit = Exit::Clean;
    for text in args.felts.read()? {
        match Felt::read(&text) {
            Ok(felt) => felts.push(felt),
            Err(why) => {
                refuse(&text, why);
                exit = Exit::No;
            }
        }
    }
    if exit != Exit::Clean {
        return Ok(exit);
    }
    match cairo_serde::decode(&args.serde.ty, &felts, args.serde.dialect()) {
        Ok((value, used)) => {
            value.write(out);
            out.push(b'\n');
            let left = felts.len() - used;
            if left > 0 {
                let s = if left == 1 { "" } else { "s" };
                complain(&format!(
                    "{left} felt{s} left over, from felt {used} on: Cairo ignores them in a result, the SDK refuses them in calldata"
                ));
                exit = Exit::No;
            }
        }
        Err(error) => {
            complain(&error.to_string());
            exit = Exit::No;
        }
    }
    Ok(exit)
}

fn encode(args: &EncodeArgs, out: &mut Vec<u8>) -> Result<Exit> {
    let text = match &args.value {
        Some(text) => text.clone(),
        None => stdin("a value")?,
    };
    let mut tape = Tape::new();
    if let Err(error) = json::parse(text.as_bytes(), Span::new(0, text.len()), 256, &mut tape) {
        complain(&format!(
            "the value is not JSON: byte {}: {error}",
            error.span.at()
        ));
        return Ok(Exit::No);
    }
    let root = tape.root(text.as_bytes()).context("there is no value")?;
    let Serde { ty, .. } = &args.serde;
    let felts = Value::read(ty, root)
        .and_then(|value| cairo_serde::encode(ty, &value, args.serde.dialect()));
    match felts {
        Ok(felts) => {
            let felts: Vec<String> = felts.iter().map(|f| format!("\"{f}\"")).collect();
            out.extend_from_slice(format!("[{}]\n", felts.join(",")).as_bytes());
            Ok(Exit::Clean)
        }
        Err(error) => {
            complain(&error.to_string());
            Ok(Exit::No)
        }
    }
}

fn refuse(text: &str, why: NotAFelt) {
    let modulo = Felt::parse_modulo(text).ok();
    let hint = match (why, modulo) {
        (NotAFelt::Range, Some(felt)) => {
            format!("; older peers take it modulo P, {felt}, newer ones refuse it")
        }
        _ => String::new(),
    };
    let short: String = text.chars().take(80).collect();
    complain(&format!("no felt: {short}: {why}{hint}"));
}

impl Felts {
    /// What was given, one text a felt; arrays taken apart.
    fn read(&self) -> Result<Vec<String>> {
        let mut felts = Vec::new();
        if self.felts.is_empty() {
            let text = stdin("felts")?;
            if !array(&text, &mut felts) {
                for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
                    pasted(line, &mut felts);
                }
            }
        }
        for text in &self.felts {
            pasted(text, &mut felts);
        }
        Ok(felts)
    }
}

/// A felt or an array of them, as it stands in a message: perhaps in double quotes, perhaps with a comma after it.
fn pasted(text: &str, felts: &mut Vec<String>) {
    if !array(text, felts) {
        let text = text.strip_suffix(',').unwrap_or(text);
        let bare = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        felts.push(bare.unwrap_or(text).to_owned());
    }
}

/// Takes a JSON array of strings and numbers apart; numbers as spelled, since they may be of any size.
fn array(text: &str, felts: &mut Vec<String>) -> bool {
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else {
        return false;
    };
    felts.extend(items.into_iter().map(|item| {
        let text = serde_json::from_str(item.get());
        text.unwrap_or_else(|_| item.get().to_owned())
    }));
    true
}

/// All of stdin; a terminal is not waited for.
fn stdin(what: &str) -> Result<String> {
    if std::io::stdin().is_terminal() {
        anyhow::bail!("{what}: none given, and stdin is a terminal (--help shows examples)");
    }
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .read_to_string(&mut text)
        .context("cannot read stdin")?;
    Ok(text)
}
