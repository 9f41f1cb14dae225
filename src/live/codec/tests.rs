//! Two endpoints exchange messages over each kind of connection, for any split of the bytes.

mod websocket;

use super::ConnectionConfig;
use crate::conversation::Judge;
use crate::framing::{Framing, Limits};
use crate::live::endpoint::{Endpoint, SessionEvent};
use crate::live::handler::{Command, Ended};
use crate::protocol::Channel;
use crate::protocol::peer::{Outgoing, PeerConfig};
use crate::protocol::{Direction, registry};

/// Both ends of the connections, and everything that each received.
struct Pair {
    client: Endpoint<'static>,
    server: Endpoint<'static>,
    received: Vec<String>,
    /// The size of the pieces in which bytes are delivered.
    piece_size: usize,
    /// All bytes that were sent.
    bytes: Vec<u8>,
}

impl Pair {
    fn new(protocol: &str, framing: Framing, piece_size: usize) -> Self {
        let protocol = registry::find(protocol).unwrap();
        let endpoint = |side| {
            let peer_config = PeerConfig {
                no_hello: true,
                ..PeerConfig::default()
            };
            let config = ConnectionConfig::new(protocol, framing, side);
            Endpoint::new(config, &peer_config, Limits::default(), &Judge::default())
        };
        Self {
            client: endpoint(Direction::ToServer),
            server: endpoint(Direction::ToClient),
            received: Vec::new(),
            piece_size,
            bytes: Vec::new(),
        }
    }

    fn connect(&mut self) -> u32 {
        let mut commands = Vec::new();
        let conn = self.client.connect(&mut commands);
        self.deliver(commands, Vec::new());
        conn
    }

    /// Sends a message and delivers everything that follows from it.
    fn send(&mut self, from: Direction, conn: u32, message: &str) {
        let mut commands = Vec::new();
        let outgoing = Outgoing::new(conn, message);
        let endpoint = match from {
            Direction::ToServer => &mut self.client,
            Direction::ToClient => &mut self.server,
        };
        endpoint
            .send_message(&outgoing, None, 0, &mut commands)
            .unwrap();
        match from {
            Direction::ToServer => self.deliver(commands, Vec::new()),
            Direction::ToClient => self.deliver(Vec::new(), commands),
        }
    }

    fn deliver(&mut self, mut client: Vec<Command>, mut server: Vec<Command>) {
        loop {
            self.exchange(&mut client, &mut server);
            for (name, endpoint) in [("client", &mut self.client), ("server", &mut self.server)] {
                for event in endpoint.events() {
                    self.received.push(format!("{name}: {event:?}"));
                    if let (SessionEvent::Closing(conn), "server") = (event, name) {
                        endpoint.close(conn, 0, &mut server);
                    }
                }
            }
            if server.is_empty() {
                return;
            }
        }
    }

    fn exchange(&mut self, client: &mut Vec<Command>, server: &mut Vec<Command>) {
        while !(client.is_empty() && server.is_empty()) {
            for command in std::mem::take(client) {
                match command {
                    Command::Connect(conn) => {
                        self.server.opened(conn, 0, server);
                        self.client.opened(conn, 0, client);
                    }
                    Command::Send(Channel { conn, .. }, bytes) => {
                        self.bytes.extend_from_slice(&bytes);
                        feed(
                            &mut self.server,
                            conn,
                            &bytes,
                            self.piece_size,
                            server,
                            &mut self.received,
                        );
                    }
                    Command::Close(conn) => {
                        let end = Ended::Eof;
                        self.server.ended(conn, &end, 0, server, &mut |_| {});
                    }
                    other => self.received.push(format!("{other:?}")),
                }
            }
            for command in std::mem::take(server) {
                match command {
                    Command::Send(Channel { conn, .. }, bytes) => {
                        self.bytes.extend_from_slice(&bytes);
                        feed(
                            &mut self.client,
                            conn,
                            &bytes,
                            self.piece_size,
                            client,
                            &mut self.received,
                        );
                    }
                    other => self.received.push(format!("{other:?}")),
                }
            }
        }
    }
}

fn feed(
    endpoint: &mut Endpoint<'static>,
    conn: u32,
    bytes: &[u8],
    piece_size: usize,
    commands: &mut Vec<Command>,
    received: &mut Vec<String>,
) {
    for piece in bytes.chunks(piece_size) {
        endpoint.received(conn, piece, 0, commands, &mut |received_message| {
            received_message.replies.clear();
            let mut text = Vec::new();
            received_message.decoded.write_message(&mut text);
            let dir = received_message
                .decoded
                .origin
                .direction
                .map_or("?", Direction::name);
            let kind = &received_message.decoded.message.kind;
            let faulty = if received_message.decoded.is_faulty() {
                " FAULT"
            } else {
                ""
            };
            let text = String::from_utf8_lossy(&text);
            let line = format!("{conn} {dir} {kind} {text}{faulty}");
            received.push(line.trim_end().to_owned());
        });
    }
}

