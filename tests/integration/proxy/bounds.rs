//! A slow connection does not slow other connections, and memory is bounded.

use super::common::*;
use rustix::process::Signal;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::thread::spawn;

/// The maximum growth of the proxy in these tests, in KiB. Its code alone takes 8 to 13 MiB, depending on the build.
const MAX_GROWTH: u64 = 8 << 10;

/// The peak memory of a process, in KiB.
fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|l| l.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn slow_reader_slows_only_its_sender() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let (run, port) = Run::proxy("record", &address, &["-w", "/dev/null"]);
    let start = peak_memory(run.pid());
    let mut slow = connect_to_port(port);
    let (mut server, _) = listener.accept().unwrap();
    let sent = write_until_full(&mut slow);
    // Another connection is not delayed.
    let mut other = connect_to_port(port);
    let (mut answering, _) = listener.accept().unwrap();
    other.write_all(b"quick").unwrap();
    answering.read_exact(&mut [0; 5]).unwrap();
    let growth = peak_memory(run.pid()) - start;
    assert!(growth < MAX_GROWTH, "{growth} KiB");
    // Every accepted byte arrives.
    slow.end();
    drop(slow);
    server.set_read_timeout(Some(LIMIT)).unwrap();
    assert_eq!(receive(&mut server).len(), sent);
    run.signal(Signal::TERM);
    assert_eq!(run.code(), Some(143));
}

#[test]
fn busy_connections_need_bounded_memory() {
    let (run, port) = Run::proxy("record", &echo_server(), &["-q", "-w", "/dev/null"]);
    let start = peak_memory(run.pid());
    let clients: Vec<_> = (0..64_u8)
        .map(|n| {
            spawn(move || {
                let mut client = connect_to_port(port);
                let mut writer = client.clone_socket();
                let block = vec![b'0' + n; 1 << 20];
                let sender = spawn(move || {
                    writer.write_all(&block).unwrap();
                    writer.end();
                });
                assert_eq!(receive(&mut client).len(), 1 << 20);
                sender.join().unwrap();
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    let growth = peak_memory(run.pid()) - start;
    run.signal(Signal::TERM);
    assert_eq!(run.code(), Some(143));
    assert!(growth < MAX_GROWTH, "{growth} KiB");
}

#[test]
fn slow_view_loses_frames_and_traffic_continues() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("r");
    // Nobody reads the view.
    let (view, into) = std::io::pipe().unwrap();
    let mut proxy = command(&[
        "proxy",
        "-p",
        "oracle",
        "--once",
        "--listen",
        "tcp://127.0.0.1:0",
    ]);
    proxy
        .args(["--connect", &echo_server(), "-w"])
        .arg(&recording);
    let mut proxy = proxy
        .stdin(Stdio::null())
        .stdout(into)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = proxy.stderr.take().unwrap();
    let (tell, reported) = channel();
    let reader = spawn(move || {
        let mut all = Vec::new();
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = stderr.read(&mut piece) {
            all.extend_from_slice(&piece[..n]);
            let _ = tell.send(String::from_utf8_lossy(&all).into_owned());
        }
        String::from_utf8_lossy(&all).into_owned()
    });
    let output = reported.recv_timeout(LIMIT).unwrap();
    let (_, rest) = output.split_once("tcp://127.0.0.1:").unwrap();
    let mut client = connect_to_port(rest.split(',').next().unwrap().parse().unwrap());
    let line =
        br#"{"jsonrpc":"2.0","id":0,"method":"invoke","params":{"selector":"f","calldata":[]}}"#;
    let block = [&line[..], b"\n"].concat().repeat(1000);
    let mut sender = client.clone_socket();
    let total = 200 * block.len();
    let sends = spawn(move || {
        for _ in 0..200 {
            sender.write_all(&block).unwrap();
        }
        sender.end();
    });
    assert_eq!(receive(&mut client).len(), total, "traffic goes on");
    sends.join().unwrap();
    assert_eq!(proxy.wait().unwrap().code(), Some(2));
    let output = reader.join().unwrap();
    assert!(
        output.contains("bytes were not shown or recorded"),
        "{output}"
    );
    let recording = Recording::read(&recording);
    let lost: u64 = recording
        .0
        .iter()
        .filter_map(|record| match record {
            wiretool::capture::Record::Event(e) if e.event == "lost" => e.more["len"].as_u64(),
            _ => None,
        })
        .sum();
    let kept = [
        wiretool::capture::ChunkSource::C2s,
        wiretool::capture::ChunkSource::S2c,
    ]
    .map(|stream| recording.bytes(1, stream).len())
    .iter()
    .sum::<usize>();
    assert!(lost > 0);
    assert_eq!(
        lost as usize + kept,
        2 * total,
        "each byte is there or counted"
    );
    drop(view);
}
