//! Handlers over TCP, Unix sockets and TLS, in both roles.

// Long: the tests share recordings and handlers.

use super::common::*;
use crate::capture::{ChunkSource, Record};
use crate::live::handler::{Command, Ended};
use crate::transport::{Accepting, Address, Target, TlsClient, TlsServer, Trust};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A client that sends bytes after the open, ends its direction, and stores the received bytes.
fn sends_after_open(
    bytes: Vec<u8>,
    received: &Arc<Mutex<Vec<u8>>>,
) -> impl FnMut(Event, &mut Vec<Command>) + Send + use<> {
    let received = Arc::clone(received);
    move |event, commands| match event {
        Event::Begin => commands.push(Command::Connect(1)),
        Event::Opened(conn) => {
            commands.push(Command::Send(conn.into(), bytes.clone()));
            commands.push(Command::Finish(conn.into()));
        }
        Event::Received(_, bytes) => received.lock().unwrap().extend(bytes),
        _ => {}
    }
}

#[test]
fn every_socket_kind_echoes_all_bytes() {
    let certificate = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (
        certificate.cert.pem(),
        certificate.signing_key.serialize_pem(),
    );
    let (folder, _) = folder();
    let path = folder.path().join("echo.sock");
    let unix = format!("unix:{}", path.display());
    for (listen, size) in [
        ("tcp://127.0.0.1:0", 5),
        ("tcp://127.0.0.1:0", 3 << 20),
        ("ws://127.0.0.1:0", 70_000),
        (&*unix, 5),
        (&*unix, 3 << 20),
        ("tls://localhost:0", 5),
        ("tls://localhost:0", 3 << 20),
    ] {
        let recordings = ["server", "client"].map(|name| folder.path().join(name));
        let tls = listen.starts_with("tls");
        let options = Accepting {
            tls: tls.then(|| TlsServer::new(cert.as_bytes(), key.as_bytes(), false).unwrap()),
            ..accept_once()
        };
        let (at, server) = serve(listen, Some(&recordings[0]), options, fn_handler(echo));
        assert!(!at.is_any_port());
        let trust = Trust::Roots(cert.clone().into_bytes());
        let tls = tls.then(|| TlsClient::new(&trust, false).unwrap());
        let bytes = Noise::new(7).bytes(size);
        let received = Arc::default();
        let handler = fn_handler(sends_after_open(bytes.clone(), &received));
        let client = client(address(&at, tls), Some(&recordings[1]), handler);
        assert_eq!(client.end().1, Vec::<String>::new(), "{listen}");
        assert_eq!(server.end().1, Vec::<String>::new(), "{listen}");
        assert!(*received.lock().unwrap() == bytes, "{listen} {size}");
        for path in recordings {
            let recording = Recording::read(&path);
            for stream in [ChunkSource::C2s, ChunkSource::S2c] {
                assert!(recording.bytes(1, stream) == bytes, "{listen} {stream:?}");
            }
            let mut events = events(&recording);
            assert_eq!(events.remove(0), "open", "{listen}");
            assert_eq!(events.pop().as_deref(), Some("close"), "{listen}");
            events.sort();
            assert_eq!(events, ["eof c2s", "eof s2c"], "{listen}");
        }
        assert!(!path.exists(), "a socket is left behind");
    }
}

#[test]
fn answer_is_recorded_after_its_request() {
    let (_folder, path) = folder();
    let (at, server) = serve("tcp://127.0.0.1:0", None, accept_once(), fn_handler(echo));
    let mut left = 500_u32;
    let handler = fn_handler(move |event, commands: &mut Vec<Command>| match event {
        Event::Begin => commands.push(Command::Connect(9)),
        Event::Opened(_) => commands.push(Command::Send(9.into(), vec![b'q'])),
        Event::Received(..) if left == 0 => commands.push(Command::Close(9)),
        Event::Received(..) => {
            left -= 1;
            commands.push(Command::Send(9.into(), vec![b'q']));
        }
        _ => {}
    });
    client(address(&at, None), Some(&path), handler).end();
    server.end();
    let mut turn = ChunkSource::S2c;
    for record in Recording::read(&path).0 {
        if let Record::Chunk {
            conn, dir: stream, ..
        } = record
        {
            assert_eq!(conn, 9);
            assert_ne!(stream, turn);
            turn = stream;
        }
    }
}

