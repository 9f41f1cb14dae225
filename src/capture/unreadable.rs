//! Formats that are named but not read: what the file is, and a command that produces a readable capture.
//!
//! Only marks that no protocol's bytes begin with are here: a wrong name is worse than none.

use super::chunk::{InputPlace, ItemSink, Problem};
use super::form::{FormReader, FormVerdict, InputEnd};

/// A format: its first bytes, its name, and what to do.
type UnreadableFormat = (&'static [u8], &'static str, &'static str);

const TO_PCAP: &str = "editcap -F pcap FILE FILE.pcap converts it";
const UNPACK: &str = "unpack it first";

const FORMATS: &[UnreadableFormat] = &[
    (
        b"\x7fELF",
        "an ELF program or library",
        "run it with wiretool record -w FILE.jsonl -- PROGRAM",
    ),
    (
        b"\x89PNG\r\n\x1a\n",
        "a PNG image",
        "capture the bytes themselves, for example with tcpdump -i lo -w FILE.pcap",
    ),
    (
        b"PK\x03\x04",
        "a zip archive",
        "unzip FILE, then decode the captures in it",
    ),
    (
        b"SQLite format 3\0",
        "an SQLite database",
        "export its messages one per line, for example with sqlite3 FILE 'SELECT message FROM log'",
    ),
    (
        b"PAR1",
        "a Parquet file",
        "export its messages one per line, for example with duckdb -csv -noheader -c \"SELECT message FROM 'FILE'\"",
    ),
    (b"snoop\0\0\0", "a snoop capture", TO_PCAP),
    (b"GMBU", "a capture of Network Monitor", TO_PCAP),
    (b"RTSS", "a capture of Network Monitor 1", TO_PCAP),
    (
        b"+---------+---------------+----------+",
        "a capture in the text form of K12",
        TO_PCAP,
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "compressed with zstd",
        "zstd -d FILE decompresses it",
    ),
    (
        b"\xfd7zXZ\0",
        "compressed with xz",
        "xz -d FILE decompresses it",
    ),
    (
        b"BZh",
        "compressed with bzip2",
        "bzip2 -d FILE decompresses it",
    ),
    (
        b"\x04\x22\x4d\x18",
        "compressed with lz4",
        "lz4 -d FILE decompresses it",
    ),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", UNPACK),
];

/// The first key of a flow of mitmproxy, in a netstring.
const FLOW_KEYS: [&[u8]; 4] = [b"9:websocket;", b"8:response;", b"4:type;", b"7:request;"];

/// Text of tshark and Wireshark with the fields of packets: its beginning, and a word that follows soon.
const DISSECTIONS: &[(&[u8], &[u8], &str)] = &[
    (b"[", b"\"_index\"", "JSON of tshark"),
    (b"{", b"\"_index\"", "JSON of tshark"),
    (b"<?xml", b"<pdml", "PDML of tshark"),
    (b"<pdml", b"<pdml", "PDML of tshark"),
    (b"<?xml", b"<psml", "PSML of tshark"),
    (b"<psml", b"<psml", "PSML of tshark"),
    (
        b"\"No.\",\"Time\"",
        b"\"Protocol\"",
        "a packet list of Wireshark or tshark in CSV",
    ),
];
const READ_PACKETS: &str =
    "tshark -r FILE.pcap -w - and tshark -x keep the bytes, which wiretool decode reads";

/// Returns the name of a text with the fields of packets.
fn dissection(bytes: &[u8]) -> Option<&'static str> {
    let text = bytes
        .get(..MAX_DISSECTION)
        .unwrap_or(bytes)
        .trim_ascii_start();
    let (.., name) = DISSECTIONS.iter().find(|(start, word, _)| {
        text.starts_with(start) && memchr::memmem::find(text, word).is_some()
    })?;
    // Elasticsearch has such keys for any documents.
    let is_packets = memchr::memmem::find(text, b"\"packets-").is_some();
    (*name != "JSON of tshark" || is_packets).then_some(*name)
}

