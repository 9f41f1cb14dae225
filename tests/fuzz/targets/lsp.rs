//! Reads any bytes as lsp.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("lsp", data);
});
