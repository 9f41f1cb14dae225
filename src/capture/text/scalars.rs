//! Scalars of YAML that go on in the next lines.
//!
//! ```text
//!   body: "{\"jsonrpc\":\"2.0\",\"params\":{\"\      in double quotes: a backslash joins two lines,
//!     name\":\"it's\
//!     \ me\"}}"                                  and another one keeps a blank
//!   body: !!binary |                             Base64
//!     eyJqc29ucnBjIjoiMi4wIn0=
//! ```

use super::escapes::UTF8;
use crate::capture::base64_text::{Bits, value};

/// The most bytes of a scalar.
const MAX_SCALAR: usize = 16 << 20;

/// The beginning of a scalar whose end is in a later line.
pub(super) struct OpenScalar {
    /// The line with the key, and what follows it.
    text: Vec<u8>,
    /// The blanks before the key; later lines have more.
    indent: usize,
    /// Where the Base64 begins.
    binary: Option<usize>,
}

impl OpenScalar {
    /// Returns the scalar that a line begins and does not end.
    pub(super) fn new(line: &[u8]) -> Option<Self> {
        let indent = indent(line);
        let marks = [&b"!!binary |"[..], b"!!binary |-", b"!!binary |+"];
        // The bytes of a stream that Wireshark follows are read as Base64.
        let is_of_stream = line.trim_ascii_start().starts_with(b"data: ");
        if marks.iter().any(|mark| line.ends_with(mark)) && !is_of_stream {
            return Some(Self {
                text: line.to_vec(),
                indent,
                binary: Some(line.len()),
            });
        }
        let text = without_join(line)?;
        let start = line.get(indent..)?;
        let body = [&b": \""[..], b"- \""].iter().find_map(|mark| {
            let at = memchr::memmem::find(text, mark)?;
            text.get(at + mark.len()..)
        });
        let body = body.or_else(|| start.strip_prefix(b"\""))?;
        let is_open = UTF8.read(body, Some(b'"'), &mut Vec::new()).rest.is_none();
        is_open.then(|| Self {
            text: text.to_vec(),
            indent,
            binary: None,
        })
    }

    /// Returns true if a line goes on with the scalar.
    pub(super) fn continues(&self, line: &[u8]) -> bool {
        let is_base64 = |c: &u8| value(*c).is_some() || c.is_ascii_whitespace() || *c == b'=';
        let is_content = self.binary.is_none() || line.iter().all(is_base64);
        indent(line) > self.indent && is_content && self.text.len() <= MAX_SCALAR
    }

    /// Adds a line; returns true if another one may follow.
    pub(super) fn add(&mut self, line: &[u8]) -> bool {
        let content = line.trim_ascii_start();
        let rest = match self.binary {
            Some(_) => Some(content),
            None => without_join(content),
        };
        self.text.extend_from_slice(rest.unwrap_or(content));
        rest.is_some()
    }

    /// Returns the whole line, in which the text stands for its Base64.
    pub(super) fn into_line(self) -> Vec<u8> {
        let parts = self.binary.and_then(|at| self.text.split_at_checked(at));
        let Some((key, base64)) = parts else {
            return self.text;
        };
        let mut bits = Bits::default();
        let decoded = base64.iter().filter_map(|c| bits.add(value(*c)?));
        let decoded: Vec<u8> = decoded.collect();
        match std::str::from_utf8(&decoded) {
            Ok(text) => [key, b" ", text.as_bytes()].concat(),
            Err(_) => self.text,
        }
    }
}

/// Returns a line without the backslash that joins it to the next one.
fn without_join(line: &[u8]) -> Option<&[u8]> {
    let count = line.iter().rev().take_while(|c| **c == b'\\').count();
    line.strip_suffix(b"\\").filter(|_| count % 2 == 1)
}

/// The number of blanks at the beginning of a line.
fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|c| **c == b' ').count()
}
