//! `--jobs`: the number of threads never changes the output.

use crate::common::{self, Ran};
use std::path::{Path, PathBuf};

/// Runs a command over a file.
fn run(args: &[&str], path: &Path, more: &[&str]) -> Ran {
    let mut command = common::wiretool();
    command.args(args).args(more).arg(path);
    common::run(&mut command, "")
}

/// Fixtures whose bytes are read as they are, and captured streams if there are any; recordings are read by one thread.
fn files() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders = vec![fixtures];
    folders.extend(common::captures());
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "bin") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A file of many exchanges: requests with names, answers, and a line that is no message.
fn exchanges(fault: bool) -> String {
    let mut text = String::new();
    for id in 0..400 {
        let tool = ["echo", "add", "find"][id % 3];
        text += &format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{{\"n\":{id}}}}}}}\n"
        );
        if id == 200 && fault {
            text += "{\"jsonrpc\n";
        }
        text += &format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"content\":[]}}}}\n",
            id / 2 * 2
        );
    }
    text
}

#[test]
fn several_threads_print_what_one_prints() {
    let folder = tempfile::tempdir_in(common::temporary()).unwrap();
    for (name, fault) in [("whole", false), ("fault", true)] {
        let path = PathBuf::from(common::file(folder.path(), name, exchanges(fault)));
        for args in [
            &["decode", "-p", "mcp", "-f", "json"][..],
            &["decode", "-p", "mcp", "-f", "line"],
            &["decode", "-p", "mcp", "-f", "json", "--lint"],
            &["decode", "-f", "json", "--where", "name=add"],
            &["decode", "-f", "line", "--head", "301"],
            &["decode", "-f", "line", "--tail", "3"],
            &["decode", "-f", "line", "--grep", "\"n\":77", "-C", "2"],
            &["lint", "-p", "mcp"],
            &["stat", "-p", "mcp"],
            &["export", "-f", "mermaid", "--where", "id=7"],
        ] {
            let wanted = run(args, &path, &["--jobs", "1"]);
            for (jobs, size) in [("2", "1"), ("2", "30000"), ("3", "100"), ("16", "4096")] {
                let got = run(args, &path, &["--jobs", jobs, "--part-size", size]);
                let of = format!("{args:?} --jobs {jobs} --part-size {size} {name}");
                assert_eq!(got, wanted, "{of}");
            }
        }
    }
}

#[test]
fn several_threads_read_all_captures_as_one_does() {
    for (n, path) in files().iter().enumerate() {
        let args: &[&str] = match n % 3 {
            0 => &["lint", "-v"],
            1 => &["decode", "-f", "json", "-v"],
            _ => &["decode", "-f", "line", "-v"],
        };
        // The size of the first read shows in the evidence of detection.
        let wanted = run(args, path, &["--jobs", "1", "--part-size", "200"]);
        let jobs = ["2", "3", "16"][n % 7 % 3];
        let got = run(args, path, &["--jobs", jobs, "--part-size", "200"]);
        assert_eq!(got, wanted, "{args:?} --jobs {jobs} {}", path.display());
    }
}

#[test]
fn lint_of_several_files_prints_what_one_thread_prints() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folder = tempfile::tempdir_in(common::temporary()).unwrap();
    let many = common::file(folder.path(), "many.jsonl", exchanges(true));
    let empty = common::file(folder.path(), "empty.jsonl", "");
    let missing = folder.path().join("missing.jsonl");
    let rules = fixtures.join("sael").join("rules");
    let inputs: [PathBuf; 4] = [many.into(), empty.into(), missing, rules];
    // An error of one file does not end the others, and the last one decides.
    for files in [&inputs[..], &inputs[3..], &inputs[1..3]] {
        for args in [
            &["lint", "-v", "--fail-on", "never"][..],
            &["lint", "-f", "json"],
            &["lint", "--where", "kind=INV"],
        ] {
            let run = |jobs| {
                let mut command = common::wiretool();
                command.args(args).args(["--jobs", jobs]).args(files);
                common::run(&mut command, "")
            };
            let wanted = run("1");
            for jobs in ["2", "3", "16"] {
                assert_eq!(run(jobs), wanted, "{args:?} --jobs {jobs} {files:?}");
            }
        }
    }
}

#[test]
fn the_number_of_threads_is_a_setting_and_is_checked() {
    let folder = tempfile::tempdir_in(common::temporary()).unwrap();
    let path = PathBuf::from(common::file(folder.path(), "x.jsonl", exchanges(false)));
    for jobs in ["0", "17", "many"] {
        let ran = run(&["decode", "-p", "mcp"], &path, &["--jobs", jobs]);
        assert!(
            ran.2.contains("auto or a number from 1 to 16"),
            "{jobs}: {ran:?}"
        );
    }
    let mut command = common::wiretool();
    command.env("WIRETOOL_JOBS", "3").args(["config", "show"]);
    let shown = common::run(&mut command, "").1;
    assert!(shown.contains("jobs          3"), "{shown}");
}
