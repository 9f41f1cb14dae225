//! Escapes of string literals in programming languages.
//!
//! ```text
//!   \x41 \x{41} \u0041 \u{41} \U00000041     a byte or a character
//!   \101 \0                                  a byte in octal; Lua and Haskell write it in decimal
//!   \n \t \r \a \b \f \v \e \\ \" \' \/      as in C
//! ```

/// The meaning of numbers in escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Escapes {
    /// A character below U+0100 is one byte; otherwise characters are UTF-8.
    pub latin1: bool,
    /// The base of `\101`: 8 or 10.
    pub radix: u32,
    /// `\x85` is a character; otherwise it is a byte.
    pub is_text: bool,
}

/// The escapes of a string that shows bytes in UTF-8.
pub(super) const UTF8: Escapes = Escapes {
    latin1: false,
    radix: 8,
    is_text: false,
};

/// Reads a string of a program with a function, as bytes in UTF-8. If they are none, the string is a text, in which Python and
/// Node escape characters that cannot be seen: `'10\xa0000'`. `is_bytes`: the program says that it is no text.
pub(super) fn read_string<T>(
    is_bytes: bool,
    mut read: impl FnMut(Escapes, &mut Vec<u8>) -> T,
) -> (T, Vec<u8>) {
    let mut out = Vec::new();
    let found = read(UTF8, &mut out);
    if is_bytes || std::str::from_utf8(&out).is_ok() {
        return (found, out);
    }
    out.clear();
    let text = Escapes {
        is_text: true,
        ..UTF8
    };
    (read(text, &mut out), out)
}

/// Returns true if a string after this text shows bytes: `b'..'` of Python and Rust.
pub(super) fn marks_bytes(before: &[u8]) -> bool {
    match before {
        [.., a, b'b' | b'B'] => !a.is_ascii_alphanumeric(),
        [b'b' | b'B'] => true,
        _ => false,
    }
}

/// A literal, or the beginning of one.
pub(super) struct Literal<'a> {
    /// The number of escapes that give a byte or a character by its number.
    pub numbers: usize,
    /// The text after the closing quote; `None` if there is no closing quote.
    pub rest: Option<&'a [u8]>,
}

/// Reads the name of a control character, as Haskell shows it: `NUL`, `SOH`.
fn control_name(text: &[u8]) -> Option<(u8, &[u8])> {
    // A longer name is before its beginning.
    const NAMES: [(u8, &[u8]); 34] = [
        (0, b"NUL"),
        (1, b"SOH"),
        (2, b"STX"),
        (3, b"ETX"),
        (4, b"EOT"),
        (5, b"ENQ"),
        (6, b"ACK"),
        (7, b"BEL"),
        (8, b"BS"),
        (9, b"HT"),
        (10, b"LF"),
        (11, b"VT"),
        (12, b"FF"),
        (13, b"CR"),
        (14, b"SO"),
        (15, b"SI"),
        (16, b"DLE"),
        (17, b"DC1"),
        (18, b"DC2"),
        (19, b"DC3"),
        (20, b"DC4"),
        (21, b"NAK"),
        (22, b"SYN"),
        (23, b"ETB"),
        (24, b"CAN"),
        (25, b"EM"),
        (26, b"SUB"),
        (27, b"ESC"),
        (28, b"FS"),
        (29, b"GS"),
        (30, b"RS"),
        (31, b"US"),
        (32, b"SP"),
        (127, b"DEL"),
    ];
    let mut names = NAMES.iter();
    names.find_map(|(code, name)| Some((*code, text.strip_prefix(*name)?)))
}

