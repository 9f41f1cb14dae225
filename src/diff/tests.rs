//! Tests: equal and different values, and agreement of digests with comparisons.

use super::values::{FoundDifferences, Meaning};
use super::{Ignore, MessageName};
use crate::encoding::json;
use crate::span::Span;
use crate::tape::{Node, Scalar, Sink as _, Tape};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::hash::Hasher;

/// Records the bytes of a digest, so that no two are equal by accident.
#[derive(Default, PartialEq, Debug)]
struct Folded(Vec<u8>);

impl Hasher for Folded {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        unreachable!("nobody asks")
    }
}

fn tape(text: &str) -> Tape {
    let mut tape = Tape::new();
    let whole = Span::new(0, text.len());
    json::parse(text.as_bytes(), whole, 128, &mut tape).unwrap_or_else(|e| panic!("{text}: {e}"));
    tape
}

/// A scalar of a binary encoding.
fn binary(scalar: Scalar<'_>) -> Tape {
    let mut tape = Tape::new();
    tape.scalar(Span::new(0, 0), scalar);
    tape
}

fn meaning(ignore: &Ignore, re_encoded: bool) -> Meaning<'_> {
    Meaning {
        ignore,
        name: MessageName {
            kind: "k",
            subject: None,
            parts: &[],
        },
        re_encoded,
        empty_is_absent: false,
    }
}

/// Returns the paths that differ.
fn paths(meaning: Meaning<'_>, a: Option<Node<'_>>, b: Option<Node<'_>>) -> Vec<String> {
    let mut found = FoundDifferences::default();
    meaning.compare(a, b, &mut |_, _, _, _| Err(None), &mut found);
    let found = found.differences.iter();
    found.map(|d| d.path.to_string()).collect()
}

fn folded(meaning: Meaning<'_>, node: Option<Node<'_>>) -> Folded {
    let mut folded = Folded::default();
    meaning.digest(node, &|_, _| None, &mut folded);
    folded
}

/// Returns the differences between two JSON texts, and `true` if their digests differ.
fn both(meaning: Meaning<'_>, a: &str, b: &str) -> (Vec<String>, bool) {
    let (left, right) = (tape(a), tape(b));
    let (left, right) = (left.root(a.as_bytes()), right.root(b.as_bytes()));
    let differs = folded(meaning, left) != folded(meaning, right);
    (paths(meaning, left, right), differs)
}

