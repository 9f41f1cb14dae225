//! Encodes JSON as felts.

use super::super::felt::{self, Felt};
use super::types::{CairoType, Definition, ScalarSort};
use super::{CairoDialect, LIMB, Result, SerdeError, WORD};
use crate::tape::Node;
use num_bigint::BigInt;
use std::sync::Arc;

/// The largest number of hex digits: those of a `u512`.
const DIGITS: usize = 128;

/// Encodes parsed JSON of a type.
pub fn encode(ty: &CairoType, value: Node<'_>, dialect: CairoDialect) -> Result<Vec<Felt>> {
    let mut felts = Vec::new();
    write(ty, value, dialect, &mut felts)?;
    Ok(felts)
}

fn write(ty: &CairoType, node: Node<'_>, dialect: CairoDialect, out: &mut Vec<Felt>) -> Result<()> {
    let fail = |wanted: &str| Err(SerdeError::new(ty, wanted, shown(node)));
    let count = node.children().count();
    match ty {
        CairoType::Scalar(scalar) if scalar.sort == ScalarSort::Felt => {
            let text = node.text().or(node.number_text().map(Into::into));
            let Some(read) = text.map(|t| Felt::read(&t)) else {
                return fail("a felt: a hex string or a number");
            };
            let felt = read.map_err(|why| {
                let got = format!("{} ({why})", shown(node));
                SerdeError::new(ty, "a felt", got)
            })?;
            if !scalar.holds(&felt.number().into()) {
                return Err(SerdeError::new(ty, scalar.range(), felt.to_hex()));
            }
            out.push(felt);
        }
        CairoType::Scalar(scalar) => {
            let number = number(ty, node)?;
            let felt = scalar.holds(&number).then(|| Felt::from_number(&number));
            let fail = || SerdeError::new(ty, scalar.range(), number.to_string());
            out.push(felt.flatten().ok_or_else(fail)?);
        }
        CairoType::Wide(limbs) => wide(ty, *limbs, &number(ty, node)?, out)?,
        CairoType::NonZero(inner) => {
            let start = out.len();
            write(inner, node, dialect, out)?;
            if out.iter().skip(start).all(|felt| *felt == Felt::default()) {
                return Err(SerdeError::new(ty, "anything but 0", "0"));
            }
        }
        CairoType::Bool => match node.as_bool() {
            Some(value) => out.push(small(usize::from(value))),
            None => return fail("true or false"),
        },
        CairoType::ShortString => {
            let text = node.text().filter(|text| !text.starts_with('\0'));
            let Some(Ok(felt)) = text.map(|text| Felt::from_short_string(&text)) else {
                return fail("a string of at most 31 ASCII characters, not beginning with NUL");
            };
            out.push(felt);
        }
        CairoType::ByteArray => {
            let Some(bytes) = bytes(node) else {
                return fail("a string, or bytes as {\"$bin\":\"hex\"}");
            };
            byte_array(&bytes, out);
        }
        CairoType::List(_, item) if node.is_array() => {
            out.push(small(count));
            items(std::iter::repeat_n(&**item, count), node, dialect, out)?;
        }
        CairoType::List(..) => return fail("an array"),
        CairoType::Fixed(item, wanted) if node.is_array() && count == *wanted => {
            if dialect == CairoDialect::Sdk {
                out.push(small(count));
            }
            items(std::iter::repeat_n(&**item, count), node, dialect, out)?;
        }
        CairoType::Tuple(types) if node.is_array() && count == types.len() => {
            items(types.iter(), node, dialect, out)?;
        }
        CairoType::Fixed(_, wanted) => return fail(&format!("an array of {wanted} items")),
        CairoType::Tuple(types) => return fail(&format!("an array of {} items", types.len())),
        CairoType::Struct(definition) => members(ty, definition, node, dialect, out)?,
        CairoType::Enum(definition) => {
            let Some((index, name, ty, held)) = variant(definition, node) else {
                let names: Vec<String> = definition.members.iter().map(describe_variant).collect();
                return fail(&names.join(" or "));
            };
            out.push(small(index));
            if let Some(held) = held {
                write(ty, held, dialect, out).map_err(|e| e.under(name))?;
            }
        }
    }
    Ok(())
}

fn byte_array(bytes: &[u8], out: &mut Vec<Felt>) {
    let words = bytes.chunks_exact(WORD);
    let pending = words.remainder();
    out.push(small(bytes.len() / WORD));
    out.extend(words.map(word));
    out.extend([word(pending), small(pending.len())]);
}

fn items<'t>(
    types: impl Iterator<Item = &'t CairoType>,
    list: Node<'_>,
    dialect: CairoDialect,
    out: &mut Vec<Felt>,
) -> Result<()> {
    for (i, (ty, node)) in types.zip(list.children()).enumerate() {
        write(ty, node, dialect, out).map_err(|e| e.under(&format!("[{i}]")))?;
    }
    Ok(())
}

