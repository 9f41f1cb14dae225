//! Traffic as other tools print it: a heading for each read or packet, then its bytes in hex or as text.
//!
//! ```text
//!   => Send header, 133 bytes (0x85)                              curl --trace, --trace-ascii
//!   > 2026/11/22 10:05:02.000655711  length=89 from=0 to=88       socat -x, -v
//!   T 127.0.0.1:56366 -> 127.0.0.1:38663 [AP] #4                  ngrep -x
//!   127.000.000.001.56366-127.000.000.001.38663:                  tcpflow -c -D
//!   09:52:21.832730 IP 127.0.0.1.56366 > 127.0.0.1.38663: Flags   tcpdump -X
//!   Frame 4: 155 bytes on wire (1240 bits), 155 bytes captured      tshark -V -x
//! ```

pub(super) mod curl;
pub(super) mod flows;
pub(super) mod follow;
#[cfg(feature = "pcap")]
pub(super) mod packet_lines;
#[cfg(feature = "pcap")]
pub(super) mod packets;
pub(super) mod socat;
#[cfg(feature = "pcap")]
pub(super) mod tcpdump;
#[cfg(feature = "pcap")]
pub(super) mod tshark;

use super::chunk::ItemSink;
use super::form::FormVerdict::{self, No, Open, Yes};
use super::form::InputEnd;
use super::hex::nibble;
use super::time::Time;
use super::traffic;
use crate::protocol::Direction;

/// The maximum number of bytes of a section that are stored, and a line.
const MAX_BYTES: usize = 64 << 10;

/// The place of the bytes below a heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Section {
    conn: u32,
    direction: Direction,
    time: Option<Time>,
    /// The number of bytes, if the heading states it.
    len: Option<u64>,
}

/// The bytes below the current heading.
#[derive(Default)]
struct SectionBytes {
    section: Option<Section>,
    bytes: Vec<u8>,
    /// The number of bytes of the section that were emitted or reported as missing.
    done: u64,
    /// The number of bytes of all sections that were emitted.
    total: u64,
}

impl SectionBytes {
    /// Returns the offset in the section.
    fn offset(&self) -> u64 {
        self.done + self.bytes.len() as u64
    }

    /// Returns the number of bytes that the section still has.
    fn left(&self) -> u64 {
        let len = self.section.and_then(|section| section.len);
        len.map_or(u64::MAX, |len| len.saturating_sub(self.offset()))
    }

    /// Reports missing bytes up to an offset of the section.
    fn skip_to(&mut self, offset: u64, sink: &mut ItemSink<'_>) {
        let missing = offset.saturating_sub(self.offset());
        if missing == 0 {
            return;
        }
        self.emit(sink);
        self.done += missing;
        if let Some(at) = self.section {
            traffic::emit_lost(at.conn, at.direction, at.time, missing, sink);
        }
    }

    /// Emits the bytes so far.
    fn emit(&mut self, sink: &mut ItemSink<'_>) {
        if let Some(at) = self.section {
            traffic::emit_chunk(at.conn, at.direction, at.time, &self.bytes, sink);
        }
        self.done += self.bytes.len() as u64;
        self.total += self.bytes.len() as u64;
        self.bytes.clear();
    }

    /// Emits the bytes so far if they are many.
    fn emit_full(&mut self, sink: &mut ItemSink<'_>) {
        if self.bytes.len() >= MAX_BYTES {
            self.emit(sink);
        }
    }

    /// Ends the section, and starts the next one.
    fn start(&mut self, section: Option<Section>, sink: &mut ItemSink<'_>) {
        if let Some(Section { len: Some(len), .. }) = self.section {
            self.skip_to(len, sink);
        }
        self.emit(sink);
        self.section = section;
        self.done = 0;
    }
}

/// Reads a pair of hex digits at the start of a text.
fn hex_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let ([high, low], rest) = text.split_first_chunk()?;
    let both = high.is_ascii_hexdigit() && low.is_ascii_hexdigit();
    both.then(|| (nibble(*high) << 4 | nibble(*low), rest))
}

/// Appends bytes in groups of two; a blank is before each group, and two blanks end them.
fn hex_groups(row: &[u8], out: &mut Vec<u8>) {
    let mut rest = row;
    while let Some((byte, after)) = rest.strip_prefix(b" ").and_then(hex_byte) {
        out.push(byte);
        rest = after;
        if let Some((byte, after)) = hex_byte(rest) {
            out.push(byte);
            rest = after;
        }
    }
}

/// Tests an input: its first line that is not blank shows its form. `is_heading` gets whole lines, `may_begin` the
/// beginning of one.
fn detect_by_heading(
    text: &[u8],
    end: InputEnd,
    evidence: &str,
    is_heading: fn(&[u8]) -> Option<bool>,
    may_begin: fn(&[u8]) -> bool,
) -> FormVerdict {
    let mut lines = text.split(|&b| b == b'\n').peekable();
    while let Some(line) = lines.next() {
        let is_whole = lines.peek().is_some() || end == InputEnd::Real;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !is_whole {
            return if may_begin(line) { Open } else { No };
        }
        if line.is_empty() {
            continue;
        }
        match is_heading(line) {
            Some(true) => return Yes(evidence.into()),
            Some(false) => {}
            None => return No,
        }
    }
    if end == InputEnd::Real { No } else { Open }
}
