//! The forms in which heads and texts write credentials.
//!
//! ```text
//!   token=Zx81        a key and its value, also of --env=TOKEN=Zx81
//!   me:Zx81@host      a user and a password before a host
//!   a=Zx81; b=Zx82    cookies
//! ```

use super::names::is_secret_name;
use super::secret_ranges::FoundSecrets;
use super::slice;
use std::ops::Range;

/// The maximum length of a name or key.
pub(super) const MAX_NAME: usize = 256;
/// The minimum length of a word that looks random.
pub(super) const MIN_RANDOM: usize = 16;
/// The minimum length of a value after a name without quotes, `token: Zx8181`.
pub(super) const MIN_VALUE: usize = 6;
/// The maximum length of a word of a language.
const MAX_WORD: usize = 24;

/// A key before an equals sign.
pub(super) struct Key<'b> {
    pub(super) name: &'b [u8],
    /// It is a parameter of a URL or a form.
    pub(super) in_query: bool,
    equals: usize,
}

impl<'b> Key<'b> {
    /// Returns the key that ends at an equals sign.
    pub(super) fn before(all: &'b [u8], equals: usize) -> Option<Self> {
        let before = all.get(equals.saturating_sub(MAX_NAME)..equals)?;
        let is_key = |b: &u8| b.is_ascii_alphanumeric() || b"-_.~%[]+".contains(b);
        let len = before.iter().rev().take_while(|b| is_key(b)).count();
        let start = equals - len;
        let lead = start.checked_sub(1).and_then(|at| all.get(at));
        let leads = |b: &u8| b.is_ascii_whitespace() || b"=?&#;,\"'`({".contains(b);
        (len > 0 && lead.is_none_or(leads)).then_some(Self {
            name: all.get(start..equals)?,
            in_query: matches!(lead, Some(b'?' | b'&')),
            equals,
        })
    }

    /// Returns the range of its value, without quotes.
    pub(super) fn value(&self, all: &[u8]) -> Range<usize> {
        let rest = all.get(self.equals + 1..).unwrap_or_default();
        let quotes = rest.iter().take_while(|b| b"\"'".contains(b)).count();
        let ends = |b: &u8| {
            b.is_ascii_whitespace() || b"&#\"'<>".contains(b) || !self.in_query && b";,".contains(b)
        };
        let value = rest.get(quotes..).unwrap_or_default();
        let len = value.iter().position(ends).unwrap_or(value.len());
        let start = self.equals + 1 + quotes;
        start..start + len
    }
}

pub(super) fn add_cookie(bytes: &[u8], pair: Range<usize>, found: &mut FoundSecrets) {
    let equals = memchr::memchr(b'=', slice(bytes, &pair));
    let start = pair.start + equals.map_or(0, |at| at + 1);
    found.add(bytes, start..pair.end, false);
}

/// Finds the secrets of `me:Zx81@host`: the password, and the name if it is alone or looks random.
pub(super) fn authority(bytes: &[u8], place: Range<usize>, found: &mut FoundSecrets) {
    let all = slice(bytes, &place);
    let Some(at) = memchr::memrchr(b'@', all) else {
        return;
    };
    let user = all.get(..at).unwrap_or_default();
    let colon = memchr::memchr(b':', user);
    let name = user.get(..colon.unwrap_or(at)).unwrap_or_default();
    if colon.is_none() || is_random(name) {
        found.add(bytes, place.start..place.start + name.len(), true);
    }
    if let Some(colon) = colon {
        found.add(bytes, place.start + colon + 1..place.start + at, true);
    }
}

/// Returns `true` if this looks random: long, with digits, and with capitals or without hyphens.
pub(super) fn is_random(word: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| word.iter().any(is);
    let is_hex = || word.iter().all(|b| b.is_ascii_hexdigit() || *b == b'-');
    let is_word = word
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || b"-_~=".contains(b));
    word.len() >= MIN_RANDOM
        && is_word
        && has(u8::is_ascii_digit)
        && (has(u8::is_ascii_uppercase) || !word.contains(&b'-') || is_hex())
}

/// Returns `true` for a word, a constant, a placeholder, or an expression of a programming language.
pub(super) fn looks_innocent(value: &[u8]) -> bool {
    let is_name = |b: &u8| b.is_ascii_alphabetic() || b"_-.".contains(b);
    let len = value.iter().take_while(|b| is_name(b)).count();
    let name = value.get(..len).unwrap_or_default();
    match value.get(len) {
        Some(b'(' | b'[') => true,
        Some(b'$' | b'{' | b'%' | b'*' | b'<') => len == 0,
        Some(b) if !b")]}.,;:!?".contains(b) => false,
        _ => {
            let small = !name.iter().skip(1).any(u8::is_ascii_uppercase);
            small && len <= MAX_WORD || is_secret_name(name)
        }
    }
}

/// Returns `true` for a value after a plain name, which is neither a word nor code: `hunter22`, but not `u32` or `Vec<u8>`.
pub fn is_plain_secret(value: &[u8]) -> bool {
    value.len() >= MIN_VALUE
        && value.iter().any(u8::is_ascii_digit)
        && !value.iter().any(|b| b"()[]{}<>".contains(b))
}

/// Decodes the percent escapes of a URL.
pub fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let digits = after.first_chunk::<2>().filter(|_| *first == b'%');
        let mut byte = [0];
        if digits.is_some_and(|digits| hex::decode_to_slice(digits, &mut byte).is_ok()) {
            out.extend(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out
}

/// Returns the parts between separators.
pub(super) fn split(
    bytes: &[u8],
    range: Range<usize>,
    by: u8,
) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    slice(bytes, &range)
        .split(move |b| *b == by)
        .map(move |part| {
            let part = start..start + part.len();
            start = part.end + 1;
            part
        })
}
