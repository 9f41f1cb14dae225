mod agreement;

use super::*;
use crate::encoding::{Encoding, Parsed, Want, json, lossless};
use crate::tape::{Node, Tape};

/// The maximum number of JSON levels for one level of CBOR, `{"$as":["_3",{"$map":[[k,v]]}]}`; the innermost value can
/// take as many again.
const LEVELS: u32 = 5;

fn tape_of_json(text: &[u8]) -> Tape {
    let mut tape = Tape::new();
    let depth = (MAX_DEPTH + 1) * LEVELS;
    json::parse(text, Span::new(0, text.len()), depth, &mut tape).unwrap();
    tape
}

fn written(text: &str) -> Result<String, String> {
    let tape = tape_of_json(text.as_bytes());
    let mut out = Vec::new();
    match write(tape.root(text.as_bytes()).unwrap(), &mut out) {
        Ok(()) => Ok(hex::encode(out)),
        Err(refusal) => Err(refusal.to_string()),
    }
}

/// Returns the value as JSON.
fn shown(bytes: &[u8], want: Want) -> String {
    let mut parsed = Parsed::new(want, MAX_DEPTH);
    parsed.cbor(bytes, Span::new(0, bytes.len())).unwrap();
    let mut text = Vec::new();
    parsed.write_message(bytes, &mut text);
    String::from_utf8(text).unwrap()
}

