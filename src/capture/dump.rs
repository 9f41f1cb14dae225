//! Hex dumps with offsets.
//!
//! ```text
//!   00000000: 1600 0000 7b22 6a73  ....{"js             xxd, with groups of any size; tcpdump -x, -X
//!   00000000  16 00 00 00 7b 22 6a 73  |....{"js|       hexdump -C
//!   000000 16 00 00 00 7b 22 6a 73  >....{"js<          od -A x -t x1z, and other offset radixes
//!   *                                                   the line before again, up to the next offset
//!   00000010                                            where the data ends
//! ```
//!
//! The data columns of `xxd` end at the first two blanks, those of the others at the first token that is not two digits
//! or at three blanks, so that text in the last column is never taken for data. A direction mark may stand before the
//! offset and holds until the next. Dumps of words (`hexdump` alone, `od` alone, `xxd -e`) show bytes in another order and
//! are refused; the readings of text convert them.
//!
//! Offsets are checked: a jump ahead is a [`Gap`], offset 0 again is a [`Item::Break`].

use super::chunk::{Chunk, DirectionSlots, Gap, InputPlace, Item, ItemSink, Problem};
use super::hex::{direction, is_comment, last_cell, nibble, split_digits};
use super::lines::{Line, LineForm};
use super::time::Time;
use crate::protocol::Direction;

/// Bytes that `*` lines of one input may stand for.
const EXPANSION_LIMIT: u64 = 64 << 20;
/// Bytes of one chunk that a `*` line stands for, or one line where that is longer.
const EXPANSION_CHUNK: usize = 64 << 10;

/// Bytes of half a row.
const HALF: usize = 8;

/// A line's offset, and the rest of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DumpRow<'a> {
    pub direction: Option<Direction>,
    pub digits: &'a [u8],
    /// A colon ends the offset.
    pub colon: bool,
    /// Blanks after the offset.
    pub blanks: usize,
    pub rest: &'a [u8],
}

/// The content of the columns of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DumpColumns {
    /// Bytes.
    Bytes,
    /// Words, whose bytes are in another order.
    Words,
    /// Nothing that is hex.
    Text,
    /// Nothing at all.
    Nothing,
}

/// Reads a line's offset: 4 to 16 hex digits, then a colon or a blank or the end.
pub(super) fn row(text: &[u8]) -> Option<DumpRow<'_>> {
    // A port, and a payload.
    if last_cell(text).is_some() {
        return None;
    }
    let (direction, text) = direction(text.trim_ascii());
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let (digits, rest) = split_digits(text);
    let after = rest.strip_prefix(b":");
    let body = after.unwrap_or(rest);
    let trimmed = body.trim_ascii_start();
    let blanks = body.len() - trimmed.len();
    let ends = blanks > 0 || body.is_empty();
    ((4..=16).contains(&digits.len()) && ends).then_some(DumpRow {
        direction,
        digits,
        colon: after.is_some(),
        blanks,
        rest: trimmed,
    })
}

impl<'a> DumpRow<'a> {
    /// Appends the row's bytes to `out`.
    pub(super) fn columns(self, out: &mut Vec<u8>) -> (DumpColumns, &'a [u8]) {
        let mut rest = self.rest;
        let start = out.len();
        let mut group = 0;
        loop {
            let (digits, after) = split_digits(rest);
            let ends = after.first().is_none_or(u8::is_ascii_whitespace);
            let fits = if self.colon {
                digits.len() % 2 == 0
            } else {
                digits.len() == 2
            };
            if digits.is_empty() || !ends || !fits {
                if !self.colon && start == out.len() && ends && digits.len() >= 4 {
                    return (DumpColumns::Words, rest);
                }
                break;
            }
            group = group.max(digits.len() / 2);
            out.extend(digits.chunks_exact(2).map(|pair| {
                pair.iter()
                    .fold(0, |byte, &digit| byte << 4 | nibble(digit))
            }));
            rest = after.trim_ascii_start();
            // hexdump -C has two blanks in the middle of its columns.
            let gap = after.len() - rest.len();
            if gap > if self.colon { 1 } else { 2 } {
                let middle = self.colon && gap == 2 && group == 1 && out.len() - start == HALF;
                if middle && let Some(text) = second_half(rest, start, out) {
                    rest = text;
                }
                break;
            }
        }
        let data = out.get(start..).unwrap_or_default();
        let columns = match (data.is_empty(), rest.is_empty()) {
            (true, true) => DumpColumns::Nothing,
            (true, false) => DumpColumns::Text,
            _ if group > 1 && is_swapped(data, group, rest) => DumpColumns::Words,
            _ => DumpColumns::Bytes,
        };
        (columns, rest)
    }

