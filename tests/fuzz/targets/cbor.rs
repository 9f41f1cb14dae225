//! Reads any bytes as CBOR, beside ciborium, and writes them again.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("cbor", data);
});
