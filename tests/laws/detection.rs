//! A stream of a real peer reads the same without a named protocol as with it.

use crate::common::Setup;
use crate::seeds::captured;
use std::collections::BTreeSet;
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::protocol::Direction;
use wiretool::protocol::described::embedded;

/// What a stream reads as.
struct Reading {
    framings: BTreeSet<String>,
    messages: usize,
    faults: usize,
}

fn read(setup: &Setup, bytes: &[u8]) -> Reading {
    let mut reading = Reading {
        framings: BTreeSet::new(),
        messages: 0,
        faults: 0,
    };
    let mut decoder = Decoder::new(setup.options(Want::Head));
    let mut sink = |decoded: &Decoded<'_>| {
        reading
            .framings
            .insert(decoded.frame.framing.name().to_owned());
        reading.messages += 1;
        reading.faults += usize::from(decoded.is_faulty());
    };
    decoder.push(Origin::default(), bytes, &mut sink);
    decoder.finish(&mut sink);
    reading
}

/// One direction alone may fit several protocols or none. But its framing is that of its protocol, and nothing is a
/// fault that its protocol reads.
#[test]
fn detection_finds_the_framing_of_the_protocol() {
    let streams = captured(usize::MAX);
    let mut compared = 0;
    for stream in &streams {
        let found = read(&Setup::default(), &stream.bytes);
        let named = read(&Setup::of(stream.protocol), &stream.bytes);
        if found.messages == 0 {
            continue;
        }
        compared += 1;
        let name = &stream.name;
        assert!(found.faults <= named.faults, "{name}: more faults");
        // A file can hold JSON in any layout, where the peers of the protocol write lines.
        if !found.framings.contains("values") {
            assert_eq!(found.framings, named.framings, "{name}");
            assert_eq!(found.messages, named.messages, "{name}");
        }
    }
    assert!(streams.is_empty() || compared > 800, "{compared} streams");
}

#[test]
fn another_protocol_is_named_once() {
    let body = r#"{"type":"request","seq":1,"command":"next","arguments":{"threadId":1}}"#;
    let message = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    for count in [1, 3, 3000] {
        let mut decoder = Decoder::new(Setup::default().options(Want::Head));
        let bytes = message.repeat(count);
        let mut sink = |_: &Decoded<'_>| panic!("no protocol reads it");
        decoder.push(Origin::default(), bytes.as_bytes(), &mut sink);
        decoder.finish(&mut sink);
        let what = "a message of the Debug Adapter Protocol";
        assert_eq!(decoder.resembles(), Some(what), "{count} messages");
    }
}

/// The first message alone decides between protocols whose handshakes have one name.
#[test]
fn first_messages_name_their_protocol() {
    for (params, expected) in [
        (
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c"}}"#,
            "mcp",
        ),
        (r#"{"protocolVersion":1,"clientCapabilities":{}}"#, "acp"),
        // A version of the wrong kind.
        (r#"{"protocolVersion":"1","clientCapabilities":{}}"#, "acp"),
        (r#"{"processId":1,"rootUri":null,"capabilities":{}}"#, "lsp"),
    ] {
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{params}}}\n"
        );
        let mut found = String::new();
        let mut decoder = Decoder::new(Setup::default().options(Want::Head));
        let mut sink = |decoded: &Decoded<'_>| decoded.protocol.name().clone_into(&mut found);
        decoder.push(Origin::default(), line.as_bytes(), &mut sink);
        decoder.finish(&mut sink);
        assert_eq!(found, expected, "{params}");
    }
}

/// The first answer of a server alone decides, too.
#[test]
fn first_answers_name_their_protocol() {
    for (result, expected) in [
        (r#"{"capabilities":{"hoverProvider":true}}"#, "lsp"),
        (
            r#"{"capabilities":{"textDocumentSync":2},"serverInfo":{"name":"s"}}"#,
            "lsp",
        ),
        (r#"{"capabilities":{"hover":true}}"#, "jsonrpc"),
    ] {
        let body = format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{result}}}");
        let message = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let mut found = String::new();
        let mut decoder = Decoder::new(Setup::default().options(Want::Head));
        let mut sink = |decoded: &Decoded<'_>| decoded.protocol.name().clone_into(&mut found);
        decoder.push(Origin::default(), message.as_bytes(), &mut sink);
        decoder.finish(&mut sink);
        assert_eq!(found, expected, "{result}");
    }
}

/// Messages without a version are those of JSON-RPC if there are several, and no other protocol has them.
#[test]
fn messages_without_a_version_are_detected_together() {
    let ask = r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"c"}}}"#;
    let start = r#"{"id":"b","method":"thread/start"}"#;
    let tell = r#"{"method":"initialized","params":{}}"#;
    let answer = r#"{"id":1,"result":{"userAgent":"a"}}"#;
    let error = r#"{"id":1,"error":{"code":-32600,"message":"no"}}"#;
    let page = r#"{"id":1,"method":"Page.enable","params":{}}"#;
    let record = r#"{"id":1,"method":"GET","params":{},"status":200}"#;
    for (lines, expected) in [
        (vec![ask, start], "jsonrpc"),
        (vec![ask, answer], "jsonrpc"),
        (vec![error, ask], "jsonrpc"),
        (vec![ask, tell, start, start, start, tell], "jsonrpc"),
        (vec![ask], ""),
        (vec![answer, answer, error], ""),
        (vec![tell, tell, tell, tell], ""),
        (vec![record, record, record], ""),
        (vec![record, record, record, ask, answer], ""),
        (vec![page, answer], "cdp"),
        (vec![answer, page, page, page], "cdp"),
        (
            vec![
                r#"{"id":3,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#,
                ask,
                start,
            ],
            "acp",
        ),
    ] {
        let mut found = String::new();
        let mut options = Setup::default().options(Want::Head);
        options.protocols.extend(embedded());
        let mut decoder = Decoder::new(options);
        let mut sink = |decoded: &Decoded<'_>| decoded.protocol.name().clone_into(&mut found);
        let text = lines.join("\n") + "\n";
        decoder.push(Origin::default(), text.as_bytes(), &mut sink);
        decoder.finish(&mut sink);
        assert_eq!(found, expected, "{lines:?}");
    }
}

