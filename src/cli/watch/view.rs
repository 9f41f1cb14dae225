//! Draws the screen.
//!
//! ```text
//!   messages                                   80x24: one of tree, bytes and state below
//!   tree            bytes            state     from 120x36: all three
//!   status line
//! ```

mod detail;
mod overlay;
mod theme;

use super::command::{Overlay, Pane};
use super::entry::Entry;
use super::model::Model;
use crate::cli::count_text;
use crate::conversation::Verdict;
use crate::encoding::Want;
use crate::protocol::session::Severity;
use crate::render::DisplayOptions;
use crate::render::findings::highlight;
use crate::render::line::Lines;
use crate::render::style::{Highlight, Style, escape};
use detail::{DetailView, state_lines};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Modifier, Style as ScreenStyle};
use ratatui::text::{Line, Span};
pub(super) use theme::Theme;
use unicode_width::UnicodeWidthStr as _;

/// The smallest terminal.
const MIN_SIZE: (u16, u16) = (80, 24);
/// The smallest terminal that shows three panes below the messages.
const WIDE_SIZE: (u16, u16) = (120, 36);
/// The number of columns for the marks before a line.
const MARKS: u16 = 3;
/// The number of messages over which the rate is measured.
const RATE_MESSAGES: usize = 100;

/// Draws a model; keeps what is expensive to compute.
pub(super) struct View {
    theme: Theme,
    display: DisplayOptions,
    lines: Lines,
    detail: DetailView,
    /// The panes of the last screen, for the mouse.
    areas: Vec<(Pane, Rect)>,
}

impl View {
    pub fn new(theme: Theme, show_secrets: bool) -> Self {
        Self {
            theme,
            display: DisplayOptions {
                // The theme replaces the colors.
                style: Style { color: true },
                show_secrets,
                terminal: true,
                ..DisplayOptions::default()
            },
            lines: Lines::default(),
            detail: DetailView::default(),
            areas: Vec::new(),
        }
    }

