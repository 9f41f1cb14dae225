//! Lines that a writer broke, so that the next one continues them.
//!
//! ```text
//!   {"jsonrpc":"2.0","id":1,"met=              quoted-printable: a mark at the end
//!   hod":"h=C3=A9"}
//!   0x7ffc7f0:      "{\"id\":1,\"resu"...        x/s of GDB: each line has at most 200 characters
//!   0x7ffc8b8:      "lt\":{}}"
//!   chunk "{\"id\":1,\"meth"                 what a program read, in pieces
//!   chunk "od\":\"ping\"}\n"
//!   "{\"id\":1,\"meth"                       strings beside each other are one: C, Python, JavaScript with +
//!       "od\":\"ping\"}"
//!   1,"{                                     a cell of CSV, in which quotes are doubled
//!     ""id"": 1
//!   }"
//! ```

use super::escapes::UTF8;
use super::found::first;
use super::objects::Balance;
use super::scalars::OpenScalar;
use crate::capture::hex::nibble;

/// The most bytes of a line that is held.
const MAX_HELD: usize = 16 << 20;
/// RFC 2045 section 6.7: "encoded lines [must] be no more than 76 characters long".
const MAX_PRINTABLE: usize = 76;

#[derive(Default)]
pub(super) struct BrokenLines {
    /// The lines are quoted-printable; the start of a line that goes on in the next one.
    printable: Option<Vec<u8>>,
    /// The start of a string of GDB.
    string: Option<Vec<u8>>,
    literal: Option<OpenLiteral>,
    /// The start of a scalar of YAML.
    scalar: Option<OpenScalar>,
    /// The start of a row of CSV with a cell that is not closed.
    row: Option<OpenRow>,
}

/// A line that ends with a string in which an object is open.
struct OpenLiteral {
    /// Up to the quote that ends the string.
    line: Vec<u8>,
    quote: u8,
    /// The bytes before the string.
    head: usize,
    object: Balance,
    /// What stands behind the string.
    end: Vec<u8>,
}

impl OpenLiteral {
    /// Returns a line whose last string is the beginning of an object.
    fn new(line: &[u8]) -> Option<Self> {
        let (&quote, _) = without_join(line).split_last()?;
        if !is_quote(quote) {
            return None;
        }
        let find = |start: &[u8]| memchr::memmem::find(line, start);
        let header = || find(&[&[quote], HEADER].concat());
        let start = find(&[quote, b'{']).or_else(header)? + 1;
        let (head, body) = line.split_at_checked(start)?;
        let mut literal = Self {
            line: head.to_vec(),
            quote,
            head: start - 1,
            object: Balance::default(),
            end: Vec::new(),
        };
        literal.add(quote, body)?.then_some(literal)
    }

    /// Adds the body of a string with this quote; returns true if the next line may continue it, and `None` if the string is
    /// not closed.
    fn add(&mut self, quote: u8, body: &[u8]) -> Option<bool> {
        let mut text = Vec::new();
        let after = UTF8.read(body, Some(quote), &mut text).rest?;
        let shown = body.get(..body.len() - after.len() - 1)?;
        let mut is_escaped = false;
        for &c in shown {
            if c == self.quote && !is_escaped {
                self.line.push(b'\\');
            }
            is_escaped = c == b'\\' && !is_escaped;
            self.line.push(c);
        }
        self.end = after.to_vec();
        let is_open = self.is_open_after(&text);
        Some(is_open && without_join(after).is_empty() && self.line.len() <= MAX_HELD)
    }

    /// Adds text of messages; returns true if the last one is open at its end.
    fn is_open_after(&mut self, text: &[u8]) -> bool {
        let mut rest = text;
        while let Some(end) = self.object.add(rest) {
            self.object = Balance::default();
            rest = rest.get(end..).unwrap_or_default();
        }
        let rest = rest.trim_ascii();
        !self.object.is_closed()
            || !rest.is_empty() && HEADER.starts_with(first(rest, HEADER.len()))
    }

