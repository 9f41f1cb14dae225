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

/// Returns a line in Latin-1 as UTF-8; `None` if it is UTF-8, perhaps broken inside a character at its start or end.
pub(super) fn latin1_as_utf8(line: &[u8]) -> Option<Vec<u8>> {
    let is_rest = |c: &u8| (0x80..0xc0).contains(c);
    let start = line.iter().take(3).take_while(|c| is_rest(c)).count();
    std::str::from_utf8(line.get(start..)?).err()?.error_len()?;
    let mut text = String::new();
    for part in line.utf8_chunks() {
        text.push_str(part.valid());
        text.extend(part.invalid().iter().map(|&byte| char::from(byte)));
    }
    Some(text.into_bytes())
}

/// Returns a line with ASCII in place of box lines and typographic characters.
pub(super) fn to_ascii(line: &[u8]) -> Cow<'_, [u8]> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    Cow::Owned(replaced(line, REPLACED))
}

fn replaced(line: &[u8], table: Replacements) -> Vec<u8> {
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

/// Returns a message in JSON as it was before its text was put into XML, HTML, SQL, YAML or a command line; `before` and
/// `after` are the text around it. `is_markup`: it is in XML or HTML.
pub(super) fn without_outer_escapes<'m>(
    message: &'m [u8],
    (before, after): (&[u8], &[u8]),
    is_markup: bool,
) -> Cow<'m, [u8]> {
    let has = |mark: &[u8]| memchr::memmem::find(message, mark).is_some();
    if is_markup && has(b"&") {
        return Cow::Owned(with_characters(message, true));
    }
    // Each quote is doubled, so that none ends the text around the message.
    let (before, after) = (before.trim_ascii_end(), after.trim_ascii_start());
    let is_quoted = before.ends_with(b"'") && after.starts_with(b"'");
    if is_quoted && has(b"''") {
        let single = replaced(message, QUOTES);
        let alone = memchr::memchr_iter(b'\'', message).count();
        let inside = memchr::memchr_iter(b'\'', &single).count();
        if alone == inside * 2 || alone == inside * 3 {
            return Cow::Owned(single);
        }
    }
    Cow::Borrowed(message)
}

/// Returns true if text is that of XML or HTML: an entity is before it, or `<td>`, and `</td>` after it.
pub(super) fn is_escaped(before: &[u8], after: &[u8]) -> bool {
    let has = |entity: &&[u8]| memchr::memmem::find(before, entity).is_some();
    if [b"&lt;".as_slice(), b"&gt;"].iter().any(has) {
        return true;
    }
    end_of_tag(before).is_some()
        && memchr::memmem::find(after, b"</").is_some_and(|at| {
            let text = after.get(..at).unwrap_or_default();
            memchr::memchr2(b'<', b'>', text).is_none()
        })
}

/// Returns where the last tag before a text ends: `<td>`.
fn end_of_tag(before: &[u8]) -> Option<usize> {
    let end = memchr::memrchr(b'>', before)?;
    let tag = memchr::memrchr(b'<', before.get(..end)?)?;
    before
        .get(tag + 1)?
        .is_ascii_alphabetic()
        .then_some(end + 1)
}

/// Returns text of XML or HTML without its escapes; a blank is behind a tag, which is no arrow.
pub(super) fn without_entities(text: &[u8]) -> Vec<u8> {
    let (tags, content) = end_of_tag(text)
        .and_then(|end| text.split_at_checked(end))
        .unwrap_or((b"", text));
    let tags = tags.strip_suffix(b">").unwrap_or(tags);
    [tags, b" ", &with_characters(content, false)].concat()
}

/// Returns a line in ASCII as far as possible, without the escapes of HTML and PowerShell for quotes.
pub(super) fn unescaped(line: &[u8]) -> Cow<'_, [u8]> {
    match escapes_of_quotes(line) {
        Some(EscapedQuotes::Entities) => Cow::Owned(with_characters(line, false)),
        Some(EscapedQuotes::Backticks) => Cow::Owned(replaced(line, BACKTICKS)),
        None => to_ascii(line),
    }
}

/// Returns the text that a line would be as the content of a string in JSON: `{\"id\":1}`. `None` if it has other quotes.
pub(super) fn in_json_string(line: &[u8]) -> Option<String> {
    memchr::memmem::find(line, b"{\\\"")?;
    serde_json::from_slice(&[b"\"", line.trim_ascii(), b"\""].concat()).ok()
}

