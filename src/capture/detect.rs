//! Detects the form of the input from its first bytes, as soon as they decide.
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

use super::dump::{self, DumpColumns};
use super::form::{Form, FormReader, FormVerdict, InputEnd};
use super::hex::{self, HexLineKind};
use super::lines::{BOM, LineForm, Lines, split_lines};
#[cfg(feature = "pcap")]
use super::pcap;
use super::printed::{curl, flows, follow, socat};
#[cfg(feature = "pcap")]
use super::printed::{packet_lines, tcpdump, tshark};
use super::readable::is_readable;
use super::text::{Expected, Text, detect_loose, shows_bytes};
use super::{base64_text, har, journald, json_lines, page, recording, strace, unreadable};
use FormVerdict::{No, Open, Yes};

/// Bytes that detection looks at, at most.
pub(super) const LIMIT: usize = 4 << 10;

/// So many hex digits in a row are hex, wherever they end.
const LONG: usize = 2 << 10;

/// A form, how it is recognised from at most [`LIMIT`] bytes at the beginning of an input, and what reads it.
type FormEntry = (
    Form,
    fn(&[u8], InputEnd) -> FormVerdict,
    fn() -> Box<dyn FormReader>,
);

/// The forms except raw, in the order in which they are asked. A further form is a line here and its name in
/// `form.rs`.
const FORMS: &[FormEntry] = &[
    #[cfg(feature = "pcap")]
    (Form::Pcap, pcap::detect, boxed::<pcap::PcapReader>),
    (
        Form::Recording,
        recording::detect,
        lines_of::<recording::Reader>,
    ),
    (
        Form::Jsonl,
        json_lines::detect,
        lines_of::<json_lines::JsonLines>,
    ),
    (Form::Har, har::detect, boxed::<har::Har>),
    (Form::Page, page::detect, lines_of::<page::Page>),
    (Form::Strace, strace::detect, lines_of::<strace::Strace>),
    (Form::Curl, curl::detect, lines_of::<curl::Curl>),
    (Form::Socat, socat::detect, lines_of::<socat::Socat>),
    (
        Form::Ngrep,
        flows::detect_ngrep,
        lines_of::<flows::Flows<flows::Ngrep>>,
    ),
    (
        Form::Tcpflow,
        flows::detect_tcpflow,
        lines_of::<flows::Flows<flows::Tcpflow>>,
    ),
    #[cfg(feature = "pcap")]
    (Form::Tcpdump, tcpdump::detect, lines_of::<tcpdump::Tcpdump>),
    #[cfg(feature = "pcap")]
    (Form::Tshark, tshark::detect, lines_of::<tshark::Tshark>),
    (
        Form::Unreadable,
        unreadable::detect,
        boxed::<unreadable::UnreadableReader>,
    ),
    (Form::Xxd, is_dump, lines_of::<dump::Dump>),
    (Form::Dump, is_word_dump, || {
        text_of(Some(Form::Dump), Form::Dump)
    }),
    (Form::Text, |_, _| No, || text_of(None, Form::Raw)),
    (Form::Text, follow::detect, boxed::<follow::Follow>),
    (
        Form::Text,
        journald::detect,
        boxed::<journald::JournalExport>,
    ),
    #[cfg(feature = "pcap")]
    (
        Form::Text,
        packet_lines::detect,
        lines_of::<packet_lines::PacketLines>,
    ),
    (Form::Text, is_loose_hex, || text_of(None, Form::Hex)),
    (Form::Hex, is_hex_lines, lines_of::<hex::Hex>),
    (
        Form::Base64,
        base64_text::detect,
        boxed::<base64_text::Base64>,
    ),
    (Form::Text, is_readable, || text_of(None, Form::Raw)),
    (
        Form::Literal,
        |_, _| No,
        || text_of(Some(Form::Literal), Form::Literal),
    ),
    (Form::Log, |_, _| No, || text_of(Some(Form::Log), Form::Log)),
];

fn boxed<F: FormReader + Default + 'static>() -> Box<dyn FormReader> {
    Box::<F>::default()
}

fn lines_of<F: LineForm + Default + 'static>() -> Box<dyn FormReader> {
    Box::new(Lines::new(F::default()))
}

fn text_of(wanted: Option<Form>, otherwise: Form) -> Box<dyn FormReader> {
    Box::new(Text::new(wanted, otherwise))
}

