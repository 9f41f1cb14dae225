//! Colors and characters of the screen, from what the terminal can show.

use crate::cli::options::{self, SharedArgs};
use crate::render::style::{Highlight, split};
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

/// The abilities of the terminal.
#[derive(Clone, Copy)]
pub(in crate::cli::watch) struct Theme {
    pub color: bool,
    pub unicode: bool,
}

impl Theme {
    /// Returns what the flags and the environment say about the terminal.
    pub fn of(shared: &SharedArgs) -> Self {
        let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(set);
        let locale = locale.and_then(std::env::var_os).unwrap_or_default();
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        Self {
            color: options::display_options(shared, true).style.color,
            unicode: locale.contains("utf-8") || locale.contains("utf8"),
        }
    }

    /// Returns the style of a highlight. Colors are of the 16 that the user has chosen for a dark or a light terminal.
    pub fn style(self, highlight: Highlight) -> Style {
        let style = Style::new();
        if !self.color {
            return match highlight {
                Highlight::Dim => style.add_modifier(Modifier::DIM),
                Highlight::Kind | Highlight::Error => style.add_modifier(Modifier::BOLD),
                _ => style,
            };
        }
        match highlight {
            Highlight::Plain => style,
            Highlight::Dim => style.add_modifier(Modifier::DIM),
            Highlight::Kind => style.add_modifier(Modifier::BOLD),
            Highlight::Key => style.fg(Color::Cyan),
            Highlight::Text | Highlight::ToClient => style.fg(Color::Green),
            Highlight::Number => style.fg(Color::Yellow),
            Highlight::Error => style.fg(Color::Red).add_modifier(Modifier::BOLD),
            Highlight::Note => style.fg(Color::Magenta),
            Highlight::ToServer => style.fg(Color::Blue),
        }
    }

    /// Returns a line of text that a renderer has written with color.
    pub fn line(self, text: &str) -> Line<'static> {
        let parts = split(text).into_iter();
        let spans =
            parts.map(|(highlight, part)| Span::styled(part.to_owned(), self.style(highlight)));
        Line::from(spans.collect::<Vec<_>>())
    }

    /// Replaces what the terminal cannot show.
    pub fn finish(self, buffer: &mut Buffer) {
        if self.unicode {
            return;
        }
        for cell in &mut buffer.content {
            if !cell.symbol().is_ascii() {
                let symbol = match cell.symbol() {
                    "→" => ">",
                    "←" => "<",
                    "…" => "~",
                    "·" => ".",
                    "↩" => "^",
                    "✗" => "x",
                    "µ" => "u",
                    "▸" => "+",
                    "▾" => "-",
                    "─" | "—" => "-",
                    "│" => "|",
                    "▁" | "▂" | "▃" => "_",
                    "▄" | "▅" | "▆" => "o",
                    "▇" | "█" => "#",
                    // The cell after a wide character stays blank.
                    other if other.width() > 1 => "??",
                    _ => "?",
                };
                cell.set_symbol(symbol);
            }
        }
    }
}
