//! The shipped completion files equal the output of the binary; shells load them and complete names. This needs bash;
//! zsh and fish are tested only if they are installed, and a note is printed if not.
//!
//! `WIRETOOL_BLESS=1 cargo test --test integration completions` rewrites them.

use crate::common;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The shells and the names of their files.
const SHELLS: [(&str, &str); 5] = [
    ("bash", "wiretool.bash"),
    ("zsh", "_wiretool"),
    ("fish", "wiretool.fish"),
    ("powershell", "_wiretool.ps1"),
    ("elvish", "wiretool.elv"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("completions")
}

fn generated(shell: &str) -> String {
    let output = common::wiretool()
        .args(["completions", shell])
        .output()
        .unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn completion_files_equal_the_output() {
    for (shell, name) in SHELLS {
        let (path, text) = (folder().join(name), generated(shell));
        if common::bless() {
            std::fs::create_dir_all(folder()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == text,
            "completions/{name} is not what `wiretool completions {shell}` writes now: \
             WIRETOOL_BLESS=1 cargo test --test integration completions"
        );
    }
}

#[test]
fn shells_load_the_files() {
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("completions.{shell}"));
        std::fs::write(&path, generated(shell)).unwrap();
        let run = Command::new(shell)
            .arg(check)
            .arg(&path)
            .stdin(Stdio::null())
            .output();
        match run {
            Ok(output) => assert!(
                output.status.success() && output.stderr.is_empty(),
                "{shell}: {}",
                String::from_utf8_lossy(&output.stderr)
            ),
            Err(error) if shell == "bash" => panic!("there is no bash: {error}"),
            Err(error) => common::not_checked(&format!(
                "whether {shell} loads its completions, since there is no {shell} here: {error}"
            )),
        }
    }
}

/// Returns the completions that bash offers for the last word.
fn completions_of(words: &[&str]) -> Vec<String> {
    // As bash calls it: the command, the word, the previous word.
    const SCRIPT: &str = r#"
        source <("$1" completions bash); shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        "$(complete -p wiretool | sed 's/.*-F \([^ ]*\).*/\1/')" \
            wiretool "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let output = common::shell("bash")
        .args(["--norc", "-c", SCRIPT, "bash", "wiretool"])
        .args(words)
        .stdin(Stdio::null())
        .output()
        .expect("bash");
    let sent = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && sent.is_empty(),
        "{words:?}: {sent}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn commands_flags_and_values_complete() {
    for (line, wanted) in [
        ("wiretool de", "decode"),
        ("wiretool help whe", "where"),
        ("wiretool help dec", "decode"),
        ("wiretool decode --fra", "--framing"),
        ("wiretool decode -p sai", "saikuro"),
        ("wiretool decode --protocol step", "stepflow"),
        ("wiretool decode --from rec", "recording"),
        ("wiretool decode --framing web", "websocket"),
        ("wiretool decode --length-mode inc", "inclusive"),
        ("wiretool decode --dir c", "c2s"),
        ("wiretool decode -f li", "line"),
        ("wiretool decode --kind announce_", "announce_ack"),
        ("wiretool decode --struct BargeReq", "BargeRequest"),
        ("wiretool decode --color al", "always"),
        ("wiretool lint --allow saikuro/seq-g", "saikuro/seq-gap"),
        ("wiretool lint --deny oracle/des", "oracle/desync"),
        (
            "wiretool lint --explain stepflow/unans",
            "stepflow/unanswered",
        ),
        ("wiretool lint --dialect pe", "peers"),
        ("wiretool lint --fail-on w", "warning"),
        ("wiretool lint --report s", "sarif"),
        ("wiretool encode --to x", "xxd"),
        ("wiretool make tele", "telequick"),
        ("wiretool make saikuro annou", "announce"),
        ("wiretool make telequick Bar", "Barge"),
        (
            "wiretool send stepflow components/exe",
            "components/execute",
        ),
        ("wiretool sael filter --dialect py", "python"),
        ("wiretool sael token ver", "verify"),
        ("wiretool telequick schema show BargeReq", "BargeRequest"),
        ("wiretool completions z", "zsh"),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let offered = completions_of(&words);
        assert!(
            offered.iter().any(|word| word == wanted),
            "{line}: {wanted} is not offered, but {offered:?}"
        );
        let last = words.last().unwrap();
        assert!(
            offered.iter().all(|word| word.starts_with(last)),
            "{line}: {offered:?}"
        );
    }
}

/// Names for shells do not make messages or help longer.
#[test]
fn name_lists_are_only_in_completions() {
    let run = |args: &[&str]| {
        let output = common::wiretool()
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    for args in [
        &["lint", "--allow"],
        &["lint", "--explain"],
        &["decode", "--kind"],
    ] {
        let (code, _, err) = run(args);
        assert_eq!(code, Some(2));
        assert!(err.len() < 200, "{args:?}: {err}");
    }
    let (code, _, err) = run(&["lint", "--deny", "seq-gp", "/none"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("did you mean saikuro/seq-gap?"), "{err}");
    for args in [["lint", "--help"], ["decode", "--help"]] {
        let (_, out, _) = run(&args);
        assert!(
            !out.contains("oracle/desync") && !out.contains("announce_ack"),
            "{out}"
        );
    }
}
