//! Whole packets that a tool printed as hex. They are read as those of a pcapng file are.

use super::super::chunk::{InputPlace, ItemSink, Problem};
use super::super::form::FormReader as _;
use super::super::pcap::PcapReader;
use super::super::time::Time;

/// The maximum number of bytes of a packet: IP allows no more, and link headers are short.
const MAX_PACKET: usize = (64 << 10) + 256;

/// Link types of pcapng.
const BSD_LOOPBACK: u16 = 0;
const ETHERNET: u16 = 1;
const RAW_IP: u16 = 101;
const LINUX_SLL: u16 = 113;
const LINUX_SLL2: u16 = 276;

/// The packets of a text.
#[derive(Default)]
pub(in super::super) struct TextPackets {
    packets: PcapReader,
    /// The link types of the packets so far; each is an interface of the file.
    links: Vec<u16>,
    time: Option<Time>,
    bytes: Vec<u8>,
    /// The number of packets of which only a summary was printed.
    summaries: u64,
    has_heading: bool,
    block: Vec<u8>,
}

/// Returns the link type of a packet that starts at its link header, or at its IP header; `None` if it is not IP.
pub(in super::super) fn link_of(packet: &[u8]) -> Option<u16> {
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
    // Address families in the byte order of the system.
    let is_loopback = || match packet.first_chunk() {
        Some([family, 0, 0, 0] | [0, 0, 0, family]) => matches!(family, 2 | 10 | 24 | 28 | 30),
        _ => false,
    };
    if has_type(12) && (!version(0) || version(14)) {
        Some(ETHERNET)
    } else if has_type(14) && version(16) {
        Some(LINUX_SLL)
    } else if has_type(0) && version(20) {
        Some(LINUX_SLL2)
    } else if version(0) {
        Some(RAW_IP)
    } else if version(4) && is_loopback() {
        Some(BSD_LOOPBACK)
    } else {
        None
    }
}

impl TextPackets {
    /// Starts a packet, for which the text has a heading.
    pub(super) fn start(&mut self, time: Option<Time>, sink: &mut ItemSink<'_>) {
        self.packet(sink);
        self.has_heading = true;
        self.time = time;
    }

    /// Sets the time of the current packet.
    pub(super) fn set_time(&mut self, time: Time) {
        self.time = Some(time);
    }

    /// Adds a row of the current packet; the first row of a packet ends the packet before.
    pub(in super::super) fn row(
        &mut self,
        is_first: bool,
        read: impl FnOnce(&mut Vec<u8>),
        sink: &mut ItemSink<'_>,
    ) {
        if is_first && !self.bytes.is_empty() {
            self.packet(sink);
            self.time = None;
        }
        read(&mut self.bytes);
        self.bytes.truncate(MAX_PACKET);
    }

    /// Returns the number of bytes of the current packet.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Passes the current packet on.
    fn packet(&mut self, sink: &mut ItemSink<'_>) {
        if self.bytes.is_empty() {
            self.summaries += u64::from(std::mem::take(&mut self.has_heading));
            return;
        }
        self.has_heading = false;
        let interface = self.interface(sink);
        let len = (self.bytes.len() as u32).to_le_bytes();
        let time = self.time.and_then(|time| u64::try_from(time).ok());
        let bytes = std::mem::take(&mut self.bytes);
        if time.is_none() && interface == 0 {
            // A simple packet has no time, and is of the first interface.
            self.block(3, &[&len, &bytes], sink);
        } else {
            let time = time.unwrap_or_default();
            let [high, low] = [(time >> 32) as u32, time as u32].map(u32::to_le_bytes);
            let interface = interface.to_le_bytes();
            let parts: [&[u8]; 6] = [&interface, &high, &low, &len, &len, &bytes];
            self.block(6, &parts, sink);
        }
        self.bytes = bytes;
        self.bytes.clear();
    }

    /// Returns the interface of the current packet. The first starts the file; times are in nanoseconds.
    fn interface(&mut self, sink: &mut ItemSink<'_>) -> u32 {
        let link = link_of(&self.bytes);
        let link = link.or(self.links.first().copied()).unwrap_or(ETHERNET);
        if self.links.is_empty() {
            let magic = 0x1a2b_3c4d_u32.to_le_bytes();
            let unknown = (-1i64).to_le_bytes();
            self.block(0x0a0d_0d0a, &[&magic, &[1, 0, 0, 0], &unknown], sink);
        }
        let known = self.links.iter().position(|l| *l == link);
        let number = known.unwrap_or(self.links.len());
        if known.is_none() {
            self.links.push(link);
            let resolution = [9, 0, 1, 0, 9, 0, 0, 0];
            let link = link.to_le_bytes();
            self.block(1, &[&link, &[0; 2], &[0; 4], &resolution, &[0; 4]], sink);
        }
        number as u32
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

    /// Ends the text of a tool; `hint` says how to get bytes if some were not printed.
    pub(in super::super) fn finish(
        &mut self,
        tool: &str,
        hint: &'static str,
        sink: &mut ItemSink<'_>,
    ) {
        self.packet(sink);
        let has_bytes = !self.links.is_empty();
        if has_bytes {
            self.packets.finish(sink);
        }
        if self.summaries > 0 {
            let packets = match self.summaries {
                1 => "1 packet without its bytes".to_owned(),
                n => format!("{n} packets without their bytes"),
            };
            let text = format!("{tool} printed {packets}");
            let problem = if has_bytes {
                Problem::note(InputPlace::Whole, text)
            } else {
                Problem::unreadable(InputPlace::Whole, text)
            };
            problem.hint(hint).report(sink);
        }
    }
}
