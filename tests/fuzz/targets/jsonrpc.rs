//! Reads any bytes as jsonrpc.
#![no_main]

#[path = "../../laws/common.rs"]
#[allow(dead_code, reason = "shared with the laws, which use all of it")]
mod common;
#[path = "../law.rs"]
mod law;

libfuzzer_sys::fuzz_target!(|data: &[u8]| law::stream("jsonrpc", data));
