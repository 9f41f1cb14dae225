//! Captures of other programs: from text to items, in all splits.

use super::*;

const EXCHANGES: &str = include_str!("../../../fixtures/captures/exchanges.har");
const WEBSOCKET: &str = include_str!("../../../fixtures/captures/websocket.har");
const CHILD: &str = include_str!("../../../fixtures/captures/child.strace.txt");
const SOCKET: &str = include_str!("../../../fixtures/captures/socket.strace.txt");

/// Returns the items as lines: chunks as text, escaped.
fn items(form: Form, input: &str) -> String {
    let run = |step: usize| {
        let mut out = String::new();
        let mut sink = |item: Item<'_>| {
            let _ = match item {
                Item::Header(header) => writeln!(out, "header {:?}", header.captured()),
                Item::Chunk(chunk) => {
                    let way = chunk.direction.map_or("-", |d| d.name());
                    let text = chunk.bytes.escape_ascii();
                    writeln!(out, "{} {way} {:?} {text}", chunk.conn, chunk.time)
                }
                Item::Event(event) => {
                    let more = event.more.map(|more| format!("{:?}", more.values()));
                    let more = more.unwrap_or_default();
                    let way = event.direction.map_or("-", |d| d.name());
                    writeln!(out, "{} {way} {} {more}", event.conn, event.what.name())
                }
                Item::Problem(problem) => writeln!(out, "{:?} {problem}", problem.severity),
                other => writeln!(out, "{other:?}"),
            };
        };
        let mut reader = CaptureInput::new(form);
        for piece in input.as_bytes().chunks(step.max(1)) {
            reader.push(piece, &mut sink);
        }
        reader.finish(&mut sink);
        assert!(input.is_empty() || reader.form() != Form::Raw || form == Form::Auto);
        out
    };
    let whole = run(input.len());
    for step in [1, 7, 64] {
        assert_eq!(run(step), whole, "in pieces of {step}");
    }
    whole
}

