//! Reads any text as a filter and a token of sael.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("sael_text", data);
});
