//! Broken sessions of mcp and lsp: the first finding names the cause.

use crate::common;
use serde_json::Value;

/// The recording, the rule of the first finding, and a part of its text.
const SESSIONS: [(&str, &str, &str); 8] = [
    ("log-line", "mcp/not-json", "a log line on stdout?"),
    (
        "length",
        "lsp/malformed",
        "the length is 169, but should be 165",
    ),
    (
        "dropped",
        "mcp/unanswered",
        "request tools/call add (1) has no answer",
    ),
    (
        "version",
        "mcp/unknown-version",
        "there is no version \"1999-01-01\"",
    ),
    (
        "capability",
        "mcp/capability-missing",
        "did not declare the capability sampling",
    ),
    (
        "tool",
        "mcp/tool-changed",
        "description of the tool \"add\" differs from the definition in #4",
    ),
    (
        "cancel",
        "mcp/answer-after-cancel",
        "was cancelled by #4, and still has a result",
    ),
    (
        "dead",
        "mcp/unanswered",
        "has no answer, and the connection is closed",
    ),
];

#[test]
fn the_first_finding_names_the_cause() {
    for (name, rule, text) in SESSIONS {
        let file = format!("fixtures/cli/broken/{name}.jsonl");
        let (_, out, _) = common::outcome(&["lint", "-f", "json", &file]);
        let first: Value = serde_json::from_str(out.lines().next().unwrap_or_default())
            .unwrap_or_else(|error| panic!("{name}: {error}: {out}"));
        let finding = &first["finding"];
        assert_eq!(finding["rule"], rule, "{name}: {out}");
        let found = finding["text"].as_str().unwrap_or_default();
        assert!(found.contains(text), "{name}: {found}");
    }
}
