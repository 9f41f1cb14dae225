//! How a line comes to fit a terminal: blanks give way first, then what can be told from a part of it, and the rest
//! is cut where everybody sees it.
//!
//! ```text
//!   100 and more   index offset size B  kind            subject                  outcome    id  ↩ #n 1 ms
//!    64 to 99      narrower columns
//!    48 to 63      no size
//!    under 48      no offset
//! ```
//!
//! Where there is no terminal, nothing gives way.

use super::super::fields::subject;
use super::super::style::{escape, shorten};
use super::super::{Look, findings, kind};
use super::kind_column;
use crate::decoder::Decoded;
use crate::protocol::session::Answer;
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Room for each thing in a line, at least; what is longer takes more.
pub(super) struct Columns {
    pub index: usize,
    pub conn: usize,
    /// `None`: left out, as is the size then.
    pub offset: Option<usize>,
    pub size: Option<usize>,
    pub kind: usize,
    pub subject: usize,
    pub outcome: usize,
}

impl Columns {
    fn of(look: Look, kind: usize) -> Self {
        let columns = Self::new(look.width, kind);
        if !look.unplaced {
            return columns;
        }
        Self {
            offset: None,
            size: None,
            ..columns
        }
    }

    fn new(width: Option<usize>, kind: usize) -> Self {
        let narrow = |offset, size, most: usize, subject, outcome| Self {
            index: 3,
            conn: 3,
            offset,
            size,
            kind: kind.min(most),
            subject,
            outcome,
        };
        match width.unwrap_or(usize::MAX) {
            0..48 => narrow(None, None, 8, 8, 4),
            48..64 => narrow(Some(5), None, 10, 12, 6),
            64..100 => narrow(Some(6), Some(5), 14, 16, 8),
            _ => Self {
                index: 5,
                ..narrow(Some(8), Some(6), kind, 24, 10)
            },
        }
    }
}

/// What stands in a line, and how much room each has. With a terminal's width, the texts are as they will be seen.
pub(super) struct Cells<'a> {
    pub columns: Columns,
    /// `#3`, where connections are told apart.
    pub conn: String,
    pub kind: Cow<'a, str>,
    pub subject: Cow<'a, str>,
    pub outcome: Cow<'a, str>,
    pub id: Cow<'a, str>,
    pub answer: String,
    terminal: bool,
}

impl<'a> Cells<'a> {
    pub fn of(
        decoded: &Decoded<'a>,
        answer: Option<&Answer>,
        tells_answer: bool,
        look: Look,
    ) -> Self {
        let message = decoded.message;
        let subject = subject(decoded, look.show_secrets).unwrap_or_default();
        let mut cells = Self {
            columns: Columns::of(look, kind_column(decoded.protocol)),
            conn: decoded
                .origin
                .conn
                .map_or(String::new(), |c| format!("#{c}")),
            kind: shorten(&kind(message, "-"), 40).into_owned().into(),
            subject: Cow::Owned(shorten(&subject, 60).into_owned()),
            outcome: shorten(&findings::outcome(decoded, answer), 40)
                .into_owned()
                .into(),
            id: Cow::Owned(shorten(&message.id.text(), 60).into_owned()),
            answer: answer
                .filter(|_| tells_answer)
                .map_or(String::new(), findings::answer),
            terminal: look.width.is_some(),
        };
        if let Some(width) = look.width {
            cells.fit(
                width,
                decoded.index,
                decoded.frame.offset,
                decoded.frame.len,
            );
        }
        cells
    }

    /// A text and the blanks after it.
    pub fn pad(&self, text: &str, column: usize) -> String {
        let wide = if self.terminal {
            text.width()
        } else {
            text.chars().count()
        };
        format!("{text}{}", " ".repeat(column.saturating_sub(wide)))
    }

    fn fit(&mut self, width: usize, index: u64, offset: u64, len: u64) {
        for text in [
            &mut self.kind,
            &mut self.subject,
            &mut self.outcome,
            &mut self.id,
        ] {
            if let Cow::Owned(visible) = escape(text) {
                *text = Cow::Owned(visible);
            }
        }
        // Nobody sees the blanks at a line's end.
        if self.id.is_empty() && self.answer.is_empty() {
            self.columns.outcome = 0;
            if self.outcome.is_empty() {
                self.columns.subject = 0;
            }
        }
        // A long outcome begins further left, so that ids stand below each other.
        let mut long = self.outcome.width().saturating_sub(self.columns.outcome);
        give(&mut self.columns.subject, self.subject.width(), &mut long);

        let digits = |n: u64| n.to_string().len();
        let mut over = self.width(digits(index), digits(offset), digits(len));
        over = over.saturating_sub(width);
        let columns = &mut self.columns;
        give(&mut columns.subject, self.subject.width(), &mut over);
        give(&mut columns.outcome, self.outcome.width(), &mut over);
        // Fourteen characters of a UUID tell it from its neighbours.
        shrink(&mut self.id, 14, &mut over, middle);
        give(&mut columns.kind, self.kind.width(), &mut over);
        narrow(&mut self.subject, &mut columns.subject, 24, &mut over);
        if let Some(column) = &mut columns.size {
            give(column, digits(len), &mut over);
        }
        if let Some(column) = &mut columns.offset {
            give(column, digits(offset), &mut over);
        }
        give(&mut columns.index, digits(index), &mut over);
        give(&mut columns.conn, self.conn.len(), &mut over);
        narrow(&mut self.subject, &mut columns.subject, 16, &mut over);
        narrow(&mut self.kind, &mut columns.kind, 12, &mut over);
        shrink(&mut self.id, 8, &mut over, middle);
        // How long an answer took can be asked for again; whose answer it is, is what lines are read for.
        let whose = self.answer.splitn(3, ' ').take(2).collect::<Vec<_>>();
        let whose = whose.join(" ");
        if over > 0 && whose.len() < self.answer.len() {
            over = over.saturating_sub(self.answer.width() - whose.width());
            self.answer = whose;
        }
        narrow(&mut self.subject, &mut columns.subject, 8, &mut over);
        narrow(&mut self.outcome, &mut columns.outcome, 10, &mut over);
        narrow(&mut self.kind, &mut columns.kind, 6, &mut over);
        shrink(&mut self.id, 4, &mut over, middle);
        narrow(&mut self.subject, &mut columns.subject, 3, &mut over);
    }

