//! Reads any bytes as MessagePack, beside rmpv.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("msgpack", data);
});
