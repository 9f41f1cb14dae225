//! Output of `ngrep -x` and `tcpflow -c -D`: both name the two addresses above the bytes.
//!
//! ```text
//!   T 127.0.0.1:56366 -> 127.0.0.1:38663 [AP] #4
//!     00 00 00 55 85 a7 76 65    72 73 69 6f 6e 01 a4 74    ...U..version..t
//!
//!   127.000.000.001.56366-127.000.000.001.38663:
//!   0000: 0000 0055 85a7 7665 7273 696f 6e01 a474 7970 65a4  ...U..version..type.
//! ```
//!
//! ngrep(8), tcpflow(1). The handshake is not printed: the side that sends first is taken for the client, unless only its
//! port is one that servers have.

use super::super::chunk::{InputPlace, ItemSink, Problem};
use super::super::form::{Form, FormVerdict, InputEnd};
use super::super::hex::split_digits;
use super::super::lines::{Line, LineForm};
use super::super::time::{self, Time};
use super::super::traffic::{MAX_CONNECTIONS, Traffic};
use super::{Section, SectionBytes, detect_by_heading, hex_byte, hex_groups};
use crate::protocol::Direction::{ToClient, ToServer};
use std::collections::HashMap;

/// The first port that systems give to clients.
const FIRST_CLIENT_PORT: u16 = 32_768;

/// The two addresses of a heading: of the sender, and of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct FlowHeading<'a> {
    from: &'a str,
    to: &'a str,
    time: Option<Time>,
    is_tcp: bool,
}

/// The output format of a tool.
pub(in super::super) trait FlowTool: Send {
    const FORM: Form;
    /// The advice if bytes were not printed.
    const HINT: &str;
    fn heading(line: &[u8]) -> Option<FlowHeading<'_>>;
    /// Appends the bytes of a row; false if it is none.
    fn row(line: &[u8], out: &mut Vec<u8>) -> bool;
}

#[derive(Default)]
pub(in super::super) struct Ngrep;
#[derive(Default)]
pub(in super::super) struct Tcpflow;

#[derive(Default)]
pub(in super::super) struct Flows<T> {
    traffic: Traffic,
    /// The connections by the addresses of client and server.
    conns: HashMap<(String, String), u32>,
    section: SectionBytes,
    headings: u64,
    ignored: u64,
    tool: std::marker::PhantomData<T>,
}

impl<T: FlowTool> Flows<T> {
    fn start(&mut self, heading: FlowHeading<'_>, sink: &mut ItemSink<'_>) {
        let FlowHeading {
            from,
            to,
            time,
            is_tcp,
        } = heading;
        if !is_tcp {
            return self.section.start(None, sink);
        }
        let forward = (from.to_owned(), to.to_owned());
        let back = (to.to_owned(), from.to_owned());
        let (conn, direction) = match (self.conns.get(&forward), self.conns.get(&back)) {
            (Some(conn), _) => (*conn, ToServer),
            (None, Some(conn)) => (*conn, ToClient),
            (None, None) => {
                let is_server = |address| port(address).is_some_and(|p| p < FIRST_CLIENT_PORT);
                let answers = is_server(from) && !is_server(to);
                let (key, direction) = if answers {
                    (back, ToClient)
                } else {
                    (forward, ToServer)
                };
                let addresses = [
                    ("peer", Some(key.0.as_str())),
                    ("connect", Some(key.1.as_str())),
                ];
                let conn = self.traffic.open(T::FORM, time, &addresses, sink);
                if self.conns.len() >= MAX_CONNECTIONS {
                    self.conns.clear();
                }
                self.conns.insert(key, conn);
                (conn, direction)
            }
        };
        let section = Section {
            conn,
            direction,
            time,
            len: None,
        };
        self.section.start(Some(section), sink);
    }
}

impl<T: FlowTool> LineForm for Flows<T> {
    fn line(&mut self, line: Line<'_>, sink: &mut ItemSink<'_>) {
        if let Some(heading) = T::heading(line.text) {
            self.headings += 1;
            self.start(heading, sink);
        } else if !T::row(line.text, &mut self.section.bytes) {
            self.section.emit(sink);
            self.ignored += u64::from(!line.text.is_empty());
        } else if self.section.section.is_none() {
            self.section.bytes.clear();
        } else {
            self.section.emit_full(sink);
        }
    }

    fn finish(&mut self, sink: &mut ItemSink<'_>) {
        self.section.start(None, sink);
        if self.headings > 0 && self.section.total == 0 {
            let text = format!("the {} packets have no bytes in hex", T::FORM.name());
            let problem = Problem::unreadable(InputPlace::Whole, text);
            problem.hint(T::HINT).report(sink);
        }
    }

    fn ignored(&self) -> u64 {
        self.ignored
    }
}