#[test]
fn concurrent_connections_are_separate() {
    const CONNECTIONS: u32 = 64;
    let (_folder, path) = folder();
    let mut over = 0;
    let server = fn_handler(move |event, commands: &mut Vec<Command>| {
        if let Event::Ended(_, Ended::Closed) = event {
            over += 1;
            if over == CONNECTIONS {
                commands.push(Command::Stop);
            }
        }
        echo(event, commands);
    });
    let (at, server) = serve("tcp://127.0.0.1:0", None, Accepting::default(), server);
    // Nothing is sent until all connections are open.
    let mut open = 0;
    let received = Arc::new(Mutex::new(vec![Vec::new(); CONNECTIONS as usize]));
    let collected = Arc::clone(&received);
    let mine = |conn: u32| Noise::new(u64::from(conn)).bytes(10_000);
    let handler = fn_handler(move |event, commands: &mut Vec<Command>| match event {
        Event::Begin => commands.extend((1..=CONNECTIONS).map(Command::Connect)),
        Event::Opened(_) => {
            open += 1;
            if open == CONNECTIONS {
                for conn in 1..=CONNECTIONS {
                    commands.push(Command::Send(conn.into(), mine(conn)));
                    commands.push(Command::Finish(conn.into()));
                }
            }
        }
        Event::Received(conn, bytes) => collected.lock().unwrap()[conn as usize - 1].extend(bytes),
        _ => {}
    });
    client(address(&at, None), Some(&path), handler).end();
    server.end();
    let recording = Recording::read(&path);
    for conn in 1..=CONNECTIONS {
        assert_eq!(received.lock().unwrap()[conn as usize - 1], mine(conn));
        assert_eq!(recording.bytes(conn, ChunkSource::C2s), mine(conn));
        assert_eq!(recording.bytes(conn, ChunkSource::S2c), mine(conn));
    }
}

#[test]
fn either_side_can_end_its_direction_first() {
    for we_first in [true, false] {
        let (tell, event) = event_channel();
        let handler = fn_handler(move |happened: Event, commands: &mut Vec<Command>| {
            match &happened {
                Event::Opened(conn) if we_first => commands.push(Command::Finish((*conn).into())),
                Event::Ended(conn, Ended::Eof) if !we_first => {
                    commands.push(Command::Send((*conn).into(), b"last".to_vec()));
                    commands.push(Command::Finish((*conn).into()));
                    // Too late.
                    commands.push(Command::Send((*conn).into(), b"never".to_vec()));
                }
                _ => {}
            }
            tell.send(happened).unwrap();
        });
        let (_folder, path) = folder();
        let (at, server) = serve("tcp://127.0.0.1:0", Some(&path), accept_once(), handler);
        let mut peer = connect(&at);
        let mut got = Vec::new();
        if we_first {
            peer.read_to_end(&mut got).unwrap();
            peer.write_all(b"still").unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
        } else {
            peer.write_all(b"still").unwrap();
            peer.shutdown(Shutdown::Write).unwrap();
            peer.read_to_end(&mut got).unwrap();
        }
        server.end();
        assert_eq!(got, if we_first { &b""[..] } else { b"last" });
        let all: Vec<Event> = event.iter().collect();
        let want = [
            Event::Begin,
            Event::Opened(1),
            Event::Received(1, b"still".to_vec()),
            Event::Ended(1, Ended::Eof),
            Event::Ended(1, Ended::Closed),
        ];
        assert_eq!(all, want);
        let eofs = if we_first {
            ["eof s2c", "eof c2s"]
        } else {
            ["eof c2s", "eof s2c"]
        };
        let events = events(&Recording::read(&path));
        assert_eq!(events, ["open", eofs[0], eofs[1], "close"]);
    }
}

