//! Values and their JSON form.
//!
//! Integers are plain numbers of any size; felts and addresses are hex strings; tuples and lists are arrays; structs
//! are objects; a variant is `{"Some":1}`, or `"None"` without content; bytes that are not UTF-8 are `{"$str":"hex"}`.

use super::super::felt::{self, Felt};
use super::types::{CairoType, Definition, ScalarSort};
use super::{SerdeError, WORD};
use crate::encoding::json;
use crate::tape::Node;
use num_bigint::BigInt;
use std::sync::Arc;

/// The largest number of hex digits: those of a `u512`.
const DIGITS: usize = 128;

/// A value of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CairoValue {
    /// `felt252`, `bytes31`, addresses.
    Felt(Felt),
    /// Any integer.
    Number(BigInt),
    /// `bool`.
    Bool(bool),
    /// `shortstring`.
    Text(String),
    /// `ByteArray`.
    Bytes(Vec<u8>),
    /// Tuples, arrays, spans; `()` is empty.
    List(Vec<CairoValue>),
    /// Members in order.
    Struct(Vec<(Arc<str>, CairoValue)>),
    /// A variant and its content; `None` if that is `()`.
    Variant(Arc<str>, Option<Box<CairoValue>>),
}

impl CairoValue {
    /// Reads a value of a type from parsed JSON. The range of numbers is checked at encoding.
    pub fn read(ty: &CairoType, node: Node<'_>) -> Result<Self, SerdeError> {
        let fail = |wanted: &str| Err(SerdeError::new(ty, wanted, shown(node)));
        match ty {
            CairoType::Scalar(scalar) if scalar.sort == ScalarSort::Felt => {
                let text = node.text().or(node.number_text().map(Into::into));
                match text.map(|t| Felt::read(&t)) {
                    Some(Ok(felt)) => Ok(Self::Felt(felt)),
                    Some(Err(why)) => Err(SerdeError::new(
                        ty,
                        "a felt",
                        format!("{} ({why})", shown(node)),
                    )),
                    None => fail("a felt: a hex string or a number"),
                }
            }
            CairoType::Scalar(_) | CairoType::Wide(_) => match number(node) {
                Some(number) => Ok(Self::Number(number)),
                None => fail("an integer, as a number or in a string"),
            },
            CairoType::NonZero(inner) => Self::read(inner, node),
            CairoType::Bool => match node.as_bool() {
                Some(value) => Ok(Self::Bool(value)),
                None => fail("true or false"),
            },
            CairoType::ShortString => match node.text() {
                Some(text) if text.is_ascii() && text.len() <= WORD && !text.starts_with('\0') => {
                    Ok(Self::Text(text.into_owned()))
                }
                _ => fail("a string of at most 31 ASCII characters, not beginning with NUL"),
            },
            CairoType::ByteArray => match bytes(node) {
                Some(bytes) => Ok(Self::Bytes(bytes)),
                None => fail("a string, or bytes as {\"$bin\":\"hex\"}"),
            },
            CairoType::List(_, item) if node.is_array() => {
                items(node.children().map(|node| (&**item, node)))
            }
            CairoType::List(..) => fail("an array"),
            CairoType::Fixed(item, count) => {
                if node.is_array() && node.children().count() == *count {
                    items(node.children().map(|node| (&**item, node)))
                } else {
                    fail(&format!("an array of {count} items"))
                }
            }
            CairoType::Tuple(types) => {
                if node.is_array() && node.children().count() == types.len() {
                    items(types.iter().zip(node.children()))
                } else {
                    fail(&format!("an array of {} items", types.len()))
                }
            }
            CairoType::Struct(definition) => members(ty, definition, node),
            CairoType::Enum(definition) => variant(ty, definition, node),
        }
    }

