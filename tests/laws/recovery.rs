//! Large messages, missing bytes, wrong lengths, other protocols: the readable part is decoded, and each problem is
//! reported once.

use crate::chunking::runner;
use crate::common::{Setup, cut, json_of};
use crate::seeds::{
    ORACLE, SAEL, STEPFLOW, Seed, built, captured, fixtures, msgpack, prefixed, requests, saikuro,
    telequick, websocket,
};
use proptest::prelude::*;
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::framing::{Framing, Head};
use wiretool::protocol::{Direction, Evidence};

/// The part of a frame that a law compares.
#[derive(Debug, Clone, PartialEq)]
struct FrameReport {
    kind: String,
    offset: u64,
    end: u64,
    faults: Vec<(&'static str, u64, String)>,
    /// A message that can be found after any bytes.
    stands_alone: bool,
}

/// An input of a decoder.
#[derive(Clone, Copy)]
enum ConnectionBytes<'b> {
    Bytes(&'b [u8]),
    Gap(u64),
}

fn report_frames(setup: &Setup, bits: &[ConnectionBytes<'_>]) -> (Vec<FrameReport>, usize) {
    let mut decoder = Decoder::new(setup.options(Want::Places));
    let mut out = Vec::new();
    let mut sink = |decoded: &Decoded<'_>| {
        let frame = decoded.frame;
        let hint = |hint: &Option<_>| hint.as_ref().map(ToString::to_string).unwrap_or_default();
        let plain = match frame.head {
            Head::WebSocket {
                compressed,
                fragments,
                ..
            } => {
                let message = frame.control.is_none() && !frame.view.body().is_empty();
                message && !compressed && fragments == 1
            }
            Head::Http { event, .. } => !event,
            _ => decoded.message.evidence == Evidence::Certain,
        };
        out.push(FrameReport {
            kind: decoded.message.kind.to_string(),
            offset: frame.offset,
            end: frame.offset + frame.len,
            faults: decoded
                .faults()
                .map(|(at, fault)| (fault.code, at, hint(&fault.hint)))
                .collect(),
            stands_alone: plain && !decoded.is_faulty() && decoded.message.kind != "close",
        });
    };
    for bit in bits {
        match bit {
            ConnectionBytes::Bytes(bytes) => decoder.push(Origin::default(), bytes, &mut sink),
            ConnectionBytes::Gap(len) => decoder.gap(Origin::default(), *len, &mut sink),
        }
    }
    decoder.finish(&mut sink);
    (out, decoder.undetected())
}

fn kinds(setup: &Setup, pieces: &[&[u8]]) -> Vec<String> {
    let bits: Vec<ConnectionBytes<'_>> = pieces
        .iter()
        .map(|piece| ConnectionBytes::Bytes(piece))
        .collect();
    let (reported, undetected) = report_frames(setup, &bits);
    assert_eq!(undetected, 0, "{setup:?}");
    let faults = |reported: &FrameReport| {
        reported
            .faults
            .first()
            .map(|fault| fault.0)
            .unwrap_or_default()
    };
    reported
        .iter()
        .map(|reported| format!("{} {}", reported.kind, faults(reported)))
        .collect()
}

/// A JSON message that is longer by this number of bytes.
fn pad_message(message: &str, pad: usize) -> String {
    message.replacen('{', &format!("{{\"pad\":\"{}\",", "a".repeat(pad)), 1)
}

/// Streams whose first message is longer by this number of bytes.
fn enlarged_streams(pad: usize) -> Vec<Seed> {
    let mask = Some([0x37, 0xfa, 0x21, 0x3d]);
    let seed = |name: &str, protocol, framing, bytes| Seed {
        name: name.to_owned(),
        protocol,
        framing: Some(framing),
        bytes,
    };
    let lines = |messages: &[&str]| {
        let all = messages.iter().enumerate().map(|(n, message)| match n {
            0 => pad_message(message, pad) + "\n",
            _ => format!("{message}\n"),
        });
        all.collect::<String>().into_bytes()
    };
    let post = |body: &str| {
        let length = body.len();
        format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
    };
    let call = |pad: usize| {
        let call = [
            ("version", 1.into()),
            ("type", "call".into()),
            ("id", rmpv::Value::Binary((0x10..0x20).collect())),
            ("target", "math.add".into()),
            ("args", rmpv::Value::Array(vec!["a".repeat(pad).into()])),
        ];
        let members = call.map(|(key, value)| (key.into(), value));
        msgpack(&rmpv::Value::Map(members.to_vec()))
    };
    let rest = saikuro();
    let hey = pad_message(SAEL[0], pad);
    let upgrade: &[u8] = b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let header = [b"\x01HEY".as_slice(), hey.as_bytes(), b"\x01BYE"].concat();
    let inv = websocket(0x81, mask, SAEL[1].as_bytes());
    vec![
        seed("oracle lines", "oracle", Framing::Lines, lines(&ORACLE)),
        seed(
            "stepflow lines",
            "stepflow",
            Framing::Lines,
            lines(&STEPFLOW),
        ),
        seed("sael lines", "sael", Framing::Lines, lines(&SAEL)),
        seed(
            "stepflow requests",
            "stepflow",
            Framing::Http,
            [post(&pad_message(STEPFLOW[0], pad)), requests()].concat(),
        ),
        seed(
            "sael websocket",
            "sael",
            Framing::WebSocket,
            [websocket(0x81, mask, hey.as_bytes()), inv.clone()].concat(),
        ),
        seed(
            "sael upgrade",
            "sael",
            Framing::Http,
            [upgrade, &websocket(0x81, mask, hey.as_bytes()), &inv].concat(),
        ),
        seed("sael header", "sael", Framing::Header, header),
        seed(
            "saikuro prefix",
            "saikuro",
            Framing::Prefix,
            [prefixed(&call(pad)), prefixed(&rest[1])].concat(),
        ),
        seed(
            "saikuro websocket",
            "saikuro",
            Framing::WebSocket,
            [
                websocket(0x82, mask, &call(pad)),
                websocket(0x82, mask, &rest[1]),
            ]
            .concat(),
        ),
    ]
}

#[test]
fn large_first_message_reads_like_small_one() {
    for (small, large) in enlarged_streams(4).iter().zip(enlarged_streams(1 << 20)) {
        for setup in large.setups() {
            let name = format!("{} with {setup:?}", large.name);
            let want = kinds(&setup, &[&small.bytes]);
            assert!(
                want.iter().all(|kind| kind.ends_with(' ')),
                "{name}: {want:?}"
            );
            assert_eq!(kinds(&setup, &[&large.bytes]), want, "{name}");
            for size in [64 << 10, (256 << 10) + 1] {
                let pieces: Vec<&[u8]> = large.bytes.chunks(size).collect();
                assert_eq!(kinds(&setup, &pieces), want, "{name} in reads of {size}");
            }
            let places = prop::collection::vec(0..=large.bytes.len(), 1..4);
            runner(1)
                .run(&places, |places| {
                    let pieces = cut(&large.bytes, &places);
                    assert_eq!(kinds(&setup, &pieces), want, "{name} cut at {places:?}");
                    Ok(())
                })
                .unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

/// In these framings the next frame is found after a gap.
fn finds_frames(seed: &Seed) -> bool {
    use Framing::{Header, Http, Lines, Method, Prefix, WebSocket};
    let framing = seed.framing.unwrap_or(Framing::Message);
    [Header, Http, Lines, Method, Prefix, WebSocket].contains(&framing)
}

#[test]
fn gap_joins_nothing_and_decoding_continues() {
    for seed in built() {
        let setup = Setup {
            framing: seed.framing,
            ..Setup::of(seed.protocol)
        };
        let (whole, _) = report_frames(&setup, &[ConnectionBytes::Bytes(&seed.bytes)]);
        // The first line of a connection shows that it is HTTP.
        let head = whole
            .first()
            .filter(|reported| reported.kind.starts_with("http-"));
        let from = head.map_or(0, |_| {
            1 + seed.bytes.iter().position(|b| *b == b'\n').unwrap_or(0)
        });
        for len in [1, 7, 40] {
            for at in (from..seed.bytes.len().saturating_sub(len)).step_by(3) {
                let (before, rest) = seed.bytes.split_at(at);
                let (end, rest) = ((at + len) as u64, &rest[len..]);
                let bits = [
                    ConnectionBytes::Bytes(before),
                    ConnectionBytes::Gap(len as u64),
                    ConnectionBytes::Bytes(rest),
                ];
                let (got, _) = report_frames(&setup, &bits);
                let name = || format!("{} with {len} bytes missing at {at}: {got:?}", seed.name);
                let gaps = got.iter().flat_map(|reported| &reported.faults);
                let gaps: Vec<u64> = gaps.filter(|fault| fault.0 == "gap").map(|f| f.1).collect();
                assert_eq!(gaps, [at as u64], "{}", name());
                let joined = |reported: &&FrameReport| {
                    reported.kind != "gap"
                        && reported.offset < at as u64
                        && reported.end > at as u64
                };
                assert!(got.iter().all(|reported| !joined(&reported)), "{}", name());
                let inside =
                    |reported: &&FrameReport| reported.offset >= at as u64 && reported.offset < end;
                assert!(
                    got.iter()
                        .filter(inside)
                        .all(|reported| reported.kind == "gap"),
                    "{}",
                    name()
                );
                let same = |want: &FrameReport| {
                    got.iter().any(|reported| {
                        (&reported.kind, reported.offset, reported.end)
                            == (&want.kind, want.offset, want.end)
                    })
                };
                let due = |want: &&FrameReport| {
                    want.stands_alone
                        && (want.end <= at as u64 || (finds_frames(&seed) && want.offset >= end))
                };
                for want in whole.iter().filter(due) {
                    assert!(same(want), "{want:?} is missing: {}", name());
                }
                // Any split of the two directions reads the same.
                let bits: Vec<ConnectionBytes<'_>> = before
                    .chunks(5)
                    .map(ConnectionBytes::Bytes)
                    .chain([ConnectionBytes::Gap(len as u64)])
                    .chain(rest.chunks(5).map(ConnectionBytes::Bytes))
                    .collect();
                assert_eq!(report_frames(&setup, &bits).0, got, "{}", seed.name);
            }
        }
    }
}

/// A packet capture with a snap length lacks the end of each long packet.
#[test]
fn cut_chunks_of_websocket_lose_only_the_messages_in_them() {
    let upgrade = "GET /ws HTTP/1.1\r\nHost: localhost:7000\r\nUser-Agent: a client with a long name\r\nUpgrade: websocket\r\n\
        Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    let granted = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    let mask = Some([0x37, 0xfa, 0x21, 0x3d]);
    let text = |n: usize, kind: &str| match kind {
        "INV" => format!(
            r#"{{"v":1,"kind":"INV","seq":{n},"tool":"echo","input":{{"text":"{}"}}}}"#,
            "i".repeat(17 * n)
        ),
        _ => format!(
            r#"{{"v":1,"kind":"RES","seq":{n},"output":"{}"}}"#,
            "o".repeat(23 * n)
        ),
    };
    let (to_server, to_client) = (Direction::ToServer, Direction::ToClient);
    let mut chunks = vec![
        (to_server, upgrade.as_bytes().to_vec()),
        (to_client, granted.as_bytes().to_vec()),
    ];
    for n in [1, 2, 3, 1, 9, 2, 4, 1] {
        chunks.push((to_server, websocket(0x81, mask, text(n, "INV").as_bytes())));
        chunks.push((to_client, websocket(0x81, None, text(n, "RES").as_bytes())));
    }
    // Several messages in one packet, so that the start of the last is cut off too.
    let both = [2, 1].map(|n| websocket(0x81, None, text(n, "RES").as_bytes()));
    chunks.push((to_client, both.concat()));
    chunks.push((to_server, websocket(0x81, mask, text(1, "INV").as_bytes())));
    let read = |setup: &Setup, most: usize| {
        let mut decoder = Decoder::new(setup.options(Want::Places));
        let mut got = Vec::new();
        let mut sink = |decoded: &Decoded<'_>| {
            let fault = decoded
                .faults()
                .map(|(_, fault)| fault.code)
                .find(|code| *code != "gap");
            let direction = decoded.origin.direction;
            let start = decoded.frame.offset;
            got.push((
                direction,
                start,
                start + decoded.frame.len,
                decoded.message.kind.to_string(),
                fault,
            ));
        };
        for (direction, bytes) in &chunks {
            let origin = Origin {
                conn: Some(0),
                direction: Some(*direction),
                ..Origin::default()
            };
            let shown = &bytes[..bytes.len().min(most)];
            decoder.push(origin, shown, &mut sink);
            if shown.len() < bytes.len() {
                decoder.gap(origin, (bytes.len() - shown.len()) as u64, &mut sink);
            }
        }
        decoder.finish(&mut sink);
        got
    };
    for protocol in [Some("sael"), None] {
        let setup = Setup {
            protocol,
            ..Setup::default()
        };
        let whole = read(&setup, usize::MAX);
        assert_eq!(whole.len(), 2 + 16 + 3, "{whole:?}");
        for most in (24..400).step_by(3) {
            let got = read(&setup, most);
            let name = || format!("{protocol:?} with {most} bytes of each chunk: {got:#?}");
            assert!(got.iter().all(|message| message.4.is_none()), "{}", name());
            // The bytes of each direction that were captured.
            let mut at = [0, 0];
            let mut captured = Vec::new();
            for (direction, bytes) in &chunks {
                let at = &mut at[usize::from(*direction == to_client)];
                captured.push((Some(*direction), *at, *at + bytes.len().min(most) as u64));
                *at += bytes.len() as u64;
            }
            let is_captured = |message: &&(_, u64, u64, String, _)| {
                captured.iter().any(|(direction, start, end)| {
                    *direction == message.0 && *start <= message.1 && message.2 <= *end
                })
            };
            for message in whole.iter().skip(2).filter(is_captured) {
                assert!(got.contains(message), "{message:?} is missing: {}", name());
            }
        }
    }
}

/// A capture may begin with a message of several frames.
#[test]
fn capture_begins_with_fragments() {
    let mask = Some([0x37, 0xfa, 0x21, 0x3d]);
    let (first, rest) = SAEL[1].split_at(SAEL[1].len() / 2);
    for (pieces, has_ping) in [(1, false), (2, true), (5, false)] {
        let mut bytes = websocket(0x01, mask, first.as_bytes());
        if has_ping {
            bytes.extend(websocket(0x89, mask, b"mid"));
        }
        let size = rest.len().div_ceil(pieces);
        for (n, piece) in rest.as_bytes().chunks(size).enumerate() {
            let first = if n + 1 == pieces { 0x80 } else { 0 };
            bytes.extend(websocket(first, mask, piece));
        }
        let setup = Setup::framed("sael", Framing::WebSocket);
        let gap = ConnectionBytes::Gap(9);
        let (got, _) = report_frames(&setup, &[gap, ConnectionBytes::Bytes(&bytes)]);
        let kinds: Vec<&str> = got.iter().map(|reported| reported.kind.as_str()).collect();
        let kinds: Vec<&str> = kinds.into_iter().filter(|kind| *kind != "ping").collect();
        assert_eq!(kinds, ["gap", "INV"], "{pieces}: {got:?}");
    }
}

#[test]
fn events_continue_after_gap() {
    let event = |n: u32| {
        format!(
            "event: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"blobs/get\",\"params\":{{}}}}\n\n"
        )
    };
    let chunk = |text: String| format!("{:x}\r\n{text}\r\n", text.len());
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    let tail = "0\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
    let all: String = (1..5).map(|n| chunk(event(n))).collect();
    let bytes = format!("{head}{all}{tail}").into_bytes();
    let setup = Setup::framed("stepflow", Framing::Http);
    let cut = head.len() + 30;
    let bits = [
        ConnectionBytes::Bytes(&bytes[..cut]),
        ConnectionBytes::Gap(50),
        ConnectionBytes::Bytes(&bytes[cut + 50..]),
    ];
    let (reported, _) = report_frames(&setup, &bits);
    let kinds: Vec<&str> = reported
        .iter()
        .map(|reported| reported.kind.as_str())
        .filter(|kind| *kind != "skipped")
        .collect();
    assert_eq!(
        kinds.iter().filter(|kind| **kind == "request").count(),
        3 + usize::from(kinds[1] == "request"),
        "{reported:?}"
    );
    assert_eq!(kinds.last(), Some(&"http-response"));
    assert_eq!(
        reported
            .iter()
            .map(|reported| reported.faults.len())
            .sum::<usize>(),
        1,
        "{reported:?}"
    );
}

/// One frame whose length field is wrong by this number of bytes.
fn wrong_length_frame(first: u8, mask: Option<[u8; 4]>, payload: &[u8], by: i64) -> Vec<u8> {
    let mut frame = websocket(first, mask, payload);
    let output =
        u16::try_from(i64::try_from(payload.len()).expect("short") + by).expect("a short payload");
    if payload.len() < 126 {
        frame[1] = frame[1] & 0x80 | u8::try_from(output).expect("fewer than 126 bytes");
    } else {
        frame[2..4].copy_from_slice(&output.to_be_bytes());
    }
    frame
}

#[test]
fn wrong_websocket_length_is_reported_once() {
    let long = pad_message(SAEL[1], 200);
    let texts: [&[u8]; 5] = [
        SAEL[0].as_bytes(),
        SAEL[1].as_bytes(),
        long.as_bytes(),
        SAEL[2].as_bytes(),
        SAEL[3].as_bytes(),
    ];
    let packed = saikuro();
    let packed: Vec<&[u8]> = packed.iter().map(Vec::as_slice).collect();
    for (protocol, first, messages) in [("sael", 0x81, &texts[..]), ("saikuro", 0x82, &packed)] {
        let setup = Setup::framed(protocol, Framing::WebSocket);
        for mask in [None, Some([0x37, 0xfa, 0x21, 0x3d])] {
            let stream = |wrong: Option<(usize, i64)>| -> Vec<u8> {
                let frames = messages.iter().enumerate().map(|(n, payload)| {
                    let by = wrong.filter(|(at, _)| *at == n).map_or(0, |(_, by)| by);
                    wrong_length_frame(first, mask, payload, by)
                });
                frames.collect::<Vec<_>>().concat()
            };
            let (want, _) = report_frames(&setup, &[ConnectionBytes::Bytes(&stream(None))]);
            for (at, by) in (0..messages.len()).flat_map(|at| [-3, -1, 1, 3].map(|by| (at, by))) {
                if (120..130).contains(&messages[at].len()) {
                    continue;
                }
                let bytes = stream(Some((at, by)));
                let name = || format!("{protocol}, message {at} wrong by {by}, mask {mask:?}");
                let (got, _) = report_frames(&setup, &[ConnectionBytes::Bytes(&bytes)]);
                let faults: Vec<_> = got.iter().flat_map(|reported| &reported.faults).collect();
                let code = if by > 0 && at + 1 == messages.len() {
                    "truncated"
                } else {
                    "bad-length"
                };
                assert_eq!(faults.len(), 1, "{}: {got:?}", name());
                assert_eq!(faults[0].0, code, "{}", name());
                let right = messages[at].len().to_string();
                let mut numbers = faults[0].2.split(|c: char| !c.is_ascii_digit());
                assert!(numbers.any(|n| n == right), "{}: {faults:?}", name());
                let kinds = |reported: &[FrameReport]| {
                    reported.iter().map(|t| t.kind.clone()).collect::<Vec<_>>()
                };
                assert_eq!(kinds(&got), kinds(&want), "{}", name());
                let bits: Vec<ConnectionBytes<'_>> =
                    bytes.chunks(1).map(ConnectionBytes::Bytes).collect();
                assert_eq!(
                    report_frames(&setup, &bits).0,
                    got,
                    "{} in reads of one byte",
                    name()
                );
            }
        }
    }
}

#[test]
fn unreadable_stream_is_reported_once() {
    let mask = Some([0x37, 0xfa, 0x21, 0x3d]);
    let junk = b"no frame: \"quick brown fox\" jumps over {the} lazy dog, and so on. ".repeat(40);
    let upgrade: &[u8] = b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
    let bad_head = b"HTTP/1.1 200 \x01\r\n\r\n".repeat(30);
    let post: &[u8] = b"GET /health HTTP/1.1\r\nHost: h\r\n\r\n";
    for (protocol, framing, start, junk, end, last) in [
        (
            "sael",
            Framing::WebSocket,
            websocket(0x81, mask, SAEL[1].as_bytes()),
            &junk,
            websocket(0x81, mask, SAEL[2].as_bytes()),
            "STR",
        ),
        (
            "sael",
            Framing::WebSocket,
            websocket(0x81, None, SAEL[1].as_bytes()),
            &junk,
            websocket(0x81, None, SAEL[2].as_bytes()),
            "STR",
        ),
        (
            "sael",
            Framing::Http,
            upgrade.to_vec(),
            &junk,
            websocket(0x81, mask, SAEL[2].as_bytes()),
            "STR",
        ),
        (
            "stepflow",
            Framing::Http,
            post.to_vec(),
            &junk,
            post.to_vec(),
            "http-request",
        ),
        (
            "stepflow",
            Framing::Http,
            post.to_vec(),
            &bad_head,
            post.to_vec(),
            "http-request",
        ),
    ] {
        let bytes = [&start[..], junk, &end].concat();
        let setup = Setup::framed(protocol, framing);
        let (got, _) = report_frames(&setup, &[ConnectionBytes::Bytes(&bytes)]);
        let faults: Vec<_> = got.iter().flat_map(|reported| &reported.faults).collect();
        assert_eq!(faults.len(), 1, "{protocol} {framing:?}: {got:?}");
        assert_eq!(
            got.last().map(|reported| reported.kind.as_str()),
            Some(last)
        );
        for size in [1, 7, 64] {
            let bits: Vec<ConnectionBytes<'_>> =
                bytes.chunks(size).map(ConnectionBytes::Bytes).collect();
            assert_eq!(
                report_frames(&setup, &bits).0,
                got,
                "{protocol} {framing:?} in reads of {size}"
            );
        }
    }
}

/// Messages in JSON of other protocols.
const OTHER_PROTOCOLS: [&str; 6] = [
    "{\"hello\":\"world\"}\n{\"count\":2}\n",
    "{\"op\":\"ping\",\"at\":1}\n{\"op\":\"pong\",\"at\":1}\n",
    "{\"query\":\"{ me { id } }\",\"variables\":{}}\n",
    "{\"topic\":\"room:1\",\"event\":\"phx_join\",\"payload\":{},\"ref\":\"1\"}\n",
    "{\"action\":\"subscribe\",\"channel\":\"a\"}\n",
    "{\"cmd\":\"add\",\"params\":[1,2]}\n",
];

#[test]
fn other_protocols_are_not_recognised() {
    for text in OTHER_PROTOCOLS {
        let (got, undetected) = report_frames(
            &Setup::default(),
            &[ConnectionBytes::Bytes(text.as_bytes())],
        );
        assert_eq!((got.len(), undetected), (0, text.len()), "{text}: {got:?}");
        let first = text.lines().next().expect("a line");
        let pretty: serde_json::Value = serde_json::from_str(first).expect("JSON");
        let pretty = serde_json::to_string_pretty(&pretty).expect("JSON");
        let (got, _) = report_frames(
            &Setup::default(),
            &[ConnectionBytes::Bytes(pretty.as_bytes())],
        );
        assert!(got.is_empty(), "{pretty}: {got:?}");
    }
}

#[test]
fn json_on_several_lines_is_read_as_values() {
    for (protocol, message) in [
        ("oracle", ORACLE[1]),
        ("stepflow", STEPFLOW[0]),
        ("sael", SAEL[0]),
    ] {
        let value: serde_json::Value = serde_json::from_str(message).expect("JSON");
        let pretty = serde_json::to_string_pretty(&value).expect("JSON");
        let two = format!("{pretty}\n{pretty}\n");
        let line = kinds(
            &Setup::framed(protocol, Framing::Lines),
            &[message.as_bytes()],
        );
        // oracle has only the framing lines, so a named oracle has it too.
        let named = (protocol != "oracle").then(|| Setup::of(protocol));
        for setup in [Setup::default()].into_iter().chain(named) {
            for size in [1, 7, two.len()] {
                let pieces: Vec<&[u8]> = two.as_bytes().chunks(size).collect();
                assert_eq!(
                    kinds(&setup, &pieces),
                    [&line[..], &line].concat(),
                    "{setup:?} {size}"
                );
            }
            // One message per line stays in the framing lines.
            let plain = format!("{message}\n{message}\n");
            let json = json_of(&setup, [plain.as_bytes()]);
            assert!(
                json.lines()
                    .all(|line| line.contains(r#""framing":"lines""#)),
                "{json}"
            );
        }
        // On a connection the framing of the peers is lines, whatever they write.
        let mut decoder = Decoder::new(Setup::of(protocol).options(Want::Head));
        let origin = Origin {
            conn: Some(1),
            direction: Some(Direction::ToServer),
            ..Origin::default()
        };
        let mut faults = 0;
        let mut sink = |decoded: &Decoded<'_>| faults += usize::from(decoded.is_faulty());
        decoder.push(origin, two.as_bytes(), &mut sink);
        decoder.finish(&mut sink);
        assert!(faults > 0, "{protocol}");
        let (reported, _) = report_frames(
            &Setup::framed(protocol, Framing::Lines),
            &[ConnectionBytes::Bytes(two.as_bytes())],
        );
        assert_eq!(reported.len(), two.lines().count());
        assert!(
            reported.iter().all(|reported| reported.faults.len() == 1),
            "{reported:?}"
        );
        let hints = reported
            .iter()
            .filter(|reported| reported.faults[0].2.contains("--framing values"));
        assert_eq!(hints.count(), 2, "{reported:?}");
    }
}

/// The framing that a hint names.
fn suggested(hint: &str) -> Option<Framing> {
    let (_, rest) = hint.split_once("--framing ")?;
    let name = rest
        .split(|c: char| !c.is_ascii_lowercase() && c != '-')
        .next()?;
    Framing::from_name(name)
}

#[test]
fn hinted_framing_reads_the_bytes() {
    let pretty = |message: &str| {
        let value: serde_json::Value = serde_json::from_str(message).expect("JSON");
        serde_json::to_string_pretty(&value).expect("JSON") + "\n"
    };
    let mut streams: Vec<(&str, Vec<u8>)> = vec![
        ("stepflow", pretty(STEPFLOW[0]).into()),
        ("oracle", pretty(ORACLE[0]).into()),
        ("sael", pretty(SAEL[0]).into()),
        ("stepflow", b"this is not json\n".to_vec()),
        ("stepflow", b"{\n\"a\": [1,\n2]\n}\n".to_vec()),
        ("telequick", telequick(false)),
    ];
    streams.extend(built().into_iter().map(|seed| (seed.protocol, seed.bytes)));
    streams.extend(
        captured(4 << 10)
            .into_iter()
            .map(|seed| (seed.protocol, seed.bytes)),
    );
    for (protocol, file) in fixtures() {
        streams.push((protocol, std::fs::read(file).expect("a fixture")));
    }
    let mut seen = 0;
    for (protocol, bytes) in &streams {
        let setups = Framing::ALL.map(|framing| Setup::framed(protocol, framing));
        for setup in setups.into_iter().chain([Setup::of(protocol)]) {
            let (got, _) = report_frames(&setup, &[ConnectionBytes::Bytes(bytes)]);
            for fault in got.iter().flat_map(|reported| &reported.faults) {
                let Some(framing) = suggested(&fault.2) else {
                    continue;
                };
                seen += 1;
                let other = Setup::framed(protocol, framing);
                let (read, _) = report_frames(&other, &[ConnectionBytes::Bytes(bytes)]);
                let good = read
                    .iter()
                    .filter(|reported| reported.faults.is_empty() && reported.kind != "skipped");
                let name = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
                assert!(
                    good.count() > 0,
                    "{setup:?}: {fault:?} on {name:?}: {read:?}"
                );
            }
        }
    }
    assert!(seen > 10, "{seen}");
}

/// The first fault of one direction, after the bytes of the other direction.
fn first_fault(protocol: &'static str, asked: &[u8], answered: &[u8]) -> String {
    let mut decoder = Decoder::new(Setup::framed(protocol, Framing::Http).options(Want::Head));
    let mut fault = String::new();
    let mut sink = |decoded: &Decoded<'_>| {
        if let (true, Some((_, error))) = (fault.is_empty(), decoded.faults().next()) {
            fault = format!("{} {error}", error.code);
        }
    };
    for (direction, bytes) in [
        (Direction::ToServer, asked),
        (Direction::ToClient, answered),
    ] {
        let origin = Origin {
            conn: Some(0),
            direction: Some(direction),
            ..Origin::default()
        };
        decoder.push(origin, bytes, &mut sink);
    }
    decoder.finish(&mut sink);
    fault
}

#[test]
fn heads_refused_by_peers_are_faults() {
    let body = STEPFLOW[0];
    let both = format!(
        "POST / HTTP/1.1\r\nContent-Length: {}\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
        body.len(),
        body.len()
    );
    let fault = first_fault("stepflow", both.as_bytes(), b"");
    assert_eq!(
        fault,
        format!(
            "bad-http Content-Length: wanted none beside Transfer-Encoding, got \"{}\"",
            body.len()
        )
    );
    let packed = [b"\x1f\x8b\x08\0".as_slice(), &[0xc3; 60]].concat();
    let head = format!(
        "POST / HTTP/1.1\r\nContent-Encoding: zstd\r\nContent-Length: {}\r\n\r\n",
        packed.len()
    );
    let fault = first_fault("stepflow", &[head.as_bytes(), &packed].concat(), b"");
    assert_eq!(
        fault,
        "compressed Content-Encoding: wanted gzip, deflate or br, got zstd"
    );

    let ask = b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    for (accept, wrong) in [
        ("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", false),
        ("s3pPLMBiTxaQ9kYGzzhZRbK+xOp=", true),
    ] {
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        let fault = first_fault("sael", ask, answer.as_bytes());
        let want = format!(
            "bad-websocket Sec-WebSocket-Accept: wanted s3pPLMBiTxaQ9kYGzzhZRbK+xOo=, got \"{accept}\""
        );
        assert_eq!(fault, if wrong { want } else { String::new() });
    }
}

#[test]
fn fault_names_the_exceeded_limit() {
    let mut fragments = websocket(0x01, None, b"{");
    for _ in 0..70_000 {
        fragments.extend(websocket(0x00, None, b" "));
    }
    fragments.extend(websocket(0x80, None, b"}"));
    let text = " ".repeat(140_000);
    let mut chunks = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in text.bytes() {
        chunks.extend_from_slice(b"1\r\n \r\n");
    }
    chunks.extend_from_slice(b"0\r\n\r\n");
    for (protocol, framing, bytes, want) in [
        (
            "sael",
            Framing::WebSocket,
            fragments,
            "at most 65536 fragments",
        ),
        ("stepflow", Framing::Http, chunks, "at most 65536 pieces"),
    ] {
        let setup = Setup::framed(protocol, framing).limited(1 << 20);
        let json = json_of(&setup, [&bytes[..]]);
        assert!(json.contains(want), "{}", &json[..json.len().min(600)]);
    }
}

#[test]
fn text_that_is_not_json_has_own_fault() {
    for protocol in ["stepflow", "oracle", "sael"] {
        for text in ["this is not json", "no", "hello"] {
            let json = json_of(&Setup::framed(protocol, Framing::Lines), [text.as_bytes()]);
            assert!(
                json.contains(r#""wanted":"JSON","got":"text that is not JSON""#),
                "{json}"
            );
        }
    }
}
