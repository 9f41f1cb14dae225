//! Bounds on allocation of decoding: no size comes from a number on the wire, and no allocation for each frame.

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};
use std::alloc::System;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wiretool::capture::{CaptureInput, Form};
use wiretool::conversation::{Conversation, Judge, Output, RuleSettings, Run};
use wiretool::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::framing::{Framing, Framing as F, Limits};
use wiretool::protocol::session::SessionConfig;
use wiretool::protocol::{Direction, registry};
use wiretool::render::{DisplayOptions, json};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The counts cover the whole process, so only one test runs at a time.
fn run_alone() -> MutexGuard<'static, ()> {
    static SERIAL: Mutex<()> = Mutex::new(());
    SERIAL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn decoder(protocol: &str, framing: Option<Framing>) -> Decoder<'static> {
    let protocol = registry::find(protocol).expect("a protocol of that name");
    let mut options = DecodeOptions::new(vec![protocol]);
    (options.framing, options.want) = (framing, Want::Text);
    Decoder::new(options)
}

/// Decodes a stream in reads of this size. The JSON of each frame overwrites the previous one.
fn decode(
    protocol: &str,
    framing: Option<Framing>,
    bytes: &[u8],
    read: usize,
    direction: Option<Direction>,
) -> (usize, Option<&'static str>, Stats) {
    let mut out = Vec::with_capacity(4 << 10);
    let (mut frames, mut first) = (0, None);
    let mut sink = |decoded: &Decoded<'_>| {
        out.clear();
        json::write(decoded, None, DisplayOptions::default(), &mut out);
        frames += 1;
        first = first.or(decoded.faults().next().map(|(_, fault)| fault.code));
    };
    // Tables of names are created once per program and are not counted.
    let mut warm = decoder(protocol, framing);
    warm.push(
        Origin::default(),
        &bytes[..bytes.len().min(64)],
        &mut |_| {},
    );
    warm.finish(&mut |_| {});
    drop(warm);
    let region = Region::new(ALLOCATOR);
    let mut decoder = decoder(protocol, framing);
    let origin = Origin {
        direction,
        ..Origin::default()
    };
    for piece in bytes.chunks(read) {
        decoder.push(origin, piece, &mut sink);
    }
    decoder.finish(&mut sink);
    drop(decoder);
    let stats = region.change();
    (frames, first, stats)
}

/// A little-endian length that does not include itself, a method id, an envelope.
fn telequick(id: u32, fields: &[u8]) -> Vec<u8> {
    let size = u32::try_from(fields.len()).expect("few fields");
    let parts: [&[u8]; 5] = [
        &(size + 10).to_le_bytes(),
        &id.to_le_bytes(),
        &[0, 0],
        &size.to_le_bytes(),
        fields,
    ];
    parts.concat()
}

const TERMINATE: u32 = 0xe5bb_fa12;
/// Its answer starts with a vector.
const WITH_VECTOR: u32 = 0x4541_e67a;

