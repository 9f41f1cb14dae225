//! Conventions of command lines for shells, scripts and users, each as one line of shell.
//!
//! Rows that need more than one line are tests in other modules: `cli`, `config`, `examples`, `manual`, `completions`,
//! `memory` and `proxy`.

use crate::common::{self, help::pages};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// saikuro: `math.add(2, 3)` and its answer, with length prefixes.
const CALL: &str = "0000004185a776657273696f6e01a474797065a463616c6ca26964c410a1b2c3d4e5f67890abcdef1234567890a6746172676574a86d6174682e616464a461726773920203";
const ANSWER: &str = "0000002283a26964c410a1b2c3d4e5f67890abcdef1234567890a26f6bc3a6726573756c7405";

/// The name of a row, and a script that exits with 0 if the convention holds. `F` is a valid capture, `T` a truncated
/// one, `ONE` holds one message, `BIG` many; `e` is for stderr.
const ROWS: &[(&str, &str)] = &[
    (
        "the version is one line on stdout",
        r#"[ "$(wiretool --version 2>e | wc -l)" = 1 ] && [ ! -s e ]"#,
    ),
    (
        "no arguments: short help on stderr",
        r#"o=$(wiretool 2>e); [ $? = 2 ] && [ -z "$o" ] && cmp e <(wiretool -h)"#,
    ),
    (
        "exit codes as designed",
        "is() { [ $? = $1 ] || exit 9; }; wiretool decode F; is 0; wiretool decode T; is 1; wiretool decode /none; is 2; wiretool diff A A; is 0; wiretool diff A B; is 1; wiretool decode --none; is 2",
    ),
    (
        "a decode failure is never 0",
        "wiretool decode T >/dev/null; [ $? = 1 ]",
    ),
    (
        "errors say where, what was wanted and what was there",
        "wiretool decode T 2>&1 | grep -E 'offset (0x)?[0-9a-f]+' | grep -q 'wanted 65 bytes.*got'",
    ),
    (
        "stdout is data alone",
        r#"wiretool decode T -f json 2>/dev/null >o; [ -s o ] && while read -r line; do case $line in "{"*"}") ;; *) exit 1;; esac; done <o"#,
    ),
    (
        "- is stdin, and so is nothing",
        r"cmp <(wiretool decode - <F) <(wiretool decode <F) && cmp <(cat F | wiretool decode) <(wiretool decode F)",
    ),
    (
        "nothing and a terminal is a usage error",
        "pty 'wiretool decode </dev/tty' | grep -q 'stdin is a terminal' && [ $(cat status) = 2 ]",
    ),
    (
        "input on stdin needs no command",
        "cmp <(wiretool <F) <(wiretool decode F) && cmp <(cat F | wiretool) <(wiretool decode F) && cmp <(wiretool -f json <F) <(wiretool decode -f json F)",
    ),
    (
        "no command and a terminal: short help",
        "pty 'wiretool </dev/tty 2>e' && [ $(cat status) = 2 ] && grep -q '^Usage: wiretool' e",
    ),
    (
        "-w names the recording",
        r#"for c in 'decode F' 'record -- cat' 'proxy -- cat' 'stub mcp' 'send mcp tools/list --timeout 1ms -- cat'; do set -- $c; n=$1; shift; wiretool $n -w $n.r "$@" <F >/dev/null 2>e; grep -Eq "recording to $n.r(;|$)" e || { echo "$c"; exit 1; }; done"#,
    ),
    (
        "-q -w names it if the name is another one",
        r#"for c in 'decode F' 'record -- cat' 'proxy -- cat' 'stub mcp' 'send mcp tools/list --timeout 1ms -- cat' 'proxy -p saikuro --idle 1ms --listen unix:s'; do set -- $c; n=$1; shift; rm -f $n.r*; wiretool -q $n -w $n.r "$@" <F >/dev/null 2>e; ! grep 'recording to' e || exit 1; wiretool -q $n -w $n.r "$@" <F >/dev/null 2>e; grep -q "recording to $n.r.1$" e || { echo "$c"; cat e; exit 1; }; done"#,
    ),
    (
        "messages of a child are shown on a terminal",
        r#"pty 'echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}" | wiretool proxy -p mcp -- cat >o' | grep -q '→.*request.*tools/list' && grep -q '^{' o"#,
    ),
    (
        "without a terminal one line says where they are",
        "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}' >i; wiretool proxy -p mcp -w 'a b' -- cat <i >o 2>e; [ \"$(cat e)\" = \"wiretool: recording to a b; wiretool watch --follow 'a b' shows it\" ] && cmp i o",
    ),
    (
        "a format of a child's messages is honoured",
        r#"echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' >i; wiretool proxy -f line -- cat <i 2>e >o; grep -q '→.*request.*tools/list' e && cmp i o && wiretool proxy -f json -- cat <i 2>e >o; grep -q '^{"v":1,' e && cmp i o && WIRETOOL_FORMAT=json wiretool proxy -- cat <i 2>e >o; ! grep -q '^{' e"#,
    ),
    (
        "output over input is refused",
        "cp F kept; wiretool decode F -f json -o F 2>/dev/null; [ $? = 2 ] && cmp F kept",
    ),
    (
        "an output with the name of a format is refused",
        "wiretool decode F -o json 2>e; [ $? = 2 ] && grep -q -- '-f json' e && wiretool decode F -o ./json && [ -s json ]",
    ),
    (
        "names are known in any case",
        "cmp <(wiretool decode -p Saikuro -f JSON F) <(wiretool decode -p saikuro -f json F)",
    ),
    (
        "a capture that is no recording: a command that makes one",
        "for c in 'replay F -- cat' 'redact F' 'stub saikuro --from-recording F'; do wiretool $c 2>e; [ $? = 2 ] && grep -q 'wiretool decode -w NEW.jsonl F' e || { echo \"$c\"; exit 1; }; done",
    ),
    (
        "help is shown by the pager of the user, on a terminal only",
        "PAGER='sed s/^/P:/' pty 'wiretool help where' | grep -q '^P:.*Conditions' && ! PAGER='sed s/^/P:/' pty 'wiretool help --no-pager where' | grep -q '^P:' && ! PAGER='sed s/^/P:/' wiretool help where | grep -q '^P:'",
    ),
    (
        "a pager that is not there, or none: the text is printed",
        "PAGER=no-such-pager pty 'wiretool help where' | grep -q Conditions && PAGER= pty 'wiretool help where' | grep -q Conditions",
    ),
    (
        "a pager that ends early is no error",
        "PAGER='head -1' pty 'wiretool help protocols' | grep -q Protocols && [ $(cat status) = 0 ]",
    ),
    (
        "-- ends options",
        "wiretool record -q -w r -p oracle -- sh -c 'exit 7' --version </dev/null; [ $? = 7 ]",
    ),
    (
        "colour is for terminals",
        r"! wiretool decode F | grep -q $'\e' && wiretool decode --color=always F | grep -q $'\e' && pty 'wiretool decode F' | grep -q $'\e'",
    ),
    (
        "NO_COLOR beats the terminal",
        r"! NO_COLOR=1 pty 'wiretool decode F' | grep -q $'\e'",
    ),
    (
        "an empty NO_COLOR is none",
        r"NO_COLOR= pty 'wiretool decode F' | grep -q $'\e'",
    ),
    (
        "the flag beats NO_COLOR",
        r"NO_COLOR=1 wiretool decode F --color=always | grep -q $'\e'",
    ),
    (
        "CLICOLOR_FORCE=1 colours pipes",
        r"CLICOLOR_FORCE=1 wiretool decode F | grep -q $'\e'",
    ),
    (
        "a dumb terminal gets no colour",
        r"! TERM=dumb pty 'wiretool decode F' | grep -q $'\e'",
    ),
    (
        "colour on stderr is stderr's own matter",
        r"wiretool decode /none --color=auto 2>e; [ -s e ] && ! grep -q $'\e' e",
    ),
    (
        "a pipe that closes is quiet",
        "wiretool decode BIG 2>e | head -1 >/dev/null; [ ${PIPESTATUS[0]} = 0 ] && [ ! -s e ]",
    ),
    (
        "help into a pipe that closes is quiet",
        "wiretool --help 2>e | true; [ ${PIPESTATUS[0]} = 0 ] && [ ! -s e ]",
    ),
    (
        "JSON lines have a version, and a schema",
        r#"wiretool decode F -f json | grep -c '^{"v":1,' | grep -qx 2 && wiretool decode --print-schema | grep -q json-schema.org"#,
    ),
    (
        "neither time zone nor language matters",
        "cmp <(wiretool decode F) <(TZ=Asia/Tokyo LC_ALL=C wiretool decode F)",
    ),
    (
        "lines for a pipe have the width of COLUMNS, data and help have none",
        "[ $(COLUMNS=40 wiretool decode F | wc -L) -le 40 ] && cmp <(wiretool decode F -f json) <(COLUMNS=40 wiretool decode F -f json) && cmp <(wiretool decode --help) <(COLUMNS=40 wiretool decode --help)",
    ),
    (
        "-q says nothing, the status tells",
        r#"is() { [ $? = $1 ] || exit 9; }; o=$(wiretool lint F -q 2>&1); is 0; [ -z "$o" ] || exit 1; o=$(wiretool lint -p saikuro T -q 2>&1); is 1; [ -z "$o" ] || exit 1; o=$(wiretool decode -q T 2>&1 >/dev/null); is 1; [ -z "$o" ]"#,
    ),
    (
        "-v speaks on stderr",
        "cmp <(wiretool decode F) <(wiretool decode -v F 2>e) && [ -s e ]",
    ),
    (
        "progress is for terminals",
        // As slow as below, if it is shown.
        "wiretool decode BIG -f json 2>e | (sleep 1.5; cat >/dev/null); [ ${PIPESTATUS[0]} = 0 ] && [ ! -s e ]",
    ),
    (
        "progress is shown on one",
        r"pty 'wiretool decode BIG -f json | (sleep 1.5; cat >/dev/null)' | grep -q '[0-9] %'",
    ),
    (
        "and not where nothing is to be said",
        r"! pty 'wiretool -q decode BIG -f json | (sleep 1.5; cat >/dev/null)' | grep -q '[0-9] %'",
    ),
    (
        "no secret is told in passing",
        "wiretool sael token verify -v --secret-file KEY \"$(wiretool sael token mint --secret-file KEY --sub a@b.c --scope x)\" >o 2>&1; [ $? = 0 ] && ! grep -q 'horse battery' o",
    ),
    (
        "a port that is made up is told",
        "wiretool proxy -q -p saikuro --listen tcp://127.0.0.1:0 --idle 10ms 2>&1 | grep -Eq '127.0.0.1:[1-9]'",
    ),
    (
        "a listener is for this machine alone",
        "wiretool proxy -p saikuro --idle 10ms 2>&1 | grep -q 'listening on tcp://127.0.0.1:'",
    ),
    (
        "a settings file that is wrong is named, with the line",
        "printf 'color = \"never\"\\nformat = 3\\n' >bad.toml; wiretool --config bad.toml decode F 2>e >/dev/null; [ $? = 2 ] && grep -q 'bad.toml:2' e",
    ),
    (
        "an unknown setting is a warning, with the line",
        "printf 'colour = 1\\n' >odd.toml; wiretool --config odd.toml decode F 2>e >/dev/null; [ $? = 0 ] && grep -q 'odd.toml:1' e",
    ),
    (
        "odd file names",
        "cp F ./-x.bin && wiretool decode -- -x.bin >o && cmp o <(wiretool decode F) && cp F $'\\xff.bin' && wiretool decode $'\\xff.bin' >o && cmp o <(wiretool decode F)",
    ),
    (
        "empty input is a note",
        "for c in decode stat encode; do : | wiretool $c 2>e || exit 1; grep -q 'empty input' e || exit 1; done",
    ),
    (
        "empty input is an error of a check",
        ": | wiretool lint 2>e; [ $? = 2 ] && grep -q 'empty input' e",
    ),
    (
        "any bytes will do",
        "for p in saikuro oracle sael stepflow telequick; do wiretool decode -p $p NOISE >/dev/null 2>e; [ $? = 1 ] || exit 1; ! grep -q panicked e || exit 1; done",
    ),
    (
        "an output that is full is an error",
        "[ ! -e /dev/full ] || for c in 'decode F' 'lint --rules' 'stat F' 'make oracle ready' 'config show' 'completions bash' man 'decode --help' '--version'; do wiretool $c >/dev/full 2>e; [ $? = 2 ] && grep -q 'cannot write' e || { echo \"$c\"; exit 1; }; done",
    ),
    (
        "a closed output is an error",
        "for c in 'decode F' 'stat F' 'completions bash' man '--help'; do wiretool $c >&- 2>e; [ $? = 2 ] && grep -q 'it is closed' e || { echo \"$c\"; exit 1; }; done",
    ),
];

