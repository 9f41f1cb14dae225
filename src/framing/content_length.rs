//! A header block with the length before each message, as in the Language Server Protocol 3.17, base protocol.
//!
//! ```text
//!   Content-Length: 24 CR LF           fields in any order; only the length is required
//!   Content-Type: text/json CR LF
//!   CR LF
//!   {"jsonrpc":"2.0","id":1}           24 bytes; nothing follows them
//! ```
//!
//! LF alone ends a line too, and the case of names does not matter: some peers write and read that. Bytes that start no
//! block are skipped up to the next `Content-Length:`.

use super::fields::is_token;
use super::resync::Resync;
use super::{Buffer, Framing, Head, Step, Wire};
use crate::error::DecodeError;
use crate::span::Span;

/// The maximum length of a header block.
const MAX_BLOCK: usize = 8 << 10;
const NAME: &str = "content-length";
const BLOCK: &str = "a header block with Content-Length";

pub(super) struct ContentLengthFraming(Resync);

/// The bytes at the start of the window.
enum Block {
    /// A header block: its length, the value of its last Content-Length, and true if a line ends with CR CR LF.
    Whole(usize, Option<Span>, bool),
    /// The start of a block.
    Partial,
    /// Other bytes.
    Other,
}

impl ContentLengthFraming {
    pub(super) fn new() -> Self {
        Self(Resync::new(Framing::ContentLength, Some(starts_block)))
    }

    /// Skips to the next frame.
    pub(super) fn seek(&mut self) {
        self.0.seek();
    }

    /// Returns `true` if nothing is known about the bytes that follow.
    pub(super) fn is_like_new(&self) -> bool {
        self.0.is_like_new()
    }

    /// Returns `true` if a frame starts at the start of the window.
    pub(super) fn is_between(&self) -> bool {
        self.0.is_between()
    }

    pub(super) fn next<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        if self.0.is_active() {
            match self.0.next(input) {
                Step::Took(0) => {}
                step => return step,
            }
        }
        let (window, limit) = (input.window, input.limits.message);
        if window.is_empty() {
            return Step::Incomplete(None);
        }
        let bad = |code, span, wanted: String| {
            let got = match Span::of(span, window) {
                [] => "nothing".into(),
                text => String::from_utf8_lossy(text).into_owned(),
            };
            DecodeError::new(code, span, "Content-Length", wanted, got)
        };
        let (head, value, is_doubled) = match block(window) {
            Block::Whole(head, Some(value), is_doubled) => (head, value, is_doubled),
            Block::Whole(head, None, _) => {
                let error = bad("missing-header", Span::new(0, head), BLOCK.into());
                return self.0.start(input, error);
            }
            Block::Partial if !input.eof => return Step::Incomplete(None),
            Block::Partial => {
                let end = window.len();
                let body = Span::new(end, end);
                let mut frame = input.frame(Framing::ContentLength, Head::None, body, end);
                frame.fault = Some(input.truncated("header", BLOCK.into(), end));
                return Step::Frame(frame, end);
            }
            Block::Other => {
                let span = Span::new(0, 1);
                let error =
                    DecodeError::new("missing-header", span, "header", BLOCK, "something else");
                return self.0.start(input, error);
            }
        };
        let digits = value.of(window);
        let Some(length) = number(digits) else {
            let error = bad("bad-length", value, "a number of bytes".into());
            return self.0.start(input, error);
        };
        if length > u64::from(limit) {
            let error = bad("over-limit", value, format!("at most {limit} bytes"));
            return self.0.start(input, error);
        }
        let total = head + length as usize;
        let end = total.min(window.len());
        if end < total && !input.eof {
            return Step::Incomplete(Some((total - end) as u64));
        }
        let mut frame = input.frame(
            Framing::ContentLength,
            Head::Length(length as u32),
            Span::new(head, end),
            end,
        );
        if end < total {
            let wanted = format!("{length} bytes after the header");
            frame.fault = Some(input.truncated("Content-Length", wanted, end - head));
        } else if is_doubled {
            frame.fault = Some(input.fault(0, doubled_line_ends(head)));
        }
        Step::Frame(frame, end)
    }
}

