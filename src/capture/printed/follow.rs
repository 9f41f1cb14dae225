//! A stream that tshark followed (`-z follow,tcp,ascii,0`): parts of a length, of the second node behind a tab.
//!
//! ```text
//!   Follow: tcp,ascii
//!   Node 0: 10.0.0.1:40000
//!   Node 1: 10.0.0.2:7700
//!   59
//!   {"jsonrpc":"2.0","id":8,"method":"tools/list","params":{}}
//!
//!   <tab>79
//!   {"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"Unknown tool: sub"}}
//! ```
//!
//! `-z follow,http` prints bodies without their chunks, although their heads still say that they are in chunks: each body
//! is one chunk here.

use super::super::chunk::{Chunk, DirectionSlots, InputPlace, Item, ItemSink, Problem};
use super::super::form::FormVerdict::{self, No, Open, Yes};
use super::super::form::{FormReader, InputEnd};
use super::super::lines::split_lines;
use super::super::pasted::is_chunked_head;
use crate::protocol::Direction;

/// The longest line beside the parts.
const MAX_LINE: usize = 1 << 10;
/// The longest head or body of HTTP whose chunks are completed.
const MAX_HTTP: u64 = 16 << 20;

#[derive(Default)]
pub(in super::super) struct Follow {
    /// The current line, or the start of it.
    line: Vec<u8>,
    /// The number of the current line.
    number: u64,
    /// The nodes are named: lengths follow.
    has_nodes: bool,
    direction: Option<Direction>,
    /// The bytes of the part that are still to come.
    rest: u64,
    ignored: u64,
    /// The text has dots in place of bytes.
    is_ascii: bool,
    /// Each part is a head or a body of HTTP.
    is_http: bool,
    /// The start of such a part.
    part: Vec<u8>,
    /// The last head in a direction says that its body is in chunks, and the last chunk is still to come.
    has_chunks: DirectionSlots<bool>,
}

pub(in super::super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    let mut mode = false;
    for (line, is_whole) in split_lines(text, end) {
        let line = line.trim_ascii_end();
        let marks: [&[u8]; 5] = [
            b"=======",
            b"Follow: ",
            b"Filter: ",
            b"Node 0: ",
            b"Node 1: ",
        ];
        if !is_whole {
            let may_be = |mark: &&[u8]| mark.starts_with(line) || line.starts_with(mark);
            return if end == InputEnd::More && (mode || marks.iter().any(may_be)) {
                Open
            } else {
                No
            };
        }
        if let Some(how) = line.strip_prefix(b"Follow: ") {
            mode = [&b",ascii"[..], b",utf-8"]
                .iter()
                .any(|mode| how.ends_with(mode));
            if !mode {
                return No;
            }
        } else if line.starts_with(b"Node 1: ") {
            return if mode {
                Yes("it is a stream that tshark followed".into())
            } else {
                No
            };
        } else if !line.is_empty() && !marks.iter().any(|mark| line.starts_with(mark)) {
            return No;
        }
    }
    if end == InputEnd::More { Open } else { No }
}

impl Follow {
    /// Reads a line between two parts: the length of the next one, after a tab if the server sends it.
    fn read_line_between_parts(&mut self, sink: &mut ItemSink<'_>) {
        let line = std::mem::take(&mut self.line);
        let text = line.trim_ascii_end();
        self.number += 1;
        if !self.has_nodes {
            self.is_ascii |= text.ends_with(b",ascii");
            self.is_http |= text.starts_with(b"Follow: http,");
            self.has_nodes = text.starts_with(b"Node 1: ");
            return;
        }
        if text.is_empty() || text.starts_with(b"=====") {
            return;
        }
        let after_tab = text.strip_prefix(b"\t");
        let direction = if after_tab.is_some() {
            Direction::ToClient
        } else {
            Direction::ToServer
        };
        let digits = std::str::from_utf8(after_tab.unwrap_or(text)).ok();
        if let Some(len) = digits.and_then(|digits| digits.parse().ok()) {
            (self.rest, self.direction) = (len, Some(direction));
            return;
        }
        // One report is enough if the text was changed.
        if self.ignored == 0 {
            let text =
                "wanted the length of a part, got other text: parts before it have another length";
            Problem::error(InputPlace::Line(self.number), text).report(sink);
        }
        self.ignored += 1;
    }

    /// Passes on bytes of a part; those of a head or a body of HTTP once the part is complete.
    fn pass(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        let is_long = self.part.is_empty() && self.rest > MAX_HTTP;
        self.rest -= bytes.len() as u64;
        if !self.is_http || is_long {
            return self.emit(bytes, sink);
        }
        self.part.extend_from_slice(bytes);
        if self.rest > 0 {
            return;
        }
        let part = std::mem::take(&mut self.part);
        let direction = self.direction;
        if is_head(&part) {
            self.end_chunks(direction, sink);
            self.emit(&part, sink);
            *self.has_chunks.of(direction) = is_chunked_head(&part);
        } else if *self.has_chunks.of(direction) {
            let size = format!("{:x}\r\n", part.len());
            self.emit(&[size.as_bytes(), &part, b"\r\n"].concat(), sink);
        } else {
            self.emit(&part, sink);
        }
    }

    /// Ends a body in chunks.
    fn end_chunks(&mut self, direction: Option<Direction>, sink: &mut ItemSink<'_>) {
        if std::mem::take(self.has_chunks.of(direction)) {
            self.direction = direction;
            self.emit(b"0\r\n\r\n", sink);
        }
    }

    fn emit(&self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        sink(Item::Chunk(Chunk {
            line: Some(self.number + 1),
            ..Chunk::of(self.direction, bytes)
        }));
    }
}

/// Returns true if a part is the head of a request or of an answer.
fn is_head(part: &[u8]) -> bool {
    let first = part.split(|&c| c == b'\n').next().unwrap_or_default();
    first.starts_with(b"HTTP/1") || memchr::memmem::find(first, b" HTTP/1").is_some()
}

impl FormReader for Follow {
    fn push(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.rest > 0 {
                let len = usize::try_from(self.rest)
                    .unwrap_or(usize::MAX)
                    .min(rest.len());
                let (part, after) = rest.split_at_checked(len).unwrap_or((rest, b""));
                self.pass(part, sink);
                self.number += memchr::memchr_iter(b'\n', part).count() as u64;
                rest = after;
                continue;
            }
            let end = memchr::memchr(b'\n', rest);
            let (part, after) = rest
                .split_at_checked(end.unwrap_or(rest.len()))
                .unwrap_or((rest, b""));
            let room = MAX_LINE.saturating_sub(self.line.len());
            self.line
                .extend_from_slice(part.get(..room).unwrap_or(part));
            rest = after.get(1..).unwrap_or_default();
            if end.is_some() {
                self.read_line_between_parts(sink);
            }
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        let part = std::mem::take(&mut self.part);
        if !part.is_empty() {
            self.emit(&part, sink);
        }
        for direction in [Direction::ToServer, Direction::ToClient] {
            self.end_chunks(Some(direction), sink);
        }
        if self.rest > 0 {
            let text = format!(
                "the text ends {} bytes before the end of the part",
                self.rest
            );
            Problem::error(InputPlace::Line(self.number + 1), text).report(sink);
        }
        if self.is_ascii {
            let text =
                "Follow Stream in ASCII has a dot in place of each other byte: raw keeps all bytes";
            Problem::note(InputPlace::Whole, text).report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}
