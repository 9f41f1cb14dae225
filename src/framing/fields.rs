//! Fields of an HTTP head or trailer, found in any bytes: bytes that parsers refuse can still hold
//! a password.
//!
//! ```text
//!   Authorization : Bearer CR LF  SP Zx81aQ CR LF
//!   '- name -----'  '- value -----------------'          one field in two lines (RFC 9112 section 5.2)
//!   '- range ----------------------------------------'
//! ```
//!
//! [`secrets()`] finds the secrets in them, and [`masked()`] removes these. [`text_secrets()`] finds those in ordinary
//! text, where more is innocent.

mod credentials;
mod flags;
mod names;
mod secret;
mod secret_ranges;
mod shapes;
mod signs;
mod text;
mod values;

pub use credentials::{is_plain_secret, unescaped};
pub use flags::FlagValue;
pub use names::{ENDINGS, NAMES, is_pair_name, is_secret_field, is_secret_list, is_secret_name};
#[cfg(test)]
pub(crate) use names::{OTHER_TOKENS, QUERY_NAMES, WEB_ENDINGS, WEB_NAMES};
pub use secret::{masked, secrets};
pub use secret_ranges::{HeaderSecret, without};
#[cfg(test)]
pub(crate) use shapes::key_starts;
use std::ops::Range;
pub use text::text_secrets;

/// A field: one line of a head, or several lines if it is folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderField<'a> {
    /// The name without surrounding characters; empty if there is none.
    pub name: &'a [u8],
    /// The range of the whole field, line ends included.
    pub range: Range<usize>,
    /// The range of the value, line breaks inside included. Without a name: everything except the
    /// line end.
    pub value: Range<usize>,
}

impl HeaderField<'_> {
    /// Compares the name; the case of letters is ignored.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Returns `true` if the name makes the whole value secret.
    pub fn is_secret(&self) -> bool {
        secret::is_secret(self.name)
    }
}

/// Returns all lines of a head, folded lines joined. The first is the start line.
pub fn fields(bytes: &[u8]) -> impl Iterator<Item = HeaderField<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        at += line(bytes, at)?.len();
        let is_blank = slice(bytes, &(start..at)).trim_ascii().is_empty();
        while !is_blank && matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += line(bytes, at)?.len();
        }
        Some(field(bytes, start..at))
    })
}

/// Reads one field.
fn field(bytes: &[u8], range: Range<usize>) -> HeaderField<'_> {
    let all = slice(bytes, &range);
    let colon = memchr::memchr(b':', all);
    // This is not a field but JSON, in which [`secrets()`] searches for names.
    let colon = colon.filter(|colon| memchr::memchr(b'{', all).is_none_or(|brace| brace > *colon));
    let (name, value) = match colon {
        Some(colon) => (name(all.get(..colon).unwrap_or_default()), colon + 1),
        None => (&[][..], 0),
    };
    let value = trimmed(bytes, range.start + value..range.end);
    HeaderField { name, range, value }
}

/// Returns the name of a field without blanks, quotes and other characters around it that cannot be
/// part of a name.
fn name(before: &[u8]) -> &[u8] {
    let start = before.iter().position(|b| is_token(*b));
    let end = before.iter().rposition(|b| is_token(*b)).map(|at| at + 1);
    let name = start
        .zip(end)
        .and_then(|(start, end)| before.get(start..end));
    name.unwrap_or_default()
}

/// RFC 9110 section 5.6.2: the characters of a token.
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns the line at `at`, line end included: LF, CR LF, or a lone CR, which some peers accept as
/// a line end.
fn line(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
    let len = match memchr::memchr2(b'\r', b'\n', rest) {
        Some(end) if rest.get(end..end + 2) == Some(b"\r\n") => end + 2,
        Some(end) => end + 1,
        None => rest.len(),
    };
    Some(at..at + len)
}

fn slice<'a>(bytes: &'a [u8], range: &Range<usize>) -> &'a [u8] {
    bytes.get(range.clone()).unwrap_or_default()
}

/// Returns the range without blanks at both ends.
fn trimmed(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let all = slice(bytes, &range);
    let start = range.end - all.trim_ascii_start().len();
    start..start.max(range.start + all.trim_ascii_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_in_any_bytes() {
        let head = b"GET / HTTP/1.1\r\nAuthorization : Bearer\r\n Zx81\r\n\tb\nHost:h\rx\xff: \xe9\r\n\r\n body";
        let found: Vec<(String, String)> = fields(head)
            .map(|field| {
                let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
                (text(field.name), text(slice(head, &field.value)))
            })
            .collect();
        let want = [
            ("", "GET / HTTP/1.1"),
            ("Authorization", r"Bearer\r\n Zx81\r\n\tb"),
            ("Host", "h"),
            ("x", r"\xe9"),
            ("", ""),
            ("", "body"),
        ];
        let want = want.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(found, want);
        let ranges: Vec<u8> = fields(head)
            .flat_map(|field| slice(head, &field.range).to_vec())
            .collect();
        assert_eq!(ranges, head, "every byte is in one");
    }
}
