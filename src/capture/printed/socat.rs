//! Output of `socat -x`, `-v`, and both.
//!
//! ```text
//!   > 2026/11/22 10:05:02.000655711  length=5 from=0 to=4       from the side that was opened first
//!    7b 22 61 22 7d                                             -x: all bytes in a row
//!    7b 22 61 22 7d                                    {"a"}    -v -x: 16 in a row, with text, and -- at the end
//!   {"a"}< 2026/11/22 ..                                        -v: text; the next heading may follow it directly
//! ```
//!
//! socat(1). `-v` prints a dot for each byte that is not printable ASCII. Times have no zone; they are taken for UTC.

use super::super::chunk::{DirectionSlots, InputPlace, ItemSink, Problem};
use super::super::form::{Form, FormVerdict, InputEnd};
use super::super::lines::{Line, LineForm};
use super::super::time::{self, Time};
use super::super::traffic::{self, Traffic};
use super::{Section, SectionBytes, detect_by_heading, hex_byte};
use crate::protocol::Direction::{self, ToClient, ToServer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SocatHeading {
    direction: Direction,
    time: Option<Time>,
    len: u64,
    from: u64,
}

/// The notation of the bytes below a heading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Columns {
    #[default]
    Undecided,
    Hex,
    Text,
}

#[derive(Default)]
pub(in super::super) struct Socat {
    traffic: Traffic,
    conn: Option<u32>,
    /// The number of bytes of each direction of the connection.
    ends: DirectionSlots<u64>,
    section: SectionBytes,
    columns: Columns,
    has_text: bool,
    /// The text has dots.
    has_dots: bool,
    ignored: u64,
}

pub(in super::super) fn detect(text: &[u8], end: InputEnd) -> FormVerdict {
    let is_heading = |line: &[u8]| heading(line).map(|_| true);
    let may_begin = |line: &[u8]| {
        let mut shape = b"> dddd/dd/dd ".iter();
        line.iter()
            .zip(&mut shape)
            .all(|(byte, wanted)| match wanted {
                b'>' => matches!(byte, b'>' | b'<'),
                b'd' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    detect_by_heading(
        text,
        end,
        "its first line is a heading of socat",
        is_heading,
        may_begin,
    )
}

fn heading(line: &[u8]) -> Option<SocatHeading> {
    let (direction, rest) = match line.split_first_chunk()? {
        (b"> ", rest) => (ToServer, rest),
        (b"< ", rest) => (ToClient, rest),
        _ => return None,
    };
    let text = std::str::from_utf8(rest).ok()?;
    let mut words = text.split_ascii_whitespace();
    let (date, clock) = (words.next()?, words.next()?);
    let mut value = |name: &str| -> Option<u64> { words.next()?.strip_prefix(name)?.parse().ok() };
    let (len, from, to) = (value("length=")?, value("from=")?, value("to=")?);
    if words.next().is_some() || from.checked_add(len)?.saturating_sub(1) != to {
        return None;
    }
    Some(SocatHeading {
        direction,
        time: parse_time(date, clock),
        len,
        from,
    })
}

/// Reads `2026/11/22` and `10:05:02.000655711`. Version 1.7 prints microseconds with nine digits.
fn parse_time(date: &str, clock: &str) -> Option<Time> {
    let (seconds, fraction) = clock.split_once('.')?;
    let whole = time::parse(&format!("{}T{seconds}Z", date.replace('/', "-")))?;
    let digits: u32 = fraction.parse().ok()?;
    let scale = match fraction.len() {
        9 if digits < 1_000_000 => 1000,
        len @ 0..=9 => 10u32.checked_pow(9 - len as u32)?,
        _ => return None,
    };
    Some(whole + Time::from(digits) * Time::from(scale))
}

impl Socat {
    fn heading(&mut self, heading: SocatHeading, sink: &mut ItemSink<'_>) {
        let SocatHeading {
            direction,
            time,
            len,
            from,
        } = heading;
        self.section.start(None, sink);
        // socat with fork serves several connections.
        if from < *self.ends.of(Some(direction)) {
            self.conn = None;
        }
        let (traffic, ends) = (&mut self.traffic, &mut self.ends);
        let conn = *self.conn.get_or_insert_with(|| {
            *ends = DirectionSlots::default();
            traffic.open(Form::Socat, time, &[], sink)
        });
        let end = self.ends.of(Some(direction));
        traffic::emit_lost(conn, direction, time, from.saturating_sub(*end), sink);
        *end = from.saturating_add(len);
        let section = Section {
            conn,
            direction,
            time,
            len: Some(len),
        };
        self.section.start(Some(section), sink);
        self.columns = Columns::Undecided;
    }

    /// Reads text up to the end of the section. Returns what follows it.
    fn text<'a>(&mut self, line: Line<'a>) -> &'a [u8] {
        let mut rest = line.text;
        while self.section.left() > 0 {
            let Some((&byte, after)) = rest.split_first() else {
                // The line end is a byte of the section.
                if line.ended {
                    self.section.bytes.push(b'\n');
                }
                break;
            };
            let escaped = after.first().filter(|_| byte == b'\\');
            let (byte, taken) = match escaped {
                Some(b'r') => (b'\r', 2),
                Some(b'n') => (b'\n', 2),
                Some(b't') => (b'\t', 2),
                Some(b'a') => (0x07, 2),
                Some(b'b') => (0x08, 2),
                Some(b'v') => (0x0b, 2),
                Some(b'f') => (0x0c, 2),
                Some(b'\\') => (b'\\', 2),
                _ => (byte, 1),
            };
            self.section.bytes.push(byte);
            rest = rest.get(taken..).unwrap_or_default();
        }
        rest
    }

    /// Reads a row of hex.
    fn hex(&mut self, row: &[u8]) -> bool {
        let mut rest = row;
        let start = self.section.bytes.len();
        while self.section.left() > 0
            && let Some((byte, after)) = rest.strip_prefix(b" ").and_then(hex_byte)
        {
            self.section.bytes.push(byte);
            rest = after;
        }
        self.section.bytes.len() > start
    }
}

impl LineForm for Socat {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        let mut text = line.text;
        if self.section.section.is_some() && self.section.left() > 0 {
            if self.columns == Columns::Undecided {
                let is_hex = text
                    .strip_prefix(b" ")
                    .and_then(hex_byte)
                    .is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(b" "));
                self.columns = if is_hex { Columns::Hex } else { Columns::Text };
            }
            if self.columns == Columns::Hex {
                if self.hex(text) {
                    self.section.emit_full(sink);
                    return;
                }
            } else {
                self.has_text = true;
                self.has_dots |= text.contains(&b'.');
                text = self.text(line);
                self.section.emit_full(sink);
                if text.is_empty() {
                    return;
                }
            }
        }
        match heading(text) {
            Some(heading) => self.heading(heading, sink),
            None => self.ignored += u64::from(!text.is_empty() && text != b"--"),
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.section.start(None, sink);
        if self.has_dots {
            let text = "a dot may stand for a byte that is not printable ASCII";
            let problem = Problem::note(InputPlace::End, text);
            problem.hint("socat -x prints all bytes").report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}
