//! Lines on the stdout of a child that are not messages of its protocol.
//!
//! ```text
//!   Compiling oracle v0.1.0       foreign: the peer reads it as a message, so all later answers are off by one line
//!   {"jsonrpc":"2.0","id":0,…     a message, complete or broken
//!
//!   Content-Length: 2 CR LF CR LF {} INFO started LF      foreign: the text after the body, up to the next header block
//! ```

use crate::decoder::{DecodeOptions, Decoder, Origin};
use crate::encoding::Want;
use crate::framing::{FrameStart, Framing, Limits, frame_start, starts_block};
use crate::protocol::{Direction, Evidence, Protocol};

/// Maximum length of a line that is shown, in bytes.
const MAX_SHOWN: usize = 160;
/// Maximum length of text between messages that is held until its line ends, in bytes.
const MAX_HELD: usize = 1 << 16;

/// Returns `true` if children of a protocol write lines, so that a line can be foreign.
pub fn uses_lines(protocol: &dyn Protocol) -> bool {
    protocol.descriptor().framings.contains(&Framing::Lines)
}

/// Returns `true` if a line starts like nearly every message.
fn starts_like_message(line: &[u8]) -> bool {
    line.starts_with(br#"{"jsonrpc""#)
}

/// Returns `true` if a line, with or without its end, cannot be meant as a message of this protocol.
pub fn is_foreign(protocol: &dyn Protocol, line: &[u8]) -> bool {
    let line = line.trim_ascii();
    // A line with this key is at worst a broken message.
    if starts_like_message(line) || memchr::memmem::find(line, br#""jsonrpc""#).is_some() {
        return false;
    }
    if line.first() != Some(&b'{') {
        return true;
    }
    let mut decoder = Decoder::new(DecodeOptions {
        framing: Some(Framing::Lines),
        want: Want::Head,
        ..DecodeOptions::new(vec![protocol])
    });
    let origin = Origin {
        direction: Some(Direction::ToClient),
        ..Origin::default()
    };
    let mut foreign = false;
    let mut see = |decoded: &crate::decoder::Decoded<'_>| {
        let message = decoded.message;
        // Valid JSON that is not a message is a log line; invalid JSON may be a broken message.
        foreign |= message.valid && message.evidence == Evidence::None;
    };
    decoder.push(origin, line, &mut see);
    decoder.finish(&mut see);
    foreign
}

/// Splits bytes into lines with their ends; the last one may have no end.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at_checked(len)?;
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// Finds the first foreign line on the stdout of a child.
pub struct Guard<'p> {
    protocol: &'p dyn Protocol,
    /// The start of the incomplete line, as far as it is needed.
    line: Vec<u8>,
    /// The offset of that line in stdout.
    start: u64,
    /// The number of bytes of stdout so far.
    seen: u64,
    found: bool,
    /// The last complete line of stderr, and the incomplete one.
    last_line: Vec<u8>,
    partial: Vec<u8>,
}

impl<'p> Guard<'p> {
    /// Returns a guard without input.
    pub fn new(protocol: &'p dyn Protocol) -> Self {
        Self {
            protocol,
            line: Vec::new(),
            start: 0,
            seen: 0,
            found: false,
            last_line: Vec::new(),
            partial: Vec::new(),
        }
    }

    /// Handles bytes of the stderr of the child.
    pub fn stderr(&mut self, bytes: &[u8]) {
        if self.found {
            return;
        }
        for piece in lines(bytes) {
            let capacity = MAX_SHOWN.saturating_sub(self.partial.len());
            let shown = piece.get(..piece.len().min(capacity)).unwrap_or(piece);
            self.partial.extend_from_slice(shown);
            if piece.ends_with(b"\n") {
                self.last_line = std::mem::take(&mut self.partial);
            }
        }
    }

