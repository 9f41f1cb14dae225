//! Lists of numbers in source code and in what debuggers print.
//!
//! ```text
//!   char peer0_0[] = { /* Packet 4 */ 0x00, 'A' };       C
//!   [0, 0, 0, 65, -123]   []byte{0x0, 0x41}   <<0, 65>>   Java, Go, Elixir
//!   Uint8Array(69) [ 0, 65, ... 19 more items ]           Node
//!   <Buffer 00 41 ... 19 more bytes>   <00000041 85a7>    Node, Objective-C: hex
//!   {[0] = 0x0, [1] = 0x41}   {"0": 0, "1": 65}           LLDB, an array as an object: elements with their places
//!   {0x0 <repeats 12 times>, 0x41}                        GDB
//! ```

use super::escapes::Escapes;
use super::line::{Common, missing_bytes};
use super::marks::Mark;
use crate::capture::chunk::ItemSink;
use crate::capture::hex::{nibble, split_digits};
use crate::capture::lines::{Line, LineForm};

/// The least number of elements.
const MIN_ELEMENTS: usize = 4;
/// The most bytes of the type in a cast.
const MAX_CAST: usize = 64;
/// The most bytes of one list.
const MAX_BYTES: usize = 64 << 20;

const ESCAPES: Escapes = Escapes {
    latin1: true,
    is_text: false,
    radix: 8,
};

/// A list that is not closed yet.
struct List {
    /// `None` until it is needed: text can have very many brackets.
    mark: Option<Mark>,
    /// Its position in its first line.
    start: usize,
    /// The character that closes it.
    close: u8,
    /// Its elements are pairs of hex digits without a mark.
    hex: bool,
    elements: usize,
    bytes: Vec<u8>,
    missing: Option<u64>,
    /// An ellipsis ends the elements.
    cut: bool,
}

pub(super) struct Arrays {
    common: Common,
    /// The base of numbers without a mark.
    radix: u32,
    list: Option<List>,
    in_comment: bool,
    /// Bytes came from the line at hand.
    found: bool,
}

impl Arrays {
    pub(super) fn new(quoted: bool, radix: u32) -> Self {
        Self {
            common: Common::new(quoted),
            radix,
            list: None,
            in_comment: false,
            found: false,
        }
    }

    /// Closes the list; `line` is the line at hand.
    fn close(&mut self, line: &[u8], sink: &mut ItemSink<'_>) {
        let is_bytes = |list: &List| list.elements >= MIN_ELEMENTS;
        if self.list.as_ref().is_some_and(is_bytes) {
            self.find_mark(line);
        }
        let Some(list) = self.list.take().filter(is_bytes) else {
            return;
        };
        self.found = true;
        let mark = list.mark.unwrap_or_default();
        self.common.emit(mark, &list.bytes, sink);
        if let Some(len) = list.missing {
            self.common.missing(mark.direction, len, sink);
        }
    }

    /// Reads the text before the list in its first line.
    fn find_mark(&mut self, line: &[u8]) {
        if let Some(list) = self.list.as_mut().filter(|list| list.mark.is_none()) {
            let before = line.get(..list.start).unwrap_or_default();
            list.mark = Some(self.common.marks.of(line, before, b""));
        }
    }

    /// Reads the text outside of lists; returns the rest.
    fn outside<'a>(&mut self, line: &'a [u8], text: &'a [u8]) -> &'a [u8] {
        let at = text.iter().position(|c| b"[{(<".contains(c));
        let Some((_, rest)) = at.and_then(|at| text.split_at_checked(at)) else {
            return b"";
        };
        let (close, skip, hex) = match rest {
            [b'<', b'<', ..] => (b'>', 2, false),
            [b'<', after @ ..] if after.starts_with(b"Buffer ") => (b'>', 8, true),
            [b'<', after @ ..] if split_digits(after).0.len() >= 2 => (b'>', 1, true),
            [b'[', ..] => (b']', 1, false),
            [b'{', ..] => (b'}', 1, false),
            [b'(', ..] => (b')', 1, false),
            _ => return rest.get(1..).unwrap_or_default(),
        };
        self.list = Some(List {
            mark: None,
            start: line.len() - rest.len(),
            close,
            hex,
            elements: 0,
            bytes: Vec::new(),
            missing: None,
            cut: false,
        });
        rest.get(skip..).unwrap_or_default()
    }

