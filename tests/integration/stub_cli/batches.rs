//! Batches of JSON-RPC (JSON-RPC 2.0 section 6, mcp 2025-03-26).

use super::{file, folder};
use crate::common;
use serde_json::{Value, json};

/// Returns the lines that a stub prints for these lines, and its stderr.
fn answers(args: &[&str], lines: &[Value]) -> (Vec<Value>, String) {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut stub = common::wiretool();
    let (status, stdout, stderr) = common::run(stub.arg("stub").args(args), lines.concat());
    assert_eq!(status, 0, "{stderr}");
    let lines = stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (lines.collect(), stderr)
}

#[test]
fn batch_is_answered_by_the_side_and_the_script() {
    let folder = folder();
    let script = "[[on]]\nmatch = '.params.name=\"add\"'\nresult = 3\n";
    let script = file(folder.path(), "my.toml", script);
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        7,
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "add", "arguments": {}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/frob"},
    ]);
    let (lines, stderr) = answers(&["mcp", "--script", &script], &[batch]);
    let [Value::Array(all)] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!(all[0], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert_eq!(all[1]["error"]["code"], -32600);
    assert_eq!(all[1]["id"], Value::Null);
    assert_eq!(
        (&all[2]["id"], &all[2]["result"]),
        (&json!(2), &json!(3)),
        "{all:?}"
    );
    assert_eq!(all[3]["error"]["code"], -32601);
    assert!(
        stderr.contains("request tools/frob has no rule"),
        "{stderr}"
    );
    assert!(!stderr.contains("ping has no rule"), "{stderr}");
}

#[test]
fn jsonrpc_batch_is_one_array() {
    let folder = folder();
    let script = file(
        folder.path(),
        "my.toml",
        "[[on]]\nmatch = \"subject=add\"\nresult = 3\n",
    );
    let call = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "add"});
    let note = json!([{"jsonrpc": "2.0", "method": "add"}]);
    let (lines, _) = answers(
        &["jsonrpc", "--script", &script],
        &[json!([call(1), call(2)]), note],
    );
    let result = |id: u32| json!({"jsonrpc": "2.0", "id": id, "result": 3});
    assert_eq!(lines, [json!([result(1), result(2)])]);
}

#[test]
fn mcp_lists_are_empty_and_unknown_methods_not_found() {
    let call = |method: &str| json!({"jsonrpc": "2.0", "id": 1, "method": method});
    let lists = [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ];
    for (method, member) in lists {
        let (lines, _) = answers(&["mcp"], &[call(method)]);
        assert_eq!(lines[0]["result"][member], json!([]), "{lines:?}");
    }
    let absent = [
        "foo/bar",
        "completion/complete",
        "tasks/list",
        "resources/subscribe",
    ];
    for method in absent {
        let (lines, _) = answers(&["mcp"], &[call(method)]);
        assert_eq!(lines[0]["error"]["code"], -32601, "{method}");
    }
}

/// Results of a version without sessions say that they are complete, and how long they hold (2026-07-28, Result).
#[test]
fn results_without_a_session_are_complete() {
    let call = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let add = json!({"name": "add", "arguments": {}});
    for (method, params, is_cached) in [
        ("server/discover", json!({}), true),
        ("tools/list", json!({}), true),
        ("prompts/list", json!({}), true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), true),
        ("tools/call", add, false),
    ] {
        let of = |params: &Value| {
            let request = call(method, params.clone());
            let (lines, _) = answers(&["mcp", "--tool", "add={\"n\":3}"], &[request]);
            lines[0]["result"].clone()
        };
        let mut with_meta = params.clone();
        with_meta["_meta"] = meta.clone();
        let result = of(&with_meta);
        assert_eq!(result["resultType"], "complete", "{method}: {result}");
        let cached = json!([result["ttlMs"], result["cacheScope"]]);
        let want = [json!([0, "private"]), json!([null, null])];
        assert_eq!(cached, want[usize::from(!is_cached)], "{method}: {result}");
        let plain = of(&params);
        let is_plain = plain.get("resultType").is_none();
        assert_eq!(is_plain, method != "server/discover", "{method}: {plain}");
    }
}

/// A client that first asks for another version falls back to the one of the recording.
#[test]
fn sessions_open_as_recorded() {
    let folder = folder();
    let line = |t: u64, dir: &str, message: &Value| {
        json!({"t": t, "conn": 1, "dir": dir, "text": format!("{message}\n")}).to_string()
    };
    let opens = |method: &str| json!({"jsonrpc": "2.0", "id": 0, "method": method, "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}});
    let head = json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00Z", "transport": "stdio"});
    for (recorded, other) in [
        ("initialize", "server/discover"),
        ("server/discover", "initialize"),
    ] {
        let lines = [
            head.to_string(),
            line(1, "c2s", &opens(recorded)),
            line(2, "s2c", &answer),
        ];
        let recording = file(folder.path(), "session.jsonl", &(lines.join("\n") + "\n"));
        let asked = [opens(other), opens(recorded)];
        let (got, _) = answers(&["mcp", "--from-recording", &recording], &asked);
        assert_eq!(got[0]["error"]["code"], -32601, "{got:?}");
        assert_eq!(got[1]["result"], answer["result"], "{got:?}");
    }
}

/// A client that was refused, and then accepted with another version, is accepted.
#[test]
fn an_accepted_opening_comes_before_a_refused_one() {
    let folder = folder();
    let line = |t: u64, dir: &str, message: &Value| {
        json!({"t": t, "conn": 1, "dir": dir, "text": format!("{message}\n")}).to_string()
    };
    let opens = |id: u32, version: &str| json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}});
    let refused = json!({"jsonrpc": "2.0", "id": 0, "error": {"code": -32602, "message": "Unsupported protocol version"}});
    let accepted = json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {"name": "own", "version": "1"}}});
    let lines = [
        json!({"wiretool": 1, "protocol": "mcp", "started": "2026-01-01T00:00:00Z", "transport": "stdio"}).to_string(),
        line(1, "c2s", &opens(0, "2025-11-25")),
        line(2, "s2c", &refused),
        line(3, "c2s", &opens(1, "2024-11-05")),
        line(4, "s2c", &accepted),
    ];
    let recording = file(folder.path(), "refused.jsonl", &(lines.join("\n") + "\n"));
    let (got, _) = answers(
        &["mcp", "--from-recording", &recording],
        &[opens(1, "2024-11-05")],
    );
    assert_eq!(got[0]["result"]["serverInfo"]["name"], "own", "{got:?}");
}
