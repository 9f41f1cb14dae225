//! Packets that tshark and Wireshark print, in their variants.

use super::*;

/// A TCP segment in IPv4 from port 40000 to port 7000.
fn packet(link: &[u8], sequence: u32, payload: &[u8]) -> Vec<u8> {
    let len = 40 + payload.len() as u16;
    let mut out = link.to_vec();
    out.extend([0x45, 0]);
    out.extend(len.to_be_bytes());
    out.extend([0, 1, 0, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1]);
    out.extend(40_000_u16.to_be_bytes());
    out.extend(7000_u16.to_be_bytes());
    out.extend(sequence.to_be_bytes());
    out.extend([0, 0, 0, 1, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    out.extend_from_slice(payload);
    out
}

const ETHERNET: [u8; 14] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0];

/// Rows as tshark prints them.
fn rows(bytes: &[u8]) -> String {
    let mut out = String::new();
    for (n, row) in bytes.chunks(16).enumerate() {
        let hex: Vec<String> = row.iter().map(|b| format!("{b:02x}")).collect();
        let shown = row.iter().map(|b| {
            if b.is_ascii_graphic() {
                *b as char
            } else {
                '.'
            }
        });
        let shown: String = shown.collect();
        let _ = writeln!(out, "{:04x}  {:<47}   {shown}", n * 16, hex.join(" "));
    }
    out.push('\n');
    out
}

/// Returns the bytes of the text's connection and the time of the last of them, the same in all splits.
fn read(text: &str) -> (String, Option<i128>, Form) {
    let run = |step: usize| {
        let (mut bytes, mut time) = (Vec::new(), None);
        let mut sink = |item: Item<'_>| {
            if let Item::Chunk(chunk) = item {
                bytes.extend_from_slice(chunk.bytes);
                time = chunk.time;
            }
        };
        let mut reader = CaptureInput::new(Form::Auto);
        for piece in text.as_bytes().chunks(step) {
            reader.push(piece, &mut sink);
        }
        reader.finish(&mut sink);
        (bytes.escape_ascii().to_string(), time, reader.form())
    };
    let whole = run(text.len());
    for step in [1, 7] {
        assert_eq!(run(step), whole, "in pieces of {step}: {text}");
    }
    whole
}

#[test]
fn packets_of_tshark_are_read() {
    let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\n";
    let (first, second) = request.split_at(20);
    let two = |link: &[u8]| {
        let second = packet(link, 1020, second);
        format!("{}{}", rows(&packet(link, 1000, first)), rows(&second))
    };
    let sll = [0, 0, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0];
    let sll2 = [8, 0, 0, 0, 0, 0, 0, 1, 3, 4, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0];
    let vlan = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 7, 8, 0];
    let plain = two(&ETHERNET);
    let with_fields = |key: &str| {
        let heading = |n: u32| {
            format!(
                "Frame {n}: 74 bytes on wire (592 bits), 74 bytes captured (592 bits)\n    {key}: 1795341141.8304{n}\n    Frame Number: {n}\nInternet Protocol Version 4\n    0100 .... = Version: 4\n\n"
            )
        };
        let packets = [
            packet(&ETHERNET, 1000, first),
            packet(&ETHERNET, 1020, second),
        ];
        packets
            .iter()
            .zip(1..)
            .map(|(p, n)| format!("{}{}", heading(n), rows(p)))
            .collect::<Vec<_>>()
            .concat()
    };
    let reassembled = {
        let packets = [
            packet(&ETHERNET, 1000, first),
            packet(&ETHERNET, 1020, second),
        ];
        let [a, b] = packets.map(|p| rows(&p));
        format!(
            "{a}Frame (80 bytes):\n{b}Reassembled TCP (44 bytes):\n{}",
            rows(request)
        )
    };
    // The next packet has no heading.
    let reassembled_before = {
        let packets = [
            packet(&ETHERNET, 1000, first),
            packet(&ETHERNET, 1020, second),
        ];
        let [a, b] = packets.map(|p| rows(&p));
        format!(
            "Frame (74 bytes):\n{a}Reassembled TCP (44 bytes):\n{}{b}",
            rows(request)
        )
    };
    let summaries = {
        let packets = [
            packet(&ETHERNET, 1000, first),
            packet(&ETHERNET, 1020, second),
        ];
        let [a, b] = packets.map(|p| rows(&p));
        format!(
            "    1 0.000000    127.0.0.1 \u{2192} 127.0.0.1    TCP 74 40000 \u{2192} 7000 [PSH]\n\n{a}    2 0.000016 127.0.0.1 -> 127.0.0.1 TCP 74 40000\n\n{b}"
        )
    };
    let wanted = request.escape_ascii().to_string();
    for text in [
        plain.clone(),
        plain.replace('\n', "\r\n"),
        plain.to_uppercase(),
        // Wireshark copies with three blanks after the offset.
        plain
            .lines()
            .map(|l| l.replacen("  ", "   ", 1) + "\n")
            .collect(),
        two(&sll),
        two(&sll2),
        two(&vlan),
        two(&[2, 0, 0, 0]),
        two(&[]),
        with_fields("Epoch Time"),
        with_fields("Epoch Arrival Time"),
        reassembled,
        reassembled_before,
        summaries,
        format!("Running as user \"root\".\nCapturing on 'Loopback: lo'\n{plain}"),
    ] {
        let (bytes, _, form) = read(&text);
        assert_eq!(
            (bytes.as_str(), form),
            (wanted.as_str(), Form::Tshark),
            "{text}"
        );
    }
    let (_, time, _) = read(&with_fields("Epoch Time"));
    assert_eq!(time, Some(1_795_341_141_830_420_000));
}

