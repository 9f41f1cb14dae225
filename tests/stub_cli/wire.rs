//! What the stub's connections themselves say: bytes in, bytes out, and when they end.

use super::others::Server;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const UPGRADE: &str = "GET /sael/ws HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
                       sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
const HEY: &[u8] = br#"{"v":1,"kind":"HEY","agent":{"id":"a","kind":"agent"}}"#;
const CLOSE: &[u8] = b"\x88\x02\x03\xe8";

/// A frame of WebSocket with a mask of zeros.
fn masked(opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | opcode, 0x80 | u8::try_from(body.len()).unwrap()];
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(body);
    frame
}

/// All that comes until the connection is closed.
fn all(mut stream: &TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    bytes
}

/// What comes at once, of a connection that stays open.
fn some(mut stream: &TcpStream) -> String {
    let mut bytes = [0; 65536];
    let read = stream.read(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes[..read]).into_owned()
}

/// A connection that is WebSocket.
fn upgraded(server: &Server) -> TcpStream {
    let mut stream = server.dial();
    stream.write_all(UPGRADE.as_bytes()).unwrap();
    let answer = some(&stream);
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    stream
}

#[test]
fn websocket_is_closed_after_close() {
    let server = Server::new("sael", "", &["--listen", "ws://127.0.0.1:0"]);
    // The first message in pieces: a piece is no other protocol.
    let mut stream = upgraded(&server);
    for piece in masked(1, HEY).chunks(20) {
        stream.write_all(piece).unwrap();
        std::thread::sleep(Duration::from_millis(30));
    }
    assert!(some(&stream).contains("\"kind\":\"HEY\""));
    stream.write_all(&masked(8, b"\x03\xe8bye")).unwrap();
    assert_eq!(all(&stream), CLOSE);
    // In one write: what is asked before is answered, what comes after it is not.
    for (bytes, answers) in [
        ([masked(1, HEY), masked(8, b"\x03\xe8")].concat(), 1),
        ([masked(8, b"\x03\xe8"), masked(1, HEY)].concat(), 0),
    ] {
        let mut stream = upgraded(&server);
        stream.write_all(&bytes).unwrap();
        let got = all(&stream);
        let text = String::from_utf8_lossy(&got);
        assert_eq!(text.matches("\"kind\":\"HEY\"").count(), answers, "{text}");
        assert!(got.ends_with(CLOSE), "{text}");
    }
    let (_, log) = server.end();
    assert_eq!(log, "wiretool: 0 requests\n");
}

#[test]
fn whoever_asks_for_no_websocket_is_told_and_closed() {
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
        let answer = all(&stream);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 426 "), "{request}{answer}");
        assert!(answer.contains("\r\nsec-websocket-version: 13\r\n"));
    }
    let (_, log) = server.end();
    assert_eq!(log.lines().count(), 4, "{log}");
}
