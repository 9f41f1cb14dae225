//! Inputs that once broke a law, by their bytes.

use crate::common::{Setup, assert_same, check_all, cut, json_of};
use wiretool::framing::Framing;

/// All laws, with every cut of the stream.
fn check_laws(setup: Setup, bytes: &[u8]) -> String {
    let shown = check_all(&setup, bytes);
    let whole = json_of(&setup, [bytes]);
    for at in 0..=bytes.len() {
        let split = json_of(&setup, cut(bytes, &[at]));
        assert_same(&whole, &split, || format!("{setup:?} cut at {at}"));
    }
    let split = json_of(&setup, bytes.chunks(1));
    assert_same(&whole, &split, || format!("{setup:?} in single bytes"));
    shown
}

#[test]
fn truncated_id_is_no_id() {
    for (protocol, bytes) in [
        ("oracle", &br#"{"jsonrpc":"2.0","id":["#[..]),
        ("oracle", br#"{"jsonrpc":"2.0","id":[2,"result":["0x3"]}"#),
        ("stepflow", br#"{"jsonrpc":"2.0","id":{"0b54","method":"#),
        (
            "oracle",
            b"{\"jsonrpc\":\"2.0\",\"id\":{\"id\":0,\"method\xe9!\":1}",
        ),
    ] {
        let shown = check_laws(Setup::framed(protocol, Framing::Lines), bytes);
        assert!(!shown.contains("\"protocol\":\"oracle\",\"id\""), "{shown}");
    }
    let whole = br#"{"jsonrpc":"2.0","id":[1, {"a":2}],"result":[]}"#;
    let shown = check_laws(Setup::framed("oracle", Framing::Lines), whole);
    assert!(shown.contains(r#""id":[1, {"a":2}]"#), "{shown}");
}

#[test]
fn cut_message_includes_control_frames_inside() {
    // A fragment, a ping, and the first byte of the next frame.
    let shown = check_laws(
        Setup::framed("sael", Framing::WebSocket),
        b"\x01\x02{}\x89\x00\x80",
    );
    assert!(shown.contains(r#""offset":0,"len":7"#), "{shown}");
}

#[test]
fn impossible_framing_is_reported() {
    for framing in [Framing::Method, Framing::Bare] {
        let shown = check_laws(Setup::framed("saikuro", framing), b"\0\0\0\x01\x80");
        assert!(shown.contains("bad-length"), "{shown}");
    }
}

#[test]
fn following_bytes_do_not_change_value() {
    let bytes = b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"} \n \xff\"jsonrpc\"\n";
    check_laws(Setup::framed("oracle", Framing::Values), bytes);
}

#[test]
fn values_over_limit_keep_laws() {
    for framing in [Framing::Values, Framing::Header, Framing::Message] {
        let bytes = b"\x01HEY{\"agent\":{\"id\":\"a\"}}\n\x01BYE{}\n{\"kind\":\"BYE\"}\n";
        for limit in 1..50 {
            check_laws(Setup::framed("sael", framing).limited(limit), bytes);
        }
    }
}
