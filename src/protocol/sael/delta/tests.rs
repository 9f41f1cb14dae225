use super::*;
use crate::encoding::json;
use crate::protocol::Id;
use crate::span::Span;
use crate::tape::Tape;
use proptest::prelude::*;
use serde_json::{Map, Value};

fn tape(text: &str) -> Tape {
    let mut tape = Tape::new();
    json::parse(text.as_bytes(), Span::new(0, text.len()), 128, &mut tape).unwrap();
    tape
}

fn fold(values: &[&str]) -> String {
    let mut values = values.iter();
    let first = values.next().unwrap();
    let mut folded = Folded::new(tape(first).root(first.as_bytes()).unwrap());
    for patch in values {
        let before = folded.size();
        let grown = folded.merge(tape(patch).root(patch.as_bytes()).unwrap());
        assert_eq!(difference(folded.size(), before), grown, "{patch}");
    }
    folded.json()
}

#[test]
fn merge_patches() {
    // The table of RFC 7386, appendix A.
    for (original, patch, want) in [
        (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
        (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
        (
            r#"{"a":{"b":"c"}}"#,
            r#"{"a":{"b":"d","c":null}}"#,
            r#"{"a":{"b":"d"}}"#,
        ),
        (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
        (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
        (r#"{"a":"foo"}"#, "null", "null"),
        (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
        (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
        ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
        ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
    ] {
        assert_eq!(fold(&[original, patch]), want, "{original} + {patch}");
    }
    // Numbers are exact, members in order, the last of two equal keys counts.
    assert_eq!(
        fold(&[
            r#"{"z":18446744073709551616,"a":1.0,"z":18446744073709551617}"#,
            r#"{"b":1e400,"a":{"x":[null]}}"#
        ]),
        r#"{"z":18446744073709551617,"a":{"x":[null]},"b":1e400}"#
    );
}

/// The algorithm of RFC 7386, section 2.
fn rfc_7386_merge(target: Value, patch: Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch;
    };
    let mut object = match target {
        Value::Object(object) => object,
        _ => Map::new(),
    };
    for (key, value) in patch {
        if value.is_null() {
            object.remove(&key);
        } else {
            let old = object.remove(&key).unwrap_or(Value::Null);
            object.insert(key, rfc_7386_merge(old, value));
        }
    }
    Value::Object(object)
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i32>().prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-d]", inner, 0..4)
                .prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn merge_equals_rfc_7386(first in any_value(), patches in prop::collection::vec(any_value(), 0..4)) {
        let mut texts = vec![first.to_string()];
        texts.extend(patches.iter().map(ToString::to_string));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found: Value = serde_json::from_str(&fold(&texts)).unwrap();
        prop_assert_eq!(found, patches.into_iter().fold(first, rfc_7386_merge));
    }
}

fn see(states: &mut States, conn: u32, kind: &str, seq: &str, text: &str) -> Option<String> {
    let role = match kind {
        "STR" => Role::Item,
        "END" => Role::End,
        "ERR" => Role::Error,
        "RES" => Role::Response,
        _ => Role::Request,
    };
    let message = Message {
        kind: kind.into(),
        role: Some(role),
        id: Id::Json(seq.into()),
        ..Message::default()
    };
    let tape = tape(text);
    let root = tape.root(text.as_bytes());
    match states.see(Some(conn), &message, root)? {
        DeltaStep::Now(value) => Some(value.json()),
        DeltaStep::TooLarge => Some("too large".into()),
    }
}

#[test]
fn streams_are_separate_and_dropped_at_the_end() {
    let mut states = States::default();
    let s = &mut states;
    assert_eq!(
        see(s, 0, "STR", "1", r#"{"delta":{"a":1}}"#).unwrap(),
        r#"{"a":1}"#
    );
    assert_eq!(
        see(s, 1, "STR", "1", r#"{"delta":{"b":1}}"#).unwrap(),
        r#"{"b":1}"#
    );
    assert_eq!(
        see(s, 0, "STR", "2", r#"{"delta":{"c":1}}"#).unwrap(),
        r#"{"c":1}"#
    );
    assert_eq!(
        see(s, 0, "STR", "1", r#"{"delta":{"a":{"x":2}}}"#).unwrap(),
        r#"{"a":{"x":2}}"#
    );
    assert_eq!(see(s, 0, "STR", "1", r#"{"data":7}"#), None);
    assert_eq!(see(s, 0, "EVT", "9", "{}"), None);
    for (kind, left) in [("END", 2), ("END", 2)] {
        see(s, 0, kind, "1", "{}");
        assert_eq!(s.len(), left);
    }
    see(s, 0, "ERR", "2", "{}");
    see(s, 1, "INV", "1", "{}");
    assert!(s.len() == 0 && s.total == 0 && s.order.is_empty());
}

#[test]
fn memory_is_bounded() {
    let mut states = States::default();
    for seq in 0..3000 {
        see(
            &mut states,
            0,
            "STR",
            &seq.to_string(),
            r#"{"delta":{"a":1}}"#,
        );
    }
    assert_eq!((states.len(), states.order.len()), (STREAMS, STREAMS));
    let long = format!(r#"{{"delta":{{"KEY":"{}"}}}}"#, "x".repeat(VALUE / 3));
    for (key, want) in [("a", false), ("b", false), ("c", true)] {
        let reported = see(&mut states, 0, "STR", "x", &long.replace("KEY", key));
        assert_eq!(reported.as_deref() == Some("too large"), want);
    }
    assert_eq!(see(&mut states, 0, "STR", "x", r#"{"delta":{}}"#), None);
    for conn in 1..30 {
        see(&mut states, conn, "STR", "1", &long);
    }
    assert!(states.total <= TOTAL && states.len() < 30);
    let sizes: usize = states.open.values().map(|s| s.size).sum();
    assert_eq!(sizes, states.total);
}

#[test]
fn tokens_are_masked() {
    let text = r#"{"t":["qct.v1.eyJhIjoxfQ.c2ln","q\u0063t.v1.eyJhIjoxfQ.c2ln"],"u":1}"#;
    let value = Folded::new(tape(text).root(text.as_bytes()).unwrap());
    let mut out = String::new();
    value.write(false, usize::MAX, &mut out);
    assert_eq!(out, r#"{"t":["(secret)","(secret)"],"u":1}"#);
    assert_eq!(value.json(), text);
}
