//! What a child prints on stdout that is none of its protocol's lines.
//!
//! ```text
//!   Compiling oracle v0.1.0       foreign: the other side takes it for a message, and is one line off from then on
//!   {"jsonrpc":"2.0","id":0,…     one of ours, whole or broken
//! ```

use crate::decoder::{Decoder, Options, Origin};
use crate::encoding::Want;
use crate::framing::{Framing, LengthMode, Limits};
use crate::protocol::{Direction, Evidence, Protocol};

/// Bytes of a line that are kept to be shown.
const SHOWN: usize = 160;

/// Whether a protocol's children speak in lines, so that a line can be foreign.
pub fn speaks_lines(protocol: &dyn Protocol) -> bool {
    protocol.descriptor().framings.contains(&Framing::Lines)
}

/// Whether a line begins as nearly every message does.
fn is_message(line: &[u8]) -> bool {
    line.starts_with(br#"{"jsonrpc""#)
}

/// Whether a line, with or without its end, is nothing that a peer of this protocol could have meant as a message.
pub fn is_foreign(protocol: &dyn Protocol, line: &[u8]) -> bool {
    let line = line.trim_ascii();
    // What has this word in it is at worst a broken message.
    if is_message(line) || memchr::memmem::find(line, br#""jsonrpc""#).is_some() {
        return false;
    }
    if line.first() != Some(&b'{') {
        return true;
    }
    let mut decoder = Decoder::new(Options {
        protocols: vec![protocol],
        framing: Some(Framing::Lines),
        length_mode: LengthMode::Auto,
        limits: Limits::default(),
        resync: true,
        want: Want::Head,
    });
    let origin = Origin {
        direction: Some(Direction::ToClient),
        ..Origin::default()
    };
    let mut foreign = false;
    let mut see = |decoded: &crate::decoder::Decoded<'_>| {
        let message = decoded.message;
        // JSON that is whole and no message is a log line; what is broken may have been meant as one.
        foreign |= message.valid && message.evidence == Evidence::None;
    };
    decoder.push(origin, line, &mut see);
    decoder.finish(&mut see);
    foreign
}

/// Lines with their ends; the last may have none.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at_checked(len)?;
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

/// Watches a child's stdout for the first line that is foreign.
pub struct Guard<'p> {
    protocol: &'p dyn Protocol,
    /// The line that is not complete, as much of it as matters.
    line: Vec<u8>,
    /// Where it starts in stdout.
    start: u64,
    /// Bytes of stdout so far.
    seen: u64,
    found: bool,
    /// The last line of stderr, and the one that is not complete.
    beside: Vec<u8>,
    partial: Vec<u8>,
}

impl<'p> Guard<'p> {
    /// A guard that has seen nothing.
    pub fn new(protocol: &'p dyn Protocol) -> Self {
        Self {
            protocol,
            line: Vec::new(),
            start: 0,
            seen: 0,
            found: false,
            beside: Vec::new(),
            partial: Vec::new(),
        }
    }

    /// Bytes of the child's stderr.
    pub fn stderr(&mut self, bytes: &[u8]) {
        if self.found {
            return;
        }
        for piece in lines(bytes) {
            let room = SHOWN.saturating_sub(self.partial.len());
            let kept = piece.get(..piece.len().min(room)).unwrap_or(piece);
            self.partial.extend_from_slice(kept);
            if piece.ends_with(b"\n") {
                self.beside = std::mem::take(&mut self.partial);
            }
        }
    }

    /// Bytes of the child's stdout; a sentence on the first of them that are foreign. `t` is in nanoseconds.
    pub fn stdout(&mut self, t: i64, bytes: &[u8]) -> Option<String> {
        if self.found {
            return None;
        }
        for piece in lines(bytes) {
            // Nearly every line of bulk is whole, and one of ours.
            if self.line.is_empty() && piece.ends_with(b"\n") && is_message(piece) {
                self.seen += piece.len() as u64;
                self.start = self.seen;
                continue;
            }
            self.line.extend_from_slice(piece);
            self.seen += piece.len() as u64;
            // A line that begins like a message is judged once it is whole.
            let whole =
                piece.ends_with(b"\n") || self.line.len() > Limits::default().message as usize;
            let begins = self.line.trim_ascii_start().first() == Some(&b'{');
            if !whole && (begins || self.line.len() < SHOWN) {
                continue;
            }
            if is_foreign(self.protocol, &self.line) {
                return Some(self.tell(t));
            }
            self.line.clear();
            self.start = self.seen;
        }
        None
    }

    /// Stdout has ended; what stands there without a line end is judged as it is.
    pub fn end(&mut self, t: i64) -> Option<String> {
        let left = !self.found && !self.line.is_empty();
        (left && is_foreign(self.protocol, &self.line)).then(|| self.tell(t))
    }

