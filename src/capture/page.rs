//! Reads a page that `wiretool export -f html` wrote.
//!
//! ```text
//!   <script type="application/json" id="data">{"messages":[
//!   {"i":0,"conn":1,"dir":"c2s","t":0,...,"framing":"lines",...,"b":"eyJtZXRob2Qi","size":154},
//!   ... "masked":true,"start":1795792488699.993439,...}</script>
//! ```
//!
//! A page has the first bytes of long messages only, and stars in place of secrets.

use super::chunk::{Chunk, InputPlace, Item, ItemSink, Problem};
use super::form::{FormVerdict, InputEnd};
use super::lines::{Line, LineForm};
use super::time::Time;
use crate::framing::Framing;
use crate::protocol::Direction;
use serde::Deserialize;
use serde::de::IgnoredAny;

const START: &[u8] = b"<!doctype html>";
const GENERATOR: &[u8] = b"<meta name=\"generator\" content=\"wiretool\">";
/// The most bytes that are held until the time of the first message is known, which is at the end of the page.
const MAX_HELD: usize = 64 << 20;

/// Says if text is such a page.
pub(super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    let head = text.get(..START.len()).unwrap_or(text);
    if !START.starts_with(head) {
        FormVerdict::No
    } else if memchr::memmem::find(text, GENERATOR).is_some() {
        FormVerdict::Yes("wiretool export -f html wrote it".into())
    } else if end == InputEnd::More {
        FormVerdict::Open
    } else {
        FormVerdict::No
    }
}

/// A message as the page has it.
#[derive(Deserialize)]
struct PageMessage {
    #[serde(default)]
    conn: u32,
    stream: Option<u64>,
    dir: Option<String>,
    /// Milliseconds since the first message.
    t: Option<f64>,
    framing: String,
    b: Option<String>,
    size: Option<usize>,
    /// The places of secrets.
    h: Option<IgnoredAny>,
}

#[derive(Default)]
pub(super) struct Page {
    held: Vec<(PageMessage, Vec<u8>)>,
    /// The memory that they take.
    len: usize,
    /// The number of messages that the page does not have whole.
    cut: u64,
    has_stars: bool,
    /// The time of the first message.
    start: Option<Time>,
}

impl Page {
    fn add(&mut self, mut message: PageMessage) {
        let text = message.b.take();
        let bytes = text.map(|text| base64_simd::STANDARD.decode_to_vec(text));
        match bytes {
            Some(Ok(mut bytes)) if message.size.is_none_or(|size| size == bytes.len()) => {
                self.has_stars |= message.h.is_some();
                if message.framing == Framing::Lines.name() {
                    bytes.push(b'\n');
                }
                let direction = message.dir.as_deref().map_or(0, str::len);
                let texts = message.framing.len() + direction;
                self.len += size_of::<(PageMessage, Vec<u8>)>() + texts + bytes.len();
                self.held.push((message, bytes));
            }
            _ => self.cut += 1,
        }
    }

    fn release(&mut self, sink: &mut ItemSink<'_>) {
        const MILLISECOND: f64 = 1e6;
        self.len = 0;
        for (message, bytes) in self.held.drain(..) {
            let since = message.t.map(|t| (t * MILLISECOND) as Time);
            sink(Item::Chunk(Chunk {
                line: None,
                conn: message.conn,
                stream: message.stream,
                direction: message.dir.as_deref().and_then(Direction::from_name),
                time: (self.start.zip(since)).map(|(start, since)| start.saturating_add(since)),
                bytes: &bytes,
            }));
        }
    }
}

impl LineForm for Page {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = line.text.strip_suffix(b",").unwrap_or(line.text);
        if text.starts_with(b"{\"i\":") {
            let end = text.strip_suffix(b"],").map_or(text.len(), <[u8]>::len);
            let mut all = serde_json::Deserializer::from_slice(text.get(..end).unwrap_or(text))
                .into_iter::<PageMessage>();
            match all.next() {
                Some(Ok(message)) => self.add(message),
                _ => self.cut += 1,
            }
            if self.len > MAX_HELD {
                self.release(sink);
            }
        } else if let Some(at) = memchr::memmem::rfind(text, b",\"start\":") {
            let number = text.get(at + b",\"start\":".len()..).unwrap_or_default();
            let end = number
                .iter()
                .position(|c| !c.is_ascii_digit() && *c != b'.');
            let number = number.get(..end.unwrap_or(number.len()));
            let millis = number.and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
            self.start = millis.map(|millis: f64| (millis * 1e6) as Time);
            self.release(sink);
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.release(sink);
        if self.cut > 0 {
            let text = match self.cut {
                1 => "1 message is cut in the page, and left out".to_owned(),
                cut => format!("{cut} messages are cut in the page, and left out"),
            };
            Problem::error(InputPlace::Whole, text)
                .hint("the capture that it was made from has them")
                .report(sink);
        }
        if self.has_stars {
            Problem::note(InputPlace::Whole, "the page has stars in place of secrets").report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        0
    }
}
