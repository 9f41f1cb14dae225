//! Hex bytes as people write them down.
//!
//! ```text
//!   0e 00 00 00 length = 14        four bytes, and a number that decode compares with the field beside it
//!   > 12 64, 0xb0 e5  # request    four bytes, c2s
//!   61 62 63 "abc"                 three bytes, c2s still: a mark holds until the next
//!   160000007b226a73223a317d       a line of xxd -p
//!   29<TAB>0.25<TAB>160000007b2    the last cell of a row of tshark -T fields; those of later rows may be short
//!   Barge to one call              ignored: does not start with a byte
//! ```
//!
//! A line's data is its leading run of tokens of an even number of hex digits, each with or without `0x`, with blanks or
//! commas between them. The run ends at the first token that is anything else, and what follows is comment, as is all
//! after `#`, `;` or `//`. A comment's first word must therefore not look like a byte: `ad`, `be` and `face` do.

use super::chunk::{Chunk, Comment, DirectionSlots, InputPlace, Item, ItemSink, Problem};
use super::lines::{Line, LineForm};
use crate::protocol::Direction;

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HexLineKind {
    /// It has data.
    Data,
    /// It is empty, or comment throughout.
    Comment,
    /// It is something else.
    Other,
}

/// Reads a line: appends its data to `out`; returns the text behind the data.
pub(super) fn read<'a>(
    text: &'a [u8],
    out: &mut Vec<u8>,
) -> (HexLineKind, Option<Direction>, &'a [u8]) {
    let cell = last_cell(text);
    let text = text.trim_ascii();
    if text.is_empty() || is_comment(text) || cell == Some(b"") {
        return (HexLineKind::Comment, None, text);
    }
    let (direction, mut rest) = direction(cell.unwrap_or(text));
    let before = out.len();
    while let Some((digits, after)) = token(rest) {
        out.extend(digits.chunks_exact(2).map(|pair| {
            pair.iter()
                .fold(0, |byte, &digit| byte << 4 | nibble(digit))
        }));
        rest = skip_separators(after);
    }
    if out.len() == before {
        (HexLineKind::Other, direction, rest)
    } else {
        (HexLineKind::Data, direction, rest)
    }
}

/// Returns the last cell of a row of tshark, such as a payload: many digits without blanks, or nothing after other cells.
pub(super) fn last_cell(row: &[u8]) -> Option<&[u8]> {
    const MIN_DIGITS: usize = 16;
    let mut cells = row.rsplit(|&c| c == b'\t');
    let last = cells.next()?.trim_ascii();
    let others = cells.count();
    let (digits, rest) = split_digits(last);
    let is_payload =
        digits.len() >= MIN_DIGITS && digits.len().is_multiple_of(2) && rest.is_empty();
    let is_none = last.is_empty() && others > 1;
    (others > 0 && is_payload || is_none).then_some(last)
}

/// Returns `true` if a comment starts here.
pub(super) fn is_comment(text: &[u8]) -> bool {
    text.starts_with(b"#") || text.starts_with(b";") || text.starts_with(b"//")
}

/// A line's direction mark, and what follows it.
pub(super) fn direction(text: &[u8]) -> (Option<Direction>, &[u8]) {
    match text.split_first() {
        Some((b'>', rest)) => (Some(Direction::ToServer), rest.trim_ascii_start()),
        Some((b'<', rest)) => (Some(Direction::ToClient), rest.trim_ascii_start()),
        _ => (None, text),
    }
}

/// The token of an even number of hex digits that `text` starts with, without `0x`, and what follows it.
fn token(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let digits = text
        .strip_prefix(b"0x")
        .or_else(|| text.strip_prefix(b"0X"))
        .unwrap_or(text);
    let (digits, rest) = split_digits(digits);
    let ends =
        rest.is_empty() || is_comment(rest) || rest.first().is_some_and(|&c| is_separator(c));
    (!digits.is_empty() && digits.len() % 2 == 0 && ends).then_some((digits, rest))
}

/// The hex digits that `text` starts with, and what follows them.
pub(super) fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text
        .iter()
        .position(|c| !c.is_ascii_hexdigit())
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or_default()
}

fn is_separator(c: u8) -> bool {
    c.is_ascii_whitespace() || c == b','
}

fn skip_separators(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&c| !is_separator(c));
    start.and_then(|at| text.get(at..)).unwrap_or_default()
}

/// The value of a hex digit.
pub(super) fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => 0,
    }
}

/// `name = NUMBER` out of a comment: the name, the number as written, its value.
fn named_number(comment: &[u8]) -> Option<(&str, &str, i128)> {
    let comment = std::str::from_utf8(comment).ok()?;
    let comment = comment.trim_start_matches(|c: char| c.is_whitespace() || "#;/,".contains(c));
    let (name, rest) = comment.split_once('=')?;
    let (name, rest) = (name.trim_end(), rest.trim_start());
    let end = rest
        .find(|c: char| c.is_whitespace() || ",;()[]#".contains(c))
        .unwrap_or(rest.len());
    let number = rest.get(..end)?;
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, number),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => (16, digits),
        None => (10, digits),
    };
    let plain = digits.starts_with(|c: char| c.is_digit(radix)) && !name.is_empty();
    let value = i128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    plain.then_some((name, number, sign * value))
}