#[test]
fn wire_numbers_do_not_size_allocations() {
    let _alone = run_alone();
    let max = u32::MAX.to_le_bytes();
    let big = i32::MAX.to_le_bytes();
    let prefixed = |body: &[u8]| [&(body.len() as u32).to_be_bytes(), body].concat();
    let http = |head: &str, body: &str| format!("{head}\r\n\r\n{body}").into_bytes();
    let websocket = |len: u64| [&[0x82, 0x7f][..], &len.to_be_bytes(), b"{}"].concat();
    let mut deep = [0xdd, 0xff, 0xff, 0xff, 0xff].repeat(100);
    deep.push(0xc0);
    let inputs: Vec<(&str, &str, F, Vec<u8>)> = vec![
        (
            "array of 2^32-1",
            "saikuro",
            F::Prefix,
            prefixed(b"\xdd\xff\xff\xff\xff"),
        ),
        (
            "map of 2^32-1",
            "saikuro",
            F::Prefix,
            prefixed(b"\xdf\xff\xff\xff\xff"),
        ),
        (
            "text of 2^32-1",
            "saikuro",
            F::Prefix,
            prefixed(b"\xdb\xff\xff\xff\xff"),
        ),
        (
            "bytes of 2^32-1",
            "saikuro",
            F::Prefix,
            prefixed(b"\xc6\xff\xff\xff\xff"),
        ),
        (
            "extension of 2^32-1",
            "saikuro",
            F::Prefix,
            prefixed(b"\xc9\xff\xff\xff\xff\x05"),
        ),
        ("arrays in arrays", "saikuro", F::Prefix, prefixed(&deep)),
        ("values without end", "saikuro", F::Values, deep),
        (
            "prefix of 2^32-1",
            "saikuro",
            F::Prefix,
            b"\xff\xff\xff\xff\x81".to_vec(),
        ),
        (
            "prefix of 16 MiB",
            "saikuro",
            F::Prefix,
            b"\x01\x00\x00\x00\x81".to_vec(),
        ),
        (
            "telequick length of 2^32-1",
            "telequick",
            F::Method,
            [&max[..], &TERMINATE.to_le_bytes(), &[0; 6]].concat(),
        ),
        (
            "telequick length of 16 MiB",
            "telequick",
            F::Method,
            [
                &(16_u32 << 20).to_le_bytes()[..],
                &TERMINATE.to_le_bytes(),
                &[0; 6],
            ]
            .concat(),
        ),
        (
            "vector of 2^31-1",
            "telequick",
            F::Method,
            telequick(WITH_VECTOR, &[&big[..], &[0; 12]].concat()),
        ),
        (
            "vector of 2^32-1",
            "telequick",
            F::Method,
            telequick(WITH_VECTOR, &[&max[..], &[0; 12]].concat()),
        ),
        (
            "text of 2^31-1",
            "telequick",
            F::Method,
            telequick(TERMINATE, &big),
        ),
        (
            "envelope of 2^31-1",
            "telequick",
            F::Bare,
            [&[0, 0][..], &big, b"abc"].concat(),
        ),
        ("WebSocket 2^63", "sael", F::WebSocket, websocket(1 << 63)),
        (
            "WebSocket 2^63-1",
            "sael",
            F::WebSocket,
            websocket((1 << 63) - 1),
        ),
        (
            "WebSocket 16 MiB",
            "sael",
            F::WebSocket,
            websocket(16 << 20),
        ),
        (
            "content-length of 10^18",
            "stepflow",
            F::Http,
            http(
                "POST / HTTP/1.1\r\nContent-Length: 1000000000000000000",
                "{}",
            ),
        ),
        (
            "content-length of 10^30",
            "stepflow",
            F::Http,
            http(
                "POST / HTTP/1.1\r\nContent-Length: 1000000000000000000000000000000",
                "{}",
            ),
        ),
        (
            "chunk of 2^32-1",
            "stepflow",
            F::Http,
            http(
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked",
                "ffffffff\r\n{}",
            ),
        ),
        (
            "chunk of 2^64-1",
            "stepflow",
            F::Http,
            http(
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked",
                "ffffffffffffffff\r\n{}",
            ),
        ),
        (
            "chunk of 2^68",
            "stepflow",
            F::Http,
            http(
                "POST / HTTP/1.1\r\nTransfer-Encoding: chunked",
                "100000000000000000\r\n{}",
            ),
        ),
    ];
    for (name, protocol, framing, bytes) in inputs {
        for read in [bytes.len(), 1] {
            // Only one of the method's two structs, the answer, has a vector.
            let vector = name.starts_with("vector");
            let direction = vector.then_some(Direction::ToClient);
            let (frames, fault, stats) = decode(protocol, Some(framing), &bytes, read, direction);
            assert!(frames > 0 && fault.is_some(), "{name}: it is told");
            assert_eq!(fault == Some("vector-count"), vector, "{name}: {fault:?}");
            // The sum of all allocations, which is at least the maximum at any time.
            let most = stats.bytes_allocated;
            assert!(most < 256 << 10, "{name}: {most} bytes in reads of {read}");
        }
    }
}

#[test]
fn bomb_stops_at_limit() {
    let _alone = run_alone();
    let mut packed = Vec::with_capacity(1 << 20);
    let zeros = vec![b' '; 64 << 20];
    flate2::Compress::new(flate2::Compression::best(), false)
        .compress_vec(&zeros, &mut packed, flate2::FlushCompress::Sync)
        .expect("room enough");
    drop(zeros);
    packed.truncate(packed.len() - 4);
    let length = u16::try_from(packed.len()).expect("a small bomb");
    let bytes = [&[0xc2, 0x7e][..], &length.to_be_bytes(), &packed].concat();
    let (_, fault, stats) = decode("sael", Some(Framing::WebSocket), &bytes, bytes.len(), None);
    assert_eq!(fault, Some("over-limit"));
    // 16 MiB by doubling, and its text in the line of the fault.
    let most = stats.bytes_allocated;
    assert!(most < 160 << 20, "{most} bytes");
}

