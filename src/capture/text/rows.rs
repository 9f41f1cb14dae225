//! Rows of numbers, with or without an offset before them, in any base and order of bytes.
//!
//! ```text
//!   0000000 040400 123605                          od: words in octal
//!   00000000: 41000000 7665a785  ...A..ve          xxd -e: words of four bytes
//!   00000000: 00000000 01000001                    xxd -b
//!   0000000  \0  \0  \0   A 205 247                od -c, hexdump -c: cells of four characters
//!   |00000000| 00 00 00 41   85 a7 |...A|          hexyl
//!   0x7ffe000 <buf+8>:  0x00  0x41  65 'A'         GDB
//!   [0010]   00 41 85 A7  02 00 00 00   .A......   ncat -x
//! ```

use super::escapes::Escapes;
use super::line::{Common, missing_bytes};
use crate::capture::chunk::ItemSink;
use crate::capture::dump::{Dump, DumpRow};
use crate::capture::hex::{nibble, split_digits};
use crate::capture::lines::{Line, LineForm};
use crate::capture::time::Time;

/// The notation of bytes in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// Pairs of hex digits, in groups of any size.
    Pairs,
    /// Numbers of so many bytes.
    Words(Word),
    /// Characters and escapes, as `od -c` writes them.
    Characters,
}

/// A number in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub radix: u32,
    pub width: usize,
    pub little_endian: bool,
}

impl Word {
    /// Appends the bytes of a number; `None` if it is none.
    fn read(self, token: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let digits = token
            .strip_prefix(b"0x")
            .filter(|_| self.radix == 16)
            .unwrap_or(token);
        let len = digits.len();
        // The last word of `xxd -e` has only the digits of its bytes.
        let (fits, width) = match (self.radix, self.width) {
            (16, width) => (
                len == 2 * width || (len.is_multiple_of(2) && len < 2 * width && len > 0),
                len / 2,
            ),
            (8, 1) => (len == 3, 1),
            (8, 2) => (len == 6, 2),
            (8, 4) => (len == 11, 4),
            (8, width) => (len == 22, width),
            (2, width) => (len == 8 * width, width),
            (_, width) => (len <= 21, width),
        };
        let number = i128::from_str_radix(std::str::from_utf8(digits).ok()?, self.radix).ok()?;
        let bits = 8 * u32::try_from(self.width).ok()?;
        if !fits || number >= 1 << bits || number < -(1 << (bits - 1)) {
            return None;
        }
        let bytes = number.to_le_bytes();
        let bytes = bytes.get(..width)?;
        if self.little_endian {
            out.extend_from_slice(bytes);
        } else {
            out.extend(bytes.iter().rev());
        }
        Some(())
    }
}

impl Columns {
    /// Numbers in little-endian order.
    pub(super) const fn little(radix: u32, width: usize) -> Self {
        Self::Words(Word {
            radix,
            width,
            little_endian: true,
        })
    }

    /// Numbers in big-endian order.
    pub(super) const fn big(radix: u32, width: usize) -> Self {
        Self::Words(Word {
            radix,
            width,
            little_endian: false,
        })
    }

    fn read(self, token: &[u8], out: &mut Vec<u8>) -> Option<()> {
        match self {
            Self::Pairs => {
                let digits = token.strip_prefix(b"0x").unwrap_or(token);
                let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
                if digits.is_empty() || digits.len() % 2 == 1 || !is_hex {
                    return None;
                }
                out.extend(digits.chunks_exact(2).map(|pair| {
                    pair.iter()
                        .fold(0, |byte, &digit| byte << 4 | nibble(digit))
                }));
                Some(())
            }
            Self::Words(word) => word.read(token, out),
            Self::Characters => None,
        }
    }
}

/// The most bytes of a row that other text is before.
const MAX_ROW: usize = 64;

/// A row whose length is known once the next offset is.
struct HeldRow {
    digits: Vec<u8>,
    line: u64,
    bytes: Vec<u8>,
    direction: Option<crate::protocol::Direction>,
    time: Option<Time>,
}

pub(super) struct Rows {
    common: Common,
    columns: Columns,
    /// Each row has an offset.
    offsets: bool,
    dump: Dump,
    held: Option<HeldRow>,
    /// The columns of the first row end here, counted from the end of its offset.
    limit: Option<usize>,
    bytes: Vec<u8>,
}

impl Rows {
    pub(super) fn new(quoted: bool, columns: Columns, offsets: bool) -> Self {
        Self {
            common: Common::new(quoted),
            columns,
            offsets,
            dump: Dump::default(),
            held: None,
            limit: None,
            bytes: Vec::new(),
        }
    }