    /// Handles bytes of the stdout of the child. Returns a sentence for the first foreign line. `t` is in nanoseconds.
    pub fn stdout(&mut self, t: i64, bytes: &[u8]) -> Option<String> {
        if self.found {
            return None;
        }
        for piece in lines(bytes) {
            // Fast path: nearly every line is complete and a message.
            if self.line.is_empty() && piece.ends_with(b"\n") && starts_like_message(piece) {
                self.seen += piece.len() as u64;
                self.start = self.seen;
                continue;
            }
            self.line.extend_from_slice(piece);
            self.seen += piece.len() as u64;
            // A line that starts like a message is judged when it is complete.
            let is_complete =
                piece.ends_with(b"\n") || self.line.len() > Limits::default().message as usize;
            let may_be_message = self.line.trim_ascii_start().first() == Some(&b'{');
            if !is_complete && (may_be_message || self.line.len() < MAX_SHOWN) {
                continue;
            }
            if self.start == 0 && starts_block(&self.line) {
                // Messages with header blocks are no lines.
                self.found = true;
                return None;
            }
            if is_foreign(self.protocol, &self.line) {
                return Some(self.report(t));
            }
            self.line.clear();
            self.start = self.seen;
        }
        None
    }

    /// Handles the end of stdout: a line without an end is judged as it is.
    pub fn end(&mut self, t: i64) -> Option<String> {
        let left = !self.found && !self.line.is_empty();
        (left && is_foreign(self.protocol, &self.line)).then(|| self.report(t))
    }

    fn report(&mut self, t: i64) -> String {
        self.found = true;
        let show = |bytes: &[u8]| {
            let bytes = bytes.trim_ascii_end();
            let shown = bytes.get(..MAX_SHOWN).unwrap_or(bytes);
            String::from_utf8_lossy(shown).into_owned()
        };
        let last = if self.partial.is_empty() {
            &self.last_line
        } else {
            &self.partial
        };
        let stderr_text = match show(last).as_str() {
            "" => "stderr is empty so far".to_owned(),
            text => format!("on stderr at that time: {text}"),
        };
        let line = std::mem::take(&mut self.line);
        format!(
            "the child's stdout, offset {}, after {}.{:06} s: not a message of {}: {}; {stderr_text}",
            self.start,
            t / 1_000_000_000,
            t / 1000 % 1_000_000,
            self.protocol.name(),
            show(&line),
        )
    }
}

/// The destination of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineTarget {
    /// The peer.
    Peer,
    /// Stderr.
    Stderr,
}

/// Receives the lines.
pub type LineSink<'s, E> = dyn FnMut(LineTarget, &[u8]) -> Result<(), E> + 's;

/// Diverts lines that are not messages. A line waits until it is complete, a body after a header block does not.
pub struct Quarantine {
    protocol: &'static dyn Protocol,
    has_blocks: bool,
    /// The incomplete line, or header block.
    line: Vec<u8>,
    /// Longer lines are not held; their bytes are passed on at once.
    limit: usize,
    /// The current line is such a line.
    is_long_line: bool,
    /// The bytes of the current body that are still to come.
    body: u64,
}

impl Quarantine {
    /// Returns a quarantine for the stdout of one child, with a limit in bytes; `None` if messages are neither lines nor
    /// have header blocks.
    pub fn new(
        protocol: &'static dyn Protocol,
        framing: Option<Framing>,
        limit: usize,
    ) -> Option<Self> {
        let mut framings = protocol.descriptor().framings.iter().copied();
        let is_supported = |f: &Framing| matches!(f, Framing::Lines | Framing::ContentLength);
        let framing = framing.or_else(|| framings.find(is_supported));
        let framing = framing.filter(is_supported)?;
        Some(Self {
            protocol,
            has_blocks: framing == Framing::ContentLength,
            line: Vec::new(),
            limit,
            is_long_line: false,
            body: 0,
        })
    }

