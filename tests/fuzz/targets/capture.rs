//! Reads any bytes as a capture of any form.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("capture", data);
});