/// Returns the port of `127.0.0.1:80` and `127.000.000.001.00080`.
fn port(address: &str) -> Option<u16> {
    address.rsplit([':', '.']).next()?.parse().ok()
}

impl FlowTool for Ngrep {
    const FORM: Form = Form::Ngrep;
    const HINT: &str = "ngrep -x prints them, ngrep -O FILE.pcap saves them";

    fn heading(line: &[u8]) -> Option<FlowHeading<'_>> {
        let text = std::str::from_utf8(line).ok()?;
        let (kind, rest) = text.split_once(' ')?;
        let (before, after) = rest.split_once(" -> ")?;
        let (to, _) = after.split_once(' ').unwrap_or((after, ""));
        let (stamp, from) = before.rsplit_once(' ').unwrap_or(("", before));
        let is_address = |text: &str| text.contains(':') && port(text).is_some();
        let is_kind = matches!(kind, "T" | "U" | "I" | "I6" | "?");
        let time = stamp.replacen('/', "-", 2).replacen(' ', "T", 1);
        (is_kind && is_address(from) && is_address(to)).then(|| FlowHeading {
            from,
            to,
            time: time::parse(&(time + "Z")),
            is_tcp: kind == "T",
        })
    }

    fn row(line: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        for n in 0..16 {
            // Four blanks separate the halves.
            let column = if n < 8 { 2 + n * 3 } else { 5 + n * 3 };
            match line.get(column..).and_then(hex_byte) {
                Some((byte, rest)) if rest.first().is_none_or(|b| *b == b' ') => out.push(byte),
                _ => break,
            }
        }
        let is_row = out.len() > start && line.starts_with(b"  ");
        if !is_row {
            out.truncate(start);
        }
        is_row
    }
}

impl FlowTool for Tcpflow {
    const FORM: Form = Form::Tcpflow;
    const HINT: &str = "tcpflow -c -D prints them, tcpflow without -c saves them";

    fn heading(line: &[u8]) -> Option<FlowHeading<'_>> {
        let text = std::str::from_utf8(line)
            .ok()?
            .trim_end()
            .strip_suffix(':')?;
        let name = text.rsplit('/').next()?;
        let (from, to) = name.split_once('-')?;
        let is_address = |text: &str| {
            let parts = || text.split(['.', ':']);
            parts().count() >= 5
                && parts()
                    .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit()))
                && port(text).is_some()
        };
        (is_address(from) && is_address(to)).then_some(FlowHeading {
            from,
            to,
            time: None,
            is_tcp: true,
        })
    }

    fn row(line: &[u8], out: &mut Vec<u8>) -> bool {
        let (digits, rest) = split_digits(line);
        let (4.., Some(row)) = (digits.len(), rest.strip_prefix(b":")) else {
            return false;
        };
        let start = out.len();
        hex_groups(row, out);
        out.len() > start
    }
}

pub(in super::super) fn detect_ngrep(text: &[u8], end: InputEnd) -> FormVerdict {
    let is_heading = |line: &[u8]| match Ngrep::heading(line) {
        Some(_) => Some(true),
        None if is_ngrep_note(line) => Some(false),
        None => None,
    };
    let may_begin = |line: &[u8]| {
        let kinds = [&b"T "[..], b"U ", b"I ", b"I6 "];
        kinds
            .iter()
            .any(|kind| kind.starts_with(line) || line.starts_with(kind))
            || NGREP_NOTES.iter().any(|note| note.starts_with(line))
            || is_ngrep_note(line)
    };
    detect_by_heading(
        text,
        end,
        "its first packet is one of ngrep",
        is_heading,
        may_begin,
    )
}

/// The lines that ngrep prints before the packets.
const NGREP_NOTES: [&[u8]; 4] = [b"input: ", b"filter: ", b"interface: ", b"match: "];

fn is_ngrep_note(line: &[u8]) -> bool {
    // It prints a number sign for each packet that does not match.
    NGREP_NOTES.iter().any(|note| line.starts_with(note)) || line.iter().all(|b| *b == b'#')
}

pub(in super::super) fn detect_tcpflow(text: &[u8], end: InputEnd) -> FormVerdict {
    let is_heading = |line: &[u8]| Tcpflow::heading(line).map(|_| true);
    let may_begin = |line: &[u8]| {
        let name = line.rsplit(|b| *b == b'/').next().unwrap_or_default();
        let is_part = |b: &u8| b.is_ascii_hexdigit() || b".-: ".contains(b);
        line.len() <= 4096
            && name.iter().all(is_part)
            && line.first().is_some_and(u8::is_ascii_graphic)
    };
    detect_by_heading(
        text,
        end,
        "its first line names the two addresses of a flow, as tcpflow does",
        is_heading,
        may_begin,
    )
}
