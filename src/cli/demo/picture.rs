//! Draws text with colours as SVG.

use crate::render::style::{Highlight, split};
use std::fmt::Write as _;

/// The size of a character and of a line, and the margin, in tenths of a pixel.
const CELL: (usize, usize) = (84, 180);
const MARGIN: usize = 160;

const STYLE: &str = r#"<style>
text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d4d4d4 }
.kind { font-weight: bold }
.dim { fill: #858585 }
.error { fill: #f14c4c; font-weight: bold }
.text { fill: #73c991 }
.number { fill: #e5c07b }
.out { fill: #61afef }
.note { fill: #d18ee2 }
.key { fill: #56b6c2 }
</style>"#;

/// Returns the picture of lines of at most this number of columns.
pub fn draw(text: &str, columns: usize) -> String {
    let (mut body, mut rows) = (String::new(), 0);
    for line in text.lines() {
        rows += 1;
        let y = pixels(MARGIN + CELL.1 * rows - 40);
        let mut at = 0;
        for (highlight, part) in split(line) {
            let class = class(highlight);
            // Each word has its own position, so that the widths of the font do not matter.
            for word in part.split_inclusive(' ') {
                let bare = word.trim_end();
                if !bare.is_empty() {
                    let x = pixels(MARGIN + CELL.0 * at);
                    let bare = bare.replace('&', "&amp;").replace('<', "&lt;");
                    let _ = writeln!(body, "<text x=\"{x}\" y=\"{y}\"{class}>{bare}</text>");
                }
                at += word.chars().count();
            }
        }
    }
    let width = pixels(2 * MARGIN + CELL.0 * columns);
    let height = pixels(2 * MARGIN + CELL.1 * rows);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\">\n{STYLE}\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e1e1e\"/>\n{body}</svg>\n"
    )
}

fn pixels(tenths: usize) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn class(highlight: Highlight) -> &'static str {
    match highlight {
        Highlight::Plain => "",
        Highlight::Dim => " class=\"dim\"",
        Highlight::Kind => " class=\"kind\"",
        Highlight::Key => " class=\"key\"",
        Highlight::Text | Highlight::ToClient => " class=\"text\"",
        Highlight::Number => " class=\"number\"",
        Highlight::Error => " class=\"error\"",
        Highlight::Note => " class=\"note\"",
        Highlight::ToServer => " class=\"out\"",
    }
}
