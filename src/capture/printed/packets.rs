//! Output of `tcpdump -X`, `-XX` and `-x`: whole packets, which are read like those of a pcap file.
//!
//! ```text
//!   09:52:21.832730 IP 127.0.0.1.56366 > 127.0.0.1.38663: Flags [P.], seq 1:90, .. length 89
//!      0x0000:  4500 008d 7a11 4000 4006 c257 7f00 0001  E...z.@.@..W....    from the IP header
//!      0x0000:  0000 0000 0000 0000 0000 0000 0800 4500  ..............E.    -XX: from the link header
//! ```
//!
//! tcpdump(1), version 4. Only `-tt` and `-tttt` print times with a date.

use super::super::chunk::{InputPlace, Item, ItemSink, Problem};
use super::super::form::{FormReader as _, FormVerdict, InputEnd};
use super::super::hex::split_digits;
use super::super::lines::{Line, LineForm};
use super::super::pcap::PcapReader;
use super::super::time::{self, Time};
use super::{detect_by_heading, hex_groups};

/// The maximum number of bytes of a packet: IP allows no more, and link headers are short.
const MAX_PACKET: usize = (64 << 10) + 256;

/// Link types of pcapng.
const ETHERNET: u16 = 1;
const RAW_IP: u16 = 101;
const LINUX_SLL: u16 = 113;
const LINUX_SLL2: u16 = 276;

#[derive(Default)]
pub(in super::super) struct Tcpdump {
    packets: PcapReader,
    /// The link type, once a packet has shown it.
    link: Option<u16>,
    time: Option<Time>,
    bytes: Vec<u8>,
    /// The number of packets of which only a summary was printed.
    summaries: u64,
    has_heading: bool,
    ignored: u64,
    block: Vec<u8>,
}

/// The heading of a packet: its time, if it has a date.
struct PacketHeading {
    time: Option<Time>,
}

fn heading(line: &[u8]) -> Option<PacketHeading> {
    let text = std::str::from_utf8(line).ok()?;
    let is_stamp = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word
                .bytes()
                .all(|b| b.is_ascii_digit() || b":.-".contains(&b))
    };
    let mut words = text.split(' ');
    let stamp: Vec<&str> = words
        .clone()
        .take(2)
        .take_while(|word| is_stamp(word))
        .collect();
    let rest: Vec<&str> = words.by_ref().skip(stamp.len()).take(8).collect();
    let is_ip = |word: &&str| matches!(*word, "IP" | "IP6");
    let has_link = text.contains(", ethertype ");
    // On `any`, the interface and the direction of the packet come first.
    let before = rest.iter().position(is_ip);
    let has_addresses = |at: usize| match rest.get(at + 1..) {
        Some([_, ">", to, ..]) => to.ends_with(':'),
        // -v prints the addresses on the next line.
        Some([first, ..]) => matches!(*first, "(tos" | "(flowlabel" | "(class" | "(hlim"),
        _ => false,
    };
    let is_heading = before
        .is_some_and(|at| has_addresses(at) && (at == 0 || at <= 4 && !stamp.is_empty()))
        || has_link && text.contains(" > ") && !stamp.is_empty();
    is_heading.then(|| PacketHeading {
        time: parse_time(&stamp),
    })
}

/// Reads `2026-11-22 09:52:21.830471` and seconds since 1970.
fn parse_time(stamp: &[&str]) -> Option<Time> {
    match stamp {
        [date, clock] => time::parse(&format!("{date}T{clock}Z")),
        [seconds] => {
            let (seconds, fraction) = seconds.split_once('.')?;
            let whole: u64 = seconds.parse().ok().filter(|_| seconds.len() >= 9)?;
            let scale = 10u64.checked_pow(9u32.checked_sub(fraction.len() as u32)?)?;
            let fraction: u64 = fraction.parse().ok()?;
            Some(Time::from(whole) * 1_000_000_000 + Time::from(fraction * scale))
        }
        _ => None,
    }
}

/// The lines that tcpdump prints before the packets.
const NOTES: [&[u8]; 5] = [
    b"tcpdump: ",
    b"listening on ",
    b"reading from ",
    b"dropped privs",
    b"Warning: ",
];

pub(in super::super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    let is_heading = |line: &[u8]| {
        if heading(line).is_some() {
            Some(true)
        } else {
            NOTES
                .iter()
                .any(|note| line.starts_with(note))
                .then_some(false)
        }
    };
    let may_begin = |line: &[u8]| {
        let is_note = |note: &&[u8]| note.starts_with(line) || line.starts_with(note);
        let is_stamp = |b: &u8| b.is_ascii_digit() || b":.- ".contains(b);
        let at = line.iter().position(|b| !is_stamp(b));
        let rest = line.get(at.unwrap_or(line.len())..).unwrap_or_default();
        let is_stamped = at.is_none_or(|at| at >= 8) && line.first().is_none_or(u8::is_ascii_digit);
        let is_ip = |mark: &&[u8]| mark.starts_with(rest) || rest.starts_with(mark);
        let is_ip = [&b"IP "[..], b"IP6 "].iter().any(is_ip);
        NOTES.iter().any(is_note) || (is_stamped && line.len() <= 1024) || (at == Some(0) && is_ip)
    };
    detect_by_heading(
        text,
        end,
        "its first packet is one of tcpdump",
        is_heading,
        may_begin,
    )
}

