//! Writes JSON.

use super::scan::{lone_surrogate, must_escape, plain_run};
#[cfg(feature = "cli")]
use crate::tape::Node;

/// Copies JSON text onto one line: line breaks, which are only between tokens, become spaces.
pub fn write_text(text: &[u8], has_breaks: bool, out: &mut Vec<u8>) {
    write_piece(text.trim_ascii(), has_breaks, out);
}

/// Copies a piece of JSON text as [`write_text`] does, white space around it included.
pub(crate) fn write_piece(text: &[u8], has_breaks: bool, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text);
    if has_breaks {
        for byte in out.get_mut(start..).unwrap_or_default() {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

/// Replaces every lone surrogate in JSON text by U+FFFD.
#[cold]
pub(crate) fn replace_lone_surrogates(mut text: &mut [u8]) {
    const REPLACEMENT: &[u8] = b"\\ufffd";
    while let Some((_, rest)) = lone_surrogate(text).and_then(|at| text.split_at_mut_checked(at)) {
        let Some((escape, rest)) = rest.split_at_mut_checked(REPLACEMENT.len()) else {
            return;
        };
        escape.copy_from_slice(REPLACEMENT);
        text = rest;
    }
}

/// Writes text as a JSON string, quotes included.
#[inline]
pub fn write_str(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    write_escaped(text.as_bytes(), out);
    out.push(b'"');
}

/// Writes UTF-8 and escapes the characters that JSON strings cannot hold.
#[inline]
pub(crate) fn write_escaped(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        let hit = must_escape(word);
        if hit == 0 {
            let (run, tail) = rest.split_at(8 + plain_run(after));
            out.extend_from_slice(run);
            rest = tail;
            continue;
        }
        let bits = hit.trailing_zeros() / 8 * 8;
        let byte = (word >> bits) as u8;
        rest = rest.get(bits as usize / 8 + 1..).unwrap_or_default();
        // JSON in a text has many quotes: they are written with what is before them.
        let clean = word & ((1 << bits) - 1);
        let escape = u128::from(u16::from_le_bytes([b'\\', byte])) << bits;
        out.extend_from_slice(&(u128::from(clean) | escape).to_le_bytes());
        out.truncate(out.len() - 14 + bits as usize / 8);
        if byte < 0x20 {
            out.truncate(out.len() - 2);
            write_escape(byte, out);
        }
    }
    for byte in rest {
        match byte {
            b'"' | b'\\' | 0..0x20 => write_escape(*byte, out),
            _ => out.push(*byte),
        }
    }
}

#[cold]
fn write_escape(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
    }
}

/// Copies a few bytes as words, because a call to copy ten bytes takes longer.
#[inline]
pub(crate) fn push_short(bytes: &[u8], out: &mut Vec<u8>) {
    let len = bytes.len();
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) if len <= 16 => {
            out.extend_from_slice(first);
            // The last eight overlap the first: the duplicate bytes are removed.
            out.truncate(out.len() + len - 16);
            out.extend_from_slice(last);
        }
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) if len <= 8 => {
                out.extend_from_slice(first);
                out.truncate(out.len() + len - 8);
                out.extend_from_slice(last);
            }
            _ if len < 4 => bytes.iter().for_each(|byte| out.push(*byte)),
            _ => out.extend_from_slice(bytes),
        },
    }
}

/// Writes text as a JSON string, and the byte `after`, if it is ASCII and needs no escape, like
/// nearly all keys and most values. Otherwise writes nothing and returns `false`.
#[inline]
pub fn write_short(text: &[u8], after: u8, out: &mut Vec<u8>) -> bool {
    match *text {
        [] => out.extend_from_slice(&[b'"', b'"', after]),
        [a] if is_plain(&[a]) => out.extend_from_slice(&[b'"', a, b'"', after]),
        [a, b] if is_plain(&[a, b]) => out.extend_from_slice(&[b'"', a, b, b'"', after]),
        [a, b, c] if is_plain(&[a, b, c]) => {
            out.extend_from_slice(&[b'"', a, b, c, b'"', after]);
        }
        _ => {
            return match text.len() {
                0..4 => false,
                4..=8 => quote_ends::<4, 11>(text, after, out),
                9..=16 => quote_ends::<8, 19>(text, after, out),
                17..=32 => quote_ends::<16, 35>(text, after, out),
                33..=64 => quote_ends::<32, 67>(text, after, out),
                _ => false,
            };
        }
    }
    true
}

/// [`write_short`] for `N` to `2 * N` bytes: the first `N` and the last `N`, which can overlap, are
/// all of them. `ROOM` is the maximum output length.
#[inline]
fn quote_ends<const N: usize, const ROOM: usize>(
    text: &[u8],
    after: u8,
    out: &mut Vec<u8>,
) -> bool {
    let len = text.len();
    let (Some(first), Some(last)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) else {
        return false;
    };
    if !(is_plain(first) & is_plain(last)) {
        return false;
    }
    // Assembled in place: small writes followed at once by one large copy would stall the
    // processor.
    out.extend_from_slice(&[b'"'; ROOM]);
    if let Some(item) = out.last_chunk_mut::<ROOM>() {
        item[1..=N].copy_from_slice(first);
        item[len + 1 - N..=len].copy_from_slice(last);
        item[len + 1] = b'"';
        item[len + 2] = after;
    }
    out.truncate(out.len() + len + 3 - ROOM);
    true
}

/// Returns `true` if all bytes are ASCII and need no escape. A fixed length without branches
/// compiles to a few vector instructions.
#[inline]
#[allow(clippy::needless_bitwise_bool)]
fn is_plain<const N: usize>(text: &[u8; N]) -> bool {
    let odd = |b: u8| !(0x20..0x80).contains(&b) | (b == b'"') | (b == b'\\');
    !text.iter().fold(false, |any, &b| any | odd(b))
}

#[cfg(feature = "cli")]
/// Writes a value that was read from JSON over several lines; `depth` is that of its lines.
pub fn write_lines(node: Node<'_>, depth: usize, out: &mut Vec<u8>) {
    let line = |depth: usize, out: &mut Vec<u8>| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', 2 * depth));
    };
    let (open, close) = match (node.is_map(), node.is_array()) {
        (true, _) => (b'{', b'}'),
        (_, true) => (b'[', b']'),
        _ => return out.extend_from_slice(node.span().of(node.bytes())),
    };
    out.push(open);
    let mut first = true;
    let mut comma = |out: &mut Vec<u8>| {
        if !std::mem::take(&mut first) {
            out.push(b',');
        }
        line(depth + 1, out);
    };
    if node.is_map() {
        for (key, value) in node.members() {
            comma(out);
            write_str(&key.text().unwrap_or_default(), out);
            out.extend_from_slice(b": ");
            write_lines(value, depth + 1, out);
        }
    } else {
        for value in node.children() {
            comma(out);
            write_lines(value, depth + 1, out);
        }
    }
    if !first {
        line(depth, out);
    }
    out.push(close);
}

#[cfg(feature = "cli")]
/// Copies JSON text without the white space between tokens.
pub fn write_compact(text: &[u8], out: &mut Vec<u8>) {
    let (mut in_string, mut escaped) = (false, false);
    for &byte in text {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte.is_ascii_whitespace() {
            continue;
        } else {
            in_string = byte == b'"';
        }
        out.push(byte);
    }
}
