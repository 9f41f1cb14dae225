//! Messages as reports, chats, boxes and files in YAML show them.

use super::messages::{ANSWER, CALL, LIST, pretty, read};
use super::*;

/// Returns messages as [`read`] finds them without direction and time.
fn plain(messages: &[&str]) -> Vec<String> {
    let lines = messages.iter().map(|message| format!("- - {message}"));
    lines.collect()
}

/// The time 2026-11-27T10:00:00Z, as [`read`] shows it.
fn time_of_day() -> i64 {
    1_795_773_600 - 1_795_572_790
}

/// Returns lines below each other, with what is before and after each.
fn around(before: &str, lines: &str, after: &str) -> String {
    let lines = lines.lines().map(|line| format!("{before}{line}{after}\n"));
    lines.collect()
}

#[test]
fn messages_in_escapes_and_boxes_are_read() {
    let quotes = CALL.replace("echo", r#"it's \"a|b\" [c]"#);
    let team = |text: &str| {
        let escaped = ["|", "'", "[", "]"]
            .iter()
            .fold(text.to_owned(), |text, c| text.replace(c, &format!("|{c}")));
        format!("##teamcity[message text='{escaped}|n' status='NORMAL']\n")
    };
    let node = |text: &str| format!("`{}\\n`\n", text.replace('\\', r"\\"));
    let panel = |text: &str| {
        let rows = text.lines().map(|line| format!("│ {line:<40} │\n"));
        let rule = "─".repeat(18);
        format!(
            "╭{rule} body {rule}╮\n{}╰{}╯\n",
            rows.collect::<String>(),
            "─".repeat(42)
        )
    };
    let rich = |text: &str| {
        let python = pretty(text).replace('"', "'");
        let mut rows = python.lines();
        let first = format!("[02:13:11] {:<40}a.py:39\n", rows.next().unwrap());
        let rest = rows.map(|row| format!("           {row:<48}\n"));
        first + &rest.collect::<String>()
    };
    for (text, wanted) in [
        (team(&quotes) + &team(ANSWER), plain(&[&quotes, ANSWER])),
        (node(&quotes) + &node(ANSWER), plain(&[&quotes, ANSWER])),
        (
            panel(&pretty(CALL)) + &panel(&pretty(ANSWER)),
            plain(&[CALL, ANSWER]),
        ),
        (
            rich(CALL) + &rich(LIST).replace("[02:13:11]", "          "),
            vec![
                "the times of the text have no date".to_owned(),
                format!("- 02:13:11.000 {CALL}"),
                format!("- - {LIST}"),
            ],
        ),
        (
            format!("{}\n{}\n", quotes.replace("\":", "\"=>"), ANSWER.replace("\":", "\"=>")),
            plain(&[&quotes, ANSWER]),
        ),
        (
            format!(
                "request: POST / HTTP/1.1\nHost: a\n\n{CALL}\n2026/11/27 10:00:00 HTTP/1.1 200 OK\nContent-Type: application/json\n\n{ANSWER}\n"
            )
            .replace("request: ", "2026/11/27 10:00:00 "),
            vec![
                format!("c2s {} {CALL}", time_of_day()),
                format!("s2c {} {ANSWER}", time_of_day()),
            ],
        ),
        (
            format!(
                "opened\n<- \"POST / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n\"\n<- {CALL:?}\n-> \"HTTP/1.1 200 OK\\r\\n\"\n-> \"\\r\\n\"\nreading\n-> {ANSWER:?}\nread\n"
            ),
            vec![format!("c2s - {CALL}"), format!("s2c - {ANSWER}")],
        ),
        // The program did not write its quotes with escapes: nothing is joined.
        (
            format!(
                "send {CALL}\nread 1: b'{{\"jsonrpc\":\"2.0\",\"a\":'x', \"method\":\"pi'\nread 2: b'ng\"}}'\n"
            ),
            vec![
                format!("c2s - {CALL}"),
                "line 2: this begins like a message, but the program that printed it cut it: it is not shown (print whole messages, or record them: wiretool proxy -w FILE.jsonl)".to_owned(),
            ],
        ),
    ] {
        let found = read(&text);
        let sorted = |lines: Vec<String>| {
            let lines = lines.into_iter().map(|line| match line.split_once('{') {
                None => line,
                Some((way, json)) => {
                    let value: serde_json::Value =
                        serde_json::from_str(&format!("{{{json}")).unwrap();
                    format!("{way}{value}")
                }
            });
            let mut lines: Vec<String> = lines.collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(found), sorted(wanted), "{text}");
    }
}

#[test]
fn scalars_of_yaml_on_several_lines_are_read() {
    let folded = |text: &str, indent: &str| {
        let escaped = text
            .replace('\\', r"\\")
            .replace('"', r#"\""#)
            .replace('é', r"\xE9");
        // A blank at the start of a line has a backslash.
        let (start, rest) = escaped.split_at(escaped.find("name").unwrap());
        let (name, value) = rest.split_at(rest.find(' ').unwrap());
        format!("{start}\\\n{indent}{name}\\\n{indent}\\{value}")
    };
    let accent = CALL.replace("echo", "a café \\\\ \\n it's");
    let accent = accent.replace("\"name\":", "\"name\": ");
    let base64 =
        |text: &str| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    let shown = base64(&accent);
    let (start, end) = shown.split_at(40);
    let text = format!(
        "interactions:\n- request:\n    body: \"{}\"\n    uri: http://localhost/mcp\n",
        folded(&accent, "      ")
    );
    let binary = format!(
        "interactions:\n- request:\n    body: !!binary |\n      {start}\n      {end}\n    headers:\n      content-type:\n      - application/json\n- response:\n    body:\n      string: !!binary |\n        {}\n    status: 200\n",
        base64(ANSWER)
    );
    assert_eq!(read(&text).len(), 1, "{text}");
    assert!(
        read(&text)[0].ends_with(&accent),
        "{text}: {:?}",
        read(&text)
    );
    let found = read(&binary);
    assert_eq!(
        found,
        [format!("c2s - {accent}"), format!("s2c - {ANSWER}")],
        "{binary}"
    );
}

#[test]
fn json_that_peers_do_not_write_is_read() {
    let commas = pretty(CALL)
        .replace("\"\n", "\",\n")
        .replace("}\n}", "},\n}");
    let found = read(&(commas.clone() + "\n"));
    let [message] = &*found else {
        panic!("{commas}: {found:?}")
    };
    let value = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
    assert_eq!(
        value(message.trim_start_matches("- - ")),
        value(CALL),
        "{commas}"
    );
    // On one line, it is an error of the peer.
    let line = CALL.replace("}}", "},}") + "\n";
    assert_eq!(auto(&line).form, Some(Form::Raw), "{line}");
}

/// Objects with an id or a sequence number are no messages if they have bytes.
#[test]
fn bytes_in_objects_are_read() {
    let hex = |text: &str| ::hex::encode(format!("{text}\n"));
    let base64 = |text: &str| {
        base64::Engine::encode(
            &base64::engine::general_purpose::URL_SAFE_NO_PAD,
            format!("{text}\n"),
        )
    };
    for (text, way) in [
        (
            format!(
                "[{{\"id\": 0, \"data\": \"{}\"}}, {{\"id\": 1, \"data\": \"{}\"}}]\n",
                hex(CALL),
                hex(ANSWER)
            ),
            ["-", "-"],
        ),
        (
            format!(
                "{{\"seq\":0,\"dir\":\"tx\",\"b64\":\"{}\"}}\n{{\"seq\":1,\"dir\":\"rx\",\"b64\":\"{}\"}}\n",
                base64(CALL),
                base64(ANSWER)
            ),
            ["c2s", "s2c"],
        ),
        (
            format!(
                "{{\"version\":\"0.3\",\"traces\":[{{\"events\":[{{\"raw\":{{\"data\":\"{}\"}}}},{{\"raw\":{{\"data\":\"{}\"}}}}]}}]}}\n",
                hex(CALL),
                hex(ANSWER)
            ),
            ["-", "-"],
        ),
    ] {
        let wanted = [
            format!("{} - {CALL}", way[0]),
            format!("{} - {ANSWER}", way[1]),
        ];
        assert_eq!(read(&text), wanted, "{text}");
    }
    // Short payloads of tshark belong to the column of longer ones.
    let rows = format!(
        "1.5\t1234\t{}\n1.6\t1234\t{}\n1.7\t5678\t{}\n",
        ::hex::encode(CALL),
        ::hex::encode("\n"),
        hex(ANSWER)
    );
    assert_eq!(
        auto(&rows).bytes,
        format!("{CALL}\n{ANSWER}\n").as_bytes(),
        "{rows}"
    );
}

/// Other lines are errors in a stream, but not in a text that was copied from a chat or from a report of tests.
#[test]
fn lines_of_chats_and_reports_are_no_errors() {
    let chat = format!("maria.silva  6:02 PM\nsee\n{CALL}\nmaria.silva  6:03 PM\n{ANSWER}\n");
    assert_eq!(read(&chat), plain(&[CALL, ANSWER]), "{chat}");
    let messages = format!("{CALL}\n{ANSWER}\n");
    for (report, is_report) in [
        ("✔ calls (3.2ms)\nℹ tests 1\nℹ pass 1\n", true),
        ("    ✔ works (12ms)\n\n\n  1 passing (15ms)\n", true),
        ("Tests:       1 failed, 1 total\n", true),
        ("test result: ok. 1 passed; 0 failed\n", true),
        ("server started\n", false),
        ("✔ server started\n", false),
        ("1 message passed\n", false),
    ] {
        let text = around("", &(messages.clone() + report), "");
        assert_eq!(pasted::ends_as_pasted(text.as_bytes()), is_report, "{text}");
        let mut reader = CaptureInput::new(Form::Auto).of_pasted_text(is_report);
        let mut bytes = Vec::new();
        let mut sink = |item: Item<'_>| {
            if let Item::Chunk(chunk) = item {
                bytes.extend_from_slice(chunk.bytes);
            }
        };
        for piece in text.as_bytes().chunks(7) {
            reader.push(piece, &mut sink);
        }
        reader.finish(&mut sink);
        let wanted = if is_report { &messages } else { &text };
        assert_eq!(String::from_utf8_lossy(&bytes), *wanted, "{text}");
    }
}

/// The level `messages` of VS Code prints only names.
#[test]
fn a_trace_without_values_says_so() {
    let trace = "[Trace - 10:02:27 AM] Sending request 'shutdown - (3)'.\n[Trace - 10:02:27 AM] Received response 'shutdown - (3)' in 4ms.\n";
    let note = |text: &str| {
        let found = read(text);
        found
            .iter()
            .any(|line| line.starts_with("the trace has no parameters"))
    };
    assert!(note(trace), "{trace}");
    let verbose = trace.replace("in 4ms.\n", "in 4ms.\nNo result returned.\n");
    assert!(!note(&verbose), "{verbose}");
}

/// `tshark -z follow,http` prints a body without its chunks.
#[test]
fn bodies_of_followed_http_are_chunks() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let request = format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n", CALL.len());
    let part = |tab: &str, text: &str| format!("{tab}{}\n{text}\n", text.len());
    let event = format!("event: message\r\ndata: {ANSWER}\r\n\r\n");
    let text = format!(
        "\n===================\nFollow: http,ascii\nFilter: tcp.stream eq 1\nNode 0: a:1\nNode 1: b:2\n{}{}{}{}{}===================\n",
        part("", &request),
        part("", CALL),
        part("\t", head),
        part("\t", &event),
        part("\t", head),
    );
    let chunk = format!("{:x}\r\n{event}\r\n0\r\n\r\n", event.len());
    let wanted = format!("{request}{CALL}{head}{chunk}{head}0\r\n\r\n");
    assert_eq!(
        String::from_utf8_lossy(&auto(&text).bytes),
        wanted,
        "{text}"
    );
}

/// The text column of a dump may begin with a blank and hex digits: it follows two other blanks.
#[test]
fn text_of_a_row_that_begins_as_hex_is_no_data() {
    let data = b"0123456789abcdef 52 ab cd ef gh.";
    let half = |half: &[u8]| {
        let pairs: Vec<String> = half.iter().map(|byte| format!("{byte:02X}")).collect();
        pairs.join(" ")
    };
    let rows = data.chunks(16).zip(0..).map(|(row, number)| {
        let (first, second) = row.split_at(8);
        let text = String::from_utf8_lossy(row);
        format!(
            "{:08X}: {}  {}  {text}\n",
            number * 16,
            half(first),
            half(second)
        )
    });
    let dump: String = rows.collect();
    assert_eq!(auto(&dump).bytes, data, "{dump}");
}
