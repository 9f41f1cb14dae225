//! JSON, exactly as in RFC 8259.
//!
//! Numbers and text stay as written; repeated keys are retained and shown. The parser accepts the
//! same text as `serde_json`.

mod error;
mod find;
mod scan;
mod write;

use crate::error::DecodeError;
use crate::span::Span;
use crate::tape::{Node, Scalar, Shape, Sink, Tape};
use error::{JsonError, explain};
pub(crate) use find::find_text;
pub use scan::lone_surrogate;
use scan::{plain_run, until_quote};
pub(crate) use write::{push_short, replace_lone_surrogates, write_escaped, write_piece};
#[cfg(feature = "cli")]
pub(crate) use write::{write_compact, write_lines};
pub use write::{write_short, write_str, write_text};

/// Properties of a text that the parser records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonTraits {
    /// Levels of nesting.
    pub(crate) levels: u32,
    /// A backslash in a string.
    pub(crate) escapes: bool,
    /// A line break between tokens.
    pub(crate) breaks: bool,
    /// An escape for one half of a surrogate pair without the other.
    pub(crate) lone_surrogate: bool,
}

/// Parses a text that is one value, and returns the value.
pub(crate) fn root<'t>(
    text: &'t [u8],
    depth: u32,
    tape: &'t mut Tape,
) -> Result<Node<'t>, DecodeError> {
    let whole = Span::new(0, text.len());
    parse(text, whole, depth, tape)?;
    let nothing = || DecodeError::new("bad-json", whole, "JSON", "a value", "nothing");
    tape.root(text).ok_or_else(nothing)
}

/// Parses one value that fills `span` of `bytes`, white space around it allowed, at most `depth`
/// levels deep.
pub fn parse<S: Sink>(
    bytes: &[u8],
    span: Span,
    depth: u32,
    sink: &mut S,
) -> Result<JsonTraits, DecodeError> {
    let text = span.of(bytes);
    // One check of the whole message is cheaper than one for each string.
    let plain = is_plain_text(text);
    let mut parser = JsonParser {
        text,
        at: 0,
        base: span.at(),
        depth,
        least: depth,
        plain,
        ascii: plain || text.is_ascii(),
        seen: JsonTraits::default(),
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
        .map_err(|violation| explain(*violation, text, span.at(), depth))?;
    Ok(JsonTraits {
        levels: depth - parser.least,
        ..parser.seen
    })
}

/// Returns `true` if all bytes are ASCII without control characters and backslashes. Examines
/// sixteen bytes at a time, in a form that compilers turn into vector instructions; the last block
/// overlaps the one before, so that no byte remains.
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
    !ends.fold(false, |needs_escape, (high, low)| {
        needs_escape | (*high >= 0x60) | (*low == 0)
    })
}

/// Returns the length of the value at the start of `bytes`, space before it included; `None` if it
/// is not complete. A number is complete only if a byte follows it, or at the end of the stream.
pub fn measure(bytes: &[u8], depth: u32, eof: bool) -> Result<Option<usize>, DecodeError> {
    let (text, whole) = (bytes, eof);
    let mut parser = JsonParser {
        text,
        at: 0,
        base: 0,
        depth,
        least: depth,
        plain: false,
        ascii: false,
        seen: JsonTraits::default(),
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
        Err(violation) if violation.at() >= text.len() && !whole => Ok(None),
        Err(violation) => Err(explain(*violation, text, 0, depth)),
    }
}

struct JsonParser<'a> {
    text: &'a [u8],
    at: usize,
    base: usize,
    /// The number of levels that can still be opened, and its minimum so far.
    depth: u32,
    least: u32,
    /// All of the text is ASCII.
    ascii: bool,
    /// The text also has no backslash and no control character, so that strings end at the next
    /// quote.
    plain: bool,
    seen: JsonTraits,
}

