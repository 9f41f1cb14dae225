//! Every rules file is read whole, and incorrect lines are refused.

use super::*;
use crate::protocol::registry;
use crate::protocol::rule_names::common as rule;
use crate::protocol::session::{Place, Report, broken};
use std::cell::Cell;

/// Writes a rule in the form of its file.
fn written(rule: &Rule) -> String {
    let mut text = format!("## {}\n\n", rule.name);
    let mut item = |key: &str, value: &str| text += &format!("- {key}: {value}\n");
    item("document", rule.document.name());
    item("peers", rule.peers.name());
    item("clause", &rule.clause);
    let needs: Vec<_> = rule.needs.iter().map(|need| need.name().into()).collect();
    for (key, list) in [
        ("implies", &rule.implies),
        ("needs", &needs),
        ("faults", &rule.faults),
    ] {
        if !list.is_empty() {
            item(key, &list.join(", "));
        }
    }
    for (key, is_set) in [("unanswered", rule.unanswered), ("harmless", rule.harmless)] {
        if is_set {
            item(key, "true");
        }
    }
    text + &format!("\n{}\n", rule.why)
}

#[test]
fn incorrect_lines_are_errors() {
    let rule = "## late\n\n- document: error\n- peers: off\n- clause: 1\n\nIt waits.\n";
    assert_eq!(parse(rule, None).map(|rules| rules.len()), Ok(1));
    for (old, new, error) in [
        (
            "document: error",
            "document: warn",
            "line 3: document: wanted off or info or warning or error, got warn",
        ),
        (
            "- clause: 1",
            "- clauses: 1",
            "line 5: key: wanted document, peers, clause, implies, needs, faults, unanswered or harmless, got clauses",
        ),
        (
            "- clause: 1\n",
            "",
            "line 1: clause: wanted it in the rule late, got nothing",
        ),
        (
            "- clause: 1",
            "- clause",
            "line 5: item: wanted a key, a colon and a value, got clause",
        ),
        (
            "\nIt waits.",
            "\n- needs: time\n\nIt waits.",
            "line 7: needs: wanted both-ways or order or sequence or times or ends or secret or signature or connection, got time",
        ),
        (
            "\nIt waits.",
            "\n- harmless: yes\n\nIt waits.",
            "line 7: harmless: wanted true or false, got yes",
        ),
        (
            "It waits.\n",
            "",
            "line 1: consequence: wanted it in the rule late, got nothing",
        ),
        (
            "It waits.",
            "It waits.\n\nIt ends.",
            "line 9: consequence: wanted it once, got it again",
        ),
        (
            "## late\n",
            "late\n",
            "line 1: rule: wanted ## and the name of the rule, got late",
        ),
        (
            "It waits.",
            "It waits.\n\n## late",
            "line 9: name: wanted a new name, got late",
        ),
    ] {
        let text = rule.replacen(old, new, 1).leak();
        let got = parse(text, None).unwrap_err().to_string();
        assert_eq!(got, error, "{text}");
    }
}

#[test]
fn every_line_of_a_rules_file_is_read() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocol");
    let of_protocols = registry::all()
        .iter()
        .map(|p| (p.name(), p.behavior().rules()));
    let family = built_in(include_str!("../rpc/rules.md"), None);
    for (folder, rules) in of_protocols.chain([("", &COMMON[..]), ("rpc", &family)]) {
        let text = std::fs::read_to_string(root.join(folder).join("rules.md")).unwrap();
        let mut blocks: Vec<String> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with("# ")) {
            match blocks.last_mut() {
                _ if line.starts_with("## ") => blocks.push(format!("{line}\n")),
                Some(block) => *block += &format!("{line}\n"),
                None => assert_eq!(line, "", "{folder}"),
            }
        }
        // Rules that several protocols have come before a protocol's own.
        let rules = &rules[rules.len().saturating_sub(blocks.len())..];
        assert_eq!(blocks.len(), rules.len(), "{folder}");
        for (block, rule) in blocks.iter().zip(rules) {
            assert_eq!(format!("{}\n", block.trim_end()), written(rule), "{folder}");
            let alone = rules.iter().filter(|other| other.name == rule.name).count();
            assert_eq!(alone, 1, "{folder}/{}", rule.name);
        }
    }
}

#[test]
fn the_text_of_a_rule_that_is_off_is_not_written() {
    let written = Cell::new(0);
    let text = || {
        written.set(written.get() + 1);
        "it fails"
    };
    let mut report = Report {
        off: [rule::CALL_FAILED].into_iter().collect(),
        ..Report::default()
    };
    for (rule, want) in [
        (rule::CALL_FAILED, ("", 0)),
        (rule::MALFORMED, ("it fails", 1)),
    ] {
        broken!(report, rule, Place::default(); "{}", text());
        let last = report.broken.last().unwrap();
        assert_eq!(last.rule, rule);
        assert_eq!((last.text.as_str(), written.get()), want);
    }
}