impl Escapes {
    /// Appends a literal's bytes, up to the quote or, for `None`, up to a blank.
    pub(super) fn read<'a>(
        self,
        text: &'a [u8],
        quote: Option<u8>,
        out: &mut Vec<u8>,
    ) -> Literal<'a> {
        let (mut rest, mut numbers) = (text, 0);
        while let Some((&c, after)) = rest.split_first() {
            if quote == Some(c) {
                return Literal {
                    numbers,
                    rest: Some(after),
                };
            }
            if quote.is_none() && (c.is_ascii_whitespace() || matches!(c, b'"' | b'\'' | b'`')) {
                break;
            }
            if c == b'\\' {
                let (is_number, after) = self.escape(after, out);
                numbers += usize::from(is_number);
                rest = after;
            } else if c.is_ascii() || !self.latin1 {
                out.push(c);
                rest = after;
            } else {
                rest = self.source_character(rest, out);
            }
        }
        Literal {
            numbers,
            rest: quote.is_none().then_some(rest),
        }
    }

    /// Appends a character that is not escaped.
    fn source_character<'a>(self, text: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
        for len in 2..=4 {
            if let Some((head, rest)) = text.split_at_checked(len)
                && let Some(c) = std::str::from_utf8(head)
                    .ok()
                    .and_then(|s| s.chars().next())
            {
                self.push(c as u32, out);
                return rest;
            }
        }
        out.extend(text.first());
        text.get(1..).unwrap_or_default()
    }

    fn push(self, code: u32, out: &mut Vec<u8>) {
        if code < 0x80 || (self.latin1 && code < 0x100) {
            out.push(code as u8);
        } else {
            let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// Reads what follows a backslash; true if it gives a number.
    fn escape<'a>(self, text: &'a [u8], out: &mut Vec<u8>) -> (bool, &'a [u8]) {
        let Some((&c, rest)) = text.split_first() else {
            return (false, text);
        };
        if self.radix == 10
            && let Some((code, after)) = control_name(text)
        {
            out.push(code);
            return (true, after);
        }
        let plain = match c {
            b'&' if self.radix == 10 => return (false, rest),
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'e' => 27,
            b'x' => {
                let Some((code, after)) = braced(rest).or_else(|| number(rest, 16, 1, 2)) else {
                    out.extend_from_slice(b"\\x");
                    return (false, rest);
                };
                if code < 0x100 && !self.is_text {
                    out.push(code as u8);
                } else {
                    self.push(code, out);
                }
                return (true, after);
            }
            b'u' | b'U' => {
                let digits = if c == b'u' { 4 } else { 8 };
                let Some((code, after)) = braced(rest).or_else(|| number(rest, 16, digits, digits))
                else {
                    out.push(c);
                    return (false, rest);
                };
                let (code, after) = surrogates(code, after);
                self.push(code, out);
                return (true, after);
            }
            b'0'..=b'9' => {
                let Some((code, after)) =
                    number(text, self.radix, 1, 3).filter(|(code, _)| *code < 0x100)
                else {
                    out.push(c);
                    return (false, rest);
                };
                out.push(code as u8);
                return (true, after);
            }
            other => other,
        };
        out.push(plain);
        (false, rest)
    }
}

/// A number of `least` to `most` digits.
fn number(text: &[u8], radix: u32, least: usize, most: usize) -> Option<(u32, &[u8])> {
    let digits = text
        .iter()
        .take(most)
        .take_while(|c| (**c as char).is_digit(radix))
        .count();
    let (digits, rest) = text.split_at_checked(digits)?;
    let value = u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    (digits.len() >= least).then_some((value, rest))
}

/// `{41}`
fn braced(text: &[u8]) -> Option<(u32, &[u8])> {
    let (code, rest) = number(text.strip_prefix(b"{")?, 16, 1, 6)?;
    Some((code, rest.strip_prefix(b"}")?))
}

/// Joins the two halves of a character above U+FFFF.
fn surrogates(code: u32, rest: &[u8]) -> (u32, &[u8]) {
    let low = rest.strip_prefix(b"\\u").and_then(|r| number(r, 16, 4, 4));
    match low {
        Some((low @ 0xdc00..=0xdfff, after)) if (0xd800..0xdc00).contains(&code) => {
            (0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), after)
        }
        _ => (code, rest),
    }
}

/// Returns a text with one backslash for two; `None` if not all of them are doubled.
pub(super) fn without_doubled_backslashes(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(rest.get(..=at)?);
        rest = rest.get(at + 1..)?.strip_prefix(b"\\")?;
    }
    out.extend_from_slice(rest);
    (out.len() < text.len()).then_some(out)
}

