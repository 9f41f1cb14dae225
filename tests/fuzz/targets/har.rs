//! Reads any bytes as a HAR file.
#![no_main]

#[path = "../capture.rs"]
mod capture;

use wiretool::capture::Form;

libfuzzer_sys::fuzz_target!(|data: &[u8]| capture::check(Form::Har, data));