fn members(
    ty: &CairoType,
    definition: &Definition,
    node: Node<'_>,
    dialect: CairoDialect,
    out: &mut Vec<Felt>,
) -> Result<()> {
    if !node.is_map() {
        return Err(SerdeError::new(ty, "an object", shown(node)));
    }
    for (i, (key, _)) in node.members().enumerate() {
        let known = definition.members.iter().any(|(n, _)| key.is_text(n));
        if !known {
            let names: Vec<&str> = definition.members.iter().map(|(n, _)| n.as_ref()).collect();
            let wanted = format!("only {}", names.join(", "));
            return Err(SerdeError::new(ty, wanted, shown(key)));
        }
        let text = key.key_bytes();
        if node.members().take(i).any(|(k, _)| k.key_bytes() == text) {
            return Err(SerdeError::new(ty, "each member once", shown(key)));
        }
    }
    for (name, ty) in &definition.members {
        let written = match node.get(name) {
            Some(value) => write(ty, value, dialect, out),
            None => Err(SerdeError::new(ty, "a value", "nothing")),
        };
        written.map_err(|e| e.under(name))?;
    }
    Ok(())
}

/// Returns the variant that JSON names, and its content, if it has any.
fn variant<'d, 'n>(
    definition: &'d Definition,
    node: Node<'n>,
) -> Option<(usize, &'d str, &'d CairoType, Option<Node<'n>>)> {
    let (name, held) = if let Some(name) = node.text() {
        (name, None)
    } else {
        let (key, held) = only_member(node)?;
        (key.text()?, Some(held))
    };
    let (index, (name, ty)) = definition.find(&name)?;
    let is_complete = held.is_some() || ty.is_unit();
    is_complete.then_some((index, name.as_ref(), ty, held))
}

fn only_member(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let mut members = node.is_map().then(|| node.members())?;
    members.next().filter(|_| members.next().is_none())
}

/// Describes the JSON form of a variant.
fn describe_variant((name, ty): &(Arc<str>, CairoType)) -> String {
    if ty.is_unit() {
        format!("\"{name}\"")
    } else {
        format!("{{\"{name}\": {ty}}}")
    }
}

/// Parses an integer: a JSON number, or a string in decimal or hex.
fn number(ty: &CairoType, node: Node<'_>) -> Result<BigInt> {
    let text = node.number_text().map(Into::into).or(node.text());
    let text = text.unwrap_or_default();
    let number = match text.strip_prefix("0x").filter(|_| node.is_string()) {
        Some(digits) if digits.len() <= DIGITS && digits.bytes().all(|b| b.is_ascii_hexdigit()) => {
            BigInt::parse_bytes(digits.as_bytes(), 16)
        }
        Some(_) => None,
        None => felt::integer(&text),
    };
    let wanted = "an integer, as a number or in a string";
    number.ok_or_else(|| SerdeError::new(ty, wanted, shown(node)))
}

/// Returns text, or one of the lossless forms of bytes.
fn bytes(node: Node<'_>) -> Option<Vec<u8>> {
    if let Some(text) = node.text() {
        return Some(text.into_owned().into_bytes());
    }
    let (key, value) = only_member(node)?;
    let known = key.is_text("$str") || key.is_text("$bin");
    known.then(|| hex::decode(value.text()?.as_ref()).ok())?
}

/// Formats JSON for an error: a short value as spelled, otherwise its type.
fn shown(node: Node<'_>) -> String {
    let text = node.span().of(node.bytes());
    match std::str::from_utf8(text) {
        Ok(text) if text.len() <= 80 => text.to_owned(),
        _ => node.describe().to_owned(),
    }
}

fn wide(ty: &CairoType, limbs: u8, number: &BigInt, out: &mut Vec<Felt>) -> Result<()> {
    let bits = u32::from(limbs) * LIMB;
    if *number < BigInt::ZERO || number.bits() > u64::from(bits) {
        let wanted = format!("0 to 2^{bits} - 1");
        return Err(SerdeError::new(ty, wanted, number.to_string()));
    }
    let mask = (BigInt::from(1) << LIMB) - 1;
    for i in 0..u32::from(limbs) {
        let limb = (number >> (i * LIMB)) & &mask;
        out.extend(Felt::from_number(&limb));
    }
    Ok(())
}

/// At most 31 bytes, big-endian.
fn word(bytes: &[u8]) -> Felt {
    let mut felt = Felt::default();
    for (to, from) in felt.0.iter_mut().rev().zip(bytes.iter().rev()) {
        *to = *from;
    }
    felt
}

fn small(n: usize) -> Felt {
    word(&(n as u64).to_be_bytes())
}
