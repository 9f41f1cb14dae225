//! Messages in the forms that other programs print: tables, folded text, recordings of terminals, exports.

use super::messages::{ANSWER, CALL, LIST, pretty, read, wrapped};
use super::*;

const NEWEST: &str = "the text begins with the newest message, and answers are before their requests (tac turns lines round, jq reverse a list in JSON)";

/// A table as `sqlite3` prints it: cells have at most so many characters on a line.
fn table(rows: &[(&str, &str)], width: usize, [left, bar, right]: [&str; 3]) -> String {
    let border = format!("+----+{}+\n", "-".repeat(width + 2));
    let mut text = border.clone();
    for (mark, body) in rows {
        for (n, piece) in wrapped(body, width).lines().enumerate() {
            let mark = if n == 0 { mark } else { "" };
            text.push_str(&format!("{left} {mark:<2} {bar} {piece:<width$} {right}\n"));
        }
    }
    text + &border
}

#[test]
fn cells_of_tables_on_several_lines_are_read() {
    let call = CALL.replace("echo", "a b  c — ü");
    let rows = [(">", &*call), ("<", ANSWER), (">", LIST)];
    let wanted = [
        format!("c2s - {call}"),
        format!("s2c - {ANSWER}"),
        format!("c2s - {LIST}"),
    ];
    for bars in [["|"; 3], ["│"; 3]] {
        for width in [20, 37, 60, 200] {
            let text = table(&rows, width, bars);
            assert_eq!(read(&text), wanted, "{text}");
        }
    }
    // A cell that the table cut is no message, and its border is no part of one.
    let text = format!("+----+\n| {} |\n| {LIST} |\n", &CALL[..40]);
    let got = read(&text);
    assert_eq!(got.len(), 2, "{got:?}");
    assert!(got[1].contains("cut it: it is not shown"), "{got:?}");
}

/// Breaks a text at blanks, as mail programs do.
fn filled(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if !line.is_empty() && line.len() + 1 + word.len() > width => {
                lines.push(word.to_owned());
            }
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => *line = format!("{line} {word}"),
            None => {}
        }
    }
    lines.join("\n")
}

/// Breaks a text at a number of bytes, as `fold` does.
fn folded(text: &str, width: usize) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.as_bytes().chunks(width).collect();
    lines.join(&b'\n')
}

/// Breaks a text behind blanks, and words that are longer than a line, as `fold -s` does.
fn folded_at_blanks(text: &str, width: usize) -> Vec<u8> {
    let (mut rest, mut lines) = (text.as_bytes(), Vec::new());
    while rest.len() > width {
        let blank = rest[..width].iter().rposition(|c| *c == b' ');
        let (line, after) = rest.split_at(blank.map_or(width, |at| at + 1));
        lines.push(line);
        rest = after;
    }
    lines.push(rest);
    lines.join(&b'\n')
}

#[test]
fn text_that_was_broken_at_a_width_is_joined() {
    let call = CALL
        .replace("echo", "one two three, it's four five six seven eight")
        .replace(":\"", ": \"")
        .replace(",\"", ", \"");
    let accents = call.replace("four", "für °");
    let answer = ANSWER.replace(",\"", ", \"").replace(":\"", ": \"");
    let messages = |texts: &[&str]| {
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        texts.iter().map(|text| value(text)).collect::<Vec<_>>()
    };
    let whole = |text: &[u8]| {
        let mut bytes = Vec::new();
        let mut reader = CaptureInput::new(Form::Auto);
        let mut sink = |item: Item<'_>| {
            if let Item::Chunk(chunk) = item {
                bytes.extend_from_slice(chunk.bytes);
            }
        };
        reader.push(text, &mut sink);
        reader.finish(&mut sink);
        let values = serde_json::Deserializer::from_slice(&bytes).into_iter();
        values
            .map(|value| {
                value.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)))
            })
            .collect::<Vec<serde_json::Value>>()
    };
    for width in [48, 60, 72] {
        let text = format!("{}\n{}\n", filled(&call, width), filled(&answer, width));
        assert_eq!(
            whole(text.as_bytes()),
            messages(&[&call, &answer]),
            "{text}"
        );
        // A program that fills paragraphs begins the next message on the same line.
        let text = filled(&format!("{call} {answer} {LIST}"), width);
        assert_eq!(
            whole(text.as_bytes()),
            messages(&[&call, &answer, LIST]),
            "{text}"
        );
        let text = [folded(&accents, width), folded(&answer, width)].join(&b'\n');
        let wanted = messages(&[&accents, &answer]);
        assert_eq!(whole(&text), wanted, "{}", String::from_utf8_lossy(&text));
        let long = accents.replace("seven", &"seven".repeat(20));
        let text = [folded_at_blanks(&long, width), folded(&answer, width)].join(&b'\n');
        let wanted = messages(&[&long, &answer]);
        assert_eq!(whole(&text), wanted, "{}", String::from_utf8_lossy(&text));
    }
    // A break inside a word is none at a blank: no blank is put there.
    let text = "x {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ab\ncd\",\n\"params\":{\"long\":\"a line that is much longer than the first one\"}}\n";
    assert!(
        !read(text).iter().any(|line| line.contains("ab cd")),
        "{text}"
    );
}

