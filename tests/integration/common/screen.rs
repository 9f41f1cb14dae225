//! Draws the content of a terminal: text with colours (SGR, as the tool writes it) becomes SVG.

use std::fmt::Write as _;

/// The size of a character and of a line in pixels.
const CELL: (f32, f32) = (8.4, 18.0);
const MARGIN: f32 = 16.0;
/// The number of characters of a line; longer lines are wrapped.
const COLUMNS: usize = 112;

/// Returns the picture of the lines.
pub fn svg(text: &str) -> String {
    let (mut body, mut row) = (String::new(), 0_u16);
    for line in text.lines() {
        row += 1;
        let (mut at, mut tone) = (0, Tone::default());
        for (n, part) in line.split("\x1b[").enumerate() {
            let shown = match part.split_once('m') {
                Some((codes, rest)) if n > 0 => {
                    codes.split(';').for_each(|code| tone.set(code));
                    rest
                }
                _ => part,
            };
            // Each word has its own position, so that the widths of the font do not matter.
            for word in shown.split_inclusive(' ') {
                let bare = word.trim_end();
                if at + bare.chars().count() > COLUMNS {
                    (at, row) = (0, row + 1);
                }
                if !bare.is_empty() {
                    let (x, y) = (column(at), MARGIN + CELL.1 * f32::from(row) - 4.0);
                    let text = bare.replace('&', "&amp;").replace('<', "&lt;");
                    let class = tone.class();
                    let _ = writeln!(body, "<text x=\"{x:.1}\" y=\"{y}\"{class}>{text}</text>");
                }
                at += word.chars().count();
            }
        }
    }
    let (width, height) = (
        column(COLUMNS) + MARGIN,
        2.0 * MARGIN + CELL.1 * f32::from(row),
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\">\n{STYLE}\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e1e1e\"/>\n{body}</svg>\n"
    )
}

const STYLE: &str = r#"<style>
text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d4d4d4 }
.b { font-weight: bold }
.d { fill: #858585 }
.red { fill: #f14c4c }
.green { fill: #73c991 }
.yellow { fill: #e5c07b }
.blue { fill: #61afef }
.magenta { fill: #d18ee2 }
.cyan { fill: #56b6c2 }
</style>"#;

/// The start of a column.
fn column(n: usize) -> f32 {
    MARGIN + CELL.0 * f32::from(u16::try_from(n).expect("a line that is no book"))
}

/// The current attributes of the text.
#[derive(Default)]
struct Tone {
    bold: bool,
    dim: bool,
    color: Option<&'static str>,
}

impl Tone {
    fn set(&mut self, code: &str) {
        match code {
            "0" | "" => *self = Self::default(),
            "1" => self.bold = true,
            "2" => self.dim = true,
            "31" => self.color = Some("red"),
            "32" => self.color = Some("green"),
            "33" => self.color = Some("yellow"),
            "34" => self.color = Some("blue"),
            "35" => self.color = Some("magenta"),
            "36" => self.color = Some("cyan"),
            other => panic!("no colour for SGR {other}"),
        }
    }

    fn class(&self) -> String {
        let names = [
            self.bold.then_some("b"),
            self.dim.then_some("d"),
            self.color,
        ];
        let names: Vec<&str> = names.into_iter().flatten().collect();
        if names.is_empty() {
            String::new()
        } else {
            format!(" class=\"{}\"", names.join(" "))
        }
    }
}
