//! Writes the Test Anything Protocol, version 14.
//!
//! ```text
//!   1..2
//!   ok 1 - suite.toml: adds
//!   not ok 2 - suite.toml: divides
//!     ---
//!     failures:
//!       - rule: "test/expect"
//!         text: "no message matches …"
//!     ...
//! ```

use super::cases::Cases;
use crate::render::style::{escape, escape_json};

/// Returns the report.
pub fn text(cases: &Cases) -> String {
    let mut out = format!("TAP version 14\n1..{}\n", cases.all.len());
    for (case, n) in cases.all.iter().zip(1..) {
        let result = if case.failures.is_empty() {
            "ok"
        } else {
            "not ok"
        };
        // `#` would begin a directive.
        let name = escape(&case.name).replace('\\', "\\\\").replace('#', "\\#");
        out.push_str(&format!("{result} {n} - {name}\n"));
        if case.failures.is_empty() && case.notes.is_empty() {
            continue;
        }
        out.push_str("  ---\n");
        if !case.failures.is_empty() {
            out.push_str("  failures:\n");
        }
        for (rule, text) in &case.failures {
            out.push_str(&format!("    - rule: {}\n", quoted(rule)));
            out.push_str(&format!("      text: {}\n", quoted(text)));
        }
        if !case.notes.is_empty() {
            out.push_str("  notes:\n");
        }
        for note in &case.notes {
            out.push_str(&format!("    - {}\n", quoted(note)));
        }
        out.push_str("  ...\n");
    }
    out
}

/// Returns a text in quotes, as YAML reads it: JSON is part of YAML.
fn quoted(text: &str) -> String {
    escape_json(&serde_json::Value::from(text).to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_escaped() {
        let mut cases = Cases::new("wiretool test");
        cases.case("a.toml: adds");
        cases.add_failure(
            "a.toml: #2 \\",
            "test/expect",
            "no \"x\"\u{1b}\nsecond line",
        );
        cases.case("a.toml: notes").notes.push("a note".into());
        insta::assert_snapshot!(text(&cases), @r##"
        TAP version 14
        1..3
        ok 1 - a.toml: adds
        not ok 2 - a.toml: \#2 \\
          ---
          failures:
            - rule: "test/expect"
              text: "no \"x\"\u001b\nsecond line"
          ...
        ok 3 - a.toml: notes
          ---
          notes:
            - "a note"
          ...
        "##);
    }
}
