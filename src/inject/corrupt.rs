//! Chooses the bytes of a value to change, so that everything around it reads as before.
//!
//! ```text
//!   "math.add"  ->  "maqh.add"      a letter is another letter, a digit another digit
//!   true        ->  null            a5 68 65 6c 6c 6f  ->  a5 68 65 6c 7a 6f
//! ```

use crate::tape::{Node, Scalar, Value};
use fastrand::Rng;

/// A position in the view, and its new byte.
pub(super) type ByteChange = (usize, u8);

/// Changes one byte of a body.
pub(super) fn byte(body: &[u8], rng: &mut Rng) -> Option<ByteChange> {
    if body.is_empty() {
        return None;
    }
    let at = rng.usize(..body.len());
    let was = *body.get(at)?;
    loop {
        let is = rng.u8(..);
        // A new line end would make two messages instead of a corrupt one.
        if is != was && !matches!(is, b'\n' | b'\r') {
            return Some((at, is));
        }
    }
}

/// Changes a value; in an array or a map, one of its values.
pub(super) fn value(node: Node<'_>, bytes: &[u8], rng: &mut Rng) -> Vec<ByteChange> {
    let mut node = node;
    loop {
        let mut inner: Vec<Node<'_>> = if node.is_map() {
            node.members().map(|(_, value)| value).collect()
        } else {
            node.children().collect()
        };
        if inner.is_empty() {
            return leaf(node, bytes, rng).unwrap_or_default();
        }
        node = inner.swap_remove(rng.usize(..inner.len()));
    }
}

fn leaf(node: Node<'_>, bytes: &[u8], rng: &mut Rng) -> Option<Vec<ByteChange>> {
    let span = node.span();
    let (start, end) = (span.at(), span.end());
    let last = end.checked_sub(1).filter(|last| *last >= start)?;
    let text = span.of(bytes);
    // Literals of JSON are exchanged; a blank after a value does not belong to it.
    let literal: Option<&[u8]> = match text {
        b"true" => Some(b"null"),
        b"null" => Some(b"true"),
        b"false" => Some(b"null "),
        _ => None,
    };
    if let Some(literal) = literal {
        let changes = literal.iter().copied().enumerate();
        return Some(changes.map(|(n, is)| (start + n, is)).collect());
    }
    let inside = |len: usize| last + 1 - len.min(last + 1);
    match node.value() {
        Value::Scalar(Scalar::Number(_)) => letter(bytes, start..end, rng),
        Value::Scalar(Scalar::Json(content, _)) => {
            let from = last.checked_sub(content.len())?;
            letter(bytes, from..last, rng)
        }
        Value::Scalar(Scalar::Str(content)) => letter(bytes, inside(content.len())..end, rng),
        Value::Scalar(Scalar::Bin(content) | Scalar::Ext(_, content)) if !content.is_empty() => {
            let from = inside(content.len());
            let (at, is) = byte(bytes.get(from..end)?, rng)?;
            Some(vec![(from + at, is)])
        }
        Value::Scalar(Scalar::Null) => Some(vec![(last, 0xc2)]),
        Value::Scalar(Scalar::Bin(_) | Scalar::Ext(..)) => None,
        Value::Scalar(_) => Some(vec![(last, bytes.get(last)? ^ 1)]),
        _ => match text {
            [b'[', .., b']'] => Some(vec![(start, b'{'), (last, b'}')]),
            [b'{', .., b'}'] => Some(vec![(start, b'['), (last, b']')]),
            [0x80 | 0x90] => Some(vec![(start, bytes.get(start)? ^ 0x10)]),
            _ => None,
        },
    }
}

/// Exchanges one letter or digit, outside escapes, for another of its kind.
fn letter(bytes: &[u8], within: std::ops::Range<usize>, rng: &mut Rng) -> Option<Vec<ByteChange>> {
    let mut candidates = Vec::new();
    let mut at = within.start;
    while at < within.end {
        match bytes.get(at)? {
            b'\\' => {
                at += if bytes.get(at + 1) == Some(&b'u') {
                    5
                } else {
                    1
                }
            }
            b if b.is_ascii_alphanumeric() => candidates.push((at, *b)),
            _ => {}
        }
        at += 1;
    }
    // The x of 0x and the e of an exponent are not exchanged.
    let digits: Vec<_> = candidates
        .iter()
        .copied()
        .filter(|(_, b)| b.is_ascii_digit())
        .collect();
    let number = bytes.get(within.start).is_some_and(u8::is_ascii_digit);
    let candidates = if number && !digits.is_empty() {
        digits
    } else {
        candidates
    };
    let (at, was) = *candidates.get(rng.usize(..candidates.len().max(1)))?;
    let (first, count) = match was {
        b'0'..=b'9' => (b'1', 9),
        b'a'..=b'z' => (b'a', 26),
        _ => (b'A', 26),
    };
    loop {
        let is = first + rng.u8(..count);
        if is != was {
            return Some(vec![(at, is)]);
        }
    }
}
