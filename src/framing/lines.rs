//! One message on each line.
//!
//! ```text
//!   {"jsonrpc":"2.0","id":0,"method":"ready"} LF
//!   '------------ body, frame --------------'        CR before LF belongs to the frame, LF to neither
//! ```

use super::{Buffer, Frame, Framing, Head, Step, Wire};
use crate::error::DecodeError;
use crate::span::Span;

/// Stores how far the unfinished line was searched, so that each byte is searched once.
#[derive(Default)]
pub(super) struct LinesFraming {
    searched: usize,
    /// The limit was exceeded: everything up to the next LF is dropped.
    dropping: bool,
}

impl LinesFraming {
    /// Returns `true` if nothing is known about the bytes that follow.
    pub(super) fn is_like_new(&self) -> bool {
        !self.dropping && self.searched == 0
    }

    /// Returns `true` if a line starts at the start of the window.
    pub(super) fn is_between(&self) -> bool {
        !self.dropping
    }

    pub(super) fn next<'a>(&mut self, input: Buffer<'a>) -> Step<'a> {
        let Buffer {
            window,
            eof,
            limits,
            ..
        } = input;
        let limit = limits.message as usize;
        let found = window
            .get(self.searched..)
            .and_then(|w| memchr::memchr(b'\n', w))
            .map(|at| at + self.searched);
        let (end, took) = match found {
            Some(at) => (at, at + 1),
            None if window.is_empty() => return Step::Incomplete(None),
            None if self.dropping => return Step::Took(window.len()),
            None if window.len() > limit => (window.len(), window.len()),
            None if !eof => {
                self.searched = window.len();
                return Step::Incomplete(None);
            }
            None => (window.len(), window.len()),
        };
        self.searched = 0;
        if std::mem::replace(&mut self.dropping, false) {
            return Step::Took(took);
        }
        if end > limit {
            // The rest of the line is dropped as it arrives. Memory stays bounded for any length of
            // the line, and the report does not depend on how much of it has arrived.
            self.dropping = true;
            return Step::Frame(too_long(input, limit), limit);
        }
        // A CR without LF is not a line end: it belongs to the body.
        let ended = window.get(..end).filter(|_| found.is_some());
        let cr = usize::from(ended.is_some_and(|line| line.ends_with(b"\r")));
        Step::Frame(
            input.frame(Framing::Lines, Head::None, Span::new(0, end - cr), end),
            took,
        )
    }
}

/// Writes a line.
pub(super) fn write(body: &[u8], wire: &Wire, out: &mut Vec<u8>) {
    wire.payload(body, out);
    out.extend_from_slice(wire.eol.as_deref().unwrap_or("\n").as_bytes());
}

/// Records the line end of a line.
pub(super) fn describe(raw: &[u8], body: &[u8], wire: &mut Wire) {
    let rest = raw.get(body.len()..).unwrap_or_default();
    let known = ["\n", "\r\n", "\r", ""].iter();
    wire.eol = known
        .copied()
        .find(|eol| eol.as_bytes() == rest)
        .map(str::to_owned);
}

/// Builds a frame of the first `limit` bytes of a line, with its error.
fn too_long(input: Buffer<'_>, limit: usize) -> Frame<'_> {
    let mut frame = input.frame(Framing::Lines, Head::None, Span::new(0, limit), limit);
    let error = DecodeError::new(
        "over-limit",
        Span::new(0, limit),
        "line",
        format!("at most {limit} bytes"),
        "a longer line",
    );
    frame.fault = Some(input.fault(0, error.hint("raise the limit with `max-message`")));
    frame
}

#[cfg(test)]
mod tests {
    use crate::framing::{Framer, Framing, Hints, LengthMode, Limits, Step};

    fn lines(bytes: &[u8], limit: u32) -> Vec<(u64, u64, Vec<u8>, bool)> {
        let limits = Limits {
            message: limit,
            ..Limits::default()
        };
        let mut framer = Framer::new(
            Framing::Lines,
            limits,
            Hints::default(),
            LengthMode::Auto,
            true,
        );
        let (mut at, mut out) = (0, vec![]);
        loop {
            match framer.step(&bytes[at..], at as u64, true) {
                Step::Incomplete(_) => return out,
                Step::Took(n) => at += n,
                Step::Frame(f, n) => {
                    out.push((f.offset, f.len, f.view.body().to_vec(), f.fault.is_some()));
                    at += n;
                }
            }
        }
    }

    #[test]
    fn cr_before_lf_is_not_in_the_body() {
        let got = lines(b"{}\r\n\n{1}", 100);
        let want = vec![
            (0, 3, b"{}".to_vec(), false),
            (4, 0, vec![], false),
            (5, 3, b"{1}".to_vec(), false),
        ];
        assert_eq!(got, want);
    }

    #[test]
    fn line_over_limit_is_truncated_and_the_next_is_read() {
        let got = lines(b"aaaaaaaaaa\nb\n", 4);
        assert_eq!(
            got,
            vec![
                (0, 4, b"aaaa".to_vec(), true),
                (11, 1, b"b".to_vec(), false)
            ]
        );
    }
}