const CALL: &str = r#"{"version":1,"type":"call","id":"a","target":"m.f","args":[]}"#;

#[test]
fn websocket_starts_with_an_upgrade_and_ends_with_close() {
    for piece_size in [1, 7, 4096] {
        let mut pair = Pair::new("saikuro", Framing::WebSocket, piece_size);
        let conn = pair.connect();
        pair.send(Direction::ToServer, conn, CALL);
        pair.send(
            Direction::ToClient,
            conn,
            r#"{"id":"a","ok":true,"result":5}"#,
        );
        let mut commands = Vec::new();
        pair.client.close(conn, 0, &mut commands);
        pair.deliver(commands, Vec::new());
        insta::allow_duplicates! {
            insta::assert_snapshot!(pair.received.join("\n"), @r#"
            1 c2s http-request
            1 s2c http-response
            client: Open(1)
            server: Open(1)
            1 c2s call {"version":1,"type":"call","id":"a","target":"m.f","args":[]}
            1 s2c response {"id":"a","ok":true,"result":5}
            1 c2s close
            server: Closing(1)
            1 s2c close
            Close(1)
            client: Closing(1)
            "#);
        }
        let text = pair.bytes.escape_ascii().to_string();
        assert!(
            text.starts_with("GET / HTTP/1.1\\r\\nhost: localhost\\r\\n"),
            "{text}"
        );
    }
}

#[test]
fn a_request_without_an_upgrade_is_refused_with_a_reason() {
    let mut pair = Pair::new("sael", Framing::WebSocket, 4096);
    let conn = pair.connect();
    let mut commands = Vec::new();
    pair.server.opened(9, 0, &mut commands);
    let request = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n";
    feed(
        &mut pair.server,
        9,
        request,
        4096,
        &mut commands,
        &mut pair.received,
    );
    pair.client.opened(8, 0, &mut commands);
    let answer = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
    feed(
        &mut pair.client,
        8,
        answer,
        4096,
        &mut commands,
        &mut pair.received,
    );
    let (server, client) = (pair.server.events(), pair.client.events());
    let (SessionEvent::Refused(9, server), SessionEvent::Refused(8, client)) =
        (&server[0], &client[0])
    else {
        panic!("{server:?} {client:?}");
    };
    assert_eq!(
        server,
        "\"GET /health HTTP/1.1\" does not request WebSocket"
    );
    assert!(client.starts_with("no WebSocket: the server answers \"HTTP/1.1 404 Not Found\""));
    assert_ne!(conn, 0);
}

#[test]
fn the_accept_value_is_that_of_the_rfc_example() {
    // RFC 6455 section 1.3
    let accept = super::websocket::websocket_accept("dGhlIHNhbXBsZSBub25jZQ==");
    assert_eq!(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[test]
fn every_field_of_a_request_is_sent_once() {
    let mut config = ConnectionConfig::new(
        registry::find("stepflow").unwrap(),
        Framing::Http,
        Direction::ToServer,
    );
    config.fields = [
        ("Host", "virtual"),
        ("Content-Length", "5"),
        ("Sec-WebSocket-Key", "1"),
        ("content-type", "application/json; v=2"),
        ("authorization", "Bearer x"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    let mut out = Vec::new();
    super::http::HttpCodec::default().post(
        &config,
        b"{}",
        None,
        &super::FieldsOfRequest::default(),
        &mut out,
    );
    let posted = "POST / HTTP/1.1\r\nHost: virtual\r\ncontent-type: application/json; v=2\r\n\
                  accept: application/json, text/event-stream\r\ncontent-length: 2\r\nauthorization: Bearer x\r\n\r\n{}";
    assert_eq!(
        out.escape_ascii().to_string(),
        posted.escape_default().to_string()
    );
    config.fields.truncate(3);
    out.clear();
    super::websocket::WebSocketCodec::new([0; 16]).write_request(&config, &mut out);
    let asked = "GET / HTTP/1.1\r\nHost: virtual\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n\
                 sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    assert_eq!(
        out.escape_ascii().to_string(),
        asked.escape_default().to_string()
    );
}

#[test]
fn a_ping_is_answered_with_a_pong() {
    let mut pair = Pair::new("saikuro", Framing::WebSocket, 4096);
    let conn = pair.connect();
    pair.bytes.clear();
    pair.deliver(
        Vec::new(),
        vec![Command::Send(conn.into(), b"\x89\x02hi".to_vec())],
    );
    let pong = pair.bytes.iter().position(|b| *b == 0x8a);
    assert!(pong.is_some(), "{}", pair.bytes.escape_ascii());
}

fn execute(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","method":"components/execute","params":{{"component":"/a","input":{{}}}}}}"#
    )
}

fn result(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"output":1}}}}"#)
}