/// A HAR file with these entries.
fn har(entries: &str) -> String {
    format!(r#"{{"log":{{"version":"1.2","creator":{{"name":"a"}},"entries":[{entries}]}}}}"#)
}

#[test]
fn har_entries_are_exchanges() {
    insta::assert_snapshot!(items(Form::Auto, EXCHANGES), @r##"
    header Some("har")
    0 - open Values { iter: [String("127.0.0.1"), String("http://127.0.0.1:8080")] }
    0 c2s Some(1795341600121000000) POST /rpc?trace=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nContent-Length: 66\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"a1\",\"method\":\"components/list\",\"params\":{}}
    0 s2c Some(1795341600124500000) HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 54\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"a1\",\"result\":{\"components\":[]}}
    1 - open Values { iter: [String("127.0.0.1"), String("http://127.0.0.1:8080")] }
    1 c2s Some(1795341601001000000) POST /rpc?trace=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nContent-Length: 111\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"b2\",\"method\":\"components/execute\",\"params\":{\"component\":\"/upper\",\"input\":{\"text\":\"hi\"}}}
    1 s2c Some(1795341601004500000) HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 172\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"c3\",\"method\":\"blobs/get\",\"params\":{\"blob_id\":\"k\"}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"b2\",\"result\":{\"output\":{\"outcome\":\"success\",\"result\":\"HI\"}}}\n\n
    0 c2s Some(1795341602001000000) POST /rpc?trace=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nContent-Length: 66\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"d4\",\"method\":\"components/list\",\"params\":{}}
    0 s2c Some(1795341602004500000) HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 80\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"d4\",\"result\":{\"co
    0 s2c lost Values { iter: [String("s2c"), Number(40)] }
    0 c2s Some(1795341603001000000) POST /rpc?trace=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Type: application/json\r\nContent-Length: 66\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":\"e5\",\"method\":\"components/list\",\"params\":{}}
    "##);
}

#[test]
fn har_messages_are_websocket_frames() {
    insta::assert_snapshot!(items(Form::Auto, WEBSOCKET), @r##"
    header Some("har")
    0 - open Values { iter: [String("ws://127.0.0.1:7000")] }
    0 c2s Some(1795341622400000000) GET /sael/ws HTTP/1.1\r\nHost: 127.0.0.1:7000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n
    0 s2c Some(1795341622400000000) HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n
    0 c2s Some(1795341622500000000) \x81\xea\x00\x00\x00\x00{\"v\":1,\"kind\":\"HEY\",\"agent\":{\"id\":\"a\",\"kind\":\"llm\",\"name\":\"A\"},\"capabilities\":[],\"supports\":[\"streaming\"]}
    0 s2c Some(1795341622501000000) \x81~\x00\xaf{\"v\":1,\"kind\":\"HEY\",\"session_id\":\"ses_1\",\"session_ttl\":60,\"server\":{\"id\":\"s\",\"name\":\"S\",\"version\":\"1\"},\"granted_capabilities\":[],\"supports\":[\"streaming\"],\"tools\":1,\"topics\":0}
    0 c2s Some(1795341622600000000) \x81\xbf\x00\x00\x00\x00{\"v\":1,\"kind\":\"INV\",\"seq\":1,\"tool\":\"add\",\"input\":{\"a\":2,\"b\":3}}
    0 s2c Some(1795341622602500000) \x82\'{\"v\":1,\"kind\":\"RES\",\"seq\":1,\"output\":5}
    "##);
}

#[test]
fn cut_har_names_the_place_and_has_no_items() {
    let cut = EXCHANGES.find("\"d4").unwrap();
    insta::assert_snapshot!(items(Form::Auto, &EXCHANGES[..cut]), @"Error byte 3954: the HAR file is cut: it ends inside entry 2 (export it again)");
}

#[test]
fn har_entry_that_cannot_be_read_is_reported_and_the_next_is_read() {
    let input = har(
        r#"{"request":7},{"request":{"method":"a b","url":"http://h:1/a b\u0001#x","postData":null,"headers":null}},
        {"request":{"method":"GET","url":"ws://h/"},"_webSocketMessages":[{"type":"error","opcode":-1},{"type":"send","opcode":2,"data":"!"},{"type":"send","opcode":9,"data":""}]}"#,
    );
    insta::assert_snapshot!(items(Form::Har, &input), @r##"
    Error log.entries[0]: not an entry of a HAR file: invalid type: integer `7`, expected an object at line 1 column 12
    header Some("har")
    0 - open Values { iter: [String("http://h:1")] }
    0 c2s None GET /a%20b%01 HTTP/1.1\r\nHost: h:1\r\n\r\n
    1 - open Values { iter: [String("ws://h")] }
    1 c2s None GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n
    1 s2c None HTTP/1.1 101 \r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n
    1 c2s None \x89\x80\x00\x00\x00\x00
    Error log.entries[2]: _webSocketMessages[0]: type: wanted send or receive, got "error"
    "##);
}

#[test]
fn har_exchanges_that_overlap_are_in_the_order_of_their_times() {
    let entry = |conn: u32, second: u32, length: u32, name: &str| {
        format!(
            r#"{{"connection":"{conn}","startedDateTime":"2026-01-01T00:00:0{second}Z","time":{length}000,"request":{{"method":"GET","url":"http://h/{name}"}},"response":{{"status":200,"statusText":"{name}"}}}}"#
        )
    };
    // The first lasts as long as the others; two have one connection, and the last was started before the one in front of it.
    let entries = [
        entry(1, 0, 9, "stream"),
        entry(2, 1, 3, "slow"),
        entry(2, 2, 1, "quick"),
        entry(3, 7, 1, "late"),
        entry(4, 6, 3, "early"),
    ];
    let found = items(Form::Har, &har(&entries.join(",")));
    let order: Vec<String> = found
        .lines()
        .filter(|line| line.contains("HTTP/1.1"))
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .map(|words| {
            let name = words.iter().find_map(|word| word.strip_prefix('/'));
            let status = || words.iter().skip_while(|word| **word != "200").nth(1);
            match name {
                Some(name) => format!("-> {name}"),
                None => format!("<- {}", status().unwrap().split('\\').next().unwrap()),
            }
        })
        .collect();
    assert_eq!(
        order.join(" "),
        "-> stream -> slow -> quick <- slow <- quick -> early -> late <- late <- stream <- early"
    );
}

#[test]
fn har_without_entries_is_named() {
    insta::assert_snapshot!(items(Form::Auto, &har("")), @"Error byte 61: the HAR file has no entries (record while the traffic flows, and export with content)");
}

#[test]
fn har_body_that_is_not_base64_is_missing() {
    let response = r#"{"status":200,"content":{"text":"eyJq*!*!","encoding":"base64"}}"#;
    let input = har(&format!(
        r#"{{"request":{{"method":"GET","url":"http://h/"}},"response":{response}}}"#
    ));
    let found = items(Form::Auto, &input);
    assert!(found.contains("0 s2c lost"), "{found}");
    assert!(found.contains("text: not base64"), "{found}");
}

#[test]
fn har_body_that_is_whole_json_has_no_gap() {
    let answer = |text: &str, size: u32| {
        har(&format!(
            r#"{{"request":{{"method":"GET","url":"http://h/"}},"response":{{"status":200,"content":{{"size":{size},"text":"{text}"}}}}}}"#
        ))
    };
    for (text, size, gaps) in [
        ("{}", 5, 0),
        ("{", 5, 1),
        ("", 5, 1),
        ("abc", 2, 0),
        ("", 0, 0),
    ] {
        let found = items(Form::Auto, &answer(text, size));
        assert_eq!(
            found.matches("lost").count(),
            gaps,
            "{text} of {size}: {found}"
        );
    }
}

#[test]
fn strace_of_a_child_is_its_stdin_and_stdout() {
    insta::assert_snapshot!(items(Form::Auto, CHILD), @r##"
    header Some("strace")
    0 - open Values { iter: [String("77")] }
    0 s2c Some(1795341791362000000) {\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ready\"}\n
    0 c2s Some(1795341791362300000) {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n
    0 c2s Some(1795341791363000000) {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"invoke\",\"params\":{\"selector\":\"f\",\"calldata\":[\"0x1\"]}}\n
    0 s2c Some(1795341791364000000) {\"jsonrpc\"
    0 s2c Some(1795341791364000000) :\"2.0\",\"id\":1,\"result\":[\"0x2\"]}\n
    0 c2s Some(1795341791365000000) {\"jsonrpc\":\"2.0\",\"id\":2,\"method\"
    0 c2s lost Values { iter: [String("c2s"), Number(56)] }
    0 s2c Some(1795341791366000000) {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":[\"0x3\"]}\n
    0 c2s eof 
    Note at the end: 56 bytes were not printed by strace (its default is 32 bytes of a string: record with strace -s 65535)
    "##);
}

/// Writes a line of a trace as another option does.
type Rewrite = fn(&str) -> String;

#[test]
fn strace_options_change_only_how_calls_look() {
    let plain = items(Form::Auto, CHILD);
    assert!(plain.contains(" s2c "), "{plain}");
    let options: [(&str, Rewrite); 4] = [
        ("-n", |line| after_time(line, "[   0] ")),
        ("-i -n", |line| {
            after_time(line, "[   0] [00007f0a12b4c0de] ")
        }),
        ("-Y", |line| line.replacen("77 ", "77<a program> ", 1)),
        ("-k", |line| {
            format!(
                "{line}\n > /usr/lib/libc.so.6(__read+0x10) [0x10c0de]\n > /usr/bin/a() [0x2f]\n"
            )
        }),
    ];
    for (name, rewrite) in options {
        let text: Vec<String> = CHILD.lines().map(rewrite).collect();
        let text = text.join("\n") + "\n";
        assert_eq!(items(Form::Auto, &text), plain, "{name}: {text}");
    }
}

/// Inserts text after the process and the time of a line of strace.
fn after_time(line: &str, text: &str) -> String {
    let dot = line.find('.').expect("a time");
    let at = dot + line[dot..].find(' ').expect("a call") + 1;
    format!("{}{text}{}", &line[..at], &line[at..])
}

#[test]
fn strace_of_a_client_is_its_socket() {
    insta::assert_snapshot!(items(Form::Auto, SOCKET), @r##"
    header Some("strace")
    0 - open Values { iter: [String("127.0.0.1:7000")] }
    0 c2s None \x00\x00\x00U\x85\xa7version\x01\xa4type\xa4call\xa2id\xd9$c77602ea-3d3b-4086-8a59-115c1250b1db\xa6target\xa8math.add\xa4args\x92\x02\x03
    0 s2c None \x00\x00\x006
    0 s2c None \x83\xa2id\xd9$c77602ea-3d3b-4086-8a59-115c1250b1db\xa2ok\xc3\xa6result\x05
    0 - close
    "##);
}

#[test]
fn strace_separates_processes_and_sockets() {
    let input = r#"10 pipe2([3, 4], O_CLOEXEC) = 0
10 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>
11 write(1, "from 11", 7) = 7
10 <... clone resumed>, child_tidptr=0x7f) = 11
10 clone(child_stack=0x7f, flags=CLONE_VM|CLONE_THREAD, parent_tid=[12]) = 12
12 read(0, "to 10", 5) = 5
11 read(0, "to 11", 5) = 5
11 read(9</etc/passwd>, "root", 4) = 4
11 write(2, "log", 3) = 3
10 accept4(5, {sa_family=AF_INET6, sin6_port=htons(99), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, [28], SOCK_CLOEXEC) = 6
10 read(6, "GET /", 5) = 5
10 write(6, "HTTP/", 9) = 5
10 sendfile(6, 9, NULL, 100) = 100
10 sendto(7, "dns", 3, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("1.1.1.1")}, 16) = 3
10 write(8<TCP:[1.2.3.4:5->6.7.8.9:10]>, "x", 1) = 1
10 read(8<TCP:[1.2.3.4:5->6.7.8.9:10]>, "", 1) = 0
10 write(13<pipe:[1]>, "ask", 3) = 3
10 read(14<pipe:[2]>, "answer", 9) = 6
10 close(6) = 0
10 read(6, "a file", 6) = 6
10 fork() = 13
13 read(0</dev/zero<char 1:5>>, "000", 3) = 3
13 write(1</dev/null>, "nothing", 7) = 7
"#;
    insta::assert_snapshot!(items(Form::Auto, input), @r##"
    header Some("strace")
    0 - open Values { iter: [String("11")] }
    0 s2c None from 11
    1 - open Values { iter: [String("12")] }
    1 c2s None to 10
    0 c2s None to 11
    2 - open Values { iter: [String("[::1]:99"), String("10")] }
    2 c2s None GET /
    2 s2c None HTTP/
    2 s2c lost Values { iter: [String("s2c"), Number(100)] }
    3 - open Values { iter: [String("6.7.8.9:10"), String("10")] }
    3 c2s None x
    3 s2c eof 
    4 - open Values { iter: [String("10")] }
    4 c2s None ask
    4 s2c None answer
    2 - close 
    Note at the end: 100 bytes were not printed by strace (its default is 32 bytes of a string: record with strace -s 65535)
    "##);
}

/// Shells that start a server write texts for each other; a filter can leave out the calls that start them.
#[test]
fn strace_separates_texts_of_shells_from_messages() {
    let input = r#"10 read(3, "\177ELF\2\1", 832) = 832
11 write(1, "/usr/bin/a\n", 11) = 11
10 write(1, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", 37) = 37
"#;
    let got = items(Form::Auto, input);
    assert!(got.contains("0 s2c None /usr/bin/a"), "{got}");
    assert!(got.contains("1 s2c None {"), "{got}");
}

/// A server can have its stdin and stdout under other descriptors; who asks first is the client.
#[test]
fn strace_of_a_server_with_other_descriptors_has_its_directions() {
    let input = r#"10 read(6<pipe:[1]>, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}}}\n", 8192) = 148
10 write(7<pipe:[2]>, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", 37) = 37
"#;
    let ways = |input: &str| -> Vec<String> {
        let items = items(Form::Auto, input);
        let chunks = items.lines().filter(|line| line.contains("jsonrpc"));
        let ways = chunks.map(|line| line.split(' ').nth(1).unwrap_or_default().to_owned());
        ways.collect()
    };
    assert_eq!(ways(input), ["c2s", "s2c"]);
    let client = input
        .replace("read(6", "write(6")
        .replace("write(7", "read(7");
    assert_eq!(ways(&client), ["c2s", "s2c"]);
}

/// A trace that begins after the start of its process does not say what its descriptors are.
#[test]
fn strace_without_names_has_the_pipes_that_messages_pass() {
    let input = r#"10 write(3, "\1\0\0\0\0\0\0\0", 8) = 8
10 write(4, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", 41) = 41
10 read(5, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 4096) = 36
10 read(5, "\n", 4096) = 1
10 read(6, "{\"name\": \"a file\"}", 4096) = 18
"#;
    insta::assert_snapshot!(items(Form::Auto, input), @r##"
    header Some("strace")
    0 - open Values { iter: [String("10")] }
    0 c2s None {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n
    0 s2c None {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}
    0 s2c None \n
    "##);
    // With the start of a process, the calls that open its descriptors are in the trace.
    let started = format!("10 read(3, \"\\177ELF\\2\\1\", 832) = 832\n{input}");
    let got = items(Form::Auto, &started);
    assert!(
        got.starts_with("Note ") && got.contains("6 calls") && got.contains("strace -y"),
        "{got}"
    );
}

#[test]
fn other_text_is_not_taken_for_a_capture() {
    let long = format!(
        "{{\"log\":{{\"creator\":{{}},\"lines\":[\"{}\"]}}}}",
        "a".repeat(9000)
    );
    for text in [
        "{\"log\":\"started\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-22T10:00:00Z\"}\n",
        "{\"log\":{\"version\":\"1\",\"level\":\"debug\"}}",
        "{\"log\":{\"creator\":{\"name\":\"a\"},\"entries\":[]}}",
        &long,
        "write(1, \"a\", 1);\nread(0, \"b\", 1);\n",
        "    write(1, \"hello\\n\", 6);\n",
        "The call write(1, \"a\", 1) = 1 writes a byte.\n",
        "read(2) attempts to read\n",
        "f(x) = y\n",
        "* a list\n* of things\n",
        "> quoted text\n< more\n",
        "> 2026/11/22 was a Sunday\n",
        "== Information ==\n",
        "T 1 -> 2\n",
        "a-b:\n",
        "12:00:01 IP address changed\n",
        "IP addresses > 10.0.0.0 are private\n",
    ] {
        assert_eq!(auto(text).form, Some(Form::Raw), "{text}");
    }
}

#[test]
fn printed_objects_are_messages() {
    let python = "10:00 - mcp.client - DEBUG - Sending client message: root=JSONRPCRequest(method='tools/list', params=None, jsonrpc='2.0', id=0)\n\
        10:00 - mcp.client - DEBUG - Received server message: root=JSONRPCResponse(jsonrpc='2.0', id=0, result={'tools': []})\n";
    let node = "{\n  jsonrpc: '2.0',\n  id: 0,\n  method: 'tools/list'\n}\n{ jsonrpc: '2.0', id: 0, result: { tools: [] } }\n";
    for (text, ways) in [(python, ["c2s", "s2c"]), (node, ["-", "-"])] {
        let all = items(Form::Auto, text);
        let got: Vec<&str> = all.lines().collect();
        let [asked, answered] = got[..] else {
            panic!("{all}");
        };
        for (line, way, part) in [
            (asked, ways[0], "tools/list"),
            (answered, ways[1], "result"),
        ] {
            assert!(
                line.starts_with(&format!("0 {way} ")) && line.contains(part),
                "{all}"
            );
        }
    }
}
