//! Finds secrets inside other bytes: plain, in Base64, or in hex.
//!
//! ```text
//!   haystack   "id":"x-Zx81aQ9b7"       aWQ6Wng4MWFROWI3         5a783831615139623720
//!   searched   the same                 id:Zx81aQ9b7             Zx81aQ9b7            each decoded from every start
//!   found         '-------'                '-------'             '-------'
//! ```
//!
//! One automaton searches for all secrets at once, so that the time depends on the size of the input and not on the number
//! of secrets. Its memory is bounded: large sets of secrets are searched in several batches.

use crate::framing::fields::unescaped;
use aho_corasick::Anchored;
use aho_corasick::automaton::Automaton as _;
use aho_corasick::nfa::contiguous::NFA;
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;

/// The maximum size of the secrets in one automaton, in bytes; the automaton takes about 30 times as much.
const MAX_BATCH: usize = 2 << 20;
/// The minimum length of secrets that are searched one by one, in bytes.
const MIN_LONG: usize = 64 << 10;
/// The number of times that JSON may be text in JSON.
const MAX_LEVELS: usize = 3;
/// The minimum length of a secret that is searched, in bytes.
pub(super) const MIN_SECRET: usize = 8;

/// Searches for secrets.
#[derive(Default)]
pub(super) struct SecretFinder {
    automaton: Option<NFA>,
    long: Vec<memmem::Finder<'static>>,
}

/// Splits secrets into batches, one for each finder, the longest first; at least one batch.
pub(super) fn batches(mut secrets: Vec<Vec<u8>>) -> Vec<Vec<Vec<u8>>> {
    secrets.retain(|secret| secret.len() >= MIN_SECRET);
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let (mut batches, mut size) = (vec![Vec::new()], 0);
    for secret in secrets {
        size += if secret.len() < MIN_LONG {
            secret.len()
        } else {
            0
        };
        if size > MAX_BATCH {
            size = secret.len();
            batches.push(Vec::new());
        }
        if let Some(batch) = batches.last_mut() {
            batch.push(secret);
        }
    }
    batches
}

impl SecretFinder {
    /// Creates a finder for one batch.
    pub(super) fn new(batch: &[Vec<u8>]) -> Self {
        let (short, long): (Vec<_>, Vec<_>) = batch.iter().partition(|s| s.len() < MIN_LONG);
        let long = long.into_iter();
        Self {
            // It fails only beyond 2 GiB of patterns.
            automaton: NFA::new(&short).ok().filter(|_| !short.is_empty()),
            long: long
                .map(|secret| memmem::Finder::new(secret).into_owned())
                .collect(),
        }
    }

