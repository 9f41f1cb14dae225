//! Lines that children wrote to stderr, between the messages.

use crate::capture::{Event, EventKind, write_time};
use crate::encoding::json::write_str;
use crate::framing::fields::text_secrets;
use crate::protocol::HIDDEN;
use crate::render::DisplayOptions;
use crate::render::format::Format;
use crate::render::line::clock;
use crate::render::style::Highlight;
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum length of a line, in bytes. A longer one is shown in parts.
const MAX_LINE: usize = 1 << 16;
/// Maximum number of connections whose lines are joined. Beyond, what is read at once is a line.
const MAX_OPEN: usize = 1 << 10;

/// Joins the reads of stderr to lines.
#[derive(Default)]
pub struct StderrLines {
    /// The starts of lines that have not ended, by connection.
    open: BTreeMap<u32, Vec<u8>>,
    /// The index of the message before.
    after: Option<u64>,
    /// The time of the last read.
    time: Option<i64>,
}

impl StderrLines {
    /// Records the index of a message.
    pub fn see(&mut self, index: u64) {
        self.after = Some(index);
    }

    /// Writes the lines that end with an event.
    pub fn add(
        &mut self,
        event: &Event<'_>,
        format: Format,
        display: DisplayOptions,
        out: &mut Vec<u8>,
    ) {
        match event.what {
            EventKind::Stderr(bytes) => {
                self.time = event.origin().time.or(self.time);
                let mut line = self.open.remove(&event.conn).unwrap_or_default();
                for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                    line.extend_from_slice(part);
                    let is_full = line.len() >= MAX_LINE || self.open.len() >= MAX_OPEN;
                    if part.ends_with(b"\n") || is_full {
                        self.write(event.conn, &line, format, display, out);
                        line.clear();
                    }
                }
                if !line.is_empty() {
                    self.open.insert(event.conn, line);
                }
            }
            EventKind::Close | EventKind::Reset | EventKind::Exit => {
                if let Some(line) = self.open.remove(&event.conn) {
                    self.write(event.conn, &line, format, display, out);
                }
            }
            _ => {}
        }
    }

    /// Writes the lines that have not ended, and starts another input.
    pub fn end(&mut self, format: Format, display: DisplayOptions, out: &mut Vec<u8>) {
        for (conn, line) in std::mem::take(&mut self.open) {
            self.write(conn, &line, format, display, out);
        }
        *self = Self::default();
    }

    fn write(
        &self,
        conn: u32,
        line: &[u8],
        format: Format,
        display: DisplayOptions,
        out: &mut Vec<u8>,
    ) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if format == Format::Json {
            self.write_json(conn, line, display, out);
            return;
        }
        let mut text = String::from_utf8_lossy(line).into_owned();
        if !display.show_secrets {
            let secrets = text_secrets(text.as_bytes());
            let ranges = secrets.into_iter().map(|secret| secret.range);
            let mut ranges: Vec<Range<usize>> = ranges.collect();
            ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
            for range in ranges {
                if text.get(range.clone()).is_some() {
                    text.replace_range(range, HIDDEN);
                }
            }
        }
        let time = self
            .time
            .map_or(String::new(), |time| format!("{} ", clock(time)));
        let source = display.sources.and_then(|all| all.name_of(Some(conn)));
        let source = source.map_or(String::new(), |name| format!("{name} "));
        let mut shown = String::new();
        display.style.push_wire(
            &mut shown,
            Highlight::Dim,
            &format!("        {time}{source}c{conn} stderr: {text}"),
        );
        shown.push('\n');
        out.extend_from_slice(shown.as_bytes());
    }

    fn write_json(&self, conn: u32, line: &[u8], display: DisplayOptions, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{{\"v\":1,\"conn\":{conn}").as_bytes());
        write_time("time", self.time, out);
        out.extend_from_slice(b",\"kind\":\"stderr\",\"role\":\"control\",\"message\":");
        match std::str::from_utf8(line) {
            Ok(text) => write_str(text, out),
            Err(_) => {
                out.extend_from_slice(format!("{{\"$str\":\"{}\"}}", hex::encode(line)).as_bytes());
            }
        }
        if let Some(after) = self.after {
            out.extend_from_slice(format!(",\"after\":{after}").as_bytes());
        }
        let source = display.sources.and_then(|all| all.name_of(Some(conn)));
        if let Some(name) = source {
            out.extend_from_slice(b",\"src\":");
            write_str(name, out);
        }
        out.extend_from_slice(b"}\n");
    }
}
