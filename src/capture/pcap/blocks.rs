//! The packets of a pcap or pcapng file, as it arrives.
//!
//! ```text
//!   pcap     magic version(4) zero(8) snaplen network | sec frac caplen origlen bytes | ...
//!   pcapng   type length body length | ...     section, interface, packet, others
//! ```
//!
//! Lengths in the file are checked before use: no allocation depends on a number in the file alone.

use super::super::chunk::{InputPlace, Problem};
use super::super::time::Time;
use pcap_parser::{Block, OptionCode, PcapNGOption, parse_block_be, parse_block_le};

/// The maximum length of a packet, as in libpcap.
const MAX_PACKET: usize = 256 << 10;
/// The maximum length of a block that is read as a whole: a packet with its options.
const MAX_BLOCK: usize = MAX_PACKET + (256 << 10);
/// The maximum number of interfaces of a section.
const MAX_INTERFACES: usize = 1 << 16;
const NANOS: i128 = 1_000_000_000;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const SECRETS: u32 = 10;
/// The magic number of a section in its own byte order.
pub(super) const SECTION_MAGIC: u32 = 0x1a2b_3c4d;

/// A packet as it was captured.
#[derive(Clone, Copy)]
pub(super) struct Packet<'a> {
    /// The link type of its interface.
    pub link: u16,
    pub time: Option<Time>,
    pub bytes: &'a [u8],
}

/// Receives packets, and the problem that ends the file.
pub(super) type PacketSink<'s> = dyn FnMut(Result<Packet<'_>, Problem>) + 's;

/// The file, from which packets are taken.
#[derive(Default)]
pub(super) struct PacketFile {
    /// Bytes that are not a whole record yet.
    buffer: Vec<u8>,
    /// The position of the buffer in the file.
    at: u64,
    /// Bytes of a block that are passed over.
    skip: u64,
    layout: FileLayout,
    is_ended: bool,
    /// The number of packets so far.
    pub packets: u64,
    /// The file contains the keys of TLS connections.
    pub has_secrets: bool,
}

#[derive(Default)]
enum FileLayout {
    #[default]
    Unknown,
    Pcap(PcapLayout),
    Pcapng {
        is_big: bool,
        interfaces: Vec<Interface>,
    },
}

#[derive(Clone, Copy)]
struct PcapLayout {
    is_big: bool,
    /// Nanoseconds of a unit of the fraction.
    unit: i128,
    /// The length of a record's head.
    head: usize,
    snaplen: u32,
    link: u16,
}

struct Interface {
    link: u16,
    snaplen: u32,
    /// Units in a second.
    units: i128,
    /// Seconds.
    offset: i64,
}

/// The outcome of reading a record.
enum RecordStep {
    /// So many bytes are done.
    Took(usize),
    /// The rest of a record is missing.
    Incomplete,
    /// Reading cannot continue.
    Bad(String),
}

pub(super) fn u32_at(bytes: &[u8], at: usize, is_big: bool) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk()?;
    Some(if is_big {
        u32::from_be_bytes(*four)
    } else {
        u32::from_le_bytes(*four)
    })
}

