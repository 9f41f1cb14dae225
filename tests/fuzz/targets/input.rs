//! Reads any bytes as an input of any form and detects its protocol.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("input", data);
});