fn doubled_line_ends(head: usize) -> DecodeError {
    let (wanted, got) = ("CR LF after each line", "CR CR LF");
    let error = DecodeError::new("missing-header", Span::new(0, head), "header", wanted, got);
    error.hint("peers find no end of this header: its writer has stdout in text mode, where Windows writes CR before LF")
}

/// Returns `true` if a header block may start here. 16 bytes decide.
pub(crate) fn starts_block(bytes: &[u8]) -> bool {
    let (Some(name), Some([b':', next])) = (
        bytes.get(..NAME.len()),
        bytes.get(NAME.len()..NAME.len() + 2),
    ) else {
        return false;
    };
    name.eq_ignore_ascii_case(NAME.as_bytes()) && matches!(next, b' ' | b'\t' | b'0'..=b'9')
}

/// Reads a header block. Only the first bytes count, so that the result does not depend on what has arrived.
fn block(window: &[u8]) -> Block {
    let bytes = window.get(..MAX_BLOCK).unwrap_or(window);
    let (mut at, mut length, mut is_doubled) = (0, None, false);
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(end) = memchr::memchr(b'\n', rest) else {
            let name = rest.split(|b| *b == b':').next().unwrap_or_default();
            let possible =
                name.iter().all(|b| is_token(*b)) || ((rest == b"\r" || rest == b"\r\r") && at > 0);
            let full = bytes.len() == MAX_BLOCK;
            return if possible && !full {
                Block::Partial
            } else {
                Block::Other
            };
        };
        let line = rest.get(..end).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = match line.strip_suffix(b"\r") {
            Some(line) => {
                is_doubled = true;
                line
            }
            None => line,
        };
        if line.is_empty() && at > 0 {
            return Block::Whole(at + end + 1, length, is_doubled);
        }
        let Some((name, value)) = field(line) else {
            return Block::Other;
        };
        if name.eq_ignore_ascii_case(NAME.as_bytes()) {
            let start = at + line.len() - value.trim_ascii_start().len();
            length = Some(Span::new(start, start + value.trim_ascii().len()));
        }
        at += end + 1;
    }
}

/// Splits a line into a name and a value.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?);
    (!name.is_empty() && name.iter().all(|b| is_token(*b))).then_some((name, value))
}

/// The kind of the bytes at the start of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameStart {
    /// A header block of this length, and the length of the body if the block has a valid one.
    Header(usize, Option<u64>),
    /// Perhaps the start of a header block.
    Partial,
    /// No header block.
    Other,
}

/// Reads the start of a window as a header block.
pub(crate) fn frame_start(window: &[u8]) -> FrameStart {
    match block(window) {
        Block::Whole(head, value, _) => {
            let length = value.and_then(|value| number(value.of(window)));
            FrameStart::Header(head, length)
        }
        Block::Partial => FrameStart::Partial,
        Block::Other => FrameStart::Other,
    }
}

/// Returns the position of the length in the header block at the start of a frame.
pub(crate) fn header_length(frame: &[u8]) -> Option<Span> {
    match block(frame) {
        Block::Whole(_, length, _) => length,
        _ => None,
    }
}

/// Returns a number of decimal digits; the largest one if it does not fit.
fn number(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    Some(text.parse().unwrap_or(u64::MAX))
}

/// Returns the header block that peers usually write.
fn usual(length: usize) -> Vec<u8> {
    format!("Content-Length: {length}\r\n\r\n").into_bytes()
}

/// Writes a frame. The length is correct unless `wire` has another, or a whole header block.
pub(super) fn write(body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
    let right = wire.header.len() + body.len();
    let length = wire.length.map_or(right, |length| length as usize);
    match &wire.head {
        Some(head) => out.extend_from_slice(head),
        None => out.extend_from_slice(&usual(length)),
    }
    wire.payload(body, out);
}

