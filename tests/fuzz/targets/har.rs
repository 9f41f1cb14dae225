//! Reads any bytes as a HAR file.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("har", data);
});
