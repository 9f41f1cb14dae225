//! Reads any bytes as saikuro.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("saikuro", data);
});