#[test]
fn reset_is_reported_and_can_be_requested() {
    // A reset by the peer.
    let (tell, event) = event_channel();
    let (_folder, path) = folder();
    let handler =
        fn_handler(move |happened: Event, _: &mut Vec<Command>| tell.send(happened).unwrap());
    let (at, server) = serve("tcp://127.0.0.1:0", Some(&path), accept_once(), handler);
    let peer = connect(&at);
    assert_eq!(next(&event), Event::Begin);
    assert_eq!(next(&event), Event::Opened(1));
    rustix::net::sockopt::set_socket_linger(&peer, Some(Duration::ZERO)).unwrap();
    drop(peer);
    assert_eq!(next(&event), Event::Ended(1, Ended::Reset));
    server.end();
    assert_eq!(events(&Recording::read(&path)), ["open", "reset c2s"]);

    // A reset by us, after a partial answer.
    let (tell, event) = event_channel();
    let handler = fn_handler(move |happened: Event, commands: &mut Vec<Command>| {
        if let Event::Received(conn, _) = &happened {
            commands.push(Command::Send((*conn).into(), b"half".to_vec()));
            commands.push(Command::Reset(*conn));
            commands.push(Command::Send((*conn).into(), b"never".to_vec()));
        }
        tell.send(happened).unwrap();
    });
    let (at, server) = serve("tcp://127.0.0.1:0", Some(&path), accept_once(), handler);
    let mut peer = connect(&at);
    peer.write_all(b"?").unwrap();
    let mut got = Vec::new();
    let error = peer.read_to_end(&mut got).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(got, b"half");
    server.end();
    assert_eq!(
        event.iter().last(),
        Some(Event::Ended(1, Ended::Reset)),
        "what we cut is told too"
    );
    let recording = Recording::read(&path);
    assert_eq!(events(&recording), ["open", "reset"]);
    assert_eq!(recording.bytes(1, ChunkSource::S2c), b"half");
}

#[test]
fn large_traffic_in_both_directions_is_recorded() {
    const BYTES: usize = 64 << 20;
    let (_folder, path) = folder();
    let (at, server) = serve("tcp://127.0.0.1:0", None, accept_once(), fn_handler(echo));
    let bytes = Noise::new(3).bytes(BYTES);
    let received = Arc::default();
    let handler = fn_handler(sends_after_open(bytes.clone(), &received));
    client(address(&at, None), Some(&path), handler).end();
    server.end();
    assert!(*received.lock().unwrap() == bytes);
    let recording = Recording::read(&path);
    for stream in [ChunkSource::C2s, ChunkSource::S2c] {
        assert!(recording.bytes(1, stream) == bytes);
    }
}

#[test]
fn client_with_large_answers_still_receives() {
    const PIECES: usize = 20 << 20 >> 16;
    let (at, server) = serve("tcp://127.0.0.1:0", None, accept_once(), fn_handler(echo));
    let piece = Noise::new(4).bytes(1 << 16);
    let received = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&received);
    let handler = fn_handler(move |event, commands: &mut Vec<Command>| match event {
        Event::Begin => {
            commands.push(Command::Connect(1));
            commands.push(Command::Send(1.into(), vec![b'?']));
        }
        Event::Received(_, bytes) if counts.fetch_add(bytes.len(), Ordering::Relaxed) == 0 => {
            commands.extend((0..PIECES).map(|_| Command::Send(1.into(), piece.clone())));
            commands.push(Command::Finish(1.into()));
        }
        _ => {}
    });
    client(address(&at, None), None, handler).end();
    server.end();
    assert_eq!(received.load(Ordering::Relaxed), 1 + (PIECES << 16));
}

