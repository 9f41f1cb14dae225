//! What `serde_json` and `rmpv` say of an input must be what our parsers say.
//!
//! They differ in these cases, where ours are right:
//!
//! - `serde_json`, if it stores values, refuses escapes of lone surrogates; RFC 8259 section 8.2 has them. If it
//!   ignores values it accepts them, and accepts invalid UTF-8 in text as well, which ours never does.
//! - `serde_json` stops at 127 levels if it stores values, ours at the given limit.
//! - `serde_json` refuses a number beyond `f64` if it stores it; ours stores the text of numbers.
//! - `rmpv` counts some levels twice.
//! - `rmpv` reads the byte `c1`, which the specification reserves, as nil.

use rmpv::{Utf8String, Value as Packed};
use serde::de::IgnoredAny;
use serde_json::Value as Json;
use wiretool::encoding::{Nothing, Parsed, Want, json, lossless};
use wiretool::span::Span;
use wiretool::tape::{Node, Scalar, Tape, Value};

/// The maximum depth of values that proptest generates, and the limit of `serde_json`.
pub const DEPTH: u32 = 127;

/// Returns `true` if our parser accepts the text.
pub fn accepts_json(text: &[u8], depth: u32) -> bool {
    json::parse(text, Span::new(0, text.len()), depth, &mut Nothing).is_ok()
}

pub fn check_json_agreement(text: &[u8]) {
    let shown = || String::from_utf8_lossy(text);
    let ours = accepts_json(text, DEPTH);
    let held = serde_json::from_slice::<Json>(text);
    let utf8 = std::str::from_utf8(text).is_ok();
    let grammar = utf8 && serde_json::from_slice::<IgnoredAny>(text).is_ok();
    match &held {
        Ok(_) => assert!(ours, "they alone take {:?}", shown()),
        Err(error) if ours => {
            let range = error.to_string().contains("number out of range");
            let lone = json::lone_surrogate(text).is_some();
            assert!(range || lone, "we alone take {:?}: {error}", shown());
        }
        Err(error) if error.to_string().contains("recursion limit") => return,
        Err(_) => {}
    }
    assert_eq!(ours, grammar, "{:?}", shown());
    if !ours {
        return;
    }
    // The copied text and the text that is written from the tape have the same meaning.
    let mut parsed = Parsed::new(Want::Text, DEPTH);
    let (mut quick, mut slow) = (Vec::new(), Vec::new());
    parsed.json(text, Span::new(0, text.len())).expect("valid");
    parsed.write_message(text, &mut quick);
    parsed.set_want(Want::Places);
    parsed.json(text, Span::new(0, text.len())).expect("valid");
    lossless::write(parsed.root(text).expect("valid"), &mut slow);
    assert!(!quick.contains(&b'\n') && !slow.contains(&b'\n'));
    let mut through = Vec::new();
    parsed.write_message(text, &mut through);
    assert_eq!(
        quick, through,
        "the text passes through, whatever else is wanted"
    );
    let Ok(value) = held else {
        return;
    };
    for written in [quick, slow] {
        let read: Json = serde_json::from_slice(&written).expect("we write JSON");
        assert_eq!(read, value);
    }
}

/// A node as a value of `rmpv`.
fn to_rmpv(node: Node<'_>) -> Packed {
    match node.value() {
        Value::Array => Packed::Array(node.children().map(to_rmpv).collect()),
        Value::Map => {
            let members = node.members().map(|(k, v)| (to_rmpv(k), to_rmpv(v)));
            Packed::Map(members.collect())
        }
        Value::Scalar(scalar) => match scalar {
            Scalar::Null => Packed::Nil,
            Scalar::Bool(v) => v.into(),
            Scalar::Uint(v) => v.into(),
            Scalar::Int(v) => v.into(),
            Scalar::F32(bits) => Packed::F32(f32::from_bits(bits)),
            Scalar::F64(bits) => Packed::F64(f64::from_bits(bits)),
            Scalar::Str(text) => Packed::String(match std::str::from_utf8(text) {
                Ok(text) => text.into(),
                Err(_) => return Packed::String(bad_text(text)),
            }),
            Scalar::Bin(bytes) => bytes.into(),
            Scalar::Ext(kind, bytes) => Packed::Ext(kind, bytes.to_vec()),
            other => panic!("MessagePack has no {other:?}"),
        },
        other => panic!("MessagePack has no {other:?}"),
    }
}