/// Runs a command with a terminal for stdin, stdout and stderr; its screen is printed, its status is in `status`.
const PTY: &str = r#"pty() { script -qec "$1; echo \$? >status" /dev/null </dev/null; }"#;

fn shell(folder: &Path, script: &str) -> Output {
    common::shell("bash")
        .args(["-c", &format!("{PTY}\n{script}")])
        .current_dir(folder)
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn every_row_holds() {
    let (call, answer) = (hex::decode(CALL).unwrap(), hex::decode(ANSWER).unwrap());
    let both = [call.clone(), answer.clone()].concat();
    let mut state = 7u32;
    let noise = std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let changed = [&call[..68], &[4]].concat();
    let has_pty = Command::new("script").arg("--version").output().is_ok();
    let mut broken = Vec::new();
    for (rule, script) in ROWS {
        if script.contains("pty ") && !has_pty {
            common::not_checked(&format!("{rule}, since there is no script here"));
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let put =
            |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        put("F", &both);
        put("T", &call[..40]);
        put("ONE", &call);
        put("A", &call);
        put("B", &changed);
        put("KEY", b"correct horse battery staple, and more");
        if script.contains("BIG") {
            put("BIG", &both.repeat(20_000));
        }
        if script.contains("NOISE") {
            put("NOISE", &noise.take(1 << 18).collect::<Vec<u8>>());
        }
        let output = shell(folder.path(), script);
        if !output.status.success() {
            let text = |bytes: &[u8]| {
                String::from_utf8_lossy(bytes)
                    .chars()
                    .take(400)
                    .collect::<String>()
            };
            let (out, err) = (text(&output.stdout), text(&output.stderr));
            broken.push(format!("{rule}: {script}\n    {out}\n    {err}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The help of every command.
#[test]
fn help_starts_with_examples_and_ends_with_exit_codes() {
    for page in pages() {
        let short = common::wiretool()
            .args(&page.path)
            .arg("-h")
            .output()
            .unwrap();
        let short = String::from_utf8(short.stdout).unwrap();
        assert!(
            short.len() <= page.help.len(),
            "{} -h is longer than --help",
            page.name()
        );
        for help in [&page.help, &short] {
            let place = |text: &str| {
                help.find(text)
                    .unwrap_or_else(|| panic!("{} lacks {text}", page.name()))
            };
            let end = if help == &short {
                "exit codes: wiretool"
            } else {
                "Exit codes:\n"
            };
            assert!(place("Examples:\n") < place("Usage: "), "{}", page.name());
            assert!(place("Usage: ") < place(end), "{}", page.name());
        }
    }
}

/// A misspelled word gets a short answer with the suggestion.
#[test]
fn unknown_flag_gives_short_error() {
    for page in pages() {
        // An expression may start with a minus sign.
        if page.name() == "wiretool sael filter" {
            continue;
        }
        let output = common::wiretool()
            .args(&page.path)
            .arg("--colr=x")
            .output()
            .unwrap();
        let sent = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", page.name());
        assert!(
            output.stdout.is_empty() && sent.lines().count() <= 6,
            "{}: {sent}",
            page.name()
        );
        assert!(sent.contains("--color"), "{}: {sent}", page.name());
    }
}
