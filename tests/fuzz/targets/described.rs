//! Reads any bytes as a protocol that a file of this crate describes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("described", data);
});