/// The handler of `rich` breaks words at the width that the place of the call leaves, and pads the lines.
#[test]
fn records_of_rich_are_joined() {
    let record = |way: &str, lines: &[&str]| {
        let margin = " ".repeat(29);
        let line = |line: &&str| format!("{margin}{line:<41}          \n");
        let lines: String = lines.iter().map(line).collect();
        format!("[11/27/26 14:31:07] DEBUG    {way:<41} gen.py:20\n{lines}")
    };
    let text = record(
        "sending",
        &[
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/c"#,
            r#"all","params":{"name":"dial","arguments":"#,
            r#"{"to":"+49 30 \"x\""#,
            r#"ü","n":[1,2.5,null,true]}}}"#,
        ],
    ) + &record(
        "received",
        &[
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-"#,
            r#"32603,"message":"Internal error"}}"#,
        ],
    );
    let wanted = [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"dial","arguments":{"to":"+49 30 \"x\" ü","n":[1,2.5,null,true]}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"Internal error"}}"#,
    ];
    for text in [text.clone(), text.replace("          \n", "\n")] {
        let got = read(&text);
        let messages: Vec<_> = got
            .iter()
            .filter_map(|one| one.find('{').and_then(|at| one.get(at..)))
            .collect();
        assert_eq!(messages, wanted, "{text}");
    }
    // A break at a blank, in lines that are padded to the whole width.
    let text = format!(
        "[14:31:07] DEBUG    received {:<30}\n{:21}{:<38}\n{:21}{:<38}\n",
        "", "", r#"{"jsonrpc":"2.0","id":1,"result":"a"#, "", r#"b"}"#
    );
    let got = read(&text).concat();
    assert!(
        got.ends_with(r#"{"jsonrpc":"2.0","id":1,"result":"a b"}"#),
        "{got}"
    );
}

/// Strings beside each other are one, as languages write long ones.
#[test]
fn strings_on_several_lines_are_joined() {
    let pieces = |text: &str| -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        chars
            .chunks(20)
            .map(|piece| piece.iter().collect())
            .collect()
    };
    let double = |text: &String| serde_json::to_string(text).unwrap();
    let single = |text: &String| format!("'{text}'");
    let all = |quote: &dyn Fn(&String) -> String, join: &str, end: &str| {
        let string = |text: &str| {
            let pieces: Vec<_> = pieces(text).iter().map(quote).collect();
            format!("m = {}{end}\n", pieces.join(join))
        };
        [CALL, ANSWER, LIST].map(string).concat()
    };
    for text in [
        all(&double, "\n    ", ";"),
        all(&double, "\r\n    ", ";\r"),
        all(&single, " +\n  ", ";"),
        all(&double, "\n        + ", ";"),
        all(&single, " .\n  ", ";"),
        all(&single, " \\\n  ", ""),
        all(&|text| format!("b'{text}'"), "\n  ", ")"),
    ] {
        let got = read(&text);
        assert_eq!(
            got,
            [CALL, ANSWER, LIST].map(|one| format!("- - {one}")),
            "{text}"
        );
    }
    // Python chooses the quotes of each part.
    let call = CALL.replace("echo", "it's a");
    let (head, tail) = call.split_once("s a").unwrap();
    let text = format!(
        "('{}'\n \"s a{}\")\n",
        head.replace('\'', "\\'"),
        tail.replace('"', "\\\"")
    );
    assert_eq!(read(&text), [format!("- - {call}")], "{text}");
    // Strings that are messages themselves are several.
    let text = [CALL, ANSWER]
        .map(|one| format!("{}\n", single(&one.to_owned())))
        .concat();
    assert_eq!(
        read(&text),
        [CALL, ANSWER].map(|one| format!("- - {one}")),
        "{text}"
    );
}

