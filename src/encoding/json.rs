//! JSON, as RFC 8259 has it, and nothing beyond it.
//!
//! Numbers and text are kept as spelled; repeated keys are kept and shown. The parser agrees with `serde_json` on what
//! is JSON.

// Long: parser, measure and writer side by side, as in every encoding.

use crate::error::{DecodeError, show_byte};
use crate::span::Span;
use crate::tape::{Scalar, Shape, Sink};

/// Parses one value that fills `span` of `bytes`, white space around it allowed, at most `depth` levels deep; tells how
/// deep it was.
pub fn parse<S: Sink>(
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<u32, DecodeError> {
    let text = span.of(bytes);
    let mut parser = Parser {
        text,
        at: 0,
        base: span.at(),
        depth,
        least: depth,
    };
    parser.space();
    if parser.at == text.len() {
        return Err(DecodeError::new(
            "empty",
            span,
            "message",
            "a JSON value",
            "nothing",
        ));
    }
    parser
        .value(sink)
        .and_then(|()| parser.end())
        .map_err(|flaw| explain(flaw, text, span.at(), depth))?;
    Ok(depth - parser.least)
}

/// How many bytes the value at the start of `bytes` takes, space before it included; `None` where it is not complete.
/// A number is complete only where something follows it, or at the end of the stream.
pub fn measure(bytes: &[u8], depth: u32, eof: bool) -> Result<Option<usize>, DecodeError> {
    let (text, whole) = (bytes, eof);
    let mut parser = Parser {
        text,
        at: 0,
        base: 0,
        depth,
        least: depth,
    };
    parser.space();
    match parser.value(&mut super::Nothing) {
        Ok(())
            if parser.at == text.len()
                && !whole
                && !matches!(text.last(), Some(b'}' | b']' | b'"' | b'e' | b'l')) =>
        {
            Ok(None)
        }
        Ok(()) => Ok(Some(parser.at)),
        Err(flaw) if flaw.at() >= text.len() && !whole => Ok(None),
        Err(flaw) => Err(explain(flaw, text, 0, depth)),
    }
}

/// Where JSON text that was checked before escapes half of a surrogate pair without the other half. The grammar has
/// that (RFC 8259 section 8.2), but it is no text, and some parsers refuse it.
pub fn lone_surrogate(text: &[u8]) -> Option<usize> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', text.get(at..)?) {
        at += found;
        match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => return Some(at),
            Some(_) => at += 6,
            // Any other escape is a backslash and one character.
            None => at += 2,
        }
    }
    None
}

/// Copies JSON text so that it stays on one line: line breaks can only stand between tokens and become spaces.
pub fn write_text(text: &[u8], out: &mut Vec<u8>) {
    let text = text.trim_ascii();
    let start = out.len();
    out.extend_from_slice(text);
    if memchr::memchr2(b'\n', b'\r', text).is_some() {
        for byte in out.get_mut(start..).unwrap_or_default() {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

/// Writes text as a JSON string, quotes included.
#[inline]
pub fn write_str(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    write_escaped(text.as_bytes(), out);
    out.push(b'"');
}

/// Writes UTF-8 with what JSON strings cannot hold escaped.
#[inline]
pub fn write_escaped(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let clean = plain_run(rest);
        let (run, tail) = rest.split_at(clean);
        out.extend_from_slice(run);
        let Some((&byte, after)) = tail.split_first() else {
            return;
        };
        write_escape(byte, out);
        rest = after;
    }
}

#[cold]
fn write_escape(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of every byte of a word that a JSON string cannot hold as it is. (Bits above the lowest that is set may
/// be wrong; the lowest is right.)
#[inline]
const fn must_escape(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let slash = word ^ (ONES * b'\\' as u64);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    ((quote.wrapping_sub(ONES) & !quote) | (slash.wrapping_sub(ONES) & !slash) | control) & HIGH
}

/// How many bytes at the start need no escape: none is a quote, a backslash or below 0x20.
#[inline]
pub fn plain_run(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|b| b.first_chunk::<8>()) {
        let hit = must_escape(u64::from_le_bytes(*chunk));
        if hit != 0 {
            return at + (hit.trailing_zeros() / 8) as usize;
        }
        at += 8;
        // Long text: sixteen at a time, in a form that compilers turn into vector instructions.
        while let Some(chunk) = bytes.get(at..).and_then(|b| b.first_chunk::<16>()) {
            let hit = chunk.iter().fold(false, |hit, &b| {
                hit || (b < 0x20) || (b == b'"') || (b == b'\\')
            });
            if hit {
                break;
            }
            at += 16;
        }
    }
    let tail = bytes.get(at..).unwrap_or_default();
    at + tail
        .iter()
        .position(|&b| b < 0x20 || b == b'"' || b == b'\\')
        .unwrap_or(tail.len())
}

/// Copies a few bytes in words: a call to copy ten bytes costs more than they do.
#[inline]
pub fn push_short(bytes: &[u8], out: &mut Vec<u8>) {
    let len = bytes.len();
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) if len <= 16 => {
            out.extend_from_slice(first);
            // The last eight overlap the first: what is there twice goes.
            out.truncate(out.len() + len - 16);
            out.extend_from_slice(last);
        }
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) if len <= 8 => {
                out.extend_from_slice(first);
                out.truncate(out.len() + len - 8);
                out.extend_from_slice(last);
            }
            _ if len < 4 => bytes.iter().for_each(|byte| out.push(*byte)),
            _ => out.extend_from_slice(bytes),
        },
    }
}