/// Pseudo-random bytes, the same each time.
fn random_bytes(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn unrecognised_bytes_are_not_stored_for_ever() {
    let _alone = run_alone();
    let read = random_bytes(256 << 10);
    let limits = Limits {
        message: 1 << 20,
        ..Limits::default()
    };
    for streams in [1, 2, 16] {
        let region = Region::new(ALLOCATOR);
        let mut options = DecodeOptions::new(registry::all().to_vec());
        (options.limits, options.want) = (limits, Want::Head);
        let mut decoder = Decoder::new(options);
        let (mut frames, mut most) = (0, 0);
        for n in 0..1024 {
            let origin = Origin {
                conn: Some(n % streams / 2),
                direction: [Some(Direction::ToServer), Some(Direction::ToClient)][n as usize % 2],
                // Reads with different times are stored separately.
                time: Some(i64::from(n)),
                ..Origin::default()
            };
            decoder.push(origin, &read, &mut |_| frames += 1);
            let stats = region.change();
            // The test harness may free older memory during the test.
            most = most.max(
                stats
                    .bytes_allocated
                    .saturating_sub(stats.bytes_deallocated),
            );
        }
        decoder.finish(&mut |_| frames += 1);
        assert_eq!((frames, decoder.undetected()), (0, 256 << 20));
        // The memory for two messages at the length limit, each with the longest head, in buffers that grow by
        // doubling.
        assert!(most < 8 << 20, "{most} bytes over {streams} streams");
    }
}

const COUNT: usize = 10_000;

/// This number of equal frames is enough to see one allocation for each.
fn assert_no_allocation_per_frame(protocol: &str, framing: Framing, frame: &[u8]) {
    let _alone = run_alone();
    let bytes = frame.repeat(COUNT);
    for read in [bytes.len(), 64 << 10, 1000] {
        let (frames, fault, stats) = decode(protocol, Some(framing), &bytes, read, None);
        assert_eq!((frames, fault), (COUNT, None), "{protocol}");
        let count = stats.allocations + stats.reallocations;
        assert!(
            count < 100,
            "{protocol}: {count} allocations in reads of {read}"
        );
    }
}

#[test]
fn saikuro_frame_allocates_nothing() {
    let map = |members: &[(&str, rmpv::Value)]| {
        let members = members.iter().map(|(k, v)| ((*k).into(), v.clone()));
        rmpv::Value::Map(members.collect())
    };
    let call = map(&[
        ("version", 1.into()),
        ("type", "call".into()),
        ("id", rmpv::Value::Binary((0..16).collect())),
        ("target", "math.add".into()),
        (
            "args",
            rmpv::Value::Array(vec![2.into(), 3.5.into(), "text".into()]),
        ),
    ]);
    let answer = map(&[
        ("id", rmpv::Value::Binary((0..16).collect())),
        ("ok", true.into()),
        (
            "result",
            map(&[("sum", 5.5.into()), ("n", rmpv::Value::Nil)]),
        ),
    ]);
    for message in [call, answer] {
        let mut body = Vec::new();
        rmpv::encode::write_value(&mut body, &message).expect("writing to memory");
        let length = u32::try_from(body.len()).expect("a short message");
        let frame = [&length.to_be_bytes()[..], &body].concat();
        assert_no_allocation_per_frame("saikuro", Framing::Prefix, &frame);
    }
}

#[test]
fn oracle_frame_allocates_nothing() {
    for frame in [
        r#"{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"selector":"0x1b","calldata":["0x1","0x2"]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":["0x7","0x0"]}"#,
    ] {
        assert_no_allocation_per_frame("oracle", Framing::Lines, format!("{frame}\n").as_bytes());
    }
}

#[test]
fn telequick_frame_allocates_nothing() {
    let fields = b"\x09\0\0\0call-0001";
    assert_no_allocation_per_frame("telequick", Framing::Method, &telequick(TERMINATE, fields));
}

/// A stream of saikuro messages, given as JSON.
fn saikuro(message: &[(&str, rmpv::Value)]) -> Vec<u8> {
    let members = message.iter().map(|(k, v)| ((*k).into(), v.clone()));
    let mut body = Vec::new();
    let map = rmpv::Value::Map(members.collect());
    rmpv::encode::write_value(&mut body, &map).expect("writing to memory");
    let length = u32::try_from(body.len()).expect("a short message");
    [&length.to_be_bytes()[..], &body].concat()
}

/// The data of requests without an answer is bounded, also if all have the same id.
#[test]
fn memory_of_requests_with_same_id_is_bounded() {
    let _alone = run_alone();
    let id = rmpv::Value::Binary(vec![7; 16]);
    let kind = |kind: &'static str| {
        saikuro(&[
            ("version", 1.into()),
            ("type", kind.into()),
            ("id", id.clone()),
            ("target", "a.b".into()),
            ("args", rmpv::Value::Array(Vec::new())),
        ])
    };
    let ready = br#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#;
    let ack = br#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    let invoke =
        br#"{"jsonrpc":"2.0","id":1,"method":"invoke","params":{"selector":"0x1b","calldata":[]}}"#;
    let list = br#"{"jsonrpc":"2.0","id":"a","method":"components/list","params":{}}"#;
    let inv = br#"{"v":1,"kind":"INV","seq":1,"tool":"t","input":{},"call_id":"c"}"#;
    let line = |text: &[u8]| [text, b"\n"].concat();
    for (what, protocol, framing, begin, request) in [
        ("call", "saikuro", F::Prefix, Vec::new(), kind("call")),
        ("stream", "saikuro", F::Prefix, Vec::new(), kind("stream")),
        ("channel", "saikuro", F::Prefix, Vec::new(), kind("channel")),
        (
            "invoke",
            "oracle",
            F::Lines,
            vec![
                (Direction::ToClient, line(ready)),
                (Direction::ToServer, line(ack)),
            ],
            line(invoke),
        ),
        ("list", "stepflow", F::Lines, Vec::new(), line(list)),
        ("invoke", "sael", F::Values, Vec::new(), line(inv)),
        (
            "terminate",
            "telequick",
            F::Method,
            Vec::new(),
            telequick(TERMINATE, b"\x09\0\0\0call-0001"),
        ),
    ] {
        let region = Region::new(ALLOCATOR);
        let protocol = registry::find(protocol).expect("a protocol of that name");
        let mut options = DecodeOptions::new(vec![protocol]);
        options.framing = Some(framing);
        let mut decoder = Decoder::new(options);
        let session_config = SessionConfig {
            max_open: 100,
            ..SessionConfig::default()
        };
        let mut conversation = Conversation::new(&[protocol], &Judge::default(), session_config);
        let mut see = |direction, bytes: &[u8]| {
            let origin = Origin {
                conn: Some(1),
                direction: Some(direction),
                ..Origin::default()
            };
            decoder.push(origin, bytes, &mut |decoded| {
                assert!(!decoded.is_faulty(), "{what}");
                conversation.see(decoded);
            });
        };
        for (direction, bytes) in &begin {
            see(*direction, bytes);
        }
        let mut held = || {
            for _ in 0..8000 {
                see(Direction::ToServer, &request);
            }
            let stats = region.change();
            stats
                .bytes_allocated
                .saturating_sub(stats.bytes_deallocated)
        };
        // A table with a fixed number of entries may double once, at a time that chance decides, as removed ones leave gaps.
        let few = [(); 40].map(|()| held())[39];
        let many = [(); 5].map(|()| held())[4];
        assert!(
            many < few + (64 << 10),
            "{} {what}: {few}, {many}",
            protocol.name()
        );
    }
}

