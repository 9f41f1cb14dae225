use super::*;
use crate::protocol::peer::with_json;
use crate::protocol::tests::rows;

/// Describes the definition of a message, and the first mismatch.
fn judged(file: &SchemaFile, message: &str, direction: Option<Direction>) -> String {
    let judge = |message: Node<'_>| match file.choose(message, direction) {
        None => "no definition".to_owned(),
        Some(found) => verdict(file, found, message),
    };
    with_json(message, judge).expect("JSON")
}

fn verdict(file: &SchemaFile, definition: &Definition, message: Node<'_>) -> String {
    let check = file.check(definition, message);
    let wrong = check.wrong.map_or("fits".to_owned(), |wrong| wrong.text);
    let unchecked = check.unchecked.map(|why| format!(" ({why})"));
    format!(
        "{}: {wrong}{}",
        definition.name(),
        unchecked.unwrap_or_default()
    )
}

/// The answer to a request, judged.
fn answered(file: &SchemaFile, request: &str, answer: &str) -> String {
    let definition = with_json(request, |request| {
        let request = file.choose(request, None)?;
        file.answer_to(request)
    });
    let Some(definition) = definition.expect("JSON") else {
        return "no definition".to_owned();
    };
    with_json(answer, |answer| verdict(file, definition, answer)).expect("JSON")
}

/// The form of debugAdapterProtocol.json.
const DAP: &str = r##"{
  "$schema": "http://json-schema.org/draft-04/schema#",
  "definitions": {
    "ProtocolMessage": {"type": "object", "required": ["seq", "type"],
      "properties": {"seq": {"type": "integer"}, "type": {"type": "string", "_enum": ["request", "response", "event"]}}},
    "Request": {"allOf": [{"$ref": "#/definitions/ProtocolMessage"},
      {"type": "object", "properties": {"type": {"type": "string", "enum": ["request"]}, "command": {"type": "string"}}}]},
    "Response": {"allOf": [{"$ref": "#/definitions/ProtocolMessage"},
      {"type": "object", "required": ["request_seq"], "properties": {"type": {"type": "string", "enum": ["response"]}}}]},
    "CancelRequest": {"allOf": [{"$ref": "#/definitions/Request"},
      {"type": "object", "properties": {"command": {"type": "string", "enum": ["cancel"]},
        "arguments": {"type": "object", "properties": {"requestId": {"type": "integer"}}}}}]},
    "CancelResponse": {"allOf": [{"$ref": "#/definitions/Response"}]}
  }
}"##;

/// The form of MCP's schema.json.
const MCP: &str = r#"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "PingRequest": {"type": "object", "required": ["method"], "properties": {"method": {"const": "ping"}, "params": {"type": "object"}}},
    "PingResult": {"properties": {"result": {"type": "object"}}},
    "Base": {"properties": {"jsonrpc": {"const": "2.0"}}}
  }
}"#;

/// The form of ACP's schema.json.
const ACP: &str = r#"{"$defs": {
  "PromptRequest": {"x-method": "session/prompt", "x-side": "agent", "type": "object", "required": ["sessionId"]},
  "PromptResponse": {"x-method": "session/prompt", "x-side": "agent", "type": "object", "required": ["stopReason"]}
}}"#;

const OPEN_RPC: &str = r##"{
  "openrpc": "1.2.6",
  "methods": [
    {"name": "eth_getBalance",
     "params": [
       {"name": "Address", "required": true, "schema": {"$ref": "#/components/schemas/address"}},
       {"$ref": "#/components/contentDescriptors/Block"}],
     "result": {"name": "Balance", "schema": {"type": "string", "pattern": "^0x[0-9a-f]+$"}}},
    {"name": "named", "paramStructure": "by-name", "params": [{"name": "a", "required": true, "schema": {"type": "null"}}]}
  ],
  "components": {
    "schemas": {"address": {"type": "string", "pattern": "^0x[0-9a-f]{4}$"}},
    "contentDescriptors": {"Block": {"name": "Block", "schema": {"enum": ["latest", "earliest"]}}}
  }
}"##;

