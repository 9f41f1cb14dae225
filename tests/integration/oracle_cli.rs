//! The `wiretool oracle` commands, also with data of real programs.
//!
//! `WIRETOOL_CAPTURES` names a folder of captures of real programs; without it, the tests that need them are skipped.

use crate::common::{self, Ran};
use serde_json::Value as Json;
use std::path::PathBuf;
use wiretool::encoding::json;
use wiretool::protocol::oracle::cairo_serde::{CairoDialect, CairoType, decode, encode};
use wiretool::protocol::oracle::connection::{ConnectionError, split};
use wiretool::protocol::oracle::felt::Felt;
use wiretool::span::Span;
use wiretool::tape::Tape;

fn run(args: &[&str], input: &str) -> Ran {
    common::run(common::wiretool().args(args), input)
}

fn felt(args: &[&str], input: &str) -> Ran {
    run(&[&["oracle", "felt"], args].concat(), input)
}

#[test]
fn felt_is_accepted_in_every_spelling() {
    let shown = "0x2710  10000\n\
        0x800000000000010ffffffffffffffffffffffffffffffffffffffffffffffff  \
        3618502788666131213697322783095070105623107215331596699973092056135872020479  -2\n\
        0x68656c6c6f  448378203247  'hello'\n";
    for (args, input) in [
        (&["0x2710", "-2", "'hello'"][..], ""),
        (&["[\"0x2710\", -2, \"0x0x68656C6C6F\"]"], ""),
        (&[], "10000\n\n  -2\n'hello'\n"),
        (&[], "\"0x2710\",\r\n\"-2\",\n\"'hello'\""),
        (&[], "[\"0x2710\",\n\"-2\",\n\"'hello'\"]\n"),
    ] {
        let want = (0, shown.to_owned(), String::new());
        assert_eq!(felt(args, input), want, "{args:?} {input:?}");
    }
    let (code, out, _) = felt(&["-f", "json", "0x6869", "-1"], "");
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "{\"hex\":\"0x6869\",\"decimal\":26729,\"signed\":26729,\"short_string\":\"hi\"}\n\
        {\"hex\":\"0x800000000000011000000000000000000000000000000000000000000000000\",\
        \"decimal\":3618502788666131213697322783095070105623107215331596699973092056135872020480,\"signed\":-1}\n"
    );
}

#[test]
fn invalid_felt_is_reported_and_others_are_shown() {
    let prime = "0x800000000000011000000000000000000000000000000000000000000000005";
    let (code, out, err) = felt(&["0x1", "0X1", "hello", prime, "\u{1b}[31m"], "");
    assert_eq!((code, out.as_str()), (1, "0x1  1\n"));
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines.len(), 4, "{err}");
    assert!(lines[0].starts_with("wiretool: not a felt: 0X1: wanted 0x and hex digits"));
    assert!(
        lines[2].ends_with(
            "not below P; older peers reduce it modulo P, to 0x4, newer peers refuse it"
        )
    );
    assert!(!err.contains('\u{1b}'));
}

#[test]
fn values_are_decoded_by_type() {
    let nested = "(u256, ByteArray, Array<Option<felt252>>)";
    let value = "[340282366920938463463374607431768211458,\"hi\",[{\"Some\":\"0x7\"},\"None\"]]\n";
    let array = "[\"0x2\",\"0x1\",\"0x0\",\"0x6869\",\"0x2\",\"0x2\",\"0x0\",\"0x7\",\"0x1\"]\n";
    let encoded = felt(&["encode", "--type", nested, value], "");
    assert_eq!(encoded, (0, array.into(), String::new()));
    assert_eq!(felt(&["encode", "-t", nested], value), encoded);
    let decoded = felt(&["decode", "--type", nested], array);
    assert_eq!(decoded, (0, value.into(), String::new()));
    let (code, out, _) = felt(&["encode", "--type", "i8", "-5"], "");
    assert_eq!((code, out.len()), (0, 70));

    let sdk = ["decode", "--sdk", "--type", "[u8; 2]", "2", "7", "8"];
    assert_eq!(felt(&sdk, "").1, "[7,8]\n");
    let (code, out, err) = felt(&["decode", "--type", "[u8; 2]", "2", "7", "8"], "");
    assert_eq!((code, out.as_str()), (1, "[2,7]\n"));
    assert!(err.contains("1 felt left over, from felt 2 on"), "{err}");
}

