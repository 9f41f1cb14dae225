//! Hostile peers: memory and descriptors are bounded, and all bytes are forwarded.

use super::common::*;
use flate2::{Compress, Compression, FlushCompress};
use rustix::process::Signal;
use std::io::Write as _;

fn status(pid: u32, key: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn descriptors(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .count()
}

/// One WebSocket frame that inflates to 96 MiB of zeros.
fn bomb() -> Vec<u8> {
    let mut packer = Compress::new(Compression::fast(), false);
    let (zeros, mut body) = (vec![0; 1 << 20], Vec::new());
    for n in 0..96 {
        let end = [FlushCompress::None, FlushCompress::Sync][usize::from(n == 95)];
        let mut rest = zeros.as_slice();
        while !rest.is_empty() {
            body.reserve(64 << 10);
            let before = packer.total_in();
            packer.compress_vec(rest, &mut body, end).unwrap();
            rest = &rest[(packer.total_in() - before) as usize..];
        }
    }
    let mut frame = vec![0xc1, 0x7f];
    frame.extend((body.len() as u64).to_be_bytes());
    frame.extend(body);
    frame
}

/// With and without faults: a body that inflates without end, and a head without end, pass unchanged.
#[test]
fn bombs_and_endless_heads_need_bounded_memory() {
    let ask = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let bombs = [ask.as_bytes(), &bomb(), &bomb()].concat();
    let head = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(1 << 20));
    for (stream, name) in [(bombs, "bombs"), (head.into_bytes(), "a long head")] {
        for fault in ["", "dir=c2s nth 1000: drop"] {
            let (address, server) = tcp(|mut stream| receive(&mut stream));
            let mut more = vec!["-q", "-p", "sael", "-w", "/dev/null"];
            if !fault.is_empty() {
                more.extend(["--fault", fault]);
            }
            let address = address.replace("tcp", "ws");
            let (run, port) = Run::proxy("proxy", &address, &more);
            let idle = status(run.pid(), "VmHWM");
            let mut client = connect_to_port(port);
            client.write_all(&stream).unwrap();
            client.end();
            assert!(server.join().unwrap() == stream, "{name} {fault}");
            let peak = status(run.pid(), "VmHWM");
            assert!(peak - idle < 64 << 10, "{name} {fault}: {peak} KiB");
            run.signal(Signal::TERM);
            assert_eq!(run.code(), Some(143));
        }
    }
}

/// Closed connections leave no descriptor open, and slow ones use little memory.
#[test]
fn closed_connections_release_resources() {
    // The messages of the second one need the conversation.
    many_connections("nth 99999: drop", 100);
    // The conversation stores a bounded number of closed connections.
    many_connections("reply_to>=0 nth 99999: drop", 1100);
}

fn many_connections(fault: &str, warm: u32) {
    let fault = ["-q", "-p", "oracle", "-w", "/dev/null", "--fault", fault];
    let (run, port) = Run::proxy("record", &echo_server(), &fault);
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ready\"}\n";
    let once = || {
        let mut client = connect_to_port(port);
        client.write_all(line).unwrap();
        client.end();
        assert_eq!(receive(&mut client), line);
    };
    (0..warm).for_each(|_| once());
    let (files, memory) = (descriptors(run.pid()), status(run.pid(), "VmRSS"));
    (0..1000).for_each(|_| once());
    assert!(descriptors(run.pid()) <= files + 4);
    assert!(status(run.pid(), "VmRSS") < memory + 1024);
    let mut slow: Vec<_> = (0..100).map(|_| connect_to_port(port)).collect();
    for piece in line.chunks(1).take(20) {
        for client in &mut slow {
            client.write_all(piece).unwrap();
        }
    }
    assert!(status(run.pid(), "VmRSS") < memory + (4 << 10));
    drop(slow);
    let until = std::time::Instant::now() + LIMIT;
    while descriptors(run.pid()) > files + 4 {
        assert!(std::time::Instant::now() < until, "descriptors stay");
        std::thread::yield_now();
    }
    run.signal(Signal::TERM);
    assert_eq!(run.code(), Some(143));
}