/// Returns true if a text has escapes of HTML or PowerShell for quotes.
pub(super) fn has_escaped_quotes(text: &[u8]) -> bool {
    escapes_of_quotes(text).is_some()
}

enum EscapedQuotes {
    Entities,
    Backticks,
}

fn escapes_of_quotes(text: &[u8]) -> Option<EscapedQuotes> {
    let has = |mark: &[u8]| memchr::memmem::find(text, mark).is_some();
    if has(b"&quot;") || has(b"&#34;") {
        return Some(EscapedQuotes::Entities);
    }
    has(b"`\"").then_some(EscapedQuotes::Backticks)
}

/// Texts and what stands for them.
type Replacements = &'static [(&'static str, &'static str)];

/// Entities with names, and their characters.
const ENTITIES: Replacements = &[
    ("quot;", "\""),
    ("apos;", "'"),
    ("lt;", "<"),
    ("gt;", ">"),
    ("amp;", "&"),
];

/// Returns a text of XML or HTML without its entities. `in_json`: the text is JSON, in which a character that an entity stands
/// for is escaped where it has to be.
fn with_characters(text: &[u8], in_json: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        let (before, after) = rest.split_at_checked(at).unwrap_or_default();
        out.extend_from_slice(before);
        let Some((c, after)) = after.get(1..).and_then(entity) else {
            out.push(b'&');
            rest = after.get(1..).unwrap_or_default();
            continue;
        };
        let mut utf8 = [0; 4];
        match c {
            '"' if in_json => out.extend_from_slice(b"\\\""),
            '\n' if in_json => out.extend_from_slice(b" "),
            c => out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes()),
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out
}

/// Reads an entity behind its sign: `lt;`, `#39;`, `#x27;`.
fn entity(text: &[u8]) -> Option<(char, &[u8])> {
    const MAX_DIGITS: usize = 8;
    let Some(number) = text.strip_prefix(b"#") else {
        let mut names = ENTITIES.iter();
        return names.find_map(|(name, character)| {
            let rest = text.strip_prefix(name.as_bytes())?;
            Some((character.chars().next()?, rest))
        });
    };
    let end = memchr::memchr(b';', number).filter(|end| *end <= MAX_DIGITS)?;
    let digits = std::str::from_utf8(number.get(..end)?).ok()?;
    let code = match digits.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    Some((char::from_u32(code.ok()?)?, number.get(end + 1..)?))
}

/// `'\''` of a shell is three quotes once its escape is read.
const QUOTES: Replacements = &[("'''", "'"), ("''", "'")];
const BACKTICKS: Replacements = &[("`\"", "\""), ("``", "`"), ("`$", "$")];

const REPLACED: Replacements = &[
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
    ("➡", "->"),
    ("⬅", "<-"),
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
    fn escapes_of_the_text_around_a_message_are_removed() {
        for (before, message, after, want) in [
            (
                "<msg a=\"b\">",
                r#"{"t":"a &amp; &lt;b&gt;"}"#,
                "</msg>",
                r#"{"t":"a & <b>"}"#,
            ),
            ("&lt;-- ", r#"{"t":"a -&gt; b"}"#, "", r#"{"t":"a -> b"}"#),
            (
                "<td>&lt;-- ",
                r#"{"t":"&amp;quot;"}"#,
                "</td>",
                r#"{"t":"&quot;"}"#,
            ),
            (
                "<td>",
                r#"{"t":"say &quot;a&quot;"}"#,
                "</td>",
                r#"{"t":"say \"a\""}"#,
            ),
            (
                "<a><![CDATA[",
                r#"{"t":"&amp;"}"#,
                "]]></a>",
                r#"{"t":"&amp;"}"#,
            ),
            ("x -> ", r#"{"t":"&amp;"}"#, "", r#"{"t":"&amp;"}"#),
            ("VALUES (1,'", r#"{"t":"it''s"}"#, "');", r#"{"t":"it's"}"#),
            ("echo '", r#"{"t":"it'''s"}"#, "'", r#"{"t":"it's"}"#),
            (
                "TEXT '",
                r#"{"t":"it's ''"}"#,
                "' [9 bytes]",
                r#"{"t":"it's ''"}"#,
            ),
            ("a ", r#"{"t":"''"}"#, "", r#"{"t":"''"}"#),
        ] {
            let around = (before.as_bytes(), after.as_bytes());
            let is_markup = is_escaped(around.0, around.1);
            let found = without_outer_escapes(message.as_bytes(), around, is_markup);
            assert_eq!(
                String::from_utf8_lossy(&found),
                want,
                "{before}{message}{after}"
            );
        }
    }

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