    /// Reads the next part of a list; returns the rest, or `None` if the list is not one of bytes.
    fn inside<'a>(
        &mut self,
        line: &[u8],
        text: &'a [u8],
        sink: &mut ItemSink<'_>,
    ) -> Option<&'a [u8]> {
        let radix = self.radix;
        let list = self.list.as_mut()?;
        let (&c, rest) = text.split_first()?;
        if c == list.close {
            self.close(line, sink);
            return Some(rest);
        }
        // The text after the elements.
        if list.cut || c.is_ascii_whitespace() || matches!(c, b',' | b';' | b'|') {
            return Some(rest);
        }
        if text.starts_with(b"...") {
            list.missing = missing_bytes(text);
            list.cut = true;
            return Some(rest);
        }
        if text.starts_with(b"/*") {
            self.in_comment = true;
            return text.get(2..);
        }
        if text.starts_with(b"//") || c == b'#' {
            return Some(b"");
        }
        if list.bytes.len() >= MAX_BYTES {
            return None;
        }
        if list.hex {
            let (digits, rest) = split_digits(text);
            if digits.is_empty() || digits.len() % 2 == 1 {
                return None;
            }
            list.bytes.extend(
                digits
                    .chunks_exact(2)
                    .map(|pair| pair.iter().fold(0, |byte, &d| byte << 4 | nibble(d))),
            );
            list.elements += digits.len() / 2;
            return Some(rest);
        }
        if let Some(rest) = skip_place(text) {
            return Some(rest);
        }
        if let Some((times, rest)) = repeats(text) {
            let byte = *list.bytes.last()?;
            let room = MAX_BYTES.saturating_sub(list.bytes.len());
            let times = times.saturating_sub(1).min(room);
            list.bytes.resize(list.bytes.len() + times, byte);
            return Some(rest);
        }
        if let Some((byte, rest)) = quoted_number(text) {
            list.bytes.push(byte);
            list.elements += 1;
            return Some(rest);
        }
        if list.elements >= MIN_ELEMENTS && is_property(text) {
            list.cut = true;
            return Some(rest);
        }
        if c == b'\'' || c == b'"' {
            let before = list.bytes.len();
            let literal = ESCAPES.read(rest, Some(c), &mut list.bytes);
            list.elements += list.bytes.len() - before;
            return literal.rest;
        }
        if let Some((byte, rest)) = number(text, radix) {
            list.bytes.push(byte);
            list.elements += 1;
            return Some(rest);
        }
        skip_type(text)
    }

    fn text<'a>(&mut self, line: &'a [u8], text: &'a [u8], sink: &mut ItemSink<'_>) -> &'a [u8] {
        if self.in_comment {
            let end = memchr::memmem::find(text, b"*/");
            self.in_comment = end.is_none();
            return end.and_then(|end| text.get(end + 2..)).unwrap_or_default();
        }
        if self.list.is_none() {
            return self.outside(line, text);
        }
        if let Some(rest) = self.inside(line, text, sink) {
            return rest;
        }
        // Another bracket may open the list that counts.
        self.list = None;
        text
    }
}

/// Passes over the place of an element: `[12] = ` or `"12": `.
fn skip_place(text: &[u8]) -> Option<&[u8]> {
    let (open, close, mark) = match text.first()? {
        b'[' => (&b"["[..], &b"]"[..], b'='),
        b'"' => (&b"\""[..], &b"\""[..], b':'),
        _ => return None,
    };
    let rest = text.strip_prefix(open)?;
    let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
    let rest = rest.get(digits..)?.strip_prefix(close)?.trim_ascii_start();
    let (&c, rest) = rest.split_first()?;
    (digits > 0 && c == mark).then_some(rest)
}

/// Reads ` <repeats 12 times>`.
pub(super) fn repeats(text: &[u8]) -> Option<(usize, &[u8])> {
    let rest = text.strip_prefix(b"<repeats ")?;
    let end = rest.iter().position(|c| !c.is_ascii_digit())?;
    let (digits, rest) = rest.split_at_checked(end)?;
    let times = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((times, rest.strip_prefix(b" times>")?))
}

