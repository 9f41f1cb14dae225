//! Writes one aligned line per frame.
//!
//! ```text
//!   index  offset conn time or +delta  kind      subject   id            latency detail
//!       0       0 #1   10:00:00.120  → invoke    pow       1                     [2, 10]
//!       1       0 #1       +0.6 ms   ← result    pow       1              611 µs [1024]
//! ```
//!
//! The module `columns` selects the columns that fit the width.

mod columns;
mod content;
mod pairs;

use super::style::{Highlight, Style, escape};
use super::wrap::write_wrapped;
use super::{DisplayOptions, arrow, findings, kind_text, short_id, subject};
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::framing::Framing;
use crate::protocol::session::Answer;
use crate::protocol::{Direction, Notes, Role};
use columns::{Columns, fit, push_cut, width};
use content::Content;
use pairs::Pairs;
use std::borrow::Cow;

/// Up to this time in nanoseconds since the previous line, a line shows the delta; after that, the clock.
const MAX_DELTA: i64 = 1_000_000_000;
/// The minimum width for ids; it grows with the ids.
const MIN_IDS: usize = 4;
/// The width of `http-response`, if HTTP carries messages.
const HTTP_KIND_WIDTH: usize = 13;

/// Writes lines. Use one writer for the whole run: times are relative to the previous line.
pub struct Lines {
    /// The time of the previous line.
    last: Option<i64>,
    pairs: Pairs,
    notes: Notes,
    /// The line being written; the memory is reused.
    line: String,
    cell: String,
    /// The width for kinds, and the protocol that it belongs to.
    kinds: (&'static str, usize),
    /// The width for ids.
    ids: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            last: None,
            pairs: Pairs::default(),
            notes: Notes::of_secrets(),
            line: String::new(),
            cell: String::new(),
            kinds: ("", 0),
            ids: MIN_IDS,
        }
    }
}

/// Writes one line as [`Lines::write`] does, without previous lines.
pub fn write(
    decoded: &Decoded<'_>,
    verdict: Option<Verdict<'_>>,
    display: DisplayOptions,
    out: &mut String,
) {
    Lines::default().write(decoded, verdict, display, out);
}

impl Lines {
    /// Sets the time of the previous line; without one, the next line shows the time of day.
    #[cfg(feature = "cli")]
    pub(crate) fn set_last_time(&mut self, time: Option<i64>) {
        self.last = time;
    }

    /// Writes one line, with its line end, and one more line per fault. With a verdict it writes a line per finding
    /// instead; the findings include the faults.
    pub fn write(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Option<Verdict<'_>>,
        display: DisplayOptions,
        out: &mut String,
    ) {
        self.row(decoded, verdict.and_then(|v| v.answer), display, out);
        for finding in verdict.map_or(&[][..], |v| v.findings) {
            findings::write_below(finding, Some(decoded.index), display, out);
        }
        if verdict.is_none() {
            faults(decoded, display, out);
        }
        for remark in decoded.remarks {
            let style = display.style;
            write_wrapped(display, 8, out, |out| {
                style.push_wire(out, Highlight::Note, &format!("      ! {remark}"));
            });
        }
    }

    fn row(
        &mut self,
        decoded: &Decoded<'_>,
        answer: Option<&Answer>,
        display: DisplayOptions,
        out: &mut String,
    ) {
        let (message, origin, style) = (decoded.message, decoded.origin, display.style);
        let latency = match answer {
            Some(answer) => answer.latency,
            None => self.pairs.latency(decoded),
        };
        let (id, to) = (message.id.text(), answer.map(|answer| answer.to));
        let id = match to.filter(|_| id.is_empty()) {
            // Nothing else names the request.
            Some(to) => Cow::Owned(format!("↩ #{to}")),
            None => short_id(&id),
        };
        self.ids = self.ids.max(width(&id));
        let columns = self.columns(decoded, display);
        let mut row = Row {
            style,
            cuts: display.width.is_some(),
            out: std::mem::take(&mut self.line),
            cell: std::mem::take(&mut self.cell),
            used: 0,
        };
        if let Some(index) = columns.index {
            row.push_right(Highlight::Dim, index, |cell| {
                push_number(decoded.index, cell);
            });
        }
        if let Some(offset) = columns.offset {
            row.push_right(Highlight::Dim, offset, |cell| {
                push_number(decoded.frame.offset, cell);
            });
        }
        if let Some(conn) = origin.conn {
            row.cell.push('#');
            push_number(conn.into(), &mut row.cell);
            row.push_left(Highlight::Dim, 3);
        }
        if columns.time
            && let Some(time) = origin.time
        {
            let since = self
                .last
                .replace(time)
                .map(|last| time.saturating_sub(last));
            row.push_right(Highlight::Dim, columns::TIME_WIDTH, |cell| {
                push_time(time, since, cell);
            });
        }
        let highlight = match origin.direction {
            Some(Direction::ToServer) => Highlight::ToServer,
            Some(Direction::ToClient) => Highlight::ToClient,
            None => Highlight::Dim,
        };
        row.push_text(highlight, 1, arrow(origin.direction));
        let is_error = message.is_error();
        let highlight = match message.role {
            Some(Role::Error) => Highlight::Error,
            Some(Role::Control | Role::Heartbeat) => Highlight::Dim,
            _ => Highlight::Kind,
        };
        row.push_text(highlight, columns.kind, &kind_text(message, "-"));
        let subject = subject::subject(decoded, answer, display.show_secrets).unwrap_or_default();
        row.push_text(Highlight::Plain, columns.subject, &subject);
        row.push_text(Highlight::Dim, columns.id, &id);
        if columns.latency {
            row.push_right(Highlight::Note, columns::LATENCY_WIDTH, |cell| {
                if let Some(latency) = latency {
                    cell.push_str(&findings::duration(latency));
                }
            });
        }
        let space = columns.detail_width(row.used);
        let outcome = findings::outcome(decoded, answer);
        row.cell.push_str(&outcome);
        if columns.content || is_error {
            let content = Content {
                show_secrets: display.show_secrets,
                space: if is_error {
                    space.max(columns.error)
                } else {
                    space
                },
            };
            content.push(decoded, &mut self.notes, &mut row.cell);
        }
        if !row.cell.is_empty() {
            let (cell, highlight) = (
                escape(&row.cell),
                if is_error {
                    Highlight::Error
                } else {
                    Highlight::Plain
                },
            );
            let space = if is_error {
                space.max(columns.error)
            } else {
                space
            };
            // The outcome of a message is not cut in a file.
            let space = if row.cuts {
                space
            } else {
                space.max(outcome.len())
            };
            style.push(&mut row.out, highlight, &fit(&cell, space));
        }
        push_cut(row.out.trim_end(), display, out);
        row.out.clear();
        row.cell.clear();
        (self.line, self.cell) = (row.out, row.cell);
    }

