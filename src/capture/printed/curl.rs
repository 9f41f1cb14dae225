//! Output of `curl --trace` and `--trace-ascii`.
//!
//! ```text
//!   10:02:03.123456 [0-0] => Send header, 17 bytes (0x11)     time and ids are options
//!   0000: 48 54 54 50 2f 31 2e 31 20 32 30 30 20 4f 4b 0d HTTP/1.1 200 OK.
//!   0010: 0a                                              .
//!   <= Recv header, 17 bytes (0x11)
//!   0000: HTTP/1.1 200 OK                                     CRLF is left out; the next offset shows it
//! ```
//!
//! `lib/tool_cb_dbg.c` of curl. In `--trace-ascii` a dot may stand for any byte that is not printable ASCII. HTTP/2 and
//! HTTP/3 are shown with heads like those of HTTP/1.1, which is how they are read.

use super::super::chunk::{InputPlace, ItemSink, Problem};
use super::super::form::{Form, FormVerdict, InputEnd};
use super::super::hex::split_digits;
use super::super::lines::{Line, LineForm};
use super::super::traffic::Traffic;
use super::{Section, SectionBytes, detect_by_heading, hex_byte};
use crate::protocol::Direction::{self, ToClient, ToServer};

/// A heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CurlHeading<'a> {
    /// A remark.
    Info(&'a [u8]),
    /// Bytes of TLS, and others that are not HTTP.
    Other,
    Data {
        direction: Direction,
        is_head: bool,
        len: u64,
    },
}

/// How bytes were printed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum CurlRows {
    #[default]
    Hex,
    Text,
    /// Text that has dots outside heads.
    TextWithDots,
}

#[derive(Default)]
pub(in super::super) struct Curl {
    traffic: Traffic,
    conn: Option<u32>,
    /// The address in the last remark about a connection.
    connected: Option<String>,
    section: SectionBytes,
    is_head: bool,
    rows: CurlRows,
    /// The value of an event goes on in the next section.
    is_in_event: bool,
    ignored: u64,
}

pub(in super::super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    let is_heading = |line: &[u8]| heading(line).is_some().then_some(true);
    let may_begin = |line: &[u8]| {
        let rest = without_prefix(line);
        let marks = [&b"== Info:"[..], b"=> Send ", b"<= Recv "];
        let is_mark = |mark: &&[u8]| mark.starts_with(rest) || rest.starts_with(mark);
        line.len() <= 4096 && marks.iter().any(is_mark)
    };
    detect_by_heading(
        text,
        end,
        "its first line is one of curl",
        is_heading,
        may_begin,
    )
}

/// Returns a line without the time and the ids that options of curl add.
fn without_prefix(line: &[u8]) -> &[u8] {
    let mut rest = line;
    let is_time = |b: &u8| b.is_ascii_digit() || b":.".contains(b);
    let time = rest.iter().position(|b| !is_time(b)).unwrap_or(rest.len());
    if time > 0 {
        rest = rest.get(time..).unwrap_or_default().trim_ascii_start();
    }
    if let Some(inside) = rest.strip_prefix(b"[") {
        let is_id = |b: &u8| b.is_ascii_digit() || b"-x".contains(b);
        let end = inside.iter().position(|b| !is_id(b));
        match end.and_then(|end| inside.get(end..)) {
            None => return b"",
            Some([b']', after @ ..]) => rest = after.trim_ascii_start(),
            Some(_) => {}
        }
    }
    rest
}

