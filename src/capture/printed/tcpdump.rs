//! Output of `tcpdump -X`, `-XX` and `-x`: whole packets, which are read like those of a pcap file.
//!
//! ```text
//!   09:52:21.832730 IP 127.0.0.1.56366 > 127.0.0.1.38663: Flags [P.], seq 1:90, .. length 89
//!      0x0000:  4500 008d 7a11 4000 4006 c257 7f00 0001  E...z.@.@..W....    from the IP header
//!      0x0000:  0000 0000 0000 0000 0000 0000 0800 4500  ..............E.    -XX: from the link header
//! ```
//!
//! tcpdump(1), version 4. Only `-tt` and `-tttt` print times with a date.

use super::super::chunk::ItemSink;
use super::super::form::{FormVerdict, InputEnd};
use super::super::hex::split_digits;
use super::super::lines::{Line, LineForm};
use super::super::time::{self, Time};
use super::packets::TextPackets;
use super::{detect_by_heading, hex_groups};

#[derive(Default)]
pub(in super::super) struct Tcpdump {
    packets: TextPackets,
    ignored: u64,
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
pub(super) fn parse_time(stamp: &[&str]) -> Option<Time> {
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

impl LineForm for Tcpdump {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        if let Some(row) = line.text.trim_ascii_start().strip_prefix(b"0x") {
            let (digits, rest) = split_digits(row);
            if let Some(row) = rest.strip_prefix(b": ") {
                let is_first = digits.iter().all(|b| *b == b'0');
                self.packets
                    .row(is_first, |bytes| hex_groups(row, bytes), sink);
                return;
            }
        }
        if let Some(heading) = heading(line.text) {
            self.packets.start(heading.time, sink);
        } else {
            self.ignored += u64::from(!line.text.is_empty());
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        let hint = "tcpdump -w FILE.pcap saves them, tcpdump -X prints them";
        self.packets.finish("tcpdump", hint, sink);
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}
