//! Reads any bytes as a trace of strace.
#![no_main]

#[path = "../capture.rs"]
mod capture;

use wiretool::capture::Form;

libfuzzer_sys::fuzz_target!(|data: &[u8]| capture::check(Form::Strace, data));
