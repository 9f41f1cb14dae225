//! Converts nodes of the tape to values of other crates.
//!
//! [`Node`] implements [`Serialize`]: maps retain the order of their keys and repeated keys, and
//! numbers are exact. For [`serde_json::Value`], a node is converted in the lossless form of
//! [`super::lossless`]; the features `preserve_order` and `arbitrary_precision` of `serde_json`
//! then decide about key order and numbers.

use super::lossless;
use crate::tape::{Node, Scalar, Value};
use serde_core::ser::{Error as _, SerializeMap as _, SerializeSeq as _};
use serde_core::{Serialize, Serializer};

/// The name under which rmp-serde writes an extension type.
const EXT: &str = "_ExtStruct";

struct RawBytes<'a>(&'a [u8]);

impl Serialize for RawBytes<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(self.0)
    }
}

impl Serialize for Node<'_> {
    /// Text that is not UTF-8 is written as bytes. A JSON number that is neither an integer of 128
    /// bits nor an `f64` retains its text only with `serde_json`.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.omitted() > 0 {
            return Err(S::Error::custom("the tape holds only a part of this value"));
        }
        match self.value() {
            Value::Label(name) => to.serialize_str(name),
            Value::Array => {
                let mut seq = to.serialize_seq(None)?;
                for child in self.children() {
                    seq.serialize_element(&child)?;
                }
                seq.end()
            }
            Value::Map => {
                let mut map = to.serialize_map(None)?;
                for (key, value) in self.members() {
                    map.serialize_entry(&key, &value)?;
                }
                map.end()
            }
            Value::Scalar(scalar) => match scalar {
                Scalar::Null => to.serialize_unit(),
                Scalar::Bool(v) => to.serialize_bool(v),
                Scalar::BoolByte(v) => to.serialize_u8(v),
                Scalar::Uint(v) => to.serialize_u64(v),
                Scalar::Int(v) => to.serialize_i64(v),
                Scalar::Negative(v) => to.serialize_i128(-1 - i128::from(v)),
                Scalar::F32(bits) => to.serialize_f32(f32::from_bits(bits)),
                Scalar::F64(bits) => to.serialize_f64(f64::from_bits(bits)),
                Scalar::Number(spelled) => number(spelled, to),
                Scalar::Str(_) | Scalar::Json(..) => match self.text() {
                    Some(text) => to.serialize_str(&text),
                    None => to.serialize_bytes(self.raw_text()),
                },
                Scalar::Bin(bytes) => to.serialize_bytes(bytes),
                Scalar::Ext(tag, bytes) => {
                    to.serialize_newtype_struct(EXT, &(tag, RawBytes(bytes)))
                }
                Scalar::Name(_, _, name) => to.serialize_str(name),
            },
        }
    }
}

fn number<S: Serializer>(spelled: &[u8], to: S) -> Result<S::Ok, S::Error> {
    let text = std::str::from_utf8(spelled).map_err(S::Error::custom)?;
    if text != "-0" {
        if let Ok(v) = text.parse::<u64>() {
            return to.serialize_u64(v);
        }
        if let Ok(v) = text.parse::<i64>() {
            return to.serialize_i64(v);
        }
        if let Ok(v) = text.parse::<i128>() {
            return to.serialize_i128(v);
        }
    }
    if let Ok(v) = text.parse::<f64>()
        && serde_json::to_string(&v).is_ok_and(|shortest| shortest == text)
    {
        return to.serialize_f64(v);
    }
    let raw: &serde_json::value::RawValue = serde_json::from_str(text).map_err(S::Error::custom)?;
    raw.serialize(to)
}

impl TryFrom<Node<'_>> for serde_json::Value {
    type Error = serde_json::Error;

    /// Converts the value in its lossless form. Fails on values that `serde_json` cannot hold: more
    /// than 127 levels, and without `arbitrary_precision` a number beyond the range of `f64`.
    fn try_from(node: Node<'_>) -> Result<Self, Self::Error> {
        let mut text = Vec::new();
        lossless::write(node, &mut text);
        serde_json::from_slice(&text)
    }
}

