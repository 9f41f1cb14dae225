//! Which form is it? Told from the bytes alone, as soon as they decide.
//!
//! ```text
//!   {"wiretool":1,...              recording
//!   {"v":1,"index":0,...           what decode -f json writes
//!   00000000: 7b22 ...             xxd, hexdump, od
//!   0e 00 00 00 length = 14        hex
//!   FgAAAHsianMiOjF9               base64
//!   {"jsonrpc":"2.0",...           raw
//! ```
//!
//! Each form is asked in turn and answers yes, no, or not yet. An answer once given holds however the bytes go on, so
//! that it does not matter in which pieces they come.

use super::base64_text;
use super::dump::{self, Columns};
use super::form::Form;
use super::hex::{self, Kind};
use super::lines::BOM;
use serde::Deserialize;

/// Bytes that detection looks at, at most.
pub(super) const LIMIT: usize = 4 << 10;

/// So many hex digits in a row are hex, wherever they end.
const LONG: usize = 2 << 10;

/// What one form says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Yes(String),
    No,
    /// More bytes are needed.
    Open,
}
use Verdict::{No, Open, Yes};

/// Asks one form about an input that begins with these bytes.
type Ask = fn(&[u8], End) -> Verdict;

/// What comes after the bytes at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// More bytes.
    More,
    /// More bytes that detection does not wait for.
    Limit,
    /// Nothing.
    Real,
}

/// The form and why, or `None` where more bytes are needed to tell. `ended` says that there are none.
pub(super) fn detect(bytes: &[u8], ended: bool) -> Option<(Form, String)> {
    let view = bytes.get(..LIMIT).unwrap_or(bytes);
    let end = match (bytes.len() > LIMIT, ended) {
        (true, _) => End::Limit,
        (false, true) => End::Real,
        (false, false) => End::More,
    };
    let text = view.strip_prefix(BOM).unwrap_or(view);
    if end == End::More && BOM.starts_with(view) {
        return None;
    }
    let forms: [(Form, Ask); 5] = [
        (Form::Recording, recording),
        (Form::Jsonl, json_lines),
        (Form::Xxd, dump),
        (Form::Hex, hex_lines),
        (Form::Base64, base64),
    ];
    for (form, ask) in forms {
        match ask(text, end) {
            Yes(evidence) => return Some((form, evidence)),
            Open if end == End::More => return None,
            Open | No => {}
        }
    }
    let evidence = match text.trim_ascii_start().first() {
        None => "it is empty".into(),
        Some(b'{' | b'[') => "it is JSON, but neither a recording nor output of decode".into(),
        Some(_) => "it is neither a recording, decoded JSON, a hex dump nor base64".into(),
    };
    Some((Form::Raw, evidence))
}

/// A mark that `bytes` might be the beginning of.
fn starts(bytes: &[u8], mark: &[u8]) -> Verdict {
    if bytes.starts_with(mark) {
        Yes(String::new())
    } else if mark.starts_with(bytes) {
        Open
    } else {
        No
    }
}

/// The text behind `{"`, where an object begins.
fn first_key(text: &[u8]) -> Result<&[u8], Verdict> {
    let mut rest = text;
    for mark in [b"{", b"\""] {
        rest = rest.trim_ascii_start();
        match starts(rest, mark) {
            Yes(_) => rest = rest.get(1..).unwrap_or_default(),
            other => return Err(other),
        }
    }
    Ok(rest)
}

fn recording(text: &[u8], _end: End) -> Verdict {
    match first_key(text).map(|key| starts(key, b"wiretool\"")) {
        Ok(Yes(_)) => Yes("its first key is wiretool".into()),
        Ok(other) | Err(other) => other,
    }
}

/// Keys that may come first in a line of decode, as it is written or with its keys sorted; no protocol's own.
const DECODE_KEYS: [&[u8]; 5] = [
    b"v\"",
    b"index\"",
    b"body_len\"",
    b"body_offset\"",
    b"conn\"",
];

