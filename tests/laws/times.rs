//! The times of messages, and the order of two directions, depend on the chunks of a recording; not on the reads of a
//! chunk.

use crate::common::{Setup, assert_same};
use crate::seeds::{SAEL, Seed, built, captured, websocket};
use wiretool::decoder::{Decoded, Decoder, Origin};
use wiretool::encoding::Want;
use wiretool::framing::Framing;
use wiretool::protocol::Direction;
use wiretool::render::{DisplayOptions, json};

/// A deterministic generator of numbers (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }
}

/// A chunk of a recording, of the direction to the server. An answer of the server follows it.
struct Chunk<'b> {
    time: i64,
    bytes: &'b [u8],
}

/// Cuts a stream into chunks. Their times rise, or are out of order.
fn chunks<'b>(mut bytes: &'b [u8], rising: bool, numbers: &mut Numbers) -> Vec<Chunk<'b>> {
    let mut chunks = Vec::new();
    while !bytes.is_empty() {
        let len = 1 + numbers.below(120.min(bytes.len()));
        let number = if rising {
            chunks.len()
        } else {
            numbers.below(9)
        };
        let time = i64::try_from(1000 * number).expect("few chunks");
        let (chunk, rest) = bytes.split_at(len);
        chunks.push(Chunk { time, bytes: chunk });
        bytes = rest;
    }
    chunks
}

/// The JSON lines of a recording whose chunks are read in pieces of this size.
fn decode(setup: &Setup, chunks: &[Chunk<'_>], answer: &[u8], size: usize) -> String {
    let mut decoder = Decoder::new(setup.options(Want::Text));
    let mut out = Vec::new();
    let mut sink =
        |decoded: &Decoded<'_>| json::write(decoded, None, DisplayOptions::default(), &mut out);
    for chunk in chunks {
        let origin = |direction, time| Origin {
            direction: Some(direction),
            time: Some(time),
            ..Origin::default()
        };
        for piece in chunk.bytes.chunks(size) {
            decoder.push(origin(Direction::ToServer, chunk.time), piece, &mut sink);
        }
        let asked = origin(Direction::ToClient, chunk.time + 1);
        decoder.push(asked, answer, &mut sink);
    }
    decoder.finish(&mut sink);
    String::from_utf8(out).expect("JSON output is UTF-8")
}

/// Checks a stream, and the same stream with some bytes changed.
fn check(seed: &Seed, setup: &Setup, answer: &[u8], cases: u64) {
    for case in 0..cases {
        let mut numbers = Numbers(case * 0x9e37_79b9 + 1);
        let mut bytes = seed.bytes.clone();
        for _ in 0..(case % 3).min(bytes.len() as u64) {
            let at = numbers.below(bytes.len());
            match numbers.below(4) {
                0 => bytes[at] ^= 1 << numbers.below(8),
                1 => bytes[at] = numbers.below(256) as u8,
                2 => bytes.insert(at, numbers.below(256) as u8),
                _ => drop(bytes.remove(at)),
            }
        }
        for rising in [true, false] {
            let chunks = chunks(&bytes, rising, &mut numbers);
            let whole = decode(setup, &chunks, answer, usize::MAX);
            for size in [1, 7, 50] {
                let split = decode(setup, &chunks, answer, size);
                assert_same(&whole, &split, || {
                    format!(
                        "{}, case {case} with {setup:?}, rising {rising}, in pieces of {size}: {}",
                        seed.name,
                        hex::encode(&bytes)
                    )
                });
            }
        }
    }
}

#[test]
fn times_depend_on_chunks_alone() {
    for seed in built() {
        for setup in seed.setups() {
            let answer = match seed.framing {
                Some(Framing::WebSocket) => websocket(0x81, None, SAEL[2].as_bytes()),
                _ => Vec::new(),
            };
            check(&seed, &setup, &answer, 40);
        }
    }
}

#[test]
fn times_of_captures_depend_on_chunks_alone() {
    for seed in captured(4 << 10) {
        let cases = if seed.protocol == "sael" { 12 } else { 2 };
        check(&seed, &Setup::of(seed.protocol), b"", cases);
    }
}
