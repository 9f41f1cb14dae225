//! Writes one aligned line per frame.
//!
//! ```text
//!   index   offset conn time or +delta kind      subject   id    latency detail
//!      #0        0 c1   10:00:00.120 → invoke    pow       1             [2, 10]
//!      #1        0 c1        +0.6 ms ← result              1      611 µs [1024]
//! ```
//!
//! The module `columns` selects the columns that fit the width.

mod columns;
mod content;
mod pairs;

use super::style::{Highlight, escape};
use super::wrap::write_wrapped;
use super::{DisplayOptions, arrow, context_sign, findings, kind_text, short_id, subject};
use crate::capture::Sources;
use crate::conversation::Verdict;
use crate::decoder::Decoded;
use crate::framing::Framing;
use crate::protocol::session::Answer;
use crate::protocol::{Direction, Notes, Role};
#[cfg(feature = "cli")]
pub(super) use columns::push_blank;
use columns::{CellText, Column, Columns, USUAL, Widths};
pub(super) use columns::{fit, push_cut};
use content::{Content, MAX_TEXT};
#[cfg(feature = "cli")]
pub(crate) use content::{content, content_text, names};
pub(crate) use content::{shown, shown_names};
use pairs::Pairs;
use std::borrow::Cow;

/// Up to this time in nanoseconds since the previous line, a line shows the delta; after that, the clock.
const MAX_DELTA: i64 = 1_000_000_000;
/// The width of `http-response`, if HTTP carries messages.
const HTTP_KIND_WIDTH: usize = 13;
/// The width of most subjects, in a file.
const SUBJECT_WIDTH: usize = 20;
/// The width of `999.9 ms`.
const LATENCY_WIDTH: usize = 8;
/// Writes lines. Use one writer for the whole run: times are relative to the previous line.
pub struct Lines {
    /// The time of the previous line.
    last: Option<i64>,
    pairs: Pairs,
    notes: Notes,
    /// The cells, and the line being written; the memory is reused.
    cells: CellText,
    line: String,
    cell: String,
    /// The width for kinds, and the protocol that it belongs to.
    kinds: (String, usize),
    widths: Widths,
    /// Widths come from lines only, not from what is usual.
    follows: bool,
    /// Lines are written with marks, for [`Lines::lay_out`].
    holds: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            last: None,
            pairs: Pairs::default(),
            notes: Notes::of_secrets(),
            cells: CellText::default(),
            line: String::new(),
            cell: String::new(),
            kinds: (String::new(), 0),
            widths: USUAL,
            follows: false,
            holds: false,
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

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

impl Lines {
    /// Sets the time of the previous line; without one, the next line shows the time of day.
    #[cfg(feature = "cli")]
    pub(crate) fn set_last_time(&mut self, time: Option<i64>) {
        self.last = time;
    }

    /// Stores the request of later answers, from a message without a line.
    #[cfg(feature = "cli")]
    pub(crate) fn skip(&mut self, decoded: &Decoded<'_>) {
        self.pairs.request_of(decoded, None);
    }

    /// Writes the next lines with marks, until [`Lines::lay_out`]: their columns are as wide as what they show.
    #[cfg(feature = "cli")]
    pub(crate) fn hold(&mut self) {
        if !self.follows {
            (self.widths, self.follows) = (columns::LEAST, true);
        }
        self.holds = true;
    }

