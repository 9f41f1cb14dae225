//! Parses the values of flags, and reads small files that flags name.

use crate::capture::Form;
use crate::conversation::RuleDialect;
use crate::diff::PathPattern;
use crate::encoding::json;
use crate::export::FormName;
use crate::framing::{Framing, LengthMode};
use crate::protocol::oracle::cairo_serde::Signature;
use crate::protocol::{Direction, registry};
use crate::render::Format;
use crate::settings::{Setting, setting};
use crate::tape::{Node, Tape};
use anyhow::{Context as _, Result, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

pub use crate::words::size;

/// Reads a text of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    let cannot = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    let file = File::open(path).with_context(cannot)?;
    let read = file.take(most + 1).read_to_end(&mut bytes);
    let size = read.with_context(cannot)? as u64;
    ensure!(
        size <= most,
        "{} is larger than {} KiB",
        path.display(),
        most >> 10
    );
    String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("{} is not UTF-8", path.display()))
}

/// Reads a whole file.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads a whole file, or stdin for `-`.
pub fn read_input(path: &Path) -> Result<Vec<u8>> {
    if path != Path::new("-") {
        return read_bytes(path);
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.context("cannot read stdin")?;
    Ok(bytes)
}

/// Reads a whole file of text.
pub fn read_string(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Reads a secret; one line end at the end is not part of it.
pub fn read_secret(path: &Path) -> Result<Vec<u8>> {
    without_line_end(path, read_bytes(path)?).map(|(secret, _)| secret)
}

/// Reads a secret from a file, or from stdin for `-`, and the line end after it.
pub fn read_secret_parts(path: &Path) -> Result<(Vec<u8>, Vec<u8>)> {
    without_line_end(path, read_input(path)?)
}

fn without_line_end(path: &Path, mut bytes: Vec<u8>) -> Result<(Vec<u8>, Vec<u8>)> {
    let mut ends = [&b"\r\n"[..], b"\n"].into_iter();
    let end = ends.find(|end| bytes.ends_with(end)).unwrap_or_default();
    bytes.truncate(bytes.len() - end.len());
    ensure!(
        !bytes.is_empty(),
        "{} is empty, so there is no secret",
        path.display()
    );
    Ok((bytes, end.to_vec()))
}

/// Returns the words of a setting, such as the names of protocols.
pub fn words_of(name: &str) -> Vec<&'static str> {
    setting(name).map(Setting::words).unwrap_or_default()
}

/// Returns the default of a setting.
pub fn default_of(name: &str) -> &'static str {
    setting(name).map_or("", |setting| setting.default)
}

/// Returns the help of a setting.
pub fn help_of(name: &str) -> &'static str {
    setting(name).map_or("", |setting| setting.help)
}

/// Returns a parser for the words of a setting.
pub fn words(name: &str) -> Names {
    names(words_of(name))
}

/// Parses a duration: `5s`, `500ms`, `2m`.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wanted = || "wanted a time, such as 500ms, 5s or 2m".to_owned();
    let Some(at) = text.find(|c: char| !c.is_ascii_digit() && c != '.') else {
        let is_number = text.parse::<f64>().is_ok();
        return Err(if is_number {
            format!("wanted a unit: {text}s or {text}ms")
        } else {
            wanted()
        });
    };
    let (number, unit) = text.split_at(at);
    let seconds: f64 = match unit {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wanted()),
    };
    let number: f64 = number.parse().map_err(|_| wanted())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wanted())
}

/// Parses a pattern of paths.
pub fn parse_pattern(text: &str) -> Result<String, String> {
    if PathPattern::is_valid(text) {
        Ok(text.to_owned())
    } else {
        Err("wanted a path, such as result.id, **.ts or KIND:PATH".to_owned())
    }
}

/// Parses JSON of any usual depth.
pub fn parse_json<'t>(text: &'t [u8], tape: &'t mut Tape) -> Result<Node<'t>, String> {
    const MAX_DEPTH: u32 = 1000;
    json::root(text, MAX_DEPTH, tape).map_err(|error| error.to_string())
}

