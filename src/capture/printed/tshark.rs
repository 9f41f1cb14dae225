//! The output of `tshark -x` and `-V -x`, and Wireshark's "Copy as a Hex Dump": whole packets from the link header on.
//!
//! ```text
//!   Frame 4: 155 bytes on wire (1240 bits), 155 bytes captured (1240 bits)    -V
//!       Epoch Time: 1795341141.832730000 seconds                              -V; "Epoch Arrival Time" since 4.2
//!     4 0.002258    127.0.0.1 -> 127.0.0.1    TCP 155 56366 -> 38663          -P
//!   Frame (155 bytes):                                                        if there are other bytes than the packet's
//!   0000  00 00 00 00 00 00 00 00 00 00 00 00 08 00 45 00   ..............E.
//!   0010  00 8d 7a 11 40 00                                 ..z.@.
//!   Reassembled TCP (200 bytes):                                              passed over
//!   0000  00 00 00 55
//! ```
//!
//! Rows start at the left edge; the lines of field trees are indented. tshark prints field trees without `-x` too, and
//! summaries alone: then there are no bytes.

use super::super::chunk::ItemSink;
use super::super::form::FormVerdict::{self, No, Open, Yes};
use super::super::form::InputEnd;
use super::super::hex::split_digits;
use super::super::lines::{Line, LineForm, split_lines};
use super::super::time::{self, Time};
use super::hex_byte;
use super::packets::{TextPackets, link_of};
use super::tcpdump::parse_time;

/// Bytes in a row.
const ROW: usize = 16;
/// Bytes of a packet that show whether it has an IP header: a link header and the fixed part of IP.
const HEADERS: usize = 48;
/// The maximum length of a line that begins with a number.
const MAX_SUMMARY: usize = 4 << 10;

#[derive(Default)]
pub(in super::super) struct Tshark {
    packets: TextPackets,
    /// The rows are not those of a packet.
    is_other: bool,
    ignored: u64,
}

/// The text above the rows of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TsharkHeading {
    /// A packet begins.
    Packet(Option<Time>),
    /// Rows of the packet follow, or of other bytes.
    Rows { of_packet: bool },
}

/// Reads a row: its offset, and its bytes.
fn row(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let (digits, mut rest) = split_digits(line);
    if !(4..=8).contains(&digits.len()) || !rest.starts_with(b"  ") {
        return None;
    }
    let offset = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    rest = rest.trim_ascii_start();
    let mut bytes = Vec::new();
    while bytes.len() < ROW
        && let Some((byte, after)) = hex_byte(rest)
        && after.first().is_none_or(u8::is_ascii_whitespace)
    {
        bytes.push(byte);
        // Two blanks may be in the middle; more end the columns.
        rest = after.strip_prefix(b" ").unwrap_or(after);
        if bytes.len() == ROW / 2 {
            rest = rest.strip_prefix(b" ").unwrap_or(rest);
        }
    }
    (!bytes.is_empty()).then_some((offset, bytes))
}

/// Reads `Frame 4: 155 bytes on wire`, `Reassembled TCP (200 bytes):` and a summary.
fn heading(line: &[u8]) -> Option<TsharkHeading> {
    let text = std::str::from_utf8(line.get(..MAX_SUMMARY).unwrap_or(line)).ok()?;
    // Version 1 has no colon after the number.
    if let Some(rest) = text.strip_prefix("Frame ")
        && rest.starts_with(|c: char| c.is_ascii_digit())
        && rest.contains(" on wire")
    {
        return Some(TsharkHeading::Packet(None));
    }
    if let Some((name, len)) = text.strip_suffix("):").and_then(|t| t.rsplit_once(" ("))
        && let Some((len, "byte" | "bytes")) = len.split_once(' ')
        && len.bytes().all(|b| b.is_ascii_digit())
        && !name.starts_with(' ')
    {
        let of_packet = name == "Frame";
        return Some(TsharkHeading::Rows { of_packet });
    }
    summary(text)
}

/// Reads a line of the packet list: number, time, source, an arrow, destination, protocol.
fn summary(text: &str) -> Option<TsharkHeading> {
    let words: Vec<&str> = text.split_ascii_whitespace().take(9).collect();
    let (number, rest) = words.split_first()?;
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
    if !is_number(number) {
        return None;
    }
    // The list of Wireshark has columns in place of an arrow.
    let is_address = |word: &&str| {
        let is_part = |b: u8| b.is_ascii_hexdigit() || b".:".contains(&b);
        word.contains(['.', ':']) && word.bytes().all(is_part)
    };
    if let [_, addresses @ .., protocol, len] = rest.get(..5)?
        && addresses.iter().all(is_address)
        && protocol.starts_with(|c: char| c.is_ascii_uppercase())
        && is_number(len)
    {
        return Some(TsharkHeading::Packet(parse_time(rest.get(..1)?)));
    }
    let arrow = rest.iter().position(|w| matches!(*w, "\u{2192}" | "->"))?;
    let stamp = rest.get(..arrow.checked_sub(1)?)?;
    let is_stamp = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word
                .bytes()
                .all(|b| b.is_ascii_digit() || b":.-".contains(&b))
    };
    let protocol = rest.get(arrow + 2)?;
    let is_protocol = |word: &str| word.starts_with(|c: char| c.is_ascii_uppercase());
    let is_summary = matches!(stamp.len(), 1 | 2)
        && stamp.iter().all(is_stamp)
        && is_protocol(protocol)
        && rest.get(arrow + 3).is_some_and(|len| is_number(len));
    is_summary.then(|| TsharkHeading::Packet(parse_time(stamp)))
}