    /// Returns the quote and the body of the string with which a line continues this one: a string alone, or behind the text
    /// that is before the first one, in which digits may differ.
    fn next<'a>(&self, line: &'a [u8]) -> Option<(u8, &'a [u8])> {
        if let Some(string) = string_of_line(line) {
            return Some(string);
        }
        let head = self.line.get(..self.head)?;
        let at = line.iter().position(|&c| is_quote(c))?;
        let (before, string) = line.split_at_checked(at)?;
        let (&quote, body) = string.split_first()?;
        let without_digits = |text: &[u8]| -> Vec<u8> {
            let is_other = |c: &&u8| !c.is_ascii_digit();
            text.iter().filter(is_other).copied().collect()
        };
        let is_same = !before.is_empty() && without_digits(before) == without_digits(head);
        // Otherwise it is the next message, and this one is cut.
        let begins =
            !body.starts_with(b"{") || self.line.last().is_some_and(|c| b":,[".contains(c));
        (is_same && begins).then_some((quote, body))
    }

    fn into_line(mut self) -> Vec<u8> {
        self.line.push(self.quote);
        self.line.append(&mut self.end);
        self.line
    }
}

/// How the header of a message begins.
const HEADER: &[u8] = b"Content-Length: ";

const fn is_quote(c: u8) -> bool {
    matches!(c, b'"' | b'\'' | b'`')
}

/// Returns a text without the sign that joins strings, and without blanks at its end.
fn without_join(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let bare = text.strip_suffix(b"+").or(text.strip_suffix(b"\\"));
    let bare = bare.or(text.strip_suffix(b" ."));
    bare.unwrap_or(text).trim_ascii_end()
}

/// Returns the quote and the body of the string that a line begins with, behind the sign that joins it to the one before.
fn string_of_line(line: &[u8]) -> Option<(u8, &[u8])> {
    let line = line.trim_ascii_start();
    let line = line
        .strip_prefix(b"+")
        .or(line.strip_prefix(b". "))
        .unwrap_or(line);
    let line = line.trim_ascii_start();
    // Strings of bytes in Python.
    let line = line.strip_prefix(b"b").unwrap_or(line);
    let (&quote, body) = line.split_first()?;
    matches!(quote, b'"' | b'\'').then_some((quote, body))
}

struct OpenRow {
    text: Vec<u8>,
    /// Its second line shows doubled quotes.
    is_certain: bool,
}

impl OpenRow {
    fn new(line: &[u8]) -> Option<Self> {
        let line = line.trim_ascii_end();
        let begins_object =
            line.ends_with(b"\"{") || memchr::memmem::find(line, b"\"{\"\"").is_some();
        (begins_object && has_open_quote(line)).then(|| Self {
            text: line.to_vec(),
            is_certain: false,
        })
    }
}

/// Returns true if the number of quotes is odd.
fn has_open_quote(line: &[u8]) -> bool {
    memchr::memchr_iter(b'"', line).count() % 2 == 1
}

impl BrokenLines {
    /// Says that the lines that follow are quoted-printable, or are not.
    pub(super) fn set_printable(&mut self, is_printable: bool) {
        self.printable = is_printable.then(Vec::new);
    }

    /// Returns true if a line may be the first of quoted-printable without a head that says so.
    pub(super) fn may_be_printable(&self, line: &[u8]) -> bool {
        self.printable.is_none() && line.ends_with(b"=") && line.len() <= MAX_PRINTABLE
    }

    /// Returns the start of a string that this line does not continue.
    pub(super) fn ended_by(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        if string_of_gdb(line).is_some() {
            return None;
        }
        let is_next =
            |row: &mut OpenRow| !row.is_certain && !line.trim_ascii().starts_with(b"\"\"");
        if let Some(row) = self.row.take_if(is_next) {
            return Some(row.text);
        }
        if let Some(scalar) = self.scalar.take_if(|open| !open.continues(line)) {
            return Some(scalar.into_line());
        }
        let is_next = |open: &mut OpenLiteral| open.next(line).is_none();
        if let Some(literal) = self.literal.take_if(is_next) {
            return Some(literal.into_line());
        }
        self.unfinished_string()
    }

    fn unfinished_string(&mut self) -> Option<Vec<u8>> {
        let string = self.string.take()?;
        Some([&string, &b"..."[..]].concat())
    }

