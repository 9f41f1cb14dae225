//! What users write for the value of a flag, and small files that flags name.

use crate::capture::Form;
use crate::conversation::Dialect;
use crate::framing::{Framing, LengthMode};
use crate::protocol::oracle::cairo_serde::Signature;
use crate::protocol::{Direction, registry};
use anyhow::{Context as _, Result, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

pub use crate::words::size;

/// A text of at most so many bytes.
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

/// The secret in a file; one line end at its end is not part of it.
pub fn read_secret(path: &Path) -> Result<Vec<u8>> {
    let mut bytes =
        std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    if bytes.ends_with(b"\n") {
        bytes.pop();
        if bytes.ends_with(b"\r") {
            bytes.pop();
        }
    }
    ensure!(
        !bytes.is_empty(),
        "{} is empty: there is no secret",
        path.display()
    );
    Ok(bytes)
}

pub fn protocol_names() -> Vec<&'static str> {
    registry::names().collect()
}

pub fn framing_names() -> Vec<&'static str> {
    std::iter::once("auto")
        .chain(Framing::ALL.map(Framing::name))
        .collect()
}

/// A span of time: `5s`, `500ms`, `2m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wanted = || "a time is wanted, such as 500ms, 5s or 2m".to_owned();
    let at = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .ok_or_else(wanted)?;
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

/// What a selector takes and gives.
pub fn signature(text: &str) -> Result<Signature, String> {
    Signature::parse(text).map_err(|e| e.to_string())
}

/// Names that clap completes, suggests and checks.
pub fn names(names: impl IntoIterator<Item = &'static str>) -> PossibleValuesParser {
    PossibleValuesParser::new(names)
}

/// A parser of names that stand for values.
fn one_of<T: Clone + Send + Sync + 'static>(
    offered: impl IntoIterator<Item = &'static str>,
    value: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    names(offered).try_map(move |name| value(&name).ok_or("no value has this name"))
}

/// The forms that input may have.
pub fn form() -> impl TypedValueParser<Value = Form> {
    one_of(Form::ALL.map(Form::name), Form::from_name)
}

/// The two directions.
pub fn direction() -> impl TypedValueParser<Value = Direction> {
    one_of(["c2s", "s2c"], Direction::from_name)
}

/// How lengths count.
pub fn length_mode() -> impl TypedValueParser<Value = LengthMode> {
    one_of(["auto", "exclusive", "inclusive"], LengthMode::from_name)
}

/// Whose rules count.
pub fn dialect() -> impl TypedValueParser<Value = Dialect> {
    one_of(Dialect::ALL.map(Dialect::name), Dialect::from_name)
}
