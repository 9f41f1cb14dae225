//! Packet captures.

use crate::capture;
use wiretool::capture::Form;

/// The head of a pcap file with Ethernet packets.
pub const PCAP: &[u8] = b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0";
/// The section header of a pcapng file.
pub const PCAPNG: &[u8] =
    b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0";

/// Puts the data behind the head of a file, unless they begin with one.
pub fn check(head: &[u8], data: &[u8]) -> u64 {
    if data.get(..4) == head.get(..4) {
        return capture::check(Form::Pcap, data);
    }
    capture::check(Form::Pcap, &[head, data].concat())
}
