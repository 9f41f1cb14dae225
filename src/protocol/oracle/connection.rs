//! Splits connection strings as the real executor does.
//!
//! ```text
//!   stdio:python3 'my oracle.py' --port=1      ["python3", "my oracle.py", "--port=1"]
//!   scheme command, split as by a shell; nothing is expanded
//! ```
//!
//! The scheme is exact: lower case, without a blank before it. The rest is split by POSIX rules: quotes, backslashes,
//! comments. Variables, globs, pipes and redirections have no effect.

use std::fmt;

/// The scheme before every command.
const SCHEME: &str = "stdio:";

/// The reason why the executor refuses a connection string, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The string does not start with `stdio:`; the field is the whole string.
    Scheme(String),
    /// A quote is not closed.
    Quote,
    /// There is no word.
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

/// Returns the program and its arguments.
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

/// Returns the characters that have another meaning in a shell, with their byte offsets: variables, globs, pipes,
/// redirections and more outside quotes, a CR between words, and `#` at the start of a comment.
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
    fn words_are_split_as_by_a_shell_without_expansion() {
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
    fn special_characters_are_found() {
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
    fn invalid_connection_strings_are_refused() {
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
