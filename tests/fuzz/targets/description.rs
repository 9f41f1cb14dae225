//! Reads any text as the description of a protocol.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("description", data);
});
