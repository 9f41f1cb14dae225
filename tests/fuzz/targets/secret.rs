//! Shows messages with a secret in any place.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("secret", data);
});
