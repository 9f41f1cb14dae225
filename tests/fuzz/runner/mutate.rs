//! Changes of inputs. The same seed gives the same changes.

use crate::seeds::MAX_INPUT;
use fastrand::Rng;
use std::collections::BTreeSet;
use wiretool::capture::{ChunkSource, Record};
use wiretool_fuzz::{Seeds, Target};

/// Numbers at the limits of types.
const NUMBERS: [u64; 22] = [
    0,
    1,
    2,
    7,
    16,
    31,
    32,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    1000,
    4096,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    i64::MAX as u64,
    u64::MAX,
];
/// Texts that mean something in many languages.
const TOKENS: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ":",
    ",",
    "\n",
    "\r\n",
    "\r\n\r\n",
    "\0",
    "null",
    "true",
    "1e400",
    "-0.0",
    "\\u0000",
    "\\ud800",
    "\\u202e",
    "\u{1b}[31m",
    "\u{85}",
    "\u{202e}",
    "\u{feff}",
    "\u{2028}",
    "'",
    "(",
    ")",
    "0x",
    "Content-Length: ",
    "Transfer-Encoding: chunked\r\n",
    "data: ",
    "event: ",
    "18446744073709551616",
    "$bin",
    "<",
    ">",
    "&",
    "%00",
    "\u{ff}",
    "99999999999999999999",
];
const MAX_WORDS: usize = 4096;

pub struct Mutator {
    rng: Rng,
    /// Words of the seeds.
    words: Vec<Vec<u8>>,
    is_recording: bool,
}

impl Mutator {
    pub fn new(rng: Rng, target: &Target, seeds: &[Vec<u8>]) -> Self {
        let mut words = BTreeSet::new();
        for seed in seeds {
            let is_word = |b: &u8| b.is_ascii_alphanumeric() || b"_-./$".contains(b);
            let split = seed.split(|b| !is_word(b));
            words.extend(
                split
                    .filter(|word| (3..40).contains(&word.len()))
                    .map(<[u8]>::to_vec),
            );
        }
        let mut words: Vec<_> = words.into_iter().collect();
        words.truncate(MAX_WORDS);
        words.extend(TOKENS.map(|token| token.as_bytes().to_vec()));
        Self {
            rng,
            words,
            is_recording: matches!(target.seeds, Seeds::Recordings),
        }
    }

