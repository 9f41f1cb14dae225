//! The bytes that the connections of the stub send themselves, and when they end.

use super::protocols::Server;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const UPGRADE: &str = "GET /sael/ws HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
                       sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const HELLO: &[u8] = br#"{"v":1,"kind":"HEY","agent":{"id":"a","kind":"agent"}}"#;
const CLOSE: &[u8] = b"\x88\x02\x03\xe8";

/// A WebSocket frame with a mask of zeros.
fn masked(opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | opcode, 0x80 | u8::try_from(body.len()).unwrap()];
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(body);
    frame
}

/// All bytes until the connection is closed.
fn read_all(mut stream: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

/// The bytes that arrive immediately, on a connection that stays open.
fn read_available(mut stream: &TcpStream) -> String {
    let mut bytes = [0; 8192];
    let read = stream.read(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}

/// A connection after the WebSocket upgrade.
fn upgrade(server: &Server) -> TcpStream {
    let mut stream = server.dial();
    stream.write_all(UPGRADE.as_bytes()).unwrap();
    let answer = read_available(&stream);
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    stream
}

#[test]
fn websocket_connection_ends_after_close_frame() {
    let server = Server::new("sael", "", &["--listen", "ws://127.0.0.1:0"]);
    // The first message in pieces: a piece is not taken for another protocol.
    let mut stream = upgrade(&server);
    for piece in masked(1, HELLO).chunks(20) {
        stream.write_all(piece).unwrap();
        std::thread::sleep(Duration::from_millis(30));
    }
    assert!(read_available(&stream).contains("\"kind\":\"HEY\""));
    stream.write_all(&masked(8, b"\x03\xe8bye")).unwrap();
    assert_eq!(read_all(&stream), CLOSE);
    // In one write: requests before the close are answered, requests after it are not.
    for (bytes, answers) in [
        ([masked(1, HELLO), masked(8, b"\x03\xe8")].concat(), 1),
        ([masked(8, b"\x03\xe8"), masked(1, HELLO)].concat(), 0),
    ] {
        let mut stream = upgrade(&server);
        stream.write_all(&bytes).unwrap();
        let got = read_all(&stream);
        let text = String::from_utf8_lossy(&got);
        assert_eq!(text.matches("\"kind\":\"HEY\"").count(), answers, "{text}");
        assert!(got.ends_with(CLOSE), "{text}");
    }
    let (_, log) = server.end();
    assert_eq!(log, "wiretool: 0 requests\n");
}

#[test]
fn request_without_upgrade_is_refused_and_closed() {
    let server = Server::new("sael", "", &["--listen", "ws://127.0.0.1:0"]);
    for request in [
        UPGRADE.replace("upgrade: websocket\r\n", ""),
        UPGRADE.replace(": 13", ": 99"),
        UPGRADE
            .replace("GET", "POST")
            .replace("host: x", "host: x\r\ncontent-length: 3")
            + "abc",
    ] {
        let mut stream = server.dial();
        stream.write_all(request.as_bytes()).unwrap();
        let answer = read_all(&stream);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 426 "), "{request}{answer}");
        assert!(answer.contains("\r\nsec-websocket-version: 13\r\n"));
    }
    let (_, log) = server.end();
    assert_eq!(log.matches(" WebSocket").count(), 3, "{log}");
}

/// A request of HTTP.
fn post(version: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST / HTTP/{version}\r\nhost: x\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n{fields}\r\n{body}"
    )
}

fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{params}}}"#)
}

const FLOW: &str = r#"
[[on]]
match = '.params.component="/ask"'
ask = { method = "blobs/get", params = { blob_id = "x" } }
result = 3
[[on]]
match = '.params.component="/other"'
result = 4
id = "other"
[[on]]
match = '.params.component="/f"'
result = 5
"#;

