//! Formats a schema text: one paragraph for each definition, one line for each field, comments at their place.

use super::{Schema, SchemaError};

/// Formats a `.tq` text; refuses a text that is not a schema.
pub fn format(text: &str) -> Result<String, SchemaError> {
    Schema::parse(text).or_else(|alone| {
        // A text that extends the built-in schema may use its names.
        Schema::builtin().extend(text).map_err(|_| alone)
    })?;
    let mut layout = Layout::default();
    let mut rest = text;
    while let Some((piece, after)) = next(rest) {
        layout.put(piece);
        rest = after;
    }
    Ok(layout.finish())
}

/// A piece of the text whose spelling is preserved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextPiece<'a> {
    /// A word, a number, or a sign.
    Token(&'a str),
    /// A comment, `//` or `/* */`, without its line end.
    Comment(&'a str),
    /// The number of line breaks.
    Breaks(usize),
}

/// Returns the next piece and the rest.
fn next(text: &str) -> Option<(TextPiece<'_>, &str)> {
    let first = text.chars().next()?;
    if first.is_whitespace() {
        let end = text
            .find(|c: char| !c.is_whitespace())
            .unwrap_or(text.len());
        let (space, rest) = text.split_at(end);
        return Some((TextPiece::Breaks(space.matches('\n').count()), rest));
    }
    let end = if text.starts_with("//") {
        text.find('\n').unwrap_or(text.len())
    } else if text.starts_with("/*") {
        text.find("*/").map_or(text.len(), |at| at + 2)
    } else if text.starts_with("->") || text.starts_with("::") {
        2
    } else if let Some(quoted) = text.strip_prefix('"') {
        quoted.find('"').map_or(text.len(), |at| at + 2)
    } else {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if is_word(first) {
            text.find(|c| !is_word(c)).unwrap_or(text.len())
        } else {
            first.len_utf8()
        }
    };
    let (piece, rest) = text.split_at(end);
    let comment = piece.starts_with("//") || piece.starts_with("/*");
    Some((
        if comment {
            TextPiece::Comment(piece.trim_end())
        } else {
            TextPiece::Token(piece)
        },
        rest,
    ))
}

#[derive(Default)]
struct Layout {
    out: String,
    line: String,
    depth: usize,
    /// The number of line breaks of the source since the last piece.
    breaks: usize,
}

impl Layout {
    fn put(&mut self, piece: TextPiece<'_>) {
        match piece {
            TextPiece::Breaks(n) => self.breaks += n,
            TextPiece::Comment(text) => {
                // A comment stays on the line that it describes.
                if self.breaks == 0
                    && self.line.is_empty()
                    && self.out.ends_with('\n')
                    && !self.out.ends_with("\n\n")
                {
                    self.out.pop();
                    self.out.push_str("  ");
                    self.out.push_str(text);
                    self.out.push('\n');
                } else {
                    self.end_line();
                    self.keep_blank_line();
                    self.line.push_str(text);
                    self.end_line();
                }
                self.breaks = 0;
            }
            TextPiece::Token(token) => {
                self.token(token);
                self.breaks = 0;
            }
        }
    }

    /// Preserves one blank line of the source; several become one.
    fn keep_blank_line(&mut self) {
        let blank = self.breaks > 1 && self.line.is_empty();
        if blank && !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn token(&mut self, token: &str) {
        if token != "}" {
            self.keep_blank_line();
        }
        match token {
            "{" => {
                self.line.push_str(" {");
                self.end_line();
                self.depth += 1;
            }
            "}" => {
                self.end_line();
                self.depth = self.depth.saturating_sub(1);
                self.line.push('}');
                self.end_line();
            }
            // After `}` it is optional, and omitted.
            ";" if self.line.is_empty() => {}
            ";" => {
                self.line.push(';');
                self.end_line();
            }
            "<" | ">" | "::" | "," | "." => self.line.push_str(token),
            _ => {
                let glued = self.line.is_empty()
                    || self.line.ends_with(['<', '@', '-', '.'])
                    || self.line.ends_with("::");
                if !glued {
                    self.line.push(' ');
                }
                self.line.push_str(token);
            }
        }
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.out.push_str(&"  ".repeat(self.depth));
            self.out.push_str(self.line.trim_end());
            self.out.push('\n');
            self.line.clear();
        }
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_have_one_layout() {
        let text = "// a file\nenum   E{A=0;B=1;};\n\n\n\nstruct S version 1 compat 0 { string a; // the first\n vector<E> b@1; }\nmethod M=7:S->stream S;\nalias 9=M;\nmark S.a=volatile,names \"x\"  \"y z\";";
        insta::assert_snapshot!(format(text).unwrap(), @r#"
        // a file
        enum E {
          A = 0;
          B = 1;
        }

        struct S version 1 compat 0 {
          string a;  // the first
          vector<E> b @1;
        }
        method M = 7 : S -> stream S;
        alias 9 = M;
        mark S.a = volatile, names "x" "y z";
        "#);
    }

    #[test]
    fn formatting_is_idempotent_and_preserves_the_schema() {
        let once = format(Schema::BUILTIN).unwrap();
        assert_eq!(format(&once).unwrap(), once);
        let (before, after) = (Schema::builtin(), Schema::parse(&once).unwrap());
        assert_eq!(
            (&before.types, &before.methods),
            (&after.types, &after.methods)
        );
    }

    #[test]
    fn a_text_that_is_not_a_schema_is_refused() {
        assert!(format("struct {").is_err());
    }
}
