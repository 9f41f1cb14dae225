//! Bytes of which some are escaped by a mark and two hex digits.
//!
//! ```text
//!   %00%00%00A%85%A7version     in URLs
//!   msg=%7B%22id%22%3A1%7D&x=1  a message as the value of a field: `+` is a blank
//!   =00=00=00A=85=A7version=    quoted-printable; a mark at the end of a line joins it to the next
//! ```

use super::finder::Finder;
use super::line::Common;
use crate::capture::chunk::ItemSink;
use crate::capture::hex::nibble;
use crate::capture::lines::{Line, LineForm};

/// The least number of escapes in a word.
const MIN_ESCAPES: usize = 2;

pub(super) struct Percent {
    common: Common,
    mark: u8,
    bytes: Vec<u8>,
    finder: Finder,
}

impl Percent {
    pub(super) fn new(quoted: bool, mark: u8) -> Self {
        Self {
            common: Common::new(quoted),
            mark,
            bytes: Vec::new(),
            finder: Finder::default(),
        }
    }

    /// Appends the bytes of a word; returns the number of escapes.
    fn word(&mut self, word: &[u8]) -> usize {
        // A form has `+` for a blank, and escapes the sign itself.
        let is_form = self.mark == b'%' && memchr::memmem::find(word, b"%20").is_none();
        let (mut rest, mut escapes) = (word, 0);
        while let Some((&c, after)) = rest.split_first() {
            rest = after;
            match after.split_first_chunk() {
                Some((&[high, low], after))
                    if c == self.mark && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
                {
                    self.bytes.push(nibble(high) << 4 | nibble(low));
                    escapes += 1;
                    rest = after;
                }
                // A soft line break of quoted-printable: the line continues.
                _ if c == self.mark && after.is_empty() => {}
                _ if c == b'+' && is_form => self.bytes.push(b' '),
                _ => self.bytes.push(c),
            }
        }
        escapes
    }
}

impl LineForm for Percent {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = self.common.clean(line.text).into_owned();
        let mut marked = None;
        // URLs may contain apostrophes, and stand between them.
        for ends in [b"\"<>".as_slice(), b"\"<>'"] {
            // A line of quoted-printable can have each of them.
            let is_part = self.mark == b'%';
            let is_end = |c: &u8| is_part && (c.is_ascii_whitespace() || ends.contains(c));
            let escapes = |word: &&[u8]| memchr::memchr_iter(self.mark, word).count();
            let best = text.split(is_end).max_by_key(escapes).unwrap_or_default();
            self.bytes.clear();
            if self.word(best) < MIN_ESCAPES {
                return self.common.other(&text);
            }
            let mark = *marked.get_or_insert_with(|| self.common.marks.of(&text, b"", b""));
            // Each line is a message, perhaps the value of a field.
            let messages = self.finder.find(&self.bytes).messages;
            for found in &messages {
                let framed = self.finder.framed(&found.message);
                self.common.emit(mark, &framed, sink);
            }
            if !messages.is_empty() {
                return;
            }
        }
        if let Some(mark) = marked {
            self.common.emit(mark, &self.bytes, sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}
