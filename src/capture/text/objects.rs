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

use super::line::{Common, with_header};
use super::literal::{self, Literal};
use super::probe::{MessageFraming, MessageTest};
use crate::capture::chunk::{InputPlace, ItemSink, Problem};
use crate::capture::lines::{Line, LineForm};

/// The most places of a line where an object may begin.
const MAX_STARTS: usize = 16;
/// The most bytes of an object on several lines.
const MAX_BYTES: usize = 1 << 20;

pub(super) struct Objects {
    common: Common,
    test: MessageTest,
    /// An object that is not complete, with the text before it.
    held: Vec<u8>,
    balance: Balance,
    /// An object was printed without all its values.
    is_cut: bool,
}

/// What a text has.
enum Search {
    /// A message in JSON, and where the object is in the text.
    Found(Vec<u8>, MessageFraming, [usize; 2]),
    /// An object that begins here and is not complete.
    Open(usize),
    Nothing,
}

impl Objects {
    pub(super) fn new(quoted: bool) -> Self {
        Self {
            common: Common::new(quoted),
            test: MessageTest::default(),
            held: Vec::new(),
            balance: Balance::default(),
            is_cut: false,
        }
    }

    fn find(&mut self, text: &[u8]) -> Search {
        let mut open = None;
        let mut from = 0;
        for _ in 0..MAX_STARTS {
            let rest = text.get(from..).unwrap_or_default();
            let Some(at) = rest.iter().position(|c| b"{[(".contains(c)) else {
                break;
            };
            let bracket = from + at;
            let start = start_of_name(text, bracket);
            from = bracket + 1;
            // The word before an object is the name of a class, or a word of the sentence.
            let starts = [start, bracket];
            for &start in starts
                .get(usize::from(start == bracket)..)
                .unwrap_or_default()
            {
                let mut json = Vec::new();
                match literal::read(text.get(start..).unwrap_or_default(), &mut json) {
                    Literal::Value { len, is_cut } => {
                        if let Some(framing) = self.test.framing(&json) {
                            self.is_cut |= is_cut;
                            return Search::Found(json, framing, [start, start + len]);
                        }
                    }
                    Literal::Open => _ = open.get_or_insert(start),
                    Literal::None => {}
                }
            }
        }
        open.map_or(Search::Nothing, Search::Open)
    }

    fn emit(
        &mut self,
        text: &[u8],
        found: (Vec<u8>, MessageFraming, [usize; 2]),
        sink: &mut ItemSink<'_>,
    ) {
        let (mut message, framing, [start, end]) = found;
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(end..).unwrap_or_default();
        let mark = self.common.marks.of(text, before, after);
        if framing == MessageFraming::Headers {
            message = with_header(&message);
        } else {
            message.push(b'\n');
        }
        self.common.emit(mark, &message, sink);
    }
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

impl LineForm for Objects {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = self.common.clean(line.text).into_owned();
        if !self.held.is_empty() {
            self.held.push(b'\n');
            self.held.extend_from_slice(&text);
            self.balance.add(b"\n");
            self.balance.add(&text);
            if self.held.len() > MAX_BYTES {
                self.held.clear();
                self.common.ignored += 1;
            } else if self.balance.depth == 0 {
                let held = std::mem::take(&mut self.held);
                match self.find(&held) {
                    Search::Found(json, framing, place) => {
                        self.emit(&held, (json, framing, place), sink);
                    }
                    Search::Open(_) | Search::Nothing => self.common.other(&held),
                }
            }
            return;
        }
        match self.find(&text) {
            Search::Found(json, framing, place) => self.emit(&text, (json, framing, place), sink),
            Search::Open(start) => {
                self.balance = Balance::default();
                self.balance.add(text.get(start..).unwrap_or_default());
                if self.balance.depth == 0 {
                    self.common.other(&text);
                } else {
                    self.held = text;
                }
            }
            Search::Nothing => self.common.other(&text),
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        if !self.held.is_empty() {
            self.common.other(&std::mem::take(&mut self.held));
        }
        if self.is_cut {
            Problem::note(InputPlace::Whole, "the print leaves out values of messages")
                .hint("in Node, util.inspect(message, {depth: null}) or JSON.stringify(message) prints all")
                .report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}

/// Counts brackets outside strings.
#[derive(Default)]
struct Balance {
    depth: u32,
    quote: Option<u8>,
    is_escaped: bool,
}

impl Balance {
    fn add(&mut self, text: &[u8]) {
        for &c in text {
            if self.is_escaped {
                self.is_escaped = false;
                continue;
            }
            match (self.quote, c) {
                (Some(_), b'\\') => self.is_escaped = true,
                (Some(quote), c) if quote == c => self.quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'' | b'`') => self.quote = Some(c),
                (None, b'{' | b'[' | b'(') => self.depth += 1,
                (None, b'}' | b']' | b')') => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
}
