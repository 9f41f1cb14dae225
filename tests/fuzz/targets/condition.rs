//! Reads any text as a condition, and its printed form.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("condition", data);
});
