//! Hex or Base64 inside other text: the longest run of a line.
//!
//! ```text
//!   it sends 0000004185a7 and then hangs          hex
//!   00:00:00:41  "00", "41"  \x00\x41  0x00, 0x41  hex, with one separator throughout
//!   <Buffer 00 00 00 41 ... 19 more bytes>         hex; the missing bytes are reported
//!   "data:;base64,AAAAQYWndmVyc2lvbg=="            Base64
//! ```

use super::finder::Finder;
use super::leaves::leaves;
use super::line::{Common, missing_bytes};
use super::rows::is_heading;
use crate::capture::base64_text::{self, Bits};
use crate::capture::chunk::ItemSink;
use crate::capture::hex::{nibble, split_digits};
use crate::capture::lines::{Line, LineForm};
use memchr::memmem;

/// The items of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunKind {
    Hex,
    /// Hex, and the first word of each line is its number.
    NumberedHex,
    /// Hex in which a small byte has one digit.
    UnpaddedHex,
    /// Base64 that may go on in the next line.
    WrappedBase64,
    /// Base64, each line for itself.
    Base64,
}

/// The least number of bytes of a run of hex inside other text: a date has 7.
const MIN_HEX: usize = 8;
/// The least number of bytes of a run of hex in the column of a longer one.
const MIN_SHORT: usize = 4;
/// The least number of characters of a run of Base64 inside other text.
const MIN_BASE64: usize = 16;
/// The least number of characters of a run of Base64 that begins as a longer one does.
const MIN_SHORT_BASE64: usize = 8;
/// The most lines before the first long run that are read again.
const MAX_EARLY: usize = 16;

pub(super) struct Runs {
    common: Common,
    kind: RunKind,
    /// The line before had a run.
    follows: bool,
    /// The text before it.
    before: Vec<u8>,
    /// A comma ended it: the list goes on.
    has_comma: bool,
    /// The text before the last run of hex that was long enough, and whether text was after it.
    column: Option<(Vec<u8>, bool)>,
    /// The first characters of the last run that was long enough.
    start: Option<[u8; 2]>,
    /// Lines with short runs before the first long one.
    early: Vec<Vec<u8>>,
    bits: Bits,
    bytes: Vec<u8>,
    finder: Finder,
}

impl Runs {
    pub(super) fn new(quoted: bool, kind: RunKind) -> Self {
        Self {
            common: Common::new(quoted),
            kind,
            follows: false,
            before: Vec::new(),
            has_comma: false,
            column: None,
            start: None,
            early: Vec::new(),
            bits: Bits::default(),
            bytes: Vec::new(),
            finder: Finder::default(),
        }
    }

    fn is_hex(&self) -> bool {
        !matches!(self.kind, RunKind::WrappedBase64 | RunKind::Base64)
    }

    fn is_unpadded(&self) -> bool {
        self.kind == RunKind::UnpaddedHex
    }

