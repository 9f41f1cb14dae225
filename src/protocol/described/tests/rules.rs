//! Rules and pairs of described protocols.

use super::described;
use crate::conversation::{Conversation, Judge};
use crate::decoder::{DecodeOptions, Decoded, Decoder, Origin};
use crate::protocol::session::SessionConfig;
use crate::protocol::{Direction, Protocol};

const QUIZ: &str = r#"
name = "quiz"
framings = ["lines"]

[[message]]
when = ".ask"
kind = "ask"
role = "request"
id = ".ask"
subject = ".about"
direction = "c2s"
ends = ".about=end"

[[message]]
when = ".part"
kind = "part"
role = "item"
id = ".part"
last = ".end=true"

[[message]]
when = ".answer"
kind = "answer"
role = "response"
id = ".answer"

[[message]]
when = ".stop"
kind = "stop"
role = "notification"
cancels = ".stop"
"#;

/// Returns the findings, `INDEX RULE: TEXT`, and the pairs, `INDEX -> REQUEST`, of lines with `>` or `<` before each.
pub(super) fn check(protocol: &dyn Protocol, lines: &[&str]) -> Vec<String> {
    let protocols = [protocol];
    let mut conversation =
        Conversation::new(&protocols, &Judge::default(), SessionConfig::default());
    let mut found = Vec::new();
    let mut tell = |decoded: &Decoded<'_>| {
        let verdict = conversation.see(decoded);
        let index = decoded.index;
        found.extend(
            verdict
                .answer
                .map(|answer| format!("{index} -> {}", answer.to)),
        );
        let findings = verdict.findings.iter();
        found.extend(findings.map(|one| format!("{index} {}: {}", one.rule.name, one.text)));
    };
    let mut decoder = Decoder::new(DecodeOptions::new(vec![protocol]));
    for line in lines {
        let (sign, text) = line.split_at(1);
        let direction = match sign {
            ">" => Direction::ToServer,
            _ => Direction::ToClient,
        };
        let origin = Origin {
            direction: Some(direction),
            ..Origin::default()
        };
        decoder.push(origin, format!("{text}\n").as_bytes(), &mut tell);
    }
    decoder.finish(&mut tell);
    let findings = conversation.finish().findings.to_vec();
    found.extend(
        findings
            .iter()
            .map(|one| format!("end {}: {}", one.rule.name, one.text)),
    );
    found
}

