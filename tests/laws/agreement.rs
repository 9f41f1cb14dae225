//! Our parsers agree with `serde_json` and `rmpv` on the validity and the meaning of generated input.

use crate::chunking::runner;
use crate::references::{
    DEPTH, accepts_json, check_json_agreement, check_msgpack_agreement, is_same, read_packed,
};
use crate::seeds::msgpack;
use proptest::prelude::*;
use rmpv::Value as Packed;
use serde_json::Value as Json;
use wiretool::encoding::{Parsed, Want};
use wiretool::span::Span;

/// Checks a law with `cases` generated values.
fn law<S: Strategy>(cases: u32, values: &S, holds: impl Fn(S::Value)) {
    let result = runner(cases).run(values, |value| {
        holds(value);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        "[a-z\"\\\\\u{0}-\u{1f}\u{2028}]{0,40}".prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

/// JSON with some bytes replaced, omitted or repeated.
fn mutated_json() -> impl Strategy<Value = Vec<u8>> {
    const UNUSUAL: &[u8] =
        b"\"\\{}[],:0123456789.-+eEtruefalsn /u\n\t\0\x1f\x7f\x80\xc3\xed\xf4\xff";
    let change = (
        any::<prop::sample::Index>(),
        0..4u8,
        prop::sample::select(UNUSUAL),
    );
    let changes = prop::collection::vec(change, 1..4);
    (any_json(), any::<bool>(), changes).prop_map(|(value, pretty, changes)| {
        let mut text = if pretty {
            serde_json::to_vec_pretty(&value)
        } else {
            serde_json::to_vec(&value)
        }
        .expect("writing to memory");
        for (at, how, byte) in changes {
            let at = at.index(text.len() + 1);
            match how {
                0 if at < text.len() => text[at] = byte,
                1 if at < text.len() => drop(text.remove(at)),
                2 => text.truncate(at.max(1)),
                _ => text.insert(at, byte),
            }
        }
        text
    })
}

#[test]
fn generated_json_agrees() {
    law(400, &(any_json(), any::<bool>()), |(value, pretty)| {
        let text = if pretty {
            serde_json::to_vec_pretty(&value)
        } else {
            serde_json::to_vec(&value)
        };
        let text = text.expect("writing to memory");
        assert!(accepts_json(&text, DEPTH));
        check_json_agreement(&text);
    });
}

#[test]
fn mutated_json_agrees() {
    law(4000, &mutated_json(), |text| check_json_agreement(&text));
}

#[test]
fn every_short_json_text_agrees() {
    // Every text of up to four of these parts.
    const PARTS: [&[u8]; 21] = [
        b"{", b"}", b"[", b"]", b",", b":", b"\"", b"\"a\"", b"\\u00", b"\\ud800", b"\\", b"0",
        b"1", b"-", b".", b"e", b"+", b"true", b" ", b"\n", b"\xff",
    ];
    for a in PARTS {
        for b in PARTS {
            for c in PARTS {
                check_json_agreement(&[a, b, c].concat());
                for d in PARTS {
                    check_json_agreement(&[a, b, c, d].concat());
                }
            }
        }
    }
}

#[test]
fn deep_json_agrees() {
    for depth in [1, 126, 127, 128, 200] {
        for (open, close) in [("[", "]"), ("{\"k\":", "}")] {
            let text = [open.repeat(depth), "1".into(), close.repeat(depth)].concat();
            let text = text.as_bytes();
            assert_eq!(
                accepts_json(text, DEPTH),
                depth <= DEPTH as usize,
                "{depth}"
            );
            check_json_agreement(text);
            assert!(accepts_json(text, 1000), "{depth}");
        }
    }
}

fn any_packed() -> impl Strategy<Value = Packed> {
    let leaf = prop_oneof![
        Just(Packed::Nil),
        any::<bool>().prop_map(Packed::from),
        any::<i64>().prop_map(Packed::from),
        any::<u64>().prop_map(Packed::from),
        any::<u32>().prop_map(|bits| Packed::F32(f32::from_bits(bits))),
        any::<u64>().prop_map(|bits| Packed::F64(f64::from_bits(bits))),
        any::<String>().prop_map(Packed::from),
        "[$a-c\"\n]{0,3}".prop_map(Packed::from),
        "[a-z]{30,34}".prop_map(Packed::from),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Packed::Binary),
        (any::<i8>(), prop::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(k, v)| Packed::Ext(k, v)),
    ];
    leaf.prop_recursive(5, 80, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..20).prop_map(Packed::Array),
            prop::collection::vec((inner.clone(), inner.clone()), 0..20).prop_map(Packed::Map),
            prop::collection::vec(("[$a-f]{0,2}", inner), 0..20).prop_map(|members| {
                Packed::Map(members.into_iter().map(|(k, v)| (k.into(), v)).collect())
            }),
        ]
    })
}

