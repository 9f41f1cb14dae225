//! Agreement with ciborium, and laws of any bytes.

use super::super::float::of_half;
use super::*;
use ciborium::value::{Integer, Value as Reference};
use proptest::prelude::*;

/// Returns a value as ciborium has it. The two differ in this:
///
/// - ciborium reads a bignum (tags 2 and 3) as an integer if it fits 128 bits;
/// - it refuses text that is not UTF-8, which RFC 8949 calls well-formed but not valid;
/// - it refuses simple values other than false, true, null and undefined, and reads undefined as null;
/// - it keeps no chunks and no widths, and accepts a simple value in two bytes that RFC 8949 section 3.3 forbids.
fn reference(node: Node<'_>) -> Reference {
    use crate::tape::Value as Shape;
    match node.value() {
        Shape::Scalar(scalar) => match scalar {
            Scalar::Null => Reference::Null,
            Scalar::Bool(v) => Reference::Bool(v),
            Scalar::Uint(v) => Reference::Integer(v.into()),
            Scalar::Int(v) => Reference::Integer(v.into()),
            Scalar::Negative(v) => {
                let value = Integer::try_from(-1 - i128::from(v));
                Reference::Integer(value.unwrap())
            }
            Scalar::F64(bits) => Reference::Float(f64::from_bits(bits)),
            Scalar::Str(text) => Reference::Text(String::from_utf8(text.to_vec()).unwrap()),
            Scalar::Bin(bytes) => Reference::Bytes(bytes.to_vec()),
            other => panic!("CBOR has no {other:?}"),
        },
        Shape::Array => Reference::Array(node.children().map(reference).collect()),
        Shape::Map => {
            let (key, value) = match node.members().next() {
                Some((key, value)) if matches!(key.value(), Shape::Label(_)) => (key, value),
                _ => {
                    let members = node.members();
                    return Reference::Map(
                        members.map(|(k, v)| (reference(k), reference(v))).collect(),
                    );
                }
            };
            match key.text().unwrap().as_ref() {
                "$tag" => {
                    let number = value.at(0).unwrap().as_i128().unwrap();
                    let inner = Box::new(reference(value.at(1).unwrap()));
                    Reference::Tag(number.try_into().unwrap(), inner)
                }
                "$str" => Reference::Text(
                    value
                        .children()
                        .map(|c| c.text().unwrap().into_owned())
                        .collect(),
                ),
                "$bin" => {
                    let chunks = value.children().flat_map(|c| c.raw_content().unwrap());
                    Reference::Bytes(chunks.copied().collect())
                }
                _ => Reference::Null,
            }
        }
        other @ Shape::Label(_) => panic!("{other:?}"),
    }
}

/// Returns the value that ciborium reads from all of these bytes.
fn by_ciborium(bytes: &[u8]) -> Option<Reference> {
    let mut rest = bytes;
    let value = ciborium::de::from_reader_with_recursion_limit(&mut rest, 200).ok()?;
    rest.is_empty().then_some(value)
}

/// Returns the value that we read, if it is also valid for ciborium.
fn by_us(bytes: &[u8]) -> Result<Option<Reference>, DecodeError> {
    let mut tape = Tape::new();
    parse(bytes, Span::new(0, bytes.len()), 200, &mut tape)?;
    let root = tape.root(bytes).unwrap();
    let mut is_valid = true;
    root.each(&mut |node| {
        let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
        let value = node.value();
        is_valid &=
            !matches!(value, crate::tape::Value::Scalar(Scalar::Str(text)) if !is_text(text));
        if let Some(simple) = node.get("$simple") {
            is_valid &= simple.as_i128() == Some(23);
        }
        // A bignum that fits an integer is one for ciborium.
        if let Some(tag) = node.get("$tag").and_then(|tag| tag.at(0)) {
            is_valid &= !matches!(tag.as_i128(), Some(2 | 3));
        }
    });
    Ok(is_valid.then(|| reference(root)))
}

/// ciborium writes a NaN that is not the usual one in 64 bits, also if 16 can hold it.
fn float(value: f64) -> Reference {
    Reference::Float(if value.is_nan() { f64::NAN } else { value })
}

