//! The values of a message, each with its path and its position in the message's JSON text.
//!
//! ```text
//!   {"id":{"$bin":"00…"},"args":["a",7]}
//!         '-- id: a UUID --'     '-- args[0]: text  '-- args[1]: a number
//! ```

use crate::encoding::json;
use crate::path::{Path, PathStep};
use crate::span::Span;
use crate::tape::{Node, Scalar, Tape, Value};
use std::borrow::Cow;

/// The maximum depth of examined values.
const DEPTH: u32 = 1000;

/// A value that can be an id; equivalent forms are equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Val {
    /// Sixteen bytes, or their text.
    Uuid([u8; 16]),
    /// Text that is not a UUID.
    Text(Box<str>),
    /// Bytes, other than sixteen.
    Bin(Box<[u8]>),
    /// An integer of 64 bits.
    Int(i64),
    /// Another number, as written.
    Number(Box<str>),
}

impl Val {
    /// Returns `true` for an empty value.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Uuid(_) | Self::Int(_) => false,
            Self::Text(text) | Self::Number(text) => text.is_empty(),
            Self::Bin(bytes) => bytes.is_empty(),
        }
    }

    /// Returns `true` if the value is long enough to be unique everywhere.
    pub fn is_unique(&self) -> bool {
        match self {
            Self::Uuid(_) => true,
            Self::Text(text) => text.len() >= 8,
            Self::Bin(bytes) => bytes.len() >= 8,
            Self::Int(_) | Self::Number(_) => false,
        }
    }

    /// Returns `true` for a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Number(_))
    }

    /// Returns the text of a number.
    pub fn number_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Int(number) => Some(number.to_string().into()),
            Self::Number(text) => Some(text.as_ref().into()),
            _ => None,
        }
    }

    /// Returns the value of a node, from JSON or another encoding.
    pub fn of(node: Node<'_>) -> Option<Self> {
        WalkedValue::of(node).map(|spot| spot.val)
    }

    /// Reads text: a UUID if it has that form.
    pub fn text(text: &str) -> Self {
        uuid_of(text).map_or_else(|| Self::Text(text.into()), Self::Uuid)
    }

    /// Reads bytes: a UUID if there are sixteen.
    pub fn bin(bytes: &[u8]) -> Self {
        <[u8; 16]>::try_from(bytes).map_or_else(|_| Self::Bin(bytes.into()), Self::Uuid)
    }

    /// Returns an integer.
    pub fn integer(number: i128) -> Self {
        i64::try_from(number).map_or_else(|_| Self::Number(number.to_string().into()), Self::Int)
    }
}

/// The form in which a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpellingForm {
    /// As text.
    Text,
    /// As bytes: `{"$bin":"hex"}`.
    Bin,
    /// As a number.
    Number,
}

/// A value in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkedValue {
    /// The position of its text.
    pub span: Span,
    /// The value.
    pub val: Val,
    /// Its form.
    pub form: SpellingForm,
    /// `true` if it is the key of a member.
    pub is_key: bool,
}

impl WalkedValue {
    /// Returns the value of a node, from JSON or another encoding.
    pub fn of(node: Node<'_>) -> Option<Self> {
        let (span, is_key) = (node.span(), false);
        let spot = |val, form| {
            Some(Self {
                span,
                val,
                form,
                is_key,
            })
        };
        match node.value() {
            Value::Scalar(Scalar::Str(_) | Scalar::Json(..)) => {
                spot(Val::text(&node.text()?), SpellingForm::Text)
            }
            Value::Scalar(Scalar::Bin(bytes)) => spot(Val::bin(bytes), SpellingForm::Bin),
            Value::Map => {
                let mut members = node.members();
                let (key, value) = members.next().filter(|_| members.next().is_none())?;
                match key.text()?.as_ref() {
                    "$bin" => {
                        let bytes = hex::decode(value.text()?.as_bytes()).ok()?;
                        spot(Val::bin(&bytes), SpellingForm::Bin)
                    }
                    // The value, without its width.
                    "$as" => Self::of(value.at(1)?),
                    _ => None,
                }
            }
            Value::Scalar(
                Scalar::Uint(_)
                | Scalar::Int(_)
                | Scalar::Negative(_)
                | Scalar::F32(_)
                | Scalar::F64(_)
                | Scalar::Number(_),
            ) => {
                let val = node.as_i128().map(Val::integer);
                let val = val.or_else(|| Some(Val::Number(node.number_text()?.into())));
                spot(val?, SpellingForm::Number)
            }
            _ => None,
        }
    }
}

/// Receives each value with its path; keys have the path of their map.
pub type Visit<'v> = dyn FnMut(&Path, WalkedValue) + 'v;

/// Visits every value of a message in JSON text. Text that is not JSON has none.
pub fn walk(message: &str, visit: &mut Visit<'_>) {
    let mut tape = Tape::new();
    if let Ok(root) = json::root(message.as_bytes(), DEPTH, &mut tape) {
        step(root, &mut Path::new(), visit);
    }
}

