//! Writes workflow commands of GitHub Actions, which become annotations of files.
//!
//! ```text
//!   ::error file=a.jsonl,line=7,col=1,title=saikuro/seq-gap::seq is 5, 4 should follow
//! ```

use super::{FilePlace, ReportedProblem};
use crate::conversation::Finding;
use crate::protocol::session::{Place, Severity};
use crate::render::findings::MAX_TEXT;
use crate::render::style::{escape, shorten};

/// One annotation per finding.
#[derive(Default)]
pub struct Github {
    text: String,
}

impl Github {
    pub fn add_finding(&mut self, finding: &Finding, at: FilePlace<'_>) {
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Off => "notice",
        };
        let place = finding.place;
        let index =
            (place.index != Place::NO_MESSAGE).then(|| format!("message #{}: ", place.index));
        let text = shorten(&finding.text, MAX_TEXT);
        let text = format!("{}{text}", index.unwrap_or_default());
        self.add(level, at, &finding.name(), &text);
    }

    /// Adds a problem of a file: its summary.
    pub fn add_problem(&mut self, problem: &ReportedProblem<'_>, at: FilePlace<'_>) {
        let summary = problem.text.lines().next().unwrap_or_default();
        let text = shorten(summary, MAX_TEXT);
        let text = match at.case {
            "" => text.into_owned(),
            case => format!("{case}: {text}"),
        };
        self.add("error", at, problem.rule, &text);
    }

    fn add(&mut self, level: &str, at: FilePlace<'_>, title: &str, text: &str) {
        let line = at
            .line
            .map(|at| format!(",line={},col={}", at.line, at.column));
        let lines: Vec<_> = text.split('\n').map(escape).collect();
        let command = format!(
            "::{level} file={}{},title={}::{}\n",
            property(at.file),
            line.unwrap_or_default(),
            property(title),
            value(&lines.join("\n"))
        );
        self.text.push_str(&command);
    }

    /// Returns all annotations.
    pub fn text(self) -> String {
        self.text
    }
}

/// Escapes a value as the runner unescapes it.
fn value(text: &str) -> String {
    let text = text.replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    value(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_as_the_runner_unescapes_them() {
        let mut github = Github::default();
        let problem = ReportedProblem {
            rule: "snapshot/changed",
            about: "",
            text: "50 % differ: a,\x1b\n- a: 1",
        };
        github.add_problem(&problem, FilePlace::of("a,b:c.jsonl"));
        insta::assert_snapshot!(github.text(), @r"::error file=a%2Cb%3Ac.jsonl,title=snapshot/changed::50 %25 differ: a,\u{1b}");
    }
}
