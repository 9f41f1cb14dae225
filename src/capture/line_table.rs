//! The lines of a text input: editors jump to the line of a finding.
//!
//! ```text
//!   a recording, a dump     each line has bytes of a stream: the line of a chunk
//!   plain text              the stream is the file: line and column of a byte
//! ```

use super::Chunk;
use crate::protocol::Lane;
use foldhash::HashMap;

/// The maximum number of stored line starts of an input. Findings after them have an offset.
const MAX_LINES: usize = 1 << 20;

/// The number of lines between two marks.
const MARK_EVERY: u32 = 128;
/// The number of bytes that are checked at once.
const BLOCK: usize = 1 << 10;

/// A line and a column of a file, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineColumn {
    pub line: u64,
    pub column: u64,
}

/// Where the lines of an input start.
#[derive(Default)]
pub struct LineTable {
    lanes: HashMap<Lane, LaneLines>,
    count: usize,
}

/// The lines of one direction. An input may have many connections.
#[derive(Default)]
struct LaneLines {
    /// The offsets at which further lines start, with their numbers. Most streams of many connections have none.
    #[allow(clippy::box_collection)] // it takes less memory if there are none
    more: Option<Box<Vec<(u64, u32)>>>,
    /// Present if the stream is the text of the file, so that columns are known.
    plain: Option<Box<TextLines>>,
    len: u64,
    /// Bytes after this offset have no known line.
    known: u64,
    /// The number of the line at the start; 0 if it has none.
    first: u32,
}

/// The lengths of the lines of a text, in one or two bytes each for most.
#[derive(Default)]
struct TextLines {
    /// The length of each line except the last one, line end included: groups of seven bits, the lowest first.
    lens: Vec<u8>,
    /// The offset of each line whose number, from 0, is a multiple of [`MARK_EVERY`], and the place of its length.
    marks: Vec<(u64, usize)>,
    /// The offset and the number, from 0, of the last line.
    last: (u64, u32),
}

impl LineTable {
    /// Adds bytes of the input. `is_file`: the stream is what the file holds.
    pub fn add(&mut self, lane: Lane, chunk: &Chunk<'_>, is_file: bool) {
        let lines = self.lanes.entry(lane).or_default();
        let start = lines.len;
        lines.len += chunk.bytes.len() as u64;
        if self.count >= MAX_LINES || lines.known < start {
            return;
        }
        let before = lines.count();
        if start == 0 {
            self.count += 1;
        }
        if let Some(number) = chunk.line.and_then(|n| u32::try_from(n).ok())
            && lines.plain.is_none()
        {
            if start == 0 {
                lines.first = number;
            } else if lines.last().1 != number {
                lines.more.get_or_insert_default().push((start, number));
            }
        } else if is_file && (start == 0 || lines.plain.is_some()) && is_text(chunk.bytes) {
            lines.first = 1;
            let space = MAX_LINES.saturating_sub(self.count);
            let plain = lines.plain.get_or_insert_default();
            for at in memchr::memchr_iter(b'\n', chunk.bytes).take(space) {
                plain.begin(start + at as u64 + 1);
            }
        } else {
            // Bytes that are no text have no lines.
            return;
        }
        self.count += lines.count() - before;
        lines.known = if self.count < MAX_LINES {
            lines.len
        } else {
            lines.last().0
        };
    }

    /// Returns the position of a byte of a stream.
    pub fn find(&self, lane: Lane, offset: u64) -> Option<LineColumn> {
        let lines = self.lanes.get(&lane)?;
        // The end of the stream is at the end of the last line.
        if offset > lines.known || lines.known == 0 {
            return None;
        }
        let offset = offset.min(lines.known.saturating_sub(1));
        if let Some(plain) = &lines.plain {
            return Some(plain.find(offset));
        }
        let after = lines.more().partition_point(|(start, _)| *start <= offset);
        let before = after.checked_sub(1).and_then(|at| lines.more().get(at));
        let (_, number) = before.copied().unwrap_or((0, lines.first));
        Some(LineColumn {
            line: number.into(),
            column: 1,
        })
    }
}

