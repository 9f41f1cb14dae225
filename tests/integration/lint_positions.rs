//! Positions of findings for editors and CI services: lines of text inputs, annotations, reports in files.

use crate::common;
use serde_json::Value;
use std::path::Path;

const GAP: &str = "fixtures/saikuro/rules/seq-gap.fires.jsonl";
const READY: &str = r#"{"jsonrpc":"2.0","id":0,"method":"ready"}"#;

/// The start of the first finding, before its severity.
fn position(args: &[&str]) -> String {
    let (_, out, err) = common::outcome(&[&["lint"], args].concat());
    let line = out
        .lines()
        .next()
        .unwrap_or_else(|| panic!("{args:?}: {err}"));
    let at = line.find(": error ").unwrap_or_else(|| panic!("{line}"));
    line[..at].to_owned()
}

#[test]
fn a_finding_in_a_text_input_has_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| common::file(folder.path(), name, content);
    let lines = format!("{READY}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[}}\n");
    let raw = file("raw.txt", lines.as_bytes());
    // The fault is in the line of the closing brace.
    assert_eq!(
        position(&["-p", "oracle", "--dir", "s2c", &raw]),
        format!("{raw}:2:35")
    );
    // The same in a pair of files, and as a dump: each line of the dump has 16 bytes.
    let other = file("raw.c2s.txt", b"");
    let pair = ["-p", "oracle", "--c2s", &other, "--s2c", &raw];
    assert_eq!(position(&pair), format!("{raw}:2:35"));
    let mut dump = String::from("# a remark\n");
    for row in lines.as_bytes().chunks(16) {
        dump += &format!("{}\n", hex::encode(row));
    }
    let dump = file("raw.hex", dump.as_bytes());
    let at = READY.len() + 1 + 34;
    assert_eq!(
        position(&["-p", "oracle", "--dir", "s2c", &dump]),
        format!("{dump}:{}:1", 2 + at / 16)
    );
    // A line of a recording is that of its chunk.
    assert_eq!(position(&[GAP]), format!("{GAP}:5:1"));
    // Other bytes have no lines.
    let binary = file("a.bin", &hex::decode("0000000000000001c1").unwrap());
    assert_eq!(
        position(&["-p", "saikuro", &binary]),
        format!("{binary}: offset 4")
    );
}

#[test]
fn annotations_name_file_line_and_column() {
    let (code, out, _) = common::outcome(&["lint", "--report", "github", GAP]);
    assert_eq!(code, 1);
    assert_eq!(
        out,
        format!(
            "::error file={GAP},line=5,col=1,title=saikuro/seq-gap::message #2: seq is 2; it should be 1, after #1\n"
        )
    );
    let (_, out, _) = common::outcome(&["lint", "--report", "sarif", GAP]);
    let report: Value = serde_json::from_str(&out).unwrap();
    let place = &report["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        place["region"],
        serde_json::json!({ "startLine": 5, "startColumn": 1 })
    );
}

#[test]
fn a_report_of_snapshots_does_not_replace_their_text() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = common::file(folder.path(), "a.jsonl", format!("{READY}\n"));
    let report = folder.path().join("report.txt");
    let report = report.to_str().unwrap();
    let text = format!("+ {fixture}: has no snapshot yet\n");
    let annotation = format!("::error file={fixture},title=snapshot/new::has no snapshot yet\n");
    let folder = Path::new(&fixture).parent().unwrap().to_str().unwrap();
    let command = ["snapshot", "test", "--report", "github", folder];
    // With a file for the report, the text is on stdout; otherwise it is on stderr.
    let (code, out, _) = common::outcome(&[&command[..], &["-o", report]].concat());
    assert_eq!((code, out.as_str()), (1, text.as_str()));
    assert_eq!(std::fs::read_to_string(report).unwrap(), annotation);
    let (code, out, err) = common::outcome(&command);
    assert_eq!((code, out), (1, annotation));
    assert!(err.contains(text.trim_end()), "{err}");
    // Without a report, the file has the text.
    let (code, out, _) = common::outcome(&["snapshot", "test", "-o", report, folder]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(std::fs::read_to_string(report).unwrap(), text);
}

#[test]
fn lint_of_an_empty_input_fails() {
    let folder = tempfile::tempdir().unwrap();
    let empty = common::file(folder.path(), "empty.jsonl", "");
    let text = "wiretool: empty input: there is nothing to check\n";
    for more in [&[][..], &["-f", "json"], &["--report", "github"]] {
        let (code, out, err) = common::outcome(&[&["lint"], more, &[&empty]].concat());
        assert_eq!((code, err.as_str()), (2, text), "{more:?}: {out}");
    }
    // As with a file that cannot be opened, the findings of others do not hide it.
    assert_eq!(common::outcome(&["lint", &empty, GAP]).0, 2);
}
