//! Ranges that are secret, as they are found.

use super::of;
use std::ops::Range;

/// What stands before credentials and is no secret.
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

/// A secret in a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Where it stands.
    pub range: Range<usize>,
    /// Percent signs in it escape bytes, as they do in a URL.
    pub escaped: bool,
}

#[derive(Default)]
pub(super) struct Found(Vec<Secret>);

impl Found {
    pub(super) fn add(&mut self, bytes: &[u8], range: Range<usize>, escaped: bool) {
        // Quotes and commas come from text that quotes a head.
        let is_edge = |b: &u8| b.is_ascii_whitespace() || b"\"',".contains(b);
        let all = of(bytes, &range);
        let first = all.iter().position(|b| !is_edge(b));
        let last = all.iter().rposition(|b| !is_edge(b));
        if let Some((first, last)) = first.zip(last) {
            let range = range.start + first..range.start + last + 1;
            self.0.push(Secret { range, escaped });
        }
    }

    /// Those that overlap become one.
    pub(super) fn in_order(mut self) -> Vec<Secret> {
        self.0
            .sort_by_key(|secret| (secret.range.start, usize::MAX - secret.range.end));
        let mut out: Vec<Secret> = Vec::with_capacity(self.0.len());
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

/// What follows the scheme, of which any word may be one, or only those that are known.
pub(super) fn credentials(bytes: &[u8], value: Range<usize>, any: bool) -> Range<usize> {
    let all = of(bytes, &value);
    let end = all.iter().position(u8::is_ascii_whitespace);
    let first = all.get(..end.unwrap_or(all.len())).unwrap_or_default();
    let known = SCHEMES.iter().any(|scheme| {
        first
            .trim_ascii_start()
            .eq_ignore_ascii_case(scheme.as_bytes())
    });
    match end {
        None if known => value.end..value.end,
        Some(end) if known || any => value.start + end..value.end,
        _ => value,
    }
}
