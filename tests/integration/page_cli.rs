//! `wiretool export -f html` and `wiretool lint --report html`: the page has what decode and lint say, keeps secrets, and executes nothing.

use crate::common;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::process::Stdio;

const SESSIONS: [&str; 6] = [
    "fixtures/mcp/session.jsonl",
    "fixtures/cdp/session.jsonl",
    "fixtures/i3/session.jsonl",
    "fixtures/saikuro/rules/seq-gap.fires.jsonl",
    "fixtures/cli/hang.jsonl",
    "fixtures/captures/exchanges.har",
];
const PARTS: [&str; 3] = [
    include_str!("../../src/export/html/page.html"),
    include_str!("../../src/export/html/page.css"),
    include_str!("../../src/export/html/page.js"),
];
const DATA: &str = "<script type=\"application/json\" id=\"data\">";

/// Returns stdout and stderr of a command that says nothing bad.
fn run(args: &[&str]) -> (String, String) {
    let (code, out, err) = common::outcome(args);
    assert!(code < 2, "{args:?}: {err}");
    (out, err)
}

/// Returns the page of a file. Both commands write the same.
fn page(args: &[&str]) -> String {
    let (page, _) = run(&[&["export", "-f", "html"], args].concat());
    let (report, _) = run(&[&["lint", "--report", "html"], args].concat());
    assert_eq!(page, report, "{args:?}");
    page
}

/// Returns the data of a page, as its script reads it.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(DATA).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text.split_once(start).unwrap().1;
    rest.split_once(end).unwrap().0
}

#[test]
fn page_has_all_that_decode_and_lint_say() {
    for file in SESSIONS {
        let data = data(&page(&[file]));
        let (out, _) = run(&["decode", "--lint", "-f", "json", file]);
        let rows: Vec<Value> = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .collect();
        let decoded: Vec<&Value> = rows
            .iter()
            .filter(|row| row.get("kind").is_some())
            .collect();
        let messages = list(&data, "messages");
        assert_eq!(messages.len(), decoded.len(), "{file}");
        assert!(!messages.is_empty(), "{file}");
        for (message, row) in messages.iter().zip(&decoded) {
            for (here, there) in [
                ("i", "index"),
                ("conn", "conn"),
                ("stream", "stream"),
                ("dir", "dir"),
                ("at", "offset"),
                ("len", "len"),
                ("framing", "framing"),
                ("protocol", "protocol"),
                ("kind", "kind"),
                ("role", "role"),
                ("re", "reply_to"),
                ("ms", "latency_ms"),
                ("of", "of"),
                ("op", "op"),
                ("parent", "parent"),
            ] {
                // Without operations, decode leaves them out.
                if row.get(there).is_some() {
                    assert_eq!(message[here], row[there], "{file} {here}: {row}");
                }
            }
        }
        let (out, _) = run(&["lint", "-f", "json", "--most", "0", file]);
        let mut wanted: Vec<Value> = Vec::new();
        let mut waiting = 0;
        for line in out.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if let Some(finding) = line.get("finding") {
                wanted.push(json!([
                    finding["rule"],
                    finding["severity"],
                    finding["index"],
                    finding["text"]
                ]));
            }
            waiting += line["summary"]["waiting"].as_array().map_or(0, Vec::len);
        }
        let mut found: Vec<Value> = list(&data, "findings")
            .iter()
            .map(|one| json!([one["rule"], one["severity"], one["i"], one["text"]]))
            .collect();
        let text = |value: &Value| value.to_string();
        wanted.sort_by_key(text);
        found.sort_by_key(text);
        assert_eq!(found, wanted, "{file}");
        assert_eq!(data["waits"], waiting, "{file}");
        for one in &found {
            let about = &data["rules"][one[0].as_str().unwrap()];
            let why: Vec<&str> = list(about, "why")
                .iter()
                .filter_map(Value::as_str)
                .collect();
            let (explained, _) =
                run(&["lint", "--explain", one[0].as_str().unwrap(), "-f", "json"]);
            let explained: Value = serde_json::from_str(&explained).unwrap();
            assert_eq!(explained["why"], why.join("\n"), "{one}");
            assert_eq!(explained["clause"], about["clause"], "{one}");
        }
    }
}

#[test]
fn fields_of_a_page_name_their_bytes() {
    let mut texts = 0;
    for file in SESSIONS {
        let data = data(&page(&[file]));
        for message in list(&data, "messages") {
            let bytes = STANDARD.decode(message["b"].as_str().unwrap()).unwrap();
            for field in list(message, "f") {
                let at = |n: usize| field[n].as_u64().unwrap_or_default() as usize;
                let span = bytes.get(at(2)..at(2) + at(3)).unwrap();
                if field[4] != "s" || span.contains(&b'\\') {
                    continue;
                }
                let value = field[5].as_str().unwrap();
                let span = String::from_utf8_lossy(span);
                assert!(span.contains(value), "{file}: {field} is {span}");
                texts += 1;
                if at(8) > 0 {
                    let key = String::from_utf8_lossy(&bytes[at(7)..at(7) + at(8)]);
                    assert!(key.contains(field[1].as_str().unwrap()), "{file}: {field}");
                }
            }
        }
    }
    assert!(texts > 100, "{texts}");
}

