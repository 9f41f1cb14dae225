//! One frame as programs print it.

use super::*;

/// A call of saikuro.
const CALL: &str = "0000004185a776657273696f6e01a474797065a463616c6ca26964c410a1b2c3d4e5f67890abcdef1234567890a6746172676574a86d6174682e616464a461726773920203";

/// Returns the bytes that a text shows, the same in all splits.
fn read(text: &str) -> Vec<u8> {
    let run = |step: usize| {
        let mut bytes = Vec::new();
        let mut reader = CaptureInput::new(Form::Auto);
        let mut sink = |item: Item<'_>| {
            if let Item::Chunk(chunk) = item {
                assert_eq!(chunk.direction, None, "{text}");
                bytes.extend_from_slice(chunk.bytes);
            }
        };
        for piece in text.as_bytes().chunks(step) {
            reader.push(piece, &mut sink);
        }
        reader.finish(&mut sink);
        bytes
    };
    let whole = run(text.len());
    assert_eq!(run(7), whole, "{text}");
    whole
}

/// Joins all bytes.
fn joined(bytes: &[u8], separator: &str, show: impl Fn(u8) -> String) -> String {
    bytes
        .iter()
        .map(|b| show(*b))
        .collect::<Vec<_>>()
        .join(separator)
}

/// Text columns as dumps have them.
fn shown(row: &[u8]) -> String {
    let show = |b: &u8| {
        if b.is_ascii_graphic() {
            *b as char
        } else {
            '.'
        }
    };
    row.iter().map(show).collect()
}

#[test]
fn prints_of_one_frame_are_read() {
    let bytes = ::hex::decode(CALL).unwrap();
    let hex = |separator: &str| joined(&bytes, separator, |b| format!("{b:02x}"));
    let numbered = |show: &dyn Fn(usize, u8) -> String, separator: &str| {
        let all = bytes.iter().enumerate().map(|(n, b)| show(n, *b));
        all.collect::<Vec<_>>().join(separator)
    };
    let halves = |row: &[u8]| {
        let (a, b) = row.split_at(row.len().min(8));
        let pair = |half: &[u8]| joined(half, " ", |b| format!("{b:02X}"));
        format!("{:<23}  {:<23}  {}", pair(a), pair(b), shown(row))
    };
    let rows = bytes.chunks(16).zip(0..);
    let escaped = |mark: char| {
        joined(&bytes, "", |b| match b {
            b if b.is_ascii_alphanumeric() => (b as char).to_string(),
            b => format!("{mark}{b:02X}"),
        })
    };
    let texts = [
        // Serial.print of Arduino
        format!("bytes: {}\n", joined(&bytes, " ", |b| format!("{b:X}"))),
        // Python's hexdump module, and DevTools.
        rows.map(|(row, n)| format!("{:08X}: {}\n", n * 16, halves(row)))
            .collect::<Vec<_>>()
            .concat(),
        format!(
            "{:?}\n",
            bytes.iter().map(|b| format!("{b:#x}")).collect::<Vec<_>>()
        ),
        format!(
            "$1 = {{0x0 <repeats 3 times>, {}}}\n",
            joined(&bytes[3..], ", ", |b| format!("{b:#x}"))
        ),
        numbered(
            &|n, b| {
                format!(
                    "{}{b}",
                    if n % 8 == 0 {
                        format!("\n0x7ffe{n:04x} <buf+{n}>:\t")
                    } else {
                        "\t".into()
                    }
                )
            },
            "",
        ),
        format!(
            "(uint8_t[69]) $0 = {{\n{}\n}}\n",
            numbered(&|n, b| format!("  [{n}] = {b:#04x}"), "\n")
        ),
        format!("{{{}}}\n", numbered(&|n, b| format!("\"{n}\":{b}"), ",")),
        format!(
            "Uint8Array(69) [{}, buffer: ArrayBuffer(69), byteLength: 69, Symbol(a): 'b']\n",
            joined(&bytes, ", ", |b| b.to_string())
        ),
        format!("{{ {} }}\n", joined(&bytes, ", ", |b| b.to_string())),
        format!("{{{}}}\n", joined(&bytes, ", ", |b| format!("&H{b:02X}"))),
        format!("{{length = 69, bytes = 0x{}}}\n", hex("")),
        format!("{{\"payload_hex\":\"{}\",\"len\":69}}\n", hex("")),
        format!("[{{\"opcode\":2,\"data\":\"{}\"}}]\n", hex("")),
        format!("{}\n", hex(".")),
        bytes
            .chunks(18)
            .zip(0..)
            .map(|(row, n)| {
                format!(
                    "{:>5} {}\n",
                    format!("[{}]", n * 18 + 1),
                    joined(row, " ", |b| format!("{b:02x}"))
                )
            })
            .collect::<Vec<_>>()
            .concat(),
        // ncat -x
        bytes
            .chunks(16)
            .zip(0..)
            .map(|(row, n)| {
                let groups: Vec<String> = row
                    .chunks(4)
                    .map(|group| joined(group, " ", |b| format!("{b:02X}")))
                    .collect();
                format!(
                    "[{:04x}]   {:<51}   {}\n",
                    n * 16,
                    groups.join("  "),
                    shown(row)
                )
            })
            .collect::<Vec<_>>()
            .concat(),
        // print of GDB
        format!(
            "$1 = '\\000' <repeats 3 times>, \"{}\"\n",
            joined(&bytes[3..], "", |b| format!("\\{b:03o}"))
        ),
        // The last line of an array is one byte.
        bytes
            .chunks(bytes.len() - 1)
            .map(|row| joined(row, ", ", |b| format!("{b:#04x}")))
            .collect::<Vec<_>>()
            .join(",\n")
            .replace(
                "0x00, 0x00, 0x00, 0x41",
                "char peer0_0[] = {\n0x00, 0x00, 0x00, 0x41",
            )
            .replace("peer0_0", "packet")
            + " };\n",
        format!("data: {}\n", escaped('%')),
        format!("{}\n", escaped('=')),
    ];
    for text in &texts {
        assert_eq!(read(text), bytes, "{text}");
    }
}

