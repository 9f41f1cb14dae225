//! The panes about the selected message: its tree, its bytes, and the state of the conversation at it.

use super::Theme;
use super::fit::{window, wrap};
use crate::cli::watch::command::Pane;
use crate::cli::watch::entry::Entry;
use crate::cli::watch::model::Model;
use crate::cli::watch::store::Store;
use crate::framing::{OwnedPlaces, View as FrameView};
use crate::protocol::Notes;
use crate::render::findings::{duration, write_below};
use crate::render::style::{Highlight, escape};
use crate::render::tree::{self, TreeLine};
use crate::render::{DisplayOptions, hex, line};
use crate::span::Span;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span as TextSpan};

/// The maximum number of bytes that the pane shows.
const MAX_BYTES: usize = 1 << 20;
/// The maximum number of open requests, connections and findings that are listed.
const MAX_LISTED: usize = 20;
/// The width of the pane from which on a row has 16 bytes, not 8.
const WIDE_BYTES: u16 = 75;
/// The number of columns of a step to the right, which in a wrapped text is a row.
const STEP: usize = 8;

/// The selected message, as far as it was computed.
#[derive(Default)]
pub(super) struct DetailView {
    /// The content depends on these: the message, its findings, its other message, and the width.
    key: Option<(usize, usize, Option<usize>, u16)>,
    notes: Notes,
    tree: Vec<TreeLine>,
    /// The first line of the tree on the screen.
    tree_top: usize,
    /// The line of the tree of each row on the screen.
    rows: Vec<usize>,
    bytes: Vec<u8>,
    /// The number of bytes that are not shown.
    cut: usize,
    places: Option<OwnedPlaces>,
    secrets: Vec<Span>,
}

impl DetailView {
    /// Decodes the selected message, if another was decoded last.
    pub fn update(&mut self, model: &mut Model, display: DisplayOptions, width: u16) {
        let shared = model.shared.clone();
        let store = shared.store();
        let other = store.entries.get(model.selected).and_then(Entry::other);
        let key = (
            model.selected,
            store.findings_of(model.selected),
            other,
            width,
        );
        if self.key == Some(key) {
            return;
        }
        self.key = Some(key);
        let display = DisplayOptions {
            width: Some(usize::from(width)),
            ..display
        };
        let Self {
            notes,
            tree,
            bytes,
            cut,
            places,
            secrets,
            ..
        } = self;
        store.read(model.selected, &mut model.reader, |decoded, verdict| {
            *tree = tree::lines(decoded, Some(verdict), display, notes);
            *secrets = hex::secret_spans(decoded, display, notes);
            let view = decoded.frame.view;
            let shown = view.bytes.get(..MAX_BYTES).unwrap_or(view.bytes);
            *bytes = shown.to_vec();
            *cut = view.bytes.len() - shown.len();
            *places = Some(OwnedPlaces::of(view.places));
        });
        drop(store);
        self.tree_top = 0;
    }

    /// Returns the number of lines of the tree.
    pub fn height(&self) -> usize {
        self.tree.len()
    }

    /// Returns the line of the tree at a row of the screen.
    pub fn tree_line(&self, row: usize) -> usize {
        self.rows
            .get(row)
            .or(self.rows.last())
            .copied()
            .unwrap_or_default()
    }

