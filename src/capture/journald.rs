//! The export format of journald (`journalctl -o export`): a field is a line, or a name, a length and bytes.
//!
//! ```text
//!   __REALTIME_TIMESTAMP=1773453780000000
//!   MESSAGE                       a text of several lines: 8 bytes of its length, little-endian, then the text
//!   c3 00 00 00 00 00 00 00 sent:...
//! ```
//!
//! Fields with a length are passed on as `MESSAGE=sent:...`, so that the rest is text.

use super::chunk::ItemSink;
use super::form::{Form, FormReader, FormVerdict, InputEnd};
use super::readable::starts;
use super::text::{Expected, Text};
use FormVerdict::{No, Open, Yes};

/// The longest name of a field.
const MAX_NAME: usize = 64;
/// The fields that an entry begins with.
const FIRST: [&[u8]; 2] = [b"__CURSOR=", b"__REALTIME_TIMESTAMP="];

pub(super) struct JournalExport {
    text: Text,
    state: JournalState,
}

enum JournalState {
    /// A line that may be the name of a field with a length.
    Name(Vec<u8>),
    /// The rest of a line.
    Line,
    /// The first bytes of the length of a field.
    Length(Vec<u8>),
    /// The number of bytes of the field that are still to come.
    Field(u64),
}
use JournalState as State;

impl Default for JournalExport {
    fn default() -> Self {
        Self {
            text: Text::new(None, Form::Raw),
            state: State::Name(Vec::new()),
        }
    }
}

pub(super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    for mark in FIRST {
        match starts(text, mark) {
            Yes(()) => return Yes("it begins as an export of journald does".into()),
            Open if end == InputEnd::More => return Open,
            Open | No => {}
        }
    }
    No
}

impl JournalExport {
    /// Reads the next part; returns the bytes after it.
    fn part<'a>(&mut self, bytes: &'a [u8], sink: &mut ItemSink<'_>) -> &'a [u8] {
        match &mut self.state {
            State::Name(name) => {
                let is_name = |c: &u8| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == b'_';
                let len = bytes.iter().take_while(|c| is_name(c)).count();
                let (part, rest) = bytes.split_at_checked(len).unwrap_or_default();
                name.extend_from_slice(part);
                let Some(next) = rest.first().or((name.len() > MAX_NAME).then_some(&b'=')) else {
                    return rest;
                };
                let name = std::mem::take(name);
                self.text.push(&name, sink);
                if *next != b'\n' || name.is_empty() {
                    self.state = State::Line;
                    return rest;
                }
                self.text.push(b"=", sink);
                self.state = State::Length(Vec::new());
                rest.get(1..).unwrap_or_default()
            }
            State::Line => {
                let end = memchr::memchr(b'\n', bytes).map(|at| at + 1);
                let (line, rest) = bytes
                    .split_at_checked(end.unwrap_or(bytes.len()))
                    .unwrap_or_default();
                if end.is_some() {
                    self.state = State::Name(Vec::new());
                }
                self.text.push(line, sink);
                rest
            }
            State::Length(length) => {
                let missing = 8usize.saturating_sub(length.len()).min(bytes.len());
                let (part, rest) = bytes.split_at_checked(missing).unwrap_or_default();
                length.extend_from_slice(part);
                if let Some(length) = length.first_chunk() {
                    self.state = State::Field(u64::from_le_bytes(*length));
                }
                rest
            }
            State::Field(0) => {
                self.state = State::Line;
                bytes
            }
            State::Field(left) => {
                let len = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                let (part, rest) = bytes.split_at_checked(len).unwrap_or_default();
                *left -= len as u64;
                self.text.push(part, sink);
                rest
            }
        }
    }
}

impl FormReader for JournalExport {
    fn expect(&mut self, protocol: Expected) {
        self.text.expect(protocol);
    }

    fn push(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = self.part(rest, sink);
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        if let State::Name(name) = &mut self.state {
            self.text.push(&std::mem::take(name), sink);
        }
        self.text.finish(sink);
    }

    fn ignored(&self) -> u64 {
        self.text.ignored()
    }

    fn chosen(&self) -> Option<(Form, &str)> {
        self.text.chosen()
    }
}