    fn columns(&mut self, decoded: &Decoded<'_>, display: DisplayOptions) -> Columns {
        let descriptor = decoded.protocol.descriptor();
        if self.kinds.0 != descriptor.name {
            let kinds = descriptor.kinds.iter().map(|kind| kind.name.len());
            // If protocols alternate, the column fits all of them.
            let most = kinds.max().unwrap_or_default().max(self.kinds.1);
            self.kinds = (descriptor.name, most);
        }
        if matches!(decoded.frame.framing, Framing::Http | Framing::WebSocket) {
            self.kinds.1 = self.kinds.1.max(HTTP_KIND_WIDTH);
        }
        let time = decoded.origin.time.is_some();
        Columns::new(display, self.kinds.1, self.ids, time)
    }
}

/// A line, and the text of the current cell.
struct Row {
    style: Style,
    /// Text that is too long for its column is cut.
    cuts: bool,
    out: String,
    cell: String,
    /// The number of columns of `out`.
    used: usize,
}

impl Row {
    /// Adds the cell, aligned left in its column.
    fn push_left(&mut self, highlight: Highlight, column: usize) {
        let cell = std::mem::take(&mut self.cell);
        self.push_text(highlight, column, &cell);
        self.cell = cell;
        self.cell.clear();
    }

    /// Adds a text, aligned left in its column.
    fn push_text(&mut self, highlight: Highlight, column: usize, text: &str) {
        let text = escape(text);
        let text = if self.cuts {
            fit(&text, column)
        } else {
            Cow::Borrowed(text.as_ref())
        };
        let wide = width(&text);
        if wide > 0 {
            self.style.push(&mut self.out, highlight, &text);
        }
        self.used += wide;
        self.push_blank(column.saturating_sub(wide) + 1);
    }

    /// Adds a cell that `write` fills, aligned right in its column.
    fn push_right(&mut self, highlight: Highlight, column: usize, write: impl FnOnce(&mut String)) {
        write(&mut self.cell);
        let wide = width(&self.cell);
        self.push_blank(column.saturating_sub(wide));
        if wide > 0 {
            self.style.push(&mut self.out, highlight, &self.cell);
        }
        self.used += wide;
        self.cell.clear();
        self.push_blank(1);
    }

    fn push_blank(&mut self, columns: usize) {
        const BLANK: &str = "                                ";
        self.used += columns;
        let mut left = columns;
        while left > 0 {
            let some = BLANK.get(..left).unwrap_or(BLANK);
            self.out.push_str(some);
            left -= some.len();
        }
    }
}

fn push_number(number: u64, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Adds the UTC time of day, or the time since the previous line.
fn push_time(time: i64, since: Option<i64>, out: &mut String) {
    if let Some(since) = since.filter(|since| (0..MAX_DELTA).contains(since)) {
        out.push('+');
        out.push_str(&findings::duration(since));
        return;
    }
    out.push_str(&clock(time));
}

/// Returns the UTC time of day: `10:00:00.120`.
pub(crate) fn clock(time: i64) -> String {
    let ms = time.rem_euclid(86_400_000_000_000) / 1_000_000;
    let (s, ms) = (ms / 1000, ms % 1000);
    format!("{:02}:{:02}:{:02}.{ms:03}", s / 3600, s / 60 % 60, s % 60)
}

fn faults(decoded: &Decoded<'_>, display: DisplayOptions, out: &mut String) {
    let style = display.style;
    for (offset, fault) in decoded.faults() {
        write_wrapped(display, 8, out, |out| {
            style.push(out, Highlight::Error, "      ✗ ");
            let place = if display.without_positions {
                String::new()
            } else {
                format!("offset {offset}: ")
            };
            let text = format!("{}: {place}{fault}", fault.code);
            style.push_wire(out, Highlight::Error, &text);
            if let Some(hint) = &fault.hint {
                style.push_wire(out, Highlight::Note, &format!(" — {hint}"));
            }
        });
    }
}

#[cfg(test)]
mod tests;