#[test]
fn failed_handshake_is_printed_but_not_passed_to_server() {
    let certificate = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (
        certificate.cert.pem(),
        certificate.signing_key.serialize_pem(),
    );
    let options = Accepting {
        tls: Some(TlsServer::new(cert.as_bytes(), key.as_bytes(), false).unwrap()),
        ..accept_once()
    };
    let (tell, event) = event_channel();
    let handler =
        fn_handler(move |happened: Event, _: &mut Vec<Command>| tell.send(happened).unwrap());
    let (at, server) = serve("tls://localhost:0", None, options, handler);
    let strict = TlsClient::new(&Trust::System, false);
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let other = Trust::Roots(other.cert.pem().into_bytes());
    let strict = strict.or(TlsClient::new(&other, false)).unwrap();
    let (tells, refused) = event_channel();
    let handler = fn_handler(
        move |happened: Event, commands: &mut Vec<Command>| match happened {
            Event::Begin => commands.push(Command::Connect(1)),
            other => tells.send(other).unwrap(),
        },
    );
    assert!(
        client(address(&at, Some(strict)), None, handler)
            .end()
            .0
            .refused
    );
    match next(&refused) {
        Event::Ended(1, Ended::Refused(why)) => {
            let want = format!("cannot connect to {at}: no trusted CA signed the server's");
            assert!(why.starts_with(&want), "{why}");
        }
        other => panic!("{other:?}"),
    }
    let (outcome, printed) = server.end();
    assert!(outcome.refused);
    assert!(
        printed[0].starts_with("connection 1: the client"),
        "{printed:?}"
    );
    assert_eq!(event.iter().collect::<Vec<_>>(), [Event::Begin]);
}

#[test]
fn peer_that_reads_no_answers_is_not_read() {
    let read_output = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&read_output);
    let handler = fn_handler(move |event: Event, commands: &mut Vec<Command>| {
        if let Event::Received(_, bytes) = &event {
            counts.fetch_add(bytes.len(), Ordering::Relaxed);
        }
        echo(event, commands);
    });
    let (at, server) = serve("tcp://127.0.0.1:0", None, accept_once(), handler);
    let mut peer = connect(&at);
    let bytes = Noise::new(5).bytes(1 << 20);
    peer.set_nonblocking(true).unwrap();
    // Until the peer has taken nothing for some time.
    let (mut sent, mut since) = (0_usize, Instant::now());
    while since.elapsed() < Duration::from_millis(500) {
        let from = sent % bytes.len();
        match peer.write(&bytes[from..]) {
            Ok(n) => {
                sent += n;
                since = Instant::now();
            }
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
        assert!(sent < 64 << 20, "nothing holds it up");
        std::thread::yield_now();
    }
    // The buffered bytes and the bytes in the buffers of the system.
    let held = read_output.load(Ordering::Relaxed);
    assert!(held < 16 << 20, "{held} bytes were taken");
    peer.set_nonblocking(false).unwrap();
    let mut reads = peer.try_clone().unwrap();
    let reader = std::thread::spawn(move || {
        let mut got = Vec::new();
        reads.read_to_end(&mut got).unwrap();
        got
    });
    peer.shutdown(Shutdown::Write).unwrap();
    let got = reader.join().unwrap();
    assert_eq!(got.len(), sent);
    assert!(
        got.chunks(bytes.len())
            .all(|piece| bytes.starts_with(piece))
    );
    server.end();
}

