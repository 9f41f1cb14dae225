//! Parts that all readings of text share: lines, marks, missing bytes.

use super::clean::{clean, uncoloured};
use super::marks::{Mark, Marks};
use crate::capture::chunk::{Chunk, DirectionSlots, Gap, InputPlace, Item, ItemSink, Problem};
use crate::capture::time::{DAY, Time};
use crate::protocol::Direction;
use std::borrow::Cow;

/// The state of a reading that any reading has.
#[derive(Default)]
pub(super) struct Common {
    pub marks: Marks,
    /// Every line with `>` is a quotation, as in mail; the mark is no direction.
    pub quoted: bool,
    pub ignored: u64,
    offsets: DirectionSlots<u64>,
    clocks: Clocks,
}

/// The times of a text, which all have a date or all have none.
#[derive(Default)]
struct Clocks {
    /// Times have dates, once the first one is known.
    is_dated: Option<bool>,
    last: Option<Time>,
    /// The time of whole days since the first line.
    days: Time,
}

impl Clocks {
    fn read(&mut self, mark: Mark, sink: &mut ItemSink<'_>) -> Option<Time> {
        let is_first = self.is_dated.is_none();
        let found = mark.time.or(mark.clock)?;
        if *self.is_dated.get_or_insert(mark.time == Some(found)) {
            return mark.time;
        }
        if is_first {
            let text = "the times of the text have no date";
            Problem::note(InputPlace::Whole, text).report(sink);
        }
        let clock = mark.clock?;
        // It is after midnight.
        if self.last.is_some_and(|last| last - clock > DAY / 2) {
            self.days += DAY;
        }
        self.last = Some(clock);
        Some(clock + self.days)
    }
}

impl Common {
    pub(super) fn new(quoted: bool) -> Self {
        Self {
            quoted,
            ..Self::default()
        }
    }

    /// Returns a line in ASCII as far as possible, without colours and quotation marks.
    pub(super) fn clean<'a>(&self, line: &'a [u8]) -> Cow<'a, [u8]> {
        self.unquoted(clean(line))
    }

    /// Returns a line without colours and quotation marks; texts in it may have any characters.
    pub(super) fn uncoloured<'a>(&self, line: &'a [u8]) -> Cow<'a, [u8]> {
        self.unquoted(uncoloured(line))
    }

    fn unquoted<'a>(&self, line: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        match line {
            Cow::Borrowed(line) => Cow::Borrowed(self.unquote(line)),
            Cow::Owned(line) => Cow::Owned(self.unquote(&line).to_vec()),
        }
    }

    fn unquote<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let mut line = line;
        while let Some(rest) = line.strip_prefix(b">").filter(|_| self.quoted) {
            line = rest.strip_prefix(b" ").unwrap_or(rest);
        }
        line
    }

    /// Handles a line without bytes.
    pub(super) fn other(&mut self, line: &[u8]) {
        if !(self.quoted && introduces_quotation(line)) {
            self.marks.note(line);
        }
        self.ignored += u64::from(!line.trim_ascii().is_empty());
    }

    /// Returns the time of a mark, as the times of the text are.
    pub(super) fn time(&mut self, mark: Mark, sink: &mut ItemSink<'_>) -> Option<Time> {
        self.clocks.read(mark, sink)
    }

    /// Emits bytes.
    pub(super) fn emit(&mut self, mark: Mark, bytes: &[u8], sink: &mut ItemSink<'_>) {
        if bytes.is_empty() {
            return;
        }
        *self.offsets.of(mark.direction) += bytes.len() as u64;
        let time = self.time(mark, sink);
        sink(Item::Chunk(Chunk {
            time,
            ..Chunk::of(mark.direction, bytes)
        }));
    }

    /// Reports bytes that the text leaves out.
    pub(super) fn missing(
        &mut self,
        direction: Option<Direction>,
        len: u64,
        sink: &mut ItemSink<'_>,
    ) {
        let from = *self.offsets.of(direction);
        let to = from.saturating_add(len);
        *self.offsets.of(direction) = to;
        sink(Item::Gap(Gap {
            direction,
            from,
            to,
        }));
    }
}

/// Returns true if a line stands before a quotation in mail: `On Tue, Nov 24, 2026, Ann wrote:`.
pub(super) fn introduces_quotation(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b" wrote:")
}

/// Returns a message with the header of a stream whose messages have lengths.
pub(super) fn with_header(message: &[u8]) -> Vec<u8> {
    let header = format!("Content-Length: {}\r\n\r\n", message.len());
    [header.as_bytes(), message].concat()
}

/// Reads how many bytes an ellipsis stands for: `... 19 more bytes>`; `None` if there is no ellipsis or no number.
pub(super) fn missing_bytes(text: &[u8]) -> Option<u64> {
    let rest = text.trim_ascii_start().strip_prefix(b"...")?;
    let rest = rest.get(..32).unwrap_or(rest);
    let start = rest.iter().position(u8::is_ascii_digit)?;
    let (between, number) = rest.split_at_checked(start)?;
    // A number of another sentence is none of this ellipsis.
    if !between.iter().all(|c| b" (+[".contains(c)) {
        return None;
    }
    let end = number.iter().position(|c| !c.is_ascii_digit())?;
    let (number, unit) = number.split_at_checked(end)?;
    let unit = unit.trim_ascii_start();
    (unit.starts_with(b"more") || unit.starts_with(b"byte") || unit.starts_with(b"item"))
        .then(|| std::str::from_utf8(number).ok()?.parse().ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_bytes_are_counted() {
        for (text, want) in [
            ("... 19 more bytes>", Some(19)),
            (" ... 369 more items ]", Some(369)),
            ("... (+12 bytes)", Some(12)),
            ("...", None),
            ("... and 3 more", None),
            ("19 more bytes", None),
        ] {
            assert_eq!(missing_bytes(text.as_bytes()), want, "{text}");
        }
    }
}
