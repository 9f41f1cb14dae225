//! The proxy between sockets: all bytes and all ends.

use super::common::*;
use rustix::process::Signal;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread::spawn;
use wiretool::capture::ChunkSource;

/// Both sides send at the same time, in pieces of all sizes, and each receives the bytes of the other.
pub fn send_in_both_directions<C: Socket, S: Socket>(mut client: C, server: S, size: usize) {
    let up = Noise::new(size as u64).bytes(size);
    let down = Noise::new(!(size as u64)).bytes(size);
    let (sent_up, sent_down) = (up.clone(), down.clone());
    let serve = |mut stream: S, sent: Vec<u8>| {
        let mut back = stream.clone_socket();
        let writer = spawn(move || {
            send(&mut back, &sent, 1);
            back.end();
        });
        let got = receive(&mut stream);
        writer.join().unwrap();
        got
    };
    let server = spawn(move || serve(server, sent_down));
    let mut writer = client.clone_socket();
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
fn tcp_forwards_every_byte() {
    for size in SIZES {
        let (give, server) = std::sync::mpsc::channel();
        let (address, _) = tcp(move |stream| give.send(stream).unwrap());
        let (run, port) = Run::proxy("record", &address, &["--once", "-w", "/dev/null"]);
        let client = connect_to_port(port);
        send_in_both_directions(client, server.recv_timeout(LIMIT).unwrap(), size);
        assert_eq!(run.code(), Some(0));
    }
}

#[test]
fn unix_socket_forwards_every_byte() {
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
        read_until(&run.stderr, "connecting to");
        let client = UnixStream::connect(&path).unwrap().with_time_limits();
        send_in_both_directions(client, server.recv_timeout(LIMIT).unwrap(), size);
        assert_eq!(run.code(), Some(0));
        assert!(!path.exists(), "no socket is left behind");
    }
}

#[test]
fn either_side_may_send_everything_first() {
    // The client sends everything first and receives the answer later.
    let (address, server) = tcp(|mut stream| {
        let asked = receive(&mut stream);
        stream.write_all(b"answer").unwrap();
        asked
    });
    let (run, port) = Run::proxy("proxy", &address, &["--once"]);
    let mut client = connect_to_port(port);
    client.write_all(b"question").unwrap();
    client.end();
    assert_eq!(receive(&mut client), b"answer");
    assert_eq!(server.join().unwrap(), b"question");
    assert_eq!(run.code(), Some(0));
    // The server sends everything first and continues to read.
    let (address, server) = tcp(|mut stream| {
        stream.write_all(b"hello").unwrap();
        stream.end();
        receive(&mut stream)
    });
    let (run, port) = Run::proxy("proxy", &address, &["--once"]);
    let mut client = connect_to_port(port);
    assert_eq!(receive(&mut client), b"hello");
    client.write_all(b"question").unwrap();
    drop(client);
    assert_eq!(server.join().unwrap(), b"question");
    assert_eq!(run.code(), Some(0));
}

