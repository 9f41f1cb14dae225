//! Stores the positions of secrets and the changes there.

use super::replacement::{Replacer, copy_spelling, replace_json_text};
use crate::decoder::{Decoded, Origin};
use crate::framing::Places;
use crate::framing::fields::unescaped;
use crate::protocol::Lane;
use crate::tape::{Node, Scalar, Value};
use std::collections::BTreeMap;

/// The changes: runs of bytes by their offsets in the stream of their direction, as old xor new, which is the same for
/// masked bytes. Runs do not overlap.
#[derive(Default)]
pub(super) struct Changes(BTreeMap<Lane, BTreeMap<u64, Vec<u8>>>);

impl Changes {
    /// Changes bytes of a stream. Bytes that were changed before stay as they are.
    pub(super) fn change_stream(&mut self, origin: Origin, offset: u64, old: &[u8], new: &[u8]) {
        let runs = self.0.entry(origin.lane()).or_default();
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

    /// Changes bytes of the view of a frame. Returns true if the stream contains these bytes.
    pub(super) fn change_view(
        &mut self,
        decoded: &Decoded<'_>,
        at: usize,
        old: &[u8],
        new: &[u8],
    ) -> bool {
        match decoded.frame.view.places {
            Places::Packed(_) => return old == new,
            Places::Run(offset) => self.change_stream(decoded.origin, offset + at as u64, old, new),
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
                    self.change_stream(decoded.origin, offset, old, new);
                }
            }
        }
        true
    }

    /// Combines a chunk that starts at `offset` with the changes.
    pub(super) fn xor(&self, lane: Lane, offset: u64, bytes: &mut [u8]) {
        let Some(changes) = self.0.get(&lane) else {
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

/// Returns the offset of the content of a value, the content, and its replacement.
pub(super) fn replace_value<'a>(
    node: Node<'a>,
    replacer: &Replacer,
) -> Option<(usize, &'a [u8], Vec<u8>)> {
    let span = node.span();
    let whole = span.of(node.bytes());
    let (tail, old, rewritten) = match node.value() {
        Value::Scalar(Scalar::Json(raw, _)) => {
            let text = std::str::from_utf8(raw).ok();
            let rewritten = text.and_then(|text| replace_json_text(text, replacer));
            // The spelling cannot be read: all of it is rewritten.
            (
                1,
                raw,
                rewritten.map_or_else(|| vec![b'x'; raw.len()], String::into_bytes),
            )
        }
        Value::Scalar(Scalar::Str(raw)) => match std::str::from_utf8(raw) {
            Ok(text) => (0, raw, replacer.replace_text(text).into_bytes()),
            Err(_) => (0, raw, replacer.replace_bytes(raw)),
        },
        Value::Scalar(Scalar::Bin(raw) | Scalar::Ext(_, raw)) => {
            (0, raw, replacer.replace_bytes(raw))
        }
        Value::Scalar(Scalar::Number(raw)) => {
            let text = std::str::from_utf8(raw).ok()?;
            (0, raw, replacer.replace_number(text).into_bytes())
        }
        Value::Scalar(Scalar::Uint(_) | Scalar::Int(_) | Scalar::F32(_) | Scalar::F64(_)) => {
            (0, whole, replace_binary(whole, replacer))
        }
        _ => return None,
    };
    let at = span.end().checked_sub(tail + old.len())?;
    Some((at, old, rewritten))
}

/// Returns the offset of text or bytes, the content, and new content of the same length in the same spelling.
pub(super) fn rewrite_value<'a>(
    node: Node<'a>,
    rewritten: &str,
) -> Option<(usize, &'a [u8], Vec<u8>)> {
    let raw = node.raw_content()?;
    let is_json = matches!(node.value(), Value::Scalar(Scalar::Json(..)));
    let rewritten = if is_json {
        let rewritten = copy_spelling(std::str::from_utf8(raw).ok()?, rewritten);
        // The spelling cannot be read: all of it is rewritten.
        rewritten.unwrap_or_else(|| "x".repeat(raw.len()))
    } else {
        rewritten.to_owned()
    };
    let at = node
        .span()
        .end()
        .checked_sub(usize::from(is_json) + raw.len())?;
    (rewritten.len() == raw.len()).then(|| (at, raw, rewritten.into_bytes()))
}