    fn offset(self, radix: u32) -> Option<u64> {
        std::str::from_utf8(self.digits)
            .ok()
            .and_then(|digits| u64::from_str_radix(digits, radix).ok())
    }
}

/// Appends the bytes of the second half of a row, as browsers and hexdump of Python write it; the text column shows
/// whether there is one. Returns the text.
fn second_half<'a>(columns: &'a [u8], start: usize, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let first = out.len();
    let mut rest = columns;
    // The text after two blanks, if it begins with another one.
    let mut with_blank: &[u8] = b"";
    while out.len() < first + HALF
        && let (&[high, low], after) = split_digits(rest)
    {
        out.push(nibble(high) << 4 | nibble(low));
        let text = after.trim_ascii_start();
        let gap = after.len() - text.len();
        if gap != 1 {
            rest = if gap == 0 { after } else { text };
            with_blank = after.get(2..).filter(|_| gap > 2).unwrap_or_default();
            break;
        }
        rest = text;
    }
    let row = out.get(start..).unwrap_or_default();
    let text = rest.strip_prefix(b"|").unwrap_or(rest);
    // A blank at the start or the end of the text is lost.
    let agrees = |text: &[u8]| {
        let shown = row.iter().zip(text);
        text.len() >= row.len().saturating_sub(1)
            && shown
                .into_iter()
                .all(|(byte, c)| byte == c || !byte.is_ascii_graphic())
    };
    if out.len() > first && (agrees(text) || agrees(with_blank)) {
        return Some(rest);
    }
    out.truncate(first);
    None
}

/// Returns `true` if the text column shows the bytes in another order than the hex columns, as `xxd -e` prints them.
fn is_swapped(data: &[u8], group: usize, text: &[u8]) -> bool {
    let shown = |byte: u8| {
        if byte.is_ascii_graphic() || byte == b' ' {
            byte
        } else {
            b'.'
        }
    };
    let text = text.iter().copied().chain(std::iter::repeat(b' '));
    let agree = data
        .iter()
        .map(|&b| shown(b))
        .eq(text.clone().take(data.len()));
    let swapped = data.chunks(group).flat_map(|word| word.iter().rev());
    !agree && swapped.map(|&b| shown(b)).eq(text.take(data.len()))
}

/// Returns true for a first row as Wireshark shows a stream: the text has a gap in the middle, too.
fn is_row_of_follow(line: &[u8]) -> bool {
    const TEXT: usize = 16;
    let mut bytes = Vec::new();
    let Some(first) = row(line).filter(|row| !row.colon && row.digits == b"00000000") else {
        return false;
    };
    let (_, text) = first.columns(&mut bytes);
    bytes.len() == TEXT && text.get(HALF) == Some(&b' ') && (TEXT..=TEXT + 1).contains(&text.len())
}

/// Returns the direction of a row of a stream: those of the second peer are indented.
fn peer(line: &[u8]) -> Direction {
    if line.starts_with(b"    ") || line.starts_with(b"\t") {
        Direction::ToClient
    } else {
        Direction::ToServer
    }
}

