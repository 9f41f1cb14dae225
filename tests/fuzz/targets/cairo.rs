//! Reads any text as a type, a signature and a field element.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("cairo", data);
});