impl PacketFile {
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut PacketSink<'_>) {
        if self.is_ended {
            return;
        }
        // Between records nothing is copied.
        if self.buffer.is_empty() {
            let used = self.read(bytes, sink);
            self.buffer
                .extend_from_slice(bytes.get(used..).unwrap_or_default());
        } else {
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.extend_from_slice(bytes);
            let used = self.read(&buffer, sink);
            buffer.drain(..used);
            self.buffer = buffer;
        }
        if self.is_ended {
            self.buffer = Vec::new();
        }
    }

    /// Returns true if the head of the file was read.
    pub(super) fn has_head(&self) -> bool {
        !matches!(self.layout, FileLayout::Unknown)
    }

    /// Ends the file.
    pub(super) fn finish(&mut self, sink: &mut PacketSink<'_>) {
        if self.is_ended || (self.buffer.is_empty() && self.skip == 0) {
            return;
        }
        let place = InputPlace::Byte(self.at);
        let len = self.buffer.len();
        sink(Err(if self.has_head() {
            let text = format!(
                "the capture file is cut short in a packet, {len} bytes after its start; the packets before are decoded"
            );
            Problem::note(place, text)
        } else {
            let text = format!(
                "the pcap file is cut short in its header, after {len} bytes: copy the whole file, or capture again with tcpdump -w FILE.pcap"
            );
            Problem::unreadable(InputPlace::Whole, text)
        }));
    }

    /// Reads all whole records; returns the number of bytes that are done.
    fn read(&mut self, bytes: &[u8], sink: &mut PacketSink<'_>) -> usize {
        let mut used = 0;
        while !self.is_ended {
            let rest = bytes.get(used..).unwrap_or_default();
            let step = if self.skip > 0 {
                let n = self.skip.min(rest.len() as u64);
                self.skip -= n;
                match n {
                    0 => RecordStep::Incomplete,
                    n => RecordStep::Took(n as usize),
                }
            } else {
                self.record(rest, sink)
            };
            match step {
                RecordStep::Took(n) => {
                    used += n;
                    self.at += n as u64;
                }
                RecordStep::Incomplete => break,
                RecordStep::Bad(text) => {
                    self.is_ended = true;
                    sink(Err(if self.has_head() {
                        let text = match self.at {
                            0 => text,
                            _ => format!("{text}; the bytes before are decoded"),
                        };
                        Problem::error(InputPlace::Byte(self.at), text)
                    } else {
                        Problem::unreadable(InputPlace::Whole, text)
                    }));
                }
            }
        }
        used
    }

    fn record(&mut self, bytes: &[u8], sink: &mut PacketSink<'_>) -> RecordStep {
        match self.layout {
            FileLayout::Unknown => self.file_header(bytes),
            FileLayout::Pcap(layout) => self.pcap_record(layout, bytes, sink),
            FileLayout::Pcapng { is_big, .. } => self.block(is_big, bytes, sink),
        }
    }

    fn file_header(&mut self, bytes: &[u8]) -> RecordStep {
        let Some(magic) = u32_at(bytes, 0, true) else {
            return RecordStep::Incomplete;
        };
        if magic == SECTION {
            self.layout = FileLayout::Pcapng {
                is_big: false,
                interfaces: Vec::new(),
            };
            return RecordStep::Took(0);
        }
        let is_big = magic >> 16 == 0xa1b2;
        let (unit, head) = match if is_big { magic } else { magic.swap_bytes() } {
            0xa1b2_c3d4 => (1000, 16),
            0xa1b2_3c4d => (1, 16),
            0xa1b2_cd34 => (1000, 24),
            _ => {
                let text = format!(
                    "not a pcap or pcapng file: it begins with {magic:08x}; detection finds the form"
                );
                return RecordStep::Bad(text);
            }
        };
        let (Some(snaplen), Some(network)) = (u32_at(bytes, 16, is_big), u32_at(bytes, 20, is_big))
        else {
            return RecordStep::Incomplete;
        };
        // The upper half says if packets end with a checksum.
        let link = (network & 0xffff) as u16;
        self.layout = FileLayout::Pcap(PcapLayout {
            is_big,
            unit,
            head,
            snaplen,
            link,
        });
        RecordStep::Took(24)
    }

    fn pcap_record(
        &mut self,
        layout: PcapLayout,
        bytes: &[u8],
        sink: &mut PacketSink<'_>,
    ) -> RecordStep {
        let number = |at| u32_at(bytes, at, layout.is_big);
        let (Some(seconds), Some(fraction), Some(len)) = (number(0), number(4), number(8)) else {
            return RecordStep::Incomplete;
        };
        if len as usize > MAX_PACKET && len > layout.snaplen || len as usize > MAX_BLOCK {
            return RecordStep::Bad(format!(
                "a packet claims {len} bytes, more than the maximum of {MAX_PACKET}"
            ));
        }
        let end = layout.head + len as usize;
        let Some(data) = bytes.get(layout.head..end) else {
            return RecordStep::Incomplete;
        };
        self.packets += 1;
        sink(Ok(Packet {
            link: layout.link,
            time: Some(i128::from(seconds) * NANOS + i128::from(fraction) * layout.unit),
            bytes: data,
        }));
        RecordStep::Took(end)
    }

    fn block(&mut self, is_big: bool, bytes: &[u8], sink: &mut PacketSink<'_>) -> RecordStep {
        let Some(kind) = u32_at(bytes, 0, is_big) else {
            return RecordStep::Incomplete;
        };
        // Each section has its own byte order.
        let is_big = if kind == SECTION {
            match u32_at(bytes, 8, true) {
                Some(SECTION_MAGIC) => true,
                Some(magic) if magic.swap_bytes() == SECTION_MAGIC => false,
                Some(magic) => {
                    return RecordStep::Bad(format!(
                        "the magic number of a pcapng section is {magic:08x}, wanted 1a2b3c4d"
                    ));
                }
                None => return RecordStep::Incomplete,
            }
        } else {
            is_big
        };
        let Some(len) = u32_at(bytes, 4, is_big) else {
            return RecordStep::Incomplete;
        };
        if len < 12 || len % 4 != 0 {
            return RecordStep::Bad(format!(
                "a pcapng block of type {kind} claims a length of {len} bytes"
            ));
        }
        let is_read = [
            SECTION,
            INTERFACE,
            OBSOLETE_PACKET,
            SIMPLE_PACKET,
            ENHANCED_PACKET,
        ];
        if !is_read.contains(&kind) {
            self.has_secrets |= kind == SECRETS;
            self.skip = u64::from(len);
            return RecordStep::Took(0);
        }
        let len = len as usize;
        if len > MAX_BLOCK {
            return RecordStep::Bad(format!(
                "a pcapng block of type {kind} claims {len} bytes, more than the maximum of {MAX_BLOCK}"
            ));
        }
        let Some(whole) = bytes.get(..len) else {
            return RecordStep::Incomplete;
        };
        match self.read_block(kind, is_big, whole, sink) {
            Ok(()) => RecordStep::Took(len),
            Err(text) => RecordStep::Bad(text),
        }
    }

    fn read_block(
        &mut self,
        kind: u32,
        is_big: bool,
        whole: &[u8],
        sink: &mut PacketSink<'_>,
    ) -> Result<(), String> {
        let malformed = || format!("a pcapng block of type {kind} is malformed");
        if kind == OBSOLETE_PACKET {
            let number = |at| u32_at(whole, at, is_big).ok_or_else(malformed);
            let first = number(8)?;
            let interface = if is_big { first >> 16 } else { first & 0xffff };
            let len = number(20)? as usize;
            let data = whole.get(28..).and_then(|data| data.get(..len));
            let ticks = u64::from(number(12)?) << 32 | u64::from(number(16)?);
            return self.packet(interface, Some(ticks), data.ok_or_else(malformed)?, sink);
        }
        let parsed = if is_big {
            parse_block_be(whole)
        } else {
            parse_block_le(whole)
        };
        match parsed.map_err(|_| malformed())?.1 {
            Block::SectionHeader(_) => {
                self.layout = FileLayout::Pcapng {
                    is_big,
                    interfaces: Vec::new(),
                };
                Ok(())
            }
            Block::InterfaceDescription(block) => {
                let FileLayout::Pcapng { interfaces, .. } = &mut self.layout else {
                    return Ok(());
                };
                if interfaces.len() >= MAX_INTERFACES {
                    return Err(format!("more than {MAX_INTERFACES} interfaces"));
                }
                let (units, offset) = time_options(&block.options, is_big);
                interfaces.push(Interface {
                    link: block.linktype.0.cast_unsigned() as u16,
                    snaplen: block.snaplen,
                    units,
                    offset,
                });
                Ok(())
            }
            Block::EnhancedPacket(block) => {
                let data = block.data.get(..block.caplen as usize);
                let ticks = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
                self.packet(block.if_id, Some(ticks), data.ok_or_else(malformed)?, sink)
            }
            Block::SimplePacket(block) => {
                let snaplen = match &self.layout {
                    FileLayout::Pcapng { interfaces, .. } => interfaces.first(),
                    _ => None,
                };
                let snaplen = snaplen.map(|i| i.snaplen).filter(|&len| len > 0);
                let len = block.origlen.min(snaplen.unwrap_or(u32::MAX)) as usize;
                let data = block.data.get(..len).unwrap_or(block.data);
                self.packet(0, None, data, sink)
            }
            _ => Ok(()),
        }
    }

    fn packet(
        &mut self,
        interface: u32,
        ticks: Option<u64>,
        bytes: &[u8],
        sink: &mut PacketSink<'_>,
    ) -> Result<(), String> {
        let interfaces = match &self.layout {
            FileLayout::Pcapng { interfaces, .. } => interfaces.as_slice(),
            _ => &[],
        };
        let Some(from) = interfaces.get(interface as usize) else {
            return Err(format!(
                "a packet is of interface {interface}, the file describes {}",
                interfaces.len()
            ));
        };
        let time = ticks.map(|ticks| {
            let ticks = i128::from(ticks);
            let (seconds, rest) = (ticks / from.units, ticks % from.units);
            (seconds + i128::from(from.offset)) * NANOS + rest * NANOS / from.units
        });
        self.packets += 1;
        sink(Ok(Packet {
            link: from.link,
            time,
            bytes,
        }));
        Ok(())
    }
}

/// Returns the units in a second and the offset in seconds of an interface's times.
fn time_options(options: &[PcapNGOption<'_>], is_big: bool) -> (i128, i64) {
    let (mut units, mut offset) = (1_000_000, 0);
    for option in options {
        match (option.code, &*option.value) {
            (OptionCode::IfTsresol, &[resolution, ..]) => {
                let exponent = u32::from(resolution & 0x7f);
                units = if resolution & 0x80 != 0 {
                    1 << exponent.min(64)
                } else {
                    10_i128.pow(exponent.min(19))
                };
            }
            (OptionCode::IfTsoffset, value) => {
                if let Some(eight) = value.first_chunk() {
                    offset = if is_big {
                        i64::from_be_bytes(*eight)
                    } else {
                        i64::from_le_bytes(*eight)
                    };
                }
            }
            _ => {}
        }
    }
    (units, offset)
}
