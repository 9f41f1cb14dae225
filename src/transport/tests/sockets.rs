//! Over tcp, unix and TLS, in both roles.

// Long: tests that share their recordings and handlers.

use super::common::*;
use crate::capture::{Record, Stream};
use crate::live::handler::{Command, Ended};
use crate::transport::{Accepting, Address, Client, Server, Target, Trust};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A client that sends bytes once it is open, ends its direction, and keeps what comes back.
fn asks(
    bytes: Vec<u8>,
    heard: &Arc<Mutex<Vec<u8>>>,
) -> impl FnMut(Told, &mut Vec<Command>) + Send + use<> {
    let heard = Arc::clone(heard);
    move |told, commands| match told {
        Told::Begin => commands.push(Command::Connect(1)),
        Told::Opened(conn) => {
            commands.push(Command::Send(conn, bytes.clone()));
            commands.push(Command::Finish(conn));
        }
        Told::Received(_, bytes) => heard.lock().unwrap().extend(bytes),
        _ => {}
    }
}

#[test]
fn what_is_sent_comes_back_over_every_kind_of_socket() {
    let papers = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (papers.cert.pem(), papers.signing_key.serialize_pem());
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
            tls: tls.then(|| Server::new(cert.as_bytes(), key.as_bytes(), false).unwrap()),
            ..once()
        };
        let (at, server) = serve(listen, Some(&recordings[0]), options, on(echo));
        assert!(!at.is_any_port());
        let trust = Trust::These(cert.clone().into_bytes());
        let tls = tls.then(|| Client::new(&trust, false).unwrap());
        let bytes = Noise::new(7).bytes(size);
        let heard = Arc::default();
        let handler = on(asks(bytes.clone(), &heard));
        let client = client(address(&at, tls), Some(&recordings[1]), handler);
        assert_eq!(client.end().1, Vec::<String>::new(), "{listen}");
        assert_eq!(server.end().1, Vec::<String>::new(), "{listen}");
        assert!(*heard.lock().unwrap() == bytes, "{listen} {size}");
        for path in recordings {
            let recording = Recording::read(&path);
            for stream in [Stream::C2s, Stream::S2c] {
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
fn an_answer_is_never_recorded_before_its_question() {
    let (_folder, path) = folder();
    let (at, server) = serve("tcp://127.0.0.1:0", None, once(), on(echo));
    let mut left = 500_u32;
    let handler = on(move |told, commands: &mut Vec<Command>| match told {
        Told::Begin => commands.push(Command::Connect(9)),
        Told::Opened(_) => commands.push(Command::Send(9, vec![b'q'])),
        Told::Received(..) if left == 0 => commands.push(Command::Close(9)),
        Told::Received(..) => {
            left -= 1;
            commands.push(Command::Send(9, vec![b'q']));
        }
        _ => {}
    });
    client(address(&at, None), Some(&path), handler).end();
    server.end();
    let mut turn = Stream::S2c;
    for record in Recording::read(&path).0 {
        if let Record::Chunk { conn, stream, .. } = record {
            assert_eq!(conn, 9);
            assert_ne!(stream, turn);
            turn = stream;
        }
    }
}

#[test]
fn many_connections_at_once_are_kept_apart() {
    const MANY: u32 = 64;
    let (_folder, path) = folder();
    let mut over = 0;
    let server = on(move |told, commands: &mut Vec<Command>| {
        if let Told::Ended(_, Ended::Closed) = told {
            over += 1;
            if over == MANY {
                commands.push(Command::Stop);
            }
        }
        echo(told, commands);
    });
    let (at, server) = serve("tcp://127.0.0.1:0", None, Accepting::default(), server);
    // Nobody says anything until everybody is there.
    let mut open = 0;
    let heard = Arc::new(Mutex::new(vec![Vec::new(); MANY as usize]));
    let keeps = Arc::clone(&heard);
    let mine = |conn: u32| Noise::new(u64::from(conn)).bytes(10_000);
    let handler = on(move |told, commands: &mut Vec<Command>| match told {
        Told::Begin => commands.extend((1..=MANY).map(Command::Connect)),
        Told::Opened(_) => {
            open += 1;
            if open == MANY {
                for conn in 1..=MANY {
                    commands.push(Command::Send(conn, mine(conn)));
                    commands.push(Command::Finish(conn));
                }
            }
        }
        Told::Received(conn, bytes) => keeps.lock().unwrap()[conn as usize - 1].extend(bytes),
        _ => {}
    });
    client(address(&at, None), Some(&path), handler).end();
    server.end();
    let recording = Recording::read(&path);
    for conn in 1..=MANY {
        assert_eq!(heard.lock().unwrap()[conn as usize - 1], mine(conn));
        assert_eq!(recording.bytes(conn, Stream::C2s), mine(conn));
        assert_eq!(recording.bytes(conn, Stream::S2c), mine(conn));
    }
}

#[test]
fn either_side_may_end_its_direction_first() {
    for we_first in [true, false] {
        let (tell, told) = telling();
        let handler = on(move |happened: Told, commands: &mut Vec<Command>| {
            match &happened {
                Told::Opened(conn) if we_first => commands.push(Command::Finish(*conn)),
                Told::Ended(conn, Ended::Eof) if !we_first => {
                    commands.push(Command::Send(*conn, b"last".to_vec()));
                    commands.push(Command::Finish(*conn));
                    // Too late.
                    commands.push(Command::Send(*conn, b"never".to_vec()));
                }
                _ => {}
            }
            tell.send(happened).unwrap();
        });
        let (_folder, path) = folder();
        let (at, server) = serve("tcp://127.0.0.1:0", Some(&path), once(), handler);
        let mut peer = dial(&at);
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
        let all: Vec<Told> = told.iter().collect();
        let want = [
            Told::Begin,
            Told::Opened(1),
            Told::Received(1, b"still".to_vec()),
            Told::Ended(1, Ended::Eof),
            Told::Ended(1, Ended::Closed),
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
fn a_reset_is_heard_and_can_be_ordered() {
    // Theirs.
    let (tell, told) = telling();
    let (_folder, path) = folder();
    let handler = on(move |happened: Told, _: &mut Vec<Command>| tell.send(happened).unwrap());
    let (at, server) = serve("tcp://127.0.0.1:0", Some(&path), once(), handler);
    let peer = dial(&at);
    assert_eq!(next(&told), Told::Begin);
    assert_eq!(next(&told), Told::Opened(1));
    rustix::net::sockopt::set_socket_linger(&peer, Some(Duration::ZERO)).unwrap();
    drop(peer);
    assert_eq!(next(&told), Told::Ended(1, Ended::Reset));
    server.end();
    assert_eq!(events(&Recording::read(&path)), ["open", "reset c2s"]);

    // Ours, with half an answer before it.
    let (tell, told) = telling();
    let handler = on(move |happened: Told, commands: &mut Vec<Command>| {
        if let Told::Received(conn, _) = &happened {
            commands.push(Command::Send(*conn, b"half".to_vec()));
            commands.push(Command::Reset(*conn));
            commands.push(Command::Send(*conn, b"never".to_vec()));
        }
        tell.send(happened).unwrap();
    });
    let (at, server) = serve("tcp://127.0.0.1:0", Some(&path), once(), handler);
    let mut peer = dial(&at);
    peer.write_all(b"?").unwrap();
    let mut got = Vec::new();
    let error = peer.read_to_end(&mut got).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(got, b"half");
    server.end();
    assert_eq!(
        told.iter().last(),
        Some(Told::Ended(1, Ended::Reset)),
        "what we cut is told too"
    );
    let recording = Recording::read(&path);
    assert_eq!(events(&recording), ["open", "reset"]);
    assert_eq!(recording.bytes(1, Stream::S2c), b"half");
}

#[test]
fn much_goes_both_ways_and_is_recorded() {
    const MUCH: usize = 64 << 20;
    let (_folder, path) = folder();
    let (at, server) = serve("tcp://127.0.0.1:0", None, once(), on(echo));
    let bytes = Noise::new(3).bytes(MUCH);
    let heard = Arc::default();
    let handler = on(asks(bytes.clone(), &heard));
    client(address(&at, None), Some(&path), handler).end();
    server.end();
    assert!(*heard.lock().unwrap() == bytes);
    let recording = Recording::read(&path);
    for stream in [Stream::C2s, Stream::S2c] {
        assert!(recording.bytes(1, stream) == bytes);
    }
}

#[test]
fn a_client_that_answers_much_still_hears() {
    const PIECES: usize = 20 << 20 >> 16;
    let (at, server) = serve("tcp://127.0.0.1:0", None, once(), on(echo));
    let piece = Noise::new(4).bytes(1 << 16);
    let heard = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&heard);
    let handler = on(move |told, commands: &mut Vec<Command>| match told {
        Told::Begin => {
            commands.push(Command::Connect(1));
            commands.push(Command::Send(1, vec![b'?']));
        }
        Told::Received(_, bytes) if counts.fetch_add(bytes.len(), Ordering::Relaxed) == 0 => {
            commands.extend((0..PIECES).map(|_| Command::Send(1, piece.clone())));
            commands.push(Command::Finish(1));
        }
        _ => {}
    });
    client(address(&at, None), None, handler).end();
    server.end();
    assert_eq!(heard.load(Ordering::Relaxed), 1 + (PIECES << 16));
}

#[test]
fn a_handshake_that_fails_is_said_and_told_to_no_server() {
    let papers = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (cert, key) = (papers.cert.pem(), papers.signing_key.serialize_pem());
    let options = Accepting {
        tls: Some(Server::new(cert.as_bytes(), key.as_bytes(), false).unwrap()),
        ..once()
    };
    let (tell, told) = telling();
    let handler = on(move |happened: Told, _: &mut Vec<Command>| tell.send(happened).unwrap());
    let (at, server) = serve("tls://localhost:0", None, options, handler);
    let strict = Client::new(&Trust::System, false);
    let other = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let other = Trust::These(other.cert.pem().into_bytes());
    let strict = strict.or(Client::new(&other, false)).unwrap();
    let (tells, refused) = telling();
    let handler = on(
        move |happened: Told, commands: &mut Vec<Command>| match happened {
            Told::Begin => commands.push(Command::Connect(1)),
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
        Told::Ended(1, Ended::Refused(why)) => {
            let want = format!("cannot connect to {at}: nobody trusted has signed the server's");
            assert!(why.starts_with(&want), "{why}");
        }
        other => panic!("{other:?}"),
    }
    let (outcome, said) = server.end();
    assert!(outcome.refused);
    assert!(said[0].starts_with("connection 1: the client"), "{said:?}");
    assert_eq!(told.iter().collect::<Vec<_>>(), [Told::Begin]);
}

#[test]
fn who_takes_no_answers_can_ask_no_more() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&taken);
    let handler = on(move |told: Told, commands: &mut Vec<Command>| {
        if let Told::Received(_, bytes) = &told {
            counts.fetch_add(bytes.len(), Ordering::Relaxed);
        }
        echo(told, commands);
    });
    let (at, server) = serve("tcp://127.0.0.1:0", None, once(), handler);
    let mut peer = dial(&at);
    let bytes = Noise::new(5).bytes(1 << 20);
    peer.set_nonblocking(true).unwrap();
    // Until the other side has taken nothing for a while.
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
    // What is held, and what the system holds of what was sent back.
    let held = taken.load(Ordering::Relaxed);
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
fn an_actor_that_floods_is_not_called() {
    const PIECE: usize = 1 << 20;
    let made = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&made);
    let mut open = false;
    let handler = on(move |told, commands: &mut Vec<Command>| match told {
        Told::Opened(_) => open = true,
        Told::Tick if open && counts.load(Ordering::Relaxed) < 200 << 20 => {
            counts.fetch_add(PIECE, Ordering::Relaxed);
            commands.push(Command::Send(1, vec![b'x'; PIECE]));
        }
        Told::Tick if open => commands.push(Command::Close(1)),
        _ => {}
    });
    // Always late.
    *handler.due.lock().unwrap() = Some(1);
    let (at, server) = serve("tcp://127.0.0.1:0", None, once(), handler);
    let mut peer = dial(&at);
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
fn a_connection_that_cannot_be_is_told_with_the_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = format!("tcp://{}", listener.local_addr().unwrap());
    drop(listener);
    // One whose queue is full does not answer at all.
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
        let (tell, told) = telling();
        let handler = on(
            move |happened: Told, commands: &mut Vec<Command>| match happened {
                Told::Begin => commands.push(Command::Connect(4)),
                other => tell.send(other).unwrap(),
            },
        );
        let target = Target::Address {
            to: Address::parse(to).unwrap(),
            tls: None,
            within: Duration::from_millis(200),
        };
        let (_folder, path) = folder();
        let (outcome, said) = client(target, Some(&path), handler).end();
        assert!(outcome.refused);
        assert!(said.is_empty(), "{said:?}");
        match told.iter().collect::<Vec<_>>().as_slice() {
            [Told::Ended(4, Ended::Refused(why))] => {
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
fn what_was_ordered_before_the_stop_is_done_and_nothing_after_it() {
    let (_folder, path) = folder();
    let bytes = Noise::new(1).bytes(5 << 20);
    let sends = bytes.clone();
    let (tell, told) = telling();
    let handler = on(move |happened: Told, commands: &mut Vec<Command>| {
        if let Told::Opened(conn) = happened {
            commands.push(Command::Send(conn, sends.clone()));
            commands.push(Command::Stop);
            commands.push(Command::Send(conn, b"never".to_vec()));
        }
        tell.send(happened).unwrap();
    });
    let (at, server) = serve(
        "tcp://127.0.0.1:0",
        Some(&path),
        Accepting::default(),
        handler,
    );
    let mut peer = dial(&at);
    let mut got = Vec::new();
    peer.read_to_end(&mut got).unwrap();
    drop(peer);
    server.end();
    assert!(got == bytes);
    assert_eq!(told.iter().last(), Some(Told::Opened(1)));
    let recording = Recording::read(&path);
    assert!(recording.bytes(1, Stream::S2c) == bytes);
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
fn who_takes_nothing_does_not_hold_up_the_end_for_ever() {
    let handler = on(move |told, commands: &mut Vec<Command>| {
        if let Told::Opened(conn) = told {
            commands.push(Command::Send(conn, vec![0; 32 << 20]));
            commands.push(Command::Stop);
        }
    });
    let (at, server) = serve("tcp://127.0.0.1:0", None, Accepting::default(), handler);
    let peer = dial(&at);
    let (_, said) = server.end();
    drop(peer);
    assert_eq!(
        said,
        ["connection 1: the other side does not take what it was sent: cut"]
    );
}

#[test]
fn a_server_that_hears_nothing_for_so_long_ends() {
    let options = Accepting {
        idle: Some(Duration::from_millis(50)),
        ..Accepting::default()
    };
    let (at, server) = serve("tcp://127.0.0.1:0", None, options, on(echo));
    let mut peer = dial(&at);
    let mut got = Vec::new();
    peer.read_to_end(&mut got).unwrap();
    drop(peer);
    assert_eq!(server.end().0.signal, None);
}

#[test]
fn timers_are_kept_and_their_end_is_the_end_of_all() {
    let due: Arc<Mutex<Option<i64>>> = Arc::default();
    let sets = Arc::clone(&due);
    let started = i64::try_from(crate::transport::now()).unwrap();
    let mut left = 3;
    let (tell, told) = telling();
    let mut handler = on(move |happened: Told, _: &mut Vec<Command>| {
        left -= i64::from(happened == Told::Tick);
        *sets.lock().unwrap() = (left > 0).then(|| started + (4 - left) * 20_000_000);
        tell.send(happened).unwrap();
    });
    handler.due = due;
    let nowhere = Address::loopback(1);
    client(address(&nowhere, None), None, handler).end();
    let all: Vec<Told> = told.iter().collect();
    assert_eq!(all, [Told::Begin, Told::Tick, Told::Tick, Told::Tick]);
}

#[test]
fn text_is_shown_in_order_and_a_closed_screen_ends_it() {
    let nowhere = Address::loopback(1);
    let shown = Arc::new(Mutex::new(String::new()));
    let keeps = Arc::clone(&shown);
    let handler = on(|told, commands: &mut Vec<Command>| {
        if told == Told::Begin {
            commands.extend((0..100).map(|n| Command::Print(format!("{n} "))));
            commands.push(Command::Stop);
        }
    });
    let screen = Box::new(move |text: &str| {
        keeps.lock().unwrap().push_str(text);
        Ok(())
    });
    screen_writer(address(&nowhere, None), None, screen, handler).end();
    let want = (0..100)
        .map(|n| format!("{n} "))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(*shown.lock().unwrap(), want);

    for (kind, complains) in [
        (std::io::ErrorKind::BrokenPipe, false),
        (std::io::ErrorKind::StorageFull, true),
    ] {
        let handler = on(|told, commands: &mut Vec<Command>| {
            if told == Told::Begin {
                commands.push(Command::Print("text".to_owned()));
            }
        });
        // It would wait for ever.
        *handler.due.lock().unwrap() = Some(i64::MAX);
        let screen = Box::new(move |_: &str| Err(std::io::Error::from(kind)));
        let runs = screen_writer(address(&nowhere, None), None, screen, handler);
        let (outcome, said) = runs.end();
        assert_eq!(outcome.seen.trouble, complains, "{kind}");
        assert_eq!(said.len(), usize::from(complains), "{said:?}");
    }
}
