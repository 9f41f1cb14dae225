//! Reads any blocks of a pcapng file behind its section header.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("pcapng", data);
});