#[test]
fn policy_of_a_page_allows_its_own_style_and_script_only() {
    let page = page(&[SESSIONS[0]]);
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let style = between(&page, "<style>", "</style>");
    let script = page.rsplit_once("<script>").unwrap().1;
    let script = script.split_once("</script>").unwrap().0;
    assert_eq!((style, script), (PARTS[1], PARTS[2]));
    let wanted = format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style)
    );
    let policy = between(
        &page,
        "http-equiv=\"Content-Security-Policy\" content=\"",
        "\"",
    );
    assert_eq!(policy, wanted);
    // The policy comes before all that it rules.
    assert!(page.find("Content-Security-Policy") < page.find("<style>"));
    for part in PARTS {
        for bad in [
            "://",
            " src=",
            "url(",
            "@import",
            "innerHTML",
            "outerHTML",
            "insertAdjacent",
            "document.write",
            "eval(",
            "Function(",
            " onclick=\"",
            " style=\"",
            "javascript:",
        ] {
            assert!(!part.contains(bad), "{bad}");
        }
    }
    let lines: usize = PARTS.iter().map(|part| part.lines().count()).sum();
    assert!(lines <= 1200, "{lines} lines");
}

/// Text that ends scripts, begins comments, turns the direction of text, or is invisible.
const HOSTILE: &str = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\"'&\u{202e}abc\u{0}\u{2028}\u{2029}\u{7}";

/// Writes a session of one call, and returns the names of its files.
fn session(name: &str, request: &Value, answer: &Value) -> [String; 2] {
    let folder = common::temporary();
    [("c2s", request), ("s2c", answer)].map(|(dir, message)| {
        common::file(
            folder,
            &format!("page-{name}.{dir}"),
            format!("{message}\n"),
        )
    })
}

fn call(id: &Value, arguments: &Value, name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

#[test]
fn hostile_text_stays_text() {
    let id = json!(HOSTILE);
    let request = call(&id, &json!({HOSTILE: HOSTILE}), HOSTILE);
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": HOSTILE}], "isError": true}});
    let [c2s, s2c] = session("hostile", &request, &answer);
    let page = page(&["-p", "mcp", "--c2s", &c2s, "--s2c", &s2c]);
    let calm = self::page(&[SESSIONS[0]]);
    let count = |text: &str, part: &str| text.matches(part).count();
    for part in ["<script", "</script", "<!--", "<img", "<"] {
        let (_, own) = page.split_once(DATA).unwrap();
        let (_, usual) = calm.split_once(DATA).unwrap();
        assert_eq!(count(own, part), count(usual, part), "{part}");
    }
    for c in ['\u{202e}', '\u{0}', '\u{2028}', '\u{2029}', '\u{7}'] {
        assert!(!page.contains(c), "{c:?}");
    }
    // Nothing is lost: what is not shown as it is has a visible form.
    let data = data(&page);
    let shown = HOSTILE
        .replace('\u{202e}', "\\u{202e}")
        .replace('\u{0}', "\\u{0}")
        .replace('\u{2028}', "\\u{2028}")
        .replace('\u{2029}', "\\u{2029}")
        .replace('\u{7}', "\\u{7}");
    let message = &data["messages"][0];
    assert_eq!(message["name"], shown);
    let fields = list(message, "f");
    let argument = fields
        .iter()
        .find(|field| field[1] == json!(shown))
        .unwrap();
    assert_eq!(argument[5], shown);
    let bytes = STANDARD.decode(message["b"].as_str().unwrap()).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), request);
}

#[test]
fn long_names_are_shortened_with_a_mark() {
    let long = "n".repeat(1 << 20);
    let request = call(&json!(1), &json!({&long: &long}), &long);
    let [c2s, s2c] = session(
        "long",
        &request,
        &json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    );
    let page = page(&["-p", "mcp", "--c2s", &c2s, "--s2c", &s2c]);
    let most = PARTS.iter().map(|part| part.len()).sum::<usize>() + 60_000;
    assert!(page.len() < most, "{}", page.len());
    let data = data(&page);
    let message = &data["messages"][0];
    assert!(
        message["name"]
            .as_str()
            .unwrap()
            .ends_with("n… (1048576 bytes)")
    );
    assert_eq!(message["size"], request.to_string().len());
    let fields = list(message, "f");
    let shortened = fields.iter().filter(|field| field[9] == 1);
    let lengths: Vec<&Value> = shortened.map(|field| &field[3]).collect();
    // With the quotes.
    assert_eq!(lengths, [&json!((1 << 20) + 2); 2]);
}