    fn tell(&mut self, t: i64) -> String {
        self.found = true;
        let show = |bytes: &[u8]| {
            let bytes = bytes.trim_ascii_end();
            let shown = bytes.get(..SHOWN).unwrap_or(bytes);
            String::from_utf8_lossy(shown).into_owned()
        };
        let last = if self.partial.is_empty() {
            &self.beside
        } else {
            &self.partial
        };
        let beside = match show(last).as_str() {
            "" => "nothing on stderr so far".to_owned(),
            text => format!("on stderr beside it: {text}"),
        };
        let line = std::mem::take(&mut self.line);
        format!(
            "the child's stdout, offset {}, after {}.{:06} s: no line of {}: {}; {beside}",
            self.start,
            t / 1_000_000_000,
            t / 1000 % 1_000_000,
            self.protocol.name(),
            show(&line),
        )
    }
}

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// On to the other side.
    On,
    /// Aside, to stderr.
    Aside,
}

/// Where lines go.
pub type Sink<'s, E> = dyn FnMut(Way, &[u8]) -> Result<(), E> + 's;

/// Holds each line until it is whole, and sends those that are foreign aside.
pub struct Quarantine {
    protocol: &'static dyn Protocol,
    line: Vec<u8>,
    /// Longer lines are not held, and go on as they come.
    limit: usize,
    /// Inside such a line.
    passing: bool,
}

impl Quarantine {
    /// For one child's stdout.
    pub fn new(protocol: &'static dyn Protocol, limit: usize) -> Self {
        Self {
            protocol,
            line: Vec::new(),
            limit,
            passing: false,
        }
    }

    /// More bytes; whole lines go to `sink`.
    pub fn push<E>(&mut self, bytes: &[u8], sink: &mut Sink<'_, E>) -> Result<(), E> {
        for piece in lines(bytes) {
            let ends = piece.ends_with(b"\n");
            if self.passing {
                self.passing = !ends;
                sink(Way::On, piece)?;
                continue;
            }
            self.line.extend_from_slice(piece);
            if ends {
                self.out(sink)?;
            } else if self.line.len() > self.limit {
                self.passing = true;
                let line = std::mem::take(&mut self.line);
                sink(Way::On, &line)?;
            }
        }
        Ok(())
    }

    /// There are no more bytes.
    pub fn finish<E>(&mut self, sink: &mut Sink<'_, E>) -> Result<(), E> {
        if self.line.is_empty() {
            return Ok(());
        }
        self.out(sink)
    }

    fn out<E>(&mut self, sink: &mut Sink<'_, E>) -> Result<(), E> {
        let way = if is_foreign(self.protocol, &self.line) {
            Way::Aside
        } else {
            Way::On
        };
        let told = sink(way, &self.line);
        self.line.clear();
        self.line.shrink_to(1 << 20);
        told
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
    fn lines_that_no_peer_meant_are_foreign() {
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
    fn the_first_foreign_line_is_named_with_what_stood_beside_it() {
        let mut guard = Guard::new(oracle());
        guard.stderr(b"early\nwarning: unused\nhalf");
        let good = br#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#;
        assert_eq!(guard.stdout(1, good), None);
        assert_eq!(guard.stdout(2, b"\nComp"), None);
        let told = guard
            .stdout(1_500_000, b"iling \x1b[31m\xff\nmore\n")
            .unwrap();
        let told = crate::escape::escape(&told);
        insta::assert_snapshot!(told, @r"the child's stdout, offset 42, after 0.001500 s: no line of oracle: Compiling \u{1b}[31m�; on stderr beside it: half");
        assert_eq!(guard.stdout(3, b"again\n"), None, "only the first");
    }

    #[test]
    fn foreign_lines_go_aside_however_the_bytes_are_cut() {
        let stream = b"{\"jsonrpc\":\"2.0\"}\nnoise\n\n{\"jsonrpc\":\"2.0\"}\r\nend";
        for size in 1..stream.len() {
            let (mut on, mut aside) = (Vec::new(), Vec::new());
            let mut quarantine = Quarantine::new(oracle(), 1 << 20);
            let mut sink = |way, line: &[u8]| {
                match way {
                    Way::On => on.extend_from_slice(line),
                    Way::Aside => aside.extend_from_slice(line),
                }
                Ok::<(), ()>(())
            };
            for piece in stream.chunks(size) {
                quarantine.push(piece, &mut sink).unwrap();
            }
            quarantine.finish(&mut sink).unwrap();
            assert_eq!(on, b"{\"jsonrpc\":\"2.0\"}\n{\"jsonrpc\":\"2.0\"}\r\n");
            assert_eq!(aside, b"noise\n\nend");
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_not_held() {
        let mut quarantine = Quarantine::new(oracle(), 4);
        let mut on = Vec::new();
        let mut sink = |way, line: &[u8]| {
            assert_eq!(way, Way::On);
            on.push(line.len());
            Ok::<(), ()>(())
        };
        for piece in [&b"nois"[..], b"e that", b" goes\n"] {
            quarantine.push(piece, &mut sink).unwrap();
        }
        assert_eq!(on, [10, 6]);
    }
}