#[test]
fn messages_are_paired_and_checked() {
    let quiz = described(QUIZ);
    let none: &[&str] = &[];
    for (lines, want) in [
        (
            &[r#">{"ask":1,"about":"x"}"#, r#"<{"answer":1}"#][..],
            &["1 -> 0"][..],
        ),
        (&[r#">{"ask":"1"}"#, r#"<{"answer":"\u0031"}"#], &["1 -> 0"]),
        (
            &[
                r#">{"ask":1}"#,
                r#"<{"part":1}"#,
                r#"<{"part":1,"end":true}"#,
            ],
            &["1 -> 0", "2 -> 0"],
        ),
        (
            &[r#">{"ask":1}"#, r#"<{"answer":1}"#, r#"<{"answer":1}"#],
            &[
                "1 -> 0",
                "2 answered-twice: the request with the id 1 was answered before, by #1",
            ],
        ),
        (
            &[r#">{"stop":9}"#, r#"<{"answer":7}"#],
            &["1 orphan: no open request has the id 7"],
        ),
        (
            &[
                r#">{"ask":1,"about":"x"}"#,
                r#">{"ask":1}"#,
                r#"<{"answer":1}"#,
            ],
            &[
                "1 id-reused: the id 1 is that of ask x, #0, which is still open",
                "2 -> 0",
                "end unanswered: ask (1) has no answer",
            ],
        ),
        (
            &[r#"<{"stop":9}"#, r#">{"ask":1,"about":"x"}"#],
            &["end unanswered: ask x (1) has no answer"],
        ),
        (&[r#">{"ask":1}"#, r#">{"stop":1}"#], none),
        (
            &[
                r#"<{"stop":9}"#,
                r#">{"ask":1,"about":"x"}"#,
                r#">{"ask":2,"about":"end"}"#,
            ],
            &["end unanswered: ask x (1) has no answer"],
        ),
        (
            &[r#">{"ask":1,"about":"end"}"#, r#"<{"answer":1}"#],
            &["1 -> 0"],
        ),
        (
            &[r#"<{"ask":1}"#, r#">{"answer":1}"#],
            &[
                "0 wrong-direction: the server sends ask, which only the client sends",
                "1 -> 0",
            ],
        ),
        (
            &[r#">{"what":1}"#],
            &[r#"0 no-match: {"what":1} matches no message of quiz"#],
        ),
    ] {
        assert_eq!(check(&quiz, lines), want, "{lines:?}");
    }
}

#[test]
fn messages_are_paired_by_order() {
    let text = "name = \"x\"\nframings = [\"lines\"]\npair = \"order\"\n[[message]]\nwhen = \".do\"\nrole = \"request\"\nsubject = \".do\"\n[[message]]\nwhen = \".done\"\nrole = \"response\"\n";
    let lines = [
        r#">{"do":"a"}"#,
        r#">{"do":"b"}"#,
        r#"<{"done":1}"#,
        r#"<{"done":2}"#,
        r#"<{"done":3}"#,
        r#">{"do":"c"}"#,
    ];
    let want = [
        "2 -> 0",
        "3 -> 1",
        "4 orphan: no request is open",
        "end unanswered: request c has no answer",
    ];
    assert_eq!(check(&described(text), &lines), want);
}

#[test]
fn answers_name_their_request_in_another_member() {
    let dap = crate::protocol::described::embedded()[0];
    // Content-Length needs no lines, so that the messages are read as values of a file.
    let text = |lines: &[&str]| {
        let own = crate::protocol::described::texts().next().unwrap().1;
        check(&described(&own.replace("content-length", "lines")), lines)
    };
    let found = text(&[
        r#">{"seq":1,"type":"request","command":"initialize","arguments":{"supportsRunInTerminalRequest":true}}"#,
        r#"<{"seq":1,"type":"request","command":"runInTerminal"}"#,
        r#">{"seq":2,"type":"response","request_seq":1,"success":true,"command":"runInTerminal"}"#,
        r#"<{"seq":2,"type":"event","event":"initialized"}"#,
        r#"<{"seq":3,"type":"response","request_seq":1,"success":true,"command":"initialize"}"#,
    ]);
    assert_eq!(
        (dap.name(), found),
        ("dap", vec!["2 -> 1".to_owned(), "4 -> 0".to_owned()])
    );
}

/// Neovim exits by these commands, and sends no answer.
#[test]
fn neovim_may_exit_instead_of_an_answer() {
    let exits = [
        "q",
        "qa!",
        "wqa",
        "silent! qall",
        "confirm quit",
        "cq 3",
        ":x",
        "exit",
        "quitall",
    ];
    let goes_on = ["q a", "echo 1", "qw", "wall", "cquery"];
    let cases = exits.map(|command| (command, true));
    for (command, ends) in cases.into_iter().chain(goes_on.map(|one| (one, false))) {
        for method in ["nvim_command", "nvim_exec2", "nvim_eval"] {
            let nvim = crate::protocol::described::embedded()[2];
            let request = serde_json::json!([0, 1, method, [command]]);
            let mut conversation =
                Conversation::new(&[nvim], &Judge::default(), SessionConfig::default());
            let mut decoder = Decoder::new(DecodeOptions::new(vec![nvim]));
            let origin = Origin {
                direction: Some(Direction::ToServer),
                ..Origin::default()
            };
            let bytes = rmp_serde::to_vec(&request).unwrap();
            let mut see = |decoded: &Decoded<'_>| {
                conversation.see(decoded);
            };
            decoder.push(origin, &bytes, &mut see);
            let redraw = rmp_serde::to_vec(&serde_json::json!([2, "redraw", []])).unwrap();
            let from_server = Origin {
                direction: Some(Direction::ToClient),
                ..Origin::default()
            };
            decoder.push(from_server, &redraw, &mut see);
            decoder.finish(&mut see);
            let found = conversation.finish().findings.len();
            let ends = ends && method != "nvim_eval";
            assert_eq!(found, usize::from(!ends), "{method} {command}");
        }
    }
}

#[test]
fn dap_knows_the_side_of_each_request() {
    let message = |seq: u32, command: &str| {
        let text = format!(
            r#"{{"seq":{seq},"type":"request","command":"{command}","arguments":{{"adapterID":"x","cwd":"/","args":[],"configuration":{{}},"request":"launch"}}}}"#
        );
        format!("Content-Length: {}\r\n\r\n{text}", text.len() + 1)
    };
    let answer = |seq: u32, of: u32, command: &str| {
        let text = format!(
            r#"{{"seq":{seq},"type":"response","request_seq":{of},"success":true,"command":"{command}","body":{{"threads":[]}}}}"#
        );
        format!("Content-Length: {}\r\n\r\n{text}", text.len() + 1)
    };
    let lines = [
        format!(">{}", message(1, "initialize")),
        format!("<{}", message(1, "runInTerminal")),
        format!("<{}", message(2, "startDebugging")),
        format!("<{}", message(3, "launch")),
        format!(">{}", message(2, "runInTerminal")),
        format!("<{}", answer(4, 1, "threads")),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found = check(crate::protocol::described::embedded()[0], &lines);
    let rules = ["wrong-side", "not-announced", "other-command"];
    let is_one = |one: &&String| rules.iter().any(|rule| one.contains(rule));
    let found = found.iter().filter(is_one);
    let found: Vec<&str> = found.map(String::as_str).collect();
    insta::assert_snapshot!(found.join("\n"), @r"
    1 reverse-not-announced: the adapter sends runInTerminal, but the client does not announce supportsRunInTerminalRequest
    2 debugging-not-announced: the adapter sends startDebugging, but the client does not announce supportsStartDebuggingRequest
    3 wrong-side: the adapter sends launch, which only the client sends
    4 reverse-wrong-side: the client sends runInTerminal, which only the adapter sends
    5 other-command: the command of the answer is threads, but that of its request is initialize
    ");
}