/// Returns the format of these bytes.
fn format(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if let Some(name) = dissection(bytes) {
        return Some((name, READ_PACKETS));
    }
    if let Some((_, name, how)) = FORMATS.iter().find(|(mark, ..)| bytes.starts_with(mark)) {
        // Three letters alone also begin text.
        let is_text = bytes.starts_with(b"BZh") && bytes.get(4..10) != Some(b"1AY&SY");
        return (!is_text).then_some((*name, *how));
    }
    if bytes.get(TAR_MARK..TAR_MARK + 5) == Some(b"ustar") && may_be_tar(bytes) {
        return Some((
            "a tar archive",
            "tar xf FILE unpacks it; then decode the captures in it",
        ));
    }
    let digits = bytes.iter().take_while(|c| c.is_ascii_digit()).count();
    let rest = bytes.get(digits..)?.strip_prefix(b":")?;
    let is_flow = digits > 0 && FLOW_KEYS.iter().any(|key| rest.starts_with(key));
    is_flow.then_some((
        "a flow file of mitmproxy",
        "mitmdump -n -r FILE --set hardump=FILE.har makes a HAR of it",
    ))
}

/// Where the mark of a tar archive begins.
const TAR_MARK: usize = 257;

/// Returns true for the name of a file, zeros after it, and octal digits, as far as the bytes go.
fn may_be_tar(bytes: &[u8]) -> bool {
    const NAME: usize = 100;
    const MODE: usize = 8;
    let name = bytes.get(..NAME).unwrap_or(bytes);
    let mode = bytes.get(NAME..).unwrap_or_default();
    let mode = mode.get(..MODE).unwrap_or(mode);
    let Some(len) = name.iter().position(|c| *c == 0).filter(|len| *len > 0) else {
        return false;
    };
    let (name, zeros) = name.split_at_checked(len).unwrap_or_default();
    name.iter().all(|c| !c.is_ascii_control())
        && zeros.iter().all(|c| *c == 0)
        && mode.iter().all(|c| matches!(c, b'0'..=b'7' | b' ' | 0))
}

/// The length of the longest mark.
const MAX_MARK: usize = 40;
/// The word of a dissection is within this number of bytes.
const MAX_DISSECTION: usize = 512;

/// Checks if the bytes have a format that is only named.
pub(super) fn detect(bytes: &[u8], end: InputEnd) -> FormVerdict {
    if let Some((name, _)) = format(bytes) {
        return FormVerdict::Yes(format!("it is {name}"));
    }
    let digits = bytes.iter().take_while(|c| c.is_ascii_digit()).count();
    let may_be_flow = (1..10).contains(&digits)
        && bytes.len() < MAX_MARK
        && bytes.get(digits..).is_some_and(|rest| {
            FLOW_KEYS.iter().any(|key| {
                let mark = [b":", *key].concat();
                mark.starts_with(rest)
            })
        });
    let may_be =
        FORMATS.iter().any(|(mark, ..)| mark.starts_with(bytes)) || may_be_dissection(bytes);
    let may_be = may_be || bytes.len() < TAR_MARK + 5 && may_be_tar(bytes);
    let may_be_bzip2 = bytes.starts_with(b"BZh") && bytes.len() < 10;
    if end == InputEnd::More && (may_be || may_be_flow || may_be_bzip2) {
        FormVerdict::Open
    } else {
        FormVerdict::No
    }
}

/// Returns true if bytes can become text of tshark.
fn may_be_dissection(bytes: &[u8]) -> bool {
    if bytes.len() >= MAX_DISSECTION {
        return false;
    }
    let text = bytes.trim_ascii_start();
    let xml = [&b"<?xml"[..], b"<pdml", b"<psml", b"\"No.\",\"Time\""];
    if xml
        .iter()
        .any(|mark| mark.starts_with(text) || text.starts_with(mark))
    {
        return true;
    }
    // The first key of an object in a list, or of an object whose value is one.
    let mut rest = text;
    for mark in [
        &b"["[..],
        b"{",
        b"\"index\"",
        b":",
        b"{",
        b"\"_index\"",
        b":",
        b"\"packets-",
    ] {
        rest = rest.trim_ascii_start();
        match rest.strip_prefix(mark) {
            Some(after) => rest = after,
            None if mark.starts_with(rest) => return true,
            None => {}
        }
    }
    false
}

/// Reports the format at the end of the input.
#[derive(Default)]
pub(super) struct UnreadableReader {
    begin: Vec<u8>,
}

impl FormReader for UnreadableReader {
    fn push(&mut self, bytes: &[u8], _: &mut ItemSink<'_>) {
        let room = MAX_DISSECTION.saturating_sub(self.begin.len());
        self.begin
            .extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        let text = match format(&self.begin) {
            Some((name, how)) => format!("it is {name}, which wiretool does not read: {how}"),
            None => "it has none of the formats that are only named".into(),
        };
        Problem::unreadable(InputPlace::Whole, text).report(sink);
    }
}
