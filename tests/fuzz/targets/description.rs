//! Reads any text as the description of a protocol, and the rest of the text by it.
#![no_main]

use wiretool::decoder::{DecodeOptions, Decoder, Origin};
use wiretool::protocol::described::Described;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (description, input) = text.split_once('\0').unwrap_or((&text, "{}"));
    match Described::from_toml(description) {
        Ok(protocol) => {
            let mut decoder = Decoder::new(DecodeOptions::new(vec![&protocol]));
            decoder.push(Origin::default(), input.as_bytes(), &mut |_| {});
            decoder.finish(&mut |_| {});
        }
        Err(error) => assert!(error.errors().count() > 0),
    }
});
