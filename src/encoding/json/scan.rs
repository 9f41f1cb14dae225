//! Scans the text of JSON strings, several bytes at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of every byte of a word that a JSON string cannot hold unescaped. (Bits above
/// the lowest set bit can be wrong; the lowest is correct.)
#[inline]
pub(super) const fn must_escape(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    ((quote.wrapping_sub(ONES) & !quote) | (slash.wrapping_sub(ONES) & !slash) | control) & HIGH
}

/// Returns the number of bytes at the start that need no escape: no quote, no backslash, none below
/// 0x20.
#[inline(always)]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    // Most keys end within a word, which is not worth a call.
    match bytes
        .first_chunk::<8>()
        .map(|c| must_escape(u64::from_le_bytes(*c)))
    {
        Some(hit) if hit != 0 => (hit.trailing_zeros() / 8) as usize,
        _ => plain_run_long(bytes),
    }
}

/// Returns the number of bytes before the next quote; `usize::MAX` if there is none.
#[inline(always)]
pub(super) fn until_quote(bytes: &[u8]) -> usize {
    let quotes = |word: u64| {
        let quote = word ^ (ONES * b'"' as u64);
        quote.wrapping_sub(ONES) & !quote & HIGH
    };
    match bytes
        .first_chunk::<8>()
        .map(|c| quotes(u64::from_le_bytes(*c)))
    {
        Some(hit) if hit != 0 => (hit.trailing_zeros() / 8) as usize,
        _ => memchr::memchr(b'"', bytes).unwrap_or(usize::MAX),
    }
}

fn plain_run_long(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|b| b.first_chunk::<8>()) {
        let hit = must_escape(u64::from_le_bytes(*chunk));
        if hit != 0 {
            return at + (hit.trailing_zeros() / 8) as usize;
        }
        at += 8;
        // Long text: sixteen bytes at a time, in a form that compilers turn into vector
        // instructions.
        while let Some(chunk) = bytes.get(at..).and_then(|b| b.first_chunk::<16>()) {
            let hit = chunk.iter().fold(false, |hit, &b| {
                hit || (b < 0x20) || (b == b'"') || (b == b'\\')
            });
            if hit {
                break;
            }
            at += 16;
        }
    }
    let tail = bytes.get(at..).unwrap_or_default();
    at + tail
        .iter()
        .position(|&b| b < 0x20 || b == b'"' || b == b'\\')
        .unwrap_or(tail.len())
}

/// Returns the position of a lone surrogate escape in valid JSON text. The grammar allows it (RFC
/// 8259 section 8.2), but it is not text, and some parsers refuse it.
pub fn lone_surrogate(text: &[u8]) -> Option<usize> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', text.get(at..)?) {
        at += found;
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => return Some(at),
            Some(_) => at += 6,
            // Any other escape is a backslash and one character.
            None => at += 2,
        }
    }
    None
}