fn heading(line: &[u8]) -> Option<CurlHeading<'_>> {
    let rest = without_prefix(line);
    if let Some(info) = rest.strip_prefix(b"== Info:") {
        return Some(CurlHeading::Info(info));
    }
    let (direction, rest) = match rest.split_first_chunk()? {
        (b"=> Send ", rest) => (ToServer, rest),
        (b"<= Recv ", rest) => (ToClient, rest),
        _ => return None,
    };
    let text = std::str::from_utf8(rest).ok()?;
    let (what, size) = text.split_once(", ")?;
    let (len, hex) = size.strip_suffix(')')?.split_once(" bytes (0x")?;
    let len: u64 = len.parse().ok()?;
    if u64::from_str_radix(hex, 16) != Ok(len) {
        return None;
    }
    Some(match what {
        "header" | "data" => CurlHeading::Data {
            direction,
            is_head: what == "header",
            len,
        },
        _ => CurlHeading::Other,
    })
}

/// Reads the bytes of a row in hex: as many as 16 columns can have of `left`, and the same bytes as text.
fn hex_row(row: &[u8], left: u64, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let count = left.min(16) as usize;
    let mut rest = row;
    for _ in 0..count {
        let Some((byte, after)) = hex_byte(rest) else {
            break;
        };
        out.push(byte);
        rest = after.strip_prefix(b" ").unwrap_or(after);
    }
    let bytes = out.get(start..).unwrap_or_default();
    let text = row.get(48..).unwrap_or_default();
    let same = |(byte, shown): (&u8, &u8)| byte == shown || *shown == b'.';
    let is_hex = bytes.len() == count
        && count > 0
        && text.len() == count
        && bytes.iter().zip(text).all(same);
    if !is_hex {
        out.truncate(start);
    }
    is_hex
}

impl Curl {
    /// Returns true if bytes were printed as text.
    fn has_text(&self) -> bool {
        self.rows != CurlRows::Hex
    }

    fn row(&mut self, offset: u64, row: &[u8], sink: &mut ItemSink<'_>) {
        let has_text = self.has_text();
        let section = &mut self.section;
        let text_ended = has_text && offset == section.offset() + 2;
        if text_ended {
            section.bytes.extend_from_slice(b"\r\n");
        }
        section.skip_to(offset, sink);
        let left = section.left();
        if !hex_row(row, left, &mut section.bytes) {
            let has_dots = !self.is_head && row.contains(&b'.');
            self.rows = self.rows.max(if has_dots {
                CurlRows::TextWithDots
            } else {
                CurlRows::Text
            });
            let len = row.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            section
                .bytes
                .extend_from_slice(row.get(..len).unwrap_or_default());
        }
        section.emit_full(sink);
    }

    /// Ends the section.
    fn end(&mut self, sink: &mut ItemSink<'_>) {
        if self.has_text() && self.section.section.is_some() && self.section.left() == 2 {
            self.section.bytes.extend_from_slice(b"\r\n");
        }
        if self.is_head && self.section.done == 0 {
            name_version(&mut self.section.bytes);
        }
        let is_answer = |section: Section| section.direction == ToClient;
        if self.has_text() && !self.is_head && self.section.section.is_some_and(is_answer) {
            self.restore_events();
        }
        self.section.start(None, sink);
        self.is_head = false;
    }
}

impl Curl {
    /// Restores the line ends of server-sent events in a section.
    fn restore_events(&mut self) {
        let bytes = &mut self.section.bytes;
        if !self.is_in_event {
            self.is_in_event = restore_line_ends(bytes);
        } else if bytes.ends_with(b"}..") {
            self.is_in_event = false;
            let end = bytes.len() - 2;
            bytes.truncate(end);
            bytes.extend_from_slice(b"\n\n");
        }
    }
}

/// Fields of a server-sent event.
const EVENT_FIELDS: [&[u8]; 4] = [b"event: ", b"data: ", b"id: ", b"retry: "];

