//! Messages that were copied out of mail, terminals and logs: their directions, columns beside them, broken lines.

use super::messages::{ANSWER, CALL, LIST, pretty, read, read_in, wrapped};
use super::*;

#[test]
fn directions_of_a_text_agree_with_its_messages() {
    const INIT: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;
    const TURNED: &str = "the directions are those of the server, which receives what a client sends: all are turned round";
    let mail = |text: &str| format!("See below.\n\nOn Tue, Ann <a@b.c> wrote:\n{text}");
    let way = |sent: &str, received: &str| {
        [format!("{sent} - {CALL}"), format!("{received} - {ANSWER}")].to_vec()
    };
    let escaped = ANSWER.replace("a b", r"C:\\x");
    for (text, wanted) in [
        // The mark of a quotation is no direction.
        (mail(&format!("> {CALL}\n> {ANSWER}\n")), way("-", "-")),
        (
            mail(&format!("> Bob wrote:\n> > {CALL}\n> {ANSWER}\n")),
            way("-", "-"),
        ),
        (
            format!("> {}\n> {ANSWER}\n", pretty(CALL).replace('\n', "\n> ")),
            way("-", "-"),
        ),
        // Lines of both sides show that it is none.
        (
            format!("Connected\n> {CALL}\n< {ANSWER}\n"),
            way("c2s", "s2c"),
        ),
        (
            format!(
                "$ curl -v localhost:3000/mcp -d '{CALL}'\n* Connected to localhost\n> POST /mcp HTTP/1.1\n> Host: a\n> \n< HTTP/1.1 200 OK\n< \n{ANSWER}\n* Connection #0 left intact\n"
            ),
            way("c2s", "s2c"),
        ),
        // A library prints the frame and then what is in it.
        (
            format!("++Sent decoded: data=b'{CALL}'\n++Rcv raw: b'\\x81L{ANSWER}'\n++Rcv decoded: data=b'{ANSWER}'\n"),
            way("c2s", "s2c"),
        ),
        (
            format!(
                "++Sent decoded: data=b'{CALL}'\n++Rcv raw: b'\\x81L{0}'\n++Rcv decoded: data=b'{0}'\n",
                escaped.replace('\\', r"\\")
            ),
            vec![format!("c2s - {CALL}"), format!("s2c - {escaped}")],
        ),
        // A log repeats the request beside its answer.
        (
            format!(r#"["--->", {{"request": {CALL}}}]{}["<---", {{"response": {ANSWER}, "request": {CALL}}}]"#, "\n"),
            way("c2s", "s2c"),
        ),
        // All lines of a container come from one side.
        (
            format!(
                r#"{{"stream":{{"stream":"stdout"}},"values":[["1","{}"],["1","{}"]]}}"#,
                INIT.replace('"', "\\\""),
                ANSWER.replace('"', "\\\"")
            ),
            [
                "the text gives the messages of both sides the same direction: they are shown without one".to_owned(),
                format!("- - {INIT}"),
                format!("- - {ANSWER}"),
            ]
            .to_vec(),
        ),
        // An answer does not go the way of its request.
        (
            format!("app | sending request {CALL}\nrpc | sending response {ANSWER}\n"),
            [
                "the text gives the messages of both sides the same direction: they are shown without one".to_owned(),
                format!("- - {CALL}"),
                format!("- - {ANSWER}"),
            ]
            .to_vec(),
        ),
        // A server prints what it receives.
        (
            format!("12:00 received {INIT}\n12:00 sending {ANSWER}\n12:00 received {CALL}\n"),
            [
                TURNED.to_owned(),
                format!("c2s - {INIT}"),
                format!("s2c - {ANSWER}"),
                format!("c2s - {CALL}"),
            ]
            .to_vec(),
        ),
        (
            format!("sending {INIT}\nreceived {ANSWER}\n"),
            [format!("c2s - {INIT}"), format!("s2c - {ANSWER}")].to_vec(),
        ),
    ] {
        let got: Vec<String> = read(&text).iter().map(|line| unpadded(line)).collect();
        let wanted: Vec<String> = wanted.iter().map(|line| unpadded(line)).collect();
        assert_eq!(got, wanted, "{text}");
    }
}

/// Returns a line of [`read`] with its message as compact JSON.
fn unpadded(line: &str) -> String {
    let at = line.find('{').unwrap_or(line.len());
    let (mark, message) = line.split_at(at);
    serde_json::from_str::<serde_json::Value>(message)
        .map_or_else(|_| line.to_owned(), |value| format!("{mark}{value}"))
}

#[test]
fn wrappers_and_cut_messages_of_a_text_are_read() {
    let undated = "the times of the text have no date";
    let mail = |text: &str| {
        format!("Subject: trace\nContent-Transfer-Encoding: quoted-printable\n\n{text}\n")
    };
    let cut = |count: &str| format!("line 2: {count}");
    for (text, wanted) in [
        // A wrapper has keys of a message.
        (
            format!("{{\"seq\":0,\"payload\":{CALL}}}\n{{\"seq\":1,\"payload\":{ANSWER}}}\n"),
            vec![format!("- - {CALL}"), format!("- - {ANSWER}")],
        ),
        (
            format!("[{{\"id\":0,\"dir\":\"in\",\"payload\":{ANSWER}}}]\n"),
            vec![format!("s2c - {ANSWER}")],
        ),
        // A tuple is no batch.
        (
            format!("[\"send\", 1795572791.0, {CALL}]\n[\"recv\", 1795572792.0, {ANSWER}]\n"),
            vec![format!("c2s 1 {CALL}"), format!("s2c 2 {ANSWER}")],
        ),
        // The text ends inside of a line.
        (mail(&format!("{ANSWER}=")), vec![format!("- - {ANSWER}")]),
        // Another part of a mail has another encoding.
        (
            mail(&format!(
                "Sent: {CALL}\nContent-Transfer-Encoding: 8bit\n\nReceived: {}",
                ANSWER.replace("a b", "a=3Db")
            )),
            vec![
                format!("c2s - {CALL}"),
                format!("s2c - {}", ANSWER.replace("a b", "a=3Db")),
            ],
        ),
        (
            mail(&ANSWER.replace("\"result\"", "\"res=\nult\"").replace("a b", "=C3=BC =3D b")),
            vec![format!("- - {}", ANSWER.replace("a b", "\u{fc} = b"))],
        ),
        (
            format!("data: {}\n\n", pretty(ANSWER).replace('\n', "\ndata: ")),
            vec![format!("- - {ANSWER}")],
        ),
        // The log states another length.
        (
            format!("> TEXT '{CALL}' [71 bytes]\n< TEXT '{ANSWER}' [431 bytes]\n"),
            vec![
                format!("c2s - {CALL}"),
                cut("this begins like a message, but the program that printed it cut it: it is not shown (Python's websockets prints whole messages with WEBSOCKETS_MAX_LOG_SIZE=1000000; wiretool proxy -w FILE.jsonl records them)"),
            ],
        ),
        // An indented line belongs to the message before it.
        (
            format!("Sent: {CALL}\n    DateTime=2026-11-25T02:13:11Z\nReceived: {ANSWER}\n"),
            vec![format!("c2s - {CALL}"), format!("s2c - {ANSWER}")],
        ),
        // The panel of Sublime Text, and a log channel of VS Code.
        (
            ":: [10:00:00.000] --> LSP-a shutdown (3): {'a': None}\n:: [10:00:00.010] <<< LSP-a (3) (duration: 10ms): {'ok': True}\n:: [10:00:00.020] <- LSP-a x/y: [1]\n:: [10:00:00.030] <~~ LSP-a (4) (duration: 1ms): {'code': -32601, 'message': 'no'}\n".to_owned(),
            std::iter::once(undated.to_owned()).chain([
                ("c2s 10:00:00.000", r#"{"jsonrpc":"2.0","id":3,"method":"shutdown","params":{"a":null}}"#),
                ("s2c 10:00:00.010", r#"{"jsonrpc":"2.0","id":3,"result":{"ok":true}}"#),
                ("s2c 10:00:00.020", r#"{"jsonrpc":"2.0","method":"x/y","params":[1]}"#),
                ("s2c 10:00:00.030", r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32601,"message":"no"}}"#),
            ]
            .map(|(way, message)| format!("{way} Content-Length: {}\r\n\r\n{message}", message.len())))
            .collect(),
        ),
        (
            "2026-11-25 02:13:11 [trace] Sending request 'ping - (1)'.\n2026-11-25 02:13:11 [trace] Params: {\n  \"a\": 1\n}\n".to_owned(),
            vec!["c2s 1 Content-Length: 58\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\": 1}}".to_owned()],
        ),
        // Other lines of a channel end the content of a message.
        (
            "[Trace - 10:00:00 AM] Sending request 'ping - (1)'.\nParams: {\n  \"a\": 1\n}\n[Info  - 10:00:00 AM] Found 12 files\n".to_owned(),
            vec![undated.to_owned(), "c2s 10:00:00.000 Content-Length: 58\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\": 1}}".to_owned()],
        ),
        // `cat -A`, rsyslog, and a string as GDB shows it.
        (
            format!("--> {CALL}^M$\n<-- {ANSWER}^M$\n"),
            vec![format!("c2s - {CALL}"), format!("s2c - {ANSWER}")],
        ),
        (
            format!("host a[1]: --> {}\n", pretty(CALL).replace('\n', "#012")),
            vec![format!("c2s - {CALL}")],
        ),
        (
            format!("$1 = {}\n", serde_json::to_string(&CALL.replace("echo", "00000")).unwrap())
                .replace("00000", "\", '0' <repeats 5 times>, \""),
            vec![format!("- - {}", CALL.replace("echo", "00000"))],
        ),
        // A string of Vim with its header.
        (
            format!("  0.1 SEND on 0(in): 'Content-Length: 9\n\n{CALL}'\n  0.2 RECV on 0(out): 'Content-Length: 9\n\n{ANSWER}'\n"),
            vec![format!("c2s - {CALL}"), format!("s2c - {ANSWER}")],
        ),
        // After midnight.
        (
            format!("[23:59:59,500] send: {CALL}\n[00:00:00,250] recv: {ANSWER}\n"),
            vec![undated.to_owned(), format!("c2s 23:59:59.500 {CALL}"), format!("s2c 00:00:00.250 {ANSWER}")],
        ),
        // The first time decides if all have dates.
        (
            format!("2026-11-25T02:13:11Z send: {CALL}\n02:13:12 recv: {ANSWER}\n"),
            vec![format!("c2s 1 {CALL}"), format!("s2c - {ANSWER}")],
        ),
        (
            format!(
                "\n====\n===================\nFollow: tcp,ascii\nFilter: tcp.stream eq 0\nNode 0: a:1\nNode 1: b:2\n{}\n{CALL}\n\n\t{}\n{ANSWER}\n\n=======\n",
                CALL.len() + 1,
                ANSWER.len() + 1
            )
            .replace("\n====\n", "\n"),
            vec![
                format!("c2s - {CALL}"),
                format!("s2c - {ANSWER}"),
                "Follow Stream in ASCII has a dot in place of each other byte: raw keeps all bytes".to_owned(),
            ],
        ),
    ] {
        let got: Vec<String> = read_in(&text, text.len()).iter().map(|line| unpadded(line)).collect();
        let wanted: Vec<String> = wanted.iter().map(|line| unpadded(line)).collect();
        assert_eq!(got, wanted, "{text}");
    }
}

/// The line above a dump has its time and direction.
#[test]
fn headings_of_dumps_have_time_and_direction() {
    let rows = |message: &str| {
        let line = format!("{message}\n");
        let rows = line.as_bytes().chunks(16).enumerate();
        let row = |(n, bytes): (usize, &[u8])| {
            let hex: Vec<_> = bytes.iter().map(|b| format!("{b:02x}")).collect();
            format!("{:08x}  {}\n", n * 16, hex.join(" "))
        };
        rows.map(row).collect::<String>()
    };
    let text = format!(
        "[2026-11-25 02:13:11.5] client -> server (71 bytes)\n{}[2026-11-25 02:13:12.5] L:/127.0.0.1:51000 - R:/127.0.0.1:7000] READ: 60B\n{}",
        rows(CALL),
        rows(ANSWER)
    );
    let mut found = Vec::new();
    for line in read_in(&text, text.len()) {
        let mut words = line.splitn(3, ' ');
        let mark = [words.next(), words.next()].map(Option::unwrap).join(" ");
        if found.last() != Some(&mark) {
            found.push(mark);
        }
    }
    assert_eq!(found, ["c2s 1", "s2c 2"]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_messages() {
    let note = "a byte order mark is before the text, and is left out: peers refuse it";
    let list = format!("[\n{CALL},\n{LIST}\n]");
    for (text, wanted) in [
        (
            format!("\u{feff}{CALL}\n{LIST}\n"),
            format!("{CALL}\n{LIST}\n"),
        ),
        (format!("\u{feff}{list}"), list),
    ] {
        for step in [1, 4, 4096] {
            let (mut bytes, mut notes) = (Vec::new(), Vec::new());
            let mut reader = CaptureInput::new(Form::Auto);
            let mut sink = |item: Item<'_>| match item {
                Item::Chunk(chunk) => bytes.extend_from_slice(chunk.bytes),
                Item::Problem(problem) => notes.push(problem.to_string()),
                _ => {}
            };
            for piece in text.as_bytes().chunks(step) {
                reader.push(piece, &mut sink);
            }
            reader.finish(&mut sink);
            assert_eq!(String::from_utf8_lossy(&bytes), wanted);
            assert_eq!(notes, [note]);
        }
    }
}

#[test]
fn json_that_is_no_stream_of_its_protocol_is_read() {
    const HOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"position":{"line":1,"character":9}}}"#;
    const NULL: &str = r#"{"jsonrpc":"2.0","id":1,"result":null}"#;
    let header = |message: &str| format!("- - Content-Length: {}\r\n\r\n{message}", message.len());
    let no_header = "the messages have no header with their length, which a peer needs".to_owned();
    let plain = |message: &str| format!("- - {message}");
    let long = HOVER.replace(
        "\"line\"",
        &format!("\"x\":\"{}\",\"line\"", "y".repeat(5000)),
    );
    for (text, wanted) in [
        (
            format!("{CALL}{ANSWER}\n{LIST}\n"),
            vec![
                plain(CALL),
                plain(ANSWER),
                plain(LIST),
                "line 1: this line has several messages: a peer of this protocol needs a line for each"
                    .to_owned(),
            ],
        ),
        (
            format!("{CALL} {ANSWER}\n{LIST}{CALL}"),
            vec![
                plain(CALL),
                plain(ANSWER),
                plain(LIST),
                plain(CALL),
                "line 1: 2 lines have several messages: a peer of this protocol needs a line for each"
                    .to_owned(),
            ],
        ),
        // A list of what both sides send is no batch.
        (
            format!("[\n  {CALL},\n  {LIST},\n  {ANSWER}\n]\n"),
            vec![plain(CALL), plain(LIST), plain(ANSWER)],
        ),
        (
            format!("{HOVER}\n{NULL}\n"),
            vec![header(HOVER), header(NULL), no_header.clone()],
        ),
        (
            format!("{long}\n{NULL}\n"),
            vec![header(&long), header(NULL), no_header],
        ),
        // These are streams, the last two with faults.
        (format!("{CALL}\n{ANSWER}\n"), vec![format!("- - {CALL}\n{ANSWER}")]),
        (format!("[{CALL},{LIST}]\n"), vec![format!("- - [{CALL},{LIST}]")]),
        (
            format!("{HOVER}Content-Length: {}\r\n\r\n{NULL}", NULL.len()),
            vec![format!("- - {HOVER}Content-Length: {}\r\n\r\n{NULL}", NULL.len())],
        ),
        (format!("{CALL} x\n{ANSWER}\n"), vec![format!("- - {CALL} x\n{ANSWER}")]),
    ] {
        let mut joined: Vec<String> = Vec::new();
        let got = read_in(&text, text.len());
        assert_eq!(got, wanted, "{text}");
        // A stream has a chunk for each push.
        for line in read_in(&text, 7) {
            match joined.last_mut() {
                Some(last) if got.len() == 1 => last.push_str(&line["- - ".len()..]),
                _ => joined.push(line),
            }
        }
        assert_eq!(joined.len(), got.len(), "{text}");
    }
}

#[test]
fn columns_beside_a_message_are_no_part_of_it() {
    let long = CALL.replace(
        "echo",
        "a name that is long enough for several lines of text",
    );
    let numbered = |mark: &str| {
        let lines = format!("{}\n{}", pretty(CALL), pretty(ANSWER));
        let lines = lines.lines().zip(1..);
        lines
            .map(|(line, n)| format!("{n:>6}{mark}{line}\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    let beside = |name: &str, text: &str| {
        let lines = text.lines().map(|line| format!("{name}{line}\n"));
        lines.collect::<Vec<_>>().concat()
    };
    let two = [CALL, ANSWER];
    let diff = |old: &str, new: &str| {
        let line = |mark: &str, text: &str| format!("{mark}{text}\n");
        let lines = pretty(old);
        let changed = lines
            .lines()
            .zip(pretty(new).lines().map(str::to_owned).collect::<Vec<_>>());
        let body: String = changed
            .map(|(a, b)| {
                if a == b {
                    line(" ", a)
                } else {
                    line("-", a) + &line("+", &b)
                }
            })
            .collect();
        format!("--- a.json\n+++ b.json\n@@ -1,9 +1,9 @@\n{body}")
    };
    // Rich prints the place beside the first line, and a margin before the others.
    let rich = |text: &str| {
        let lines = wrapped(text, 50);
        let mut lines = lines.lines();
        let first = lines.next().unwrap_or_default();
        let others = lines.map(|line| format!("{:20}{line:<50}\n", ""));
        format!(
            "[10:00:00] INFO     {first:<50} client.py:20\n{}",
            others.collect::<Vec<_>>().concat()
        )
    };
    for (text, wanted) in [
        (numbered("\t"), two),
        (numbered(" | "), two),
        (numbered(": "), two),
        (
            beside(
                "[server] ",
                &format!("{}\n{}", pretty(CALL), pretty(ANSWER)),
            ),
            two,
        ),
        (
            beside(
                "client.log: ",
                &format!("{}\n{}", wrapped(&long, 40), wrapped(ANSWER, 40)),
            ),
            [&*long, ANSWER],
        ),
        (
            format!(
                "{}{}",
                beside("src/a.py:41  ", &wrapped(&long, 60)),
                beside("src/a.py:52  ", &wrapped(ANSWER, 60))
            ),
            [&*long, ANSWER],
        ),
        (
            rich(&format!("Got {long}")) + &rich(&format!("Got {ANSWER}")),
            [&*long, ANSWER],
        ),
        // Lines of a terminal.
        (
            format!("{}\n{}\n", wrapped(&long, 40), wrapped(ANSWER, 40)),
            [&*long, ANSWER],
        ),
        (
            diff(CALL, &CALL.replace("echo", "add")),
            [CALL, &CALL.replace("echo", "add")],
        ),
        (
            format!(
                "@@ -1,2 +1,2 @@\n {LIST}\n-{CALL}\n+{}\n",
                CALL.replace("echo", "add")
            )
            .replace(&format!(" {LIST}\n"), ""),
            [CALL, &CALL.replace("echo", "add")],
        ),
        // Terminals.
        (
            format!("$ nc -v localhost 3000\n{CALL}\n{ANSWER}\n^C\n"),
            two,
        ),
        (
            format!("me@host:~$ websocat ws://a\n{CALL}\n{ANSWER}\n"),
            two,
        ),
        (
            format!(
                "Connection to localhost (127.0.0.1) 3000 port [tcp/*] succeeded!\n{CALL}\n{ANSWER}\n"
            ),
            two,
        ),
    ] {
        let got: Vec<String> = read(&text)
            .iter()
            .filter(|line| !line.contains("no date"))
            .map(|line| {
                unpadded(line)
                    .split_once('{')
                    .map_or_else(|| line.clone(), |(_, rest)| format!("{{{rest}"))
            })
            .collect();
        let wanted = wanted.map(unpadded);
        assert_eq!(got, wanted, "{text}");
    }
    let text = format!(
        "> POST /mcp HTTP/1.1\n> Host: a\n> \n{CALL}\n\n< HTTP/1.1 200 OK\n< \nevent: message\ndata: {ANSWER}\n\n"
    );
    assert_eq!(
        read(&text),
        [format!("c2s - {CALL}"), format!("s2c - {ANSWER}")]
    );
}
