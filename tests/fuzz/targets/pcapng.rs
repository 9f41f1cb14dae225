//! Reads any blocks of a pcapng file behind its section header.
#![no_main]

#[path = "../packets.rs"]
mod packets;

const HEAD: &[u8] =
    b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0";

libfuzzer_sys::fuzz_target!(|data: &[u8]| packets::check(HEAD, data));
