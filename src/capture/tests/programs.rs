//! Messages in what programs print around them: reports of tests, pages, source code, pieces of streams.

use super::messages::{ANSWER, CALL, LIST, pretty, read, read_in};

/// A message with quotes and a backslash in a text.
const QUOTED: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"it's \"a\"","path":"C:\\x"}}"#;

/// Returns what is read of messages without directions and times.
fn plain(messages: &[&str]) -> Vec<String> {
    let shown = messages.iter().map(|message| format!("- - {message}"));
    shown.collect()
}

fn doubled(text: &str) -> String {
    text.replace('\\', "\\\\")
}

/// Text in pieces, as a program logs what it reads.
fn in_pieces(text: &str, len: usize, show: impl Fn(&str) -> String) -> String {
    let pieces = text.as_bytes().chunks(len);
    let shown = pieces.map(|piece| show(std::str::from_utf8(piece).unwrap()));
    shown.collect()
}

#[test]
fn lines_of_test_programs_and_loggers_are_no_faults() {
    let wanted = plain(&[CALL, ANSWER]);
    for text in [
        format!(
            "=== RUN   TestCall\n{CALL}\n{ANSWER}\n--- PASS: TestCall (0.00s)\nPASS\nok  \tx\t0.003s\n"
        ),
        format!(
            "TAP version 13\n# {CALL}\n# {ANSWER}\n# Subtest: a\nok 1 - a\n  ---\n  duration_ms: 4.5\n  ...\n1..1\n"
        ),
        format!("──── STDOUT:             app::t a\n    {CALL}\n    {ANSWER}\n──── STDERR:\n"),
        format!("info: App.Server[42]\n      {CALL}\ninfo: App.Server[42]\n      {ANSWER}\n"),
        format!(
            "  console.log\n    {CALL}\n\n      at log (a.test.js:3:11)\n\n  console.log\n    {ANSWER}\n"
        ),
    ] {
        assert_eq!(read(&text), wanted, "{text}");
    }
    // A line between messages of a peer is still a fault.
    let stream = format!("{CALL}\nserver started\n{ANSWER}\n");
    assert_eq!(
        read_in(&stream, stream.len()),
        [format!("- - {}", stream.trim_end())]
    );
}

#[test]
fn entities_of_reports_and_pages_are_characters() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"t":"x > 1 & <b>"}}"#;
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let head = "<?xml version=\"1.0\"?><testsuite><testcase><system-out>log:\n";
    let tail = "</system-out></testcase></testsuite>\n";
    for (text, wanted) in [
        (
            format!("{head}{escaped}\n{ANSWER}\n{tail}"),
            vec![text, ANSWER],
        ),
        (
            format!("{head}out: {}\n{tail}", pretty(&escaped)),
            vec![text],
        ),
        (
            format!("{head}<![CDATA[\n{escaped}\n]]>{tail}"),
            vec![&*escaped],
        ),
        (
            format!(
                "{head}recv {}\n{tail}",
                escaped.replace("&lt;", "&#60;").replace("&gt;", "&#x3e;")
            ),
            vec![text],
        ),
    ] {
        let mut got = read(&text);
        got.retain(|one| one.contains('{'));
        assert_eq!(got.len(), wanted.len(), "{text}: {got:?}");
        for (got, wanted) in got.iter().zip(wanted) {
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            let got = &got[got.find('{').unwrap()..];
            assert_eq!(value(got), value(wanted), "{text}");
        }
    }
}

#[test]
fn doubled_backslashes_are_single() {
    let (quoted, answer) = (doubled(QUOTED), doubled(ANSWER));
    let wanted = plain(&[CALL, QUOTED, ANSWER]);
    for text in [
        format!("1\t{CALL}\n3\t{quoted}\n\t{answer}\n"),
        format!(
            "[[case]]\nmessage = \"\"\"{CALL}\"\"\"\n[[case]]\nmessage = \"\"\"{quoted}\"\"\"\nanswer = \"\"\"{answer}\"\"\"\n"
        ),
        format!(
            "class T {{\n  String a = \"\"\"\n      {CALL}\n      \"\"\";\n  String b = \"\"\"\n      {quoted}\n      \"\"\";\n  String c = \"\"\"\n      {answer}\n      \"\"\";\n}}\n"
        ),
        // Node prints a text with both quotes in backticks.
        format!("line '{CALL}'\nline `{quoted}`\nline '{answer}'\n"),
    ] {
        assert_eq!(read(&text), wanted, "{text}");
    }
    // In Markdown, backticks are no quotes of a string.
    assert_eq!(
        read(&format!("the call `{QUOTED}` fails\n")),
        plain(&[QUOTED])
    );
}

#[test]
fn diffs_of_printed_messages_are_read() {
    let jest = |text: &str| {
        pretty(text)
            .replace('{', "Object {")
            .replace('[', "Array [")
    };
    let marked =
        |mark: &str, text: &str| format!("{mark}{}\n", text.replace('\n', &format!("\n{mark}")));
    let python = pretty(CALL).replace('"', "'");
    for (text, wanted) in [
        (
            format!(
                "- Expected\n+ Received\n\n- Array []\n{}",
                marked("+ ", &jest(CALL))
            ),
            vec![CALL],
        ),
        (
            format!("Lists differ:\n\n+ []\n{}\n", marked("- ", &python)),
            vec![CALL],
        ),
    ] {
        let mut got = read(&text);
        got.retain(|one| one.contains('{'));
        assert_eq!(got.len(), wanted.len(), "{text}: {got:?}");
        assert!(got[0].contains("\"method\":"), "{got:?}");
    }
    let cut = "AssertionError: [{'jsonrpc': '2.0', 'id': 1, 'method': 'in[1028 chars]h'}}] != []\n";
    let got = read(cut);
    assert!(
        got.iter().all(|one| !one.contains("[1028 chars]")),
        "{got:?}"
    );
}

