//! Descriptions of protocols, and schema files.

use crate::shape;
use std::collections::BTreeSet;
use wiretool::decoder::{DecodeOptions, Decoder, Origin};
use wiretool::encoding::json;
use wiretool::protocol::described::Described;
use wiretool::protocol::schema::files::SchemaFile;
use wiretool::protocol::telequick::Schema;
use wiretool::span::Span;
use wiretool::tape::Tape;

/// Reads a description. A schema file and a stream, which is decoded by it, may follow, each after a zero byte.
pub fn check(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    let mut parts = text.splitn(3, '\0');
    let mut part = || parts.next().unwrap_or("{}");
    let (description, input, schema) = (part(), part(), part());
    let files = |_: &str| Ok(schema.to_owned());
    match Described::from_toml_with("description", description, &files) {
        Ok(protocol) => {
            let mut decoder = Decoder::new(DecodeOptions::new(vec![&protocol]));
            let mut count = 0;
            decoder.push(Origin::default(), input.as_bytes(), &mut |_| count += 1);
            decoder.finish(&mut |_| count += 1);
            shape::of(&count.min(4))
        }
        Err(error) => {
            let lines = description.lines().count();
            let mut texts = BTreeSet::new();
            for (line, column, text) in error.errors() {
                assert!(line <= lines.max(1) + 1, "line {line} of {lines}: {text}");
                assert!(
                    !text.is_empty() && column <= description.len() + 1,
                    "{column}: {text}"
                );
                texts.insert(
                    text.chars()
                        .filter(char::is_ascii_alphabetic)
                        .take(24)
                        .collect::<String>(),
                );
            }
            assert!(!texts.is_empty(), "an error that says nothing");
            shape::of(&texts)
        }
    }
}

/// Reads a schema file and checks a message with each of its definitions; also as a schema of telequick.
pub fn check_schema(data: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(data);
    let lines = text.lines().count().max(1) + 1;
    let telequick = Schema::parse(&text);
    if let Err(error) = &telequick {
        assert!(
            error.line as usize <= lines && !error.wanted.is_empty(),
            "{error}"
        );
    }
    let telequick = telequick.map_err(|error| error.wanted).map(|_| ());
    let file = match SchemaFile::read(&text) {
        Ok(file) => file,
        Err(error) => {
            assert!(error.line <= lines && !error.text.is_empty(), "{error:?}");
            let text: String = error
                .text
                .chars()
                .filter(char::is_ascii_alphabetic)
                .take(16)
                .collect();
            return shape::of(&(telequick, text));
        }
    };
    let message = br#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":7},"jsonrpc":"2.0","id":1,"method":"a","params":[1,null,{"x":"y"}]}"#;
    let mut tape = Tape::new();
    json::parse(message, Span::new(0, message.len()), 64, &mut tape).expect("JSON");
    let root = tape.root(message).expect("a value");
    let _ = file.choose(root, None);
    let mut wrong = 0;
    for definition in file.definitions().iter().take(16) {
        let check = file.check(definition, root);
        wrong += usize::from(check.wrong.is_some());
    }
    shape::of(&(file.definitions().len().min(8), wrong))
}