    fn longest<'a>(&self, text: &'a [u8]) -> Option<Run<'a>> {
        if self.is_hex() {
            longest_hex(text, self.is_unpadded())
        } else {
            longest_base64(text)
        }
    }

    /// Finds the longest run of a line and whether it is long enough.
    fn find<'a>(&self, text: &'a [u8]) -> Option<Run<'a>> {
        let run = self.longest(text)?;
        let least = if self.is_hex() { MIN_HEX } else { MIN_BASE64 };
        // The last line of a text may be short.
        let same = self.follows && run.before == self.before;
        if !self.is_hex() && is_field_name(&run) {
            return None;
        }
        let blank = run.before.trim_ascii().is_empty() && (same || self.is_hex() && run.size >= 4);
        let ends = run.after.trim_ascii().iter().all(|c| b"\"';".contains(c));
        let short = ends && (blank || same && self.is_hex());
        let is_listed = same && self.is_hex() && self.has_comma;
        let is_long = run.size >= least || short || is_listed || self.is_in_column(&run);
        (is_long || self.begins_alike(&run)).then_some(run)
    }

    /// Returns true if a short run ends its line and begins as the last long one did: with the same first byte of a frame.
    fn begins_alike(&self, run: &Run<'_>) -> bool {
        let is_last = run.after.trim_ascii().is_empty();
        let is_like = |(before, has_after): &(Vec<u8>, bool)| *has_after && before == run.before;
        let is_last = is_last || self.column.as_ref().is_some_and(is_like);
        let least = if self.is_hex() {
            MIN_SHORT
        } else {
            MIN_SHORT_BASE64
        };
        let is_whole = self.is_hex() || run.size.is_multiple_of(4);
        // Several tokens may be words of a sentence.
        let is_token = !run.text.contains(&b' ');
        is_last && is_whole && is_token && run.size >= least && self.start == beginning(run)
    }

    /// Returns true if a short run is where the last long one was: in the same column, or behind the same mark.
    fn is_in_column(&self, run: &Run<'_>) -> bool {
        let Some((before, has_after)) = self.column.as_ref().filter(|_| self.is_hex()) else {
            return false;
        };
        let mark = |before: &[u8]| before.last_chunk::<2>().copied();
        let is_quote = run.before.ends_with(b"'") && mark(run.before) == mark(before);
        let is_same = run.before.len() == before.len() || is_quote;
        is_same && run.size >= MIN_SHORT && *has_after != run.after.trim_ascii().is_empty()
    }

    fn decode_base64(&mut self, run: &Run<'_>) {
        let starts = !run.before.trim_ascii().is_empty() && run.before != self.before;
        if starts || self.kind == RunKind::Base64 || !self.follows {
            self.bits = Bits::default();
        }
        let mut rest = run.text;
        while let Some((&c, after)) = rest.split_first() {
            rest = after;
            if let Some(value) = base64_text::value(c) {
                self.bytes.extend(self.bits.add(value));
            } else if c == b'=' {
                self.bits = Bits::default();
            } else if c == b'\\' && rest.first().is_some_and(|&c| c != b'/') {
                rest = rest.get(1..).unwrap_or_default();
            }
        }
        if !run.after.trim_ascii().is_empty() {
            self.bits = Bits::default();
        }
    }
}

impl LineForm for Runs {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        // The objects of a list on one line are read like lines.
        let objects = leaves(line.text).filter(|all| all.len() > 1);
        let Some(objects) = objects else {
            return self.object_or_line(line, sink);
        };
        for text in objects {
            self.object_or_line(Line { text, ..line }, sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.common.ignored
    }
}

impl Runs {
    fn object_or_line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let text = self.common.clean(line.text);
        if self.is_hex() && is_heading(&text) {
            return self.common.other(&text);
        }
        let mut body = &*text;
        if self.kind == RunKind::NumberedHex {
            let start = body.trim_ascii_start();
            // R has brackets around the number, right-aligned.
            let start = start.strip_prefix(b"[").unwrap_or(start).trim_ascii_start();
            let number = start.iter().take_while(|c| c.is_ascii_digit()).count();
            body = start.get(number..).unwrap_or_default();
            body = body
                .strip_prefix(b":")
                .or(body.strip_prefix(b"]"))
                .unwrap_or(body);
        }
        let Some(run) = self.find(body) else {
            if self.start.is_none() && self.early.len() < MAX_EARLY {
                self.early.push(line.text.to_vec());
            }
            self.follows = false;
            self.common.other(&text);
            return;
        };
        let least = if self.is_hex() { MIN_HEX } else { MIN_BASE64 };
        if run.size >= least {
            self.start = beginning(&run);
            self.column = Some((run.before.to_vec(), !run.after.trim_ascii().is_empty()));
            // The texts before it are read now.
            for text in std::mem::take(&mut self.early) {
                let text = self.common.clean(&text).into_owned();
                let found = self.longest(&text).filter(|run| self.begins_alike(run));
                if let Some(run) = found {
                    self.take(&text, &run, sink);
                }
            }
        }
        self.take(&text, &run, sink);
    }

