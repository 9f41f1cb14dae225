//! Messages over WebSocket that are no messages of the protocol.

use super::recorded_peer::{TestPeer, plan, play, settings};
use crate::framing::websocket_accept;
use base64::prelude::{BASE64_STANDARD, Engine as _};

/// A server without extensions. It stores the frames of its client.
#[derive(Default)]
struct Server(Vec<Vec<u8>>);

impl TestPeer for Server {
    fn receive(&mut self, conn: u32, bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let text = String::from_utf8_lossy(bytes);
        if !text.starts_with("GET ") {
            self.0.push(bytes.to_vec());
            return Vec::new();
        }
        let mut lines = text.lines();
        let key = lines.find_map(|line| line.strip_prefix("sec-websocket-key: "));
        let accept = websocket_accept(key.unwrap());
        let upgrade = format!(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: {accept}\r\n\r\n"
        );
        vec![(conn, upgrade.into_bytes())]
    }
}

/// The connection of the run need not have the extension of the recording, so RSV1 must be clear.
#[test]
fn a_compressed_message_that_is_no_json_is_sent_in_a_new_frame() {
    const UNREADABLE: &[u8] = b"{bad";
    const DEFLATED: [u8; 6] = [0xaa, 0x4e, 0x4a, 0x4c, 0x01, 0x00];
    let key = "dGhlIHNhbXBsZSBub25jZQ==";
    let extension = "sec-websocket-extensions: permessage-deflate";
    let request = format!(
        "GET / HTTP/1.1\r\nhost: h\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n{extension}\r\n\r\n"
    );
    let accept = websocket_accept(key);
    let response = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: {accept}\r\n{extension}\r\n\r\n"
    );
    // FIN, RSV1, text; masked with zeros.
    let frame = [&[0xc1, 0x86, 0, 0, 0, 0][..], &DEFLATED].concat();
    let mut recording = String::from(
        "{\"wiretool\":1,\"protocol\":\"jsonrpc\",\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n",
    );
    for (dir, bytes) in [
        ("c2s", request.as_bytes()),
        ("s2c", response.as_bytes()),
        ("c2s", &frame),
    ] {
        let bytes = BASE64_STANDARD.encode(bytes);
        recording += &format!("{{\"t\":1,\"conn\":1,\"dir\":\"{dir}\",\"b64\":\"{bytes}\"}}\n");
    }
    recording += "{\"t\":2,\"event\":\"end\",\"chunks\":3,\"bytes\":{}}\n";
    let plan = plan(recording.as_bytes());
    let mut server = Server::default();
    let run = play(&plan, &settings(plan.protocol), &mut server);
    assert_eq!(run.outcome.failure, None, "{:?}", run.reported);
    let frame = server.0.first().expect("a frame");
    assert_eq!(frame.get(..2), Some(&[0x81, 0x84][..]), "{frame:x?}");
    let (mask, body) = frame.get(2..).unwrap_or_default().split_at(4);
    let masks = mask.iter().cycle();
    let body: Vec<u8> = body
        .iter()
        .zip(masks)
        .map(|(byte, mask)| byte ^ mask)
        .collect();
    assert_eq!(body, UNREADABLE);
}
