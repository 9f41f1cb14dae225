//! Attributes in the JSON of OTLP: 64-bit integers are text.

use crate::encoding::json::write_str;
use crate::escape::escape;
use crate::export::text::brief;

/// The maximum number of characters of a value.
const MAX_VALUE: usize = 8 << 10;

/// A list of attributes.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(Vec<u8>);

impl Attributes {
    /// Adds a text of the wire; a mark says how much of a long one is left out.
    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.begin(name, b"stringValue");
        write_str(&brief(value, MAX_VALUE), &mut self.0);
        self.0.extend_from_slice(b"}}");
    }

    /// Adds a text, if it is there.
    pub(super) fn text_if(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    /// Adds an integer.
    pub(super) fn integer(&mut self, name: &str, value: i64) {
        self.begin(name, b"intValue");
        write_str(&value.to_string(), &mut self.0);
        self.0.extend_from_slice(b"}}");
    }

    fn begin(&mut self, name: &str, kind: &[u8]) {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        self.0.extend_from_slice(b"{\"key\":");
        write_str(&escape(name), &mut self.0);
        self.0.extend_from_slice(b",\"value\":{\"");
        self.0.extend_from_slice(kind);
        self.0.extend_from_slice(b"\":");
    }

    /// Writes the list.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        out.extend_from_slice(&self.0);
        out.push(b']');
    }
}
