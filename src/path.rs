//! Paths of values in a message: one grammar for all code that reads or prints a path.
//!
//! ```text
//!   params.calldata[0]      meta["a b"].x      ["*"]      [2].id
//!          '- name '- element    '- other names need quotes
//! ```
//!
//! Conditions, ignored paths, differences and stub scripts share it, so that a printed path is
//! valid input everywhere. A printed path reads back as the same path. Also accepted: a point
//! before the first step, `."a b"` for `["a b"]`, and single quotes. In double quotes, a backslash
//! escapes a quote and itself.

use crate::tape::Node;
use std::fmt::{self, Display, Formatter, Write};
use std::ops::{Deref, Range};
use std::str::FromStr;

/// One step down in a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// The value of a key; of a repeated key, the last.
    Member(String),
    /// An element, counted from 0.
    Element(usize),
}

/// The steps from the outermost value to an inner one; empty for the outermost value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path(Vec<PathStep>);

/// The reason why text is not a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// The range in the text.
    pub at: Range<usize>,
    /// The expected text.
    pub wanted: &'static str,
    /// The quote that is not closed.
    pub open: Option<usize>,
}

/// A step as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedStep {
    /// The step.
    pub step: PathStep,
    /// `true` for a name without quotes.
    pub is_bare: bool,
    /// Its length in bytes, with the separator before it.
    pub len: usize,
}

impl Path {
    /// The outermost value.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Goes one step down.
    pub fn push(&mut self, step: PathStep) {
        self.0.push(step);
    }

    /// Goes one step up.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// Returns the value at the path.
    pub fn find<'a>(&self, root: Node<'a>) -> Option<Node<'a>> {
        self.iter().try_fold(root, |node, step| match step {
            PathStep::Member(name) => node.get(name),
            PathStep::Element(n) => node.at(*n),
        })
    }
}

impl From<Vec<PathStep>> for Path {
    fn from(steps: Vec<PathStep>) -> Self {
        Self(steps)
    }
}

impl Deref for Path {
    type Target = [PathStep];

    fn deref(&self) -> &[PathStep] {
        &self.0
    }
}

impl FromStr for Path {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let (mut path, mut at) = (Self::new(), 0);
        while at < text.len() {
            let rest = text.get(at..).unwrap_or_default();
            let taken =
                next(rest, path.is_empty(), |_| true).map_err(|violation| violation.after(at))?;
            let Some(taken) = taken else {
                return Err(PathError::new(at..at, "a dot or a bracket"));
            };
            path.push(taken.step);
            at += taken.len;
        }
        Ok(path)
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut steps = self.iter().enumerate();
        steps.try_for_each(|(n, step)| write_step(step, n == 0, f))
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: wanted {}", self.at.start, self.wanted)
    }
}

impl std::error::Error for PathError {}

impl PathError {
    fn new(at: Range<usize>, wanted: &'static str) -> Self {
        let open = None;
        Self { at, wanted, open }
    }

    /// Shifts the positions by the number of bytes before the text.
    fn after(self, bytes: usize) -> Self {
        Self {
            at: self.at.start + bytes..self.at.end + bytes,
            open: self.open.map(|open| open + bytes),
            ..self
        }
    }
}

/// Returns `true` if a name needs no quotes in any context.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '/');
    !name.is_empty() && name.chars().all(plain)
}

/// Writes one step of a path.
pub fn write_step(step: &PathStep, is_first: bool, out: &mut impl Write) -> fmt::Result {
    match step {
        PathStep::Element(n) => write!(out, "[{n}]"),
        PathStep::Member(name) if is_plain(name) => {
            out.write_str(if is_first { "" } else { "." })?;
            out.write_str(name)
        }
        PathStep::Member(name) => {
            out.write_char('[')?;
            write_quoted(name, out)?;
            out.write_char(']')
        }
    }
}

/// Writes text in quotes.
pub fn write_quoted(text: &str, out: &mut impl Write) -> fmt::Result {
    out.write_char('"')?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.write_char('\\')?;
        }
        out.write_char(c)?;
    }
    out.write_char('"')
}

/// Reads quoted text at the start of `text`: the text, and its length with the quotes.
pub fn quoted(text: &str) -> Result<Option<(String, usize)>, PathError> {
    let mut chars = text.char_indices().peekable();
    let Some((_, quote)) = chars.next_if(|(_, c)| matches!(c, '"' | '\'')) else {
        return Ok(None);
    };
    let mut out = String::new();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Ok(Some((out, at + 1)));
        }
        let is_escapable = |(_, next): &(usize, char)| matches!(next, '"' | '\\');
        let escapes = quote == '"' && c == '\\';
        let next = chars.next_if(|next| escapes && is_escapable(next));
        out.push(next.map_or(c, |(_, next)| next));
    }
    Err(PathError {
        at: text.len()..text.len(),
        wanted: "a closing quote",
        open: Some(0),
    })
}