#[test]
fn different_nesting_differs() {
    let ignore = Ignore::default();
    for (a, b, want) in [
        (
            r#"{"a":{"b":1},"c":2}"#,
            r#"{"a":{"b":1,"c":2}}"#,
            &["a.c", "c"][..],
        ),
        (
            r#"[{"a":1},{"b":2}]"#,
            r#"[{"a":1,"b":2}]"#,
            &["[0].b", "[1]"],
        ),
        ("[[1],2]", "[[1,2]]", &["[0][1]", "[1]"]),
        ("[[],1]", "[[1]]", &["[0][0]", "[1]"]),
        ("{}", "[]", &[""]),
        (r#"{"a:":1}"#, r#"{"a":":1"}"#, &["a", "[\"a:\"]"]),
        (r#"["1,2"]"#, r#"["1","2"]"#, &["[0]", "[1]"]),
        (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1.0}"#, &[]),
    ] {
        let (paths, differs) = both(meaning(&ignore, false), a, b);
        assert_eq!(paths, want, "{a} {b}");
        assert_eq!(differs, !want.is_empty(), "{a} {b}");
    }
}

#[test]
fn numbers_are_exact() {
    let ignore = Ignore::default();
    for (a, b, same) in [
        ("1.00000000000000000001", "1.00000000000000000002", false),
        (
            "12345678901234567890123.5",
            "12345678901234567890124.5",
            false,
        ),
        ("9007199254740993.0", "9007199254740992.0", false),
        ("9007199254740993.0", "9007199254740993", true),
        ("0.1", "0.1000000000000000055511151231257827", false),
        ("1.0", "1", true),
        ("1.0", "10e-1", true),
        ("100", "1e2", true),
        ("1.50", "0.15E+1", true),
        ("-1.0", "1.0", false),
        ("0", "-0", true),
        ("0.0", "-0e7", true),
        ("1e400", "10e399", true),
        ("1e400", "1e401", false),
        (
            "340282366920938463463374607431768211456",
            "340282366920938463463374607431768211456.0",
            true,
        ),
        ("1e9223372036854775806", "10e9223372036854775805", true),
        // Such exponents are compared as text; no number of that size is created.
        ("1e99999999999999999999", "1e99999999999999999999", true),
        ("1e99999999999999999999", "1e88888888888888888888", false),
        ("1e9223372036854775806", "0.1e9223372036854775807", false),
        ("0e99999999999999999999", "0", true),
    ] {
        let (paths, differs) = both(meaning(&ignore, false), a, b);
        assert_eq!(paths.is_empty(), same, "{a} {b}");
        assert_eq!(differs, !same, "{a} {b}");
    }
}

#[test]
fn floats_equal_their_decimal_text() {
    let ignore = Ignore::default();
    let double = |float: f64| Scalar::F64(float.to_bits());
    let single = |float: f32| Scalar::F32(float.to_bits());
    // The last column: a digest may differ for values that are equal only after rounding.
    for (text, scalar, same, folds_same) in [
        ("0.1", double(0.1), true, true),
        ("1e-1", double(0.1), true, true),
        ("0.10000000000000001", double(0.1), true, false),
        ("0.1", single(0.1), false, false),
        ("0.10000000149011612", single(0.1), true, true),
        ("1", double(1.0), true, true),
        ("1.0", single(1.0), true, true),
        ("1.00000000000000000001", double(1.0), true, false),
        ("1.00000000000000000001", Scalar::Uint(1), false, false),
        ("-0.0", double(0.0), true, true),
        ("0", double(-0.0), true, true),
        ("1e300", double(1e300), true, true),
        (
            "9007199254740993",
            double(9_007_199_254_740_992.0),
            false,
            false,
        ),
        (
            "9007199254740992",
            double(9_007_199_254_740_992.0),
            true,
            true,
        ),
        (
            "9007199254740993.0",
            Scalar::Uint(9_007_199_254_740_993),
            true,
            true,
        ),
        (
            "9007199254740993.0",
            Scalar::Uint(9_007_199_254_740_992),
            false,
            false,
        ),
        ("18446744073709551615", Scalar::Uint(u64::MAX), true, true),
        ("-5", Scalar::Int(-5), true, true),
        ("1e999", double(f64::INFINITY), false, false),
    ] {
        let (left, right) = (tape(text), binary(scalar));
        let (left, right) = (left.root(text.as_bytes()), right.root(b""));
        let meaning = meaning(&ignore, true);
        assert_eq!(paths(meaning, left, right).is_empty(), same, "{text}");
        assert_eq!(paths(meaning, right, left).is_empty(), same, "{text}");
        let digests = folded(meaning, left) == folded(meaning, right);
        assert_eq!(digests, folds_same, "{text}");
    }
}

/// A small value of JSON.
#[derive(Clone, Debug)]
enum Json {
    Plain(&'static str),
    Array(Vec<Json>),
    Map(BTreeMap<&'static str, Json>),
}

impl Json {
    /// Returns it as text, with keys in order or in reverse.
    fn text(&self, back: bool) -> String {
        match self {
            Self::Plain(text) => (*text).to_owned(),
            Self::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| item.text(back)).collect();
                format!("[{}]", items.join(","))
            }
            Self::Map(members) => {
                let members = members.iter();
                let member =
                    |(key, value): (&&str, &Self)| format!("\"{key}\":{}", value.text(back));
                let mut members: Vec<String> = members.map(member).collect();
                if back {
                    members.reverse();
                }
                format!("{{{}}}", members.join(","))
            }
        }
    }
}

fn any_json() -> impl Strategy<Value = Json> {
    let plain = vec![
        "null", "true", "1", "1.0", "2", "\"\"", "\"1\"", "\"a:1\"", "{}", "[]",
    ];
    let plain = prop::sample::select(plain).prop_map(Json::Plain);
    plain.prop_recursive(3, 12, 3, |inner| {
        let key = prop::sample::select(vec!["", "a", "b", "c", "a:"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::Array),
            prop::collection::btree_map(key, inner, 0..3).prop_map(Json::Map),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn digests_differ_exactly_with_differences(
        a in any_json(),
        other in any_json(),
        alone in any::<bool>(),
        re_encoded in any::<bool>(),
        patterns in prop::sample::subsequence(vec!["a", "**.b", "k:c[1]", "*.a"], 0..2),
    ) {
        let ignore = Ignore::new(patterns);
        let meaning = meaning(&ignore, re_encoded);
        let b = if alone { a.text(true) } else { other.text(false) };
        let a = a.text(false);
        let (paths, differs) = both(meaning, &a, &b);
        prop_assert_eq!(!paths.is_empty(), differs, "{} {} {:?}", a, b, paths);
        prop_assert!(!alone || paths.is_empty(), "{} {}", a, b);
    }
}
