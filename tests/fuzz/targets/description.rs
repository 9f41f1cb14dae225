//! Reads any text as the description of a protocol with a schema file, and the rest of the text by it.
#![no_main]

use wiretool::decoder::{DecodeOptions, Decoder, Origin};
use wiretool::protocol::described::Described;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or("{}");
    let (description, input, schema) = (part(), part(), part());
    let files = |_: &str| Ok(schema.to_owned());
    match Described::from_toml_with("description", description, &files) {
        Ok(protocol) => {
            let mut decoder = Decoder::new(DecodeOptions::new(vec![&protocol]));
            decoder.push(Origin::default(), input.as_bytes(), &mut |_| {});
            decoder.finish(&mut |_| {});
        }
        Err(error) => assert!(error.errors().count() > 0),
    }
});