    /// Reads the columns after an offset. Returns where they end, 0 if there are none.
    fn columns(&mut self, text: &[u8], widest: usize) -> usize {
        if self.columns == Columns::Characters {
            return cells(text, &mut self.bytes);
        }
        let is_pairs = self.columns == Columns::Pairs;
        let widest = if is_pairs && self.limit.is_none() {
            widest
        } else {
            usize::MAX
        };
        let mut at = 0;
        while at < self.limit.unwrap_or(usize::MAX) {
            let rest = text.get(at..).unwrap_or_default();
            let gap = rest
                .iter()
                .take_while(|c| c.is_ascii_whitespace() || **c == b',')
                .count();
            let token = rest.get(gap..).unwrap_or_default();
            // hexyl has a box line, and WinDbg a dash, in the middle.
            let token = token
                .iter()
                .position(|c| c.is_ascii_whitespace() || b",|".contains(c))
                .and_then(|end| token.get(..end))
                .unwrap_or(token);
            if token.is_empty()
                || (at > 0 && (gap == 0 || gap >= widest))
                || at + gap >= self.limit.unwrap_or(usize::MAX)
            {
                break;
            }
            let read = match token.split_at_checked(2) {
                Some((a, [b'-', b @ ..])) if b.len() == 2 && self.columns == Columns::Pairs => {
                    let columns = self.columns;
                    columns
                        .read(a, &mut self.bytes)
                        .and_then(|()| columns.read(b, &mut self.bytes))
                }
                _ => self.columns.read(token, &mut self.bytes),
            };
            if read.is_none() {
                break;
            }
            at += gap + token.len();
            // GDB shows a byte as its number and its character.
            let rest = text.get(at..).unwrap_or_default();
            if let Some(character) = rest.strip_prefix(b" '") {
                let end = character
                    .iter()
                    .skip(1)
                    .position(|&c| c == b'\'')
                    .unwrap_or(character.len());
                at += end + 4;
            }
        }
        at
    }

    /// Passes the held row on, without the bytes that its last word has too many.
    fn release(&mut self, next: Option<&[u8]>, sink: &mut ItemSink<'_>) {
        let Some(mut held) = self.held.take() else {
            return;
        };
        let row = |digits| DumpRow {
            direction: held.direction,
            digits,
            colon: true,
            blanks: 1,
            rest: b"",
        };
        // hexdump fills the last row of characters with blanks, and od the last word with zeros.
        let len = held.bytes.len();
        let less = match self.columns {
            Columns::Words(word) => len.saturating_sub(word.width),
            Columns::Pairs => len.saturating_sub(8),
            Columns::Characters => 0,
        };
        let len = next.and_then(|next| {
            let rows = [row(&held.digits), row(next)];
            self.dump.distance(rows, less, len)
        });
        held.bytes.truncate(len.unwrap_or(usize::MAX));
        let mut bytes = std::mem::take(&mut held.bytes);
        self.dump.time = held.time;
        self.dump
            .data(row(&held.digits), &mut bytes, held.line, sink);
    }

    fn row(&mut self, line: Line<'_>, text: &[u8], sink: &mut ItemSink<'_>) -> bool {
        if is_heading(text) {
            return false;
        }
        let mut at = 0;
        // A log prefix or a line number may stand before the offset.
        for _ in 0..12 {
            let rest = text.get(at..).unwrap_or_default();
            let start = rest
                .iter()
                .position(|c| !c.is_ascii_whitespace() && *c != b'|');
            let Some(start) = start else { return false };
            at += start;
            let rest = text.get(at..).unwrap_or_default();
            if let Some(offset) = Offset::read(rest) {
                self.bytes.clear();
                let end = self.columns(offset.rest, offset.widest);
                let before = text.get(..at).unwrap_or_default();
                // A number before so many bytes is no offset, but a part of a log.
                let is_row = before.trim_ascii().is_empty() || self.bytes.len() <= MAX_ROW;
                if end > 0 && is_row {
                    self.release(Some(offset.digits), sink);
                    // Decimal numbers have no fixed width.
                    let is_decimal = matches!(self.columns, Columns::Words(w) if w.radix == 10);
                    let limit = self.limit.unwrap_or(0).max(end);
                    self.limit = Some(limit).filter(|_| !is_decimal);
                    let mark = self.common.marks.of(text, before, b"");
                    let direction = mark.direction;
                    let time = self.common.time(mark, sink);
                    let held = HeldRow {
                        digits: offset.digits.to_vec(),
                        line: line.number,
                        bytes: std::mem::take(&mut self.bytes),
                        direction,
                        time,
                    };
                    self.held = Some(held);
                    return true;
                }
                if offset.rest.trim_ascii().is_empty() && before.trim_ascii().is_empty() {
                    self.release(Some(offset.digits), sink);
                    let direction = self.common.marks.of(text, before, b"").direction;
                    let row = DumpRow {
                        direction,
                        digits: offset.digits,
                        colon: false,
                        blanks: 0,
                        rest: b"",
                    };
                    return self.dump.end(row, line.number, sink);
                }
            }
            let next = rest.iter().position(u8::is_ascii_whitespace);
            let Some(next) = next else { return false };
            at += next;
        }
        false
    }

