//! Inputs that once broke a law, by their bytes.

use crate::common::{Setup, assert_same, check_all, cut, json_of};
use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::Want;
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

#[test]
fn length_without_digits_has_a_fault_with_words() {
    for protocol in ["lsp", "jsonrpc"] {
        let setup = Setup::framed(protocol, Framing::ContentLength);
        let shown = check_laws(setup, b"Content-Length:\n\n{}");
        assert!(shown.contains("\"got\":\"nothing\""), "{shown}");
    }
}

/// Bytes that were not recorded were part of the body of a response with events.
#[test]
fn gaps_in_events_of_known_length_end_no_later() {
    let event = |id: u32| format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":1}}\n\n");
    let len = 3 * event(1).len() + 20;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len}\r\n\r\n"
    );
    let mut decoder = Decoder::new(Setup::of("jsonrpc").options(Want::Text));
    let mut ids = Vec::new();
    let mut sink = |decoded: &Decoded<'_>| {
        assert!(!decoded.is_faulty() || decoded.frame.control == Some("gap"));
        ids.push(decoded.message.id.text().into_owned());
    };
    let origin = Origin::default();
    decoder.push(origin, (head.clone() + &event(1)).as_bytes(), &mut sink);
    decoder.gap(origin, 20, &mut sink);
    let rest = event(2) + &event(3) + &head + &event(4);
    decoder.push(origin, rest.as_bytes(), &mut sink);
    decoder.finish(&mut sink);
    ids.retain(|id| !id.is_empty());
    assert_eq!(ids, ["1", "2", "3", "4"]);
}

/// The first line says whether it is text, so that the pieces of an input do not matter.
#[test]
fn detection_of_text_does_not_depend_on_pieces() {
    for text in [
        &b"0000000\n000000000000] Received response '00000\0'"[..],
        b"started\n\xff\xfe {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}\n",
        b"a\0b\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}\n",
    ] {
        let read = |at: usize| {
            let mut bytes = Vec::new();
            let mut input = CaptureInput::new(Form::Auto);
            let mut take = |item: Item<'_>| {
                if let Item::Chunk(chunk) = item {
                    bytes.extend_from_slice(chunk.bytes);
                }
            };
            input.push(&text[..at], &mut take);
            input.push(&text[at..], &mut take);
            input.finish(&mut take);
            (input.form(), bytes)
        };
        let whole = read(text.len());
        for at in 0..text.len() {
            assert_eq!(read(at), whole, "{} cut at {at}", text.escape_ascii());
        }
    }
}

/// A capture may state any number of missing bytes.
#[test]
fn missing_bytes_are_any_number() {
    let trace =
        b"write(0)=4\nrecvfrom(0\"\")=9223372036854775807\nrecvfrom(0)=9223372036854775807\n";
    let mut input = CaptureInput::new(Form::Strace);
    let mut lost = 0;
    let mut take = |item: Item<'_>| {
        if let Item::Event(event) = item {
            lost += usize::from(event.lost().is_some());
        }
    };
    input.push(trace, &mut take);
    input.finish(&mut take);
    assert!(lost >= 2, "{lost}");
    let mut decoder = Decoder::new(Setup::of("saikuro").options(Want::Text));
    let mut ends = Vec::new();
    let mut sink = |decoded: &Decoded<'_>| {
        let end = decoded.frame.offset.checked_add(decoded.frame.len);
        ends.push(end.expect("an offset"));
    };
    for _ in 0..3 {
        decoder.push(Origin::default(), b"\0\0\0\x01\x80", &mut sink);
        decoder.gap(Origin::default(), u64::MAX, &mut sink);
    }
    decoder.finish(&mut sink);
    assert!(ends.is_sorted() && ends.len() >= 4, "{ends:?}");
}

#[test]
fn times_of_har_are_any_number() {
    let text = br#"{"log":{"entries":[{"startedDateTime":"2026-01-01T00:00:00Z","request":{"method":"GET","url":"ws://h/","headers":[]},"response":{"status":101,"headers":[]},"_webSocketMessages":[{"type":"receive","time":170200000000000000000000000000000,"opcode":1,"data":"a"}]}]}}"#;
    let mut input = CaptureInput::new(Form::Har);
    let mut chunks = 0;
    let mut sink = |item: Item<'_>| chunks += usize::from(matches!(item, Item::Chunk(_)));
    input.push(text, &mut sink);
    input.finish(&mut sink);
    assert!(chunks > 0);
}
