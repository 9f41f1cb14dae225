//! Rows of tables that databases print, of which one cell takes several lines.
//!
//! ```text
//!   │ 0  │ out │ {"jsonrpc":"2.0","id":1,"met │        sqlite3, rich
//!   │    │     │ hod":"ping"}                 │
//!   ----+-----+-----------------------------
//!     0 | out | {"jsonrpc":"2.0","id":1,"met.          psql, \pset format wrapped
//!       |     |.hod":"ping"}
//! ```

use super::objects::Balance;
use std::ops::Range;

/// The most bytes of a row that is held.
const MAX_HELD: usize = 16 << 20;

#[derive(Default)]
pub(super) struct Tables {
    /// The characters of a line at which a column ends; none outside of a table.
    places: Vec<usize>,
    held: Option<HeldRow>,
}

/// A row with a cell that goes on in the next line.
struct HeldRow {
    number: u64,
    before: Vec<u8>,
    after: Vec<u8>,
    /// Which cell it is.
    cell: usize,
    pieces: Vec<Vec<u8>>,
    len: usize,
    balance: Balance,
}

/// A row on one line, and the number of its first line.
pub(super) type WholeRow = (Vec<u8>, u64);

impl Tables {
    /// Reads a line; returns the row that is complete now, and true if the line itself is to be read too.
    pub(super) fn add(&mut self, line: &[u8], number: u64) -> (Option<WholeRow>, bool) {
        if let Some(places) = border(line) {
            self.places = places;
            return (self.finish(), true);
        }
        if self.places.is_empty() {
            return (None, true);
        }
        let Some(cells) = self.cells(line) else {
            return (self.finish(), true);
        };
        if let Some(held) = &mut self.held
            && held.is_continued(line, &cells)
        {
            let piece = cells.get(held.cell).and_then(|cell| line.get(cell.clone()));
            held.push(piece.unwrap_or_default());
            let is_whole = held.balance.is_closed() || held.len > MAX_HELD;
            return (if is_whole { self.finish() } else { None }, false);
        }
        let row = self.finish();
        self.held = HeldRow::new(line, &cells, number);
        (row, self.held.is_none())
    }

    /// Returns the row that no line continues.
    pub(super) fn finish(&mut self) -> Option<WholeRow> {
        let held = self.held.take()?;
        Some((held.joined(), held.number))
    }

    /// The places of the cells of a row; `None` if it has no separator where the border has one.
    fn cells(&self, line: &[u8]) -> Option<Vec<Range<usize>>> {
        let line = std::str::from_utf8(line).ok()?;
        let mut places = self.places.iter().peekable();
        let mut cells = Vec::with_capacity(self.places.len() + 1);
        let mut start = 0;
        for (n, (at, c)) in line.char_indices().enumerate() {
            let Some(&&place) = places.peek() else { break };
            if n == place {
                if !matches!(c, '│' | '|' | '┃' | '║') {
                    return None;
                }
                cells.push(start..at);
                start = at + c.len_utf8();
                places.next();
            }
        }
        cells.push(start..line.len());
        places.next().is_none().then_some(cells)
    }
}

impl HeldRow {
    /// Returns the row if one of its cells is a part of an object.
    fn new(line: &[u8], cells: &[Range<usize>], number: u64) -> Option<Self> {
        let (cell, place, balance) = cells.iter().enumerate().find_map(|(n, place)| {
            let text = line.get(place.clone())?;
            let start = text.iter().position(|c| b"{[".contains(c))?;
            let mut balance = Balance::default();
            balance.add(without_pads(text).get(start.saturating_sub(1)..)?);
            let is_cut = text.trim_ascii_end().ends_with("…".as_bytes())
                || text.trim_ascii_end().ends_with(b"...");
            (!balance.is_closed() && !is_cut).then_some((n, place, balance))
        })?;
        Some(Self {
            number,
            before: line.get(..place.start)?.to_vec(),
            after: line.get(place.end..)?.to_vec(),
            cell,
            pieces: vec![line.get(place.clone())?.to_vec()],
            len: line.len(),
            balance,
        })
    }

    /// Returns true if a line has nothing else than more of the cell.
    fn is_continued(&self, line: &[u8], cells: &[Range<usize>]) -> bool {
        cells.iter().enumerate().all(|(n, cell)| {
            let text = line.get(cell.clone()).unwrap_or_default();
            text.trim_ascii().is_empty() != (n == self.cell)
        })
    }

    fn push(&mut self, piece: &[u8]) {
        self.balance.add(without_pads(piece));
        self.len += piece.len();
        self.pieces.push(piece.to_vec());
    }