    /// Emits the bytes of a run.
    fn take(&mut self, text: &[u8], run: &Run<'_>, sink: &mut ItemSink<'_>) {
        self.bytes.clear();
        if self.is_hex() {
            push_hex(run.text, self.is_unpadded(), &mut self.bytes);
        } else {
            self.decode_base64(run);
            // A line that is a whole message.
            if let Some(framed) = self.finder.framed_message(&self.bytes) {
                (self.bytes, self.bits) = (framed, Bits::default());
            }
        }
        let mark = self.common.marks.of(text, run.before, run.after);
        let bytes = std::mem::take(&mut self.bytes);
        if self.common.marks.has_nodes() {
            let mut rest = &*bytes;
            while let Some((at, end, len)) = lost_bytes(rest) {
                let before = rest.get(..at).unwrap_or_default();
                self.common.emit(mark, before, sink);
                self.common.missing(mark.direction, len, sink);
                rest = rest.get(end..).unwrap_or_default();
            }
            self.common.emit(mark, rest, sink);
        } else {
            self.common.emit(mark, &bytes, sink);
        }
        self.bytes = bytes;
        if let Some(len) = missing_bytes(run.after) {
            self.common.missing(mark.direction, len, sink);
        }
        self.follows = true;
        self.has_comma = run.after.trim_ascii() == b",";
        self.before.clear();
        self.before.extend_from_slice(run.before);
    }
}

/// Returns the start and the end of Wireshark's note about lost packets, and their number of bytes.
fn lost_bytes(bytes: &[u8]) -> Option<(usize, usize, u64)> {
    const TEXT: &[u8] = b" bytes missing in capture file]";
    let end = memmem::find(bytes, TEXT)?;
    let before = bytes.get(..end)?;
    let at = before.iter().rposition(|&c| c == b'[')?;
    let number = std::str::from_utf8(before.get(at + 1..)?).ok()?;
    let end = end + TEXT.len();
    let zero = usize::from(bytes.get(end) == Some(&0));
    Some((at, end + zero, number.parse().ok()?))
}

/// Returns the first two characters of a run, without the mark of hex.
fn beginning(run: &Run<'_>) -> Option<[u8; 2]> {
    let text = run.text.strip_prefix(b"0x").unwrap_or(run.text);
    text.first_chunk().copied()
}

/// Returns true for the name of a field in a head, `Content-Transfer-Encoding: base64`, or of a member in JSON.
fn is_field_name(run: &Run<'_>) -> bool {
    let is_key = run.after.starts_with(b"\":") || run.after.starts_with(b"\" :");
    run.before.is_empty() && run.after.starts_with(b": ") || is_key
}

/// A part of a line.
struct Run<'a> {
    before: &'a [u8],
    text: &'a [u8],
    after: &'a [u8],
    /// The number of bytes of hex, or of characters of Base64.
    size: usize,
}

impl<'a> Run<'a> {
    fn of(line: &'a [u8], start: usize, end: usize, size: usize) -> Self {
        Self {
            before: line.get(..start).unwrap_or_default(),
            text: line.get(start..end).unwrap_or_default(),
            after: line.get(end..).unwrap_or_default(),
            size,
        }
    }
}

/// The length of a hex token and the number of its bytes: an even number of digits, with a mark before them or not. One or two
/// digits are a byte if a small byte has one digit.
fn hex_token(text: &[u8], is_unpadded: bool) -> Option<(usize, usize)> {
    const MARKS: [&[u8]; 6] = [b"0x", b"0X", b"\\x", b"%", b"$", b"#"];
    let mark = MARKS.iter().find(|mark| text.starts_with(mark));
    let mark = mark.map_or(0, |mark| mark.len());
    let (digits, rest) = split_digits(text.get(mark..)?);
    let ends = rest
        .first()
        .is_none_or(|c| !c.is_ascii_alphanumeric() && *c != b'_');
    let len = digits.len();
    let is_token = if is_unpadded {
        (1..=2).contains(&len)
    } else {
        len > 0 && len % 2 == 0
    };
    (is_token && ends).then_some((mark + len, len.div_ceil(2)))
}

