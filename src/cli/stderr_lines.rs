//! Lines that children wrote to stderr: joined from reads, and as text for a screen.

use crate::capture::{Event, EventKind};
use crate::framing::fields::text_secrets;
use crate::protocol::HIDDEN;
use crate::render::DisplayOptions;
use crate::render::line::clock;
use crate::render::style::Highlight;
use std::collections::BTreeMap;
use std::ops::Range;

/// Maximum length of a line, in bytes. A longer one is shown in parts.
const MAX_LINE: usize = 1 << 16;
/// Maximum number of connections whose lines are joined. Beyond, the bytes of each read are a line.
const MAX_OPEN: usize = 1 << 10;

/// Joins the reads of stderr to lines.
#[derive(Default)]
pub struct StderrLines {
    /// The starts of lines that have not ended, by connection.
    open: BTreeMap<u32, Vec<u8>>,
    /// The time of the last read.
    time: Option<i64>,
}

/// A line of stderr, without its end.
#[derive(Clone, Copy)]
pub struct StderrLine<'a> {
    pub conn: u32,
    pub time: Option<i64>,
    pub bytes: &'a [u8],
}

impl StderrLines {
    /// Passes on the lines that end with an event.
    pub fn add(&mut self, event: &Event<'_>, visit: &mut dyn FnMut(StderrLine<'_>)) {
        match event.what {
            EventKind::Stderr(bytes) => {
                self.time = event.origin().time.or(self.time);
                let mut line = self.open.remove(&event.conn).unwrap_or_default();
                for part in bytes.split_inclusive(|byte| *byte == b'\n') {
                    line.extend_from_slice(part);
                    let is_full = line.len() >= MAX_LINE || self.open.len() >= MAX_OPEN;
                    if part.ends_with(b"\n") || is_full {
                        self.pass(event.conn, &line, visit);
                        line.clear();
                    }
                }
                if !line.is_empty() {
                    self.open.insert(event.conn, line);
                }
            }
            EventKind::Close | EventKind::Reset | EventKind::Exit => {
                if let Some(line) = self.open.remove(&event.conn) {
                    self.pass(event.conn, &line, visit);
                }
            }
            _ => {}
        }
    }

    /// Passes on the lines that have not ended, and starts another input.
    pub fn end(&mut self, visit: &mut dyn FnMut(StderrLine<'_>)) {
        for (conn, line) in std::mem::take(&mut self.open) {
            self.pass(conn, &line, visit);
        }
        *self = Self::default();
    }

    fn pass(&self, conn: u32, line: &[u8], visit: &mut dyn FnMut(StderrLine<'_>)) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let bytes = line.strip_suffix(b"\r").unwrap_or(line);
        visit(StderrLine {
            conn,
            time: self.time,
            bytes,
        });
    }
}

impl StderrLine<'_> {
    /// Writes the line for a screen, without its secrets.
    pub fn write(self, display: DisplayOptions, out: &mut String) {
        let mut text = String::from_utf8_lossy(self.bytes).into_owned();
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
        let conn = self.conn;
        let time = self
            .time
            .map_or(String::new(), |time| format!("{} ", clock(time)));
        let source = display.sources.and_then(|all| all.name_of(Some(conn)));
        let source = source.map_or(String::new(), |name| format!("{name} "));
        display.style.push_wire(
            out,
            Highlight::Dim,
            &format!("        {time}{source}c{conn} stderr: {text}"),
        );
        out.push('\n');
    }
}