    /// Returns the ranges that contain secrets, the longest first. They may overlap.
    pub(super) fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        if self.automaton.is_none() && self.long.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        self.search(bytes, &mut |range| found.push(range));
        let mut decoded = Vec::new();
        for (encoding, least) in [(&BASE64, MIN_SECRET * 4 / 3), (&HEX, MIN_SECRET * 2)] {
            for run in encoded_runs(bytes, encoding, least) {
                for start in run.start..run.start + encoding.starts {
                    let text = bytes.get(start..run.end).unwrap_or_default();
                    encoding.decode(text, &mut decoded);
                    self.search(&decoded, &mut |range| {
                        // The first and last characters also contain bits of adjacent bytes.
                        let first = (range.start * 8).div_ceil(encoding.bits);
                        let last = range.end * 8 / encoding.bits;
                        found.push(start + first..start + last);
                    });
                }
            }
        }
        let mut found = minimal_cover(found);
        found.sort_by_key(|range| std::cmp::Reverse(range.len()));
        found
    }

    /// Returns how bytes spell a secret, if they contain one.
    pub(super) fn spelling_in(&self, bytes: &[u8]) -> Option<&'static str> {
        if !self.find(bytes).is_empty() {
            return Some("as it is, in Base64 or in hex");
        }
        if memchr::memchr(b'%', bytes).is_some() && !self.find(&unescaped(bytes)).is_empty() {
            return Some("with the escapes of a URL");
        }
        let mut text = Cow::Borrowed(bytes);
        for _ in 0..MAX_LEVELS {
            memchr::memchr(b'\\', &text)?;
            text = Cow::Owned(without_json_escapes(&text));
            if !self.find(&text).is_empty() {
                return Some("with the escapes of JSON");
            }
        }
        None
    }

    /// Reports the longest secret that ends at each offset.
    fn search(&self, bytes: &[u8], report: &mut dyn FnMut(Range<usize>)) {
        for long in &self.long {
            for at in long.find_iter(bytes) {
                report(at..at + long.needle().len());
            }
        }
        let Some(nfa) = &self.automaton else { return };
        let Ok(mut state) = nfa.start_state(Anchored::No) else {
            return;
        };
        for (at, byte) in bytes.iter().enumerate() {
            state = nfa.next_state(Anchored::No, state, *byte);
            if nfa.is_special(state) && nfa.is_match(state) {
                // The first pattern belongs to the state itself, the others are its suffixes.
                let len = nfa.pattern_len(nfa.match_pattern(state, 0));
                report((at + 1).saturating_sub(len)..at + 1);
            }
        }
    }
}

/// Replaces the escapes of JSON strings by their characters, wherever they are.
fn without_json_escapes(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, escape) = rest.split_at(at);
        out.extend_from_slice(before);
        let end = escape.len().min(2);
        // A pair of surrogates is one character, and a lone one is none.
        let unit = |at: usize| {
            let digits = escape.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
            u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        let units: Vec<u16> = unit(0).into_iter().chain(unit(6)).collect();
        let taken = match char::decode_utf16(units).next() {
            Some(Ok(c)) => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                6 * c.len_utf16()
            }
            Some(Err(_)) => 6,
            None => {
                out.extend(escape.get(1).map(|c| match c {
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    other => *other,
                }));
                end
            }
        };
        rest = escape.get(taken..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// Returns the smallest set of these ranges that covers all of them.
fn minimal_cover(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut done = 0;
    let mut best: Option<Range<usize>> = None;
    for range in ranges {
        if range.start > done
            && let Some(best) = best.take()
        {
            done = best.end;
            out.push(best);
        }
        if range.start > done {
            done = range.start;
        }
        let better = best.as_ref().map_or(done, |best| best.end);
        if range.end > better {
            best = Some(range);
        }
    }
    out.extend(best);
    out
}

/// An encoding of bytes as text.
struct TextEncoding {
    /// The number of bits of a character.
    bits: usize,
    /// The number of successive characters at which a byte can start.
    starts: usize,
    value: fn(u8) -> Option<u8>,
}

const BASE64: TextEncoding = TextEncoding {
    bits: 6,
    starts: 4,
    value: |c| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    },
};

const HEX: TextEncoding = TextEncoding {
    bits: 4,
    starts: 2,
    value: |c| match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'a'..=b'f' => Some(c - b'a' + 10),
        b'A'..=b'F' => Some(c - b'A' + 10),
        _ => None,
    },
};

impl TextEncoding {
    /// Decodes the whole bytes of a text into `out`.
    fn decode(&self, text: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let (mut held, mut bits) = (0_u32, 0);
        for value in text.iter().filter_map(|c| (self.value)(*c)) {
            held = held << self.bits | u32::from(value);
            bits += self.bits;
            if bits >= 8 {
                bits -= 8;
                out.push((held >> bits) as u8);
                held &= (1 << bits) - 1;
            }
        }
    }
}