#[test]
fn timer_is_delayed_while_output_is_full() {
    const PIECE: usize = 1 << 20;
    let made = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&made);
    let mut open = false;
    let handler = fn_handler(move |event, commands: &mut Vec<Command>| match event {
        Event::Opened(_) => open = true,
        Event::Tick if open && counts.load(Ordering::Relaxed) < 200 << 20 => {
            counts.fetch_add(PIECE, Ordering::Relaxed);
            commands.push(Command::Send(1.into(), vec![b'x'; PIECE]));
        }
        Event::Tick if open => commands.push(Command::Close(1)),
        _ => {}
    });
    // Always late.
    *handler.due.lock().unwrap() = Some(1);
    let (at, server) = serve("tcp://127.0.0.1:0", None, accept_once(), handler);
    let mut peer = connect(&at);
    let mut got = vec![0; PIECE];
    peer.read_exact(&mut got).unwrap();
    let (mut before, mut since) = (0, Instant::now());
    while since.elapsed() < Duration::from_millis(300) {
        let now = made.load(Ordering::Relaxed);
        if now != before {
            (before, since) = (now, Instant::now());
        }
        std::thread::yield_now();
    }
    assert!(before < 32 << 20, "{before} bytes were made for nobody");
    let rest = std::io::copy(&mut peer, &mut std::io::sink()).unwrap();
    assert_eq!(rest as usize + PIECE, made.load(Ordering::Relaxed));
    server.end();
}