fn values() -> impl Strategy<Value = Reference> {
    let leaf = prop_oneof![
        Just(Reference::Null),
        any::<bool>().prop_map(Reference::Bool),
        any::<u64>().prop_map(Reference::from),
        any::<i64>().prop_map(Reference::from),
        any::<u64>().prop_map(|n| {
            let value = Integer::try_from(-1 - i128::from(n));
            Reference::Integer(value.unwrap())
        }),
        (0_u64..300).prop_map(Reference::from),
        any::<f64>().prop_map(float),
        any::<f32>().prop_map(|f| float(f.into())),
        any::<u16>().prop_map(|f| float(f64::from_bits(of_half(f)))),
        "[$a-cü]{0,3}".prop_map(Reference::Text),
        prop::collection::vec(any::<u8>(), 0..30).prop_map(Reference::Bytes),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..30).prop_map(Reference::Array),
            prop::collection::vec(pair, 0..30).prop_map(Reference::Map),
            (4_u64.., inner).prop_map(|(tag, value)| Reference::Tag(tag, Box::new(value))),
        ]
    })
}

/// Compares values with their NaNs.
fn text_of(value: &Reference) -> String {
    format!("{value:?}")
}

proptest! {
    /// ciborium writes canonical bytes: they read as the same value, and it is written as the same bytes.
    #[test]
    fn values_of_ciborium_are_read_and_written(value in values()) {
        let mut bytes = Vec::new();
        ciborium::into_writer(&value, &mut bytes).unwrap();
        prop_assert_eq!(text_of(&by_us(&bytes).unwrap().unwrap()), text_of(&value));
        prop_assert_eq!(measure(&bytes, 200).unwrap(), Some(bytes.len()));
        for want in [Want::Text, Want::TextOfFew, Want::Places, Want::Exact] {
            let text = shown(&bytes, want);
            let digits = written(&text);
            prop_assert_eq!(digits, Ok(hex::encode(&bytes)), "{} {:?}", text, want);
        }
        // The tape itself reproduces the bytes too.
        let (mut tape, mut again) = (Tape::new(), Vec::new());
        parse(&bytes, Span::new(0, bytes.len()), MAX_DEPTH, &mut tape).unwrap();
        write(tape.root(&bytes).unwrap(), &mut again).unwrap();
        prop_assert_eq!(again, bytes);
    }

    /// We accept and refuse the same bytes, and read the same values, apart from the differences above.
    #[test]
    fn ciborium_agrees_about_any_bytes(bytes in any_bytes()) {
        let theirs = by_ciborium(&bytes);
        match by_us(&bytes) {
            Ok(Some(ours)) => prop_assert_eq!(theirs.as_ref().map(text_of), Some(text_of(&ours))),
            Ok(None) => {}
            Err(error) => {
                let forbidden = error.field == "simple value";
                prop_assert!(theirs.is_none() || forbidden, "{} {:?}", error, theirs);
            }
        }
    }

    #[test]
    fn exact_text_reproduces_any_bytes(bytes in any_bytes()) {
        if let Ok(Some(len)) = measure(&bytes, 200) {
            let bytes = &bytes[..len];
            let text = shown(bytes, Want::Exact);
            prop_assert_eq!(written(&text), Ok(hex::encode(bytes)), "{}", text);
        }
    }

    /// A value is incomplete up to its last byte.
    #[test]
    fn each_part_of_a_value_is_incomplete(bytes in any_bytes()) {
        if let Ok(Some(len)) = measure(&bytes, 200) {
            for at in 0..len {
                prop_assert_eq!(measure(&bytes[..at], 200).unwrap(), None);
            }
        }
    }
}

/// Bytes that are often CBOR: heads of any kind, with small arguments.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        (0_u8..8, 0_u8..4).prop_map(|(major, info)| vec![major << 5 | info]),
        (0_u8..8, 0_u8..3).prop_map(|(major, n)| vec![major << 5 | 0x18, n]),
        (0_u8..8, 0_u8..3).prop_map(|(major, n)| vec![major << 5 | 0x19, 0, n]),
        (0_u8..8).prop_map(|major| vec![major << 5 | 0x1f]),
        Just(vec![BREAK]),
        prop::collection::vec(any::<u8>(), 0..3),
    ];
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}