#[test]
fn secrets_are_masked_in_fields_and_bytes() {
    let secret = "q7-Zk93Lw0x";
    let arguments =
        json!({"api_key": secret, "url": format!("https://me:{secret}@host/"), "other": "seen"});
    let request = call(&json!(1), &arguments, "get");
    let [c2s, s2c] = session(
        "secret",
        &request,
        &json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    );
    let page = page(&["-p", "mcp", "--c2s", &c2s, "--s2c", &s2c]);
    assert!(!page.contains(secret));
    let data = data(&page);
    let message = &data["messages"][0];
    let bytes = STANDARD.decode(message["b"].as_str().unwrap()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(!text.contains(secret) && text.contains("seen"), "{text}");
    assert_eq!(text.len(), request.to_string().len());
    let of = |name: &str| {
        list(message, "f")
            .iter()
            .find(|field| field[1] == name)
            .unwrap()
    };
    assert_eq!(
        [&of("api_key")[4], &of("api_key")[5]],
        [&json!("x"), &json!("(secret, 11 characters)")]
    );
    assert_eq!(of("url")[5], "https://me:(secret)@host/");
    assert!(list(message, "h").len() >= 2, "{message}");
    assert_eq!(data["masked"], true);
    let flags = ["export", "-f", "html", "--show-secrets", "-p", "mcp"];
    let (shown, _) = run(&[&flags[..], &["--c2s", &c2s, "--s2c", &s2c]].concat());
    let data = self::data(&shown);
    let message = &data["messages"][0];
    let bytes = STANDARD.decode(message["b"].as_str().unwrap()).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), request.to_string());
    assert_eq!(
        (&data["masked"], &message["h"]),
        (&Value::Null, &Value::Null)
    );
    let fields = list(message, "f");
    assert!(fields.iter().any(|field| field[5] == secret), "{message}");
}

#[test]
fn long_sessions_are_cut_with_a_note() {
    let mut text = String::new();
    for id in 0..10_003 {
        text.push_str(&format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[{id}]}}\n"
        ));
    }
    let file = common::file(common::temporary(), "page-long.txt", text);
    let (page, notes) = run(&[
        "export", "-f", "html", "-p", "jsonrpc", "--dir", "c2s", &file,
    ]);
    let data = data(&page);
    assert_eq!(list(&data, "messages").len(), 10_000);
    assert_eq!(data["more"], 3);
    let note = "3 messages are left out: the page has the first 10000; --where chooses others";
    assert_eq!(data["notes"], json!([note]));
    assert!(notes.contains(&format!("wiretool: {note}\n")), "{notes}");
    // A condition chooses others.
    let (page, notes) = run(&[
        "lint",
        "--report",
        "html",
        "-p",
        "jsonrpc",
        "--dir",
        "c2s",
        "--where",
        "index>=10000",
        &file,
    ]);
    let data = self::data(&page);
    let chosen: Vec<&Value> = list(&data, "messages")
        .iter()
        .map(|one| &one["i"])
        .collect();
    assert_eq!(chosen, [&json!(10_000), &json!(10_001), &json!(10_002)]);
    assert!(!notes.contains("left out"), "{notes}");
}

#[test]
fn a_full_page_lists_further_messages_without_their_bytes() {
    let text = "t".repeat(9_000);
    let line =
        |id: u32| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"m{id}\",\"params\":[\"{text}\"]}}\n");
    let text: String = (0..2_500).map(line).collect();
    let file = common::file(common::temporary(), "page-full.txt", text);
    let (page, notes) = run(&[
        "export", "-f", "html", "-p", "jsonrpc", "--dir", "c2s", &file,
    ]);
    assert!(page.len() < 32 << 20, "{}", page.len());
    let data = data(&page);
    let messages = list(&data, "messages");
    assert_eq!((messages.len(), &data["more"]), (2_500, &json!(0)));
    let first_bare = messages.iter().position(|one| one["left"] == true);
    let bare = 2_500 - first_bare.expect("messages without fields");
    let (whole, rest) = messages.split_at(2_500 - bare);
    assert!(whole.iter().all(|one| one["size"].as_u64() > Some(9_000)));
    assert!(
        rest.iter()
            .all(|one| one["left"] == true && one.get("b").is_none())
    );
    assert_eq!(rest[0]["subject"], format!("m{}", 2_500 - bare));
    let note = format!(
        "{bare} messages have no fields and bytes: the page is full; --where chooses fewer messages"
    );
    assert_eq!(data["notes"], json!([note]));
    assert!(notes.contains(&note), "{notes}");
}

#[test]
fn only_lint_writes_a_page() {
    let mut command = common::wiretool();
    command.args(["snapshot", "test", "--report", "html", "fixtures"]);
    let (code, _, err) = common::outcome_of(&command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(code, 2);
    assert!(err.contains("junit, tap, sarif, github]"), "{err}");
}