/// Converts the value with exact integers, floats of both widths, key order, repeated keys and
/// extension types. A number beyond 64 bits becomes text.
#[cfg(feature = "rmpv")]
impl From<Node<'_>> for rmpv::Value {
    fn from(node: Node<'_>) -> Self {
        match node.value() {
            Value::Label(name) => name.into(),
            Value::Array => Self::Array(node.children().map(Self::from).collect()),
            Value::Map => {
                let members = node.members();
                Self::Map(members.map(|(k, v)| (k.into(), v.into())).collect())
            }
            Value::Scalar(scalar) => match scalar {
                Scalar::Null => Self::Nil,
                Scalar::Bool(v) => v.into(),
                Scalar::BoolByte(v) => v.into(),
                Scalar::Uint(v) => v.into(),
                Scalar::Int(v) => v.into(),
                Scalar::Negative(v) => (-1 - i128::from(v)).to_string().into(),
                Scalar::F32(bits) => f32::from_bits(bits).into(),
                Scalar::F64(bits) => f64::from_bits(bits).into(),
                Scalar::Number(spelled) => {
                    let text = String::from_utf8_lossy(spelled);
                    match (
                        text.parse::<u64>(),
                        text.parse::<i64>(),
                        text.parse::<f64>(),
                    ) {
                        (Ok(v), ..) => v.into(),
                        (_, Ok(v), _) if text != "-0" => v.into(),
                        (_, _, Ok(v)) if !is_integer(&text) || v == 0.0 => v.into(),
                        _ => text.into_owned().into(),
                    }
                }
                Scalar::Str(_) | Scalar::Json(..) => match node.text() {
                    Some(text) => text.into_owned().into(),
                    None => Self::Binary(node.raw_text().to_vec()),
                },
                Scalar::Bin(bytes) => Self::Binary(bytes.to_vec()),
                Scalar::Ext(tag, bytes) => Self::Ext(tag, bytes.to_vec()),
                Scalar::Name(_, _, name) => name.into(),
            },
        }
    }
}

#[cfg(feature = "rmpv")]
fn is_integer(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

#[cfg(test)]
mod tests {
    use crate::encoding::{json, msgpack};
    use crate::span::Span;
    use crate::tape::Tape;

    #[test]
    fn json_keeps_order_repeated_keys_and_numbers() {
        let text = r#"{"b":1,"a":[true,null,"\u00e9\n"],"b":18446744073709551616,"c":1.10,"d":-0,"e":1e400}"#;
        let mut tape = Tape::new();
        json::parse(text.as_bytes(), Span::new(0, text.len()), 128, &mut tape).unwrap();
        let node = tape.root(text.as_bytes()).unwrap();
        let written = serde_json::to_string(&node).unwrap();
        assert_eq!(written, text.replace("\\u00e9", "é"));
        let error = serde_json::Value::try_from(node).unwrap_err();
        assert!(error.to_string().contains("number out of range"), "{error}");
    }

    #[test]
    fn msgpack_is_reproduced() {
        let value = rmpv::Value::Map(vec![
            ("z".into(), u64::MAX.into()),
            ((-5).into(), rmpv::Value::Binary(vec![1, 2])),
            ("f".into(), 1.5_f32.into()),
            ("x".into(), rmpv::Value::Ext(7, vec![9])),
            ("z".into(), rmpv::Value::Nil),
        ]);
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &value).unwrap();
        let mut tape = Tape::new();
        msgpack::parse(&bytes, Span::new(0, bytes.len()), 128, &mut tape).unwrap();
        let node = tape.root(&bytes).unwrap();
        assert_eq!(rmp_serde::to_vec(&node).unwrap(), bytes);
        #[cfg(feature = "rmpv")]
        assert_eq!(rmpv::Value::from(node), value);
        let lossless = serde_json::Value::try_from(node).unwrap();
        assert_eq!(
            lossless.to_string(),
            r#"{"$map":[["z",18446744073709551615],[-5,{"$bin":"0102"}],["f",1.5],["x",{"$ext":[7,"09"]}],["z",null]]}"#
        );
    }
}
