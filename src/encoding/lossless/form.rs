//! Reads objects that represent values that JSON lacks.

use crate::encoding::json::lone_surrogate;
use crate::error::Refusal;
use crate::tape::{Node, Scalar, Value};
use std::borrow::Cow;

/// The meaning of an object.
pub enum ObjectForm<'a> {
    /// The object itself.
    Object,
    /// `{"$bin":"hex"}`: bytes.
    Bin(Vec<u8>),
    /// `{"$str":"hex"}`: text that need not be UTF-8.
    Str(Vec<u8>),
    /// `{"$ext":[type,"hex"]}`: an extension value.
    Ext(i8, Vec<u8>),
    /// `{"$map":[[key,value],…]}`: a map with any keys, here its pairs.
    Map(Vec<(Node<'a>, Node<'a>)>),
    /// `{"$float":"8 digits"}`: bits of a 32-bit float.
    F32(u32),
    /// `{"$float":"16 digits"}`: bits of a 64-bit float.
    F64(u64),
    /// `{"$bool":n}`: a byte in place of a bool.
    Bool(u8),
    /// `{"$tag":[number,value]}`: a tag of CBOR.
    Tag(u64, Node<'a>),
    /// `{"$simple":n}`: a simple value of CBOR.
    Simple(u8),
    /// `{"$str":[…]}`: text in chunks.
    StrChunks(Node<'a>),
    /// `{"$bin":[…]}`: bytes in chunks.
    BinChunks(Node<'a>),
    /// `{"$as":["width",value]}`: a value in a width that is not the shortest.
    As(Cow<'a, str>, Node<'a>),
}

/// Returns the meaning of an object. An object with a key that starts with `$` is a form or an
/// error: a real map with such a key is written as `$map`.
pub fn form(object: Node<'_>) -> Result<ObjectForm<'_>, Refusal> {
    let mut members = object.members();
    let Some((key, value)) = members.next() else {
        return Ok(ObjectForm::Object);
    };
    let alone = members.next().is_none();
    if !alone || !starts(key) {
        return match object.members().find(|(key, _)| starts(*key)) {
            Some((key, _)) => Err(no_form(key)),
            None => Ok(ObjectForm::Object),
        };
    }
    let name = key.key_bytes();
    let found = match name.as_ref() {
        b"$bin" if value.is_array() => Ok(ObjectForm::BinChunks(value)),
        b"$str" if value.is_array() => Ok(ObjectForm::StrChunks(value)),
        b"$bin" => digits(value).map(ObjectForm::Bin),
        b"$str" => digits(value).map(ObjectForm::Str),
        b"$tag" => tag(value),
        b"$simple" => byte(value).map(ObjectForm::Simple),
        b"$ext" => ext(value),
        b"$map" => pairs(value).map(ObjectForm::Map),
        b"$float" => float(value),
        b"$bool" => byte(value).map(ObjectForm::Bool),
        b"$as" => width(value),
        _ => return Err(no_form(key)),
    };
    found.map_err(|refusal| refusal.inside(&String::from_utf8_lossy(&name)))
}

fn starts(key: Node<'_>) -> bool {
    key.key_bytes().starts_with(b"$")
}

#[cold]
fn no_form(key: Node<'_>) -> Refusal {
    let wanted =
        "a key without `$` in front, or one form alone ({\"$map\":[[key,value]]} holds any key)";
    Refusal::whole(wanted, format!("the key {}", quote(key)))
}

/// Returns text, escapes resolved.
pub fn text(node: Node<'_>) -> Result<Cow<'_, str>, Refusal> {
    if let Value::Scalar(Scalar::Json(text, true)) = node.value()
        && lone_surrogate(text).is_some()
    {
        let wanted = "text, or {\"$str\":\"hex\"} for bytes that are not text";
        return Err(Refusal::whole(wanted, "half of a surrogate pair"));
    }
    node.text()
        .ok_or_else(|| Refusal::whole("a string", quote(node)))
}

/// Formats a value for a refusal: as JSON if it is short, otherwise its kind.
pub fn quote(node: Node<'_>) -> String {
    const SHORT: u32 = 80;
    if node.span().len <= SHORT {
        let mut out = Vec::new();
        super::write(node, &mut out);
        if let Ok(text) = String::from_utf8(out) {
            return text;
        }
    }
    node.describe().to_owned()
}

fn digits(value: Node<'_>) -> Result<Vec<u8>, Refusal> {
    let found = value.text().and_then(|text| hex::decode(&*text).ok());
    found.ok_or_else(|| Refusal::whole("a string of hex digits, two for each byte", quote(value)))
}

fn ext(value: Node<'_>) -> Result<ObjectForm<'_>, Refusal> {
    let (kind, bytes) = pair(value, "[type,\"hex\"]")?;
    let number = kind.number_text().and_then(|n| n.parse().ok());
    let number =
        number.ok_or_else(|| Refusal::whole("a type of -128 to 127", quote(kind)).at(0))?;
    Ok(ObjectForm::Ext(number, digits(bytes).map_err(|r| r.at(1))?))
}

fn pairs(value: Node<'_>) -> Result<Vec<(Node<'_>, Node<'_>)>, Refusal> {
    if !value.is_array() {
        return Err(Refusal::whole("an array of pairs", quote(value)));
    }
    let pairs = value.children().enumerate();
    pairs
        .map(|(n, both)| pair(both, "[key,value]").map_err(|r| r.at(n)))
        .collect()
}

fn float(value: Node<'_>) -> Result<ObjectForm<'_>, Refusal> {
    let text = value.text().unwrap_or_default();
    let bytes = hex::decode(&*text).unwrap_or_default();
    if let Ok(bits) = <[u8; 4]>::try_from(&*bytes) {
        return Ok(ObjectForm::F32(u32::from_be_bytes(bits)));
    }
    match <[u8; 8]>::try_from(&*bytes) {
        Ok(bits) => Ok(ObjectForm::F64(u64::from_be_bytes(bits))),
        Err(_) => Err(Refusal::whole("8 or 16 hex digits", quote(value))),
    }
}

fn byte(value: Node<'_>) -> Result<u8, Refusal> {
    let number = whole(value).and_then(|n| n.try_into().ok());
    number.ok_or_else(|| Refusal::whole("an integer of 0 to 255", quote(value)))
}

fn tag(value: Node<'_>) -> Result<ObjectForm<'_>, Refusal> {
    let (number, value) = pair(value, "[number,value]")?;
    let wanted = "a tag of 0 to 2^64-1";
    let found = whole(number).and_then(|n| n.try_into().ok());
    let found = found.ok_or_else(|| Refusal::whole(wanted, quote(number)).at(0))?;
    Ok(ObjectForm::Tag(found, value))
}

/// Returns an integer that is written as one.
fn whole(value: Node<'_>) -> Option<i128> {
    match value.number_text() {
        Some(spelled) => spelled.parse().ok(),
        None => match value.value() {
            Value::Scalar(Scalar::Uint(n)) => Some(n.into()),
            _ => None,
        },
    }
}

fn width(value: Node<'_>) -> Result<ObjectForm<'_>, Refusal> {
    let (name, value) = pair(value, "[\"width\",value]")?;
    Ok(ObjectForm::As(text(name).map_err(|r| r.at(0))?, value))
}

fn pair<'a>(value: Node<'a>, wanted: &'static str) -> Result<(Node<'a>, Node<'a>), Refusal> {
    let mut both = value.children();
    match (both.next(), both.next(), both.next()) {
        (Some(first), Some(second), None) if value.is_array() => Ok((first, second)),
        _ => Err(Refusal::whole(wanted, quote(value))),
    }
}
