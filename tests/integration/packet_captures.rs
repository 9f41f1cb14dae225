//! Packet captures on the command line: the file is built here, byte by byte.

use crate::common::{run, temporary, wiretool};
use std::path::PathBuf;
use wiretool::capture::{CaptureInput, Form, Item};
use wiretool::protocol::Direction;

/// A segment: the ports of sender and receiver, its sequence number, its flags and its payload.
type Segment<'a> = (u16, u16, u32, u8, &'a [u8]);

/// Returns a call of saikuro.
fn saikuro_call() -> Vec<u8> {
    let mut call = Vec::new();
    let mut input = CaptureInput::new(Form::Hex);
    let mut sink = |item: Item<'_>| {
        if let Item::Chunk(chunk) = item
            && chunk.direction == Some(Direction::ToServer)
        {
            call.extend_from_slice(chunk.bytes);
        }
    };
    input.push(
        &std::fs::read("fixtures/saikuro/call.hex").unwrap(),
        &mut sink,
    );
    input.finish(&mut sink);
    call
}

/// Returns a pcap file with two connections, one of saikuro and one of no protocol.
pub fn capture(name: &str) -> PathBuf {
    let call = saikuro_call();
    let after = 10 + call.len() as u32 + 5;
    let segments: [Segment<'_>; 5] = [
        (50_000, 7000, 9, 2, b""),
        (50_000, 7000, 10, 16, &call),
        (50_001, 7001, 9, 2, b""),
        (
            50_001,
            7001,
            10,
            16,
            b"\xff\xfe not a message of any protocol",
        ),
        (50_000, 7000, after, 16, &call),
    ];
    write_pcap(name, &segments)
}

