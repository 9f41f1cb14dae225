//! Removes text that terminals and editors add: colours, box lines, typographic quotes.
//!
//! ```text
//!   ESC[32m00000000ESC[0m        00000000
//!   │00000000│ 00 41 ┊ 85 a7     |00000000| 00 41   85 a7      hexyl
//!   “a”…                         "a"...
//! ```

use std::borrow::Cow;

/// Returns a line without colours, with ASCII in place of box lines and typographic characters.
pub(super) fn clean(line: &[u8]) -> Cow<'_, [u8]> {
    match uncoloured(line) {
        Cow::Borrowed(line) => to_ascii(line),
        Cow::Owned(line) => Cow::Owned(to_ascii(&line).into_owned()),
    }
}

/// Returns a line without colours.
pub(super) fn uncoloured(line: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(0x1b, line).is_none() {
        return Cow::Borrowed(line);
    }
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&c, after)) = rest.split_first() {
        rest = if c == 0x1b {
            skip_escape(after)
        } else {
            out.push(c);
            after
        };
    }
    Cow::Owned(out)
}

/// Returns a line with ASCII in place of box lines and typographic characters.
pub(super) fn to_ascii(line: &[u8]) -> Cow<'_, [u8]> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    Cow::Owned(replaced(line, REPLACED))
}

fn replaced(line: &[u8], table: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&c, after)) = rest.split_first() {
        let found = table
            .iter()
            .find_map(|(from, to)| rest.strip_prefix(from.as_bytes()).map(|after| (after, to)));
        if let Some((after, to)) = found {
            out.extend_from_slice(to.as_bytes());
            rest = after;
        } else {
            out.push(c);
            rest = after;
        }
    }
    out
}

/// Returns a line in ASCII as far as possible, without the escapes of HTML and PowerShell for quotes.
pub(super) fn unescaped(line: &[u8]) -> Cow<'_, [u8]> {
    let has = |mark: &[u8]| memchr::memmem::find(line, mark).is_some();
    let escapes = if has(b"&quot;") || has(b"&#34;") {
        ENTITIES
    } else if has(b"`\"") {
        BACKTICKS
    } else {
        return to_ascii(line);
    };
    Cow::Owned(replaced(line, escapes))
}

const ENTITIES: &[(&str, &str)] = &[
    ("&quot;", "\""),
    ("&#34;", "\""),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&apos;", "'"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&amp;", "&"),
];
const BACKTICKS: &[(&str, &str)] = &[("`\"", "\""), ("``", "`"), ("`$", "$")];

const REPLACED: &[(&str, &str)] = &[
    ("│", "|"),
    ("┊", " "),
    ("┆", " "),
    ("\u{a0}", " "),
    ("\u{202f}", " "),
    ("\u{200b}", ""),
    ("\u{feff}", ""),
    ("…", "..."),
    ("“", "\""),
    ("”", "\""),
    ("‘", "'"),
    ("’", "'"),
    ("→", "->"),
    ("←", "<-"),
    // Browsers mark frames of WebSocket so.
    ("⬆", "->"),
    ("⬇", "<-"),
];

/// Skips what follows ESC: `[32m`, or one character.
fn skip_escape(text: &[u8]) -> &[u8] {
    let Some(body) = text.strip_prefix(b"[") else {
        return text.get(1..).unwrap_or_default();
    };
    let end = body.iter().position(|c| (0x40..=0x7e).contains(c));
    end.and_then(|end| body.get(end + 1..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_boxes_are_replaced() {
        for (line, want) in [
            ("00 41", "00 41"),
            ("\x1b[1;32m00\x1b[0m 41", "00 41"),
            ("│00000000│ 00 ┊ 41 │", "|00000000| 00   41 |"),
            ("“a”…", "\"a\"..."),
            ("é", "é"),
            ("\x1b[", ""),
        ] {
            assert_eq!(clean(line.as_bytes()), want.as_bytes(), "{line:?}");
        }
    }
}
