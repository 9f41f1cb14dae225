//! Finds the entries of a HAR file as its bytes arrive.
//!
//! ```text
//!   {"log":{"creator":{..},"entries":[{..},{..}]}}
//!   depth 1       2        3          ^^^^ an entry
//! ```

use super::super::lines::LINE_LIMIT;

/// Receives the number of an entry, from 0, and its JSON; `None` if it exceeds the limit.
pub(super) type EntrySink<'s> = dyn FnMut(u64, Option<&[u8]>) + 's;

#[derive(Default)]
#[allow(clippy::struct_excessive_bools)] // independent states
pub(super) struct EntryScanner {
    /// The number of open objects and arrays.
    depth: u32,
    in_string: bool,
    /// The last byte was a backslash.
    escaped: bool,
    /// The last string outside entries.
    key: Vec<u8>,
    in_log: bool,
    in_entries: bool,
    /// The current entry is being read; `collected` holds what earlier pushes had of it.
    in_entry: bool,
    collected: Vec<u8>,
    too_long: bool,
    /// The number of entries that are complete.
    entries: u64,
    offset: u64,
    done: bool,
}

impl EntryScanner {
    /// Returns true if the JSON value is complete.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// Returns the number of complete entries.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the number of the entry that is not complete.
    pub(super) fn entry(&self) -> Option<u64> {
        self.in_entry.then_some(self.entries)
    }

    /// Returns the number of bytes that were read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut EntrySink<'_>) {
        // The start of the current entry in these bytes.
        let mut start = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.in_string {
                at += self.string(bytes.get(at..).unwrap_or_default());
                continue;
            }
            at += 1;
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.key.clear();
                }
                b'{' | b'[' => {
                    if self.in_entries && self.depth == 3 && byte == b'{' {
                        self.in_entry = true;
                        start = at - 1;
                    }
                    self.in_entries |=
                        self.in_log && self.depth == 2 && byte == b'[' && self.key == b"entries";
                    self.in_log |= self.depth == 1 && byte == b'{' && self.key == b"log";
                    self.depth = self.depth.saturating_add(1);
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    match self.depth {
                        3 if self.in_entry => {
                            self.collect(bytes.get(start..at).unwrap_or_default(), sink);
                        }
                        2 => self.in_entries = false,
                        1 => self.in_log = false,
                        0 => self.done = true,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        if self.in_entry {
            self.keep(bytes.get(start..).unwrap_or_default());
        }
        self.offset += bytes.len() as u64;
    }

    /// Reads the bytes of a string up to its end. Returns their number, at least 1.
    fn string(&mut self, bytes: &[u8]) -> usize {
        if std::mem::take(&mut self.escaped) {
            self.note(bytes.get(..1).unwrap_or_default());
            return 1;
        }
        let end = memchr::memchr2(b'"', b'\\', bytes);
        self.note(bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default());
        let Some(end) = end else {
            return bytes.len();
        };
        match bytes.get(end) {
            Some(b'"') => self.in_string = false,
            _ => self.escaped = true,
        }
        end + 1
    }

    /// Stores a part of a string that may be a key; longer ones are not.
    fn note(&mut self, part: &[u8]) {
        const LONGEST: usize = b"entries".len();
        if !self.in_entry {
            let room = (LONGEST + 1).saturating_sub(self.key.len());
            self.key.extend_from_slice(part.get(..room).unwrap_or(part));
        }
    }

    /// Ends the current entry with these bytes.
    fn collect(&mut self, bytes: &[u8], sink: &mut EntrySink<'_>) {
        let number = self.entries;
        if self.collected.is_empty() && !self.too_long {
            sink(number, Some(bytes).filter(|b| b.len() <= LINE_LIMIT));
        } else {
            self.keep(bytes);
            sink(number, (!self.too_long).then_some(&self.collected));
        }
        self.collected.clear();
        self.collected.shrink_to(1 << 20);
        self.too_long = false;
        self.in_entry = false;
        self.entries += 1;
    }

    /// Stores a part of the current entry.
    fn keep(&mut self, bytes: &[u8]) {
        self.too_long |= self.collected.len() + bytes.len() > LINE_LIMIT;
        if self.too_long {
            self.collected = Vec::new();
        } else {
            self.collected.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(text: &str, step: usize) -> (Vec<(u64, String)>, bool, Option<u64>) {
        let mut scanner = EntryScanner::default();
        let mut entries = Vec::new();
        for piece in text.as_bytes().chunks(step) {
            scanner.push(piece, &mut |n, entry| {
                entries.push((n, String::from_utf8(entry.unwrap().to_vec()).unwrap()));
            });
        }
        (entries, scanner.is_done(), scanner.entry())
    }

    #[test]
    fn entries_are_found_in_all_splits() {
        let table: &[(&str, &[&str], bool, Option<u64>)] = &[
            (
                r#"{"log":{"entries":[{"a":1},{"b":"}\"]"}]}}"#,
                &[r#"{"a":1}"#, r#"{"b":"}\"]"}"#],
                true,
                None,
            ),
            (
                r#"{ "log" : { "pages":[{"entries":[{}]}], "entries" : [ ] } }"#,
                &[],
                true,
                None,
            ),
            (r#"{"entries":[{}],"log":{"x":[{}]}}"#, &[], true, None),
            (r#"{"log":{"a":{"entries":[{}]}}}"#, &[], true, None),
            (
                r#"{"log":{"entries":[{"a":[{}]},{"b"#,
                &[r#"{"a":[{}]}"#],
                false,
                Some(1),
            ),
            (
                r#"{"log":{"entries":[7,[{}],{}],"x":"#,
                &["{}"],
                false,
                None,
            ),
        ];
        for (text, wanted, done, inside) in table {
            for step in 1..=text.len() {
                let (found, is_done, entry) = entries(text, step);
                let texts: Vec<&str> = found.iter().map(|(_, text)| text.as_str()).collect();
                assert_eq!(
                    (texts.as_slice(), is_done, entry),
                    (*wanted, *done, *inside),
                    "{text} in pieces of {step}"
                );
                assert!(found.iter().zip(0..).all(|((n, _), i)| *n == i));
            }
        }
    }
}