#[test]
fn reset_of_either_side_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let is_reset = |stream: TcpStream, half_closed: bool| {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let time = Timespec {
            tv_sec: 60,
            tv_nsec: 0,
        };
        let mut fds = [PollFd::new(&stream, PollFlags::empty())];
        assert_eq!(poll(&mut fds, Some(&time)), Ok(1), "nothing came");
        // A reset after the end looks like this.
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
            let mut client = connect_to_port(port);
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
fn bytes_before_reset_arrive() {
    let (address, server) = tcp(|mut stream| {
        let mut got = vec![0; 1000];
        stream.read_exact(&mut got).unwrap();
        got
    });
    let (run, port) = Run::proxy("proxy", &address, &["--once"]);
    let mut client = connect_to_port(port);
    client.write_all(&[7; 1000]).unwrap();
    assert_eq!(server.join().unwrap(), vec![7; 1000]);
    reset(client);
    assert_eq!(run.code(), Some(0));
}

#[test]
fn answer_before_close_of_server_arrives() {
    // It closes with unread bytes, which resets the connection; its answer was sent before.
    let (address, server) = tcp(|mut stream| {
        stream.read_exact(&mut [0; 4]).unwrap();
        stream.write_all(b"413 too large").unwrap();
        stream
    });
    let (run, port) = Run::proxy("proxy", &address, &["--once"]);
    let mut client = connect_to_port(port);
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
fn single_byte_is_forwarded_immediately() {
    let (run, port) = Run::proxy("proxy", &echo_server(), &["--once"]);
    let mut client = connect_to_port(port);
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
fn two_hundred_concurrent_connections_work() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r");
    let (run, port) = Run::proxy(
        "record",
        &echo_server(),
        &["-w", recording.to_str().unwrap()],
    );
    let mut open: Vec<TcpStream> = (0..200).map(|_| connect_to_port(port)).collect();
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
fn hundred_thousand_messages_on_64_connections_pass() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r");
    let name = recording.to_str().unwrap();
    let (run, port) = Run::proxy("record", &echo_server(), &["-w", name]);
    let clients: Vec<_> = (0..64_u64)
        .map(|n| {
            spawn(move || {
                let mut client = connect_to_port(port);
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
    for stream in [ChunkSource::C2s, ChunkSource::S2c] {
        let mut kept: Vec<Vec<u8>> = (1..=64).map(|conn| recording.bytes(conn, stream)).collect();
        kept.sort();
        sent.sort();
        assert!(kept == sent, "what was recorded is what was sent");
    }
}

#[test]
fn missing_server_gives_reset_and_error() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let (run, listen) = Run::proxy("proxy", &format!("tcp://127.0.0.1:{port}"), &["--once"]);
    let mut client = connect_to_port(listen);
    let error = client.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let (status, _, result) = run.end();
    assert_eq!(status.code(), Some(2));
    let wanted = format!(
        "wiretool: connection 1: cannot connect to tcp://127.0.0.1:{port}: Connection refused"
    );
    assert!(result.contains(&wanted), "{result}");
}

#[test]
fn path_in_use_is_refused_and_stale_path_is_replaced() {
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
    let (status, _, result) = Run::new(&args).end();
    assert_eq!(status.code(), Some(2));
    assert!(result.contains("cannot listen on unix:"), "{result}");
    drop(live);
    assert!(path.exists());
    assert_eq!(Run::new(&args).code(), Some(0));
    std::fs::write(&path, "a file").unwrap();
    assert_eq!(Run::new(&args).code(), Some(2));
    assert_eq!(std::fs::read(&path).unwrap(), b"a file");
}

#[test]
fn proxy_ends_when_idle_or_on_signal() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (run, port) = Run::proxy(
        "record",
        &echo_server(),
        &["--idle", "200ms", "-w", &at("idle")],
    );
    let mut client = connect_to_port(port);
    client.write_all(b"x").unwrap();
    client.read_exact(&mut [0]).unwrap();
    assert_eq!(run.code(), Some(0));
    // The proxy has closed it.
    assert!(matches!(client.read(&mut [0]), Ok(0) | Err(_)));
    let events = Recording::read(folder.path().join("idle").as_path()).events();
    assert_eq!(events, ["open", "close", "end"]);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let name = at(&code.to_string());
        let (run, port) = Run::proxy("record", &echo_server(), &["-w", &name]);
        let mut client = connect_to_port(port);
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();
        run.signal(signal);
        assert_eq!(run.code(), Some(code));
        let events = Recording::read(name.as_ref()).events();
        assert_eq!(events, ["open", "close", "end"]);
    }
}

#[test]
fn usage_errors_are_short() {
    let wanted: &[(&[&str], &str)] = &[
        (&["proxy"], "no server"),
        (&["proxy", "-p", "sael"], "no server"),
        (&["proxy", "--listen", "ws://127.0.0.1:0/p"], "has no path"),
        (
            &["proxy", "--connect", "7700"],
            "tcp://HOST:PORT is wanted: tcp://127.0.0.1:7700",
        ),
        (&["record", "--once", "--", "true"], "cannot be used with"),
        (
            &["record", "--drain-stderr", "--connect", "unix:x"],
            "need a child: give its command after --",
        ),
        (
            &["proxy", "--idle", "2", "--connect", "unix:x"],
            "wanted a unit: 2s or 2ms",
        ),
        (
            &["proxy", "--quarantine", "--", "true"],
            "--quarantine needs a protocol",
        ),
        (
            &["proxy", "-p", "saikuro", "--quarantine", "--", "true"],
            "--quarantine needs a protocol",
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
        let (status, out, result) = Run::new(args).end();
        assert_eq!(status.code(), Some(2), "{args:?}: {result}");
        assert!(result.contains(text), "{args:?}: {result:?}");
        assert!(
            out.is_empty() && result.lines().count() <= 6,
            "{args:?}: {result}"
        );
    }
}

#[test]
fn default_port_is_used_and_printed() {
    let run = Run::new(&["proxy", "-p", "saikuro", "--idle", "1ms"]);
    let result = read_until(&run.stderr, "usual port)");
    assert!(
        result.contains("connecting to tcp://127.0.0.1:7700 (saikuro's usual port)"),
        "{result}"
    );
    assert!(result.contains("listening on tcp://127.0.0.1:"), "{result}");
    assert_eq!(run.code(), Some(0));
}

#[test]
fn proxy_to_own_address_is_refused() {
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
        let result = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{result}");
        assert!(result.contains("is the address of --listen"), "{result}");
    }
}

#[test]
fn listening_on_all_addresses_gives_warning() {
    for (host, warned) in [("0.0.0.0", true), ("127.0.0.1", false)] {
        let listen = format!("tcp://{host}:0");
        for args in [
            &["proxy", "-p", "oracle", "--connect", "tcp://127.0.0.1:1"][..],
            &["stub", "saikuro"],
        ] {
            let more = ["--idle", "1ms", "--listen", &listen];
            let output = command(&[args, &more].concat()).output().unwrap();
            let result = String::from_utf8(output.stderr).unwrap();
            assert_eq!(result.contains("on all addresses"), warned, "{result}");
        }
    }
}
