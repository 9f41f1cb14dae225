//! Reads any recording with rules and operations.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("session", data);
});
