//! JSON, as RFC 8259 has it, and nothing beyond it.
//!
//! Numbers and text are kept as spelled; repeated keys are kept and shown. The parser agrees with `serde_json` on what
//! is JSON.

// Long: parser, measure and writer side by side, as in every encoding.

use crate::error::{DecodeError, show_byte};
use crate::span::Span;
use crate::tape::{Scalar, Shape, Sink};

/// What a text was seen to have while it was parsed, so that nobody need look again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Levels of nesting.
    pub levels: u32,
    /// A backslash in a string.
    pub escapes: bool,
    /// A line break between tokens.
    pub breaks: bool,
    /// An escape for half of a surrogate pair without the other half.
    pub lone: bool,
}

/// Parses one value that fills `span` of `bytes`, white space around it allowed, at most `depth` levels deep.
pub fn parse<S: Sink>(
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<Seen, DecodeError> {
    let text = span.of(bytes);
    // One look at a whole message is cheaper than one at each string.
    let plain = is_plain_text(text);
    let mut parser = Parser {
        text,
        at: 0,
        base: span.at(),
        depth,
        least: depth,
        plain,
        ascii: plain || text.is_ascii(),
        seen: Seen::default(),
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
        .map_err(|flaw| explain(*flaw, text, span.at(), depth))?;
    Ok(Seen {
        levels: depth - parser.least,
        ..parser.seen
    })
}

/// Whether all is ASCII without control characters and backslashes. Sixteen bytes at a time, in a form that compilers turn
/// into vector instructions; the last sixteen overlap those before, so that no byte is looked at alone.
#[allow(clippy::needless_bitwise_bool)] // lazy operators would be branches
fn is_plain_text(text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<16>() else {
        return false;
    };
    let (blocks, _) = text.as_chunks::<16>();
    let (mut high, mut low) = ([0; 16], [u8::MAX; 16]);
    for block in blocks.iter().chain([last]) {
        for (byte, (high, low)) in block.iter().zip(high.iter_mut().zip(&mut low)) {
            *high = byte.wrapping_sub(0x20).max(*high);
            *low = (byte ^ b'\\').min(*low);
        }
    }
    let ends = high.iter().zip(&low);
    !ends.fold(false, |odd, (high, low)| {
        odd | (*high >= 0x60) | (*low == 0)
    })
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
        plain: false,
        ascii: false,
        seen: Seen::default(),
    };
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
        Err(flaw) => Err(explain(*flaw, text, 0, depth)),
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

/// Copies JSON text so that it stays on one line: line breaks, where it has `breaks`, can only stand between tokens and
/// become spaces.
pub fn write_text(text: &[u8], breaks: bool, out: &mut Vec<u8>) {
    write_piece(text.trim_ascii(), breaks, out);
}

/// Copies a piece of JSON text as [`write_text`] does, white space around it included.
pub fn write_piece(text: &[u8], breaks: bool, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text);
    if breaks {
        for byte in out.get_mut(start..).unwrap_or_default() {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
}

/// Replaces every lone surrogate in JSON text by U+FFFD.
#[cold]
pub fn replace_lone(mut text: &mut [u8]) {
    const REPLACEMENT: &[u8] = b"\\ufffd";
    while let Some((_, rest)) = lone_surrogate(text).and_then(|at| text.split_at_mut_checked(at)) {
        let Some((escape, rest)) = rest.split_at_mut_checked(REPLACEMENT.len()) else {
            return;
        };
        escape.copy_from_slice(REPLACEMENT);
        text = rest;
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
#[inline(always)]
pub fn plain_run(bytes: &[u8]) -> usize {
    // Most keys end within a word; that is not worth a call.
    match bytes
        .first_chunk::<8>()
        .map(|c| must_escape(u64::from_le_bytes(*c)))
    {
        Some(hit) if hit != 0 => (hit.trailing_zeros() / 8) as usize,
        _ => plain_run_long(bytes),
    }
}

/// How many bytes there are before the next quote; more than there are where none comes.
#[inline(always)]
fn until_quote(bytes: &[u8]) -> usize {
    let quotes = |word: u64| {
        let quote = word ^ (ONES * b'"' as u64);
        quote.wrapping_sub(ONES) & !quote & HIGH
    };
    match bytes
        .first_chunk::<8>()
        .map(|c| quotes(u64::from_le_bytes(*c)))
    {
        Some(hit) if hit != 0 => (hit.trailing_zeros() / 8) as usize,
        _ => memchr::memchr(b'"', bytes).unwrap_or(usize::MAX),
    }
}

fn plain_run_long(bytes: &[u8]) -> usize {
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
    match *text {
        [] => out.extend_from_slice(&[b'"', b'"', after]),
        [a] if is_plain(&[a]) => out.extend_from_slice(&[b'"', a, b'"', after]),
        [a, b] if is_plain(&[a, b]) => out.extend_from_slice(&[b'"', a, b, b'"', after]),
        [a, b, c] if is_plain(&[a, b, c]) => {
            out.extend_from_slice(&[b'"', a, b, c, b'"', after]);
        }
        _ => {
            return match text.len() {
                0..4 => false,
                4..=8 => quote_ends::<4, 11>(text, after, out),
                9..=16 => quote_ends::<8, 19>(text, after, out),
                17..=32 => quote_ends::<16, 35>(text, after, out),
                33..=64 => quote_ends::<32, 67>(text, after, out),
                _ => false,
            };
        }
    }
    true
}

/// [`write_short`] for `N` to `2 * N` bytes: the first `N` and the last `N`, which may overlap, are all of them. `ROOM` is
/// what the longest takes.
#[inline]
fn quote_ends<const N: usize, const ROOM: usize>(
    text: &[u8],
    after: u8,
    out: &mut Vec<u8>,
) -> bool {
    let len = text.len();
    let (Some(first), Some(last)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) else {
        return false;
    };
    if !(is_plain(first) & is_plain(last)) {
        return false;
    }
    // Put together in its place: what is written in small pieces and at once copied in a large one makes the processor
    // wait.
    out.extend_from_slice(&[b'"'; ROOM]);
    if let Some(item) = out.last_chunk_mut::<ROOM>() {
        item[1..=N].copy_from_slice(first);
        item[len + 1 - N..=len].copy_from_slice(last);
        item[len + 1] = b'"';
        item[len + 2] = after;
    }
    out.truncate(out.len() + len + 3 - ROOM);
    true
}

/// Whether all is ASCII and needs no escape. A known length, and no branches, make this a few vector instructions.
#[inline]
#[allow(clippy::needless_bitwise_bool)]
fn is_plain<const N: usize>(text: &[u8; N]) -> bool {
    let odd = |b: u8| !(0x20..0x80).contains(&b) | (b == b'"') | (b == b'\\');
    !text.iter().fold(false, |any, &b| any | odd(b))
}

fn bad_utf8(text: &[u8], base: usize, at: usize) -> DecodeError {
    let got = show_byte(text.get(at).copied().unwrap_or_default());
    let span = Span::new(base + at, base + at + 1);
    DecodeError::new("bad-utf8", span, "message", "UTF-8", got)
}

/// What went wrong; [`explain`] turns it into an error. Steps return it boxed: all is well in one register.
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
    /// All of the text is ASCII.
    ascii: bool,
    /// And it has no backslash and no control character, so that strings end at the next quote.
    plain: bool,
    seen: Seen,
}

impl Parser<'_> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn space(&mut self) {
        while let Some(byte @ (b' ' | b'\n' | b'\r' | b'\t')) = self.peek() {
            self.seen.breaks |= matches!(byte, b'\n' | b'\r');
            self.at += 1;
        }
    }

    /// The next byte that is no white space.
    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        match self.peek() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => self.next_behind_space(),
        }
    }

    #[inline(never)]
    fn next_behind_space(&mut self) -> Option<u8> {
        self.space();
        self.peek()
    }

    #[cold]
    fn want<T>(&self, wanted: &'static str) -> Result<T, Box<Flaw>> {
        let at = self.at;
        Err(Flaw::Want { at, wanted }.into())
    }

    fn end(&mut self) -> Result<(), Box<Flaw>> {
        self.space();
        if self.at < self.text.len() {
            Err(Flaw::Trailing { at: self.at }.into())
        } else {
            Ok(())
        }
    }

    #[inline]
    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start, self.base + self.at)
    }

    /// Text, which most values are, costs no call.
    #[inline(always)]
    fn value<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        if self.next() == Some(b'"') {
            self.string(sink)
        } else {
            self.no_string(sink)
        }
    }

    fn no_string<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        match self.peek() {
            Some(b'{') => self.object(sink),
            Some(b'[') => self.array(sink),
            Some(b'-' | b'0'..=b'9') => self.number(sink),
            Some(b't') => self.word("true", Scalar::Bool(true), sink),
            Some(b'f') => self.word("false", Scalar::Bool(false), sink),
            Some(b'n') => self.word("null", Scalar::Null, sink),
            _ => self.want("a JSON value"),
        }
    }

    fn word<S: Sink>(
        &mut self,
        word: &'static str,
        value: Scalar<'_>,
        sink: &mut S,
    ) -> Result<(), Box<Flaw>> {
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

    #[inline(always)]
    fn string<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        if !self.plain {
            return self.odd_string(sink);
        }
        let start = self.at;
        let rest = self.text.get(start + 1..).unwrap_or_default();
        let Some((content, _)) = rest.split_at_checked(until_quote(rest)) else {
            self.at = self.text.len();
            return self.want("a closing quote");
        };
        self.at += content.len() + 2;
        sink.scalar(self.span(start), Scalar::Json(content, false));
        Ok(())
    }

    #[inline(never)] // or it would cost those that are not odd
    fn odd_string<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        let start = self.at;
        self.at += 1;
        let mut escaped = false;
        loop {
            self.at += plain_run(self.text.get(self.at..).unwrap_or_default());
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.seen.escapes = true;
                    self.escape()?;
                }
                Some(_) => return self.want("an escape for a control character"),
                None => return self.want("a closing quote"),
            }
        }
        let content = self.text.get(start + 1..self.at).unwrap_or_default();
        if !self.ascii
            && let Err(e) = std::str::from_utf8(content)
        {
            let at = start + 1 + e.valid_up_to();
            return Err(Flaw::Utf8 { at }.into());
        }
        self.at += 1;
        sink.scalar(self.span(start), Scalar::Json(content, escaped));
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Box<Flaw>> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let unit = self.hex4()?;
                match unit {
                    0xd800..=0xdbff if self.text.get(self.at..self.at + 2) == Some(b"\\u") => {
                        self.at += 1;
                        let low = self.hex4()?;
                        // What is no second half is looked at again by itself.
                        if !(0xdc00..=0xdfff).contains(&low) {
                            self.seen.lone = true;
                            self.at -= 6;
                        }
                    }
                    0xd800..=0xdfff => self.seen.lone = true,
                    _ => {}
                }
            }
            _ => return self.want("an escape that JSON has"),
        }
        Ok(())
    }

    /// `u` and four hex digits.
    fn hex4(&mut self) -> Result<u32, Box<Flaw>> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(16)) else {
                return self.want("four hex digits");
            };
            unit = unit << 4 | digit;
            self.at += 1;
        }
        Ok(unit)
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Box<Flaw>> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.want("a digit");
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }

    #[inline]
    fn number<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
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
    fn descend(&mut self) -> Result<(), Box<Flaw>> {
        match self.depth.checked_sub(1) {
            Some(left) => {
                self.depth = left;
                self.least = self.least.min(left);
                Ok(())
            }
            None => Err(Flaw::Deep { at: self.at }.into()),
        }
    }

    fn array<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        self.descend()?;
        sink.open(self.base + self.at, Shape::Array);
        if sink.skips() {
            self.elements(&mut super::Nothing)?;
        } else {
            self.elements(sink)?;
        }
        sink.close(self.base + self.at);
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn elements<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        self.at += 1;
        if self.next() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                sink.item();
                self.value(sink)?;
                match self.next() {
                    Some(b',') => self.at += 1,
                    Some(b']') => break,
                    _ => return self.want("`,` or `]`"),
                }
            }
            self.at += 1;
        }
        Ok(())
    }

    fn object<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        self.descend()?;
        sink.open(self.base + self.at, Shape::Map);
        if sink.skips() {
            self.members(&mut super::Nothing)?;
        } else {
            self.members(sink)?;
        }
        sink.close(self.base + self.at);
        self.depth += 1;
        Ok(())
    }

    #[inline]
    fn members<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<Flaw>> {
        self.at += 1;
        if self.next() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                if self.next() != Some(b'"') {
                    return self.want("a key in quotes");
                }
                sink.key();
                self.string(sink)?;
                if self.next() != Some(b':') {
                    return self.want("`:`");
                }
                self.at += 1;
                sink.value();
                self.value(sink)?;
                match self.next() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    _ => return self.want("`,` or `}`"),
                }
            }
            self.at += 1;
        }
        Ok(())
    }
}
