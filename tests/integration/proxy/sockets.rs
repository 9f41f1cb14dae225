//! Between sockets: every byte, every end.

use super::common::*;
use rustix::process::Signal;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread::spawn;
use wiretool::capture::Stream;

/// Both sides send at once, in pieces of all sizes, and each gets what the other sent.
pub fn both_ways<C: Socket, S: Socket>(mut client: C, server: S, size: usize) {
    let up = Noise::new(size as u64).bytes(size);
    let down = Noise::new(!(size as u64)).bytes(size);
    let (sent_up, sent_down) = (up.clone(), down.clone());
    let serve = |mut stream: S, sent: Vec<u8>| {
        let mut back = stream.twin();
        let writer = spawn(move || {
            send(&mut back, &sent, 1);
            back.end();
        });
        let got = receive(&mut stream);
        writer.join().unwrap();
        got
    };
    let server = spawn(move || serve(server, sent_down));
    let mut writer = client.twin();
    let sender = spawn(move || {
        send(&mut writer, &sent_up, 2);
        writer.end();
    });
    assert!(receive(&mut client) == down, "{size} bytes to the client");
    assert!(server.join().unwrap() == up, "{size} bytes to the server");
    sender.join().unwrap();
}

const SIZES: [usize; 7] = [0, 1, 2, 65_535, 65_537, 1 << 20, 64 << 20];

#[test]
fn tcp_passes_every_byte_both_ways() {
    for size in SIZES {
        let (give, server) = std::sync::mpsc::channel();
        let (address, _) = tcp(move |stream| give.send(stream).unwrap());
        let (run, port) = Run::proxy("record", &address, &["--once", "-w", "/dev/null"]);
        let client = dial(port);
        both_ways(client, server.recv_timeout(LIMIT).unwrap(), size);
        assert_eq!(run.code(), Some(0));
    }
}

#[test]
fn unix_passes_every_byte_both_ways() {
    for size in SIZES {
        let folder = tempfile::tempdir().unwrap();
        let (give, server) = std::sync::mpsc::channel();
        let (address, _) = unix(folder.path(), move |stream| give.send(stream).unwrap());
        let path = folder.path().join("proxy.sock");
        let listen = format!("unix:{}", path.display());
        let run = Run::new(&[
            "record",
            "--listen",
            &listen,
            "--connect",
            &address,
            "--once",
            "-w",
            "/dev/null",
        ]);
        until(&run.stderr, "connecting to");
        let client = UnixStream::connect(&path).unwrap().limited();
        both_ways(client, server.recv_timeout(LIMIT).unwrap(), size);
        assert_eq!(run.code(), Some(0));
        assert!(!path.exists(), "no socket is left behind");
    }
}

#[test]
fn either_side_may_say_all_first() {
    // The client says all first, and is answered afterwards.
    let (address, server) = tcp(|mut stream| {
        let asked = receive(&mut stream);
        stream.write_all(b"answer").unwrap();
        asked
    });
    let (run, port) = Run::proxy("proxy", &address, &["--once"]);
    let mut client = dial(port);
    client.write_all(b"question").unwrap();
    client.end();
    assert_eq!(receive(&mut client), b"answer");
    assert_eq!(server.join().unwrap(), b"question");
    assert_eq!(run.code(), Some(0));
    // The server says all first, and listens on.
    let (address, server) = tcp(|mut stream| {
        stream.write_all(b"hello").unwrap();
        stream.end();
        receive(&mut stream)
    });
    let (run, port) = Run::proxy("proxy", &address, &["--once"]);
    let mut client = dial(port);
    assert_eq!(receive(&mut client), b"hello");
    client.write_all(b"question").unwrap();
    drop(client);
    assert_eq!(server.join().unwrap(), b"question");
    assert_eq!(run.code(), Some(0));
}

