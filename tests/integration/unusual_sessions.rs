//! Sessions that are correct but unusual have no finding; broken ones have the finding of their cause, and no other.

use crate::common;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

/// A session: its name, protocol and transport, the rules that it breaks, and what is said.
///
/// Each line of the script has a connection, a direction (`>` to the server, `-` unknown) and a message, or `end` for the
/// end of the direction, or `lost` where earlier bytes are not in the capture. Over HTTP, `POST` or a status and fields
/// precede a message. `events` is the head of a stream of events, `event` one of them, and `chunk` one in a chunk.
struct Session {
    name: &'static str,
    protocol: &'static str,
    transport: &'static str,
    rules: &'static [&'static str],
    script: &'static str,
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
const CALL_2026: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const ACP: &str = r#"1> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
1< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#;

const SESSIONS: &[Session] = &[
    Session {
        name: "a debugger with its lifecycle, and a request of the adapter",
        protocol: "dap",
        transport: "stdio",
        rules: &[],
        script: r#"
1> {"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"a","supportsRunInTerminalRequest":true}}
1< {"seq":1,"type":"response","request_seq":1,"command":"initialize","success":true,"body":{}}
1< {"seq":2,"type":"event","event":"initialized"}
1> {"seq":2,"type":"request","command":"launch","arguments":{}}
1> {"seq":3,"type":"request","command":"configurationDone"}
1< {"seq":3,"type":"response","request_seq":3,"command":"configurationDone","success":true}
1< {"seq":4,"type":"request","command":"runInTerminal","arguments":{"cwd":"/","args":["x"]}}
1> {"seq":4,"type":"response","request_seq":4,"command":"runInTerminal","success":true,"body":{}}
1< {"seq":5,"type":"response","request_seq":2,"command":"launch","success":true}
1> end
1< end"#,
    },
    Session {
        name: "a debugger breaks its lifecycle",
        protocol: "dap",
        transport: "stdio",
        rules: &[
            "dap/initialize-once",
            "dap/configuration-done-early",
            "dap/initialize-first",
            "dap/seq-order",
            "dap/after-terminated",
        ],
        script: r#"
1> {"seq":1,"type":"request","command":"launch","arguments":{}}
1< {"seq":1,"type":"response","request_seq":1,"command":"launch","success":true}
1> {"seq":2,"type":"request","command":"initialize","arguments":{"adapterID":"a"}}
1< {"seq":2,"type":"response","request_seq":2,"command":"initialize","success":true,"body":{}}
1> {"seq":3,"type":"request","command":"initialize","arguments":{"adapterID":"a"}}
1< {"seq":3,"type":"response","request_seq":3,"command":"initialize","success":true,"body":{}}
1> {"seq":4,"type":"request","command":"configurationDone"}
1< {"seq":3,"type":"response","request_seq":4,"command":"configurationDone","success":true}
1< {"seq":4,"type":"event","event":"terminated"}
1> {"seq":5,"type":"request","command":"next","arguments":{"threadId":1}}
1< {"seq":5,"type":"response","request_seq":5,"command":"next","success":true}
1> end
1< end"#,
    },
    Session {
        name: "a task has progress after its request is answered",
        protocol: "mcp",
        transport: "stdio",
        rules: &[],
        script: r#"
1> INITIALIZE
1< INITIALIZED
1> {"jsonrpc":"2.0","method":"notifications/initialized"}
1> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","task":{"ttl":60000},"_meta":{"progressToken":"p"}}}
1< {"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":60000}}}
1< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}
1< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":2}}
1> end
1< end"#,
    },
    Session {
        name: "a message of MCP over ACP is a request or a notification",
        protocol: "acp",
        transport: "stdio",
        rules: &[],
        script: r#"
ACP
1< {"jsonrpc":"2.0","id":0,"method":"mcp/message","params":{"serverId":"m","requestId":"a","method":"tools/call","params":{"name":"t"}}}
1> {"jsonrpc":"2.0","method":"mcp/message","params":{"serverId":"m","requestId":"a","method":"notifications/progress","params":{}}}
1> {"jsonrpc":"2.0","id":0,"result":{"result":{"content":[]}}}
1> end
1< end"#,
    },
    Session {
        name: "the result of a task is that of its call",
        protocol: "mcp",
        transport: "stdio",
        rules: &["mcp/missing-content"],
        script: r#"
1> INITIALIZE
1< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{}},"serverInfo":{"name":"s","version":"1"}}}
1> {"jsonrpc":"2.0","method":"notifications/initialized"}
1> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","task":{}}}
1< {"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"working"}}}
1> {"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":"t"}}
1< {"jsonrpc":"2.0","id":2,"result":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}
1> {"jsonrpc":"2.0","id":3,"method":"tasks/result","params":{"taskId":"t"}}
1< {"jsonrpc":"2.0","id":3,"result":{"content":[]}}
1> end
1< end"#,
    },
    Session {
        name: "a resumed stream repeats progress and an answer",
        protocol: "mcp",
        transport: "http",
        rules: &["mcp/answered-twice"],
        script: r#"
1> POST INITIALIZE
1< 200 mcp-session-id:s INITIALIZED
1> POST mcp-session-id:s mcp-protocol-version:2025-11-25 {"jsonrpc":"2.0","method":"notifications/initialized"}
1< 202
2> POST mcp-session-id:s mcp-protocol-version:2025-11-25 {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1}}}
2< events
2< event {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
2< event {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
2< end
3> GET mcp-session-id:s mcp-protocol-version:2025-11-25 last-event-id:7
3< events
3< event {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}
3< event {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
3< end
3> end"#,
    },
    Session {
        name: "a log line before the first answer does not change the order",
        protocol: "mcp",
        transport: "stdio",
        rules: &["mcp/not-json"],
        script: r#"
1> INITIALIZE
1< Server running on stdio
1< INITIALIZED
1> {"jsonrpc":"2.0","method":"notifications/initialized"}
1> {"jsonrpc":"2.0","id":1,"method":"ping"}
1< {"jsonrpc":"2.0","id":1,"result":{}}
1> end
1< end"#,
    },
    Session {
        name: "results have blocks that clients refuse",
        protocol: "mcp",
        transport: "stdio",
        rules: &["mcp/result-type"; 7],
        script: r#"
1> INITIALIZE
1< INITIALIZED
1> {"jsonrpc":"2.0","method":"notifications/initialized"}
1> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}
1< {"jsonrpc":"2.0","id":1,"result":null}
1> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a"}}
1< {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"txt","text":"a"}]}}
1> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a"}}
1< {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text"}]}}
1> {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"a"}}
1< {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"image","mimeType":"image/png"}]}}
1> {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"a"}}
1< {"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"resource","resource":{"uri":"a:b"}}]}}
1> {"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"a"}}
1< {"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"resource_link","uri":"a:b"}]}}
1> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"}}
1< {"jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":[1]}}
1> {"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"a"}}
1< {"jsonrpc":"2.0","id":8,"result":{"content":[{"type":"text","text":""},{"type":"audio","data":"","mimeType":"audio/wav"},{"type":"resource","resource":{"uri":"a:b","blob":""}}],"structuredContent":{}}}
1> end
1< end"#,
    },
    Session {
        name: "initialize is sent again after 401",
        protocol: "mcp",
        transport: "http",
        rules: &["mcp/refused"],
        script: r#"
1> POST INITIALIZE
1< 401 www-authenticate:Bearer
1> POST authorization:Bearer+t INITIALIZE
1< 200 INITIALIZED
1> POST {"jsonrpc":"2.0","method":"notifications/initialized"}
1< 202
1> end
1< end"#,
    },
    Session {
        name: "without a session, a client cancels a request by closing the connection",
        protocol: "mcp",
        transport: "http",
        rules: &[],
        script: r"
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:a CALL_2026
1< events
1> end
1< end",
    },
    Session {
        name: "the server closes the connection of such a request",
        protocol: "mcp",
        transport: "http",
        rules: &["mcp/unanswered"],
        script: r"
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:a CALL_2026
1< events
1< end
1> end",
    },
    Session {
        name: "the end of the connection does not say which side closed it",
        protocol: "mcp",
        transport: "http",
        rules: &["mcp/unanswered"],
        script: r"
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:a CALL_2026
1< events
1- end",
    },
    Session {
        name: "fields that repeat arguments have their values",
        protocol: "mcp",
        transport: "http",
        rules: &["mcp/header-mismatch", "mcp/header-mismatch"],
        script: r#"
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/list LIST_2026
1< 200 {"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"},"in":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:a mcp-param-r:=?base64?w6k=?= mcp-param-n:42.0 ARGUMENTS_2026
1< 200 {"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"complete"}}
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:a mcp-param-r:e ARGUMENTS_2026
1< 400 {"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"m"}}
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:a CALL_2026
1< 200 {"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"complete"}}
1> end
1< end"#,
    },
    Session {
        name: "messages of the older transport have no such fields",
        protocol: "mcp",
        transport: "http",
        rules: &[],
        script: r#"
1> GET
1< events
2> OLDER LIST_2026
2< 202
1< event {"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"m"}}
2> end
1> end
2< end
1< end"#,
    },
    Session {
        name: "a client that only ends its direction gets the answer",
        protocol: "mcp",
        transport: "http",
        rules: &[],
        script: r#"
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:a CALL_2026
1> end
1< events
1< event {"jsonrpc":"2.0","id":1,"result":{"content":[],"resultType":"complete"}}
1< end"#,
    },
    Session {
        name: "initialize is sent again after an error",
        protocol: "lsp",
        transport: "stdio",
        rules: &[],
        script: r#"
1> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"rootUri":null,"capabilities":{}}}
1< {"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"no such project","data":{"retry":true}}}
1> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":1,"rootUri":null,"capabilities":{}}}
1< {"jsonrpc":"2.0","id":1,"result":{"capabilities":{}}}
1> {"jsonrpc":"2.0","method":"initialized","params":{}}
1> {"jsonrpc":"2.0","id":2,"method":"shutdown"}
1< {"jsonrpc":"2.0","id":2,"result":null}
1> {"jsonrpc":"2.0","method":"exit"}
1> end
1< end"#,
    },
    Session {
        name: "a tool call of an earlier turn, and one of the history, are updated",
        protocol: "acp",
        transport: "stdio",
        rules: &[],
        script: r#"
ACP
1> {"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"old","title":"t"}}}
1< {"jsonrpc":"2.0","id":1,"result":{}}
1> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a"}]}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"old","status":"completed"}}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"new","title":"t"}}}
1< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
1> {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"b"}]}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"new","status":"completed"}}}
1< {"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}
1> end
1< end"#,
    },
    Session {
        name: "an update of a tool call that nothing started",
        protocol: "acp",
        transport: "stdio",
        rules: &["acp/unknown-tool-call"],
        script: r#"
ACP
1> {"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}
1< {"jsonrpc":"2.0","id":1,"result":{}}
1> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a"}]}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"x","status":"completed"}}}
1< {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
1> end
1< end"#,
    },
    Session {
        name: "initialize is sent again after an error (acp)",
        protocol: "acp",
        transport: "stdio",
        rules: &[],
        script: r#"
1> {"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}
1< {"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"Internal error"}}
ACP
1> end
1< end"#,
    },
    Session {
        name: "the capture begins in a list, after a request with progress",
        protocol: "mcp",
        transport: "stdio",
        rules: &[],
        script: r#"
1> lost
1< lost
1> {"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"cursor":"x"}}
1< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}
1< {"jsonrpc":"2.0","id":8,"result":{"tools":[]}}
1> end
1< end"#,
    },
    Session {
        name: "the capture begins in a stream of events, after a request of the server",
        protocol: "mcp",
        transport: "http",
        rules: &[],
        script: r#"
1> lost
1< lost
1< chunk {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}
2> POST mcp-session-id:s {"jsonrpc":"2.0","id":0,"result":{"roots":[]}}
2< 202
1< chunk {"jsonrpc":"2.0","id":1,"method":"ping"}
2> POST mcp-session-id:s {"jsonrpc":"2.0","id":1,"result":{}}
2< 202
1> end
1< end"#,
    },
    Session {
        name: "the capture begins between a heartbeat and its answer",
        protocol: "sael",
        transport: "tcp",
        rules: &[],
        script: r#"
1> lost
1< lost
1< {"v":1,"kind":"HBA","ts":1}
1> {"v":1,"kind":"HBT","ts":2}
1< {"v":1,"kind":"HBA","ts":2}
1> end
1< end"#,
    },
    Session {
        name: "ids are equal if their values are",
        protocol: "jsonrpc",
        transport: "tcp",
        rules: &["jsonrpc/id-fraction", "jsonrpc/id-fraction"],
        script: r#"
1> {"jsonrpc":"2.0","id":1,"method":"a"}
1< {"jsonrpc":"2.0","id":1.0,"result":1}
1> {"jsonrpc":"2.0","id":1e3,"method":"a"}
1< {"jsonrpc":"2.0","id":1000,"result":1}
1> end
1< end"#,
    },
    Session {
        name: "a word names the type of a value, and so its members; a value that Node did not print is not judged",
        protocol: "acp",
        transport: "stdio",
        rules: &[
            "acp/missing-param",
            "acp/param-type",
            "acp/missing-param",
            "acp/param-type",
            "acp/param-type",
            "acp/result-type",
        ],
        script: r#"
ACP
1> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}
1< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
1> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"resource_link","uri":"file:///a","name":"a"}]}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text"}}}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":"a"}}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":"[Object]"}}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","title":"t"}}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"txt","text":"a"}}}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","status":"done"}}}
1< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}}
1< {"jsonrpc":"2.0","id":2,"result":null}
1> end
1< end"#,
    },
    Session {
        name: "null is a result where the schema has it",
        protocol: "lsp",
        transport: "stdio",
        rules: &["lsp/result-type"],
        script: r#"
1> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{"workspace":{"configuration":true}}}}
1< {"jsonrpc":"2.0","id":1,"result":{"capabilities":{"hoverProvider":true,"textDocumentSync":1}}}
1> {"jsonrpc":"2.0","method":"initialized","params":{}}
1> {"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a","languageId":"a","version":1,"text":"a"}}}
1> {"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a"},"position":{"line":0,"character":0}}}
1< {"jsonrpc":"2.0","id":2,"result":null}
1< {"jsonrpc":"2.0","id":1,"method":"workspace/configuration","params":{"items":[{}]}}
1> {"jsonrpc":"2.0","id":1,"result":null}
1> {"jsonrpc":"2.0","id":3,"method":"shutdown"}
1< {"jsonrpc":"2.0","id":3,"result":null}
1> {"jsonrpc":"2.0","method":"exit"}
1> end
1< end"#,
    },
    Session {
        name: "a result of 2026-07-28 says whether it is complete, and how long it may be stored",
        protocol: "mcp",
        transport: "stdio",
        rules: &[
            "mcp/result-type",
            "mcp/result-type",
            "mcp/result-type-missing",
        ],
        script: r#"
1> {"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< {"jsonrpc":"2.0","id":1,"result":{"prompts":[],"resultType":"complete"}}
1> {"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< {"jsonrpc":"2.0","id":2,"result":{"prompts":[],"ttlMs":1,"cacheScope":"public"}}
1> end
1< end"#,
    },
    Session {
        name: "a gateway answers instead of the server",
        protocol: "jsonrpc",
        transport: "http",
        rules: &["jsonrpc/refused"],
        script: r#"
1> POST {"jsonrpc":"2.0","id":1,"method":"a"}
1< 502
1> end
1< end"#,
    },
    Session {
        name: "a redirection has no answer, and an interim response none yet",
        protocol: "jsonrpc",
        transport: "http",
        rules: &["jsonrpc/refused", "jsonrpc/refused"],
        script: r#"
1> POST {"jsonrpc":"2.0","id":1,"method":"a"}
1< 307 location:/other
1> POST {"jsonrpc":"2.0","id":2,"method":"a"}
1< 100
1< 502
1> end
1< end"#,
    },
    Session {
        name: "a notification is refused",
        protocol: "jsonrpc",
        transport: "http",
        rules: &["jsonrpc/refused"],
        script: r#"
1> POST {"jsonrpc":"2.0","method":"a"}
1< 400 {"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request."}}
1> POST {"jsonrpc":"2.0","id":1,"method":"b"}
1< 200 {"jsonrpc":"2.0","id":1,"result":1}
1> end
1< end"#,
    },
    Session {
        name: "the most severe finding is first, also if the end of the input shows it",
        protocol: "jsonrpc",
        transport: "http",
        rules: &["jsonrpc/unanswered", "jsonrpc/orphan"],
        script: r#"
1> POST {"jsonrpc":"2.0","id":1,"method":"a"}
1< 200 {"jsonrpc":"2.0","id":2,"result":1}
1> end
1< end"#,
    },
    Session {
        name: "arguments in fields of the head",
        protocol: "mcp",
        transport: "http",
        rules: &[],
        script: r#"
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/list {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< 200 content-type:application/json {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"r","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"of":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}}]}}
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:r mcp-param-region:Rome mcp-param-n:4.0 {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"r","arguments":{"region":"Rome","of":{"n":4}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< 200 content-type:application/json {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:r mcp-param-region:=?base64?UsO2bQ==?= {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"r","arguments":{"region":"Röm"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< 200 content-type:application/json {"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[]}}
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:r {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"r","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< 200 content-type:application/json {"jsonrpc":"2.0","id":4,"result":{"resultType":"complete","content":[]}}
1> end
1< end"#,
    },
    Session {
        name: "arguments that fields of the head do not repeat",
        protocol: "mcp",
        transport: "http",
        rules: &[
            "mcp/header-mismatch",
            "mcp/header-mismatch",
            "mcp/header-mismatch",
        ],
        script: r#"
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/list {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< 200 content-type:application/json {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"r","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"of":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}}]}}
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:r mcp-param-region:Paris {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"r","arguments":{"region":"Rome"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< 200 content-type:application/json {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[]}}
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:r {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"r","arguments":{"of":{"n":4}},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< 200 content-type:application/json {"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[]}}
1> POST mcp-protocol-version:2026-07-28 mcp-method:tools/call mcp-name:r mcp-param-region:=?base64?!?= {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"r","arguments":{"region":"Röm"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< 200 content-type:application/json {"jsonrpc":"2.0","id":4,"result":{"resultType":"complete","content":[]}}
1> end
1< end"#,
    },
    Session {
        name: "a result that asks for input without saying for which",
        protocol: "mcp",
        transport: "stdio",
        rules: &["mcp/result-type"],
        script: r#"
1> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"r","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
1< {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}}
1> end
1< end"#,
    },
    Session {
        name: "the cells of a notebook are documents",
        protocol: "lsp",
        transport: "stdio",
        rules: &["lsp/request-not-open"],
        script: r#"
1> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}
1< {"jsonrpc":"2.0","id":0,"result":{"capabilities":{"hoverProvider":true,"notebookDocumentSync":{"notebookSelector":[]}}}}
1> {"jsonrpc":"2.0","method":"initialized","params":{}}
1> {"jsonrpc":"2.0","method":"notebookDocument/didOpen","params":{"notebookDocument":{"uri":"file:///n","notebookType":"j","version":1,"cells":[{"kind":2,"document":"cell:1"}]},"cellTextDocuments":[{"uri":"cell:1","languageId":"python","version":1,"text":"a"}]}}
1> {"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"cell:1"},"position":{"line":0,"character":1}}}
1< {"jsonrpc":"2.0","id":1,"result":null}
1> {"jsonrpc":"2.0","method":"notebookDocument/didChange","params":{"notebookDocument":{"uri":"file:///n","version":2},"change":{"cells":{"structure":{"array":{"start":1,"deleteCount":0},"didOpen":[{"uri":"cell:2","languageId":"python","version":1,"text":""}],"didClose":[]},"textContent":[{"document":{"uri":"cell:1","version":2},"changes":[{"text":"abc"}]}]}}}}
1> {"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"cell:1"},"position":{"line":0,"character":3}}}
1< {"jsonrpc":"2.0","id":2,"result":null}
1> {"jsonrpc":"2.0","id":3,"method":"textDocument/hover","params":{"textDocument":{"uri":"cell:2"},"position":{"line":0,"character":0}}}
1< {"jsonrpc":"2.0","id":3,"result":null}
1> {"jsonrpc":"2.0","method":"notebookDocument/didClose","params":{"notebookDocument":{"uri":"file:///n"},"cellTextDocuments":[{"uri":"cell:1"},{"uri":"cell:2"}]}}
1> {"jsonrpc":"2.0","id":4,"method":"textDocument/hover","params":{"textDocument":{"uri":"cell:2"},"position":{"line":0,"character":0}}}
1< {"jsonrpc":"2.0","id":4,"result":null}
1> end
1< end"#,
    },
];

/// Returns the bytes of a message, or `None` for the end of a direction.
fn bytes(session: &Session, message: &str) -> Option<String> {
    if message == "end" {
        return None;
    }
    if session.transport != "http" {
        return Some(match session.protocol {
            "lsp" | "dap" => format!("Content-Length: {}\r\n\r\n{message}", message.len()),
            _ => format!("{message}\n"),
        });
    }
    let (head, body) = message.split_at(message.find(" {").unwrap_or(message.len()));
    let body = body.trim_start();
    let mut words = head.split(' ');
    let start = match words.next().unwrap_or_default() {
        "event" => return Some(format!("data: {body}\n\n")),
        "chunk" => return Some(format!("{:x}\r\ndata: {body}\n\n\r\n", body.len() + 8)),
        "events" => {
            return Some("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".into());
        }
        "GET" => "GET / HTTP/1.1\r\nhost: a\r\naccept: text/event-stream".into(),
        "OLDER" => "POST /messages?session_id=7 HTTP/1.1\r\nhost: a".into(),
        "POST" => {
            "POST / HTTP/1.1\r\nhost: a\r\naccept: application/json, text/event-stream".into()
        }
        status => format!("HTTP/1.1 {status} -"),
    };
    let mut text = start;
    for field in words {
        let (name, value) = field.split_once(':').expect("a field has a colon");
        write!(text, "\r\n{name}: {}", value.replace('+', " ")).expect("a string takes text");
    }
    if !body.is_empty() {
        text.push_str("\r\ncontent-type: application/json");
    }
    write!(text, "\r\ncontent-length: {}\r\n\r\n{body}", body.len()).expect("a string takes text");
    Some(text)
}

/// Writes the recording of a session.
fn record(number: usize, session: &Session) -> PathBuf {
    let header = json!({"wiretool": 1, "protocol": session.protocol, "started": "2026-01-01T00:00:00.000000000Z",
        "transport": session.transport, "connect": "tcp://127.0.0.1:1"});
    let mut lines = vec![header];
    let script = session
        .script
        .replace("ACP", ACP)
        .replace("INITIALIZED", INITIALIZED);
    let script = script
        .replace("INITIALIZE", INITIALIZE)
        .replace("CALL_2026", CALL_2026)
        .replace(
            "ARGUMENTS_2026",
            &CALL_2026.replace(
                "\"_meta\"",
                r#""arguments":{"r":"é","in":{"n":42}},"_meta""#,
            ),
        )
        .replace(
            "LIST_2026",
            &CALL_2026
                .replace("\"id\":1", "\"id\":0")
                .replace("tools/call", "tools/list")
                .replace("\"name\":\"a\",", ""),
        );
    let mut opened = Vec::new();
    for line in script.lines().filter(|line| !line.is_empty()) {
        let (place, message) = line.split_once(' ').expect("a place and a message");
        let (conn, way) = place.split_at(place.len() - 1);
        let conn: u32 = conn.parse().expect("a number");
        let dir = if way == ">" { "c2s" } else { "s2c" };
        if !opened.contains(&conn) {
            opened.push(conn);
            lines.push(json!({"conn": conn, "event": "open"}));
        }
        lines.push(match bytes(session, message) {
            _ if message == "lost" => json!({"conn": conn, "event": "lost", "dir": dir, "len": 0}),
            Some(text) => json!({"conn": conn, "dir": dir, "text": text}),
            None if way == "-" => json!({"conn": conn, "event": "eof"}),
            None => json!({"conn": conn, "event": "eof", "dir": dir}),
        });
    }
    lines.extend(
        opened
            .iter()
            .map(|conn| json!({"conn": conn, "event": "close"})),
    );
    let mut text = String::new();
    for (time, mut line) in lines.into_iter().enumerate() {
        if time > 0 {
            line["t"] = json!(time * 1_000_000);
        }
        writeln!(text, "{line}").expect("a string takes text");
    }
    let path = common::temporary().join(format!("unusual-{number}.jsonl"));
    std::fs::write(&path, text).expect("the recording is written");
    path
}

#[test]
fn sessions_have_the_findings_of_their_causes() {
    for (number, session) in SESSIONS.iter().enumerate() {
        let path = record(number, session);
        let mut lint = common::wiretool();
        lint.args(["lint", "-f", "json"])
            .arg(&path)
            .stdin(Stdio::null());
        let output = lint.output().expect("lint runs");
        let out = String::from_utf8(output.stdout).expect("UTF-8");
        let found: Vec<String> = out
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
            .filter(|line| line["finding"].is_object())
            .map(|line| {
                let rule = line["finding"]["rule"].as_str();
                rule.unwrap_or_default().to_owned()
            })
            .collect();
        assert_eq!(found, session.rules, "{}: {out}", session.name);
        assert!(
            out.contains("\"messages\""),
            "{}: no messages: {out}",
            session.name
        );
    }
}

/// A file of one side has its answers to requests of the other side, which may have the ids of its own requests.
#[test]
fn an_answer_of_the_side_that_asks_answers_no_request_of_it() {
    let text = [
        INITIALIZE,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}"#,
    ];
    let lint = &mut common::wiretool();
    let (code, out, err) = common::run(lint.args(["lint", "-p", "mcp"]), text.join("\n"));
    assert_eq!((code, &*out), (0, ""), "{err}");
    assert!(err.contains("nothing found in 4 messages"), "{err}");
}

/// A request belongs to its session also after the table of connections has forgotten its own: a session with the same ids
/// cancels only its own request.
#[test]
fn sessions_stay_apart_after_many_connections() {
    let mut text = String::from("{\"wiretool\":1,\"protocol\":\"mcp\",\"transport\":\"http\"}\n");
    let mut line = |value: Value| writeln!(text, "{value}").unwrap();
    let mut chunk = |conn: u32, dir: &str, head: &str, body: &str| {
        let head = format!(
            "{head}\r\nContent-Type: application/json\r\nContent-Length: {}",
            body.len()
        );
        line(json!({"t": conn, "conn": conn, "dir": dir, "text": format!("{head}\r\n\r\n{body}")}));
        if dir == "s2c" {
            line(json!({"t": conn, "conn": conn, "event": "close"}));
        }
    };
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let mut session = |conn: u32, name: &str| {
        let named = format!("Mcp-Session-Id: {name}");
        let post =
            format!("POST /mcp HTTP/1.1\r\nHost: a\r\nMCP-Protocol-Version: 2025-11-25\r\n{named}");
        let old = format!("POST /mcp HTTP/1.1\r\nHost: a\r\n{named}");
        chunk(conn, "c2s", &old, INITIALIZE);
        chunk(
            conn,
            "s2c",
            &format!("HTTP/1.1 200 OK\r\n{named}"),
            INITIALIZED,
        );
        chunk(conn + 1, "c2s", &post, call);
        chunk(conn + 2, "c2s", &post, cancel);
        chunk(conn + 2, "s2c", "HTTP/1.1 202 Accepted", "");
        if conn > 1 {
            return;
        }
        for other in 10..4210 {
            chunk(other, "c2s", "GET /health HTTP/1.1\r\nHost: a", "");
            chunk(other, "s2c", "HTTP/1.1 404 Not Found", "");
        }
    };
    session(1, "first");
    session(5000, "second");
    let folder = tempfile::tempdir().unwrap();
    let file = common::file(folder.path(), "many.jsonl", text);
    let mut command = common::wiretool();
    command.args(["lint", "-q", "-f", "json", "-p", "mcp", &file]);
    let (_, out, _) = common::run(&mut command, "");
    assert!(!out.contains("mcp/unanswered"), "{out}");
}

/// An editor listens, and the language server connects to it: the side that sends `initialize` is the client.
#[test]
fn a_server_that_opens_the_connection_is_the_server() {
    let lines = [
        ("s2c", INITIALIZE_LSP),
        (
            "c2s",
            r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"hoverProvider":true}}}"#,
        ),
        (
            "s2c",
            r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
        ),
        ("s2c", r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#),
        ("c2s", r#"{"jsonrpc":"2.0","id":1,"result":null}"#),
        ("s2c", r#"{"jsonrpc":"2.0","method":"exit"}"#),
    ];
    let mut recording =
        r#"{"wiretool":1,"started":"2026-01-01T00:00:00Z","transport":"tcp"}"#.to_owned();
    recording += "\n{\"t\":0,\"conn\":1,\"event\":\"open\"}";
    for (t, (dir, text)) in (1..).zip(lines) {
        let text = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let line = json!({"t": t * 1_000_000, "conn": 1, "dir": dir, "text": text});
        write!(recording, "\n{line}").unwrap();
    }
    recording += "\n{\"t\":8000000,\"conn\":1,\"event\":\"eof\",\"dir\":\"s2c\"}\n{\"t\":8000000,\"conn\":1,\"event\":\"close\"}\n{\"t\":9000000,\"event\":\"end\"}\n";
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("server-connects.jsonl");
    std::fs::write(&path, recording).unwrap();
    let path = path.to_str().unwrap();
    let (code, out, err) = common::outcome(&["lint", path]);
    assert_eq!((code, &*out), (0, ""), "{err}");
    assert!(
        err.contains("the directions of its connection are turned"),
        "{err}"
    );
    assert!(err.contains("nothing found in 6 messages"), "{err}");
    let (_, out, _) = common::outcome(&["decode", "-f", "json", "--where", "dir=c2s", path]);
    assert_eq!(out.lines().count(), 4, "{out}");
    let (_, out, _) = common::outcome(&["decode", "--ops", path]);
    assert!(out.contains("server") && !out.contains(" client"), "{out}");
    // Bytes are replaced in the direction in which they were recorded.
    let redacted = format!("{path}.redacted.jsonl");
    let (code, _, err) = common::outcome(&["redact", path, "-o", &redacted]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("1 secret replaced"), "{err}");
    let text = std::fs::read_to_string(&redacted).unwrap();
    assert!(!text.contains("Zx81"), "{text}");
    let (code, out, err) = common::outcome(&["lint", &redacted]);
    assert_eq!((code, &*out), (0, ""), "{err}");
    // The client is played, also over stdin and stdout.
    let stub = [
        "--",
        env!("CARGO_BIN_EXE_wiretool"),
        "stub",
        "lsp",
        "-q",
        "--from-recording",
        path,
    ];
    let (code, _, err) = common::outcome(&[&["replay", path][..], &stub].concat());
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("4 sent, 2 answers compared, 0 differ"),
        "{err}"
    );
}

/// The same of a debug adapter: requests of its protocol may come from both sides, but not this one.
#[test]
fn an_adapter_that_opens_the_connection_is_the_adapter() {
    let lines = [
        (
            "s2c",
            r#"{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"a"}}"#,
        ),
        (
            "c2s",
            r#"{"seq":1,"type":"response","request_seq":1,"command":"initialize","success":true,"body":{}}"#,
        ),
        ("c2s", r#"{"seq":2,"type":"event","event":"initialized"}"#),
    ];
    let mut recording = "{\"wiretool\":1,\"started\":\"2026-01-01T00:00:00Z\",\"transport\":\"tcp\"}\n{\"t\":0,\"conn\":1,\"event\":\"open\"}".to_owned();
    for (t, (dir, text)) in (1..).zip(lines) {
        let text = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let line = json!({"t": t * 1_000_000, "conn": 1, "dir": dir, "text": text});
        write!(recording, "\n{line}").unwrap();
    }
    recording += "\n{\"t\":9000000,\"event\":\"end\"}\n";
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("adapter-connects.jsonl");
    std::fs::write(&path, recording).unwrap();
    let (code, out, err) = common::outcome(&["lint", path.to_str().unwrap()]);
    assert_eq!((code, &*out), (0, ""), "{err}");
    assert!(err.contains("nothing found in 3 messages"), "{err}");
}

const INITIALIZE_LSP: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{},"initializationOptions":{"apiKey":"Zx81-0123456789-abcdef"}}}"#;