#[test]
fn generated_msgpack_agrees() {
    law(1000, &any_packed(), |value| {
        let bytes = msgpack(&value);
        let read = read_packed(&bytes).expect("rmpv reads what it writes");
        assert!(is_same(&read, &value));
        check_msgpack_agreement(&bytes);
    });
}

#[test]
fn mutated_msgpack_agrees() {
    let change = (any::<prop::sample::Index>(), any::<u8>());
    let changes = prop::collection::vec(change, 1..4);
    law(2000, &(any_packed(), changes), |(value, changes)| {
        let mut bytes = msgpack(&value);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check_msgpack_agreement(&bytes);
    });
}

#[test]
fn arbitrary_bytes_as_msgpack_agree() {
    law(
        10_000,
        &prop::collection::vec(any::<u8>(), 0..40),
        |bytes| {
            check_msgpack_agreement(&bytes);
        },
    );
}

#[test]
fn every_msgpack_marker_agrees() {
    for marker in 0..=0xff {
        for len in 0..20 {
            for fill in [0, 1, 0x7f, 0xc0, 0xff] {
                check_msgpack_agreement(&[&[marker][..], &vec![fill; len]].concat());
            }
        }
    }
}

#[test]
fn numbers_are_exact() {
    let text = |bytes: &[u8]| {
        let mut parsed = Parsed::new(Want::Text, DEPTH);
        let mut out = Vec::new();
        parsed
            .msgpack(bytes, Span::new(0, bytes.len()))
            .expect("valid");
        parsed.write_message(bytes, &mut out);
        String::from_utf8(out).expect("UTF-8")
    };
    let bits_of = |text: &str| {
        let tagged = text.strip_prefix("{\"$float\":\"")?.strip_suffix("\"}")?;
        u64::from_str_radix(tagged, 16).ok()
    };
    law(
        2000,
        &any::<(u64, i64, u64, u32)>(),
        |(u, i, wide, narrow)| {
            assert_eq!(text(&msgpack(&u.into())).parse(), Ok(u));
            assert_eq!(text(&msgpack(&i.into())).parse(), Ok(i));
            for bits in [wide, wide | 0x7ff0_0000_0000_0000, wide >> 12] {
                let text = text(&[&[0xcb], &bits.to_be_bytes()[..]].concat());
                let read = bits_of(&text).or_else(|| Some(text.parse::<f64>().ok()?.to_bits()));
                assert_eq!(read, Some(bits), "{text}");
                assert!(
                    text.contains(['.', 'e', '$']),
                    "{text} looks like an integer"
                );
            }
            for bits in [narrow, narrow | 0x7f80_0000, narrow >> 9] {
                let text = text(&[&[0xca], &bits.to_be_bytes()[..]].concat());
                let read =
                    bits_of(&text).or_else(|| Some(text.parse::<f32>().ok()?.to_bits() as u64));
                assert_eq!(read, Some(bits as u64), "{text}");
                assert!(
                    text.contains(['.', 'e', '$']),
                    "{text} looks like an integer"
                );
            }
        },
    );
    for edge in [0, 1, i64::MAX as u64, u64::MAX] {
        assert_eq!(text(&msgpack(&edge.into())), edge.to_string());
    }
    assert_eq!(text(&msgpack(&i64::MIN.into())), i64::MIN.to_string());
}