/// A shortened Buffer has no direction: its bracket is no arrow.
#[test]
fn ellipsis_in_brackets_is_no_arrow() {
    let bytes = ::hex::decode(CALL).unwrap();
    let start = joined(&bytes[..50], " ", |b| format!("{b:02x}"));
    let text = format!("ArrayBuffer {{\n  [Uint8Contents]: <{start} ... 19 more bytes>,\n}}\n");
    assert_eq!(read(&text), &bytes[..50]);
}

/// The cost is linear in the number of brackets of a line.
#[test]
fn brackets_without_end_are_read_once() {
    for text in [
        "[".repeat(1 << 17),
        "[0,".repeat(1 << 15),
        "{(".repeat(1 << 16),
    ] {
        let mut reader = CaptureInput::new(Form::Literal);
        reader.push(text.as_bytes(), &mut |_| {});
        reader.finish(&mut |_| {});
    }
}

#[test]
fn a_dump_with_a_text_column_of_hex_digits_is_read_inside_text() {
    let first = ::hex::decode(CALL).unwrap();
    let mut result = b"\0\0\x01\x34\x83\xa2id\xc4\x10".to_vec();
    result.extend((0..16).map(|n| 0x40 + n));
    result.extend(b"\xa2ok\xc3\xa6result\xdc\0\xc8");
    result.extend((0..128).flat_map(|n| [n]));
    result.extend((128..200).flat_map(|n| [0xcc, n]));
    let bytes = [first, result].concat();
    let rows = bytes.chunks(16).enumerate().map(|(n, row)| {
        let hex = joined(row, " ", |b| format!("{b:02x}"));
        format!("{:08x}  {hex:<47}  |{}|\n", n * 16, shown(row))
    });
    let dump: String = rows.collect();
    let words = dump.replace("  |", "  ").replace('|', "");
    for dump in [dump, words] {
        let text = format!("Hi, I get this:\n\n{dump}\n\nWhat is wrong?\n");
        assert_eq!(read(&text), bytes, "{text}");
    }
}

#[test]
fn text_in_utf16_is_read() {
    let bytes = ::hex::decode(CALL).unwrap();
    let text = format!("\u{feff}// \u{e9}\r\n{CALL}\r\n");
    for units in [u16::to_le_bytes, u16::to_be_bytes] {
        let text: Vec<u8> = text.encode_utf16().flat_map(units).collect();
        for (form, step) in [(Form::Auto, 1), (Form::Auto, 4096), (Form::Hex, 3)] {
            let mut found = Vec::new();
            let mut reader = CaptureInput::new(form);
            let mut sink = |item: Item<'_>| {
                if let Item::Chunk(chunk) = item {
                    found.extend_from_slice(chunk.bytes);
                }
            };
            for piece in text.chunks(step) {
                reader.push(piece, &mut sink);
            }
            reader.finish(&mut sink);
            assert_eq!(found, bytes, "{form:?} {step}");
        }
    }
}

