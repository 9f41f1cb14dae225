//! A message that was found in a text, and the text beside it.

use super::clean::has_escaped_quotes;

/// The bytes before and after a message that can describe it.
pub(super) const NEAR: usize = 1 << 10;

/// A message, and what the text has beside it.
pub(super) struct Found {
    pub message: Vec<u8>,
    pub before: Vec<u8>,
    pub after: Vec<u8>,
    /// The escapes of the text around it are already removed.
    pub is_unescaped: bool,
    /// No other text looks like it.
    pub is_certain: bool,
    /// It stands behind another one, as in a stream.
    pub follows: bool,
}

impl Found {
    pub(super) fn new(message: Vec<u8>, before: &[u8], after: &[u8]) -> Self {
        Self {
            message,
            before: last(before, NEAR).to_vec(),
            after: first(after, NEAR).to_vec(),
            is_unescaped: false,
            is_certain: false,
            follows: false,
        }
    }

    pub(super) fn within(&mut self, before: &[u8], after: &[u8]) {
        let own = std::mem::take(&mut self.before);
        self.before = last(before, NEAR).to_vec();
        self.before.push(b' ');
        self.before.extend(own);
        self.after.push(b' ');
        self.after.extend_from_slice(first(after, NEAR));
    }

    /// Returns true if the text has nothing else.
    pub(super) fn is_alone(&self) -> bool {
        self.before.trim_ascii().is_empty() && self.after.trim_ascii().is_empty()
    }
}

/// Returns true if the bytes before a message are the header of a WebSocket frame, as they are or as the log shows them:
/// `b'\x81-`.
pub(super) fn is_in_frame(before: &[u8]) -> bool {
    const MAX_HEADER: usize = 10;
    let opcode = before.iter().rposition(|c| matches!(c, 0x81 | 0x82));
    if let Some(at) = opcode.filter(|at| before.len() - at <= MAX_HEADER)
        && at.checked_sub(1).and_then(|at| before.get(at)) == Some(&b' ')
    {
        return true;
    }
    let start = before.iter().rposition(|&c| c == b'\'' || c == b'"');
    let header = start
        .and_then(|at| before.get(at + 1..))
        .unwrap_or_default();
    header.starts_with(b"\\x81") || header.starts_with(b"\\x82")
}

pub(super) fn first(text: &[u8], len: usize) -> &[u8] {
    text.get(..len).unwrap_or(text)
}

fn last(text: &[u8], len: usize) -> &[u8] {
    text.get(text.len().saturating_sub(len)..).unwrap_or(text)
}

/// The beginning of a message.
pub(super) struct CutMessage {
    /// What the program printed in place of the rest.
    pub mark: Option<&'static str>,
    /// The protocol, if only one has such messages.
    pub protocol: Option<&'static str>,
}

/// What a text has.
#[derive(Default)]
pub(super) struct FoundAll {
    pub messages: Vec<Found>,
    /// An object that begins here, after the messages, and is not complete.
    pub open: Option<usize>,
}

/// Notes that the escapes of quotes in a text are removed from its messages.
pub(super) fn note_unescaped(text: &[u8], messages: &mut [Found]) {
    let is_unescaped = has_escaped_quotes(text);
    for found in messages {
        found.is_unescaped = is_unescaped;
    }
}

/// Returns true if an object is open at the end of a text.
pub(super) fn is_inside(text: &[u8]) -> bool {
    let count = |c: u8| memchr::memchr_iter(c, text).count();
    count(b'{') > count(b'}')
}

/// The text up to the next object.
pub(super) fn until_object(text: &[u8]) -> &[u8] {
    let whole = text.len();
    let end = memchr::memchr(b'{', text).unwrap_or(whole);
    let text = text.get(..end).unwrap_or(text);
    // Behind the last one is a column of CSV.
    let is_element = end < whole && text.trim_ascii_start().starts_with(b",");
    if is_element { b"" } else { text }
}

/// Returns a message as it is written without blanks and with sorted keys.
pub(super) fn value_of(message: &[u8]) -> Vec<u8> {
    let value = serde_json::from_slice::<serde_json::Value>(message);
    value.map_or_else(|_| message.to_vec(), |value| value.to_string().into_bytes())
}