#[test]
fn negative_answer_exits_1_and_usage_2() {
    for (args, code, outgoing) in [
        (
            &["decode", "--type", "u8", "256"][..],
            1,
            "felt 0: u8: wanted 0 to 255, got 0x100 (256)",
        ),
        (&["decode", "--type", "u8", "x"], 1, "not a felt: x"),
        (
            &["decode", "--type", "Array<u8>", "-1"],
            1,
            "wanted a length",
        ),
        (
            &["encode", "--type", "u8", "256"],
            1,
            "u8: wanted 0 to 255, got 256",
        ),
        (&["encode", "--type", "u8", "{"], 1, "the value is not JSON"),
        (&["encode", "--type", "u8", ""], 1, "the value is not JSON"),
        (
            &["decode", "--type", "u9", "1"],
            2,
            "at byte 0: wanted a type",
        ),
        (&["decode", "1"], 2, "--type"),
        (&["--frmat", "json"], 2, "--format"),
    ] {
        let (got, out, err) = felt(args, "");
        assert_eq!((got, out.as_str()), (code, ""), "{args:?}: {err}");
        assert!(err.contains(outgoing), "{args:?}: {err}");
    }
    for args in [
        &["oracle", "--help"][..],
        &["oracle", "felt", "--help"],
        &["oracle", "felt", "decode", "--help"],
        &["oracle", "felt", "encode", "--help"],
        &["oracle", "split", "--help"],
    ] {
        let (code, out, err) = run(args, "");
        assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
        let place = |text| out.find(text).unwrap_or_else(|| panic!("{args:?}: {out}"));
        assert!(place("Examples:") < place("Usage:") && place("Usage:") < place("Exit codes:"));
    }
}

#[test]
fn connection_strings_are_split() {
    let (code, out, err) = run(&["oracle", "split", "stdio:a 'b\u{9}c' $X # d"], "");
    assert_eq!(
        (code, err.as_str()),
        (
            0,
            "wiretool: byte 14: $ means itself, no shell reads the command\n\
             wiretool: byte 17: # starts a comment; the rest of the line is ignored\n"
        )
    );
    assert_eq!(out, "\"a\"\n\"b\\tc\"\n\"$X\"\n");
    for (text, outgoing) in [
        (
            "stdi:a",
            "wiretool: unsupported connection scheme: \"stdi:a\"\nwiretool: note: supported schemes are: \"stdio\"\n",
        ),
        (
            "stdio:a 'b",
            "wiretool: failed to parse oracle command\nwiretool: Caused by:\nwiretool:     missing closing quote\n",
        ),
        ("stdio: ", "wiretool: empty oracle command\n"),
    ] {
        let want = (1, String::new(), outgoing.to_owned());
        assert_eq!(run(&["oracle", "split", text], ""), want);
    }
}

const INVOKE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"pow","calldata":["0x0","0x1","0x1","0x2"]}}"#;

#[test]
fn signatures_show_arguments() {
    let remark = |signature: &str, format: &str, outgoing: &str| {
        let (code, out, err) = run(&["decode", "-f", format, "--signature", signature], INVOKE);
        assert_eq!((code, err.as_str()), (0, ""), "{signature}");
        assert!(
            out.contains(outgoing),
            "{signature} should say {outgoing}:\n{out}"
        );
    };
    let big = "= x: 340282366920938463463374607431768211456 (u256)";
    for format in ["tree", "hex"] {
        remark("pow(x: u256, Array<u8>) -> u256", format, big);
    }
    remark(
        "pow(x: u256, Array<u8>)",
        "tree",
        "\"0x1\"  = [2] (Array<u8>)",
    );
    remark(
        "pow(u256)",
        "tree",
        "\"0x1\"  = surplus: pow has only 2 felts",
    );
    remark(
        "pow(u256, u256, y: u8)",
        "tree",
        "[4]  = y: not u8: felt 4: u8: wanted a felt, got the end of them",
    );
    remark(
        "pow(x: NonZero<u8>)",
        "tree",
        "\"0x0\"  = x: not NonZero<u8>: felt 0: NonZero<u8>: wanted anything but 0, got 0",
    );
    remark("pow(u256, Array<u8>, ())", "tree", "[4]  = [] (())");
    // The signature of another selector: the felts are shown without one.
    remark("sqrt(u256)", "tree", "\"0x2\"  = 2\n");
}