const META_MODEL: &str = r#"{
  "metaData": {"version": "3.17.0"},
  "requests": [
    {"method": "textDocument/hover", "messageDirection": "clientToServer",
     "params": {"kind": "reference", "name": "HoverParams"},
     "result": {"kind": "or", "items": [{"kind": "reference", "name": "Hover"}, {"kind": "base", "name": "null"}]}},
    {"method": "shutdown", "messageDirection": "clientToServer", "result": {"kind": "base", "name": "null"}}
  ],
  "notifications": [
    {"method": "window/logMessage", "messageDirection": "serverToClient",
     "params": {"kind": "literal", "value": {"properties": [
       {"name": "type", "type": {"kind": "reference", "name": "MessageType"}},
       {"name": "tags", "optional": true, "type": {"kind": "tuple", "items": [{"kind": "stringLiteral", "value": "a"}, {"kind": "base", "name": "decimal"}]}},
       {"name": "more", "optional": true, "type": {"kind": "map", "key": {"kind": "base", "name": "string"}, "value": {"kind": "array", "element": {"kind": "base", "name": "boolean"}}}}]}}}
  ],
  "structures": [
    {"name": "Position", "properties": [{"name": "line", "type": {"kind": "base", "name": "uinteger"}}]},
    {"name": "HoverParams", "extends": [{"kind": "reference", "name": "Position"}], "properties": [{"name": "uri", "type": {"kind": "base", "name": "DocumentUri"}}]},
    {"name": "Hover", "properties": [{"name": "contents", "type": {"kind": "reference", "name": "Text"}}]}
  ],
  "enumerations": [{"name": "MessageType", "type": {"kind": "base", "name": "uinteger"}, "values": [{"name": "Error", "value": 1}]}],
  "typeAliases": [{"name": "Text", "type": {"kind": "base", "name": "string"}}]
}"#;

#[test]
fn messages_have_the_definition_whose_constants_they_have() {
    for (file, cases) in [
        (
            DAP,
            r#"
- | {"seq":1,"type":"request","command":"cancel","arguments":{"requestId":1}} | CancelRequest: fits
- | {"seq":1,"type":"request","command":"cancel","arguments":{"requestId":"1"}} | CancelRequest: message.arguments.requestId is a string; it must be an integer
- | {"type":"request","command":"cancel"} | CancelRequest: message has no `seq`, which is required
- | {"seq":1,"type":"request","command":"other"} | Request: fits
- | {"seq":1,"type":"other"} | no definition
"#,
        ),
        (
            MCP,
            r#"
- | {"method":"ping","params":[]} | PingRequest: message.params is an array; it must be an object
- | {"jsonrpc":"2.0","method":"x"} | Base: fits
"#,
        ),
        (
            ACP,
            r#"
c2s | {"method":"session/prompt","params":{}} | PromptRequest: params has no `sessionId`, which is required
s2c | {"method":"session/prompt","params":{}} | no definition
"#,
        ),
        (
            OPEN_RPC,
            r#"
- | {"method":"eth_getBalance","params":["0x12ab","latest"]} | eth_getBalance: fits
- | {"method":"eth_getBalance","params":{"Address":"0x12ab"}} | eth_getBalance: fits
- | {"method":"eth_getBalance","params":["12ab"]} | eth_getBalance: params[0] does not match the pattern ^0x[0-9a-f]{4}$
- | {"method":"eth_getBalance","params":[]} | eth_getBalance: params has 0 elements; at least 1 are wanted
- | {"method":"eth_getBalance","params":["0x12ab","new"]} | eth_getBalance: params[1] is not one of the allowed values
- | {"method":"named","params":[null]} | named: params is an array; it must be an object
"#,
        ),
        (
            META_MODEL,
            r#"
c2s | {"method":"textDocument/hover","params":{"uri":"x","line":1}} | textDocument/hover: fits
c2s | {"method":"textDocument/hover","params":{"uri":"x","line":-1}} | textDocument/hover: params.line is -1, but its minimum is 0
s2c | {"method":"textDocument/hover","params":{}} | no definition
- | {"method":"shutdown"} | shutdown: fits
- | {"method":"window/logMessage","params":{"type":1,"tags":["a",0.5],"more":{"x":[true]}}} | window/logMessage: fits
- | {"method":"window/logMessage","params":{"type":2}} | window/logMessage: params.type is not one of the allowed values
- | {"method":"window/logMessage","params":{"type":1,"more":{"x":[1]}}} | window/logMessage: params.more.x[0] is an integer; it must be a bool
"#,
        ),
    ] {
        let file = SchemaFile::read(file).unwrap();
        for [direction, message, want] in rows(cases) {
            let direction = Direction::from_name(direction);
            assert_eq!(judged(&file, message, direction), want, "{message}");
        }
    }
}

