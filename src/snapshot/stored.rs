//! A snapshot's file in the format of the crate `insta`: a header in YAML between two lines of
//! dashes, then the text.
//!
//! ```text
//!   ---
//!   source: session.jsonl
//!   expression: wiretool snapshot session.jsonl
//!   ---
//!   #0 → call math.add ...
//! ```
//!
//! A file `.snap.new` next to it waits for a review. Line ends and trailing blanks are ignored.

use std::path::{Path, PathBuf};

/// The start of the expression in snapshots of wiretool.
const OURS: &str = "wiretool snapshot ";

/// A stored snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The lines between the dashes.
    header: Vec<String>,
    /// The rendered text, without trailing blanks.
    pub contents: String,
}

impl Stored {
    /// Creates a snapshot of a fixture.
    pub fn new(fixture: &Path, rendering: &str) -> Self {
        let name = fixture.file_name().unwrap_or_default().to_string_lossy();
        Self {
            header: vec![
                format!("source: {}", scalar(&name)),
                format!("expression: {}", scalar(&format!("{OURS}{name}"))),
            ],
            contents: normal(rendering),
        }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// A sentence about the invalid line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.split_inclusive('\n');
        let mut at = 0;
        let mut header = Vec::new();
        let first = lines.next().unwrap_or_default();
        if first.trim_end() != "---" {
            return Err(format!("line 1: wanted ---, got {:?}", cut(first)));
        }
        at += first.len();
        for (number, line) in (2..).zip(lines) {
            at += line.len();
            let line = line.trim_end();
            if line == "---" {
                let contents = normal(text.get(at..).unwrap_or_default());
                return Ok(Self { header, contents });
            }
            // Nested or continued lines belong to the key above.
            let below = line.is_empty() || line.starts_with([' ', '-', '#']);
            if !below && !line.contains(": ") && !line.ends_with(':') {
                return Err(format!(
                    "line {number}: wanted `key: value`, got {:?}",
                    cut(line)
                ));
            }
            header.push(line.to_owned());
        }
        Err("the header has no end: wanted a second line ---".to_owned())
    }

    /// Returns the file's text.
    pub fn text(&self) -> String {
        let mut out = "---\n".to_owned();
        for line in &self.header {
            out.push_str(line);
            out.push('\n');
        }
        out.push_str("---\n");
        out.push_str(&self.contents);
        out.push('\n');
        out
    }

    /// Removes the header lines that only a pending snapshot has.
    #[must_use]
    pub fn accepted(mut self) -> Self {
        let only_pending = |line: &String| line.starts_with("assertion_line:");
        self.header.retain(|line| !only_pending(line));
        self
    }

    /// Returns `true` if it equals a rendering.
    pub fn holds(&self, rendering: &str) -> bool {
        self.contents == normal(rendering)
    }

    /// Returns `true` if wiretool wrote it, and not a test of another program.
    pub fn is_ours(&self) -> bool {
        self.header.iter().any(|line| {
            let value = line.strip_prefix("expression: ").unwrap_or_default();
            value.trim_start_matches('"').starts_with(OURS)
        })
    }
}

/// Returns the path of a fixture's snapshot.
pub fn snapshot_beside(fixture: &Path) -> PathBuf {
    with(fixture, ".snap")
}

/// Returns the path of a fixture's pending snapshot.
pub fn pending_beside(fixture: &Path) -> PathBuf {
    with(fixture, ".snap.new")
}

fn with(fixture: &Path, more: &str) -> PathBuf {
    let mut name = fixture.as_os_str().to_owned();
    name.push(more);
    PathBuf::from(name)
}

/// Normalises text as `insta` does: trailing blanks and carriage returns of line ends are removed.
fn normal(text: &str) -> String {
    text.trim_end().replace("\r\n", "\n")
}

fn cut(text: &str) -> String {
    text.trim_end().chars().take(40).collect()
}

/// Formats a text as YAML, in quotes if needed.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '_' | '-' | '/' | '+');
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text.chars().all(plain)
        && !matches!(
            text.to_lowercase().as_str(),
            "y" | "n" | "yes" | "no" | "true" | "false" | "on" | "off" | "null"
        );
    if is_plain {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshot_reads_back() {
        let stored = Stored::new(Path::new("captures/a b.hex"), "one\n  two\n\n");
        insta::assert_snapshot!(stored.text(), @r"
        ---
        source: a b.hex
        expression: wiretool snapshot a b.hex
        ---
        one
          two
        ");
        assert_eq!(Stored::parse(&stored.text()), Ok(stored.clone()));
        assert!(stored.holds("one\r\n  two"));
        assert!(!stored.holds("one\n two"));
        assert!(stored.is_ours());
    }

    #[test]
    fn names_are_quoted_if_needed() {
        for (name, want) in [
            ("a.hex", "a.hex"),
            ("#1.hex", "\"#1.hex\""),
            ("12.hex", "\"12.hex\""),
            ("a: b", "\"a: b\""),
            ("no", "\"no\""),
            ("q\"q", "\"q\\\"q\""),
        ] {
            assert_eq!(scalar(name), want);
            assert!(Stored::new(Path::new(name), "").is_ours(), "{name}");
        }
    }

    #[test]
    fn files_of_insta_are_read() {
        let text = "---\nsource: tests/a.rs\nassertion_line: 12\nexpression: \"&text\"\ninfo:\n  - 1\n---\r\nx\r\ny\r\n";
        let stored = Stored::parse(text).unwrap();
        assert_eq!(stored.contents, "x\ny");
        assert!(!stored.is_ours());
        assert_eq!(
            stored.accepted().text(),
            "---\nsource: tests/a.rs\nexpression: \"&text\"\ninfo:\n  - 1\n---\nx\ny\n"
        );
    }

    #[test]
    fn malformed_headers_are_refused() {
        for (text, want) in [
            ("", "line 1: wanted ---, got \"\""),
            ("source: x\n---\n", "line 1: wanted ---, got \"source: x\""),
            (
                "---\nsource x\n---\n",
                "line 2: wanted `key: value`, got \"source x\"",
            ),
            (
                "---\n<<<<<<< ours\n---\n",
                "line 2: wanted `key: value`, got \"<<<<<<< ours\"",
            ),
            (
                "---\nsource: x\n",
                "the header has no end: wanted a second line ---",
            ),
        ] {
            assert_eq!(Stored::parse(text), Err(want.to_owned()));
        }
    }
}
