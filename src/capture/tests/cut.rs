//! Messages that the program which printed them cut: none of them is shown as a whole one.

use super::messages::{ANSWER, CALL, LIST, read};

#[test]
fn cut_messages_are_counted() {
    let cut = &CALL[..CALL.len() - 12];
    for (lines, wanted) in [
        (
            vec![cut],
            "line 2: this begins like a message of mcp, but the program that printed it cut it at \"...\": it is not shown (print whole messages, or record them: wiretool proxy -w FILE.jsonl)",
        ),
        (
            vec![
                cut,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":... (+40 chars)",
            ],
            "line 2: 2 lines begin like messages of mcp, but the program that printed them cut them at \"...\": they are not shown; the first is here (print whole messages, or record them: wiretool proxy -w FILE.jsonl)",
        ),
    ] {
        let mut text = format!("2026-11-25T02:13:11Z send {CALL}\n");
        for line in &lines {
            text += &format!("2026-11-25T02:13:12Z send {line}...(truncated)\n");
        }
        text += &format!("2026-11-25T02:13:13Z recv {ANSWER}\n");
        assert_eq!(
            read(&text),
            [
                format!("c2s 1 {CALL}"),
                format!("s2c 3 {ANSWER}"),
                wanted.to_owned()
            ]
        );
    }
}

#[test]
fn text_with_only_cut_messages_before_a_whole_one_is_a_log() {
    let cut = |word: &str| format!("2026-11-25T02:13:11Z {word} {}...\n", &CALL[..50]);
    let text = [cut("send"), cut("send"), cut("send")].concat();
    assert_eq!(
        read(&format!("{text}2026-11-25T02:13:12Z recv {ANSWER}\n")),
        [
            format!("s2c 2 {ANSWER}"),
            "line 1: 3 lines begin like messages of mcp, but the program that printed them cut them at \"...\": they are not shown; the first is here (print whole messages, or record them: wiretool proxy -w FILE.jsonl)"
                .to_owned()
        ]
    );
}

/// Leaves out a part of a message.
type Cut = fn(&str) -> String;

/// The middle of a message is replaced as Python's websockets does it.
fn without_middle(message: &str, len: usize) -> String {
    let (head, tail) = (2 * len / 3, len / 3);
    let end = &message[message.len() - tail..];
    format!("{}...{end}", &message[..head])
}

#[test]
fn a_log_in_which_all_messages_are_cut_has_no_messages() {
    let answer = ANSWER.replace("}}", ",\"isError\":{\"x\":[{\"id\":1}]}}}");
    let size = answer.len();
    let cuts: [(&str, Cut); 6] = [
        ("\"...\"", |text| format!("{}...", &text[..45])),
        ("\"...\"", |text| {
            format!("{}... [truncated 110 chars]", &text[..45])
        }),
        ("\"...\"", |text| format!("{}…", &text[..52])),
        ("\"...\"", |text| without_middle(text, 69)),
        ("\"<truncated\"", |text| {
            format!("{} <truncated>", &text[..46])
        }),
        ("", |text| text[..46].to_owned()),
    ];
    for (mark, cut) in cuts {
        for (before, after) in [
            ("2026-11-27 08:30:00 DEBUG rpc -> ", ""),
            ("[08:30:00] <- ", ""),
            ("I1127 08:30:00.123456   812 conn.go:77] -> ", ""),
            (
                "08:30:00 DEBUG websockets.client: > TEXT '",
                "' [185 bytes]",
            ),
        ] {
            let text: String = [CALL, &answer, CALL, CALL, &answer]
                .map(|message| format!("{before}{}{after}\n", cut(message)))
                .concat();
            let notes = read(&text);
            assert_eq!(notes.len(), 1, "{text}{notes:?}");
            let at = if mark.is_empty() { "" } else { " at " };
            let wanted = format!("cut them{at}{mark}: they are not shown; the first is here (");
            assert!(
                notes[0].starts_with("line 1: 5 lines begin like messages of mcp, ")
                    && notes[0].contains(&wanted),
                "{text}{notes:?}"
            );
            // Whole messages between them are decoded.
            let whole = read(&format!("{text}{before}{LIST}\n{text}"));
            let (notes, messages): (Vec<_>, Vec<_>) =
                whole.iter().partition(|line| !line.contains(LIST));
            assert_eq!(messages.len(), 1, "{whole:?}");
            let is_count = |note: &&String| note.contains(" 10 lines begin");
            assert!(notes.iter().any(is_count), "{whole:?}");
        }
    }
    // The length says that a message with brackets in pairs is cut.
    let text = format!("12:00 > TEXT '{ANSWER}' [{size} bytes]\n");
    assert!(
        read(&text)[0].contains("cut it: it is not shown"),
        "{:?}",
        read(&text)
    );
}

#[test]
fn marks_in_texts_of_whole_messages_are_no_cuts() {
    for text in [
        "loading...",
        "a…b",
        "[truncated]",
        "{...}",
        "say \\\"...\\\" now",
        "(truncated 5 chars)}",
    ] {
        let message = ANSWER.replace("a b", text);
        for (before, after) in [
            ("12:00 <- ", ""),
            ("[12:00] <- ", "..."),
            ("12:00 < TEXT '", &*format!("' [{} bytes]", message.len())),
            ("12:00 recv(", ") ... done"),
            ("12:00 {\"direction\":\"received\",\"message\":", "}"),
            ("12:00 [", "]"),
        ] {
            let line = format!("{before}{message}{after}\n");
            let got = read(&line.repeat(2));
            let messages = got.iter().filter(|line| line.contains(&message)).count();
            assert_eq!(messages, 2, "{line}{got:?}");
            assert!(
                !got.iter().any(|line| line.contains("cut")),
                "{line}{got:?}"
            );
        }
    }
}
