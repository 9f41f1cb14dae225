//! Text of a long message, handed on while it is written, so that it never stands in memory whole.
//!
//! It takes two passes: [`OddMaps`] finds the maps that no JSON object can hold, and [`Passing`] writes those as lists of
//! pairs.

use super::{JsonText, is_utf8};
use crate::span::Span;
use crate::tape::{Name, Scalar, Shape, Sink};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

/// Bytes of text that wait.
const FULL: usize = 64 << 10;

/// Finds the maps that no JSON object can hold: with keys that are not text, that repeat, or that start with `$`.
///
/// Keys are compared by a hash of 64 bits. Two that share it make a list of pairs of a map that an object could hold,
/// which loses nothing.
#[derive(Debug, Default)]
pub struct OddMaps {
    /// First bytes of the maps, in the order of their ends.
    found: Vec<u32>,
    /// Hashes of the keys of the maps that are open.
    keys: Vec<u64>,
    /// The maps and arrays that are open: the first byte, where the keys begin, and whether it is odd.
    open: Vec<(u32, u32, bool)>,
    at_key: bool,
}

impl OddMaps {
    /// The first bytes of the maps, in order.
    pub fn finish(mut self) -> Vec<u32> {
        self.found.sort_unstable();
        self.found
    }

    fn odd(&mut self) {
        if let Some((.., odd)) = self.open.last_mut() {
            *odd = true;
        }
    }
}

impl Sink for OddMaps {
    fn key(&mut self) {
        self.at_key = true;
    }

    fn value(&mut self) {
        self.at_key = false;
    }

    fn scalar(&mut self, _: Span, value: Scalar<'_>) {
        match value {
            _ if !self.at_key => {}
            Scalar::Str(key) if is_utf8(key) && !key.starts_with(b"$") => {
                let hashes = BuildHasherDefault::<DefaultHasher>::default();
                self.keys.push(hashes.hash_one(key));
            }
            _ => self.odd(),
        }
    }

    fn open(&mut self, start: usize, _: Shape) {
        if self.at_key {
            self.odd();
        }
        self.at_key = false;
        self.open
            .push((start as u32, self.keys.len() as u32, false));
    }

    fn close(&mut self, _: usize) {
        let Some((start, from, mut odd)) = self.open.pop() else {
            return;
        };
        let keys = self.keys.get_mut(from as usize..).unwrap_or_default();
        if !odd {
            keys.sort_unstable();
            odd = keys.windows(2).any(|pair| pair[0] == pair[1]);
        }
        self.keys.truncate(from as usize);
        if odd {
            self.found.push(start);
        }
    }

    fn label(&mut self, _: usize, _: u32, _: &Name) {
        self.at_key = false;
    }
}

/// A [`JsonText`] that empties itself.
pub struct Passing<'f> {
    text: JsonText,
    full: &'f mut dyn FnMut(&mut Vec<u8>),
    /// First bytes of the maps that are written as lists of pairs, in order.
    odd: &'f [u32],
    /// Of the maps and arrays that are open, whether they are written so.
    open: Vec<bool>,
}

impl<'f> Passing<'f> {
    /// Writes behind what stands in `out`; `full` empties it. `odd` is what [`OddMaps`] found.
    pub fn new(out: Vec<u8>, odd: &'f [u32], full: &'f mut dyn FnMut(&mut Vec<u8>)) -> Self {
        let text = JsonText {
            out,
            ..JsonText::default()
        };
        Self {
            text,
            full,
            odd,
            open: Vec::new(),
        }
    }

    /// The pair that has been written of a list of pairs ends.
    fn end_pair(&mut self) {
        if self.text.out.last() == Some(&b',') {
            self.text.out.pop();
            self.text.out.push(b']');
        }
    }

    /// The end of the text.
    pub fn finish(mut self) -> Vec<u8> {
        if self.text.out.last() == Some(&b',') {
            self.text.out.pop();
        }
        self.text.out
    }

    #[inline]
    fn pass(&mut self) {
        if self.text.out.len() < FULL {
            return;
        }
        // Where a map or an array ends, the comma before goes.
        let last = self.text.out.pop();
        (self.full)(&mut self.text.out);
        self.text.out.extend(last);
    }
}

impl Sink for Passing<'_> {
    fn key(&mut self) {
        if self.open.last() != Some(&true) {
            return self.text.key();
        }
        // The first pair stands behind `[`.
        if self.text.out.last() == Some(&b',') {
            self.end_pair();
            self.text.out.push(b',');
        }
        self.text.out.push(b'[');
    }

    fn value(&mut self) {
        self.text.value();
    }

    fn scalar(&mut self, at: Span, value: Scalar<'_>) {
        self.text.scalar(at, value);
        self.pass();
    }

    fn open(&mut self, start: usize, shape: Shape) {
        let odd = shape == Shape::Map && self.odd.binary_search(&(start as u32)).is_ok();
        self.open.push(odd);
        self.text.open(start, shape);
        if odd {
            self.text.out.extend_from_slice(b"\"$map\":[");
        }
    }

    fn close(&mut self, end: usize) {
        if self.open.pop() == Some(true) {
            self.end_pair();
            self.text.out.push(b']');
        }
        self.text.close(end);
        self.pass();
    }

    fn label(&mut self, at: usize, id: u32, name: &Name) {
        self.text.label(at, id, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::{lossless, msgpack};
    use crate::tape::Tape;
    use proptest::prelude::*;
    use rmpv::Value;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Nil),
            any::<i8>().prop_map(Value::from),
            "[$a-c]{0,2}".prop_map(Value::from),
            prop::collection::vec(any::<u8>(), 0..3).prop_map(Value::Binary),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let pair = (inner.clone(), inner.clone());
            prop_oneof![
                prop::collection::vec(inner, 0..5).prop_map(Value::Array),
                prop::collection::vec(pair, 0..5).prop_map(Value::Map),
            ]
        })
    }

    proptest! {
        #[test]
        fn two_passes_write_what_the_tape_gives(value in values()) {
            let mut bytes = Vec::new();
            rmpv::encode::write_value(&mut bytes, &value).unwrap();
            let span = Span::new(0, bytes.len());
            let (mut tape, mut odd) = (Tape::new(), OddMaps::default());
            msgpack::parse(&bytes, span, 64, &mut tape).unwrap();
            msgpack::parse(&bytes, span, 64, &mut odd).unwrap();
            let odd = odd.finish();
            let mut nothing = |_: &mut Vec<u8>| {};
            let mut text = Passing::new(Vec::new(), &odd, &mut nothing);
            msgpack::parse(&bytes, span, 64, &mut text).unwrap();
            let mut want = Vec::new();
            lossless::write(tape.root(&bytes).unwrap(), &mut want);
            let got = String::from_utf8(text.finish()).unwrap();
            prop_assert_eq!(got, String::from_utf8(want).unwrap());
        }
    }
}
