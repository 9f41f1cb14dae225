//! Lines as programs show them: line ends and bytes that cannot be seen, doubled backslashes.
//!
//! ```text
//!   {"id":1}^M$                            cat -A
//!   {"text":"M-CM-)"}                      cat -v: c3 a9
//!   {#012  "id":1}                         rsyslog
//!   COPY log (dir, body) FROM stdin;       rows of PostgreSQL follow, in which a backslash is doubled
//!   │ {"id":1} │                           in a box of one column, below ╭──────────╮
//!   ##teamcity[message text='|'a|'']       a bar escapes quotes, brackets and itself
//!   <?xml version="1.0"?>                  entities stand for characters, outside of <![CDATA[..]]>
//! ```

use crate::capture::pasted::is_markup;

#[derive(Default)]
pub(super) struct ShownText {
    /// The lines are rows of `COPY ... FROM stdin`.
    in_copy: bool,
    /// Lines end with `$`.
    shows_ends: bool,
    /// The lines are in a box.
    in_box: bool,
    markup: Markup,
}

/// What is known of a text in XML or HTML.
#[derive(Default)]
struct Markup {
    /// Whether the text is XML or HTML; `None` before its first line.
    is_present: Option<bool>,
    /// A part of the last line, or all of it, is in `<![CDATA[..]]>`.
    has_cdata: bool,
    /// Such a part is open.
    in_cdata: bool,
}

/// The ends of the top of a box.
const TOPS: [[&str; 2]; 2] = [["╭─", "─╮"], ["┌─", "─┐"]];

impl ShownText {
    /// Returns a line as it was before a program showed it.
    pub(super) fn read(&mut self, mut text: Vec<u8>) -> Vec<u8> {
        self.markup.note(&text);
        self.shows_ends |= text.ends_with(b"^M$") || text.ends_with(b"}$");
        if self.shows_ends && text.last() == Some(&b'$') {
            text.pop();
            if text.ends_with(b"^M") {
                text.truncate(text.len() - 2);
            }
        }
        if memchr::memmem::find(&text, b"M-").is_some() && text.is_ascii() {
            text = with_high_bytes(&text);
        }
        if memchr::memmem::find(&text, b"{#012").is_some() {
            let shown = String::from_utf8_lossy(&text);
            text = shown.replace("#012", " ").replace("#011", " ").into_bytes();
        }
        if text.trim_ascii_start().starts_with(b"##teamcity[") {
            text = without_bars(&text);
        }
        text = self.without_box(text);
        if self.in_copy {
            self.in_copy = text != b"\\.";
            if memchr::memmem::find(&text, br"\\").is_some() {
                text = String::from_utf8_lossy(&text)
                    .replace(r"\\", r"\")
                    .into_bytes();
            }
        } else {
            self.in_copy = text.starts_with(b"COPY ") && text.ends_with(b" FROM stdin;");
        }
        text
    }
}

impl ShownText {
    /// Returns a line without the sides of the box around it, which has one column: a panel of rich.
    fn without_box(&mut self, line: Vec<u8>) -> Vec<u8> {
        let is_border = |ends: [&str; 2], column: &str| {
            let line = std::str::from_utf8(&line).unwrap_or_default().trim();
            line.starts_with(ends[0]) && line.ends_with(ends[1]) && !line.contains(column)
        };
        if TOPS.iter().any(|ends| is_border(*ends, "┬")) {
            self.in_box = true;
        } else if self.in_box {
            let side = "│".as_bytes();
            let inner = line.trim_ascii().strip_prefix(side);
            if let Some(inner) = inner.and_then(|inner| inner.strip_suffix(side)) {
                let inner = inner.strip_prefix(b" ").unwrap_or(inner);
                // The width of the box shows where a longer line was broken.
                let bare = inner.trim_ascii_end();
                let is_whole = matches!(bare.last(), Some(b'{' | b'}' | b'[' | b']' | b','));
                return if is_whole { bare } else { inner }.to_vec();
            }
            self.in_box = false;
        }
        line
    }

    /// Returns true if entities stand for characters in the last line.
    pub(super) fn has_entities(&self) -> bool {
        self.markup.is_present == Some(true) && !self.markup.has_cdata
    }
}

impl Markup {
    fn note(&mut self, line: &[u8]) {
        let start = line.trim_ascii_start();
        if self.is_present.is_none() && !start.is_empty() {
            self.is_present = Some(is_markup(start));
        }
        if self.is_present != Some(true) {
            return;
        }
        let begin = memchr::memmem::rfind(line, b"<![CDATA[");
        self.has_cdata = self.in_cdata || begin.is_some();
        let end = memchr::memmem::rfind(line, b"]]>");
        self.in_cdata = begin > end || self.in_cdata && end.is_none();
    }
}

/// Returns a message of `TeamCity` without its escapes. A line end is a blank between values.
fn without_bars(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = memchr::memchr(b'|', rest) {
        let (before, after) = rest.split_at_checked(at).unwrap_or_default();
        out.extend_from_slice(before);
        rest = match after {
            [_, b'n' | b'r', rest @ ..] => {
                out.push(b' ');
                rest
            }
            [_, c @ (b'\'' | b'|' | b'[' | b']'), rest @ ..] => {
                out.push(*c);
                rest
            }
            _ => {
                let (character, rest) =
                    character_of_bar(after).unwrap_or(('|', after.get(1..).unwrap_or_default()));
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest
            }
        };
    }
    out.extend_from_slice(rest);
    out
}

/// Reads a character by its number: `|0x00e9`.
fn character_of_bar(text: &[u8]) -> Option<(char, &[u8])> {
    const DIGITS: usize = 4;
    let (digits, rest) = text.strip_prefix(b"|0x")?.split_at_checked(DIGITS)?;
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    Some((char::from_u32(code)?, rest))
}

/// Returns a line with the bytes that `cat -v` shows, where they are characters in UTF-8.
fn with_high_bytes(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(&c) = rest.first() {
        let (mut bytes, mut after) = (Vec::new(), rest);
        while let Some((byte, next)) = high_byte(after) {
            bytes.push(byte);
            after = next;
        }
        if bytes.is_empty() {
            out.push(c);
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let (shown, after) = rest
            .split_at_checked(rest.len() - after.len())
            .unwrap_or_default();
        let is_text = std::str::from_utf8(&bytes).is_ok();
        out.extend_from_slice(if is_text { &bytes } else { shown });
        rest = after;
    }
    out
}

/// Reads a byte above 0x7f: `M-C`, `M-^@`.
fn high_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    match text.strip_prefix(b"M-")? {
        [b'^', b'?', rest @ ..] => Some((0xff, rest)),
        [b'^', c @ b'@'..=b'_', rest @ ..] => Some((0x80 | (c ^ 0x40), rest)),
        [c @ b' '..=b'~', rest @ ..] => Some((0x80 | c, rest)),
        _ => None,
    }
}
