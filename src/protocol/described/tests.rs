//! Tests of descriptions: their errors, and protocols that are read, written and checked by them.

mod errors;
mod forms;
mod heartbeat;
mod reading;
mod rules;
mod types;

use super::Described;
use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::protocol::{Direction, Protocol};
use crate::render::json;

fn described(text: &str) -> Described {
    Described::from_toml(text).unwrap_or_else(|error| panic!("{error}"))
}

/// Decodes the bytes of each direction, and returns the lines of JSON.
fn json_lines(protocol: &dyn Protocol, input: &[(Direction, &[u8])]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut tell = |decoded: &Decoded<'_>| {
        let mut out = Vec::new();
        json::write(
            decoded,
            None,
            crate::render::DisplayOptions::default(),
            &mut out,
        );
        lines.push(String::from_utf8(out).unwrap().trim_end().to_owned());
    };
    let mut decoder = Decoder::new(DecodeOptions::new(vec![protocol]));
    for (direction, bytes) in input {
        let origin = Origin {
            direction: Some(*direction),
            ..Origin::default()
        };
        decoder.push(origin, bytes, &mut tell);
    }
    decoder.finish(&mut tell);
    lines
}
