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

/// The bytes of Ethernet, IPv4 and TCP without options.
const MIN_PACKET: usize = 54;
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
        Some(bytes) if bytes.len() >= MIN_PACKET => {
            if is_packet(&bytes) {
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

/// Returns true for the head of a packet with TCP.
fn is_packet(bytes: &[u8]) -> bool {
    let Some([version, _, high, low, .., protocol, _, _]) = bytes.get(14..26) else {
        return false;
    };
    let len = 14 + usize::from(u16::from_be_bytes([*high, *low]));
    link_of(bytes) == Some(1) && *version == 0x45 && *protocol == TCP && len >= MIN_PACKET
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