#[test]
fn a_reset_is_passed_on_from_either_side() {
    let folder = tempfile::tempdir().unwrap();
    let is_reset = |stream: TcpStream, half_closed: bool| {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let time = Timespec {
            tv_sec: 60,
            tv_nsec: 0,
        };
        let mut fds = [PollFd::new(&stream, PollFlags::empty())];
        assert_eq!(poll(&mut fds, Some(&time)), Ok(1), "nothing came");
        // After an end a reset looks like this.
        let wanted = if half_closed {
            ErrorKind::BrokenPipe
        } else {
            ErrorKind::ConnectionReset
        };
        assert_eq!(stream.take_error().unwrap().unwrap().kind(), wanted);
    };
    for half_closed in [false, true] {
        for client_cuts in [true, false] {
            let recording = folder.path().join(format!("{half_closed}{client_cuts}"));
            let (give, server) = std::sync::mpsc::channel();
            let (address, _) = tcp(move |stream| give.send(stream).unwrap());
            let more = ["--once", "-w", recording.to_str().unwrap()];
            let (run, port) = Run::proxy("record", &address, &more);
            let mut client = dial(port);
            let mut server: TcpStream = server.recv_timeout(LIMIT).unwrap();
            client.write_all(b"x").unwrap();
            server.read_exact(&mut [0]).unwrap();
            server.write_all(b"y").unwrap();
            client.read_exact(&mut [0]).unwrap();
            let (cutting, mut other) = if client_cuts {
                (client, server)
            } else {
                (server, client)
            };
            if half_closed {
                cutting.end();
                assert_eq!(other.read(&mut [0]).unwrap(), 0);
            }
            reset(cutting);
            is_reset(other, half_closed);
            assert_eq!(run.code(), Some(0));
            let way = if client_cuts { "c2s" } else { "s2c" };
            let events = Recording::read(&recording).events();
            let wanted = format!("reset {way}");
            assert_eq!(events.iter().rev().nth(1), Some(&wanted), "{events:?}");
        }
    }
}

#[test]
fn bytes_that_were_sent_before_a_reset_arrive() {
    let (address, server) = tcp(|mut stream| {
        let mut got = vec![0; 1000];
        stream.read_exact(&mut got).unwrap();
        got
    });
    let (run, port) = Run::proxy("proxy", &address, &["--once"]);
    let mut client = dial(port);
    client.write_all(&[7; 1000]).unwrap();
    assert_eq!(server.join().unwrap(), vec![7; 1000]);
    reset(client);
    assert_eq!(run.code(), Some(0));
}

#[test]
fn a_server_that_answers_and_leaves_is_heard() {
    // It closes with bytes unread, which resets the connection; its answer was sent before.
    let (address, server) = tcp(|mut stream| {
        stream.read_exact(&mut [0; 4]).unwrap();
        stream.write_all(b"413 too large").unwrap();
        stream
    });
    let (run, port) = Run::proxy("proxy", &address, &["--once"]);
    let mut client = dial(port);
    client.write_all(&[7; 4]).unwrap();
    let server = server.join().unwrap();
    let mut got = [0; 13];
    client.read_exact(&mut got).unwrap();
    assert_eq!(&got, b"413 too large");
    reset(server);
    assert!(client.read(&mut [0]).is_err());
    assert_eq!(run.code(), Some(0));
}

#[test]
fn a_byte_goes_on_at_once() {
    let (run, port) = Run::proxy("proxy", &echo(), &["--once"]);
    let mut client = dial(port);
    for byte in 0..=255 {
        client.write_all(&[byte]).unwrap();
        let mut back = [0];
        client.read_exact(&mut back).unwrap();
        assert_eq!(back, [byte]);
    }
    drop(client);
    assert_eq!(run.code(), Some(0));
}

