//! Reads any bytes as oracle.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("oracle", data);
});