    /// Draws the screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>, model: &mut Model) {
        let area = frame.area();
        self.areas.clear();
        if area.width < MIN_SIZE.0 || area.height < MIN_SIZE.1 {
            let (width, height) = MIN_SIZE;
            let has = format!("{}x{}", area.width, area.height);
            let text = format!("the terminal has {has}; {width}x{height} are needed; q quits");
            frame.render_widget(Line::from(text), area);
            return;
        }
        let is_wide = area.width >= WIDE_SIZE.0 && area.height >= WIDE_SIZE.1;
        let prompt = self.prompt_lines(model);
        let bottom = prompt.len().max(1) as u16;
        let [panes, status] = split_below(area, area.height.saturating_sub(bottom));
        match model.overlay.clone() {
            Some(overlay) => self.draw_overlay(frame, panes, model, &overlay),
            None => self.draw_panes(frame, panes, model, is_wide),
        }
        if prompt.is_empty() {
            self.draw_status(frame, status, model);
        } else {
            for (line, area) in prompt.into_iter().zip(status.rows()) {
                frame.render_widget(line, area);
            }
        }
        self.theme.finish(frame.buffer_mut());
    }

    /// Returns the pane at a position, and the line in it.
    pub fn pane_at(&self, position: Position) -> Option<(Pane, usize)> {
        let mut areas = self.areas.iter();
        let (pane, area) = areas.find(|(_, area)| area.contains(position))?;
        Some((*pane, usize::from(position.y.saturating_sub(area.y))))
    }

    fn draw_panes(&mut self, frame: &mut Frame<'_>, area: Rect, model: &mut Model, is_wide: bool) {
        let upper = if is_wide {
            area.height * 9 / 20
        } else {
            area.height / 2
        };
        let [messages, below] = split_below(area, upper);
        self.draw_messages(frame, messages, model);
        if is_wide {
            let tree = below.width * 2 / 5;
            let bytes = below.width.saturating_sub(tree + 1) * 3 / 5;
            let widths = [
                Constraint::Length(tree),
                Constraint::Length(bytes),
                Constraint::Fill(1),
            ];
            let areas = Layout::horizontal(widths).spacing(1).split(below);
            for (pane, area) in [Pane::Tree, Pane::Bytes, Pane::State].iter().zip(&*areas) {
                self.draw_detail(frame, *area, model, *pane);
            }
        } else {
            let pane = match model.focus {
                Pane::Messages => Pane::Tree,
                pane => pane,
            };
            self.draw_detail(frame, below, model, pane);
        }
    }

    /// Draws the title of a pane; returns the area below it.
    fn title(&self, frame: &mut Frame<'_>, area: Rect, text: &str, focused: bool) -> Rect {
        let [title, inner] = split_below(area, 1);
        let mut text = format!("─ {} ", escape(text));
        let rest = usize::from(title.width).saturating_sub(text.width() + 1);
        text.push_str(&"─".repeat(rest));
        let style = if focused {
            ScreenStyle::new().add_modifier(Modifier::BOLD | Modifier::REVERSED)
        } else {
            self.theme.style(Highlight::Dim)
        };
        frame.render_widget(Line::styled(text, style), title);
        inner
    }

    fn draw_messages(&mut self, frame: &mut Frame<'_>, area: Rect, model: &mut Model) {
        let rows = model.row_count();
        let mut title = match rows {
            0 => "messages".to_owned(),
            _ => format!("messages  {} of {rows}", model.selected_row() + 1),
        };
        for condition in model.conditions() {
            title.push_str(&format!("  {condition}"));
        }
        if model.is_unfinished() {
            title.push_str("  …");
        }
        let focused = model.focus == Pane::Messages;
        let inner = self.title(frame, area, &title, focused);
        self.areas.push((Pane::Messages, inner));
        model.height = usize::from(inner.height);
        model.keep_in_view();
        if rows == 0 {
            let status = &model.shared.store().status;
            let text = match (model.conditions().is_empty(), status.ended) {
                (false, _) => "no message matches",
                (true, true) => "no messages",
                (true, false) => "waiting for messages",
            };
            frame.render_widget(Line::styled(text, self.theme.style(Highlight::Dim)), inner);
            return;
        }
        // Long messages are not read as a whole for a line.
        model.reader.parsed.set_want(Want::Line);
        let display = DisplayOptions {
            width: Some(usize::from(inner.width.saturating_sub(MARKS))),
            ..self.display
        };
        let (mut held, mut text, mut marks) = (String::new(), String::new(), Vec::new());
        self.lines.hold();
        for row in model.top..model.top + model.height {
            let Some(index) = model.message_at(row) else {
                break;
            };
            self.hold_line(model, row, index, display, &mut held);
            marks.push((index, self.marks(model, index)));
        }
        self.lines.lay_out(&held, display, &mut text);
        model.reader.parsed.set_want(Want::Places);
        for (((index, mut line), text), area) in
            marks.into_iter().zip(text.lines()).zip(inner.rows())
        {
            line.extend(self.theme.line(text));
            if index == model.selected {
                line = line.patch_style(ScreenStyle::new().add_modifier(Modifier::REVERSED));
                // The bar has the width of the pane.
                frame.buffer_mut().set_style(area, line.style);
            }
            frame.render_widget(line, area);
        }
    }

    /// Adds the columns of `decode` for a message, without a layout.
    fn hold_line(
        &mut self,
        model: &mut Model,
        row: usize,
        index: usize,
        display: DisplayOptions,
        held: &mut String,
    ) {
        let before = row.checked_sub(1).and_then(|row| model.message_at(row));
        let shared = model.shared.clone();
        let store = shared.store();
        let before = before.and_then(|before| store.entries.get(before)?.time());
        self.lines
            .set_last_time(before.filter(|_| model.shows_delta));
        let (mut text, lines) = (String::new(), &mut self.lines);
        store.read(index, &mut model.reader, |decoded, verdict| {
            // Findings have their own pane.
            let verdict = Verdict {
                findings: &[],
                ..verdict
            };
            lines.write(decoded, Some(verdict), display, &mut text);
        });
        held.push_str(text.lines().next().unwrap_or_default());
        held.push('\n');
    }

    /// Returns the marks before a line.
    fn marks(&self, model: &Model, index: usize) -> Line<'static> {
        let Some(entry) = model.shared.store().entries.get(index).copied() else {
            return Line::default();
        };
        let finding = match entry.severity() {
            Some(Severity::Error) => "✗",
            Some(Severity::Warning) => "!",
            Some(_) => "i",
            None => " ",
        };
        let severity = entry.severity().unwrap_or(Severity::Off);
        let fold = match (model.marked == Some(index), model.is_folded(index, &entry)) {
            (true, _) => "d",
            (false, true) => "▸",
            (false, false) => " ",
        };
        let mark = Span::styled(finding, self.theme.style(highlight(severity)));
        Line::from(vec![Span::raw(fold), mark, Span::raw(" ")])
    }

    fn draw_detail(&mut self, frame: &mut Frame<'_>, area: Rect, model: &mut Model, pane: Pane) {
        let name = match pane {
            Pane::Messages => return,
            Pane::Tree => "tree",
            Pane::Bytes => "bytes",
            Pane::State => "state",
        };
        let title = match model.row_count() {
            0 => name.to_owned(),
            _ => format!("{name}  #{}", model.selected),
        };
        let inner = self.title(frame, area, &title, model.focus == pane);
        if model.row_count() == 0 {
            return;
        }
        let (theme, display) = (self.theme, self.display);
        model.lines_height = usize::from(inner.height);
        self.detail.update(model, display, inner.width);
        let lines = match pane {
            Pane::Tree => self.detail.tree_lines(model, theme, inner),
            Pane::Bytes => self.detail.byte_lines(model, theme, inner),
            _ => state_lines(model, theme, inner),
        };
        self.areas.push((pane, inner));
        for (line, area) in lines.into_iter().zip(inner.rows()) {
            frame.render_widget(line, area);
        }
    }

    /// Returns the line of the tree at a line of the screen.
    pub fn tree_line(&self, line: usize) -> usize {
        self.detail.tree_top + line
    }

    fn draw_overlay(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        model: &mut Model,
        overlay: &Overlay,
    ) {
        let name = match overlay {
            Overlay::Help => "help".to_owned(),
            Overlay::Stats => "statistics".to_owned(),
            Overlay::Compare(a, b) => format!("differences between #{a} and #{b}"),
            Overlay::Copy => format!("copy #{}", model.selected),
        };
        let inner = self.title(frame, area, &format!("{name}  esc closes"), true);
        let display = DisplayOptions {
            width: Some(usize::from(inner.width)),
            ..self.display
        };
        let text = overlay::text(overlay, model, display);
        let last = text.lines().count().saturating_sub(1);
        model.overlay_top = model.overlay_top.min(last);
        model.lines_height = usize::from(inner.height);
        for (line, area) in text.lines().skip(model.overlay_top).zip(inner.rows()) {
            frame.render_widget(self.theme.line(line), area);
        }
    }

    fn draw_status(&self, frame: &mut Frame<'_>, area: Rect, model: &Model) {
        let store = model.shared.store();
        let (count, status) = (store.entries.len(), &store.status);
        let mut text = count_text(count as u64, "message", "messages");
        let first = store.entries.get(count.saturating_sub(RATE_MESSAGES));
        let last = store.entries.get(count.saturating_sub(1));
        let times = first.and_then(Entry::time).zip(last.and_then(Entry::time));
        if let Some((from, to)) = times.filter(|(from, to)| to > from) {
            #[allow(clippy::cast_precision_loss)] // a rate for display
            let rate = (RATE_MESSAGES.min(count) - 1) as f64 / ((to - from) as f64 / 1e9);
            text.push_str(&format!("  {rate:.1}/s"));
        }
        text.push_str(&format!("  {} open", store.open));
        let findings = count_text(store.finding_count, "finding", "findings");
        text.push_str(&format!("  {findings}"));
        if model.is_paused() {
            text.push_str("  paused");
        }
        if !status.ended {
            text.push_str("  reading");
        } else if store.judged < count {
            let percent = store.judged as u64 * 100 / count as u64;
            text.push_str(&format!("  rules {percent}%"));
        }
        let (highlight, more) = if !model.answer.is_empty() {
            (Highlight::Note, model.answer.as_str())
        } else if let Some(waiting) = status.waiting.first() {
            (Highlight::Error, waiting.as_str())
        } else if let Some(note) = status.notes.last() {
            (Highlight::Note, note.as_str())
        } else {
            (Highlight::Dim, "? help  q quit")
        };
        let more = escape(more).into_owned();
        let mut line = Line::from(text);
        line.push_span("  ");
        // The answer to a key is read as a whole.
        if !model.answer.is_empty() && line.width() + more.width() > usize::from(area.width) {
            line = Line::default();
        }
        line.push_span(Span::styled(more, self.theme.style(highlight)));
        frame.render_widget(line, area);
    }

    /// Returns the lines of the prompt: an error with its caret, or completions, and the text.
    fn prompt_lines(&self, model: &Model) -> Vec<Line<'static>> {
        let Some(prompt) = &model.prompt else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        if let Some(error) = &prompt.error {
            let style = self.theme.style(Highlight::Error);
            let error = error.lines().map(|line| escape(line).into_owned());
            lines.extend(error.map(|line| Line::styled(line, style)));
        }
        let completions: Vec<&str> = prompt.completions().take(8).collect();
        if !completions.is_empty() {
            let text = escape(&completions.join("   ")).into_owned();
            lines.push(Line::styled(text, self.theme.style(Highlight::Dim)));
        }
        let cursor = Span::styled(" ", ScreenStyle::new().add_modifier(Modifier::REVERSED));
        let text = format!("/{}", escape(&prompt.text));
        lines.push(Line::from(vec![Span::raw(text), cursor]));
        lines
    }
}

/// Splits an area below `height` rows.
fn split_below(area: Rect, height: u16) -> [Rect; 2] {
    Layout::vertical([Constraint::Length(height), Constraint::Fill(1)]).areas(area)
}

#[cfg(test)]
mod tests;