/// A request on one side and an answer on the other are several messages, too.
#[test]
fn messages_without_a_version_are_detected_on_both_sides() {
    let ask = r#"{"id":1,"method":"initialize","params":{}}"#;
    let answer = r#"{"id":1,"result":{}}"#;
    for (to_server, to_client, expected) in [
        (ask, answer, 2),
        (ask, ask, 2),
        (answer, answer, 0),
        (ask, r#"{"level":"info"}"#, 0),
    ] {
        for conn in [None, Some(1)] {
            let mut count = 0;
            let mut decoder = Decoder::new(Setup::default().options(Want::Head));
            let mut sink = |decoded: &Decoded<'_>| {
                assert_eq!(decoded.protocol.name(), "jsonrpc");
                count += 1;
            };
            for (direction, line) in [
                (Direction::ToServer, to_server),
                (Direction::ToClient, to_client),
            ] {
                let mut origin = Origin::default();
                (origin.conn, origin.direction) = (conn, Some(direction));
                decoder.push(origin, format!("{line}\n").as_bytes(), &mut sink);
            }
            decoder.finish(&mut sink);
            assert_eq!(count, expected, "{to_server} {to_client} {conn:?}");
        }
    }
}

/// The end of a capture decides about a connection as a whole: a first message that cannot be read comes before its answer.
#[test]
fn a_bad_first_message_of_a_later_connection_keeps_its_place() {
    let messages = [
        (
            1,
            Direction::ToServer,
            r#"{"jsonrpc":"2.0","id":6,"method":"echo"}"#,
        ),
        (
            1,
            Direction::ToClient,
            r#"{"jsonrpc":"2.0","id":6,"result":0}"#,
        ),
        (2, Direction::ToServer, r#"{"jsonrpc":"#),
        (
            2,
            Direction::ToClient,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse Error"}}"#,
        ),
    ];
    let mut found = Vec::new();
    let mut decoder = Decoder::new(Setup::default().options(Want::Head));
    let mut sink =
        |decoded: &Decoded<'_>| found.push((decoded.origin.conn, decoded.origin.direction));
    for (conn, direction, line) in messages {
        let origin = Origin {
            conn: Some(conn),
            direction: Some(direction),
            ..Origin::default()
        };
        decoder.push(origin, format!("{line}\n").as_bytes(), &mut sink);
    }
    decoder.finish(&mut sink);
    let expected = messages.map(|(conn, direction, _)| (Some(conn), Some(direction)));
    assert_eq!(found, expected);
}

/// If the protocol is named, methods that it does not know are no reason to hold one direction of a log back.
#[test]
fn unknown_methods_keep_the_order_of_a_named_protocol() {
    let messages = [
        (
            Direction::ToServer,
            r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
        ),
        (
            Direction::ToClient,
            r#"{"jsonrpc":"2.0","id":1,"result":1}"#,
        ),
        (
            Direction::ToServer,
            r#"{"jsonrpc":"2.0","id":2,"method":"b"}"#,
        ),
    ];
    for protocol in ["mcp", "acp", "jsonrpc", "stepflow", "oracle"] {
        let mut found = Vec::new();
        let mut decoder = Decoder::new(Setup::of(protocol).options(Want::Head));
        let mut sink = |decoded: &Decoded<'_>| found.push(decoded.origin.direction);
        for (direction, line) in messages {
            let origin = Origin {
                direction: Some(direction),
                ..Origin::default()
            };
            decoder.push(origin, format!("{line}\n").as_bytes(), &mut sink);
        }
        decoder.finish(&mut sink);
        let expected = messages.map(|(direction, _)| Some(direction));
        assert_eq!(found, expected, "{protocol}");
    }
}

/// Each of many connections whose first message never ends is decided in constant time.
#[test]
fn many_connections_wait_for_the_end_of_their_first_message() {
    let mut decoder = Decoder::new(Setup::of("mcp").options(Want::Head));
    let (mut messages, request) = (0, b"POST / HTTP/1.1\r\nContent-Length: 44\r\n\r\n{");
    let mut sink = |_: &Decoded<'_>| messages += 1;
    for conn in 0..20_000 {
        let origin = Origin {
            conn: Some(conn),
            direction: Some(Direction::ToServer),
            ..Origin::default()
        };
        decoder.push(origin, request, &mut sink);
    }
    decoder.finish(&mut sink);
    assert_eq!(messages, 20_000);
}
