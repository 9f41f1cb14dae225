//! Tests: the entries of a tape, and the values that its nodes return.

use super::node::unescape;
use super::*;

#[test]
fn json_escapes_are_resolved() {
    for (text, want) in [
        ("plain", "plain"),
        (r"a\n\t\\\/", "a\n\t\\/"),
        (r"\u0041\ud83d\ude00", "A😀"),
        (r"\ud83dx", "\u{fffd}x"),
        (r"\ude00", "\u{fffd}"),
    ] {
        assert_eq!(unescape(text), want, "{text}");
    }
}

#[test]
fn get_each_and_get_agree() {
    let many: Vec<String> = (0..40).map(|n| format!("\"k{n}\":{n}")).collect();
    for (text, unique) in [
        ("{}", Some(true)),
        ("[1]", Some(true)),
        (r#"{"k1":1,"k2":[{"k3":1}],"k3":2}"#, Some(true)),
        (r#"{"k1":1,"k2":2,"k1":3}"#, Some(false)),
        (r#"{"k1":1,"\u006b2":2}"#, None),
        (&format!("{{{}}}", many.join(",")), None),
    ] {
        let mut tape = Tape::new();
        let span = Span::new(0, text.len());
        crate::encoding::json::parse(text.as_bytes(), span, 9, &mut tape).unwrap();
        let root = tape.root(text.as_bytes()).unwrap();
        assert_eq!(root.has_unique_keys(), unique, "{text}");
        let keys = ["k1", "k2", "k3", "k39", "", "k"];
        let values = root.get_each::<6, _>(&keys, |key| key);
        for (n, key) in keys.into_iter().enumerate() {
            let [once, again] = [values.get(n), root.get(key)];
            assert_eq!(
                once.map(Node::index),
                again.map(Node::index),
                "{key} of {text}"
            );
        }
    }
}

#[test]
fn key_without_value_is_removed() {
    let mut tape = Tape::new();
    tape.open(0, Shape::Map);
    tape.scalar(Span::new(1, 3), Scalar::Str(b"k"));
    tape.scalar(Span::new(3, 4), Scalar::Uint(1));
    tape.scalar(Span::new(4, 6), Scalar::Str(b"l"));
    tape.close_containers(6);
    let bytes = b"\x82\xa1k\x01\xa1l";
    let root = tape.root(bytes).unwrap();
    assert_eq!(root.children().count(), 2);
    assert_eq!(root.get("k").unwrap().as_i128(), Some(1));
    assert_eq!(root.span(), Span::new(0, 6));
}