#[test]
fn pieces_of_a_stream_are_joined() {
    let stream = format!("{CALL}\n{QUOTED}\n{ANSWER}\n{LIST}\n{LIST}\n");
    let wanted = plain(&[CALL, QUOTED, ANSWER, LIST, LIST]);
    let json = |text: &str| serde_json::to_string(text).unwrap();
    for len in [40, 61, 97] {
        let text = in_pieces(&stream, len, |piece| format!("chunk {}\n", json(piece)));
        assert_eq!(read(&text), wanted, "{text}");
    }
    let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
    let open = r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a"}}}"#;
    let stream = [CALL, open, ANSWER].map(framed).concat();
    let text = in_pieces(&stream, 70, |piece| {
        format!("[12] server stdout: {}\n", json(piece))
    });
    let mut got = read(&text);
    got.retain(|one| one.contains('{'));
    assert_eq!(got.len(), 3, "{text}: {got:?}");
    // Each line begins a message: they are cut, not pieces.
    let cut = format!("recv {}\nrecv {}\n", json(&CALL[..30]), json(&LIST[..30]));
    let got = read(&cut);
    assert!(got.iter().all(|one| !one.starts_with("- - {")), "{got:?}");
}

#[test]
fn other_prints_of_programs_are_read() {
    let text = |message: &str| serde_json::to_string(message).unwrap();
    let service = |text: &str| {
        let lines = pretty(text);
        let lines = lines
            .lines()
            .map(|line| format!("mcp-1  | {line}\ndb-1   | LOG: checkpoint\n"));
        lines.collect::<String>()
    };
    for (text, wanted) in [
        // An object of JavaScript with a text and an object.
        (
            format!("{{\n  request: '{LIST}',\n  response: {{ jsonrpc: '2.0', id: 2, result: 19 }}\n}}\n"),
            vec![format!("c2s - {LIST}"), "s2c - {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":19}".to_owned()],
        ),
        // Objects of a program with functions are no messages.
        (
            format!("send '{CALL}'\n{{\n  error: [Function: a],\n  method: [Function: b]\n}}\n"),
            vec![format!("c2s - {CALL}")],
        ),
        // pydantic.
        (
            "DEBUG Sending: jsonrpc='2.0' id=2 method='tools/list' params={}\nDEBUG http: host='a' port=1\n".to_owned(),
            vec!["c2s - {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{}}".to_owned()],
        ),
        // The verb of an HTTP request is the method of no message.
        (
            format!("{{\"method\":\"POST\",\"url\":\"/\",\"body\":{}}}\n", text(CALL)),
            plain(&[CALL]),
        ),
        // A logger writes a message twice, with other blanks.
        (
            format!("{{\"text\":{},\"extra\":{{\"rpc\":{}}}}}\n", text(CALL), CALL.replace("\":", "\": ")),
            plain(&[CALL]),
        ),
        (service(CALL) + &service(LIST), vec![]),
        (
            format!("{}\n", LIST.replace("\":", "\":\u{a0}")),
            vec![format!("- - {}", LIST.replace("\":", "\": "))],
        ),
    ] {
        let got = read(&text);
        if wanted.is_empty() {
            assert_eq!(got.len(), 2, "{text}: {got:?}");
        } else {
            assert_eq!(got, wanted, "{text}");
        }
    }
}

#[test]
fn a_text_with_nothing_but_answers_is_that_of_a_server() {
    let got = read(&format!(
        "Sending data: {ANSWER}\nSending data: {}\n",
        ANSWER.replace(":1,", ":2,")
    ));
    assert!(got[0].starts_with("the text has only answers"), "{got:?}");
    assert!(got[1..].iter().all(|one| one.starts_with("s2c")), "{got:?}");
}

#[test]
fn pages_of_wiretool_are_captures() {
    let page = "<!doctype html>\n<meta name=\"generator\" content=\"wiretool\">\n<script>{\"messages\":[\n\
        {\"i\":0,\"conn\":1,\"dir\":\"c2s\",\"t\":0,\"framing\":\"lines\",\"b\":\"e30=\",\"size\":2},\n\
        {\"i\":1,\"conn\":1,\"dir\":\"s2c\",\"t\":1.5,\"framing\":\"lines\",\"b\":\"e30=\",\"size\":9},\n\
        {\"i\":2,\"conn\":1,\"dir\":\"s2c\",\"t\":2000,\"framing\":\"message\",\"b\":\"W10=\",\"size\":2,\"h\":[[0,1]]}\n\
        ],\"findings\":[],\"masked\":true,\"start\":1795572790000.5,\"tool\":\"x\"}</script>\n";
    let wanted = [
        "c2s 0 {}",
        "s2c 2 []",
        "1 message is cut in the page, and left out (the capture that it was made from has them)",
        "the page has stars in place of secrets",
    ];
    assert_eq!(read(page), wanted);
    // Times of a hostile page have no sum.
    let (far, later) = ("9".repeat(310), "\"t\":1e300");
    let page = page
        .replace("1795572790000.5", &far)
        .replace("\"t\":0", later);
    assert_eq!(read(&page).len(), wanted.len());
}