/// The reader of a form; `None` for raw bytes.
pub(super) fn reader(form: Form) -> Option<Box<dyn FormReader>> {
    let (_, _, reader) = FORMS.iter().find(|(known, ..)| *known == form)?;
    Some(reader())
}

/// A form, why, and its reader; none for raw bytes.
pub(super) type DetectedForm = (Form, String, Option<Box<dyn FormReader>>);

/// The form, or `None` where more bytes are needed to tell. `ended` says that there are none.
/// If the bytes are exactly what one side sent, JSON is never repaired.
pub(super) fn detect(
    bytes: &[u8],
    ended: bool,
    is_exact: bool,
    expected: Expected,
) -> Option<DetectedForm> {
    let view = bytes.get(..LIMIT).unwrap_or(bytes);
    let end = match (bytes.len() > LIMIT, ended) {
        (true, _) => InputEnd::Limit,
        (false, true) => InputEnd::Real,
        (false, false) => InputEnd::More,
    };
    let text = view.strip_prefix(BOM).unwrap_or(view);
    if end == InputEnd::More && BOM.starts_with(view) {
        return None;
    }
    for (form, detect, reader) in FORMS {
        match detect(text, end) {
            Yes(evidence) => return Some((*form, evidence, Some(reader()))),
            Open if end == InputEnd::More => return None,
            Open | No => {}
        }
    }
    let loose = match text.trim_ascii_start().first() {
        Some(b'{' | b'[') if !is_exact => detect_loose(text, end, expected),
        _ => No,
    };
    match loose {
        Yes(evidence) => return Some((Form::Log, evidence, reader(Form::Log))),
        Open => return None,
        No => {}
    }
    if matches!(text.trim_ascii_start().first(), Some(b'{' | b'['))
        && !is_exact
        && shows_bytes(text, expected)
    {
        let evidence = "its first object has bytes in hex or in Base64".into();
        return Some((Form::Text, evidence, reader(Form::Text)));
    }
    let evidence = match text.trim_ascii_start().first() {
        None => "it is empty".into(),
        Some(b'{' | b'[') => "it is JSON, but neither a recording nor output of decode".into(),
        Some(_) => "it is not a recording, decoded JSON, a hex dump or base64".into(),
    };
    Some((Form::Raw, evidence, None))
}

fn is_text(line: &[u8]) -> bool {
    !line
        .iter()
        .any(|&c| c.is_ascii_control() && !c.is_ascii_whitespace())
}

/// Leaves the evidence if the second value is the wanted one.
fn only(found: FormVerdict<(String, bool)>, wanted: bool) -> FormVerdict {
    match found {
        Yes((evidence, is)) if is == wanted => Yes(evidence),
        Yes(_) | No => No,
        Open => Open,
    }
}

fn is_dump(text: &[u8], end: InputEnd) -> FormVerdict {
    only(find_rows(text, end), false)
}

/// Rows whose columns are not hex bytes.
fn is_word_dump(text: &[u8], end: InputEnd) -> FormVerdict {
    only(find_rows(text, end), true)
}

/// Finds rows with offsets; with the evidence and true if their columns are words or binary.
fn find_rows(text: &[u8], end: InputEnd) -> FormVerdict<(String, bool)> {
    let mut words = false;
    // Bytes of the first row, whose own offset is only known from that of the second row.
    let mut first: Option<u64> = None;
    for (line, whole) in split_lines(text, end) {
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
                Yes((
                    "its second line starts with the number of bytes in the first".into(),
                    words,
                ))
            } else {
                No
            };
        }
        let mut bytes = Vec::new();
        let (columns, rest) = row.columns(&mut bytes);
        let zero = row.digits.iter().all(|&c| c == b'0');
        words = columns == DumpColumns::Words || is_binary(row.rest);
        let framed = |from: u8, to: u8| {
            rest.first() == Some(&from) && rest.last() == Some(&to) && rest.len() > 1
        };
        // A number in decimal may begin as a byte does.
        let next = rest
            .split(u8::is_ascii_whitespace)
            .next()
            .unwrap_or_default();
        let is_long = next.len() > 2 || next.len() == 1 && !row.colon;
        let is_number = is_long && next.iter().all(|c| c.is_ascii_digit() || *c == b'-');
        match columns {
            DumpColumns::Text | DumpColumns::Nothing => return No,
            DumpColumns::Bytes if bytes.len() < 4 && is_number => return No,
            _ if row.colon => {
                return Yes((
                    "its first line has an offset, a colon and hex".into(),
                    words,
                ));
            }
            DumpColumns::Bytes if framed(b'|', b'|') || framed(b'>', b'<') => {
                return Yes((
                    "its first line has an offset, hex bytes and their text".into(),
                    words,
                ));
            }
            _ if !zero => return No,
            // An odd number of digits is no run of bytes.
            _ if row.digits.len() % 2 == 1 || row.blanks > 1 && columns == DumpColumns::Bytes => {
                return Yes(("its first line has offset 0 and hex".into(), words));
            }
            // Plain hex that happens to begin with zeros looks the same up to here.
            DumpColumns::Bytes => first = Some(bytes.len() as u64),
            DumpColumns::Words => {
                bytes.clear();
                hex::read(row.rest, &mut bytes);
                first = Some(bytes.len() as u64);
            }
        }
    }
    if end == InputEnd::Real { No } else { Open }
}