fn step(node: Node<'_>, path: &mut Path, visit: &mut Visit<'_>) {
    if let Some(spot) = WalkedValue::of(node) {
        visit(path, spot);
    } else if node.is_map() {
        for (key, value) in node.members() {
            let name = key.text().unwrap_or_default().into_owned();
            if let Some(spot) = WalkedValue::of(key).filter(|spot| spot.val.is_unique()) {
                let spot = WalkedValue {
                    is_key: true,
                    ..spot
                };
                visit(path, spot);
            }
            path.push(PathStep::Member(name));
            step(value, path, visit);
            path.pop();
        }
    } else if node.is_array() {
        for (n, item) in node.children().enumerate() {
            path.push(PathStep::Element(n));
            step(item, path, visit);
            path.pop();
        }
    }
}

/// The possible start of a UUID.
const URN: &str = "urn:uuid:";

/// Parses a UUID, with or without hyphens, and with or without the prefix of its URN.
fn uuid_of(text: &str) -> Option<[u8; 16]> {
    let plain = text.strip_prefix(URN).unwrap_or(text);
    let bytes = plain.as_bytes();
    let hyphens = [8, 13, 18, 23];
    let is_hyphenated = bytes.len() == 36 && hyphens.iter().all(|at| bytes.get(*at) == Some(&b'-'));
    if !is_hyphenated && bytes.len() != 32 {
        return None;
    }
    let digits: Vec<u8> = bytes.iter().copied().filter(|b| *b != b'-').collect();
    <[u8; 16]>::try_from(hex::decode(digits).ok()?).ok()
}

/// The form in which an id is written, if its value has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdForm {
    /// The only one.
    #[default]
    Only,
    /// A whole number with a fraction or an exponent: `3.0`.
    Fraction,
    /// A UUID as bytes.
    Bin,
    /// A UUID as text.
    Text {
        /// With the prefix of a URN.
        has_prefix: bool,
        /// With hyphens.
        has_hyphens: bool,
        /// With capital letters.
        is_upper: bool,
    },
}

/// Returns the form of an id.
pub fn id_form(node: Node<'_>) -> IdForm {
    let spot = WalkedValue::of(node);
    match spot.as_ref().map(|spot| (&spot.val, spot.form)) {
        Some((Val::Uuid(_), SpellingForm::Bin)) => return IdForm::Bin,
        Some((Val::Uuid(_), _)) => {}
        Some((Val::Int(_) | Val::Number(_), _)) => {
            let is_fraction = match node.value() {
                Value::Scalar(Scalar::Number(text)) => text.iter().any(|b| b".eE".contains(b)),
                value => matches!(value, Value::Scalar(Scalar::F32(_) | Scalar::F64(_))),
            };
            return if is_fraction {
                IdForm::Fraction
            } else {
                IdForm::Only
            };
        }
        _ => return IdForm::Only,
    }
    let text = node.text().unwrap_or_default();
    IdForm::Text {
        has_prefix: text.starts_with(URN),
        has_hyphens: text.contains('-'),
        is_upper: text.bytes().any(|b| b.is_ascii_uppercase()),
    }
}

/// Formats a UUID in the style of an old one.
pub fn uuid_like(old: &str, uuid: &[u8; 16]) -> String {
    let (prefix, plain) = match old.strip_prefix(URN) {
        Some(plain) => (URN, plain),
        None => ("", old),
    };
    let digits = hex::encode(uuid);
    let upper = plain.bytes().any(|b| b.is_ascii_uppercase());
    let digits = if upper { digits.to_uppercase() } else { digits };
    let mut digits = digits.chars();
    let plain = plain.chars().map(|c| match c {
        '-' => '-',
        other => digits.next().unwrap_or(other),
    });
    format!("{prefix}{}", plain.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_paths() {
        let message = r#"{"id":{"$bin":"00112233445566778899aabbccddeeff"},"a.b":[true,{"c":"x\ny"}],"n":{"$as":["u32",5]},"00112233-4455-6677-8899-AABBCCDDEEFF":1.5}"#;
        let mut seen = Vec::new();
        walk(message, &mut |path, spot| {
            let text = message.get(spot.span.at()..spot.span.end()).unwrap();
            seen.push(format!("{path} {:?} {text}", spot.form));
        });
        assert_eq!(
            seen,
            [
                r#"id Bin {"$bin":"00112233445566778899aabbccddeeff"}"#,
                r#"["a.b"][1].c Text "x\ny""#,
                "n Number 5",
                r#" Text "00112233-4455-6677-8899-AABBCCDDEEFF""#,
                "00112233-4455-6677-8899-AABBCCDDEEFF Number 1.5",
            ]
        );
    }

    #[test]
    fn uuid_text_and_bytes_are_equal() {
        let text = Val::text("00112233-4455-6677-8899-aabbccddeeff");
        let bytes = hex::decode("00112233445566778899aabbccddeeff").unwrap();
        assert_eq!(text, Val::bin(&bytes));
        for other in [
            "urn:uuid:00112233-4455-6677-8899-aabbccddeeff",
            "00112233445566778899AABBCCDDEEFF",
        ] {
            assert_eq!(Val::text(other), text);
            let like = uuid_like(other, &[0xab; 16]);
            assert_eq!(Val::text(&like), Val::bin(&[0xab; 16]), "{like}");
            assert_eq!(like.len(), other.len());
        }
        assert_ne!(Val::text("0011"), Val::bin(&[0, 0x11]));
        walk("no json", &mut |_, _| panic!("nothing is there"));
    }
}
