//! Reads any bytes as acp.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("acp", data);
});
