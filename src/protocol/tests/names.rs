//! Names of messages and of their answers, and results that say that a call failed.

use super::{of, rows, written};
use crate::decoder::{DecodeOptions, Decoder};
use crate::encoding::Want;
use crate::framing::Framing;
use crate::protocol::{Direction, Origin, WriteOptions};

/// Reads messages in alternating directions, the first to the server, and returns their names and outcomes.
fn read(protocol: &str, want: Want, messages: &[Vec<u8>]) -> String {
    let mut options = DecodeOptions::new(vec![of(protocol)]);
    options.want = want;
    if protocol == "sael" {
        options.framing = Some(Framing::WebSocket);
    }
    let mut decoder = Decoder::new(options);
    let mut found = Vec::new();
    for (n, message) in messages.iter().enumerate() {
        let origin = Origin {
            conn: Some(1),
            direction: Some([Direction::ToServer, Direction::ToClient][n.min(1)]),
            ..Origin::default()
        };
        decoder.push(origin, message, &mut |decoded| {
            let message = decoded.message;
            let outcome = message.outcome.as_deref().filter(|_| message.failed);
            let outcome = outcome.map_or(String::new(), |outcome| format!(" failed {outcome}"));
            found.push(format!(
                "{}{outcome}",
                message.name.as_deref().unwrap_or("-")
            ));
        });
    }
    found.join(", ")
}

/// Writes messages as lines, or with a header block for lsp.
fn framed(protocol: &str, texts: &[&str]) -> Vec<Vec<u8>> {
    let frame = |text: &&str| match protocol {
        "lsp" => format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes(),
        "sael" => {
            let mut frame = vec![0x81, text.len() as u8];
            frame.extend(text.as_bytes());
            frame
        }
        _ => format!("{text}\n").into_bytes(),
    };
    texts.iter().map(frame).collect()
}

#[test]
fn messages_have_names_and_outcomes() {
    let tool = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"name":"x"}}}"#;
    let update = |update: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
        )
    };
    let (chunk, failed) = (
        update(r#"{"content":{"sessionUpdate":"no"},"sessionUpdate":"agent_message_chunk"}"#),
        update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"}"#),
    );
    // Messages are separated by `&`; `-` is none.
    for [protocol, messages, wanted] in rows(
        r#"
mcp | TOOL & {"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}} | echo, echo failed isError: true
mcp | TOOL & {"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":false}} | echo, echo
mcp | TOOL & {"jsonrpc":"2.0","id":2,"result":{}} | echo, -
mcp | {"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a\/b"}} & {"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}} | a/b, a/b
mcp | {"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}} | p
mcp | {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}} | -
lsp | {"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"position":{"line":0,"character":0},"textDocument":{"version":1,"uri":"file:\/\/\/a.rs"}}} & {"jsonrpc":"2.0","id":1,"result":null} | file:///a.rs, file:///a.rs
acp | - & CHUNK & FAILED | -, agent_message_chunk, tool_call_update failed status: failed
stepflow | {"jsonrpc":"2.0","id":"a","method":"components/execute","params":{"component":"/up","input":{"component":"no"}}} & {"jsonrpc":"2.0","id":"a","result":{"output":1}} | /up, /up
stepflow | - & {"jsonrpc":"2.0","id":"a","result":{"result":{"outcome":"failed","error":{}}}} | -, - failed outcome: failed
jsonrpc | - & {"jsonrpc":"2.0","id":1,"result":{"ok":false}} | -, - failed ok: false
jsonrpc | - & {"jsonrpc":"2.0","id":1,"result":{"ok":true,"success":true}} | -, -
jsonrpc | - & {"jsonrpc":"2.0","id":1,"result":{"success":false}} | -, - failed success: false
jsonrpc | - & {"jsonrpc":"2.0","id":1,"result":{"status":"error"}} | -, - failed status: error
jsonrpc | - & {"jsonrpc":"2.0","id":1,"result":{"status":"done"}} | -, -
jsonrpc | - & {"jsonrpc":"2.0","id":1,"result":{"error":{"code":1}}} | -, - failed error
jsonrpc | - & {"jsonrpc":"2.0","id":1,"result":{"error":null}} | -, -
"#,
    ) {
        let text = |name| match name {
            "TOOL" => tool,
            "CHUNK" => &chunk,
            "FAILED" => &failed,
            "-" => "",
            text => text,
        };
        let messages: Vec<&str> = messages.split(" & ").map(text).collect();
        let messages = framed(protocol, &messages);
        for want in [Want::Text, Want::Head, Want::Line, Want::Places] {
            assert_eq!(
                read(protocol, want, &messages),
                wanted,
                "{protocol} {want:?} {messages:?}"
            );
        }
    }
}

#[test]
fn items_after_an_answer_have_the_name_of_their_request() {
    let sael = framed(
        "sael",
        &[
            r#"{"kind":"SUB","seq":1,"topic":"news"}"#,
            r#"{"kind":"RES","seq":1,"output":{}}"#,
            r#"{"kind":"EVT","seq":1,"data":1}"#,
            r#"{"kind":"EVT","seq":2,"data":1}"#,
        ],
    );
    assert_eq!(read("sael", Want::Text, &sael), "news, news, news, -");
}

#[test]
fn an_id_that_is_used_again_has_no_old_name() {
    let mut decoder = Decoder::new(DecodeOptions::new(vec![of("mcp")]));
    let mut names = Vec::new();
    for (direction, text) in [
        (
            Direction::ToServer,
            r#""method":"tools/call","params":{"name":"a"}"#,
        ),
        (Direction::ToClient, r#""result":{}"#),
        (Direction::ToServer, r#""method":"tools/list""#),
        (Direction::ToClient, r#""result":{}"#),
    ] {
        let origin = Origin {
            direction: Some(direction),
            ..Origin::default()
        };
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{text}}}\n");
        decoder.push(origin, line.as_bytes(), &mut |decoded| {
            names.push(decoded.message.name.as_deref().map(str::to_owned));
        });
    }
    let a = || Some("a".to_owned());
    assert_eq!(names, [a(), a(), None, None]);
}

#[test]
fn calls_of_telequick_are_named_and_fail_by_their_code() {
    let frame = |text: &str| {
        let (body, head) = written(of("telequick"), text, &WriteOptions::default()).unwrap();
        let mut frame = (body.len() as u32 + 4).to_le_bytes().to_vec();
        frame.extend(head.method_id.unwrap().to_le_bytes());
        frame.extend(body);
        frame
    };
    let request =
        r#"{"method":"Terminate","struct":"TerminateRequest","fields":{"call_sid":"c1"}}"#;
    let answer = |code: &str| {
        format!(
            r#"{{"method":"Terminate","struct":"TerminateResponse","fields":{{"call_sid":"c1","status":"","error_message":"","error_code":"{code}","timestamp_ms":0}}}}"#
        )
    };
    for (code, wanted) in [
        ("SUCCESS", "c1, c1"),
        ("ERR_INTERNAL_ERROR", "c1, c1 failed ERR_INTERNAL_ERROR"),
    ] {
        let messages = [frame(request), frame(&answer(code))];
        for want in [Want::Text, Want::Head, Want::Line, Want::Places] {
            assert_eq!(read("telequick", want, &messages), wanted, "{want:?}");
        }
    }
}
