//! Headers of fields, texts and bytes.

use super::reading::{make, try_make};
use super::{described, json_lines};
use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::encode::{EncodeOptions, Encoder};
use crate::protocol::make::IdGen;
use crate::protocol::peer::with_json;
use crate::protocol::{Direction, Protocol};

/// Writes a message, and returns its bytes and the JSON of what is read from them.
fn round(protocol: &dyn Protocol, message: &str) -> (Vec<u8>, String) {
    let mut encoder = Encoder::new(EncodeOptions::new(protocol), IdGen::new(1));
    let written = with_json(message, |message| encoder.encode(message)).expect("JSON");
    let bytes = written
        .unwrap_or_else(|error| panic!("{message}: {error}"))
        .bytes;
    let lines = json_lines(protocol, &[(Direction::ToServer, &bytes)]);
    assert_eq!(lines.len(), 1, "{message}: {lines:?}");
    (bytes, lines.join(""))
}

/// Returns the error of writing a message.
fn refused(protocol: &dyn Protocol, message: &str) -> String {
    let mut encoder = Encoder::new(EncodeOptions::new(protocol), IdGen::new(1));
    let refused = with_json(message, |message| encoder.encode(message)).expect("JSON");
    refused.expect_err(message).to_string()
}

/// A header with each kind of field, with a body in an encoding.
fn with_header(encodings: &str) -> String {
    format!(
        r#"
name = "box"
encodings = [{encodings}]
[header]
fields = [
  {{ name = "magic", magic = [0xca, 0xfe] }},
  {{ name = "n", type = "varint" }},
  {{ name = "size", type = "u16", length = "from-length", plus = 1 }},
  {{ name = "op", type = "i8", names = {{ 1 = "get", -1 = "gone" }} }},
  {{ name = "key", bytes = 2 }},
]
checksum = {{ name = "sum", checksum = "sum8", of = "body" }}
delimiter = ";"
[[message]]
when = ".header.op=get and .header.n>1"
role = "request"
id = ".header.n"
subject = ".header.op"
content = ".body"
[[message]]
when = ".header.op=gone"
role = "notification"
"#
    )
}