#[test]
fn signatures_show_results_if_declared() {
    let decode = |signatures: &[&str], felts: &str| {
        let mut args = vec!["decode", "-f", "tree", "--dir", "s2c"];
        for signature in signatures {
            args.extend(["--signature", signature]);
        }
        let line = format!(r#"{{"jsonrpc":"2.0","id":0,"result":[{felts}]}}"#);
        let (code, out, err) = run(&args, &line);
        assert_eq!((code, err.as_str()), (0, ""));
        out
    };
    let one = decode(&["f(u8) -> Option<u8>"], r#""0x0","0x7""#);
    assert!(one.contains("= result: {\"Some\":7} (Option<u8>)"), "{one}");
    let two = decode(&["f(u8) -> Option<u8>", "g() -> u8"], r#""0x0","0x7""#);
    assert!(!two.contains("result:") && two.contains("= 7"), "{two}");
    let sdk = decode(&["f() -> [u8; 2]"], r#""0x2","0x7","0x8""#);
    assert!(
        sdk.contains("= result in the SDK's form: [7,8] ([u8; 2])"),
        "{sdk}"
    );
    let no = decode(&["f() -> u8"], r#""0x100""#);
    assert!(
        no.contains("= result: not u8: felt 0: u8: wanted 0 to 255, got 0x100 (256)"),
        "{no}"
    );
    let bad = decode(&["f() -> u8"], r#""0X1""#);
    assert!(bad.contains("= not a felt: no 0x before it"), "{bad}");

    let (code, _, err) = run(&["decode", "--signature", "f("], "");
    assert_eq!(code, 2);
    assert!(err.contains("at byte 2: wanted a type"), "{err}");
    let (code, _, err) = run(&["decode", "-p", "sael", "--signature", "f()"], "");
    assert_eq!(code, 2);
    assert!(
        err.contains("--signature is for oracle, but the protocol is sael"),
        "{err}"
    );
}

fn capture_file(name: &str) -> Option<String> {
    let folder = PathBuf::from(std::env::var_os("WIRETOOL_CAPTURES")?);
    let path = folder.join("oracle").join(name);
    Some(std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// The value of a vector, formatted for people, as JSON.
fn value_of(ty: &str, value: &str) -> String {
    let text = |text: &str| serde_json::to_string(text).unwrap();
    match (ty, value) {
        ("felt252", number) => text(&format!("0x{number}")),
        ("ByteArray", "31 zero bytes") => text(&"\0".repeat(31)),
        ("ByteArray", bytes) => text(bytes),
        (_, "2^128-1") => u128::MAX.to_string(),
        (_, "2^127-1") => i128::MAX.to_string(),
        (_, "2^128") => "340282366920938463463374607431768211456".into(),
        (_, "low=1,high=2") => "680564733841876926926749214863536422913".into(),
        (_, "[1,2^128]") => "[1,340282366920938463463374607431768211456]".into(),
        (_, "{1,-2}") => "{\"x\":1,\"y\":-2}".into(),
        (_, "Rect(3,4)") => "{\"Rect\":[3,4]}".into(),
        (_, "None" | "Dot") => text(value),
        (_, value) => value.into(),
    }
}

#[test]
fn real_vectors_decode_to_known_values() {
    let Some(lines) = capture_file("cairo-serde-vectors.jsonl") else {
        return;
    };
    let mut shape = String::new();
    let mut agreed = 0;
    for line in lines.lines() {
        let vector: Json = serde_json::from_str(line).unwrap();
        let (ty, value) = (
            vector["type"].as_str().unwrap(),
            vector["value"].as_str().unwrap(),
        );
        let (ty, dialect) = match ty.split_once("  SDK ONLY") {
            Some((ty, _)) => (ty, CairoDialect::Sdk),
            None => (ty, CairoDialect::Cairo),
        };
        if ty.contains("enum Shape{") {
            shape = ty.to_owned();
        }
        let definition = if ty == "enum Shape" { &shape } else { ty };
        let felts: Vec<Felt> = vector["felts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| Felt::parse(f.as_str().unwrap()).unwrap())
            .collect();
        let parsed = CairoType::parse(definition).unwrap();
        let (decoded, used) = decode(&parsed, &felts, dialect).unwrap();
        assert_eq!(used, felts.len(), "{line}");
        let want = value_of(ty, value);
        let mut tape = Tape::new();
        json::parse(want.as_bytes(), Span::new(0, want.len()), 128, &mut tape).unwrap();
        let root = tape.root(want.as_bytes()).unwrap();
        assert_eq!(encode(&parsed, root, dialect).unwrap(), felts, "{line}");
        let parsed = |text| serde_json::from_str::<Json>(text).unwrap();
        assert_eq!(parsed(&decoded), parsed(&want), "{line}");
        agreed += 1;
    }
    println!(
        "{agreed} of {} Cairo Serde vectors agree",
        lines.lines().count()
    );
}

#[test]
fn connection_strings_split_like_real_executor() {
    let Some(text) = capture_file("connection-strings.json") else {
        return;
    };
    let cases: Json = serde_json::from_str(&text).unwrap();
    let mut agreed = 0;
    for case in cases["argv_vectors"].as_array().unwrap() {
        let words = split(&format!("stdio:{}", case["tail"].as_str().unwrap()));
        match words {
            Ok(words) => assert_eq!(case["argv"], Json::from(words), "{case}"),
            Err(error) => assert_eq!(case["err"], error.to_string(), "{case}"),
        }
        agreed += 1;
    }
    for case in cases["whole"].as_array().unwrap() {
        let output = case["err"].as_str().unwrap();
        match split(case["connection_string"].as_str().unwrap()) {
            Err(error) => assert_eq!(output, error.to_string(), "{case}"),
            // The result of the command is not a result of the splitting.
            Ok(_) => assert!(
                output.starts_with("failed to spawn") || output.starts_with("oracle process"),
                "{case}"
            ),
        }
        agreed += 1;
    }
    assert_eq!(split("stdio"), Err(ConnectionError::Scheme("stdio".into())));
    println!("{agreed} connection strings agree");
}
