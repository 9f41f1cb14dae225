//! The first bytes of packet captures.

use super::super::form::{FormVerdict, InputEnd};
use super::blocks::{SECTION_MAGIC, u32_at};

/// The first bytes of files: magic number and version, or the type of a section. The number of bytes that decide, and the
/// name.
const MAGICS: [(&[u8], &str); 7] = [
    (b"\xd4\xc3\xb2\xa1\x02\x00", "pcap, little-endian"),
    (b"\xa1\xb2\xc3\xd4\x00\x02", "pcap, big-endian"),
    (
        b"\x4d\x3c\xb2\xa1\x02\x00",
        "pcap with nanoseconds, little-endian",
    ),
    (
        b"\xa1\xb2\x3c\x4d\x00\x02",
        "pcap with nanoseconds, big-endian",
    ),
    (b"\x34\xcd\xb2\xa1\x02\x00", "modified pcap, little-endian"),
    (b"\xa1\xb2\xcd\x34\x00\x02", "modified pcap, big-endian"),
    (b"\x0a\x0d\x0d\x0a", "pcapng"),
];

/// Checks if the bytes are those of a packet capture.
pub(in crate::capture) fn detect(bytes: &[u8], end: InputEnd) -> FormVerdict {
    let starts = |(magic, _): &&(&[u8], &str)| bytes.starts_with(magic) || magic.starts_with(bytes);
    let Some((magic, name)) = MAGICS.iter().find(starts) else {
        return FormVerdict::No;
    };
    let is_pcapng = magic.len() == 4;
    let is_enough = bytes.len() >= if is_pcapng { 12 } else { magic.len() };
    let is_section = || {
        let magic = u32_at(bytes, 8, true);
        magic == Some(SECTION_MAGIC) || magic.map(u32::swap_bytes) == Some(SECTION_MAGIC)
    };
    match end {
        _ if is_enough && is_pcapng && !is_section() => FormVerdict::No,
        _ if is_enough => FormVerdict::Yes(format!("it begins as {name}")),
        // Four bytes of a magic number are enough for a file that ends there.
        InputEnd::Real if bytes.len() >= 4 => FormVerdict::Yes(format!("it begins as {name}")),
        InputEnd::Real => FormVerdict::No,
        InputEnd::More | InputEnd::Limit => FormVerdict::Open,
    }
}