    /// Returns the rows of the tree on the screen; those of the selected line are marked.
    pub fn tree_lines(
        &mut self,
        model: &mut Model,
        theme: Theme,
        area: Rect,
    ) -> Vec<Line<'static>> {
        let (height, width) = (usize::from(area.height), usize::from(area.width));
        model.tree_line = model.tree_line.min(self.tree.len().saturating_sub(1));
        let (selected, column) = (model.tree_line, model.look.column);
        let wraps = model.look.wraps;
        let rows_of = |number: usize, line: &TreeLine| {
            let mut rows = if wraps {
                wrap(&theme.line(&line.text), width)
            } else {
                vec![window(&theme.line(&line.text), column, width)]
            };
            if wraps && number == selected {
                // A value that is longer than the pane is scrolled inside.
                let skipped = (column / STEP).min(rows.len().saturating_sub(1));
                rows.drain(..skipped);
            }
            rows
        };
        // The selected line is on the screen.
        let mut top = selected;
        let mut used = self
            .tree
            .get(top)
            .map_or(0, |line| rows_of(top, line).len());
        while top > self.tree_top
            && let Some(line) = self.tree.get(top - 1)
        {
            used += rows_of(top - 1, line).len();
            if used > height {
                break;
            }
            top -= 1;
        }
        self.tree_top = top;
        let (mut shown, mut numbers) = (Vec::new(), Vec::new());
        for (number, line) in self.tree.iter().enumerate().skip(self.tree_top) {
            if shown.len() >= height {
                break;
            }
            for row in rows_of(number, line) {
                shown.push(if number == selected && model.focus == Pane::Tree {
                    row.patch_style(Style::new().add_modifier(Modifier::REVERSED))
                } else {
                    row
                });
                numbers.push(number);
            }
        }
        self.rows = numbers;
        shown
    }

    /// Returns the rows of bytes on the screen; those of the selected field are marked, secrets are hidden.
    pub fn byte_lines(&self, model: &mut Model, theme: Theme, area: Rect) -> Vec<Line<'static>> {
        let per_row = if area.width >= WIDE_BYTES { 16 } else { 8 };
        let height = usize::from(area.height);
        let rows = self.bytes.len().div_ceil(per_row) + usize::from(self.cut > 0);
        let marked = self.tree.get(model.tree_line).map(|line| line.span);
        let marked = marked.filter(|span| span.len > 0);
        if let Some(span) = marked.filter(|_| model.focus != Pane::Bytes) {
            let row = span.at() / per_row;
            if row < model.bytes_top || row >= model.bytes_top + height {
                model.bytes_top = row.saturating_sub(height / 4);
            }
        }
        model.bytes_top = model.bytes_top.min(rows.saturating_sub(1));
        let mut lines = Vec::new();
        let places = self.places.as_ref();
        let chunks = self.bytes.chunks(per_row).enumerate();
        for (row, bytes) in chunks.skip(model.bytes_top).take(height) {
            let first = row * per_row;
            let offset = places.map_or(0, |places| {
                let view = FrameView {
                    bytes: &self.bytes,
                    body: Span::default(),
                    places: places.borrow(),
                };
                view.locate(first)
            });
            let mut line = Line::from(TextSpan::styled(
                format!("{offset:08x}  "),
                theme.style(Highlight::Dim),
            ));
            let mut text = Vec::new();
            for (at, byte) in (first..).zip(bytes) {
                let is_secret = self.secrets.iter().any(|span| span.contains(at));
                let (hex, c) = match byte {
                    _ if is_secret => ("··".to_owned(), '·'),
                    b' '..=b'~' => (format!("{byte:02x}"), char::from(*byte)),
                    _ => (format!("{byte:02x}"), '.'),
                };
                let is_marked = marked.is_some_and(|span| span.contains(at));
                let style = if is_marked {
                    Style::new().add_modifier(Modifier::REVERSED)
                } else {
                    Style::new()
                };
                line.push_span(TextSpan::styled(hex, style));
                line.push_span(TextSpan::raw(" "));
                text.push(TextSpan::styled(c.to_string(), style));
            }
            line.push_span(" ".repeat((per_row - bytes.len()) * 3 + 1));
            line.extend(text);
            lines.push(line);
        }
        if lines.len() < height && self.cut > 0 {
            lines.push(Line::from(format!("and {} more bytes", self.cut)));
        }
        lines
    }
}