#[test]
fn packets_that_wireshark_copies_are_read() {
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let packets = [packet(&ethernet, 1, b"ab"), packet(&ethernet, 3, b"cd")];
    let hex = packets
        .each_ref()
        .map(|packet| ::hex::encode(packet) + "\n");
    let base64 = packets.each_ref().map(|packet| {
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, packet) + "\n"
    });
    for text in [hex.concat(), base64.concat()] {
        let (bytes, ..) = read(&text);
        assert_eq!(bytes, "abcd", "{text}");
    }
}

/// Arrays and strings of source code; the bytes that win are those of messages.
#[test]
fn packets_in_source_code_are_read() {
    let ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let first = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let second = b"\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n";
    let packets = [packet(&ethernet, 1, first), packet(&ethernet, 41, second)];
    let wanted = [&first[..], second].concat();
    let list = |show: fn(&u8) -> String| {
        packets.each_ref().map(|packet| {
            let bytes: Vec<String> = packet.iter().map(show).collect();
            bytes.join(", ")
        })
    };
    let [go, go_2] = list(|byte| format!("0x{byte:02x}"));
    let [rust, rust_2] = list(u8::to_string);
    let [python, python_2] = packets.each_ref().map(|packet| {
        let shown = packet.iter().map(|byte| format!("\\x{byte:02x}"));
        shown.collect::<String>()
    });
    let [hex, hex_2] = packets.each_ref().map(::hex::encode);
    for text in [
        format!("var pkts = [][]byte{{\n\t{{{go}}},\n\t{{{go_2}}},\n}}\n"),
        format!(
            "/* Frame */\nunsigned char pkt1[] = {{\n{go} }};\n\nunsigned char pkt2[] = {{\n{go_2} }};\n"
        ),
        format!("let pkts: [&[u8]; 2] = [\n  &[{rust}],\n  &[{rust_2}],\n];\n"),
        format!("pkts = [\n  b'{python}',\n  b'{python_2}',\n]\n"),
        format!("pkts = [\n  bytes.fromhex(\"{hex}\"),\n  bytes.fromhex(\"{hex_2}\"),\n]\n"),
    ] {
        let (bytes, ..) = read(&text);
        assert_eq!(bytes, wanted.escape_ascii().to_string(), "{text}");
    }
}

#[test]
fn rows_without_packets_are_no_text_of_tshark() {
    let request = b"POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}POST / HTTP/1.1\r\n";
    let (bytes, _, form) = read(&rows(request));
    assert_eq!(
        (bytes, form),
        (request.escape_ascii().to_string(), Form::Xxd)
    );
}

/// Output without bytes is named, with a way to get them.
#[test]
fn text_without_bytes_is_named() {
    for (text, name) in [
        (
            "Frame 1: 74 bytes on wire (592 bits), 74 bytes captured\n    Frame Number: 1\n",
            "tshark",
        ),
        (
            "Packet comments\n    connection 1\n        [Group: Comment]\nFrame 1: 40 bytes on wire (320 bits)\n",
            "tshark",
        ),
        (
            "  1 0.0 10.0.0.1 \u{2192} 10.0.0.2 TCP 74 4 \u{2192} 7 [SYN]\n",
            "tshark",
        ),
        (
            "[\n  {\n    \"_index\": \"packets-2026-11-22\",\n    \"_type\": \"doc\"}]",
            "tshark",
        ),
        (
            "{\"index\":{\"_index\":\"packets-2026-11-22\",\"_type\":\"doc\"}}\n",
            "tshark",
        ),
        (
            "<?xml version=\"1.0\"?>\n<!-- You -->\n<pdml version=\"0\">\n",
            "PDML",
        ),
        (
            "\"No.\",\"Time\",\"Source\",\"Destination\",\"Protocol\",\"Length\"\n",
            "packet list",
        ),
        (
            "NET 10318: pipe false undefined\nHTTP 10318: outgoing message end.\n",
            "NODE_DEBUG",
        ),
        (
            "> POST /rpc HTTP/1.1\n> Host: a\n\n< HTTP/1.1 200 OK\n",
            "curl -v",
        ),
    ] {
        for step in [1, 7, text.len()] {
            let mut problems = String::new();
            let mut sink = |item: Item<'_>| match item {
                Item::Problem(problem) => {
                    assert_eq!(problem.severity, ProblemSeverity::Unreadable, "{text}");
                    let _ = write!(problems, "{problem} {:?}", problem.hint);
                }
                Item::Chunk(chunk) => panic!("{text}: {:?}", chunk.bytes.escape_ascii()),
                _ => {}
            };
            let mut reader = CaptureInput::new(Form::Auto);
            for piece in text.as_bytes().chunks(step) {
                reader.push(piece, &mut sink);
            }
            reader.finish(&mut sink);
            assert!(problems.contains(name), "{text}: {problems}");
        }
    }
}
