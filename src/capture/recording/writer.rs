//! Writes recordings; see [`super`] for the format.

use super::{ChunkSource, EventRecord, Header};
use crate::escape::is_active;
use serde::Serialize;
use std::io::Write;

pub(super) fn write_value(line: &impl Serialize, out: &mut Vec<u8>) {
    // Writing to memory cannot fail, and neither can maps with text keys.
    let text = serde_json::to_string(line).unwrap_or_default();
    // Quotes and backslashes are part of the JSON.
    for c in text.chars() {
        let mut buffer = [0; MAX_ESCAPE];
        let len = write_char(c, &mut buffer);
        out.extend_from_slice(&buffer[..len]);
    }
    out.push(b'\n');
}

pub(super) fn write_chunk(
    t: i64,
    (conn, stream): (u32, Option<u64>),
    dir: ChunkSource,
    datagram: bool,
    bytes: &[u8],
    out: &mut Vec<u8>,
) {
    let dir = dir.name();
    let _ = write!(out, r#"{{"t":{t},"conn":{conn},"#);
    if let Some(stream) = stream {
        let _ = write!(out, r#""stream":{stream},"#);
    }
    let _ = write!(out, r#""dir":"{dir}","#);
    if datagram {
        out.extend_from_slice(br#""datagram":true,"#);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        out.extend_from_slice(br#""text":""#);
        escape(text, out);
    } else {
        out.extend_from_slice(br#""b64":""#);
        base64_simd::STANDARD.encode_append(bytes, out);
    }
    out.extend_from_slice(b"\"}\n");
}

/// The escaped form of a byte of text.
#[derive(Clone, Copy)]
struct EscapedByte {
    bytes: [u8; 2],
    /// The length of the escaped form; 0 if it depends on the whole character.
    len: u8,
}

const ESCAPES: [EscapedByte; 256] = {
    let mut table = [EscapedByte {
        bytes: [0; 2],
        len: 0,
    }; 256];
    let mut index = 0;
    while index < 256 {
        let byte = index as u8;
        let (bytes, len) = match byte {
            b'"' | b'\\' => ([b'\\', byte], 2),
            b'\n' => (*b"\\n", 2),
            b'\r' => (*b"\\r", 2),
            b'\t' => (*b"\\t", 2),
            _ if is_plain(byte) => ([byte, 0], 1),
            _ => ([0; 2], 0),
        };
        table[index] = EscapedByte { bytes, len };
        index += 1;
    }
    table
};

/// Returns true if a byte needs no escape: it is no control character, no quote, and no first byte of a character
/// that may be unsafe.
#[allow(clippy::needless_bitwise_bool)] // lazy operators would be branches
const fn is_plain(byte: u8) -> bool {
    (byte >= 0x20)
        & (byte != b'"')
        & (byte != b'\\')
        & (byte != 0x7f)
        // U+0080 to U+00BF, U+0340 to U+037F, U+0600 to U+063F
        & (byte != 0xc2)
        & (byte != 0xcd)
        & (byte != 0xd8)
        // U+1000 to U+3FFF, U+F000 to U+FFFF, U+C0000 to U+FFFFF
        & (byte != 0xe1)
        & (byte != 0xe2)
        & (byte != 0xe3)
        & (byte != 0xef)
        & (byte != 0xf3)
}

/// The number of bytes that are checked together.
const BLOCK: usize = 32;
/// The number of bytes that are collected before they are appended.
const BUFFER_SIZE: usize = 1 << 10;
/// The length of the longest escape: two UTF-16 units.
const MAX_ESCAPE: usize = 12;

/// Appends text in the form of a JSON string, with control, bidi and invisible characters escaped.
fn escape(text: &str, out: &mut Vec<u8>) {
    // JSON in JSON has a quote every few bytes: appending each run separately would be slower.
    let mut buffer = [0; BUFFER_SIZE + 2 * BLOCK + MAX_ESCAPE];
    let (mut at, mut len) = (0, 0);
    while let Some(rest) = text.as_bytes().get(at..).filter(|rest| !rest.is_empty()) {
        if len >= BUFFER_SIZE {
            out.extend_from_slice(&buffer[..len]);
            len = 0;
        }
        if let Some(block) = rest.first_chunk::<BLOCK>()
            && block.iter().fold(0, |odd, b| odd | u8::from(!is_plain(*b))) == 0
        {
            buffer[len..len + BLOCK].copy_from_slice(block);
            len += BLOCK;
            at += BLOCK;
            continue;
        }
        let mut whole = true;
        for &byte in rest.get(..BLOCK).unwrap_or(rest) {
            let written = ESCAPES[byte as usize];
            whole = written.len > 0;
            if !whole {
                break;
            }
            buffer[len..len + 2].copy_from_slice(&written.bytes);
            len += usize::from(written.len);
            at += 1;
        }
        if !whole {
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else {
                break;
            };
            len += write_char(c, &mut buffer[len..len + MAX_ESCAPE]);
            at += c.len_utf8();
        }
    }
    out.extend_from_slice(&buffer[..len]);
}

/// Writes a character, escaped if it is unsafe. Returns the number of bytes written.
fn write_char(c: char, buffer: &mut [u8]) -> usize {
    if !is_active(c) {
        return c.encode_utf8(buffer).len();
    }
    let mut len = 0;
    for unit in c.encode_utf16(&mut [0; 2]) {
        let digit = |shift: u32| b"0123456789abcdef"[usize::from(*unit >> shift) & 15];
        let escape = [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)];
        buffer[len..len + escape.len()].copy_from_slice(&escape);
        len += escape.len();
    }
    len
}

/// Formats the lines of a recording. Each call appends one whole line, so that one write(2) puts it into the file.
#[derive(Debug, Default)]
pub struct RecordingWriter {
    chunks: u64,
    c2s: u64,
    s2c: u64,
    stderr: u64,
}

impl RecordingWriter {
    /// Starts with the header line.
    pub fn new(header: &Header, out: &mut Vec<u8>) -> Self {
        write_value(header, out);
        Self::default()
    }

    /// Writes bytes exactly as one read returned them, `t` nanoseconds after the start.
    pub fn chunk(
        &mut self,
        t: i64,
        conn: u32,
        stream: Option<u64>,
        dir: ChunkSource,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) {
        self.count(dir, bytes);
        write_chunk(t, (conn, stream), dir, false, bytes, out);
    }

    /// Writes a datagram of QUIC.
    pub fn datagram(
        &mut self,
        t: i64,
        conn: u32,
        dir: ChunkSource,
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) {
        self.count(dir, bytes);
        write_chunk(t, (conn, None), dir, true, bytes, out);
    }

    fn count(&mut self, dir: ChunkSource, bytes: &[u8]) {
        self.chunks += 1;
        *match dir {
            ChunkSource::C2s => &mut self.c2s,
            ChunkSource::S2c => &mut self.s2c,
            ChunkSource::Stderr => &mut self.stderr,
        } += bytes.len() as u64;
    }

    /// Writes an event.
    pub fn event(&mut self, event: &EventRecord, out: &mut Vec<u8>) {
        write_value(event, out);
    }

    /// Writes the end of one direction of a stream. There may be as many as chunks, so this is faster than an event.
    pub(crate) fn fin(t: i64, conn: u32, stream: u64, dir: ChunkSource, out: &mut Vec<u8>) {
        let dir = dir.name();
        let _ = writeln!(
            out,
            r#"{{"t":{t},"conn":{conn},"stream":{stream},"event":"fin","dir":"{dir}"}}"#
        );
    }

    /// Writes the last line, with the counts.
    pub fn end(self, t: i64, out: &mut Vec<u8>) {
        self.write_end(t, "", out);
    }

    /// Writes the last line of a file that another one continues.
    #[cfg(feature = "cli")]
    pub(crate) fn end_part(self, t: i64, out: &mut Vec<u8>) {
        self.write_end(t, r#","continued":true"#, out);
    }

    fn write_end(self, t: i64, more: &str, out: &mut Vec<u8>) {
        let Self {
            chunks, c2s, s2c, ..
        } = self;
        let _ = write!(
            out,
            r#"{{"t":{t},"event":"end","chunks":{chunks},"bytes":{{"c2s":{c2s},"s2c":{s2c}"#
        );
        if self.stderr > 0 {
            let _ = write!(out, r#","stderr":{}"#, self.stderr);
        }
        let _ = writeln!(out, "}}{more}}}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Record, VERSION};
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    fn dirs() -> impl Strategy<Value = ChunkSource> {
        prop_oneof![
            Just(ChunkSource::C2s),
            Just(ChunkSource::S2c),
            Just(ChunkSource::Stderr)
        ]
    }

    fn more() -> impl Strategy<Value = Map<String, Value>> {
        vec(("x_[a-z]{1,5}", any::<String>()), 0..3).prop_map(|pairs| {
            pairs
                .into_iter()
                .map(|(key, value)| (key, Value::from(value)))
                .collect()
        })
    }

    fn records() -> impl Strategy<Value = Record> {
        let bytes = prop_oneof![
            vec(any::<u8>(), 0..40),
            any::<String>().prop_map(String::into_bytes),
            "[\u{0}-\u{9f}\u{34f}\u{61c}\u{180e}\u{200e}\u{2028}-\u{2069}\u{3164}\u{ffa0}\u{e0001}😀\"\\\\]{0,20}".prop_map(String::into_bytes),
        ];
        let started =
            proptest::option::of(-377_705_000_000_000_000_000..253_402_200_000_000_000_000_i128);
        prop_oneof![
            (
                any::<i64>(),
                any::<u32>(),
                any::<Option<u64>>(),
                dirs(),
                bytes
            )
                .prop_map(|(t, conn, stream, dir, bytes)| {
                    Record::Chunk {
                        t,
                        conn,
                        stream,
                        datagram: false,
                        dir,
                        bytes,
                    }
                }),
            (
                any::<i64>(),
                any::<Option<u32>>(),
                any::<Option<u64>>(),
                any::<String>(),
                more()
            )
                .prop_map(|(t, conn, stream, event, more)| Record::Event(
                    EventRecord {
                        t,
                        conn,
                        stream,
                        event,
                        more
                    }
                )),
            (
                any::<Option<String>>(),
                started,
                any::<Option<Vec<String>>>(),
                more()
            )
                .prop_map(|(protocol, started, argv, more)| {
                    Record::Header(Header {
                        version: VERSION,
                        protocol,
                        started,
                        argv,
                        more,
                        ..Header::default()
                    })
                }),
        ]
    }

    proptest! {
        #[test]
        fn written_lines_parse_to_equal_records(record in records()) {
            let mut line = Vec::new();
            record.write(&mut line);
            let text = std::str::from_utf8(&line).unwrap();
            let (body, end) = text.split_at(text.len() - 1);
            prop_assert_eq!(end, "\n");
            prop_assert!(!body.contains(is_active), "{}", body);
            prop_assert_eq!(Record::parse(body.as_bytes()).unwrap(), record);
        }
    }

    #[test]
    fn recording_has_the_documented_format() {
        let mut out = Vec::new();
        let header = Header {
            protocol: Some("oracle".into()),
            transport: Some("stdio".into()),
            argv: Some(vec!["./oracle".into()]),
            ..Header::new(1_795_255_200_000_000_001)
        };
        let mut writer = RecordingWriter::new(&header, &mut out);
        let open = EventRecord {
            conn: Some(1),
            event: "open".into(),
            ..EventRecord::default()
        };
        writer.event(&open, &mut out);
        writer.chunk(
            5,
            1,
            None,
            ChunkSource::C2s,
            b"{\"a\":\"\\\\\"}\r\n",
            &mut out,
        );
        writer.chunk(
            6,
            1,
            Some(4),
            ChunkSource::S2c,
            b"\0\0\0\x05\x81\xff",
            &mut out,
        );
        let tricks = "\u{1b}[31m\u{85}\u{202e}é".as_bytes();
        writer.chunk(7, 1, None, ChunkSource::Stderr, tricks, &mut out);
        writer.end(8, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"wiretool":1,"protocol":"oracle","started":"2026-11-21T10:00:00.000000001Z","transport":"stdio","argv":["./oracle"]}
{"t":0,"conn":1,"event":"open"}
{"t":5,"conn":1,"dir":"c2s","text":"{\"a\":\"\\\\\"}\r\n"}
{"t":6,"conn":1,"stream":4,"dir":"s2c","b64":"AAAABYH/"}
{"t":7,"conn":1,"dir":"stderr","text":"\u001b[31m\u0085\u202eé"}
{"t":8,"event":"end","chunks":3,"bytes":{"c2s":12,"s2c":6,"stderr":12}}
"#
        );
    }
}
