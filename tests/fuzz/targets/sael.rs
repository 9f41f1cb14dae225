//! Reads any bytes as sael.
#![no_main]

#[path = "../../laws/common.rs"]
#[allow(dead_code, reason = "shared with the laws, which use all of it")]
mod common;
#[path = "../law.rs"]
mod law;

libfuzzer_sys::fuzz_target!(|data: &[u8]| law::stream("sael", data));
