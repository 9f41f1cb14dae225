//! `wiretool demo`: client, proxy with a fault, and server of each protocol, all of them this binary, and the commands that it
//! proposes.

use crate::common::{self, Ran};
use std::path::Path;

const PROTOCOLS: [&str; 9] = [
    "mcp",
    "acp",
    "lsp",
    "jsonrpc",
    "oracle",
    "saikuro",
    "sael",
    "stepflow",
    "telequick",
];

fn demo(home: &Path, args: &[&str]) -> Ran {
    let mut command = common::wiretool();
    command
        .args(["demo", "--fast"])
        .args(args)
        .current_dir(home);
    command.env("HOME", home).env_remove("XDG_STATE_HOME");
    common::run(command.env("COLUMNS", "80"), "")
}

/// Runs the proposed commands of a demo, which are in its last step.
fn try_commands(home: &Path, shown: &str) -> Vec<String> {
    let (_, last) = shown.split_once("6/6 ").unwrap();
    let commands = last.lines().filter_map(|line| {
        let command = line.strip_prefix("  wiretool ")?;
        Some(command.split("  ").next().unwrap_or_default())
    });
    let run = |command: &str| {
        let mut shell = common::shell("sh");
        shell.args(["-c", &format!("wiretool {command}")]);
        shell.env("HOME", home).env_remove("XDG_STATE_HOME");
        let (code, out, err) = common::run(shell.current_dir(home), "");
        assert_eq!(code, 0, "{command}: {out}{err}");
        out + &err
    };
    commands.map(run).collect()
}

#[test]
fn each_protocol_loses_an_answer_and_lint_says_so() {
    let check = |protocol: &str| {
        let home = tempfile::tempdir_in(common::temporary()).unwrap();
        let (code, shown, err) = demo(home.path(), &[protocol]);
        assert_eq!((code, err.as_str()), (0, ""), "{protocol}: {shown}");
        let steps: Vec<&str> = shown.split("\n\n").collect();
        assert_eq!(steps.len(), 6, "{protocol}: {shown}");
        for (n, step) in steps.iter().enumerate() {
            assert!(step.starts_with(&format!("{}/6 ", n + 1)), "{step}");
            assert!(step.lines().count() < 24, "{step}");
            assert!(
                step.lines().all(|line| line.chars().count() <= 80),
                "{step}"
            );
        }
        assert!(!shown.contains('\x1b'), "{shown}");
        for (step, wanted) in [
            (1, "→"),
            (2, "by wiretool: drop"),
            (2, "no message for 2 s"),
            (3, ".."),
            (4, "must send it"),
        ] {
            assert!(steps[step].contains(wanted), "{protocol}: {}", steps[step]);
        }
        let tried = try_commands(home.path(), &shown);
        assert_eq!(tried.len(), 3, "{shown}");
        let text = |n: usize| tried[n].split_whitespace().collect::<Vec<_>>().join(" ");
        for n in [0, 1] {
            assert!(
                text(n).contains("wiretool dropped its answer"),
                "{}",
                tried[n]
            );
        }
        assert!(
            tried[2].contains(&format!("protocol = \"{protocol}\"")),
            "{}",
            tried[2]
        );
    };
    std::thread::scope(|scope| {
        for part in PROTOCOLS.chunks(3) {
            scope.spawn(move || part.iter().for_each(|protocol| check(protocol)));
        }
    });
}

#[test]
fn the_recording_is_where_it_is_wanted_and_nothing_is_replaced() {
    let home = tempfile::tempdir_in(common::temporary()).unwrap();
    for name in ["my demo.jsonl", "my demo.jsonl.1"] {
        let (code, shown, _) = demo(home.path(), &["oracle", "-w", "my demo.jsonl"]);
        assert_eq!(code, 0, "{shown}");
        assert!(
            shown.contains(&format!("wiretool lint '{name}'")),
            "{shown}"
        );
        assert!(home.path().join(name).exists());
        assert_eq!(try_commands(home.path(), &shown).len(), 3);
    }
    let (code, _, err) = demo(home.path(), &["nvim"]);
    assert_eq!(code, 2);
    assert!(err.contains("mcp"), "{err}");
}
