//! WebSocket through the proxy, with and without TLS: tokio-tungstenite at both ends.

use super::common::*;
use super::tls::{Certificates, tls_proxy};
use futures_util::{SinkExt as _, StreamExt as _};
use std::sync::mpsc::{Receiver, channel};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::{accept_async, client_async};
use wiretool::capture::ChunkSource;

/// Runs two tasks concurrently.
fn run_both<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LIMIT, work).await.unwrap() })
}

/// A server that returns every message and reports it.
fn server() -> (String, Receiver<Message>) {
    let (tell, reported) = channel();
    let (port, bound) = channel();
    std::thread::spawn(move || {
        run_both(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            port.send(listener.local_addr().unwrap().port()).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            let mut socket = accept_async(stream).await.unwrap();
            while let Some(Ok(message)) = socket.next().await {
                let _ = tell.send(message.clone());
                if message.is_text() || message.is_binary() {
                    let _ = socket.send(message).await;
                }
            }
        });
    });
    (format!("127.0.0.1:{}", bound.recv().unwrap()), reported)
}

/// Sends messages to a port, and returns the answers.
fn exchange_messages(port: u16, messages: Vec<Message>, answers: usize) -> Vec<Message> {
    run_both(async move {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let (mut socket, _) = client_async("ws://example.org/x", stream).await.unwrap();
        for message in messages {
            socket.send(message).await.unwrap();
        }
        let mut back = Vec::new();
        while back.len() < answers {
            let message = socket.next().await.unwrap().unwrap();
            if message.is_text() || message.is_binary() {
                back.push(message);
            }
        }
        socket.close(None).await.unwrap();
        while let Some(Ok(_)) = socket.next().await {}
        back
    })
}

const SAEL: &str = r#"{"kind":"INV","seq":2,"tool":"github.list","args":{"text":"hello"}}"#;

fn fragment(text: &str, kind: Data, last: bool) -> Message {
    let bytes = text.as_bytes().to_vec();
    Message::Frame(Frame::message(bytes, OpCode::Data(kind), last))
}

fn messages() -> Vec<Message> {
    let (a, b) = SAEL.split_at(20);
    vec![
        Message::text(SAEL),
        fragment(a, Data::Text, false),
        Message::Ping(b"hi".to_vec().into()),
        fragment(b, Data::Continue, true),
        Message::binary(Noise::new(1).bytes(1 << 20)),
    ]
}

fn answers() -> Vec<Message> {
    let bulk = Noise::new(1).bytes(1 << 20);
    vec![
        Message::text(SAEL),
        Message::text(SAEL),
        Message::binary(bulk),
    ]
}

#[test]
fn messages_are_forwarded_and_decoded() {
    let certificate = Certificates::new();
    let paper = certificate.sign("localhost", 2100);
    let root = certificate.root();
    for scheme in ["ws", "wss"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.jsonl");
        let path = path.to_str().unwrap();
        let (address, _told) = server();
        let mut more = vec!["--once", "-p", "sael", "-w", path, "--rewrite-host"];
        let mut fronts = Vec::new();
        let connect = if scheme == "ws" {
            format!("ws://{address}")
        } else {
            let (run, port) = tls_proxy("wss", &format!("ws://{address}"), &paper, &["--once"]);
            fronts.push(run);
            more.extend(["--cacert", &root]);
            format!("wss://localhost:{port}")
        };
        let (run, port) = Run::proxy("proxy", &connect, &more);
        assert_eq!(
            exchange_messages(port, messages(), 3),
            answers(),
            "{scheme}"
        );
        let (status, shown, output) = run.end();
        assert_eq!(status.code(), Some(0), "{output}");
        let shown = String::from_utf8(shown).unwrap();
        for what in [
            "http-request",
            "http-response",
            "ping",
            "pong",
            "close",
            "INV",
        ] {
            assert!(shown.contains(what), "{scheme}: {what}\n{shown}");
        }
        let recording = Recording::read(path.as_ref());
        let up = recording.bytes(1, ChunkSource::C2s);
        assert!(up.starts_with(b"GET /x HTTP/1.1\r\nHost: example.org\r\n"));
        assert!(up.len() > 1 << 20);
    }
}

/// The bytes that the server received for one message, in one frame or two.
fn faulted(fault: &str, fragmented: bool, answers: usize) -> Vec<Message> {
    let (address, reported) = server();
    let more = [
        "--once",
        "-p",
        "sael",
        "-w",
        "/dev/null",
        "--seed",
        "1",
        "--fault",
        fault,
    ];
    let (run, port) = Run::proxy("record", &format!("ws://{address}"), &more);
    let sent = if fragmented {
        messages()[1..4].to_vec()
    } else {
        messages()[..1].to_vec()
    };
    exchange_messages(port, sent, answers);
    run.code();
    reported.iter().collect()
}

#[test]
fn mask_and_length_faults_change_only_their_target() {
    for fragmented in [false, true] {
        let fault = "dir=c2s kind=INV: corrupt .args.text";
        let got = faulted(fault, fragmented, 1);
        let texts: Vec<&Message> = got.iter().filter(|m| m.is_text()).collect();
        let text = texts[0].to_text().unwrap();
        let differs = text.bytes().zip(SAEL.bytes()).filter(|(a, b)| a != b);
        assert_eq!((text.len(), differs.count()), (SAEL.len(), 1), "{text}");
        let got = faulted("dir=c2s kind=INV: drop", fragmented, 0);
        assert!(got.iter().all(|m| !m.is_text()), "{got:?}");
        assert_eq!(
            got.iter().filter(|m| m.is_ping()).count(),
            usize::from(fragmented)
        );
        let got = faulted("dir=c2s kind=INV: dup", fragmented, 2);
        assert_eq!(got.iter().filter(|m| m.is_text()).count(), 2, "{got:?}");
    }
}
