//! Packet captures: pcap and pcapng, as tcpdump and Wireshark write them.
//!
//! ```text
//!   file -> packets -> link layer -> IP, fragments joined -> TCP segments -> connections -> chunks, events
//! ```
//!
//! Connections are numbered from 0 in the order of their first packet. Packets without TCP are counted.

mod blocks;
mod connections;
mod ip;
mod link;
mod magic;
mod opener;
mod output;
mod stream;
#[cfg(test)]
mod tests;

pub(super) use magic::detect;

use super::chunk::{InputPlace, Item, ItemSink, Problem};
use super::form::FormReader;
use super::recording::Header;
use blocks::{Packet, PacketFile};
use connections::Connections;
use ip::IpReader;
use link::LinkContent;
use std::collections::BTreeMap;
use stream::CapturedAt;

/// The memory of segments that wait for earlier ones, of all connections, in bytes.
const REASSEMBLY_LIMIT: usize = 64 << 20;

/// Options for reading a packet capture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketOptions {
    /// Only connections with one of these ports; all if it is empty.
    pub ports: Vec<u16>,
    /// The maximum memory of segments that wait for earlier ones, in bytes. Beyond it the oldest gaps are given up.
    pub reassembly_limit: usize,
}

impl Default for PacketOptions {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            reassembly_limit: REASSEMBLY_LIMIT,
        }
    }
}

/// Reads a packet capture.
pub(super) struct PcapReader {
    file: PacketFile,
    packets: PacketReader,
}

/// Reads packets.
struct PacketReader {
    ip: IpReader,
    connections: Connections,
    /// Packets that are not TCP, by what they are.
    others: BTreeMap<&'static str, u64>,
    /// Packets of link types that cannot be read.
    unknown_links: BTreeMap<u16, u64>,
    packets: u64,
}

impl PcapReader {
    pub(super) fn new(options: &PacketOptions) -> Self {
        Self {
            file: PacketFile::default(),
            packets: PacketReader {
                ip: IpReader::default(),
                connections: Connections::new(options.ports.clone(), options.reassembly_limit),
                others: BTreeMap::new(),
                unknown_links: BTreeMap::new(),
                packets: 0,
            },
        }
    }
}

impl Default for PcapReader {
    fn default() -> Self {
        Self::new(&PacketOptions::default())
    }
}

impl FormReader for PcapReader {
    fn push(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        let packets = &mut self.packets;
        self.file.push(bytes, &mut |packet| match packet {
            Ok(packet) => packets.packet(packet, sink),
            Err(problem) => problem.report(sink),
        });
    }

    /// Ends the capture: passes on the bytes that waited, and reports those that were left out.
    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        let Self { file, packets } = self;
        packets.connections.finish(sink);
        file.finish(&mut |packet| {
            if let Err(problem) = packet {
                problem.report(sink);
            }
        });
        if file.has_head() {
            packets.report(file.has_secrets, sink);
        }
    }
}

impl PacketReader {
    fn packet(&mut self, packet: Packet<'_>, sink: &mut ItemSink<'_>) {
        if self.packets == 0 {
            let mut header = Header {
                started: packet.time,
                ..Header::new(0)
            };
            header.more.insert(Header::CAPTURED.into(), "pcap".into());
            sink(Item::Header(&header));
        }
        let at = CapturedAt {
            packet: self.packets,
            time: packet.time,
        };
        self.packets += 1;
        let other = match link::content(packet.link, packet.bytes) {
            LinkContent::Ip(ip) => match self.ip.segment(ip) {
                Ok(Some(segment)) => return self.connections.segment(&segment, at, sink),
                Ok(None) => return,
                Err(other) => other,
            },
            LinkContent::Other(other) => other,
            LinkContent::UnknownLink => {
                *self.unknown_links.entry(packet.link).or_default() += 1;
                return;
            }
        };
        *self.others.entry(other).or_default() += 1;
    }

    /// Reports what was left out, and why.
    fn report(&self, has_secrets: bool, sink: &mut ItemSink<'_>) {
        let connections = &self.connections;
        let is_nothing = connections.count == 0;
        let mut report = |text: String, is_all: bool| {
            sink(Item::Problem(if is_all {
                Problem::unreadable(InputPlace::Whole, text)
            } else {
                Problem::note(InputPlace::Whole, text)
            }));
        };
        if self.packets == 0 {
            report("the capture is empty: it has no packets".into(), false);
        }
        if !connections.has_chosen && !connections.other_ports.is_empty() {
            let list = |ports: &mut dyn Iterator<Item = &u16>| {
                let ports: Vec<String> = ports.map(u16::to_string).collect();
                ports.join(", ")
            };
            let text = format!(
                "no connection uses port {}; ports are {}",
                list(&mut connections.ports.iter()),
                list(&mut connections.other_ports.iter())
            );
            report(text, false);
        }
        for (link, count) in &self.unknown_links {
            let packets = match count {
                1 => "1 packet has".to_owned(),
                n => format!("{n} packets have"),
            };
            let text = format!(
                "{packets} link type {link}, which wiretool does not read: capture Ethernet or loopback, for example with tcpdump -i lo -w FILE.pcap"
            );
            report(text, is_nothing);
        }
        if !self.others.is_empty() {
            let total: u64 = self.others.values().sum();
            let kinds: Vec<String> = self
                .others
                .iter()
                .map(|(name, count)| format!("{count} {name}"))
                .collect();
            let quic = if self.others.contains_key("QUIC") {
                "; QUIC is encrypted: wiretool proxy --listen quic://… records its plaintext"
            } else {
                ""
            };
            let packets = match total {
                1 => "1 packet is".to_owned(),
                n => format!("{n} packets are"),
            };
            let text = format!("{packets} not TCP: {}{quic}", kinds.join(", "));
            report(text, is_nothing);
        }
        if let Some(first) = connections.first_tls {
            let keys = if has_secrets {
                ""
            } else {
                "-o tls.keylog_file:KEYS "
            };
            let how = if has_secrets {
                "the file has its keys"
            } else {
                "a key log (SSLKEYLOGFILE=KEYS of the program) decrypts it"
            };
            let text = format!(
                "{}, first c{first}: {how}: tshark -r FILE {keys}-q -z follow,tls,raw,{first} prints the plaintext, which wiretool decode reads",
                counted(connections.tls.into(), "TLS connection"),
            );
            report(text, connections.plain == 0);
        }
        if connections.given_up > 0 {
            let text = format!(
                "{} were given up early, because more bytes waited for them than the limit of reassembly",
                counted(connections.given_up, "gap"),
            );
            report(text, false);
        }
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
