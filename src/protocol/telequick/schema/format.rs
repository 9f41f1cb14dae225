//! Formats a schema text: one paragraph for each definition, one line for each field, comments at their place.

use super::token::{TextPiece, next_piece};
use super::{Schema, SchemaError};

/// Formats a `.tq` text; refuses a text that is not a schema.
pub fn format(text: &str) -> Result<String, SchemaError> {
    Schema::parse(text).or_else(|alone| {
        // A text that extends the built-in schema may use its names.
        Schema::builtin().extend(text).map_err(|_| alone)
    })?;
    let mut layout = Layout::default();
    let mut rest = text;
    while let Some((piece, after)) = next_piece(rest) {
        layout.put(piece);
        rest = after;
    }
    Ok(layout.finish())
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
            TextPiece::Space(space) => self.breaks += space.matches('\n').count(),
            TextPiece::Comment(text) => {
                let text = text.trim_end();
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
                    || self.line.ends_with(['<', '@', '.'])
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