/// Writes a pcap file with link type RAW.
fn write_pcap(name: &str, segments: &[Segment<'_>]) -> PathBuf {
    let mut file = Vec::new();
    for n in [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, 65535, 101] {
        file.extend_from_slice(&n.to_le_bytes());
    }
    for (at, (from, to, sequence, flags, payload)) in segments.iter().enumerate() {
        let total = (40 + payload.len()) as u16;
        let mut packet = vec![0x45, 0];
        packet.extend_from_slice(&total.to_be_bytes());
        packet.extend_from_slice(&[0, 0, 0x40, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
        packet.extend_from_slice(&from.to_be_bytes());
        packet.extend_from_slice(&to.to_be_bytes());
        packet.extend_from_slice(&sequence.to_be_bytes());
        packet.extend_from_slice(&[0, 0, 0, 0, 0x50, *flags, 1, 0, 0, 0, 0, 0]);
        packet.extend_from_slice(payload);
        let len = packet.len() as u32;
        for n in [100, at as u32, len, len] {
            file.extend_from_slice(&n.to_le_bytes());
        }
        file.extend_from_slice(&packet);
    }
    let path = temporary().join(name);
    std::fs::write(&path, file).unwrap();
    path
}

#[test]
fn recording_of_a_capture_gives_the_same_lines() {
    let pcap = capture("same-lines.pcap");
    let recording = temporary().join("same-lines.jsonl");
    let decode = |path: &PathBuf| {
        let output = wiretool()
            .args(["decode", "-f", "json"])
            .arg(path)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let (code, lines) = decode(&pcap);
    assert_eq!(code, Some(1), "a gap is a fault");
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.contains("a gap of 5 bytes"), "{lines}");
    let made = wiretool()
        .args(["decode", "-q", "-w"])
        .arg(&recording)
        .arg(&pcap)
        .output();
    assert_eq!(made.unwrap().status.code(), Some(1));
    assert_eq!(decode(&recording), (code, lines));
}

#[test]
fn unrecognised_connections_are_named_and_ports_choose() {
    let pcap = capture("ports.pcap");
    let path = pcap.to_str().unwrap();
    let (_, _, stderr) = run(wiretool().args(["decode", path]), "");
    assert!(
        stderr.contains("1 connection has bytes that no protocol recognises (c1)"),
        "{}",
        stderr
    );
    let (_, _, stderr) = run(
        wiretool().args(["decode", "-v", "--port", "50000", path]),
        "",
    );
    assert!(!stderr.contains("no protocol recognises"), "{}", stderr);
    assert!(
        stderr.contains("c0: 127.0.0.1:50000 -> 127.0.0.1:7000"),
        "{}",
        stderr
    );
    // Other inputs have no ports.
    for (file, is_told) in [(path, false), ("fixtures/saikuro/call.hex", true)] {
        for command in ["decode", "lint", "stat"] {
            let (_, _, stderr) = run(wiretool().args([command, "--port", "50000", file]), "");
            assert_eq!(stderr.contains("--port is ignored"), is_told, "{stderr}");
        }
    }
}

#[test]
fn commands_read_packet_captures() {
    let pcap = capture("commands.pcap");
    let path = pcap.to_str().unwrap();
    for (command, wanted) in [
        (&["lint", "-f", "json"][..], "saikuro"),
        (&["stat"], "call"),
        (&["redact"], "\"captured\":\"pcap\""),
    ] {
        let (_, stdout, stderr) = run(wiretool().args(command).arg(path), "");
        assert!(stdout.contains(wanted), "{command:?}: {stdout} {stderr}");
    }
    let (code, _, stderr) = run(wiretool().args(["diff", path, path]), "");
    assert_ne!(code, 2, "{stderr}");
}

#[test]
fn named_format_exits_with_2() {
    let tar = [
        &b"logs/a.l"[..],
        &[0; 92],
        b"0000644\0",
        &[b'0'; 149],
        b"ustar\x0000",
    ]
    .concat();
    for (bytes, wanted) in [
        (&b"\x7fELF\x02\x01\x01"[..], "an ELF program"),
        (b"\x89PNG\r\n\x1a\n....", "a PNG image"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"\x04\x22\x4d\x18....", "compressed with lz4"),
        (&tar[..], "a tar archive"),
        (b"SQLite format 3\0...", "an SQLite database"),
        (b"PAR1....", "a Parquet file"),
        (b"3866:9:websocket;0:~", "a flow file of mitmproxy"),
        (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", "cut short in its header"),
    ] {
        let (code, stdout, stderr) = run(wiretool().arg("decode"), bytes);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(wanted), "{}", stderr);
        assert_eq!(stdout, "");
    }
}

/// Each connection is judged by the rules of its own protocol, and each protocol has its own statistics.
#[test]
fn protocols_of_a_capture_are_judged_separately() {
    let call = saikuro_call();
    let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":[1]}\n";
    let answers = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}\n";
    let segments: [Segment<'_>; 6] = [
        (50_000, 7000, 9, 2, b""),
        (50_000, 7000, 10, 16, &call),
        (50_001, 7001, 9, 2, b""),
        (7001, 50_001, 9, 18, b""),
        (50_001, 7001, 10, 16, request),
        (7001, 50_001, 10, 16, answers),
    ];
    let path = write_pcap("two-protocols.pcap", &segments);
    let run = |args: &[&str], more: &[&PathBuf]| {
        let output = wiretool().args(args).args(more).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (code, text) = run(&["lint"], &[&path]);
    assert!(text.contains("jsonrpc/orphan"), "{text}");
    assert!(text.contains("4 messages of saikuro, jsonrpc"), "{text}");
    assert_eq!(code, Some(0), "{text}");
    let (_, text) = run(&["lint", "-f", "json"], &[&path]);
    assert!(
        text.contains(r#""protocols":["saikuro","jsonrpc"]"#),
        "{text}"
    );
    let (code, text) = run(&["stat", "-f", "json"], &[&path]);
    let found: Vec<_> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .collect();
    let counts: Vec<_> = found
        .iter()
        .map(|o| (o["protocol"].as_str(), o["messages"].as_u64()))
        .collect();
    assert_eq!(
        counts,
        [(Some("saikuro"), Some(1)), (Some("jsonrpc"), Some(3))],
        "{text}"
    );
    assert_eq!(code, Some(0));

    let other = [&segments[..5], &[(7001, 50_001, 10, 16, &answers[..36])]].concat();
    let other = write_pcap("two-protocols-less.pcap", &other);
    let (code, text) = run(&["diff"], &[&path, &other]);
    assert!(text.starts_with("jsonrpc:\n- "), "{text}");
    assert!(
        text.contains("0 messages differ, 1 only in A, 0 only in B; of 4 and 3 messages"),
        "{text}"
    );
    assert_eq!(code, Some(1));
    let (code, text) = run(&["diff"], &[&path, &path]);
    assert_eq!(
        (code, text.contains("no difference: 4 and 4 messages")),
        (Some(0), true),
        "{text}"
    );
}

/// A connection that can be of several protocols until the end of the file keeps its place before later connections.
#[test]
fn messages_are_in_the_order_of_their_times() {
    let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"own\",\"params\":[1]}\n";
    let answer = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}\n";
    let segments: [Segment<'_>; 6] = [
        (50_001, 7001, 9, 2, b""),
        (7001, 50_001, 9, 18, b""),
        (50_001, 7001, 10, 16, request),
        (7001, 50_001, 10, 16, answer),
        (50_000, 7000, 9, 2, b""),
        (50_000, 7000, 10, 16, &saikuro_call()),
    ];
    let path = write_pcap("late-protocol.pcap", &segments);
    let arguments = ["decode", "-f", "json"];
    let output = wiretool().args(arguments).arg(&path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found: Vec<_> = lines
        .iter()
        .map(|line| (line["conn"].as_u64(), line["protocol"].as_str()))
        .collect();
    let [zero, one] = [Some(0), Some(1)];
    assert_eq!(
        found,
        [
            (zero, Some("jsonrpc")),
            (zero, Some("jsonrpc")),
            (one, Some("saikuro"))
        ],
        "{text}"
    );
}

#[test]
fn file_that_is_no_packet_capture_has_one_error() {
    let path = temporary().join("no-capture.pcap");
    std::fs::write(&path, "# a text\n").unwrap();
    let output = wiretool()
        .args(["decode", "--from", "pcap"])
        .arg(&path)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("not a pcap or pcapng file"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert_eq!(output.status.code(), Some(2));
}
