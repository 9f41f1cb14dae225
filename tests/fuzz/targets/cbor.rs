//! Reads any bytes as CBOR: no panic, and what is read is written as the same bytes.
#![no_main]

use wiretool::encoding::{Encoding, Nothing, cbor, json, lossless};
use wiretool::framing::{BufferStep, Framer, Framing, Hints, LengthMode, Limits};
use wiretool::span::Span;
use wiretool::tape::Tape;

const DEPTH: u32 = 64;

/// The ends of the values of a stream that arrives in pieces.
fn ends<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<u64> {
    let hints = Hints {
        is_cbor: true,
        ..Hints::NONE
    };
    let limits = Limits::default();
    let mut framer = Framer::new(Framing::Values, limits, hints, LengthMode::Auto, true);
    let (mut stream, mut at, mut found) = (Vec::new(), 0, Vec::new());
    let mut pieces = pieces.into_iter();
    loop {
        let piece = pieces.next();
        stream.extend_from_slice(piece.unwrap_or_default());
        loop {
            match framer.next(&stream[at..], at as u64, piece.is_none()) {
                BufferStep::Frame(frame, taken) => {
                    found.push(frame.offset + frame.len);
                    at += taken;
                }
                BufferStep::Took(taken) => at += taken,
                _ => break,
            }
        }
        if piece.is_none() {
            return found;
        }
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((step, data)) = data.split_first() else {
        return;
    };
    assert_eq!(ends([data]), ends(data.chunks(usize::from(*step).max(1))));
    let Ok(Some(len)) = cbor::measure(data, DEPTH) else {
        assert!(cbor::parse(data, Span::new(0, data.len()), DEPTH, &mut Nothing).is_err());
        return;
    };
    let bytes = &data[..len];
    let mut tape = Tape::new();
    cbor::parse(bytes, Span::new(0, len), DEPTH, &mut tape).expect("a value");
    let (mut text, mut again) = (Vec::new(), Vec::new());
    lossless::write_exact(tape.root(bytes).expect("a value"), Encoding::Cbor, &mut text);
    let mut tape = Tape::new();
    json::parse(&text, Span::new(0, text.len()), 8 * DEPTH, &mut tape).expect("JSON");
    cbor::write(tape.root(&text).expect("a value"), &mut again).expect("a value");
    assert!(again == bytes, "{}", bytes.escape_ascii());
});