/// Replaces a binary number. The bytes that encode its width and the first byte of its value stay.
fn replace_binary(old: &[u8], replacer: &Replacer) -> Vec<u8> {
    let random = replacer.replace_bytes(old);
    let mut rewritten = old.to_vec();
    match rewritten.as_mut_slice() {
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
            for (byte, random) in rewritten.iter_mut().zip(&random).skip(2) {
                *byte = *random;
            }
        }
    }
    rewritten
}

/// Replaces all letters and digits in some bytes.
pub(super) fn replace_alphanumerics(bytes: &[u8], replacer: &Replacer) -> Vec<u8> {
    let mut rewritten = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        rewritten.extend(replacer.replace_text(chunk.valid()).bytes());
        rewritten.extend(
            replacer
                .replace_bytes(chunk.invalid())
                .iter()
                .map(|byte| byte | 0x80),
        );
    }
    rewritten
}

/// Returns the replacement for text of a URL, with the same characters escaped.
pub(super) fn replace_escaped(raw: &[u8], replacer: &Replacer) -> Vec<u8> {
    let read = unescaped(raw);
    let mut rewritten = read
        .iter()
        .copied()
        .zip(replace_alphanumerics(&read, replacer));
    let mut out = Vec::with_capacity(raw.len());
    while let (Some(first), Some((old, new))) = (raw.get(out.len()), rewritten.next()) {
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
    use crate::protocol::Direction;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn origin() -> Origin {
        Origin {
            conn: Some(1),
            direction: Some(Direction::ToServer),
            ..Origin::default()
        }
    }

    #[test]
    fn long_run_is_one_entry() {
        let mut changes = Changes::default();
        changes.change_stream(origin(), 7, &vec![1; 100_000], &vec![3; 100_000]);
        changes.change_stream(origin(), 50, &vec![1; 200_000], &vec![9; 200_000]);
        let runs = changes.0.values().next().unwrap();
        let runs: Vec<_> = runs.iter().map(|(at, run)| (*at, run.len())).collect();
        assert_eq!(runs, [(7, 100_000), (100_007, 100_043)]);
    }

    proptest! {
        /// The first change of a byte counts, and the chunks may split the runs anywhere.
        #[test]
        fn first_change_of_each_byte_counts(
            all in vec((0..40_usize, vec(any::<u8>(), 0..12)), 0..12),
            cut in 0..60_usize,
        ) {
            let (mut changes, mut want) = (Changes::default(), [None; 60]);
            for (at, new) in &all {
                changes.change_stream(origin(), *at as u64, &vec![0; new.len()], new);
                for (slot, byte) in want.iter_mut().skip(*at).zip(new) {
                    slot.get_or_insert(*byte);
                }
            }
            let mut bytes = [0; 60];
            let (first, second) = bytes.split_at_mut(cut);
            changes.xor(origin().lane(), 0, first);
            changes.xor(origin().lane(), cut as u64, second);
            prop_assert_eq!(bytes, want.map(Option::unwrap_or_default));
        }
    }

    #[test]
    fn replacement_escapes_the_same_characters() {
        let replacer = Replacer::new([7; 32]);
        for raw in ["Zx81%2Fq%c3%A9%zz%4", "", "plain", "%41%42%43%44"] {
            let rewritten = replace_escaped(raw.as_bytes(), &replacer);
            assert_eq!(rewritten.len(), raw.len());
            let read = String::from_utf8(unescaped(raw.as_bytes())).unwrap();
            let read = replacer.replace_text(&read);
            assert_eq!(
                unescaped(&rewritten),
                read.as_bytes(),
                "equal to the unescaped"
            );
        }
        let rewritten = replace_escaped(b"Zx81%2Fq", &replacer);
        assert_eq!(rewritten[4..7], *b"%2F");
    }
}