/// A peer cannot fill the memory with long ids, names and documents: they are bounded in bytes, not only in number, and
/// those of a connection are given back when it ends.
#[test]
fn long_texts_of_requests_are_bounded() {
    const LONG: usize = 100_000;
    let _alone = run_alone();
    let call = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":#,"method":"{method}","params":{params}}}"#)
    };
    let document =
        r#"{"textDocument":{"uri":"file:///a","languageId":"c","version":1,"text":"@"}}"#;
    for (what, protocol, message, ends) in [
        (
            "id",
            "jsonrpc",
            r#"{"jsonrpc":"2.0","id":"@","method":"get"}"#.to_owned(),
            false,
        ),
        (
            "id of an ended connection",
            "jsonrpc",
            r#"{"jsonrpc":"2.0","id":"@","method":"get"}"#.to_owned(),
            true,
        ),
        (
            "number",
            "jsonrpc",
            r#"{"jsonrpc":"2.0","id":0.@,"method":"get"}"#.to_owned(),
            false,
        ),
        (
            "id of an answer",
            "jsonrpc",
            r#"{"jsonrpc":"2.0","id":"@","result":1}"#.to_owned(),
            false,
        ),
        ("method", "jsonrpc", call("@", "{}"), false),
        ("tool", "mcp", call("tools/call", r#"{"name":"@"}"#), false),
        (
            "token",
            "mcp",
            call(
                "tools/call",
                r#"{"name":"a","_meta":{"progressToken":"@"}}"#,
            ),
            false,
        ),
        (
            "session",
            "acp",
            call("session/prompt", r#"{"sessionId":"@","prompt":[]}"#),
            false,
        ),
        (
            "token",
            "lsp",
            call("textDocument/hover", r#"{"workDoneToken":"@"}"#),
            false,
        ),
        (
            "uri",
            "lsp",
            call(
                "textDocument/didOpen",
                &document
                    .replace("file:///a", "@")
                    .replace(r#""@"}}"#, r#""a"}}"#),
            ),
            false,
        ),
        (
            "document",
            "lsp",
            call("textDocument/didOpen", document),
            true,
        ),
    ] {
        let protocol = registry::find(protocol).expect("a protocol of that name");
        let options = DecodeOptions::new(vec![protocol]);
        let input = CaptureInput::new(Form::Recording);
        let mut run = Run::new(input, options, Some(RuleSettings::default()));
        let mut count = 0;
        let mut sink = |output: Output<'_>| -> ControlFlow<()> {
            if let Output::Message(decoded, _) = output {
                assert!(!decoded.is_faulty(), "{what}");
                count += 1;
            }
            ControlFlow::Continue(())
        };
        let header = r#"{"wiretool":1,"protocol":"@","started":"2026-01-01T00:00:00.000000000Z","transport":"tcp"}"#;
        let header = header.replace('@', protocol.name()) + "\n";
        let _ = run.read(&mut header.as_bytes(), &mut sink);
        let mut see = |n: usize| {
            let long = format!("{n}{}", "1".repeat(LONG));
            let text = message.replace('@', &long).replace('#', &n.to_string());
            let text = match protocol.name() {
                "lsp" => format!("Content-Length: {}\r\n\r\n{text}", text.len()),
                _ => text + "\n",
            };
            let text = serde_json::Value::from(text);
            let mut lines = format!(r#"{{"t":{n},"conn":{n},"dir":"c2s","text":{text}}}"#) + "\n";
            if ends {
                lines += &(format!(r#"{{"t":{n},"conn":{n},"event":"close"}}"#) + "\n");
            }
            let _ = run.read(&mut lines.as_bytes(), &mut sink);
        };
        // Tables of names and of late answers fill first.
        (0..40).for_each(&mut see);
        let region = Region::new(ALLOCATOR);
        (40..140).for_each(&mut see);
        let stats = region.change();
        let held = stats
            .bytes_allocated
            .saturating_sub(stats.bytes_deallocated);
        let most = 100 * LONG / 10;
        assert_eq!(count, 140, "{what}");
        assert!(held < most, "{} {what}: {held} bytes", protocol.name());
    }
}

/// A message of about this number of bytes, in each form that needs much memory: protocol, framing, bytes.
#[cfg(target_os = "linux")]
fn long_messages(size: usize) -> Vec<(&'static str, &'static str, &'static str, Vec<u8>)> {
    let json = |open: &str, item: &str, close: &str| {
        let items = vec![item; size / (item.len() + 1)].join(",");
        let text = format!("{{\"jsonrpc\":\"2.0\",\"result\":{open}{items}{close},\"id\":7}}\n");
        text.into_bytes()
    };
    let packed = |head: u8, item: &[u8], count: usize| {
        let count = u32::try_from(count).expect("a few million").to_be_bytes();
        let items = item.repeat(size / item.len());
        let parts: [&[u8]; 6] = [
            b"\x83\xa6result",
            &[head],
            &count,
            &items,
            b"\xa2ok\xc3\xa2id\xc4\x10",
            b"0123456789abcdef",
        ];
        let body = parts.concat();
        [&(body.len() as u32).to_be_bytes(), &body[..]].concat()
    };
    let map: Vec<String> = (0..size / 12).map(|n| format!("\"{n:07}\":1")).collect();
    let nested = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let bucket = [&[0, 0, 8, 0, 0, 0][..], &[0; 8]].concat();
    let count = size / bucket.len();
    let buckets = [&(count as u32).to_le_bytes()[..], &bucket.repeat(count)].concat();
    vec![
        ("numbers", "oracle", "lines", json("[", "7", "]")),
        ("strings", "oracle", "lines", json("[", "\"ab\"", "]")),
        (
            "one string",
            "oracle",
            "lines",
            json("[\"", &"a".repeat(size - 1), "\"]"),
        ),
        ("deep", "oracle", "lines", json("[", &nested, "]")),
        ("map", "oracle", "lines", json("{", &map.join(","), "}")),
        (
            "packed numbers",
            "saikuro",
            "prefix",
            packed(0xdd, b"\x07", size),
        ),
        (
            "packed nils",
            "saikuro",
            "prefix",
            packed(0xdd, b"\xc0", size),
        ),
        (
            "packed strings",
            "saikuro",
            "prefix",
            packed(0xdd, b"\xa1a", size / 2),
        ),
        (
            "packed maps",
            "saikuro",
            "prefix",
            packed(0xdd, b"\x81\xa1a\x01", size / 4),
        ),
        (
            "packed odd keys",
            "saikuro",
            "prefix",
            packed(0xdd, b"\x81\x01\x02", size / 3),
        ),
        (
            "packed repeated keys",
            "saikuro",
            "prefix",
            packed(0xdf, b"\xa1a\x01", size / 3),
        ),
        (
            "buckets",
            "telequick",
            "method",
            telequick(0x9c6e_c18f, &buckets),
        ),
    ]
}

/// The program with at most this number of KiB. The buffers of its writer count even if they are never touched.
#[cfg(target_os = "linux")]
fn in_memory(most: usize) -> std::process::Command {
    let mut command = std::process::Command::new("sh");
    let most = most.to_string();
    command.args(["-c", "ulimit -d \"$0\" && exec \"$@\"", &most]);
    command.arg(env!("CARGO_BIN_EXE_wiretool"));
    command
}

/// Each format of `decode` needs at most three times the size of a message, and 32 MiB.
#[cfg(target_os = "linux")]
#[test]
fn long_message_is_shown_in_bounded_memory() {
    const SIZE: usize = 6 << 20;
    let _alone = run_alone();
    let folder = tempfile::tempdir().expect("a folder");
    for (shape, protocol, framing, bytes) in long_messages(SIZE) {
        let path = folder.path().join("message");
        std::fs::write(&path, &bytes).expect("room on disk");
        let most = (3 * bytes.len() + (32 << 20)) >> 10;
        for format in ["json", "line", "tree", "hex", ""] {
            let mut args = vec!["decode", "-p", protocol, "--framing", framing];
            if !format.is_empty() {
                args.extend(["-f", format]);
            }
            let output = in_memory(most)
                .args(args)
                .arg(&path)
                .output()
                .expect("a shell");
            let err = String::from_utf8_lossy(&output.stderr);
            let sent = (output.status.code(), err.as_ref());
            assert_eq!(sent, (Some(0), ""), "{shape}, {format} in {most} KiB");
            let shown = String::from_utf8(output.stdout).expect("text");
            if format == "json" {
                let value = serde_json::from_str::<serde::de::IgnoredAny>(&shown);
                assert!(value.is_ok(), "{shape}: not JSON");
            } else if framing != "method" && format != "line" && shape != "one string" {
                assert!(
                    shown.contains("… "),
                    "{shape}, {format}: says what it leaves out"
                );
            }
        }
    }
}

/// Other commands store positions: 16 bytes for each value, so 16 for each byte of a list of small numbers.
#[cfg(target_os = "linux")]
#[test]
fn long_message_is_examined_in_bounded_memory() {
    // A list of two or four million values just fits a buffer that doubles: the unused part would count.
    const SIZE: usize = (4 << 20) - 4096;
    let _alone = run_alone();
    let folder = tempfile::tempdir().expect("a folder");
    let shapes = ["numbers", "packed numbers"];
    for (shape, protocol, framing, bytes) in long_messages(SIZE) {
        if !shapes.contains(&shape) {
            continue;
        }
        let path = folder.path().join("message");
        std::fs::write(&path, &bytes).expect("room on disk");
        let path = path.to_str().expect("text");
        for (times, args) in [
            (3, &["stat"][..]),
            (16, &["lint"]),
            (16, &["decode", "-f", "json", "--exact"]),
            (16, &["decode", "--verify"]),
        ] {
            let most = (times * bytes.len() + (32 << 20)) >> 10;
            let output = in_memory(most)
                .args(args)
                .args(["-p", protocol, "--framing", framing, path])
                .output()
                .expect("a shell");
            let err = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            // An answer without its request is a finding.
            let is_examined = code == Some(0) || args == ["lint"] && code == Some(1);
            assert!(
                is_examined,
                "{shape}, {args:?} in {most} KiB: {code:?} {err}"
            );
        }
    }
}

/// A comparison stores the positions of both messages.
#[cfg(target_os = "linux")]
#[test]
fn long_messages_are_compared_in_bounded_memory() {
    // The positions of one do not fit a buffer that doubles: the unused part must be given back.
    const SIZE: usize = 5 << 20;
    let _alone = run_alone();
    let folder = tempfile::tempdir().expect("a folder");
    for (shape, protocol, framing, bytes) in long_messages(SIZE) {
        // Each byte of it is a value.
        if shape != "packed numbers" {
            continue;
        }
        let paths = ["one", "other"].map(|name| folder.path().join(name));
        let other = [
            &bytes[..bytes.len() / 2],
            b"1",
            &bytes[bytes.len() / 2 + 1..],
        ]
        .concat();
        for (path, bytes) in paths.iter().zip([&bytes, &other]) {
            std::fs::write(path, bytes).expect("room on disk");
        }
        let most = (32 * bytes.len() + (32 << 20)) >> 10;
        let output = in_memory(most)
            .args(["diff", "-p", protocol, "--framing", framing])
            .args(&paths)
            .output()
            .expect("a shell");
        let err = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert_eq!(code, Some(1), "{shape} in {most} KiB: {err}");
    }
}

/// The places of requests without an answer.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Apart {
    Connections,
    Streams,
    No,
}

/// A request of each protocol whose state is of another kind, in Base64. Its id may be used again elsewhere.
#[cfg(target_os = "linux")]
fn one_request(form: &str) -> String {
    use base64::Engine as _;
    let bytes = match form {
        "saikuro" => saikuro(&[
            ("version", 1.into()),
            ("type", "call".into()),
            (
                "id",
                rmpv::Value::Binary(b"uuid 4\x40-\x80-random".to_vec()),
            ),
            ("target", "a.b".into()),
            ("args", rmpv::Value::Array(Vec::new())),
        ]),
        "telequick" => telequick(TERMINATE, b"\x09\0\0\0call-0001"),
        "sael" => {
            let inv = br#"{"v":1,"kind":"INV","seq":1,"tool":"t","input":{},"call_id":"c"}"#;
            let head = [0x81, 0x80 | inv.len() as u8, 0, 0, 0, 0];
            [&head[..], inv].concat()
        }
        _ => {
            let body = r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#;
            format!(
                "POST / HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .into_bytes()
        }
    };
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// A recording of requests without an answer. `form`: a protocol, or `lines` or `http` for JSON-RPC.
#[cfg(target_os = "linux")]
fn open_requests(count: usize, apart: Apart, form: &str) -> String {
    let protocol = match form {
        "lines" | "http" => "jsonrpc",
        protocol => protocol,
    };
    let mut recording = format!(
        r#"{{"wiretool":1,"protocol":"{protocol}","started":"2026-01-01T00:00:00.000000000Z","transport":"tcp"}}"#
    );
    let base64 = one_request(form);
    for n in 1..=count {
        let conn = if apart == Apart::Connections { n } else { 1 };
        let stream = match apart {
            Apart::Streams => format!(r#","stream":{}"#, 4 * n),
            _ => String::new(),
        };
        let bytes = match form {
            "lines" => {
                format!(r#""text":"{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"echo\"}}\n""#)
            }
            "oracle" => {
                format!(
                    r#""text":"{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"invoke\",\"params\":{{\"selector\":\"f\",\"calldata\":[]}}}}\n""#
                )
            }
            _ => format!(r#""b64":"{base64}""#),
        };
        recording.push_str(&format!(
            "\n{{\"t\":{n},\"conn\":{conn}{stream},\"dir\":\"c2s\",{bytes}}}"
        ));
    }
    recording
}

/// The memory of `lint` and of a stub for each connection with an open request, and for each further open request.
#[cfg(target_os = "linux")]
#[test]
fn open_requests_take_few_bytes() {
    // As many as are tracked.
    const COUNT: usize = 1 << 16;
    // More connections and streams than that stay open.
    const MANY: usize = 3 * COUNT;
    let _alone = run_alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recording.jsonl");
    let stub = &["stub", "jsonrpc", "--from-recording"][..];
    for (count, apart, form, most, args) in [
        (COUNT, Apart::Connections, "lines", 600, &["lint"][..]),
        (MANY, Apart::Connections, "saikuro", 600, &["lint"]),
        (MANY, Apart::Connections, "telequick", 600, &["lint"]),
        (MANY, Apart::Connections, "sael", 600, &["lint"]),
        (MANY, Apart::Connections, "oracle", 600, &["lint"]),
        (COUNT, Apart::Connections, "http", 600, &["lint"]),
        (MANY, Apart::Streams, "telequick", 200, &["lint"]),
        (COUNT, Apart::No, "lines", 200, &["lint"]),
        (COUNT, Apart::Connections, "lines", 600, stub),
        (COUNT, Apart::No, "lines", 200, stub),
    ] {
        let recording = open_requests(count, apart, form);
        std::fs::write(&path, &recording).expect("room on disk");
        // A stub reads the recording into memory, which lets go of what it needed for the pairs only in part.
        let (text, rest) = match args[0] {
            "stub" => (recording.len(), 24 << 20),
            // A table that doubles has the old one beside it.
            _ if count == MANY => (0, 24 << 20),
            _ => (0, 8 << 20),
        };
        let most = (count * most + text + rest) >> 10;
        let output = in_memory(most)
            .args(args)
            .arg(&path)
            .stdin(std::process::Stdio::null())
            // The stacks of threads count.
            .env_remove("RUST_MIN_STACK")
            .output()
            .expect("a shell");
        let err = String::from_utf8_lossy(&output.stderr);
        let said = ["196608 messages", "65536 unanswered", "0 requests"]
            .iter()
            .any(|words| err.contains(words));
        assert!(said, "{args:?}, {apart:?}, {form}, {most} KiB: {err}");
    }
}

/// A query for one field needs as much memory as `decode`: three times the size of a message, and 32 MiB.
#[cfg(target_os = "linux")]
#[test]
fn lookup_needs_bounded_memory() {
    const SIZE: usize = 6 << 20;
    let _alone = run_alone();
    let folder = tempfile::tempdir().expect("a folder");
    for (shape, protocol, framing, bytes) in long_messages(SIZE) {
        let path = folder.path().join("message");
        std::fs::write(&path, &bytes).expect("room on disk");
        let most = (3 * bytes.len() + (32 << 20)) >> 10;
        let middle = (bytes.len() / 2).to_string();
        for lookup in [["--at", &middle], ["--path", "result[70]"]] {
            let output = in_memory(most)
                .args(["decode", "-p", protocol, "--framing", framing])
                .args(lookup)
                .arg(&path)
                .output()
                .expect("a shell");
            let finds = lookup[0] == "--at" || shape.contains("numbers");
            let code = output.status.code();
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(
                code == Some(0) || !finds && code == Some(1),
                "{shape}, {lookup:?} in {most} KiB: {code:?} {err}"
            );
        }
    }
}

/// Connections that stay open keep no inflated body of their last message.
#[cfg(target_os = "linux")]
#[test]
fn inflated_bodies_of_open_connections_are_released() {
    use base64::Engine as _;
    use std::io::Write as _;
    const CONNECTIONS: usize = 100;
    const SIZE: usize = 2 << 20;
    let _alone = run_alone();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recording.jsonl");
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"t":"{}"}}}}"#,
        "x".repeat(SIZE)
    );
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    zlib.write_all(body.as_bytes()).expect("room in memory");
    let zlib = zlib.finish().expect("room in memory");
    let length = zlib.len();
    let head = format!(
        "POST / HTTP/1.1\r\nContent-Type: application/json\r\nContent-Encoding: deflate\r\nContent-Length: {length}\r\n\r\n"
    );
    let http = [head.as_bytes(), &zlib].concat();
    // RFC 7692: without the two bytes of zlib before it and the checksum after it.
    let deflate = &zlib[2..length - 4];
    let length = u16::try_from(deflate.len()).expect("a small message");
    let websocket = [&[0xc1, 0x7e][..], &length.to_be_bytes(), deflate].concat();
    for (framing, bytes) in [("http", http), ("websocket", websocket)] {
        let bytes = base64::engine::general_purpose::STANDARD.encode(bytes);
        let mut recording = String::from(r#"{"wiretool":1,"protocol":"jsonrpc"}"#);
        for n in 1..=CONNECTIONS {
            recording.push_str(&format!(
                "\n{{\"t\":{n},\"conn\":{n},\"dir\":\"c2s\",\"b64\":\"{bytes}\"}}"
            ));
        }
        std::fs::write(&path, recording).expect("room on disk");
        let output = in_memory(64 << 10)
            .args(["decode", "-f", "line", "--framing", framing])
            .arg(&path)
            .output()
            .expect("a shell");
        let shown = String::from_utf8_lossy(&output.stdout);
        let err = String::from_utf8_lossy(&output.stderr);
        let messages = shown.lines().filter(|line| line.contains("xxx"));
        assert_eq!(messages.count(), CONNECTIONS, "{framing}: {err}");
    }
}
