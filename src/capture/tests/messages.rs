//! Texts with several messages: all of them are read, or a note says that one is not.

use super::*;
use crate::protocol::Direction;

pub(super) const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
pub(super) const ANSWER: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a b"}]}}"#;
pub(super) const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#;

/// Returns direction, time and bytes of the messages, and the notes; the same in all splits.
pub(super) fn read(text: &str) -> Vec<String> {
    let whole = read_in(text, text.len());
    assert_eq!(read_in(text, 7), whole, "{text}");
    whole
}

/// Returns what [`read`] does, of a text that comes in pieces of a length.
pub(super) fn read_in(text: &(impl AsRef<[u8]> + ?Sized), step: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut reader = CaptureInput::new(Form::Auto);
    let mut sink = |item: Item<'_>| match item {
        Item::Chunk(chunk) => {
            let way = chunk.direction.map_or("-", Direction::name);
            let time = chunk
                .time
                .map_or("-".to_owned(), |time| match time::clock_of(time) {
                    Some(clock) => clock,
                    None => (time / 1_000_000_000 - 1_795_572_790).to_string(),
                });
            let text = String::from_utf8_lossy(chunk.bytes);
            found.push(format!("{way} {time} {}", text.trim_end()));
        }
        Item::Problem(problem) => found.push(problem.to_string()),
        _ => {}
    };
    for piece in text.as_ref().chunks(step) {
        reader.push(piece, &mut sink);
    }
    reader.finish(&mut sink);
    found
}

pub(super) fn pretty(text: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    serde_json::to_string_pretty(&value).unwrap()
}

pub(super) fn base64(text: &str) -> String {
    base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text)
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Breaks a text at a width.
pub(super) fn wrapped(text: &str, width: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    let lines = chars
        .chunks(width)
        .map(|line| line.iter().collect::<String>());
    lines.collect::<Vec<_>>().join("\n")
}

/// Other lines, marks behind messages, and what the text around a message does to it.
#[test]
fn messages_beside_other_text_are_read() {
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"t":"it's"}}"#;
    const LESS: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"t":"a -> b & c"}}"#;
    let doubled = PONG.replace('\'', "''");
    let escaped = LESS.replace('&', "&amp;").replace('>', "&gt;");
    for (text, wanted) in [
        (format!("[INFO] hello\n{PING}\n"), vec![("-", PING)]),
        (
            format!("starting\nlistening\n{PING}\n{PONG}\nbye\n"),
            vec![("-", PING), ("-", PONG)],
        ),
        (
            format!("[#1] Received on \"a\"\n{PING}\n"),
            vec![("-", PING)],
        ),
        (format!("---\n{PING}\n"), vec![("-", PING)]),
        (
            format!("{PING}$\n{PONG}$\n"),
            vec![("-", PING), ("-", PONG)],
        ),
        (
            format!("{PING},\n{PONG},\n"),
            vec![("-", PING), ("-", PONG)],
        ),
        // The method of a request of HTTP is none of the message.
        (
            format!("{{\"http\":{{\"method\":\"POST\"}},\"rpc\":{PING}}}\n"),
            vec![("-", PING)],
        ),
        (
            format!(
                "{{\"payload\":{},\"request\":{{\"url\":\"https://x/\",\"method\":\"POST\"}}}}\n",
                quoted(PING)
            ),
            vec![("-", PING)],
        ),
        (
            format!("INSERT INTO m VALUES (1,'{doubled}');\n"),
            vec![("-", PONG)],
        ),
        (format!("body: '{doubled}'\n"), vec![("-", PONG)]),
        (
            format!("<msg level=\"DEBUG\">&lt;-- {escaped}</msg>\n<msg>--&gt; {PING}</msg>\n"),
            vec![("s2c", LESS), ("c2s", PING)],
        ),
    ] {
        let wanted: Vec<String> = wanted
            .iter()
            .map(|(way, message)| format!("{way} - {message}"))
            .collect();
        assert_eq!(read(&text), wanted, "{text}");
    }
}