/// Returns the state of the conversation at the selected message.
pub(super) fn state_lines(model: &mut Model, theme: Theme, area: Rect) -> Vec<Line<'static>> {
    let shared = model.shared.clone();
    let store = shared.store();
    let mut lines = Vec::new();
    let mut push = |highlight: Highlight, text: &str| {
        let text = escape(text).into_owned();
        lines.push(Line::styled(text, theme.style(highlight)));
    };
    let mut named = |index: usize| {
        let what = store.read(index, &mut model.reader, |decoded, _| {
            let subject = decoded.message.subject.as_deref().unwrap_or_default();
            format!("{} {subject}", decoded.message.kind)
        });
        format!("  #{index} {}", what.unwrap_or_default().trim_end())
    };
    let index = model.selected;
    let now = store.entries.get(index).and_then(Entry::time);
    if let Some(now) = now {
        push(Highlight::Plain, &format!("time {}", line::clock(now)));
    }
    let open = store.open_at(index, MAX_LISTED + 1);
    push(Highlight::Key, &counted(open.len(), "open request"));
    for request in open.iter().take(MAX_LISTED) {
        let waits = waits(&store, *request, index);
        push(Highlight::Plain, &(named(*request) + &waits));
    }
    let subscriptions = subscriptions(&store, index);
    if !subscriptions.is_empty() {
        let count = counted(subscriptions.len(), "subscription");
        push(Highlight::Key, &count);
        for request in subscriptions.iter().rev().take(MAX_LISTED) {
            push(Highlight::Plain, &named(*request));
        }
    }
    let conns = open_connections(&store, index);
    if !conns.is_empty() {
        push(Highlight::Key, &counted(conns.len(), "open connection"));
        let conns = conns.iter().take(MAX_LISTED).map(|conn| format!("c{conn}"));
        let text = format!("  {}", conns.collect::<Vec<_>>().join(" "));
        push(Highlight::Plain, &text);
    }
    let versions = store.versions.iter().filter(|named| named.index <= index);
    let conn = store.entries.get(index).and_then(Entry::conn);
    let versions: Vec<_> = versions.filter(|named| named.conn == conn).collect();
    if !versions.is_empty() {
        push(Highlight::Key, "versions");
        for named in versions.iter().rev().take(MAX_LISTED) {
            let text = format!("  #{} {}", named.index, named.text);
            push(Highlight::Plain, &text);
        }
    }
    for (title, texts) in [
        ("who must send next", &store.status.waiting),
        ("notes", &store.status.notes),
    ] {
        if !texts.is_empty() {
            push(Highlight::Key, title);
            for text in texts {
                push(Highlight::Plain, &format!("  {text}"));
            }
        }
    }
    let mut findings = String::new();
    for finding in store.other_findings().iter().take(MAX_LISTED) {
        write_below(finding, None, DisplayOptions::default(), &mut findings);
    }
    for text in findings.lines() {
        push(Highlight::Error, text.trim_start());
    }
    let width = usize::from(area.width);
    let mut lines: Vec<_> = lines
        .into_iter()
        .flat_map(|line| wrap(&line, width))
        .collect();
    model.state_top = model.state_top.min(lines.len().saturating_sub(1));
    lines.drain(..model.state_top);
    lines
}

/// `2 open requests`.
fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        n if n > MAX_LISTED => format!("more than {MAX_LISTED} {what}s"),
        n => format!("{n} {what}s"),
    }
}

/// Returns the requests whose subscriptions are open after a message, the newest last.
fn subscriptions(store: &Store, index: usize) -> Vec<usize> {
    let mut open = Vec::new();
    let changes = store.subscriptions.iter();
    for change in changes.take_while(|change| change.after <= index + 1) {
        open.retain(|request| *request != change.request);
        if change.begins {
            open.push(change.request);
        }
    }
    open
}

/// Returns how long a request is open at a message, and how many of its items are not acknowledged.
fn waits(store: &Store, request: usize, index: usize) -> String {
    let time = |index| store.entries.get(index).and_then(Entry::time);
    let age = time(request).zip(time(index));
    let age = age.map(|(from, to)| format!("  {}", duration(to - from)));
    let items = store.operations.unacknowledged(request, index);
    let items = items.filter(|items| *items > 0);
    let items = items.map(|items| format!("  {items} not acknowledged"));
    age.unwrap_or_default() + &items.unwrap_or_default()
}

/// Returns the connections that are open at a message.
fn open_connections(store: &Store, index: usize) -> Vec<u32> {
    let mut open = Vec::new();
    for change in store.changes.iter().filter(|change| change.after <= index) {
        open.retain(|conn| *conn != change.conn);
        if change.opened {
            open.push(change.conn);
        }
    }
    open
}