/// The run of tokens with the same separator that has most bytes.
fn longest_hex(line: &[u8], is_unpadded: bool) -> Option<Run<'_>> {
    let mut best: Option<(usize, usize, usize)> = None;
    let mut run: Option<(usize, usize, usize)> = None;
    let mut separator: Option<u8> = None;
    let mut at = 0;
    while at < line.len() {
        let rest = line.get(at..).unwrap_or_default();
        let Some((len, size)) = hex_token(rest, is_unpadded) else {
            // A word ends the run; inside it no token begins.
            let word = rest
                .iter()
                .take_while(|c| c.is_ascii_alphanumeric() || **c == b'_')
                .count();
            if word > 0 || !is_separator(rest.first().copied()) {
                run = None;
            }
            at += word.max(1);
            continue;
        };
        let end = at + len;
        let between = run.and_then(|(_, end, _)| line.get(end..at));
        let kind = between.map(|b| b.trim_ascii().first().copied().unwrap_or(b' '));
        // A length in brackets is no byte.
        let closes = |b: &[u8]| b.contains(&b']') && !b.contains(&b'[');
        let is_closed = between.is_some_and(closes);
        // Numbers before a long token, such as ports, are no part of it.
        let is_number = run.is_some_and(|(_, _, bytes)| bytes <= 2);
        let is_apart = is_number && (size >= 16 || size >= 3 && between == Some(b": "));
        let goes_on = kind.is_some()
            && !is_apart
            && !is_closed
            && between.is_some_and(|b| b.len() <= 4)
            && (separator.is_none() || separator == kind);
        run = match run {
            Some((start, _, bytes)) if goes_on => {
                separator = kind;
                Some((start, end, bytes + size))
            }
            _ => {
                separator = None;
                Some((at, end, size))
            }
        };
        if let Some((_, _, bytes)) = run
            && best.is_none_or(|best| bytes > best.2 || bytes == best.2 && is_decimal(line, best))
        {
            best = run;
        }
        at = end;
    }
    best.map(|(start, end, size)| Run::of(line, start, end, size))
}

/// Returns true if a run is a number in decimal, such as a time.
fn is_decimal(line: &[u8], (start, end, _): (usize, usize, usize)) -> bool {
    line.get(start..end)
        .is_some_and(|run| run.iter().all(u8::is_ascii_digit))
}

fn is_separator(c: Option<u8>) -> bool {
    c.is_some_and(|c| c.is_ascii_whitespace() || b",:;-.|'\"`\\{}[]()<".contains(&c))
}