/// Reads the time of a packet in its field tree.
fn frame_time(line: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(line.get(..MAX_SUMMARY).unwrap_or(line)).ok()?;
    let rest = text.trim_start().strip_prefix("Epoch ")?;
    let rest = rest.strip_prefix("Arrival ").unwrap_or(rest);
    let stamp = rest.strip_prefix("Time: ")?;
    let stamp = stamp.trim_end();
    let stamp = stamp.strip_suffix(" seconds").unwrap_or(stamp);
    if stamp.contains('T') {
        return time::parse(stamp);
    }
    parse_time(&[stamp])
}

/// The heading of indented lines before a packet.
const COMMENTS: &[u8] = b"Packet comments";

/// The output of tshark and Wireshark before the packets.
const NOTES: [&[u8]; 5] = [
    COMMENTS,
    b"Running as user ",
    b"Capturing on ",
    b" ** (",
    b"No.     Time ",
];

pub(in super::super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    let mut packet = Vec::new();
    let has_comments = text.starts_with(COMMENTS);
    let is_comment = |line: &[u8]| has_comments && line.starts_with(b" ");
    for (line, is_whole) in split_lines(text, end) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !is_whole {
            if packet.is_empty() && !may_begin(line) && !is_comment(line) {
                return No;
            }
            break;
        }
        match row(line) {
            Some((offset, bytes)) if offset == packet.len() as u64 => {
                packet.extend(bytes);
                if packet.len() <= ROW && !may_be_packet(&packet) {
                    return No;
                }
                if packet.len() >= HEADERS {
                    return judge(&packet);
                }
            }
            Some(_) => return No,
            None if !packet.is_empty() => return judge(&packet),
            None if line.is_empty() || is_comment(line) => {}
            None if NOTES.iter().any(|note| line.starts_with(note)) => {}
            None => match heading(line) {
                Some(TsharkHeading::Packet(_)) => {
                    return Yes("its first line is a packet of tshark".into());
                }
                Some(TsharkHeading::Rows { .. }) => {}
                None => return No,
            },
        }
    }
    match end {
        InputEnd::More => Open,
        _ if packet.is_empty() => No,
        _ => judge(&packet),
    }
}

/// Returns true if the first row can be that of a packet.
fn may_be_packet(row: &[u8]) -> bool {
    // The version of IP behind a link header of 20 bytes is in the next row.
    link_of(row).is_some() || link_of(&[row, &[0x45; 8]].concat()).is_some()
}

/// Returns true for a packet with an IP header.
fn is_packet(packet: &[u8]) -> bool {
    let starts = [0, 4, 14, 16, 18, 20, 22];
    let has_ip = |at: &usize| match packet.get(*at..) {
        // RFC 791 section 3.1: the length of the header, and of the packet.
        Some([0x45..=0x4f, _, high, low, _, _, flags, ..]) => {
            let len = usize::from(*high) << 8 | usize::from(*low);
            (len == 0 || len >= 20) && flags & 0x80 == 0
        }
        // RFC 8200 section 3: the next header.
        Some([0x60..=0x6f, _, _, _, _, _, next, ..]) => {
            matches!(next, 0 | 6 | 17 | 43 | 44 | 51 | 58 | 60)
        }
        _ => false,
    };
    link_of(packet).is_some() && starts.iter().any(has_ip)
}

fn judge(packet: &[u8]) -> FormVerdict {
    if is_packet(packet) {
        Yes("its first rows are a packet with an IP header".into())
    } else {
        No
    }
}

/// Returns true if a line can become a row, or belongs to the text above the rows.
fn may_begin(line: &[u8]) -> bool {
    let is_note = |note: &&[u8]| note.starts_with(line) || line.starts_with(note);
    let rest = line.trim_ascii_start();
    let (digits, after) = split_digits(rest);
    let is_number = digits.len() <= 8 && after.first().is_none_or(u8::is_ascii_whitespace);
    let is_frame = b"Frame ".starts_with(line) || line.starts_with(b"Frame ");
    NOTES.iter().any(is_note) || line.len() <= MAX_SUMMARY && (is_number || is_frame)
}

impl LineForm for Tshark {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        if let Some((offset, bytes)) = row(line.text) {
            let is_next = offset == 0 || offset == self.packets.len() as u64;
            if !self.is_other && is_next {
                self.packets.row(offset == 0, |out| out.extend(bytes), sink);
            }
            return;
        }
        match heading(line.text) {
            Some(TsharkHeading::Packet(time)) => {
                self.is_other = false;
                self.packets.start(time, sink);
            }
            Some(TsharkHeading::Rows { of_packet }) => self.is_other = !of_packet,
            None => {
                // A packet without other bytes has no heading.
                self.is_other &= !line.text.is_empty();
                if let Some(time) = frame_time(line.text) {
                    self.packets.set_time(time);
                }
                self.ignored += u64::from(!line.text.is_empty());
            }
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        let hint = "tshark -w FILE.pcapng saves them, tshark -x prints them";
        self.packets.finish("tshark", hint, sink);
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}