/// The examples of RFC 8949 appendix A: the bytes, and the value in JSON output. An exact form stands behind `exact`
/// where it differs.
const EXAMPLES: &[(&str, &str)] = &[
    ("00", "0"),
    ("01", "1"),
    ("0a", "10"),
    ("17", "23"),
    ("1818", "24"),
    ("1819", "25"),
    ("1864", "100"),
    ("1903e8", "1000"),
    ("1a000f4240", "1000000"),
    ("1b000000e8d4a51000", "1000000000000"),
    ("1bffffffffffffffff", "18446744073709551615"),
    (
        "c249010000000000000000",
        r#"{"$tag":[2,{"$bin":"010000000000000000"}]}"#,
    ),
    ("3bffffffffffffffff", "-18446744073709551616"),
    (
        "c349010000000000000000",
        r#"{"$tag":[3,{"$bin":"010000000000000000"}]}"#,
    ),
    ("20", "-1"),
    ("29", "-10"),
    ("3863", "-100"),
    ("3903e7", "-1000"),
    ("f90000", "0.0"),
    ("f98000", "-0.0"),
    ("f93c00", "1.0"),
    ("fb3ff199999999999a", "1.1"),
    ("f93e00", "1.5"),
    ("f97bff", "65504.0"),
    ("fa47c35000", "100000.0"),
    ("fa7f7fffff", "3.4028234663852886e38"),
    ("fb7e37e43c8800759c", "1e300"),
    ("f90001", "5.960464477539063e-8"),
    ("f90400", "0.00006103515625"),
    ("f9c400", "-4.0"),
    ("fbc010666666666666", "-4.1"),
    ("f97c00", r#"{"$float":"7ff0000000000000"}"#),
    ("f97e00", r#"{"$float":"7ff8000000000000"}"#),
    ("f9fc00", r#"{"$float":"fff0000000000000"}"#),
    (
        "fa7f800000",
        r#"{"$as":["_2",{"$float":"7ff0000000000000"}]}"#,
    ),
    (
        "fa7fc00000",
        r#"{"$as":["_2",{"$float":"7ff8000000000000"}]}"#,
    ),
    (
        "faff800000",
        r#"{"$as":["_2",{"$float":"fff0000000000000"}]}"#,
    ),
    (
        "fb7ff0000000000000",
        r#"{"$as":["_3",{"$float":"7ff0000000000000"}]}"#,
    ),
    (
        "fb7ff8000000000000",
        r#"{"$as":["_3",{"$float":"7ff8000000000000"}]}"#,
    ),
    (
        "fbfff0000000000000",
        r#"{"$as":["_3",{"$float":"fff0000000000000"}]}"#,
    ),
    ("f4", "false"),
    ("f5", "true"),
    ("f6", "null"),
    ("f7", r#"{"$simple":23}"#),
    ("f0", r#"{"$simple":16}"#),
    ("f8ff", r#"{"$simple":255}"#),
    (
        "c074323031332d30332d32315432303a30343a30305a",
        r#"{"$tag":[0,"2013-03-21T20:04:00Z"]}"#,
    ),
    ("c11a514b67b0", r#"{"$tag":[1,1363896240]}"#),
    ("c1fb41d452d9ec200000", r#"{"$tag":[1,1363896240.5]}"#),
    ("d74401020304", r#"{"$tag":[23,{"$bin":"01020304"}]}"#),
    ("d818456449455446", r#"{"$tag":[24,{"$bin":"6449455446"}]}"#),
    (
        "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
        r#"{"$tag":[32,"http://www.example.com"]}"#,
    ),
    ("40", r#"{"$bin":""}"#),
    ("4401020304", r#"{"$bin":"01020304"}"#),
    ("60", r#""""#),
    ("6161", r#""a""#),
    ("6449455446", r#""IETF""#),
    ("62225c", r#""\"\\""#),
    ("62c3bc", r#""ü""#),
    ("63e6b0b4", r#""水""#),
    ("64f0908591", r#""𐅑""#),
    ("80", "[]"),
    ("83010203", "[1,2,3]"),
    ("8301820203820405", "[1,[2,3],[4,5]]"),
    (
        "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
        "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]",
    ),
    ("a0", "{}"),
    ("a201020304", r#"{"$map":[[1,2],[3,4]]}"#),
    ("a26161016162820203", r#"{"a":1,"b":[2,3]}"#),
    ("826161a161626163", r#"["a",{"b":"c"}]"#),
    (
        "a56161614161626142616361436164614461656145",
        r#"{"a":"A","b":"B","c":"C","d":"D","e":"E"}"#,
    ),
    (
        "5f42010243030405ff",
        r#"{"$bin":[{"$bin":"0102"},{"$bin":"030405"}]}"#,
    ),
    ("7f657374726561646d696e67ff", r#"{"$str":["strea","ming"]}"#),
    ("9fff", r#"{"$as":["_",[]]}"#),
    (
        "9f018202039f0405ffff",
        r#"{"$as":["_",[1,[2,3],{"$as":["_",[4,5]]}]]}"#,
    ),
    ("9f01820203820405ff", r#"{"$as":["_",[1,[2,3],[4,5]]]}"#),
    ("83018202039f0405ff", r#"[1,[2,3],{"$as":["_",[4,5]]}]"#),
    ("83019f0203ff820405", r#"[1,{"$as":["_",[2,3]]},[4,5]]"#),
    (
        "bf61610161629f0203ffff",
        r#"{"$as":["_",{"a":1,"b":{"$as":["_",[2,3]]}}]}"#,
    ),
    ("826161bf61626163ff", r#"["a",{"$as":["_",{"b":"c"}]}]"#),
    (
        "bf6346756ef563416d7421ff",
        r#"{"$as":["_",{"Fun":true,"Amt":-2}]}"#,
    ),
];

/// Returns JSON text without `{"$as":[…]}` around values.
fn without_widths(text: &str) -> String {
    fn plain(node: Node<'_>, out: &mut String) {
        if let Some(both) = node.get("$as") {
            return plain(both.at(1).unwrap(), out);
        }
        let (open, close) = match (node.is_map(), node.is_array()) {
            (true, _) => ('{', '}'),
            (_, true) => ('[', ']'),
            _ => return out.push_str(std::str::from_utf8(node.span().of(node.bytes())).unwrap()),
        };
        out.push(open);
        for (n, child) in node.children().enumerate() {
            let is_value = node.is_map() && n % 2 == 1;
            out.push_str(if n == 0 {
                ""
            } else if is_value {
                ":"
            } else {
                ","
            });
            plain(child, out);
        }
        out.push(close);
    }
    let mut out = String::new();
    let tape = tape_of_json(text.as_bytes());
    plain(tape.root(text.as_bytes()).unwrap(), &mut out);
    out
}

#[test]
fn examples_of_rfc_8949_are_read_and_written() {
    for (digits, exact) in EXAMPLES {
        let bytes = hex::decode(digits).unwrap();
        assert_eq!(shown(&bytes, Want::Exact), *exact, "{digits}");
        assert_eq!(written(exact).as_deref(), Ok(*digits), "{exact}");
        let plain = without_widths(exact);
        for want in [Want::Places, Want::Text, Want::TextOfFew] {
            assert_eq!(shown(&bytes, want), plain, "{digits} {want:?}");
        }
        if plain == *exact {
            assert_eq!(written(&plain).as_deref(), Ok(*digits), "{plain}");
        }
    }
}

#[test]
fn values_that_are_not_in_their_shortest_form_are_reproduced() {
    for (digits, exact) in [
        ("1800", r#"{"$as":["_0",0]}"#),
        ("190001", r#"{"$as":["_1",1]}"#),
        ("1a00000001", r#"{"$as":["_2",1]}"#),
        ("1b0000000000000001", r#"{"$as":["_3",1]}"#),
        ("3800", r#"{"$as":["_0",-1]}"#),
        ("fa3fc00000", r#"{"$as":["_2",1.5]}"#),
        ("fb3ff8000000000000", r#"{"$as":["_3",1.5]}"#),
        (
            "fb7ff0000020000000",
            r#"{"$as":["_3",{"$float":"7ff0000020000000"}]}"#,
        ),
        ("fb7ff0000000000001", r#"{"$float":"7ff0000000000001"}"#),
        ("7800", r#"{"$as":["_0",""]}"#),
        ("5a0000000100", r#"{"$as":["_2",{"$bin":"00"}]}"#),
        ("9800", r#"{"$as":["_0",[]]}"#),
        ("b90000", r#"{"$as":["_1",{}]}"#),
        ("d80520", r#"{"$as":["_0",{"$tag":[5,-1]}]}"#),
        ("5fff", r#"{"$bin":[]}"#),
        ("7fff", r#"{"$str":[]}"#),
        ("7f780161ff", r#"{"$str":[{"$as":["_0","a"]}]}"#),
        ("61ff", r#"{"$str":"ff"}"#),
        ("a1780161f6", r#"{"$map":[[{"$as":["_0","a"]},null]]}"#),
        (
            "a1c16161f7",
            r#"{"$map":[[{"$tag":[1,"a"]},{"$simple":23}]]}"#,
        ),
        ("a26161016161f4", r#"{"$map":[["a",1],["a",false]]}"#),
        ("a1642474616701", r#"{"$map":[["$tag",1]]}"#),
        (
            "c1c2c340",
            r#"{"$tag":[1,{"$tag":[2,{"$tag":[3,{"$bin":""}]}]}]}"#,
        ),
        (
            "dbffffffffffffffff00",
            r#"{"$tag":[18446744073709551615,0]}"#,
        ),
        ("3b8000000000000000", "-9223372036854775809"),
        ("3b7fffffffffffffff", "-9223372036854775808"),
    ] {
        let bytes = hex::decode(digits).unwrap();
        assert_eq!(shown(&bytes, Want::Exact), exact, "{digits}");
        assert_eq!(written(exact).as_deref(), Ok(digits), "{exact}");
    }
}

#[test]
fn each_value_has_its_span() {
    let bytes = hex::decode("a26161c24102617a7f616261 63ff".replace(' ', "")).unwrap();
    let mut tape = Tape::new();
    parse(&bytes, Span::new(0, bytes.len()), 9, &mut tape).unwrap();
    let mut found = Vec::new();
    tape.root(&bytes).unwrap().each(&mut |node| {
        let span = node.span();
        found.push(format!("{}..{} {}", span.at(), span.end(), node.describe()));
    });
    assert_eq!(
        found,
        [
            "0..14 a map",
            "1..3 a string",
            "3..6 a map",
            "3..3 a field name",
            "3..6 an array",
            "3..4 an integer",
            "4..6 bytes",
            "6..8 a string",
            "8..14 a map",
            "8..8 a field name",
            "8..14 an array",
            "9..11 a string",
            "11..13 a string",
        ]
    );
}

#[test]
fn malformed_values_are_faults_at_their_place() {
    let table: Vec<String> = [
        "",
        "18",
        "1901",
        "61",
        "6261",
        "82",
        "8201",
        "a1",
        "a101",
        "c1",
        "9f",
        "9f01",
        "7f",
        "7f6161",
        "bf01",
        "1c",
        "1d",
        "1e",
        "1f",
        "3f",
        "df",
        "fc",
        "ff",
        "81ff",
        "bf01ff",
        "a1ff",
        "7f4161ff",
        "7f7f6161ffff",
        "5f01ff",
        "f800",
        "f81f",
        "0000",
        "00ff",
        "8181818181",
        "c1c1c1c1c1c100",
        "5bffffffffffffffff00",
        "9bffffffffffffffff00",
        "bbffffffffffffffff00",
    ]
    .iter()
    .map(|digits| {
        let bytes = hex::decode(digits).unwrap();
        let error = parse(&bytes, Span::new(0, bytes.len()), 4, &mut Tape::new()).unwrap_err();
        let (at, end) = (error.span.at(), error.span.end());
        let measured = match measure(&bytes, 4) {
            Ok(Some(len)) => len.to_string(),
            Ok(None) => "incomplete".to_owned(),
            Err(_) => "malformed".to_owned(),
        };
        format!(
            "{digits:20} {measured:10} {} {at}..{end} {error}",
            error.code
        )
    })
    .collect();
    insta::assert_snapshot!(table.join("\n"), @"
                         incomplete empty 0..0 message: wanted a CBOR value, got nothing
    18                   incomplete ends-early 1..1 argument: wanted 1 bytes, got 0 left in the body
    1901                 incomplete ends-early 1..2 argument: wanted 2 bytes, got 1 left in the body
    61                   incomplete ends-early 1..1 text string: wanted 1 bytes, got 0 left in the body
    6261                 incomplete ends-early 1..2 text string: wanted 2 bytes, got 1 left in the body
    82                   incomplete ends-early 1..1 value: wanted 1 bytes, got 0 left in the body
    8201                 incomplete ends-early 2..2 value: wanted 1 bytes, got 0 left in the body
    a1                   incomplete ends-early 1..1 value: wanted 1 bytes, got 0 left in the body
    a101                 incomplete ends-early 2..2 value: wanted 1 bytes, got 0 left in the body
    c1                   incomplete ends-early 1..1 value: wanted 1 bytes, got 0 left in the body
    9f                   incomplete ends-early 1..1 value: wanted 1 bytes, got 0 left in the body
    9f01                 incomplete ends-early 2..2 value: wanted 1 bytes, got 0 left in the body
    7f                   incomplete ends-early 1..1 value: wanted 1 bytes, got 0 left in the body
    7f6161               incomplete ends-early 3..3 value: wanted 1 bytes, got 0 left in the body
    bf01                 incomplete ends-early 2..2 value: wanted 1 bytes, got 0 left in the body
    1c                   malformed  bad-cbor 0..1 initial byte: wanted additional information of 0 to 27 (or 31 for strings, arrays and maps), got 0x1c
    1d                   malformed  bad-cbor 0..1 initial byte: wanted additional information of 0 to 27 (or 31 for strings, arrays and maps), got 0x1d
    1e                   malformed  bad-cbor 0..1 initial byte: wanted additional information of 0 to 27 (or 31 for strings, arrays and maps), got 0x1e
    1f                   malformed  bad-cbor 0..1 initial byte: wanted additional information of 0 to 27 (or 31 for strings, arrays and maps), got 0x1f
    3f                   malformed  bad-cbor 0..1 initial byte: wanted additional information of 0 to 27 (or 31 for strings, arrays and maps), got 0x3f '?'
    df                   malformed  bad-cbor 0..1 initial byte: wanted additional information of 0 to 27 (or 31 for strings, arrays and maps), got 0xdf
    fc                   malformed  bad-cbor 0..1 initial byte: wanted additional information of 0 to 27 (or 31 for strings, arrays and maps), got 0xfc
    ff                   malformed  bad-cbor 0..1 initial byte: wanted a value, got 0xff
    81ff                 malformed  bad-cbor 1..2 initial byte: wanted a value, got 0xff
    bf01ff               malformed  bad-cbor 2..3 map: wanted a value for the last key, got 0xff
    a1ff                 malformed  bad-cbor 1..2 initial byte: wanted a value, got 0xff
    7f4161ff             malformed  bad-cbor 1..2 chunk: wanted a text string with a length, got 0x41 'A'
    7f7f6161ffff         malformed  bad-cbor 1..2 chunk: wanted a text string with a length, got 0x7f
    5f01ff               malformed  bad-cbor 1..2 chunk: wanted a byte string with a length, got 0x01
    f800                 malformed  bad-cbor 1..2 simple value: wanted 32 to 255 in the second byte, got 0x00
    f81f                 malformed  bad-cbor 1..2 simple value: wanted 32 to 255 in the second byte, got 0x1f
    0000                 1          trailing-bytes 1..2 message: wanted the end, got 1 more bytes
    00ff                 1          trailing-bytes 1..2 message: wanted the end, got 1 more bytes
    8181818181           malformed  too-deep 4..5 message: wanted at most 4 levels of nesting, got level 5
    c1c1c1c1c1c100       malformed  too-deep 4..5 message: wanted at most 4 levels of nesting, got level 5
    5bffffffffffffffff00 incomplete ends-early 9..10 byte string: wanted 18446744073709551615 bytes, got 1 left in the body
    9bffffffffffffffff00 incomplete ends-early 10..10 value: wanted 1 bytes, got 0 left in the body
    bbffffffffffffffff00 incomplete ends-early 10..10 value: wanted 1 bytes, got 0 left in the body
    ");
}

#[test]
fn invalid_json_is_refused() {
    let table: Vec<String> = [
        "18446744073709551616",
        "-18446744073709551617",
        "1e999",
        r#"{"$tag":5}"#,
        r#"{"$tag":[-1,0]}"#,
        r#"{"$tag":[1.0,0]}"#,
        r#"[{"$tag":[1,{"$bin":"0"}]}]"#,
        r#"{"$simple":24}"#,
        r#"{"$simple":256}"#,
        r#"{"$str":["a",{"$bin":"00"}]}"#,
        r#"{"$bin":[{"$bin":["00"]}]}"#,
        r#"{"$as":["_",1]}"#,
        r#"{"$as":["_",{"$str":["a"]}]}"#,
        r#"{"$as":["_0",256]}"#,
        r#"{"$as":["_1",1.1]}"#,
        r#"{"$as":["_2",1.1]}"#,
        r#"{"$as":["_0",1.5]}"#,
        r#"{"$as":["_0",true]}"#,
        r#"{"$as":["u8",1]}"#,
        r#"{"$as":["_0",{"$as":["_0",1]}]}"#,
        r#"{"$ext":[1,"00"]}"#,
        r#"{"$bool":2}"#,
        r#"{"a":{"$x":1}}"#,
        r#"{"a":"\ud800"}"#,
    ]
    .iter()
    .map(|text| format!("{text:40} {}", written(text).unwrap_err()))
    .collect();
    insta::assert_snapshot!(table.join("\n"), @r#"
    18446744073709551616                     message: wanted an integer of -2^64 to 2^64-1, or {"$tag":[2,{"$bin":"hex"}]}, got 18446744073709551616
    -18446744073709551617                    message: wanted an integer of -2^64 to 2^64-1, or {"$tag":[2,{"$bin":"hex"}]}, got -18446744073709551617
    1e999                                    message: wanted a number that a float can hold, or {"$float":"hex bits"}, got 1e999
    {"$tag":5}                               $tag: wanted [number,value], got 5
    {"$tag":[-1,0]}                          $tag[0]: wanted a tag of 0 to 2^64-1, got -1
    {"$tag":[1.0,0]}                         $tag[0]: wanted a tag of 0 to 2^64-1, got 1.0
    [{"$tag":[1,{"$bin":"0"}]}]              [0].$tag[1].$bin: wanted a string of hex digits, two for each byte, got "0"
    {"$simple":24}                           $simple: wanted a simple value of 0 to 23 or 32 to 255, got 24
    {"$simple":256}                          $simple: wanted an integer of 0 to 255, got 256
    {"$str":["a",{"$bin":"00"}]}             $str[1]: wanted text, got {"$bin":"00"}
    {"$bin":[{"$bin":["00"]}]}               $bin[0].$bin[0]: wanted bytes, got "00"
    {"$as":["_",1]}                          $as[1]: wanted an array or a map, as `_` asks for ({"$str":[…]} and {"$bin":[…]} are strings in chunks), got another value
    {"$as":["_",{"$str":["a"]}]}             $as[1]: wanted a value other than chunks, whose form is clear, got $str
    {"$as":["_0",256]}                       $as[1]: wanted an argument of at most 8 bits, as `$as` asks for, got 256
    {"$as":["_1",1.1]}                       $as[1]: wanted a number that a float of 16 bits holds, as `_1` asks for, got 1.1
    {"$as":["_2",1.1]}                       $as[1]: wanted a number that a float of 32 bits holds, as `_2` asks for, got 1.1
    {"$as":["_0",1.5]}                       $as[1]: wanted `_1`, `_2` or `_3` for a float, got 1.5
    {"$as":["_0",true]}                      $as[1]: wanted a value with more than one form, as `$as` asks for, got true
    {"$as":["u8",1]}                         $as[0]: wanted one of _ _0 _1 _2 _3, got "u8"
    {"$as":["_0",{"$as":["_0",1]}]}          $as[1].$as[0]: wanted one of _ _0 _1 _2 _3, got "_0"
    {"$ext":[1,"00"]}                        message: wanted {"$tag":[number,value]}: CBOR has no extension values, got $ext
    {"$bool":2}                              message: wanted true or false: CBOR has no other bools, got $bool
    {"a":{"$x":1}}                           a: wanted a key without `$` in front, or one form alone ({"$map":[[key,value]]} holds any key), got the key "$x"
    {"a":"\ud800"}                           a: wanted text, or {"$str":"hex"} for bytes that are not text, got half of a surrogate pair
    "#);
}

#[test]
fn depth_is_bounded() {
    for (open, close) in [
        ("81", "00"),
        ("9f", "00"),
        ("a100", "00"),
        ("bf00", "00"),
        ("c1", "00"),
    ] {
        let value = |levels: usize| hex::decode(format!("{}{close}", open.repeat(levels))).unwrap();
        let code = |levels: usize| {
            let bytes = value(levels);
            let parsed = parse(&bytes, Span::new(0, bytes.len()), 128, &mut Tape::new());
            parsed.err().map(|error| error.code)
        };
        assert_ne!(code(128), Some("too-deep"), "{open}");
        assert_eq!(code(129), Some("too-deep"), "{open}");
        assert_eq!(code(1_000_000), Some("too-deep"), "{open}");
    }
}

/// Long messages are written while they are parsed again.
#[test]
fn long_messages_are_written_in_pieces() {
    let mut bytes = hex::decode("82a101c1617a").unwrap();
    bytes.push(0x5a);
    bytes.extend_from_slice(&(2_u32 << 20).to_be_bytes());
    bytes.resize(bytes.len() + (2 << 20), 7);
    let text = shown(&bytes, Want::Text);
    let want = format!(
        r#"[{{"$map":[[1,{{"$tag":[1,"z"]}}]]}},{{"$bin":"{}"}}]"#,
        "07".repeat(2 << 20)
    );
    assert!(text == want, "{} bytes", text.len());
}

#[test]
fn tape_and_text_have_the_same_names_after_other_encodings() {
    let mut parsed = Parsed::new(Want::Text, 9);
    let tag = hex::decode("c16161").unwrap();
    for _ in 0..2 {
        parsed.cbor(&tag, Span::new(0, 3)).unwrap();
        let mut text = Vec::new();
        parsed.write_message(&tag, &mut text);
        assert_eq!(text, br#"{"$tag":[1,"a"]}"#);
        parsed.msgpack(b"\x81\xa1a\x01", Span::new(0, 4)).unwrap();
    }
    let mut tape = Tape::new();
    parse(&tag, Span::new(0, 3), 9, &mut tape).unwrap();
    let mut exact = Vec::new();
    lossless::write_exact(tape.root(&tag).unwrap(), Encoding::Cbor, &mut exact);
    assert_eq!(exact, br#"{"$tag":[1,"a"]}"#);
}
