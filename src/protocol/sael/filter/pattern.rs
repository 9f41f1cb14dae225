//! Patterns of `matches`. Go has RE2, which is what `regex` is close to; Python and TypeScript also look around and back.

use regex::{Regex, RegexBuilder};

/// Memory that a compiled pattern may take.
const SIZE: usize = 1 << 20;

/// A pattern, compiled for each way of reading it.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// `\d`, `\w`, `\s` and `\b` are ASCII: Go and TypeScript.
    ascii: Option<Regex>,
    /// They are Unicode: Python.
    unicode: Option<Regex>,
    /// Has what only Python and TypeScript read.
    foreign: bool,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let build = |text: &str| {
            let mut builder = RegexBuilder::new(text);
            builder
                .size_limit(SIZE)
                .dfa_size_limit(SIZE)
                .nest_limit(100);
            builder.build().ok()
        };
        let ascii = build(&translate(text, true));
        let unicode = build(&translate(text, false));
        let foreign = ascii.is_none() && is_foreign(text);
        Self {
            ascii,
            unicode,
            foreign,
        }
    }

    pub(super) fn is_good(&self) -> bool {
        self.ascii.is_some()
    }

    pub(super) fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Whether it is found anywhere in the text; `None` where only that reference could tell.
    pub(super) fn is_match(&self, text: &str, unicode: bool, backtracks: bool) -> Option<bool> {
        if self.foreign && backtracks {
            return None;
        }
        let regex = if unicode { &self.unicode } else { &self.ascii };
        Some(regex.as_ref().is_some_and(|r| r.is_match(text)))
    }
}

/// Look-around or back-references.
fn is_foreign(text: &str) -> bool {
    let mut escaped = false;
    for byte in text.bytes() {
        if escaped {
            escaped = false;
            if matches!(byte, b'1'..=b'9') {
                return true;
            }
        } else if byte == b'\\' {
            escaped = true;
        }
    }
    ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// What `regex` reads otherwise than the three: a bracket or a doubled sign within a class is itself, and classes of
/// letters may be ASCII.
fn translate(text: &str, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let (mut class, mut first) = (false, false);
    while let Some(c) = chars.next() {
        let starts = std::mem::take(&mut first);
        match c {
            '\\' => match chars.next() {
                Some('d') if ascii => out.push_str("[0-9]"),
                Some('D') if ascii => out.push_str("[^0-9]"),
                Some('w') if ascii => out.push_str("[0-9A-Za-z_]"),
                Some('W') if ascii => out.push_str("[^0-9A-Za-z_]"),
                Some('s') if ascii => out.push_str("[\\t\\n\\x0C\\r ]"),
                Some('S') if ascii => out.push_str("[^\\t\\n\\x0C\\r ]"),
                Some('b') if ascii && !class => out.push_str("(?-u:\\b)"),
                Some(next) => {
                    out.push('\\');
                    out.push(next);
                }
                None => out.push('\\'),
            },
            '[' if class && chars.peek() != Some(&':') => out.push_str("\\["),
            '[' if !class => {
                (class, first) = (true, true);
                out.push('[');
            }
            '^' if class && starts => {
                first = true;
                out.push('^');
            }
            ']' if class && !starts => {
                // Of `[[:alpha:]]`, the inner one ends nothing.
                class = out.ends_with(':') && out.rfind("[:").is_some();
                out.push(']');
            }
            '&' | '~' if class => {
                out.push('\\');
                out.push(c);
            }
            '-' if class && chars.peek() == Some(&'-') => out.push_str("\\-"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_references_read_them() {
        for (pattern, text, want) in [
            ("a|b", "xbx", true),
            ("^[ab]", "cab", false),
            ("[", "[", false),
            ("[[]", "[", true),
            ("[a&&b]", "&", true),
            ("[[:alpha:]x]+$", "ab", true),
            ("\\d+", "٣", false),
            ("\\w", "é", false),
            ("(?i)ABC", "abc", true),
            ("a{1000}{1000}", "a", false),
            (
                "(a*)*b",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                false,
            ),
            ("\\", "\\", false),
            ("[]a]", "]", true),
            ("\\bx\\b", "a x b", true),
        ] {
            let found = Pattern::new(pattern).is_match(text, false, false);
            assert_eq!(found, Some(want), "{pattern} in {text}");
        }
        assert_eq!(Pattern::new("\\d").is_match("٣", true, true), Some(true));
        let around = Pattern::new("(?=a)a");
        assert_eq!(around.is_match("a", false, false), Some(false));
        assert_eq!(around.is_match("a", false, true), None);
        assert_eq!(Pattern::new("(").is_match("(", false, true), Some(false));
    }
}
