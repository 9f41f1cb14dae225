//! Reads any bytes as mcp.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("mcp", data);
});