#[test]
fn cells_of_csv_on_several_lines_are_read() {
    let call = CALL.replace("echo", "it's");
    let quoted = |text: &str| format!("\"{}\"", pretty(text).replace('"', "\"\""));
    for (comma, is_first, end) in [(",", true, "\r\n"), (";", true, "\n"), (",", false, "\n")] {
        let row = |(way, text): (&str, &str)| {
            let cells = if is_first {
                [way.to_owned(), quoted(text)]
            } else {
                [quoted(text), way.to_owned()]
            };
            cells.join(comma) + end
        };
        let text = [("out", &*call), ("in", ANSWER)].map(row).concat();
        let got: Vec<_> = read(&text)
            .iter()
            .map(|one| {
                let (way, json) = one.split_at(one.find('{').unwrap());
                let value: serde_json::Value = serde_json::from_str(json).unwrap();
                format!("{way}{value}")
            })
            .collect();
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let wanted = [
            format!("c2s - {}", value(&call)),
            format!("s2c - {}", value(ANSWER)),
        ];
        assert_eq!(got, wanted, "{text}");
    }
}

#[test]
fn recordings_of_terminals_are_read() {
    let (start, end) = CALL.split_at(30);
    let event =
        |time: f64, kind: &str, text: &str| format!("{}\n", serde_json::json!([time, kind, text]));
    let cast = |header: &str| {
        [
            format!("{header}\n"),
            event(1.0, "i", start),
            event(2.0, "i", &format!("{end}\r\n")),
            event(3.0, "o", &format!("\u{1b}[32m{ANSWER}\r\n{}", &LIST[..20])),
            event(4.0, "o", &LIST[20..]),
        ]
        .concat()
    };
    let messages = [CALL, ANSWER, LIST].map(|message| format!("- - {message}"));
    let wanted = [&messages[..], &["- - x".to_owned()]].concat();
    assert_eq!(
        read(&cast(r#"{"version":2,"width":80,"height":24}"#)),
        wanted[..3]
    );
    let dated = cast(r#"{"version": 2, "width": 80, "height": 24, "timestamp": 1795572790}"#);
    let wanted = [
        format!("- 2 {CALL}"),
        format!("- 3 {ANSWER}"),
        format!("- - {LIST}"),
    ];
    assert_eq!(read(&dated), wanted);
    let typescript = format!(
        "Script started on 2026-11-27 02:53:22+00:00 [COMMAND=\"bash -i\"]\r\n\u{1b}[?2004hroot@vm:~# ./server\r\n\u{1b}[?2004l\r{CALL}\r\n{ANSWER}\r\n{LIST}\r\n\nScript done on 2026-11-27 02:53:22+00:00 [COMMAND_EXIT_CODE=\"0\"]\n"
    );
    let got = read(&typescript);
    assert_eq!(got.len(), 3, "{got:?}");
    for (line, message) in got.iter().zip([CALL, ANSWER, LIST]) {
        assert!(line.ends_with(message), "{got:?}");
    }
}

#[test]
fn exports_of_databases_and_journals_are_read() {
    let quoted = CALL.replace("echo", r#"say \"a\"\n"#);
    let copy = format!(
        "COPY public.log (dir, body) FROM stdin;\nout\t{}\nin\t{ANSWER}\n\\.\n",
        quoted.replace('\\', r"\\")
    );
    assert_eq!(
        read(&copy),
        [format!("c2s - {quoted}"), format!("s2c - {ANSWER}")]
    );
    // Fields with a length have line breaks.
    let mut journal = Vec::new();
    for message in [CALL, ANSWER] {
        let text = format!("sent:\n{}", super::messages::pretty(message));
        journal.extend(b"__REALTIME_TIMESTAMP=1795572790000000\nPRIORITY=6\nMESSAGE\n");
        journal.extend((text.len() as u64).to_le_bytes());
        journal.extend(text.as_bytes());
        journal.extend(b"\n\n");
    }
    for step in [1, 7, journal.len()] {
        let mut reader = CaptureInput::new(Form::Auto);
        let mut bytes = Vec::new();
        let mut sink = |item: Item<'_>| {
            if let Item::Chunk(chunk) = item {
                bytes.extend_from_slice(chunk.bytes);
            }
        };
        for piece in journal.chunks(step) {
            reader.push(piece, &mut sink);
        }
        reader.finish(&mut sink);
        let values = serde_json::Deserializer::from_slice(&bytes).into_iter();
        let found: Vec<serde_json::Value> = values.map(Result::unwrap).collect();
        let value = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let wanted = [CALL, ANSWER].map(value);
        assert_eq!(found, wanted, "{step}");
    }
}

#[test]
fn rows_with_columns_behind_the_message_are_read() {
    let wanted = [format!("- - {CALL}"), format!("- - {ANSWER}")];
    let bodies = |line: &str| {
        let found = read(line).into_iter();
        found
            .filter(|line| line.contains("jsonrpc"))
            .map(|line| format!("- - {}", &line[line.find('{').unwrap()..]))
            .collect::<Vec<_>>()
    };
    for text in [
        format!("{CALL}\t59\t02:03:00.123\n{ANSWER}\t38\t02:03:01.123\n"),
        format!("{CALL} 02:03:00\n{ANSWER} 02:03:01\n"),
        format!("{CALL}   │{ANSWER}\n"),
    ] {
        assert_eq!(bodies(&text), wanted, "{text}");
    }
}

#[test]
fn the_order_of_a_text_that_is_not_that_of_the_conversation_is_named() {
    let second_call = CALL.replace("\"id\":1", "\"id\":7");
    let second_answer = ANSWER.replace("\"id\":1", "\"id\":7");
    let newest = [&*second_answer, &*second_call, ANSWER, CALL];
    let numbered = |line: fn(usize) -> String| {
        let lines = newest.iter().enumerate();
        let lines = lines.map(|(n, message)| line(9 - n) + message + "\n");
        lines.collect::<String>()
    };
    for text in [
        numbered(|n| format!("{n}|")),
        numbered(|n| format!("02:03:0{n} ")),
        numbered(|n| format!("2026-11-25T02:13:0{n}Z ")),
    ] {
        let got = read(&text);
        assert!(got.iter().any(|line| line == NEWEST), "{got:?}");
    }
    // One stream after the other.
    let text = format!(
        "2026-11-25T02:13:01Z sent {CALL}\n2026-11-25T02:13:05Z sent {LIST}\n2026-11-25T02:13:02Z received {ANSWER}\n"
    );
    let got = read(&text);
    let is_named =
        |line: &String| line.starts_with("line 3: this message is earlier than one before it");
    assert!(got.iter().any(is_named), "{got:?}");
}

/// Returns the bytes of all chunks.
fn bytes_of(text: &str) -> String {
    let ways = ["- ", "c2s ", "s2c "];
    let is_chunk = |line: &String| ways.iter().any(|way| line.starts_with(way));
    let chunks = read(text).into_iter().filter(is_chunk);
    let bytes = chunks.map(|line| line.splitn(3, ' ').skip(2).collect::<String>());
    bytes.collect()
}

/// Returns JSON as Python prints it.
fn python(json: &str) -> String {
    json.replace('"', "'").replace(':', ": ").replace(',', ", ")
}

#[test]
fn lines_about_files_and_tests_are_no_part_of_messages() {
    let messages = |texts: &[&str]| {
        let lines = texts.iter().map(|text| format!("- - {text}"));
        lines.collect::<Vec<_>>()
    };
    let time = "2026-11-25 02:13:11";
    for (text, wanted) in [
        (
            format!(
                "Script started on {time}+00:00 [COMMAND=\"cat a.log\"]\r\n{CALL}\r\n{ANSWER}\r\n\nScript done on {time}+00:00 [COMMAND_EXIT_CODE=\"0\"]\n"
            ),
            messages(&[CALL, ANSWER]),
        ),
        (
            format!(
                "--- a.log\t{time}.2 +0000\n+++ b.log\t{time}.3 +0000\n@@ -1,2 +1,2 @@\n {CALL}\n {ANSWER}\n"
            ),
            messages(&[CALL, ANSWER]),
        ),
        (
            format!("==> server.log <==\n{CALL}\n{ANSWER}\n\n==> agent.log <==\n{LIST}\n"),
            messages(&[CALL, ANSWER, LIST]),
        ),
        (
            format!(
                "E       AssertionError: assert {{'jsonrpc': '...: 'a b'}} == {{'jsonrpc': '...: 'c'}}\nE         Differing items:\nE         {{'result': 5}} != {{'result': 6}}\n\ntest_x.py:5: AssertionError\n----------------------------- Captured stdout call ----\nout: {CALL}\nin: {ANSWER}\n"
            ),
            vec![format!("c2s - {CALL}"), format!("s2c - {ANSWER}")],
        ),
    ] {
        let got: Vec<String> = read(&text)
            .into_iter()
            .filter(|line| !line.contains("begin like messages"))
            .collect();
        assert_eq!(got, wanted, "{text}");
    }
}

#[test]
fn messages_in_texts_of_other_programs_are_read() {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let content = |text: &str| quoted(text).trim_matches('"').to_owned();
    let say = CALL.replace("echo", r#"say \"hi\" it's"#);
    let accent = CALL.replace("echo", "café");
    let event = format!("event: message\nid: 1\ndata: {say}\n\n");
    let shown = event
        .replace('\\', r"\\")
        .replace('\n', r"\n")
        .replace('\'', r"\'");
    // The handler of `rich` breaks words that are longer than a line, and fills all lines.
    let folded = wrapped(CALL, 30);
    let folded = folded
        .lines()
        .map(|line| format!("{:20}{line:<30}{:11}\n", "", ""));
    let folded = folded.collect::<Vec<_>>().concat();
    let base64 = base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        format!("{CALL}\n{ANSWER}\n"),
    );
    for (text, wanted) in [
        (
            format!("{CALL}\0{ANSWER}\0{LIST}\0"),
            vec![CALL, ANSWER, LIST],
        ),
        (
            format!("{}\n{}\n", content(&say), content(ANSWER)),
            vec![&*say, ANSWER],
        ),
        (format!("12:00 recv {}\n", content(&say)), vec![&*say]),
        (
            format!("[\n  {},\n  {}\n]\n", python(CALL), python(ANSWER)),
            vec![CALL, ANSWER],
        ),
        (format!("body: b'{shown}'\n"), vec![&*say]),
        (
            format!("{}$\n{ANSWER}$\n", accent.replace('é', "M-CM-)")),
            vec![&*accent, ANSWER],
        ),
        // This is no character.
        (
            format!("{}$\n", CALL.replace("echo", "M-A M-B")),
            vec![&*CALL.replace("echo", "M-A M-B")],
        ),
        (
            format!("INFO     recv{:38}gen1.py:47\n{folded}", ""),
            vec![CALL],
        ),
        (
            format!(
                "From: a@b.c\nContent-Type: text/plain\nContent-Transfer-Encoding: base64\n\n{}\n",
                wrapped(&base64, 76)
            ),
            vec![CALL, ANSWER],
        ),
    ] {
        let values = |text: &str| {
            let values = serde_json::Deserializer::from_str(text).into_iter();
            values
                .collect::<Result<Vec<serde_json::Value>, _>>()
                .unwrap_or_else(|error| panic!("{error}: {text}"))
        };
        assert_eq!(values(&bytes_of(&text)), values(&wanted.concat()), "{text}");
    }
    // The time may be behind the message.
    let line = |n: u64, body: &str| {
        format!(
            "level=debug event=frame body={} timestamp=2026-11-25T02:13:1{n}Z\n",
            quoted(body)
        )
    };
    let times = [format!("- 1 {CALL}"), format!("- 2 {ANSWER}")];
    assert_eq!(read(&(line(1, CALL) + &line(2, ANSWER))), times);
}

#[test]
fn events_in_texts_of_curl_have_their_line_ends() {
    let event = format!("event: message\nid: a.b\ndata: {ANSWER}\n\n");
    let rows = |text: &str| {
        let shown = text.replace('\n', ".");
        let mut rows = format!("<= Recv data, {len} bytes (0x{len:x})\n", len = text.len());
        for (n, row) in shown.as_bytes().chunks(64).enumerate() {
            rows += &format!("{:04x}: {}\n", n * 64, String::from_utf8_lossy(row));
        }
        rows
    };
    let two = event.clone() + &event;
    let (start, end) = event.split_at(60);
    for (text, wanted) in [
        (rows(&event), &event),
        (rows(&two), &two),
        (rows(start) + &rows(end), &event),
    ] {
        let found = bytes_of(&text);
        assert_eq!(found, wanted.trim_end(), "{text}");
    }
}
