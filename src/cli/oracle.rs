//! `wiretool oracle`: commands for felts, their values, and connection strings.

use super::output::CommandOutput;
use super::{Exit, options, print_message};
use crate::encoding::json;
use crate::protocol::oracle::cairo_serde::{self, CairoDialect, CairoType};
use crate::protocol::oracle::connection;
use crate::protocol::oracle::felt::{Felt, NotAFelt};
use crate::render::DisplayOptions;
use crate::render::style::Highlight;
use crate::tape::Tape;
use anyhow::{Context as _, Result};
use clap::{Subcommand, ValueEnum};
use serde_json::value::RawValue;
use std::io::IsTerminal as _;

const EXAMPLES: &str = "\
Examples:
  wiretool oracle felt 0x68656c6c6f                      the meanings of a felt
  wiretool oracle felt decode --type u256 0x0 0x1        felts to a value
  wiretool oracle felt encode --type ByteArray '\"hi\"'    a value to felts
  wiretool oracle split 'stdio:python3 \"my oracle.py\"'   the argv of a child";

const FELT_EXAMPLES: &str = "\
Examples:
  wiretool oracle felt 0x2710 0x68656c6c6f     hex, decimal, signed, short string
  wiretool oracle felt -5 10000 \"'hello'\"      from decimal, below zero, short string
  wiretool oracle felt '[\"0x1\",\"0x2\"]'         a JSON array, as in messages
  wiretool oracle felt < FELTS                 one per line
  wiretool oracle felt -f json 0x2710          one JSON object per felt";

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
  wiretool oracle split 'stdio:./oracle $HOME'     no shell: $HOME stays as it is";

const TYPES: &str = "\
Types:
  felt252 bool u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 u256 u512 bytes31 shortstring ByteArray
  ContractAddress ClassHash EthAddress NonZero<T> Array<T> Span<T> Option<T> Result<T, E> (T, U) () [T; N]
  Definitions come first: 'struct P { x: u8, y: u8 }; enum E { A: P, B }; Array<E>'

Values:
  integers: numbers of any size            felts and addresses: hex strings
  tuples and lists: arrays                 structs: objects
  variants: {\"Some\": 1}, or \"None\" if empty
  bytes that are not UTF-8: {\"$str\": \"hex\"}";

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  not a felt, not a value of the type, too many felts, or not a connection string
  2  usage, or input that cannot be read";

/// Commands for oracle: felts, values and connection strings
#[derive(clap::Args)]
#[command(before_help = EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
#[command(disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    command: OracleCommand,
}

#[derive(Subcommand)]
enum OracleCommand {
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
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value_t = FeltFormat::Line)]
    format: FeltFormat,
}