/// Text that is not UTF-8, which only a reader creates.
fn bad_text(text: &[u8]) -> Utf8String {
    let length = u32::try_from(text.len()).expect("a short text");
    let bytes = [&[0xdb], &length.to_be_bytes()[..], text].concat();
    match rmpv::decode::read_value(&mut &bytes[..]) {
        Ok(Packed::String(text)) => text,
        other => panic!("{other:?}"),
    }
}

/// Compares values; floats by their bits.
pub fn is_same(a: &Packed, b: &Packed) -> bool {
    match (a, b) {
        (Packed::F32(a), Packed::F32(b)) => a.to_bits() == b.to_bits(),
        (Packed::F64(a), Packed::F64(b)) => a.to_bits() == b.to_bits(),
        (Packed::Array(a), Packed::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Packed::Map(a), Packed::Map(b)) => {
            let pairs = a.iter().zip(b);
            a.len() == b.len() && { pairs }.all(|(a, b)| is_same(&a.0, &b.0) && is_same(&a.1, &b.1))
        }
        (Packed::String(a), Packed::String(b)) => a.as_bytes() == b.as_bytes(),
        (a, b) => a == b,
    }
}

/// The value that `rmpv` reads, if the input is exactly one value.
pub fn read_packed(bytes: &[u8]) -> Option<Packed> {
    let mut rest = bytes;
    let value = rmpv::decode::read_value_with_max_depth(&mut rest, 3 * DEPTH as usize).ok()?;
    rest.is_empty().then_some(value)
}

pub fn check_msgpack_agreement(bytes: &[u8]) {
    let shown = || hex::encode(bytes);
    let span = Span::new(0, bytes.len());
    let mut tape = Tape::new();
    let ours = wiretool::encoding::msgpack::parse(bytes, span, DEPTH, &mut tape);
    match (ours, read_packed(bytes)) {
        (Ok(()), Some(theirs)) => {
            let ours = to_rmpv(tape.root(bytes).expect("a value"));
            assert!(is_same(&ours, &theirs), "{}: {ours} and {theirs}", shown());
        }
        (Ok(()), None) => panic!("we alone take {}", shown()),
        (Err(error), Some(_)) if error.code == "too-deep" => {}
        (Err(error), Some(_)) => {
            assert_eq!(error.code, "bad-msgpack", "they alone take {}", shown());
            assert_eq!(error.span.of(bytes), b"\xc1", "they alone take {}", shown());
        }
        (Err(_), None) => {}
    }
    // The text written during parsing equals the text written from the tape.
    let mut parsed = Parsed::new(Want::Text, DEPTH);
    let quick_result = parsed.msgpack(bytes, span);
    let mut quick = Vec::new();
    parsed.write_message(bytes, &mut quick);
    parsed.set_want(Want::Places);
    assert_eq!(parsed.msgpack(bytes, span), quick_result, "{}", shown());
    let mut slow = Vec::new();
    parsed.write_message(bytes, &mut slow);
    let lossy = String::from_utf8_lossy;
    assert_eq!(lossy(&quick), lossy(&slow), "{}", shown());
    if quick_result.is_ok() {
        let mut direct = Vec::new();
        lossless::write(parsed.root(bytes).expect("a value"), &mut direct);
        assert_eq!(lossy(&quick), lossy(&direct), "{}", shown());
    }
    let read = serde_json::from_slice::<IgnoredAny>(&quick);
    assert!(read.is_ok(), "{}: {}", shown(), lossy(&quick));
}