    /// How wide the line is.
    fn width(&self, index: usize, offset: usize, len: usize) -> usize {
        let columns = &self.columns;
        let conn = match self.conn.len() {
            0 => 0,
            conn => conn.max(columns.conn) + 1,
        };
        let place = match (columns.offset, columns.size) {
            (Some(column), Some(size)) => column.max(offset) + size.max(len) + 6,
            (Some(column), None) => column.max(offset) + 3,
            (None, _) => 1,
        };
        let answer = match self.answer.width() {
            0 => 0,
            wide => wide + 2,
        };
        let texts = [
            (columns.index, index),
            (columns.kind, self.kind.width()),
            (columns.subject, self.subject.width()),
            (columns.outcome, self.outcome.width()),
        ];
        let texts = texts.iter().map(|(column, text)| column.max(text) + 1);
        // A second blank stands after the kind, and one more is the arrow.
        texts.sum::<usize>() + 1 + conn + 1 + place + self.id.width() + answer
    }
}

/// Takes blanks from a column, as far as its text allows and as many as are needed.
fn give(column: &mut usize, text: usize, over: &mut usize) {
    let blank = column.saturating_sub(text).min(*over);
    *column -= blank;
    *over -= blank;
}

/// Shortens a text, as much as is needed, but not below some width.
fn shrink(text: &mut Cow<'_, str>, least: usize, over: &mut usize, how: fn(&str, usize) -> String) {
    let wide = text.width();
    let room = wide.saturating_sub(*over).max(least);
    if room < wide {
        let short = how(text, room);
        *over = over.saturating_sub(wide - short.width());
        *text = Cow::Owned(short);
    }
}

/// Shortens a text in a column that has no blanks left.
fn narrow(text: &mut Cow<'_, str>, column: &mut usize, least: usize, over: &mut usize) {
    let wide = text.width();
    shrink(text, least, over, head);
    if text.width() < wide {
        *column = text.width();
    }
}

/// As much of a text's beginning as there is room for, and an ellipsis.
fn head(text: &str, room: usize) -> String {
    let mut out = first(text.chars(), room.saturating_sub(1));
    out.push('…');
    out
}

/// As much of both ends as there is room for, and an ellipsis between them.
fn middle(text: &str, room: usize) -> String {
    let room = room.saturating_sub(1);
    let mut out = first(text.chars(), room / 2);
    let tail = first(text.chars().rev(), room - room / 2);
    out.push('…');
    out.extend(tail.chars().rev());
    out
}

fn first(chars: impl Iterator<Item = char>, mut room: usize) -> String {
    let mut out = String::new();
    for c in chars {
        let wide = c.width().unwrap_or(0);
        if wide > room {
            break;
        }
        room -= wide;
        out.push(c);
    }
    out
}

/// A line, cut with an ellipsis where a terminal ends; colour codes take no room.
pub(super) fn push_fitted(line: &str, look: Look, out: &mut String) {
    let line = line.trim_end();
    match look.width.filter(|width| visible(line) > *width) {
        None => out.push_str(line),
        Some(width) => cut(line, width.saturating_sub(1), out),
    }
    out.push('\n');
}

/// Columns that a line takes.
fn visible(line: &str) -> usize {
    let mut code = false;
    line.chars()
        .map(|c| {
            code |= c == '\u{1b}';
            let wide = if code { 0 } else { c.width().unwrap_or(0) };
            code &= c != 'm';
            wide
        })
        .sum()
}

/// As much of a line as there is room for, an ellipsis, and all colour codes, so that none stays on.
fn cut(line: &str, mut room: usize, out: &mut String) {
    let (mut code, mut full) = (false, false);
    for c in line.chars() {
        code |= c == '\u{1b}';
        if code {
            out.push(c);
            code = c != 'm';
            continue;
        }
        let wide = c.width().unwrap_or(0);
        if !full && wide > room {
            if !out.ends_with('…') {
                out.push('…');
            }
            full = true;
        }
        if !full {
            room -= wide;
            out.push(c);
        }
    }
}