#[test]
fn an_exchange_is_one_response_or_a_stream() {
    for piece_size in [1, 7, 4096] {
        let mut pair = Pair::new("stepflow", Framing::Http, piece_size);
        let (up, down) = (Direction::ToServer, Direction::ToClient);
        let conn = pair.connect();
        pair.send(
            up,
            conn,
            r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
        );
        pair.send(up, conn, &execute("e1"));
        pair.send(down, conn, &result("e1"));
        pair.send(up, conn, &execute("e2"));
        let request =
            r#"{"jsonrpc":"2.0","id":"c1","method":"blobs/get","params":{"blob_id":"x"}}"#;
        pair.send(down, conn, request);
        // The first connection is busy with the stream, so another one is opened.
        pair.send(
            up,
            conn,
            r#"{"jsonrpc":"2.0","id":"c1","result":{"data":7}}"#,
        );
        pair.send(down, conn, &result("e2"));
        assert!(pair.client.can_send(conn));
        insta::allow_duplicates! {
            insta::assert_snapshot!(pair.received.join("\n"), @r#"
            client: Open(1)
            server: Open(1)
            1 c2s notification {"jsonrpc":"2.0","method":"initialized","params":{}}
            1 s2c http-response ""
            1 c2s request {"jsonrpc":"2.0","id":"e1","method":"components/execute","params":{"component":"/a","input":{}}}
            1 s2c response {"jsonrpc":"2.0","id":"e1","result":{"output":1}}
            1 c2s request {"jsonrpc":"2.0","id":"e2","method":"components/execute","params":{"component":"/a","input":{}}}
            1 s2c http-response
            1 s2c request {"jsonrpc":"2.0","id":"c1","method":"blobs/get","params":{"blob_id":"x"}}
            2 c2s response {"jsonrpc":"2.0","id":"c1","result":{"data":7}}
            2 s2c http-response ""
            client: Open(2)
            server: Open(2)
            1 s2c response {"jsonrpc":"2.0","id":"e2","result":{"output":1}}
            "#);
        }
    }
}

#[test]
fn pipelined_exchanges_are_answered_in_order() {
    let mut pair = Pair::new("stepflow", Framing::Http, 4096);
    let conn = pair.connect();
    let post = |body: &str| {
        format!(
            "POST / HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let both = post(&execute("e1")) + &post(&execute("e2"));
    let mut commands = Vec::new();
    feed(
        &mut pair.server,
        conn,
        both.as_bytes(),
        4096,
        &mut commands,
        &mut pair.received,
    );
    // An answer without a request does not use the exchange of another request.
    let stray = Outgoing::new(conn, result("e3"));
    let refused = pair.server.send_message(&stray, None, 0, &mut commands);
    insta::assert_snapshot!(refused.unwrap_err(), @"id: wanted that of a request that is not answered yet, got \"e3\"");
    pair.send(Direction::ToClient, conn, &result("e2"));
    let none = pair.received.iter().all(|line| !line.contains("s2c"));
    assert!(none, "{:?}", pair.received);
    pair.send(Direction::ToClient, conn, &result("e1"));
    let ids: Vec<bool> = pair
        .received
        .iter()
        .filter(|l| l.contains("s2c"))
        .map(|l| l.contains("e1"))
        .collect();
    assert_eq!(ids, [true, false]);
}

#[test]
fn http_requests_without_a_message_get_a_status() {
    for (request, status) in [
        ("GET /health HTTP/1.1\r\n\r\n", "200 OK"),
        ("GET / HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
        (
            "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{]",
            "400 Bad Request",
        ),
        (
            "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n",
            "400 Bad Request",
        ),
    ] {
        let mut pair = Pair::new("stepflow", Framing::Http, 4096);
        let mut commands = Vec::new();
        pair.server.opened(1, 0, &mut commands);
        feed(
            &mut pair.server,
            1,
            request.as_bytes(),
            4096,
            &mut commands,
            &mut pair.received,
        );
        let [Command::Send(_, bytes)] = commands.as_slice() else {
            panic!("{request} {commands:?}");
        };
        let text = String::from_utf8_lossy(bytes);
        assert!(
            text.starts_with(&format!("HTTP/1.1 {status}\r\n")),
            "{request} {text}"
        );
    }
}

/// The QMP client of QEMU reads lines, but writes none.
#[test]
fn a_json_value_ends_its_line() {
    for (framing, wanted) in [
        (Framing::Values, "{\"id\":1}\n"),
        (Framing::Bare, "{\"id\":1}"),
    ] {
        let mut out = Vec::new();
        super::write_frame(framing, br#"{"id":1}"#, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), wanted, "{framing:?}");
    }
    let mut out = Vec::new();
    super::write_frame(Framing::Values, b"\x7b", &mut out);
    assert_eq!(out, b"\x7b", "a number of MessagePack");
}