#[test]
fn refused_connection_is_reported_with_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("tcp://{}", listener.local_addr().unwrap());
    drop(listener);
    // A connection whose queue is full does not receive events.
    let full = {
        use rustix::net::{AddressFamily, SocketType, bind, connect, getsockname, listen, socket};
        let any = std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0);
        let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(listener.as_fd(), &any).unwrap();
        listen(listener.as_fd(), 0).unwrap();
        let at: std::net::SocketAddr = getsockname(&listener).unwrap().try_into().unwrap();
        let fillers: Vec<_> = (0..4)
            .map(|_| {
                let filler = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
                rustix::io::ioctl_fionbio(&filler, true).unwrap();
                let _ = connect(&filler, &at);
                filler
            })
            .collect();
        (format!("tcp://{at}"), listener, fillers)
    };
    for (to, want) in [
        (
            &*gone,
            format!("cannot connect to {gone}: Connection refused"),
        ),
        (
            &*full.0,
            format!("cannot connect to {}: no answer within 200ms", full.0),
        ),
        (
            "unix:/nowhere/at.sock",
            "cannot connect to unix:/nowhere/at.sock: No such file".to_owned(),
        ),
        (
            "tcp://no.such.name.invalid:1",
            "cannot connect to tcp://no.such.name.invalid:1: ".to_owned(),
        ),
    ] {
        let (tell, event) = event_channel();
        let handler = fn_handler(
            move |happened: Event, commands: &mut Vec<Command>| match happened {
                Event::Begin => commands.push(Command::Connect(4)),
                other => tell.send(other).unwrap(),
            },
        );
        let target = Target::Address {
            to: Address::parse(to).unwrap(),
            tls: None,
            within: Duration::from_millis(200),
        };
        let (_folder, path) = folder();
        let (outcome, printed) = client(target, Some(&path), handler).end();
        assert!(outcome.refused);
        assert!(printed.is_empty(), "{printed:?}");
        match event.iter().collect::<Vec<_>>().as_slice() {
            [Event::Ended(4, Ended::Refused(why))] => {
                assert!(
                    why.starts_with(&want) || to.contains("invalid"),
                    "{why}, not {want}"
                );
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(events(&Recording::read(&path)), ["open", "reset"]);
    }
}

#[test]
fn commands_before_stop_are_executed_and_later_ones_are_not() {
    let (_folder, path) = folder();
    let bytes = Noise::new(1).bytes(5 << 20);
    let sends = bytes.clone();
    let (tell, event) = event_channel();
    let handler = fn_handler(move |happened: Event, commands: &mut Vec<Command>| {
        if let Event::Opened(conn) = happened {
            commands.push(Command::Send(conn.into(), sends.clone()));
            commands.push(Command::Stop);
            commands.push(Command::Send(conn.into(), b"never".to_vec()));
        }
        tell.send(happened).unwrap();
    });
    let (at, server) = serve(
        "tcp://127.0.0.1:0",
        Some(&path),
        Accepting::default(),
        handler,
    );
    let mut peer = connect(&at);
    let mut got = Vec::new();
    peer.read_to_end(&mut got).unwrap();
    drop(peer);
    server.end();
    assert!(got == bytes);
    assert_eq!(event.iter().last(), Some(Event::Opened(1)));
    let recording = Recording::read(&path);
    assert!(recording.bytes(1, ChunkSource::S2c) == bytes);
    let last = recording.0.iter().rev().nth(1);
    match last {
        Some(Record::Event(event)) => {
            assert_eq!(event.event, "close");
            assert_eq!(event.more.get("by").unwrap(), "wiretool");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn peer_that_reads_nothing_does_not_block_the_end() {
    let handler = fn_handler(move |event, commands: &mut Vec<Command>| {
        if let Event::Opened(conn) = event {
            commands.push(Command::Send(conn.into(), vec![0; 32 << 20]));
            commands.push(Command::Stop);
        }
    });
    let (at, server) = serve("tcp://127.0.0.1:0", None, Accepting::default(), handler);
    let peer = connect(&at);
    let (_, printed) = server.end();
    drop(peer);
    assert_eq!(
        printed,
        ["connection 1: the other side does not read its data: closed"]
    );
}

#[test]
fn idle_server_ends() {
    let options = Accepting {
        idle: Some(Duration::from_millis(50)),
        ..Accepting::default()
    };
    let (at, server) = serve("tcp://127.0.0.1:0", None, options, fn_handler(echo));
    let mut peer = connect(&at);
    let mut got = Vec::new();
    peer.read_to_end(&mut got).unwrap();
    drop(peer);
    assert_eq!(server.end().0.signal, None);
}

#[test]
fn timers_run_and_last_timer_ends_the_run() {
    let due: Arc<Mutex<Option<i64>>> = Arc::default();
    let sets = Arc::clone(&due);
    let started = i64::try_from(crate::transport::now()).unwrap();
    let mut left = 3;
    let (tell, event) = event_channel();
    let mut handler = fn_handler(move |happened: Event, _: &mut Vec<Command>| {
        left -= i64::from(happened == Event::Tick);
        *sets.lock().unwrap() = (left > 0).then(|| started + (4 - left) * 20_000_000);
        tell.send(happened).unwrap();
    });
    handler.due = due;
    let nowhere = Address::loopback(1);
    client(address(&nowhere, None), None, handler).end();
    let all: Vec<Event> = event.iter().collect();
    assert_eq!(all, [Event::Begin, Event::Tick, Event::Tick, Event::Tick]);
}

#[test]
fn text_is_shown_in_order_until_screen_closes() {
    let nowhere = Address::loopback(1);
    let shown = Arc::new(Mutex::new(String::new()));
    let collected = Arc::clone(&shown);
    let handler = fn_handler(|event, commands: &mut Vec<Command>| {
        if event == Event::Begin {
            commands.extend((0..100).map(|n| Command::Print(format!("{n} "))));
            commands.push(Command::Stop);
        }
    });
    let screen = Box::new(move |text: &str| {
        collected.lock().unwrap().push_str(text);
        Ok(())
    });
    client_with_screen(address(&nowhere, None), None, screen, handler).end();
    let want = (0..100)
        .map(|n| format!("{n} "))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(*shown.lock().unwrap(), want);

    for (kind, complains) in [
        (std::io::ErrorKind::BrokenPipe, false),
        (std::io::ErrorKind::StorageFull, true),
    ] {
        let handler = fn_handler(|event, commands: &mut Vec<Command>| {
            if event == Event::Begin {
                commands.push(Command::Print("text".to_owned()));
            }
        });
        // It would wait forever.
        *handler.due.lock().unwrap() = Some(i64::MAX);
        let screen = Box::new(move |_: &str| Err(std::io::Error::from(kind)));
        let run = client_with_screen(address(&nowhere, None), None, screen, handler);
        let (outcome, printed) = run.end();
        assert_eq!(outcome.seen.failed, complains, "{kind}");
        assert_eq!(printed.len(), usize::from(complains), "{printed:?}");
    }
}
