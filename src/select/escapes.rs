//! Texts without the escapes that JSON does not need: `\u5bff` of Python and PHP is one character, `\/` of PHP a slash.

/// Returns a text in which each such escape is its character, also in JSON inside a text, where backslashes are doubled.
/// `None` if there is none. Quotes, backslashes and control characters keep theirs.
pub(super) fn without_escapes(text: &[u8]) -> Option<Vec<u8>> {
    // Most texts have none.
    let has = |escape: &[u8]| memchr::memmem::find(text, escape).is_some();
    if !has(b"\\u") && !has(b"\\/") {
        return None;
    }
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, escape) = rest.split_at_checked(at)?;
        out.extend_from_slice(before);
        let count = escape.iter().take_while(|c| **c == b'\\').count();
        let (backslashes, after) = escape.split_at_checked(count)?;
        rest = match (after.first(), character(after)) {
            (Some(b'/'), _) => after,
            (_, Some((c, after))) => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                after
            }
            // What they escape is no backslash again.
            _ => {
                out.extend_from_slice(backslashes);
                after
            }
        };
    }
    out.extend_from_slice(rest);
    (out.len() < text.len()).then_some(out)
}

/// Reads a character by its number: `u5bff`, or two halves `ud83d\ude80`.
fn character(text: &[u8]) -> Option<(char, &[u8])> {
    let (high, rest) = unit(text)?;
    if !(0xd800..0xe000).contains(&high) {
        let c = char::from_u32(high).filter(|c| !c.is_control() && !matches!(c, '"' | '\\'))?;
        return Some((c, rest));
    }
    let start = rest.iter().take_while(|c| **c == b'\\').count();
    let (low, rest) = unit(rest.get(start..)?)?;
    let is_pair = start > 0 && high < 0xdc00 && (0xdc00..0xe000).contains(&low);
    let code = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
    Some((char::from_u32(code).filter(|_| is_pair)?, rest))
}

/// Reads `u` and four digits.
fn unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.strip_prefix(b"u")?.split_at_checked(4)?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::without_escapes;

    #[test]
    fn escapes_that_json_does_not_need_are_characters() {
        for (text, wanted) in [
            (r"a \u5bff\u53F8", Some("a 寿司")),
            (r"\\u5bff \\\\u00e9", Some("寿 é")),
            (r"\ud83d\ude80 \\ud83d\\ude80", Some("🚀 🚀")),
            (r"tools\/call", Some("tools/call")),
            (r#"\u0022 \u005c \u000a \n \" \ud83d x"#, None),
            (r"\u12 \uzzzz \", None),
            ("plain", None),
        ] {
            let found = without_escapes(text.as_bytes());
            let found = found.map(|text| String::from_utf8(text).unwrap());
            assert_eq!(found.as_deref(), wanted, "{text}");
        }
    }
}