#[test]
fn two_hundred_connections_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r");
    let (run, port) = Run::proxy("record", &echo(), &["-w", recording.to_str().unwrap()]);
    let mut open: Vec<TcpStream> = (0..200).map(|_| dial(port)).collect();
    for round in 0..5_u8 {
        for (n, client) in open.iter_mut().enumerate() {
            client.write_all(&[round, n as u8]).unwrap();
        }
        for (n, client) in open.iter_mut().enumerate() {
            let mut back = [0; 2];
            client.read_exact(&mut back).unwrap();
            assert_eq!(back, [round, n as u8]);
        }
    }
    for client in &mut open {
        client.end();
        assert_eq!(receive(client), b"");
    }
    run.signal(Signal::TERM);
    assert_eq!(run.code(), Some(143));
    let recording = Recording::read(&recording);
    let count = |name| recording.events().iter().filter(|e| *e == name).count();
    assert_eq!((count("open"), count("end")), (200, 1));
}

#[test]
fn a_hundred_thousand_messages_on_sixty_four_connections() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r");
    let name = recording.to_str().unwrap();
    let (run, port) = Run::proxy("record", &echo(), &["-w", name]);
    let clients: Vec<_> = (0..64_u64)
        .map(|n| {
            spawn(move || {
                let mut client = dial(port);
                let mut noise = Noise::new(n + 1);
                let mut sent = Vec::new();
                for _ in 0..=100_000 / 64 {
                    let message = noise.bytes(1 + n as usize);
                    client.write_all(&message).unwrap();
                    let mut back = vec![0; message.len()];
                    client.read_exact(&mut back).unwrap();
                    assert!(back == message);
                    sent.extend(message);
                }
                client.end();
                assert_eq!(receive(&mut client), b"");
                sent
            })
        })
        .collect();
    let mut sent: Vec<Vec<u8>> = clients.into_iter().map(|c| c.join().unwrap()).collect();
    run.signal(Signal::INT);
    assert_eq!(run.code(), Some(130));
    let recording = Recording::read(&recording);
    for stream in [Stream::C2s, Stream::S2c] {
        let mut kept: Vec<Vec<u8>> = (1..=64).map(|conn| recording.bytes(conn, stream)).collect();
        kept.sort();
        sent.sort();
        assert!(kept == sent, "what was recorded is what was sent");
    }
}

#[test]
fn a_server_that_is_not_there_is_a_reset_and_a_sentence() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let (run, listen) = Run::proxy("proxy", &format!("tcp://127.0.0.1:{port}"), &["--once"]);
    let mut client = dial(listen);
    let error = client.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let (status, _, said) = run.end();
    assert_eq!(status.code(), Some(2));
    let wanted = format!(
        "wiretool: connection 1: cannot connect to tcp://127.0.0.1:{port}: Connection refused"
    );
    assert!(said.contains(&wanted), "{said}");
}

#[test]
fn a_path_that_is_in_use_is_refused_and_a_dead_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let listen = format!("unix:{}", path.display());
    let args = [
        "proxy",
        "--listen",
        &listen,
        "--connect",
        "tcp://127.0.0.1:1",
        "--idle",
        "1ms",
    ];
    let live = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let (status, _, said) = Run::new(&args).end();
    assert_eq!(status.code(), Some(2));
    assert!(said.contains("cannot listen on unix:"), "{said}");
    drop(live);
    assert!(path.exists());
    assert_eq!(Run::new(&args).code(), Some(0));
    std::fs::write(&path, "a file").unwrap();
    assert_eq!(Run::new(&args).code(), Some(2));
    assert_eq!(std::fs::read(&path).unwrap(), b"a file");
}

