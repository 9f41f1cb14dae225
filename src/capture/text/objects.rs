//! Messages as Python, JavaScript and other languages print them, on one line or several.
//!
//! ```text
//!   DEBUG Sending: root=JSONRPCRequest(method='initialize', jsonrpc='2.0', id=0)
//!   {'jsonrpc': '2.0', 'id': 1, 'result': {'isError': False}}
//!   {
//!     jsonrpc: '2.0',
//!     id: 1,
//!     result: { tools: [ [Object] ] }          Node leaves out what is nested deeply
//!   }
//! ```
//!
//! A message is the first printed object that a protocol may have written, also inside other objects.

use super::literal::{self, Literal, Lost};
use super::probe::{MessageFraming, MessageTest, is_http_request};

/// The most places of a text where an object may begin.
const MAX_STARTS: usize = 32;
/// The most brackets that are open at once.
const MAX_DEPTH: usize = 128;

/// What a text has.
pub(super) enum Search {
    Found(Printed),
    /// An object that begins here and is not complete.
    Open(usize),
    Nothing,
}

/// A printed object that is a message.
pub(super) struct Printed {
    pub json: Vec<u8>,
    pub framing: MessageFraming,
    /// No other object looks like it.
    pub is_certain: bool,
    /// Where the object begins and ends in the text.
    pub place: (usize, usize),
    pub lost: Lost,
}

/// Finds the first message of a text that begins at a place or after it.
pub(super) fn find(text: &[u8], from: usize, messages: &mut MessageTest) -> Search {
    let mut open = None;
    let mut at = from;
    for _ in 0..MAX_STARTS {
        let rest = text.get(at..).unwrap_or_default();
        let Some(next) = rest.iter().position(|c| b"{[(".contains(c)) else {
            break;
        };
        let bracket = at + next;
        let start = start_of_name(text, bracket).max(from);
        at = bracket + 1;
        // The word before an object is the name of a class, or a word of the sentence.
        let starts = [start, bracket];
        for &start in starts
            .get(usize::from(start == bracket)..)
            .unwrap_or_default()
        {
            let mut json = Vec::new();
            match literal::read(text.get(start..).unwrap_or_default(), &mut json) {
                Literal::Value { len, lost } => {
                    let known = messages.certain_framing(&json);
                    let object = text.get(start..start + len).unwrap_or_default();
                    // A class of a program, which has an `error` or a `method`.
                    let is_code = memchr::memmem::find(object, b"[Function").is_some();
                    let known = known.filter(|_| !is_code && !is_http_request(&json));
                    if let Some((framing, is_certain)) = known {
                        return Search::Found(Printed {
                            json,
                            framing,
                            is_certain,
                            place: (start, start + len),
                            lost,
                        });
                    }
                }
                // A parenthesis of a sentence is no object.
                Literal::Open if text.get(start) != Some(&b'(') => _ = open.get_or_insert(start),
                Literal::Open | Literal::None => {}
            }
        }
    }
    open.map_or(Search::Nothing, Search::Open)
}

/// Returns the start of the name before a bracket: that of a class.
fn start_of_name(text: &[u8], bracket: usize) -> usize {
    let before = text.get(..bracket).unwrap_or_default();
    let trimmed = before.strip_suffix(b" ").unwrap_or(before);
    let is_name = |c: &u8| c.is_ascii_alphanumeric() || b"_.:".contains(c);
    let start = trimmed
        .iter()
        .rposition(|c| !is_name(c))
        .map_or(0, |at| at + 1);
    let name = trimmed.get(start..).unwrap_or_default();
    // A word of the sentence before an object is no class.
    let is_class = name.first().is_some_and(u8::is_ascii_uppercase) && !name.ends_with(b":");
    if is_class { start } else { bracket }
}

/// Returns an object that was cut, closed where it ends, as JSON: its last text may be a key or a value.
pub(super) fn completed(text: &[u8]) -> [Option<Vec<u8>>; 2] {
    let mut balance = Balance::default();
    balance.add(text);
    if balance.open.is_empty() || balance.open.len() > MAX_DEPTH {
        return [None, None];
    }
    let mut head = text.to_vec();
    if let Some(quote) = balance.quote {
        if balance.is_escaped {
            head.pop();
        }
        head.push(quote);
    } else {
        // A remark like `... (cut)` is no part of the object.
        let last = head.iter().rposition(|c| b"{}[],:\"'".contains(c));
        let after = last.map_or(0, |at| at + 1);
        let remark = memchr::memmem::find(head.get(after..).unwrap_or_default(), b"...");
        head.truncate(remark.map_or(after, |at| after + at));
    }
    while head.last() == Some(&b',') {
        head.pop();
    }
    if head.last() == Some(&b':') {
        head.extend_from_slice(b"null");
    }
    ["", ":null"].map(|value| {
        let mut whole = head.clone();
        whole.extend_from_slice(value.as_bytes());
        whole.extend(balance.open.iter().rev());
        let mut json = Vec::new();
        match literal::read(&whole, &mut json) {
            Literal::Value { .. } => Some(json),
            Literal::Open | Literal::None => None,
        }
    })
}

/// The brackets that are open outside strings.
#[derive(Default)]
pub(super) struct Balance {
    /// The brackets that will close them.
    open: Vec<u8>,
    quote: Option<u8>,
    is_escaped: bool,
}

impl Balance {
    /// Returns true if no bracket is open.
    pub(super) fn is_closed(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns true if a text has begun and not ended.
    pub(super) fn is_in_string(&self) -> bool {
        self.quote.is_some()
    }

    /// Adds text, up to the bracket that closes the first one; returns the place after it.
    pub(super) fn add(&mut self, text: &[u8]) -> Option<usize> {
        for (at, &c) in text.iter().enumerate() {
            if self.is_escaped {
                self.is_escaped = false;
                continue;
            }
            match (self.quote, c) {
                (Some(_), b'\\') => self.is_escaped = true,
                (Some(quote), c) if quote == c => self.quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'' | b'`') => self.quote = Some(c),
                (None, b'{') => self.open.push(b'}'),
                (None, b'[') => self.open.push(b']'),
                (None, b'(') => self.open.push(b')'),
                (None, b'}' | b']' | b')') => {
                    self.open.pop();
                    if self.open.is_empty() {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Returns where an object begins that is not complete, in the text from a place on.
pub(super) fn open_object(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr(b'{', text.get(at..)?)?;
        match Balance::default().add(text.get(at..)?) {
            Some(len) => at += len,
            None => return Some(at),
        }
    }
}