    /// Adds a line; returns the whole one if the next line does not continue it.
    pub(super) fn add(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let line = match self.printable.take() {
            Some(start) => {
                let (line, goes_on) = quoted_printable(&line, start);
                if goes_on && line.len() <= MAX_HELD {
                    self.printable = Some(line);
                    return None;
                }
                self.printable = Some(Vec::new());
                line
            }
            None => line,
        };
        if let Some(mut row) = self.row.take() {
            row.is_certain = true;
            row.text.push(b'\n');
            row.text.extend_from_slice(&line);
            if has_open_quote(&line) || row.text.len() > MAX_HELD {
                return Some(row.text);
            }
            self.row = Some(row);
            return None;
        }
        if let Some(mut scalar) = self.scalar.take() {
            if !scalar.add(&line) {
                return Some(scalar.into_line());
            }
            self.scalar = Some(scalar);
            return None;
        }
        match string_of_gdb(&line) {
            Some(start) => self.string(line, start),
            None => self.literal(line),
        }
    }

    /// Joins a line with the string that the line before it began.
    fn literal(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        if let Some(mut held) = self.literal.take() {
            let next = held.next(&line);
            match next.and_then(|(quote, body)| held.add(quote, body)) {
                Some(true) => self.literal = Some(held),
                Some(false) => return Some(held.into_line()),
                None => return Some(line),
            }
        } else if let Some(held) = OpenLiteral::new(&line) {
            self.literal = Some(held);
        } else if let Some(scalar) = OpenScalar::new(&line) {
            self.scalar = Some(scalar);
        } else {
            self.row = OpenRow::new(&line);
            return self.row.is_none().then_some(line);
        }
        None
    }

    fn string(&mut self, line: Vec<u8>, start: usize) -> Option<Vec<u8>> {
        let line = match self.string.take() {
            Some(held) => {
                let part = line.get(start..).unwrap_or_default();
                match (held.strip_suffix(b"\""), part.strip_prefix(b"\"")) {
                    (Some(held), Some(part)) => [held, part].concat(),
                    // A character that is repeated stands beside the string.
                    _ => [&held, &b", "[..], part].concat(),
                }
            }
            None => line,
        };
        match line.strip_suffix(b"...") {
            Some(whole) if matches!(whole.last(), Some(b'"' | b'>')) && line.len() <= MAX_HELD => {
                self.string = Some(whole.to_vec());
                None
            }
            _ => Some(line),
        }
    }

    /// Returns the start of a line that nothing continues.
    pub(super) fn finish(&mut self) -> Option<Vec<u8>> {
        let printable = self.printable.take().filter(|text| !text.is_empty());
        let row = self.row.take().map(|row| row.text);
        let literal = self.literal.take().map(OpenLiteral::into_line);
        let scalar = self.scalar.take().map(OpenScalar::into_line);
        printable
            .or(row)
            .or(literal)
            .or(scalar)
            .or_else(|| self.unfinished_string())
    }
}

/// Returns where the string of a line of GDB begins: `0x7ffc7f0 <text+16>:<tab>"`.
fn string_of_gdb(line: &[u8]) -> Option<usize> {
    let address = line.strip_prefix(b"0x")?;
    let end = address.iter().position(|c| !c.is_ascii_hexdigit())?;
    let mut rest = address.get(end..)?;
    if let Some(symbol) = rest.strip_prefix(b" <") {
        rest = symbol.get(memchr::memchr(b'>', symbol)? + 1..)?;
    }
    let string = rest.strip_prefix(b":")?.trim_ascii_start();
    matches!(string.first(), Some(b'"' | b'\'')).then_some(line.len() - string.len())
}

/// Decodes a line of quoted-printable behind the start of its text; returns true if the next line continues it.
fn quoted_printable(line: &[u8], mut text: Vec<u8>) -> (Vec<u8>, bool) {
    let mut rest = line;
    while let Some((&c, after)) = rest.split_first() {
        rest = after;
        match after.split_first_chunk() {
            _ if c != b'=' => text.push(c),
            Some((&[high, low], after)) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                text.push(nibble(high) << 4 | nibble(low));
                rest = after;
            }
            _ if after.is_empty() => return (text, true),
            _ => text.push(c),
        }
    }
    (text, false)
}
