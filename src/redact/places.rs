//! Where secrets stand, and what is changed there.

use super::regions::Key;
use super::stand_in::{StandIn, respell, spell};
use crate::decoder::{Decoded, Origin};
use crate::framing::Places;
use crate::framing::fields::unescaped;
use crate::protocol::Direction;
use crate::tape::{Node, Scalar, Value};
use std::collections::BTreeMap;

/// What is changed: runs of bytes by their places in the stream of their direction, as old xor new. Masks make no
/// difference to it. Runs do not overlap.
#[derive(Default)]
pub(super) struct Changes(BTreeMap<Key, BTreeMap<u64, Vec<u8>>>);

impl Changes {
    /// Bytes of a stream. What is changed already stays so.
    pub(super) fn stream(&mut self, origin: Origin, offset: u64, old: &[u8], new: &[u8]) {
        let (Some(conn), Some(direction)) = (origin.conn, origin.direction) else {
            return;
        };
        let runs = self.0.entry((conn, direction)).or_default();
        let end = offset + old.len().min(new.len()) as u64;
        let mut at = offset;
        while at < end {
            let before = runs.range(..=at).next_back();
            let covered = before.map_or(0, |(start, run)| start + run.len() as u64);
            if covered > at {
                at = covered;
                continue;
            }
            let next = runs.range(at..end).next().map_or(end, |(start, _)| *start);
            let part = (at - offset) as usize..(next - offset) as usize;
            let old = old.get(part.clone()).unwrap_or_default();
            let new = new.get(part).unwrap_or_default();
            let run = old.iter().zip(new).map(|(old, new)| old ^ new);
            runs.insert(at, run.collect());
            at = next;
        }
    }

    /// Bytes of a frame's view; says whether they stand in the stream.
    pub(super) fn view(
        &mut self,
        decoded: &Decoded<'_>,
        at: usize,
        old: &[u8],
        new: &[u8],
    ) -> bool {
        match decoded.frame.view.places {
            Places::Packed(_) => return old == new,
            Places::Run(offset) => self.stream(decoded.origin, offset + at as u64, old, new),
            Places::Pieces(pieces) => {
                let first = pieces.partition_point(|piece| piece.at as usize <= at);
                let pieces = pieces.get(first.saturating_sub(1)..).unwrap_or_default();
                let ends = pieces.iter().skip(1).map(|piece| piece.at as usize);
                for (piece, end) in pieces.iter().zip(ends.chain([usize::MAX])) {
                    let start = (piece.at as usize).max(at);
                    let part = start - at..(end - at).min(old.len());
                    let Some((old, new)) = old.get(part.clone()).zip(new.get(part)) else {
                        break;
                    };
                    let offset = piece.offset + (start - piece.at as usize) as u64;
                    self.stream(decoded.origin, offset, old, new);
                }
            }
        }
        true
    }

    /// Changes a chunk that begins at `offset`.
    pub(super) fn apply(&self, conn: u32, direction: Direction, offset: u64, bytes: &mut [u8]) {
        let Some(changes) = self.0.get(&(conn, direction)) else {
            return;
        };
        let end = offset + bytes.len() as u64;
        let before = changes.range(..offset).next_back();
        for (start, run) in before.into_iter().chain(changes.range(offset..end)) {
            let skip = offset.saturating_sub(*start) as usize;
            let first = start.saturating_sub(offset) as usize;
            let bytes = bytes.get_mut(first..).unwrap_or_default();
            for (byte, change) in bytes.iter_mut().zip(run.get(skip..).unwrap_or_default()) {
                *byte ^= change;
            }
        }
    }
}

/// Where a value's content stands, the content, and its stand-in.
pub(super) fn replace<'a>(
    node: Node<'a>,
    stand_in: &StandIn,
) -> Option<(usize, &'a [u8], Vec<u8>)> {
    let span = node.span();
    let whole = span.of(node.bytes());
    let (tail, old, made) = match node.value() {
        Value::Scalar(Scalar::Json(raw, _)) => {
            let text = std::str::from_utf8(raw).ok();
            let made = text.and_then(|text| spell(text, stand_in));
            // Spelled in no way that can be read: nothing of it may stay.
            (
                1,
                raw,
                made.map_or_else(|| vec![b'x'; raw.len()], String::into_bytes),
            )
        }
        Value::Scalar(Scalar::Str(raw)) => match std::str::from_utf8(raw) {
            Ok(text) => (0, raw, stand_in.text(text).into_bytes()),
            Err(_) => (0, raw, stand_in.bytes(raw)),
        },
        Value::Scalar(Scalar::Bin(raw) | Scalar::Ext(_, raw)) => (0, raw, stand_in.bytes(raw)),
        Value::Scalar(Scalar::Number(raw)) => {
            let text = std::str::from_utf8(raw).ok()?;
            (0, raw, stand_in.number(text).into_bytes())
        }
        Value::Scalar(Scalar::Uint(_) | Scalar::Int(_) | Scalar::F32(_) | Scalar::F64(_)) => {
            (0, whole, binary(whole, stand_in))
        }
        _ => return None,
    };
    let at = span.end().checked_sub(tail + old.len())?;
    Some((at, old, made))
}

