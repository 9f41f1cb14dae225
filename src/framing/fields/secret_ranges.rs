//! Collects the ranges of secrets.

use super::slice;
use std::borrow::Cow;
use std::ops::Range;

/// Authentication schemes: they precede credentials and are not secret.
const SCHEMES: [&str; 9] = [
    "apikey",
    "basic",
    "bearer",
    "digest",
    "dpop",
    "hawk",
    "negotiate",
    "ntlm",
    "token",
];

/// A secret in a head or in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderSecret {
    /// The range of its bytes.
    pub range: Range<usize>,
    /// Percent signs escape bytes, as in a URL.
    pub escaped: bool,
}

#[derive(Default)]
pub(super) struct FoundSecrets(Vec<HeaderSecret>);

impl FoundSecrets {
    pub(super) fn add(&mut self, bytes: &[u8], range: Range<usize>, escaped: bool) {
        // Quotes and commas come from text that quotes a head.
        let is_edge = |b: &u8| b.is_ascii_whitespace() || b"\"',".contains(b);
        let all = slice(bytes, &range);
        let first = all.iter().position(|b| !is_edge(b));
        let last = all.iter().rposition(|b| !is_edge(b));
        if let Some((first, last)) = first.zip(last) {
            let range = range.start + first..range.start + last + 1;
            self.0.push(HeaderSecret { range, escaped });
        }
    }

    /// Adds secrets whose ranges count from an offset.
    pub(super) fn append(&mut self, other: Self, offset: usize) {
        let moved = other.0.into_iter().map(|secret| HeaderSecret {
            range: secret.range.start + offset..secret.range.end + offset,
            ..secret
        });
        self.0.extend(moved);
    }

    /// Sorts the ranges and merges those that overlap.
    #[inline]
    pub(super) fn into_sorted(self) -> Vec<HeaderSecret> {
        // Most texts have none.
        if self.0.is_empty() {
            return Vec::new();
        }
        self.sorted()
    }

    fn sorted(mut self) -> Vec<HeaderSecret> {
        self.0
            .sort_by_key(|secret| (secret.range.start, usize::MAX - secret.range.end));
        let mut out: Vec<HeaderSecret> = Vec::with_capacity(self.0.len());
        for secret in self.0 {
            match out.last_mut() {
                Some(last) if secret.range.start < last.range.end => {
                    last.range.end = last.range.end.max(secret.range.end);
                }
                _ => out.push(secret),
            }
        }
        out
    }
}

/// Returns text with `(secret)` in the place of its secrets.
pub fn without<'t>(text: &'t str, secrets: &[HeaderSecret]) -> Cow<'t, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut at) = (String::new(), 0);
    for HeaderSecret { range, .. } in secrets {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str("(secret)");
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns `true` for an authentication scheme.
pub(super) fn is_scheme(word: &[u8]) -> bool {
    let is = |scheme: &&str| word.eq_ignore_ascii_case(scheme.as_bytes());
    SCHEMES.iter().any(is)
}

/// Returns the range after the scheme. If `any` is set, each token counts as a scheme; otherwise
/// only the known ones.
pub(super) fn credentials(bytes: &[u8], value: Range<usize>, any: bool) -> Range<usize> {
    let all = slice(bytes, &value);
    let end = all.iter().position(u8::is_ascii_whitespace);
    let first = all.get(..end.unwrap_or(all.len())).unwrap_or_default();
    let known = is_scheme(first.trim_ascii_start());
    match end {
        None if known => value.end..value.end,
        Some(end) if known || any => value.start + end..value.end,
        _ => value,
    }
}