    /// Writes the value as JSON on one line.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Felt(felt) => json::write_str(&felt.to_hex(), out),
            Self::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::Bool(value) => {
                out.extend_from_slice(if *value { b"true" } else { b"false" });
            }
            Self::Text(text) => json::write_str(text, out),
            Self::Bytes(bytes) => {
                if let Ok(text) = std::str::from_utf8(bytes) {
                    json::write_str(text, out);
                } else {
                    let text = format!("{{\"$str\":\"{}\"}}", hex::encode(bytes));
                    out.extend_from_slice(text.as_bytes());
                }
            }
            Self::List(items) => {
                out.push(b'[');
                for (i, item) in items.iter().enumerate() {
                    comma(i, out);
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Struct(members) => {
                out.push(b'{');
                for (i, (name, value)) in members.iter().enumerate() {
                    comma(i, out);
                    json::write_str(name, out);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
            Self::Variant(name, None) => json::write_str(name, out),
            Self::Variant(name, Some(value)) => {
                out.push(b'{');
                json::write_str(name, out);
                out.push(b':');
                value.write(out);
                out.push(b'}');
            }
        }
    }

    /// Returns the value as JSON.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.write(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// Returns true for the number 0.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Felt(felt) => *felt == Felt::default(),
            value => *value == Self::Number(BigInt::ZERO),
        }
    }
}

fn comma(i: usize, out: &mut Vec<u8>) {
    if i > 0 {
        out.push(b',');
    }
}

fn items<'a>(
    pairs: impl Iterator<Item = (&'a CairoType, Node<'a>)>,
) -> Result<CairoValue, SerdeError> {
    let items = pairs
        .enumerate()
        .map(|(i, (ty, node))| CairoValue::read(ty, node).map_err(|e| e.under(&format!("[{i}]"))));
    items.collect::<Result<_, _>>().map(CairoValue::List)
}

fn members(
    ty: &CairoType,
    definition: &Definition,
    node: Node<'_>,
) -> Result<CairoValue, SerdeError> {
    if !node.is_map() {
        return Err(SerdeError::new(ty, "an object", shown(node)));
    }
    let names = || {
        let names: Vec<&str> = definition.members.iter().map(|(n, _)| n.as_ref()).collect();
        names.join(", ")
    };
    for (i, (key, _)) in node.members().enumerate() {
        let known = definition.members.iter().any(|(n, _)| key.is_text(n));
        if !known {
            return Err(SerdeError::new(ty, format!("only {}", names()), shown(key)));
        }
        let text = key.key_bytes();
        if node.members().take(i).any(|(k, _)| k.key_bytes() == text) {
            return Err(SerdeError::new(ty, "each member once", shown(key)));
        }
    }
    let mut members = Vec::new();
    for (name, ty) in &definition.members {
        let Some(value) = node.get(name) else {
            let error = SerdeError::new(ty, "a value", "nothing");
            return Err(error.under(name));
        };
        let value = CairoValue::read(ty, value).map_err(|e| e.under(name))?;
        members.push((name.clone(), value));
    }
    Ok(CairoValue::Struct(members))
}

fn variant(
    ty: &CairoType,
    definition: &Definition,
    node: Node<'_>,
) -> Result<CairoValue, SerdeError> {
    let wanted = || {
        let names: Vec<String> = definition.members.iter().map(describe_variant).collect();
        names.join(" or ")
    };
    let fail = || Err(SerdeError::new(ty, wanted(), shown(node)));
    if let Some(text) = node.text() {
        return match definition.find(&text) {
            Some((_, (name, ty))) if ty.is_unit() => Ok(CairoValue::Variant(name.clone(), None)),
            _ => fail(),
        };
    }
    let mut members = node.is_map().then(|| node.members()).into_iter().flatten();
    let (Some((key, held)), None) = (members.next(), members.next()) else {
        return fail();
    };
    let Some((_, (name, ty))) = key.text().and_then(|key| definition.find(&key)) else {
        return fail();
    };
    let value = CairoValue::read(ty, held).map_err(|e| e.under(name))?;
    let held = (!ty.is_unit()).then(|| Box::new(value));
    Ok(CairoValue::Variant(name.clone(), held))
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
fn number(node: Node<'_>) -> Option<BigInt> {
    if let Some(text) = node.number_text() {
        return felt::integer(text);
    }
    let text = node.text()?;
    let Some(digits) = text.strip_prefix("0x") else {
        return felt::integer(&text);
    };
    let plain =
        (1..=DIGITS).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    plain
        .then(|| BigInt::parse_bytes(digits.as_bytes(), 16))
        .flatten()
}

/// Returns text, or one of the lossless forms of bytes.
fn bytes(node: Node<'_>) -> Option<Vec<u8>> {
    if let Some(text) = node.text() {
        return Some(text.into_owned().into_bytes());
    }
    let mut members = node.is_map().then(|| node.members())?;
    let (Some((key, value)), None) = (members.next(), members.next()) else {
        return None;
    };
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
