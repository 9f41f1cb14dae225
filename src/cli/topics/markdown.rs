//! Parses and formats the Markdown of topics: headings, paragraphs, lists and code blocks, without links and tables.

use crate::render::style::{Highlight, Style};

/// A part of a page.
#[derive(Debug, PartialEq, Eq)]
pub enum Block {
    Heading(String),
    Paragraph(String),
    /// An item of a list, with its depth.
    Item(usize, String),
    Code(Vec<String>),
}

/// Splits a page into blocks.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    let mut continues = false;
    while let Some(line) = lines.next() {
        let body = line.trim_start();
        let last = blocks.last_mut().filter(|_| continues);
        continues = !body.is_empty();
        if body.is_empty() {
        } else if body.starts_with("```") {
            let code = lines.by_ref().take_while(|line| !line.starts_with("```"));
            blocks.push(Block::Code(code.map(str::to_owned).collect()));
            continues = false;
        } else if let Some(title) = body.strip_prefix('#') {
            let title = title.trim_start_matches('#').trim().to_owned();
            blocks.push(Block::Heading(title));
            continues = false;
        } else if let Some(item) = body.strip_prefix("- ") {
            let depth = (line.len() - body.len()) / 2;
            blocks.push(Block::Item(depth, item.to_owned()));
        } else if let Some(Block::Paragraph(text) | Block::Item(_, text)) = last {
            text.push(' ');
            text.push_str(body);
        } else {
            blocks.push(Block::Paragraph(body.to_owned()));
        }
    }
    blocks
}

/// Writes a page for a terminal: headings bold, text wrapped at `width`, code as it is.
pub fn write(text: &str, width: usize, style: Style, out: &mut String) {
    let mut in_list = false;
    for block in blocks(text) {
        let is_item = matches!(block, Block::Item(..));
        if !(out.is_empty() || in_list && is_item) {
            out.push('\n');
        }
        in_list = is_item;
        match block {
            Block::Heading(title) => {
                style.push(out, Highlight::Kind, &title);
                out.push('\n');
            }
            Block::Paragraph(text) => wrap(&text, "", width, out),
            Block::Item(depth, text) => {
                wrap(&text, &format!("{:1$}- ", "", 2 * depth), width, out);
            }
            Block::Code(lines) => {
                for line in lines {
                    let indent = if line.is_empty() { "" } else { "  " };
                    out.push_str(indent);
                    out.push_str(&line);
                    out.push('\n');
                }
            }
        }
    }
}

/// Wraps text at `width` columns; the first line starts with `lead`, the others with as many spaces.
pub fn wrap(text: &str, lead: &str, width: usize, out: &mut String) {
    let mut column = lead.chars().count();
    let indent = column;
    out.push_str(lead);
    for word in text.split_whitespace() {
        let len = word.chars().count();
        if column > indent && column + 1 + len > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        }
        if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += len;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\nSome words that are\nlonger than a line.\n\n- one\n- two words,\n  continued\n  - below\n\n```text\na   b\n\nc\n```\nAfter.\n";

    #[test]
    fn pages_are_wrapped_and_code_is_kept() {
        let mut out = String::new();
        write(PAGE, 20, Style::default(), &mut out);
        insta::assert_snapshot!(out, @r"
        Title

        Some words that are
        longer than a line.

        - one
        - two words,
          continued
          - below

          a   b

          c

        After.
        ");
    }
}