/// Reads a number in quotes: `'0x41'`.
fn quoted_number(text: &[u8]) -> Option<(u8, &[u8])> {
    let (quote, rest) = text
        .split_first()
        .filter(|(c, _)| matches!(c, b'\'' | b'"'))?;
    let (byte, rest) = number(rest.starts_with(b"0x").then_some(rest)?, 16)?;
    Some((byte, rest.strip_prefix(&[*quote])?))
}

/// Returns true for a property that browsers print after the elements: `byteLength: 69`.
fn is_property(text: &[u8]) -> bool {
    let name = text
        .iter()
        .take_while(|c| c.is_ascii_alphanumeric())
        .count();
    let is_name = text.first().is_some_and(u8::is_ascii_lowercase);
    is_name && text.get(name..).is_some_and(|rest| rest.starts_with(b": "))
}

/// Casts and types beside a number: `(byte)`, `as u8`, `::8`, `.toByte()`, the `b` of `b'A'`.
fn skip_type(text: &[u8]) -> Option<&[u8]> {
    let word_end = |text: &[u8]| {
        text.iter()
            .position(|c| !c.is_ascii_alphanumeric() && *c != b'_')
            .unwrap_or(text.len())
    };
    if let Some(cast) = text.strip_prefix(b"(") {
        let cast = cast.get(..MAX_CAST).unwrap_or(cast);
        let end = memchr::memchr(b')', cast)?;
        let words = cast.get(..end)?;
        let is_cast = words
            .iter()
            .all(|c| c.is_ascii_alphanumeric() || b" _".contains(c))
            && words.iter().any(u8::is_ascii_alphabetic);
        let len = words.len() + 2;
        return is_cast.then(|| text.get(len..)).flatten();
    }
    if let Some(size) = text.strip_prefix(b"::") {
        return size.get(word_end(size)..);
    }
    if let Some(method) = text.strip_prefix(b".to") {
        return method.get(word_end(method)..)?.strip_prefix(b"()");
    }
    let (word, rest) = text.split_at_checked(word_end(text))?;
    let known: [&[u8]; 8] = [
        b"as", b"u8", b"i8", b"byte", b"b", b"char", b"uint8_t", b"uint8",
    ];
    known.contains(&word).then_some(rest)
}

/// A number from -128 to 255, with its suffix.
fn number(text: &[u8], radix: u32) -> Option<(u8, &[u8])> {
    let (negative, body) = match text.strip_prefix(b"-") {
        Some(body) => (true, body),
        None => (false, text),
    };
    let lower = |at: usize| body.get(at).map(u8::to_ascii_lowercase);
    let (radix, digits) = match (lower(0)?, lower(1)) {
        (b'0', Some(b'x')) | (b'&', Some(b'h')) => (16, body.get(2..)?),
        (b'0', Some(b'o')) => (8, body.get(2..)?),
        (b'0', Some(b'b')) if radix < 16 => (2, body.get(2..)?),
        _ => (radix, body),
    };
    let end = digits
        .iter()
        .position(|c| !(*c as char).is_digit(radix))
        .unwrap_or(digits.len());
    let (digits, rest) = digits.split_at_checked(end)?;
    let value = i32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()?;
    let value = if negative { -value } else { value };
    let suffix = rest
        .iter()
        .position(|c| !c.is_ascii_alphanumeric() && *c != b'_')
        .unwrap_or(rest.len());
    let (suffix, rest) = rest.split_at_checked(suffix)?;
    let known: [&[u8]; 10] = [
        b"", b"u8", b"_u8", b"i8", b"_i8", b"u", b"U", b"L", b"uy", b"y",
    ];
    let fits = (-128..=255).contains(&value) && known.contains(&suffix);
    fits.then_some((value.to_le_bytes()[0], rest))
}

impl LineForm for Arrays {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = self.common.clean(line.text).into_owned();
        self.found = self.list.is_some();
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            rest = self.text(&text, rest, sink);
        }
        self.find_mark(&text);
        if !self.found && self.list.is_none() {
            self.common.other(&text);
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.close(b"", sink);
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}
