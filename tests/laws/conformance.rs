//! Public conformance suites: `JSONTestSuite` by Nicolas Seriot, `msgpack-test-suite` by kawanet.
//!
//! `WIRETOOL_CONFORMANCE` names the folder: `json-parsing/` with `y_*`, `n_*` and `i_*`, and `msgpack-test-suite.json`.

use crate::references::{accepts_json, check_msgpack_agreement};
use crate::seeds::folder;
use serde_json::Value as Json;
use std::fs;
use wiretool::encoding::msgpack;
use wiretool::span::Span;
use wiretool::tape::{Node, Scalar, Tape, Value};

/// The nesting limit of the command line.
const DEPTH: u32 = 1000;

#[test]
fn json_test_suite_agrees() {
    let Some(folder) = folder("WIRETOOL_CONFORMANCE") else {
        return;
    };
    let entries = fs::read_dir(folder.join("json-parsing")).expect("the suite's folder");
    let mut files: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    files.sort();
    let (mut counts, mut wrong) = ([0; 3], Vec::new());
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read(file).expect("a readable file");
        let taken = accepts_json(&text, DEPTH);
        match name.get(..2) {
            Some("y_") => {
                counts[0] += 1;
                wrong.extend((!taken).then(|| format!("refused {name}")));
            }
            Some("n_") => {
                counts[1] += 1;
                wrong.extend(taken.then(|| format!("took {name}")));
            }
            Some("i_") => {
                counts[2] += 1;
                println!("{:<60} {}", name, if taken { "taken" } else { "refused" });
            }
            _ => {}
        }
    }
    let [y, n, i] = counts;
    println!("{y} to be taken, {n} to be refused, {i} left open");
    assert!(y > 0 && n > 0 && i > 0, "the suite is whole");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns `true` if a value equals the description of the suite.
fn is_equal(node: Node<'_>, kind: &str, want: &Json) -> bool {
    let bytes = |text: &Json| {
        let digits = text.as_str().unwrap_or_default().replace('-', "");
        hex::decode(digits).expect("hexadecimal digits")
    };
    match (kind, node.value()) {
        ("nil", Value::Scalar(Scalar::Null)) => true,
        ("bool", Value::Scalar(Scalar::Bool(v))) => *want == v,
        ("binary", Value::Scalar(Scalar::Bin(v))) => v == bytes(want),
        ("number", Value::Scalar(v)) => is_number(v, want),
        // Too large for a number of the suite's language.
        ("bignum", Value::Scalar(Scalar::Uint(v))) => want.as_str() == Some(&v.to_string()),
        ("bignum", Value::Scalar(Scalar::Int(v))) => want.as_str() == Some(&v.to_string()),
        ("bignum", Value::Scalar(Scalar::F64(v))) => {
            want.as_str().and_then(|w| w.parse().ok()) == Some(f64::from_bits(v))
        }
        ("bignum", Value::Scalar(Scalar::F32(v))) => {
            want.as_str().and_then(|w| w.parse().ok()) == Some(f32::from_bits(v))
        }
        ("string", Value::Scalar(Scalar::Str(v))) => Some(v) == want.as_str().map(str::as_bytes),
        ("ext" | "timestamp", Value::Scalar(Scalar::Ext(-1, v))) => is_timestamp(v, want),
        ("ext", Value::Scalar(Scalar::Ext(kind, v))) => want[0] == kind && v == bytes(&want[1]),
        ("array" | "map", _) => is_json(node, want),
        _ => false,
    }
}

fn is_number(v: Scalar<'_>, want: &Json) -> bool {
    match v {
        Scalar::Uint(v) => want.as_u64() == Some(v),
        Scalar::Int(v) => want.as_i64() == Some(v),
        Scalar::F32(v) => want.as_f64() == Some(f32::from_bits(v) as f64),
        Scalar::F64(v) => want.as_f64() == Some(f64::from_bits(v)),
        _ => false,
    }
}

fn is_json(node: Node<'_>, want: &Json) -> bool {
    match want {
        Json::Null => is_equal(node, "nil", want),
        Json::Bool(_) => is_equal(node, "bool", want),
        Json::Number(_) => is_equal(node, "number", want),
        Json::String(_) => is_equal(node, "string", want),
        Json::Array(items) => {
            node.is_array()
                && node.children().count() == items.len()
                && node.children().zip(items).all(|(n, w)| is_json(n, w))
        }
        Json::Object(members) => {
            node.is_map()
                && node.members().count() == members.len()
                && members
                    .iter()
                    .all(|(key, w)| node.get(key).is_some_and(|n| is_json(n, w)))
        }
    }
}

/// The three widths of a timestamp.
fn is_timestamp(v: &[u8], want: &Json) -> bool {
    let big = |v: &[u8]| v.iter().fold(0_i128, |sum, byte| sum << 8 | *byte as i128);
    let (seconds, nanos) = match v.len() {
        4 => (big(v), 0),
        8 => (big(v) & 0x3_ffff_ffff, big(v) >> 34),
        12 => (big(&v[4..]) as i64 as i128, big(&v[..4])),
        _ => return false,
    };
    want[0].as_i64().map(i128::from) == Some(seconds)
        && want[1].as_i64().map(i128::from) == Some(nanos)
}

#[test]
fn msgpack_test_suite_agrees() {
    let Some(folder) = folder("WIRETOOL_CONFORMANCE") else {
        return;
    };
    let text = fs::read(folder.join("msgpack-test-suite.json")).expect("the suite");
    let suite: Json = serde_json::from_slice(&text).expect("JSON");
    let mut encodings = 0;
    for case in suite
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|g| g.1.as_array())
        .flatten()
    {
        let members = case.as_object().expect("a case");
        let spellings = members["msgpack"].as_array().expect("its encodings");
        for spelling in spellings {
            let digits = spelling
                .as_str()
                .expect("hexadecimal digits")
                .replace('-', "");
            let bytes = hex::decode(digits).expect("hexadecimal digits");
            let mut tape = Tape::new();
            let span = Span::new(0, bytes.len());
            msgpack::parse(&bytes, span, DEPTH, &mut tape)
                .unwrap_or_else(|e| panic!("{case}: {e}"));
            let root = tape.root(&bytes).expect("a value");
            // A number may have several descriptions. Each given one must match, or one for large numbers.
            let fits = members
                .iter()
                .filter(|(kind, _)| *kind != "msgpack")
                .any(|(kind, want)| is_equal(root, kind, want));
            assert!(fits, "{spelling} of {case}");
            check_msgpack_agreement(&bytes);
            encodings += 1;
        }
    }
    println!("{encodings} encodings");
    assert!(encodings > 0, "the suite is whole");
}
