//! Reads any bytes as lines of a recording, and writes them again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("record", data);
});