#[derive(Default)]
pub(super) struct Hex {
    bytes: Vec<u8>,
    offsets: DirectionSlots<u64>,
    /// Of the last mark.
    direction: Option<Direction>,
    /// A line stands for rows that are left out.
    has_repeats: bool,
    /// The number of cells of the last row of tshark with a long payload.
    cells: Option<usize>,
    ignored: u64,
}

impl Hex {
    /// Returns the payload of a row of tshark that is too short to be one for certain, and otherwise the whole line.
    fn without_other_cells<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let count = line.split(|&c| c == b'\t').count();
        match last_cell(line) {
            Some(payload) if !payload.is_empty() => self.cells = Some(count),
            None if self.cells == Some(count) => {
                let last = line.rsplit(|&c| c == b'\t').next();
                return last.unwrap_or(line);
            }
            _ => {}
        }
        line
    }
}

impl LineForm for Hex {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        self.bytes.clear();
        let text = self.without_other_cells(line.text);
        let (kind, direction, rest) = read(text, &mut self.bytes);
        match kind {
            HexLineKind::Comment => return,
            HexLineKind::Other => {
                self.ignored += 1;
                if line.text.trim_ascii() == b"*" && !std::mem::replace(&mut self.has_repeats, true)
                {
                    let text = "\"*\" stands for rows that are left out, and without offsets nothing says how many";
                    let problem = Problem::error(InputPlace::Line(line.number), text);
                    problem.hint("od -v prints all rows").report(sink);
                }
                return;
            }
            HexLineKind::Data => {}
        }
        self.direction = direction.or(self.direction);
        let direction = self.direction;
        let offset = self.offsets.of(direction);
        // The comment goes first: its bytes may complete a message, and who compares must have it by then.
        if let Some((name, number, value)) = named_number(rest) {
            sink(Item::Comment(Comment {
                direction,
                offset: *offset,
                len: self.bytes.len(),
                name,
                number,
                value,
            }));
        }
        *offset += self.bytes.len() as u64;
        sink(Item::Chunk(Chunk::of(direction, &self.bytes)));
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_data_comment_or_neither() {
        use HexLineKind::{Comment, Data, Other};
        for (line, kind, bytes, rest) in [
            ("0e 00 00 00 length = 14", Data, "\x0e\0\0\0", "length = 14"),
            ("00 version", Data, "\0", "version"),
            ("61 62 63 \"abc\"", Data, "abc", "\"abc\""),
            ("61  62\t63", Data, "abc", ""),
            ("  0x61, 0x62,0X63,", Data, "abc", ""),
            ("616263", Data, "abc", ""),
            ("61#62", Data, "a", "#62"),
            ("61 ;62", Data, "a", ";62"),
            ("61//62", Data, "a", "//62"),
            ("61/62", Other, "", "61/62"),
            ("61 626 63", Data, "a", "626 63"),
            ("6A 6b\r", Data, "jk", ""),
            ("> 61", Data, "a", ""),
            ("<61", Data, "a", ""),
            ("", Comment, "", ""),
            ("   ", Comment, "", ""),
            ("# 61", Comment, "", "# 61"),
            ("// 61", Comment, "", "// 61"),
            ("Barge 61", Other, "", "Barge 61"),
            ("0x", Other, "", "0x"),
            ("0x6", Other, "", "0x6"),
            (">", Other, "", ""),
        ] {
            let mut out = Vec::new();
            let (k, _, r) = read(line.as_bytes(), &mut out);
            assert_eq!(
                (k, out.as_slice(), r),
                (kind, bytes.as_bytes(), rest.as_bytes()),
                "{line:?}"
            );
        }
    }

    #[test]
    fn numbers_in_comments() {
        for (comment, want) in [
            ("length = 14", Some(("length", "14", 14))),
            ("# length=14", Some(("length", "14", 14))),
            ("string length = 3", Some(("string length", "3", 3))),
            (
                "id = 0xe5B06412 (Barge)",
                Some(("id", "0xe5B06412", 0xe5b0_6412)),
            ),
            ("delta = -1, signed", Some(("delta", "-1", -1))),
            ("n = 1_000", Some(("n", "1_000", 1000))),
            ("ratio = 1.5", None),
            ("name = abc", None),
            ("n = --1", None),
            ("n = 0x-1", None),
            ("= 3", None),
            ("n =", None),
            ("version", None),
            ("n = 999999999999999999999999999999999999999999", None),
        ] {
            assert_eq!(named_number(comment.as_bytes()), want, "{comment}");
        }
    }
}