/// Where text or bytes stand, their content, and other content of as many bytes, in the same spelling.
pub(super) fn rewrite<'a>(node: Node<'a>, made: &str) -> Option<(usize, &'a [u8], Vec<u8>)> {
    let raw = node.raw_content()?;
    let is_json = matches!(node.value(), Value::Scalar(Scalar::Json(..)));
    let made = if is_json {
        let made = respell(std::str::from_utf8(raw).ok()?, made);
        // Spelled in no way that can be read: nothing of it may stay.
        made.unwrap_or_else(|| "x".repeat(raw.len()))
    } else {
        made.to_owned()
    };
    let at = node
        .span()
        .end()
        .checked_sub(usize::from(is_json) + raw.len())?;
    (made.len() == raw.len()).then(|| (at, raw, made.into_bytes()))
}

/// A binary number: what tells its width stays, and with it the first byte of its size.
fn binary(old: &[u8], stand_in: &StandIn) -> Vec<u8> {
    let random = stand_in.bytes(old);
    let mut made = old.to_vec();
    match made.as_mut_slice() {
        [one] => {
            let random = random.first().copied().unwrap_or_default();
            *one = if *one < 0x80 {
                random & 0x7f
            } else {
                *one & 0xe0 | random & 0x1f
            };
        }
        [_, one] => *one = random.first().copied().unwrap_or_default() | 0x80,
        _ => {
            for (byte, random) in made.iter_mut().zip(&random).skip(2) {
                *byte = *random;
            }
        }
    }
    made
}

/// Everything in some bytes that is a letter or a digit.
pub(super) fn all(bytes: &[u8], stand_in: &StandIn) -> Vec<u8> {
    let mut made = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        made.extend(stand_in.text(chunk.valid()).bytes());
        made.extend(
            stand_in
                .bytes(chunk.invalid())
                .iter()
                .map(|byte| byte | 0x80),
        );
    }
    made
}

/// The stand-in for text of a URL, in the same spelling: what was escaped is.
pub(super) fn escaped(raw: &[u8], stand_in: &StandIn) -> Vec<u8> {
    let read = unescaped(raw);
    let mut made = read.iter().copied().zip(all(&read, stand_in));
    let mut out = Vec::with_capacity(raw.len());
    while let (Some(first), Some((old, new))) = (raw.get(out.len()), made.next()) {
        let three = raw.get(out.len()..out.len() + 3).filter(|_| *first == b'%');
        match three.filter(|three| unescaped(three).len() == 1) {
            Some(three) if old == new => out.extend_from_slice(three),
            Some(_) => out.extend_from_slice(format!("%{new:02X}").as_bytes()),
            None => out.push(new),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn origin() -> Origin {
        Origin {
            conn: Some(1),
            direction: Some(Direction::ToServer),
            time: None,
        }
    }

    #[test]
    fn a_run_is_one_entry_however_long() {
        let mut changes = Changes::default();
        changes.stream(origin(), 7, &vec![1; 100_000], &vec![3; 100_000]);
        changes.stream(origin(), 50, &vec![1; 200_000], &vec![9; 200_000]);
        let runs = changes.0.values().next().unwrap();
        let runs: Vec<_> = runs.iter().map(|(at, run)| (*at, run.len())).collect();
        assert_eq!(runs, [(7, 100_000), (100_007, 100_043)]);
    }

    proptest! {
        /// The first change of a byte counts, and chunks may cut the runs anywhere.
        #[test]
        fn changes_are_made_byte_by_byte(
            all in vec((0..40_usize, vec(any::<u8>(), 0..12)), 0..12),
            cut in 0..60_usize,
        ) {
            let (mut changes, mut want) = (Changes::default(), [None; 60]);
            for (at, new) in &all {
                changes.stream(origin(), *at as u64, &vec![0; new.len()], new);
                for (slot, byte) in want.iter_mut().skip(*at).zip(new) {
                    slot.get_or_insert(*byte);
                }
            }
            let mut bytes = [0; 60];
            let (first, second) = bytes.split_at_mut(cut);
            changes.apply(1, Direction::ToServer, 0, first);
            changes.apply(1, Direction::ToServer, cut as u64, second);
            prop_assert_eq!(bytes, want.map(Option::unwrap_or_default));
        }
    }

    #[test]
    fn escapes_are_kept() {
        let stand_in = StandIn::new([7; 32]);
        for raw in ["Zx81%2Fq%c3%A9%zz%4", "", "plain", "%41%42%43%44"] {
            let made = escaped(raw.as_bytes(), &stand_in);
            assert_eq!(made.len(), raw.len());
            let read = String::from_utf8(unescaped(raw.as_bytes())).unwrap();
            let read = stand_in.text(&read);
            assert_eq!(unescaped(&made), read.as_bytes(), "equal to the unescaped");
        }
        let made = escaped(b"Zx81%2Fq", &stand_in);
        assert_eq!(made[4..7], *b"%2F");
    }
}
