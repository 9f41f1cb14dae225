//! Reads any bytes as jsonrpc.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("jsonrpc", data);
});