#[test]
fn fields_of_a_header_are_values() {
    for (encodings, body, want) in [
        ("\"json\"", r#"{"a": 1}"#, &b"{\"a\": 1}"[..]),
        ("\"msgpack\"", r#"{"a":1}"#, b"\x81\xa1a\x01"),
        ("\"cbor\"", r#"{"a":1}"#, b"\xa1\x61a\x01"),
        ("\"text\"", r#""a b""#, b"a b"),
        ("\"bytes\"", r#"{"$bin":"00ff"}"#, b"\x00\xff"),
        ("\"json\", \"text\"", r"[1]", b"[1]"),
        ("\"json\", \"text\"", r#""[a]""#, b"[a]"),
        ("\"json\", \"bytes\"", r#"{"$bin":"5b"}"#, b"["),
        ("\"json\", \"bytes\"", r#"{"a":1}"#, b"{\"a\":1}"),
    ] {
        let protocol = described(&with_header(encodings));
        let message =
            format!(r#"{{"header":{{"n":300,"op":"get","key":{{"$bin":"0102"}}}},"body":{body}}}"#);
        let (bytes, line) = round(&protocol, &message);
        let sum = want.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        let size = want.len() as u8 + 6;
        let frame = [
            b"\xca\xfe\xac\x02\x00",
            &[size, 1, 1, 2][..],
            want,
            &[sum, b';'],
        ]
        .concat();
        assert_eq!(bytes, frame, "{encodings}: {}", bytes.escape_ascii());
        let header = format!(
            r#""header":{{"n":300,"size":{size},"op":"get","key":{{"$bin":"0102"}},"sum":{sum}}}"#
        );
        let shown = format!(
            r#""framing":"fields","protocol":"box","kind":"request","role":"request","id":300,"subject":"get","message":{{{header},"body":{body}}}}}"#
        );
        assert!(line.contains(&shown), "{encodings}: {line}\n{shown}");
    }
    let protocol = described(&with_header("\"json\""));
    let (_, line) = round(&protocol, r#"{"header":{"op":-1,"n":0}}"#);
    assert!(
        line.contains(r#""op":"gone","key":{"$bin":"0000"},"sum":0}}}"#),
        "{line}"
    );
    for (message, want) in [
        (
            r#"{"header":{"op":"go"}}"#,
            "header.op: wanted a number, or a name such as get, gone, got \"go\"",
        ),
        (
            r#"{"header":{"op":300}}"#,
            "header.op: wanted an integer of -128 to 127, got 300",
        ),
        (
            r#"{"header":{"key":{"$bin":"00"}}}"#,
            "header.key: wanted 2 bytes, got 1 bytes",
        ),
        (
            r#"{"header":{"opp":1}}"#,
            "opp: wanted a field of the header, got 1",
        ),
        (r#"{"head":1}"#, "head: wanted header or body, got 1"),
        (
            r#"{"header":{"op":1}}"#,
            "message: wanted a message of box, got",
        ),
    ] {
        let refused = refused(&protocol, message);
        assert!(refused.contains(want), "{refused}");
    }
}

#[test]
fn fields_of_a_header_have_places() {
    let protocol = described(&with_header("\"json\""));
    let (bytes, _) = round(
        &protocol,
        r#"{"header":{"n":300,"op":"get"},"body":{"a":[7]}}"#,
    );
    let mut places = Vec::new();
    let mut tell = |decoded: &Decoded<'_>| {
        for path in [
            "header",
            "header.n",
            "header.op",
            "header.sum",
            "body",
            "body.a[0]",
        ] {
            let path: crate::path::Path = path.parse().unwrap();
            let node = path.find(decoded.root().unwrap()).expect("a value");
            places.push((node.span().at(), node.span().end()));
        }
    };
    let mut decoder = Decoder::new(DecodeOptions::new(vec![&protocol]));
    decoder.push(Origin::default(), &bytes, &mut tell);
    decoder.finish(&mut tell);
    assert_eq!(
        places,
        [(0, 9), (2, 4), (6, 7), (18, 19), (9, 18), (15, 16)]
    );
}

/// Lines such as those of a server for mail.
const MAIL: &str = r#"
name = "mail"
framings = ["lines"]
line-end = "\r\n"
encodings = ["text"]
text = ["{code:int}-{more...}", "{code:int} {text...}", "{verb} <{address}>", "{verb} {words...}", "{verb}"]
pair = "order"
[[message]]
when = ".more or .more=''"
role = "item"
content = ".more"
[[message]]
when = ".code"
role = "response"
content = ".text"
error = ".code>=400"
outcome = ".code"
text = ".text"
[[message]]
when = ".verb"
role = "request"
subject = ".verb"
content = ".words"
"#;

#[test]
fn templates_are_read_and_written() {
    let mail = described(MAIL);
    for (line, role, message) in [
        ("250-", "item", r#"{"code":250,"more":""}"#),
        (
            "250 OK - fine",
            "response",
            r#"{"code":250,"text":"OK - fine"}"#,
        ),
        ("550 no", "error", r#"{"code":550,"text":"no"}"#),
        ("GET <a-b>", "request", r#"{"verb":"GET","address":"a-b"}"#),
        ("GET <a b>", "request", r#"{"verb":"GET","words":"<a b>"}"#),
        ("QUIT", "request", r#"{"verb":"QUIT"}"#),
        (
            "EHLO my-host \u{e9}",
            "request",
            r#"{"verb":"EHLO","words":"my-host \u{e9}"}"#,
        ),
        ("0250 x", "request", r#"{"verb":"0250","words":"x"}"#),
        (" x", "unknown", r#"" x""#),
    ] {
        let found = json_lines(
            &mail,
            &[(Direction::ToServer, format!("{line}\r\n").as_bytes())],
        )
        .join("");
        let message = message.replace("\\u{e9}", "\u{e9}");
        assert!(
            found.contains(&format!(
                r#""kind":"{}""#,
                role.replace("error", "response")
            )),
            "{found}"
        );
        assert!(
            role == "unknown" || found.contains(&format!(r#""role":"{role}""#)),
            "{found}"
        );
        assert!(
            found.ends_with(&format!(r#""message":{message}}}"#)),
            "{found}"
        );
        if role != "unknown" {
            let (bytes, _) = round(&mail, &message);
            assert_eq!(bytes, format!("{line}\r\n").into_bytes());
        }
    }
    for (message, members) in [
        (r#"{"verb":"a b"}"#, "verb"),
        (r#"{"verb":"GET","words":"<a>"}"#, "verb, words"),
        (r#"{"verb":"GET","word":"a"}"#, "verb"),
        (r#"{"code":"x","text":"y"}"#, "code, text"),
        (r#"{"verb":["a"]}"#, "verb"),
        (r#"{"verb":"a\nb","words":""}"#, "verb, words"),
    ] {
        let refused = refused(&mail, message);
        let wanted = format!("wanted the members {members} of a form");
        assert!(refused.contains(&wanted), "{refused}");
    }
    assert!(refused(&mail, r#"{"verb":"GET","words":"a\nb"}"#).contains("wanted one line"));
    for (words, want) in [
        (&["request", "NOOP"][..], r#"{"verb":"NOOP"}"#),
        (&["error", "not here"], r#"{"code":400,"text":"not here"}"#),
    ] {
        assert_eq!(make(&mail, words), want);
    }
}

#[test]
fn json_and_texts_are_told_apart() {
    let text = "name = \"x\"\nframings = [\"lines\"]\nencodings = [\"json\", \"text\"]\ntext = [\"{verb} {what...}\"]\n[[message]]\nrole = \"notification\"\n";
    let protocol = described(text);
    for (message, want) in [
        (r#"{"verb":"a","what":"b c"}"#, "a b c\n"),
        (r#"{"verb":"a"}"#, "{\"verb\":\"a\"}\n"),
        (r#""abc""#, "abc\n"),
        ("[1]", "[1]\n"),
    ] {
        let (bytes, line) = round(&protocol, message);
        assert_eq!(bytes, want.as_bytes());
        assert!(
            line.ends_with(&format!(r#""message":{message}}}"#)),
            "{line}"
        );
    }
    let (bytes, line) = round(&protocol, r#"{"$str":"61ff"}"#);
    assert_eq!(bytes, b"a\xff\n");
    assert!(line.contains(r#""message":{"$str":"61ff"}"#), "{line}");
}

#[test]
fn regular_expressions_are_only_read() {
    let text = "name = \"log\"\nframings = [\"lines\"]\nencodings = [\"text\"]\ntext = [{ regex = '^(?<level>[A-Z]+)(?: (?<at>\\w+):)? (?<text>.*)$' }]\n[[message]]\nwhen = \".level\"\nrole = \"notification\"\nsubject = \".level\"\n";
    let log = described(text);
    for (line, message) in [
        (
            "WARN disk: full",
            r#"{"level":"WARN","at":"disk","text":"full"}"#,
        ),
        ("INFO up", r#"{"level":"INFO","text":"up"}"#),
        ("up", r#""up""#),
    ] {
        let found = json_lines(&log, &[(Direction::ToServer, line.as_bytes())]).join("");
        assert!(
            found.ends_with(&format!(r#""message":{message}}}"#)),
            "{found}"
        );
    }
    assert!(log.descriptor().is_read_only);
    let refused = refused(&log, r#"{"level":"INFO","text":"up"}"#);
    assert!(
        refused.contains("a regular expression is only read"),
        "{refused}"
    );
}

/// Words make the message that they name, or none.
#[test]
fn words_make_the_kind_that_they_name() {
    const LIST: &str = "name = \"x\"\nframings = [\"lines\"]\n[[message]]\nwhen = \".command\"\nrole = \"request\"\nid = \".id\"\nsubject = \".command[0]\"\n";
    let list = described(&format!("{LIST}content = \".command\""));
    let element = described(&format!("{LIST}content = \".command[1]\""));
    let member = described(&format!("{LIST}content = \".command\"").replace("[0]", ".name"));
    let with_header = described(&with_header("\"json\""));
    let either = described(
        "name = \"x\"\npair = \"order\"\nframings = [\"lines\"]\n[[message]]\nwhen = \".key and .value\"\nkind = \"set\"\nrole = \"request\"\nsubject = \".key\"\ncontent = \".value\"\n[[message]]\nwhen = \".key\"\nkind = \"get\"\nrole = \"request\"\nsubject = \".key\"\n",
    );
    for (protocol, words, want) in [
        (
            &list,
            &["request", "quit"][..],
            r#"{"id":1,"command":["quit"]}"#,
        ),
        (
            &list,
            &["request", "set", "pause", "true"],
            r#"{"id":1,"command":["set","pause",true]}"#,
        ),
        (
            &element,
            &["request", "quit"],
            r#"{"id":1,"command":["quit"]}"#,
        ),
        (
            &element,
            &["request", "get", "pause"],
            r#"{"id":1,"command":["get","pause"]}"#,
        ),
        (
            &member,
            &["request", "get", r#"{"of":1,"name":"x"}"#],
            r#"{"id":1,"command":{"name":"get","of":1}}"#,
        ),
        (
            &member,
            &["request", "get", "5"],
            "word 2: wanted an object, which has the subject, too, got 5",
        ),
        (&either, &["set", "a", "5"], r#"{"key":"a","value":5}"#),
        (&either, &["get", "a"], r#"{"key":"a"}"#),
        (
            &either,
            &["set", "a"],
            "message: wanted KEY [VALUE], got words that make a get",
        ),
        (
            &with_header,
            &["notification"],
            r#"{"header":{"op":"gone","n":0}}"#,
        ),
    ] {
        let got = try_make(protocol, words).unwrap_or_else(|error| error);
        assert_eq!(got, want, "{words:?}");
    }
}
