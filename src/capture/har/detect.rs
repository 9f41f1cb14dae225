//! Tells HAR files from other JSON.
//!
//! ```text
//!   {"log": {"version": "1.2", "creator": {..}, .., "entries": [
//! ```
//!
//! HAR 1.2 requires these three keys. A log of another program may have one of them.

use super::super::form::FormVerdict::{self, No, Open, Yes};
use super::super::form::InputEnd;

pub(in super::super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    let mut keys = LogKeys::default();
    let mut rest = text;
    for mark in [&b"{"[..], b"\"log\"", b":", b"{"] {
        rest = rest.trim_ascii_start();
        match rest.strip_prefix(mark) {
            Some(after) => rest = after,
            None if mark.starts_with(rest) => return Open,
            None => return No,
        }
    }
    match keys.read(rest) {
        Some(verdict) => verdict,
        None if end == InputEnd::Limit && keys.has_version && keys.has_creator => keys.yes(),
        None => Open,
    }
}

/// The keys of the log that were read.
#[derive(Default)]
struct LogKeys {
    has_version: bool,
    has_creator: bool,
    has_entries: bool,
}

impl LogKeys {
    fn yes(&self) -> FormVerdict {
        let entries = if self.has_entries { " and entries" } else { "" };
        Yes(format!("it has a log with version, creator{entries}"))
    }

    /// Reads the members of the log; `None` if they are not decisive.
    fn read(&mut self, text: &[u8]) -> Option<FormVerdict> {
        let (mut depth, mut at) = (1u32, 0);
        // The start of the last string, and its end.
        let mut string = (0, 0);
        while let Some(byte) = text.get(at) {
            match byte {
                b'"' => {
                    let end = string_end(text, at + 1)?;
                    // The value of a key that is a string follows a colon.
                    let before = text.get(string.1 + 1..at).unwrap_or_default();
                    if depth == 1 && before.trim_ascii() == b":" {
                        self.has_version |= text.get(string.0..string.1) == Some(b"version");
                    }
                    string = (at + 1, end);
                    at = end;
                }
                b'{' | b'[' => {
                    let key = text.get(string.0..string.1);
                    if depth == 1 {
                        self.has_creator |= *byte == b'{' && key == Some(b"creator");
                        self.has_entries |= *byte == b'[' && key == Some(b"entries");
                    }
                    depth += 1;
                }
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            let is_har = self.has_version && self.has_creator && self.has_entries;
            if depth == 0 || is_har {
                return Some(if is_har { self.yes() } else { No });
            }
            at += 1;
        }
        None
    }
}

/// Returns the position of the quote that ends a string.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}