    fn joined(&self) -> Vec<u8> {
        let (last, others) = match self.pieces.split_last() {
            Some((last, others)) => (&**last, others),
            None => (&b""[..], &[][..]),
        };
        // Texts that are broken at blanks leave more than one at the end.
        let is_at_blanks = |piece: &Vec<u8>| without_pads(piece).ends_with(b"  ");
        let is_at_blanks = others.iter().any(is_at_blanks);
        let mut line = self.before.clone();
        line.push(b' ');
        for piece in others {
            let text = without_pads(piece);
            let has_break = piece.last() == Some(&b'+');
            if is_at_blanks || has_break {
                line.extend_from_slice(text.trim_ascii_end());
                line.push(b' ');
            } else {
                line.extend_from_slice(text);
            }
        }
        line.extend_from_slice(without_pads(last).trim_ascii_end());
        line.push(b' ');
        line.extend_from_slice(&self.after);
        line
    }
}

/// Returns the text of a cell without the character on both sides of it: a blank, or the mark of a break.
fn without_pads(cell: &[u8]) -> &[u8] {
    let cell = match cell {
        [b' ' | b'.', rest @ ..] => rest,
        _ => cell.strip_prefix("…".as_bytes()).unwrap_or(cell),
    };
    if let [rest @ .., b' ' | b'.' | b'+'] = cell {
        return rest;
    }
    let marks = ["…", "↵"].map(str::as_bytes);
    let mut rests = marks.iter().filter_map(|mark| cell.strip_suffix(*mark));
    rests.next().unwrap_or(cell)
}

/// Returns the places at which the columns of a border end: `├────┼─────┤`, `----+-----`.
fn border(line: &[u8]) -> Option<Vec<usize>> {
    /// The fewest characters of a border.
    const MIN_LINE: usize = 4;
    if !matches!(line.first(), Some(b'+' | b'-' | b'|' | 0xe2)) {
        return None;
    }
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let mut places = Vec::new();
    let mut lines = 0;
    for (n, c) in line.chars().enumerate() {
        match c {
            '-' | '─' | '━' | '═' => lines += 1,
            '+' | '|' | '│'..='╿' => places.push(n),
            ':' => {}
            _ => return None,
        }
    }
    (lines >= MIN_LINE && !places.is_empty()).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_on_several_lines_are_joined() {
        for (text, want) in [
            (
                "┌───┬─────────┐\n│ a │ body    │\n├───┼─────────┤\n│ 0 │ {\"t\":\"a │\n│   │ bc d\"}  │\n├───┼─────────┤\n│ 1 │ {\"a\":1} │\n└───┴─────────┘",
                &["│ 0 │ {\"t\":\"abc d\"} │", "│ 1 │ {\"a\":1} │"][..],
            ),
            // Rows without borders between them, of which one is never complete.
            (
                "| a | body    |\n|---|---------|\n| 0 | {\"t\":\"a |\n| 1 | {\"t\":\"b |\n|   | c\"}     |\n",
                &["| 0 | {\"t\":\"a |", "| 1 | {\"t\":\"bc\"} |"],
            ),
            // Broken at blanks.
            (
                "+---+--------------+\n| 0 | {\"t\": \"a b   |\n|   | c d\"}        |\n+---+--------------+",
                &["| 0 | {\"t\": \"a b c d\"} |"],
            ),
            // psql marks breaks.
            (
                " id |   body   \n----+----------\n  0 | {\"t\":\"ab.\n    |.cd\"}\n  1 | {       +\n    | \"a\": 1  +\n    | }        \n",
                &["  0 | {\"t\":\"abcd\"} ", "  1 | { \"a\": 1 } "],
            ),
            // The table cut the cell.
            (
                "+---------+\n| {\"t\":…  |\n| {\"t\":1} |\n",
                &["| {\"t\":…  |", "| {\"t\":1} |"],
            ),
            ("a | {\n  | }\n", &["a | {", "  | }"]),
        ] {
            let mut tables = Tables::default();
            let mut found = Vec::new();
            for (line, number) in text.lines().zip(1..) {
                let (row, is_read) = tables.add(line.as_bytes(), number);
                found.extend(row.map(|(row, _)| row));
                found.extend(is_read.then(|| line.as_bytes().to_vec()));
            }
            found.extend(tables.finish().map(|(row, _)| row));
            let found: Vec<_> = found
                .iter()
                .map(|line| String::from_utf8_lossy(line))
                .collect();
            let found: Vec<_> = found
                .iter()
                .filter(|line| line.contains(['{', '}']))
                .collect();
            assert_eq!(found, want, "{text}");
        }
    }
}