impl LaneLines {
    fn more(&self) -> &[(u64, u32)] {
        self.more.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Returns the number of further lines.
    fn count(&self) -> usize {
        let plain = self.plain.as_ref().map(|plain| plain.last.1 as usize);
        plain.unwrap_or(self.more().len())
    }

    /// Returns the offset and the number of the last line.
    fn last(&self) -> (u64, u32) {
        if let Some(plain) = &self.plain {
            return (plain.last.0, plain.last.1 + 1);
        }
        self.more().last().copied().unwrap_or((0, self.first))
    }
}

impl TextLines {
    /// Adds a line that starts at an offset.
    fn begin(&mut self, start: u64) {
        let (before, number) = self.last;
        let mut len = start - before;
        while len > 0x7f {
            self.lens.push(len as u8 | 0x80);
            len >>= 7;
        }
        self.lens.push(len as u8);
        self.last = (start, number + 1);
        if self.last.1.is_multiple_of(MARK_EVERY) {
            self.marks.push((start, self.lens.len()));
        }
    }

    /// Returns the position of a byte.
    fn find(&self, offset: u64) -> LineColumn {
        let mark = self.marks.partition_point(|(start, _)| *start <= offset);
        let (mut start, at) = match mark.checked_sub(1).and_then(|last| self.marks.get(last)) {
            Some(mark) => *mark,
            None => (0, 0),
        };
        let mut line = mark as u64 * u64::from(MARK_EVERY) + 1;
        let (mut len, mut shift) = (0, 0);
        for byte in self.lens.get(at..).unwrap_or_default() {
            len |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 != 0 {
                continue;
            }
            if start + len > offset {
                break;
            }
            start += len;
            line += 1;
            (len, shift) = (0, 0);
        }
        LineColumn {
            line,
            column: offset - start + 1,
        }
    }
}

/// Returns true for bytes that an editor shows as lines of text.
fn is_text(bytes: &[u8]) -> bool {
    let is_control = |b: u8| b < b' ' && !matches!(b, b'\t' | b'\n' | b'\r' | 0x1b);
    // A pass over a block without branches takes fewer instructions.
    let controls = |block: &[u8]| block.iter().fold(0, |n, b| n | u8::from(is_control(*b)));
    bytes.chunks(BLOCK).all(|block| controls(block) == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Direction;

    fn find(table: &LineTable, offset: u64) -> Option<(u64, u64)> {
        let at = table.find(Lane::default(), offset)?;
        Some((at.line, at.column))
    }

    #[test]
    fn bytes_of_plain_text_have_lines_and_columns() {
        let mut table = LineTable::default();
        let lane = Lane::default();
        for part in [&b"{}\n{\"a\""[..], b":1}\n", b"x"] {
            table.add(lane, &Chunk::on(0, Direction::ToServer, part), true);
        }
        for (offset, wanted) in [
            (0, Some((1, 1))),
            (2, Some((1, 3))),
            (3, Some((2, 1))),
            (8, Some((2, 6))),
            (11, Some((3, 1))),
            (12, Some((3, 1))),
            (13, None),
        ] {
            assert_eq!(find(&table, offset), wanted, "{offset}");
        }
        assert_eq!(
            table.find(
                Lane {
                    conn: Some(1),
                    ..lane
                },
                0
            ),
            None
        );
    }

    #[test]
    fn each_byte_of_many_lines_has_its_position() {
        let text: String = (0..500).map(|n| "x".repeat(n * 37 % 300) + "\n").collect();
        let mut table = LineTable::default();
        for part in text.as_bytes().chunks(777) {
            table.add(
                Lane::default(),
                &Chunk::on(0, Direction::ToServer, part),
                true,
            );
        }
        let (mut line, mut column) = (1, 1);
        for (offset, byte) in text.bytes().enumerate() {
            assert_eq!(
                find(&table, offset as u64),
                Some((line, column)),
                "{offset}"
            );
            (line, column) = match byte {
                b'\n' => (line + 1, 1),
                _ => (line, column + 1),
            };
        }
    }

    #[test]
    fn bytes_of_a_dump_have_the_line_of_their_chunk() {
        let mut table = LineTable::default();
        let lane = Lane::default();
        for (line, part) in [(2, &b"\x00\x01"[..]), (5, b"\x02"), (5, b"\x03")] {
            let chunk = Chunk {
                line: Some(line),
                ..Chunk::on(0, Direction::ToServer, part)
            };
            table.add(lane, &chunk, true);
        }
        let found = [0, 1, 2, 3].map(|offset| find(&table, offset));
        assert_eq!(
            found,
            [Some((2, 1)), Some((2, 1)), Some((5, 1)), Some((5, 1))]
        );
    }

    #[test]
    fn binary_bytes_have_no_line() {
        let mut table = LineTable::default();
        let chunk = Chunk::on(0, Direction::ToServer, b"\x00\x00\x00\x05\n");
        table.add(Lane::default(), &chunk, true);
        assert_eq!(table.find(Lane::default(), 0), None);
    }
}
