//! Clients over QUIC: send and replay, against a server of quinn.

use super::super::common::{LIMIT, discard_text, folder, setup};
use super::{certificate, frame, message, over_streams, recorded, server, telequick};
use crate::framing::{Framing, Limits};
use crate::live::client::{Client, ClientConfig, ClientEvent, FeedInput, RunOutcome};
use crate::live::plan::Plan;
use crate::protocol::Direction;
use crate::select::Filter;
use crate::transport::{ALPN, Address, QuicClient, QuicLimits, Target, call};
use quinn::Connection;
use std::sync::{Arc, Mutex};

/// Runs a client against a server that `serve` plays. Returns its result, what it showed, and its recording.
fn run_client<F: Future<Output = ()>>(
    plan: &Plan<'_>,
    words: &[&[&str]],
    serve: impl FnOnce(Connection) -> F,
) -> (RunOutcome, Vec<String>, Vec<String>) {
    let (_, server_tls, client_tls) = certificate();
    let (_folder, path) = folder();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let _guard = runtime.enter();
    let peer = server(&server_tls);
    let port = peer.local_addr().unwrap().port();
    let target = Target::Quic {
        to: Address::parse(&format!("quic://localhost:{port}")).unwrap(),
        client: QuicClient::new(&client_tls, QuicLimits::default()),
        alpn: vec![ALPN.to_owned()],
    };
    let settings = ClientConfig {
        timeout: 300_000_000,
        linger: 100_000_000,
        ..ClientConfig::default()
    };
    let shown = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&shown);
    let observer = Box::new(move |event: ClientEvent<'_>, _: &mut Vec<_>| {
        let line = match event {
            ClientEvent::Received(decoded, verdict) => {
                let stream = decoded.origin.stream.unwrap();
                let to = verdict.answer.map(|answer| answer.to);
                format!("{stream} {} {to:?}", decoded.message.kind)
            }
            ClientEvent::Handshake(..) => return,
            ClientEvent::Note(text) => text,
            ClientEvent::Diverged(what) => format!("{what:?}"),
            ClientEvent::Hangs(what) => format!("{what:?}"),
        };
        told.lock().unwrap().push(line);
    });
    let config = over_streams(Direction::ToServer);
    let mut messages = words.iter().map(|words| message(words));
    let next = Box::new(move || messages.next().map_or(FeedInput::End, FeedInput::Message));
    let mut client = if plan.steps.is_empty() {
        Client::sending(plan, config, &settings, next, observer)
    } else {
        Client::replaying(plan, config, &settings, observer)
    };
    let (setup, printed) = setup(Some(&path));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| call(target, &mut client, discard_text(), setup).unwrap());
        runtime
            .block_on(async {
                let serving = async {
                    let accepted = peer.accept().await.unwrap().await.unwrap();
                    serve(accepted.clone()).await;
                    accepted.closed().await;
                };
                tokio::time::timeout(LIMIT, serving).await
            })
            .unwrap();
        running.join().unwrap();
    });
    assert_eq!(*printed.lock().unwrap(), Vec::<String>::new());
    let shown = shown.lock().unwrap().clone();
    (client.outcome().clone(), shown, recorded(&path))
}

#[test]
fn send_shows_bare_answers_and_pushes_and_accepts_silence() {
    let plan = Plan::empty(telequick(), Framing::Method);
    let words: [&[&str]; 3] = [
        &["Barge", "call_sid=a"],
        &["Terminate", "call_sid=a"],
        &["AudioFrame", "call_sid=a", "payload=x", "codec=PCMU"],
    ];
    let event = frame(&["CallEvent", "status=RINGING"]);
    let (outcome, shown, lines) = run_client(&plan, &words, async |server| {
        let (mut answer, mut call) = server.accept_bi().await.unwrap();
        let request = call.read_to_end(100).await.unwrap();
        assert_eq!(request, frame(&["Barge", "call_sid=a"]));
        // Real servers write an envelope without length and method id.
        answer.write_all(&[0; 6]).await.unwrap();
        answer.finish().unwrap();
        let mut pushes = server.open_uni().await.unwrap();
        pushes.write_all(&event).await.unwrap();
        let (_never, mut call) = server.accept_bi().await.unwrap();
        call.read_to_end(100).await.unwrap();
        let _ = server.accept_uni().await.unwrap();
        // The stream ends with the connection, not with STOP_SENDING.
        assert!(pushes.stopped().await.is_err());
    });
    assert_eq!(
        shown,
        [
            "0 Empty Some(0)",
            "3 CallEvent None",
            "1 request without an answer"
        ]
    );
    assert_eq!((outcome.sent, outcome.differ, outcome.hangs), (3, 0, false));
    for line in ["0 fin", "4 fin", "2 c2s ", "close"] {
        let is_there = lines.iter().any(|l| l.starts_with(line));
        assert!(is_there, "no {line:?} in {lines:?}");
    }
    let fins = lines.iter().filter(|line| *line == "2 fin").count();
    assert_eq!(fins, 0, "the stream of audio ends: {lines:?}");
}

