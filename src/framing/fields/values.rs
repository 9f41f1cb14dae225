//! Finds values under secret names in bytes that are not decoded: JSON, JSON in text, and
//! `MessagePack`, complete or in part.
//!
//! ```text
//!   {"password": "hunter2"        \"password\":\"hunter2\"        a8 "password" a7 "hunter2"
//!                 -------                     -------                             -------
//! ```

use super::credentials::{is_plain_secret, split};
use super::flags::FlagValue;
use super::names::{is_pair_name, is_secret_field, is_secret_list, is_secret_name};
use super::secret_ranges::{FoundSecrets, credentials};
use super::{slice, trimmed};
use std::ops::Range;

/// The maximum length of a name.
const MAX_NAME: usize = 64;

/// Finds the values. `is_also_secret` gets names in lower case and selects further secret ones.
pub(super) fn values(
    bytes: &[u8],
    is_also_secret: &dyn Fn(&str) -> bool,
    found: &mut FoundSecrets,
) {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || b"_-.".contains(b);
    // The last name was that of a secret: `"name":"X-Api-Key","value":"Zx81"`.
    let mut is_pair = false;
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let len = rest.iter().take_while(|b| is_name(b)).count();
        let end = at + len;
        let name = at..end;
        at = end + 1;
        if len == 0 || len > MAX_NAME {
            continue;
        }
        let Some(value) = json_value(bytes, &name).or_else(|| msgpack_value(bytes, &name)) else {
            continue;
        };
        let name = slice(bytes, &name);
        let lower = || String::from_utf8_lossy(name).to_lowercase();
        if is_pair_name(name) {
            let other = slice(bytes, &value);
            is_pair = other.iter().all(is_name) && is_secret_field(other);
            // In MessagePack, the name `value` would be the value of this name.
            if is_pair && !is_also_secret(&lower()) {
                at = value.end.max(at);
                continue;
            }
        }
        let is_second = is_pair && name.eq_ignore_ascii_case(b"value");
        let flag = FlagValue::after(name).filter(|flag| *flag != FlagValue::All);
        if let Some(part) = flag.and_then(|flag| flag.secret_in(slice(bytes, &value))) {
            found.add(
                bytes,
                value.start + part.start..value.start + part.end,
                false,
            );
            at = value.end.max(at);
        } else if is_second || is_secret_name(name) || is_also_secret(&lower()) {
            let secret = credentials(bytes, value.clone(), false);
            found.add(bytes, secret, false);
            at = value.end.max(at);
        } else if is_secret_list(name) {
            at = find_in_list(bytes, value, found).max(at);
        }
    }
}

/// Finds the texts of a list that are not words. Returns the end of what it read.
fn find_in_list(bytes: &[u8], list: Range<usize>, found: &mut FoundSecrets) -> usize {
    let mut add = |text: Range<usize>| {
        if is_plain_secret(slice(bytes, &text)) {
            found.add(bytes, text, false);
        }
    };
    let header = list.start.checked_sub(1).and_then(|at| bytes.get(at));
    let mut at = match header {
        Some(0x90..=0x9f) => list.start,
        Some(0xdc) => list.start + 2,
        Some(0xdd) => list.start + 4,
        _ => {
            let is_list = bytes.get(list.start) == Some(&b'[');
            let texts = split(bytes, list.clone(), b'"').filter(|_| is_list);
            texts.for_each(|text| add(trimmed(bytes, text)));
            return list.start;
        }
    };
    while let Some(text) = msgpack_text(bytes, at).filter(|text| text.end > at) {
        at = text.end;
        add(text);
    }
    at
}

/// Returns the value after a quoted name and a colon, without its quotes.
pub(super) fn json_value(bytes: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let quote = *bytes.get(name.start.checked_sub(1)?)?;
    if !matches!(quote, b'"' | b'\'') {
        return None;
    }
    let skip = |at: usize, is: &dyn Fn(u8) -> bool| {
        let rest = bytes.get(at..).unwrap_or_default();
        at + rest.iter().take_while(|b| is(**b)).count()
    };
    let blank = |b: u8| b.is_ascii_whitespace();
    let close = skip(name.end, &|b| b == b'\\');
    let colon = skip(close + 1, &blank);
    if bytes.get(close) != Some(&quote) || bytes.get(colon) != Some(&b':') {
        return None;
    }
    let start = skip(colon + 1, &blank);
    let open = skip(start, &|b| b == b'\\');
    let end = match bytes.get(open)? {
        first if *first == quote => {
            let end = string_end(bytes, open + 1, quote, open - start);
            return Some(open + 1..end);
        }
        b'[' | b'{' => container_end(bytes, open),
        _ => skip(open, &|b| !b.is_ascii_whitespace() && !b",]}".contains(&b)),
    };
    let value = start..end;
    let constant = matches!(slice(bytes, &value), b"true" | b"false" | b"null");
    (!constant).then_some(value)
}