/// Reads the step at the start of `text`; `None` if no step follows. The first step needs no
/// separator before its name; `bare` accepts the characters of a name without quotes, except points
/// and brackets.
pub fn next(
    text: &str,
    is_first: bool,
    bare: impl Fn(char) -> bool,
) -> Result<Option<ParsedStep>, PathError> {
    let point = usize::from(text.starts_with('.'));
    let rest = text.get(point..).unwrap_or_default();
    if let Some(inside) = rest.strip_prefix('[') {
        let start = point + 1;
        let in_quotes = quoted(inside).map_err(|violation| violation.after(start))?;
        let (step, len) = if let Some((name, len)) = in_quotes {
            (PathStep::Member(name), len)
        } else {
            let ends = |c: char| matches!(c, '.' | '[' | ']') || !bare(c);
            let len = inside.find(ends).unwrap_or(inside.len());
            let digits = inside.get(..len).unwrap_or_default();
            let plain = digits.bytes().all(|b| b.is_ascii_digit());
            let number = digits.parse().ok().filter(|_| plain);
            let wanted = "the number of an element, or a name in quotes";
            let number = number.ok_or_else(|| PathError::new(start..start + len, wanted))?;
            (PathStep::Element(number), len)
        };
        let end = start + len;
        if text.as_bytes().get(end) != Some(&b']') {
            return Err(PathError::new(end..end, "a closing bracket"));
        }
        let (is_bare, len) = (false, end + 1);
        return Ok(Some(ParsedStep { step, is_bare, len }));
    }
    if point == 0 && !is_first {
        return Ok(None);
    }
    let in_quotes = quoted(rest).map_err(|violation| violation.after(point))?;
    let is_bare = in_quotes.is_none();
    let (name, len) = in_quotes.unwrap_or_else(|| {
        let ends = |c: char| matches!(c, '.' | '[') || !bare(c);
        let len = rest.find(ends).unwrap_or(rest.len());
        (rest.get(..len).unwrap_or_default().to_owned(), len)
    });
    match (is_bare && name.is_empty(), point) {
        (true, 0) => Ok(None),
        (true, _) => Err(PathError::new(point..point, "the name of a member")),
        (false, _) => Ok(Some(ParsedStep {
            step: PathStep::Member(name),
            is_bare,
            len: point + len,
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn member(name: &str) -> PathStep {
        PathStep::Member(name.to_owned())
    }

    #[test]
    fn paths_are_read_and_printed() {
        for (text, want, shown) in [
            ("", vec![], ""),
            ("id", vec![member("id")], "id"),
            (
                "params.calldata[0]",
                vec![member("params"), member("calldata"), PathStep::Element(0)],
                "params.calldata[0]",
            ),
            (".params", vec![member("params")], "params"),
            ("[2].id", vec![PathStep::Element(2), member("id")], "[2].id"),
            (".[2]", vec![PathStep::Element(2)], "[2]"),
            ("a[\"x y\"]", vec![member("a"), member("x y")], "a[\"x y\"]"),
            ("a.\"x y\"", vec![member("a"), member("x y")], "a[\"x y\"]"),
            ("a.'x y'", vec![member("a"), member("x y")], "a[\"x y\"]"),
            ("\"x y\".z", vec![member("x y"), member("z")], "[\"x y\"].z"),
            ("a.x y", vec![member("a"), member("x y")], "a[\"x y\"]"),
            ("a.0", vec![member("a"), member("0")], "a.0"),
            ("a[\"0\"]", vec![member("a"), member("0")], "a.0"),
            ("[\"*\"]", vec![member("*")], "[\"*\"]"),
            ("[\"\"]", vec![member("")], "[\"\"]"),
            (
                r#"["a\"b\\c\d"]"#,
                vec![member(r#"a"b\c\d"#)],
                r#"["a\"b\\c\\d"]"#,
            ),
            ("[']']", vec![member("]")], "[\"]\"]"),
        ] {
            let path: Path = text.parse().unwrap();
            assert_eq!(*path, *want, "{text}");
            assert_eq!(path.to_string(), shown, "{text}");
        }
    }

    #[test]
    fn malformed_paths_are_refused() {
        for (text, at, wanted) in [
            (".", 1..1, "the name of a member"),
            ("a..b", 2..2, "the name of a member"),
            (
                "a[x]",
                2..3,
                "the number of an element, or a name in quotes",
            ),
            ("a[]", 2..2, "the number of an element, or a name in quotes"),
            (
                "a[+1]",
                2..4,
                "the number of an element, or a name in quotes",
            ),
            ("a[0", 3..3, "a closing bracket"),
            ("a[\"b\"c]", 5..5, "a closing bracket"),
            ("a.\"b", 4..4, "a closing quote"),
            ("a[0]b", 4..4, "a dot or a bracket"),
        ] {
            let violation = text.parse::<Path>().unwrap_err();
            assert_eq!((violation.at, violation.wanted), (at, wanted), "{text}");
        }
        let huge = "a[99999999999999999999999]".parse::<Path>();
        assert!(huge.is_err());
    }

    fn any_step() -> impl Strategy<Value = PathStep> {
        let odd = prop::collection::vec(
            prop::sample::select(vec![
                '"', '\'', '\\', '[', ']', '.', '*', ' ', '\n', '\u{1}', 'a', '0', '}',
            ]),
            0..5,
        );
        prop_oneof![
            "[a-z0-9_$/-]{1,6}".prop_map(PathStep::Member),
            odd.prop_map(|chars| PathStep::Member(chars.into_iter().collect())),
            any::<String>().prop_map(PathStep::Member),
            any::<usize>().prop_map(PathStep::Element),
        ]
    }

    proptest! {
        #[test]
        fn printed_path_reads_back(steps in prop::collection::vec(any_step(), 0..5)) {
            let path = Path::from(steps);
            let shown = path.to_string();
            prop_assert_eq!(shown.parse::<Path>().unwrap(), path.clone());
            prop_assert_eq!(format!(".{shown}").parse::<Path>().is_ok(), !path.is_empty());
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            if let Ok(path) = text.parse::<Path>() {
                prop_assert_eq!(path.to_string().parse::<Path>().unwrap(), path);
            }
        }
    }
}