/// Parses the signature of a selector.
pub fn parse_signature(text: &str) -> Result<Signature, String> {
    Signature::parse(text).map_err(|e| e.to_string())
}

/// Returns a parser for names that clap completes, suggests and checks, in any case.
pub fn names(names: impl IntoIterator<Item = &'static str>) -> Names {
    Names(PossibleValuesParser::new(names))
}

/// A parser for names in lower case; other cases are accepted, too.
#[derive(Clone)]
pub struct Names(PossibleValuesParser);

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let is_name = |value: &&OsStr| {
            let mut known = self.0.possible_values().into_iter().flatten();
            known.any(|name| *name.get_name() == **value)
        };
        let lower = value.to_ascii_lowercase();
        // An error names the value as it is given.
        let value = Some(lower.as_os_str()).filter(is_name).unwrap_or(value);
        self.0.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// Returns a parser for names that stand for values.
fn one_of<T: Clone + Send + Sync + 'static>(
    offered: impl IntoIterator<Item = &'static str>,
    value: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    names(offered).try_map(move |name| value(&name).ok_or("no value has this name"))
}

/// Returns a parser for the forms of input.
pub fn form() -> impl TypedValueParser<Value = Form> {
    one_of(words_of("from"), Form::from_name)
}

/// A format of the output of a command that shows no messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OutputFormat {
    Text,
    Json,
}

impl OutputFormat {
    pub fn is_json(self) -> bool {
        self == Self::Json
    }
}

/// Returns a parser for text and JSON; the help says what each has.
pub fn text_or_json(
    text: &'static str,
    json: &'static str,
) -> impl TypedValueParser<Value = OutputFormat> {
    let values = [
        PossibleValue::new("text").help(text),
        PossibleValue::new("json").help(json),
    ];
    Names(PossibleValuesParser::new(values)).map(|name| match name.as_str() {
        "json" => OutputFormat::Json,
        _ => OutputFormat::Text,
    })
}

pub fn export_form() -> impl TypedValueParser<Value = FormName> {
    let values = FormName::ALL.map(|form| PossibleValue::new(form.name()).help(form.about()));
    let parser = Names(PossibleValuesParser::new(values));
    parser.try_map(|name| FormName::from_name(&name).ok_or("no form has this name"))
}

/// Returns a parser for the formats of messages.
pub fn format() -> impl TypedValueParser<Value = Format> {
    let about = |format| match format {
        Format::Tree => "Every field with its byte range",
        Format::Line => "One line per message",
        Format::Json => "One JSON object per message",
        Format::Hex => "Bytes with the fields that they encode",
    };
    let values = Format::ALL.map(|format| PossibleValue::new(format.name()).help(about(format)));
    let parser = Names(PossibleValuesParser::new(values));
    parser.try_map(|name| Format::from_name(&name).ok_or("no format has this name"))
}

/// Returns a parser for the framings that can be written.
pub fn framing() -> impl TypedValueParser<Value = Framing> {
    one_of(registry::framing_names(), registry::framing_named)
}

/// Returns a parser for the two directions.
pub fn direction() -> impl TypedValueParser<Value = Direction> {
    one_of(words_of("dir"), Direction::from_name)
}

/// Returns a parser for the length modes that can be written.
pub fn written_length_mode() -> impl TypedValueParser<Value = LengthMode> {
    one_of(["exclusive", "inclusive"], LengthMode::from_name)
}

/// Returns a parser for the length modes.
pub fn length_mode() -> impl TypedValueParser<Value = LengthMode> {
    one_of(words_of("length-mode"), LengthMode::from_name)
}

/// Returns a parser for the dialects of rules.
pub fn dialect() -> impl TypedValueParser<Value = RuleDialect> {
    one_of(words_of("dialect"), RuleDialect::from_name)
}
