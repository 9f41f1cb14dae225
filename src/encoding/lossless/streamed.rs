//! Emits the text of a long message while it is written, so that memory never holds all of it.
//!
//! This takes two passes: [`PairMaps`] finds the maps that no JSON object can hold, and [`StreamedText`]
//! writes those as lists of pairs.

use super::{JsonText, is_utf8};
use crate::span::Span;
use crate::tape::{KeyName, Scalar, Shape, Sink};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

/// The number of bytes of text that are buffered.
const BUFFER_SIZE: usize = 64 << 10;

/// Finds the maps that no JSON object can hold: with keys that are not text, repeat, or start with
/// `$`.
///
/// Keys are compared by a 64-bit hash. On a collision, a map that an object could hold becomes a
/// list of pairs, which loses nothing.
#[derive(Debug, Default)]
pub struct PairMaps {
    /// The first bytes of the maps, in the order of their ends.
    found: Vec<u32>,
    /// Hashes of the keys of the open maps.
    keys: Vec<u64>,
    /// The open maps and arrays: the first byte, the index of the first key, and `true` if it needs
    /// pairs.
    open: Vec<(u32, u32, bool)>,
    at_key: bool,
}

impl PairMaps {
    /// Returns the first bytes of the maps, in order.
    pub fn finish(mut self) -> Vec<u32> {
        self.found.sort_unstable();
        self.found
    }

    fn needs_pairs(&mut self) {
        if let Some((.., needs_pairs)) = self.open.last_mut() {
            *needs_pairs = true;
        }
    }
}

impl Sink for PairMaps {
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
            _ => self.needs_pairs(),
        }
    }

    fn open(&mut self, start: usize, _: Shape) {
        if self.at_key {
            self.needs_pairs();
        }
        self.at_key = false;
        self.open
            .push((start as u32, self.keys.len() as u32, false));
    }

    fn close(&mut self, _: usize) {
        let Some((start, from, mut needs_pairs)) = self.open.pop() else {
            return;
        };
        let keys = self.keys.get_mut(from as usize..).unwrap_or_default();
        if !needs_pairs {
            keys.sort_unstable();
            needs_pairs = keys.windows(2).any(|pair| pair[0] == pair[1]);
        }
        self.keys.truncate(from as usize);
        if needs_pairs {
            self.found.push(start);
        }
    }

    fn label(&mut self, _: usize, _: u32, _: &KeyName) {
        self.at_key = false;
    }
}

/// A [`JsonText`] that emits its buffer.
pub struct StreamedText<'f> {
    text: JsonText,
    full: &'f mut dyn FnMut(&mut Vec<u8>),
    /// The first bytes of the maps that are written as lists of pairs, in order.
    needs_pairs: &'f [u32],
    /// For each open map and array, `true` if it is written as pairs.
    open: Vec<bool>,
}

impl<'f> StreamedText<'f> {
    /// Appends to `out`; `full` empties it. `needs_pairs` is the result of [`PairMaps`].
    pub fn new(
        out: Vec<u8>,
        needs_pairs: &'f [u32],
        full: &'f mut dyn FnMut(&mut Vec<u8>),
    ) -> Self {
        let text = JsonText {
            out,
            ..JsonText::default()
        };
        Self {
            text,
            full,
            needs_pairs,
            open: Vec::new(),
        }
    }

    /// Ends the current pair of a list of pairs.
    fn end_pair(&mut self) {
        if self.text.out.last() == Some(&b',') {
            self.text.out.pop();
            self.text.out.push(b']');
        }
    }

    /// Ends the text.
    pub fn finish(mut self) -> Vec<u8> {
        if self.text.out.last() == Some(&b',') {
            self.text.out.pop();
        }
        self.text.out
    }

    #[inline]
    fn flush(&mut self) {
        if self.text.out.len() < BUFFER_SIZE {
            return;
        }
        // The end of a map or an array removes the comma before it.
        let last = self.text.out.pop();
        (self.full)(&mut self.text.out);
        self.text.out.extend(last);
    }
}

impl Sink for StreamedText<'_> {
    fn key(&mut self) {
        if self.open.last() != Some(&true) {
            return self.text.key();
        }
        // The first pair follows `[`.
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
        self.flush();
    }

    fn open(&mut self, start: usize, shape: Shape) {
        let needs_pairs =
            shape == Shape::Map && self.needs_pairs.binary_search(&(start as u32)).is_ok();
        self.open.push(needs_pairs);
        self.text.open(start, shape);
        if needs_pairs {
            self.text.out.extend_from_slice(b"\"$map\":[");
        }
    }

    fn close(&mut self, end: usize) {
        if self.open.pop() == Some(true) {
            self.end_pair();
            self.text.out.push(b']');
        }
        self.text.close(end);
        self.flush();
    }

    fn label(&mut self, at: usize, id: u32, name: &KeyName) {
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
        fn streamed_text_equals_tape_text(value in values()) {
            let mut bytes = Vec::new();
            rmpv::encode::write_value(&mut bytes, &value).unwrap();
            let span = Span::new(0, bytes.len());
            let (mut tape, mut needs_pairs) = (Tape::new(), PairMaps::default());
            msgpack::parse(&bytes, span, 64, &mut tape).unwrap();
            msgpack::parse(&bytes, span, 64, &mut needs_pairs).unwrap();
            let needs_pairs = needs_pairs.finish();
            let mut nothing = |_: &mut Vec<u8>| {};
            let mut text = StreamedText::new(Vec::new(), &needs_pairs, &mut nothing);
            msgpack::parse(&bytes, span, 64, &mut text).unwrap();
            let mut want = Vec::new();
            lossless::write(tape.root(&bytes).unwrap(), &mut want);
            let got = String::from_utf8(text.finish()).unwrap();
            prop_assert_eq!(got, String::from_utf8(want).unwrap());
        }
    }
}
