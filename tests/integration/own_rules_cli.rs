//! Rules that a project states in `wiretool.toml`, on the command line.

use crate::common::{self, Ran, file, run, wiretool};
use std::path::Path;

const RULES: &str = "fixtures/cli/rules.toml";
const AGENT: &str = "fixtures/cli/agent.jsonl";

fn ran(args: &[&str]) -> Ran {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    run(wiretool().current_dir(root).args(args), "")
}

#[test]
fn rules_of_a_project_are_rules_like_all_others() {
    let config = ["--config", RULES];
    let lint = |args: &[&str]| ran(&[&["lint"], &config[..], args].concat());
    for (args, code, wanted) in [
        (
            &[AGENT][..],
            1,
            &[
                "error mcp/approval: #5",
                "error mcp/tools: #11",
                "warning mcp/slow: #6",
            ][..],
        ),
        (
            &["--allow", "mcp/tools,approval", AGENT],
            0,
            &["warning mcp/slow: #6"],
        ),
        (
            &["--allow", "tools,approval", "--deny", "slow", AGENT],
            1,
            &["error mcp/slow: #6"],
        ),
        (
            &["--allow", "tools,approval", "--fail-on", "warning", AGENT],
            1,
            &["warning mcp/slow"],
        ),
        (
            &["--report", "sarif", AGENT],
            1,
            &[
                r#""id": "mcp/approval""#,
                "delete_file of a.txt without approval",
                "fixtures/cli/rules.toml:3",
            ],
        ),
        (
            &["--report", "github", AGENT],
            1,
            &["::error file=fixtures/cli/agent.jsonl,line=8"],
        ),
        (
            &["-f", "json", AGENT],
            1,
            &[r#""rule":"mcp/approval","severity":"error""#],
        ),
        (&["--rules", "-p", "mcp"], 0, &["mcp/calls"]),
        (&["--rules", "-p", "sael"], 0, &["sael/slow"]),
        (
            &["--explain", "mcp/calls"],
            0,
            &["at most 20 messages", "within 1m"],
        ),
        // Other protocols have no rule of mcp.
        (&["fixtures/dap/session.jsonl"], 0, &[]),
    ] {
        let (got, out, err) = lint(args);
        let missing: Vec<_> = wanted.iter().filter(|part| !out.contains(**part)).collect();
        assert!(
            got == code && missing.is_empty(),
            "{args:?}: {got}\n{out}{err}lacks {missing:?}"
        );
    }
    let (code, out, _) = ran(&["lint", AGENT]);
    assert!(code == 0 && !out.contains("approval"), "{out}");
    let (_, out, _) = ran(&[&["decode", "--lint", "-f", "json"], &config[..], &[AGENT]].concat());
    assert!(out.contains("mcp/approval"), "{out}");
}

#[test]
fn a_wrong_rule_of_a_project_is_an_error_with_its_place() {
    let folder = common::temporary().join("own-rules");
    std::fs::create_dir_all(&folder).unwrap();
    for (text, wanted) in [
        (
            "name = \"a\"\nprotocol = \"mpc\"\nmust = \"kind\"",
            "wrong.toml:3:12: protocol: wanted one of ",
        ),
        (
            "name = \"a\"\nnevr = \"kind\"",
            "wrong.toml:3:1: unknown key nevr: did you mean never?",
        ),
        (
            "name = \"unanswered\"\nprotocol = \"mcp\"\nmust = \"kind\"",
            "wrong.toml:1: mcp has a rule unanswered already",
        ),
    ] {
        let path = file(&folder, "wrong.toml", format!("[[rule]]\n{text}\n"));
        let (code, _, err) = ran(&["lint", "--config", &path, AGENT]);
        assert!(code == 2 && err.contains(wanted), "{text}: {err}");
    }
}
