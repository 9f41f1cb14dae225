//! Draws the screen.
//!
//! ```text
//!   messages                                   80x20: one of tree, bytes and state below
//!   tree            bytes            state     from 120x36: all three; zoomed: the pane with the focus
//!   status line
//! ```

mod detail;
mod fit;
mod overlay;
mod status;
mod theme;

use super::command::{Overlay, Pane};
use super::model::{Model, ScreenLine};
use crate::capture::Sources;
use crate::cli::count_text;
use crate::conversation::Verdict;
use crate::encoding::Want;
use crate::protocol::session::Severity;
use crate::render::DisplayOptions;
use crate::render::findings::highlight;
use crate::render::line::Lines;
use crate::render::operation;
use crate::render::style::{Highlight, Style, escape};
use detail::{DetailView, state_lines};
use fit::{fit, window, wrap};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Modifier, Style as ScreenStyle};
use ratatui::text::{Line, Span};
pub(super) use theme::Theme;
use unicode_width::UnicodeWidthStr as _;

/// The smallest terminal.
const MIN_SIZE: (u16, u16) = (80, 20);
/// The smallest terminal that shows three panes below the messages.
const WIDE_SIZE: (u16, u16) = (120, 36);
/// The number of columns for the marks before a line.
const MARKS: u16 = 3;
/// The minimum height of the messages and of the panes below them.
const MIN_HEIGHTS: [u16; 2] = [4, 8];
/// The columns by which what is inside of an operation is indented.
const INDENT: usize = 2;
/// The widths of rows of 8 and of 16 bytes, and the width of the panes from which on 16 fit.
const BYTE_WIDTHS: [u16; 2] = [43, 75];
const WIDE_BYTES: u16 = 190;
/// The minimum and the maximum width of the state.
const STATE_WIDTHS: [u16; 2] = [28, 44];

/// Draws a model; keeps what is expensive to compute.
pub(super) struct View {
    theme: Theme,
    display: DisplayOptions,
    lines: Lines,
    detail: DetailView,
    /// The largest height of the panes below the messages that a message needed.
    needed: u16,
    /// The panes of the last screen, for the mouse, and the row of each line of the messages.
    areas: Vec<(Pane, Rect)>,
    rows: Vec<usize>,
}