#[derive(Subcommand)]
enum FeltCommand {
    Decode(DecodeArgs),
    Encode(EncodeArgs),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FeltFormat {
    /// One line per felt
    Line,
    /// One JSON object per felt
    Json,
}

#[derive(clap::Args)]
struct Felts {
    /// Felts: hex, decimal, 'short string' or a JSON array; none: stdin
    #[arg(value_name = "FELT", allow_negative_numbers = true)]
    felts: Vec<String>,
}

/// Decode felts to a value of a type; print JSON
#[derive(clap::Args)]
#[command(before_help = DECODE_EXAMPLES, after_help = help_after(), help_template = options::HELP)]
struct DecodeArgs {
    #[command(flatten)]
    serde: Serde,
    #[command(flatten)]
    felts: Felts,
}

/// Encode a JSON value of a type; print a JSON array of felts
#[derive(clap::Args)]
#[command(before_help = ENCODE_EXAMPLES, after_help = help_after(), help_template = options::HELP)]
struct EncodeArgs {
    #[command(flatten)]
    serde: Serde,
    /// Value as JSON; none: stdin
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    value: Option<String>,
}

fn help_after() -> String {
    format!("{TYPES}\n\n{EXIT_CODES}")
}

#[derive(clap::Args)]
struct Serde {
    /// The type, definitions of structs and enums before it
    #[arg(short, long = "type", value_name = "TYPE", value_parser = parse_type)]
    ty: CairoType,
    /// As the Rust SDK has it: [T; N] with its length before it, a bool 0 or 1
    #[arg(long)]
    sdk: bool,
}

impl Serde {
    fn dialect(&self) -> CairoDialect {
        if self.sdk {
            CairoDialect::Sdk
        } else {
            CairoDialect::Cairo
        }
    }
}

fn parse_type(text: &str) -> Result<CairoType, String> {
    CairoType::parse(text).map_err(|e| e.to_string())
}

/// Split a connection string as the executor does: one JSON string per word
#[derive(clap::Args)]
#[command(before_help = SPLIT_EXAMPLES, after_help = EXIT_CODES, help_template = options::HELP)]
struct SplitArgs {
    /// The whole string, `stdio:` included
    #[arg(value_name = "CONNECTION-STRING")]
    connection: String,
}

/// Runs the command.
pub fn run(args: &Args, display: DisplayOptions) -> Result<Exit> {
    let mut out = Vec::new();
    let exit = match &args.command {
        OracleCommand::Split(args) => split_connection(args, &mut out),
        OracleCommand::Felt(args) => match &args.command {
            Some(FeltCommand::Decode(args)) => decode(args, &mut out)?,
            Some(FeltCommand::Encode(args)) => encode(args, &mut out)?,
            None => show_felts(args, display, &mut out)?,
        },
    };
    let mut output = CommandOutput::open(None, &[])?;
    // Lines of felts may contain color; all other output is JSON.
    let is_json = !matches!(&args.command, OracleCommand::Felt(f) if f.command.is_none() && f.format == FeltFormat::Line);
    output.is_json = is_json;
    output.buffer().append(&mut out);
    output.finish()?;
    Ok(exit)
}

fn split_connection(args: &SplitArgs, out: &mut Vec<u8>) -> Exit {
    match connection::split(&args.connection) {
        Ok(words) => {
            for word in words {
                json::write_str(&word, out);
                out.push(b'\n');
            }
            for (at, c) in connection::special(&args.connection) {
                print_message(&match c {
                    '#' => {
                        format!("byte {at}: # starts a comment; the rest of the line is ignored")
                    }
                    '\r' => format!("byte {at}: a CR is part of its word, not between words"),
                    c => format!("byte {at}: {c} means itself, no shell reads the command"),
                });
            }
            Exit::Clean
        }
        Err(error) => {
            for line in error.to_string().lines().filter(|l| !l.is_empty()) {
                print_message(line);
            }
            Exit::Negative
        }
    }
}

fn show_felts(args: &FeltArgs, display: DisplayOptions, out: &mut Vec<u8>) -> Result<Exit> {
    let (felts, is_refused) = args.felts.read_and_print_refusals()?;
    for felt in felts {
        match args.format {
            FeltFormat::Json => write_json(felt, out),
            FeltFormat::Line => out.extend_from_slice(format_felt(felt, display).as_bytes()),
        }
    }
    Ok(Exit::negative_if(is_refused))
}

fn format_felt(felt: Felt, display: DisplayOptions) -> String {
    let mut line = String::new();
    let style = display.style;
    style.push(&mut line, Highlight::Key, &felt.to_hex());
    line.push_str("  ");
    style.push(&mut line, Highlight::Number, &felt.to_decimal());
    if let Some(n) = felt.negative() {
        line.push_str("  ");
        style.push(&mut line, Highlight::Number, &format!("-{n}"));
    }
    if let Some(text) = felt.short_string() {
        line.push_str("  ");
        style.push_wire(&mut line, Highlight::Text, &format!("'{text}'"));
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
    let (felts, is_refused) = args.felts.read_and_print_refusals()?;
    if is_refused {
        return Ok(Exit::Negative);
    }
    match cairo_serde::decode(&args.serde.ty, &felts, args.serde.dialect()) {
        Ok((value, used)) => {
            out.extend_from_slice(value.as_bytes());
            out.push(b'\n');
            let left = felts.len() - used;
            if left > 0 {
                let s = if left == 1 { "" } else { "s" };
                print_message(&format!(
                    "{left} felt{s} left over, from felt {used} on: Cairo ignores them in a result, the SDK refuses them in calldata"
                ));
            }
            Ok(Exit::negative_if(left > 0))
        }
        Err(error) => {
            print_message(&error.to_string());
            Ok(Exit::Negative)
        }
    }
}

fn encode(args: &EncodeArgs, out: &mut Vec<u8>) -> Result<Exit> {
    let text = match &args.value {
        Some(text) => text.clone(),
        None => read_stdin("a value")?,
    };
    let mut tape = Tape::new();
    let root = match json::root(text.as_bytes(), 256, &mut tape) {
        Ok(root) => root,
        Err(error) => {
            let at = error.span.at();
            print_message(&format!("the value is not JSON: byte {at}: {error}"));
            return Ok(Exit::Negative);
        }
    };
    let Serde { ty, .. } = &args.serde;
    match cairo_serde::encode(ty, root, args.serde.dialect()) {
        Ok(felts) => {
            let felts: Vec<String> = felts.iter().map(|f| format!("\"{f}\"")).collect();
            out.extend_from_slice(format!("[{}]\n", felts.join(",")).as_bytes());
            Ok(Exit::Clean)
        }
        Err(error) => {
            print_message(&error.to_string());
            Ok(Exit::Negative)
        }
    }
}

fn print_refusal(text: &str, why: NotAFelt) {
    let modulo = Felt::parse_modulo(text).ok();
    let is_letter = |c: u8| c.is_ascii_alphanumeric() || b" _-.".contains(&c);
    let hint = match (why, modulo) {
        (NotAFelt::Range, Some(felt)) => {
            format!("; older peers reduce it modulo P, to {felt}, newer peers refuse it")
        }
        // A shell takes one pair of quotes away.
        (NotAFelt::Spelling, _) if text.len() < 32 && text.bytes().all(is_letter) => {
            format!("; in a shell: \"'{text}'\"")
        }
        _ => String::new(),
    };
    let short: String = text.chars().take(80).collect();
    print_message(&format!("not a felt: {short}: {why}{hint}"));
}

impl Felts {
    /// Returns the felts of the arguments, and true if a text is refused.
    fn read_and_print_refusals(&self) -> Result<(Vec<Felt>, bool)> {
        let mut is_refused = false;
        let mut felts = Vec::new();
        for text in self.texts()? {
            match Felt::read(&text) {
                Ok(felt) => felts.push(felt),
                Err(why) => {
                    print_refusal(&text, why);
                    is_refused = true;
                }
            }
        }
        Ok((felts, is_refused))
    }

    /// Returns one text per felt; arrays are split.
    fn texts(&self) -> Result<Vec<String>> {
        let mut felts = Vec::new();
        if self.felts.is_empty() {
            let text = read_stdin("felts")?;
            if !split_array(&text, &mut felts) {
                for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
                    split_felts(line, &mut felts);
                }
            }
        }
        for text in &self.felts {
            split_felts(text, &mut felts);
        }
        Ok(felts)
    }
}

/// Splits a felt or an array as it occurs in a message: possibly in double quotes, possibly with a comma after it.
fn split_felts(text: &str, felts: &mut Vec<String>) {
    if !split_array(text, felts) {
        let text = text.strip_suffix(',').unwrap_or(text);
        let bare = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        felts.push(bare.unwrap_or(text).to_owned());
    }
}

/// Splits a JSON array of strings and numbers; numbers keep their spelling, because they can have any size.
fn split_array(text: &str, felts: &mut Vec<String>) -> bool {
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) else {
        return false;
    };
    felts.extend(items.into_iter().map(|item| {
        let text = serde_json::from_str(item.get());
        text.unwrap_or_else(|_| item.get().to_owned())
    }));
    true
}

/// Returns all of stdin; a terminal is refused.
fn read_stdin(what: &str) -> Result<String> {
    if std::io::stdin().is_terminal() {
        anyhow::bail!("{what}: none given, and stdin is a terminal (--help shows examples)");
    }
    std::io::read_to_string(std::io::stdin()).context("cannot read stdin")
}
