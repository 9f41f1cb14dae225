//! WebSocket: invalid and late upgrade requests, and messages after a close.

use super::{Pair, feed};
use crate::framing::Framing;
use crate::live::endpoint::SessionEvent;
use crate::live::handler::Command;
use crate::protocol::peer::Outgoing;

/// Returns a WebSocket frame with a mask of zeros.
fn masked(opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | opcode, 0x80 | u8::try_from(body.len()).unwrap()];
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(body);
    frame
}

#[test]
fn nothing_is_received_or_sent_after_a_close() {
    for piece_size in [1, 4096] {
        let mut pair = Pair::new("sael", Framing::WebSocket, piece_size);
        let conn = pair.connect();
        pair.received.clear();
        let heartbeat = masked(1, br#"{"v":1,"kind":"HBT"}"#);
        let bytes = [&heartbeat[..], &masked(8, b"\x03\xe9bye"), &heartbeat].concat();
        let mut commands = Vec::new();
        feed(
            &mut pair.server,
            conn,
            &bytes,
            piece_size,
            &mut commands,
            &mut pair.received,
        );
        // The endpoint can still answer earlier messages.
        assert_eq!(commands, []);
        assert_eq!(pair.server.events(), [SessionEvent::Closing(conn)]);
        let heartbeat_message = Outgoing::new(conn, r#"{"v":1,"kind":"HBT"}"#);
        let before = pair
            .server
            .send_message(&heartbeat_message, None, 0, &mut commands);
        assert!(before.is_ok());
        commands.clear();
        pair.server.close(conn, 0, &mut commands);
        let close = Command::Send(conn.into(), b"\x88\x02\x03\xe9".to_vec());
        assert_eq!(commands, [close, Command::Close(conn)]);
        let after = pair
            .server
            .send_message(&heartbeat_message, None, 0, &mut commands);
        assert!(after.is_err());
        assert_eq!(commands.len(), 2);
        pair.server.close(conn, 0, &mut commands);
        assert_eq!(commands[2..], [Command::Close(conn)]);
        assert_eq!(
            pair.received,
            [r#"1 c2s HBT {"v":1,"kind":"HBT"}"#, "1 c2s close"]
        );
    }
}

const KEY: &str = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[test]
fn invalid_upgrades_are_refused_as_the_rfc_requires() {
    let upgrade_request = |method: &str, fields: &str| {
        format!("{method} /v1 HTTP/1.1\r\nhost: x\r\n{KEY}{fields}\r\n")
    };
    let upgrade = "connection: Upgrade\r\nupgrade: h2c, WebSocket\r\n";
    let version = "sec-websocket-version: 13\r\n";
    for (request, why) in [
        (upgrade_request("GET", &format!("{upgrade}{version}")), ""),
        (
            upgrade_request("GET", version),
            "does not request WebSocket",
        ),
        (
            upgrade_request("POST", &format!("{upgrade}{version}content-length: 3\r\n")) + "abc",
            "does not request WebSocket",
        ),
        (
            upgrade_request("GET", &format!("{upgrade}sec-websocket-version: 99\r\n")),
            "requests WebSocket version \"99\", but only 13 is supported",
        ),
        (
            upgrade_request("GET", upgrade),
            "requests WebSocket version \"none\", but only 13 is supported",
        ),
    ] {
        let mut pair = Pair::new("sael", Framing::WebSocket, 4096);
        let mut commands = Vec::new();
        pair.server.opened(1, 0, &mut commands);
        // Bytes after a refused upgrade are not read as messages.
        let bytes = [request.as_bytes(), &masked(1, br#"{"v":1,"kind":"HBT"}"#)].concat();
        feed(
            &mut pair.server,
            1,
            &bytes,
            4096,
            &mut commands,
            &mut pair.received,
        );
        let Some(Command::Send(_, answer)) = commands.first() else {
            panic!("{request} {commands:?}");
        };
        let answer = String::from_utf8_lossy(answer);
        let events = pair.server.events();
        if why.is_empty() {
            assert!(answer.starts_with("HTTP/1.1 101 "), "{request} {answer}");
            assert_eq!(events, [SessionEvent::Open(1)]);
            assert_eq!(pair.received.len(), 2);
            continue;
        }
        assert!(answer.starts_with("HTTP/1.1 426 "), "{request} {answer}");
        for field in [
            "upgrade: websocket",
            version.trim_end(),
            "connection: Upgrade, close",
        ] {
            assert!(answer.contains(field), "{request} {answer}");
        }
        let [SessionEvent::Refused(1, text)] = &events[..] else {
            panic!("{request} {events:?}");
        };
        assert!(text.ends_with(why), "{text}");
        assert_eq!((commands.len(), pair.received.len()), (1, 1));
    }
}

#[test]
fn interim_responses_before_the_upgrade_are_ignored() {
    let mut pair = Pair::new("sael", Framing::WebSocket, 4096);
    let mut commands = Vec::new();
    pair.client.opened(1, 0, &mut commands);
    let Some(Command::Send(_, request)) = commands.first() else {
        panic!("{commands:?}");
    };
    let request = String::from_utf8_lossy(request).into_owned();
    let key = request.split("sec-websocket-key: ").nth(1).unwrap();
    let key = key.split("\r\n").next().unwrap();
    let accept = crate::live::codec::websocket::websocket_accept(key);
    let answer = format!(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n\
         HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
         sec-websocket-accept: {accept}\r\n\r\n"
    );
    feed(
        &mut pair.client,
        1,
        answer.as_bytes(),
        4096,
        &mut commands,
        &mut pair.received,
    );
    assert_eq!(pair.client.events(), [SessionEvent::Open(1)]);
}
