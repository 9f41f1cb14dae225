//! Reads any bytes as telequick.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("telequick", data);
});