#[derive(Default)]
pub(super) struct Dump {
    /// The base of offsets, once an offset has shown it.
    radix: Option<u32>,
    /// Digits of the offset last seen.
    width: usize,
    /// The end of the data of each direction.
    ends: DirectionSlots<Option<u64>>,
    /// It is a stream that Wireshark follows, as its first row shows.
    is_follow: Option<bool>,
    /// The line that a `*` repeats.
    last: Vec<u8>,
    last_direction: Option<Direction>,
    /// The time of the row, if the text has one.
    pub(super) time: Option<Time>,
    squeezed: bool,
    expanded: u64,
    /// Something other than data stood before this line.
    fresh: bool,
    refused: bool,
    ignored: u64,
    bytes: Vec<u8>,
}

impl Dump {
    /// The row's offset. Nothing in a dump says what its offsets are written in, but the second one does.
    fn offset(&mut self, row: DumpRow<'_>) -> Option<u64> {
        if let Some(radix) = self.radix {
            return row.offset(radix);
        }
        // hexdump -C writes eight digits and od -A x six; od's other radixes have seven.
        let likely: &[u32] = if row.digits.len() == 7 && !row.colon {
            &[8, 10, 16]
        } else {
            &[16, 10, 8]
        };
        if let Some(end) = self.ends.of(row.direction).filter(|&end| end >= 8)
            && let Some(&radix) = likely.iter().find(|&&r| row.offset(r) == Some(end))
        {
            self.radix = Some(radix);
            return Some(end);
        }
        likely.iter().find_map(|&radix| row.offset(radix))
    }

