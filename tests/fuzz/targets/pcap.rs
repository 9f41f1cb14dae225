//! Reads any records of a pcap file with Ethernet packets.
#![no_main]

#[path = "../packets.rs"]
mod packets;

const HEAD: &[u8] =
    b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0";

libfuzzer_sys::fuzz_target!(|data: &[u8]| packets::check(HEAD, data));
