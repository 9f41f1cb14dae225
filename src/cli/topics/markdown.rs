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

/// The space before lines of code.
const INDENT: &str = "  ";

/// Writes a line of code. A longer one is continued on the next lines: at a space, and a command with a backslash.
fn write_code(line: &str, width: usize, out: &mut String) {
    /// The space before the continuation of a line.
    const MORE: &str = "    ";
    let is_command = line.starts_with("$ ") || line.starts_with("wiretool ");
    let end = if is_command { " \\" } else { "" };
    let (mut rest, mut lead) = (line, "");
    while lead.len() + rest.chars().count() > width && width > 2 * MORE.len() {
        let most = width - lead.len() - end.len();
        let limit = rest
            .char_indices()
            .nth(most)
            .map_or(rest.len(), |(at, _)| at);
        let (head, _) = rest.split_at(limit);
        let at_space = head.rfind(' ').filter(|at| !head[..*at].trim().is_empty());
        // A word that is too long is cut.
        let at = at_space.unwrap_or(limit);
        let (head, tail) = rest.split_at(at);
        let end = if at_space.is_some() { end } else { "" };
        out.push_str(&format!("{INDENT}{lead}{}{end}\n", head.trim_end()));
        (rest, lead) = (tail.trim_start(), MORE);
    }
    let indent = if rest.is_empty() { "" } else { INDENT };
    out.push_str(&format!("{indent}{lead}{rest}\n"));
}

/// Writes a page for a terminal: headings bold, text and code wrapped at `width`.
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
                    write_code(&line, width.saturating_sub(INDENT.len()), out);
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

    #[test]
    fn code_that_is_too_wide_is_continued() {
        let page = "```\n$ wiretool decode --where fault FILE\n  0..4   length  14\n0123456789012345678901234567\n```\n";
        let mut out = String::new();
        write(page, 24, Style::default(), &mut out);
        insta::assert_snapshot!(out, @r"
          $ wiretool decode \
              --where fault FILE
            0..4   length  14
          0123456789012345678901
              234567
        ");
    }
}
