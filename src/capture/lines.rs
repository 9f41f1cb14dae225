//! Splits the input into lines.
//!
//! ```text
//!   push "0e 00\n12 6"   -> line 1 "0e 00"     (borrowed from the push)
//! push "4\r\n"         -> line 2 "12 64"     (joined in a reused buffer)
//! ```

use super::chunk::{InputPlace, Item, ItemSink, Problem};
use super::form::{FormReader, InputEnd};

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The maximum length of a line, in bytes.
pub(crate) const LINE_LIMIT: usize = 64 << 20;

/// Returns the lines of a text, and `true` for each that is complete.
pub(super) fn split_lines(text: &[u8], end: InputEnd) -> impl Iterator<Item = (&[u8], bool)> {
    let mut parts = text.split(|&c| c == b'\n').peekable();
    std::iter::from_fn(move || {
        let part = parts.next()?;
        let whole = end == InputEnd::Real || parts.peek().is_some();
        Some((part, whole))
    })
}

/// A line without its line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The number of the line, counted from 1.
    pub number: u64,
    pub text: &'a [u8],
    /// True if a line end follows; only the last line can lack it.
    pub ended: bool,
}

/// A form that is read line by line.
pub(super) trait LineForm: Send {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>);
    /// Ends the input.
    fn finish(&mut self, _sink: &mut ItemSink<'_>) {}
    /// Returns the number of lines without data of this form.
    fn ignored(&self) -> u64;
}

impl LineForm for Box<dyn LineForm> {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        (**self).line(line, sink);
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        (**self).finish(sink);
    }

    fn ignored(&self) -> u64 {
        (**self).ignored()
    }
}

/// The lines of an input, passed to a form.
pub(super) struct Lines<F> {
    pub form: F,
    held: Vec<u8>,
    /// The number of complete lines.
    number: u64,
    /// The current line is over the limit; its bytes are discarded up to the line end.
    skipping: bool,
    limit: usize,
}

impl<F: LineForm> Lines<F> {
    pub(super) fn new(form: F) -> Self {
        Self {
            form,
            held: Vec::new(),
            number: 0,
            skipping: false,
            limit: LINE_LIMIT,
        }
    }

    /// Adds a part of the current line; copies it if the line started in an earlier push.
    fn part(&mut self, part: &[u8], sink: &mut ItemSink<'_>) {
        if self.skipping {
            return;
        }
        if self.held.len() + part.len() > self.limit {
            self.skipping = true;
            self.held = Vec::new();
            Problem::error(
                InputPlace::Line(self.number + 1),
                format!("longer than the limit of {} bytes; ignored", self.limit),
            )
            .report(sink);
        } else if !self.held.is_empty() {
            self.held.extend_from_slice(part);
        }
    }
}

impl<F: LineForm> FormReader for Lines<F> {
    fn push(&mut self, bytes: &[u8], sink: &mut ItemSink<'_>) {
        let mut rest = bytes;
        while let Some((part, after)) =
            memchr::memchr(b'\n', rest).and_then(|at| rest.split_at_checked(at))
        {
            rest = after.get(1..).unwrap_or_default();
            self.part(part, sink);
            if !self.skipping {
                let text = if self.held.is_empty() {
                    part
                } else {
                    &self.held
                };
                read_line(&mut self.form, line(self.number + 1, text, true), sink);
            }
            self.held.clear();
            self.number += 1;
            self.skipping = false;
        }
        if !rest.is_empty() {
            self.part(rest, sink);
            // Bytes are copied only if the line continues in another push.
            if !self.skipping && self.held.is_empty() {
                self.held.extend_from_slice(rest);
            }
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        if !self.held.is_empty() {
            read_line(
                &mut self.form,
                line(self.number + 1, &self.held, false),
                sink,
            );
            self.held.clear();
        }
        self.form.finish(sink);
    }

    fn ignored(&self) -> u64 {
        self.form.ignored()
    }
}

/// Passes a line to a form; its chunks have the number of the line.
fn read_line(form: &mut impl LineForm, line: Line<'_>, sink: &mut ItemSink<'_>) {
    form.line(line, &mut |mut item| {
        if let Item::Chunk(chunk) = &mut item {
            chunk.line.get_or_insert(line.number);
        }
        sink(item);
    });
}

fn line(number: u64, text: &[u8], ended: bool) -> Line<'_> {
    let text = match text.strip_prefix(BOM) {
        Some(text) if number == 1 => text,
        _ => text,
    };
    Line {
        number,
        text: text.strip_suffix(b"\r").unwrap_or(text),
        ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Item;

    #[derive(Default)]
    struct CollectedLines(Vec<(u64, Vec<u8>, bool)>);

    impl LineForm for CollectedLines {
        fn line(&mut self, line: Line<'_>, _sink: &mut ItemSink<'_>) {
            self.0.push((line.number, line.text.to_vec(), line.ended));
        }
        fn ignored(&self) -> u64 {
            0
        }
    }

    #[test]
    fn lines_are_equal_in_all_splits() {
        let text = b"a\n\nbc\r\n0123456789\nlast";
        for step in 1..=text.len() {
            let mut lines = Lines {
                limit: 8,
                ..Lines::new(CollectedLines::default())
            };
            let mut problems = Vec::new();
            let sink: &mut ItemSink<'_> = &mut |item| {
                if let Item::Problem(p) = item {
                    problems.push(p.to_string());
                }
            };
            for piece in text.chunks(step) {
                lines.push(piece, sink);
            }
            lines.finish(sink);
            let want: [(u64, &[u8], bool); 4] = [
                (1, b"a", true),
                (2, b"", true),
                (3, b"bc", true),
                (5, b"last", false),
            ];
            assert_eq!(
                lines.form.0,
                want.map(|(n, t, e)| (n, t.to_vec(), e)),
                "step {step}"
            );
            assert_eq!(
                problems,
                ["line 4: longer than the limit of 8 bytes; ignored"]
            );
        }
    }
}