/// Restores the line ends of server-sent events, which are printed as dots: `event: message.data: {..}..`. Returns true if
/// the JSON of the last one goes on.
fn restore_line_ends(bytes: &mut [u8]) -> bool {
    let is_field = |text: &[u8]| EVENT_FIELDS.iter().any(|field| text.starts_with(field));
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let len = if let Some(value) = rest.strip_prefix(b"data: ") {
            let values = serde_json::Deserializer::from_slice(value);
            let mut values = values.into_iter::<serde::de::IgnoredAny>();
            match values.next() {
                Some(Ok(_)) => Some(rest.len() - value.len() + values.byte_offset()),
                Some(Err(error)) if error.is_eof() => return value.starts_with(b"{"),
                _ => None,
            }
        } else if is_field(rest) {
            let is_end = |end: &usize| is_field(rest.get(end + 1..).unwrap_or_default());
            memchr::memchr_iter(b'.', rest).find(is_end)
        } else {
            // The size of a chunk is before an event.
            let line_end = memchr::memmem::find(rest, b"\r\n");
            line_end.map(|end| end + 2)
        };
        let Some(len) = len else {
            return false;
        };
        at += len;
        for _ in 0..2 {
            if let Some(c) = bytes.get_mut(at).filter(|c| **c == b'.') {
                *c = b'\n';
                at += 1;
            }
        }
    }
}

/// Replaces the version of HTTP/2 and HTTP/3 in the first line of a head by that which has such heads.
fn name_version(head: &mut Vec<u8>) {
    let end = memchr::memchr(b'\n', head).unwrap_or(head.len());
    let line = head.get(..end).unwrap_or_default();
    for version in [&b"HTTP/2"[..], b"HTTP/3"] {
        let at = memchr::memmem::rfind(line, version).filter(|at| {
            let next = line.get(at + version.len());
            next.is_none_or(u8::is_ascii_whitespace)
        });
        if let Some(at) = at {
            head.splice(at..at + version.len(), *b"HTTP/1.1");
            return;
        }
    }
}

impl LineForm for Curl {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        match heading(line.text) {
            Some(CurlHeading::Data {
                direction,
                is_head,
                len,
            }) => {
                self.end(sink);
                let traffic = &mut self.traffic;
                let peer = self.connected.take();
                let conn = *self.conn.get_or_insert_with(|| {
                    traffic.open(Form::Curl, None, &[("connect", peer.as_deref())], sink)
                });
                let section = Section {
                    conn,
                    direction,
                    time: None,
                    len: Some(len),
                };
                self.section.start(Some(section), sink);
                self.is_head = is_head;
            }
            Some(CurlHeading::Other) => self.end(sink),
            Some(CurlHeading::Info(text)) => {
                self.end(sink);
                if let Some(address) = connected(text) {
                    self.conn = None;
                    self.connected = Some(address);
                }
            }
            None => {
                let (digits, rest) = split_digits(line.text);
                let offset = std::str::from_utf8(digits).ok();
                let offset = offset.and_then(|digits| u64::from_str_radix(digits, 16).ok());
                match (offset, rest.strip_prefix(b": ")) {
                    (Some(offset), Some(row)) if digits.len() >= 4 => {
                        if self.section.section.is_some() {
                            self.row(offset, row, sink);
                        }
                    }
                    _ => self.ignored += u64::from(!line.text.is_empty()),
                }
            }
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.end(sink);
        if self.section.total == 0 {
            let text = "curl -v prints heads without bodies";
            let problem = Problem::unreadable(InputPlace::Whole, text);
            problem
                .hint("curl --trace FILE prints all bytes")
                .report(sink);
        }
        if self.rows == CurlRows::TextWithDots {
            let text = "a dot may stand for a byte that is not printable ASCII";
            let problem = Problem::note(InputPlace::End, text);
            problem.hint("curl --trace prints all bytes").report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}

/// Returns the address in a remark about a new connection: `Connected to host (127.0.0.1) port 80 (#0)`.
fn connected(info: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(info).ok()?.trim();
    let (host, rest) = text.strip_prefix("Connected to ")?.split_once(" (")?;
    let port = rest.split_once(") port ")?.1.split(' ').next()?;
    Some(format!("{host}:{port}"))
}
