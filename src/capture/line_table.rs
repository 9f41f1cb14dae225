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
    len: u64,
    /// Bytes after this offset have no known line.
    known: u64,
    /// The number of the line at the start; 0 if it has none.
    first: u32,
    /// The stream is the text of the file, so that columns are known.
    is_plain: bool,
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
        let before = lines.more().len();
        if start == 0 {
            self.count += 1;
        }
        if let Some(number) = chunk.line.and_then(|n| u32::try_from(n).ok()) {
            if start == 0 {
                lines.first = number;
            } else if lines.last().1 != number {
                lines.more.get_or_insert_default().push((start, number));
            }
        } else if is_file && is_text(chunk.bytes) {
            if start == 0 {
                lines.is_plain = true;
                lines.first = 1;
            }
            let current = lines.last().1;
            let ends = memchr::memchr_iter(b'\n', chunk.bytes);
            let space = MAX_LINES.saturating_sub(self.count);
            let next = ends.take(space).zip(current + 1..);
            let next = next.map(|(at, number)| (start + at as u64 + 1, number));
            lines.more.get_or_insert_default().extend(next);
        } else {
            // Bytes that are no text have no lines.
            return;
        }
        self.count += lines.more().len() - before;
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
        let after = lines.more().partition_point(|(start, _)| *start <= offset);
        let before = after.checked_sub(1).and_then(|at| lines.more().get(at));
        let (start, number) = before.copied().unwrap_or((0, lines.first));
        Some(LineColumn {
            line: number.into(),
            column: if lines.is_plain {
                offset - start + 1
            } else {
                1
            },
        })
    }
}

impl LaneLines {
    fn more(&self) -> &[(u64, u32)] {
        self.more.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Returns the offset and the number of the last line.
    fn last(&self) -> (u64, u32) {
        self.more().last().copied().unwrap_or((0, self.first))
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
