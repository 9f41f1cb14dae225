//! Cuts what is pushed into lines.
//!
//! ```text
//!   push "0e 00\n12 6"   -> line 1 "0e 00"     (borrowed from the push)
//!   push "4\r\n"         -> line 2 "12 64"     (put together in a reused buffer)
//! ```

use super::chunk::{Item, Place, Problem, Sink};

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Longest line, in bytes.
pub(crate) const LINE_LIMIT: usize = 64 << 20;

/// A line without its line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Counted from 1.
    pub number: u64,
    pub text: &'a [u8],
    /// Whether a line break followed; only the last line may lack it.
    pub ended: bool,
}

/// A form that is read line by line.
pub(super) trait LineForm: Send {
    fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>);
    /// The input is over.
    fn finish(&mut self, _sink: &mut Sink<'_>) {}
    /// How many lines held nothing for this form.
    fn ignored(&self) -> u64;
}

pub(super) struct Lines {
    held: Vec<u8>,
    /// Lines before the one that is being put together.
    number: u64,
    /// The line at hand is over the limit and thrown away up to its end.
    skipping: bool,
    limit: usize,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self {
            held: Vec::new(),
            number: 0,
            skipping: false,
            limit: LINE_LIMIT,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8], form: &mut dyn LineForm, sink: &mut Sink<'_>) {
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
                form.line(line(self.number + 1, text, true), sink);
            }
            self.held.clear();
            self.number += 1;
            self.skipping = false;
        }
        if !rest.is_empty() {
            self.part(rest, sink);
            // A first part is only copied once it is known that its line goes on in another push.
            if !self.skipping && self.held.is_empty() {
                self.held.extend_from_slice(rest);
            }
        }
    }

    /// Takes one more part of the line at hand; copies it where the line began in an earlier push.
    fn part(&mut self, part: &[u8], sink: &mut Sink<'_>) {
        if self.skipping {
            return;
        }
        if self.held.len() + part.len() > self.limit {
            self.skipping = true;
            self.held = Vec::new();
            sink(Item::Problem(Problem::error(
                Place::Line(self.number + 1),
                format!("longer than the limit of {} bytes; left out", self.limit),
            )));
        } else if !self.held.is_empty() {
            self.held.extend_from_slice(part);
        }
    }

    pub(super) fn finish(&mut self, form: &mut dyn LineForm, sink: &mut Sink<'_>) {
        if !self.held.is_empty() {
            form.line(line(self.number + 1, &self.held, false), sink);
            self.held.clear();
        }
        form.finish(sink);
    }
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

    #[derive(Default)]
    struct Keep(Vec<(u64, Vec<u8>, bool)>);

    impl LineForm for Keep {
        fn line(&mut self, line: Line<'_>, _sink: &mut Sink<'_>) {
            self.0.push((line.number, line.text.to_vec(), line.ended));
        }
        fn ignored(&self) -> u64 {
            0
        }
    }

    #[test]
    fn lines_come_whole_however_they_are_pushed() {
        let text = b"a\n\nbc\r\n0123456789\nlast";
        for step in 1..=text.len() {
            let mut lines = Lines {
                limit: 8,
                ..Lines::new()
            };
            let (mut keep, mut problems) = (Keep::default(), Vec::new());
            let sink: &mut Sink<'_> = &mut |item| {
                if let Item::Problem(p) = item {
                    problems.push(p.to_string());
                }
            };
            for piece in text.chunks(step) {
                lines.push(piece, &mut keep, sink);
            }
            lines.finish(&mut keep, sink);
            let want: [(u64, &[u8], bool); 4] = [
                (1, b"a", true),
                (2, b"", true),
                (3, b"bc", true),
                (5, b"last", false),
            ];
            assert_eq!(
                keep.0,
                want.map(|(n, t, e)| (n, t.to_vec(), e)),
                "step {step}"
            );
            assert_eq!(
                problems,
                ["line 4: longer than the limit of 8 bytes; left out"]
            );
        }
    }
}