    /// Returns one of the inputs with some changes.
    pub fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let base = &corpus[self.rng.usize(..corpus.len())];
        let other = &corpus[self.rng.usize(..corpus.len())];
        let mut input = base.clone();
        let changes = 1 + self.rng.u32(..).trailing_zeros() as usize + self.rng.usize(..2);
        for _ in 0..changes {
            let has_lines = count_lines(&input) > 1;
            if self.is_recording && self.rng.u8(..8) > 0 {
                self.change_records(&mut input, other);
            } else if has_lines && self.rng.u8(..4) == 0 {
                self.change_lines(&mut input, other);
            } else {
                self.change_bytes(&mut input, other);
            }
        }
        input.truncate(MAX_INPUT);
        input
    }

    /// Returns a range of at most `most` bytes.
    fn range(&mut self, len: usize, most: usize) -> std::ops::Range<usize> {
        let start = self.rng.usize(..=len);
        let size = self.rng.usize(..=most.min(len - start));
        start..start + size
    }

    fn change_bytes(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let len = input.len();
        if len == 0 {
            let word = self.word();
            input.extend_from_slice(&word);
            return;
        }
        let at = self.rng.usize(..len);
        match self.rng.u8(..16) {
            0 | 1 => input[at] ^= 1 << self.rng.u8(..8),
            2 => input[at] = self.rng.u8(..),
            3 => input[at] = input[at].wrapping_add(self.rng.u8(..16)).wrapping_sub(8),
            4 => input.insert(at, self.rng.u8(..)),
            5 => {
                let most = if self.rng.bool() { 4 } else { len };
                let range = self.range(len, most);
                input.drain(range);
            }
            6 => input.truncate(at),
            // The selectors at the end stay.
            7 => {
                let end = len.saturating_sub(3);
                let from = self.rng.usize(..=end);
                input.drain(from..end);
            }
            8 => {
                let range = self.range(len, 64);
                let copy = input[range].to_vec();
                input.splice(at..at, copy);
            }
            9 => {
                let range = self.range(len, 16);
                let copy = input[range].repeat(1 + self.rng.usize(..64));
                input.splice(at..at, copy);
            }
            10 => {
                let word = self.word();
                input.splice(at..at, word);
            }
            11 => {
                let word = self.word();
                let end = (at + word.len()).min(len);
                input.splice(at..end, word);
            }
            12 | 13 => self.change_number(input, at),
            14 => {
                let range = self.range(other.len(), other.len());
                let end = self.rng.usize(at..=len);
                input.splice(at..end, other[range].iter().copied());
            }
            // A number in the selectors at the end.
            _ => {
                let back = 1 + self.rng.usize(..3.min(len));
                input[len - back] = self.rng.u8(..);
            }
        }
    }

    fn word(&mut self) -> Vec<u8> {
        let n = self.rng.usize(..self.words.len());
        self.words[n].clone()
    }

    /// Writes a number at the limit of a type: digits where digits are, otherwise bytes.
    fn change_number(&mut self, input: &mut Vec<u8>, at: usize) {
        let number = NUMBERS[self.rng.usize(..NUMBERS.len())]
            .wrapping_add(self.rng.u64(..3))
            .wrapping_sub(1);
        let digits = input[at..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count();
        if digits > 0 {
            input.splice(at..at + digits, number.to_string().into_bytes());
            return;
        }
        let width = 1 << self.rng.u8(..4);
        let end = (at + width).min(input.len());
        let bytes = if self.rng.bool() {
            number.to_be_bytes()[8 - width..].to_vec()
        } else {
            number.to_le_bytes()[..width].to_vec()
        };
        input[at..end].copy_from_slice(&bytes[..end - at]);
    }

    /// Removes, repeats, moves, replaces or damages one of several parts.
    fn change_parts(&mut self, parts: &mut Vec<Vec<u8>>, other: &[Vec<u8>]) {
        let Some(last) = parts.len().checked_sub(1) else {
            return;
        };
        let (at, to) = (self.rng.usize(..=last), self.rng.usize(..=last));
        match self.rng.u8(..7) {
            0 => drop(parts.remove(at)),
            1 => {
                let copy = parts[at].clone();
                parts.insert(to, copy);
            }
            2 => parts.swap(at, to),
            3 => {
                let moved = parts.remove(at);
                parts.insert(to.min(parts.len()), moved);
            }
            4 if !other.is_empty() => {
                let n = self.rng.usize(..other.len());
                parts.insert(at, other[n].clone());
            }
            5 if !other.is_empty() => {
                let n = self.rng.usize(..other.len());
                parts.truncate(at);
                parts.extend_from_slice(&other[n..]);
            }
            _ => {
                let mut part = std::mem::take(&mut parts[at]);
                self.change_bytes(&mut part, &[]);
                parts[at] = part;
            }
        }
    }

    fn change_lines(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
            bytes
                .split_inclusive(|b| *b == b'\n')
                .map(<[u8]>::to_vec)
                .collect()
        };
        let mut parts = lines(input);
        self.change_parts(&mut parts, &lines(other));
        *input = parts.concat();
    }

    /// Changes the messages of a recording: whole ones, their bytes, direction, connection and time.
    fn change_records(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        if self.rng.bool() {
            return self.change_lines(input, other);
        }
        let mut lines: Vec<Vec<u8>> = input
            .split_inclusive(|b| *b == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        if lines.is_empty() {
            return;
        }
        let n = self.rng.usize(..lines.len());
        let line = lines[n].trim_ascii_end();
        let Ok(mut record) = Record::parse(line) else {
            return self.change_bytes(input, other);
        };
        let copy = record.clone();
        match &mut record {
            Record::Chunk {
                t,
                conn,
                dir,
                bytes,
                ..
            } => match self.rng.u8(..8) {
                0 => {
                    *dir = if *dir == ChunkSource::C2s {
                        ChunkSource::S2c
                    } else {
                        ChunkSource::C2s
                    }
                }
                1 => *conn = self.rng.u32(..4),
                2 => *t = self.rng.i64(-1_000_000..10_000_000_000),
                // The end of the message arrives later, or never.
                3 => {
                    let mut rest = copy;
                    let at = self.rng.usize(..=bytes.len());
                    if let Record::Chunk { bytes, .. } = &mut rest {
                        bytes.drain(..at);
                    }
                    bytes.truncate(at);
                    if self.rng.bool() {
                        let mut written = Vec::new();
                        rest.write(&mut written);
                        lines.insert(n + 1, written);
                    }
                }
                _ => self.change_bytes(bytes, other),
            },
            _ => return self.change_lines(input, other),
        }
        lines[n].clear();
        record.write(&mut lines[n]);
        *input = lines.concat();
    }
}

fn count_lines(input: &[u8]) -> usize {
    input.iter().filter(|b| **b == b'\n').take(2).count()
}
