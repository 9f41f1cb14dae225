//! Whole packets in what another reading gives: arrays and strings of source code, as Wireshark and Scapy copy them.
//!
//! ```text
//!   var pkts = [][]byte{{0x00, 0x00, ...}, {...}}
//!   b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x08\x00E\x00...'
//!   bytes.fromhex("000000000000000000000000080045...")
//! ```

use crate::capture::chunk::{Item, ItemSink};
use crate::capture::lines::{Line, LineForm};
use crate::capture::printed::packets::{TextPackets, link_of};

pub(super) struct PacketsInside {
    reading: Box<dyn LineForm>,
    packets: TextPackets,
}

impl PacketsInside {
    pub(super) fn new(reading: Box<dyn LineForm>) -> Self {
        Self {
            reading,
            packets: TextPackets::default(),
        }
    }
}

/// Takes the packets of a reading; everything else of it is no packet.
fn take(packets: &mut TextPackets, item: &Item<'_>, sink: &mut ItemSink<'_>) {
    if let Item::Chunk(chunk) = item
        && link_of(chunk.bytes).is_some()
    {
        packets.row(true, |all| all.extend_from_slice(chunk.bytes), sink);
    }
}

impl LineForm for PacketsInside {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let Self { reading, packets } = self;
        reading.line(line, &mut |item| take(packets, &item, sink));
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        let Self { reading, packets } = self;
        reading.finish(&mut |item| take(packets, &item, sink));
        packets.finish("the text", "copy the bytes of the packets", sink);
    }

    fn ignored(&self) -> u64 {
        self.reading.ignored()
    }
}
