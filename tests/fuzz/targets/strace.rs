//! Reads any bytes as a trace of system calls.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    wiretool_fuzz::check("strace", data);
});