/// Records the length of a frame if it is not correct, and a header block that is not the usual one.
pub(super) fn describe(raw: &[u8], head: usize, length: u32, wire: &mut Wire) {
    let block = raw.get(..head).unwrap_or_default();
    if block == usual(length as usize) {
        wire.length = (head + length as usize != raw.len()).then_some(length);
    } else {
        wire.head = Some(block.to_vec());
    }
}

#[cfg(test)]
mod tests {
    use crate::framing::{Framing, Hints, Limits, frames};

    /// Returns the frames of a stream: offset, body and fault code.
    fn read(bytes: &[u8]) -> Vec<(u64, String, &'static str)> {
        let limits = Limits {
            message: 1000,
            ..Limits::default()
        };
        let frames = frames(bytes, Framing::ContentLength, Hints::default(), limits);
        let one = frames.map(|frame| {
            let code = frame.fault.as_ref().map_or("", |fault| fault.error.code);
            let body = frame.frame().view.body();
            (
                frame.offset,
                String::from_utf8_lossy(body).into_owned(),
                code,
            )
        });
        one.collect()
    }

    #[test]
    fn header_blocks_of_real_peers_are_read() {
        for head in [
            "Content-Length: 2\r\n\r\n",
            "Content-Length: 2\n\n",
            "content-length:2\r\n\r\n",
            "Content-Length:\t 2 \r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n",
            "Content-Type: x\r\nX-Own:\r\nContent-Length: 2\r\n\r\n",
            "Content-Length: 9\r\nContent-Length: 2\r\n\r\n",
        ] {
            let stream = format!("{head}{{}}{head}[]");
            let second = (head.len() + 2) as u64;
            let want = vec![(0, "{}".to_owned(), ""), (second, "[]".to_owned(), "")];
            assert_eq!(read(stream.as_bytes()), want, "{head:?}");
        }
    }

    #[test]
    fn reading_continues_at_the_next_block() {
        let good = "Content-Length: 2\r\n\r\n{}";
        for (bad, code) in [
            ("INFO started\n", "missing-header"),
            ("\r\n", "missing-header"),
            ("{\"id\":1}\n", "missing-header"),
            ("Content-Type: x\r\n\r\n{}", "missing-header"),
            ("Content-Length: abc\r\n\r\n{}", "bad-length"),
            ("Content-Length: -5\r\n\r\n{}", "bad-length"),
            ("Content-Length: 1073741824\r\n\r\n{}", "over-limit"),
            (
                "Content-Length: 99999999999999999999999\r\n\r\n",
                "over-limit",
            ),
        ] {
            let stream = format!("{good}{bad}{good}");
            let (bad_at, next) = (good.len() as u64, (good.len() + bad.len()) as u64);
            let want = vec![
                (0, "{}".to_owned(), ""),
                (bad_at, bad.to_owned(), code),
                (next, "{}".to_owned(), ""),
            ];
            assert_eq!(read(stream.as_bytes()), want, "{bad:?}");
        }
    }

    #[test]
    fn doubled_line_ends_are_a_fault_with_the_body() {
        let stream = b"Content-Length: 2\r\r\n\r\r\n{}Content-Length: 2\r\n\r\n[]";
        let want = vec![
            (0, "{}".to_owned(), "missing-header"),
            (25, "[]".to_owned(), ""),
        ];
        assert_eq!(read(stream), want);
    }

    #[test]
    fn ends_inside_a_frame_are_reported() {
        let stream = b"Content-Length: 20\r\n\r\n{\"id\":1}";
        for end in 1..stream.len() {
            let got = read(&stream[..end]);
            assert_eq!(got.len(), 1, "{end}");
            assert_eq!(got[0].2, "truncated", "{end}");
        }
    }
}
