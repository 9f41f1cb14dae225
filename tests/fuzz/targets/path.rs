//! Reads any text as a path, and its printed form.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("path", data);
});
