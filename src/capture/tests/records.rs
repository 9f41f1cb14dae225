//! Records of several lines or objects that have a message in one field and its direction in another.

use super::messages::{ANSWER, CALL, LIST, base64, pretty, read, read_in};

#[test]
fn directions_behind_messages_belong_to_their_records() {
    let indented = |text: &str| pretty(text).replace('\n', "\n    ");
    let record = |form: &str, way: &str, text: &str| match form {
        "psql" => format!("-[ RECORD ]---\nid  | 0\nmsg | {text}\ndir | {way}\n"),
        "psql, direction first" => format!("-[ RECORD ]---\ndir | {way}\nmsg | {text}\n"),
        "mysql" => format!("****** 1. row ******\n id: 0\nmsg: {text}\ndir: {way}\n"),
        "journalctl" => {
            format!("Fri [s=ab]\n    MESSAGE={text}\n    DIRECTION={way}\n    _PID=9\n")
        }
        "yaml" => format!("- id: 1\n  body: |\n    {text}\n  size: 9\n  dir: {way}\n"),
        "powershell" => format!("Body      : {text}\nDirection : {way}\n\n"),
        "pino" => format!(
            "DEBUG (1): rpc\n    message: {}\n    dir: \"{way}\"\n",
            indented(text)
        ),
        "lines of a log" => {
            format!("12:00 rpc body {text}\n12:00 rpc direction: {way}\n")
        }
        "remark" => format!("{}\n^ {way} a peer\n", pretty(text)),
        "plist" => format!(
            "\t<dict>\n\t\t<key>dir</key>\n\t\t<string>{way}</string>\n\t\t<key>msg</key>\n\t\t<string>{text}</string>\n\t</dict>\n"
        ),
        _ => unreachable!("{form}"),
    };
    let parsed = |text: &str| -> serde_json::Value { serde_json::from_str(text).unwrap() };
    let is_message = |line: &&String| line.contains('{');
    for (form, out, back) in [
        ("psql", "out", "in"),
        ("psql, direction first", "out", "in"),
        ("mysql", "out", "in"),
        ("journalctl", "send", "recv"),
        ("yaml", "sent", "received"),
        ("powershell", "Send", "Receive"),
        ("pino", "send", "recv"),
        ("lines of a log", "send", "recv"),
        ("remark", "sent to", "received from"),
        ("plist", "out", "in"),
    ] {
        let all = [(out, CALL), (back, ANSWER), (out, LIST)];
        let text: String = all.map(|(way, text)| record(form, way, text)).concat();
        let got = read(&text);
        let messages: Vec<_> = got
            .iter()
            .filter(is_message)
            .map(|line| line.split_at(line.find('{').unwrap()))
            .map(|(way, message)| {
                (
                    way.split(' ').next().unwrap_or_default().to_owned(),
                    parsed(message),
                )
            })
            .collect();
        let wanted = [("c2s", CALL), ("s2c", ANSWER), ("c2s", LIST)]
            .map(|(way, text)| (way.to_owned(), parsed(text)));
        assert_eq!(messages, wanted, "{form}: {got:?}");
    }
}

/// Without a field that describes it, a message has no direction.
#[test]
fn directions_of_other_records_are_not_taken() {
    let text = format!("msg: {CALL}\n\ndir: in\nmsg: {ANSWER}\n\nmsg: {LIST}\n");
    let got = read(&text);
    assert_eq!(
        got,
        [
            format!("- - {CALL}"),
            format!("s2c - {ANSWER}"),
            format!("- - {LIST}")
        ]
    );
    let text = format!("msg: {CALL}\ndir: out\n\nmsg: {ANSWER}\n\ndir: out\nmsg: {LIST}\n");
    let got = read(&text);
    assert_eq!(
        got,
        [
            format!("c2s - {CALL}"),
            format!("- - {ANSWER}"),
            format!("- - {LIST}")
        ]
    );
}