    /// The number of bytes between the offsets of two rows: at most `len`, and more than `less`; `None` if no base gives
    /// that.
    pub(super) fn distance(
        &self,
        rows: [DumpRow<'_>; 2],
        less: usize,
        len: usize,
    ) -> Option<usize> {
        let [from, to] = rows;
        let all = [16, 10, 8];
        let bases = all
            .iter()
            .filter(|&&r| self.radix.is_none_or(|own| own == r));
        let distances = bases.filter_map(|&radix| {
            let distance = to.offset(radix)?.checked_sub(from.offset(radix)?)?;
            usize::try_from(distance).ok()
        });
        distances.filter(|d| (less + 1..=len).contains(d)).max()
    }

    /// Handles a row with data.
    pub(super) fn data(
        &mut self,
        row: DumpRow<'_>,
        bytes: &mut Vec<u8>,
        line: u64,
        sink: &mut ItemSink<'_>,
    ) {
        let offset = self.offset(row).unwrap_or(0);
        self.place(row, offset, line, sink);
        self.width = row.digits.len();
        self.fresh = false;
        *self.ends.of(row.direction) = Some(offset.saturating_add(bytes.len() as u64));
        sink(Item::Chunk(Chunk {
            time: self.time,
            ..Chunk::of(row.direction, bytes)
        }));
        std::mem::swap(&mut self.last, bytes);
        self.last_direction = row.direction;
    }

    /// Handles an offset without data: the data ends there. A heading that happens to be hex digits is hardly as wide
    /// as the offsets, which widen beyond 4 GiB. Returns false if it is one.
    pub(super) fn end(&mut self, row: DumpRow<'_>, line: u64, sink: &mut ItemSink<'_>) -> bool {
        if self.width == 0 || row.digits.len() < self.width {
            return false;
        }
        if let Some(offset) = self.offset(row).filter(|&offset| offset > 0)
            && !self.refused
        {
            let end = self.ends.of(row.direction).unwrap_or(0);
            if offset > end {
                self.place(row, offset, line, sink);
            }
        }
        self.fresh = true;
        true
    }

    /// Handles a `*`: the last row is repeated up to the next offset.
    pub(super) fn repeat(&mut self) {
        self.squeezed = true;
    }

    /// Handles a line that is not a row: another dump may follow.
    pub(super) fn pause(&mut self) {
        self.fresh = true;
    }

    fn other(&mut self, text: &[u8]) {
        self.pause();
        if !text.is_empty() && !is_comment(text) {
            self.ignored += 1;
        }
    }

    /// Gives the last line again and again, from offset `from` up to `to`.
    fn expand(&mut self, from: u64, to: u64, sink: &mut ItemSink<'_>) {
        let allowed = EXPANSION_LIMIT.saturating_sub(self.expanded);
        let mut left = to.saturating_sub(from).min(allowed);
        let stop = from + left;
        self.expanded += left;
        let lines = (EXPANSION_CHUNK / self.last.len().max(1)).max(1);
        let lines = lines.min(left as usize / self.last.len().max(1) + 1);
        let block = self.last.repeat(lines);
        while left > 0 && !block.is_empty() {
            let len = left.min(block.len() as u64);
            sink(Item::Chunk(Chunk::of(
                self.last_direction,
                block.get(..len as usize).unwrap_or_default(),
            )));
            left -= len;
        }
        if stop < to {
            sink(Item::Gap(Gap {
                direction: self.last_direction,
                from: stop,
                to,
            }));
        }
    }

    /// Compares a row's offset with where the data before it ended.
    fn place(&mut self, row: DumpRow<'_>, offset: u64, line: u64, sink: &mut ItemSink<'_>) {
        let squeezed = std::mem::take(&mut self.squeezed) && self.last_direction == row.direction;
        let Some(end) = *self.ends.of(row.direction) else {
            return;
        };
        if offset > end && squeezed && !self.last.is_empty() {
            if offset - end > EXPANSION_LIMIT.saturating_sub(self.expanded) {
                Problem::error(
                    InputPlace::Line(line),
                    format!("* lines expand to more than the limit of {EXPANSION_LIMIT} bytes"),
                )
                .report(sink);
            }
            self.expand(end, offset, sink);
        } else if offset > end {
            sink(Item::Gap(Gap {
                direction: row.direction,
                from: end,
                to: offset,
            }));
        } else if offset < end {
            if offset != 0 && !self.fresh {
                Problem::error(
                    InputPlace::Line(line),
                    format!("the offset goes back from {end:#x} to {offset:#x}"),
                )
                .hint("are the columns hex bytes? xxd -b and od without -t x1 print something else")
                .report(sink);
            }
            sink(Item::Break(row.direction));
        }
    }
}

impl LineForm for Dump {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = line.text.trim_ascii();
        if text == b"*" {
            self.repeat();
            return;
        }
        let Some(mut row) = row(text) else {
            self.other(text);
            return;
        };
        let is_follow = *self
            .is_follow
            .get_or_insert_with(|| is_row_of_follow(line.text));
        let own = row.direction.or(is_follow.then(|| peer(line.text)));
        row.direction = own.or(self.last_direction);
        self.bytes.clear();
        let (columns, _) = row.columns(&mut self.bytes);
        match columns {
            DumpColumns::Words => {
                self.ignored += 1;
                if !std::mem::replace(&mut self.refused, true) {
                    Problem::error(
                        InputPlace::Line(line.number),
                        "the columns are words, with bytes in another order",
                    )
                    .hint("--from dump finds the order that gives messages")
                    .report(sink);
                }
            }
            DumpColumns::Nothing => {
                if !self.end(row, line.number, sink) {
                    self.other(text);
                }
            }
            DumpColumns::Text => self.other(text),
            DumpColumns::Bytes => {
                let mut bytes = std::mem::take(&mut self.bytes);
                self.data(row, &mut bytes, line.number, sink);
                self.bytes = bytes;
            }
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        if self.squeezed && !self.last.is_empty() {
            Problem::error(
                InputPlace::End,
                "the offset after the last * is missing, so the number of repeated lines is unknown",
            ).report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}
