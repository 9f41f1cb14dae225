//! Made-up conversations whose operations are broken: `lint` says what is wrong.

use crate::common;
use serde_json::{Value, json};
use std::process::Command;

/// A message, with its direction.
type Said = (char, Value);

/// Returns the rules about operations that `lint` reports for messages, a millisecond apart.
fn broken_rules(protocol: &str, messages: &[Said]) -> Vec<String> {
    let mut text = json!({"wiretool": 1, "started": "2026-01-01T00:00:00.000000000Z"}).to_string();
    for (at, (way, message)) in messages.iter().enumerate() {
        let dir = if *way == '>' { "c2s" } else { "s2c" };
        let t = (at + 1) * 1_000_000;
        let line = json!({"t": t, "conn": 1, "dir": dir, "text": format!("{message}\n")});
        text += &format!("\n{line}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = common::file(folder.path(), "r.jsonl", text + "\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wiretool"));
    command.args(["lint", "-f", "json", "-p", protocol, &path]);
    let output = command.output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let rules = lines.filter_map(|line: Value| Some(line["finding"]["rule"].as_str()?.to_owned()));
    let ours = [
        "acp/tool-call-running",
        "sael/bind-nothing",
        "mcp/request-state",
        "mcp/input-not-asked",
    ];
    rules.filter(|rule| ours.contains(&rule.as_str())).collect()
}

/// A turn with a tool call of this status, which ends for this reason.
fn turn(status: &str, reason: &str) -> Vec<Said> {
    let call =
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Edit", "status": status});
    let request = |id: u32, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let answer = |id: u32, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let update = json!({"jsonrpc": "2.0", "method": "session/update",
        "params": {"sessionId": "s", "update": call}});
    vec![
        ('>', request(0, "initialize", json!({"protocolVersion": 1}))),
        ('<', answer(0, json!({"protocolVersion": 1}))),
        (
            '>',
            request(1, "session/new", json!({"cwd": "/a", "mcpServers": []})),
        ),
        ('<', answer(1, json!({"sessionId": "s"}))),
        (
            '>',
            request(2, "session/prompt", json!({"sessionId": "s", "prompt": []})),
        ),
        ('<', update),
        ('<', answer(2, json!({"stopReason": reason}))),
    ]
}

/// A pipeline of sael.
fn pipeline(stages: &Value) -> Vec<Said> {
    vec![
        ('>', json!({"kind": "HEY", "v": 1, "agent": {"id": "a"}})),
        (
            '<',
            json!({"kind": "HEY", "v": 1, "session_id": "s", "granted_capabilities": []}),
        ),
        ('>', json!({"kind": "INV", "seq": 1, "pipeline": stages})),
        ('<', json!({"kind": "RES", "seq": 1, "output": 1})),
    ]
}

/// A call whose answer asks for the input `seat` with the state `s`, if `asks`; and the call with more members.
fn call_with_input(asks: bool, more: &Value) -> Vec<Said> {
    let call = |id: u32, more: &Value| {
        let mut params = json!({"name": "book", "arguments": {"to": "Oslo"}});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let first = if asks {
        let input = json!({"method": "elicitation/create", "params": {"message": "Which?"}});
        json!({"resultType": "input_required", "inputRequests": {"seat": input}, "requestState": "s"})
    } else {
        json!({"resultType": "complete", "content": []})
    };
    vec![
        ('>', call(1, &json!({}))),
        ('<', json!({"jsonrpc": "2.0", "id": 1, "result": first})),
        ('>', call(2, more)),
        (
            '<',
            json!({"jsonrpc": "2.0", "id": 2, "result": {"resultType": "complete", "content": []}}),
        ),
    ]
}

#[test]
fn what_breaks_operations_is_found() {
    let seat = json!({"seat": {"action": "accept"}});
    let bound = |value: &str| {
        pipeline(&json!([{"tool": "a"}, {"tool": "b", "input_bind": {"items": value}}]))
    };
    let running = &["acp/tool-call-running"][..];
    let nothing = &["sael/bind-nothing"][..];
    let (state, input) = (&["mcp/request-state"][..], &["mcp/input-not-asked"][..]);
    for (what, protocol, messages, wanted) in [
        (
            "a turn ends with an open tool call",
            "acp",
            turn("in_progress", "end_turn"),
            running,
        ),
        (
            "its tool call has ended",
            "acp",
            turn("completed", "end_turn"),
            &[],
        ),
        (
            "its tool call waits for a person",
            "acp",
            turn("pending", "end_turn"),
            &[],
        ),
        (
            "the turn is cut off",
            "acp",
            turn("in_progress", "max_tokens"),
            &[],
        ),
        ("the stage before", "sael", bound("$prev"), &[]),
        ("a stage by name", "sael", bound("$first"), nothing),
        (
            "a part of the stage before",
            "sael",
            bound("$prev.items"),
            nothing,
        ),
        ("a text with a dollar", "sael", bound("$5 each"), &[]),
        (
            "the first stage",
            "sael",
            pipeline(&json!([{"tool": "a", "input_bind": {"items": "$prev"}}])),
            nothing,
        ),
        (
            "the first stage of branches",
            "sael",
            pipeline(&json!([{"parallel": [[{"tool": "a", "input_bind": {"items": "$prev"}}]]}])),
            nothing,
        ),
        (
            "the input that was asked for",
            "mcp",
            call_with_input(true, &json!({"inputResponses": seat, "requestState": "s"})),
            &[],
        ),
        (
            "another state",
            "mcp",
            call_with_input(true, &json!({"inputResponses": seat, "requestState": "t"})),
            state,
        ),
        (
            "the state of another tool",
            "mcp",
            call_with_input(
                true,
                &json!({"name": "pay", "inputResponses": seat, "requestState": "s"}),
            ),
            state,
        ),
        (
            "no state",
            "mcp",
            call_with_input(true, &json!({"inputResponses": seat})),
            state,
        ),
        (
            "another input",
            "mcp",
            call_with_input(
                true,
                &json!({"inputResponses": {"meal": {}}, "requestState": "s"}),
            ),
            input,
        ),
        (
            "input that no answer asks for",
            "mcp",
            call_with_input(false, &json!({"inputResponses": seat, "requestState": "s"})),
            input,
        ),
        (
            "a call again, without input",
            "mcp",
            call_with_input(false, &json!({})),
            &[],
        ),
    ] {
        assert_eq!(broken_rules(protocol, &messages), wanted, "{what}");
    }
}
