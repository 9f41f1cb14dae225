//! Values of each encoding, beside other libraries.

use crate::references::{check_json_agreement, check_msgpack_agreement};
use crate::shape;
use std::io::Cursor;
use tungstenite::protocol::frame::FrameHeader;
use wiretool::encoding::{Encoding, Nothing, cbor, json, lossless, msgpack};
use wiretool::framing::{BufferStep, Framer, Framing, Head, Hints, LengthMode, Limits, Step};
use wiretool::span::Span;
use wiretool::tape::{Node, Tape};

const DEPTH: u32 = 64;

/// Returns a number for the outcome of a parser and the first bytes of the value.
fn shape_of(outcome: Result<(), wiretool::error::DecodeError>, bytes: &[u8]) -> u64 {
    let outcome = outcome.map_err(|error| (error.code, error.wanted.to_string()));
    let len = usize::BITS - bytes.len().leading_zeros();
    shape::of(&(outcome, bytes.first(), len))
}

pub fn check_json(data: &[u8]) -> u64 {
    check_json_agreement(data);
    let parsed = json::parse(data, Span::new(0, data.len()), DEPTH, &mut Nothing);
    shape_of(parsed.map(|_| ()), data)
}

/// What is read from one encoding is written as the same bytes, from its exact text.
fn check_identity(
    bytes: &[u8],
    tape: &Tape,
    encoding: Encoding,
    write: fn(Node<'_>, &mut Vec<u8>) -> Result<(), wiretool::error::Refusal>,
) {
    let (mut text, mut again) = (Vec::new(), Vec::new());
    lossless::write_exact(tape.root(bytes).expect("a value"), encoding, &mut text);
    let mut tape = Tape::new();
    json::parse(&text, Span::new(0, text.len()), 8 * DEPTH, &mut tape).expect("JSON");
    write(tape.root(&text).expect("a value"), &mut again).expect("a value");
    assert!(
        again == bytes,
        "{} as {}",
        bytes.escape_ascii(),
        text.escape_ascii()
    );
}

pub fn check_msgpack(data: &[u8]) -> u64 {
    check_msgpack_agreement(data);
    let mut tape = Tape::new();
    let parsed = msgpack::parse(data, Span::new(0, data.len()), DEPTH, &mut tape);
    if parsed.is_ok() {
        check_identity(data, &tape, Encoding::MessagePack, msgpack::write);
    }
    shape_of(parsed, data)
}

/// Returns the ends of the values of a stream that arrives in pieces.
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

/// The first byte is the size of the pieces of the stream.
pub fn check_cbor(data: &[u8]) -> u64 {
    let Some((step, data)) = data.split_first() else {
        return 0;
    };
    assert_eq!(ends([data]), ends(data.chunks(usize::from(*step).max(1))));
    let Ok(Some(len)) = cbor::measure(data, DEPTH) else {
        let parsed = cbor::parse(data, Span::new(0, data.len()), DEPTH, &mut Nothing);
        assert!(parsed.is_err());
        // A simple value below 32 in two bytes is forbidden, and text in chunks of chunks (RFC 8949 sections 3.3 and
        // 3.2.3); ciborium reads them.
        let mut rest = data;
        let theirs: Result<ciborium::Value, _> =
            ciborium::de::from_reader_with_recursion_limit(&mut rest, DEPTH as usize - 1);
        let is_lenient = data.iter().any(|b| [0xf8, 0x5f, 0x7f].contains(b));
        let alone = theirs.is_ok() && !is_lenient;
        assert!(!alone, "they alone take {}", data.escape_ascii());
        return shape_of(parsed, data);
    };
    let bytes = &data[..len];
    let mut tape = Tape::new();
    cbor::parse(bytes, Span::new(0, len), DEPTH, &mut tape).expect("a value");
    check_identity(bytes, &tape, Encoding::Cbor, cbor::write);
    shape_of(Ok(()), bytes)
}

/// A frame that tungstenite reads has the same length, opcode and mask for us.
pub fn check_websocket(data: &[u8]) -> u64 {
    let mut cursor = Cursor::new(data);
    let theirs = FrameHeader::parse(&mut cursor);
    let head = cursor.position();
    let limits = Limits::default();
    let (hints, mode) = (Hints::NONE, LengthMode::Auto);
    let mut framer = Framer::new(Framing::WebSocket, limits, hints, mode, false);
    let step = framer.step(data, 0, true);
    let Ok(Some((header, len))) = theirs else {
        return shape::of(&theirs.is_err());
    };
    // A whole message in one frame, without extensions, within the limit.
    let is_single = header.is_final && !(header.rsv1 || header.rsv2 || header.rsv3);
    let is_message = matches!(u8::from(header.opcode), 1 | 2 | 8..=10);
    let end = head.saturating_add(len);
    if is_single && is_message && end <= data.len() as u64 {
        let Step::Frame(frame, taken) = step else {
            panic!("they alone take {}", data.escape_ascii());
        };
        if frame.fault.is_none() {
            assert_eq!((frame.offset + frame.len, taken as u64), (end, end));
            let Head::WebSocket { opcode, masked, .. } = frame.head else {
                panic!("{:?}", frame.head);
            };
            assert_eq!(opcode, u8::from(header.opcode));
            assert_eq!(masked, header.mask.is_some());
        }
    }
    let len = u64::BITS - len.leading_zeros();
    shape::of(&(
        is_single,
        u8::from(header.opcode),
        header.mask.is_some(),
        len,
    ))
}
