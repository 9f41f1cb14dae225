//! QUIC through the proxy: quinn on both sides.

mod client;

use super::common::{LIMIT, discard_text, folder, setup};
use crate::capture::Record;
use crate::common::programs::Recording;
use crate::framing::{Framing, Limits};
use crate::live::codec::ConnectionConfig;
use crate::live::script::Script;
use crate::live::stub::{OnMiss, Stub, StubConfig, StubObserver};
use crate::protocol::make::{IdGen, Words};
use crate::protocol::peer::PeerConfig;
use crate::protocol::{Direction, Protocol, registry};
use crate::transport::{
    ALPN, Accepting, Address, BoundListener, Certificate, ProxyOptions, QuicClient, QuicLimits,
    QuicServer, TlsClient, TlsServer, Trust,
};
use quinn::{Connection, ConnectionError, Endpoint, VarInt};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread::spawn;
use tokio_rustls::rustls;

fn certificate() -> (Certificate, TlsServer, TlsClient) {
    let made = Certificate::generate("localhost").unwrap();
    let server = TlsServer::new(made.pem.as_bytes(), made.key.as_bytes(), false).unwrap();
    let client = TlsClient::new(&Trust::Roots(made.pem.clone().into_bytes()), false).unwrap();
    (made, server, client)
}

/// A server that is not wiretool.
fn server(tls: &TlsServer) -> Endpoint {
    let mut config = rustls::ServerConfig::clone(&tls.config());
    config.alpn_protocols = vec![ALPN.into()];
    let config = quinn::crypto::rustls::QuicServerConfig::try_from(config).unwrap();
    let config = quinn::ServerConfig::with_crypto(Arc::new(config));
    Endpoint::server(config, SocketAddr::from(([127, 0, 0, 1], 0))).unwrap()
}

async fn connect(tls: &TlsClient, port: u16) -> Connection {
    let mut config = rustls::ClientConfig::clone(&tls.config());
    config.alpn_protocols = vec![ALPN.into()];
    let config = quinn::crypto::rustls::QuicClientConfig::try_from(config).unwrap();
    let config = quinn::ClientConfig::new(Arc::new(config));
    let endpoint = Endpoint::client(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    let connecting = endpoint.connect_with(config, to, "localhost").unwrap();
    connecting.await.unwrap()
}

/// Chunks and events of a recording: stream, direction or event, text or code.
fn recorded(path: &Path) -> Vec<String> {
    Recording::read(path)
        .0
        .into_iter()
        .filter_map(|record| match record {
            Record::Chunk {
                stream, dir, bytes, ..
            } => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                Some(format!("{} {} {text}", stream.unwrap(), dir.name()))
            }
            Record::Event(event) => {
                let code = event.more.get("code").map(ToString::to_string);
                let stream = event.stream.map(|stream| stream.to_string());
                let parts = [stream, Some(event.event), code];
                Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
            }
            Record::Header(_) => None,
        })
        .collect()
}

#[test]
fn streams_and_close_are_forwarded_with_their_ids_and_codes() {
    let (_, server_tls, client_tls) = certificate();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let _guard = runtime.enter();
    let peer = server(&server_tls);
    let port = peer.local_addr().unwrap().port();
    let (_folder, path) = folder();
    let listen = Address::parse("quic://127.0.0.1:0").unwrap();
    let proxy = BoundListener::bind(&listen).unwrap();
    let Address::Over { port: at, .. } = *proxy.address() else {
        panic!("{}", proxy.address())
    };
    let (setup, printed) = setup(Some(&path));
    let limits = QuicLimits::default();
    let options = ProxyOptions {
        connect: Address::parse(&format!("quic://localhost:{port}")).unwrap(),
        once: true,
        idle: None,
        client: None,
        server: None,
        quic: Some((
            QuicServer::new(&server_tls, vec![ALPN.to_owned()], limits),
            QuicClient::new(&client_tls, limits),
        )),
        faults: None,
    };
    let running = spawn(move || proxy.proxy(options, setup).unwrap());
    let both = async {
        let client = connect(&client_tls, at).await;
        let accepted = peer.accept().await.unwrap().await.unwrap();
        // Stream 0 is skipped.
        let (_unused, _) = client.open_bi().await.unwrap();
        let (mut request, mut answer) = client.open_bi().await.unwrap();
        request.write_all(b"request").await.unwrap();
        request.finish().unwrap();
        let _ = accepted.accept_bi().await.unwrap();
        let (mut reply, mut got) = accepted.accept_bi().await.unwrap();
        assert_eq!(u64::from(got.id()), 4);
        assert_eq!(got.read_to_end(100).await.unwrap(), b"request");
        reply.write_all(b"answer").await.unwrap();
        reply.reset(VarInt::from_u32(77)).unwrap();
        let reset = answer.read_to_end(100).await.unwrap_err();
        assert!(reset.to_string().contains("77"), "{reset}");
        // The close comes right behind the data of an open stream.
        let mut open = client.open_uni().await.unwrap();
        open.write_all(b"audio").await.unwrap();
        let mut sound = accepted.accept_uni().await.unwrap();
        client.close(VarInt::from_u32(9), b"done");
        let mut bytes = [0; 5];
        sound.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"audio");
        let ConnectionError::ApplicationClosed(close) = accepted.closed().await else {
            panic!("no application close");
        };
        assert_eq!(
            (close.error_code.into_inner(), &*close.reason),
            (9, &b"done"[..])
        );
    };
    runtime
        .block_on(async { tokio::time::timeout(LIMIT, both).await })
        .unwrap();
    running.join().unwrap();
    assert_eq!(*printed.lock().unwrap(), Vec::<String>::new());
    let lines = recorded(&path);
    for line in [
        "4 c2s request",
        "4 fin",
        "4 reset 77",
        "2 c2s audio",
        "close 9",
    ] {
        assert!(lines.iter().any(|l| l == line), "no {line:?} in {lines:?}");
    }
    assert_eq!(lines.last().unwrap(), "end", "{lines:?}");
}