/// Writes text as a JSON string, and one more byte after it, where it is ASCII and needs no escape, which nearly all keys
/// and most values are; otherwise writes nothing and says so.
#[inline]
pub fn write_short(text: &[u8], after: u8, out: &mut Vec<u8>) -> bool {
    const ROOM: usize = 24;
    let len = text.len();
    let mut item = [b'"'; ROOM];
    match (text.first_chunk::<8>(), text.last_chunk::<8>()) {
        (Some(first), Some(last)) if len <= 16 => {
            if dirty(u64::from_le_bytes(*first)) | dirty(u64::from_le_bytes(*last)) != 0 {
                return false;
            }
            item[1..9].copy_from_slice(first);
            // The last eight may overlap the first.
            item[len - 7..=len].copy_from_slice(last);
        }
        (None, _) => match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                let word = |half: &[u8; 4]| u32::from_le_bytes(*half) as u64;
                if dirty(word(first) << 32 | word(last)) != 0 {
                    return false;
                }
                item[1..5].copy_from_slice(first);
                item[len - 3..=len].copy_from_slice(last);
            }
            _ => {
                for (to, from) in item[1..4].iter_mut().zip(text) {
                    if !(0x20..0x80).contains(from) || matches!(from, b'"' | b'\\') {
                        return false;
                    }
                    *to = *from;
                }
            }
        },
        _ => {
            if !is_plain(text) {
                return false;
            }
            out.push(b'"');
            out.extend_from_slice(text);
            out.push(b'"');
            out.push(after);
            return true;
        }
    }
    item[len + 1] = b'"';
    item[len + 2] = after;
    out.extend_from_slice(&item);
    out.truncate(out.len() + len + 3 - ROOM);
    true
}

/// The high bit of every byte of a word that is not ASCII or needs an escape.
#[inline]
const fn dirty(word: u64) -> u64 {
    must_escape(word) | (word & HIGH)
}

/// Whether text of more than eight bytes is ASCII and needs no escape.
#[inline]
fn is_plain(text: &[u8]) -> bool {
    let (chunks, _) = text.as_chunks::<8>();
    let all = chunks
        .iter()
        .fold(0, |all, chunk| all | dirty(u64::from_le_bytes(*chunk)));
    let last = text
        .last_chunk::<8>()
        .map_or(HIGH, |last| dirty(u64::from_le_bytes(*last)));
    all | last == 0
}

fn bad_utf8(text: &[u8], base: usize, at: usize) -> DecodeError {
    let got = show_byte(text.get(at).copied().unwrap_or_default());
    let span = Span::new(base + at, base + at + 1);
    DecodeError::new("bad-utf8", span, "message", "UTF-8", got)
}