/// Returns the runs of at least `least` characters of an encoding.
fn encoded_runs<'b>(
    bytes: &'b [u8],
    encoding: &TextEncoding,
    least: usize,
) -> impl Iterator<Item = Range<usize>> + 'b {
    let value = encoding.value;
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let len = rest.iter().take_while(|c| value(**c).is_some()).count();
            let run = at..at + len;
            at = run.end + 1;
            if len >= least {
                return Some(run);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

    fn finder(secrets: &[&str]) -> SecretFinder {
        let secrets = secrets.iter().map(|s| s.as_bytes().to_vec()).collect();
        let batches = batches(secrets);
        assert_eq!(batches.len(), 1);
        SecretFinder::new(&batches[0])
    }

    fn found<'h>(finder: &SecretFinder, haystack: &'h str) -> Vec<&'h str> {
        let found = finder.find(haystack.as_bytes());
        found.into_iter().map(|range| &haystack[range]).collect()
    }

    #[test]
    fn longest_and_overlapping_secrets_are_found() {
        let finder = finder(&["abcdefgh", "cdefghijklm", "efghijkl", "12345678", "short"]);
        for (haystack, want) in [
            ("abcdefgh", &["abcdefgh"][..]),
            ("-abcdefghijklm-", &["cdefghijklm", "abcdefgh"]),
            ("cdefghijkl", &["efghijkl"]),
            ("12345678 abcdefghijk", &["12345678", "abcdefgh"]),
            ("short abcdefg", &[]),
        ] {
            assert_eq!(found(&finder, haystack), want, "{haystack}");
        }
        let repeated = "a".repeat(100_000);
        let one = self::finder(&[&repeated[..1000]]);
        assert!(
            one.find(repeated.as_bytes()).len() < 250,
            "no more than cover it"
        );
    }

    #[test]
    fn encoded_secrets_are_found_at_any_offset() {
        let secret = "s\u{fb}cr?>tvalue";
        let finder = finder(&[secret]);
        for before in ["", "1", "12", "123", "1234"] {
            let all = format!("{before}{secret}!");
            for text in [
                STANDARD.encode(&all),
                URL_SAFE_NO_PAD.encode(&all),
                hex::encode(&all),
                hex::encode_upper(&all),
                format!("x{}", STANDARD.encode(&all)),
                format!("abc{}", hex::encode(&all)),
            ] {
                let found = found(&finder, &text);
                assert_eq!(found.len(), 1, "{text}");
                assert!(found[0].len() * 8 / 6 >= secret.len(), "{text}");
            }
        }
        assert_eq!(found(&finder, &STANDARD.encode("another")), [""; 0]);
    }

    #[test]
    fn escaped_secrets_are_recognised() {
        let finder = finder(&["a/b \"c\" d\u{e9}\u{1f600}"]);
        for text in [
            r#"x a\/b \"c\" d\u00e9\ud83d\ude00 y"#,
            r#"{"t":"\u0061/b \u0022c\" d\u00E9\uD83D\uDE00"}"#,
            r#"\"a/b \\\"c\\\" d\\u00e9\\ud83d\\ude00\""#,
            "GET /?q=a%2fb%20%22c%22+%20d%C3%a9%F0%9F%98%80"
                .replace('+', "")
                .as_str(),
            "a/b%20\"c\"%20d\u{e9}%f0%9f%98%80",
        ] {
            let spelling = finder.spelling_in(text.as_bytes());
            assert!(
                spelling.is_some_and(|s| s.contains("escapes")),
                "{text}: {spelling:?}"
            );
        }
        for text in [r"a\/b \u", r"\ud83d", "\\", "%", "a/b", r"\u00g1"] {
            assert_eq!(finder.spelling_in(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn batches_are_bounded() {
        let secrets: Vec<_> = (0..100)
            .map(|n| vec![n; 50_000])
            .chain([vec![7; 100 << 20], vec![1; 7]])
            .collect();
        let batches = batches(secrets);
        assert_eq!(batches.len(), 3);
        assert_eq!(batches[0][0].len(), 100 << 20);
        assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), 101);
        assert_eq!(super::batches(Vec::new()).len(), 1);
    }
}