impl JsonParser<'_> {
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

    /// Returns the next byte that is not white space.
    #[inline(always)]
    fn next(&mut self) -> Option<u8> {
        match self.peek() {
            Some(byte) if byte > b' ' => Some(byte),
            _ => self.next_after_space(),
        }
    }

    #[inline(never)]
    fn next_after_space(&mut self) -> Option<u8> {
        self.space();
        self.peek()
    }

    #[cold]
    fn expected<T>(&self, wanted: &'static str) -> Result<T, Box<JsonError>> {
        let at = self.at;
        Err(JsonError::Want { at, wanted }.into())
    }

    fn end(&mut self) -> Result<(), Box<JsonError>> {
        self.space();
        if self.at < self.text.len() {
            Err(JsonError::Trailing { at: self.at }.into())
        } else {
            Ok(())
        }
    }

    #[inline]
    fn span(&self, start: usize) -> Span {
        Span::new(self.base + start, self.base + self.at)
    }

    /// Strings are the most common values and cost no call.
    #[inline(always)]
    fn value<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<JsonError>> {
        if self.next() == Some(b'"') {
            self.string(sink)
        } else {
            self.other_value(sink)
        }
    }

    fn other_value<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<JsonError>> {
        match self.peek() {
            Some(b'{') => self.object(sink),
            Some(b'[') => self.array(sink),
            Some(b'-' | b'0'..=b'9') => self.number(sink),
            Some(b't') => self.word("true", Scalar::Bool(true), sink),
            Some(b'f') => self.word("false", Scalar::Bool(false), sink),
            Some(b'n') => self.word("null", Scalar::Null, sink),
            _ => self.expected("a JSON value"),
        }
    }

    fn word<S: Sink>(
        &mut self,
        word: &'static str,
        value: Scalar<'_>,
        sink: &mut S,
    ) -> Result<(), Box<JsonError>> {
        let start = self.at;
        for byte in word.bytes() {
            if self.peek() != Some(byte) {
                return self.expected(word);
            }
            self.at += 1;
        }
        sink.scalar(self.span(start), value);
        Ok(())
    }

    #[inline(always)]
    fn string<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<JsonError>> {
        if !self.plain {
            return self.escaped_string(sink);
        }
        let start = self.at;
        let rest = self.text.get(start + 1..).unwrap_or_default();
        let Some((content, _)) = rest.split_at_checked(until_quote(rest)) else {
            self.at = self.text.len();
            return self.expected("a closing quote");
        };
        self.at += content.len() + 2;
        sink.scalar(self.span(start), Scalar::Json(content, false));
        Ok(())
    }

    #[inline(never)] // or it would cost those that are not odd
    fn escaped_string<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<JsonError>> {
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
                Some(_) => return self.expected("an escape for a control character"),
                None => return self.expected("a closing quote"),
            }
        }
        let content = self.text.get(start + 1..self.at).unwrap_or_default();
        if !self.ascii
            && let Err(e) = std::str::from_utf8(content)
        {
            let at = start + 1 + e.valid_up_to();
            return Err(JsonError::Utf8 { at }.into());
        }
        self.at += 1;
        sink.scalar(self.span(start), Scalar::Json(content, escaped));
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Box<JsonError>> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                let unit = self.hex4()?;
                match unit {
                    0xd800..=0xdbff if self.text.get(self.at..self.at + 2) == Some(b"\\u") => {
                        self.at += 1;
                        let low = self.hex4()?;
                        // A second escape that does not complete the pair is examined on its own.
                        if !(0xdc00..=0xdfff).contains(&low) {
                            self.seen.lone_surrogate = true;
                            self.at -= 6;
                        }
                    }
                    0xd800..=0xdfff => self.seen.lone_surrogate = true,
                    _ => {}
                }
            }
            _ => return self.expected("an escape that JSON has"),
        }
        Ok(())
    }

    /// `u` and four hex digits.
    fn hex4(&mut self) -> Result<u32, Box<JsonError>> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(16)) else {
                return self.expected("four hex digits");
            };
            unit = unit << 4 | digit;
            self.at += 1;
        }
        Ok(unit)
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Box<JsonError>> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.expected("a digit");
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }

    #[inline]
    fn number<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<JsonError>> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.peek() {
                return self.expected("no digit after a leading zero");
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
    fn descend(&mut self) -> Result<(), Box<JsonError>> {
        match self.depth.checked_sub(1) {
            Some(left) => {
                self.depth = left;
                self.least = self.least.min(left);
                Ok(())
            }
            None => Err(JsonError::Deep { at: self.at }.into()),
        }
    }

    fn array<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<JsonError>> {
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
    fn elements<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<JsonError>> {
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
                    _ => return self.expected("`,` or `]`"),
                }
            }
            self.at += 1;
        }
        Ok(())
    }

    fn object<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<JsonError>> {
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
    fn members<S: Sink>(&mut self, sink: &mut S) -> Result<(), Box<JsonError>> {
        self.at += 1;
        if self.next() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                if self.next() != Some(b'"') {
                    return self.expected("a key in quotes");
                }
                sink.key();
                self.string(sink)?;
                if self.next() != Some(b':') {
                    return self.expected("`:`");
                }
                self.at += 1;
                sink.value();
                self.value(sink)?;
                match self.next() {
                    Some(b',') => self.at += 1,
                    Some(b'}') => break,
                    _ => return self.expected("`,` or `}`"),
                }
            }
            self.at += 1;
        }
        Ok(())
    }
}