/// Returns the end of a string whose quotes have `level` backslashes before them.
fn string_end(bytes: &[u8], start: usize, quote: u8, level: usize) -> usize {
    let rest = bytes.get(start..).unwrap_or_default();
    let mut backslashes = 0;
    for (at, byte) in rest.iter().enumerate() {
        if *byte == quote {
            let closes = if level == 0 {
                backslashes % 2 == 0
            } else {
                backslashes <= level
            };
            if closes {
                return start + at - backslashes;
            }
        }
        backslashes = if *byte == b'\\' { backslashes + 1 } else { 0 };
    }
    bytes.len()
}

/// Returns the end of a container. A bracket inside a string can make the result too long; it is
/// too short by at most that string.
fn container_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    bytes.len()
}

/// Returns the text or bytes after a name, without their header; the whole rest if the value is a
/// container.
fn msgpack_value(bytes: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let before = |n: usize| name.start.checked_sub(n).and_then(|at| bytes.get(at));
    let len = u8::try_from(name.len()).ok()?;
    let short = len < 32 && before(1) == Some(&(0xa0 | len));
    let long = before(2) == Some(&0xd9) && before(1) == Some(&len);
    if !short && !long {
        return None;
    }
    match *bytes.get(name.end)? {
        0x80..=0x9f | 0xdc..=0xdf => Some(name.end + 1..bytes.len()),
        _ => msgpack_text(bytes, name.end),
    }
}

/// Returns the text or bytes at an offset, without their header.
fn msgpack_text(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let size = |n: usize| {
        let bytes = bytes.get(at + 1..at + 1 + n)?;
        Some((n, bytes.iter().fold(0, |size, b| size << 8 | *b as usize)))
    };
    let (header, len) = match *bytes.get(at)? {
        fix @ 0xa0..=0xbf => (0, (fix & 0x1f) as usize),
        0xc4 | 0xd9 => size(1)?,
        0xc5 | 0xda => size(2)?,
        0xc6 | 0xdb => size(4)?,
        _ => return None,
    };
    let start = at + 1 + header;
    Some(start..start.saturating_add(len).min(bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::super::secrets;

    #[test]
    fn values_under_secret_names_are_found() {
        let table: &[(&[u8], &[&str])] = &[
            (br#"{"a":1,"password":"hunter2","b":2}"#, &["hunter2"]),
            (br#"{"password" : "hun\"ter2"#, &[r#"hun\"ter2"#]),
            (br#""{\"a\":1,\"token\":\"Zx81\",\"b\":2}""#, &["Zx81"]),
            (br#"{"secret":[1,["Zx81"]],"b":2}"#, &[r#"[1,["Zx81"]]"#]),
            (br#"{"api_key":8181,"token":null}"#, &["8181"]),
            (b"{'pin': 'Zx81'}", &["Zx81"]),
            (b"\x81\xa8password\xa7hunter2\xa1b", &["hunter2"]),
            (b"\x81\xa8password\xc4\x07hunter2\xa1b", &["hunter2"]),
            (b"\x81\xa8password\xa7hunt", &["hunt"]),
            (br#"{"author":"me","tokens":17}"#, &[]),
            (br#"{"tokens":["Zx8181","a"]}"#, &["Zx8181"]),
            (br#"{"tokens":["Zx81"#, &[]),
            (
                b"\x81\xa6tokens\x92\xa6Zx8181\xa6Zx8282\xa1b",
                &["Zx8181", "Zx8282"],
            ),
            (b"\x92\xa2-u\xa7me:Zx81\xa1b", &["Zx81"]),
            (br#"{"key":"API_TOKEN","value":"Zx81"}"#, &["Zx81"]),
            (br#"{"key":"Zx81","value":"a"}"#, &[]),
            (br#"["password","hunter2"]"#, &[]),
        ];
        for (bytes, want) in table {
            let found = secrets(bytes, &|name| name == "pin");
            let found = found.iter().map(|s| &bytes[s.range.clone()]);
            let found: Vec<_> = found
                .map(|s| String::from_utf8_lossy(s).into_owned())
                .collect();
            assert_eq!(found, *want, "{}", bytes.escape_ascii());
        }
    }
}
