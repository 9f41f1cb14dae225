//! Whole packets that were copied, one in each line: `Copy > as Hex Stream` and `as Base64` of Wireshark.
//!
//! ```text
//!   0242ac1100020242ac11000308004500006d0001...      Ethernet, IP, TCP
//!   AkKsEQACAkKsEQADCABFAABtAAE...
//! ```

use super::super::base64_text::{self, Bits};
use super::super::chunk::ItemSink;
use super::super::form::FormVerdict::{self, No, Open, Yes};
use super::super::form::InputEnd;
use super::super::hex::nibble;
use super::super::lines::{Line, LineForm, split_lines};
use super::packets::{TextPackets, link_of};

/// The number of pcap for the link type Ethernet.
const ETHERNET: u16 = 1;
/// The bytes of the heads of Ethernet, IPv4 and TCP, without options.
const ETHERNET_HEAD: usize = 14;
const IPV4_HEAD: usize = 20;
const TCP_HEAD: usize = 20;
/// The first byte of such a head of IPv4: the version, and the length in units of 4 bytes.
const IPV4: u8 = 0x45;
const TCP: u8 = 6;

#[derive(Default)]
pub(in super::super) struct PacketLines {
    packets: TextPackets,
    ignored: u64,
}

pub(in super::super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    let Some((line, is_whole)) = split_lines(text, end).find(|(line, _)| !line.is_empty()) else {
        return if end == InputEnd::More { Open } else { No };
    };
    let line = line.trim_ascii();
    match packet(line) {
        // The head is enough: the rest of a long line is not there yet.
        Some(bytes) if bytes.len() >= ETHERNET_HEAD + IPV4_HEAD + TCP_HEAD => {
            if begins_with_tcp(&bytes) {
                Yes("its first line is a packet of Ethernet and IP".into())
            } else {
                No
            }
        }
        Some(_) if !is_whole && end == InputEnd::More => Open,
        _ => No,
    }
}

/// Returns the bytes of a line that is one token of hex or Base64.
fn packet(line: &[u8]) -> Option<Vec<u8>> {
    if line.iter().all(u8::is_ascii_hexdigit) {
        let pairs = line.chunks_exact(2);
        return Some(
            pairs
                .map(|pair| {
                    pair.iter()
                        .fold(0, |byte, digit| byte << 4 | nibble(*digit))
                })
                .collect(),
        );
    }
    let mut bits = Bits::default();
    let mut bytes = Vec::new();
    for c in line
        .strip_suffix(b"==")
        .or(line.strip_suffix(b"="))
        .unwrap_or(line)
    {
        bytes.extend(bits.add(base64_text::value(*c)?));
    }
    Some(bytes)
}

/// Returns true for the heads of a packet with Ethernet, IPv4 without options, and TCP.
fn begins_with_tcp(bytes: &[u8]) -> bool {
    let ip = bytes.get(ETHERNET_HEAD..).unwrap_or_default();
    let Some([version, _, high, low, _, _, _, _, _, protocol, _, _]) = ip.first_chunk() else {
        return false;
    };
    let ip_len = usize::from(u16::from_be_bytes([*high, *low]));
    let is_complete = ip_len >= IPV4_HEAD + TCP_HEAD;
    link_of(bytes) == Some(ETHERNET) && *version == IPV4 && *protocol == TCP && is_complete
}

impl LineForm for PacketLines {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = line.text.trim_ascii();
        match packet(text).filter(|bytes| link_of(bytes).is_some()) {
            Some(bytes) => self
                .packets
                .row(true, |all| all.extend_from_slice(&bytes), sink),
            None => self.ignored += u64::from(!text.is_empty()),
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.packets
            .finish("Wireshark", "copy the bytes of the packets", sink);
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}