impl View {
    pub fn new(theme: Theme, show_secrets: bool, sources: Option<&'static Sources>) -> Self {
        Self {
            theme,
            display: DisplayOptions {
                // The theme replaces the colors.
                style: Style { color: true },
                show_secrets,
                terminal: true,
                sources,
                ..DisplayOptions::default()
            },
            lines: Lines::default(),
            detail: DetailView::default(),
            needed: 0,
            areas: Vec::new(),
            rows: Vec::new(),
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
            let line = status::line(model, self.theme, usize::from(status.width));
            frame.render_widget(line, status);
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
        let panes = match model.focus {
            Pane::Messages if model.look.zooms => Vec::new(),
            Pane::Messages if !is_wide => vec![(Pane::Tree, area)],
            pane if model.look.zooms || !is_wide => vec![(pane, area)],
            _ => columns_of(area),
        };
        if let Some((_, first)) = panes.first() {
            self.detail.update(model, self.display, first.width);
        }
        let upper = match model.look.zooms {
            true if panes.is_empty() => area.height,
            true => 0,
            false => self.upper_height(area.height, model, &panes),
        };
        let [messages, below] = split_below(area, upper);
        if upper > 0 {
            self.draw_messages(frame, messages, model);
        }
        for (pane, column) in panes {
            let area = Rect {
                y: below.y,
                height: below.height,
                ..column
            };
            self.draw_detail(frame, area, model, pane);
        }
    }

    /// Returns the height of the messages: about half, and what the panes below do not need. The panes below get what the
    /// messages do not need. Their need only grows, so that the screen is calm.
    fn upper_height(&mut self, height: u16, model: &Model, panes: &[(Pane, Rect)]) -> u16 {
        let [upper, lower] = MIN_HEIGHTS;
        let stderr = if model.look.shows_stderr {
            model.shared.store().stderr.len()
        } else {
            0
        };
        let rows = u16::try_from(model.row_count() + 1 + stderr).unwrap_or(u16::MAX);
        let has_tree = panes.iter().any(|(pane, _)| *pane == Pane::Tree);
        let needed = match self.detail.height() {
            lines if has_tree && !model.look.wraps => u16::try_from(lines + 1).unwrap_or(u16::MAX),
            _ => height,
        };
        self.needed = self.needed.max(needed).max(lower);
        let half = if panes.len() > 1 {
            height * 9 / 20
        } else {
            height / 2
        };
        let most = height.saturating_sub(self.needed).max(half);
        rows.clamp(upper, most.max(upper))
    }

    /// Draws the title of a pane; returns the area below it.
    fn title(&self, frame: &mut Frame<'_>, area: Rect, text: &str, focused: bool) -> Rect {
        let [title, inner] = split_below(area, 1);
        let text = fit(&escape(text), usize::from(title.width).saturating_sub(4));
        let mut text = format!("─ {text} ");
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
        let has_stderr = model.look.shows_stderr && !model.shared.store().stderr.is_empty();
        if rows == 0 && !has_stderr {
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
        let width = usize::from(inner.width.saturating_sub(MARKS));
        let column = match model.focus {
            Pane::Messages => model.look.column,
            _ => 0,
        };
        let display = DisplayOptions {
            width: Some(width + column),
            ..self.display
        };
        let (mut held, mut text) = (String::new(), String::new());
        let marks = self.hold_lines(model, width, display, &mut held);
        self.lines.lay_out(&held, display, &mut text);
        model.reader.parsed.set_want(Want::Places);
        for (((index, mut line, width), text), area) in
            marks.into_iter().zip(text.lines()).zip(inner.rows())
        {
            let shown = self.theme.line(text);
            let is_error = shown
                .iter()
                .any(|span| span.style == self.theme.style(Highlight::Error));
            line.extend(window(&shown, column, width));
            if index == Some(model.selected) {
                let mut style = ScreenStyle::new().add_modifier(Modifier::REVERSED);
                if is_error {
                    style = style.patch(self.theme.style(Highlight::Error));
                    line.iter_mut()
                        .for_each(|span| span.style = span.style.patch(style));
                }
                line = line.patch_style(style);
                // The bar has the width of the pane.
                frame.buffer_mut().set_style(area, line.style);
            }
            frame.render_widget(line, area);
        }
    }

    /// Adds the lines of the screen, without a layout. Returns the message of each, the marks before it, and its width.
    fn hold_lines(
        &mut self,
        model: &mut Model,
        width: usize,
        display: DisplayOptions,
        held: &mut String,
    ) -> Vec<(Option<usize>, Line<'static>, usize)> {
        self.lines.hold();
        self.rows.clear();
        let mut all = Vec::new();
        for line in model.screen_lines() {
            let (row, index) = match line {
                ScreenLine::Message(row) => (row, model.message_at(row)),
                ScreenLine::Stderr(place) => {
                    if let Some(stored) = model.shared.store().stderr.get(place) {
                        stored.line().write(display, held);
                    }
                    (self.rows.last().copied().unwrap_or(model.top), None)
                }
                ScreenLine::More(count) => {
                    let more = count_text(count as u64, "more line", "more lines");
                    let text = format!("        … {more} of stderr");
                    display.style.push(held, Highlight::Dim, &text);
                    held.push('\n');
                    (self.rows.last().copied().unwrap_or(model.top), None)
                }
            };
            self.rows.push(row);
            let Some(index) = index else {
                all.push((None, Line::from(" ".repeat(MARKS.into())), width));
                continue;
            };
            let (depth, is_unfolded) = model.tree_place(row).unwrap_or_default();
            let indent = (depth * INDENT).min(width / 2);
            let display = DisplayOptions {
                width: display.width.map(|width| width - indent),
                ..display
            };
            self.hold_line(model, row, index, display, held);
            let mut mark = self.marks(model, index, is_unfolded);
            mark.push_span(" ".repeat(indent));
            all.push((Some(index), mark, width - indent));
        }
        all
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
        let shared = model.shared.clone();
        let is_operation = model.tree_place(row).is_some();
        if let Some(ended) = shared
            .store()
            .operations
            .ended(index)
            .filter(|_| is_operation)
        {
            return operation::write_line(ended, true, display, held);
        }
        let before = row.checked_sub(1).and_then(|row| model.message_at(row));
        let shared = model.shared.clone();
        let store = shared.store();
        let before = before.and_then(|before| store.entries.get(before)?.time());
        self.lines
            .set_last_time(before.filter(|_| model.look.shows_delta));
        let (mut text, lines) = (String::new(), &mut self.lines);
        // The line of its request may be above the first row.
        let entry = store.entries.get(index);
        let request = entry.and_then(|entry| entry.other().filter(|_| entry.is_answer()));
        if let Some(request) = request {
            let reader = &mut model.reader;
            store.read(request, reader, |decoded, _| lines.skip(decoded));
        }
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

    /// Returns the marks before a line. `is_unfolded`: of an operation with parts, whether they show.
    fn marks(&self, model: &Model, index: usize, is_unfolded: Option<bool>) -> Line<'static> {
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
        let is_folded = model.is_folded(index, &entry) || is_unfolded == Some(false);
        let fold = match (model.marked == Some(index), is_folded, is_unfolded) {
            (true, _, _) => "d",
            (false, true, _) => "▸",
            (false, false, Some(_)) => "▾",
            (false, false, None) => " ",
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
        let theme = self.theme;
        model.lines_height = usize::from(inner.height);
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

    /// Returns the row of the message at a line of the screen.
    pub fn message_row(&self, line: usize) -> Option<usize> {
        self.rows.get(line).copied()
    }

    /// Returns the line of the tree at a line of the screen.
    pub fn tree_line(&self, line: usize) -> usize {
        self.detail.tree_line(line)
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
        let (width, column) = (usize::from(inner.width), model.look.column);
        let lines = text.lines().map(|line| self.theme.line(line));
        let lines: Vec<Line<'_>> = if model.look.wraps {
            lines.flat_map(|line| wrap(&line, width)).collect()
        } else {
            lines.map(|line| window(&line, column, width)).collect()
        };
        model.overlay_top = model.overlay_top.min(lines.len().saturating_sub(1));
        model.lines_height = usize::from(inner.height);
        for (line, area) in lines.into_iter().skip(model.overlay_top).zip(inner.rows()) {
            frame.render_widget(line, area);
        }
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

/// Returns the columns of the panes below the messages. The tree gets what the others do not need.
fn columns_of(area: Rect) -> Vec<(Pane, Rect)> {
    let [least, most] = STATE_WIDTHS;
    let [narrow, wide] = BYTE_WIDTHS;
    let bytes = if area.width >= WIDE_BYTES {
        wide
    } else {
        narrow
    };
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(bytes),
        Constraint::Length((area.width / 4).clamp(least, most)),
    ];
    let areas = Layout::horizontal(widths).spacing(1).split(area);
    let panes = [Pane::Tree, Pane::Bytes, Pane::State].into_iter();
    panes.zip(areas.iter().copied()).collect()
}

/// Splits an area below `height` rows.
fn split_below(area: Rect, height: u16) -> [Rect; 2] {
    Layout::vertical([Constraint::Length(height), Constraint::Fill(1)]).areas(area)
}

#[cfg(test)]
mod tests;