#[test]
fn all_messages_of_a_text_are_read() {
    let python = "{'jsonrpc': '2.0', 'id': 2, 'method': 'tools/list', 'params': {}}";
    let export = pretty(&format!(
        r#"{{"took":3,"hits":[
            {{"direction":"outbound","message":{},"timestamp":"2026-11-25T02:13:11Z"}},
            {{"direction":"inbound","message":{},"timestamp":"2026-11-25T02:13:12Z"}}]}}"#,
        quoted(&format!("[x] {CALL}")),
        quoted(ANSWER),
    ));
    let nested = format!(
        r#"{{"a":[{{"b":[{{"c":[{{"timeUnixNano":"1795572791000000000","body":{{"stringValue":{}}}}},{{"timeUnixNano":"1795572792000000000","body":{{"stringValue":{}}}}}]}}]}}]}}"#,
        quoted(CALL),
        quoted(LIST),
    );
    let plain = |way: [&str; 2], time: [&str; 2], messages: [&str; 2]| {
        [0, 1]
            .map(|n| format!("{} {} {}", way[n], time[n], messages[n]))
            .to_vec()
    };
    let c2s_s2c = ["c2s", "s2c"];
    let hover = r#"{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"position":{"line":1,"character":9}}}"#;
    let shutdown = r#"{"jsonrpc":"2.0","id":3,"method":"shutdown"}"#;
    let null = r#"{"jsonrpc":"2.0","id":3,"result":null}"#;
    let exit = r#"{"jsonrpc":"2.0","method":"exit"}"#;
    let markdown = r#"{"jsonrpc":"2.0","id":2,"result":{"contents":{"kind":"markdown","value":"```a\nb```"}}}"#;
    let with_header = |message: &str| format!("Content-Length: {}\r\n\r\n{message}", message.len());
    let rows = [
        // Two on a line.
        (
            format!("2026-11-25T02:13:11Z DEBUG sent={CALL} received={ANSWER}\n"),
            plain(c2s_s2c, ["1", "1"], [CALL, ANSWER]),
        ),
        (
            format!("2026-11-25T02:13:11Z error: {ANSWER}: while handling {CALL}\n"),
            plain(["-", "-"], ["1", "1"], [ANSWER, CALL]),
        ),
        (
            format!(
                "E  assert {} == {python}\n",
                python.replace('2', "3").replace("3.0", "2.0")
            ),
            plain(
                ["-", "-"],
                ["-", "-"],
                [&LIST.replace("\"id\":2", "\"id\":3"), LIST],
            ),
        ),
        // A list in an envelope.
        (
            format!(
                r#"{{"batch":1,"events":[{{"dir":"c2s","msg":{CALL}}},{{"dir":"s2c","msg":{ANSWER}}}]}}"#
            ),
            plain(c2s_s2c, ["-", "-"], [CALL, ANSWER]),
        ),
        // Exports in JSON on several lines and on one line.
        (export, plain(c2s_s2c, ["1", "2"], [CALL, ANSWER])),
        (nested, plain(["-", "-"], ["1", "2"], [CALL, LIST])),
        // One line and several lines, JSON and a print of Python.
        (
            format!(
                "2026-11-25T02:13:11Z send {LIST}\n2026-11-25T02:13:12Z recv {}\n",
                ANSWER.replace(":{\"content\"", ": {\n  \"content\"")
            ),
            plain(
                c2s_s2c,
                ["1", "2"],
                [LIST, &ANSWER.replace(":{\"content\"", ": {   \"content\"")],
            ),
        ),
        (
            format!("2026-11-25T02:13:11Z send {CALL}\n2026-11-25T02:13:12Z parsed {python}\n"),
            plain(["c2s", "-"], ["1", "2"], [CALL, LIST]),
        ),
        // Lines that were broken at a width.
        (
            [("11", "Sending", CALL), ("12", "Received", ANSWER)]
                .map(|(second, word, message)| {
                    wrapped(
                        &format!("2026-11-25T02:13:{second}Z {word} message: {message}"),
                        45,
                    ) + "\n"
                })
                .concat(),
            plain(c2s_s2c, ["1", "2"], [CALL, ANSWER]),
        ),
        // Brackets that do not close.
        (
            format!("{{\n[c2s] {CALL}\nwhat? {{ (\n[s2c] {ANSWER}\n"),
            plain(c2s_s2c, ["-", "-"], [CALL, ANSWER]),
        ),
        // Strings in which two quotes are one.
        (
            format!(
                "var a = @\"{}\";\nvar b = @\"{}\";\n",
                CALL.replace('"', "\"\""),
                ANSWER.replace('"', "\"\"")
            ),
            plain(["-", "-"], ["-", "-"], [CALL, ANSWER]),
        ),
        // Texts have any characters; the quotes of a message can be typographic.
        (
            format!("→ {}\n", LIST.replace("{}", "{\"q\":\"“a” → b…\"}")),
            [format!(
                "c2s - {}",
                LIST.replace("{}", "{\"q\":\"“a” → b…\"}")
            )]
            .to_vec(),
        ),
        (
            format!("← {}\n", ANSWER.replacen('"', "“", 1)),
            [format!("s2c - {ANSWER}")].to_vec(),
        ),
        // Cells of a table in CSV, with text before the message.
        (
            format!(
                "time,message\n2026-11-25T02:13:11Z,\"-> {}\"\n2026-11-25T02:13:12Z,\"<- {}\"\n",
                CALL.replace('"', "\"\""),
                ANSWER.replace('"', "\"\"")
            ),
            plain(c2s_s2c, ["1", "2"], [CALL, ANSWER]),
        ),
        // Base64, a message in each line.
        (
            [("send", CALL), ("recv", ANSWER)]
                .map(|(word, message)| format!("DEBUG {word} {}\n", base64(message)))
                .concat(),
            plain(c2s_s2c, ["-", "-"], [CALL, ANSWER]),
        ),
        // HTML and PowerShell.
        (
            format!("--&gt; {}\n", CALL.replace('"', "&quot;")),
            [format!("c2s - {CALL}")].to_vec(),
        ),
        (
            format!("send \"{}\"\n", CALL.replace('"', "`\"")),
            [format!("c2s - {CALL}")].to_vec(),
        ),
        // Numbers before a token of hex.
        (
            format!("send 40000 7700 {}\n", ::hex::encode(format!("{CALL}\n"))),
            [format!("c2s - {CALL}")].to_vec(),
        ),
        // Headings, and times with the name of the month.
        (
            format!(
                "Wed Nov 25 02:13:11 2026\n*Request*\nbody {CALL}\n[25/Nov/2026:02:13:12 +0000] x\n*Response*\nbody {ANSWER}\n"
            ),
            plain(c2s_s2c, ["1", "2"], [CALL, ANSWER]),
        ),
        // All messages have headers, also those that a protocol without headers has as well.
        (
            [
                ("send", hover),
                ("send", shutdown),
                ("recv", null),
                ("send", exit),
            ]
            .map(|(word, message)| format!("{word} {message}\n"))
            .concat(),
            [
                ("c2s", hover),
                ("c2s", shutdown),
                ("s2c", null),
                ("c2s", exit),
            ]
            .map(|(way, message)| format!("{way} - {}", with_header(message)))
            .to_vec(),
        ),
        // A print of bytes with headers has the escapes of a message twice.
        (
            [("send", hover), ("recv", markdown)]
                .map(|(word, message)| {
                    let bytes = message.replace('\\', "\\\\");
                    format!(
                        "{word} b'Content-Length: {}\\r\\n\\r\\n{bytes}'\n",
                        message.len()
                    )
                })
                .concat(),
            [("c2s", hover), ("s2c", markdown)]
                .map(|(way, message)| format!("{way} - {}", with_header(message)))
                .to_vec(),
        ),
        // A message with another one inside is one message.
        (
            format!(
                "[c2s] {CALL}\n[s2c] {}\n",
                ANSWER.replace("\"a b\"", &quoted(LIST))
            ),
            plain(
                c2s_s2c,
                ["-", "-"],
                [CALL, &ANSWER.replace("\"a b\"", &quoted(LIST))],
            ),
        ),
        // An object with a method of HTTP around each message.
        (
            format!(
                "fetch('/', {{\n  \"body\": {},\n  \"method\": \"POST\"\n}});\nfetch('/', {{\n  \"body\": {},\n  \"method\": \"POST\"\n}});\n",
                quoted(CALL),
                quoted(LIST)
            ),
            plain(["c2s", "c2s"], ["-", "-"], [CALL, LIST]),
        ),
    ];
    let mut failures = String::new();
    for (text, wanted) in rows {
        let strip = |lines: &[String]| -> Vec<String> {
            lines
                .iter()
                .map(|line| line.replace(": ", ":").replace(", ", ","))
                .collect()
        };
        let got = read(&text);
        if strip(&got) != strip(&wanted) {
            failures.push_str(&format!("{text}\n  {got:#?}\n  wanted {wanted:#?}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Escapes of the programs that print a text, and lines that they break.
#[test]
fn escaped_and_broken_texts_are_read() {
    let call = |text: &str| CALL.replace("echo", text);
    let with_header = |message: &str| format!("Content-Length: {}\r\n\r\n{message}", message.len());
    let python = |text: &str| {
        let printed = call(text)
            .replace('"', "'")
            .replace(':', ": ")
            .replace(',', ", ");
        format!("send {printed}\n")
    };
    let quoted_text = |text: &str| format!("send '{}'\n", call(text));
    let entities = |text: &str| {
        text.replace('&', "&amp;")
            .replace('"', "&quot;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let markup = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"q":"<b>&amp;"}}"#;
    let gdb = [CALL, ANSWER].map(|message| {
        let stream = with_header(message).escape_default().to_string();
        let (start, end) = stream.split_at(60);
        format!("0x7ffc7f0 <text+16>:\t\"{start}\"...\n0x7ffc8b8:\t\"{end}\"\n")
    });
    let repeated = "0x7ffc7f0:\t\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":2,\\\"method\\\":\\\"a\", '0' <repeats 20 times>...\n0x7ffc8b8:\t\"b\\\"}\"\n";
    let zeros = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"a{}b"}}"#,
        "0".repeat(20)
    );
    let printable = |message: &str| {
        let encoded = message.replace('é', "=C3=A9");
        let (start, end) = encoded.split_at(40);
        format!("{start}=\n{end}\n")
    };
    for (text, wanted) in [
        // Characters that cannot be seen, of texts of Python and Node.
        (
            python("caf\\xe9 10\\xa0000"),
            vec![format!("c2s - {}", call("café 10\u{a0}000"))],
        ),
        (
            python("\\x85\\u200b"),
            vec![format!("c2s - {}", call("\u{85}\u{200b}"))],
        ),
        (
            quoted_text("a\\xa0b"),
            vec![format!("c2s - {}", call("a\u{a0}b"))],
        ),
        // Bytes.
        (python("\\xc3\\xa9"), vec![format!("c2s - {}", call("é"))]),
        (
            quoted_text("\\xc3\\xa9"),
            vec![format!("c2s - {}", call("é"))],
        ),
        // Markup inside of a message in markup.
        (
            format!("<e dir=\"out\">{}</e>\n", entities(markup)),
            vec![format!("c2s - {markup}")],
        ),
        // Strings of GDB that are longer than a line.
        (
            gdb.concat(),
            [CALL, ANSWER]
                .map(|message| format!("- - {message}"))
                .to_vec(),
        ),
        (repeated.to_owned(), vec![format!("- - {zeros}")]),
        // Quoted-printable without a head that says so.
        (
            [call("é"), ANSWER.to_owned()]
                .map(|message| printable(&message))
                .concat(),
            vec![format!("- - {}", call("é")), format!("- - {ANSWER}")],
        ),
    ] {
        assert_eq!(read(&text), wanted, "{text}");
    }
}

/// Percent-encoded messages in lines: alone, and as values of fields of a form.
#[test]
fn percent_encoded_messages_are_read() {
    let encoded = |text: &str, blank: &str| -> String {
        let all = text.bytes().map(|c| match c {
            b' ' => blank.to_owned(),
            c if c.is_ascii_alphanumeric() => char::from(c).to_string(),
            c => format!("%{c:02X}"),
        });
        all.collect()
    };
    let wanted = [CALL, ANSWER].map(|message| format!("- - {message}"));
    for (before, blank, after) in [("", "%20", ""), ("payload=", "+", "&x=1")] {
        let lines =
            [CALL, ANSWER].map(|message| format!("{before}{}{after}\n", encoded(message, blank)));
        assert_eq!(read(&lines.concat()), wanted, "{lines:?}");
    }
    // `encodeURIComponent` leaves apostrophes as they are, and URLs stand between them.
    let said = CALL.replace("echo", "it's");
    let plain = |text: &str| encoded(text, "%20").replace("%27", "'");
    let lines = [&said, ANSWER].map(|message| format!("payload={}&x=1\n", plain(message)));
    let wanted = [&said, ANSWER].map(|message| format!("- - {message}"));
    assert_eq!(read(&lines.concat()), wanted, "{lines:?}");
    let quoted = [CALL, ANSWER].map(|message| format!("GET 'http://h/?m={}'\n", plain(message)));
    let wanted = [CALL, ANSWER].map(|message| format!("- - {message}"));
    assert_eq!(read(&quoted.concat()), wanted, "{quoted:?}");
}

/// The last column of `tshark -T fields -e … -e tcp.payload`; packets without a payload have none.
#[test]
fn payloads_of_packet_fields_are_read() {
    let lines = [CALL, ANSWER].map(|message| ::hex::encode(format!("{message}\n")));
    let wanted = [CALL, ANSWER].map(|message| format!("- - {message}"));
    for (before, other) in [
        ("57332", "4802"),
        (
            "29\t0.253532993\t127.0.0.1\t57332\t4802",
            "30\t0.3\t127.0.0.1\t4802\t57332",
        ),
        ("10", "20"),
    ] {
        let [call, answer] = &lines;
        let empty = if before.contains('.') {
            format!("{before}\t\n")
        } else {
            String::new()
        };
        let text = format!("{empty}{before}\t{call}\n{empty}{other}\t{answer}\n{empty}");
        assert_eq!(read(&text), wanted, "{text}");
    }
}

/// Exporters of traces put messages into texts far inside of objects and lists.
#[test]
fn messages_far_inside_of_a_value_are_read() {
    let text = |message: &str| serde_json::to_string(message).unwrap();
    let [call, answer] = [CALL, ANSWER].map(text);
    let (open, close) = (r#"{"a":["#.repeat(7), "]}".repeat(7));
    let wanted = [CALL, ANSWER].map(|message| format!("- - {message}"));
    let spans = format!(r#"{open}{{"value":{call}}},{{"value":{answer}}}{close}"#);
    assert_eq!(read(&spans), wanted);
}

/// Lines of pytest and YAML stand around messages, and are no errors in a stream.
#[test]
fn lines_around_messages_are_no_faults() {
    let pytest = format!(
        "======= test session starts =======\ncollected 1 item\n\n------- Captured stdout call -------\n{CALL}\n{ANSWER}\n======= 1 failed in 0.01s =======\n"
    );
    let yaml =
        format!("- dir: c2s\n  message: |\n    {CALL}\n- dir: s2c\n  message: |\n    {ANSWER}\n");
    for (text, ways) in [(pytest, ["-", "-"]), (yaml, ["c2s", "s2c"])] {
        let wanted = [CALL, ANSWER].iter().zip(ways);
        let wanted: Vec<_> = wanted
            .map(|(message, way)| format!("{way} - {message}"))
            .collect();
        assert_eq!(read(&text), wanted, "{text}");
    }
}

/// A list of requests or of answers on a line is a batch; one with both is a list of a log.
#[test]
fn batches_on_lines_are_messages() {
    let sent = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"}]"#;
    let answered =
        r#"[{"jsonrpc":"2.0","id":1,"result":null},{"jsonrpc":"2.0","id":2,"result":{}}]"#;
    let got = read(&format!("> {sent}\n< {answered}\n"));
    assert_eq!(got, [format!("c2s - {sent}"), format!("s2c - {answered}")]);
    let both = format!("recorded: [{CALL},{ANSWER}]\n");
    assert_eq!(read(&both).len(), 2);
}

#[test]
fn parts_of_messages_are_no_messages() {
    let hover = "{'jsonrpc': '2.0', 'id': 2, 'method': 'textDocument/hover', 'params': {'position': {'line': 1}}}";
    let text = format!("send {hover}\nresult: {{'kind': 'markdown', 'value': 'a'}}\n");
    let got = read(&text);
    assert_eq!(got.len(), 1, "{got:?}");
}

#[test]
fn a_text_that_begins_with_the_newest_message_is_named() {
    let line = |second: u32, message: &str| format!("2026-11-25T02:13:1{second}Z {message}\n");
    let text = [line(3, LIST), line(2, ANSWER), line(1, CALL)].concat();
    let got = read(&text);
    assert!(
        got.last()
            .is_some_and(|note| note.contains("newest message")),
        "{got:?}"
    );
    let text = [line(1, CALL), line(2, ANSWER), line(3, LIST)].concat();
    assert_eq!(read(&text).len(), 3);
}

/// The head of an answer has the time of the server, in whole seconds.
#[test]
fn dates_of_heads_are_no_times_of_messages() {
    let head = "Date: Wed, 25 Nov 2026 02:13:11 GMT\n";
    let text = format!(
        "127.0.0.1:5: POST http://localhost/mcp\n\n    {CALL}\n\n << 200 OK 91b\n    {head}\n    {ANSWER}\n"
    );
    let got = read(&text);
    assert_eq!(got.len(), 2, "{got:?}");
    assert!(
        got.iter().all(|message| message.contains(" - {")),
        "{got:?}"
    );
}

#[test]
fn unreadable_messages_are_counted() {
    let swift = "-> [\"jsonrpc\": \"2.0\", \"id\": 1, \"next\": <null>]\n";
    let log = |before: &str, after: &str| read(&format!("{before}[s2c] {ANSWER}\n{after}"));
    let answer = format!("s2c - {ANSWER}");
    for (before, after, wanted) in [
        (
            swift,
            "",
            Some("line 1: this begins like a message, but cannot be read, and is not shown"),
        ),
        (
            "",
            &*swift.repeat(2),
            Some(
                "line 2: 2 lines begin like messages, but cannot be read, and are not shown; the first is here",
            ),
        ),
        ("", "{\"jsonrpc\":\"2.0\"}\n[jsonrpc] (starts)\n", None),
    ] {
        let notes: Vec<String> = log(before, after)
            .into_iter()
            .filter(|line| *line != answer)
            .collect();
        assert_eq!(notes, Vec::from_iter(wanted), "{before}{after}");
    }
}

#[test]
fn many_open_brackets_are_read_in_time() {
    let text = format!("[c2s] {CALL}\n{}[s2c] {ANSWER}\n", "x {\n".repeat(1 << 13));
    assert_eq!(
        read(&text),
        [format!("c2s - {CALL}"), format!("s2c - {ANSWER}")]
    );
}
