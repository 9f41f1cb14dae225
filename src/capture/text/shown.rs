//! Lines as programs show them: line ends and bytes that cannot be seen, doubled backslashes.
//!
//! ```text
//!   {"id":1}^M$                            cat -A
//!   {"text":"M-CM-)"}                      cat -v: c3 a9
//!   {#012  "id":1}                         rsyslog
//!   COPY log (dir, body) FROM stdin;       rows of PostgreSQL follow, in which a backslash is doubled
//!   <?xml version="1.0"?>                  entities stand for characters, outside of <![CDATA[..]]>
//! ```

use crate::capture::pasted::is_markup;

#[derive(Default)]
pub(super) struct ShownText {
    /// The lines are rows of `COPY ... FROM stdin`.
    in_copy: bool,
    /// Lines end with `$`.
    shows_ends: bool,
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