    /// A line of numbers without an offset.
    fn plain(&mut self, text: &[u8], sink: &mut ItemSink<'_>) -> bool {
        if is_heading(text) {
            return false;
        }
        self.bytes.clear();
        let end = self.columns(text, 3);
        let rest = text.get(end..).unwrap_or_default().trim_ascii();
        let is_row = end > 0
            && (rest.is_empty() || rest.starts_with(b"|") || rest.starts_with(b">"))
            || missing_bytes(rest).is_some();
        if is_row {
            let mark = self.common.marks.of(text, b"", b"");
            let bytes = std::mem::take(&mut self.bytes);
            self.common.emit(mark, &bytes, sink);
            self.bytes = bytes;
        }
        is_row
    }
}

/// Returns true for the numbers of the columns of a dump: ` 0  1  2 ..`, `00 01 02 ..`.
pub(super) fn is_heading(line: &[u8]) -> bool {
    let tokens = line
        .split(u8::is_ascii_whitespace)
        .filter(|token| !token.is_empty());
    let number = |token: &[u8]| usize::from_str_radix(std::str::from_utf8(token).ok()?, 16).ok();
    let mut numbers = tokens.map(number);
    (0..8).all(|wanted| numbers.next() == Some(Some(wanted)))
}

/// The offset or the address that a row begins with.
struct Offset<'a> {
    digits: &'a [u8],
    /// So many blanks end the columns.
    widest: usize,
    rest: &'a [u8],
}

impl<'a> Offset<'a> {
    fn read(text: &'a [u8]) -> Option<Self> {
        let inner = text.strip_prefix(b"[");
        let text = inner.unwrap_or(text);
        let (digits, rest) = split_digits(text.strip_prefix(b"0x").unwrap_or(text));
        // WinDbg separates the halves of an address.
        let (digits, rest) = match rest.strip_prefix(b"`") {
            Some(low) => split_digits(low),
            None => (digits, rest),
        };
        if !(4..=16).contains(&digits.len()) {
            return None;
        }
        // GDB names the symbol.
        let rest = match rest.strip_prefix(b" <") {
            Some(symbol) => {
                let end = memchr::memchr(b'>', symbol)?;
                symbol.get(end + 1..)?
            }
            None => rest,
        };
        let (body, widest) = match rest.split_first() {
            Some((c, after)) if inner.is_some() => {
                if *c != b']' {
                    return None;
                }
                (after, 4)
            }
            Some((b':', after)) => (after, 2),
            Some((b'|', after)) => (after, usize::MAX),
            _ => (rest, 3),
        };
        let ends = body.first().is_none_or(u8::is_ascii_whitespace);
        ends.then_some(Self {
            digits,
            widest,
            rest: body,
        })
    }
}

/// Reads cells of four characters.
fn cells(text: &[u8], out: &mut Vec<u8>) -> usize {
    const ESCAPES: Escapes = Escapes {
        latin1: true,
        is_text: false,
        radix: 8,
    };
    let before = out.len();
    for cell in text.chunks(4) {
        let shown = cell.trim_ascii_start();
        match shown {
            [] if cell.len() == 4 => out.push(b' '),
            [c] if c.is_ascii_graphic() => out.push(*c),
            [b'\\', _] | [b'0'..=b'7', _, _] => {
                let mut token = b"\\".to_vec();
                token.extend_from_slice(shown.strip_prefix(b"\\").unwrap_or(shown));
                ESCAPES.read(&token, None, out);
            }
            _ => {
                out.truncate(before);
                return 0;
            }
        }
    }
    if out.len() > before { text.len() } else { 0 }
}

impl LineForm for Rows {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = self.common.clean(line.text);
        let shown = text.trim_ascii();
        let shown = shown.strip_prefix(b"|").unwrap_or(shown);
        let is_row = if !self.offsets {
            self.plain(&text, sink)
        } else if shown.first() == Some(&b'*') && shown.iter().all(|c| b"*| ".contains(c)) {
            self.release(None, sink);
            self.dump.repeat();
            true
        } else {
            self.row(line, &text, sink)
        };
        if !is_row {
            self.common.other(&text);
            self.dump.pause();
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.release(None, sink);
        self.dump.finish(sink);
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}
