//! What libraries for logs print, as they print it.

use super::messages::{ANSWER, CALL, LIST, pretty, read};

#[test]
fn messages_in_the_forms_of_libraries_are_read() {
    let content = |text: &str| {
        let quoted = serde_json::to_string(text).unwrap();
        quoted.trim_matches('"').to_owned()
    };
    let go = |text: &str| {
        let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
        format!("[{}]", bytes.join(" "))
    };
    let loguru = |text: &str| {
        format!(
            "{{\"text\": \"02:13:11 | {}\\n\", \"record\": {{\"message\": \"{0}\", \"process\": {{\"id\": 28, \"name\": \"Main\"}}, \"thread\": {{\"id\": 14, \"name\": \"T\"}}}}}}\n",
            content(text)
        )
    };
    let python = "{'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {'name': 'echo'}}";
    let node =
        "{\n  jsonrpc: '2.0',\n  id: 1,\n  method: 'tools/call',\n  params: { name: 'echo' }\n}";
    for (text, wanted) in [
        // loguru with serialize=True: process and thread have an id, too.
        (
            [loguru(CALL), loguru(ANSWER)].concat(),
            vec![format!("- - {CALL}"), format!("- - {ANSWER}")],
        ),
        // A row of CSV has another column with an id.
        (
            format!(
                "\"2026-11-25T02:13:11Z\",\"send {}\",\"{{\"\"Name\"\":\"\"Mcp\"\",\"\"id\"\":\"\"7\"\"}}\"\n",
                CALL.replace('"', "\"\"")
            ),
            vec![format!("c2s 1 {CALL}")],
        ),
        // ecs-logging
        (
            format!(
                "{{\"@timestamp\":\"2026-11-25T02:13:11Z\",\"message\":\"send\",\"process\":{{\"thread\":{{\"id\":14}}}},\"rpc\":{CALL}}}\n"
            ),
            vec![format!("c2s 1 {CALL}")],
        ),
        // python-json-logger: the name of the logger is no side.
        (
            format!(
                "{{\"name\":\"mcp.client\",\"message\":\"send\",\"rpc\":{CALL}}}\n{{\"name\":\"mcp.client\",\"message\":\"recv\",\"rpc\":{ANSWER}}}\n"
            ),
            vec![format!("c2s - {CALL}"), format!("s2c - {ANSWER}")],
        ),
        // KeyValueRenderer of structlog: the time is behind the message, and far from the start of the line.
        (
            format!("rpc={python} event='send' level='debug' timestamp='2026-11-25T02:13:11.0Z'\n"),
            vec![format!("c2s 1 {CALL}")],
        ),
        // prettyPrint of winston
        (
            format!(
                "{{\n  rpc: {},\n  level: 'debug',\n  message: 'send',\n  timestamp: '2026-11-25T02:13:11.000Z'\n}}\n",
                node.replace('\n', "\n  ")
            ),
            vec![format!("c2s - {CALL}")],
        ),
        // The module debug on a terminal: each line begins with the namespace.
        (
            format!(
                "  mcp:rpc --> {} +0ms\n  mcp:rpc <-- {{\n  mcp:rpc   jsonrpc: '2.0',\n  mcp:rpc   id: 1,\n  mcp:rpc   result: {{}}\n  mcp:rpc }} +5ms\n",
                node.replace('\n', "\n  mcp:rpc ")
            ),
            vec![
                format!("c2s - {CALL}"),
                "s2c - {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}".to_owned(),
            ],
        ),
        // slog with bytes
        (
            format!(
                "time=2026-11-25T02:13:11Z level=DEBUG msg=send payload=\"{}\"\ntime=2026-11-25T02:13:12Z level=DEBUG msg=recv payload=\"{}\"\n",
                go(CALL),
                go(ANSWER)
            ),
            vec![format!("c2s 1 {CALL}"), format!("s2c 2 {ANSWER}")],
        ),
        // The console of rich: the direction is the heading.
        (
            "[02:13:11] send                                lg.py:73\n           {\n               'jsonrpc': '2.0',\n               'id': 1,\n               'method': 'tools/call',\n               'params': {'name': 'echo'}\n           }\n".to_owned(),
            vec![
                "the times of the text have no date".to_owned(),
                format!("c2s 02:13:11.000 {CALL}"),
            ],
        ),
    ] {
        assert_eq!(read(&text), wanted, "{text}");
    }
}

#[test]
fn values_that_a_console_leaves_out_are_noted() {
    let text = "send {jsonrpc: '2.0', id: 7, method: 'tools/call', params: {…}}\nrecv {jsonrpc: '2.0', id: 7, result: {content: Array(1)}}\n";
    let got = read(text);
    assert_eq!(got.len(), 3, "{got:?}");
    assert!(got[0].contains("\"params\":\"{…}\""), "{got:?}");
    assert!(got[1].contains("\"content\":\"Array(1)\""), "{got:?}");
    assert!(got[2].starts_with("the print leaves out values"), "{got:?}");
}

#[test]
fn numbers_that_json_lacks_are_noted() {
    let got = read("DEBUG send {'jsonrpc': '2.0', 'id': 1, 'method': 'a', 'params': [nan, 1]}\n");
    assert_eq!(got.len(), 2, "{got:?}");
    let is_noted = |one: &String| one.starts_with("the print has NaN or infinity");
    assert!(got.iter().any(is_noted), "{got:?}");
}

/// Other lines of a log have objects with an id, too.
#[test]
fn other_objects_of_a_log_are_no_messages() {
    let other = "INFO app: {'user': 3, 'id': 7, 'name': 'x'} done\n";
    let log = format!(
        "{other}DEBUG send {CALL}\nDEBUG http: {{\"id\": 4, \"url\": \"/x\"}}\n{other}DEBUG recv {ANSWER}\n"
    );
    assert_eq!(
        read(&log),
        [format!("c2s - {CALL}"), format!("s2c - {ANSWER}")]
    );
    // The log says that this one was received.
    let broken = format!("DEBUG send {CALL}\nDEBUG recv {{\"id\":1}}\n");
    assert_eq!(
        read(&broken),
        [format!("c2s - {CALL}"), "s2c - {\"id\":1}".to_owned()]
    );
    // The column of a container names the writer of lines and of objects on several lines.
    let server = |text: &str| format!("server-1  | {}\n", text.replace('\n', "\nserver-1  | "));
    let got = read(
        &(server(&format!("recv {}", pretty(CALL).replace('"', "'")))
            + &server(&format!("send {ANSWER}"))),
    );
    assert!(
        matches!(&*got, [a, b] if a.starts_with("c2s") && b.starts_with("s2c")),
        "{got:?}"
    );
    // A multi-line message in a comment.
    let comment = |text: &str| format!("# send {}\n", pretty(text).replace('\n', "\n# "));
    let got = read(&(comment(CALL) + &comment(LIST)));
    assert!(
        matches!(&*got, [a, b] if a.starts_with("c2s") && b.starts_with("c2s")),
        "{got:?}"
    );
}
