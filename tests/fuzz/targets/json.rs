//! Reads any bytes as JSON, beside serde_json.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("json", data);
});
