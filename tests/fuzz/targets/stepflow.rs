//! Reads any bytes as stepflow.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("stepflow", data);
});