/// Returns the link type of a packet that starts at its link header, or at its IP header.
fn link_of(packet: &[u8]) -> u16 {
    let version = |at: usize| {
        packet
            .get(at)
            .is_some_and(|byte| matches!(byte, 0x45..=0x4f | 0x60..=0x6f))
    };
    let has_type = |at: usize| {
        matches!(
            packet.get(at..at + 2),
            Some([0x08 | 0x81, 0] | [0x86, 0xdd] | [0x88, 0xa8])
        )
    };
    if has_type(12) && !version(0) || has_type(12) && version(14) {
        ETHERNET
    } else if has_type(14) && version(16) {
        LINUX_SLL
    } else if has_type(0) && version(20) {
        LINUX_SLL2
    } else if version(0) {
        RAW_IP
    } else {
        ETHERNET
    }
}

impl Tcpdump {
    /// Passes the current packet on.
    fn packet(&mut self, sink: &mut ItemSink<'_>) {
        if self.bytes.is_empty() {
            self.summaries += u64::from(std::mem::take(&mut self.has_heading));
            return;
        }
        self.has_heading = false;
        if self.link.is_none() {
            let link = link_of(&self.bytes);
            self.link = Some(link);
            self.section(link, sink);
        }
        let len = (self.bytes.len() as u32).to_le_bytes();
        let (kind, start) = match self.time.and_then(|time| u64::try_from(time).ok()) {
            // An enhanced packet.
            Some(time) => {
                let [high, low] = [(time >> 32) as u32, time as u32].map(u32::to_le_bytes);
                (6u32, [&[0; 4][..], &high, &low, &len, &len].concat())
            }
            // A simple packet, which has no time.
            None => (3u32, len.to_vec()),
        };
        let bytes = std::mem::take(&mut self.bytes);
        self.block(kind, &[&start, &bytes], sink);
        self.bytes = bytes;
        self.bytes.clear();
    }

    /// Starts the file: its section, and an interface with this link type and times in nanoseconds.
    fn section(&mut self, link: u16, sink: &mut ItemSink<'_>) {
        let magic = 0x1a2b_3c4d_u32.to_le_bytes();
        let unknown = (-1i64).to_le_bytes();
        self.block(0x0a0d_0d0a, &[&magic, &[1, 0, 0, 0], &unknown], sink);
        let link = link.to_le_bytes();
        let resolution = [9, 0, 1, 0, 9, 0, 0, 0];
        self.block(1, &[&link, &[0; 2], &[0; 4], &resolution, &[0; 4]], sink);
    }

    /// Writes a block of pcapng.
    fn block(&mut self, kind: u32, body: &[&[u8]], sink: &mut ItemSink<'_>) {
        let len: usize = body.iter().map(|part| part.len()).sum();
        let padding = len.next_multiple_of(4) - len;
        let total = (len + padding + 12) as u32;
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend(total.to_le_bytes());
        for part in body {
            self.block.extend_from_slice(part);
        }
        self.block.resize(self.block.len() + padding, 0);
        self.block.extend(total.to_le_bytes());
        self.packets.push(&self.block, sink);
    }
}

impl LineForm for Tcpdump {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        if let Some(row) = line.text.trim_ascii_start().strip_prefix(b"0x") {
            let (digits, rest) = split_digits(row);
            if let Some(row) = rest.strip_prefix(b": ") {
                if digits.iter().all(|b| *b == b'0') && !self.bytes.is_empty() {
                    self.packet(sink);
                }
                hex_groups(row, &mut self.bytes);
                self.bytes.truncate(MAX_PACKET);
                return;
            }
        }
        if let Some(heading) = heading(line.text) {
            self.packet(sink);
            self.has_heading = true;
            self.time = heading.time;
        } else {
            self.ignored += u64::from(!line.text.is_empty());
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.packet(sink);
        if self.link.is_some() {
            self.packets.finish(sink);
        }
        if self.summaries > 0 {
            let text = format!(
                "tcpdump printed {} packets without their bytes",
                self.summaries
            );
            let problem = if self.link.is_some() {
                Problem::note(InputPlace::Whole, text)
            } else {
                Problem::unreadable(InputPlace::Whole, text)
            };
            sink(Item::Problem(problem.hint(
                "tcpdump -w FILE.pcap saves them, tcpdump -X prints them",
            )));
        }
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}
