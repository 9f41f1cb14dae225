//! Writes `JUnit` XML for CI services.

use crate::conversation::Finding;
use crate::protocol::session::Place;
use crate::render::style::escape;

/// A test suite with one test case per input.
pub struct Junit {
    command: &'static str,
    cases: Vec<Case>,
}

pub struct Case {
    file: String,
    /// Broken rules with texts.
    failures: Vec<(String, String)>,
    /// Other findings.
    notes: Vec<String>,
}

impl Junit {
    pub fn new(command: &'static str) -> Self {
        let cases = Vec::new();
        Self { command, cases }
    }

    /// Returns the case of a file: the last one, or a new one.
    pub fn case(&mut self, file: &str) -> &mut Case {
        let at = self.cases.iter().rposition(|case| case.file == file);
        let at = at.unwrap_or_else(|| {
            self.cases.push(Case {
                file: file.to_owned(),
                failures: Vec::new(),
                notes: Vec::new(),
            });
            self.cases.len() - 1
        });
        &mut self.cases[at]
    }

    pub fn add_finding(&mut self, finding: &Finding, file: &str, fails: bool) {
        let place = finding.place;
        let index =
            (place.index != Place::NO_MESSAGE).then(|| format!("message #{}, ", place.index));
        let text = format!(
            "{}offset {}: {}",
            index.unwrap_or_default(),
            place.offset,
            finding.text
        );
        if fails {
            self.add_failure(file, &finding.name(), &text);
        } else {
            let note = format!("{} {}: {text}", finding.severity.name(), finding.name());
            self.case(file).notes.push(note);
        }
    }

    pub fn add_failure(&mut self, file: &str, rule: &str, text: &str) {
        let failure = (rule.to_owned(), text.to_owned());
        self.case(file).failures.push(failure);
    }

    pub fn text(&self) -> String {
        let failed = self.cases.iter().filter(|case| !case.failures.is_empty());
        let (tests, failures) = (self.cases.len(), failed.count());
        let name = self.command;
        let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        out.push_str(&format!("<testsuites name=\"{name}\" {counts}>\n"));
        out.push_str(&format!("  <testsuite name=\"{name}\" {counts}>\n"));
        for case in &self.cases {
            let file = escape_xml(&case.file);
            let is_empty = case.failures.is_empty() && case.notes.is_empty();
            let end = if is_empty { "/>" } else { ">" };
            out.push_str(&format!(
                "    <testcase classname=\"{name}\" name=\"{file}\"{end}\n"
            ));
            // Readers accept one failure per case.
            if let Some((rule, text)) = case.failures.first() {
                let summary = escape_xml(text.lines().next().unwrap_or_default());
                let rule = escape_xml(rule);
                out.push_str(&format!(
                    "      <failure type=\"{rule}\" message=\"{summary}\">"
                ));
                let all = case
                    .failures
                    .iter()
                    .map(|(rule, text)| format!("{rule}: {text}"));
                out.push_str(&escape_xml(&all.collect::<Vec<_>>().join("\n")));
                out.push_str("</failure>\n");
            }
            if !case.notes.is_empty() {
                let notes = escape_xml(&case.notes.join("\n"));
                out.push_str(&format!("      <system-out>{notes}</system-out>\n"));
            }
            if !is_empty {
                out.push_str("    </testcase>\n");
            }
        }
        out.push_str("  </testsuite>\n</testsuites>\n");
        out
    }
}

/// Escapes text for XML; characters that XML cannot contain are escaped as on a screen.
fn escape_xml(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        escape(line)
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::Junit;

    #[test]
    fn each_input_is_a_case_with_all_its_failures() {
        let mut junit = Junit::new("wiretool replay");
        junit.case("a.jsonl");
        junit.add_failure(
            "b.jsonl",
            "replay/differs",
            "#3 <call> & \"x\"\u{1b}\n  more",
        );
        junit.add_failure("b.jsonl", "replay/hangs", "nothing came");
        insta::assert_snapshot!(junit.text(), @r##"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="wiretool replay" tests="2" failures="1" errors="0">
          <testsuite name="wiretool replay" tests="2" failures="1" errors="0">
            <testcase classname="wiretool replay" name="a.jsonl"/>
            <testcase classname="wiretool replay" name="b.jsonl">
              <failure type="replay/differs" message="#3 &lt;call&gt; &amp; &quot;x&quot;\u{1b}">replay/differs: #3 &lt;call&gt; &amp; &quot;x&quot;\u{1b}
          more
        replay/hangs: nothing came</failure>
            </testcase>
          </testsuite>
        </testsuites>
        "##);
    }
}