/// Returns true if the columns are bytes in binary: `00000000 01000001`.
fn is_binary(columns: &[u8]) -> bool {
    let mut tokens = columns.split(u8::is_ascii_whitespace).take(2);
    let is_byte = |t: &[u8]| t.len() == 8 && t.iter().all(|c| matches!(c, b'0' | b'1'));
    tokens.next().is_some_and(is_byte) && tokens.next().is_none_or(|t| t.is_empty() || is_byte(t))
}

/// Returns `true` if an incomplete line can still become a line of a dump.
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

fn is_hex_lines(text: &[u8], end: InputEnd) -> FormVerdict {
    only(find_hex(text, end), false)
}

/// Hex that may as well be words, numbers in another base, or prose.
fn is_loose_hex(text: &[u8], end: InputEnd) -> FormVerdict {
    only(find_hex(text, end), true)
}

/// Finds lines of hex; with the evidence and true if something else begins in the same way.
fn find_hex(text: &[u8], end: InputEnd) -> FormVerdict<(String, bool)> {
    let mut bytes = Vec::new();
    for (number, (line, whole)) in split_lines(text, end).enumerate() {
        if !is_text(line) {
            return No;
        }
        let (digits, _) = hex::split_digits(line.trim_ascii());
        if digits.len() >= LONG {
            let evidence = format!("line {} is hex digits without end", number + 1);
            return Yes((evidence, false));
        }
        if !whole {
            return if may_be_hex(line.trim_ascii_start()) {
                Open
            } else {
                No
            };
        }
        let (kind, _, rest) = hex::read(line, &mut bytes);
        match kind {
            HexLineKind::Other => return No,
            // The name of a variable may be two digits: `f0 = ...`.
            HexLineKind::Data if rest.trim_ascii_start().starts_with(b"= ") => return No,
            // One byte alone is as well a number on a line of its own: the size of an HTTP chunk.
            HexLineKind::Data if bytes.len() >= 2 => {
                let evidence = format!("line {} begins with hex bytes", number + 1);
                // The heading of a dump numbers its columns.
                let is_heading = bytes.len() >= 8 && bytes.iter().copied().eq(0..bytes.len() as u8);
                let is_payload = hex::last_cell(line).is_some();
                return Yes((evidence, !is_payload && (is_heading || is_loose(line))));
            }
            HexLineKind::Data | HexLineKind::Comment => {}
        }
    }
    if end == InputEnd::Real { No } else { Open }
}

/// Returns true if a line of hex is neither pairs of digits nor one long token.
fn is_loose(line: &[u8]) -> bool {
    let (_, text) = hex::direction(line.trim_ascii());
    let mut bytes = Vec::new();
    let (_, _, rest) = hex::read(line, &mut bytes);
    let data = text
        .get(..text.len().saturating_sub(rest.len()))
        .unwrap_or(text);
    let mut tokens = data
        .split(|c| c.is_ascii_whitespace() || *c == b',')
        .filter(|token| !token.is_empty())
        .map(|token| token.strip_prefix(b"0x").unwrap_or(token));
    let pairs = tokens.clone().all(|token| token.len() == 2);
    let one = tokens.next().is_some() && tokens.next().is_none();
    let digits = data.iter().any(u8::is_ascii_digit);
    let plain = rest.is_empty() || hex::is_comment(rest);
    !(pairs && (digits || plain) || one && plain)
}

/// Returns `true` if an incomplete line can still become a line of hex.
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
