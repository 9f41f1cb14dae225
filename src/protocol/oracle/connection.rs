//! Connection strings, split as the real executor splits them.
//!
//! ```text
//!   stdio:python3 'my oracle.py' --port=1      ["python3", "my oracle.py", "--port=1"]
//!   scheme command, as a shell would split it; nothing is expanded
//! ```
//!
//! The scheme is exact: no blank before it, lower case. What follows is split by POSIX rules: quotes, backslashes,
//! comments. Variables, globs, pipes and redirections mean nothing.

use std::fmt;

/// Before every command.
const SCHEME: &str = "stdio:";

/// Why the executor refuses a connection string, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionError {
    /// It does not begin with `stdio:`; the whole string is kept.
    Scheme(String),
    /// A quote is never closed.
    Quote,
    /// There is no word in it.
    Empty,
}

impl fmt::Display for ConnectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme(text) => write!(
                f,
                "unsupported connection scheme: {text:?}\nnote: supported schemes are: \"stdio\""
            ),
            Self::Quote => f.write_str(
                "failed to parse oracle command\n\nCaused by:\n    missing closing quote",
            ),
            Self::Empty => f.write_str("empty oracle command"),
        }
    }
}

impl std::error::Error for ConnectionError {}

/// The program and its arguments.
pub fn split(connection: &str) -> Result<Vec<String>, ConnectionError> {
    let command = connection
        .strip_prefix(SCHEME)
        .ok_or_else(|| ConnectionError::Scheme(connection.to_owned()))?;
    let words = shell_words::split(command).map_err(|_| ConnectionError::Quote)?;
    if words.is_empty() {
        Err(ConnectionError::Empty)
    } else {
        Ok(words)
    }
}

/// Characters that do not mean what they mean to a shell, by their byte in the connection string: variables, globs,
/// pipes, redirections and more where they are not quoted, a CR between words; and `#` where a comment begins.
pub fn special(connection: &str) -> Vec<(usize, char)> {
    let mut found = Vec::new();
    let mut quote = None;
    let mut starts = true;
    let start = connection.len() - connection.strip_prefix(SCHEME).unwrap_or(connection).len();
    let mut chars = connection.char_indices();
    while let Some((at, c)) = chars.next() {
        if at < start {
            continue;
        }
        let word_starts = std::mem::replace(&mut starts, false);
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('"') | None, '\\') => {
                chars.next();
            }
            (Some('"'), '$' | '`') => found.push((at, c)),
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ' | '\t' | '\n') => starts = true,
            (None, '#') if word_starts => {
                found.push((at, c));
                chars.by_ref().find(|(_, c)| *c == '\n');
                starts = true;
            }
            (None, '~') if !word_starts => {}
            (None, '$' | '`' | '|' | '>' | '<' | '&' | ';' | '*' | '~' | '\r') => {
                found.push((at, c));
            }
            (None, _) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_a_shell_but_nothing_is_expanded() {
        for (tail, words) in [
            ("a b\tc\nd", &["a", "b", "c", "d"][..]),
            ("a\r\nb", &["a\r", "b"]),
            ("a\u{a0}b", &["a\u{a0}b"]),
            (r#"'a b'"c d"e\ f"#, &["a bc de f"]),
            (r#"'\' "\$\`\"\\\a""#, &["\\", r#"$`"\\a"#]),
            ("a\\\nb", &["ab"]),
            ("a\\", &["a\\"]),
            ("''", &[""]),
            ("a # b\nc a#b", &["a", "c", "a#b"]),
            ("~ $X * | > &", &["~", "$X", "*", "|", ">", "&"]),
            ("//true", &["//true"]),
        ] {
            assert_eq!(
                split(&format!("stdio:{tail}")).unwrap_or_default(),
                words,
                "{tail}"
            );
        }
    }

    #[test]
    fn special_characters() {
        for (tail, found) in [
            ("python3 'a b.py' --port=1 a#b a~b {x} A=1", &[][..]),
            ("$X '$X' \"$X\" \\$X", &[(6, '$'), (15, '$')]),
            (
                "a|b > c & d; * ~",
                &[
                    (7, '|'),
                    (10, '>'),
                    (14, '&'),
                    (17, ';'),
                    (19, '*'),
                    (21, '~'),
                ],
            ),
            ("a # '$\nb;", &[(8, '#'), (14, ';')]),
            ("a\r\n`b`", &[(7, '\r'), (9, '`'), (11, '`')]),
        ] {
            assert_eq!(special(&format!("stdio:{tail}")), found, "{tail}");
        }
    }

    #[test]
    fn refused() {
        for (text, error) in [
            ("stdio", ConnectionError::Scheme("stdio".into())),
            ("Stdio:a", ConnectionError::Scheme("Stdio:a".into())),
            (" stdio:a", ConnectionError::Scheme(" stdio:a".into())),
            ("stdio:", ConnectionError::Empty),
            ("stdio: \t#a", ConnectionError::Empty),
            ("stdio:a 'b", ConnectionError::Quote),
            ("stdio:a \"b\\", ConnectionError::Quote),
        ] {
            assert_eq!(split(text), Err(error), "{text}");
        }
    }
}