    /// Lays out lines that were written with marks, for a terminal. Later lines keep the widths.
    #[cfg(feature = "cli")]
    pub(crate) fn lay_out(&mut self, text: &str, display: DisplayOptions, out: &mut String) {
        self.holds = false;
        let columns = Columns::new(display);
        // A subject that continues in blank columns needs their final widths.
        for continues in [false, true] {
            for (mut cells, detail) in text.lines().filter_map(columns::split) {
                if columns::continues(&cells) == continues {
                    if continues && detail.is_empty() {
                        // All columns after it are blank.
                        cells[Column::Subject as usize] = ("", 0);
                    }
                    columns.widen(&cells, &mut self.widths);
                }
            }
        }
        for line in text.lines() {
            let Some((cells, detail)) = columns::split(line) else {
                out.push_str(line);
                out.push('\n');
                continue;
            };
            let row = &mut self.line;
            let used = columns.place(&cells, &self.widths, detail.is_empty(), row);
            let space = columns.detail_width(used);
            if super::wrap::columns(detail) > space {
                columns::cut(detail, space, row);
            } else {
                row.push_str(detail);
            }
            push_cut(row.trim_end(), display, out);
            row.clear();
        }
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
        self.row(decoded, verdict.unwrap_or_default(), display, out);
        for finding in verdict.map_or(&[][..], |v| v.findings) {
            findings::write_below(finding, Some(decoded.index), display, out);
        }
        if verdict.is_none_or(|v| v.without_findings) {
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
        verdict: Verdict<'_>,
        display: DisplayOptions,
        out: &mut String,
    ) {
        let (columns, answer) = (Columns::new(display), verdict.answer);
        if !self.follows {
            self.expect_usual(decoded, &columns, display.sources);
        }
        self.fill_cells(decoded, verdict, display, &columns);
        let (is_error, style) = (decoded.message.is_error(), display.style);
        let cells = self.cells.finish();
        let row = &mut self.line;
        let space = if self.holds {
            display.width.unwrap_or_default()
        } else {
            columns.widen(&cells, &mut self.widths);
            let used = columns.place(&cells, &self.widths, false, row);
            columns.detail_width(used)
        };
        let space = if is_error {
            space.max(columns.error)
        } else {
            space
        };
        let cell = &mut self.cell;
        cell.clear();
        let outcome = findings::outcome(decoded, answer, display.show_secrets);
        cell.push_str(&outcome);
        if columns.content || is_error {
            let show_secrets = display.show_secrets;
            let used = if self.holds {
                cells.iter().map(|(_, wide)| wide + 1).sum()
            } else {
                0
            };
            let content = Content {
                show_secrets,
                space,
                text: MAX_TEXT,
                escapes: true,
            };
            let free = columns.cuts.then(|| space.saturating_sub(used));
            content.fill(decoded, free, &mut self.notes, cell);
        }
        // The outcome of a message is not cut in a file.
        let space = if columns.cuts {
            space
        } else {
            space.max(outcome.len())
        };
        let text = escape(cell);
        let highlight = if is_error {
            Highlight::Error
        } else {
            Highlight::Plain
        };
        #[cfg(feature = "cli")]
        if self.holds {
            if !text.is_empty() {
                style.push(row, highlight, &fit(&text, space));
            }
            columns::write_marked(&cells, row, out);
            row.clear();
            return;
        }
        if !text.is_empty() {
            style.push(row, highlight, &fit(&text, space));
        } else if columns.cuts && columns::continues(&cells) {
            row.clear();
            columns.place(&cells, &self.widths, true, row);
        }
        push_cut(row.trim_end(), display, out);
        row.clear();
    }

    /// Writes the cells of a message, apart from the last one.
    fn fill_cells(
        &mut self,
        decoded: &Decoded<'_>,
        verdict: Verdict<'_>,
        display: DisplayOptions,
        columns: &Columns,
    ) {
        let answer = verdict.answer;
        let (message, origin, style) = (decoded.message, decoded.origin, display.style);
        let request = self.pairs.request_of(decoded, display.sources);
        let latency = match answer {
            Some(answer) => answer.latency,
            None => request.latency(decoded),
        };
        let id = message.id.text();
        let id = id_cell(&id, answer);
        self.cells.clear();
        let (cells, cell) = (&mut self.cells, &mut self.cell);
        let mut push = |column, highlight, write: &dyn Fn(&mut String)| {
            if columns.shows(column) {
                cell.clear();
                write(cell);
                cells.push(column, style, highlight, cell);
            }
        };
        push(Column::Index, Highlight::Dim, &|cell| {
            cell.push_str(context_sign(display));
            cell.push('#');
            push_number(decoded.index, cell);
        });
        push(Column::Offset, Highlight::Dim, &|cell| {
            push_number(decoded.frame.offset, cell);
        });
        if let Some(name) = display.sources.and_then(|all| all.name_of(origin.conn)) {
            push(Column::Source, Highlight::Key, &|cell| cell.push_str(name));
        }
        if let Some(conn) = origin.conn {
            push(Column::Conn, Highlight::Dim, &|cell| {
                cell.push('c');
                push_number(conn.into(), cell);
            });
        }
        if let Some(who) = verdict.client {
            push(Column::Who, Highlight::Dim, &|cell| cell.push_str(who));
        }
        if let Some(time) = origin.time.filter(|_| columns.shows(Column::Time)) {
            let last = self.last.replace(time);
            let since = last.map(|last| time.saturating_sub(last));
            push(Column::Time, Highlight::Dim, &|cell| {
                push_time(time, since, cell);
            });
        }
        let highlight = match origin.direction {
            Some(Direction::ToServer) => Highlight::ToServer,
            Some(Direction::ToClient) => Highlight::ToClient,
            None => Highlight::Dim,
        };
        push(Column::Arrow, highlight, &|cell| {
            cell.push_str(arrow(origin.direction));
        });
        push(
            Column::Kind,
            kind_highlight(message.role, display),
            &|cell| {
                cell.push_str(&kind_text(message, "-"));
            },
        );
        let asked = answer.and_then(|answer| answer.subject.as_deref());
        let asked = asked.or_else(|| self.pairs.subject(request));
        let (highlight, subject) = subject_cell(decoded, answer, asked, display);
        push(Column::Subject, highlight, &|cell| {
            cell.push_str(&subject);
        });
        push(Column::Id, Highlight::Dim, &|cell| cell.push_str(&id));
        if let Some(latency) = latency {
            push(Column::Latency, Highlight::Note, &|cell| {
                findings::push_duration(latency, cell);
            });
        }
    }

    /// Widens columns for what is usual in a protocol and in a capture with times.
    fn expect_usual(
        &mut self,
        decoded: &Decoded<'_>,
        columns: &Columns,
        sources: Option<&Sources>,
    ) {
        let protocol = decoded.protocol;
        if self.kinds.0 != protocol.name() {
            let kinds = protocol.kinds().iter().map(|kind| kind.name.len());
            // If protocols alternate, the column fits all of them.
            let most = kinds.max().unwrap_or_default().max(self.kinds.1);
            self.kinds.0.clear();
            self.kinds.0.push_str(protocol.name());
            self.kinds.1 = most;
        }
        if matches!(decoded.frame.framing, Framing::Http | Framing::WebSocket) {
            self.kinds.1 = self.kinds.1.max(HTTP_KIND_WIDTH);
        }
        let mut expect = |column: Column, wide: usize| {
            let mut widths = self.widths.iter_mut().zip(columns.most);
            if let Some((width, most)) = widths.nth(column as usize) {
                *width = wide.min(most).max(*width);
            }
        };
        expect(Column::Kind, self.kinds.1);
        if let Some(sources) = sources {
            let wide = sources.short_names().map(columns::width).max();
            expect(Column::Source, wide.unwrap_or_default());
        }
        if !columns.cuts {
            expect(Column::Subject, SUBJECT_WIDTH);
        }
        if decoded.origin.time.is_some() {
            expect(Column::Latency, LATENCY_WIDTH);
        }
    }
}

fn kind_highlight(role: Option<Role>, display: DisplayOptions) -> Highlight {
    match role {
        Some(Role::Error) => Highlight::Error,
        Some(Role::Control | Role::Heartbeat) => Highlight::Dim,
        _ if display.context => Highlight::Dim,
        _ => Highlight::Kind,
    }
}

/// Returns the id of a message, or the request that it answers if nothing else names that.
fn id_cell<'a>(id: &'a str, answer: Option<&Answer>) -> Cow<'a, str> {
    match answer.filter(|_| id.is_empty()) {
        Some(answer) => Cow::Owned(format!("↩ #{}", answer.to)),
        None => short_id(id),
    }
}

/// Returns the subject of a message and its highlight. `asked`: that of its request.
fn subject_cell<'a>(
    decoded: &Decoded<'a>,
    answer: Option<&'a Answer>,
    asked: Option<&'a str>,
    display: DisplayOptions,
) -> (Highlight, Cow<'a, str>) {
    let own = subject::subject(decoded, answer, display.show_secrets);
    let highlight = match own {
        Some(_) => Highlight::Plain,
        None => Highlight::Dim,
    };
    // Snapshots are stored: their lines stay as they are.
    let asked = asked.filter(|_| !display.without_positions);
    let asked = asked.map(|asked| subject::masked_subject(asked, display.show_secrets));
    let subject = subject::of_answer(decoded, own, asked).unwrap_or_default();
    let subject = match display.width {
        Some(width) if subject.len() > width => fit(&subject, width).into_owned().into(),
        _ => subject,
    };
    (highlight, subject)
}

fn push_number(number: u64, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Adds the UTC time of day, or the time since the previous line.
fn push_time(time: i64, since: Option<i64>, out: &mut String) {
    if let Some(since) = since.filter(|since| (0..MAX_DELTA).contains(since)) {
        out.push('+');
        findings::push_duration(since, out);
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