/// What went wrong, small enough to return from the innermost step; [`explain`] turns it into an error.
#[derive(Clone, Copy)]
enum Flaw {
    Want { at: usize, wanted: &'static str },
    Deep { at: usize },
    Trailing { at: usize },
    Utf8 { at: usize },
}

impl Flaw {
    fn at(self) -> usize {
        match self {
            Self::Want { at, .. }
            | Self::Deep { at }
            | Self::Trailing { at }
            | Self::Utf8 { at } => at,
        }
    }
}

#[cold]
fn explain(flaw: Flaw, text: &[u8], base: usize, depth: u32) -> DecodeError {
    let place = base + flaw.at();
    // MUST (RFC 8259 section 8.1): UTF-8. What is not says more than what was wanted in its place.
    if let Err(e) = std::str::from_utf8(text) {
        return bad_utf8(text, base, e.valid_up_to());
    }
    match flaw {
        Flaw::Utf8 { at } => bad_utf8(text, base, at),
        Flaw::Want { at, wanted } => match text.get(at) {
            None => DecodeError::new(
                "ends-early",
                Span::new(place, place),
                "message",
                wanted,
                "the end",
            ),
            Some(&byte) => DecodeError::new(
                "bad-json",
                Span::new(place, place + 1),
                "message",
                wanted,
                show_byte(byte),
            ),
        },
        Flaw::Deep { .. } => super::too_deep(place, depth),
        Flaw::Trailing { at } => {
            let rest = Span::new(place, base + text.len());
            let error = DecodeError::new(
                "trailing-bytes",
                rest,
                "message",
                "the end",
                format!("{} more bytes", rest.len),
            );
            match measure(text.get(at..).unwrap_or_default(), depth, true) {
                Ok(Some(_)) => error.hint("two values are glued together"),
                _ => error,
            }
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    base: usize,
    /// Levels that may still be opened, and the least that this ever was.
    depth: u32,
    least: u32,
}

impl Parser<'_> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn want<T>(&self, wanted: &'static str) -> Result<T, Flaw> {
        Err(Flaw::Want {
            at: self.at,
            wanted,
        })
    }

    fn end(&mut self) -> Result<(), Flaw> {
        self.space();
        if self.at < self.text.len() {
            Err(Flaw::Trailing { at: self.at })
        } else {
            Ok(())
        }
    }

    #[inline]
    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start, self.base + self.at)
    }

    fn value<S: Sink>(&mut self, sink: &mut S) -> Result<(), Flaw> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => self.string(sink),
            Some(b'{') => self.object(sink),
            Some(b'[') => self.array(sink),
            Some(b'-' | b'0'..=b'9') => self.number(sink),
            Some(b't') => self.word("true", Scalar::Bool(true), sink),
            Some(b'f') => self.word("false", Scalar::Bool(false), sink),
            Some(b'n') => self.word("null", Scalar::Null, sink),
            _ => Err(Flaw::Want {
                at: start,
                wanted: "a JSON value",
            }),
        }
    }

    fn word<S: Sink>(
        &mut self,
        word: &'static str,
        value: Scalar<'_>,
        sink: &mut S,
    ) -> Result<(), Flaw> {
        let start = self.at;
        for byte in word.bytes() {
            if self.peek() != Some(byte) {
                return self.want(word);
            }
            self.at += 1;
        }
        sink.scalar(self.span(start), value);
        Ok(())
    }

    #[inline]
    fn string<S: Sink>(&mut self, sink: &mut S) -> Result<(), Flaw> {
        let start = self.at;
        self.at += 1;
        let mut escaped = false;
        loop {
            self.at += plain_run(self.text.get(self.at..).unwrap_or_default());
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return self.want("an escape for a control character"),
                None => return self.want("a closing quote"),
            }
        }
        let content = self.text.get(start + 1..self.at).unwrap_or_default();
        // Text is nearly always ASCII; a look for high bits is cheaper than a call.
        if !content.is_ascii()
            && let Err(e) = std::str::from_utf8(content)
        {
            return Err(Flaw::Utf8 {
                at: start + 1 + e.valid_up_to(),
            });
        }
        self.at += 1;
        sink.scalar(self.span(start), Scalar::Json(content, escaped));
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Flaw> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => self.hex4()?,
            _ => return self.want("an escape that JSON has"),
        }
        Ok(())
    }

    /// `u` and four hex digits.
    fn hex4(&mut self) -> Result<(), Flaw> {
        self.at += 1;
        for _ in 0..4 {
            if !self.peek().is_some_and(|b| b.is_ascii_hexdigit()) {
                return self.want("four hex digits");
            }
            self.at += 1;
        }
        Ok(())
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Flaw> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.want("a digit");
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }

    #[inline]
    fn number<S: Sink>(&mut self, sink: &mut S) -> Result<(), Flaw> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.peek() {
                return self.want("no digit after a leading zero");
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        sink.scalar(self.span(start), Scalar::Number(text));
        Ok(())
    }

    #[inline]
    fn descend(&mut self) -> Result<(), Flaw> {
        match self.depth.checked_sub(1) {
            Some(left) => {
                self.depth = left;
                self.least = self.least.min(left);
                Ok(())
            }
            None => Err(Flaw::Deep { at: self.at }),
        }
    }

    fn array<S: Sink>(&mut self, sink: &mut S) -> Result<(), Flaw> {
        self.descend()?;
        sink.open(self.base + self.at, Shape::Array);
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                sink.item();
                self.value(sink)?;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b']') => break,
                    _ => return self.want("`,` or `]`"),
                }
                self.space();
            }
            self.at += 1;
        }
        sink.close(self.base + self.at);
        self.depth += 1;
        Ok(())
    }

    fn object<S: Sink>(&mut self, sink: &mut S) -> Result<(), Flaw> {
        self.descend()?;
        sink.open(self.base + self.at, Shape::Map);
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                if self.peek() != Some(b'"') {
                    return self.want("a key in quotes");
                }
                sink.key();
                self.string(sink)?;
                self.space();
                if self.peek() != Some(b':') {
                    return self.want("`:`");
                }
                self.at += 1;
                self.space();
                sink.value();
                self.value(sink)?;
                self.space();
                match self.peek() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    _ => return self.want("`,` or `}`"),
                }
                self.space();
            }
            self.at += 1;
        }
        sink.close(self.base + self.at);
        self.depth += 1;
        Ok(())
    }
}