/// Returns true if the string that a backtick begins is a print of Node, which chooses backticks for a text with both other
/// quotes. What Markdown writes between backticks has no escapes.
pub(super) fn is_print_of_node(body: &[u8]) -> bool {
    let end = memchr::memchr(b'`', body);
    let text = end.and_then(|end| body.get(..end)).unwrap_or_default();
    // Behind the message, the line end has one backslash.
    let text = text.strip_suffix(b"}\\n").unwrap_or(text);
    let text = text.strip_suffix(b"}\\r").unwrap_or(text);
    let has_escape = text.contains(&b'\\');
    let has_quote = text.contains(&b'\'');
    has_quote && (!has_escape || without_doubled_backslashes(text).is_some())
}

/// Returns true if a string begins as an object on several lines does in which quotes are doubled.
pub(super) fn begins_with_doubled(body: &[u8]) -> bool {
    let inner = body.strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inner.is_some_and(|inner| inner.starts_with(b"\"\""))
}

/// Reads a string in which two quotes are one, as in C# and CSV; returns the text after it.
pub(super) fn verbatim<'a>(text: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let mut rest = text;
    loop {
        let end = memchr::memchr(b'"', rest)?;
        out.extend_from_slice(rest.get(..end)?);
        rest = rest.get(end + 1..)?;
        match rest.strip_prefix(b"\"") {
            Some(after) => {
                out.push(b'"');
                rest = after;
            }
            None => return Some(rest),
        }
    }
}

/// Reads how GDB shows a character many times inside a string: `, '0' <repeats 40 times>, "ff"`.
pub(super) fn repeated<'a>(
    text: &'a [u8],
    escapes: Escapes,
    out: &mut Vec<u8>,
) -> Option<&'a [u8]> {
    const MAX_TIMES: usize = 1 << 20;
    let (&c, rest) = text.strip_prefix(b", '")?.split_first()?;
    let number = rest.strip_prefix(b"' <repeats ")?;
    let end = memchr::memmem::find(number, b" times>")?;
    let times: usize = std::str::from_utf8(number.get(..end)?).ok()?.parse().ok()?;
    out.extend(std::iter::repeat_n(c, times.min(MAX_TIMES)));
    let rest = number.get(end + " times>".len()..)?;
    match rest.strip_prefix(b", \"") {
        Some(body) => escapes.read(body, Some(b'"'), out).rest,
        None => Some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_languages_are_read() {
        let c = Escapes {
            latin1: true,
            radix: 8,
            is_text: false,
        };
        let utf8 = Escapes { latin1: false, ..c };
        let lua = Escapes { radix: 10, ..c };
        let text = Escapes {
            is_text: true,
            ..utf8
        };
        for (escapes, text, want, numbers) in [
            (c, r#"\x00A\x85""#, &b"\0A\x85"[..], Some(2)),
            (c, r#"\0\0\0A\205\1""#, b"\0\0\0A\x85\x01", Some(5)),
            (c, r#"\u0000\u0085\u00a7""#, b"\0\x85\xa7", Some(3)),
            (utf8, r#"\u0085""#, b"\xc2\x85", Some(1)),
            (c, "§\"", b"\xa7", Some(0)),
            (utf8, "§\"", "§".as_bytes(), Some(0)),
            (c, r#"\u{85}\x{41}\U00000042""#, b"\x85AB", Some(3)),
            (c, r#"\n\t\\\"\/""#, b"\n\t\\\"/", Some(0)),
            (lua, r#"\133\0\65""#, b"\x85\0A", Some(3)),
            (lua, r#"\NUL\SOH\SO\&H\DEL""#, b"\0\x01\x0eH\x7f", Some(4)),
            (text, r#"\xe9\x41\303\251""#, "éAé".as_bytes(), Some(4)),
            (utf8, r#"\ud83d\ude80""#, "🚀".as_bytes(), Some(1)),
            (c, r"\x00", b"\0", None),
            (c, r#"\xzz""#, b"\\xzz", Some(0)),
        ] {
            let mut out = Vec::new();
            let literal = escapes.read(text.as_bytes(), Some(b'"'), &mut out);
            assert_eq!(out, want, "{text}");
            assert_eq!(literal.rest.map(|_| literal.numbers), numbers, "{text}");
        }
    }
}
