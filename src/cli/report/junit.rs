//! Writes `JUnit` XML for CI services.

use super::cases::Cases;
use crate::render::style::escape;

/// Returns the report.
pub fn text(cases: &Cases) -> String {
    let (tests, failures) = (cases.all.len(), cases.failed());
    let name = cases.command;
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!("<testsuites name=\"{name}\" {counts}>\n"));
    out.push_str(&format!("  <testsuite name=\"{name}\" {counts}>\n"));
    for case in &cases.all {
        let file = escape_xml(&case.name);
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
    use super::*;

    #[test]
    fn each_input_is_a_case_with_all_its_failures() {
        let mut cases = Cases::new("wiretool replay");
        cases.case("a.jsonl");
        cases.add_failure(
            "b.jsonl",
            "replay/differs",
            "#3 <call> & \"x\"\u{1b}\n  more",
        );
        cases.add_failure("b.jsonl", "replay/hangs", "nothing came");
        insta::assert_snapshot!(text(&cases), @r##"
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