    /// Handles bytes; complete lines go to `sink`.
    pub fn push<E>(&mut self, bytes: &[u8], sink: &mut LineSink<'_, E>) -> Result<(), E> {
        if self.has_blocks {
            return self.push_blocks(bytes, sink);
        }
        for piece in lines(bytes) {
            let is_complete = piece.ends_with(b"\n");
            if self.is_long_line {
                self.is_long_line = !is_complete;
                sink(LineTarget::Peer, piece)?;
                continue;
            }
            self.line.extend_from_slice(piece);
            if is_complete {
                self.emit_line(sink)?;
            } else if self.line.len() > self.limit {
                self.is_long_line = true;
                let line = std::mem::take(&mut self.line);
                sink(LineTarget::Peer, &line)?;
            }
        }
        Ok(())
    }

    /// Handles the end of the stream.
    pub fn finish<E>(&mut self, sink: &mut LineSink<'_, E>) -> Result<(), E> {
        if self.has_blocks {
            while self.emit_start(true, sink)? {}
            return Ok(());
        }
        if self.line.is_empty() {
            return Ok(());
        }
        self.emit_line(sink)
    }

    fn emit_line<E>(&mut self, sink: &mut LineSink<'_, E>) -> Result<(), E> {
        let target = if is_foreign(self.protocol, &self.line) {
            LineTarget::Stderr
        } else {
            LineTarget::Peer
        };
        let result = sink(target, &self.line);
        self.line.clear();
        self.line.shrink_to(1 << 20);
        result
    }