#[test]
fn the_byte_order_mark_of_utf16_is_no_part_of_the_text() {
    for text in [
        "{\"jsonrpc\":\"2.0\",\"id\":1}\r\n",
        "[\r\n\t{\r\n\t}\r\n]\r\n",
    ] {
        for units in [u16::to_le_bytes, u16::to_be_bytes] {
            let marked = format!("\u{feff}{text}");
            let bytes: Vec<u8> = marked.encode_utf16().flat_map(units).collect();
            for step in [1, 3, 4096] {
                let mut found = Vec::new();
                let mut reader = CaptureInput::new(Form::Auto);
                let mut sink = |item: Item<'_>| {
                    if let Item::Chunk(chunk) = item {
                        found.extend_from_slice(chunk.bytes);
                    }
                };
                for piece in bytes.chunks(step) {
                    reader.push(piece, &mut sink);
                }
                reader.finish(&mut sink);
                assert_eq!(String::from_utf8_lossy(&found), text, "{step}");
            }
        }
    }
}

#[test]
fn messages_that_are_copied_out_of_something_else_are_read() {
    const REQUEST: &str =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    const ANSWER: &str =
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hi"}]}}"#;
    let both = format!("{REQUEST}\n{ANSWER}\n");
    let pretty = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        serde_json::to_string_pretty(&value).unwrap()
    };
    // A terminal has no CR, a pipe has them in the heads.
    let httpie = |end: &str| {
        format!(
            "POST /mcp HTTP/1.1{end}Content-Length: {}{end}User-Agent: HTTPie/3.2{end}{end}{}\n\n\nHTTP/1.1 200 OK{end}Content-Length: {}{end}{end}{}\n",
            REQUEST.len(),
            pretty(REQUEST),
            ANSWER.len(),
            pretty(ANSWER),
        )
    };
    let mitmdump = format!(
        "[12:01:02.345] HTTP(S) proxy listening at *:8080.\n[12:01:03.000][127.0.0.1:51234] client connect\n127.0.0.1:51234: POST http://localhost:3000/mcp HTTP/1.1\n    Content-Type: application/json\n\n    {REQUEST}\n\n << HTTP/1.1 200 OK 91b\n    Content-Type: application/json\n\n    {ANSWER}\n\n"
    );
    let okhttp = format!(
        "--> POST http://localhost/mcp\nContent-Length: {}\n\n{REQUEST}\n--> END POST (71-byte body)\n<-- 200 OK http://localhost/mcp (5ms)\n\n{ANSWER}\n<-- END HTTP (75-byte body)\n",
        REQUEST.len(),
    );
    let postman = format!(
        "POST http://localhost/mcp\n200\n5 ms\nRequest Headers\nContent-Type: application/json\nRequest Body\n{REQUEST}\nResponse Headers\nContent-Type: application/json\nResponse Body\n{ANSWER}\n"
    );
    let curl = "*   Trying 127.0.0.1:3000...\n* Connected to localhost (127.0.0.1) port 3000 (#0)\n> POST /mcp HTTP/1.1\n> Host: localhost:3000\n>\n< HTTP/1.1 200 OK\n<\n* Connection #0 to host localhost left intact\n";
    for (text, wanted) in [
        (
            format!(
                "We see:\n{{code:json}}\n{REQUEST}\n{{code}}\nand\n{{code}}\n{ANSWER}\n{{code}}\n"
            ),
            &*both,
        ),
        (format!("{{noformat}}\n{both}{{noformat}}\n"), &both),
        (format!("```\n{both}```\n"), &both),
        (httpie("\n"), &both),
        (httpie("\r\n"), &both),
        (mitmdump, &both),
        (okhttp, &both),
        (postman, &both),
        (format!("{curl}{ANSWER}\n"), &format!("{ANSWER}\n")),
    ] {
        let mut reader = CaptureInput::new(Form::Auto);
        let mut bytes = Vec::new();
        let mut sink = |item: Item<'_>| {
            if let Item::Chunk(chunk) = item {
                bytes.extend_from_slice(chunk.bytes);
            }
        };
        reader.push(text.as_bytes(), &mut sink);
        reader.finish(&mut sink);
        let read: Vec<serde_json::Value> = serde_json::Deserializer::from_slice(&bytes)
            .into_iter()
            .map(|value| value.unwrap_or_else(|error| panic!("{error}: {text}")))
            .collect();
        let wanted: Vec<serde_json::Value> = serde_json::Deserializer::from_str(wanted)
            .into_iter()
            .map(Result::unwrap)
            .collect();
        assert_eq!(read, wanted, "{text}");
    }
    // Other text beside messages of a stream is an error in it.
    let mut reader = CaptureInput::new(Form::Auto);
    let mut bytes = Vec::new();
    let text = format!("ready\n{both}");
    let mut sink = |item: Item<'_>| {
        if let Item::Chunk(chunk) = item {
            bytes.extend_from_slice(chunk.bytes);
        }
    };
    reader.push(text.as_bytes(), &mut sink);
    reader.finish(&mut sink);
    assert_eq!(bytes, text.as_bytes());
}