#[test]
fn answers_have_the_definition_of_their_request() {
    for [file, request, answer, want] in rows(
        r#"
DAP | {"seq":1,"type":"request","command":"cancel"} | {"seq":2,"type":"response"} | CancelResponse: message has no `request_seq`, which is required
MCP | {"method":"ping"} | {"result":1} | PingResult: message.result is an integer; it must be an object
ACP | {"method":"session/prompt","params":{}} | {"result":{}} | PromptResponse: result has no `stopReason`, which is required
OPEN_RPC | {"method":"eth_getBalance","params":[]} | {"result":"5"} | eth_getBalance: result does not match the pattern ^0x[0-9a-f]+$
OPEN_RPC | {"method":"named","params":{}} | {"result":1} | no definition
META_MODEL | {"method":"textDocument/hover"} | {"result":null} | textDocument/hover: fits
META_MODEL | {"method":"textDocument/hover"} | {"result":{"contents":1}} | textDocument/hover: result fits none of the schemas of anyOf
"#,
    ) {
        let file = match file {
            "DAP" => DAP,
            "MCP" => MCP,
            "ACP" => ACP,
            "OPEN_RPC" => OPEN_RPC,
            _ => META_MODEL,
        };
        let file = SchemaFile::read(file).unwrap();
        assert_eq!(answered(&file, request, answer), want, "{answer}");
    }
}

#[test]
fn other_files_are_refused() {
    let long = format!("[{}]", "0,".repeat(LONGEST / 2));
    for (text, want) in [
        (
            "{\n  \"a\": 1,\n}",
            "line 3, column 1: wanted JSON: trailing comma",
        ),
        (
            "[1]",
            "wanted definitions of messages: `$defs` or `definitions` of JSON Schema, `methods` of OpenRPC, or `requests` of metaModel.json; got none",
        ),
        (&long, "wanted at most 3145728 bytes, got 3145730"),
    ] {
        assert_eq!(SchemaFile::read(text).unwrap_err().to_string(), want);
    }
}

#[test]
fn hostile_files_end_soon() {
    // References that double on each level, and names in a long path.
    let doubled: Vec<String> = (0..60)
        .map(|n| {
            format!(
                r##""d{n}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##,
                (n + 1) % 60
            )
        })
        .collect();
    let doubled = format!("{{\"$defs\":{{{}}}}}", doubled.join(","));
    let named: Vec<String> = (0..20_000)
        .map(|n| format!("{{\"$id\":\"{n}\"}}"))
        .collect();
    let named = format!(
        "{{\"$defs\":{{\"{}\":[{}]}}}}",
        "k".repeat(1 << 20),
        named.join(",")
    );
    for text in [doubled, named] {
        let start = std::time::Instant::now();
        let file = SchemaFile::read(&text).unwrap();
        judged(&file, "{\"a\":1}", None);
        let took = start.elapsed();
        assert!(took.as_secs() < 20, "{took:?}");
    }
}
