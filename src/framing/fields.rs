//! The fields of an HTTP head or trailer, from any bytes: what parsers refuse may hold a password all the same.
//!
//! ```text
//!   Authorization : Bearer CR LF  SP Zx81aQ CR LF
//!   '- name -----'  '- value -----------------'          one field in two lines (RFC 9112 section 5.2)
//!   '- range ----------------------------------------'
//! ```
//!
//! What in them is secret [`secrets()`] tells, and [`masked()`] leaves out.

mod found;
mod names;
mod secret;
mod values;

pub use names::{ENDINGS, NAMES, is_secret_name};
#[cfg(test)]
pub(crate) use names::{OTHER_TOKENS, QUERY_NAMES, WEB_ENDINGS};
pub use secret::{masked, secrets, unescaped};
use std::ops::Range;

/// A line of a head, or several where it is folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name, without what stands around it; empty where there is none.
    pub name: &'a [u8],
    /// Where all of it stands, line ends included.
    pub range: Range<usize>,
    /// Where its value stands, line breaks inside included; without a name, all but the line end.
    pub value: Range<usize>,
}

impl Field<'_> {
    /// Whether it has this name; upper and lower case are the same.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Whether by its name all that it says is secret.
    pub fn is_secret(&self) -> bool {
        secret::is_secret(self.name)
    }
}

/// All lines of a head with what is folded into each; the first is the start line.
pub fn fields(bytes: &[u8]) -> impl Iterator<Item = Field<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        at += line(bytes, at)?.len();
        let is_blank = of(bytes, &(start..at)).trim_ascii().is_empty();
        while !is_blank && matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += line(bytes, at)?.len();
        }
        Some(field(bytes, start..at))
    })
}

/// One field that stands there.
fn field(bytes: &[u8], range: Range<usize>) -> Field<'_> {
    let all = of(bytes, &range);
    let colon = memchr::memchr(b':', all);
    // No field, but JSON in which [`secrets()`] looks for names.
    let colon = colon.filter(|colon| memchr::memchr(b'{', all).is_none_or(|brace| brace > *colon));
    let (name, value) = match colon {
        Some(colon) => (name(all.get(..colon).unwrap_or_default()), colon + 1),
        None => (&[][..], 0),
    };
    let value = trimmed(bytes, range.start + value..range.end);
    Field { name, range, value }
}

/// A field's name; blanks, quotes and what else cannot be part of it may stand around it.
fn name(before: &[u8]) -> &[u8] {
    let start = before.iter().position(|b| is_name(*b));
    let end = before.iter().rposition(|b| is_name(*b)).map(|at| at + 1);
    let name = start
        .zip(end)
        .and_then(|(start, end)| before.get(start..end));
    name.unwrap_or_default()
}

/// RFC 9110 section 5.6.2: the characters of a token.
fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The line that begins there, line end included: LF, CR LF, or CR alone, which some peers take for one.
fn line(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
    let len = match memchr::memchr2(b'\r', b'\n', rest) {
        Some(end) if rest.get(end..end + 2) == Some(b"\r\n") => end + 2,
        Some(end) => end + 1,
        None => rest.len(),
    };
    Some(at..at + len)
}

fn of<'a>(bytes: &'a [u8], range: &Range<usize>) -> &'a [u8] {
    bytes.get(range.clone()).unwrap_or_default()
}

/// The same without blanks at both ends.
fn trimmed(bytes: &[u8], range: Range<usize>) -> Range<usize> {
    let all = of(bytes, &range);
    let start = range.end - all.trim_ascii_start().len();
    start..start.max(range.start + all.trim_ascii_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_have_fields() {
        let head = b"GET / HTTP/1.1\r\nAuthorization : Bearer\r\n Zx81\r\n\tb\nHost:h\rx\xff: \xe9\r\n\r\n body";
        let told: Vec<(String, String)> = fields(head)
            .map(|field| {
                let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
                (text(field.name), text(of(head, &field.value)))
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
        assert_eq!(told, want);
        let ranges: Vec<u8> = fields(head)
            .flat_map(|field| of(head, &field.range).to_vec())
            .collect();
        assert_eq!(ranges, head, "every byte is in one");
    }
}