fn json_lines(text: &[u8], end: End) -> Verdict {
    #[derive(Deserialize)]
    struct Head {
        v: u64,
        #[allow(dead_code)]
        index: u64,
    }
    let key = match first_key(text) {
        Ok(key) => key,
        Err(verdict) => return verdict,
    };
    let verdicts = DECODE_KEYS.map(|mark| starts(key, mark));
    if !verdicts.iter().any(|v| matches!(v, Yes(_))) {
        return if verdicts.contains(&Open) { Open } else { No };
    }
    if key.starts_with(br#"v":1,"index":"#) {
        return Yes(r#"it begins with "v":1 and "index""#.into());
    }
    let text = text.trim_ascii_start();
    let line = text.split(|&c| c == b'\n').next().unwrap_or_default();
    if line.len() == text.len() && end != End::Real {
        return Open;
    }
    match serde_json::from_slice(line) {
        Ok(Head { v: 1, .. }) => Yes(r#"its first line has "v":1 and "index""#.into()),
        _ => No,
    }
}

/// The lines of `text` with whether they are whole.
fn lines(text: &[u8], end: End) -> impl Iterator<Item = (&[u8], bool)> {
    let mut parts = text.split(|&c| c == b'\n').peekable();
    std::iter::from_fn(move || {
        let part = parts.next()?;
        let whole = end == End::Real || parts.peek().is_some();
        Some((part, whole))
    })
}

fn is_text(line: &[u8]) -> bool {
    !line
        .iter()
        .any(|&c| c.is_ascii_control() && !c.is_ascii_whitespace())
}

fn dump(text: &[u8], end: End) -> Verdict {
    // Bytes of the first row, where only the second row's offset tells whether it has one itself.
    let mut first: Option<u64> = None;
    for (line, whole) in lines(text, end) {
        let line = line.trim_ascii();
        if !is_text(line) {
            return No;
        }
        if line.is_empty() && !whole {
            return Open;
        }
        if line.is_empty() || hex::is_comment(line) && whole {
            continue;
        }
        if !whole {
            return if may_be_row(line) { Open } else { No };
        }
        let Some(row) = dump::row(line) else {
            return No;
        };
        if let Some(len) = first {
            let offset = std::str::from_utf8(row.digits).unwrap_or_default();
            return if [16, 10, 8]
                .iter()
                .any(|&radix| u64::from_str_radix(offset, radix) == Ok(len))
            {
                Yes("its second line starts with the number of bytes in the first".into())
            } else {
                No
            };
        }
        let mut bytes = Vec::new();
        let (columns, rest) = row.columns(&mut bytes);
        let zero = row.digits.iter().all(|&c| c == b'0');
        let framed = |from: u8, to: u8| {
            rest.first() == Some(&from) && rest.last() == Some(&to) && rest.len() > 1
        };
        match columns {
            Columns::Text | Columns::Nothing => return No,
            _ if row.colon => return Yes("its first line has an offset, a colon and hex".into()),
            Columns::Bytes if framed(b'|', b'|') || framed(b'>', b'<') => {
                return Yes("its first line has an offset, hex bytes and their text".into());
            }
            _ if !zero => return No,
            // An odd number of digits is no run of bytes.
            _ if row.digits.len() % 2 == 1 || row.blanks > 1 && columns == Columns::Bytes => {
                return Yes("its first line has offset 0 and hex".into());
            }
            // Plain hex that happens to begin with zeros looks the same up to here.
            Columns::Bytes => first = Some(bytes.len() as u64),
            Columns::Words => {
                bytes.clear();
                hex::read(row.rest, &mut bytes);
                first = Some(bytes.len() as u64);
            }
        }
    }
    if end == End::Real { No } else { Open }
}

/// Whether a line that is not complete can still become one of a dump.
fn may_be_row(line: &[u8]) -> bool {
    if [b"#", b";", b"/"]
        .iter()
        .any(|mark| line.starts_with(*mark))
    {
        return true;
    }
    let (_, line) = hex::direction(line);
    let line = line.strip_prefix(b"0x").unwrap_or(line);
    let (digits, rest) = hex::split_digits(line);
    match rest.first() {
        None => digits.len() <= 16,
        Some(&c) => (c == b':' || c.is_ascii_whitespace()) && (4..=16).contains(&digits.len()),
    }
}

fn hex_lines(text: &[u8], end: End) -> Verdict {
    let mut bytes = Vec::new();
    for (number, (line, whole)) in lines(text, end).enumerate() {
        if !is_text(line) {
            return No;
        }
        let (digits, _) = hex::split_digits(line.trim_ascii());
        if digits.len() >= LONG {
            return Yes(format!("line {} is hex digits without end", number + 1));
        }
        if !whole {
            return if may_be_hex(line.trim_ascii_start()) {
                Open
            } else {
                No
            };
        }
        match hex::read(line, &mut bytes).0 {
            Kind::Other => return No,
            // One byte alone is as well a number on a line of its own: the size of an HTTP chunk.
            Kind::Data if bytes.len() >= 2 => {
                return Yes(format!("line {} begins with hex bytes", number + 1));
            }
            Kind::Data | Kind::Comment => {}
        }
    }
    if end == End::Real { No } else { Open }
}

/// Whether a line that is not complete can still become one of hex.
fn may_be_hex(line: &[u8]) -> bool {
    if line.is_empty()
        || [b"#", b";", b"/"]
            .iter()
            .any(|mark| line.starts_with(*mark))
    {
        return true;
    }
    let (_, line) = hex::direction(line);
    let line = line.strip_prefix(b"0x").unwrap_or(line);
    let (digits, rest) = hex::split_digits(line);
    match rest.first() {
        None => true,
        Some(b'x' | b'X') => digits == b"0",
        Some(&c) => {
            digits.len() % 2 == 0
                && !digits.is_empty()
                && (c.is_ascii_whitespace() || b",#;/".contains(&c))
        }
    }
}

fn base64(text: &[u8], end: End) -> Verdict {
    let (mut total, mut width) = (0, None);
    // A line that is shorter than the first, or padded, must be the last.
    let mut over = false;
    for (line, whole) in lines(text, end) {
        let line = if whole {
            line.strip_suffix(b"\r").unwrap_or(line)
        } else {
            line
        };
        if line.is_empty() {
            over |= whole && width.is_some();
            continue;
        }
        let body = line.iter().position(|&c| base64_text::value(c).is_none());
        let (body, pad) = line
            .split_at_checked(body.unwrap_or(line.len()))
            .unwrap_or_default();
        let pad = pad.strip_suffix(b"\r").unwrap_or(pad);
        let len = body.len() + pad.len();
        let padded = pad.is_empty() || (b"==".starts_with(pad) && body.len() % 4 >= 2);
        let width = *width.get_or_insert(if whole { len } else { usize::MAX });
        if over || !padded || len > width {
            return No;
        }
        let group = len % 4;
        if whole && (group == 1 || width < 16 || (!pad.is_empty() && group != 0)) {
            return No;
        }
        total += len;
        over = whole && (len < width || group != 0 || !pad.is_empty());
    }
    match end {
        End::More => Open,
        _ if total >= 16 => Yes(format!("its first {total} characters are base64")),
        _ => No,
    }
}