#[test]
fn it_ends_when_nothing_passes_and_when_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (run, port) = Run::proxy("record", &echo(), &["--idle", "200ms", "-w", &at("idle")]);
    let mut client = dial(port);
    client.write_all(b"x").unwrap();
    client.read_exact(&mut [0]).unwrap();
    assert_eq!(run.code(), Some(0));
    // The proxy has closed it.
    assert!(matches!(client.read(&mut [0]), Ok(0) | Err(_)));
    let events = Recording::read(folder.path().join("idle").as_path()).events();
    assert_eq!(events, ["open", "close", "end"]);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let name = at(&code.to_string());
        let (run, port) = Run::proxy("record", &echo(), &["-w", &name]);
        let mut client = dial(port);
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();
        run.signal(signal);
        assert_eq!(run.code(), Some(code));
        let events = Recording::read(name.as_ref()).events();
        assert_eq!(events, ["open", "close", "end"]);
    }
}

#[test]
fn usage_is_told_in_a_line_or_two() {
    let wanted: &[(&[&str], &str)] = &[
        (&["proxy"], "nowhere to connect"),
        (&["proxy", "-p", "sael"], "nowhere to connect"),
        (&["proxy", "--connect", "wss://h/p"], "no path stands"),
        (
            &["proxy", "--connect", "h:1"],
            "tcp://HOST:PORT is wanted: tcp://h:1",
        ),
        (&["record", "--once", "--", "true"], "cannot be used with"),
        (
            &["record", "--drain-stderr", "--connect", "unix:x"],
            "are for a child: name its command after --",
        ),
        (
            &["proxy", "--idle", "2", "--connect", "unix:x"],
            "a time is wanted, such as 500ms, 5s or 2m",
        ),
        (
            &["proxy", "--quarantine", "--", "true"],
            "--quarantine must know",
        ),
        (
            &["proxy", "-p", "saikuro", "--quarantine", "--", "true"],
            "--quarantine must know",
        ),
        (
            &["proxy", "--", "/no/such/program"],
            "cannot run /no/such/program",
        ),
        (
            &[
                "proxy",
                "--listen",
                "tcp://203.0.113.1:1",
                "--connect",
                "unix:x",
            ],
            "cannot listen on tcp://203.0.113.1:1",
        ),
    ];
    for (args, text) in wanted {
        let (status, out, said) = Run::new(args).end();
        assert_eq!(status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(text), "{args:?}: {said:?}");
        assert!(
            out.is_empty() && said.lines().count() <= 6,
            "{args:?}: {said}"
        );
    }
}

#[test]
fn the_usual_port_is_used_and_told() {
    let run = Run::new(&["proxy", "-p", "saikuro", "--idle", "1ms"]);
    let said = until(&run.stderr, "usual port)");
    assert!(
        said.contains("connecting to tcp://127.0.0.1:7700 (saikuro's usual port)"),
        "{said}"
    );
    assert!(said.contains("listening on tcp://127.0.0.1:"), "{said}");
    assert_eq!(run.code(), Some(0));
}

#[test]
fn a_proxy_to_its_own_address_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let path = format!("unix:{}", folder.path().join("s").display());
    let twice = format!("unix:{}/./s", folder.path().display());
    for (listen, connect) in [
        (
            format!("tcp://127.0.0.1:{port}"),
            format!("http://localhost:{port}"),
        ),
        (
            format!("tcp://0.0.0.0:{port}"),
            format!("tcp://127.0.0.1:{port}"),
        ),
        (path, twice),
    ] {
        let args = [
            "proxy", "-p", "oracle", "--idle", "1ms", "--listen", &listen,
        ];
        let output = command(&[&args[..], &["--connect", &connect]].concat()).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("leads back to --listen"), "{said}");
    }
}

#[test]
fn who_listens_on_all_addresses_is_warned() {
    for (host, warned) in [("0.0.0.0", true), ("127.0.0.1", false)] {
        let listen = format!("tcp://{host}:0");
        for args in [
            &["proxy", "-p", "oracle", "--connect", "tcp://127.0.0.1:1"][..],
            &["stub", "saikuro"],
        ] {
            let more = ["--idle", "1ms", "--listen", &listen];
            let output = command(&[args, &more].concat()).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(said.contains("on all addresses"), warned, "{said}");
        }
    }
}