#[test]
fn each_request_over_http_is_answered_on_its_connection() {
    let initialize = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    let script = "[[on]]\nmatch = 'subject=f'\nresult = 5\n";
    for (protocol, requests) in [
        (
            "mcp",
            [
                ("initialize", initialize),
                ("ping", "{}"),
                ("logging/setLevel", r#"{"level":"info"}"#),
            ],
        ),
        (
            "acp",
            [
                ("initialize", r#"{"protocolVersion":1}"#),
                ("f", "{}"),
                ("_g", "{}"),
            ],
        ),
        ("jsonrpc", [("f", "[]"), ("f", "[1]"), ("g", "{}")]),
    ] {
        let server = Server::new(protocol, script, &["--listen", "http://127.0.0.1:0"]);
        for (method, params) in requests {
            let mut stream = server.dial();
            let asked = request("a", method, params);
            let fields = "connection: close\r\n";
            stream
                .write_all(post("1.1", fields, &asked).as_bytes())
                .unwrap();
            let got = read_all(&stream);
            let text = String::from_utf8_lossy(&got);
            assert!(
                text.starts_with("HTTP/1.1 200 "),
                "{protocol} {method}: {text}"
            );
            assert!(text.contains(r#""id":"a""#), "{protocol} {method}: {text}");
        }
    }
}

#[test]
fn batch_over_http_is_answered_by_an_array() {
    let script = "[[on]]\nmatch = 'subject=f'\nresult = 5\n";
    let server = Server::new("jsonrpc", script, &["--listen", "http://127.0.0.1:0"]);
    let calls = ["a", "b"].map(|id| request(id, "f", "[]")).join(",");
    for (body, status, want) in [
        (
            format!("[{calls}]"),
            "200",
            r#"[{"jsonrpc":"2.0","id":"a","result":5},{"jsonrpc":"2.0","id":"b","result":5}]"#,
        ),
        (r#"[{"jsonrpc":"2.0","method":"f"}]"#.to_owned(), "202", ""),
        ("[]".to_owned(), "400", ""),
    ] {
        let mut stream = server.dial();
        let request = post("1.1", "connection: close\r\n", &body);
        stream.write_all(request.as_bytes()).unwrap();
        let got = read_all(&stream);
        let text = String::from_utf8_lossy(&got);
        let start = format!("HTTP/1.1 {status} ");
        assert!(text.starts_with(&start) && text.ends_with(want), "{text}");
    }
}

#[test]
fn notification_over_http_is_accepted() {
    for (protocol, body) in [
        ("mcp", ""),
        ("acp", ""),
        ("jsonrpc", ""),
        ("stepflow", "\"\""),
    ] {
        let server = Server::new(protocol, "", &["--listen", "http://127.0.0.1:0"]);
        let mut stream = server.dial();
        let note = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
        let note = post("1.1", "connection: close\r\n", note);
        stream.write_all(note.as_bytes()).unwrap();
        let got = String::from_utf8(read_all(&stream)).unwrap();
        let (head, rest) = got.split_once("\r\n\r\n").expect(&got);
        assert!(head.starts_with("HTTP/1.1 202 "), "{protocol}: {got}");
        assert_eq!(
            head.contains("content-type"),
            !body.is_empty(),
            "{protocol}: {got}"
        );
        assert_eq!(rest, body, "{protocol}: {got}");
    }
}

#[test]
fn http_connection_ends_after_last_answer() {
    let server = Server::new("stepflow", FLOW, &["--listen", "http://127.0.0.1:0"]);
    let list = request("a", "components/list", "{}");
    let again = post("1.1", "", &list.replace("\"a\"", "\"b\""));
    for (asked, closes) in [
        (post("1.1", "connection: Close\r\n", &list), true),
        (post("1.1", "connection: x, close\r\n", &list), true),
        (post("1.0", "", &list), true),
        (post("1.0", "connection: Keep-Alive\r\n", &list), false),
        (post("1.1", "", &list), false),
    ] {
        let mut stream = server.dial();
        // RFC 9112 section 9.6: requests after the last one are not served.
        stream
            .write_all((asked.clone() + &again).as_bytes())
            .unwrap();
        if !closes {
            stream.shutdown(std::net::Shutdown::Write).unwrap();
        }
        let got = read_all(&stream);
        let text = String::from_utf8_lossy(&got);
        assert_eq!(text.matches("\"id\":\"a\"").count(), 1, "{asked}{text}");
        let others = text.matches("\"id\":\"b\"").count();
        assert_eq!(others, usize::from(!closes), "{asked}{text}");
        assert_eq!(text.contains("\r\nconnection: close\r\n"), closes, "{text}");
    }
}

#[test]
fn answer_to_head_has_no_body() {
    let server = Server::new("stepflow", FLOW, &["--listen", "http://127.0.0.1:0"]);
    for (path, status) in [("/health", "200 OK"), ("/", "405 Method Not Allowed")] {
        let mut stream = server.dial();
        let asked = format!("HEAD {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(asked.as_bytes()).unwrap();
        let got = read_all(&stream);
        let text = String::from_utf8_lossy(&got);
        assert!(
            text.starts_with(&format!("HTTP/1.1 {status}\r\n")),
            "{text}"
        );
        assert!(text.contains("\r\ncontent-length: "), "{text}");
        assert!(text.ends_with("\r\n\r\n"), "{text}");
    }
}

#[test]
fn expect_continue_gets_100() {
    let server = Server::new("stepflow", FLOW, &["--listen", "http://127.0.0.1:0"]);
    let list = request("a", "components/list", "{}");
    let expect = post("1.1", "Expect: 100-continue\r\n", &list);
    let (head, body) = expect.split_at(expect.len() - list.len());
    let mut stream = server.dial();
    for _ in 0..2 {
        stream.write_all(head.as_bytes()).unwrap();
        assert_eq!(read_available(&stream), "HTTP/1.1 100 Continue\r\n\r\n");
        stream.write_all(body.as_bytes()).unwrap();
        assert!(read_available(&stream).starts_with("HTTP/1.1 200 OK\r\n"));
    }
    // No 100 is sent if the body is present, and HTTP/1.0 does not know it.
    stream.write_all(expect.as_bytes()).unwrap();
    assert!(read_available(&stream).starts_with("HTTP/1.1 200 OK\r\n"));
    let old = expect.replace("HTTP/1.1", "HTTP/1.0");
    let (head, body) = old.split_at(expect.len() - list.len());
    stream.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    stream.write_all(body.as_bytes()).unwrap();
    let got = read_all(&stream);
    assert!(got.starts_with(b"HTTP/1.1 200 OK\r\n"));
}

#[test]
fn http_1_0_streams_are_not_chunked() {
    let server = Server::new("stepflow", FLOW, &["--listen", "http://127.0.0.1:0"]);
    let execute = request(
        "a",
        "components/execute",
        r#"{"component":"/ask","input":{}}"#,
    );
    let mut stream = server.dial();
    let asked = post("1.0", "connection: keep-alive\r\n", &execute);
    stream.write_all(asked.as_bytes()).unwrap();
    let begin = read_available(&stream);
    assert!(!begin.contains("chunked"), "{begin}");
    let id = begin.split("\"id\":\"").nth(1).unwrap();
    let id = id.split('"').next().unwrap();
    let answer = format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"data":1}}}}"#);
    let mut other = server.dial();
    other
        .write_all(post("1.1", "", &answer).as_bytes())
        .unwrap();
    let rest = read_all(&stream);
    let rest = String::from_utf8_lossy(&rest);
    assert_eq!(
        rest,
        "data: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{\"output\":3}}\n\n"
    );
}

/// A script that answers with another id still does so in the exchange of the request.
#[test]
fn answer_with_other_id_uses_same_exchange() {
    let server = Server::new("stepflow", FLOW, &["--listen", "http://127.0.0.1:0"]);
    let ask = |id: &str, component: &str| {
        let params = format!(r#"{{"component":"{component}","input":{{}}}}"#);
        post("1.1", "", &request(id, "components/execute", &params))
    };
    let mut stream = server.dial();
    let both = ask("a", "/other") + &ask("b", "/f");
    stream.write_all(both.as_bytes()).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let got = read_all(&stream);
    let text = String::from_utf8_lossy(&got);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{text}"));
    assert!(at("\"id\":\"other\"") < at("\"id\":\"b\""), "{text}");
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");
}

/// Bytes that cannot become a message end the connection immediately, also short ones.
#[test]
fn other_protocol_is_closed_immediately() {
    for (protocol, listen, junk) in [
        (
            "saikuro",
            "tcp://127.0.0.1:0",
            &b"GET / HTTP/1.1\r\n\r\n"[..],
        ),
        ("telequick", "tcp://127.0.0.1:0", b"GET / HTTP/1.1\r\n\r\n"),
        (
            "stepflow",
            "http://127.0.0.1:0",
            b"\x16\x03\x01\x02\x00\x01",
        ),
        ("sael", "ws://127.0.0.1:0", b"\x16\x03\x01\x02\x00\x01"),
    ] {
        let server = Server::new(protocol, "", &["--listen", listen]);
        let mut stream = server.dial();
        stream.write_all(junk).unwrap();
        assert_eq!(read_all(&stream), b"", "{protocol}");
        let (_, log) = server.end();
        assert!(
            log.contains(&format!("not a message of {protocol}: closed")),
            "{log}"
        );
    }
}

/// With `--no-wait` a cancellation is sent before the answer that waits for it. Otherwise nobody sends the next message.
#[test]
fn cancellation_is_sent_without_waiting() {
    let script = r#"
        [[on]]
        match = 'kind=INV'
        steps = [
          { until = { kind = "CAN", path = "seq", request = "seq" } },
          { message = { json = '{"v":1,"kind":"ERR","seq":1,"code":"CANCELLED","message":"cancelled"}', fill = [{ at = "seq", from = "seq" }] } },
        ]
    "#;
    let server = Server::new("sael", script, &["--listen", "ws://127.0.0.1:0"]);
    let at = format!("ws://{}", server.dial().peer_addr().unwrap());
    let folder = super::folder();
    let messages = super::file(folder.path(), "messages.txt", "INV slow\nCAN 1\n");
    let send = [
        "send",
        "sael",
        "--file",
        &messages,
        "-f",
        "json",
        "--connect",
        &at,
    ];
    let (_, lines, stderr) = super::run(&[&send[..], &["--no-wait", "--timeout", "20s"]].concat());
    assert!(lines.contains("\"code\":\"CANCELLED\""), "{lines}{stderr}");
    assert!(!stderr.contains("hangs"), "{stderr}");
    let (code, lines, stderr) = super::run(&[&send[..], &["--timeout", "300ms"]].concat());
    assert_eq!(code, Some(1), "{lines}{stderr}");
    assert!(
        stderr.contains("waits for the answer before it"),
        "{lines}{stderr}"
    );
}

#[test]
fn requests_are_counted_at_the_end() {
    let request =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#.to_owned() + "\n";
    for (count, wanted) in [(0, "0 requests\n"), (1, "1 request\n"), (2, "2 requests\n")] {
        let args = ["stub", "mcp", "--tool", "a={}"];
        let input = request.repeat(count);
        let (_, _, err) = crate::common::run(crate::common::wiretool().args(args), &input);
        assert!(err.ends_with(&format!("wiretool: {wanted}")), "{err}");
    }
}

#[test]
fn an_offered_subprotocol_is_selected() {
    let server = Server::new("sael", "", &["--listen", "ws://127.0.0.1:0"]);
    for (offered, selected) in [
        ("", None),
        ("sec-websocket-protocol: a, sael\r\n", Some("sael")),
        ("sec-websocket-protocol: a,b\r\n", Some("a")),
    ] {
        let mut stream = server.dial();
        let request = UPGRADE.replace("host: x\r\n", &format!("host: x\r\n{offered}"));
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let line = head
            .lines()
            .find_map(|line| line.strip_prefix("sec-websocket-protocol: "));
        assert_eq!(line, selected, "{head}");
    }
}