fn telequick() -> &'static dyn Protocol {
    registry::find("telequick").unwrap()
}

/// A message, made from a kind and its arguments.
fn message(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let mut rest = Words::new(&words[1..], |_| true);
    let made = telequick().make(&words[0], &mut rest, &mut IdGen::new(1));
    made.unwrap().message
}

fn frame(words: &[&str]) -> Vec<u8> {
    let config = ConnectionConfig::new(telequick(), Framing::Method, Direction::ToServer);
    let mut bytes = Vec::new();
    crate::live::codec::Codec::new(config, 1, 1)
        .write_message(&message(words), None, None, &mut bytes)
        .unwrap();
    bytes
}

fn over_streams(side: Direction) -> ConnectionConfig<'static> {
    ConnectionConfig {
        streams: true,
        ..ConnectionConfig::new(telequick(), Framing::Method, side)
    }
}

struct Silent;

impl StubObserver for Silent {}

#[test]
fn stub_answers_on_the_stream_of_the_request_and_pushes_on_its_own() {
    stub_answers("");
}

#[test]
fn stub_sends_bytes_before_everything_else_on_each_stream() {
    stub_answers("noise");
}

/// A stub that sends `before` first on each stream.
fn stub_answers(before: &str) {
    let (_, server_tls, client_tls) = certificate();
    let (_folder, path) = folder();
    let script = r#"
        before = "BEFORE"
        [[on]]
        match = 'subject=StreamEvents'
        items = [{ value = { status = "RINGING" } }, { after = "20ms", value = { status = "ANSWERED" } }]
        end = false
        [[on]]
        match = 'subject=Barge'
        result = {}
    "#
    .replace("BEFORE", before);
    let settings = StubConfig {
        script: Script::read("s.toml", &script, telequick()).unwrap_or_else(|e| panic!("{e}")),
        on_miss: OnMiss::Error,
        stdio: false,
        dials: false,
        peer_config: PeerConfig::default(),
        limits: Limits::default(),
    };
    let mut stub = Stub::new(
        over_streams(Direction::ToClient),
        settings,
        Box::new(Silent),
    );
    let bound = BoundListener::bind(&Address::parse("quic://127.0.0.1:0").unwrap()).unwrap();
    let Address::Over { port, .. } = *bound.address() else {
        panic!("{}", bound.address())
    };
    let (setup, printed) = setup(Some(&path));
    let accepting = Accepting {
        once: true,
        quic: Some(QuicServer::new(
            &server_tls,
            vec![ALPN.to_owned()],
            QuicLimits::default(),
        )),
        ..Accepting::default()
    };
    let (end, ended) = tokio::sync::oneshot::channel();
    let running = spawn(move || {
        bound
            .serve(accepting, &mut stub, discard_text(), setup)
            .unwrap();
        let _ = end.send(());
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let event = frame(&["CallEvent", "status=RINGING"]);
    let talk = async {
        let client = connect(&client_tls, port).await;
        let (mut subscribe, _events) = client.open_bi().await.unwrap();
        let subscription = frame(&["StreamEvents", "client_id=c"]);
        subscribe.write_all(&subscription).await.unwrap();
        subscribe.finish().unwrap();
        let (mut call, mut answer) = client.open_bi().await.unwrap();
        call.write_all(&frame(&["Barge", "call_sid=a"]))
            .await
            .unwrap();
        call.finish().unwrap();
        let answer = answer.read_to_end(100).await.unwrap();
        let answer = answer.strip_prefix(before.as_bytes()).unwrap();
        assert_eq!(hex::encode(answer), "0a00000012fabbe5000000000000");
        let mut pushes = client.accept_uni().await.unwrap();
        assert_eq!(u64::from(pushes.id()), 3);
        let mut events = vec![0; before.len() + 2 * event.len() + 1];
        pushes.read_exact(&mut events).await.unwrap();
        let events = events.strip_prefix(before.as_bytes()).unwrap();
        assert_eq!(events.get(4..8), event.get(4..8));
        client.close(VarInt::from_u32(7), b"");
        // The close is sent while the runtime is active.
        ended.await.unwrap();
    };
    runtime
        .block_on(async { tokio::time::timeout(LIMIT, talk).await })
        .unwrap();
    running.join().unwrap();
    assert_eq!(*printed.lock().unwrap(), Vec::<String>::new());
    let lines = recorded(&path);
    let at = |what: &str| lines.iter().position(|line| line.starts_with(what));
    let (request, answer) = (at("4 c2s "), at("4 s2c "));
    assert!(request.is_some() && request < answer, "{lines:?}");
    for line in ["0 fin", "4 fin", "3 s2c ", "close 7"] {
        assert!(at(line).is_some(), "no {line:?} in {lines:?}");
    }
}
