//! HAR files: HTTP exchanges and WebSocket messages that a browser or a proxy exported.
//!
//! ```text
//!   {"log": {"version": "1.2", "creator": {..}, "pages": [..], "entries": [
//!     {"startedDateTime": .., "connection": "65",                        -> a connection
//!      "request":  {"method", "url", "headers", "postData": {"text"}},   -> c2s: a request
//!      "response": {"status", "headers", "content": {"text", "size"}},   -> s2c: a response
//!      "_webSocketMessages": [{"type", "time", "opcode", "data"}]},      -> c2s, s2c: WebSocket frames
//!     ..]}}
//! ```
//!
//! HAR 1.2, and the keys that Chrome, Playwright and mitmproxy add. Entries are read one by one, and their items are put in the
//! order of their times, since exchanges overlap. Bodies are as the program
//! decoded them; so the bytes of a stream are written anew, and their offsets are not those of the wire.
//!
//! A small file that is cut emits nothing, because an export that failed is better repeated than read in part.

mod detect;
mod entry;
mod http;
mod order;
mod scan;

use super::chunk::{InputPlace, ItemSink, Problem};
use super::form::FormReader;
pub(super) use detect::detect;
use entry::Exchanges;
use order::TimeOrder;
use scan::EntryScanner;

/// The maximum number of bytes that are held to see whether the file is whole.
const HOLD_LIMIT: usize = 16 << 20;

pub(super) struct Har {
    /// The input, until it exceeds the limit.
    held: Option<Vec<u8>>,
    scanner: EntryScanner,
    exchanges: Exchanges,
    order: TimeOrder,
}

impl Default for Har {
    fn default() -> Self {
        Self {
            held: Some(Vec::new()),
            scanner: EntryScanner::default(),
            exchanges: Exchanges::default(),
            order: TimeOrder::default(),
        }
    }
}

impl FormReader for Har {
    fn push(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        if let Some(held) = &mut self.held {
            held.extend_from_slice(bytes);
            if held.len() > HOLD_LIMIT {
                self.release(sink);
            }
        } else {
            self.read(bytes, sink);
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        let mut dry = EntryScanner::default();
        if let Some(held) = &self.held {
            dry.push(held, &mut |_, _| {});
        }
        if self.held.is_none() || dry.is_done() {
            self.release(sink);
        } else {
            self.scanner = dry;
        }
        self.order.finish(sink);
        if !self.scanner.is_done() {
            let place = InputPlace::Byte(self.scanner.offset());
            let text = match self.scanner.entry() {
                Some(n) => format!("the HAR file is cut: it ends inside entry {n}"),
                None => format!(
                    "the HAR file is cut: it ends after {} entries",
                    self.scanner.entries()
                ),
            };
            let problem = Problem::error(place, text);
            problem.hint("export it again").report(sink);
        } else if self.scanner.entries() == 0 {
            let place = InputPlace::Byte(self.scanner.offset());
            Problem::error(place, "the HAR file has no entries")
                .hint("record while the traffic flows, and export with content")
                .report(sink);
        }
    }
}

impl Har {
    /// Reads what is held.
    fn release(&mut self, sink: &mut ItemSink<'_>) {
        if let Some(held) = self.held.take() {
            self.read(&held, sink);
        }
    }

    fn read(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        let (exchanges, order) = (&mut self.exchanges, &mut self.order);
        self.scanner.push(bytes, &mut |n, entry| {
            exchanges.entry(n, entry, &mut |item| order.push(&item, sink));
        });
    }
}