    /// Handles bytes of messages with header blocks.
    fn push_blocks<E>(&mut self, bytes: &[u8], sink: &mut LineSink<'_, E>) -> Result<(), E> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let of_body = usize::try_from(self.body).map_or(rest.len(), |n| n.min(rest.len()));
            let (body, after) = rest.split_at(of_body);
            if !body.is_empty() {
                self.body -= of_body as u64;
                sink(LineTarget::Peer, body)?;
            }
            let (part, after) = after.split_at(after.len().min(MAX_HELD));
            self.line.extend_from_slice(part);
            while self.body == 0 && self.emit_start(false, sink)? {}
            if self.body > 0 {
                let line = std::mem::take(&mut self.line);
                self.push_blocks(&line, sink)?;
            }
            rest = after;
        }
        Ok(())
    }

    /// Passes on the header block, or the foreign text, at the start of the held bytes. Returns `false` if more bytes
    /// decide. `eof`: no more bytes follow.
    fn emit_start<E>(&mut self, eof: bool, sink: &mut LineSink<'_, E>) -> Result<bool, E> {
        let held = &self.line;
        if held.is_empty() {
            return Ok(false);
        }
        let (target, len) = match frame_start(held) {
            FrameStart::Header(len, body) => {
                self.body = body.unwrap_or(0);
                (LineTarget::Peer, len)
            }
            FrameStart::Partial if !eof => return Ok(false),
            FrameStart::Partial | FrameStart::Other => {
                let block = (1..held.len()).find(|at| starts_block(held.get(*at..).unwrap_or(b"")));
                let end = memchr::memchr(b'\n', held).map(|at| at + 1);
                // The last 15 bytes may start a header block.
                let full = (held.len() > MAX_HELD).then(|| held.len() - 15);
                let full = full.or(eof.then_some(held.len()));
                let Some(len) = block.into_iter().chain(end).min().or(full) else {
                    return Ok(false);
                };
                (LineTarget::Stderr, len)
            }
        };
        let result = sink(target, held.get(..len).unwrap_or(held));
        self.line.drain(..len.min(self.line.len()));
        result.map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::registry;

    fn oracle() -> &'static dyn Protocol {
        registry::find("oracle").unwrap()
    }

    #[test]
    fn lines_that_are_not_messages_are_foreign() {
        for (line, want) in [
            (&br#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#[..], false),
            (br#"  {"jsonrpc":"2.0","id":0,"resul"#, false),
            (br#"[{"jsonrpc":"2.0","id":0,"method":"ready"}]"#, false),
            (br#"{"id":0,"resul"#, false),
            (br#"{"level":"info","msg":"starting"}"#, true),
            (b"Compiling oracle v0.1.0", true),
            (b"", true),
            (b"\xff\xfe", true),
            (b"[1]", true),
        ] {
            let got = is_foreign(oracle(), line);
            assert_eq!(got, want, "{}", line.escape_ascii());
        }
        let stepflow = registry::find("stepflow").unwrap();
        assert!(!is_foreign(stepflow, br#"{"port": 4711}"#));
    }

    #[test]
    fn the_first_foreign_line_is_reported_with_the_last_line_of_stderr() {
        let mut guard = Guard::new(oracle());
        guard.stderr(b"early\nwarning: unused\nhalf");
        let good = br#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#;
        assert_eq!(guard.stdout(1, good), None);
        assert_eq!(guard.stdout(2, b"\nComp"), None);
        let reported = guard
            .stdout(1_500_000, b"iling \x1b[31m\xff\nmore\n")
            .unwrap();
        let reported = crate::escape::escape(&reported);
        insta::assert_snapshot!(reported, @r"the child's stdout, offset 42, after 0.001500 s: not a message of oracle: Compiling \u{1b}[31m�; on stderr at that time: half");
        assert_eq!(guard.stdout(3, b"again\n"), None, "only the first");
    }

    /// Returns what goes to the peer and to stderr of a stream that arrives in pieces of this size.
    fn divert(protocol: &str, stream: &str, size: usize) -> [String; 2] {
        let (mut on, mut aside) = (Vec::new(), Vec::new());
        let protocol = registry::find(protocol).unwrap();
        let mut quarantine = Quarantine::new(protocol, None, 1 << 20).unwrap();
        let mut sink = |target, line: &[u8]| {
            match target {
                LineTarget::Peer => on.extend_from_slice(line),
                LineTarget::Stderr => aside.extend_from_slice(line),
            }
            Ok::<(), ()>(())
        };
        for piece in stream.as_bytes().chunks(size) {
            quarantine.push(piece, &mut sink).unwrap();
        }
        quarantine.finish(&mut sink).unwrap();
        [on, aside].map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn foreign_lines_are_diverted_for_any_split() {
        let stream = "{\"jsonrpc\":\"2.0\"}\nnoise\n\n{\"jsonrpc\":\"2.0\"}\r\nend";
        let want = "{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\"}\r\n";
        for size in 1..stream.len() {
            assert_eq!(divert("oracle", stream, size), [want, "noise\n\nend"]);
        }
    }

    #[test]
    fn a_line_over_the_limit_is_not_held() {
        let mut quarantine = Quarantine::new(oracle(), None, 4).unwrap();
        let mut on = Vec::new();
        let mut sink = |target, line: &[u8]| {
            assert_eq!(target, LineTarget::Peer);
            on.push(line.len());
            Ok::<(), ()>(())
        };
        for piece in [&b"nois"[..], b"e that", b" goes\n"] {
            quarantine.push(piece, &mut sink).unwrap();
        }
        assert_eq!(on, [10, 6]);
    }

    #[test]
    fn text_between_header_blocks_is_diverted_for_any_split() {
        let one = "Content-Length: 4\r\n\r\n\"\u{e4}\"";
        let bad = "Content-Length: x\r\n\r\n";
        let parts = [
            (one, true),
            ("[info] ready\n", false),
            ("glued ", false),
            (one, true),
            ("\n", false),
            (bad, true),
            ("{\"a\":1}\n", false),
            (one, true),
            ("end", false),
        ];
        let stream: String = parts.iter().map(|(text, _)| *text).collect();
        let of = |to_peer: bool| -> String {
            let parts = parts.iter().filter(|(_, peer)| *peer == to_peer);
            parts.map(|(text, _)| *text).collect()
        };
        for size in 1..=stream.len() {
            assert_eq!(divert("lsp", &stream, size), [true, false].map(of));
        }
    }
}
