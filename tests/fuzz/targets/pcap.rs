//! Reads any records of a pcap file with Ethernet packets.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("pcap", data);
});