#[test]
fn replay_keeps_streams_and_ends_them_as_recorded() {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    let chunk = |t: u32, stream: u32, dir: &str, words: &[&str]| {
        let bytes = BASE64_STANDARD.encode(frame(words));
        format!(r#"{{"t":{t},"conn":1,"stream":{stream},"dir":"{dir}","b64":"{bytes}"}}"#)
    };
    let fin = |t: u32, stream: u32, dir: &str| {
        format!(r#"{{"t":{t},"conn":1,"stream":{stream},"event":"fin","dir":"{dir}"}}"#)
    };
    let lines = [
        r#"{"wiretool":1,"protocol":"telequick","started":"2026-01-01T00:00:00Z"}"#.to_owned(),
        r#"{"t":0,"conn":1,"event":"open"}"#.to_owned(),
        // Stream 0 was never used.
        chunk(1, 4, "c2s", &["GetIncomingCalls", "trunk_id=t"]),
        fin(2, 4, "c2s"),
        chunk(3, 4, "s2c", &["GetIncomingCallsResponse"]),
        fin(4, 4, "s2c"),
        // The answer came before.
        chunk(5, 8, "c2s", &["Barge", "call_sid=a"]),
        fin(6, 8, "c2s"),
        r#"{"t":9,"conn":1,"event":"close"}"#.to_owned(),
        r#"{"t":9,"event":"end","chunks":3,"bytes":{}}"#.to_owned(),
    ];
    let recording = lines.join("\n");
    let limits = Limits::default();
    let plan = Plan::of(
        recording.as_bytes(),
        &[telequick()],
        None,
        limits,
        Filter::default(),
    )
    .unwrap();
    let (outcome, shown, lines) = run_client(&plan, &[], async |server| {
        let _unused = server.accept_bi().await.unwrap();
        let (mut answer, mut call) = server.accept_bi().await.unwrap();
        assert_eq!(u64::from(call.id()), 4);
        call.read_to_end(100).await.unwrap();
        let early = tokio::time::timeout(std::time::Duration::from_millis(50), server.accept_bi());
        assert!(
            early.await.is_err(),
            "a request does not wait for the answer before it"
        );
        let bytes = frame(&["GetIncomingCallsResponse"]);
        answer.write_all(&bytes).await.unwrap();
        let (_answer, mut call) = server.accept_bi().await.unwrap();
        assert_eq!(u64::from(call.id()), 8);
        call.read_to_end(100).await.unwrap();
    });
    assert_eq!(
        (outcome.sent, outcome.compared, outcome.differ),
        (2, 1, 0),
        "{shown:?}"
    );
    assert!(lines.contains(&"8 fin".to_owned()), "{lines:?}");
}

#[test]
fn failed_handshake_is_one_sentence() {
    let (_, server_tls, _) = certificate();
    let (_, _, strange) = certificate();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let _guard = runtime.enter();
    let peer = server(&server_tls);
    let port = peer.local_addr().unwrap().port();
    let plan = Plan::empty(telequick(), Framing::Method);
    let settings = ClientConfig {
        timeout: 10_000_000_000,
        ..ClientConfig::default()
    };
    for (alpn, wanted) in [
        (ALPN, "no trusted CA signed the server's certificate"),
        (
            "other",
            "the server accepts none of the offered protocols (other): use --alpn",
        ),
    ] {
        let target = Target::Quic {
            to: Address::parse(&format!("quic://localhost:{port}")).unwrap(),
            client: QuicClient::new(&strange, QuicLimits::default()),
            alpn: vec![alpn.to_owned()],
        };
        let next = Box::new(|| FeedInput::End);
        let observer = Box::new(|_: ClientEvent<'_>, _: &mut Vec<_>| {});
        let config = over_streams(Direction::ToServer);
        let mut client = Client::sending(&plan, config, &settings, next, observer);
        let (setup, _) = setup(None);
        std::thread::scope(|scope| {
            let (end, ended) = tokio::sync::oneshot::channel();
            let running = scope.spawn(|| {
                let outcome = call(target, &mut client, discard_text(), setup);
                let _ = end.send(());
                outcome.unwrap()
            });
            runtime
                .block_on(async {
                    let refusing = async {
                        let accepted = peer.accept().await.unwrap().await;
                        assert!(accepted.is_err());
                        // The refusal is sent while the runtime is active.
                        ended.await.unwrap();
                    };
                    tokio::time::timeout(LIMIT, refusing).await
                })
                .unwrap();
            running.join().unwrap();
        });
        let why = client.outcome().failure.clone().unwrap();
        assert!(why.contains(wanted), "{why}");
        assert_eq!(why.lines().count(), 1);
    }
}