fn push_hex(run: &[u8], is_unpadded: bool, out: &mut Vec<u8>) {
    let mut rest = run;
    while !rest.is_empty() {
        if let Some((len, _)) = hex_token(rest, is_unpadded) {
            let token = rest.get(..len).unwrap_or_default();
            let digits = token
                .iter()
                .rposition(|c| !c.is_ascii_hexdigit())
                .and_then(|mark| token.get(mark + 1..))
                .unwrap_or(token);
            out.extend(digits.chunks(2).map(|pair| {
                pair.iter()
                    .fold(0, |byte, &digit| byte << 4 | nibble(digit))
            }));
            rest = rest.get(len..).unwrap_or_default();
        } else {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
}

/// The run of most characters. `\n` and `\/` in a JSON string do not end it.
fn longest_base64(line: &[u8]) -> Option<Run<'_>> {
    let mut best: Option<Run<'_>> = None;
    let mut at = 0;
    while at < line.len() {
        let rest = line.get(at..).unwrap_or_default();
        let len = base64_len(rest);
        let text = rest.get(..len).unwrap_or_default();
        // A rule of one character is no data.
        let is_rule = text.iter().all(|c| text.first() == Some(c)) && len > 4;
        if len > 0 && !is_rule && best.as_ref().is_none_or(|best| len > best.size) {
            best = Some(Run::of(line, at, at + len, len));
        }
        at += len.max(1);
    }
    best
}

fn base64_len(text: &[u8]) -> usize {
    let mut len = 0;
    loop {
        let rest = text.get(len..).unwrap_or_default();
        match rest {
            [c, ..] if base64_text::value(*c).is_some() => len += 1,
            [b'\\', b'n' | b'r' | b'/', ..] if len > 0 => len += 2,
            [b'=', b'=', ..] if len > 0 => return len + 2,
            [b'=', ..] if len > 0 => return len + 1,
            _ => return len,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::chunk::Item;
    use crate::capture::form::FormReader;
    use crate::capture::lines::Lines;

    #[test]
    fn longest_run_of_hex_is_found() {
        for (line, want, size) in [
            ("it sends 00000041 and hangs", "00000041", 4),
            ("00:00:00:41", "00:00:00:41", 4),
            ("TX [69] 00 00 00 41", "00 00 00 41", 4),
            ("[00] [41]", "00] [41", 2),
            ("09:52:20 00 00 00 41", "00 00 00 41", 4),
            ("'00', '41', '85'", "00', '41', '85", 3),
            (r"\x00\x41", r"\x00\x41", 2),
            ("0x00, 0x41,", "0x00, 0x41", 2),
            ("<Buffer 00 41 ... 2 more bytes>", "00 41", 2),
            ("a 0041 b 00418500 c", "00418500", 4),
            ("recv 11: 73756c74227d7d", "73756c74227d7d", 7),
            ("(1772618404, X'940102C0C0')", "940102C0C0", 5),
        ] {
            let run = longest_hex(line.as_bytes(), false).expect(line);
            assert_eq!((run.text, run.size), (want.as_bytes(), size), "{line}");
        }
        assert!(longest_hex(b"nothing here, 123 456", false).is_none());
    }

    #[test]
    fn short_runs_that_begin_as_a_long_one_are_read() {
        let (long, short) = ("940002b36e76696d5f6275665f6c696e65", "940102c02a");
        let (long64, short64) = ("lAACs252aW1fYnVmX2xpbmVfY291bnSRAA==", "lAECwCo=");
        for (kind, text, want) in [
            (
                RunKind::Hex,
                format!("request {long}\nanswer {short}\n"),
                [17, 5],
            ),
            (
                RunKind::Hex,
                format!("recv {short}\nsend {long}\n"),
                [5, 17],
            ),
            (
                RunKind::Hex,
                format!("send {long}\ncommit 950102c02a\n"),
                [17, 0],
            ),
            (
                RunKind::Base64,
                format!("send {long64}\nrecv {short64}\n"),
                [25, 5],
            ),
            (
                RunKind::Base64,
                format!("{{\"b\":\"{short64}\",\"s\":0}}\n{{\"b\":\"{long64}\",\"s\":0}}\n"),
                [5, 25],
            ),
        ] {
            let mut lines = Lines::new(Runs::new(false, kind));
            let mut found = Vec::new();
            let mut sink = |item: Item<'_>| {
                if let Item::Chunk(chunk) = item {
                    found.push(chunk.bytes.len());
                }
            };
            lines.push(text.as_bytes(), &mut sink);
            lines.finish(&mut sink);
            let want: Vec<usize> = want.into_iter().filter(|len| *len > 0).collect();
            assert_eq!(found, want, "{text}");
        }
    }

    #[test]
    fn short_runs_in_the_column_of_a_long_one_are_read() {
        let long = "940001b16e76696d5f6765745f6170695f696e666f90";
        for (before, short, after, want) in [
            ("c2s ", "940100c0c0", "", true),
            ("c2s 0x", "940100c0c0", "", true),
            ("(1772618404, X'", "940100c0c0", "')", true),
            ("c2s ", "94 01 00 c0 c0", "", true),
            ("c2s ", "940100c0c0", " bytes", false),
        ] {
            let mut lines = Lines::new(Runs::new(false, RunKind::Hex));
            let mut bytes = Vec::new();
            let mut sink = |item: Item<'_>| {
                if let Item::Chunk(chunk) = item {
                    bytes.extend_from_slice(chunk.bytes);
                }
            };
            let end = after.strip_suffix(" bytes").unwrap_or(after);
            let text = format!("{before}{long}{end}\n{before}{short}{after}\n");
            lines.push(text.as_bytes(), &mut sink);
            lines.finish(&mut sink);
            let wanted = if want {
                long.to_owned() + &short.replace(' ', "")
            } else {
                long.to_owned()
            };
            assert_eq!(::hex::encode(bytes), wanted, "{text}");
        }
    }
}