#[test]
fn objects_of_a_list_with_base64_are_messages() {
    let object =
        |way: &str, text: &str| format!(r#"{{"dir": "{way}", "b64": "{}"}}"#, base64(text));
    let list = format!("[{}, {}]\n", object("out", CALL), object("in", ANSWER));
    assert_eq!(
        read(&list),
        [format!("c2s - {CALL}"), format!("s2c - {ANSWER}")]
    );
}

#[test]
fn requests_of_http_in_a_log_are_no_messages() {
    let http = r#"{"id":1,"method":"POST","url":"/rpc","headers":{"host":"a"}}"#;
    let text = format!(
        "{{\"level\":30,\"req\":{http},\"body\":{CALL}}}\n{{\"level\":30,\"req\":{http},\"msg\":\"done\"}}\n"
    );
    assert_eq!(read(&text), [format!("- - {CALL}")]);
}

#[test]
fn lines_in_latin1_are_text() {
    let call = CALL.replace("echo", "\u{fc}\u{df}");
    let text = format!("INFO Ger\u{e4}t ge\u{f6}ffnet\nDEBUG send {call}\nDEBUG recv {ANSWER}\n");
    let bytes: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let got = read_in(&bytes, bytes.len());
    assert_eq!(
        got,
        [
            format!("c2s - {call}"),
            format!("s2c - {ANSWER}"),
            "line 1: this line has bytes that are not UTF-8, which are read as Latin-1".to_owned()
        ]
    );
    assert_eq!(read_in(&bytes, 7), got);
}

#[test]
fn text_between_indented_messages_is_left_out() {
    for between in ["Response:", "-----", "// answer", "=>", "\nDone."] {
        let text = format!("{}\n{between}\n{}\n", pretty(CALL), pretty(ANSWER));
        let got = read(&text);
        assert!(
            matches!(&*got, [call, answer] if call.contains("\"echo\"") && answer.contains("\"a b\"")),
            "{between}: {got:?}"
        );
    }
    // A stream without a further message.
    let got = read(&format!("{}\nDone.\n", pretty(CALL)));
    assert!(got.concat().contains("Done."), "{got:?}");
}

#[test]
fn what_a_dump_leaves_out_is_named() {
    let row = " 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n";
    let got = read(&format!("{row}*\n{row}*\n{row}"));
    let notes: Vec<_> = got
        .iter()
        .filter(|one| one.contains("line 2: \"*\""))
        .collect();
    assert_eq!((notes.len(), got.len()), (1, 4), "{got:?}");
    let frames = "D ws.client > BINARY 85 a7 76 65 ... 02 03 [65 bytes]\nD ws.client < BINARY 83 a2 ... 74 05 [34 bytes]\n";
    let got = read(frames);
    assert!(
        matches!(&*got, [note] if note.contains("cut them at \"...\"") && note.contains("websockets")),
        "{got:?}"
    );
}

/// The last row of a string can have very few bytes.
#[test]
fn short_last_rows_of_a_string_are_read() {
    const STREAM: &str = "0000004185a776657273696f6e01a474797065a463616c6ca26964c4104d0695ae49484a8daa683b6275decca6a67461 \
        72676574a86d6174682e616464a4617267739202030000002283a26964c4104d0695ae49484a8daa683b6275decca6a2 \
        6f6bc3a6726573756c74050000004485a776657273696f6e01a474797065a463617374a26964c41029714c2cbf474014 \
        9055b0a118918c6ca6746172676574a96c6f672e7772697465a46172677391a3686579";
    let digits = STREAM.replace([' ', '\n'], "");
    let pairs: Vec<String> = digits
        .as_bytes()
        .chunks(2)
        .map(|pair| format!("\\x{}", String::from_utf8_lossy(pair)))
        .collect();
    let rows: Vec<_> = pairs
        .chunks(16)
        .map(|row| format!("\"{}\"", row.concat()))
        .collect();
    for (join, end) in [(" \\\n", "\n"), ("\n    ", ";\n")] {
        let got = read(&format!("{}{end}", rows.join(join))).concat();
        assert!(got.ends_with("hey"), "{got}");
    }
}

#[test]
fn dots_are_noted_only_where_there_are_some() {
    for (text, wanted) in [
        ("=> Send data, 4 bytes (0x4)\n0000: {1}a\n", false),
        ("=> Send data, 4 bytes (0x4)\n0000: a..b\n", true),
        ("=> Send header, 4 bytes (0x4)\n0000: a..b\n", false),
        (
            "> 2026/11/27 12:33:10.000131  length=4 from=0 to=3\nabcd--\n",
            false,
        ),
        (
            "> 2026/11/27 12:33:10.000131  length=4 from=0 to=3\na..d--\n",
            true,
        ),
    ] {
        let got = read(text);
        let is_noted = got.iter().any(|one| one.contains("a dot may stand for"));
        assert_eq!(is_noted, wanted, "{text}: {got:?}");
    }
}

/// A direction can be a remark behind its message, or stand alone on a line.
#[test]
fn directions_beside_compact_messages_are_read() {
    let both = |form: &dyn Fn(&str, bool) -> String| {
        [(CALL, true), (ANSWER, false), (LIST, true)].map(|(text, is_sent)| form(text, is_sent))
    };
    let way = |is_sent: bool, out: &str, back: &str| if is_sent { out } else { back }.to_owned();
    for (out, back) in [
        ("sent", "received"),
        ("-->", "<--"),
        ("-> server", "<- server"),
        ("# to server", "# from server"),
        ("// client -> server", "// server -> client"),
        ("\tout", "\tin"),
    ] {
        let text = both(&|text, is_sent| format!("{text} {}\n", way(is_sent, out, back))).concat();
        let wanted = both(&|text, is_sent| format!("{} - {text}", way(is_sent, "c2s", "s2c")));
        assert_eq!(read(&text), wanted, "{text}");
    }
    for (out, back) in [
        (">>>", "<<<"),
        ("Client:", "Server:"),
        ("---- request ----", "---- response ----"),
        (
            "--> Content-Length: 99\r\n\r",
            "<-- Content-Length: 99\r\n\r",
        ),
    ] {
        let text = both(&|text, is_sent| format!("{}\n{text}\n", way(is_sent, out, back))).concat();
        let wanted = both(&|text, is_sent| format!("{} - {text}", way(is_sent, "c2s", "s2c")));
        assert_eq!(read(&text), wanted, "{text}");
    }
    // The arrow is between the request and its answer.
    for text in [
        format!("{CALL} => {ANSWER}\n"),
        format!("{}\n=>\n{}\n", pretty(CALL), pretty(ANSWER)),
    ] {
        let got = read(&text);
        assert!(
            !got.iter()
                .any(|one| one.starts_with("c2s") || one.starts_with("s2c")),
            "{got:?}"
        );
    }
    // Other text is an error in a stream.
    let got = read(&format!("{CALL} garbage\n"));
    assert_eq!(got, [format!("- - {CALL} garbage")]);
}

/// A log that was truncated while its program wrote begins with a hole.
#[test]
fn zero_bytes_before_a_text_are_left_out() {
    for (count, is_left_out) in [(8, false), (300, true), (70_000, true)] {
        let log = format!("02:13:11 DEBUG send {CALL}\n");
        let text = "\0".repeat(count) + &log;
        let got = read_in(&text, text.len());
        let is_noted = got.first().is_some_and(|one| {
            one.starts_with(&format!("{count} zero bytes before the text are left out"))
        });
        assert_eq!(is_noted, is_left_out, "{count}: {got:?}");
        assert_eq!(got.concat().contains('\0'), !is_left_out, "{count}");
    }
    let binary = "\0".repeat(300) + "\u{1}\u{2}";
    assert_eq!(read_in(&binary, 7).concat().matches('\0').count(), 300);
}

#[test]
fn base64_in_members_is_read_wherever_they_are() {
    let record = |text: &str| {
        format!(
            "{{\n  \"kinesis\": {{\n    \"sequenceNumber\": \"49590338271490256608559692538361571095921575989136588898\",\n    \"data\": \"{}\",\n    \"approximateArrivalTimestamp\": 1\n  }}\n}}",
            base64(text)
        )
    };
    let event = format!(
        "{{\n\"Records\": [\n{},\n{}\n]\n}}\n",
        record(CALL),
        record(ANSWER)
    );
    let envelope = |id: u32, text: &str| {
        format!(
            "{{\"id\":\"e{id}\",\"headers\":{{\"dir\":\"send\"}},\"value\":\"{}\"}}\n",
            base64(text)
        )
    };
    for (text, wanted) in [
        (
            event,
            [format!("- - {CALL}"), format!("- - {ANSWER}")].to_vec(),
        ),
        (
            envelope(1, CALL) + &envelope(2, LIST),
            [format!("c2s - {CALL}"), format!("c2s - {LIST}")].to_vec(),
        ),
    ] {
        assert_eq!(read(&text), wanted, "{text}");
    }
}
