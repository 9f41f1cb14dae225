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
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ];
    for (method, member) in lists {
        let (lines, _) = answers(&["mcp"], &[call(method)]);
        assert_eq!(lines[0]["result"][member], json!([]), "{lines:?}");
    }
    let (lines, _) = answers(&["mcp"], &[call("foo/bar")]);
    assert_eq!(lines[0]["error"]["code"], -32601);
}
