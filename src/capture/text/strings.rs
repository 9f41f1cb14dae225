//! String literals that show bytes by escapes.
//!
//! ```text
//!   b'\x00\x00\x00A\x85'                  Python
//!   "\x00\x00\x00\x41"                    C; literals beside each other are one
//!   "\u0000\u0000\u0000A\u0085"           JSON, JavaScript
//!   payload=\x00\x00\x00A\x85             without quotes, up to a blank
//!   "A", '\000' <repeats 20 times>, "B"   GDB
//! ```

use super::arrays::repeats;
use super::escapes::{Escapes, marks_bytes};
use super::line::{Common, missing_bytes};
use crate::capture::chunk::ItemSink;
use crate::capture::lines::{Line, LineForm};

/// The most times of a byte that GDB shows once.
const MAX_REPEATED: usize = 1 << 20;

pub(super) struct Strings {
    common: Common,
    escapes: Escapes,
    /// The literal before this place counts and nothing but separators came since.
    joined: bool,
    bytes: Vec<u8>,
}

impl Strings {
    pub(super) fn new(quoted: bool, escapes: Escapes) -> Self {
        Self {
            common: Common::new(quoted),
            escapes,
            joined: false,
            bytes: Vec::new(),
        }
    }

    /// Reads one literal; returns the text after it and true if its bytes count.
    fn literal<'a>(&mut self, before: &[u8], text: &'a [u8]) -> Option<(bool, &'a [u8])> {
        let (&quote, body) = text.split_first()?;
        self.bytes.clear();
        if quote == b'\\' {
            let literal = self.escapes.read(text, None, &mut self.bytes);
            return Some((literal.numbers >= 2, literal.rest?));
        }
        let literal = self.escapes.read(body, Some(quote), &mut self.bytes);
        let counts = literal.numbers > 0 || marks_bytes(before) || self.joined;
        match literal.rest {
            Some(rest) => match repeats(rest.trim_ascii_start()) {
                Some((times, rest)) => Some((true, self.repeat(times, rest))),
                None => Some((counts || repeats_follow(rest), rest)),
            },
            // A literal without its end was cut; a quote alone is an apostrophe.
            None => (literal.numbers > 0).then_some((true, b"")),
        }
    }

    /// Repeats the last byte; returns the text after the comma before the next string.
    fn repeat<'a>(&mut self, times: usize, rest: &'a [u8]) -> &'a [u8] {
        if let Some(&byte) = self.bytes.last() {
            let times = times.saturating_sub(1).min(MAX_REPEATED);
            self.bytes.resize(self.bytes.len() + times, byte);
        }
        rest.strip_prefix(b", ").unwrap_or(rest)
    }
}

/// Returns true if GDB shows a character many times after a string: `, '\000' <repeats 20 times>`.
fn repeats_follow(text: &[u8]) -> bool {
    let near = text.get(..24).unwrap_or(text);
    near.starts_with(b", '") && memchr::memmem::find(near, b"' <repeats ").is_some()
}

/// Returns true for what may stand between the parts of one literal.
fn joins(c: u8) -> bool {
    c.is_ascii_whitespace() || b"+.\\()".contains(&c)
}

impl LineForm for Strings {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = self.common.clean(line.text).into_owned();
        let mut found = false;
        let mut at = 0;
        // The quotes that no later quote closes: all later ones of their kind are escaped.
        let mut unclosed = Vec::new();
        while let Some((&c, after)) = text.get(at..).and_then(<[u8]>::split_first) {
            let is_escape = c == b'\\'
                && after
                    .first()
                    .is_some_and(|c| matches!(c, b'x' | b'u' | b'0'..=b'3'));
            let before = text.get(..at).unwrap_or_default();
            let rest = text.get(at..).unwrap_or_default();
            let is_quote = matches!(c, b'"' | b'\'' | b'`') && !unclosed.contains(&c);
            let literal = (is_quote || is_escape).then(|| self.literal(before, rest));
            if is_quote && matches!(literal, Some(None)) {
                unclosed.push(c);
            }
            if let Some((counts, rest)) = literal.flatten() {
                at = text.len() - rest.len();
                self.joined = counts;
                if !counts {
                    continue;
                }
                let mark = self.common.marks.of(&text, before, rest);
                let bytes = std::mem::take(&mut self.bytes);
                self.common.emit(mark, &bytes, sink);
                self.bytes = bytes;
                if let Some(len) = missing_bytes(rest) {
                    self.common.missing(mark.direction, len, sink);
                }
                found = true;
                continue;
            }
            self.joined &= joins(c);
            at += 1;
        }
        if !found {
            self.common.other(&text);
        }
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}
