//! Patterns of `matches`. Go uses RE2, which is similar to `regex`; Python and TypeScript also have look-around and
//! back-references.

use regex::{Regex, RegexBuilder};

/// The largest memory of a compiled pattern, in bytes.
const SIZE: usize = 1 << 20;

/// A pattern, compiled once for each interpretation.
#[derive(Clone, Debug)]
pub(super) struct RegexPattern {
    /// `\d`, `\w`, `\s` and `\b` are ASCII: Go and TypeScript.
    ascii: Option<Regex>,
    /// `\d`, `\w`, `\s` and `\b` are Unicode: Python.
    unicode: Option<Regex>,
    /// It has constructs that only Python and TypeScript support.
    foreign: bool,
}

impl RegexPattern {
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

    /// Returns true if the pattern is found anywhere in the text; `None` if only that reference can decide.
    pub(super) fn is_match(&self, text: &str, unicode: bool, backtracks: bool) -> Option<bool> {
        if self.foreign && backtracks {
            return None;
        }
        let regex = if unicode { &self.unicode } else { &self.ascii };
        Some(regex.as_ref().is_some_and(|r| r.is_match(text)))
    }
}

/// Returns true if a pattern has look-around or back-references.
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

/// Translates constructs that `regex` reads differently from the references: a bracket or a doubled sign inside a class
/// is literal, and letter classes may be ASCII.
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
                // In `[[:alpha:]]`, the inner bracket does not end the class.
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
    fn patterns_match_as_in_the_references() {
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
            let found = RegexPattern::new(pattern).is_match(text, false, false);
            assert_eq!(found, Some(want), "{pattern} in {text}");
        }
        assert_eq!(
            RegexPattern::new("\\d").is_match("٣", true, true),
            Some(true)
        );
        let around = RegexPattern::new("(?=a)a");
        assert_eq!(around.is_match("a", false, false), Some(false));
        assert_eq!(around.is_match("a", false, true), None);
        assert_eq!(
            RegexPattern::new("(").is_match("(", false, true),
            Some(false)
        );
    }
}
