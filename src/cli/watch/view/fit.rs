//! Fits lines into the width of a pane: cut with an ellipsis, or wrapped.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthChar as _;

/// The maximum number of rows of a wrapped line.
const MAX_ROWS: usize = 1 << 12;
/// The indent of the further rows of a wrapped line.
const INDENT: usize = 4;

fn width_of(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Returns a text that fits the width, with an ellipsis if it is cut.
pub(super) fn fit(text: &str, width: usize) -> String {
    let line = window(&Line::from(text), 0, width);
    line.spans
        .iter()
        .map(|span| span.content.as_ref())
        .collect()
}

/// Returns `width` columns of a line after the first `skipped` ones. An ellipsis shows where text is left out.
pub(super) fn window(line: &Line<'_>, skipped: usize, width: usize) -> Line<'static> {
    let all = line.width();
    let skipped = skipped.min(all.saturating_sub(1));
    let is_cut = all - skipped > width;
    let end = if is_cut {
        skipped + width.saturating_sub(1)
    } else {
        all
    };
    let start = if skipped > 0 { skipped + 1 } else { 0 };
    let style = line.style;
    let (mut out, mut at, mut last) = (Row::default(), 0, Style::default());
    if skipped > 0 && width > 1 {
        out.push('…', Style::default());
    }
    for span in &line.spans {
        for c in span.content.chars() {
            if at >= start && at + width_of(c) <= end {
                out.push(c, span.style);
                last = span.style;
            }
            at += width_of(c);
        }
    }
    if is_cut && width > 0 {
        out.push('…', last);
    }
    out.finish().style(style)
}

/// Returns the rows of a line, broken at blanks where possible.
pub(super) fn wrap(line: &Line<'_>, width: usize) -> Vec<Line<'static>> {
    let indent = if width > 4 * INDENT { INDENT } else { 0 };
    let mut chars = Vec::new();
    for span in &line.spans {
        chars.extend(span.content.chars().map(|c| (c, span.style)));
    }
    let (mut rows, mut rest) = (Vec::new(), chars.as_slice());
    while !rest.is_empty() && rows.len() < MAX_ROWS {
        let begin = if rows.is_empty() { 0 } else { indent };
        let (mut used, mut count, mut blank) = (begin, 0, 0);
        for (at, (c, _)) in rest.iter().enumerate() {
            used += width_of(*c);
            if used > width && at > 0 {
                break;
            }
            count = at + 1;
            if *c == ' ' && used > width / 2 {
                blank = count;
            }
        }
        if count < rest.len() && blank > 0 {
            count = blank;
        }
        let (now, after) = rest.split_at(count);
        let mut row = Row::default();
        (0..begin).for_each(|_| row.push(' ', Style::default()));
        for (c, style) in now {
            row.push(*c, *style);
        }
        rows.push(row.finish());
        rest = after;
    }
    if rows.is_empty() {
        rows.push(Line::default());
    }
    rows
}

/// Collects characters with their styles.
#[derive(Default)]
struct Row {
    spans: Vec<Span<'static>>,
    text: String,
    style: Style,
}

impl Row {
    fn push(&mut self, c: char, style: Style) {
        if style != self.style {
            self.end_span();
            self.style = style;
        }
        self.text.push(c);
    }

    fn end_span(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.spans.push(Span::styled(text, self.style));
        }
    }

    fn finish(mut self) -> Line<'static> {
        self.end_span();
        Line::from(self.spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &Line<'_>) -> String {
        line.spans
            .iter()
            .map(|span| span.content.as_ref())
            .collect()
    }

    #[test]
    fn a_cut_text_has_an_ellipsis() {
        for (line, skipped, width, wanted) in [
            ("abc", 0, 3, "abc"),
            ("abcd", 0, 3, "ab…"),
            ("abcd", 1, 3, "…cd"),
            ("abcdef", 1, 3, "…c…"),
            ("abcdef", 9, 3, "…"),
            ("ab長長", 0, 5, "ab長…"),
            ("", 3, 3, ""),
            ("abc", 0, 0, ""),
        ] {
            let shown = text(&window(&Line::from(line), skipped, width));
            assert_eq!(shown, wanted, "{line} {skipped} {width}");
        }
    }

    #[test]
    fn a_wrapped_text_is_whole() {
        let styled = Line::from(vec![Span::raw("one two three "), Span::raw("four")]);
        let rows = wrap(&styled, 20);
        let rows: Vec<String> = rows.iter().map(text).collect();
        assert_eq!(rows, ["one two three four"]);
        let rows = wrap(
            &Line::from("one two three four five abcdefghijklmnopqrstuvwxyz"),
            20,
        );
        let rows: Vec<String> = rows.iter().map(text).collect();
        assert_eq!(
            rows,
            [
                "one two three four ",
                "    five abcdefghijk",
                "    lmnopqrstuvwxyz"
            ]
        );
        assert_eq!(wrap(&Line::default(), 20).len(), 1);
    }
}
