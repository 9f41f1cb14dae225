//! Reads any text in every way in which programs print bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("text", data);
});
